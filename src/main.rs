//! The program: arguments in, exit code out.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(dbload::main_with(std::env::args_os()))
}

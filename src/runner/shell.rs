//! `\shell` and `\setshell`: commands of the machine that dbload runs on.
//!
//! Only scripts compiled with `--allow-shell` hold such steps. The client waits, its worker goes
//! on with the others.

use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::script::program::Word;
use crate::script::value::Value;

/// pgbench's limit for a command line.
const MAX_BYTES: usize = 256;

/// The command line: words with variables put in, joined by blanks.
pub(super) fn command_line(
    words: &[Word],
    vars: &[Value],
    names: &[String],
) -> Result<String, String> {
    let mut line = String::new();
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        match word {
            Word::Literal(text) => line.push_str(text),
            Word::Variable(slot) => match &vars[slot.0 as usize] {
                Value::Undefined => {
                    return Err(format!("undefined variable \"{}\"", names[slot.0 as usize]));
                }
                value => line.push_str(&value.to_string()),
            },
        }
    }
    if line.len() >= MAX_BYTES {
        return Err(format!(
            "the command line is {} bytes long: less than {MAX_BYTES} are allowed",
            line.len()
        ));
    }
    Ok(line)
}

/// Runs a command line; its exit must be success.
pub(super) async fn run(line: &str) -> Result<(), String> {
    let mut running = Running::start(line, Stdio::inherit())?;
    let status = running.0.wait().await.map_err(|error| cannot_run(line, &error))?;
    if status.success() { Ok(()) } else { Err(format!("the command \"{line}\" failed: {status}")) }
}

/// Runs a command line; the first line that it prints must be a whole number. What it prints after
/// that is nobody's: it is ended.
pub(super) async fn read_integer(line: &str) -> Result<i64, String> {
    let mut running = Running::start(line, Stdio::piped())?;
    let mut first = Vec::new();
    if let Some(stdout) = running.0.stdout.take() {
        let mut stdout = BufReader::new(stdout.take(MAX_BYTES as u64));
        let read = stdout.read_until(b'\n', &mut first).await;
        read.map_err(|error| cannot_run(line, &error))?;
    }
    let first = String::from_utf8_lossy(&first);
    let first = first.trim();
    first.parse().map_err(|_| {
        format!("the command \"{line}\" must print a whole number, and printed \"{first}\"")
    })
}

/// A command that runs in a process group of its own; the whole group ends with it.
struct Running(Child);

impl Running {
    fn start(line: &str, stdout: Stdio) -> Result<Self, String> {
        let mut command = Command::new("sh");
        command.arg("-c").arg(line).stdin(Stdio::null()).stdout(stdout).process_group(0);
        command.spawn().map(Self).map_err(|error| cannot_run(line, &error))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Gone already where it was waited for.
        let id = self.0.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        if let Some(group) = id {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

fn cannot_run(line: &str, error: &std::io::Error) -> String {
    format!("cannot run the command \"{line}\": {error}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::program::Slot;

    #[test]
    fn variables_are_put_into_the_command_line() {
        let words = [Word::Literal("echo".to_owned()), Word::Variable(Slot(0))];
        let names = ["a".to_owned()];
        assert_eq!(command_line(&words, &[Value::Int(5)], &names).unwrap(), "echo 5");
        let error = command_line(&words, &[Value::Undefined], &names).unwrap_err();
        assert!(error.contains("\"a\""), "{error}");
        let long = [Word::Literal("x".repeat(300))];
        assert!(command_line(&long, &[], &[]).unwrap_err().contains("300"));
    }

    #[tokio::test]
    async fn a_command_answers_with_its_exit_or_its_first_line() {
        run("true").await.unwrap();
        assert!(run("exit 3").await.unwrap_err().contains('3'));
        assert_eq!(read_integer("echo ' 42 '; echo 7").await.unwrap(), 42);
        assert_eq!(read_integer("yes 5").await.unwrap(), 5);
        assert!(read_integer("echo no").await.unwrap_err().contains("\"no\""));
    }
}

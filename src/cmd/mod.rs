//! The commands: dispatch and exit codes.

mod cells;
mod clean;
mod compare;
mod engines;
mod init;
mod report;
mod run;
mod show;
mod signals;
mod sources;
mod study;
mod tables;
mod verify;

use std::ffi::OsString;

use clap::Parser;
use clap::error::ErrorKind;

use crate::cli::{Cli, Command, TargetArgs as TargetOptions};
use crate::report::{Style, Talk};
use crate::result::summary::Program;
use crate::target::{
    Env, NamedTarget, TARGET_VARIABLE, TargetArgs, redact, redact_args, redact_quoted,
};

use signals::Signals;

/// How the program ends. The numbers are the process's exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Everything that was asked for was done.
    Complete = 0,
    /// Refused before anything was measured.
    Refused = 1,
    /// Measured, but a client was lost, everything failed, or a check failed.
    Impaired = 2,
    /// The condition of `--fail-if` holds.
    ConditionHolds = 3,
    /// SIGINT.
    Interrupted = 130,
    /// SIGHUP.
    HungUp = 129,
    /// SIGTERM.
    Terminated = 143,
}

/// Runs the program with these arguments, the program's name first; returns the exit code.
pub(crate) fn main_with<I>(args: I) -> u8
where
    I: IntoIterator,
    I::Item: Into<OsString> + Clone,
{
    let args: Vec<OsString> = args.into_iter().map(Into::into).collect();
    let given = Given::new(&args);
    let cli = match Cli::try_parse_from(asking_for_help(args)) {
        Ok(cli) => cli,
        Err(error) => return usage(&error, &given) as u8,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build_local(tokio::runtime::LocalOptions::default());
    let outcome = match runtime {
        Ok(runtime) => runtime.block_on(dispatch(cli.command)),
        Err(error) => Err(anyhow::Error::new(error).context("starting")),
    };
    let exit = outcome.unwrap_or_else(|error| {
        let text = given.redacted(&chain(&error));
        Talk::stderr(Style::Plain).insist(&format!("dbload: {text}"));
        Exit::Refused
    });
    exit as u8
}

/// `-h` with nothing behind it is no host: somebody looks for help.
fn asking_for_help(mut args: Vec<OsString>) -> Vec<OsString> {
    if let [_, .., last] = &mut args[..]
        && last == "-h"
    {
        *last = "--help".into();
    }
    args
}

/// What the user gave, which messages quote and which may hold a password.
struct Given(Vec<String>);

impl Given {
    fn new(args: &[OsString]) -> Self {
        let args = args.iter().map(|arg| arg.to_string_lossy().into_owned());
        Self(args.chain(std::env::var(TARGET_VARIABLE)).collect())
    }

    fn redacted(&self, message: &str) -> String {
        redact_quoted(message, &self.0)
    }
}

/// This program and how it was called, for results.
fn this_program() -> Program {
    let args: Vec<String> =
        std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect();
    let args = redact_args(&args);
    // What a shell takes back as it was; only a zero byte, which no argument has, cannot be quoted.
    let command_line =
        shlex::try_join(args.iter().map(String::as_str)).unwrap_or_else(|_| args.join(" "));
    Program { version: env!("CARGO_PKG_VERSION").to_owned(), command_line }
}

/// An error with its causes, each said once.
fn chain(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    text
}

/// Prints clap's own message: help and version are answers, the rest is a refusal.
fn usage(error: &clap::Error, given: &Given) -> Exit {
    match error.kind() {
        // Where the text cannot be written there is nobody to tell.
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => drop(error.print()),
        // A URL in the wrong place may hold a password.
        _ => {
            let text = given.redacted(&error.to_string());
            Talk::stderr(Style::Plain).insist(text.trim_end());
        }
    }
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Exit::Complete,
        _ => Exit::Refused,
    }
}

async fn dispatch(command: Command) -> anyhow::Result<Exit> {
    let env = Env::of_process();
    let signals = Signals::listen()?;
    match command {
        Command::Init(args) => init::init(args, &env, &signals).await,
        Command::Run(args) => Box::pin(run::run(*args, &env, &signals)).await,
        Command::Study(args) => Box::pin(study::study(args, &env, &signals)).await,
        Command::Compare(args) => compare::compare(&args),
        Command::Report(args) => report::report(&args),
        Command::Verify(args) => verify::verify(args, &env, &signals).await,
        Command::Clean(args) => clean::clean(args, &env, &signals).await,
        Command::Show(args) => show::show(&args),
    }
}

/// The one database that a command is about.
fn target(options: &TargetOptions, env: &Env) -> anyhow::Result<NamedTarget> {
    let mut targets = targets(options, env)?;
    if targets.len() > 1 {
        anyhow::bail!("{} times --target: only `dbload run` takes several", targets.len());
    }
    // There is one for each `--target`, and at least one.
    targets.pop().ok_or_else(|| anyhow::anyhow!("no target"))
}

/// The databases that a command is about, at least one.
fn targets(options: &TargetOptions, env: &Env) -> anyhow::Result<Vec<NamedTarget>> {
    if let Some(host) = options.host.as_deref().filter(|host| host.contains("://")) {
        anyhow::bail!("--host \"{}\" is a URL: give it with --target", redact(host));
    }
    let args = TargetArgs {
        targets: options.target.clone(),
        host: options.host.clone(),
        port: options.port.clone(),
        user: options.user.clone(),
        database: options.dbname.clone(),
        bare: options.database.clone(),
    };
    Ok(args.resolve(env)?)
}

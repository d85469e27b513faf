//! Runs the dbload program in a folder of its own, with nothing of the caller's environment that
//! could lead it to another database.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::results::Results;

/// A program that takes longer hangs.
const TIMEOUT: Duration = Duration::from_secs(180);

/// A folder to run dbload in; it is also its home folder.
pub(crate) struct Place {
    folder: TempDir,
}

/// What a program that has ended left behind.
pub(crate) struct Ended {
    /// The exit code; `None` when a signal killed it.
    pub(crate) code: Option<i32>,
    /// The report.
    pub(crate) stdout: String,
    /// The talk.
    pub(crate) stderr: String,
    folder: PathBuf,
}

/// A dbload that runs beside the test.
pub(crate) struct Running {
    child: Child,
    folder: PathBuf,
}

impl Place {
    /// A new, empty folder.
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    /// The folder, or something in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Every file below the folder.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        collect_files(self.folder.path(), &mut files);
        files
    }

    /// Runs dbload to its end.
    pub(crate) fn dbload<A: AsRef<OsStr>>(&self, args: &[A]) -> Ended {
        self.dbload_with_env(args, &[])
    }

    /// Runs dbload to its end with variables in its environment.
    pub(crate) fn dbload_with_env<A: AsRef<OsStr>>(
        &self,
        args: &[A],
        env: &[(&str, &str)],
    ) -> Ended {
        let mut command = self.command(args);
        command.envs(env.iter().copied());
        let done = assert_cmd::Command::from_std(command).timeout(TIMEOUT).output();
        let done = done.expect("dbload starts");
        Ended {
            code: done.status.code(),
            stdout: String::from_utf8(done.stdout).expect("UTF-8"),
            stderr: String::from_utf8(done.stderr).expect("UTF-8"),
            folder: self.folder.path().to_owned(),
        }
    }

    /// Starts dbload and goes on.
    pub(crate) fn start<A: AsRef<OsStr>>(&self, args: &[A]) -> Running {
        let mut command = self.command(args);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        Running { child: child.expect("dbload starts"), folder: self.folder.path().to_owned() }
    }

    fn command<A: AsRef<OsStr>>(&self, args: &[A]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dbload"));
        for (name, _) in std::env::vars() {
            if ["PG", "MYSQL", "DBLOAD"].iter().any(|start| name.starts_with(start)) {
                command.env_remove(name);
            }
        }
        command.env("HOME", self.folder.path()).current_dir(self.folder.path());
        command.args(args).stdin(Stdio::null());
        command
    }
}

impl Ended {
    /// Fails the test unless the exit code is `code`.
    #[track_caller]
    pub(crate) fn expect_code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "exit code\n{self}");
        self
    }

    /// Fails the test unless dbload refused with one message that holds each of `words`.
    #[track_caller]
    pub(crate) fn expect_refusal(self, words: &[&str]) -> Self {
        let ended = self.expect_code(1);
        for word in words {
            assert!(ended.stderr.contains(word), "no {word:?} in the message\n{ended}");
        }
        assert!(!ended.stderr.contains("panicked"), "{ended}");
        ended
    }

    /// Both streams.
    pub(crate) fn output(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }

    /// The results folder, which the last line of stderr names.
    #[track_caller]
    pub(crate) fn results(&self) -> Results {
        let line = self.stderr.lines().last().unwrap_or_default();
        let path = line.strip_prefix("results: ").unwrap_or_else(|| panic!("no results\n{self}"));
        Results::read(&self.folder.join(path))
    }
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { code, stdout, stderr, .. } = self;
        write!(f, "exit {code:?}\n--- stdout\n{stdout}\n--- stderr\n{stderr}")
    }
}

impl Running {
    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        send(i32::try_from(self.child.id()).expect("a process id"), signal);
    }

    /// Waits for its end.
    pub(crate) fn wait(self) -> Ended {
        let done = self.child.wait_with_output().expect("dbload ends");
        Ended {
            code: done.status.code(),
            stdout: String::from_utf8(done.stdout).expect("UTF-8"),
            stderr: String::from_utf8(done.stderr).expect("UTF-8"),
            folder: self.folder,
        }
    }
}

/// Sends a signal to a process; a process that has gone is no mistake.
pub(crate) fn send(pid: i32, signal: Signal) {
    let _gone = kill_process(Pid::from_raw(pid).expect("a process id"), signal);
}

fn collect_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder that can be read") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect_files(&path, files);
        } else {
            files.push(path);
        }
    }
}

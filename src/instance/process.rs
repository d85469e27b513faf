//! Programs that dbload starts, and ends whatever happens.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::time::{Instant, sleep};

use super::{InstanceError, User};

/// How often a program is looked at.
pub(super) const POLL: Duration = Duration::from_millis(20);
/// How long a program that was killed may take to go.
const KILL_PATIENCE: Duration = Duration::from_secs(60);

/// How a program is asked to end: each signal with the time it has before the next, then SIGKILL.
pub(super) type Ending = &'static [(Signal, Duration)];

/// A program that ends when this is dropped.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    ending: Ending,
}

impl Process {
    /// Starts it.
    pub(super) fn start(command: &mut Command, ending: Ending) -> Result<Self, InstanceError> {
        let child = command.spawn().map_err(|source| InstanceError::Program {
            program: PathBuf::from(command.get_program()),
            source,
        })?;
        Ok(Self { child, ending })
    }

    /// Its number.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// How it ended, once it has.
    pub(super) fn ended(&mut self) -> Option<ExitStatus> {
        // A program that cannot be waited for is gone.
        self.child.try_wait().unwrap_or_else(|_| Some(ExitStatus::default()))
    }

    /// Waits for its end.
    pub(super) async fn wait(&mut self) -> ExitStatus {
        loop {
            if let Some(status) = self.ended() {
                return status;
            }
            sleep(POLL).await;
        }
    }

    /// Asks it to end in order, and waits as long as that takes, up to `patience`; what is left of
    /// it then ends with this value.
    pub(super) async fn stop(&mut self, patience: Duration) {
        if let (Some(pid), Some((signal, _))) = (self.pid(), self.ending.first()) {
            // A process that is gone cannot be signalled, and need not.
            let _ = kill_process(pid, *signal);
        }
        let _late = tokio::time::timeout(patience, self.wait()).await;
    }

    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.ended().is_some() {
            return;
        }
        if let Some(pid) = self.pid() {
            end(pid, self.ending, || !matches!(self.child.try_wait(), Ok(None)));
        }
    }
}

/// Ends a process: in order first, at once when that takes too long.
pub(super) fn end(pid: Pid, ending: Ending, mut is_over: impl FnMut() -> bool) {
    for (signal, patience) in ending.iter().chain(&[(Signal::KILL, KILL_PATIENCE)]) {
        let began = Instant::now();
        let _ = kill_process(pid, *signal);
        while began.elapsed() < *patience {
            if is_over() {
                return;
            }
            thread::sleep(POLL);
        }
    }
}

/// The folder of a server's socket: a short path, since sockets have short names, that only the
/// server's user can enter. It goes when this is dropped.
#[derive(Debug)]
pub(super) struct SocketFolder {
    path: PathBuf,
}

/// How such folders begin.
const SOCKET_FOLDER: &str = "dbload-";

impl SocketFolder {
    /// Makes one.
    pub(super) fn make(user: User) -> Result<Self, InstanceError> {
        let unique = format!("{SOCKET_FOLDER}{}-{:x}", std::process::id(), rand::random::<u32>());
        let path = std::env::temp_dir().join(unique);
        let failed = |source: io::Error| InstanceError::Folder { path: path.clone(), source };
        fs::create_dir(&path).map_err(failed)?;
        let folder = Self { path: path.clone() };
        user.give(&path).map_err(failed)?;
        Ok(folder)
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the folder that an earlier dbload, killed, left behind.
    pub(super) fn remove_left(path: &Path) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with(SOCKET_FOLDER) && path.parent() == Some(&std::env::temp_dir()) {
            // What cannot be removed is an empty folder.
            let _ = fs::remove_dir_all(path);
        }
    }
}

impl Drop for SocketFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

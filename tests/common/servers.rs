//! A server of a test's own, for what would disturb the others: started and stopped by
//! `scripts/servers`.

use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::Signal;

use super::program::send;
use super::wait_until;

/// A server that runs as long as the value.
pub(crate) struct OwnServer {
    name: String,
    folder: PathBuf,
    /// The settings that the script printed.
    settings: String,
}

impl OwnServer {
    /// Starts a server of the kind `name`.
    pub(crate) fn start(name: &str) -> Self {
        let started = script()
            .args(["start", name])
            .env_remove("DBLOAD_SERVERS_DIR")
            .output()
            .expect("the script starts");
        let settings = String::from_utf8(started.stdout).expect("UTF-8");
        assert!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
        let mut server = Self { name: name.to_owned(), folder: PathBuf::new(), settings };
        server.folder = server.setting("DBLOAD_SERVERS_DIR").into();
        server
    }

    /// A variable that the script sets.
    pub(crate) fn setting(&self, key: &str) -> String {
        let (_, rest) = self.settings.split_once(&format!("{key}='")).expect(key);
        rest.split_once('\'').expect("a quote").0.to_owned()
    }

    /// The folder with its data.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder.join(&self.name).join("data")
    }

    /// Ends it at once, as a power failure would. `pid_file` is named as in its folder. Returns the
    /// command line that it was started with.
    pub(crate) fn kill(&self, pid_file: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.folder.join(&self.name).join(pid_file));
        let text = text.expect("a pid file");
        let pid = text.lines().next().unwrap_or_default().trim().parse().expect("a process id");
        let process = PathBuf::from(format!("/proc/{pid}"));
        let words = std::fs::read_to_string(process.join("cmdline")).expect("its command line");
        let program = std::fs::read_link(process.join("exe")).expect("its program");
        send(pid, Signal::KILL);
        wait_until("the killed server to go", || !process.join("exe").exists());
        let words = words.trim_end_matches('\0').split('\0').skip(1).map(str::to_owned);
        std::iter::once(program.display().to_string()).chain(words).collect()
    }

    /// A command as the user that owns the data.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let owner = std::fs::metadata(self.data()).expect("the data");
        let mut command = Command::new(program);
        command.uid(owner.uid()).gid(owner.gid()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        // Nothing can be done about a failure here.
        let _ = script().arg("stop").arg(&self.folder).stderr(Stdio::null()).status();
    }
}

fn script() -> Command {
    Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/servers"))
}

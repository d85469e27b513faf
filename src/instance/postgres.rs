//! A PostgreSQL server of dbload's own: a data directory made by initdb, reached through a socket.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use tokio::time::Instant;

use super::{InstanceDir, InstanceError, User, end_of};

/// How long a server may take to start or to stop.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a server that was asked to stop may take before it is told to drop everything.
const STOP_PATIENCE: Duration = Duration::from_secs(7);
const POLL: Duration = Duration::from_millis(50);
/// The number in the name of its socket: no server listens on a port.
const PORT: u16 = 5432;

/// A data directory with its programs.
#[derive(Debug)]
pub(crate) struct Instance {
    dir: InstanceDir,
    bin: PathBuf,
    user: User,
    settings: Vec<(String, String)>,
}

/// A running server; it stops when this is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    socket: PathBuf,
}

impl Instance {
    /// Takes the folder, stops what an earlier dbload left running in it, and makes the data
    /// directory: anew when `fresh`, else unless it is there.
    pub(crate) fn prepare(
        dir: InstanceDir,
        bin: &Path,
        initdb: &[String],
        settings: Vec<(String, String)>,
        fresh: bool,
    ) -> Result<Self, InstanceError> {
        let user = User::unprivileged("postgres")?;
        let instance = Self { dir, bin: bin.to_path_buf(), user, settings };
        instance.stop_orphan();
        if fresh {
            instance.dir.clear()?;
        }
        let data = instance.data();
        if data.join("PG_VERSION").is_file() {
            return Ok(instance);
        }
        let failed = |source| InstanceError::Folder { path: data.clone(), source };
        fs::create_dir_all(&data).map_err(failed)?;
        instance.user.give(&data).map_err(failed)?;
        let log = instance.dir.join("initdb.log");
        let output = File::create(&log).map_err(failed)?;
        let errors = output.try_clone().map_err(failed)?;
        let mut command = instance.command("initdb");
        command.arg("-D").arg(&data).args(["-A", "trust", "-U", "postgres", "-E", "UTF8"]);
        command.args(["--locale=C"]).args(initdb).stdout(output).stderr(errors);
        let status = command.status().map_err(|source| InstanceError::Program {
            program: instance.bin.join("initdb"),
            source,
        })?;
        if !status.success() {
            // A half-made directory must not pass for a whole one.
            let _ = fs::remove_dir_all(&data);
            return Err(InstanceError::Failed { what: "initdb".into(), log: end_of(&log) });
        }
        Ok(instance)
    }

    fn data(&self) -> PathBuf {
        self.dir.join("data")
    }

    fn command(&self, program: &str) -> Command {
        let mut command = self.user.command(&self.bin.join(program));
        command.stdin(Stdio::null()).current_dir("/").env("LC_ALL", "C");
        command
    }

    /// Starts the server and waits until it answers.
    pub(crate) fn start(&self) -> Result<Server, InstanceError> {
        let socket = self.socket_folder()?;
        let log = self.dir.join("server.log");
        let failed = |source| InstanceError::Folder { path: log.clone(), source };
        let output = File::options().create(true).append(true).open(&log).map_err(failed)?;
        let errors = output.try_clone().map_err(failed)?;
        let mut command = self.command("postgres");
        command.arg("-D").arg(self.data()).arg("-k").arg(&socket);
        command.args(["-c", "listen_addresses=", "-p", &PORT.to_string()]);
        for (name, value) in &self.settings {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        let child = command.stdout(output).stderr(errors).spawn().map_err(|source| {
            InstanceError::Program { program: self.bin.join("postgres"), source }
        })?;
        let mut server = Server { child, socket };
        let began = Instant::now();
        loop {
            let ended = server.child.try_wait().map_err(failed)?;
            if ended.is_none() && self.is_ready(server.child.id()) {
                return Ok(server);
            }
            if ended.is_some() || began.elapsed() > PATIENCE {
                let what = format!("starting the server in {}", self.dir.path().display());
                return Err(InstanceError::Failed { what, log: end_of(&log) });
            }
            sleep(POLL);
        }
    }

    /// A short path, since sockets have short names, that only the server's user can enter.
    fn socket_folder(&self) -> Result<PathBuf, InstanceError> {
        let unique = format!("dbload-{}-{:x}", std::process::id(), rand::random::<u32>());
        let path = std::env::temp_dir().join(unique);
        let failed = |source| InstanceError::Folder { path: path.clone(), source };
        fs::create_dir(&path).map_err(failed)?;
        self.user.give(&path).map_err(failed)?;
        Ok(path)
    }

    /// Whether the server of this process number takes connections: it says so in its pid file.
    fn is_ready(&self, pid: u32) -> bool {
        let text = fs::read_to_string(self.data().join("postmaster.pid")).unwrap_or_default();
        let mut lines = text.lines();
        lines.next() == Some(&pid.to_string()) && lines.nth(6).is_some_and(|s| s.trim() == "ready")
    }

    /// Stops a server that an earlier dbload, killed, left running in this folder.
    fn stop_orphan(&self) {
        let file = self.data().join("postmaster.pid");
        let text = fs::read_to_string(file).unwrap_or_default();
        let Some(pid) = text.lines().next().and_then(|line| line.trim().parse::<i32>().ok()) else {
            return;
        };
        // The number may be another process's by now: only a server of this directory is stopped.
        let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let data = self.data();
        let data = data.as_os_str().as_encoded_bytes();
        if !command.windows(data.len().max(1)).any(|part| part == data) {
            return;
        }
        if let Some(pid) = Pid::from_raw(pid) {
            end(pid, || test_kill_process(pid).is_err());
        }
        // Its socket lay in a folder that the dbload of then would have removed.
        let socket = Path::new(text.lines().nth(4).unwrap_or_default());
        let name = socket.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with("dbload-") && socket.parent() == Some(&std::env::temp_dir()) {
            // What cannot be removed is an empty folder.
            let _ = fs::remove_dir_all(socket);
        }
    }
}

impl Server {
    /// The URL of its database.
    pub(crate) fn url(&self) -> String {
        let socket = self.socket.display().to_string().replace('/', "%2F");
        format!("postgres://postgres@{socket}:{PORT}/postgres")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Ok(Some(pid)) = i32::try_from(self.child.id()).map(Pid::from_raw) {
            let child = &mut self.child;
            end(pid, || !matches!(child.try_wait(), Ok(None)));
        }
        let _ = fs::remove_dir_all(&self.socket);
    }
}

/// Ends a server: in order, without waiting for clients; after a while at once.
fn end(pid: Pid, mut is_over: impl FnMut() -> bool) {
    for (signal, patience) in [
        (Signal::INT, STOP_PATIENCE),
        (Signal::QUIT, Duration::from_secs(2)),
        (Signal::KILL, PATIENCE),
    ] {
        let began = Instant::now();
        // A process that is gone cannot be signalled, and need not.
        let _ = kill_process(pid, signal);
        while began.elapsed() < patience {
            if is_over() {
                return;
            }
            sleep(POLL);
        }
    }
}

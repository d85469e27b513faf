//! A database server of dbload's own: data directory, start, and stop.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, test_kill_process};
use tokio::time::{Instant, sleep};

use super::process::{Ending, POLL, Process, SocketFolder, end};
use super::{InstanceDir, InstanceError, User, end_of, mysql, postgres};

/// How long a server may take to start: it may have a crash to recover from.
const START_PATIENCE: Duration = Duration::from_secs(300);
/// How long a server may take to stop between two cells: one that is cut off has to recover before
/// the next.
const STOP_PATIENCE: Duration = Duration::from_secs(600);
/// Process number and socket folder of the server that was started last.
const PID_FILE: &str = "server.pid";

/// Which server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// PostgreSQL.
    Postgres,
    /// MariaDB.
    MariaDb,
    /// MySQL.
    MySql,
}

impl Kind {
    /// Its name as its programs say it.
    fn name(self) -> &'static str {
        match self {
            Self::Postgres => "PostgreSQL",
            Self::MariaDb => "MariaDB",
            Self::MySql => "MySQL",
        }
    }
}

/// Refuses a folder that holds no server of this kind.
pub(crate) fn check(kind: Kind, bin: &Path) -> Result<(), InstanceError> {
    let program = match kind {
        Kind::Postgres => bin.join("postgres"),
        Kind::MariaDb | Kind::MySql => mysql::server(kind, bin)?,
    };
    let failed = |source| InstanceError::Program { program: program.clone(), source };
    let output = Command::new(&program).arg("--version").stdin(Stdio::null()).output();
    let output = output.map_err(failed)?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    // MySQL does not always say its name, and MariaDB's program may be called mysqld.
    let is_it = match kind {
        Kind::MySql => said.contains("Ver ") && !said.contains(Kind::MariaDb.name()),
        _ => said.contains(kind.name()),
    };
    if output.status.success() && is_it {
        return Ok(());
    }
    let said = said.lines().next().unwrap_or("nothing").trim().to_owned();
    Err(InstanceError::OtherServer { program, name: kind.name(), said })
}

/// A data directory with its programs.
#[derive(Debug)]
pub(crate) struct Instance {
    pub(super) kind: Kind,
    pub(super) dir: InstanceDir,
    pub(super) bin: PathBuf,
    pub(super) user: User,
    settings: Vec<(String, String)>,
}

/// A running server; it stops when this is dropped, in seconds.
#[derive(Debug)]
pub(crate) struct Server {
    process: Process,
    url: String,
    /// After the process.
    socket: SocketFolder,
}

impl Instance {
    /// Takes the folder, stops what an earlier dbload left running in it, and makes the data
    /// directory with the user's `arguments`: anew when `fresh`, else unless it is there.
    pub(crate) async fn prepare(
        kind: Kind,
        dir: InstanceDir,
        bin: &Path,
        arguments: &[String],
        settings: Vec<(String, String)>,
        fresh: bool,
    ) -> Result<Self, InstanceError> {
        let user = User::of(kind)?;
        let instance = Self { kind, dir, bin: bin.to_path_buf(), user, settings };
        instance.stop_orphan();
        if fresh {
            instance.dir.clear()?;
        }
        let data = instance.data();
        let is_there = match kind {
            Kind::Postgres => "PG_VERSION",
            Kind::MariaDb | Kind::MySql => "ibdata1",
        };
        if data.join(is_there).is_file() {
            return Ok(instance);
        }
        let failed = |source| InstanceError::Folder { path: data.clone(), source };
        for folder in [&data, &instance.temporary()] {
            fs::create_dir_all(folder).map_err(failed)?;
            instance.user.give(folder).map_err(failed)?;
        }
        let mut command = match kind {
            Kind::Postgres => postgres::make(&instance),
            Kind::MariaDb | Kind::MySql => mysql::make(&instance)?,
        };
        let log = instance.dir.join("init.log");
        instance.log_into(command.args(arguments), &log)?;
        let mut process = Process::start(&mut command, &[])?;
        if !process.wait().await.success() {
            let what = format!("making the data directory {}", data.display());
            // A half-made directory must not pass for a whole one.
            let _ = fs::remove_dir_all(&data);
            return Err(InstanceError::Failed { what, log: end_of(&log) });
        }
        Ok(instance)
    }

    pub(super) fn data(&self) -> PathBuf {
        self.dir.join("data")
    }

    /// A folder for what the server does not keep.
    pub(super) fn temporary(&self) -> PathBuf {
        self.dir.join("tmp")
    }

    /// A program of the server.
    pub(super) fn command(&self, program: &Path) -> Command {
        let mut command = self.user.command(program);
        command.stdin(Stdio::null()).current_dir("/").env("LC_ALL", "C");
        command
    }

    fn log_into(&self, command: &mut Command, log: &Path) -> Result<(), InstanceError> {
        let failed = |source: io::Error| InstanceError::Folder { path: log.to_path_buf(), source };
        let output = File::options().create(true).append(true).open(log).map_err(failed)?;
        let errors = output.try_clone().map_err(failed)?;
        command.stdout(output).stderr(errors);
        Ok(())
    }

    /// Starts the server and waits until it answers.
    pub(crate) async fn start(&self) -> Result<Server, InstanceError> {
        let socket = SocketFolder::make(self.user)?;
        let (mut command, url) = match self.kind {
            Kind::Postgres => (postgres::serve(self, socket.path()), postgres::url(socket.path())),
            Kind::MariaDb | Kind::MySql => {
                (mysql::serve(self, socket.path())?, mysql::url(self.kind, socket.path()))
            }
        };
        for (name, value) in &self.settings {
            match self.kind {
                Kind::Postgres => command.arg("-c").arg(format!("{name}={value}")),
                Kind::MariaDb | Kind::MySql => command.arg(format!("--{name}={value}")),
            };
        }
        let log = self.dir.join("server.log");
        self.log_into(&mut command, &log)?;
        let process = Process::start(&mut command, self.ending())?;
        let path = self.dir.join(PID_FILE);
        let text = format!("{}\n{}\n", process.id(), socket.path().display());
        fs::write(&path, text).map_err(|source| InstanceError::Folder { path, source })?;
        let mut server = Server { process, url, socket };
        let began = Instant::now();
        loop {
            let has_ended = server.process.ended().is_some();
            if !has_ended && self.is_ready(&server) {
                return Ok(server);
            }
            if has_ended || began.elapsed() > START_PATIENCE {
                let what = format!("starting the server in {}", self.dir.path().display());
                return Err(InstanceError::Failed { what, log: end_of(&log) });
            }
            sleep(POLL).await;
        }
    }

    fn is_ready(&self, server: &Server) -> bool {
        match self.kind {
            Kind::Postgres => postgres::is_ready(&self.data(), server.process.id()),
            Kind::MariaDb | Kind::MySql => mysql::is_ready(server.socket.path()),
        }
    }

    fn ending(&self) -> Ending {
        match self.kind {
            Kind::Postgres => postgres::ENDING,
            Kind::MariaDb | Kind::MySql => mysql::ENDING,
        }
    }

    /// Stops a server that an earlier dbload, killed, left running in this folder.
    fn stop_orphan(&self) {
        let text = fs::read_to_string(self.dir.join(PID_FILE)).unwrap_or_default();
        let mut lines = text.lines();
        let Some(pid) = lines.next().and_then(|line| line.trim().parse::<i32>().ok()) else {
            return;
        };
        // The number may be another process's by now: only a server of this directory is stopped.
        let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let data = self.data();
        let data = data.as_os_str().as_encoded_bytes();
        if command.windows(data.len().max(1)).any(|part| part == data)
            && let Some(pid) = Pid::from_raw(pid)
        {
            end(pid, self.ending(), || test_kill_process(pid).is_err());
        }
        // Its socket lay in a folder that the dbload of then would have removed.
        SocketFolder::remove_left(Path::new(lines.next().unwrap_or_default()));
    }
}

impl Server {
    /// The URL of its database.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Stops it in order, which writes what is only in memory.
    pub(crate) async fn stop(mut self) {
        self.process.stop(STOP_PATIENCE).await;
    }
}

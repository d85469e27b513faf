//! MariaDB and MySQL as servers of dbload's own: no option file, no port, reached through a socket.

use std::fs;
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use super::InstanceError;
use super::process::Ending;
use super::server::{Instance, Kind};

/// An orderly stop, which writes the log out; a crash is recovered from at the next start.
pub(super) const ENDING: Ending = &[(Signal::TERM, Duration::from_secs(8))];
/// Where the programs of one installation may be, seen from one of these folders.
const BESIDE: [&str; 5] = [".", "../bin", "../sbin", "../scripts", "../libexec"];
/// The database that workloads run in.
const DATABASE: &str = "dbload";
/// Of a server that greets: the version of its protocol, behind the packet's header.
const PROTOCOL_10: u8 = 10;

/// Makes the data directory.
pub(super) fn make(instance: &Instance) -> Result<Command, InstanceError> {
    let mut command = match instance.kind {
        Kind::MySql => {
            let mut command = instance.command(&server(instance.kind, &instance.bin)?);
            command.args(["--no-defaults", "--initialize-insecure"]);
            command
        }
        Kind::MariaDb | Kind::Postgres => {
            let names = ["mariadb-install-db", "mysql_install_db"];
            let mut command = instance.command(&find(&instance.bin, &names)?);
            command.args(["--no-defaults", "--auth-root-authentication-method=normal"]);
            command.arg("--skip-test-db");
            command
        }
    };
    command.args(base(instance)).arg(option("datadir", &instance.data()));
    command.arg(option("tmpdir", &instance.temporary()));
    Ok(command)
}

/// Runs the server.
pub(super) fn serve(instance: &Instance, socket: &Path) -> Result<Command, InstanceError> {
    let first = instance.temporary().join("first.sql");
    let text = format!("CREATE DATABASE IF NOT EXISTS {DATABASE};\n");
    fs::write(&first, text)
        .map_err(|source| InstanceError::Folder { path: first.clone(), source })?;
    let mut command = instance.command(&server(instance.kind, &instance.bin)?);
    command.args(["--no-defaults", "--skip-networking", "--loose-local-infile=ON"]);
    // MySQL's second protocol would have a socket in a place that all servers share.
    command.args(["--loose-mysqlx=OFF", "--loose-secure-file-priv="]).args(base(instance));
    command.arg(option("datadir", &instance.data()));
    command.arg(option("tmpdir", &instance.temporary()));
    command.arg(option("socket", &socket.join("socket")));
    command.arg(option("pid-file", &instance.temporary().join("pid")));
    command.arg(option("init-file", &first));
    Ok(command)
}

/// The URL of its database.
pub(super) fn url(kind: Kind, socket: &Path) -> String {
    let socket = socket.join("socket").display().to_string().replace('/', "%2F");
    let scheme = if kind == Kind::MariaDb { "mariadb" } else { "mysql" };
    format!("{scheme}://root@/{DATABASE}?socket={socket}")
}

/// Whether the server greets who connects.
pub(super) fn is_ready(socket: &Path) -> bool {
    let greeting = || -> std::io::Result<u8> {
        let mut stream = UnixStream::connect(socket.join("socket"))?;
        stream.set_read_timeout(Some(Duration::from_secs(1)))?;
        let mut head = [0; 5];
        stream.read_exact(&mut head)?;
        Ok(head[4])
    };
    greeting().is_ok_and(|version| version == PROTOCOL_10)
}

/// The server's program.
pub(super) fn server(kind: Kind, bin: &Path) -> Result<PathBuf, InstanceError> {
    match kind {
        Kind::MySql => find(bin, &["mysqld"]),
        Kind::MariaDb | Kind::Postgres => find(bin, &["mariadbd", "mysqld"]),
    }
}

/// The first of these programs that the installation has.
fn find(bin: &Path, names: &[&str]) -> Result<PathBuf, InstanceError> {
    let places = BESIDE.iter().map(|place| bin.join(place));
    let programs = places.flat_map(|place| names.iter().map(move |name| place.join(name)));
    programs.into_iter().find(|program| program.is_file()).ok_or_else(|| {
        let source = std::io::Error::new(std::io::ErrorKind::NotFound, "not found, nor beside it");
        InstanceError::Program { program: bin.join(names[0]), source }
    })
}

/// An unpacked MariaDB does not find the files that it comes with by itself.
fn base(instance: &Instance) -> Option<String> {
    let base = instance.bin.parent().filter(|base| base.join("share").is_dir())?;
    (instance.kind == Kind::MariaDb).then(|| option("basedir", base))
}

fn option(name: &str, path: &Path) -> String {
    format!("--{name}={}", path.display())
}

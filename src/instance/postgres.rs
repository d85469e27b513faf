//! PostgreSQL as a server of dbload's own: made by initdb, reached through a socket.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use super::process::Ending;
use super::server::Instance;

/// Without waiting for clients; then without a checkpoint.
pub(super) const ENDING: Ending =
    &[(Signal::INT, Duration::from_secs(6)), (Signal::QUIT, Duration::from_secs(2))];
/// The number in the name of its socket: no server listens on a port.
const PORT: u16 = 5432;

/// Makes the data directory.
pub(super) fn make(instance: &Instance) -> Command {
    let mut command = instance.command(&instance.bin.join("initdb"));
    command.arg("-D").arg(instance.data()).args(["-A", "trust", "-U", "postgres", "-E", "UTF8"]);
    command.arg("--locale=C");
    command
}

/// Runs the server.
pub(super) fn serve(instance: &Instance, socket: &Path) -> Command {
    let mut command = instance.command(&instance.bin.join("postgres"));
    command.arg("-D").arg(instance.data()).arg("-k").arg(socket);
    command.args(["-c", "listen_addresses=", "-p", &PORT.to_string()]);
    command
}

/// The URL of its database.
pub(super) fn url(socket: &Path) -> String {
    let socket = socket.display().to_string().replace('/', "%2F");
    format!("postgres://postgres@{socket}:{PORT}/postgres")
}

/// Whether the server of this process number takes connections: it says so in its pid file.
pub(super) fn is_ready(data: &Path, pid: u32) -> bool {
    let text = fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
    let mut lines = text.lines();
    lines.next() == Some(&pid.to_string()) && lines.nth(6).is_some_and(|s| s.trim() == "ready")
}

//! What the surroundings say about the database that is meant, taken once.
//!
//! A snapshot, so that everything else here is a function of its arguments.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Environment variables, home folder and user of the operating system.
#[derive(Debug, Clone, Default)]
pub struct Env {
    vars: BTreeMap<String, String>,
    home: Option<PathBuf>,
    os_user: Option<String>,
    socket_folder: Option<PathBuf>,
}

/// Folders in which PostgreSQL servers put their sockets: Debian's and Red Hat's, then the
/// project's own default.
const SOCKET_FOLDERS: [&str; 2] = ["/var/run/postgresql", "/tmp"];

impl Env {
    /// The surroundings of this process.
    pub fn of_process() -> Self {
        Self {
            // A variable that is not UTF-8 is none of ours.
            vars: std::env::vars_os()
                .filter_map(|(key, value)| {
                    Some((key.into_string().ok()?, value.into_string().ok()?))
                })
                .collect(),
            home: std::env::home_dir(),
            os_user: whoami::username().ok(),
            socket_folder: SOCKET_FOLDERS.iter().map(PathBuf::from).find(|folder| folder.is_dir()),
        }
    }

    /// Surroundings of one's own making, for tests.
    pub fn new<'a>(
        vars: impl IntoIterator<Item = (&'a str, &'a str)>,
        home: Option<&Path>,
        os_user: Option<&str>,
        socket_folder: Option<&Path>,
    ) -> Self {
        Self {
            vars: vars.into_iter().map(|(key, value)| (key.into(), value.into())).collect(),
            home: home.map(Path::to_owned),
            os_user: os_user.map(str::to_owned),
            socket_folder: socket_folder.map(Path::to_owned),
        }
    }

    /// A variable's value; an empty one counts as absent, as it does for libpq.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.vars.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// A path below the home folder.
    pub(super) fn in_home(&self, path: &str) -> Option<PathBuf> {
        Some(self.home.as_ref()?.join(path))
    }

    /// The name under which the process runs.
    pub(super) fn os_user(&self) -> Option<&str> {
        self.os_user.as_deref()
    }

    /// The folder in which a server's socket is looked for when no host is named.
    pub(super) fn socket_folder(&self) -> Option<&Path> {
        self.socket_folder.as_deref()
    }
}

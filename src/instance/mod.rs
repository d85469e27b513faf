//! Servers that dbload makes, starts and stops itself: one folder each, marked as dbload's own.
//! What is not marked is never emptied, started or removed.

mod mysql;
mod postgres;
mod process;
mod server;
mod user;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub(crate) use server::{Instance, Kind, Server, check};
use user::User;

/// The file that marks a folder as dbload's.
const MARK: &str = "dbload-instance";
/// Lines of a log that an error shows.
const LOG_LINES: usize = 12;

/// Why an instance cannot be made, started or stopped.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InstanceError {
    /// Somebody else's folder.
    #[error(
        "{} is not dbload's (it has no file {MARK}); nothing was touched: move it away, or use \
         another storage folder", path.display()
    )]
    Foreign {
        /// The folder.
        path: PathBuf,
    },
    /// The folder cannot be used.
    #[error("{}: {source}; give a folder that can be written to", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// Not the folder of a server's programs.
    #[error("{} cannot be run ({source}): bin must be the folder with the server's programs", program.display())]
    Program {
        /// The program.
        program: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// Another program than the server that the plan names.
    #[error("{} is not a server of {name}, it says: {said}; correct engine or bin", program.display())]
    OtherServer {
        /// The program.
        program: PathBuf,
        /// The server that it should be.
        name: &'static str,
        /// What it says about itself.
        said: String,
    },
    /// A program ended in an error.
    #[error("{what} failed:\n{log}")]
    Failed {
        /// What was to be done.
        what: String,
        /// The end of what it said.
        log: String,
    },
    /// A server must not run as root, and there is nobody else.
    #[error(
        "a server does not run as root, and there is no user {0} on this machine: make one, or run \
         dbload as another user"
    )]
    NoUser(&'static str),
    /// The server's user does not come to the storage.
    #[error(
        "{} cannot be entered by the user {user}, whom the server runs as: let others enter it and \
         the folders above (chmod o+x), or use another folder", path.display()
    )]
    Closed {
        /// The folder.
        path: PathBuf,
        /// Name of the user.
        user: &'static str,
    },
}

/// Refuses a storage in which no folder `dbload-NAME` can be used, by dbload or, where there is
/// one, by the server. Touches nothing.
pub(crate) fn check_storage(
    storage: &Path,
    name: &str,
    kind: Option<Kind>,
) -> Result<(), InstanceError> {
    let access = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
    rustix::fs::access(storage, access).map_err(|error| InstanceError::Folder {
        path: storage.to_path_buf(),
        source: error.into(),
    })?;
    let path = InstanceDir::path_in(storage, name);
    if path.is_dir() && !InstanceDir::is_usable(&path)? {
        return Err(InstanceError::Foreign { path });
    }
    match kind {
        Some(kind) => User::of(kind)?.check_entry(storage),
        None => Ok(()),
    }
}

/// The folder of one instance on a storage: `DIR/dbload-NAME`.
#[derive(Debug, Clone)]
pub(crate) struct InstanceDir {
    path: PathBuf,
}

impl InstanceDir {
    /// Makes the folder, or takes one that is marked.
    pub(crate) fn take(storage: &Path, name: &str) -> Result<Self, InstanceError> {
        let path = Self::path_in(storage, name);
        let failed = |source| InstanceError::Folder { path: path.clone(), source };
        match fs::create_dir(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(failed(error));
            }
            _ if Self::is_usable(&path)? => {}
            _ => return Err(InstanceError::Foreign { path }),
        }
        let text = "Made by dbload study, which may empty this folder at any time.\n";
        fs::write(path.join(MARK), text).map_err(failed)?;
        Ok(Self { path })
    }

    fn path_in(storage: &Path, name: &str) -> PathBuf {
        storage.join(format!("dbload-{name}"))
    }

    /// Whether a folder is empty or marked as dbload's.
    fn is_usable(path: &Path) -> Result<bool, InstanceError> {
        let entries = fs::read_dir(path);
        let mut entries =
            entries.map_err(|source| InstanceError::Folder { path: path.to_path_buf(), source })?;
        Ok(path.join(MARK).is_file() || entries.next().is_none())
    }

    /// Removes everything in it but the mark.
    pub(crate) fn clear(&self) -> Result<(), InstanceError> {
        let failed = |source| InstanceError::Folder { path: self.path.clone(), source };
        for entry in fs::read_dir(&self.path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if entry.file_name() == MARK {
                continue;
            }
            let is_folder = entry.file_type().map_err(failed)?.is_dir();
            let path = entry.path();
            if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) }
                .map_err(failed)?;
        }
        Ok(())
    }

    /// A file or folder in it.
    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// The last lines of a log.
fn end_of(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let shown = &lines[lines.len().saturating_sub(LOG_LINES)..];
    format!("{}\n(the whole log: {})", shown.join("\n"), log.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_the_mark_is_left_alone() {
        let storage = std::env::temp_dir().join(format!("dbload-mark-{}", std::process::id()));
        let foreign = storage.join("dbload-a");
        fs::create_dir_all(&foreign).unwrap();
        fs::write(foreign.join("PG_VERSION"), "18").unwrap();
        let error = InstanceDir::take(&storage, "a").unwrap_err();
        assert!(error.to_string().contains("nothing was touched"), "{error}");
        assert_eq!(fs::read_dir(&foreign).unwrap().count(), 1);
        let own = InstanceDir::take(&storage, "b").unwrap();
        assert!(own.join(MARK).is_file());
        fs::write(own.join("data"), "x").unwrap();
        InstanceDir::take(&storage, "b").unwrap();
        fs::remove_dir_all(&storage).unwrap();
    }
}

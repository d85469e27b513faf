//! Who a server runs as: servers refuse to be root.

use std::fs;
use std::io;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use super::{InstanceError, Kind};

/// The user and group that a server gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct User {
    name: &'static str,
    /// Absent where it is the user of dbload itself.
    ids: Option<(u32, u32)>,
}

/// Who runs servers where their own user is missing.
const NOBODY: &str = "nobody";

impl User {
    /// Who runs servers of this kind: the user of dbload itself; where that is root, the system's
    /// user for them, or nobody.
    pub(crate) fn of(kind: Kind) -> Result<Self, InstanceError> {
        let name = match kind {
            Kind::Postgres => "postgres",
            Kind::MariaDb | Kind::MySql => "mysql",
        };
        if !rustix::process::geteuid().is_root() {
            return Ok(Self { name, ids: None });
        }
        let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let known = |name| find(&passwd, name).map(|ids| Self { name, ids: Some(ids) });
        known(name).or_else(|| known(NOBODY)).ok_or(InstanceError::NoUser(name))
    }

    /// Refuses a folder that this user cannot enter.
    pub(crate) fn check_entry(&self, folder: &Path) -> Result<(), InstanceError> {
        // Only a process of the user's knows all rules of the file system.
        let entry = self.command(Path::new("test")).arg("-x").arg(folder).status();
        match entry {
            Ok(status) if !status.success() => {
                Err(InstanceError::Closed { path: folder.to_path_buf(), user: self.name })
            }
            _ => Ok(()),
        }
    }

    /// A program that will run as this user.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        if let Some((user, group)) = self.ids {
            command.uid(user).gid(group);
        }
        // A Ctrl-C at the terminal is for dbload, which stops its servers itself.
        command.process_group(0);
        command
    }

    /// Gives a file or folder to this user.
    pub(crate) fn give(&self, path: &Path) -> io::Result<()> {
        match self.ids {
            Some((user, group)) => chown(path, Some(user), Some(group)),
            None => Ok(()),
        }
    }
}

/// User and group number of a name in the text of `/etc/passwd`.
fn find(passwd: &str, name: &str) -> Option<(u32, u32)> {
    let line = passwd.lines().find(|line| line.split(':').next() == Some(name))?;
    let mut fields = line.split(':').skip(2);
    let user = fields.next()?.parse().ok()?;
    // Somebody called postgres with the number of root would be root.
    let group = fields.next()?.parse().ok()?;
    (user != 0).then_some((user, group))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_name_and_never_root() {
        let passwd = "root:x:0:0::/:/bin/sh\npostgres:x:101:104::/:/bin/sh\nbad:x:0:5::/:\n";
        assert_eq!(find(passwd, "postgres"), Some((101, 104)));
        assert_eq!(find(passwd, "bad"), None);
        assert_eq!(find(passwd, "mysql"), None);
    }
}

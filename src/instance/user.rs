//! Who a server runs as: servers refuse to be root.

use std::fs;
use std::io;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use super::InstanceError;

/// The user and group that a server gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct User {
    ids: Option<(u32, u32)>,
}

impl User {
    /// The user of dbload itself; where that is root, the system's user of this name, or nobody.
    pub(crate) fn unprivileged(name: &'static str) -> Result<Self, InstanceError> {
        if !rustix::process::geteuid().is_root() {
            return Ok(Self { ids: None });
        }
        let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let ids = find(&passwd, name).or_else(|| find(&passwd, "nobody"));
        ids.map(|ids| Self { ids: Some(ids) }).ok_or(InstanceError::NoUser(name))
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

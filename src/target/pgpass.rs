//! libpq's password file: `host:port:database:user:password`, the first matching line counts.

use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::postgres::PgHost;
use super::secret::Secret;

/// The connection that a password is wanted for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub(super) host: &'a PgHost,
    pub(super) port: u16,
    pub(super) database: &'a str,
    pub(super) user: &'a str,
}

/// The password that the file has for a connection. A file that cannot be used is none, with a
/// warning unless it does not exist.
pub(super) fn look_up(
    file: &Path,
    wanted: &Wanted<'_>,
    warnings: &mut Vec<String>,
) -> Option<Secret> {
    let shown = file.display();
    let mut ignore = |why: &str| warnings.push(format!("password file {shown} is ignored: {why}"));
    let metadata = match std::fs::metadata(file) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        Err(error) => {
            ignore(&error.to_string());
            return None;
        }
    };
    if !metadata.is_file() {
        ignore("it is no plain file");
        return None;
    }
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        ignore(&format!("others can read it (mode {mode:04o}): chmod 0600 {shown}"));
        return None;
    }
    match std::fs::read_to_string(file) {
        Ok(text) => find(&text, wanted),
        Err(error) => {
            ignore(&error.to_string());
            None
        }
    }
}

fn find(text: &str, wanted: &Wanted<'_>) -> Option<Secret> {
    let port = wanted.port.to_string();
    let host = match wanted.host {
        PgHost::Tcp { name, .. } => name.as_str(),
        // The folders that servers use by default go by the name of localhost.
        PgHost::Socket(folder) => match folder.to_str()? {
            "/var/run/postgresql" | "/tmp" => "localhost",
            other => other,
        },
    };
    let wanted = [host, &port, wanted.database, wanted.user];
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let mut rest = line;
        for value in wanted {
            let (field, after) = take_field(rest)?;
            let raw = &rest[..rest.len() - after.len() - 1];
            if raw != "*" && field != value {
                return None;
            }
            rest = after;
        }
        let password = take_field(rest).map_or_else(|| unescape(rest), |(password, _)| password);
        (!password.is_empty()).then(|| Secret::new(password))
    })
}

/// The text before the first colon that is not escaped, without escapes, and what follows it.
fn take_field(text: &str) -> Option<(String, &str)> {
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ':' => return Some((unescape(&text[..at]), &text[at + 1..])),
            _ => {}
        }
    }
    None
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => out.push(characters.next().unwrap_or('\\')),
            _ => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, host: &PgHost) -> Option<String> {
        let wanted = Wanted { host, port: 5433, database: "bench", user: "me" };
        find(text, &wanted).map(|secret| secret.expose().to_owned())
    }

    fn tcp(name: &str) -> PgHost {
        PgHost::Tcp { name: name.into(), address: None }
    }

    #[test]
    fn the_first_line_that_matches_counts() {
        let text = "# h:5433:bench:me:no\nh:5432:bench:me:port\nh:5433:bench:you:user\n\
                    h:5433:*:me:first\nh:5433:bench:me:second";
        assert_eq!(found(text, &tcp("h")).as_deref(), Some("first"));
        assert_eq!(found(text, &tcp("i")), None);
        assert_eq!(found("*:*:*:*:any", &tcp("i")).as_deref(), Some("any"));
    }

    #[test]
    fn colons_and_backslashes_are_escaped() {
        assert_eq!(
            found(r"\:\:1:5433:bench:me:p\:w\\d:rest", &tcp("::1")).as_deref(),
            Some(r"p:w\d")
        );
        assert_eq!(found(r"\*:*:*:*:star", &tcp("h")), None);
        assert_eq!(found(r"h:*:*:*:end\", &tcp("h")).as_deref(), Some(r"end\"));
    }

    #[test]
    fn a_line_cut_short_or_without_password_is_passed_over() {
        assert_eq!(found("h:5433:bench\nh:5433:bench:me:\n\n", &tcp("h")), None);
    }

    #[test]
    fn a_default_socket_folder_is_localhost_and_others_are_themselves() {
        let text = "localhost:*:*:*:local\n/srv/pg:*:*:*:own";
        let found = |folder: &str| found(text, &PgHost::Socket(folder.into()));
        assert_eq!(found("/tmp").as_deref(), Some("local"));
        assert_eq!(found("/var/run/postgresql").as_deref(), Some("local"));
        assert_eq!(found("/srv/pg").as_deref(), Some("own"));
    }

    #[test]
    fn a_file_that_others_can_read_is_ignored_with_a_warning() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pgpass");
        std::fs::write(&file, "*:*:*:*:hunter2\n").unwrap();
        let host = tcp("h");
        let wanted = Wanted { host: &host, port: 1, database: "d", user: "u" };
        for (mode, is_found) in [(0o600, true), (0o400, true), (0o640, false), (0o604, false)] {
            std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
            let mut warnings = Vec::new();
            assert_eq!(look_up(&file, &wanted, &mut warnings).is_some(), is_found, "{mode:o}");
            assert_eq!(warnings.len(), usize::from(!is_found));
            assert!(
                warnings
                    .iter()
                    .all(|text| text.contains("chmod 0600") && !text.contains("hunter2"))
            );
        }
        let mut warnings = Vec::new();
        assert_eq!(look_up(&folder.path().join("absent"), &wanted, &mut warnings), None);
        assert!(warnings.is_empty());
        assert_eq!(look_up(folder.path(), &wanted, &mut warnings), None);
        assert!(warnings[0].contains("no plain file"));
    }
}

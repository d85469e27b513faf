//! MySQL's option file: the `[client]` group of `~/.my.cnf`.
//!
//! `key = value` lines under `[group]` lines; `-` and `_` are the same in keys. What it holds is
//! never quoted in a message: any line may be a password.

use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::error::TargetError;

/// The options of `[client]`, later ones last. A file that does not exist has none; one that
/// everybody may write is ignored with a warning, as MySQL's own clients do.
pub(super) fn client_options(
    file: &Path,
    warnings: &mut Vec<String>,
) -> Result<Vec<(String, String)>, TargetError> {
    let shown = file.display();
    let mode = match std::fs::metadata(file) {
        Ok(metadata) => metadata.permissions().mode() & 0o777,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            warnings.push(format!("option file {shown} is ignored: {error}"));
            return Ok(Vec::new());
        }
    };
    if mode & 0o002 != 0 {
        warnings.push(format!(
            "option file {shown} is ignored: everybody can write to it (mode {mode:04o}): chmod \
             0600 {shown}"
        ));
        return Ok(Vec::new());
    }
    match std::fs::read_to_string(file) {
        Ok(text) => parse(&text).map_err(|(line, problem)| TargetError::File {
            path: format!("{shown}:{line}"),
            problem: problem.to_owned(),
        }),
        Err(error) => {
            warnings.push(format!("option file {shown} is ignored: {error}"));
            Ok(Vec::new())
        }
    }
}

/// The options of `[client]`; a line that cannot be read is given by its number.
fn parse(text: &str) -> Result<Vec<(String, String)>, (usize, &'static str)> {
    let mut options: Vec<(String, String)> = Vec::new();
    let mut in_client = false;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';', '!']) {
            continue;
        }
        if let Some(group) = line.strip_prefix('[') {
            let group = group.split_once(']').ok_or((index + 1, "a [ without its ]"))?.0;
            in_client = group.trim() == "client";
            continue;
        }
        if !in_client {
            continue;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        let key = key.trim().replace('_', "-");
        let key = key.strip_prefix("loose-").map_or(key.clone(), str::to_owned);
        options.retain(|(earlier, _)| *earlier != key);
        options.push((key, unquote(value.trim())));
    }
    Ok(options)
}

/// The value without its quotes, comment and escapes.
fn unquote(value: &str) -> String {
    let value = match value.chars().next() {
        Some(quote @ ('"' | '\'')) => {
            let inner = &value[1..];
            inner.rfind(quote).map_or(inner, |end| &inner[..end])
        }
        // A comment may follow on the line; inside a word a # is one of its characters.
        _ => value.split(" #").next().unwrap_or_default().trim_end(),
    };
    let mut out = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            out.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('b') => out.push('\u{8}'),
            Some('s') => out.push(' '),
            Some('\\') | None => out.push('\\'),
            Some(other) => out.extend(['\\', other]),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(text: &str) -> Vec<(String, String)> {
        parse(text).unwrap()
    }

    #[test]
    fn only_the_client_group_counts_and_later_lines_win() {
        let text = "user=no\n[mysql]\nuser=no\n[client]\n# user=no\nuser = one\nssl_ca=/x\nuser=two\n\
                    [client-mariadb]\nuser=no\n";
        let wanted = [("ssl-ca", "/x"), ("user", "two")].map(|(k, v)| (k.into(), v.into()));
        assert_eq!(options(text), wanted);
    }

    #[test]
    fn quotes_comments_and_escapes_are_taken_off() {
        for (line, value) in [
            ("password = 'a # b'  # c", "a # b"),
            ("password=\"a'b\"", "a'b"),
            ("password = a#b # c", "a#b"),
            (r"password = a\sb\\c\x", r"a b\c\x"),
            ("password", ""),
        ] {
            assert_eq!(options(&format!("[client]\n{line}"))[0].1, value, "{line}");
        }
    }

    #[test]
    fn a_group_that_does_not_end_is_named_by_its_line() {
        assert_eq!(parse("\n[client\npassword=x"), Err((2, "a [ without its ]")));
    }

    #[test]
    fn a_file_that_everybody_can_write_is_ignored_with_a_warning() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(".my.cnf");
        std::fs::write(&file, "[client]\npassword=hunter2\n").unwrap();
        for (mode, found, warned) in [(0o600, 1, 0), (0o644, 1, 0), (0o646, 0, 1)] {
            std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
            let mut warnings = Vec::new();
            let options = client_options(&file, &mut warnings).unwrap();
            assert_eq!((options.len(), warnings.len()), (found, warned), "{mode:o}");
            assert!(warnings.iter().all(|text| !text.contains("hunter2")));
        }
        let mut warnings = Vec::new();
        assert!(client_options(&folder.path().join("no"), &mut warnings).unwrap().is_empty());
        assert!(warnings.is_empty());
    }
}

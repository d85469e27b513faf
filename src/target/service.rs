//! libpq's connection service file: named sets of parameters.

use std::io::ErrorKind;
use std::path::PathBuf;

use super::env::Env;
use super::error::TargetError;
use super::postgres::{Given, check_name};
use super::redact::redact;

/// The parameters of service `name`, which `place` asked for: from the user's file
/// (`PGSERVICEFILE` or `~/.pg_service.conf`), else the system's.
pub(super) fn look_up(name: &str, place: &str, env: &Env) -> Result<Given, TargetError> {
    let user = env.var("PGSERVICEFILE").map(PathBuf::from).or(env.in_home(".pg_service.conf"));
    // Debian's packages are built with this folder; others set the variable.
    let folder = env.var("PGSYSCONFDIR").unwrap_or("/etc/postgresql-common");
    let system = PathBuf::from(folder).join("pg_service.conf");
    let files: Vec<PathBuf> = user.into_iter().chain([system]).collect();
    for file in &files {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => {
                let path = file.display().to_string();
                return Err(TargetError::File { path, problem: error.to_string() });
            }
        };
        if let Some(given) = parse(&text, name, &file.display().to_string())? {
            return Ok(given);
        }
    }
    let looked: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    Err(TargetError::Setting {
        place: place.to_owned(),
        problem: format!("there is no service [{name}] in {}", looked.join(" or ")),
    })
}

/// The section `[name]` of a service file; `None` when there is none.
fn parse(text: &str, name: &str, path: &str) -> Result<Option<Given>, TargetError> {
    let mut given: Option<Given> = None;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(section) = line.strip_prefix('[') {
            if given.is_some() {
                break;
            }
            if section.strip_suffix(']') == Some(name) {
                given = Some(Given::new());
            }
            continue;
        }
        let Some(given) = given.as_mut() else { continue };
        let place = format!("{path}:{}", index + 1);
        let Some((key, value)) = line.split_once('=') else {
            let problem = format!("\"{}\" is not NAME=VALUE", redact(line));
            return Err(TargetError::Setting { place, problem });
        };
        let (key, value) = (key.trim(), value.trim());
        check_name(key, &place)?;
        if key == "service" {
            let problem = "a service cannot name another service".into();
            return Err(TargetError::Setting { place, problem });
        }
        // The first value counts, as with libpq.
        given.entry(key.to_owned()).or_insert_with(|| (value.to_owned(), place));
    }
    Ok(given)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# mine\n[other]\nhost=elsewhere\nnonsense\n[bench]\nhost = h\nport=1\n\
                        port=2\npassword=a=b\n[last]\nhost=z\n";

    #[test]
    fn a_section_is_found_and_its_first_values_count() {
        let given = parse(FILE, "bench", "f").unwrap().unwrap();
        assert_eq!(given["host"].0, "h");
        assert_eq!(given["port"], ("1".into(), "f:7".into()));
        assert_eq!(given["password"].0, "a=b");
        assert_eq!(given.len(), 3);
        assert_eq!(parse(FILE, "absent", "f").unwrap(), None);
    }

    #[test]
    fn a_bad_line_is_named_by_its_number() {
        for (section, words) in [
            ("[a]\nnonsense", "f:2: \"nonsense\" is not NAME=VALUE"),
            ("[a]\nhots=h", "f:2: unknown parameter \"hots\"; did you mean \"host\"?"),
            ("[a]\nservice=b", "f:2: a service cannot name another service"),
        ] {
            assert_eq!(parse(section, "a", "f").unwrap_err().to_string(), words);
        }
    }

    #[test]
    fn a_missing_service_names_the_files_that_were_read() {
        let env =
            Env::new([("PGSERVICEFILE", "/none"), ("PGSYSCONFDIR", "/nil")], None, None, None);
        let error = look_up("x", "PGSERVICE", &env).unwrap_err().to_string();
        assert_eq!(error, "PGSERVICE: there is no service [x] in /none or /nil/pg_service.conf");
    }
}

//! Where a script's text comes from: a file, standard input, a data folder, or the binary.
//!
//! A text is read once; its SHA-256 goes into every result, so that a changed script is noticed.

use std::fmt::Write;
use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::builtin;
use crate::embedded;
use crate::script::Dialect;
use crate::suggest::did_you_mean;

/// A script's text and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// What results call the script: a built-in's name or a file's stem.
    pub name: String,
    /// The script.
    pub text: String,
    /// Where it came from.
    pub origin: Origin,
    /// SHA-256 of the text, in hexadecimal.
    pub sha256: String,
}

/// Where a script's text came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The binary.
    Embedded,
    /// A file.
    Path(PathBuf),
    /// Standard input.
    Stdin,
}

/// Why there is no text.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// No built-in has the name.
    #[error("no built-in script is called \"{name}\"{hint} (built-in scripts: {known})")]
    Unknown {
        /// As given.
        name: String,
        /// A near name, or empty.
        hint: String,
        /// All names.
        known: String,
    },
    /// Several built-ins start with the name.
    #[error("\"{name}\" could be any of the built-in scripts {candidates}: give more letters")]
    Ambiguous {
        /// As given.
        name: String,
        /// The names that start with it.
        candidates: String,
    },
    /// The file cannot be read.
    #[error("cannot read the script \"{path}\": {error}")]
    Unreadable {
        /// As given.
        path: String,
        /// The system's reason.
        error: std::io::Error,
    },
    /// The text is no UTF-8.
    #[error("the script \"{path}\" is not UTF-8 text: byte {offset} (from 0) fits no character")]
    NotUtf8 {
        /// As given.
        path: String,
        /// Of the first bad byte.
        offset: usize,
    },
    /// The text has a zero byte, which no server takes.
    #[error("the script \"{path}\" holds a zero byte at offset {offset}: it is not a text")]
    ZeroByte {
        /// As given.
        path: String,
        /// Of the first one.
        offset: usize,
    },
    /// The weight is no number that fits.
    #[error(
        "invalid weight \"{weight}\" in \"{given}\": NAME@W wants a number from 0 to {MAX_WEIGHT}"
    )]
    Weight {
        /// The whole argument.
        given: String,
        /// What follows the last `@`.
        weight: String,
    },
}

/// The largest weight, as in pgbench.
const MAX_WEIGHT: u64 = 2_147_483_647;

impl Source {
    /// A source of this text.
    pub fn new(name: impl Into<String>, text: impl Into<String>, origin: Origin) -> Self {
        let text = text.into();
        let mut sha256 = String::with_capacity(64);
        for byte in Sha256::digest(text.as_bytes()) {
            // Writing to a String cannot fail.
            let _ = write!(sha256, "{byte:02x}");
        }
        Self { name: name.into(), text, origin, sha256 }
    }

    /// Reads the file `path`; `-` is standard input.
    pub fn read(path: &Path) -> Result<Self, SourceError> {
        let shown = path.display().to_string();
        let unreadable = |error| SourceError::Unreadable { path: shown.clone(), error };
        if path == Path::new("-") {
            let mut bytes = Vec::new();
            std::io::stdin().lock().read_to_end(&mut bytes).map_err(unreadable)?;
            return Ok(Self::new("stdin", decode(bytes, &shown)?, Origin::Stdin));
        }
        let bytes = std::fs::read(path).map_err(unreadable)?;
        let name = path.file_stem().map_or_else(|| shown.clone(), |s| s.to_string_lossy().into());
        Ok(Self::new(name, decode(bytes, &shown)?, Origin::Path(path.to_owned())))
    }

    /// The script of a built-in, by its exact name or an unambiguous beginning of it, in the words
    /// of an engine where it needs its own. A file of the same relative path under `data_dir` takes
    /// the place of the embedded one.
    pub fn builtin(
        name: &str,
        dialect: Dialect,
        data_dir: Option<&Path>,
    ) -> Result<Self, SourceError> {
        let name = full_name(name)?;
        let source = Self::builtin_text(name, dialect, data_dir)?;
        // A script may be another one with values of its own for its variables.
        let Some(base) = source.header().include else { return Ok(source) };
        let base = Self::builtin_text(full_name(&base)?, dialect, data_dir)?;
        Ok(Self::new(name, format!("{}{}", source.text, base.text), source.origin))
    }

    fn builtin_text(
        name: &str,
        dialect: Dialect,
        data_dir: Option<&Path>,
    ) -> Result<Self, SourceError> {
        let paths =
            [format!("workloads/{}/{name}.sql", dialect.key()), format!("workloads/{name}.sql")];
        for relative in &paths {
            let given = data_dir.map(|dir| dir.join(relative)).filter(|path| path.exists());
            if let Some(path) = given {
                return Ok(Self { name: name.to_owned(), ..Self::read(&path)? });
            }
        }
        let text = paths.iter().find_map(|path| embedded::text(path)).unwrap_or_default();
        Ok(Self::new(name, text, Origin::Embedded))
    }

    /// The text of a built-in list. A file of the same relative path under `data_dir` takes the place
    /// of the embedded one.
    pub fn list(name: &str, data_dir: Option<&Path>) -> Result<Option<Self>, SourceError> {
        let Some(text) = builtin::list_text(name) else { return Ok(None) };
        let given = data_dir.map(|dir| dir.join(format!("workloads/{name}.list")));
        match given.filter(|path| path.exists()) {
            Some(path) => Ok(Some(Self { name: name.to_owned(), ..Self::read(&path)? })),
            None => Ok(Some(Self::new(name, text, Origin::Embedded))),
        }
    }

    /// The file as messages show it.
    pub fn file(&self) -> String {
        match &self.origin {
            Origin::Embedded => format!("{}.sql", self.name),
            Origin::Path(path) => path.display().to_string(),
            Origin::Stdin => "standard input".to_owned(),
        }
    }

    /// Whether the text is the binary's own.
    pub fn is_embedded(&self) -> bool {
        self.origin == Origin::Embedded
    }

    /// Where it came from, as results say it.
    pub fn place(&self) -> String {
        match &self.origin {
            Origin::Embedded => "embedded".to_owned(),
            Origin::Path(path) => path.display().to_string(),
            Origin::Stdin => "standard input".to_owned(),
        }
    }

    /// The values that `dbload` reads from the header.
    pub fn header(&self) -> Header {
        header(&self.text)
    }
}

fn decode(bytes: Vec<u8>, path: &str) -> Result<String, SourceError> {
    let text = String::from_utf8(bytes).map_err(|error| SourceError::NotUtf8 {
        path: path.to_owned(),
        offset: error.utf8_error().valid_up_to(),
    })?;
    if let Some(offset) = text.find('\0') {
        return Err(SourceError::ZeroByte { path: path.to_owned(), offset });
    }
    // Some editors put a byte order mark in front.
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// The built-in that `name` means.
fn full_name(name: &str) -> Result<&'static str, SourceError> {
    if let Some(exact) = builtin::script_names().find(|known| *known == name) {
        return Ok(exact);
    }
    let matching: Vec<_> = builtin::script_names().filter(|k| k.starts_with(name)).collect();
    match matching.as_slice() {
        [one] => Ok(one),
        [_, _, ..] if !name.is_empty() => {
            Err(SourceError::Ambiguous { name: name.to_owned(), candidates: matching.join(", ") })
        }
        _ => Err(SourceError::Unknown {
            name: name.to_owned(),
            hint: did_you_mean(name, builtin::script_names().chain(builtin::list_names())),
            known: builtin::script_names()
                .chain(builtin::list_names())
                .collect::<Vec<_>>()
                .join(", "),
        }),
    }
}

/// Splits `NAME@W` at its last `@`; the weight is 1 when there is none.
pub fn split_weight(given: &str) -> Result<(&str, u64), SourceError> {
    let Some((name, weight)) = given.rsplit_once('@') else { return Ok((given, 1)) };
    match weight.parse() {
        Ok(number) if number <= MAX_WEIGHT && !weight.starts_with('+') => Ok((name, number)),
        _ => Err(SourceError::Weight { given: given.to_owned(), weight: weight.to_owned() }),
    }
}

/// What the comment lines `-- dbload: ...` at the top of a script say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Header {
    /// A title for people.
    pub title: Option<String>,
    /// The schema that the script needs.
    pub schema: Option<String>,
    /// The built-in script whose text follows.
    pub include: Option<String>,
    /// What becomes of the number of rows.
    pub changes: Option<RowChange>,
    /// Variables with defaults that `-D` changes.
    pub params: Vec<Param>,
}

/// What a script does to the number of rows of its tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowChange {
    /// Rows are deleted for good.
    Deletes,
    /// Rows are added.
    Inserts,
}

/// A line `-- dbload: param NAME = DEFAULT in LOW..HIGH`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    /// The variable.
    pub name: String,
    /// Its value unless `-D` gives another.
    pub default: String,
    /// The range that makes sense, if the line names one.
    pub range: Option<(i64, i64)>,
}

/// Reads the header of a script: its `-- dbload:` lines ahead of the first command. Several
/// `key = value` on a line are two or more blanks apart. Unknown keys are left alone.
pub fn header(text: &str) -> Header {
    let mut header = Header::default();
    let comments = text.lines().map(str::trim).take_while(|l| l.is_empty() || l.starts_with("--"));
    for line in comments {
        let Some(pairs) = line.trim_start_matches('-').trim_start().strip_prefix("dbload:") else {
            continue;
        };
        for pair in pairs.split("  ") {
            let Some((key, value)) = pair.split_once('=') else { continue };
            let (key, value) = (key.trim(), value.trim());
            match key {
                "title" => header.title = header.title.or_else(|| Some(value.to_owned())),
                "schema" => header.schema = header.schema.or_else(|| Some(value.to_owned())),
                "include" => header.include = Some(value.to_owned()),
                "changes" if value == "deletes" => header.changes = Some(RowChange::Deletes),
                "changes" if value == "inserts" => header.changes = Some(RowChange::Inserts),
                _ => {
                    if let Some(name) = key.strip_prefix("param ") {
                        header.params.push(param(name.trim(), value));
                    }
                }
            }
        }
    }
    header
}

fn param(name: &str, value: &str) -> Param {
    let (default, range) = match value.split_once(" in ") {
        Some((default, range)) => (default, range.split_once("..")),
        None => (value, None),
    };
    let bounds =
        range.and_then(|(low, high)| Some((low.trim().parse().ok()?, high.trim().parse().ok()?)));
    Param { name: name.to_owned(), default: default.trim().to_owned(), range: bounds }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_gives_title_schema_and_params() {
        let text = "-- dbload: title = TPC-B (sort of)    schema = tpcb\n\
                    -- any comment\n\
                    -- dbload: param size = 10 in 1..1000\n\
                    -- dbload: param text = abc\n\
                    SELECT 1;\n\
                    -- dbload: title = too late\n";
        let header = header(text);
        assert_eq!(header.title.as_deref(), Some("TPC-B (sort of)"));
        assert_eq!(header.schema.as_deref(), Some("tpcb"));
        let size = Param { name: "size".into(), default: "10".into(), range: Some((1, 1000)) };
        let text = Param { name: "text".into(), default: "abc".into(), range: None };
        assert_eq!(header.params, [size, text]);
    }

    #[test]
    fn built_in_names_match_exactly_or_by_an_unambiguous_beginning() {
        assert_eq!(
            Source::builtin("tpcb-like", Dialect::Postgres, None).unwrap().name,
            "tpcb-like"
        );
        assert_eq!(Source::builtin("se", Dialect::Postgres, None).unwrap().name, "select-only");
        let error = Source::builtin("s", Dialect::Postgres, None).unwrap_err().to_string();
        assert!(error.contains("select-only, simple-update"), "{error}");
        let error = Source::builtin("tpcblike", Dialect::Postgres, None).unwrap_err().to_string();
        assert!(error.contains("did you mean \"tpcb-like\""), "{error}");
        assert!(matches!(
            Source::builtin("", Dialect::Postgres, None),
            Err(SourceError::Unknown { .. })
        ));
    }

    #[test]
    fn a_data_folder_takes_the_place_of_the_embedded_file() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("workloads")).unwrap();
        let path = dir.path().join("workloads/select-only.sql");
        std::fs::write(&path, "SELECT 1;").unwrap();
        let source = Source::builtin("select-only", Dialect::Postgres, Some(dir.path())).unwrap();
        assert_eq!(source.text, "SELECT 1;");
        assert_eq!(source.origin, Origin::Path(path));
        let other = Source::builtin("tpcb-like", Dialect::Postgres, Some(dir.path())).unwrap();
        assert_eq!(other.origin, Origin::Embedded);
    }

    #[test]
    fn a_script_can_be_another_one_with_values_of_its_own() {
        let source = Source::builtin("read-write-range10", Dialect::Sqlite, None).unwrap();
        let header = source.header();
        assert_eq!(header.title.as_deref(), Some("read-write with ranges of 10 rows"));
        assert_eq!(header.schema.as_deref(), Some("sbtest"));
        assert_eq!(header.params[0].default, "10");
        let base = Source::builtin("read-write", Dialect::Sqlite, None).unwrap();
        assert!(source.text.ends_with(&base.text) && source.sha256 != base.sha256);
    }

    #[test]
    fn an_engine_gets_its_own_words() {
        let of = |dialect| Source::builtin("insert", dialect, None).unwrap();
        assert!(of(Dialect::Mysql).text.contains("(id, k, c, pad) VALUES (0,"));
        assert!(of(Dialect::Postgres).text.contains("(k, c, pad) VALUES (:k,"));
        assert_eq!(of(Dialect::Mysql).name, "insert");
        assert_eq!(of(Dialect::Sqlite).header().changes, Some(RowChange::Inserts));
    }

    #[test]
    fn every_workload_of_a_list_exists() {
        for list in builtin::list_names() {
            for name in builtin::list(list).unwrap() {
                assert!(builtin::script_names().any(|known| known == name), "{list}: {name}");
            }
        }
    }

    #[test]
    fn a_list_of_the_data_folder_takes_the_place_of_the_embedded_one() {
        let dir = tempfile::tempdir().unwrap();
        let of = |dir| Source::list("write-heavy", dir).unwrap().unwrap();
        assert_eq!(builtin::in_list(&of(Some(dir.path())).text).len(), 10);
        std::fs::create_dir(dir.path().join("workloads")).unwrap();
        let text = "-- title: two\ninsert\n\n delete\n";
        std::fs::write(dir.path().join("workloads/write-heavy.list"), text).unwrap();
        assert_eq!(builtin::in_list(&of(Some(dir.path())).text), ["insert", "delete"]);
        assert_eq!(of(None).origin, Origin::Embedded);
        assert!(Source::list("insert", None).unwrap().is_none());
    }

    #[test]
    fn the_hash_is_that_of_the_text() {
        let source = Source::new("a", "abc", Origin::Stdin);
        assert_eq!(
            source.sha256,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn weights_follow_the_last_at_sign() {
        assert_eq!(split_weight("a").unwrap(), ("a", 1));
        assert_eq!(split_weight("a@b@3").unwrap(), ("a@b", 3));
        assert_eq!(split_weight("a@0").unwrap(), ("a", 0));
        for bad in ["a@", "a@-1", "a@x", "a@1.5", "a@2147483648", "a@+1"] {
            assert!(matches!(split_weight(bad), Err(SourceError::Weight { .. })), "{bad}");
        }
    }

    #[test]
    fn unreadable_and_binary_files_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let missing = Source::read(&dir.path().join("none.sql")).unwrap_err();
        assert!(missing.to_string().contains("none.sql"));
        let binary = dir.path().join("binary.sql");
        std::fs::write(&binary, b"SELECT \xff;").unwrap();
        assert!(matches!(Source::read(&binary), Err(SourceError::NotUtf8 { offset: 7, .. })));
    }
}

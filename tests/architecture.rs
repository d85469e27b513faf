//! The shape of the code, held by tests: imports point down, files stay small and say what they
//! are for, and the embedded files are those of the folders.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Each module of `src/` with its floor. A file imports from lower floors and from its own module.
const FLOORS: &[(&str, u8)] = &[
    ("stats", 0),
    ("rng", 0),
    ("units", 0),
    ("suggest", 0),
    ("embedded", 0),
    ("script", 1),
    ("plan", 2),
    ("result", 2),
    ("workload", 2),
    ("schema", 2),
    ("target", 2),
    ("study", 2),
    ("engine", 3),
    ("host", 3),
    ("instance", 3),
    ("runner", 4),
    ("compare", 4),
    ("import", 4),
    ("report", 4),
    ("measure", 5),
    ("cli", 6),
    ("cmd", 6),
    ("lib", 7),
    ("main", 7),
];

/// Imports within a floor that are part of the design, not accidents.
const WITHIN_A_FLOOR: &[(&str, &str)] = &[
    ("stats", "units"),
    ("workload", "plan"),
    ("workload", "schema"),
    ("result", "plan"),
    ("cmd", "cli"),
];

/// The one step that `report` may not take although it points down.
const REPORT_READS_FILES_ONLY: (&str, u8) = ("report", 2);

const LONGEST_FILE: usize = 500;

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn module_of(file: &Path) -> String {
    let inside = file.strip_prefix(root().join("src")).unwrap();
    let first = inside.components().next().unwrap().as_os_str().to_str().unwrap();
    first.trim_end_matches(".rs").to_owned()
}

fn floor_of(module: &str) -> Option<u8> {
    FLOORS.iter().find(|(name, _)| *name == module).map(|(_, floor)| *floor)
}

/// The modules that a text names as `crate::NAME`, tests at its end left out.
fn imports(text: &str) -> BTreeSet<String> {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    let mut modules = BTreeSet::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
        for (at, _) in line.match_indices("crate::") {
            let is_word =
                line[..at].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_');
            let rest = &line[at + "crate::".len()..];
            if is_word {
                continue;
            }
            // `use crate::{a, b::c};` is not written in this project: one path a line.
            let name: String =
                rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            assert!(!name.is_empty(), "write one `crate::` path per import: {line}");
            modules.insert(name);
        }
    }
    modules
}

fn violation(module: &str, import: &str) -> Option<String> {
    if module == import || WITHIN_A_FLOOR.contains(&(module, import)) {
        return None;
    }
    let Some(own) = floor_of(module) else {
        return Some(format!("module {module} stands on no floor: add it to FLOORS"));
    };
    let target = floor_of(import)?;
    let (report, highest) = REPORT_READS_FILES_ONLY;
    if module == report && target > highest {
        return Some(format!("{report} imports {import}: it may only read results"));
    }
    (target >= own).then(|| format!("{module} (floor {own}) imports {import} (floor {target})"))
}

#[test]
fn imports_point_down() {
    let mut wrong = Vec::new();
    for file in rust_files(&root().join("src")) {
        let text = fs::read_to_string(&file).unwrap();
        for import in imports(&text) {
            if let Some(violation) = violation(&module_of(&file), &import) {
                wrong.push(format!("{}: {violation}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_import_that_points_up_is_noticed() {
    assert!(violation("script", "engine").is_some());
    assert!(violation("report", "runner").is_some());
    assert!(violation("engine", "host").is_some());
    assert!(violation("engine", "plan").is_none());
    assert!(violation("nowhere", "plan").is_some());
    let text = "use crate::runner::x;\n// crate::cmd in a comment\n#[cfg(test)]\nmod tests { use \
                crate::cli::y; }";
    assert_eq!(imports(text).into_iter().collect::<Vec<_>>(), ["runner"]);
}

#[test]
fn every_file_says_what_it_is_for_and_stays_a_room() {
    for folder in ["src", "tests", "benches"] {
        let folder = root().join(folder);
        if !folder.exists() {
            continue;
        }
        for file in rust_files(&folder) {
            let text = fs::read_to_string(&file).unwrap();
            let name = file.display();
            assert!(text.starts_with("//! "), "{name} does not open with //!");
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            let lines = code.lines().count();
            assert!(lines <= LONGEST_FILE, "{name} has {lines} lines: cut it in rooms");
        }
    }
}

fn data_files(folder: &Path) -> BTreeSet<String> {
    let mut files = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(data_files(&path));
        } else {
            let inside = path.strip_prefix(root()).unwrap();
            files.insert(inside.to_str().unwrap().to_owned());
        }
    }
    files
}

#[test]
fn the_embedded_files_are_those_of_the_folders() {
    let mut folders = data_files(&root().join("workloads"));
    folders.extend(data_files(&root().join("sql")));
    let embedded: BTreeSet<String> =
        dbload::embedded::FILES.iter().map(|(path, _)| (*path).to_owned()).collect();
    assert_eq!(embedded, folders);
    for (path, text) in dbload::embedded::FILES {
        assert_eq!(*text, fs::read_to_string(root().join(path)).unwrap(), "{path}");
    }
}

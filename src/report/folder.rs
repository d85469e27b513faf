//! The results folder: its files are complete after every interval, whatever ends the run.
//!
//! Nothing is forced to the device: an fsync during a run would disturb a server on the same
//! disk. A write that fails is an error that the caller can survive: rows that could not be
//! written are kept and written with the next one, and no file is left half written.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;

use super::appended::AppendedFile;
use crate::result::interval::HEADER;
use crate::result::{Environment, IntervalRow, Summary};

/// Where results go when nothing else is said.
const DEFAULT_PARENT: &str = "dbload-results";
/// Longest part of a name that becomes part of a file name.
const MAX_NAME_CHARS: usize = 60;

/// Why a results folder could not be made or written.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// Results of two runs would be mixed.
    #[error("{} is not empty: name another folder with --out, or empty this one", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// Something else has the name.
    #[error("{} exists and is not a folder: name another one with --out", path.display())]
    NotAFolder {
        /// The file.
        path: PathBuf,
    },
    /// The folder cannot be used.
    #[error("results cannot be written to {}: {source}; name another folder with --out", path.display())]
    Create {
        /// The folder.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A file could not be written.
    #[error("{} could not be written: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
}

/// A folder that takes the results of one invocation.
#[derive(Debug)]
pub struct ResultFolder {
    path: PathBuf,
    /// Folders that did not exist before, innermost first.
    made: Vec<PathBuf>,
    intervals: AppendedFile,
    /// Rows given to `append_interval`.
    rows: u64,
    /// Names of the files that grow beside it.
    growing: Vec<String>,
    /// Those of them that all runs share.
    shared: Vec<(&'static str, AppendedFile)>,
}

impl ResultFolder {
    /// Makes the folder `path` with all above it, or takes an empty one, and proves that it can
    /// be written to.
    pub fn create(path: &Path) -> Result<Self, FolderError> {
        match fs::read_dir(path).map(|mut entries| entries.next().is_some()) {
            Ok(true) => return Err(FolderError::NotEmpty { path: path.into() }),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return Err(FolderError::NotAFolder { path: path.into() });
            }
            // Whether an unreadable or absent one will do, making it tells.
            Ok(false) | Err(_) => {}
        }
        let made: Vec<PathBuf> = path
            .ancestors()
            .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
            .map(Path::to_path_buf)
            .collect();
        let failed = |source| FolderError::Create { path: path.into(), source };
        fs::create_dir_all(path).map_err(failed)?;
        match AppendedFile::create(path.join("intervals.csv")) {
            Ok(intervals) => {
                let mut folder = Self {
                    path: path.into(),
                    made,
                    intervals,
                    rows: 0,
                    growing: Vec::new(),
                    shared: Vec::new(),
                };
                if let Err(error) = folder.intervals.append(&header_line()) {
                    folder.discard();
                    return Err(error);
                }
                Ok(folder)
            }
            Err(source) => {
                remove_empty(&made);
                Err(failed(source))
            }
        }
    }

    /// Makes `dbload-results/<UTC time>-<name>`, with a number behind it when two runs begin in
    /// the same second.
    pub fn create_default(name: &str, now: Timestamp) -> Result<Self, FolderError> {
        Self::create_named(Path::new(DEFAULT_PARENT), name, now)
    }

    fn create_named(parent: &Path, name: &str, now: Timestamp) -> Result<Self, FolderError> {
        let stem = format!("{}-{}", now.strftime("%Y-%m-%dT%H%M%SZ"), file_name(name));
        let mut path = parent.join(&stem);
        let mut number = 2;
        while path.exists() {
            path = parent.join(format!("{stem}-{number}"));
            number += 1;
        }
        Self::create(&path)
    }

    /// Whether results are in it: then it is not to be discarded any more.
    pub fn has_results(&self) -> bool {
        self.rows > 0
    }

    /// Where the folder is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a row to `intervals.csv`. After an error the row is kept, and the next call writes it.
    pub fn append_interval(&mut self, row: &IntervalRow) -> Result<(), FolderError> {
        self.rows += 1;
        let line = csv_line(row)
            .map_err(|source| FolderError::Write { path: self.intervals.path().into(), source })?;
        self.intervals.append(&line)
    }

    /// Adds a line to a file that all runs share; the first one makes it, with its header.
    pub fn append_line(
        &mut self,
        name: &'static str,
        header: impl FnOnce() -> String,
        line: &str,
    ) -> Result<(), FolderError> {
        let index = match self.shared.iter().position(|(known, _)| *known == name) {
            Some(index) => index,
            None => {
                let mut file = self.append_to(name)?;
                let header = header();
                if !header.is_empty() {
                    file.append(format!("{header}\n").as_bytes())?;
                }
                self.shared.push((name, file));
                self.shared.len() - 1
            }
        };
        self.shared[index].1.append(format!("{line}\n").as_bytes())
    }

    /// Writes rows that an earlier error kept back.
    pub fn finish_intervals(&mut self) -> Result<(), FolderError> {
        for (_, file) in &mut self.shared {
            file.append(&[])?;
        }
        self.intervals.append(&[])?;
        self.intervals.is_in_place()
    }

    /// Starts a file that grows while a run goes on.
    pub fn append_to(&mut self, name: &str) -> Result<AppendedFile, FolderError> {
        let path = self.path.join(name);
        self.growing.push(name.to_owned());
        AppendedFile::create(path.clone()).map_err(|source| FolderError::Write { path, source })
    }

    /// Replaces `summary.json`. A reader sees the old document or the new one, never a part.
    pub fn write_summary(&self, summary: &Summary) -> Result<(), FolderError> {
        self.write_json("summary.json", summary)
    }

    /// Writes `environment.json`.
    pub fn write_environment(&self, environment: &Environment) -> Result<(), FolderError> {
        self.write_json("environment.json", environment)
    }

    /// Writes `plan.toml`.
    pub fn write_plan(&self, toml: &str) -> Result<(), FolderError> {
        self.replace("plan.toml", toml.as_bytes())
    }

    /// Writes the text of a script to `scripts/NAME.sql`; a second text of the same name gets a
    /// number behind it. Returns the path inside the folder.
    pub fn write_script(&self, name: &str, text: &str) -> Result<String, FolderError> {
        let folder = self.path.join("scripts");
        fs::create_dir_all(&folder)
            .map_err(|source| FolderError::Write { path: folder.clone(), source })?;
        let stem = file_name(name);
        let mut inside = format!("scripts/{stem}.sql");
        let mut number = 2;
        while let Ok(present) = fs::read(self.path.join(&inside)) {
            if present == text.as_bytes() {
                return Ok(inside);
            }
            inside = format!("scripts/{stem}-{number}.sql");
            number += 1;
        }
        self.replace(&inside, text.as_bytes())?;
        Ok(inside)
    }

    /// Removes what was written: nothing was measured after all. Folders that were there before
    /// stay; what cannot be removed stays, too.
    pub fn discard(self) {
        let fixed = ["intervals.csv", "summary.json", "plan.toml", "environment.json"];
        for name in fixed.into_iter().chain(self.growing.iter().map(String::as_str)) {
            // Absent files are the usual case, and a left-over one harms nobody.
            let _ = fs::remove_file(self.path.join(name));
        }
        let _ = fs::remove_dir_all(self.path.join("scripts"));
        remove_empty(&self.made);
    }

    fn write_json<T: Serialize>(&self, name: &str, value: &T) -> Result<(), FolderError> {
        let mut text = serde_json::to_vec_pretty(value).map_err(|error| FolderError::Write {
            path: self.path.join(name),
            source: error.into(),
        })?;
        text.push(b'\n');
        self.replace(name, &text)
    }

    /// Writes beside the file, then takes its place.
    pub(super) fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), FolderError> {
        let path = self.path.join(name);
        let beside = self.path.join(format!("{name}.new"));
        fs::write(&beside, bytes).and_then(|()| fs::rename(&beside, &path)).map_err(|source| {
            // A full disk needs the room more than anybody needs half a file.
            let _ = fs::remove_file(&beside);
            FolderError::Write { path, source }
        })
    }
}

/// The header of `intervals.csv`.
fn header_line() -> Vec<u8> {
    format!("{}\n", HEADER.join(",")).into_bytes()
}

/// One row of `intervals.csv`.
fn csv_line(row: &IntervalRow) -> io::Result<Vec<u8>> {
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    writer.serialize(row)?;
    writer.into_inner().map_err(|error| io::Error::other(error.to_string()))
}

/// A name made fit to be part of a file name on any system.
pub(super) fn file_name(name: &str) -> String {
    let fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+');
    let mapped: String =
        name.chars().take(MAX_NAME_CHARS).map(|c| if fit(c) { c } else { '_' }).collect();
    // A leading dot would hide the file.
    let trimmed = mapped.trim_start_matches('.');
    if trimmed.is_empty() { "unnamed".to_owned() } else { trimmed.to_owned() }
}

fn remove_empty(folders: &[PathBuf]) {
    for folder in folders {
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;
    use crate::result::Summary;
    use crate::result::summary::{Program, SCHEMA};

    fn row(interval: u32) -> IntervalRow {
        IntervalRow {
            arm: "sqlite".into(),
            round: 1,
            workload: "a,b".into(),
            clients: 2,
            interval,
            start_s: f64::from(interval - 1),
            length_s: 1.0,
            transactions: 10,
            tps: 10.0,
            latency_mean_ms: Some(0.25),
            ..IntervalRow::default()
        }
    }

    fn summary(complete: bool) -> Summary {
        Summary {
            schema: SCHEMA.into(),
            dbload: Program { version: "0".into(), command_line: "dbload run".into() },
            seed: 1,
            plan_hash: "0".into(),
            complete,
            warnings: vec![],
            arms: vec![],
            runs: vec![],
            comparisons: vec![],
            probes: vec![],
            probe_comparisons: vec![],
        }
    }

    #[test]
    fn rows_are_on_disk_after_each_interval_and_read_back_equal() {
        let parent = tempfile::tempdir().unwrap();
        let mut folder = ResultFolder::create(&parent.path().join("a/b")).unwrap();
        let csv = folder.path().join("intervals.csv");
        let header = format!("{}\n", HEADER.join(","));
        assert_eq!(fs::read_to_string(&csv).unwrap(), header);
        for interval in 1..=2 {
            folder.append_interval(&row(interval)).unwrap();
            let rows: Vec<IntervalRow> = csv::Reader::from_path(&csv)
                .unwrap()
                .into_deserialize()
                .map(Result::unwrap)
                .collect();
            assert_eq!(rows, (1..=interval).map(row).collect::<Vec<_>>());
        }
    }

    #[test]
    fn header_is_what_the_row_struct_serialises_to() {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.serialize(row(1)).unwrap();
        let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
        assert_eq!(text.lines().next().unwrap(), HEADER.join(","));
    }

    #[test]
    fn a_column_that_does_not_apply_is_an_empty_cell() {
        let line = String::from_utf8(csv_line(&row(1)).unwrap()).unwrap();
        assert_eq!(line, "sqlite,1,\"a,b\",2,1,0.0,1.0,false,10,10.0,0,0,0,0,0.25,,,,,,,,,,,,,\n");
    }

    #[test]
    fn a_folder_with_something_in_it_is_refused_and_left_alone() {
        let parent = tempfile::tempdir().unwrap();
        fs::write(parent.path().join("mine"), "x").unwrap();
        let error = ResultFolder::create(parent.path()).unwrap_err();
        assert!(matches!(error, FolderError::NotEmpty { .. }), "{error}");
        assert!(error.to_string().contains("--out"), "{error}");
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_in_the_place_of_the_folder_is_refused() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("mine");
        fs::write(&path, "x").unwrap();
        let error = ResultFolder::create(&path).unwrap_err();
        assert!(matches!(error, FolderError::NotAFolder { .. }), "{error}");
        let error = ResultFolder::create(&path.join("below")).unwrap_err();
        assert!(error.to_string().contains("--out"), "{error}");
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_refused_with_the_reason() {
        // A folder in /proc cannot be made by anybody, root included.
        let error = ResultFolder::create(Path::new("/proc/dbload/out")).unwrap_err();
        assert!(matches!(error, FolderError::Create { .. }), "{error}");
        assert!(error.to_string().contains("/proc/dbload/out"), "{error}");
    }

    #[test]
    fn rows_of_a_failed_write_come_with_the_next_one_and_no_row_is_cut() {
        let parent = tempfile::tempdir().unwrap();
        let mut folder = ResultFolder::create(&parent.path().join("out")).unwrap();
        folder.append_interval(&row(1)).unwrap();
        let csv = folder.path().join("intervals.csv");
        // A handle that cannot write stands for the full disk.
        let writable = std::mem::replace(&mut folder.intervals.file, File::open(&csv).unwrap());
        let before = fs::read_to_string(&csv).unwrap();
        let error = folder.append_interval(&row(2)).unwrap_err();
        assert!(error.to_string().contains("intervals.csv"), "{error}");
        assert_eq!(fs::read_to_string(&csv).unwrap(), before);
        folder.intervals.file = writable;
        folder.append_interval(&row(3)).unwrap();
        let rows = csv::Reader::from_path(&csv).unwrap().into_deserialize::<IntervalRow>().count();
        assert_eq!(rows, 3);
    }

    #[test]
    fn summary_is_replaced_whole_and_nothing_is_left_beside_it() {
        let parent = tempfile::tempdir().unwrap();
        let folder = ResultFolder::create(&parent.path().join("out")).unwrap();
        for complete in [false, true] {
            folder.write_summary(&summary(complete)).unwrap();
            let text = fs::read_to_string(folder.path().join("summary.json")).unwrap();
            assert_eq!(Summary::from_json(&text).unwrap(), summary(complete));
        }
        assert!(!folder.path().join("summary.json.new").exists());
    }

    #[test]
    fn two_scripts_of_one_name_keep_both_texts() {
        let parent = tempfile::tempdir().unwrap();
        let folder = ResultFolder::create(&parent.path().join("out")).unwrap();
        assert_eq!(folder.write_script("../a b", "SELECT 1;").unwrap(), "scripts/_a_b.sql");
        assert_eq!(folder.write_script("../a b", "SELECT 1;").unwrap(), "scripts/_a_b.sql");
        assert_eq!(folder.write_script("../a b", "SELECT 2;").unwrap(), "scripts/_a_b-2.sql");
        assert_eq!(
            fs::read_to_string(folder.path().join("scripts/_a_b.sql")).unwrap(),
            "SELECT 1;"
        );
    }

    #[test]
    fn default_folder_has_time_and_name_and_a_number_when_taken() {
        let parent = tempfile::tempdir().unwrap();
        let now: Timestamp = "2026-02-03T04:05:06Z".parse().unwrap();
        let first = ResultFolder::create_named(parent.path(), "tpcb like", now).unwrap();
        let second = ResultFolder::create_named(parent.path(), "tpcb like", now).unwrap();
        assert!(first.path().ends_with("2026-02-03T040506Z-tpcb_like"), "{first:?}");
        assert!(second.path().ends_with("2026-02-03T040506Z-tpcb_like-2"), "{second:?}");
    }

    #[test]
    fn discarding_takes_away_what_was_made_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        let mine = parent.path().join("mine");
        fs::create_dir(&mine).unwrap();
        let mut folder = ResultFolder::create(&mine.join("a/b")).unwrap();
        folder.write_script("s", "SELECT 1;").unwrap();
        folder.append_to("more.csv").unwrap();
        folder.discard();
        assert!(mine.exists());
        assert_eq!(fs::read_dir(&mine).unwrap().count(), 0);
    }
}

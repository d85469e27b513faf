//! Reads a results folder back: whatever of it is there, from the files alone.

use std::collections::HashMap;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::percentiles;
use super::server::{self, Stretch};
use crate::result::environment::{self, Environment};
use crate::result::interval::HEADER;
use crate::result::summary::ReadError;
use crate::result::{Event, IntervalRow, Run, Summary};
use crate::units::plural;

/// A log names its start within so many lines.
const LINES_OF_A_LOG_HEAD: usize = 10;

/// Why a results folder could not be read.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// A file is missing or cannot be read.
    #[error(
        "{} cannot be read: {source}; name a folder that `dbload run` has written", path.display()
    )]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The summary is not one, or of another version.
    #[error("{}: {source}", path.display())]
    Summary {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: ReadError,
    },
    /// Another file is not what its name says.
    #[error("{}, line {line}: {why}; restore the file, or take it away", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
}

/// Arm, workload, round and clients.
pub(super) type RunKey = (String, String, u32, u32);

/// Everything that a page is made of.
#[derive(Debug)]
pub struct Results {
    /// The folder's own name.
    pub name: String,
    /// `summary.json`.
    pub summary: Summary,
    /// The rows of `intervals.csv` by run; none where it is not there.
    pub(super) intervals: HashMap<RunKey, Vec<IntervalRow>>,
    /// What the server's counters grew by, by run; none where `server.csv` is not there.
    pub(super) server: HashMap<RunKey, Vec<Stretch>>,
    /// `events.jsonl`; `None` where it is not there.
    pub events: Option<Vec<Event>>,
    /// `environment.json`.
    pub environment: Option<Environment>,
    /// `plan.toml`.
    pub plan: Option<String>,
    /// The texts of the scripts: path in the folder, text.
    pub scripts: Vec<(String, String)>,
    /// For each run of the summary the latency at the quantiles of the page's percentile grid, in ms;
    /// empty where it is not recorded.
    pub percentiles: Vec<Vec<f64>>,
    /// For each run of the summary when it began, in seconds since the epoch.
    pub started: Vec<Option<f64>>,
}

impl Results {
    /// Reads a folder. Only `summary.json` has to be there; a study's cells are read too.
    pub fn read(folder: &Path) -> Result<Self, InputError> {
        let path = folder.join("summary.json");
        let text = fs::read_to_string(&path)
            .map_err(|source| InputError::Read { path: path.clone(), source })?;
        let mut summary =
            Summary::from_json(&text).map_err(|source| InputError::Summary { path, source })?;
        if let Some(round) = round_of(folder) {
            summary.runs.iter_mut().for_each(|run| run.round = round);
        }
        let folders = folders(folder);
        let environment = match first(&folders, "environment.json")? {
            Some((path, text)) => Some(read_environment(&path, &text)?),
            None => None,
        };
        let percentiles: Result<_, _> =
            summary.runs.iter().map(|run| table_of(&folders, run)).collect();
        // Those of the whole are those of its cells.
        let whole = folder.join("intervals.csv").is_file();
        let of_intervals = if whole { &folders[..1] } else { &folders[..] };
        let intervals = by_run(read_all(of_intervals, "intervals.csv", read_intervals)?);
        summary.warnings.extend(cut_off(&intervals, &summary.runs));
        Ok(Self {
            name: own_name(folder),
            server: read_server(&folders)?,
            intervals,
            events: read_all(&folders, "events.jsonl", read_events)?,
            environment,
            plan: first(&folders, "plan.toml")?.map(|(_, text)| text),
            scripts: read_scripts(&folders, &summary)?,
            percentiles: percentiles?,
            started: summary.runs.iter().map(|run| start_of(&folders, run)).collect(),
            summary,
        })
    }

    /// Results of which there is nothing but what `summary` says.
    pub fn of_summary(name: String, summary: Summary) -> Self {
        Self {
            name,
            intervals: HashMap::new(),
            server: HashMap::new(),
            events: None,
            environment: None,
            plan: None,
            scripts: Vec::new(),
            percentiles: vec![Vec::new(); summary.runs.len()],
            started: vec![None; summary.runs.len()],
            summary,
        }
    }

    /// The same with intervals.
    pub fn with_intervals(self, rows: Vec<IntervalRow>) -> Self {
        Self { intervals: by_run(Some(rows)), ..self }
    }

    /// The intervals of a run.
    pub fn intervals_of(&self, run: &Run) -> &[IntervalRow] {
        let key = (run.arm.clone(), run.workload.clone(), run.round, run.clients);
        self.intervals.get(&key).map_or(&[], Vec::as_slice)
    }

    /// What the server's counters grew by in a run.
    pub(super) fn server_of(&self, run: &Run) -> &[Stretch] {
        let key = (run.arm.clone(), run.workload.clone(), run.round, run.clients);
        self.server.get(&key).map_or(&[], Vec::as_slice)
    }

    /// The throughput of the intervals of each run.
    pub fn series(&self) -> Vec<Vec<f64>> {
        let rates = |run| self.intervals_of(run).iter().map(|row| row.tps).collect();
        self.summary.runs.iter().map(rates).collect()
    }

    /// Whether any intervals are there.
    pub fn has_intervals(&self) -> bool {
        !self.intervals.is_empty()
    }
}

fn by_run(rows: Option<Vec<IntervalRow>>) -> HashMap<RunKey, Vec<IntervalRow>> {
    let mut runs: HashMap<RunKey, Vec<IntervalRow>> = HashMap::new();
    for row in rows.into_iter().flatten() {
        let key = (row.arm.clone(), row.workload.clone(), row.round, row.clients);
        runs.entry(key).or_default().push(row);
    }
    runs
}

/// What the intervals hold of runs that came to no end: dbload itself was killed in them.
fn cut_off(intervals: &HashMap<RunKey, Vec<IntervalRow>>, runs: &[Run]) -> Vec<String> {
    let is_there = |(arm, workload, round, clients): &RunKey| {
        runs.iter().any(|run| {
            (&run.arm, &run.workload, run.round, run.clients) == (arm, workload, *round, *clients)
        })
    };
    let mut lost: Vec<_> = intervals.iter().filter(|(key, _)| !is_there(key)).collect();
    lost.sort_by_key(|(key, _)| *key);
    lost.iter()
        .map(|((arm, workload, round, clients), rows)| {
            let transactions: u64 = rows.iter().map(|row| row.transactions).sum();
            let seconds: f64 = rows.iter().map(|row| row.length_s).sum();
            format!(
                "{arm}, round {round}, {workload}, {}: dbload was stopped before the \
                 run's end. Its first {seconds:.1} s are in intervals.csv ({transactions} \
                 transactions, {:.1}/s), and in no table here",
                plural(*clients, "client"),
                transactions as f64 / seconds
            )
        })
        .collect()
}

/// The folder and, below it, those of a study's cells in the order of their names.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let mut all = vec![folder.to_owned()];
    let entries = fs::read_dir(folder.join("cells")).into_iter().flatten().flatten();
    let mut cells: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    cells.sort();
    all.extend(cells);
    all
}

fn own_name(folder: &Path) -> String {
    let full = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    full.file_name().unwrap_or(full.as_os_str()).to_string_lossy().into_owned()
}

/// Something of a run. A cell's files know only that it was one run; which round of the whole it
/// was, the name of its folder says.
trait OfRound {
    fn set_round(&mut self, round: u32);
}

impl OfRound for IntervalRow {
    fn set_round(&mut self, round: u32) {
        self.round = round;
    }
}

impl OfRound for Event {
    fn set_round(&mut self, round: u32) {
        self.round = round;
    }
}

/// The round in the name of a cell's folder, `cells/003-pg18_xfs-8`.
pub fn round_of(folder: &Path) -> Option<u32> {
    let is_cell = folder.parent()?.file_name()? == "cells";
    let (round, _) = folder.file_name()?.to_str()?.split_once('-')?;
    round.parse().ok().filter(|_| is_cell)
}

/// The text of a file; `None` when there is no such file.
fn optional(path: &Path) -> Result<Option<String>, InputError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(InputError::Read { path: path.into(), source }),
    }
}

/// The first file of a name, with its text.
fn first(folders: &[PathBuf], name: &str) -> Result<Option<(PathBuf, String)>, InputError> {
    for folder in folders {
        let path = folder.join(name);
        if let Some(text) = optional(&path)? {
            return Ok(Some((path, text)));
        }
    }
    Ok(None)
}

/// The rows of all files of a name; `None` when there is not one.
fn read_all<T: OfRound>(
    folders: &[PathBuf],
    name: &str,
    read: fn(&Path, &str) -> Result<Vec<T>, InputError>,
) -> Result<Option<Vec<T>>, InputError> {
    let mut all = None;
    for folder in folders {
        let path = folder.join(name);
        if let Some(text) = optional(&path)? {
            let mut found = read(&path, &text)?;
            if let Some(round) = round_of(folder) {
                found.iter_mut().for_each(|one| one.set_round(round));
            }
            all.get_or_insert_with(Vec::new).extend(found);
        }
    }
    Ok(all)
}

fn read_intervals(path: &Path, text: &str) -> Result<Vec<IntervalRow>, InputError> {
    let content = |line: u64, why: String| InputError::Content { path: path.to_owned(), line, why };
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| content(1, error.to_string()))?;
    // A file without a header belongs to a run that ended before its first interval.
    if !header.is_empty() && !header.iter().eq(HEADER) {
        return Err(content(1, "these are not the columns of intervals.csv".to_owned()));
    }
    let mut rows = Vec::new();
    for row in reader.deserialize() {
        rows.push(row.map_err(|error: csv::Error| {
            content(error.position().map_or(0, csv::Position::line), error.to_string())
        })?);
    }
    Ok(rows)
}

fn read_server(folders: &[PathBuf]) -> Result<HashMap<RunKey, Vec<Stretch>>, InputError> {
    let mut runs: HashMap<RunKey, Vec<Stretch>> = HashMap::new();
    for folder in folders {
        let path = folder.join("server.csv");
        let Some(text) = optional(&path)? else { continue };
        let found =
            server::read(&text).map_err(|(line, why)| InputError::Content { path, line, why })?;
        for ((arm, workload, round, clients), stretch) in found {
            let round = round_of(folder).unwrap_or(round);
            runs.entry((arm, workload, round, clients)).or_default().push(stretch);
        }
    }
    Ok(runs)
}

fn read_events(path: &Path, text: &str) -> Result<Vec<Event>, InputError> {
    let filled = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    filled
        .map(|(text, line)| {
            serde_json::from_str(text).map_err(|error| InputError::Content {
                path: path.to_owned(),
                line,
                why: error.to_string(),
            })
        })
        .collect()
}

fn read_environment(path: &Path, text: &str) -> Result<Environment, InputError> {
    let content = |line: u64, why: String| InputError::Content { path: path.to_owned(), line, why };
    let document: Environment = serde_json::from_str(text)
        .map_err(|error| content(error.line() as u64, error.to_string()))?;
    if document.schema != environment::SCHEMA {
        let why = format!(
            "the format is \"{}\", and this dbload reads \"{}\"",
            document.schema,
            environment::SCHEMA
        );
        return Err(content(1, why));
    }
    Ok(document)
}

fn read_scripts(
    folders: &[PathBuf],
    summary: &Summary,
) -> Result<Vec<(String, String)>, InputError> {
    let mut texts: Vec<(String, String)> = Vec::new();
    for script in summary.runs.iter().flat_map(|run| &run.scripts) {
        if texts.iter().any(|(file, _)| *file == script.file) {
            continue;
        }
        for folder in folders {
            if let Some(text) = optional(&folder.join(&script.file))? {
                texts.push((script.file.clone(), text));
                break;
            }
        }
    }
    Ok(texts)
}

/// When a run began, as the head of its log says.
fn start_of(folders: &[PathBuf], run: &Run) -> Option<f64> {
    let log = run.hlog.as_ref()?;
    let path = folders.iter().map(|folder| folder.join(log)).find(|path| path.is_file())?;
    let head = BufReader::new(fs::File::open(path).ok()?).lines().take(LINES_OF_A_LOG_HEAD);
    let start = head
        .map_while(Result::ok)
        .find_map(|line| line.strip_prefix("#[StartTime: ")?.split(' ').next().map(str::to_owned));
    start?.parse().ok()
}

/// The percentile table beside a run's log: of response times in an open loop, else of service.
fn table_of(folders: &[PathBuf], run: &Run) -> Result<Vec<f64>, InputError> {
    let Some(log) = &run.hlog else { return Ok(Vec::new()) };
    let kind = if run.response_ms.is_some() { "response" } else { "service" };
    for folder in folders {
        let path = folder.join(log).with_extension(format!("{kind}.hgrm"));
        if let Some(text) = optional(&path)? {
            return percentiles::read(&text).map_err(|(line, why)| InputError::Content {
                path,
                line,
                why,
            });
        }
    }
    Ok(Vec::new())
}

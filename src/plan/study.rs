//! The plan of a study: a TOML file that a person writes. Every refusal names file, line and what
//! to do.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use toml::{Spanned, Table};

use crate::suggest::nearest;
use crate::units::{BareUnit, parse_duration, parse_percent};

mod load;

pub use load::{Cache, Load, Part, Prepare, Size, Step};

/// Rounds when the plan says nothing.
const DEFAULT_ROUNDS: u32 = 8;
/// The difference that matters when the plan says nothing, as a fraction.
const DEFAULT_MARGIN: f64 = 0.03;
/// Time and size of a probe when the plan says nothing.
const PROBE_DURATION: Duration = Duration::from_secs(10);
const PROBE_MB: u32 = 1024;
/// A plan with everything in it, explained.
pub const EXAMPLE: &str = include_str!("../../docs/examples/study.toml");

/// A plan that was read and makes sense.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyPlan {
    /// The file that it was read from.
    pub file: PathBuf,
    /// Passes over all arms and levels.
    pub rounds: u32,
    /// Seed of the order and of the load.
    pub seed: u64,
    /// The difference that matters, as a fraction.
    pub margin: f64,
    /// Name of the arm that the others are compared with.
    pub baseline: String,
    /// Wait before each cell.
    pub settle: Duration,
    /// Results folder.
    pub out: Option<PathBuf>,
    /// What is run.
    pub load: Load,
    /// Probes of the storages with fio, where they are asked for.
    pub probe: Option<Probe>,
    /// Servers times storages, and the baseline a second time where that is asked for.
    pub arms: Vec<ArmPlan>,
    /// The text of the plan.
    pub text: String,
}

/// Probes of the storages before each round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// How long each job runs.
    pub duration: Duration,
    /// Size of its file.
    pub size_bytes: u64,
    /// Line in the plan.
    pub line: usize,
}

/// One server on one storage.
#[derive(Debug, Clone, PartialEq)]
pub struct ArmPlan {
    /// `SERVER/STORAGE`.
    pub name: String,
    /// The server.
    pub server: Server,
    /// Label of the storage.
    pub storage: String,
    /// Folder of the storage.
    pub dir: PathBuf,
    /// Line of the server in the plan.
    pub server_line: usize,
    /// Line of the storage in the plan.
    pub storage_line: usize,
}

impl StudyPlan {
    /// A reason to refuse the plan, of what stands in this line.
    pub fn refusal(&self, line: usize, why: impl Into<String>) -> StudyPlanError {
        StudyPlanError { file: self.file.clone(), line, why: why.into() }
    }
}

/// Which database system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineKind {
    /// PostgreSQL.
    Postgres,
    /// MariaDB.
    MariaDb,
    /// MySQL.
    MySql,
    /// A file, without a server.
    Sqlite,
}

/// A server that is made, started and stopped for the study.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// Name in results.
    pub name: String,
    /// Which database system.
    pub engine: EngineKind,
    /// Folder of its programs.
    pub bin: Option<PathBuf>,
    /// Arguments for making the data directory.
    #[serde(default)]
    pub initdb: Vec<String>,
    /// Server settings.
    #[serde(default)]
    pub settings: Table,
}

impl Server {
    /// Names and values of the settings, as text.
    pub fn settings(&self) -> impl Iterator<Item = (String, String)> {
        self.settings.iter().map(|(name, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            (name.clone(), text)
        })
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StorageFile {
    name: String,
    dir: PathBuf,
}

/// A value with its unit. A bare number is read, too: what it lacks is said where it is used.
#[derive(Debug, Deserialize)]
#[serde(from = "Bare")]
struct WithUnit(String);

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a value with its unit, such as \"10s\" or \"3%\"")]
enum Bare {
    Text(String),
    Whole(i64),
    Fraction(f64),
}

impl From<Bare> for WithUnit {
    fn from(bare: Bare) -> Self {
        Self(match bare {
            Bare::Text(text) => text,
            Bare::Whole(number) => number.to_string(),
            Bare::Fraction(number) => number.to_string(),
        })
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProbeFile {
    fio: bool,
    duration: Option<Spanned<WithUnit>>,
    size_mb: Option<Spanned<u32>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanFile {
    rounds: Option<Spanned<u32>>,
    seed: Option<u64>,
    margin: Option<Spanned<WithUnit>>,
    baseline: Option<Spanned<String>>,
    #[serde(default)]
    aa: bool,
    settle: Option<Spanned<WithUnit>>,
    out: Option<PathBuf>,
    load: load::LoadFile,
    probe: Option<Spanned<ProbeFile>>,
    server: Spanned<Vec<Spanned<Server>>>,
    storage: Spanned<Vec<Spanned<StorageFile>>>,
}

/// Why a plan is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudyPlanError {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, and what to do.
    pub why: String,
}

impl std::error::Error for StudyPlanError {}

impl fmt::Display for StudyPlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}: {}", self.file.display(), self.line, self.why)
    }
}

/// Where in the text something is.
struct Source<'a> {
    file: &'a Path,
    text: &'a str,
}

impl Source<'_> {
    fn line(&self, at: &Range<usize>) -> usize {
        let before = self.text.get(..at.start).unwrap_or(self.text);
        before.matches('\n').count() + 1
    }

    fn error(&self, at: &Range<usize>, why: impl Into<String>) -> StudyPlanError {
        StudyPlanError { file: self.file.to_path_buf(), line: self.line(at), why: why.into() }
    }

    /// A time, with its unit.
    fn duration(&self, value: &Spanned<WithUnit>) -> Result<Duration, StudyPlanError> {
        let WithUnit(text) = value.get_ref();
        if text.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
            let why = format!("\"{text}\" has no unit: write \"{text}s\" for seconds");
            return Err(self.error(&value.span(), why));
        }
        parse_duration(text, BareUnit::Seconds)
            .map_err(|error| self.error(&value.span(), error.to_string()))
    }
}

/// Reads the text of a plan.
pub fn parse(file: &Path, text: &str) -> Result<StudyPlan, StudyPlanError> {
    let source = Source { file, text };
    let plan: PlanFile = toml::from_str(text).map_err(|error| {
        source.error(&error.span().unwrap_or(0..0), understandable(error.message()))
    })?;
    let rounds = match &plan.rounds {
        Some(rounds) if *rounds.get_ref() < 2 => {
            let why = format!(
                "rounds = {}: one round has nothing to compare with; 5 or more give a verdict",
                rounds.get_ref()
            );
            return Err(source.error(&rounds.span(), why));
        }
        Some(rounds) => *rounds.get_ref(),
        None => DEFAULT_ROUNDS,
    };
    let margin = match &plan.margin {
        None => DEFAULT_MARGIN,
        Some(margin) => parse_percent(&margin.get_ref().0)
            .map_err(|error| source.error(&margin.span(), error.to_string()))?,
    };
    let settle = plan.settle.as_ref().map_or(Ok(Duration::from_secs(1)), |s| source.duration(s))?;
    let load = load::read(&source, &plan.load)?;
    let probe = plan.probe.as_ref().map_or(Ok(None), |probe| read_probe(&source, probe))?;
    let arms = arms(&source, &plan)?;
    let baseline = match &plan.baseline {
        None => arms[0].name.clone(),
        Some(name) if arms.iter().any(|arm| arm.name == *name.get_ref()) => name.get_ref().clone(),
        Some(name) => {
            let names: Vec<&str> = arms.iter().map(|arm| arm.name.as_str()).collect();
            let why =
                format!("baseline \"{}\" is no arm: arms are {}", name.get_ref(), names.join(", "));
            return Err(source.error(&name.span(), why));
        }
    };
    let mut plan = StudyPlan {
        file: file.to_path_buf(),
        rounds,
        seed: plan.seed.unwrap_or(1),
        margin,
        baseline,
        settle,
        out: plan.out,
        load,
        probe,
        arms: with_twin(arms, plan.aa),
        text: text.to_owned(),
    };
    if plan.arms.len() == 1 {
        let why = "one server on one storage is no comparison: add a second [[server]] or \
                   [[storage]], or aa = true for the same arm twice";
        return Err(source.error(&(0..0), why));
    }
    if let Some(twin) = plan.arms.iter().position(|arm| arm.name.ends_with(TWIN)) {
        // The twin belongs beside the arm that it repeats.
        let arm = plan.arms.iter().find(|arm| arm.name == plan.baseline).cloned();
        if let Some(arm) = arm {
            plan.arms[twin] = ArmPlan { name: format!("{}{TWIN}", arm.name), ..arm };
        }
    }
    Ok(plan)
}

/// What the second run of the baseline is called in an A/A study.
pub const TWIN: &str = ":again";

fn with_twin(mut arms: Vec<ArmPlan>, aa: bool) -> Vec<ArmPlan> {
    if aa {
        let mut twin = arms[0].clone();
        twin.name.push_str(TWIN);
        arms.push(twin);
    }
    arms
}

fn read_probe(
    source: &Source<'_>,
    probe: &Spanned<ProbeFile>,
) -> Result<Option<Probe>, StudyPlanError> {
    let ProbeFile { fio, duration, size_mb } = probe.get_ref();
    let seconds = duration.as_ref().map_or(Ok(PROBE_DURATION), |text| source.duration(text))?;
    if let Some(text) = duration.as_ref().filter(|_| seconds < Duration::from_secs(1)) {
        return Err(source.error(&text.span(), "a probe takes 1s or longer"));
    }
    let megabytes = size_mb.as_ref().map_or(PROBE_MB, |size| *size.get_ref());
    if let Some(size) = size_mb.as_ref().filter(|size| *size.get_ref() == 0) {
        return Err(source.error(&size.span(), "size_mb = 0: give 1 or more"));
    }
    let line = source.line(&probe.span());
    let size_bytes = u64::from(megabytes) << 20;
    Ok(fio.then_some(Probe { duration: seconds, size_bytes, line }))
}

/// Servers times storages.
fn arms(source: &Source<'_>, plan: &PlanFile) -> Result<Vec<ArmPlan>, StudyPlanError> {
    let (servers, storages) = (plan.server.get_ref(), plan.storage.get_ref());
    if servers.is_empty() {
        return Err(source.error(&plan.server.span(), "no [[server]]: add one"));
    }
    if storages.is_empty() {
        return Err(source.error(&plan.storage.span(), "no [[storage]]: add one"));
    }
    let mut names: Vec<&str> = Vec::new();
    for server in servers {
        check_name(source, &server.span(), &server.get_ref().name, &mut names)?;
        let Server { engine, bin, .. } = server.get_ref();
        if *engine != EngineKind::Sqlite && bin.is_none() {
            let why = "bin is missing: give the folder of the server's programs";
            return Err(source.error(&server.span(), why));
        }
    }
    let alike = |a: &Server, b: &Server| {
        (a.engine, &a.bin, &a.initdb, &a.settings) == (b.engine, &b.bin, &b.initdb, &b.settings)
    };
    for (index, server) in servers.iter().enumerate() {
        if let Some(other) = servers[..index].iter().find(|o| alike(o.get_ref(), server.get_ref()))
        {
            let why = format!(
                "server \"{}\" is the same as \"{}\": remove one, or use aa = true to see the \
                 noise",
                server.get_ref().name,
                other.get_ref().name
            );
            return Err(source.error(&server.span(), why));
        }
    }
    let mut names: Vec<&str> = Vec::new();
    let mut dirs: Vec<&Path> = Vec::new();
    for storage in storages {
        check_name(source, &storage.span(), &storage.get_ref().name, &mut names)?;
        let dir = storage.get_ref().dir.as_path();
        if dirs.contains(&dir) {
            let why = format!("two storages in {}: give each a folder of its own", dir.display());
            return Err(source.error(&storage.span(), why));
        }
        if !dir.is_dir() {
            let why = format!("the folder {} is not there: make it, or mount it", dir.display());
            return Err(source.error(&storage.span(), why));
        }
        dirs.push(dir);
    }
    let arm = |server: &Spanned<Server>, storage: &Spanned<StorageFile>| ArmPlan {
        name: format!("{}/{}", server.get_ref().name, storage.get_ref().name),
        server: server.get_ref().clone(),
        storage: storage.get_ref().name.clone(),
        dir: storage.get_ref().dir.clone(),
        server_line: source.line(&server.span()),
        storage_line: source.line(&storage.span()),
    };
    let of_server = |server: &Spanned<Server>| -> Vec<ArmPlan> {
        storages.iter().map(|storage| arm(server, storage)).collect()
    };
    Ok(servers.iter().flat_map(of_server).collect())
}

/// A name is part of file names, and stands for one thing.
fn check_name<'a>(
    source: &Source<'_>,
    at: &Range<usize>,
    name: &'a str,
    names: &mut Vec<&'a str>,
) -> Result<(), StudyPlanError> {
    let fit = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
    if name.is_empty() || !name.bytes().all(fit) || name.starts_with('.') {
        let why = format!("name \"{name}\": use letters, digits, _ . and -");
        return Err(source.error(at, why));
    }
    if names.contains(&name) {
        let why = format!("the name \"{name}\" is there twice: give each its own");
        return Err(source.error(at, why));
    }
    names.push(name);
    Ok(())
}

/// The message of the TOML reader in words of the plan, with a suggestion for a slip of the finger.
fn understandable(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    if message.starts_with("missing field") {
        let name = quoted.next().unwrap_or_default();
        return match name {
            "server" | "storage" => format!("no [[{name}]]: add one"),
            "load" => "no [load]: add it, with clients and duration".to_owned(),
            _ => format!("{name} is missing"),
        };
    }
    let is_unknown = message.starts_with("unknown field") || message.starts_with("unknown variant");
    if !is_unknown {
        return message.replace("expected u32", WHOLE).replace("expected u64", WHOLE);
    }
    let given = quoted.next().unwrap_or_default();
    let known: Vec<&str> = quoted.collect();
    let hint = nearest(given, known.iter().copied())
        .map_or_else(|| ".".to_owned(), |name| format!("; did you mean \"{name}\"?"));
    let what = if message.starts_with("unknown field") { "key" } else { "value" };
    format!("unknown {what} \"{given}\"{hint} Known here: {}", known.join(", "))
}

const WHOLE: &str = "expected a whole number";

#[cfg(test)]
mod tests;

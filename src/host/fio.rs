//! fio, which measures a storage without a database: its jobs are files of dbload's, its results
//! are read from its JSON.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use serde::Deserialize;
use tokio::process::Command;

use crate::embedded;
use crate::result::probe::{Probe, ProbeFlush, ProbeIo};

/// The jobs, in the order of running: `workloads/fio/NAME.fio`.
pub(crate) const JOBS: [&str; 2] = ["random", "wal"];

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FioError {
    /// The program is not there.
    #[error("fio cannot be run ({0}): install it (apt-get install fio), or leave the probes out")]
    Missing(io::Error),
    /// The folder cannot be used.
    #[error("{}: {source}", path.display())]
    Folder {
        /// The folder or file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// It ended in an error.
    #[error("fio failed: {0}")]
    Failed(String),
    /// It wrote something else than it does.
    #[error("the output of fio cannot be read: {0}")]
    Output(String),
}

/// Whether fio is there.
pub(crate) fn check() -> Result<(), FioError> {
    let mut command = std::process::Command::new("fio");
    let output = command.arg("--version").stdin(Stdio::null()).output();
    output.map(drop).map_err(FioError::Missing)
}

/// How a probe is made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Probing {
    /// How long each job runs.
    pub(crate) duration: Duration,
    /// Size of its file.
    pub(crate) size_bytes: u64,
}

/// Runs a job in `folder`, which is the probe's own, and returns fio's JSON.
pub(crate) async fn run(job: &str, folder: &Path, probing: Probing) -> Result<String, FioError> {
    let text = embedded::text(&format!("workloads/fio/{job}.fio")).unwrap_or_default();
    let file = folder.join(format!("{job}.fio"));
    fs::write(&file, text).map_err(|source| FioError::Folder { path: file.clone(), source })?;
    let direct = takes_direct_io(folder)?;
    let seconds = probing.duration.as_secs().max(1);
    let mut command = Command::new("fio");
    command
        .arg("--output-format=json")
        .arg(&file)
        .env("DBLOAD_PROBE_DIR", folder)
        .env("DBLOAD_PROBE_SIZE", probing.size_bytes.to_string())
        .env("DBLOAD_PROBE_RUNTIME", seconds.to_string())
        .env("DBLOAD_PROBE_DIRECT", if direct { "1" } else { "0" })
        .current_dir(folder)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .process_group(0);
    let output = command.output().await.map_err(FioError::Missing)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(FioError::Failed(said.lines().last().unwrap_or("no reason given").to_owned()));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    // Notes may stand in front of the document.
    let begin = text.find('{').unwrap_or(0);
    Ok(text[begin..].to_owned())
}

/// Whether a file in this folder can be read and written past the page cache.
fn takes_direct_io(folder: &Path) -> Result<bool, FioError> {
    let path = folder.join("direct.probe");
    fs::write(&path, [0]).map_err(|source| FioError::Folder { path: path.clone(), source })?;
    let opened = rustix::fs::open(&path, OFlags::RDWR | OFlags::DIRECT, Mode::empty());
    let _ = fs::remove_file(&path);
    Ok(opened.is_ok())
}

#[derive(Deserialize)]
struct Document {
    jobs: Vec<Job>,
}

#[derive(Deserialize)]
struct Job {
    #[serde(rename = "job options", default)]
    options: BTreeMap<String, String>,
    read: Direction,
    write: Direction,
    sync: Sync,
}

#[derive(Deserialize)]
struct Direction {
    total_ios: u64,
    iops: f64,
    bw_bytes: f64,
    clat_ns: Latency,
}

#[derive(Deserialize)]
struct Sync {
    // Its `total_ios` stays 0 in fio 3.33.
    lat_ns: Latency,
}

#[derive(Deserialize)]
struct Latency {
    #[serde(rename = "N", default)]
    count: u64,
    #[serde(default)]
    percentile: BTreeMap<String, f64>,
}

impl Latency {
    fn ms(&self, percentile: &str) -> f64 {
        self.percentile.get(percentile).copied().unwrap_or_default() / 1e6
    }
}

impl Direction {
    fn figures(&self) -> Option<ProbeIo> {
        (self.total_ios > 0).then(|| ProbeIo {
            iops: self.iops,
            kib_per_s: self.bw_bytes / 1024.0,
            clat_p95_ms: self.clat_ns.ms("95.000000"),
            clat_p99_ms: self.clat_ns.ms("99.000000"),
        })
    }
}

/// Reads what fio wrote about a job.
pub(crate) fn read(text: &str, storage: &str, round: u32, job: &str) -> Result<Probe, FioError> {
    let document: Document =
        serde_json::from_str(text).map_err(|error| FioError::Output(error.to_string()))?;
    let found = document.jobs.first().ok_or_else(|| FioError::Output("no job in it".into()))?;
    Ok(Probe {
        storage: storage.to_owned(),
        round,
        job: job.to_owned(),
        direct: found.options.get("direct").is_some_and(|direct| direct == "1"),
        read: found.read.figures(),
        write: found.write.figures(),
        flush: (found.sync.lat_ns.count > 0).then(|| ProbeFlush {
            p50_ms: found.sync.lat_ns.ms("50.000000"),
            p95_ms: found.sync.lat_ns.ms("95.000000"),
            p99_ms: found.sync.lat_ns.ms("99.000000"),
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAL: &str = r#"{"jobs": [{"job options": {"direct": "1"},
        "read": {"total_ios": 0, "iops": 0.0, "bw_bytes": 0, "clat_ns": {"N": 0}},
        "write": {"total_ios": 9, "iops": 216.5, "bw_bytes": 2048,
            "clat_ns": {"percentile": {"95.000000": 1500000, "99.000000": 3000000}}},
        "sync": {"total_ios": 0, "lat_ns": {"N": 9, "percentile":
            {"50.000000": 3194880, "95.000000": 9502720, "99.000000": 14614528}}}}]}"#;

    #[test]
    fn the_figures_of_a_job_are_read() {
        let probe = read(WAL, "a", 2, "wal").unwrap();
        assert_eq!((probe.read, probe.direct, probe.round), (None, true, 2));
        let write = probe.write.unwrap();
        assert_eq!((write.iops, write.kib_per_s, write.clat_p99_ms), (216.5, 2.0, 3.0));
        assert_eq!(probe.flush.map(|flush| flush.p50_ms), Some(3.19488));
    }

    #[test]
    fn another_document_is_refused() {
        assert!(read("{}", "a", 1, "wal").is_err());
        assert!(read("{\"jobs\": []}", "a", 1, "wal").is_err());
    }

    #[test]
    fn jobs_are_files_of_dbload() {
        for job in JOBS {
            assert!(embedded::text(&format!("workloads/fio/{job}.fio")).is_some(), "{job}");
        }
    }
}

//! A run's histograms on disk: an interval log that grows with the run, and percentile tables.
//!
//! `NAME.hlog` is an HdrHistogram interval log (V2, compressed) with one line per interval and
//! tag; `NAME.service.hgrm` and `NAME.response.hgrm` are what HdrHistogram's plotters read. Values
//! are the ones of the summary: the same histograms, in nanoseconds.

use std::fmt::Write;
use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};

use super::appended::AppendedFile;
use super::folder::{FolderError, ResultFolder, file_name};
use crate::stats::histogram::Histogram;

/// Service time of transactions.
pub const SERVICE: &str = "txn.service";
/// Response time of transactions, in an open loop.
pub const RESPONSE: &str = "txn.response";

/// Connecting, where every transaction does.
pub const CONNECT: &str = "txn.connect";

/// Waiting for a connection of the pool.
pub const POOL_WAIT: &str = "txn.pool_wait";

/// Steps in which a percentile table halves the distance to 100 %, as the plotters expect it.
const TICKS_PER_HALF_DISTANCE: u32 = 5;
const NS_PER_MS: f64 = 1e6;

/// The tag of a statement: its number among all statements of the workload, from 1.
pub fn statement_tag(number: usize) -> String {
    format!("stmt.{number}")
}

/// The interval log of one run.
pub struct HistogramLog {
    /// Without an ending.
    stem: String,
    file: AppendedFile,
    serializer: V2DeflateSerializer,
    /// Start of the window.
    start: SystemTime,
    lines: Vec<u8>,
}

impl std::fmt::Debug for HistogramLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HistogramLog").field("stem", &self.stem).finish_non_exhaustive()
    }
}

impl HistogramLog {
    /// Starts `ARM-rROUND-cCLIENTS-WORKLOAD.hlog` in `folder`, for a window that began at `start`.
    pub fn create(
        folder: &mut ResultFolder,
        arm: &str,
        round: u32,
        clients: u32,
        workload: &str,
        start: SystemTime,
    ) -> Result<Self, FolderError> {
        let name = format!("{}-r{round}-c{clients}-{}", file_name(arm), file_name(workload));
        let mut stem = name.clone();
        let mut number = 2;
        // Two names may become the same one once they are fit to be a file's.
        while folder.path().join(format!("{stem}.hlog")).exists() {
            stem = format!("{name}-{number}");
            number += 1;
        }
        let file = folder.append_to(&format!("{stem}.hlog"))?;
        let serializer = V2DeflateSerializer::new();
        let mut log = Self { stem, file, serializer, start, lines: Vec::new() };
        IntervalLogWriterBuilder::new()
            .add_comment("[Histogram log format version 1.3]")
            .add_comment("[Unit: ns]")
            .with_start_time(start)
            .begin_log_with(&mut log.lines, &mut log.serializer)
            .map(drop)
            .expect("writing to memory does not fail");
        log.flush()?;
        Ok(log)
    }

    /// Its name without the ending, which the run's other files share.
    pub fn stem(&self) -> &str {
        &self.stem
    }

    /// Its name in the folder.
    pub fn name(&self) -> String {
        format!("{}.hlog", self.stem)
    }

    /// Adds the histograms of the interval that began `start` after the window did.
    pub fn append<'a>(
        &mut self,
        start: Duration,
        length: Duration,
        histograms: impl IntoIterator<Item = (&'a str, &'a Histogram)>,
    ) -> Result<(), FolderError> {
        let stamp = (self.start + start).duration_since(UNIX_EPOCH).unwrap_or_default();
        for (tag, histogram) in histograms {
            let Self { lines, serializer, .. } = self;
            let written = IntervalLogWriterBuilder::new()
                .begin_log_with(lines, serializer)
                .map_err(|error| error.to_string())
                .and_then(|mut writer| {
                    let histogram = histogram.as_hdr();
                    writer
                        .write_histogram(histogram, stamp, length, Tag::new(tag))
                        .map_err(|error| error.to_string())
                });
            written.map_err(|text| self.failed(io::Error::other(text)))?;
        }
        self.flush()
    }

    /// Writes the percentile table of the whole run beside the log.
    pub fn write_table(
        &self,
        folder: &ResultFolder,
        kind: &str,
        histogram: &Histogram,
    ) -> Result<(), FolderError> {
        folder.replace(&format!("{}.{kind}.hgrm", self.stem), table(histogram).as_bytes())
    }

    fn flush(&mut self) -> Result<(), FolderError> {
        self.file.append(&std::mem::take(&mut self.lines))
    }

    fn failed(&self, source: io::Error) -> FolderError {
        FolderError::Write { path: self.file.path().into(), source }
    }
}

/// The percentile table of a histogram, values in milliseconds.
fn table(histogram: &Histogram) -> String {
    let hdr = histogram.as_hdr();
    let ms = |ns: u64| ns as f64 / NS_PER_MS;
    let mut text = format!(
        "{:>12} {:>14} {:>10} {:>14}\n\n",
        "Value", "Percentile", "TotalCount", "1/(1-Percentile)"
    );
    let mut count = 0;
    for step in hdr.iter_quantiles(TICKS_PER_HALF_DISTANCE) {
        count += step.count_since_last_iteration();
        let quantile = step.quantile_iterated_to();
        let value = ms(step.value_iterated_to().min(hdr.max()));
        // Writing to a string cannot fail.
        let _ = if quantile < 1.0 {
            let inverse = 1.0 / (1.0 - quantile);
            writeln!(text, "{value:12.6} {quantile:14.12} {count:10} {inverse:14.2}")
        } else {
            writeln!(text, "{value:12.6} {quantile:14.12} {count:10}")
        };
    }
    let figures = histogram.summary();
    let [mean, stddev, max] =
        [figures.mean, figures.stddev, figures.max].map(Option::unwrap_or_default);
    let _ = write!(
        text,
        "#[Mean    = {mean:12.6}, StdDeviation   = {stddev:12.6}]\n\
         #[Max     = {max:12.6}, Total count    = {:12}]\n\
         #[Buckets = {:12}, SubBuckets     = {:12}]\n",
        hdr.len(),
        hdr.buckets(),
        hdr.distinct_values(),
    );
    text
}

#[cfg(test)]
mod tests {
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    use super::*;

    fn histogram(values: impl IntoIterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram::transactions();
        values.into_iter().for_each(|ns| histogram.record(ns));
        histogram
    }

    #[test]
    fn the_intervals_of_a_log_add_up_to_the_whole_run() {
        let parent = tempfile::tempdir().unwrap();
        let mut folder = ResultFolder::create(&parent.path().join("out")).unwrap();
        let start = UNIX_EPOCH + Duration::from_millis(1_700_000_000_250);
        let mut log = HistogramLog::create(&mut folder, "a/b", 1, 8, "tpcb-like", start).unwrap();
        assert_eq!(log.name(), "a_b-r1-c8-tpcb-like.hlog");
        let (first, second) = (histogram(1000..5000), histogram(2_000_000..2_001_000));
        let second_s = Duration::from_secs(1);
        log.append(Duration::ZERO, second_s, [(SERVICE, &first), ("stmt.1", &first)]).unwrap();
        // an interval in which nothing ended
        log.append(second_s, second_s, [(SERVICE, &histogram([]))]).unwrap();
        log.append(2 * second_s, second_s, [(SERVICE, &second)]).unwrap();

        let bytes = std::fs::read(folder.path().join(log.name())).unwrap();
        let text = String::from_utf8(bytes.clone()).unwrap();
        assert!(text.starts_with("#[Histogram log format version 1.3]\n"), "{text}");
        assert!(text.contains("#[StartTime: 1700000000.250 (seconds since epoch)]\n"), "{text}");
        let mut merged = histogram([]).as_hdr().clone();
        let mut stamps = Vec::new();
        for entry in IntervalLogIterator::new(&bytes) {
            let LogEntry::Interval(interval) = entry.unwrap() else { continue };
            if interval.tag().map(|tag| tag.as_str()) != Some(SERVICE) {
                continue;
            }
            stamps.push((interval.start_timestamp(), interval.duration()));
            let raw = decoded(interval.encoded_histogram());
            let one: hdrhistogram::Histogram<u64> =
                Deserializer::new().deserialize(&mut &raw[..]).unwrap();
            merged.add(one).unwrap();
        }
        assert_eq!(stamps.len(), 3);
        assert_eq!(stamps[1], (Duration::from_millis(1_700_000_001_250), second_s));
        let mut total = first.clone();
        total.merge(&second);
        assert_eq!(&merged, total.as_hdr());
    }

    /// Base64, as in the log.
    fn decoded(text: &str) -> Vec<u8> {
        const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut bytes = Vec::new();
        let (mut bits, mut held) = (0_u32, 0);
        for digit in text.chars().filter_map(|c| DIGITS.find(c)) {
            bits = bits << 6 | u32::try_from(digit).unwrap();
            held += 6;
            if held >= 8 {
                held -= 8;
                bytes.push(u8::try_from(bits >> held & 0xff).unwrap());
            }
        }
        bytes
    }

    #[test]
    fn a_second_run_of_the_same_name_gets_a_number() {
        let parent = tempfile::tempdir().unwrap();
        let mut folder = ResultFolder::create(&parent.path().join("out")).unwrap();
        let mut create =
            || HistogramLog::create(&mut folder, "a", 1, 1, "w", UNIX_EPOCH).unwrap().name();
        assert_eq!([create(), create()], ["a-r1-c1-w.hlog", "a-r1-c1-w-2.hlog"]);
    }

    #[test]
    fn a_percentile_table_rises_to_the_maximum_and_the_total() {
        let text = table(&histogram((1..=1000).map(|i| i * 1_000_000)));
        let rows: Vec<Vec<f64>> = text
            .lines()
            .skip(2)
            .filter(|line| !line.starts_with('#'))
            .map(|line| line.split_whitespace().map(|cell| cell.parse().unwrap()).collect())
            .collect();
        assert!(rows.is_sorted_by(|a, b| a[0] <= b[0] && a[1] < b[1] && a[2] <= b[2]), "{text}");
        let last = rows.last().unwrap();
        assert_eq!(last[1..], [1.0, 1000.0], "without an inverse, which is infinite");
        assert!(text.contains("Total count    =         1000]"), "{text}");
        assert!(rows.iter().any(|row| row[1] == 0.5 && (row[0] - 500.0).abs() < 0.5), "{text}");
    }
}

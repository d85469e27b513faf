//! The lines that are shown while something runs: pure functions from figures to text.
//!
//! Every line is complete in itself and free of escape codes, and in a closed loop it fits into 80
//! columns; `talk` decides where it goes.

use std::borrow::Cow;
use std::time::Duration;

use super::spark::{Marks, sparkline};
use crate::result::{Event, IntervalRow};
use crate::units::plural;
use crate::units::{format_count, format_ms, format_time_left, format_tps};

/// A sparkline of fewer marks shows nothing.
const FEWEST_MARKS: usize = 5;
/// Columns that figures leave to them, where there are enough.
const ROOM_FOR_MARKS: usize = 14;
/// A longer one is a distraction.
const MOST_MARKS: usize = 60;
/// Marks of a full bar.
const BAR_MARKS: usize = 10;

/// What is known about a run before it starts.
#[derive(Debug, Clone, Copy)]
pub struct RunHeading<'a> {
    /// Name of the arm; shown when there are several.
    pub arm: Option<&'a str>,
    /// Name of the workload.
    pub workload: &'a str,
    /// Clients.
    pub clients: u32,
    /// Round, from 1; shown when there are several.
    pub round: Option<u32>,
    /// Number of the run in the sweep, from 1.
    pub number: usize,
    /// Runs of the sweep.
    pub of: usize,
}

/// The line that opens a run: `tpcb-like, 8 clients (3 of 6)`.
pub fn heading_line(heading: &RunHeading<'_>) -> String {
    let mut parts = vec![heading.workload.to_owned()];
    parts.extend(heading.arm.map(str::to_owned));
    parts.extend(heading.round.map(|round| format!("round {round}")));
    parts.push(plural(heading.clients, "client"));
    let mut line = parts.join(", ");
    if heading.of > 1 {
        line.push_str(&format!(" ({} of {})", heading.number, heading.of));
    }
    line
}

/// The line of an interval: the long form where it fits into `columns`.
pub fn interval_line(row: &IntervalRow, columns: usize) -> String {
    let long = long_interval_line(row);
    if long.chars().count() < columns { long } else { short_interval_line(row, columns) }
}

/// As much as fits: what matters least is left out first, and the order is always the same.
fn short_interval_line(row: &IntervalRow, columns: usize) -> String {
    let end_s = row.start_s + row.length_s;
    let mut line = format!("{end_s:.1} s {} tps", format_tps(row.tps));
    let p99 = row.response_p99_ms.or(row.latency_p99_ms);
    let p50 = row.response_p50_ms.or(row.latency_p50_ms);
    let part = |name: &str, figure: Option<f64>| {
        format!(" {name} {}", figure.map_or_else(|| "-".to_owned(), format_ms))
    };
    let failed = format!(" failed {}", row.failed);
    let [p50, p99] = [part("p50", p50), part("p99", p99)];
    let fullest_first =
        [format!("{p50}{p99}{failed}"), format!("{p99}{failed}"), p99, String::new()];
    let room = columns.saturating_sub(line.chars().count());
    line.push_str(fullest_first.iter().find(|more| more.chars().count() < room).map_or("", |m| m));
    line
}

/// The last interval, drawn in place, with the throughput of those before it as marks.
pub fn figures_line(row: &IntervalRow, rates: &[f64], marks: Marks, columns: usize) -> String {
    let line = short_interval_line(row, columns - ROOM_FOR_MARKS.min(columns / 3));
    let room = columns.saturating_sub(line.chars().count() + 2);
    if room < FEWEST_MARKS {
        return line;
    }
    let shown = &rates[rates.len().saturating_sub(room.min(MOST_MARKS))..];
    format!("{line} {}", sparkline(shown, shown.len(), marks))
}

/// The line of an event: `12.3 s checkpoint`.
pub fn event_line(event: &Event) -> String {
    let mut line = format!("{:7.1} s {}", event.start_s, event.kind.replace('_', " "));
    if let Some(subject) = &event.subject {
        line.push_str(&format!(" {subject}"));
    }
    let length = event.end_s.map(|end_s| end_s - event.start_s);
    match (event.count, length) {
        (2.., Some(length)) => {
            line.push_str(&format!(", {} times in {length:.1} s", event.count));
        }
        (2.., None) => line.push_str(&format!(", {} times", event.count)),
        (_, Some(length)) => line.push_str(&format!(", {length:.1} s long")),
        (_, None) => {}
    }
    line
}

/// How far something is, as a bar: `[=====     ]  50% message`.
pub fn bar(done: f64, message: &str) -> String {
    // A share that is no number is none.
    let done = if done.is_nan() { 0.0 } else { done.clamp(0.0, 1.0) };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and BAR_MARKS"
    )]
    let full = (done * BAR_MARKS as f64) as usize;
    let (full, rest) = ("=".repeat(full), " ".repeat(BAR_MARKS - full));
    format!("[{full}{rest}] {:3.0}% {message}", 100.0 * done)
}

/// With a rate response stands first, then service, both named.
fn long_interval_line(row: &IntervalRow) -> String {
    let end_s = row.start_s + row.length_s;
    let mut line = format!("{end_s:7.1} s {:>9} tps", format_tps(row.tps));
    if row.response_mean_ms.is_some() || row.lag_mean_ms.is_some() {
        line.push_str(&format!(
            "  response mean {} p99 {}  service mean {} p99 {}  lag {} ms",
            ms(row.response_mean_ms),
            ms(row.response_p99_ms),
            ms(row.latency_mean_ms),
            ms(row.latency_p99_ms),
            ms(row.lag_mean_ms),
        ));
    } else {
        line.push_str(&format!(
            "  mean {}  p50 {}  p99 {} ms",
            ms(row.latency_mean_ms),
            ms(row.latency_p50_ms),
            ms(row.latency_p99_ms),
        ));
    }
    line.push_str(&format!("  failed {}", row.failed));
    for (what, count) in [("retries", row.retries), ("skipped", row.skipped)] {
        if count > 0 {
            line.push_str(&format!("  {what} {count}"));
        }
    }
    line
}

/// Wide enough for a latency under ten seconds, so that columns stay where they are.
fn ms(figure: Option<f64>) -> String {
    format!("{:>7}", figure.map_or_else(|| "-".to_owned(), format_ms))
}

/// How far a load is, for a line of its own.
pub fn load_line(table: &str, done: u64, total: u64, elapsed: Duration) -> String {
    let mut line = format!("{table}: {} of {} rows", format_count(done), format_count(total));
    if let Some(percent) = (done * 100).checked_div(total) {
        line.push_str(&format!(" ({percent}%)"));
    }
    if let Some((rows_per_s, left)) = load_pace(done, total, elapsed) {
        line.push_str(&format!(", {rows_per_s} rows/s, {left} left"));
    }
    line
}

/// The same beside a bar that says the percentage; what may be cut off stands last.
pub fn load_message(table: &str, done: u64, total: u64, elapsed: Duration) -> String {
    let rows = format!("{} of {} rows of {table}", format_count(done), format_count(total));
    match load_pace(done, total, elapsed) {
        Some((rows_per_s, left)) => format!("{left} left, {rows_per_s} rows/s, {rows}"),
        None => rows,
    }
}

/// Rows per second and time left, when there is something to judge by.
fn load_pace(done: u64, total: u64, elapsed: Duration) -> Option<(String, String)> {
    let rows_per_s = u128::from(done) * 1000 / elapsed.as_millis().max(1);
    let rows_per_s = u64::try_from(rows_per_s).ok().filter(|&rows_per_s| rows_per_s > 0)?;
    let left = Duration::from_secs(total.saturating_sub(done).div_ceil(rows_per_s));
    Some((format_count(rows_per_s), format_time_left(left)))
}

/// How far a sweep is: `run 3 of 6, 1m 20s left`.
pub fn sweep_line(number: usize, of: usize, left: Option<Duration>) -> String {
    let left = left.map(|left| format!(", {} left", format_time_left(left))).unwrap_or_default();
    format!("run {number} of {of}{left}")
}

/// The text with control characters, other than line ends, as blanks: what a server says must not
/// move the cursor of the terminal.
pub fn harmless(text: &str) -> Cow<'_, str> {
    let moves = |c: char| c.is_control() && c != '\n';
    if text.contains(moves) { text.replace(moves, " ").into() } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> IntervalRow {
        IntervalRow {
            start_s: 11.0,
            length_s: 1.0,
            transactions: 1234,
            tps: 1234.0,
            latency_mean_ms: Some(6.48),
            latency_p50_ms: Some(6.1),
            latency_p99_ms: Some(12.3454),
            ..IntervalRow::default()
        }
    }

    #[test]
    fn closed_loop_interval_fits_into_80_columns() {
        let line = interval_line(&row(), 80);
        assert_eq!(
            line,
            "   12.0 s    1234.0 tps  mean   6.480  p50   6.100  p99  12.345 ms  failed 0"
        );
        assert!(line.len() <= 80, "{}", line.len());
    }

    #[test]
    fn a_narrow_terminal_gets_what_matters_most() {
        assert_eq!(interval_line(&row(), 40), "12.0 s 1234.0 tps p99 12.345 failed 0");
        assert_eq!(interval_line(&row(), 32), "12.0 s 1234.0 tps p99 12.345");
        let line = figures_line(&row(), &[5.0, 10.0, 0.0, 10.0, 10.0], Marks::Ascii, 80);
        assert_eq!(line, "12.0 s 1234.0 tps p50 6.100 p99 12.345 failed 0 =#_##");
        for columns in 20..120 {
            let line = figures_line(&row(), &[1.0; 100], Marks::Blocks, columns);
            assert!(line.chars().count() < columns, "{columns}: {line}");
        }
    }

    #[test]
    fn a_bar_stays_a_bar() {
        let bars = [-1.0, 0.25, 1.0, 7.0, f64::NAN].map(|done| bar(done, "x"));
        let full = "[==========] 100% x";
        let empty = "[          ]   0% x";
        assert_eq!(bars, [empty, "[==        ]  25% x", full, full, empty]);
    }

    #[test]
    fn stalled_interval_is_a_line_of_zero() {
        let line = interval_line(&IntervalRow { length_s: 1.0, ..IntervalRow::default() }, 80);
        assert!(line.contains(" 0.0 tps") && line.contains("mean       -"), "{line}");
    }

    #[test]
    fn with_a_rate_response_stands_before_service() {
        let row = IntervalRow {
            response_mean_ms: Some(20.0),
            response_p99_ms: Some(40.0),
            lag_mean_ms: Some(13.52),
            skipped: 2,
            ..row()
        };
        assert_eq!(
            interval_line(&row, usize::MAX),
            "   12.0 s    1234.0 tps  response mean  20.000 p99  40.000  service mean   6.480 p99  \
             12.345  lag  13.520 ms  failed 0  skipped 2"
        );
    }

    #[test]
    fn heading_names_only_what_differs() {
        let heading = RunHeading {
            arm: None,
            workload: "tpcb-like",
            clients: 1,
            round: None,
            number: 1,
            of: 1,
        };
        assert_eq!(heading_line(&heading), "tpcb-like, 1 client");
        let heading = RunHeading {
            arm: Some("pg18"),
            clients: 8,
            round: Some(2),
            number: 9,
            of: 12,
            ..heading
        };
        assert_eq!(heading_line(&heading), "tpcb-like, pg18, round 2, 8 clients (9 of 12)");
    }

    #[test]
    fn load_says_how_much_how_fast_and_how_long() {
        assert_eq!(
            load_line("pgbench_accounts", 2_500_000, 5_000_000, Duration::from_secs(4)),
            "pgbench_accounts: 2,500,000 of 5,000,000 rows (50%), 625,000 rows/s, 4s left"
        );
        assert_eq!(
            load_message("pgbench_accounts", 2_500_000, 5_000_000, Duration::from_secs(4)),
            "4s left, 625,000 rows/s, 2,500,000 of 5,000,000 rows of pgbench_accounts"
        );
        assert_eq!(load_line("t", 0, 10, Duration::ZERO), "t: 0 of 10 rows (0%)");
        assert_eq!(load_line("t", 0, 0, Duration::ZERO), "t: 0 of 0 rows");
        assert_eq!(load_message("t", 0, 10, Duration::from_secs(9)), "0 of 10 rows of t");
    }

    #[test]
    fn sweep_says_the_time_left_when_it_is_known() {
        assert_eq!(sweep_line(3, 6, Some(Duration::from_secs(80))), "run 3 of 6, 1m 20s left");
        assert_eq!(sweep_line(3, 6, None), "run 3 of 6");
    }

    #[test]
    fn many_events_of_an_interval_are_not_one_long_one() {
        let event = |count, end_s| {
            Event {
            kind: "checkpoint".to_owned(),
            count,
            end_s,
            ..serde_json::from_str(
                r#"{"arm": "a", "round": 1, "workload": "w", "clients": 1, "kind": "", "subject": null,
                    "start_s": 2.0, "end_s": null, "time": "2026-12-01T00:00:00Z", "count": 1,
                    "text": null}"#,
            )
            .unwrap()
        }
        };
        let said = |count, end_s| event_line(&event(count, end_s)).trim().to_owned();
        assert_eq!(said(1, Some(3.0)), "2.0 s checkpoint, 1.0 s long");
        assert_eq!(said(16, Some(3.0)), "2.0 s checkpoint, 16 times in 1.0 s");
        assert_eq!(said(2, None), "2.0 s checkpoint, 2 times");
    }
}

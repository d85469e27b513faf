//! Standard error: progress, interval lines, warnings and the path of the results.
//!
//! One writer owns it, so that what is drawn in place and a line never mix. On a terminal the last
//! interval, a sparkline and a bar stand under the lines; elsewhere there are plain lines only. No
//! colours are used, so `NO_COLOR` has nothing to switch off. It reads no clock: how long something
//! took, the caller says.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use super::area::Area;
use super::live::{
    RunHeading, bar, event_line, figures_line, harmless, heading_line, interval_line, load_line,
    load_message, sweep_line,
};
use super::spark::Marks;
use super::stdout::DEFAULT_WIDTH;
use super::text::hanging;
use crate::result::{Event, IntervalRow};

/// A bar is worth its place from here on.
const BAR_AFTER: Duration = Duration::from_secs(1);
/// Between two plain lines of a load: enough to see that it moves, few enough for a log file.
const PLAIN_LOAD_EVERY: Duration = Duration::from_secs(5);
/// Intervals that a sparkline may show.
const MOST_INTERVALS: usize = 200;
/// Kinds of events that the line of their interval counts already.
const COUNTED_KINDS: [&str; 2] = ["error", "reconnect"];

/// How much is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Lines and a bar that is drawn in place.
    Terminal,
    /// Lines only.
    Plain,
    /// Warnings, and where the results are.
    Quiet,
}

impl Style {
    /// For standard error of this process.
    pub fn of_stderr(quiet: bool) -> Self {
        Self::choose(quiet, io::stderr().is_terminal(), std::env::var("TERM").as_deref().ok())
    }

    fn choose(quiet: bool, is_terminal: bool, term: Option<&str>) -> Self {
        if quiet {
            Self::Quiet
        } else if is_terminal && term != Some("dumb") {
            Self::Terminal
        } else {
            Self::Plain
        }
    }
}

/// The only writer of standard error.
pub struct Talk {
    style: Style,
    area: Area,
    /// What is drawn in place: the last line is the bar.
    lines: Vec<String>,
    /// The last interval, and the throughput of those before it in the same run.
    last: Option<Box<IntervalRow>>,
    rates: Vec<f64>,
    marks: Marks,
    last_load_line: Option<Duration>,
    columns: fn() -> usize,
    out: Box<dyn Write + Send>,
}

impl Talk {
    /// On standard error of this process.
    pub fn stderr(style: Style) -> Self {
        Self::new(style, Marks::of_process(), stderr_columns, Box::new(io::stderr()))
    }

    fn new(style: Style, marks: Marks, columns: fn() -> usize, out: Box<dyn Write + Send>) -> Self {
        Self {
            style,
            area: Area::default(),
            lines: Vec::new(),
            last: None,
            rates: Vec::new(),
            marks,
            last_load_line: None,
            columns,
            out,
        }
    }

    /// A sentence about what goes on; not said when quiet.
    pub fn say(&mut self, text: &str) {
        if self.style != Style::Quiet {
            self.insist(text);
        }
    }

    /// A sentence that is said even when quiet: a warning, the path of the results.
    pub fn insist(&mut self, text: &str) {
        if self.style != Style::Terminal {
            return self.line(text);
        }
        // The terminal would break it within words.
        let width = (self.columns)().saturating_sub(1);
        for line in text.lines() {
            match line.chars().count() > width {
                true => hanging("", line, width).iter().for_each(|line| self.line(line)),
                false => self.line(line),
            }
        }
    }

    /// A line that is laid out already.
    fn record(&mut self, line: &str) {
        if self.style != Style::Quiet {
            self.line(line);
        }
    }

    /// A run begins.
    pub fn run_begins(&mut self, heading: &RunHeading<'_>) {
        self.last = None;
        self.rates.clear();
        self.say(&heading_line(heading));
    }

    /// An interval has ended.
    pub fn interval(&mut self, row: &IntervalRow) {
        if self.rates.len() == MOST_INTERVALS {
            self.rates.remove(0);
        }
        self.rates.push(row.tps);
        self.last = Some(Box::new(row.clone()));
        // A line that the terminal would break is no line any more.
        let columns = if self.style == Style::Terminal { (self.columns)() } else { usize::MAX };
        self.record(&interval_line(row, columns));
    }

    /// Something happened beside the transactions.
    pub fn event(&mut self, event: &Event) {
        if !COUNTED_KINDS.contains(&event.kind.as_str()) {
            self.say(&event_line(event));
        }
    }

    /// A sweep is at run `number` of `of`; `done` (0 to 1) of its time is over and `left` is to
    /// come, if that is known.
    pub fn sweep(&mut self, number: usize, of: usize, done: f64, left: Option<Duration>) {
        let columns = (self.columns)();
        let figures = self.last.as_deref();
        let figures = figures.map(|row| figures_line(row, &self.rates, self.marks, columns));
        let bar = bar(done, &sweep_line(number, of, left));
        self.draw(figures.into_iter().chain([bar]).collect());
    }

    /// A load has written `done` of `total` rows of `table` in `elapsed`.
    pub fn load(&mut self, table: &str, done: u64, total: u64, elapsed: Duration) {
        match self.style {
            Style::Quiet => {}
            Style::Terminal => {
                if elapsed >= BAR_AFTER {
                    let share = if total == 0 { 1.0 } else { done as f64 / total as f64 };
                    self.draw(vec![bar(share, &load_message(table, done, total, elapsed))]);
                }
            }
            Style::Plain => {
                let since = elapsed.saturating_sub(self.last_load_line.unwrap_or_default());
                if since >= PLAIN_LOAD_EVERY {
                    self.last_load_line = Some(elapsed);
                    self.line(&load_line(table, done, total, elapsed));
                }
            }
        }
    }

    /// A load or a sweep has ended: the bar goes, the lines stay.
    pub fn step_ends(&mut self) {
        self.last_load_line = None;
        self.draw(Vec::new());
    }

    fn draw(&mut self, lines: Vec<String>) {
        if self.style == Style::Terminal && (!lines.is_empty() || !self.lines.is_empty()) {
            self.lines = lines;
            // Standard error that cannot be written to is no reason to stop measuring.
            let _ = self.area.show(&mut self.out, None, &self.lines, (self.columns)());
        }
    }

    fn line(&mut self, text: &str) {
        // As above.
        let _ = self.area.show(&mut self.out, Some(&harmless(text)), &self.lines, (self.columns)());
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        self.step_ends();
    }
}

/// Columns of the terminal at standard error, asked anew each time: it may have been resized.
fn stderr_columns() -> usize {
    match rustix::termios::tcgetwinsize(io::stderr()) {
        Ok(size) if size.ws_col > 0 => size.ws_col.into(),
        _ => DEFAULT_WIDTH,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Heard(Arc<Mutex<Vec<u8>>>);

    impl Write for Heard {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Heard {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    fn talk(style: Style) -> (Talk, Heard) {
        let heard = Heard::default();
        (Talk::new(style, Marks::Ascii, || 40, Box::new(heard.clone())), heard)
    }

    #[test]
    fn a_dumb_terminal_gets_plain_lines() {
        assert_eq!(Style::choose(false, true, Some("xterm")), Style::Terminal);
        assert_eq!(Style::choose(false, true, Some("dumb")), Style::Plain);
        assert_eq!(Style::choose(false, false, Some("xterm")), Style::Plain);
        assert_eq!(Style::choose(true, true, Some("xterm")), Style::Quiet);
    }

    #[test]
    fn quiet_leaves_only_what_must_be_said() {
        let (mut talk, heard) = talk(Style::Quiet);
        talk.say("vacuuming");
        talk.interval(&IntervalRow::default());
        talk.load("t", 1, 2, Duration::from_secs(60));
        talk.sweep(1, 2, 0.5, None);
        talk.insist("results in out");
        assert_eq!(heard.text(), "results in out\n");
    }

    #[test]
    fn plain_is_one_line_per_interval_without_escape_codes() {
        let (mut talk, heard) = talk(Style::Plain);
        for _ in 0..3 {
            talk.interval(&IntervalRow::default());
            talk.sweep(1, 2, 0.5, Some(Duration::from_secs(3)));
        }
        talk.step_ends();
        let text = heard.text();
        assert_eq!(text.lines().count(), 3);
        assert!(!text.contains('\u{1b}') && !text.contains('\r'), "{text:?}");
    }

    #[test]
    fn plain_load_says_something_every_five_seconds() {
        let (mut talk, heard) = talk(Style::Plain);
        for second in 1..=12 {
            talk.load("t", second, 12, Duration::from_secs(second));
        }
        let text = heard.text();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert!(lines[0].starts_with("t: 5 of 12 rows"), "{text}");
        assert!(lines[1].starts_with("t: 10 of 12 rows"), "{text}");
    }

    #[test]
    fn a_terminal_has_the_record_above_and_the_last_interval_and_a_bar_below() {
        let (mut talk, heard) = talk(Style::Terminal);
        for second in 0..3 {
            let tps = 100.0 * f64::from(second);
            talk.interval(&IntervalRow { tps, length_s: 1.0, ..IntervalRow::default() });
            talk.sweep(1, 2, 0.5, Some(Duration::from_secs(3)));
        }
        talk.event(&Event { kind: "checkpoint".into(), ..event() });
        talk.event(&Event { kind: "error".into(), ..event() });
        let text = heard.text();
        let last = text.rsplit("\u{1b}[J").next().unwrap();
        let lines: Vec<&str> = last.lines().collect();
        assert_eq!(lines.len(), 3, "{last:?}");
        assert_eq!(lines[0], "    1.0 s checkpoint");
        assert!(lines[1].contains("200.0 tps") && lines[1].contains("_=#"), "{last:?}");
        assert_eq!(lines[2], "[=====     ]  50% run 1 of 2, 3s left");
        assert!(last.lines().all(|line| line.chars().count() < 40), "{last:?}");
        talk.step_ends();
        assert!(heard.text().ends_with("\u{1b}[J"), "nothing stays of it");
    }

    fn event() -> Event {
        Event {
            arm: "a".into(),
            round: 1,
            workload: "w".into(),
            clients: 1,
            kind: String::new(),
            subject: None,
            start_s: 1.0,
            end_s: None,
            time: String::new(),
            count: 1,
            text: None,
        }
    }

    #[test]
    fn messages_of_a_server_cannot_move_the_cursor() {
        let (mut talk, heard) = talk(Style::Plain);
        talk.say("ERROR: \u{1b}[2Jgone\r\nDETAIL: b");
        assert_eq!(heard.text(), "ERROR:  [2Jgone \nDETAIL: b\n");
    }
}

//! Standard error: progress, interval lines, warnings and the path of the results.
//!
//! One writer owns it, so that a progress bar and a line never mix. On a terminal a bar stands
//! under the lines; elsewhere there are plain lines only. No colours are used, so `NO_COLOR` has
//! nothing to switch off. It reads no clock: how long something took, the caller says.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::live::{
    RunHeading, harmless, heading_line, interval_line, load_line, load_message, sweep_line,
};
use crate::result::IntervalRow;

/// A bar is worth its place from here on.
const BAR_AFTER: Duration = Duration::from_secs(1);
/// Between two plain lines of a load: enough to see that it moves, few enough for a log file.
const PLAIN_LOAD_EVERY: Duration = Duration::from_secs(5);
/// Steps of a bar; finer ones cannot be seen.
const BAR_STEPS: u64 = 1000;

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
    bar: Option<ProgressBar>,
    last_load_line: Option<Duration>,
    out: Box<dyn Write + Send>,
}

impl Talk {
    /// On standard error of this process.
    pub fn stderr(style: Style) -> Self {
        Self::new(style, Box::new(io::stderr()))
    }

    fn new(style: Style, out: Box<dyn Write + Send>) -> Self {
        Self { style, bar: None, last_load_line: None, out }
    }

    /// A sentence about what goes on; not said when quiet.
    pub fn say(&mut self, text: &str) {
        if self.style != Style::Quiet {
            self.line(text);
        }
    }

    /// A sentence that is said even when quiet: a warning, the path of the results.
    pub fn insist(&mut self, text: &str) {
        self.line(text);
    }

    /// A run begins.
    pub fn run_begins(&mut self, heading: &RunHeading<'_>) {
        self.say(&heading_line(heading));
    }

    /// An interval has ended.
    pub fn interval(&mut self, row: &IntervalRow) {
        self.say(&interval_line(row));
    }

    /// A sweep is at run `number` of `of`; `done` (0 to 1) of its time is over and `left` is to
    /// come, if that is known.
    pub fn sweep(&mut self, number: usize, of: usize, done: f64, left: Option<Duration>) {
        self.draw(done, &sweep_line(number, of, left));
    }

    /// A load has written `done` of `total` rows of `table` in `elapsed`.
    pub fn load(&mut self, table: &str, done: u64, total: u64, elapsed: Duration) {
        match self.style {
            Style::Quiet => {}
            Style::Terminal => {
                if elapsed >= BAR_AFTER {
                    let share = if total == 0 { 1.0 } else { done as f64 / total as f64 };
                    self.draw(share, &load_message(table, done, total, elapsed));
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
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    fn draw(&mut self, done: f64, message: &str) {
        if self.style != Style::Terminal {
            return;
        }
        let bar = self.bar.get_or_insert_with(new_bar);
        bar.set_message(harmless(message).into_owned());
        bar.set_position(steps(done));
    }

    /// Standard error that cannot be written to is no reason to stop measuring.
    fn line(&mut self, text: &str) {
        let out = &mut self.out;
        let mut write = || {
            let _ = writeln!(out, "{}", harmless(text)).and_then(|()| out.flush());
        };
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        self.step_ends();
    }
}

fn new_bar() -> ProgressBar {
    let style = ProgressStyle::with_template("[{bar:10}] {percent:>3}% {wide_msg}")
        .expect("the template is a constant")
        .progress_chars("=> ");
    // No ticking: a thread that wakes up would disturb what is measured.
    let target = ProgressDrawTarget::stderr();
    ProgressBar::with_draw_target(Some(BAR_STEPS), target).with_style(style)
}

/// A share between 0 and 1 as steps of the bar.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to 0..=BAR_STEPS before"
)]
fn steps(done: f64) -> u64 {
    (done.clamp(0.0, 1.0) * BAR_STEPS as f64).round() as u64
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
        (Talk::new(style, Box::new(heard.clone())), heard)
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
    fn bar_steps_stay_within_the_bar() {
        assert_eq!([-1.0, 0.0, 0.5, 1.0, 7.0, f64::NAN].map(steps), [0, 0, 500, 1000, 1000, 0]);
    }

    #[test]
    fn messages_of_a_server_cannot_move_the_cursor() {
        let (mut talk, heard) = talk(Style::Plain);
        talk.say("ERROR: \u{1b}[2Jgone\r\nDETAIL: b");
        assert_eq!(heard.text(), "ERROR:  [2Jgone \nDETAIL: b\n");
    }
}

//! The progress of a load on the terminal.

use std::time::Duration;

use tokio::time::Instant;

use crate::report::Talk;
use crate::schema::progress::{LoadProgress, LoadStep};
use crate::units::format_bytes;

/// Shows a load on standard error.
pub(crate) struct LoadTalk<'t> {
    talk: &'t mut Talk,
    began: Instant,
    shown: Option<Duration>,
    size_told: bool,
}

impl<'t> LoadTalk<'t> {
    /// The clock of the load starts now.
    pub(crate) fn new(talk: &'t mut Talk) -> Self {
        Self { talk, began: Instant::now(), shown: None, size_told: false }
    }
}

/// Often enough for a bar that moves.
const REDRAW: Duration = Duration::from_millis(100);

impl LoadProgress for LoadTalk<'_> {
    fn step(&mut self, step: LoadStep) {
        self.talk.step_ends();
        self.talk.say(&step.doing());
        self.began = Instant::now();
        self.shown = None;
    }

    fn rows(&mut self, done: u64, total: u64, size_bytes: u64) {
        if !self.size_told {
            self.size_told = true;
            let size = format_bytes(size_bytes);
            self.talk.say(&format!("about {size} of tables and keys"));
        }
        let elapsed = self.began.elapsed();
        if done < total && self.shown.is_some_and(|shown| elapsed < shown + REDRAW) {
            return;
        }
        self.shown = Some(elapsed);
        self.talk.load("the tables", done, total, elapsed);
    }

    fn note(&mut self, text: &str) {
        self.talk.say(text);
    }
}

//! From readings of a server to what happened between them, in seconds of the window.
//!
//! A reading says what goes on and what of each kind has ended last; from two of them follows what
//! has ended in between. Pure.

use std::collections::BTreeMap;

use crate::engine::monitor::{Happening, Reading};

/// Figures whose growth is a number of happenings, with their name as a happening.
const COUNTED: [(&str, &str); 2] = [("log_switches", "log_switch"), ("checkpoints", "checkpoint")];
/// Servers keep some times in whole seconds: half of one.
const RESOLUTION_S: f64 = 0.5;
/// What was seen in fewer readings and left no trace is taken for noise.
const MIN_SEEN: u32 = 2;

/// Kind and subject.
type Name = (String, Option<String>);

/// Something that happened, in seconds after the start of the window.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    /// What it was.
    pub(crate) kind: String,
    /// What it was about.
    pub(crate) subject: Option<String>,
    /// Its start; negative when it began before the window.
    pub(crate) start_s: f64,
    /// Its end; absent when it still went on at the last reading.
    pub(crate) end_s: Option<f64>,
    /// How often it happened in that time.
    pub(crate) count: u64,
}

/// What goes on.
#[derive(Debug)]
struct Running {
    start_s: f64,
    /// Readings that showed it.
    seen: u32,
}

/// Follows one server over one window.
#[derive(Debug, Default)]
pub(crate) struct Tracker {
    /// When the reading before was made; absent before the first one.
    before_s: Option<f64>,
    /// The last one of each kind and subject that has ended.
    ended: BTreeMap<Name, String>,
    running: BTreeMap<Name, Running>,
    counted: BTreeMap<&'static str, f64>,
    /// Since when the server runs, where it tells that and not when it began.
    uptime_s: Option<f64>,
}

impl Tracker {
    /// What a reading that was made at `at_s` tells about the time since the one before. The window
    /// began at `origin_s` by the server's clock.
    pub(crate) fn take(&mut self, reading: &Reading, at_s: f64, origin_s: f64) -> Vec<Found> {
        let before_s = self.before_s.replace(at_s);
        let mut found = Vec::new();
        let in_window = |seconds: Option<f64>| seconds.map(|seconds| seconds - origin_s);
        let (ended, going_on): (Vec<&Happening>, Vec<&Happening>) =
            reading.happenings.iter().partition(|happening| happening.key.is_some());
        for happening in ended {
            let name = (happening.kind.clone(), happening.subject.clone());
            let key = happening.key.clone().unwrap_or_default();
            let is_new = self.ended.insert(name.clone(), key.clone()).is_none_or(|old| old != key);
            let Some(before_s) = before_s.filter(|_| is_new) else { continue };
            let running = self.running.remove(&name);
            let end_s = ended_between(in_window(happening.end_s), before_s, at_s);
            let start_s = in_window(happening.start_s).or(running.map(|running| running.start_s));
            let start_s = start_s.unwrap_or(end_s).min(end_s);
            found.push(Found::one(name, start_s, Some(end_s)));
        }
        let mut running = std::mem::take(&mut self.running);
        for happening in going_on {
            let name = (happening.kind.clone(), happening.subject.clone());
            let known = running.remove(&name);
            let start_s = in_window(happening.start_s).unwrap_or(at_s);
            let known = known.unwrap_or(Running { start_s, seen: 0 });
            self.running.insert(name, Running { seen: known.seen + 1, ..known });
        }
        // What is gone without an end of its own was given up, between the two readings.
        let given_up = running.into_iter().filter(|(_, running)| running.seen >= MIN_SEEN);
        found.extend(given_up.map(|(name, running)| Found::one(name, running.start_s, Some(at_s))));
        let uptime_s = reading.figures.get("uptime_s").copied();
        if let (Some(now_s), Some(old_s)) = (uptime_s, self.uptime_s)
            && now_s < old_s
        {
            let start_s = at_s - now_s;
            found.push(Found::one(("restart".to_owned(), None), start_s, Some(start_s)));
        }
        self.uptime_s = uptime_s.or(self.uptime_s);
        for (figure, kind) in COUNTED {
            let Some(now) = reading.figures.get(figure).copied() else { continue };
            let grown = self.counted.insert(figure, now).map_or(0.0, |before| now - before);
            if let (Some(before_s), true) = (before_s, grown >= 1.0) {
                let name = (kind.to_owned(), None);
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a small positive count"
                )]
                let count = grown as u64;
                found.push(Found { count, ..Found::one(name, before_s, Some(at_s)) });
            }
        }
        found
    }

    /// What still goes on at the end of the window.
    pub(crate) fn going_on(&mut self) -> Vec<Found> {
        let running = std::mem::take(&mut self.running).into_iter();
        let seen = running.filter(|(_, running)| running.seen >= MIN_SEEN);
        seen.map(|(name, running)| Found::one(name, running.start_s, None)).collect()
    }
}

impl Found {
    fn one((kind, subject): Name, start_s: f64, end_s: Option<f64>) -> Self {
        Self { kind, subject, start_s, end_s, count: 1 }
    }
}

/// When something ended that the reading at `at_s` shows first. What a server keeps in whole
/// seconds is moved between the readings, where it must have been.
fn ended_between(said_s: Option<f64>, before_s: f64, at_s: f64) -> f64 {
    let Some(said_s) = said_s else { return at_s };
    let moved_s = said_s.clamp(before_s.min(at_s), at_s);
    if (moved_s - said_s).abs() <= RESOLUTION_S { moved_s } else { said_s }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The window begins at 1000 s by the server's clock.
    const ORIGIN_S: f64 = 1000.0;

    fn ended(
        kind: &str,
        subject: Option<&str>,
        key: &str,
        start: Option<f64>,
        end: f64,
    ) -> Happening {
        Happening {
            kind: kind.to_owned(),
            subject: subject.map(str::to_owned),
            key: Some(key.to_owned()),
            start_s: start,
            end_s: Some(end),
        }
    }

    fn running(kind: &str, subject: Option<&str>, start: Option<f64>) -> Happening {
        Happening { key: None, end_s: None, ..ended(kind, subject, "", start, 0.0) }
    }

    fn reading(happenings: &[Happening]) -> Reading {
        Reading { happenings: happenings.to_vec(), ..Reading::default() }
    }

    fn found(kind: &str, subject: Option<&str>, start_s: f64, end_s: Option<f64>) -> Found {
        Found::one((kind.to_owned(), subject.map(str::to_owned)), start_s, end_s)
    }

    #[test]
    fn what_had_ended_before_the_window_is_not_found() {
        let mut tracker = Tracker::default();
        let old = reading(&[ended("checkpoint", None, "1", Some(950.5), 970.5)]);
        assert_eq!(tracker.take(&old, 0.0, ORIGIN_S), []);
        assert_eq!(tracker.take(&old, 1.0, ORIGIN_S), []);
        // one that began before the window and ended in it
        let new = reading(&[ended("checkpoint", None, "2", Some(990.5), 1001.5)]);
        assert_eq!(tracker.take(&new, 2.0, ORIGIN_S), [found("checkpoint", None, -9.5, Some(1.5))]);
        assert_eq!(tracker.take(&new, 3.0, ORIGIN_S), []);
    }

    #[test]
    fn an_end_in_whole_seconds_is_moved_between_the_readings() {
        let mut tracker = Tracker::default();
        tracker.take(&reading(&[]), 0.0, ORIGIN_S);
        tracker.take(&reading(&[]), 3.2, ORIGIN_S);
        let new = reading(&[ended("checkpoint", None, "2", Some(1001.5), 1003.0)]);
        assert_eq!(tracker.take(&new, 4.2, ORIGIN_S), [found("checkpoint", None, 1.5, Some(3.2))]);
        // an exact one that shows late is left where it was
        let late = reading(&[ended("autovacuum", Some("t"), "a", None, 1002.0)]);
        assert_eq!(
            tracker.take(&late, 5.2, ORIGIN_S),
            [found("autovacuum", Some("t"), 2.0, Some(2.0))]
        );
    }

    #[test]
    fn a_vacuum_starts_where_it_was_seen_and_ends_where_its_table_says() {
        let mut tracker = Tracker::default();
        tracker.take(&reading(&[]), 0.0, ORIGIN_S);
        let vacuum = running("autovacuum", Some("public.t"), Some(1000.25));
        assert_eq!(tracker.take(&reading(&[vacuum]), 1.0, ORIGIN_S), []);
        let done = ended("autovacuum", Some("public.t"), "k", None, 1001.75);
        assert_eq!(
            tracker.take(&reading(&[done]), 2.0, ORIGIN_S),
            [found("autovacuum", Some("public.t"), 0.25, Some(1.75))]
        );
    }

    #[test]
    fn what_vanishes_without_an_end_was_given_up_unless_it_was_seen_once_only() {
        let mut tracker = Tracker::default();
        let vacuum = || running("autovacuum", Some("t"), Some(1000.5));
        let blip = running("checkpoint", None, None);
        tracker.take(&reading(&[vacuum()]), 1.0, ORIGIN_S);
        tracker.take(&reading(&[vacuum(), blip]), 2.0, ORIGIN_S);
        assert_eq!(
            tracker.take(&reading(&[]), 3.0, ORIGIN_S),
            [found("autovacuum", Some("t"), 0.5, Some(3.0))]
        );
    }

    #[test]
    fn what_goes_on_at_the_end_has_no_end() {
        let mut tracker = Tracker::default();
        for at_s in [1.0, 2.0, 3.0] {
            let checkpoint = running("checkpoint", None, None);
            assert_eq!(tracker.take(&reading(&[checkpoint]), at_s, ORIGIN_S), []);
        }
        assert_eq!(tracker.going_on(), [found("checkpoint", None, 1.0, None)]);
    }

    #[test]
    fn a_server_that_is_up_for_less_than_before_was_restarted() {
        let mut tracker = Tracker::default();
        let mut take = |uptime_s: f64, at_s| {
            let figures = BTreeMap::from([("uptime_s".to_owned(), uptime_s)]);
            tracker.take(&Reading { figures, ..Reading::default() }, at_s, ORIGIN_S)
        };
        assert_eq!((take(50.0, 0.0), take(51.0, 1.0)), (vec![], vec![]));
        assert_eq!(take(2.0, 6.0), [found("restart", None, 4.0, Some(4.0))]);
    }

    #[test]
    fn counters_of_happenings_make_one_of_each_stretch() {
        let mut tracker = Tracker::default();
        let mut take = |switches: f64, at_s| {
            let figures = BTreeMap::from([("log_switches".to_owned(), switches)]);
            tracker.take(&Reading { figures, ..Reading::default() }, at_s, ORIGIN_S)
        };
        assert_eq!(take(7.0, 0.0), []);
        assert_eq!(take(7.0, 1.0), []);
        let three = Found { count: 3, ..found("log_switch", None, 1.0, Some(2.0)) };
        assert_eq!(take(10.0, 2.0), [three]);
    }
}

//! What a server counts and does at a moment, read with one query.
//!
//! The query is put together from the files under `sql/admin/ENGINE/monitor/`, each of which says
//! in its first line for which versions it is (`-- versions: 14..17`). A file is one SELECT of six
//! texts: what (`figure`, `wait`, `event` or `clock`), its name, its value, and for an event its
//! subject, start and end in seconds since the epoch. A figure has the name of its column in
//! `server.csv`.

use std::collections::BTreeMap;

use super::{Admin, DbError, ErrorKind};
use crate::embedded::FILES;

/// A row of text, as [`Admin::rows`] gives it.
type Row = Vec<Option<String>>;

/// A server at a moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Reading {
    /// Figures by the name of their column in `server.csv`.
    pub(crate) figures: BTreeMap<String, f64>,
    /// How many sessions wait for what.
    pub(crate) waits: BTreeMap<String, f64>,
    /// What goes on, and what of each kind has ended last.
    pub(crate) happenings: Vec<Happening>,
    /// The server's clock, in seconds since the epoch; absent when it is ours.
    pub(crate) clock_s: Option<f64>,
}

/// Something that takes time, such as a checkpoint.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Happening {
    /// What it is.
    pub(crate) kind: String,
    /// What it is about: a table, say.
    pub(crate) subject: Option<String>,
    /// Tells it from others of its kind and subject; absent while it goes on.
    pub(crate) key: Option<String>,
    /// Start by the server's clock, where it is known.
    pub(crate) start_s: Option<f64>,
    /// End by the server's clock, where it is known.
    pub(crate) end_s: Option<f64>,
}

impl Reading {
    /// A reading from the rows of the query. What is not known (NULL) is left out.
    fn from_rows(rows: Vec<Row>) -> Self {
        let mut reading = Self::default();
        for row in rows {
            let mut cells = row.into_iter();
            let mut next = || cells.next().flatten();
            let (what, name, value) = (next(), next(), next());
            let number = value.as_deref().and_then(|value| value.parse().ok());
            match (what.as_deref(), name, number) {
                (Some("figure"), Some(name), Some(number)) => {
                    reading.figures.insert(name, number);
                }
                (Some("wait"), Some(name), Some(number)) => {
                    reading.waits.insert(name, number);
                }
                (Some("clock"), _, number) => reading.clock_s = number,
                (Some("event"), Some(kind), _) => reading.happenings.push(Happening {
                    kind,
                    key: value,
                    subject: next(),
                    start_s: next().and_then(|seconds| seconds.parse().ok()),
                    end_s: next().and_then(|seconds| seconds.parse().ok()),
                }),
                _ => {}
            }
        }
        reading
    }
}

/// The query for one server.
#[derive(Debug, Clone)]
pub(crate) struct MonitorQuery {
    parts: Vec<&'static str>,
}

impl MonitorQuery {
    /// The query for version `version` of an engine; `None` when nothing is known of it.
    pub(crate) fn new(engine: &str, version: u32) -> Option<Self> {
        let folder = format!("sql/admin/{engine}/monitor/");
        let files = FILES.iter().filter(|(path, _)| path.starts_with(&folder));
        let parts: Vec<_> =
            files.map(|(_, text)| *text).filter(|text| is_for(text, version)).collect();
        (!parts.is_empty()).then_some(Self { parts })
    }

    /// Reads everything at once. Parts that the server refuses (a role may not read everything
    /// everywhere) are left out from then on.
    pub(crate) async fn read<A: Admin>(&mut self, admin: &mut A) -> Result<Reading, DbError> {
        let error = match admin.rows(&self.parts.join("\nUNION ALL\n")).await {
            Ok(rows) => return Ok(Reading::from_rows(rows)),
            Err(error) if error.kind() == ErrorKind::Lost => return Err(error),
            Err(error) => error,
        };
        let (mut kept, mut rows) = (Vec::new(), Vec::new());
        for part in &self.parts {
            if let Ok(more) = admin.rows(part).await {
                kept.push(*part);
                rows.extend(more);
            }
        }
        if kept.is_empty() {
            return Err(error);
        }
        self.parts = kept;
        Ok(Reading::from_rows(rows))
    }
}

/// Whether a file is for a version: its first line is `-- versions: FROM..TO` or `FROM..`.
fn is_for(text: &str, version: u32) -> bool {
    let line = text.lines().next().and_then(|line| line.strip_prefix("-- versions: "));
    let Some((from, to)) = line.and_then(|range| range.split_once("..")) else { return false };
    let number = |text: &str| text.trim().parse::<u32>().ok();
    number(from).is_some_and(|from| from <= version)
        && (to.trim().is_empty() || number(to).is_some_and(|to| version <= to))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::result::counters::SERVER;

    fn row(cells: [&str; 6]) -> Row {
        cells.map(|cell| (cell != "-").then(|| cell.to_owned())).into()
    }

    #[test]
    fn a_reading_is_what_the_rows_say_and_unknown_figures_are_absent() {
        let reading = Reading::from_rows(vec![
            row(["figure", "wal_bytes", "1200", "-", "-", "-"]),
            row(["figure", "wal_fsync_ms", "-", "-", "-", "-"]),
            row(["wait", "Lock:tuple", "3", "-", "-", "-"]),
            row(["clock", "-", "1700000000.5", "-", "-", "-"]),
            row(["event", "checkpoint", "0/5A0", "-", "10.5", "12.5"]),
            row(["event", "autovacuum", "-", "public.t", "11", "-"]),
        ]);
        assert_eq!(reading.figures, BTreeMap::from([("wal_bytes".to_owned(), 1200.0)]));
        assert_eq!(reading.waits, BTreeMap::from([("Lock:tuple".to_owned(), 3.0)]));
        assert_eq!(reading.clock_s, Some(1_700_000_000.5));
        let [checkpoint, vacuum] = &reading.happenings[..] else { panic!("{reading:?}") };
        assert_eq!((checkpoint.key.as_deref(), checkpoint.end_s), (Some("0/5A0"), Some(12.5)));
        assert_eq!((vacuum.subject.as_deref(), &vacuum.key), (Some("public.t"), &None));
    }

    #[test]
    fn ranges_of_versions_include_both_ends() {
        let is_for =
            |range: &str, version| is_for(&format!("-- versions: {range}\nSELECT"), version);
        assert_eq!([13, 14, 17, 18].map(|v| is_for("14..17", v)), [false, true, true, false]);
        assert_eq!([15, 16, 99].map(|v| is_for("16..", v)), [false, true, true]);
        assert!(!super::is_for("SELECT 1", 16), "a file without a range is for nobody");
    }

    /// Names of figures in the text of a file.
    fn figures(text: &str) -> impl Iterator<Item = &str> {
        between(text, "'figure', '")
    }

    /// What stands between `mark` and the next apostrophe.
    fn between<'a>(text: &'a str, mark: &'a str) -> impl Iterator<Item = &'a str> {
        text.split(mark).skip(1).filter_map(|rest| rest.split('\'').next())
    }

    #[test]
    fn every_version_has_each_figure_once_and_every_figure_has_a_column() {
        let columns: BTreeSet<&str> = SERVER.iter().map(|column| column.name).collect();
        for version in 13..=19 {
            let query = MonitorQuery::new("postgres", version).unwrap();
            let names: Vec<&str> = query.parts.iter().flat_map(|text| figures(text)).collect();
            let unique: BTreeSet<&str> = names.iter().copied().collect();
            assert_eq!(names.len(), unique.len(), "twice in {version}: {names:?}");
            assert!(unique.is_subset(&columns), "{:?}", unique.difference(&columns));
            for needed in ["wal_bytes", "blocks_hit", "buffers_written_backend"] {
                assert!(unique.contains(needed), "{needed} in {version}");
            }
            assert_eq!(unique.contains("full_page_images"), version > 13);
            assert_eq!(unique.contains("data_fsyncs"), version > 15);
        }
        assert!(MonitorQuery::new("postgres", 12).is_none());
        for version in [8, 9, 10, 11, 12] {
            let query = MonitorQuery::new("mysql", version).unwrap();
            let texts = query.parts.iter();
            let names: Vec<&str> =
                texts.flat_map(|text| figures(text).chain(between(text, "' THEN '"))).collect();
            let unique: BTreeSet<&str> = names.iter().copied().collect();
            assert_eq!(names.len(), unique.len(), "twice in {version}: {names:?}");
            assert!(unique.is_subset(&columns), "{:?}", unique.difference(&columns));
            for needed in ["wal_bytes", "blocks_hit", "checkpoint_age_bytes", "pages_flushed"] {
                assert!(unique.contains(needed), "{needed} in {version}");
            }
        }
        assert!(MonitorQuery::new("nothing", 1).is_none());
    }
}

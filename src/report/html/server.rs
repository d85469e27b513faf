//! The server's counters over time, from `server.csv`: rates between its samples.

use std::collections::HashMap;

use super::input::RunKey;

/// Counters that are drawn, with their title, their unit, and what makes that unit of the file's.
pub(super) const SHOWN: [(&str, &str, &str, f64); 8] = [
    ("wal_bytes", "write-ahead log", "KiB/s", 1.0 / 1024.0),
    ("full_page_images", "images of whole pages", "1/s", 1.0),
    ("wal_fsyncs", "fsyncs of the log", "1/s", 1.0),
    ("buffers_written_checkpointer", "blocks written by the checkpointer", "1/s", 1.0),
    ("buffers_written_bgwriter", "blocks written by the background writer", "1/s", 1.0),
    ("buffers_written_backend", "blocks written by sessions", "1/s", 1.0),
    ("blocks_read", "blocks read into the cache", "1/s", 1.0),
    ("temp_bytes", "temporary files", "KiB/s", 1.0 / 1024.0),
];

/// What happened between two samples.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stretch {
    /// Its end and its length.
    pub(super) at_s: f64,
    pub(super) length_s: f64,
    /// What the counters of [`SHOWN`] grew by.
    pub(super) grown: Vec<Option<f64>>,
}

/// The stretches of every run. What is wrong comes with its line.
pub(super) fn read(text: &str) -> Result<Vec<(RunKey, Stretch)>, (u64, String)> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| (1, error.to_string()))?.clone();
    if header.is_empty() {
        return Ok(Vec::new());
    }
    let columns: HashMap<&str, usize> =
        header.iter().enumerate().map(|(index, name)| (name, index)).collect();
    let column = |name: &str| {
        columns.get(name).copied().ok_or_else(|| (1, format!("there is no column {name}")))
    };
    let (arm, round, workload, clients) =
        (column("arm")?, column("round")?, column("workload")?, column("clients")?);
    let (at_s, length_s) = (column("at_s")?, column("length_s")?);
    let shown = SHOWN.map(|(name, ..)| columns.get(format!("{name}_delta").as_str()).copied());
    let mut stretches = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| {
            (error.position().map_or(0, csv::Position::line), error.to_string())
        })?;
        let line = record.position().map_or(0, csv::Position::line);
        let cell = |index: usize| record.get(index).unwrap_or_default();
        let number = |index: usize| match cell(index) {
            "" => Ok(None),
            text => text.parse::<f64>().map(Some).map_err(|_| {
                (line, format!("{} \"{text}\" is not a number", header.get(index).unwrap_or("")))
            }),
        };
        let whole = |index: usize| {
            let text = cell(index);
            text.parse::<u32>().map_err(|_| (line, format!("\"{text}\" is not a whole number")))
        };
        // The first sample of a run has none before it.
        let (Some(at_s), Some(length_s)) = (number(at_s)?, number(length_s)?) else { continue };
        let grown = shown.iter().map(|index| index.map_or(Ok(None), number));
        let key = (cell(arm).into(), cell(workload).into(), whole(round)?, whole(clients)?);
        let grown = grown.collect::<Result<_, _>>()?;
        stretches.push((key, Stretch { at_s, length_s, grown }));
    }
    Ok(stretches)
}

/// At most `most` stretches: neighbours as one, in which nothing is lost.
pub(super) fn thinned(stretches: &[Stretch], most: usize) -> Vec<Stretch> {
    let size = stretches.len().div_ceil(most.max(1)).max(1);
    let together = |part: &[Stretch]| Stretch {
        at_s: part.last().map_or(0.0, |last| last.at_s),
        length_s: part.iter().map(|stretch| stretch.length_s).sum(),
        grown: (0..SHOWN.len())
            .map(|index| {
                let known = part.iter().filter_map(|stretch| stretch.grown[index]);
                known.reduce(|sum, grown| sum + grown)
            })
            .collect(),
    };
    stretches.chunks(size).map(together).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str =
        "arm,round,workload,clients,interval,at_s,length_s,wal_bytes,wal_bytes_delta";

    #[test]
    fn a_stretch_has_what_counters_grew_by() {
        let text = format!("{HEAD}\na,1,w,2,0,0.0,,10,\na,1,w,2,1,1.0,1.0,2058,2048\n");
        let [(key, stretch)] = &read(&text).unwrap()[..] else { panic!("not one") };
        assert_eq!(*key, ("a".to_owned(), "w".to_owned(), 1, 2));
        assert_eq!((stretch.at_s, stretch.grown[0], stretch.grown[1]), (1.0, Some(2048.0), None));
    }

    #[test]
    fn what_is_damaged_is_named_with_its_line() {
        assert_eq!(read("a,b\n1,2\n").unwrap_err().0, 1);
        let error = read(&format!("{HEAD}\na,1,w,2,1,1.0,x,1,1\n")).unwrap_err();
        assert!(error.0 == 2 && error.1.contains("\"x\""), "{error:?}");
        assert!(read("").unwrap().is_empty());
    }

    #[test]
    fn thinning_adds_up() {
        let one = |grown| Stretch { at_s: grown, length_s: 1.0, grown: vec![Some(grown); 8] };
        let all: Vec<Stretch> = (1..=10).map(|n| one(f64::from(n))).collect();
        let thin = thinned(&all, 4);
        assert_eq!(thin.len(), 4);
        assert_eq!(thin.iter().map(|s| s.grown[0].unwrap()).sum::<f64>(), 55.0);
        assert_eq!((thin[0].at_s, thin[0].length_s), (3.0, 3.0));
    }
}

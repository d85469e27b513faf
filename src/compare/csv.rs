//! Throughputs in a CSV file of four columns, as scripts around other load drivers write them: the
//! arm under any name, then `round,clients,tps`.
//!
//! Pure: text to rows. The order of the rows is taken for the order of time.

use std::collections::HashMap;

/// What the columns after the first one are called.
const COLUMNS: [&str; 3] = ["round", "clients", "tps"];

/// One run.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The arm.
    pub arm: String,
    /// Round, from 1.
    pub round: u32,
    /// Clients.
    pub clients: u32,
    /// Transactions per second.
    pub tps: f64,
}

/// What is wrong with a file, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct CsvError {
    /// The line, from 1.
    pub line: u64,
    /// What is wrong.
    pub why: String,
}

fn wrong(line: u64, why: impl Into<String>) -> CsvError {
    CsvError { line, why: why.into() }
}

/// Whether the first line names the columns of such a file.
pub fn is_meant(text: &str) -> bool {
    let first = text.trim_start_matches('\u{feff}').lines().next().unwrap_or_default();
    let names: Vec<String> =
        first.split(',').map(|name| name.trim().trim_matches('"').to_lowercase()).collect();
    names.len() == 4 && names[1..] == COLUMNS
}

/// Reads the rows. The first line names the columns.
pub fn parse(text: &str) -> Result<Vec<Row>, CsvError> {
    let text = text.trim_start_matches('\u{feff}');
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let mut rows = Vec::new();
    let mut seen: HashMap<(String, u32, u32), u64> = HashMap::new();
    let mut named = false;
    for record in reader.records() {
        let record = record.map_err(|error| {
            wrong(error.position().map_or(1, csv::Position::line), error.to_string())
        })?;
        let line = record.position().map_or(1, csv::Position::line);
        let cells: Vec<&str> = record.iter().collect();
        let [arm, round, clients, tps] = cells[..] else {
            return Err(wrong(line, format!("{} cells in place of 4", cells.len())));
        };
        if !named {
            named = true;
            let found = [round, clients, tps].map(str::to_lowercase);
            if found != COLUMNS {
                let found = cells.join(",");
                return Err(wrong(
                    line,
                    format!("the columns are \"{found}\" and not ARM,round,clients,tps"),
                ));
            }
            continue;
        }
        let row = row(line, arm, round, clients, tps)?;
        if let Some(before) = seen.insert((row.arm.clone(), row.round, row.clients), line) {
            return Err(wrong(
                line,
                format!(
                    "{arm}, round {round}, {clients} clients is in line {before} already: number \
                     the rounds"
                ),
            ));
        }
        rows.push(row);
    }
    if rows.is_empty() {
        return Err(wrong(1, "there are no runs"));
    }
    Ok(rows)
}

fn row(line: u64, arm: &str, round: &str, clients: &str, tps: &str) -> Result<Row, CsvError> {
    if arm.is_empty() {
        return Err(wrong(line, "the arm has no name"));
    }
    let whole = |name: &str, text: &str| {
        text.parse::<u32>()
            .ok()
            .filter(|number| *number > 0)
            .ok_or_else(|| wrong(line, format!("{name} \"{text}\" is not a whole number from 1")))
    };
    let rate = tps.parse::<f64>().ok().filter(|rate| rate.is_finite() && *rate >= 0.0);
    Ok(Row {
        arm: arm.to_owned(),
        round: whole("round", round)?,
        clients: whole("clients", clients)?,
        tps: rate
            .ok_or_else(|| wrong(line, format!("tps \"{tps}\" is not a rate, such as 1234.5")))?,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_arm_may_have_any_name_and_files_of_spreadsheets_are_read() {
        let text = "\u{feff}File System, Round ,clients,tps\r\n\"a, b\",1,2,3.5\r\n x ,2,4,1e3\r\n";
        assert!(is_meant(text));
        let rows = parse(text).unwrap();
        assert_eq!(rows[0], Row { arm: "a, b".into(), round: 1, clients: 2, tps: 3.5 });
        assert_eq!(rows[1], Row { arm: "x".into(), round: 2, clients: 4, tps: 1000.0 });
        assert!(!is_meant("arm,round,workload,clients,tps\n"));
    }

    #[test]
    fn what_is_damaged_is_named_with_its_line() {
        let head = "fs,round,clients,tps\n";
        for (rest, line, word) in [
            ("a,1,2\n", 2, "3 cells"),
            ("a,1,2,3,4\n", 2, "5 cells"),
            ("a,1,2,3\na,one,2,3\n", 3, "\"one\""),
            ("a,0,2,3\n", 2, "round \"0\""),
            ("a,1,-2,3\n", 2, "clients \"-2\""),
            ("a,1,2,fast\n", 2, "\"fast\""),
            ("a,1,2,NaN\n", 2, "\"NaN\""),
            ("a,1,2,-1\n", 2, "\"-1\""),
            (",1,2,3\n", 2, "no name"),
            ("a,1,2,3\n\nb,1,2,3\na,1,2,4\n", 5, "in line 2 already"),
            ("", 1, "no runs"),
        ] {
            let error = parse(&format!("{head}{rest}")).unwrap_err();
            assert_eq!(error.line, line, "{rest}: {error}");
            assert!(error.why.contains(word), "{rest}: {error}");
        }
        let error = parse("fs,clients,round,tps\na,1,2,3\n").unwrap_err();
        assert!(error.why.contains("fs,clients,round,tps"), "{error}");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(?s)(fs,round,clients,tps\n)?.{0,200}") {
            let _ = (is_meant(&text), parse(&text));
        }
    }
}

//! The report for pasting into an issue or a wiki: the verdict, what was measured, tables,
//! warnings. Names and messages are text there, too: what would be markup is escaped.

use super::sheet::Sheet;
use super::table::{
    COST, Column, Distribution, EVERYTHING, Group, INNODB, LATENCY, SERVER, STEADINESS, THROUGHPUT,
    run_sheet,
};
use super::{
    has_costs, has_innodb_counters, has_server_counters, parts, verdict, warning_sentences, wrap,
};
use crate::result::Summary;

/// The lines of sentences are not broken: Markdown does that.
const UNBROKEN: usize = usize::MAX;

/// The whole report. Ends with a newline.
pub fn markdown(summary: &Summary) -> String {
    let groups = super::groups(&summary.runs);
    let mut sections: Vec<String> = Vec::new();
    let compared = !summary.comparisons.is_empty();
    if compared {
        let verdicts = verdict::verdicts(summary, UNBROKEN);
        sections.extend(verdicts.iter().map(|line| format!("**{}**", escaped(line))));
    }
    let facts = parts::measured(summary, UNBROKEN);
    let facts = facts.iter().filter_map(|line| line.split_once(' '));
    let facts: Vec<String> =
        facts.map(|(name, fact)| format!("- {name}: {}", escaped(fact.trim()))).collect();
    sections.push(facts.join("\n"));
    let sheets = match (compared, summary.runs.is_empty()) {
        (true, _) => verdict::sheets(summary),
        (false, false) => sheets_of_runs(summary, &groups),
        (false, true) => Vec::new(),
    };
    sections.extend(sheets.iter().map(Sheet::markdown));
    let mut notes = parts::notes(summary, UNBROKEN);
    notes.extend(parts::failures(&groups, UNBROKEN));
    sections.push(notes.iter().map(|line| escaped(line)).collect::<Vec<_>>().join("\n\n"));
    let warnings: Vec<String> = warning_sentences(summary)
        .iter()
        .map(|warning| format!("- warning: {}", escaped(&wrap::one_line(warning))))
        .collect();
    sections.push(warnings.join("\n"));
    sections.retain(|section| !section.is_empty());
    sections.join("\n\n") + "\n"
}

/// Every run, one row each.
fn sheets_of_runs(summary: &Summary, groups: &[Group<'_>]) -> Vec<Sheet> {
    let service: Distribution = |run| Some(run.latency_ms);
    let sheet = |title: &str, columns: &[Column], of: Distribution| Sheet {
        title: title.to_owned(),
        ..run_sheet(columns, groups, of)
    };
    let mut sheets = match summary.runs.iter().any(|run| run.response_ms.is_some()) {
        false => vec![sheet("Throughput and latency", EVERYTHING[0][0], service)],
        true => vec![
            sheet("Throughput", THROUGHPUT[0][0], service),
            sheet("Response time", LATENCY[0][0], |run| run.response_ms),
            sheet("Service time", LATENCY[0][0], service),
            sheet("Lag", LATENCY[0][0], |run| run.lag_ms),
        ],
    };
    sheets.push(sheet("How steady the throughput was", STEADINESS[0][0], service));
    if has_costs(summary) {
        sheets.push(sheet("Per transaction, on this machine", COST[0][0], service));
    }
    if has_server_counters(summary) {
        sheets.push(sheet("Per transaction, by the server's counters", SERVER[0][0], service));
    }
    if has_innodb_counters(summary) {
        sheets.push(sheet("Per transaction, by InnoDB's counters", INNODB[0][0], service));
    }
    sheets
}

impl Sheet {
    fn markdown(&self) -> String {
        let titled = self.blocks.iter().any(|block| block.title.is_some());
        let lead = |text: &str| titled.then(|| escaped(text)).into_iter();
        let row = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
        let heading = self.heading.iter().map(|cell| escaped(cell.replace('\n', " ").trim()));
        let marks =
            (0..self.heading.len()).map(|column| if column < self.left { "---" } else { "---:" });
        let mut lines = vec![
            format!("**{}**\n", escaped(&self.title)),
            row(lead(" ").chain(heading).collect()),
            row(lead("---").chain(marks.map(str::to_owned)).collect()),
        ];
        for block in &self.blocks {
            let title = block.title.as_deref().unwrap_or_default();
            let cells = |cells: &Vec<String>| {
                row(lead(title).chain(cells.iter().map(|cell| escaped(cell))).collect())
            };
            lines.extend(block.rows.iter().map(cells));
        }
        lines.join("\n")
    }
}

/// Text in which nothing is markup.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            // A mention would write to somebody.
            '@' => out.push_str("&#64;"),
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '~' | '#' => out.extend(['\\', c]),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::table::Block;
    use super::*;

    #[test]
    fn names_are_text_in_a_table() {
        let sheet = Sheet {
            title: "<b>".into(),
            heading: vec!["arm\n".into(), "tps\n1/s".into()],
            blocks: vec![Block { title: None, rows: vec![vec!["a|b_c".into(), "1".into()]] }],
            left: 1,
            fixed: 1,
        };
        assert_eq!(
            sheet.markdown(),
            "**&lt;b&gt;**\n\n| arm | tps 1/s |\n| --- | ---: |\n| a\\|b\\_c | 1 |"
        );
    }
}

//! `dbload report`: the report and the page of results that are on disk.

use std::path::Path;

use anyhow::{Context, bail};

use super::{Exit, sources};
use crate::cli::ReportArgs;
use crate::report::format::Format;
use crate::report::{Output, Style, Talk, html, report_width, text};

/// Prints the report of each folder and writes its page.
pub(crate) fn report(args: &ReportArgs) -> anyhow::Result<Exit> {
    if let (Some(page), [_, _, ..]) = (&args.html, args.folders.as_slice()) {
        bail!(
            "--html \"{}\" is one page, and {} folders are given: leave it out, and each folder \
             gets its own {}",
            page.display(),
            args.folders.len(),
            html::FILE_NAME
        );
    }
    let mut talk = Talk::stderr(Style::Plain);
    let mut output = Output::stdout();
    // All are read before anything is written: a wrong name changes nothing.
    let read = |path| Ok((path, sources::read(path)?));
    let all: Vec<(&Path, html::Results)> =
        args.folders.iter().map(|folder| read(folder.as_path())).collect::<anyhow::Result<_>>()?;
    for (folder, results) in &all {
        let format = args.format.format();
        let shown = format.of(&results.summary, args.report_per_statement, &results.series())?;
        output.write(&shown).context("printing the report")?;
        for line in text::warnings(&results.summary, report_width()).lines() {
            talk.insist(line);
        }
        // Who wants a table for a program wants nothing else, and may not be allowed to write.
        if args.html.is_none() && matches!(format, Format::Csv | Format::Json) {
            continue;
        }
        // Beside the output of another tool, under its name.
        let own = match folder.is_dir() {
            true => folder.join(html::FILE_NAME),
            false => folder.with_extension("html"),
        };
        let page = args.html.clone().unwrap_or(own);
        html::write(results, &page)?;
        talk.insist(&format!("page: {}", page.display()));
    }
    Ok(Exit::Complete)
}

//! `report.html`: one results folder as a page that needs nothing but itself.
//!
//! The text is a template that escapes everything it is given; the charts are drawn by the
//! page's own script from one JSON document. Nothing is fetched, so the page works from a disk, in
//! a mail and in ten years.

mod data;
mod groups;
mod headline;
mod input;
mod join;
mod percentiles;
mod repeat;
mod server;
mod tables;
mod tiles;
mod view;
mod words;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value};

pub use input::{InputError, Results, round_of};
pub use join::Part;

/// The page's name in a results folder.
pub const FILE_NAME: &str = "report.html";

const TEMPLATE: &str = include_str!("assets/page.html");
const STYLE: &str = include_str!("assets/page.css");
/// In the order in which they are run.
const SCRIPTS: [&str; 4] = [
    include_str!("assets/draw.js"),
    include_str!("assets/charts.js"),
    include_str!("assets/page.js"),
    include_str!("assets/check.js"),
];

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// The results cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The page cannot be written.
    #[error("{} could not be written: {source}", path.display())]
    Write {
        /// The page.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
}

/// Makes the page of a results folder in it, from the files alone, which it returns.
pub fn write_in(folder: &Path) -> Result<Results, PageError> {
    let results = Results::read(folder)?;
    write(&results, &folder.join(FILE_NAME))?;
    Ok(results)
}

/// Writes the page of `results`; a browser that has it open never reads half of it.
pub fn write(results: &Results, path: &Path) -> Result<(), PageError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let written = fs::write(&beside, page(results)).and_then(|()| fs::rename(&beside, path));
    written.map_err(|source| {
        // Half a file is of no use.
        let _ = fs::remove_file(&beside);
        PageError::Write { path: path.to_owned(), source }
    })
}

/// The page of a results folder.
pub fn page(results: &Results) -> String {
    let groups = groups::Groups::of(&results.summary);
    let view = view::View::of(results, &groups);
    let data = in_script(&data::chart_data(results, &groups).to_string());
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    let rendered = environment.render_str(
        TEMPLATE,
        minijinja::context! {
            v => Serde(view),
            // These three are the program's own text, or were made safe above.
            style => Value::from_safe_string(STYLE.to_owned()),
            script => Value::from_safe_string(SCRIPTS.concat()),
            data => Value::from_safe_string(data),
        },
    );
    rendered.expect("the template is tested with everything that it shows")
}

/// JSON that cannot end the `<script>` it stands in: inside strings `<`, `>` and `&` are written as
/// escapes, and outside of them JSON has none.
fn in_script(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                text.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            other => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_in_a_script_cannot_end_it_and_stays_the_same_document() {
        let value = serde_json::json!({ "</script><!--": "<script>&\u{2028}\"\\" });
        let text = in_script(&value.to_string());
        assert!(!text.contains(['<', '>', '&', '\u{2028}']), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}

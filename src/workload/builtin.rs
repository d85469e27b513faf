//! The built-in scripts and lists by name.

use crate::embedded::{self, FILES};

/// The names of the built-in scripts: `workloads/NAME.sql`.
pub fn script_names() -> impl Iterator<Item = &'static str> {
    // A folder holds the scripts that one engine needs in other words.
    names(".sql").filter(|name| !name.contains('/'))
}

/// The names of the built-in lists, each of workloads that run one after the other:
/// `workloads/NAME.list`.
pub fn list_names() -> impl Iterator<Item = &'static str> {
    names(".list")
}

fn names(ending: &'static str) -> impl Iterator<Item = &'static str> {
    FILES.iter().filter_map(move |(path, _)| path.strip_prefix("workloads/")?.strip_suffix(ending))
}

/// The text of a list.
pub fn list_text(name: &str) -> Option<&'static str> {
    embedded::text(&format!("workloads/{name}.list"))
}

/// The workloads of a list, in order.
pub fn list(name: &str) -> Option<Vec<&'static str>> {
    Some(in_list(list_text(name)?))
}

/// The workloads that the text of a list names, in order.
pub fn in_list(text: &str) -> Vec<&str> {
    let lines = text.lines().map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with("--")).collect()
}

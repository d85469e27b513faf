//! The built-in scripts by name.

use crate::embedded::FILES;

/// The names of the built-in scripts: `workloads/NAME.sql`.
pub fn script_names() -> impl Iterator<Item = &'static str> {
    FILES.iter().filter_map(|(path, _)| path.strip_prefix("workloads/")?.strip_suffix(".sql"))
}

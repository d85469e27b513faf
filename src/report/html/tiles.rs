//! The figures that a person looks for first.

use serde::Serialize;

use super::groups::Groups;
use super::view::UNKNOWN;
use super::words;
use crate::result::Summary;
use crate::units::plural;

/// A large figure.
#[derive(Debug, Serialize)]
pub(super) struct Tile {
    label: &'static str,
    value: String,
    note: String,
}

/// The difference, or what there is in its place; how often it was measured; what to beware of.
pub(super) fn tiles(summary: &Summary, groups: &Groups<'_>, warnings: usize) -> Vec<Tile> {
    let mut tiles = Vec::new();
    if let [comparison] = words::primaries(summary).as_slice() {
        let interval = comparison.ci_low.zip(comparison.ci_high);
        tiles.push(Tile {
            label: "difference",
            value: words::change(comparison.ratio),
            note: match interval {
                Some((low, high)) => {
                    format!("95 % interval {}", words::interval(low, high))
                }
                None => "no interval".to_owned(),
            },
        });
        tiles.push(Tile {
            label: "rounds",
            value: words::rounds(comparison, groups),
            note: if comparison.paired { "interleaved, in pairs" } else { "not interleaved" }
                .into(),
        });
        let smallest =
            comparison.mde.map_or(UNKNOWN.to_owned(), |mde| format!("{:.1} %", 100.0 * mde));
        tiles.push(Tile {
            label: "smallest detectable",
            value: smallest,
            note: format!("margin that matters: {} %", words::plain(100.0 * comparison.margin)),
        });
    } else {
        let best = groups.cells.iter().max_by(|a, b| a.tps().value.total_cmp(&b.tps().value));
        if groups.workloads.len() > 1 {
            // The highest throughput would be that of the lightest workload.
            tiles.push(Tile {
                label: "workloads",
                value: groups.workloads.len().to_string(),
                note: words::listed(&groups.workloads, "and"),
            });
        } else if let Some(cell) = best {
            tiles.push(Tile {
                label: "highest throughput",
                value: format!("{} tps", words::grouped(cell.tps().value)),
                note: format!("{}, {}", groups.arms[cell.arm], plural(cell.clients, "client")),
            });
        }
        tiles.push(Tile {
            label: "rounds",
            value: summary.rounds(),
            note: plural(summary.runs.len() as u64, "run"),
        });
    }
    let failed: u64 = summary.runs.iter().map(|run| run.failed.total).sum();
    tiles.push(Tile {
        label: "warnings",
        value: warnings.to_string(),
        note: match summary.runs.iter().all(|run| run.knows("failed")) {
            true => format!("{failed} failed transactions"),
            false => "failures: not recorded".to_owned(),
        },
    });
    tiles
}

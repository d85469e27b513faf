//! Storages are what the machine says they are, whatever their label, and have room.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::bail;

use super::steps::Steps;
use crate::host::disk::Storage;
use crate::plan::study::{Cache, Prepare, StudyPlan};
use crate::schema::SchemaSize;
use crate::units::format_bytes;

/// Labels that are claims.
const FILE_SYSTEMS: [&str; 8] = ["ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "tmpfs"];
/// Tables and keys of one scale factor.
const BYTES_OF_SCALE: u64 = 16 << 20;
/// A row of a sysbench table, with its keys.
const BYTES_OF_ROW: u64 = 250;
/// A data directory without tables, with its log.
const BYTES_OF_SERVER: u64 = 256 << 20;

/// Refuses a plan whose labels are wrong, or whose data would not fit.
pub(super) fn check(plan: &StudyPlan, steps: &Steps) -> anyhow::Result<()> {
    if plan.load.cache == Cache::Cold && !rustix::process::geteuid().is_root() {
        bail!(
            "cache = \"cold\" drops the page cache, which only root can: run as root, or use warm"
        );
    }
    let mut needed: BTreeMap<String, (u64, &Path)> = BTreeMap::new();
    for arm in &plan.arms {
        let found = Storage::of(&arm.dir)?;
        if let Some(claimed) = claim(&arm.storage)
            && claimed != found.file_system
        {
            let why = format!(
                "storage \"{}\": {} is on {} ({}, mounted on {}), not on {claimed}: correct the \
                 name or the folder",
                arm.storage,
                arm.dir.display(),
                found.file_system,
                found.source,
                found.mount_point.display()
            );
            return Err(plan.refusal(arm.storage_line, why).into());
        }
        let mount = found.mount_point.display().to_string();
        let entry = needed.entry(mount).or_insert((0, &arm.dir));
        let copies = if plan.load.prepare == Prepare::Template { 2 } else { 1 };
        entry.0 = entry.0.saturating_add(copies * needed_by(&steps.sizes));
        if let Some(free) = found.available_bytes.filter(|free| *free < entry.0) {
            let why = format!(
                "{} has {} free, and the arms on it need about {}: give it more room, or load less",
                arm.dir.display(),
                format_bytes(free),
                format_bytes(entry.0)
            );
            return Err(plan.refusal(arm.storage_line, why).into());
        }
    }
    Ok(())
}

/// Room of an arm: its tables with their keys, and a data directory with its log.
fn needed_by(sizes: &[SchemaSize]) -> u64 {
    let tables = sizes.iter().map(|size| match *size {
        SchemaSize::Tpcb { scale } => u64::from(scale) * BYTES_OF_SCALE,
        SchemaSize::Sbtest { tables, table_size } => {
            u64::from(tables).saturating_mul(table_size).saturating_mul(BYTES_OF_ROW)
        }
    });
    tables.fold(BYTES_OF_SERVER, u64::saturating_add)
}

/// The file system that a label names.
fn claim(label: &str) -> Option<&'static str> {
    let mut words = label.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_ascii_lowercase);
    words.find_map(|word| FILE_SYSTEMS.into_iter().find(|name| *name == word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_claims_a_file_system_by_one_of_its_words() {
        for (label, claimed) in [
            ("ext4", Some("ext4")),
            ("fast-xfs", Some("xfs")),
            ("XFS_2", Some("xfs")),
            ("a", None),
            ("context4", None),
        ] {
            assert_eq!(claim(label), claimed, "{label}");
        }
    }
}

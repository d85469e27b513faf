//! Storages are what the machine says they are, whatever their label, and have room.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::bail;

use crate::host::disk::Storage;
use crate::plan::study::{Cache, StudyPlan};
use crate::units::format_bytes;

/// Labels that are claims.
const FILE_SYSTEMS: [&str; 8] = ["ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "tmpfs"];
/// Tables and keys of one scale factor.
const BYTES_OF_SCALE: u64 = 16 << 20;
/// A data directory without tables, with its log.
const BYTES_OF_SERVER: u64 = 256 << 20;

/// Refuses a plan whose labels are wrong, or whose data would not fit.
pub(super) fn check(plan: &StudyPlan) -> anyhow::Result<()> {
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
            bail!(
                "storage \"{}\": {} is on {} ({}, mounted on {}), not on {claimed}: correct the \
                 name or the folder",
                arm.storage,
                arm.dir.display(),
                found.file_system,
                found.source,
                found.mount_point.display()
            );
        }
        let mount = found.mount_point.display().to_string();
        let entry = needed.entry(mount).or_insert((0, &arm.dir));
        entry.0 += BYTES_OF_SERVER + u64::from(plan.load.scale) * BYTES_OF_SCALE;
        if let Some(free) = found.available_bytes.filter(|free| *free < entry.0) {
            bail!(
                "{} has {} free, and the arms on it need about {}: give it more room, or use a \
                 smaller scale",
                arm.dir.display(),
                format_bytes(free),
                format_bytes(entry.0)
            );
        }
    }
    Ok(())
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

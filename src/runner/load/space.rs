//! Whether the disk can hold the tables.

use super::error::LoadError;
use crate::schema::SchemaSize;

/// Refuses when `folder` has less than `needed_bytes` free, counting `freed_bytes` that dropped
/// tables give back. A folder that cannot be read (another machine, a container) is no reason.
pub(super) fn check(
    folder: String,
    size: SchemaSize,
    needed_bytes: u64,
    freed_bytes: u64,
) -> Result<(), LoadError> {
    let Ok(disk) = rustix::fs::statvfs(folder.as_str()) else { return Ok(()) };
    let free_bytes = disk.f_bavail.saturating_mul(disk.f_frsize).saturating_add(freed_bytes);
    if needed_bytes <= free_bytes {
        return Ok(());
    }
    Err(LoadError::NoSpace { size, needed_bytes, free_bytes, folder })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(scale: u32) -> SchemaSize {
        SchemaSize::Tpcb { scale }
    }

    #[test]
    fn a_disk_that_is_too_small_is_refused_with_the_figures_and_what_fits() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().display().to_string();
        check(path.clone(), scale(1), 1 << 20, 0).unwrap();
        let unit = 1_u64 << 60;
        let error = check(path.clone(), scale(4), 4 * unit, 2 * unit).unwrap_err().to_string();
        assert!(error.starts_with("scale 4 needs about 4194304.0 TB, and "), "{error}");
        assert!(error.contains(&path), "{error}");
        assert!(error.contains("(up to --scale 2 fits)"), "{error}");
    }

    #[test]
    fn what_dropped_tables_give_back_counts_as_free() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().display().to_string();
        check(path, scale(1), 1 << 60, 1 << 60).unwrap();
    }

    #[test]
    fn a_folder_of_another_machine_is_no_reason_to_refuse() {
        check("/no/such/folder".to_owned(), scale(1), u64::MAX, 0).unwrap();
    }
}

//! Where a folder really lives: mount point, file system, options, and the chain of devices under
//! it down to the disks. Never from a label: from the kernel.
//!
//! Everything below the mount is best effort; what cannot be read is `None` or ends the chain.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::facts::chosen;
use super::proc::{Mount, parse_mountinfo};
use crate::result::environment;

/// A loop device on a file on a loop device and so on ends here.
const MAX_DEPTH: usize = 8;

/// Why nothing can be said about a folder.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StorageError {
    /// The folder and everything above it cannot be looked at.
    #[error("cannot look at the folder {path}: {source}")]
    Folder {
        /// The folder as given.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The kernel's list of mounts cannot be read.
    #[error("cannot read the list of mounts, {path}: {source}")]
    Mounts {
        /// The file of the kernel.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// No mount holds the folder.
    #[error("no mounted file system holds the folder {path}")]
    NotMounted {
        /// The folder.
        path: PathBuf,
    },
}

/// The storage of a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Storage {
    /// The folder, without symbolic links; its nearest existing parent when it does not exist yet.
    pub(crate) folder: PathBuf,
    /// Where the file system is mounted.
    pub(crate) mount_point: PathBuf,
    /// `ext4`, `xfs`, `btrfs`, `tmpfs`, `overlay` and so on.
    pub(crate) file_system: String,
    /// Options of the mount, then those of the file system, as the kernel lists them.
    pub(crate) mount_options: String,
    /// What is mounted: a device, a host and folder, or a word.
    pub(crate) source: String,
    /// Size of the file system.
    pub(crate) size_bytes: Option<u64>,
    /// Free for an unprivileged user.
    pub(crate) available_bytes: Option<u64>,
    /// Block size of the file system.
    pub(crate) block_bytes: Option<u64>,
    /// Devices from the one that holds the file system down to the disks; empty when there is
    /// none (tmpfs, network, overlay).
    pub(crate) devices: Vec<Device>,
}

/// A block device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Device {
    /// The kernel's name, `sda1`.
    pub(crate) name: String,
    /// Major and minor number, `8:1`.
    pub(crate) number: String,
    /// What it is.
    pub(crate) kind: DeviceKind,
    /// How far down: 0 holds the file system, 1 lies directly under it.
    pub(crate) depth: usize,
    /// Its size.
    pub(crate) size_bytes: Option<u64>,
    /// The file behind a loop device.
    pub(crate) backing_file: Option<String>,
    /// Name that its maker gave it; disks.
    pub(crate) model: Option<String>,
    /// I/O scheduler, `none` or `mq-deadline`.
    pub(crate) scheduler: Option<String>,
    /// Whether the kernel takes it for a spinning disk.
    pub(crate) rotational: Option<bool>,
    /// `write back` (flushes are needed and cost time) or `write through`.
    pub(crate) write_cache: Option<String>,
}

/// Where the counters of a folder's device are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Watched {
    /// Number of the device, `8:1`.
    pub(crate) number: String,
    /// Number of the device that counts its flushes.
    pub(crate) flushes: Option<String>,
}

/// Kinds of block devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DeviceKind {
    /// A disk, or what looks like one.
    Disk,
    /// A part of a disk.
    Partition,
    /// A file as a device.
    Loop,
    /// Device mapper: LVM, encryption, multipath.
    Dm,
    /// Software RAID.
    Md,
}

impl Storage {
    /// Looks up the storage of `folder`, which need not exist yet.
    pub(crate) fn of(folder: &Path) -> Result<Self, StorageError> {
        Self::under(Path::new("/"), folder)
    }

    /// What to count of the device that holds the file system; `None` where there is no device.
    pub(crate) fn watched(&self) -> Option<Watched> {
        let holder = self.devices.first()?;
        // The kernel counts flushes of whole disks only.
        let counting = match holder.kind {
            DeviceKind::Partition => self.devices.get(1),
            _ => Some(holder),
        };
        Some(Watched {
            number: holder.number.clone(),
            flushes: counting.map(|device| device.number.clone()),
        })
    }

    /// The disks at the bottom: two folders on the same disk disturb each other whatever their
    /// partitions are.
    pub(crate) fn disks(&self) -> impl Iterator<Item = &Device> {
        self.devices.iter().filter(|device| device.kind == DeviceKind::Disk)
    }

    /// The part that results hold: devices by name from the one with the file system down to the
    /// disks ("sda1 on sda"), scheduler and write cache of the first disk.
    pub(crate) fn into_record(self) -> environment::Storage {
        let names = self.devices.iter().map(|device| match (device.kind, &device.backing_file) {
            (DeviceKind::Loop, Some(file)) => format!("{} ({file})", device.name),
            _ => device.name.clone(),
        });
        let names: Vec<String> = names.collect();
        let device = (!names.is_empty()).then(|| names.join(" on "));
        let disk = self.disks().next().or(self.devices.first());
        let scheduler = disk.and_then(|d| d.scheduler.clone());
        let write_cache = disk.and_then(|d| d.write_cache.clone());
        let block = self.block_bytes.map(|bytes| ("block_bytes".to_owned(), bytes.to_string()));
        let made = super::geometry::of(&self.file_system, &self.mount_point, &self.source);
        environment::Storage {
            data_dir: self.folder.display().to_string(),
            mount_point: Some(self.mount_point.display().to_string()),
            file_system: Some(self.file_system),
            mount_options: Some(self.mount_options),
            device: device.or(Some(self.source)),
            scheduler,
            write_cache,
            geometry: made.into_iter().chain(block).collect(),
        }
    }

    /// The same as [`Self::of`] with `proc` and `sys` under `root`.
    fn under(root: &Path, folder: &Path) -> Result<Self, StorageError> {
        let existing = nearest_existing(folder)
            .map_err(|source| StorageError::Folder { path: folder.to_owned(), source })?;
        let list = root.join("proc/self/mountinfo");
        let text = fs::read_to_string(&list)
            .map_err(|source| StorageError::Mounts { path: list, source })?;
        let mounts = parse_mountinfo(&text);
        let mount = holding(&mounts, &existing)
            .ok_or_else(|| StorageError::NotMounted { path: existing.clone() })?;
        let mut devices = Vec::new();
        if let Some(number) = device_number_of(root, mount) {
            Walk { root, mounts: &mounts, devices: &mut devices }.down(&number, 0);
        }
        let space = rustix::fs::statvfs(&existing).ok();
        Ok(Self {
            mount_point: PathBuf::from(&mount.mount_point),
            file_system: mount.fs_type.clone(),
            mount_options: joined_options(mount),
            source: mount.source.clone(),
            size_bytes: space.as_ref().map(|s| s.f_blocks.saturating_mul(s.f_frsize)),
            available_bytes: space.as_ref().map(|s| s.f_bavail.saturating_mul(s.f_frsize)),
            block_bytes: space.as_ref().map(|s| s.f_bsize),
            devices,
            folder: existing,
        })
    }
}

/// `folder` without symbolic links, or its nearest parent that exists.
fn nearest_existing(folder: &Path) -> io::Result<PathBuf> {
    let absolute = std::path::absolute(folder)?;
    let mut candidate = absolute.as_path();
    loop {
        match fs::canonicalize(candidate) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => match candidate.parent() {
                Some(parent) => candidate = parent,
                None => return Err(error),
            },
            result => return result,
        }
    }
}

/// The mount that holds `path`: the deepest mount point above it, and of several at the same place
/// the last, which covers the others.
fn holding<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    mounts
        .iter()
        .filter(|mount| path.starts_with(&mount.mount_point))
        .max_by_key(|mount| Path::new(&mount.mount_point).components().count())
}

/// Options of the mount and of the file system, none twice.
fn joined_options(mount: &Mount) -> String {
    let mut options: Vec<&str> = mount.options.split(',').collect();
    for option in mount.super_options.split(',') {
        if !options.contains(&option) {
            options.push(option);
        }
    }
    options.join(",")
}

/// The device that holds the file system. File systems over several devices (btrfs) have a number
/// of their own, with major 0: their source then names one of the devices.
fn device_number_of(root: &Path, mount: &Mount) -> Option<String> {
    if !mount.number.starts_with("0:") {
        return Some(mount.number.clone());
    }
    let source = mount.source.strip_prefix("/dev/")?;
    let device = fs::canonicalize(root.join("dev").join(source)).ok()?;
    line(&root.join("sys/class/block").join(device.file_name()?).join("dev"))
}

/// The first line of a file, without blanks around it; `None` when it is missing or empty.
fn line(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().next().map(|l| l.trim().to_owned()).filter(|l| !l.is_empty())
}

/// Walks from a device down to the disks under it.
struct Walk<'a> {
    root: &'a Path,
    mounts: &'a [Mount],
    devices: &'a mut Vec<Device>,
}

impl Walk<'_> {
    fn down(&mut self, number: &str, depth: usize) {
        // Two paths may lead to one disk (mirrors on partitions of the same disk): named once.
        if depth > MAX_DEPTH || self.devices.iter().any(|d| d.number == number) {
            return;
        }
        let folder = self.root.join("sys/dev/block").join(number);
        let Ok(folder) = fs::canonicalize(folder) else { return };
        let Some(device) = describe(&folder, number, depth) else { return };
        let kind = device.kind;
        let backing_file = device.backing_file.clone();
        self.devices.push(device);
        match kind {
            DeviceKind::Partition => {
                if let Some(number) = folder.parent().and_then(|disk| line(&disk.join("dev"))) {
                    self.down(&number, depth + 1);
                }
            }
            DeviceKind::Dm | DeviceKind::Md => {
                let mut below: Vec<String> = fs::read_dir(folder.join("slaves"))
                    .into_iter()
                    .flatten()
                    .flatten()
                    .filter_map(|slave| line(&slave.path().join("dev")))
                    .collect();
                below.sort();
                for number in below {
                    self.down(&number, depth + 1);
                }
            }
            DeviceKind::Loop => {
                let Some(file) = backing_file else { return };
                let mount = holding(self.mounts, Path::new(&file));
                if let Some(number) = mount.and_then(|mount| device_number_of(self.root, mount)) {
                    self.down(&number, depth + 1);
                }
            }
            DeviceKind::Disk => {}
        }
    }
}

/// Describes the device whose folder under `/sys/devices` is `folder`.
fn describe(folder: &Path, number: &str, depth: usize) -> Option<Device> {
    let name = folder.file_name()?.to_str()?.to_owned();
    let kind = if folder.join("partition").exists() {
        DeviceKind::Partition
    } else if folder.join("loop").exists() {
        DeviceKind::Loop
    } else if folder.join("dm").exists() {
        DeviceKind::Dm
    } else if folder.join("md").exists() {
        DeviceKind::Md
    } else {
        DeviceKind::Disk
    };
    let queue = |file: &str| line(&folder.join("queue").join(file));
    // In sectors of 512 bytes, whatever the device's own are.
    let sectors: Option<u64> = line(&folder.join("size")).and_then(|text| text.parse().ok());
    Some(Device {
        name,
        number: number.to_owned(),
        kind,
        depth,
        size_bytes: sectors.map(|sectors| sectors.saturating_mul(512)),
        backing_file: line(&folder.join("loop/backing_file")),
        model: line(&folder.join("device/model")),
        // "none" alone stands without brackets on devices that have no choice
        scheduler: queue("scheduler").map(|text| chosen(&text).unwrap_or(text)),
        rotational: queue("rotational").map(|text| text == "1"),
        write_cache: queue("write_cache"),
    })
}

#[cfg(test)]
mod tests;

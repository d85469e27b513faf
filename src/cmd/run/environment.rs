//! What is recorded of the machine and of the storage under a server's data.

use std::path::Path;

use crate::engine::ServerFacts;
use crate::host::disk::{Device, DeviceKind, Storage as Found};
use crate::host::facts::HostFacts;
use crate::result::environment::{Machine, Storage};

/// The machine that this program runs on.
pub(super) fn machine() -> Machine {
    let facts = HostFacts::read();
    Machine {
        kernel: facts.kernel,
        cpu: facts.cpu_model,
        cpus: facts.usable_cpus.or(facts.cpus).and_then(|cpus| u32::try_from(cpus).ok()),
        memory_bytes: facts.memory_bytes,
        governor: facts.cpu_governor,
    }
}

/// The storage of a server's data folder; unknown on another machine, and where the server does
/// not tell the folder.
pub(super) fn storage(facts: &ServerFacts) -> Option<Storage> {
    let folder = facts.data_directory.as_deref().filter(|_| facts.local)?;
    let found = Found::of(Path::new(folder)).ok()?;
    let first = found.devices.first();
    let disk = found.disks().next().or(first);
    Some(Storage {
        data_dir: folder.to_owned(),
        mount_point: Some(found.mount_point.display().to_string()),
        file_system: Some(found.file_system.clone()),
        mount_options: Some(found.mount_options.clone()),
        device: first.map(|_| chain(&found.devices)).or_else(|| Some(found.source.clone())),
        scheduler: disk.and_then(|disk| disk.scheduler.clone()),
        write_cache: disk.and_then(|disk| disk.write_cache.clone()),
        geometry: found
            .block_bytes
            .map(|bytes| ("block_bytes".to_owned(), bytes.to_string()))
            .into_iter()
            .collect(),
    })
}

/// The devices from the one that holds the file system down to the disks.
fn chain(devices: &[Device]) -> String {
    let names = devices.iter().map(|device| match (device.kind, &device.backing_file) {
        (DeviceKind::Loop, Some(file)) => format!("{} ({file})", device.name),
        _ => device.name.clone(),
    });
    names.collect::<Vec<_>>().join(" on ")
}

//! What is recorded of the storage under a server's data, and what is watched of it.

use std::path::Path;

use crate::engine::ServerFacts;
use crate::host::HostMonitor;
use crate::host::disk::{Storage as Found, Watched};
use crate::result::environment::Storage;

/// The storage of a server's data folder; unknown on another machine, and where the server does
/// not tell the folder.
pub(crate) fn storage(facts: &ServerFacts) -> Option<Storage> {
    crate::host::storage_of(facts.data_directory.as_deref().filter(|_| facts.local))
}

/// Watches this machine, and the devices of a server that runs on it.
pub(crate) fn monitor(facts: &ServerFacts) -> HostMonitor {
    let watched = |folder: &Option<String>| -> Option<Watched> {
        let folder = Path::new(folder.as_deref().filter(|_| facts.local)?);
        Found::of(folder).ok()?.watched()
    };
    HostMonitor::new(watched(&facts.data_directory), watched(&facts.log_directory))
}

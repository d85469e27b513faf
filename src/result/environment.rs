//! `environment.json`: the machine that dbload ran on, and where each arm's data lies.
//!
//! Everything is read from the machine, never from a label; what could not be read is `null`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The version of `environment.json` that this program writes.
pub const SCHEMA: &str = "dbload/environment/1";

/// The whole document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// Name and version of the format: [`SCHEMA`].
    pub schema: String,
    /// The machine that dbload ran on.
    pub machine: Machine,
    /// Storage of each arm by the arm's name. Absent where the server is on another machine or
    /// its data directory is unknown.
    pub storage: BTreeMap<String, Option<Storage>>,
}

/// The machine that dbload ran on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Kernel name and release.
    pub kernel: Option<String>,
    /// Model of the processor.
    pub cpu: Option<String>,
    /// Processors that dbload may use.
    pub cpus: Option<u32>,
    /// Memory of the machine.
    pub memory_bytes: Option<u64>,
    /// Frequency governor of the first processor.
    pub governor: Option<String>,
}

/// Where data lies.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Storage {
    /// Folder of the data, or the database file.
    pub data_dir: String,
    /// Where the file system is mounted.
    pub mount_point: Option<String>,
    /// Type of the file system.
    pub file_system: Option<String>,
    /// Options it is mounted with.
    pub mount_options: Option<String>,
    /// Block device under it.
    pub device: Option<String>,
    /// I/O scheduler of the device.
    pub scheduler: Option<String>,
    /// Write cache of the device: `write back` or `write through`.
    pub write_cache: Option<String>,
    /// Geometry of the file system by name, where it can be read.
    pub geometry: BTreeMap<String, String>,
}

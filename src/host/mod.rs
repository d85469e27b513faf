//! The machine that `dbload` runs on: what it is (`facts`, `disk`) and what it does meanwhile.
//!
//! A [`HostMonitor`] takes one [`HostSample`] per interval, in the measured window only. What the
//! machine does not tell is `None`, never 0. Knows nothing of servers: for a target on another
//! host these figures describe the client's machine, and the caller has to say so.

pub(crate) mod disk;
pub(crate) mod facts;
pub(crate) mod fio;
mod geometry;
pub(crate) mod proc;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::result::counters::Values;
use crate::result::environment::{Machine, Storage};

use disk::Watched;
use proc::{CpuTimes, Disk};

/// The machine that `dbload` runs on, as results hold it.
pub(crate) fn machine() -> Machine {
    facts::HostFacts::read().into_machine()
}

/// Where a data directory or database file lies, as results hold it. `None` when it is unknown or
/// not on this machine; a caller that knows the server to be elsewhere passes `None`, since a path
/// of the same name may exist here.
pub(crate) fn storage_of(data_directory: Option<&str>) -> Option<Storage> {
    let path = Path::new(data_directory?);
    // A path that is not there would be answered for with its nearest parent.
    path.exists().then(|| disk::Storage::of(path).ok())?.map(disk::Storage::into_record)
}

/// What is sampled: the machine, this process, and up to two devices.
#[derive(Debug, Clone)]
pub(crate) struct HostMonitor {
    proc_root: PathBuf,
    ticks_per_s: u64,
    data_device: Option<Watched>,
    wal_device: Option<Watched>,
}

impl HostMonitor {
    /// Watches the devices that hold a server's data directory and its write-ahead log. A log on
    /// the data's device is not counted a second time, nor are the flushes of a disk that holds
    /// both.
    pub(crate) fn new(data_device: Option<Watched>, wal_device: Option<Watched>) -> Self {
        let number = data_device.as_ref().map(|data| &data.number);
        let flushes = data_device.as_ref().and_then(|data| data.flushes.as_ref());
        let wal_device = wal_device
            .filter(|wal| Some(&wal.number) != number)
            .map(|wal| Watched { flushes: wal.flushes.filter(|wal| Some(wal) != flushes), ..wal });
        Self {
            proc_root: PathBuf::from("/proc"),
            ticks_per_s: procfs::ticks_per_second(),
            data_device,
            wal_device,
        }
    }

    /// Reads everything once: about ten small files.
    pub(crate) fn sample(&self) -> HostSample {
        let kernel = self.read("stat", |text| proc::parse_stat(text, self.ticks_per_s));
        let client = self.read("self/stat", |text| proc::parse_task_stat(text, self.ticks_per_s));
        let memory = self.read("meminfo", proc::parse_meminfo);
        let paging = self.read("vmstat", proc::parse_vmstat);
        let pressure =
            |resource: &str| self.read(&format!("pressure/{resource}"), proc::parse_pressure);
        let (cpu, io, memory_pressure) = (pressure("cpu"), pressure("io"), pressure("memory"));
        let disks = self.read("diskstats", |text| Some(text.to_owned()));
        let disk = |device: &Option<Watched>| -> Option<Disk> {
            let (device, text) = (device.as_ref()?, disks.as_deref()?);
            let disk = proc::parse_diskstats(text, &device.number)?;
            let counting = device.flushes.as_deref();
            let flushes = counting.and_then(|number| proc::parse_diskstats(text, number)?.flushes);
            Some(Disk { flushes, ..disk })
        };
        HostSample {
            cpu: kernel.map(|k| k.cpu),
            context_switches: kernel.map(|k| k.context_switches),
            client_user_us: client.as_ref().map(|c| c.user_us),
            client_system_us: client.as_ref().map(|c| c.system_us),
            cpu_some_us: cpu.map(|p| p.some_us),
            io_some_us: io.map(|p| p.some_us),
            io_full_us: io.and_then(|p| p.full_us),
            memory_some_us: memory_pressure.map(|p| p.some_us),
            memory_full_us: memory_pressure.and_then(|p| p.full_us),
            dirty_kib: memory.map(|m| m.dirty_kib),
            writeback_kib: memory.map(|m| m.writeback_kib),
            swapped_in_pages: paging.map(|p| p.swapped_in_pages),
            swapped_out_pages: paging.map(|p| p.swapped_out_pages),
            major_faults: paging.map(|p| p.major_faults),
            data: disk(&self.data_device),
            wal: disk(&self.wal_device),
        }
    }

    fn read<T>(&self, file: &str, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        parse(&fs::read_to_string(self.proc_root.join(file)).ok()?)
    }
}

/// Counters since boot at one moment, or their differences between two ([`HostSample::since`]);
/// gauges (`dirty_kib`, `writeback_kib`) are always the value of the moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct HostSample {
    /// Time of all CPUs.
    pub(crate) cpu: Option<CpuTimes>,
    /// Context switches of the whole machine.
    pub(crate) context_switches: Option<u64>,
    /// CPU time of this process in its own code.
    pub(crate) client_user_us: Option<u64>,
    /// CPU time of this process in the kernel.
    pub(crate) client_system_us: Option<u64>,
    /// Time in which some task waited for a CPU.
    pub(crate) cpu_some_us: Option<u64>,
    /// Time in which some task waited for I/O.
    pub(crate) io_some_us: Option<u64>,
    /// Time in which all tasks waited for I/O.
    pub(crate) io_full_us: Option<u64>,
    /// Time in which some task waited for memory.
    pub(crate) memory_some_us: Option<u64>,
    /// Time in which all tasks waited for memory.
    pub(crate) memory_full_us: Option<u64>,
    /// Waiting to be written to a device, at this moment.
    pub(crate) dirty_kib: Option<u64>,
    /// Being written to a device, at this moment.
    pub(crate) writeback_kib: Option<u64>,
    /// Pages read from swap.
    pub(crate) swapped_in_pages: Option<u64>,
    /// Pages written to swap.
    pub(crate) swapped_out_pages: Option<u64>,
    /// Page faults that waited for a device.
    pub(crate) major_faults: Option<u64>,
    /// The device of the data directory.
    pub(crate) data: Option<Disk>,
    /// The device of the write-ahead log, when it is another one.
    pub(crate) wal: Option<Disk>,
}

/// `later - earlier`. Some counters can go back a little (iowait, times that wrap at 32 bits):
/// such a difference is 0.
fn minus(later: Option<u64>, earlier: Option<u64>) -> Option<u64> {
    Some(later?.saturating_sub(earlier?))
}

impl CpuTimes {
    fn since(self, earlier: Self) -> Self {
        Self {
            user_us: self.user_us.saturating_sub(earlier.user_us),
            system_us: self.system_us.saturating_sub(earlier.system_us),
            iowait_us: self.iowait_us.saturating_sub(earlier.iowait_us),
            steal_us: self.steal_us.saturating_sub(earlier.steal_us),
            idle_us: self.idle_us.saturating_sub(earlier.idle_us),
        }
    }
}

impl Disk {
    fn since(self, earlier: Self) -> Self {
        Self {
            reads: self.reads.saturating_sub(earlier.reads),
            read_kib: self.read_kib.saturating_sub(earlier.read_kib),
            writes: self.writes.saturating_sub(earlier.writes),
            written_kib: self.written_kib.saturating_sub(earlier.written_kib),
            flushes: minus(self.flushes, earlier.flushes),
            discards: minus(self.discards, earlier.discards),
            discarded_kib: minus(self.discarded_kib, earlier.discarded_kib),
            busy_ms: self.busy_ms.saturating_sub(earlier.busy_ms),
            queue_ms: self.queue_ms.saturating_sub(earlier.queue_ms),
        }
    }

    fn columns(disk: Option<&Self>, role: &str) -> Vec<(String, Option<u64>)> {
        let of = |name: &str, field: fn(&Self) -> Option<u64>| {
            (format!("{role}_{name}"), disk.and_then(field))
        };
        vec![
            of("reads", |d| Some(d.reads)),
            of("read_kib", |d| Some(d.read_kib)),
            of("writes", |d| Some(d.writes)),
            of("written_kib", |d| Some(d.written_kib)),
            of("flushes", |d| d.flushes),
            of("discards", |d| d.discards),
            of("discarded_kib", |d| d.discarded_kib),
            of("busy_ms", |d| Some(d.busy_ms)),
            of("queue_ms", |d| Some(d.queue_ms)),
        ]
    }
}

impl HostSample {
    /// What happened between `earlier` and this sample.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        let difference = |field: fn(&Self) -> Option<u64>| minus(field(self), field(earlier));
        Self {
            cpu: self.cpu.zip(earlier.cpu).map(|(a, b)| a.since(b)),
            context_switches: difference(|s| s.context_switches),
            client_user_us: difference(|s| s.client_user_us),
            client_system_us: difference(|s| s.client_system_us),
            cpu_some_us: difference(|s| s.cpu_some_us),
            io_some_us: difference(|s| s.io_some_us),
            io_full_us: difference(|s| s.io_full_us),
            memory_some_us: difference(|s| s.memory_some_us),
            memory_full_us: difference(|s| s.memory_full_us),
            dirty_kib: self.dirty_kib,
            writeback_kib: self.writeback_kib,
            swapped_in_pages: difference(|s| s.swapped_in_pages),
            swapped_out_pages: difference(|s| s.swapped_out_pages),
            major_faults: difference(|s| s.major_faults),
            data: self.data.zip(earlier.data).map(|(a, b)| a.since(b)),
            wal: self.wal.zip(earlier.wal).map(|(a, b)| a.since(b)),
        }
    }

    /// Every figure, in the order of the columns of `host.csv`.
    pub(crate) fn values(&self) -> Values {
        #[expect(clippy::cast_precision_loss, reason = "counters far below 2^53")]
        let figures = self.columns().into_iter().map(|(_, value)| value.map(|value| value as f64));
        figures.collect()
    }

    /// The same with their names.
    fn columns(&self) -> Vec<(String, Option<u64>)> {
        let cpu = |field: fn(&CpuTimes) -> u64| self.cpu.as_ref().map(field);
        let machine = [
            ("cpu_user_us", cpu(|c| c.user_us)),
            ("cpu_system_us", cpu(|c| c.system_us)),
            ("cpu_iowait_us", cpu(|c| c.iowait_us)),
            ("cpu_steal_us", cpu(|c| c.steal_us)),
            ("cpu_idle_us", cpu(|c| c.idle_us)),
            ("context_switches", self.context_switches),
            ("client_user_us", self.client_user_us),
            ("client_system_us", self.client_system_us),
            ("pressure_cpu_some_us", self.cpu_some_us),
            ("pressure_io_some_us", self.io_some_us),
            ("pressure_io_full_us", self.io_full_us),
            ("pressure_memory_some_us", self.memory_some_us),
            ("pressure_memory_full_us", self.memory_full_us),
            ("dirty_kib", self.dirty_kib),
            ("writeback_kib", self.writeback_kib),
            ("swapped_in_pages", self.swapped_in_pages),
            ("swapped_out_pages", self.swapped_out_pages),
            ("major_faults", self.major_faults),
        ];
        let mut columns: Vec<(String, Option<u64>)> =
            machine.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        columns.extend(Disk::columns(self.data.as_ref(), "data"));
        columns.extend(Disk::columns(self.wal.as_ref(), "wal"));
        columns
    }

    /// These differences divided by the transactions committed meanwhile; empty for none. Data
    /// and log devices are added up. Where the server is on another machine, only what this
    /// process used has to do with transactions.
    pub(crate) fn per_transaction(
        &self,
        transactions: u64,
        same_machine: bool,
    ) -> BTreeMap<String, f64> {
        let client_us = self.client_user_us.zip(self.client_system_us).map(|(u, s)| u + s);
        let busy_us = self.cpu.map(|cpu| cpu.user_us + cpu.system_us);
        let disks = |field: fn(&Disk) -> Option<u64>| {
            let devices: Vec<&Disk> = self.data.iter().chain(&self.wal).collect();
            let known = devices.into_iter().filter_map(field);
            known.reduce(|sum, more| sum + more)
        };
        let client = [("client_cpu_us", client_us)];
        let machine = [
            ("cpu_us", busy_us.map(|us| us.saturating_sub(client_us.unwrap_or(0)))),
            ("context_switches", self.context_switches),
            ("reads", disks(|d| Some(d.reads))),
            ("read_kib", disks(|d| Some(d.read_kib))),
            ("writes", disks(|d| Some(d.writes))),
            ("written_kib", disks(|d| Some(d.written_kib))),
            ("flushes", disks(|d| d.flushes)),
        ];
        let machine = machine.into_iter().filter(|_| same_machine);
        client
            .into_iter()
            .chain(machine)
            .filter(|_| transactions > 0)
            .filter_map(|(name, total)| {
                Some((name.to_owned(), total? as f64 / transactions as f64))
            })
            .collect()
    }

    /// Shares of the time between the two samples, whose distance is `passed`: of all CPUs, and of
    /// the devices. A queue is a mean length.
    pub(crate) fn shares(&self, passed: Duration) -> BTreeMap<String, f64> {
        let mut shares = BTreeMap::new();
        if let Some(cpu) = self.cpu {
            let parts = [
                ("cpu_user", cpu.user_us),
                ("cpu_system", cpu.system_us),
                ("cpu_iowait", cpu.iowait_us),
                ("cpu_steal", cpu.steal_us),
                ("cpu_idle", cpu.idle_us),
            ];
            let all: u64 = parts.iter().map(|(_, us)| us).sum();
            if all > 0 {
                let of = |(name, us): (&str, u64)| (name.to_owned(), us as f64 / all as f64);
                shares.extend(parts.map(of));
            }
        }
        let passed_ms = passed.as_secs_f64() * 1e3;
        for (role, disk) in [("data", self.data), ("wal", self.wal)] {
            if let Some(disk) = disk.filter(|_| passed_ms > 0.0) {
                let (busy, queue) = (disk.busy_ms as f64, disk.queue_ms as f64);
                shares.insert(format!("{role}_busy"), busy / passed_ms);
                shares.insert(format!("{role}_queue"), queue / passed_ms);
            }
        }
        shares
    }
}

#[cfg(test)]
mod tests;

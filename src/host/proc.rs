//! Parsers of the kernel's text files under `/proc`: text in, counters out.
//!
//! Pure. Fields that older kernels lack are `None`; a text that is not what it should be gives
//! `None` as a whole, and the caller then reports less instead of failing a run. Counters are
//! totals since boot; differences are the business of `host`.

use procfs::DiskStat;

const US_PER_S: u64 = 1_000_000;
/// The kernel counts in sectors of 512 bytes, whatever the device's own are.
const SECTORS_PER_KIB: u64 = 2;

/// Time of all CPUs together, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CpuTimes {
    /// Programs, niced ones and guests included.
    pub(crate) user_us: u64,
    /// The kernel, interrupts included.
    pub(crate) system_us: u64,
    /// Idle with I/O outstanding.
    pub(crate) iowait_us: u64,
    /// Taken by the hypervisor.
    pub(crate) steal_us: u64,
    /// Idle without I/O outstanding.
    pub(crate) idle_us: u64,
}

/// What `/proc/stat` tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kernel {
    /// CPU time.
    pub(crate) cpu: CpuTimes,
    /// Context switches of the whole machine.
    pub(crate) context_switches: u64,
}

/// Parses `/proc/stat`. Kernels before 2.6.11 have no steal time: it is 0 then, as it was.
pub(crate) fn parse_stat(text: &str, ticks_per_s: u64) -> Option<Kernel> {
    let ticks: Vec<u64> = keyed(text, "cpu")?.map_while(|field| field.parse().ok()).collect();
    // user nice system idle iowait irq softirq steal guest guest_nice; guests are in user already
    let us = |fields: &[usize]| -> u64 {
        let sum: u64 = fields.iter().filter_map(|&i| ticks.get(i)).sum();
        ticks_to_us(sum, ticks_per_s)
    };
    if ticks.len() < 4 {
        return None;
    }
    Some(Kernel {
        cpu: CpuTimes {
            user_us: us(&[0, 1]),
            system_us: us(&[2, 5, 6]),
            iowait_us: us(&[4]),
            steal_us: us(&[7]),
            idle_us: us(&[3]),
        },
        context_switches: keyed(text, "ctxt")?.next()?.parse().ok()?,
    })
}

/// The fields after `key` on the line that starts with it.
fn keyed<'a>(text: &'a str, key: &str) -> Option<impl Iterator<Item = &'a str>> {
    text.lines().find_map(|line| {
        let mut fields = line.split_ascii_whitespace();
        (fields.next()? == key).then_some(fields)
    })
}

fn ticks_to_us(ticks: u64, ticks_per_s: u64) -> u64 {
    ticks.saturating_mul(US_PER_S) / ticks_per_s.max(1)
}

/// What one block device did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Disk {
    /// Reads completed.
    pub(crate) reads: u64,
    /// KiB read.
    pub(crate) read_kib: u64,
    /// Writes completed.
    pub(crate) writes: u64,
    /// KiB written.
    pub(crate) written_kib: u64,
    /// Flushes of the device's cache completed (kernel 5.5 and later).
    pub(crate) flushes: Option<u64>,
    /// Discards completed (kernel 4.18 and later).
    pub(crate) discards: Option<u64>,
    /// KiB discarded (kernel 4.18 and later).
    pub(crate) discarded_kib: Option<u64>,
    /// Time with at least one request outstanding: utilisation.
    pub(crate) busy_ms: u64,
    /// Time summed over all outstanding requests: divided by time, the mean queue length.
    pub(crate) queue_ms: u64,
}

/// The line of device `number` (`8:1`) in `/proc/diskstats`.
pub(crate) fn parse_diskstats(text: &str, number: &str) -> Option<Disk> {
    let (major, minor) = number.split_once(':')?;
    let line = text.lines().find(|line| {
        let mut fields = line.split_ascii_whitespace();
        fields.next() == Some(major) && fields.next() == Some(minor)
    })?;
    let disk = DiskStat::from_line(line).ok()?;
    Some(Disk {
        reads: disk.reads,
        read_kib: disk.sectors_read / SECTORS_PER_KIB,
        writes: disk.writes,
        written_kib: disk.sectors_written / SECTORS_PER_KIB,
        flushes: disk.flushes,
        discards: disk.discards,
        discarded_kib: disk.sectors_discarded.map(|sectors| sectors / SECTORS_PER_KIB),
        busy_ms: disk.time_in_progress,
        queue_ms: disk.weighted_time_in_progress,
    })
}

/// What `/proc/meminfo` tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Memory {
    /// Usable memory.
    pub(crate) total_kib: u64,
    /// Could be given to programs without swapping (kernel 3.14 and later).
    pub(crate) available_kib: Option<u64>,
    /// Page cache.
    pub(crate) cached_kib: u64,
    /// Waiting to be written to a device.
    pub(crate) dirty_kib: u64,
    /// Being written to a device.
    pub(crate) writeback_kib: u64,
    /// Swap space.
    pub(crate) swap_total_kib: u64,
}

/// Parses `/proc/meminfo`.
pub(crate) fn parse_meminfo(text: &str) -> Option<Memory> {
    let kib = |key: &str| -> Option<u64> { keyed(text, key)?.next()?.parse().ok() };
    Some(Memory {
        total_kib: kib("MemTotal:")?,
        available_kib: kib("MemAvailable:"),
        cached_kib: kib("Cached:")?,
        dirty_kib: kib("Dirty:")?,
        writeback_kib: kib("Writeback:")?,
        swap_total_kib: kib("SwapTotal:").unwrap_or(0),
    })
}

/// What `/proc/vmstat` tells about paging.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Paging {
    /// Pages read from swap.
    pub(crate) swapped_in_pages: u64,
    /// Pages written to swap.
    pub(crate) swapped_out_pages: u64,
    /// Page faults that had to wait for a device.
    pub(crate) major_faults: u64,
}

/// Parses `/proc/vmstat`.
pub(crate) fn parse_vmstat(text: &str) -> Option<Paging> {
    let count = |key: &str| -> Option<u64> { keyed(text, key)?.next()?.parse().ok() };
    Some(Paging {
        swapped_in_pages: count("pswpin")?,
        swapped_out_pages: count("pswpout")?,
        major_faults: count("pgmajfault")?,
    })
}

/// Time lost waiting for a resource, from `/proc/pressure/*` (kernel 4.20 and later, where it is
/// switched on).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pressure {
    /// At least one task waited.
    pub(crate) some_us: u64,
    /// All tasks that could have run waited; for CPU from kernel 5.13 on.
    pub(crate) full_us: Option<u64>,
}

/// Parses one of `/proc/pressure/cpu`, `io` and `memory`.
pub(crate) fn parse_pressure(text: &str) -> Option<Pressure> {
    let total = |key: &str| -> Option<u64> {
        keyed(text, key)?.find_map(|field| field.strip_prefix("total=")?.parse().ok())
    };
    Some(Pressure { some_us: total("some")?, full_us: total("full") })
}

/// CPU time of one process or thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TaskTimes {
    /// Its name, at most 15 bytes.
    pub(crate) name: String,
    /// Time in its own code.
    pub(crate) user_us: u64,
    /// Time in the kernel on its behalf.
    pub(crate) system_us: u64,
}

/// Parses `/proc/PID/stat` or `/proc/PID/task/TID/stat`. The name may hold anything, also spaces
/// and parentheses: fields are counted from the last closing one.
pub(crate) fn parse_task_stat(text: &str, ticks_per_s: u64) -> Option<TaskTimes> {
    let (head, tail) = text.rsplit_once(')')?;
    let (_, name) = head.split_once('(')?;
    // tail starts with field 3; utime is field 14, stime 15
    let mut times = tail.split_ascii_whitespace().skip(11).map(str::parse::<u64>);
    Some(TaskTimes {
        name: name.to_owned(),
        user_us: ticks_to_us(times.next()?.ok()?, ticks_per_s),
        system_us: ticks_to_us(times.next()?.ok()?, ticks_per_s),
    })
}

/// Parses `/proc/PID/task/TID/schedstat`: time on a CPU in nanoseconds, finer than the ticks of
/// [`parse_task_stat`].
pub(crate) fn parse_schedstat_run_ns(text: &str) -> Option<u64> {
    text.split_ascii_whitespace().next()?.parse().ok()
}

/// One line of `/proc/self/mountinfo`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    /// Device number, `8:1`; its major is 0 for file systems without one device of their own.
    pub(crate) number: String,
    /// Where it is mounted.
    pub(crate) mount_point: String,
    /// Options of this mount, in the kernel's order.
    pub(crate) options: String,
    /// File system type.
    pub(crate) fs_type: String,
    /// What is mounted: a device, a host and folder, or just a word.
    pub(crate) source: String,
    /// Options of the file system itself.
    pub(crate) super_options: String,
}

/// Parses `/proc/self/mountinfo`; lines that are not understood are left out.
pub(crate) fn parse_mountinfo(text: &str) -> Vec<Mount> {
    text.lines().filter_map(parse_mount).collect()
}

fn parse_mount(line: &str) -> Option<Mount> {
    // A variable number of tags (shared:1, master:2) ends with a lone hyphen.
    let (head, tail) = line.split_once(" - ")?;
    let mut head = head.split(' ').skip(2);
    let (number, _root) = (head.next()?, head.next()?);
    let (mount_point, options) = (head.next()?, head.next()?);
    let mut tail = tail.split(' ');
    Some(Mount {
        number: number.to_owned(),
        mount_point: unescape(mount_point),
        options: options.to_owned(),
        fs_type: tail.next()?.to_owned(),
        source: unescape(tail.next()?),
        super_options: unescape(tail.next()?),
    })
}

/// The kernel writes space, tab, newline and backslash as a backslash and three octal digits.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = match tail {
            [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..] if *first == b'\\' => {
                Some((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'))
            }
            _ => None,
        };
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &tail[3..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests;

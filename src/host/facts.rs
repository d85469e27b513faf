//! What the machine is: kernel, CPU, memory and the settings that move results. For
//! `environment.json`.
//!
//! Reads once, at the start. What cannot be read is `None`: a container may hide half of it.

use std::fs;
use std::path::Path;

use serde::Serialize;

use super::proc::parse_meminfo;
use crate::result::environment::Machine;

/// The machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct HostFacts {
    /// Kernel release, `6.1.0-18-amd64`.
    pub(crate) kernel: Option<String>,
    /// Distribution, `Debian GNU/Linux 12 (bookworm)`.
    pub(crate) system: Option<String>,
    /// Architecture this program was built for.
    pub(crate) architecture: &'static str,
    /// CPU model as the kernel names it.
    pub(crate) cpu_model: Option<String>,
    /// Logical CPUs that are switched on.
    pub(crate) cpus: Option<usize>,
    /// Logical CPUs that this process may use (affinity and container limits).
    pub(crate) usable_cpus: Option<usize>,
    /// Whether the CPU says that it is a virtual one; x86 only.
    pub(crate) virtual_machine: Option<bool>,
    /// Usable memory.
    pub(crate) memory_bytes: Option<u64>,
    /// Swap space.
    pub(crate) swap_bytes: Option<u64>,
    /// Frequency governors of the CPUs, each once, with commas between them; `None` where the
    /// frequency is not for this system to choose (virtual machines).
    pub(crate) cpu_governor: Option<String>,
    /// Transparent huge pages: `always`, `madvise` or `never`.
    pub(crate) transparent_hugepages: Option<String>,
    /// `vm.swappiness`.
    pub(crate) swappiness: Option<u64>,
    /// `vm.dirty_ratio`: from here on, writers have to write back themselves.
    pub(crate) dirty_ratio_pct: Option<u64>,
    /// `vm.dirty_background_ratio`: from here on, the kernel writes back.
    pub(crate) dirty_background_ratio_pct: Option<u64>,
}

impl HostFacts {
    /// Reads the facts of this machine.
    pub(crate) fn read() -> Self {
        let usable_cpus = std::thread::available_parallelism().ok().map(Into::into);
        Self { usable_cpus, ..Self::read_under(Path::new("/")) }
    }

    /// The part that results hold.
    pub(crate) fn into_machine(self) -> Machine {
        Machine {
            kernel: self.kernel,
            cpu: self.cpu_model,
            cpus: self.usable_cpus.or(self.cpus).and_then(|cpus| u32::try_from(cpus).ok()),
            memory_bytes: self.memory_bytes,
            governor: self.cpu_governor,
        }
    }

    /// Reads the facts of the files under `root`.
    fn read_under(root: &Path) -> Self {
        let text = |path: &str| fs::read_to_string(root.join(path)).ok();
        let line = |path: &str| text(path).map(|t| t.trim().to_owned()).filter(|t| !t.is_empty());
        let number = |path: &str| line(path)?.parse().ok();
        let cpuinfo = text("proc/cpuinfo").unwrap_or_default();
        let memory = text("proc/meminfo").as_deref().and_then(parse_meminfo);
        Self {
            kernel: line("proc/sys/kernel/osrelease"),
            system: text("etc/os-release").as_deref().and_then(parse_os_release),
            architecture: std::env::consts::ARCH,
            cpu_model: parse_cpu_model(&cpuinfo),
            cpus: Some(count_cpus(&cpuinfo)).filter(|&cpus| cpus > 0),
            usable_cpus: None,
            virtual_machine: parse_hypervisor_flag(&cpuinfo),
            memory_bytes: memory.map(|m| m.total_kib * 1024),
            swap_bytes: memory.map(|m| m.swap_total_kib * 1024),
            cpu_governor: read_governors(root),
            transparent_hugepages: line("sys/kernel/mm/transparent_hugepage/enabled")
                .and_then(|t| chosen(&t)),
            swappiness: number("proc/sys/vm/swappiness"),
            dirty_ratio_pct: number("proc/sys/vm/dirty_ratio"),
            dirty_background_ratio_pct: number("proc/sys/vm/dirty_background_ratio"),
        }
    }
}

/// The choice in brackets: `always [madvise] never`.
pub(super) fn chosen(text: &str) -> Option<String> {
    let (_, tail) = text.split_once('[')?;
    Some(tail.split_once(']')?.0.to_owned())
}

fn parse_os_release(text: &str) -> Option<String> {
    let value = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(value.trim_matches(['"', '\'']).to_owned())
}

/// The value of the first line `key : value`.
fn cpuinfo_value<'a>(cpuinfo: &'a str, key: &str) -> Option<&'a str> {
    cpuinfo.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim())
    })
}

/// x86 and POWER, then 32-bit ARM, then boards; 64-bit ARM has only numbers.
fn parse_cpu_model(cpuinfo: &str) -> Option<String> {
    let named = ["model name", "cpu", "Processor", "Hardware"]
        .iter()
        .find_map(|key| cpuinfo_value(cpuinfo, key))
        .map(str::to_owned);
    named.or_else(|| {
        let implementer = cpuinfo_value(cpuinfo, "CPU implementer")?;
        let part = cpuinfo_value(cpuinfo, "CPU part")?;
        Some(format!("ARM implementer {implementer} part {part}"))
    })
}

fn count_cpus(cpuinfo: &str) -> usize {
    let is_cpu = |line: &&str| line.split_once(':').is_some_and(|(k, _)| k.trim() == "processor");
    cpuinfo.lines().filter(is_cpu).count()
}

fn parse_hypervisor_flag(cpuinfo: &str) -> Option<bool> {
    let flags = cpuinfo_value(cpuinfo, "flags")?;
    Some(flags.split_ascii_whitespace().any(|flag| flag == "hypervisor"))
}

fn read_governors(root: &Path) -> Option<String> {
    let mut governors: Vec<String> = fs::read_dir(root.join("sys/devices/system/cpu"))
        .ok()?
        .flatten()
        .filter_map(|cpu| fs::read_to_string(cpu.path().join("cpufreq/scaling_governor")).ok())
        .map(|text| text.trim().to_owned())
        .collect();
    governors.sort();
    governors.dedup();
    (!governors.is_empty()).then(|| governors.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x86_has_names_and_flags() {
        let text = "\
processor\t: 0
model name\t: Intel(R) Xeon(R) Processor @ 2.90GHz
flags\t\t: fpu vme hypervisor lahf_lm

processor\t: 1
model name\t: Intel(R) Xeon(R) Processor @ 2.90GHz
flags\t\t: fpu vme hypervisor lahf_lm
";
        assert_eq!(count_cpus(text), 2);
        assert_eq!(parse_cpu_model(text).unwrap(), "Intel(R) Xeon(R) Processor @ 2.90GHz");
        assert_eq!(parse_hypervisor_flag(text), Some(true));
        assert_eq!(parse_hypervisor_flag(&text.replace("hypervisor ", "")), Some(false));
    }

    #[test]
    fn arm_has_numbers_only() {
        let text = "\
processor\t: 0
BogoMIPS\t: 243.75
Features\t: fp asimd
CPU implementer\t: 0x41
CPU part\t: 0xd40
";
        assert_eq!(parse_cpu_model(text).unwrap(), "ARM implementer 0x41 part 0xd40");
        assert_eq!(parse_hypervisor_flag(text), None, "it does not say");
        assert_eq!(parse_cpu_model(""), None);
    }

    #[test]
    fn the_choice_is_the_word_in_brackets() {
        assert_eq!(chosen("always [madvise] never").as_deref(), Some("madvise"));
        assert_eq!(chosen("[none] mq-deadline").as_deref(), Some("none"));
        assert_eq!(chosen("none"), None);
        assert_eq!(chosen("[broken"), None);
    }

    #[test]
    fn facts_come_from_files_and_missing_ones_are_unknown() {
        let root = tempfile::tempdir().unwrap();
        let nothing = HostFacts::read_under(root.path());
        let only_built_in =
            HostFacts { architecture: std::env::consts::ARCH, ..HostFacts::default() };
        assert_eq!(nothing, only_built_in);
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("etc/os-release", "NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
        write("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
        write("proc/sys/vm/swappiness", "60\n");
        write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
        write("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n");
        write("sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "powersave\n");
        let facts = HostFacts::read_under(root.path());
        assert_eq!(facts.system.as_deref(), Some("Debian GNU/Linux 12 (bookworm)"));
        assert_eq!(facts.kernel.as_deref(), Some("6.1.0-18-amd64"));
        assert_eq!(facts.cpu_governor.as_deref(), Some("performance,powersave"));
        assert_eq!((facts.swappiness, facts.dirty_ratio_pct), (Some(60), None));
    }

    #[test]
    fn this_machine_has_a_kernel_cpus_and_memory() {
        let facts = HostFacts::read();
        assert!(facts.kernel.is_some() && facts.memory_bytes > Some(1 << 20), "{facts:?}");
        assert!(facts.usable_cpus >= Some(1));
    }
}

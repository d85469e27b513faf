//! Differences, per-transaction figures against published ones, and one look at the machine.

use super::*;
use crate::result::counters::HOST;

fn cpu(user_us: u64, system_us: u64) -> CpuTimes {
    CpuTimes { user_us, system_us, iowait_us: 0, steal_us: 0, idle_us: 0 }
}

fn near(value: Option<f64>, expected: f64, tolerance: f64) -> bool {
    value.is_some_and(|v| (v - expected).abs() <= tolerance)
}

#[test]
fn counters_are_subtracted_and_gauges_are_not() {
    let before = HostSample {
        cpu: Some(cpu(1_000, 500)),
        context_switches: Some(100),
        dirty_kib: Some(9_000),
        data: Some(Disk { reads: 5, flushes: Some(1), busy_ms: 40, ..Disk::default() }),
        ..HostSample::default()
    };
    let mut after = before;
    after.cpu = Some(cpu(4_000, 400));
    after.context_switches = Some(350);
    after.dirty_kib = Some(7_000);
    after.data = Some(Disk { reads: 9, flushes: Some(3), busy_ms: 30, ..Disk::default() });
    let between = after.since(&before);
    assert_eq!(between.cpu, Some(cpu(3_000, 0)), "a counter that went back counts 0");
    assert_eq!((between.context_switches, between.dirty_kib), (Some(250), Some(7_000)));
    let data = between.data.unwrap();
    assert_eq!((data.reads, data.flushes, data.busy_ms), (4, Some(2), 0));
    assert_eq!((between.wal, between.io_some_us), (None, None), "unknown stays unknown");
}

#[test]
fn what_happened_before_the_first_sample_is_not_counted() {
    // Sysbench case SB-55: a machine that did 5000 switches a second at 90 % before, then 59
    // seconds of 1000 switches and 50 % between the first and the last of 60 samples.
    let stat = |second: u64| {
        let (user, system) = (9_000_000 + 30 * second, 20 * second);
        let switches = 500_000_000 + 1_000 * second;
        let text = format!("cpu  {user} 0 {system} 1000000 0 0 0 0 0 0\nctxt {switches}\n");
        let kernel = proc::parse_stat(&text, 100).unwrap();
        HostSample {
            cpu: Some(kernel.cpu),
            context_switches: Some(kernel.context_switches),
            ..HostSample::default()
        }
    };
    let between = stat(59).since(&stat(0));
    assert_eq!(between.context_switches, Some(59 * 1_000));
    let cpu = between.cpu.unwrap();
    assert_eq!(cpu.user_us + cpu.system_us, 59 * 500_000, "half a CPU for 59 s");
    let steps: u64 = (1..60).filter_map(|s| stat(s).since(&stat(s - 1)).context_switches).sum();
    assert_eq!(steps, 59 * 1_000, "and the intervals add up to it");
}

#[test]
fn published_rates_give_the_published_figures_per_operation() {
    // Sysbench case SB-56 and the table it is from: rates per second of 48 CPUs, taken over 1000 s
    // so that counters are whole numbers. Tolerances are the rounding of the published inputs.
    let text = include_str!("../../tests/data/seed_per_operation.csv");
    let mut rows = 0;
    for line in text.lines().skip(1) {
        let cells: Vec<f64> = line.split(',').skip(2).map(|c| c.parse().unwrap()).collect();
        let [r, r_mb, w, w_mb, r_o, r_kb_o, w_kb_o, o, cs, cpu_pct, cs_o, cpu_o] = cells[..] else {
            panic!("{line}")
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
        let counter = |per_s: f64| (1000.0 * per_s).round() as u64;
        let sample = HostSample {
            cpu: Some(cpu(counter(cpu_pct / 100.0 * 48.0 * 1e6), 0)),
            context_switches: Some(counter(cs)),
            data: Some(Disk {
                reads: counter(r),
                read_kib: counter(r_mb * 1024.0),
                writes: counter(w),
                written_kib: counter(w_mb * 1024.0),
                ..Disk::default()
            }),
            ..HostSample::default()
        };
        let figures = sample.per_transaction(counter(o), true);
        let per = |name: &str| figures.get(name).copied();
        // half of the last digit of each published figure: the input, the divisor, the quotient
        let slack =
            |input: f64, quotient: f64, last: f64| (input + 0.5 * quotient) / o + 0.500_1 * last;
        let mut published = vec![
            (per("reads"), r_o, slack(0.05, r_o, 1e-3)),
            (per("read_kib"), r_kb_o, slack(0.05 * 1024.0, r_kb_o, 1e-3)),
            (per("written_kib"), w_kb_o, slack(0.05 * 1024.0, w_kb_o, 1e-3)),
        ];
        // The two insert rows as published divide switches and CPU by each other's rate
        // (1214563 / 115155 = 10.547); they are no reference for these two figures.
        if !line.starts_with("insert,") {
            published.push((per("context_switches"), cs_o, slack(0.5, cs_o, 1e-3)));
            let share = per("cpu_us").map(|us| us / 48.0 / 1e4);
            published.push((share, cpu_o, slack(0.05, cpu_o, 1e-6)));
        }
        for (figure, published, tolerance) in published {
            assert!(near(figure, published, tolerance), "{line}: {figure:?} is not {published}");
        }
        rows += 1;
        if rows == 1 {
            assert!(near(per("cpu_us"), 267.5, 0.5), "267 to 268 us a statement");
        }
    }
    assert_eq!(rows, 6);
}

#[test]
fn the_clients_cpu_is_kept_apart_and_devices_are_added_up() {
    let disk = Disk { reads: 10, written_kib: 80, flushes: Some(20), ..Disk::default() };
    let sample = HostSample {
        cpu: Some(cpu(900, 300)),
        client_user_us: Some(150),
        client_system_us: Some(50),
        data: Some(disk),
        wal: Some(Disk { flushes: None, ..disk }),
        ..HostSample::default()
    };
    let expected = BTreeMap::from(
        [("cpu_us", 100.0), ("client_cpu_us", 20.0), ("reads", 2.0), ("read_kib", 0.0)]
            .map(|(name, value)| (name.to_owned(), value)),
    );
    let per = sample.per_transaction(10, true);
    assert!(expected.iter().all(|(name, value)| per.get(name) == Some(value)), "{per:?}");
    assert_eq!((per["writes"], per["written_kib"]), (0.0, 16.0));
    assert_eq!(per["flushes"], 2.0, "those of one disk are counted once");
    assert!(!per.contains_key("context_switches"), "unknown stays unknown");
    assert_eq!(sample.per_transaction(0, true), BTreeMap::new());
    assert_eq!(HostSample::default().per_transaction(5, true), BTreeMap::new());
    let client = BTreeMap::from([("client_cpu_us".to_owned(), 20.0)]);
    assert_eq!(sample.per_transaction(10, false), client, "of a server elsewhere nothing is known");
}

#[test]
fn shares_are_of_all_processors_and_of_the_time_that_passed() {
    let sample = HostSample {
        cpu: Some(CpuTimes { idle_us: 1_000, ..cpu(2_000, 1_000) }),
        data: Some(Disk { busy_ms: 900, queue_ms: 2_500, ..Disk::default() }),
        ..HostSample::default()
    };
    let shares = sample.shares(Duration::from_secs(1));
    assert_eq!((shares["cpu_user"], shares["cpu_idle"], shares["cpu_steal"]), (0.5, 0.25, 0.0));
    assert_eq!((shares["data_busy"], shares["data_queue"]), (0.9, 2.5));
    assert!(!shares.contains_key("wal_busy"));
    assert_eq!(HostSample::default().shares(Duration::ZERO), BTreeMap::new());
}

#[test]
fn columns_are_those_of_the_file_whatever_is_known() {
    let full = HostSample {
        cpu: Some(cpu(1, 2)),
        data: Some(Disk::default()),
        wal: Some(Disk::default()),
        ..HostSample::default()
    };
    let names: Vec<&str> = HOST.iter().map(|column| column.name).collect();
    for sample in [full, HostSample::default()] {
        assert_eq!(sample.columns().into_iter().map(|c| c.0).collect::<Vec<_>>(), names);
        assert_eq!(sample.values().len(), names.len());
    }
}

fn watched(number: &str, flushes: &str) -> Option<Watched> {
    Some(Watched { number: number.to_owned(), flushes: Some(flushes.to_owned()) })
}

#[test]
fn nothing_is_counted_twice_where_data_and_log_share_a_device_or_a_disk() {
    let wal = |data, wal| HostMonitor::new(data, wal).wal_device;
    let data = || watched("8:1", "8:0");
    assert_eq!(wal(data(), data()), None);
    assert_eq!(wal(data(), watched("8:17", "8:16")), watched("8:17", "8:16"));
    let shared = wal(data(), watched("8:2", "8:0")).unwrap();
    assert_eq!((shared.number.as_str(), shared.flushes), ("8:2", None));
    assert_eq!(wal(None, data()), data());
}

#[test]
fn flushes_of_a_partition_are_those_of_its_disk() {
    let root = tempfile::tempdir().unwrap();
    let text = "8 0 sda 10 0 80 1 20 0 160 2 0 3 4 0 0 0 0 7 9\n\
                8 1 sda1 5 0 40 1 10 0 80 2 0 3 4 0 0 0 0 0 0\n";
    fs::write(root.path().join("diskstats"), text).unwrap();
    let mut monitor = HostMonitor::new(watched("8:1", "8:0"), None);
    monitor.proc_root = root.path().to_owned();
    let data = monitor.sample().data.unwrap();
    assert_eq!((data.reads, data.written_kib, data.flushes), (5, 40, Some(7)));
}

#[test]
fn this_machine_can_be_sampled() {
    let monitor = HostMonitor::new(None, None);
    let first = monitor.sample();
    assert!(first.cpu.is_some_and(|c| c.idle_us > 0) && first.context_switches > Some(0));
    assert!(first.dirty_kib.is_some() && first.major_faults.is_some());
    let mut sum = 0_u64;
    for i in 0..5_000_000_u64 {
        sum = std::hint::black_box(sum.wrapping_add(i));
    }
    let between = monitor.sample().since(&first);
    assert!(between.context_switches.is_some() && between.client_user_us.is_some());
}

#[test]
fn a_machine_without_proc_tells_nothing_and_breaks_nothing() {
    let empty = tempfile::tempdir().unwrap();
    let mut monitor = HostMonitor::new(watched("8:1", "8:1"), None);
    monitor.proc_root = empty.path().to_owned();
    assert_eq!(monitor.sample(), HostSample::default());
}

#[test]
fn results_hold_this_machine_and_only_storage_that_is_here() {
    assert!(machine().kernel.is_some() && machine().cpus >= Some(1));
    let here = tempfile::tempdir().unwrap();
    let storage = storage_of(here.path().to_str()).unwrap();
    assert!(storage.file_system.is_some_and(|name| !name.is_empty()));
    assert_eq!(storage_of(None), None);
    assert_eq!(storage_of(Some("/nonexistent/data")), None);
}

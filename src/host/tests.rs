//! Differences, per-transaction figures against published ones, and one look at the machine.

use super::*;

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
        let per = sample.per_transaction(counter(o)).unwrap();
        // half of the last digit of each published figure: the input, the divisor, the quotient
        let slack =
            |input: f64, quotient: f64, last: f64| (input + 0.5 * quotient) / o + 0.500_1 * last;
        let mut figures = vec![
            (per.reads, r_o, slack(0.05, r_o, 1e-3)),
            (per.read_kib, r_kb_o, slack(0.05 * 1024.0, r_kb_o, 1e-3)),
            (per.written_kib, w_kb_o, slack(0.05 * 1024.0, w_kb_o, 1e-3)),
        ];
        // The two insert rows as published divide switches and CPU by each other's rate
        // (1214563 / 115155 = 10.547); they are no reference for these two figures.
        if !line.starts_with("insert,") {
            figures.push((per.context_switches, cs_o, slack(0.5, cs_o, 1e-3)));
            let share = per.cpu_us.map(|us| us / 48.0 / 1e4);
            figures.push((share, cpu_o, slack(0.05, cpu_o, 1e-6)));
        }
        for (figure, published, tolerance) in figures {
            assert!(near(figure, published, tolerance), "{line}: {figure:?} is not {published}");
        }
        rows += 1;
        if rows == 1 {
            assert!(near(per.cpu_us, 267.5, 0.5), "267 to 268 us a statement: {per:?}");
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
    let per = sample.per_transaction(10).unwrap();
    assert_eq!((per.cpu_us, per.client_cpu_us), (Some(100.0), Some(20.0)));
    assert_eq!((per.reads, per.written_kib), (Some(2.0), Some(16.0)));
    assert_eq!(per.flushes, None, "half of a sum is not a sum");
    assert_eq!(per.context_switches, None);
    assert_eq!(sample.per_transaction(0), None);
    let unknown = HostSample::default().per_transaction(5).unwrap();
    assert_eq!(unknown, PerTransaction::default());
}

#[test]
fn columns_are_the_same_whatever_is_known() {
    let names = |s: &HostSample| s.columns().into_iter().map(|c| c.0).collect::<Vec<_>>();
    let full = HostSample {
        cpu: Some(cpu(1, 2)),
        data: Some(Disk::default()),
        wal: Some(Disk::default()),
        ..HostSample::default()
    };
    assert_eq!(names(&full), names(&HostSample::default()));
    let mut unique = names(&full);
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), full.columns().len());
    assert!(unique.iter().any(|n| n == "wal_written_kib"));
}

#[test]
fn a_log_on_the_datas_device_is_not_counted_twice() {
    let device = || Some("8:1".to_owned());
    assert_eq!(HostMonitor::new(device(), device()).wal_device, None);
    assert_eq!(
        HostMonitor::new(device(), Some("8:2".to_owned())).wal_device.as_deref(),
        Some("8:2")
    );
    assert_eq!(HostMonitor::new(None, device()).wal_device, device());
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
    let threads = monitor.threads();
    assert!(threads.iter().any(|t| t.cpu_us > 0), "{threads:?}");
    assert!(threads.iter().all(|t| t.id > 0));
}

#[test]
fn a_machine_without_proc_tells_nothing_and_breaks_nothing() {
    let empty = tempfile::tempdir().unwrap();
    let mut monitor = HostMonitor::new(Some("8:1".to_owned()), None);
    monitor.proc_root = empty.path().to_owned();
    assert_eq!(monitor.sample(), HostSample::default());
    assert_eq!(monitor.threads(), Vec::new());
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

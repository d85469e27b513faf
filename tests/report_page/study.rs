//! Results folders made from a seed: a study of two arms as dbload writes it, and hostile ones.

use std::fs;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use dbload::plan::Protocol;
use dbload::report::{HistogramLog, ResultFolder};
use dbload::result::comparison::{Comparison, LevelComparison};
use dbload::result::counters::{HostCounters, ServerCounters};
use dbload::result::environment::{self, Environment, Machine, Storage};
use dbload::result::run::{Failed, FailureSample, Script};
use dbload::result::summary::{Arm, Program, SCHEMA};
use dbload::result::{IntervalRow, LatencyMs, Run, Summary, Variance};
use dbload::stats::histogram::Histogram;
use dbload::stats::rounds;
use dbload::stats::series::IntervalCount;
use dbload::stats::verdict::{Better, Design, Rules, compare};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// What is made.
#[derive(Debug, Clone)]
pub(crate) struct Study {
    pub(crate) arms: Vec<String>,
    pub(crate) workloads: Vec<String>,
    pub(crate) levels: Vec<u32>,
    pub(crate) rounds: u32,
    pub(crate) seconds: u32,
    /// Latencies of a run.
    pub(crate) samples: u32,
    /// How much faster each arm is than the first.
    pub(crate) effect: f64,
    pub(crate) seed: u64,
    /// Arrivals per second, in an open loop.
    pub(crate) rate: Option<f64>,
    pub(crate) settings: Vec<(String, String)>,
    /// Counters of the server for each transaction; every second one moves under the last workload
    /// alone.
    pub(crate) counters: u32,
    pub(crate) warnings: Vec<String>,
}

impl Study {
    /// Two arms, three levels, five rounds: the second arm is faster.
    pub(crate) fn golden() -> Self {
        Self {
            arms: vec!["pg18/ext4".into(), "pg18/xfs".into()],
            workloads: vec!["tpcb-like".into()],
            levels: vec![2, 8, 32],
            rounds: 5,
            seconds: 60,
            samples: 20_000,
            effect: 0.06,
            seed: 1,
            rate: None,
            settings: vec![("shared_buffers".into(), "1GB".into())],
            counters: 0,
            warnings: vec![
                "the window of 60 s is under three checkpoint intervals (300 s): how many \
                 checkpoints fall into a run is chance; raise --duration to 15m"
                    .into(),
            ],
        }
    }

    /// Two workloads, of which the second alone writes, and a server with many counters.
    pub(crate) fn several() -> Self {
        Self {
            workloads: vec!["select-only".into(), "tpcb-like".into()],
            levels: vec![8],
            counters: 12,
            ..Self::golden()
        }
    }

    /// The same in an open loop: response times are twice the service times.
    pub(crate) fn with_rate() -> Self {
        Self { rate: Some(500.0), levels: vec![8], ..Self::golden() }
    }

    /// Names that try to be something else than text.
    pub(crate) fn hostile() -> Self {
        let markup = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>";
        Self {
            arms: vec![
                markup.into(),
                format!("\"quoted\" & 'single' `back` {}", "long-".repeat(60)),
                "数据库甲 مخدم \u{202e}txet 🐘".into(),
            ],
            workloads: vec![format!("{markup}.sql"), "负载 🚀 \"x\" onload=alert(1)".into()],
            levels: vec![1, 4],
            rounds: 2,
            seconds: 5,
            samples: 200,
            effect: -0.04,
            seed: 2,
            rate: None,
            settings: vec![(markup.into(), "'\"><b>{{ v }}{% raw %}".into())],
            counters: 0,
            warnings: vec![format!("{markup} & \"more\"")],
        }
    }

    /// The largest one that a page has to hold.
    pub(crate) fn large() -> Self {
        Self {
            arms: (0..8).map(|n| format!("pg{}/{}", 15 + n / 2, ["ext4", "xfs"][n % 2])).collect(),
            levels: vec![2, 4, 8, 16, 32, 64, 128],
            rounds: 8,
            samples: 2_000,
            ..Self::golden()
        }
    }

    /// Writes the folder.
    pub(crate) fn write(&self, folder: &Path) {
        let mut folder = ResultFolder::create(folder).expect("a new folder");
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let mut runs = Vec::new();
        let mut events = String::new();
        self.write_server(folder.path());
        for round in 1..=self.rounds {
            for workload in &self.workloads {
                for clients in &self.levels {
                    for arm in 0..self.arms.len() {
                        let place = Place { arm, round, workload, clients: *clients };
                        runs.push(self.run(&mut folder, &mut rng, &place, &mut events));
                    }
                }
            }
        }
        let summary = self.summary(runs);
        fs::write(folder.path().join("events.jsonl"), events).expect("events.jsonl");
        folder.write_plan("seed = 1\nwarmup_s = 10.0\n# </code><b>\n").expect("plan.toml");
        folder.write_environment(&self.environment()).expect("environment.json");
        for workload in &self.workloads {
            folder.write_script(workload, "\\set aid random(1, 100000)\nSELECT 1 < 2;\n").unwrap();
        }
        folder.write_summary(&summary).expect("summary.json");
    }

    /// `server.csv` with one counter that moves and one that does not.
    fn write_server(&self, folder: &Path) {
        let mut writer = csv::Writer::from_path(folder.join("server.csv")).expect("a file");
        let header = "arm,round,workload,clients,interval,at_s,length_s,wal_bytes,wal_bytes_delta,\
                      blocks_read,blocks_read_delta,waits";
        writer.write_record(header.split(',')).expect("a header");
        for round in 1..=self.rounds {
            for workload in &self.workloads {
                for clients in &self.levels {
                    for arm in &self.arms {
                        for second in 0..=self.seconds {
                            let (length, delta) = if second == 0 {
                                ("", String::new())
                            } else {
                                ("1", (second * 1024).to_string())
                            };
                            let (round, clients) = (round.to_string(), clients.to_string());
                            let second = second.to_string();
                            let row = [
                                arm,
                                &round,
                                workload,
                                &clients,
                                &second,
                                &second,
                                length,
                                "7",
                                &delta,
                                "5",
                                "0",
                                "running=1",
                            ];
                            writer.write_record(row).expect("a row");
                        }
                    }
                }
            }
        }
    }

    fn run(
        &self,
        folder: &mut ResultFolder,
        rng: &mut Xoshiro256PlusPlus,
        place: &Place<'_>,
        events: &mut String,
    ) -> Run {
        let name = &self.arms[place.arm];
        let start = UNIX_EPOCH + Duration::from_secs(1_790_000_000);
        let log =
            HistogramLog::create(folder, name, place.round, place.clients, place.workload, start)
                .expect("a log");
        let mut whole = Histogram::transactions();
        let mut counts = Vec::new();
        let faster = 1.0 + if place.arm == 0 { 0.0 } else { self.effect / place.arm as f64 };
        let clients = f64::from(place.clients);
        let base = 900.0 * clients / (1.0 + clients / 12.0) * faster * rng.random_range(0.98..1.02);
        let checkpoint_s = rng.random_range(5..self.seconds.max(10) - 4);
        for second in 0..self.seconds {
            let dips = (checkpoint_s..checkpoint_s + 4).contains(&second);
            let rate = base * rng.random_range(0.96..1.04) * if dips { 0.55 } else { 1.0 };
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate")]
            let transactions = rate as u64;
            let ms = 1000.0 * clients / rate;
            let row = row(name, place, second, transactions, ms);
            folder.append_interval(&self.in_loop(row)).unwrap();
            counts.push(IntervalCount { transactions, length_s: 1.0 });
        }
        for _ in 0..self.samples {
            // Most near the mean, a few sixty times as long.
            let tail = rng.random_range(0.0..1.0_f64).powi(-1).min(60.0);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time")]
            whole.record((1e9 * clients / base * (0.4 + tail * 0.25)) as u64);
        }
        log.write_table(folder, "service", &whole).expect("a table");
        if self.rate.is_some() {
            log.write_table(folder, "response", &whole).expect("a table");
        }
        let event = serde_json::json!({
            "arm": name, "round": place.round, "workload": place.workload, "clients": place.clients,
            "kind": "checkpoint", "subject": null, "start_s": checkpoint_s, "end_s": checkpoint_s + 4,
            "time": "2026-09-21T00:00:00Z", "count": 1, "text": null,
        });
        events.push_str(&format!("{event}\n"));
        self.run_of(place, &counts, &whole, log.name())
    }

    /// With a rate there are response times beside the service times.
    fn in_loop(&self, row: IntervalRow) -> IntervalRow {
        let twice = |ms: Option<f64>| ms.filter(|_| self.rate.is_some()).map(|ms| 2.0 * ms);
        IntervalRow {
            response_mean_ms: twice(row.latency_mean_ms),
            response_p50_ms: twice(row.latency_p50_ms),
            response_p95_ms: twice(row.latency_p95_ms),
            response_p99_ms: twice(row.latency_p99_ms),
            response_p99_9_ms: twice(row.latency_p99_9_ms),
            response_max_ms: twice(row.latency_max_ms),
            ..row
        }
    }

    fn run_of(
        &self,
        place: &Place<'_>,
        counts: &[IntervalCount],
        whole: &Histogram,
        log: String,
    ) -> Run {
        let transactions: u64 = counts.iter().map(|count| count.transactions).sum();
        let seconds = f64::from(self.seconds);
        let tps = transactions as f64 / seconds;
        let cost = 400.0 - 20.0 * place.arm as f64 + f64::from(place.clients);
        let per_txn = [
            ("cpu_us", cost),
            ("client_cpu_us", 31.5),
            ("written_kib", cost / 25.0),
            ("flushes", 1.5 / f64::from(place.clients)),
        ];
        let named = |values: &[(&str, f64)]| {
            values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
        };
        let code = self.settings[0].0.clone();
        Run {
            workload: place.workload.to_owned(),
            scale: Some(100),
            tables: None,
            table_size: None,
            workers: 1,
            worker_shares: Vec::new(),
            protocol: Protocol::Prepared,
            rate_per_s: self.rate,
            duration_s: seconds,
            asked_s: Some(seconds),
            asked_transactions: None,
            transactions,
            ci_tps: Some([tps * 0.99, tps * 1.01]),
            ess: Some(30.0),
            hlog: Some(log),
            latency_ms: LatencyMs::from(whole.summary()),
            response_ms: self.rate.map(|_| LatencyMs::from(whole.summary())),
            lag_ms: self.rate.map(|_| LatencyMs::from(whole.summary())),
            failed: Failed {
                total: u64::from(place.round == 1),
                by_code: [(code.clone(), u64::from(place.round == 1))].into(),
                samples: vec![FailureSample { code, text: self.warnings[0].clone() }],
            },
            retried: 0,
            retries: 0,
            clients_lost: 0,
            skipped: 0,
            late: None,
            unfinished: 0,
            queued_at_end: None,
            outages: vec![],
            statements_per_s: None,
            scripts: vec![Script {
                name: place.workload.to_owned(),
                weight: 1,
                source: "embedded".into(),
                file: format!("scripts/{}.sql", place.workload),
                sha256: "0".repeat(64),
                transactions,
                tps,
                failed: 0,
                retried: 0,
                retries: 0,
                latency_ms: LatencyMs::from(whole.summary()),
            }],
            statements: vec![],
            variance: Variance::of(counts),
            host: Some(HostCounters {
                same_machine: true,
                per_txn: named(&per_txn),
                ..HostCounters::default()
            }),
            server: self.server_counters(place),
            client_cpu_us_per_txn: Some(31.5),
            warnings: if place.round == 1 { self.warnings.clone() } else { vec![] },
            complete: true,
            unknown: vec![],
            ..Run::of_rate(&self.arms[place.arm], place.round, place.clients, tps)
        }
    }

    fn server_counters(&self, place: &Place<'_>) -> Option<ServerCounters> {
        let last = self.workloads.last().is_some_and(|last| last == place.workload);
        let moved = |n: u32| if last || n % 2 == 1 { f64::from(n) } else { 0.0 };
        let per_txn = (1..=self.counters).map(|n| (format!("counter_{n}"), moved(n))).collect();
        (self.counters > 0).then(|| ServerCounters { per_txn, ..ServerCounters::default() })
    }

    fn summary(&self, runs: Vec<Run>) -> Summary {
        let comparisons =
            self.workloads.iter().flat_map(|workload| self.compared(workload, &runs)).collect();
        let arm = |(index, name): (usize, &String)| Arm {
            name: name.clone(),
            target: format!("postgres://bench@127.0.0.1:{}/bench", 5432 + index),
            engine: "postgres".into(),
            transport: Some("tcp".into()),
            server_version: Some("PostgreSQL 18.1".into()),
            settings: self
                .settings
                .iter()
                .map(|(name, value)| {
                    (name.clone(), if index == 0 { value.clone() } else { format!("{value}!") })
                })
                .collect(),
            storage: self.environment().storage[name].clone(),
        };
        Summary {
            schema: SCHEMA.into(),
            dbload: Program {
                version: "0.1.0".into(),
                command_line: format!("dbload study plan.toml # {}", self.arms[0]),
            },
            seed: self.seed,
            plan_hash: "f".repeat(64),
            complete: true,
            warnings: self.warnings.clone(),
            arms: self.arms.iter().enumerate().map(arm).collect(),
            runs,
            comparisons,
            probes: Vec::new(),
            probe_comparisons: Vec::new(),
        }
    }

    fn compared(&self, workload: &str, runs: &[Run]) -> Vec<Comparison> {
        let arm = |name: &String| rounds::Arm {
            name: name.clone(),
            values: (1..=self.rounds)
                .map(|round| {
                    let of_level = |clients: &u32| {
                        let own = |run: &&Run| {
                            run.arm == *name
                                && run.round == round
                                && run.clients == *clients
                                && run.workload == workload
                        };
                        let run = runs.iter().find(own)?;
                        run.response_ms.map_or(Some(run.tps), |response| response.p99)
                    };
                    self.levels.iter().map(of_level).collect()
                })
                .collect(),
        };
        let arms: Vec<rounds::Arm> = self.arms.iter().map(arm).collect();
        let better = if self.rate.is_some() { Better::Lower } else { Better::Higher };
        let rules = Rules { design: Design::Interleaved, margin: 0.03, better };
        let results = compare(&self.levels, &arms[0], &arms[1..], rules);
        results
            .into_iter()
            .map(|one| Comparison {
                sentence: one.sentence(),
                baseline: one.baseline,
                arm: one.arm,
                workload: workload.to_owned(),
                metric: if self.rate.is_some() { "response_p99_ms" } else { "tps" }.into(),
                rounds: self.rounds,
                paired: one.paired,
                ratio: one.ratio.expect("a ratio"),
                ci_low: one.ci_low,
                ci_high: one.ci_high,
                p: one.p,
                p_holm: one.p_holm,
                verdict: one.verdict,
                margin: one.margin,
                mde: one.mde,
                rounds_needed: one.rounds_needed,
                levels: one
                    .levels
                    .into_iter()
                    .map(|level| LevelComparison {
                        clients: level.clients,
                        ratio: level.ratio.expect("a ratio"),
                        ci_low: level.ci_low,
                        ci_high: level.ci_high,
                        p: level.p,
                        p_holm: level.p_holm,
                    })
                    .collect(),
            })
            .collect()
    }

    fn environment(&self) -> Environment {
        let storage = |(index, name): (usize, &String)| {
            let kind = if name.contains("xfs") { "xfs" } else { "ext4" };
            let storage = Storage {
                data_dir: format!("/mnt/{index}/dbload-pg18"),
                mount_point: Some(format!("/mnt/{index}")),
                file_system: Some(kind.into()),
                mount_options: Some("rw,noatime".into()),
                device: Some(format!("/dev/nvme{index}n1")),
                scheduler: Some("none".into()),
                write_cache: Some("write back".into()),
                geometry: [("block size".to_owned(), "4096".to_owned())].into(),
            };
            (name.clone(), Some(storage))
        };
        Environment {
            schema: environment::SCHEMA.into(),
            machine: Machine {
                kernel: Some("Linux 6.12.0".into()),
                cpu: Some("A processor <with> \"quotes\"".into()),
                cpus: Some(16),
                memory_bytes: Some(68_719_476_736),
                governor: None,
            },
            storage: self.arms.iter().enumerate().map(storage).collect(),
        }
    }
}

/// Which run.
struct Place<'a> {
    arm: usize,
    round: u32,
    workload: &'a str,
    clients: u32,
}

fn row(arm: &str, place: &Place<'_>, second: u32, transactions: u64, ms: f64) -> IntervalRow {
    // As files have them: to the nanosecond.
    let latency = |factor: f64| Some((ms * factor * 1e6).round() / 1e6);
    IntervalRow {
        arm: arm.to_owned(),
        round: place.round,
        workload: place.workload.to_owned(),
        clients: place.clients,
        interval: second + 1,
        start_s: second.into(),
        length_s: 1.0,
        transactions,
        tps: transactions as f64,
        latency_mean_ms: latency(1.0),
        latency_p50_ms: latency(0.8),
        latency_p95_ms: latency(3.0),
        latency_p99_ms: latency(8.0),
        latency_p99_9_ms: latency(11.0),
        latency_max_ms: latency(12.0 + f64::from(second % 7)),
        ..IntervalRow::default()
    }
}

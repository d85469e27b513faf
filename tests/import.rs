//! What pgbench and sysbench printed, read back: `scripts/import-samples` made the samples with the
//! tools themselves, and the figures are compared with those in the text, found by other means.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::Path;

use dbload::import::{Imported, is_meant, parse};
use dbload::plan::Protocol;

fn sample(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/import").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn samples() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/import");
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert!(names.len() >= 12, "{names:?}");
    names.into_iter().map(|name| (name.clone(), sample(&name))).collect()
}

#[track_caller]
fn runs(text: &str) -> Vec<Imported> {
    assert!(is_meant(text), "{text}");
    parse(text, "one").unwrap()
}

#[track_caller]
fn only(name: &str) -> (Imported, String) {
    let text = sample(name);
    let mut runs = runs(&text);
    assert_eq!(runs.len(), 1, "{name}");
    (runs.remove(0), text)
}

/// The first number after `before` in the text.
#[track_caller]
fn printed(text: &str, before: &str) -> f64 {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("no {before:?} in {text}"));
    let rest = rest.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    rest[..end].parse().unwrap_or_else(|_| panic!("no number after {before:?}"))
}

#[track_caller]
fn close(found: f64, wanted: f64) {
    assert!((found - wanted).abs() <= 1e-6 * wanted.abs().max(1.0), "{found} in place of {wanted}");
}

#[test]
fn every_report_of_pgbench_gives_what_it_printed() {
    for (name, workload) in [
        ("pgbench-14-progress.txt", "tpcb-like"),
        ("pgbench-14-connect.txt", "select-only"),
        ("pgbench-15-progress.txt", "tpcb-like"),
        ("pgbench-15-counted.txt", "select-only"),
        ("pgbench-16-connect.txt", "select-only"),
        ("pgbench-16-timestamp.txt", "tpcb-like"),
        ("pgbench-17-limit.txt", "simple-update"),
        ("pgbench-18-failures.txt", "serializable"),
        ("pgbench-18-scripts.txt", "tpcb-like+select-only+simple-update"),
    ] {
        let (Imported { tool, run, intervals }, text) = only(name);
        assert_eq!(tool, format!("pgbench {}", &text[9..].split(')').next().unwrap()));
        assert_eq!((run.arm.as_str(), run.round, run.workload.as_str()), ("one", 1, workload));
        close(run.tps, printed(&text, "\ntps = "));
        close(run.clients.into(), printed(&text, "number of clients:"));
        close(run.workers.into(), printed(&text, "number of threads:"));
        #[expect(clippy::cast_precision_loss, reason = "small counts")]
        let (transactions, failed) = (run.transactions as f64, run.failed.total as f64);
        close(transactions, printed(&text, "actually processed:"));
        // 14 does not count failures: they end its clients.
        assert_eq!(run.knows("failed"), !name.contains("-14-"));
        if run.knows("failed") {
            close(failed, printed(&text, "number of failed transactions:"));
        }
        close(run.latency_ms.mean.unwrap(), printed(&text, "latency average ="));
        assert_eq!(
            run.latency_ms.stddev,
            text.contains("latency stddev").then(|| printed(&text, "latency stddev ="))
        );
        assert_eq!(run.latency_ms.p95, None, "pgbench prints no quantile");
        let connects = "average connection time =";
        assert_eq!(
            run.connect_ms.map(|connect| connect.mean.unwrap()),
            text.contains(connects).then(|| printed(&text, connects))
        );
        assert_eq!(run.asked_s, text.contains("duration:").then(|| printed(&text, "duration:")));
        close(run.duration_s * run.tps, transactions);
        let scale = (workload != "serializable").then_some(2);
        assert_eq!(run.scale, scale, "{name}");
        assert!(run.complete && run.rate_per_s.is_none() && run.knows("rate_per_s"));
        assert!(run.knows("protocol") && !run.knows("unfinished"));
        assert_eq!(run.knows("variance"), !intervals.is_empty());
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("progress")).collect();
        assert_eq!(intervals.len(), lines.len(), "{name}");
        for (row, line) in intervals.iter().zip(lines) {
            close(row.tps, printed(line, " s, "));
            close(row.latency_mean_ms.unwrap(), printed(line, "lat "));
            assert!((row.length_s - 1.0).abs() < 0.05, "{row:?}");
            assert_eq!((row.clients, row.arm.as_str()), (run.clients, "one"));
        }
    }
}

#[test]
fn the_modes_and_lengths_of_pgbench_are_told_apart() {
    let (counted, _) = only("pgbench-15-counted.txt");
    assert_eq!(counted.run.protocol, Protocol::Extended);
    assert_eq!((counted.run.asked_transactions, counted.run.asked_s), (Some(500), None));
    assert_eq!(only("pgbench-16-timestamp.txt").0.run.protocol, Protocol::Prepared);
    let (limit, text) = only("pgbench-17-limit.txt");
    assert!(text.contains("limit: 593/3278"), "another sample");
    assert_eq!(limit.run.late, Some(593));
    let (aborted, text) = only("pgbench-18-aborted.txt");
    assert!(!aborted.run.complete);
    assert_eq!(aborted.run.clients_lost, 4);
    assert_eq!(aborted.run.workload, "fails");
    close(aborted.run.tps, printed(&text, "\ntps = "));
}

#[test]
fn with_a_rate_the_latency_is_a_response_time_and_the_rate_is_not_known() {
    let (Imported { run, intervals, .. }, text) = only("pgbench-17-rate.txt");
    let (response, lag) = (run.response_ms.unwrap(), run.lag_ms.unwrap());
    close(response.mean.unwrap(), printed(&text, "latency average ="));
    close(response.stddev.unwrap(), printed(&text, "latency stddev ="));
    close(lag.mean.unwrap(), printed(&text, "schedule lag: avg"));
    close(lag.max.unwrap(), printed(&text, "(max"));
    assert_eq!((run.rate_per_s, run.knows("rate_per_s")), (None, false));
    assert_eq!((run.latency_ms.mean, run.knows("latency_ms")), (None, false));
    assert!(text.contains("skipped: 5 (") && text.contains("limit: 232/903"), "another sample");
    assert_eq!((run.skipped, run.late), (5, Some(232)));
    let skipped: Vec<u64> = intervals.iter().map(|row| row.skipped).collect();
    assert_eq!(skipped, [3, 0, 2]);
    close(intervals[1].response_mean_ms.unwrap(), 3.019);
    close(intervals[1].lag_mean_ms.unwrap(), 0.387);
    assert_eq!(intervals[1].latency_mean_ms, None);
}

#[test]
fn statements_failures_and_retries_are_those_of_pgbench() {
    let (Imported { run, intervals, .. }, text) = only("pgbench-18-failures.txt");
    assert!(text.contains("UPDATE pgbench_tellers") && text.contains("3172"), "another sample");
    assert_eq!((run.failed.total, run.retried, run.retries), (3079, 4038, 4038));
    assert_eq!((run.failed.by_code["40001"], run.failed.by_code["40P01"]), (3079, 0));
    assert_eq!((intervals[0].failed, intervals[0].retries), (1126, 1459));
    let update = &run.statements[3];
    assert_eq!((update.n, update.failed, update.retries), (4, 2447, 3172));
    assert_eq!(update.latency_ms.mean, Some(0.413));
    assert!(update.text.starts_with("UPDATE pgbench_tellers"), "{update:?}");
    assert!(!run.knows("statements.count"));

    let (progress, text) = only("pgbench-15-progress.txt");
    let (_, listed) = text.split_once("and failures:\n").unwrap();
    assert_eq!(progress.run.statements.len(), listed.lines().count());
    for (statement, line) in progress.run.statements.iter().zip(listed.lines()) {
        assert!(line.ends_with(&statement.text), "{line}");
        close(statement.latency_ms.mean.unwrap(), printed(line, ""));
        assert_eq!((statement.script.as_str(), statement.failed), ("tpcb-like", 0));
    }
}

#[test]
fn each_script_of_several_has_its_figures() {
    let (Imported { run, .. }, text) = only("pgbench-18-scripts.txt");
    let names = ["tpcb-like", "select-only", "simple-update"];
    let sections: Vec<&str> = text.split("SQL script ").skip(1).collect();
    assert_eq!(run.scripts.len(), 3);
    for ((script, name), section) in run.scripts.iter().zip(names).zip(sections) {
        assert_eq!(script.name, name);
        #[expect(clippy::cast_precision_loss, reason = "small counts")]
        let (weight, transactions) = (script.weight as f64, script.transactions as f64);
        close(weight, printed(section, "weight:"));
        close(transactions, printed(section, "actually processed:"));
        close(script.tps, printed(section, "(tps ="));
        close(script.latency_ms.mean.unwrap(), printed(section, "latency average ="));
        close(script.latency_ms.stddev.unwrap(), printed(section, "latency stddev ="));
    }
    let of = |name: &str| run.statements.iter().filter(|s| s.script == name).count();
    assert_eq!((of("tpcb-like"), of("select-only"), of("simple-update")), (11, 2, 9));
    assert_eq!(run.statements[11].n, 1, "numbers begin anew");
}

#[test]
fn a_loop_gives_each_of_its_runs() {
    let text = sample("pgbench-18-loop.txt");
    let found = runs(&text);
    let clients: Vec<u32> = found.iter().map(|imported| imported.run.clients).collect();
    assert_eq!(clients, [1, 2, 4]);
    let tps: Vec<f64> = found.iter().map(|imported| imported.run.tps).collect();
    let wanted: Vec<f64> = text.split("\ntps").skip(1).map(|rest| printed(rest, " = ")).collect();
    assert_eq!(tps, wanted);
    // Again: the second round.
    let twice = runs(&format!("{text}\n{text}"));
    let rounds: Vec<u32> = twice.iter().map(|imported| imported.run.round).collect();
    assert_eq!(rounds, [1, 1, 1, 2, 2, 2]);

    let text = sample("sysbench-pgsql-loop.txt");
    let found = runs(&text);
    assert_eq!(found.len(), 2);
    close(found[1].run.tps, printed(text.rsplit_once("transactions:").unwrap().1, "("));
    let both = format!("{}{text}", sample("pgbench-18-loop.txt"));
    assert_eq!(runs(&both).len(), 5, "of two tools in one file");
}

#[test]
fn an_aggregate_log_gives_exact_counts_but_its_last_interval() {
    for (name, is_open) in [("pgbench-15-aggregate.log", false), ("pgbench-18-aggregate.log", true)]
    {
        let (Imported { run, intervals, .. }, text) = only(name);
        let rows: Vec<Vec<u64>> = text
            .lines()
            .map(|line| line.split(' ').map(|word| word.parse().unwrap()).collect())
            .collect();
        let whole = &rows[..rows.len() - 1];
        assert_eq!(intervals.len(), whole.len());
        let sum = |column: usize| whole.iter().map(|row| row[column]).sum::<u64>();
        assert_eq!(run.transactions, sum(1));
        assert_eq!(run.skipped, sum(10));
        for (interval, row) in intervals.iter().zip(whole) {
            assert_eq!((interval.transactions, interval.skipped), (row[1], row[10]));
            #[expect(clippy::cast_precision_loss, reason = "microseconds")]
            let (mean, max) = (row[2] as f64 / row[1] as f64 / 1000.0, row[5] as f64 / 1000.0);
            let (found_mean, found_max) = match is_open {
                true => (interval.response_mean_ms, interval.response_max_ms),
                false => (interval.latency_mean_ms, interval.latency_max_ms),
            };
            close(found_mean.unwrap(), mean);
            close(found_max.unwrap(), max);
        }
        assert!(!run.knows("clients") && !run.knows("workload"));
        assert_eq!(run.response_ms.is_some(), is_open);
        assert!(run.warnings[0].contains("last interval"), "{:?}", run.warnings);
        let latency = run.response_ms.unwrap_or(run.latency_ms);
        assert!(latency.stddev.unwrap() > 0.0 && latency.min < latency.mean);
    }
}

#[test]
fn every_report_of_sysbench_gives_what_it_printed() {
    for name in [
        "sysbench-pgsql-intervals.txt",
        "sysbench-mysql-intervals.txt",
        "sysbench-mysql-histogram.txt",
        "sysbench-mysql-events.txt",
        "sysbench-mysql-rate.txt",
        "sysbench-mysql-errors.txt",
    ] {
        let (Imported { tool, run, intervals }, text) = only(name);
        assert_eq!(tool, "sysbench 1.0.20");
        let (_, transactions) = text.split_once("    transactions:").unwrap();
        close(run.tps, printed(transactions, "("));
        #[expect(clippy::cast_precision_loss, reason = "small counts")]
        let (count, retries) = (run.transactions as f64, run.retries as f64);
        close(count, printed(transactions, ""));
        close(retries, printed(&text, "ignored errors:"));
        close(run.duration_s, printed(&text, "total time:"));
        close(run.clients.into(), printed(&text, "Number of threads:"));
        let rates = run.statements_per_s.unwrap();
        for (rate, kind) in [
            (rates.read, "read:"),
            (rates.write, "write:"),
            (rates.other, "other:"),
            (rates.total, "total:"),
        ] {
            close(rate * run.duration_s, printed(&text, kind));
        }
        assert_eq!(run.rate_per_s, name.contains("rate").then_some(100.0));
        let latency = match run.response_ms {
            Some(response) => {
                assert!(name.contains("rate"));
                response
            }
            None => run.latency_ms,
        };
        for (figure, key) in [(latency.min, "min:"), (latency.mean, "avg:"), (latency.max, "max:")]
        {
            close(figure.unwrap(), printed(&text, key));
        }
        let quantile =
            if name.contains("histogram") { (latency.p99, "99th") } else { (latency.p95, "95th") };
        close(quantile.0.unwrap(), printed(&text, &format!("{} percentile:", quantile.1)));
        assert!(run.workload.is_empty() && !run.knows("workload") && !run.knows("protocol"));
        let lines: Vec<&str> = text.lines().filter(|line| line.contains(" thds: ")).collect();
        assert_eq!(intervals.len(), lines.len());
        for (row, line) in intervals.iter().zip(lines) {
            close(row.tps, printed(line, "tps:"));
            close(row.length_s, 1.0);
            let p95 = row.latency_p95_ms.or(row.response_p95_ms);
            close(p95.unwrap(), printed(line, "95%):"));
        }
    }
}

#[test]
fn quantiles_come_from_the_histogram_where_sysbench_names_no_other() {
    let (Imported { run, .. }, text) = only("sysbench-mysql-histogram.txt");
    let (_, histogram) = text.split_once("count\n").unwrap();
    let buckets: Vec<(f64, u64)> = histogram
        .lines()
        .take_while(|line| line.contains('|'))
        .map(|line| {
            let (value, rest) = line.split_once('|').unwrap();
            (value.trim().parse().unwrap(), rest.rsplit(' ').next().unwrap().parse().unwrap())
        })
        .collect();
    let total: u64 = buckets.iter().map(|bucket| bucket.1).sum();
    assert_eq!(total, run.transactions);
    let median = run.latency_ms.p50.unwrap();
    let below: u64 = buckets.iter().filter(|b| b.0 < median).map(|b| b.1).sum();
    let upto: u64 = buckets.iter().filter(|b| b.0 <= median).map(|b| b.1).sum();
    assert!(below <= total / 2 && upto >= total / 2, "{median}: {below}..{upto} of {total}");
    let figures = [run.latency_ms.p50, run.latency_ms.p90, run.latency_ms.p95];
    assert!(figures.is_sorted() && figures[2] <= run.latency_ms.p99, "{figures:?}");
}

/// 13 cannot be had here as a program: its lines, by its documentation.
#[test]
fn the_oldest_reports_of_pgbench_are_read() {
    let text = "starting vacuum...end.\n\
        progress: 1.0 s, 500.5 tps, lat 1.998 ms stddev 0.5\n\
        transaction type: <builtin: TPC-B (sort of)>\nscaling factor: 10\nquery mode: simple\n\
        number of clients: 10\nnumber of threads: 1\nnumber of transactions per client: 1000\n\
        number of transactions actually processed: 10000/10000\nlatency average = 11.013 ms\n\
        latency stddev = 7.351 ms\n\
        tps = 896.967014 (including connections establishing)\n\
        tps = 898.549018 (excluding connections establishing)\n\
        statement latencies in milliseconds:\n         0.002  \\set aid random(1, 100000)\n\
        \x20        1.371  END;\n";
    let found = runs(text);
    let [Imported { tool, run, intervals }] = &found[..] else { panic!("{found:?}") };
    assert_eq!(tool, "pgbench");
    close(run.tps, 898.549_018);
    assert_eq!((run.clients, run.transactions, run.scale), (10, 10_000, Some(10)));
    assert_eq!(run.latency_ms.stddev, Some(7.351));
    assert!(!run.knows("failed"));
    assert_eq!((intervals.len(), run.statements.len()), (1, 2));
    assert_eq!(run.statements[1].text, "END;");
    assert_eq!(run.statements[1].latency_ms.mean, Some(1.371));
}

#[test]
fn what_is_cut_off_is_refused_with_the_line_that_its_run_begins_in() {
    for (name, text) in samples() {
        if name.ends_with(".log") || name.contains("loop") {
            continue;
        }
        let end = ["tps = ", "         sum: "].iter().find_map(|last| text.find(last)).unwrap();
        for (at, _) in text.match_indices('\n').take_while(|(at, _)| *at < end) {
            let cut = &text[..at];
            if !is_meant(cut) {
                continue;
            }
            let error = parse(cut, "a").unwrap_err();
            assert_eq!(error.line, 1, "{name}: {error}");
            let words = ["cut off", "failed"];
            assert!(words.iter().any(|word| error.why.contains(word)), "{name}: {error}");
        }
    }
    let whole = sample("pgbench-18-loop.txt");
    let third = whole.rfind("pgbench (18").unwrap();
    let error = parse(&whole[..third + 300], "a").unwrap_err();
    let line = 1 + whole[..third].matches('\n').count() as u64;
    assert_eq!(error.line, line, "{error}");
}

#[test]
fn what_is_damaged_is_refused_with_its_line() {
    for (name, from, to) in [
        ("pgbench-15-progress.txt", "1193.0 tps", "11x3.0 tps"),
        ("pgbench-15-progress.txt", "3.351 ms stddev 2.955, 0 failed", "3.3"),
        ("pgbench-15-progress.txt", "progress: 2.0 s", "progress: 1.0 s"),
        ("pgbench-15-progress.txt", "number of clients: 4", "number of clients: many"),
        ("pgbench-15-progress.txt", "mode: simple", "mode: simp"),
        ("pgbench-15-progress.txt", "processed: 3723", "processed: -3723"),
        ("pgbench-15-progress.txt", "average = 3.206 ms", "average = 3.206"),
        ("pgbench-15-progress.txt", "tps = 1245.110941", "tps = 1245.11.0941"),
        ("pgbench-17-rate.txt", "avg 0.379 (max 8.473) ms", "avg 0.379"),
        ("pgbench-18-failures.txt", "1126 failed", "1126 fa"),
        ("pgbench-15-aggregate.log", "1796100117 770", "1796100117 x"),
        ("pgbench-15-aggregate.log", "1796100117 770", "1796100118 770"),
        ("pgbench-15-aggregate.log", "811 16044 0 0", "811 16044 0"),
        ("pgbench-15-aggregate.log", "811 16044", "16044 811"),
        ("sysbench-mysql-intervals.txt", "tps: 367.93", "tps: 3 7.93"),
        ("sysbench-mysql-intervals.txt", "12.08 err/s: 1.00 reconn/s: 0.00\n[ 2s", "12.08\n[ 2s"),
        ("sysbench-mysql-intervals.txt", "[ 2s ]", "[ 1s ]"),
        ("sysbench-mysql-intervals.txt", "read:                            15806", "read: x"),
        ("sysbench-mysql-intervals.txt", "(375.01 per sec.)", "(375"),
        ("sysbench-mysql-intervals.txt", "3.0037s", "3.0037"),
        ("sysbench-mysql-histogram.txt", "0.089 |", "0.0x9 |"),
        ("sysbench-mysql-rate.txt", "rate: 100/sec", "rate: 100"),
    ] {
        let text = sample(name);
        assert!(text.contains(from), "{name} holds no {from:?}");
        let damaged = text.replacen(from, to, 1);
        let at = text.find(from).unwrap();
        let line = 1 + text[..at].matches('\n').count() as u64;
        let error = parse(&damaged, "a").unwrap_err();
        assert_eq!(error.line, line, "{name}, {to:?}: {error}");
        assert!(error.to_string().starts_with(&format!("line {line}: ")), "{error}");
    }
}

#[test]
fn other_texts_are_not_meant() {
    for text in [
        "",
        "\n\n",
        "arm,round,clients,tps\na,1,1,2\n",
        "1 2 3\n",
        "postgres (18.3)\nprogress is slow\n",
        "sysbench: command not found\n",
        "{\"schema\": \"dbload/summary/1\"}",
    ] {
        assert!(!is_meant(text), "{text:?}");
        assert_eq!(parse(text, "a").unwrap_err().line, 1);
    }
    let failed = "pgbench (18.3)\npgbench: error: connection to server failed\n";
    let error = parse(failed, "a").unwrap_err();
    assert_eq!(error.line, 1);
    let fatal = "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\nNumber of threads: 1\n\
                 FATAL: unable to connect\n";
    let error = parse(fatal, "a").unwrap_err();
    assert!(error.line == 4 && error.why.contains("unable to connect"), "{error}");
}

//! `dbload compare`: files in, ratios and exit codes out.

#![expect(clippy::unwrap_used, reason = "a file that cannot be written is a failed test")]

mod common;

use std::fs;
use std::path::Path;

use common::program::{Ended, Place};

/// The published comparison of two file systems: one arm after the other.
const SEED: &str = include_str!("data/seed_pgbench_ext4_xfs.csv");

/// Runs `dbload compare` on a CSV file.
fn compare(csv: &str, more: &[&str]) -> Ended {
    let place = Place::new();
    fs::write(place.path("x.csv"), csv).unwrap();
    place.dbload(&[&["compare", "x.csv"], more].concat())
}

/// Rounds in which `b` has `ratio` of the throughput of `a`, interleaved, a little noisy.
fn interleaved(rounds: u32, ratio: f64) -> String {
    let mut csv = "arm,round,clients,tps\n".to_owned();
    for round in 1..=rounds {
        let noise = 1.0 + 0.003 * f64::from(round % 3);
        csv.push_str(&format!("a,{round},4,1000\nb,{round},4,{}\n", 1000.0 * ratio * noise));
    }
    csv
}

#[test]
fn the_published_comparison_gets_its_figures_and_no_verdict() {
    let ended = compare(SEED, &[]).expect_code(0);
    for line in [
        "      2  1.0933  0.9911  1.2061  0.0698  0.2793",
        "      4  0.9790  0.8568  1.1186  0.7268  1.0000",
        "      8  1.0180  0.9268  1.1181  0.6720  1.0000",
        "     16  1.0694  1.0193  1.1220  0.0145  0.0868",
        "     32  1.0872  1.0257  1.1523  0.0120  0.0841",
        "     64  1.0971  1.0235  1.1760  0.0190  0.0952",
        "    128  1.0411  0.9690  1.1187  0.2358  0.7075",
        "    all  1.0542  1.0073  1.1033  0.0280  0.0280",
        "Not interleaved: arms were run one after the other: time drift cannot be told",
        "xfs against ext4, no verdict: the arms were run one after the other; ratio",
    ] {
        assert!(ended.stdout.lines().any(|found| found == line), "no {line:?}\n{ended}");
    }
    for word in ["faster", "slower", "equivalent"] {
        assert!(!ended.output().contains(word), "a verdict: {word}\n{ended}");
    }
    assert!(ended.stderr.contains("warning: ext4 rose by 2.0 % a round"), "{ended}");
    assert!(!ended.stderr.contains("xfs rose"), "{ended}");
    // What a CSV file does not tell is not shown as if it were 0.
    for unknown in ["failed", "p99", "seed", "closed loop", "stalled"] {
        assert!(!ended.stdout.contains(unknown), "{unknown}\n{ended}");
    }
}

#[test]
fn rows_of_a_round_together_are_pairs_and_get_a_verdict() {
    let ended = compare(&interleaved(6, 1.1), &[]).expect_code(0);
    assert!(ended.stdout.contains("b against a: faster by 10.3 %"), "{ended}");
    let ended = compare(&interleaved(6, 1.1), &["--baseline", "b"]).expect_code(0);
    assert!(ended.stdout.contains("a against b: slower by 9.4 %"), "{ended}");
    // The same rows sorted by arm are no pairs any more.
    let csv = interleaved(6, 1.1);
    let (head, rows) = csv.split_once('\n').unwrap();
    let mut rows: Vec<&str> = rows.lines().collect();
    rows.sort_unstable();
    let ended = compare(&format!("{head}\n{}\n", rows.join("\n")), &[]).expect_code(0);
    assert!(
        ended.stdout.contains("Not interleaved") && !ended.stdout.contains("faster"),
        "{ended}"
    );
}

#[test]
fn a_condition_that_holds_is_exit_code_3() {
    let slow = interleaved(6, 0.9);
    for (csv, condition, code) in [
        (&slow, "slower>5%", 3),
        (&slow, "slower>9.5%", 0),
        (&slow, "slower > 20%", 0),
        (&slow, "different>5%", 3),
        (&slow, "faster", 0),
        (&slow, "slower", 3),
        // One round has no interval: nothing is decided, and that is no success.
        (&interleaved(1, 0.5), "slower>5%", 1),
    ] {
        let ended = compare(csv, &["--fail-if", condition]).expect_code(code);
        assert!(ended.stderr.contains(&format!("--fail-if {condition}")), "{ended}");
    }
    let open = compare(SEED, &["--fail-if", "faster>5%"]).expect_code(0);
    assert!(open.stderr.contains("was not shown, and is not excluded either"), "{open}");
    compare(&slow, &["--fail-if", "slower<5%"]).expect_refusal(&["slower<5%", "'slower>5%'"]);
}

#[test]
fn damaged_files_are_refused_with_their_line() {
    compare("fs,round,clients,tps\na,1,2,3\nb,1,2\n", &[]).expect_refusal(&["x.csv, line 3", "3"]);
    compare("fs,round,clients,tps\na,1,2,fast\n", &[]).expect_refusal(&["line 2", "\"fast\""]);
    compare("a,b\n1,2\n", &[]).expect_refusal(&["neither a results folder", "a,b"]);
    compare("fs,round,clients,tps\na,1,2,3\n", &[]).expect_refusal(&["one arm, a"]);
    compare(SEED, &["--baseline", "btrfs"]).expect_refusal(&["btrfs", "ext4, xfs"]);
    let place = Place::new();
    fs::write(place.path("x.csv"), b"fs,round,clients,tps\na,1,2,3\n\xff\xfe,1,2,3\n").unwrap();
    place.dbload(&["compare", "x.csv"]).expect_refusal(&["x.csv, line 3", "UTF-8"]);
    place.dbload(&["compare", "nowhere"]).expect_refusal(&["nowhere"]);
}

/// The numbers are those of the published table; `docs/output.md` has the columns.
#[test]
fn ratios_are_printed_as_csv_and_as_markdown() {
    for (option, name) in [("--csv", "seed_as_csv"), ("--markdown", "seed_as_markdown")] {
        let ended = compare(SEED, &[option]).expect_code(0);
        insta::assert_snapshot!(name, ended.stdout);
    }
}

#[test]
fn a_page_is_written_where_it_is_asked_for() {
    let place = Place::new();
    fs::write(place.path("x.csv"), SEED).unwrap();
    let ended = place.dbload(&["compare", "x.csv", "--html", "x.html"]).expect_code(0);
    assert!(ended.stderr.contains("page: x.html"), "{ended}");
    let page = fs::read_to_string(place.path("x.html")).unwrap();
    assert!(page.contains("1.0542") && page.contains("one after the other"));
}

/// A results folder of one run on SQLite.
fn run(place: &Place, out: &str, more: &[&str]) {
    let args = ["run", "--target", "sqlite:db", "--init", "--out", out, "--no-monitor"];
    place.dbload(&[&args, more].concat()).expect_code(0);
}

#[test]
fn folders_are_compared_and_loads_that_differ_are_refused() {
    let place = Place::new();
    let load = ["--scale", "1", "-t", "20", "-c", "1,2", "--seed", "1"];
    run(&place, "one", &load);
    run(&place, "two", &load);
    // Both arms are called sqlite: the folders tell them apart.
    let ended = place.dbload(&["compare", "one", "two"]).expect_code(0);
    assert!(ended.stdout.contains("two against one"), "{ended}");
    assert!(ended.stdout.contains("no verdict"), "{ended}");
    let ended = place.dbload(&["compare", "old=one", "new=two"]).expect_code(0);
    assert!(ended.stdout.contains("new against old"), "{ended}");
    run(&place, "more", &["--scale", "1", "-t", "30", "-c", "1,4", "-M", "simple"]);
    let refused = place.dbload(&["compare", "one", "more"]);
    let refused = refused.expect_refusal(&["one has 20 transactions", "more has 30 transactions"]);
    assert!(refused.stderr.contains("protocol: one has prepared, more has simple"), "{refused}");
    let forced = place.dbload(&["compare", "one", "more", "--force"]).expect_code(0);
    assert!(forced.stderr.contains("compared with --force: protocol"), "{forced}");
    assert!(forced.stderr.contains("with so many clients: 2, 4"), "{forced}");
    run(&place, "select", &["--scale", "1", "-t", "20", "-c", "1", "-S"]);
    place.dbload(&["compare", "one", "select"]).expect_refusal(&["tpcb-like", "select-only"]);
    place.dbload(&["compare", "one", "select", "--force"]).expect_code(0);
}

#[test]
fn runs_of_folders_that_were_measured_in_turn_are_pairs() {
    let place = Place::new();
    let mut args = vec!["compare".to_owned()];
    for round in 1..=5 {
        for arm in ["a", "b"] {
            let out = format!("{arm}{round}");
            run(&place, &out, &["--scale", "1", "-t", "20", "-S"]);
            args.push(format!("{arm}={out}"));
        }
    }
    let ended = place.dbload(&args).expect_code(0);
    assert!(!ended.output().contains("one after the other"), "{ended}");
    assert!(!ended.stdout.contains("no verdict"), "{ended}");
    // In another order on the command line: the files know when they were measured.
    args[1..].sort_unstable();
    let ended = place.dbload(&args).expect_code(0);
    assert!(!ended.output().contains("one after the other"), "{ended}");
    assert!(!ended.stdout.contains("no verdict"), "{ended}");
}

#[test]
fn outputs_of_other_tools_are_told_by_their_content() {
    let place = Place::new();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/import");
    for (sample, name) in [
        ("pgbench-18-loop.txt", "old.log"),
        ("pgbench-18-loop.txt", "new"),
        ("pgbench-15-aggregate.log", "log"),
        ("pgbench-18-failures.txt", "failures"),
    ] {
        fs::copy(samples.join(sample), place.path(name)).unwrap();
    }
    let ended = place.dbload(&["compare", "old.log", "new"]).expect_code(0);
    assert!(ended.stdout.contains("new / old, tps"), "{ended}");
    assert!(ended.stdout.contains("all  1.0000"), "{ended}");
    let ended = place.dbload(&["report", "-r", "failures", "log"]).expect_code(0);
    assert!(ended.stdout.contains("serializable, simple protocol"), "{ended}");
    // What pgbench does not count is not 0.
    let row = ended.stdout.lines().find(|line| line.starts_with("4      -     -   2,447"));
    assert!(row.is_some(), "{ended}");
    assert!(ended.stdout.contains("an unknown number of clients"), "{ended}");
    assert!(place.path("failures.html").is_file() && place.path("log.html").is_file());

    let text = fs::read_to_string(place.path("new")).unwrap();
    fs::write(place.path("cut"), &text[..text.rfind("latency stddev").unwrap()]).unwrap();
    let line = 1 + text[..text.rfind("pgbench (").unwrap()].matches('\n').count();
    place.dbload(&["report", "cut"]).expect_refusal(&["cut", &format!("line {line}"), "cut off"]);
}

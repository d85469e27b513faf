//! The quick start: embedded SQLite, no server.

mod common;

use std::path::Path;

use common::program::Place;
use common::results::number;
use common::wait_until;

fn count(file: &Path, sql: &str) -> i64 {
    let database = rusqlite::Connection::open(file).expect("a database file");
    database.query_row(sql, [], |row| row.get(0)).expect("a number")
}

/// Runs dbload with arguments written as on a command line.
fn dbload(place: &Place, args: &str) -> common::program::Ended {
    place.dbload(&args.split_whitespace().collect::<Vec<_>>())
}

#[test]
fn the_first_command_loads_measures_and_names_the_results() {
    let place = Place::new();
    let ended = dbload(&place, "run --init --scale 1 --clients 1,2 --duration 1s").expect_code(0);
    let results = ended.results();
    results.assert_consistent();
    assert_eq!(results.levels(), [1, 2]);
    assert_eq!(results.summary["complete"], true);
    assert_eq!(results.summary["arms"][0]["engine"], "sqlite");
    for run in results.runs() {
        assert!(number(run, "transactions") > 0, "{run}");
        assert_eq!(run["workload"], "tpcb-like");
    }
    for word in ["tps", "p99", "cv", "stall"] {
        assert!(ended.stdout.contains(word), "no {word} in the table\n{ended}");
    }
    assert!(!ended.output().contains('\u{1b}'), "escape codes without a terminal");
    let file = place.path("dbload.sqlite");
    assert_eq!(count(&file, "SELECT count(*) FROM pgbench_accounts"), 100_000);
    assert_eq!(count(&file, "SELECT count(*) FROM pgbench_tellers"), 10);
    assert_eq!(count(&file, "SELECT count(*) FROM pgbench_branches"), 1);
    dbload(&place, "verify").expect_code(0);
}

/// The page's command, given to a shell, does what was done: names with blanks, and the drawn seed.
#[test]
fn the_page_tells_the_command_that_repeats_the_run() {
    let place = Place::new();
    dbload(&place, "init").expect_code(0);
    std::fs::write(place.path("my script.sql"), "\\set x random(1, 9)\nSELECT :x;\n")
        .expect("a file");
    let run = ["run", "-f", "my script.sql", "-c", "1", "-t", "2", "--out", "out"];
    place.dbload(&run).expect_code(0);
    let text = std::fs::read_to_string(place.path("out/summary.json")).expect("a summary");
    let summary: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let page = std::fs::read_to_string(place.path("out/report.html")).expect("a page");
    let command = format!(
        "run -f &#x27;my script.sql&#x27; -c 1 -t 2 --target sqlite:dbload.sqlite --seed {}</code>",
        summary["seed"]
    );
    assert!(page.contains(&command), "no {command}");
    let again = ["run", "--seed", "7", "-c", "1", "-t", "2", "--out", "again"];
    place.dbload(&again).expect_code(0);
    let page = std::fs::read_to_string(place.path("again/report.html")).expect("a page");
    assert_eq!(page.matches("--seed").count(), 1);
    // A table for a program leaves the folder as it is.
    std::fs::remove_file(place.path("again/report.html")).expect("the page");
    let table = place.dbload(&["report", "again", "--csv"]).expect_code(0);
    assert!(table.stdout.lines().count() == 2 && !table.stderr.contains("page:"), "{table}");
    assert!(!place.path("again/report.html").exists());
}

#[test]
fn transactions_leaves_exactly_that_many_rows_per_client() {
    let place = Place::new();
    dbload(&place, "init --scale 1").expect_code(0);
    let ended = dbload(&place, "run --clients 4 --transactions 250").expect_code(0);
    let results = ended.results();
    results.assert_consistent();
    assert_eq!(number(results.run(), "transactions"), 1000);
    assert_eq!(number(results.run(), "unfinished"), 0);
    let file = place.path("dbload.sqlite");
    assert_eq!(count(&file, "SELECT count(*) FROM pgbench_history"), 1000);
    dbload(&place, "run -n --clients 4 --transactions 250").expect_code(0);
    assert_eq!(count(&file, "SELECT count(*) FROM pgbench_history"), 2000);
}

#[test]
fn a_window_is_as_long_as_asked_for_though_the_last_arrival_comes_before_its_end() {
    let place = Place::new();
    dbload(&place, "init --scale 1").expect_code(0);
    // The last arrivals of 1 s are due at 0.75 s and, with the other, at 0.9 s.
    for rate in ["--rate 4 --arrival constant", "--rate 10 --arrival constant"] {
        let run =
            format!("run {rate} --workload select-only --clients 2 --duration 1s --warmup 0s");
        let ended = dbload(&place, &run).expect_code(0);
        let results = ended.results();
        let measured = results.run()["duration_s"].as_f64();
        assert_eq!((measured, &results.run()["complete"]), (Some(1.0), &true.into()), "{ended}");
    }
}

#[test]
fn what_was_measured_before_dbload_was_killed_is_said_by_report() {
    let place = Place::new();
    dbload(&place, "init --scale 1").expect_code(0);
    let run = "run --clients 1 --duration 100s --warmup 0s --interval 100ms --out results";
    let running = place.start(&run.split(' ').collect::<Vec<_>>());
    let has_rows = || {
        let rows = std::fs::read_to_string(place.path("results/intervals.csv"));
        rows.is_ok_and(|rows| rows.lines().count() > 3)
    };
    wait_until("rows of intervals", has_rows);
    running.signal(rustix::process::Signal::KILL);
    assert_eq!(running.wait().code, None);
    let ended = dbload(&place, "report results").expect_code(0);
    let said = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("round 1, tpcb-like, 1 client: dbload was stopped before"), "{ended}");
}

#[test]
fn a_signal_in_the_warm_up_leaves_nothing_behind() {
    let place = Place::new();
    dbload(&place, "init --scale 1").expect_code(0);
    let run = "run --clients 1 --duration 1s --warmup 100s --out results";
    let running = place.start(&run.split(' ').collect::<Vec<_>>());
    wait_until("a results folder", || place.path("results/environment.json").exists());
    // Into the warm-up, or before it: nothing is measured in either.
    std::thread::sleep(std::time::Duration::from_millis(300));
    running.signal(rustix::process::Signal::INT);
    let ended = running.wait().expect_code(130);
    assert!(!place.path("results").exists(), "{ended}\n{:?}", place.files());
}

#[test]
fn verify_finds_one_changed_balance_and_says_by_how_much() {
    let place = Place::new();
    dbload(&place, "init --scale 1").expect_code(0);
    for workload in ["tpcb-like", "simple-update", "select-only"] {
        let run = format!("run --workload {workload} --clients 2 --transactions 100");
        dbload(&place, &run).expect_code(0);
        dbload(&place, "verify").expect_code(0);
    }
    let database = rusqlite::Connection::open(place.path("dbload.sqlite")).unwrap();
    let change = "UPDATE pgbench_accounts SET abalance = abalance + 17 WHERE aid = 1";
    database.execute_batch(change).unwrap();
    let ended = dbload(&place, "verify").expect_code(2);
    assert!(ended.output().contains("abalance") && ended.output().contains("17"), "{ended}");
    dbload(&place, "verify --rebase").expect_code(0);
    dbload(&place, "verify").expect_code(0);
}

#[test]
fn run_init_uses_tables_of_the_same_scale_again_and_refuses_another() {
    let place = Place::new();
    dbload(&place, "init --scale 1").expect_code(0);
    dbload(&place, "run -n --init --scale 1 --clients 1 --transactions 10").expect_code(0);
    dbload(&place, "run -n --init --scale 1 --clients 1 --transactions 10").expect_code(0);
    let file = place.path("dbload.sqlite");
    assert_eq!(count(&file, "SELECT count(*) FROM pgbench_history"), 20);
    dbload(&place, "run --init --scale 2 --clients 1 --transactions 10")
        .expect_refusal(&["scale", "--replace"]);
    assert_eq!(count(&file, "SELECT count(*) FROM pgbench_history"), 20);
}

#[test]
fn init_leaves_existing_tables_alone_unless_told_to_replace_them() {
    let place = Place::new();
    dbload(&place, "init --scale 1").expect_code(0);
    dbload(&place, "run --clients 1 --transactions 10").expect_code(0);
    let file = place.path("dbload.sqlite");
    dbload(&place, "init --scale 1").expect_refusal(&["pgbench_", "--replace"]);
    assert_eq!(count(&file, "SELECT count(*) FROM pgbench_history"), 10);
    dbload(&place, "init --scale 2 --replace").expect_code(0);
    assert_eq!(count(&file, "SELECT count(*) FROM pgbench_history"), 0);
    assert_eq!(count(&file, "SELECT count(*) FROM pgbench_branches"), 2);
    dbload(&place, "verify").expect_code(0);
}

#[test]
fn replace_refuses_a_table_of_that_name_with_other_columns() {
    let place = Place::new();
    let file = place.path("dbload.sqlite");
    let database = rusqlite::Connection::open(&file).unwrap();
    let mine = "CREATE TABLE pgbench_tellers (mine TEXT); INSERT INTO pgbench_tellers VALUES ('x')";
    database.execute_batch(mine).unwrap();
    dbload(&place, "init --scale 1 --replace").expect_refusal(&["pgbench_tellers"]);
    assert_eq!(count(&file, "SELECT count(*) FROM pgbench_tellers WHERE mine = 'x'"), 1);
    let tables = "SELECT count(*) FROM sqlite_master WHERE name LIKE 'pgbench%'";
    assert_eq!(count(&file, tables), 1, "no other table was made");
}

#[test]
fn missing_tables_are_refused_with_the_command_that_makes_them() {
    let place = Place::new();
    dbload(&place, "run --clients 1 --duration 1s").expect_refusal(&["dbload init"]);
    dbload(&place, "verify").expect_refusal(&["dbload init"]);
}

#[test]
fn clean_removes_what_init_made() {
    let place = Place::new();
    dbload(&place, "init --scale 1").expect_code(0);
    dbload(&place, "clean").expect_code(0);
    let file = place.path("dbload.sqlite");
    let tables = "SELECT count(*) FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'";
    assert!(!file.exists() || count(&file, tables) == 0);
}

#[test]
fn json_prints_the_summary_document_and_nothing_else() {
    let place = Place::new();
    let ended = dbload(&place, "run --init --scale 1 --clients 1 --transactions 20 --json");
    let ended = ended.expect_code(0);
    let printed: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!(printed, ended.results().summary);
}

#[test]
fn out_names_the_folder_and_one_with_files_in_it_is_refused() {
    let place = Place::new();
    dbload(&place, "init --scale 1").expect_code(0);
    let run = "run --clients 1 --transactions 20 --out mine";
    let ended = dbload(&place, run).expect_code(0);
    assert_eq!(ended.results().folder, place.path("mine"));
    dbload(&place, run).expect_refusal(&["mine", "--out"]);
    assert_eq!(count(&place.path("dbload.sqlite"), "SELECT count(*) FROM pgbench_history"), 20);
}

#[test]
fn a_results_folder_that_cannot_be_written_is_refused_before_anything_is_touched() {
    let place = Place::new();
    dbload(&place, "init --scale 1").expect_code(0);
    dbload(&place, "run --clients 1 --transactions 20").expect_code(0);
    // Below a file there is no folder, not even for root.
    let run = "run --clients 1 --transactions 20 --out dbload.sqlite/results";
    dbload(&place, run).expect_refusal(&["dbload.sqlite/results"]);
    assert_eq!(count(&place.path("dbload.sqlite"), "SELECT count(*) FROM pgbench_history"), 20);
}

#[test]
fn one_seed_and_any_number_of_jobs_load_the_same_rows() {
    let place = Place::new();
    dbload(&place, "init --target sqlite:one.sqlite --scale 1 --jobs 1 --seed 7").expect_code(0);
    dbload(&place, "init --target sqlite:four.sqlite --scale 1 --jobs 4 --seed 7").expect_code(0);
    let database = rusqlite::Connection::open(place.path("one.sqlite")).unwrap();
    let other = place.path("four.sqlite");
    database.execute("ATTACH ?1 AS other", [other.to_str().unwrap()]).unwrap();
    for table in ["accounts", "tellers", "branches"] {
        let differ = format!(
            "SELECT count(*) FROM (SELECT * FROM main.pgbench_{table}
             EXCEPT SELECT * FROM other.pgbench_{table})"
        );
        let rows: i64 = database.query_row(&differ, [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 0, "{table}");
    }
}

#[test]
fn more_clients_than_files_may_be_open_are_refused_before_anything_is_touched() {
    let place = Place::new();
    let run = format!(
        "ulimit -Sn 100; ulimit -Hn 300; exec {} run --init --scale 1 --clients 5000 --duration 1s",
        env!("CARGO_BIN_EXE_dbload")
    );
    let shell = std::process::Command::new("sh")
        .args(["-c", &run])
        .current_dir(place.path(""))
        .env_clear()
        .output()
        .unwrap();
    let said = String::from_utf8(shell.stderr).unwrap();
    assert_eq!(shell.status.code(), Some(1), "{said}");
    assert!(said.contains("5000 clients need") && said.contains("300"), "{said}");
    assert!(place.files().is_empty(), "{:?}", place.files());
}

#[test]
fn the_limit_of_open_files_is_raised_as_far_as_it_may_be() {
    let place = Place::new();
    let run = format!(
        "ulimit -Sn 60; exec {} run --init --scale 1 --clients 20 -t 2 -n -S",
        env!("CARGO_BIN_EXE_dbload")
    );
    let shell = std::process::Command::new("sh")
        .args(["-c", &run])
        .current_dir(place.path(""))
        .env_clear()
        .output()
        .unwrap();
    assert_eq!(shell.status.code(), Some(0), "{}", String::from_utf8_lossy(&shell.stderr));
}

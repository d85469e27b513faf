//! The command line without a server: what is refused, in which words, and that nothing is touched.

mod common;

use std::fs;

use common::program::Place;

/// Arguments, and words that the message must hold: the option, what was given, what is allowed.
const REFUSED: &[(&str, &[&str])] = &[
    ("init --scale 0", &["--scale", "0"]),
    ("init --scale -1", &["--scale", "-1"]),
    ("init --scale two", &["--scale", "two"]),
    ("init --scale 99999999999", &["--scale", "99999999999"]),
    ("init --scale 1 --jobs 0", &["--jobs", "0"]),
    ("init --scale 1 --fillfactor 5", &["--fillfactor", "5", "10"]),
    ("init --scale 1 --partition-method range", &["--partition-method", "--partitions"]),
    ("init --scale 1 -I dtgvp", &["-I"]),
    ("init --workload sysbench --scale 2", &["--scale", "--table-size"]),
    ("init --workload sysbench --table-size 3G", &["--table-size", "3G", "2147483647"]),
    ("init --workload sysbench --tables 0", &["--tables", "0"]),
    ("init --tables 4", &["--tables", "--scale"]),
    ("init --workload sysbnech", &["sysbnech", "tpcb, sysbench"]),
    ("run --clients 0", &["--clients", "0"]),
    ("run --clients 2,,4", &["--clients", "2,,4"]),
    ("run --clients 4-2", &["--clients", "4-2"]),
    ("run --clients abc", &["--clients", "abc"]),
    ("run --cleints 2", &["--cleints", "--clients"]),
    ("run --clients 1 --workload tpbc-like", &["tpbc-like", "tpcb-like"]),
    ("run --clients 1 --workload nothing-of-the-kind", &["nothing-of-the-kind", "select-only"]),
    ("run --clients 1 --target oracle://localhost/x", &["oracle", "postgres"]),
    ("run --clients 1 --target 127.0.0.1:5432/x", &["\"127.0.0.1:5432/x\"", "postgres://USER"]),
    ("run --clients 1 --target postgres://u@h:99999/x", &["postgres://u@h:99999/x: the port"]),
    ("run --clients 1 --script my.sql@x", &["my.sql@x", "@W"]),
    ("run --clients 1 --duration 5x", &["--duration", "5x"]),
    ("run --clients 1 --duration 0", &["--duration", "0"]),
    ("run --clients 1 --duration -5s", &["--duration", "-5s"]),
    ("run --clients 1 --interval 50ms", &["--interval", "50ms", "100"]),
    ("run --clients 1 --transactions 0", &["--transactions", "0"]),
    ("run --clients 1 --transactions 10 --duration 5s", &["--transactions", "--duration"]),
    ("run --clients 1 --rounds 0", &["--rounds", "0"]),
    ("run --clients 1 --workers 0", &["--workers", "0"]),
    ("run --clients 1 --protocol fancy", &["--protocol", "fancy", "prepared"]),
    ("run --clients 1 --seed minus", &["--seed", "minus", "whole number"]),
    ("run --clients 1 --workers many", &["--workers", "many", "whole number"]),
    ("run --clients 1 --workers 99999", &["--workers", "99999", "1024"]),
    ("run --clients 1 --max-tries -1", &["--max-tries", "-1", "whole number"]),
    ("run --clients 1 --rounds x", &["--rounds", "\"x\"", "whole number"]),
    ("init --fillfactor 300", &["--fillfactor", "300", "100"]),
    ("init --partitions x", &["--partitions", "\"x\"", "whole number"]),
    ("init --jobs two", &["--jobs", "two", "whole number"]),
    ("run --clients 1 --ramp x", &["--ramp", "\"x\""]),
    ("run --clients 1 --ramp 5s --transactions 10", &["--ramp", "--transactions"]),
    ("run --clients 1 --ramp 5s --rate 10", &["--ramp", "--rate"]),
    ("run --clients 1 --session-sql=", &["--session-sql", "empty"]),
    ("run --ignore-errors 23505x", &["--ignore-errors", "23505x", "SQLSTATE"]),
    ("run --ignore-errors 40p01", &["--ignore-errors", "40p01"]),
    ("run --ignore-errors 23505,none", &["--ignore-errors", "none alone"]),
    ("run --clients 1 -h localhost --target sqlite:x", &["--target"]),
    ("frobnicate", &["frobnicate"]),
];

#[test]
fn bad_input_is_refused_with_its_value_and_nothing_is_touched() {
    let mut wrong = Vec::new();
    for (args, words) in REFUSED {
        let place = Place::new();
        let ended = place.dbload(&args.split(' ').collect::<Vec<_>>());
        let clear = words.iter().all(|word| ended.stderr.contains(word));
        if ended.code != Some(1) || !clear || !ended.stdout.is_empty() || !place.files().is_empty()
        {
            wrong.push(format!("dbload {args}: {words:?}? files {:?}\n{ended}", place.files()));
        }
    }
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), REFUSED.len(), wrong.join("\n"));
}

#[test]
fn help_and_version_succeed_on_standard_output() {
    let place = Place::new();
    for args in [&["--help"][..], &["-?"], &["run", "--help"], &["run", "-?"], &["init", "--help"]]
    {
        let ended = place.dbload(args).expect_code(0);
        assert!(ended.stdout.contains("Usage"), "{args:?}\n{ended}");
    }
    let ended = place.dbload(&["--version"]).expect_code(0);
    assert!(ended.stdout.contains(env!("CARGO_PKG_VERSION")), "{ended}");
}

#[test]
fn no_server_on_the_port_is_refused_and_named() {
    let place = Place::new();
    let url = "postgres://someone@127.0.0.1:1/bench"; // nobody listens on port 1
    for command in ["init --scale 1", "run --clients 1 --duration 1s", "verify", "clean"] {
        let args = format!("{command} --target {url}");
        let args: Vec<&str> = args.split(' ').collect();
        place.dbload(&args).expect_refusal(&["127.0.0.1", "1"]);
        assert!(place.files().is_empty(), "{command} left files");
    }
}

#[test]
fn a_password_in_a_refused_url_is_in_no_message() {
    let urls = [
        "postgres://someone:hush-hush@127.0.0.1:1/bench",
        "postgres://someone:hush-hush@127.0.0.1:port/bench",
        "postgres://someone:hush-hush@127.0.0.1:1/bench?sslmode=perhaps",
        "postgres://someone@127.0.0.1:1/bench?password=hush-hush",
        "postgress://someone:hush-hush@127.0.0.1:1/bench",
        "oracle://someone:hush-hush@127.0.0.1:1/bench",
        "someone:hush-hush@127.0.0.1",
    ];
    for url in urls {
        let place = Place::new();
        for command in [&["run", "--clients", "1"][..], &["init", "--scale", "1"], &["verify"]] {
            let args = [command, &["--target", url]].concat();
            let ended = place.dbload(&args).expect_code(1);
            assert!(!ended.output().contains("hush"), "{args:?}\n{ended}");
        }
    }
}

#[test]
fn the_first_line_says_which_target_was_chosen_and_why() {
    let place = Place::new();
    let first_line = |args: &[&str], env: &[(&str, &str)]| {
        let output = place.dbload_with_env(args, env).output();
        output.lines().next().unwrap_or_default().to_owned()
    };
    let run = ["run", "--clients", "1"];

    let line = first_line(&run, &[]);
    assert!(line.contains("dbload.sqlite"), "{line}");
    let line = first_line(&run, &[("DBLOAD_TARGET", "sqlite:other.sqlite")]);
    assert!(line.contains("other.sqlite") && line.contains("DBLOAD_TARGET"), "{line}");
    let line = first_line(&run, &[("PGHOST", "127.0.0.1"), ("PGPORT", "1")]);
    assert!(line.contains("127.0.0.1") && line.contains("PGHOST"), "{line}");
    let line = first_line(
        &["run", "--clients", "1", "--target", "sqlite:mine.sqlite"],
        &[("DBLOAD_TARGET", "sqlite:other.sqlite"), ("PGHOST", "127.0.0.1")],
    );
    assert!(line.contains("mine.sqlite") && line.contains("--target"), "{line}");
}

#[test]
fn show_lists_the_workloads_and_prints_their_text() {
    let place = Place::new();
    let list = place.dbload(&["show"]).expect_code(0);
    for name in ["tpcb-like", "simple-update", "select-only"] {
        assert!(list.stdout.contains(name), "{list}");
    }
    let text = place.dbload(&["show", "tpcb-like"]).expect_code(0);
    assert!(text.stdout.contains("UPDATE pgbench_accounts SET abalance"), "{text}");
    place.dbload(&["show", "tpbc-like"]).expect_refusal(&["tpbc-like", "tpcb-like"]);
}

#[test]
fn show_exports_files_that_can_be_used_in_place_of_the_embedded_ones() {
    let place = Place::new();
    place.dbload(&["show", "--export", "mine"]).expect_code(0);
    let exported = fs::read_to_string(place.path("mine/workloads/select-only.sql")).unwrap();
    let shown = place.dbload(&["show", "select-only", "--data-dir", "mine"]).expect_code(0);
    assert!(exported.contains("SELECT abalance FROM pgbench_accounts"), "{exported}");
    assert!(shown.stdout.contains("SELECT abalance FROM pgbench_accounts"), "{shown}");
}

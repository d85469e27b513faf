//! The cases of `tests/data/pgbench.jsonl` as whole runs of the program against PostgreSQL: exit
//! code, phase, and what `debug` prints. The words of messages are ours.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::postgres::{Database, with_database};
use common::program::Place;
use serde_json::Value as Json;

const CASES: &str = include_str!("data/pgbench.jsonl");

/// Cases that differ on purpose, with the reason.
const DIFFERENT: &[(&str, &str)] = &[
    // Every transaction failed: pgbench exits 0, dbload 2.
    ("ok-027", "a run in which nothing committed is no success"),
];

fn texts(json: &Json) -> Vec<&str> {
    json.as_array()
        .map(|list| list.iter().map(|item| item.as_str().unwrap()).collect())
        .unwrap_or_default()
}

/// The arguments of a run that a case stands for.
fn arguments<'a>(case: &'a Json, url: &'a str, scripts: &'a [String]) -> Vec<&'a str> {
    let args = texts(&case["input"]["args"]);
    let mut all = vec!["run", "--target", url, "--allow-shell"];
    if !args.contains(&"-M") {
        all.extend(["-M", "simple"]);
    }
    all.extend(args);
    for script in scripts {
        all.extend(["-f", script]);
    }
    all
}

/// Patterns of what `debug` prints, such as `int 5\b`; other patterns are pgbench's own words.
fn debug_values(patterns: &Json) -> Vec<String> {
    texts(patterns)
        .into_iter()
        .filter(|pattern| {
            ["int ", "double ", "boolean ", "null"].iter().any(|t| pattern.starts_with(t))
        })
        .map(|pattern| pattern.trim_end_matches("\\b").to_owned())
        .collect()
}

fn debug_lines(stderr: &str) -> Vec<String> {
    let lines = stderr.lines().filter_map(|line| line.strip_prefix("debug("));
    lines.filter_map(|line| Some(line.split_once("): ")?.1.to_owned())).collect()
}

/// What went wrong with a case, if anything did.
fn fault(case: &Json, database: &Database) -> Option<String> {
    for statement in texts(&case["input"]["setup"]) {
        database.sql(statement);
    }
    let place = Place::new();
    let scripts: Vec<String> = texts(&case["input"]["scripts"])
        .iter()
        .enumerate()
        .map(|(number, text)| {
            let path = place.path(&format!("case{number}.sql"));
            std::fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        })
        .collect();
    let ended = place.dbload(&arguments(case, &database.url(), &scripts));
    let wanted = case["expect"]["exit"].as_i64().unwrap();
    let id = case["id"].as_str().unwrap();
    if ended.code.map(i64::from) != Some(wanted) {
        return Some(format!("{id}: exit {wanted} expected\n{ended}"));
    }
    // Found before the run: no connection was made and nothing was written.
    if case["expect"]["phase"] == "parse" && ended.stderr.contains("results: ") {
        return Some(format!("{id}: refused only after the run\n{ended}"));
    }
    if case["expect"]["phase"] == "run" && !ended.stderr.contains("results: ") {
        return Some(format!("{id}: refused before the run\n{ended}"));
    }
    if case["kind"] == "script_err" {
        return None;
    }
    let printed = debug_lines(&ended.stderr);
    for value in debug_values(&case["expect"]["pgbench_stderr"]) {
        if !printed.contains(&value) {
            return Some(format!("{id}: debug did not print {value}\n{ended}"));
        }
    }
    for value in debug_values(&case["expect"]["pgbench_stderr_not"]) {
        if printed.contains(&value) {
            return Some(format!("{id}: debug printed {value}\n{ended}"));
        }
    }
    None
}

fn every_script_case_ends_as_in_pgbench(database: &Database) {
    let place = Place::new();
    place.dbload(&["init", "--target", &database.url(), "--scale", "1"]).expect_code(0);
    let mut wrong = Vec::new();
    let mut run = 0;
    for line in CASES.lines() {
        let case: Json = serde_json::from_str(line).unwrap();
        let differs = DIFFERENT.iter().any(|(id, _)| case["id"] == *id);
        if case["kind"] == "expr" || differs {
            continue;
        }
        run += 1;
        wrong.extend(fault(&case, database));
    }
    assert!(run > 70, "{run} cases only");
    assert!(wrong.is_empty(), "{} of {run}\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_script_case_ends_as_in_pgbench_15() {
    with_database("PG15", every_script_case_ends_as_in_pgbench);
}

#[test]
fn every_script_case_ends_as_in_pgbench_18() {
    with_database("PG18", every_script_case_ends_as_in_pgbench);
}

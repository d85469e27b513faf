//! `dbload run` with several targets: interleaved rounds and a verdict.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use common::program::{Ended, Place};

fn dbload(place: &Place, args: &str) -> Ended {
    place.dbload(&args.split_whitespace().collect::<Vec<_>>())
}

const TARGETS: &str = "--target a=sqlite:a.db --target b=sqlite:b.db";

#[test]
fn rounds_are_interleaved_and_end_in_a_verdict() {
    let place = Place::new();
    let run = format!(
        "run {TARGETS} --init --scale 1 --clients 1,2 --rounds 5 --duration 200ms --warmup 0s \
         --seed 7 --out results"
    );
    let ended = dbload(&place, &run).expect_code(0);
    let text = std::fs::read_to_string(place.path("results/summary.json")).expect("a summary");
    let summary: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let runs = summary["runs"].as_array().expect("runs");
    assert_eq!((runs.len(), &summary["complete"]), (20, &true.into()), "{ended}");
    for pair in runs.chunks(2) {
        assert_eq!(
            (&pair[0]["round"], &pair[0]["clients"]),
            (&pair[1]["round"], &pair[1]["clients"])
        );
        assert_ne!(pair[0]["arm"], pair[1]["arm"]);
    }
    for run in runs {
        let hlog = run["hlog"].as_str().expect("a path");
        assert!(place.path("results").join(hlog).is_file(), "{hlog}");
    }
    let compared = &summary["comparisons"][0];
    assert_eq!((&compared["baseline"], &compared["arm"]), (&"a".into(), &"b".into()));
    assert_eq!((&compared["rounds"], &compared["paired"]), (&5.into(), &true.into()));
    let sentence = compared["sentence"].as_str().expect("a sentence");
    assert_ne!(compared["verdict"], "none", "{sentence}");
    let said = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains(&format!("b against a: {sentence}")), "{ended}");
}

#[test]
fn what_cannot_be_compared_is_refused_with_the_names() {
    let place = Place::new();
    let ended = dbload(&place, &format!("run {TARGETS} --baseline c")).expect_code(1);
    assert!(ended.stderr.contains("--baseline \"c\" is no target: give one of a, b"), "{ended}");
    let ended = dbload(&place, &format!("init {TARGETS}")).expect_code(1);
    assert!(ended.stderr.contains("only `dbload run` takes several"), "{ended}");
    assert!(!place.path("a.db").exists());
}

#[test]
fn fewer_than_five_rounds_give_a_ratio_only() {
    let place = Place::new();
    let run = format!(
        "run {TARGETS} --init --scale 1 --rounds 2 --duration 200ms --warmup 0s --out results"
    );
    let ended = dbload(&place, &run).expect_code(0);
    assert!(ended.stdout.contains("no verdict: 2 complete rounds"), "{ended}");
}

#[test]
fn every_target_is_looked_at_before_the_first_is_measured() {
    let place = Place::new();
    dbload(&place, "init --target sqlite:a.db --scale 1").expect_code(0);
    rusqlite::Connection::open(place.path("b.db")).expect("a database file");
    let before = place.files();
    let run = format!("run {TARGETS} --clients 1 --rounds 5 --duration 200ms --out results");
    dbload(&place, &run).expect_refusal(&["b: the tables are missing"]);
    assert_eq!(place.files(), before);
}

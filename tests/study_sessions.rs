//! How the clients of a study come by their sessions.

mod common;

use std::fs;

use common::program::{Ended, Place};

fn study(place: &Place, load: &str, args: &[&str]) -> Ended {
    let folder = place.path("data");
    fs::create_dir_all(&folder).expect("a folder");
    let text = format!(
        "rounds = 2\naa = true\nsettle = \"10ms\"\n[load]\nscale = 1\nclients = [2]\nwarmup = \"0s\"\n\
         duration = \"300ms\"\n{load}\n[[server]]\nname = \"lite\"\nengine = \"sqlite\"\n\
         [[storage]]\nname = \"a\"\ndir = {folder:?}\n"
    );
    fs::write(place.path("plan.toml"), text).expect("a plan");
    place.dbload(&[&["study", "plan.toml"], args].concat())
}

#[test]
fn a_plans_clients_join_connect_and_begin_as_it_says() {
    let place = Place::new();
    let load = "ramp = \"100ms\"\nconnect = true\nsession_sql = [\"PRAGMA cache_size = -4000\"]\n\
                workloads = [\"select-only\"]";
    study(&place, load, &["--out", "results"]).expect_code(0);
    let text = fs::read_to_string(place.path("results/summary.json")).expect("a summary");
    let summary: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let run = &summary["runs"][0];
    assert_eq!((&run["ramp_s"], &run["pipeline"]), (&0.1.into(), &false.into()), "{run}");
    assert_eq!(run["session_sql"], serde_json::json!(["PRAGMA cache_size = -4000"]));
    assert!(run["connect_ms"]["p50"].as_f64().is_some_and(|ms| ms > 0.0), "{run}");
}

#[test]
fn what_a_server_of_the_plan_cannot_do_is_refused_with_its_line_before_anything_is_loaded() {
    let place = Place::new();
    let pool = study(&place, "pool = 2", &[]).expect_code(1);
    assert!(pool.stderr.contains("plan.toml, line 9: pool: it needs PostgreSQL"), "{pool}");
    let none = study(&place, "pool = 0", &[]).expect_code(1);
    assert!(none.stderr.contains("plan.toml, line 9: pool = 0: give 1 or more"), "{none}");
    let pipeline = study(&place, "pipeline = true", &[]).expect_code(1);
    let words = ["plan.toml, line ", "--pipeline", "needs PostgreSQL"];
    assert!(words.iter().all(|word| pipeline.stderr.contains(word)), "{pipeline}");
    let empty: Vec<_> = place.path("data").read_dir().expect("the folder").collect();
    assert!(empty.is_empty(), "{empty:?}");
}

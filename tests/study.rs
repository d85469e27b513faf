//! `dbload study`: from a plan file to a verdict, with servers of its own.

mod common;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use common::program::{Ended, Place};
use rustix::process::Signal;

fn study(place: &Place, args: &[&str]) -> Ended {
    place.dbload(&[&["study"], args].concat())
}

/// A plan over two folders of the place.
fn plan(place: &Place, head: &str, servers: &str) {
    for name in ["one", "two"] {
        fs::create_dir_all(place.path(name)).expect("a folder");
    }
    let (one, two) = (place.path("one"), place.path("two"));
    let text = format!(
        "{head}\nsettle = \"10ms\"\n[load]\nscale = 1\nclients = [1]\nwarmup = \"0s\"\n\
         duration = \"300ms\"\n{servers}\n[[storage]]\nname = \"a\"\ndir = {one:?}\n[[storage]]\n\
         name = \"b\"\ndir = {two:?}\n"
    );
    fs::write(place.path("plan.toml"), text).expect("a plan");
}

const SQLITE: &str = "[[server]]\nname = \"lite\"\nengine = \"sqlite\"";

fn summary(place: &Place, folder: &str) -> serde_json::Value {
    let text = fs::read_to_string(place.path(folder).join("summary.json")).expect("a summary");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn sqlite_on_two_folders_ends_in_a_verdict() {
    let place = Place::new();
    plan(&place, "rounds = 5", SQLITE);
    let ended = study(&place, &["plan.toml", "--out", "results"]).expect_code(0);
    let summary = summary(&place, "results");
    assert_eq!(summary["runs"].as_array().map(Vec::len), Some(10), "{ended}");
    assert_eq!(
        (&summary["complete"], &summary["arms"][0]["name"]),
        (&true.into(), &"lite/a".into())
    );
    assert!(ended.stdout.contains("lite/b against lite/a: "), "{ended}");
    assert!(place.path("one/dbload-lite/data.sqlite").is_file());
    let intervals = fs::read_to_string(place.path("results/intervals.csv")).expect("intervals");
    let rounds: Vec<&str> =
        intervals.lines().skip(1).filter_map(|line| line.split(',').nth(1)).collect();
    assert!(rounds.len() >= 10 && rounds.is_sorted(), "{rounds:?}");
    assert_eq!((rounds.first(), rounds.last()), (Some(&"1"), Some(&"5")), "{rounds:?}");
}

/// The order of runs is drawn; that of the results is not.
#[test]
fn arms_stand_as_the_plan_has_them_the_baseline_first() {
    for seed in 1..=3 {
        let place = Place::new();
        plan(
            &place,
            &format!("rounds = 2\nseed = {seed}\naa = true\nbaseline = \"lite/b\""),
            SQLITE,
        );
        study(&place, &["plan.toml", "--out", "results"]).expect_code(0);
        let summary = summary(&place, "results");
        let names = |of: &str, field: &str| -> Vec<String> {
            let all = summary[of].as_array().expect("a list").iter();
            all.map(|one| one[field].as_str().expect("a name").to_owned()).collect()
        };
        assert_eq!(names("arms", "name"), ["lite/b", "lite/a", "lite/b:again"], "{seed}");
        assert_eq!(names("comparisons", "arm"), ["lite/a", "lite/b:again"], "{seed}");
    }
}

#[test]
fn a_cell_runs_the_workloads_of_the_plan_one_after_the_other() {
    let place = Place::new();
    plan(&place, "rounds = 2", SQLITE);
    fs::write(place.path("mine.sql"), "SELECT :scale;\n").expect("a script");
    let text = fs::read_to_string(place.path("plan.toml")).expect("the plan");
    let workloads = "scale = 1\ntables = 2\ntable_size = 100\nworkloads = [\"tpcb-like\", \
                     { mix = [\"select-only@9\", \"simple-update\"] }, \"point-select\", \
                     { script = \"mine.sql\" }]\n";
    fs::write(place.path("plan.toml"), text.replace("scale = 1\n", workloads)).expect("the plan");
    let ended = study(&place, &["plan.toml", "--out", "results"]).expect_code(0);
    let summary = summary(&place, "results");
    let runs = summary["runs"].as_array().expect("runs");
    let named: Vec<&str> = runs.iter().filter_map(|run| run["workload"].as_str()).collect();
    let of_cell = ["tpcb-like", "select-only+simple-update", "point-select", "mine"];
    assert_eq!(named, of_cell.repeat(4), "{ended}");
    assert_eq!(summary["complete"], true, "{ended}");
    let primary = summary["comparisons"].as_array().expect("comparisons").iter();
    let primary: Vec<_> = primary.filter(|found| found["metric"] == "tps").collect();
    assert_eq!(primary.len(), of_cell.len(), "one endpoint for each workload\n{ended}");
    for folder in ["001-lite_a-1", "001-lite_a-1.2", "001-lite_a-1.3"] {
        let folder = place.path("results/cells").join(folder);
        assert!(folder.join("summary.json").is_file(), "{}", folder.display());
    }
    let again = study(&place, &["plan.toml", "--resume", "results"]).expect_code(0);
    assert_eq!(again.stderr.matches("there already").count(), 4, "{again}");
}

#[test]
fn workloads_that_cannot_be_are_refused_with_their_line() {
    let place = Place::new();
    for (workloads, part) in [
        ("[\"tpcb-lke\"]", "did you mean \"tpcb-like\"?"),
        ("[{ script = \"nowhere.sql\" }]", "nowhere.sql"),
        ("[\"tpcb-like\", \"tpcb-like\"]", "is there twice"),
        ("[\"write-only\"]", "scale: no workload of this plan uses"),
        ("[{ mix = [\"tpcb-like\", \"write-only\"] }]", "different schemas"),
        ("[]", "name one or more"),
        ("[{ file = \"a\" }]", "{ script = \"file.sql\" }"),
    ] {
        plan(&place, "rounds = 2", SQLITE);
        let text = fs::read_to_string(place.path("plan.toml")).expect("the plan");
        let text = text.replace("[load]\n", &format!("[load]\nworkloads = {workloads}\n"));
        fs::write(place.path("plan.toml"), text).expect("the plan");
        let ended = study(&place, &["plan.toml", "--out", "results"]).expect_code(1);
        let line =
            if workloads.contains("write-only\"]") && !workloads.contains("mix") { 5 } else { 4 };
        assert!(ended.stderr.contains(&format!("plan.toml, line {line}: ")), "{ended}");
        assert!(ended.stderr.contains(part), "{workloads}\n{ended}");
        assert!(!place.path("results").exists(), "{ended}");
    }
}

#[test]
fn a_study_that_ended_early_goes_on_with_the_cells_that_are_missing() {
    let place = Place::new();
    plan(&place, "rounds = 5", SQLITE);
    study(&place, &["plan.toml", "--out", "results"]).expect_code(0);
    let kept = place.path("results/cells/001-lite_a-1/summary.json");
    let lost = place.path("results/cells/004-lite_b-1/summary.json");
    let before = fs::read(&kept).expect("a cell");
    fs::remove_file(&lost).expect("a cell");
    let ended = study(&place, &["--resume", "results"]).expect_code(0);
    assert_eq!(fs::read(&kept).expect("a cell"), before, "measured twice\n{ended}");
    assert!(lost.is_file(), "{ended}");
    assert_eq!(summary(&place, "results")["runs"].as_array().map(Vec::len), Some(10), "{ended}");
    plan(&place, "rounds = 6", SQLITE);
    let ended = study(&place, &["--resume", "nowhere"]).expect_code(1);
    assert!(ended.stderr.contains("nowhere holds no study that was begun"), "{ended}");
    let ended = study(&place, &["plan.toml", "--resume", "results"]).expect_code(1);
    assert!(ended.stderr.contains("is not the plan that results was begun with"), "{ended}");
}

#[test]
fn a_dry_run_prints_the_order_and_makes_nothing() {
    let place = Place::new();
    plan(&place, "rounds = 5\nseed = 3", SQLITE);
    let ended = study(&place, &["plan.toml", "--dry-run"]).expect_code(0);
    assert_eq!(ended.stdout.matches("round ").count(), 10, "{ended}");
    assert!(ended.stdout.contains("10 runs of 300ms"), "{ended}");
    assert!(!place.path("one/dbload-lite").exists());
    let again = study(&place, &["plan.toml", "--dry-run"]).expect_code(0);
    assert_eq!(ended.stdout, again.stdout);
    assert!(!ended.stdout.contains("no verdict"), "{ended}");
}

#[test]
fn a_dry_run_says_how_long_it_takes_and_that_two_rounds_give_no_verdict() {
    let place = Place::new();
    plan(&place, "rounds = 2", SQLITE);
    let text = fs::read_to_string(place.path("plan.toml")).expect("the plan");
    let text = text.replace("warmup = \"0s\"\n", "").replace("300ms", "100s");
    fs::write(place.path("plan.toml"), text).expect("the plan");
    let ended = study(&place, &["plan.toml", "--dry-run"]).expect_code(0);
    // Four times 100 s, 10 s of warm-up, and what is around them.
    assert!(ended.stdout.contains("4 runs of 100s after 10s of warm-up"), "{ended}");
    assert!(ended.stdout.contains(": about 7m 33s, and the loading of 2 arms"), "{ended}");
    assert!(ended.stdout.contains("no verdict from 2 rounds: 5 or more give one"), "{ended}");
}

#[test]
fn a_storage_that_cannot_be_used_is_refused_before_anything_is_made() {
    if !Path::new(BIN).is_dir() {
        eprintln!("skipped: no PostgreSQL in {BIN}");
        return;
    }
    let place = Place::new();
    let server = format!("[[server]]\nname = \"pg\"\nengine = \"postgres\"\nbin = {BIN:?}\n");
    plan(&place, "rounds = 2", &server);
    // Root may write everywhere, but the server does not run as root.
    let (mode, why) = if rustix::process::geteuid().is_root() {
        (0o700, "cannot be entered by the user ")
    } else {
        (0o500, "Permission denied")
    };
    fs::set_permissions(place.path("two"), Permissions::from_mode(mode)).expect("a mode");
    let ended = study(&place, &["plan.toml", "--out", "results"]).expect_code(1);
    fs::set_permissions(place.path("two"), Permissions::from_mode(0o755)).expect("a mode");
    assert!(ended.stderr.contains("plan.toml, line 16: "), "{ended}");
    assert!(ended.stderr.contains(why), "{ended}");
    assert!(!place.path("one/dbload-pg").exists() && !place.path("results").exists(), "{ended}");
}

#[test]
fn the_example_is_printed() {
    let place = Place::new();
    let ended = study(&place, &["--example"]).expect_code(0);
    assert!(ended.stdout.contains("[[server]]"), "{ended}");
}

#[test]
fn somebody_elses_folder_is_left_as_it_is() {
    let place = Place::new();
    plan(&place, "rounds = 5", SQLITE);
    fs::create_dir(place.path("two/dbload-lite")).expect("a folder");
    fs::write(place.path("two/dbload-lite/PG_VERSION"), "18").expect("a file");
    let ended = study(&place, &["plan.toml", "--out", "results"]).expect_code(1);
    assert!(ended.stderr.contains("nothing was touched"), "{ended}");
    assert_eq!(fs::read(place.path("two/dbload-lite/PG_VERSION")).expect("the file"), b"18");
    assert!(!place.path("results").exists(), "{ended}");
}

#[test]
fn a_label_that_is_not_true_is_refused_with_what_is_there() {
    let place = Place::new();
    plan(&place, "rounds = 5", SQLITE);
    // Nobody has the tests' folder on f2fs.
    let text = fs::read_to_string(place.path("plan.toml")).expect("the plan");
    fs::write(place.path("plan.toml"), text.replace("name = \"b\"", "name = \"my-f2fs\""))
        .expect("the plan");
    let ended = study(&place, &["plan.toml", "--dry-run"]).expect_code(1);
    assert!(ended.stderr.contains("not on f2fs: correct the name or the folder"), "{ended}");
    assert!(ended.stderr.contains("plan.toml, line 14: storage \"my-f2fs\""), "{ended}");
}

/// The process number of the server in a data directory, while one runs.
fn server(data: &Path) -> Option<i32> {
    let text = fs::read_to_string(data.join("postmaster.pid")).ok()?;
    text.lines().next()?.trim().parse().ok()
}

/// Waits until a cell is being measured.
fn wait_for(folder: &Path) {
    for _ in 0..1200 {
        if folder.join("intervals.csv").is_file() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("{} was never begun", folder.display());
}

#[test]
fn a_killed_study_goes_on_and_stops_the_server_it_left() {
    if !Path::new(BIN).is_dir() {
        eprintln!("skipped: no PostgreSQL in {BIN}");
        return;
    }
    let place = Place::new();
    plan(
        &place,
        "rounds = 3",
        &format!("[[server]]\nname = \"pg\"\nengine = \"postgres\"\nbin = {BIN:?}"),
    );
    let running = place.start(&["study", "plan.toml", "--out", "results"]);
    let cell = place.path("results/cells/002-pg_a-1");
    wait_for(&cell);
    let data = place.path("one/dbload-pg/data");
    let orphan = server(&data).expect("a server");
    running.signal(Signal::KILL);
    running.wait();
    assert!(Path::new(&format!("/proc/{orphan}")).exists(), "the server ended with dbload");
    let kept = place.path("results/cells/001-pg_b-1/summary.json");
    let before = fs::read(&kept).expect("a cell");
    let ended = study(&place, &["plan.toml", "--resume", "results"]).expect_code(0);
    assert!(!Path::new(&format!("/proc/{orphan}")).exists(), "the orphan still runs\n{ended}");
    assert_eq!(fs::read(&kept).expect("a cell"), before);
    assert_eq!(summary(&place, "results")["runs"].as_array().map(Vec::len), Some(6), "{ended}");
    assert_eq!((server(&data), server(&place.path("two/dbload-pg/data"))), (None, None));
}

#[test]
fn an_interrupted_study_stops_its_server() {
    if !Path::new(BIN).is_dir() {
        eprintln!("skipped: no PostgreSQL in {BIN}");
        return;
    }
    let place = Place::new();
    plan(
        &place,
        "rounds = 3",
        &format!("[[server]]\nname = \"pg\"\nengine = \"postgres\"\nbin = {BIN:?}"),
    );
    let running = place.start(&["study", "plan.toml", "--out", "results"]);
    wait_for(&place.path("results/cells/002-pg_a-1"));
    running.signal(Signal::INT);
    let ended = running.wait().expect_code(130);
    let servers = ["one", "two"].map(|dir| server(&place.path(dir).join("dbload-pg/data")));
    assert_eq!(servers, [None, None], "{ended}");
}

/// Where a PostgreSQL server is installed.
const BIN: &str = "/usr/lib/postgresql/15/bin";

#[test]
fn postgres_is_made_started_and_stopped() {
    if !Path::new(BIN).is_dir() {
        eprintln!("skipped: no PostgreSQL in {BIN}");
        return;
    }
    let place = Place::new();
    let server = format!("[[server]]\nname = \"pg\"\nengine = \"postgres\"\nbin = {BIN:?}\n");
    let off = server.replace("\"pg\"", "\"off\"");
    let off = format!("{off}settings = {{ fsync = \"off\", log_statement = \"all\" }}\n");
    plan(&place, "rounds = 2", &format!("{server}{off}"));
    let ended = study(&place, &["plan.toml", "--out", "results"]).expect_code(0);
    let summary = summary(&place, "results");
    assert_eq!(summary["runs"].as_array().map(Vec::len), Some(8), "{ended}");
    let said = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("off/a is not durable: fsync=off"), "{ended}");
    for folder in ["one/dbload-pg", "two/dbload-off"] {
        let folder = place.path(folder);
        assert!(folder.join("data/PG_VERSION").is_file());
        assert!(!folder.join("data/postmaster.pid").exists(), "still running\n{ended}");
    }
    let log = fs::read_to_string(place.path("two/dbload-off/server.log")).expect("a log");
    assert_eq!(log.matches("SELECT pg_stat_reset()").count(), 2, "once before each cell: {log}");
    assert!(!log.contains("ERROR"), "{log}");
}

#[test]
fn a_server_that_does_not_start_shows_the_end_of_its_log() {
    if !Path::new(BIN).is_dir() {
        eprintln!("skipped: no PostgreSQL in {BIN}");
        return;
    }
    let place = Place::new();
    let server = format!(
        "[[server]]\nname = \"pg\"\nengine = \"postgres\"\nbin = {BIN:?}\nsettings = {{ \
         no_such_setting = 1 }}\n"
    );
    plan(&place, "rounds = 2", &server);
    let ended = study(&place, &["plan.toml", "--out", "results"]).expect_code(1);
    assert!(ended.stderr.contains("no_such_setting"), "{ended}");
    assert!(ended.stderr.contains("server.log"), "{ended}");
}

#[test]
fn a_folder_without_the_server_is_refused_with_the_line_before_anything_is_made() {
    let place = Place::new();
    fs::create_dir(place.path("bin")).expect("a folder");
    std::os::unix::fs::symlink("/bin/echo", place.path("bin/postgres")).expect("a link");
    for (engine, bin, part) in [
        ("postgres", "/nowhere", "bin must be the folder with the server's programs"),
        ("mariadb", "/nowhere", "bin must be the folder with the server's programs"),
        ("postgres", "bin", "is not a server of PostgreSQL, it says: "),
    ] {
        let bin = if bin == "bin" { place.path(bin) } else { Path::new(bin).to_path_buf() };
        let server = format!("[[server]]\nname = \"s\"\nengine = \"{engine}\"\nbin = {bin:?}\n");
        plan(&place, "rounds = 2", &server);
        let ended = study(&place, &["plan.toml", "--out", "results"]).expect_code(1);
        assert!(ended.stderr.contains("plan.toml, line 8: "), "{ended}");
        assert!(ended.stderr.contains(part), "{ended}");
        assert!(!place.path("one/dbload-s").exists() && !place.path("results").exists(), "{ended}");
    }
}

#[test]
fn mariadb_is_made_started_and_stopped() {
    if !Path::new("/usr/sbin/mariadbd").is_file() {
        assert!(!required("mysql"), "no MariaDB in /usr/sbin");
        eprintln!("skipped: no MariaDB in /usr/sbin");
        return;
    }
    let place = Place::new();
    let server = "[[server]]\nname = \"maria\"\nengine = \"mariadb\"\nbin = \"/usr/sbin\"\n";
    let off = "settings = { innodb_flush_log_at_trx_commit = 0, innodb-lru-scan-depth = 512 }\n";
    let off = format!("{}{off}", server.replace("\"maria\"", "\"off\""));
    plan(&place, "rounds = 2", &format!("{server}{off}"));
    let ended = study(&place, &["plan.toml", "--out", "results"]).expect_code(0);
    let summary = summary(&place, "results");
    assert_eq!(summary["runs"].as_array().map(Vec::len), Some(8), "{ended}");
    assert_eq!(summary["arms"][0]["engine"], "mariadb", "{ended}");
    let said = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("off/a is not durable: innodb_flush_log_at_trx_commit=0"), "{ended}");
    let said = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("innodb_flush_log_at_trx_commit 1 / 0"), "{ended}");
    // Not one of those that the server is asked for.
    assert!(said.contains("innodb_lru_scan_depth default / 512"), "{ended}");
    for folder in ["one/dbload-maria", "two/dbload-off"] {
        let folder = place.path(folder);
        assert!(folder.join("data/ibdata1").is_file());
        assert!(!folder.join("tmp/pid").exists(), "still running\n{ended}");
    }
}

#[test]
fn storages_are_probed_before_each_round() {
    let place = Place::new();
    let probe = "[probe]\nfio = true\nduration = \"1s\"\nsize_mb = 8\n";
    plan(&place, "rounds = 2", &format!("{probe}{SQLITE}"));
    let path = place.path("plan.toml");
    let args = ["study", "plan.toml", "--out", "results"];
    let refused = place.dbload_with_env(&args, &[("PATH", "/nowhere")]).expect_code(1);
    assert!(refused.stderr.contains("plan.toml, line 8: [probe]: fio cannot be run"), "{refused}");
    assert!(refused.stderr.contains("apt-get install fio"), "{refused}");
    assert!(!place.path("results").exists() && path.is_file());
    if std::process::Command::new("fio").arg("--version").output().is_err() {
        assert!(!required("fio"), "no fio");
        eprintln!("skipped: no fio");
        return;
    }
    let ended = study(&place, &["plan.toml", "--out", "results"]).expect_code(0);
    let summary = summary(&place, "results");
    let probes = summary["probes"].as_array().expect("probes");
    let named = |key: &str| probes.iter().filter_map(|p| p[key].as_str()).collect::<Vec<_>>();
    assert_eq!(named("job"), ["random", "wal"].repeat(4), "{ended}");
    assert!(probes.iter().all(|probe| probe["write"]["iops"].as_f64() > Some(0.0)), "{ended}");
    assert!(probes[0]["read"]["clat_p99_ms"].as_f64() > Some(0.0), "{ended}");
    assert!(probes[1]["flush"]["p99_ms"].as_f64() > Some(0.0), "{ended}");
    let compared = summary["probe_comparisons"].as_array().expect("comparisons");
    assert!(compared.iter().any(|c| c["workload"] == "fio wal" && c["arm"] == "b"), "{ended}");
    assert!(ended.stdout.contains("fio random"), "{ended}");
    assert!(place.path("results/probes/001-a-wal.json").is_file(), "{ended}");
    assert!(!place.path("one/dbload-fio-probe/wal.probe").exists(), "{ended}");
}

/// Whether a test that needs this must not be skipped.
fn required(what: &str) -> bool {
    std::env::var("DBLOAD_REQUIRE").is_ok_and(|all| all.split(',').any(|one| one == what))
}

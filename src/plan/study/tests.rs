//! Plans that are read, and plans that are refused.

use super::*;

const GOOD: &str = r#"rounds = 5
[load]
clients = [1, 2]
duration = "3s"
[[server]]
name = "a"
engine = "sqlite"
[[storage]]
name = "one"
dir = "/tmp"
[[storage]]
name = "two"
dir = "/"
"#;

fn read(text: &str) -> Result<StudyPlan, StudyPlanError> {
    parse(Path::new("plan.toml"), text)
}

#[test]
fn arms_are_servers_times_storages() {
    let plan = read(GOOD).unwrap();
    let names: Vec<&str> = plan.arms.iter().map(|arm| arm.name.as_str()).collect();
    assert_eq!((names, plan.baseline.as_str()), (vec!["a/one", "a/two"], "a/one"));
    assert_eq!(plan.load.warmup, Duration::from_millis(500));
    assert_eq!((plan.rounds, plan.margin), (5, 0.03));
}

#[test]
fn the_baseline_may_run_twice() {
    let plan = read(&GOOD.replace("rounds = 5", "aa = true\nbaseline = \"a/two\"")).unwrap();
    assert_eq!(plan.arms.len(), 3);
    assert_eq!((plan.arms[2].name.as_str(), plan.rounds), ("a/two:again", 8));
    assert_eq!(plan.arms[2].dir, Path::new("/"));
}

#[test]
fn the_example_is_a_plan() {
    let text = EXAMPLE.replace("/mnt/ext4", "/tmp").replace("/mnt/xfs", "/");
    let plan = read(&text).unwrap();
    assert_eq!((plan.rounds, plan.arms.len()), (8, 2));
}

#[test]
fn what_the_example_leaves_out_is_a_plan_as_well() {
    let text = EXAMPLE.replace("/mnt/ext4", "/tmp").replace("/mnt/xfs", "/");
    let text = text.replace("# session_sql", "session_sql").replace("# connect", "connect");
    let text = text.replace("# ramp", "ramp").replace("# pipeline", "pipeline");
    let text = text.replace("# pool", "pool");
    let plan = read(&text).unwrap();
    assert!(plan.load.connect && plan.load.pipeline);
    assert_eq!(plan.load.pool.map(|pool| pool.value), Some(16));
    assert_eq!(plan.load.ramp, Some(Duration::from_secs(10)));
    assert_eq!(plan.load.session_sql, ["SET synchronous_commit = off"]);
}

#[test]
fn every_example_is_a_plan() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/examples");
    let mut read_plans = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let text = text.replace("/mnt/ext4", "/tmp").replace("/mnt/xfs", "/");
        read(&text.replace("/mnt/btrfs", "/")).unwrap();
        read_plans += 1;
    }
    assert!(read_plans >= 5, "{read_plans}");
}

#[test]
fn every_misuse_names_its_line_and_what_to_do() {
    // What is changed into what, the line, and a part of the message.
    for (from, to, line, part) in [
        ("rounds = 5", "runds = 5", 1, "did you mean \"rounds\"?"),
        ("rounds = 5", "rounds = 1", 1, "5 or more give a verdict"),
        ("rounds = 5", "rounds = ", 1, ""),
        ("rounds = 5", "baseline = \"b\"", 1, "arms are a/one, a/two"),
        ("[1, 2]", "[1, 0]", 3, "at least 1"),
        ("\"3s\"", "\"3\"", 4, "write \"3s\""),
        ("\"3s\"", "3", 4, "write \"3s\""),
        ("\"3s\"", "2.5", 4, "write \"2.5s\""),
        ("\"3s\"", "true", 4, "with its unit"),
        ("rounds = 5", "margin = 3", 1, "such as 3%"),
        ("rounds = 5", "rounds = \"five\"", 1, "a whole number"),
        ("rounds = 5", "rounds = -5", 1, "a whole number"),
        ("\"two\"", "\"one\"", 11, "there twice"),
        ("\"sqlite\"", "\"postgres\"", 5, "bin is missing"),
        ("\"sqlite\"", "\"oracle\"", 7, "Known here: postgres, mariadb, mysql, sqlite"),
        ("\"sqlite\"", "\"sqlit\"", 7, "did you mean \"sqlite\"?"),
        ("[[server]]\nname = \"a\"\nengine = \"sqlite\"\n", "", 1, "no [[server]]: add one"),
        ("clients = [1, 2]\n", "", 2, "clients is missing"),
        ("dir = \"/\"", "dir = \"/nowhere\"", 11, "make it, or mount it"),
        ("dir = \"/\"", "dir = \"/tmp\"", 11, "a folder of its own"),
        ("[[storage]]\nname = \"two\"\ndir = \"/\"\n", "", 1, "aa = true"),
        (
            "[[storage]]\nname = \"one\"",
            "[[server]]\nname = \"b\"\nengine = \"sqlite\"\n[[storage]]\nname = \"one\"",
            8,
            "the same as \"a\"",
        ),
    ] {
        assert!(GOOD.contains(from), "{from}");
        let error = read(&GOOD.replacen(from, to, 1)).unwrap_err();
        assert_eq!(error.line, line, "{to}: {error}");
        assert!(error.to_string().contains(part), "{to}: {error}");
        assert!(error.to_string().starts_with("plan.toml, line "), "{error}");
    }
}

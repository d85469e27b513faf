//! Which database is meant: the order of the sources, names of arms, refusals.

use super::*;

fn env<'a>(vars: impl IntoIterator<Item = (&'a str, &'a str)>) -> Env {
    Env::new(vars, None, Some("me"), None)
}

fn by_targets(targets: &[&str]) -> Result<Vec<NamedTarget>, String> {
    let targets = targets.iter().map(|text| (*text).to_owned()).collect();
    let args = TargetArgs { targets, ..TargetArgs::default() };
    args.resolve(&env([])).map_err(|error| error.to_string())
}

fn refusal(target: &str) -> String {
    by_targets(&[target]).unwrap_err()
}

fn one(args: &TargetArgs, env: &Env) -> (String, String, String) {
    let mut named = args.resolve(env).unwrap();
    assert_eq!(named.len(), 1);
    let named = named.remove(0);
    (named.name, named.target.to_string(), named.why)
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn a_pgbench_users_first_try_works() {
    let args = TargetArgs {
        host: some("127.0.0.1"),
        port: some("9800"),
        user: some("postgres"),
        bare: some("bench"),
        ..TargetArgs::default()
    };
    let (name, url, why) = one(&args, &env([("PGHOST", "no"), ("DBLOAD_TARGET", "sqlite:no")]));
    assert_eq!(
        (name.as_str(), url.as_str()),
        ("postgres", "postgres://postgres@127.0.0.1:9800/bench")
    );
    assert_eq!(why, "from -h, -p, -U, the database name");
}

#[test]
fn a_bare_word_takes_the_rest_from_the_environment() {
    let args = TargetArgs { bare: some("bench"), ..TargetArgs::default() };
    let (_, url, _) = one(&args, &env([("PGHOST", "h"), ("PGUSER", "u")]));
    assert_eq!(url, "postgres://u@h:5432/bench");
}

#[test]
fn a_url_may_stand_in_for_the_database_name_when_it_is_alone() {
    let database = some("postgres://u:hunter2@h/db");
    let args = TargetArgs { database: database.clone(), ..TargetArgs::default() };
    assert_eq!(one(&args, &env([])).1, "postgres://u@h:5432/db");
    let args = TargetArgs { database, port: some("1"), ..TargetArgs::default() };
    let problem = args.resolve(&env([])).unwrap_err().to_string();
    assert!(problem.contains("u:***@h") && problem.contains("--target"), "{problem}");
}

#[test]
fn without_options_the_order_is_dbload_target_then_libpq_then_sqlite() {
    let args = TargetArgs::default();
    let vars = [("DBLOAD_TARGET", "x=sqlite:a.db"), ("PGHOST", "h"), ("PGPORT", "1")];
    let (name, url, why) = one(&args, &env(vars));
    assert_eq!((&*name, &*url, &*why), ("x", "sqlite:a.db", "from DBLOAD_TARGET"));
    let (name, url, why) = one(&args, &env([vars[1], vars[2], ("DBLOAD_TARGET", "")]));
    assert_eq!((&*name, &*url), ("postgres", "postgres://me@h:1/me"));
    assert_eq!(why, "from PGHOST, PGPORT");
    let (name, url, why) = one(&args, &env([("PGPASSWORD", "p")]));
    assert_eq!((&*name, &*url), ("sqlite", "sqlite:dbload.sqlite"));
    assert!(why.contains("no --target"));
}

#[test]
fn arms_are_named_before_the_url_or_after_the_engine() {
    let named = by_targets(&[
        "pg-18.3_a=postgres://u@h/d",
        "sqlite:a=b.db",
        "c=sqlite:c=d.db",
        "mysql://u@h/d",
        "mariadb://u@h/d",
    ]);
    let names: Vec<_> =
        named.unwrap().into_iter().map(|arm| (arm.name, arm.target.to_string())).collect();
    let wanted = [
        ("pg-18.3_a", "postgres://u@h:5432/d"),
        ("sqlite", "sqlite:a=b.db"),
        ("c", "sqlite:c=d.db"),
        ("mysql", "mysql://u@h:3306/d"),
        ("mariadb", "mariadb://u@h:3306/d"),
    ];
    assert_eq!(names, wanted.map(|(name, url)| (name.to_owned(), url.to_owned())));
    let url = "postgresql://u@h/d";
    let problem = by_targets(&[url, url]).unwrap_err();
    assert!(problem.contains("two targets are named \"postgres\""), "{problem}");
}

#[test]
fn what_is_no_target_is_refused_with_what_is_one() {
    for (target, words) in [
        ("bench", "an SQLite file is sqlite:bench"),
        ("", "is no database URL"),
        ("host=h dbname=d", "key=value words are not understood"),
        ("postgrse://h/d", "did you mean \"postgres\"?"),
        ("oracle://h/d", "\"oracle:\" is no engine of dbload's"),
        ("mysql:h/d", "\"mysql:\" wants \"//\""),
        ("mysql://u@h", "no database is named"),
        ("sqlite::memory:", "belongs to one connection"),
        ("postgres:h/d", "\"postgres:\" wants \"//\""),
    ] {
        let problem = refusal(target);
        assert!(problem.contains(words), "{target}: {problem}");
    }
}

#[test]
fn two_ways_at_once_are_refused() {
    let args =
        TargetArgs { targets: vec!["sqlite:x".into()], host: some("h"), ..TargetArgs::default() };
    let problem = args.resolve(&env([])).unwrap_err().to_string();
    assert!(problem.contains("-h and --target exclude each other"), "{problem}");
    let args = TargetArgs { database: some("a"), bare: some("b"), ..TargetArgs::default() };
    let problem = args.resolve(&env([])).unwrap_err().to_string();
    assert!(problem.contains("named twice"), "{problem}");
}

#[test]
fn no_refusal_shows_a_password() {
    for target in [
        "postgres://u:hunter2",
        "postgres://u:hunter2@h:x/d",
        "postgres://u:hun/ter2@h/d",
        "postgres://u:1/hunter2@h/d",
        "postgres://u:1?hunter2@h/d",
        "postgres://u:1?a=hunter2@h/d",
        "postgres://u:hunter2@h?hots=x",
        "postgres://u:hunter2@h?sslmode=x",
        "postgres://h?password=hunter2&x=y",
        "postgres://u:@hunter2@h",
        "postgres:u:hunter2@h/d",
        "postgers://u:hunter2@h/d",
        "mysql://u:hunter2@h",
        "mysql://u:hun@ter2@h/d",
        "mariadb://u:hunter2@h/d?ssl-mode=x",
        "u:hunter2@h/d",
        "hunter2:x@h",
        "host=h password=hunter2",
        "a=postgres://u:hunter2 @h",
    ] {
        let args = TargetArgs { targets: vec![target.into()], ..TargetArgs::default() };
        let error = args.resolve(&env([])).unwrap_err();
        let text = format!("{error} {error:?}");
        assert!(!text.contains("hun") && !text.contains("ter2"), "{target}: {text}");
    }
}

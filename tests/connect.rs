//! How dbload finds and enters a PostgreSQL server: the ways of libpq, TLS, passwords, and that a
//! password never shows.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use common::on_every_postgres;
use common::postgres::{Database, with_database};
use common::program::Place;

on_every_postgres![
    the_first_try_of_a_pgbench_user_works,
    the_environment_of_libpq_is_used,
    a_unix_socket_works,
    a_password_is_taken_from_the_url_the_environment_and_the_password_file,
    a_password_that_was_given_shows_nowhere,
    a_wrong_password_and_a_missing_database_are_refused,
];

/// The parts of `postgres://user[:password]@host:port/database`.
struct Parts {
    user: String,
    password: String,
    host: String,
    port: String,
    database: String,
}

fn parts(url: &str) -> Parts {
    let (login, rest) = url.trim_start_matches("postgres://").split_once('@').expect("a user");
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    let (address, database) = rest.split_once('/').expect("a database");
    let (host, port) = address.split_once(':').expect("a port");
    let [user, password, host, port, database] =
        [user, password, host, port, database].map(str::to_owned);
    Parts { user, password, host, port, database }
}

fn the_first_try_of_a_pgbench_user_works(db: &Database) {
    let place = Place::new();
    let Parts { user, host, port, database, .. } = parts(&db.url());
    let server = ["-h", &host, "-p", &port, "-U", &user];
    let init = [&["init", "-s", "1"], &server[..], &["-d", &database]].concat();
    place.dbload(&init).expect_code(0);
    let run = [&["run"], &server[..], &["-c", "2,4", "-T", "1", &database]].concat();
    let results = place.dbload(&run).expect_code(0).results();
    assert_eq!(results.levels(), [2, 4]);
}

fn the_environment_of_libpq_is_used(db: &Database) {
    let place = Place::new();
    let Parts { user, host, port, database, .. } = parts(&db.url());
    let env = [
        ("PGHOST", host.as_str()),
        ("PGPORT", &port),
        ("PGUSER", &user),
        ("PGDATABASE", &database),
        ("PGOPTIONS", "-c application_name=from_pgoptions -c search_path=elsewhere"),
    ];
    db.sql("CREATE SCHEMA elsewhere");
    place.dbload_with_env(&["init", "--scale", "1"], &env).expect_code(0);
    assert_eq!(db.rows("elsewhere.pgbench_branches"), 1, "PGOPTIONS is honoured");
    place.dbload_with_env(&["run", "-c", "1", "-t", "5"], &env).expect_code(0);
    assert_eq!(db.rows("elsewhere.pgbench_history"), 5);
}

fn a_unix_socket_works(db: &Database) {
    let place = Place::new();
    let Parts { user, port, database, .. } = parts(&db.url());
    let folder = db.sql("SHOW unix_socket_directories");
    let encoded = folder.replace('/', "%2F");
    let urls = [
        format!("postgres://{user}@{encoded}:{port}/{database}"),
        format!("postgres://{user}@/{database}?host={folder}&port={port}"),
    ];
    place.dbload(&["init", "--scale", "1", "--target", &urls[0]]).expect_code(0);
    for url in &urls {
        place.dbload(&["run", "-c", "2", "-t", "5", "--target", url]).expect_code(0);
    }
    let args = ["verify", "-h", &folder, "-p", &port, "-U", &user, "-d", &database];
    place.dbload(&args).expect_code(0);
}

fn a_password_is_taken_from_the_url_the_environment_and_the_password_file(db: &Database) {
    let place = Place::new();
    let url = db.password_url();
    let Parts { user, password, host, port, database } = parts(&url);
    place.dbload(&["init", "--scale", "1", "--target", &url]).expect_code(0);

    let without = format!("postgres://{user}@{host}:{port}/{database}");
    let verify = ["verify", "--target", &without];
    place.dbload(&verify).expect_refusal(&["password"]);
    place.dbload_with_env(&verify, &[("PGPASSWORD", &password)]).expect_code(0);

    let file = place.path(".pgpass");
    fs::write(&file, format!("{host}:{port}:other:{user}:no\n*:*:*:{user}:{password}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    place.dbload(&verify).expect_code(0);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    place.dbload(&verify).expect_refusal(&[".pgpass"]);
}

fn a_password_that_was_given_shows_nowhere(db: &Database) {
    let place = Place::new();
    let url = db.password_url();
    let password = parts(&url).password;
    let mut output = String::new();
    for args in [
        &["init", "--scale", "1", "--target", &url][..],
        &["run", "--clients", "1,2", "--duration", "1s", "--target", &url],
        &["run", "--clients", "1", "-t", "5", "--json", "--target", &url],
        &["verify", "--target", &url],
        &["clean", "--target", &url],
    ] {
        output += &place.dbload(args).expect_code(0).output();
    }
    assert!(!output.contains(&password), "{output}");
    let files = place.files();
    assert!(files.len() >= 8, "{files:?}");
    for file in files {
        let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
        assert!(!text.contains(&password), "{} holds the password", file.display());
    }
}

fn a_wrong_password_and_a_missing_database_are_refused(db: &Database) {
    let place = Place::new();
    let right = parts(&db.password_url()).password;
    let wrong = db.password_url().replace(&right, "hush%2Dhush");
    for command in [&["run", "-c", "2", "-T", "1"][..], &["init", "--scale", "1"], &["verify"]] {
        let args = [command, &["--target", &wrong]].concat();
        let ended = place.dbload(&args).expect_refusal(&["password", "dbload_password"]);
        assert!(!ended.output().contains("hush"), "{ended}");
    }
    let url = db.url().replace(&db.name, "no_such_database");
    for command in [&["run", "-c", "2", "-T", "1"][..], &["init", "--scale", "1"], &["verify"]] {
        let args = [command, &["--target", &url]].concat();
        place.dbload(&args).expect_refusal(&["no_such_database"]);
    }
    assert!(place.files().is_empty(), "{:?}", place.files());
    assert_eq!(db.sql("SELECT count(*) FROM pg_class WHERE relname LIKE 'pgbench%'"), "0");
}

#[test]
fn tls_is_used_and_the_certificate_checked() {
    with_database("PG_TLS", |db| {
        let place = Place::new();
        let url = db.url();
        let args = |url: &str| ["verify", "--target", url].map(str::to_owned);
        place.dbload(&["init", "--scale", "1", "--target", &url]).expect_code(0);
        place.dbload(&["run", "-c", "2", "-t", "20", "--target", &url]).expect_code(0);

        // The server admits nobody over TCP without TLS.
        place
            .dbload(&args(&url.replace("verify-full", "disable")))
            .expect_refusal(&["pg_hba.conf"]);
        place.dbload(&args(&url.replace("verify-full", "require"))).expect_code(0);

        let (address, _) = url.split_once('?').unwrap();
        place.dbload(&args(address)).expect_code(0); // sslmode=prefer is the default
        place.dbload(&args(&format!("{address}?sslmode=require"))).expect_code(0);
        // No certificate authority of this machine vouches for the server's certificate.
        place
            .dbload(&args(&format!("{address}?sslmode=verify-full")))
            .expect_refusal(&["certificate"]);
        // The certificate is for 127.0.0.1 and localhost.
        let elsewhere = url.replace("127.0.0.1", "127.0.0.2");
        place.dbload(&args(&elsewhere)).expect_code(1);
    });
}

#[test]
fn a_password_works_over_a_unix_socket() {
    with_database("PG_TLS", |db| {
        let place = Place::new();
        let url = db.url();
        let (address, _) = url.split_once('?').unwrap();
        let Parts { user, password, port, database, .. } = parts(address);
        let folder = db.sql("SHOW unix_socket_directories");
        let url = format!("postgres://{user}:{password}@/{database}?host={folder}&port={port}");
        place.dbload(&["init", "--scale", "1", "--target", &url]).expect_code(0);
        let wrong = url.replace(&password, "wrong");
        place.dbload(&["verify", "--target", &wrong]).expect_refusal(&["password"]);
    });
}

//! dbload on MySQL or MariaDB: the built-in workloads in every protocol, exact counts, what remains
//! of an interrupted run, deadlocks and lock waits, refusals, and that a password never shows.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::fs;

use common::mysql::{Database, Server, with_database, with_server, with_tls_server};
use common::program::{Ended, Place};
use common::results::{Results, number, read_intervals};
use common::wait_until;
use rustix::process::Signal;

/// Runs dbload on the database; `args` are written as on a command line.
fn dbload(db: &Database, place: &Place, args: &str) -> Ended {
    place.dbload(&with_target(db, args))
}

fn with_target(db: &Database, args: &str) -> Vec<String> {
    let args = args.split_whitespace().map(str::to_owned);
    args.chain(["--target".to_owned(), db.url()]).collect()
}

#[test]
fn every_built_in_runs_in_every_protocol_and_the_sums_hold() {
    with_database(|db| {
        let place = Place::new();
        dbload(db, &place, "init --scale 8 --jobs 2").expect_code(0);
        for protocol in ["prepared", "extended", "simple"] {
            for workload in ["tpcb-like", "simple-update", "select-only"] {
                let run = format!("run --workload {workload} -M {protocol} -c 1,8 -T 1 -P 0.25");
                let results = dbload(db, &place, &run).expect_code(0).results();
                results.assert_consistent();
                assert_eq!(results.levels(), [1, 8]);
                for run in results.runs() {
                    assert!(number(run, "transactions") > 0, "{run}");
                    assert_eq!(number(&run["failed"], "total"), 0, "{run}");
                    assert_eq!(run["protocol"], protocol);
                }
            }
            dbload(db, &place, "verify").expect_code(0);
        }
    });
}

#[test]
fn transactions_leaves_exactly_that_many_rows_per_client() {
    with_database(|db| {
        let place = Place::new();
        dbload(db, &place, "init --scale 8").expect_code(0);
        let run = "run -n --clients 8 --transactions 250";
        let results = dbload(db, &place, run).expect_code(0).results();
        results.assert_consistent();
        assert_eq!(db.rows("pgbench_history"), 2000);
        assert_eq!(number(results.run(), "transactions"), 2000);
        assert_eq!(number(results.run(), "unfinished"), 0);
        let statements = results.run()["statements"].as_array().unwrap();
        assert_eq!(statements.len(), 7);
        for statement in &statements[1..6] {
            assert_eq!((number(statement, "count"), number(statement, "rows")), (2000, 2000));
        }
        // The history is truncated before the next level, and what it held is not forgotten.
        dbload(db, &place, "run -c 1,2 -t 50").expect_code(0);
        assert_eq!(db.rows("pgbench_history"), 100);
        dbload(db, &place, "verify").expect_code(0);
    });
}

#[test]
fn tampering_is_found_and_an_interrupted_truncation_is_settled() {
    with_database(|db| {
        let place = Place::new();
        dbload(db, &place, "init --scale 1").expect_code(0);
        dbload(db, &place, "run -c 2 -t 100").expect_code(0);
        // As if dbload had been killed between its note and the truncation, and then after it.
        db.sql(
            "update dbload_state set history_id = (select count(*) from pgbench_history);
             update dbload_state set history_file = (select sum(delta) from pgbench_history)",
        );
        dbload(db, &place, "verify").expect_code(0);
        db.sql("truncate table pgbench_history");
        dbload(db, &place, "verify").expect_code(0);
        dbload(db, &place, "run -c 2 -t 100").expect_code(0);
        dbload(db, &place, "verify").expect_code(0);

        db.sql("update pgbench_accounts set abalance = abalance + 1 where aid = 1");
        let ended = dbload(db, &place, "verify").expect_code(2);
        let off: Vec<&str> = ended.stdout.lines().filter(|l| l.starts_with("OFF")).collect();
        assert_eq!(off.len(), 1, "{ended}");
        assert!(off[0].contains("sum(abalance)") && off[0].ends_with("1 more"), "{ended}");
        dbload(db, &place, "verify --rebase").expect_code(0);
        dbload(db, &place, "verify").expect_code(0);
        db.sql("delete from pgbench_accounts where aid = 100000");
        let ended = dbload(db, &place, "verify").expect_code(2);
        assert!(ended.output().contains("rows of pgbench_accounts"), "{ended}");
    });
}

#[test]
fn tables_are_replaced_only_when_told_to_and_only_the_schemas_own() {
    with_database(|db| {
        let place = Place::new();
        dbload(db, &place, "run -c 1 -T 1").expect_refusal(&["dbload init"]);
        db.sql("create table mine (id int); create table pgbench_tellers (mine text)");
        dbload(db, &place, "init --scale 1 --replace").expect_refusal(&["pgbench_tellers"]);
        db.sql("drop table pgbench_tellers");
        dbload(db, &place, "init --scale 1 --foreign-keys").expect_code(0);
        dbload(db, &place, "init --scale 1").expect_refusal(&["pgbench_", "--replace"]);
        dbload(db, &place, "init --scale 1 --partitions 2 --replace")
            .expect_refusal(&["--partitions"]);
        dbload(db, &place, "run -c 2 -t 20 --verify").expect_code(0);
        dbload(db, &place, "init --scale 2 --replace").expect_code(0);
        assert_eq!(db.rows("pgbench_branches"), 2);
        assert_eq!(db.rows("pgbench_accounts"), 200_000);
        dbload(db, &place, "clean").expect_code(0);
        assert_eq!(db.sql("show tables"), "mine");
    });
}

#[test]
fn sigint_leaves_the_rows_that_were_committed_and_at_most_the_unfinished_ones() {
    with_database(|db| {
        let place = Place::new();
        dbload(db, &place, "init --scale 1").expect_code(0);
        let out = place.path("out");
        let run = "run --clients 8 --duration 60s --warmup 0 --interval 200ms --out out";
        let running = place.start(&with_target(db, run));
        wait_until("three intervals", || read_intervals(&out).len() >= 3);
        running.signal(Signal::INT);
        running.wait().expect_code(130);

        let results = Results::read(&out);
        results.assert_consistent();
        let committed = number(results.run(), "transactions");
        let unfinished = number(results.run(), "unfinished");
        wait_until("the server to end the sessions", || db.sessions() == 0);
        let rows = db.rows("pgbench_history");
        assert!(unfinished <= 8, "{unfinished} unfinished of 8 clients");
        assert!(
            (committed..=committed + unfinished).contains(&rows),
            "{rows} rows, {committed} committed, {unfinished} unfinished"
        );
        dbload(db, &place, "verify").expect_code(0);
    });
}

#[test]
fn a_statement_beyond_the_grace_time_is_killed_and_unfinished() {
    with_database(|db| {
        let place = Place::new();
        fs::write(place.path("slow.sql"), "do sleep(60);\n").unwrap();
        // One client has its thread to itself, and waits in the kernel.
        for clients in [1, 3] {
            let run = format!("run --script slow.sql -c {clients} -T 1 --warmup 0 --grace 1s");
            let ended = dbload(db, &place, &run);
            assert_eq!(number(ended.results().run(), "unfinished"), clients, "{ended}");
            wait_until("the server to end the sessions", || db.sessions() == 0);
        }
    });
}

/// Two scripts that lock the same two rows in opposite order, and count what they did.
fn crossing_scripts(db: &Database, place: &Place) -> &'static str {
    db.sql("create table t (id int primary key, n int not null) engine = InnoDB");
    db.sql("insert into t values (1, 0), (2, 0)");
    let script = |first: u32, second: u32| {
        let update = |id: u32| format!("UPDATE t SET n = n + 1 WHERE id = {id};\n");
        format!("BEGIN;\n{}\\sleep 2 ms\n{}END;\n", update(first), update(second))
    };
    fs::write(place.path("up.sql"), script(1, 2)).unwrap();
    fs::write(place.path("down.sql"), script(2, 1)).unwrap();
    "run -f up.sql -f down.sql -c 4 -t 50"
}

#[test]
fn deadlocks_are_rolled_back_and_tried_again_up_to_the_limit() {
    with_database(|db| {
        let place = Place::new();
        let run = crossing_scripts(db, &place);
        let ended = dbload(db, &place, &format!("{run} --max-tries 0")).expect_code(0);
        let results = ended.results();
        results.assert_consistent();
        assert_eq!(number(results.run(), "transactions"), 200);
        assert!(number(results.run(), "retried") > 0, "{ended}");
        assert_eq!(number(&results.run()["failed"], "total"), 0);
        // A try that was not rolled back would have counted a row twice.
        assert_eq!(db.sql("select n from t"), "200\n200");

        let ended = dbload(db, &place, run).expect_code(0);
        let run = ended.results().run().clone();
        let failed = number(&run["failed"]["by_code"], "1213");
        assert!(failed > 0, "{ended}");
        assert_eq!(failed, number(&run["failed"], "total"));
        assert_eq!(number(&run, "transactions"), 200 - failed);
        let expected = 400 - failed;
        assert_eq!(db.sql("select n from t"), format!("{expected}\n{expected}"));
    });
}

#[test]
fn sums_agree_after_lock_wait_timeouts() {
    with_server(|server| {
        let (db, place) = (&server.database(), Place::new());
        db.sql("set global innodb_lock_wait_timeout = 1");
        dbload(db, &place, "init --scale 1").expect_code(0);
        for max_tries in [1, 10] {
            let out = place.path(&format!("out{max_tries}"));
            let out_arg = out.display();
            let run =
                format!("run -c 8 -T 6 --warmup 0 -P 0.2 --max-tries {max_tries} --out {out_arg}");
            let running = place.start(&with_target(db, &run));
            wait_until("an interval", || !read_intervals(&out).is_empty());
            let mut holder = db.session(
                "begin; update pgbench_branches set bbalance = bbalance where bid = 1;
                 select sleep(3); rollback",
            );
            let ended = running.wait().expect_code(0);
            holder.wait().unwrap();
            let results = Results::read(&out);
            results.assert_consistent();
            let run = results.run();
            if max_tries == 1 {
                assert!(number(&run["failed"]["by_code"], "1205") >= 8, "{ended}");
            } else {
                assert_eq!(number(&run["failed"], "total"), 0, "{ended}");
                assert!(number(run, "retries") >= 8, "{ended}");
            }
            dbload(db, &place, "verify").expect_code(0);
        }
    });
}

/// Rows are the same whatever a database stores its texts as.
#[test]
fn rows_are_loaded_into_a_database_of_any_character_set() {
    for character_set in ["utf16", "utf8mb4", "latin1"] {
        with_database(|db| {
            let place = Place::new();
            db.sql(&format!("alter database {} character set {character_set}", db.name));
            dbload(db, &place, "init --workload sysbench --table-size 100").expect_code(0);
            dbload(db, &place, "verify").expect_code(0);
            let digits = "^[0-9]{11}(-[0-9]{11}){4}$";
            let good = format!("select count(*) from sbtest1 where pad regexp '{digits}'");
            assert_eq!(db.number(&good), 100, "{character_set}");
        });
    }
}

#[test]
fn without_load_data_local_rows_are_inserted_and_it_is_said() {
    with_server(|server| {
        let (db, place) = (&server.database(), Place::new());
        db.sql("set global local_infile = 0");
        let ended = dbload(db, &place, "init --scale 1 --jobs 2").expect_code(0);
        assert!(ended.stderr.contains("local_infile is off"), "{ended}");
        assert_eq!(db.rows("pgbench_accounts"), 100_000);
        let results = dbload(db, &place, "run -c 2 -t 20 --verify").expect_code(0).results();
        let arm = &results.summary["arms"][0];
        assert_eq!(arm["settings"]["local_infile"], "OFF");
        assert!(arm["transport"] == "tcp" || arm["transport"] == "tls", "{arm}");
    });
}

#[test]
fn a_server_that_is_killed_leaves_a_report_up_to_there() {
    with_server(|server: &Server| {
        let (db, place) = (&server.database(), Place::new());
        dbload(db, &place, "init --scale 1").expect_code(0);
        let out = place.path("out");
        let run = "run -c 4 -T 60 --warmup 0 -P 0.2 --no-reconnect --out out";
        let running = place.start(&with_target(db, run));
        wait_until("three intervals", || read_intervals(&out).len() >= 3);
        drop(server.kill());
        let ended = running.wait().expect_code(2);
        assert!(!ended.stderr.contains("panicked"), "{ended}");
        let results = Results::read(&out);
        results.assert_consistent();
        assert!(number(results.run(), "transactions") > 0, "{ended}");
        assert_eq!(results.run()["complete"], false);
        assert!(ended.stdout.contains("tps"), "{ended}");
    });
}

#[test]
fn a_password_is_taken_from_everywhere_and_shows_nowhere() {
    with_database(|db| {
        let place = Place::new();
        let (url, password) = (db.url(), db.password());
        let without = url.replace(&format!(":{password}"), "");
        let verify = ["verify", "--target", &without];
        let mut output = String::new();
        for args in [
            &["init", "--scale", "1", "--target", &url][..],
            &["run", "-c", "1,2", "-T", "1", "--target", &url],
            &["run", "-c", "1", "-t", "5", "--json", "--target", &url],
            &["verify", "--target", &url],
        ] {
            output += &place.dbload(args).expect_code(0).output();
        }
        output += &place.dbload(&verify).expect_refusal(&["MYSQL_PWD"]).output();
        output += &place.dbload_with_env(&verify, &[("MYSQL_PWD", password)]).output();
        let wrong = [("MYSQL_PWD", "hush-hush")];
        let refused = place.dbload_with_env(&verify, &wrong).expect_refusal(&["the password"]);
        assert!(!refused.output().contains("hush"), "{refused}");
        let options = place.path(".my.cnf");
        fs::write(&options, format!("[client]\npassword = {password}\n")).unwrap();
        output += &place.dbload(&verify).expect_code(0).output();
        fs::remove_file(options).unwrap();

        assert!(!output.contains(password), "{output}");
        let files = place.files();
        assert!(files.len() >= 8, "{files:?}");
        for file in files {
            let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
            assert!(!text.contains(password), "{} holds the password", file.display());
        }
    });
}

#[test]
fn tls_is_used_and_the_certificate_checked_as_far_as_ssl_mode_says() {
    with_tls_server(|url| {
        let place = Place::new();
        let (address, options) = url.split_once('?').unwrap();
        let (_, ca) = options.split_once("&ssl-ca=").unwrap();
        let other = place.path("other.crt");
        fs::write(&other, include_str!("data/another-authority.crt")).unwrap();
        let other = other.display().to_string();
        let elsewhere = address.replace("127.0.0.1", "127.0.0.2");
        fs::write(place.path("one.sql"), "SELECT 1;\n").unwrap();
        let run = |url: &str| {
            place.dbload(&["run", "-c", "2", "-t", "5", "-f", "one.sql", "--target", url])
        };
        let transport = |url: &str| {
            let results = run(url).expect_code(0).results();
            results.summary["arms"][0]["transport"].as_str().unwrap().to_owned()
        };
        assert_eq!(transport(&format!("{address}?ssl-mode=DISABLED")), "tcp");
        for encrypted in ["", "?ssl-mode=PREFERRED", "?ssl-mode=REQUIRED"] {
            assert_eq!(transport(&format!("{address}{encrypted}")), "tls", "{encrypted}");
        }
        for mode in ["VERIFY_CA", "VERIFY_IDENTITY"] {
            let options = |ca: &str| format!("ssl-mode={mode}&ssl-ca={ca}");
            assert_eq!(transport(&format!("{address}?{}", options(ca))), "tls", "{mode}");
            let unknown = &["no trusted authority", "ssl-ca"];
            run(&format!("{address}?{}", options(&other))).expect_refusal(unknown);
            run(&format!("{address}?ssl-mode={mode}")).expect_refusal(unknown);
            run(&format!("{address}?{}", options("/nowhere"))).expect_refusal(&["/nowhere"]);
            let url = format!("{elsewhere}?{}", options(ca));
            if mode == "VERIFY_CA" {
                assert_eq!(transport(&url), "tls", "the name does not matter");
            } else {
                run(&url).expect_refusal(&["127.0.0.2", "not valid for name", "VERIFY_CA"]);
            }
        }
    });
}

#[test]
fn a_missing_database_and_an_absent_server_are_refused() {
    with_database(|db| {
        let place = Place::new();
        let missing = db.url().replace(&db.name, "no_such_database");
        let absent = "mysql://u:hush@127.0.0.1:1/d";
        for command in [&["run", "-c", "2", "-T", "1"][..], &["init", "--scale", "1"], &["verify"]]
        {
            let args = [command, &["--target", &missing]].concat();
            place.dbload(&args).expect_refusal(&["\"no_such_database\" does not exist"]);
            let args = [command, &["--target", absent]].concat();
            place.dbload(&args).expect_refusal(&["no server answers on 127.0.0.1:1"]);
        }
        assert!(place.files().is_empty(), "{:?}", place.files());
    });
}

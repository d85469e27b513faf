//! What the sysbench workloads leave when the server makes them wait, and when it is killed.

use std::process::Child;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value as Json;

use crate::bench::Bench;
use crate::common::program::{Ended, Running, send};
use crate::common::results::{Results, number, read_intervals};
use crate::common::{mysql, postgres, wait_until};

/// Starts a run that writes its results to the folder `out`.
fn start(bench: &Bench<'_>, out: &str, args: &str) -> Running {
    let url = bench.url();
    let args = format!("run {args} --warmup 0 -P 0.2 --out {out}");
    let args: Vec<&str> = args.split(' ').chain(["--target", &url]).collect();
    bench.place.start(&args)
}

fn codes(run: &Json) -> Vec<&str> {
    run["failed"]["by_code"].as_object().unwrap().keys().map(String::as_str).collect()
}

/// A row is locked for three seconds, and a wait ends after one. `by_code`: the timeouts show as
/// failures, else as further tries.
fn locked_for_a_while(bench: &Bench<'_>, hold: impl FnOnce() -> Child, by_code: bool, args: &str) {
    let out = if by_code { "once" } else { "often" };
    let running = start(bench, out, args);
    let folder = bench.place.path(out);
    wait_until("an interval", || !read_intervals(&folder).is_empty());
    let mut holder = hold();
    let ended = running.wait().expect_code(0);
    assert!(holder.wait().unwrap().success());
    let results = Results::read(&folder);
    results.assert_consistent();
    let run = results.run();
    assert!(number(run, "transactions") > 0, "{ended}");
    assert_eq!(number(run, "clients_lost"), 0, "{ended}");
    let expected = ["1205", "1213", "1062", "1020"];
    assert!(codes(run).iter().all(|code| expected.contains(code)), "{run}");
    if by_code {
        // How many wait for that row, and not for one that waits, is chance.
        assert!(number(&run["failed"]["by_code"], "1205") > 0, "{ended}");
    } else {
        assert!(number(run, "retries") > 0, "{ended}");
    }
    // A delete without its insert would have taken a row away.
    assert_eq!(bench.sql("select count(*) from sbtest1"), "20", "{ended}");
    bench.verify();
}

#[test]
fn deletes_and_inserts_balance_after_lock_wait_timeouts() {
    mysql::with_server(|server| {
        let db = &server.database();
        let bench = Bench::mysql(db);
        db.sql("set global innodb_lock_wait_timeout = 1");
        bench.load(1, 20);
        let hold = || {
            db.session(
                "set innodb_lock_wait_timeout = 30; begin;
                 update sbtest1 set pad = pad where id = 10; select sleep(3); rollback",
            )
        };
        let run = "--workload write-only -c 8 -T 6 --table-size 20";
        locked_for_a_while(&bench, hold, true, &format!("{run} --max-tries 1"));
        locked_for_a_while(&bench, hold, false, &format!("{run} --max-tries 20"));
    });
}

/// Kills the server of a run that has lasted three intervals.
fn killed(bench: &Bench<'_>, kill: &dyn Fn(), out: &str, args: &str) -> (Ended, Results) {
    let running = start(bench, out, args);
    let folder = bench.place.path(out);
    wait_until("three intervals", || read_intervals(&folder).len() >= 3);
    kill();
    let ended = running.wait().expect_code(2);
    assert!(!ended.stderr.contains("panicked"), "{ended}");
    assert!(ended.stdout.contains("tps"), "{ended}");
    let results = Results::read(&folder);
    results.assert_consistent();
    let run = results.run();
    assert!(number(run, "transactions") > 0, "{ended}");
    assert_eq!(number(run, "clients_lost"), 4, "{ended}");
    (ended, results)
}

/// Without a connection, and told not to make another one, the run is over.
fn a_killed_server_ends_the_run(bench: &Bench<'_>, kill: &dyn Fn()) {
    bench.load(1, 1000);
    let run = "--workload write-only -c 4 -T 120 --no-reconnect";
    let (ended, results) = killed(bench, kill, "out", run);
    assert_eq!(results.run()["complete"], false, "{ended}");
    assert!(results.run()["duration_s"].as_f64().unwrap() < 110.0, "{ended}");
}

/// A server that never comes back is waited for until the window's end.
fn a_server_that_stays_away_is_waited_for_up_to_the_limit(bench: &Bench<'_>, kill: &dyn Fn()) {
    bench.load(1, 1000);
    let (ended, results) = killed(bench, kill, "out", "--workload write-only -c 4 -T 5");
    let run = results.run();
    assert!((run["duration_s"].as_f64().unwrap() - 5.0).abs() < 0.01, "{ended}");
    assert_eq!(results.intervals.len(), 25, "{ended}");
    assert_eq!(results.intervals.last().unwrap().transactions, 0, "{ended}");
    assert_eq!(run["outages"].as_array().unwrap().len(), 1, "{run}");
}

#[test]
fn a_killed_mysql_ends_the_run() {
    mysql::with_server(|server| {
        let db = server.database();
        a_killed_server_ends_the_run(&Bench::mysql(&db), &|| drop(server.kill()));
    });
}

#[test]
fn a_killed_postgresql_ends_the_run() {
    postgres::with_server(|db, own| {
        a_killed_server_ends_the_run(&Bench::postgres(db), &|| own.kill());
    });
}

#[test]
fn a_mysql_that_stays_away_is_waited_for_up_to_the_limit() {
    mysql::with_server(|server| {
        let db = server.database();
        let kill = || drop(server.kill());
        a_server_that_stays_away_is_waited_for_up_to_the_limit(&Bench::mysql(&db), &kill);
    });
}

#[test]
fn a_postgresql_that_stays_away_is_waited_for_up_to_the_limit() {
    postgres::with_server(|db, own| {
        let kill = || own.kill();
        a_server_that_stays_away_is_waited_for_up_to_the_limit(&Bench::postgres(db), &kill);
    });
}

/// Waits until a run has that many more intervals in which something committed.
fn wait_for_work(bench: &Bench<'_>, more: usize) {
    let folder = bench.place.path("out");
    let busy = || read_intervals(&folder).iter().filter(|row| row.transactions > 0).count();
    let before = busy();
    wait_until("intervals with transactions", || busy() >= before + more);
}

/// Every client works again at the end.
#[track_caller]
fn all_are_back(bench: &Bench<'_>, running: Running) -> Results {
    let ended = running.wait().expect_code(0);
    let results = Results::read(&bench.place.path("out"));
    results.assert_consistent();
    assert_eq!(number(results.run(), "clients_lost"), 0, "{ended}");
    assert!(results.intervals.last().unwrap().transactions > 0, "{ended}");
    assert!(!results.run()["outages"].as_array().unwrap().is_empty(), "{ended}");
    results
}

/// SB-19: a session ended by the administrator, a backend that is killed (which makes the server end
/// all of them), and a restart of the server.
#[test]
fn clients_of_postgresql_come_back_from_whatever_ends_their_sessions() {
    postgres::with_server(|db, own| {
        let bench = Bench::postgres(db);
        bench.load(1, 1000);
        let running = start(&bench, "out", "--workload read-only -c 2 -T 10");
        wait_for_work(&bench, 3);
        db.sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid() LIMIT 1",
        );
        wait_for_work(&bench, 3);
        send(db.backends()[0], Signal::KILL);
        wait_for_work(&bench, 3);
        own.restart();
        let results = all_are_back(&bench, running);
        let by_code = codes(results.run());
        assert!(by_code.contains(&"connection-lost"), "{by_code:?}");
    });
}

/// SB-27: the server is away for two seconds.
#[test]
fn clients_of_mysql_prepare_again_on_a_server_that_was_away() {
    mysql::with_server(|server| {
        let db = server.database();
        let bench = Bench::mysql(&db);
        bench.load(1, 1000);
        let running = start(&bench, "out", "--workload write-only -c 4 -T 15");
        wait_for_work(&bench, 3);
        let command_line = server.kill();
        std::thread::sleep(Duration::from_secs(2));
        server.start_again(&command_line);
        let results = all_are_back(&bench, running);
        let clients = results.run()["outages"][0]["clients"].as_u64();
        assert_eq!(clients, Some(4), "{}", results.run()["outages"]);
        let empty = results.intervals.iter().filter(|row| row.transactions == 0).count();
        assert!(empty >= 9, "{empty} intervals of 0");
    });
}

/// SB-24: a lock wait timeout undoes one statement; the rest of its transaction must go, too.
#[test]
fn half_a_transaction_is_never_committed_by_the_next_try() {
    mysql::with_server(|server| {
        let db = &server.database();
        let bench = Bench::mysql(db);
        db.sql(
            "set global innodb_lock_wait_timeout = 1;
             create table two (id int primary key, n int not null) engine = InnoDB;
             insert into two values (1, 0), (2, 0)",
        );
        let script = bench.place.path("two.sql");
        let text = "BEGIN;\nUPDATE two SET n = n + 1 WHERE id = 1;\n\
                    UPDATE two SET n = n - 1 WHERE id = 2;\nCOMMIT;\n";
        std::fs::write(&script, text).unwrap();
        let mut holder = db.session("begin; update two set n = n where id = 2; select sleep(60)");
        // Once it sleeps it has the lock.
        let sleeper = "select ifnull(max(id), 0) from information_schema.processlist
             where db = database() and state = 'User sleep'";
        wait_until("the lock", || db.number(sleeper) > 0);
        let waits = || -> u64 {
            let status = db.sql("show global status like 'innodb_row_lock_waits'");
            status.rsplit('\t').next().unwrap().parse().unwrap()
        };
        let before = waits();
        let (script, url) = (script.display(), bench.url());
        let run = format!("run -f {script} -c 1 -t 1 --max-tries 100 --out out --target {url}");
        let running = bench.place.start(&run.split(' ').collect::<Vec<_>>());
        // It waits for the second time, so its first try has failed.
        wait_until("the second try", || waits() >= before + 2);
        db.sql(&format!("kill {}", db.number(sleeper)));
        let ended = running.wait().expect_code(0);
        holder.wait().unwrap();
        let results = Results::read(&bench.place.path("out"));
        assert_eq!(number(results.run(), "transactions"), 1, "{ended}");
        assert!(number(results.run(), "retries") >= 1, "{ended}");
        assert_eq!(db.sql("select n from two"), "1\n-1");
    });
}

/// SB-26: 64 clients on ten rows, most of whose transactions meet a deadlock.
#[test]
fn a_crowd_on_ten_rows_ends_in_time_and_is_counted_apart() {
    mysql::with_server(|server| {
        let db = &server.database();
        let bench = Bench::mysql(db);
        bench.load(1, 10);
        let results = bench.dbload("run --workload write-only -c 64 -T 3 --warmup 0").results();
        results.assert_consistent();
        let run = results.run();
        assert!(number(run, "transactions") > 0, "{run}");
        assert!(number(run, "retries") >= number(run, "retried"), "{run}");
        assert!(number(run, "retries") > 0, "{run}");
        let by_code = run["failed"]["by_code"].as_object().unwrap();
        let failed: u64 = by_code.values().map(|count| count.as_u64().unwrap()).sum();
        assert_eq!(failed, number(&run["failed"], "total"));
        assert_eq!(db.rows("sbtest1"), 10);
    });
}

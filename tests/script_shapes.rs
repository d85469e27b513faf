//! Scripts of the kinds that people bring from pgbench, on PostgreSQL and on SQLite: they run
//! without failures and leave what they should.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;

use common::postgres::{Database, with_database};
use common::program::Place;
use common::results::number;

/// Puts things into a cart, and checks out when it is full.
const CART: &str = "\
\\set cart random(1, 20)
\\set item random(1, 1000)
BEGIN;
SELECT count(*) AS items, coalesce(max(version), 0) AS version FROM cart_items WHERE cart = :cart \\gset
\\if :items >= 5
DELETE FROM cart_items WHERE cart = :cart;
INSERT INTO orders (cart, items) VALUES (:cart, :items);
\\else
\\set next :version + 1
INSERT INTO cart_items (cart, item, version) VALUES (:cart, :item, :next);
\\endif
END;
";

/// Takes the next job that nobody else works on.
const QUEUE_POSTGRES: &str = "\
BEGIN;
WITH next AS (
  SELECT id FROM jobs WHERE done = 0 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
)
UPDATE jobs SET done = 1, worker = :client_id FROM next WHERE jobs.id = next.id;
END;
";
const QUEUE_SQLITE: &str = "\
BEGIN;
UPDATE jobs SET done = 1, worker = :client_id
WHERE id = (SELECT id FROM jobs WHERE done = 0 ORDER BY id LIMIT 1);
END;
";

const TABLES: &str = "\
CREATE TABLE cart_items (cart int, item int, version int);
CREATE TABLE orders (cart int, items int);
CREATE TABLE jobs (id int PRIMARY KEY, done int, worker int);
";

/// The mix: mostly reads.
const READ: &str = "\\set cart random(1, 20)\nSELECT item FROM cart_items WHERE cart = :cart;\n";
const COUNT: &str = "SELECT count(*) FROM orders;\n";
const ADD: &str = "\\set cart random(1, 20)\nINSERT INTO orders (cart, items) VALUES (:cart, 0);\n";

/// Runs all shapes at `target`; `scalar` asks the database for one number.
fn shapes(target: &str, queue: &str, scalar: &dyn Fn(&str) -> i64) {
    let place = Place::new();
    let write = |name: &str, text: &str| {
        let path = place.path(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let run = |out: &str, args: &[&str]| {
        let out = place.path(out).to_str().unwrap().to_owned();
        let mut all = vec!["run", "--target", target, "--out", &out, "--max-tries", "0"];
        all.extend(args);
        let ended = place.dbload(&all).expect_code(0);
        let results = common::results::Results::read(out.as_ref());
        results.assert_consistent();
        assert_eq!(number(&results.run()["failed"], "total"), 0, "{ended}");
        results.run().clone()
    };

    let cart = write("cart.sql", CART);
    let measured = run("cart", &["-f", &cart, "-c", "4", "-t", "200"]);
    assert_eq!(number(&measured, "transactions"), 800);
    let ordered = scalar("SELECT coalesce(sum(items), 0) FROM orders");
    let in_carts = scalar("SELECT count(*) FROM cart_items");
    let orders = scalar("SELECT count(*) FROM orders");
    assert!(orders > 20, "{orders}");
    // Every transaction adds an item or makes an order. Two clients may check out one cart at the
    // same time on PostgreSQL: what they count may then differ from what they delete.
    assert!(ordered + in_carts + orders >= 800 - 4 * orders, "{ordered} {in_carts} {orders}");

    let queue = write("queue.sql", queue);
    run("queue", &["-f", &queue, "-c", "4", "-t", "50"]);
    assert_eq!(scalar("SELECT count(*) FROM jobs WHERE done = 1"), 200);
    assert!(scalar("SELECT count(DISTINCT worker) FROM jobs WHERE done = 1") >= 2);

    let before = scalar("SELECT count(*) FROM orders");
    let [read, count, add] =
        [write("read.sql", READ), write("count.sql", COUNT), write("add.sql", ADD)];
    let args = [
        "-f",
        &format!("{read}@90"),
        "-f",
        &format!("{count}@8"),
        "-f",
        &format!("{add}@2"),
        "-c",
        "2",
        "-t",
        "500",
        "-r",
    ];
    let measured = run("mix", &args);
    let scripts = measured["scripts"].as_array().unwrap();
    let counts: Vec<u64> = scripts.iter().map(|script| number(script, "transactions")).collect();
    assert_eq!(counts.iter().sum::<u64>(), 1000);
    assert!((850..=950).contains(&counts[0]) && (1..=50).contains(&counts[2]), "{counts:?}");
    let added = scalar("SELECT count(*) FROM orders") - before;
    assert_eq!(u64::try_from(added).unwrap(), counts[2]);
}

fn on_postgres(database: &Database) {
    database.sql(TABLES);
    database.sql("INSERT INTO jobs SELECT i, 0, NULL FROM generate_series(1, 1000) i");
    shapes(&database.url(), QUEUE_POSTGRES, &|sql| database.number(sql));
}

#[test]
fn a_cart_a_queue_and_a_mix_run_on_postgresql_15() {
    with_database("PG15", on_postgres);
}

#[test]
fn a_cart_a_queue_and_a_mix_run_on_postgresql_18() {
    with_database("PG18", on_postgres);
}

#[test]
fn a_cart_a_queue_and_a_mix_run_on_sqlite() {
    let place = Place::new();
    let path = place.path("shapes.sqlite");
    let database = rusqlite::Connection::open(&path).unwrap();
    database.pragma_update(None, "journal_mode", "wal").unwrap();
    database.execute_batch(TABLES).unwrap();
    for id in 1..=1000 {
        database.execute("INSERT INTO jobs VALUES (?1, 0, NULL)", [id]).unwrap();
    }
    let scalar = |sql: &str| database.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    shapes(&format!("sqlite:{}", path.display()), QUEUE_SQLITE, &scalar);
}

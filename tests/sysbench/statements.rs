//! What the server is sent, from its own log: each transaction has the statements of the reference,
//! and where sysbench has the test, they are those that sysbench sends.

use std::collections::BTreeMap;

use crate::bench::Bench;
use crate::common::{mysql, postgres};

const S1: &str = "select c from sbtestN where id=?";
const RANGES: [&str; 4] = [
    "select c from sbtestN where id between ? and ?",
    "select sum(k) from sbtestN where id between ? and ?",
    "select c from sbtestN where id between ? and ? order by c",
    "select distinct c from sbtestN where id between ? and ? order by c",
];
const U1: &str = "update sbtestN set k=k+? where id=?";
const U2: &str = "update sbtestN set c=? where id=?";
const D: &str = "delete from sbtestN where id=?";
const I: &str = "insert into sbtestN (id,k,c,pad) values (?,?,?,?)";
const INLIST: &str = "update sbtestN set c=? where id in (?,?,?,?,?,?,?,?,?,?)";

/// The statements of one transaction, by workload.
fn reference(workload: &str, inserts_id: bool) -> Vec<&'static str> {
    let reads = || [&[S1; 10][..], &RANGES].concat();
    let block = |inside: &[&'static str]| [&["begin"][..], inside, &["commit"]].concat();
    match workload {
        "point-select" => vec![S1],
        "update-inlist" => vec![INLIST],
        "update-index" => vec![U1],
        "update-nonindex" | "update-one" | "update-zipf" => vec![U2],
        "delete" => vec![D],
        "insert" if inserts_id => vec![I],
        "insert" => vec!["insert into sbtestN (k,c,pad) values (?,?,?)"],
        "write-only" => block(&[U1, U2, D, I]),
        "read-only" => block(&reads()),
        "read-write" => block(&[&reads()[..], &[U1, U2, D, I]].concat()),
        other => panic!("no reference for {other}"),
    }
}

/// The workload's name in sysbench, where it has one.
fn sysbench_name(workload: &str) -> Option<&'static str> {
    Some(match workload {
        "point-select" => "oltp_point_select",
        "read-only" => "oltp_read_only",
        "read-write" => "oltp_read_write",
        "write-only" => "oltp_write_only",
        "update-index" => "oltp_update_index",
        "update-nonindex" => "oltp_update_non_index",
        "delete" => "oltp_delete",
        "insert" => "oltp_insert",
        _ => return None,
    })
}

const ALL: [&str; 11] = [
    "point-select",
    "read-only",
    "read-write",
    "write-only",
    "update-inlist",
    "update-index",
    "update-nonindex",
    "update-one",
    "update-zipf",
    "delete",
    "insert",
];

const TRANSACTIONS: usize = 100;

fn the_server_gets_the_statements_of_the_reference(bench: &Bench<'_>, inserts_id: bool) {
    bench.load(2, 1000);
    for workload in ALL {
        let expected = reference(workload, inserts_id).repeat(TRANSACTIONS);
        for protocol in ["prepared", "simple"] {
            let run = format!("run --workload {workload} --protocol {protocol} -c 1 -t 100");
            let sent = bench.statements_of(|| {
                bench.dbload(&run).expect_code(0);
            });
            assert_eq!(sent.len(), expected.len(), "{workload}: {:?}", sent.last());
            for (sent, expected) in sent.iter().zip(&expected) {
                assert_eq!(sent, expected, "{workload}, {protocol}");
            }
        }
        let Some(name) = sysbench_name(workload) else { continue };
        let options = "--tables=2 --table-size=1000 --events=100 --time=0 --rand-type=uniform";
        let theirs = bench.statements_of(|| {
            bench.sysbench(&format!("{options} {name} run"));
        });
        assert_eq!(count(&theirs), count_of(&expected), "{workload} against sysbench");
    }
}

fn count(statements: &[String]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for statement in statements {
        *counts.entry(statement.as_str()).or_default() += 1;
    }
    counts
}

fn count_of<'s>(statements: &[&'s str]) -> BTreeMap<&'s str, usize> {
    let mut counts = BTreeMap::new();
    for statement in statements {
        *counts.entry(*statement).or_default() += 1;
    }
    counts
}

#[test]
fn postgresql_gets_the_statements_of_the_reference() {
    postgres::with_database("PG18", |db| {
        the_server_gets_the_statements_of_the_reference(&Bench::postgres(db), false);
    });
}

#[test]
fn mysql_gets_the_statements_of_the_reference() {
    // The general log is the whole server's.
    mysql::with_server(|server| {
        let database = server.database();
        the_server_gets_the_statements_of_the_reference(&Bench::mysql(&database), true);
    });
}

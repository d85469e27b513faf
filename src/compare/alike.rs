//! What must be the same before two arms may be compared: a difference of the load would be taken
//! for one of the databases.

use std::collections::BTreeSet;

use crate::result::Run;

/// Something that a run was asked to do.
struct Term {
    name: &'static str,
    /// Nothing where it is not known: what is not known is not compared.
    of: fn(&Run) -> Option<String>,
}

const TERMS: [Term; 10] = [
    Term { name: "workload", of: |run| (!run.workload.is_empty()).then(|| run.workload.clone()) },
    Term { name: "scale", of: scale },
    Term { name: "script", of: scripts },
    Term { name: "duration", of: duration },
    Term { name: "protocol", of: |run| run.knows("protocol").then(|| run.protocol.to_string()) },
    Term { name: "pipeline", of: pipeline },
    Term { name: "connections", of: connections },
    Term { name: "session SQL", of: session_sql },
    Term { name: "rate", of: rate },
    Term { name: "latency limit", of: |run| Some(on_off(run.late.is_some())) },
];

fn pipeline(run: &Run) -> Option<String> {
    // Nothing is known of the script where nothing is known of the protocol.
    run.knows("protocol").then(|| match run.pipeline {
        true => "one round trip for each transaction".to_owned(),
        false => "none (a round trip for each statement)".to_owned(),
    })
}

fn connections(run: &Run) -> Option<String> {
    run.knows("connect_ms").then(|| match (run.connect_ms, run.pool) {
        (_, Some(connections)) => format!("a pool of {connections}"),
        (Some(_), None) => "a new one for every transaction".to_owned(),
        (None, None) => "one for each client".to_owned(),
    })
}

fn session_sql(run: &Run) -> Option<String> {
    let told = run.knows("session_sql");
    told.then(|| match &run.session_sql[..] {
        [] => "none".to_owned(),
        texts => texts.join("; "),
    })
}

fn on_off(on: bool) -> String {
    if on { "set" } else { "none" }.to_owned()
}

fn scale(run: &Run) -> Option<String> {
    match (run.scale, run.tables, run.table_size) {
        (Some(scale), ..) => Some(scale.to_string()),
        (None, Some(tables), Some(rows)) => Some(format!("{tables} tables of {rows} rows")),
        _ => None,
    }
}

/// Every script with its weight and its hash, which is cut as short as it is still told apart.
fn scripts(run: &Run) -> Option<String> {
    let each = run.scripts.iter().filter(|script| !script.sha256.is_empty()).map(|script| {
        let hash: String = script.sha256.chars().take(12).collect();
        // Not NAME@WEIGHT: that could be a password and its host, and would be hidden.
        format!("{} (weight {}, SHA-256 {hash})", script.name, script.weight)
    });
    let all: Vec<String> = each.collect();
    (!all.is_empty()).then(|| all.join(", "))
}

fn duration(run: &Run) -> Option<String> {
    match (run.asked_s, run.asked_transactions) {
        (Some(seconds), _) => Some(format!("{seconds} s")),
        (None, Some(count)) => Some(format!("{count} transactions of each client")),
        _ => None,
    }
}

fn rate(run: &Run) -> Option<String> {
    run.knows("rate_per_s").then(|| match run.rate_per_s {
        Some(rate) => format!("{rate} tps"),
        None => "none (closed loop)".to_owned(),
    })
}

/// What differs between two arms, each difference with both values.
pub fn differences(one: &str, two: &str, runs: &[Run]) -> Vec<String> {
    let values = |arm: &str, term: &Term| -> BTreeSet<String> {
        runs.iter().filter(|run| run.arm == arm).filter_map(term.of).collect()
    };
    let listed = |values: BTreeSet<String>| Vec::from_iter(values).join("; ");
    TERMS
        .iter()
        .filter_map(|term| {
            let (first, second) = (values(one, term), values(two, term));
            let known = !first.is_empty() && !second.is_empty();
            (known && first != second).then(|| {
                let (first, second) = (listed(first), listed(second));
                format!("{}: {one} has {first}, {two} has {second}", term.name)
            })
        })
        .collect()
}

/// The levels that not every arm has.
pub fn odd_levels(runs: &[Run]) -> Vec<u32> {
    let arms: BTreeSet<&str> = runs.iter().map(|run| run.arm.as_str()).collect();
    let levels: BTreeSet<u32> = runs.iter().map(|run| run.clients).collect();
    let has = |arm: &str, clients| runs.iter().any(|run| run.arm == arm && run.clients == clients);
    levels.into_iter().filter(|clients| !arms.iter().all(|arm| has(arm, *clients))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(arm: &str, clients: u32) -> Run {
        Run::of_rate(arm, 1, clients, 100.0)
    }

    #[test]
    fn each_difference_is_named_with_both_values() {
        let a = Run { scale: Some(500), asked_s: Some(60.0), workload: "w".into(), ..run("a", 1) };
        let b = Run { scale: Some(100), arm: "b".into(), ..a.clone() };
        assert_eq!(differences("a", "b", &[a.clone(), b]), ["scale: a has 500, b has 100"]);
        let b = Run { asked_s: Some(30.0), workload: "v".into(), arm: "b".into(), ..a.clone() };
        assert_eq!(
            differences("a", "b", &[a, b]),
            ["workload: a has w, b has v", "duration: a has 60 s, b has 30 s"]
        );
    }

    #[test]
    fn what_is_not_known_of_one_arm_is_no_difference() {
        let a = Run { scale: Some(500), asked_s: Some(60.0), ..run("a", 1) };
        assert!(differences("a", "b", &[a, run("b", 1)]).is_empty());
    }

    #[test]
    fn levels_of_one_arm_alone_are_found() {
        let runs = [run("a", 1), run("a", 2), run("b", 2), run("b", 4)];
        assert_eq!(odd_levels(&runs), [1, 4]);
    }
}

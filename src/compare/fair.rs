//! What makes a comparison of arms unfair, or says what differs between them.

use std::collections::BTreeSet;

use crate::result::comparison::Comparison;
use crate::result::summary::Arm;

/// Settings that say where a server is, not how it works.
const PLACES: [&str; 12] = [
    "port",
    "data_directory",
    "config_file",
    "hba_file",
    "ident_file",
    "external_pid_file",
    "unix_socket_directories",
    "listen_addresses",
    "cluster_name",
    "log_directory",
    "socket",
    "pid_file",
];

/// Settings without which a crash loses committed transactions or tears pages, with the value that
/// does it.
const NOT_DURABLE: [(&str, &str); 9] = [
    ("fsync", "off"),
    ("full_page_writes", "off"),
    ("synchronous_commit", "off"),
    ("innodb_flush_log_at_trx_commit", "0"),
    ("innodb_flush_log_at_trx_commit", "2"),
    ("innodb_doublewrite", "off"),
    ("innodb_doublewrite", "detect_only"),
    ("sync_binlog", "0"),
    ("synchronous", "0"),
];

/// Settings whose difference is part of every verdict.
const WEIGHTY: [&str; 2] = ["data_checksums", "innodb_checksum_algorithm"];

/// Sentences about the arms as a whole.
pub fn differences(arms: &[Arm]) -> Vec<String> {
    let Some((baseline, others)) = arms.split_first() else { return Vec::new() };
    let mut sentences = Vec::new();
    for arm in others {
        let names: BTreeSet<&String> =
            baseline.settings.keys().chain(arm.settings.keys()).collect();
        let value = |arm: &Arm, name: &str| {
            arm.settings.get(name).cloned().unwrap_or_else(|| "default".to_owned())
        };
        let differ: Vec<String> = names
            .into_iter()
            .filter(|name| !PLACES.contains(&name.as_str()))
            .filter(|name| baseline.settings.get(*name) != arm.settings.get(*name))
            .map(|name| format!("{name} {} / {}", value(baseline, name), value(arm, name)))
            .collect();
        if !differ.is_empty() {
            let (one, two) = (&baseline.name, &arm.name);
            sentences.push(format!("settings differ, {one} / {two}: {}", differ.join(", ")));
        }
        let device = |arm: &Arm| arm.storage.as_ref().and_then(|storage| storage.device.clone());
        if let (Some(one), Some(two)) = (device(baseline), device(arm))
            && one != two
        {
            sentences.push(format!(
                "{} lies on {one} and {} on {two}: a difference may be that of the devices",
                baseline.name, arm.name
            ));
        }
    }
    sentences
}

/// Adds to each verdict what must not be read without it.
pub fn qualify(comparisons: &mut [Comparison], arms: &[Arm]) {
    for comparison in comparisons {
        let find = |name: &str| arms.iter().find(|arm| arm.name == name);
        let (Some(baseline), Some(arm)) = (find(&comparison.baseline), find(&comparison.arm))
        else {
            continue;
        };
        for one in [baseline, arm] {
            if let Some(setting) = not_durable(one) {
                comparison.sentence.push_str(&format!("; {} is not durable: {setting}", one.name));
            }
        }
        for name in WEIGHTY {
            if baseline.settings.get(name) != arm.settings.get(name) {
                comparison.sentence.push_str(&format!("; {name} differs"));
            }
        }
    }
}

/// The setting with which an arm may lose what it committed.
fn not_durable(arm: &Arm) -> Option<String> {
    let is = |name: &str, value: &str| {
        arm.settings.get(name).is_some_and(|set| set.eq_ignore_ascii_case(value))
    };
    let found = NOT_DURABLE.iter().find(|(name, value)| {
        // Without a binary log it does not matter when that is written.
        is(name, value) && (*name != "sync_binlog" || is("log_bin", "on"))
    });
    found.map(|(name, value)| format!("{name}={value}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::verdict::Verdict;

    fn arm(name: &str, settings: &[(&str, &str)]) -> Arm {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Arm {
            name: name.to_owned(),
            target: String::new(),
            engine: "postgres".to_owned(),
            server_version: None,
            transport: None,
            settings: settings.iter().map(own).collect(),
            storage: None,
        }
    }

    #[test]
    fn the_binary_log_counts_where_there_is_one() {
        assert_eq!(not_durable(&arm("a", &[("sync_binlog", "0"), ("log_bin", "OFF")])), None);
        let found = not_durable(&arm("a", &[("sync_binlog", "0"), ("log_bin", "ON")]));
        assert_eq!(found.as_deref(), Some("sync_binlog=0"));
        let found = not_durable(&arm("a", &[("innodb_flush_log_at_trx_commit", "2")]));
        assert_eq!(found.as_deref(), Some("innodb_flush_log_at_trx_commit=2"));
        assert!(not_durable(&arm("a", &[("innodb_doublewrite", "OFF")])).is_some());
    }

    #[test]
    fn a_server_that_may_lose_data_stands_in_the_verdict() {
        let arms = [arm("a", &[("port", "1")]), arm("b", &[("fsync", "off"), ("port", "2")])];
        let mut comparisons = [Comparison {
            baseline: "a".into(),
            arm: "b".into(),
            workload: String::new(),
            metric: "tps".into(),
            rounds: 5,
            paired: true,
            ratio: 2.0,
            ci_low: None,
            ci_high: None,
            p: None,
            p_holm: None,
            verdict: Verdict::Faster,
            sentence: "faster".into(),
            margin: 0.03,
            mde: None,
            rounds_needed: None,
            levels: Vec::new(),
        }];
        qualify(&mut comparisons, &arms);
        assert_eq!(comparisons[0].sentence, "faster; b is not durable: fsync=off");
        assert_eq!(differences(&arms), ["settings differ, a / b: fsync default / off"]);
    }
}

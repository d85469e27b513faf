//! What makes a comparison of arms unfair, or says what differs between them.

use std::collections::BTreeSet;

use crate::result::comparison::Comparison;
use crate::result::environment::Storage;
use crate::result::summary::Arm;
use crate::units::format_bytes;
use crate::units::parse_size_bytes;

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
        let (one, two) = (&baseline.name, &arm.name);
        if baseline.engine != arm.engine {
            let engines = format!("{} / {}", baseline.engine, arm.engine);
            sentences.push(format!(
                "engines differ, {one} / {two}: {engines}; their settings are not compared"
            ));
        } else if !differ.is_empty() {
            sentences.push(format!("settings differ, {one} / {two}: {}", differ.join(", ")));
        }
        sentences.extend(made_otherwise(baseline, arm));
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

/// How file systems of one type were made differently.
fn made_otherwise(baseline: &Arm, arm: &Arm) -> Option<String> {
    let (one, two) = (baseline.storage.as_ref()?, arm.storage.as_ref()?);
    if one.file_system != two.file_system {
        return None;
    }
    let names: BTreeSet<&String> = one.geometry.keys().chain(two.geometry.keys()).collect();
    let value = |storage: &Storage, name: &str| {
        storage.geometry.get(name).cloned().unwrap_or_else(|| "unknown".to_owned())
    };
    let differ: Vec<String> = names
        .into_iter()
        .filter(|name| one.geometry.get(*name) != two.geometry.get(*name))
        .map(|name| format!("{name} {} / {}", value(one, name), value(two, name)))
        .collect();
    let kind = one.file_system.as_deref().unwrap_or("file systems");
    (!differ.is_empty()).then(|| {
        let differ = differ.join(", ");
        format!("{kind} was made differently, {} / {}: {differ}", baseline.name, arm.name)
    })
}

/// Where the data of an arm, `bytes` of tables and keys, lie in memory; nothing where they do not, or
/// where nobody knows.
pub fn in_memory(arm: &Arm, bytes: u64, memory_bytes: Option<u64>) -> Option<String> {
    let setting = |name: &str| arm.settings.get(name).and_then(|text| parse_size_bytes(text).ok());
    let size = format_bytes(bytes);
    let pool = setting("shared_buffers").map(|pool| ("shared_buffers", pool));
    let buffers =
        pool.or_else(|| Some(("innodb_buffer_pool_size", setting("innodb_buffer_pool_size")?)));
    if let Some((cache, pool)) = buffers.filter(|(_, pool)| bytes <= *pool) {
        let pool = format_bytes(pool);
        return Some(format!(
            "{size} of tables and keys fit into {cache} of {pool}: all in RAM, reads do not \
             touch the file system"
        ));
    }
    // InnoDB reads past the page cache.
    let cached = arm.engine == "postgres" || arm.engine == "sqlite";
    let memory = memory_bytes.filter(|memory| cached && bytes <= *memory)?;
    let memory = format_bytes(memory);
    Some(format!(
        "{size} of tables and keys fit into the machine's {memory}: all in RAM once they were \
         read, and then reads do not touch the file system"
    ))
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
        if baseline.engine != arm.engine {
            continue;
        }
        for name in WEIGHTY {
            if baseline.settings.get(name) != arm.settings.get(name) {
                comparison.sentence.push_str(&format!("; {name} differs"));
            }
        }
    }
}

/// The settings with which an arm may lose what it committed.
fn not_durable(arm: &Arm) -> Option<String> {
    let is = |name: &str, value: &str| {
        arm.settings.get(name).is_some_and(|set| set.eq_ignore_ascii_case(value))
    };
    let found = NOT_DURABLE.iter().filter(|(name, value)| {
        // Without a binary log it does not matter when that is written.
        is(name, value) && (*name != "sync_binlog" || is("log_bin", "on"))
    });
    let found: Vec<String> = found.map(|(name, value)| format!("{name}={value}")).collect();
    (!found.is_empty()).then(|| found.join(", "))
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
    fn file_systems_of_one_type_that_were_made_differently_are_told_apart() {
        let made = |name: &str, size: &str| Arm {
            storage: Some(Storage {
                file_system: Some("ext4".to_owned()),
                geometry: [("journal_size".to_owned(), size.to_owned())].into(),
                ..Storage::default()
            }),
            ..arm(name, &[])
        };
        assert_eq!(differences(&[made("a", "64M"), made("b", "64M")]), Vec::<String>::new());
        assert_eq!(
            differences(&[made("a", "64M"), made("b", "128M")]),
            ["ext4 was made differently, a / b: journal_size 64M / 128M"]
        );
    }

    #[test]
    fn settings_of_two_engines_are_not_compared() {
        let mysql =
            Arm { engine: "mysql".to_owned(), ..arm("b", &[("innodb_page_size", "16384")]) };
        assert_eq!(
            differences(&[arm("a", &[("work_mem", "4MB")]), mysql]),
            ["engines differ, a / b: postgres / mysql; their settings are not compared"]
        );
    }

    #[test]
    fn what_lies_in_memory_is_said() {
        let postgres = arm("a", &[("shared_buffers", "128MB")]);
        let said = |bytes, memory| in_memory(&postgres, bytes, memory).unwrap_or_default();
        assert!(said(1 << 20, None).contains("fit into shared_buffers of"));
        assert!(said(1 << 30, Some(1 << 34)).contains("all in RAM once they were read"));
        assert_eq!(said(1 << 40, Some(1 << 34)), "");
        let innodb = Arm {
            engine: "mariadb".to_owned(),
            ..arm("a", &[("innodb_buffer_pool_size", "134217728")])
        };
        assert_eq!(in_memory(&innodb, 1 << 30, Some(1 << 34)), None);
        assert!(in_memory(&innodb, 1 << 20, None).is_some());
    }

    #[test]
    fn the_binary_log_counts_where_there_is_one() {
        assert_eq!(not_durable(&arm("a", &[("sync_binlog", "0"), ("log_bin", "OFF")])), None);
        let found = not_durable(&arm("a", &[("sync_binlog", "0"), ("log_bin", "ON")]));
        assert_eq!(found.as_deref(), Some("sync_binlog=0"));
        let found = not_durable(&arm("a", &[("innodb_flush_log_at_trx_commit", "2")]));
        assert_eq!(found.as_deref(), Some("innodb_flush_log_at_trx_commit=2"));
        let found = not_durable(&arm("a", &[("fsync", "off"), ("synchronous_commit", "off")]));
        assert_eq!(found.as_deref(), Some("fsync=off, synchronous_commit=off"));
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

//! The command that measures the same again.

use crate::result::Summary;

/// The command that measures the same again: with the seed that was drawn and the target that the
/// surroundings named, and into a new folder.
pub(super) fn repeat(summary: &Summary) -> String {
    let line = &summary.dbload.command_line;
    let Some(mut words) = shlex::split(line) else { return line.clone() };
    let is = |word: &str, name: &str| {
        word.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    };
    if let Some(out) = words.iter().position(|word| is(word, "--out")) {
        let with_value = if words[out] == "--out" { 2 } else { 1 };
        words.drain(out..words.len().min(out + with_value));
    }
    let has = |names: &[&str]| words.iter().any(|word| names.iter().any(|name| is(word, name)));
    if words.get(1).is_some_and(|word| word == "run") {
        let seed = (!has(&["--seed", "--random-seed"])).then(|| summary.seed.to_string());
        let target = match summary.arms.as_slice() {
            [arm] if !has(&["--target"]) => Some(arm.target.clone()),
            _ => None,
        };
        let missing = [("--target", target), ("--seed", seed)];
        for (name, value) in missing.into_iter().filter_map(|(name, value)| Some((name, value?))) {
            words.extend([name.to_owned(), value]);
        }
    }
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| line.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::summary::{Arm, Program};

    fn repeated(line: &str) -> String {
        let program = Program { version: String::new(), command_line: line.to_owned() };
        let mut summary = Summary::new(program, 7, String::new());
        summary.arms = vec![Arm {
            name: "default".into(),
            target: "sqlite:a b.db".into(),
            engine: "sqlite".into(),
            transport: None,
            server_version: None,
            settings: Default::default(),
            storage: None,
        }];
        repeat(&summary)
    }

    #[test]
    fn the_command_measures_the_same_again() {
        for (line, again) in [
            ("dbload run", "dbload run --target 'sqlite:a b.db' --seed 7"),
            (
                "dbload run --seed=3 --out x --target sqlite:c -T 5",
                "dbload run '--seed=3' --target sqlite:c -T 5",
            ),
            ("dbload study plan.toml --out=/tmp/x", "dbload study plan.toml"),
            ("dbload compare 'a b' c", "dbload compare 'a b' c"),
        ] {
            assert_eq!(repeated(line), again);
        }
    }
}

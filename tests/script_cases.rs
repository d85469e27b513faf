//! The cases of `tests/data/pgbench.jsonl` that need no server: expressions, errors that are found
//! before the run, and scripts of meta-commands only. What pgbench does is in the file; our words
//! may differ, the kind of outcome and its phase may not.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use dbload::rng::ScriptRng;
use dbload::script::ScriptError;
use dbload::script::expr::EvalContext;
use dbload::script::program::Step;
use dbload::script::value::Value;
use dbload::workload::source::{Origin, Source};
use dbload::workload::{CompileOptions, Workload};
use serde_json::Value as Json;

const CASES: &str = include_str!("data/pgbench.jsonl");

fn cases(kind: &str) -> Vec<Json> {
    let all = CASES.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
    let cases: Vec<Json> = all.filter(|case| case["kind"] == kind).collect();
    assert!(!cases.is_empty(), "no case of kind {kind}");
    cases
}

fn compile(text: &str, options: &CompileOptions) -> Result<Workload, ScriptError> {
    let source = Source::new("case", text, Origin::Path("case.sql".into()));
    Workload::compile("case", vec![(source, 1)], options)
}

/// The options that a case's arguments ask for.
fn options(case: &Json) -> CompileOptions {
    let args: Vec<&str> =
        case["input"]["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()).collect();
    let after = |option: &str| {
        let option = option.to_owned();
        args.windows(2).filter(move |pair| pair[0] == option).map(|pair| pair[1])
    };
    let defines = after("-D")
        .map(|define| define.split_once('=').unwrap())
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let prepared_asked = after("-M").any(|protocol| protocol != "simple");
    CompileOptions { defines, prepared_asked, allow_shell: true, ..CompileOptions::default() }
}

fn only_script(case: &Json) -> &str {
    let scripts = case["input"]["scripts"].as_array().unwrap();
    assert_eq!(scripts.len(), 1);
    scripts[0].as_str().unwrap()
}

/// What a script of meta-commands did.
#[derive(Debug, PartialEq)]
enum Outcome {
    Done,
    Failed(String),
    /// The script has commands that only a server or a shell can run.
    NotPure,
}

/// Runs the meta-commands of the only script once; returns what `debug` reported.
fn run(workload: &Workload, seed: u64) -> (Vec<String>, Outcome) {
    let mut vars = workload.variables.clone();
    let presets = [("scale", 1), ("client_id", 0), ("random_seed", 7), ("default_seed", 12345)];
    for (name, value) in presets {
        let slot = workload.slot(name).unwrap();
        if !workload.is_user_defined(slot) {
            vars[slot.0 as usize] = Value::Int(value);
        }
    }
    let mut rng = ScriptRng::new(seed);
    let mut lines = Vec::new();
    let steps = &workload.scripts[0].program.steps;
    let mut next = 0;
    while let Some(step) = steps.get(next) {
        next += 1;
        let mut debug = |line: dbload::script::expr::DebugLine| lines.push(line.to_string());
        let mut cx = EvalContext { vars: &vars, rng: &mut rng, debug: &mut debug };
        let failed = match step {
            Step::Set { slot, expr } => {
                expr.eval(&mut cx).map(|value| vars[slot.0 as usize] = value)
            }
            Step::JumpUnless { condition, target } => {
                condition.eval_condition(&mut cx).map(|holds| {
                    if !holds {
                        next = *target as usize;
                    }
                })
            }
            Step::Jump { target } => {
                next = *target as usize;
                Ok(())
            }
            Step::Sleep { amount, unit } => match amount.duration(*unit, &vars) {
                Ok(_) => Ok(()),
                Err(error) => return (lines, Outcome::Failed(error.to_string())),
            },
            Step::Fail { message } => return (lines, Outcome::Failed(message.clone())),
            _ => return (lines, Outcome::NotPure),
        };
        if let Err(error) = failed {
            return (lines, Outcome::Failed(error.to_string()));
        }
    }
    (lines, Outcome::Done)
}

#[test]
fn expressions_have_the_values_that_pgbench_gives_them() {
    for case in cases("expr") {
        let id = &case["id"];
        let defines = case["input"]["vars"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned()))
            .collect();
        let text = format!("\\set x debug({})\n", case["input"]["expr"].as_str().unwrap());
        let options = CompileOptions { defines, ..CompileOptions::default() };
        let workload = compile(&text, &options).unwrap_or_else(|error| panic!("{id}: {error}"));
        let (lines, outcome) = run(&workload, 1);
        assert_eq!(outcome, Outcome::Done, "{id}");
        let expected = case["expect"]["value"].as_str().unwrap();
        assert_eq!(lines, [format!("debug(script=0,command=1): {expected}")], "{id}");
    }
}

#[test]
fn errors_are_found_in_the_phase_in_which_pgbench_finds_them() {
    for case in cases("script_err") {
        let id = &case["id"];
        let result = compile(only_script(&case), &options(&case));
        match case["expect"]["phase"].as_str().unwrap() {
            "parse" => {
                let error = result.map(|_| ()).expect_err(&format!("{id} compiled"));
                assert!(error.line >= 1 && error.column >= 1, "{id}: {error}");
                assert!(error.to_string().ends_with('^'), "{id}: {error}");
            }
            "run" => {
                let workload = result.unwrap_or_else(|error| panic!("{id}: {error}"));
                let (_, outcome) = run(&workload, 1);
                assert_ne!(outcome, Outcome::Done, "{id}");
            }
            other => panic!("{id}: unknown phase {other}"),
        }
    }
}

#[test]
fn scripts_of_meta_commands_report_the_values_that_pgbench_reports() {
    let mut pure = 0;
    for case in cases("script_ok") {
        let id = &case["id"];
        if case["input"]["scripts"].as_array().unwrap().len() != 1 {
            continue;
        }
        let workload = compile(only_script(&case), &options(&case))
            .unwrap_or_else(|error| panic!("{id}: {error}"));
        let (lines, outcome) = run(&workload, 777);
        match outcome {
            Outcome::NotPure => continue,
            Outcome::Failed(error) => panic!("{id}: {error}"),
            Outcome::Done => pure += 1,
        }
        let patterns = |key: &str| {
            let list = case["expect"][key].as_array().cloned().unwrap_or_default();
            list.into_iter().map(|p| p.as_str().unwrap().trim_end_matches("\\b").to_owned())
        };
        for pattern in patterns("pgbench_stderr") {
            assert!(lines.iter().any(|l| l.ends_with(&format!(": {pattern}"))), "{id}: {lines:?}");
        }
        for pattern in patterns("pgbench_stderr_not") {
            assert!(!lines.iter().any(|l| l.ends_with(&format!(": {pattern}"))), "{id}: {lines:?}");
        }
    }
    assert!(pure >= 6, "only {pure} cases were run");
}

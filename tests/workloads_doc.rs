//! The examples of `docs/workloads.md` do what the document says.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use dbload::rng::ScriptRng;
use dbload::script::expr::EvalContext;
use dbload::script::program::Step;
use dbload::script::value::Value;
use dbload::script::{Dialect, ScriptError};
use dbload::workload::source::{Origin, Source};
use dbload::workload::{CompileOptions, Workload};

const DOCUMENT: &str = include_str!("../docs/workloads.md");

/// The fenced blocks of the document: (what the fence says, text).
fn blocks() -> Vec<(&'static str, String)> {
    let mut blocks = Vec::new();
    let mut lines = DOCUMENT.lines();
    while let Some(line) = lines.next() {
        let Some(fence) = line.strip_prefix("```") else { continue };
        let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        blocks.push((fence, text.join("\n")));
    }
    blocks
}

fn compile(text: &str, dialect: Dialect) -> Result<Workload, ScriptError> {
    let source = Source::new("example", text, Origin::Path("example.sql".into()));
    let options = CompileOptions { dialect, ..CompileOptions::default() };
    Workload::compile("example", vec![(source, 1)], &options)
}

/// What the document would say of an expression's value.
fn value(expression: &str) -> String {
    let workload = match compile(&format!("\\set x debug({expression})\n"), Dialect::Postgres) {
        Ok(workload) => workload,
        Err(error) => return format!("refused: {}", error.message),
    };
    let Step::Set { expr, .. } = &workload.scripts[0].program.steps[0] else { panic!("no \\set") };
    let mut vars = workload.variables.clone();
    vars[workload.slot("default_seed").unwrap().0 as usize] = Value::Int(1);
    let mut shown = String::new();
    let mut debug = |line: dbload::script::expr::DebugLine| {
        shown = line.to_string().split_once(": ").unwrap().1.to_owned();
    };
    let mut rng = ScriptRng::new(1);
    let mut cx = EvalContext { vars: &vars, rng: &mut rng, debug: &mut debug };
    match expr.eval(&mut cx) {
        Ok(_) => shown,
        Err(error) => format!("fails: {error}"),
    }
}

#[test]
fn examples_compile_for_the_engines_they_are_for() {
    let mut count = 0;
    for (fence, text) in blocks() {
        for dialect in Dialect::ALL {
            let result = compile(&text, dialect);
            let allowed = match fence {
                "script" => true,
                "script postgres" => dialect == Dialect::Postgres,
                _ => continue,
            };
            assert_eq!(result.is_ok(), allowed, "{dialect:?}: {text}\n{:?}", result.err());
            count += 1;
        }
    }
    assert!(count >= 30, "{count} examples");
}

#[test]
fn expressions_have_the_values_in_the_document() {
    let mut count = 0;
    for (_, text) in blocks().into_iter().filter(|(fence, _)| *fence == "values") {
        for line in text.lines() {
            let (expression, expected) = line.rsplit_once("  ").unwrap();
            let (expression, expected) = (expression.trim(), expected.trim());
            let shown = value(expression);
            // Of errors the document gives the essence.
            let agrees = match expected.split_once(": ") {
                Some((kind, essence)) => shown.starts_with(kind) && shown.contains(essence),
                None => shown == expected,
            };
            assert!(agrees, "{expression} is {shown}, the document says {expected}");
            count += 1;
        }
    }
    assert!(count > 40, "{count} values");
}

#[test]
fn errors_read_as_in_the_document() {
    let blocks = blocks();
    let mut count = 0;
    for pair in blocks.windows(2).filter(|pair| pair[0].0 == "refused") {
        let error = compile(&pair[0].1, Dialect::Postgres).unwrap_err();
        assert_eq!(pair[1], ("message", error.to_string()));
        count += 1;
    }
    assert_eq!(count, 2);
}

#[test]
fn every_function_and_meta_command_is_in_the_document() {
    for name in dbload::script::function_names() {
        let called = DOCUMENT.contains(&format!("`{name}("));
        assert!(called || DOCUMENT.contains(&format!("`{name}`")), "{name}");
    }
    for name in dbload::script::meta_command_names() {
        assert!(DOCUMENT.contains(&format!("\\{name}")), "{name}");
    }
}

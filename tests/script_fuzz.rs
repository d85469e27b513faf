//! Scripts that nobody would write: mutated corpus files and arbitrary bytes must compile or be
//! refused, quickly, and never panic. `DBLOAD_FUZZ_SECONDS` makes it longer (1 by default); the
//! corpus is `fuzz/corpus/script`, and what fails is printed with the seed that made it.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::env;
use std::fs;
use std::path::Path;
use std::time::Duration;

use dbload::embedded::FILES;
use dbload::rng::ScriptRng;
use dbload::script::Dialect;
use dbload::script::expr::EvalContext;
use dbload::script::program::Step;
use dbload::script::value::Value;
use dbload::workload::source::{Origin, Source, header};
use dbload::workload::{CompileOptions, Workload};
use proptest::prelude::*;
use rustix::time::{ClockId, clock_gettime};
use tokio::time::Instant;

/// Compiles `text` for each engine and evaluates the expressions once; says whether it compiled.
fn exercise(text: &str) -> bool {
    let mut compiled = false;
    let _ = header(text);
    for dialect in [Dialect::Postgres, Dialect::Mysql, Dialect::Sqlite] {
        let source = Source::new("fuzz", text, Origin::Stdin);
        let options = CompileOptions { dialect, allow_shell: true, ..CompileOptions::default() };
        match Workload::compile("fuzz", vec![(source, 1)], &options) {
            Ok(workload) => {
                compiled = true;
                check(&workload, text);
            }
            Err(error) => {
                let shown = error.to_string();
                assert!(shown.len() < 100_000, "an error message of {} bytes", shown.len());
            }
        }
    }
    compiled
}

/// What holds for every compiled script; evaluates each expression with variables of all types.
fn check(workload: &Workload, text: &str) {
    let steps = &workload.scripts[0].program.steps;
    let bytes: usize = workload.statements.iter().map(|statement| statement.text.len()).sum();
    assert!(bytes <= text.len(), "statements are parts of the script");
    let values = [
        Value::Int(3),
        Value::Double(1.5),
        Value::Bool(true),
        Value::Null,
        Value::Text("12".into()),
        Value::Undefined,
    ];
    let vars: Vec<Value> = values.iter().cycle().take(workload.variables.len()).cloned().collect();
    let mut rng = ScriptRng::new(1);
    for (index, step) in steps.iter().enumerate() {
        let mut debug = |_| {};
        let mut cx = EvalContext { vars: &vars, rng: &mut rng, debug: &mut debug };
        match step {
            Step::Set { slot, expr } => {
                assert!((slot.0 as usize) < vars.len());
                let _ = expr.eval(&mut cx).map_err(|error| error.to_string());
            }
            Step::JumpUnless { condition, target } => {
                assert!(*target as usize > index && *target as usize <= steps.len());
                let _ = condition.eval_condition(&mut cx);
            }
            Step::Jump { target } => {
                assert!(*target as usize > index && *target as usize <= steps.len());
            }
            Step::Sql { stmt, .. } => {
                let statement = &workload.statements[stmt.0 as usize];
                assert!(statement.params.iter().all(|slot| (slot.0 as usize) < vars.len()));
            }
            _ => {}
        }
    }
}

/// Pieces of the language, for insertion.
const PIECES: [&str; 40] = [
    "\\set x ",
    "\\if ",
    "\\elif ",
    "\\else\n",
    "\\endif\n",
    "\\gset\n",
    "\\aset p_\n",
    "\\sleep ",
    "\\;",
    "\\:",
    ";",
    "'",
    "\"",
    "$$",
    "$a$",
    "/*",
    "*/",
    "--",
    "(",
    ")",
    ",",
    ":x",
    "::",
    "E'",
    "\\\n",
    "\\",
    "\n",
    "random(1, 9)",
    "random_string(",
    "hash(",
    "case when ",
    " then ",
    " end ",
    " is not ",
    " and ",
    "9223372036854775808",
    "1e308",
    "begin",
    "create function f() begin ",
    "é",
];

/// A variation of `seed_text`.
fn mutate(seed_text: &str, other: &str, rng: &mut ScriptRng) -> Vec<u8> {
    let mut bytes = seed_text.as_bytes().to_vec();
    let below = |count: usize, rng: &mut ScriptRng| {
        usize::try_from(rng.up_to(count.max(1) as u64 - 1)).unwrap()
    };
    for _ in 0..=below(6, rng) {
        let at = below(bytes.len() + 1, rng);
        match below(6, rng) {
            0 => {
                let end = (at + below(12, rng)).min(bytes.len());
                bytes.drain(at..end);
            }
            1 => {
                bytes.insert(at, u8::try_from(rng.up_to(255)).unwrap());
            }
            2 => {
                let end = (at + below(40, rng)).min(bytes.len());
                let copy = bytes[at..end].to_vec();
                let times = 1 + below(8, rng);
                let again = copy.repeat(times);
                bytes.splice(at..at, again);
            }
            3 => {
                let from = below(other.len() + 1, rng);
                bytes.truncate(at);
                bytes.extend_from_slice(&other.as_bytes()[from..]);
            }
            _ => {
                let piece = PIECES[below(PIECES.len(), rng)].as_bytes();
                bytes.splice(at..at, piece.iter().copied());
            }
        }
    }
    bytes.truncate(64 * 1024);
    bytes
}

fn corpus() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/script");
    let mut paths: Vec<_> =
        fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
    paths.sort();
    let files = paths.iter().map(|path| fs::read(path).unwrap());
    let mut texts: Vec<String> =
        files.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect();
    assert!(!texts.is_empty(), "no corpus in {}", folder.display());
    texts.extend(FILES.iter().map(|(_, text)| (*text).to_owned()));
    texts
}

/// Processor time of this thread: a script that hangs uses it up, a busy machine does not.
fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.try_into().unwrap(), now.tv_nsec.try_into().unwrap())
}

#[test]
fn mutated_scripts_neither_panic_nor_hang() {
    let variable =
        |name: &str, default| env::var(name).map_or(default, |text| text.parse().unwrap());
    let limit = Duration::from_secs(variable("DBLOAD_FUZZ_SECONDS", 1));
    let first_seed = variable("DBLOAD_TEST_SEED", 1);
    let corpus = corpus();
    let start = Instant::now();
    let (mut seed, mut compiled) = (first_seed, 0_u64);
    while start.elapsed() < limit {
        let mut rng = ScriptRng::new(seed);
        let count = corpus.len() as u64;
        let text = &corpus[usize::try_from(rng.up_to(count - 1)).unwrap()];
        let other = &corpus[usize::try_from(rng.up_to(count - 1)).unwrap()];
        let bytes = mutate(text, other, &mut rng);
        let script = String::from_utf8_lossy(&bytes);
        let began = cpu_time();
        let result = std::panic::catch_unwind(|| exercise(&script));
        let took = cpu_time() - began;
        assert!(result.is_ok(), "seed {seed} panics: {script:?}");
        assert!(took < Duration::from_secs(5), "seed {seed} takes {took:?}: {script:?}");
        compiled += u64::from(matches!(result, Ok(true)));
        seed += 1;
    }
    let runs = seed - first_seed;
    eprintln!("{runs} executions in {:.1?} s, {compiled} compiled", start.elapsed().as_secs_f64());
}

proptest! {
    // A failure prints its shortest input, which then goes into the corpus.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_neither_panic_nor_hang(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        exercise(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn arbitrary_expressions_neither_panic_nor_hang(text in "[-+*/%<>=!#&|~()., :a-f0-9eE]{0,60}") {
        exercise(&format!("\\set x {text}\n"));
    }
}

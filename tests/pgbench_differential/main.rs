//! The same expressions and the same seeds in real pgbench and here: values must be equal, or both
//! fail. Runs every pgbench named in `DBLOAD_TEST_PGBENCH` (paths separated by `:`) against the
//! server `DBLOAD_TEST_PG_URL`; `DBLOAD_TEST_SEED` chooses the expressions.

#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "a test may panic and say why")]

mod generator;

use std::collections::HashMap;
use std::env;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use dbload::rng::{PgbenchSeeds, ScriptRng};
use dbload::script::expr::{DebugLine, EvalContext};
use dbload::script::program::Step;
use dbload::script::value::Value;
use dbload::workload::source::{Origin, Source};
use dbload::workload::{CompileOptions, Workload};
use generator::{Generator, VARIABLES};

const EXPRESSIONS: usize = 2_000;
/// A client for each expression, and servers allow 100 connections unless told otherwise.
const BATCH: usize = 50;
const RANDOM_SEED: u64 = 4242;

struct Setup {
    pgbenches: Vec<String>,
    url: String,
}

/// What the environment offers, or nothing, which is a failure where servers are required.
fn setup() -> Option<Setup> {
    match (env::var("DBLOAD_TEST_PGBENCH"), env::var("DBLOAD_TEST_PG_URL")) {
        (Ok(paths), Ok(url)) => {
            Some(Setup { pgbenches: paths.split(':').map(str::to_owned).collect(), url })
        }
        _ => {
            let required = env::var("DBLOAD_REQUIRE").unwrap_or_default();
            assert!(
                !required.split(',').any(|one| one == "pgbench"),
                "DBLOAD_REQUIRE wants pgbench: set DBLOAD_TEST_PGBENCH and DBLOAD_TEST_PG_URL"
            );
            eprintln!("SKIPPED: DBLOAD_TEST_PGBENCH or DBLOAD_TEST_PG_URL is not set");
            None
        }
    }
}

/// What a run of pgbench printed.
struct Output {
    /// The `debug` lines by command.
    lines: HashMap<u32, Vec<String>>,
    stderr: String,
    /// 1 when the script was refused, 2 when a client failed.
    exit: Option<i32>,
}

/// Runs a script `transactions` times for each client.
fn pgbench(program: &str, url: &str, script: &Path, clients: usize, transactions: usize) -> Output {
    let mut command = Command::new(program);
    command.args(["-n", "-j", "1", "-c", &clients.to_string(), "-t", &transactions.to_string()]);
    command.arg(format!("--random-seed={RANDOM_SEED}"));
    for (name, value) in VARIABLES {
        command.arg("-D").arg(format!("{name}={value}"));
    }
    let output = command.arg("-f").arg(script).arg(url).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let mut lines: HashMap<u32, Vec<String>> = HashMap::new();
    for line in stderr.lines().filter_map(|line| line.strip_prefix("debug(script=0,command=")) {
        let (command, value) = line.split_once("): ").unwrap();
        lines.entry(command.parse().unwrap()).or_default().push(value.to_owned());
    }
    Output { lines, stderr, exit: output.status.code() }
}

fn compile(text: &str) -> Result<Workload, String> {
    let defines = VARIABLES.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let options = CompileOptions { defines, ..CompileOptions::default() };
    let source = Source::new("differential", text, Origin::Stdin);
    Workload::compile("differential", vec![(source, 1)], &options).map_err(|e| e.to_string())
}

/// Evaluates the `\set` commands of a script as client `client` does, `transactions` times.
fn evaluate(
    workload: &Workload,
    seeds: &PgbenchSeeds,
    client: usize,
    transactions: usize,
) -> Vec<String> {
    let mut vars = workload.variables.clone();
    let presets = [
        ("scale", 1),
        ("client_id", i64::try_from(client).unwrap()),
        ("random_seed", RANDOM_SEED.cast_signed()),
        ("default_seed", seeds.default_seed),
    ];
    for (name, value) in presets {
        vars[workload.slot(name).unwrap().0 as usize] = Value::Int(value);
    }
    let mut rng = ScriptRng::new(seeds.clients[client]);
    let mut lines = Vec::new();
    for _ in 0..transactions {
        for step in &workload.scripts[0].program.steps {
            let Step::Set { slot, expr } = step else { panic!("{step:?}") };
            let mut debug = |line: DebugLine| {
                let line = line.to_string();
                lines.push(line.split_once(": ").unwrap().1.to_owned());
            };
            let mut cx = EvalContext { vars: &vars, rng: &mut rng, debug: &mut debug };
            let Ok(value) = expr.eval(&mut cx) else { return lines };
            vars[slot.0 as usize] = value;
        }
    }
    lines
}

/// A script in which client k evaluates the k-th expression only, so that its failure ends no other.
fn batch_script(expressions: &[String]) -> (String, Vec<u32>) {
    let mut script = String::new();
    let mut commands = Vec::new();
    for (client, expression) in expressions.iter().enumerate() {
        let word = if client == 0 { "if" } else { "elif" };
        writeln!(script, "\\{word} :client_id = {client}\n\\set x debug({expression})").unwrap();
        commands.push(u32::try_from(2 * client + 2).unwrap());
    }
    script.push_str("\\endif\n");
    (script, commands)
}

#[test]
fn generated_expressions_have_the_values_that_pgbench_gives_them() {
    let Some(Setup { pgbenches, url }) = setup() else { return };
    let seed = env::var("DBLOAD_TEST_SEED").map_or(1, |seed| seed.parse().unwrap());
    let mut generator = Generator::new(seed);
    let expressions: Vec<String> = (0..EXPRESSIONS).map(|_| generator.expression()).collect();
    let set = |expression: &String| format!("\\set x debug({expression})\n");
    let (valid, invalid): (Vec<String>, Vec<String>) =
        expressions.into_iter().partition(|expression| compile(&set(expression)).is_ok());
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("batch.sql");
    let mut differences = Vec::new();
    let mut failed = 0;
    for program in &pgbenches {
        for batch in valid.chunks(BATCH) {
            let (script, commands) = batch_script(batch);
            std::fs::write(&path, &script).unwrap();
            let mut theirs = pgbench(program, &url, &path, batch.len(), 1);
            // The seeds come from one stream, the default seed after those of the clients.
            let seeds = PgbenchSeeds::new(RANDOM_SEED, batch.len());
            for (client, expression) in batch.iter().enumerate() {
                let workload = compile(&set(expression)).unwrap();
                let ours = evaluate(&workload, &seeds, client, 1);
                failed += usize::from(ours.is_empty());
                let lines = theirs.lines.remove(&commands[client]).unwrap_or_default();
                if ours != lines {
                    let mut said = theirs.stderr.lines().filter(|line| line.contains("error"));
                    let said = said.next().unwrap_or_default();
                    differences.push(format!(
                        "{program}: {expression}\n  pgbench {lines:?}\n  dbload  {ours:?}\n  {said}"
                    ));
                }
            }
        }
        for expression in &invalid {
            std::fs::write(&path, set(expression)).unwrap();
            let theirs = pgbench(program, &url, &path, 1, 1);
            if theirs.exit != Some(1) {
                let ours = compile(&set(expression)).map(|_| ()).unwrap_err();
                differences.push(format!(
                    "{program}: {expression}\n  pgbench {:?} {:?}\n  dbload  {ours}",
                    theirs.exit, theirs.lines
                ));
            }
        }
    }
    let count = pgbenches.len();
    eprintln!(
        "seed {seed}: {} expressions compiled, {} refused; of {} evaluations {failed} failed in both",
        valid.len(),
        invalid.len(),
        valid.len() * count
    );
    assert!(
        differences.is_empty(),
        "seed {seed}: {} differences\n{}",
        differences.len(),
        differences[..differences.len().min(20)].join("\n")
    );
}

#[test]
fn seeded_random_functions_draw_the_same_first_thousand_values() {
    let Some(Setup { pgbenches, url }) = setup() else { return };
    const DRAWS: usize = 1_000;
    let functions = [
        "random(1, 6)",
        "random(-1000000, 1000000)",
        "random(1, 9223372036854775807)",
        "random(5, 5)",
        "random_exponential(1, 1000000, 2.5)",
        "random_exponential(0, 9, 0.001)",
        "random_exponential(1, 100, 500)",
        "random_gaussian(1, 1000000, 2.0)",
        "random_gaussian(-50, 50, 7.5)",
        "random_zipfian(1, 1000000, 1.001)",
        "random_zipfian(1, 1000000, 1.2)",
        "random_zipfian(1, 10, 3.7)",
        "random_zipfian(1, 100, 1000)",
        "random_zipfian(7, 7, 2)",
        "permute(random(0, 999), 1000)",
        "hash(random(1, 1000000))",
        "hash_fnv1a(random(1, 1000000))",
        // The sides of `>` are evaluated right to left.
        "random(1, 1000) > random(1, 1000)",
    ];
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("draws.sql");
    for program in &pgbenches {
        for function in functions {
            let script = format!("\\set x debug({function})\n");
            std::fs::write(&path, &script).unwrap();
            let mut output = pgbench(program, &url, &path, 1, DRAWS);
            let theirs = output.lines.remove(&1);
            let theirs = theirs.unwrap_or_else(|| panic!("{program}: {}", output.stderr));
            let seeds = PgbenchSeeds::new(RANDOM_SEED, 1);
            let ours = evaluate(&compile(&script).unwrap(), &seeds, 0, DRAWS);
            assert_eq!(ours.len(), DRAWS);
            assert_eq!(ours, theirs, "{program}: {function}");
        }
    }
}

#[test]
fn scripts_of_a_mix_are_chosen_in_the_order_in_which_pgbench_chooses_them() {
    let Some(Setup { pgbenches, url }) = setup() else { return };
    const DRAWS: usize = 1_000;
    let weights = [1, 0, 3];
    let dir = tempfile::tempdir().unwrap();
    let paths: Vec<_> = (0..weights.len()).map(|i| dir.path().join(format!("{i}.sql"))).collect();
    let sources = paths.iter().zip(weights).map(|(path, weight)| {
        std::fs::write(path, "\\set x debug(random(1, 1000))\n").unwrap();
        (Source::read(path).unwrap(), weight)
    });
    let options = CompileOptions::default();
    let workload = Workload::compile("mix", sources.collect(), &options).unwrap();
    let seeds = PgbenchSeeds::new(RANDOM_SEED, 1);
    let mut choose = ScriptRng::new(seeds.threads[0].choose);
    let ours: Vec<String> =
        (0..DRAWS).map(|_| format!("debug(script={},", workload.choose(&mut choose))).collect();
    for program in &pgbenches {
        let mut command = Command::new(program);
        command.args(["-n", "-t", &DRAWS.to_string(), &format!("--random-seed={RANDOM_SEED}")]);
        for (path, weight) in paths.iter().zip(weights) {
            command.arg("-f").arg(format!("{}@{weight}", path.display()));
        }
        let output = command.arg(&url).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        let theirs: Vec<&str> = stderr
            .lines()
            .filter(|line| line.starts_with("debug("))
            .map(|line| line.split_inclusive(',').next().unwrap())
            .collect();
        assert_eq!(ours, theirs, "{program}");
    }
}

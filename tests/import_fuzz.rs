//! Outputs that no tool would print: mutated samples must become runs or be refused, quickly, and
//! never panic. `DBLOAD_FUZZ_SECONDS` makes it longer (1 by default); what fails is printed with the
//! seed that made it.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::env;
use std::fs;
use std::path::Path;
use std::time::Duration;

use dbload::import::{is_meant, parse};
use dbload::rng::ScriptRng;
use tokio::time::Instant;

/// What an import must hold, whatever the text; says whether it was taken.
fn exercise(text: &str) -> bool {
    let meant = is_meant(text);
    match parse(text, "arm") {
        Ok(runs) => {
            assert!(meant && !runs.is_empty());
            for imported in &runs {
                let run = &imported.run;
                assert!(run.tps.is_finite() && run.tps >= 0.0, "{run:?}");
                assert!(run.duration_s.is_finite() && run.duration_s >= 0.0, "{run:?}");
                let rows = &imported.intervals;
                assert!(rows.iter().all(|row| row.length_s > 0.0 && row.tps.is_finite()));
                assert!(rows.windows(2).all(|pair| pair[0].interval < pair[1].interval));
            }
            true
        }
        Err(error) => {
            let lines = text.lines().count().max(1) as u64;
            assert!((1..=lines).contains(&error.line), "{error} of {lines} lines");
            assert!(error.why.len() < 1000, "{error}");
            false
        }
    }
}

/// Pieces of the formats, for insertion.
const PIECES: [&str; 24] = [
    "\npgbench (18.3)\n",
    "\nprogress: 1.0 s, 2.0 tps, lat 3.0 ms stddev 4.0, 0 failed\n",
    "\ntransaction type: x\n",
    "\ntps = ",
    "\nSQL script 1: x\n",
    "\n - weight: ",
    "\nnumber of clients: ",
    "\nsysbench 1.0.20 (using LuaJIT)\n",
    "\n[ 9s ] thds: ",
    "\nSQL statistics:\n",
    "\nLatency (ms):\n",
    "\nLatency histogram",
    "|* 1\n",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999999999999999999999.9",
    "1e308",
    "nan",
    "-inf",
    "0",
    ".",
    "\r\n",
    "é",
    "\n         ",
];

fn mutate(text: &str, other: &str, rng: &mut ScriptRng) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let below = |count: usize, rng: &mut ScriptRng| {
        usize::try_from(rng.up_to(count.max(1) as u64 - 1)).unwrap()
    };
    for _ in 0..=below(6, rng) {
        let at = below(bytes.len() + 1, rng);
        let end = (at + below(40, rng)).min(bytes.len());
        match below(6, rng) {
            0 => drop(bytes.drain(at..end)),
            1 => bytes.insert(at, u8::try_from(rng.up_to(255)).unwrap()),
            2 => {
                let copy = bytes[at..end].repeat(1 + below(4, rng));
                bytes.splice(at..at, copy);
            }
            3 => {
                let from = below(other.len() + 1, rng);
                bytes.truncate(at);
                bytes.extend_from_slice(&other.as_bytes()[from..]);
            }
            _ => {
                let piece = PIECES[below(PIECES.len(), rng)];
                bytes.splice(at..at, piece.bytes());
            }
        }
    }
    bytes.truncate(64 * 1024);
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn mutated_outputs_neither_panic_nor_give_figures_that_are_none() {
    let variable =
        |name: &str, default| env::var(name).map_or(default, |text| text.parse().unwrap());
    let limit = Duration::from_secs(variable("DBLOAD_FUZZ_SECONDS", 1));
    let first_seed = variable("DBLOAD_TEST_SEED", 1);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/import");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    paths.sort();
    let corpus: Vec<String> = paths.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    let start = Instant::now();
    let (mut seed, mut taken) = (first_seed, 0_u64);
    while start.elapsed() < limit {
        let mut rng = ScriptRng::new(seed);
        let mut any = || &corpus[usize::try_from(rng.up_to(corpus.len() as u64 - 1)).unwrap()];
        let (text, other) = (any(), any());
        let mutated = mutate(text, other, &mut rng);
        let result = std::panic::catch_unwind(|| exercise(&mutated));
        assert!(result.is_ok(), "seed {seed}: {mutated:?}");
        taken += u64::from(matches!(result, Ok(true)));
        seed += 1;
    }
    let runs = seed - first_seed;
    eprintln!("{runs} executions in {:.1?} s, {taken} taken", start.elapsed().as_secs_f64());
}

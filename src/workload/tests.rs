//! Tests of compiling scripts into a workload.

use std::sync::Arc;

use super::source::Origin;
use super::*;
use crate::script::program::{Part, StatementKind};

fn source(name: &str, text: &str) -> Source {
    Source::new(name, text, Origin::Path(format!("{name}.sql").into()))
}

fn compile_for(text: &str, dialect: Dialect) -> Workload {
    let options = CompileOptions { dialect, ..CompileOptions::default() };
    Workload::compile("w", vec![(source("w", text), 1)], &options)
        .unwrap_or_else(|error| panic!("{error}"))
}

fn compile(text: &str) -> Workload {
    compile_for(text, Dialect::Postgres)
}

fn with_defines(text: &str, defines: &[(&str, &str)]) -> Result<Workload, ScriptError> {
    let defines = defines.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    let options = CompileOptions { defines, ..CompileOptions::default() };
    Workload::compile("w", vec![(source("w", text), 1)], &options)
}

#[test]
fn every_built_in_script_compiles_for_every_engine_and_can_be_prepared() {
    for dialect in [Dialect::Postgres, Dialect::Mysql, Dialect::Sqlite] {
        for name in builtin::script_names() {
            let source = Source::builtin(name, dialect, None).unwrap();
            let options = CompileOptions { dialect, ..CompileOptions::default() };
            let workload = Workload::compile(name, vec![(source, 1)], &options)
                .unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(workload.not_preparable(), None, "{name}");
        }
    }
}

#[test]
fn tpcb_like_has_seven_statements_with_their_placeholders() {
    let text = |dialect| {
        let source = Source::builtin("tpcb-like", dialect, None).unwrap();
        let options = CompileOptions { dialect, ..CompileOptions::default() };
        let workload = Workload::compile("tpcb-like", vec![(source, 1)], &options).unwrap();
        workload.statements.into_iter().map(|s| s.sql).collect::<Vec<_>>()
    };
    let update = "UPDATE pgbench_accounts SET abalance = abalance + ";
    let postgres = text(Dialect::Postgres);
    assert_eq!(postgres.len(), 7);
    assert_eq!(postgres[0], "BEGIN");
    assert_eq!(postgres[1], format!("{update}$1 WHERE aid = $2"));
    assert_eq!(postgres[6], "END");
    let mysql = text(Dialect::Mysql);
    assert_eq!(mysql[0], "START TRANSACTION");
    assert_eq!(mysql[1], format!("{update}? WHERE aid = ?"));
    assert_eq!(mysql[6], "COMMIT");
    let sqlite = text(Dialect::Sqlite);
    assert_eq!(sqlite[0], "BEGIN IMMEDIATE");
    assert_eq!(sqlite[1], format!("{update}?1 WHERE aid = ?2"));
    assert_eq!(sqlite[6], "COMMIT");
}

#[test]
fn presets_have_slots_and_a_define_beats_them() {
    let plain = compile("SELECT 1");
    for preset in PRESETS {
        let slot = plain.slot(preset).unwrap();
        assert!(!plain.is_user_defined(slot));
        assert_eq!(plain.variables[slot.0 as usize], Value::Undefined);
    }
    let defined = with_defines("SELECT 1", &[("scale", "7"), ("x", "007")]).unwrap();
    let scale = defined.slot("scale").unwrap();
    assert!(defined.is_user_defined(scale));
    assert_eq!(defined.variables[scale.0 as usize], Value::Int(7));
    let x = defined.slot("x").unwrap();
    assert_eq!(defined.variables[x.0 as usize], Value::Text(Arc::from("007")));
    assert_eq!(defined.slot("y"), None);
}

#[test]
fn the_last_of_two_defines_of_a_name_counts() {
    let workload = with_defines("SELECT 1", &[("x", "1"), ("x", "2")]).unwrap();
    let x = workload.slot("x").unwrap();
    assert_eq!(workload.variables[x.0 as usize], Value::Int(2));
}

#[test]
fn bad_defines_are_refused_with_what_was_given() {
    for (name, value) in [("1x", "2"), ("", "2"), ("a b", "2"), ("x", "")] {
        let error = with_defines("SELECT 1", &[(name, value)]).unwrap_err().to_string();
        assert!(error.starts_with(&format!("-D {name}={value}: ")), "{error}");
    }
}

#[test]
fn scripts_share_variables_and_number_their_statements_through() {
    let scripts =
        vec![(source("a", "\\set x 1\nSELECT :x;\nSELECT 2"), 1), (source("b", "SELECT :x"), 2)];
    let workload = Workload::compile("a+b", scripts, &CompileOptions::default()).unwrap();
    assert_eq!(workload.statements.len(), 3);
    assert_eq!(workload.statements[2].script, 1);
    assert_eq!(workload.statements[0].params, workload.statements[2].params);
    let steps = &workload.scripts[1].program.steps;
    assert!(matches!(steps[..], [Step::Sql { stmt, .. }] if stmt.0 == 2));
}

#[test]
fn scripts_are_chosen_by_weight_and_those_of_weight_0_never() {
    let scripts = [("a", 1), ("b", 0), ("c", 3)];
    let scripts = scripts.map(|(name, weight)| (source(name, "SELECT 1"), weight)).to_vec();
    let workload = Workload::compile("mix", scripts, &CompileOptions::default()).unwrap();
    let mut rng = ScriptRng::new(1);
    let mut counts = [0_i32; 3];
    for _ in 0..4000 {
        counts[workload.choose(&mut rng)] += 1;
    }
    assert_eq!(counts[1], 0);
    assert!((counts[0] - 1000).abs() < 100, "{counts:?}");
    let zero = vec![(source("a", "SELECT 1"), 0)];
    let error = Workload::compile("a", zero, &CompileOptions::default()).unwrap_err();
    assert!(error.message.contains("weights"), "{error}");
}

#[test]
fn the_only_script_is_chosen_without_a_draw() {
    let workload = compile("SELECT 1");
    let mut rng = ScriptRng::new(1);
    let before = rng.clone();
    assert_eq!(workload.choose(&mut rng), 0);
    assert_eq!(rng, before);
}

#[test]
fn gset_keeps_the_columns_that_some_script_mentions() {
    let scripts = vec![
        (source("a", "SELECT 1 AS v, 2 AS w \\gset p_\n\\set x :p_v + 1"), 1),
        (source("b", "SELECT :p_w, :q"), 1),
    ];
    let workload = Workload::compile("a+b", scripts, &CompileOptions::default()).unwrap();
    let Step::Sql { store: Some(store), .. } = &workload.scripts[0].program.steps[0] else {
        panic!("no \\gset");
    };
    let slot = |name: &str| workload.slot(name).unwrap();
    let expected = [("v".to_owned(), slot("p_v")), ("w".to_owned(), slot("p_w"))];
    assert_eq!(*store.columns, expected);
    assert_eq!(store.prefix, "p_");
    // `:p_w` may come from \gset, `:q` from nowhere.
    let why = workload.scripts[1].not_preparable.as_deref().unwrap();
    assert!(why.contains(":q"), "{why}");
}

#[test]
fn what_cannot_be_prepared_is_said_with_line_and_reason() {
    let why = |text: &str| compile(text).scripts[0].not_preparable.clone().unwrap_or_default();
    assert_eq!(why("SELECT :scale"), "");
    assert_eq!(why("\\if 0\n\\set x 1\n\\endif\nSELECT :x"), "");
    assert!(why("SELECT 1;\nSELECT 1 \\; SELECT 2;").starts_with("line 2: it joins"));
    assert!(why("SELECT ':scale'").contains(":scale inside quotes"));
    let unknown = why("\\set delta 1\n\nSELECT :detla");
    assert_eq!(unknown, "line 3: nothing sets the variable :detla (did you mean :delta?)");
    let many = format!("SELECT {}", vec![":scale"; 256].join(","));
    assert!(why(&many).contains("256 times"));
    let source = source("w", &many);
    let options = CompileOptions { prepared_asked: true, ..CompileOptions::default() };
    let error = Workload::compile("w", vec![(source, 1)], &options).unwrap_err();
    assert!(error.message.contains("255"), "{error}");
}

#[test]
fn a_variable_in_a_comment_is_none() {
    let workload = compile("SELECT 1 /* :scale */ + :scale -- :scale\n");
    assert_eq!(workload.not_preparable(), None);
    assert_eq!(workload.statements[0].sql, "SELECT 1 /* :scale */ + $1 -- :scale");
}

#[test]
fn params_of_the_header_are_defaults_that_a_define_beats() {
    let text = "-- dbload: param size = 10 in 1..100\n\\set x :size\nSELECT :x";
    let value =
        |workload: Workload| workload.variables[workload.slot("size").unwrap().0 as usize].clone();
    assert_eq!(value(compile(text)), Value::Int(10));
    assert_eq!(value(with_defines(text, &[("size", "20")]).unwrap()), Value::Int(20));
}

#[test]
fn simple_protocol_gets_the_text_in_parts() {
    let workload = compile("\\set a 1\nSELECT :a::int, 'x:a', 12:30, :a;");
    let slot = workload.slot("a").unwrap();
    let variable = || Part::Variable { slot, name: "a".into() };
    let text = |text: &str| Part::Text(text.into());
    assert_eq!(
        workload.statements[0].parts,
        [
            text("SELECT "),
            variable(),
            text("::int, 'x"),
            variable(),
            text("', 12:30, "),
            variable()
        ]
    );
    assert_eq!(workload.statements[0].kind, StatementKind::Read);
}

#[test]
fn errors_name_the_file_the_place_and_a_near_name() {
    let error = with_defines("SELECT 1;\n\\set x randon(1, 2)\n", &[]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "w.sql:2:8: unknown function \"randon\"; did you mean \"random\"?\n\
         \\set x randon(1, 2)\n       ^"
    );
}

#[test]
fn pipelines_and_shell_commands_are_refused_where_they_cannot_be() {
    let options = CompileOptions { dialect: Dialect::Sqlite, ..CompileOptions::default() };
    let pipeline = vec![(source("w", "\\startpipeline\nSELECT 1;\n\\endpipeline"), 1)];
    let error = Workload::compile("w", pipeline, &options).unwrap_err();
    assert!(error.message.contains("needs PostgreSQL"), "{error}");
    let error = with_defines("\\shell true", &[]).unwrap_err();
    assert!(error.message.contains("--allow-shell"), "{error}");
}

#[test]
fn a_set_has_the_tables_of_the_database_and_d_beats_them() {
    let script = "\\set table random(1, :tables)\nSELECT * FROM t:{table};";
    let of = |defines: &[(&str, &str)]| {
        let define = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let options = CompileOptions {
            tables: Some(TableCount { tables: 4, table_size: 50 }),
            defines: defines.iter().map(define).collect(),
            ..CompileOptions::default()
        };
        let source = Source::new("a", script, Origin::Stdin);
        Workload::compile("a", vec![(source, 1)], &options)
    };
    let workload = of(&[]).unwrap();
    assert_eq!(workload.statements.len(), 4);
    let value = |name| workload.variables[workload.slot(name).unwrap().0 as usize].clone();
    assert_eq!((value("tables"), value("table_size")), (Value::Int(4), Value::Int(50)));
    assert!(workload.has_table_sets());
    let workload = of(&[("tables", "2")]).unwrap();
    assert_eq!(workload.statements.len(), 2);
    assert_eq!(workload.variables[workload.slot("tables").unwrap().0 as usize], Value::Int(2));
    let error = of(&[("tables", "many")]).unwrap_err().to_string();
    assert!(error.starts_with("-D tables=many: "), "{error}");
}

#[test]
fn a_table_that_nothing_chooses_is_refused_with_its_place() {
    let compile = |text: &str| {
        let source = Source::new("a", text, Origin::Stdin);
        Workload::compile("a", vec![(source, 1)], &CompileOptions::default())
    };
    let error = compile("\\set table 1\nSELECT 1 FROM sbtest:{tabel};").unwrap_err();
    assert_eq!((error.line, error.column), (2, 21));
    assert!(error.message.contains("did you mean :table?"), "{error}");
    let error = compile("SELECT 1 FROM sbtest:{x};").unwrap_err();
    assert!(error.message.contains("\\set x random(1, :tables)"), "{error}");
    compile("SELECT 1 AS x \\gset\nSELECT 1 FROM sbtest:{x};").unwrap();
}

#[test]
fn scripts_of_a_mix_agree_on_their_defaults() {
    let of = |size: u32| {
        let text = format!("-- dbload: param n = {size}\n-- dbload: param n = 7\nSELECT :n;");
        (Source::new(format!("s{size}"), text, Origin::Embedded), 1)
    };
    let options = CompileOptions::default();
    let workload = Workload::compile("a", vec![of(1), of(1)], &options).unwrap();
    assert_eq!(workload.variables[workload.slot("n").unwrap().0 as usize], Value::Int(1));
    let error = Workload::compile("a", vec![of(1), of(2)], &options).unwrap_err().to_string();
    assert!(error.contains("n = 1, not 2"), "{error}");
}

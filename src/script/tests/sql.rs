//! Cutting a script into SQL commands, and writing them for each engine.

use super::super::Dialect;
use super::super::program::{StatementKind, Step};
use super::super::value::Value;
use super::{compile, error, try_compile};

fn texts(script: &str) -> Vec<String> {
    compile(script).statements.into_iter().map(|statement| statement.text).collect()
}

fn rendered(script: &str, dialect: Dialect) -> Vec<String> {
    let compiled = try_compile(script, dialect).unwrap_or_else(|error| panic!("{error}"));
    compiled.statements.into_iter().map(|statement| statement.sql).collect()
}

#[test]
fn a_semicolon_ends_a_command_and_the_last_one_may_be_missing() {
    assert_eq!(texts("SELECT 1;\n  SELECT\n 2 ;SELECT 3"), ["SELECT 1", "SELECT\n 2", "SELECT 3"]);
    assert_eq!(texts(";"), [""]);
    assert_eq!(texts(";;SELECT 1;"), ["", "", "SELECT 1"]);
}

#[test]
fn semicolons_in_quotes_comments_and_parentheses_end_nothing() {
    for one in [
        "SELECT 'a;b'",
        "SELECT 'it''s;'",
        "SELECT 'back\\' || ';'",
        "SELECT E'it\\'s;' || e'\\\\' || ';'",
        "SELECT \"a;\"\"b;\"",
        "SELECT $$a;b$$",
        "SELECT $tag$a;$$;$tag $;$tag$",
        "SELECT a$b$c",
        "SELECT 1 /* ; /* ; */ ; */ + 1",
        "SELECT 1 -- ; no end\n + 1",
        "CREATE RULE r AS ON INSERT TO t DO (SELECT 1; SELECT 2)",
    ] {
        assert_eq!(texts(&format!("{one};SELECT 2;")), [one, "SELECT 2"]);
    }
}

#[test]
fn a_dollar_inside_a_name_or_before_a_digit_quotes_nothing() {
    assert_eq!(texts("SELECT a$$; SELECT b$$;"), ["SELECT a$$", "SELECT b$$"]);
    assert_eq!(texts("SELECT $1; SELECT $1$;"), ["SELECT $1", "SELECT $1$"]);
}

#[test]
fn the_body_of_a_function_is_one_command() {
    let body = "CREATE OR REPLACE FUNCTION f() RETURNS int LANGUAGE sql\n\
                BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; SELECT 2; END";
    assert_eq!(texts(&format!("{body}; BEGIN; END;")), [body, "BEGIN", "END"]);
    let procedure = "create procedure p() begin atomic select 1; end";
    assert_eq!(texts(&format!("{procedure};")), [procedure]);
}

#[test]
fn comments_ahead_of_a_command_are_dropped_and_hints_stay() {
    assert_eq!(texts("-- one\n\n  -- two\nSELECT 1;"), ["SELECT 1"]);
    assert_eq!(texts("/*+ SeqScan(t) */ SELECT 1;"), ["/*+ SeqScan(t) */ SELECT 1"]);
}

#[test]
fn unfinished_quotes_and_comments_reach_to_the_end() {
    for text in
        ["SELECT 'a;", "SELECT \"a;", "SELECT $$a;", "SELECT /* ;", "SELECT (1;", "SELECT E'\\"]
    {
        assert_eq!(texts(text), [text]);
    }
}

#[test]
fn joined_statements_are_one_command() {
    let compiled = compile("SELECT 1 \\; \\; SELECT 2 \\;\nSELECT 3;");
    assert_eq!(compiled.statements.len(), 1);
    assert_eq!(compiled.statements[0].text, "SELECT 1 ; ; SELECT 2 ;\nSELECT 3");
    assert_eq!(compiled.statements[0].statements, 3);
    assert!(compiled.not_preparable.unwrap().contains("\\;"));
}

#[test]
fn lines_are_those_of_the_first_word() {
    let compiled = compile("-- c\nSELECT 1;\n\n\\set x 1\n SELECT\n2;\nSELECT 3");
    let lines: Vec<u32> = compiled.statements.iter().map(|statement| statement.line).collect();
    assert_eq!(lines, [2, 5, 7]);
}

#[test]
fn each_use_of_a_variable_has_a_placeholder() {
    let script = "SELECT :a, :b_1, :a, :ä";
    assert_eq!(rendered(script, Dialect::Postgres), ["SELECT $1, $2, $3, $4"]);
    assert_eq!(rendered(script, Dialect::Mysql), ["SELECT ?, ?, ?, ?"]);
    assert_eq!(rendered(script, Dialect::Sqlite), ["SELECT ?1, ?2, ?3, ?4"]);
    let compiled = compile(script);
    let names: Vec<&str> =
        compiled.statements[0].params.iter().map(|slot| compiled.variables.name(*slot)).collect();
    assert_eq!(names, ["a", "b_1", "a", "ä"]);
}

#[test]
fn casts_times_and_assignments_are_no_variables() {
    let script = "SELECT 1::int, a[1:2], x := 1, :::y, 'a: b'";
    assert_eq!(rendered(script, Dialect::Postgres), [script]);
    assert!(compile(script).not_preparable.is_none());
}

#[test]
fn transaction_verbs_become_those_of_the_engine() {
    let script =
        "BEGIN;begin work;START TRANSACTION;END;commit;END TRANSACTION;ABORT;Rollback /* x */;";
    let verbatim: Vec<&str> = script.trim_end_matches(';').split(';').collect();
    assert_eq!(rendered(script, Dialect::Postgres), verbatim);
    let verbs = |begin: &str| {
        let all = [begin, begin, begin, "COMMIT", "COMMIT", "COMMIT", "ROLLBACK", "ROLLBACK"];
        all.map(str::to_owned)
    };
    assert_eq!(rendered(script, Dialect::Mysql), verbs("START TRANSACTION"));
    assert_eq!(rendered(script, Dialect::Sqlite), verbs("BEGIN IMMEDIATE"));
}

#[test]
fn other_forms_of_transaction_verbs_stay_as_written() {
    for one in [
        "BEGIN EXCLUSIVE",
        "START TRANSACTION READ ONLY",
        "ROLLBACK TO SAVEPOINT a",
        "COMMIT AND CHAIN",
        "START SLAVE",
        "SAVEPOINT a",
    ] {
        for dialect in [Dialect::Mysql, Dialect::Sqlite] {
            assert_eq!(rendered(one, dialect), [one]);
        }
    }
}

#[test]
fn statements_are_counted_by_what_they_do() {
    use StatementKind::{Begin, Commit, Other, Read, Rollback, Write};
    for (text, kind) in [
        ("SELECT 1", Read),
        ("(select 1)", Read),
        ("/* c */ VALUES (1)", Read),
        ("TABLE t", Read),
        ("SELECT 1 FOR UPDATE", Read),
        ("insert into t values (1)", Write),
        ("UPDATE t SET a = 1", Write),
        ("delete from t", Write),
        ("MERGE INTO t", Write),
        ("REPLACE INTO t VALUES (1)", Write),
        ("WITH a AS (SELECT 'update') SELECT * FROM a FOR NO KEY UPDATE", Read),
        ("WITH a AS (DELETE FROM t RETURNING *) SELECT * FROM a", Write),
        ("BEGIN ISOLATION LEVEL SERIALIZABLE", Begin),
        ("START TRANSACTION", Begin),
        ("END", Commit),
        ("COMMIT AND CHAIN", Commit),
        ("ABORT", Rollback),
        ("ROLLBACK", Rollback),
        ("ROLLBACK WORK TO a", Other),
        ("ROLLBACK PREPARED 'x'", Other),
        ("COMMIT PREPARED 'x'", Other),
        ("CREATE TABLE t (a int)", Other),
        ("SET x = 1", Other),
        ("BEGIN \\; SELECT ';insert' \\; END", Read),
        ("BEGIN \\; INSERT INTO t VALUES (1) \\; END", Write),
        ("SET x = 1 \\; BEGIN", Begin),
        (";", Other),
    ] {
        assert_eq!(compile(text).statements[0].kind, kind, "{text}");
    }
}

#[test]
fn backticks_quote_where_the_engine_has_them() {
    assert_eq!(rendered("SELECT `a;b`; SELECT 2", Dialect::Mysql), ["SELECT `a;b`", "SELECT 2"]);
    assert_eq!(rendered("SELECT `a;b`", Dialect::Postgres), ["SELECT `a", "b`"]);
}

#[test]
fn a_table_of_a_set_becomes_a_statement_for_each_table() {
    let script =
        "SELECT c FROM sbtest:{table} s, \"a:{b}\" WHERE s.id = :id AND ':{x}' <> :{table}";
    let compiled = compile(script);
    let got: Vec<_> = compiled.statements.iter().map(|s| (s.table, s.sql.as_str())).collect();
    let of =
        |n| format!("SELECT c FROM sbtest{n} s, \"a:{{b}}\" WHERE s.id = $1 AND ':{{x}}' <> {n}");
    assert_eq!(got, [(1, &*of(1)), (2, &*of(2)), (3, &*of(3))]);
    assert!(compiled.not_preparable.is_none());
    let Step::Sql { stmt, tables: Some(set), .. } = &compiled.steps[0] else { panic!("no set") };
    let mut vars = vec![Value::Undefined; compiled.variables.names().len()];
    for (value, chosen) in [
        (Value::Int(2), Some(1)),
        (Value::Text("3".into()), Some(2)),
        (Value::Int(0), None),
        (Value::Int(4), None),
        (Value::Undefined, None),
    ] {
        vars[set.slot.0 as usize] = value;
        assert_eq!(set.choose(*stmt, &vars).map(|stmt| stmt.0), chosen);
    }
}

#[test]
fn what_only_looks_like_a_table_of_a_set_is_pointed_at() {
    for near in ["sbtest:{}", "sbtest:{1}", "sbtest:{ table }", "sbtest:{table", "sbtest:{a.b}"] {
        let (line, column, message) = error(&format!("SELECT 1;\nSELECT * FROM {near} s;"));
        assert_eq!((line, column), (2, 21), "{near}");
        assert!(message.contains("sbtest:{table}"), "{message}");
    }
    let (_, column, message) = error("SELECT * FROM a:{x}, b:{y};");
    assert!(column == 23 && message.contains("{x}"), "{column} {message}");
    // In quotes, comments and after a cast it is text.
    assert_eq!(texts("SELECT '{\"a\":{}}' /* :{ */"), ["SELECT '{\"a\":{}}' /* :{ */"]);
}

#[test]
fn a_quoted_variable_is_a_parameter_or_a_literal() {
    let compiled = compile("UPDATE t SET c = :'c' WHERE a = ARRAY[1,2][1:'2'] AND b = :'x''y'");
    let statement = &compiled.statements[0];
    assert!(statement.sql.starts_with("UPDATE t SET c = $1 WHERE a = ARRAY[1,2][1:'2']"));
    assert!(statement.sql.ends_with("b = :'x''y'"), "{}", statement.sql);
    assert!(compiled.not_preparable.is_none());
    let literal = |value: Value, dialect| {
        let compiled = try_compile("SELECT :'c'", dialect).unwrap();
        let mut text = String::new();
        compiled.statements[0].write_text(&[value], &mut text);
        text
    };
    let tricky = || Value::Text("it's \\ 1".into());
    assert_eq!(literal(tricky(), Dialect::Postgres), "SELECT 'it''s \\ 1'");
    assert_eq!(literal(tricky(), Dialect::Mysql), "SELECT 'it''s \\\\ 1'");
    assert_eq!(literal(Value::Int(5), Dialect::Sqlite), "SELECT '5'");
    assert_eq!(literal(Value::Null, Dialect::Sqlite), "SELECT NULL");
    assert_eq!(literal(Value::Undefined, Dialect::Sqlite), "SELECT :'c'");
}

//! Cutting a script into SQL commands, and writing them for each engine.

use super::super::Dialect;
use super::super::program::StatementKind;
use super::{compile, try_compile};

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

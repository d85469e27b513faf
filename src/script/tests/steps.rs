//! Meta-commands.

use std::time::Duration;

use super::super::program::{Amount, SleepUnit, Step, Word};
use super::super::value::Value;
use super::{compile, error};

#[test]
fn blocks_become_jumps() {
    let steps = compile("\\if 1\nA;\n\\elif 0\nB;\n\\else\nC;\n\\endif\nD;").steps;
    let jumps: Vec<(usize, u32)> = steps
        .iter()
        .enumerate()
        .filter_map(|(index, step)| match step {
            Step::Jump { target } | Step::JumpUnless { target, .. } => Some((index, *target)),
            _ => None,
        })
        .collect();
    // 0 if, 1 A, 2 jump, 3 elif, 4 B, 5 jump, 6 C, 7 D.
    assert_eq!(jumps, [(0, 3), (2, 7), (3, 6), (5, 7)]);
    assert_eq!(steps.len(), 8);
}

#[test]
fn a_block_without_else_goes_on_behind_it() {
    let steps = compile("\\if 0\n\\if 1\nA;\n\\endif\n\\endif").steps;
    assert!(matches!(steps[0], Step::JumpUnless { target: 3, .. }));
    assert!(matches!(steps[1], Step::JumpUnless { target: 3, .. }));
}

#[test]
fn wrong_blocks_are_errors_with_their_place() {
    for (text, line, message) in [
        ("A;\n\\else", 2, "\\else without matching \\if"),
        ("\\elif 1", 1, "\\elif without matching \\if"),
        ("\\endif", 1, "\\endif without matching \\if"),
        ("\\if 1\n\\else\n\\else\n\\endif", 3, "\\else after \\else"),
        ("\\if 1\n\\else\n\\elif 1\n\\endif", 3, "\\elif after \\else"),
        ("\\if 1\n\\if 2\n\\endif", 1, "\\if without matching \\endif"),
        ("\\if 1\n\\endif x", 2, "unexpected argument in command \\endif: x"),
    ] {
        let (at, _, said) = error(text);
        assert_eq!((at, said.as_str()), (line, message));
    }
}

#[test]
fn names_of_commands_have_any_case_and_near_misses_are_named() {
    assert_eq!(compile("\\SET x 1\n\\If 1\n\\EndIf").steps.len(), 2);
    assert_eq!(
        error("SELECT 1;\n\\slep 1"),
        (2, 1, "invalid command \\slep; did you mean \"sleep\"?".to_owned())
    );
}

#[test]
fn a_backslash_at_the_end_of_a_line_continues_it() {
    let steps = compile("\\set x\\\n 1 + \\\r\n 2\n\\sleep\\\n1\\\nms").steps;
    assert!(matches!(steps[1], Step::Sleep { amount: Amount::Constant(1), unit: SleepUnit::Ms }));
}

#[test]
fn names_that_cannot_be_set_fail_when_they_run() {
    for text in ["\\set 1a 1", "\\set . 1", "\\set a-b 1", "\\setshell 1a true"] {
        assert!(matches!(&compile(text).steps[0], Step::Fail { message }
            if message.contains("invalid variable name")));
    }
    assert_eq!(error("\\set").2, "missing argument in command \\set: \\set VARIABLE EXPRESSION");
}

#[test]
fn sleep_takes_a_number_or_a_variable_and_a_unit() {
    let sleep = |text: &str| match &compile(text).steps[0] {
        Step::Sleep { amount: Amount::Constant(amount), unit } => (*amount, *unit),
        other => panic!("{other:?}"),
    };
    assert_eq!(sleep("\\sleep 2"), (2, SleepUnit::S));
    assert_eq!(sleep("\\sleep 5MS"), (5, SleepUnit::Ms));
    assert_eq!(sleep("\\sleep -5 us"), (-5, SleepUnit::Us));
    for (text, message) in [
        ("\\sleep", "missing argument"),
        ("\\sleep x", "must be an integer"),
        ("\\sleep 1.5 ms", "must be an integer"),
        ("\\sleep 1.5", "unrecognized time unit \".5\""),
        ("\\sleep 1 week", "unrecognized time unit"),
        ("\\sleep 1 ms x", "too many arguments"),
    ] {
        assert!(error(text).2.contains(message), "{text}: {}", error(text).2);
    }
}

#[test]
fn a_sleep_is_as_long_as_its_variable_says() {
    let amount = Amount::Variable(super::super::program::Slot(0));
    let long = |value: Value| amount.duration(SleepUnit::Ms, &[value]);
    assert_eq!(long(Value::Int(3)), Ok(Duration::from_millis(3)));
    assert_eq!(long(Value::Double(2.7)), Ok(Duration::from_millis(2)));
    assert_eq!(long(Value::Int(-3)), Ok(Duration::ZERO));
    assert_eq!(long(Value::Text("4x".into())), Ok(Duration::from_millis(4)));
    assert!(long(Value::Text("abc".into())).is_err());
    assert!(long(Value::Undefined).is_err());
    // pgbench's 32 bits overflow here.
    let hour = Amount::Constant(3600).duration(SleepUnit::S, &[]);
    assert_eq!(hour, Ok(Duration::from_secs(3600)));
}

#[test]
fn gset_belongs_to_the_command_before_it() {
    for text in ["SELECT 1 \\gset p_", "SELECT 1;\n\\gset p_", "SELECT 1\n\\GSET p_"] {
        let steps = compile(text).steps;
        assert!(matches!(&steps[..], [Step::Sql { store: Some(store), .. }]
            if store.prefix == "p_" && !store.all));
    }
    assert!(matches!(&compile("SELECT 1 \\aset").steps[..],
        [Step::Sql { store: Some(store), .. }] if store.all && store.prefix.is_empty()));
    for text in
        ["\\gset", "\\set x 1\n\\gset", "SELECT 1 \\gset\n\\gset", "SELECT 1 \\gset\n\\aset"]
    {
        assert!(error(text).2.contains("must follow an SQL command"), "{text}");
    }
    assert!(error("SELECT 1 \\gset a b").2.contains("too many arguments"));
}

#[test]
fn shell_words_are_literal_or_variables() {
    let compiled = compile("\\setshell v echo :x ::y a:b");
    let Step::Shell { words, store } = &compiled.steps[0] else { panic!("no shell") };
    let name = |slot| compiled.variables.name(slot);
    assert_eq!(store.map(name), Some("v"));
    assert_eq!(words[0], Word::Literal("echo".into()));
    assert!(matches!(words[1], Word::Variable(slot) if name(slot) == "x"));
    assert_eq!(words[2..], [Word::Literal(":y".into()), Word::Literal("a:b".into())]);
    for text in ["\\shell", "\\setshell", "\\setshell v"] {
        assert!(error(text).2.contains("missing argument"), "{text}");
    }
}

#[test]
fn a_command_has_255_words_at_most() {
    assert_eq!(compile(&format!("\\shell{}", " a".repeat(255))).steps.len(), 1);
    assert!(error(&format!("\\shell{}", " a".repeat(256))).2.contains("too many arguments"));
}

#[test]
fn a_script_without_commands_is_an_error() {
    for text in ["", "\n", "-- only\n", "  \n\\\n"] {
        assert!(error(text).2.contains("empty"), "{text:?}");
    }
}

#[test]
fn a_script_of_5000_lines_has_5000_commands() {
    let mut text = String::new();
    for line in 0..1250 {
        text += &format!("\\set v{line} random(1, 100000 * :scale)\n\\if :v{line} > 5\n");
        text += &format!("SELECT a AS c{line} FROM t WHERE a = :v{line} \\gset p_\n\\endif\n");
    }
    assert_eq!(compile(&text).steps.len(), 3 * 1250);
}

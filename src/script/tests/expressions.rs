//! Expressions: values, errors, the order of draws.

use super::super::expr::{EvalContext, EvalError};
use super::super::program::Step;
use super::super::value::Value;
use super::{compile, error};
use crate::rng::ScriptRng;

/// The value of an expression in which `:one` is 1 and `:text` is `x1`.
fn eval_with(expression: &str, rng: &mut ScriptRng) -> Result<Value, EvalError> {
    let compiled = compile(&format!("\\set x {expression}"));
    let vars: Vec<Value> = compiled
        .variables
        .names()
        .iter()
        .map(|name| match name.as_str() {
            "one" => Value::Int(1),
            "text" => Value::Text("x1".into()),
            "default_seed" => Value::Int(99),
            "template" => Value::Text("@#-@#".into()),
            _ => Value::Undefined,
        })
        .collect();
    let mut debug = |_| {};
    let mut cx = EvalContext { vars: &vars, rng, debug: &mut debug };
    match &compiled.steps[0] {
        Step::Set { expr, .. } => expr.eval(&mut cx),
        other => panic!("{other:?}"),
    }
}

fn eval(expression: &str) -> Result<Value, EvalError> {
    eval_with(expression, &mut ScriptRng::new(1))
}

fn shown(expression: &str) -> String {
    eval(expression).map_or_else(|error| error.to_string(), |value| value.to_string())
}

#[test]
fn operators_bind_as_in_pgbench() {
    for (expression, value) in [
        ("1 + 2 * 3", "7"),
        ("10 - 4 - 3", "3"),
        ("1 | 2 + 4", "7"),
        ("~ 1 + 1", "-3"),
        ("2 * ~ 1 + 3", "-10"),
        ("- 2 * 3", "-6"),
        ("1 << 2 + 1", "8"),
        ("NOT 1 > 2 AND false", "false"),
        ("true OR 1 / 0 = 1", "true"),
        ("false AND 1 / 0 = 1", "false"),
        ("NOT NULL IS NULL", "false"),
        ("1 < 2 IS TRUE", "true"),
        ("1 IS NULL IS FALSE", "true"),
        ("NULL ISNULL NOTNULL", "true"),
        ("5 - - 3", "8"),
        ("-+-3", "3"),
        ("(((((1)))))", "1"),
    ] {
        assert_eq!(shown(expression), value, "{expression}");
    }
}

#[test]
fn null_wins_over_wrong_types_and_passes_through_functions() {
    for expression in ["NULL + TRUE", "greatest(NULL, TRUE)", "random(NULL, 1)", "NULL AND 1/0 = 1"]
    {
        assert_eq!(eval(expression), Ok(Value::Null), "{expression}");
    }
}

#[test]
fn failures_say_what_was_wrong() {
    for (expression, message) in [
        ("1 / 0", "division by zero"),
        ("9223372036854775807 + 1", "bigint add out of range"),
        ("-9223372036854775808 / -1", "bigint div out of range"),
        ("int(1E32)", "double to int overflow for 100000000000000000000000000000000"),
        ("TRUE + 1", "cannot coerce boolean to int"),
        ("NOT 1", "cannot coerce int to boolean"),
        ("true AND 1.5", "cannot coerce double to boolean"),
        ("permute(1, 0)", "permute size parameter must be greater than zero, got 0"),
        ("random(2, 1)", "the upper bound 1 is below the lower bound 2, so the range is empty"),
        ("random_gaussian(1, 2, 1.5)", "gaussian parameter must be at least 2, got 1.5"),
        (
            ":nope + 1",
            "undefined variable \"nope\": no \\set, \\gset, \\setshell or -D gave it a value",
        ),
        (":text + 1", "malformed variable \"text\": \"x1\" is no number, boolean or null"),
        ("least(0,1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6)", "too many function arguments: at most 16"),
    ] {
        assert_eq!(shown(expression), message, "{expression}");
    }
}

#[test]
fn syntax_errors_point_at_the_token() {
    for (expression, column, message) in [
        ("1 +", 11, "the expression ends too early"),
        ("1 2", 10, "syntax error at \"2\""),
        ("(1", 10, "\")\" is missing"),
        ("foo(1)", 8, "unknown function \"foo\""),
        ("1 -- c", 13, "unknown function \"c\""),
        ("abs 1", 12, "\"(\" expected before \"1\""),
        ("abs(1, 2)", 8, "unexpected number of arguments (abs): 2 given, 1 wanted"),
        ("hash()", 8, "unexpected number of arguments (hash): 0 given, 1 or 2 wanted"),
        ("least()", 8, "at least 1 wanted"),
        ("1 < 2 < 3", 14, "syntax error at \"<\""),
        ("CASE 1 WHEN 1 THEN 2 END", 13, "CASE must be followed by WHEN"),
        ("CASE WHEN 1 END", 20, "THEN expected before \"END\""),
        ("1 IS 2", 13, "NULL, TRUE or FALSE expected after IS"),
        ("'text'", 8, "unexpected character '\\''"),
        ("100000000000000000000", 8, "bigint constant overflow"),
        ("9223372036854775808", 8, "bigint constant overflow"),
        ("5 - 9223372036854775808", 12, "bigint constant overflow"),
        ("1E309", 8, "double constant overflow"),
        ("random_string(#) + 1", 25, "must stand alone"),
        ("1 + random_string(#)", 12, "use it alone"),
    ] {
        let (line, at, said) = error(&format!("\\set x {expression}"));
        assert_eq!((line, at), (1, column), "{expression}: {said}");
        assert!(said.contains(message), "{expression}: {said}");
    }
}

#[test]
fn nesting_is_bounded_with_a_clear_error_and_chains_are_not() {
    let nested = |levels: usize| format!("\\set x {}1{}", "(".repeat(levels), ")".repeat(levels));
    assert_eq!(compile(&nested(150)).steps.len(), 1);
    assert!(error(&nested(100_000)).2.contains("nested too deeply"));
    assert!(error(&format!("\\set x {}1", "-".repeat(100_000))).2.contains("nested too deeply"));
    let chain = format!("1{}", " + 1".repeat(100_000));
    assert_eq!(shown(&chain), "100001");
    let wide = "least(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,".repeat(20) + "1" + &")".repeat(20);
    assert!(error(&format!("\\set x {wide}")).2.contains("too complex"));
}

#[test]
fn the_right_side_of_greater_draws_first() {
    let mut rng = ScriptRng::new(5);
    let mut draws = rng.clone();
    let right = 1 + draws.up_to(999).cast_signed();
    let left = 1 + draws.up_to(999).cast_signed();
    assert_ne!(left, right);
    let value = eval_with("random(1, 1000) > random(1, 1000)", &mut rng);
    assert_eq!(value, Ok(Value::Bool(left > right)));
    let value = eval_with("CASE WHEN random(1, 2) > 2 THEN 1 ELSE 5 END >= 5", &mut rng);
    assert_eq!(value, Ok(Value::Bool(true)));
}

#[test]
fn hashes_without_a_seed_take_the_default_seed() {
    assert_eq!(eval("hash(5) = hash_murmur2(5, 99)"), Ok(Value::Bool(true)));
    assert_eq!(eval("hash_fnv1a(5) = hash_fnv1a(5, 99)"), Ok(Value::Bool(true)));
    assert_eq!(eval("permute(5, 10) = permute(5, 10, 99)"), Ok(Value::Bool(true)));
}

#[test]
fn random_strings_follow_their_template() {
    for template in ["@@-###", "'@@-###'", " @@-### ", "' @@-### '", ":template"] {
        let value = eval(&format!("random_string({template})")).unwrap().to_string();
        let trimmed = template.trim();
        let pattern = match trimmed.strip_prefix('\'') {
            Some(quoted) => quoted.trim_end_matches('\''),
            None if trimmed.starts_with(':') => "@#-@#",
            None => trimmed,
        };
        assert_eq!(value.len(), pattern.len(), "{template}: {value}");
        for (drawn, wanted) in value.chars().zip(pattern.chars()) {
            match wanted {
                '#' => assert!(drawn.is_ascii_digit(), "{value}"),
                '@' => assert!(drawn.is_ascii_lowercase(), "{value}"),
                other => assert_eq!(drawn, other),
            }
        }
    }
    assert_eq!(shown("random_string('a)b')"), "a)b");
    assert!(error("\\set x random_string()").2.contains("wants a template"));
    assert!(error("\\if random_string(#)\n\\endif").2.contains("use it alone"));
}

#[test]
fn our_own_distributions_take_what_pgbench_refuses() {
    for exponent in ["0.1", "0.99", "1", "1.0", "1.0005", "1000"] {
        let value = eval(&format!("random_zipfian(5, 10, {exponent})")).unwrap();
        assert!(matches!(value, Value::Int(5..=10)), "{exponent}: {value:?}");
        let value = eval(&format!("random_zipfian_scattered(5, 10, {exponent}, 3)")).unwrap();
        assert!(matches!(value, Value::Int(5..=10)), "{exponent}: {value:?}");
    }
    for expression in ["random_zipfian(1, 2, 0)", "random_zipfian(1, 2, 1000.5)"] {
        assert!(shown(expression).contains("zipfian parameter"), "{}", shown(expression));
    }
    assert!(shown("random_pareto(1, 2, 1)").contains("pareto parameter"));
}

#[test]
fn not_a_number_is_no_parameter() {
    let nan = "(1.0 / 0 - 1.0 / 0)";
    for function in ["random_gaussian", "random_exponential", "random_zipfian", "random_pareto"] {
        assert!(shown(&format!("{function}(1, 9, {nan})")).contains("parameter must be"));
    }
}

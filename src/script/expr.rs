//! Expressions, compiled to a short list of instructions for a stack of values.
//!
//! A list, not a tree: evaluating walks memory in order, allocates nothing, and neither evaluating
//! nor dropping can overflow the thread's stack, however long a chain of operators is.
//! `expr_parser` makes the list; this file runs it.

use std::fmt;
use std::sync::Arc;

use super::function::{self, Function};
use super::program::Slot;
use super::value::{Scalar, TextError, Value};
use crate::rng::ScriptRng;
use crate::rng::dist::BoundsError;

/// Values an expression may hold at once; the parser refuses what needs more.
pub(crate) const MAX_STACK: usize = 256;
/// Enough for nearly every expression, and quickly cleared.
const SMALL_STACK: usize = 8;

/// A compiled expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr(pub(crate) Body);

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Body {
    /// Instructions that leave one value on the stack.
    Code(Code),
    /// `random_string(...)`, which stands alone because its result is text.
    RandomString(Template),
}

/// The instructions of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Code {
    pub(crate) ops: Box<[Op]>,
    /// Names of the variables the instructions read, for messages.
    pub(crate) names: Box<[(Slot, Box<str>)]>,
    /// Most values on the stack at once.
    pub(crate) stack: usize,
}

/// The template of `random_string`: `#` becomes a digit, `@` a lower-case letter.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Template {
    /// Written in the script.
    Literal(Box<str>),
    /// The text of a variable.
    Variable(Slot, Box<str>),
}

/// One instruction. Jumps go forward by so many instructions beyond the next one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Op {
    /// Pushes a constant.
    Constant(Scalar),
    /// Pushes a variable.
    Variable(Slot),
    /// Replaces the two values on top.
    Binary(Binary),
    /// Replaces the value on top: `NOT`.
    Not,
    /// Replaces the value on top: is it of this type and value?
    Is(Scalar),
    /// After the left side of `AND`: keeps false or NULL as the result and jumps, else drops it.
    AndThen(u32),
    /// After the left side of `OR`: keeps true or NULL as the result and jumps, else drops it.
    OrElse(u32),
    /// After the right side of `AND` or `OR`: must be a boolean or NULL.
    Boolean,
    /// Drops the value on top and jumps unless it is truthy.
    UnlessTrue(u32),
    /// Jumps.
    Jump(u32),
    /// Replaces the arguments on top by the function's value.
    Call { function: Function, arguments: u8 },
    /// Reports the value on top and leaves it: `debug`.
    Debug { script: u32, command: u32 },
    /// A call with more arguments than the language allows.
    TooManyArguments,
}

/// A binary operator. `>` and `>=` are `<` and `<=` with the sides swapped, evaluated in that
/// order, as pgbench does; it shows when both sides draw random numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
}

/// What evaluation reads and changes besides the expression itself.
pub struct EvalContext<'a> {
    /// The client's variables, by slot.
    pub vars: &'a [Value],
    /// The client's stream for scripts.
    pub rng: &'a mut ScriptRng,
    /// Where `debug()` reports to.
    pub debug: &'a mut dyn FnMut(DebugLine),
}

impl fmt::Debug for EvalContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EvalContext").field("vars", &self.vars).finish_non_exhaustive()
    }
}

/// What a call of `debug()` saw. `Display` is the line to print.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DebugLine {
    /// Index of the script in the workload, from 0.
    pub script: u32,
    /// Number of the command in the script, from 1.
    pub command: u32,
    /// The argument.
    pub value: Scalar,
}

impl fmt::Display for DebugLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "debug(script={},command={}): ", self.script, self.command)?;
        match self.value {
            Scalar::Null => f.write_str("null"),
            value => write!(f, "{} {value}", value.type_name()),
        }
    }
}

/// Why an expression has no value. One pointer wide, so that the hot path moves little.
#[derive(Debug, Clone, PartialEq)]
pub struct EvalError(Box<EvalErrorKind>);

impl EvalError {
    /// What went wrong.
    pub fn kind(&self) -> &EvalErrorKind {
        &self.0
    }
}

impl From<EvalErrorKind> for EvalError {
    #[cold]
    fn from(kind: EvalErrorKind) -> Self {
        Self(Box::new(kind))
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for EvalError {}

/// The kinds of evaluation errors.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum EvalErrorKind {
    #[error("undefined variable \"{0}\": no \\set, \\gset, \\setshell or -D gave it a value")]
    Undefined(Box<str>),
    #[error("malformed variable \"{name}\": \"{text}\" is no number, boolean or null")]
    Malformed { name: Box<str>, text: Arc<str> },
    #[error("variable \"{name}\": {text} is out of range for type {type_name}")]
    OutOfRange { name: Box<str>, text: Arc<str>, type_name: &'static str },
    #[error("bigint {0} out of range")]
    Overflow(&'static str),
    #[error("division by zero")]
    DivisionByZero,
    #[error("cannot coerce {from} to {to}")]
    Coerce { from: &'static str, to: &'static str },
    #[error("double to int overflow for {0}")]
    DoubleToInt(f64),
    #[error("{0}")]
    Range(Box<BoundsError>),
    #[error("{}, got {given}", random.rule())]
    Parameter { random: Random, given: f64 },
    #[error("permute size parameter must be greater than zero, got {0}")]
    PermuteSize(i64),
    #[error("too many function arguments: at most {}", function::MAX_ARGUMENTS)]
    TooManyArguments,
}

/// A distribution with a parameter, for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Random {
    /// `random_exponential`
    Exponential,
    /// `random_gaussian`
    Gaussian,
    /// `random_pareto`
    Pareto,
    /// `random_zipfian` and `random_zipfian_scattered`
    Zipfian,
}

impl Random {
    fn rule(self) -> &'static str {
        match self {
            Self::Exponential => "exponential parameter must be greater than zero",
            Self::Gaussian => "gaussian parameter must be at least 2",
            Self::Pareto => "pareto parameter must be between 0 and 1, both excluded",
            Self::Zipfian => "zipfian parameter must be greater than zero and at most 1000",
        }
    }
}

impl Expr {
    /// The value of the expression. Numeric expressions allocate nothing.
    pub fn eval(&self, cx: &mut EvalContext<'_>) -> Result<Value, EvalError> {
        match &self.0 {
            Body::Code(code) => code.eval(cx).map(Value::from),
            Body::RandomString(template) => template.fill(cx).map(Value::Text),
        }
    }

    /// Whether the value of the expression, as a condition, holds.
    pub fn eval_condition(&self, cx: &mut EvalContext<'_>) -> Result<bool, EvalError> {
        match &self.0 {
            Body::Code(code) => code.eval(cx).map(Scalar::is_truthy),
            // The parser allows it in `\set` only.
            Body::RandomString(_) => Ok(false),
        }
    }
}

impl Code {
    #[inline]
    fn eval(&self, cx: &mut EvalContext<'_>) -> Result<Scalar, EvalError> {
        if self.stack <= SMALL_STACK {
            self.run::<SMALL_STACK>(cx)
        } else {
            self.run::<MAX_STACK>(cx)
        }
    }

    fn run<const N: usize>(&self, cx: &mut EvalContext<'_>) -> Result<Scalar, EvalError> {
        let mut stack = [Scalar::Null; N];
        // Number of values on the stack. The parser has counted that `N` is enough.
        let mut top = 0;
        let mut next = 0;
        while let Some(&op) = self.ops.get(next) {
            next += 1;
            match op {
                Op::Constant(value) => {
                    stack[top] = value;
                    top += 1;
                }
                Op::Variable(slot) => {
                    stack[top] = self.variable(slot, cx.vars)?;
                    top += 1;
                }
                Op::Binary(operator) => {
                    top -= 1;
                    stack[top - 1] = binary(operator, stack[top - 1], stack[top])?;
                }
                Op::Not => match stack[top - 1] {
                    Scalar::Null => {}
                    value => stack[top - 1] = Scalar::Bool(!function::to_bool(value)?),
                },
                Op::Is(pattern) => stack[top - 1] = Scalar::Bool(stack[top - 1] == pattern),
                Op::AndThen(skip) | Op::OrElse(skip) => {
                    let ending = matches!(op, Op::OrElse(_));
                    let left = stack[top - 1];
                    if left == Scalar::Null || function::to_bool(left)? == ending {
                        next += skip as usize;
                    } else {
                        top -= 1;
                    }
                }
                Op::Boolean => {
                    if stack[top - 1] != Scalar::Null {
                        function::to_bool(stack[top - 1])?;
                    }
                }
                Op::UnlessTrue(skip) => {
                    top -= 1;
                    if !stack[top].is_truthy() {
                        next += skip as usize;
                    }
                }
                Op::Jump(skip) => next += skip as usize,
                Op::Call { function, arguments } => {
                    let first = top - usize::from(arguments);
                    let args = &stack[first..top];
                    let result = if args.contains(&Scalar::Null) {
                        Scalar::Null
                    } else {
                        function::call(function, args, cx.rng)?
                    };
                    stack[first] = result;
                    top = first + 1;
                }
                Op::Debug { script, command } => {
                    (cx.debug)(DebugLine { script, command, value: stack[top - 1] });
                }
                Op::TooManyArguments => return Err(EvalErrorKind::TooManyArguments.into()),
            }
        }
        Ok(stack[0])
    }

    #[inline]
    fn variable(&self, slot: Slot, vars: &[Value]) -> Result<Scalar, EvalError> {
        match vars.get(slot.0 as usize) {
            Some(Value::Int(int)) => Ok(Scalar::Int(*int)),
            Some(Value::Double(double)) => Ok(Scalar::Double(*double)),
            Some(Value::Bool(truth)) => Ok(Scalar::Bool(*truth)),
            Some(Value::Null) => Ok(Scalar::Null),
            Some(Value::Text(text)) => {
                Scalar::from_text(text).map_err(|error| self.bad_text(slot, text, error))
            }
            Some(Value::Undefined) | None => Err(EvalErrorKind::Undefined(self.name(slot)).into()),
        }
    }

    #[cold]
    fn bad_text(&self, slot: Slot, text: &Arc<str>, error: TextError) -> EvalError {
        let (name, text) = (self.name(slot), Arc::clone(text));
        match error {
            TextError::Malformed => EvalErrorKind::Malformed { name, text },
            TextError::IntOutOfRange => {
                EvalErrorKind::OutOfRange { name, text, type_name: "bigint" }
            }
            TextError::DoubleOutOfRange => {
                EvalErrorKind::OutOfRange { name, text, type_name: "double" }
            }
        }
        .into()
    }

    #[cold]
    fn name(&self, slot: Slot) -> Box<str> {
        self.names
            .iter()
            .find(|(known, _)| *known == slot)
            .map(|(_, name)| name.clone())
            .unwrap_or_default()
    }
}

impl Template {
    fn fill(&self, cx: &mut EvalContext<'_>) -> Result<Arc<str>, EvalError> {
        let text = match self {
            Self::Literal(text) => return Ok(fill(text, cx.rng)),
            Self::Variable(slot, name) => match cx.vars.get(slot.0 as usize) {
                None | Some(Value::Undefined) => {
                    return Err(EvalErrorKind::Undefined(name.clone()).into());
                }
                Some(value) => value.to_string(),
            },
        };
        Ok(fill(&text, cx.rng))
    }
}

/// Replaces each `#` by a digit and each `@` by a letter from a to z.
fn fill(template: &str, rng: &mut ScriptRng) -> Arc<str> {
    let mut draw = |first: char, count: u32| {
        let offset = rng.up_to(u64::from(count - 1));
        char::from_u32(u32::from(first) + u32::try_from(offset).unwrap_or_default())
            .unwrap_or(first)
    };
    let filled: String = template
        .chars()
        .map(|c| match c {
            '#' => draw('0', 10),
            '@' => draw('a', 26),
            other => other,
        })
        .collect();
    Arc::from(filled)
}

/// Applies a binary operator; NULL on either side gives NULL, before any other check.
fn binary(operator: Binary, left: Scalar, right: Scalar) -> Result<Scalar, EvalError> {
    if left == Scalar::Null || right == Scalar::Null {
        return Ok(Scalar::Null);
    }
    let doubles = matches!(left, Scalar::Double(_)) || matches!(right, Scalar::Double(_));
    match operator {
        Binary::Remainder
        | Binary::BitAnd
        | Binary::BitOr
        | Binary::BitXor
        | Binary::ShiftLeft
        | Binary::ShiftRight => {}
        _ if doubles => {
            return Ok(on_doubles(
                operator,
                function::to_double(left)?,
                function::to_double(right)?,
            ));
        }
        _ => {}
    }
    on_ints(operator, function::to_int(left)?, function::to_int(right)?)
}

fn on_doubles(operator: Binary, left: f64, right: f64) -> Scalar {
    match operator {
        Binary::Add => Scalar::Double(left + right),
        Binary::Subtract => Scalar::Double(left - right),
        Binary::Multiply => Scalar::Double(left * right),
        Binary::Divide => Scalar::Double(left / right),
        Binary::Equal => Scalar::Bool(left == right),
        Binary::NotEqual => Scalar::Bool(left != right),
        Binary::Less => Scalar::Bool(left < right),
        Binary::LessOrEqual => Scalar::Bool(left <= right),
        _ => unreachable!("the other operators work on integers"),
    }
}

fn on_ints(operator: Binary, left: i64, right: i64) -> Result<Scalar, EvalError> {
    let overflow = |what| EvalError::from(EvalErrorKind::Overflow(what));
    // As the processors that pgbench runs on: only the low six bits of a shift count.
    let shift = (right & 63).unsigned_abs();
    Ok(match operator {
        Binary::Add => Scalar::Int(left.checked_add(right).ok_or_else(|| overflow("add"))?),
        Binary::Subtract => Scalar::Int(left.checked_sub(right).ok_or_else(|| overflow("sub"))?),
        Binary::Multiply => Scalar::Int(left.checked_mul(right).ok_or_else(|| overflow("mul"))?),
        Binary::Divide if right == 0 => return Err(EvalErrorKind::DivisionByZero.into()),
        Binary::Divide => Scalar::Int(left.checked_div(right).ok_or_else(|| overflow("div"))?),
        Binary::Remainder => function::remainder(left, right)?,
        Binary::BitAnd => Scalar::Int(left & right),
        Binary::BitOr => Scalar::Int(left | right),
        Binary::BitXor => Scalar::Int(left ^ right),
        Binary::ShiftLeft => Scalar::Int(left << shift),
        Binary::ShiftRight => Scalar::Int(left >> shift),
        Binary::Equal => Scalar::Bool(left == right),
        Binary::NotEqual => Scalar::Bool(left != right),
        Binary::Less => Scalar::Bool(left < right),
        Binary::LessOrEqual => Scalar::Bool(left <= right),
    })
}

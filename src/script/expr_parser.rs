//! Expression text to instructions, in one pass.
//!
//! Written by hand (precedence climbing): the grammar is small and fixed, errors need our own words
//! and exact columns, and instructions come out in evaluation order without a tree in between.

use super::error::Fault;
use super::expr::{Binary, Body, Code, Expr, MAX_STACK, Op, Template};
use super::expr_lexer::{Keyword, Lexer, Token};
use super::function::{self, Entry, Function};
use super::program::Slot;
use super::value::Scalar;
use super::variables::Variables;
use crate::suggest::did_you_mean;

/// Parentheses, calls, CASE and prefix operators inside each other.
const MAX_NESTING: usize = 200;

/// Precedences, weakest first.
mod level {
    pub(super) const OR: u8 = 1;
    pub(super) const AND: u8 = 2;
    pub(super) const NOT: u8 = 3;
    pub(super) const IS: u8 = 4;
    pub(super) const COMPARE: u8 = 5;
    pub(super) const BITS: u8 = 6;
    pub(super) const SUM: u8 = 7;
    pub(super) const PRODUCT: u8 = 8;
    pub(super) const SIGN: u8 = 9;
}

/// Where an expression stands; `debug` reports it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// Index of the script, from 0.
    pub(crate) script: u32,
    /// Number of the command, from 1.
    pub(crate) command: u32,
}

/// Compiles the expression in `text` from byte `start` to the end of the command; also says where
/// that end is. `text_allowed` is whether the value may be text (in `\set`, not in a condition).
pub(crate) fn parse(
    text: &str,
    start: usize,
    text_allowed: bool,
    place: Place,
    variables: &mut Variables,
) -> Result<(Expr, usize), Fault> {
    let mut parser = Parser {
        lexer: Lexer::new(text, start),
        token: Token::End,
        variables,
        place,
        code: Vec::new(),
        names: Vec::new(),
        depth: 0,
        deepest: 0,
        nesting: 0,
    };
    parser.advance()?;
    if text_allowed && parser.at_random_string() {
        let body = Body::RandomString(parser.template()?);
        return Ok((Expr(body), parser.lexer.position()));
    }
    parser.expression(0)?;
    if parser.token != Token::End {
        return Err(parser.unexpected());
    }
    parser.names.sort_unstable();
    parser.names.dedup();
    let body = Body::Code(Code {
        ops: parser.code.into_boxed_slice(),
        names: parser.names.into_boxed_slice(),
        stack: parser.deepest,
    });
    Ok((Expr(body), parser.lexer.position()))
}

struct Parser<'t, 'v> {
    lexer: Lexer<'t>,
    token: Token<'t>,
    variables: &'v mut Variables,
    place: Place,
    code: Vec<Op>,
    names: Vec<(Slot, Box<str>)>,
    /// Values on the stack once the instructions so far have run.
    depth: usize,
    deepest: usize,
    nesting: usize,
}

impl<'t> Parser<'t, '_> {
    fn advance(&mut self) -> Result<(), Fault> {
        self.token = self.lexer.next_token()?;
        Ok(())
    }

    fn fault(&self, message: impl Into<String>) -> Fault {
        Fault::new(self.lexer.token_start(), message)
    }

    fn unexpected(&self) -> Fault {
        match self.token {
            Token::End => self.fault("syntax error: the expression ends too early"),
            Token::Name(name) if function::find(name).is_none() => self.unknown_function(name),
            Token::MaxIntPlusOne => {
                self.fault("bigint constant overflow: only -9223372036854775808 can be so large")
            }
            _ => self.fault(format!("syntax error at \"{}\"", self.lexer.token_text())),
        }
    }

    fn unknown_function(&self, name: &str) -> Fault {
        let hint = did_you_mean(name, function::FUNCTIONS.iter().map(|entry| entry.name));
        self.fault(format!("unknown function \"{name}\"{hint}"))
    }

    fn expect(&mut self, token: &Token<'t>, what: &str) -> Result<(), Fault> {
        if self.token == *token {
            return self.advance();
        }
        match self.token {
            Token::End => Err(self.fault(format!("syntax error: {what} is missing"))),
            Token::Name(name) if function::find(name).is_none() => Err(self.unknown_function(name)),
            _ => {
                let found = self.lexer.token_text();
                Err(self.fault(format!("syntax error: {what} expected before \"{found}\"")))
            }
        }
    }

    /// Adds an instruction that takes `takes` values and leaves `leaves`.
    fn emit(&mut self, op: Op, takes: usize, leaves: usize) -> Result<(), Fault> {
        self.code.push(op);
        self.depth = self.depth - takes + leaves;
        self.deepest = self.deepest.max(self.depth);
        if self.deepest > MAX_STACK {
            return Err(self.fault(format!(
                "the expression is too complex: more than {MAX_STACK} values wait for their \
                 operator; put parts of it into variables"
            )));
        }
        Ok(())
    }

    fn constant(&mut self, value: Scalar) -> Result<(), Fault> {
        self.emit(Op::Constant(value), 0, 1)
    }

    fn variable(&mut self, name: &str) -> Result<(), Fault> {
        let slot = self.variables.slot(name);
        self.names.push((slot, Box::from(name)));
        self.emit(Op::Variable(slot), 0, 1)
    }

    /// Adds a jump whose target [`Self::land`] fills in.
    fn jump(&mut self, op: fn(u32) -> Op, takes: usize) -> Result<usize, Fault> {
        self.emit(op(0), takes, 0)?;
        Ok(self.code.len() - 1)
    }

    /// Lets the jump at `from` go to the instruction that comes next.
    fn land(&mut self, from: usize) {
        let skip = u32::try_from(self.code.len() - from - 1).expect("a line is under 4 GB");
        match &mut self.code[from] {
            Op::AndThen(target)
            | Op::OrElse(target)
            | Op::UnlessTrue(target)
            | Op::Jump(target) => *target = skip,
            other => unreachable!("{other:?} is no jump"),
        }
    }

    /// Parses operators of at least precedence `min` and their operands.
    fn expression(&mut self, min: u8) -> Result<(), Fault> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(self.fault(format!(
                "the expression is nested too deeply: at most {MAX_NESTING} levels; put parts of \
                 it into variables"
            )));
        }
        let start = self.code.len();
        self.operand()?;
        let mut compared = false;
        while let Some((precedence, infix)) = infix(&self.token) {
            if precedence < min {
                break;
            }
            // Comparisons do not associate: `1 < 2 < 3` has no meaning.
            if precedence == level::COMPARE && compared {
                return Err(self.unexpected());
            }
            compared = precedence == level::COMPARE;
            self.advance()?;
            match infix {
                Infix::Or => self.lazy(Op::OrElse, precedence)?,
                Infix::And => self.lazy(Op::AndThen, precedence)?,
                Infix::Is => self.is()?,
                Infix::IsNull => self.emit(Op::Is(Scalar::Null), 1, 1)?,
                Infix::NotNull => {
                    self.emit(Op::Is(Scalar::Null), 1, 1)?;
                    self.emit(Op::Not, 1, 1)?;
                }
                Infix::Binary { operator, swapped } => {
                    let middle = self.code.len();
                    self.expression(precedence + 1)?;
                    if swapped {
                        // Jumps are relative and stay within their side, so sides can move.
                        self.code[start..].rotate_left(middle - start);
                    }
                    self.emit(Op::Binary(operator), 2, 1)?;
                }
            }
        }
        self.nesting -= 1;
        Ok(())
    }

    fn lazy(&mut self, op: fn(u32) -> Op, precedence: u8) -> Result<(), Fault> {
        let left = self.jump(op, 1)?;
        self.expression(precedence + 1)?;
        self.emit(Op::Boolean, 1, 1)?;
        self.land(left);
        Ok(())
    }

    /// What follows `IS`: `[NOT] NULL|TRUE|FALSE`.
    fn is(&mut self) -> Result<(), Fault> {
        let negated = self.token == Token::Keyword(Keyword::Not);
        if negated {
            self.advance()?;
        }
        let pattern = match self.token {
            Token::Keyword(Keyword::Null) => Scalar::Null,
            Token::Keyword(Keyword::True) => Scalar::Bool(true),
            Token::Keyword(Keyword::False) => Scalar::Bool(false),
            _ => return Err(self.fault("syntax error: NULL, TRUE or FALSE expected after IS")),
        };
        self.advance()?;
        self.emit(Op::Is(pattern), 1, 1)?;
        if negated { self.emit(Op::Not, 1, 1) } else { Ok(()) }
    }

    fn operand(&mut self) -> Result<(), Fault> {
        let token = self.token;
        match token {
            Token::Int(value) => self.constant(Scalar::Int(value))?,
            Token::Double(value) => self.constant(Scalar::Double(value))?,
            Token::Variable(name) => self.variable(name)?,
            Token::Keyword(Keyword::Null) => self.constant(Scalar::Null)?,
            Token::Keyword(Keyword::True) => self.constant(Scalar::Bool(true))?,
            Token::Keyword(Keyword::False) => self.constant(Scalar::Bool(false))?,
            Token::Keyword(Keyword::Not) => {
                self.advance()?;
                self.expression(level::NOT)?;
                return self.emit(Op::Not, 1, 1);
            }
            Token::Keyword(Keyword::Case) => return self.case(),
            Token::Symbol("(") => {
                self.advance()?;
                self.expression(0)?;
                return self.expect(&Token::Symbol(")"), "\")\"");
            }
            Token::Symbol("+") => {
                self.advance()?;
                return self.expression(level::SIGN);
            }
            Token::Symbol("-") => return self.negative(),
            Token::Symbol("~") => {
                self.advance()?;
                self.constant(Scalar::Int(-1))?;
                self.expression(level::BITS + 1)?;
                return self.emit(Op::Binary(Binary::BitXor), 2, 1);
            }
            Token::Name(name) => return self.call(name),
            _ => return Err(self.unexpected()),
        }
        self.advance()
    }

    /// A unary minus, which is zero minus the operand (so `-0.0` is `0`, as in pgbench).
    fn negative(&mut self) -> Result<(), Fault> {
        self.advance()?;
        if self.token == Token::MaxIntPlusOne {
            self.constant(Scalar::Int(i64::MIN))?;
            return self.advance();
        }
        let start = self.code.len();
        self.constant(Scalar::Int(0))?;
        self.expression(level::SIGN)?;
        self.emit(Op::Binary(Binary::Subtract), 2, 1)?;
        let folded = match self.code[start + 1..] {
            [Op::Constant(Scalar::Int(value)), _] => value.checked_neg().map(Scalar::Int),
            [Op::Constant(Scalar::Double(value)), _] => Some(Scalar::Double(0.0 - value)),
            _ => None,
        };
        if let Some(value) = folded {
            self.code.truncate(start);
            self.code.push(Op::Constant(value));
        }
        Ok(())
    }

    fn case(&mut self) -> Result<(), Fault> {
        self.advance()?;
        if self.token != Token::Keyword(Keyword::When) {
            return Err(self.fault(
                "syntax error: CASE must be followed by WHEN (CASE value WHEN ... does not exist)",
            ));
        }
        let mut ends = Vec::new();
        while self.token == Token::Keyword(Keyword::When) {
            self.advance()?;
            self.expression(0)?;
            let skip = self.jump(Op::UnlessTrue, 1)?;
            self.expect(&Token::Keyword(Keyword::Then), "THEN")?;
            self.expression(0)?;
            // The next branch starts without this one's value.
            ends.push(self.jump(Op::Jump, 1)?);
            self.land(skip);
        }
        if self.token == Token::Keyword(Keyword::Else) {
            self.advance()?;
            self.expression(0)?;
        } else {
            self.constant(Scalar::Null)?;
        }
        for end in ends {
            self.land(end);
        }
        self.expect(&Token::Keyword(Keyword::End), "END")
    }

    fn call(&mut self, name: &'t str) -> Result<(), Fault> {
        let Some(entry) = function::find(name) else {
            return Err(self.unknown_function(name));
        };
        if entry.name == function::RANDOM_STRING {
            return Err(self.fault(
                "random_string gives text, which no operator takes: use it alone, as in \
                 \\set name random_string(@@@-###)",
            ));
        }
        let name_start = self.lexer.token_start();
        self.advance()?;
        self.expect(&Token::Symbol("("), "\"(\"")?;
        let count = self.arguments()?;
        if count < entry.min || count > entry.max {
            let message = format!(
                "unexpected number of arguments ({}): {count} given, {} wanted",
                entry.name,
                wanted(entry)
            );
            return Err(Fault::new(name_start, message));
        }
        if count > function::MAX_ARGUMENTS {
            // As in pgbench an error of the run, after the arguments that fit were evaluated.
            self.code.push(Op::TooManyArguments);
            self.depth = self.depth - function::MAX_ARGUMENTS + 1;
            return Ok(());
        }
        let mut arguments = count;
        if entry.seeded && count == entry.min {
            self.variable("default_seed")?;
            arguments += 1;
        }
        if entry.function == Function::Debug {
            let Place { script, command } = self.place;
            return self.emit(Op::Debug { script, command }, 1, 1);
        }
        let op = Op::Call {
            function: entry.function,
            arguments: u8::try_from(arguments).expect("at most MAX_ARGUMENTS"),
        };
        self.emit(op, arguments, 1)
    }

    /// Parses the arguments of a call after its opening parenthesis; returns their number.
    fn arguments(&mut self) -> Result<usize, Fault> {
        let mut count = 0;
        if self.token == Token::Symbol(")") {
            self.advance()?;
            return Ok(count);
        }
        // pgbench's grammar lets a list start with a comma, so scripts may have one.
        if self.token == Token::Symbol(",") {
            self.advance()?;
        }
        loop {
            let (code, depth) = (self.code.len(), self.depth);
            self.expression(0)?;
            count += 1;
            if count > function::MAX_ARGUMENTS {
                // Parsed for its errors only: the call will fail before it is evaluated.
                self.code.truncate(code);
                self.depth = depth;
            }
            if self.token != Token::Symbol(",") {
                self.expect(&Token::Symbol(")"), "\",\" or \")\"")?;
                return Ok(count);
            }
            self.advance()?;
        }
    }

    fn at_random_string(&self) -> bool {
        matches!(self.token, Token::Name(name)
            if name.eq_ignore_ascii_case(function::RANDOM_STRING))
    }

    /// The rest of `random_string(TEMPLATE)`; the template is text, not an expression.
    fn template(&mut self) -> Result<Template, Fault> {
        let template = self.lexer.template().ok_or_else(|| {
            self.fault("random_string wants a template in parentheses, as in random_string(@@-##)")
        })?;
        self.advance()?;
        if self.token != Token::End {
            return Err(self.fault("random_string must stand alone: nothing can follow it"));
        }
        Ok(match template.strip_prefix(':') {
            Some(name) if super::is_valid_name(name) => {
                Template::Variable(self.variables.slot(name), Box::from(name))
            }
            _ => Template::Literal(Box::from(template)),
        })
    }
}

/// How many arguments a function wants, in words.
fn wanted(entry: &Entry) -> String {
    match (entry.min, entry.max) {
        (min, usize::MAX) => format!("at least {min}"),
        (min, max) if min == max => min.to_string(),
        (min, max) => format!("{min} or {max}"),
    }
}

/// An operator that follows its first operand.
#[derive(Clone, Copy)]
enum Infix {
    Or,
    And,
    Is,
    IsNull,
    NotNull,
    Binary { operator: Binary, swapped: bool },
}

/// The precedence and meaning of a token after an operand.
fn infix(token: &Token<'_>) -> Option<(u8, Infix)> {
    let plain = |operator| Infix::Binary { operator, swapped: false };
    let swapped = |operator| Infix::Binary { operator, swapped: true };
    Some(match token {
        Token::Keyword(Keyword::Or) => (level::OR, Infix::Or),
        Token::Keyword(Keyword::And) => (level::AND, Infix::And),
        Token::Keyword(Keyword::Is) => (level::IS, Infix::Is),
        Token::Keyword(Keyword::IsNull) => (level::IS, Infix::IsNull),
        Token::Keyword(Keyword::NotNull) => (level::IS, Infix::NotNull),
        Token::Symbol(symbol) => match *symbol {
            "=" => (level::COMPARE, plain(Binary::Equal)),
            "<>" | "!=" => (level::COMPARE, plain(Binary::NotEqual)),
            "<" => (level::COMPARE, plain(Binary::Less)),
            "<=" => (level::COMPARE, plain(Binary::LessOrEqual)),
            ">" => (level::COMPARE, swapped(Binary::Less)),
            ">=" => (level::COMPARE, swapped(Binary::LessOrEqual)),
            "|" => (level::BITS, plain(Binary::BitOr)),
            "#" => (level::BITS, plain(Binary::BitXor)),
            "&" => (level::BITS, plain(Binary::BitAnd)),
            "<<" => (level::BITS, plain(Binary::ShiftLeft)),
            ">>" => (level::BITS, plain(Binary::ShiftRight)),
            "+" => (level::SUM, plain(Binary::Add)),
            "-" => (level::SUM, plain(Binary::Subtract)),
            "*" => (level::PRODUCT, plain(Binary::Multiply)),
            "/" => (level::PRODUCT, plain(Binary::Divide)),
            "%" => (level::PRODUCT, plain(Binary::Remainder)),
            _ => return None,
        },
        _ => return None,
    })
}

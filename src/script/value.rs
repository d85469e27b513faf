//! Values of script variables and expressions.
//!
//! A variable holds what pgbench's would: nothing yet, NULL, a boolean, a 64-bit integer, a double,
//! or text that gets its type where an expression uses it. Pure: no clock, no files.

use std::fmt;
use std::sync::Arc;

use super::number;

/// What a variable holds. `Display` is its text in SQL (simple protocol and shell commands).
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Value {
    /// No value was ever assigned: an error in an expression, left as written in simple protocol.
    #[default]
    Undefined,
    /// SQL NULL.
    Null,
    /// A truth value.
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// A double.
    Double(f64),
    /// Text from `-D`, `\gset`, `\aset` or `random_string`; typed at its first use in an expression.
    Text(Arc<str>),
}

/// A value inside an expression: what is left when text has got its type. Small and `Copy`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scalar {
    /// SQL NULL.
    Null,
    /// A truth value.
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// A double.
    Double(f64),
}

/// Why a variable's text is no value for an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextError {
    /// Neither null, nor a boolean, nor a number.
    Malformed,
    /// Digits beyond 64 bits.
    IntOutOfRange,
    /// Beyond the range of a double.
    DoubleOutOfRange,
}

impl Value {
    /// Text given by the user. An integer in its plain form is stored as one, which spares parsing
    /// it at every use and cannot be told apart.
    pub fn from_text(text: &str) -> Self {
        match text.parse::<i64>() {
            Ok(int) if itoa::Buffer::new().format(int) == text => Self::Int(int),
            _ => Self::Text(Arc::from(text)),
        }
    }
}

impl From<Scalar> for Value {
    fn from(scalar: Scalar) -> Self {
        match scalar {
            Scalar::Null => Self::Null,
            Scalar::Bool(truth) => Self::Bool(truth),
            Scalar::Int(int) => Self::Int(int),
            Scalar::Double(double) => Self::Double(double),
        }
    }
}

impl Scalar {
    /// Gives a variable's text its type, by pgbench's rules: `null`; prefixes of `true`, `yes`,
    /// `false` and `no`; `on`, `off` and `of`; digits; anything that C reads as a double.
    pub fn from_text(text: &str) -> Result<Self, TextError> {
        if text.is_empty() {
            return Err(TextError::Malformed);
        }
        // Numbers first, since they are the common case; no word below looks like one.
        if let Some(int) = number::parse_int(text) {
            return int.map(Self::Int).map_err(|_| TextError::IntOutOfRange);
        }
        let prefix_of = |word: &str| {
            text.len() <= word.len()
                && word.as_bytes()[..text.len()].eq_ignore_ascii_case(text.as_bytes())
        };
        let is = |word: &str| text.eq_ignore_ascii_case(word);
        if is("null") {
            Ok(Self::Null)
        } else if prefix_of("true") || prefix_of("yes") || is("on") {
            Ok(Self::Bool(true))
        } else if prefix_of("false") || prefix_of("no") || is("off") || is("of") {
            Ok(Self::Bool(false))
        } else {
            number::parse_double(text).map(Self::Double).map_err(|error| match error {
                number::DoubleError::NotANumber => TextError::Malformed,
                number::DoubleError::OutOfRange => TextError::DoubleOutOfRange,
            })
        }
    }

    /// Whether a condition (`\if`, `CASE WHEN`) holds: true, or a number other than zero.
    pub fn is_truthy(self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(truth) => truth,
            Self::Int(int) => int != 0,
            Self::Double(double) => double != 0.0,
        }
    }

    /// The name of the type, as messages and `debug` say it.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Int(_) => "int",
            Self::Double(_) => "double",
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Null => f.write_str("NULL"),
            Self::Bool(truth) => f.write_str(if truth { "true" } else { "false" }),
            Self::Int(int) => f.write_str(itoa::Buffer::new().format(int)),
            Self::Double(double) => number::write_double(f, double),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undefined => Ok(()),
            Self::Null => Scalar::Null.fmt(f),
            Self::Bool(truth) => Scalar::Bool(*truth).fmt(f),
            Self::Int(int) => Scalar::Int(*int).fmt(f),
            Self::Double(double) => Scalar::Double(*double).fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_gets_the_type_that_pgbench_gives_it() {
        let cases = [
            ("null", Scalar::Null),
            ("NULL", Scalar::Null),
            ("t", Scalar::Bool(true)),
            ("TRU", Scalar::Bool(true)),
            ("y", Scalar::Bool(true)),
            ("on", Scalar::Bool(true)),
            ("n", Scalar::Bool(false)),
            ("of", Scalar::Bool(false)),
            ("oFF", Scalar::Bool(false)),
            ("f", Scalar::Bool(false)),
            (" 5", Scalar::Int(5)),
            ("+5", Scalar::Int(5)),
            ("-007", Scalar::Int(-7)),
            ("1e3", Scalar::Double(1000.0)),
            (" .5", Scalar::Double(0.5)),
            ("0x10", Scalar::Double(16.0)),
            ("inf", Scalar::Double(f64::INFINITY)),
        ];
        for (text, expected) in cases {
            assert_eq!(Scalar::from_text(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn other_text_has_no_type() {
        for text in ["", "o", "trueXXX", "nul", "5 ", "1 2", "abc", "é", "--5", "+"] {
            assert_eq!(Scalar::from_text(text), Err(TextError::Malformed), "{text}");
        }
        let huge = Scalar::from_text("99999999999999999999");
        assert_eq!(huge, Err(TextError::IntOutOfRange));
        assert_eq!(Scalar::from_text("1e999"), Err(TextError::DoubleOutOfRange));
    }

    #[test]
    fn only_plain_integers_are_stored_as_integers() {
        assert_eq!(Value::from_text("10"), Value::Int(10));
        for text in ["007", "+1", "-0", " 5", "1.0"] {
            assert_eq!(Value::from_text(text), Value::Text(Arc::from(text)));
        }
    }
}

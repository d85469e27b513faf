//! The tokens of expressions. An expression ends with its line, unless a backslash ends the line.

use super::error::Fault;
use super::number;
use super::variables::{continues_name, starts_name};

/// A token of an expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Token<'t> {
    Int(i64),
    /// 9223372036854775808, which fits only when negated.
    MaxIntPlusOne,
    Double(f64),
    /// `:name`, the name.
    Variable(&'t str),
    /// A word that is no keyword: a function.
    Name(&'t str),
    Keyword(Keyword),
    /// An operator, parenthesis or comma.
    Symbol(&'static str),
    /// The end of the command.
    End,
}

/// The reserved words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keyword {
    And,
    Case,
    Else,
    End,
    False,
    Is,
    IsNull,
    Not,
    NotNull,
    Null,
    Or,
    Then,
    True,
    When,
}

const KEYWORDS: [(&str, Keyword); 14] = [
    ("and", Keyword::And),
    ("case", Keyword::Case),
    ("else", Keyword::Else),
    ("end", Keyword::End),
    ("false", Keyword::False),
    ("is", Keyword::Is),
    ("isnull", Keyword::IsNull),
    ("not", Keyword::Not),
    ("notnull", Keyword::NotNull),
    ("null", Keyword::Null),
    ("or", Keyword::Or),
    ("then", Keyword::Then),
    ("true", Keyword::True),
    ("when", Keyword::When),
];

/// Longer ones first, since the first that fits is taken.
const SYMBOLS: [&str; 21] = [
    "<=", ">=", "<>", "!=", "<<", ">>", "<", ">", "=", "+", "-", "*", "/", "%", "&", "|", "#", "~",
    "(", ")", ",",
];

/// Reads tokens one by one.
pub(crate) struct Lexer<'t> {
    text: &'t str,
    position: usize,
    token_start: usize,
}

impl<'t> Lexer<'t> {
    /// Starts at byte `position` of `text`.
    pub(crate) fn new(text: &'t str, position: usize) -> Self {
        Self { text, position, token_start: position }
    }

    /// The byte after the last token.
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    /// The first byte of the last token.
    pub(crate) fn token_start(&self) -> usize {
        self.token_start
    }

    /// The text of the last token.
    pub(crate) fn token_text(&self) -> &'t str {
        &self.text[self.token_start..self.position]
    }

    fn rest(&self) -> &'t str {
        &self.text[self.position..]
    }

    fn skip_blanks(&mut self) {
        self.position += blanks(self.rest());
    }

    /// The next token; an error when no token looks like what follows.
    pub(crate) fn next_token(&mut self) -> Result<Token<'t>, Fault> {
        self.skip_blanks();
        self.token_start = self.position;
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let token = match *bytes {
            [] | [b'\n', ..] => Token::End,
            [b':', second, ..] if continues_name(second) => {
                let length = name_length(&rest[1..]);
                self.position += 1 + length;
                Token::Variable(&rest[1..=length])
            }
            [first, ..] if starts_name(first) => {
                let word = &rest[..name_length(rest)];
                self.position += word.len();
                match KEYWORDS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)) {
                    Some((_, keyword)) => Token::Keyword(*keyword),
                    None => Token::Name(word),
                }
            }
            [b'0'..=b'9', ..] | [b'.', b'0'..=b'9', ..] => return self.number(),
            _ => match SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
                Some(symbol) => {
                    self.position += symbol.len();
                    Token::Symbol(symbol)
                }
                None => {
                    let found = rest.chars().next().unwrap_or_default();
                    let message = format!("syntax error: unexpected character {found:?}");
                    return Err(Fault::new(self.position, message));
                }
            },
        };
        Ok(token)
    }

    fn number(&mut self) -> Result<Token<'t>, Fault> {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let digits = |from: usize| {
            from + bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count()
        };
        let mut end = digits(0);
        let mut is_double = false;
        if bytes.get(end) == Some(&b'.') {
            is_double = true;
            end = digits(end + 1);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent = end + 1 + sign;
            // Without digits the letter belongs to what follows.
            if bytes.get(exponent).is_some_and(u8::is_ascii_digit) {
                is_double = true;
                end = digits(exponent);
            }
        }
        let text = &rest[..end];
        self.position += end;
        let overflow = |kind| Fault::new(self.token_start, format!("{kind} constant overflow"));
        if is_double {
            return number::parse_double(text).map(Token::Double).map_err(|_| overflow("double"));
        }
        match text.parse() {
            Ok(value) => Ok(Token::Int(value)),
            Err(_) if text == "9223372036854775808" => Ok(Token::MaxIntPlusOne),
            Err(_) => Err(overflow("bigint")),
        }
    }

    /// After the name `random_string`: takes `(TEMPLATE)` and returns the template, which goes to
    /// the first closing parenthesis, or is quoted when it contains one. `None` if it is missing.
    pub(crate) fn template(&mut self) -> Option<&'t str> {
        self.skip_blanks();
        let inner = self.rest().strip_prefix('(')?;
        let inner = &inner[blanks(inner)..];
        let line = inner.lines().next()?;
        let (template, after) = match line.strip_prefix('\'') {
            Some(quoted) => {
                let (template, after) = quoted.split_once('\'')?;
                let after = after[blanks(after)..].strip_prefix(')')?;
                (template, after)
            }
            None => {
                let (template, after) = line.split_once(')')?;
                (template.trim_end(), after)
            }
        };
        if template.is_empty() {
            return None;
        }
        // All these are slices of the text, so lengths give the position.
        let used = self.rest().len() - (inner.len() - (line.len() - after.len()));
        self.position += used;
        Some(template)
    }
}

/// Length of the blanks at the start of `text`, among them newlines after a backslash.
pub(super) fn blanks(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        match bytes[at..] {
            [b' ' | b'\t' | b'\r' | 0x0b | 0x0c, ..] => at += 1,
            [b'\\', b'\n', ..] => at += 2,
            [b'\\', b'\r', b'\n', ..] => at += 3,
            _ => return at,
        }
    }
}

/// Length of the name at the start of `text`.
pub(super) fn name_length(text: &str) -> usize {
    text.bytes().take_while(|byte| continues_name(*byte)).count()
}

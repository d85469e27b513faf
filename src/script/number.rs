//! Numbers as C reads and prints them: the text form of doubles (`%.15g`) and the numbers that
//! pgbench accepts in a variable's text. No heap allocation in printing.

use std::fmt::{self, Write};

/// The digits do not fit 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IntOverflow;

/// Why text is no double.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DoubleError {
    /// The text is not a number as a whole.
    NotANumber,
    /// The number overflows, or is too small to be told from zero with full precision.
    OutOfRange,
}

/// Reads `[blanks][sign]digits`; `None` when the text has another form.
pub(crate) fn parse_int(text: &str) -> Option<Result<i64, IntOverflow>> {
    let trimmed = text.trim_start_matches(is_c_space);
    let digits = trimmed.strip_prefix(['+', '-']).unwrap_or(trimmed);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(trimmed.parse().map_err(|_| IntOverflow))
}

/// Reads all of `text` as C's `strtod` does: decimal, hexadecimal, `inf`, `infinity`, `nan`.
pub(crate) fn parse_double(text: &str) -> Result<f64, DoubleError> {
    let trimmed = text.trim_start_matches(is_c_space);
    let (negative, magnitude) = match trimmed.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, trimmed.strip_prefix('+').unwrap_or(trimmed)),
    };
    let is = |word: &str| magnitude.eq_ignore_ascii_case(word);
    let value = if is("inf") || is("infinity") {
        f64::INFINITY
    } else if is("nan") {
        f64::NAN
    } else if magnitude.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("0x")) {
        in_range(parse_hex(&magnitude[2..])?, &magnitude[2..])?
    } else if magnitude.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        let value = magnitude.parse().map_err(|_| DoubleError::NotANumber)?;
        in_range(value, magnitude.split(['e', 'E']).next().unwrap_or(magnitude))?
    } else {
        return Err(DoubleError::NotANumber);
    };
    Ok(if negative { -value } else { value })
}

/// C reports both overflow and loss of precision near zero as out of range.
fn in_range(value: f64, mantissa: &str) -> Result<f64, DoubleError> {
    let zero =
        mantissa.bytes().take_while(|byte| !b"pP".contains(byte)).all(|b| b"0.".contains(&b));
    if value.is_normal() || zero { Ok(value) } else { Err(DoubleError::OutOfRange) }
}

/// Reads a hexadecimal double after its `0x`.
fn parse_hex(text: &str) -> Result<f64, DoubleError> {
    let (mantissa, exponent) = match text.split_once(['p', 'P']) {
        Some((mantissa, exponent)) => {
            let exponent: i64 = match parse_int(exponent) {
                Some(Ok(value)) if !exponent.starts_with(is_c_space) => value,
                _ => return Err(DoubleError::NotANumber),
            };
            (mantissa, exponent)
        }
        None => (text, 0),
    };
    let mut bits: u64 = 0;
    let mut scale = exponent.clamp(-1_000_000, 1_000_000);
    let mut digits = 0;
    let mut seen_point = false;
    for c in mantissa.chars() {
        if c == '.' && !seen_point {
            seen_point = true;
            continue;
        }
        let digit = c.to_digit(16).ok_or(DoubleError::NotANumber)?;
        digits += 1;
        if bits >> 60 == 0 {
            bits = bits << 4 | u64::from(digit);
            scale -= if seen_point { 4 } else { 0 };
        } else {
            // No room: keep the size, and remember in the last bit that something was cut off.
            bits |= u64::from(digit != 0);
            scale += if seen_point { 0 } else { 4 };
        }
    }
    if digits == 0 {
        return Err(DoubleError::NotANumber);
    }
    // In two steps, so that neither power leaves the range while the product is inside.
    let half = i32::try_from(scale.clamp(-4000, 4000) / 2).unwrap_or_default();
    let rest = i32::try_from(scale.clamp(-4000, 4000)).unwrap_or_default() - half;
    let rounded = bits as f64;
    Ok(rounded * 2_f64.powi(half) * 2_f64.powi(rest))
}

/// C's `isspace`.
fn is_c_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\x0b' | '\x0c' | '\r')
}

/// Writes a double with 15 significant digits as C's `%.15g`, and `Infinity`, `-Infinity`, `NaN`.
pub(crate) fn write_double(f: &mut fmt::Formatter<'_>, value: f64) -> fmt::Result {
    const DIGITS: i32 = 15;
    if value.is_nan() {
        return f.write_str("NaN");
    }
    if value.is_infinite() {
        return f.write_str(if value > 0.0 { "Infinity" } else { "-Infinity" });
    }
    // "d.dddddddddddddde[-]x": rounding is done here, once.
    let mut buffer = ShortText::default();
    write!(buffer, "{:.14e}", value.abs())?;
    let (mantissa, exponent) = buffer.as_str().split_once('e').unwrap_or(("0", "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let (first, rest) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let rest = rest.trim_end_matches('0');
    if value.is_sign_negative() {
        f.write_char('-')?;
    }
    if !(-4..DIGITS).contains(&exponent) {
        f.write_str(first)?;
        if !rest.is_empty() {
            write!(f, ".{rest}")?;
        }
        let sign = if exponent < 0 { '-' } else { '+' };
        return write!(f, "e{sign}{:02}", exponent.abs());
    }
    let Ok(point) = usize::try_from(exponent) else {
        f.write_str("0.")?;
        for _ in exponent..-1 {
            f.write_char('0')?;
        }
        return write!(f, "{first}{rest}");
    };
    f.write_str(first)?;
    if rest.len() > point {
        write!(f, "{}.{}", &rest[..point], &rest[point..]).map(|()| ())
    } else {
        f.write_str(rest)?;
        for _ in rest.len()..point {
            f.write_char('0')?;
        }
        Ok(())
    }
}

/// A few characters on the stack.
#[derive(Default)]
struct ShortText {
    bytes: [u8; 32],
    length: usize,
}

impl ShortText {
    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }
}

impl Write for ShortText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Printed(f64);
    impl fmt::Display for Printed {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write_double(f, self.0)
        }
    }

    #[test]
    fn doubles_print_with_fifteen_significant_digits() {
        let cases = [
            (0.0, "0"),
            (-0.0, "-0"),
            (16.0, "16"),
            (-2.5, "-2.5"),
            (0.1, "0.1"),
            (1.0 / 3.0, "0.333333333333333"),
            (1e-4, "0.0001"),
            (1.5e-5, "1.5e-05"),
            (123_456_789_012_345.0, "123456789012345"),
            (1e14, "100000000000000"),
            (1e15, "1e+15"),
            (999_999_999_999_999.9, "1e+15"),
            (1.234e100, "1.234e+100"),
            (13.856_406_460_551_018, "13.856406460551"),
            (1200.5, "1200.5"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
            (f64::NAN, "NaN"),
        ];
        for (value, expected) in cases {
            assert_eq!(Printed(value).to_string(), expected);
        }
    }

    #[test]
    fn doubles_are_read_as_c_reads_them() {
        let cases = [
            ("1.5", 1.5),
            ("  -1.5e2", -150.0),
            ("5.", 5.0),
            (".5", 0.5),
            ("0x10", 16.0),
            ("0x1.8p3", 12.0),
            ("-0X.8p-1", -0.25),
            ("0x1fffffffffffffff1", 36_893_488_147_419_103_217.0),
            ("0e999", 0.0),
            ("-Infinity", f64::NEG_INFINITY),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_double(text), Ok(expected), "{text}");
        }
        assert!(parse_double("nan").is_ok_and(f64::is_nan));
    }

    #[test]
    fn other_text_is_refused() {
        for text in ["", "e5", ".", "1e", "0x", "0x1p", "0x1p 5", "1_0", "infi", "1.5 ", "- 1", "é"]
        {
            assert_eq!(parse_double(text), Err(DoubleError::NotANumber), "{text}");
        }
        for text in ["1e309", "1e-400", "0x1p2000", "0x1p-2000", "0x1p99999999999"] {
            assert_eq!(parse_double(text), Err(DoubleError::OutOfRange), "{text}");
        }
    }
}

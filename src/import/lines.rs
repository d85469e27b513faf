//! Lines with their numbers, and the figures in them.

use super::ImportError;

/// A line of the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'t> {
    /// From 1.
    pub(super) number: u64,
    /// Without its end.
    pub(super) text: &'t str,
}

/// The lines of a text.
pub(super) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    // A terminal's carriage return may stand before the end, and a mark before the first line.
    let text = text.trim_start_matches('\u{feff}');
    (1..).zip(text.lines()).map(|(number, text)| Line { number, text: text.trim_end() })
}

/// An error in line `line`.
pub(super) fn wrong(line: u64, why: impl Into<String>) -> ImportError {
    ImportError { line, why: why.into() }
}

impl Line<'_> {
    /// This line does not hold what a line of its kind does.
    pub(super) fn wrong(&self, what: &str) -> ImportError {
        let shown: String = self.text.chars().take(80).collect();
        wrong(self.number, format!("expected {what}: \"{shown}\""))
    }

    /// A figure. One that is no number, as a division by zero gives, is not known.
    pub(super) fn figure(&self, text: &str, what: &str) -> Result<Option<f64>, ImportError> {
        let text = text.trim();
        if matches!(text.trim_start_matches('-'), "nan" | "NaN" | "inf") {
            return Ok(None);
        }
        let is_number = text.starts_with(|c: char| c.is_ascii_digit())
            && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        match text.parse::<f64>() {
            Ok(figure) if is_number && figure.is_finite() => Ok(Some(figure)),
            _ => Err(self.wrong(what)),
        }
    }

    /// A figure that must be a number.
    pub(super) fn number(&self, text: &str, what: &str) -> Result<f64, ImportError> {
        self.figure(text, what)?.ok_or_else(|| self.wrong(what))
    }

    /// A whole number.
    pub(super) fn count<N: std::str::FromStr>(
        &self,
        text: &str,
        what: &str,
    ) -> Result<N, ImportError> {
        text.trim().parse().map_err(|_| self.wrong(what))
    }
}

/// The rounded count of a rate over a time.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "neither is negative, and a cast keeps what is too large at the largest"
)]
pub(super) fn count_of(rate: f64, length_s: f64) -> u64 {
    (rate * length_s).round() as u64
}

/// What stands between two words.
pub(super) fn between<'t>(text: &'t str, before: &str, after: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(before)?;
    rest.split_once(after).map(|(found, _)| found)
}

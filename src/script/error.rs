//! Errors in a script's text, pointing at the place.

use std::fmt;

/// A script that cannot be used. `Display` shows the place, the line and a caret under the column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptError {
    /// The file as the user knows it, or the option that held the text.
    pub file: String,
    /// Line from 1; 0 when the error has no place in a text.
    pub line: usize,
    /// Column from 1, in characters.
    pub column: usize,
    /// What is wrong and what would be right.
    pub message: String,
    /// The line of the text.
    pub source_line: String,
}

impl ScriptError {
    /// An error that has no place in a text.
    pub fn without_place(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            line: 0,
            column: 0,
            message: message.into(),
            source_line: String::new(),
        }
    }

    /// An error at a byte offset of `text`.
    pub(crate) fn at(file: &str, text: &str, fault: Fault) -> Self {
        let offset = text.floor_char_boundary(fault.offset);
        let before = &text[..offset];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let source_line = text[line_start..].lines().next().unwrap_or_default().to_owned();
        Self {
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: text[line_start..offset].chars().count() + 1,
            message: fault.message,
            source_line,
        }
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            return write!(f, "{}: {}", self.file, self.message);
        }
        writeln!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)?;
        // A window, so that the caret is seen even on a line of many thousand characters.
        const BEFORE: usize = 60;
        const WINDOW: usize = 100;
        let skipped = (self.column - 1).saturating_sub(BEFORE);
        let shown = |c: char| if c.is_control() { ' ' } else { c };
        let window: String =
            self.source_line.chars().skip(skipped).take(WINDOW).map(shown).collect();
        let (ellipsis, indent) = if skipped > 0 { ("... ", 4) } else { ("", 0) };
        writeln!(f, "{ellipsis}{window}")?;
        write!(f, "{:>width$}", '^', width = indent + self.column - skipped)
    }
}

impl std::error::Error for ScriptError {}

/// An error while reading a text whose file is known only further up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Byte offset in the text.
    pub(crate) offset: usize,
    /// As in [`ScriptError`].
    pub(crate) message: String,
}

impl Fault {
    /// A fault at `offset`.
    pub(crate) fn new(offset: usize, message: impl Into<String>) -> Self {
        Self { offset, message: message.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_under_the_column() {
        let text = "SELECT 1;\n\\set ä randon(1)\n";
        let offset = text.find("randon").unwrap();
        let error = ScriptError::at("a.sql", text, Fault::new(offset, "unknown function"));
        assert_eq!(error.to_string(), "a.sql:2:8: unknown function\n\\set ä randon(1)\n       ^");
    }

    #[test]
    fn a_fault_at_the_end_of_the_text_points_behind_its_last_line() {
        let error = ScriptError::at("a", "ab", Fault::new(2, "m"));
        assert_eq!((error.line, error.column), (1, 3));
        let error = ScriptError::at("a", "ab\n", Fault::new(3, "m"));
        assert_eq!((error.line, error.column), (2, 1));
    }

    #[test]
    fn of_a_long_line_only_the_part_around_the_caret_is_shown() {
        let text = format!("{}!{}", "x".repeat(10_000), "y".repeat(10_000));
        let shown = ScriptError::at("a", &text, Fault::new(10_000, "m")).to_string();
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[1].find('!'), lines[2].find('^'));
        assert!(shown.len() < 300);
    }
}

//! The lines at the bottom of a terminal that are drawn in place, under the lines that stay.
//!
//! No line is ever as wide as the terminal, so none is broken by it; and when the terminal was made
//! narrower and broke lines that were drawn before, they are taken away whole. Everything that
//! belongs together is written at once, so that nothing flickers. Moves the cursor and erases;
//! nothing else of a terminal is touched, so there is nothing to restore.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::live::harmless;

/// The drawn lines.
#[derive(Debug, Default)]
pub(super) struct Area {
    /// Columns of each drawn line.
    drawn: Vec<usize>,
}

impl Area {
    /// Writes `above` as lines that stay and `lines` below them, in a terminal of `columns`.
    pub(super) fn show(
        &mut self,
        out: &mut dyn Write,
        above: Option<&str>,
        lines: &[String],
        columns: usize,
    ) -> io::Result<()> {
        let mut text = self.erasing(columns);
        if let Some(above) = above {
            text.push_str(above);
            text.push('\n');
        }
        let cut: Vec<String> = lines.iter().map(|line| fitting(line, columns)).collect();
        text.push_str(&cut.join("\n"));
        self.drawn = cut.iter().map(|line| line.chars().map(columns_of).sum()).collect();
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    /// What takes the drawn lines away.
    fn erasing(&mut self, columns: usize) -> String {
        let mut text = String::new();
        let columns = columns.max(1);
        let rows: usize = self.drawn.iter().map(|used| used.div_ceil(columns).max(1)).sum();
        if rows > 0 {
            text.push('\r');
            if rows > 1 {
                // Writing to a string cannot fail.
                let _ = write!(text, "\u{1b}[{}A", rows - 1);
            }
            text.push_str("\u{1b}[J");
        }
        self.drawn.clear();
        text
    }
}

/// The line in less than the width of the terminal, in one line.
fn fitting(line: &str, columns: usize) -> String {
    let line = harmless(line).replace('\n', " ");
    let mut used = 0;
    line.chars()
        .take_while(|c| {
            used += columns_of(*c);
            used < columns
        })
        .collect()
}

/// What is not ASCII may be two columns wide, but for the marks of a sparkline.
fn columns_of(c: char) -> usize {
    if c.is_ascii() || ('\u{2580}'..='\u{259f}').contains(&c) { 1 } else { 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(area: &mut Area, above: Option<&str>, lines: &[&str], columns: usize) -> String {
        let mut out = Vec::new();
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        area.show(&mut out, above, &lines, columns).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn lines_stay_above_and_the_area_is_drawn_anew() {
        let mut area = Area::default();
        assert_eq!(shown(&mut area, None, &["one", "two"], 80), "one\ntwo");
        let next = shown(&mut area, Some("record"), &["three"], 80);
        assert_eq!(next, "\r\u{1b}[1A\u{1b}[Jrecord\nthree");
        assert_eq!(shown(&mut area, None, &[], 80), "\r\u{1b}[J");
        assert_eq!(shown(&mut area, Some("after"), &[], 80), "after\n");
    }

    #[test]
    fn no_line_reaches_the_edge() {
        let mut area = Area::default();
        assert_eq!(shown(&mut area, None, &["0123456789"], 6), "01234");
        assert_eq!(shown(&mut area, None, &["数据"], 5), "\r\u{1b}[J数据");
        assert_eq!(shown(&mut area, None, &["数据"], 4), "\r\u{1b}[J数");
    }

    #[test]
    fn lines_that_a_narrower_terminal_broke_go_whole() {
        let mut area = Area::default();
        shown(&mut area, None, &["0123456789", "ab"], 80);
        assert_eq!(shown(&mut area, None, &["x"], 4), "\r\u{1b}[3A\u{1b}[Jx");
    }
}

//! Standard output: the report and nothing else.
//!
//! A reader that goes away (`dbload ... | head`) has seen what it wanted: writing then ends in
//! silence, and is no failure.

use std::io::{self, IsTerminal, Write};

/// The width where none can be found out.
pub(super) const DEFAULT_WIDTH: usize = 80;

/// The writer of reports.
#[derive(Debug)]
pub struct Output<W> {
    inner: W,
    gone: bool,
}

impl Output<io::Stdout> {
    /// Standard output of the process.
    pub fn stdout() -> Self {
        Self::new(io::stdout())
    }
}

impl<W: Write> Output<W> {
    /// Writes to `inner`.
    pub fn new(inner: W) -> Self {
        Self { inner, gone: false }
    }

    /// Writes `text` and flushes. When the reader has gone, this and every later call succeed
    /// without writing.
    pub fn write(&mut self, text: &str) -> io::Result<()> {
        if self.gone {
            return Ok(());
        }
        match self.inner.write_all(text.as_bytes()).and_then(|()| self.inner.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.gone = true;
                Ok(())
            }
            other => other,
        }
    }
}

/// Columns that a report on standard output may use: the terminal's, else 80.
pub fn report_width() -> usize {
    let stdout = io::stdout();
    if !stdout.is_terminal() {
        return DEFAULT_WIDTH;
    }
    match rustix::termios::tcgetwinsize(&stdout) {
        // Some terminals (serial lines, editors) say 0.
        Ok(size) if size.ws_col > 0 => size.ws_col.into(),
        _ => DEFAULT_WIDTH,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_arrives_at_once() {
        let mut out = Output::new(Vec::new());
        out.write("a\n").unwrap();
        out.write("b\n").unwrap();
        assert_eq!(out.inner, b"a\nb\n");
    }

    #[test]
    fn a_reader_that_has_gone_is_no_failure() {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let mut out = Output::new(writer);
        out.write("first").unwrap();
        assert!(out.gone);
        out.write("second").unwrap();
    }

    #[test]
    fn any_other_failure_is_reported() {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        assert!(Output::new(full).write("text").is_err());
    }
}

//! Rows as text for PostgreSQL's COPY and MySQL's LOAD DATA, which read the same by default: a line
//! for a row, tabs between columns, a backslash before what would be one of them, `\N` for NULL.

use bytes::{Bytes, BytesMut};

use crate::schema::RowWriter;

/// Bytes that are sent at once: larger pieces did not load faster (measured with COPY), smaller ones
/// wake the connection's task more often.
const PIECE_BYTES: usize = 64 * 1024;
/// Room for the row that fills a piece; longer ones only make the buffer grow.
const ROW_BYTES: usize = 1024;

/// Rows as lines.
#[derive(Default)]
pub(crate) struct TabText {
    buffer: BytesMut,
    /// Within a row, behind its first column.
    is_inside: bool,
}

impl TabText {
    /// Whether there is enough to be sent.
    pub(crate) fn is_full(&self) -> bool {
        self.buffer.len() >= PIECE_BYTES
    }

    /// The rows so far; the buffer is used again as soon as they are sent.
    pub(crate) fn take(&mut self) -> Bytes {
        let rows = self.buffer.split().freeze();
        self.buffer.reserve(PIECE_BYTES + ROW_BYTES);
        rows
    }

    fn separate(&mut self) {
        if self.is_inside {
            self.buffer.extend_from_slice(b"\t");
        }
        self.is_inside = true;
    }
}

impl RowWriter for TabText {
    fn int(&mut self, value: i64) {
        self.separate();
        self.buffer.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    }

    fn text(&mut self, value: &str) {
        self.separate();
        let mut rest = value.as_bytes();
        while let Some(at) = rest.iter().position(|b| matches!(b, b'\\' | b'\t' | b'\n' | b'\r')) {
            let escape = match rest[at] {
                b'\t' => b"\\t",
                b'\n' => b"\\n",
                b'\r' => b"\\r",
                _ => b"\\\\",
            };
            self.buffer.extend_from_slice(&rest[..at]);
            self.buffer.extend_from_slice(escape);
            rest = &rest[at + 1..];
        }
        self.buffer.extend_from_slice(rest);
    }

    fn null(&mut self) {
        self.separate();
        self.buffer.extend_from_slice(b"\\N");
    }

    fn end_row(&mut self) {
        self.buffer.extend_from_slice(b"\n");
        self.is_inside = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_separates_columns_and_rows_is_escaped() {
        let mut text = TabText::default();
        text.int(i64::MIN);
        text.text("a\tb\\N\nc\rd");
        text.null();
        text.text("");
        text.end_row();
        text.int(-1);
        text.end_row();
        assert_eq!(text.take(), "-9223372036854775808\ta\\tb\\\\N\\nc\\rd\t\\N\t\n-1\n");
        assert!(text.take().is_empty());
    }
}

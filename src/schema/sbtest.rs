//! The rows of the sysbench schema: tables `sbtest1` to `sbtestN`, each with an id, a number `k`
//! with a secondary index, and two texts of random digits. Row `i` of a table is a function of
//! the seed, the table's number and `i`.

pub mod check;

use super::{RowContent, RowWriter, TableRows};
use crate::rng::dist::{self, Bounds};
use crate::rng::{Purpose, ScriptRng, row_seed, stream_seed};

/// The most rows of a table: `id` is a 32-bit integer.
pub const MAX_TABLE_SIZE: u64 = 2_147_483_647;
/// The most tables; every session prepares each statement once for each of them.
pub const MAX_TABLES: u32 = 10_000;
/// Tables when nobody says, as in sysbench.
pub const DEFAULT_TABLES: u32 = 1;
/// Rows of a table when nobody says, as in sysbench.
pub const DEFAULT_TABLE_SIZE: u64 = 10_000;

/// Digits of a group; groups are joined by hyphens.
const GROUP: usize = 11;
/// Length of the text in `c`: ten groups.
const C_LENGTH: usize = 10 * (GROUP + 1) - 1;
/// Length of the text in `pad`: five groups.
const PAD_LENGTH: usize = 5 * (GROUP + 1) - 1;

/// The name of table `number`, from 1.
pub fn table_name(number: u32) -> String {
    format!("sbtest{number}")
}

/// The number of the table of that name.
pub fn table_number(name: &str) -> Option<u32> {
    let digits = name.strip_prefix("sbtest")?;
    let number = digits.parse().ok()?;
    (table_name(number) == name && number > 0).then_some(number)
}

/// The tables that are loaded. `freeze`: see [`TableRows::freeze`].
pub fn tables(tables: u32, table_size: u64, seed: u64, freeze: bool) -> Vec<TableRows> {
    let table = |number| TableRows {
        table: table_name(number),
        columns: &["id", "k", "c", "pad"],
        rows: table_size,
        freeze,
        content: RowContent::Sbtest(Rows {
            table_size,
            seed: stream_seed(seed, number, Purpose::Load),
        }),
    };
    (1..=tables).map(table).collect()
}

/// The rows of one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rows {
    table_size: u64,
    /// Of this table.
    seed: u64,
}

impl Rows {
    /// Writes row `index` (from 0). `k` has sysbench's own default distribution, so that the
    /// secondary index has the same hot values.
    pub fn write_row<W: RowWriter>(self, index: u64, out: &mut W) {
        let mut rng = ScriptRng::new(row_seed(self.seed, index));
        let size = i64::try_from(self.table_size).unwrap_or(i64::MAX);
        out.int(i64::try_from(index).unwrap_or(i64::MAX).saturating_add(1));
        out.int(Bounds::new(1, size).map_or(1, |bounds| dist::special(&mut rng, bounds)));
        let mut text = [0; C_LENGTH];
        out.text(groups(&mut rng, &mut text));
        out.text(groups(&mut rng, &mut text[..PAD_LENGTH]));
        out.end_row();
    }
}

/// Fills `text` with groups of random digits.
fn groups<'t>(rng: &mut ScriptRng, text: &'t mut [u8]) -> &'t str {
    for group in text.chunks_mut(GROUP + 1) {
        // A random fraction of 64 bits, whose first eleven decimal digits are taken.
        let mut fraction = rng.next_u64();
        for digit in &mut group[..GROUP] {
            let tens = u128::from(fraction) * 10;
            let [.., whole] = ((tens >> 64) as u64).to_be_bytes();
            *digit = b'0' + whole;
            fraction = low_half(tens);
        }
        if let Some(last) = group.get_mut(GROUP) {
            *last = b'-';
        }
    }
    std::str::from_utf8(text).expect("digits and hyphens")
}

#[expect(clippy::cast_possible_truncation, reason = "the low half is what is wanted")]
fn low_half(wide: u128) -> u64 {
    wide as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Line(Vec<String>);

    impl RowWriter for Line {
        fn int(&mut self, value: i64) {
            self.0.push(value.to_string());
        }
        fn text(&mut self, value: &str) {
            self.0.push(value.to_owned());
        }
        fn null(&mut self) {
            self.0.push("NULL".to_owned());
        }
        fn end_row(&mut self) {}
    }

    fn row(number: u32, index: u64, seed: u64) -> Vec<String> {
        let mut line = Line::default();
        tables(2, 1000, seed, false)[number as usize - 1].write_row(index, &mut line);
        line.0
    }

    fn is_groups(text: &str, groups: usize) -> bool {
        let parts: Vec<_> = text.split('-').collect();
        parts.len() == groups
            && parts.iter().all(|part| part.len() == 11 && part.bytes().all(|b| b.is_ascii_digit()))
    }

    #[test]
    fn a_row_has_its_number_a_key_of_the_table_and_two_texts_of_digits() {
        for index in 0..1000 {
            let [id, k, c, pad] = &row(1, index, 7)[..] else { panic!("not four columns") };
            assert_eq!(*id, (index + 1).to_string());
            assert!((1..=1000).contains(&k.parse::<u64>().unwrap()), "{k}");
            assert!(is_groups(c, 10) && is_groups(pad, 5), "{c} {pad}");
        }
    }

    #[test]
    fn seed_table_and_index_decide_a_row_and_each_changes_it() {
        assert_eq!(row(1, 5, 7), row(1, 5, 7));
        for other in [row(2, 5, 7), row(1, 6, 7), row(1, 5, 8)] {
            assert_ne!(row(1, 5, 7)[2], other[2]);
        }
    }

    #[test]
    fn digits_are_equally_likely() {
        let mut counts = [0_u32; 10];
        for index in 0..2000 {
            for digit in row(1, index, 3)[2].bytes().filter(u8::is_ascii_digit) {
                counts[usize::from(digit - b'0')] += 1;
            }
        }
        // Chi-square with 9 degrees of freedom: over 27.9 once in a thousand seeds.
        let expected = 22_000.0;
        let chi: f64 = counts.iter().map(|n| (f64::from(*n) - expected).powi(2) / expected).sum();
        assert!(chi < 27.9, "{chi}: {counts:?}");
    }

    #[test]
    fn names_of_tables_have_no_leading_zero() {
        assert_eq!(table_number("sbtest12"), Some(12));
        for other in ["sbtest", "sbtest0", "sbtest01", "sbtest-1", "sbtest+1", "sbtestx", "test1"] {
            assert_eq!(table_number(other), None, "{other}");
        }
    }
}

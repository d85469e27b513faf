//! A table before it is laid out, and its parts where it is wider than the room for it.

use super::table::Block;

/// A table before it is laid out.
pub(super) struct Sheet {
    pub(super) title: String,
    pub(super) heading: Vec<String>,
    pub(super) blocks: Vec<Block>,
    /// Columns at the left that are text.
    pub(super) left: usize,
    /// Columns at the left that every part repeats.
    pub(super) fixed: usize,
}

/// Blanks between two columns.
const GAP: usize = 2;

impl Sheet {
    /// The table, in parts that take no more than `width` columns where it is wider: each with the
    /// fixed columns and as many of the others as there is room for, one at least.
    pub(super) fn fitting(self, width: usize) -> Vec<Self> {
        let widths = self.widths();
        let fixed: usize = widths[..self.fixed].iter().map(|width| width + GAP).sum();
        let mut parts: Vec<Vec<usize>> = Vec::new();
        let mut taken = width;
        for (column, wide) in widths.iter().enumerate().skip(self.fixed) {
            match parts.last_mut().filter(|_| taken + GAP + wide <= width) {
                Some(part) => {
                    part.push(column);
                    taken += GAP + wide;
                }
                None => {
                    parts.push(vec![column]);
                    taken = fixed + wide;
                }
            }
        }
        if parts.len() < 2 {
            return vec![self];
        }
        parts.iter().map(|columns| self.part(columns)).collect()
    }

    fn widths(&self) -> Vec<usize> {
        let rows = self.blocks.iter().flat_map(|block| &block.rows);
        let wide = |text: &String| text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        rows.chain([&self.heading]).fold(vec![0; self.heading.len()], |widths, row| {
            widths.into_iter().zip(row).map(|(width, text)| width.max(wide(text))).collect()
        })
    }

    /// The fixed columns and these.
    fn part(&self, columns: &[usize]) -> Self {
        let pick = |row: &Vec<String>| -> Vec<String> {
            let picked = columns.iter().map(|column| row[*column].clone());
            row[..self.fixed].iter().cloned().chain(picked).collect()
        };
        let block = |block: &Block| Block {
            title: block.title.clone(),
            rows: block.rows.iter().map(pick).collect(),
        };
        Self {
            title: self.title.clone(),
            heading: pick(&self.heading),
            blocks: self.blocks.iter().map(block).collect(),
            left: self.left,
            fixed: self.fixed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_table_is_cut_between_columns_and_each_part_says_what_its_rows_are() {
        let words = |words: &str| words.split(' ').map(str::to_owned).collect::<Vec<String>>();
        let sheet = |width| {
            Sheet {
                title: "Relative".to_owned(),
                heading: words("test base second third fourth"),
                blocks: vec![Block { title: None, rows: vec![words("a 1.00 1.10 0.90 2.00")] }],
                left: 1,
                fixed: 2,
            }
            .fitting(width)
        };
        let headings = |width| -> Vec<String> {
            sheet(width).iter().map(|part| part.heading.join(" ")).collect()
        };
        // Four, four, six, five and six characters, and two blanks between columns.
        assert_eq!(headings(33), ["test base second third fourth"]);
        assert_eq!(headings(32), ["test base second third", "test base fourth"]);
        assert_eq!(headings(1), ["test base second", "test base third", "test base fourth"]);
        assert_eq!(sheet(32)[1].blocks[0].rows, [words("a 1.00 2.00")]);
    }
}

//! Throughput as a row of marks: one line that shows dips and stalls. The scale begins at 0.

/// The marks from lowest to highest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marks {
    /// Blocks of eight heights.
    Blocks,
    /// For terminals and locales without them.
    Ascii,
}

impl Marks {
    /// What the terminal of this process can show, as far as its locale tells.
    pub fn of_process() -> Self {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
        Self::choose(locale.as_deref(), set("TERM").as_deref())
    }

    fn choose(locale: Option<&str>, term: Option<&str>) -> Self {
        let locale = locale.unwrap_or_default().to_lowercase();
        match locale.ends_with("utf-8") || locale.ends_with("utf8") {
            true if term != Some("dumb") => Self::Blocks,
            _ => Self::Ascii,
        }
    }

    fn of(self) -> [char; 8] {
        match self {
            Self::Blocks => ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
            Self::Ascii => ['_', '.', ':', '-', '=', '+', '*', '#'],
        }
    }
}

/// `values` in at most `width` marks, scaled from 0 to the highest. Of a stretch that shares a mark
/// the lowest value is shown, so that no dip is lost.
pub fn sparkline(values: &[f64], width: usize, marks: Marks) -> String {
    let highest = values.iter().copied().fold(0.0, f64::max);
    let stretch = values.len().div_ceil(width.max(1)).max(1);
    let lowest = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
    values.chunks(stretch).map(|values| mark(lowest(values), highest, marks)).collect()
}

fn mark(value: f64, highest: f64, marks: Marks) -> char {
    let marks = marks.of();
    let share = if highest > 0.0 { (value / highest).clamp(0.0, 1.0) } else { 0.0 };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 7")]
    let level = (share * 7.0).round() as usize;
    marks[level.min(7)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_begins_at_0_and_a_stall_is_lowest() {
        let values = [1000.0, 1010.0, 0.0, 500.0, 990.0];
        assert_eq!(sparkline(&values, 80, Marks::Blocks), "██▁▄█");
        assert_eq!(sparkline(&values, 80, Marks::Ascii), "##_-#");
        assert_eq!(sparkline(&[], 80, Marks::Blocks), "");
        assert_eq!(sparkline(&[0.0, 0.0], 80, Marks::Blocks), "▁▁");
    }

    #[test]
    fn a_dip_of_one_second_is_seen_in_an_hour() {
        let mut values = vec![1000.0; 3600];
        values[1234] = 10.0;
        let line = sparkline(&values, 40, Marks::Blocks);
        assert_eq!(line.chars().count(), 40);
        assert_eq!(line.chars().filter(|mark| *mark == '▁').count(), 1);
    }

    #[test]
    fn blocks_need_a_locale_that_has_them() {
        assert_eq!(Marks::choose(Some("en_US.UTF-8"), Some("xterm")), Marks::Blocks);
        assert_eq!(Marks::choose(Some("de_DE.utf8"), None), Marks::Blocks);
        assert_eq!(Marks::choose(Some("C"), Some("xterm")), Marks::Ascii);
        assert_eq!(Marks::choose(None, None), Marks::Ascii);
        assert_eq!(Marks::choose(Some("C.UTF-8"), Some("dumb")), Marks::Ascii);
    }
}

//! Breaking sentences into lines of a width.

/// `text` in lines of at most `width`, the first after `lead`, the others indented by as much. A
/// word longer than a line (a path, a URL) keeps a line of its own, whole.
pub(in crate::report) fn hanging(lead: &str, text: &str, width: usize) -> Vec<String> {
    let indent = " ".repeat(lead.chars().count());
    let mut lines = Vec::new();
    let mut line = lead.to_owned();
    let mut empty = true;
    for word in one_line(text).split(' ') {
        if !empty && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(std::mem::replace(&mut line, indent.clone()));
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    lines.push(line);
    lines
}

/// The text with every run of blanks, line ends and control characters as one blank: messages of
/// a server must not move the cursor of the terminal.
pub(super) fn one_line(text: &str) -> String {
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ")
}

/// The text in at most `width` characters, an ellipsis for what had to go.
pub(super) fn cut(text: &str, width: usize) -> String {
    let text = one_line(text);
    if text.chars().count() <= width {
        return text;
    }
    let mut cut: String = text.chars().take(width.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_hang_under_the_first_word_and_keep_the_width() {
        let lines = hanging("note: ", "one two three four", 15);
        assert_eq!(lines, ["note: one two", "      three", "      four"]);
    }

    #[test]
    fn a_word_longer_than_the_line_is_kept_whole() {
        assert_eq!(hanging("", "a /a/long/path b", 6), ["a", "/a/long/path", "b"]);
    }

    #[test]
    fn control_characters_never_reach_the_terminal() {
        assert_eq!(one_line("a\u{1b}[31m\r\nb\tc"), "a [31m b c");
    }

    #[test]
    fn what_is_cut_ends_in_an_ellipsis() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdefg", 6), "abcde…");
    }
}

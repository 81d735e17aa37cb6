//! Text that comes from files, made safe for where it is shown.
//!
//! A name in a data file may hold escape sequences that move the cursor or rename the window, line
//! ends, and marks that turn the direction of what follows. [`visible`] is the one place that says
//! which characters act and what stands for them. Every message goes through it: errors and notes
//! of `fewest-data` by [`Display`], pages of `fewest-report`, and what the command writes to a
//! terminal.

use std::fmt::{self, Write};

/// A text with the characters that act made visible. What is shown has as many characters as the
/// text.
///
/// ```
/// assert_eq!(fewest_text::visible("age\u{1b}[31m\n"), "age␛[31m␊");
/// ```
pub fn visible(text: &str) -> String {
    text.chars().map(shown).collect()
}

/// Shows a value as [`visible`] does, without a string in between.
///
/// ```
/// assert_eq!(fewest_text::Display("a\rb").to_string(), "a␍b");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Display<T>(pub T);

impl<T: fmt::Display> fmt::Display for Display<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(VisibleWriter(f), "{}", self.0)
    }
}

/// Passes text on as [`visible`] shows it.
struct VisibleWriter<W>(W);

impl<W: Write> Write for VisibleWriter<W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        // What is safe, nearly always all of it, goes on in one piece.
        while let Some((at, c)) = rest.char_indices().find(|&(_, c)| shown(c) != c) {
            self.0.write_str(&rest[..at])?;
            self.0.write_char(shown(c))?;
            rest = &rest[at + c.len_utf8()..];
        }
        self.0.write_str(rest)
    }
}

/// The character that stands for one that acts; any other is itself.
fn shown(c: char) -> char {
    match c {
        // Controls, by their pictures.
        '\0'..='\u{1f}' => char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        // Controls of eight bits, marks of direction and joining, line and paragraph ends, tags.
        '\u{80}'..='\u{9f}'
        | '\u{61c}'
        | '\u{200b}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}' => '\u{fffd}',
        other => other,
    }
}

/// A name as it is typed for an option that takes a list: as it is, or in quotes where it has blanks,
/// commas or signs that a shell takes.
pub fn typed(name: &str) -> String {
    if name.contains([',', ':']) { quoted(&format!("\"{name}\"")) } else { quoted(name) }
}

/// A value as it is typed for an option: as it is, or in quotes where it has signs that a shell takes.
pub fn quoted(value: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_.-+=/@%,:".contains(c);
    if !value.is_empty() && value.chars().all(plain) {
        return value.to_owned();
    }
    format!("'{}'", value.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::{Display, visible};

    #[test]
    fn characters_that_act_are_made_visible() {
        assert_eq!(visible("a\u{1b}[31m\n\0b\u{7f}"), "a␛[31m␊␀b␡");
        assert_eq!(visible("\u{202e}rtl\u{200f}\u{61c}"), "\u{fffd}rtl\u{fffd}\u{fffd}");
        assert_eq!(visible("שלום"), "שלום");
    }

    #[test]
    fn no_control_character_is_left() {
        let all: String = (0..=0x0011_0000).filter_map(char::from_u32).collect();
        let shown = visible(&all);
        assert!(!shown.chars().any(char::is_control));
        assert_eq!(shown.chars().count(), all.chars().count());
        assert_eq!(Display(&all).to_string(), shown);
        assert_eq!(visible(&shown), shown);
    }

    #[test]
    fn names_are_quoted_where_they_must_be() {
        for (name, text) in [
            ("age", "age"),
            ("a b", "'a b'"),
            ("Unnamed: 0", "'\"Unnamed: 0\"'"),
            ("a,b", "'\"a,b\"'"),
            ("<5", "'<5'"),
            ("it's", "'it'\\''s'"),
            ("", "''"),
            ("sex=M", "sex=M"),
        ] {
            assert_eq!(super::typed(name), text);
        }
    }
}

//! Tables for people: aligned columns, cut to the terminal's width, plain when piped.

use fewest_text::visible;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How text is laid out.
#[derive(Debug, Clone, Copy, Default)]
pub struct Style {
    /// Columns of the terminal; none: no line is cut or wrapped, but for paragraphs.
    pub width: Option<usize>,
    /// Whether headings and labels are bold.
    pub bold: bool,
}

impl Style {
    fn bold(self, text: &str) -> String {
        if self.bold { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// `label   value` lines with the values aligned, and wrapped where the terminal is narrow.
    pub fn pairs(self, pairs: &[(&str, String)]) -> String {
        let widest = pairs.iter().map(|p| p.0.width()).max().unwrap_or(0);
        let room = self.width.map_or(usize::MAX, |width| width.saturating_sub(widest + 2).max(20));
        pairs.iter().fold(String::new(), |text, (label, value)| {
            let pad = " ".repeat(widest - label.width());
            let lines = wrapped(&visible(value), room).join(&format!("\n{}", " ".repeat(widest + 2)));
            text + &format!("{}{pad}  {lines}\n", self.bold(label))
        })
    }

    /// A paragraph with lines of at most the terminal's width (100 when piped), indented.
    pub fn paragraph(self, text: &str, indent: usize) -> String {
        let limit = self.width.unwrap_or(100).clamp(40, 110);
        let words: Vec<&str> = text.split_whitespace().collect();
        let lines = wrapped(&visible(&words.join(" ")), limit - indent);
        lines.iter().fold(String::new(), |out, line| out + &" ".repeat(indent) + line + "\n")
    }
}

/// A table with headings. Columns of numbers are aligned right.
#[derive(Debug)]
pub struct Table {
    headings: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    /// The column that gives way when the terminal is narrow.
    flexible: usize,
}

impl Table {
    /// No rows yet; `flexible` is the column that is cut when the terminal is narrow.
    ///
    /// # Panics
    /// Where it has no column of this number.
    pub fn new(headings: &[&'static str], flexible: usize) -> Self {
        assert!(flexible < headings.len(), "the flexible column is one of the table");
        Self { headings: headings.to_vec(), rows: Vec::new(), flexible }
    }

    /// Adds a row, one cell per heading.
    ///
    /// # Panics
    /// For another number of cells.
    pub fn row(&mut self, cells: Vec<String>) {
        assert_eq!(cells.len(), self.headings.len(), "one cell per heading");
        // Names come from files: what would move the cursor or colour the line is shown, not sent.
        self.rows.push(cells.into_iter().map(|cell| visible(&cell)).collect());
    }

    /// The text, with a line end after each row.
    pub fn render(&self, style: Style) -> String {
        let mut widths: Vec<usize> = self.headings.iter().map(|h| h.width()).collect();
        for row in &self.rows {
            for (at, cell) in row.iter().enumerate() {
                widths[at] = widths[at].max(cell.width());
            }
        }
        if let Some(limit) = style.width {
            let total: usize = widths.iter().sum::<usize>() + 2 * (widths.len() - 1);
            let spare = widths[self.flexible].saturating_sub(8);
            widths[self.flexible] -= total.saturating_sub(limit).min(spare);
        }
        let numeric: Vec<bool> = (0..widths.len())
            .map(|at| !self.rows.is_empty() && self.rows.iter().all(|r| r[at].is_empty() || is_number(&r[at])))
            .collect();
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            let mut text = String::new();
            for (at, cell) in cells.enumerate() {
                let cell = cut(cell, widths[at]);
                let pad = " ".repeat(widths[at].saturating_sub(cell.width()));
                let gap = if at == 0 { "" } else { "  " };
                let (before, after) = if numeric[at] { (pad.as_str(), "") } else { ("", pad.as_str()) };
                text.extend([gap, before, cell.as_str(), after]);
            }
            text.trim_end().to_owned()
        };
        let mut out = style.bold(&line(&mut self.headings.iter().copied())) + "\n";
        for row in &self.rows {
            out += &line(&mut row.iter().map(String::as_str));
            out.push('\n');
        }
        out
    }
}

/// Lines of at most this many columns, broken between words; a longer word has a line of its own.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is a line");
        if line.is_empty() {
            line.push_str(word);
        } else if line.width() + 1 + word.width() <= columns {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

fn is_number(cell: &str) -> bool {
    cell.parse::<f64>().is_ok()
}

fn cut(cell: &str, width: usize) -> String {
    if cell.width() <= width {
        return cell.to_owned();
    }
    let mut used = 3;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= width
    };
    cell.chars().take_while(fits).chain("...".chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::{Style, Table, cut, wrapped};

    #[test]
    fn aligns_numbers_right_and_text_left() {
        let mut table = Table::new(&["feature", "weight"], 0);
        table.row(vec!["a".into(), "-1.5".into()]);
        table.row(vec!["long_name".into(), "10".into()]);
        assert_eq!(table.render(Style::default()), "feature    weight\na            -1.5\nlong_name      10\n");
    }

    #[test]
    fn wide_letters_take_two_columns_and_control_characters_are_shown() {
        let mut table = Table::new(&["feature", "weight"], 0);
        table.row(vec!["\u{6f22}\u{5b57}".into(), "1".into()]);
        table.row(vec!["a\u{1b}[31m\nb".into(), "22".into()]);
        let lines = ["feature   weight", "\u{6f22}\u{5b57}           1", "a\u{241b}[31m\u{240a}b      22"];
        assert_eq!(table.render(Style::default()), lines.join("\n") + "\n");
        assert_eq!(
            (cut("\u{6f22}\u{5b57}\u{6f22}\u{5b57}", 6), cut("abcdefgh", 6)),
            ("\u{6f22}...".into(), "abc...".into())
        );
    }

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("extraordinary a b", 5), ["extraordinary", "a b"]);
    }

    #[test]
    fn paragraphs_wrap() {
        assert!(
            Style::default()
                .paragraph(&"word ".repeat(60), 2)
                .lines()
                .all(|l| l.starts_with("  word") && l.len() <= 100)
        );
    }
}

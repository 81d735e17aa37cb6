//! Tables for people: aligned columns, cut to the terminal's width, plain when piped.

use fewest_report::visible;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::terminal::{bold, width};

pub(crate) use fewest_report::{brief, number, seconds};

/// A relative gap, not less than it is to the digits shown.
pub(crate) fn gap(share: f64) -> String {
    let text = format!("{share:.2e}");
    match text.parse::<f64>() {
        Ok(shown) if shown < share => format!("{:.2e}", share + 0.005 * 10f64.powf(share.log10().floor())),
        _ => text,
    }
}

/// A table with headings. Columns of numbers are aligned right.
pub(crate) struct Table {
    headings: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    /// The column that gives way when the terminal is narrow.
    flexible: usize,
}

impl Table {
    /// No rows yet; `flexible` is the column that is cut when the terminal is narrow.
    pub(crate) fn new(headings: &[&'static str], flexible: usize) -> Self {
        Self { headings: headings.to_vec(), rows: Vec::new(), flexible }
    }

    /// Adds a row, one cell per heading.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        assert_eq!(cells.len(), self.headings.len(), "one cell per heading");
        // Names come from files: what would move the cursor or colour the line is shown, not sent.
        self.rows.push(cells.into_iter().map(|cell| visible(&cell)).collect());
    }

    /// The text, with a line end after each row.
    pub(crate) fn render(&self) -> String {
        let mut widths: Vec<usize> = self.headings.iter().map(|h| h.width()).collect();
        for row in &self.rows {
            for (at, cell) in row.iter().enumerate() {
                widths[at] = widths[at].max(cell.width());
            }
        }
        if let Some(limit) = width() {
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
        let mut out = bold(&line(&mut self.headings.iter().copied())) + "\n";
        for row in &self.rows {
            out += &line(&mut row.iter().map(String::as_str));
            out.push('\n');
        }
        out
    }
}

/// `label   value` lines with the values aligned, and wrapped where the terminal is narrow.
pub(crate) fn pairs(pairs: &[(&str, String)]) -> String {
    let widest = pairs.iter().map(|p| p.0.width()).max().unwrap_or(0);
    let room = width().map_or(usize::MAX, |width| width.saturating_sub(widest + 2).max(20));
    pairs.iter().fold(String::new(), |text, (label, value)| {
        let pad = " ".repeat(widest - label.width());
        let lines = wrapped(&visible(value), room).join(&format!("\n{}", " ".repeat(widest + 2)));
        text + &format!("{}{pad}  {lines}\n", bold(label))
    })
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

/// A paragraph with lines of at most the terminal's width (100 when piped), indented.
pub(crate) fn paragraph(text: &str, indent: usize) -> String {
    let limit = width().unwrap_or(100).clamp(40, 110);
    let words: Vec<&str> = text.split_whitespace().collect();
    let lines = wrapped(&visible(&words.join(" ")), limit - indent);
    lines.iter().fold(String::new(), |out, line| out + &" ".repeat(indent) + line + "\n")
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
    use super::{Table, cut, gap, paragraph, wrapped};

    #[test]
    fn a_gap_is_not_rounded_down() {
        assert_eq!([gap(0.50616), gap(1.004e-4), gap(9.991e-5), gap(0.0)], ["5.07e-1", "1.01e-4", "1.00e-4", "0.00e0"]);
        for share in (1..2000).map(|k| 1.37e-6 * f64::from(k)) {
            let shown: f64 = gap(share).parse().unwrap();
            assert!(shown >= share && shown <= share * 1.011, "{share} {shown}");
        }
    }

    #[test]
    fn aligns_numbers_right_and_text_left() {
        let mut table = Table::new(&["feature", "weight"], 0);
        table.row(vec!["a".into(), "-1.5".into()]);
        table.row(vec!["long_name".into(), "10".into()]);
        assert_eq!(table.render(), "feature    weight\na            -1.5\nlong_name      10\n");
    }

    #[test]
    fn wide_letters_take_two_columns_and_control_characters_are_shown() {
        let mut table = Table::new(&["feature", "weight"], 0);
        table.row(vec!["\u{6f22}\u{5b57}".into(), "1".into()]);
        table.row(vec!["a\u{1b}[31m\nb".into(), "22".into()]);
        let lines = ["feature   weight", "\u{6f22}\u{5b57}           1", "a\u{241b}[31m\u{240a}b      22"];
        assert_eq!(table.render(), lines.join("\n") + "\n");
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
        assert!(paragraph(&"word ".repeat(60), 2).lines().all(|l| l.starts_with("  word") && l.len() <= 100));
    }
}

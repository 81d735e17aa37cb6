//! Tables for people: aligned columns, cut to the terminal's width, plain when piped.

use crate::terminal::{bold, width};

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
        self.rows.push(cells);
    }

    /// The text, with a line end after each row.
    pub(crate) fn render(&self) -> String {
        let mut widths: Vec<usize> = self.headings.iter().map(|h| h.chars().count()).collect();
        for row in &self.rows {
            for (at, cell) in row.iter().enumerate() {
                widths[at] = widths[at].max(cell.chars().count());
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
                let pad = " ".repeat(widths[at] - cell.chars().count());
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

/// `label   value` lines with the values aligned.
pub(crate) fn pairs(pairs: &[(&str, String)]) -> String {
    let widest = pairs.iter().map(|p| p.0.chars().count()).max().unwrap_or(0);
    pairs.iter().fold(String::new(), |text, (label, value)| {
        let pad = " ".repeat(widest - label.chars().count());
        text + &format!("{}{pad}  {value}\n", bold(label))
    })
}

/// A paragraph with lines of at most the terminal's width (100 when piped), indented.
pub(crate) fn paragraph(text: &str, indent: usize) -> String {
    let limit = width().unwrap_or(100).clamp(40, 110);
    let (mut out, mut line) = (String::new(), " ".repeat(indent));
    for word in text.split_whitespace() {
        if line.chars().count() + word.chars().count() + 1 > limit && !line.trim().is_empty() {
            out += line.trim_end();
            out.push('\n');
            line = " ".repeat(indent);
        }
        line += word;
        line.push(' ');
    }
    out + line.trim_end() + "\n"
}

/// A number with five significant digits or so.
pub(crate) fn number(x: f64) -> String {
    if x == 0.0 {
        "0".to_owned()
    } else if !(1e-3..1e6).contains(&x.abs()) {
        format!("{x:.4e}")
    } else {
        let digits = (5 - x.abs().log10().floor() as i32).clamp(0, 8);
        format!("{x:.*}", digits as usize)
    }
}

/// As [`number`], without zeros at the end: for numbers that a user gave, and sums of them.
pub(crate) fn brief(x: f64) -> String {
    let text = number(x);
    if text.contains('e') || !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Seconds, as long as they need to be.
pub(crate) fn seconds(x: f64) -> String {
    if x < 10.0 { format!("{x:.3} s") } else { format!("{x:.1} s") }
}

fn is_number(cell: &str) -> bool {
    cell.parse::<f64>().is_ok()
}

fn cut(cell: &str, width: usize) -> String {
    if cell.chars().count() <= width {
        return cell.to_owned();
    }
    cell.chars().take(width.saturating_sub(3)).chain("...".chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::{Table, brief, number, paragraph};

    #[test]
    fn aligns_numbers_right_and_text_left() {
        let mut table = Table::new(&["feature", "weight"], 0);
        table.row(vec!["a".into(), "-1.5".into()]);
        table.row(vec!["long_name".into(), "10".into()]);
        assert_eq!(table.render(), "feature    weight\na            -1.5\nlong_name      10\n");
    }

    #[test]
    fn numbers_keep_their_digits() {
        assert_eq!(
            (number(49.68261), number(-0.01234567), number(1e9)),
            ("49.6826".into(), "-0.0123457".into(), "1.0000e9".into())
        );
    }

    #[test]
    fn brief_numbers_end_with_a_digit_that_counts() {
        let briefs = [brief(9.0), brief(0.3), brief(1200.0), brief(2e9), brief(0.0), brief(1.0 / 3.0)];
        assert_eq!(briefs, ["9", "0.3", "1200", "2.0000e9", "0", "0.333333"]);
    }

    #[test]
    fn paragraphs_wrap() {
        assert!(paragraph(&"word ".repeat(60), 2).lines().all(|l| l.starts_with("  word") && l.len() <= 100));
    }
}

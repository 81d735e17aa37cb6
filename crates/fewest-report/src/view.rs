//! What a page is made of: sections of words, tables and charts, ready for the template.

use std::cell::Cell as Shared;

use fewest_text::visible;
use serde::Serialize;
use unicode_width::UnicodeWidthChar;

/// Columns a name may take in a table; the whole name is then in its title.
const NAME: usize = 40;

/// Rows of the table of a panel that are seen at once.
pub(crate) const FIRST: usize = 20;

/// Letters of the rows of a table that needs no more than half of the width.
const HALF: usize = 58;

/// Bytes that the rows of all tables may take, so that a page stays below 300 kB.
const ROWS_BYTES: usize = 180_000;

/// Bytes that all titles of shortened names may take.
const TITLE_BYTES: usize = 60_000;

/// Characters of a title once those bytes are spent.
const SHORT_TITLE: usize = 120;

/// A whole page.
#[derive(Debug, Serialize)]
pub(crate) struct Page {
    /// Heading and title of the page.
    pub(crate) title: String,
    /// One sentence under it.
    pub(crate) lead: String,
    /// The first screen.
    pub(crate) answer: Answer,
    /// The sections.
    pub(crate) sections: Vec<Section>,
    /// Version of `fewest` that made the result.
    pub(crate) version: String,
}

/// The first screen: what was found, what it is worth, how sure that is, what is wrong or weak.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Answer {
    /// What matters most, a sentence each.
    pub(crate) findings: Vec<String>,
    /// Whether the first of them says that this is of no use as it is.
    pub(crate) fails: bool,
    /// What is wrong or weak, a sentence each.
    pub(crate) cautions: Vec<String>,
    /// What was chosen.
    pub(crate) panel: Option<Table>,
    /// What it is worth, and how far it is from the best.
    pub(crate) charts: Vec<Chart>,
    /// Words with their values.
    pub(crate) facts: Vec<(&'static str, Cell)>,
}

/// A part of the page with a heading.
#[derive(Debug, Serialize)]
pub(crate) struct Section {
    /// Anchor.
    pub(crate) id: &'static str,
    /// Heading.
    pub(crate) heading: String,
    /// What is in it.
    pub(crate) blocks: Vec<Block>,
    /// Whether another section stands beside it; see [`lay_out`].
    half: bool,
    /// Whether each block fills the width.
    wide: Vec<bool>,
}

impl Section {
    /// A section of blocks.
    pub(crate) fn new(id: &'static str, heading: impl Into<String>, blocks: Vec<Block>) -> Self {
        Self { id, heading: heading.into(), blocks, half: false, wide: Vec::new() }
    }

    /// The section, unless it is empty.
    pub(crate) fn some(self) -> Option<Self> {
        (!self.blocks.is_empty()).then_some(self)
    }
}

/// Puts what is narrow side by side, and lets what has nothing beside it fill the width.
pub(crate) fn lay_out(sections: &mut [Section]) {
    for section in &mut *sections {
        section.wide = section.blocks.iter().map(Block::is_wide).collect();
        for run in section.wide.chunk_by_mut(|a, b| a == b) {
            if !run[0] && run.len() % 2 == 1 {
                run[run.len() - 1] = true;
            }
        }
        section.half = matches!(&section.blocks[..], [one] if !one.is_wide());
    }
    for run in sections.chunk_by_mut(|a, b| a.half == b.half) {
        if run[0].half && run.len() % 2 == 1 {
            run[run.len() - 1].half = false;
        }
    }
}

/// A piece of a section.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", content = "of", rename_all = "lowercase")]
pub(crate) enum Block {
    /// A paragraph.
    Text(String),
    /// A paragraph that matters most.
    Finding(String),
    /// A paragraph that warns.
    Warning(String),
    /// Words with their values.
    Pairs(Vec<(&'static str, Cell)>),
    /// Settings with their values.
    Settings(Vec<(Cell, Cell)>),
    /// Lines of text from files.
    List(Vec<Cell>),
    /// A table.
    Table(Table),
    /// A chart, with its table behind it.
    Chart(Chart),
    /// A command.
    Code(String),
}

impl Block {
    /// Whether it needs the width of the page.
    fn is_wide(&self) -> bool {
        match self {
            Self::Chart(chart) => chart.svg.contains("<svg width=\"800\""),
            Self::Table(table) => table.characters() > HALF,
            _ => true,
        }
    }
}

/// A table; its rows are limited by [`Budget`].
#[derive(Debug, Serialize)]
pub(crate) struct Table {
    /// What it lists.
    pub(crate) caption: String,
    /// Headings.
    pub(crate) columns: Vec<Column>,
    /// Rows.
    pub(crate) rows: Vec<Vec<Cell>>,
    /// The meaning, where it needs words.
    pub(crate) note: &'static str,
    /// Rows that are left out.
    pub(crate) left_out: usize,
    /// Rows that are seen at once; 0: as many as any table.
    pub(crate) first: usize,
}

impl Table {
    /// Letters of its widest row, about.
    fn characters(&self) -> usize {
        let widest = |at: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.text.chars().count());
            cells.max().unwrap_or(0).max(self.columns[at].text.len()).min(NAME) + 3
        };
        (0..self.columns.len()).map(widest).sum()
    }
}

/// The heading of a column.
#[derive(Debug, Serialize)]
pub(crate) struct Column {
    /// Text.
    pub(crate) text: &'static str,
    /// Whether it holds numbers.
    pub(crate) numeric: bool,
}

/// A cell.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Cell {
    /// What is seen.
    pub(crate) text: String,
    /// The whole text, where it was shortened.
    pub(crate) title: Option<String>,
    /// Whether it is text from a file: it may run in any direction.
    pub(crate) foreign: bool,
    /// Length of a bar before the text, from -1 to 1.
    pub(crate) bar: Option<f64>,
}

impl Cell {
    /// A number with a bar, as a share of the largest size.
    pub(crate) fn with_bar(value: f64, largest: f64) -> Self {
        let bar = (largest > 0.0).then_some(value / largest);
        Self { bar, ..crate::words::short(value).into() }
    }

    /// A share in percent, with a bar.
    pub(crate) fn share(share: f64) -> Self {
        Self { bar: Some(share), ..format!("{:.0} %", 100.0 * share).into() }
    }
}

/// A picture with words and the numbers it shows.
#[derive(Debug, Serialize)]
pub(crate) struct Chart {
    /// Anchor.
    pub(crate) id: &'static str,
    /// Heading.
    pub(crate) title: String,
    /// The content in words.
    pub(crate) summary: String,
    /// The picture.
    pub(crate) svg: String,
    /// The numbers.
    pub(crate) table: Table,
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, title: None, foreign: false, bar: None }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

/// A column of words.
pub(crate) fn words(text: &'static str) -> Column {
    Column { text, numeric: false }
}

/// A column of numbers.
pub(crate) fn numbers(text: &'static str) -> Column {
    Column { text, numeric: true }
}

/// Keeps the page below 300 kB, whatever the result holds.
#[derive(Debug)]
pub(crate) struct Budget {
    rows: Shared<usize>,
    titles: Shared<usize>,
}

impl Budget {
    pub(crate) fn new() -> Self {
        Self { rows: Shared::new(ROWS_BYTES), titles: Shared::new(TITLE_BYTES) }
    }

    /// Text from a file, shortened to what a table has room for.
    pub(crate) fn name(&self, name: &str) -> Cell {
        self.foreign(name, NAME)
    }

    /// Text from a file, shortened to this many columns; the whole text becomes the title.
    pub(crate) fn foreign(&self, name: &str, columns: usize) -> Cell {
        let text = shorten(name, columns);
        let title = (text != name).then(|| {
            let left = self.titles.get();
            if name.len() <= left {
                self.titles.set(left - name.len());
                visible(name)
            } else {
                shorten(name, SHORT_TITLE)
            }
        });
        Cell { text, title, foreign: true, bar: None }
    }

    /// A table with the rows there is room for.
    pub(crate) fn table(
        &self,
        caption: impl Into<String>,
        columns: Vec<Column>,
        rows: impl Iterator<Item = Vec<Cell>>,
    ) -> Table {
        let (mut kept, mut left_out, mut left) = (Vec::new(), 0, self.rows.get());
        for row in rows {
            // 9 for `<td></td>`; a foreign cell has `<bdi>` and perhaps a title around it.
            let bytes = |cell: &Cell| {
                12 + escaped(&cell.text)
                    + cell.title.as_deref().map_or(0, |t| 10 + escaped(t))
                    + if cell.foreign { 11 } else { 0 }
            };
            let bytes = 12 + row.iter().map(bytes).sum::<usize>();
            if bytes > left {
                left_out += 1;
                left = 0;
                continue;
            }
            left -= bytes;
            kept.push(row);
        }
        self.rows.set(left);
        Table { caption: caption.into(), note: "", columns, rows: kept, left_out, first: 0 }
    }
}

/// Bytes of a text once it is escaped.
fn escaped(text: &str) -> usize {
    text.chars().map(|c| if matches!(c, '<' | '>' | '&' | '"' | '\'' | '/') { 6 } else { c.len_utf8() }).sum()
}

/// A text in at most this many columns of a terminal, control characters made visible; `…` stands
/// for what is left out in the middle, as names often differ at their ends.
pub fn shorten(text: &str, columns: usize) -> String {
    let width = |c: char| c.width().unwrap_or(0);
    // A long text is examined no further than needed.
    let total: usize = text.chars().take(4 * columns + 4).map(width).sum();
    if total <= columns && text.chars().nth(4 * columns + 4).is_none() {
        return visible(text);
    }
    let (head, tail) = ((2 * columns.saturating_sub(1)).div_ceil(3), columns.saturating_sub(1) / 3);
    let within = |chars: &mut dyn Iterator<Item = char>, room: usize| -> String {
        let (mut used, mut marks) = (0, 0);
        chars
            .take_while(|&c| {
                used += width(c);
                marks += usize::from(width(c) == 0);
                used <= room && marks <= room
            })
            .collect()
    };
    let head = within(&mut text.chars(), head);
    let tail: String = within(&mut text.chars().rev(), tail).chars().rev().collect();
    visible(&format!("{head}…{tail}"))
}

#[cfg(test)]
mod tests {
    use super::{Budget, shorten};

    #[test]
    fn long_names_are_shortened_in_the_middle_and_kept_in_the_title() {
        assert_eq!(shorten("short", 40), "short");
        assert_eq!(shorten("abcdefghijklmnop", 10), "abcdef…nop");
        let long = "x".repeat(10_000);
        let cell = Budget::new().name(&long);
        assert!(cell.text.chars().count() <= 40 && cell.title.as_deref() == Some(long.as_str()));
        let wide = shorten(&"漢".repeat(100), 11);
        assert_eq!(wide, "漢漢漢…漢");
        let marks = format!("a{}", "\u{301}".repeat(10_000));
        assert!(shorten(&marks, 20).chars().count() < 60);
    }

    #[test]
    fn tables_and_titles_keep_to_their_bytes() {
        let budget = Budget::new();
        let rows = (0..100_000).map(|j| vec![budget.name(&format!("{j}-{}", "n".repeat(500)))]);
        let table = budget.table("", vec![super::words("name")], rows);
        assert!(table.rows.len() > 500 && table.left_out > 0);
        let bytes: usize =
            table.rows.iter().flatten().map(|c| c.text.len() + c.title.as_ref().map_or(0, String::len)).sum();
        assert!(bytes < 250_000, "{bytes}");
    }
}

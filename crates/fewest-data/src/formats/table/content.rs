//! Pass 1 over a table: what each column holds.

use std::collections::HashSet;

use super::declaration::{Declaration, ValueList};
use super::rows::{Rows, trimmed};
use crate::io::source::Source;
use crate::io::waves::{Piece, each_piece, shown};
use crate::meaning::cells::{Cells, is_loose, is_padded};
use crate::meaning::dummies::wanted_as_text;
use crate::meaning::header::{Header, Role};
use crate::meaning::problems::{Cases, NotFinite, check_classes};
use crate::{DataError, Place, ReadOptions, number};

/// Pass 1: how each column is read.
pub(super) struct Profile<'a> {
    pub(super) header: &'a Header,
    pub(super) text: Vec<bool>,
    /// The column is text as some of its numbers begin with a zero.
    pub(super) padded: Vec<bool>,
    /// The kind is settled before the first row.
    settled: Vec<bool>,
    /// Values declared for a column.
    lists: Vec<Option<ValueList>>,
    pub(super) cells: Cells,
    optional: bool,
    /// Missing values of features are accepted.
    missing: bool,
    /// Rows without a class are left out.
    drop_unlabelled: bool,
}

/// Pass 1: what a column holds.
#[derive(Default)]
pub(super) struct ColumnContent {
    numbers: u64,
    /// Only where there is text, or what may be: most columns of wide files have none.
    pub(super) text: Option<Box<TextContent>>,
}

/// Pass 1: the text cells of a column.
#[derive(Default)]
pub(super) struct TextContent {
    pub(super) texts: u64,
    first: Option<(Place, String)>,
    /// A number begins with a zero that is not its own.
    padded: bool,
    /// Words for missing values among numbers.
    loose: Cases,
    pub(super) distinct: HashSet<String>,
}

/// Pass 1: what a piece or the whole file holds.
#[derive(Default)]
pub(super) struct TableContent {
    pub(super) rows: usize,
    /// Rows that were left out, as they have no class.
    pub(super) left_out: usize,
    pub(super) columns: Vec<ColumnContent>,
    pub(super) bad: NotFinite,
    /// Rows without a class.
    without_class: Cases,
    pub(super) missing_targets: usize,
}

impl<'a> Profile<'a> {
    pub(super) fn new(header: &'a Header, declared: &[Declaration], options: &ReadOptions) -> Self {
        let wanted: Vec<Option<bool>> = header
            .names
            .iter()
            .enumerate()
            .map(|(c, name)| match declared.get(c) {
                Some(declared) if declared.is_number() && header.roles[c] == Role::Counted => Some(false),
                None if header.roles[c] == Role::Counted => None,
                Some(declared) if declared.is_number() => Some(options.text.contains(name)),
                Some(Declaration::Values(_)) => Some(true),
                _ => wanted_as_text(name, options),
            })
            .collect();
        Self {
            header,
            text: wanted.iter().map(|w| *w == Some(true)).collect(),
            padded: vec![false; wanted.len()],
            settled: wanted.iter().map(Option::is_some).collect(),
            lists: ValueList::of_columns(header, declared),
            cells: Cells::new(options),
            optional: options.target_optional,
            missing: options.missing,
            drop_unlabelled: options.drop_unlabelled,
        }
    }

    /// Examines all cells.
    pub(super) fn scan(
        &self,
        source: &Source,
        rows: &dyn Rows,
        options: &ReadOptions,
    ) -> Result<TableContent, DataError> {
        let mut all = self.nothing();
        each_piece(
            source,
            rows,
            options.memory(),
            |piece| self.read(rows, piece),
            |pieces| {
                for piece in pieces {
                    all.join(piece);
                }
                Ok(())
            },
        )?;
        Ok(all)
    }

    /// Refuses missing and infinite values that are not accepted, and rows without a class.
    pub(super) fn check(&self, found: &mut TableContent) -> Result<(), DataError> {
        for (c, column) in found.columns.iter_mut().enumerate() {
            if let Some(text) = column.text.as_mut().filter(|_| !self.text[c] && !self.missing) {
                found.bad.missing.merge(std::mem::take(&mut text.loose));
            }
        }
        found.bad.check()?;
        // A prediction file with an empty target column is one without a target.
        if self.optional && found.missing_targets == found.rows {
            return Ok(());
        }
        check_classes(&found.without_class, found.rows)
    }

    /// Whether a row is left out, as it has no class.
    pub(super) fn leaves_out(&self, cells: &[std::borrow::Cow<'_, [u8]>]) -> bool {
        let target = || self.header.roles.iter().position(|role| *role == Role::Target);
        self.drop_unlabelled && target().is_some_and(|c| self.cells.is_missing(&cells[c]))
    }

    fn nothing(&self) -> TableContent {
        TableContent {
            columns: self.header.names.iter().map(|_| ColumnContent::default()).collect(),
            ..TableContent::default()
        }
    }

    fn read(&self, rows: &dyn Rows, piece: Piece<'_>) -> Result<TableContent, DataError> {
        let mut found = self.nothing();
        rows.each_row(piece, &mut |line, cells| {
            self.check_width(line, cells)?;
            if self.leaves_out(cells) {
                found.left_out += 1;
                return Ok(());
            }
            found.rows += 1;
            for (c, cell) in cells.iter().enumerate() {
                let place = || Place::line(&self.header.file, line).column(&self.header.names[c]);
                if let Some(Some(list)) = self.lists.get(c) {
                    list.check(cell, place)?;
                }
                match self.header.roles[c] {
                    Role::Ignored | Role::Apart(_) | Role::Samples => {}
                    Role::Target => found.target(c, cell, self, place),
                    Role::Feature => found.feature(c, cell, self, place),
                    Role::Counted => found.counted(c, cell, self),
                }
            }
            Ok(())
        })?;
        Ok(found)
    }

    fn check_width(&self, line: u64, cells: &[std::borrow::Cow<'_, [u8]>]) -> Result<(), DataError> {
        let (found, expected) = (cells.len(), self.header.names.len());
        if found == expected {
            return Ok(());
        }
        let first = cells.first().and_then(|cell| cell.first()).copied();
        let comment = first.filter(|sign| b"#%!/;".contains(sign)).map(char::from);
        Err(DataError::Ragged { place: Place::line(&self.header.file, line), found, expected, comment })
    }

    /// Decides which columns are text. True if one of them has to be examined again.
    pub(super) fn text_with_numbers(&mut self, found: &TableContent) -> Result<bool, DataError> {
        let mut again = false;
        for c in 0..self.text.len() {
            let column = &found.columns[c];
            if self.header.roles[c] == Role::Counted {
                self.text[c] |= column.numbers == 0 || column.text.is_some();
                continue;
            }
            if self.header.roles[c] != Role::Feature || self.text[c] {
                continue;
            }
            let Some(text) = &column.text else { continue };
            let (texts, padded) = (text.texts, text.padded && !self.settled[c]);
            if texts == 0 && !padded {
                continue;
            }
            if !padded && (self.settled[c] || texts * 2 < column.numbers + texts) {
                return Err(self.not_a_number(text, column.numbers));
            }
            self.text[c] = true;
            self.padded[c] = padded;
            again |= column.numbers > 0 || text.loose.any();
        }
        Ok(again)
    }

    /// The error of a column of numbers with text in it.
    fn not_a_number(&self, text: &TextContent, numbers: u64) -> DataError {
        let (place, cell) = text.first.clone().unwrap_or_default();
        match self.cells.other_style(text.distinct.iter().map(String::as_str)) {
            Some(other) => DataError::NumberStyle { place, cell, other: Box::new(other) },
            None => DataError::NotANumber { place, cell, numbers, total: numbers + text.texts },
        }
    }
}

impl TableContent {
    fn target(&mut self, c: usize, cell: &[u8], profile: &Profile<'_>, place: impl FnOnce() -> Place) {
        let infinite = number::parse(cell).is_some_and(|x| !x.is_finite());
        if infinite || profile.cells.is_missing(cell) {
            self.missing_targets += 1;
            self.without_class.add(|| (place(), shown(cell)));
        } else {
            self.columns[c].text.get_or_insert_default().note_value(cell);
        }
    }

    fn feature(&mut self, c: usize, cell: &[u8], profile: &Profile<'_>, place: impl FnOnce() -> Place) {
        let (column, cells, is_text) = (&mut self.columns[c], &profile.cells, profile.text[c]);
        match if is_text { None } else { cells.number(cell) } {
            Some(x) if x.is_finite() => {
                column.numbers += 1;
                if is_padded(cell) {
                    column.text.get_or_insert_default().padded = true;
                }
            }
            // Codes are NaN, however they are written.
            Some(x) if x.is_nan() && profile.missing => {}
            Some(x) => self.bad.add(x, || (place(), shown(cell))),
            None if cells.is_missing(cell) => {
                if !profile.missing {
                    self.bad.missing.add(|| (place(), shown(cell)));
                }
            }
            None if !is_text && is_loose(cell) => {
                column.text.get_or_insert_default().loose.add(|| (place(), shown(cell)));
            }
            None => {
                let text = column.text.get_or_insert_default();
                text.texts += 1;
                text.note_value(cell);
                text.first.get_or_insert_with(|| (place(), shown(cell)));
            }
        }
    }

    /// A cell of a column that counts in totals if all its cells are numbers.
    fn counted(&mut self, c: usize, cell: &[u8], profile: &Profile<'_>) {
        if profile.cells.number(cell).is_some() {
            self.columns[c].numbers += 1;
        } else if !profile.cells.is_missing_number(cell) {
            self.columns[c].text.get_or_insert_default();
        }
    }

    /// Adds what was found further on in the file.
    fn join(&mut self, later: TableContent) {
        self.rows += later.rows;
        self.left_out += later.left_out;
        self.bad.join(later.bad);
        self.without_class.join(later.without_class);
        self.missing_targets += later.missing_targets;
        for (column, more) in self.columns.iter_mut().zip(later.columns) {
            column.numbers += more.numbers;
            let Some(more) = more.text else { continue };
            let text = column.text.get_or_insert_default();
            text.texts += more.texts;
            text.padded |= more.padded;
            text.loose.join(more.loose);
            text.first = text.first.take().or(more.first);
            text.distinct.extend(more.distinct);
        }
    }
}

impl TextContent {
    fn note_value(&mut self, cell: &[u8]) {
        let text = trimmed(cell);
        if !self.distinct.contains(&*text) {
            self.distinct.insert(text.into_owned());
        }
    }
}

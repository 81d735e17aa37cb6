//! Pass 1 over a table: what each column holds.

use std::collections::HashSet;

use super::declaration::{Declaration, ValueList};
use super::rows::{Rows, trimmed};
use crate::encoding::wanted_as_text;
use crate::header::{Header, Role};
use crate::problems::NotFinite;
use crate::source::Source;
use crate::waves::{Piece, each_piece, shown};
use crate::{DataError, Place, ReadOptions, number};

/// Pass 1: how each column is looked at.
pub(super) struct Profile<'a> {
    pub(super) header: &'a Header,
    pub(super) text: Vec<bool>,
    /// The kind is settled before the first row.
    settled: Vec<bool>,
    /// Values declared for a column.
    lists: Vec<Option<ValueList>>,
    optional: bool,
    /// Missing values of features are let through.
    missing: bool,
}

/// Pass 1: what a column holds.
#[derive(Default)]
pub(super) struct ColumnContent {
    numbers: u64,
    /// Only where there is text: most columns of wide files have none.
    pub(super) text: Option<Box<TextContent>>,
}

/// Pass 1: the text cells of a column.
#[derive(Default)]
pub(super) struct TextContent {
    texts: u64,
    first: Option<(Place, String)>,
    pub(super) distinct: HashSet<String>,
}

/// Pass 1: what a piece or the whole file holds.
#[derive(Default)]
pub(super) struct TableContent {
    pub(super) rows: usize,
    pub(super) columns: Vec<ColumnContent>,
    pub(super) bad: NotFinite,
    pub(super) missing_targets: usize,
    target_bad: NotFinite,
}

impl<'a> Profile<'a> {
    pub(super) fn new(header: &'a Header, declared: &[Declaration], options: &ReadOptions) -> Self {
        let wanted: Vec<Option<bool>> = header
            .names
            .iter()
            .enumerate()
            .map(|(c, name)| match declared.get(c) {
                Some(declared) if declared.is_number() => Some(options.text.contains(name)),
                Some(Declaration::Values(_)) => Some(true),
                _ => wanted_as_text(name, options),
            })
            .collect();
        Self {
            header,
            text: wanted.iter().map(|w| *w == Some(true)).collect(),
            settled: wanted.iter().map(Option::is_some).collect(),
            lists: ValueList::of_columns(header, declared),
            optional: options.target_optional,
            missing: options.missing,
        }
    }

    /// Looks at all cells.
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
            |piece| self.look(rows, piece),
            |pieces| {
                for piece in pieces {
                    all.join(piece);
                }
                Ok(())
            },
        )?;
        if self.optional && all.missing_targets == all.rows {
            // A prediction file with an empty target column is one without a target.
            all.target_bad = NotFinite::default();
        }
        let target_bad = std::mem::take(&mut all.target_bad);
        all.bad.merge(target_bad);
        Ok(all)
    }

    fn nothing(&self) -> TableContent {
        TableContent {
            columns: self.header.names.iter().map(|_| ColumnContent::default()).collect(),
            ..TableContent::default()
        }
    }

    fn look(&self, rows: &dyn Rows, piece: Piece<'_>) -> Result<TableContent, DataError> {
        let mut found = self.nothing();
        rows.each_row(piece, &mut |line, cells| {
            self.check_width(line, cells.len())?;
            found.rows += 1;
            for (c, cell) in cells.iter().enumerate() {
                let place = || Place::line(&self.header.file, line).column(&self.header.names[c]);
                if let Some(Some(list)) = self.lists.get(c) {
                    list.check(cell, place)?;
                }
                match self.header.roles[c] {
                    Role::Ignored | Role::Apart(_) => {}
                    Role::Target => found.target(c, cell, place),
                    Role::Feature => found.feature(c, cell, self, place),
                }
            }
            Ok(())
        })?;
        Ok(found)
    }

    fn check_width(&self, line: u64, found: usize) -> Result<(), DataError> {
        let expected = self.header.names.len();
        if found == expected {
            return Ok(());
        }
        Err(DataError::Ragged { place: Place::line(&self.header.file, line), found, expected })
    }

    /// Decides which columns are text. True if one of them has to be looked at again.
    pub(super) fn text_with_numbers(&mut self, found: &TableContent) -> Result<bool, DataError> {
        let mut again = false;
        for c in 0..self.text.len() {
            let column = &found.columns[c];
            let Some(text) = &column.text else { continue };
            let Some((place, cell)) = &text.first else { continue };
            if self.header.roles[c] != Role::Feature || self.text[c] {
                continue;
            }
            if self.settled[c] || text.texts * 2 < column.numbers + text.texts {
                return Err(DataError::NotANumber {
                    place: place.clone(),
                    cell: cell.clone(),
                    numbers: column.numbers,
                    total: column.numbers + text.texts,
                });
            }
            self.text[c] = true;
            again |= column.numbers > 0;
        }
        Ok(again)
    }
}

impl TableContent {
    fn target(&mut self, c: usize, cell: &[u8], place: impl FnOnce() -> Place) {
        let infinite = number::parse(cell).is_some_and(|x| !x.is_finite());
        if infinite || number::is_missing(cell) {
            self.missing_targets += 1;
            self.target_bad.add(|| (place(), shown(cell)));
        } else {
            self.columns[c].text.get_or_insert_default().note_value(cell);
        }
    }

    fn feature(&mut self, c: usize, cell: &[u8], profile: &Profile<'_>, place: impl FnOnce() -> Place) {
        let column = &mut self.columns[c];
        let value = if profile.text[c] { None } else { number::parse(cell) };
        match value {
            Some(x) if x.is_finite() => column.numbers += 1,
            _ if profile.missing && number::is_missing(cell) => {}
            Some(_) => self.bad.add(|| (place(), shown(cell))),
            None if number::is_missing(cell) => self.bad.add(|| (place(), shown(cell))),
            None => {
                let text = column.text.get_or_insert_default();
                text.texts += 1;
                text.note_value(cell);
                text.first.get_or_insert_with(|| (place(), shown(cell)));
            }
        }
    }

    /// Adds what was found further on in the file.
    fn join(&mut self, later: TableContent) {
        self.rows += later.rows;
        self.bad.join(later.bad);
        self.target_bad.join(later.target_bad);
        self.missing_targets += later.missing_targets;
        for (column, more) in self.columns.iter_mut().zip(later.columns) {
            column.numbers += more.numbers;
            let Some(more) = more.text else { continue };
            let text = column.text.get_or_insert_default();
            text.texts += more.texts;
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

//! Sparse rows of arff: `{index value, index value}`, indices from 0; what is left out is 0, or the
//! first declared value.

use std::borrow::Cow;

use super::cells::{each_cell, unquoted};
use crate::error::malformed;
use crate::formats::columns::Sorted;
use crate::formats::sparse::{self, Head, SparseRows};
use crate::formats::table::{Declaration, ValueList};
use crate::io::source::Source;
use crate::io::waves::shown;
use crate::matrix::normalize::ColumnKind;
use crate::meaning::cells::Cells;
use crate::meaning::dummies::{Categories, TextColumnUse, text_column};
use crate::meaning::header::{Header, Role, check_distinct};
use crate::meaning::target::Target;
use crate::{DataError, Dataset, Features, Format, Names, Place, ReadOptions, number};

/// Reads the data after line `last_line`.
pub(crate) fn read(
    source: &Source,
    header: &Header,
    declared: &[Declaration],
    last_line: u64,
    options: &ReadOptions,
) -> Result<Dataset, DataError> {
    let reader = Reader::new(header, declared, last_line, options)?;
    if !options.normalize.is_none() && !options.missing_codes.is_empty() {
        return Err(DataError::Unsupported {
            file: source.name.clone(),
            what: format!(
                "⟦missing_codes⟧ and {} were asked for together, of sparse rows",
                options.normalize.options()
            ),
            remedy: "convert the file with ⟦missing_codes⟧ first".into(),
        });
    }
    let table = sparse::read(source, &reader, header.target().unwrap_or_default(), options)?;
    let data = Dataset {
        features: Features::Sparse(table.design),
        names: Names::Listed(reader.names),
        samples: None,
        apart: Vec::new(),
        notes: reader.notes.into_iter().chain(note(options, table.target.as_ref())).collect(),
        target: table.target,
        source: source.name.clone(),
        format: Format::Arff,
    };
    data.normalized_table(options, &reader.parts)
}

/// Reads what a column file at `out` is to hold.
pub(crate) fn sorted(
    source: &Source,
    header: &Header,
    declared: &[Declaration],
    last_line: u64,
    options: &ReadOptions,
    out: &str,
) -> Result<Sorted, DataError> {
    let reader = Reader::new(header, declared, last_line, options)?;
    let (target, names) = (header.target().unwrap_or_default(), Some(reader.names.clone()));
    let (sorted, _) = sparse::sorted(source, &reader, target, names, options, out)?;
    let notes = reader.notes.into_iter().chain(note(options, sorted.target.as_ref())).collect();
    Ok(Sorted { notes, ..sorted })
}

/// What to tell of the classes.
fn note(options: &ReadOptions, target: Option<&Target>) -> Option<crate::Note> {
    target.filter(|_| !options.target_optional).and_then(Target::note)
}

/// Where an attribute goes.
enum Goal {
    Nowhere,
    /// The classes; the class of rows that leave it out.
    Target(String),
    /// One feature; its value where it is left out.
    Number(u32, f64),
    /// Features from the first one on; the code of rows that leave it out.
    Text(u32, u32, Categories),
}

struct Reader<'a> {
    header: &'a Header,
    last_line: u64,
    goals: Vec<Goal>,
    lists: Vec<Option<ValueList>>,
    /// Attributes that are not 0 where they are left out, ascending.
    defaults: Vec<usize>,
    names: Vec<String>,
    /// What each feature is to the totals of samples.
    parts: Vec<ColumnKind>,
    notes: Vec<crate::Note>,
    cells: Cells,
    /// Missing values are accepted.
    missing: bool,
}

impl<'a> Reader<'a> {
    fn new(
        header: &'a Header,
        declared: &[Declaration],
        last_line: u64,
        options: &ReadOptions,
    ) -> Result<Self, DataError> {
        let mut reader = Reader {
            header,
            last_line,
            goals: Vec::new(),
            lists: ValueList::of_columns(header, declared),
            defaults: Vec::new(),
            names: Vec::new(),
            parts: Vec::new(),
            notes: header.notes.clone(),
            cells: Cells::new(options),
            missing: options.missing,
        };
        for (c, declared) in declared.iter().enumerate() {
            let goal = reader.goal(c, declared, options)?;
            let always = match &goal {
                Goal::Number(_, default) => *default != 0.0,
                Goal::Text(_, default, categories) => {
                    (0..categories.width()).any(|d| categories.value(d, *default) != 0.0)
                }
                Goal::Nowhere | Goal::Target(_) => false,
            };
            if always {
                reader.defaults.push(c);
            }
            reader.goals.push(goal);
        }
        check_distinct(&header.file, reader.names.iter().map(String::as_str))?;
        Ok(reader)
    }

    fn goal(&mut self, c: usize, declared: &Declaration, options: &ReadOptions) -> Result<Goal, DataError> {
        let name = &self.header.names[c];
        let first = match declared {
            Declaration::Values(values) => values.first().cloned().unwrap_or_default(),
            _ => "0".to_owned(),
        };
        let at = self.names.len() as u32;
        match (self.header.roles[c], declared) {
            (Role::Ignored, _) => Ok(Goal::Nowhere),
            (Role::Counted, declared) if !declared.is_number() => Ok(Goal::Nowhere),
            (Role::Target, _) => Ok(Goal::Target(first)),
            (Role::Feature | Role::Counted, declared) if declared.is_number() => {
                self.names.push(name.clone());
                self.parts.push(if self.header.roles[c] == Role::Counted {
                    ColumnKind::Counted
                } else {
                    ColumnKind::Number
                });
                Ok(Goal::Number(at, number::parse(first.as_bytes()).unwrap_or(0.0)))
            }
            (Role::Feature, Declaration::Values(values)) => {
                // The number of cells is not known yet, so that only the number of values counts.
                let (all, many) = ((values.clone(), Some(values.clone())), usize::MAX / 2);
                let TextColumnUse::Categories(categories, _) =
                    text_column(self.header, c, all, many, &self.cells, options)?
                else {
                    return Ok(Goal::Nowhere);
                };
                self.names.extend(categories.names().cloned());
                self.parts.resize(self.names.len(), ColumnKind::Category);
                self.notes.push(categories.note(name));
                Ok(Goal::Text(at, categories.code(&first), categories))
            }
            (Role::Apart(_) | Role::Samples | Role::Feature | Role::Counted, _) => Err(DataError::Unsupported {
                file: self.header.file.clone(),
                what: format!("column `{name}` holds text in sparse rows"),
                remedy: "drop it with ⟦drop⟧, or write the rows dense".into(),
            }),
        }
    }

    /// The features of an attribute with a cell.
    fn put(&self, line: u64, c: usize, cell: &[u8], found: &mut Vec<(u32, f64)>) -> Result<(), DataError> {
        let place = || Place::line(&self.header.file, line).column(&self.header.names[c]);
        if let Some(list) = &self.lists[c] {
            list.check(cell, place)?;
        }
        match &self.goals[c] {
            Goal::Nowhere | Goal::Target(_) => Ok(()),
            Goal::Number(at, _) => {
                let missing = self.cells.is_missing_number(cell);
                let value = if missing { Some(f64::NAN) } else { self.cells.number(cell) };
                let bad = || malformed(place(), format!("`{}` is not a number", shown(cell)), "correct the value");
                found.push((*at, value.ok_or_else(bad)?));
                Ok(())
            }
            Goal::Text(at, _, categories) if self.cells.is_missing(cell) => {
                // A model that wants none of its values does not mind that one is missing.
                let named = if self.missing { categories.width() } else { categories.width().min(1) };
                found.extend((0..named).map(|d| (*at + d as u32, f64::NAN)));
                Ok(())
            }
            Goal::Text(at, _, categories) => {
                dummies(*at, categories, categories.code(&String::from_utf8_lossy(cell)), found);
                Ok(())
            }
        }
    }
}

/// The dummy columns that are 1 for a code.
fn dummies(at: u32, categories: &Categories, code: u32, found: &mut Vec<(u32, f64)>) {
    let ones = (0..categories.width()).filter(|&d| categories.value(d, code) != 0.0);
    found.extend(ones.map(|d| (at + d as u32, 1.0)));
}

impl SparseRows for Reader<'_> {
    fn line<'t>(
        &self,
        line: u64,
        text: &'t [u8],
        mut entry: impl FnMut(u32, f64),
    ) -> Result<Option<Head<'t>>, DataError> {
        let text = text.trim_ascii();
        if line <= self.last_line || text.is_empty() || text.starts_with(b"%") {
            return Ok(None);
        }
        let place = || Place::line(&self.header.file, line);
        let Some(inner) = text.strip_prefix(b"{").and_then(|t| t.strip_suffix(b"}")) else {
            return Err(malformed(
                place(),
                "a row without braces among sparse rows",
                "write all rows as {index value, ...}",
            ));
        };
        let (mut found, mut given, mut label) = (Vec::new(), Vec::new(), None);
        let mut result = Ok(());
        let split = each_cell(inner, |cell| {
            if result.is_err() || (cell.is_empty() && inner.trim_ascii().is_empty()) {
                return;
            }
            result = index_and_value(&cell, self.goals.len())
                .ok_or_else(|| {
                    malformed(
                        place(),
                        format!("`{}` is not `index value`", shown(&cell)),
                        "write entries as 3 0.5, with indices from 0",
                    )
                })
                .and_then(|(c, value)| {
                    given.push(c);
                    if matches!(self.goals[c], Goal::Target(_)) {
                        label = Some(Cow::Owned(value.to_vec()));
                    }
                    self.put(line, c, &value, &mut found)
                });
        });
        result?;
        split.map_err(|quote| quote.error(place()))?;
        given.sort_unstable();
        if given.windows(2).any(|w| w[0] == w[1]) {
            return Err(malformed(place(), "an index appears twice", "keep one of the two values"));
        }
        for &c in self.defaults.iter().filter(|c| given.binary_search(c).is_err()) {
            match &self.goals[c] {
                Goal::Number(at, default) => found.push((*at, *default)),
                Goal::Text(at, default, categories) => dummies(*at, categories, *default, &mut found),
                Goal::Nowhere | Goal::Target(_) => {}
            }
        }
        found.sort_unstable_by_key(|(at, _)| *at);
        for (at, value) in found {
            entry(at, value);
        }
        let default = || self.goals.iter().find_map(|g| if let Goal::Target(first) = g { Some(first) } else { None });
        let label = label.or_else(|| default().map(|first| Cow::Owned(first.clone().into_bytes())));
        if label.as_deref().is_some_and(|label| self.cells.is_missing(label)) {
            return Err(malformed(place(), "the class is missing", "give every row a class"));
        }
        Ok(Some(Head { label, query: false }))
    }

    fn place(&self, line: u64, column: u32) -> Place {
        Place::line(&self.header.file, line).column(&self.names[column as usize])
    }

    fn features(&self) -> usize {
        self.names.len()
    }
}

/// `3 0.5` as index (below `count`) and value without quotes.
fn index_and_value(cell: &[u8], count: usize) -> Option<(usize, Cow<'_, [u8]>)> {
    let end = cell.iter().position(u8::is_ascii_whitespace)?;
    let index = std::str::from_utf8(&cell[..end]).ok()?.parse::<usize>().ok()?;
    (index < count).then(|| (index, unquoted(&cell[end..])))
}

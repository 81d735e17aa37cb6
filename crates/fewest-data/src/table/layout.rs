//! Pass 2 over a table: the values into a dense matrix of the exact size.

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;

use super::content::{Profile, TableContent};
use super::declaration::Declaration;
use super::rows::{Rows, trimmed};
use crate::encoding::Categories;
use crate::header::{Header, Role, check_distinct};
use crate::options::check_memory;
use crate::source::Source;
use crate::target::{Labels, class_name};
use crate::waves::{Piece, each_piece, shown};
use crate::{DataError, Dataset, Format, Note, ReadOptions, TextColumn, number};

/// Where the cells of a column go.
enum Goal {
    Nowhere,
    Target,
    Apart(usize),
    Number,
    Text(Categories),
}

/// Pass 2: where everything goes.
pub(super) struct Layout<'a> {
    header: &'a Header,
    n: usize,
    goals: Vec<Goal>,
    names: Vec<String>,
    target: Option<String>,
    notes: Vec<Note>,
}

/// Pass 2: one piece, cells of the columns that become features, row after row.
struct PieceCells {
    rows: usize,
    cells: Vec<f64>,
    classes: Vec<String>,
    codes: Vec<u32>,
    apart: Vec<Vec<String>>,
    unseen: BTreeMap<usize, UnseenValues>,
}

/// Values of a text column that no dummy column stands for.
#[derive(Default)]
struct UnseenValues {
    rows: u64,
    first: Option<String>,
}

impl UnseenValues {
    fn join(&mut self, later: UnseenValues) {
        self.rows += later.rows;
        self.first = self.first.take().or(later.first);
    }
}

impl<'a> Layout<'a> {
    pub(super) fn new(
        profile: &Profile<'a>,
        found: TableContent,
        declared: &[Declaration],
        options: &ReadOptions,
    ) -> Result<Self, DataError> {
        let header = profile.header;
        let no_target = found.missing_targets == found.rows;
        let (mut goals, mut names, mut notes) = (Vec::new(), Vec::new(), header.notes.clone());
        for (c, column) in found.columns.into_iter().enumerate() {
            let name = &header.names[c];
            goals.push(match header.roles[c] {
                Role::Ignored => Goal::Nowhere,
                Role::Apart(at) => Goal::Apart(at),
                Role::Target if no_target => Goal::Nowhere,
                Role::Target => Goal::Target,
                Role::Feature if profile.text[c] => {
                    let values = match declared.get(c) {
                        Some(Declaration::Values(values)) if !declared[c].is_number() => values.clone(),
                        _ => column.text.map_or_else(Vec::new, |t| t.distinct.into_iter().collect()),
                    };
                    let categories = Categories::new(header, c, values, found.rows, options)?;
                    names.extend(categories.names().cloned());
                    notes.push(categories.note(name));
                    Goal::Text(categories)
                }
                Role::Feature => {
                    names.push(name.clone());
                    Goal::Number
                }
            });
        }
        check_distinct(&header.file, names.iter().map(String::as_str))?;
        let target = header.target().filter(|_| !no_target).map(str::to_owned);
        Ok(Self { header, n: found.rows, goals, names, target, notes })
    }

    /// Reads the file again, into the matrix.
    pub(super) fn fill(
        mut self,
        source: &Source,
        rows: &dyn Rows,
        format: Format,
        options: &ReadOptions,
    ) -> Result<Dataset, DataError> {
        let (n, p) = (self.n, self.names.len());
        let bytes = (n as u64).saturating_mul(p as u64).saturating_mul(8);
        check_memory(
            &self.header.file,
            &format!("the dense matrix of {n} rows and {p} features"),
            bytes,
            options.memory(),
        )?;
        let mut values = vec![0.0f64; n * p];
        let mut labels = Labels::default();
        let mut apart: Vec<TextColumn> =
            options.apart.iter().map(|name| TextColumn { name: name.clone(), values: Vec::new() }).collect();
        let mut unseen: BTreeMap<usize, UnseenValues> = BTreeMap::new();
        let mut base = 0;
        each_piece(
            source,
            rows,
            options.memory(),
            |piece| self.parse(rows, piece, options),
            |pieces| {
                for piece in &pieces {
                    let codes: Vec<u32> = piece.classes.iter().map(|name| labels.code(name)).collect();
                    piece.codes.iter().for_each(|&code| labels.push_code(codes[code as usize]));
                }
                let end = base + pieces.iter().map(|piece| piece.rows).sum::<usize>();
                if end > n {
                    return Err(self.changed());
                }
                self.scatter(&pieces, base, &mut values);
                base = end;
                for piece in pieces {
                    apart.iter_mut().zip(piece.apart).for_each(|(column, values)| column.values.extend(values));
                    piece.unseen.into_iter().for_each(|(c, more)| unseen.entry(c).or_default().join(more));
                }
                Ok(())
            },
        )?;
        if base != n {
            return Err(self.changed());
        }
        for (c, unseen) in unseen {
            if let Some(value) = unseen.first {
                self.notes.push(Note::Unseen { column: self.header.names[c].clone(), value, rows: unseen.rows });
            }
        }
        let target = self.target.take().map(|column| labels.finish(column));
        if let (Some(target), false) = (&target, options.target_optional) {
            target.check(&self.header.file)?;
        }
        Dataset::dense(&self.header.file, n, values, self.names, target, apart, self.notes, format)
    }

    fn changed(&self) -> DataError {
        DataError::Damaged { file: self.header.file.clone(), what: "it changed while it was read".into() }
    }

    /// Reads one piece; the code of a missing text is NaN.
    fn parse(&self, rows: &dyn Rows, piece: Piece<'_>, options: &ReadOptions) -> Result<PieceCells, DataError> {
        let mut out = PieceCells {
            rows: 0,
            cells: Vec::with_capacity(piece.text.len() / 4),
            classes: Vec::new(),
            codes: Vec::new(),
            apart: vec![Vec::new(); options.apart.len()],
            unseen: BTreeMap::new(),
        };
        let mut known: HashMap<Vec<u8>, u32> = HashMap::new();
        rows.each_row(piece, &mut |_, cells| {
            if cells.len() != self.goals.len() {
                return Err(self.changed());
            }
            out.rows += 1;
            for (c, (goal, cell)) in self.goals.iter().zip(cells).enumerate() {
                match goal {
                    Goal::Nowhere => {}
                    Goal::Apart(at) => out.apart[*at].push(trimmed(cell).into_owned()),
                    Goal::Number => {
                        let missing = number::is_missing(cell).then_some(f64::NAN);
                        out.cells.push(number::parse(cell).or(missing).ok_or_else(|| self.changed())?);
                    }
                    Goal::Text(_) if number::is_missing(cell) => out.cells.push(f64::NAN),
                    Goal::Text(categories) => {
                        let code = categories.code(&trimmed(cell));
                        if categories.unseen(code) {
                            out.unseen.entry(c).or_default().join(UnseenValues { rows: 1, first: Some(shown(cell)) });
                        }
                        out.cells.push(f64::from(code));
                    }
                    Goal::Target => {
                        let code = known.get(&**cell).copied().unwrap_or_else(|| {
                            let code = known.len() as u32;
                            known.insert(cell.to_vec(), code);
                            out.classes.push(class_name(&String::from_utf8_lossy(cell)));
                            code
                        });
                        out.codes.push(code);
                    }
                }
            }
            Ok(())
        })?;
        Ok(out)
    }

    /// Puts the cells of some pieces into the columns of the matrix, from row `base` on; columns in
    /// parallel.
    fn scatter(&self, pieces: &[PieceCells], base: usize, values: &mut [f64]) {
        let sources = self.goals.iter().filter(|g| matches!(g, Goal::Number | Goal::Text(_)));
        let width = sources.clone().count();
        let mut jobs = Vec::with_capacity(width);
        let mut rest = values;
        for (at, goal) in sources.enumerate() {
            let columns = if let Goal::Text(categories) = goal { categories.width() } else { 1 };
            let (own, more) = rest.split_at_mut(columns * self.n);
            rest = more;
            jobs.push((at, goal, own));
        }
        jobs.into_par_iter().with_min_len(16).for_each(|(at, goal, own)| {
            let mut row = base;
            for piece in pieces {
                let cells = piece.cells.iter().skip(at).step_by(width.max(1));
                match goal {
                    Goal::Text(categories) => {
                        for (i, &code) in cells.enumerate() {
                            for dummy in 0..categories.width() {
                                let value = if code.is_nan() { code } else { categories.value(dummy, code as u32) };
                                own[dummy * self.n + row + i] = value;
                            }
                        }
                    }
                    _ => own[row..row + piece.rows].iter_mut().zip(cells).for_each(|(to, &from)| *to = from),
                }
                row += piece.rows;
            }
        });
    }
}

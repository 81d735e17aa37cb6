//! Pass 2 over a table: the values into a dense matrix of the exact size, or to the sorter of a
//! column file.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use rayon::prelude::*;

use super::content::{Profile, TableContent};
use super::declaration::Declaration;
use super::rows::{Rows, trimmed};
use crate::formats::columns::{Buckets, Sorted, Sorter};
use crate::formats::sparse::placed;
use crate::io::source::Source;
use crate::io::waves::{Piece, changed, each_piece, shown};
use crate::matrix::normalize::ColumnKind;
use crate::meaning::dummies::{Categories, TextColumnUse, text_column};
use crate::meaning::header::{Header, Role, check_distinct, check_left};
use crate::meaning::target::{Labels, Target, class_name};
use crate::note::TargetRule;
use crate::{DataError, Dataset, Format, Names, Note, ReadOptions, TextColumn, meaning::binary};

/// Fewest rows of a table that seems turned.
const MANY_ROWS: usize = 500;

/// Most numbers that may be the classes of one.
const MOST_CLASSES: usize = 20;

/// Where the cells of a column go.
enum Goal {
    Nowhere,
    Target,
    Apart(usize),
    Samples,
    Number,
    Text(Categories),
}

impl Goal {
    /// Features that come of the column.
    fn width(&self) -> usize {
        match self {
            Goal::Number => 1,
            Goal::Text(categories) => categories.width(),
            Goal::Nowhere | Goal::Target | Goal::Apart(_) | Goal::Samples => 0,
        }
    }

    /// What a cell, or the code of one, is in one of these features.
    fn value(&self, feature: usize, cell: f64) -> f64 {
        match self {
            Goal::Text(categories) if !cell.is_nan() => categories.value(feature, cell as u32),
            _ => cell,
        }
    }
}

/// Pass 2: where everything goes.
pub(super) struct Layout<'a> {
    profile: Profile<'a>,
    header: &'a Header,
    n: usize,
    goals: Vec<Goal>,
    names: Vec<String>,
    /// What each feature is to the totals of samples.
    parts: Vec<ColumnKind>,
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
    samples: Vec<String>,
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

/// Refuses a table that seems to have features in its rows: its first column has a name for each of
/// many more rows than there are columns, all others hold numbers, and none is known to be the
/// target.
fn check_turned(profile: &Profile<'_>, found: &TableContent) -> Result<(), DataError> {
    let header = profile.header;
    let columns = header.names.len() - 1;
    let last = |note: &Note| matches!(note, Note::TargetColumn { rule: TargetRule::Last, .. });
    if found.rows < MANY_ROWS.max(10 * columns) || columns < 3 || !header.notes.iter().any(last) {
        return Ok(());
    }
    let texts = |c: usize| found.columns[c].text.as_ref().map_or(0, |text| text.distinct.len());
    let names = match header.roles[0] {
        Role::Samples => true,
        Role::Feature => profile.text[0] && texts(0) == found.rows,
        _ => false,
    };
    let numbers = (1..=columns).all(|c| match header.roles[c] {
        Role::Feature => !profile.text[c] && texts(c) == 0,
        Role::Target => found.columns[c].text.as_ref().is_some_and(|text| {
            text.distinct.len() > MOST_CLASSES
                && text.distinct.iter().all(|value| profile.cells.number(value.as_bytes()).is_some())
        }),
        _ => false,
    });
    if !names || !numbers {
        return Ok(());
    }
    Err(DataError::FeaturesInRows { file: header.file.clone(), rows: found.rows, columns })
}

/// What the cells that are no features say of the rows.
struct Described {
    target: Option<Target>,
    apart: Vec<TextColumn>,
    samples: Option<TextColumn>,
}

impl<'a> Layout<'a> {
    pub(super) fn new(
        profile: Profile<'a>,
        found: TableContent,
        declared: &[Declaration],
        options: &ReadOptions,
    ) -> Result<Self, DataError> {
        let header = profile.header;
        let no_target = found.missing_targets == found.rows;
        check_turned(&profile, &found)?;
        let (mut goals, mut names, mut notes) = (Vec::new(), Vec::new(), header.notes.clone());
        let mut parts = Vec::new();
        for (c, column) in found.columns.into_iter().enumerate() {
            let name = &header.names[c];
            goals.push(match header.roles[c] {
                Role::Ignored => Goal::Nowhere,
                Role::Counted if profile.text[c] => Goal::Nowhere,
                Role::Counted => {
                    names.push(name.clone());
                    parts.push(ColumnKind::Counted);
                    Goal::Number
                }
                Role::Apart(at) => Goal::Apart(at),
                Role::Samples => Goal::Samples,
                Role::Target if no_target => Goal::Nowhere,
                Role::Target => Goal::Target,
                Role::Feature if profile.text[c] => {
                    let (present, values) =
                        column.text.map_or((0, Vec::new()), |t| (t.texts as usize, t.distinct.into_iter().collect()));
                    if profile.padded[c] {
                        notes.push(Note::LeadingZeros { column: name.clone() });
                    }
                    let declared = match declared.get(c) {
                        Some(Declaration::Values(values)) if !declared[c].is_number() => Some(values.clone()),
                        _ => None,
                    };
                    match text_column(header, c, (values, declared), present, &profile.cells, options)? {
                        TextColumnUse::LeftOut(note) => {
                            notes.push(note);
                            Goal::Nowhere
                        }
                        TextColumnUse::Categories(categories, note) => {
                            names.extend(categories.names().cloned());
                            parts.resize(names.len(), ColumnKind::Category);
                            notes.push(categories.note(name));
                            notes.extend(note);
                            Goal::Text(categories)
                        }
                    }
                }
                Role::Feature => {
                    names.push(name.clone());
                    parts.push(ColumnKind::Number);
                    Goal::Number
                }
            });
        }
        check_distinct(&header.file, names.iter().map(String::as_str))?;
        check_left(header, parts.iter().any(|part| *part != ColumnKind::Counted), options)?;
        if found.left_out > 0 {
            notes.push(Note::Unlabelled { rows: found.left_out });
        }
        let target = header.target().filter(|_| !no_target).map(str::to_owned);
        Ok(Self { profile, header, n: found.rows, goals, names, parts, target, notes })
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
        let mut values = binary::zeros(&self.header.file, n, p, options.memory())?;
        let Described { target, apart, samples } = self.pass(source, rows, options, |layout, pieces| {
            layout.scatter(pieces, &mut values);
            Ok(())
        })?;
        let data = Dataset::dense(&self.header.file, n, values, self.names, target, apart, self.notes, format)?;
        Dataset { samples, ..data }.normalized_table(options, &self.parts)
    }

    /// Reads the file again, for a column file at `out`.
    pub(super) fn sorted(
        mut self,
        source: &Source,
        rows: &dyn Rows,
        options: &ReadOptions,
        out: &str,
    ) -> Result<Sorted, DataError> {
        let most = vec![self.n as u32; self.names.len()];
        let mut values = Sorter::new(&self.header.file, out, self.n, &most, options.memory())?;
        let Described { target, .. } = self.pass(source, rows, options, |layout, pieces| {
            let firsts = values.firsts();
            let entries = |(base, piece): &(usize, PieceCells)| (*base, layout.entries(piece, &firsts));
            // Entries take more than cells: a piece for each thread, not all of the wave.
            let mut groups = pieces.chunks(rayon::current_num_threads());
            groups.try_for_each(|group| values.put(&group.par_iter().map(entries).collect::<Vec<_>>()))
        })?;
        Ok(Sorted { values, names: Names::Listed(self.names), target, notes: self.notes })
    }

    /// Hands over the cells of the file, some pieces at a time, each with its first row.
    fn pass(
        &mut self,
        source: &Source,
        rows: &dyn Rows,
        options: &ReadOptions,
        mut take: impl FnMut(&Self, &[(usize, PieceCells)]) -> Result<(), DataError>,
    ) -> Result<Described, DataError> {
        let file = &self.header.file;
        let mut labels = Labels::default();
        let mut samples = Vec::new();
        let mut apart: Vec<TextColumn> =
            options.apart.iter().map(|name| TextColumn { name: name.clone(), values: Vec::new() }).collect();
        let mut unseen: BTreeMap<usize, UnseenValues> = BTreeMap::new();
        let mut base = 0;
        each_piece(
            source,
            rows,
            options.memory(),
            |piece| self.parse(rows, piece, options).map(|cells| (cells.rows, cells)),
            |pieces| {
                for (_, piece) in &pieces {
                    let codes: Vec<u32> = piece.classes.iter().map(|name| labels.code(name)).collect();
                    piece.codes.iter().for_each(|&code| labels.push_code(codes[code as usize]));
                }
                let pieces = placed(pieces, &mut base);
                if base > self.n {
                    return Err(changed(file));
                }
                take(self, &pieces)?;
                for (_, piece) in pieces {
                    samples.extend(piece.samples);
                    apart.iter_mut().zip(piece.apart).for_each(|(column, values)| column.values.extend(values));
                    piece.unseen.into_iter().for_each(|(c, more)| unseen.entry(c).or_default().join(more));
                }
                Ok(())
            },
        )?;
        if base != self.n {
            return Err(changed(file));
        }
        for (c, unseen) in unseen {
            if let Some(value) = unseen.first {
                let known = options.levels.iter().any(|(column, _)| *column == self.header.names[c]);
                let column = self.header.names[c].clone();
                self.notes.push(Note::Unseen { column, value, rows: unseen.rows, known });
            }
        }
        let target = self.target.take().map(|column| labels.finish(column));
        if let (Some(target), false) = (&target, options.target_optional) {
            target.check(file)?;
            self.notes.extend(target.note());
        }
        let at = self.header.roles.iter().position(|role| *role == Role::Samples);
        let named = at.filter(|_| samples.iter().any(|name| !name.is_empty()));
        let samples = named.map(|at| TextColumn { name: self.header.names[at].clone(), values: samples });
        Ok(Described { target, apart, samples })
    }

    /// Reads one piece; the code of a missing text is NaN.
    fn parse(&self, rows: &dyn Rows, piece: Piece<'_>, options: &ReadOptions) -> Result<PieceCells, DataError> {
        let mut out = PieceCells {
            rows: 0,
            cells: Vec::with_capacity(piece.text.len() / 4),
            classes: Vec::new(),
            codes: Vec::new(),
            apart: vec![Vec::new(); options.apart.len()],
            samples: Vec::new(),
            unseen: BTreeMap::new(),
        };
        let mut known: HashMap<Vec<u8>, u32> = HashMap::new();
        let understood = &self.profile.cells;
        rows.each_row(piece, &mut |_, cells| {
            if cells.len() != self.goals.len() {
                return Err(changed(&self.header.file));
            }
            if self.profile.leaves_out(cells) {
                return Ok(());
            }
            out.rows += 1;
            for (c, (goal, cell)) in self.goals.iter().zip(cells).enumerate() {
                match goal {
                    Goal::Number => {
                        let missing = || understood.is_missing_number(cell).then_some(f64::NAN);
                        let value = understood.number(cell).or_else(missing);
                        out.cells.push(value.ok_or_else(|| changed(&self.header.file))?);
                    }
                    Goal::Nowhere => {}
                    Goal::Apart(at) => out.apart[*at].push(trimmed(cell).into_owned()),
                    Goal::Samples => out.samples.push(trimmed(cell).into_owned()),
                    Goal::Text(_) if understood.is_missing(cell) => out.cells.push(f64::NAN),
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

    /// The columns that become features, in order.
    fn sources(&self) -> impl Iterator<Item = &Goal> {
        self.goals.iter().filter(|g| matches!(g, Goal::Number | Goal::Text(_)))
    }

    /// Puts the cells of some pieces into the columns of the matrix; columns in parallel.
    fn scatter(&self, pieces: &[(usize, PieceCells)], values: &mut [f64]) {
        let width = self.sources().count();
        let mut jobs = Vec::with_capacity(width);
        let mut rest = values;
        for (at, goal) in self.sources().enumerate() {
            let (own, more) = rest.split_at_mut(goal.width() * self.n);
            rest = more;
            jobs.push((at, goal, own));
        }
        jobs.into_par_iter().with_min_len(16).for_each(|(at, goal, own)| {
            for (row, piece) in pieces {
                let cells = piece.cells.iter().skip(at).step_by(width.max(1));
                match goal {
                    Goal::Text(_) => {
                        for (i, &code) in cells.enumerate() {
                            for dummy in 0..goal.width() {
                                own[dummy * self.n + row + i] = goal.value(dummy, code);
                            }
                        }
                    }
                    _ => own[*row..row + piece.rows].iter_mut().zip(cells).for_each(|(to, &from)| *to = from),
                }
            }
        });
    }

    /// The values of a piece that are not 0, for a sorter; rows count from its own first.
    fn entries(&self, piece: &PieceCells, firsts: &Arc<[u32]>) -> Buckets {
        let mut buckets = Buckets::new(firsts, piece.cells.len());
        let width = self.sources().count();
        for (row, cells) in piece.cells.chunks(width.max(1)).enumerate() {
            let mut column = 0;
            for (goal, &cell) in self.sources().zip(cells) {
                for dummy in 0..goal.width() {
                    let value = goal.value(dummy, cell);
                    if value != 0.0 {
                        buckets.push(column + dummy as u32, row as u32, value);
                    }
                }
                column += goal.width() as u32;
            }
        }
        buckets
    }
}

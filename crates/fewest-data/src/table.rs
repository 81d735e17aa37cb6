//! Tables in text (csv, tsv, dense arff) in two parallel passes.
//!
//! Pass 1 reads every cell and finds out what each column holds; pass 2 puts the values into a dense matrix of the exact
//! size. Peak memory: the matrix and a few waves of text.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use fewest::DenseDesign;
use rayon::prelude::*;

use crate::encoding::{Categories, wanted_as_text};
use crate::header::{Header, Role, check_distinct};
use crate::options::check_memory;
use crate::problems::NotFinite;
use crate::source::Source;
use crate::target::{Labels, Target, class_name};
use crate::waves::{Piece, Records, each_piece, malformed, shown};
use crate::{DataError, Dataset, Features, Format, Names, Note, Place, ReadOptions, TextColumn, number};

/// Takes a row: its line, from 1, and its cells.
pub(crate) type TakeRow<'a> = dyn FnMut(u64, &[Cow<'_, [u8]>]) -> Result<(), DataError> + 'a;

/// Splits a piece of text into rows of cells.
pub(crate) trait Rows: Records {
    /// Calls `row(line, cells)` for each row of data in the piece, its line from 1.
    ///
    /// # Errors
    /// Text that makes no row, and what `row` returns.
    fn each_row(&self, piece: Piece<'_>, row: &mut TakeRow<'_>) -> Result<(), DataError>;
}

/// What a format declares about a column (attributes of arff).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Declared {
    /// Nothing: the cells tell.
    Nothing,
    /// Numbers.
    Number,
    /// One of these values.
    Values(Vec<String>),
}

/// Reads a table whose columns are known.
pub(crate) fn read(
    source: &Source,
    rows: &dyn Rows,
    header: Header,
    declared: &[Declared],
    format: Format,
    options: &ReadOptions,
) -> Result<Dataset, DataError> {
    let mut profile = Profile::new(&header, declared, options);
    let mut found = profile.scan(source, rows, options)?;
    if profile.text_with_numbers(&found)? {
        // A text column also has cells that look like numbers: a second look, to know them as text.
        found = profile.scan(source, rows, options)?;
    }
    if found.rows == 0 {
        return Err(DataError::NoRows { file: header.file });
    }
    found.bad.check()?;
    let layout = Layout::new(&profile, found, declared, options)?;
    layout.fill(source, rows, format, options)
}

/// Pass 1: how each column is looked at.
struct Profile<'a> {
    header: &'a Header,
    text: Vec<bool>,
    /// The kind is settled before the first row.
    settled: Vec<bool>,
    /// Values declared for a column.
    declared: HashMap<usize, HashSet<String>>,
    optional: bool,
}

/// Pass 1: what a column holds.
#[derive(Default)]
struct ColumnFound {
    numbers: u64,
    /// Only where there is text: most columns of wide files have none.
    text: Option<Box<TextFound>>,
}

/// Pass 1: the text cells of a column.
#[derive(Default)]
struct TextFound {
    texts: u64,
    first: Option<(Place, String)>,
    distinct: HashSet<String>,
}

/// Pass 1: what a piece or the whole file holds.
#[derive(Default)]
struct Found {
    rows: usize,
    columns: Vec<ColumnFound>,
    bad: NotFinite,
    missing_targets: usize,
    target_bad: NotFinite,
}

impl<'a> Profile<'a> {
    fn new(header: &'a Header, declared: &[Declared], options: &ReadOptions) -> Self {
        let wanted: Vec<Option<bool>> = header
            .names
            .iter()
            .enumerate()
            .map(|(c, name)| match declared.get(c) {
                Some(Declared::Values(_)) => Some(true),
                Some(Declared::Number) => Some(options.text.contains(name)),
                _ => wanted_as_text(name, options),
            })
            .collect();
        Self {
            header,
            text: wanted.iter().map(|w| *w == Some(true)).collect(),
            settled: wanted.iter().map(Option::is_some).collect(),
            declared: declared_values(declared),
            optional: options.target_optional,
        }
    }

    /// Looks at all cells.
    fn scan(&self, source: &Source, rows: &dyn Rows, options: &ReadOptions) -> Result<Found, DataError> {
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

    fn nothing(&self) -> Found {
        Found { columns: self.header.names.iter().map(|_| ColumnFound::default()).collect(), ..Found::default() }
    }

    fn look(&self, rows: &dyn Rows, piece: Piece<'_>) -> Result<Found, DataError> {
        let mut found = self.nothing();
        rows.each_row(piece, &mut |line, cells| {
            self.check_width(line, cells.len())?;
            found.rows += 1;
            for (c, cell) in cells.iter().enumerate() {
                let place = || Place::line(&self.header.file, line).column(&self.header.names[c]);
                match self.header.roles[c] {
                    Role::Ignored | Role::Apart(_) => {}
                    Role::Target => found.target(c, cell, place),
                    Role::Feature => {
                        self.check_declared(line, c, cell)?;
                        found.feature(c, cell, self.text[c], place);
                    }
                }
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Refuses a value outside a declared list.
    fn check_declared(&self, line: u64, c: usize, cell: &[u8]) -> Result<(), DataError> {
        let Some(values) = self.declared.get(&c) else { return Ok(()) };
        if number::is_missing(cell) || values.contains(&*trimmed(cell)) {
            return Ok(());
        }
        let place = Place::line(&self.header.file, line).column(&self.header.names[c]);
        let found = format!("`{}` is not among the declared values", shown(cell));
        Err(malformed(place, found, "add it to the @attribute line, or correct it"))
    }

    fn check_width(&self, line: u64, found: usize) -> Result<(), DataError> {
        let expected = self.header.names.len();
        if found == expected {
            return Ok(());
        }
        Err(DataError::Ragged { place: Place::line(&self.header.file, line), found, expected })
    }

    /// Decides which columns are text. True if one of them has to be looked at again.
    fn text_with_numbers(&mut self, found: &Found) -> Result<bool, DataError> {
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

/// Declared values as sets.
fn declared_values(declared: &[Declared]) -> HashMap<usize, HashSet<String>> {
    let sets = declared.iter().enumerate().filter_map(|(c, d)| match d {
        Declared::Values(values) => Some((c, values.iter().cloned().collect())),
        _ => None,
    });
    sets.collect()
}

impl Found {
    fn target(&mut self, c: usize, cell: &[u8], place: impl FnOnce() -> Place) {
        let infinite = number::parse(cell).is_some_and(|x| !x.is_finite());
        if infinite || number::is_missing(cell) {
            self.missing_targets += 1;
            self.target_bad.add(|| (place(), shown(cell)));
        } else {
            self.columns[c].text.get_or_insert_default().note_value(cell);
        }
    }

    fn feature(&mut self, c: usize, cell: &[u8], text: bool, place: impl FnOnce() -> Place) {
        let column = &mut self.columns[c];
        let value = if text { None } else { number::parse(cell) };
        match value {
            Some(x) if x.is_finite() => column.numbers += 1,
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
    fn join(&mut self, later: Found) {
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

impl TextFound {
    fn note_value(&mut self, cell: &[u8]) {
        let text = trimmed(cell);
        if !self.distinct.contains(&*text) {
            self.distinct.insert(text.into_owned());
        }
    }
}

/// A cell as text without surrounding blanks; bytes that are no UTF-8 are replaced.
fn trimmed(cell: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(cell.trim_ascii())
}

/// Where the cells of a column go.
enum Goal {
    Nowhere,
    Target,
    Apart(usize),
    Number,
    Text(Categories),
}

/// Pass 2: where everything goes.
struct Layout<'a> {
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
    unseen: BTreeMap<usize, Unseen>,
}

/// Values of a text column that no dummy column stands for.
#[derive(Default)]
struct Unseen {
    rows: u64,
    first: Option<String>,
}

impl Unseen {
    fn join(&mut self, later: Unseen) {
        self.rows += later.rows;
        self.first = self.first.take().or(later.first);
    }
}

impl<'a> Layout<'a> {
    fn new(
        profile: &Profile<'a>,
        found: Found,
        declared: &[Declared],
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
                        Some(Declared::Values(values)) => values.clone(),
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
    fn fill(
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
        let mut unseen: BTreeMap<usize, Unseen> = BTreeMap::new();
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
        finish(&self.header.file, n, values, self.names, target, apart, self.notes, format)
    }

    fn changed(&self) -> DataError {
        DataError::Damaged { file: self.header.file.clone(), what: "it changed while it was read".into() }
    }

    /// Reads one piece.
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
                    Goal::Number => out.cells.push(number::parse(cell).ok_or_else(|| self.changed())?),
                    Goal::Text(categories) => {
                        let code = categories.code(&trimmed(cell));
                        if categories.unseen(code) {
                            out.unseen.entry(c).or_default().join(Unseen { rows: 1, first: Some(shown(cell)) });
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

    /// Puts the cells of some pieces into the columns of the matrix, from row `base` on; columns in parallel.
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
                                own[dummy * self.n + row + i] = categories.value(dummy, code as u32);
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

/// The finished data set of a dense table: memory for the matrix is taken over, constant features are noted.
pub(crate) fn finish(
    file: &str,
    n: usize,
    values: Vec<f64>,
    names: Vec<String>,
    target: Option<Target>,
    apart: Vec<TextColumn>,
    notes: Vec<Note>,
    format: Format,
) -> Result<Dataset, DataError> {
    let features = Features::Dense(DenseDesign::new(n, names.len(), values)?);
    let names = Names::Listed(names);
    Ok(Dataset { features, names, target, apart, notes, source: file.to_owned(), format })
}

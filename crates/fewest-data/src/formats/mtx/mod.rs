//! Matrix Market: a matrix alone, samples in rows, or that of Cell Ranger (10x), genes in rows,
//! with the names of both beside it.

mod beside;
mod lines;

use fewest_svm::SparseDesign;

use crate::formats::annotations::Annotations;
use crate::formats::columns::{Sorted, Sorter};
use crate::formats::compressed::{Feed, in_order};
use crate::io::memory::check_memory;
use crate::io::source::Source;
use crate::matrix::normalize::Totals;
use crate::meaning::binary::named;
use crate::{DataError, Dataset, Features, Format, Names, Note, Place, ReadOptions, TextColumn};
use lines::Coordinates;

pub use beside::files_of;
pub(crate) use beside::in_folder;

/// Name of the names of cells.
pub(crate) const BARCODES: &str = "barcode";

/// The type of features that is taken where no other is asked for.
const GENES: &str = "Gene Expression";

/// Reads a matrix.
pub(crate) fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, DataError> {
    let table = Table::open(source, options)?;
    // A wrong target is reported before a long matrix is read.
    table.annotations.target(&source.name, options)?;
    let features = Features::Sparse(table.design(&table.counts()?)?);
    let Table { names, annotations, notes, .. } = table;
    annotations.dataset(&source.name, Format::Mtx, features, names, notes, options)
}

/// Reads what a column file at `out` is to hold; none where the entries are not in order, so that
/// the matrix must be read whole.
pub(crate) fn sorted(source: &Source, options: &ReadOptions, out: &str) -> Result<Option<Sorted>, DataError> {
    let table = Table::open(source, options)?;
    let (target, _, more) = table.annotations.target(&source.name, options)?;
    let counts = table.counts()?;
    if !counts.ordered {
        return Ok(None);
    }
    let file = &source.name;
    let how = &options.normalize;
    let normal = if how.is_none() {
        None
    } else {
        let mut totals = Totals::new(file, how, table.n);
        table.each(|i, j, x| {
            totals.add(i, j, x);
            Ok(())
        })?;
        Some(totals.finish(|j| table.names.get(j).into_owned())?)
    };
    let mut feed = Feed::new(file, &table.names, Sorter::new(file, out, table.n, &counts.stored, table.memory)?);
    table.each(|i, j, x| feed.push(i, j, normal.as_ref().map_or(x, |normal| normal.value(i, x))))?;
    let values = feed.finish()?;
    crate::matrix::dataset::refuse_text(file, options)?;
    let Table { names, mut notes, .. } = table;
    notes.extend(more);
    notes.extend(normal.map(|normal| normal.note(options, names.len())));
    Ok(Some(Sorted { values, names, target, notes }))
}

/// Positions of some features, and the note on the others.
type OfType = (Vec<u32>, Option<Note>);

/// The features of the type that is asked for, else those of genes, and the note on the others;
/// none where all are.
///
/// # Errors
/// A type that is not there.
pub(crate) fn of_type(file: &str, kinds: &[String], options: &ReadOptions) -> Result<Option<OfType>, DataError> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for kind in kinds {
        match counts.iter().position(|(name, _)| name == kind) {
            Some(at) => counts[at].1 += 1,
            None if counts.len() < 100 => counts.push((kind.clone(), 1)),
            None => return Err(DataError::Damaged { file: file.into(), what: "over 100 types of features".into() }),
        }
    }
    let asked = options.layer.as_deref();
    let wanted = asked.unwrap_or(GENES);
    if !counts.iter().any(|(name, _)| name == wanted) {
        let say: Vec<String> = counts.iter().map(|(name, _)| format!("⟦layer={name}⟧")).collect();
        return match asked {
            None => Ok(None),
            Some(name) => Err(DataError::Unsupported {
                file: file.into(),
                what: format!("there are no features of the type `{name}`"),
                remedy: format!("say {}", say.join(" or ")),
            }),
        };
    }
    if counts.len() == 1 {
        return Ok(None);
    }
    let positions = (0..kinds.len()).filter(|&j| kinds[j] == wanted).map(|j| j as u32).collect();
    counts.retain(|(name, _)| name != wanted);
    let note = asked.is_none().then(|| Note::OtherTypes { kept: wanted.into(), left: counts });
    Ok(Some((positions, note)))
}

/// Values of each column.
struct Counts {
    stored: Vec<u32>,
    /// In each column the rows ascend, each at most once.
    ordered: bool,
}

/// A matrix and what is known of its rows and columns.
struct Table<'a> {
    coordinates: Coordinates<'a>,
    n: usize,
    names: Names,
    annotations: Annotations,
    notes: Vec<Note>,
    /// Features are in the rows of the file.
    transposed: bool,
    /// The new place of each feature of the file, if not all are taken.
    places: Option<Vec<u32>>,
    memory: u64,
}

impl<'a> Table<'a> {
    fn open(source: &'a Source, options: &ReadOptions) -> Result<Self, DataError> {
        let coordinates = Coordinates::open(source)?;
        let (file, memory) = (source.name.as_str(), options.memory());
        let (rows, columns) = (coordinates.rows, coordinates.columns);
        let largest = options.largest_index(source.trusted_bytes());
        if let Some(&index) = [rows, columns].iter().find(|&&side| side > largest) {
            let place = Place { file: file.into(), ..Place::default() };
            return Err(DataError::TooManyFeatures { place, index, allowed: largest });
        }
        let (rows, columns) = (rows as usize, columns as usize);
        let (mut notes, mut places) = (Vec::new(), None);
        let (names, samples, transposed) = match beside::names(file, options)? {
            None if options.layer.is_some() => {
                let what = "a matrix alone has no ⟦layer⟧".into();
                return Err(DataError::Unsupported { file: file.into(), what, remedy: "leave it out".into() });
            }
            None => (Names::Numbered(columns), None, false),
            Some(beside) => {
                let transposed = beside.fits(file, rows, columns)?;
                notes.extend(beside.notes);
                let mut names = beside.features;
                if let Some((wanted, note)) = of_type(file, &beside.kinds, options)? {
                    let mut to = vec![u32::MAX; names.len()];
                    wanted.iter().enumerate().for_each(|(new, &old)| to[old as usize] = new as u32);
                    names = wanted.iter().map(|&j| std::mem::take(&mut names[j as usize])).collect();
                    places = Some(to);
                    notes.extend(note);
                }
                (named(file, names, options)?, beside.barcodes, transposed)
            }
        };
        let n = if transposed { columns } else { rows };
        if n == 0 {
            return Err(DataError::NoRows { file: file.to_owned() });
        }
        let samples = samples.map(|values| TextColumn { name: BARCODES.into(), values });
        let annotations = Annotations { samples, ..Annotations::default() };
        Ok(Self { coordinates, n, names, annotations, notes, transposed, places, memory })
    }

    /// Runs `take(i, j, x)` on the values that are not 0.
    fn each(&self, mut take: impl FnMut(usize, usize, f64) -> Result<(), DataError>) -> Result<(), DataError> {
        self.coordinates.each(|row, column, x| {
            let (i, j) = if self.transposed { (column, row) } else { (row, column) };
            let j = self.places.as_ref().map_or(j, |places| places[j] as usize);
            if x == 0.0 || j == u32::MAX as usize { Ok(()) } else { take(i, j, x) }
        })
    }

    fn counts(&self) -> Result<Counts, DataError> {
        let p = self.names.len();
        check_memory(self.coordinates.file(), "the counts of all columns", 8 * p as u64, self.memory)?;
        let (mut stored, mut next, mut ordered) = (vec![0u32; p], vec![0u32; p], true);
        self.each(|i, j, _| {
            stored[j] = stored[j].saturating_add(1);
            ordered &= next[j] <= i as u32;
            next[j] = i as u32 + 1;
            Ok(())
        })?;
        Ok(Counts { stored, ordered })
    }

    /// The matrix in memory.
    fn design(&self, counts: &Counts) -> Result<SparseDesign<'static>, DataError> {
        let file = self.coordinates.file();
        let stored: u64 = counts.stored.iter().map(|&count| u64::from(count)).sum();
        let longest = counts.stored.iter().max().map_or(0, |&most| u64::from(most));
        let needed =
            12 * stored + 24 * (counts.stored.len() as u64 + 1) + if counts.ordered { 0 } else { 32 * longest };
        check_memory(file, "the sparse matrix", needed, self.memory)?;
        let mut start = vec![0usize];
        start.extend(counts.stored.iter().scan(0usize, |at, &count| {
            *at += count as usize;
            Some(*at)
        }));
        let mut next = start.clone();
        let (mut rows, mut values) = (vec![0u32; stored as usize], vec![0.0; stored as usize]);
        self.each(|i, j, x| {
            let at = next[j];
            if at >= start[j + 1] {
                return Err(crate::io::waves::changed(file));
            }
            (rows[at], values[at]) = (i as u32, x);
            next[j] += 1;
            Ok(())
        })?;
        if !counts.ordered {
            start = ascending(&start, &mut rows, &mut values);
        }
        Ok(SparseDesign::new(self.n, start, rows, values)?)
    }
}

/// Sorts each column by row, adds up values at the same place, and moves all together. Returns
/// where the columns begin then.
fn ascending(start: &[usize], rows: &mut Vec<u32>, values: &mut Vec<f64>) -> Vec<usize> {
    let (mut to, mut column) = (vec![0], Vec::new());
    let mut end = 0;
    for w in start.windows(2) {
        column.clear();
        column.extend(rows[w[0]..w[1]].iter().copied().zip(values[w[0]..w[1]].iter().copied()));
        in_order(&mut column);
        for &(row, value) in column.iter().filter(|(_, value)| *value != 0.0) {
            (rows[end], values[end]) = (row, value);
            end += 1;
        }
        to.push(end);
    }
    rows.truncate(end);
    values.truncate(end);
    to
}

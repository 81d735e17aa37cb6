//! Matrices of compressed rows or columns, and dense ones, on the way from a file to memory or to
//! the sorter of a column file: what the readers of npz and HDF5 have in common.

use fewest_svm::{DenseDesign, SparseDesign};

use crate::formats::columns::{Buckets, Sorter};
use crate::io::memory::check_memory;
use crate::matrix::normalize::Totals;
use crate::meaning::problems::NotFinite;
use crate::{DataError, Features, Names, Note, ReadOptions, meaning::binary};

/// What a matrix is, as it is stored.
#[derive(Clone, Copy)]
pub(crate) struct Form {
    pub(crate) n: usize,
    pub(crate) p: usize,
    pub(crate) kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Dense,
    /// Compressed rows.
    Rows,
    /// Compressed columns.
    Columns,
}

impl Form {
    /// Compressed slices, and places in each.
    pub(crate) fn sides(&self) -> (usize, usize) {
        if self.kind == Kind::Columns { (self.p, self.n) } else { (self.n, self.p) }
    }
}

/// The numbers of an array, in the order of the file.
pub(crate) trait Numbers {
    /// How many there are, read or not.
    fn count(&self) -> usize;

    /// The next `count` of them go to the end of `to`.
    fn take(&mut self, count: usize, to: &mut Vec<f64>) -> Result<(), DataError>;
}

/// A matrix in a file, which is read in the order of the file.
pub(crate) trait Stored {
    /// The file, for messages.
    fn file(&self) -> &str;

    /// Bytes of memory allowed.
    fn memory(&self) -> u64;

    /// What it is.
    fn form(&self) -> Form;

    /// The columns that are wanted, ascending; none where all are.
    fn wanted(&self) -> Option<&[u32]> {
        None
    }

    /// Runs `take(i, j, x)` on the values of a dense matrix, rows ascending in each column.
    fn each_dense(&mut self, take: impl FnMut(usize, usize, f64) -> Result<(), DataError>) -> Result<(), DataError>;

    /// Where the slices of a compressed matrix begin, checked by [`check_starts`].
    fn starts(&mut self) -> Result<Vec<usize>, DataError>;

    /// Runs `body` on the places and the values of a compressed matrix.
    fn entries<T>(
        &mut self,
        body: impl FnOnce(&mut dyn Numbers, &mut dyn Numbers) -> Result<T, DataError>,
    ) -> Result<T, DataError>;

    /// Values in each column of compressed rows, zeros and what is added up included.
    fn counts(&mut self) -> Result<Vec<u32>, DataError> {
        let (file, p) = (self.file().to_owned(), self.form().p);
        self.entries(|index, _| {
            let (mut counts, mut part, mut left) = (vec![0; p], Vec::new(), index.count());
            while left > 0 {
                part.clear();
                let some = left.min(AT_ONCE);
                index.take(some, &mut part)?;
                left -= some;
                for &x in &part {
                    counts[place(x, p).ok_or_else(|| unfit(&file))? as usize] += 1;
                }
            }
            Ok(counts)
        })
    }
}

/// Numbers read at once where nothing else says how many.
const AT_ONCE: usize = 1 << 13;

/// The new place of each stored column; none where all are wanted.
fn places(wanted: Option<&[u32]>, p: usize) -> Option<Vec<u32>> {
    let mut places = vec![u32::MAX; wanted.map_or(0, |_| p)];
    for (to, &from) in wanted?.iter().enumerate() {
        places[from as usize] = to as u32;
    }
    Some(places)
}

/// The matrix in memory.
pub(crate) fn features(matrix: &mut impl Stored) -> Result<Features, DataError> {
    let (file, memory, form) = (matrix.file().to_owned(), matrix.memory(), matrix.form());
    let Form { n, p: stored_p, kind } = form;
    let p = matrix.wanted().map_or(stored_p, <[u32]>::len);
    let to = places(matrix.wanted(), stored_p);
    let at = |j: usize| to.as_ref().map_or(j, |to| to[j] as usize);
    if kind == Kind::Dense {
        let mut values = binary::zeros(&file, n, p, memory)?;
        matrix.each_dense(|i, j, x| {
            if let Some(value) = values.get_mut(at(j).saturating_mul(n).saturating_add(i)) {
                *value = x;
            }
            Ok(())
        })?;
        return Ok(Features::Dense(DenseDesign::new(n, p, values)?));
    }
    let start = matrix.starts()?;
    let stored = start.last().copied().unwrap_or(0);
    let needed = (12 * stored as u64 + 8 * (n.max(stored_p) as u64 + 1)) * 2;
    check_memory(&file, "the sparse matrix", needed, memory)?;
    let mut slices = Slices::with_room(stored);
    each_slice(matrix, &start, |major, slice| {
        match (&to, kind) {
            (Some(to), Kind::Columns) if to[major] == u32::MAX => return Ok(()),
            (Some(to), Kind::Rows) => {
                let kept = || slice.iter().map(|(j, x)| (to[*j as usize], x)).filter(|(j, _)| *j != u32::MAX);
                slices.index.extend(kept().map(|(j, _)| j));
                slices.values.extend(kept().map(|(_, x)| x));
            }
            _ => {
                slices.index.extend(slice.iter().map(|(at, _)| at));
                slices.values.extend(slice.iter().map(|(_, x)| x));
            }
        }
        slices.start.push(slices.index.len());
        Ok(())
    })?;
    let Slices { start, index, values } = if kind == Kind::Rows { slices.transposed(p) } else { slices };
    Ok(Features::Sparse(SparseDesign::new(n, start, index, values)?))
}

/// The values for a column file at `out`, all of them finite, and the notes on them.
pub(crate) fn sorted(
    matrix: &mut impl Stored,
    names: &Names,
    options: &ReadOptions,
    out: &str,
) -> Result<(Sorter, Option<Note>), DataError> {
    let (file, memory, form) = (matrix.file().to_owned(), matrix.memory(), matrix.form());
    let Form { n, p, kind } = form;
    let to = places(matrix.wanted(), p);
    let start = if kind == Kind::Dense { Vec::new() } else { matrix.starts()? };
    let most = match kind {
        Kind::Dense => vec![n as u32; p],
        Kind::Rows => matrix.counts()?,
        Kind::Columns => start.windows(2).map(|w| (w[1] - w[0]) as u32).collect(),
    };
    let most = match matrix.wanted() {
        Some(wanted) => wanted.iter().map(|&j| most[j as usize]).collect(),
        None => most,
    };
    let (to, how) = (to.as_deref(), &options.normalize);
    let normal = if how.is_none() {
        None
    } else {
        // The values are read twice, as a total is known at the end alone.
        let mut totals = Totals::new(&file, how, n);
        each_value(matrix, &start, to, |i, j, x| {
            totals.add(i, j, x);
            Ok(())
        })?;
        Some(totals.finish(|j| names.get(j).into_owned())?)
    };
    let mut feed = Feed::new(&file, names, Sorter::new(&file, out, n, &most, memory)?);
    each_value(matrix, &start, to, |i, j, x| feed.push(i, j, normal.as_ref().map_or(x, |normal| normal.value(i, x))))?;
    Ok((feed.finish()?, normal.map(|normal| normal.note(options, names.len()))))
}

/// Runs `take(i, j, x)` on the values in the order of the file, j a new place of [`places`].
fn each_value(
    matrix: &mut impl Stored,
    start: &[usize],
    to: Option<&[u32]>,
    mut take: impl FnMut(usize, usize, f64) -> Result<(), DataError>,
) -> Result<(), DataError> {
    let mut push = |i: usize, j: usize, x: f64| match to {
        None => take(i, j, x),
        Some(to) if to[j] == u32::MAX => Ok(()),
        Some(to) => take(i, to[j] as usize, x),
    };
    match matrix.form().kind {
        Kind::Dense => matrix.each_dense(push),
        Kind::Rows => each_slice(matrix, start, |i, slice| slice.iter().try_for_each(|&(j, x)| push(i, j as usize, x))),
        Kind::Columns => {
            each_slice(matrix, start, |j, slice| slice.iter().try_for_each(|&(i, x)| push(i as usize, j, x)))
        }
    }
}

/// Refuses starts of slices that do not fit the matrix or the other two arrays.
pub(crate) fn check_starts(
    file: &str,
    form: &Form,
    start: &[usize],
    index: usize,
    values: usize,
) -> Result<(), DataError> {
    let fits = start.len() == form.sides().0 + 1
        && (start[0], start[start.len() - 1], index) == (0, values, values)
        && start.windows(2).all(|w| w[0] <= w[1]);
    if fits { Ok(()) } else { Err(unfit(file)) }
}

/// Runs `take(slice, entries)` on the slices in order: their entries by ascending place, zeros left
/// out, those at the same place added up in the order of the file, as scipy does.
fn each_slice(
    matrix: &mut impl Stored,
    start: &[usize],
    mut take: impl FnMut(usize, &[(u32, f64)]) -> Result<(), DataError>,
) -> Result<(), DataError> {
    let (file, memory, (_, places)) = (matrix.file().to_owned(), matrix.memory(), matrix.form().sides());
    let longest = start.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0);
    check_memory(&file, "a single row or column", 32 * longest as u64, memory)?;
    matrix.entries(|index, data| {
        let (mut at, mut values, mut slice) = (Vec::new(), Vec::new(), Vec::new());
        for (major, w) in start.windows(2).enumerate() {
            at.clear();
            values.clear();
            slice.clear();
            index.take(w[1] - w[0], &mut at)?;
            data.take(w[1] - w[0], &mut values)?;
            for (&at, &x) in at.iter().zip(&values) {
                let at = place(at, places).ok_or_else(|| unfit(&file))?;
                if x != 0.0 {
                    slice.push((at, x));
                }
            }
            in_order(&mut slice);
            take(major, &slice)?;
        }
        Ok(())
    })
}

/// An index below `places`.
fn place(index: f64, places: usize) -> Option<u32> {
    (index >= 0.0 && index < places as f64).then_some(index as u32)
}

/// Sorts entries by place and adds up those at the same one, in their order.
pub(crate) fn in_order(entries: &mut Vec<(u32, f64)>) {
    if entries.windows(2).all(|w| w[0].0 < w[1].0) {
        return;
    }
    entries.sort_by_key(|(at, _)| *at);
    entries.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
}

fn unfit(file: &str) -> DataError {
    let what = "the arrays of the sparse matrix do not fit together".into();
    DataError::Damaged { file: file.into(), what }
}

/// Compressed rows or columns.
struct Slices {
    start: Vec<usize>,
    index: Vec<u32>,
    values: Vec<f64>,
}

impl Slices {
    /// None yet, with room for `values` values.
    fn with_room(values: usize) -> Self {
        Self { start: vec![0], index: Vec::with_capacity(values), values: Vec::with_capacity(values) }
    }

    /// The other compression.
    fn transposed(&self, minor: usize) -> Slices {
        let mut start = vec![0usize; minor + 1];
        self.index.iter().for_each(|&i| start[i as usize + 1] += 1);
        (0..minor).for_each(|i| start[i + 1] += start[i]);
        let mut next = start.clone();
        let (mut index, mut values) = (vec![0u32; self.index.len()], vec![0.0; self.index.len()]);
        for (major, w) in self.start.windows(2).enumerate() {
            for (&i, &value) in self.index[w[0]..w[1]].iter().zip(&self.values[w[0]..w[1]]) {
                let at = next[i as usize];
                (index[at], values[at]) = (major as u32, value);
                next[i as usize] += 1;
            }
        }
        Slices { start, index, values }
    }
}

/// Values on the way to a sorter.
pub(crate) struct Feed<'a> {
    values: Sorter,
    buckets: Buckets,
    /// Values in the buckets.
    held: usize,
    file: &'a str,
    names: &'a Names,
    bad: NotFinite,
}

/// Most values in the buckets.
const MOST: usize = 1 << 16;

impl<'a> Feed<'a> {
    pub(crate) fn new(file: &'a str, names: &'a Names, values: Sorter) -> Self {
        let buckets = Buckets::new(&values.firsts(), MOST);
        Self { values, buckets, held: 0, file, names, bad: NotFinite::default() }
    }

    /// Takes the value of row i in column j; rows ascend within a column.
    pub(crate) fn push(&mut self, i: usize, j: usize, x: f64) -> Result<(), DataError> {
        if x == 0.0 {
            return Ok(());
        }
        binary::note_bad(self.file, i, x, false, || self.names.get(j).into_owned(), &mut self.bad);
        self.buckets.push(j as u32, i as u32, x);
        self.held += 1;
        if self.held < MOST { Ok(()) } else { self.hand_on() }
    }

    fn hand_on(&mut self) -> Result<(), DataError> {
        let empty = Buckets::new(&self.values.firsts(), MOST);
        self.held = 0;
        self.values.put(&[(0, std::mem::replace(&mut self.buckets, empty))])
    }

    /// The sorter with all values.
    ///
    /// # Errors
    /// Values that are not finite.
    pub(crate) fn finish(mut self) -> Result<Sorter, DataError> {
        self.hand_on()?;
        self.bad.check()?;
        Ok(self.values)
    }
}

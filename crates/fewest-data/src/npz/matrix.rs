//! The matrix of an archive, dense or compressed, into memory or to the sorter of a column file.

use fewest::{DenseDesign, SparseDesign};

use super::numbers::Numbers;
use super::{Archive, damaged, shape_error};
use crate::columns::{Buckets, Sorter};
use crate::options::check_memory;
use crate::problems::NotFinite;
use crate::{DataError, Features, Names, Place, binary};

/// What the matrix is.
pub(super) struct Form {
    pub(super) n: usize,
    pub(super) p: usize,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Dense,
    /// Compressed rows.
    Rows,
    /// Compressed columns.
    Columns,
}

impl Form {
    /// Compressed slices, and places in each.
    fn sides(&self) -> (usize, usize) {
        if self.kind == Kind::Columns { (self.p, self.n) } else { (self.n, self.p) }
    }
}

/// Values on the way to a sorter.
struct Feed<'a> {
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

impl Feed<'_> {
    /// Takes the value of row i in column j.
    fn push(&mut self, i: usize, j: usize, x: f64) -> Result<(), DataError> {
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
}

impl Archive<'_> {
    /// What the matrix is; it has a row at least.
    pub(super) fn form(&mut self) -> Result<Form, DataError> {
        let file = self.file;
        let form = if self.has("X") {
            self.array("X", |array, _| match array.shape[..] {
                [_, _] if !array.is_number() => Err(shape_error(file, "X", array, "numeric")),
                [n, p] => Ok(Form { n, p, kind: Kind::Dense }),
                _ => Err(shape_error(file, "X", array, "two-dimensional")),
            })?
        } else if self.has("indptr") {
            self.sparse_form()?
        } else {
            return Err(self.unknown("X", "matrix"));
        };
        if form.n == 0 { Err(DataError::NoRows { file: file.to_owned() }) } else { Ok(form) }
    }

    /// Of `scipy.sparse.save_npz`, CSR or CSC.
    fn sparse_form(&mut self) -> Result<Form, DataError> {
        let file = self.file;
        let form = self.array("format", |array, input| {
            let mut form = String::new();
            let read = array.each(input, |_, bytes| form = array.text(bytes));
            read.map(|()| form).map_err(|e| damaged(file, &e))
        })?;
        let shape = self.all_numbers("shape", |x| x as u64)?;
        let kind = match &form[..] {
            "csr" => Some(Kind::Rows),
            "csc" => Some(Kind::Columns),
            _ => None,
        };
        let (&[n, p], Some(kind)) = (&shape[..], kind) else {
            let what = format!("a sparse matrix in `{form}` form");
            let remedy = "save it with tocsc() or tocsr()".into();
            return Err(DataError::Unsupported { file: file.into(), what, remedy });
        };
        if let Some(&index) = [n, p].iter().find(|&&d| d > self.largest) {
            return Err(DataError::TooManyFeatures {
                place: Place { file: file.into(), ..Place::default() },
                index,
                allowed: self.largest,
            });
        }
        Ok(Form { n: n as usize, p: p as usize, kind })
    }

    /// The matrix in memory.
    pub(super) fn features(&mut self, form: &Form) -> Result<Features, DataError> {
        let (file, memory, &Form { n, p, kind }) = (self.file, self.memory, form);
        if kind == Kind::Dense {
            let mut values = binary::zeros(file, n, p, memory)?;
            self.each_dense(form, |i, j, x| {
                values[j * n + i] = x;
                Ok(())
            })?;
            return Ok(Features::Dense(DenseDesign::new(n, p, values)?));
        }
        let start = self.starts(form)?;
        let stored = start.last().copied().unwrap_or(0);
        let needed = (12 * stored as u64 + 8 * (n.max(p) as u64 + 1)) * 2;
        check_memory(file, "the sparse matrix", needed, memory)?;
        let room = (Vec::with_capacity(stored), Vec::with_capacity(stored));
        let mut slices = Slices { start: vec![0], index: room.0, values: room.1 };
        self.each_slice(form, &start, |_, slice| {
            slices.index.extend(slice.iter().map(|(at, _)| at));
            slices.values.extend(slice.iter().map(|(_, x)| x));
            slices.start.push(slices.index.len());
            Ok(())
        })?;
        let Slices { start, index, values } = if kind == Kind::Rows { slices.transposed(p) } else { slices };
        Ok(Features::Sparse(SparseDesign::new(n, start, index, values)?))
    }

    /// The values for a column file at `out`, all of them finite.
    pub(super) fn sorted(&mut self, form: &Form, names: &Names, out: &str) -> Result<Sorter, DataError> {
        let (file, memory, &Form { n, p, kind }) = (self.file, self.memory, form);
        let start = if kind == Kind::Dense { Vec::new() } else { self.starts(form)? };
        let most = match kind {
            Kind::Dense => vec![n as u32; p],
            Kind::Rows => self.counts(p)?,
            Kind::Columns => start.windows(2).map(|w| (w[1] - w[0]) as u32).collect(),
        };
        let values = Sorter::new(file, out, n, &most, memory)?;
        let buckets = Buckets::new(&values.firsts(), MOST);
        let mut feed = Feed { values, buckets, held: 0, file, names, bad: NotFinite::default() };
        match kind {
            Kind::Dense => self.each_dense(form, |i, j, x| feed.push(i, j, x))?,
            Kind::Rows => self.each_slice(form, &start, |i, slice| {
                slice.iter().try_for_each(|&(j, x)| feed.push(i, j as usize, x))
            })?,
            Kind::Columns => self.each_slice(form, &start, |j, slice| {
                slice.iter().try_for_each(|&(i, x)| feed.push(i as usize, j, x))
            })?,
        }
        feed.hand_on()?;
        feed.bad.check()?;
        Ok(feed.values)
    }

    /// Runs `take(i, j, x)` on the values of the dense matrix, in the order of the file.
    fn each_dense(
        &mut self,
        form: &Form,
        mut take: impl FnMut(usize, usize, f64) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        let file = self.file;
        self.array("X", |array, input| {
            let within = if array.fortran { form.n } else { form.p };
            let (mut outer, mut inner) = (0, 0);
            Numbers::new(file, "X", array, input).each(|_, x| {
                let (i, j) = if array.fortran { (inner, outer) } else { (outer, inner) };
                inner += 1;
                if inner == within {
                    (outer, inner) = (outer + 1, 0);
                }
                take(i, j, x)
            })
        })
    }

    /// Where the slices of the compressed matrix begin; the other two arrays are as long as these
    /// say.
    fn starts(&mut self, form: &Form) -> Result<Vec<usize>, DataError> {
        let start = self.all_numbers("indptr", |x| x as usize)?;
        let mut items = |key| self.numbers(key, |numbers| Ok(numbers.count()));
        let (places, values) = (items("indices")?, items("data")?);
        let fits = start.len() == form.sides().0 + 1
            && (start[0], start[start.len() - 1], places) == (0, values, values)
            && start.windows(2).all(|w| w[0] <= w[1]);
        if fits { Ok(start) } else { Err(unfit(self.file)) }
    }

    /// Values of each column of compressed rows, zeros and what is added up included.
    fn counts(&mut self, p: usize) -> Result<Vec<u32>, DataError> {
        let file = self.file;
        self.numbers("indices", |mut numbers| {
            let mut counts = vec![0; p];
            numbers.each(|_, x| {
                counts[place(x, p).ok_or_else(|| unfit(file))? as usize] += 1;
                Ok(())
            })?;
            Ok(counts)
        })
    }

    /// Runs `take(slice, entries)` on the slices in order: their entries by ascending place, zeros
    /// left out, those at the same place added up in the order of the file, as scipy does.
    fn each_slice(
        &mut self,
        form: &Form,
        start: &[usize],
        mut take: impl FnMut(usize, &[(u32, f64)]) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        let (file, memory, (_, places)) = (self.file, self.memory, form.sides());
        let longest = start.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0);
        check_memory(file, "a single row or column", 32 * longest as u64, memory)?;
        let mut second = self.again()?;
        self.numbers("indices", |mut index| {
            second.numbers("data", |mut data| {
                let (mut at, mut values, mut slice) = (Vec::new(), Vec::new(), Vec::new());
                for (major, w) in start.windows(2).enumerate() {
                    at.clear();
                    values.clear();
                    slice.clear();
                    index.take(w[1] - w[0], &mut at)?;
                    data.take(w[1] - w[0], &mut values)?;
                    for (&at, &x) in at.iter().zip(&values) {
                        let at = place(at, places).ok_or_else(|| unfit(file))?;
                        if x != 0.0 {
                            slice.push((at, x));
                        }
                    }
                    in_order(&mut slice);
                    take(major, &slice)?;
                }
                Ok(())
            })
        })
    }
}

/// An index below `places`.
fn place(index: f64, places: usize) -> Option<u32> {
    (index >= 0.0 && index < places as f64).then_some(index as u32)
}

/// Sorts entries by place and adds up those at the same one, in their order.
fn in_order(entries: &mut Vec<(u32, f64)>) {
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
    damaged(file, &"the arrays of the sparse matrix do not fit together")
}

/// Compressed rows or columns.
struct Slices {
    start: Vec<usize>,
    index: Vec<u32>,
    values: Vec<f64>,
}

impl Slices {
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

//! The matrix of a file, dense or compressed, read chunk after chunk.

use hdf5_reader::error::Error;
use hdf5_reader::{ByteOrder, Dataset, DatasetChunk, DatasetChunkIterator, Datatype, H5Type, SliceInfo, SliceInfoElem};

use super::file::Hdf;
use super::texts::item;
use crate::DataError;
use crate::formats::compressed::{Form, Kind, Numbers, Stored, check_starts};
use crate::io::items::Item;

/// Values read at once where the dataset has no chunks, or none there.
const AT_ONCE: usize = 1 << 15;

/// A dataset of numbers.
pub(super) struct Array {
    dataset: Dataset,
    item: Item,
    /// Bytes of a chunk as numbers.
    chunk: u64,
}

/// A number of any type that the file has it in.
#[derive(Clone)]
struct Number(f64);

impl H5Type for Number {
    fn hdf5_type() -> Datatype {
        Datatype::FloatingPoint { size: 8, byte_order: ByteOrder::LittleEndian }
    }

    fn from_bytes(bytes: &[u8], kind: &Datatype) -> Result<Self, Error> {
        let item = item(kind).filter(|item| bytes.len() >= item.width);
        let item = item.ok_or_else(|| Error::InvalidData("not a number".into()))?;
        Ok(Number(item.number(&bytes[..item.width])))
    }

    fn element_size(kind: &Datatype) -> usize {
        item(kind).map_or(1, |item| item.width)
    }

    fn decode_vec(raw: &[u8], kind: &Datatype, count: usize) -> Option<Result<Vec<Self>, Error>> {
        let item = item(kind)?;
        let bytes = raw.get(..count.checked_mul(item.width)?)?;
        Some(Ok(bytes.chunks_exact(item.width).map(|bytes| Number(item.number(bytes))).collect()))
    }
}

impl Array {
    /// A dataset that must be numbers.
    pub(super) fn new(hdf: &Hdf<'_>, dataset: Dataset) -> Result<Self, DataError> {
        let name = dataset.name().to_owned();
        let item = item(dataset.dtype()).ok_or_else(|| {
            hdf.unsupported(format!("`{name}` does not hold numbers"), "write it as numbers, or name another ⟦layer⟧")
        })?;
        let items = dataset.num_elements().map_err(|e| hdf.error(&e))?;
        hdf.check_plausible(&format!("array `{name}`"), items.saturating_mul(item.width as u64))?;
        let chunk = dataset.chunks().map_or(AT_ONCE as u64, |chunk| {
            chunk.iter().fold(1, |all: u64, &side| all.saturating_mul(u64::from(side)))
        });
        // The chunk as it is stored, as it is unpacked, and its numbers.
        hdf.check_size(&format!("a chunk of `{name}`"), chunk.saturating_mul(item.width as u64))?;
        crate::io::memory::check_memory(
            hdf.file,
            &format!("a chunk of `{name}`"),
            chunk.saturating_mul(24),
            hdf.memory,
        )?;
        Ok(Self { dataset, item, chunk })
    }

    pub(super) fn shape(&self) -> &[u64] {
        self.dataset.shape()
    }

    fn count(&self) -> usize {
        self.shape().iter().fold(1, |all: u64, &side| all.saturating_mul(side)) as usize
    }

    /// All numbers.
    pub(super) fn all<T>(&self, hdf: &Hdf<'_>, map: impl Fn(f64) -> T) -> Result<Vec<T>, DataError> {
        let count = self.count();
        hdf.check_size(&format!("array `{}`", self.dataset.name()), (count * size_of::<T>()) as u64)?;
        let (mut stream, mut part, mut all) = (self.stream(hdf)?, Vec::new(), Vec::with_capacity(count));
        while all.len() < count {
            part.clear();
            stream.take(AT_ONCE.min(count - all.len()), &mut part)?;
            all.extend(part.iter().map(|&x| map(x)));
        }
        Ok(all)
    }

    /// What stands where no chunk was written.
    fn fill(&self) -> f64 {
        let value = self.dataset.fill_value().and_then(|fill| fill.value.as_deref());
        value.filter(|bytes| bytes.len() == self.item.width).map_or(0.0, |bytes| self.item.number(bytes))
    }

    fn chunks(&self, hdf: &Hdf<'_>) -> Result<Option<DatasetChunkIterator>, DataError> {
        match self.dataset.chunks() {
            None => Ok(None),
            Some(_) => self.dataset.iter_chunks().map(Some).map_err(|e| hdf.error(&e)),
        }
    }

    /// The numbers of one dimension in their order.
    fn stream<'s>(&'s self, hdf: &'s Hdf<'s>) -> Result<Stream<'s>, DataError> {
        Ok(Stream { hdf, array: self, chunks: self.chunks(hdf)?, next: None, at: 0, part: Vec::new(), used: 0 })
    }

    /// Numbers of a range of the first dimension.
    fn range(&self, hdf: &Hdf<'_>, start: usize, end: usize) -> Result<Vec<f64>, DataError> {
        let mut slice = SliceInfo::all(self.dataset.ndim());
        if let Some(first) = slice.selections.first_mut() {
            *first = SliceInfoElem::Slice { start: start as u64, end: end as u64, step: 1 };
        }
        let read = self.dataset.read_slice::<Number>(&slice).map_err(|e| hdf.error(&e))?;
        Ok(read.iter().map(|number| number.0).collect())
    }

    /// Runs `take(a, b, x)` on the numbers of two dimensions, `a` ascending for each `b`, and `b`
    /// for each `a`.
    fn each(
        &self,
        hdf: &Hdf<'_>,
        mut take: impl FnMut(usize, usize, f64) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        let &[rows, columns] = self.shape() else { return Err(hdf.damaged("the matrix is not of two dimensions")) };
        let (rows, columns) = (rows as usize, columns as usize);
        let Some(chunks) = self.chunks(hdf)? else {
            let band = (AT_ONCE / columns.max(1)).max(1);
            for start in (0..rows).step_by(band) {
                let end = (start + band).min(rows);
                for (at, x) in self.range(hdf, start, end)?.into_iter().enumerate() {
                    take(start + at / columns, at % columns, x)?;
                }
            }
            return Ok(());
        };
        let (mut last, mut seen) = (None, 0);
        for chunk in chunks {
            let chunk = chunk.map_err(|e| hdf.error(&e))?;
            let (&[a, b], &[height, width]) = (chunk.offsets(), chunk.shape()) else {
                return Err(hdf.damaged("a chunk is not of two dimensions"));
            };
            let place = Some((a, b));
            let (height, width) = (height as usize, width as usize);
            if place <= last || height == 0 || width == 0 || a % (height as u64) != 0 || b % (width as u64) != 0 {
                return Err(hdf.damaged("the chunks are not in order"));
            }
            last = place;
            let (a, b) = (a as usize, b as usize);
            for (row, bytes) in chunk.bytes().chunks_exact(width * self.item.width).enumerate() {
                if a + row >= rows {
                    break;
                }
                let there = width.min(columns.saturating_sub(b));
                for (at, bytes) in bytes.chunks_exact(self.item.width).take(there).enumerate() {
                    take(a + row, b + at, self.item.number(bytes))?;
                }
                seen += there;
            }
        }
        if seen < rows * columns && self.fill() != 0.0 {
            let what = format!("parts of `{}` were never written", self.dataset.name());
            return Err(hdf.unsupported(what, "write the file again"));
        }
        Ok(())
    }
}

/// The numbers of an array of one dimension, chunk after chunk.
struct Stream<'s> {
    hdf: &'s Hdf<'s>,
    array: &'s Array,
    chunks: Option<DatasetChunkIterator>,
    /// The next chunk that there is.
    next: Option<DatasetChunk>,
    /// Numbers that were in `part` until now.
    at: usize,
    part: Vec<f64>,
    used: usize,
}

impl Stream<'_> {
    /// Brings the next numbers into `part`.
    fn refill(&mut self) -> Result<(), DataError> {
        let left = self.array.count().saturating_sub(self.at);
        self.used = 0;
        self.part.clear();
        if left == 0 {
            return Err(self.hdf.damaged(format!("array `{}` ends too early", self.array.dataset.name())));
        }
        let Some(chunks) = &mut self.chunks else {
            self.part = self.array.range(self.hdf, self.at, self.at + left.min(AT_ONCE))?;
            self.at += self.part.len();
            return Ok(());
        };
        if self.next.is_none() {
            self.next = chunks.next().transpose().map_err(|e| self.hdf.error(&e))?;
        }
        let begins = self.next.as_ref().and_then(|chunk| chunk.offsets().first());
        let begins = begins.map_or(usize::MAX, |&at| at as usize);
        if begins < self.at {
            return Err(self.hdf.damaged("the chunks are not in order"));
        }
        let item = self.array.item;
        match &self.next {
            Some(chunk) if begins == self.at => {
                let numbers = chunk.bytes().chunks_exact(item.width).take(left);
                self.part.extend(numbers.map(|bytes| item.number(bytes)));
                self.next = None;
            }
            _ => self.part.resize(left.min(begins - self.at).min(AT_ONCE), self.array.fill()),
        }
        self.at += self.part.len();
        Ok(())
    }
}

impl Numbers for Stream<'_> {
    fn count(&self) -> usize {
        self.array.count()
    }

    fn take(&mut self, count: usize, to: &mut Vec<f64>) -> Result<(), DataError> {
        let mut left = count;
        while left > 0 {
            if self.used == self.part.len() {
                self.refill()?;
            }
            let some = left.min(self.part.len() - self.used);
            to.extend_from_slice(&self.part[self.used..self.used + some]);
            self.used += some;
            left -= some;
            if some == 0 && self.part.is_empty() {
                return Err(self.hdf.damaged("an empty chunk"));
            }
        }
        Ok(())
    }
}

/// Where the values of a matrix are.
pub(super) enum Place {
    /// In one array, features x samples where `transposed`.
    Dense {
        values: Box<Array>,
        transposed: bool,
    },
    Sparse(Box<Arrays>),
}

/// The arrays of a compressed matrix.
pub(super) struct Arrays {
    values: Array,
    index: Array,
    start: Array,
}

/// A matrix, samples x features.
pub(super) struct Matrix<'a> {
    pub(super) hdf: &'a Hdf<'a>,
    pub(super) form: Form,
    pub(super) place: Place,
    /// Columns that are wanted, if not all are.
    pub(super) wanted: Option<Vec<u32>>,
    /// Bytes of names and columns, which are held meanwhile.
    pub(super) held: u64,
}

impl<'a> Matrix<'a> {
    /// A dense matrix.
    pub(super) fn dense(hdf: &'a Hdf<'a>, dataset: Dataset, transposed: bool) -> Result<Self, DataError> {
        let values = Array::new(hdf, dataset)?;
        let &[rows, columns] = values.shape() else {
            let what = format!("`{}` is not a matrix of two dimensions", values.dataset.name());
            return Err(hdf.unsupported(what, "name another ⟦layer⟧"));
        };
        let (n, p) = if transposed { (columns, rows) } else { (rows, columns) };
        let form = Form { n: n as usize, p: p as usize, kind: Kind::Dense };
        Ok(Self { hdf, form, place: Place::Dense { values: Box::new(values), transposed }, wanted: None, held: 0 })
    }

    /// A compressed matrix of n x p.
    pub(super) fn sparse(
        hdf: &'a Hdf<'a>,
        group: &hdf5_reader::group::Group,
        (n, p): (u64, u64),
        kind: Kind,
    ) -> Result<Self, DataError> {
        if let Some(&index) = [n, p].iter().find(|&&side| side > hdf.largest) {
            let place = crate::Place { file: hdf.file.into(), ..crate::Place::default() };
            return Err(DataError::TooManyFeatures { place, index, allowed: hdf.largest });
        }
        let array = |name: &str| Array::new(hdf, hdf.dataset(group, name)?);
        let (values, index, start) = (array("data")?, array("indices")?, array("indptr")?);
        if [&values, &index, &start].iter().any(|array| array.shape().len() != 1) {
            return Err(hdf.damaged("the arrays of the sparse matrix are not of one dimension"));
        }
        let form = Form { n: n as usize, p: p as usize, kind };
        Ok(Self { hdf, form, place: Place::Sparse(Box::new(Arrays { values, index, start })), wanted: None, held: 0 })
    }
}

impl Stored for Matrix<'_> {
    fn file(&self) -> &str {
        self.hdf.file
    }

    fn memory(&self) -> u64 {
        self.hdf.memory.saturating_sub(self.held)
    }

    fn form(&self) -> Form {
        self.form
    }

    fn wanted(&self) -> Option<&[u32]> {
        self.wanted.as_deref()
    }

    fn each_dense(
        &mut self,
        mut take: impl FnMut(usize, usize, f64) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        match &self.place {
            Place::Dense { values, transposed: true } => values.each(self.hdf, |a, b, x| take(b, a, x)),
            Place::Dense { values, .. } => values.each(self.hdf, take),
            Place::Sparse(_) => unreachable!("the form says dense"),
        }
    }

    fn starts(&mut self) -> Result<Vec<usize>, DataError> {
        let Place::Sparse(arrays) = &self.place else { unreachable!("the form says sparse") };
        let Arrays { values, index, start } = &**arrays;
        let starts = start.all(self.hdf, |x| x as usize)?;
        check_starts(self.hdf.file, &self.form, &starts, index.count(), values.count())?;
        Ok(starts)
    }

    fn entries<T>(
        &mut self,
        body: impl FnOnce(&mut dyn Numbers, &mut dyn Numbers) -> Result<T, DataError>,
    ) -> Result<T, DataError> {
        let Place::Sparse(arrays) = &self.place else { unreachable!("the form says sparse") };
        let Arrays { values, index, .. } = &**arrays;
        let chunks = 24 * (values.chunk + index.chunk);
        crate::io::memory::check_memory(self.hdf.file, "two chunks", chunks, self.hdf.memory)?;
        body(&mut index.stream(self.hdf)?, &mut values.stream(self.hdf)?)
    }
}

//! Decoded values of a column, batch by batch.

use std::collections::HashMap;

use ::parquet::column::reader::ColumnReaderImpl;
use ::parquet::data_type::{DataType, Int64Type};

use crate::meaning::cells::Cells;
use crate::{DataError, number};

/// Values decoded at once.
pub(super) const BATCH: usize = 1 << 14;

/// The error of a file that cannot be decoded.
pub(super) fn damaged(file: &str, error: &dyn std::fmt::Display) -> DataError {
    DataError::Damaged { file: file.to_owned(), what: error.to_string() }
}

/// Decoded values of a column.
pub(super) enum Batch<'a> {
    Numbers(&'a [f64]),
    Text(&'a [Option<&'a [u8]>]),
}

impl Batch<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Batch::Numbers(values) => values.len(),
            Batch::Text(cells) => cells.len(),
        }
    }

    /// Every value as text, `None` when missing.
    pub(super) fn each_cell(&self, mut cell: impl FnMut(Option<&[u8]>)) {
        match self {
            Batch::Numbers(values) => {
                values.iter().for_each(|x| {
                    cell(x.is_finite().then(|| number::text(*x)).as_ref().map(String::as_bytes));
                });
            }
            Batch::Text(cells) => cells.iter().for_each(|c| cell(*c)),
        }
    }
}

/// A text column as codes.
#[derive(Default)]
pub(super) struct Codes {
    pub(super) values: Vec<String>,
    pub(super) rows: Vec<u32>,
    find: HashMap<Vec<u8>, u32>,
    /// Bytes of the values, about.
    bytes: usize,
    /// Rows (from 0) without a value.
    pub(super) missing: Vec<usize>,
}

/// Bytes that a value takes beside its text, which is kept twice.
const VALUE: usize = 96;

impl Codes {
    /// Bytes in use, about; twice what is there, as tables double when they grow and the rest of
    /// the memory is for what is decoded.
    pub(super) fn bytes(&self) -> u64 {
        2 * (self.bytes + size_of::<u32>() * self.rows.capacity() + size_of::<usize>() * self.missing.capacity()) as u64
    }

    /// Bytes of the values of all rows, each as a text of its own.
    pub(super) fn text_bytes(&self) -> u64 {
        let one = |&code: &u32| (size_of::<String>() + self.values[code as usize].len()) as u64;
        self.rows.iter().map(one).sum()
    }

    pub(super) fn push(&mut self, cell: Option<&[u8]>, cells: &Cells) {
        if cell.is_none_or(|cell| cells.is_missing(cell)) {
            self.missing.push(self.rows.len());
        }
        let cell = cell.unwrap_or_default().trim_ascii();
        let code = self.find.get(cell).copied().unwrap_or_else(|| {
            let code = self.values.len() as u32;
            self.bytes += VALUE + 2 * cell.len();
            self.values.push(crate::io::windows::text_of(cell).0);
            self.find.insert(cell.to_vec(), code);
            code
        });
        self.rows.push(code);
    }
}

/// Batches of a numeric column.
pub(super) fn numeric<T: DataType>(
    file: &str,
    reader: ColumnReaderImpl<T>,
    value: impl Fn(&T::T) -> f64,
    batch: &mut dyn FnMut(Batch<'_>) -> Result<(), DataError>,
) -> Result<(), DataError> {
    let mut numbers = Vec::new();
    decode(file, reader, BATCH, &mut |levels, values| {
        numbers.clear();
        let mut next = values.iter();
        numbers.extend(levels.map(|present| if present { next.next().map_or(f64::NAN, &value) } else { f64::NAN }));
        batch(Batch::Numbers(&numbers))
    })
}

/// Batches of a column of integers, as text, which has all of their digits.
pub(super) fn integers(
    file: &str,
    reader: ColumnReaderImpl<Int64Type>,
    unsigned: bool,
    batch: &mut dyn FnMut(Batch<'_>) -> Result<(), DataError>,
) -> Result<(), DataError> {
    let text = |x: &i64| if unsigned { (*x as u64).to_string() } else { x.to_string() };
    decode(file, reader, BATCH, &mut |levels, values| {
        let mut next = values.iter();
        let texts: Vec<Option<String>> =
            levels.map(|present| if present { next.next().map(text) } else { None }).collect();
        batch(Batch::Text(&texts.iter().map(|text| text.as_ref().map(String::as_bytes)).collect::<Vec<_>>()))
    })
}

/// Takes which rows have a value, and the values of those.
type TakeBatch<'a, T> = dyn FnMut(&mut dyn Iterator<Item = bool>, &[T]) -> Result<(), DataError> + 'a;

/// Runs `batch(present, values)` on the decoded batches of a column chunk, of at most `most` rows.
pub(super) fn decode<T: DataType>(
    file: &str,
    mut reader: ColumnReaderImpl<T>,
    most: usize,
    batch: &mut TakeBatch<'_, T::T>,
) -> Result<(), DataError> {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    loop {
        levels.clear();
        values.clear();
        let (records, stored, _) =
            reader.read_records(most, Some(&mut levels), None, &mut values).map_err(|e| damaged(file, &e))?;
        if records == 0 {
            return Ok(());
        }
        if levels.is_empty() {
            batch(&mut (0..stored).map(|_| true), &values)?;
        } else {
            batch(&mut levels.iter().map(|l| *l > 0), &values)?;
        }
    }
}

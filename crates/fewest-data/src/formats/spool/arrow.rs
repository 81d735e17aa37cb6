//! Arrow IPC files, which feather (version 2) is: the columns of all batches. Dates become text, as
//! ISO 8601 has them.

use std::io::{BufReader, Read as _, Seek as _};
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::cast::AsArray as _;
use arrow_array::types as kinds;
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::FileReader;
use arrow_schema::{ArrowError, DataType, TimeUnit};

use super::writer::TextWriter;
use super::{Text, arrow_layout};
use crate::io::source::Source;
use crate::{DataError, ReadOptions};

/// The table as text.
pub(super) fn text(source: &Source, options: &ReadOptions) -> Result<Text, DataError> {
    let caught = catch_unwind(AssertUnwindSafe(|| read(source, options)));
    caught.unwrap_or_else(|_| Err(damaged(&source.name, &"the decoder failed")))
}

fn read(source: &Source, options: &ReadOptions) -> Result<Text, DataError> {
    let file = &source.name;
    let broken = |error: ArrowError| damaged(file, &error);
    let mut input = source.seekable()?;
    let mut magic = Vec::new();
    input.by_ref().take(4).read_to_end(&mut magic).map_err(|e| source.read_error(e))?;
    if magic == b"FEA1" {
        return Err(DataError::Unsupported {
            file: file.clone(),
            what: "the file is of version 1 of feather, which Arrow has given up".into(),
            remedy: "write it again with df.to_feather, or as parquet".into(),
        });
    }
    let bytes = arrow_layout::check(&mut input).map_err(|what| damaged(file, &what))?;
    crate::io::memory::check_memory(file, "the unpacked columns", bytes, options.memory())?;
    input.rewind().map_err(|e| source.read_error(e))?;
    let reader = FileReader::try_new(BufReader::new(input), None).map_err(broken)?;
    let schema = reader.schema();
    let mut out = TextWriter::new(file, bytes)?;
    for field in schema.fields() {
        if !is_read(field.data_type()) {
            return Err(DataError::Unsupported {
                file: file.clone(),
                what: format!(
                    "column `{}` holds neither numbers, booleans, dates nor text ({})",
                    field.name(),
                    field.data_type()
                ),
                remedy: "write the file without it".into(),
            });
        }
        out.text(field.name())?;
    }
    out.end_row(0)?;
    for batch in reader {
        let batch = batch.map_err(broken)?;
        let size = batch.get_array_memory_size() as u64;
        crate::io::memory::check_memory(file, "a batch of rows", size, options.memory())?;
        put(&batch, &mut out)?;
    }
    Ok(Text { name: file.clone(), file: out.finish()? })
}

fn damaged(file: &str, what: &dyn std::fmt::Display) -> DataError {
    DataError::Damaged { file: file.to_owned(), what: what.to_string() }
}

/// Whether cells of the type are read.
fn is_read(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => !matches!(**values, DataType::Dictionary(..)) && is_read(values),
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) | DataType::Null | DataType::Boolean => true,
        other => other.is_integer() || other.is_floating() || other.is_string(),
    }
}

/// Writes the rows of a batch.
fn put(batch: &RecordBatch, out: &mut TextWriter<'_>) -> Result<(), DataError> {
    // The values of a dictionary, and which of them each row has.
    let keys = |column: &std::sync::Arc<dyn Array>| match column.data_type() {
        DataType::Dictionary(..) => Some(column.as_any_dictionary().normalized_keys()),
        _ => None,
    };
    let keys: Vec<Option<Vec<usize>>> = batch.columns().iter().map(keys).collect();
    for row in 0..batch.num_rows() {
        for (column, keys) in batch.columns().iter().zip(&keys) {
            match keys {
                Some(_) if column.is_null(row) => out.plain("")?,
                Some(keys) => cell(column.as_any_dictionary().values().as_ref(), keys[row], out)?,
                None => cell(column.as_ref(), row, out)?,
            }
        }
        out.end_row(0)?;
    }
    Ok(())
}

/// Writes a cell.
fn cell(array: &dyn Array, row: usize, out: &mut TextWriter<'_>) -> Result<(), DataError> {
    macro_rules! number {
        ($kind:ty) => {
            out.number(f64::from(array.as_primitive::<$kind>().value(row)))
        };
    }
    macro_rules! integer {
        ($kind:ty) => {
            out.plain(&array.as_primitive::<$kind>().value(row).to_string())
        };
    }
    if array.is_null(row) {
        return out.plain("");
    }
    match array.data_type() {
        DataType::Boolean => out.plain(if array.as_boolean().value(row) { "True" } else { "False" }),
        DataType::Int8 => integer!(kinds::Int8Type),
        DataType::Int16 => integer!(kinds::Int16Type),
        DataType::Int32 => integer!(kinds::Int32Type),
        DataType::Int64 => integer!(kinds::Int64Type),
        DataType::UInt8 => integer!(kinds::UInt8Type),
        DataType::UInt16 => integer!(kinds::UInt16Type),
        DataType::UInt32 => integer!(kinds::UInt32Type),
        DataType::UInt64 => integer!(kinds::UInt64Type),
        DataType::Float16 => number!(kinds::Float16Type),
        DataType::Float32 => number!(kinds::Float32Type),
        DataType::Float64 => number!(kinds::Float64Type),
        DataType::Utf8 => out.text(array.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => out.text(array.as_string::<i64>().value(row)),
        DataType::Utf8View => out.text(array.as_string_view().value(row)),
        DataType::Date32 => date(i64::from(array.as_primitive::<kinds::Date32Type>().value(row)) * 86_400, out),
        DataType::Date64 => date(array.as_primitive::<kinds::Date64Type>().value(row) / 1000, out),
        DataType::Timestamp(unit, _) => date(seconds(array, row, *unit), out),
        _ => out.plain(""),
    }
}

/// The seconds since 1970 of a time.
fn seconds(array: &dyn Array, row: usize, unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => array.as_primitive::<kinds::TimestampSecondType>().value(row),
        TimeUnit::Millisecond => array.as_primitive::<kinds::TimestampMillisecondType>().value(row).div_euclid(1000),
        TimeUnit::Microsecond => {
            array.as_primitive::<kinds::TimestampMicrosecondType>().value(row).div_euclid(1_000_000)
        }
        TimeUnit::Nanosecond => {
            array.as_primitive::<kinds::TimestampNanosecondType>().value(row).div_euclid(1_000_000_000)
        }
    }
}

/// Writes a date, with its time where it has one.
fn date(seconds: i64, out: &mut TextWriter<'_>) -> Result<(), DataError> {
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // The calendar of Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms" (2013).
    let from = days.saturating_add(719_468);
    let (era, day) = (from.div_euclid(146_097), from.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    let date = format!("{year:04}-{month:02}-{:02}", of_year - (153 * shifted + 2) / 5 + 1);
    if rest == 0 {
        return out.plain(&date);
    }
    out.plain(&format!("{date}T{:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60))
}

//! A data set as Parquet.

use std::io;
use std::sync::Arc;

use ::parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use ::parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::types::Type;

use crate::{Dataset, Target};

/// Writes features as doubles and the target, last, as doubles or text.
pub(crate) fn write(data: &Dataset, out: &mut (dyn io::Write + Send)) -> io::Result<()> {
    write_table(data, out).map_err(io::Error::other)
}

fn write_table(data: &Dataset, out: &mut (dyn io::Write + Send)) -> Result<(), ParquetError> {
    let target = data.target.as_ref();
    let numeric = target.and_then(Target::numbers);
    let field = |name: &str, kind, text: bool| {
        let builder = Type::primitive_type_builder(name, kind).with_repetition(Repetition::REQUIRED);
        builder.with_logical_type(text.then_some(LogicalType::String)).build().map(Arc::new)
    };
    let mut fields =
        data.names.iter().map(|name| field(&name, Physical::DOUBLE, false)).collect::<Result<Vec<_>, _>>()?;
    if let Some(target) = target {
        let text = numeric.is_none();
        fields.push(field(&target.column, if text { Physical::BYTE_ARRAY } else { Physical::DOUBLE }, text)?);
    }
    let schema = Type::group_type_builder("schema").with_fields(fields).build()?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    let mut column = vec![0.0; data.features.n_samples()];
    for j in 0..data.names.len() {
        column.fill(0.0);
        data.features.as_design().each_in_column(j, &mut |i, x| column[i] = x);
        write_column::<DoubleType>(&mut group, &column)?;
    }
    match (target, numeric) {
        (None, _) => {}
        (Some(target), Some(values)) => {
            let values: Vec<f64> = target.codes.iter().map(|&code| values[code as usize]).collect();
            write_column::<DoubleType>(&mut group, &values)?;
        }
        (Some(target), None) => {
            let values: Vec<ByteArray> =
                target.codes.iter().map(|&code| target.classes[code as usize].as_str().into()).collect();
            write_column::<ByteArrayType>(&mut group, &values)?;
        }
    }
    group.close()?;
    writer.close()?;
    Ok(())
}

fn write_column<T: DataType>(
    group: &mut ::parquet::file::writer::SerializedRowGroupWriter<'_, &mut (dyn io::Write + Send)>,
    values: &[T::T],
) -> Result<(), ParquetError> {
    let missing = || ParquetError::General("a column too many".into());
    let mut writer = group.next_column()?.ok_or_else(missing)?;
    writer.typed::<T>().write_batch(values, None, None)?;
    writer.close()
}

//! How the columns of a table are read, by their types.

use std::sync::Arc;

use ::parquet::basic::{Compression, ConvertedType, LogicalType, Type as Physical};
use ::parquet::file::metadata::ColumnChunkMetaData;
use ::parquet::schema::types::ColumnDescriptor;

use crate::DataError;
use crate::meaning::header::{Header, Role};

/// How a column is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    /// A truth value.
    Boolean,
    /// A number of single precision.
    Single,
    /// Stored signed, meant unsigned.
    Unsigned,
    Text,
    Unused,
}

/// The kind of each column that is wanted.
pub(super) fn kinds(header: &Header, columns: &[Arc<ColumnDescriptor>]) -> Result<Vec<Kind>, DataError> {
    columns
        .iter()
        .zip(&header.roles)
        .zip(&header.names)
        .map(|((column, role), name)| {
            if *role == Role::Ignored {
                return Ok(Kind::Unused);
            }
            if *role == Role::Counted {
                return Ok(kind(column).unwrap_or(Kind::Unused));
            }
            kind(column).ok_or_else(|| DataError::Unsupported {
                file: header.file.clone(),
                what: format!(
                    "column `{name}` holds neither numbers, booleans nor text ({:?}, {:?})",
                    column.physical_type(),
                    column.converted_type()
                ),
                remedy: format!("convert it, or drop it with ⟦drop={name}⟧"),
            })
        })
        .collect()
}

fn kind(column: &ColumnDescriptor) -> Option<Kind> {
    if column.max_rep_level() > 0 || column.max_def_level() > 1 {
        return None;
    }
    let unsigned = matches!(column.logical_type_ref(), Some(LogicalType::Integer { is_signed: false, .. }))
        || matches!(
            column.converted_type(),
            ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64
        );
    let plain = matches!(column.logical_type_ref(), None | Some(LogicalType::Integer { .. } | LogicalType::Unknown))
        && matches!(
            column.converted_type(),
            ConvertedType::NONE
                | ConvertedType::INT_8
                | ConvertedType::INT_16
                | ConvertedType::INT_32
                | ConvertedType::INT_64
        );
    match column.physical_type() {
        Physical::INT32 | Physical::INT64 if unsigned => Some(Kind::Unsigned),
        Physical::BOOLEAN if plain => Some(Kind::Boolean),
        Physical::FLOAT if plain => Some(Kind::Single),
        Physical::INT32 | Physical::INT64 | Physical::DOUBLE if plain => Some(Kind::Number),
        Physical::BYTE_ARRAY if !matches!(column.converted_type(), ConvertedType::DECIMAL | ConvertedType::BSON) => {
            Some(Kind::Text)
        }
        _ => None,
    }
}

/// Refuses a compression that cannot be read, by name.
pub(super) fn check_codec(file: &str, name: &str, chunk: &ColumnChunkMetaData) -> Result<(), DataError> {
    let codec = match chunk.compression() {
        Compression::BROTLI(_) => "brotli",
        Compression::LZO => "LZO",
        _ => return Ok(()),
    };
    Err(DataError::Unsupported {
        file: file.into(),
        what: format!("column `{name}` is compressed with {codec}, which cannot be read here"),
        remedy: "write the file with zstd, snappy, gzip, lz4 or without compression".into(),
    })
}

//! What the decoder asks of a file.

use std::io::{BufReader, Read as _};

use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{ChunkReader, Length};
use bytes::Bytes;

use crate::io::shared::{SharedFile, SharedReader};

impl Length for SharedFile {
    fn len(&self) -> u64 {
        self.bytes()
    }
}

impl ChunkReader for SharedFile {
    type T = BufReader<SharedReader>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(BufReader::with_capacity(1 << 13, self.part(start)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.bytes()) {
            return Err(ParquetError::EOF(format!("{length} bytes at {start} are beyond the end")));
        }
        let mut bytes = vec![0; length];
        self.part(start).read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}

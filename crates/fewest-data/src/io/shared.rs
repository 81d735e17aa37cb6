//! A file that is read at several positions at once.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

/// A file that is read at several positions, by several threads. Copies of a `File` share one
/// position between them.
#[derive(Clone)]
pub(crate) struct SharedFile {
    file: Arc<Mutex<File>>,
    length: u64,
}

impl SharedFile {
    pub(crate) fn new(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self { file: Arc::new(Mutex::new(file)), length })
    }

    /// Bytes in it.
    #[cfg(feature = "parquet")]
    pub(crate) fn bytes(&self) -> u64 {
        self.length
    }

    /// A reader of its own that begins at a position.
    pub(crate) fn part(&self, at: u64) -> SharedReader {
        SharedReader { shared: self.clone(), at }
    }
}

/// Reads a shared file from a position of its own.
pub(crate) struct SharedReader {
    shared: SharedFile,
    at: u64,
}

impl Read for SharedReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut file = self.shared.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(self.at))?;
        let got = file.read(buffer)?;
        self.at += got as u64;
        Ok(got)
    }
}

impl Seek for SharedReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.shared.length.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "a position before the file"))?;
        Ok(self.at)
    }
}

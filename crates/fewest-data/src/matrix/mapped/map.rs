//! The map of a file, and the one place with `unsafe`.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::Mmap;

/// A page fault maps this many bytes around it, in the rows and in the values.
const AROUND: u64 = 2 * (64 << 10);

/// A file in the address space, read only. Pages that were read count as memory of this
/// process until they are given back, which [`Map::passed`] does.
#[derive(Debug)]
pub(crate) struct Map {
    bytes: Mmap,
    /// Bytes that may stay.
    pub(crate) limit: u64,
    /// Bytes read since they were last given back.
    touched: AtomicU64,
    /// The column at which the last reading ended.
    end: AtomicU64,
}

impl Map {
    /// Maps the whole file.
    #[expect(
        unsafe_code,
        reason = "memory-mapped files; the file must not be changed while it is open, as the documentation says"
    )]
    pub(crate) fn new(file: &File, limit: u64) -> io::Result<Self> {
        // SAFETY: the map is read only. Another program that writes to the file meanwhile could
        // change what is read: all reads are of plain numbers, and an index out of bounds panics.
        let bytes = unsafe { Mmap::map(file)? };
        Ok(Self { bytes, limit, touched: AtomicU64::new(0), end: AtomicU64::new(0) })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Notes that the columns from `first` to before `last`, which take `bytes` bytes, were read
    /// at, and gives all pages back where they are more than may stay. They are read from the file
    /// again when they are needed.
    pub(crate) fn passed(&self, first: usize, last: usize, bytes: u64) {
        let around = if self.end.swap(last as u64, Ordering::Relaxed) == first as u64 { 0 } else { AROUND };
        let read = bytes + around;
        if self.touched.fetch_add(read, Ordering::Relaxed) + read > self.limit {
            self.touched.store(0, Ordering::Relaxed);
            self.give_back();
        }
    }

    /// Tells the system that no page is needed now.
    #[cfg(unix)]
    #[expect(unsafe_code, reason = "madvise is the only way to give back pages of a map")]
    pub(crate) fn give_back(&self) {
        // SAFETY: of a map of a file that is never written to, MADV_DONTNEED only drops copies of
        // what is in the file; other threads that read at the same time get the same bytes again.
        let told = unsafe { self.bytes.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
        // Memory is then kept longer than asked for, which is no reason to fail.
        drop(told);
    }

    /// Without madvise the system decides.
    #[cfg(not(unix))]
    pub(crate) fn give_back(&self) {}
}

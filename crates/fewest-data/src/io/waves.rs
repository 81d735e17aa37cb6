//! Text files in waves: a buffer of whole records, cut into pieces that are parsed in parallel.
//!
//! A thread of its own reads (and decompresses) the next wave while the current one is parsed.
//! Memory: three buffers of half a megabyte for each thread, more only where one record is longer.
//! Pieces are cut by position, never by thread count, and results come in file order, so that every
//! reader is deterministic.

use std::io::Read;
use std::sync::mpsc;

use memchr::{memchr, memchr_iter, memrchr};
use rayon::prelude::*;

use crate::DataError;
use crate::io::memory::check_memory;
use crate::io::source::Source;

/// Bytes of a piece.
const PIECE: usize = 128 << 10;

/// Bytes of a wave: four pieces for each thread.
fn wave_bytes() -> usize {
    4 * PIECE * rayon::current_num_threads().clamp(1, 16)
}

/// Whole records of the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece<'a> {
    /// The text; the last record of the file may lack its line end.
    pub(crate) text: &'a [u8],
    /// Line number of its first line, from 1.
    pub(crate) line: u64,
}

impl<'a> Piece<'a> {
    /// Lines with their numbers, line ends removed.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (u64, &'a [u8])> {
        let (mut rest, mut line) = (self.text, self.line);
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let end = memchr(b'\n', rest).unwrap_or(rest.len());
            let this = rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]);
            rest = rest.get(end + 1..).unwrap_or(&[]);
            line += 1;
            Some((line - 1, this))
        })
    }
}

/// Finds record ends.
pub(crate) trait Records: Sync {
    /// Length of the longest prefix of `text` that is made of whole records (0 if none); `text`
    /// begins at a record.
    fn whole(&self, text: &[u8]) -> usize;
    /// End of the first record at or after position `from` of `text`, which begins at a record.
    fn next_end(&self, text: &[u8], start: usize, from: usize) -> usize;
}

/// Records are lines.
pub(crate) struct Lines;

impl Records for Lines {
    fn whole(&self, text: &[u8]) -> usize {
        memrchr(b'\n', text).map_or(0, |at| at + 1)
    }
    fn next_end(&self, text: &[u8], _start: usize, from: usize) -> usize {
        memchr(b'\n', &text[from..]).map_or(text.len(), |at| from + at + 1)
    }
}

/// Runs `work` on all pieces of the file in parallel and `gather` on its results in file order.
/// Returns the bytes read.
///
/// # Errors
/// The first error in file order; [`DataError::Memory`] for a record longer than the memory allows.
pub(crate) fn each_piece<T: Send>(
    source: &Source,
    records: &dyn Records,
    memory: u64,
    work: impl Fn(Piece<'_>) -> Result<T, DataError> + Sync,
    mut gather: impl FnMut(Vec<T>) -> Result<(), DataError>,
) -> Result<u64, DataError> {
    let mut reader = source.reader()?;
    // Asked here, as the reading thread is outside the caller's thread pool.
    let (size, mut carry) = (wave_bytes(), Vec::new());
    let mut waves =
        std::iter::from_fn(move || read_wave(source, &mut *reader, records, size, memory, &mut carry).transpose());
    let mut parse = |waves: &mut dyn Iterator<Item = Result<Vec<u8>, DataError>>| {
        let (mut line, mut bytes) = (1, 0);
        for wave in waves {
            let wave = wave?;
            let pieces = cut(&wave, records, &mut line);
            // Collected before searching for errors, so that the first one in the file is the one
            // reported.
            let results: Vec<Result<T, DataError>> = pieces.into_par_iter().map(&work).collect();
            gather(results.into_iter().collect::<Result<_, _>>()?)?;
            bytes += wave.len() as u64;
        }
        Ok(bytes)
    };
    // A page has one thread.
    if cfg!(target_family = "wasm") {
        return parse(&mut waves);
    }
    let (send, received) = mpsc::sync_channel(0);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for wave in waves {
                let stop = wave.is_err();
                if send.send(wave).is_err() || stop {
                    return;
                }
            }
        });
        parse(&mut received.into_iter())
    })
}

/// The next wave of whole records; what follows them goes to `carry`.
fn read_wave(
    source: &Source,
    reader: &mut dyn Read,
    records: &dyn Records,
    wave_bytes: usize,
    memory: u64,
    carry: &mut Vec<u8>,
) -> Result<Option<Vec<u8>>, DataError> {
    let mut wave = std::mem::take(carry);
    let mut want = wave_bytes;
    loop {
        let missing = want.saturating_sub(wave.len()) as u64;
        wave.reserve_exact(missing as usize);
        let got = reader.take(missing).read_to_end(&mut wave).map_err(|e| source.read_error(e))?;
        if (got as u64) < missing {
            return Ok((!wave.is_empty()).then_some(wave));
        }
        let whole = records.whole(&wave);
        if whole > 0 {
            carry.extend_from_slice(&wave[whole..]);
            wave.truncate(whole);
            return Ok(Some(wave));
        }
        // One record longer than the wave.
        want *= 2;
        check_memory(&source.name, "a single line", 2 * want as u64, memory)?;
    }
}

/// Cuts a wave into pieces; `line` goes on to the next wave.
fn cut<'a>(wave: &'a [u8], records: &dyn Records, line: &mut u64) -> Vec<Piece<'a>> {
    let mut pieces = Vec::with_capacity(wave.len() / PIECE + 1);
    let mut start = 0;
    while start < wave.len() {
        let end = if wave.len() - start <= PIECE { wave.len() } else { records.next_end(wave, start, start + PIECE) };
        let text = &wave[start..end];
        pieces.push(Piece { text, line: *line });
        *line += memchr_iter(b'\n', text).count() as u64;
        start = end;
    }
    pieces
}

/// Text of a cell or token for a message: at most 40 characters, bad bytes replaced.
pub(crate) fn shown(cell: &[u8]) -> String {
    let text = String::from_utf8_lossy(&cell[..cell.len().min(160)]);
    if text.chars().count() <= 40 { text.into_owned() } else { text.chars().take(37).chain("...".chars()).collect() }
}

/// The error of a file that is not what it was in an earlier pass.
pub(crate) fn changed(file: &str) -> DataError {
    DataError::Damaged { file: file.into(), what: "it changed while it was read".into() }
}

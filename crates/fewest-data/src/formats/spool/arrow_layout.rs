//! The layout of an Arrow file, checked before it is decoded: that all its parts lie in the file, and
//! all buffers in their parts. The decoder takes that for granted.
//!
//! Layout   "ARROW1" | two zeros | messages, each with its body | footer (a flatbuffer) |
//!          bytes of the footer, i32 | "ARROW1"

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use arrow_ipc::{Block, RecordBatch, root_as_footer, root_as_message};

/// Bytes before the first message, and those behind the footer.
const AROUND: (u64, u64) = (8, 10);

/// Bytes that a byte of a compressed buffer may hold: more is no data that anyone has.
const MOST_PACKED: i64 = 10_000;

/// The bytes of the file when unpacked, about.
///
/// # Errors
/// What is wrong with the layout.
pub(super) fn check(input: &mut File) -> Result<u64, String> {
    let bytes = input.metadata().map_err(text)?.len();
    if bytes < AROUND.0 + AROUND.1 {
        return Err("it is too short".to_owned());
    }
    let mut end = [0; 10];
    input.seek(SeekFrom::End(-10)).and_then(|_| input.read_exact(&mut end)).map_err(text)?;
    let length = i32::from_le_bytes([end[0], end[1], end[2], end[3]]);
    let length = u64::try_from(length).map_err(text)?;
    if !end.ends_with(b"ARROW1") || length > bytes - AROUND.0 - AROUND.1 {
        return Err("it has no footer".to_owned());
    }
    let body = bytes - AROUND.1 - length;
    let footer = part(input, body, length)?;
    let footer = root_as_footer(&footer).map_err(text)?;
    let blocks = footer.dictionaries().into_iter().flatten().chain(footer.recordBatches().into_iter().flatten());
    let mut unpacked = 0u64;
    for block in blocks {
        unpacked = unpacked.saturating_add(check_block(input, *block, body)?);
    }
    Ok(unpacked)
}

/// The text of an error.
#[expect(clippy::needless_pass_by_value, reason = "it is handed to `map_err`")]
fn text(error: impl ToString) -> String {
    error.to_string()
}

fn part(input: &mut File, at: u64, length: u64) -> Result<Vec<u8>, String> {
    let mut bytes = vec![0; length as usize];
    let read: io::Result<()> = input.seek(SeekFrom::Start(at)).and_then(|_| input.read_exact(&mut bytes));
    read.map(|()| bytes).map_err(text)
}

/// Checks a message with its body, which end before `end`; the bytes of the body when unpacked.
fn check_block(input: &mut File, block: Block, end: u64) -> Result<u64, String> {
    let place = |value: i64| u64::try_from(value).map_err(text);
    let (at, head, body) = (place(block.offset())?, place(block.metaDataLength().into())?, place(block.bodyLength())?);
    let fits = at.checked_add(head).and_then(|to| to.checked_add(body)).is_some_and(|to| to <= end);
    if !fits || head < 8 || head % 8 != 0 {
        return Err("a part lies outside of it".to_owned());
    }
    let message = part(input, at, head)?;
    let start = if message.starts_with(&[0xff; 4]) { 8 } else { 4 };
    let message = root_as_message(&message[start..]).map_err(text)?;
    let batch = match (message.header_as_record_batch(), message.header_as_dictionary_batch()) {
        (Some(batch), _) => batch,
        (None, Some(dictionary)) => dictionary.data().ok_or("a dictionary has no values")?,
        (None, None) => return Err("a part is no table".to_owned()),
    };
    check_batch(input, &batch, at + head, body)
}

/// Checks the buffers of a table whose body is at `at`.
fn check_batch(input: &mut File, batch: &RecordBatch<'_>, at: u64, body: u64) -> Result<u64, String> {
    let packed = batch.compression().is_some();
    let rows = batch.length();
    let counts = batch.nodes().into_iter().flatten();
    for node in counts {
        // A byte holds eight values at most; a column of nothing but missing values has no bytes.
        if node.length() < 0 || node.null_count() < 0 || node.null_count() > node.length() {
            return Err("a column has a length below 0".to_owned());
        }
    }
    if rows < 0 || rows as u64 > body.saturating_mul(8 * MOST_PACKED as u64) {
        return Err("it has more rows than bytes".to_owned());
    }
    let mut unpacked = 0u64;
    for buffer in batch.buffers().into_iter().flatten() {
        let (Ok(from), Ok(length)) = (u64::try_from(buffer.offset()), u64::try_from(buffer.length())) else {
            return Err("a buffer has a place below 0".to_owned());
        };
        // As the format demands; the values are read in place.
        if from % 8 != 0 || from.checked_add(length).is_none_or(|to| to > body) {
            return Err("a buffer lies outside of its part".to_owned());
        }
        unpacked = unpacked.saturating_add(length);
        if packed && length >= 8 {
            let head = part(input, at + from, 8)?;
            let says = i64::from_le_bytes(head.try_into().map_err(|_| "a buffer is cut short")?);
            // -1: this buffer is not compressed.
            if says > (length as i64).saturating_mul(MOST_PACKED) || says < -1 {
                return Err(format!("a buffer of {length} bytes says that it holds {says}"));
            }
            unpacked = unpacked.saturating_add(says.max(0) as u64);
        }
    }
    Ok(unpacked)
}

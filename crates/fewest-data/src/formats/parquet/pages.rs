//! What a parquet file says about its own sizes, checked before the `parquet` crate allocates by
//! it.
//!
//! That crate trusts the counts of lists in the footer, the uncompressed size of a page and the
//! number of values of a dictionary, and panics where a dictionary is missing. Here the footer and
//! the page headers (Thrift compact protocol) are walked first. An error is the text of a
//! [`crate::DataError::Damaged`].

use std::io::Read;

use ::parquet::basic::{Compression, Type as Physical};
use ::parquet::file::metadata::ColumnChunkMetaData;
use ::parquet::file::reader::ChunkReader;

use super::thrift::{BOOL, Compact, I32, STRUCT, text};

/// Bytes that one compressed byte of snappy holds at most: a copy of 64 bytes takes three.
const SNAPPY: u64 = 22;
/// Bytes that one compressed byte of Zstandard holds at most: a block of 128 KiB takes four.
const ZSTD: u64 = 1 << 15;
/// Bytes that one compressed byte of LZ4 holds at most: a length grows by 255 with each byte.
const LZ4: u64 = 255;
/// Bytes that one compressed byte of deflate holds at most.
const GZIP: u64 = 1032;
/// Bytes at the start of compressed data that tell the uncompressed size.
const SIZE_BYTES: u64 = 18;
/// Bytes of a decoded dictionary value.
const DICTIONARY_VALUE: u64 = 32;

/// The struct of a page header in the fields of [`Header`], then of those in it.
const TOP: usize = 0;
const DATA: usize = 5;
const INDEX: usize = 6;
const DICTIONARY: usize = 7;
const DATA_V2: usize = 8;

/// Types of the fields of a struct, the first has number 1. Other fields are skipped.
fn kinds(of: usize) -> &'static [u8] {
    match of {
        TOP => &[I32, I32, I32, I32, STRUCT, STRUCT, STRUCT, STRUCT],
        DATA => &[I32; 4],
        DICTIONARY => &[I32, I32, BOOL],
        DATA_V2 => &[I32, I32, I32, I32, I32, I32, BOOL],
        _ => &[],
    }
}

/// Every list and text of the footer fits into it. A file without a footer is left to the decoder.
pub(crate) fn check_footer(file: &impl ChunkReader) -> Result<(), String> {
    let mut tail = [0; 8];
    let Some(end) = file.len().checked_sub(8) else { return Ok(()) };
    file.get_read(end).map_err(text)?.read_exact(&mut tail).map_err(text)?;
    let length = u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]));
    let Some(start) = end.checked_sub(length).filter(|_| tail.ends_with(b"PAR1")) else { return Ok(()) };
    let input = file.get_read(start).map_err(text)?;
    Compact { input, left: length }.skip(STRUCT).map_err(|what| format!("the footer {what}"))
}

/// Checks every page of a column chunk of a row group of `rows` rows. Returns the most bytes that
/// decoding takes at once, to be held against the memory limit.
pub(crate) fn check_chunk(file: &impl ChunkReader, chunk: &ColumnChunkMetaData, rows: i64) -> Result<u64, String> {
    let start = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
    let range = u64::try_from(start).ok().zip(u64::try_from(chunk.compressed_size()).ok());
    let range = range.and_then(|(start, length)| Some((start, start.checked_add(length)?)));
    let Some((mut at, end)) = range.filter(|(_, end)| *end <= file.len()) else {
        return Err(format!("{} bytes at {start} do not lie in the file", chunk.compressed_size()));
    };
    let (mut left, mut dictionary, mut most) = (rows.max(0) as u64, 0, 0);
    while at < end {
        let here = |what: String| format!("the page at byte {at} {what}");
        let mut compact = Compact { input: file.get_read(at).map_err(text)?, left: end - at };
        let header = Header::read(&mut compact).map_err(here)?;
        let page = Page::new(&header, compact.left).map_err(here)?;
        let data = end - compact.left;
        if page.kind != INDEX {
            let values = header.size(page.kind, 1).map_err(here)?;
            let bytes = page.check_size(file, data, chunk.compression()).map_err(here)?;
            if page.kind == DICTIONARY {
                check_dictionary(chunk.column_type(), values, bytes).map_err(here)?;
                dictionary = bytes + DICTIONARY_VALUE * values;
            } else {
                let encoding = header.size(page.kind, if page.kind == DATA { 2 } else { 4 }).map_err(here)?;
                if matches!(encoding, 2 | 8) && dictionary == 0 {
                    return Err(here("needs a dictionary, but none comes before it".into()));
                }
                left = left.checked_sub(values).ok_or_else(|| {
                    here(format!("says {values} values, more than the {rows} rows of its row group leave"))
                })?;
            }
            // The buffer of the decoder and, with Zstandard, one more.
            most = most.max(dictionary.saturating_add(page.peak(bytes, chunk.compression()).saturating_mul(2)));
        }
        at = data + page.packed;
    }
    Ok(most)
}

/// A dictionary of `values` values fits into its bytes.
fn check_dictionary(physical: Physical, values: u64, bytes: u64) -> Result<(), String> {
    let fits = match physical {
        Physical::BOOLEAN => values.div_ceil(8),
        Physical::INT64 | Physical::DOUBLE => 8 * values,
        _ => 4 * values,
    };
    if fits <= bytes { Ok(()) } else { Err(format!("says {values} dictionary values in {bytes} bytes")) }
}

/// A page whose compressed bytes lie in its chunk.
struct Page {
    /// `DATA`, `INDEX`, `DICTIONARY` or `DATA_V2`.
    kind: usize,
    size: u64,
    packed: u64,
    /// Bytes before the compressed ones.
    levels: u64,
    compressed: bool,
}

impl Page {
    fn new(header: &Header, left: u64) -> Result<Self, String> {
        let kind = match header.size(TOP, 1)? {
            0 => DATA,
            1 => INDEX,
            2 => DICTIONARY,
            3 => DATA_V2,
            other => return Err(format!("has the unknown type {other}")),
        };
        let stray = [DATA, DICTIONARY, DATA_V2].into_iter().any(|k| header.present[k] != (k == kind));
        if stray && kind != INDEX {
            return Err("has the header of another type of page".into());
        }
        let (size, packed) = (header.size(TOP, 2)?, header.size(TOP, 3)?);
        if packed > left {
            return Err(format!("says {packed} bytes, but its column ends after {left}"));
        }
        let (mut levels, mut compressed) = (0, true);
        if kind == DATA_V2 {
            levels = header.size(DATA_V2, 5)? + header.size(DATA_V2, 6)?;
            compressed = header.fields[DATA_V2][7] != Some(0);
            if levels > size.min(packed) {
                return Err(format!("says {levels} bytes of levels, more than it has"));
            }
        }
        Ok(Self { kind, size, packed, levels, compressed })
    }

    /// The uncompressed bytes, after a check that the compressed ones at `data` can hold them.
    fn check_size(&self, file: &impl ChunkReader, data: u64, codec: Compression) -> Result<u64, String> {
        let (size, packed) = (self.size - self.levels, self.packed - self.levels);
        let Some(most) = most_from_one(codec).filter(|_| self.compressed) else { return Ok(self.packed) };
        if size == 0 {
            return Ok(self.levels);
        }
        let said = size_in_data(file, data + self.levels, packed, size, codec)?;
        if said.is_some_and(|said| said != size) || size > most.saturating_mul(packed) {
            let said = said.map_or(String::new(), |said| format!(", and {said} in its compressed data"));
            return Err(format!("says {size} bytes uncompressed from {packed}{said}"));
        }
        Ok(self.size)
    }

    /// Most bytes that the decoder takes for a page of `bytes` uncompressed ones.
    fn peak(&self, bytes: u64, codec: Compression) -> u64 {
        match codec {
            // Where the data are not in Hadoop's frames, the decoder tries LZ4's own frames, which
            // it does not limit.
            Compression::LZ4 => bytes.max(LZ4.saturating_mul(self.packed)),
            _ => bytes,
        }
    }
}

/// Bytes that one compressed byte holds at most; `None` where nothing is compressed.
fn most_from_one(codec: Compression) -> Option<u64> {
    match codec {
        Compression::SNAPPY => Some(SNAPPY),
        Compression::ZSTD(_) => Some(ZSTD),
        Compression::GZIP(_) => Some(GZIP),
        Compression::LZ4 | Compression::LZ4_RAW => Some(LZ4),
        _ => None,
    }
}

/// The uncompressed size of `packed` bytes at `at` by these bytes themselves, where they tell.
/// Gzip's own number may lie, so the bytes are counted, up to one beyond the expected `size`.
fn size_in_data(
    file: &impl ChunkReader,
    at: u64,
    packed: u64,
    size: u64,
    codec: Compression,
) -> Result<Option<u64>, String> {
    let input = file.get_read(at).map_err(text)?.take(packed);
    if let Compression::GZIP(_) = codec {
        let mut unpacked = flate2::read::MultiGzDecoder::new(input).take(size + 1);
        return std::io::copy(&mut unpacked, &mut std::io::sink()).map(Some).map_err(text);
    }
    let mut start = Vec::new();
    input.take(SIZE_BYTES).read_to_end(&mut start).map_err(text)?;
    match codec {
        Compression::SNAPPY => Compact { left: start.len() as u64, input: &start[..] }.varint().map(Some),
        Compression::ZSTD(_) => {
            zstd::zstd_safe::get_frame_content_size(&start).map_err(|_| "is not Zstandard".to_owned())
        }
        _ => Ok(None),
    }
}

/// A page header.
#[derive(Default)]
struct Header {
    /// Numbers by struct and field number; truth as 1 and 0.
    fields: [[Option<i64>; 9]; 9],
    present: [bool; 9],
}

impl Header {
    fn read(input: &mut Compact<impl Read>) -> Result<Self, String> {
        let mut header = Self::default();
        header.read_struct(input, TOP)?;
        Ok(header)
    }

    fn read_struct(&mut self, input: &mut Compact<impl Read>, of: usize) -> Result<(), String> {
        self.fields[of] = [None; 9];
        self.present[of] = true;
        let mut last = 0;
        while let Some((id, kind)) = input.field(last)? {
            last = id;
            let id = usize::try_from(id).unwrap_or(0);
            let expected = id.checked_sub(1).and_then(|i| kinds(of).get(i)).copied();
            match expected {
                None => input.skip(kind)?,
                Some(BOOL) if kind == 1 || kind == 2 => self.fields[of][id] = Some(i64::from(kind == 1)),
                Some(I32) if kind == I32 => self.fields[of][id] = Some(input.zigzag()?),
                Some(STRUCT) if kind == STRUCT => self.read_struct(input, id)?,
                Some(_) => return Err(format!("has a header with field {id} of type {kind}")),
            }
        }
        Ok(())
    }

    /// A count that must be there.
    fn size(&self, of: usize, field: usize) -> Result<u64, String> {
        let found = self.fields[of][field].ok_or_else(|| format!("has a header without field {field}"))?;
        i32::try_from(found).ok().and_then(|x| u64::try_from(x).ok()).ok_or_else(|| format!("says a size of {found}"))
    }
}

//! Binary formats.

use std::io::{Cursor, Write as _};
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, GzipLevel, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{BoolType, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use super::Dice;

/// Types of NumPy and the bytes of an item.
const ITEMS: [(&str, usize); 16] = [
    ("<f8", 8),
    ("<f8", 8),
    (">f8", 8),
    ("<f4", 4),
    ("<f2", 2),
    (">f2", 2),
    ("<i8", 8),
    ("|i1", 1),
    ("<u2", 2),
    ("|b1", 1),
    ("<U3", 12),
    ("|S2", 2),
    ("<c16", 16),
    ("|O", 8),
    ("<U0", 0),
    ("<f16", 16),
];

/// An archive of a dense or sparse matrix and a target.
pub(crate) fn npz(dice: &mut Dice) -> Vec<u8> {
    let (n, p) = (dice.below(6), dice.below(5));
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    if dice.once_in(2) {
        array(dice, &mut zip, "X", &[n, p], |dice| dice.word() as f64 / 1e18);
    } else {
        let rows: Vec<usize> = (0..n).map(|_| dice.below(p + 1)).collect();
        let stored: usize = rows.iter().sum();
        let form = if dice.wrong_in(4) { dice.pick(&["csc", "coo"]) } else { "csr" };
        put(dice, &mut zip, "format", "|S3", &[], form.as_bytes());
        let mut starts = vec![0.0];
        for count in &rows {
            starts.push(starts[starts.len() - 1] + *count as f64);
        }
        let mut at = 0;
        array(dice, &mut zip, "indptr", &[n + 1], |dice| {
            at += 1;
            if dice.wrong_in(100) { -1.0 } else { starts.get(at - 1).copied().unwrap_or(1e300) }
        });
        array(dice, &mut zip, "indices", &[stored], |dice| dice.count(0) as f64);
        array(dice, &mut zip, "data", &[stored], |dice| dice.below(3) as f64);
        let shape = [dice.count(n), dice.count(p)].map(|d| d as i64);
        put(dice, &mut zip, "shape", "<i8", &[2], &shape.map(i64::to_le_bytes).concat());
    }
    array(dice, &mut zip, "y", &[n], |dice| dice.below(2) as f64);
    if dice.once_in(4) {
        let names: Vec<u8> = (0..3 * p).flat_map(|_| u32::from(dice.pick(b"abc\0")).to_le_bytes()).collect();
        put(dice, &mut zip, "names", "<U3", &[p], &names);
    }
    zip.finish().expect("finish").into_inner()
}

type Zip = zip::ZipWriter<Cursor<Vec<u8>>>;

/// An array of numbers, nearly always as doubles.
fn array(dice: &mut Dice, zip: &mut Zip, key: &str, shape: &[usize], mut value: impl FnMut(&mut Dice) -> f64) {
    let count = shape.iter().product::<usize>();
    let (kind, width) = if dice.wrong_in(5) { dice.pick(&ITEMS) } else { ITEMS[0] };
    let bytes: Vec<u8> = if (kind, width) == ITEMS[0] {
        (0..count).flat_map(|_| value(dice).to_le_bytes()).collect()
    } else {
        (0..count * width).map(|_| if dice.once_in(3) { dice.word() as u8 } else { 0 }).collect()
    };
    put(dice, zip, key, kind, shape, &bytes);
}

/// An entry; seldom its header says something else, or bytes are missing.
fn put(dice: &mut Dice, zip: &mut Zip, key: &str, kind: &str, shape: &[usize], bytes: &[u8]) {
    let method = dice.pick(&[zip::CompressionMethod::Stored, zip::CompressionMethod::Deflated]);
    let options = zip::write::SimpleFileOptions::default().compression_method(method);
    zip.start_file(format!("{key}.npy"), options).expect("entry");
    let shape: Vec<String> = shape.iter().map(|&d| dice.count(d).to_string()).collect();
    let order = dice.pick(&["False", "True"]);
    let mut header = format!("{{'descr': '{kind}', 'fortran_order': {order}, 'shape': ({},), }}", shape.join(", "));
    if shape.is_empty() {
        header = header.replace("(,)", "()");
    }
    let length = dice.count(header.len());
    zip.write_all(b"\x93NUMPY\x01\x00").expect("write");
    zip.write_all(&(length as u16).to_le_bytes()).expect("write");
    zip.write_all(header.as_bytes()).expect("write");
    zip.write_all(&bytes[..bytes.len() - usize::from(dice.wrong_in(60)).min(bytes.len())]).expect("write");
}

/// A file in which some words are others: counts that are wrong, or what stands elsewhere in it, such
/// as the place of another part.
pub(crate) fn words(dice: &mut Dice, right: &[u8]) -> Vec<u8> {
    let mut bytes = right.to_vec();
    if dice.right {
        return bytes;
    }
    for _ in 0..=dice.below(4) {
        let width = dice.pick(&[1, 2, 4, 8, 8]);
        let place = |dice: &mut Dice| dice.below(right.len() / width) * width;
        let to = place(dice);
        let word: Vec<u8> = if dice.once_in(3) {
            let from = place(dice);
            right[from..from + width].to_vec()
        } else {
            let mut old = [0; 8];
            old[..width].copy_from_slice(&right[to..to + width]);
            let old = u64::from_le_bytes(old) as usize;
            let wrong =
                [0, 1, old as u64 ^ 1, (old as u64 % 1009) * 2, 0xffff_ffff, u64::MAX, 8 * dice.below(4096) as u64];
            dice.pick(&wrong).to_le_bytes()[..width].to_vec()
        };
        bytes[to..to + width].copy_from_slice(&word);
    }
    bytes
}

/// A table of some columns, whose page headers, levels and footer are then changed here and there.
pub(crate) fn parquet(dice: &mut Dice) -> Vec<u8> {
    let codec = dice.pick(&[
        Compression::UNCOMPRESSED,
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::ZSTD(ZstdLevel::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
    ]);
    let columns: Vec<(Physical, bool)> = (0..=dice.below(4)).map(|_| (dice.pick(&KINDS), dice.once_in(3))).collect();
    let mut properties = WriterProperties::builder()
        .set_compression(codec)
        .set_writer_version(dice.pick(&[WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0]))
        .set_dictionary_enabled(dice.once_in(2))
        .set_data_page_row_count_limit(1 + dice.below(40))
        .set_write_batch_size(8);
    for (j, (kind, _)) in columns.iter().enumerate() {
        if !dice.once_in(3) {
            continue;
        }
        let encodings = match kind {
            Physical::INT32 | Physical::INT64 => [Encoding::DELTA_BINARY_PACKED, Encoding::BYTE_STREAM_SPLIT],
            Physical::BYTE_ARRAY => [Encoding::DELTA_BYTE_ARRAY, Encoding::DELTA_LENGTH_BYTE_ARRAY],
            Physical::BOOLEAN => [Encoding::PLAIN, Encoding::RLE],
            _ => [Encoding::PLAIN, Encoding::BYTE_STREAM_SPLIT],
        };
        properties = properties.set_column_encoding(name(&columns, j).into(), dice.pick(&encodings));
    }
    let file = written(dice, &columns, properties.build()).expect("a good file");
    if dice.right { file } else { changed(dice, file) }
}

/// Names as in other files, the target last.
fn name(columns: &[(Physical, bool)], j: usize) -> String {
    if j + 1 == columns.len() { "y".to_owned() } else { format!("f{j}") }
}

const KINDS: [Physical; 6] =
    [Physical::DOUBLE, Physical::FLOAT, Physical::INT32, Physical::INT64, Physical::BOOLEAN, Physical::BYTE_ARRAY];

fn written(
    dice: &mut Dice,
    columns: &[(Physical, bool)],
    properties: WriterProperties,
) -> Result<Vec<u8>, parquet::errors::ParquetError> {
    let field = |(j, &(kind, optional)): (usize, &(Physical, bool))| {
        let repetition = if optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        Type::primitive_type_builder(&name(columns, j), kind).with_repetition(repetition).build().map(Arc::new)
    };
    let fields = columns.iter().enumerate().map(field).collect::<Result<Vec<_>, _>>()?;
    let schema = Type::group_type_builder("schema").with_fields(fields).build()?;
    let mut file = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut file, Arc::new(schema), Arc::new(properties))?;
    for _ in 0..=dice.below(2) {
        let n = dice.below(100);
        let mut group = writer.next_row_group()?;
        for &(kind, optional) in columns {
            let levels: Option<Vec<i16>> = optional.then(|| (0..n).map(|_| i16::from(!dice.once_in(9))).collect());
            let count = levels.as_ref().map_or(n, |l| l.iter().filter(|&&level| level > 0).count());
            let numbers: Vec<i32> = (0..count).map(|_| dice.below(4) as i32).collect();
            let levels = levels.as_deref();
            match kind {
                Physical::DOUBLE => put_column::<DoubleType>(&mut group, &numbers, f64::from, levels),
                Physical::FLOAT => put_column::<FloatType>(&mut group, &numbers, |x| x as f32, levels),
                Physical::INT32 => put_column::<Int32Type>(&mut group, &numbers, |x| x, levels),
                Physical::INT64 => put_column::<Int64Type>(&mut group, &numbers, i64::from, levels),
                Physical::BOOLEAN => put_column::<BoolType>(&mut group, &numbers, |x| x > 1, levels),
                _ => put_column::<ByteArrayType>(
                    &mut group,
                    &numbers,
                    |x| ["u", "v", "", "w"][x as usize].into(),
                    levels,
                ),
            }?;
        }
        group.close()?;
    }
    writer.close()?;
    Ok(file)
}

fn put_column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, &mut Vec<u8>>,
    numbers: &[i32],
    value: impl Fn(i32) -> T::T,
    levels: Option<&[i16]>,
) -> Result<(), parquet::errors::ParquetError> {
    let values: Vec<T::T> = numbers.iter().map(|&x| value(x)).collect();
    let mut column = group.next_column()?.expect("a column");
    column.typed::<T>().write_batch(&values, levels, None)?;
    column.close()
}

/// Changes bytes where the structure is: at the begin of column chunks and in the footer.
fn changed(dice: &mut Dice, mut file: Vec<u8>) -> Vec<u8> {
    let reader = SerializedFileReader::new(bytes::Bytes::from(file.clone())).expect("a good file");
    let groups = reader.metadata().row_groups().iter();
    let chunks: Vec<(u64, u64)> =
        groups.flat_map(|g| g.columns().iter().map(ColumnChunkMetaData::byte_range)).collect();
    let length = file.len();
    let footer = u32::from_le_bytes(*file[length - 8..].first_chunk().expect("four bytes")) as usize + 4;
    for _ in 0..dice.below(4) {
        let (start, size) = match chunks.get(dice.below(chunks.len() + 1)) {
            Some(&(start, size)) => {
                (start as usize, (size as usize).min(if dice.once_in(2) { 40 } else { usize::MAX }))
            }
            None => (length - 4 - footer, footer),
        };
        if size > 0 {
            let at = start + dice.below(size);
            file[at] = match dice.below(3) {
                0 => file[at] ^ (1 << dice.below(8)),
                1 => file[at].wrapping_add(2),
                _ => dice.pick(&[0, 1, 0x15, 0x7f, 0x80, 0xff]),
            };
        }
    }
    file
}

/// A column file of a good one: sections and header are changed, and the checksums made right
/// again.
pub(crate) fn csc(dice: &mut Dice, good: &[u8]) -> Vec<u8> {
    let mut file = good.to_vec();
    let number = |file: &[u8], at: usize| u64::from_le_bytes(*file[at..].first_chunk().expect("eight bytes")) as usize;
    let [n, p, stored, text] = [16, 24, 32, 40].map(|at| number(&file, at));
    let labelled = if file[12] == 0 { 0 } else { n };
    let sizes = [8 * (p + 1), 4 * stored, 8 * stored, 4 * labelled, text];
    let mut at = 128;
    let sections = sizes.map(|size| {
        let section = at..at + size;
        at = (at + size).next_multiple_of(64);
        section
    });
    for _ in 0..dice.below(4) {
        if dice.once_in(3) {
            let (place, width) = dice.pick(&[(12, 4), (16, 8), (24, 8), (32, 8), (40, 8), (48, 4)]);
            let right = u64::from_le_bytes(*file[place..].first_chunk().expect("eight bytes"));
            let wrong = dice.count(right as usize).to_le_bytes();
            file[place..place + width].copy_from_slice(&wrong[..width]);
        } else if let Some(place) = sections[dice.below(5)].clone().nth(dice.below(200)).filter(|&i| i < file.len()) {
            file[place] = if dice.once_in(2) { file[place] ^ (1 << dice.below(8)) } else { dice.word() as u8 };
        }
    }
    for (at, section) in sections.into_iter().enumerate().filter(|(_, s)| s.end <= good.len()) {
        let sum = crc32fast::hash(&file[section]).to_le_bytes();
        file[52 + 4 * at..56 + 4 * at].copy_from_slice(&sum);
    }
    let sum = crc32fast::hash(&file[..124]).to_le_bytes();
    file[124..128].copy_from_slice(&sum);
    file
}

//! Small files that unpack to far more than they are: what is taken stays within the limit of
//! memory.

use std::io::{Cursor, Write as _};
use std::sync::Arc;

use fewest_data::{DataError, Dataset, Format, ReadOptions};
use parquet::basic::{Compression, Encoding, GzipLevel, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use crate::common::{Case, holds};
use crate::{alone, peak_of};

const LIMIT: usize = 32 << 20;

/// Reads within the limit; whatever comes of it, the peak stays below.
fn read(name: &str, bytes: &[u8], options: ReadOptions) -> Result<Dataset, DataError> {
    let case = Case::new(name, bytes);
    let options = ReadOptions { memory_limit: Some(LIMIT as u64), ..options };
    let (result, peak) = peak_of(|| case.read_with(&options));
    assert!(peak <= LIMIT, "{name}: a peak of {peak} bytes, {LIMIT} are allowed");
    result
}

fn refused(name: &str, bytes: &[u8], options: ReadOptions, parts: &[&str]) {
    assert!(bytes.len() < LIMIT / 8, "the file is small: {}", bytes.len());
    let error = read(name, bytes, options).expect_err("a bomb");
    assert!(matches!(error, DataError::Memory { .. }), "{error}");
    holds(&error.to_string(), parts);
}

#[test]
fn gzip() {
    let _alone = alone();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(b"a,y\n").expect("write");
    encoder.write_all(&vec![b'1'; 256 << 20]).expect("write");
    let bomb = encoder.finish().expect("finish");
    refused("a.csv.gz", &bomb, ReadOptions::default(), &["a single line", "`memory"]);
    for format in [Format::Svmlight, Format::Arff, Format::Parquet, Format::Npz, Format::H5ad, Format::Mtx] {
        let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
        read("a.csv.gz", &bomb, options).expect_err("a bomb");
    }
}

/// A file of a feature `x` and a text `y`, both with `n` rows.
fn parquet(properties: WriterProperties, n: usize, text: impl Fn(usize) -> ByteArray) -> Vec<u8> {
    let field = |name: &str, kind| {
        Arc::new(
            Type::primitive_type_builder(name, kind).with_repetition(Repetition::REQUIRED).build().expect("a type"),
        )
    };
    let fields = vec![field("x", Physical::DOUBLE), field("y", Physical::BYTE_ARRAY)];
    let schema = Type::group_type_builder("schema").with_fields(fields).build().expect("a schema");
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, Arc::new(schema), Arc::new(properties)).expect("a writer");
    let mut group = writer.next_row_group().expect("a group");
    let mut column = group.next_column().expect("fine").expect("x");
    let values: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i % 3 == 0))).collect();
    column.typed::<DoubleType>().write_batch(&values, None, None).expect("write");
    column.close().expect("close");
    let mut column = group.next_column().expect("fine").expect("y");
    for from in (0..n).step_by(1000) {
        let values: Vec<ByteArray> = (from..n.min(from + 1000)).map(&text).collect();
        column.typed::<ByteArrayType>().write_batch(&values, None, None).expect("write");
    }
    column.close().expect("close");
    group.close().expect("close");
    writer.close().expect("close");
    bytes
}

/// Two texts of 100 kB in a dictionary, and 10 000 rows: 1 GB when each row has its text.
#[test]
fn parquet_texts_of_a_dictionary() {
    let _alone = alone();
    let texts: Vec<ByteArray> = [b'u', b'v'].map(|b| vec![b; 100_000].into()).into();
    let properties = WriterProperties::builder().set_dictionary_enabled(true).set_compression(Compression::SNAPPY);
    let bomb = parquet(properties.build(), 10_000, |i| texts[i % 2].clone());
    let data = read("a.parquet", &bomb, ReadOptions::default()).expect("two classes need no more");
    assert_eq!(data.target.expect("a target").counts(), [5_000, 5_000]);
    let apart = ReadOptions { apart: vec!["y".into()], target: Some("x".into()), ..ReadOptions::default() };
    let apart = ReadOptions { target_optional: true, features: Some(Vec::new()), ..apart };
    refused("a.parquet", &bomb, apart, &["column `y` as text", "`memory"]);
}

/// Texts that begin as the one before, of which only the difference is stored: 2 000 of 100 kB.
#[test]
fn parquet_texts_by_their_differences() {
    let _alone = alone();
    let text = |i: usize| -> ByteArray { [vec![b'u'; 100_000], i.to_string().into_bytes()].concat().into() };
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::DELTA_BYTE_ARRAY)
        .set_column_encoding("x".into(), Encoding::PLAIN)
        .set_data_page_size_limit(1 << 30);
    let few = parquet(properties.clone().build(), 2_000, |i| text(i % 2));
    assert_eq!(
        read("a.parquet", &few, ReadOptions::default()).expect("read").target.expect("a target").classes.len(),
        2
    );
    refused(
        "a.parquet",
        &parquet(properties.build(), 2_000, text),
        ReadOptions::default(),
        &["the values of column `y`"],
    );
}

/// Zeros in a gzip page.
#[test]
fn parquet_page_of_gzip() {
    let _alone = alone();
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_compression(Compression::GZIP(GzipLevel::default()))
        .set_data_page_size_limit(1 << 30)
        .set_data_page_row_count_limit(1 << 30);
    let bomb = parquet(properties.build(), 3_000_000, |i| [b"u".as_slice(), b"v"][i % 2].into());
    refused("a.parquet", &bomb, ReadOptions::default(), &["a page of column `x`", "`memory"]);
}

#[test]
fn npz_texts() {
    let _alone = alone();
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let mut put = |key: &str, kind: &str, shape: &str, bytes: &[u8]| {
        zip.start_file(format!("{key}.npy"), zip::write::SimpleFileOptions::default()).expect("entry");
        let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
        zip.write_all(b"\x93NUMPY\x01\x00").expect("write");
        zip.write_all(&(header.len() as u16).to_le_bytes()).expect("write");
        zip.write_all(header.as_bytes()).expect("write");
        zip.write_all(bytes).expect("write");
    };
    put("X", "<f8", "(1000, 1)", &[0; 8000]);
    put("y", "|S65536", "(1000,)", &vec![b'u'; 65_536_000]);
    let bomb = zip.finish().expect("finish").into_inner();
    refused("a.npz", &bomb, ReadOptions::default(), &["array y as text", "`memory"]);
}

/// Files of cells as programs write them, read and made into column files with little memory: it is
/// kept to, or the file is refused by that.
#[cfg(feature = "hdf5")]
#[test]
fn files_of_cells() {
    let _alone = alone();
    let files = [
        ("cells/ifnb13.h5ad", 64),
        ("cells/zilionis4.h5ad", 32),
        ("cells/pbmc68k_reduced.h5ad", 16),
        ("cells/starmap_mpfc16.loom", 16),
        ("forms/10x_v3.h5", 16),
        ("forms/10x_mtx_v3/matrix.mtx.gz", 16),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("a.csc");
    for (name, whole) in files {
        let Some(path) = fewest_testing::data_file(name) else { return };
        let path = path.to_str().expect("UTF-8");
        for mib in [16, 32, 64, 128] {
            let options = ReadOptions {
                memory_limit: Some((mib as u64) << 20),
                target_optional: true,
                unique_names: true,
                ..ReadOptions::default()
            };
            let (read, peak) = peak_of(|| fewest_data::read(path, &options).map(drop));
            assert!(peak <= mib << 20, "{name}: a peak of {peak} bytes with {mib} MiB");
            assert_eq!(read.is_ok(), mib >= whole, "{name} with {mib} MiB: {read:?}");
            let (made, peak) =
                peak_of(|| fewest_data::to_columns(path, &options, out.to_str().expect("UTF-8")).map(drop));
            assert!(peak <= mib << 20, "{name}: a peak of {peak} bytes with {mib} MiB, to a column file");
            assert!(made.is_ok(), "{name} with {mib} MiB: {made:?}");
        }
    }
}

//! Damaged files, and files of wrong parts (`structure`): no reader panics, hangs, or takes memory
//! out of proportion.
//!
//! `cargo test` runs a few cases of each; `FEWEST_FUZZ_SECONDS=600 cargo test --release -p
//! fewest-data --test memory -- fuzz::csv` runs one reader that long. What is proved of each case: it
//! ends within [`SECONDS`], and its peak of allocated memory stays below [`BASE`] + [`FACTOR`] x the
//! bytes of the (uncompressed) file; and a column file made of it is the same by way of memory or
//! without.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use fewest_data::{DataError, Format, Note, ReadOptions, to_columns, write};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

use crate::common::Case;
use crate::structure::{Dice, binary, text as forms};
use crate::{alone, peak_of};

#[path = "fuzz_tables.rs"]
mod tables;

/// Bytes that any file may take: the buffers of the waves, and the column starts of 4 Mi svmlight
/// features.
const BASE: usize = 256 << 20;
/// Bytes for each byte of the file: a text column of 100 values takes 800 bytes a cell.
const FACTOR: usize = 1024;
/// A case may take no longer.
const SECONDS: f64 = 5.0;

/// Readings that ended with data: each case is read in two ways.
static READ: AtomicUsize = AtomicUsize::new(0);

/// A change to the bytes of a file; positions are fractions of its length.
#[derive(Debug, Clone)]
enum Change {
    Set(prop::sample::Index, u8),
    Flip(prop::sample::Index, u8),
    Insert(prop::sample::Index, Vec<u8>),
    Remove(prop::sample::Index, usize),
    Repeat(prop::sample::Index, usize, usize),
    Cut(prop::sample::Index),
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        let length = bytes.len();
        match self {
            Change::Set(at, value) => bytes[at.index(length)] = *value,
            Change::Flip(at, bit) => bytes[at.index(length)] ^= 1 << (bit % 8),
            Change::Insert(at, piece) => {
                let at = at.index(length);
                bytes.splice(at..at, piece.iter().copied());
            }
            Change::Remove(at, count) => {
                let at = at.index(length);
                bytes.drain(at..(at + count).min(length));
            }
            Change::Repeat(at, count, times) => {
                let at = at.index(length);
                let piece = bytes[at..(at + count).min(length)].repeat(*times);
                bytes.splice(at..at, piece);
            }
            Change::Cut(at) => bytes.truncate(at.index(length)),
        }
    }
}

/// Changes; inserted pieces are often from the format's own vocabulary.
fn change(words: &'static [&'static str]) -> impl Strategy<Value = Change> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, value)| Change::Set(at, value)),
        (at(), any::<u8>()).prop_map(|(at, bit)| Change::Flip(at, bit)),
        (at(), prop::sample::select(words)).prop_map(|(at, word)| Change::Insert(at, word.as_bytes().to_vec())),
        (at(), prop::collection::vec(any::<u8>(), 1..16)).prop_map(|(at, piece)| Change::Insert(at, piece)),
        (at(), 1usize..40).prop_map(|(at, count)| Change::Remove(at, count)),
        (at(), 1usize..60, 1usize..40).prop_map(|(at, count, times)| Change::Repeat(at, count, times)),
        at().prop_map(Change::Cut),
    ]
}

/// Makes a file of the format from its parts.
type Maker = std::sync::Arc<dyn Fn(&mut Dice) -> Vec<u8>>;

/// A file: a good one with changes, one made from parts, also with changes, or anything.
fn file(good: Vec<Vec<u8>>, make: Maker, words: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
    let changes = |most| prop::collection::vec(change(words), 0..most);
    let apply = |(mut bytes, changes): (Vec<u8>, Vec<Change>)| {
        for change in changes {
            change.apply(&mut bytes);
        }
        bytes
    };
    let made = any::<u64>().prop_map(move |seed| make(&mut Dice::new(seed)));
    let good = prop::sample::select(good);
    let pieces = prop::collection::vec(prop::sample::select(words), 0..200).prop_map(|w| w.concat().into_bytes());
    prop_oneof![
        6 => (good, changes(6)).prop_map(apply),
        6 => made.clone(),
        3 => (made, changes(3)).prop_map(apply),
        1 => prop::collection::vec(any::<u8>(), 0..600),
        2 => pieces,
    ]
}

/// A file straight to a column file, or by way of memory: the same file and notes, or the same
/// error.
fn check_columns(case: &Case, options: &ReadOptions) -> Result<(), TestCaseError> {
    let (straight, by_memory) = (case.beside("straight.csc"), case.beside("by_memory.csc"));
    let made = to_columns(case.path(), options, &straight).map(|made| (made.n_samples, made.n_features, made.notes));
    let read = case.read_with(options).and_then(|data| {
        write(&by_memory, &data)?;
        Ok((data.features.n_samples(), data.features.n_features(), data.notes))
    });
    match (made, read) {
        (Ok(mut made), Ok(read)) => {
            if options.target_optional {
                // Of a file for prediction constant features have no note.
                made.2.retain(|note| !matches!(note, Note::Constant { .. }));
            }
            prop_assert_eq!(made, read);
            prop_assert!(std::fs::read(straight).ok() == std::fs::read(by_memory).ok(), "the files differ");
        }
        (made, read) => {
            // Which columns lack values a second reading tells, for which a column file has no memory.
            let text = |result: Result<_, DataError>| match result.err()? {
                DataError::NotFinite { place, cell, count, .. } => {
                    Some(DataError::NotFinite { place, cell, count, columns: None }.to_string())
                }
                error => Some(error.to_string()),
            };
            let read = text(read).map(|text| text.replace("by_memory", "straight"));
            prop_assert_eq!(text(made), read);
            prop_assert!(!std::path::Path::new(&straight).exists());
        }
    }
    Ok(())
}

/// The ways in which a file is read; in the first also to a column file.
fn readings(format: Format) -> Vec<ReadOptions> {
    // Features in rows stand in for tab-separated text, which is read as csv is.
    let transpose = format == Format::Tsv;
    let plain = ReadOptions { format: Some(format), transpose, ..ReadOptions::default() };
    if format.is_written() {
        let wanted = ["x1", "a", "c=u", "c=v"].map(String::from).to_vec();
        let model = ReadOptions { target_optional: true, features: Some(wanted), ..plain.clone() };
        return vec![plain, model];
    }
    if matches!(format, Format::Xlsx | Format::Ods | Format::Arrow) {
        let free = ReadOptions { target_optional: true, unique_names: true, missing: true, ..plain.clone() };
        return vec![plain, free];
    }
    // One sample of the small files has no class.
    let free = ReadOptions { target_optional: true, unique_names: true, ..plain.clone() };
    let target = Some("cell_type".into());
    let apart = vec!["depth".into()];
    let labelled = ReadOptions { target, apart, drop_unlabelled: true, ..plain };
    let raw = ReadOptions { layer: (format == Format::H5ad).then(|| "raw".into()), ..free.clone() };
    vec![free, labelled, raw]
}

/// Reads one file in several ways and checks time and memory.
fn check(format: Format, bytes: &[u8]) -> Result<(), TestCaseError> {
    let case = Case::new("case", bytes);
    let readings = readings(format);
    check_columns(&case, &readings[0])?;
    for options in readings {
        let start = Instant::now();
        let (result, peak) = peak_of(|| case.read_with(&options));
        let allowed = BASE + FACTOR * bytes.len();
        prop_assert!(peak <= allowed, "{peak} bytes for a file of {}, more than {allowed}", bytes.len());
        let seconds = start.elapsed().as_secs_f64();
        prop_assert!(seconds < SECONDS, "{seconds} seconds for a file of {} bytes", bytes.len());
        match result {
            Ok(data) => {
                READ.fetch_add(1, Ordering::Relaxed);
                let all: Vec<f64> =
                    (0..data.features.n_features().min(50)).map(|j| data.features.value(0, j)).collect();
                prop_assert!(all.iter().all(|x| x.is_finite() || options.missing && x.is_nan()));
                if let Some(target) = &data.target {
                    prop_assert_eq!(target.codes.len(), data.features.n_samples());
                }
            }
            Err(error) => prop_assert!(error.to_string().len() < 10_000),
        }
    }
    Ok(())
}

/// A few cases, or as many as `FEWEST_FUZZ_SECONDS` allow.
fn fuzz(
    format: Format,
    good: Vec<Vec<u8>>,
    make: impl Fn(&mut Dice) -> Vec<u8> + 'static,
    words: &'static [&'static str],
) {
    let seconds = std::env::var("FEWEST_FUZZ_SECONDS").ok().map(|s| s.parse::<u64>().expect("seconds"));
    let files = file(good, std::sync::Arc::new(make), words);
    let config = |cases| Config { cases, failure_persistence: None, ..Config::default() };
    match seconds {
        None => {
            let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
            let mut runner = TestRunner::new_with_rng(config(200), rng);
            runner.run(&files, |bytes| check(format, &bytes)).expect("all cases pass");
        }
        Some(seconds) => {
            let end = Instant::now() + Duration::from_secs(seconds);
            let before = READ.load(Ordering::Relaxed);
            let mut cases = 0;
            while Instant::now() < end {
                TestRunner::new(config(500)).run(&files, |bytes| check(format, &bytes)).expect("all cases pass");
                cases += 500;
            }
            report(format, cases, READ.load(Ordering::Relaxed) - before);
        }
    }
}

#[allow(clippy::print_stderr, reason = "the count of cases is the result of a long run")]
fn report(format: Format, cases: usize, read: usize) {
    eprintln!("{}: {cases} cases, data in {read} of {} readings", format.name(), readings(format).len() * cases);
}

/// A table as bytes of another format.
fn converted(table: &str, ending: &str) -> Vec<u8> {
    let case = Case::new("a.csv", table);
    let path = case.beside(&format!("b.{ending}"));
    write(&path, &case.read().expect("a good table")).expect("writing it");
    std::fs::read(path).expect("reading it")
}

const TABLES: [&str; 3] = [
    "a,b,y\n1,2,0\n3,4,1\n-5e3,0.25,1\n",
    "x1,c,\"a \"\"q\"\"\",y\n1,u,0,no\n2,v,1,yes\n3,w,\"2\",no\n4,u,3,yes\n",
    "c,label,z\nu,1,7\nv,0,7\nu,1,7\n",
];

fn text(files: &[&str]) -> Vec<Vec<u8>> {
    files.iter().map(|f| f.as_bytes().to_vec()).collect()
}

#[test]
fn csv() {
    let _alone = alone();
    let words =
        &["a", ",", "\n", "\"", "\"\"", "\r\n", "1", "0.5", "nan", "y", "1e400", "u", "?", "-", "\u{feff}", ",,,,,,,,"];
    fuzz(Format::Csv, text(&TABLES), forms::csv, words);
}

#[test]
fn svmlight() {
    let _alone = alone();
    let good = text(&[
        "1 1:0.5 3:2\n-1 2:1 # c\n1 qid:2 1:7\n",
        "0 1:1\n3 5:1e-3 900:2\n",
        "1:1 4:2\n2:1\n",
        "+1 4000000:1\n-1 1:1\n",
    ]);
    let words = &[
        "1",
        ":",
        " ",
        "\n",
        "4000000000",
        "4194304",
        "0:",
        "qid:1",
        "#",
        "-1 ",
        "1:1 ",
        "2:1e999",
        "nan",
        "99999999999999999999",
        "\t",
        "\r",
    ];
    fuzz(Format::Svmlight, good, forms::svmlight, words);
}

#[test]
fn arff() {
    let _alone = alone();
    let mut good: Vec<Vec<u8>> = TABLES.iter().map(|t| converted(t, "arff")).collect();
    good.extend(text(&[
        "@relation r\n@attribute c {u,v,w}\n@attribute a real\n@attribute y {p,q}\n@data\nu,1,p\nv,2,q\n%\n",
        "@relation r\n@attribute c {u,v,w}\n@attribute a real\n@attribute y {p,q}\n@data\n{0 v,1 2}\n{2 q}\n",
    ]));
    let words = &[
        "@attribute ",
        "@data\n",
        "@relation x\n",
        "{",
        "}",
        ",",
        "'",
        "\"",
        "\\",
        "\n",
        "%",
        "?",
        " real\n",
        "c",
        "u",
        "0 1",
        "4000000000 1",
        " numeric\n",
    ];
    fuzz(Format::Arff, good, forms::arff, words);
}

#[test]
fn csc() {
    let _alone = alone();
    let good: Vec<Vec<u8>> = TABLES.iter().map(|t| converted(t, "csc")).collect();
    let right = good.clone();
    let make = move |dice: &mut Dice| {
        let table = dice.below(right.len());
        binary::csc(dice, &right[table])
    };
    fuzz(Format::Csc, good, make, &["FEWESTCC", "\0\0\0\0", "\u{1}\0\0\0", "\x7f\x7f\x7f\x7f", "x1", "9"]);
}

#[test]
fn npz() {
    let _alone = alone();
    let mut good: Vec<Vec<u8>> = TABLES.iter().map(|t| converted(t, "npz")).collect();
    let sparse = Case::new("s.svm", "1 1:0.5 3:2\n-1 2:1\n");
    let path = sparse.beside("s.npz");
    write(&path, &sparse.read().expect("good")).expect("write");
    good.push(std::fs::read(path).expect("read"));
    for name in ["dense_c", "dense_f", "csr_y", "csc_y"] {
        good.push(std::fs::read(format!("{}/tests/fixtures/{name}.npz", env!("CARGO_MANIFEST_DIR"))).expect("fixture"));
    }
    let words = &[
        "PK\x03\x04",
        "PK\x01\x02",
        "PK\x05\x06",
        "\u{1}NUMPY",
        "'shape': (99999999999,)",
        "<f8",
        "\0\0\0\0",
        "\x7f\x7f\x7f\x7f",
        "X.npy",
        "y.npy",
        "9",
    ];
    fuzz(Format::Npz, good, binary::npz, words);
}

#[test]
fn parquet() {
    let _alone = alone();
    let mut good: Vec<Vec<u8>> = TABLES.iter().map(|t| converted(t, "parquet")).collect();
    for name in ["table_snappy", "table_zstd", "table_index", "table_gzip", "table_gzip_plain", "table_lz4"] {
        good.push(
            std::fs::read(format!("{}/tests/fixtures/{name}.parquet", env!("CARGO_MANIFEST_DIR"))).expect("fixture"),
        );
    }
    let words =
        &["PAR1", "\0", "\x15\x02", "\x7f\x7f\x7f\x7f", "\x15\x7e", "y", "schema", "\x19", "\x1c", "\u{80}\u{80}"];
    fuzz(Format::Parquet, good, binary::parquet, words);
}

/// Files of `tests/files`.
fn small_files(names: &[&str]) -> Vec<Vec<u8>> {
    let path = |name| format!("{}/tests/files/{name}", env!("CARGO_MANIFEST_DIR"));
    names.iter().map(|name| std::fs::read(path(name)).expect("a small file")).collect()
}

/// What HDF5 is made of.
const HDF5: &[&str] = &[
    "TREE",
    "SNOD",
    "HEAP",
    "GCOL",
    "OHDR",
    "OCHK",
    "FRHP",
    "FADB",
    "\0\0\0\0\0\0\0\0",
    "\x7f\x7f\x7f\x7f",
    "\x01\0\0\0",
    "\u{80}\u{80}",
    "cell_type",
    "encoding-type",
    "csr_matrix",
    "indptr",
];

fn hdf5(format: Format, names: &[&str]) {
    let _alone = alone();
    let good = small_files(names);
    let right = good.clone();
    let make = move |dice: &mut Dice| {
        let file = dice.below(right.len());
        binary::words(dice, &right[file])
    };
    fuzz(format, good, make, HDF5);
}

#[cfg(feature = "hdf5")]
#[test]
fn h5ad() {
    hdf5(Format::H5ad, &["csr.h5ad", "csc.h5ad", "dense.h5ad", "latest.h5ad", "layers.h5ad", "old.h5ad"]);
}

#[cfg(feature = "hdf5")]
#[test]
fn h5() {
    hdf5(Format::H5, &["v2.h5", "v3.h5"]);
}

#[cfg(feature = "hdf5")]
#[test]
fn loom() {
    hdf5(Format::Loom, &["tiny.loom", "tiny.gctx"]);
}

#[test]
fn mtx() {
    let _alone = alone();
    let good = text(&[
        "%%MatrixMarket matrix coordinate real general\n% c\n4 6 3\n1 1 1\n3 1 2.5\n4 6 3\n",
        "%%MatrixMarket matrix coordinate integer general\n3 2 3\n3 1 1\n3 1 2\n1 2 7\n",
        "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 1\n2 2\n",
    ]);
    let words = &[
        "%%MatrixMarket matrix coordinate real general\n",
        "%",
        "\n",
        " ",
        "1",
        "4194304 4194304 1\n",
        "18446744073709551615",
        "1 1 1\n",
        "2 2 -1\n",
        "nan",
        "1e999",
        "0",
        "pattern",
        "\t",
        "\r",
    ];
    fuzz(Format::Mtx, good, forms::mtx, words);
}

//! Every bad input that files can have, with its message: place, finding, remedy.

use fewest_data::{DataError, Format, Note, ReadOptions, read, write};

use crate::common::{Case, classes, holds, lines, refused};

#[test]
fn missing_file() {
    let error = read("no/such/file.csv", &ReadOptions::default()).expect_err("missing");
    holds(&error.to_string(), &["no/such/file.csv", "no such file", "check the path"]);
}

#[test]
fn folder_instead_of_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("data.csv");
    std::fs::create_dir(&path).expect("a folder");
    let error = read(path.to_str().expect("UTF-8"), &ReadOptions::default()).expect_err("a folder");
    holds(&error.to_string(), &["data.csv", "it is a folder"]);
}

#[test]
fn unknown_ending() {
    holds(&refused("data.xyz", "a,y\n1,2\n"), &["data.xyz", "no format", "`format"]);
}

#[test]
fn empty_file() {
    for name in ["a.csv", "a.tsv", "a.svm", "a.arff", "a.parquet", "a.npz", "a.csc", "a.csv.gz"] {
        holds(&refused(name, ""), &[name, "the file is empty"]);
    }
    for name in ["a.csv", "a.svm", "a.arff"] {
        holds(&refused(name, "\n\n"), &[name]);
    }
}

#[test]
fn header_only() {
    holds(&refused("a.csv", "age,y\n"), &["a.csv", "no row of data"]);
    holds(&refused("a.csv", "age,y"), &["a.csv", "no row of data"]);
    holds(&refused("a.arff", "@relation r\n@attribute x numeric\n@attribute y {a,b}\n@data\n"), &["a.arff", "no row"]);
    holds(&refused("a.arff", "@relation r\n@attribute x numeric\n"), &["a.arff", "without @data"]);
}

#[test]
fn numbers_for_a_header() {
    let message = refused("a.csv", "1.5,2.5,0\n2.5,3.5,1\n");
    holds(&message, &["a.csv, line 1", "1.5, 2.5", "`no_header"]);
    let options = ReadOptions { no_header: true, ..ReadOptions::default() };
    let data = Case::new("a.csv", "1.5,2.5,0\n2.5,3.5,1\n").read_with(&options).expect("read");
    assert_eq!(data.names.to_vec(), ["x1", "x2"]);
    assert_eq!(classes(&data), ["0", "1"]);
    let counted = Case::new("a.csv", "0,1,2,y\n1,2,3,0\n4,5,6,1\n").read().expect("pandas default names");
    assert_eq!(counted.names.to_vec(), ["0", "1", "2"]);
}

#[test]
fn ragged_row() {
    let message = refused("a.csv", "a,b,y\n1,2,0\n1,2\n1,2,1\n");
    holds(&message, &["a.csv, line 3", "2 cells", "header has 3", "fix the row"]);
    let message = refused("a.csv", "a,b,y\n1,\"2\n\n\",0\n1,2,3,1\n");
    holds(&message, &["a.csv, line 5", "4 cells"]);
}

#[test]
fn non_numeric_cell() {
    let message = refused("a.csv", "age,y\n31,0\n32,1\nforty,0\n41,1\n");
    holds(&message, &["a.csv, line 4, column `age`", "`forty` is not a number", "3 of the 4", "`text = age`"]);
    let message = refused("a.arff", "@relation r\n@attribute x real\n@attribute y {a,b}\n@data\n1,a\ntwo,b\n");
    holds(&message, &["a.arff, line 6, column `x`", "`two`"]);
}

#[test]
fn mostly_text_column_with_numbers_is_text() {
    let data = Case::new("a.csv", "size,y\n1,0\nmany,1\nfew,0\nmany,1\n").read().expect("text");
    assert_eq!(data.names.to_vec(), ["size=1", "size=few", "size=many"]);
}

#[test]
fn missing_and_infinite_values() {
    let words = [
        "", "?", "NA", "nan", "NaN", "null", "#N/A", "<NA>", "\\N", "n.a.", "N/A", "None", ".", "-", "--", "*",
        "unknown",
    ];
    for cell in words {
        let message = refused("a.csv", format!("a,b,y\n1,2,0\n1,{cell},1\n{cell},3,0\n"));
        holds(&message, &["a.csv, line 3, column `b`", &format!("`{cell}`"), "2 such value(s)", "`missing` mean"]);
    }
    for cell in ["inf", "-Infinity", "1e999"] {
        let message = refused("a.csv", format!("a,b,y\n1,2,0\n1,{cell},1\n{cell},?,0\n"));
        holds(&message, &["line 3, column `b`", &format!("`{cell}` is not finite"), "2 such", "`missing_codes"]);
        assert!(!message.contains("`missing` mean"), "{message}");
    }
    holds(&refused("a.svm", "1 1:1 2:nan\n-1 1:inf\n"), &["a.svm, line 2, column `x1`", "`inf`", "1 such"]);
    holds(&refused("a.svm", "1 1:1 2:nan\n-1 1:2\n"), &["a.svm, line 1, column `x2`", "1 such"]);
    let arff = "@relation r\n@attribute x real\n@attribute y {a,b}\n@data\n1,a\n?,b\n";
    holds(&refused("a.arff", arff), &["a.arff, line 6, column `x`", "`?`", "1 such"]);
    let sparse = "@relation r\n@attribute x real\n@attribute y {a,b}\n@data\n{0 1,1 a}\n{0 ?,1 b}\n";
    holds(&refused("a.arff", sparse), &["a.arff, line 6, column `x`", "1 such"]);
    let message = refused("a.csv", "a,y\n1,0\n2,\n3,1\n");
    holds(&message, &["line 3, column `y`", "1 row(s) have none", "give every row a class", "`drop_unlabelled"]);
}

#[test]
fn one_class() {
    let message = refused("a.csv", "a,class\n1,sick\n2,sick\n");
    holds(&message, &["a.csv", "every row has `class` = sick", "at least two classes", "`target"]);
    holds(&refused("a.svm", "+1 1:1\n+1 1:2\n"), &["a.svm", "every row has `y` = 1"]);
    let optional = ReadOptions { target_optional: true, ..ReadOptions::default() };
    assert!(Case::new("a.csv", "a,class\n1,sick\n2,sick\n").read_with(&optional).is_ok());
}

#[test]
fn target_that_is_no_class() {
    let rows: String = lines(50, |i| format!("{i},{}.5\n", i * i));
    let message = refused("a.csv", format!("a,y\n{rows}"));
    holds(&message, &["`y` is continuous", "50 different numbers in 50 rows", "0.5", "`target"]);
    let rows: String = lines(50, |i| format!("{i},{}\n", i * i));
    holds(&refused("a.csv", format!("a,y\n{rows}")), &["`y` has 50 different values in 50 rows", "`target"]);
}

#[test]
fn duplicate_names() {
    holds(&refused("a.csv", "age,bmi,age,y\n1,2,3,0\n"), &["`age`", "columns 1 and 3", "rename"]);
    let arff = "@relation r\n@attribute x real\n@attribute x real\n@attribute y {a,b}\n@data\n1,1,a\n";
    holds(&refused("a.arff", arff), &["`x`", "columns 1 and 2"]);
    let made = "c,c=u,y\nu,1,0\nv,2,1\nw,3,0\n";
    holds(&refused("a.csv", made), &["`c=u`", "rename"]);
}

#[test]
fn constant_feature_is_a_note() {
    let data = Case::new("a.csv", "a,b,y\n1,7,0\n2,7,1\n").read().expect("read");
    let note = data.notes.iter().find(|n| matches!(n, Note::Constant { .. })).expect("a note");
    assert_eq!(*note, Note::Constant { count: 1, features: vec![1].into(), names: vec!["b".into()] });
    holds(&note.to_string(), &["one value only", "b"]);
}

#[test]
fn svmlight_indices() {
    holds(&refused("a.svm", "1 1:1 2:1\n-1 3:1 2:1\n"), &["a.svm, line 2", "index 2 comes after 3", "sort"]);
    holds(&refused("a.svm", "1 1:1 0:1\n"), &["a.svm, line 1", "index 0", "counts features from 1"]);
    holds(&refused("a.svm", "1 1:1\n-1 2:1 2:3\n"), &["a.svm, line 2", "index 2 appears twice", "keep one"]);
    holds(&refused("a.svm", "1 1:1\n-1 4000000000:3\n"), &["a.svm, line 2", "4000000000", "`index_limit"]);
    holds(&refused("a.svm", "1 1:1\n-1 99999999999999999999:3\n"), &["a.svm, line 2", "index:value"]);
}

#[test]
fn svmlight_syntax() {
    holds(&refused("a.svm", "1 1:1\n-1 2:x\n"), &["a.svm, line 2", "`2:x`", "index:value"]);
    holds(&refused("a.svm", "1 1:1\nbad 2:1\n"), &["a.svm, line 2", "label `bad` is not a number"]);
    holds(&refused("a.svm", "1 1:1\n2:1 3:1\n"), &["a.svm, line 2", "instead of a label"]);
    holds(&refused("a.svm", "1\n-1\n"), &["a.svm", "no feature"]);
}

#[test]
fn truncated_compression() {
    let rows: String = lines(2000, |i| format!("{},{},{}\n", i * 37 % 101, i * 73 % 997, i % 2));
    let table = format!("a,b,y\n{rows}");
    let plain = Case::new("a.csv", &table);
    let data = plain.read().expect("read");
    for ending in ["gz", "zst", "bz2"] {
        let name = format!("b.csv.{ending}");
        let path = plain.beside(&name);
        write(&path, &data).expect("write");
        let whole = std::fs::read(&path).expect("read");
        holds(&refused(&name, &whole[..whole.len() / 2]), &[&name, "damaged or cut short", "again"]);
        holds(&refused(&name, &table), &[&name, "the name says"]);
    }
}

#[test]
fn damaged_binary_files() {
    let plain = Case::new("a.csv", "a,b,y\n1,2,0\n3,4,1\n");
    let data = plain.read().expect("read");
    for ending in ["npz", "parquet"] {
        let name = format!("b.{ending}");
        let path = plain.beside(&name);
        write(&path, &data).expect("write");
        let whole = std::fs::read(&path).expect("read");
        holds(&refused(&name, &whole[..whole.len() * 2 / 3]), &[&name, "damaged or cut short"]);
    }
}

#[test]
fn unwritable_output() {
    let case = Case::new("a.csv", "a,y\n1,0\n3,1\n");
    let data = case.read().expect("read");
    for path in [case.beside("no/such/folder/b.csv"), case.path().to_owned() + "/b.csv"] {
        let error = write(&path, &data).expect_err("unwritable");
        assert!(matches!(error, DataError::Output { .. }));
        holds(&error.to_string(), &[&path, "cannot write", "check that the folder exists"]);
    }
    let left: Vec<_> = std::fs::read_dir(case.beside("")).expect("folder").collect();
    assert_eq!(left.len(), 1, "nothing is left beside the input");
}

#[test]
fn a_failed_write_leaves_the_old_file() {
    let case = Case::new("a.csv", "a,y\n1,0\n3,1\n");
    let mut data = case.read().expect("read");
    data.names = fewest_data::Names::Listed(vec!["y".into()]);
    let error = write(case.path(), &data).expect_err("the name y twice");
    holds(&error.to_string(), &["`y`", "rename"]);
    assert_eq!(std::fs::read_to_string(case.path()).expect("read"), "a,y\n1,0\n3,1\n");
}

#[test]
fn memory_limit() {
    let rows: String = lines(2000, |i| format!("{i},{},{}\n", i * 3, i % 2));
    let limit = ReadOptions { memory_limit: Some(10_000), ..ReadOptions::default() };
    let case = Case::new("a.csv", format!("a,b,y\n{rows}"));
    let message = case.read_with(&limit).expect_err("too large").to_string();
    holds(&message, &["2000 rows and 2 features", "31.25 KiB", "9.77 KiB are allowed", "`memory"]);
    let svm: String = lines(2000, |i| format!("{} 1:1 2:{i}.5\n", i % 2));
    let message = Case::new("a.svm", svm).read_with(&limit).expect_err("too large").to_string();
    holds(&message, &["the sparse matrix", "`memory"]);
    let data = case.read().expect("read");
    for ending in ["npz", "parquet", "arff"] {
        let path = case.beside(&format!("b.{ending}"));
        write(&path, &data).expect("write");
        holds(&read(&path, &limit).expect_err("too large").to_string(), &["needs", "`memory"]);
    }
}

#[test]
fn bomb_stops_at_the_memory_limit() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, &vec![b'1'; 64 << 20]).expect("write");
    let case = Case::new("bomb.csv.gz", encoder.finish().expect("finish"));
    let limit = ReadOptions { memory_limit: Some(16 << 20), ..ReadOptions::default() };
    holds(&case.read_with(&limit).expect_err("a bomb").to_string(), &["bomb.csv.gz", "`memory"]);
    let svm = ReadOptions { format: Some(Format::Svmlight), ..limit };
    holds(&case.read_with(&svm).expect_err("a bomb").to_string(), &["a single line", "`memory"]);
}

/// A good parquet file with the only (or first) `from` made `to`, which is as long.
fn parquet_with(from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/table_snappy.parquet");
    let mut bytes = std::fs::read(path).expect("fixture");
    let at = bytes.windows(from.len()).position(|w| w == from).expect("the bytes are there");
    bytes[at..at + from.len()].copy_from_slice(to);
    bytes
}

/// Each of these made the decoder panic or take gigabytes.
#[test]
fn parquet_pages_that_lie() {
    // The first page: type, sizes, dictionary values, encoding, not sorted; then snappy's own size.
    let page = b"PAR1\x15\x04\x15\xe0\x03\x15\xca\x03\x4c\x15\x3c\x15\x00\x12\x00\x00\xf0\x01";
    assert!(Case::new("a.parquet", parquet_with(page, page)).read().is_ok());
    for (at, to, finding) in [
        (5, &b"\x02"[..], "needs a dictionary, but none comes before it"),
        (8, b"\x7f", "says 8176 bytes uncompressed from 229, and 240 in its compressed data"),
        (11, b"\x7f", "says 8165 bytes, but its column ends after"),
        (14, b"\x7e", "says 63 dictionary values in 240 bytes"),
        (21, b"\x7f", "says 240 bytes uncompressed from 229, and 16368 in its compressed data"),
        (5, b"\x00", "has the header of another type of page"),
        (7, b"\xe1", "says a size of -241"),
    ] {
        let mut changed = page.to_vec();
        changed[at..at + to.len()].copy_from_slice(to);
        let message = refused("a.parquet", parquet_with(page, &changed));
        holds(&message, &["a.parquet", "damaged", "column `age`: the page at byte ", finding]);
    }
}

#[test]
fn parquet_footer_that_lies() {
    let lie = parquet_with(
        &[0x15, 0x04, 0x19, 0x9c, 0x35, 0x00, 0x18, 0x06],
        &[0x15, 0x04, 0x19, 0xfc, 0xff, 0xff, 0xff, 0x07],
    );
    holds(&refused("a.parquet", lie), &["a.parquet", "damaged", "the footer says a length of"]);
}
#[test]
fn identifiers_and_free_text() {
    let rows: String = lines(30, |i| format!("{i},patient {i},{}\n", i % 2));
    let message = refused("a.csv", format!("a,who,y\n{rows}"));
    holds(&message, &["`who`", "30 different values in 30 rows", "patient", "`drop = who`", "`text = who`"]);
    let case = Case::new("a.csv", format!("a,who,y\n{rows}"));
    let drop = ReadOptions { drop: vec!["who".into()], ..ReadOptions::default() };
    assert_eq!(case.read_with(&drop).expect("read").names.to_vec(), ["a"]);
    let text = ReadOptions { text: vec!["who".into()], ..ReadOptions::default() };
    assert_eq!(case.read_with(&text).expect("read").names.len(), 31);
}

#[test]
fn columns_that_are_not_there() {
    let case = Case::new("a.csv", "a,b,y\n1,2,0\n3,4,1\n");
    let with = |options: ReadOptions| case.read_with(&options).expect_err("refused").to_string();
    let name = || "bmi".to_owned();
    let message = with(ReadOptions { target: Some(name()), ..ReadOptions::default() });
    holds(&message, &["a.csv", "no column `bmi` to be the target", "a, b, y"]);
    holds(&with(ReadOptions { apart: vec![name()], ..ReadOptions::default() }), &["`bmi` to be the column set apart"]);
    holds(&with(ReadOptions { drop: vec![name()], ..ReadOptions::default() }), &["`bmi` to be the dropped column"]);
    let message = with(ReadOptions { features: Some(vec!["a".into(), name()]), ..ReadOptions::default() });
    holds(&message, &["feature `bmi` is needed but missing (1 of 2 are)", "spelling"]);
}

#[test]
fn arff_faults() {
    holds(&refused("a.arff", "@relation r\n@attribute x foo\n@data\n1\n"), &["line 2", "type `foo`"]);
    holds(&refused("a.arff", "@relation r\n@attribut x real\n@data\n1\n"), &["line 2", "`@attribut`"]);
    let head = "@relation r\n@attribute x {u,v,w}\n@attribute y {a,b}\n@data\n";
    holds(&refused("a.arff", format!("{head}z,a\nu,b\n")), &["line 5, column `x`", "`z`", "declared"]);
    holds(&refused("a.arff", format!("{head}{{0 u}}\nu,b\n")), &["line 6", "without braces"]);
    holds(&refused("a.arff", format!("{head}{{7 u}}\n")), &["line 5", "`7 u`"]);
    holds(&refused("a.arff", format!("{head}{{0 u,0 v}}\n")), &["line 5", "appears twice"]);
}

#[test]
fn npz_faults() {
    use std::io::Write as _;
    let archive_of = |arrays: &[(&str, &str, &[u8])]| {
        let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (key, header, bytes) in arrays {
            zip.start_file(format!("{key}.npy"), zip::write::SimpleFileOptions::default()).expect("entry");
            let mut text = b"\x93NUMPY\x01\x00".to_vec();
            text.extend_from_slice(&(header.len() as u16).to_le_bytes());
            text.extend_from_slice(header.as_bytes());
            text.extend_from_slice(bytes);
            zip.write_all(&text).expect("write");
        }
        zip.finish().expect("finish").into_inner()
    };
    let archive = |key: &str, header: &str, bytes: &[u8]| archive_of(&[(key, header, bytes)]);
    let giant = archive("X", "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 100), }", &[0; 16]);
    holds(&refused("a.npz", giant), &["array X", "does not fit"]);
    let wide = archive("X", "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", &[0; 16]);
    holds(&refused("a.npz", wide), &["array X has shape [2]", "two-dimensional"]);
    let other = archive("Z", "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", &[0; 16]);
    holds(&refused("a.npz", other), &["no column `X` to be the matrix", "Z"]);
    let object = archive("X", "{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", &[0; 16]);
    holds(&refused("a.npz", object), &["array X", "|O"]);
    let text = |key, letters| (key, "{'descr': '|S1', 'fortran_order': False, 'shape': (2,), }", letters);
    let x = ("X", "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }", &[0; 32][..]);
    let foreign = archive_of(&[x, text("y", &b"ab"[..]), text("names", b"uv"), text("variables", b"\0w")]);
    holds(&refused("a.npz", foreign), &["feature `v` was made of `w`", "`w=VALUE`"]);
}

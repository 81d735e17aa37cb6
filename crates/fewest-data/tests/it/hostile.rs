//! Files that are valid or nearly so, and once were misread, refused without a reason, or blamed
//! for something else.

use fewest_data::{DataError, ErrorKind, ReadOptions, read, write};

use crate::common::{Case, classes, holds, refused, rows};

#[test]
fn a_quote_that_is_never_closed() {
    let message = refused("a.csv", "a,b,y\n1,2,0\n3,4,\"1\n5,6,0\n7,8,1\n");
    holds(&message, &["a.csv, line 3", "opened in this line and never closed", "double it"]);
    let message = refused("a.csv", "a,\"b\n1,2,0\n");
    holds(&message, &["a.csv, line 1", "never closed"]);
    // The line of the quote, not of the row, which begins above it.
    let message = refused("a.csv", "a,c,y\n1,\"two\nlines\",\"0\n2,u,1\n");
    holds(&message, &["a.csv, line 3", "never closed"]);
    let tsv = refused("a.tsv", "a\tb\ty\n1\t\"2\t0\n3\t4\t1\n");
    holds(&tsv, &["a.tsv, line 2", "never closed"]);
}

#[test]
fn a_quote_that_is_closed_by_the_next_one() {
    let message = refused("a.csv", "a,c,y\n1,\"u,0\n2,v,1\n3,\"w\",0\n4,u,1\n");
    holds(&message, &["a.csv, line 2", "closed in line 4, before `w\"`"]);
    let data =
        Case::new("a.csv", "a,c,y\n1,\"u\nv\" ,0\n2,\"w\"x,1\n").read().expect("blanks and one-line oddities pass");
    assert_eq!(data.names.to_vec(), ["a", "c=wx"]);
}

#[test]
fn an_unclosed_quote_far_into_a_large_file() {
    let row = "1.25,2.5,0\n3.5,4.75,1\n";
    let many = row.repeat(40_000);
    let message = refused("a.csv", format!("a,b,y\n{many}1,\"2,0\n{many}"));
    holds(&message, &["a.csv, line 80002", "never closed"]);
}

#[test]
fn text_that_is_not_utf_8() {
    let table = "a,b,y\n1,2,0\n3,4,1\n";
    let little: Vec<u8> = table.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = table.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for bytes in [&little, &big] {
        assert_eq!(rows(&Case::new("a.csv", bytes).read().expect("UTF-16")), [[1.0, 2.0], [3.0, 4.0]]);
    }
    for (mark, bytes) in [([0xff, 0xfe], &little), ([0xfe, 0xff], &big)] {
        let data = Case::new("a.csv", [&mark[..], bytes].concat()).read().expect("UTF-16 with its mark");
        assert_eq!(data.names.to_vec(), ["a", "b"]);
    }
    let wide: Vec<u8> = "\u{feff}a,y\n".chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
    holds(&refused("a.csv", wide), &["UTF-32"]);
    holds(&refused("a.csv", b"\x01\x00\x00\x00\x02\x03\x00\x00"), &["zero bytes", "not text"]);
    let marked = Case::new("a.csv", format!("\u{feff}{table}")).read().expect("UTF-8 with its mark");
    assert_eq!(marked.names.to_vec(), ["a", "b"]);
    let svm = Case::new("a.svm", "\u{feff}1 1:1\n-1 2:1\n").read().expect("UTF-8 with its mark");
    assert_eq!(classes(&svm), ["1", "-1"]);
    let arff = "\u{feff}@relation r\n@attribute x real\n@attribute y {a,b}\n@data\n1,a\n2,b\n";
    assert_eq!(rows(&Case::new("a.arff", arff).read().expect("UTF-8 with its mark")), [[1.0], [2.0]]);
}

#[test]
fn arff_values_outside_their_lists() {
    let head = "@relation r\n@attribute x {0,1}\n@attribute c {u,v,w}\n@attribute y {a,b}\n@data\n";
    let dense = |row: &str| refused("a.arff", format!("{head}0,u,a\n1,v,b\n{row}\n"));
    holds(&dense("0,u,c"), &["a.arff, line 8, column `y`", "`c` is not among the declared values", "@attribute"]);
    holds(&dense("7,u,a"), &["line 8, column `x`", "`7` is not among"]);
    holds(&dense("0,z,a"), &["line 8, column `c`", "`z` is not among"]);
    let sparse = |row: &str| refused("a.arff", format!("{head}{{0 1}}\n{{2 b}}\n{row}\n"));
    holds(&sparse("{2 c}"), &["a.arff, line 8, column `y`", "`c` is not among"]);
    holds(&sparse("{0 7}"), &["line 8, column `x`", "`7` is not among"]);
    holds(&sparse("{1 z}"), &["line 8, column `c`", "`z` is not among"]);
    // A number is the number declared, however it is written; `?` is a missing value and has its
    // own message.
    let head = "@relation r\n@attribute x {0,1}\n@attribute y {-1,+1}\n@data\n";
    let data = Case::new("a.arff", format!("{head}1.0,1\n0,-1.0\n")).read().expect("the declared numbers");
    assert_eq!((rows(&data), classes(&data)), (vec![vec![1.0], vec![0.0]], vec!["1".to_owned(), "-1".to_owned()]));
    holds(&refused("a.arff", format!("{head}?,1\n0,-1\n")), &["line 5, column `x`", "missing"]);
}

#[test]
fn arff_quotes_that_are_not_closed() {
    let head = "@relation r\n@attribute c {'u',v,w}\n@attribute y {a,b}\n@data\n";
    holds(&refused("a.arff", format!("{head}u,a\n'v,b\n")), &["a.arff, line 6", "`'v,b` is not closed"]);
    holds(&refused("a.arff", format!("{head}{{0 u}}\n{{0 'v}}\n")), &["a.arff, line 6", "not closed"]);
    holds(&refused("a.arff", "@relation r\n@attribute 'c real\n@data\n1\n"), &["a.arff, line 2", "not closed"]);
    holds(&refused("a.arff", "@relation r\n@attribute c {'u,v}\n@data\n1\n"), &["a.arff, line 2", "not closed"]);
}

/// An archive of arrays: key, type, shape, bytes.
fn archive(arrays: &[(&str, &str, &str, &[u8])]) -> Vec<u8> {
    use std::io::Write as _;
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (key, kind, shape, bytes) in arrays {
        zip.start_file(format!("{key}.npy"), zip::write::SimpleFileOptions::default()).expect("entry");
        let header = format!("{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}, }}");
        let mut text = b"\x93NUMPY\x01\x00".to_vec();
        text.extend_from_slice(&(header.len() as u16).to_le_bytes());
        text.extend_from_slice(header.as_bytes());
        text.extend_from_slice(bytes);
        zip.write_all(&text).expect("write");
    }
    zip.finish().expect("finish").into_inner()
}

#[test]
fn numbers_of_half_precision() {
    // 1, -2, 65504 (the largest), 2^-14 (the smallest normal), 2^-24 (the smallest), 1/3.
    let bits: [u16; 6] = [0x3c00, 0xc000, 0x7bff, 0x0400, 0x0001, 0x3555];
    let bytes: Vec<u8> = bits.iter().flat_map(|b| b.to_le_bytes()).collect();
    let y = [1u8, 0, 1];
    let data = Case::new("a.npz", archive(&[("X", "'<f2'", "(3, 2)", &bytes), ("y", "'|u1'", "(3,)", &y)])).read();
    let expected = [[1.0, -2.0], [65504.0, 2f64.powi(-14)], [2f64.powi(-24), 1365.0 / 4096.0]];
    assert_eq!(rows(&data.expect("float16")), expected);
    let infinite = [0x3c00u16, 0x7c00].iter().flat_map(|b| b.to_le_bytes()).collect::<Vec<u8>>();
    let message = refused("a.npz", archive(&[("X", "'<f2'", "(2, 1)", &infinite), ("y", "'|u1'", "(2,)", &y[..2])]));
    holds(&message, &["row 2", "`inf` is not finite"]);
}

#[test]
fn arrays_of_other_items_are_named_not_called_damaged() {
    for (kind, words) in [
        ("'<c16'", &["complex numbers", "<c16"][..]),
        ("'|O'", &["Python objects", "|O"]),
        ("'<M8[ns]'", &["dates or times", "<M8[ns]"]),
        ("'<f16'", &["numbers of a size", "<f16"]),
        ("[('a', '<f8'), ('b', '<i4')]", &["records", "('b', '<i4')"]),
    ] {
        let message = refused("a.npz", archive(&[("X", kind, "(1, 1)", &[0; 16])]));
        holds(&message, words);
        holds(&message, &["array X", "astype(float)"]);
        assert!(!message.contains("damaged"), "{message}");
    }
}

#[test]
fn parquet_of_a_codec_that_is_not_read() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/table_brotli.parquet");
    let message = read(path, &ReadOptions::default()).expect_err("brotli").to_string();
    holds(&message, &["column `age` is compressed with brotli", "zstd, snappy, gzip, lz4"]);
    assert!(!message.contains("damaged") && !message.contains("feature"), "{message}");
}

#[test]
fn a_gzip_page_that_holds_more_than_it_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/table_gzip_plain.parquet");
    let mut bytes = std::fs::read(path).expect("fixture");
    // The first page header: type 0, then the uncompressed size as a varint of a doubled number.
    assert_eq!(bytes[4..7], [0x15, 0x00, 0x15]);
    bytes[7] -= 2;
    holds(&refused("a.parquet", bytes), &["column `age`: the page at byte 4 says", "in its compressed data"]);
}

#[test]
fn what_a_file_holds_cannot_act_on_a_terminal() {
    let nasty = "\u{1b}]0;owned\u{7}\u{1b}[2J";
    let with = |head: &str, cell: &str| format!("{head},y\n1,0\n2,1\n{cell},0\n4,1\n");
    let mut messages = vec![
        refused("a.csv", with("age", nasty)),
        refused("a.csv", with(nasty, "")),
        refused("a.csv", format!("a,{nasty},{nasty},y\n1,2,3,0\n")),
        refused("a.svm", format!("{nasty} 1:1\n")),
        refused("a.arff", format!("@relation r\n{nasty}\n")),
        refused("a.npz", archive(&[("X", &format!("'<{nasty}'"), "(1, 1)", &[0; 8])])),
        refused("a.npz", archive(&[(nasty, "'<f8'", "(1, 1)", &[0; 8])])),
    ];
    let options = ReadOptions { target: Some(nasty.into()), ..ReadOptions::default() };
    messages.push(Case::new("a.csv", "a,y\n1,0\n").read_with(&options).expect_err("no such column").to_string());
    messages.push(read(nasty, &ReadOptions::default()).expect_err("no such file").to_string());
    let data = Case::new("a.csv", format!("a,{nasty},y\n1,u,0\n2,v,1\n3,w,1\n")).read().expect("read");
    messages.extend(data.notes.iter().map(ToString::to_string));
    assert!(messages.iter().filter(|m| m.contains("␛")).count() >= 9, "{messages:#?}");
    for message in messages {
        assert!(!message.chars().any(char::is_control), "{message:?}");
    }
}

#[test]
fn a_full_disk_is_no_bad_input() {
    let case = Case::new("a.csv", "a,y\n1,0\n3,1\n");
    let data = case.read().expect("read");
    let error = write(&case.beside("no/such/folder/b.csv"), &data).expect_err("no folder");
    assert_eq!(error.kind(), ErrorKind::Input);
    assert_eq!(
        case.read_with(&ReadOptions { drop: vec!["b".into()], ..ReadOptions::default() })
            .expect_err("no column")
            .kind(),
        ErrorKind::Input
    );
    for source in [std::io::ErrorKind::StorageFull, std::io::ErrorKind::FileTooLarge] {
        let error = DataError::Output { file: "b.csv".into(), source: source.into() };
        assert_eq!(error.kind(), ErrorKind::System);
        holds(&error.to_string(), &["b.csv", "cannot write", "free some space"]);
    }
    // The device that is always full, where there is one.
    if std::path::Path::new("/dev/full").exists() {
        let error = fewest_data::write_as("/dev/full", &data, fewest_data::Format::Csv).expect_err("full");
        assert_eq!(error.kind(), ErrorKind::System, "{error}");
    }
}

/// Found by the fuzzer: a model that wants `c` as a number, and a sparse row where `c`, which is
/// nominal, is missing.
#[test]
fn a_missing_value_of_which_no_feature_is_made() {
    let text = "@relation r\n@attribute c {u,v,w}\n@attribute y {a,b}\n@data\n{0 ?}\n{1 b}\n";
    let wanted = ReadOptions { features: Some(vec!["c".into()]), target_optional: true, ..ReadOptions::default() };
    let message = Case::new("a.arff", text).read_with(&wanted).expect_err("no such number").to_string();
    holds(&message, &["feature `c` is needed but missing"]);
}

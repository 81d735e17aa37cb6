//! What each format gives, that all of them read back what was written, and the choice of target
//! and features.

use fewest_data::{Dataset, Features, Format, Note, ReadOptions, TargetRule, read, summary, write};
use fewest_testing::data_file;

use crate::common::{Case, classes, floats, lines, npz, rows};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/");

fn open(path: &str) -> Dataset {
    read(path, &ReadOptions::default()).expect("read")
}

#[test]
fn csv_with_quotes_blank_lines_and_a_byte_order_mark() {
    let text = "\u{feff}\"a, b\",\"say \"\"x\"\"\",5\" disk,y\r\n1,2, 3 ,\"no\r\nway\"\r\n\r\n-4e-3,+5,6,yes\r\n";
    let data = Case::new("a.csv", text).read().expect("read");
    assert_eq!(data.names.to_vec(), ["a, b", "say \"x\"", "5\" disk"]);
    assert_eq!(rows(&data), [[1.0, 2.0, 3.0], [-4e-3, 5.0, 6.0]]);
    assert_eq!(classes(&data), ["no\r\nway", "yes"]);
}

#[test]
fn text_columns_become_dummies() {
    let text = "colour,sex,age,y\nred,m,1,0\ngreen,f,2,1\nblue,f,3,0\n";
    let data = Case::new("a.csv", text).read().expect("read");
    assert_eq!(data.names.to_vec(), ["colour=blue", "colour=green", "colour=red", "sex=m", "age"]);
    assert_eq!(rows(&data), [[0., 0., 1., 1., 1.], [0., 1., 0., 0., 2.], [1., 0., 0., 0., 3.]]);
    let made: Vec<&Note> = data.notes.iter().filter(|n| matches!(n, Note::Dummies { .. })).collect();
    assert_eq!(made[1].to_string(), "text column `sex` became 1 column(s) of 0 and 1: sex=m");
    let options = ReadOptions { text: vec!["age".into()], ..ReadOptions::default() };
    let data = Case::new("a.csv", text).read_with(&options).expect("read");
    assert_eq!(data.names.to_vec()[4..], ["age=1", "age=2", "age=3"]);
}

#[test]
fn target_column_rule() {
    let target = |header: &str| {
        let data = Case::new("a.csv", format!("{header}\n1,2,0\n2,1,1\n")).read().expect("read");
        let rule = data.notes.iter().find_map(|n| match n {
            Note::TargetColumn { rule, .. } => Some(*rule),
            _ => None,
        });
        (data.target.expect("a target").column, rule.expect("a note"))
    };
    assert_eq!(target("y,a,b"), ("y".into(), TargetRule::UsualName));
    assert_eq!(target("a,Class,b"), ("Class".into(), TargetRule::UsualName));
    assert_eq!(target("target,label,b"), ("label".into(), TargetRule::UsualName));
    assert_eq!(target("a,b,c"), ("c".into(), TargetRule::Last));
    let options = ReadOptions { target: Some("a".into()), ..ReadOptions::default() };
    let data = Case::new("a.csv", "a,b,y\n1,2,0\n2,1,1\n").read_with(&options).expect("read");
    assert_eq!(
        (data.target.expect("a target").column.as_str(), data.names.to_vec()),
        ("a", vec!["b".into(), "y".into()])
    );
}

#[test]
fn classes_are_sorted_and_signed() {
    let target = |cells: [&str; 3]| {
        let text = format!("x,y\n1,{}\n2,{}\n3,{}\n", cells[0], cells[1], cells[2]);
        Case::new("a.csv", text).read().expect("read").target.expect("a target")
    };
    let signs = target(["+1", "-1", "1.0"]);
    assert_eq!((signs.classes.clone(), signs.signs()), (vec!["-1".into(), "1".into()], vec![1.0, -1.0, 1.0]));
    assert_eq!(target(["1", "0", "0"]).signs(), [1.0, -1.0, -1.0]);
    assert_eq!(target(["10", "9", "9"]).classes, ["9", "10"]);
    let named = target(["M", "B", "M"]);
    assert_eq!((named.signs(), named.mapping()), (vec![1.0, -1.0, 1.0], Some([("-1", "B"), ("+1", "M")])));
    let three = target(["c", "a", "b"]);
    assert_eq!((three.classes.len(), three.codes.clone(), three.mapping()), (3, vec![2, 0, 1], None));
    assert_eq!(three.codes_in(&["b".into(), "c".into()]), [Some(1), None, Some(0)]);
}

#[test]
fn columns_set_apart_and_dropped() {
    let options = ReadOptions { apart: vec!["fold".into()], drop: vec!["id".into()], ..ReadOptions::default() };
    let data = Case::new("a.csv", "id,fold,x,y\na,1,5,0\nb,2,6,1\n").read_with(&options).expect("read");
    assert_eq!(data.names.to_vec(), ["x"]);
    assert_eq!(
        (data.apart[0].name.as_str(), &data.apart[0].values[..]),
        ("fold", &["1".to_owned(), "2".to_owned()][..])
    );
}

#[test]
fn prediction_files_fit_a_model() {
    let wanted = ["colour=green", "colour=red", "colour=blue", "sex=m", "age"].map(String::from).to_vec();
    let options = ReadOptions { features: Some(wanted.clone()), target_optional: true, ..ReadOptions::default() };
    let text = "note,age,sex,colour\nfirst,7,m,red\n,8,f,violet\n";
    let data = Case::new("new.csv", text).read_with(&options).expect("read");
    assert_eq!(data.names.to_vec(), wanted);
    assert_eq!(rows(&data), [[0., 1., 0., 1., 7.], [0., 0., 0., 0., 8.]]);
    assert!(data.target.is_none());
    assert!(data.notes.contains(&Note::Unseen {
        column: "colour".into(),
        value: "violet".into(),
        rows: 1,
        known: false
    }));
    assert!(data.notes.contains(&Note::Ignored { count: 1 }));
}

#[test]
fn svmlight_details() {
    let text = "# a comment\n+1 qid:3 1:2 3:-1.5e0 # more\r\n\n-1 2:0 3:0.25\t7:1";
    let data = Case::new("a.svm", text).read().expect("read");
    assert_eq!((data.features.n_features(), data.features.as_design().stored()), (7, 4));
    assert_eq!(rows(&data), [[2., 0., -1.5, 0., 0., 0., 0.], [0., 0., 0.25, 0., 0., 0., 1.]]);
    assert_eq!(classes(&data), ["1", "-1"]);
    assert!(data.notes.contains(&Note::QueryIds { lines: 1 }));
    assert_eq!(data.names.get(6), "x7");
}

#[test]
fn svmlight_for_prediction_is_padded_and_cut() {
    let features = |p: usize| Some((1..=p).map(|j| format!("x{j}")).collect::<Vec<_>>());
    let case = Case::new("a.svm", "1:2 3:1\n4:1\n");
    let options = ReadOptions { target_optional: true, features: features(6), ..ReadOptions::default() };
    let data = case.read_with(&options).expect("read");
    assert_eq!((data.features.n_features(), data.target.is_none()), (6, true));
    assert!(data.notes.contains(&Note::Padded { count: 2 }));
    let data = case.read_with(&ReadOptions { features: features(2), ..options }).expect("read");
    assert_eq!(rows(&data), [[2., 0.], [0., 0.]]);
}

#[test]
fn arff_dense() {
    let text = "% weather\n@RELATION 'w'\n@attribute 'out look' {sunny, overcast, 'very rainy'}\n@attribute temp REAL\n\
        @attribute windy {TRUE,FALSE}\n@attribute old {0,1}\n@attribute play {yes,no}\n\n@DATA\n\
        sunny, 85,FALSE,0,no % not a comment here\n";
    let text = text.replace(" % not a comment here", "") + "% a comment\n'very rainy',70.5,TRUE,1,yes\n";
    let data = Case::new("a.arff", text).read().expect("read");
    let names = ["out look=overcast", "out look=sunny", "out look=very rainy", "temp", "windy=TRUE", "old"];
    assert_eq!(data.names.to_vec(), names);
    assert_eq!(rows(&data), [[0., 1., 0., 85., 0., 0.], [0., 0., 1., 70.5, 1., 1.]]);
    assert_eq!(classes(&data), ["no", "yes"]);
}

#[test]
fn arff_sparse() {
    let text = "@relation r\n@attribute a real\n@attribute b {u,v}\n@attribute c {z,w}\n@attribute d real\n\
        @attribute y {p,q}\n@data\n{0 1.5, 3 -2, 4 q}\n{1 v, 2 w}\n{ }\n";
    let data = Case::new("a.arff", text).read().expect("read");
    assert!(matches!(data.features, Features::Sparse(_)));
    assert_eq!(data.names.to_vec(), ["a", "b=v", "c=z", "d"]);
    assert_eq!(rows(&data), [[1.5, 0., 1., -2.], [0., 1., 0., 0.], [0., 0., 1., 0.]]);
    assert_eq!(classes(&data), ["q", "p", "p"]);
}

#[test]
fn files_of_pandas_and_numpy() {
    let table = open(&format!("{FIXTURES}table.csv"));
    for name in ["table_snappy", "table_zstd", "table_index", "table_gzip", "table_gzip_plain", "table_lz4"] {
        let parquet = open(&format!("{FIXTURES}{name}.parquet"));
        assert_eq!(rows(&parquet), rows(&table), "{name}");
        assert_eq!(classes(&parquet), classes(&table), "{name}");
    }
    let dense = open(&format!("{FIXTURES}dense_c.npz"));
    let small = open(&format!("{FIXTURES}dense_f.npz"));
    assert_eq!(small.names.to_vec(), ["age", "bmi", "hdl", "ldl"]);
    assert_eq!(classes(&small), classes(&table));
    for (i, row) in rows(&dense).iter().enumerate() {
        assert_eq!(row[..], rows(&table)[i][..4]);
        let single: Vec<f64> = row.iter().map(|x| f64::from(*x as f32)).collect();
        assert_eq!(single, rows(&small)[i]);
    }
    let text = std::fs::read_to_string(format!("{FIXTURES}sparse_dense.txt")).expect("fixture");
    let number = |cell: &str| cell.parse::<f64>().expect("a number");
    let expected: Vec<Vec<f64>> = text.lines().map(|l| l.split(' ').map(number).collect()).collect();
    for name in ["csr_y", "csc_y"] {
        let sparse = open(&format!("{FIXTURES}{name}.npz"));
        assert_eq!(rows(&sparse), expected, "{name}");
        assert_eq!(classes(&sparse), classes(&dense), "{name}");
    }
}

/// Values that are hard to write: tiny, huge, many digits.
fn hard_values() -> Case {
    let text = "a,b with blank,\"c,d\",y\n0.1,1e-300,-1.7976931348623157e308,no\n0,5e-324,123456789.12345679,yes\n\
        -3,2.2250738585072014e-308,1e22,no\n0.30000000000000004,1,0,yes\n";
    Case::new("hard.csv", text)
}

#[test]
fn everything_reads_back() {
    let hard = hard_values();
    let dense = hard.read().expect("read");
    let sparse =
        Case::new("s.svm", "+1 1:0.1 3:1e-300\n-1 2:5e-324 4:-7\n+1 4:123456789.12345679\n").read().expect("read");
    for data in [&dense, &sparse] {
        for format in ["csv", "tsv", "svm", "arff", "parquet", "npz"] {
            for compression in ["", ".gz", ".zst", ".bz2"] {
                let path = hard.beside(&format!("out.{format}{compression}"));
                let notes = write(&path, data).expect("write");
                let back = open(&path);
                let wide =
                    |d: &Dataset| rows(d).into_iter().map(|r| r.into_iter().map(f64::to_bits).collect()).collect();
                let (was, is): (Vec<Vec<u64>>, Vec<Vec<u64>>) = (wide(data), wide(&back));
                assert_eq!(was, is, "{path}");
                if format == "svm" {
                    let renamed = data.names == dense.names;
                    assert_eq!(notes.iter().any(|n| matches!(n, Note::ClassesRenamed { .. })), renamed);
                    assert_eq!(notes.contains(&Note::NamesDropped), renamed);
                } else {
                    assert_eq!(data.names.to_vec(), back.names.to_vec(), "{path}");
                    assert_eq!(data.target, back.target, "{path}");
                    assert!(notes.is_empty());
                }
            }
        }
    }
}

#[test]
fn gzip_of_two_members() {
    let case = Case::new("a.csv", "x,y\n1,0\n");
    let part = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        std::io::Write::write_all(&mut encoder, text.as_bytes()).expect("write");
        encoder.finish().expect("finish")
    };
    let path = case.beside("two.csv.gz");
    std::fs::write(&path, [part("x,y\n1,0\n"), part("2,1\n")].concat()).expect("write");
    assert_eq!(rows(&open(&path)), [[1.0], [2.0]]);
}

#[test]
fn waves_and_threads_do_not_matter() {
    // More than a wave of text, with quoted line ends that cross pieces.
    let table: String = lines(60_000, |i| format!("{},{}.25,\"k\n{}\",{}\n", i, i * 7 % 1009, i % 3, i % 2));
    let csv = Case::new("a.csv", format!("a,b,c,y\n{table}"));
    let lines: String = lines(60_000, |i| format!("{} {}:1 {}:0.{}\n", i % 2, 1 + i % 50, 60 + i % 70, 1 + i));
    let svm = Case::new("a.svm", lines);
    let with = |threads: usize, case: &Case| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| case.read()).expect("read")
    };
    for case in [&csv, &svm] {
        let one = with(1, case);
        assert_eq!(one.features.n_samples(), 60_000);
        let three = with(3, case);
        assert_eq!(one.target, three.target);
        for j in 0..one.features.n_features() {
            let column = |data: &Dataset| {
                let mut values = Vec::new();
                data.features.as_design().each_in_column(j, &mut |i, x| values.push((i, x)));
                values
            };
            assert_eq!(column(&one), column(&three));
        }
    }
    let data = with(2, &csv);
    assert_eq!(data.features.value(54_321, 0), 54_321.0);
    assert_eq!(data.names.to_vec(), ["a", "b", "c=k\n0", "c=k\n1", "c=k\n2"]);
    assert_eq!(data.features.value(54_322, 3), 1.0);
}

#[test]
fn formats_by_ending() {
    for (path, format) in [
        ("a.csv", Some(Format::Csv)),
        ("A.TSV.GZ", Some(Format::Tsv)),
        ("a.b.libsvm.zst", Some(Format::Svmlight)),
        ("a.arff.bz2", Some(Format::Arff)),
        ("a.parquet", Some(Format::Parquet)),
        ("a.npz", Some(Format::Npz)),
        ("a.csc", Some(Format::Csc)),
        ("a.gz", None),
        ("csv", None),
        ("-", None),
    ] {
        assert_eq!(Format::of_path(path), format, "{path}");
    }
}

#[test]
fn summary_counts() {
    let data = Case::new("a.csv", "a,b,c,d,y\n1,1,5,2,0\n0,0,5,3,1\n2,2,5,2,1\n").read().expect("read");
    let dense = summary(&data);
    assert_eq!((dense.n_samples, dense.n_features, dense.stored, dense.bytes), (3, 4, 12, 96));
    assert_eq!((dense.constant.clone(), dense.smallest, dense.largest), (vec![2], 0.0, 5.0));
    assert_eq!(dense.duplicates.iter().map(|d| (d.feature, d.of)).collect::<Vec<_>>(), [(1, 0)]);
    assert_eq!(dense.classes, [("0".to_owned(), 1), ("1".to_owned(), 2)]);
    let path = Case::new("b.csv", "");
    let svm = path.beside("b.svm");
    write(&svm, &data).expect("write");
    let sparse = summary(&open(&svm));
    assert_eq!((sparse.constant, sparse.duplicates, sparse.ranges), (dense.constant, dense.duplicates, dense.ranges));
    assert_eq!(sparse.density, dense.density);
}

#[test]
fn benchmark_data_have_their_stated_sizes() {
    for (name, n, p, positive) in [
        ("spambase.csv", 4601, 57, 1813),
        ("madelon_valid.csv.gz", 600, 500, 300),
        ("duke_breast.svm.gz", 44, 7129, 23),
        ("a9a.svm.gz", 32561, 123, 7841),
        ("dorothea_valid.svm.gz", 350, 100_000, 34),
    ] {
        let Some(path) = data_file(name) else { return };
        let data = open(path.to_str().expect("a plain path"));
        assert_eq!((data.features.n_samples(), data.features.n_features()), (n, p), "{name}");
        let target = data.target.expect("a target");
        assert_eq!(
            (target.classes.clone(), target.counts()[1]),
            (vec!["-1".to_owned(), "1".into()], positive),
            "{name}"
        );
    }
}

#[test]
fn classes_that_are_large_integers_keep_their_digits() {
    let large = ["9007199254740992", "9007199254740993", "9007199254740994"];
    let shown = |data: &Dataset| (data.target.as_ref().expect("a target").classes.clone(), classes(data));
    let right = (large.map(str::to_owned).to_vec(), (0..6).map(|i| large[2 - i % 3].to_owned()).collect::<Vec<_>>());
    let row = |text: &dyn Fn(usize, &str) -> String| (0..6).map(|i| text(i, large[2 - i % 3])).collect::<String>();
    let arff = format!("@relation r\n@attribute a numeric\n@attribute y {{{}}}\n@data\n", large.join(","));
    for (name, text) in [
        ("a.csv", format!("a,y\n{}", row(&|i, class| format!("{i}.5,{class}\n")))),
        ("plus.csv", format!("a,y\n{}", row(&|i, class| format!("{i}.5,+0{class}\n")))),
        ("a.svm", row(&|i, class| format!("{class} 1:{i}.5\n"))),
        ("a.arff", arff + &row(&|i, class| format!("{i}.5,{class}\n"))),
    ] {
        let case = Case::new(name, text);
        let data = case.read().unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(shown(&data), right, "{name}");
        for other in ["b.csv", "b.npz", "b.parquet", "b.arff", "b.svm", "b.csc"] {
            let out = case.beside(other);
            write(&out, &data).expect("written");
            assert_eq!(shown(&read(&out, &ReadOptions::default()).expect(other)), right, "{name} as {other}");
        }
    }
    // Arrays of integers.
    let case = Case::new("a", "");
    let out = case.beside("a.npz");
    let codes: Vec<u8> =
        right.1.iter().flat_map(|class| class.parse::<i64>().expect("an integer").to_le_bytes()).collect();
    npz(&out, &[("X", "<f8", "(6, 1)", &floats(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0])), ("y", "<i8", "(6,)", &codes)]);
    assert_eq!(shown(&read(&out, &ReadOptions::default()).expect("npz")), right);
    // Numbers that are equal are one class, however they are written.
    let one = Case::new("a.csv", "a,y\n1,100000000000000000\n2,1e17\n3,2\n").read().expect("read");
    assert_eq!(shown(&one).0, ["2", "100000000000000000"]);
}

#[test]
fn classes_of_an_archive_are_found_by_their_name_in_it() {
    let case = Case::new("a.csv", "a,kind\n1,u\n2,v\n3,u\n");
    let (out, target) =
        (case.beside("a.npz"), |name: &str| ReadOptions { target: Some(name.to_owned()), ..ReadOptions::default() });
    write(&out, &case.read().expect("read")).expect("written");
    for options in [ReadOptions::default(), target("kind"), target("y")] {
        let found = read(&out, &options).expect("read").target.expect("a target");
        assert_eq!(found.classes, ["u", "v"]);
        assert_eq!(found.column, if options == target("y") { "y" } else { "kind" });
    }
    let fault = read(&out, &target("other")).expect_err("no such array").to_string();
    assert!(fault.contains("other"), "{fault}");
}

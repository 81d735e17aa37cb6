//! Totals of samples and logarithms, as they are read: the same in every form of a matrix, and as
//! the formula has it.

use fewest_data::{DataError, Dataset, Features, Format, Normalization, ReadOptions, read, to_columns, write_as};
use fewest_testing::data_file;

use crate::common::{Case, floats, holds, notes, npz, rows};

const TABLE: &str = "a,b,c,y\n1,5,0,0\n2,0,4,1\n0,0,0,0\n6,5,2,1\n";
const SPARSE: &str = "0 1:1 2:5\n1 1:2 3:4\n0\n1 1:6 2:5 3:2\n";

fn asked(total: Option<f64>, log1p: bool) -> ReadOptions {
    let normalize = Normalization { total, log1p, uncounted: Vec::new() };
    ReadOptions { normalize, ..ReadOptions::default() }
}

/// The formula, row by row.
fn expected(rows: &[Vec<f64>], total: Option<f64>, log1p: bool) -> Vec<Vec<f64>> {
    let of = |row: &Vec<f64>| {
        let sum: f64 = row.iter().sum();
        let factor = total.filter(|_| sum > 0.0).map_or(1.0, |total| total / sum);
        row.iter().map(|x| if log1p { (x * factor).ln_1p() } else { x * factor }).collect()
    };
    rows.iter().map(of).collect()
}

#[track_caller]
fn near(found: &[Vec<f64>], wanted: &[Vec<f64>]) {
    assert_eq!(found.len(), wanted.len());
    for (a, b) in found.iter().flatten().zip(wanted.iter().flatten()) {
        assert!((a - b).abs() <= 1e-14 * b.abs(), "{a} {b}");
    }
}

fn done(data: &Dataset) -> (usize, usize) {
    let done = data.normalized().expect("a note of it");
    (done.features, done.empty)
}

#[test]
fn every_form_of_a_matrix_gives_the_same_values() {
    let plain = rows(&Case::new("a.csv", TABLE).read().expect("read"));
    let case = Case::new("a.csv", TABLE);
    let (archive, columns) = (case.beside("a.npz"), case.beside("a.csc"));
    let x = floats(&plain.concat());
    npz(&archive, &[("X", "<f8", "(4, 3)", &x), ("y", "<f8", "(4,)", &floats(&[0.0, 1.0, 0.0, 1.0]))]);
    to_columns(case.path(), &ReadOptions::default(), &columns).expect("converted");
    let mtx =
        "%%MatrixMarket matrix coordinate integer general\n4 3 7\n1 1 1\n1 2 5\n2 1 2\n2 3 4\n4 1 6\n4 2 5\n4 3 2\n";
    for (total, log1p) in [(Some(1e4), true), (Some(10.0), false), (None, true)] {
        let (options, wanted) = (asked(total, log1p), expected(&plain, total, log1p));
        let dense = case.read_with(&options).expect("read");
        near(&rows(&dense), &wanted);
        assert_eq!(done(&dense), (3, 1));
        for (name, text) in [("a.svm", SPARSE), ("a.mtx", mtx)] {
            let other = Case::new(name, text);
            let free = ReadOptions { target_optional: true, ..options.clone() };
            let found = other.read_with(&free).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert!(matches!(found.features, Features::Sparse(_)));
            assert_eq!(rows(&found), rows(&dense), "{name}");
            assert_eq!(done(&found), (3, 1));
            // By the sorter of column files, or in memory where it does not.
            let out = other.beside("out.csc");
            let told = to_columns(other.path(), &free, &out).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert!(told.notes.iter().any(|note| note.to_string().contains("ln(1 + x)") || !log1p), "{:?}", told.notes);
            let back = read(&out, &ReadOptions { target_optional: true, ..ReadOptions::default() }).expect("read");
            assert!(matches!(back.features, Features::Mapped(_)));
            assert_eq!(rows(&back), rows(&dense), "{name}");
        }
        for path in [&archive, &columns] {
            let found = read(path, &options).unwrap_or_else(|e| panic!("{path}: {e}"));
            assert_eq!(rows(&found), rows(&dense), "{path}");
        }
        let out = case.beside("sorted.csc");
        to_columns(&archive, &options, &out).expect("sorted");
        assert_eq!(rows(&read(&out, &ReadOptions::default()).expect("read")), rows(&dense));
        for format in [Format::Arff, Format::Parquet, Format::Tsv] {
            let path = case.beside(&format!("b.{}", format.name()));
            write_as(&path, &case.read().expect("read"), format).expect("written");
            assert_eq!(rows(&read(&path, &options).expect("read")), rows(&dense), "{path}");
        }
    }
}

#[test]
fn features_that_are_left_out_count_in_totals() {
    let plain = rows(&Case::new("a.csv", TABLE).read().expect("read"));
    let wanted: Vec<Vec<f64>> = expected(&plain, Some(12.0), true).into_iter().map(|row| vec![row[1]]).collect();
    let base = asked(Some(12.0), true);
    let dropped = ReadOptions { drop: vec!["a".into(), "c".into()], ..base.clone() };
    let only = ReadOptions { only: vec!["b".into()], ..base.clone() };
    let model = ReadOptions { features: Some(vec!["b".into()]), target_optional: true, ..base };
    let table = Case::new("a.csv", TABLE);
    let archive = table.beside("a.npz");
    write_as(&archive, &table.read().expect("read"), Format::Npz).expect("written");
    let parquet = table.beside("a.parquet");
    write_as(&parquet, &table.read().expect("read"), Format::Parquet).expect("written");
    let arff = "@relation r\n@attribute a real\n@attribute b real\n@attribute c real\n@attribute y {0,1}\n@data\n\
                {0 1,1 5}\n{0 2,2 4,3 1}\n{}\n{0 6,1 5,2 2,3 1}\n";
    let sparse = Case::new("a.arff", arff);
    for options in [&dropped, &only, &model] {
        for path in [table.path(), &archive, &parquet, sparse.path()] {
            let data = read(path, options).unwrap_or_else(|e| panic!("{path}: {e}"));
            assert_eq!((data.names.to_vec(), done(&data)), (vec!["b".to_owned()], (3, 1)), "{path}");
            near(&rows(&data), &wanted);
        }
    }
}

#[test]
fn categories_and_columns_set_apart_stay_out_of_totals() {
    let text = "a,city,b,batch,age,person,y\n1,x,3,1,50,7,0\n2,z,0,2,60,8,1\n4,x,4,1,70,9,1\n";
    let how = Normalization { total: Some(10.0), log1p: false, uncounted: vec!["age".into()] };
    let options = ReadOptions {
        normalize: how,
        text: vec!["batch".into()],
        apart: vec!["person".into()],
        drop: vec!["age".into(), "city".into()],
        ..ReadOptions::default()
    };
    let data = Case::new("a.csv", text).read_with(&options).expect("read");
    assert_eq!(data.names.to_vec(), ["a", "b", "batch=2"]);
    near(&rows(&data), &[vec![2.5, 7.5, 0.0], vec![10.0, 0.0, 1.0], vec![5.0, 5.0, 0.0]]);
    let learnt = data.normalized().expect("noted");
    assert_eq!(
        (learnt.features, &learnt.how.uncounted[..]),
        (2, &["age".to_owned(), "batch".into(), "person".into()][..])
    );
    // A city that is no feature of a model is a text still, and counts for nothing.
    let wanted = Some(vec!["b".to_owned()]);
    let model = ReadOptions { features: wanted, drop: Vec::new(), text: Vec::new(), target_optional: true, ..options };
    let model = ReadOptions { normalize: learnt.how.clone(), ..model };
    near(&rows(&Case::new("a.csv", text).read_with(&model).expect("read")), &[vec![7.5], vec![0.0], vec![5.0]]);
}

#[test]
fn what_cannot_be_meant_is_refused_by_place() {
    let says = |name: &str, text: &str, options: &ReadOptions| {
        Case::new(name, text).read_with(options).expect_err("refused").to_string()
    };
    let (total, log1p) = (asked(Some(1e4), false), asked(None, true));
    let negative = "a,b,y\n1,2,0\n3,-4,1\n-5,1,1\n";
    holds(&says("a.csv", negative, &total), &["row 2", "`b`", "-4", "counts", "`normalize_total"]);
    holds(&says("a.csv", negative, &log1p), &["row 2", "`b`", "-4", "`log1p"]);
    holds(&says("a.svm", "0 1:1 2:2\n1 1:3 2:-4\n", &log1p), &["row 2", "`x2`", "-4"]);
    let dropped = ReadOptions { drop: vec!["b".into()], ..total.clone() };
    holds(&says("a.csv", negative, &dropped), &["row 2", "`b`", "fewest convert"]);
    let missing = "a,b,y\n1,2,0\n3,,1\n";
    let free = |options: &ReadOptions| ReadOptions { missing: true, ..options.clone() };
    holds(&says("a.csv", missing, &free(&total)), &["row 2", "`b`", "missing", "`log1p` alone"]);
    let data = Case::new("a.csv", missing).read_with(&free(&log1p)).expect("read");
    assert!(rows(&data)[1][1].is_nan());
    assert_eq!(rows(&data)[1][0], 3.0f64.ln_1p());
    for total in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        holds(&says("a.csv", TABLE, &asked(Some(total), false)), &["`normalize_total", "above 0"]);
    }
    let huge = "a,b,y\n1e308,1e308,0\n1,2,1\n";
    holds(&says("a.csv", huge, &total), &["row 1", "total"]);
}

#[test]
fn a_column_file_is_read_into_memory_or_says_what_it_takes() {
    let case = Case::new("a.svm", SPARSE);
    let out = case.beside("a.csc");
    to_columns(case.path(), &ReadOptions::default(), &out).expect("converted");
    let options = asked(Some(1e4), true);
    let data = read(&out, &options).expect("read");
    assert!(matches!(data.features, Features::Sparse(_)));
    holds(&notes(&data), &["total over 3 features is 10000"]);
    let error = read(&out, &ReadOptions { memory_limit: Some(100), ..options }).expect_err("no room");
    assert!(matches!(error, DataError::Memory { .. }), "{error}");
}

#[test]
fn counts_of_cells_are_as_the_formula_has_them() {
    let Some(path) = data_file("cells/baron6.h5ad") else { return };
    let path = path.to_str().expect("UTF-8");
    let target = Some("obs/cell_type".to_owned());
    let plain = read(path, &ReadOptions { target: target.clone(), ..ReadOptions::default() }).expect("read");
    let options = ReadOptions { target, ..asked(Some(1e4), true) };
    let data = read(path, &options).expect("read");
    let (n, p) = (data.features.n_samples(), data.features.n_features());
    let mut sums = vec![0.0; n];
    let (before, after) = (plain.features.as_design(), data.features.as_design());
    (0..p).for_each(|j| before.each_in_column(j, &mut |i, x| sums[i] += x));
    for j in 0..p {
        let mut wanted = Vec::new();
        before.each_in_column(j, &mut |i, x| wanted.push((i, (x / sums[i] * 1e4).ln_1p())));
        let mut at = 0;
        after.each_in_column(j, &mut |i, x| {
            assert_eq!(i, wanted[at].0);
            assert!((x - wanted[at].1).abs() <= 1e-14 * x, "{x} {}", wanted[at].1);
            at += 1;
        });
        assert_eq!(at, wanted.len());
    }
    assert_eq!(data.normalized().expect("noted").features, p);
    // The sorter gives the same.
    let case = Case::new("a", "");
    let out = case.beside("a.csc");
    to_columns(path, &options, &out).expect("sorted");
    let mapped = read(&out, &ReadOptions::default()).expect("read").features;
    let entries = |design: &dyn fewest_svm::Design, j: usize| {
        let mut all = Vec::new();
        design.each_in_column(j, &mut |i, x| all.push((i, x)));
        all
    };
    assert!((0..p).all(|j| entries(mapped.as_design(), j) == entries(after, j)));
}

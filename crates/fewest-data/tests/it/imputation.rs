//! Missing values in every format, and what stands in for them, against their definitions.

use fewest_data::{
    DataError, Dataset, Format, Imputation, MissingRule, Note, ReadOptions, missing_counts, read, write_as,
};

use crate::common::{Case, holds, refused, rows};

/// `age` lacks two values, `colour` (three values) one, `side` (two values) one.
const TABLE: &str =
    "age,colour,side,full,y\n1,red,left,1,0\n?,blue,left,2,1\n4,,right,3,0\n4,red,NA,4,1\n,green,left,5,0\n";

fn lenient() -> ReadOptions {
    ReadOptions { missing: true, ..ReadOptions::default() }
}

/// The values of one feature; NaN as none.
fn column(data: &Dataset, name: &str) -> Vec<Option<f64>> {
    let j = data.names.position(name).unwrap_or_else(|| panic!("{name} is not among {:?}", data.names));
    rows(data).iter().map(|row| Some(row[j]).filter(|x| !x.is_nan())).collect()
}

#[test]
fn missing_values_come_through_only_where_they_are_let_in() {
    let message = refused("a.csv", TABLE);
    holds(
        &message,
        &["a.csv, line 3, column `age`", "`?`", "4 such", "`missing` mean, median, most-frequent or indicator"],
    );
    let data = Case::new("a.csv", TABLE).read_with(&lenient()).expect("read");
    assert_eq!(column(&data, "age"), [Some(1.0), None, Some(4.0), Some(4.0), None]);
    assert_eq!(column(&data, "colour=red"), [Some(1.0), Some(0.0), None, Some(1.0), Some(0.0)]);
    assert_eq!(column(&data, "side=right"), [Some(0.0), Some(0.0), Some(1.0), None, Some(0.0)]);
    let told = data.notes.iter().map(Note::to_string).find(|note| note.contains("missing")).expect("a note");
    holds(&told, &["4 value(s) are missing in 3 column(s)", "age (2)", "colour (1)", "side (1)"]);
    // Infinities and classes are never let in.
    for (text, place) in
        [("a,y\n1,0\ninf,1\n?,0\n", "line 3, column `a`"), ("a,y\n1,0\n2,\n3,1\n", "line 3, column `y`")]
    {
        let error = Case::new("a.csv", text).read_with(&lenient()).expect_err("refused");
        assert!(matches!(error, DataError::Infinite { count: 1, .. } | DataError::NoClass { count: 1, .. }), "{error}");
        holds(&error.to_string(), &[place]);
        // No advice that leads back here.
        assert!(!error.to_string().contains("`missing` mean"), "{error}");
    }
}

#[test]
fn every_format_has_missing_values() {
    let case = Case::new("a.csv", "age,size,y\n1,,0\n?,2.5,1\n4,0,0\nNaN,0,1\n");
    let data = case.read_with(&lenient()).expect("read");
    let expected = [column(&data, "age"), column(&data, "size")];
    for format in [Format::Csv, Format::Tsv, Format::Svmlight, Format::Arff, Format::Parquet, Format::Npz] {
        let path = case.beside(&format!("b.{}", if format == Format::Svmlight { "svm" } else { format.name() }));
        write_as(&path, &data, format).expect("written");
        let error = read(&path, &ReadOptions::default()).expect_err("refused");
        assert!(matches!(error, DataError::NotFinite { count: 3, .. }), "{path}: {error}");
        let back = read(&path, &lenient()).expect("read");
        let names: [&str; 2] = if format == Format::Svmlight { ["x1", "x2"] } else { ["age", "size"] };
        assert_eq!(names.map(|name| column(&back, name)), expected, "{path}");
    }
    // Sparse rows of arff, a text attribute of three values among them.
    let head = "@relation r\n@attribute a numeric\n@attribute c {u,v,w}\n@attribute y {no,yes}\n@data\n";
    let sparse = format!("{head}{{0 ?, 1 v}}\n{{1 ?, 2 yes}}\n{{0 3, 1 w, 2 yes}}\n");
    holds(&refused("s.arff", &sparse), &["line 6, column `a`", "2 such"]);
    let data = Case::new("s.arff", &sparse).read_with(&lenient()).expect("read");
    assert_eq!(column(&data, "a"), [None, Some(0.0), Some(3.0)]);
    assert_eq!(["c=u", "c=v", "c=w"].map(|name| column(&data, name)[1]), [None; 3]);
}

#[test]
fn null_of_parquet_is_missing_in_numbers_and_in_text() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/table_null.parquet");
    assert!(matches!(read(path, &ReadOptions::default()), Err(DataError::NotFinite { .. })));
    let data = read(path, &lenient()).expect("read");
    assert_eq!(column(&data, "age"), [Some(31.0), None, Some(40.0), Some(40.0)]);
    assert_eq!(column(&data, "colour=red"), [Some(1.0), Some(0.0), None, Some(1.0)]);
    assert_eq!(data.names.to_vec(), ["age", "colour=red"], "null is no third colour");
}

#[test]
fn what_stands_in_is_what_the_rule_says() {
    let data = Case::new("a.csv", TABLE).read_with(&lenient()).expect("read");
    let texts = data.text_columns();
    let fill = |rule, name: &str| {
        let imputation = Imputation::fit(rule, &data.features, &texts);
        imputation.fill[data.names.position(name).expect("a feature")]
    };
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-15, "{a} {b}");
    for (name, mean, median, most) in [
        ("age", 3.0, 4.0, 4.0),
        // red twice, blue and green once: with a median too the text is red.
        ("colour=red", 0.5, 1.0, 1.0),
        ("colour=blue", 0.25, 0.0, 0.0),
        ("colour=green", 0.25, 0.0, 0.0),
        ("side=right", 0.25, 0.0, 0.0),
        // All there, all different.
        ("full", 3.0, 3.0, 1.0),
    ] {
        near(fill(MissingRule::Mean, name), mean);
        near(fill(MissingRule::Indicator, name), mean);
        near(fill(MissingRule::Median, name), median);
        near(fill(MissingRule::MostFrequent, name), most);
    }
}

#[test]
fn dense_and_sparse_are_filled_in_alike() {
    let dense = "x1,x2,x3,y\n-3,0,0,1\n?,0,1e308,-1\n0,2,?,1\n5,?,1.5e308,-1\n-1,0,0,1\n";
    let sparse = "1 1:-3\n-1 1:nan 3:1e308\n1 2:2 3:nan\n-1 1:5 2:nan 3:1.5e308\n1 1:-1\n";
    let dense = Case::new("a.csv", dense).read_with(&lenient()).expect("read");
    let sparse = Case::new("a.svm", sparse).read_with(&lenient()).expect("read");
    assert_eq!(missing_counts(&dense.features), [(0, 1), (1, 1), (2, 1)]);
    assert_eq!(missing_counts(&sparse.features), [(0, 1), (1, 1), (2, 1)]);
    for (rule, expected) in [
        (MissingRule::Mean, [0.25, 0.5, 6.25e307]),
        (MissingRule::Median, [-0.5, 0.0, 5e307]),
        (MissingRule::MostFrequent, [-3.0, 0.0, 0.0]),
    ] {
        let (a, b) = (Imputation::fit(rule, &dense.features, &[]), Imputation::fit(rule, &sparse.features, &[]));
        for (j, expected) in expected.into_iter().enumerate() {
            for found in [a.fill[j], b.fill[j]] {
                assert!((found - expected).abs() <= 1e-15 * expected.abs(), "{rule:?} of x{}: {found}", j + 1);
            }
        }
        let (mut first, mut second) = (dense.clone(), sparse.clone());
        a.apply(&mut first.features).expect("as many features");
        a.apply(&mut second.features).expect("as many features");
        assert_eq!(rows(&first), rows(&second));
        assert!(rows(&first).concat().iter().all(|x| x.is_finite()));
        assert_eq!(rows(&first)[0], [-3.0, 0.0, 0.0], "values that are there stay");
    }
    let mut other = Case::new("b.csv", "a,y\n1,0\n2,1\n").read().expect("read");
    let error =
        Imputation::fit(MissingRule::Mean, &dense.features, &[]).apply(&mut other.features).expect_err("3 for 1");
    holds(&error.to_string(), &["for 3 features", "have 1"]);
}

#[test]
fn a_feature_says_where_values_are_missing() {
    let mut data = Case::new("a.csv", TABLE).read_with(&lenient()).expect("read");
    let before = data.names.len();
    let added = data.add_indicators().expect("new names");
    let names: Vec<&str> = added.iter().map(|indicator| indicator.name.as_str()).collect();
    assert_eq!(names, ["age (missing)", "colour (missing)", "side (missing)"]);
    assert_eq!(data.names.len(), before + 3);
    assert_eq!(column(&data, "age (missing)"), [0.0, 1.0, 0.0, 0.0, 1.0].map(Some));
    assert_eq!(column(&data, "colour (missing)"), [0.0, 0.0, 1.0, 0.0, 0.0].map(Some));
    // Other samples are marked in the same way, where they lack nothing, too.
    let mut other = Case::new("b.csv", "age,colour,side,full,y\n7,red,left,1,0\n8,blue,right,1,1\n9,green,left,2,1\n")
        .read()
        .expect("read");
    other.mark(&added).expect("the same columns");
    assert_eq!(column(&other, "side (missing)"), [0.0; 3].map(Some));
    let clash = Case::new("c.csv", "a,a (missing),y\n1,1,0\n?,1,1\n").read_with(&lenient()).expect("read");
    let error = clash.clone().add_indicators().expect_err("the name is taken");
    holds(&error.to_string(), &["a (missing)", "rename"]);
    // Sparse data stay sparse.
    let mut sparse = Case::new("a.svm", "1 1:nan 2:1\n-1 2:3\n1 1:2\n").read_with(&lenient()).expect("read");
    sparse.add_indicators().expect("new names");
    assert!(sparse.features.as_design().is_sparse());
    assert_eq!(column(&sparse, "x1 (missing)"), [1.0, 0.0, 0.0].map(Some));
}

#[test]
fn a_feature_without_any_value_or_with_one_is_constant() {
    let text = "none,one,two,y\n?,5,1,0\n?,?,?,1\n?,5,2,0\n";
    let data = Case::new("a.csv", text).read_with(&lenient()).expect("read");
    assert_eq!(data.features.constant(), vec![0, 1].into());
    let imputation = Imputation::fit(MissingRule::Median, &data.features, &[]);
    assert_eq!(imputation.fill, [0.0, 5.0, 1.5]);
}

#[test]
fn every_column_that_lacks_values_is_named() {
    let refused = |text: &str| Case::new("a.csv", text).read().expect_err("missing values").to_string();
    let several = refused("a,b,leer,y\n1,,,0\n,2,,1\n3,,,1\n");
    holds(
        &several,
        &["line 2", "6 such value(s)", "in a (1), b (2), leer (3)", "`leer` is blank throughout: say `drop = leer`"],
    );
    let one = refused("a,b,y\n1,,0\n2,2,1\n");
    assert!(!one.contains(", in b") && !one.contains("throughout"), "{one}");
}

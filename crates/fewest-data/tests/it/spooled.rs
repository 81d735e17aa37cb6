//! Workbooks and Arrow files: the same as the text of the same table (`tests/files/make_tables.py`).

use fewest_data::{Dataset, Features, Labels, Note, ReadOptions, read, to_columns};

use crate::common::{Case, classes, holds, lines, notes};

fn path(name: &str) -> String {
    format!("{}/tests/files/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn options() -> ReadOptions {
    ReadOptions { samples: Some("id".into()), missing: true, ..ReadOptions::default() }
}

/// The values, NaN as text.
fn values(data: &Dataset) -> Vec<String> {
    let Features::Dense(design) = &data.features else { panic!("a table is dense") };
    design.values().iter().map(f64::to_string).collect()
}

/// Checks that a file is the table of `table.csv`, in memory and as a column file.
fn is_the_table(name: &str, options: &ReadOptions) {
    let text = read(&path("table.csv"), &ReadOptions { layer: None, ..options.clone() }).expect("the text");
    let data = read(&path(name), options).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(data.samples, text.samples, "{name}");
    assert_eq!(data.target, text.target, "{name}");
    assert_eq!(values(&data), values(&text), "{name}");
    // Python and Excel write truth values in different ways.
    let spelled = |data: &Dataset| data.names.iter().map(|name| name.replace("TRUE", "True")).collect::<Vec<_>>();
    assert_eq!(spelled(&data), spelled(&text), "{name}");
    assert!(data.notes.iter().any(|note| matches!(note, Note::Dates { column, .. } if column == "when")), "{name}");
    let case = Case::new("x.csv", "");
    let made = case.beside("made.csc");
    let whole = ReadOptions { missing: false, drop: vec!["half".into()], ..options.clone() };
    to_columns(&path(name), &whole, &made).unwrap_or_else(|error| panic!("{name}: {error}"));
    let (made, whole) =
        (read(&made, &ReadOptions::default()).expect("made"), read(&path(name), &whole).expect("whole"));
    assert_eq!(made.names, whole.names, "{name}");
    for (i, j) in (0..12).flat_map(|i| (0..made.names.len()).map(move |j| (i, j))) {
        assert_eq!(made.features.value(i, j), whole.features.value(i, j), "{name} {i} {j}");
    }
}

#[cfg(feature = "workbook")]
#[test]
fn workbooks_are_the_table() {
    for name in ["table.xlsx", "table.ods"] {
        is_the_table(name, &options());
    }
    // Another sheet, with its table below and right of the first cell.
    is_the_table("sheets.xlsx", &ReadOptions { layer: Some("data".into()), ..options() });
    let error = read(&path("sheets.xlsx"), &options()).expect_err("the first sheet").to_string();
    holds(&error, &["the first sheet, read me, of 2"]);
    let other = ReadOptions { layer: Some("other".into()), ..options() };
    holds(&read(&path("sheets.xlsx"), &other).expect_err("other").to_string(), &["no sheet other", "read me, data"]);
    holds(&read(&path("table.ods"), &other).expect_err("other").to_string(), &["no sheet other", "`layer"]);
}

#[cfg(feature = "arrow")]
#[test]
fn arrow_files_are_the_table() {
    for name in ["table.feather", "categories.feather"] {
        is_the_table(name, &options());
    }
}

#[cfg(feature = "workbook")]
#[test]
fn labels_in_a_workbook() {
    let data = Case::new("a.csv", "id,a\ns3,1\ns0,2\ns1,3\n");
    let labels = Labels { file: path("table.xlsx"), column: Some("y".into()) };
    let data = data.read_with(&ReadOptions { labels: Some(labels), ..ReadOptions::default() }).expect("read");
    let target = data.target.as_ref().expect("a target");
    let of_row: Vec<&str> = target.codes.iter().map(|&code| target.classes[code as usize].as_str()).collect();
    assert_eq!(of_row, ["no", "no", "yes"]);
    holds(&notes(&data), &["column `id`", "9 row(s)"]);
}

#[cfg(feature = "workbook")]
#[test]
fn a_column_file_of_a_sheet_heeds_every_option() {
    let case =
        Case::new("kinds.csv", format!("id,kind\n{}", lines(12, |i| format!("s{i},{}\n", ["a", "b", "c"][i % 3]))));
    let made = case.beside("made.csc");
    let labels = Labels { file: case.path().to_owned(), ..Labels::default() };
    let options = ReadOptions {
        labels: Some(labels),
        classes: vec!["a".into(), "c".into()],
        drop: vec!["half".into(), "y".into()],
        samples: Some("id".into()),
        ..ReadOptions::default()
    };
    to_columns(&path("table.xlsx"), &options, &made).expect("converted");
    let data = read(&made, &ReadOptions::default()).expect("a column file");
    assert_eq!(classes(&data), ["a", "c", "a", "c", "a", "c", "a", "c"]);
    assert_eq!(data.target.expect("a target").column, "kind");
}

#[cfg(feature = "workbook")]
#[test]
fn files_that_are_not_what_they_say() {
    for (name, content) in
        [("a.xlsx", "a,b,y\n1,2,0\n"), ("a.ods", "PK\x03\x04 no archive"), ("a.feather", "ARROW1 no")]
    {
        let error = Case::new(name, content).read().expect_err(name).to_string();
        holds(&error, &[name, "damaged"]);
    }
    let book = std::fs::read(path("table.xlsx")).expect("a workbook");
    holds(&Case::new("a.csv", &book).read().expect_err("text").to_string(), &["Excel workbook", "`format = xlsx`"]);
    let cut = Case::new("a.xlsx", &book[..book.len() / 2]).read().expect_err("cut").to_string();
    holds(&cut, &["a.xlsx", "damaged"]);
}

//! Tables as R, pandas, spreadsheets and instruments write them: all forms of one table are read
//! alike, in memory and into column files.

use fewest_data::{Dataset, ReadOptions, TextColumn, read, to_columns};

use crate::common::{Case, classes, holds, lines, notes, refused, rows};

/// The table: numbers, a class, and names of the samples `s0`, `s1`, ...
fn cells(i: usize) -> [String; 3] {
    [format!("{}.5", i % 7), format!("-{}.25", i % 4), ["no", "yes"][i % 3 % 2].to_owned()]
}

const N: usize = 30;

/// A text: the header, and lines made of the cells of each row.
fn text(header: &str, line: impl Fn(usize, [String; 3]) -> String) -> String {
    format!("{header}\n{}", lines(N, |i| line(i, cells(i)) + "\n"))
}

fn comma(value: &str) -> String {
    value.replace('.', ",")
}

fn expected() -> Vec<Vec<f64>> {
    (0..N).map(|i| cells(i)[..2].iter().map(|cell| cell.parse().expect("a number")).collect()).collect()
}

/// Reads a form, checks that it is the table, and that a column file of it is, too.
fn is_the_table(name: &str, content: impl AsRef<[u8]>, options: &ReadOptions) -> Dataset {
    let case = Case::new(name, content);
    let data = case.read_with(options).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(rows(&data), expected(), "{name}");
    assert_eq!(data.names.to_vec(), ["a", "b"], "{name}");
    let target = data.target.as_ref().expect("a target");
    let of_row = |i: usize| target.classes[target.codes[i] as usize].clone();
    assert!((0..N).all(|i| of_row(i) == cells(i)[2]), "{name}: {:?}", classes(&data));
    let out = case.beside("t.csc");
    to_columns(case.path(), options, &out).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(rows(&read(&out, &ReadOptions::default()).expect("a column file")), expected(), "{name}");
    data
}

fn names_of(data: &Dataset) -> Vec<String> {
    data.samples.as_ref().map_or(Vec::new(), |samples| samples.values.clone())
}

#[test]
fn every_form_of_a_table_is_the_same() {
    let plain = ReadOptions::default();
    let numbered: Vec<String> = (0..N).map(|i| format!("s{i}")).collect();
    let forms = [
        ("plain.csv", text("a,b,y", |_, [a, b, y]| format!("{a},{b},{y}"))),
        ("semicolons.csv", text("a;b;y", |_, [a, b, y]| format!("{a};{b};{y}"))),
        ("decimal commas.csv", text("a;b;y", |_, [a, b, y]| format!("{};{};{y}", comma(&a), comma(&b)))),
        ("sep.csv", text("sep=;\na;b;y", |_, [a, b, y]| format!("{a};{b};{y}"))),
        ("tabs.csv", text("a\tb\ty", |_, [a, b, y]| format!("{a}\t{b}\t{y}"))),
        ("tabs.txt", text("a\tb\ty", |_, [a, b, y]| format!("{a}\t{b}\t{y}"))),
        ("commas.tsv", text("a,b,y", |_, [a, b, y]| format!("{a},{b},{y}"))),
        ("pipes.dat", text("a|b|y", |_, [a, b, y]| format!("{a}|{b}|{y}"))),
        ("blanks.txt", text("  a   b y", |_, [a, b, y]| format!("{a:>8}{b:>9}  {y}  "))),
        ("titles.csv", text("Export,,\n,,\nof today,,\n\na,b,y", |_, [a, b, y]| format!("{a},{b},{y}"))),
        ("title.csv", text("Export of today\na,b,y", |_, [a, b, y]| format!("{a},{b},{y}"))),
        ("comments.csv", text("# one\n# a, b, c, d\na,b,y", |_, [a, b, y]| format!("{a},{b},{y}"))),
        ("trailing.csv", text("a,b,y,", |_, [a, b, y]| format!("{a},{b},{y},"))),
        ("trailing rows.csv", text("a,b,y", |_, [a, b, y]| format!("{a},{b},{y},"))),
        ("blank rows.csv", text("a,b,y", |_, [a, b, y]| format!("{a},{b},{y}")) + ",,\n , ,\n\n"),
        ("quoted.csv", text("\"a\",\"b\",\"y\"", |_, [a, b, y]| format!("\"{a}\",\"{b}\",\"{y}\""))),
        ("crlf.csv", text("a;b;y\r", |_, [a, b, y]| format!("{a};{b};{y}\r"))),
        ("mac.csv", text("a,b,y", |_, [a, b, y]| format!("{a},{b},{y}")).replace('\n', "\r")),
    ];
    for (name, content) in forms {
        let data = is_the_table(name, &content, &plain);
        assert_eq!(names_of(&data), Vec::<String>::new(), "{name}");
        // Also by its bytes, whatever they are.
        let units = content.encode_utf16();
        let little: Vec<u8> = [0xff, 0xfe].into_iter().chain(units.flat_map(u16::to_le_bytes)).collect();
        is_the_table(name, little, &plain);
    }
    // With names of the samples.
    let forms = [
        ("r.csv", text("\"\",\"a\",\"b\",\"y\"", |i, [a, b, y]| format!("\"s{i}\",{a},{b},\"{y}\""))),
        ("pandas.csv", text(",a,b,y", |i, [a, b, y]| format!("s{i},{a},{b},{y}"))),
        ("write_table.txt", text("\"a\" \"b\" \"y\"", |i, [a, b, y]| format!("\"s{i}\" {a} {b} \"{y}\""))),
        ("short.tsv", text("a\tb\ty", |i, [a, b, y]| format!("s{i}\t{a}\t{b}\t{y}"))),
        (
            "csv2.csv",
            text("\"\";\"a\";\"b\";\"y\"", |i, [a, b, y]| format!("\"s{i}\";{};{};\"{y}\"", comma(&a), comma(&b))),
        ),
    ];
    for (name, content) in forms {
        let data = is_the_table(name, content, &plain);
        assert_eq!(names_of(&data), numbered, "{name}");
    }
    let named = text("who,a,b,y", |i, [a, b, y]| format!("s{i},{a},{b},{y}"));
    let options = ReadOptions { samples: Some("who".into()), ..plain };
    let data = is_the_table("named.csv", named, &options);
    assert_eq!(data.samples, Some(TextColumn { name: "who".into(), values: numbered }));
}

#[test]
fn what_was_taken_is_said() {
    let read = |text: &str| notes(&Case::new("a.csv", text).read().expect("read"));
    holds(&read("a;b;y\n1,5;2;0\n2,5;3;1\n"), &["semicolons", "decimal commas"]);
    holds(&read("a;b;y\n1.234,5;2;0\n2,5;3;1\n"), &["decimal commas and `.` between thousands"]);
    holds(&read("title\na,b,y\n1,2,0\n3,4,1\n"), &["without the 1 line(s) above the header"]);
    holds(&read("a,b,y\nr1,1,2,0\nr2,3,4,1\n"), &["the header has no name"]);
    // As the format has it: nothing to say.
    assert!(!read("a,b,y\n1,2,0\n3,4,1\n").contains("is read"));
}

#[test]
fn points_in_semicolon_files_stay_points() {
    let data = Case::new("a.csv", "a;b;y\n1.5;2,5 kg;0\n2.5;3;1\n")
        .read_with(&ReadOptions { text: vec!["b".into()], ..ReadOptions::default() });
    assert_eq!(data.expect("points").features.value(0, 0), 1.5);
}

#[test]
fn delimiters_and_comments_as_asked() {
    let options = |delimiter: &str, comment| ReadOptions {
        delimiter: Some(fewest_data::delimiter_of(delimiter).expect("a delimiter")),
        comment,
        ..ReadOptions::default()
    };
    is_the_table("a.csv", text("a:b:y", |_, [a, b, y]| format!("{a}:{b}:{y}")), &options(":", None));
    is_the_table("a.csv", text("a b y", |_, [a, b, y]| format!("{a}   {b} {y}")), &options("blanks", None));
    let half = text("a,b,y", |i, [a, b, y]| format!("{a},{b},{y}{}", if i == 4 { "\n#\"half" } else { "" }));
    is_the_table("a.csv", &half, &options("comma", Some('#')));
    holds(&refused("a.csv", &half), &["line 7", "`comment = #`"]);
    for name in ["", "ab", "1", "\"", "é"] {
        assert!(fewest_data::delimiter_of(name).is_err(), "{name}");
    }
}

#[test]
fn sniffing_is_the_same_beyond_what_it_looks_at() {
    // Rows that the first pass does not reach hold the other signs.
    let many = format!("a;b;y\n{}", lines(40_000, |i| format!("{},5;{};{}\n", i % 9, i % 5, i % 2)));
    let data = Case::new("a.csv", many).read().expect("read");
    assert_eq!((data.features.n_samples(), data.features.value(39_999, 0)), (40_000, (39_999 % 9) as f64 + 0.5));
    let wide = 5000;
    let header = lines(wide, |j| format!("gene{j};"));
    let row = |i: usize| lines(wide, |j| format!("{},{};", (i + j) % 10, j % 10));
    let data = Case::new("a.csv", format!("{header}y\n{}0\n{}1\n{}1\n", row(0), row(1), row(2))).read().expect("wide");
    assert_eq!((data.features.n_features(), data.features.value(1, 7)), (wide, 8.7));
}

#[test]
fn columns_without_a_name() {
    holds(&refused("a.csv", "a,,y\n1,2,0\n3,4,1\n"), &["column 2 has no name"]);
    let data = Case::new("a.csv", "a,,y\n1,,0\n3,,1\n").read().expect("a blank column");
    assert_eq!(rows(&data), [[1.0], [3.0]]);
}

#[test]
fn equal_names_become_different_when_asked() {
    let csv = "TP53,b,TP53,TP53.1,y\n1,2,3,4,0\n5,6,7,8,1\n";
    holds(&refused("a.csv", csv), &["`TP53`", "columns 1 and 3", "`unique_names"]);
    let options = ReadOptions { unique_names: true, ..ReadOptions::default() };
    let data = Case::new("a.csv", csv).read_with(&options).expect("read");
    assert_eq!(data.names.to_vec(), ["TP53", "b", "TP53.2", "TP53.1"]);
}

#[test]
fn columns_by_patterns() {
    let csv = "MT-1,MT-2,RPS6,x,y\n1,2,3,4,0\n5,6,7,8,1\n";
    let read = |options: &ReadOptions| Case::new("a.csv", csv).read_with(options);
    let names = |drop: &[&str], only: &[&str]| {
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        read(&ReadOptions { drop: list(drop), only: list(only), ..ReadOptions::default() })
            .map(|data| data.names.to_vec())
            .map_err(|error| error.to_string())
    };
    assert_eq!(names(&["MT-*"], &[]).expect("read"), ["RPS6", "x"]);
    assert_eq!(names(&["/^RP[SL]/", "x"], &[]).expect("read"), ["MT-1", "MT-2"]);
    assert_eq!(names(&["*-2"], &["MT-*", "x"]).expect("read"), ["MT-1", "x"]);
    holds(&names(&["Z*"], &[]).expect_err("no such column"), &["`Z*`", "dropped column"]);
    holds(&names(&[], &["/(/"]).expect_err("no expression"), &["pattern", "regular expression"]);
    // Sparse data, whose names are numbered.
    let options = ReadOptions { only: vec!["x?".into()], ..ReadOptions::default() };
    let data = Case::new("a.svm", "1 1:1 3:2 12:5\n-1 2:3\n").read_with(&options).expect("read");
    assert_eq!((data.names.len(), data.features.value(0, 2)), (9, 2.0));
}

#[test]
fn svmlight_counts_from_0_where_it_says_so() {
    let lines = "1 0:1 3:2\n-1 1:3\n";
    holds(&refused("a.svm", lines), &["line 1", "`zero_based"]);
    let options = ReadOptions { zero_based: true, ..ReadOptions::default() };
    let expected = [[1.0, 0.0, 0.0, 2.0], [0.0, 3.0, 0.0, 0.0]];
    assert_eq!(rows(&Case::new("a.svm", lines).read_with(&options).expect("read")), expected);
    let told =
        format!("# Generated by dump_svmlight_file from scikit-learn 1.7\n# Column indices are zero-based\n{lines}");
    assert_eq!(rows(&Case::new("a.svm", told).read().expect("read")), expected);
    holds(&refused("a.svm", "0,2 1:1\n1 1:2\n"), &["line 1", "several classes", "multi-label"]);
    let unordered = Case::new("a.svm", "1 3:1 2:2\n").read_with(&options).expect_err("order").to_string();
    holds(&unordered, &["index 2", "after 3"]);
}

/// Text in Windows-1252.
fn windows(text: &str) -> Vec<u8> {
    text.chars().map(|c| if c == '€' { 0x80 } else { u8::try_from(c).expect("Latin-1") }).collect()
}

#[test]
fn text_in_windows_1252_is_read_as_it_is_and_said() {
    let text = |i: usize| {
        format!("{}.5;{};{}\n", i % 5, ["Mädchen", "Mödchen", "Junge"][i % 3], ["Bär", "Bür", "Bor"][i / 2 % 3])
    };
    let csv = format!("Größe (€);Kind;y\n{}", lines(N, text));
    let expected = Case::new("a.csv", &csv).read().expect("UTF-8");
    assert_eq!(expected.target.as_ref().expect("a target").classes, ["Bor", "Bär", "Bür"]);
    assert!(!notes(&expected).contains("Windows"));
    let case = Case::new("a.csv", windows(&csv));
    let data = case.read().expect("Windows-1252");
    holds(&notes(&data), &["a.csv, line 1", "Windows-1252"]);
    assert_eq!((data.names.to_vec(), rows(&data)), (expected.names.to_vec(), rows(&expected)));
    assert_eq!(classes(&data), classes(&expected));
    // A first such letter in a later piece of a large file.
    let many = format!("a,y\n{}ä,ja\n", lines(60_000, |i| format!("{},{}\n", i % 7, ["ja", "nein"][i % 2])));
    let options = ReadOptions { text: vec!["a".into()], ..ReadOptions::default() };
    let data = Case::new("a.csv", windows(&many)).read_with(&options).expect("read");
    holds(&notes(&data), &["line 60002"]);
    assert!(data.names.to_vec().contains(&"a=ä".to_owned()));
    // Class files, matrices with features in the rows, sparse and dense ARFF.
    let labels = case.beside("labels.csv");
    std::fs::write(&labels, windows(&format!("id,Klasse\n{}", lines(N, |i| format!("s{i},{}\n", ["ä", "ö"][i % 2])))))
        .expect("written");
    let with = Case::new("x.csv", format!("id,a\n{}", lines(N, |i| format!("s{i},{}\n", i % 3))));
    let options = ReadOptions {
        labels: Some(fewest_data::Labels { file: labels, ..fewest_data::Labels::default() }),
        ..ReadOptions::default()
    };
    let data = with.read_with(&options).expect("joined");
    assert_eq!(data.target.as_ref().expect("a target").classes, ["ä", "ö"]);
    holds(&notes(&data), &["labels.csv, line 2", "Windows-1252"]);
    for (name, content) in [
        ("a.arff", "@relation r\n@attribute a numeric\n@attribute y {ä,ö}\n@data\n1,ä\n2,ö\n"),
        ("s.arff", "@relation r\n@attribute a numeric\n@attribute y {ä,ö}\n@data\n{0 1}\n{0 2,1 ö}\n"),
        ("a.gct", "#1.2\n1\t2\nName\tDescription\tä\tö\ng\tx\t1\t2\n"),
    ] {
        let options = ReadOptions { target_optional: name == "a.gct", ..ReadOptions::default() };
        let data =
            Case::new(name, windows(content)).read_with(&options).unwrap_or_else(|error| panic!("{name}: {error}"));
        let found = data.target.map_or_else(|| data.samples.expect("samples").values, |target| target.classes);
        assert_eq!(found, ["ä", "ö"], "{name}");
        assert!(data.notes.iter().any(|note| note.to_string().contains("Windows-1252")), "{name}");
    }
}

#[test]
fn text_in_other_encodings_is_refused() {
    let gbk = b"a,sex,y\n1,\xc4\xd0,0\n2,\xc5\xae,1\n3,\xc4\xd0,1\n";
    holds(&refused("a.csv", gbk), &["a.csv, line 2", "0xC4", "UTF-8", "iconv"]);
    holds(&refused("a.csv", b"a,y\n1,\xc3\xa4\n2,\xe4\n"), &["line 3", "0xE4", "text above"]);
    holds(&refused("a.csv", b"a,y\n1,a\x81b\n2,c\n"), &["line 2", "0x81"]);
}

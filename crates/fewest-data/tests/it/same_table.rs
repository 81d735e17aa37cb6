//! One table, in whatever form and format, is one data set: classes, numbers, categories; in one
//! pass and by the sorter of column files.

use std::sync::Arc;

use fewest_data::{Dataset, Features, Format, Note, ReadOptions, class_position, read, to_columns, write_as};

use crate::common::{Case, classes, floats, holds, lines, noise, notes, npz, rows};

#[test]
fn labels_are_the_same_in_every_format() {
    let case = Case::new("a.csv", "");
    let x = floats(&[1.0, 2.0, 3.0, 4.0]);
    let singles: Vec<u8> = [0.1f32, -0.0, 0.1, -0.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let texts: Vec<u8> = [" a", "b ", "a", "b"]
        .iter()
        .flat_map(|t| format!("{t:\0<2}").chars().flat_map(|c| (c as u32).to_le_bytes()).collect::<Vec<u8>>())
        .collect();
    for (kind, bytes, labels, csv) in [
        ("<f8", floats(&[1.0, -0.0, 1.0, 0.0]), "1 0 1 0", "1.0 -0.0 +1 0"),
        ("|b1", vec![1, 0, 1, 0], "True False True False", "True False True False"),
        ("<f4", singles, "0.1 0 0.1 0", "0.1 -0 1e-1 0.0"),
        ("<U2", texts, "a b a b", " a,b , a,b "),
        ("<i8", [7i64, -3, 7, -3].iter().flat_map(|x| x.to_le_bytes()).collect(), "7 -3 7 -3", "7.0 -3 007 -3.0"),
    ] {
        let path = case.beside("a.npz");
        npz(&path, &[("X", "<f8", "(4, 1)", &x), ("y", kind, "(4,)", &bytes)]);
        let labels: Vec<&str> = labels.split(' ').collect();
        assert_eq!(classes(&read(&path, &ReadOptions::default()).expect("read")), labels, "{kind}");
        let cells: Vec<&str> = csv.split(if csv.contains(',') { ',' } else { ' ' }).collect();
        let text = format!("a,y\n{}", lines(4, |i| format!("{i},{}\n", cells[i])));
        assert_eq!(classes(&Case::new("a.csv", &text).read().expect("read")), labels, "{csv}");
        let quoted: String = lines(4, |i| format!("{i},'{}'\n", cells[i]));
        let arff = format!("@relation r\n@attribute a real\n@attribute y string\n@data\n{quoted}");
        assert_eq!(classes(&Case::new("a.arff", &arff).read().expect("read")), labels, "{arff}");
    }
    let known = ["False".to_owned(), "True".into()];
    for (class, at) in [("TRUE", 1), ("true", 1), ("1", 1), ("1.0", 1), (" False", 0), ("0", 0), ("-0", 0)] {
        assert_eq!(class_position(&known, class), Some(at), "{class}");
    }
    assert_eq!(class_position(&["0.0".to_owned(), " a".into()], "a"), Some(1));
    assert_eq!(class_position(&["1".to_owned(), "True".into()], "True"), Some(1));
    assert_eq!(class_position(&known, "2"), None);
}

#[test]
fn text_of_numbers_in_parquet_is_numbers() {
    let case = Case::new("a.csv", "a,b,c,y\nx,1,007,0\nx2,2,008,1\nx,3.5,009,0\n");
    let data =
        case.read_with(&ReadOptions { text: vec!["b".into(), "c".into()], ..ReadOptions::default() }).expect("read");
    assert_eq!(data.names.len(), 7);
    let path = case.beside("b.parquet");
    parquet_of_text(
        &path,
        &[("a", &["x", "x2", "x"]), ("b", &["1", "2", "3.5"]), ("c", &["007", "008", "009"]), ("y", &["0", "1", "0"])],
    );
    let (table, text) = (read(&path, &ReadOptions::default()).expect("read"), case.read().expect("read"));
    assert_eq!((table.names.to_vec(), rows(&table)), (text.names.to_vec(), rows(&text)));
    let wanted = ReadOptions { features: Some(vec!["b".into()]), target_optional: true, ..ReadOptions::default() };
    assert_eq!(rows(&read(&path, &wanted).expect("numbers")), [[1.0], [2.0], [3.5]]);
    let wanted = ReadOptions { features: Some(vec!["a".into()]), ..wanted };
    holds(&read(&path, &wanted).expect_err("text").to_string(), &["`x`", "is not a number"]);
}

/// A table of text.
fn parquet_of_text(path: &str, columns: &[(&str, &[&str])]) {
    use parquet::basic::{ConvertedType, Repetition, Type as Physical};
    use parquet::data_type::{ByteArray, ByteArrayType};
    use parquet::schema::types::Type;
    let field = |(name, _): &(&str, &[&str])| {
        let built = Type::primitive_type_builder(name, Physical::BYTE_ARRAY).with_repetition(Repetition::REQUIRED);
        Arc::new(built.with_converted_type(ConvertedType::UTF8).build().expect("a type"))
    };
    let schema = Type::group_type_builder("schema").with_fields(columns.iter().map(field).collect()).build();
    let file = std::fs::File::create(path).expect("a file");
    let mut writer =
        parquet::file::writer::SerializedFileWriter::new(file, schema.expect("a schema").into(), Arc::default())
            .expect("a writer");
    let mut group = writer.next_row_group().expect("a group");
    for (_, cells) in columns {
        let cells: Vec<ByteArray> = cells.iter().map(|cell| ByteArray::from(*cell)).collect();
        let mut column = group.next_column().expect("a column").expect("one more");
        column.typed::<ByteArrayType>().write_batch(&cells, None, None).expect("written");
        column.close().expect("closed");
    }
    group.close().expect("closed");
    writer.close().expect("closed");
}

/// A table in random forms: numbers with marks or not, categories, classes.
struct Random {
    n: usize,
    numbers: Vec<f64>,
    words: Vec<&'static str>,
    labels: Vec<usize>,
    seed: usize,
}

impl Random {
    fn new(seed: usize) -> Self {
        let n = 8 + noise(seed, 30);
        Self {
            n,
            numbers: (0..n).map(|i| noise(i + seed * 13, 9999) as f64 / 4.0 - 900.0).collect(),
            words: (0..n).map(|i| ["red", "None", "a b", "-"][noise(i + seed, 3 + seed % 2)]).collect(),
            labels: (0..n).map(|i| if i < 2 { i } else { noise(i + 5 * seed, 2) }).collect(),
            seed,
        }
    }

    /// A number in a style; whole thousands are grouped where the style does so.
    fn number(&self, i: usize, decimal: char, thousands: Option<char>) -> String {
        let plain = self.numbers[i].abs().to_string();
        let (whole, fraction) = plain.split_once('.').unwrap_or((&plain, ""));
        let mut text = whole.to_owned();
        if let (Some(sign), true) = (thousands, whole.len() > 3) {
            text.insert(whole.len() - 3, sign);
        }
        if !fraction.is_empty() {
            text.push(decimal);
            text += fraction;
        }
        let sign = if self.numbers[i] < 0.0 { "-" } else { "" };
        match (i + self.seed) % 3 {
            0 => format!("{sign}${text}"),
            1 => format!("{sign}{text} %"),
            _ => format!("{sign}{text}"),
        }
    }

    /// A class in one of its forms.
    fn class(&self, i: usize) -> &'static str {
        let forms: [&[&str]; 2] = match self.seed % 3 {
            0 => [&["0", "-0", "0.0", " 0 "], &["1", "+1", "1.0", "1e0"]],
            1 => [&["False", " False"], &["True", "True "]],
            _ => [&["0.5", "+.5", "5e-1"], &["02", "2.0", "2"]],
        };
        let of = forms[self.labels[i]];
        of[noise(i, of.len())]
    }

    fn csv(&self, delimiter: char, decimal: char, thousands: Option<char>) -> String {
        let row = |i: usize| {
            let (number, word, class) = (self.number(i, decimal, thousands), self.words[i], self.class(i));
            format!("\"{number}\"{delimiter}{}{delimiter}{word}{delimiter}\"{class}\"\n", i % 5)
        };
        format!("amount{delimiter}12{delimiter}colour{delimiter}y\n{}", lines(self.n, row))
    }
}

#[test]
fn a_table_is_the_same_in_every_style_and_format() {
    for seed in 0..40 {
        let table = Random::new(seed);
        let case = Case::new("a.csv", table.csv(',', '.', None));
        let plain = case.read().expect("read");
        assert_eq!((plain.names.get(0), plain.names.get(1)), ("amount".into(), "12".into()), "{seed}");
        assert_eq!(rows(&plain).iter().map(|row| row[0]).collect::<Vec<_>>(), table.numbers, "{seed}");
        let same = |data: &Dataset, what: &str| {
            assert_eq!(
                (data.names.to_vec(), rows(data), classes(data)),
                (plain.names.to_vec(), rows(&plain), classes(&plain)),
                "{seed} {what}"
            );
        };
        for (name, delimiter, decimal, thousands) in [
            ("t.tsv", '\t', '.', None),
            ("c.csv", ',', ',', None),
            ("g.csv", ',', ',', Some('.')),
            ("u.csv", ',', '.', Some(',')),
        ] {
            let options = ReadOptions { decimal: Some(decimal), thousands, ..ReadOptions::default() };
            let styled = Case::new(name, table.csv(delimiter, decimal, thousands));
            same(&styled.read_with(&options).expect("read"), name);
            let out = styled.beside("b.csc");
            let made = to_columns(styled.path(), &options, &out).expect("converted");
            same(&read(&out, &ReadOptions::default()).expect("read"), "the sorter");
            let whole: Vec<Note> = styled.read_with(&options).expect("read").notes;
            assert_eq!(made.notes, whole, "{seed} {name}");
        }
        for format in [Format::Csv, Format::Tsv, Format::Arff, Format::Parquet, Format::Npz, Format::Csc] {
            let path = case.beside(&format!("b.{}", format.name()));
            write_as(&path, &plain, format).expect("written");
            same(&read(&path, &ReadOptions::default()).expect("read"), format.name());
            if format != Format::Csc {
                let out = case.beside("s.csc");
                to_columns(&path, &ReadOptions::default(), &out).expect("converted");
                same(&read(&out, &ReadOptions::default()).expect("read"), "the sorter");
            }
        }
        // svmlight has no names, and numbers for classes that are none.
        let path = case.beside("b.svm");
        write_as(&path, &plain, Format::Svmlight).expect("written");
        let data = read(&path, &ReadOptions::default()).expect("read");
        let p = data.features.n_features();
        assert_eq!(rows(&data), rows(&plain).iter().map(|row| row[..p].to_vec()).collect::<Vec<_>>(), "{seed}");
        assert!(matches!(data.features, Features::Sparse(_)));
        assert_eq!(data.target.expect("a target").codes, plain.target.as_ref().expect("a target").codes, "{seed}");
    }
}

#[test]
fn unseen_values_are_those_that_the_model_has_not_seen() {
    let case = Case::new("t.csv", "sex,col\nX,red\nM,blue\nF,violet\n");
    let wanted = ReadOptions {
        features: Some(vec!["sex=M".into(), "col=red".into(), "col=green".into()]),
        levels: vec![
            ("sex".into(), vec!["F".into(), "M".into()]),
            ("col".into(), ["red", "green", "blue"].map(str::to_owned).to_vec()),
        ],
        target_optional: true,
        ..ReadOptions::default()
    };
    let told = notes(&case.read_with(&wanted).expect("read"));
    holds(
        &told,
        &["column `sex` has values the model has not seen on 1 row(s), the first is `X`", "first is `violet`"],
    );
    assert!(!told.contains("`blue`") && !told.contains("one value only"), "{told}");
    let seen = Case::new("t.csv", "sex,col\nM,blue\n").read_with(&wanted).expect("read");
    assert!(!notes(&seen).contains("not seen"), "{}", notes(&seen));
    // A model without levels does not say that it has not seen what it may have.
    let old = ReadOptions { levels: vec![], ..wanted };
    let told = notes(&case.read_with(&old).expect("read"));
    assert!(told.contains("no feature of the model stands for") && !told.contains("has not seen"), "{told}");
}

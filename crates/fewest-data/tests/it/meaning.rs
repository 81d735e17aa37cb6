//! What cells are taken for: headers, classes, quantities, dates, identifiers, numbers in other
//! styles, words for missing values.

use fewest_data::{Dataset, Format, ReadOptions, read, to_columns, write_as};

use crate::common::{Case, classes, floats, holds, lines, noise, notes, npz, refused, rows};

fn spectrum(header: &str) -> String {
    format!(
        "{header}\n{}",
        lines(30, |i| format!("0.{},{}.5,{},{}\n", noise(i, 97), noise(i, 9), i, ["normal", "tumor"][i % 2]))
    )
}

#[test]
fn a_header_of_numbers_is_a_header() {
    let none = ReadOptions { no_header: true, ..ReadOptions::default() };
    let forced = ReadOptions { header: true, ..ReadOptions::default() };
    for (header, names) in [
        ("1,10,100,status", ["1", "10", "100"]),
        ("\"1\",\"10\",\"100\",\"status\"", ["1", "10", "100"]),
        ("900.5,902.5,904.5,grade", ["900.5", "902.5", "904.5"]),
        ("900,902,904,906", ["900", "902", "904"]),
    ] {
        let case = Case::new("a.csv", spectrum(header));
        for options in [&ReadOptions::default(), &forced] {
            let data = case.read_with(options).expect("a header");
            assert_eq!((data.names.to_vec(), data.features.n_samples()), (names.map(str::to_owned).to_vec(), 30));
            assert_eq!(data.target.as_ref().expect("a target").classes, ["normal", "tumor"]);
            assert_eq!(notes(&data).contains("the first line was taken as column names"), !options.header);
        }
        // Never a class of one sample.
        let error = case.read_with(&none).expect_err("names").to_string();
        holds(&error, &["line 1", "holds names", "leave out `no_header"]);
    }
    // Quoted numbers above bare ones, whatever the last column is.
    let text = format!("\"5\",\"7\",\"9\"\n{}", lines(20, |i| format!("{},{},{}\n", noise(i, 13), i, noise(i, 7))));
    assert_eq!(Case::new("a.csv", &text).read().expect("a header").names.to_vec(), ["5", "7"]);
    // Text above numbers in one column is enough; the class is the first one.
    let text = format!("class,900,902\n{}", lines(20, |i| format!("{},{},{}\n", ["b", "a"][i % 2], i, noise(i, 50))));
    assert_eq!(Case::new("a.csv", &text).read().expect("a header").names.to_vec(), ["900", "902"]);
}

#[test]
fn data_without_a_header_are_no_header() {
    let numbers = lines(30, |i| format!("{}.5,{},{}\n", noise(i, 97), noise(i, 9), i % 2));
    holds(&refused("a.csv", &numbers), &["line 1", "holds numbers", "`no_header", "`header"]);
    let text = lines(30, |i| {
        format!("{},{},{}\n", ["M", "F"][i % 2], ["red", "green", "blue"][noise(i, 3)], ["no", "yes"][noise(i, 2)])
    });
    holds(&refused("a.csv", &text), &["line 1", "looks like data", "`M`", "`no_header", "`header"]);
    let mixed = lines(30, |i| format!("P{i},{}.5,{}\n", noise(i, 97), ["tumor", "normal"][i % 2]));
    holds(&refused("a.csv", &mixed), &["line 1", "looks like data", "`tumor`"]);
    let none = ReadOptions { no_header: true, ..ReadOptions::default() };
    for (text, n) in [(&numbers, 30), (&text, 30)] {
        let case = Case::new("a.csv", text);
        assert_eq!(case.read_with(&none).expect("data").features.n_samples(), n);
        let forced = ReadOptions { header: true, ..ReadOptions::default() };
        assert_eq!(case.read_with(&forced).expect("a header").features.n_samples(), n - 1);
    }
    // A name that is a value of its column, too.
    let text = format!("a,b,y\n{}", lines(20, |i| format!("{i},{},{}\n", noise(i, 9), ["y", "n"][i % 2])));
    assert_eq!(Case::new("a.csv", &text).read().expect("a header").features.n_samples(), 20);
}

#[test]
fn one_name_that_looks_like_several_hints_at_the_delimiter() {
    let comma =
        ReadOptions { delimiter: Some(fewest_data::delimiter_of(",").expect("a sign")), ..ReadOptions::default() };
    let refused = |name: &str, text: &str| Case::new(name, text).read_with(&comma).expect_err(name).to_string();
    holds(&refused("a.csv", "a;b;y\n1;2;0\n3;4;1\n"), &["`a;b;y`", "`delimiter = ;`"]);
    holds(&refused("a.csv", "a\tb\ty\n1\t2\t0\n"), &["`delimiter = tab`"]);
    holds(&refused("a.csv", "a|b|y\n1|2|0\n"), &["`delimiter = |`"]);
}

#[test]
fn a_quantity_is_no_target() {
    let csv = |value: &dyn Fn(usize) -> String| format!("a,price\n{}", lines(200, |i| format!("{i},{}\n", value(i))));
    let said = ["continuous", "`target"];
    let column = |i: usize| noise(i, 60) as f64 / 10.0 + 0.05;
    holds(&refused("a.csv", csv(&|i| column(i).to_string())), &[&said[..], &["`price`", "in 200 rows"]].concat());
    holds(&refused("a.csv", csv(&|i| format!("\"{}\"", column(i).to_string().replace('.', ",")))), &said);
    holds(&refused("a.tsv", csv(&|i| column(i).to_string()).replace(',', "\t")), &said);
    holds(&refused("a.svm", lines(200, |i| format!("{} 1:{i}\n", column(i)))), &said);
    // Few rows, all different.
    holds(&refused("a.svm", "0.53 1:1\n1.7 1:2\n2.25 1:3\n0.1 1:4\n"), &said);
    let arff = format!(
        "@relation r\n@attribute a real\n@attribute y real\n@data\n{}",
        lines(90, |i| format!("{i},{}\n", column(i)))
    );
    holds(&refused("a.arff", arff), &said);
    // Written to other formats, where the reader of a prediction file lets it through.
    let open = ReadOptions { target_optional: true, ..ReadOptions::default() };
    let case = Case::new("a.csv", csv(&|i| column(i).to_string()));
    let data = case.read_with(&ReadOptions { target: Some("price".into()), ..open }).expect("open");
    for format in [Format::Npz, Format::Parquet, Format::Csc] {
        let path = case.beside(&format!("b.{}", format.name()));
        write_as(&path, &data, format).expect("written");
        if format != Format::Csc {
            holds(&read(&path, &ReadOptions::default()).expect_err("continuous").to_string(), &said);
        }
    }
    holds(
        &to_columns(case.path(), &ReadOptions::default(), &case.beside("c.csc")).expect_err("continuous").to_string(),
        &said,
    );
    // Few numbers are classes, and many whole ones, which have a note.
    let few = Case::new("a.csv", csv(&|i| ["0.5", "1.5", "2.0"][i % 3].to_owned())).read().expect("classes");
    assert_eq!(few.target.as_ref().expect("a target").classes, ["0.5", "1.5", "2"]);
    holds(&notes(&few), &["3 different numbers, some with fractions"]);
    let whole = Case::new("a.csv", csv(&|i| noise(i, 60).to_string())).read().expect("classes");
    holds(&notes(&whole), &["different numbers, and each is a class"]);
    let two = Case::new("a.csv", "a,y\n1,0.5\n2,1.5\n3,0.5\n").read().expect("classes");
    assert!(!notes(&two).contains("different numbers"), "{}", notes(&two));
}

#[test]
fn identifiers_are_told_by_the_cells_that_are_there() {
    let table = |n: usize, cell: &dyn Fn(usize) -> String| {
        format!("who,a,y\n{}", lines(n, |i| format!("{},{i},{}\n", cell(i), i % 2)))
    };
    // Two rows a patient; half of the cells blank.
    for text in [
        table(60, &|i| format!("P{:03}", i / 2)),
        table(60, &|i| if i % 2 == 0 { format!("P{i}") } else { "NA".into() }),
    ] {
        let case = Case::new("a.csv", text);
        let lenient = ReadOptions { missing: true, ..ReadOptions::default() };
        let message = case.read_with(&lenient).expect_err("an identifier").to_string();
        holds(&message, &["`who`", "30 different values", "identifier", "`drop = who`"]);
        let asked = ReadOptions { text: vec!["who".into()], ..lenient };
        assert_eq!(case.read_with(&asked).expect("asked for").features.n_features(), 31);
    }
    let few = Case::new("a.csv", table(20, &|i| format!("P{}", i / 2))).read().expect("few values");
    holds(&notes(&few), &["`who` has 10 different values in 20 rows", "`drop = who`"]);
    let categories = Case::new("a.csv", table(60, &|i| format!("P{}", i % 25))).read().expect("categories");
    assert!(!notes(&categories).contains("`drop"), "{}", notes(&categories));
    // Numbers but for what is behind them: never advice to drop them.
    let message = refused("a.csv", table(60, &|i| format!("{i}.5 mg")));
    holds(&message, &["`who`", "numbers with `mg`"]);
    assert!(!message.contains("`drop"), "{message}");
}

#[test]
fn text_whose_values_hold_the_class_is_told_of() {
    let table = |value: &dyn Fn(usize) -> usize| {
        let text = format!("who,a,y\n{}", lines(90, |i| format!("M{},{}.5,{}\n", value(i), noise(i, 50), i % 2)));
        let data = Case::new("a.csv", text).read().expect("read");
        fewest_data::hints(&data).iter().map(ToString::to_string).collect::<String>()
    };
    // Eighteen molecules, five rows each, of one class each.
    let told = table(&|i| i % 18);
    holds(&told, &["who alone tells the classes apart"]);
    assert_eq!(table(&|i| i / 5), "");
}

#[test]
fn dates_are_left_out_and_leading_zeros_are_text() {
    let text = format!(
        "day,when,zip,a,y\n{}",
        lines(40, |i| format!(
            "2020-01-{:02},{}/3/2020 12:30,{},{i},{}\n",
            i % 28 + 1,
            i % 28 + 1,
            ["00901", "10025", "02139"][i % 3],
            i % 2
        ))
    );
    let case = Case::new("a.csv", text);
    let data = case.read().expect("read");
    assert_eq!(data.names.to_vec(), ["zip=00901", "zip=02139", "zip=10025", "a"]);
    holds(
        &notes(&data),
        &["`day` holds dates or times", "`when` holds dates", "`zip` is read as text", "begin with a zero"],
    );
    // As a file of columns and as a table of types.
    let out = case.beside("b.csc");
    to_columns(case.path(), &ReadOptions::default(), &out).expect("converted");
    let columns = read(&out, &ReadOptions::default()).expect("read");
    assert_eq!((columns.names.to_vec(), rows(&columns)), (data.names.to_vec(), rows(&data)));
    let asked = ReadOptions { text: vec!["day".into()], ..ReadOptions::default() };
    assert_eq!(case.read_with(&asked).expect("asked for").names.len(), 32);
    holds(&refused("a.csv", "day,y\n2020-01-01,0\n2020-01-02,1\n"), &["no feature column"]);
    // A model that has it as a number reads it so.
    let wanted = ReadOptions { features: Some(vec!["zip".into()]), ..ReadOptions::default() };
    assert_eq!(
        rows(&Case::new("a.csv", "zip,y\n00901,0\n2,1\n").read_with(&wanted).expect("numbers")),
        [[901.0], [2.0]]
    );
}

#[test]
fn numbers_in_other_styles_are_numbers_or_refused_by_name() {
    let table =
        |cell: &str, other: &str| format!("dose,y\n{}", lines(30, |i| format!("{},{}\n", [cell, other][i % 2], i % 2)));
    let message = |cell: &str, other: &str| refused("a.csv", table(cell, other));
    for (cell, other, options) in [
        ("\"0,5\"", "\"1,0\"", "`decimal = ,`"),
        ("\"1,000.5\"", "\"2,500\"", "`thousands = ,`"),
        ("\"1.234,5\"", "\"2,5\"", "`decimal = ,` `thousands = .`"),
        ("\"$1,234.50\"", "\"$2,000.25\"", "`thousands = ,`"),
        ("1 000", "2 500", "`thousands =  `"),
        ("1'000", "2'500", "`thousands = '`"),
        ("\"0,5\"", "1", "`decimal = ,`"),
    ] {
        let said = message(cell, other);
        holds(&said, &["`dose`", "a number written in another way", options]);
        assert!(!said.contains("`drop"), "{said}");
    }
    holds(&message("\"1,000\"", "\"2,500\""), &["`thousands = ,`", "`decimal = ,`"]);
    for (cell, other, values) in [
        ("5%", "10%", [5.0, 10.0]),
        ("$5.5", "-$7", [5.5, -7.0]),
        ("3 €", "4", [3.0, 4.0]),
        ("\u{2212}2", "2", [-2.0, 2.0]),
    ] {
        let data = Case::new("a.csv", table(cell, other)).read().expect("numbers");
        assert_eq!(
            (data.names.to_vec(), rows(&data)[..2].concat()),
            (vec!["dose".to_owned()], values.to_vec()),
            "{cell}"
        );
    }
    let style = |decimal, thousands| ReadOptions { decimal: Some(decimal), thousands, ..ReadOptions::default() };
    for (text, options, values) in [
        (table("\"0,5\"", "\"-1,25\""), style(',', None), [0.5, -1.25]),
        (table("\"1.234,5\"", "7"), style(',', Some('.')), [1234.5, 7.0]),
        (table("\"1,000,000\"", "\"2,500.5\""), style('.', Some(',')), [1e6, 2500.5]),
        (table("\"12,5 %\"", "\"3 €\""), style(',', None), [12.5, 3.0]),
    ] {
        let case = Case::new("a.csv", text);
        let data = case.read_with(&options).expect("numbers");
        assert_eq!(rows(&data)[..2].concat(), values);
        let out = case.beside("b.csc");
        to_columns(case.path(), &options, &out).expect("converted");
        assert_eq!(rows(&read(&out, &ReadOptions::default()).expect("read")), rows(&data));
    }
    // What would be another number in this style is refused.
    let case = Case::new("a.csv", table("1.5", "2.5"));
    holds(&case.read_with(&style(',', None)).expect_err("points").to_string(), &["leave out `decimal"]);
    holds(
        &read(&svm(&case), &style(',', None)).expect_err("no text").to_string(),
        &["`decimal` has a meaning for text"],
    );
}

/// A file of that name beside, with numbers.
fn svm(case: &Case) -> String {
    let path = case.beside("a.svm");
    std::fs::write(&path, "1 1:2 2:-999\n-1 1:3 2:5\n1 2:4\n").expect("written");
    path
}

#[test]
fn words_for_missing_values_and_codes() {
    let lenient = ReadOptions { missing: true, ..ReadOptions::default() };
    let text = format!(
        "a,b,c,y\n{}",
        lines(40, |i| format!(
            "{},{},{},{}\n",
            [".", "-", "None", "1", "2", "3", "4", "5"][i % 8],
            if i % 5 == 0 { "-999".into() } else { i.to_string() },
            ["None", "Mild", "-"][i % 3],
            ["+", "-"][noise(i, 2)]
        ))
    );
    let case = Case::new("a.csv", text);
    let data = case.read_with(&lenient).expect("read");
    // Among numbers the words are missing; in a text column, and as classes, they are values.
    assert_eq!(data.names.to_vec(), ["a", "b", "c=-", "c=Mild", "c=None"]);
    assert_eq!(data.target.as_ref().expect("a target").classes, ["+", "-"]);
    let missing = |data: &Dataset, j: usize| rows(data).iter().filter(|row| row[j].is_nan()).count();
    assert_eq!([missing(&data, 0), missing(&data, 1), missing(&data, 2)], [15, 0, 0]);
    let coded = ReadOptions { missing_codes: vec!["-999.0".into(), "None".into()], ..lenient.clone() };
    let data = case.read_with(&coded).expect("read");
    assert_eq!((data.names.to_vec()[2..].to_vec(), missing(&data, 1)), (vec!["c=Mild".to_owned()], 8));
    let strict = ReadOptions { missing: false, ..coded.clone() };
    holds(&case.read_with(&strict).expect_err("missing").to_string(), &["is missing", "`missing` mean"]);
    // The same in formats of numbers.
    let codes = ReadOptions { missing_codes: vec!["-999".into()], ..lenient.clone() };
    let numbers = Case::new("n.csv", "a,b,y\n2,-999,1\n3,5,-1\n0,4,1\n");
    let plain = numbers.read().expect("read");
    let expected = "[[2.0, NaN], [3.0, 5.0], [0.0, 4.0]]";
    assert_eq!(format!("{:?}", rows(&numbers.read_with(&codes).expect("read"))), expected);
    for format in [Format::Tsv, Format::Svmlight, Format::Arff, Format::Parquet, Format::Npz] {
        let path = numbers.beside(&format!("b.{}", format.name()));
        write_as(&path, &plain, format).expect("written");
        let options = ReadOptions { format: Some(format), ..codes.clone() };
        assert_eq!(format!("{:?}", rows(&read(&path, &options).expect("read"))), expected, "{}", format.name());
        let strict = ReadOptions { missing: false, ..options };
        holds(&read(&path, &strict).expect_err("missing").to_string(), &["is missing"]);
        holds(&to_columns(&path, &strict, &numbers.beside("c.csc")).expect_err("missing").to_string(), &["is missing"]);
    }
    let infinite = ReadOptions { missing_codes: vec!["inf".into()], ..lenient };
    assert_eq!(missing(&Case::new("i.csv", "a,y\n1,0\ninf,1\n").read_with(&infinite).expect("read"), 0), 1);
}

#[test]
fn rows_without_a_class_and_other_classes_can_be_left_out() {
    let case = Case::new("a.csv", "a,b,y\n1,?,no\n2,5,\n3,6,yes\n4,7,maybe\n5,8,NA\n6,9,no\n");
    holds(&case.read().expect_err("missing").to_string(), &["line 2, column `b`", "1 such"]);
    let lenient = ReadOptions { missing: true, ..ReadOptions::default() };
    let message = case.read_with(&lenient).expect_err("no class").to_string();
    holds(&message, &["line 3, column `y`", "2 row(s) have none", "`drop_unlabelled"]);
    let dropped = ReadOptions { drop_unlabelled: true, ..lenient };
    let data = case.read_with(&dropped).expect("read");
    assert_eq!(classes(&data), ["no", "yes", "maybe", "no"]);
    assert_eq!(rows(&data).iter().map(|row| row[0]).collect::<Vec<_>>(), [1.0, 3.0, 4.0, 6.0]);
    holds(&notes(&data), &["2 row(s) without a class are left out"]);
    let some = ReadOptions { classes: vec!["yes".into(), "no".into()], ..dropped.clone() };
    let data = case.read_with(&some).expect("read");
    assert_eq!((classes(&data), rows(&data).len()), (vec!["no".to_owned(), "yes".into(), "no".into()], 3));
    assert_eq!(data.target.as_ref().expect("a target").classes, ["no", "yes"]);
    holds(&notes(&data), &["1 row(s) of other classes are left out"]);
    let unknown = ReadOptions { classes: vec!["never".into()], ..dropped.clone() };
    holds(
        &case.read_with(&unknown).expect_err("no such class").to_string(),
        &["there is no class never", "maybe, no, yes"],
    );
    // As NumPy has them.
    let path = case.beside("a.npz");
    npz(
        &path,
        &[
            ("X", "<f8", "(4, 1)", &floats(&[1.0, 2.0, 3.0, 4.0])),
            ("y", "<f8", "(4,)", &floats(&[0.0, f64::NAN, 1.0, 0.0])),
        ],
    );
    holds(&read(&path, &ReadOptions::default()).expect_err("no class").to_string(), &["row 2", "1 row(s) have none"]);
    let dropped = ReadOptions { drop_unlabelled: true, ..ReadOptions::default() };
    let data = read(&path, &dropped).expect("read");
    assert_eq!((classes(&data).join(""), rows(&data).concat()), ("010".to_owned(), vec![1.0, 3.0, 4.0]));
    let out = case.beside("a.csc");
    to_columns(&path, &dropped, &out).expect("converted");
    assert_eq!(rows(&read(&out, &ReadOptions::default()).expect("read")), rows(&data));
}

#[test]
fn truth_values_are_one_in_every_spelling() {
    let train = Case::new("a.csv", "flag,a,y\nTrue,1,0\nFalse,2,1\nTrue,3,1\n").read().expect("read");
    assert_eq!(train.names.to_vec(), ["flag=True", "a"]);
    let options = ReadOptions {
        features: Some(train.names.to_vec()),
        levels: vec![("flag".into(), vec!["False".into(), "True".into()])],
        target_optional: true,
        ..ReadOptions::default()
    };
    for [yes, no] in [["True", "False"], ["TRUE", "FALSE"], ["true", "false"]] {
        let data = Case::new("b.csv", format!("flag,a\n{yes},1\n{no},2\n")).read_with(&options).expect("read");
        assert_eq!(rows(&data), [[1.0, 1.0], [0.0, 2.0]], "{yes}");
        assert!(!notes(&data).contains("has not seen"), "{}", notes(&data));
    }
    // Both spellings in one column stay apart.
    let both = Case::new("a.csv", "flag,y\nTrue,0\nTRUE,1\nFalse,1\n").read().expect("read");
    assert_eq!(both.names.to_vec(), ["flag=False", "flag=TRUE", "flag=True"]);
}

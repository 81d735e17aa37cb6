//! Features in rows, and labels in a second file.

use fewest_data::{Dataset, Labels, ReadOptions, write};

use crate::common::{Case, classes, holds, lines, notes, refused, rows};

const GCT: &str = "#1.2\n3\t4\nName\tDescription\ts1\ts2\ts3\ts4\ng1\tfirst\t1\t2\t3\t4\ng2\tsecond\t5\t6\t7\t8\ng3\tna\t0.5\t1.5\t2.5\t3.5\n";

fn values() -> Vec<Vec<f64>> {
    vec![vec![1.0, 5.0, 0.5], vec![2.0, 6.0, 1.5], vec![3.0, 7.0, 2.5], vec![4.0, 8.0, 3.5]]
}

fn samples(data: &Dataset) -> Vec<String> {
    data.samples.clone().expect("names of samples").values
}

fn class_of_each(data: &Dataset) -> Vec<String> {
    let target = data.target.as_ref().expect("a target");
    target.codes.iter().map(|&code| target.classes[code as usize].clone()).collect()
}

fn labelled(case: &Case, sheet: &str, options: &ReadOptions) -> ReadOptions {
    let file = case.beside("sheet.csv");
    std::fs::write(&file, sheet).expect("a sheet");
    let old = options.labels.clone().unwrap_or_default();
    ReadOptions { labels: Some(Labels { file, ..old }), ..options.clone() }
}

#[test]
fn gct_of_both_versions() {
    let case = Case::new("a.gct", GCT);
    let message = case.read().expect_err("no target").to_string();
    holds(&message, &["y, label, class or target", "`labels"]);
    let options = labelled(&case, "id,class\ns3,b\ns1,a\ns2,b\ns4,a\n", &ReadOptions::default());
    let data = case.read_with(&options).expect("read");
    assert_eq!((rows(&data), samples(&data)), (values(), ["s1", "s2", "s3", "s4"].map(str::to_owned).to_vec()));
    assert_eq!(class_of_each(&data), ["a", "b", "b", "a"]);
    assert_eq!(data.names.to_vec(), ["g1", "g2", "g3"]);
    let newer = "#1.3\n3\t4\t1\t2\nid\tsymbol\ts1\ts2\ts3\ts4\ntype\tna\tA\tB\tA\tB\nbatch\tna\tx\tx\t-666\ty\n\
                 g1\tT\t1\t2\t3\t4\ng2\tU\t5\t6\t7\t8\ng3\tV\t0.5\t1.5\t2.5\t3.5\n";
    holds(&refused("b.gct", newer), &["`target", "type (2 values)"]);
    let options = ReadOptions { target: Some("type".into()), apart: vec!["batch".into()], ..ReadOptions::default() };
    let data = Case::new("b.gct", newer).read_with(&options).expect("read");
    assert_eq!((rows(&data), class_of_each(&data)), (values(), ["A", "B", "A", "B"].map(str::to_owned).to_vec()));
    assert_eq!(data.apart[0].values, ["x", "x", "", "y"]);
    // What it must not be.
    holds(&refused("c.gct", "#1.4\n1\t1\n"), &["line 1", "#1.4"]);
    holds(&refused("c.gct", "#1.3\n1\t1\n"), &["line 2", "four counts"]);
    holds(&refused("c.gct", "#1.2\n1\t1\nName\tDescription\n"), &["line 3", "no sample"]);
    let options = ReadOptions { target_optional: true, ..ReadOptions::default() };
    let short = Case::new("c.gct", GCT.replace("\t7\t8", "\t7")).read_with(&options).expect_err("short").to_string();
    holds(&short, &["line 5", "5 cells", "6"]);
    let word =
        Case::new("c.gct", GCT.replace("\t7\t8", "\thigh\t8")).read_with(&options).expect_err("word").to_string();
    holds(&word, &["line 5, column `s3`", "`high`", "row `g2`", "`missing_codes = high`"]);
}

#[test]
fn a_series_matrix() {
    let text = "!Series_title\t\"t\"\n!Sample_title\t\"one\"\t\"two\"\t\"three\"\n\
                !Sample_characteristics_ch1\t\"tissue: liver\"\t\"tissue: lung\"\t\"tissue: liver\"\n\
                !Sample_characteristics_ch1\t\"age: 3\"\t\"sex: f\"\t\"age: 5\"\n\
                !series_matrix_table_begin\n\"ID_REF\"\t\"G1\"\t\"G2\"\t\"G3\"\n\
                \"p1\"\t1\t2\t3\n\"p2\"\t4\t\t6\n!series_matrix_table_end\n";
    let options = ReadOptions { target: Some("tissue".into()), missing: true, ..ReadOptions::default() };
    let data = Case::new("GSE1_series_matrix.txt", text).read_with(&options).expect("read");
    assert_eq!(
        (data.names.to_vec(), samples(&data)),
        (vec!["p1".into(), "p2".into()], vec!["G1".into(), "G2".into(), "G3".into()])
    );
    assert_eq!(class_of_each(&data), ["liver", "lung", "liver"]);
    assert_eq!(data.features.value(2, 1), 6.0);
    assert!(data.features.value(1, 1).is_nan());
    // A line of several keys keeps its own name.
    let options = ReadOptions { target: Some("characteristics_ch1".into()), ..options };
    assert_eq!(classes(&Case::new("a.txt", text).read_with(&options).expect("read")), ["age: 3", "sex: f", "age: 5"]);
    holds(&refused("a.txt", "!Series_title\t\"t\"\n!Sample_title\t\"one\"\n"), &["series_matrix_table_begin"]);
}

#[test]
fn transposed_text_with_classes_in_a_row_or_a_file() {
    let table =
        "gene,symbol,s1,s2,s3,s4\ngroup,,b,a,a,b\ng1,T,1,2,3,4\ng2,U,5,6,7,8\nstage,,1,2,1,2\ng3,V,0.5,1.5,2.5,3.5\n";
    let options = ReadOptions { transpose: true, target: Some("group".into()), ..ReadOptions::default() };
    let with_stage = Case::new("a.csv", table).read_with(&options).expect("read");
    assert_eq!(with_stage.names.to_vec(), ["g1", "g2", "stage", "g3"]);
    assert_eq!(class_of_each(&with_stage), ["b", "a", "a", "b"]);
    holds(&notes(&with_stage), &["describe the features", "symbol"]);
    // A row of numbers is a feature unless it is asked for.
    let options = ReadOptions { apart: vec!["stage".into()], ..options };
    let data = Case::new("a.csv", table).read_with(&options).expect("read");
    assert_eq!(
        (rows(&data), data.apart[0].values.clone()),
        (values(), ["1", "2", "1", "2"].map(str::to_owned).to_vec())
    );
    // As R writes a matrix, decimal commas and all.
    let r = "\"\";\"s1\";\"s2\";\"s3\";\"s4\"\n\"g1\";1;2;3;4\n\"g2\";5;6;7;8\n\"g3\";0,5;1,5;2,5;3,5\n";
    let case = Case::new("r.csv", r);
    let options = labelled(
        &case,
        "name;kind\ns4;b\ns2;a\ns1;b\ns3;a\n",
        &ReadOptions { transpose: true, ..ReadOptions::default() },
    );
    let data = case.read_with(&options).expect("read");
    assert_eq!((rows(&data), class_of_each(&data)), (values(), ["b", "a", "a", "b"].map(str::to_owned).to_vec()));
    assert_eq!(samples(&data), ["s1", "s2", "s3", "s4"]);
}

#[test]
fn a_table_of_samples_is_not_transposed_in_silence() {
    let options = ReadOptions { transpose: true, target_optional: true, ..ReadOptions::default() };
    let case = Case::new("a.csv", "id,colour,y\ns1,red,no\ns2,blue,yes\n");
    holds(&case.read_with(&options).expect_err("text").to_string(), &["no row holds numbers", "`transpose"]);
}

#[test]
fn a_table_with_features_in_rows_is_noticed() {
    let table = format!(
        "\"\",s1,s2,s3,s4\n{}",
        lines(600, |i| format!("g{i},{}.5,{}.25,{},{}.125\n", i % 97, i % 89, i % 101, i % 83))
    );
    holds(&refused("a.csv", &table), &["600 rows", "4 columns of numbers", "`transpose", "`labels", "`target"]);
    let case = Case::new("a.csv", &table);
    let options = labelled(&case, "sample,class\ns1,a\ns2,b\ns3,a\ns4,b\n", &ReadOptions::default());
    holds(&case.read_with(&options).expect_err("turned").to_string(), &["`transpose"]);
    // Few columns with a target that is named are what they seem.
    let options = ReadOptions { target: Some("s3".into()), ..ReadOptions::default() };
    let data = case.read_with(&options).expect("a target that is named");
    assert_eq!((data.features.n_samples(), data.features.n_features()), (600, 3));
}

#[test]
fn labels_are_found_by_the_names_of_the_samples() {
    let table = "id,a,b\ns1,1,5\ns2,2,6\ns3,3,7\ns4,4,8\n";
    let case = Case::new("a.csv", table);
    let plain = ReadOptions::default();
    let sheet = "age,id,site,kind\n30,s3,x,b\n31,s9,y,a\n32,s1,x,a\n33,s4,y,b\n34,s2,x,a\n";
    // The kind is asked for, and the column of names has the same name in both files.
    let options = labelled(
        &case,
        sheet,
        &ReadOptions { target: Some("kind".into()), apart: vec!["site".into()], ..plain.clone() },
    );
    let data = case.read_with(&options).expect("read");
    assert_eq!(class_of_each(&data), ["a", "a", "b", "b"]);
    assert_eq!(
        data.apart,
        [fewest_data::TextColumn { name: "site".into(), values: ["x", "x", "x", "y"].map(str::to_owned).to_vec() }]
    );
    assert_eq!(rows(&data), [[1.0, 5.0], [2.0, 6.0], [3.0, 7.0], [4.0, 8.0]]);
    holds(&notes(&data), &["column `id`", "1 row(s) of it are of no sample"]);
    // Samples without a row.
    let less = sheet.replace("33,s4,y,b\n", "");
    let options = labelled(
        &case,
        &less,
        &ReadOptions { target: Some("kind".into()), samples: Some("id".into()), ..plain.clone() },
    );
    holds(&case.read_with(&options).expect_err("s4").to_string(), &["1 of 4 samples", "`s4`", "`drop_unlabelled"]);
    let data = case.read_with(&ReadOptions { drop_unlabelled: true, ..options.clone() }).expect("read");
    assert_eq!(
        (class_of_each(&data), samples(&data)),
        (["a", "a", "b"].map(str::to_owned).to_vec(), ["s1", "s2", "s3"].map(str::to_owned).to_vec())
    );
    // Two rows of a sample, other names, a column that is not there, no names at all.
    let twice = labelled(&case, &format!("{sheet}35,s1,x,a\n"), &options);
    holds(&case.read_with(&twice).expect_err("twice").to_string(), &["`s1` has two rows"]);
    let others =
        labelled(&case, &sheet.replace(",s", ",sample-").replace(",a\n", ",c\n").replace(",b\n", ",d\n"), &options);
    holds(&case.read_with(&others).expect_err("others").to_string(), &["no sample has a row", "`s1`", "`by"]);
    let column =
        ReadOptions { labels: Some(Labels { column: Some("sort".into()), ..Labels::default() }), ..plain.clone() };
    let column = labelled(&case, sheet, &column);
    holds(&case.read_with(&column).expect_err("sort").to_string(), &["`sort`", "age, id, site, kind"]);
    let unnamed = Case::new("b.csv", "a,b\n1,5\n2,6\n");
    let options = labelled(&unnamed, "id,kind\ns1,a\ns2,b\n", &plain);
    holds(&unnamed.read_with(&options).expect_err("no names").to_string(), &["no names", "`id"]);
    let headless = labelled(&case, "s1,a\ns2,b\ns3,a\ns4,b\n", &plain);
    holds(&case.read_with(&headless).expect_err("no header").to_string(), &["line 1", "add a header line"]);
    // A class file is in the order of the samples.
    let file = case.beside("a.cls");
    std::fs::write(&file, "4 2 1\n# no yes\n0 1 1 0\n").expect("a class file");
    let options =
        ReadOptions { labels: Some(Labels { file, ..Labels::default() }), samples: Some("id".into()), ..plain };
    assert_eq!(class_of_each(&case.read_with(&options).expect("read")), ["no", "yes", "yes", "no"]);
}

#[test]
fn what_is_read_only_is_not_written() {
    let options = ReadOptions { target_optional: true, ..ReadOptions::default() };
    let data = Case::new("a.gct", GCT).read_with(&options).expect("read");
    for name in ["a.gct", "a.xlsx", "a.ods", "a.feather"] {
        let out = Case::new("x.csv", "").beside(name);
        holds(&write(&out, &data).expect_err(name).to_string(), &["are read, but not written", ".csv"]);
    }
}

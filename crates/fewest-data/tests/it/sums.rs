//! Sums of samples that agree in columns: the same in dense and sparse data, before totals, and what is
//! refused.

use fewest_data::{Dataset, Features, Normalization, ReadOptions, Summed, to_columns};

use crate::common::{Case, classes, floats, holds, notes, npz, rows};

const TABLE: &str = "a,donor,b,c,site,y\n1,d1,5,0,s,B\n2,d2,0,4,s,B\n4,d1,0,0,s,T\n6,d1,5,2,s,B\n0,d2,1,0,s,B\n";
const SUMS: [[f64; 3]; 3] = [[7.0, 10.0, 2.0], [2.0, 1.0, 4.0], [4.0, 0.0, 0.0]];

fn by(columns: &[&str]) -> ReadOptions {
    let sum_by = columns.iter().map(|&name| name.to_owned()).collect();
    ReadOptions { sum_by, drop: vec!["site".into()], ..ReadOptions::default() }
}

fn summed(data: &Dataset) -> &Summed {
    data.summed().expect("sums")
}

#[test]
fn samples_of_a_class_that_agree_become_one() {
    let data = Case::new("a.csv", TABLE).read_with(&by(&["donor"])).expect("read");
    assert_eq!(rows(&data), SUMS);
    assert_eq!(classes(&data), ["B", "B", "T"]);
    assert_eq!(data.samples.as_ref().expect("names").values, ["d1, B", "d2, B", "d1, T"]);
    assert_eq!(*summed(&data), Summed { by: vec!["donor".into()], samples: 5, smallest: 1 });
    holds(&notes(&data), &["5 samples are summed up", "one donor and class", "smallest sum is of 1"]);
    // The target may be named, too.
    for columns in [&["donor", "y"][..], &["y", "donor"]] {
        let named = Case::new("a.csv", TABLE).read_with(&by(columns)).expect("read");
        assert_eq!((rows(&named), summed(&named)), (rows(&data), summed(&data)));
    }
    let alone =
        Case::new("a.csv", TABLE).read_with(&ReadOptions { drop: vec!["donor".into(), "site".into()], ..by(&["y"]) });
    assert_eq!(rows(&alone.expect("read")), [[9.0, 11.0, 6.0], [4.0, 0.0, 0.0]]);
}

#[test]
fn totals_and_logarithms_are_of_the_sums() {
    let normalize = Normalization { total: Some(38.0), log1p: true, uncounted: Vec::new() };
    let options = ReadOptions { normalize, ..by(&["donor"]) };
    let data = Case::new("a.csv", TABLE).read_with(&options).expect("read");
    for (found, sums) in rows(&data).iter().zip(SUMS) {
        let total: f64 = sums.iter().sum();
        for (x, sum) in found.iter().zip(sums) {
            assert!((x - (38.0 * sum / total).ln_1p()).abs() < 1e-14, "{x} {sum}");
        }
    }
    assert_eq!(data.normalized().expect("done").features, 3);
    assert!(data.normalized().expect("done").how.uncounted.contains(&"donor".to_owned()));
    // What is left out later is in the totals of a matrix.
    let case = Case::new("a.csv", TABLE);
    let archive = case.beside("a.npz");
    let texts = |values: [&str; 5]| -> Vec<u8> {
        let letters = values.iter().flat_map(|text| text.chars().chain(['\0', '\0']).take(2));
        letters.flat_map(|letter| u32::from(letter).to_le_bytes()).collect()
    };
    let whole = |values: &[i32]| -> Vec<u8> { values.iter().flat_map(|x| x.to_le_bytes()).collect() };
    let format: Vec<u8> = "csc".chars().flat_map(|letter| u32::from(letter).to_le_bytes()).collect();
    npz(
        &archive,
        &[
            ("data", "<f8", "(9,)", &floats(&[1.0, 2.0, 4.0, 6.0, 5.0, 5.0, 1.0, 4.0, 2.0])),
            ("indices", "<i4", "(9,)", &whole(&[0, 1, 2, 3, 0, 3, 4, 1, 3])),
            ("indptr", "<i4", "(4,)", &whole(&[0, 4, 7, 9])),
            ("shape", "<i4", "(2,)", &whole(&[5, 3])),
            ("format", "<U3", "()", &format),
            ("y", "<U2", "(5,)", &texts(["B", "B", "T", "B", "B"])),
            ("donor", "<U2", "(5,)", &texts(["d1", "d2", "d1", "d1", "d2"])),
        ],
    );
    let of = |drop: &[&str]| {
        let drop = drop.iter().map(|&name| name.to_owned()).collect();
        fewest_data::read(&archive, &ReadOptions { drop, ..options.clone() }).unwrap_or_else(|error| panic!("{error}"))
    };
    let all = of(&[]);
    assert!(matches!(all.features, Features::Sparse(_)));
    assert_eq!(rows(&all), rows(&data));
    let part: Vec<Vec<f64>> = rows(&all).into_iter().map(|row| vec![row[0], row[2]]).collect();
    assert_eq!(rows(&of(&["x2"])), part);
}

#[test]
fn a_column_file_of_sums_holds_them() {
    let case = Case::new("a.csv", TABLE);
    let out = case.beside("a.csc");
    to_columns(case.path(), &by(&["donor"]), &out).expect("converted");
    let back = fewest_data::read(&out, &ReadOptions::default()).expect("read");
    assert_eq!(rows(&back), SUMS);
}

#[test]
fn what_has_no_sum_is_refused() {
    let error = |text: &str, options: &ReadOptions| {
        Case::new("a.csv", text).read_with(options).expect_err("an error").to_string()
    };
    let of = by(&["donor"]);
    holds(&error(&TABLE.replace("6,d1", "6.5,d1"), &of), &["row 4", "a", "6.5", "counts", "leave out `sum_by"]);
    holds(&error(&TABLE.replace("6,d1", "-6,d1"), &of), &["the value is -6", "whole numbers of 0 or more"]);
    let missing = ReadOptions { missing: true, ..of.clone() };
    holds(&error(&TABLE.replace("6,d1", "NA,d1"), &missing), &["row 4", "missing"]);
    holds(&error(&TABLE.replace("2,d2", "2, "), &of), &["row 2", "donor", "blank"]);
    holds(&error(TABLE, &by(&["Donor"])), &["no column `Donor`", "did you mean `donor`?"]);
    let categories = ReadOptions { drop: Vec::new(), ..of.clone() };
    holds(&error(&TABLE.replace("5,0,s", "5,0,t"), &categories), &["`site` holds categories", "drop = site"]);
    let apart = ReadOptions { drop: Vec::new(), apart: vec!["site".into()], ..of };
    let differs = error(&TABLE.replace("5,2,s", "5,2,t"), &apart);
    holds(&differs, &["row 4", "site", "the cell is t, but s in row 1 of the same sum", "`sum_by"]);
    assert!(Case::new("a.csv", TABLE).read_with(&apart).is_ok());
}

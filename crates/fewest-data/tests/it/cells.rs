//! h5ad, 10x, loom, gctx and Matrix Market: the small files of tests/files, which hold one table in
//! every form, and what is refused of them.

use fewest_data::{Dataset, Features, Format, Normalization, ReadOptions, read, to_columns, write};

use crate::common::{Case, classes, holds, lines, notes, rows};

const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/files/");

/// The table, its last row without a class.
const X: [[f64; 4]; 6] = [
    [1.0, 0.0, 2.5, 0.0],
    [0.0, 0.0, 0.0, 3.0],
    [0.0, 7.0, 0.0, 0.0],
    [4.0, 0.0, 0.0, 0.25],
    [0.0, 0.0, 0.0, 0.0],
    [0.0, 5.0, 6.0, 0.0],
];

const TYPES: [&str; 5] = ["B", "T cell", "B", "NK", "T cell"];

fn labelled(target: &str) -> ReadOptions {
    ReadOptions { target: Some(target.into()), drop_unlabelled: true, ..ReadOptions::default() }
}

fn unlabelled() -> ReadOptions {
    ReadOptions { target_optional: true, ..ReadOptions::default() }
}

fn open(name: &str, options: &ReadOptions) -> Dataset {
    read(&format!("{FILES}{name}"), options).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn error(name: &str, options: &ReadOptions) -> String {
    let error = read(&format!("{FILES}{name}"), options).expect_err(name);
    assert!(to_columns(&format!("{FILES}{name}"), options, "/nowhere/a.csc").is_err());
    error.to_string()
}

/// A column file made without holding the matrix is the same as one made of it.
fn same_column_file(path: &str, options: &ReadOptions) {
    let case = Case::new("a", "");
    let (one, other) = (case.beside("one.csc"), case.beside("other.csc"));
    to_columns(path, options, &one).unwrap_or_else(|e| panic!("{path}: {e}"));
    let whole = read(path, options).unwrap_or_else(|e| panic!("{path}: {e}"));
    write(&other, &whole).expect("written");
    assert!(std::fs::read(one).expect("read") == std::fs::read(other).expect("read"), "{path}");
}

#[test]
fn one_table_in_every_form() {
    for (name, format, target, sparse) in [
        ("csr.h5ad", Format::H5ad, "cell_type", true),
        ("csc.h5ad", Format::H5ad, "obs/cell_type", true),
        ("dense.h5ad", Format::H5ad, "cell_type", false),
        ("latest.h5ad", Format::H5ad, "cell_type", true),
        ("old.h5ad", Format::H5ad, "cell_type", true),
        ("newest.h5ad", Format::H5ad, "cell_type", true),
        ("tiny.loom", Format::Loom, "col_attrs/cell_type", false),
        ("tiny.gctx", Format::Gctx, "cell_type", false),
    ] {
        let data = open(name, &labelled(target));
        assert_eq!(data.format, format, "{name}");
        assert_eq!(rows(&data), X[..5], "{name}");
        assert_eq!(classes(&data), TYPES, "{name}");
        assert_eq!(data.target.as_ref().expect("one").column, "cell_type");
        let second = if format == Format::Gctx { "Abeta" } else { "Aβ" };
        assert_eq!(data.names.to_vec(), ["TP53", second, "MYC", "GAPDH"], "{name}");
        assert_eq!(matches!(data.features, Features::Sparse(_)), sparse, "{name}");
        assert_eq!(data.samples.as_ref().expect("names").values[4], "cell4", "{name}");
        assert!(notes(&data).contains("1 row(s) without a class"), "{name}");
        assert_eq!(rows(&open(name, &unlabelled())), X, "{name}");
        same_column_file(&format!("{FILES}{name}"), &unlabelled());
        same_column_file(&format!("{FILES}{name}"), &labelled(target));
    }
}

#[test]
fn columns_of_cells_with_a_slash() {
    for target in ["cell/type", "obs/cell/type"] {
        assert_eq!(classes(&open("newest.h5ad", &labelled(target))), TYPES, "{target}");
    }
    let apart = ReadOptions { apart: vec!["a/b/c".into()], ..unlabelled() };
    assert_eq!(open("newest.h5ad", &apart).apart[0].values[2], "2");
    let all = error("newest.h5ad", &labelled("kind"));
    holds(&all, &["there is no column `kind`", "cell/type, cell_type, a/b/c"]);
}

#[test]
fn values_that_are_no_counts_are_said() {
    let normalize = |total, log1p| Normalization { total, log1p, uncounted: Vec::new() };
    let told = |layer: Option<&str>, normalize| {
        let options = ReadOptions { normalize, layer: layer.map(str::to_owned), ..unlabelled() };
        notes(&open("newest.h5ad", &options))
    };
    holds(&told(None, normalize(None, true)), &["logarithms already", "uns/log1p", "`layer"]);
    let of_counts = told(Some("counts"), normalize(Some(10.0), true));
    assert!(!of_counts.contains("logarithms already"), "{of_counts}");
    holds(&of_counts, &["no whole numbers", "`normalize_total"]);
    assert!(!told(None, Normalization::default()).contains("logarithms"));
    let csv = |x: &str| Case::new("a.csv", format!("a,b,y\n{x},70,0\n2,3,1\n")).read().expect("read").has_counts();
    assert!(csv("1") && !csv("1.5") && !csv("-1"));
}

#[test]
fn layers_and_raw() {
    let of = |layer: Option<&str>| {
        let options = ReadOptions { layer: layer.map(str::to_owned), ..labelled("cell_type") };
        same_column_file(&format!("{FILES}layers.h5ad"), &ReadOptions { target_optional: true, ..options.clone() });
        let data = open("layers.h5ad", &options);
        (data.names.to_vec(), rows(&data))
    };
    let genes = ["TP53", "Aβ", "MYC", "GAPDH"].map(String::from).to_vec();
    let map = |f: fn(f64) -> f64| X[..5].iter().map(|row| row.map(f).to_vec()).collect::<Vec<_>>();
    for none in [None, Some("X")] {
        assert_eq!(of(none), (genes.clone(), map(|x| x - 1.0)));
    }
    assert_eq!(of(Some("raw")), (["a", "b", "c", "d"].map(String::from).to_vec(), map(|x| x)));
    for name in ["counts", "layers/counts"] {
        assert_eq!(of(Some(name)), (genes.clone(), map(f64::ceil)));
    }
    let loom = ReadOptions { layer: Some("spliced".into()), ..labelled("cell_type") };
    assert_eq!(rows(&open("tiny.loom", &loom)), map(|x| 2.0 * x));
    let layer = |name: &str| ReadOptions { layer: Some(name.into()), ..labelled("cell_type") };
    holds(
        &error("layers.h5ad", &layer("count")),
        &["no layer `count`", "`layer = X` or `layer = raw` or `layer = counts`"],
    );
    holds(&error("tiny.loom", &layer("x")), &["no layer `x`", "`layer = matrix` or `layer = spliced`"]);
    holds(&error("tiny.gctx", &layer("x")), &["`layer` has a meaning for h5ad, loom and 10x", "leave it out"]);
    let csv = Case::new("a.csv", "a,y\n1,0\n2,1\n").read_with(&layer("x")).expect_err("no layer").to_string();
    holds(&csv, &["`layer` has a meaning for h5ad, loom and 10x", "leave it out"]);
}

#[test]
fn columns_of_cells_are_text() {
    let options = ReadOptions {
        apart: ["obs/depth", "ok", "batch", "_index"].map(String::from).to_vec(),
        samples: Some("depth".into()),
        ..unlabelled()
    };
    for name in ["dense.h5ad", "latest.h5ad"] {
        let error = read(&format!("{FILES}{name}"), &options).expect_err("the index is the names").to_string();
        holds(&error, &["`_index`", "cell_type", "batch"]);
        let options = ReadOptions { apart: options.apart[..3].to_vec(), ..options.clone() };
        let data = open(name, &options);
        let column = |at: usize| data.apart[at].values.join(" ");
        assert_eq!(column(0), "1.5 2  4 5 0.1");
        assert_eq!(column(1), "True False True True False True");
        assert_eq!(column(2), "1 2 1 2 1 ");
        assert_eq!(data.samples.as_ref().expect("asked").values.join(" "), column(0));
    }
    let error = error("latest.h5ad", &ReadOptions::default());
    holds(&error, &["no column of the samples is named y", "`target`: cell_type (3 values), ok (2 values)"]);
}

#[test]
fn cell_ranger_in_hdf5() {
    let unique = ReadOptions { unique_names: true, ..unlabelled() };
    let data = open("v2.h5", &unique);
    assert_eq!(data.names.to_vec(), ["TP53", "Aβ", "MYC", "TP53.1"]);
    assert_eq!((data.format, rows(&data)[0].clone()), (Format::H5, vec![1.0, 0.0, 2.0, 0.0]));
    assert_eq!(data.samples.as_ref().expect("barcodes").values[5], "cell5");
    holds(&error("v2.h5", &unlabelled()), &["`TP53`", "columns 1 and 4", "`unique_names"]);
    same_column_file(&format!("{FILES}v2.h5"), &unique);
    // The antibody is of the name of a gene, but left out.
    let data = open("v3.h5", &unlabelled());
    assert_eq!(data.names.to_vec(), ["TP53", "Aβ", "MYC"]);
    assert_eq!(rows(&data)[3], [4.0, 0.0, 0.0]);
    holds(&notes(&data), &["type Gene Expression", "Antibody Capture (1)", "`layer = Antibody Capture`"]);
    let layer = |name: &str| ReadOptions { layer: Some(name.into()), ..unlabelled() };
    let data = open("v3.h5", &layer("Antibody Capture"));
    assert_eq!((data.names.to_vec(), rows(&data)[1][0]), (vec!["TP53".to_owned()], 3.0));
    same_column_file(&format!("{FILES}v3.h5"), &layer("Antibody Capture"));
    same_column_file(&format!("{FILES}v3.h5"), &unlabelled());
    holds(&error("v3.h5", &layer("x")), &["type `x`", "`layer = Gene Expression` or `layer = Antibody Capture`"]);
    holds(&error("v2.h5", &layer("x")), &["no layer `x`", "`layer = hg19`"]);
    holds(&error("v2.h5", &ReadOptions { unique_names: true, ..ReadOptions::default() }), &["`labels"]);
}

#[test]
fn the_ending_may_be_of_another_form() {
    for name in ["csr.h5ad", "tiny.loom", "tiny.gctx"] {
        let case = Case::new("a.h5", std::fs::read(format!("{FILES}{name}")).expect("a file"));
        let data = case.read_with(&labelled("cell_type")).expect("recognised by its content");
        assert_eq!(classes(&data), TYPES, "{name}");
    }
    let bytes = std::fs::read(format!("{FILES}csr.h5ad")).expect("a file");
    let mut zipped = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut zipped, &bytes).expect("written");
    let case = Case::new("a.h5ad.gz", zipped.finish().expect("finished"));
    assert_eq!(classes(&case.read_with(&labelled("cell_type")).expect("read")), TYPES);
    let refused = |name: &str, bytes: &[u8]| Case::new(name, bytes).read().expect_err(name).to_string();
    holds(&refused("a.h5ad", b"a,b\n1,2\n"), &["not HDF5", "`format"]);
    holds(&refused("a.h5ad", &bytes[..bytes.len() / 2]), &["damaged"]);
    for (name, parts) in [
        ("a.rds", ["write.csv", "write_h5ad"]),
        ("a.RData", ["write.csv", "write_h5ad"]),
        ("a.h5seurat", ["h5Seurat", "SeuratDisk::Convert"]),
        ("a.zarr.zip", ["through Python", "anndata.read_zarr(path).write_h5ad('x.h5ad')"]),
    ] {
        holds(&refused(name, b"x"), &parts);
    }
    let data = Case::new("a.csv", "a,y\n1,0\n2,1\n").read().expect("read");
    for format in [Format::H5ad, Format::H5, Format::Loom, Format::Gctx, Format::Mtx] {
        let error = fewest_data::write_as("a", &data, format).expect_err("not written").to_string();
        holds(&error, &[format.name(), "not written", ".npz"]);
    }
}

const MTX: &str = "%%MatrixMarket matrix coordinate real general\n% c\n4 6 8\n1 1 1\n3 1 2.5\n4 2 3\n2 3 7\n1 4 4\n4 4 0.25\n2 6 5\n3 6 6\n";

/// A folder of Cell Ranger.
fn folder(prefix: &str, features: (&str, &str), matrix: &str) -> Case {
    let case = Case::new(&format!("{prefix}matrix.mtx"), matrix);
    let barcodes = lines(6, |i| format!("cell{i}\n"));
    std::fs::write(case.beside(&format!("{prefix}barcodes.tsv")), barcodes).expect("written");
    std::fs::write(case.beside(&format!("{prefix}{}", features.0)), features.1).expect("written");
    case
}

const FEATURES: (&str, &str) = (
    "features.tsv",
    "E1\tTP53\tGene Expression\nE2\tAβ\tGene Expression\nE3\tMYC\tGene Expression\nE4\tTP53\tAntibody Capture\n",
);

#[test]
fn folders_of_cell_ranger() {
    let genes = ("genes.tsv", "E1\tTP53\nE2\tAβ\nE3\tMYC\nE4\tGAPDH\n");
    for prefix in ["", "GSM1_", "s1."] {
        let case = folder(prefix, genes, MTX);
        for path in [case.beside(""), case.path().to_owned()] {
            let data = read(&path, &unlabelled()).expect("read");
            assert_eq!(rows(&data), X, "{path}");
            assert_eq!(data.names.to_vec(), ["TP53", "Aβ", "MYC", "GAPDH"]);
            assert_eq!(data.samples.as_ref().expect("barcodes").values[5], "cell5");
            assert_eq!(data.format, Format::Mtx);
            same_column_file(&path, &unlabelled());
        }
    }
    let case = folder("", FEATURES, MTX);
    let data = read(&case.beside(""), &unlabelled()).expect("read");
    assert_eq!(data.names.to_vec(), ["TP53", "Aβ", "MYC"]);
    holds(&notes(&data), &["Antibody Capture (1)"]);
    same_column_file(&case.beside(""), &unlabelled());
    let swapped = "%%MatrixMarket matrix coordinate pattern general\n6 4 2\n6 1\n1 4\n";
    let data = read(&folder("", genes, swapped).beside(""), &unlabelled()).expect("read");
    assert_eq!((rows(&data)[5][0], rows(&data)[0][3], data.names.len()), (1.0, 1.0, 4));
}

#[test]
fn folders_that_are_refused() {
    let none = Case::new("a.csv", "a,y\n1,0\n2,1\n");
    let refused = |case: &Case| read(&case.beside(""), &unlabelled()).expect_err("refused").to_string();
    holds(&refused(&none), &["holds no matrix of Cell Ranger", "name a data file"]);
    let alone = Case::new("matrix.mtx", MTX);
    holds(&refused(&alone), &["no features.tsv (or genes.tsv) beside matrix.mtx", "samples"]);
    std::fs::write(alone.beside("matrix.mtx"), MTX).expect("written");
    std::fs::rename(alone.beside("matrix.mtx"), alone.beside("a.mtx")).expect("renamed");
    std::fs::write(alone.beside("b.mtx"), MTX).expect("written");
    holds(&refused(&alone), &["2 matrices", "name one: a.mtx, b.mtx"]);
    let short = folder("", ("genes.tsv", "E1\tTP53\n"), MTX);
    holds(&refused(&short), &["4 rows and 6 columns", "1 features and 6 barcodes", "a folder of their own"]);
    let zarr = Case::new("zarr.json", "{}");
    holds(&refused(&zarr), &["zarr is read through Python"]);
}

#[test]
fn a_matrix_alone_has_samples_in_rows() {
    let entries = "3 2\n1 2 4\n3 1 1\n3 1 0.5\n2 2 7\n2 2 -7\n";
    let case = Case::new(
        "a.mtx",
        format!("%%MatrixMarket matrix coordinate real general\n3 {}", entries.replacen("3 2\n", "2 5\n", 1)),
    );
    let data = case.read_with(&unlabelled()).expect("read");
    assert_eq!(rows(&data), [[0.0, 4.0], [0.0, 0.0], [1.5, 0.0]]);
    assert_eq!(data.names.to_vec(), ["x1", "x2"]);
    same_column_file(case.path(), &unlabelled());
    let refused = |text: &str| Case::new("a.mtx", text).read_with(&unlabelled()).expect_err(text).to_string();
    let head = "%%MatrixMarket matrix coordinate real general\n";
    holds(&refused("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n"), &["line 1", "array", "coordinate"]);
    holds(&refused("%%MatrixMarket matrix coordinate real symmetric\n2 2 0\n"), &["symmetric"]);
    holds(&refused("a\tb\n1\t2\n"), &["not the header of Matrix Market"]);
    holds(&refused(&format!("{head}2 2\n")), &["line 2", "three whole numbers"]);
    holds(&refused(&format!("{head}2 2 1\n3 1 1\n")), &["line 3", "not an entry of a 2 x 2 matrix"]);
    holds(&refused(&format!("{head}2 2 1\n0 1 1\n")), &["count from 1"]);
    holds(&refused(&format!("{head}2 2 2\n1 1 1\n")), &["1 entries", "the header says 2"]);
    holds(&refused(&format!("{head}2 2 1\n1 1 nan\n")), &["missing"]);
    holds(&refused(&format!("{head}0 2 0\n")), &["no row"]);
    holds(&refused(&format!("{head}9999999999 2 0\n")), &["9999999999"]);
}

#[test]
fn memory_is_asked_for_before_it_is_taken() {
    for name in ["csr.h5ad", "csc.h5ad", "dense.h5ad", "old.h5ad", "tiny.loom", "tiny.gctx", "v3.h5"] {
        let options = ReadOptions { memory_limit: Some(150), ..unlabelled() };
        holds(&error(name, &options), &["needs", "only 150 bytes are allowed"]);
    }
    let case = Case::new("a.mtx", MTX);
    let options = ReadOptions { memory_limit: Some(150), ..unlabelled() };
    holds(&case.read_with(&options).expect_err("too little").to_string(), &["only 150 bytes are allowed"]);
}

//! Column files: what comes back, what the methods see of them, every kind of damage.

use fewest_data::{
    Dataset, EntrySums, Features, Names, Note, ReadOptions, ScaleKind, Scaling, column_outline, column_part, read,
    summary, to_columns, write,
};
use fewest_svm::Design;

use crate::common::{Case, classes, holds, lines, rows};

const SPARSE: &str = "1 1:0.5 3:2 # comment\n-1 2:1\n+1 1:-4 2:1e-3 5:7\n";

fn with_memory(bytes: u64) -> ReadOptions {
    ReadOptions { memory_limit: Some(bytes), ..ReadOptions::default() }
}

/// n rows of 3 values in p columns, seeded by the row.
fn wide(n: usize, p: usize) -> String {
    let line = |i: usize| {
        let mut columns: Vec<usize> = (0..3).map(|k| 1 + (i * 7919 + k * 104_729) % p).collect();
        columns.sort_unstable();
        columns.dedup();
        let pairs: Vec<String> =
            columns.iter().map(|j| format!(" {j}:{}", 0.25 + ((i * 31 + j) % 17) as f64)).collect();
        format!("{}{}\n", if i.is_multiple_of(2) { 1 } else { -1 }, pairs.concat())
    };
    lines(n, line)
}

/// The column file made of a case, and the data set it holds.
fn converted(case: &Case) -> (String, Dataset) {
    let path = case.beside("out.csc");
    to_columns(case.path(), &ReadOptions::default(), &path).expect("convert");
    let data = read(&path, &ReadOptions::default()).expect("read");
    (path, data)
}

#[test]
fn what_is_written_comes_back() {
    for (name, text) in [("a.svm", SPARSE), ("a.csv", "age,b c,y\n1,0,no\n0,2.5,yes\n-3,1e300,no\n")] {
        let case = Case::new(name, text);
        let (path, data) = converted(&case);
        let truth = case.read().expect("read");
        assert!(matches!(data.features, Features::Mapped(_)));
        assert_eq!((rows(&data), classes(&data)), (rows(&truth), classes(&truth)));
        assert_eq!((&data.names, &data.target), (&truth.names, &truth.target));
        // From a data set in memory, the file is the same, byte for byte.
        let again = case.beside("again.csc");
        write(&again, &truth).expect("write");
        assert_eq!(std::fs::read(&path).expect("read"), std::fs::read(&again).expect("read"), "{name}");
        // And from a mapped one every other format.
        for other in ["b.svm", "b.csv", "b.npz", "b.arff", "b.parquet", "b.csc"] {
            let back = case.beside(other);
            write(&back, &data).expect("write");
            assert_eq!(rows(&read(&back, &ReadOptions::default()).expect("read")), rows(&truth), "{other}");
        }
    }
}

#[test]
fn parts_are_the_columns_and_their_sums_joined_those_of_the_file() {
    let case = Case::new("a.svm", wide(2000, 300));
    let (path, data) = converted(&case);
    let (whole, p) = (data.features.as_design(), data.features.n_features());
    let column = |design: &dyn Design, j: usize| {
        let mut entries = Vec::new();
        design.each_in_column(j, &mut |i, x| entries.push((i, x)));
        entries
    };
    for pieces in [1, 3, 7, 1000] {
        let outline = column_outline(&path, pieces).expect("outline");
        assert_eq!((outline.n_samples, &outline.names, &outline.target), (2000, &data.names, &data.target));
        assert_eq!((outline.cuts[0], outline.cuts.last()), (0, Some(&p)));
        assert!(outline.cuts.len() <= pieces + 1 && outline.cuts.is_sorted_by(|a, b| a < b));
        let mut sums = Vec::new();
        for cut in outline.cuts.windows(2) {
            let part = column_part(&path, cut[0]..cut[1], 1 << 10).expect("part");
            assert_eq!((part.design.n_samples(), part.design.n_features()), (2000, cut[1] - cut[0]));
            (cut[0]..cut[1]).for_each(|j| assert_eq!(column(&part.design, j - cut[0]), column(whole, j)));
            sums.push(part.sums);
        }
        assert_eq!(EntrySums::joined(&sums), outline.sums);
        sums[0].values ^= 1;
        assert_ne!(EntrySums::joined(&sums), outline.sums);
    }
    let refused = column_part(&path, p - 1..p + 1, 1 << 10).expect_err("beyond the last").to_string();
    holds(&refused, &["columns 299..301", "300"]);
}

#[test]
fn a_file_larger_than_the_memory_is_converted_in_several_passes() {
    // 60 000 values are 720 kB; half of 600 kB holds 25 000 of them.
    let case = Case::new("a.svm", wide(20_000, 5000));
    let (small, large) = (case.beside("small.csc"), case.beside("large.csc"));
    to_columns(case.path(), &with_memory(600_000), &small).expect("in passes");
    to_columns(case.path(), &ReadOptions::default(), &large).expect("at once");
    assert_eq!(std::fs::read(&small).expect("read"), std::fs::read(&large).expect("read"));
    let refused = read(case.path(), &with_memory(600_000)).expect_err("the matrix is larger").to_string();
    holds(&refused, &["sparse matrix", "585.94 KiB"]);
    let refused = to_columns(case.path(), &with_memory(50_000), &small).expect_err("the counts are larger").to_string();
    holds(&refused, &["the counts of all columns"]);
}

/// A table of zeros, text, numbers and a constant column, long enough for many ranges.
fn table() -> Case {
    let line = |i: usize| {
        let cells: Vec<String> = (0..30)
            .map(|j| if (i * 7 + j * 3).is_multiple_of(4) { "0".into() } else { format!("{}", (i * j) % 1009) })
            .collect();
        let text = ["red", "green", "blue"][i * i % 3 + usize::from(i == 5)];
        format!("{},{text},{},3,{}\n", cells.join(","), ["u", "v"][i % 2], ["no", "yes"][i / 3 % 2])
    };
    let names: Vec<String> = (0..30).map(|j| format!("c{j}")).collect();
    Case::new("a.csv", format!("{},colour,side,same,y\n", names.join(",")) + &lines(4000, line))
}

#[test]
fn every_format_is_converted_within_a_small_memory() {
    let dense = table();
    let data = dense.read().expect("read");
    let sparse = Case::new("b.svm", wide(4000, 60));
    let few = sparse.read().expect("read");
    let mut files = vec![dense.path().to_owned(), sparse.path().to_owned()];
    for name in ["a.csv.gz", "a.tsv", "a.svm", "a.arff", "a.parquet", "a.npz"] {
        files.push(dense.beside(name));
        write(&files[files.len() - 1], &data).expect("write");
    }
    for name in ["b.npz", "b.csv", "b.parquet", "b.arff.zst"] {
        files.push(sparse.beside(name));
        write(&files[files.len() - 1], &few).expect("write");
    }
    for path in files {
        let truth = read(&path, &ReadOptions::default()).expect("read");
        let (whole, parts) = (dense.beside("whole.csc"), dense.beside("parts.csc"));
        write(&whole, &truth).expect("write");
        let whole = std::fs::read(&whole).expect("read");
        // A column of 4000 values takes 48 kB: many ranges, and the disk again and again.
        for (memory, threads) in [(200_000, 1), (200_000, 3), (700_000, 2), (1 << 40, 2)] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            let made = pool.install(|| to_columns(&path, &with_memory(memory), &parts)).expect("convert");
            assert!(std::fs::read(&parts).expect("read") == whole, "{path} with {memory} bytes and {threads} threads");
            assert_eq!(made.notes, truth.notes, "{path}");
            assert_eq!((made.n_samples, made.n_features), (4000, truth.names.len()));
        }
    }
    let refused =
        to_columns(dense.path(), &with_memory(90_000), &dense.beside("n.csc")).expect_err("a column is larger");
    holds(&refused.to_string(), &["a single column", "93.75 KiB"]);
}

#[test]
fn wrong_cells_are_named_as_in_memory_and_nothing_is_left() {
    let good = lines(3000, |i| format!("{i},{},no\n7,{i},yes\n", i % 3));
    for (line, bad) in [(6002, "1,,no\n"), (6002, "1,2\n"), (6002, "x1,2,no\n"), (6002, "1,inf,no\n")] {
        let case = Case::new("a.csv", format!("a,b,y\n{good}{bad}"));
        let (out, folder) = (case.beside("out.csc"), std::path::Path::new(case.path()).parent().expect("a folder"));
        let error = to_columns(case.path(), &with_memory(300_000), &out).expect_err("bad").to_string();
        assert_eq!(error, case.read().expect_err("bad").to_string());
        holds(&error, &[&format!("line {line}")]);
        assert_eq!(std::fs::read_dir(folder).expect("a folder").count(), 1);
    }
}

#[test]
fn methods_see_the_same_matrix_as_in_memory() {
    let case = Case::new("a.svm", wide(3000, 700));
    let (path, _) = converted(&case);
    // A quarter of 80 kB: pages are given back again and again.
    let as_mapped = read(&path, &with_memory(80_000)).expect("the classes fit").features;
    let in_memory = case.read().expect("read").features;
    assert_eq!(as_mapped.bytes(), 20_000);
    assert_eq!(as_mapped.constant(), in_memory.constant());
    for scale in [ScaleKind::None, ScaleKind::MaxAbs, ScaleKind::Standard] {
        let (mut mapped, mut memory) = (as_mapped.clone(), in_memory.clone());
        let fitted = Scaling::fit(scale, &mapped).expect("fit");
        assert_eq!(fitted, Scaling::fit(scale, &memory).expect("fit"));
        fitted.apply(&mut mapped).expect("apply");
        fitted.apply(&mut memory).expect("apply");
        let (a, b) = (mapped.as_design(), memory.as_design());
        let p = a.n_features();
        let v: Vec<f64> = (0..3000).map(|i| ((i * 37) % 101) as f64 - 50.0).collect();
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-12 * (1.0 + b.abs()));
        let dots = |design: &dyn Design| {
            let mut out = vec![0.0; p - 5];
            design.dot_columns(5, &v, &mut out);
            out.extend((0..5).map(|j| design.dot_column(j, &v)));
            out
        };
        assert!(near(&dots(a), &dots(b)));
        let added = |design: &dyn Design| {
            let mut out = v.clone();
            (0..p).for_each(|j| design.add_column(j, 0.5, &mut out));
            out
        };
        assert!(near(&added(a), &added(b)));
        let entries = |design: &dyn Design, j: usize| {
            let mut out = Vec::new();
            design.each_in_column(j, &mut |i, x| out.push((i, x)));
            out
        };
        for j in (0..p).step_by(7) {
            let mut at_once = Vec::new();
            let stored = a.sparse_column(j, &mut |rows, x, divisor| {
                at_once.extend(rows.iter().zip(x).map(|(&i, x)| (i as usize, x / divisor)));
            });
            assert!(stored, "column {j}");
            assert_eq!(at_once, entries(a, j), "column {j}");
        }
        let chosen = [3, 1, 690, 250];
        let picked =
            |design: &dyn Design| (0..3000).map(|i| design.rows(&chosen).row(i).dot(&[1.0, -2.0, 3.0, 0.5])).collect();
        let (x, y): (Vec<f64>, Vec<f64>) = (picked(a), picked(b));
        assert_eq!(x, y);
        let some = [0, 5, 77, 2999];
        for (a, b) in [
            (a.select_samples(&some), b.select_samples(&some)),
            (Box::new(OwnedFeatures(mapped.rows(&some))), Box::new(OwnedFeatures(memory.rows(&some)))),
        ] {
            for j in 0..p {
                assert_eq!(a.squared_norm(j), b.squared_norm(j));
            }
        }
        let columns = [Some(2), None, Some(699)];
        let (a, b) = (mapped.select(&columns), memory.select(&columns));
        assert!((0..3000).all(|i| (0..3).all(|j| a.value(i, j) == b.value(i, j))));
    }
}

/// Features as a design of their own.
struct OwnedFeatures(Features);

impl Design for OwnedFeatures {
    fn n_samples(&self) -> usize {
        self.0.n_samples()
    }
    fn n_features(&self) -> usize {
        self.0.n_features()
    }
    fn stored(&self) -> usize {
        self.0.as_design().stored()
    }
    fn is_sparse(&self) -> bool {
        self.0.as_design().is_sparse()
    }
    fn dot_column(&self, j: usize, v: &[f64]) -> f64 {
        self.0.as_design().dot_column(j, v)
    }
    fn add_column(&self, j: usize, s: f64, out: &mut [f64]) {
        self.0.as_design().add_column(j, s, out);
    }
    fn each_in_column(&self, j: usize, f: &mut dyn FnMut(usize, f64)) {
        self.0.as_design().each_in_column(j, f);
    }
    fn rows(&self, features: &[usize]) -> fewest_svm::RowMatrix {
        self.0.as_design().rows(features)
    }
    fn select_samples(&self, samples: &[usize]) -> Box<dyn Design> {
        self.0.as_design().select_samples(samples)
    }
}

#[test]
fn summaries_agree() {
    let case = Case::new("a.svm", SPARSE.to_owned() + "1 1:1 2:1 3:1 4:0 5:1 6:3 7:3\n");
    let (_, data) = converted(&case);
    let truth = case.read().expect("read");
    let (a, b) = (summary(&data), summary(&truth));
    assert_eq!((&a.duplicates, &a.constant, &a.ranges), (&b.duplicates, &b.constant, &b.ranges));
    assert_eq!(a.duplicates.len(), 1);
    assert!(data.notes.iter().any(|n| matches!(n, Note::Constant { count: 1, .. })), "{:?}", data.notes);
}

#[test]
fn a_model_finds_its_features() {
    let case = Case::new("a.svm", SPARSE);
    let (path, _) = converted(&case);
    let options = ReadOptions { features: Some(vec!["x5".into(), "x1".into()]), ..ReadOptions::default() };
    let data = read(&path, &options).expect("read");
    assert_eq!(rows(&data), [[0.0, 0.5], [0.0, 0.0], [7.0, -4.0]]);
    assert_eq!(data.names, Names::Listed(vec!["x5".into(), "x1".into()]));
}

#[test]
fn damage_is_found_and_named() {
    let case = Case::new("a.svm", SPARSE);
    let (path, _) = converted(&case);
    let good = std::fs::read(&path).expect("read");
    let message = |bytes: &[u8]| {
        let case = Case::new("d.csc", bytes);
        case.read().expect_err("damaged").to_string().replace(case.path(), "d.csc")
    };
    holds(&message(&good[..good.len() - 1]), &["d.csc", "bytes, but its header says", "copy or download it again"]);
    holds(&message(&good[..100]), &["fewer than its header"]);
    holds(&message(b"label 1:2\n"), &["does not begin as a column file"]);
    let mut long = good.clone();
    long.push(0);
    holds(&message(&long), &["its header says"]);
    let mut newer = good.clone();
    newer[8] = 2;
    holds(&message(&newer), &["version 2, but version 1", "newer fewest"]);
    // Every byte that means something is watched by a checksum: the gaps between the sections are
    // all that is not.
    let mut unseen = 0;
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 0x10;
        let case = Case::new("d.csc", &bad);
        match case.read() {
            Ok(data) => {
                unseen += 1;
                assert_eq!((bad[at], rows(&data)), (0x10, rows(&Case::new("a.svm", SPARSE).read().expect("read"))));
            }
            Err(error) => holds(&error.to_string(), &["d.csc"]),
        }
    }
    // Header 128, starts 6 x 8, rows 6 x 4, values 6 x 8, classes 3 x 4, text 4 + 1 + 4 + 2 + 4 +
    // 1.
    assert_eq!(good.len() - unseen, 128 + 48 + 24 + 48 + 12 + 16);
    let mut sum = good.clone();
    sum[good.len() - 1] ^= 1;
    holds(&message(&sum), &["checksum of the text"]);
}

#[test]
fn what_cannot_be_mapped_is_refused() {
    let case = Case::new("a.svm", SPARSE);
    let data = case.read().expect("read");
    for (path, why) in [("-".to_owned(), "standard output"), (case.beside("a.csc.gz"), "cannot be compressed")] {
        let error = fewest_data::write_as(&path, &data, fewest_data::Format::Csc).expect_err(why).to_string();
        holds(&error, &[why, ".csc"]);
    }
    let (path, _) = converted(&case);
    let asked = |options: ReadOptions| read(&path, &options).expect_err("refused").to_string();
    holds(
        &asked(ReadOptions { drop: vec!["x1".into()], ..ReadOptions::default() }),
        &["column `x1`", "fewest convert"],
    );
    holds(
        &asked(ReadOptions { target: Some("z".into()), ..ReadOptions::default() }),
        &["no column `z`", "target", "y"],
    );
    holds(&asked(with_memory(20)), &["classes and names", "20 bytes"]);
    let zipped = case.beside("z.csc.gz");
    std::fs::write(&zipped, [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]).expect("write");
    holds(
        &read(&zipped, &ReadOptions::default()).expect_err("compressed").to_string(),
        &["gzip", "decompress it first"],
    );
}

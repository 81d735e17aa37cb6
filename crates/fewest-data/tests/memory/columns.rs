//! Column files of data that are larger than the memory allowed: the peak stays below it.

use fewest_data::{ReadOptions, read, to_columns, write};

use crate::common::{Case, lines};
use crate::{alone, peak_of};

/// The matrix takes 28 MB, what is sorted of it 42 MB.
const LIMIT: usize = 20 << 20;

#[test]
fn every_format_keeps_the_limit() {
    let _alone = alone();
    let cell = |i: usize, j: usize| if (i + j).is_multiple_of(4) { 0 } else { 1 + (i * 7 + j * 13) % 89 };
    let line = |i: usize| lines(140, |j| format!("{},", cell(i, j))) + ["no\n", "yes\n"][i % 2];
    let names = lines(140, |j| format!("c{j},"));
    let case = Case::new("a.csv", format!("{names}y\n") + &lines(25_000, line));
    let data = case.read().expect("read");
    let (whole, parts) = (case.beside("whole.csc"), case.beside("parts.csc"));
    write(&whole, &data).expect("write");
    let mut files = vec![case.path().to_owned()];
    for name in ["a.parquet", "a.npz"] {
        files.push(case.beside(name));
        write(&files[files.len() - 1], &data).expect("write");
    }
    files.push(case.beside("b.npz"));
    write(&files[files.len() - 1], &read(&whole, &ReadOptions::default()).expect("read")).expect("write");
    drop(data);
    let options = ReadOptions { memory_limit: Some(LIMIT as u64), ..ReadOptions::default() };
    // The waves of text are beside the limit, and more of it with more threads.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("a pool");
    for path in files {
        read(&path, &options).expect_err("it is larger");
        let (made, peak) = peak_of(|| pool.install(|| to_columns(&path, &options, &parts)));
        assert_eq!(made.expect("convert").n_samples, 25_000);
        assert!(peak <= LIMIT, "{path}: a peak of {peak} bytes, {LIMIT} are allowed");
        assert!(std::fs::read(&parts).expect("read") == std::fs::read(&whole).expect("read"), "{path}");
    }
}

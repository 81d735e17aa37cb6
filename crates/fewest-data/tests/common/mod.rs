//! Helpers of the integration tests.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::print_stderr,
    reason = "each test file uses a part; a skipped test says why"
)]

use std::io::Write as _;
use std::path::PathBuf;

use fewest_data::{DataError, Dataset, ReadOptions, read};
use tempfile::TempDir;

/// A folder with one file in it.
pub struct Case {
    folder: TempDir,
    path: PathBuf,
}

impl Case {
    pub fn new(name: &str, content: impl AsRef<[u8]>) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join(name);
        std::fs::write(&path, content).expect("writing a test file");
        Self { folder, path }
    }

    pub fn path(&self) -> &str {
        self.path.to_str().expect("UTF-8")
    }

    /// A path beside the file.
    pub fn beside(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().expect("UTF-8").to_owned()
    }

    pub fn read(&self) -> Result<Dataset, DataError> {
        read(self.path(), &ReadOptions::default())
    }

    pub fn read_with(&self, options: &ReadOptions) -> Result<Dataset, DataError> {
        read(self.path(), options)
    }
}

/// Reads content that must be refused; returns the message without the folder.
pub fn refused(name: &str, content: impl AsRef<[u8]>) -> String {
    let case = Case::new(name, content);
    let error = case.read().expect_err("this must be refused");
    error.to_string().replace(case.path(), name)
}

/// Checks that a message holds all of the given parts.
pub fn holds(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "`{message}` lacks `{part}`");
    }
}

/// The texts of `line(0)` to `line(n - 1)`, one after the other.
pub fn lines(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).map(line).collect::<Vec<_>>().concat()
}

/// All values, row after row.
pub fn rows(data: &Dataset) -> Vec<Vec<f64>> {
    let (n, p) = (data.features.n_samples(), data.features.n_features());
    (0..n).map(|i| (0..p).map(|j| data.features.value(i, j)).collect()).collect()
}

/// Class name of each row.
pub fn classes(data: &Dataset) -> Vec<String> {
    let target = data.target.as_ref().expect("a target");
    target.codes.iter().map(|&code| target.classes[code as usize].clone()).collect()
}

/// All notes, one a line.
pub fn notes(data: &Dataset) -> String {
    data.notes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Numbers that seem random.
pub fn noise(i: usize, m: usize) -> usize {
    ((i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) as usize % m
}

/// The bytes of an array.
pub fn floats(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// An archive of arrays: name, type, shape, bytes.
pub fn npz(path: &str, arrays: &[(&str, &str, &str, &[u8])]) {
    let mut zip = zip::ZipWriter::new(std::fs::File::create(path).expect("a file"));
    for (name, kind, shape, bytes) in arrays {
        let options = zip::write::SimpleFileOptions::default();
        zip.start_file(format!("{name}.npy"), options).expect("an entry");
        let mut header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
        while (10 + header.len() + 1) % 64 != 0 {
            header.push(' ');
        }
        header.push('\n');
        zip.write_all(b"\x93NUMPY\x01\x00").expect("written");
        zip.write_all(&(header.len() as u16).to_le_bytes()).expect("written");
        zip.write_all(header.as_bytes()).expect("written");
        zip.write_all(bytes).expect("written");
    }
    zip.finish().expect("written");
}

//! Proofs of runs as files: gzip, complete or not there at all.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use fewest::ProofSink;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::DataError;
use crate::output::Draft;

/// Writes the proof of a run to a file, or those of a path to one file for each size. A proof takes
/// its place when it is complete. The first failure is kept for [`ProofFile::finish`]: the run goes
/// on without it.
pub struct ProofFile {
    path: String,
    made: Value,
    size: Option<usize>,
    open: Option<(Draft, GzEncoder<BufWriter<File>>)>,
    failed: Option<DataError>,
    written: Vec<String>,
}

impl ProofFile {
    /// `made` is what a proof's header says of the run: method, settings, how the data were read.
    pub fn new(path: &str, made: Value) -> Self {
        Self { path: path.to_owned(), made, size: None, open: None, failed: None, written: Vec::new() }
    }

    /// What comes belongs to this size of a path; see [`ProofFile::sized`].
    pub fn set_size(&mut self, size: usize) {
        self.size = Some(size);
    }

    /// The file of a size: `x.proof` is `x-k3.proof` for 3.
    pub fn sized(path: &str, size: usize) -> String {
        let path = Path::new(path);
        let text = |part: Option<&std::ffi::OsStr>| part.map(|p| p.to_string_lossy().into_owned());
        let ending = text(path.extension()).map_or_else(String::new, |ending| format!(".{ending}"));
        let stem = text(path.file_stem()).unwrap_or_default();
        path.with_file_name(format!("{stem}-k{size}{ending}")).to_string_lossy().into_owned()
    }

    /// The files written, in order.
    ///
    /// # Errors
    /// [`DataError::Output`] when one could not be.
    pub fn finish(self) -> Result<Vec<String>, DataError> {
        self.failed.map_or(Ok(self.written), Err)
    }

    fn place(&self) -> String {
        self.size.map_or_else(|| self.path.clone(), |size| Self::sized(&self.path, size))
    }

    fn keep<T>(&mut self, result: std::io::Result<T>) -> Option<T> {
        result
            .map_err(|source| {
                self.open = None;
                self.failed.get_or_insert(DataError::Output { file: self.place(), source });
            })
            .ok()
    }
}

impl ProofSink for ProofFile {
    fn begin(&mut self) -> Value {
        let opened = Draft::new(&self.place()).and_then(|draft| {
            let file = BufWriter::with_capacity(1 << 16, draft.reopen()?);
            Ok((draft, GzEncoder::new(file, flate2::Compression::default())))
        });
        self.open = self.keep(opened);
        self.made.clone()
    }

    fn write(&mut self, bytes: &[u8]) {
        if let Some((_, encoder)) = &mut self.open {
            let wrote = encoder.write_all(bytes);
            self.keep(wrote);
        }
    }

    fn end(&mut self) {
        let Some((draft, encoder)) = self.open.take() else { return };
        let put = encoder.finish().and_then(|mut file| file.flush()).and_then(|()| draft.put());
        if self.keep(put).is_some() {
            self.written.push(self.place());
        }
    }
}

/// The folder must be there and writable for a proof to be written: told before a long run.
///
/// # Errors
/// [`DataError::Output`].
pub fn check_proof_path(path: &str) -> Result<(), DataError> {
    let fail = |source| DataError::Output { file: path.to_owned(), source };
    if PathBuf::from(path).file_name().is_none() {
        return Err(fail(std::io::Error::other("it names no file")));
    }
    Draft::new(path).map(|_| ()).map_err(fail)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn a_proof_takes_its_place_when_complete() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.proof");
        let path = path.to_str().expect("UTF-8");
        let mut file = ProofFile::new(path, serde_json::json!({"method": "exact"}));
        assert_eq!(file.begin()["method"], "exact");
        file.write(b"one ");
        assert!(!Path::new(path).exists());
        file.write(b"two");
        file.end();
        file.set_size(3);
        file.begin();
        file.write(b"not ended");
        let written = file.finish().expect("written");
        assert_eq!(written, [path]);
        let mut text = String::new();
        flate2::read::GzDecoder::new(File::open(path).expect("there")).read_to_string(&mut text).expect("gzip");
        assert_eq!(text, "one two");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn a_failure_is_told_in_the_end() {
        let mut file = ProofFile::new("/nowhere/x.proof", Value::Null);
        file.begin();
        file.write(b"lost");
        file.end();
        assert!(file.finish().expect_err("no folder").to_string().contains("/nowhere/x.proof"));
        assert!(check_proof_path("/nowhere/x.proof").is_err());
    }

    #[test]
    fn sizes_are_in_the_name() {
        assert_eq!(ProofFile::sized("a/x.proof", 3), "a/x-k3.proof");
        assert_eq!(ProofFile::sized("x", 12), "x-k12");
    }
}

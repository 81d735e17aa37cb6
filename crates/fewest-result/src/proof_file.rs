//! Proofs of runs as files: gzip, complete or not there at all. One of a run that keeps its state
//! grows beside its place, so that it is there to go on with whatever ends the process.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use fewest::ProofSink;
use fewest_data::{DataError, Draft};
use flate2::Crc;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Made, entries};

/// Writes the proof of a run to a file, or those of a path to one file for each size. A proof takes
/// its place when it is complete. The first failure is kept for [`ProofFile::finish`]: the run goes
/// on without it.
pub struct ProofFile {
    path: String,
    made: Value,
    size: Option<usize>,
    /// Whether the run keeps its state.
    lasting: bool,
    /// For each size, how far its proof was at the last state.
    marks: Vec<ProofMark>,
    open: Option<(Place, GzEncoder<Summed>)>,
    failed: Option<DataError>,
    written: Vec<String>,
}

/// Where a proof grows.
enum Place {
    Draft(Draft),
    /// A file beside this place.
    Beside(PathBuf),
}

/// How far the file of a proof is: what a run resumes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProofMark {
    /// Bytes of the file.
    bytes: u64,
    /// Their CRC-32.
    sum: u32,
    /// The size of a path that it belongs to.
    size: Option<usize>,
}

impl ProofFile {
    /// `made` is what a proof's header says of the run: method, settings, how the data were read.
    pub fn new(path: &str, made: Value) -> Self {
        let (path, failed) = (path.to_owned(), None);
        Self { path, made, size: None, lasting: false, marks: Vec::new(), open: None, failed, written: Vec::new() }
    }

    /// The proof of a run of the command.
    pub fn of_run(path: &Path, made: &Made) -> Self {
        Self::new(&path.to_string_lossy(), Value::Object(entries(made)))
    }

    /// With a file that outlasts a killed process, for a run that keeps its state.
    #[must_use]
    pub fn lasting(self) -> Self {
        Self { lasting: true, ..self }
    }

    /// Resumes from marks: with what an earlier run has written beside the place of its proof, or
    /// with the beginning of the proof that it completed.
    ///
    /// # Errors
    /// [`DataError::Output`] where neither is there, or neither begins as it did then.
    pub fn resume_at(&mut self, marks: Vec<ProofMark>) -> Result<(), DataError> {
        for mark in &marks {
            let file = self.place_of(mark.size);
            let place = PathBuf::from(&file);
            mark.begins(&beside(&place), &place).map_err(|source| DataError::Output { file, source })?;
        }
        self.marks = marks;
        Ok(())
    }

    /// How far the proofs were at their last states, the one under way being marked now.
    pub fn marks(&mut self) -> &[ProofMark] {
        self.mark();
        &self.marks
    }

    /// Sets the size of a path that the next bytes belong to; see [`ProofFile::sized`].
    pub fn set_size(&mut self, size: usize) {
        self.size = Some(size);
    }

    /// Headers of proofs that begin from now on say this of the run, too.
    pub fn tell(&mut self, key: &str, value: Value) {
        if let Some(made) = self.made.as_object_mut() {
            made.insert(key.to_owned(), value);
        }
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
        self.place_of(self.size)
    }

    fn place_of(&self, size: Option<usize>) -> String {
        size.map_or_else(|| self.path.clone(), |size| Self::sized(&self.path, size))
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
        let opened = if self.lasting {
            let place = PathBuf::from(self.place());
            let file = File::options().read(true).write(true).create(true).truncate(true).open(beside(&place));
            file.map(|file| (Place::Beside(place), encoder(Summed::new(file))))
        } else {
            Draft::new(self.place()).and_then(|draft| {
                let file = draft.reopen()?;
                Ok((Place::Draft(draft), encoder(Summed::new(file))))
            })
        };
        self.open = self.keep(opened);
        self.made.clone()
    }

    fn mark(&mut self) {
        let Some((place, old)) = self.open.take() else { return };
        let marked = old.finish().and_then(|mut file| {
            file.out.flush()?;
            file.out.get_ref().sync_data()?;
            Ok(file)
        });
        if let Some(file) = self.keep(marked) {
            self.marks.retain(|mark| mark.size != self.size);
            self.marks.push(ProofMark { bytes: file.sum.bytes, sum: file.sum.crc.sum(), size: self.size });
            self.open = Some((place, encoder(file)));
        }
    }

    fn resume(&mut self) {
        let place = PathBuf::from(self.place());
        let mark = self.marks.iter().find(|mark| mark.size == self.size);
        let opened = match mark {
            Some(mark) => Summed::resume(&place, *mark),
            None => Err(io::Error::other("the earlier run kept nothing of it")),
        };
        self.open = self.keep(opened.map(|file| (Place::Beside(place), encoder(file))));
    }

    fn write(&mut self, bytes: &[u8]) {
        if let Some((_, encoder)) = &mut self.open {
            let wrote = encoder.write_all(bytes);
            self.keep(wrote);
        }
    }

    fn end(&mut self) {
        let Some((place, encoder)) = self.open.take() else { return };
        let put = encoder.finish().and_then(|mut file| file.flush()).and_then(|()| match place {
            Place::Draft(draft) => draft.put(),
            Place::Beside(place) => fs::rename(beside(&place), place),
        });
        if self.keep(put).is_some() {
            self.written.push(self.place());
        }
    }
}

/// Where a proof grows whose run keeps its state: `.x.proof.part` for `x.proof`.
fn beside(place: &Path) -> PathBuf {
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    place.with_file_name(format!(".{name}.part"))
}

fn encoder(file: Summed) -> GzEncoder<Summed> {
    GzEncoder::new(file, flate2::Compression::fast())
}

/// How many bytes were written, and their sum.
#[derive(Default)]
struct Sum {
    bytes: u64,
    crc: Crc,
}

impl Write for Sum {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes += bytes.len() as u64;
        self.crc.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file and the sum of its bytes.
struct Summed {
    out: BufWriter<File>,
    sum: Sum,
}

impl Summed {
    /// Checksum of an empty file.
    fn new(file: File) -> Self {
        Self { out: BufWriter::with_capacity(1 << 16, file), sum: Sum::default() }
    }

    /// As far as a mark, of what a run left beside the place, else of a copy of the file there.
    fn resume(place: &Path, mark: ProofMark) -> io::Result<Self> {
        let beside = beside(place);
        let (from, sum) = mark.begins(&beside, place)?;
        if from == place {
            fs::copy(place, &beside)?;
        }
        let mut file = File::options().read(true).write(true).open(&beside)?;
        file.set_len(mark.bytes)?;
        file.seek(SeekFrom::End(0))?;
        Ok(Self { sum, ..Self::new(file) })
    }
}

impl Write for Summed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let wrote = self.out.write(bytes)?;
        self.sum.write_all(&bytes[..wrote])?;
        Ok(wrote)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl ProofMark {
    /// Which of two files is as it was up to this mark, and the sum of its bytes.
    fn begins<'a>(&self, beside: &'a Path, place: &'a Path) -> io::Result<(&'a Path, Sum)> {
        for path in [beside, place] {
            let Ok(file) = File::open(path) else { continue };
            let mut sum = Sum::default();
            io::copy(&mut file.take(self.bytes), &mut sum)?;
            if (sum.bytes, sum.crc.sum()) == (self.bytes, self.sum) {
                return Ok((path, sum));
            }
        }
        Err(io::Error::other(
            "it does not begin as it did when the run was stopped; start again without the saved state",
        ))
    }
}

/// The folder must be there and writable for a proof to be written: checked before a long run.
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
    fn a_proof_goes_on_from_its_mark() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.proof");
        let text = |path: &Path| {
            let (mut text, file) = (String::new(), File::open(path).expect("there"));
            flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).expect("gzip");
            text
        };
        let name = path.to_str().expect("UTF-8");
        let new = || ProofFile::new(name, Value::Null).lasting();
        let mut first = new();
        assert_eq!(first.marks(), []);
        first.begin();
        first.write(b"one ");
        let marks = first.marks().to_vec();
        first.write(b"lost");
        // As if the process were killed: what follows the mark may or may not be in the file.
        drop(first);
        let mut second = new();
        second.resume_at(marks.clone()).expect("as it was");
        second.resume();
        second.write(b"two");
        second.end();
        assert_eq!(text(&path), "one two");
        assert!(!beside(&path).exists());
        // From the proof that an earlier run completed.
        let mut third = new();
        third.resume_at(marks.clone()).expect("its beginning is the same");
        third.resume();
        third.write(b"three");
        assert_eq!(text(&path), "one two");
        third.end();
        assert_eq!((text(&path).as_str(), third.finish().expect("written").len()), ("one three", 1));
        let strange = ProofMark { sum: marks[0].sum ^ 1, ..marks[0] };
        assert!(new().resume_at(vec![strange]).expect_err("another file").to_string().contains("start again"));
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

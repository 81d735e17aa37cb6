//! `--resume FILE`: the progress of a long run, so that it can go on after Ctrl-C, a limit or a
//! kill, with the same result.
//!
//! File     `fewest state 2` and a line feed; a line of JSON that describes the run; one that says
//!          how far the files of its proofs are; the state, as the method wrote it; 8 bytes, the
//!          check sum of all before (FNV-1a, 64 bits, little endian).
//! Written  beside its place, then moved there as a whole: so often as asked, or where
//!          writing takes long so seldom that it takes no more than a twentieth of the time; and
//!          when the run ends.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use fewest::{Checkpoint, Design};
use fewest_result::ProofMark;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::export::file::Sink;
use crate::failure::Failure;

/// First line of the file, with the version of its format.
const FIRST: &[u8] = b"fewest state 2\n";
/// What the first line begins with whatever the version.
const ANY_VERSION: &[u8] = b"fewest state ";
/// Bytes of the check sum.
const SUM: u64 = 8;
/// Longest description of a run that is read.
const DESCRIPTION: u64 = 1 << 26;
/// Writing may take one part in this many of the time.
const SHARE: u32 = 20;

/// Time between two writings, unless `--resume-every` says another.
pub const EVERY: Duration = Duration::from_secs(30);

/// State of an earlier run.
pub struct SavedRun {
    /// The saved state.
    pub state: Box<dyn Read + Send>,
    /// How far its proofs were, where it wrote any.
    pub proofs: Vec<ProofMark>,
}

/// The file, and what it must have been written for.
#[derive(Debug)]
pub struct Resume {
    path: PathBuf,
    /// Options and data of the run.
    run: Value,
    every: Duration,
    /// When the next writing is due.
    due: Cell<Instant>,
}

impl Resume {
    /// `run` describes the run, by name: a file written for another one is refused. The state is
    /// written every so often.
    pub fn open(path: &Path, run: Value, every: Duration) -> Result<Self, Failure> {
        let Sink::File(path) = Sink::open("--resume", path)? else {
            return Err(Failure::input("--resume needs a file of its own, not standard output or a device"));
        };
        Ok(Self { path, run, every, due: Cell::new(Instant::now() + every) })
    }

    /// Keeps results where there is a file and it is time to.
    pub(crate) fn keep_when_due<R: Serialize + std::fmt::Debug>(
        this: &Mutex<Option<Self>>,
        results: &[R],
    ) -> Result<(), Failure> {
        match &*this.lock().expect("no thread panics while it keeps results") {
            Some(resume) if resume.is_due() => resume.keep_json(&results),
            _ => Ok(()),
        }
    }

    /// Keeps the results that the run ends with, where there is a file.
    pub(crate) fn keep_last<R: Serialize + std::fmt::Debug>(
        this: Mutex<Option<Self>>,
        results: &[R],
    ) -> Result<(), Failure> {
        let this = this.into_inner().expect("no thread panics while it keeps results");
        this.map_or(Ok(()), |resume| resume.keep_json(&results))
    }

    /// The state that an earlier run kept; nothing when there is no file yet.
    ///
    /// # Errors
    /// A file of another program, one that is damaged, or was written for another run.
    pub fn load(&self) -> Result<Option<SavedRun>, Failure> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.fault(&format!("cannot be read: {error}"))),
        };
        let broken = |error: io::Error| self.fault(&format!("cannot be read: {error}"));
        let length = file.metadata().map_err(broken)?.len();
        let mut first = vec![0; FIRST.len()];
        if length < FIRST.len() as u64 + SUM || file.read_exact(&mut first).is_err() || first != FIRST {
            return Err(self.fault(if first.starts_with(ANY_VERSION) {
                "written by another version of fewest; name another file, or delete it"
            } else {
                "not a file that --resume wrote; name another file, or delete it"
            }));
        }
        let body = length - SUM;
        file.rewind().map_err(broken)?;
        let mut sum = Sum::default();
        io::copy(&mut (&file).take(body), &mut sum).map_err(broken)?;
        let mut kept = [0; SUM as usize];
        (&file).read_exact(&mut kept).map_err(broken)?;
        if u64::from_le_bytes(kept) != sum.0 {
            return Err(self.fault("damaged: its check sum is wrong; delete it to start again"));
        }
        file.seek(SeekFrom::Start(FIRST.len() as u64)).map_err(broken)?;
        let mut reader = BufReader::new(file);
        let strange = |_| self.fault("not a file that --resume wrote; name another file, or delete it");
        let (mut run, mut proof) = (Vec::new(), Vec::new());
        for line in [&mut run, &mut proof] {
            io::BufRead::read_until(&mut reader.by_ref().take(DESCRIPTION), b'\n', line).map_err(broken)?;
        }
        self.check(&serde_json::from_slice(&run).map_err(strange)?)?;
        let rest = body.saturating_sub((FIRST.len() + run.len() + proof.len()) as u64);
        let proofs = serde_json::from_slice(&proof).map_err(strange)?;
        Ok(Some(SavedRun { state: Box::new(reader.take(rest)), proofs }))
    }

    /// As [`Resume::load`], of a state in JSON.
    pub fn load_json<T: DeserializeOwned>(&self) -> Result<Option<T>, Failure> {
        let read = |kept: SavedRun| {
            serde_json::from_reader(kept.state).map_err(|error| self.fault(&format!("damaged: {error}")))
        };
        self.load()?.map(read).transpose()
    }

    /// Refuses the state of another run, and names what differs.
    fn check(&self, kept: &Value) -> Result<(), Failure> {
        let keys = [&self.run, kept].into_iter().filter_map(Value::as_object).flat_map(|run| run.keys());
        let differs = |key: &&String| kept.get(key.as_str()) != self.run.get(key.as_str());
        let Some(key) = keys.into_iter().find(differs) else { return Ok(()) };
        let (was, is) = (kept.get(key).unwrap_or(&Value::Null), self.run.get(key).unwrap_or(&Value::Null));
        Err(self.fault(&if key == DATA {
            "written by a run on other data; repeat that run, or name another file".to_owned()
        } else {
            format!("written by a run whose {key} was {was}, but it is {is} now; repeat that run, or name another file")
        }))
    }

    fn fault(&self, what: &str) -> Failure {
        Failure::Input(format!("--resume {}: {what}", self.path.display()))
    }

    /// Whether it is time to write the state again.
    pub fn is_due(&self) -> bool {
        Instant::now() >= self.due.get()
    }

    /// Writes the state, the old one being replaced as a whole, and how far the run's proofs are.
    pub fn keep(&self, state: &dyn Checkpoint, proofs: &[ProofMark]) -> Result<(), Failure> {
        let start = Instant::now();
        let name = self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        // The same name in every run, so that one that is killed leaves no more than this behind.
        let beside = self.path.with_file_name(format!(".{name}.part"));
        let wrote = File::create(&beside)
            .and_then(|file| self.write(file, state, proofs))
            .and_then(|()| std::fs::rename(&beside, &self.path));
        wrote.map_err(|error| {
            let _ = std::fs::remove_file(&beside);
            Failure::writing(&self.path.display().to_string(), &error)
        })?;
        self.due.set(Instant::now() + self.every.max(SHARE * start.elapsed()));
        Ok(())
    }

    /// As [`Resume::keep`], of a state that becomes JSON.
    pub(crate) fn keep_json<T: Serialize + std::fmt::Debug>(&self, state: &T) -> Result<(), Failure> {
        self.keep(state, &[])
    }

    fn write(&self, file: File, state: &dyn Checkpoint, proofs: &[ProofMark]) -> io::Result<()> {
        let mut out = Summed { out: BufWriter::new(file), sum: Sum::default() };
        out.write_all(FIRST)?;
        writeln!(out, "{}", self.run)?;
        serde_json::to_writer(&mut out, proofs)?;
        writeln!(out)?;
        state.write(&mut out)?;
        let Summed { mut out, sum } = out;
        out.write_all(&sum.0.to_le_bytes())?;
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    }
}

/// Least time between two writings of what consists of folds that are done.
pub(crate) const BETWEEN_FOLDS: Duration = Duration::from_millis(500);

/// Key of the data in the description of a run.
pub const DATA: &str = "data_check";

/// A number that changes with any value, class, weight or fold: what tells the data of one run from
/// those of another. `more` are the words of whatever belongs to the samples besides their values.
pub fn fingerprint(design: &dyn Design, more: impl Iterator<Item = u64>) -> u64 {
    let mut hash = BASIS;
    let mut add = |word: u64| hash = (hash ^ word).wrapping_mul(PRIME);
    for j in 0..design.n_features() {
        design.each_in_column(j, &mut |i, x| {
            add(i as u64);
            add(x.to_bits());
        });
    }
    more.for_each(add);
    hash
}

/// The numbers of FNV-1a, 64 bits.
const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

/// FNV-1a of all that is written to it.
struct Sum(u64);

impl Default for Sum {
    fn default() -> Self {
        Self(BASIS)
    }
}

impl Write for Sum {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = bytes.iter().fold(self.0, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(PRIME));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A writer and the sum of what was written.
struct Summed<W> {
    out: W,
    sum: Sum,
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let wrote = self.out.write(bytes)?;
        self.sum.write_all(&bytes[..wrote])?;
        Ok(wrote)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

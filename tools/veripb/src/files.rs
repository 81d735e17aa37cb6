//! Where problem and proof go.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use fewest_cli::{Failure, Verified};
use fewest_data::Draft;
use fewest_verify::{Error, OnStep};

use super::goal::{Goal, Pass, Refusal, cannot_write, notes};
use super::say;

/// Exit code of a check that was stopped.
const STOPPED: u8 = 3;
/// Bytes that are written at once.
const BUFFER: usize = 1 << 16;

/// Places of the problem and its proof.
pub(crate) struct Files {
    problem: Draft,
    proof: Draft,
    /// The path of the proof, as in messages.
    beside: PathBuf,
}

impl Files {
    /// Checks both places; `others` are the arguments of the check.
    ///
    /// # Errors
    /// A place that cannot be written, or that something else has.
    pub(crate) fn open(path: &Path, others: &[OsString]) -> Result<Self, Failure> {
        let beside = path.with_extension("pbp");
        let wrong = |why: &str| Failure::Input(format!("{}: {why}; name a file such as proof.opb", path.display()));
        if path.extension().is_some_and(|ending| ending == "pbp") {
            return Err(wrong("the file with the ending .pbp is the proof, which is written beside it"));
        }
        for place in [path, &beside] {
            if let Some(over) = others.iter().find(|other| whole(place) == whole(Path::new(other))) {
                return Err(wrong(&format!("{} would be written over", over.display())));
            }
        }
        let draft = |place: &Path| {
            Draft::new(place)
                .map_err(|error| Failure::Input(format!("{}: cannot be written: {error}", place.display())))
        };
        Ok(Self { problem: draft(path)?, proof: draft(&beside)?, beside })
    }

    /// Writes both; nothing where one of them cannot be.
    ///
    /// # Errors
    /// Those of [`Goal::find`] and [`Goal::write`].
    pub(crate) fn write(self, verified: &mut Verified<'_>) -> Result<u8, Failure> {
        let (verdict, notes) = (verified.verdict, notes(verified)?);
        let mut failed = None;
        let mut pass = |on_step: &mut OnStep<'_>| {
            (verified.again)(on_step).unwrap_or_else(|failure| {
                failed = Some(failure);
                Err(Error::Stopped)
            })
        };
        let done = Goal::find(verdict, notes, &mut pass).and_then(|goal| {
            self.both(&goal, &mut pass)?;
            Ok(goal)
        });
        match (failed, done) {
            (Some(failure), _) | (None, Err(Refusal::Failure(failure))) => Err(failure),
            (None, Err(Refusal::Check(Error::Stopped))) => {
                say("note: nothing is exported: it was stopped before the end\n");
                Ok(STOPPED)
            }
            (None, Err(Refusal::Check(error))) => Err(Failure::Broken(format!("a second check says {error}"))),
            (None, Ok(goal)) => {
                let (bound, beside) = (goal.bound, self.beside.display());
                say(&format!(
                    "note: exported {} rows, without a solution for the bound {bound}; {beside} says why\n",
                    goal.points
                ));
                for draft in [self.proof, self.problem] {
                    draft.put().map_err(|error| cannot_write(&error))?;
                }
                Ok(0)
            }
        }
    }

    fn both(&self, goal: &Goal, pass: &mut Pass<'_>) -> Result<(), Refusal> {
        let out = |draft: &'_ Draft| draft.file().try_clone().map(|file| BufWriter::with_capacity(BUFFER, file));
        let failed = |error: std::io::Error| Refusal::Failure(cannot_write(&error));
        let (mut problem, mut proof) = (out(&self.problem).map_err(failed)?, out(&self.proof).map_err(failed)?);
        goal.write(&mut problem, &mut proof, pass)?;
        let whole = |out: &mut BufWriter<File>| out.flush().and_then(|()| out.get_ref().sync_all());
        whole(&mut problem).and_then(|()| whole(&mut proof)).map_err(failed)
    }
}

/// The path of a file that need not be there, without links.
fn whole(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let place = || std::fs::canonicalize(folder).unwrap_or_default().join(path.file_name().unwrap_or_default());
    std::fs::canonicalize(path).unwrap_or_else(|_| place())
}

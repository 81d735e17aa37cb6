//! The two files of `--export`.

use std::path::PathBuf;

use fewest_data::Names;
use fewest_verify::{Error, OnStep, Verdict};

use super::super::claim::Claim;
use super::{Goal, Refusal};
use crate::cli::VerifyArgs;
use crate::export::file::{Sink, is_same};
use crate::failure::Failure;
use crate::terminal::Terminal;

/// Exit code of a check that was stopped.
const STOPPED: u8 = 3;

/// Checks the proof once more, and tells what it does.
type Again<'c> = dyn FnMut(&mut OnStep<'_>) -> Result<Result<Verdict, Error>, Failure> + 'c;

/// Where the problem and its proof go.
pub(in super::super) struct Files {
    problem: Sink,
    proof: Sink,
    /// The path of the proof, as in messages.
    beside: PathBuf,
}

impl Files {
    /// Checks both places; none where nothing is to be exported.
    ///
    /// # Errors
    /// A place that cannot be written, or that something else has.
    pub(in super::super) fn open(args: &VerifyArgs, json: Option<&Sink>) -> Result<Option<Self>, Failure> {
        let Some(path) = args.export.as_deref() else { return Ok(None) };
        let beside = path.with_extension("pbp");
        let wrong = |why: &str| {
            Err(Failure::Input(format!("--export {}: {why}; name a file such as proof.opb", path.display())))
        };
        if path.as_os_str() == "-" {
            return wrong("two files are written, which standard output cannot take");
        }
        if path.extension().is_some_and(|ending| ending == "pbp") {
            return wrong("the file with the ending .pbp is the proof, which is written beside it");
        }
        let (problem, proof) = (Sink::open("--export", path)?, Sink::open("--export", &beside)?);
        let outputs = [("--json", json), ("--export", Some(&problem)), ("the .pbp of --export", Some(&proof))];
        Sink::apart(&outputs)?;
        if let Some(over) = [&args.proof, &args.data.data].into_iter().find(|read| is_same(&beside, read)) {
            return wrong(&format!("beside it {} would be written over", over.display()));
        }
        Ok(Some(Self { problem, proof, beside }))
    }

    /// Writes both; nothing where one of them cannot be.
    ///
    /// # Errors
    /// Those of [`Goal::find`] and [`Goal::write`].
    pub(in super::super) fn write(
        &self,
        verdict: &Verdict,
        notes: Vec<String>,
        check: &mut Again<'_>,
        terminal: Terminal,
    ) -> Result<u8, Failure> {
        let mut failed = None;
        let mut pass = |on_step: &mut OnStep<'_>| {
            check(on_step).unwrap_or_else(|failure| {
                failed = Some(failure);
                Err(Error::Stopped)
            })
        };
        let done = Goal::find(verdict, notes, &mut pass).and_then(|goal| {
            self.both(&goal, &mut pass, terminal)?;
            Ok(goal)
        });
        match (failed, done) {
            (Some(failure), _) | (None, Err(Refusal::Failure(failure))) => Err(failure),
            (None, Err(Refusal::Check(Error::Stopped))) => {
                terminal.note("--export wrote nothing: it was stopped before the end");
                Ok(STOPPED)
            }
            (None, Err(Refusal::Check(error))) => {
                Err(Failure::Broken(format!("--export: a second check says {error}")))
            }
            (None, Ok(goal)) => {
                let (bound, beside) = (goal.bound, self.beside.display());
                terminal.note(&format!(
                    "exported {} rows, without a solution for the bound {bound}; {beside} says why",
                    goal.points
                ));
                Ok(0)
            }
        }
    }

    fn both(&self, goal: &Goal, pass: &mut super::Pass<'_>, terminal: Terminal) -> Result<(), Refusal> {
        let mut said = None;
        let wrote = self.problem.write_with(
            &mut |problem| {
                let inner = self.proof.write_with(
                    &mut |proof| {
                        goal.write(problem, proof, pass).map_err(|refusal| {
                            said = Some(refusal);
                            std::io::Error::other("not written")
                        })
                    },
                    terminal,
                );
                inner.map_err(|failure| {
                    said.get_or_insert(Refusal::Failure(failure));
                    std::io::Error::other("not written")
                })
            },
            terminal,
        );
        match (said, wrote) {
            (Some(refusal), _) => Err(refusal),
            (None, wrote) => wrote.map_err(Refusal::Failure),
        }
    }
}

/// What stands at the head of the problem: what it is about, and the names of features.
///
/// # Errors
/// None of a header that was checked.
pub(in super::super) fn notes(header: &str, names: &Names) -> Result<Vec<String>, Failure> {
    let claim = Claim::read(header)?;
    let mut notes = vec![
        format!("fewest {} verify --export; docs/use/export.md says what this is", env!("CARGO_PKG_VERSION")),
        format!("data: {}", claim.fingerprint),
        "no solution: each subset of features that the rules allow, other than those listed,".to_owned(),
        "has an objective that is not below the bound".to_owned(),
    ];
    let plain = |name: &str| name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>();
    notes.extend((0..claim.p).map(|j| format!("x{} = {}", j + 1, plain(&names.get(j)))));
    Ok(notes)
}

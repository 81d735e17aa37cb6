//! A checker of the proof files of `fewest`, by docs/formats/proof.md and nothing else: it shares
//! no code with the methods that write them.
//!
//! Given    a file of records, and the data that it is about ([`Data`]).
//! Returns  what it proved itself ([`Verdict`]), or the first record that fails ([`Error`]).
//! Steps    those of docs/formats/proof.md, "Checking", in `check.rs`.
//! Cost     n multiply-adds for each point and feature that a box needs; memory: the data's columns
//!          are lent, and open boxes take what they do not share.
//!
//! | file | subject |
//! | --- | --- |
//! | `file.rs` | the bytes of a file |
//! | `claim.rs`, `form.rs`, `data.rs` | the header and its form; the data and their fingerprint |
//! | `rules.rs` | units, rows, what follows from decisions |
//! | `boxes.rs` | open boxes, and the bound of one at a point |
//! | `check.rs` | the records in turn |
//! | `point.rs` | a dual point and its scores; the objective of a primal one |
//! | `step.rs` | what a check does, for who writes the proof in another form |
//! | `rounding.rs` | sums and products rounded in a known direction |
//! | `pairs.rs` | gain `alignment`: pairs of samples, their kernels, the value of a subset |
//! | `kernel.rs` | exponentials and sums of products with known errors |
//! | `model.rs` | what no subset of a box exceeds |
//! | `cover.rs` | the subsets above a level, and whose child holds each |
//! | `expand.rs` | the records of gain `alignment` |
//!
//! Error analysis: docs/formats/proof.md, "Checking" and "Rounding". Scores `c_j` have a bound on
//! their error (`rounding.rs`); every other operation is rounded towards the smaller bound, or the
//! larger objective. So what is proven is true of the numbers in the data as they are stored. Sums
//! of gain `alignment` have errors that are bounded beforehand as shares of the sizes of all their
//! terms, and added at the end: `Pairs::rounding`, `STORED` and `SINGLE` in `model.rs`.

mod boxes;
mod check;
mod claim;
mod cover;
mod data;
mod expand;
mod file;
mod form;
mod kernel;
mod model;
mod pairs;
mod point;
mod rounding;
mod rules;
mod step;

use std::io::Read;
use std::ops::ControlFlow;

pub use data::{Data, fingerprint};
pub use rules::Choice;
pub use step::{Dual, OnStep, Step, UnitRow};

use check::{Allowed, Check};
use claim::{Claim, Gain, Header, Outline, json};
use file::File;
use rounding::{add_down, add_up};

/// Why a proof is not verified.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file is no proof file; the reason.
    #[error("not a proof file: {0}")]
    NotAProof(String),
    /// The first part of the file that fails, and why.
    #[error("{place}: {reason}")]
    Fails {
        /// `header`, or the number of a record from 1 and its kind, as in `record 17 (close)`.
        place: String,
        /// The reason.
        reason: String,
    },
    /// The caller stopped the check.
    #[error("stopped before the end of the file")]
    Stopped,
    /// The file asks for more work than one of its size may ([`Proof::without_work_limit`]).
    #[error("record {record} asks for more work than a file of this size may")]
    TooMuchWork {
        /// The number of the record, from 1.
        record: u64,
    },
}

/// The progress of a check.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Records read.
    pub records: u64,
    /// Dual points read.
    pub points: u64,
    /// Parts of the set of all subsets that a bound closed.
    pub parts: u64,
    /// Boxes that are open now.
    pub open: u64,
    /// Work done: for each record on a box the units and rows of rules, for one of gain `alignment`
    /// also the terms examined.
    pub work: u64,
    /// Bytes that open boxes, rules and subsets take.
    pub bytes: u64,
}

/// A listed subset and what was proven of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// The features of the subset, ascending from 0.
    pub features: Vec<usize>,
    /// An upper bound on the subset's objective.
    pub objective: f64,
    /// A lower bound on the subset's objective.
    pub bound: f64,
}

/// Verdict of a check.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Whether the method maximises (gain `alignment`): objectives and bounds are here minus what
    /// the method calls them.
    pub maximised: bool,
    /// The listed subsets, as in the file.
    pub listed: Vec<Listed>,
    /// No allowed subset that is not listed has a smaller objective; infinite where there is none.
    pub rest: f64,
    /// The objective without features, not above it; 0 for gain `alignment`.
    pub baseline: f64,
    /// The price of the cheapest feature; 0 without prices.
    pub price: f64,
    /// The status that the file says the run ended with, one of [`STATUSES`]; not checked.
    pub status: String,
    /// Records, points and parts.
    pub progress: Progress,
}

impl Verdict {
    /// The listed subset of smallest objective.
    pub fn best(&self) -> Option<&Listed> {
        self.listed.iter().min_by(|a, b| a.objective.total_cmp(&b.objective))
    }

    /// The best objective of all allowed subsets is at least this; infinite where there is none.
    pub fn bound(&self) -> f64 {
        self.listed.iter().map(|one| one.bound).fold(self.rest, f64::min)
    }

    /// The share of what features can gain that the best listed subset may leave open, not below it:
    /// (objective - bound) / (baseline - bound), see docs/formats/proof.md; none without a subset
    /// or a bound.
    pub fn gap(&self) -> Option<f64> {
        let (objective, bound, baseline) = (self.best()?.objective, self.bound(), self.baseline);
        let (open, gain) = (add_up(objective, -bound), (baseline - objective).abs());
        let nothing = NOTHING * baseline.abs();
        let share = match gain > nothing {
            _ if objective <= bound => 0.0,
            true => {
                let of_loss = if objective > baseline { self.price } else { 0.0 };
                (open / add_down(baseline, -bound).abs().max(gain).max(of_loss)).next_up()
            }
            false if self.price > 0.0 => (open / self.price).next_up(),
            false => f64::from(u8::from(open > nothing)),
        };
        (open.is_finite() && share.is_finite()).then_some(share)
    }

    /// (objective - bound) / |objective| of the best listed subset.
    pub fn objective_gap(&self) -> Option<f64> {
        let objective = self.best()?.objective;
        let open = (objective - self.bound()).max(0.0);
        let gap = if open == 0.0 { 0.0 } else { (open / objective.abs()).next_up() };
        gap.is_finite().then_some(gap)
    }

    /// Whether the best listed subset is worse than no feature, as rules may force it to be.
    pub fn is_loss(&self) -> bool {
        let least = self.baseline + NOTHING * self.baseline.abs();
        self.best().is_some_and(|best| !self.maximised && best.objective > least)
    }

    /// Whether the bound says nothing of the best listed subset: all of the gain, or all of the objective, is
    /// left open.
    pub fn leaves_all_open(&self) -> bool {
        let all = |gap: Option<f64>| gap.is_none_or(|gap| gap >= ALL);
        self.best().is_some_and(|best| best.objective > self.bound()) && (all(self.gap()) || all(self.objective_gap()))
    }

    /// Contradiction in the verdict: a bound above an objective, both of which are rounded to the
    /// safe side.
    pub fn contradiction(&self) -> Option<String> {
        let Listed { features, objective, bound } = self.listed.iter().find(|one| one.bound > one.objective)?;
        Some(format!(
            "of {features:?} the bound {bound} and the objective {objective} are proven, which cannot both be true: \
             the checker is wrong; please report it with the file at https://github.com/fewest/fewest/issues"
        ))
    }

    /// Strength of the verdict on subsets that are not listed, and on the best of all.
    pub fn strength(&self) -> Strength {
        match (self.bound() > f64::NEG_INFINITY, self.listed.is_empty()) {
            (true, _) if !self.leaves_all_open() => Strength::Bound,
            (_, false) => Strength::ObjectiveOnly,
            (_, true) => Strength::Nothing,
        }
    }
}

/// A gain up to this share of the baseline is none.
const NOTHING: f64 = 1e-9;
/// From this gap on all is open, whatever the rounding of a gap.
const ALL: f64 = 1.0 - 1e-12;

/// Kind of statement of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strength {
    /// No allowed subset is below the bound, which leaves a part of gain and objective open at most.
    Bound,
    /// Objectives of listed subsets; of others nothing, or a bound that leaves all open.
    ObjectiveOnly,
    /// Nothing.
    Nothing,
}

/// Statuses that a file may state for the run.
pub const STATUSES: [&str; 8] =
    ["optimal", "completed", "time_limit", "call_limit", "node_limit", "cancelled", "infeasible", "stalled"];

/// A proof file whose header was read.
pub struct Proof<R: Read> {
    file: File<R>,
    line: String,
    outline: Outline,
    limited: bool,
}

impl<R: Read> Proof<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// [`Error::NotAProof`].
    pub fn open(file: R) -> Result<Self, Error> {
        let mut file = File::new(file);
        let line = file.header().map_err(Error::NotAProof)?;
        let outline = Outline::read(&line).map_err(Error::NotAProof)?;
        Ok(Self { file, line, outline, limited: true })
    }

    /// The header, a line of JSON.
    pub fn header(&self) -> &str {
        &self.line
    }

    /// How many problems share the subset.
    pub fn problems(&self) -> usize {
        self.outline.problems
    }

    /// Lets the check take as long as it may; `watch` can still stop it.
    #[must_use]
    pub fn without_work_limit(self) -> Self {
        Self { limited: false, ..self }
    }

    /// Whether the labels of [`Data`] are classes (gain `alignment`), not -1 and 1.
    pub fn takes_classes(&self) -> bool {
        self.outline.gain == Gain::Alignment
    }

    /// Checks the file against the data of each of its problems. `memory` is the bytes that rules,
    /// open boxes and subsets may take; `watch` is called before every record and within long
    /// ones, and may stop the check.
    ///
    /// # Errors
    /// [`Error::Fails`] with the first record that fails, [`Error::Stopped`],
    /// [`Error::TooMuchWork`], and [`Error::NotAProof`] where a key of the header does not fit.
    pub fn check(
        self,
        data: &[&dyn Data],
        memory: u64,
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Verdict, Error> {
        self.check_telling(data, memory, watch, None)
    }

    /// Checks, as [`Proof::check`], and reports each step.
    pub fn check_telling(
        mut self,
        data: &[&dyn Data],
        memory: u64,
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
        on_step: Option<&mut OnStep<'_>>,
    ) -> Result<Verdict, Error> {
        let fails = |reason| Error::Fails { place: "header".to_owned(), reason };
        self.outline.fits(data).map_err(fails)?;
        let header: Header = json(&self.line).map_err(Error::NotAProof)?;
        drop(self.line);
        let stated = header.fingerprint().to_owned();
        let claim = Claim::new(header, data, memory).map_err(fails)?;
        let allowed = Allowed { memory, limited: self.limited, watch, on_step: on_step.map(|on_step| on_step as _) };
        let verdict = Check::new(&claim, &mut self.file, allowed).run()?;
        // Data that lie in a file, or in another's arrays, may change while they are read.
        match fingerprint(data) {
            Ok(found) if found == stated => Ok(verdict),
            _ => Err(Error::Fails { place: "end".to_owned(), reason: "the data changed during the check".to_owned() }),
        }
    }
}

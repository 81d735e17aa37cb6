//! The writer: records in the order of the search, and what they prove.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::encode::{Bytes, kind};
use super::header::{Claim, Data, header};
use super::record::{Notes, Step, put_point};
use super::{CLAIMED, Listed, Place, Point};
use crate::run::state::subset;
use crate::{Error, Problem, Run, Status, Subset};

/// Writes one file. What it keeps is a few numbers for each subset that is alone in its node.
#[derive(Debug)]
pub(crate) struct ProofWriter {
    splits: u64,
    last: Option<Point>,
    /// The least bound of all parts that hold more than one subset.
    rest: f64,
    /// The bounds of subsets that were alone in their node.
    single: HashMap<Subset, f64>,
    /// A subset that is listed whatever the search found: the one that a certificate judges.
    beside: Option<Listed>,
}

/// Progress of a file, for a run that resumes it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WriterState {
    splits: u64,
    rest: f64,
    single: Vec<(Vec<usize>, f64)>,
}

/// The numbers in the file of the nodes of some notes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbers {
    start: u64,
    splits: u64,
}

impl Numbers {
    /// The number in the file.
    pub(crate) fn of(self, node: u64) -> u64 {
        if node == 0 { self.start } else { 2 * self.splits + node }
    }
}

impl ProofWriter {
    /// Begins the proof of a run on problems whose objectives add, where its observer wants one.
    pub(crate) fn begin(problems: &[Problem<'_>], claim: &Claim<'_>, run: &mut Run<'_>) -> Option<Self> {
        let rules = run.rules();
        let sink = run.proof()?;
        let made = sink.begin();
        let data: Vec<Data<'_>> = problems.iter().map(Data::of).collect();
        sink.write(header(&data, rules, claim, &made).as_bytes());
        Some(Self { splits: 0, last: None, rest: f64::INFINITY, single: HashMap::new(), beside: None })
    }

    /// What a later run resumes from.
    pub(crate) fn state(&self) -> WriterState {
        let single = self.single.iter().map(|(subset, bound)| (subset.iter().collect(), *bound)).collect();
        WriterState { splits: self.splits, rest: self.rest, single }
    }

    /// Goes on with the proof of the run that kept this state, where the observer wants one.
    ///
    /// # Errors
    /// A state of a run without a proof, or of another problem.
    pub(crate) fn resume(state: Option<WriterState>, run: &mut Run<'_>) -> Result<Option<Self>, Error> {
        let p = run.rules().p();
        let Some(WriterState { splits, rest, single }) = resumed(state, run)? else { return Ok(None) };
        let single = single.into_iter().map(|(features, bound)| Ok((subset(p, &features)?, bound)));
        Ok(Some(Self { splits, last: None, rest, single: single.collect::<Result<_, Error>>()?, beside: None }))
    }

    /// Writes the notes of a part that began at this node of the file.
    pub(crate) fn write(&mut self, start: u64, notes: Notes, run: &mut Run<'_>) -> Numbers {
        let numbers = Numbers { start, splits: self.splits };
        self.splits += notes.splits();
        let mut bytes = Bytes::default();
        for record in notes.records {
            let node = numbers.of(record.node);
            match record.step {
                Step::Split { feature } => {
                    bytes.byte(kind::SPLIT);
                    bytes.integer(node);
                    bytes.integer(feature as u64);
                }
                Step::Close { point, bound, single } => {
                    bytes.byte(kind::CLOSE);
                    bytes.integer(node);
                    put_point(&mut bytes, &point, &mut self.last);
                    self.proven(bound, single);
                }
                Step::Fix { point, inside, out, bound } => {
                    bytes.byte(kind::FIX);
                    bytes.integer(node);
                    put_point(&mut bytes, &point, &mut self.last);
                    bytes.ascending(inside.iter().map(|&j| j as u64));
                    bytes.ascending(out.iter().map(|&j| j as u64));
                    self.proven(bound, None);
                }
                Step::Tighten { point, features, bounds, bound } => {
                    bytes.byte(kind::TIGHTEN);
                    bytes.integer(node);
                    put_point(&mut bytes, &point, &mut self.last);
                    bytes.ascending(features.iter().map(|&j| j as u64));
                    bytes.numbers(&bounds);
                    self.proven(bound, None);
                }
            }
        }
        put(run, &bytes);
        numbers
    }

    /// Closes a node of the file by the point that its bound holds at.
    pub(crate) fn close(&mut self, place: &Place, bound: f64, single: Option<Subset>, run: &mut Run<'_>) {
        let mut notes = Notes::default();
        notes.close(0, &place.point, bound, single);
        self.write(place.node, notes, run);
    }

    /// Lists this subset, too, unless it is one of the best.
    pub(crate) fn list_beside(&mut self, subset: Listed) {
        self.beside = Some(subset);
    }

    fn proven(&mut self, bound: f64, single: Option<Subset>) {
        match single {
            Some(subset) => {
                let known = self.single.entry(subset).or_insert(bound);
                *known = known.max(bound);
            }
            None => self.rest = self.rest.min(bound),
        }
    }

    /// Lists subsets, best first as their objectives are when rounded up, and ends the file; all up
    /// to `threshold` are to be listed where there is one.
    /// Returns the status: `Optimal` only where the file proves the gap that was asked for. It
    /// does not where columns are so large that no w of doubles has the objective of the exact one.
    pub(crate) fn end(
        mut self,
        mut listed: Vec<Listed>,
        threshold: Option<f64>,
        status: Status,
        run: &mut Run<'_>,
    ) -> Status {
        let beside = self.beside.take().filter(|beside| listed.iter().all(|l| l.subset != beside.subset));
        let asked = beside.as_ref().map(|beside| beside.subset.clone());
        listed.extend(beside);
        listed.sort_by(|a, b| a.objective.total_cmp(&b.objective));
        let own: Vec<Option<f64>> = listed.iter().map(|l| self.single.remove(&l.subset)).collect();
        let rest = self.single.values().fold(self.rest, |rest, bound| rest.min(*bound));
        // Where every allowed subset is listed, any number is a bound of the others.
        let claimed = |last: &Listed| threshold.map_or(last.objective, |end| end.max(last.objective));
        let rest = listed.last().map_or(rest, |last| rest.min(claimed(last)));
        let gaps = run.gaps();
        let best = listed.first().map_or(rest, |best| best.objective);
        let claim = |bound: f64| bound - CLAIMED * gaps.room_beside(best, bound);
        let (rest_found, rest, mut status) = (rest, claim(rest), status);
        let mut bytes = Bytes::default();
        for (subset, own) in listed.iter().zip(&own) {
            let own = claim(own.unwrap_or(rest_found).min(subset.objective));
            let wanted = asked.as_ref() != Some(&subset.subset);
            let closed = || run.is_within_asked_beside(best, subset.objective, own.min(rest));
            if status == Status::Optimal && wanted && !closed() {
                status = Status::Stalled;
            }
            bytes.byte(kind::SUBSET);
            bytes.ascending(subset.subset.iter().map(|j| j as u64).collect::<Vec<_>>().into_iter());
            bytes.number(subset.objective);
            bytes.number(own);
            for machine in &subset.machines {
                bytes.numbers(&machine.weights);
                bytes.number(machine.bias);
            }
        }
        put_end(run, bytes, rest, status);
        status
    }
}

/// The saved state of the proof, if the observer wants one; tells the sink to resume.
///
/// # Errors
/// A state of a run without a proof.
pub(super) fn resumed<S>(state: Option<S>, run: &mut Run<'_>) -> Result<Option<S>, Error> {
    let Some(sink) = run.proof() else { return Ok(None) };
    let Some(state) = state else {
        return Err(Error::Data(
            "the saved state is that of a run without a proof; leave out the proof, or start again".into(),
        ));
    };
    sink.resume();
    Ok(Some(state))
}

pub(super) fn put(run: &mut Run<'_>, bytes: &Bytes) {
    if let Some(sink) = run.proof() {
        sink.write(&bytes.0);
    }
}

/// Adds the last record, with the bound of all subsets that are not listed, and ends the file.
pub(super) fn put_end(run: &mut Run<'_>, mut bytes: Bytes, rest: f64, status: Status) {
    bytes.byte(kind::END);
    bytes.number(rest);
    bytes.text(status.name());
    put(run, &bytes);
    if let Some(sink) = run.proof() {
        sink.end();
    }
}

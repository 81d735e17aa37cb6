//! The writer of `kta`: what a search decides by bounds on alignment, which it maximises. In the
//! file objectives are minus alignments.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::encode::{Bytes, kind};
use super::header::{Data, header};
use super::writer::{put, put_end, resumed};
use crate::kernel::DistanceKernel;
use crate::run::state::subset;
use crate::search::Found;
use crate::{Design, Error, Run, Status, Subset};

/// Writes one file. Keeps one number for each subset that is listed apart from its box.
#[derive(Debug)]
pub(crate) struct AlignmentProof {
    /// Nodes made beside the root.
    made: u64,
    /// No subset that is not listed has a larger alignment, by what was written so far.
    rest: f64,
    single: HashMap<Subset, f64>,
    /// What rounding may take from or add to an alignment, here and in a checker.
    rounding: f64,
}

/// The objective that the file speaks of.
#[derive(Serialize)]
struct AlignmentClaim<'c> {
    gain: &'static str,
    kernel: DistanceKernel,
    gamma: f64,
    categorical: &'c [usize],
    centre: &'c [usize],
}

/// Progress of a file, for a run that resumes it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AlignmentState {
    made: u64,
    rest: f64,
    single: Vec<(Vec<usize>, f64)>,
    rounding: f64,
}

/// A node shared out by its model: what is not above the level, children, and single subsets.
#[derive(Debug, Default)]
pub(crate) struct Expanded {
    /// Order up to which its model is exact.
    pub(crate) exact: usize,
    pub(crate) level: f64,
    /// One feature of each free unit, in the order that says which is the first of a subset; empty
    /// where there is no child.
    pub(crate) order: Vec<u64>,
    pub(crate) children: Vec<Child>,
}

/// The subsets whose first unit is this one and whose others are partners, by place in the order.
#[derive(Debug)]
pub(crate) struct Child {
    pub(crate) first: u64,
    /// No subset of the child has a larger alignment.
    pub(crate) bound: f64,
    pub(crate) partners: Vec<u64>,
}

impl AlignmentProof {
    /// Begins the proof of a run, where its observer wants one. `favoured` are features whose units
    /// weigh in the centre of the models as much as all.
    pub(crate) fn begin(
        design: &dyn Design,
        classes: &[u32],
        weights: &[f64],
        (kernel, gamma, categorical): (DistanceKernel, f64, &[usize]),
        favoured: &[usize],
        run: &mut Run<'_>,
    ) -> Option<Self> {
        let rules = run.rules();
        let sink = run.proof()?;
        let made = sink.begin();
        let labels: Vec<f64> = classes.iter().map(|&class| f64::from(class)).collect();
        let claim = AlignmentClaim { gain: "alignment", kernel, gamma, categorical, centre: favoured };
        let data = Data { design, labels: &labels, weights };
        sink.write(header(&[data], rules, claim, &made).as_bytes());
        // f is a sum over pairs whose weights add up to at most 2 c (c - 1) in size.
        let count = f64::from(classes.iter().max().map_or(0, |most| most + 1));
        let roundings = (16 * design.n_samples() + 4 * design.n_features() + 400) as f64;
        let rounding = 2.0 * count * count * (1e-14 + roundings * f64::EPSILON);
        Some(Self { made: 0, rest: f64::NEG_INFINITY, single: HashMap::new(), rounding })
    }

    /// What a later run resumes from.
    pub(crate) fn state(&self) -> AlignmentState {
        let single = self.single.iter().map(|(subset, value)| (subset.iter().collect(), *value)).collect();
        AlignmentState { made: self.made, rest: self.rest, single, rounding: self.rounding }
    }

    /// Goes on with the proof of the run that kept this state, where the observer wants one.
    ///
    /// # Errors
    /// A state of a run without a proof, or of another problem.
    pub(crate) fn resume(state: Option<AlignmentState>, run: &mut Run<'_>) -> Result<Option<Self>, Error> {
        let p = run.rules().p();
        let Some(state) = resumed(state, run)? else { return Ok(None) };
        let AlignmentState { made, rest, single, rounding } = state;
        let single = single.into_iter().map(|(features, value)| Ok((subset(p, &features)?, value)));
        Ok(Some(Self { made, rest, single: single.collect::<Result<_, Error>>()?, rounding }))
    }

    /// A checker must examine the monotone bound of a node.
    pub(crate) fn limit(node: u64, run: &mut Run<'_>) {
        let mut bytes = Bytes::default();
        bytes.byte(kind::LIMIT);
        bytes.integer(node);
        put(run, &bytes);
    }

    /// Closes a node by what is known of it.
    pub(crate) fn leave(&mut self, node: u64, bound: f64, run: &mut Run<'_>) {
        let mut bytes = Bytes::default();
        bytes.byte(kind::LEAVE);
        bytes.integer(node);
        put(run, &bytes);
        self.rest = self.rest.max(bound);
    }

    /// Splits a node on a feature: the child with it in, then the one with it out.
    pub(crate) fn split(&mut self, node: u64, feature: usize, run: &mut Run<'_>) -> [u64; 2] {
        let mut bytes = Bytes::default();
        bytes.byte(kind::SPLIT);
        bytes.integer(node);
        bytes.integer(feature as u64);
        put(run, &bytes);
        self.made += 2;
        [self.made - 1, self.made]
    }

    /// Shares out a node; subsets found in it are listed if they are above the level. Returns
    /// the number of its first child; the others follow.
    pub(crate) fn expand(&mut self, node: u64, expanded: &Expanded, found: &[(f64, Subset)], run: &mut Run<'_>) -> u64 {
        let Expanded { exact, level, order, children } = expanded;
        let mut bytes = Bytes::default();
        let higher = *exact > 2;
        bytes.byte(if higher { kind::EXPAND_TO } else { kind::EXPAND });
        bytes.integer(node);
        if higher {
            bytes.integer(*exact as u64);
        }
        bytes.number(*level);
        bytes.integers(order);
        bytes.ascending(children.iter().map(|child| child.first));
        bytes.numbers(&children.iter().map(|child| child.bound).collect::<Vec<f64>>());
        for child in children {
            bytes.ascending(child.partners.iter().copied());
        }
        put(run, &bytes);
        self.rest = self.rest.max(*level);
        for (value, subset) in found.iter().filter(|found| found.0 > *level) {
            self.single.insert(subset.clone(), *value);
        }
        self.made += children.len() as u64;
        self.made + 1 - children.len() as u64
    }

    /// Lists subsets, best first, and ends the file; all down to `threshold` are to be listed where
    /// there is one.
    pub(crate) fn end(mut self, listed: &[Found], threshold: Option<f64>, status: Status, run: &mut Run<'_>) {
        let own: Vec<Option<f64>> = listed.iter().map(|found| self.single.remove(&found.subset)).collect();
        let rest = self.single.values().fold(self.rest, |rest, value| rest.max(*value));
        // Where every allowed subset is listed, any number is a bound of the others.
        let claimed = |last: &Found| threshold.map_or(last.objective, |end| end.min(last.objective));
        let rest = listed.last().map_or(rest, |last| rest.max(claimed(last)));
        let mut bytes = Bytes::default();
        for (found, own) in listed.iter().zip(own) {
            bytes.byte(kind::SUBSET);
            bytes.ascending(found.subset.iter().map(|j| j as u64).collect::<Vec<_>>().into_iter());
            bytes.number(self.rounding - found.objective);
            bytes.number(-(own.unwrap_or(rest).max(found.objective) + self.rounding));
        }
        put_end(run, bytes, -(rest + self.rounding), status);
    }
}

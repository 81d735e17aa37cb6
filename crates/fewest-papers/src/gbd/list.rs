//! The master problem where the rules allow few subsets: all of them, each with its value by the
//! cuts so far.
//!
//! A cut is one sum per subset, so that thousands of subsets take a millisecond where a solver
//! takes seconds, and their bound needs no tolerance.

use super::relaxed::UnitCut;
use fewest::{Choice, Clock, Rules};

/// Units and entries of rules examined while subsets are listed: enough for the 174,000 subsets of
/// at most 5 of 30, and the 85,000 of at most 3 of 80. Beyond it there is no list.
const WORK: usize = 40_000_000;
/// Nodes between two checks of the clock.
const NODES: usize = 1024;
/// Rules of more units have a list of single features at most, and are not asked for one.
pub(crate) const MOST_UNITS: usize = 3_000;
/// Units that all subsets of a list have together, at most.
const LONGEST: usize = WORK / 16;
/// Bytes of the longest list: its units, twice while it grows, and as much again for the rest.
pub(crate) const BYTES: u64 = 16 * LONGEST as u64;

/// Every allowed subset.
#[derive(Debug)]
pub(crate) struct List {
    /// The units of each, one subset after the other.
    units: Vec<u32>,
    /// Where each ends in `units`.
    ends: Vec<usize>,
    /// The value of each by all cuts, prices left out.
    eta: Vec<f64>,
}

impl List {
    /// All subsets that the rules allow; none where that is too much work, where there are none, or
    /// where `clock` says so.
    pub(crate) fn new(rules: &Rules, clock: &Clock) -> Option<Self> {
        let (mut units, mut ends) = (Vec::new(), Vec::new());
        let mut open = vec![rules.root().to_vec()];
        let entries: usize = rules.rows().iter().map(|row| row.coefficients.len()).sum();
        let most = WORK / (rules.n_units() + entries).max(1);
        let mut nodes = 0;
        while let Some(mut state) = open.pop() {
            nodes += 1;
            if nodes > most || units.len() > LONGEST || (nodes % NODES == 0 && clock.stop().is_some()) {
                return None;
            }
            if rules.propagate(&mut state).is_err() {
                continue;
            }
            if let Some(free) = state.iter().position(|&choice| choice == Choice::Free) {
                let mut without = state.clone();
                without[free] = Choice::Out;
                open.push(without);
                state[free] = Choice::In;
                open.push(state);
            } else if rules.allows(&rules.chosen(&state)) {
                let inside = (0..state.len()).filter(|&u| state[u] == Choice::In);
                units.extend(inside.map(|u| u as u32));
                ends.push(units.len());
            }
        }
        (!ends.is_empty()).then(|| Self { eta: vec![0.0; ends.len()], units, ends })
    }

    /// Takes in a cut.
    pub(super) fn learn(&mut self, cut: &UnitCut) {
        let mut start = 0;
        for (eta, &end) in self.eta.iter_mut().zip(&self.ends) {
            *eta = eta.max(cut.at(self.units[start..end].iter().map(|&u| u as usize)));
            start = end;
        }
    }

    /// The subset of least value by all cuts, its units, and that value; `price` is of some units.
    pub(super) fn least(&self, price: impl Fn(&[u32]) -> f64) -> (&[u32], f64) {
        let starts = std::iter::once(&0).chain(&self.ends);
        let subsets = starts.zip(&self.ends).map(|(&start, &end)| &self.units[start..end]);
        let values = subsets.zip(&self.eta).map(|(inside, eta)| (inside, eta + price(inside)));
        values.min_by(|a, b| a.1.total_cmp(&b.1)).expect("a list has a subset")
    }
}

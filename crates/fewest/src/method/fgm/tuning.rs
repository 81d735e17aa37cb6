//! Numbers that steer the solvers of `fgm`. They change the time, never whether a bound holds. All
//! were chosen by hand; `bench/fgm.py` shows what a change costs, `bench/log/fgm.md` what
//! was tried.

/// Gap of the current columns at which a pass over all features is due: a share of the gap at the
/// last pass,
pub(super) const POOL_SHARE: f64 = 0.1;
/// and in any case this share of the gap that was set.
pub(super) const POOL_OF_GAP: f64 = 0.3;
/// Gap of multiple kernel learning, as a share of the gap at which a pass is due.
pub(super) const MKL_SHARE: f64 = 0.3;
/// Columns after a round, as a multiple of those before, where this many have a score that asks
/// for a weight: fewer rounds, whose last ones cost most.
pub(super) const GROWTH: f64 = 1.3;
/// The smallest gap that rounding leaves.
pub(super) const SMALLEST: f64 = 1e-10;
/// A subset found under a budget or groups may miss the best by this share of its sum.
pub(super) const SLACK: f64 = 1e-6;
/// Nodes at most of that search; what it leaves open weakens the bound.
pub(super) const NODES: u64 = 500;

/// The machine of a mixture (`machine.rs`).
pub(super) mod machine {
    /// Steps at most for one z. Not a setting: finite Newton with an exact line search ends after a
    /// few tens of steps, and only rounding makes it circle. The answer's upper and lower value
    /// hold wherever it stops, so what is left open is seen in the gap of the run, which ends as
    /// `stalled` if it stays.
    pub(in super::super) const STEPS: usize = 100;
    /// Gap, as a share of the value, below which a step that does not halve it is rounding.
    pub(in super::super) const ROUNDING: f64 = 1e-9;
    /// Rounds of pivoting without fewer wrong signs before it turns one at a time,
    pub(in super::super) const PATIENCE: u32 = 10;
    /// and rounds at most.
    pub(in super::super) const PIVOTS: usize = 300;
}

/// Proximal Newton on the support norm (`support_norm.rs`).
pub(super) mod support_norm {
    /// Steps at most. Not a setting, for the same reason: the gap reached is part of the answer.
    pub(in super::super) const STEPS: usize = 200;
    /// A gap below this share of the best one is better,
    pub(in super::super) const BETTER: f64 = 0.9;
    /// and steps without a better one before it gives up.
    pub(in super::super) const PATIENCE: u32 = 12;
    /// Sweeps at most of one descent; what it leaves open the next model finds.
    pub(in super::super) const SWEEPS: usize = 200;
    /// Share of the gap aimed at that the root of what a model leaves open may have: the value is
    /// flat at the optimum, its dual point not.
    pub(in super::super) const INNER: f64 = 0.1;
    /// Differences of the value below this share of it are rounding.
    pub(in super::super) const ROUNDING: f64 = 1e-12;
    /// Factor on both once a step did not halve the gap,
    pub(in super::super) const CARE: f64 = 0.1;
    /// and below this gap once more for each such step.
    pub(in super::super) const FINE: f64 = 1e-4;
    /// A sweep that gains less than this share of what its model gained so far ends it: the next model
    /// is that of other samples.
    pub(in super::super) const SHARE: f64 = 0.1;
    /// Where columns just came, steps end that gain less than this share of what those before gained.
    pub(in super::super) const EARLY: f64 = 0.1;
    /// Places tried, while they gain, between the best dual point and that of a step.
    pub(in super::super) const MIXES: [f64; 5] = [0.03, 0.1, 0.2, 0.4, 0.6];
    /// Columns of weight 0 are in a model made of columns where their score is above this share of s.
    pub(in super::super) const NEAR: f64 = 0.9;
    /// The Hessian is kept where its entries, times this, are fewer than the stored values.
    pub(in super::super) const ENTRIES: f64 = 1.0;
    /// Sweeps over the weights that are not 0 before a Newton step on them: this number,
    pub(in super::super) const SLOW: usize = 15;
    /// and one for this number of weights, as it costs their cube and a sweep their square.
    pub(in super::super) const PACE: usize = 8;
    /// Where more than this share of the weights is not 0, sweeps go on over all.
    pub(in super::super) const NEARLY: f64 = 0.7;
    /// Values of s tried for a model.
    pub(in super::super) const TRIES: usize = 20;
}

/// Multiple kernel learning (`mkl.rs`).
pub(super) mod mkl {
    /// Share of the gap to reach that the training inside may have.
    pub(in super::super) const INNER: f64 = 0.02;
    /// Weights below this are rounding of zeros.
    pub(in super::super) const DUST: f64 = 1e-10;
    /// Subsets that one step may add.
    pub(in super::super) const MOST_ADDED: usize = 60;
    /// A gap below this share of the best one is better.
    pub(in super::super) const BETTER: f64 = 0.99;
    /// Steps without a better gap before the fast solver gives up,
    pub(in super::super) const PATIENCE: u32 = 12;
    /// and before SimpleMKL does, whose gap falls slowly and not at every step.
    pub(in super::super) const LONG_PATIENCE: u32 = 500;
    /// Steps at most of SimpleMKL's line search between two trainings of opposite slope.
    pub(in super::super) const SECANTS: usize = 20;
}

/// The best subset of a mixture (`best_subset.rs`).
pub(super) mod subset {
    /// Share of the features that leave at a step of SVM-RFE.
    pub(in super::super) const SHARE: f64 = 0.2;
    /// Relative duality gap of its trainings but the last.
    pub(in super::super) const LOOSE: f64 = 1e-3;
    /// Features of smallest weight that are tried to leave alone.
    pub(in super::super) const LEAVING: usize = 4;
    /// Samples of the smaller class for each feature from which improvements pay on other samples.
    pub(in super::super) const ENOUGH: usize = 16;
    /// Exchanges at most.
    pub(in super::super) const EXCHANGES: usize = 10;
}

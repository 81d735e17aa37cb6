//! The cuts of a master with fractional z, and what they prove without faith in a solver.
//!
//! For prices mu_k >= 0 of the cuts, of sum at most 1, and tau_r >= 0 of the rules' rows
//! `sum_u a_ru z_u <= b_r`, every allowed z has, because eta >= 0,
//!
//! ```text
//! eta + sum_u lambda_u z_u >= sum_k mu_k constant_k - sum_r tau_r b_r + sum_u z_u value_u
//! value_u = lambda_u - sum_k mu_k gains_ku + sum_r tau_r a_ru
//! ```
//!
//! so a node of decisions is bounded by its `value_u` of what is in and the negative ones of what
//! is free. Good prices are the duals of HiGHS's linear program; poor ones cost nodes, not truth.
//! [`RelaxedCuts::check`] is a branch and bound of such nodes: it judges what HiGHS's mixed-integer
//! solver claims, whose tolerances are absolute and no proof where cuts are of different scale.

use fewest::backend::highs::{Column, Effort, Program, SMALLEST, SolveStatus};
use fewest::bound::saddle::Cut;
use fewest::internals::program::{RuleRow, rows_over};
use fewest::{Choice, Error, Rules, Run, Subset};

/// Cuts whose constant is more than this many times the best value are scaled down to it, by a
/// power of two. HiGHS's own tolerances say little about a program that has them.
const LARGE: f64 = 1024.0;
/// The most a cut is scaled down, so that eta keeps a coefficient that HiGHS sees.
const MOST_SCALING: f64 = 1.0 / 1_048_576.0;
/// HiGHS's tolerance on integers and, at most, on rows.
const TOLERANCE: f64 = 1e-6;
/// Nodes of a check.
const NODES: usize = 4000;

/// A cut over units, `eta >= constant - sum gains_u z_u`.
///
/// No gain is above the constant: eta >= 0, so that for z in {0, 1} a larger gain says no more.
#[derive(Debug)]
pub(super) struct UnitCut {
    constant: f64,
    gains: Vec<f64>,
}

/// A cut as a row of a program whose values are in units of `one`: entries of z, the coefficient of
/// eta, the side.
pub(super) struct CutRow {
    pub(super) entries: Vec<(usize, f64)>,
    pub(super) scale: f64,
    pub(super) side: f64,
}

impl UnitCut {
    fn new(rules: &Rules, cut: &Cut) -> Self {
        let constant = cut.constant.max(0.0);
        let gain = |u: usize| {
            let features = rules.unit(u);
            let sum: f64 = features.iter().map(|&j| cut.gains[j]).sum();
            (sum * (1.0 + f64::EPSILON * features.len() as f64)).min(constant)
        };
        Self { constant, gains: (0..rules.n_units()).map(gain).collect() }
    }

    /// The row. Gains too small for HiGHS are taken off the side: the cut only gets weaker.
    pub(super) fn row(&self, one: f64) -> CutRow {
        let excess = self.constant / one / LARGE;
        let scale = if excess > 1.0 { (-excess.log2().ceil()).exp2().max(MOST_SCALING) } else { 1.0 };
        let (mut side, mut entries) = (self.constant, Vec::new());
        for (u, &gain) in self.gains.iter().enumerate() {
            let entry = scale * (gain / one);
            if entry > SMALLEST {
                entries.push((u, entry));
            } else {
                side -= gain;
            }
        }
        CutRow { entries, scale, side: scale * (side / one) }
    }

    /// The bound of units that are in, less what rounding may have added.
    pub(super) fn at(&self, inside: impl ExactSizeIterator<Item = usize>) -> f64 {
        let terms = inside.len() + 1;
        let gains: f64 = inside.map(|u| self.gains[u]).sum();
        let rounding = f64::EPSILON * terms as f64 * (self.constant + gains);
        (self.constant - gains - rounding).max(0.0)
    }
}

/// Prices of the cuts and of the rows of the rules.
#[derive(Debug, Clone, Default)]
struct Prices {
    /// (cut, mu_k), those above 0.
    cuts: Vec<(usize, f64)>,
    /// (row, tau_r), those above 0.
    rows: Vec<(usize, f64)>,
}

/// What a check finds.
#[derive(Debug)]
pub(crate) enum Check {
    /// No allowed subset is below the claim.
    Holds,
    /// This allowed subset is, by all cuts.
    Below(Subset),
    /// It would take more nodes, or the run was stopped.
    Unsure,
}

/// The cuts so far and their linear program.
#[derive(Debug)]
pub(super) struct RelaxedCuts<'a> {
    rules: &'a Rules,
    /// The price of each unit: sum of its lambda_j.
    pub(super) penalty: Vec<f64>,
    pub(super) cuts: Vec<UnitCut>,
    rows: Vec<RuleRow>,
    program: Program,
    /// Coefficient of eta in the row of each cut.
    scales: Vec<f64>,
    one: f64,
    /// The bounds that the program's columns have.
    state: Vec<Choice>,
}

impl<'a> RelaxedCuts<'a> {
    pub(super) fn new(rules: &'a Rules, penalty: &[f64]) -> Result<Self, Error> {
        let price = |u: usize| rules.unit(u).iter().filter_map(|&j| penalty.get(j)).sum();
        let mut relaxed = Self {
            rules,
            penalty: (0..rules.n_units()).map(price).collect(),
            cuts: Vec::new(),
            rows: rows_over(rules, |j| Some(rules.unit_of(j))),
            program: Program::new()?,
            scales: Vec::new(),
            one: f64::INFINITY,
            state: rules.root().to_vec(),
        };
        relaxed.build(f64::INFINITY)?;
        Ok(relaxed)
    }

    /// Takes in a cut.
    pub(super) fn learn(&mut self, cut: &Cut) -> Result<(), Error> {
        self.cuts.push(UnitCut::new(self.rules, cut));
        self.add(self.cuts.len() - 1)
    }

    /// The program in units of `one`.
    pub(super) fn build(&mut self, one: f64) -> Result<(), Error> {
        (self.program, self.one) = (Program::new()?, one);
        let column = |u: usize| {
            let (lower, upper) = range(self.state[u]);
            Column { cost: self.penalty[u] / one, lower, upper, integer: false }
        };
        self.program.add_columns(&(0..self.rules.n_units()).map(column).collect::<Vec<_>>())?;
        self.program.add_column(Column { cost: 1.0, lower: 0.0, upper: f64::INFINITY, integer: false })?;
        for row in &self.rows {
            self.program.add_row(&row.entries, f64::NEG_INFINITY, row.upper)?;
        }
        self.scales.clear();
        (0..self.cuts.len()).try_for_each(|k| self.add(k))
    }

    fn add(&mut self, cut: usize) -> Result<(), Error> {
        let CutRow { mut entries, scale, side } = self.cuts[cut].row(self.one);
        entries.push((self.rules.n_units(), scale));
        self.scales.push(scale);
        self.program.add_row(&entries, side, f64::INFINITY).map(|_| ())
    }

    /// Possible error of a bound from HiGHS: each z by its tolerance on integers, each row
    /// by that on rows. None where cuts were scaled down, which its tolerances are not made for.
    pub(super) fn tolerance(&self) -> Option<f64> {
        let gains = self.cuts.iter().map(|cut| cut.gains.iter().sum()).fold(0.0, f64::max);
        let tame = self.scales.iter().all(|scale| *scale == 1.0);
        tame.then_some(TOLERANCE * (self.one + gains + self.penalty.iter().sum::<f64>()))
    }

    /// The bound proven by the linear program, and its point by unit. None when the run was
    /// stopped.
    pub(super) fn root(&mut self, run: &Run<'_>) -> Result<Option<(f64, Vec<f64>)>, Error> {
        let root = self.rules.root().to_vec();
        let Some((prices, point)) = self.solve(&root, run)? else { return Ok(None) };
        Ok(Some((self.bound(&root, &prices), point)))
    }

    /// HiGHS's point and prices for a node; none when the run was stopped or HiGHS finds nothing.
    fn solve(&mut self, state: &[Choice], run: &Run<'_>) -> Result<Option<(Prices, Vec<f64>)>, Error> {
        for u in (0..state.len()).filter(|&u| state[u] != self.state[u]) {
            let (lower, upper) = range(state[u]);
            self.program.set_bounds(u, lower, upper)?;
        }
        self.state = state.to_vec();
        let effort = Effort { time: run.remaining(), ..Effort::default() };
        let answer = self.program.solve(&effort, &run.counted_clock())?;
        if answer.status != SolveStatus::Optimal {
            return Ok(None);
        }
        let (of_rules, of_cuts) = answer.row_duals.split_at(self.rows.len());
        let positive = |(at, price): (usize, f64)| (price > 0.0 && price.is_finite()).then_some((at, price));
        let mut cuts: Vec<(usize, f64)> =
            of_cuts.iter().zip(&self.scales).map(|(y, s)| y * s).enumerate().filter_map(positive).collect();
        let sum: f64 = cuts.iter().map(|c| c.1).sum();
        if sum > 1.0 {
            let share = (1.0 - f64::EPSILON * (cuts.len() + 2) as f64) / sum;
            for cut in &mut cuts {
                cut.1 *= share;
            }
        }
        let rows = of_rules.iter().map(|y| -y * self.one).enumerate().filter_map(positive).collect();
        Ok(Some((Prices { cuts, rows }, answer.values)))
    }

    /// The bound of a node, less what rounding may have added.
    fn bound(&self, state: &[Choice], prices: &Prices) -> f64 {
        let units = state.len();
        let mut value = self.penalty.clone();
        // Sums of the sizes of all terms, for rounding.
        let mut size = value.clone();
        let (mut sum, mut total) = (0.0, 0.0);
        for &(k, mu) in &prices.cuts {
            let cut = &self.cuts[k];
            sum += mu * cut.constant;
            total += mu * cut.constant;
            for u in 0..units {
                value[u] -= mu * cut.gains[u];
                size[u] += mu * cut.gains[u];
            }
        }
        for &(r, tau) in &prices.rows {
            sum -= tau * self.rows[r].upper;
            total += tau * self.rows[r].upper.abs();
            for &(u, a) in &self.rows[r].entries {
                value[u] += tau * a;
                size[u] += tau * a.abs();
            }
        }
        for u in 0..units {
            match state[u] {
                Choice::In => sum += value[u],
                Choice::Free => sum += value[u].min(0.0),
                Choice::Out => continue,
            }
            total += size[u];
        }
        let terms = prices.cuts.len() + prices.rows.len() + units + 8;
        let bound = sum - f64::EPSILON * terms as f64 * total;
        if bound.is_nan() { f64::NEG_INFINITY } else { bound.max(0.0) }
    }

    /// Whether no allowed subset is below `claim` by the cuts: a depth-first branch and bound.
    pub(super) fn check(&mut self, claim: f64, run: &Run<'_>) -> Check {
        let mut open = vec![(self.rules.root().to_vec(), Prices::default())];
        let mut nodes = 0;
        while let Some((mut state, known)) = open.pop() {
            if self.rules.propagate(&mut state).is_err() || self.bound(&state, &known) >= claim {
                continue;
            }
            let free: Vec<usize> = (0..state.len()).filter(|&u| state[u] == Choice::Free).collect();
            if free.is_empty() {
                let inside: Vec<usize> = (0..state.len()).filter(|&u| state[u] == Choice::In).collect();
                let subset = self.rules.chosen(&state);
                if self.value(&inside) < claim && self.rules.allows(&subset) {
                    return Check::Below(subset);
                }
                continue;
            }
            if nodes == NODES || run.stop().is_some() {
                return Check::Unsure;
            }
            nodes += 1;
            let mut prices = known;
            let mut branch = (free[0], 0.5);
            // A linear program that HiGHS cannot solve leaves the prices of the parent.
            if let Ok(Some((found, point))) = self.solve(&state, run) {
                if self.bound(&state, &found) >= claim {
                    continue;
                }
                let undecided = |&u: &usize| (point[u] - 0.5).abs();
                let most = free.iter().copied().min_by(|a, b| undecided(a).total_cmp(&undecided(b)));
                branch = most.map_or(branch, |u| (u, point[u]));
                prices = found;
            }
            let (unit, share) = branch;
            let mut order = [Choice::In, Choice::Out];
            if share > 0.5 {
                order.reverse();
            }
            for choice in order {
                let mut child = state.clone();
                child[unit] = choice;
                open.push((child, prices.clone()));
            }
        }
        Check::Holds
    }

    /// The value of a subset by all cuts.
    fn value(&self, inside: &[usize]) -> f64 {
        let cuts = self.cuts.iter().map(|cut| cut.at(inside.iter().copied())).fold(0.0, f64::max);
        cuts + self.price(inside.iter().copied())
    }

    /// Sum of lambda over units.
    pub(super) fn price(&self, inside: impl Iterator<Item = usize>) -> f64 {
        inside.map(|u| self.penalty[u]).sum()
    }
}

/// The bounds of a unit's column.
pub(super) fn range(choice: Choice) -> (f64, f64) {
    match choice {
        Choice::Free => (0.0, 1.0),
        Choice::In => (1.0, 1.0),
        Choice::Out => (0.0, 0.0),
    }
}

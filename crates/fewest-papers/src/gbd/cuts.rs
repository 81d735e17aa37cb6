//! The master problem of Benders decomposition: the allowed subset of least value by all cuts so
//! far, a mixed-integer program.
//!
//! ```text
//! minimise  eta + sum_j lambda_j z_j
//! s.t.      eta + sum_j gains_kj z_j >= constant_k      for every cut k
//!           the rules on z,  z_j in {0, 1},  eta >= 0
//! ```
//!
//! Paper    Aytug, EJOR 244 (2015), RMP-M (10) and RMP-lambda (15), as a minimisation.
//! Columns  one per unit of the rules (features that are in or out together), not one per feature.
//! Scaling  HiGHS's tolerances are absolute, so eta is measured in units of the best value known,
//!          and the program is made again when that has fallen to a tenth. Gains above a cut's
//!          constant are lowered to it, cuts far above the best value are scaled down by a power of
//!          two, and gains too small for HiGHS are taken off the constant: the cut only gets
//!          weaker.
//! List     Where there are few subsets there is no program: all of them are listed, and what is
//!          said of them needs no tolerance (`list.rs`).
//! Proof    What HiGHS claims of the integer program is checked by [`RelaxedCuts::check`]; the
//!          bound of the linear program is counted again from its duals.

use super::list::List;
pub(crate) use super::relaxed::Check;
use super::relaxed::{CutRow, RelaxedCuts, UnitCut, range};
use fewest::backend::highs::{Answer, Column, Effort, Program, SMALLEST, SolveStatus};
use fewest::bound::saddle::Cut;
use fewest::internals::program::{self, add_rules};
use fewest::{Choice, Error, Rules, Run, Subset};

/// The unit of eta follows the best value down in steps of at least this.
const FINER: f64 = 0.1;

/// Halvings of the least z_j at the centre, and how near they must come.
const CENTRE_STEPS: usize = 40;
const FINE: f64 = 1.05;

/// Result of a solve of the master.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum MasterAnswer {
    /// This allowed subset has the least value by the cuts, up to the gap asked for; HiGHS claims
    /// that no allowed one is below the bound.
    Subset(Subset, f64),
    /// HiGHS claims that no allowed subset is below the cutoff.
    Nothing,
    /// Time was over or the run was stopped; HiGHS claims that no allowed subset is below this
    /// bound.
    Stopped(f64),
}

/// The master problem over the cuts so far.
#[derive(Debug)]
pub(crate) struct CutMaster<'a> {
    rules: &'a Rules,
    /// The cuts, and their linear program.
    relaxed: RelaxedCuts<'a>,
    /// All subsets, where they are few; the program is not used then.
    list: Option<List>,
    /// Subsets that broke a rule by less than HiGHS's tolerance.
    refused: Vec<Subset>,
    /// Value that is 1 in the program.
    one: f64,
    program: Program,
    /// The column eta.
    eta: usize,
    /// The row `eta + sum lambda z <= cutoff`.
    ceiling: usize,
}

impl<'a> CutMaster<'a> {
    /// A master without cuts; `penalty` is lambda by feature, length p, or empty for none. `list`
    /// has all subsets, where they are few.
    pub(crate) fn new(rules: &'a Rules, penalty: &[f64], list: Option<List>) -> Result<Self, Error> {
        let mut master = Self {
            rules,
            relaxed: RelaxedCuts::new(rules, penalty)?,
            list,
            refused: Vec::new(),
            one: f64::INFINITY,
            program: Program::new()?,
            eta: 0,
            ceiling: 0,
        };
        master.build()?;
        Ok(master)
    }

    /// The program for the present `one`, from its parts.
    fn build(&mut self) -> Result<(), Error> {
        self.program = Program::new()?;
        let units = self.rules.n_units();
        let column = |u: usize| {
            let ((lower, upper), cost) = (range(self.rules.root()[u]), self.relaxed.penalty[u] / self.one);
            Column { cost, lower, upper, integer: true }
        };
        self.program.add_columns(&(0..units).map(column).collect::<Vec<_>>())?;
        self.eta = self.program.add_column(Column { cost: 1.0, lower: 0.0, upper: f64::INFINITY, integer: false })?;
        add_rules(&mut self.program, self.rules, |j| Some(self.rules.unit_of(j)))?;
        let prices = self.relaxed.penalty.iter().map(|l| l / self.one).enumerate().filter(|e| e.1 > SMALLEST);
        let objective: Vec<(usize, f64)> = prices.chain([(self.eta, 1.0)]).collect();
        self.ceiling = self.program.add_row(&objective, f64::NEG_INFINITY, f64::INFINITY)?;
        for subset in &self.refused {
            refuse(&mut self.program, self.rules, subset)?;
        }
        let mut cuts = self.relaxed.cuts.iter();
        cuts.try_for_each(|cut| add(&mut self.program, self.eta, self.one, cut))
    }

    /// Takes in a cut. `value` is any upper value of the objective seen with it: it sets the scale.
    pub(crate) fn learn(&mut self, cut: &Cut, value: f64) -> Result<(), Error> {
        self.relaxed.learn(cut)?;
        let finer = value > 0.0 && value < FINER * self.one;
        if finer {
            self.one = value;
            self.relaxed.build(value)?;
        }
        let cut = self.relaxed.cuts.last().expect("just learnt");
        if let Some(list) = &mut self.list {
            list.learn(cut);
            return Ok(());
        }
        if finer { self.build() } else { add(&mut self.program, self.eta, self.one, cut) }
    }

    /// The listed subset of least value by the cuts, and that value, where there is a list.
    fn least(&self) -> Option<(Subset, f64)> {
        let (inside, value) =
            self.list.as_ref()?.least(|inside| self.relaxed.price(inside.iter().map(|&u| u as usize)));
        let features = inside.iter().flat_map(|&u| self.rules.unit(u as usize).iter().copied());
        Some((Subset::from_indices(self.rules.p(), features), value))
    }

    /// Possible error of a bound from HiGHS or from the list; `None` if there is no bound.
    pub(crate) fn tolerance(&self) -> Option<f64> {
        if self.list.is_some() { Some(0.0) } else { self.relaxed.tolerance() }
    }

    /// Whether it is true that no allowed subset is below `claim` by the cuts.
    pub(crate) fn check(&mut self, claim: f64, run: &Run<'_>) -> Check {
        match self.least() {
            Some((subset, value)) if value < claim => Check::Below(subset),
            Some(_) => Check::Holds,
            None => self.relaxed.check(claim, run),
        }
    }

    /// lambda of a subset or mixture.
    pub(crate) fn price(&self, z: &[f64]) -> f64 {
        self.relaxed.penalty.iter().enumerate().map(|(u, price)| price * z[self.rules.unit(u)[0]]).sum()
    }

    /// A point in the middle of what the rules allow, when the z_j may be fractions: the least z_j
    /// is as large as possible, within a few percent. Length p. None when the run was stopped.
    pub(crate) fn centre(&self, run: &Run<'_>) -> Result<Option<Vec<f64>>, Error> {
        let mut other = Self::new(self.rules, &[], None)?;
        let free: Vec<usize> = (0..self.rules.n_units()).filter(|&u| self.rules.root()[u] == Choice::Free).collect();
        // A program with all z_j >= least for a few values of it is much faster than one that
        // maximises it.
        let (mut low, mut high, mut middle) = (0.0, f64::INFINITY, None);
        let mut least = 1.0;
        for _ in 0..CENTRE_STEPS {
            free.iter().try_for_each(|&u| other.program.set_bounds(u, least, 1.0))?;
            let answer = other.ask(&Effort { relaxed: true, ..Effort::default() }, run)?;
            match answer.status {
                SolveStatus::Stopped => return Ok(None),
                SolveStatus::Optimal => (low, middle) = (least, Some(self.by_feature(&answer.values))),
                _ => high = least,
            }
            if low == 1.0 || high < FINE * low {
                break;
            }
            least = if low == 0.0 { 0.5 * high } else { 0.5 * (low + high) };
        }
        // Rules that leave no such room: any allowed subset is as good.
        let first = || {
            let (ones, clock) = (vec![1.0; self.rules.p()], &run.counted_clock());
            indicator(&self.rules.best_subset_until(&ones, 1e-12, clock).subset)
        };
        Ok(Some(middle.unwrap_or_else(first)))
    }

    /// The proven bound and the point (length p) of the master whose z_j may be fractions. None
    /// when the run was stopped.
    pub(crate) fn relaxation(&mut self, run: &Run<'_>) -> Result<Option<(f64, Vec<f64>)>, Error> {
        Ok(self.relaxed.root(run)?.map(|(bound, point)| (bound, self.by_feature(&point))))
    }

    /// The best subset by the cuts, to the relative `gap`. With a `cutoff`, only subsets below it
    /// are searched for. `start` is an allowed subset with its value, to begin from. A list needs
    /// none of the three.
    pub(crate) fn solve(
        &mut self,
        gap: f64,
        cutoff: Option<f64>,
        start: Option<(&Subset, f64)>,
        run: &Run<'_>,
    ) -> Result<MasterAnswer, Error> {
        if let Some((subset, value)) = self.least() {
            return Ok(MasterAnswer::Subset(subset, value));
        }
        self.program.set_sides(self.ceiling, f64::NEG_INFINITY, cutoff.map_or(f64::INFINITY, |c| c / self.one))?;
        loop {
            if let Some((subset, value)) = start {
                let mut point: Vec<f64> =
                    (0..self.rules.n_units()).map(|u| f64::from(subset.contains(self.rules.unit(u)[0]))).collect();
                point.push((value - self.price(&indicator(subset))) / self.one);
                self.program.set_start(&point)?;
            }
            let answer = self.ask(&Effort { gap, ..Effort::default() }, run)?;
            let bound = (answer.bound * self.one).min(cutoff.unwrap_or(f64::INFINITY));
            match answer.status {
                SolveStatus::Infeasible if cutoff.is_some() => return Ok(MasterAnswer::Nothing),
                SolveStatus::Optimal => {}
                SolveStatus::Stopped => return Ok(MasterAnswer::Stopped(bound)),
                SolveStatus::Infeasible | SolveStatus::Unbounded => {
                    return Err(Error::Solver(format!("HiGHS calls a master problem {:?}", answer.status)));
                }
            }
            let z = self.by_feature(&answer.values);
            let subset = Subset::from_indices(z.len(), (0..z.len()).filter(|&j| z[j] > 0.5));
            if self.rules.allows(&subset) {
                return Ok(MasterAnswer::Subset(subset, bound));
            }
            refuse(&mut self.program, self.rules, &subset)?;
            self.refused.push(subset);
        }
    }

    fn ask(&mut self, effort: &Effort, run: &Run<'_>) -> Result<Answer, Error> {
        self.program.solve(&Effort { time: run.remaining(), ..*effort }, &run.counted_clock())
    }

    /// z by feature, inside [0, 1].
    fn by_feature(&self, units: &[f64]) -> Vec<f64> {
        (0..self.rules.p()).map(|j| units[self.rules.unit_of(j)].clamp(0.0, 1.0)).collect()
    }
}

/// 1 for the features of the subset, 0 for the others.
pub(crate) fn indicator(subset: &Subset) -> Vec<f64> {
    (0..subset.p()).map(|j| f64::from(subset.contains(j))).collect()
}

/// eta + sum gains z >= constant, in units of `one`.
fn add(program: &mut Program, eta: usize, one: f64, cut: &UnitCut) -> Result<(), Error> {
    let CutRow { mut entries, scale, side } = cut.row(one);
    entries.push((eta, scale));
    program.add_row(&entries, side, f64::INFINITY).map(|_| ())
}

/// Any subset but this one.
fn refuse(program: &mut Program, rules: &Rules, subset: &Subset) -> Result<(), Error> {
    let (inside, outside): (Vec<usize>, Vec<usize>) =
        (0..rules.n_units()).partition(|&u| subset.contains(rules.unit(u)[0]));
    program::refuse(program, &inside, &outside)
}

//! The relaxation of a problem: what it is made of, where a node starts and what is known of it.

use std::sync::Mutex;

use super::parts::{StackedProblem, dual_of_all};
use crate::dual::kkt::{make_feasible, without_features};
use crate::dual::{BoxDual, Loss};
use crate::proof::{Point, RowNumbers};
use crate::search::PrimalPoint;
use crate::{Error, Interval, Memory, Problem, Reserved, Rules, Shape, SvmSettings};

/// The start of a node's solve: the answer of its parent.
#[derive(Debug, Clone)]
pub struct WarmStart {
    /// beta_i = y_i alpha_i, length n; feasible.
    pub beta: Vec<f64>,
    /// The bias of each problem.
    pub bias: Vec<f64>,
    /// (unit, share), for the free units of positive share.
    pub shares: Vec<(usize, f64)>,
    /// Price of each row of the rules.
    pub tau: Vec<f64>,
    /// Margins y_i f_i at the parent, length n: they tell which samples matter.
    pub margins: Vec<f64>,
}

/// When a node is decided.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decide {
    /// The node is not worth more work once its bound is at or above this.
    pub(crate) cutoff: f64,
    /// A node that will not be cut off is known well enough when its gap is this share of what it
    /// lacks to the cutoff.
    pub(crate) share: f64,
    /// Relative gap at which a value is known well enough in any case.
    pub(crate) tolerance: f64,
}

/// What an answer is proven by.
#[derive(Debug, Clone)]
pub(crate) struct Points {
    /// [`NodeAnswer::lower`] holds here,
    pub(crate) lower: Point,
    /// at this beta,
    pub(crate) at: Vec<f64>,
    /// and [`NodeAnswer::priced`] here.
    pub(crate) priced: Point,
    /// [`NodeAnswer::upper`], where no unit is free.
    pub(crate) primal: Option<Vec<PrimalPoint>>,
}

/// The bounds of a node.
#[derive(Debug, Clone)]
pub struct NodeAnswer {
    /// Proven: no subset of the node has a smaller objective.
    pub lower: f64,
    /// Objective of the relaxation at (w, b, z); of the subset itself when no unit was free.
    pub upper: f64,
    /// The excess of each free unit, by position in `free`: above 0, what `priced` gains when the
    /// unit is left out; below 0, minus what it gains when the unit is chosen.
    pub(crate) excess: Vec<f64>,
    /// The bound at the point at which the excess was taken; `lower` may come from another.
    pub(crate) priced: f64,
    /// For the children.
    pub warm_start: WarmStart,
    /// Rounds of the interior-point method.
    pub(crate) rounds: u64,
    /// What the answer is proven by; see [`Relaxation::keep_points`].
    pub(crate) points: Option<Points>,
}

/// Bytes per entry of the factor's square: the sum of lines, its copy and the factor (half, half
/// and all of them).
const FACTOR: u64 = 16;

/// Problems above which each is trained alone: pairs of 29 classes.
const MANY: usize = 400;
/// Bytes of their columns up to which nodes are solved nevertheless.
const BLOCK: u64 = 256 << 20;

/// A row over units, or over positions in a list of them: `sum coefficient_u z_u <= upper`.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) coefficients: Vec<(usize, f64)>,
    pub(super) upper: f64,
}

/// The relaxation of problems that share one subset under its rules.
pub struct Relaxation<'a> {
    pub(super) parts: Vec<StackedProblem<'a>>,
    /// Each problem alone, without prices, where there are several.
    pub(super) alone: Vec<Relaxation<'a>>,
    pub(super) rules: &'a Rules,
    /// The dual box of the samples of all problems.
    pub(super) dual: BoxDual,
    /// The objective without features.
    pub(super) baseline: f64,
    /// lambda by unit.
    pub(super) penalty: Vec<f64>,
    pub(super) rows: Vec<Row>,
    /// Which of [`Rules::rows`] each of them is.
    pub(super) places: Vec<usize>,
    /// Whether the size is the only rule left between units: the z half is then a sort.
    pub(super) size_only: bool,
    pub(super) svm: SvmSettings,
    /// Norm of the columns of each unit: the rounding error of a score is in proportion.
    pub(super) norms: Vec<f64>,
    /// The numbers of rows in a proof file, where one is written.
    pub(super) numbers: Option<RowNumbers>,
    /// What blocks and their factors are taken from.
    pub(super) memory: Memory,
    /// The first of them that did not fit.
    pub(super) refusal: Mutex<Option<Error>>,
}

impl<'a> Relaxation<'a> {
    /// Relaxation of one problem or more, on the same features; `penalty` holds lambda_j >= 0 by
    /// feature, or nothing.
    pub fn new(problems: &'a [Problem<'a>], rules: &'a Rules, svm: &SvmSettings, penalty: &[f64]) -> Self {
        let parts = StackedProblem::all(problems, svm);
        let sum = |u: usize| rules.unit(u).iter().map(|&j| penalty.get(j).copied().unwrap_or(0.0)).sum();
        let (rows, places) = match rules.shape() {
            Shape::Free => (Vec::new(), Vec::new()),
            Shape::Size(most) => {
                let row = Row { coefficients: (0..rules.p()).map(|u| (u, 1.0)).collect(), upper: most as f64 };
                (vec![row], vec![0])
            }
            Shape::General => rows_over_units(rules),
        };
        let square = |part: &StackedProblem<'_>, u: usize| -> f64 {
            rules.unit(u).iter().map(|&j| part.design().squared_norm(j)).sum::<f64>()
        };
        let norm = |u: usize| parts.iter().map(|part| square(part, u)).sum::<f64>().sqrt();
        let norms = (0..rules.n_units()).map(norm).collect();
        let alone = |problem| Self::new(std::slice::from_ref(problem), rules, svm, &[]);
        Self {
            dual: dual_of_all(&parts),
            alone: if problems.len() > 1 { problems.iter().map(alone).collect() } else { Vec::new() },
            baseline: parts.iter().map(|part| without_features(&part.dual)).sum(),
            parts,
            rules,
            penalty: (0..rules.n_units()).map(sum).collect(),
            rows,
            places,
            size_only: rules.is_sort(),
            svm: svm.clone(),
            norms,
            numbers: None,
            memory: Memory::unlimited(),
            refusal: Mutex::new(None),
        }
    }

    /// Takes the memory of its blocks from this account.
    #[must_use]
    pub(crate) fn within(self, memory: &Memory) -> Self {
        let alone = self.alone.into_iter().map(|one| one.within(memory)).collect();
        Self { memory: memory.clone(), alone, ..self }
    }

    /// Takes the memory of a block of n x m values and of the factor on its shorter side; nothing
    /// where it is not left, which [`Relaxation::afforded`] tells.
    pub(super) fn reserve(&self, n: usize, m: usize) -> Option<Reserved> {
        let taken = reserve(n, m, &self.memory);
        let refusal = |error| _ = self.refusal.lock().expect("no panic").get_or_insert(error);
        taken.map_err(refusal).ok()
    }

    /// Whether all that was asked for fitted; otherwise answers may say less than they could.
    ///
    /// # Errors
    /// [`Error::Memory`] with the first that did not.
    pub(crate) fn afforded(&self) -> Result<(), Error> {
        self.alone.iter().try_for_each(Self::afforded)?;
        self.refusal.lock().expect("no panic").take().map_or(Ok(()), Err)
    }

    pub(crate) fn n_samples(&self) -> usize {
        self.dual.len()
    }

    /// The objective without features.
    pub(crate) fn baseline(&self) -> f64 {
        self.baseline
    }

    /// Number of problems: columns of each feature.
    pub(crate) fn n_problems(&self) -> usize {
        self.parts.len()
    }

    /// Whether problems are above [`MANY`]: subsets are then valued by each alone, and nodes by the
    /// points that these give where the columns of all are too much.
    pub(crate) fn is_many(&self) -> bool {
        self.n_problems() > MANY
    }

    /// Whether the columns of all problems at once, n samples and m columns, are worth their time.
    pub(super) fn is_worth_solving(&self, n: usize, m: usize) -> bool {
        !self.is_many() || bytes(n, m) <= BLOCK
    }

    /// Moves beta into its box and onto the equality of each free bias.
    pub(crate) fn make_feasible(&self, beta: &mut [f64]) {
        for part in &self.parts {
            make_feasible(&part.dual, &mut beta[part.samples.clone()]);
        }
    }

    /// `sum_t s^2 (sum_i beta_i)^2 / 2`, the biases' part of the dual objective.
    pub(super) fn bias_part(&self, beta: &[f64]) -> f64 {
        let square = |part: &StackedProblem<'_>| {
            let sum: f64 = part.of(beta).iter().sum();
            0.5 * part.dual.bias_square() * sum * sum
        };
        self.parts.iter().map(square).sum()
    }

    pub(crate) fn n_units(&self) -> usize {
        self.penalty.len()
    }

    /// Rows of the rules, which have a price each.
    pub(crate) fn n_rows(&self) -> usize {
        self.rows.len()
    }

    /// Whether some unit has a price.
    pub(crate) fn is_priced(&self) -> bool {
        self.penalty.iter().any(|l| *l > 0.0)
    }

    /// lambda of a unit.
    pub(crate) fn penalty(&self, unit: usize) -> f64 {
        self.penalty[unit]
    }

    /// The weights that feature j may have.
    pub(super) fn interval(&self, j: usize) -> Interval {
        self.rules.weight_bounds().of(j)
    }

    /// g_u - lambda_u at beta.
    pub(crate) fn gain(&self, unit: usize, beta: &[f64]) -> f64 {
        let features = self.rules.unit(unit);
        let mut gain = 0.0;
        for part in &self.parts {
            let (design, own) = (part.design(), part.of(beta));
            gain += features.iter().map(|&j| self.interval(j).gain(design.dot_column(j, own))).sum::<f64>();
        }
        gain - self.penalty[unit]
    }

    /// [`Relaxation::gain`] of each of these units.
    pub(super) fn gains(&self, units: &[usize], beta: &[f64]) -> Vec<f64> {
        if self.rules.n_units() < self.rules.p() {
            return units.iter().map(|&u| self.gain(u, beta)).collect();
        }
        // Units are numbered by their smallest feature: here by their only one.
        let (mut gains, mut scores) = (vec![0.0; units.len()], vec![0.0; units.len()]);
        for part in &self.parts {
            part.design().dot_chosen(units, part.of(beta), &mut scores);
            for ((gain, &score), &j) in gains.iter_mut().zip(&scores).zip(units) {
                *gain += self.interval(j).gain(score);
            }
        }
        gains.iter_mut().zip(units).for_each(|(gain, &u)| *gain -= self.penalty[u]);
        gains
    }

    /// The part of the dual objective without features, at a feasible beta.
    pub(crate) fn constant(&self, beta: &[f64]) -> f64 {
        let part = |i: usize| self.dual.y[i] * beta[i] - 0.5 * self.dual.ridge[i] * beta[i] * beta[i];
        (0..beta.len()).map(part).sum::<f64>() - self.bias_part(beta)
    }

    /// The best multiple of "alpha equal within each class", for the units that are in and the
    /// largest gains of the others.
    pub fn cold(&self) -> WarmStart {
        WarmStart {
            beta: self.parts.iter().flat_map(|part| self.cold_of(part)).collect(),
            bias: vec![0.0; self.parts.len()],
            shares: Vec::new(),
            tau: vec![0.0; self.rows.len()],
            margins: vec![1.0; self.dual.len()],
        }
    }

    /// Whether the point has the lengths of these problems and rows.
    pub(crate) fn fits(&self, at: &WarmStart) -> bool {
        (at.beta.len(), at.bias.len(), at.tau.len()) == (self.dual.len(), self.parts.len(), self.rows.len())
    }

    fn cold_of(&self, part: &StackedProblem<'_>) -> Vec<f64> {
        let dual = &part.dual;
        let n = dual.len();
        let mut total = [0.0; 2];
        for i in 0..n {
            total[usize::from(dual.y[i] > 0.0)] += dual.cost[i];
        }
        let least = total[0].min(total[1]);
        let beta: Vec<f64> =
            (0..n).map(|i| dual.y[i] * dual.cost[i] * least / total[usize::from(dual.y[i] > 0.0)]).collect();
        let size = self.rules.most_features();
        let mut squares: Vec<f64> = (0..self.rules.p())
            .map(|j| {
                let c = part.design().dot_column(j, &beta);
                c * c
            })
            .collect();
        squares.sort_unstable_by(|a, b| b.total_cmp(a));
        let linear: f64 = beta.iter().map(|b| b.abs()).sum();
        let ridge: f64 = beta.iter().zip(&dual.ridge).map(|(b, r)| r * b * b).sum();
        let curve: f64 = squares.iter().take(size).sum::<f64>() + ridge;
        let most = if dual.loss == Loss::Hinge { 1.0 } else { f64::INFINITY };
        let length = (linear / curve.max(f64::MIN_POSITIVE)).min(most).min(f64::MAX);
        beta.iter().map(|b| b * length).collect()
    }
}

/// Takes the memory of a block of n x m values and of the factor on its shorter side.
pub fn reserve(n: usize, m: usize, memory: &Memory) -> Result<Reserved, Error> {
    let what = || format!("a relaxation over {n} samples and {m} features");
    memory.reserve(bytes(n, m), what, "select among fewer features, or with fewer threads")
}

/// Memory of a block of n x m values and of the factor on its shorter side.
fn bytes(n: usize, m: usize) -> u64 {
    let shorter = n.min(m) as u64 + 1;
    8 * (n as u64 * m as u64) + FACTOR * shorter * shorter
}

/// The rules' rows over units, but for those on one unit: these are decisions, which the state
/// holds. With each its place in [`Rules::rows`].
fn rows_over_units(rules: &Rules) -> (Vec<Row>, Vec<usize>) {
    let (mut rows, mut places) = (Vec::new(), Vec::new());
    for (place, row) in rules.rows().into_iter().enumerate() {
        let mut by_unit: Vec<(usize, f64)> = Vec::new();
        let mut features = row.coefficients;
        features.sort_unstable_by_key(|f| rules.unit_of(f.0));
        for (j, a) in features {
            let u = rules.unit_of(j);
            match by_unit.last_mut() {
                Some(last) if last.0 == u => last.1 += a,
                _ => by_unit.push((u, a)),
            }
        }
        by_unit.retain(|f| f.1 != 0.0);
        if by_unit.len() > 1 {
            rows.push(Row { coefficients: by_unit, upper: row.upper });
            places.push(place);
        }
    }
    (rows, places)
}

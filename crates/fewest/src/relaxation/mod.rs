//! The saddle relaxation: a proven lower bound on `v(z) + sum lambda_j z_j` over all subsets of a tree node.
//!
//! For any feasible beta and any prices tau >= 0 of the rules' rows,
//!
//! ```text
//! L = D(beta) - sum_in (1/2 |c_u|^2 - lambda_u) - sum_r b_r tau_r - sum_free max(0, 1/2 |c_u|^2 - lambda_u - (A'tau)_u)
//! ```
//!
//! with `D` the part of the dual objective without features and `c_j = x_j . beta`. The best L is the perspective relaxation
//! (`w_j^2 / z_j`, z in the polytope of the rules' rows). A node is solved on few samples and few features: samples far from
//! the margin keep the alpha they had, features of small gain stay out; whatever was left out is then counted in full, so
//! the bound holds whether the guess was right or not, and samples and features that matter are added until the node is decided.

mod interior;
mod polish;
mod probe;
mod subset;

use interior::{Block, Goal, Point, Restricted, UnitColumns};
pub(crate) use probe::Probed;

use crate::dual::kkt::{best_bias, make_feasible, total_loss};
use crate::dual::{Bias, BoxDual, Loss};
use crate::{Design, Problem, Rules, Shape, Status, SvmSettings};

/// Shares up to this are 0 to the children and to the upper value.
const SMALL: f64 = 1e-3;
/// The start's products over what the bound lacks, and at least over this share of the gap.
const START: f64 = 0.3;
const START_LEAST: f64 = 0.02;
/// Share of the box within which a sample with the right margin counts as being on its bound.
const NEAR: f64 = 0.03;
/// The box from an upper value is this much wider, so that no alpha ends on it.
const REACH_ROOM: f64 = 1.01;
/// Rounds of adding what was left out.
const WIDENINGS: u32 = 30;

/// Where to start: a node's parent's answer.
#[derive(Debug, Clone)]
pub(crate) struct Warm {
    /// beta_i = y_i alpha_i, length n; feasible.
    pub(crate) beta: Vec<f64>,
    pub(crate) bias: f64,
    /// (unit, share), for the free units of positive share.
    pub(crate) shares: Vec<(usize, f64)>,
    /// Price of each row of the rules.
    pub(crate) tau: Vec<f64>,
    /// Margins y_i f_i at the parent, length n: they tell which samples matter.
    pub(crate) margins: Vec<f64>,
}

/// When a node is decided.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decide {
    /// The node is not worth more work once its bound is at or above this.
    pub(crate) cutoff: f64,
    /// A node that will not be cut off is known well enough when its gap is this share of what it lacks to the cutoff.
    pub(crate) share: f64,
    /// Relative gap at which a value is known well enough in any case.
    pub(crate) tolerance: f64,
}

/// What is known of a node.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    /// Proven: no subset of the node has a smaller objective.
    pub(crate) lower: f64,
    /// Objective of the relaxation at (w, b, z); of the subset itself when no unit was free.
    pub(crate) upper: f64,
    /// By position in `free`: above 0, what `priced` gains when the unit is left out; below 0, minus what it gains when the
    /// unit is chosen.
    pub(crate) excess: Vec<f64>,
    /// The bound at the very point the excess was taken at; `lower` may come from another.
    pub(crate) priced: f64,
    /// For the children.
    pub(crate) warm: Warm,
    /// Rounds of the interior-point method.
    pub(crate) rounds: u64,
}

/// A row over units, or over positions in a list of them: `sum coefficient_u z_u <= upper`.
#[derive(Debug)]
struct Row {
    coefficients: Vec<(usize, f64)>,
    upper: f64,
}

/// The relaxation of one problem under its rules.
pub(crate) struct Relaxation<'a> {
    problem: &'a Problem<'a>,
    rules: &'a Rules,
    dual: BoxDual,
    /// lambda by unit.
    penalty: Vec<f64>,
    rows: Vec<Row>,
    /// Whether the size is the only rule left between units: the z half is then a sort.
    size_only: bool,
    svm: SvmSettings,
    /// Norm of the columns of each unit: what a score may be off by rounding is in proportion.
    norms: Vec<f64>,
}

impl<'a> Relaxation<'a> {
    /// `penalty` holds lambda_j >= 0 by feature, or nothing.
    pub(crate) fn new(problem: &'a Problem<'a>, rules: &'a Rules, svm: &SvmSettings, penalty: &[f64]) -> Self {
        let dual = BoxDual::new(problem.labels(), problem.weights(), svm);
        let sum = |u: usize| rules.unit(u).iter().map(|&j| penalty.get(j).copied().unwrap_or(0.0)).sum();
        let rows = match rules.shape() {
            Shape::Free => Vec::new(),
            Shape::Size(most) => {
                vec![Row { coefficients: (0..rules.p()).map(|u| (u, 1.0)).collect(), upper: most as f64 }]
            }
            Shape::General => rows_over_units(rules),
        };
        let square = |u: usize| rules.unit(u).iter().map(|&j| problem.design().squared_norm(j)).sum::<f64>();
        Self {
            problem,
            rules,
            dual,
            penalty: (0..rules.n_units()).map(sum).collect(),
            rows,
            size_only: rules.is_sort(),
            svm: svm.clone(),
            norms: (0..rules.n_units()).map(|u| square(u).sqrt()).collect(),
        }
    }

    /// Whether some unit has a price.
    pub(crate) fn is_priced(&self) -> bool {
        self.penalty.iter().any(|l| *l > 0.0)
    }

    fn design(&self) -> &'a dyn Design {
        self.problem.design()
    }

    /// Moves beta into its box and onto the equality of a free bias.
    pub(crate) fn make_feasible(&self, beta: &mut [f64]) {
        make_feasible(&self.dual, beta);
    }

    /// lambda of a unit.
    pub(crate) fn penalty(&self, unit: usize) -> f64 {
        self.penalty[unit]
    }

    /// 1/2 |c_u|^2 - lambda_u at beta.
    pub(crate) fn gain(&self, unit: usize, beta: &[f64]) -> f64 {
        let c = |&j: &usize| self.design().dot_column(j, beta);
        self.rules.unit(unit).iter().map(c).map(|c| 0.5 * c * c).sum::<f64>() - self.penalty[unit]
    }

    /// The part of the dual objective without features, at a feasible beta.
    pub(crate) fn constant(&self, beta: &[f64]) -> f64 {
        let sum: f64 = beta.iter().sum();
        let part = |i: usize| self.dual.y[i] * beta[i] - 0.5 * self.dual.ridge[i] * beta[i] * beta[i];
        (0..beta.len()).map(part).sum::<f64>() - 0.5 * self.dual.bias_square() * sum * sum
    }

    /// The best multiple of "alpha equal within each class", for the units that are in and the largest gains of the others.
    pub(crate) fn cold(&self) -> Warm {
        let n = self.dual.len();
        let mut total = [0.0; 2];
        for i in 0..n {
            total[usize::from(self.dual.y[i] > 0.0)] += self.dual.cost[i];
        }
        let least = total[0].min(total[1]);
        let beta: Vec<f64> = (0..n)
            .map(|i| self.dual.y[i] * self.dual.cost[i] * least / total[usize::from(self.dual.y[i] > 0.0)])
            .collect();
        let size = self.rules.most_features();
        let mut squares: Vec<f64> = (0..self.rules.p())
            .map(|j| {
                let c = self.design().dot_column(j, &beta);
                c * c
            })
            .collect();
        squares.sort_unstable_by(|a, b| b.total_cmp(a));
        let linear: f64 = beta.iter().map(|b| b.abs()).sum();
        let ridge: f64 = beta.iter().zip(&self.dual.ridge).map(|(b, r)| r * b * b).sum();
        let curve: f64 = squares.iter().take(size).sum::<f64>() + ridge;
        let most = if self.dual.loss == Loss::Hinge { 1.0 } else { f64::INFINITY };
        let length = (linear / curve.max(f64::MIN_POSITIVE)).min(most).min(1e6);
        Warm {
            beta: beta.iter().map(|b| b * length).collect(),
            bias: 0.0,
            shares: Vec::new(),
            tau: vec![0.0; self.rows.len()],
            margins: vec![1.0; n],
        }
    }

    /// The bound of the node where the units `inside` are chosen, the units `free` are undecided (both ascending) and all
    /// others are out. Without free units, also the objective of the one subset left.
    pub(crate) fn solve(
        &self,
        inside: &[usize],
        free: &[usize],
        warm: &Warm,
        decide: &Decide,
        stop: &mut dyn FnMut() -> Option<Status>,
    ) -> Answer {
        let node = Node::new(self, inside, free);
        let mut warm = warm.clone();
        warm.shares.retain(|s| free.binary_search(&s.0).is_ok());
        let mut looked = node.look(&warm);
        let mut reach = Reach::new(looked.upper);
        let (mut samples, mut units) = node.choose(&warm, &looked, reach);
        let mut rounds = 0;
        let mut best = looked.lower;
        let mut previous = f64::INFINITY;
        for widening in 0.. {
            node.snap(&mut warm, &samples, reach);
            let (restricted, start) = node.restrict(&warm, &samples, &units, reach);
            let gap = (looked.upper - looked.lower).max(0.0);
            let missing = (decide.cutoff - looked.lower).clamp(START_LEAST * gap, gap);
            let pairs =
                (2 * samples.iter().filter(|s| **s).count() + 2 * units.iter().filter(|u| **u).count() + 1) as f64;
            let mu = (START * missing).max(1e-6 * looked.upper.abs()) / pairs;
            let goal = Goal { cutoff: decide.cutoff, share: 0.5 * decide.share, tolerance: 0.3 * decide.tolerance, mu };
            let (point, used) = restricted.solve(&start, &goal, stop);
            rounds += used;
            let before = warm.clone();
            node.take(&mut warm, &samples, &units, &point, reach);
            looked = node.look(&warm);
            reach = Reach(reach.0.min(Reach::new(looked.upper).0));
            if !looked.lower.is_finite() || !looked.upper.is_finite() {
                // Rules without an interior can drive the prices to infinity: what was known before stands.
                warm = before;
                self.make_feasible(&mut warm.beta);
                looked = node.look(&warm);
                break;
            }
            best = best.max(looked.lower);
            let gap = looked.upper - looked.lower;
            let met =
                Goal { share: decide.share, tolerance: decide.tolerance, ..goal }.reached(looked.lower, looked.upper);
            if met || widening >= WIDENINGS || stop().is_some() || !(gap.is_finite()) {
                break;
            }
            let worth = 0.02 * gap / (self.dual.len() + free.len()) as f64;
            let more = node.widen(&warm, &looked, &mut samples, &mut units, worth);
            if !more && gap > 0.5 * previous {
                break;
            }
            previous = gap;
        }
        let excess = node.excess(&looked, &warm);
        warm.margins = looked.margins;
        Answer { lower: best.max(looked.lower), upper: looked.upper, excess, priced: looked.lower, warm, rounds }
    }
}

/// How far alpha may reach at the optimum of a node: the cost, or less where no solution needs as much.
///
/// At the optimum `sum alpha = sum_in w^2 + sum_u |w_u|^2 / z_u + sum_i xi_i slope_i`, which is at most twice the value. So twice any
/// upper value is a box that costs nothing, and where C is large and the classes are apart it is far smaller than C.
#[derive(Debug, Clone, Copy)]
struct Reach(f64);

impl Reach {
    fn new(upper: f64) -> Self {
        Self(if upper.is_finite() { 2.0 * REACH_ROOM * upper.max(f64::MIN_POSITIVE) } else { f64::INFINITY })
    }

    fn of(self, cost: f64) -> f64 {
        cost.min(self.0)
    }
}

/// One node: its decisions and the rows that can still bind.
struct Node<'r, 'a> {
    relaxation: &'r Relaxation<'a>,
    inside: &'r [usize],
    /// Features of the units that are in.
    features: Vec<usize>,
    free: &'r [usize],
    /// Rows with what is in moved to the right side, over free units, each with its number.
    rows: Vec<(usize, Row)>,
    /// Units a row asks for: never left out of the restricted problem.
    asked: Vec<usize>,
    /// Free slots, when the size is the only rule.
    slots: usize,
}

/// A feasible point, counted in full.
struct Looked {
    lower: f64,
    upper: f64,
    /// y_i f_i
    margins: Vec<f64>,
    /// Gain of each free unit, by position.
    gains: Vec<f64>,
    /// What `lower` was lowered by for rounding.
    rounding: f64,
}

impl<'r, 'a> Node<'r, 'a> {
    fn new(relaxation: &'r Relaxation<'a>, inside: &'r [usize], free: &'r [usize]) -> Self {
        let rules = relaxation.rules;
        let features: Vec<usize> = inside.iter().flat_map(|&u| rules.unit(u).iter().copied()).collect();
        let (mut rows, mut asked) = (Vec::new(), Vec::new());
        if !relaxation.size_only && !free.is_empty() {
            for (at, row) in relaxation.rows.iter().enumerate() {
                let (mut upper, mut most, mut left) = (row.upper, 0.0, Vec::new());
                for &(u, a) in &row.coefficients {
                    if free.binary_search(&u).is_ok() {
                        left.push((u, a));
                        most += a.max(0.0);
                    } else if inside.binary_search(&u).is_ok() {
                        upper -= a;
                    }
                }
                // A row that can never bind by more than rounding may stay out: fewer rows make a lower bound.
                if most > upper + 1e-12 * most.max(1.0) {
                    asked.extend(left.iter().filter(|f| f.1 < 0.0).map(|f| f.0));
                    rows.push((at, Row { coefficients: left, upper }));
                }
            }
            asked.sort_unstable();
            asked.dedup();
        }
        let slots = rules.most_features().saturating_sub(features.len()).min(free.len());
        if relaxation.size_only && slots < free.len() {
            rows.push((0, Row { coefficients: free.iter().map(|&u| (u, 1.0)).collect(), upper: slots as f64 }));
        }
        Self { relaxation, inside, features, free, rows, asked, slots }
    }

    fn dual(&self) -> &BoxDual {
        &self.relaxation.dual
    }

    fn design(&self) -> &'a dyn Design {
        self.relaxation.design()
    }

    /// Both values at the point, nothing left out.
    fn look(&self, warm: &Warm) -> Looked {
        let (relaxation, dual, design) = (self.relaxation, self.dual(), self.design());
        let n = dual.len();
        let beta = &warm.beta;
        let mut scores = vec![0.0; n];
        let (mut held, mut norm) = (0.0, 0.0);
        for &j in &self.features {
            let c = design.dot_column(j, beta);
            design.add_column(j, c, &mut scores);
            held += 0.5 * c * c;
        }
        norm += held;
        let prices: f64 = self.inside.iter().map(|&u| relaxation.penalty[u]).sum();
        let mut shared = 0.0;
        for &(u, z) in &warm.shares {
            for &j in relaxation.rules.unit(u) {
                let c = design.dot_column(j, beta);
                design.add_column(j, z * c, &mut scores);
                norm += 0.5 * z * c * c;
            }
            shared += z * relaxation.penalty[u];
        }
        let offset = match dual.bias {
            Bias::Free if self.free.is_empty() => best_bias(dual, &scores),
            Bias::Free => warm.bias,
            Bias::Penalised(_) => dual.bias_square() * beta.iter().sum::<f64>(),
            Bias::None => 0.0,
        };
        if let Bias::Penalised(s) = dual.bias {
            norm += 0.5 * (offset / s) * (offset / s);
        }
        let upper = norm + prices + shared + total_loss(dual, &scores, offset);
        let gains: Vec<f64> = self.free.iter().map(|&u| relaxation.gain(u, beta)).collect();
        let over = self.over(&gains, warm);
        let rounding = self.rounding(warm, offset, held, &gains, &over);
        let lower = self.bound(self.still(warm), held, &over, self.slots) - rounding;
        let margins = (0..n).map(|i| dual.y[i] * (scores[i] + offset)).collect();
        Looked { lower, upper, margins, gains, rounding }
    }

    /// What rounding may have added to the bound at this point.
    ///
    /// A sum of n products is off by at most `n eps |beta| |x_j|` (Higham 2002, eq. (3.5) with Cauchy-Schwarz), and so is each
    /// score c; a half square by that times |c|. What `sum beta` lacks to 0 counts with the bias.
    fn rounding(&self, warm: &Warm, offset: f64, held: f64, gains: &[f64], over: &[f64]) -> f64 {
        let (relaxation, dual) = (self.relaxation, self.dual());
        let share = f64::EPSILON * (8.0 + dual.len() as f64);
        let absolute: f64 = warm.beta.iter().map(|b| b.abs()).sum();
        let length = share * warm.beta.iter().map(|b| b * b).sum::<f64>().sqrt();
        let half_square = |u: usize, gain: f64| {
            let (off, square) = (length * relaxation.norms[u], 2.0 * (gain + relaxation.penalty[u]).max(0.0));
            off * (square.sqrt() + off)
        };
        let norm = self.inside.iter().map(|&u| relaxation.norms[u].powi(2)).sum::<f64>().sqrt();
        let inside = length * norm * ((2.0 * held).sqrt() + length * norm);
        let free = self.free.iter().zip(gains).zip(over).map(|((&u, &gain), over)| {
            let off = half_square(u, gain);
            (if *over > -off { off } else { 0.0 }, f64::EPSILON * (gain.abs() + relaxation.penalty[u]))
        });
        let free = if relaxation.size_only {
            free.fold(0.0, |most: f64, (off, sum)| most.max(off + sum)) * self.slots as f64
        } else {
            free.map(|(off, sum)| off + sum).sum()
        };
        let unbalanced = match dual.bias {
            Bias::Free => warm.beta.iter().sum::<f64>().abs() * (1.0 + 2.0 * offset.abs()),
            Bias::Penalised(s) => share * s * s * absolute * absolute,
            Bias::None => 0.0,
        };
        share * absolute + 8.0 * f64::EPSILON * held + inside + free + unbalanced
    }

    /// The part of the bound without scores: of beta, the prices of what is in, and the rows.
    fn still(&self, warm: &Warm) -> f64 {
        let relaxation = self.relaxation;
        let prices: f64 = self.inside.iter().map(|&u| relaxation.penalty[u]).sum();
        let rows: f64 =
            if relaxation.size_only { 0.0 } else { self.rows.iter().map(|(at, row)| row.upper * warm.tau[*at]).sum() };
        relaxation.constant(&warm.beta) + prices - rows
    }

    /// The bound: `held` are the half squares of the features that are in, `over` what free units gain over their prices. With a
    /// size alone the largest `slots` count, which are never more than the size's own price would count.
    fn bound(&self, still: f64, held: f64, over: &[f64], slots: usize) -> f64 {
        let free: f64 = if self.relaxation.size_only {
            largest(over, slots).iter().sum()
        } else {
            over.iter().map(|e| e.max(0.0)).sum()
        };
        still - held - free
    }

    /// Gain less the rows' prices, by position in `free`; with a size alone the gain itself.
    fn over(&self, gains: &[f64], warm: &Warm) -> Vec<f64> {
        let mut over = gains.to_vec();
        if self.relaxation.size_only {
            return over;
        }
        for (at, row) in &self.rows {
            for (u, a) in &row.coefficients {
                over[self.free.binary_search(u).expect("the row lists free units")] -= a * warm.tau[*at];
            }
        }
        over
    }

    /// See [`Answer::excess`].
    fn excess(&self, looked: &Looked, warm: &Warm) -> Vec<f64> {
        if !self.relaxation.size_only {
            return self.over(&looked.gains, warm);
        }
        let chosen = largest(&looked.gains, self.slots + 1);
        let first_out = chosen.get(self.slots).copied().unwrap_or(0.0).max(0.0);
        let last_in =
            if self.slots == 0 { f64::INFINITY } else { chosen.get(self.slots - 1).copied().unwrap_or(0.0).max(0.0) };
        let excess = |&g: &f64| if g > first_out && g >= last_in { g - first_out } else { (g - last_in).min(0.0) };
        looked.gains.iter().map(excess).collect()
    }

    /// Samples and free units worth having: those the warm point calls undecided, and the nearest of the others.
    fn choose(&self, warm: &Warm, looked: &Looked, reach: Reach) -> (Vec<bool>, Vec<bool>) {
        let dual = self.dual();
        let n = dual.len();
        let mut undecided = 0;
        let mut order: Vec<(f64, usize)> = Vec::new();
        for i in (0..n).filter(|&i| dual.cost[i] > 0.0) {
            let (alpha, distance) = (dual.y[i] * warm.beta[i], 1.0 - warm.margins[i]);
            let high = dual.loss == Loss::Hinge && alpha >= dual.cost[i] * (1.0 - NEAR);
            let settled = if high { distance > 0.0 } else { alpha <= reach.of(dual.cost[i]) * NEAR && distance < 0.0 };
            undecided += usize::from(!settled);
            order.push((if settled { distance.abs() } else { 0.0 }, i));
        }
        let wanted = (3 * undecided / 2 + 32).min(order.len());
        if wanted < order.len() {
            order.select_nth_unstable_by(wanted, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        }
        let mut samples = vec![false; n];
        order[..wanted].iter().for_each(|o| samples[o.1] = true);

        let mut units = vec![false; self.free.len()];
        for &(u, _) in &warm.shares {
            units[self.free.binary_search(&u).expect("shares are of free units")] = true;
        }
        for u in &self.asked {
            units[self.free.binary_search(u).expect("asked for units are free")] = true;
        }
        let mut order: Vec<usize> = (0..self.free.len()).collect();
        let over = self.over(&looked.gains, warm);
        let open = self.slots.min(over.iter().filter(|o| **o > 0.0).count());
        let wanted = (warm.shares.len() * 9 / 8 + 4).max(open + 8).min(order.len());
        if wanted < order.len() {
            order.select_nth_unstable_by(wanted, |&a, &b| over[b].total_cmp(&over[a]).then(a.cmp(&b)));
        }
        order[..wanted].iter().for_each(|&at| units[at] = true);
        (samples, units)
    }

    /// Puts the samples left out on the bound they are next to.
    fn snap(&self, warm: &mut Warm, samples: &[bool], reach: Reach) {
        let dual = self.dual();
        for i in (0..samples.len()).filter(|&i| !samples[i]) {
            if warm.beta[i].abs() <= NEAR * reach.of(dual.cost[i]) {
                warm.beta[i] = 0.0;
            } else if dual.loss == Loss::Hinge && warm.beta[i].abs() >= (1.0 - NEAR) * dual.cost[i] {
                warm.beta[i] = dual.y[i] * dual.cost[i];
            }
        }
    }

    /// Adds samples and units whose part in the gap is at least `worth`. Returns whether there were any.
    fn widen(&self, warm: &Warm, looked: &Looked, samples: &mut [bool], units: &mut [bool], worth: f64) -> bool {
        let dual = self.dual();
        let mut more = false;
        for i in 0..dual.len() {
            if samples[i] || dual.cost[i] == 0.0 {
                continue;
            }
            // The hinge's part in the gap: C max(0, 1 - margin) - alpha (1 - margin).
            let (alpha, distance) = (dual.y[i] * warm.beta[i], 1.0 - looked.margins[i]);
            if dual.cost[i] * distance.max(0.0) - alpha * distance >= worth {
                samples[i] = true;
                more = true;
            }
        }
        if self.relaxation.size_only {
            let held = (0..units.len()).filter(|&at| units[at]).map(|at| looked.gains[at]).collect::<Vec<_>>();
            let limit = largest(&held, self.slots).last().copied().unwrap_or(0.0).max(0.0);
            let mut order: Vec<usize> =
                (0..units.len()).filter(|&at| !units[at] && looked.gains[at] > limit + worth).collect();
            let most = (units.iter().filter(|u| **u).count() + 16).min(order.len());
            if most < order.len() {
                order
                    .select_nth_unstable_by(most, |&a, &b| looked.gains[b].total_cmp(&looked.gains[a]).then(a.cmp(&b)));
            }
            more |= most > 0;
            order[..most].iter().for_each(|&at| units[at] = true);
        } else {
            for at in 0..units.len() {
                if !units[at] && looked.gains[at] > worth {
                    units[at] = true;
                    more = true;
                }
            }
        }
        more
    }

    /// The restricted problem and the warm point inside it.
    fn restrict(&self, warm: &Warm, samples: &[bool], units: &[bool], reach: Reach) -> (Restricted, Point) {
        let (relaxation, dual, design) = (self.relaxation, self.dual(), self.design());
        let chosen: Vec<usize> = (0..samples.len()).filter(|&i| samples[i]).collect();
        let mut fixed = warm.beta.clone();
        for &i in &chosen {
            fixed[i] = 0.0;
        }
        let penalised = match dual.bias {
            Bias::Penalised(s) => Some(s),
            Bias::Free | Bias::None => None,
        };
        let mut columns: Vec<Option<usize>> = penalised.iter().map(|_| None).collect();
        columns.extend(self.features.iter().map(|&j| Some(j)));
        let n_in = columns.len();
        let (mut unit_columns, mut z, mut position) = (Vec::new(), Vec::new(), vec![usize::MAX; self.free.len()]);
        let count = units.iter().filter(|u| **u).count();
        let share = |u: usize| match warm.shares.binary_search_by_key(&u, |s| s.0) {
            Ok(at) => warm.shares[at].1,
            Err(_) if warm.shares.is_empty() => (self.slots as f64 / count as f64).min(0.9),
            Err(_) => 0.0,
        };
        for at in (0..units.len()).filter(|&at| units[at]) {
            let u = self.free[at];
            position[at] = unit_columns.len();
            let first = columns.len();
            columns.extend(relaxation.rules.unit(u).iter().map(|&j| Some(j)));
            unit_columns.push(UnitColumns { first, last: columns.len(), penalty: relaxation.penalty[u] });
            z.push(share(u));
        }
        let mut base = vec![0.0; columns.len()];
        let mut full = vec![0.0; dual.len()];
        let block = Block::new(chosen.len(), columns.len(), |k, out| {
            let Some(j) = columns[k] else {
                let s = penalised.unwrap_or(0.0);
                base[k] = s * fixed.iter().sum::<f64>();
                out.iter_mut().zip(&chosen).for_each(|(out, &i)| *out = dual.y[i] * s);
                return;
            };
            base[k] = design.dot_column(j, &fixed);
            if let Some(column) = design.dense_column(j) {
                out.iter_mut().zip(&chosen).for_each(|(out, &i)| *out = dual.y[i] * column[i]);
            } else {
                full.fill(0.0);
                design.add_column(j, 1.0, &mut full);
                out.iter_mut().zip(&chosen).for_each(|(out, &i)| *out = dual.y[i] * full[i]);
            }
        });
        let ridge_part = |i: usize| dual.y[i] * fixed[i] - 0.5 * dual.ridge[i] * fixed[i] * fixed[i];
        let constant = (0..dual.len()).map(ridge_part).sum::<f64>()
            + self.inside.iter().map(|&u| relaxation.penalty[u]).sum::<f64>();
        let (mut rows, mut tau) = (Vec::new(), Vec::new());
        for (at, row) in &self.rows {
            let coefficients: Vec<(usize, f64)> = row
                .coefficients
                .iter()
                .filter_map(|&(u, a)| {
                    let at = position[self.free.binary_search(&u).expect("the row lists free units")];
                    (at != usize::MAX).then_some((at, a))
                })
                .collect();
            if !coefficients.is_empty() {
                rows.push(Row { coefficients, upper: row.upper });
                tau.push(warm.tau[*at]);
            }
        }
        let take = |values: &[f64]| chosen.iter().map(|&i| values[i]).collect::<Vec<f64>>();
        let y = take(&dual.y);
        let alpha = chosen.iter().map(|&i| dual.y[i] * warm.beta[i]).collect();
        let cost = match dual.loss {
            Loss::Hinge => chosen.iter().map(|&i| reach.of(dual.cost[i])).collect(),
            Loss::SquaredHinge => vec![f64::INFINITY; chosen.len()],
        };
        let balance = (dual.bias == Bias::Free).then(|| -fixed.iter().sum::<f64>());
        let restricted = Restricted {
            z: block,
            y,
            cost,
            ridge: take(&dual.ridge),
            base,
            constant,
            balance,
            reach: reach.0,
            n_in,
            units: unit_columns,
            rows,
        };
        (restricted, Point { alpha, bias: warm.bias, z, tau })
    }

    /// Puts the restricted problem's point back, feasible.
    fn take(&self, warm: &mut Warm, samples: &[bool], units: &[bool], point: &Point, reach: Reach) {
        let dual = self.dual();
        let chosen = (0..samples.len()).filter(|&i| samples[i]);
        for (i, alpha) in chosen.zip(&point.alpha) {
            let cost = dual.cost[i];
            // What the method could not bring onto its bound belongs there.
            let alpha = if *alpha < 1e-9 * reach.of(cost) {
                0.0
            } else if dual.loss == Loss::Hinge && *alpha > cost * (1.0 - 1e-9) {
                cost
            } else {
                *alpha
            };
            warm.beta[i] = dual.y[i] * alpha;
        }
        make_feasible(dual, &mut warm.beta);
        warm.bias = point.bias;
        let here: Vec<usize> = (0..units.len()).filter(|&at| units[at]).map(|at| self.free[at]).collect();
        warm.shares = here.iter().copied().zip(point.z.iter().copied()).filter(|s| s.1 > SMALL).collect();
        warm.tau.fill(0.0);
        let mut tau = point.tau.iter();
        for (at, row) in &self.rows {
            if row.coefficients.iter().any(|(u, _)| here.binary_search(u).is_ok()) {
                warm.tau[*at] = tau.next().copied().unwrap_or(0.0);
            }
        }
    }
}

/// The rules' rows over units, but for those on one unit: these are decisions, which the state holds.
fn rows_over_units(rules: &Rules) -> Vec<Row> {
    let mut rows = Vec::new();
    for row in rules.rows() {
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
        }
    }
    rows
}

/// The positive ones among the `count` largest values, falling.
fn largest(values: &[f64], count: usize) -> Vec<f64> {
    let mut values: Vec<f64> = values.iter().copied().filter(|v| *v > 0.0).collect();
    let count = count.min(values.len());
    if count == 0 {
        return Vec::new();
    }
    if count < values.len() {
        values.select_nth_unstable_by(count - 1, |a, b| b.total_cmp(a));
    }
    values.truncate(count);
    values.sort_unstable_by(|a, b| b.total_cmp(a));
    values
}

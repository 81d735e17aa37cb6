//! Small problems that are hard on proofs: data of every scale, ties, constants, rules that are
//! tight, cyclic or odd.

use fewest::{Bias, DenseDesign, Design, Loss, Problem, RuleList, SvmSettings};

use crate::{RandomProblem, Rng, random_rules};

/// Data of a hard case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HardData {
    /// Standard normal columns.
    Plain,
    /// All columns times one power of 10 from 1e-6 to 1e6.
    Scaled,
    /// Each column times its own power of 10.
    Mixed,
    /// Values of a file: different scales, means far from 0.
    Raw,
    /// Few different values, equal and opposite columns.
    Ties,
    /// Small integers, one column constant, one of zeros.
    Integer,
}

/// Rules of a hard case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HardRules {
    /// A size, must-in and must-out.
    Size,
    /// A budget under which all features cost the same.
    UnitCosts,
    /// A budget that is the sum of some costs, some of which are 0.
    TightBudget,
    /// Groups over all features.
    Groups,
    /// Cycles of implications.
    Cycles,
    /// Must-in, at-least groups and a size that leave few subsets.
    NearContradiction,
    /// Every kind with some probability.
    Random,
}

const DATA: [HardData; 6] =
    [HardData::Plain, HardData::Scaled, HardData::Mixed, HardData::Raw, HardData::Ties, HardData::Integer];
const RULES: [HardRules; 7] = [
    HardRules::Size,
    HardRules::UnitCosts,
    HardRules::TightBudget,
    HardRules::Groups,
    HardRules::Cycles,
    HardRules::NearContradiction,
    HardRules::Random,
];

/// One case; the same seed draws the same.
#[derive(Debug, Clone)]
pub struct HardCase {
    /// The seed.
    pub seed: u64,
    /// Kind of its data.
    pub data: HardData,
    /// Kind of its rules.
    pub kind: HardRules,
    /// The matrix, n samples by p features.
    pub design: DenseDesign<'static>,
    /// Labels, -1 or +1.
    pub labels: Vec<f64>,
    /// Sample weights, some of them 0.
    pub weights: Vec<f64>,
    /// The rules, which may contradict each other.
    pub rules: RuleList,
    /// C, loss and bias.
    pub svm: SvmSettings,
    /// Price of each feature, or none.
    pub penalty: Vec<f64>,
    /// How many best subsets are asked for.
    pub solutions: usize,
}

impl HardCase {
    /// The case of this seed.
    pub fn draw(seed: u64) -> Self {
        let rng = &mut Rng::new(seed.wrapping_mul(0x2545_F491_4F6C_DD1D));
        let (data, kind) = (DATA[rng.below(DATA.len())], RULES[rng.below(RULES.len())]);
        let (n, p) = (6 + rng.below(30), 2 + rng.below(5));
        let noise = [0.0, 0.1, 0.3][rng.below(3)];
        let (plain, labels) = RandomProblem { n, p, density: 0.9, noise, seed: rng.word() }.draw();
        let columns: Vec<Vec<f64>> = (0..p).map(|j| plain.column(j).to_vec()).collect();
        let columns = spoil(columns, data, rng);
        let design = DenseDesign::new(n, p, columns.concat()).expect("n p values");
        let cost = 10f64.powf(rng.range(-3.0, 5.0));
        let svm = SvmSettings {
            cost: if rng.chance(0.5) { cost } else { 10f64.powi(rng.below(9) as i32 - 3) },
            loss: if rng.chance(0.6) { Loss::Hinge } else { Loss::SquaredHinge },
            bias: [Bias::Free, Bias::Free, Bias::Penalised(1.5), Bias::None][rng.below(4)],
            ..SvmSettings::default()
        };
        let mut weights: Vec<f64> = labels.iter().map(|_| [0.0, 0.5, 1.0, 1.0, 1.0, 1.0, 2.0][rng.below(7)]).collect();
        for class in [-1.0, 1.0] {
            // Both classes need a sample that counts.
            let first = labels.iter().position(|y| *y == class).expect("both classes are drawn");
            weights[first] = 1.0;
        }
        let price = svm.cost * n as f64 * rng.range(0.001, 0.1);
        let penalty = match rng.below(4) {
            0 => vec![price; p],
            1 => (0..p).map(|_| price * rng.below(4) as f64).collect(),
            _ => Vec::new(),
        };
        let solutions = [1, 1, 1, 2, 3, 5][rng.below(6)];
        let rules = draw_rules(kind, p, rng);
        Self { seed, data, kind, design, labels, weights, rules, svm, penalty, solutions }
    }

    /// Number of features.
    pub fn features(&self) -> usize {
        self.design.n_features()
    }

    /// The two-class problem.
    pub fn problem(&self) -> Problem<'_> {
        Problem::new(&self.design, &self.labels, Some(&self.weights)).expect("a valid problem")
    }
}

fn spoil(mut columns: Vec<Vec<f64>>, data: HardData, rng: &mut Rng) -> Vec<Vec<f64>> {
    let p = columns.len();
    let scale = |rng: &mut Rng| 10f64.powi(rng.below(13) as i32 - 6);
    match data {
        HardData::Plain => {}
        HardData::Scaled => {
            let scale = scale(rng);
            columns.iter_mut().flatten().for_each(|x| *x *= scale);
        }
        HardData::Mixed => {
            for column in &mut columns {
                let scale = scale(rng);
                for x in column {
                    *x *= scale;
                }
            }
        }
        HardData::Raw => {
            for column in &mut columns {
                let (scale, mean) = (10f64.powi(rng.below(5) as i32 - 1), rng.range(0.0, 30.0));
                for x in column {
                    *x = scale * (*x + mean);
                }
            }
        }
        HardData::Ties => {
            columns.iter_mut().flatten().for_each(|x| *x = x.round().clamp(-1.0, 1.0));
            let (from, to) = (rng.below(p), rng.below(p));
            let sign = if rng.chance(0.5) { 1.0 } else { -1.0 };
            columns[to] = columns[from].iter().map(|x| sign * x).collect();
        }
        HardData::Integer => {
            columns.iter_mut().flatten().for_each(|x| *x = (3.0 * *x).round());
            let (constant, zero) = (rng.below(p), rng.below(p));
            columns[constant].fill(1.0 + rng.below(5) as f64);
            if rng.chance(0.5) {
                columns[zero].fill(0.0);
            }
        }
    }
    columns
}

fn draw_rules(kind: HardRules, p: usize, rng: &mut Rng) -> RuleList {
    let mut list = RuleList::default();
    let all: Vec<usize> = (0..p).collect();
    match kind {
        HardRules::Size => {
            list.max_features = Some(1 + rng.below(p));
            list.require.extend((rng.chance(0.2)).then(|| rng.below(p)));
            list.forbid.extend((rng.chance(0.2)).then(|| rng.below(p)));
        }
        HardRules::UnitCosts => {
            let cost = [1.0, 0.1, 1e-7, 3e8, 1.0 / 3.0][rng.below(5)];
            list.costs = vec![cost; p];
            list.budget = Some(cost * rng.below(p + 1) as f64);
        }
        HardRules::TightBudget => {
            let unit = [0.1, 1.0, 1e-6, 7e5][rng.below(4)];
            list.costs = (0..p).map(|_| unit * rng.below(4) as f64).collect();
            let count = rng.below(p + 1);
            let chosen = rng.sample(p, count);
            // Summed in another order than the rules sum.
            list.budget = Some(chosen.iter().rev().map(|&j| list.costs[j]).sum());
        }
        HardRules::Groups => {
            list.at_most.push((1 + rng.below(p), all.clone()));
            if rng.chance(0.5) {
                list.at_least.push((rng.below(2), all));
            }
            if rng.chance(0.3) {
                list.max_features = Some(1 + rng.below(p));
            }
        }
        HardRules::Cycles => {
            let length = 1 + rng.below(p.min(4));
            let cycle = rng.sample(p, length);
            list.implies = (0..cycle.len()).map(|k| (cycle[k], cycle[(k + 1) % cycle.len()])).collect();
            list.implies.extend(rng.chance(0.5).then(|| (rng.below(p), rng.below(p))));
            if rng.chance(0.6) {
                list.max_features = Some(1 + rng.below(p));
            }
        }
        HardRules::NearContradiction => {
            list.max_features = Some(1 + rng.below(p.min(3)));
            list.require.push(rng.below(p));
            let size = 1 + rng.below(p);
            list.at_least.push((1, rng.sample(p, size)));
            list.costs = (0..p).map(|_| 1.0 + rng.below(3) as f64).collect();
            list.budget = Some(1.0 + rng.below(5) as f64);
        }
        HardRules::Random => list = random_rules(rng, p),
    }
    list
}

//! Tiny problems, their values by slow and plain means, and an encoder of proof files that follows
//! docs/formats/proof.md, not the checker.

#![allow(dead_code, unreachable_pub, reason = "each test file uses a part")]

pub mod alignment;
pub mod encoder;
pub mod exact;
pub mod prover;
pub mod truth;

use std::ops::ControlFlow;

use fewest_verify::{Data, Error, Proof, Verdict};

/// SplitMix64.
pub struct Rng(pub u64);

impl Rng {
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.word() % end as u64) as usize
    }

    pub fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.word() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn chance(&mut self, probability: f64) -> bool {
        self.range(0.0, 1.0) < probability
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bias {
    Free,
    Penalised(f64),
    None,
}

/// The rules by definition.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    pub max_features: Option<usize>,
    pub require: Vec<usize>,
    pub forbid: Vec<usize>,
    pub implies: Vec<(usize, usize)>,
    pub at_most: Vec<(usize, Vec<usize>)>,
    pub at_least: Vec<(usize, Vec<usize>)>,
    pub together: Vec<Vec<usize>>,
    pub budget: Option<f64>,
    pub costs: Vec<f64>,
    /// Bounds on weights: feature, lower, upper; infinite for none. They forbid no subset.
    pub weights: Vec<(usize, f64, f64)>,
}

impl Rules {
    /// Whether the subset, a set of bits, is allowed.
    pub fn allow(&self, z: u32) -> bool {
        let is_in = |j: usize| z >> j & 1 == 1;
        let count = |group: &[usize]| (0..32).filter(|j| is_in(*j) && group.contains(j)).count();
        self.max_features.is_none_or(|k| z.count_ones() as usize <= k)
            && self.require.iter().all(|&j| is_in(j))
            && !self.forbid.iter().any(|&j| is_in(j))
            && self.implies.iter().all(|&(a, b)| !is_in(a) || is_in(b))
            && self.at_most.iter().all(|(m, group)| count(group) <= *m)
            && self.at_least.iter().all(|(m, group)| count(group) >= *m)
            && self.together.iter().all(|group| group.iter().all(|&j| is_in(j) == is_in(group[0])))
            && self.budget.is_none_or(|b| {
                (0..self.costs.len()).filter(|j| is_in(*j)).map(|j| self.costs[j]).sum::<f64>() <= b * (1.0 + 1e-9)
            })
    }

    /// Random rules of every kind, which may contradict each other.
    pub fn draw(rng: &mut Rng, p: usize) -> Self {
        let mut rules = Self::default();
        let group = |rng: &mut Rng| (0..=rng.below(p)).map(|_| rng.below(p)).collect::<Vec<usize>>();
        if rng.chance(0.5) {
            rules.max_features = Some(1 + rng.below(p));
        }
        if rng.chance(0.2) {
            rules.require = vec![rng.below(p)];
        }
        if rng.chance(0.2) {
            rules.forbid = vec![rng.below(p)];
        }
        if rng.chance(0.3) {
            rules.implies = (0..=rng.below(3)).map(|_| (rng.below(p), rng.below(p))).collect();
        }
        if rng.chance(0.3) {
            let members = if rng.chance(0.3) { (0..p).collect() } else { group(rng) };
            rules.at_most = vec![(rng.below(p), members)];
        }
        if rng.chance(0.3) {
            rules.at_least = vec![(rng.below(2), group(rng))];
        }
        if rng.chance(0.2) {
            rules.together = vec![group(rng)];
        }
        if rng.chance(0.3) {
            let end = |rng: &mut Rng| [0.0, 0.1, 1.0, f64::INFINITY][rng.below(4)];
            rules.weights = (0..=rng.below(p)).map(|_| (rng.below(p), -end(rng), end(rng))).collect();
        }
        if rng.chance(0.3) {
            rules.costs = (0..p).map(|_| 0.1 * rng.below(5) as f64).collect();
            rules.budget = Some(0.1 * rng.below(8) as f64);
        }
        rules
    }

    /// As JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "max_features": self.max_features, "require": self.require, "forbid": self.forbid,
            "implies": self.implies, "at_most": self.at_most, "at_least": self.at_least,
            "together": self.together, "budget": self.budget, "costs": self.costs, "weights": self.weights_json(),
        })
    }

    fn weights_json(&self) -> Vec<serde_json::Value> {
        // An infinite number is null in JSON: no bound.
        let one = |w: &(usize, f64, f64)| serde_json::json!({ "feature": w.0, "lower": w.1, "upper": w.2 });
        self.weights.iter().map(one).collect()
    }
}

/// A tiny problem.
#[derive(Debug, Clone)]
pub struct Problem {
    pub columns: Vec<Vec<f64>>,
    pub y: Vec<f64>,
    pub weights: Vec<f64>,
    pub cost: f64,
    /// Gain `l1` with these bounds; else `ridge`.
    pub l1: Option<Vec<f64>>,
    pub squared: bool,
    pub bias: Bias,
    pub penalty: Vec<f64>,
    pub rules: Rules,
}

impl Problem {
    /// A random one, of every loss, gain, bias and rule.
    pub fn draw(seed: u64) -> Self {
        let rng = &mut Rng(seed.wrapping_mul(0x2545_F491_4F6C_DD1D));
        let (n, l1) = (4 + rng.below(4), rng.chance(0.35));
        // The truth of gain `l1` tries every vertex.
        let p = 2 + rng.below(if l1 {
            2
        } else if seed.is_multiple_of(7) {
            5
        } else {
            3
        });
        let y: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let scale = [1.0, 1.0, 1.0, 1e-3, 1e3][rng.below(5)];
        let integers = rng.chance(0.2);
        let mut value = |i: usize, j: usize| {
            let x = rng.range(-2.0, 2.0) + if j == 0 { y[i] } else { 0.0 };
            scale * if integers { x.round() } else { x }
        };
        let columns: Vec<Vec<f64>> = (0..p).map(|j| (0..n).map(|i| value(i, j)).collect()).collect();
        let weights = (0..n).map(|i| if i < 2 { 1.0 } else { [0.0, 0.5, 1.0, 2.0][rng.below(4)] }).collect();
        let l1 = l1.then(|| (0..p).map(|_| [0.0, 0.3, 2.0, 50.0][rng.below(4)] / scale).collect());
        let cost = [0.1, 1.0, 30.0][rng.below(3)];
        Self {
            columns,
            weights,
            cost,
            squared: l1.is_none() && rng.chance(0.4),
            l1,
            bias: [Bias::Free, Bias::Penalised([0.5, 2.0][rng.below(2)]), Bias::None][rng.below(3)],
            penalty: if rng.chance(0.5) { (0..p).map(|_| cost * rng.range(0.0, 0.5)).collect() } else { Vec::new() },
            rules: if rng.chance(0.25) { Rules::default() } else { Rules::draw(rng, p) },
            y,
        }
    }

    pub fn n(&self) -> usize {
        self.y.len()
    }

    pub fn p(&self) -> usize {
        self.columns.len()
    }

    pub fn price(&self, j: usize) -> f64 {
        self.penalty.get(j).copied().unwrap_or(0.0)
    }

    /// How far below and above 0 the weight of a feature may be.
    pub fn range(&self, j: usize) -> [f64; 2] {
        let most = self.l1.as_ref().map_or(f64::INFINITY, |bounds| bounds[j]);
        let own = self.rules.weights.iter().filter(|w| w.0 == j);
        own.fold([most; 2], |[down, up], w| [down.min(-w.1), up.min(w.2)])
    }

    /// C_i.
    pub fn cost_of(&self, i: usize) -> f64 {
        self.cost * self.weights[i]
    }

    /// All allowed subsets.
    pub fn allowed(&self) -> Vec<u32> {
        (0..1u32 << self.p()).filter(|z| self.rules.allow(*z)).collect()
    }

    /// The header of its proofs.
    pub fn header(&self) -> serde_json::Value {
        let bias = match self.bias {
            Bias::Free => serde_json::json!("free"),
            Bias::None => serde_json::json!("none"),
            Bias::Penalised(s) => serde_json::json!({ "penalised": s }),
        };
        serde_json::json!({
            "format": "fewest-proof", "version": 1, "n": self.n(), "p": self.p(),
            "fingerprint": fewest_verify::fingerprint(&[self]).expect("valid data"),
            "gain": if self.l1.is_some() { "l1" } else { "ridge" },
            "loss": if self.squared { "squared-hinge" } else { "hinge" },
            "bias": bias, "cost": self.cost, "penalty": self.penalty,
            "weight_bounds": self.l1.clone().unwrap_or_default(), "rules": self.rules.json(),
            "made": { "method": "a test" },
        })
    }
}

impl Data for Problem {
    fn samples(&self) -> usize {
        self.n()
    }

    fn features(&self) -> usize {
        self.p()
    }

    fn labels(&self) -> &[f64] {
        &self.y
    }

    fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn each(&self, j: usize, f: &mut dyn FnMut(usize, f64)) {
        self.columns[j].iter().enumerate().for_each(|(i, x)| f(i, *x));
    }

    fn dense(&self, j: usize) -> Option<&[f64]> {
        // Both ways to a column are tested.
        j.is_multiple_of(2).then(|| &self.columns[j][..])
    }
}

/// Checks the bytes of a file.
pub fn check(bytes: &[u8], data: &dyn Data) -> Result<Verdict, Error> {
    check_all(bytes, &[data])
}

/// Checks a proof of several problems.
pub fn check_all(bytes: &[u8], all: &[&dyn Data]) -> Result<Verdict, Error> {
    Proof::open(bytes)?.check(all, 1 << 24, &mut |_| ControlFlow::Continue(()))
}

/// The features of a subset.
pub fn features(z: u32) -> Vec<usize> {
    (0..32).filter(|j| z >> j & 1 == 1).collect()
}

/// The subset of some features.
pub fn bits(features: &[usize]) -> u32 {
    features.iter().map(|j| 1 << j).sum()
}

/// What of a verdict is not true.
pub fn false_claim(problem: &Problem, verdict: &Verdict) -> Option<String> {
    let values = problem.allowed().into_iter().map(|z| {
        let truth = problem.value(z);
        let room = 1e-9 * truth.upper.abs() + 1e-300;
        (z, truth.lower - room, truth.upper + room)
    });
    untrue(&problem.rules, values, verdict)
}

/// What of a verdict is not true where each allowed subset has a value between these two.
pub fn untrue(rules: &Rules, values: impl Iterator<Item = (u32, f64, f64)>, verdict: &Verdict) -> Option<String> {
    if let Some(one) = verdict.listed.iter().find(|one| !rules.allow(bits(&one.features))) {
        return Some(format!("{:?} is forbidden", one.features));
    }
    for (z, lower, upper) in values {
        let listed = verdict.listed.iter().find(|one| bits(&one.features) == z);
        let (objective, bound) = listed.map_or((f64::INFINITY, verdict.rest), |one| (one.objective, one.bound));
        if bound > upper || objective < lower {
            return Some(format!(
                "{:?}: objective {objective}, bound {bound}, truth between {lower} and {upper}",
                features(z)
            ));
        }
    }
    None
}

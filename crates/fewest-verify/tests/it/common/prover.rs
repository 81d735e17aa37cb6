//! Random proofs of tiny problems: any tree is one, with bounds as good as its points are.

use std::collections::HashMap;

use super::encoder::{Point, Record};
use super::{Problem, Rng, features};

/// A proof, and what it shows by plain arithmetic over all subsets.
pub struct Proved {
    pub records: Vec<Record>,
    /// The bound of each subset that was alone in a part, and the smallest of all other parts.
    pub alone: HashMap<u32, f64>,
    pub rest: f64,
}

struct Node {
    id: u64,
    inside: u32,
    outside: u32,
    bounds: Option<Vec<f64>>,
    cap: f64,
}

/// A random proof that lists the `count` best subsets, with no claim on bounds yet.
pub fn prove(problem: &Problem, count: usize, effort: usize, rng: &mut Rng) -> Proved {
    let mut proved = Proved { records: Vec::new(), alone: HashMap::new(), rest: f64::INFINITY };
    let allowed = problem.allowed();
    let everything = (1u32 << problem.p()) - 1;
    let mut open = vec![Node { id: 0, inside: 0, outside: 0, bounds: problem.l1.clone(), cap: f64::INFINITY }];
    let (mut splits, mut last): (u64, Option<Point>) = (0, None);
    while let Some(mut node) = open.pop() {
        let within = |inside: u32, outside: u32| -> Vec<u32> {
            allowed.iter().copied().filter(|z| z & inside == inside && z & outside == 0).collect()
        };
        let own = Problem { l1: node.bounds.clone(), ..problem.clone() };
        let mut subsets = within(node.inside, node.outside);
        let mut point = |subsets: &[u32], rng: &mut Rng| match &last {
            Some(point) if rng.chance(0.2) => (None, own.alpha(point)),
            _ => {
                let point = own.ascend(subsets, effort, rng);
                last = Some(point.clone());
                (Some(point.clone()), own.alpha(&point))
            }
        };
        let free: Vec<usize> = features(everything & !node.inside & !node.outside);
        if !free.is_empty() && !subsets.is_empty() && rng.chance(0.3) {
            let (at, alpha) = point(&subsets, rng);
            let (mut inside, mut outside) = (Vec::new(), Vec::new());
            for &j in free.iter().take(1 + rng.below(2)) {
                let puts_in = rng.chance(0.5);
                let (with, without) = if puts_in { (0, 1 << j) } else { (1 << j, 0) };
                let part = within(node.inside | with, node.outside | without);
                if !part.is_empty() {
                    proved.count(own.bound(&alpha, &part).min(node.cap), &part, free.len() == 1);
                }
                if puts_in { inside.push(j) } else { outside.push(j) }
            }
            node.inside |= super::bits(&inside);
            node.outside |= super::bits(&outside);
            proved.records.push(Record::Fix { node: node.id, point: at, inside, outside });
            subsets = within(node.inside, node.outside);
        }
        let free: Vec<usize> = features(everything & !node.inside & !node.outside);
        if let (Some(bounds), false, true) = (&own.l1, subsets.is_empty(), rng.chance(0.5)) {
            let (at, alpha) = point(&subsets, rng);
            let j = rng.below(problem.p());
            let to = bounds[j] * rng.range(0.0, 1.0);
            node.cap = node.cap.min(own.bound_beyond(&alpha, &subsets, j, to));
            let mut tighter = bounds.clone();
            tighter[j] = to;
            node.bounds = Some(tighter);
            proved.records.push(Record::Tighten { node: node.id, point: at, bounds: vec![(j, to)] });
        }
        let own = Problem { l1: node.bounds.clone(), ..problem.clone() };
        if free.is_empty() || subsets.len() < 2 || rng.chance(0.2) {
            let point = own.ascend(&subsets, effort, rng);
            last = Some(point.clone());
            if !subsets.is_empty() {
                let bound = own.bound(&own.alpha(&point), &subsets).min(node.cap);
                proved.count(bound, &subsets, free.is_empty());
            }
            proved.records.push(Record::Close { node: node.id, point: Some(point) });
            continue;
        }
        let feature = free[rng.below(free.len())];
        proved.records.push(Record::Split { node: node.id, feature });
        for (child, with, without) in [(1, 1 << feature, 0), (2, 0, 1 << feature)] {
            let (inside, outside) = (node.inside | with, node.outside | without);
            open.push(Node { id: 2 * splits + child, inside, outside, bounds: node.bounds.clone(), cap: node.cap });
        }
        splits += 1;
    }
    let mut ranked: Vec<(u32, f64)> = allowed.iter().map(|&z| (z, problem.value(z).upper)).collect();
    ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
    for &(z, _) in ranked.iter().take(count) {
        let value = problem.value(z);
        let features = features(z);
        let weights = features.iter().map(|&j| value.w[j]).collect();
        let (objective, own) = (value.upper, f64::NEG_INFINITY);
        proved.records.push(Record::Subset { features, objective, own, weights, bias: value.b });
    }
    proved.records.push(Record::End { bound: f64::NEG_INFINITY, status: "optimal".to_owned() });
    proved
}

impl Proved {
    fn count(&mut self, bound: f64, subsets: &[u32], alone: bool) {
        if alone && subsets.len() == 1 {
            let held = self.alone.entry(subsets[0]).or_insert(f64::NEG_INFINITY);
            *held = held.max(bound);
        } else {
            self.rest = self.rest.min(bound);
        }
    }
}

impl Problem {
    /// The bound of the part where feature j is in and `|w_j|` is above `from`.
    fn bound_beyond(&self, alpha: &[f64], subsets: &[u32], j: usize, from: f64) -> f64 {
        let with: Vec<u32> = subsets.iter().copied().filter(|z| z >> j & 1 == 1).collect();
        let score: f64 = (0..self.n()).map(|i| alpha[i] * self.y[i] * self.columns[j][i]).sum();
        let [down, up] = self.range(j);
        let sides = [(-score, down), (score, up)];
        let ends = sides.into_iter().filter(|(_, to)| from < *to).flat_map(|(c, to)| [from, to].map(|w| w * (1.0 - c)));
        let gain = sides.into_iter().map(|(c, to)| to * (c - 1.0).max(0.0)).fold(0.0, f64::max);
        self.bound(alpha, &with) + gain + ends.fold(f64::INFINITY, f64::min)
    }
}

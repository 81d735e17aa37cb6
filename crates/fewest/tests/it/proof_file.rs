//! Proof files of `exact` by an own, slow reading of docs/formats/proof.md: a tiny decoder, every
//! allowed subset followed through the records, bounds in plain floating point.
//!
//! `FEWEST_PROOF_CASES` is the number of hard problems (default 160).

use std::collections::HashMap;
use std::ops::ControlFlow;

use fewest::method::exact::{ExactSettings, exact};
use fewest::{
    Bias, DenseDesign, Design, Event, Limits, Loss, Observer, Outcome, ProofSink, RuleList, Rules, Selection, Status,
    Subset, SvmSettings,
};
use fewest_testing::{HardCase, RandomProblem, allowed_subsets};
use rayon::prelude::*;
use serde_json::{Value, json};

/// Keeps the bytes of a proof.
#[derive(Default)]
struct Kept {
    bytes: Vec<u8>,
    complete: bool,
}

impl Observer for Kept {
    fn on(&mut self, _: &Event<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn proof(&mut self) -> Option<&mut dyn ProofSink> {
        Some(self)
    }
}

impl ProofSink for Kept {
    fn begin(&mut self) -> Value {
        assert!(self.bytes.is_empty(), "one proof");
        json!({ "by": "a test" })
    }

    fn resume(&mut self) {
        unreachable!("no state is handed out");
    }

    fn write(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
    }

    fn end(&mut self) {
        self.complete = true;
    }
}

/// Reads what docs/formats/proof.md says.
struct Reader<'b>(&'b [u8]);

impl Reader<'_> {
    fn byte(&mut self) -> u8 {
        let byte = self.0[0];
        self.0 = &self.0[1..];
        byte
    }

    fn integer(&mut self) -> u64 {
        let mut value = 0u64;
        for shift in (0..).step_by(7) {
            let byte = self.byte();
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        value
    }

    fn number(&mut self) -> f64 {
        let (number, rest) = self.0.split_first_chunk::<8>().unwrap();
        self.0 = rest;
        f64::from_le_bytes(*number)
    }

    fn integers(&mut self) -> Vec<u64> {
        (0..self.integer()).map(|_| self.integer()).collect()
    }

    fn numbers(&mut self) -> Vec<f64> {
        (0..self.integer()).map(|_| self.number()).collect()
    }

    fn ascending(&mut self) -> Vec<usize> {
        let mut sum = 0;
        self.integers().into_iter().map(|step| (sum, sum += step).0 + step).map(|value| value as usize).collect()
    }

    fn text(&mut self) -> String {
        let (text, rest) = {
            let n = self.integer() as usize;
            self.0.split_at(n)
        };
        self.0 = rest;
        String::from_utf8(text.to_vec()).unwrap()
    }
}

/// The problem, and where every allowed subset is.
struct Follow<'c> {
    seed: u64,
    design: &'c DenseDesign<'static>,
    labels: &'c [f64],
    weights: &'c [f64],
    svm: &'c SvmSettings,
    penalty: &'c [f64],
    rules: &'c Rules,
    /// Allowed subsets and the node that each is in; none once it is closed.
    subsets: Vec<(Subset, Option<u64>)>,
    /// What is proven of each.
    proven: HashMap<Subset, f64>,
    rows: Vec<(Vec<f64>, f64)>,
    point: Option<(Vec<f64>, Vec<f64>)>,
}

impl<'c> Follow<'c> {
    fn new(case: &'c HardCase, rules: &'c Rules) -> Self {
        let subsets = allowed_subsets(rules).into_iter().map(|s| (s, Some(0))).collect();
        Self {
            seed: case.seed,
            design: &case.design,
            labels: &case.labels,
            weights: &case.weights,
            svm: &case.svm,
            penalty: &case.penalty,
            rules,
            subsets,
            proven: HashMap::new(),
            rows: rows(rules.p(), rules.list()),
            point: None,
        }
    }

    fn cost(&self, i: usize) -> f64 {
        self.svm.cost * self.weights[i]
    }

    /// Reads a point, and checks that it is feasible.
    fn read_point(&mut self, reader: &mut Reader<'_>) {
        if reader.byte() == 0 {
            return assert!(self.point.is_some(), "no point before");
        }
        let zigzag = reader.integer();
        let exponent = (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
        let (samples, units) = (reader.ascending(), reader.integers());
        let (rows, prices) = (reader.ascending(), reader.numbers());
        assert_eq!((samples.len(), rows.len()), (units.len(), prices.len()));
        let (mut alpha, mut tau) = (vec![0.0; self.labels.len()], vec![0.0; self.rows.len()]);
        let mut sum = 0i128;
        for (&i, &k) in samples.iter().zip(&units) {
            assert!(k > 0 && k < 1 << 53);
            alpha[i] = k as f64 * (exponent as f64).exp2();
            sum += i128::from(k) * self.labels[i] as i128;
            assert!(if self.svm.loss == Loss::Hinge { alpha[i] <= self.cost(i) } else { self.cost(i) > 0.0 });
        }
        assert!(sum == 0 || self.svm.bias != Bias::Free, "the sum is {sum}");
        rows.iter().zip(prices).for_each(|(&row, price)| tau[row] = price);
        assert!(tau.iter().all(|t| *t >= 0.0));
        self.point = Some((alpha, tau));
    }

    /// The bound of a box, from its subsets: what all hold is in, what none holds is out.
    fn bound(&self, of: &[&Subset]) -> f64 {
        let (alpha, tau) = self.point.as_ref().expect("a point");
        let p = self.rules.p();
        let beta: Vec<f64> = alpha.iter().zip(self.labels).map(|(a, y)| a * y).collect();
        let mut bound: f64 = alpha.iter().sum();
        if self.svm.loss == Loss::SquaredHinge {
            let curve = |i: usize| if alpha[i] > 0.0 { alpha[i] * alpha[i] / (4.0 * self.cost(i)) } else { 0.0 };
            bound -= (0..alpha.len()).map(curve).sum::<f64>();
        }
        if let Bias::Penalised(s) = self.svm.bias {
            bound -= 0.5 * (s * beta.iter().sum::<f64>()).powi(2);
        }
        bound -= self.rows.iter().zip(tau).map(|(row, t)| row.1 * t).sum::<f64>();
        let value = |j: usize| {
            let lambda = self.penalty.get(j).copied().unwrap_or(0.0);
            let rows = self.rows.iter().zip(tau).map(|(row, t)| row.0[j] * t).sum::<f64>();
            lambda - 0.5 * self.design.dot_column(j, &beta).powi(2) + rows
        };
        let (mut free, mut held) = (Vec::new(), 0);
        for u in 0..self.rules.n_units() {
            let unit = self.rules.unit(u);
            let sum: f64 = unit.iter().map(|&j| value(j)).sum();
            let with = of.iter().filter(|s| s.contains(unit[0])).count();
            if with == of.len() {
                bound += sum;
                held += unit.len();
            } else if with > 0 {
                free.push(sum.min(0.0));
            }
        }
        free.sort_by(f64::total_cmp);
        let most = self.rules.list().max_features.unwrap_or(p).min(self.rules.most_features());
        bound + free.iter().take(most - held).sum::<f64>()
    }

    /// Closes the subsets of a node that this holds for.
    fn close(&mut self, node: u64, which: impl Fn(&Subset) -> bool) {
        let here: Vec<usize> =
            (0..self.subsets.len()).filter(|&k| self.subsets[k].1 == Some(node) && which(&self.subsets[k].0)).collect();
        if here.is_empty() {
            return;
        }
        let bound = self.bound(&here.iter().map(|&k| &self.subsets[k].0).collect::<Vec<_>>());
        for k in here {
            self.subsets[k].1 = None;
            self.proven.insert(self.subsets[k].0.clone(), bound);
        }
    }

    /// What the scores at a primal point are made of, times the costs: rounding is in proportion.
    fn sizes(&self, subset: &Subset, weights: &[f64], bias: f64) -> f64 {
        let mut sizes = vec![1.0 + bias.abs(); self.labels.len()];
        for (j, w) in subset.iter().zip(weights) {
            self.design.each_in_column(j, &mut |i, x| sizes[i] += (w * x).abs());
        }
        let squared = self.svm.loss == Loss::SquaredHinge;
        sizes.iter().enumerate().map(|(i, size)| self.cost(i) * if squared { size * size } else { *size }).sum()
    }

    /// The objective at a primal point.
    fn objective(&self, subset: &Subset, weights: &[f64], bias: f64) -> f64 {
        let mut scores = vec![bias; self.labels.len()];
        let mut value = 0.0;
        for (j, w) in subset.iter().zip(weights) {
            self.design.add_column(j, *w, &mut scores);
            value += 0.5 * w * w + self.penalty.get(j).unwrap_or(&0.0);
        }
        if let Bias::Penalised(s) = self.svm.bias {
            value += 0.5 * (bias / s) * (bias / s);
        }
        assert!(bias == 0.0 || self.svm.bias != Bias::None);
        for i in 0..scores.len() {
            let slack = (1.0 - self.labels[i] * scores[i]).max(0.0);
            value += self.cost(i) * if self.svm.loss == Loss::Hinge { slack } else { slack * slack };
        }
        value
    }

    /// Reads all records. Returns what the file claims: (subset, objective, own bound) and the
    /// bound of the rest.
    fn read(&mut self, reader: &mut Reader<'_>) -> (Vec<(Subset, f64, f64)>, f64, String) {
        let (mut splits, mut listed) = (0, Vec::new());
        loop {
            match reader.byte() {
                1 => {
                    let (node, feature) = (reader.integer(), reader.integer() as usize);
                    for (subset, at) in self.subsets.iter_mut().filter(|s| s.1 == Some(node)) {
                        *at = Some(2 * splits + if subset.contains(feature) { 1 } else { 2 });
                    }
                    splits += 1;
                }
                2 => {
                    let node = reader.integer();
                    self.read_point(reader);
                    self.close(node, |_| true);
                }
                3 => {
                    let node = reader.integer();
                    self.read_point(reader);
                    let (inside, out) = (reader.ascending(), reader.ascending());
                    // Each box by itself; a subset in several has the best of their bounds.
                    for (features, inside) in [(inside, true), (out, false)] {
                        for j in features {
                            self.close(node, |s| s.contains(j) != inside);
                        }
                    }
                }
                5 => {
                    let subset = Subset::from_indices(self.rules.p(), reader.ascending());
                    let (objective, own) = (reader.number(), reader.number());
                    let (weights, bias) = (reader.numbers(), reader.number());
                    assert!(self.rules.allows(&subset) && weights.len() == subset.len());
                    let value = self.objective(&subset, &weights, bias);
                    assert!(value <= objective, "seed {}: {subset:?} has {value}, listed {objective}", self.seed);
                    let sizes = self.sizes(&subset, &weights, bias);
                    assert!(
                        objective <= value + 1e-13 * (value + sizes),
                        "seed {}: {objective} for {value}",
                        self.seed
                    );
                    assert!(listed.last().is_none_or(|last: &(Subset, f64, f64)| last.1 <= objective));
                    listed.push((subset, objective, own));
                }
                6 => {
                    let (bound, status) = (reader.number(), reader.text());
                    assert!(reader.0.is_empty(), "nothing follows the end");
                    return (listed, bound, status);
                }
                kind => panic!("record of kind {kind}"),
            }
        }
    }
}

/// The rows of docs/formats/proof.md: coefficients and right sides.
fn rows(p: usize, list: &RuleList) -> Vec<(Vec<f64>, f64)> {
    let mut rows = Vec::new();
    let sum = |group: &[usize], sign: f64| -> Vec<f64> {
        (0..p).map(|j| if group.contains(&j) { sign } else { 0.0 }).collect()
    };
    rows.extend(list.max_features.map(|k| (vec![1.0; p], k as f64)));
    rows.extend(list.budget.map(|budget| (list.costs.clone(), budget * (1.0 + 1e-9))));
    for &(a, b) in &list.implies {
        let coefficient = |j: usize| f64::from(u8::from(j == a)) - f64::from(u8::from(j == b));
        rows.push(((0..p).map(coefficient).collect(), 0.0));
    }
    rows.extend(list.at_most.iter().map(|(m, group)| (sum(group, 1.0), *m as f64)));
    rows.extend(list.at_least.iter().map(|(m, group)| (sum(group, -1.0), -(*m as f64))));
    rows
}

/// What is wrong with the proof of a case.
fn check(case: &HardCase, rules: &Rules, limits: &Limits) -> (Selection, usize) {
    let settings = ExactSettings {
        svm: case.svm.clone(),
        penalty: case.penalty.clone().into(),
        solutions: case.solutions,
        ..ExactSettings::default()
    };
    let mut kept = Kept::default();
    let selection = exact(&case.problem(), rules, &settings, limits.clone(), &mut kept).expect("valid settings");
    assert!(kept.complete);
    let at = kept.bytes.iter().position(|b| *b == b'\n').expect("a header");
    let header: Value = serde_json::from_slice(&kept.bytes[..at]).expect("JSON");
    assert_eq!(header["rules"], serde_json::to_value(rules.list()).unwrap());
    assert_eq!(header["made"]["by"], "a test");
    let mut follow = Follow::new(case, rules);
    let (listed, bound, status) = follow.read(&mut Reader(&kept.bytes[at + 1..]));
    let Outcome { status: ended, objective, bound: reported, .. } = &selection.outcome;
    let seed = case.seed;
    assert_eq!(status, ended.name(), "seed {seed}");
    assert_eq!(listed.len(), selection.solutions.len(), "seed {seed}");
    let scale = listed.first().map_or(1.0, |best| best.1);
    for (subset, node) in &follow.subsets {
        assert!(node.is_none(), "seed {seed}: {subset:?} is left open in {node:?}");
        let own = listed.iter().find(|l| l.0 == *subset).map_or(bound, |l| l.2);
        let proven = follow.proven[subset];
        assert!(proven >= own - 1e-7 * scale, "seed {seed}: {subset:?} is proven to {proven}, claimed {own}");
    }
    for (subset, objective, _) in &listed {
        let found = selection.solutions.iter().find(|solution| solution.subset == *subset).map(|s| s.objective);
        assert!(found.is_some_and(|found| *objective >= found), "seed {seed}: {objective} listed, {found:?} found");
    }
    if let (Some(objective), Some(reported)) = (objective, reported) {
        let claimed = listed.first().map_or(bound, |best| best.2.min(bound));
        let gap = limits.gap_rel * objective.abs();
        assert!(*reported - claimed <= 0.1 * gap + 1e-9 * scale, "seed {seed}: {claimed} for {reported}");
        if *ended == Status::Optimal && listed.len() == 1 {
            assert!(objective - claimed <= gap * (1.0 + 1e-9) + 1e-9 * scale, "seed {seed}: the gap is not proven");
        }
    }
    (selection, kept.bytes.len() - at)
}

#[test]
fn proofs_of_hard_problems_cover_every_subset() {
    let cases = std::env::var_os("FEWEST_PROOF_CASES").and_then(|cases| cases.to_str()?.parse().ok()).unwrap_or(160);
    let checked: Vec<Status> = (0..cases)
        .into_par_iter()
        .filter_map(|seed| {
            let case = HardCase::draw(seed);
            let rules = Rules::new(case.features(), case.rules.clone(), &[]).ok()?;
            let gap_rel = [1e-4, 1e-3, 1e-6][seed as usize % 3];
            // Some are stopped early.
            let nodes = (seed % 5 == 4).then_some(seed % 4);
            Some(check(&case, &rules, &Limits { gap_rel, nodes, ..Limits::default() }).0.outcome.status)
        })
        .collect();
    let of = |status: Status| checked.iter().filter(|s| **s == status).count();
    assert!(of(Status::Optimal) * 3 > checked.len() && of(Status::NodeLimit) > 3, "{checked:?}");
}

/// A problem with a tree of some hundred nodes.
fn large() -> (DenseDesign<'static>, Vec<f64>) {
    RandomProblem { n: 80, p: 24, density: 1.0, noise: 0.3, seed: 5 }.draw()
}

#[test]
fn a_proof_does_not_depend_on_threads() {
    let (design, labels) = large();
    let problem = fewest::Problem::new(&design, &labels, None).unwrap();
    let rules = Rules::at_most_features(24, 5).unwrap();
    let settings =
        ExactSettings { svm: SvmSettings { cost: 1.0, ..SvmSettings::default() }, ..ExactSettings::default() };
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut kept = Kept::default();
        let found = pool.install(|| exact(&problem, &rules, &settings, Limits::default(), &mut kept)).unwrap();
        (found.outcome.counts.nodes, kept.bytes)
    };
    let (nodes, bytes) = with(1);
    assert!(nodes > 50, "{nodes} nodes");
    assert_eq!((nodes, bytes), with(4));
}

//! Values of subsets and bounds of points, slow and plain.

use super::encoder::Point;
use super::{Bias, Problem, Rng, features};

/// The value of a subset lies between these; w (length p) and b attain the upper.
#[derive(Debug, Clone)]
pub struct Value {
    pub lower: f64,
    pub upper: f64,
    pub w: Vec<f64>,
    pub b: f64,
}

impl Problem {
    /// F at w and b on a subset.
    pub fn primal(&self, z: u32, w: &[f64], b: f64) -> f64 {
        let own = |j: usize| if self.l1.is_some() { w[j].abs() } else { 0.5 * w[j] * w[j] };
        let held = match self.bias {
            Bias::Penalised(s) if self.l1.is_some() => b.abs() / s,
            Bias::Penalised(s) => 0.5 * (b / s) * (b / s),
            Bias::Free | Bias::None => 0.0,
        };
        let loss = |i: usize| {
            let score = (0..self.p()).map(|j| w[j] * self.columns[j][i]).sum::<f64>() + b;
            let slack = (1.0 - self.y[i] * score).max(0.0);
            self.cost_of(i) * if self.squared { slack * slack } else { slack }
        };
        features(z).into_iter().map(|j| own(j) + self.price(j)).sum::<f64>()
            + held
            + (0..self.n()).map(loss).sum::<f64>()
    }

    /// D and c at alpha.
    fn dual(&self, alpha: &[f64]) -> (f64, Vec<f64>) {
        let sum: f64 = (0..self.n()).map(|i| self.y[i] * alpha[i]).sum();
        let squares = |i: usize| if alpha[i] == 0.0 { 0.0 } else { alpha[i] * alpha[i] / (4.0 * self.cost_of(i)) };
        let mut value: f64 = alpha.iter().sum();
        if self.squared {
            value -= (0..self.n()).map(squares).sum::<f64>();
        }
        if let (Bias::Penalised(s), None) = (self.bias, &self.l1) {
            value -= 0.5 * s * s * sum * sum;
        }
        let score = |j: usize| (0..self.n()).map(|i| alpha[i] * self.y[i] * self.columns[j][i]).sum();
        (value, (0..self.p()).map(score).collect())
    }

    /// `lambda_j - g_j(c)`.
    fn part(&self, j: usize, c: f64) -> f64 {
        let [down, up] = self.range(j);
        let (c, most) = if c < 0.0 { (-c, down) } else { (c, up) };
        let w = c.min(most);
        let gain = if self.l1.is_some() { most * (c - 1.0).max(0.0) } else { w * (c - 0.5 * w) };
        self.price(j) - gain
    }

    /// The smallest of `D + sum of parts` over these subsets: a bound of all of them.
    pub fn bound(&self, alpha: &[f64], subsets: &[u32]) -> f64 {
        let (value, scores) = self.dual(alpha);
        let parts: Vec<f64> = scores.iter().enumerate().map(|(j, c)| self.part(j, *c)).collect();
        let sum = |z: &u32| features(*z).into_iter().map(|j| parts[j]).sum::<f64>();
        value + subsets.iter().map(sum).fold(f64::INFINITY, f64::min)
    }

    /// Alpha as numbers.
    pub fn alpha(&self, point: &Point) -> Vec<f64> {
        let mut alpha: Vec<f64> = point.k.iter().map(|k| *k as f64 * 2f64.powi(point.e as i32)).collect();
        alpha.resize(self.n(), 0.0);
        alpha
    }

    /// A feasible point of which the bound of these subsets is large: random moves that keep it
    /// feasible and improve it.
    pub fn ascend(&self, subsets: &[u32], moves: usize, rng: &mut Rng) -> Point {
        let e = -40 + (self.cost.log2().ceil() as i64);
        let unit = 2f64.powi(e as i32);
        let most = |i: usize| match self.cost_of(i) {
            0.0 => 0,
            cost if self.squared => (16.0 * cost / unit) as i64,
            cost => (cost / unit).floor() as i64,
        };
        let mut k = vec![0i64; self.n()];
        let value = |k: &[i64]| {
            let alpha: Vec<f64> = k.iter().map(|k| *k as f64 * unit).collect();
            let sum: f64 = alpha.iter().zip(&self.y).map(|(a, y)| a * y).sum();
            let far = |s: f64| self.l1.is_some() && s * sum.abs() > 1.0 - 1e-9;
            match self.bias {
                Bias::Penalised(s) if far(s) => f64::NEG_INFINITY,
                _ => self.bound(&alpha, subsets),
            }
        };
        let (mut best, mut reach) = (value(&k), 38);
        for at in 0..moves {
            reach = if at % 97 == 96 { 38 } else { (reach - 1).max(2) };
            let step = (rng.below(1 << 20) as i64 + 1) << (reach.max(20) - 20) >> (20 - reach.min(20));
            let (i, other) = (rng.below(self.n()), rng.below(self.n()));
            let mut next = k.clone();
            let up = if rng.chance(0.5) { step } else { -step };
            next[i] += up;
            if self.bias == Bias::Free || rng.chance(0.5) {
                // The sum of y alpha stays.
                next[other] -= (self.y[i] * self.y[other]) as i64 * up;
            }
            if (0..self.n()).any(|i| !(0..=most(i)).contains(&next[i])) {
                continue;
            }
            let found = value(&next);
            if found > best {
                (best, k, reach) = (found, next, (reach + 2).min(40));
            }
        }
        Point { e, k: k.into_iter().map(|k| k as u64).collect(), prices: Vec::new() }
    }

    /// The value of a subset.
    pub fn value(&self, z: u32) -> Value {
        match &self.l1 {
            Some(_) => self.vertex(z),
            None => self.ridge(z),
        }
    }

    /// The value by exact steps along single alphas (pairs where the bias is free). A bound on a
    /// weight is one more alpha, as if a sample with x = -e_j (or e_j) asked for a score that is
    /// the bound.
    fn ridge(&self, z: u32) -> Value {
        let n = self.n();
        let chosen = features(z);
        let shift = if let Bias::Penalised(s) = self.bias { s * s } else { 0.0 };
        // y_i x_i, and what the score is asked to be.
        let sample = |i: usize| (chosen.iter().map(|&j| self.y[i] * self.columns[j][i]).collect(), 1.0);
        let mut rows: Vec<(Vec<f64>, f64)> = (0..n).map(sample).collect();
        for (k, &j) in chosen.iter().enumerate() {
            for (end, sign) in self.range(j).into_iter().zip([1.0, -1.0]).filter(|(end, _)| end.is_finite()) {
                let mut row = vec![0.0; chosen.len()];
                row[k] = sign;
                rows.push((row, -end));
            }
        }
        let entry = |i: usize, h: usize| {
            let inner: f64 = rows[i].0.iter().zip(&rows[h].0).map(|(a, b)| a * b).sum();
            let own =
                if self.squared && i == h && i < n && self.cost_of(i) > 0.0 { 0.5 / self.cost_of(i) } else { 0.0 };
            inner + own + if i.max(h) < n { self.y[i] * self.y[h] * shift } else { 0.0 }
        };
        let all = rows.len();
        let matrix: Vec<Vec<f64>> = (0..all).map(|i| (0..all).map(|h| entry(i, h)).collect()).collect();
        let most = |i: usize| match i {
            i if i >= n || (self.squared && self.cost_of(i) > 0.0) => f64::INFINITY,
            i => self.cost_of(i),
        };
        let mut alpha = vec![0.0; all];
        for _ in 0..600 {
            for i in 0..all {
                for h in 0..all {
                    let moves = match self.bias {
                        Bias::Free if h != i && i.max(h) < n => vec![(i, 1.0), (h, -self.y[i] * self.y[h])],
                        Bias::Free if i < n => continue,
                        _ if h != i => continue,
                        _ => vec![(i, 1.0)],
                    };
                    let slope = |i: usize| rows[i].1 - (0..all).map(|h| matrix[i][h] * alpha[h]).sum::<f64>();
                    let gain: f64 = moves.iter().map(|&(i, s)| s * slope(i)).sum();
                    let pairs = moves.iter().flat_map(|a| moves.iter().map(move |b| (a, b)));
                    let curvature: f64 = pairs.map(|(a, b)| a.1 * b.1 * matrix[a.0][b.0]).sum();
                    let mut step = if curvature > 0.0 { gain / curvature } else { gain * f64::INFINITY };
                    if step.is_nan() {
                        continue;
                    }
                    for &(i, s) in &moves {
                        let (low, high) = (-alpha[i], most(i) - alpha[i]);
                        let (low, high) = if s > 0.0 { (low, high) } else { (-high, -low) };
                        step = step.clamp(low, high);
                    }
                    for (i, s) in moves {
                        alpha[i] += s * step;
                    }
                }
            }
        }
        let (value, scores) = self.dual(&alpha[..n]);
        let lower = value + chosen.iter().map(|&j| self.part(j, scores[j])).sum::<f64>();
        let mut w = vec![0.0; self.p()];
        for (k, &j) in chosen.iter().enumerate() {
            let ([down, up], sum) = (self.range(j), rows.iter().zip(&alpha).map(|(row, a)| a * row.0[k]).sum::<f64>());
            w[j] = sum.clamp(-down, up);
        }
        let size = 10.0
            + w.iter()
                .enumerate()
                .map(|(j, w)| self.columns[j].iter().map(|x| (w * x).abs()).sum::<f64>())
                .sum::<f64>();
        let b = match self.bias {
            Bias::None => 0.0,
            // The objective is convex in b.
            Bias::Free | Bias::Penalised(_) => {
                let (mut low, mut high) = (-size, size);
                for _ in 0..300 {
                    let (a, c) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
                    if self.primal(z, &w, a) < self.primal(z, &w, c) { high = c } else { low = a }
                }
                0.5 * (low + high)
            }
        };
        Value { lower, upper: self.primal(z, &w, b), w, b }
    }

    /// The objective of gain `l1` is linear between hyperplanes, so a vertex of them is best.
    fn vertex(&self, z: u32) -> Value {
        let chosen = features(z);
        let m = chosen.len() + usize::from(self.bias != Bias::None);
        let mut planes: Vec<(Vec<f64>, f64)> = Vec::new();
        let single = |k: usize| (0..m).map(|l| if l == k { 1.0 } else { 0.0 }).collect::<Vec<f64>>();
        for (k, &j) in chosen.iter().enumerate() {
            let [down, up] = self.range(j);
            planes.extend([0.0, up, -down].map(|at| (single(k), at)));
        }
        if m > chosen.len() {
            planes.push((single(m - 1), 0.0));
        }
        for i in 0..self.n() {
            let mut row: Vec<f64> = chosen.iter().map(|&j| self.columns[j][i]).collect();
            row.resize(m, 1.0);
            planes.push((row, self.y[i]));
        }
        let mut best = Value { lower: f64::INFINITY, upper: f64::INFINITY, w: vec![0.0; self.p()], b: 0.0 };
        choose(planes.len(), m, &mut Vec::new(), &mut |rows| {
            let Some(x) = solve(rows.iter().map(|&r| planes[r].clone()).collect()) else { return };
            let mut w = vec![0.0; self.p()];
            for (k, &j) in chosen.iter().enumerate() {
                let [down, up] = self.range(j);
                w[j] = x[k].clamp(-down, up);
                if (w[j] - x[k]).abs() > 1e-9 * x[k].abs() {
                    return;
                }
            }
            let b = if m > chosen.len() { x[m - 1] } else { 0.0 };
            let value = self.primal(z, &w, b);
            if value < best.upper {
                best = Value { lower: value, upper: value, w, b };
            }
        });
        best
    }
}

/// Calls `f` with each set of `count` numbers below `end`.
fn choose(end: usize, count: usize, prefix: &mut Vec<usize>, f: &mut dyn FnMut(&[usize])) {
    if prefix.len() == count {
        f(prefix);
        return;
    }
    for next in prefix.last().map_or(0, |last| last + 1)..end {
        prefix.push(next);
        choose(end, count, prefix, f);
        prefix.pop();
    }
}

/// Gauss, with the largest pivot; none where it is singular.
fn solve(mut rows: Vec<(Vec<f64>, f64)>) -> Option<Vec<f64>> {
    let m = rows.len();
    for k in 0..m {
        let pivot = (k..m).max_by(|&a, &b| rows[a].0[k].abs().total_cmp(&rows[b].0[k].abs()))?;
        rows.swap(k, pivot);
        if rows[k].0[k].abs() < 1e-12 {
            return None;
        }
        for r in 0..m {
            if r != k {
                let factor = rows[r].0[k] / rows[k].0[k];
                let pivot = rows[k].clone();
                rows[r].0.iter_mut().zip(&pivot.0).for_each(|(a, b)| *a -= factor * b);
                rows[r].1 -= factor * pivot.1;
            }
        }
    }
    Some((0..m).map(|k| rows[k].1 / rows[k].0[k]).collect())
}

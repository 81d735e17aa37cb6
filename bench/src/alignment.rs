//! `kta FILE --features K --beta B --gap G --limit S --nodes N --solutions N --memory BYTES` and,
//! to compare with, `enumerate FILE --features K --beta B`: every subset of at most K features,
//! depth first, with one running product per pair.

use std::time::{Duration, Instant};

use fewest::kernel::gamma::sigest;
use fewest::method::kta::{KtaSettings, kta};
use fewest::simd;
use fewest::{Event, Gamma, Limits, Rules, Selection};
use serde_json::{Value, json};

use super::{Options, matrix::Matrix, peak_bytes, timed};

pub(super) fn run_kta(data: &Matrix, mut options: Options) -> Result<Value, String> {
    let design = &*data.design;
    let (k, beta) = (options.number("features", 5.0)? as usize, options.number("beta", 1.0)?);
    let classes: Vec<u32> = data.labels.iter().map(|&y| u32::from(y > 0.0)).collect();
    let rules = Rules::at_most_features(design.n_features(), k).map_err(|e| e.to_string())?;
    let (limit, nodes) = (options.number("limit", f64::INFINITY)?, options.number("nodes", f64::INFINITY)?);
    let limits = Limits {
        time: limit.is_finite().then(|| Duration::from_secs_f64(limit)),
        nodes: nodes.is_finite().then_some(nodes as u64),
        gap_rel: options.number("gap", 1e-4)?,
        ..Limits::default()
    };
    let (solutions, memory) =
        (options.number("solutions", 1.0)? as usize, options.number("memory", 2f64.powi(30))? as u64);
    // How objective and bound move: [seconds, objective, bound].
    let mut trace: Vec<(f64, Option<f64>, Option<f64>)> = Vec::new();
    let mut watch = |event: &Event<'_>| {
        let last = trace.last().copied().unwrap_or_default();
        match event {
            Event::Incumbent { objective, elapsed, .. } => {
                trace.push((elapsed.as_secs_f64(), Some(*objective), last.2));
            }
            Event::Bound { bound, elapsed, .. } => trace.push((elapsed.as_secs_f64(), last.1, Some(*bound))),
            _ => {}
        }
        std::ops::ControlFlow::Continue(())
    };
    let (seconds, (gamma, found)): (_, (f64, Selection)) = timed(&mut options, || {
        let gamma = beta * sigest(design, k).map_err(|e| e.to_string())?;
        let settings = KtaSettings { gamma: Gamma::Number(gamma), solutions, memory, ..KtaSettings::default() };
        let weights = vec![1.0; classes.len()];
        let found = kta(design, &classes, &weights, &rules, &settings, limits.clone(), &mut watch);
        Ok((gamma, found.map_err(|e| e.to_string())?))
    })?;
    options.none_left()?;
    let outcome = &found.outcome;
    let selected: Vec<usize> = outcome.subset.iter().flat_map(fewest::Subset::iter).collect();
    Ok(json!({
        "seconds": seconds, "gamma": gamma, "selected": selected, "objective": outcome.objective, "bound": outcome.bound,
        "gap": outcome.gap(), "status": outcome.status.name(), "nodes": outcome.counts.nodes,
        "evaluations": outcome.counts.solver_iterations, "peak_bytes": peak_bytes(), "trace": trace,
        "solutions": found.solutions.iter().map(|s| s.objective).collect::<Vec<_>>(),
    }))
}

/// Plain enumeration: the running product of the pairs' kernels is kept for each prefix, a leaf is
/// one dot product.
pub(super) fn run_enumerate(data: &Matrix, mut options: Options) -> Result<Value, String> {
    let design = &*data.design;
    let (k, beta) = (options.number("features", 5.0)? as usize, options.number("beta", 1.0)?);
    options.none_left()?;
    let start = Instant::now();
    let gamma = beta * sigest(design, k).map_err(|e| e.to_string())?;
    let (n, p) = (design.n_samples(), design.n_features());
    let size = |label: f64| data.labels.iter().filter(|&&y| y == label).count() as f64;
    let psi: Vec<f64> = data.labels.iter().map(|&y| y / size(y)).collect();
    let each_pair = |f: &dyn Fn(usize, usize) -> f64| {
        (0..n).flat_map(|i| (i + 1..n).map(move |h| (i, h))).map(|(i, h)| f(i, h)).collect::<Vec<f64>>()
    };
    let kernels: Vec<Vec<f64>> = (0..p)
        .map(|j| {
            let mut x = vec![0.0; n];
            design.add_column(j, 1.0, &mut x);
            let mut values = each_pair(&|i, h| -gamma * (x[i] - x[h]).powi(2));
            simd::exp(&mut values);
            values
        })
        .collect();
    let weights = each_pair(&|i, h| 2.0 * psi[i] * psi[h]);
    let diagonal: f64 = psi.iter().map(|x| x * x).sum();
    let mut search =
        Enumeration { kernels, products: vec![weights; k], chosen: Vec::new(), best: (0.0, Vec::new()), diagonal };
    search.extend(0, k);
    Ok(json!({"seconds": [start.elapsed().as_secs_f64()], "objective": search.best.0, "selected": search.best.1}))
}

struct Enumeration {
    kernels: Vec<Vec<f64>>,
    products: Vec<Vec<f64>>,
    chosen: Vec<usize>,
    best: (f64, Vec<usize>),
    diagonal: f64,
}

impl Enumeration {
    fn extend(&mut self, from: usize, left: usize) {
        let depth = self.chosen.len();
        for j in from..self.kernels.len() {
            let value = self.diagonal + simd::dot(&self.products[depth], &self.kernels[j]);
            self.chosen.push(j);
            if value > self.best.0 {
                self.best = (value, self.chosen.clone());
            }
            if left > 1 {
                let (done, next) = self.products.split_at_mut(depth + 1);
                for ((out, x), y) in next[0].iter_mut().zip(&done[depth]).zip(&self.kernels[j]) {
                    *out = x * y;
                }
                self.extend(j + 1, left - 1);
            }
            self.chosen.pop();
        }
    }
}

//! Subsets for the L1-SVM with a price per feature, by linear programs with other prices.
//!
//! Solves   min |w|_1 + C sum xi + sum_j D_j [w_j != 0], approximately: D_j |w_j| / (|w_j| + e)
//!          stands for the price, and is replaced by its tangent at the last w: w_j costs
//!          1 + D_j / (|w_j| + e) per unit. e falls from 0.3 to 0.02 of u, or of the part of it that is
//!          twice what the relaxation uses.
//! Source   the majorisation of Candes, Wakin, Boyd, J. Fourier Anal. Appl. 14 (2008), with a price
//!          per feature.
//! Starts   the linear relaxation; then random prices around it, until a number of starts in a row
//!          found nothing better.
//! Then     a local search (`exchange.rs`) from where each start ended, the best first.
//! Effort   of both: a share of the time, and a number of linear programs.
//! Rules    a size or budget that the weights break: D grows by steps until they do not; where
//!          weights still break one, [`BestClassifier::offer`] takes the allowed subset nearest to
//!          them.

use std::collections::HashSet;
use std::time::Duration;

use crate::dual::sweep::Shuffle;
use crate::l1_oracle::{L1Oracle, L1Point};
use crate::{Error, Run, Subset};

use super::exchange::exchange;
use super::{BestClassifier, Model};

/// Starts without a better subset, in a row, that end the search.
const PATIENCE: usize = 12;
/// e as shares of u, or of the part of it that counts.
const SMOOTH: [f64; 5] = [0.3, 0.2, 0.1, 0.05, 0.02];
/// Most linear programs from one start.
const STEPS: usize = 20;
/// Linear programs on the way need not be solved further than this.
const LOOSE: f64 = 1e-5;
/// Divisor of the time limit: one part of it at most goes to starts, and as much to local search.
const SHARE: u32 = 6;
/// The part of u that counts is this multiple of what the relaxation uses of it.
const REACH: f64 = 2.0;
/// D grows by this factor while the rules are broken.
const GROW: f64 = 2.0;

/// Offers the subsets it finds. `oracle` holds the linear relaxation, solved at `first`; it is
/// given back with its prices. Starts end after `most` linear programs, and local search after as
/// many.
pub(crate) fn reweight(
    model: &Model<'_>,
    oracle: &mut L1Oracle<'_>,
    first: &L1Point,
    found: &mut BestClassifier<'_>,
    most: u64,
    run: &mut Run<'_>,
) -> Result<(), Error> {
    let prices = model.relaxed_prices();
    found.offer(model, &first.weights, run)?;
    let mut random = Shuffle::new(1);
    let (mut start, mut last_success, mut locals) = (0, 0, Vec::new());
    // A first price where there is none: the relaxation's value shared out.
    let base = first.primal / (1 + first.weights.len()) as f64 / 100.0;
    let mut scale = 1.0;
    let used = |&(j, w): &(usize, f64)| w.abs() / model.bound[j];
    let reach = match first.weights.iter().map(used).fold(0.0, f64::max) {
        0.0 => 1.0,
        used => (REACH * used).min(1.0),
    };
    let share = run.remaining().map(|left| left / SHARE);
    let (begun, over) = (run.elapsed(), |end: Option<Duration>, run: &Run<'_>| {
        run.closed() || run.stop().is_some() || end.is_some_and(|end| run.elapsed() >= end)
    });
    let end = share.map(|share| begun + share);
    let solved = oracle.solves + found.solves();
    while start <= last_success + PATIENCE && oracle.solves + found.solves() - solved <= most && !over(end, run) {
        let before = run.incumbent().map(|b| b.1);
        let mut penalty: Vec<f64> = model.penalty.iter().map(|d| d * scale).collect();
        let mut current = prices.clone();
        if start > 0 {
            current
                .iter_mut()
                .zip(&prices)
                .for_each(|(c, q)| *c = 1.0 + (q - 1.0) * (0.2 + 0.04 * random.below(100) as f64));
        }
        let mut step = 0;
        let (mut last, mut local) = (f64::INFINITY, None);
        while step < STEPS && run.stop().is_none() {
            oracle.set_prices(&current, &current)?;
            let point = oracle.solve(LOOSE, &run.counted_clock())?;
            let support = Subset::from_indices(model.rules.p(), point.weights.iter().map(|e| e.0));
            if model.rules.allows(&support) {
                let (subset, objective) = found.offer(model, &point.weights, run)?;
                if local.as_ref().is_none_or(|l: &(Subset, f64)| objective < l.1) {
                    local = Some((subset, objective));
                }
                if objective >= last - LOOSE * last.abs() && step >= SMOOTH.len() {
                    break;
                }
                last = objective;
            } else if step >= SMOOTH.len() {
                // The weights break a rule even so: more for each feature.
                local = Some(found.offer(model, &point.weights, run)?);
                scale *= GROW;
                for d in &mut penalty {
                    *d = if *d > 0.0 { *d * GROW } else { base };
                }
            }
            let share = SMOOTH[step.min(SMOOTH.len() - 1)];
            let smooth = |j: usize| (share * reach * model.bound[j]).max(f64::MIN_POSITIVE);
            current.iter_mut().enumerate().for_each(|(j, c)| *c = 1.0 + penalty[j] / smooth(j));
            for &(j, w) in &point.weights {
                current[j] = 1.0 + penalty[j] / (w.abs() + smooth(j));
            }
            for &j in &model.rules.list().require {
                current[j] = 1.0;
            }
            step += 1;
        }
        locals.extend(local);
        start += 1;
        if run.incumbent().map(|b| b.1) != before {
            last_success = start;
        }
    }
    locals.sort_by(|a, b| a.1.total_cmp(&b.1));
    locals.dedup();
    let end = share.map(|share| begun + 2 * share);
    let last = found.solves().saturating_add(most);
    let mut examined = HashSet::new();
    for local in locals {
        if found.solves() >= last || over(end, run) {
            break;
        }
        exchange(model, found, local, &mut examined, last, run)?;
    }
    oracle.set_prices(&prices, &prices)
}

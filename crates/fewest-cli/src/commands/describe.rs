//! What a report shows of the data beside the result: how strong each feature is alone, which
//! chosen features are alike, and which rejected feature could stand in for each, at what cost.
//!
//! It needs the data, so it is found with the result (`--report`, `--describe`) and kept in its
//! JSON as `description` ([`Description`]).
//!
//! All are of the samples the method was given, unweighted; limits keep it short beside the
//! selection itself.

use std::time::{Duration, Instant};

use fewest::{Clock, Design, Report, Status, Subset, validation};
use fewest_result::{Correlations, Description, StandIn, Strength, TrainedModel};
use rayon::prelude::*;

use super::selection::Task;
use crate::failure::Failure;

/// Stored values of the data beyond which only the chosen features are described.
const VALUES: usize = 50_000_000;

/// Features beyond which only the chosen ones are described.
const FEATURES: usize = 100_000;

/// Chosen features that are compared with others.
const CHOSEN: usize = 40;

/// Rejected features that are tried in the place of a chosen one until the rules allow one.
const TRIED: usize = 50;

/// What the trainings may take together.
const TIME: Duration = Duration::from_secs(10);

impl Task<'_> {
    /// The `description` of a result.
    pub(crate) fn description(&self, report: &Report) -> Result<Option<Description>, Failure> {
        let design = self.prepared.data.features.as_design();
        let Some(subset) = report.selection.outcome.subset.as_ref().filter(|s| !s.is_empty()) else {
            return Ok(None);
        };
        let chosen: Vec<usize> = subset.iter().collect();
        let whole = design.stored() <= VALUES && design.n_features() <= FEATURES;
        let described: Vec<usize> = if whole { (0..design.n_features()).collect() } else { chosen.clone() };
        let few = &chosen[..chosen.len().min(CHOSEN)];
        let directions: Vec<Vec<f64>> = few.iter().map(|&j| direction(design, j)).collect();
        let stand_ins = || self.stand_ins(design, subset, few, &directions, report);
        Ok(Some(Description {
            strength: self.strength(design, &described),
            correlations: self.correlations(design, few, &directions),
            stand_ins: whole.then(stand_ins).transpose()?,
        }))
    }

    fn name(&self, j: usize) -> String {
        self.prepared.data.names.get(j).into_owned()
    }

    fn strength(&self, design: &dyn Design, features: &[usize]) -> Vec<Strength> {
        let target = &self.prepared.target;
        let counts: Vec<f64> = target.counts().iter().map(|&c| c as f64).collect();
        let mut strength: Vec<(usize, f64)> =
            features.par_iter().filter_map(|&j| Some((j, area(design, j, &target.codes, &counts)?))).collect();
        strength.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        strength.into_iter().map(|(j, auc)| Strength { feature: self.name(j), index: j, auc }).collect()
    }

    fn correlations(&self, design: &dyn Design, chosen: &[usize], directions: &[Vec<f64>]) -> Correlations {
        let row = |a: usize| -> Vec<f64> {
            (0..chosen.len())
                .map(|b| if a == b { 1.0 } else { correlation(design, chosen[a.max(b)], &directions[a.min(b)]) })
                .collect()
        };
        let features = chosen.iter().map(|&j| self.name(j)).collect();
        Correlations { features, matrix: (0..chosen.len()).map(row).collect() }
    }

    fn stand_ins(
        &self,
        design: &dyn Design,
        subset: &Subset,
        chosen: &[usize],
        directions: &[Vec<f64>],
        report: &Report,
    ) -> Result<Vec<StandIn>, Failure> {
        let start = Instant::now();
        let mut out = Vec::new();
        let Some(now) = self.objective(subset, report, start)? else { return Ok(out) };
        for (&j, direction) in chosen.iter().zip(directions) {
            let mut likeness: Vec<(usize, f64)> = (0..design.n_features())
                .into_par_iter()
                .filter(|&k| !subset.contains(k))
                .map(|k| (k, correlation(design, k, direction)))
                .collect();
            likeness.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
            let exchanged = |k: usize| {
                let mut other = subset.clone();
                other.remove(j);
                other.insert(k);
                other
            };
            let found = likeness.iter().take(TRIED).find(|&&(k, _)| self.rules.allows(&exchanged(k)));
            let Some(&(k, r)) = found else { continue };
            let objective = self.objective(&exchanged(k), report, start)?;
            let yardstick = report.selection.outcome.yardstick;
            let loss = objective.zip(yardstick).and_then(|(objective, yardstick)| yardstick.loss(now, objective));
            out.push(StandIn {
                feature: self.name(j),
                index: j,
                stand_in: self.name(k),
                stand_in_index: k,
                correlation: r,
                objective,
                loss,
            });
        }
        Ok(out)
    }

    /// Objective of the SVM on a subset, prices included, summed over its machines; nothing when
    /// the time is over.
    fn objective(&self, subset: &Subset, report: &Report, start: Instant) -> Result<Option<f64>, Failure> {
        let features: Vec<usize> = subset.iter().collect();
        // The objective of selecting, whatever the final classifier is trained at.
        let settings = report.fit_settings(self.svm(), None, &self.rules);
        let clock = Clock::of(self.limits.cancel.clone(), Some(start + TIME));
        if clock.stop().is_some() {
            return Ok(None);
        }
        let TrainedModel { model, .. } = self.prepared.train(&features, &settings, &clock)?;
        let prices = report.price(&features, self.method.penalty());
        let objective = prices + model.machines.iter().map(|m| m.solution.primal).sum::<f64>();
        let cut_short = |status| matches!(status, Status::TimeLimit | Status::Cancelled);
        let over = model.machines.iter().any(|m| cut_short(m.solution.status));
        Ok((!over).then_some(objective))
    }
}

/// Column j, centred and of length 1; zeros where it is constant.
fn direction(design: &dyn Design, j: usize) -> Vec<f64> {
    let n = design.n_samples();
    let mut column = vec![0.0; n];
    design.add_column(j, 1.0, &mut column);
    let mean = column.iter().sum::<f64>() / n as f64;
    for x in &mut column {
        *x -= mean;
    }
    let length = column.iter().map(|x| x * x).sum::<f64>().sqrt();
    if length > 0.0 {
        for x in &mut column {
            *x /= length;
        }
    }
    column
}

/// Correlation of column k with a column that is centred and of length 1; 0 where column k is
/// constant.
fn correlation(design: &dyn Design, k: usize, direction: &[f64]) -> f64 {
    let (mut sum, mut squares) = (0.0, 0.0);
    design.each_in_column(k, &mut |_, x| {
        sum += x;
        squares += x * x;
    });
    let variation = squares - sum * sum / direction.len() as f64;
    if variation <= 1e-12 * squares {
        return 0.0;
    }
    (design.dot_column(k, direction) / variation.sqrt()).clamp(-1.0, 1.0)
}

/// Area under the ROC curve of column j's values, as the module says; nothing where a class has no
/// samples.
fn area(design: &dyn Design, j: usize, codes: &[u32], counts: &[f64]) -> Option<f64> {
    let mut values: Vec<(f64, u32)> = Vec::new();
    let mut zeros = counts.to_vec();
    design.each_in_column(j, &mut |i, x| {
        if x != 0.0 {
            values.push((x, codes[i]));
            zeros[codes[i] as usize] -= 1.0;
        }
    });
    let of_pair = |a: usize, b: usize| {
        let side = |code: u32, class: usize| f64::from(u8::from(code as usize == class));
        let both = values.iter().filter(|v| v.1 as usize == a || v.1 as usize == b);
        // All zeros are one entry, as sparse columns do not list them.
        let zeros = (0.0, zeros[b], zeros[a]);
        validation::area(both.map(|&(x, code)| (x, side(code, b), side(code, a))).chain([zeros]).collect())
    };
    let pairs = (0..counts.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
    let areas: Vec<f64> = pairs.filter_map(|(a, b)| of_pair(a, b)).map(|auc| auc.max(1.0 - auc)).collect();
    (!areas.is_empty()).then(|| areas.iter().sum::<f64>() / areas.len() as f64)
}

#[cfg(test)]
mod tests {
    use fewest::{DenseDesign, Design};

    use super::{area, correlation, direction};

    /// AUC by its definition: the share of pairs in the right order, a tie counting half.
    fn by_pairs(values: &[f64], codes: &[u32]) -> f64 {
        let (mut won, mut all) = (0.0, 0.0);
        for (x, _) in values.iter().zip(codes).filter(|v| *v.1 == 0) {
            for (y, _) in values.iter().zip(codes).filter(|v| *v.1 == 1) {
                won += if y > x {
                    1.0
                } else if y == x {
                    0.5
                } else {
                    0.0
                };
                all += 1.0;
            }
        }
        let auc: f64 = won / all;
        auc.max(1.0 - auc)
    }

    #[test]
    fn areas_and_correlations_follow_their_definitions() {
        let columns = [[1.0, 0.0, 0.0, -2.0, 3.0, 0.0, 5.0, 0.5], [9.0, 8.0, 7.0, 6.0, 1.0, 2.0, 3.0, 4.0], [4.0; 8]];
        let codes = [0, 1, 0, 0, 1, 1, 1, 0];
        let design = DenseDesign::new(8, 3, columns.concat()).unwrap();
        for (j, column) in columns.iter().enumerate() {
            let found = area(&design, j, &codes, &[4.0, 4.0]).unwrap();
            assert!((found - by_pairs(column, &codes)).abs() < 1e-12, "{j}: {found}");
        }
        let mean = |c: &[f64]| c.iter().sum::<f64>() / 8.0;
        let covariance =
            |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(x, y)| (x - mean(a)) * (y - mean(b))).sum() };
        let (a, b) = (&columns[0], &columns[1]);
        let expected = covariance(a, b) / (covariance(a, a) * covariance(b, b)).sqrt();
        assert!((correlation(&design, 1, &direction(&design, 0)) - expected).abs() < 1e-12);
        assert_eq!(correlation(&design, 2, &direction(&design, 0)), 0.0);
        assert_eq!(design.n_samples(), 8);
    }

    #[test]
    fn more_classes_are_judged_by_pairs_and_empty_ones_left_out() {
        let design = DenseDesign::new(6, 1, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        let codes = [0, 0, 1, 1, 2, 2];
        assert_eq!(area(&design, 0, &codes, &[2.0, 2.0, 2.0, 0.0]), Some(1.0));
        assert_eq!(area(&design, 0, &[0; 6], &[6.0, 0.0]), None);
    }
}

//! The points score of what a part learned: from the classifier and the inner splits of the part.

use fewest::model::Model;
use fewest::{DenseDesign, Design, Error};
use fewest_data::{Imputation, Scaling};

use super::folds::Deal;
use super::grid::{Grid, Key};
use super::learn::{Learned, SplitModel, split_models};
use super::platt::Sigmoid;
use super::points::{Points, PointsFold, SCALES, Split, Steps, chosen, fewest_errors, scaled, totals};
use super::report::Panel;
use super::settings::StudySettings;
use super::table::Row;
use super::threshold::threshold;
use crate::classifier::Predictions;
use crate::part::Data;
use crate::preparation::columns;

/// Totals that have a probability, at most.
const TOTALS: i64 = 1000;

/// A linear classifier of two classes and what prepares its samples.
#[derive(Clone, Copy)]
struct Classifier<'a> {
    /// The classifier's features, ascending.
    features: &'a [usize],
    /// None: it has no feature.
    model: Option<&'a Model>,
    scaling: &'a Scaling,
    imputation: Option<&'a Imputation>,
}

impl Classifier<'_> {
    /// Weights of the values as in the data.
    fn weights(&self) -> Vec<f64> {
        let machine = self.model.and_then(|model| model.machines.first());
        let weight = |(at, &j): (usize, &usize)| {
            let scale = self.scaling.scale.get(j).copied().unwrap_or(1.0);
            machine.map_or(0.0, |machine| machine.weights[at] / scale)
        };
        self.features.iter().enumerate().map(weight).collect()
    }

    /// The columns of its features as in the data, missing values filled in.
    fn columns(&self, data: &Data<'_>, rows: &[usize]) -> Result<DenseDesign<'static>, Error> {
        let mut features = data.features.rows(rows);
        if let Some(imputation) = self.imputation {
            imputation.apply(&mut features).map_err(|error| Error::Data(error.to_string()))?;
        }
        Ok(columns(features.as_design(), self.features))
    }
}

/// The steps of every feature of a classifier.
fn steps(of: &Classifier<'_>, columns: &DenseDesign<'_>) -> Vec<Steps> {
    let (n, weights) = (columns.n_samples(), of.weights());
    let one = |(at, &feature): (usize, &usize)| {
        let mut values = vec![0.0; n];
        columns.each_in_column(at, &mut |i, x| values[i] = x);
        Steps::new(feature, weights[at], &values)
    };
    of.features.iter().enumerate().map(one).collect()
}

/// What a points score is made from: the samples, the inner splits, the place on the grid.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) data: &'a Data<'a>,
    pub(crate) deal: &'a Deal,
    pub(crate) splits: &'a [Deal],
    pub(crate) rows: &'a [Option<Row>],
    pub(crate) grid: &'a Grid,
    pub(crate) settings: &'a StudySettings,
    pub(crate) key: Key,
}

impl Source<'_> {
    /// The score of a classifier that was learned from all of the samples, whose weights are given.
    fn points(&self, of: &Classifier<'_>, weights: &[f64]) -> Result<Points, Error> {
        let (data, settings) = (self.data, self.settings);
        let chosen = chosen(&self.each_split()?);
        let columns = of.columns(data, &self.deal.inside)?;
        let features = scaled(&steps(of, &columns), chosen.largest);
        let codes: Vec<u32> = self.deal.inside.iter().map(|&i| data.target.codes[i]).collect();
        let usual = fewest_errors(&totals(&features, &columns), &codes, weights);
        let wanted = settings.sensitivity.and_then(|share| threshold(&chosen.beyond, &chosen.codes, share));
        let threshold = usual + wanted.map_or(0, |shift| shift.ceil() as i64);
        let second: Vec<bool> = chosen.codes.iter().map(|&code| code == 1).collect();
        let calibration = Sigmoid::fit(&chosen.beyond, &second);
        let end = |of: fn(i64, i64) -> i64| -> i64 {
            features.iter().map(|feature| feature.levels.iter().map(|level| level.points).fold(0, of)).sum()
        };
        let (least, most) = (end(i64::min), end(i64::max));
        let probability = |total: i64| Some((total, calibration.as_ref()?.probability((total - usual) as f64)));
        let probabilities = (least..=most.min(least + TOTALS)).filter_map(probability).collect();
        Ok(Points { features, threshold, probabilities })
    }

    /// Each inner split with its own subset, cuts and points, at every scale.
    fn each_split(&self) -> Result<Vec<Split>, Error> {
        let one = |split: SplitModel<'_>| -> Result<Split, Error> {
            let learnt = &split.part.prepared.learnt;
            let of = Classifier {
                features: split.features,
                model: Some(&split.model),
                scaling: &learnt.scaling,
                imputation: learnt.imputation.as_ref(),
            };
            let (inside, outside) =
                (of.columns(self.data, &split.deal.inside)?, of.columns(self.data, &split.deal.outside)?);
            let (steps, prepared) = (steps(&of, &inside), &split.part.prepared);
            let beyond = |twice: u32| {
                let features = scaled(&steps, f64::from(twice) / 2.0);
                let cut = fewest_errors(&totals(&features, &inside), &prepared.target.codes, &prepared.weights);
                totals(&features, &outside).into_iter().map(|total| total - cut).collect()
            };
            Ok((SCALES.map(beyond).collect(), split.held.target.codes.clone()))
        };
        split_models(self.data, self.splits, self.rows, self.grid, self.settings, self.key, one)
    }

    /// The points of the panel; the weights of its samples are those that it was trained with.
    pub(crate) fn of_panel(&self, panel: &Panel) -> Result<Points, Error> {
        let of = Classifier {
            features: &panel.selected,
            model: panel.model.as_ref(),
            scaling: &panel.scaling,
            imputation: panel.imputation.as_ref(),
        };
        let by_class = self.settings.class_weight.of(&self.data.target.totals(self.data.weights));
        let codes = &self.data.target.codes;
        let weights: Vec<f64> = codes.iter().zip(self.data.weights).map(|(&c, w)| w * by_class[c as usize]).collect();
        self.points(&of, &weights)
    }

    /// The points of what an outer fold learned, on the samples that it held out.
    pub(crate) fn of_fold(&self, learned: &Learned) -> Result<PointsFold, Error> {
        let (prepared, outside) = (&learned.part.prepared, &self.deal.outside);
        let of = Classifier {
            features: &learned.features,
            model: learned.model.as_ref(),
            scaling: &prepared.learnt.scaling,
            imputation: prepared.learnt.imputation.as_ref(),
        };
        let points = self.points(&of, &prepared.weights)?;
        let beyond: Vec<i64> = totals(&points.features, &of.columns(self.data, outside)?)
            .into_iter()
            .map(|total| total - points.threshold)
            .collect();
        let judged = Predictions {
            truth: outside.iter().map(|&i| self.data.target.codes[i]).collect(),
            predicted: beyond.iter().map(|&beyond| u32::from(beyond >= 0)).collect(),
            // Half a point, so that a total at the threshold is on the side it is counted on.
            decisions: beyond.iter().map(|&beyond| beyond as f64 + 0.5).collect(),
        };
        Ok(PointsFold { metrics: judged.metrics(2), confusion: judged.confusion(2) })
    }
}

//! The slack cost of any method, chosen by cross-validation: what a cost of `auto` means.
//!
//! Given    splits of the samples, prepared by the caller inside each split; the method at each
//!          cost of a grid.
//! Returns  a cost of selecting and one of the classifier on the chosen features, with the scores
//!          that led to them.
//! Steps    1. on the training part of each split the method at each cost  2. on its subset the SVM
//!          at that cost, and at larger ones  3. both judged on the samples held out: area
//!          under the ROC curve, hinge loss  4. cost of selecting: the smallest whose mean area is
//!          within one standard error of the best; cost of the classifier: that one, or the larger
//!          one of the other grid, whose mean hinge loss is smallest.  5. not below the cost up to
//!          which every split's subset is that of the smallest one ([`CostChoice::filter_up_to`])
//! Why so   The order of the samples tells whether the features are good, whatever the bias; at a
//!          small cost it is stable, and the bias poor. The hinge loss judges bias and scale, too.
//! Cost     splits x costs selections, which stop early ([`NODES`], [`GAP`]): a choice of cost
//!          needs no proof.

use serde::{Deserialize, Serialize};

use crate::validation::{Metrics, SizeRule, Summary, choose_size, hinge_loss};
use crate::{Clock, Design, Error, Limits, Report, Rules, Samples, Selector, Silent, SvmSettings, model};

/// Most nodes of a selection that is only judged.
pub const NODES: u64 = 64;

/// Relative gap at which a selection that is only judged ends.
pub const GAP: f64 = 1e-2;

/// The grid of selecting in half decades: its first and last point.
const SELECTING: std::ops::RangeInclusive<i32> = -8..=4;

/// The grid of the classifier likewise.
const FITTING: std::ops::RangeInclusive<i32> = -4..=2;

/// Costs to choose from, ascending.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CostGrid {
    /// Slack costs of the selection: 1e-4 to 1e2 times 1 / mean |x|^2 in half decades. At 1 / mean
    /// |x|^2 one sample alone moves the decision value of a sample like it by about 1.
    pub selecting: Vec<f64>,
    /// Slack costs of the classifier: 1e-2 to 10 times what 1 / mean |x|^2 is for K of p features
    /// alike.
    pub fitting: Vec<f64>,
}

/// The costs for samples that `weights` count, K being `max_features`, or p.
///
/// # Errors
/// [`Error::Data`] where all values are zero.
pub fn cost_grid(design: &dyn Design, weights: &[f64], max_features: Option<usize>) -> Result<CostGrid, Error> {
    let mut sum = 0.0;
    for j in 0..design.n_features() {
        design.each_in_column(j, &mut |i, x| sum += weights[i] * x * x);
    }
    let square = sum / weights.iter().sum::<f64>();
    if !(square > 0.0 && square.is_finite()) {
        return Err(Error::Data(format!(
            "the mean squared length of the samples is {square}, which gives no costs to choose from; give a cost"
        )));
    }
    let p = design.n_features();
    let share = max_features.unwrap_or(p).min(p) as f64 / p as f64;
    let grid = |halves: std::ops::RangeInclusive<i32>, square: f64| {
        halves.map(|half| 10f64.powf(f64::from(half) / 2.0) / square).collect()
    };
    Ok(CostGrid { selecting: grid(SELECTING, square), fitting: grid(FITTING, square * share) })
}

/// The grid of an L1-SVM in half decades: from where the first feature has weight.
const L1: std::ops::RangeInclusive<i32> = 1..=9;

/// Costs of an L1-SVM of two classes to choose from, ascending: 10^(1/2) to 10^(9/2) times
/// `n / (4 n+ n- max_j |m+_j - m-_j|)`, with the weights n+ and n- of the classes, n of both, and
/// the means m+ and m- of a feature in them. Up to that cost no feature has weight under the
/// squared hinge with a free bias; under the hinge it is that times 2 to 4, the larger the less
/// balanced the classes.
///
/// # Errors
/// [`Error::Data`] where no feature differs between the classes.
pub fn l1_costs(design: &dyn Design, classes: &[u32], weights: &[f64]) -> Result<Vec<f64>, Error> {
    let of_class = |class: u32| classes.iter().zip(weights).filter(|e| *e.0 == class).map(|e| e.1).sum::<f64>();
    let (negative, positive) = (of_class(0), of_class(1));
    // The difference of the means is a score at this beta.
    let share = |(&class, &weight): (&u32, &f64)| if class == 1 { weight / positive } else { -weight / negative };
    let beta: Vec<f64> = classes.iter().zip(weights).map(share).collect();
    let mut differences = vec![0.0; design.n_features()];
    design.dot_columns(0, &beta, &mut differences);
    let largest = differences.iter().fold(0.0f64, |largest, difference| largest.max(difference.abs()));
    if !(largest > 0.0 && largest.is_finite()) {
        return Err(Error::Data(format!(
            "the largest difference of a feature's means in the two classes is {largest}, which gives no costs to choose from; \
             give a cost"
        )));
    }
    let first = (negative + positive) / (4.0 * negative * positive * largest);
    Ok(L1.map(|half| first * 10f64.powf(f64::from(half) / 2.0)).collect())
}

/// A method at one cost.
#[derive(Debug, Clone)]
pub struct Candidate<M> {
    /// The cost, above 0.
    pub cost: f64,
    /// The method with that cost among its settings.
    pub method: M,
    /// The SVM of that cost.
    pub svm: SvmSettings,
}

/// Costs of the classifier that are tried.
#[derive(Debug, Clone, PartialEq)]
pub enum FitCosts {
    /// The cost of selecting, and those of these, ascending, that are larger; none for a method
    /// that ends with its own classifier, whatever a limit leaves of it.
    Among(Vec<f64>),
    /// This one.
    Fixed(f64),
}

impl FitCosts {
    /// The costs of the classifier for a cost of selecting.
    fn of(&self, cost: f64) -> Vec<f64> {
        match self {
            FitCosts::Fixed(cost) => vec![*cost],
            FitCosts::Among(costs) => {
                let larger = costs.iter().copied().filter(|larger| *larger > cost);
                std::iter::once(cost).chain(larger).collect()
            }
        }
    }
}

/// The two parts of a split, prepared.
pub struct SplitParts<'a> {
    /// Samples to learn from.
    pub training: Samples<'a>,
    /// Rules of the selection.
    pub rules: Rules,
    /// Samples to judge by, prepared as the others; the same p features.
    pub held_out: &'a dyn Design,
    /// Their classes.
    pub classes: &'a [u32],
}

/// Scores of one cost of selecting, on one split.
#[derive(Debug, Clone)]
pub struct CostScores {
    /// Area under the ROC curve; none where the samples held out are of one class.
    auc: Option<f64>,
    /// Features chosen.
    n_features: usize,
    /// They themselves; none where time was over.
    features: Option<Vec<usize>>,
    /// Hinge loss of the classifier at each of its costs; empty where it is the method's own, and
    /// where no feature was chosen.
    hinge: Vec<f64>,
}

/// Judges every candidate, costs ascending, on one split. `limits` are asked for each selection,
/// `clock` by all trainings; once its time is over, a cost counts as the one before it.
pub fn judge<M: Selector + Serialize>(
    parts: &SplitParts<'_>,
    candidates: &[Candidate<M>],
    fit: &FitCosts,
    clock: &Clock,
    limits: &mut dyn FnMut() -> Limits,
) -> Result<Vec<CostScores>, Error> {
    let mut found: Vec<CostScores> = Vec::with_capacity(candidates.len());
    let mut last: Option<(serde_json::Value, Report)> = None;
    for candidate in candidates {
        let settings = serde_json::to_value(&candidate.method).expect("settings are numbers, lists and names");
        let report = match last.take() {
            // A method that knows no cost selects the same again.
            Some((same, report)) if same == settings => report,
            _ => {
                let asked = limits();
                if let (Some(_), Some(mut before)) = (clock.stop(), found.last().cloned()) {
                    // The last losses are those of the classifiers that go with this cost.
                    let most = fit.of(candidate.cost).len();
                    before.hinge.drain(..before.hinge.len().saturating_sub(most));
                    before.features = None;
                    found.push(before);
                    continue;
                }
                let nodes = Some(asked.nodes.unwrap_or(NODES).min(NODES));
                let limits = Limits { nodes, gap_rel: asked.gap_rel.max(GAP), ..asked };
                candidate.method.select(&parts.training, &parts.rules, limits, &mut Silent)?
            }
        };
        let fit_costs = if report.model.is_some() { vec![candidate.cost] } else { fit.of(candidate.cost) };
        found.push(scores(parts, &report, &candidate.svm, &fit_costs, clock)?);
        last = Some((settings, report));
    }
    Ok(found)
}

/// Trains on the subset at each of these costs and judges.
fn scores(
    parts: &SplitParts<'_>,
    report: &Report,
    svm: &SvmSettings,
    fit_costs: &[f64],
    clock: &Clock,
) -> Result<CostScores, Error> {
    let (training, classes) = (&parts.training, parts.training.n_classes() as usize);
    let features = report.selection.outcome.features();
    let pairs = classes * (classes - 1) / 2;
    let (mut auc, mut hinge) = (None, Vec::new());
    for (at, &cost) in fit_costs.iter().enumerate() {
        if let (Some(_), Some(&before)) = (clock.stop(), hinge.last()) {
            hinge.push(before);
            continue;
        }
        let decisions = if features.is_empty() {
            vec![0.0; parts.classes.len() * pairs]
        } else if let Some(own) = &report.model {
            own.decisions(parts.held_out)
        } else {
            let settings = report.fit_settings(svm, Some(cost), &parts.rules);
            let (design, codes, weights) = (training.design(), training.classes(), training.weights());
            model::fit(design, &features, codes, weights, &settings, clock)?.decisions(parts.held_out)
        };
        if at == 0 {
            // Classes predicted are of no account for the area.
            auc = Metrics::new(parts.classes, parts.classes, &decisions, classes).auc;
        }
        if report.model.is_none() && !features.is_empty() {
            hinge.push(hinge_loss(parts.classes, &decisions, classes));
        }
    }
    Ok(CostScores { auc, n_features: features.len(), features: Some(features), hinge })
}

/// A cost of selecting with its score over the splits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CostScore {
    /// The cost.
    pub cost: f64,
    /// Mean area under the ROC curve on the samples held out.
    pub auc: f64,
    /// The standard error of the score over the splits; none for one split.
    pub se: Option<f64>,
    /// Mean number of features chosen.
    pub n_features: f64,
}

/// A cost of the classifier with its score over the splits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FitScore {
    /// The cost.
    pub cost: f64,
    /// Mean hinge loss of a sample held out.
    pub hinge: f64,
    /// The standard error of the score over the splits; none for one split.
    pub se: Option<f64>,
}

/// The costs chosen, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CostChoice {
    /// Splits whose held-out samples were of more than one class.
    pub splits: usize,
    /// The cost of selecting.
    pub cost: f64,
    /// Every cost of selecting, ascending.
    pub costs: Vec<CostScore>,
    /// Up to this cost of selecting the subset is, in every split, that of the smallest cost, so
    /// that no smaller one is chosen. A selection there is a filter: no sample is beyond the margin,
    /// w is in proportion to the difference of the classes' sums, and the features of the largest
    /// differences are kept. None where the second cost already changes a subset, or none does.
    pub filter_up_to: Option<f64>,
    /// The cost of the classifier; none where it was not to be chosen, or where the method ends
    /// with its own.
    pub fit_cost: Option<f64>,
    /// Every cost of the classifier, ascending, on the subsets of the cost chosen.
    pub fit_costs: Vec<FitScore>,
}

impl CostChoice {
    /// Chooses from the scores of all splits; `costs` ascending, `scores` by split and cost.
    ///
    /// # Errors
    /// [`Error::Data`] where the samples held out are of one class in every split.
    pub fn of(costs: &[f64], scores: &[Vec<CostScores>], fit: &FitCosts) -> Result<Self, Error> {
        let judged: Vec<&Vec<CostScores>> =
            scores.iter().filter(|split| split.iter().all(|score| score.auc.is_some())).collect();
        if judged.is_empty() {
            return Err(Error::Data(
                "no split holds out samples of two classes, so that no cost can be chosen; give a cost".into(),
            ));
        }
        let over =
            |value: &dyn Fn(&Vec<CostScores>) -> f64| judged.iter().map(|split| value(split)).collect::<Vec<f64>>();
        let areas: Vec<Vec<f64>> =
            (0..costs.len()).map(|at| over(&|split| split[at].auc.unwrap_or(f64::NAN))).collect();
        let filter = filter(costs.len(), &judged);
        let chosen = choose_size(&areas, SizeRule::OneSe)?.max(filter.unwrap_or(0));
        let row = |(at, areas): (usize, &Vec<f64>)| {
            let summary = Summary::new(areas, 0.0);
            let sizes = over(&|split| split[at].n_features as f64);
            let n_features = Summary::new(&sizes, 0.0).mean;
            CostScore { cost: costs[at], auc: summary.mean, se: summary.se, n_features }
        };
        let table = areas.iter().enumerate().map(row).collect();
        let (mut fit_cost, mut fit_costs) = (None, Vec::new());
        let of_classifier = fit.of(costs[chosen]);
        // Splits where no feature was chosen say nothing of its cost.
        let losses = judged.iter().map(|split| &split[chosen].hinge);
        let losses: Vec<&Vec<f64>> = losses.filter(|own| own.len() == of_classifier.len()).collect();
        if matches!(fit, FitCosts::Among(costs) if !costs.is_empty()) && !losses.is_empty() {
            let gains = |at: usize| losses.iter().map(|losses| -losses[at]).collect();
            let gains: Vec<Vec<f64>> = (0..of_classifier.len()).map(gains).collect();
            fit_cost = Some(of_classifier[choose_size(&gains, SizeRule::Best)?]);
            let row = |(gains, &cost): (&Vec<f64>, &f64)| {
                let summary = Summary::new(gains, 0.0);
                FitScore { cost, hinge: -summary.mean, se: summary.se }
            };
            fit_costs = gains.iter().zip(&of_classifier).map(row).collect();
        }
        let filter_up_to = filter.map(|last| costs[last]);
        Ok(Self { splits: judged.len(), cost: costs[chosen], costs: table, filter_up_to, fit_cost, fit_costs })
    }

    /// Whether the cost chosen makes the selection a filter.
    pub fn is_filter(&self) -> bool {
        self.filter_up_to == Some(self.cost)
    }
}

/// The last cost, by its place, up to which all splits have the subset of the first; none where
/// that is the first or the last of all.
fn filter(costs: usize, splits: &[&Vec<CostScores>]) -> Option<usize> {
    let same =
        |split: &&Vec<CostScores>, at: usize| split[at].features.is_some() && split[at].features == split[0].features;
    let last = (1..costs).take_while(|&at| splits.iter().all(|split| same(split, at))).last()?;
    (last + 1 < costs).then_some(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DenseDesign;

    fn scores(auc: f64, hinge: &[f64]) -> CostScores {
        CostScores { auc: Some(auc), n_features: 2, features: None, hinge: hinge.to_vec() }
    }

    #[test]
    fn the_grid_is_about_one_over_the_mean_squared_length() {
        // Squared lengths 25 and 1; the second sample counts three times: mean 7.
        let design = DenseDesign::new(2, 2, vec![3.0, 1.0, 4.0, 0.0]).unwrap();
        let grid = cost_grid(&design, &[1.0, 3.0], None).unwrap();
        assert_eq!((grid.selecting.len(), grid.fitting.len()), (13, 7));
        for (at, factor) in [(0, 1e-4), (8, 1.0), (12, 1e2)] {
            assert!((grid.selecting[at] * 7.0 / factor - 1.0).abs() < 1e-12, "{grid:?}");
        }
        assert!((grid.selecting[1] / grid.selecting[0] - 10f64.sqrt()).abs() < 1e-12);
        // One of two features: half of the squared length.
        let one = cost_grid(&design, &[1.0, 3.0], Some(1)).unwrap();
        assert_eq!(one.selecting, grid.selecting);
        for (at, factor) in [(0, 1e-2), (4, 1.0), (6, 10.0)] {
            assert!((one.fitting[at] * 3.5 / factor - 1.0).abs() < 1e-12, "{one:?}");
        }
        let zero = DenseDesign::new(2, 1, vec![0.0, 0.0]).unwrap();
        assert!(cost_grid(&zero, &[1.0, 1.0], None).unwrap_err().to_string().contains("give a cost"));
    }

    #[test]
    fn the_costs_of_an_l1_svm_begin_where_the_first_feature_has_weight() {
        use crate::method::l1_svm::{L1Settings, l1_svm};
        use crate::{Limits, Loss, Problem, Rules, Silent};
        let values = vec![3.0, 1.0, 4.0, 900.0, 0.5, 0.2, 0.9, 0.1];
        let design = DenseDesign::new(4, 2, values).unwrap();
        let (classes, weights) = ([0, 1, 0, 1], [1.0, 3.0, 2.0, 1.0]);
        let costs = l1_costs(&design, &classes, &weights).unwrap();
        let problem = Problem::new(&design, &[-1.0, 1.0, -1.0, 1.0], Some(&weights)).unwrap();
        let features = |cost: f64| {
            let svm = SvmSettings { cost, loss: Loss::SquaredHinge, tolerance: 1e-9, ..SvmSettings::default() };
            let settings = L1Settings { svm, ..L1Settings::default() };
            let report = l1_svm(&problem, &Rules::none(2), &settings, Limits::default(), &mut Silent).unwrap();
            report.selection.outcome.subset.unwrap().len()
        };
        let first = costs[0] / 10f64.sqrt();
        assert_eq!((features(0.999 * first), features(1.001 * first)), (0, 1));
        assert!(costs.len() == 9 && (costs[2] / costs[0] / 10.0 - 1.0).abs() < 1e-12, "{costs:?}");
        let alike = DenseDesign::new(4, 1, vec![0.0; 4]).unwrap();
        assert!(l1_costs(&alike, &classes, &weights).unwrap_err().to_string().contains("give a cost"));
    }

    #[test]
    fn no_cost_is_chosen_below_which_the_subset_stays_the_same() {
        let of = |features: [&[usize]; 3]| -> Vec<CostScores> {
            let one =
                |features: &[usize]| CostScores { features: Some(features.to_vec()), ..scores(0.8, &[1.0, 1.0, 1.0]) };
            features.map(one).into()
        };
        let (costs, fit) = ([1.0, 2.0, 4.0], FitCosts::Among(vec![]));
        let choose = |splits: &[Vec<CostScores>]| {
            let choice = CostChoice::of(&costs, splits, &fit).unwrap();
            (choice.cost, choice.filter_up_to, choice.is_filter())
        };
        let filter = of([&[0, 3], &[0, 3], &[0, 4]]);
        assert_eq!(choose(&[filter.clone(), filter.clone()]), (2.0, Some(2.0), true));
        // One split tells the first two costs apart.
        assert_eq!(choose(&[filter.clone(), of([&[1, 2], &[1, 5], &[1, 5]])]), (1.0, None, false));
        // A method that does not depend on the cost, and a run whose time was over.
        assert_eq!(choose(&[of([&[0, 3]; 3])]), (1.0, None, false));
        let mut over = filter;
        over[1].features = None;
        assert_eq!(choose(&[over]), (1.0, None, false));
    }

    #[test]
    fn the_smallest_cost_within_one_standard_error_and_the_least_hinge_loss_from_there() {
        let costs = [1.0, 2.0, 4.0];
        let fit = FitCosts::Among(vec![0.5, 2.0, 8.0]);
        // Means .75, .84, .85; standard error of the best .02: .84 is within it.
        let splits = vec![
            vec![scores(0.70, &[1.0, 0.5, 0.4]), scores(0.82, &[0.9, 0.7]), scores(0.83, &[0.1, 0.2])],
            vec![scores(0.80, &[1.0, 0.5, 0.4]), scores(0.86, &[0.7, 0.5]), scores(0.87, &[0.1, 0.2])],
        ];
        let choice = CostChoice::of(&costs, &splits, &fit).unwrap();
        assert_eq!((choice.cost, choice.fit_cost, choice.splits), (2.0, Some(8.0), 2));
        let fits: Vec<(f64, f64)> = choice.fit_costs.iter().map(|fit| (fit.cost, fit.hinge)).collect();
        assert!(fits.len() == 2 && (fits[0].1 - 0.8).abs() < 1e-12 && (fits[1].1 - 0.6).abs() < 1e-12, "{fits:?}");
        assert!((choice.costs[2].se.unwrap() - 0.02).abs() < 1e-12);
        let fixed = CostChoice::of(&costs, &splits, &FitCosts::Fixed(3.0)).unwrap();
        assert_eq!((fixed.cost, fixed.fit_cost), (2.0, None));
        // Splits without losses: some, and all, as those of a method that chose nothing.
        let with = |losses: [&[f64]; 2]| losses.iter().map(|&hinge| vec![scores(0.8, hinge)]).collect::<Vec<_>>();
        let choice = |losses| CostChoice::of(&[2.0], &with(losses), &fit).unwrap().fit_cost;
        assert_eq!(choice([&[], &[0.9, 0.7]]), Some(8.0));
        assert_eq!(choice([&[], &[]]), None);
        let own = CostChoice::of(&[2.0], &with([&[0.9], &[0.7]]), &FitCosts::Among(vec![])).unwrap();
        assert_eq!((own.cost, own.fit_cost), (2.0, None));
        let one_class = vec![vec![CostScores { auc: None, n_features: 0, features: None, hinge: vec![1.0] }]];
        assert!(CostChoice::of(&[1.0], &one_class, &fit).is_err());
    }
}

//! Which classes a feature tells apart.

use fewest::model::Model;
use serde::Serialize;

use super::expression::Expression;

/// Contributions of a feature to the classifier of a panel.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Apart {
    /// For each class the mean of the feature's weights in the machines of its pairs, above 0 where
    /// the feature speaks for the class; features are scaled.
    pub weight: Vec<f64>,
    /// The pairs of classes that it does most for, largest share first.
    pub pairs: Vec<Contribution>,
}

/// Contribution of a feature to a pair of classes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Contribution {
    /// The class in which its mean is larger.
    pub high: u32,
    /// The other one.
    pub low: u32,
    /// The feature's share of the distance between the decision values at the means of both
    /// classes; the shares of all features of the panel sum up to 1.
    pub share: f64,
}

/// Pairs that are listed for a feature.
const LISTED: usize = 3;

/// For each feature of the panel, whose `table` and `scale` are in the order of the model's
/// features.
pub(crate) fn apart(model: &Model, table: &[Expression], scale: &[f64]) -> Vec<Apart> {
    let k = model.n_classes as usize;
    let mut out: Vec<Apart> = table.iter().map(|_| Apart { weight: vec![0.0; k], pairs: Vec::new() }).collect();
    for machine in &model.machines {
        let (a, b) = (machine.positive as usize, machine.negative as usize);
        let far = |at: usize| machine.weights[at] * (table[at].mean[a] - table[at].mean[b]) / scale[at];
        let whole: f64 = (0..table.len()).map(far).sum();
        for (at, of) in out.iter_mut().enumerate() {
            of.weight[a] += machine.weights[at] / (k - 1) as f64;
            of.weight[b] -= machine.weights[at] / (k - 1) as f64;
            let share = if whole > 0.0 { far(at) / whole } else { 0.0 };
            if share > 0.0 {
                let (high, low) = if table[at].mean[a] >= table[at].mean[b] { (a, b) } else { (b, a) };
                of.pairs.push(Contribution { high: high as u32, low: low as u32, share });
            }
        }
    }
    for of in &mut out {
        of.pairs.sort_by(|x, y| y.share.total_cmp(&x.share).then((x.high, x.low).cmp(&(y.high, y.low))));
        of.pairs.truncate(LISTED);
    }
    out
}

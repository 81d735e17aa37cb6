//! A model as its file has it, entry by entry. docs/formats/model.md says what each means.

use std::collections::HashMap;

use fewest::dual::DualSolution;
use fewest::model::{Machine, Model};
use fewest::{Bias, Kernel, Loss, RowMatrix, Status, SvmSettings};
use fewest_data::{Normalization, Normalized, ReadOptions};
use fewest_eval::study::Probabilities;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::by_name::ByName;

use super::kernel::kernel_name;
use super::{ClassNames, FeatureImputation, FeatureScaling, TrainedModel, row_values};

/// The `model` of a file, entry by entry.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ModelRecord {
    kernel: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gamma: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    coef0: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    degree: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    categorical: Option<Vec<String>>,
    cost: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    loss: Option<Loss>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bias: Option<Bias>,
    features: Vec<String>,
    #[serde(default)]
    feature_indices: Vec<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    weights: Option<ByName<f64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    intercept: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    normalization: Option<NormalizationRecord>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    reading: Map<String, Value>,
    scaling: ScalingRecord,
    #[serde(default)]
    imputation: Option<ImputationRecord>,
    #[serde(default, skip_serializing_if = "ByName::is_empty")]
    levels: ByName<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "probabilities")]
    probabilities: Option<Probabilities>,
    machines: Vec<MachineRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    support_vectors: Option<Vec<Vec<f64>>>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct ScalingRecord {
    kind: String,
    features: ByName<ScaleOf>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct ScaleOf {
    centre: f64,
    scale: f64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct ImputationRecord {
    rule: String,
    features: ByName<FillOf>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct FillOf {
    fill: f64,
    #[serde(default)]
    indicates: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct NormalizationRecord {
    #[serde(default)]
    total: Option<f64>,
    log1p: bool,
    n_features: usize,
    uncounted: Vec<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct MachineRecord {
    negative: String,
    positive: String,
    intercept: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    weights: Option<Vec<f64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    coefficients: Option<Vec<(usize, f64)>>,
    /// The objective of the training; none where another program trained it, like what follows.
    #[serde(default)]
    primal: Option<f64>,
    #[serde(default)]
    dual: Option<f64>,
    #[serde(default)]
    gap: Option<f64>,
    #[serde(default)]
    kkt_residual: Option<f64>,
    #[serde(default)]
    iterations: u64,
    #[serde(default)]
    status: Option<Status>,
}

fn probabilities<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Probabilities>, D::Error> {
    let found = Option::<Value>::deserialize(from)?.map(serde_json::from_value);
    found.transpose().map_err(|_| {
        serde::de::Error::custom(
            "`probabilities` are an object with the numbers a and b, for more than two classes one with `pairs` of them",
        )
    })
}

/// A number that JSON can hold.
fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

impl From<&TrainedModel> for ModelRecord {
    fn from(trained: &TrainedModel) -> Self {
        let (model, names) = (&trained.model, &trained.names);
        let (coef0, degree) = match model.kernel {
            Kernel::Poly { coef0, degree, .. } => (Some(coef0), Some(degree)),
            Kernel::Sigmoid { coef0, .. } => (Some(coef0), None),
            _ => (None, None),
        };
        let linear = model.kernel == Kernel::Linear;
        let named = |(j, name): (&usize, &String)| model.categorical.contains(j).then(|| name.clone());
        let only = match model.machines.as_slice() {
            [machine] => Some(machine),
            _ => None,
        };
        let scales = trained.scaling.centre.iter().zip(&trained.scaling.scale);
        let machine = |machine: &Machine| {
            let solution = &machine.solution;
            MachineRecord {
                negative: trained.classes[machine.negative as usize].clone(),
                positive: trained.classes[machine.positive as usize].clone(),
                intercept: machine.bias,
                weights: linear.then(|| machine.weights.clone()),
                coefficients: (!linear).then(|| machine.coefficients.clone()),
                primal: finite(solution.primal),
                dual: finite(solution.dual),
                gap: finite(solution.gap()),
                kkt_residual: finite(solution.kkt_residual),
                iterations: solution.iterations,
                status: Some(solution.status),
            }
        };
        let rows = &model.support_vectors;
        Self {
            kernel: kernel_name(model.kernel).to_owned(),
            gamma: model.kernel.gamma(),
            coef0,
            degree,
            categorical: (model.kernel.distance().is_some())
                .then(|| model.features.iter().zip(names).filter_map(named).collect()),
            cost: trained.svm.cost,
            loss: Some(trained.svm.loss),
            bias: Some(trained.svm.bias),
            features: names.clone(),
            feature_indices: model.features.clone(),
            weights: only.filter(|_| linear).map(|only| ByName::new(names, only.weights.iter().copied())),
            intercept: only.map(|only| only.bias),
            normalization: trained.normalized.as_ref().map(|done| NormalizationRecord {
                total: done.how.total,
                log1p: done.how.log1p,
                n_features: done.features,
                uncounted: done.how.uncounted.clone(),
            }),
            reading: trained.reading.said(),
            scaling: ScalingRecord {
                kind: trained.scaling.kind.clone(),
                features: ByName::new(names, scales.map(|(&centre, &scale)| ScaleOf { centre, scale })),
            },
            imputation: trained.imputation.as_ref().map(|imputation| {
                let each = imputation.fill.iter().zip(&imputation.indicates);
                let each = each.map(|(&fill, of)| FillOf { fill, indicates: of.clone() });
                ImputationRecord { rule: imputation.rule.clone(), features: ByName::new(names, each) }
            }),
            levels: ByName(trained.levels.clone()),
            probabilities: trained.calibration.clone(),
            machines: model.machines.iter().map(machine).collect(),
            support_vectors: (!linear).then(|| (0..rows.n_samples()).map(|i| row_values(rows, i)).collect()),
        }
    }
}

impl ModelRecord {
    /// The model, once it is known to be whole.
    ///
    /// # Errors
    /// What does not go together, with the remedy.
    pub(super) fn trained(mut self, ClassNames(classes): ClassNames, target: String) -> Result<TrainedModel, String> {
        let rows = self.support_vectors.take();
        let names = &self.features;
        let kernel = self.kernel()?;
        let categorical = self.categorical(kernel)?;
        let (linear, k) = (kernel == Kernel::Linear, classes.len());
        let scaling = self.scaling.features.of(names, "scaled in this model")?;
        if scaling.iter().any(|of| of.scale == 0.0) {
            return Err(wrong("a scale is 0"));
        }
        let imputation = self.imputation.as_ref().map(|imputation| {
            let each = imputation.features.of(names, "imputed in this model")?;
            Ok::<_, String>(FeatureImputation {
                rule: imputation.rule.clone(),
                fill: each.iter().map(|of| of.fill).collect(),
                indicates: each.iter().map(|of| of.indicates.clone()).collect(),
            })
        });
        if self.normalization.as_ref().and_then(|done| done.total).is_some_and(|total| total <= 0.0) {
            return Err(wrong("`total` is not above 0"));
        }
        let rows = if linear { Vec::new() } else { rows.ok_or_else(|| wrong("it has no support vectors"))? };
        if rows.iter().any(|row| row.len() != names.len()) {
            return Err(wrong("a support vector has not one value for each feature"));
        }
        let read = |machine: &MachineRecord| machine.machine(&classes, names.len(), rows.len(), linear);
        let machines: Vec<Machine> = self.machines.iter().map(read).collect::<Result<_, String>>()?;
        if k < 2 || machines.len() != k * (k - 1) / 2 {
            return Err(wrong("it has not one machine for each pair of classes"));
        }
        self.check_shown(&machines)?;
        let fits = |p: &Probabilities| p.pairs() == machines.len() && (k == 2) == matches!(p, Probabilities::Two(_));
        if self.probabilities.as_ref().is_some_and(|p| !fits(p)) {
            return Err(wrong("`probabilities` need `pairs`, one for each machine, for more than two classes alone"));
        }
        let reading: ReadOptions =
            serde_json::from_value(Value::Object(self.reading)).map_err(|why| wrong(&why.to_string()))?;
        Ok(TrainedModel {
            model: Model {
                features: (0..names.len()).collect(),
                kernel,
                categorical,
                n_classes: k as u32,
                machines,
                support_vectors: RowMatrix::dense(rows.len(), names.len(), rows.concat()),
            },
            scaling: FeatureScaling {
                kind: self.scaling.kind.clone(),
                centre: scaling.iter().map(|of| of.centre).collect(),
                scale: scaling.iter().map(|of| of.scale).collect(),
            },
            n_columns: names.len(),
            imputation: imputation.transpose()?,
            names: self.features,
            classes,
            target,
            normalized: self.normalization.map(|done| Normalized {
                how: Normalization { total: done.total, log1p: done.log1p, uncounted: done.uncounted },
                features: done.n_features,
                ..Normalized::default()
            }),
            reading,
            levels: self.levels.0,
            svm: SvmSettings { cost: self.cost, ..SvmSettings::default() },
            calibration: self.probabilities,
        })
    }

    fn kernel(&self) -> Result<Kernel, String> {
        let number = |name: &str, value: Option<f64>| value.ok_or_else(|| wrong(&format!("it has no {name}")));
        let gamma = || number("gamma", self.gamma);
        let coef0 = || number("coef0", self.coef0);
        let degree = || self.degree.ok_or_else(|| wrong("it has no degree"));
        let kernel = match self.kernel.as_str() {
            "linear" => Kernel::Linear,
            "rbf" => Kernel::Rbf { gamma: gamma()? },
            "laplace" => Kernel::Laplace { gamma: gamma()? },
            "poly" => Kernel::Poly { gamma: gamma()?, coef0: coef0()?, degree: degree()? },
            "sigmoid" => Kernel::Sigmoid { gamma: gamma()?, coef0: coef0()? },
            other => return Err(format!("its kernel is {other}, but must be linear, rbf, laplace, poly or sigmoid")),
        };
        kernel.check().map_err(|error| error.to_string())?;
        Ok(kernel)
    }

    /// The features that hold categories; models of earlier versions name none.
    fn categorical(&self, kernel: Kernel) -> Result<Vec<usize>, String> {
        let listed = self.categorical.as_deref().unwrap_or_default();
        if !listed.is_empty() && kernel.distance().is_none() {
            return Err(wrong("its features are categories, but its kernel is neither rbf nor laplace"));
        }
        let place = |name: &String| {
            let found = self.features.iter().position(|other| other == name);
            found.ok_or_else(|| wrong(&format!("`{name}` of `categorical` is none of its features")))
        };
        listed.iter().map(place).collect()
    }

    /// Refuses a model whose `weights` and `intercept`, which people read, are not those of its
    /// machine.
    fn check_shown(&self, machines: &[Machine]) -> Result<(), String> {
        let [machine] = machines else { return Ok(()) };
        let shown: HashMap<&str, f64> =
            self.weights.iter().flat_map(|weights| &weights.0).map(|(name, shown)| (name.as_str(), *shown)).collect();
        let mut weights = self.features.iter().zip(&machine.weights);
        let weight = weights.find(|(name, used)| shown.get(name.as_str()).is_some_and(|shown| shown != *used));
        let key = match weight {
            Some((name, _)) => format!("weight of {name}"),
            None if self.intercept.is_some_and(|shown| shown != machine.bias) => "intercept".to_owned(),
            None => return Ok(()),
        };
        Err(format!("its {key} is not that of its machine, which is the one used; write the model again"))
    }
}

impl MachineRecord {
    fn machine(&self, classes: &[String], features: usize, rows: usize, linear: bool) -> Result<Machine, String> {
        let class = |name: &String| {
            let at = classes.iter().position(|class| class == name);
            at.map(|at| at as u32)
                .ok_or_else(|| format!("a machine names the class {name}, which the model does not have"))
        };
        let weights = self.weights.clone().unwrap_or_default();
        let coefficients = self.coefficients.clone().unwrap_or_default();
        if linear && weights.len() != features {
            return Err(wrong("a machine has not one weight for each feature"));
        }
        if !linear && self.coefficients.is_none() || coefficients.iter().any(|one| one.0 >= rows) {
            return Err(wrong("`coefficients` of a machine are not of its support vectors"));
        }
        let solution = DualSolution {
            beta: Vec::new(),
            bias: self.intercept,
            weights: Vec::new(),
            primal: self.primal.unwrap_or(f64::NAN),
            dual: self.dual.unwrap_or(f64::NAN),
            absolute_gap: f64::INFINITY,
            kkt_residual: self.kkt_residual.unwrap_or(f64::NAN),
            iterations: self.iterations,
            status: Status::Completed,
        };
        let (weights, coefficients) = if linear { (weights, Vec::new()) } else { (Vec::new(), coefficients) };
        let (negative, positive) = (class(&self.negative)?, class(&self.positive)?);
        Ok(Machine { negative, positive, weights, coefficients, bias: self.intercept, solution })
    }
}

/// The error of a model that is not whole.
pub(super) fn wrong(why: &str) -> String {
    format!("the model is not whole ({why}); write it again with this version of fewest")
}

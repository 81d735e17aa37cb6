//! Trained models as files: everything `fewest predict` needs, and nothing that depends on the
//! machine. docs/formats/model.md is the format; a result of a selection holds the same `model` and
//! `classes`, so that both are read here.

mod kernel;
mod record;
mod tasks;

use fewest::model::{Machine, Model};
use fewest::{RowMatrix, SvmSettings};
use fewest_data::{Imputation, Indicator, Names, Normalized, Note, ReadOptions, Scaling, key_of_class};
use fewest_eval::study::Probabilities;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::{ByName, Document, Kind, SCHEMA};
pub use kernel::kernel_name;
pub use record::ModelRecord;
pub use tasks::{Classifiers, Judged, TaskModels, TaskModelsRecord};

/// How each of the model's features is prepared: `(x - centre) / scale`.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureScaling {
    /// The text of a [`fewest_data::ScaleKind`].
    pub kind: String,
    /// Subtracted.
    pub centre: Vec<f64>,
    /// Divided by; never 0.
    pub scale: Vec<f64>,
}

/// What stands in for missing values of each of the model's features, before scaling.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureImputation {
    /// The value of `--missing` in training.
    pub rule: String,
    /// Put in place of a missing value.
    pub fill: Vec<f64>,
    /// The column whose missing values the feature marks, where it is an indicator.
    pub indicates: Vec<Option<String>>,
}

impl FeatureScaling {
    /// The scaling of some of the features that it was fitted on, in their order.
    pub fn new(scaling: &Scaling, features: &[usize]) -> Self {
        let each = |list: &[f64], none: f64| features.iter().map(|&j| list.get(j).copied().unwrap_or(none)).collect();
        let kind = scaling.kind.to_string();
        Self { kind, centre: each(&scaling.center, 0.0), scale: each(&scaling.scale, 1.0) }
    }
}

impl FeatureImputation {
    /// What stands in for missing values of some of these features, in their order.
    pub fn new(imputation: &Imputation, indicators: &[Indicator], names: &Names, features: &[usize]) -> Self {
        let of = |&j: &usize| indicators.iter().find(|i| i.name == *names.get(j)).map(|i| i.of.clone());
        Self {
            rule: imputation.rule.name().to_owned(),
            fill: features.iter().map(|&j| imputation.fill[j]).collect(),
            indicates: features.iter().map(of).collect(),
        }
    }
}

/// A model with the names and the scaling that belong to it.
#[derive(Debug, Clone)]
pub struct TrainedModel {
    /// The machines; `features` are columns of the training data.
    pub model: Model,
    /// Names of the model's features, in its order.
    pub names: Vec<String>,
    /// Class names by index.
    pub classes: Vec<String>,
    /// Name of the target column.
    pub target: String,
    /// Scaling of the model's features.
    pub scaling: FeatureScaling,
    /// What is done to values as they are read; none: nothing.
    pub normalized: Option<Normalized>,
    /// How the cells of its data were understood.
    pub reading: ReadOptions,
    /// What stands in for missing values; none: they are refused.
    pub imputation: Option<FeatureImputation>,
    /// All values in training of the text columns that its features are made of, by column.
    pub levels: Vec<(String, Vec<String>)>,
    /// Columns of the training data.
    pub n_columns: usize,
    /// Settings of the training.
    pub svm: SvmSettings,
    /// From decision values to the probability of each class, where it is known.
    pub calibration: Option<Probabilities>,
}

/// The names of classes, as an object: keys -1 and +1 for two classes, 0, 1, ... for more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClassNames(pub Vec<String>);

impl Serialize for ClassNames {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        ByName::by_class_key(self.0.iter()).serialize(to)
    }
}

impl<'de> Deserialize<'de> for ClassNames {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let found = Map::deserialize(from)?;
        let class = |at| found.get(&key_of_class(at, found.len())).and_then(Value::as_str).map(str::to_owned);
        let named: Option<Vec<String>> = (0..found.len()).map(class).collect();
        named.map(Self).ok_or_else(|| serde::de::Error::custom("classes have the keys -1 and +1, or 0, 1, 2, ..."))
    }
}

/// A model as a file has it.
#[derive(Serialize)]
struct ModelFile<'a> {
    target: &'a str,
    classes: ClassNames,
    n_features: usize,
    model: ModelRecord,
}

impl TrainedModel {
    /// The `model` entry.
    pub fn record(&self) -> ModelRecord {
        self.into()
    }

    /// The whole model file.
    pub fn file(&self) -> Value {
        let file = ModelFile {
            target: &self.target,
            classes: ClassNames(self.classes.clone()),
            n_features: self.n_columns,
            model: self.record(),
        };
        Document::new(Kind::Model, file).value()
    }

    /// Weights and bias of a linear machine for data as in the file.
    pub fn raw(&self, machine: &Machine) -> (Vec<f64>, f64) {
        let weights: Vec<f64> = machine.weights.iter().zip(&self.scaling.scale).map(|(w, s)| w / s).collect();
        let shift: f64 = weights.iter().zip(&self.scaling.centre).map(|(w, c)| w * c).sum();
        (weights, machine.bias - shift)
    }
}

/// Reads a model file, one of tasks, or a selection result.
///
/// # Errors
/// What is missing or of the wrong kind, with the remedy.
pub fn read(content: &str) -> Result<Classifiers, String> {
    let file: Value = serde_json::from_str(content).map_err(|error| {
        format!("not JSON ({error}); give a model written by `fewest fit`, or the --json result of `fewest select`")
    })?;
    let schema = file.get("schema").and_then(Value::as_u64);
    if schema != Some(SCHEMA) {
        let found = file.get("schema").map_or("none".to_owned(), Value::to_string);
        return Err(format!(
            "its `schema` is {found}, but this version of fewest reads {SCHEMA}; write the model again"
        ));
    }
    if file.get("task_models").is_none_or(Value::is_null) {
        read_one(&file).map(|trained| Classifiers::One(Box::new(trained)))
    } else {
        tasks::read(&file).map(Classifiers::Tasks)
    }
}

/// Reads the model of a model file, a selection result or a task.
fn read_one(file: &Value) -> Result<TrainedModel, String> {
    let model = file.get("model").filter(|model| !model.is_null());
    let model = model.ok_or("there is no model in it; the selection may have ended without one")?;
    let whole = |why: serde_json::Error| record::wrong(&why.to_string());
    let record = ModelRecord::deserialize(model).map_err(whole)?;
    let classes = ClassNames::deserialize(file.get("classes").unwrap_or(&Value::Null)).map_err(whole)?;
    record.trained(classes, file.get("target").and_then(Value::as_str).unwrap_or_default().to_owned())
}

/// All values of the text columns that one of these features is made of, by column, from what reading
/// said.
pub fn levels_of(notes: &[Note], features: &[String]) -> Vec<(String, Vec<String>)> {
    let of = |note: &Note| match note {
        Note::Dummies { column, made, values } if made.iter().any(|name| features.contains(name)) => {
            Some((column.clone(), values.clone()))
        }
        _ => None,
    };
    notes.iter().filter_map(of).collect()
}

/// Row i with its zeros.
pub fn row_values(rows: &RowMatrix, i: usize) -> Vec<f64> {
    let mut values = vec![0.0; rows.n_features()];
    rows.row(i).add_to(1.0, &mut values);
    values
}

#[cfg(test)]
mod tests {
    use fewest::dual::DualSolution;
    use fewest::{Kernel, Status};

    use super::*;

    /// A model as it is read back from its file.
    fn back(file: &Value) -> Result<TrainedModel, String> {
        match read(&file.to_string())? {
            Classifiers::One(trained) => Ok(*trained),
            Classifiers::Tasks(_) => Err("classifiers of tasks".to_owned()),
        }
    }

    fn solution() -> DualSolution {
        DualSolution {
            beta: vec![],
            bias: 0.25,
            weights: vec![],
            primal: 1.0,
            dual: 1.0,
            absolute_gap: 0.0,
            kkt_residual: 0.0,
            iterations: 1,
            status: Status::Optimal,
        }
    }

    fn trained(kernel: Kernel) -> TrainedModel {
        let linear = kernel == Kernel::Linear;
        let machine = Machine {
            negative: 0,
            positive: 1,
            weights: if linear { vec![0.1, -2.0] } else { vec![] },
            coefficients: if linear { vec![] } else { vec![(0, 0.1), (1, -0.1)] },
            bias: 0.25,
            solution: solution(),
        };
        TrainedModel {
            model: Model {
                features: vec![3, 7],
                kernel,
                categorical: if kernel.distance().is_some() { vec![7] } else { vec![] },
                n_classes: 2,
                machines: vec![machine],
                support_vectors: RowMatrix::dense(
                    if linear { 0 } else { 2 },
                    2,
                    if linear { vec![] } else { vec![1.0, 0.0, 0.5, 1e-300] },
                ),
            },
            names: vec!["a".into(), "b \"q\"".into()],
            classes: vec!["no".into(), "yes".into()],
            target: "y".into(),
            normalized: None,
            reading: ReadOptions { missing_codes: vec!["-999".into()], thousands: Some('.'), ..ReadOptions::default() },
            scaling: FeatureScaling { kind: "standard".into(), centre: vec![1.0, -0.1], scale: vec![2.0, 0.3] },
            imputation: linear.then(|| FeatureImputation {
                rule: "indicator".into(),
                fill: vec![0.1, -3.5],
                indicates: vec![None, Some("b".into())],
            }),
            levels: vec![("c".into(), vec!["u".into(), "v".into()])],
            n_columns: 9,
            svm: SvmSettings::default(),
            calibration: None,
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let laplace = Kernel::Laplace { gamma: 0.1 };
        for kernel in [Kernel::Linear, Kernel::Poly { gamma: 0.1, coef0: 1.0, degree: 2 }, laplace] {
            let (out, back) = (trained(kernel), back(&trained(kernel).file()).expect("whole"));
            assert_eq!((back.names, back.classes, back.scaling), (out.names, out.classes, out.scaling));
            assert_eq!(back.model.kernel, kernel);
            let categorical: Vec<usize> = if kernel == laplace { vec![1] } else { vec![] };
            assert_eq!(back.model.categorical, categorical);
            assert_eq!(back.model.machines[0].weights, out.model.machines[0].weights);
            assert_eq!(back.model.machines[0].coefficients, out.model.machines[0].coefficients);
            assert_eq!(back.model.support_vectors.dense_values(), out.model.support_vectors.dense_values());
            assert_eq!((back.target.as_str(), back.imputation), ("y", out.imputation));
            assert_eq!((back.levels, back.reading), (out.levels, out.reading));
        }
    }

    #[test]
    fn raw_weights_fold_the_scaling_in() {
        let trained = trained(Kernel::Linear);
        let (w, b) = trained.raw(&trained.model.machines[0]);
        let x = [4.0, 5.0];
        let scaled = 0.1 * (x[0] - 1.0) / 2.0 - 2.0 * (x[1] + 0.1) / 0.3 + 0.25;
        assert!((w[0] * x[0] + w[1] * x[1] + b - scaled).abs() < 1e-12);
    }

    #[test]
    fn damaged_files_are_refused_with_a_reason() {
        let whole = trained(Kernel::Linear).file().to_string();
        let refused = |text: &str| read(text).err().expect("refused");
        assert!(refused("solver_type L2R").contains("not JSON"));
        assert!(refused("{}").contains("schema"));
        for (from, to) in [("\"machines\"", "\"m\""), ("\"linear\"", "\"cubic\""), ("\"scale\"", "\"s\"")] {
            assert!(read(&whole.replace(from, to)).is_err(), "{from}");
        }
        assert!(refused(&whole.replace("\"machines\"", "\"m\"")).contains("not whole (missing field `machines`)"));
    }
}

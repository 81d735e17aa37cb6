//! A trained model as JSON: everything `fewest predict` needs, and nothing that depends on the
//! machine.
//!
//! A model file is
//! `{"schema", "kind": "model", "version", "target", "classes", "n_features", "model"}`; a
//! selection result holds the same `model` and `classes`, so that both can be read back here.
//! `normalization`: values of a sample were multiplied so that their sum over `n_features` is
//! `total`, then x became ln(1 + x) with `log1p`. `reading` says how cells were understood. `levels` are all values in training of text columns whose dummy columns are features. Missing
//! values become `imputation`'s `fill`; a feature that `indicates` a column is 1 where that has no
//! value, else 0. Decision value of a machine: `sum_j w_j (x_j - centre_j) / scale_j + intercept`,
//! or the kernel sum over `support_vectors`, which are stored scaled. Positive values vote for
//! `positive`.

use fewest::dual::DualSolution;
use fewest::model::{Machine, Model};
use fewest::{Kernel, RowMatrix, Status, SvmSettings};
use fewest_data::{Dataset, Normalized, Note, Target};
use fewest_eval::study::Probabilities;
use serde_json::{Map, Value, json};

use super::fields::{field, list, number, text, wrong};
pub(crate) use super::kernel_json::{bias_value, loss_name};
use super::kernel_json::{kernel_entries, read_categorical, read_kernel};
use super::normalization;
use super::reading::Reading;

/// Version of the file layout.
pub(crate) const SCHEMA: u64 = 1;

/// How each of the model's features is prepared: `(x - centre) / scale`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FeatureScaling {
    /// `standard`, `maxabs` or `none`.
    pub(crate) kind: String,
    /// Subtracted.
    pub(crate) centre: Vec<f64>,
    /// Divided by; never 0.
    pub(crate) scale: Vec<f64>,
}

/// What stands in for missing values of each of the model's features, before scaling.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FeatureImputation {
    /// The value of `--missing` in training.
    pub(crate) rule: String,
    /// Put in place of a missing value.
    pub(crate) fill: Vec<f64>,
    /// The column whose missing values the feature marks, where it is an indicator.
    pub(crate) indicates: Vec<Option<String>>,
}

/// A model with the names and the scaling that belong to it.
#[derive(Debug, Clone)]
pub(crate) struct TrainedModel {
    /// The machines; `features` are columns of the training data.
    pub(crate) model: Model,
    /// Names of the model's features, in its order.
    pub(crate) names: Vec<String>,
    /// Class names by index.
    pub(crate) classes: Vec<String>,
    /// Name of the target column.
    pub(crate) target: String,
    /// Scaling of the model's features.
    pub(crate) scaling: FeatureScaling,
    /// What is done to values as they are read; none: nothing.
    pub(crate) normalized: Option<Normalized>,
    /// How the cells of its data were understood.
    pub(crate) reading: Reading,
    /// What stands in for missing values; none: they are refused.
    pub(crate) imputation: Option<FeatureImputation>,
    /// All values in training of the text columns that its features are made of, by column.
    pub(crate) levels: Vec<(String, Vec<String>)>,
    /// Columns of the training data.
    pub(crate) n_columns: usize,
    /// Settings of the training.
    pub(crate) svm: SvmSettings,
    /// From decision values to the probability of each class, where it is known.
    pub(crate) calibration: Option<Probabilities>,
}

/// The class names as the contract has them: keys -1 and +1 for two classes, 0, 1, ... for more.
pub(crate) fn classes_value(classes: &[String]) -> Value {
    let key = |at: usize| match (classes.len(), at) {
        (2, 0) => "-1".to_owned(),
        (2, _) => "+1".to_owned(),
        _ => at.to_string(),
    };
    Value::Object(classes.iter().enumerate().map(|(at, name)| (key(at), json!(name))).collect())
}

/// Samples of each class, under the keys of [`classes_value`].
pub(crate) fn counts_value(target: &Target) -> Value {
    let Value::Object(classes) = classes_value(&target.classes) else { return Value::Null };
    Value::Object(classes.into_iter().zip(target.counts()).map(|((key, _), count)| (key, json!(count))).collect())
}

fn by_name(names: &[String], values: impl IntoIterator<Item = Value>) -> Value {
    Value::Object(names.iter().cloned().zip(values).collect())
}

impl TrainedModel {
    /// The `model` entry.
    pub(crate) fn value(&self) -> Value {
        let (kernel, parameters) = kernel_entries(self.model.kernel);
        let mut out = Map::new();
        out.insert("kernel".into(), json!(kernel));
        out.extend(parameters.into_iter().map(|(key, value)| (key.to_owned(), value)));
        if self.model.kernel.distance().is_some() {
            let each = self.model.features.iter().zip(&self.names);
            let categorical = each.filter(|(j, _)| self.model.categorical.contains(j)).map(|(_, name)| name);
            out.insert("categorical".into(), json!(categorical.collect::<Vec<_>>()));
        }
        out.insert("cost".into(), json!(self.svm.cost));
        out.insert("loss".into(), json!(self.svm.loss));
        out.insert("bias".into(), bias_value(self.svm.bias));
        out.insert("features".into(), json!(self.names));
        out.insert("feature_indices".into(), json!(self.model.features));
        if let [machine] = self.model.machines.as_slice() {
            if self.model.kernel == Kernel::Linear {
                out.insert("weights".into(), by_name(&self.names, machine.weights.iter().map(|w| json!(w))));
            }
            out.insert("intercept".into(), json!(machine.bias));
        }
        out.extend(self.normalized.as_ref().map(|done| ("normalization".into(), normalization::value(done))));
        out.extend(self.reading.value().map(|reading| ("reading".into(), reading)));
        let each = self.scaling.centre.iter().zip(&self.scaling.scale);
        let scaling = by_name(&self.names, each.map(|(c, s)| json!({"centre": c, "scale": s})));
        // Moved, as `json!` would copy them: a model may have a million features.
        let mut kind = json!({"kind": self.scaling.kind});
        kind["features"] = scaling;
        out.insert("scaling".into(), kind);
        let imputation = self.imputation.as_ref().map(|imputation| {
            let each = imputation.fill.iter().zip(&imputation.indicates);
            let features = by_name(&self.names, each.map(|(fill, of)| json!({"fill": fill, "indicates": of})));
            json!({"rule": imputation.rule, "features": features})
        });
        out.insert("imputation".into(), json!(imputation));
        if !self.levels.is_empty() {
            let each = self.levels.iter().map(|(column, levels)| (column.clone(), json!(levels)));
            out.insert("levels".into(), Value::Object(each.collect()));
        }
        if let Some(calibration) = &self.calibration {
            out.insert("probabilities".into(), json!(calibration));
        }
        out.insert("machines".into(), self.model.machines.iter().map(|m| self.machine_value(m)).collect());
        if self.model.kernel != Kernel::Linear {
            out.insert("support_vectors".into(), rows_value(&self.model.support_vectors));
        }
        Value::Object(out)
    }

    fn machine_value(&self, machine: &Machine) -> Value {
        let solution = &machine.solution;
        let mut out = Map::new();
        out.insert("negative".into(), json!(self.classes[machine.negative as usize]));
        out.insert("positive".into(), json!(self.classes[machine.positive as usize]));
        out.insert("intercept".into(), json!(machine.bias));
        if self.model.kernel == Kernel::Linear {
            out.insert("weights".into(), json!(machine.weights));
        } else {
            out.insert("coefficients".into(), json!(machine.coefficients));
        }
        out.insert("primal".into(), json!(solution.primal));
        out.insert("dual".into(), json!(solution.dual));
        out.insert("gap".into(), json!(solution.gap()));
        out.insert("kkt_residual".into(), json!(solution.kkt_residual));
        out.insert("iterations".into(), json!(solution.iterations));
        out.insert("status".into(), json!(solution.status));
        Value::Object(out)
    }

    /// The whole model file.
    pub(crate) fn file(&self) -> String {
        let mut file = json!({
            "schema": SCHEMA,
            "kind": "model",
            "version": env!("CARGO_PKG_VERSION"),
            "target": self.target,
            "classes": classes_value(&self.classes),
            "n_features": self.n_columns,
        });
        file["model"] = self.value();
        super::json::text(&file)
    }

    /// Weights and bias of a linear machine for data as in the file.
    pub(crate) fn raw(&self, machine: &Machine) -> (Vec<f64>, f64) {
        let weights: Vec<f64> = machine.weights.iter().zip(&self.scaling.scale).map(|(w, s)| w / s).collect();
        let shift: f64 = weights.iter().zip(&self.scaling.centre).map(|(w, c)| w * c).sum();
        (weights, machine.bias - shift)
    }
}

fn rows_value(rows: &RowMatrix) -> Value {
    (0..rows.n_samples()).map(|i| json!(row_values(rows, i))).collect()
}

/// Row i with its zeros.
pub(crate) fn row_values(rows: &RowMatrix, i: usize) -> Vec<f64> {
    let mut values = vec![0.0; rows.n_features()];
    rows.row(i).add_to(1.0, &mut values);
    values
}

/// A file of this program's layout.
///
/// # Errors
/// No JSON, or another layout.
pub(super) fn parse(content: &str) -> Result<Value, String> {
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
    Ok(file)
}

/// The names of classes as [`classes_value`] writes them.
pub(super) fn read_classes(value: &Value) -> Result<Vec<String>, String> {
    let classes = value.as_object().ok_or_else(|| wrong("classes", "an object"))?;
    let key = |at: usize| if classes.len() == 2 { ["-1", "+1"][at].to_owned() } else { at.to_string() };
    let class = |at| classes.get(&key(at)).and_then(Value::as_str).map(str::to_owned);
    let named: Option<Vec<String>> = (0..classes.len()).map(class).collect();
    named.ok_or_else(|| wrong("classes", "an object with the keys -1 and +1, or 0, 1, 2, ..."))
}

/// Reads the model of a model file or a selection result.
///
/// # Errors
/// What is missing or of the wrong kind, with the remedy.
pub(super) fn read(file: &Value) -> Result<TrainedModel, String> {
    let model = field(file, "model", "a model; the selection may have ended without one")?;
    let classes = read_classes(field(file, "classes", "the class names")?)?;
    let names: Vec<String> = list(model, "features", "a list of names")?;
    let kernel = read_kernel(model)?;
    let categorical = read_categorical(model, &names, kernel)?;
    let scaling = read_scaling(field(model, "scaling", "an object")?, &names)?;
    // Models of earlier versions have none.
    let imputation = model.get("imputation").filter(|value| !value.is_null());
    let imputation = imputation.map(|value| read_imputation(value, &names)).transpose()?;
    let levels = read_levels(model)?;
    let (normalized, reading) = (normalization::read(model)?, Reading::read(model)?);
    let rows: Vec<Vec<f64>> =
        if kernel == Kernel::Linear { vec![] } else { list(model, "support_vectors", "a list of rows")? };
    if rows.iter().any(|r| r.len() != names.len()) {
        return Err(wrong("support_vectors", "a list of rows with one value for each feature"));
    }
    let machines = field(model, "machines", "a list")?.as_array().ok_or_else(|| wrong("machines", "a list"))?;
    let read = |m| read_machine(m, &classes, names.len(), rows.len(), kernel);
    let machines: Vec<Machine> = machines.iter().map(read).collect::<Result<_, String>>()?;
    let k = classes.len();
    if k < 2 || machines.len() != k * (k - 1) / 2 {
        return Err(wrong("machines", "a list with one machine for each pair of classes"));
    }
    check_shown(model, &names, &machines)?;
    let calibration = match model.get("probabilities") {
        None | Some(Value::Null) => None,
        Some(value) => {
            let found: Option<Probabilities> = serde_json::from_value(value.clone()).ok();
            let found = found.filter(|p| p.pairs() == machines.len() && (k == 2) == matches!(p, Probabilities::Two(_)));
            let form = "an object with the numbers a and b, or the lists decisions and probabilities; for more than two \
                        classes an object with `pairs`, one of these for each machine";
            Some(found.ok_or_else(|| wrong("probabilities", form))?)
        }
    };
    let svm = SvmSettings { cost: number(model, "cost")?, ..SvmSettings::default() };
    Ok(TrainedModel {
        model: Model {
            features: (0..names.len()).collect(),
            kernel,
            categorical,
            n_classes: k as u32,
            machines,
            support_vectors: RowMatrix::dense(rows.len(), names.len(), rows.concat()),
        },
        n_columns: names.len(),
        names,
        classes,
        target: file.get("target").and_then(Value::as_str).unwrap_or_default().to_owned(),
        scaling,
        normalized,
        reading,
        imputation,
        levels,
        svm,
        calibration,
    })
}

/// Refuses a model whose `weights` and `intercept`, which people read, are not those of its
/// machine.
fn check_shown(model: &Value, names: &[String], machines: &[Machine]) -> Result<(), String> {
    let [machine] = machines else { return Ok(()) };
    let differs = |shown: Option<&Value>, used: f64| shown.is_some_and(|shown| shown.as_f64() != Some(used));
    let mut weights = names.iter().zip(&machine.weights);
    let weight = weights.find(|(name, used)| differs(model.get("weights").and_then(|w| w.get(name)), **used));
    let key = match weight {
        Some((name, _)) => format!("weight of {name}"),
        None if differs(model.get("intercept"), machine.bias) => "intercept".to_owned(),
        None => return Ok(()),
    };
    Err(format!("its {key} is not that of its machine, which is the one used; write the model again"))
}

fn read_scaling(value: &Value, names: &[String]) -> Result<FeatureScaling, String> {
    let features = field(value, "features", "an object")?;
    let (mut centre, mut scale) = (Vec::new(), Vec::new());
    for name in names {
        let entry = field(features, name, "scaled in this model")?;
        centre.push(number(entry, "centre")?);
        scale.push(number(entry, "scale")?);
    }
    if scale.contains(&0.0) {
        return Err(wrong("scale", "a number other than 0"));
    }
    Ok(FeatureScaling { kind: text(value, "kind")?, centre, scale })
}

fn read_imputation(value: &Value, names: &[String]) -> Result<FeatureImputation, String> {
    let features = field(value, "features", "an object")?;
    let (mut fill, mut indicates) = (Vec::new(), Vec::new());
    for name in names {
        let entry = field(features, name, "imputed in this model")?;
        fill.push(number(entry, "fill")?);
        indicates.push(match entry.get("indicates") {
            None | Some(Value::Null) => None,
            Some(_) => Some(text(entry, "indicates")?),
        });
    }
    Ok(FeatureImputation { rule: text(value, "rule")?, fill, indicates })
}

/// Models of earlier versions, and those without text columns, have none.
fn read_levels(model: &Value) -> Result<Vec<(String, Vec<String>)>, String> {
    let Some(found) = model.get("levels") else { return Ok(Vec::new()) };
    let columns = found.as_object().ok_or_else(|| wrong("levels", "an object"))?;
    columns.keys().map(|column| Ok((column.clone(), list(found, column, "a list of texts")?))).collect()
}

/// All values of the text columns that one of these features is made of, by column.
pub(crate) fn levels_of(data: &Dataset, features: &[String]) -> Vec<(String, Vec<String>)> {
    let of = |note: &Note| match note {
        Note::Dummies { column, made, values } if made.iter().any(|name| features.contains(name)) => {
            Some((column.clone(), values.clone()))
        }
        _ => None,
    };
    data.notes.iter().filter_map(of).collect()
}

fn read_machine(
    value: &Value,
    classes: &[String],
    features: usize,
    rows: usize,
    kernel: Kernel,
) -> Result<Machine, String> {
    let class = |key: &str| -> Result<u32, String> {
        let name = text(value, key)?;
        let at = classes.iter().position(|c| *c == name);
        at.map(|at| at as u32).ok_or_else(|| format!("a machine names the class {name}, which the model does not have"))
    };
    let bias = number(value, "intercept")?;
    let (weights, coefficients): (Vec<f64>, Vec<(usize, f64)>) = if kernel == Kernel::Linear {
        (list(value, "weights", "a list of numbers")?, vec![])
    } else {
        (vec![], list(value, "coefficients", "a list of pairs")?)
    };
    if kernel == Kernel::Linear && weights.len() != features {
        return Err(wrong("weights", "a list with one number for each feature"));
    }
    if coefficients.iter().any(|c| c.0 >= rows) {
        return Err(wrong("coefficients", "a list of (support vector, coefficient)"));
    }
    let optional = |key: &str| value.get(key).and_then(Value::as_f64).unwrap_or(f64::NAN);
    let solution = DualSolution {
        beta: vec![],
        bias,
        weights: vec![],
        primal: optional("primal"),
        dual: optional("dual"),
        absolute_gap: f64::INFINITY,
        kkt_residual: optional("kkt_residual"),
        iterations: value.get("iterations").and_then(Value::as_u64).unwrap_or(0),
        status: Status::Completed,
    };
    Ok(Machine { negative: class("negative")?, positive: class("positive")?, weights, coefficients, bias, solution })
}

#[cfg(test)]
mod tests {
    use super::*;

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
            reading: Reading::of(&fewest_data::ReadOptions {
                missing_codes: vec!["-999".into()],
                thousands: Some('.'),
                ..fewest_data::ReadOptions::default()
            }),
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
            let (out, back) = (trained(kernel), read(&parse(&trained(kernel).file()).unwrap()).unwrap());
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
        let whole = trained(Kernel::Linear).file();
        assert!(parse("solver_type L2R").unwrap_err().contains("not JSON"));
        assert!(parse("{}").unwrap_err().contains("schema"));
        for (from, to) in [("\"machines\"", "\"m\""), ("\"linear\"", "\"cubic\""), ("\"scale\"", "\"s\"")] {
            assert!(read(&parse(&whole.replace(from, to)).unwrap()).is_err(), "{from}");
        }
    }
}

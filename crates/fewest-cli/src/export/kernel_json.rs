//! The kernel, bias and loss of a model as JSON: names, numbers, and which features hold categories.

use fewest::{Bias, Kernel, Loss};
use serde_json::{Value, json};

use super::fields::{list, number, text, wrong};

/// Kernel as `("rbf", parameters)`.
pub(crate) fn kernel_entries(kernel: Kernel) -> (&'static str, Vec<(&'static str, Value)>) {
    match kernel {
        Kernel::Linear => ("linear", vec![]),
        Kernel::Rbf { gamma } => ("rbf", vec![("gamma", json!(gamma))]),
        Kernel::Laplace { gamma } => ("laplace", vec![("gamma", json!(gamma))]),
        Kernel::Poly { gamma, coef0, degree } => {
            ("poly", vec![("gamma", json!(gamma)), ("coef0", json!(coef0)), ("degree", json!(degree))])
        }
        Kernel::Sigmoid { gamma, coef0 } => ("sigmoid", vec![("gamma", json!(gamma)), ("coef0", json!(coef0))]),
        Kernel::Precomputed => ("precomputed", vec![]),
    }
}

/// The kernel of a model.
///
/// # Errors
/// What is missing or out of range.
pub(super) fn read_kernel(model: &Value) -> Result<Kernel, String> {
    let degree = || number(model, "degree").map(|d| d as u32);
    let kernel = match text(model, "kernel")?.as_str() {
        "linear" => Kernel::Linear,
        "rbf" => Kernel::Rbf { gamma: number(model, "gamma")? },
        "laplace" => Kernel::Laplace { gamma: number(model, "gamma")? },
        "poly" => Kernel::Poly { gamma: number(model, "gamma")?, coef0: number(model, "coef0")?, degree: degree()? },
        "sigmoid" => Kernel::Sigmoid { gamma: number(model, "gamma")?, coef0: number(model, "coef0")? },
        other => return Err(format!("its kernel is {other}, but must be linear, rbf, laplace, poly or sigmoid")),
    };
    kernel.check().map_err(|error| error.to_string())?;
    Ok(kernel)
}

/// Which of the features hold categories; models of earlier versions have none.
pub(super) fn read_categorical(model: &Value, names: &[String], kernel: Kernel) -> Result<Vec<usize>, String> {
    if model.get("categorical").is_none_or(Value::is_null) {
        return Ok(Vec::new());
    }
    let listed: Vec<String> = list(model, "categorical", "a list of names")?;
    if !listed.is_empty() && kernel.distance().is_none() {
        return Err(
            "its features are categories, but its kernel is neither rbf nor laplace; write the model again".into()
        );
    }
    let place = |name: &String| {
        let found = names.iter().position(|other| other == name);
        found.ok_or_else(|| wrong("categorical", "a list of the model's features"))
    };
    listed.iter().map(place).collect()
}

/// The bias as in `--bias`.
pub(crate) fn bias_value(bias: Bias) -> Value {
    match bias {
        Bias::Free => json!("free"),
        Bias::None => json!("none"),
        Bias::Penalised(value) => json!(value),
    }
}

/// The name of a loss in settings.
pub(crate) fn loss_name(loss: Loss) -> &'static str {
    match loss {
        Loss::Hinge => "hinge",
        Loss::SquaredHinge => "squared-hinge",
    }
}

//! Kernel, bias and loss as JSON.

use fewest::{Bias, Kernel, Loss};
use serde_json::{Value, json};

/// Kernel as `("rbf", parameters)`.
pub fn kernel_entries(kernel: Kernel) -> (&'static str, Vec<(&'static str, Value)>) {
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

/// The bias: `free`, `none`, or a number.
pub fn bias_value(bias: Bias) -> Value {
    match bias {
        Bias::Free => json!("free"),
        Bias::None => json!("none"),
        Bias::Penalised(value) => json!(value),
    }
}

/// The name of a loss in settings.
pub fn loss_name(loss: Loss) -> &'static str {
    match loss {
        Loss::Hinge => "hinge",
        Loss::SquaredHinge => "squared-hinge",
    }
}

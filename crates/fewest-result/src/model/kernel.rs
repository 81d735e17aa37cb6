//! Kernel and bias as JSON.

use fewest::{Bias, Kernel};
use serde_json::{Value, json};

/// The name of a kernel.
pub fn kernel_name(kernel: Kernel) -> &'static str {
    match kernel {
        Kernel::Linear => "linear",
        Kernel::Rbf { .. } => "rbf",
        Kernel::Laplace { .. } => "laplace",
        Kernel::Poly { .. } => "poly",
        Kernel::Sigmoid { .. } => "sigmoid",
        Kernel::Precomputed => "precomputed",
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

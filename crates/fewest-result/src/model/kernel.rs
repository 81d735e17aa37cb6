//! Names of kernels.

use fewest::Kernel;

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

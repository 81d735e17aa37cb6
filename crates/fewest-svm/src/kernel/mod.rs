//! Kernels and the vector loops under them.

pub mod cholesky;
pub mod distance;
pub mod gamma;
pub mod gemm;
pub mod gram;
pub mod inverse;
pub mod outer;
pub mod products;
pub mod rows;
mod sigest;
pub mod symmetric;

pub use distance::{Distance, DistanceKernel, Distances};
pub use gamma::{Gamma, KernelRule};

use crate::{Error, simd};

/// Kernel function k(x, x').
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Kernel {
    /// `x.x'`
    #[default]
    Linear,
    /// `exp(-gamma ||x - x'||^2)`
    Rbf {
        /// gamma > 0
        gamma: f64,
    },
    /// `exp(-gamma sum_j |x_j - x'_j|)`
    Laplace {
        /// gamma > 0
        gamma: f64,
    },
    /// `(gamma x.x' + coef0)^degree`
    Poly {
        /// gamma > 0
        gamma: f64,
        /// Added before the power.
        coef0: f64,
        /// degree >= 1
        degree: u32,
    },
    /// `tanh(gamma x.x' + coef0)`; not positive semi-definite in general.
    Sigmoid {
        /// gamma > 0
        gamma: f64,
        /// Added inside tanh.
        coef0: f64,
    },
    /// The design already holds K: n x n, row i and column i belong to sample i.
    Precomputed,
}

impl Kernel {
    /// Checks gamma and degree.
    pub fn check(&self) -> Result<(), Error> {
        let (gamma, coef0, degree) = match *self {
            Kernel::Linear | Kernel::Precomputed => return Ok(()),
            Kernel::Rbf { gamma } | Kernel::Laplace { gamma } => (gamma, 0.0, 1),
            Kernel::Poly { gamma, coef0, degree } => (gamma, coef0, degree),
            Kernel::Sigmoid { gamma, coef0 } => (gamma, coef0, 1),
        };
        if !(gamma > 0.0 && gamma.is_finite()) {
            return Err(Error::setting("gamma", gamma, "a finite number above 0"));
        }
        if !coef0.is_finite() {
            return Err(Error::setting("coef0", coef0, "a finite number"));
        }
        if degree == 0 {
            return Err(Error::setting("degree", degree, "at least 1"));
        }
        Ok(())
    }
}

impl Kernel {
    /// The distance of a feature that the kernel is made of, where it is a product over features.
    pub fn distance(&self) -> Option<Distance> {
        match self {
            Kernel::Rbf { .. } => Some(Distance::Squared),
            Kernel::Laplace { .. } => Some(Distance::Absolute),
            Kernel::Linear | Kernel::Poly { .. } | Kernel::Sigmoid { .. } | Kernel::Precomputed => None,
        }
    }

    /// Turns inner products `x.x_k` into kernel values in place; `norm` is ||x||^2 and `norms[k]` is
    /// ||x_k||^2.
    ///
    /// # Panics
    /// For [`Kernel::Laplace`], which inner products do not give.
    pub fn from_products(&self, products: &mut [f64], norm: f64, norms: &[f64]) {
        assert_ne!(self.distance(), Some(Distance::Absolute), "inner products do not give absolute differences");
        if let Kernel::Rbf { gamma } = *self {
            simd::exp_of_products(products, norm, norms, gamma);
        } else {
            self.apply(products);
        }
    }

    /// Turns distances (RBF, Laplace) or inner products (the others) into kernel values in place.
    pub fn apply(&self, values: &mut [f64]) {
        match *self {
            Kernel::Linear | Kernel::Precomputed => {}
            Kernel::Rbf { gamma } | Kernel::Laplace { gamma } => simd::exp_of_distances(values, gamma),
            Kernel::Poly { gamma, coef0, degree } => {
                for value in values {
                    *value = (gamma * *value + coef0).powi(degree as i32);
                }
            }
            Kernel::Sigmoid { gamma, coef0 } => {
                for value in values {
                    *value = (gamma * *value + coef0).tanh();
                }
            }
        }
    }

    /// This kernel with another gamma; unchanged where there is none.
    #[must_use]
    pub fn with_gamma(self, gamma: f64) -> Self {
        match self {
            Kernel::Linear | Kernel::Precomputed => self,
            Kernel::Rbf { .. } => Kernel::Rbf { gamma },
            Kernel::Laplace { .. } => Kernel::Laplace { gamma },
            Kernel::Poly { coef0, degree, .. } => Kernel::Poly { gamma, coef0, degree },
            Kernel::Sigmoid { coef0, .. } => Kernel::Sigmoid { gamma, coef0 },
        }
    }

    /// gamma, where there is one.
    pub fn gamma(&self) -> Option<f64> {
        match *self {
            Kernel::Linear | Kernel::Precomputed => None,
            Kernel::Rbf { gamma }
            | Kernel::Laplace { gamma }
            | Kernel::Poly { gamma, .. }
            | Kernel::Sigmoid { gamma, .. } => Some(gamma),
        }
    }
}

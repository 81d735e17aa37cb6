//! Kernels and the vector loops under them.

pub mod simd;

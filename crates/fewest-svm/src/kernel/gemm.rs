//! One safe door to the crate `gemm-f64`: C += alpha A B on checked views of slices.

#![expect(unsafe_code, reason = "gemm's entry point is unsafe; the one call below checks every extent first")]

use crate::Clock;

/// A rows x columns matrix inside a slice: entry (i, j) at `i * row_stride + j * column_stride`.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// The slice.
    pub data: &'a [f64],
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Distance between rows.
    pub row_stride: usize,
    /// Distance between columns.
    pub column_stride: usize,
}

impl<'a> View<'a> {
    /// Row-major with the given distance between rows.
    pub fn rows(data: &'a [f64], rows: usize, columns: usize, stride: usize) -> Self {
        Self { data, rows, columns, row_stride: stride, column_stride: 1 }
    }

    /// The transpose.
    #[must_use]
    pub fn transposed(self) -> Self {
        Self {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }

    fn fits(&self) -> bool {
        (self.rows - 1) * self.row_stride + (self.columns - 1) * self.column_stride < self.data.len()
    }
}

/// Multiplications between two checks of the clock: some tens of milliseconds.
const CHECK_EVERY: usize = 1 << 28;

/// [`add_product`], unless `clock` stops it: then C is invalid, and the answer is false.
#[must_use]
pub fn add_product_until(c: &mut [f64], stride: usize, alpha: f64, a: View<'_>, b: View<'_>, clock: &Clock) -> bool {
    let rows = (CHECK_EVERY / (a.columns * b.columns).max(1)).max(8);
    for first in (0..a.rows).step_by(rows) {
        if clock.stop().is_some() {
            return false;
        }
        let part = View { data: &a.data[first * a.row_stride..], rows: rows.min(a.rows - first), ..a };
        add_product(&mut c[first * stride..], stride, alpha, part, b);
    }
    true
}

/// C += alpha A B, with C row-major at distance `stride` between rows (only its A.rows x B.columns
/// entries are touched).
pub fn add_product(c: &mut [f64], stride: usize, alpha: f64, a: View<'_>, b: View<'_>) {
    let (m, n, k) = (a.rows, b.columns, a.columns);
    assert_eq!(k, b.rows, "A's columns are B's rows");
    if m == 0 || n == 0 || k == 0 {
        return;
    }
    assert!(a.fits() && b.fits(), "A and B lie inside their slices");
    assert!(n <= stride && (m - 1) * stride + n <= c.len(), "C lies inside its slice");
    // The kernel wants a C of which columns lie together: C' += alpha B' A'.
    let (left, right) = if stride > 1 { (b.transposed(), a.transposed()) } else { (a, b) };
    // SAFETY: the asserts above bound every element gemm may touch; C does not overlap A or B (it
    // is borrowed mutably).
    unsafe {
        gemm_f64::gemm::f64::get_gemm_fn()(
            left.rows,
            right.columns,
            k,
            c.as_mut_ptr(),
            stride as isize,
            1,
            true,
            left.data.as_ptr(),
            left.column_stride as isize,
            left.row_stride as isize,
            right.data.as_ptr(),
            right.column_stride as isize,
            right.row_stride as isize,
            1.0,
            alpha,
            false,
            false,
            false,
            gemm_common::Parallelism::None,
        );
    }
}

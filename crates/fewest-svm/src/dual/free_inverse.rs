//! The inverse of a symmetric positive definite matrix whose rows and columns come and go, each at
//! the cost of a rank-one change (Cauwenberghs, Poggio 2000).

use crate::kernel::inverse::invert;
use crate::simd;

/// Room for lines that come, when a matrix is inverted.
const ROOM: usize = 32;

/// An s x s inverse R.
#[derive(Debug, Default)]
pub(crate) struct FreeInverse {
    /// Row after row, `stride` apart, 0 beyond s.
    values: Vec<f64>,
    stride: usize,
    len: usize,
}

impl FreeInverse {
    /// Builds the inverse of the s x s matrix whose row r `fill(r, out)` writes; a pivot at or
    /// below `floor` is raised to it. Whether all entries are finite.
    pub(super) fn build(&mut self, s: usize, floor: f64, mut fill: impl FnMut(usize, &mut [f64])) -> bool {
        (self.len, self.stride) = (s, s + ROOM);
        self.values.clear();
        self.values.resize(self.stride * self.stride, 0.0);
        for r in 0..s {
            fill(r, &mut self.values[r * self.stride..r * self.stride + s]);
        }
        invert(&mut self.values, s, self.stride, floor);
        self.values.iter().all(|x| x.is_finite())
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Empties the inverse.
    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    /// Row r, of length s.
    pub(super) fn line(&self, r: usize) -> &[f64] {
        &self.values[r * self.stride..r * self.stride + self.len]
    }

    /// R a: R is symmetric, so rows are added up, which needs no sum across lanes for each.
    pub(super) fn multiply(&self, a: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.stride];
        simd::combination(&self.values[..a.len() * self.stride], a, &mut out);
        out.truncate(a.len());
        out
    }

    /// R += scale q q'
    pub(crate) fn add_outer(&mut self, q: &[f64], scale: f64) {
        for (r, &qr) in q.iter().enumerate().filter(|e| *e.1 != 0.0) {
            simd::axpy(scale * qr, q, &mut self.values[r * self.stride..r * self.stride + q.len()]);
        }
    }

    /// The matrix gets a last line k with diagonal entry a: `q = R k`, `curvature = a - k'q > 0`.
    pub(super) fn border(&mut self, q: &[f64], curvature: f64) {
        let s = self.len;
        if s + 1 > self.stride || (s + 1) * self.stride > self.values.len() {
            let stride = s + 1 + s / 4 + ROOM;
            let mut wider = vec![0.0; stride * stride];
            for r in 0..s {
                wider[r * stride..r * stride + s].copy_from_slice(self.line(r));
            }
            (self.values, self.stride) = (wider, stride);
        }
        self.add_outer(q, 1.0 / curvature);
        for (r, q) in q.iter().enumerate() {
            self.values[r * self.stride + s] = -q / curvature;
            self.values[s * self.stride + r] = -q / curvature;
        }
        self.values[s * self.stride + s] = 1.0 / curvature;
        self.len = s + 1;
    }

    /// The matrix loses this line; the last one takes its place.
    pub(crate) fn delete(&mut self, position: usize) {
        let last = self.len - 1;
        let column: Vec<f64> = self.line(position).to_vec();
        self.add_outer(&column, -1.0 / column[position]);
        if position != last {
            let moved: Vec<f64> = self.line(last).to_vec();
            for (r, &value) in moved[..last].iter().enumerate() {
                self.values[r * self.stride + position] = value;
                self.values[position * self.stride + r] = value;
            }
            self.values[position * self.stride + position] = moved[last];
        }
        for r in 0..=last {
            self.values[r * self.stride + last] = 0.0;
        }
        self.values[last * self.stride..(last + 1) * self.stride].fill(0.0);
        self.len = last;
    }
}

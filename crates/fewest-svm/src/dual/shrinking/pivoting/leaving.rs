//! Step 1: a feature leaves.

use super::tuning::FREED;
use super::{Length, Moved, Pivoting};
use crate::simd;

impl Pivoting<'_> {
    /// Step 1: takes features out.
    pub fn remove(&mut self, leaving: &[usize]) {
        let at = self.columns.remove(leaving);
        let mut column = vec![0.0; self.beta.len()];
        for &k in &at {
            let weight = std::mem::take(&mut self.w[k]);
            self.columns.design.add_column(self.columns.features[k], -weight, &mut self.scores);
        }
        for &k in &at {
            column.fill(0.0);
            self.columns.design.add_column(self.columns.features[k], 1.0, &mut column);
            self.take_out(&column);
        }
        if let Some(kept) = self.columns.compact() {
            self.w = kept.iter().map(|&k| self.w[k]).collect();
        }
    }

    /// R for K_FF without this feature's products.
    fn take_out(&mut self, column: &[f64]) {
        if self.free.is_empty() {
            return;
        }
        let mut x: Vec<f64> = self.free.iter().map(|&i| column[i]).collect();
        let mut q = self.inverse.multiply(&x);
        let mut moved = Moved::default();
        loop {
            let pivot = 1.0 - simd::dot(&x, &q);
            if pivot > FREED {
                self.inverse.add_outer(&q, 1.0 / pivot);
                if !self.ones.is_empty() {
                    simd::axpy(q.iter().sum::<f64>() / pivot, &q, &mut self.ones);
                }
                break;
            }
            let mut d = self.balanced(&q);
            let slope: f64 = self.free.iter().zip(&d).map(|(&i, d)| (self.dual.y[i] - self.scores[i]) * d).sum();
            if slope < 0.0 {
                for d in &mut d {
                    *d = -*d;
                }
            }
            let Length { t, blocking: Some((position, bound)) } = self.length(&d, f64::INFINITY) else {
                self.forget();
                break;
            };
            self.note(&mut moved);
            self.move_free(&d, t);
            self.leave(position, bound, &mut q);
            x.swap_remove(position);
            if self.free.is_empty() {
                break;
            }
        }
        self.apply(&moved, None);
        for &i in &self.free {
            self.scores[i] = self.columns.rows.row(i).dot(&self.w);
        }
    }
}

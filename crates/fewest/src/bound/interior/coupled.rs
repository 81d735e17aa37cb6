//! The linear system of several problems that share their units.
//!
//! The shares of the units are all that the problems have in common. With a factor of each problem
//! alone, at fixed shares, what is left is a system over units:
//!
//! ```text
//! M_t = H_t + Z_t D_t Z_t'  bordered by y_t,   D = h (in), z h (unit)          one problem alone
//! P_t = Z_t rho_t                                                              n_t x units
//! S   = theta^-1 + A' (tau / t) A + sum_t P_t' M_t^-1 P_t,  S w = sum_t P_t' M_t^-1 r_t
//! alpha_t = M_t^-1 (r_t - P_t w)
//! ```
//!
//! Where a problem has fewer columns than samples, both inverses are bordered:
//!
//! ```text
//! Z' M^-1 Z = D^-1 - D^-1 (D^-1 + Z'H^-1 Z)^-1 D^-1
//! ```
//!
//! Cost per round, with U units: that of each problem alone, and for each
//! `U min(n, m) (U + min(n, m)) / 2`.

use super::block::Block;
use super::bordered::{Bordered, CHECK_EVERY};
use super::iterate::Iterate;
use super::sides::Bent;
use super::{Restricted, UnitColumns};
use crate::kernel::cholesky::Factor;
use crate::kernel::inverse::invert;
use crate::kernel::outer::OuterSum;
use crate::simd::{axpy, dot};
use crate::{Clock, Status};

/// The factors of all problems.
pub(super) struct Coupled {
    problems: Vec<Bordered>,
    /// The factor of S without rows.
    units: Factor,
    /// `S^-1 a_r` of each row, S without rows.
    images: Vec<Vec<f64>>,
    /// `(t / tau + A S^-1 A')^-1`
    rows: Vec<f64>,
}

/// What the factor of one problem is made of besides its block.
struct OfProblem<'a> {
    /// 1 / H of its samples, and their labels.
    inverse_h: &'a [f64],
    y: &'a [f64],
    /// D and rho of its columns.
    curve: &'a [f64],
    lean: &'a [f64],
}

/// Part of S: `plus` and `less` are sums of outer products of these lines.
struct Share {
    diagonal: Vec<f64>,
    plus: Vec<Vec<f64>>,
    less: Vec<Vec<f64>>,
}

impl Restricted {
    /// The factors of all problems and of what joins them.
    pub(super) fn coupled(
        &self,
        at: &Iterate,
        bent: &Bent,
        inverse_h: &[f64],
        theta: &[f64],
        clock: &Clock,
    ) -> Result<Coupled, Status> {
        let mut curve = bent.bend.clone();
        for (u, columns) in self.units.iter().enumerate() {
            self.columns(columns).for_each(|k| curve[k] *= at.z[u]);
        }
        let units = self.units.len();
        let (mut problems, mut share) = (Vec::new(), Share::new(units));
        for (block, samples, columns) in self.z.each() {
            let (inverse_h, y) = (&inverse_h[samples.clone()], &self.y[samples]);
            let of = OfProblem { inverse_h, y, curve: &curve[columns.clone()], lean: &bent.lean[columns] };
            problems.push(if block.by_rows() {
                self.over_features(block, &of, &mut share, clock)?
            } else {
                self.over_samples(block, &of, &mut share, clock)?
            });
        }
        let mut factor = Factor::new(units);
        factor.load(share.sum(units).tiles());
        (0..units).for_each(|u| factor.add(u, u, 1.0 / theta[u] + share.diagonal[u]));
        factor.decompose_until(clock)?;
        let (images, rows) = self.join_rows(at, &factor);
        Ok(Coupled { problems, units: factor, images, rows })
    }

    /// One problem with fewer columns than samples.
    fn over_features(
        &self,
        block: &Block,
        of: &OfProblem<'_>,
        share: &mut Share,
        clock: &Clock,
    ) -> Result<Bordered, Status> {
        let &OfProblem { inverse_h, y, curve, lean } = of;
        let m = block.m;
        let mut sum = self.outer_by_features(block, inverse_h, y, clock)?;
        let mut factor = self.load_by_features(&mut sum, m, inverse_h);
        (0..m).for_each(|k| factor.add(k, k, 1.0 / curve[k]));
        factor.decompose_until(clock)?;
        let mut lines = vec![vec![0.0; self.units.len()]; factor.size()];
        for (u, UnitColumns { first, last, .. }) in self.units.iter().enumerate() {
            check_clock(u, clock)?;
            let mut right = vec![0.0; factor.size()];
            for k in *first..*last {
                right[k] = lean[k] / curve[k];
                share.diagonal[u] += lean[k] * right[k];
            }
            let half = factor.solve_lower(&right);
            lines.iter_mut().zip(half).for_each(|(line, x)| line[u] = x);
        }
        share.less.append(&mut lines);
        Ok(Bordered { factor, border: None })
    }

    /// One problem with fewer samples than columns.
    fn over_samples(
        &self,
        block: &Block,
        of: &OfProblem<'_>,
        share: &mut Share,
        clock: &Clock,
    ) -> Result<Bordered, Status> {
        let &OfProblem { inverse_h, y, curve, lean } = of;
        let (n, units) = (block.n, self.units.len());
        let mut sum = OuterSum::new(n);
        (0..block.m).for_each(|k| sum.add(block.line(k), curve[k].sqrt(), 0.0));
        let mut factor = Factor::new(n);
        factor.load(sum.tiles());
        (0..n).for_each(|i| factor.add(i, i, 1.0 / inverse_h[i]));
        factor.decompose_until(clock)?;
        let bordered = self.bordered(factor, y);
        // y'M^-1 y
        let length = bordered.border.as_ref().map(|border| dot(y, border));
        let (mut lines, mut off) = (vec![vec![0.0; units]; n], vec![0.0; units]);
        for (u, UnitColumns { first, last, .. }) in self.units.iter().enumerate() {
            check_clock(u, clock)?;
            let mut image = vec![0.0; n];
            (*first..*last).for_each(|k| axpy(lean[k], block.line(k), &mut image));
            if let (Some(border), Some(length)) = (&bordered.border, length) {
                off[u] = dot(border, &image) / length.sqrt();
            }
            let half = bordered.factor.solve_lower(&image);
            lines.iter_mut().zip(half).for_each(|(line, x)| line[u] = x);
        }
        share.plus.append(&mut lines);
        share.less.extend(length.map(|_| off));
        Ok(bordered)
    }

    /// What rows add to S.
    fn join_rows(&self, at: &Iterate, units: &Factor) -> (Vec<Vec<f64>>, Vec<f64>) {
        let rows = self.rows.len();
        let images: Vec<Vec<f64>> = self
            .rows
            .iter()
            .map(|row| {
                let mut right = vec![0.0; self.units.len()];
                row.coefficients.iter().for_each(|&(u, a)| right[u] = a);
                units.solve(&right)
            })
            .collect();
        let mut inner = vec![0.0; rows * rows];
        for (r, row) in self.rows.iter().enumerate() {
            for (k, image) in images.iter().enumerate() {
                inner[r * rows + k] = row.coefficients.iter().map(|&(u, a)| a * image[u]).sum();
            }
            inner[r * rows + r] += at.t[r] / at.tau[r];
        }
        invert(&mut inner, rows, rows.max(1), 1e-300);
        (images, inner)
    }

    /// alpha and biases of a right side.
    pub(super) fn solve_coupled(
        &self,
        coupled: &Coupled,
        bent: &Bent,
        inverse_h: &[f64],
        right: &[f64],
        lacking: &[f64],
    ) -> (Vec<f64>, Vec<f64>) {
        let each = |right: &[f64]| -> (Vec<f64>, Vec<f64>) {
            let (mut alpha, mut bias) = (Vec::with_capacity(right.len()), Vec::new());
            for (((block, samples, _), problem), e) in self.z.each().zip(&coupled.problems).zip(lacking) {
                let (y, h) = (&self.y[samples.clone()], &inverse_h[samples.clone()]);
                let (part, b) = problem.solve(block, y, h, &right[samples], *e);
                alpha.extend(part);
                bias.push(b);
            }
            (alpha, bias)
        };
        let (alpha, bias) = each(right);
        if self.units.is_empty() {
            return (alpha, bias);
        }
        let mut dc = vec![0.0; bent.r.len()];
        self.z.add_transposed_times(&alpha, &mut dc);
        let along: Vec<f64> = self.units.iter().map(|u| self.dot_unit(u, &bent.lean, &dc)).collect();
        let w = self.solve_units(coupled, &along);
        let mut pull = vec![0.0; bent.r.len()];
        for (columns, w) in self.units.iter().zip(&w) {
            self.columns(columns).for_each(|k| pull[k] = -w * bent.lean[k]);
        }
        let mut right = right.to_vec();
        self.z.add_times(&pull, &mut right);
        each(&right)
    }

    /// w with S w = right.
    fn solve_units(&self, coupled: &Coupled, right: &[f64]) -> Vec<f64> {
        let mut w = coupled.units.solve(right);
        let rows = self.rows.len();
        let across: Vec<f64> =
            self.rows.iter().map(|row| row.coefficients.iter().map(|&(u, a)| a * w[u]).sum()).collect();
        for (r, image) in coupled.images.iter().enumerate() {
            axpy(-dot(&coupled.rows[r * rows..(r + 1) * rows], &across), image, &mut w);
        }
        w
    }
}

impl Share {
    fn new(units: usize) -> Self {
        Self { diagonal: vec![0.0; units], plus: Vec::new(), less: Vec::new() }
    }

    /// The sum without its diagonal.
    fn sum(&self, units: usize) -> OuterSum {
        let mut sum = OuterSum::new(units);
        self.less.iter().for_each(|line| sum.add(line, 1.0, 0.0));
        sum.scale(-1.0);
        self.plus.iter().for_each(|line| sum.add(line, 1.0, 0.0));
        sum
    }
}

fn check_clock(unit: usize, clock: &Clock) -> Result<(), Status> {
    if unit % CHECK_EVERY == CHECK_EVERY - 1 { clock.stop().map_or(Ok(()), Err) } else { Ok(()) }
}

//! The linear system of a round and its solution: steps 3 to 5.

use super::block::Block;
use super::bordered::{Bordered, CHECK_EVERY};
use super::coupled::Coupled;
use super::iterate::{Aim, Iterate, Residuals, Step};
use super::sides::Bent;
use super::{Restricted, UnitColumns};
use crate::bound::model::Row;
use crate::kernel::cholesky::Factor;
use crate::kernel::inverse::invert;
use crate::kernel::outer::OuterSum;
use crate::simd::{axpy, dot};
use crate::{Clock, Status};

/// Corrections of a solution, see [`Restricted::solve_refined`].
const REFINEMENTS: u32 = 2;

/// The system of step 3.
pub(super) struct System {
    /// 1 / H
    inverse_h: Vec<f64>,
    theta: Vec<f64>,
    /// G^-1, rows x rows.
    g: Vec<f64>,
    factor: Factors,
}

/// The factor of what is left once all but alpha and the bias is eliminated.
enum Factors {
    One(Bordered),
    Several(Coupled),
}

impl Restricted {
    /// Step 3.
    pub(super) fn system(&self, at: &Iterate, bent: &Bent, clock: &Clock) -> Result<System, Status> {
        let rows = self.rows.len();
        let inverse_h: Vec<f64> =
            (0..self.n()).map(|i| 1.0 / (self.ridge[i] + at.low[i] / at.alpha[i] + at.high[i] / at.room[i])).collect();
        let curve = |u: usize| at.s[u] / at.v[u] + at.q[u] / at.z[u] + bent.curve[u];
        let theta: Vec<f64> = (0..self.units.len()).map(|u| 1.0 / curve(u)).collect();
        let mut g = self.over_rows(at, &|u| theta[u]);
        invert(&mut g, rows, rows.max(1), 1e-300);
        let factor = match self.z.only() {
            None => Factors::Several(self.coupled(at, bent, &inverse_h, &theta, clock)?),
            Some(block) if block.by_rows() => {
                let factor = self.factor_by_features(at, bent, block, &inverse_h, &theta, clock)?;
                Factors::One(Bordered { factor, border: None })
            }
            Some(block) => {
                let factor = self.factor_by_samples(at, bent, (block, &inverse_h, &theta, &g), clock)?;
                Factors::One(self.bordered(factor, &self.y))
            }
        };
        Ok(System { inverse_h, theta, g, factor })
    }

    /// `A diag(share) A' + t / tau`, rows x rows.
    pub(super) fn over_rows(&self, at: &Iterate, share: &dyn Fn(usize) -> f64) -> Vec<f64> {
        let rows = self.rows.len();
        let mut dense = vec![0.0; self.units.len()];
        let mut g = vec![0.0; rows * rows];
        for r in 0..rows {
            self.rows[r].coefficients.iter().for_each(|&(u, a)| dense[u] = a * share(u));
            for k in 0..rows {
                g[r * rows + k] = self.rows[k].coefficients.iter().map(|&(u, a)| a * dense[u]).sum();
            }
            g[r * rows + r] += at.t[r] / at.tau[r];
            self.rows[r].coefficients.iter().for_each(|&(u, _)| dense[u] = 0.0);
        }
        g
    }

    /// The factor of `E^-1 + Z'H^-1 Z`, bordered by a free bias.
    fn factor_by_features(
        &self,
        at: &Iterate,
        bent: &Bent,
        block: &Block,
        inverse_h: &[f64],
        theta: &[f64],
        clock: &Clock,
    ) -> Result<Factor, Status> {
        let (m, bend) = (bent.r.len(), &bent.bend);
        // h^-1 rho
        let lean: Vec<f64> = bent.lean.iter().zip(bend).map(|(rho, h)| rho / h).collect();
        let square = |u: &UnitColumns| dot(&bent.lean[u.first..u.last], &lean[u.first..u.last]);
        let mut sum = self.outer_by_features(block, inverse_h, &self.y, clock)?;
        // theta / (z + theta rho'h^-1 rho)
        let shrunk: Vec<f64> = self
            .units
            .iter()
            .enumerate()
            .map(|(u, columns)| theta[u] / (at.z[u] + theta[u] * square(columns)))
            .collect();
        self.add_rows_by_features(at, &lean, &shrunk, &mut sum);
        let mut factor = self.load_by_features(&mut sum, m, inverse_h);
        (0..self.n_in).for_each(|k| factor.add(k, k, 1.0 / bend[k]));
        for (u, columns) in self.units.iter().enumerate() {
            let inverse = 1.0 / at.z[u];
            let share = inverse * theta[u] / (at.z[u] + theta[u] * square(columns));
            for i in columns.first..columns.last {
                for k in columns.first..=i {
                    factor.add(i, k, if i == k { inverse / bend[i] } else { 0.0 } - share * lean[i] * lean[k]);
                }
            }
        }
        factor.decompose_until(clock)?;
        Ok(factor)
    }

    /// Adds the rows of `L^-1 K D^-1`, with L L' the matrix inside `E^-1`: K D^-1 has entries `A_ru
    /// theta h^-1 rho / (z + theta rho'h^-1 rho)`; `c` is h^-1 rho.
    fn add_rows_by_features(&self, at: &Iterate, c: &[f64], shrunk: &[f64], sum: &mut OuterSum) {
        let (m, rows) = (c.len(), self.rows.len());
        let lines = lower_factor(&self.over_rows(at, &|u| shrunk[u] * at.z[u]), rows);
        let mut done: Vec<Vec<f64>> = Vec::with_capacity(rows);
        for r in 0..rows {
            let mut line = vec![0.0; m];
            for &(u, a) in &self.rows[r].coefficients {
                for k in self.units[u].first..self.units[u].last {
                    line[k] += a * shrunk[u] * c[k];
                }
            }
            for (k, before) in done.iter().enumerate() {
                axpy(-lines[r * rows + k], before, &mut line);
            }
            let scale = 1.0 / lines[r * rows + r];
            for x in &mut line {
                *x *= scale;
            }
            sum.add(&line, 1.0, 0.0);
            done.push(line);
        }
    }

    /// The factor of `H + Z E Z'`.
    fn factor_by_samples(
        &self,
        at: &Iterate,
        bent: &Bent,
        (block, inverse_h, theta, g): (&Block, &[f64], &[f64], &[f64]),
        clock: &Clock,
    ) -> Result<Factor, Status> {
        let (n, rho, bend) = (self.n(), &bent.lean, &bent.bend);
        let mut sum = OuterSum::new(n);
        self.subtract_rows_by_samples(rho, theta, g, &mut sum);
        (0..self.n_in).for_each(|k| sum.add(block.line(k), bend[k].sqrt(), 0.0));
        for (u, columns) in self.units.iter().enumerate() {
            if u % CHECK_EVERY == CHECK_EVERY - 1 {
                clock.stop().map_or(Ok(()), Err)?;
            }
            if columns.last - columns.first == 1 {
                let k = columns.first;
                sum.add(block.line(k), (at.z[u] * bend[k] + theta[u] * rho[k] * rho[k]).sqrt(), 0.0);
                continue;
            }
            let mut image = vec![0.0; n];
            for k in columns.first..columns.last {
                sum.add(block.line(k), (at.z[u] * bend[k]).sqrt(), 0.0);
                axpy(rho[k], block.line(k), &mut image);
            }
            sum.add(&image, theta[u].sqrt(), 0.0);
        }
        let mut factor = Factor::new(n);
        factor.load(sum.tiles());
        (0..n).for_each(|i| factor.add(i, i, 1.0 / inverse_h[i]));
        factor.decompose_until(clock)?;
        Ok(factor)
    }

    /// `-Z K'G^-1 K Z' = -(Z K' U)(Z K' U)'` with `G^-1 = U U'`.
    fn subtract_rows_by_samples(&self, rho: &[f64], theta: &[f64], g: &[f64], sum: &mut OuterSum) {
        let (n, m, rows) = (self.n(), rho.len(), self.rows.len());
        if rows == 0 {
            return;
        }
        let half = lower_factor(g, rows);
        let mut lines = vec![vec![0.0; n]; rows];
        for r in 0..rows {
            let mut kr = vec![0.0; m];
            for &(u, a) in &self.rows[r].coefficients {
                for k in self.units[u].first..self.units[u].last {
                    kr[k] += a * theta[u] * rho[k];
                }
            }
            let mut image = vec![0.0; n];
            self.z.add_times(&kr, &mut image);
            for k in 0..=r {
                axpy(half[r * rows + k], &image, &mut lines[k]);
            }
        }
        for line in &lines {
            sum.add(line, 1.0, 0.0);
        }
        sum.scale(-1.0);
    }

    /// alpha and bias of a right side, through the factor.
    fn solve_system(&self, bent: &Bent, system: &System, right: &[f64], lacking: &[f64]) -> (Vec<f64>, Vec<f64>) {
        match &system.factor {
            Factors::One(factor) => {
                let block = self.z.only().expect("one factor for one problem");
                let (alpha, bias) = factor.solve(block, &self.y, &system.inverse_h, right, lacking[0]);
                (alpha, vec![bias])
            }
            Factors::Several(factors) => self.solve_coupled(factors, bent, &system.inverse_h, right, lacking),
        }
    }

    /// [`Restricted::solve_system`], corrected where weights are bounded: multipliers of bounds may
    /// be far above the weights, so that rounding takes the digits that the margins need.
    fn solve_refined(
        &self,
        (at, bent, system): (&Iterate, &Bent, &System),
        right: &[f64],
        lacking: &[f64],
    ) -> (Vec<f64>, Vec<f64>) {
        let (mut alpha, mut bias) = self.solve_system(bent, system, right, lacking);
        let rounds = if self.sides.is_empty() { 0 } else { REFINEMENTS };
        for _ in 0..rounds {
            let mut dc = vec![0.0; bent.r.len()];
            self.z.add_transposed_times(&alpha, &mut dc);
            let mut image = vec![0.0; self.n()];
            self.z.add_times(&self.times_e(at, bent, system, &dc), &mut image);
            let offsets = self.offsets(&bias);
            let left: Vec<f64> =
                (0..self.n()).map(|i| right[i] - alpha[i] / system.inverse_h[i] - image[i] - offsets[i]).collect();
            let mut unbalanced = vec![0.0; lacking.len()];
            if self.balance.is_some() {
                let is = self.balances(&alpha);
                unbalanced.iter_mut().zip(lacking.iter().zip(is)).for_each(|(left, (e, is))| *left = e - is);
            }
            let (more, shift) = self.solve_system(bent, system, &left, &unbalanced);
            axpy(1.0, &more, &mut alpha);
            axpy(1.0, &shift, &mut bias);
        }
        (alpha, bias)
    }

    /// E dc
    fn times_e(&self, at: &Iterate, bent: &Bent, system: &System, dc: &[f64]) -> Vec<f64> {
        let (rows, theta, lean) = (self.rows.len(), &system.theta, &bent.lean);
        let mut along: Vec<f64> = self.units.iter().map(|u| self.dot_unit(u, lean, dc)).collect();
        let across = |row: &Row| row.coefficients.iter().map(|&(u, a)| a * theta[u] * along[u]).sum::<f64>();
        let across: Vec<f64> = self.rows.iter().map(across).collect();
        for (r, row) in self.rows.iter().enumerate() {
            let price = dot(&system.g[r * rows..(r + 1) * rows], &across);
            row.coefficients.iter().for_each(|&(u, a)| along[u] -= a * price);
        }
        let mut w: Vec<f64> = dc.iter().zip(&bent.bend).map(|(dc, h)| h * dc).collect();
        for (u, columns) in self.units.iter().enumerate() {
            for k in self.columns(columns) {
                w[k] = at.z[u] * w[k] + lean[k] * theta[u] * along[u];
            }
        }
        w
    }

    /// Steps 4 and 5.
    pub(super) fn direction(&self, at: &Iterate, bent: &Bent, system: &System, lacking: &Residuals, aim: &Aim) -> Step {
        let (n, m, rows, units) = (self.n(), bent.r.len(), self.rows.len(), self.units.len());
        let (theta, lean) = (&system.theta, &bent.lean);
        let forced = self.forced(at, bent, lacking, aim);
        let lack = |u: usize| forced.gain[u] - lacking.q[u] - aim.vs[u] / at.v[u] + aim.zq[u] / at.z[u];
        let rho: Vec<f64> = (0..units).map(lack).collect();
        let g: Vec<f64> = (0..rows)
            .map(|r| {
                let across: f64 = self.rows[r].coefficients.iter().map(|&(u, a)| a * theta[u] * rho[u]).sum();
                across - lacking.t[r] + aim.tau[r] / at.tau[r]
            })
            .collect();
        let solve_g = |right: &[f64]| -> Vec<f64> {
            (0..rows).map(|r| dot(&system.g[r * rows..(r + 1) * rows], right)).collect()
        };
        // r = r_alpha + to_low / alpha - to_high / room + Z h,  h = lean theta (A'G^-1 g - rho), and
        // what the bounds pull
        let mut shift: Vec<f64> = rho.iter().map(|r| -r).collect();
        for (row, price) in self.rows.iter().zip(solve_g(&g)) {
            row.coefficients.iter().for_each(|&(u, a)| shift[u] += a * price);
        }
        let mut h = vec![0.0; m];
        for (u, columns) in self.units.iter().enumerate() {
            for k in self.columns(columns) {
                h[k] = lean[k] * theta[u] * shift[u];
            }
        }
        self.add_pull(at, bent, &forced, &mut h);
        let mut right: Vec<f64> =
            (0..n).map(|i| lacking.alpha[i] + aim.low[i] / at.alpha[i] - aim.high[i] / at.room[i]).collect();
        self.z.add_times(&h, &mut right);

        let (alpha, bias) = self.solve_refined((at, bent, system), &right, &lacking.balance);

        let mut dc = vec![0.0; m];
        self.z.add_transposed_times(&alpha, &mut dc);
        let along: Vec<f64> = self.units.iter().map(|u| self.dot_unit(u, lean, &dc)).collect();
        let tau = solve_g(
            &(0..rows)
                .map(|r| g[r] + self.rows[r].coefficients.iter().map(|&(u, a)| a * theta[u] * along[u]).sum::<f64>())
                .collect::<Vec<f64>>(),
        );
        let mut priced: Vec<f64> = (0..units).map(|u| along[u] + rho[u]).collect();
        for (row, tau) in self.rows.iter().zip(&tau) {
            row.coefficients.iter().for_each(|&(u, a)| priced[u] -= a * tau);
        }
        let z: Vec<f64> = (0..units).map(|u| theta[u] * priced[u]).collect();
        let (r, nu, left) = self.along_bounds(at, (bent, &forced, lacking), (&dc, &z));
        let step = Iterate {
            low: (0..n).map(|i| (aim.low[i] - at.low[i] * alpha[i]) / at.alpha[i]).collect(),
            high: (0..n).map(|i| (aim.high[i] + at.high[i] * alpha[i]) / at.room[i]).collect(),
            room: alpha.iter().map(|a| -a).collect(),
            alpha,
            bias,
            q: (0..units).map(|u| (aim.zq[u] - at.q[u] * z[u]) / at.z[u]).collect(),
            s: (0..units).map(|u| (aim.vs[u] + at.s[u] * z[u]) / at.v[u]).collect(),
            v: z.iter().map(|z| -z).collect(),
            z,
            t: (0..rows).map(|r| (aim.tau[r] - at.t[r] * tau[r]) / at.tau[r]).collect(),
            tau,
            nu,
            left,
        };
        Step { at: step, r }
    }
}

/// L with L L' = the small symmetric positive definite matrix given.
fn lower_factor(a: &[f64], n: usize) -> Vec<f64> {
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        for k in 0..=i {
            let value = a[i * n + k] - dot(&l[i * n..i * n + k], &l[k * n..k * n + k]);
            l[i * n + k] =
                if i == k { value.max(1e-14 * a[i * n + i]).max(1e-300).sqrt() } else { value / l[k * n + k] };
        }
    }
    l
}

//! The linear system of a round and its solution: steps 3 to 5.

use super::Restricted;
use super::iterate::{Aim, Iterate, Residuals, Step};
use crate::Status;
use crate::kernel::cholesky::Factor;
use crate::kernel::inverse::invert;
use crate::kernel::outer::OuterSum;
use crate::simd::{axpy, dot};

/// Lines added between two looks at the clock.
const LOOK: usize = 64;

/// The system of step 3.
pub(super) struct System {
    /// 1 / H
    inverse_h: Vec<f64>,
    theta: Vec<f64>,
    /// G^-1, rows x rows.
    g: Vec<f64>,
    factor: Factor,
    /// M^-1 y when the n x n system was factored and there is a free bias.
    bordered: Option<Vec<f64>>,
}

impl Restricted {
    /// Step 3.
    ///
    /// # Errors
    /// Why it was stopped.
    pub(super) fn system(
        &self,
        at: &Iterate,
        c: &[f64],
        stop: &mut dyn FnMut() -> Option<Status>,
    ) -> Result<System, Status> {
        let rows = self.rows.len();
        let inverse_h: Vec<f64> =
            (0..self.n()).map(|i| 1.0 / (self.ridge[i] + at.low[i] / at.alpha[i] + at.high[i] / at.room[i])).collect();
        let theta: Vec<f64> = (0..self.units.len()).map(|u| 1.0 / (at.s[u] / at.v[u] + at.q[u] / at.z[u])).collect();
        let mut g = self.over_rows(at, &|u| theta[u]);
        invert(&mut g, rows, rows.max(1), 1e-300);
        if self.z.by_rows() {
            let factor = self.factor_by_features(at, c, &inverse_h, &theta, stop)?;
            return Ok(System { inverse_h, theta, g, factor, bordered: None });
        }
        let factor = self.factor_by_samples(at, c, (&inverse_h, &theta, &g), stop)?;
        let bordered = self.balance.map(|_| factor.solve(&self.y));
        Ok(System { inverse_h, theta, g, factor, bordered })
    }

    /// `A diag(share) A' + t / tau`, rows x rows.
    fn over_rows(&self, at: &Iterate, share: &dyn Fn(usize) -> f64) -> Vec<f64> {
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
        c: &[f64],
        inverse_h: &[f64],
        theta: &[f64],
        stop: &mut dyn FnMut() -> Option<Status>,
    ) -> Result<Factor, Status> {
        let m = c.len();
        let biased = usize::from(self.balance.is_some());
        let mut sum = OuterSum::new(m + biased);
        for i in 0..self.n() {
            if i % LOOK == LOOK - 1 {
                stop().map_or(Ok(()), Err)?;
            }
            sum.add(self.z.line(i), inverse_h[i].sqrt(), if biased == 1 { self.y[i] } else { 0.0 });
        }
        // theta / (z + theta |c|^2)
        let shrunk: Vec<f64> = self
            .units
            .iter()
            .enumerate()
            .map(|(u, columns)| theta[u] / (at.z[u] + theta[u] * columns.square(c)))
            .collect();
        self.add_rows_by_features(at, c, &shrunk, &mut sum);
        let mut factor = Factor::new(m + biased);
        factor.load(sum.tiles());
        (0..self.n_in).for_each(|k| factor.add(k, k, 1.0));
        for (u, columns) in self.units.iter().enumerate() {
            let inverse = 1.0 / at.z[u];
            let share = inverse * theta[u] / (at.z[u] + theta[u] * columns.square(c));
            for i in columns.first..columns.last {
                for k in columns.first..=i {
                    factor.add(i, k, if i == k { inverse } else { 0.0 } - share * c[i] * c[k]);
                }
            }
        }
        if biased == 1 {
            // A free bias that no sample holds must still be able to move.
            factor.add(m, m, 1e-10 * inverse_h.iter().sum::<f64>().min(1.0));
        }
        factor.decompose_until(stop)?;
        Ok(factor)
    }

    /// Adds the rows of `L^-1 K D^-1`, with L L' the matrix inside `E^-1`: K D^-1 has entries `A_ru
    /// theta c / (z + theta |c|^2)`.
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
        c: &[f64],
        (inverse_h, theta, g): (&[f64], &[f64], &[f64]),
        stop: &mut dyn FnMut() -> Option<Status>,
    ) -> Result<Factor, Status> {
        let n = self.n();
        let mut sum = OuterSum::new(n);
        self.subtract_rows_by_samples(c, theta, g, &mut sum);
        (0..self.n_in).for_each(|k| sum.add(self.z.line(k), 1.0, 0.0));
        for (u, columns) in self.units.iter().enumerate() {
            if u % LOOK == LOOK - 1 {
                stop().map_or(Ok(()), Err)?;
            }
            if columns.last - columns.first == 1 {
                let k = columns.first;
                sum.add(self.z.line(k), (at.z[u] + theta[u] * c[k] * c[k]).sqrt(), 0.0);
                continue;
            }
            let mut image = vec![0.0; n];
            for k in columns.first..columns.last {
                sum.add(self.z.line(k), at.z[u].sqrt(), 0.0);
                axpy(c[k], self.z.line(k), &mut image);
            }
            sum.add(&image, theta[u].sqrt(), 0.0);
        }
        let mut factor = Factor::new(n);
        factor.load(sum.tiles());
        (0..n).for_each(|i| factor.add(i, i, 1.0 / inverse_h[i]));
        factor.decompose_until(stop)?;
        Ok(factor)
    }

    /// `-Z K'G^-1 K Z' = -(Z K' U)(Z K' U)'` with `G^-1 = U U'`.
    fn subtract_rows_by_samples(&self, c: &[f64], theta: &[f64], g: &[f64], sum: &mut OuterSum) {
        let (n, m, rows) = (self.n(), c.len(), self.rows.len());
        if rows == 0 {
            return;
        }
        let half = lower_factor(g, rows);
        let mut lines = vec![vec![0.0; n]; rows];
        for r in 0..rows {
            let mut kr = vec![0.0; m];
            for &(u, a) in &self.rows[r].coefficients {
                for k in self.units[u].first..self.units[u].last {
                    kr[k] += a * theta[u] * c[k];
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
    fn solve_system(&self, system: &System, right: &[f64], lacking: f64, m: usize) -> (Vec<f64>, f64) {
        if !self.z.by_rows() {
            let mut alpha = system.factor.solve(right);
            let mut bias = 0.0;
            if let Some(border) = &system.bordered {
                bias = (dot(&self.y, &alpha) - lacking) / dot(&self.y, border);
                axpy(-bias, border, &mut alpha);
            }
            return (alpha, bias);
        }
        let n = self.n();
        let scaled: Vec<f64> = right.iter().zip(&system.inverse_h).map(|(r, h)| r * h).collect();
        let mut small = vec![0.0; m];
        self.z.add_transposed_times(&scaled, &mut small);
        if self.balance.is_some() {
            small.push(dot(&self.y, &scaled) - lacking);
        }
        let u = system.factor.solve(&small);
        let bias = u.get(m).copied().unwrap_or(0.0);
        let mut back = vec![0.0; n];
        self.z.add_times(&u[..m], &mut back);
        let alpha = (0..n).map(|i| scaled[i] - system.inverse_h[i] * (back[i] + self.y[i] * bias)).collect();
        (alpha, bias)
    }

    /// Steps 4 and 5.
    pub(super) fn direction(&self, at: &Iterate, c: &[f64], system: &System, lacking: &Residuals, aim: &Aim) -> Step {
        let (n, m, rows, units) = (self.n(), c.len(), self.rows.len(), self.units.len());
        let theta = &system.theta;
        let rho: Vec<f64> = (0..units).map(|u| -lacking.q[u] - aim.vs[u] / at.v[u] + aim.zq[u] / at.z[u]).collect();
        let g: Vec<f64> = (0..rows)
            .map(|r| {
                let across: f64 = self.rows[r].coefficients.iter().map(|&(u, a)| a * theta[u] * rho[u]).sum();
                across - lacking.t[r] + aim.tau[r] / at.tau[r]
            })
            .collect();
        let solve_g = |right: &[f64]| -> Vec<f64> {
            (0..rows).map(|r| dot(&system.g[r * rows..(r + 1) * rows], right)).collect()
        };
        // r = r_alpha + to_low / alpha - to_high / room + Z h,  h = c theta (A'G^-1 g - rho)
        let mut shift: Vec<f64> = rho.iter().map(|r| -r).collect();
        for (row, price) in self.rows.iter().zip(solve_g(&g)) {
            row.coefficients.iter().for_each(|&(u, a)| shift[u] += a * price);
        }
        let mut h = vec![0.0; m];
        for (u, columns) in self.units.iter().enumerate() {
            for k in columns.first..columns.last {
                h[k] = c[k] * theta[u] * shift[u];
            }
        }
        let mut right: Vec<f64> =
            (0..n).map(|i| lacking.alpha[i] + aim.low[i] / at.alpha[i] - aim.high[i] / at.room[i]).collect();
        self.z.add_times(&h, &mut right);

        let (alpha, bias) = self.solve_system(system, &right, lacking.balance, m);

        let mut dc = vec![0.0; m];
        self.z.add_transposed_times(&alpha, &mut dc);
        let along: Vec<f64> = self.units.iter().map(|u| dot(&c[u.first..u.last], &dc[u.first..u.last])).collect();
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
        };
        Step { at: step, c: dc }
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

//! Proximal bundle method: maximises a concave function known by its value and one supergradient at
//! a time, over a box.
//!
//! Solves   max z(x)  s.t. -1 <= x_k <= 1 (a caller with other sides scales)
//! Source   Frangioni, SIAM J. Optim. 13 (2002), with the quadratic stabilising term; Kiwiel, Math.
//!          Prog. 46 (1990), for its weight.
//! Planes   z(x) <= a_i + g_i.x for all x, g_i sparse; the model is their minimum.
//! Steps    1. [`Bundle::propose`]: x = argmax of the model less |x - centre|^2 / (2 t), by its
//!             dual over the simplex
//!          2. the caller evaluates z there
//!          3. [`Bundle::learn`]: the plane joins; a serious step moves the centre when z rose by a
//!             tenth of what the model promised, else a null step stays
//! Dual     min over weights m of the planes of max over x in the box of
//!          sum_i m_i (a_i + g_i.x) - |x - centre|^2 / (2 t): x(m) is the centre moved by t sum m_i
//!          g_i and clipped, so the function is smooth and convex; Newton steps with the parts of x
//!          that are not clipped, each a quadratic program over the simplex.
//! Bound    the weighted plane `sum m_i (a_i + g_i.x)` at its largest in the box bounds the maximum
//!          of z.

use crate::master::simplex_qp;

/// Share of the promised rise that makes a step serious.
const SERIOUS: f64 = 0.1;
/// Share that makes t grow.
const GOOD: f64 = 0.5;
/// Planes kept, at most: of those of weight 0 the oldest leave.
const KEEP: usize = 120;
/// t is within these, times what it was at first.
const RANGE: (f64, f64) = (1e-6, 1e6);
/// Null steps in a row after which t falls.
const NULLS: u32 = 8;
/// Newton steps of the dual.
const NEWTON: usize = 40;

/// A plane that is nowhere below z.
#[derive(Debug, Clone)]
struct Plane {
    value: f64,
    gradient: Vec<(usize, f64)>,
}

impl Plane {
    fn at(&self, x: &[f64]) -> f64 {
        self.value + self.gradient.iter().map(|&(k, g)| g * x[k]).sum::<f64>()
    }
}

/// What [`Bundle::learn`] made of the point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BundleStep {
    /// The centre moved.
    Serious,
    /// It stayed.
    Null,
}

/// The bundle: planes, centre, weight of the stabilising term.
#[derive(Debug)]
pub(crate) struct Bundle {
    planes: Vec<Plane>,
    weights: Vec<f64>,
    centre: Vec<f64>,
    value: f64,
    t: f64,
    first: f64,
    nulls: u32,
    proposed: Vec<f64>,
    promised: f64,
    ceiling: f64,
}

impl Bundle {
    /// From z and a supergradient (pairs of place and value, ascending) at the first centre, each
    /// of whose parts is in [-1, 1].
    pub(crate) fn new(centre: Vec<f64>, value: f64, gradient: Vec<(usize, f64)>) -> Self {
        let steepest = gradient.iter().map(|e| e.1.abs()).fold(0.0, f64::max);
        let t = 0.5 / steepest.max(f64::MIN_POSITIVE);
        let plane = Plane { value: value - gradient.iter().map(|&(k, g)| g * centre[k]).sum::<f64>(), gradient };
        Self {
            planes: vec![plane],
            weights: vec![1.0],
            proposed: centre.clone(),
            centre,
            value,
            t,
            first: t,
            nulls: 0,
            promised: f64::INFINITY,
            ceiling: f64::INFINITY,
        }
    }

    /// Step 1: where to evaluate z next.
    pub(crate) fn propose(&mut self) -> &[f64] {
        for _ in 0..NEWTON {
            if !self.newton() {
                break;
            }
        }
        self.proposed = self.point(&self.weights);
        let model = self.planes.iter().map(|p| p.at(&self.proposed)).fold(f64::INFINITY, f64::min);
        self.promised = (model - self.value).max(0.0);
        let mut total = vec![0.0; self.centre.len()];
        let mut ceiling = 0.0;
        for (plane, m) in self.planes.iter().zip(&self.weights).filter(|e| *e.1 > 0.0) {
            ceiling += m * plane.value;
            plane.gradient.iter().for_each(|&(k, g)| total[k] += m * g);
        }
        ceiling += total.iter().map(|g| g.abs()).sum::<f64>();
        self.ceiling = self.ceiling.min(ceiling);
        &self.proposed
    }

    /// Steps 2 and 3: z at the point proposed and a plane `value + gradient.x` that is nowhere
    /// below z.
    pub(crate) fn learn(&mut self, z: f64, value: f64, gradient: Vec<(usize, f64)>) -> BundleStep {
        let rise = z - self.value;
        let taken = if rise > 0.0 && rise >= SERIOUS * self.promised {
            if rise >= GOOD * self.promised {
                self.t = (2.0 * self.t).min(RANGE.1 * self.first);
            }
            self.centre.clone_from(&self.proposed);
            self.value = z;
            self.nulls = 0;
            BundleStep::Serious
        } else {
            self.nulls += 1;
            if self.nulls.is_multiple_of(NULLS) {
                self.t = (0.5 * self.t).max(RANGE.0 * self.first);
            }
            BundleStep::Null
        };
        if self.planes.len() >= KEEP
            && let Some(idle) = self.weights.iter().position(|m| *m == 0.0)
        {
            self.planes.remove(idle);
            self.weights.remove(idle);
        }
        self.planes.push(Plane { value, gradient });
        self.weights.push(0.0);
        taken
    }

    /// How much the model promised to rise at the point proposed last; 0 at an optimum.
    pub(crate) fn promised(&self) -> f64 {
        self.promised
    }

    /// z is nowhere above.
    pub(crate) fn ceiling(&self) -> f64 {
        self.ceiling
    }

    /// z at the centre, the largest found.
    pub(crate) fn value(&self) -> f64 {
        self.value
    }

    /// The centre moved by `t sum m_i g_i`, clipped.
    fn point(&self, weights: &[f64]) -> Vec<f64> {
        let mut x = self.centre.clone();
        for (plane, m) in self.planes.iter().zip(weights).filter(|e| *e.1 > 0.0) {
            plane.gradient.iter().for_each(|&(k, g)| x[k] += self.t * m * g);
        }
        for x in &mut x {
            *x = x.clamp(-1.0, 1.0);
        }
        x
    }

    /// The dual's value, and its gradient: the planes at x(m).
    fn dual(&self, weights: &[f64]) -> (f64, Vec<f64>, Vec<f64>) {
        let x = self.point(weights);
        let planes: Vec<f64> = self.planes.iter().map(|p| p.at(&x)).collect();
        let moved: f64 = x.iter().zip(&self.centre).map(|(a, b)| (a - b) * (a - b)).sum();
        let value = planes.iter().zip(weights).map(|(p, m)| p * m).sum::<f64>() - moved / (2.0 * self.t);
        (value, planes, x)
    }

    /// One step of Newton's method on the dual; false at its minimum.
    fn newton(&mut self) -> bool {
        let (value, planes, x) = self.dual(&self.weights);
        let m = self.planes.len();
        let mut column = vec![0.0; x.len()];
        let mut hessian = vec![0.0; m * m];
        for i in 0..m {
            let free = |k: usize| x[k] > -1.0 && x[k] < 1.0;
            self.planes[i].gradient.iter().filter(|e| free(e.0)).for_each(|&(k, g)| column[k] = g);
            for l in 0..=i {
                let dot: f64 = self.planes[l].gradient.iter().map(|&(k, g)| g * column[k]).sum();
                (hessian[i * m + l], hessian[l * m + i]) = (self.t * dot, self.t * dot);
            }
            self.planes[i].gradient.iter().for_each(|&(k, _)| column[k] = 0.0);
        }
        let product = |i: usize, w: &[f64]| hessian[i * m..(i + 1) * m].iter().zip(w).map(|(h, w)| h * w).sum::<f64>();
        let linear: Vec<f64> = (0..m).map(|i| planes[i] - product(i, &self.weights)).collect();
        let mut target = self.weights.clone();
        simplex_qp::minimise(&hessian, &linear, &mut target);
        let slope: f64 = (0..m).map(|i| planes[i] * (target[i] - self.weights[i])).sum();
        if slope > -1e-13 * value.abs().max(1e-300) {
            return false;
        }
        let mut step = 1.0;
        while step > 1e-6 {
            let tried: Vec<f64> = self.weights.iter().zip(&target).map(|(w, v)| w + step * (v - w)).collect();
            if self.dual(&tried).0 <= value + 1e-4 * step * slope {
                self.weights = tried;
                return true;
            }
            step *= 0.5;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::Bundle;

    /// z(x) = min over rows of a + g.x, by brute force over a fine grid in two dimensions.
    #[test]
    fn finds_the_maximum_of_a_minimum_of_planes() {
        let planes: [(f64, [f64; 2]); 5] =
            [(1.0, [1.0, 0.5]), (0.5, [-1.0, 0.2]), (0.7, [0.1, -2.0]), (2.0, [0.3, 0.3]), (0.9, [0.0, 1.0])];
        let z = |x: &[f64]| {
            let at = |p: &(f64, [f64; 2])| p.0 + p.1[0] * x[0] + p.1[1] * x[1];
            planes.iter().map(|p| (at(p), *p)).min_by(|a, b| a.0.total_cmp(&b.0)).expect("planes")
        };
        let steps = || (-400..=400).map(|k| f64::from(k) / 400.0);
        let best = steps().flat_map(|a| steps().map(move |b| [a, b])).map(|x| z(&x).0).fold(f64::MIN, f64::max);
        let sparse = |g: [f64; 2]| vec![(0, g[0]), (1, g[1])];
        let (value, plane) = z(&[0.9, 0.9]);
        let mut bundle = Bundle::new(vec![0.9, 0.9], value, sparse(plane.1));
        let mut last = value;
        for _ in 0..60 {
            let x = bundle.propose().to_vec();
            assert!(x.iter().all(|x| x.abs() <= 1.0));
            assert!(bundle.ceiling() >= best - 1e-6, "{} is below {best}", bundle.ceiling());
            let (value, plane) = z(&x);
            bundle.learn(value, plane.0, sparse(plane.1));
            assert!(bundle.value() >= last, "the centre never falls");
            last = bundle.value();
        }
        assert!((bundle.value() - best).abs() < 5e-3 && bundle.value() <= best + 5e-3, "{} for {best}", bundle.value());
        assert!(bundle.promised() < 1e-6, "{}", bundle.promised());
        assert!(bundle.ceiling() - bundle.value() < 1e-2);
    }
}

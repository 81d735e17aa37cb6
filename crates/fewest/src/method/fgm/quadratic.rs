//! The quadratic part of a model of `support_norm.rs`: `-pull.(u - w) + 1/2 (u - w)'G (u - w)` of
//! one problem, G the Hessian of its loss, as the descent asks for it.
//!
//! Forms    G itself, or the columns of the samples inside the margin, whose products G holds: a
//!          coefficient that moves costs a row of G, or the stored values of its column, twice, and
//!          one that stays costs nothing, or those values once.
//! Cost     of columns, per model, the stored values of the samples inside; memory: those. G takes
//!          q^2 and follows the samples inside (`margin.rs`).

use std::borrow::Cow;

use crate::RowMatrix;
use crate::dual::normal::{Extended, Normal, prices};
use crate::dual::{Bias, BoxDual};
use crate::simd;

/// See the head of this file.
pub(super) enum Quadratic<'a> {
    /// G, m x m, and the slope at u.
    Entries { gram: Cow<'a, [f64]>, m: usize, slope: Vec<f64> },
    /// Row j is the column of coefficient j at the samples inside, times the roots of 2 C_i;
    /// `rest`, times those, what is left of their slacks at u.
    Columns { x: RowMatrix, squares: Vec<f64>, rest: Vec<f64> },
}

impl<'a> Quadratic<'a> {
    /// With G stored.
    pub(super) fn entries(gram: &'a [f64], pull: &[f64]) -> Self {
        Self::Entries { gram: Cow::Borrowed(gram), m: pull.len(), slope: pull.iter().map(|c| -c).collect() }
    }

    /// With these features of `x`, and the bias, at the samples of beta_i not 0, whose slacks beta is
    /// made of.
    pub(super) fn columns(x: Extended<'_>, features: &[usize], dual: &BoxDual, beta: &[f64]) -> Self {
        let inside: Vec<usize> = (0..beta.len()).filter(|&i| beta[i] != 0.0).collect();
        let roots: Vec<f64> = inside.iter().map(|&i| (2.0 * dual.cost[i]).sqrt()).collect();
        let rest = inside.iter().zip(&roots).map(|(&i, root)| beta[i] / root).collect();
        let x = x.columns_at(features, &inside, &roots);
        let squares = (0..x.n_samples()).map(|j| x.row(j).squared_norm()).collect();
        Self::Columns { x, squares, rest }
    }

    /// Entry j, j of G.
    pub(super) fn curve(&self, j: usize) -> f64 {
        match self {
            Self::Entries { gram, m, .. } => gram[j * m + j],
            Self::Columns { squares, .. } => squares[j],
        }
    }

    /// The derivative in coefficient j, at u.
    pub(super) fn slope(&self, j: usize) -> f64 {
        match self {
            Self::Entries { slope, .. } => slope[j],
            Self::Columns { x, rest, .. } => -x.row(j).dot(rest),
        }
    }

    /// u_j += change
    pub(super) fn advance(&mut self, j: usize, change: f64) {
        match self {
            Self::Entries { gram, m, slope } => simd::axpy(change, &gram[j * *m..(j + 1) * *m], slope),
            Self::Columns { x, rest, .. } => x.row(j).add_to(-change, rest),
        }
    }

    /// `u_j += change` for these coefficients, where G is stored; those of columns moved at once.
    pub(super) fn advance_all(&mut self, places: &[usize], changes: &[f64]) {
        if let Self::Entries { gram, slope, .. } = self {
            simd::add_lines(gram, places, changes, slope);
        }
    }

    /// What a block of coefficients needs of G, where it is stored.
    pub(super) fn ahead(&self, block: &[usize]) -> Option<Ahead> {
        match self {
            Self::Entries { gram, m, slope } => Some(Ahead::of(gram, *m, slope, block)),
            Self::Columns { .. } => None,
        }
    }

    /// The part of these coefficients, which may move by itself until [`Quadratic::join`].
    pub(super) fn part(&mut self, places: &[usize]) -> Quadratic<'static> {
        match self {
            Self::Entries { slope, .. } => {
                let slope = places.iter().map(|&j| slope[j]).collect();
                Quadratic::Entries { gram: Cow::Owned(self.minor(places)), m: places.len(), slope }
            }
            Self::Columns { x, squares, rest } => Quadratic::Columns {
                x: x.chosen(places),
                squares: places.iter().map(|&j| squares[j]).collect(),
                rest: std::mem::take(rest),
            },
        }
    }

    /// Takes what the part has become, whose coefficients have moved by `changes`.
    pub(super) fn join(&mut self, part: Quadratic<'_>, changes: &[(usize, f64)]) {
        match (self, part) {
            (Self::Columns { rest, .. }, Quadratic::Columns { rest: moved, .. }) => *rest = moved,
            (entries, _) => changes.iter().for_each(|&(j, change)| entries.advance(j, change)),
        }
    }

    /// The entries of G among these coefficients.
    pub(super) fn minor(&self, places: &[usize]) -> Vec<f64> {
        match self {
            Self::Entries { gram, m, .. } => {
                let mut minor = Vec::with_capacity(places.len() * places.len());
                for &i in places {
                    let row = &gram[i * m..(i + 1) * m];
                    minor.extend(places.iter().map(|&j| row[j]));
                }
                minor
            }
            Self::Columns { x, .. } => {
                let rows = x.chosen(places).transposed();
                let mut normal = Normal::new(Extended::new(&rows, Bias::None));
                normal.add((0..rows.n_samples()).map(|i| (i, 1.0)));
                let mut minor = Vec::new();
                normal.gram(&mut minor);
                minor
            }
        }
    }

    /// What moves with these coefficients: the slope, or `rest`.
    pub(super) fn along(&self, moves: &[(usize, f64)]) -> Vec<f64> {
        match self {
            Self::Entries { gram, m, .. } => {
                let mut along = vec![0.0; *m];
                for &(j, change) in moves {
                    simd::axpy(change, &gram[j * m..(j + 1) * m], &mut along);
                }
                along
            }
            Self::Columns { x, rest, .. } => {
                let mut along = vec![0.0; rest.len()];
                for &(j, change) in moves {
                    x.row(j).add_to(-change, &mut along);
                }
                along
            }
        }
    }

    /// How the value changes with them.
    pub(super) fn rise(&self, moves: &[(usize, f64)], along: &[f64]) -> f64 {
        match self {
            Self::Entries { slope, .. } => moves.iter().map(|&(j, d)| d * (slope[j] + 0.5 * along[j])).sum(),
            Self::Columns { rest, .. } => simd::dot(rest, along) + 0.5 * simd::dot(along, along),
        }
    }

    /// Makes these moves.
    pub(super) fn follow(&mut self, along: &[f64]) {
        match self {
            Self::Entries { slope: moved, .. } | Self::Columns { rest: moved, .. } => simd::axpy(1.0, along, moved),
        }
    }

    /// Sweeps over all coefficients for the price of a Newton step on them; none where G is stored.
    pub(super) fn sweeps_a_step(&self) -> Option<usize> {
        let Self::Columns { x, rest, .. } = self else { return None };
        let (sweep, step) = prices(x.n_samples(), rest.len(), Some(x.stored()));
        Some((step / sweep) as usize)
    }
}

/// What a problem knows of a block: its slopes there, and G among its features.
pub(super) struct Ahead {
    pub(super) slopes: Vec<f64>,
    entries: Vec<f64>,
}

impl Ahead {
    /// Slopes of a block and entries of G there; rows of G have m entries.
    fn of(gram: &[f64], m: usize, slope: &[f64], block: &[usize]) -> Self {
        let row = |&i: &usize| block.iter().map(move |&j| gram[i * m + j]);
        Self { slopes: block.iter().map(|&j| slope[j]).collect(), entries: block.iter().flat_map(row).collect() }
    }

    /// Entry k, k.
    pub(super) fn curve(&self, k: usize) -> f64 {
        self.entries[k * self.slopes.len() + k]
    }

    /// Coefficient k of the block has moved.
    pub(super) fn advance(&mut self, k: usize, change: f64) {
        let n = self.slopes.len();
        let row = &self.entries[k * n..(k + 1) * n];
        self.slopes.iter_mut().zip(row).for_each(|(slope, entry)| *slope += change * entry);
    }
}

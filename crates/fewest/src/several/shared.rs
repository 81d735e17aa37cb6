//! The problems of samples on the one matrix that they share, without a copy of it: what a method
//! asks that reads all features by their scores, and the rows of few.

use rayon::prelude::*;

use super::{Labels, SubProblem, all_parts, labels_of, samples_of};
use crate::design::Joint;
use crate::weights::check_two_classes;
use crate::{Design, Error, Memory, MultiClass, Reserved, RowMatrix, Rules, Samples};

/// Columns that a thread walks along at a time.
const COLUMNS: usize = 16;
/// The piece of a sample that is in no problem.
const NONE: u32 = u32::MAX;

/// Two-class problems of samples. A piece is the samples of a task, of a class, or of a class of a
/// task, or all: those that are in the same problems. A problem has one piece or two.
pub(crate) struct Shared<'a> {
    design: &'a dyn Design,
    parts: Vec<SubProblem>,
    labels: Vec<Labels>,
    /// The samples of each piece, ascending.
    pieces: Vec<Vec<usize>>,
    /// The pieces of each problem, in order.
    of_part: Vec<Vec<usize>>,
    /// Problems of each piece.
    users: Vec<Vec<usize>>,
    _taken: Reserved,
}

impl<'a> Shared<'a> {
    /// Takes samples apart as [`super::Several::of`] does; what it needs itself is taken from
    /// `memory`.
    pub(crate) fn of(
        samples: &Samples<'a>,
        multi_class: MultiClass,
        rules: &Rules,
        memory: &Memory,
    ) -> Result<Self, Error> {
        check_two_classes(rules.weight_bounds(), samples.n_classes())?;
        let mut parts = all_parts(samples, multi_class)?;
        let (mut keys, mut pieces, mut of_part) = (Vec::new(), Vec::new(), Vec::new());
        let (mut users, mut labels) = (Vec::<Vec<usize>>::new(), Vec::new());
        for (t, part) in parts.iter_mut().enumerate() {
            let mut own = Vec::new();
            for key in part.pieces(multi_class == MultiClass::OneVsOne) {
                let at = keys.iter().position(|known| *known == key).unwrap_or_else(|| {
                    keys.push(key);
                    pieces.push(samples_of(samples, key));
                    users.push(Vec::new());
                    keys.len() - 1
                });
                users[at].push(t);
                own.push(at);
            }
            let of: Vec<usize> = own.iter().flat_map(|&at| &pieces[at]).copied().collect();
            labels.push(labels_of(samples, part, &of));
            part.samples = of.len();
            of_part.push(own);
        }
        let values = users.iter().map(Vec::len).max().unwrap_or(0);
        let what = || format!("the dual points of {} problems", parts.len());
        let taken = memory.reserve(
            Joint::bytes(samples.n_samples(), values),
            what,
            "keep fewer samples, or choose one-vs-rest for fewer problems",
        )?;
        Ok(Self { design: samples.design(), parts, labels, pieces, of_part, users, _taken: taken })
    }

    /// What each problem tells apart.
    pub(crate) fn parts(&self) -> &[SubProblem] {
        &self.parts
    }

    /// Labels and weights of each problem.
    pub(crate) fn labels(&self) -> &[Labels] {
        &self.labels
    }

    /// Samples of each piece.
    pub(crate) fn sizes(&self) -> Vec<usize> {
        self.pieces.iter().map(Vec::len).collect()
    }

    /// The pieces of each problem.
    pub(crate) fn of_part(&self) -> &[Vec<usize>] {
        &self.of_part
    }

    /// The rows of each piece: these columns.
    pub(crate) fn rows(&self, features: &[usize]) -> Vec<RowMatrix> {
        let all = self.design.rows(features);
        match &self.pieces[..] {
            [piece] if piece.len() == self.design.n_samples() => vec![all],
            pieces => pieces.iter().map(|piece| all.chosen(piece)).collect(),
        }
    }

    /// Sums over problems of each feature's squared scores as they count, in one walk along the
    /// values; `betas` of each problem's samples.
    pub(crate) fn squares(&self, betas: &[&[f64]], counted: &(dyn Fn(usize, f64) -> f64 + Sync)) -> Vec<f64> {
        let joint = self.joint(betas);
        // Of each problem its pieces, and which value of theirs is its own.
        let place = |(t, pieces): (usize, &Vec<usize>)| -> Vec<(usize, usize)> {
            let own = |&piece: &usize| {
                (piece, self.users[piece].iter().position(|&user| user == t).expect("it uses the piece"))
            };
            pieces.iter().map(own).collect()
        };
        let places: Vec<Vec<(usize, usize)>> = self.of_part.iter().enumerate().map(place).collect();
        let mut squares = vec![0.0; self.design.n_features()];
        squares.par_chunks_mut(COLUMNS).enumerate().for_each_init(
            || joint.sums(),
            |sums, (chunk, out)| {
                for (k, out) in out.iter_mut().enumerate() {
                    let j = chunk * COLUMNS + k;
                    joint.column(self.design, j, sums);
                    let score = |own: &Vec<(usize, usize)>| own.iter().map(|&(g, k)| joint.of(sums, g, k)).sum::<f64>();
                    *out = places.iter().map(|own| counted(j, score(own)).powi(2)).sum();
                }
            },
        );
        squares
    }

    /// The values of each sample in the problems that it is in.
    fn joint(&self, betas: &[&[f64]]) -> Joint {
        let mut group = vec![NONE; self.design.n_samples()];
        for (piece, of) in self.pieces.iter().enumerate() {
            for &i in of {
                group[i] = piece as u32;
            }
        }
        // A sample that is in no problem has values of 0, and adds them to any.
        group.iter_mut().filter(|g| **g == NONE).for_each(|g| *g = 0);
        let most = self.users.iter().map(Vec::len).max().unwrap_or(0);
        let mut joint = Joint::new(group, self.pieces.len(), most);
        for (t, (pieces, beta)) in self.of_part.iter().zip(betas).enumerate() {
            let mut rest = *beta;
            for &piece in pieces {
                let k = self.users[piece].iter().position(|&user| user == t).expect("it uses the piece");
                let (own, others) = rest.split_at(self.pieces[piece].len());
                self.pieces[piece].iter().zip(own).for_each(|(&i, b)| joint.set(i, k, *b));
                rest = others;
            }
        }
        joint
    }
}

//! Samples of several matrices with the same features, one after the other.

use std::sync::Arc;

use crate::bound::saddle::weighted;
use crate::{Design, RowMatrix};

/// Matrices on top of each other; they may be shared with other stacks.
#[derive(Clone)]
pub(super) struct Stack(Vec<Arc<dyn Design>>);

impl Stack {
    /// Stack of one matrix or more, dense or sparse alike.
    pub(super) fn new(pieces: Vec<Arc<dyn Design>>) -> Self {
        Self(pieces)
    }

    /// The matrices, each with the position of its first sample.
    fn each(&self) -> impl Iterator<Item = (&dyn Design, usize)> {
        let mut next = 0;
        self.0.iter().map(move |piece| {
            let first = next;
            next += piece.n_samples();
            (&**piece, first)
        })
    }
}

impl Design for Stack {
    fn n_samples(&self) -> usize {
        self.0.iter().map(|piece| piece.n_samples()).sum()
    }
    fn n_features(&self) -> usize {
        self.0[0].n_features()
    }
    fn stored(&self) -> usize {
        self.0.iter().map(|piece| piece.stored()).sum()
    }
    fn is_sparse(&self) -> bool {
        self.0[0].is_sparse()
    }
    fn dot_column(&self, j: usize, v: &[f64]) -> f64 {
        self.each().map(|(piece, first)| piece.dot_column(j, &v[first..first + piece.n_samples()])).sum()
    }
    fn add_column(&self, j: usize, s: f64, out: &mut [f64]) {
        for (piece, first) in self.each() {
            piece.add_column(j, s, &mut out[first..first + piece.n_samples()]);
        }
    }
    fn each_in_column(&self, j: usize, f: &mut dyn FnMut(usize, f64)) {
        for (piece, first) in self.each() {
            piece.each_in_column(j, &mut |i, x| f(first + i, x));
        }
    }
    fn dense_column(&self, j: usize) -> Option<&[f64]> {
        if let [piece] = &self.0[..] { piece.dense_column(j) } else { None }
    }
    fn rows(&self, features: &[usize]) -> RowMatrix {
        if let [piece] = &self.0[..] {
            return piece.rows(features);
        }
        let all: Vec<usize> = (0..features.len()).collect();
        weighted(self, features, &vec![1.0; features.len()]).rows(&all)
    }
    fn select_samples(&self, samples: &[usize]) -> Box<dyn Design> {
        let part = |(piece, first): (&dyn Design, usize)| {
            let here = samples.iter().filter_map(|i| i.checked_sub(first)).filter(|i| *i < piece.n_samples());
            Arc::from(piece.select_samples(&here.collect::<Vec<usize>>()))
        };
        Box::new(Self(self.each().map(part).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::Stack;
    use crate::{DenseDesign, Design, SparseDesign};
    use std::sync::Arc;

    /// Whatever is asked of a stack is what the one matrix says.
    #[test]
    fn a_stack_is_the_matrix_that_its_pieces_make() {
        let columns = [[1.0, 0.0, -2.0, 3.0, 0.5], [0.0, 4.0, 0.0, -1.0, 2.0]];
        let dense = DenseDesign::new(5, 2, columns.concat()).unwrap();
        let (mut start, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
        for column in columns {
            for (i, x) in column.iter().enumerate().filter(|x| *x.1 != 0.0) {
                rows.push(i as u32);
                values.push(*x);
            }
            start.push(rows.len());
        }
        let sparse = SparseDesign::new(5, start, rows, values).unwrap();
        for whole in [&dense as &dyn Design, &sparse] {
            for cut in [[0..2, 2..5], [0..5, 5..5]] {
                let piece = |range: std::ops::Range<usize>| Arc::from(whole.select_samples(&range.collect::<Vec<_>>()));
                let stack = Stack::new(cut.map(piece).to_vec());
                assert_eq!((stack.n_samples(), stack.n_features()), (5, 2));
                assert_eq!((stack.stored(), stack.is_sparse()), (whole.stored(), whole.is_sparse()));
                let v = [1.0, -2.0, 0.5, 3.0, 7.0];
                let part = stack.select_samples(&[1, 2, 4]);
                for j in 0..2 {
                    assert_eq!(stack.dot_column(j, &v), whole.dot_column(j, &v));
                    assert_eq!(part.dot_column(j, &[1.0, 1.0, 1.0]), columns[j][1] + columns[j][2] + columns[j][4]);
                    let (mut out, mut wanted) = ([1.0; 5], [1.0; 5]);
                    stack.add_column(j, -2.0, &mut out);
                    whole.add_column(j, -2.0, &mut wanted);
                    assert_eq!(out, wanted);
                    let entries = |design: &dyn Design| {
                        let mut list = Vec::new();
                        design.each_in_column(j, &mut |i, x| list.push((i, x)));
                        list
                    };
                    assert_eq!(entries(&stack), entries(whole));
                }
                let (rows, wanted) = (stack.rows(&[1, 0]), whole.rows(&[1, 0]));
                for i in 0..5 {
                    assert_eq!(rows.row(i).dot(&[1.0, 10.0]), wanted.row(i).dot(&[1.0, 10.0]));
                }
            }
        }
    }
}

//! Scores of a column for many vectors at once: of problems that share samples, in one walk along
//! the entries.
//!
//! A sample has a value in each of its problems, and these lie side by side. So an entry `x_ij` adds
//! `x_ij b_i`, a few vector operations, to the sums of the sample's group: the problems that its
//! class is in.

use multiversion::multiversion;

use super::Design;

/// Values of a sample are stored in blocks of this many.
const LANES: usize = 8;

/// The values of all samples, in groups.
#[derive(Debug)]
pub struct Joint {
    /// Values of a sample: a multiple of [`LANES`].
    width: usize,
    /// n x width.
    values: Vec<f64>,
    /// The group of each sample.
    group: Vec<u32>,
    groups: usize,
}

impl Joint {
    /// All 0: samples by their group, each with at least `values` values.
    pub fn new(group: Vec<u32>, groups: usize, values: usize) -> Self {
        let width = values.next_multiple_of(LANES);
        Self { width, values: vec![0.0; group.len() * width], group, groups }
    }

    /// Bytes of the values of `samples` samples.
    pub fn bytes(samples: usize, values: usize) -> u64 {
        8 * samples as u64 * values.next_multiple_of(LANES) as u64 + 4 * samples as u64
    }

    /// Makes value k of sample i this.
    pub fn set(&mut self, i: usize, k: usize, value: f64) {
        self.values[i * self.width + k] = value;
    }

    /// Room for the sums of a column.
    pub fn sums(&self) -> Vec<f64> {
        vec![0.0; self.groups * self.width]
    }

    /// The sum over the samples of a group of `x_ij b_ik`: value k of that group.
    pub fn of(&self, sums: &[f64], group: usize, k: usize) -> f64 {
        sums[group * self.width + k]
    }

    /// Makes `sums` those of column j.
    pub fn column(&self, design: &dyn Design, j: usize, sums: &mut [f64]) {
        sums.fill(0.0);
        let mut by = 1.0;
        let compressed = design.sparse_column(j, &mut |rows, x, divisor| {
            by = divisor;
            add_entries(rows, x, (&self.values, self.width), &self.group, sums);
        });
        if !compressed {
            let (mut rows, mut values) = (Vec::new(), Vec::new());
            design.each_in_column(j, &mut |i, x| {
                rows.push(i as u32);
                values.push(x);
            });
            add_entries(&rows, &values, (&self.values, self.width), &self.group, sums);
        }
        if by != 1.0 {
            for sum in sums.iter_mut() {
                *sum /= by;
            }
        }
    }
}

/// `sums_group(i) += x_i b_i` for each entry, b of `width` values each.
#[multiversion(targets("x86_64+avx512f+avx512vl+fma", "x86_64+avx2+fma"))]
fn add_entries(rows: &[u32], x: &[f64], (b, width): (&[f64], usize), group: &[u32], sums: &mut [f64]) {
    for (&i, &x) in rows.iter().zip(x) {
        let i = i as usize;
        let own = b[i * width..][..width].as_chunks::<LANES>().0;
        let sums = sums[group[i] as usize * width..][..width].as_chunks_mut::<LANES>().0;
        for (sums, own) in sums.iter_mut().zip(own) {
            for l in 0..LANES {
                sums[l] += x * own[l];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Joint;
    use crate::{DenseDesign, Design, SparseDesign};

    #[test]
    fn one_walk_gives_the_sums_of_every_group() {
        let columns = [[1.0, 0.0, -2.0, 3.0], [0.0, 4.0, 0.0, -1.0]];
        let dense = DenseDesign::new(4, 2, columns.concat()).unwrap();
        let sparse = SparseDesign::new(4, vec![0, 3, 5], vec![0, 2, 3, 1, 3], vec![1.0, -2.0, 3.0, 4.0, -1.0]).unwrap();
        let group = vec![0, 1, 1, 0];
        let mut joint = Joint::new(group.clone(), 2, 9);
        for i in 0..4 {
            (0..9).for_each(|k| joint.set(i, k, (i * 9 + k) as f64));
        }
        let mut sums = joint.sums();
        for design in [&dense as &dyn Design, &sparse] {
            for (j, column) in columns.iter().enumerate() {
                joint.column(design, j, &mut sums);
                for (g, k) in [(0, 0), (0, 8), (1, 3), (1, 8)] {
                    let own = (0..4).filter(|&i| group[i] == g as u32);
                    let wanted: f64 = own.map(|i| column[i] * (i * 9 + k) as f64).sum();
                    assert_eq!(joint.of(&sums, g, k), wanted);
                }
            }
        }
    }
}

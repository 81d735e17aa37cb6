//! Sparse data that are centred without their zeros being filled in: the matrix of dense data, bit
//! for bit, and its products within what a sum of n of them may be wrong by.

use fewest_data::{Features, Interval, SampleWeights, ScaleKind, Scaling, read};
use fewest_svm::{Design, SparseDesign};

use crate::common::{Case, lines};

/// Numbers that depend on their place alone, in [-1, 1].
fn noise(i: usize, j: usize) -> f64 {
    let mixed = (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (j as u64).wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((mixed >> 11) as f64 / (1u64 << 52) as f64) - 1.0
}

/// Columns of every density, some far from 0, some of one value, one of huge and one of tiny values.
fn columns(n: usize) -> Features {
    let (mut start, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
    let shares = [0.01, 0.05, 0.2, 0.45, 0.55, 0.9, 1.0];
    for j in 0..26 {
        let (share, kind) = (shares[j % 7], j / 7);
        for i in (0..n).filter(|&i| 0.5 * (noise(i, 1000 + j) + 1.0) < share) {
            let value = match kind {
                0 => 1.0,
                1 => noise(i, j),
                2 => 1e6 + noise(i, j),
                _ if j % 2 == 0 => 1e150 * (2.0 + noise(i, j)),
                _ => 1e-150 * noise(i, j),
            };
            rows.push(i as u32);
            values.push(value);
        }
        start.push(rows.len());
    }
    // One without a value.
    start.push(rows.len());
    Features::Sparse(SparseDesign::new(n, start, rows, values).expect("in order"))
}

fn column(design: &dyn Design, j: usize) -> Vec<f64> {
    let mut column = vec![f64::NAN; design.n_samples()];
    design.each_in_column(j, &mut |i, x| column[i] = x);
    column
}

#[test]
fn the_matrix_is_that_of_dense_data() {
    let n = 2500;
    let sparse = columns(n);
    let v: Vec<f64> = (0..n).map(|i| noise(i, 77) + 0.3).collect();
    let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let weights: Vec<f64> = (0..n).map(|i| f64::from(i as u32 % 4)).collect();
    for kind in [ScaleKind::Standard, ScaleKind::Range(Interval::default())] {
        for weights in [SampleWeights::ONES, SampleWeights::new(&weights)] {
            let scaling = Scaling::weighted(kind, &sparse, weights, true).expect("fit");
            let (mut centred, mut dense) = (sparse.clone(), sparse.clone());
            dense.make_dense();
            // Means and extremes of the same values, summed in another order.
            let known = Scaling::weighted(kind, &dense, weights, false).expect("fit");
            for j in 0..27 {
                let near = |a: f64, b: f64| (a - b).abs() <= 1e-13 * (a.abs() + known.scale[j]);
                assert!(near(scaling.center[j], known.center[j]) && near(scaling.scale[j], known.scale[j]), "{j}");
            }
            scaling.apply(&mut centred).expect("apply");
            scaling.apply(&mut dense).expect("apply");
            assert!(matches!(centred, Features::Centred(_)));
            let (ours, theirs) = (centred.as_design(), dense.as_design());
            assert!(!ours.is_sparse() && ours.stored() == 27 * n);
            let p = ours.n_features();
            let (mut dots, mut chosen) = (vec![0.0; p], vec![0.0; p]);
            ours.dot_columns(0, &v, &mut dots);
            ours.dot_chosen(&(0..p).rev().collect::<Vec<_>>(), &v, &mut chosen);
            let mut largest = 0.0f64;
            for j in 0..p {
                let known = column(theirs, j);
                assert!(column(ours, j) == known && centred.value(7, j) == known[7], "{kind} {j}");
                let square: f64 = known.iter().map(|x| x * x).sum();
                assert!((ours.squared_norm(j) - square).abs() <= 1e-12 * square, "{kind} {j}");
                let wrong = f64::EPSILON * n as f64 * square.sqrt() * length;
                let exact = theirs.dot_column(j, &v);
                for found in [ours.dot_column(j, &v), dots[j], chosen[p - 1 - j]] {
                    assert!((found - exact).abs() <= wrong, "{kind} {j}: {found} {exact}");
                }
                let (mut a, mut b) = (v.clone(), v.clone());
                ours.add_column(j, 0.7, &mut a);
                theirs.add_column(j, 0.7, &mut b);
                assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() <= 1e-14 * (1.0 + b.abs())));
                largest = known.iter().fold(largest, |most, x| most.max(x.abs()));
            }
            assert_eq!(ours.largest_value(), Some(largest));
            let few = [3, 17, 26, 5];
            assert_eq!(ours.rows(&few).dense_values(), theirs.rows(&few).dense_values());
            let samples: Vec<usize> = (0..n).filter(|i| i % 3 == 1).collect();
            let (some, known) = (ours.select_samples(&samples), theirs.select_samples(&samples));
            assert!((0..p).all(|j| column(&*some, j) == column(&*known, j)));
            assert_eq!(centred.constant(), dense.constant());
            let picked = centred.select(&[Some(9), None, Some(0)]);
            let picked = picked.as_design();
            assert!(column(picked, 0) == column(theirs, 9) && column(picked, 2) == column(theirs, 0));
            assert_eq!(column(picked, 1), vec![0.0; n]);
            let mut filled = centred.clone();
            filled.make_dense();
            assert!((0..p).all(|j| column(filled.as_design(), j) == column(theirs, j)));
        }
    }
}

#[test]
fn a_mapped_file_is_centred_as_one_in_memory() {
    let case = Case::new("a.svm", lines(300, |i| format!("{} 1:{} 3:2\n-1 2:{i}\n", i % 2, i % 5 + 1)));
    let path = case.beside("a.csc");
    fewest_data::to_columns(case.path(), &fewest_data::ReadOptions::default(), &path).expect("converted");
    let (mut mapped, mut memory) = (
        read(&path, &fewest_data::ReadOptions::default()).expect("read").features,
        case.read().expect("read").features,
    );
    let scaling = Scaling::weighted(ScaleKind::Standard, &mapped, SampleWeights::ONES, true).expect("fit");
    scaling.apply(&mut mapped).expect("apply");
    scaling.apply(&mut memory).expect("apply");
    assert!(matches!(mapped, Features::Centred(_)) && mapped.n_features() == 3);
    for j in 0..3 {
        let found = column(mapped.as_design(), j);
        assert_eq!(found, column(memory.as_design(), j));
        assert!(found.iter().sum::<f64>().abs() <= 1e-10);
    }
}

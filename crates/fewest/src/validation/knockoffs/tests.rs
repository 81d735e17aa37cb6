//! The law of the copies, by both routes, and what becomes of it at the borders.

use fewest_testing::Rng;

use super::Knockoffs;
use crate::{Clock, DenseDesign, Memory};

/// Features that share a part, so that all correlations are `r`.
fn correlated(n: usize, p: usize, r: f64, rng: &mut Rng) -> DenseDesign<'static> {
    let mut values = vec![0.0; n * p];
    for i in 0..n {
        let shared = rng.normal();
        (0..p).for_each(|j| values[j * n + i] = 3.0 + r.sqrt() * shared + (1.0 - r).sqrt() * rng.normal());
    }
    DenseDesign::new(n, p, values).unwrap()
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (at, bt) = (mean(a), mean(b));
    let product =
        |x: &[f64], xt: f64, y: &[f64], yt: f64| -> f64 { x.iter().zip(y).map(|(x, y)| (x - xt) * (y - yt)).sum() };
    product(a, at, b, bt) / (product(a, at, a, at) * product(b, bt, b, bt)).sqrt()
}

/// Copies have the correlations of the features with each other and with the other features, and
/// 1 - s with their own, whichever of the two ways made them.
#[test]
fn a_copy_stands_to_all_others_as_its_feature_does() {
    let mut rng = Rng::new(3);
    let (n, p, r) = (4000, 6, 0.4);
    let design = correlated(n, p, r, &mut rng);
    let model =
        Knockoffs::new(&design, &[0, 1, 2, 3, 4, 5], &Memory::unlimited(), &Clock::unlimited()).unwrap().unwrap();
    // The least eigenvalue is 1 - r, so that all s may be 1.
    assert!(model.separations().iter().all(|s| (s - 1.0).abs() < 0.01), "{:?}", model.separations());
    assert!(model.shrinkage() < 0.02, "{}", model.shrinkage());
    let both = model.draw(&mut || rng.normal(), &Clock::unlimited()).unwrap();
    for j in 0..p {
        for k in 0..p {
            let own = correlation(both.design.column(j), both.design.column(p + k));
            let wanted = if j == k { 1.0 - model.separations()[j] } else { r };
            assert!((own - wanted).abs() < 0.06, "{j} {k}: {own}, not {wanted}");
        }
    }
    let mean = both.design.column(p).iter().sum::<f64>() / n as f64;
    assert!((mean - 3.0).abs() < 0.1, "{mean}");
}

/// Two features nearly the same hold the equal s down, but not that of the others.
#[test]
fn a_pair_of_features_alike_costs_the_others_nothing() {
    let mut rng = Rng::new(8);
    let (n, p) = (3000, 5);
    let mut design = correlated(n, p, 0.1, &mut rng);
    let first = design.column(0).to_vec();
    design.column_mut(1).iter_mut().zip(&first).for_each(|(x, first)| *x = first + 0.05 * rng.normal());
    let model = Knockoffs::new(&design, &[0, 1, 2, 3, 4], &Memory::unlimited(), &Clock::unlimited()).unwrap().unwrap();
    let s = model.separations();
    assert!(s[0] + s[1] < 0.1 && s[2..].iter().all(|s| *s > 0.9), "{s:?}");
    let both = model.draw(&mut || rng.normal(), &Clock::unlimited()).unwrap();
    for j in 0..p {
        for k in 0..p {
            let wanted = correlation(design.column(j), design.column(k)) - if j == k { s[j] } else { 0.0 };
            let copy = both.design.column(if both.swapped[k] { k } else { p + k });
            let found = correlation(design.column(j), copy);
            assert!((found - wanted).abs() < 0.06, "{j} {k}: {found}, not {wanted}");
        }
    }
}

/// Neighbours that are alike, n not much larger than p: many eigenvalues are near the least.
#[test]
fn features_in_a_chain_are_copied_too() {
    for (seed, n, p, r) in [(1, 500, 100, 0.6_f64), (2, 120, 100, 0.9), (3, 101, 100, 0.0), (4, 2000, 40, 0.99)] {
        let mut rng = Rng::new(seed);
        let mut values: Vec<f64> = (0..n * p).map(|_| rng.normal()).collect();
        (n..n * p).for_each(|at| values[at] = r * values[at - n] + (1.0 - r * r).sqrt() * values[at]);
        let design = DenseDesign::new(n, p, values).unwrap();
        let model = Knockoffs::new(&design, &(0..p).collect::<Vec<_>>(), &Memory::unlimited(), &Clock::unlimited())
            .unwrap()
            .unwrap();
        assert!(model.separations().iter().all(|s| (0.0..=1.0).contains(s)), "{:?}", model.separations());
        // No less than equal ones, 2 (1 - r) / (1 + r) but for shrinkage.
        assert!(model.separation() >= (1.9 * (1.0 - r) / (1.0 + r)).min(0.9), "{}", model.separation());
        let both = model.draw(&mut || rng.normal(), &Clock::unlimited()).unwrap();
        assert!(both.design.values().iter().all(|value| value.is_finite()));
    }
}

#[test]
fn told_to_stop_it_ends_with_nothing() {
    let mut rng = Rng::new(9);
    for (n, p) in [(30, 8), (8, 30)] {
        let design = correlated(n, p, 0.3, &mut rng);
        let features: Vec<usize> = (0..p).collect();
        // At any of its checks.
        for most in 0..3 {
            let clock = Clock::of_questions(most);
            assert!(Knockoffs::new(&design, &features, &Memory::unlimited(), &clock).unwrap().is_none());
        }
        let model = Knockoffs::new(&design, &features, &Memory::unlimited(), &Clock::unlimited()).unwrap().unwrap();
        assert!(model.draw(&mut || rng.normal(), &Clock::of_questions(0)).is_none());
    }
}

/// The law of a draw is that of the formula, computed from R itself, where p >= n.
#[test]
fn many_features_are_copied_by_the_same_law() {
    let mut rng = Rng::new(4);
    let (n, p) = (5, 7);
    let design = correlated(n, p, 0.5, &mut rng);
    let model = Knockoffs::new(&design, &(0..p).collect::<Vec<_>>(), &Memory::unlimited(), &Clock::unlimited())
        .unwrap()
        .unwrap();
    let (lambda, s) = (model.shrinkage(), model.separation());
    let x = |i: usize, j: usize| model.samples[i * p + j];
    let mut inverse = vec![0.0; p * p];
    for j in 0..p {
        for k in 0..p {
            let product: f64 = (0..n).map(|i| x(i, j) * x(i, k)).sum::<f64>() / n as f64;
            inverse[j * p + k] = (1.0 - lambda) * product + if j == k { lambda } else { 0.0 };
        }
    }
    crate::kernel::inverse::invert(&mut inverse, p, p, 0.0);
    for i in 0..n {
        for j in 0..p {
            let wanted = x(i, j) - s * (0..p).map(|k| x(i, k) * inverse[k * p + j]).sum::<f64>();
            assert!((model.centre[i * p + j] - wanted).abs() < 1e-9);
        }
    }
    // Products of the noise over many draws.
    let (draws, mut sums) = (40_000, vec![0.0; p * p]);
    for _ in 0..draws {
        let copies = model.copies(&mut || rng.normal(), &Clock::unlimited()).unwrap();
        let noise: Vec<f64> = (0..p).map(|j| copies[j] - model.centre[j]).collect();
        (0..p * p).for_each(|at| sums[at] += noise[at / p] * noise[at % p] / f64::from(draws));
    }
    for (at, found) in sums.iter().enumerate() {
        let diagonal = if at / p == at % p { 2.0 * s } else { 0.0 };
        let wanted = diagonal - s * s * inverse[at];
        assert!((found - wanted).abs() < 0.05, "{at}: {found}, not {wanted}");
    }
}

#[test]
fn equal_features_leave_nothing_to_tell_apart() {
    let mut rng = Rng::new(5);
    let first: Vec<f64> = (0..50).map(|_| rng.normal()).collect();
    let design = DenseDesign::new(50, 2, [first.clone(), first].concat()).unwrap();
    let model = Knockoffs::new(&design, &[0, 1], &Memory::unlimited(), &Clock::unlimited()).unwrap().unwrap();
    assert!(model.separation() < 0.1, "{}", model.separation());
    assert!(
        model
            .draw(&mut || rng.normal(), &Clock::unlimited())
            .unwrap()
            .design
            .values()
            .iter()
            .all(|value| value.is_finite())
    );
}

#[test]
fn a_swapped_pair_changes_the_sign_alone() {
    let mut rng = Rng::new(6);
    let design = correlated(30, 5, 0.2, &mut rng);
    let model = Knockoffs::new(&design, &[1, 3, 4], &Memory::unlimited(), &Clock::unlimited()).unwrap().unwrap();
    for _ in 0..10 {
        let both = model.draw(&mut || rng.normal(), &Clock::unlimited()).unwrap();
        // How far each column is from the features: 0 for these.
        let far = |k: usize| {
            let from = design.column(model.features()[k % 3]);
            both.design.column(k).iter().zip(from).map(|(a, b)| (a - b).abs()).sum::<f64>()
        };
        let statistics = both.statistics(&(0..6).map(far).collect::<Vec<_>>());
        assert!(statistics.iter().all(|w| *w < -0.1), "{statistics:?}");
    }
}

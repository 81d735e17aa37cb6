//! Synthetic data: what the settings promise, independence of the sets, and round trips through
//! every format.

use fewest_data::generate::{
    Coefficients, Composite, CompositeSettings, Correlated, CorrelatedSettings, Generator, Hyperplane,
    HyperplaneSettings, Ndcc, NdccSettings, Points, SampleSet, Text, TextSettings,
};
use fewest_data::{DataError, Dataset, Format, ReadOptions, read, write};

const PARTS: [SampleSet; 3] = [SampleSet::Training, SampleSet::Validation, SampleSet::Test];

fn plane(settings: HyperplaneSettings) -> Hyperplane {
    Hyperplane::new(settings).expect("settings in range")
}

fn row(data: &Dataset, i: usize) -> Vec<f64> {
    (0..data.features.n_features()).map(|j| data.features.value(i, j)).collect()
}

fn rows(data: &Dataset) -> Vec<Vec<f64>> {
    (0..data.features.n_samples()).map(|i| row(data, i)).collect()
}

fn signs(data: &Dataset) -> Vec<f64> {
    data.target.as_ref().expect("a target").signs()
}

fn distance(weights: &[f64], x: &[f64]) -> f64 {
    weights.iter().zip(x).map(|(w, x)| w * x).sum()
}

#[test]
fn labels_are_the_side_of_the_hyperplane_and_points_lie_in_the_ball() {
    for (seed, p, m) in [(1, 20, 7), (2, 1, 1), (3, 50, 50), (4, 3, 2)] {
        let plane = plane(HyperplaneSettings { seed, ..HyperplaneSettings::new(p, m) });
        let weights = plane.weights().expect("a linear truth");
        assert_eq!((weights.len(), plane.support().len()), (p, m));
        assert_eq!(plane.support(), (0..p).filter(|&j| weights[j] != 0.0).collect::<Vec<_>>());
        for part in PARTS {
            let data = plane.draw(part, 200).expect("two classes");
            assert_eq!((data.features.n_samples(), data.features.n_features()), (200, p));
            for (x, y) in rows(&data).iter().zip(signs(&data)) {
                let d = distance(weights, x);
                assert!(d != 0.0 && d.signum() == y, "side {d} of label {y}");
                assert!(x.iter().map(|x| x * x).sum::<f64>() <= 1.0 + 1e-12, "in the unit ball");
            }
        }
    }
}

/// A uniform point in the ball has |x|^p uniform on [0, 1], and no feature is preferred.
#[test]
fn points_fill_the_ball_evenly() {
    let p = 5;
    let data = plane(HyperplaneSettings::new(p, 2)).draw(SampleSet::Training, 8000).expect("two classes");
    let mut quarters = [0u32; 4];
    let mut squares = vec![0.0; p];
    for x in rows(&data) {
        let square: f64 = x.iter().map(|x| x * x).sum();
        quarters[((4.0 * square.powf(p as f64 / 2.0)) as usize).min(3)] += 1;
        for (s, x) in squares.iter_mut().zip(&x) {
            *s += x * x;
        }
    }
    assert!(quarters.iter().all(|q| q.abs_diff(2000) < 160), "{quarters:?}");
    // E x_j^2 = 1 / (p + 2), with a standard error of 0.0017.
    assert!(squares.iter().all(|s| (s / 8000.0 - 1.0 / 7.0).abs() < 0.008), "{squares:?}");
}

#[test]
fn signs_normal_points_and_noise() {
    let settings = HyperplaneSettings {
        points: Points::Normal,
        coefficients: Coefficients::Signs,
        noise_sd: 0.5,
        seed: 5,
        ..HyperplaneSettings::new(40, 4)
    };
    let noisy = plane(settings.clone());
    let weights = noisy.weights().expect("a linear truth").to_vec();
    assert!(weights.iter().all(|w| [-1.0, 0.0, 1.0].contains(w)) && noisy.support().len() == 4);
    let data = noisy.draw(SampleSet::Training, 4000).expect("two classes");
    let exact =
        plane(HyperplaneSettings { noise_sd: 0.0, ..settings }).draw(SampleSet::Training, 4000).expect("two classes");
    assert_eq!(rows(&data), rows(&exact), "noise moves labels, not points");
    // w.x is normal with deviation 2, so that noise of deviation 0.5 turns a share atan(0.5 / 2) /
    // pi = 0.078 of the labels.
    let turned = signs(&data).iter().zip(signs(&exact)).filter(|(a, b)| **a != *b).count();
    assert!((250..375).contains(&turned), "{turned} of 4000 labels turned");
    let mean_square = rows(&data).concat().iter().map(|x| x * x).sum::<f64>() / 160_000.0;
    assert!((mean_square - 1.0).abs() < 0.02, "{mean_square}");
}

#[test]
fn sets_depend_on_seed_and_part_only() {
    let with_seed = |seed| plane(HyperplaneSettings { seed, ..HyperplaneSettings::new(10, 3) });
    let (one, again, other) = (with_seed(1), with_seed(1), with_seed(2));
    assert_eq!(one.weights(), again.weights());
    assert_ne!(one.weights(), other.weights());
    let short = one.draw(SampleSet::Validation, 50).expect("two classes");
    let long = again.draw(SampleSet::Validation, 80).expect("two classes");
    assert_eq!(rows(&short)[..], rows(&long)[..50], "a larger set begins with the smaller one");
    assert_eq!(signs(&short)[..], signs(&long)[..50]);
    let firsts: Vec<Vec<f64>> = PARTS.iter().map(|&part| row(&one.draw(part, 50).expect("two classes"), 0)).collect();
    assert!(firsts[0] != firsts[1] && firsts[1] != firsts[2] && firsts[0] != firsts[2]);
    assert_ne!(rows(&short), rows(&other.draw(SampleSet::Validation, 50).expect("two classes")));
}

/// Stored numbers: the same on every machine, with every version. A Python version of the same
/// steps agrees, but for the last digit of one value, where the C library's `pow` differs from
/// `libm`.
#[test]
fn a_set_never_changes() {
    let plane = plane(HyperplaneSettings { seed: 42, ..HyperplaneSettings::new(3, 2) });
    let data = plane.draw(SampleSet::Test, 4).expect("two classes");
    assert_eq!(plane.weights().expect("a linear truth"), [0.0, 0.4023128702992608, 1.3403256427520227]);
    assert_eq!(row(&data, 0), [-0.6959089617145703, 0.13830573478398434, 0.4039012980041816]);
    assert_eq!(row(&data, 3), [0.39559539225840334, -0.0022276834974132896, 0.7457097704794035]);
    assert_eq!(signs(&data), [1.0, -1.0, 1.0, 1.0]);
}

#[test]
fn round_trip_through_every_format() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = plane(HyperplaneSettings::new(6, 2)).draw(SampleSet::Training, 30).expect("two classes");
    for ending in ["csv", "tsv.gz", "svm", "arff", "parquet", "npz"] {
        let path = folder.path().join(format!("d.{ending}"));
        let path = path.to_str().expect("UTF-8");
        write(path, &data).expect("written");
        let back = read(path, &ReadOptions::default()).expect("read");
        assert_eq!(Some(back.format), Format::of_path(path));
        assert_eq!((rows(&back), back.names.to_vec()), (rows(&data), data.names.to_vec()), "{ending}");
        assert_eq!((signs(&back), &back.target), (signs(&data), &data.target), "{ending}");
    }
}

#[test]
fn settings_out_of_range_are_refused() {
    let base = HyperplaneSettings::new(5, 2);
    for (settings, words) in [
        (HyperplaneSettings { features: 0, ..base.clone() }, ["features is 0", "at least 1"]),
        (HyperplaneSettings { relevant: 0, ..base.clone() }, ["relevant is 0", "from 1 to the number of features, 5"]),
        (HyperplaneSettings { relevant: 6, ..base.clone() }, ["relevant is 6", "5"]),
        (HyperplaneSettings { noise_sd: -0.5, ..base.clone() }, ["noise_sd is -0.5", "0 or more"]),
        (HyperplaneSettings { noise_sd: f64::NAN, ..base.clone() }, ["noise_sd is NaN", "finite"]),
    ] {
        let text = Hyperplane::new(settings).expect_err("out of range").to_string();
        assert!(words.iter().all(|w| text.contains(w)), "{text}");
    }
    assert!(plane(base).draw(SampleSet::Test, 1).expect_err("too few").to_string().contains("samples is 1"));
}

#[test]
fn a_set_of_one_class_is_refused() {
    // Two samples are on one side half of the time.
    let refused: Vec<DataError> = (0..40)
        .filter_map(|seed| {
            plane(HyperplaneSettings { seed, ..HyperplaneSettings::new(5, 2) }).draw(SampleSet::Test, 2).err()
        })
        .collect();
    assert!((8..32).contains(&refused.len()), "{}", refused.len());
    for error in refused {
        let text = error.to_string();
        assert!(matches!(error, DataError::OneSide { samples: 2, .. }), "{text}");
        assert!(text.contains("test set") && text.contains("`seed"), "{text}");
    }
}

#[test]
fn composite_features_are_informative_as_promised() {
    let settings = CompositeSettings { seed: 3, ..CompositeSettings::new(6) };
    let composite = Composite::new(settings.clone()).expect("settings in range");
    let data = composite.draw(SampleSet::Test, 20_000).expect("two classes");
    let (x, y) = (rows(&data), signs(&data));
    assert_eq!(y.iter().filter(|y| **y > 0.0).count(), 10_000);
    let right = |w: &dyn Fn(&[f64]) -> f64| x.iter().zip(&y).filter(|(x, y)| w(x) * **y > 0.0).count() as f64 / 2e4;
    // Phi(a), Phi(c), Phi(a sqrt(2 / (1 - r))) for 0.4, 0.7, 0.9.
    for (rate, promised) in [
        (right(&|x| x[0]), 0.6554),
        (right(&|x| -x[1]), 0.6554),
        (right(&|x| x[2]), 0.7580),
        (right(&|x| x[0] - x[1]), 0.9632),
    ] {
        assert!((rate - promised).abs() < 0.012, "{rate} instead of {promised}");
    }
    let weights = composite.weights().expect("a linear truth");
    assert!(right(&|x| distance(weights, x)) > right(&|x| x[0] - x[1]));
    assert_eq!(composite.support(), [0, 1, 2]);
    for j in 3..9 {
        let (mean, square) = x.iter().fold((0.0, 0.0), |(m, s), x| (m + x[j] / 2e4, s + x[j] * x[j] / 2e4));
        let with_class: f64 = x.iter().zip(&y).map(|(x, y)| x[j] * y / 2e4).sum();
        assert!(mean.abs() < 0.03 && (square - 1.0).abs() < 0.05 && with_class.abs() < 0.03, "noise {j}");
        assert_eq!(x.iter().all(|x| x[j].abs() <= 3f64.sqrt()), j < 6, "feature {j}: uniform first, then normal");
    }
    // A smaller set is the beginning of a larger one.
    assert_eq!(rows(&composite.draw(SampleSet::Test, 5).expect("two classes")), x[..5]);
    let refused = Composite::new(CompositeSettings { correlation: 1.0, ..settings }).expect_err("out of range");
    assert!(refused.to_string().contains("correlation is 1"), "{refused}");
}

#[test]
fn correlation_falls_with_the_distance_and_noise_is_as_strong_as_asked() {
    let settings = CorrelatedSettings { seed: 4, ..CorrelatedSettings::new(12, 5) };
    let correlated = Correlated::new(settings.clone()).expect("settings in range");
    // floor(12 m / 5), counted from 1: 2, 4, 7, 9, 12.
    assert_eq!(correlated.support(), [1, 3, 6, 8, 11]);
    let weights = correlated.weights().expect("a linear truth").to_vec();
    assert!((0..12).all(|j| weights[j] == f64::from(u8::from(correlated.support().contains(&j)))));
    let data = correlated.draw(SampleSet::Test, 20_000).expect("two classes");
    let (x, y) = (rows(&data), signs(&data));
    for (j, l) in [(0, 0), (0, 1), (3, 6), (11, 11), (0, 11)] {
        let product = x.iter().map(|x| x[j] * x[l] / 2e4).sum::<f64>();
        // The standard error is at most sqrt(2 / 20000) = 0.01.
        assert!((product - 0.9f64.powi((l - j) as i32)).abs() < 0.04, "{j}, {l}: {product}");
    }
    // The sign of a normal number with noise of a fifth of its variance is turned in a share
    // atan(5^-1/2) / pi of the cases.
    let turned = x.iter().zip(&y).filter(|(x, y)| distance(&weights, x) * **y < 0.0).count() as f64 / 2e4;
    assert!((turned - 0.1339).abs() < 0.01, "{turned}");
    let still = Correlated::new(CorrelatedSettings { snr: f64::INFINITY, ..settings.clone() }).expect("in range");
    let still = still.draw(SampleSet::Test, 500).expect("two classes");
    assert_eq!(rows(&still), x[..500], "noise moves labels, not points");
    assert!(rows(&still).iter().zip(signs(&still)).all(|(x, y)| distance(&weights, x) * y > 0.0));
    for (settings, words) in [
        (CorrelatedSettings { relevant: 13, ..settings.clone() }, "relevant is 13"),
        (CorrelatedSettings { correlation: 1.0, ..settings.clone() }, "correlation is 1"),
        (CorrelatedSettings { correlation: -0.1, ..settings.clone() }, "correlation is -0.1"),
        (CorrelatedSettings { snr: 0.0, ..settings.clone() }, "snr is 0"),
        (CorrelatedSettings { snr: f64::NAN, ..settings }, "snr is NaN"),
    ] {
        let text = Correlated::new(settings).expect_err("out of range").to_string();
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn documents_have_length_one_and_their_words_lean_to_their_class() {
    let settings = TextSettings { length: 60, relevant: 20, seed: 5, ..TextSettings::new(3000) };
    let text = Text::new(settings.clone()).expect("settings in range");
    let data = text.draw(SampleSet::Training, 3000).expect("two classes");
    assert!(data.features.as_design().is_sparse());
    let y = signs(&data);
    let mut squares = vec![0.0; 3000];
    let mut counts = vec![0usize; 3000];
    let mut lean = vec![0.0; 3000];
    for j in 0..3000 {
        data.features.as_design().each_in_column(j, &mut |i, x| {
            squares[i] += x * x;
            counts[j] += 1;
            lean[j] += y[i];
        });
    }
    assert!(squares.iter().all(|s| (s - 1.0).abs() < 1e-12));
    // The first words are in most documents, the last in few.
    assert!(
        counts[0] > 2 * counts[100] && counts[100] > counts[2500],
        "{} {} {}",
        counts[0],
        counts[100],
        counts[2500]
    );
    let support = text.support();
    assert_eq!(support.len(), 20);
    for j in support {
        // 12 / 20 draws a document, of which 0.35 leak: about 0.48 of the class apart.
        assert!(lean[j].abs() > 0.25 * counts[j] as f64, "word {j} leans {} of {}", lean[j], counts[j]);
    }
    let again = text.draw(SampleSet::Training, 40).expect("two classes");
    assert_eq!(rows(&again), rows(&data)[..40]);
    for (settings, words) in [
        (TextSettings { words: 0, ..settings.clone() }, "words is 0"),
        (TextSettings { topical: 61, ..settings.clone() }, "topical is 61"),
        (TextSettings { leak: 1.5, ..settings.clone() }, "leak is 1.5"),
        (TextSettings { relevant: 0, ..settings }, "relevant is 0"),
    ] {
        assert!(Text::new(settings).expect_err("out of range").to_string().contains(words), "{words}");
    }
}

/// With next to no expansion every sample lies at a vertex of a cube, each vertex is of one class,
/// half of them of either.
#[test]
fn clusters_lie_on_the_cubes_and_spread_with_the_expansion() {
    let (p, d) = (12, 3);
    for seed in 1..4 {
        let settings = NdccSettings { expansion: 1e-9, seed, ..NdccSettings::new(p, d) };
        let tight = Ndcc::new(settings.clone()).expect("in range");
        let support = tight.support();
        assert!(support.len() == d && support.is_sorted() && tight.weights().is_none());
        let data = tight.draw(SampleSet::Training, 4000).expect("two classes");
        let mut class = std::collections::BTreeMap::new();
        for (x, y) in rows(&data).iter().zip(signs(&data)) {
            let at: Vec<i64> = support.iter().map(|&j| x[j].round() as i64).collect();
            let off: Vec<i64> = at.iter().copied().filter(|&v| v != 0).collect();
            assert!(off.len() == 1 && [100, 300, 500].contains(&off[0].abs()), "{at:?}");
            assert_eq!(*class.entry(at).or_insert(y), y, "a vertex of two classes");
        }
        // A share can be too small to show; most do.
        assert!((14..=18).contains(&class.len()), "{} vertices", class.len());
        assert!(class.values().filter(|&&y| y > 0.0).count() <= 9 && class.values().filter(|&&y| y < 0.0).count() <= 9);

        // The same clusters, spread: the mean over a cluster stays, its covariance is R'R with R of
        // entries E u.
        let wide = Ndcc::new(NdccSettings { expansion: 25.0, ..settings }).expect("in range");
        let (tight, wide) = (rows(&data), rows(&wide.draw(SampleSet::Training, 4000).expect("two classes")));
        let shifts = tight.iter().zip(&wide).flat_map(|(t, w)| support.iter().map(move |&j| w[j] - t[j]));
        let mean_square = shifts.map(|s| s * s).sum::<f64>() / (4000 * d) as f64;
        // E[sum_r (25 u_r)^2] = 3 (625 / 3), give or take what 18 clusters of different share leave
        // to chance.
        assert!((350.0..950.0).contains(&mean_square), "{mean_square}");
        let irrelevant = (0..p).find(|j| !support.contains(j)).expect("nine of them");
        let squares = wide.iter().map(|x| x[irrelevant] * x[irrelevant]).sum::<f64>() / 4000.0;
        assert!((squares - 1.0).abs() < 0.1, "{squares}");
    }
    for (settings, name) in [
        (NdccSettings::new(0, 1), "features"),
        (NdccSettings::new(3, 4), "relevant"),
        (NdccSettings { expansion: 0.0, ..NdccSettings::new(3, 1) }, "expansion"),
    ] {
        assert!(Ndcc::new(settings).expect_err("refused").to_string().contains(name));
    }
}

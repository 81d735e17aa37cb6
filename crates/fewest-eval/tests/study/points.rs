//! Studies whose panel is a points score.

use fewest::Error;
use fewest_eval::study::{StudyMethod, StudySettings};
use fewest_testing::Rng;

use super::{Data, short};

/// Two yes-no features that count 1, one that counts 2 and one that counts -1, four of noise; the class
/// is that of a total of at least 2, but for some.
fn counted(n: usize, seed: u64) -> Data {
    let mut rng = Rng::new(seed);
    let values: Vec<f64> = (0..8 * n).map(|_| f64::from(u8::from(rng.chance(0.5)))).collect();
    let total = |i: usize| values[i] + values[n + i] + 2.0 * values[2 * n + i] - values[3 * n + i];
    let sure = |i: usize| 1.0 / (1.0 + (-3.0 * (total(i) - 1.5)).exp());
    let codes = (0..n).map(|i| u32::from(rng.chance(sure(i)))).collect();
    Data::of(n, 8, values, codes)
}

#[test]
fn points_that_made_the_classes_are_found_again() {
    let sizes = Some(vec![4]);
    let methods = vec![StudyMethod::Exact];
    let settings = StudySettings { sizes, methods, points: true, ..short() };
    let report = counted(800, 3).study(&settings).unwrap();
    let points = report.points.as_ref().unwrap();
    let of: Vec<(usize, f64, i64)> = points
        .features
        .iter()
        .flat_map(|of| of.levels.iter().map(|level| (of.feature, level.at_least, level.points)))
        .collect();
    assert_eq!(of, [(0, 1.0, 1), (1, 1.0, 1), (2, 1.0, 2), (3, 1.0, -1)]);
    assert_eq!(points.threshold, 2);
    // Every total has a probability, which rises; half is between the totals on both sides of the cut.
    assert_eq!(points.probabilities.iter().map(|of| of.0).collect::<Vec<_>>(), (-1..=4).collect::<Vec<_>>());
    assert!(points.probabilities.windows(2).all(|pair| pair[0].1 < pair[1].1), "{:?}", points.probabilities);
    let at = |total: i64| points.probabilities.iter().find(|of| of.0 == total).unwrap().1;
    assert!(at(1) < 0.5 && at(2) > 0.5, "{} {}", at(1), at(2));
    // What is lost is what the outer folds say of both.
    let worth = report.points_worth().unwrap();
    let own = report.summary().into_iter().find(|of| of.0 == "accuracy").unwrap().1;
    let lost = worth.difference["accuracy"];
    assert!((own.mean - worth.summary["accuracy"].mean - lost.mean).abs() < 1e-12);
    assert!(lost.mean.abs() < 0.03 && lost.ci95.is_some() && worth.difference["auc"].mean.abs() < 0.03, "{worth:?}");
    assert!(report.folds.iter().all(|fold| fold.points.is_some()));
    assert!(Data::new(60, 4, 2, 1).study(&short()).unwrap().points.is_none());
}

#[test]
fn points_are_for_two_classes_and_linear_classifiers() {
    let settings = StudySettings { points: true, ..short() };
    let three = Data::of(30, 2, vec![1.0; 60], (0..30).map(|i| i % 3).collect());
    let refused = |error: Error| error.to_string();
    let text = refused(three.study(&settings).unwrap_err());
    assert!(text.contains("points are for two classes, but there are 3"), "{text}");
    let kta = StudySettings { methods: vec![StudyMethod::Kta], ..settings.clone() };
    let text = refused(Data::new(30, 3, 1, 1).study(&kta).unwrap_err());
    assert!(text.contains("they need a linear classifier, and that of kta has a kernel"), "{text}");
    let report = Data::new(30, 3, 1, 1).study(&settings).unwrap();
    assert_eq!(report.left_out, [StudyMethod::Kta]);
    // A share that is to be found moves the threshold down.
    let found = |sensitivity| {
        let settings = StudySettings { sensitivity, methods: vec![StudyMethod::Rfe], ..settings.clone() };
        Data::new(80, 3, 1, 1).study(&settings).unwrap().points.unwrap().threshold
    };
    assert!(found(Some(1.0)) < found(None) && found(Some(0.1)) > found(None));
}

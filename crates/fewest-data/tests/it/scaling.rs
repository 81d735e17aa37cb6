//! Scaling and variances against their definitions.

use fewest_data::{DataError, Features, Interval, SampleWeights, ScaleKind, Scaling, low_variance, variances};
use fewest_svm::FeatureSet;

use crate::common::{Case, rows};

const TABLE: &str = "a,b,c,y\n1,5,0,0\n2,5,-4,1\n6,5,2,1\n";
const SPARSE: &str = "1 1:1 2:5\n-1 1:2 2:5 3:-4\n1 1:6 2:5 3:2\n";

#[test]
fn standard_uses_the_population_variance() {
    let mut data = Case::new("a.csv", TABLE).read().expect("read");
    let scaling = Scaling::fit(ScaleKind::Standard, &data.features).expect("fit");
    let spread = (14.0f64 / 3.0).sqrt();
    assert_eq!(scaling.center[..2], [3.0, 5.0]);
    assert!((scaling.scale[0] - spread).abs() < 1e-15);
    assert_eq!(scaling.scale[1], 1.0);
    scaling.apply(&mut data.features).expect("apply");
    let scaled = rows(&data);
    assert!((scaled[2][0] - 3.0 / spread).abs() < 1e-15);
    assert!(scaled.iter().all(|row| row[1] == 0.0));
}

#[test]
fn maxabs_is_the_same_dense_and_sparse() {
    let mut dense = Case::new("a.csv", TABLE).read().expect("read");
    let mut sparse = Case::new("a.svm", SPARSE).read().expect("read");
    let scaling = Scaling::fit(ScaleKind::MaxAbs, &dense.features).expect("fit");
    assert_eq!(scaling, Scaling::fit(ScaleKind::MaxAbs, &sparse.features).expect("fit"));
    assert_eq!(scaling.scale, [6.0, 5.0, 4.0]);
    scaling.apply(&mut dense.features).expect("apply");
    scaling.apply(&mut sparse.features).expect("apply");
    assert_eq!(rows(&dense), rows(&sparse));
    assert_eq!(rows(&dense)[1], [2.0 / 6.0, 1.0, -1.0]);
}

#[test]
fn standard_on_sparse_data_divides_and_does_not_centre() {
    let mut dense = Case::new("a.csv", TABLE).read().expect("read");
    let mut sparse = Case::new("a.svm", SPARSE).read().expect("read");
    let scaling = Scaling::fit(ScaleKind::Standard, &sparse.features).expect("fit");
    let centred = Scaling::fit(ScaleKind::Standard, &dense.features).expect("fit");
    assert!(scaling.center.is_empty());
    for (a, b) in scaling.scale.iter().zip(&centred.scale) {
        assert!((a - b).abs() <= 1e-15 * b);
    }
    let (before, mut applied) = (rows(&sparse), dense.features.clone());
    scaling.apply(&mut sparse.features).expect("apply");
    assert!(matches!(sparse.features, Features::Sparse(_)));
    // The constant column stays as it is.
    assert!(rows(&sparse).iter().all(|row| row[1] == 5.0));
    for (row, was) in rows(&sparse).iter().zip(&before) {
        assert_eq!(row[2], was[2] / scaling.scale[2]);
    }
    // What was learnt of sparse data is the same on dense ones, and the other way round.
    scaling.apply(&mut applied).expect("apply");
    dense.features = applied;
    assert_eq!(rows(&dense), rows(&sparse));
    let mut other = Case::new("a.svm", SPARSE).read().expect("read");
    centred.apply(&mut other.features).expect("apply");
    let mut table = Case::new("a.csv", TABLE).read().expect("read");
    centred.apply(&mut table.features).expect("apply");
    assert_eq!(rows(&other), rows(&table));
}

#[test]
fn deviations_of_sparse_columns_bear_offsets_and_zeros() {
    // A full column of a large offset, a full constant one, one with a single value, and one that
    // is nearly full.
    let text =
        "1 1:1000000001 2:7 3:4 4:1e9\n-1 1:1000000002 2:7 4:1e9\n1 1:1000000003 2:7\n-1 1:1000000004 2:7 4:1e9\n";
    let data = Case::new("a.svm", text).read().expect("read");
    let scaling = Scaling::fit(ScaleKind::Standard, &data.features).expect("fit");
    let wanted = [1.25f64.sqrt(), 1.0, 3.0f64.sqrt(), 3.0f64.sqrt() / 4.0 * 1e9];
    for (found, wanted) in scaling.scale.iter().zip(wanted) {
        assert!((found - wanted).abs() <= 1e-14 * wanted, "{found} {wanted}");
    }
}

#[test]
fn another_number_of_features_is_refused() {
    let mut data = Case::new("a.csv", TABLE).read().expect("read");
    let other = Case::new("a.csv", "a,y\n1,0\n2,1\n").read().expect("read");
    let scaling = Scaling::fit(ScaleKind::Standard, &other.features).expect("fit");
    let error = scaling.apply(&mut data.features).expect_err("refused");
    crate::common::holds(&error.to_string(), &["for 1 features", "have 3"]);
}

#[test]
fn none_changes_nothing_and_all_survive_json() {
    let mut data = Case::new("a.csv", TABLE).read().expect("read");
    let before = rows(&data);
    for kind in [ScaleKind::None, ScaleKind::MaxAbs, ScaleKind::Standard] {
        let scaling = Scaling::fit(kind, &data.features).expect("fit");
        let text = serde_json::to_string(&scaling).expect("json");
        assert_eq!(serde_json::from_str::<Scaling>(&text).expect("json"), scaling, "{text}");
    }
    Scaling::fit(ScaleKind::None, &data.features).expect("fit").apply(&mut data.features).expect("apply");
    assert_eq!(rows(&data), before);
}

#[test]
fn variances_of_dense_and_sparse() {
    let dense = variances(&Case::new("a.csv", TABLE).read().expect("read").features);
    let sparse = Case::new("a.svm", SPARSE).read().expect("read").features;
    for (a, b) in dense.iter().zip(variances(&sparse)) {
        assert!((a - b).abs() < 1e-14);
    }
    assert!((dense[0] - 14.0 / 3.0).abs() < 1e-14);
    assert_eq!(dense[1], 0.0);
    assert_eq!(low_variance(&sparse, 0.0, SampleWeights::ONES), vec![1].into());
    assert_eq!(low_variance(&sparse, 5.0, SampleWeights::ONES), vec![0, 1].into());
}

/// A table of one feature and the target.
fn column(cells: &[f64]) -> Case {
    let lines = crate::common::lines(cells.len(), |i| format!("{:e},{}\n", cells[i], i % 2));
    Case::new("a.csv", format!("big,y\n{lines}"))
}

#[test]
fn numbers_near_the_largest_double() {
    for (cells, mean, deviation) in [
        (&[1e300, 3e300, 1e300, 3e300][..], 2e300, 1e300),
        (&[1.7e308, -1.7e308, 1.7e308, -1.7e308], 0.0, 1.7e308),
        (&[f64::MAX, f64::MIN, f64::MIN, f64::MAX], 0.0, f64::MAX),
        (&[-1.7e308, 1.7e308, -1.7e308, -1.7e308], -0.85e308, 1.7e308 * 0.75f64.sqrt()),
        (&[1e-300, 3e-300, 1e-300, 3e-300], 2e-300, 1e-300),
    ] {
        let mut data = column(cells).read().expect("finite values");
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-14 * b.abs().max(a.abs());
        let scaling = Scaling::fit(ScaleKind::Standard, &data.features).expect("fit");
        assert!(close(scaling.center[0], mean), "{cells:?}: {}", scaling.center[0]);
        assert!(close(scaling.scale[0], deviation), "{cells:?}: {}", scaling.scale[0]);
        assert!(low_variance(&data.features, 0.0, SampleWeights::ONES).is_empty(), "not constant: {cells:?}");
        scaling.apply(&mut data.features).expect("apply");
        for (row, cell) in rows(&data).iter().zip(cells) {
            let expected = (cell / 4.0 - mean / 4.0) / (deviation / 4.0);
            assert!(close(row[0], expected), "{cells:?}: {} for {expected}", row[0]);
        }
    }
}

#[test]
fn powers_of_two_change_no_digit() {
    let cells = [1.25, -0.5, 3.0, 7.75, 0.1, 0.3];
    let plain = column(&cells).read().expect("read");
    let fit = |data: &fewest_data::Dataset| Scaling::fit(ScaleKind::Standard, &data.features).expect("fit");
    for exponent in [-600, -30, 30, 900] {
        let unit = 2f64.powi(exponent);
        let mut scaled = column(&cells.map(|x| x * unit)).read().expect("read");
        assert_eq!(fit(&scaled).scale[0], fit(&plain).scale[0] * unit);
        assert_eq!(low_variance(&scaled.features, 0.0, SampleWeights::ONES), FeatureSet::default());
        let mut plain = plain.clone();
        fit(&plain).apply(&mut plain.features).expect("apply");
        fit(&scaled).apply(&mut scaled.features).expect("apply");
        assert_eq!(rows(&plain), rows(&scaled));
    }
}

#[test]
fn thresholds_beyond_squares_of_doubles() {
    let large = column(&[1e300, 3e300]).read().expect("read").features;
    assert!(low_variance(&large, 1e308, SampleWeights::ONES).is_empty());
    let small = column(&[1e-300, 3e-300]).read().expect("read").features;
    assert_eq!(low_variance(&small, 1e-320, SampleWeights::ONES), vec![0].into());
}

#[test]
fn what_cannot_be_represented_names_its_column() {
    let data = column(&[1.0, 1e300, 2.0, 3.0]).read().expect("finite values");
    let error = Scaling::of(ScaleKind::None, &data).expect_err("squares overflow");
    assert!(matches!(error, DataError::OutOfRange { .. }));
    crate::common::holds(&error.to_string(), &["a.csv, column `big`: 1e300", "too large", "`scale = maxabs`"]);
    let error = Scaling::fit(ScaleKind::None, &data.features).expect_err("squares overflow");
    crate::common::holds(&error.to_string(), &["feature number 1: 1e300"]);
    for kind in [ScaleKind::Standard, ScaleKind::MaxAbs] {
        Scaling::of(kind, &data).expect("brought to size");
    }
    let tiny = column(&[0.0, 5e-324, 0.0, 5e-324]).read().expect("read");
    let error = Scaling::of(ScaleKind::Standard, &tiny).expect_err("no digits left");
    crate::common::holds(&error.to_string(), &["column `big`", "standard deviation, too small", "`scale = maxabs`"]);
    let mut tiny = tiny;
    Scaling::of(ScaleKind::MaxAbs, &tiny).expect("fit").apply(&mut tiny.features).expect("apply");
    assert_eq!(rows(&tiny), [[0.0], [1.0], [0.0], [1.0]]);
}

fn range(low: f64, high: f64) -> ScaleKind {
    ScaleKind::Range(Interval::new(low, high).expect("an interval"))
}

#[test]
fn range_brings_the_least_and_the_largest_to_the_ends() {
    let mut data = Case::new("a.csv", TABLE).read().expect("read");
    let plain = data.clone();
    let scaling = Scaling::fit(range(-1.0, 1.0), &data.features).expect("fit");
    assert_eq!((&scaling.center[..], &scaling.scale[..]), (&[3.5, 5.0, -1.0][..], &[2.5, 1.0, 3.0][..]));
    scaling.apply(&mut data.features).expect("apply");
    // A constant feature becomes 0.
    assert_eq!(rows(&data), [[-1.0, 0.0, 1.0 / 3.0], [-0.6, 0.0, -1.0], [1.0, 0.0, 1.0]]);
    // Other samples may be beyond the ends.
    let mut other = Case::new("a.csv", "a,b,c,y\n11,4,-10,0\n-4,5,2,1\n").read().expect("read");
    scaling.apply(&mut other.features).expect("apply");
    assert_eq!(rows(&other), [[3.0, -1.0, -3.0], [-3.0, 0.0, 1.0]]);
    for (low, high) in [(0.0, 1.0), (-3.0, -2.0), (1e-3, 1e10)] {
        let mut data = plain.clone();
        Scaling::fit(range(low, high), &data.features).expect("fit").apply(&mut data.features).expect("apply");
        for j in [0, 2] {
            let column: Vec<f64> = rows(&data).iter().map(|row| row[j]).collect();
            for (end, of) in
                [(low, column.iter().copied().reduce(f64::min)), (high, column.iter().copied().reduce(f64::max))]
            {
                assert!((of.expect("values") - end).abs() <= 1e-15 * (high - low), "{low}..{high}");
            }
        }
    }
}

#[test]
fn range_keeps_zeros_of_sparse_data_or_says_which_it_would_not() {
    let sparse = Case::new("a.svm", "1 1:1 2:5\n-1 2:5 3:4\n1 1:6 2:5\n").read().expect("read");
    let dense = Case::new("a.csv", "a,b,c,y\n1,5,0,0\n0,5,4,1\n6,5,0,1\n").read().expect("read");
    for (low, high) in [(0.0, 1.0), (0.0, 4.0)] {
        let [found, of_dense] =
            [&sparse, &dense].map(|data| Scaling::fit(range(low, high), &data.features).expect("fit"));
        assert!(found.center.is_empty());
        assert_eq!((&found.scale, of_dense.center), (&of_dense.scale, vec![0.0, 5.0, 0.0]));
        let mut data = sparse.clone();
        found.apply(&mut data.features).expect("apply");
        // The constant column stays as it is.
        assert_eq!(rows(&data), [[high / 6.0, 5.0, 0.0], [0.0, 5.0, high], [high, 5.0, 0.0]]);
        assert!(matches!(data.features, Features::Sparse(_)));
    }
    let error = Scaling::of(range(-1.0, 1.0), &sparse).expect_err("shifted");
    crate::common::holds(
        &error.to_string(),
        &["a.svm, column `x1`: `scale = range` makes -1 of 0", "`scale = maxabs`"],
    );
    // Where both ends lie as the extremes do, 0 stays 0.
    let even = Case::new("a.svm", "1 1:-3\n-1 1:3\n1 2:-2\n-1 2:2\n").read().expect("read");
    assert_eq!(Scaling::fit(range(-1.0, 1.0), &even.features).expect("fit").scale, [3.0, 2.0]);
    Scaling::of(range(-1.0, 1.0), &even).expect("zeros stay zeros");
    // A full column has no zero to keep, and its own least value.
    let full = Case::new("a.svm", "1 1:2\n-1 1:3\n1 1:4\n").read().expect("read");
    assert!(matches!(Scaling::of(range(0.0, 1.0), &full), Err(DataError::FillsIn { zero: -1.0, .. })));
}

#[test]
fn samples_of_weight_0_are_none_in_every_scaling() {
    let rows = ["1 1:1 2:5 4:1", "-1 1:2 2:5 3:4", "1 1:6 2:5 3:2 4:3", "-1 2:5 4:7"];
    let far = ["1 1:1e6 2:-9 3:1e6 4:1e6 5:8", "-1 2:1", "1 1:0.1 2:5 3:0.2 4:0.3"];
    let svmlight = |rows: &[&str]| Case::new("a.svm", rows.join("\n") + "\n").read().expect("read");
    let dense = |rows: &[&str]| {
        let mut data = svmlight(rows);
        data.features.make_dense();
        data
    };
    let weights = [2.0, 0.0, 0.5, 0.0, 1.0, 0.0, 3.0];
    for kind in [ScaleKind::Standard, ScaleKind::MaxAbs, range(0.0, 1.0)] {
        for read in [&svmlight as &dyn Fn(&[&str]) -> fewest_data::Dataset, &dense] {
            let all = read(&[rows[0], far[0], rows[1], far[1], rows[2], far[2], rows[3]]);
            // Feature 5 is there in a sample of weight 0 alone.
            let few = read(&[&(rows[0].to_owned() + " 5:0"), rows[1], rows[2], rows[3]]);
            let kept: Vec<f64> = weights.iter().copied().filter(|weight| *weight > 0.0).collect();
            for centred in [false, true] {
                let [found, wanted] = [(&all, &weights[..]), (&few, &kept)].map(|(data, weights)| {
                    Scaling::weighted(kind, &data.features, SampleWeights::new(weights), centred).expect("fit")
                });
                assert_eq!(found.scale[..4], wanted.scale[..4], "{kind}");
                assert_eq!(found.scale[4], 1.0, "{kind}");
                assert_eq!(found.center.get(..4), wanted.center.get(..4), "{kind}");
            }
        }
    }
}

#[test]
fn kinds_are_written_and_read_as_one_text() {
    for (text, kind) in [
        ("standard", ScaleKind::Standard),
        ("maxabs", ScaleKind::MaxAbs),
        ("range", range(-1.0, 1.0)),
        ("range:0..1", range(0.0, 1.0)),
        ("range:-0.5..0.25", range(-0.5, 0.25)),
        ("none", ScaleKind::None),
    ] {
        assert_eq!((kind.to_string().as_str(), text.parse()), (text, Ok(kind)));
        assert_eq!(serde_json::to_value(kind).expect("json"), text);
        assert_eq!(serde_json::from_value::<ScaleKind>(text.into()).expect("json"), kind);
    }
    for (text, as_written) in
        [("range:-1..1", "range"), ("range:-0..1e2", "range:0..100"), ("range:.5..1.", "range:0.5..1")]
    {
        assert_eq!(text.parse::<ScaleKind>().map(|kind| kind.to_string()), Ok(as_written.to_owned()));
    }
    for wrong in
        ["", "Range", "range:", "range:1", "range:1..", "range:1..1", "range:2..1", "range:0..inf", "range:0..1e71"]
    {
        assert!(wrong.parse::<ScaleKind>().is_err_and(|why| why.contains("range:A..B")), "{wrong}");
    }
}

#[test]
fn ranges_beyond_doubles_are_refused() {
    let fit = |cells: &[f64], kind| Scaling::of(kind, &column(cells).read().expect("read"));
    for cells in [&[1.7e308, -1.7e308][..], &[0.0, 5e-324]] {
        let error = fit(cells, range(0.0, 1.0)).expect_err("no digits left");
        crate::common::holds(&error.to_string(), &["column `big`", "to divide by", "`scale = maxabs`"]);
    }
    let found = fit(&[1e300, 3e300, 2e300, 3e300], range(0.0, 1.0)).expect("fit");
    assert_eq!((found.center[0], found.scale[0]), (1e300, 2e300));
}

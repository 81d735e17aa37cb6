//! Scaling and variances against their definitions.

mod common;

use common::{Case, rows};
use fewest_data::{DataError, ScaleKind, Scaling, low_variance, variances};

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
fn standard_on_sparse_data_is_refused() {
    let data = Case::new("a.svm", SPARSE).read().expect("read");
    let error = Scaling::fit(ScaleKind::Standard, &data.features).expect_err("refused");
    assert!(matches!(error, DataError::SparseStandard));
    common::holds(&error.to_string(), &["--scale maxabs"]);
}

#[test]
fn another_number_of_features_is_refused() {
    let mut data = Case::new("a.csv", TABLE).read().expect("read");
    let other = Case::new("a.csv", "a,y\n1,0\n2,1\n").read().expect("read");
    let scaling = Scaling::fit(ScaleKind::Standard, &other.features).expect("fit");
    let error = scaling.apply(&mut data.features).expect_err("refused");
    common::holds(&error.to_string(), &["for 1 features", "have 3"]);
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
    assert_eq!(low_variance(&sparse, 0.0), [1]);
    assert_eq!(low_variance(&sparse, 5.0), [0, 1]);
}

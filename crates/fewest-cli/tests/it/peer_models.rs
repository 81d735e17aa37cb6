//! Model files for LIBLINEAR and LIBSVM, read and used by those programs' own code (PyPI
//! liblinear-official and libsvm-official), must give the decision values and predictions of
//! `fewest predict`.
//!
//! `FEWEST_PEERS_PYTHON` names a Python that has both packages and scipy; without it these tests
//! say so and pass.

use std::process::Command;

use crate::common::{Scratch, generated};

/// Reads an svmlight file and a model, prints `label decision decision ...` for each row.
const SCRIPT: &str = r"
import sys
kind, model_file, data_file = sys.argv[1:]
if kind == 'liblinear':
    from liblinear.liblinearutil import load_model, predict, svm_read_problem
else:
    from libsvm.svmutil import svm_load_model as load_model, svm_predict as predict, svm_read_problem
y, x = svm_read_problem(data_file)
labels, _, values = predict(y, x, load_model(model_file), '-q')
for label, value in zip(labels, values):
    print(int(label), *['%.17g' % v for v in value])
";

/// The Python to use, or None with the reason printed.
fn python() -> Option<String> {
    let reason = "FEWEST_PEERS_PYTHON names no Python with liblinear-official and libsvm-official";
    let found = std::env::var("FEWEST_PEERS_PYTHON").ok().filter(|python| {
        let imports =
            Command::new(python).args(["-c", "import scipy, liblinear.liblinearutil, libsvm.svmutil"]).output();
        imports.is_ok_and(|out| out.status.success())
    });
    if found.is_none() {
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "skipped: {reason}");
    }
    found
}

/// Predictions and decision values of the peer.
fn peer(python: &str, scratch: &Scratch, kind: &str, model: &str, data: &str) -> Vec<(String, Vec<f64>)> {
    scratch.file("peer.py", SCRIPT);
    let mut command = Command::new(python);
    command.arg(scratch.path("peer.py")).arg(kind).arg(scratch.path(model)).arg(scratch.path(data));
    let out = command.output().expect("python runs");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).unwrap();
    let line = |l: &str| {
        let mut cells = l.split_whitespace();
        let label = cells.next().unwrap().to_owned();
        (label, cells.map(|c| c.parse().unwrap()).collect())
    };
    // LIBSVM may talk before the first row.
    text.lines().filter(|l| l.split_whitespace().all(|c| c.parse::<f64>().is_ok()) && !l.is_empty()).map(line).collect()
}

/// Predictions and decision values of `fewest predict`.
fn ours(scratch: &Scratch, model: &str, data: &str, machines: usize) -> Vec<(String, Vec<f64>)> {
    let text = scratch.run(&["predict", model, data, "-q"]).code(0).out;
    let row = |l: &str| {
        let cells: Vec<&str> = l.split(',').collect();
        (cells[0].to_owned(), cells[1..=machines].iter().map(|c| c.parse().unwrap()).collect())
    };
    text.lines().skip(1).map(row).collect()
}

/// Trains once, writes our model and the peer's, and compares what they say about the raw data.
fn compare(test: &str, kind: &str, classes: &[&str], fit: &[&str]) {
    let Some(python) = python() else { return };
    let scratch = Scratch::new(test);
    scratch.file("d.csv", generated(120, 9, classes, 31));
    let rbf = fit.contains(&"rbf");
    let columns: &[&str] = if rbf { &["--features", "f2,f3,f7,f9"] } else { &[] };
    scratch.run(&[&["convert", "d.csv", "d.svm", "-q"], columns].concat()).code(0);
    let machines = classes.len() * (classes.len() - 1) / 2;
    // Names of svmlight columns; the first three carry the class.
    let features = if rbf { "x1,x2,x3,x4" } else { "x2,x3,x7,x9" };
    let base = ["fit", "d.svm", "--features", features, "-q", "--tolerance", "1e-8"];
    scratch.run(&[&base[..], fit, &["--model", "ours.json"]].concat()).code(0);
    scratch.run(&[&base[..], fit, &["--model", "peer.model", "--model-format", kind]].concat()).code(0);
    let (ours, peer) =
        (ours(&scratch, "ours.json", "d.svm", machines), peer(&python, &scratch, kind, "peer.model", "d.svm"));
    assert_eq!((ours.len(), peer.len()), (120, 120));
    let sign = if machines == 1 { 1.0 } else { -1.0 };
    for (a, b) in ours.iter().zip(&peer) {
        assert_eq!(a.1.len(), b.1.len());
        for (x, y) in a.1.iter().zip(&b.1) {
            assert!((x - sign * y).abs() <= 1e-9 * (1.0 + x.abs()), "{x} {y}");
        }
        assert_eq!(a.0, b.0);
    }
    let kinds: std::collections::HashSet<_> = ours.iter().map(|a| &a.0).collect();
    assert_eq!(kinds.len(), classes.len(), "every class is predicted, so that the comparison means something");
}

const TWO: &[&str] = &["-1", "1"];
const THREE: &[&str] = &["1", "2", "5"];

#[test]
fn liblinear_hinge_and_squared_hinge() {
    compare("liblinear_hinge", "liblinear", TWO, &["--scale", "maxabs"]);
    compare("liblinear_range", "liblinear", TWO, &["--scale", "range:0..1", "--bias", "none"]);
    compare("liblinear_squared", "liblinear", TWO, &["--scale", "none", "--loss", "squared-hinge", "--bias", "1"]);
}

#[test]
fn libsvm_linear() {
    compare("libsvm_linear", "libsvm", TWO, &["--scale", "maxabs"]);
    compare("libsvm_range", "libsvm", TWO, &["--scale", "range"]);
    compare("libsvm_linear_three", "libsvm", THREE, &["--scale", "maxabs", "--cost", "10"]);
}

#[test]
fn libsvm_kernels() {
    compare("libsvm_rbf", "libsvm", TWO, &["--scale", "none", "--kernel", "rbf", "--gamma", "0.002"]);
    compare("libsvm_rbf_three", "libsvm", THREE, &["--scale", "none", "--kernel", "rbf", "--gamma", "0.002"]);
    let poly = ["--scale", "none", "--kernel", "poly", "--gamma", "0.01", "--degree", "2", "--coef0", "1"];
    compare("libsvm_poly_three", "libsvm", THREE, &poly);
}

#[test]
fn standard_scaling_is_folded_into_the_weights() {
    let Some(python) = python() else { return };
    for kind in ["liblinear", "libsvm"] {
        let scratch = Scratch::new(&format!("standard_{kind}"));
        scratch.file("d.csv", generated(80, 6, TWO, 5));
        scratch.run(&["convert", "d.csv", "d.svm", "-q"]).code(0);
        let base = ["select", "d.csv", "-m", "rfe", "--max-features", "3", "-q"];
        scratch.run(&[&base[..], &["--json", "r.json"]].concat()).code(0);
        scratch.run(&[&base[..], &["--model", "peer.model", "--model-format", kind]].concat()).code(0);
        let (ours, peer) = (ours(&scratch, "r.json", "d.csv", 1), peer(&python, &scratch, kind, "peer.model", "d.svm"));
        assert_eq!(ours.len(), peer.len());
        for (a, b) in ours.iter().zip(&peer) {
            assert!(a.0 == b.0 && (a.1[0] - b.1[0]).abs() <= 1e-9 * (1.0 + a.1[0].abs()), "{kind}: {a:?} {b:?}");
        }
    }
}

/// Without a bias its decision values are exactly 0.
#[test]
fn a_sample_without_any_feature_gets_the_class_that_peers_give_it() {
    let two = "-1 1:1\n-1 1:2 2:1\n1 1:-1\n1 2:2\n1 3:1\n-1 3:2\n";
    let three = "1 1:1\n1 1:2 2:1\n2 1:-1\n2 2:2\n5 2:-1\n5 1:2 2:-3\n1 3:1\n2 3:2\n";
    for (kind, data, first, machines) in
        [("liblinear", two, "-1", 1), ("libsvm", two, "-1", 1), ("libsvm", three, "5", 3)]
    {
        let scratch = Scratch::new(&format!("zero_{kind}_{machines}"));
        scratch.file("d.svm", data);
        let base = ["fit", "d.svm", "--features", "x1,x2", "--bias", "none", "--scale", "none", "-q"];
        scratch.run(&[&base[..], &["--model", "ours.json"]].concat()).code(0);
        scratch.run(&[&base[..], &["--model", "peer.model", "--model-format", kind]].concat()).code(0);
        let ours = ours(&scratch, "ours.json", "d.svm", machines);
        let empty = ours.last().unwrap();
        assert!(empty.0 == first && empty.1.iter().all(|&v| v == 0.0), "{kind}: {empty:?}");
        let Some(python) = python() else { continue };
        let peer = peer(&python, &scratch, kind, "peer.model", "d.svm");
        assert_eq!(
            ours.iter().map(|a| &a.0).collect::<Vec<_>>(),
            peer.iter().map(|b| &b.0).collect::<Vec<_>>(),
            "{kind}"
        );
    }
}

#[test]
fn class_names_become_numbers_and_what_does_not_fit_is_refused() {
    let scratch = Scratch::new("peer_refused");
    scratch.file("d.csv", generated(40, 5, &["no", "yes"], 5)).file("t.csv", generated(60, 5, &["a", "b", "c"], 5));
    let before = scratch.files();
    let fit = |data: &str, extra: &[&str]| {
        scratch.run(&[&["fit", data, "--features", "f1,f2", "--model", "m.txt"], extra].concat())
    };
    let ran = fit("t.csv", &["--model-format", "liblinear"]).code(2);
    assert!(ran.err.contains("--model-format libsvm"), "{}", ran.err);
    let ran = fit("d.csv", &["--model-format", "liblinear", "--kernel", "rbf"]).code(2);
    assert!(ran.err.contains("no kernels"), "{}", ran.err);
    let ran = fit("d.csv", &["--model-format", "libsvm", "--kernel", "rbf"]).code(2);
    assert!(ran.err.contains("--scale none") && ran.err.contains("fewest convert --scale"), "{}", ran.err);
    let ran = fit("d.csv", &["--model-format", "libsvm", "--kernel", "rbf", "--scale", "none"]).code(2);
    assert!(ran.err.contains("all columns") && ran.err.contains("fewest convert --features"), "{}", ran.err);
    assert_eq!(scratch.files(), before);
    let ran = fit("d.csv", &["--model-format", "liblinear"]).code(0);
    assert!(ran.err.contains("-1 for no, 1 for yes"), "{}", ran.err);
    let model = scratch.read("m.txt");
    assert!(
        model.starts_with("solver_type L2R_L1LOSS_SVC_DUAL\nnr_class 2\nlabel 1 -1\nnr_feature 5\nbias 1\nw\n"),
        "{model}"
    );
    let ran = fit("t.csv", &["--model-format", "libsvm"]).code(0);
    assert!(ran.err.contains("1 for a, 2 for b, 3 for c"), "{}", ran.err);
}

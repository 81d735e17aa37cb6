//! LIBSVM's text model. Linear machines are written as one pseudo support vector each (their
//! weights, with the scaling folded in), valid for data as in the file; other kernels need data
//! that were not scaled.
//!
//! LIBSVM's machine for classes (i, j), i before j in `label`, sums `coef[j-1]` over the support
//! vectors of class i and `coef[i]` over those of class j, subtracts rho, and votes for i when the
//! result is positive. With two classes our positive class comes first, so that decision values
//! agree; with more the order is ours and every machine is negated.

use std::fmt::Write;

use fewest::Kernel;
use fewest::model::Machine;
use fewest_result::{TrainedModel, row_values};

use super::liblinear::labels;

/// A support vector: its coefficient in each of the k - 1 rows, and its values as (column from 1,
/// value).
struct Vector {
    coefficients: Vec<f64>,
    values: Vec<(usize, f64)>,
}

/// Why a model of the rbf kernel has to be of all columns, and what to do.
pub(crate) const ALL_COLUMNS: &str = "libsvm measures the distances of the rbf kernel over all columns of the data, but the model uses some of them; make a file of these columns alone with `fewest convert --features NAMES`, and train on that";

/// The model file.
///
/// # Errors
/// A model that LIBSVM cannot hold, with the remedy.
pub(crate) fn text(trained: &TrainedModel) -> Result<String, String> {
    let model = &trained.model;
    if matches!(model.kernel, Kernel::Laplace { .. } | Kernel::Precomputed) || !model.categorical.is_empty() {
        return Err("LIBSVM has no laplace kernel and no categories; use --model-format json".to_owned());
    }
    if matches!(model.kernel, Kernel::Rbf { .. }) && model.features.len() < trained.n_columns {
        return Err(ALL_COLUMNS.to_owned());
    }
    let k = trained.classes.len();
    // Position of each of our classes in the file, and the sign of our machines there.
    let place = |class: u32| if k == 2 { 1 - class as usize } else { class as usize };
    let sign = if k == 2 { 1.0 } else { -1.0 };
    let scaled = trained.scaling.centre.iter().any(|&c| c != 0.0) || trained.scaling.scale.iter().any(|&s| s != 1.0);
    if model.kernel != Kernel::Linear && scaled {
        return Err(format!(
            "with --scale {} the support vectors are scaled, but LIBSVM's predict reads data as in the file; use --scale none, or scale the file first with `fewest convert --scale`",
            trained.scaling.kind
        ));
    }
    let vectors = if model.kernel == Kernel::Linear {
        linear_vectors(trained, &place, sign)
    } else {
        kernel_vectors(trained, &place, sign)
    };
    let (our_labels, _) = labels(&trained.classes);
    let mut in_order = vec![0; k];
    for (class, label) in our_labels.into_iter().enumerate() {
        in_order[place(class as u32)] = label;
    }
    let list = |items: &mut dyn Iterator<Item = String>| items.collect::<Vec<_>>().join(" ");
    let mut out = format!("svm_type c_svc\n{}", kernel_lines(model.kernel));
    let _ = writeln!(out, "nr_class {k}\ntotal_sv {}", vectors.iter().map(Vec::len).sum::<usize>());
    let rho = |m: &Machine| {
        let bias = if model.kernel == Kernel::Linear { trained.raw(m).1 } else { m.bias };
        format!("{:e}", -sign * bias)
    };
    let _ = writeln!(out, "rho {}", list(&mut model.machines.iter().map(rho)));
    let _ = writeln!(out, "label {}", list(&mut in_order.iter().map(ToString::to_string)));
    let _ = writeln!(out, "nr_sv {}\nSV", list(&mut vectors.iter().map(|v| v.len().to_string())));
    for vector in vectors.iter().flatten() {
        for c in &vector.coefficients {
            let _ = write!(out, "{c:e} ");
        }
        for (column, value) in &vector.values {
            let _ = write!(out, "{column}:{value:e} ");
        }
        out.push('\n');
    }
    Ok(out)
}

fn kernel_lines(kernel: Kernel) -> String {
    match kernel {
        Kernel::Linear => "kernel_type linear\n".to_owned(),
        Kernel::Laplace { .. } | Kernel::Precomputed => unreachable!("refused before"),
        Kernel::Rbf { gamma } => format!("kernel_type rbf\ngamma {gamma:e}\n"),
        Kernel::Poly { gamma, coef0, degree } => {
            format!("kernel_type polynomial\ndegree {degree}\ngamma {gamma:e}\ncoef0 {coef0:e}\n")
        }
        Kernel::Sigmoid { gamma, coef0 } => format!("kernel_type sigmoid\ngamma {gamma:e}\ncoef0 {coef0:e}\n"),
    }
}

/// Row of the coefficients that the machine of places (a, b) reads from the vectors of place `of`.
fn row(of: usize, a: usize, b: usize) -> usize {
    let (first, second) = (a.min(b), a.max(b));
    if of == first { second - 1 } else { first }
}

/// Ascending columns from 1, zeros left out.
fn sparse(trained: &TrainedModel, values: &[f64]) -> Vec<(usize, f64)> {
    let mut out: Vec<(usize, f64)> = trained.model.features.iter().map(|j| j + 1).zip(values.iter().copied()).collect();
    out.retain(|(_, x)| *x != 0.0);
    out.sort_by_key(|(column, _)| *column);
    out
}

fn linear_vectors(trained: &TrainedModel, place: &dyn Fn(u32) -> usize, sign: f64) -> Vec<Vec<Vector>> {
    let k = trained.classes.len();
    let mut vectors: Vec<Vec<Vector>> = (0..k).map(|_| Vec::new()).collect();
    for machine in &trained.model.machines {
        let (a, b) = (place(machine.negative), place(machine.positive));
        let first = a.min(b);
        let mut coefficients = vec![0.0; k - 1];
        coefficients[row(first, a, b)] = sign;
        vectors[first].push(Vector { coefficients, values: sparse(trained, &trained.raw(machine).0) });
    }
    vectors
}

fn kernel_vectors(trained: &TrainedModel, place: &dyn Fn(u32) -> usize, sign: f64) -> Vec<Vec<Vector>> {
    let (k, rows) = (trained.classes.len(), &trained.model.support_vectors);
    let mut class_of = vec![None; rows.n_samples()];
    let mut coefficients = vec![vec![0.0; k - 1]; rows.n_samples()];
    for machine in &trained.model.machines {
        let (a, b) = (place(machine.negative), place(machine.positive));
        for &(at, beta) in machine.coefficients.iter().filter(|c| c.1 != 0.0) {
            // beta = y alpha: its sign tells the class of the sample.
            let own = if beta > 0.0 { b } else { a };
            class_of[at] = Some(own);
            coefficients[at][row(own, a, b)] = sign * beta;
        }
    }
    let mut vectors: Vec<Vec<Vector>> = (0..k).map(|_| Vec::new()).collect();
    for (at, coefficients) in coefficients.into_iter().enumerate() {
        if let Some(class) = class_of[at] {
            vectors[class].push(Vector { coefficients, values: sparse(trained, &row_values(rows, at)) });
        }
    }
    vectors
}

//! LIBLINEAR's text model: two classes, linear, for data as in the file (the scaling is folded in).
//!
//! The decision value is `sum_j w_j x_j + w_bias * bias`; a positive one means the first label, so
//! our positive class comes first. Columns count from 1 as in the svmlight file.

use std::fmt::Write;

use fewest::{Kernel, Loss};

use fewest_result::TrainedModel;

/// Class labels as integers, as these formats want them, and what was changed: (class name, label).
pub(crate) fn labels(classes: &[String]) -> (Vec<i32>, Vec<(String, i32)>) {
    let integers: Option<Vec<i32>> = classes.iter().map(|c| c.parse::<i32>().ok()).collect();
    if let Some(labels) = integers {
        return (labels, vec![]);
    }
    let labels: Vec<i32> = if classes.len() == 2 { vec![-1, 1] } else { (1..=classes.len() as i32).collect() };
    let changed = classes.iter().cloned().zip(labels.iter().copied()).collect();
    (labels, changed)
}

/// The model file.
///
/// # Errors
/// A model that LIBLINEAR cannot hold, with the remedy.
pub(crate) fn text(trained: &TrainedModel) -> Result<String, String> {
    if trained.model.kernel != Kernel::Linear {
        return Err("LIBLINEAR has no kernels; use --model-format libsvm (with --scale none), or json".to_owned());
    }
    let [machine] = trained.model.machines.as_slice() else {
        return Err(format!(
            "LIBLINEAR trains one class against the rest, but here each of {} classes is trained against each other; use --model-format libsvm",
            trained.classes.len()
        ));
    };
    let solver = match trained.svm.loss {
        Loss::Hinge => "L2R_L1LOSS_SVC_DUAL",
        Loss::SquaredHinge => "L2R_L2LOSS_SVC_DUAL",
    };
    let (labels, _) = labels(&trained.classes);
    let (negative, positive) = (labels[machine.negative as usize], labels[machine.positive as usize]);
    let (weights, bias) = trained.raw(machine);
    let mut dense = vec![0.0; trained.n_columns];
    for (&j, w) in trained.model.features.iter().zip(weights) {
        dense[j] = w;
    }
    let mut out = format!(
        "solver_type {solver}\nnr_class 2\nlabel {positive} {negative}\nnr_feature {}\nbias 1\nw\n",
        trained.n_columns
    );
    for w in dense.into_iter().chain([bias]) {
        let _ = writeln!(out, "{w:e} ");
    }
    Ok(out)
}

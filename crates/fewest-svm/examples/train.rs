//! Trains a linear and an RBF machine on the same samples, and says how far each is from its optimum.
//!
//!     cargo run --release -p fewest-svm --example train

#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use fewest_svm::{Clock, DenseDesign, Error, FitSettings, Kernel, SvmSettings, fit};

fn main() -> Result<(), Error> {
    // A ring around a disc: 200 samples of two features, which no line separates.
    let n = 200;
    let classes: Vec<u32> = (0..n).map(|i| (i % 2) as u32).collect();
    let angle = |i: usize| 2.399_963 * i as f64;
    let radius = |i: usize| if classes[i] == 0 { 0.5 } else { 2.0 } + 0.4 * (1.7 * i as f64).sin();
    let values: Vec<f64> =
        (0..2 * n).map(|at| radius(at % n) * if at < n { angle(at).cos() } else { angle(at - n).sin() }).collect();
    let design = DenseDesign::new(n, 2, values)?;
    for kernel in [Kernel::Linear, Kernel::Rbf { gamma: 1.0 }] {
        let settings =
            FitSettings { svm: SvmSettings { cost: 10.0, ..SvmSettings::default() }, kernel, ..FitSettings::default() };
        let model = fit(&design, &[0, 1], &classes, &vec![1.0; n], &settings, &Clock::unlimited())?;
        let right = model.predict(&design).iter().zip(&classes).filter(|(found, class)| found == class).count();
        let solution = &model.machines[0].solution;
        println!("{kernel:?}: {right} of {n} right, objective {:.4}, gap {:.1e}", solution.primal, solution.gap());
    }
    Ok(())
}

//! Proves the best subset of a small problem, and prints its status, features, objective, bound and gap.
//!
//!     cargo run --release -p fewest --example exact

#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use fewest::method::exact::{ExactSettings, exact};
use fewest::{DenseDesign, Error, Limits, Problem, RuleList, Rules, Silent, SvmSettings};

fn main() -> Result<(), Error> {
    // 60 samples of 12 features, column after column: the classes differ in features 2 and 7.
    let (n, p) = (60, 12);
    let labels: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { -1.0 } else { 1.0 }).collect();
    let value = |i: usize, j: usize| {
        let shift = if j == 2 || j == 7 { labels[i] } else { 0.0 };
        shift + (1.7 * (i * p + j) as f64).sin()
    };
    let columns: Vec<f64> = (0..n * p).map(|at| value(at % n, at / n)).collect();
    let design = DenseDesign::new(n, p, columns)?;
    let problem = Problem::new(&design, &labels, None)?;

    // At most three features, and feature 5 only together with feature 2.
    let list = RuleList { max_features: Some(3), implies: vec![(5, 2)], ..RuleList::default() };
    let rules = Rules::new(p, list, &[])?;
    let settings =
        ExactSettings { svm: SvmSettings { cost: 0.1, ..SvmSettings::default() }, ..ExactSettings::default() };
    let found = exact(&problem, &rules, &settings, Limits::default(), &mut Silent)?.outcome;

    println!("{}: features {:?}", found.status.name(), found.features());
    if let (Some(objective), Some(bound), Some(gap)) = (found.objective, found.bound, found.gap()) {
        println!("objective {objective:.6}; no allowed subset is below {bound:.6}: a gap of {:.4} %", 100.0 * gap);
    }
    Ok(())
}

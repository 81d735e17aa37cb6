//! `milp2`: largest margin of the LP-SVM, as a mixed-integer program; see [`super::milp`].

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::milp::{Formulation, MilpSettings, milp, write_model};
use fewest::method::{Classes, Info, Method, RULES_AND_BOUNDS, Report};
use fewest::{Error, Kernel, Limits, Lp, Observer, Rules, Samples};

fewest::settings! {
    /// Settings of `milp2`.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct Milp2Settings {
        /// Slack cost C, at least 1 over twice the weight of the smaller class.
        pub cost: f64 = 1.0 => "at least 1 over twice the weight of the smaller class",
        /// Start from a rounding of the linear relaxation.
        pub start: bool = true,
        /// How HiGHS solves linear programs.
        pub lp: Lp = Lp::Simplex,
        /// Bytes that HiGHS may take, by estimate.
        pub memory: u64 = 1 << 33,
    }
}

impl Milp2Settings {
    fn program(&self) -> MilpSettings {
        let &Self { start, lp, memory, .. } = self;
        MilpSettings { formulation: Formulation::Milp2 { cost: self.cost }, start, lp, memory }
    }
}

impl Method for Milp2Settings {
    const WEIGHT_BOUNDS: bool = true;

    const INFO: Info = Info {
        name: "milp2",
        title: "largest margin of the LP-SVM, as a mixed-integer program",
        solves: "Has HiGHS find the allowed subset and the linear classifier on it with the largest margin less slack, each weight being at most 1 (MILO-L). An SVM is then trained on the subset.",
        formula: "max r - C sum_i xi_i, y_i (w.x_i + b) >= r - xi_i, -v_j <= w_j <= v_j, r >= 0, v_j in {0, 1}, rules on v",
        proves: "the best subset, within `gap` and the tolerances of HiGHS",
        bounds: true,
        searches: true,
        kernels: "linear",
        classes: Classes::Two,
        rules: RULES_AND_BOUNDS,
        cost: "exponential in the worst case; seconds for some dozens of features",
        paper: "S. Maldonado, J. Perez, R. Weber, M. Labbe: Feature selection for support vector machines via mixed integer linear programming. Information Sciences 279 (2014), 163-175.",
    };

    fn absorbs_constants(&self) -> bool {
        true
    }

    fn check(&self, _p: usize) -> Result<(), Error> {
        self.program().check()
    }

    fn select(
        &self,
        samples: &Samples<'_>,
        rules: &Rules,
        limits: Limits,
        observer: &mut dyn Observer,
    ) -> Result<Report, Error> {
        let selection = milp(&samples.problem()?, rules, &self.program(), limits, observer)?;
        Ok(Report::new(selection, Kernel::Linear))
    }

    fn write_program(&self, samples: &Samples<'_>, rules: &Rules, path: &Path) -> Result<(), Error> {
        write_model(&samples.problem()?, rules, &self.program(), path)
    }
}

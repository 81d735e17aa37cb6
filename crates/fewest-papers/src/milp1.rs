//! `milp1`: least slack with bounded weights, as a mixed-integer program; see [`super::milp`].

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::milp::{Formulation, MilpSettings, milp, write_model};
use fewest::method::{Classes, Info, Method, PROOF_CONDITION, RULES_AND_BOUNDS, Report};
use fewest::{Error, Kernel, Limits, Lp, Observer, Rules, Samples};

fewest::settings! {
    /// Settings of `milp1`.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct Milp1Settings {
        /// U, the largest |w_j|, above 0.
        pub weight_bound: f64 = 1.0 => "a finite number above 0",
        /// Start from a rounding of the linear relaxation.
        pub start: bool = true,
        /// How HiGHS solves linear programs.
        pub lp: Lp = Lp::Simplex,
        /// Bytes that HiGHS may take, by estimate.
        pub memory: u64 = 1 << 33,
    }
}

impl Milp1Settings {
    fn program(&self) -> MilpSettings {
        let &Self { start, lp, memory, .. } = self;
        MilpSettings { formulation: Formulation::Milp1 { weight_bound: self.weight_bound }, start, lp, memory }
    }
}

impl Method for Milp1Settings {
    const WEIGHT_BOUNDS: bool = true;

    const INFO: Info = Info {
        name: "milp1",
        title: "least slack with bounded weights, as a mixed-integer program",
        solves: "Has HiGHS find the allowed subset and the linear classifier on it with the least slack at margin 1, each weight being at most U. An SVM is then trained on the subset.",
        formula: "min sum_i xi_i, y_i (w.x_i + b) >= 1 - xi_i, -U v_j <= w_j <= U v_j, v_j in {0, 1}, rules on v",
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
        let condition = format!("no weight is larger than the weight bound {}", self.weight_bound);
        Ok(Report::new(selection, Kernel::Linear).detail(PROOF_CONDITION, condition))
    }

    fn write_program(&self, samples: &Samples<'_>, rules: &Rules, path: &Path) -> Result<(), Error> {
        write_model(&samples.problem()?, rules, &self.program(), path)
    }
}

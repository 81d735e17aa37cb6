//! `rmilo-k`: kernel-target alignment as a mixed-integer program; see [`super::milo_k`].

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::milo_k::{BigM, Formulation, MiloSettings, milo_report, write_milo};
use fewest::kernel::{DistanceKernel, Gamma};
use fewest::method::kta::check_categorical;
use fewest::method::{ALL_RULES, Classes, Info, Method, Report};
use fewest::{Error, Limits, Lp, Observer, Rules, Samples};

fewest::settings! {
    /// Settings of `rmilo-k`.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct RmiloKSettings {
        /// Kernel of the features that hold numbers.
        pub kernel: DistanceKernel = DistanceKernel::default(),
        /// Features that hold categories, from 0: their distance is 1 where two values differ, else 0.
        pub categorical: Vec<usize> = Vec::new(),
        /// gamma of the kernel, for features of every kind.
        pub gamma: Gamma = Gamma::Sigest(1.0),
        /// The big-M.
        pub big_m: BigM = BigM::Padded,
        /// Start from the subset of kta's local search.
        pub start: bool = true,
        /// How HiGHS solves linear programs; the paper has an interior-point method.
        pub lp: Lp = Lp::Simplex,
        /// Bytes that HiGHS may take, by estimate.
        pub memory: u64 = 1 << 33,
    }
}

impl RmiloKSettings {
    /// The program, now that there are data.
    fn program(&self, gamma: f64) -> MiloSettings {
        let &Self { kernel, start, lp, memory, .. } = self;
        let (formulation, categorical) = (Formulation::Reduced(self.big_m), self.categorical.clone());
        MiloSettings { formulation, kernel, categorical, gamma, start, lp, memory }
    }
}

impl Method for RmiloKSettings {
    const INFO: Info = Info {
        name: "rmilo-k",
        title: "alignment as a reduced mixed-integer program, as published",
        solves: "As milo-k, with each pair of samples once, only the rows that can bind, and a smaller big-M.",
        formula: "as milo-k, over the pairs i < h; big-M 1 - exp(-gamma d_j(x_ij, x_hj)), with `big_m` padded 0.1 more",
        proves: "the best subset, within `gap` and the tolerances of HiGHS",
        bounds: true,
        searches: true,
        kernels: "rbf, laplace",
        classes: Classes::Any,
        rules: ALL_RULES,
        cost: "n^2 p / 2 columns; minutes to hours for 50 samples and 35 features",
        paper: "R. Tamura, Y. Takano, R. Miyashiro: Feature subset selection for kernel SVM classification via mixed-integer optimization, 2022.",
    };

    fn absorbs_constants(&self) -> bool {
        true
    }

    fn check(&self, p: usize) -> Result<(), Error> {
        check_categorical(&self.categorical, p)?;
        self.gamma.check()
    }

    fn select(
        &self,
        samples: &Samples<'_>,
        rules: &Rules,
        limits: Limits,
        observer: &mut dyn Observer,
    ) -> Result<Report, Error> {
        milo_report(samples, rules, self.gamma, |gamma| self.program(gamma), limits, observer)
    }

    fn write_program(&self, samples: &Samples<'_>, rules: &Rules, path: &Path) -> Result<(), Error> {
        write_milo(samples, rules, self.gamma, |gamma| self.program(gamma), path)
    }
}

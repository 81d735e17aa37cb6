//! `bit-flip` and `attribute-flip`: the neighbours of a subset, judged by cross-validation; see
//! [`super::flip`].

use serde::{Deserialize, Serialize};

use super::flip::{Flip, FlipSearch, FlipStart};
use fewest::method::{ALL_RULES, Classes, Info, Method, Report};
use fewest::{Error, Field, Limits, Observer, Rules, Samples, Settings};

/// Settings of `bit-flip`, or of `attribute-flip` where it swaps.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FlipMethod<const SWAPS: bool>(pub FlipSearch);

/// Settings of `bit-flip`: a unit more or less.
pub type BitFlipSettings = FlipMethod<false>;

/// Settings of `attribute-flip`: a unit swapped for another.
pub type AttributeFlipSettings = FlipMethod<true>;

impl<const SWAPS: bool> Settings for FlipMethod<SWAPS> {
    const FIELDS: &'static [Field] = FlipSearch::FIELDS;

    fn in_range(&self) -> Result<(), Error> {
        self.0.in_range()
    }
}

impl<const SWAPS: bool> Method for FlipMethod<SWAPS> {
    const INFO: Info = Info {
        name: if SWAPS { "attribute-flip" } else { "bit-flip" },
        title: if SWAPS {
            "cross-validates all subsets with one feature swapped"
        } else {
            "cross-validates all subsets with one feature more or less"
        },
        solves: if SWAPS {
            "Cross-validates every allowed subset that has one feature of the start swapped for another and moves to the best one, if it is better. Says how many trainings that takes before it begins."
        } else {
            "Cross-validates every allowed subset that differs from the start in one feature and moves to the best one, if it is better or as good and smaller. Says how many trainings that takes before it begins."
        },
        formula: "argmax of the mean accuracy over the folds, over the neighbours and all costs",
        proves: "nothing: a local search; its objective is the accuracy it chose by, which is optimistic (see fewest evaluate)",
        bounds: false,
        searches: false,
        kernels: "linear, rbf, laplace, poly, sigmoid",
        classes: Classes::Any,
        rules: ALL_RULES,
        cost: if SWAPS {
            "k (p - k) x folds x costs x pairs of classes warm-started trainings per pass, for k features of p"
        } else {
            "p x folds x costs x pairs of classes warm-started trainings per pass"
        },
        paper: "M. L. Samb, F. Camara, S. Ndiaye, Y. Slimani, M. A. Esseghir: A novel RFE-SVM-based feature selection approach for classification. International Journal of Advanced Science and Technology 43 (2012), 27-36; Krupka 2016.",
    };

    fn absorbs_constants(&self) -> bool {
        self.0.svm.bias.absorbs_constants(self.0.kernel.kernel())
    }

    fn check(&self, p: usize) -> Result<(), Error> {
        self.0.check(p)
    }

    fn select(
        &self,
        samples: &Samples<'_>,
        rules: &Rules,
        limits: Limits,
        observer: &mut dyn Observer,
    ) -> Result<Report, Error> {
        self.0.run(if SWAPS { Flip::Attribute } else { Flip::Bit }, samples, rules, limits, observer)
    }

    fn finds_size(&self) -> bool {
        matches!(self.0.start, FlipStart::Features(_))
    }
}

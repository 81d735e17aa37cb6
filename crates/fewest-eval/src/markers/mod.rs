//! Markers: the few features that tell all classes apart, such as genes that tell cell types, and
//! how far they are from the best.
//!
//! Solves   min over allowed z of `sum_t v_t(z)`, t the pairs of classes (or the classes, each
//!          against the others), `v_t` the linear SVM of t on subset z with classes of equal
//!          weight, squared hinge: a pair that is hard to tell apart costs most, and a rare class as
//!          much as a frequent one.
//! Given    samples of two classes or more, rules with a size, [`MarkersSettings`].
//! Returns  the panel in order, its objective and the bound, what each feature is in each class and
//!          which classes it tells apart, and what folds say of it ([`MarkersReport`]).
//! Steps    1. in each fold and at every cost: the panel (`search`), the classifier on it, macro F1 of
//!          the samples held out  2. the cost of largest mean  3. at this cost, on all samples: the
//!          panel and its bound, with a search for a better one where the problems are small
//! Why      `bench/markers.py` has the objectives, schemes and costs beside each other.
//! Fails    never on limits: the status says so. Errors: settings out of range, rules that
//!          contradict each other or the samples, a class in one fold only.

mod apart;
mod expression;
mod report;
mod run;
mod search;
mod select;
mod settings;

pub use apart::{Apart, Contribution};
pub use expression::Expression;
pub use report::{ClassReport, Confused, MarkerPanel, MarkersEffort, MarkersReport, TriedCost};
pub use run::markers;
pub use settings::{CLASS_COSTS, MarkersSettings};

//! Markers: the few features that tell all classes apart, such as genes that tell cell types, and
//! how far they are from the best.
//!
//! Solves   min over allowed z of `sum_t v_t(z)`, t the pairs of classes (or the classes, each
//!          against the others), `v_t` the linear SVM of t on subset z with classes of equal
//!          weight, squared hinge: a pair that is hard to tell apart costs most, and a rare class as
//!          much as a frequent one. With a hierarchy C differs from pair to pair (`levels`).
//! Given    samples of two classes or more, rules with a size, [`MarkersSettings`].
//! Returns  the panel in order, its objective and the bound, what each feature is in each class and
//!          which classes it tells apart, and what folds say of it ([`MarkersReport`]).
//! Steps    1. in each fold: the panel as in 2, the classifier on it, macro F1 of the samples held out
//!          2. on all samples: an elimination, and a panel and a bound from it (`search`), with a search
//!          for a better one where the problems are small  3. features that come back on halves take the
//!          place of those that do not (`stable`)
//! Why      `bench/markers.py` has the objectives, schemes, costs and slacks beside each other.
//! Fails    never on limits: the status says so. Errors: settings out of range, rules that
//!          contradict each other or the samples, a class in one fold only.

mod apart;
mod clusters;
mod compare;
mod cover;
mod expression;
mod judged;
mod levels;
mod report;
mod robust;
mod run;
mod search;
mod select;
mod settings;
mod stable;

pub use apart::{Apart, Contribution};
pub use clusters::Clusters;
pub use compare::{CompareReport, ComparedList, RARE, compare};
pub use expression::Expression;
pub use judged::{ClassReport, Confused, JudgedFolds};
pub use levels::{Level, LevelClasses};
pub use report::{Lost, MarkerPanel, MarkersEffort, MarkersReport};
pub use run::markers;
pub use settings::MarkersSettings;
pub use stable::{StandIn, Standing};

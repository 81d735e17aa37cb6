//! Feature selection judged on samples that took no part: nothing of a sample held out is known to
//! what is judged on it.
//!
//! ```
//! use fewest::method::rfe::RfeSettings;
//! use fewest::{AnyMethod, DenseDesign, RuleList, SvmSettings};
//! use fewest_data::{Features, Target};
//! use fewest_eval::evaluate::{EvaluateSettings, Evaluation, Recipe, evaluate};
//! use fewest_eval::{Data, Fixed, Preparation, Scene, folds};
//!
//! // 20 samples; the first of 3 features tells the class.
//! let codes: Vec<u32> = (0..20).map(|i| i % 2).collect();
//! let mut values: Vec<f64> = codes.iter().map(|&code| f64::from(code)).collect();
//! values.extend((0..40).map(|at| f64::from(7 * at % 5)));
//! let features = Features::Dense(DenseDesign::new(20, 3, values)?);
//! let target = Target { column: "y".into(), classes: vec!["no".into(), "yes".into()], codes };
//! let weights = vec![1.0; 20];
//!
//! let (data, preparation) = (Data::new(&features, &target, &weights), Preparation::default());
//! let scene = Scene::new(data, &preparation);
//! let selector = Fixed {
//!     method: AnyMethod::from(RfeSettings::default()).into(),
//!     svm: SvmSettings::default(),
//!     rules: RuleList { max_features: Some(1), ..RuleList::default() },
//!     fit_cost: None,
//! };
//! let folds = folds::stratified(&target, None, 5, 1, 0)?;
//! let (recipes, settings) = ([Recipe::of(selector)], EvaluateSettings::default());
//! let results = evaluate(&scene, &folds, &recipes, &settings, None, &|_, _| Ok(()))?;
//! let found = Evaluation::new(&results, folds::test_share(&folds, 20), 3);
//! assert_eq!(found.frequency(), [(0, 1.0)]);
//! # Ok::<(), fewest_eval::EvalError>(())
//! ```
//!
//! | module | holds |
//! | --- | --- |
//! | `preparation` | what is learnt from samples to learn from, and applied to others: missing values, scaling, features that say nothing, weights of classes |
//! | `part` | samples as read, those to learn from, those held out |
//! | [`folds`], `groups`, `time` | samples, which of them stay together, and time dealt out |
//! | `selector`, `classifier`, `tasks` | a method on a part, the classifier on what it selects, one for each task |
//! | [`auto_cost`] | the cost of a method, chosen on the samples that it is run on |
//! | [`evaluate`], [`sizes`] | methods, and sizes of one method, judged in folds |
//! | `external` | a classifier on samples of another file |
//! | [`markers`] | the few features that tell all classes apart, with the bound; lists of features side by side |
//! | [`stability`], [`knockoffs`] | what is selected on halves again and again, and what stands out from copies: bounds on false features |
//! | [`statistics`] | measures, intervals, tests |
//! | [`study`] | method, costs and size chosen inside folds, then a panel with its proof |
//!
//! Nothing here touches a file or prints. Errors name no option of the command.

pub mod auto_cost;
mod classifier;
mod error;
pub mod evaluate;
mod external;
pub mod folds;
mod groups;
mod jobs;
pub mod knockoffs;
pub mod markers;
mod method;
mod part;
mod preparation;
mod selector;
pub mod sizes;
pub mod stability;
pub mod study;
mod tasks;
mod time;

/// Measures, their intervals and tests, and what knockoffs and halves say of features.
pub mod statistics {
    #[doc(inline)]
    pub use fewest::validation::{
        FoldMetrics, KnockoffSelection, Knockoffs, Metrics, ShareLaw, SizeRule, Stability, Summary, TTest, area,
        choose_size, confusion, corrected_t_test, hinge_loss, knockoff_selection, measure_summary, set_f1, stability,
        summaries, t_test,
    };
}

pub use classifier::{FoldModel, Predictions, Training};
pub use error::EvalError;
pub use external::ExternalValidation;
pub use groups::Groups;
pub use jobs::OnDone;
pub use method::SomeMethod;
pub use part::{Data, HeldOut, Tasks, TrainingPart};
pub use preparation::{ClassWeights, Learnt, Preparation, scale_kind};
pub use selector::{Ask, Fixed, PartSelector, Scene, Selected};
pub use tasks::{TaskClassifier, TaskDecisions, judge_tasks};
pub use time::{FoldTime, FoldTimes};

//! What is said of samples that took no part: feature selection judged with nothing known of the
//! samples held out.
//!
//! | module | holds |
//! | --- | --- |
//! | [`study`] | a study: method, costs and size chosen inside folds, then a panel with its proof |
//!
//! Nothing here touches a file or prints.

pub mod study;

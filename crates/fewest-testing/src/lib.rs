//! What the tests of `fewest` share: a seeded generator, enumeration of subsets, random rules and
//! problems, an independent judge of SVM solutions, a slow reference solver and the way to the data
//! folder. Nothing here is fast, on purpose: every function restates a definition so plainly that
//! it can be trusted against the code under test.

mod alignment;
mod bounded;
mod bracket;
mod data;
mod enumerate;
mod hard;
mod judge;
mod keeper;
mod problems;
mod proofs;
mod reference;
mod rng;
mod rules;

pub use alignment::{alignment_by, alignment_value, kernel_distance};
pub use bounded::{assert_bounded, bounded_bracket, random_bounds};
pub use bracket::{Bracket, bracket};
pub use data::data_file;
pub use enumerate::{all_subsets, allowed_subsets, obeys};
pub use hard::{HardCase, HardData, HardRules};
pub use judge::{assert_kkt, assert_kkt_kernel, assert_kkt_linear, kernel_scores, linear_scores};
pub use keeper::Keeper;
pub use problems::{RandomProblem, dense_copy, gram};
pub use proofs::{KeptProofs, packed_proof, tell_proof, verify_alignment, verify_proof, verify_several};
pub use reference::{Reference, reference};
pub use rng::Rng;
pub use rules::random_rules;

/// The page of the library, so that `cargo test` runs its example.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/use/library.md")]
pub struct LibraryPage;

/// The page of rules, so that `cargo test` runs its example.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/use/rules.md")]
pub struct RulesPage;

/// The examples of the library, so that `cargo test` runs them.
#[cfg(doctest)]
pub mod examples {
    #[doc = concat!("```\n", include_str!("../../fewest/examples/exact.rs"), "\n```")]
    pub struct Exact;

    #[doc = concat!("```\n", include_str!("../../fewest/examples/observer.rs"), "\n```")]
    pub struct Watched;

    #[doc = concat!("```\n", include_str!("../../fewest/examples/own_source.rs"), "\n```")]
    pub struct OwnSource;
}

/// The guide for contributors, so that `cargo test` builds and runs the method it shows.
#[cfg(doctest)]
#[doc = include_str!("../../../CONTRIBUTING.md")]
pub struct Contributing;

//! Steps of a check, for an observer that writes the same proof in another form.

use crate::rules::Choice;

/// The observer of the steps.
pub type OnStep<'t> = dyn FnMut(Step<'_>) + 't;

/// `sum of a z over (unit, a) <= most`.
pub type UnitRow<'s> = (f64, &'s [(usize, f64)]);

/// A step of a check of gain `ridge` or `l1`. Units are features that the rules have in or out
/// together; states are of all units, none where the rules leave nothing.
pub enum Step<'s> {
    /// The rules, before the first record.
    Begin {
        /// The features of each unit.
        units: &'s [Vec<usize>],
        /// All rules but those that decide a unit; the last row is on the number of features.
        rows: Vec<UnitRow<'s>>,
        /// Units that are required or forbidden.
        listed: &'s [(usize, Choice)],
        /// The decisions that follow from the rules.
        root: Option<&'s [Choice]>,
    },
    /// A box is split; its children are the next two numbers.
    Split {
        /// The box.
        node: u64,
        /// The unit that is in, then out.
        unit: usize,
        /// The children.
        states: [Option<&'s [Choice]>; 2],
    },
    /// A box is closed.
    Close {
        /// The box.
        node: u64,
        /// The state of the box.
        state: &'s [Choice],
        /// The dual values that close it.
        dual: Dual,
    },
    /// Parts of a box are closed.
    Fix {
        /// The box.
        node: u64,
        /// The state before.
        state: &'s [Choice],
        /// The decisions that hold from here: the other choice of each is closed.
        decisions: &'s [(usize, Choice)],
        /// The dual values that fix.
        dual: Dual,
        /// The state after.
        next: Option<&'s [Choice]>,
    },
    /// Weights of a box are bounded more closely: solutions beyond the new bounds are closed.
    Tighten {
        /// The box.
        node: u64,
        /// The state of the box.
        state: &'s [Choice],
        /// The dual values that shrink, with the bounds before.
        dual: Dual,
        /// The new bound of each feature, and the value of its unit beyond it, infinite where there
        /// is no such weight.
        parts: &'s [(usize, f64, f64)],
    },
}

/// A point: no allowed subset has an objective below `constant + sum of values of its units`.
pub struct Dual {
    /// The number of the point in the file.
    pub number: u64,
    /// The constant of the sum.
    pub constant: f64,
    /// The value of each unit, within the box's bounds on weights; 0 where the rules alone have it
    /// out.
    pub values: Vec<f64>,
}

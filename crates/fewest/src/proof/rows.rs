//! The numbers that rows have in a file, and their scale there.

use crate::RuleList;

/// For each of [`crate::Rules::rows`] its number in a file, and what a price of it is multiplied by
/// there. Must-in, must-out and `together` are no rows in a file: they are decisions and units.
#[derive(Debug, Clone)]
pub(crate) struct RowNumbers(Vec<Option<(u64, f64)>>);

impl RowNumbers {
    /// `budget_scale` is what [`crate::Rules::rows`] multiplies costs by.
    pub(crate) fn new(list: &RuleList, budget_scale: f64) -> Self {
        let mut numbers = Vec::new();
        let mut next = 0;
        let mut number = |scale: f64| {
            next += 1;
            Some((next - 1, scale))
        };
        numbers.extend(list.max_features.map(|_| number(1.0)));
        numbers.extend(list.budget.map(|_| number(budget_scale)));
        numbers.extend((0..list.require.len() + list.forbid.len()).map(|_| None));
        for (a, b) in &list.implies {
            let number = number(1.0);
            numbers.extend((a != b).then_some(number));
        }
        numbers.extend(list.at_most.iter().map(|_| number(1.0)));
        numbers.extend(list.at_least.iter().map(|_| number(1.0)));
        Self(numbers)
    }

    /// The number and the scale of the row at this place.
    pub(crate) fn of(&self, at: usize) -> Option<(u64, f64)> {
        self.0.get(at).copied().flatten()
    }
}

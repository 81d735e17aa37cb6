//! Rules on names, to rules on indices.

use fewest::RuleList;
use fewest_data::Names;

use super::features::{Features, Valued};
use super::notation;
use crate::failure::Failure;

/// A list of rules that grows, and the features that it is about.
pub(super) struct Resolver<'a> {
    pub(super) features: &'a Features<'a>,
    pub(super) list: RuleList,
}

impl Resolver<'_> {
    pub(super) fn require(&mut self, names: &[String], place: &str) -> Result<(), Failure> {
        self.list.require.extend(self.features.all_meant(names, place)?);
        Ok(())
    }

    pub(super) fn forbid(&mut self, names: &[String], place: &str) -> Result<(), Failure> {
        self.list.forbid.extend(self.features.all_meant(names, place)?);
        Ok(())
    }

    /// A subset with any feature that `a` names must have all that `needed` names.
    pub(super) fn implies(&mut self, a: &str, needed: &[String], place: &str) -> Result<(), Failure> {
        let (from, to) = (self.features.meant(a, place)?, self.features.all_meant(needed, place)?);
        self.list.implies.extend(from.iter().flat_map(|&a| to.iter().map(move |&b| (a, b))));
        Ok(())
    }

    pub(super) fn together(&mut self, names: &[String], place: &str) -> Result<(), Failure> {
        let group = self.features.all_meant(names, place)?;
        self.bind(group);
        Ok(())
    }

    /// The members of a group that is counted: a variable counts once, its columns are together.
    pub(super) fn counted(&mut self, names: &[String], place: &str) -> Result<Vec<usize>, Failure> {
        let members = self.features.members(names, place)?;
        Ok(members.into_iter().map(|columns| self.one_of(columns)).collect())
    }

    /// The costs of what a name means: the columns of a variable are together, and one has the
    /// price. Each feature that a pattern fits has it.
    pub(super) fn priced<'n>(&mut self, name: &'n str, cost: f64, place: &str) -> Result<Valued<'n>, Failure> {
        if let Some(found) = self.features.fitting(name, place)? {
            return Ok(Valued::new(name, cost, &found));
        }
        let columns = self.features.meant(name, place)?;
        // Columns that are never chosen need a cost, too.
        let all = self.features.columns_of(name);
        let first = self.one_of(columns);
        let others = all.into_iter().filter(|&j| j != first).map(|j| (j, 0.0));
        Ok(Valued { entry: name, values: std::iter::once((first, cost)).chain(others).collect() })
    }

    /// At most this many variables.
    pub(super) fn max_variables(&mut self, most: usize) -> Result<(), Failure> {
        let variables = self.features.variables();
        if most > variables.len() {
            return Err(Failure::Input(format!(
                "--max-variables is {most}, but there are {} that have more than one value",
                notation::plural(variables.len(), "variable")
            )));
        }
        if variables.iter().all(|variable| variable.len() == 1) {
            let size = self.list.max_features.map_or(most, |size| size.min(most));
            self.list.max_features = Some(size);
            return Ok(());
        }
        let group = variables.into_iter().map(|variable| self.one_of(variable)).collect();
        self.list.at_most.push((most, group));
        Ok(())
    }

    /// One column of a variable, which stands for all, as they are together.
    fn one_of(&mut self, columns: Vec<usize>) -> usize {
        let first = columns[0];
        self.bind(columns);
        first
    }

    /// Has columns chosen together.
    fn bind(&mut self, columns: Vec<usize>) {
        if columns.len() > 1 && !self.list.together.contains(&columns) {
            self.list.together.push(columns);
        }
    }
}

/// What to say of features that are to be chosen together and then never can be, as they are more
/// than the size or cost more than the budget.
pub(crate) fn never_chosen(list: &RuleList, names: &Names) -> Vec<String> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for group in &list.together {
        let mut joined = group.clone();
        // What shares a feature is together, too.
        groups.retain(|other| {
            let shares = other.iter().any(|j| joined.contains(j));
            if shares {
                joined.extend(other);
            }
            !shares
        });
        joined.sort_unstable();
        joined.dedup();
        groups.push(joined);
    }
    let why = |group: &Vec<usize>| {
        let size = list.max_features.filter(|&size| group.len() > size);
        let cost = |&j: &usize| list.costs.get(j).copied().unwrap_or(0.0);
        let price: f64 = group.iter().map(cost).sum();
        match (size, list.budget.filter(|&budget| price > budget)) {
            (Some(size), _) => Some(format!("they are {} features, more than --max-features {size}", group.len())),
            (None, Some(budget)) => Some(format!("they cost {price}, more than --budget {budget}")),
            (None, None) => None,
        }
    };
    let text = |group: &Vec<usize>| {
        let members: Vec<String> = group.iter().map(|&j| names.get(j).into_owned()).collect();
        why(group).map(|why| format!("{} are chosen together and never can be, as {why}", notation::some(&members)))
    };
    groups.iter().filter_map(text).collect()
}

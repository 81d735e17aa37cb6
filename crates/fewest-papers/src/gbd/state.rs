//! The progress of `gbd`: beta of every training, the subsets trained on, and where it trains
//! next. The cuts are computed again from beta, which takes n numbers each where a cut takes p, and
//! the program of the master is made of them.

use std::io;

use serde::{Deserialize, Serialize};

use super::TrainedSubset;
use super::benders::Benders;
use super::trainer::{Query, Trainer};
use fewest::internals::state::{StateReader, StateWriter, stranger, subset};
use fewest::{Error, Run};

/// What a run resumes from besides beta and objective of every training.
#[expect(clippy::struct_excessive_bools, reason = "what has happened or not, as the master has it")]
#[derive(Debug, Serialize, Deserialize)]
struct BendersState {
    queue: Vec<QueryState>,
    begun: bool,
    at_root: bool,
    core: Vec<f64>,
    core_value: f64,
    round: u64,
    nothing_new: bool,
    cutoff: bool,
    trained: Vec<TrainedState>,
}

/// A [`Query`].
#[derive(Debug, Serialize, Deserialize)]
enum QueryState {
    Subset(Vec<usize>),
    Mixture(Vec<f64>),
}

/// A [`TrainedSubset`].
#[derive(Debug, Serialize, Deserialize)]
struct TrainedState {
    round: u64,
    subset: Vec<usize>,
    objective: f64,
    upper: f64,
    bound: Option<f64>,
    validation_error: Option<f64>,
}

impl Benders<'_> {
    /// Keeps the state.
    pub(super) fn keep(&self, last: bool, run: &mut Run<'_>) {
        run.keep(super::NAME, last, |out| self.write(out));
    }

    fn write(&self, out: &mut StateWriter<'_>) -> io::Result<()> {
        let query = |query: &Query| match query {
            Query::Subset(subset) => QueryState::Subset(subset.iter().collect()),
            Query::Mixture(z) => QueryState::Mixture(z.clone()),
        };
        let trained = |t: &TrainedSubset| TrainedState {
            round: t.round,
            subset: t.subset.iter().collect(),
            objective: t.objective,
            upper: t.upper,
            bound: t.bound,
            validation_error: t.validation_error,
        };
        out.put(&BendersState {
            queue: self.queue.iter().map(query).collect(),
            begun: self.begun,
            at_root: self.at_root,
            core: self.core.clone(),
            core_value: self.core_value,
            round: self.round,
            nothing_new: self.nothing_new,
            cutoff: self.cutoff,
            trained: self.trained.iter().map(trained).collect(),
        })?;
        out.put(&self.points.len())?;
        self.points.iter().try_for_each(|point| out.put(point))
    }

    /// Resumes from a state.
    ///
    /// # Errors
    /// One that is damaged or of other problems; a failure of HiGHS.
    pub(super) fn restore(&mut self, mut from: StateReader, trainer: &mut Trainer<'_>) -> Result<(), Error> {
        let state: BendersState = from.take()?;
        let p = self.rules.p();
        let shares = |z: &[f64]| z.len() == p && z.iter().all(|z| (0.0..=1.0).contains(z));
        if !shares(&state.core) {
            return Err(stranger("it has other features"));
        }
        for query in state.queue {
            self.queue.push_back(match query {
                QueryState::Subset(features) => Query::Subset(subset(p, &features)?),
                QueryState::Mixture(z) if shares(&z) => Query::Mixture(z),
                QueryState::Mixture(_) => return Err(stranger("it trains on other features")),
            });
        }
        for t in state.trained {
            let subset = subset(p, &t.subset)?;
            self.visited.insert(subset.clone());
            self.trained.push(TrainedSubset {
                round: t.round,
                subset,
                objective: t.objective,
                upper: t.upper,
                bound: t.bound,
                validation_error: t.validation_error,
            });
        }
        (self.begun, self.at_root, self.cutoff) = (state.begun, state.at_root, state.cutoff);
        (self.core, self.core_value) = (state.core, state.core_value);
        (self.round, self.nothing_new) = (state.round, state.nothing_new);
        for _ in 0..from.take::<usize>()? {
            let (beta, objective): (Vec<f64>, f64) = from.take()?;
            if beta.len() != trainer.n_samples() || beta.iter().any(|b| !b.is_finite()) {
                return Err(stranger("it has other samples"));
            }
            self.cuts.learn(&trainer.cut(&beta), objective)?;
            self.points.push((beta, objective));
        }
        if let Some((beta, _)) = self.points.last() {
            trainer.start_from(beta);
        }
        Ok(())
    }
}

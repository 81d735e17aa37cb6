//! Progress of an elimination: which features left at which step, and where the next training
//! starts. Features leave the matrices again in the same order, so that sums are rounded as they
//! were; trainings are not done again.

use std::io;

use super::master::{Elimination, RemovalRules};
use super::oracle::{Course, RankingOracle};
use crate::run::state::{StateReader, StateWriter, stranger};
use crate::{Error, Ranked};

/// Step and features of a step with their criteria.
type Left = (u64, Vec<(usize, f64)>);

impl Elimination<'_> {
    pub(super) fn write(&self, out: &mut StateWriter<'_>) -> io::Result<()> {
        let mut left: Vec<Left> = Vec::new();
        for &Ranked { feature, step, criterion, .. } in &self.left {
            // Step 0: what the rules forbid.
            let Some(step) = step.filter(|step| *step > 0) else { continue };
            match left.last_mut() {
                Some(last) if last.0 == step => last.1.push((feature, criterion)),
                _ => left.push((step, vec![(feature, criterion)])),
            }
        }
        out.put(&(self.steps, self.count, self.certain, left))?;
        out.put(&self.course)?;
        match &self.course.resampled {
            Some(betas) => out.put(betas),
            None => Ok(()),
        }
    }

    /// Resumes from a state.
    ///
    /// # Errors
    /// One that is damaged or of another problem.
    pub(super) fn restore(&mut self, mut state: StateReader, oracle: &mut RankingOracle<'_>) -> Result<(), Error> {
        let (steps, count, certain, left): (u64, usize, Option<u64>, Vec<Left>) = state.take()?;
        let mut course: Course = state.take()?;
        if oracle.is_resampled() && course.trainings > 0 {
            course.resampled = Some(state.take()?);
        }
        for (step, features) in &left {
            for &(feature, criterion) in features {
                if feature >= self.rules.p() || !self.survivors.remove(feature) {
                    return Err(stranger(&format!("feature {feature} is none that can leave")));
                }
                self.left.push(Ranked { feature, rank: 0, step: Some(*step), criterion });
            }
        }
        if self.rules.subset_within(&self.survivors).is_none() {
            return Err(stranger("the rules allow nothing of what is left"));
        }
        self.removal = RemovalRules::new(self.rules, &self.survivors);
        (self.steps, self.count, self.certain, self.course) = (steps, count, certain, course.clone());
        let leaving: Vec<Vec<usize>> = left.iter().map(|step| step.1.iter().map(|f| f.0).collect()).collect();
        oracle.restore(course, leaving.iter().map(Vec::as_slice))
    }
}

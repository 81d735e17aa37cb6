//! Tasks that share one subset: which of them each sample belongs to.

use fewest_data::Target;

use crate::failure::Failure;

/// Tasks that share one subset.
pub(crate) struct Tasks {
    /// Their names.
    pub(crate) names: Vec<String>,
    /// Which of them each sample belongs to.
    pub(crate) codes: Vec<u32>,
}

impl Tasks {
    /// Of the name of each sample's task.
    ///
    /// # Errors
    /// A task whose samples are of one class.
    pub(super) fn new(by_sample: &[String], target: &Target, source: &str) -> Result<Self, Failure> {
        let mut names = by_sample.to_vec();
        names.sort_unstable();
        names.dedup();
        let code = |name: &String| names.binary_search(name).expect("listed above") as u32;
        let codes: Vec<u32> = by_sample.iter().map(code).collect();
        for (task, name) in names.iter().enumerate() {
            let mut of =
                codes.iter().zip(&target.codes).filter(|sample| *sample.0 as usize == task).map(|sample| sample.1);
            let first = of.next();
            if of.all(|class| Some(class) == first) {
                return Err(Failure::Input(format!(
                    "{source}: all samples of the task {name} are of one class, but a classifier needs two; leave its rows out, or \
                     join it with another"
                )));
            }
        }
        Ok(Self { names, codes })
    }

    /// The name of each sample's task.
    pub(super) fn by_sample(&self) -> Vec<String> {
        self.codes.iter().map(|&code| self.names[code as usize].clone()).collect()
    }
}

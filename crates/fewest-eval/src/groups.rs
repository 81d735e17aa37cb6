//! Groups of samples that stay together in folds and halves, such as all recordings of one person.

/// Groups of samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Groups {
    /// Their names, in the order of their first samples.
    pub names: Vec<String>,
    /// The group of each sample.
    pub codes: Vec<u32>,
}

impl Groups {
    /// Groups from the name of each sample's group.
    pub fn new(by_sample: &[String]) -> Self {
        let (mut names, mut known) = (Vec::new(), std::collections::HashMap::new());
        let codes = by_sample.iter().map(|name| {
            let next = known.len() as u32;
            *known.entry(name.as_str()).or_insert_with(|| {
                names.push(name.clone());
                next
            })
        });
        let codes = codes.collect();
        Self { names, codes }
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// The name of each sample's group.
    pub fn by_sample(&self) -> Vec<String> {
        self.codes.iter().map(|&code| self.names[code as usize].clone()).collect()
    }
}

/// How many different groups these samples are of.
pub(crate) fn count_of(codes: &[u32]) -> usize {
    let mut known = codes.to_vec();
    known.sort_unstable();
    known.dedup();
    known.len()
}

/// The number of groups that each class is in.
pub(crate) fn counts_by_class(codes: &[u32], classes: &[u32], count: usize) -> Vec<usize> {
    let mut pairs: Vec<(u32, u32)> = classes.iter().copied().zip(codes.iter().copied()).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let mut counts = vec![0; count];
    for (class, _) in pairs {
        counts[class as usize] += 1;
    }
    counts
}

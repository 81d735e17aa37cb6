//! The data that a claim is about, and their fingerprint.

use sha2::{Digest, Sha256};

/// The data that a proof is about: n samples of p features, as the method saw them (after scaling).
pub trait Data: Sync {
    /// Number of samples n.
    fn samples(&self) -> usize;
    /// Number of features p.
    fn features(&self) -> usize;
    /// The label of each sample, length n: -1 or 1; for gain `alignment` its class, 0, 1, ...
    fn labels(&self) -> &[f64];
    /// The weight of each sample, 0 or more, length n.
    fn weights(&self) -> &[f64];
    /// Calls `f(i, x_ij)` for the entries of column j other than 0, in ascending order of i; zeros
    /// may be among them.
    fn each(&self, j: usize, f: &mut dyn FnMut(usize, f64));
    /// The column as a slice of length n, where it is stored that way.
    fn dense(&self, _j: usize) -> Option<&[f64]> {
        None
    }
}

/// The fingerprint of the data of one problem or more, as docs/formats/proof.md defines it.
///
/// # Errors
/// The first value, label or weight that is out of range, as text.
pub fn fingerprint(all: &[&dyn Data]) -> Result<String, String> {
    let mut hash = Sha256::new();
    for data in all {
        add(*data, &mut hash)?;
    }
    Ok(hash.finalize().iter().fold("sha256:".to_owned(), |text, byte| text + &format!("{byte:02x}")))
}

/// Adds the data of one problem.
fn add(data: &dyn Data, hash: &mut Sha256) -> Result<(), String> {
    let (n, p) = (data.samples(), data.features());
    hash.update((n as u64).to_le_bytes());
    hash.update((p as u64).to_le_bytes());
    let mut bytes = Vec::new();
    for j in 0..p {
        let (mut next, mut fault) = (0, None);
        bytes.clear();
        data.each(j, &mut |i, x| {
            if !x.is_finite() || i < next || i >= n {
                fault = fault.or(Some((i, x)));
            } else if x != 0.0 {
                bytes.extend_from_slice(&(i as u32).to_le_bytes());
                bytes.extend_from_slice(&x.to_le_bytes());
            }
            next = i + 1;
        });
        if let Some((i, x)) = fault {
            return Err(format!("the data hold {x} for sample {i}, feature {j}, out of range or order"));
        }
        bytes.extend_from_slice(&[255; 4]);
        hash.update(&bytes);
    }
    if let Some(weight) = data.weights().iter().find(|w| !(**w >= 0.0 && w.is_finite())) {
        return Err(format!("the data hold the weight {weight}, not a number of 0 or more"));
    }
    for number in data.labels().iter().chain(data.weights()) {
        hash.update(number.to_le_bytes());
    }
    Ok(())
}

//! The binary matrix that `bench/common.py` writes, so that every program solves the same numbers;
//! or a column file, mapped as the command does. The matrix, little-endian:
//!
//! ```text
//! 8 bytes  "FEWBENCH"            u64 n      u64 p      u64 nnz      u64 form (0 dense, 1 sparse)
//! f64 x n  labels, -1 or +1
//! dense:   f64 x n p, column after column
//! sparse:  u64 x (p + 1) column starts, f64 x nnz values, u32 x nnz row indices
//! ```

use std::fs::File;
use std::io::{BufReader, Error, ErrorKind, Read};
use std::path::Path;

use fewest::{DenseDesign, Design, SparseDesign};
use fewest_data::ReadOptions;

/// A data set read from a binary matrix.
pub(crate) struct Matrix {
    pub(crate) design: Box<dyn Design>,
    pub(crate) labels: Vec<f64>,
    /// Bytes of the design's arrays.
    pub(crate) bytes: u64,
}

/// Reads a binary matrix, or a column file by its name (`.csc`). Values of a matrix are read column
/// by column, so that nothing but the matrix itself takes memory.
pub(crate) fn read(path: &str) -> Result<Matrix, Error> {
    if Path::new(path).extension().is_some_and(|end| end == "csc") {
        let data = fewest_data::read(path, &ReadOptions::default()).map_err(Error::other)?;
        let target = data.target.ok_or_else(|| Error::other(format!("{path}: has no target")))?;
        let bytes = data.features.bytes();
        return Ok(Matrix { design: data.features.into_design(), labels: target.signs(), bytes });
    }
    let mut file = BufReader::with_capacity(1 << 16, File::open(path)?);
    let mut magic = [0; 8];
    file.read_exact(&mut magic)?;
    let bad = |text: String| Error::new(ErrorKind::InvalidData, format!("{path}: {text}"));
    if &magic != b"FEWBENCH" {
        return Err(bad("does not start with FEWBENCH; make it with bench/common.py".into()));
    }
    let header = integers(&mut file, 4)?;
    let (n, p, nnz, form) = (header[0], header[1], header[2], header[3]);
    let labels = floats(&mut file, n)?;
    let (design, bytes): (Box<dyn Design>, usize) = match form {
        0 => {
            let design = DenseDesign::new(n, p, floats(&mut file, n * p)?).map_err(|e| bad(e.to_string()))?;
            (Box::new(design), 8 * n * p)
        }
        1 => {
            let start = integers(&mut file, p + 1)?;
            let values = floats(&mut file, nnz)?;
            let mut rows = Vec::with_capacity(nnz);
            words::<4>(&mut file, nnz, |b| rows.push(u32::from_le_bytes(b)))?;
            let design = SparseDesign::new(n, start, rows, values).map_err(|e| bad(e.to_string()))?;
            (Box::new(design), 8 * (p + 1) + 12 * nnz)
        }
        other => return Err(bad(format!("form is {other}, but must be 0 or 1"))),
    };
    Ok(Matrix { design, labels, bytes: bytes as u64 })
}

fn words<const W: usize>(file: &mut impl Read, count: usize, mut push: impl FnMut([u8; W])) -> Result<(), Error> {
    let mut word = [0; W];
    for _ in 0..count {
        file.read_exact(&mut word)?;
        push(word);
    }
    Ok(())
}

fn integers(file: &mut impl Read, count: usize) -> Result<Vec<usize>, Error> {
    let mut out = Vec::with_capacity(count);
    words::<8>(file, count, |b| out.push(u64::from_le_bytes(b) as usize))?;
    Ok(out)
}

fn floats(file: &mut impl Read, count: usize) -> Result<Vec<f64>, Error> {
    let mut out = Vec::with_capacity(count);
    words::<8>(file, count, |b| out.push(f64::from_le_bytes(b)))?;
    Ok(out)
}

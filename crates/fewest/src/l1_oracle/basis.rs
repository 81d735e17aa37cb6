//! The basis of a solve, by features and samples, so that a later program with other columns can
//! begin there.

use super::{L1Oracle, WeightSide};
use crate::Error;
use crate::backend::highs::{AT_LOWER, BASIC, Basis};

/// What is in the basis of a solve, and what lies at an upper bound.
#[derive(Debug, Clone)]
pub(crate) struct L1Basis {
    /// Status of each sample's row and of its slack.
    samples: Box<[[u8; 2]]>,
    bias: [u8; 2],
    /// The parts of weights that are not at 0.
    parts: Box<[(WeightSide, u8)]>,
}

impl L1Basis {
    /// Bytes that it takes beside itself.
    pub(crate) fn bytes(&self) -> u64 {
        (size_of_val(&*self.samples) + size_of_val(&*self.parts)) as u64
    }
}

impl L1Oracle<'_> {
    /// The basis of the last solve.
    ///
    /// # Errors
    /// [`Error::Solver`] where there was none.
    pub(crate) fn basis(&self) -> Result<L1Basis, Error> {
        let Basis { columns, rows } = self.program.basis()?;
        let mut bias = [AT_LOWER; 2];
        bias.iter_mut().zip(&self.intercept).for_each(|(status, &column)| *status = columns[column]);
        let of = |&(row, slack): &(usize, usize)| [rows[row], columns[slack]];
        Ok(L1Basis {
            samples: self.row.iter().map(|row| row.as_ref().map_or([BASIC, AT_LOWER], of)).collect(),
            bias,
            parts: self
                .parts
                .iter()
                .map(|&part| (part, columns[self.column_of(part)]))
                .filter(|e| e.1 != AT_LOWER)
                .collect(),
        })
    }

    /// The next solve begins at a basis of this problem. `feasible`: bounds are those of its solve,
    /// and only prices have changed since.
    pub(crate) fn begin_at(&mut self, basis: &L1Basis, feasible: bool) -> Result<(), Error> {
        let away = basis.parts.iter().map(|e| e.0).filter(|part| self.find_column(*part).is_none());
        self.join_parts(&away.collect::<Vec<_>>())?;
        let (mut columns, mut rows) = (vec![AT_LOWER; self.program.columns()], vec![AT_LOWER; self.program.rows()]);
        basis.parts.iter().for_each(|&(part, status)| columns[self.column_of(part)] = status);
        self.intercept.iter().zip(basis.bias).for_each(|(&column, status)| columns[column] = status);
        for (&row, &[side, slack]) in self.row.iter().zip(&basis.samples) {
            if let Some((row, column)) = row {
                (rows[row], columns[column]) = (side, slack);
            }
        }
        self.program.set_basis(&Basis { columns, rows })?;
        (self.infeasible, self.begun) = (!feasible, true);
        Ok(())
    }
}

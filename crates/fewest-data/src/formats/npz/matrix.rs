//! The matrix of an archive, dense or compressed.

use super::numbers::Numbers;
use super::{Archive, damaged, shape_error};
use crate::formats::compressed::{self, Form, Kind, Stored, check_starts};
use crate::{DataError, Place};

/// The matrix of an archive, and what it is.
pub(super) struct Matrix<'a, 'f> {
    pub(super) archive: &'a mut Archive<'f>,
    pub(super) form: Form,
}

impl Archive<'_> {
    /// What the matrix is; it has a row at least.
    pub(super) fn form(&mut self) -> Result<Form, DataError> {
        let file = self.file;
        let form = if self.has("X") {
            self.array("X", |array, _| match array.shape[..] {
                [_, _] if !array.is_number() => Err(shape_error(file, "X", array, "numeric")),
                [n, p] => Ok(Form { n, p, kind: Kind::Dense }),
                _ => Err(shape_error(file, "X", array, "two-dimensional")),
            })?
        } else if self.has("indptr") {
            self.sparse_form()?
        } else {
            return Err(self.unknown("X", "matrix"));
        };
        if form.n == 0 { Err(DataError::NoRows { file: file.to_owned() }) } else { Ok(form) }
    }

    /// The form that `scipy.sparse.save_npz` wrote, CSR or CSC.
    fn sparse_form(&mut self) -> Result<Form, DataError> {
        let file = self.file;
        let form = self.array("format", |array, input| {
            let mut form = String::new();
            let read = array.each(input, |_, bytes| form = array.item.text(bytes));
            read.map(|()| form).map_err(|e| damaged(file, &e))
        })?;
        let shape = self.all_numbers("shape", |x| x as u64)?;
        let kind = match &form[..] {
            "csr" => Some(Kind::Rows),
            "csc" => Some(Kind::Columns),
            _ => None,
        };
        let (&[n, p], Some(kind)) = (&shape[..], kind) else {
            let what = format!("a sparse matrix in `{form}` form");
            let remedy = "save it with tocsc() or tocsr()".into();
            return Err(DataError::Unsupported { file: file.into(), what, remedy });
        };
        if let Some(&index) = [n, p].iter().find(|&&d| d > self.largest) {
            return Err(DataError::TooManyFeatures {
                place: Place { file: file.into(), ..Place::default() },
                index,
                allowed: self.largest,
            });
        }
        Ok(Form { n: n as usize, p: p as usize, kind })
    }
}

impl Stored for Matrix<'_, '_> {
    fn file(&self) -> &str {
        self.archive.file
    }

    fn memory(&self) -> u64 {
        self.archive.memory
    }

    fn form(&self) -> Form {
        self.form
    }

    fn each_dense(
        &mut self,
        mut take: impl FnMut(usize, usize, f64) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        let (file, form) = (self.archive.file, self.form);
        self.archive.array("X", |array, input| {
            let within = if array.fortran { form.n } else { form.p };
            let (mut outer, mut inner) = (0, 0);
            Numbers::new(file, "X", array, input).each(|_, x| {
                let (i, j) = if array.fortran { (inner, outer) } else { (outer, inner) };
                inner += 1;
                if inner == within {
                    (outer, inner) = (outer + 1, 0);
                }
                take(i, j, x)
            })
        })
    }

    fn starts(&mut self) -> Result<Vec<usize>, DataError> {
        let start = self.archive.all_numbers("indptr", |x| x as usize)?;
        let mut items = |key| self.archive.numbers(key, |numbers| Ok(compressed::Numbers::count(&numbers)));
        let (places, values) = (items("indices")?, items("data")?);
        check_starts(self.archive.file, &self.form, &start, places, values)?;
        Ok(start)
    }

    fn entries<T>(
        &mut self,
        body: impl FnOnce(&mut dyn compressed::Numbers, &mut dyn compressed::Numbers) -> Result<T, DataError>,
    ) -> Result<T, DataError> {
        let mut second = self.archive.again()?;
        self.archive.numbers("indices", |mut index| second.numbers("data", |mut data| body(&mut index, &mut data)))
    }
}

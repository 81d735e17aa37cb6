//! Columns that are elsewhere: a shard of them on a worker, and the source that asks all shards,
//! through Python.

use std::sync::Mutex;

use fewest::kernel::gram::{GramMatrix, GramSource};
use fewest::method::fgm::fgm_from;
use fewest::method::info_gain::{Binning, information_gain_from, information_gains};
use fewest::method::l1_svm::l1_svm_from;
use fewest::method::rfe::rfe_from;
use fewest::{
    Design, Error, FeatureScore, Kernel, Report, RowMatrix, RuleList, Rules, ScoreQuery, Source, SparseDesign,
    check_values,
};
use fewest_papers::AnyMethod;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pythonize::pythonize;

use crate::copy::copied;
use crate::enter::{CallLimits, enter, pool, sheltered};
use crate::matrix::{Columns, Indices};
use crate::{answer, labels, numbers, raised, settings};

/// Features and their scores.
type Scores<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);

/// Features `first`, `first + 1`, ... of a matrix, with the values of all samples. Features are
/// counted from 0 in the whole matrix, everywhere. The arrays stay Python's; it is pickled as they
/// are, and columns that stay in a file as their place there.
#[pyclass(frozen, module = "fewest._core")]
pub(crate) struct Shard {
    first: usize,
    /// See [`Columns`].
    matrix: Py<PyAny>,
    n: usize,
    p: usize,
    stored: usize,
    sparse: bool,
    /// Whether its entries stay in a file.
    mapped: bool,
    /// Column starts of a sparse matrix, which was checked.
    start: Vec<usize>,
}

impl Shard {
    /// `answer` of the columns at v, on `threads` threads, with the GIL released.
    fn at<T: Send>(
        &self,
        py: Python<'_>,
        v: &PyReadonlyArray1<'_, f64>,
        threads: usize,
        answer: impl FnOnce(&dyn Design, &[f64]) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let v = numbers(v)?;
        if v.len() != self.n {
            return Err(PyValueError::new_err(format!("{} values for {} samples", v.len(), self.n)));
        }
        self.on(py, threads, |design| answer(design, v))
    }

    /// `answer` of the columns, on `threads` threads, with the GIL released.
    fn on<T: Send>(
        &self,
        py: Python<'_>,
        threads: usize,
        answer: impl FnOnce(&dyn Design) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let pool = pool(Some(threads))?;
        self.with(py, |design| py.detach(|| pool.install(|| answer(design))).map_err(raised))
    }

    /// What `f` makes of the columns.
    fn with<T>(&self, py: Python<'_>, f: impl FnOnce(&dyn Design) -> PyResult<T>) -> PyResult<T> {
        let columns: Columns<'_> = self.matrix.extract(py)?;
        match &columns {
            // Checked when it was made; examining every row index again would cost as much as a
            // pass.
            Columns::Sparse(n, _, Indices::Short(rows), values) => {
                f(&SparseDesign::view(*n, &self.start, bytemuck::cast_slice(numbers(rows)?), numbers(values)?))
            }
            // Its pages would count as memory of the worker until the next pass.
            Columns::File(file) => {
                let design = file.get().design();
                let answer = f(design);
                design.give_back();
                answer
            }
            columns => f(&*columns.design()?),
        }
    }

    /// The features that are here, counted from the first one here.
    fn own(&self, features: &[usize]) -> Vec<usize> {
        features.iter().filter_map(|j| j.checked_sub(self.first)).filter(|&j| j < self.p).collect()
    }

    /// The features of an array that are here.
    fn own_of(&self, features: &PyReadonlyArray1<'_, i64>) -> PyResult<Vec<usize>> {
        let wanted: Vec<usize> = numbers(features)?.iter().map(|&j| j as usize).collect();
        Ok(self.own(&wanted))
    }
}

#[pymethods]
impl Shard {
    /// Checks arrays and values.
    #[new]
    fn new(py: Python<'_>, first: usize, matrix: Py<PyAny>) -> PyResult<Self> {
        sheltered(|| {
            let columns: Columns<'_> = matrix.extract(py)?;
            let design = columns.design()?;
            // A file was checked when it was opened.
            let mapped = matches!(columns, Columns::File(_));
            if !mapped {
                py.detach(|| check_values(&*design, first)).map_err(raised)?;
            }
            let start = match &columns {
                Columns::Sparse(_, starts, _, _) => numbers(starts)?.iter().map(|&s| s as usize).collect(),
                _ => Vec::new(),
            };
            let (n, p, stored, sparse) = (design.n_samples(), design.n_features(), design.stored(), design.is_sparse());
            drop(design);
            drop(columns);
            Ok(Self { first, matrix, n, p, stored, sparse, mapped, start })
        })
    }

    /// First feature, samples, features, stored values, whether sparse.
    #[getter]
    fn shape(&self) -> (usize, usize, usize, usize, bool) {
        (self.first, self.n, self.p, self.stored, self.sparse)
    }

    /// The features of the `most` largest scores x_j . v squared, and of `always`, without `never`;
    /// and the scores, those below 0 of `positive` and above 0 of `negative` as 0.
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    fn largest<'py>(
        &self,
        py: Python<'py>,
        v: PyReadonlyArray1<'py, f64>,
        most: usize,
        always: Vec<usize>,
        never: Vec<usize>,
        positive: Vec<usize>,
        negative: Vec<usize>,
        threads: usize,
    ) -> PyResult<Scores<'py>> {
        sheltered(|| {
            let wanted = ScoreQuery {
                most,
                always: self.own(&always),
                never: self.own(&never).into(),
                positive: self.own(&positive),
                negative: self.own(&negative),
            };
            let found = self.at(py, &v, threads, |design, v| (&design).largest(v, &wanted))?;
            let features: Vec<i64> = found.iter().map(|s| (self.first + s.feature) as i64).collect();
            let scores: Vec<f64> = found.iter().map(|s| s.score).collect();
            Ok((features.into_pyarray(py), scores.into_pyarray(py)))
        })
    }

    /// x_j . v of all features here.
    fn scores<'py>(
        &self,
        py: Python<'py>,
        v: PyReadonlyArray1<'py, f64>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        sheltered(|| Ok(self.at(py, &v, threads, |design, v| (&design).scores(v))?.into_pyarray(py)))
    }

    /// Information gain of all features here, in bits, by the class and the weight of each sample.
    fn gains<'py>(
        &self,
        py: Python<'py>,
        codes: PyReadonlyArray1<'py, u32>,
        weights: PyReadonlyArray1<'py, f64>,
        binning: &Bound<'py, PyAny>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        sheltered(|| {
            let (codes, weights, binning): (_, _, Binning) = (numbers(&codes)?, numbers(&weights)?, settings(binning)?);
            let gains = self.on(py, threads, |design| information_gains(design, codes, weights, binning))?;
            Ok(gains.into_pyarray(py))
        })
    }

    /// Products of the samples over those of the features (ascending) that are here: the lower
    /// triangle of the n x n matrix, row after row.
    fn gram<'py>(
        &self,
        py: Python<'py>,
        features: PyReadonlyArray1<'py, i64>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        sheltered(|| {
            let features = self.own_of(&features)?;
            let products = self.on(py, threads, |design| Ok(GramMatrix::linear(design, &features).triangle()))?;
            Ok(products.into_pyarray(py))
        })
    }

    /// `X X' v` over those of the features that are here, on `threads` threads.
    fn product<'py>(
        &self,
        py: Python<'py>,
        features: PyReadonlyArray1<'py, i64>,
        v: PyReadonlyArray1<'py, f64>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        sheltered(|| {
            let features = self.own_of(&features)?;
            let product = self.at(py, &v, threads, |design, v| (&design).product(&features, v))?;
            Ok(product.into_pyarray(py))
        })
    }

    /// The features that are here, as a matrix in the form that the engine takes.
    fn columns<'py>(&self, py: Python<'py>, features: Vec<usize>) -> PyResult<Bound<'py, PyAny>> {
        sheltered(|| {
            let features = self.own(&features);
            self.with(py, |design| copied(py, design, &features))
        })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, (usize, Py<PyAny>)) {
        (py.get_type::<Self>().into_any(), (self.first, self.matrix.clone_ref(py)))
    }

    /// [`ColumnFile::sums`] of columns that stay in a file.
    #[getter]
    fn sums<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.mapped.then(|| self.matrix.bind(py).getattr("sums")).transpose()
    }

    /// Bytes, by which Dask decides what to spill.
    fn __sizeof__(&self) -> usize {
        if self.mapped {
            return 8 * (self.p + 1);
        }
        let indices = if self.sparse { 4 * self.stored + 16 * self.start.len() } else { 0 };
        8 * self.stored + indices
    }
}

/// Columns elsewhere, asked for through a Python object with the methods `largest(v, most, always,
/// never, positive, negative)`, `scores(v)`, `gains(codes, weights, binning)`, `gram(features)`,
/// `product(features, v)` and `columns(features)`, which answer for the whole matrix; `columns`
/// gives a list of matrices, side by side those asked for, `gram` the lower triangle of the products
/// of the samples.
struct Elsewhere {
    n: usize,
    p: usize,
    /// Values stored in all of it, and whether zeros are left out.
    stored: usize,
    sparse: bool,
    source: Py<PyAny>,
    /// What a method raised.
    raised: Mutex<Option<PyErr>>,
}

/// An array of features.
fn indices<'py>(py: Python<'py>, features: &[usize]) -> Bound<'py, PyArray1<i64>> {
    features.iter().map(|&j| j as i64).collect::<Vec<i64>>().into_pyarray(py)
}

/// The numbers of an array.
fn all_numbers(array: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let array: PyReadonlyArray1<'_, f64> = array.extract()?;
    Ok(numbers(&array)?.to_vec())
}

impl Elsewhere {
    fn ask<T>(&self, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Result<T, Error> {
        Python::attach(|py| {
            call(self.source.bind(py)).map_err(|error| {
                let text = error.to_string();
                *self.raised.lock().expect("nothing panics while it is held") = Some(error);
                Error::Source(text)
            })
        })
    }

    /// An answer of one number for each feature.
    fn of_each(&self, answer: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
        let scores = all_numbers(answer)?;
        if scores.len() == self.p {
            return Ok(scores);
        }
        Err(PyValueError::new_err(format!("{} scores of {} features", scores.len(), self.p)))
    }

    /// Information gains of all features.
    fn gains(&self, codes: &[u32], weights: &[f64], binning: Binning) -> Result<Vec<f64>, Error> {
        self.ask(|source| {
            let (py, binning) = (source.py(), pythonize(source.py(), &binning)?);
            let arrays = (PyArray1::from_slice(py, codes), PyArray1::from_slice(py, weights), binning);
            self.of_each(&source.call_method1("gains", arrays)?)
        })
    }
}

impl Source for Elsewhere {
    fn n_samples(&self) -> usize {
        self.n
    }
    fn n_features(&self) -> usize {
        self.p
    }
    fn scores(&self, v: &[f64]) -> Result<Vec<f64>, Error> {
        self.ask(|source| self.of_each(&source.call_method1("scores", (PyArray1::from_slice(source.py(), v),))?))
    }
    fn largest(&self, v: &[f64], wanted: &ScoreQuery) -> Result<Vec<FeatureScore>, Error> {
        self.ask(|source| {
            let v = PyArray1::from_slice(source.py(), v);
            let ScoreQuery { most, always, never, positive, negative } = wanted;
            let answer = source.call_method1(
                "largest",
                (v, *most, always, never.iter().collect::<Vec<usize>>(), positive, negative),
            )?;
            let (features, scores): (PyReadonlyArray1<'_, i64>, PyReadonlyArray1<'_, f64>) = answer.extract()?;
            let scored = |(&j, &score): (&i64, &f64)| {
                let feature = usize::try_from(j).ok().filter(|&j| j < self.p);
                let wrong = || PyValueError::new_err(format!("a score of feature {j}, but there are {}", self.p));
                Ok(FeatureScore { feature: feature.ok_or_else(wrong)?, score })
            };
            numbers(&features)?.iter().zip(numbers(&scores)?).map(scored).collect()
        })
    }
    fn rows(&self, features: &[usize]) -> Result<RowMatrix, Error> {
        self.ask(|source| {
            let parts: Vec<Columns<'_>> = source.call_method1("columns", (features,))?.extract()?;
            let mut rows = RowMatrix::dense(self.n, 0, Vec::new());
            for part in &parts {
                let design = part.design()?;
                if design.n_samples() != self.n || (rows.n_features() > 0 && rows.is_sparse() != design.is_sparse()) {
                    return Err(PyValueError::new_err(
                        "shards differ in their samples, or some are sparse and some dense",
                    ));
                }
                rows.append(design.rows(&(0..design.n_features()).collect::<Vec<usize>>()));
            }
            if rows.n_features() == features.len() {
                return Ok(rows);
            }
            Err(PyValueError::new_err(format!("{} columns where {} were asked for", rows.n_features(), features.len())))
        })
    }
}

impl GramSource for Elsewhere {
    fn bytes(&self, features: usize) -> u64 {
        if self.sparse {
            // As if all columns were alike.
            let share = features as f64 / self.p as f64;
            return (12.0 * share * self.stored as f64) as u64 + 8 * self.n as u64;
        }
        8 * (self.n as u64).saturating_mul(features as u64)
    }
    fn gram(&self, features: &[usize]) -> Result<GramMatrix, Error> {
        let triangle =
            self.ask(|source| all_numbers(&source.call_method1("gram", (indices(source.py(), features),))?))?;
        GramMatrix::of_triangle(self.n, &triangle)
    }
    fn product(&self, features: &[usize], v: &[f64]) -> Result<Vec<f64>, Error> {
        self.ask(|source| {
            let py = source.py();
            let product =
                all_numbers(&source.call_method1("product", (indices(py, features), PyArray1::from_slice(py, v)))?)?;
            if product.len() == self.n {
                return Ok(product);
            }
            Err(PyValueError::new_err(format!("a product of {} numbers for {} samples", product.len(), self.n)))
        })
    }
}

/// As [`crate::select`] by a method that takes them, on n x p values that are elsewhere, of which
/// this many are stored, with or without zeros; see [`Elsewhere`] for `source`.
///
/// # Errors
/// As [`crate::select`], and what the source raises.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn select_from<'py>(
    py: Python<'py>,
    shape: (usize, usize),
    stored: (usize, bool),
    source: Py<PyAny>,
    codes: PyReadonlyArray1<'py, u32>,
    weights: PyReadonlyArray1<'py, f64>,
    rules: &Bound<'py, PyAny>,
    method: &Bound<'py, PyAny>,
    limits: &Bound<'py, PyAny>,
    listener: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    sheltered(|| {
        let (rules, method, limits): (RuleList, AnyMethod, CallLimits) =
            (settings(rules)?, settings(method)?, settings(limits)?);
        let (codes, weights) = (numbers(&codes)?, numbers(&weights)?);
        let ((n, p), (stored, sparse)) = (shape, stored);
        let source = Elsewhere { n, p, stored, sparse, source, raised: Mutex::new(None) };
        let found = enter(py, &limits, listener, |limits, observer| {
            let (rules, weighted) = (Rules::new(p, rules, &[])?, Some(weights));
            match &method {
                AnyMethod::Fgm(fgm) => {
                    fgm_from(&source, &labels(codes), weighted, &rules, fgm, limits, observer).map(Report::from)
                }
                AnyMethod::L1Svm(l1) => {
                    l1_svm_from(&source, &labels(codes), weighted, &rules, l1, limits, observer).map(Report::from)
                }
                AnyMethod::Rfe(rfe) => {
                    let found = rfe_from(&source, codes, weighted, &rules, rfe, limits, observer)?;
                    Ok(found.report(rfe))
                }
                AnyMethod::InfoGain(filter) => {
                    let mut ask = || source.gains(codes, weights, filter.binning);
                    let selection = information_gain_from(&mut ask, &rules, limits, observer)?;
                    Ok(Report::new(selection, Kernel::Linear))
                }
                other => Err(Error::Data(format!(
                    "columns elsewhere are for fgm, l1-svm, rfe and info-gain, not for {}; have X in memory",
                    other.info().name
                ))),
            }
        });
        // What Python raised goes through as it is.
        if let Some(error) = source.raised.into_inner().expect("nothing panics while it is held") {
            return Err(error);
        }
        let (report, course) = found?;
        answer::selected(py, &report, &course)
    })
}

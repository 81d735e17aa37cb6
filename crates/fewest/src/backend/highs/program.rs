//! A program of HiGHS: made, changed, written to a file.

use std::ffi::{CString, c_void};
use std::path::Path;
use std::ptr::NonNull;

use fewest_highs as ffi;

use super::{Column, Entries, Rows, check, failed, index, text};
use crate::{Error, Memory, Reserved};

/// Bytes that HiGHS takes for an entry of the matrix and for a row or column, while it solves
/// linear programs: what it had taken on 50,000 samples and 50 features.
const ENTRY: u64 = 130;
const LINE: u64 = 400;

/// A program that can be solved again and again while it changes. Not shared between threads.
pub struct Program {
    pub(super) highs: NonNull<c_void>,
    pub(super) columns: usize,
    pub(super) rows: usize,
    pub(super) integers: usize,
    /// Entries of the rows and columns.
    pub(super) entries: usize,
    /// What rows, columns and entries take.
    taken: Reserved,
}

/// An instance of HiGHS, to be handed to another thread.
pub(super) struct Instance(pub(super) NonNull<c_void>);

// SAFETY: HiGHS's instances share nothing, and only one thread at a time has this one.
unsafe impl Send for Instance {}

impl Instance {
    pub(super) fn new() -> Result<Self, Error> {
        // SAFETY: no arguments.
        let (major, minor) = unsafe { (ffi::Highs_versionMajor(), ffi::Highs_versionMinor()) };
        if (major, minor) != ffi::VERSION {
            let (wanted, at) = ffi::VERSION;
            let why =
                format!("the library of HiGHS that was loaded is version {major}.{minor}, but {wanted}.{at} is needed");
            return Err(Error::Solver(why));
        }
        // SAFETY: no arguments.
        let highs = NonNull::new(unsafe { ffi::Highs_create() }).ok_or_else(|| failed("start"))?;
        // SAFETY: `highs` lives.
        let bytes = unsafe { ffi::Highs_getSizeofHighsInt(highs.as_ptr()) };
        if usize::try_from(bytes) != Ok(size_of::<ffi::HighsInt>()) {
            Self(highs).destroy();
            return Err(Error::Solver(format!("the library of HiGHS counts in {bytes} bytes, but 4 are needed")));
        }
        Ok(Self(highs))
    }

    pub(super) fn destroy(self) {
        // SAFETY: made by Highs_create, destroyed once: this consumes it.
        unsafe { ffi::Highs_destroy(self.0.as_ptr()) }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        Instance(self.highs).destroy();
    }
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Program({} columns, {} integer, {} rows)", self.columns, self.integers, self.rows)
    }
}

impl Program {
    /// A program without columns and rows, and without a limit to its memory.
    pub fn new() -> Result<Self, Error> {
        Self::within(&Memory::unlimited())
    }

    /// A program without columns and rows. What is added takes its part of the memory, by estimate.
    pub fn within(memory: &Memory) -> Result<Self, Error> {
        let taken = memory.take(0).expect("nothing is always left");
        let program = Self { highs: Instance::new()?.0, columns: 0, rows: 0, integers: 0, entries: 0, taken };
        program.set_flag("output_flag", false)?;
        program.set_count("threads", 1)?;
        program.set_count("random_seed", 0)?;
        program.set_text("parallel", "off")?;
        Ok(program)
    }

    /// Takes the memory of these numbers of rows or columns and of entries.
    fn grow(&mut self, lines: usize, entries: usize) -> Result<(), Error> {
        let more = LINE * lines as u64 + ENTRY * entries as u64;
        if self.taken.grow(more) {
            return Ok(());
        }
        let what = format!("the linear program of {} rows and {} columns", self.rows + lines, self.columns);
        Err(self.taken.refused(more, what, "select among fewer features, or use fewer samples"))
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Adds a column that is in no row yet; returns its number, counted from 0.
    ///
    /// # Errors
    /// [`Error::Solver`] for a cost or bound that is no number.
    pub fn add_column(&mut self, column: Column) -> Result<usize, Error> {
        self.add_columns(&[column])
    }

    /// Adds columns that are in no row yet; returns the number of the first, counted from 0.
    ///
    /// # Errors
    /// [`Error::Solver`] for a cost or bound that is no number.
    pub fn add_columns(&mut self, columns: &[Column]) -> Result<usize, Error> {
        let mut entries = Entries::default();
        for _ in columns {
            entries.push(&[]);
        }
        self.add_filled_columns(columns, &entries)
    }

    /// Adds columns with their entries in the rows there are, (row, value) for each column; returns
    /// the number of the first, counted from 0.
    ///
    /// # Errors
    /// [`Error::Solver`] for a cost, bound or value that is no number, a row that does not exist, a
    /// value up to [`SMALLEST`](super::SMALLEST) in size.
    pub fn add_filled_columns(&mut self, columns: &[Column], entries: &Entries) -> Result<usize, Error> {
        assert_eq!(columns.len(), entries.starts.len(), "entries for each column");
        entries.check()?;
        self.grow(columns.len(), entries.at.len())?;
        let at = self.columns;
        let of = |part: fn(&Column) -> f64| columns.iter().map(part).collect::<Vec<f64>>();
        let (cost, lower, upper) = (of(|c| c.cost), of(|c| c.lower), of(|c| c.upper));
        // SAFETY: the arrays have the lengths given; HiGHS copies them and checks the row numbers.
        let done = unsafe {
            ffi::Highs_addCols(
                self.highs.as_ptr(),
                index(columns.len()),
                cost.as_ptr(),
                lower.as_ptr(),
                upper.as_ptr(),
                index(entries.at.len()),
                entries.starts.as_ptr(),
                entries.at.as_ptr(),
                entries.values.as_ptr(),
            )
        };
        check(done, "add columns")?;
        self.columns += columns.len();
        self.entries += entries.at.len();
        // One call for each run of integer columns: HiGHS copies all of its options in each.
        let mut first = 0;
        for run in columns.chunk_by(|a, b| a.integer == b.integer) {
            let (from, to) = (at + first, at + first + run.len() - 1);
            first += run.len();
            if run[0].integer {
                let kinds = vec![ffi::kHighsVarTypeInteger; run.len()];
                // SAFETY: the columns exist, and there is a kind for each.
                let done = unsafe {
                    ffi::Highs_changeColsIntegralityByRange(self.highs.as_ptr(), index(from), index(to), kinds.as_ptr())
                };
                check(done, "make columns integer")?;
                self.integers += run.len();
            }
        }
        Ok(at)
    }

    /// Adds the row `lower <= sum coefficient x_column <= upper`, each column named at most once;
    /// returns its number, counted from 0. Entries of exactly 0 are left out.
    ///
    /// # Errors
    /// [`Error::Solver`] for a coefficient up to [`SMALLEST`](super::SMALLEST) in size, a column
    /// that does not exist or is named twice.
    pub fn add_row(&mut self, coefficients: &[(usize, f64)], lower: f64, upper: f64) -> Result<usize, Error> {
        let mut rows = Rows::default();
        rows.push(coefficients, lower, upper);
        self.add_rows(&rows)
    }

    /// Adds rows; returns the number of the first, counted from 0.
    pub fn add_rows(&mut self, rows: &Rows) -> Result<usize, Error> {
        rows.entries.check()?;
        self.grow(rows.lower.len(), rows.entries.at.len())?;
        let at = self.rows;
        // SAFETY: the arrays have the lengths given; HiGHS copies them and checks the column
        // numbers.
        let done = unsafe {
            ffi::Highs_addRows(
                self.highs.as_ptr(),
                index(rows.lower.len()),
                rows.lower.as_ptr(),
                rows.upper.as_ptr(),
                index(rows.entries.at.len()),
                rows.entries.starts.as_ptr(),
                rows.entries.at.as_ptr(),
                rows.entries.values.as_ptr(),
            )
        };
        check(done, "add rows")?;
        self.rows += rows.lower.len();
        self.entries += rows.entries.at.len();
        Ok(at)
    }

    /// Gives a column a name, for [`Program::write_model`]. Without spaces.
    pub fn name_column(&mut self, column: usize, name: &str) -> Result<(), Error> {
        let name = text(name);
        // SAFETY: `name` ends in a zero byte; HiGHS checks the number of the column.
        let done = unsafe { ffi::Highs_passColName(self.highs.as_ptr(), index(column), name.as_ptr()) };
        check(done, "name a column")
    }

    /// A constant that every objective and bound contains.
    ///
    /// # Errors
    /// [`Error::Solver`] when it is no number.
    pub fn set_offset(&mut self, offset: f64) -> Result<(), Error> {
        // SAFETY: no pointers but `highs`.
        check(unsafe { ffi::Highs_changeObjectiveOffset(self.highs.as_ptr(), offset) }, "take an offset")
    }

    /// Changes the cost of a column.
    ///
    /// # Errors
    /// [`Error::Solver`] when there is no such column or the cost is no number.
    pub fn set_cost(&mut self, column: usize, cost: f64) -> Result<(), Error> {
        // SAFETY: HiGHS checks the number of the column.
        check(unsafe { ffi::Highs_changeColCost(self.highs.as_ptr(), index(column), cost) }, "change a cost")
    }

    /// Changes the costs of columns, (column, cost) each.
    ///
    /// # Errors
    /// [`Error::Solver`] when there is no such column or a cost is no number.
    pub fn set_costs(&mut self, costs: &[(usize, f64)]) -> Result<(), Error> {
        let (columns, costs): (Vec<_>, Vec<f64>) = costs.iter().map(|&(k, cost)| (index(k), cost)).unzip();
        let (highs, count) = (self.highs.as_ptr(), index(costs.len()));
        // SAFETY: both arrays have the length given; HiGHS checks the numbers of the columns.
        let done = unsafe { ffi::Highs_changeColsCostBySet(highs, count, columns.as_ptr(), costs.as_ptr()) };
        check(done, "change costs")
    }

    /// Changes the bounds of a column.
    ///
    /// # Errors
    /// [`Error::Solver`] when there is no such column or a bound is no number.
    pub fn set_bounds(&mut self, column: usize, lower: f64, upper: f64) -> Result<(), Error> {
        // SAFETY: HiGHS checks the number of the column.
        let done = unsafe { ffi::Highs_changeColBounds(self.highs.as_ptr(), index(column), lower, upper) };
        check(done, "change the bounds of a column")
    }

    /// Changes the sides of a row.
    ///
    /// # Errors
    /// [`Error::Solver`] when there is no such row or a side is no number.
    pub fn set_sides(&mut self, row: usize, lower: f64, upper: f64) -> Result<(), Error> {
        // SAFETY: HiGHS checks the number of the row.
        let done = unsafe { ffi::Highs_changeRowBounds(self.highs.as_ptr(), index(row), lower, upper) };
        check(done, "change the sides of a row")
    }

    /// A point, one value per column, for the next mixed-integer solve to start from; of no use
    /// when it breaks a row.
    pub fn set_start(&mut self, values: &[f64]) -> Result<(), Error> {
        assert_eq!(values.len(), self.columns, "one value per column");
        let none = std::ptr::null();
        // SAFETY: `values` has one entry per column; null means "not given".
        let done = unsafe { ffi::Highs_setSolution(self.highs.as_ptr(), values.as_ptr(), none, none, none) };
        check(done, "take a starting point")
    }

    /// Writes the program to a file that other solvers read; the format follows the ending, `.mps`
    /// or `.lp`. The one place where the library writes a file: HiGHS does.
    #[expect(
        clippy::disallowed_types,
        clippy::disallowed_methods,
        reason = "see above: the file is HiGHS's, this only checks whether it can be written"
    )]
    pub fn write_model(&self, path: &Path) -> Result<(), Error> {
        let refused = || Error::Solver(format!("HiGHS could not write the model to {}", path.display()));
        if !path.extension().is_some_and(|e| e == "mps" || e == "lp") {
            return Err(Error::Solver(format!("the model file {} must end in .mps or .lp", path.display())));
        }
        let name = path.to_str().and_then(|name| CString::new(name).ok()).ok_or_else(refused)?;
        // HiGHS 1.15 crashes on an .lp file that it cannot open.
        std::fs::File::create(path).map_err(|_| refused())?;
        // SAFETY: `name` ends in a zero byte.
        let done = unsafe { ffi::Highs_writeModel(self.highs.as_ptr(), name.as_ptr()) };
        if done == ffi::kHighsStatusError { Err(refused()) } else { Ok(()) }
    }

    pub(super) fn set_flag(&self, option: &str, value: bool) -> Result<(), Error> {
        let name = text(option);
        // SAFETY: `name` ends in a zero byte. So in the functions below.
        let done =
            unsafe { ffi::Highs_setBoolOptionValue(self.highs.as_ptr(), name.as_ptr(), ffi::HighsInt::from(value)) };
        check(done, option)
    }

    pub(super) fn set_count(&self, option: &str, value: ffi::HighsInt) -> Result<(), Error> {
        let name = text(option);
        // SAFETY: as above.
        check(unsafe { ffi::Highs_setIntOptionValue(self.highs.as_ptr(), name.as_ptr(), value) }, option)
    }

    pub(super) fn set_number(&self, option: &str, value: f64) -> Result<(), Error> {
        let name = text(option);
        // SAFETY: as above.
        check(unsafe { ffi::Highs_setDoubleOptionValue(self.highs.as_ptr(), name.as_ptr(), value) }, option)
    }

    pub(super) fn set_text(&self, option: &str, value: &str) -> Result<(), Error> {
        let (name, value) = (text(option), text(value));
        // SAFETY: as above.
        let done = unsafe { ffi::Highs_setStringOptionValue(self.highs.as_ptr(), name.as_ptr(), value.as_ptr()) };
        check(done, option)
    }
}

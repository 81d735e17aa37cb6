//! The tests of readers and writers, in one program: each program more is linked again. What
//! measures the memory of the whole process is in `memory`.

#[path = "../common/mod.rs"]
mod common;

mod agreement;
mod bad_input;
mod cell_files;
mod cells;
mod centred;
mod columns;
mod features_in_rows;
mod formats;
mod generate;
mod hostile;
mod imputation;
mod meaning;
mod normalize;
mod same_table;
mod scaling;
mod spooled;
mod sums;
mod text_forms;

//! What `fewest` calls of the C interface of HiGHS 1.15 (MIT licence), written by hand, under
//! HiGHS's own names: `highs_c_api.h` documents them, `tests/header.rs` compares every line.
//!
//! The library is a shared one that `build.rs` finds, or, with the feature `build`, built from
//! source by the crate highs-sys. The caller checks that it is of this [`VERSION`] first:
//! another one's structs may have other fields.

#![expect(unsafe_code, reason = "declarations of a C library")]
#![allow(missing_docs, non_upper_case_globals, reason = "HiGHS's names, documented there")]

use std::ffi::{c_char, c_double, c_int, c_void};

#[cfg(feature = "build")]
use highs_sys as _;

pub type HighsInt = c_int;

/// Major and minor version of what is declared here.
pub const VERSION: (HighsInt, HighsInt) = (1, 15);

pub const kHighsStatusError: HighsInt = -1;
pub const kHighsVarTypeInteger: HighsInt = 1;
pub const kHighsSolutionStatusFeasible: HighsInt = 2;
pub const kHighsModelStatusModelEmpty: HighsInt = 6;
pub const kHighsModelStatusOptimal: HighsInt = 7;
pub const kHighsModelStatusInfeasible: HighsInt = 8;
pub const kHighsModelStatusUnboundedOrInfeasible: HighsInt = 9;
pub const kHighsModelStatusUnbounded: HighsInt = 10;
pub const kHighsModelStatusTimeLimit: HighsInt = 13;
pub const kHighsModelStatusUnknown: HighsInt = 15;
pub const kHighsModelStatusSolutionLimit: HighsInt = 16;
pub const kHighsModelStatusInterrupt: HighsInt = 17;
pub const kHighsCallbackSimplexInterrupt: HighsInt = 1;
pub const kHighsCallbackIpmInterrupt: HighsInt = 2;
pub const kHighsCallbackMipImprovingSolution: HighsInt = 4;
pub const kHighsCallbackMipInterrupt: HighsInt = 6;

#[repr(C)]
#[derive(Debug)]
pub struct HighsCallbackDataOut {
    pub cbdata: *mut c_void,
    pub log_type: c_int,
    pub running_time: c_double,
    pub simplex_iteration_count: HighsInt,
    pub ipm_iteration_count: HighsInt,
    pub pdlp_iteration_count: HighsInt,
    pub objective_function_value: c_double,
    pub mip_node_count: i64,
    pub mip_total_lp_iterations: i64,
    pub mip_primal_bound: c_double,
    pub mip_dual_bound: c_double,
    pub mip_gap: c_double,
    pub mip_solution: *mut c_double,
    pub mip_solution_size: HighsInt,
    pub cutpool_num_col: HighsInt,
    pub cutpool_num_cut: HighsInt,
    pub cutpool_num_nz: HighsInt,
    pub cutpool_start: *mut HighsInt,
    pub cutpool_index: *mut HighsInt,
    pub cutpool_value: *mut c_double,
    pub cutpool_lower: *mut c_double,
    pub cutpool_upper: *mut c_double,
    pub external_solution_query_origin: HighsInt,
}

#[repr(C)]
#[derive(Debug)]
pub struct HighsCallbackDataIn {
    pub user_interrupt: c_int,
    pub user_solution: *mut c_double,
    pub cbdata: *mut c_void,
    pub user_has_solution: c_int,
    pub user_solution_size: HighsInt,
}

pub type HighsCCallbackType = Option<
    unsafe extern "C" fn(c_int, *const c_char, *const HighsCallbackDataOut, *mut HighsCallbackDataIn, *mut c_void),
>;

unsafe extern "C" {
    pub fn Highs_create() -> *mut c_void;
    pub fn Highs_destroy(highs: *mut c_void);
    pub fn Highs_versionMajor() -> HighsInt;
    pub fn Highs_versionMinor() -> HighsInt;
    pub fn Highs_getSizeofHighsInt(highs: *const c_void) -> HighsInt;

    pub fn Highs_addCols(
        highs: *mut c_void,
        num_new_col: HighsInt,
        costs: *const c_double,
        lower: *const c_double,
        upper: *const c_double,
        num_new_nz: HighsInt,
        starts: *const HighsInt,
        index: *const HighsInt,
        value: *const c_double,
    ) -> HighsInt;
    pub fn Highs_addRows(
        highs: *mut c_void,
        num_new_row: HighsInt,
        lower: *const c_double,
        upper: *const c_double,
        num_new_nz: HighsInt,
        starts: *const HighsInt,
        index: *const HighsInt,
        value: *const c_double,
    ) -> HighsInt;
    pub fn Highs_changeColsIntegralityByRange(
        highs: *mut c_void,
        from_col: HighsInt,
        to_col: HighsInt,
        integrality: *const HighsInt,
    ) -> HighsInt;
    pub fn Highs_passColName(highs: *const c_void, col: HighsInt, name: *const c_char) -> HighsInt;
    pub fn Highs_changeObjectiveOffset(highs: *mut c_void, offset: c_double) -> HighsInt;
    pub fn Highs_changeColCost(highs: *mut c_void, col: HighsInt, cost: c_double) -> HighsInt;
    pub fn Highs_changeColsCostBySet(
        highs: *mut c_void,
        num_set_entries: HighsInt,
        set: *const HighsInt,
        cost: *const c_double,
    ) -> HighsInt;
    pub fn Highs_changeColBounds(highs: *mut c_void, col: HighsInt, lower: c_double, upper: c_double) -> HighsInt;
    pub fn Highs_changeRowBounds(highs: *mut c_void, row: HighsInt, lower: c_double, upper: c_double) -> HighsInt;
    pub fn Highs_setSolution(
        highs: *mut c_void,
        col_value: *const c_double,
        row_value: *const c_double,
        col_dual: *const c_double,
        row_dual: *const c_double,
    ) -> HighsInt;
    pub fn Highs_setBasis(highs: *mut c_void, col_status: *const HighsInt, row_status: *const HighsInt) -> HighsInt;
    pub fn Highs_writeModel(highs: *mut c_void, filename: *const c_char) -> HighsInt;

    pub fn Highs_setBoolOptionValue(highs: *mut c_void, option: *const c_char, value: HighsInt) -> HighsInt;
    pub fn Highs_setIntOptionValue(highs: *mut c_void, option: *const c_char, value: HighsInt) -> HighsInt;
    pub fn Highs_setDoubleOptionValue(highs: *mut c_void, option: *const c_char, value: c_double) -> HighsInt;
    pub fn Highs_setStringOptionValue(highs: *mut c_void, option: *const c_char, value: *const c_char) -> HighsInt;

    pub fn Highs_zeroAllClocks(highs: *const c_void) -> HighsInt;
    pub fn Highs_setCallback(
        highs: *mut c_void,
        user_callback: HighsCCallbackType,
        user_callback_data: *mut c_void,
    ) -> HighsInt;
    pub fn Highs_startCallback(highs: *mut c_void, callback_type: HighsInt) -> HighsInt;
    pub fn Highs_stopCallback(highs: *mut c_void, callback_type: HighsInt) -> HighsInt;
    pub fn Highs_run(highs: *mut c_void) -> HighsInt;
    pub fn Highs_clearSolver(highs: *mut c_void) -> HighsInt;

    pub fn Highs_getModelStatus(highs: *const c_void) -> HighsInt;
    pub fn Highs_getSolution(
        highs: *const c_void,
        col_value: *mut c_double,
        col_dual: *mut c_double,
        row_value: *mut c_double,
        row_dual: *mut c_double,
    ) -> HighsInt;
    pub fn Highs_getBasis(highs: *const c_void, col_status: *mut HighsInt, row_status: *mut HighsInt) -> HighsInt;
    pub fn Highs_getObjectiveValue(highs: *const c_void) -> c_double;
    pub fn Highs_getIntInfoValue(highs: *const c_void, info: *const c_char, value: *mut HighsInt) -> HighsInt;
    pub fn Highs_getDoubleInfoValue(highs: *const c_void, info: *const c_char, value: *mut c_double) -> HighsInt;
}

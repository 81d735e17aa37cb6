//! The tests of the command, in one program: each program more is linked again. `report_browser` is
//! its own, because it needs all cores.

#[path = "../common/mod.rs"]
mod common;

mod auto_cost;
mod bad_input;
mod certify;
mod commands;
mod doors;
mod elimination;
mod evaluate;
mod exact;
mod exit_codes;
mod fgm;
mod fit_categories;
mod fold_rules;
mod forms;
mod fuzz_files;
mod gbd;
mod generate;
mod groups;
mod hard_memory;
mod hints;
mod interrupt;
mod knockoffs;
mod kta;
mod kta_kernels;
mod l1;
mod labels;
mod limits;
mod markers;
mod milo;
mod missing;
mod normalize;
mod options;
mod path_folds;
mod peer_models;
mod penalty;
mod positive;
mod predict;
mod proof_option;
mod read_again;
mod report;
mod resume;
mod rule_variables;
mod sample_weights;
mod second_checker;
mod several;
mod sparse_standard;
mod stability;
mod study;
mod two_costs;
mod verify;
mod verify_question;
mod weights;
mod within;

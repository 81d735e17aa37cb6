//! The tests of the library from outside, in one program: each program more is linked again.

mod certified_list;
mod eb_rfe;
mod exact;
mod fgm;
mod kta;
mod kta_kernels;
mod l1_family;
mod l1_svm_squared;
mod metamorphic;
mod methods;
mod path;
mod penalty;
mod proof;
mod proof_file;
mod proof_mutation;
mod resume;
mod rfe;
mod rfe_kernels;
mod rfe_multiple;
mod rfe_shrinking;
mod rfe_splits;
mod rules;
mod several;
mod several_fgm;
mod source;
mod weights;
mod weights_fgm;
#[cfg(feature = "highs")]
mod weights_l1;
mod within;

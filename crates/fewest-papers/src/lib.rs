//! The programs of papers that `fewest` is compared with: each as its paper states it, with a bound
//! where it has one, beside methods that find the same or better in less time.
//!
//! | program | paper |
//! | --- | --- |
//! | `gbd` | generalised Benders decomposition of the exact problem (Aytug 2015) |
//! | `milo-k`, `rmilo-k` | kernel-target alignment as a mixed-integer program (Tamura et al. 2022) |
//! | `fsv` | feature selection via concave minimisation (Bradley and Mangasarian 1998) |
//! | `milp1`, `milp2` | mixed-integer programs of the linear SVM (Maldonado et al. 2014) |
//! | `qcqp-ssvm`, `nmmkl` | cone programs (the comparison of Tan et al. 2010) |
//! | `bit-flip`, `attribute-flip` | local searches by cross-validation (Krupka 2016) |
//!
//! [`AnyMethod`] is any of these or of the methods of `fewest`.

#[cfg(feature = "cone")]
pub mod conic;
pub mod flip;
pub mod flips;
#[cfg(feature = "highs")]
pub mod fsv;
#[cfg(feature = "highs")]
pub mod gbd;
#[cfg(feature = "highs")]
pub mod milo_k;
#[cfg(feature = "highs")]
pub mod milp;
#[cfg(feature = "highs")]
pub mod milp1;
#[cfg(feature = "highs")]
pub mod milp2;
#[cfg(feature = "highs")]
pub mod rmilo_k;

fewest::methods_and! {
    #[cfg(feature = "highs")]
    Gbd(gbd::GbdSettings),
    #[cfg(feature = "highs")]
    MiloK(milo_k::MiloKSettings),
    #[cfg(feature = "highs")]
    RmiloK(rmilo_k::RmiloKSettings),
    #[cfg(feature = "highs")]
    Fsv(fsv::FsvSettings),
    #[cfg(feature = "highs")]
    Milp1(milp1::Milp1Settings),
    #[cfg(feature = "highs")]
    Milp2(milp2::Milp2Settings),
    #[cfg(feature = "cone")]
    QcqpSsvm(conic::QcqpSsvmSettings),
    #[cfg(feature = "cone")]
    Nmmkl(conic::NmmklSettings),
    BitFlip(flips::BitFlipSettings),
    AttributeFlip(flips::AttributeFlipSettings),
}

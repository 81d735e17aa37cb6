//! Lists of methods: the enum that is any of them ([`methods!`](crate::methods)), and what it does with
//! each: refuse what the method does not take, and recentre features that are far from 0.

use super::path::SizeReport;
use super::{Info, Method, Report};
use crate::design::Recentred;
use crate::{Error, Limits, Observer, RuleList, Rules, Samples, Setting};

/// The settings of a method, and its gap where it has a bound.
pub fn settings_of<M: Method>() -> Vec<Setting> {
    let mut all = Setting::all::<M>();
    if M::INFO.bounds {
        let text =
            "Proven best means that at most this share of what features can gain is left open, and of the objective.";
        let default = Limits::default().gap_rel.into();
        all.push(Setting { name: "gap", default, range: Some("a finite number, 0 or more"), text: text.to_owned() });
    }
    all
}

/// A method of a list, whichever it is: what those see of it that take any.
pub trait Selector: std::fmt::Debug + Send + Sync {
    /// What is to be known of the method.
    fn info(&self) -> Info;

    /// See [`Method::select`]; tasks and bounds on weights are refused where the method does not
    /// take them.
    fn select(
        &self,
        samples: &Samples<'_>,
        rules: &Rules,
        limits: Limits,
        observer: &mut dyn Observer,
    ) -> Result<Report, Error>;

    /// See [`Method::path`]; refuses as [`Selector::select`].
    fn path(
        &self,
        samples: &Samples<'_>,
        rules: &Rules,
        sizes: &[usize],
        limits: &Limits,
        observer: &mut dyn Observer,
    ) -> Result<Vec<SizeReport>, Error>;
}

/// Makes the enum of a list of methods, which dispatches to them.
#[doc(hidden)]
#[macro_export]
macro_rules! methods {
    ($($(#[$gate:meta])* $name:ident($settings:ty)),* $(,)?) => {
        /// Any method with its settings. In JSON: the settings, and the method's name as `name`.
        #[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
        #[serde(tag = "name", rename_all = "kebab-case")]
        pub enum AnyMethod {
            $($(#[$gate])* #[doc = concat!("See [`", stringify!($settings), "`].")] $name(Box<$settings>)),*
        }

        $($(#[$gate])* impl From<$settings> for AnyMethod {
            fn from(settings: $settings) -> Self {
                Self::$name(Box::new(settings))
            }
        })*

        impl AnyMethod {
            /// Facts of each method.
            pub const INFOS: &[$crate::Info] = &[$($(#[$gate])* <$settings as $crate::Method>::INFO),*];

            /// Names of the methods that obey bounds on weights.
            pub fn bounding() -> Vec<&'static str> {
                use $crate::Method;
                let all = [$($(#[$gate])* (<$settings>::INFO.name, <$settings>::WEIGHT_BOUNDS)),*];
                all.into_iter().filter(|method| method.1).map(|method| method.0).collect()
            }

            /// Names of the methods that take tasks.
            pub fn tasking() -> Vec<&'static str> {
                use $crate::Method;
                let all = [$($(#[$gate])* (<$settings>::INFO.name, <$settings>::TASKS)),*];
                all.into_iter().filter(|method| method.1).map(|method| method.0).collect()
            }

            /// The settings of each method, and the gap at which a search ends, by the method's name.
            pub fn settings() -> Vec<(&'static str, Vec<$crate::Setting>)> {
                vec![$($(#[$gate])* (<$settings as $crate::Method>::INFO.name, $crate::method::list::settings_of::<$settings>())),*]
            }

            /// Refuses rules that bound weights where the method of this name does not obey them.
            ///
            /// # Errors
            /// [`Error::Rules`](fewest_svm::Error::Rules) with the methods that do.
            pub fn check_weight_bounds(name: &str, rules: &$crate::RuleList) -> Result<(), $crate::Error> {
                $crate::method::list::check_weight_bounds(name, rules, &Self::bounding())
            }

            /// Refuses tasks where the method of this name does not take them.
            ///
            /// # Errors
            /// [`Error::Data`](fewest_svm::Error::Data) with the methods that do.
            pub fn check_tasks(name: &str) -> Result<(), $crate::Error> {
                $crate::method::list::check_tasks(name, &Self::tasking())
            }

            /// Facts of the method.
            pub fn info(&self) -> $crate::Info {
                match self { $($(#[$gate])* Self::$name(_) => <$settings as $crate::Method>::INFO),* }
            }

            /// See [`Method::check`]($crate::Method::check).
            pub fn check(&self, p: usize) -> Result<(), $crate::Error> {
                match self { $($(#[$gate])* Self::$name(method) => $crate::Method::check(method.as_ref(), p)),* }
            }

            fn check_samples(
                &self,
                samples: &$crate::Samples<'_>,
                rules: &$crate::Rules,
            ) -> Result<(), $crate::Error> {
                let name = self.info().name;
                samples.tasks().map_or(Ok(()), |_| Self::check_tasks(name))?;
                Self::check_weight_bounds(name, rules.list())
            }

            /// See [`Method::select`]($crate::Method::select).
            pub fn select(
                &self,
                samples: &$crate::Samples<'_>,
                rules: &$crate::Rules,
                limits: $crate::Limits,
                observer: &mut dyn $crate::Observer,
            ) -> Result<$crate::Report, $crate::Error> {
                self.check_samples(samples, rules)?;
                match self { $($(#[$gate])* Self::$name(method) => {
                    $crate::method::list::select(method.as_ref(), samples, rules, limits, observer)
                }),* }
            }

            /// See [`Method::path`]($crate::Method::path).
            pub fn path(
                &self,
                samples: &$crate::Samples<'_>,
                rules: &$crate::Rules,
                sizes: &[usize],
                limits: &$crate::Limits,
                observer: &mut dyn $crate::Observer,
            ) -> Result<Vec<$crate::method::path::SizeReport>, $crate::Error> {
                self.check_samples(samples, rules)?;
                match self { $($(#[$gate])* Self::$name(method) => {
                    $crate::method::list::path(method.as_ref(), samples, rules, sizes, limits, observer)
                }),* }
            }

            /// See [`Method::finds_size`]($crate::Method::finds_size).
            pub fn finds_size(&self) -> bool {
                match self { $($(#[$gate])* Self::$name(method) => $crate::Method::finds_size(method.as_ref())),* }
            }

            /// See [`Method::penalty`]($crate::Method::penalty).
            pub fn penalty(&self) -> &[f64] {
                match self { $($(#[$gate])* Self::$name(method) => $crate::Method::penalty(method.as_ref())),* }
            }

            /// See [`Method::write_program`]($crate::Method::write_program).
            pub fn write_program(
                &self,
                samples: &$crate::Samples<'_>,
                rules: &$crate::Rules,
                path: &std::path::Path,
            ) -> Result<(), $crate::Error> {
                self.check_samples(samples, rules)?;
                match self { $($(#[$gate])* Self::$name(method) => {
                    $crate::Method::write_program(method.as_ref(), samples, rules, path)
                }),* }
            }
        }

        impl $crate::method::Selector for AnyMethod {
            fn info(&self) -> $crate::Info {
                self.info()
            }

            fn select(
                &self,
                samples: &$crate::Samples<'_>,
                rules: &$crate::Rules,
                limits: $crate::Limits,
                observer: &mut dyn $crate::Observer,
            ) -> Result<$crate::Report, $crate::Error> {
                self.select(samples, rules, limits, observer)
            }

            fn path(
                &self,
                samples: &$crate::Samples<'_>,
                rules: &$crate::Rules,
                sizes: &[usize],
                limits: &$crate::Limits,
                observer: &mut dyn $crate::Observer,
            ) -> Result<Vec<$crate::method::path::SizeReport>, $crate::Error> {
                self.path(samples, rules, sizes, limits, observer)
            }
        }
    };
}

/// Hands the methods of this crate, and others behind them, to [`methods!`]. The order is that of
/// `fewest methods`.
#[doc(hidden)]
#[macro_export]
macro_rules! methods_and {
    ($($more:tt)*) => {
        $crate::methods! {
            Exact($crate::method::exact::ExactSettings),
            Kta($crate::method::kta::KtaSettings),
            Rfe($crate::method::rfe::RfeSettings),
            L1Svm($crate::method::l1_svm::L1Settings),
            Fgm($crate::method::fgm::FgmSettings),
            #[cfg(feature = "highs")]
            Mbp($crate::method::mbp::MbpSettings),
            #[cfg(feature = "highs")]
            Lagrangian($crate::method::lagrangian::LagrangianSettings),
            EbRfe($crate::method::eb_rfe::EbRfeSettings),
            InfoGain($crate::method::info_gain::InfoGainSettings),
            $($more)*
        }
    };
}

/// Refuses rules that bound weights where the method of this name is none of those that obey them.
///
/// # Errors
/// [`Error::Rules`] with the methods that do.
pub fn check_weight_bounds(name: &str, rules: &RuleList, bounding: &[&str]) -> Result<(), Error> {
    if rules.weights.is_empty() || bounding.contains(&name) {
        return Ok(());
    }
    Err(Error::Rules(format!(
        "{name} does not obey signs of weights or bounds on them; leave them out, or use a method that does: {}",
        bounding.join(", ")
    )))
}

/// Refuses tasks where the method of this name is none of those that take them.
///
/// # Errors
/// [`Error::Data`] with the methods that do.
pub fn check_tasks(name: &str, tasking: &[&str]) -> Result<(), Error> {
    if tasking.contains(&name) {
        return Ok(());
    }
    Err(Error::Data(format!(
        "{name} selects for one task; leave tasks out, or use a method that takes several: {}",
        tasking.join(", ")
    )))
}

/// [`Method::select`], on recentred features where they are far from 0.
pub fn select<M: Method>(
    method: &M,
    samples: &Samples<'_>,
    rules: &Rules,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<Report, Error> {
    let Some(recentred) = recentred(method, samples, observer) else {
        return method.select(samples, rules, limits, observer);
    };
    Ok(method.select(&samples.of(&recentred), rules, limits, observer)?.restored(&recentred))
}

/// [`Method::path`], on recentred features where they are far from 0.
pub fn path<M: Method>(
    method: &M,
    samples: &Samples<'_>,
    rules: &Rules,
    sizes: &[usize],
    limits: &Limits,
    observer: &mut dyn Observer,
) -> Result<Vec<SizeReport>, Error> {
    let Some(recentred) = recentred(method, samples, observer) else {
        return method.path(samples, rules, sizes, limits, observer);
    };
    let found = method.path(&samples.of(&recentred), rules, sizes, limits, observer)?;
    let restored = |size: SizeReport| SizeReport { report: size.report.restored(&recentred), ..size };
    Ok(found.into_iter().map(restored).collect())
}

/// The data less the middles of the features far from 0, where that changes nothing but a bias. A
/// proof speaks of the data as they are.
fn recentred<'a, M: Method>(method: &M, samples: &Samples<'a>, observer: &mut dyn Observer) -> Option<Recentred<'a>> {
    Recentred::all(samples.design(), method.absorbs_constants() && observer.proof().is_none())
}

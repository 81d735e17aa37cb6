//! Watches a run: better subsets, a moving bound and progress, and ends it after a while. The run
//! then returns the best subset so far, with the status `cancelled`.
//!
//!     cargo run --release -p fewest --example observer

#![expect(clippy::print_stdout, reason = "an example shows what it sees")]

use std::ops::ControlFlow;
use std::time::Duration;

use fewest::method::exact::{ExactSettings, exact};
use fewest::{DenseDesign, Error, Event, Limits, Observer, Problem, Rules, Status};

/// An observer that prints, and ends the run after some time. A closure
/// `|event: &Event<'_>| -> ControlFlow<()>` is one, too.
struct Watch {
    patience: Duration,
    incumbents: usize,
}

impl Observer for Watch {
    fn on(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        let elapsed = match event {
            Event::Incumbent { subset, objective, gap, elapsed } => {
                self.incumbents += 1;
                let features: Vec<usize> = subset.iter().collect();
                println!("{elapsed:.2?} objective {objective:.4} with {features:?}, gap {gap:.3?}");
                *elapsed
            }
            Event::Bound { bound, elapsed, .. } => {
                println!("{elapsed:.2?} bound {bound:.4}");
                *elapsed
            }
            Event::Progress { elapsed, .. } | Event::Answered { elapsed, .. } => *elapsed,
            _ => return ControlFlow::Continue(()), // an event without a time
        };
        if elapsed < self.patience { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

fn main() -> Result<(), Error> {
    // Labels that no feature explains: a proof takes long.
    let (n, p) = (200, 100);
    let labels: Vec<f64> = (0..n).map(|i| if (i * i / 7) % 2 == 0 { -1.0 } else { 1.0 }).collect();
    let columns: Vec<f64> = (0..n * p).map(|at| (1.3 * at as f64 + 0.01 * (at * at % 977) as f64).sin()).collect();
    let design = DenseDesign::new(n, p, columns)?;
    let problem = Problem::new(&design, &labels, None)?;
    let rules = Rules::at_most_features(p, 10)?;

    let mut watch = Watch { patience: Duration::from_secs(1), incumbents: 0 };
    let found = exact(&problem, &rules, &ExactSettings::default(), Limits::default(), &mut watch)?.outcome;
    assert_eq!(found.status, Status::Cancelled);
    println!(
        "{} after {:.1?}: {} subsets were the best for a while",
        found.status.name(),
        found.elapsed,
        watch.incumbents
    );
    Ok(())
}

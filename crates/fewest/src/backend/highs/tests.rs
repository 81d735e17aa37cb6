use std::time::Duration;

use super::{Column, Effort, Program, SolveStatus};
use crate::{Clock, Error};

const FREE: f64 = f64::INFINITY;

/// Coefficients, lower and upper side.
type Row<'a> = (&'a [(usize, f64)], f64, f64);

fn program(columns: &[(f64, f64, f64, bool)], rows: &[Row<'_>]) -> Program {
    let mut program = Program::new().unwrap();
    for &(cost, lower, upper, integer) in columns {
        program.add_column(Column { cost, lower, upper, integer }).unwrap();
    }
    for &(coefficients, lower, upper) in rows {
        program.add_row(coefficients, lower, upper).unwrap();
    }
    program
}

fn close(found: &[f64], want: &[f64]) {
    assert_eq!(found.len(), want.len());
    assert!(found.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-7), "{found:?}, but should be {want:?}");
}

/// Two products: 3 and 5 of gain, at most 4 of the first, 6 of the second, 18 of 3 x + 2 y (Hillier
/// and Lieberman's example).
fn factory(integer: bool) -> Program {
    let columns = [(-3.0, 0.0, 4.0, integer), (-5.0, 0.0, FREE, integer)];
    program(&columns, &[(&[(1, 2.0)], -FREE, 12.0), (&[(0, 3.0), (1, 2.0)], -FREE, 18.0)])
}

#[test]
fn a_linear_program_gives_its_optimum_its_duals_and_its_reduced_costs() {
    let mut lp = factory(false);
    let found = lp.solve(&Effort::default(), &Clock::unlimited()).unwrap();
    assert_eq!(found.status, SolveStatus::Optimal);
    close(&found.values, &[2.0, 6.0]);
    close(&[found.objective, found.bound], &[-36.0, -36.0]);
    close(&found.row_duals, &[-1.5, -1.0]);
    close(&found.reduced_costs, &[0.0, 0.0]);
}

#[test]
fn what_changes_between_solves_counts() {
    let mut lp = factory(false);
    let ask = |lp: &mut Program| lp.solve(&Effort::default(), &Clock::unlimited()).unwrap();
    ask(&mut lp);
    lp.add_row(&[(0, 1.0), (1, 1.0)], -FREE, 7.0).unwrap();
    close(&ask(&mut lp).values, &[1.0, 6.0]);
    lp.set_cost(0, -6.0).unwrap();
    close(&ask(&mut lp).values, &[4.0, 3.0]);
    lp.set_bounds(0, 0.0, 3.0).unwrap();
    close(&ask(&mut lp).values, &[3.0, 4.0]);
    lp.set_sides(0, -FREE, 6.0).unwrap();
    close(&ask(&mut lp).values, &[3.0, 3.0]);
    let at = lp.add_column(Column { cost: -1.0, lower: 0.0, upper: 2.0, integer: false }).unwrap();
    assert_eq!((at, lp.columns(), lp.rows()), (2, 3, 3));
    close(&ask(&mut lp).values, &[3.0, 3.0, 2.0]);
}

#[test]
fn a_whole_program_and_its_relaxation() {
    // Knapsack: gains 8 11 6 4, weights 5 7 4 3, room 14. Best is the last three (21); relaxed 8 +
    // 11 + 2/4 6 = 22.
    let columns = [(-8.0, 0.0, 1.0, true), (-11.0, 0.0, 1.0, true), (-6.0, 0.0, 1.0, true), (-4.0, 0.0, 1.0, true)];
    let mut knapsack = program(&columns, &[(&[(0, 5.0), (1, 7.0), (2, 4.0), (3, 3.0)], -FREE, 14.0)]);
    let relaxed = knapsack.solve(&Effort { relaxed: true, ..Effort::default() }, &Clock::unlimited()).unwrap();
    close(&relaxed.values, &[1.0, 1.0, 0.5, 0.0]);
    close(&relaxed.row_duals, &[-1.5]);
    knapsack.set_start(&[1.0, 1.0, 0.0, 0.0]).unwrap();
    let whole = knapsack.solve(&Effort::default(), &Clock::unlimited()).unwrap();
    assert_eq!(whole.status, SolveStatus::Optimal);
    close(&whole.values, &[0.0, 1.0, 1.0, 1.0]);
    close(&[whole.objective, whole.bound], &[-21.0, -21.0]);
    assert!(whole.row_duals.is_empty() && whole.reduced_costs.is_empty());
    // Another row: not the last three together.
    knapsack.add_row(&[(1, 1.0), (2, 1.0), (3, 1.0)], -FREE, 2.0).unwrap();
    close(&[knapsack.solve(&Effort::default(), &Clock::unlimited()).unwrap().objective], &[-19.0]);
}

#[test]
fn programs_without_an_optimum_say_so() {
    for integer in [false, true] {
        let mut empty = program(&[(1.0, 0.0, 1.0, integer)], &[(&[(0, 2.0)], 3.0, FREE)]);
        let found = empty.solve(&Effort::default(), &Clock::unlimited()).unwrap();
        assert_eq!((found.status, found.bound, found.values.len()), (SolveStatus::Infeasible, FREE, 0));
        let mut endless = program(&[(-1.0, 0.0, FREE, integer)], &[]);
        let found = endless.solve(&Effort::default(), &Clock::unlimited()).unwrap();
        assert_eq!((found.status, found.bound), (SolveStatus::Unbounded, -FREE));
    }
}

/// A market split: rows with random weights that 0-1 values must meet exactly; hard for its size.
fn hard() -> Program {
    let (n, rows) = (50, 6);
    let mut program = Program::new().unwrap();
    for _ in 0..n {
        program.add_column(Column { cost: 0.0, lower: 0.0, upper: 1.0, integer: true }).unwrap();
    }
    let mut seed = 1u64;
    for row in 0..rows {
        let mut weights: Vec<(usize, f64)> = Vec::new();
        for k in 0..n {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            weights.push((k, ((seed >> 33) % 100) as f64));
        }
        let half = (weights.iter().map(|w| w.1).sum::<f64>() / 2.0).floor();
        for sign in [1.0, -1.0] {
            let slack = program.add_column(Column { cost: 1.0, lower: 0.0, upper: FREE, integer: false }).unwrap();
            weights.push((slack, sign));
        }
        assert_eq!(program.add_row(&weights, half, half).unwrap(), row);
    }
    program
}

#[test]
fn time_and_stop_end_a_solve() {
    let none = Effort { time: Some(Duration::ZERO), ..Effort::default() };
    let found = factory(true).solve(&none, &Clock::unlimited()).unwrap();
    assert_eq!((found.status, found.bound, found.objective), (SolveStatus::Stopped, -FREE, FREE));
    assert_eq!(factory(true).solve(&Effort::default(), &Clock::of_questions(0)).unwrap().status, SolveStatus::Stopped);

    let short = Effort { time: Some(Duration::from_millis(200)), ..Effort::default() };
    let found = hard().solve(&short, &Clock::unlimited()).unwrap();
    assert_eq!(found.status, SolveStatus::Stopped);
    let clock = Clock::of_questions(20);
    let found = hard().solve(&Effort::default(), &clock);
    let found = found.unwrap();
    assert_eq!(found.status, SolveStatus::Stopped);
    assert!(clock.questions_left() == Some(0) && found.bound >= 0.0 && found.bound <= found.objective);

    let one = Effort { nodes: Some(1), ..Effort::default() };
    let found = hard().solve(&one, &Clock::unlimited()).unwrap();
    assert_eq!(found.status, SolveStatus::Stopped);
    assert!(!found.values.is_empty() && found.bound >= 0.0 && found.bound <= found.objective);
}

#[test]
fn what_highs_would_drop_or_refuse_is_an_error() {
    let mut program = program(&[(1.0, 0.0, 1.0, false)], &[]);
    for bad in [&[(0, 1e-12)][..], &[(0, 1.0), (0, 2.0)], &[(3, 1.0)]] {
        let refused = program.add_row(bad, 0.0, 1.0);
        assert!(matches!(refused, Err(Error::Solver(_))), "{bad:?} gave {refused:?}");
    }
    assert!(program.set_cost(5, 1.0).is_err() && program.rows() == 0);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test examines what HiGHS wrote")]
fn a_model_is_written_for_other_solvers() {
    let path = std::env::temp_dir().join(format!("fewest-model-{}.lp", std::process::id()));
    factory(true).write_model(&path).unwrap();
    let (text, _) = (std::fs::read_to_string(&path).unwrap(), std::fs::remove_file(&path));
    assert!(text.contains("18") && text.to_lowercase().contains("gen"), "{text}");
    assert!(factory(true).write_model(std::path::Path::new("model.txt")).is_err());
    for nowhere in ["/nowhere/at/all.mps", "/nowhere/at/all.lp"] {
        assert!(factory(true).write_model(std::path::Path::new(nowhere)).is_err());
    }
}

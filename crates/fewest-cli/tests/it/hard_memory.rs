//! Every method in a process that the operating system gives no more than 1.5 times `--memory` and
//! [`PROGRAM`]: it ends with a subset or refuses, and never dies of an allocation.
//!
//! `make limits` does the same on large data (`bench/limits.py --hard`).
#![cfg(target_os = "linux")]

use std::process::Command;

use crate::common::{Noise, Ran, Scratch};

/// Address space of the program itself: its code, libraries, stacks and the allocator's reserve.
const PROGRAM: u64 = 96 << 20;
/// Shapes: samples, features, stored values of a row.
const SHAPES: [(usize, usize, usize); 6] =
    [(3_000, 20, 20), (600, 200, 200), (150, 1_000, 1_000), (40, 3_000, 3_000), (10, 8_000, 8_000), (800, 40_000, 30)];
/// `--memory`, as multiples of the data's bytes, each for half of the methods: little beside the
/// data, and enough for a copy.
const SHARES: [f64; 2] = [1.3, 4.0];

/// svmlight text; three features carry the classes.
fn data(noise: &mut Noise, n: usize, p: usize, stored: usize) -> String {
    let row = |i: usize| {
        let sign = if i.is_multiple_of(2) { 1.0 } else { -1.0 };
        let step = p / stored;
        let value = |k: usize| {
            let j = if k < 3 { k } else { k * step + i % step };
            let signal = if j < 3 { 0.7 * sign } else { 0.0 };
            format!("{}:{:.3}", j + 1, noise.next() + signal)
        };
        let values: Vec<String> = (0..stored).map(value).collect();
        format!("{sign:+} {}\n", values.join(" "))
    };
    (0..n).map(row).collect()
}

/// Runs the command with at most this many bytes of address space, all of it in one arena.
fn within(scratch: &Scratch, bytes: u64, arguments: &[&str]) -> Ran {
    let mut command = Command::new("bash");
    let limit = format!("ulimit -v {}; exec \"$@\"", bytes >> 10);
    command.args(["-c", &limit, "bash", env!("CARGO_BIN_EXE_fewest")]).args(arguments);
    command.env("MALLOC_ARENA_MAX", "1").current_dir(scratch.path("."));
    command.output().expect("bash can be started").into()
}

#[test]
fn no_method_dies_of_an_allocation() {
    let scratch = Scratch::new("hard_memory");
    let mut noise = Noise(11);
    let (mut ended, mut refused, mut faults) = (0, 0, Vec::new());
    for (shape, (n, p, stored)) in SHAPES.into_iter().enumerate() {
        scratch.file("d.svm", data(&mut noise, n, p, stored));
        let bytes = 12 * (n * stored) as u64 + 8 * (p as u64 + 1);
        for (at, info) in fewest_papers::AnyMethod::INFOS.iter().enumerate() {
            let memory = (SHARES[(shape + at) % 2] * bytes as f64) as u64 + (1 << 20);
            let text = memory.to_string();
            let limits = ["--threads", "1", "--time-limit", "200ms", "--memory", &text];
            let select = ["select", "d.svm", "-m", info.name, "--max-features", "3"];
            let ran = within(&scratch, memory + memory / 2 + PROGRAM, &[&select[..], &limits].concat());
            match ran.code {
                Some(0 | 3) => ended += 1,
                Some(2) if ran.err.contains("--memory") => refused += 1,
                code => faults.push(format!("{} on {n} x {p}, {memory} bytes: {code:?} {}", info.name, ran.err)),
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(ended > 30 && refused > 10, "{ended} ended, {refused} refused");
}

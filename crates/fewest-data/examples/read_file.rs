//! Reads a file and prints seconds, sizes, the matrix in MiB and the peak memory: `read_file PATH
//! [repetitions]`.
#![allow(clippy::print_stdout, reason = "a program for measuring")]

use std::time::Instant;

use fewest_data::{ReadOptions, bytes_text, read};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("usage: read_file PATH [repetitions]")?;
    let repetitions: u32 = args.next().map_or(Ok(1), |text| text.parse())?;
    for _ in 0..repetitions {
        let start = Instant::now();
        let data = read(&path, &ReadOptions::default())?;
        let seconds = start.elapsed().as_secs_f64();
        let design = data.features.as_design();
        println!(
            "{seconds:.3} s, n {}, p {}, stored {}, matrix {}, peak {}",
            design.n_samples(),
            design.n_features(),
            design.stored(),
            bytes_text(data.features.bytes()),
            bytes_text(peak_bytes().unwrap_or(0)),
        );
        for note in &data.notes {
            println!("  {note}");
        }
    }
    Ok(())
}

/// Peak resident memory of this process (Linux).
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    line.split_ascii_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

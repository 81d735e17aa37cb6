//! Reads a file and writes it in the format of another ending: `convert_file IN OUT`.
#![allow(clippy::print_stdout, reason = "notes are for the user to see")]

use fewest_data::{ReadOptions, read, write};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(from), Some(to)) = (args.next(), args.next()) else { return Err("usage: convert_file IN OUT".into()) };
    let data = read(&from, &ReadOptions::default()).map_err(|e| e.to_string())?;
    let lost = write(&to, &data).map_err(|e| e.to_string())?;
    for note in data.notes.iter().chain(&lost) {
        println!("{note}");
    }
    Ok(())
}

//! The table of exit codes in docs/use/limits.md, row by row.

use crate::common::{Scratch, generated};

/// (exit code, command) of each row of the table.
fn rows() -> Vec<(i32, String)> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/use/limits.md");
    let text = std::fs::read_to_string(page).expect("docs/use/limits.md");
    let table = text.split("## Exit codes").nth(1).expect("the section");
    let cells = |line: &str| line.trim_matches('|').split(" | ").map(|c| c.trim().to_owned()).collect::<Vec<_>>();
    let of_code = |line: &&str| line.starts_with("| ") && line.as_bytes()[2].is_ascii_digit();
    table
        .lines()
        .filter(of_code)
        .map(|line| {
            let cells = cells(line);
            let command = cells[2].trim_end_matches('|').trim().trim_matches('`').to_owned();
            (cells[0].parse().expect("a code"), command)
        })
        .collect()
}

#[test]
#[cfg(target_os = "linux")]
fn every_row_of_the_table_is_true() {
    let rows = rows();
    for code in 0..=3 {
        assert!(rows.iter().any(|row| row.0 == code), "no row has code {code}");
    }
    for (at, (code, command)) in rows.iter().enumerate() {
        let scratch = Scratch::new(&format!("exit_codes_{at}"));
        scratch.file("d.csv", generated(40, 6, &["no", "yes"], 3));
        let arguments: Vec<&str> = command.split(' ').skip(1).collect();
        let ran = scratch.run(&arguments);
        assert_eq!(ran.code, Some(*code), "{command}\n{}\n{}", ran.out, ran.err);
        // What is refused says so, and leaves nothing behind.
        if *code == 2 {
            assert!(ran.out.is_empty() && !ran.err.is_empty(), "{command}\n{}", ran.out);
            assert_eq!(scratch.files(), ["d.csv"]);
        }
    }
}

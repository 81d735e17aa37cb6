//! A scratch folder and a way to run the `fewest` command in it.

#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What a run of the command left.
#[derive(Debug)]
pub struct Ran {
    /// Exit code; None when killed by a signal.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Ran {
    /// Fails the test unless the exit code is this.
    #[track_caller]
    pub fn code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).expect("standard output is UTF-8"),
            err: String::from_utf8(output.stderr).expect("standard error is UTF-8"),
        }
    }
}

/// A folder of its own for one test, emptied at the start.
pub struct Scratch {
    folder: PathBuf,
}

impl Scratch {
    /// A folder with this name, which no other test may use.
    pub fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("the scratch folder can be made");
        Self { folder }
    }

    /// Path of a file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Writes a file.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        std::fs::write(self.path(name), content).expect("a scratch file can be written");
        self
    }

    /// Reads a file.
    #[track_caller]
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Reads a JSON file.
    #[track_caller]
    pub fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.read(name)).expect("valid JSON")
    }

    /// Names of the files there are, sorted.
    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.folder).expect("the scratch folder can be read");
        let mut names: Vec<String> =
            entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The command, not yet run, in this folder.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fewest"));
        command.args(arguments).current_dir(&self.folder);
        command
    }

    /// Runs `fewest` with these arguments in this folder.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        self.command(arguments).output().expect("fewest can be started").into()
    }
}

/// A repeatable stream of numbers in [-1, 1).
pub struct Noise(pub u64);

impl Noise {
    /// The next number.
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as f64 / f64::from(1u32 << 30) - 1.0
    }
}

/// The table with a column `fold` in front: two samples in turn to each of the parts p0, p1 and p2.
pub fn with_folds(table: &str) -> String {
    let part = |i: usize| ["p0,", "p1,", "p2,", "fold,"][if i == 0 { 3 } else { (i - 1) / 2 % 3 }];
    table.lines().enumerate().flat_map(|(i, line)| [part(i), line, "\n"]).collect()
}

/// csv text with n rows, p features f1..fp and the target `y`; the first three features carry
/// `classes`.
pub fn generated(n: usize, p: usize, classes: &[&str], seed: u64) -> String {
    let mut noise = Noise(seed);
    let names: Vec<String> = (1..=p).map(|j| format!("f{j}")).collect();
    let mut text = format!("{},y\n", names.join(","));
    for i in 0..n {
        let class = i % classes.len();
        for j in 0..p {
            let shift = if j < 3 { class as f64 * (1.0 + j as f64 / 2.0) } else { 0.0 };
            let _ = write!(text, "{:.5},", 3.0 * (j + 1) as f64 + (1.5 * noise.next() + shift) * (1.0 + j as f64));
        }
        text += classes[class];
        text.push('\n');
    }
    text
}

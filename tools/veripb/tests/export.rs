//! The program: both files or none, and what has no export.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use fewest_testing::Rng;

/// The data of the repository.
const WDBC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/wdbc.csv");

/// A folder of its own for one test.
struct Scratch(PathBuf);

/// Exit code, standard output and standard error.
type Ran = (Option<i32>, String, String);

impl Scratch {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("the scratch folder can be made");
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        std::fs::write(self.path(name), content).expect("a scratch file can be written");
        self
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).expect("the scratch folder can be read");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// `fewest select` with the words of a line, names of files in this folder.
    fn select(&self, line: &str) -> u8 {
        let is_file =
            |word: &str| Path::new(word).extension().is_some_and(|ending| ending == "csv" || ending == "proof");
        let place = |word: &str| if is_file(word) { self.path(word).into_os_string() } else { OsString::from(word) };
        fewest_cli::run_with(
            ["fewest", "select", "--quiet"].map(OsString::from).into_iter().chain(line.split(' ').map(place)),
        )
    }

    fn export(&self, arguments: &[&str]) -> Ran {
        let program = env!("CARGO_BIN_EXE_fewest-veripb");
        let ran = Command::new(program).args(arguments).current_dir(&self.0).output().expect("it can be started");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        (ran.status.code(), text(ran.stdout), text(ran.stderr))
    }
}

/// csv text with n rows, p features f1..fp and the target `y`; the first three carry `classes`.
fn generated(n: usize, p: usize, classes: &[&str], seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let names: Vec<String> = (1..=p).map(|j| format!("f{j}")).collect();
    let mut text = format!("{},y\n", names.join(","));
    for i in 0..n {
        let class = i % classes.len();
        for j in 0..p {
            let shift = if j < 3 { class as f64 * (1.0 + j as f64 / 2.0) } else { 0.0 };
            let _ = write!(text, "{:.5},", (1.5 * rng.range(-1.0, 1.0) + shift) * (1.0 + j as f64));
        }
        let _ = writeln!(text, "{}", classes[class]);
    }
    text
}

/// What VeriPB says of two files, where it is installed.
fn veripb(scratch: &Scratch, name: &str) -> Option<String> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&paths).map(|folder| folder.join("veripb"));
    let found = std::env::var_os("VERIPB").map(PathBuf::from).or_else(|| places.find(|path| path.is_file()));
    let Some(program) = found else {
        let _ = std::io::stderr().write_all(b"skipped: there is no veripb (`cargo install veripb`; VERIPB, PATH)\n");
        return None;
    };
    let file = |ending: &str| scratch.path(&format!("{name}.{ending}"));
    let ran = Command::new(program).args([file("opb"), file("pbp")]).output().expect("VeriPB can be started");
    Some(String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr))
}

#[test]
fn five_features_of_wdbc_are_proven_by_veripb() {
    let scratch = Scratch::new("export_wdbc");
    assert_eq!(scratch.select(&format!("{WDBC} -m exact --max-features 5 --proof w.proof")), 0);
    let (code, out, err) = scratch.export(&["w.opb", "w.proof", WDBC]);
    assert!(code == Some(0) && out.starts_with("VERIFIED within "), "{out}{err}");
    assert!(err.contains("rows, without a solution"), "{err}");
    let problem = scratch.read("w.opb");
    assert!(problem.starts_with("* #variable= 30 #constraint= "), "{problem}");
    assert!(problem.contains("* x21 = worst_radius\n"), "{problem}");
    if let Some(said) = veripb(&scratch, "w") {
        assert!(said.contains("s VERIFIED UNSATISFIABLE"), "{said}");
        // One feature more is another problem.
        scratch.file("w.opb", problem.replacen(">= -5 ;", ">= -6 ;", 1));
        let said = veripb(&scratch, "w").unwrap_or_default();
        assert!(!said.contains("s VERIFIED UNSATISFIABLE"), "{said}");
    }
}

#[test]
fn rules_prices_problems_and_bounds_have_an_export() {
    let scratch = Scratch::new("export_rules");
    scratch.file("d.csv", generated(40, 7, &["a", "b"], 3));
    scratch.file("three.csv", generated(36, 6, &["2", "10", "9"], 5));
    scratch.file("prices.csv", "f1,1\nf2,0.7\nf3,2\nf4,0.1\nf5,0.1\nf6,0.1\nf7,3\n");
    for line in [
        "d.csv -m exact --max-features 3 --penalty 0.05 --require f6 --forbid f1 --at-most 1:f2,f3 --solutions 3",
        "d.csv -m exact --budget 0.3 --feature-costs prices.csv --at-least 1:f1,f2,f4,f5 --cost 0.1 --bias none",
        "d.csv -m exact --max-features 4 --together f2,f3 --implies f1:f4 --sign f1:-,f2:+ --within 0.05",
        "d.csv -m exact --max-features 3 --loss squared-hinge --bias 0.3",
        "d.csv -m mbp --penalty 0.5 --require f6 --sign f1:- --bias 2",
        "three.csv -m exact --max-features 2",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        assert!(matches!(scratch.select(&format!("{line} --proof x.proof")), 0 | 3), "{line}");
        let (code, out, err) = scratch.export(&["x.opb", "x.proof", words[0]]);
        assert_eq!(code, Some(0), "{line}\n{out}{err}");
        if let Some(said) = veripb(&scratch, "x") {
            assert!(said.contains("s VERIFIED UNSATISFIABLE"), "{line}\n{said}");
        }
    }
}

#[test]
fn what_cannot_be_exported_says_why_and_leaves_no_file() {
    let scratch = Scratch::new("export_refused");
    scratch.file("d.csv", generated(40, 5, &["no", "yes"], 3)).file("other.csv", generated(40, 5, &["no", "yes"], 4));
    assert_eq!(scratch.select("d.csv -m exact --max-features 2 --proof d.proof"), 0);
    assert_eq!(scratch.select("d.csv -m kta --max-features 2 --proof k.proof"), 0);
    for (arguments, code, reason) in [
        (&["k.opb", "k.proof", "d.csv"][..], 2, "a proof about alignments rests on models"),
        (&["-", "d.proof", "d.csv"], 2, "Usage: fewest-veripb FILE.opb"),
        (&["x.pbp", "d.proof", "d.csv"], 2, "name a file such as proof.opb"),
        (&["d.csv", "d.proof", "d.csv"], 2, "d.csv would be written over"),
        (&["none/x.opb", "d.proof", "d.csv"], 2, "cannot be written"),
        (&["x.opb", "d.proof", "other.csv"], 1, "nothing is exported, as the proof is not verified"),
    ] {
        let (ended, _, err) = scratch.export(arguments);
        assert!(ended == Some(code) && err.contains(reason), "{arguments:?}: {err}");
    }
    assert_eq!(scratch.files(), ["d.csv", "d.proof", "k.proof", "other.csv"]);
}

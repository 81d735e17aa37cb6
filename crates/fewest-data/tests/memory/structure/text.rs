//! Text formats.

use std::fmt::Write as _;

use super::Dice;

/// Numbers as cells, at the edges of what doubles hold, too.
const NUMBERS: [&str; 16] = [
    "1",
    "0",
    "-2.5",
    "3e2",
    "1.7e308",
    "-1.7e308",
    "5e-324",
    "9007199254740993",
    "+1",
    "-0",
    "00",
    "1.",
    ".5",
    "1e-400",
    "7",
    "123456789012345678901234567890",
];
/// What stands where a number is missing or none.
const NO_NUMBERS: [&str; 8] = ["", "?", "NA", "nan", "inf", "-Infinity", "1e999", "0x10"];
/// Values of text columns.
const TEXTS: [&str; 12] =
    ["u", "v", "w", "u ", "\"", "a\"b", "two\nlines", "\r", ",", "\t", "\u{1b}[2J\u{202e}", "a'b\\c"];
/// Names of columns.
const NAMES: [&str; 14] =
    ["a", "b", "c", "x1", "x2", "y", "label", "c=u", "Y ", "", "a", "\u{feff}a", "1", "two\nlines"];

/// What a column holds.
#[derive(Clone, Copy)]
enum Kind {
    Numbers,
    Texts,
    Classes,
}

fn cell(dice: &mut Dice, kind: Kind) -> &'static str {
    match kind {
        _ if dice.wrong_in(40) => dice.pick(&NO_NUMBERS),
        Kind::Numbers if dice.wrong_in(40) => dice.pick(&TEXTS),
        Kind::Numbers => dice.pick(&NUMBERS),
        Kind::Texts if dice.wrong_in(10) => dice.pick(&TEXTS),
        Kind::Texts => dice.pick(&TEXTS[..3]),
        Kind::Classes if dice.wrong_in(10) => dice.pick(&["+1", "no"]),
        Kind::Classes => dice.pick(&["0", "1"]),
    }
}

/// Different names, seldom not.
fn names(dice: &mut Dice, p: usize) -> Vec<String> {
    let one = |j| if dice.wrong_in(12) { dice.pick(&NAMES).to_owned() } else { format!("f{j}") };
    let mut names: Vec<String> = (0..p).map(one).collect();
    names.push(if dice.wrong_in(4) { dice.pick(&NAMES).to_owned() } else { "y".to_owned() });
    names
}

/// Kinds of p features and the target.
fn kinds(dice: &mut Dice, p: usize) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = (0..p).map(|_| if dice.once_in(3) { Kind::Texts } else { Kind::Numbers }).collect();
    kinds.push(Kind::Classes);
    kinds
}

/// Rows; seldom one has a cell too few or too many.
fn rows(dice: &mut Dice, kinds: &[Kind]) -> Vec<Vec<&'static str>> {
    let n = dice.below(30);
    let row = |_| {
        let mut row: Vec<&str> = kinds.iter().map(|&kind| cell(dice, kind)).collect();
        if dice.wrong_in(150) {
            row.pop();
        }
        if dice.wrong_in(150) {
            row.push("1");
        }
        row
    };
    (0..n).map(row).collect()
}

/// A table with a header.
pub(crate) fn csv(dice: &mut Dice) -> Vec<u8> {
    let delimiter = if dice.wrong_in(10) { dice.pick(&["\t", ";", " "]) } else { "," };
    let end = dice.pick(&["\n", "\n", "\r\n", "\n\n", if dice.right { "\n" } else { "\r" }]);
    let p = 1 + dice.below(5);
    let (names, kinds) = (names(dice, p), kinds(dice, p));
    let mut table: Vec<Vec<String>> = vec![names];
    table.extend(rows(dice, &kinds).into_iter().map(|row| row.into_iter().map(String::from).collect()));
    let mut text = if dice.once_in(10) { "\u{feff}".to_owned() } else { String::new() };
    for row in table {
        let cells: Vec<String> = row.iter().map(|cell| csv_cell(dice, cell)).collect();
        text.push_str(&cells.join(delimiter));
        text.push_str(end);
    }
    if dice.once_in(3) {
        text.truncate(text.trim_end().len());
    }
    match dice.below(40) {
        _ if dice.right => text.into_bytes(),
        0 => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        1 => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        _ => text.into_bytes(),
    }
}

/// A cell, quoted where it must be; seldom where it need not be, not where it must, or half.
fn csv_cell(dice: &mut Dice, cell: &str) -> String {
    let must = cell.contains(['"', ',', '\n', '\r', '\t', ';', ' ']);
    let quoted = format!("\"{}\"", cell.replace('"', "\"\""));
    match dice.below(200) {
        0..3 if dice.right => quoted,
        0 => format!("\"{cell}"),
        1 => format!("{quoted}x"),
        2 => cell.to_owned(),
        3..20 => quoted,
        _ if must => quoted,
        _ => cell.to_owned(),
    }
}

/// Attributes and rows, dense or sparse.
pub(crate) fn arff(dice: &mut Dice) -> Vec<u8> {
    let p = 1 + dice.below(5);
    let (names, kinds) = (names(dice, p), kinds(dice, p));
    let mut text = "% made\n@relation r\n".to_owned();
    for (name, kind) in names.iter().zip(&kinds) {
        let kind = match kind {
            Kind::Numbers if dice.right => "real",
            Kind::Texts if dice.right => "{v,'w',u}",
            Kind::Classes if dice.right => dice.pick(&["{0,1}", "{no,1,0}"]),
            Kind::Numbers => dice.pick(&["real", "NUMERIC", "integer", "{0,1}", "{1, 1.0}", "date", "string"]),
            Kind::Texts => dice.pick(&["{u,v,w}", "{u,v}", "{u}", "{'u', \"v\",w,'a\\'b'}", "{}", "{u,v", "string"]),
            Kind::Classes => dice.pick(&["{0,1}", "{1,0}", "{no,yes,0,1}", "{-1,+1,0}", "numeric", "{?,0,1}"]),
        };
        writeln!(text, "@attribute {} {kind}", arff_cell(dice, name)).expect("a string");
    }
    if !dice.wrong_in(50) {
        text.push_str("@data\n");
    }
    let sparse = dice.once_in(2);
    for row in rows(dice, &kinds) {
        let cells: Vec<String> = row.iter().map(|cell| arff_cell(dice, cell)).collect();
        if sparse && !dice.wrong_in(50) {
            let entry = |(j, cell): (usize, &String)| {
                let place = if dice.wrong_in(50) { dice.count(j) } else { j as u64 };
                (!dice.once_in(3)).then(|| format!("{place} {cell}"))
            };
            let entries: Vec<String> = cells.iter().enumerate().filter_map(entry).collect();
            writeln!(text, "{{{}}}", entries.join(", ")).expect("a string");
        } else {
            text.push_str(&cells.join(","));
            text.push('\n');
        }
    }
    text.into_bytes()
}

/// A value, quoted where it must be, seldom not.
fn arff_cell(dice: &mut Dice, cell: &str) -> String {
    let must = cell.is_empty() || cell.contains(|c: char| !c.is_ascii_alphanumeric() && !"+-.?".contains(c));
    let quoted = cell.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n").replace('\r', "\\r");
    match dice.below(100) {
        0..2 if dice.right => format!("'{quoted}'"),
        0 => format!("'{cell}"),
        1 => cell.to_owned(),
        2..10 => format!("'{quoted}'"),
        _ if must => format!("'{quoted}'"),
        _ => cell.to_owned(),
    }
}

/// Lines of `label index:value`.
pub(crate) fn svmlight(dice: &mut Dice) -> Vec<u8> {
    let mut text = String::new();
    for _ in 0..dice.below(30) {
        let label =
            if dice.wrong_in(40) { dice.pick(&["", "no", "nan", "1:1"]) } else { dice.pick(&["1", "-1", "+1"]) };
        text.push_str(label);
        if dice.once_in(20) {
            text.push_str(" qid:3");
        }
        let mut index = 0;
        for _ in 0..dice.below(6) {
            index += 1 + dice.below(5);
            let index = dice.count(index);
            let value = if dice.wrong_in(40) { dice.pick(&NO_NUMBERS) } else { dice.pick(&NUMBERS) };
            write!(text, " {index}:{value}").expect("a string");
        }
        text.push_str(dice.pick(&["\n", "\n", "\n", "\r\n", " # why\n", "  \n", "\n\n"]));
    }
    text.into_bytes()
}

/// Matrix Market: a sparse matrix, its entries in any order.
pub(crate) fn mtx(dice: &mut Dice) -> Vec<u8> {
    let (rows, columns, entries) = (1 + dice.below(8), dice.below(8), dice.below(12));
    let kind = if dice.wrong_in(30) {
        dice.pick(&["array real general", "coordinate complex general", "coordinate real symmetric", ""])
    } else {
        dice.pick(&["coordinate real general", "coordinate integer general", "coordinate pattern general"])
    };
    let entries = if columns == 0 { 0 } else { entries };
    let mut text = format!("%%MatrixMarket matrix {kind}\n");
    text.push_str(dice.pick(&["", "%\n", "% c\n\n"]));
    let sides = [rows, columns, entries].map(|side| dice.count(side).to_string());
    writeln!(text, "{}", sides.join(dice.pick(&[" ", "  ", "\t"]))).expect("a string");
    for _ in 0..entries {
        let (row, column) = (1 + dice.below(rows), 1 + dice.below(columns));
        let value = if dice.wrong_in(40) { dice.pick(&NO_NUMBERS) } else { dice.pick(&NUMBERS) };
        let value = if kind.contains("pattern") { "" } else { value };
        write!(text, "{} {} {value}", dice.count(row), dice.count(column)).expect("a string");
        text.push_str(dice.pick(&["\n", "\n", "\r\n", "  \n", "\n\n"]));
    }
    text.into_bytes()
}

//! Writing comma- and tab-separated text.

use std::io;

use fewest_svm::design::Row;

use crate::{Dataset, Format, number};

/// Writes names, rows and, last, the target.
pub(crate) fn write(data: &Dataset, format: Format, out: &mut dyn io::Write) -> io::Result<()> {
    let delimiter = super::own_delimiter(format);
    let mut text = Vec::new();
    let target = data.target.as_ref();
    let names = data.names.iter().chain(target.map(|t| t.column.as_str().into()));
    for (at, name) in names.enumerate() {
        if at > 0 {
            text.push(delimiter);
        }
        write_cell(&mut text, &name, delimiter);
    }
    text.push(b'\n');
    let (n, p) = (data.features.n_samples(), data.names.len());
    let all: Vec<usize> = (0..p).collect();
    let rows = data.features.as_design().rows(&all);
    for i in 0..n {
        match rows.row(i) {
            Row::Dense(values) => values.iter().for_each(|&x| {
                number::write(&mut text, x);
                text.push(delimiter);
            }),
            Row::Sparse(columns, values) => {
                let mut next = columns.iter().zip(values).peekable();
                for j in 0..p {
                    match next.next_if(|(column, _)| **column as usize == j) {
                        Some((_, &x)) => number::write(&mut text, x),
                        None => text.push(b'0'),
                    }
                    text.push(delimiter);
                }
            }
        }
        match target {
            Some(target) => write_cell(&mut text, &target.classes[target.codes[i] as usize], delimiter),
            None => {
                text.pop();
            }
        }
        text.push(b'\n');
        if text.len() > 1 << 16 {
            out.write_all(&text)?;
            text.clear();
        }
    }
    out.write_all(&text)
}

/// A cell, quoted where it must be.
fn write_cell(text: &mut Vec<u8>, cell: &str, delimiter: u8) {
    let special = |b: u8| b == delimiter || matches!(b, b'"' | b'\n' | b'\r');
    if !cell.bytes().any(special) {
        text.extend_from_slice(cell.as_bytes());
        return;
    }
    text.push(b'"');
    text.extend_from_slice(cell.replace('"', "\"\"").as_bytes());
    text.push(b'"');
}

//! A data set as arff.

use std::io;

use fewest_svm::design::Row;

use crate::{Dataset, number};

/// Writes attributes and rows, sparse rows for sparse data; the target comes last.
pub(crate) fn write(data: &Dataset, out: &mut dyn io::Write) -> io::Result<()> {
    let target = data.target.as_ref();
    let mut text = b"@relation fewest\n\n".to_vec();
    for name in data.names.iter() {
        text.extend_from_slice(b"@attribute ");
        write_quoted(&mut text, &name);
        text.extend_from_slice(b" numeric\n");
    }
    if let Some(target) = target {
        text.extend_from_slice(b"@attribute ");
        write_quoted(&mut text, &target.column);
        text.extend_from_slice(b" {");
        for (at, class) in target.classes.iter().enumerate() {
            if at > 0 {
                text.push(b',');
            }
            write_quoted(&mut text, class);
        }
        text.extend_from_slice(b"}\n");
    }
    text.extend_from_slice(b"\n@data\n");
    let p = data.names.len();
    let all: Vec<usize> = (0..p).collect();
    let rows = data.features.as_design().rows(&all);
    let sparse = data.features.as_design().is_sparse();
    for i in 0..data.features.n_samples() {
        if sparse {
            text.push(b'{');
        }
        let mut first = true;
        let mut comma = |text: &mut Vec<u8>| {
            if !std::mem::take(&mut first) {
                text.push(b',');
            }
        };
        match rows.row(i) {
            Row::Dense(values) => values.iter().for_each(|&x| {
                comma(&mut text);
                number::write(&mut text, x);
            }),
            Row::Sparse(columns, values) => columns.iter().zip(values).for_each(|(&j, &x)| {
                comma(&mut text);
                text.extend_from_slice(format!("{j} ").as_bytes());
                number::write(&mut text, x);
            }),
        }
        if let Some(target) = target {
            comma(&mut text);
            if sparse {
                text.extend_from_slice(format!("{p} ").as_bytes());
            }
            write_quoted(&mut text, &target.classes[target.codes[i] as usize]);
        }
        if sparse {
            text.push(b'}');
        }
        text.push(b'\n');
        if text.len() > 1 << 16 {
            out.write_all(&text)?;
            text.clear();
        }
    }
    out.write_all(&text)
}

/// A name or value, quoted where it must be.
fn write_quoted(text: &mut Vec<u8>, value: &str) {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'+' | b'.') || b >= 0x80;
    if !value.is_empty() && value.bytes().all(plain) {
        text.extend_from_slice(value.as_bytes());
        return;
    }
    text.push(b'\'');
    for b in value.bytes() {
        match b {
            b'\'' | b'\\' => text.extend_from_slice(&[b'\\', b]),
            b'\n' => text.extend_from_slice(b"\\n"),
            b'\r' => text.extend_from_slice(b"\\r"),
            b'\t' => text.extend_from_slice(b"\\t"),
            _ => text.push(b),
        }
    }
    text.push(b'\'');
}

//! Proof files, record by record.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

/// A dual point: `alpha_i = k_i 2^e`, and prices of rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Point {
    pub e: i64,
    pub k: Vec<u64>,
    pub prices: Vec<(usize, f64)>,
}

/// One record.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    Split { node: u64, feature: usize },
    Close { node: u64, point: Option<Point> },
    Fix { node: u64, point: Option<Point>, inside: Vec<usize>, outside: Vec<usize> },
    Tighten { node: u64, point: Option<Point>, bounds: Vec<(usize, f64)> },
    Subset { features: Vec<usize>, objective: f64, own: f64, weights: Vec<f64>, bias: f64 },
    End { bound: f64, status: String },
}

/// The file, compressed.
pub fn file(header: &serde_json::Value, records: &[Record]) -> Vec<u8> {
    pack(&plain(header, records))
}

/// The bytes, compressed as two members.
pub fn pack(bytes: &[u8]) -> Vec<u8> {
    let member = |part: &[u8]| {
        let mut out = GzEncoder::new(Vec::new(), Compression::fast());
        out.write_all(part).expect("to memory");
        out.finish().expect("to memory")
    };
    let (first, second) = bytes.split_at(bytes.len() / 2);
    [member(first), member(second)].concat()
}

/// The file before it is compressed.
pub fn plain(header: &serde_json::Value, records: &[Record]) -> Vec<u8> {
    let mut out = serde_json::to_vec(header).expect("JSON");
    out.push(b'\n');
    for record in records {
        encode(&mut out, record);
    }
    out
}

pub fn integer(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

pub fn number(out: &mut Vec<u8>, value: f64) {
    out.extend_from_slice(&value.to_le_bytes());
}

pub fn ascending(out: &mut Vec<u8>, list: impl ExactSizeIterator<Item = usize>) {
    integer(out, list.len() as u64);
    let mut last = 0;
    for index in list {
        integer(out, index.wrapping_sub(last) as u64);
        last = index;
    }
}

pub fn text(out: &mut Vec<u8>, text: &str) {
    integer(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

pub fn numbers(out: &mut Vec<u8>, list: impl ExactSizeIterator<Item = f64>) {
    integer(out, list.len() as u64);
    list.for_each(|x| number(out, x));
}

fn point(out: &mut Vec<u8>, point: Option<&Point>) {
    let Some(point) = point else {
        out.push(0);
        return;
    };
    out.push(1);
    integer(out, ((point.e << 1) ^ (point.e >> 63)) as u64);
    let support: Vec<usize> = (0..point.k.len()).filter(|&i| point.k[i] != 0).collect();
    ascending(out, support.iter().copied());
    integer(out, support.len() as u64);
    for &i in &support {
        integer(out, point.k[i]);
    }
    ascending(out, point.prices.iter().map(|price| price.0));
    numbers(out, point.prices.iter().map(|price| price.1));
}

fn encode(out: &mut Vec<u8>, record: &Record) {
    match record {
        Record::Split { node, feature } => {
            out.push(1);
            integer(out, *node);
            integer(out, *feature as u64);
        }
        Record::Close { node, point: at } => {
            out.push(2);
            integer(out, *node);
            point(out, at.as_ref());
        }
        Record::Fix { node, point: at, inside, outside } => {
            out.push(3);
            integer(out, *node);
            point(out, at.as_ref());
            ascending(out, inside.iter().copied());
            ascending(out, outside.iter().copied());
        }
        Record::Tighten { node, point: at, bounds } => {
            out.push(4);
            integer(out, *node);
            point(out, at.as_ref());
            ascending(out, bounds.iter().map(|b| b.0));
            numbers(out, bounds.iter().map(|b| b.1));
        }
        Record::Subset { features, objective, own, weights, bias } => {
            out.push(5);
            ascending(out, features.iter().copied());
            number(out, *objective);
            number(out, *own);
            numbers(out, weights.iter().copied());
            number(out, *bias);
        }
        Record::End { bound, status } => {
            out.push(6);
            number(out, *bound);
            text(out, status);
        }
    }
}

//! Problems about alignments, and an encoder of their proofs.

use fewest_verify::{Data, fingerprint};
use serde_json::{Value, json};

use super::encoder::{ascending, integer, number, numbers, pack, text};
use super::{Rng, Rules, features};

/// A tiny problem of two to four classes.
#[derive(Debug, Clone)]
pub struct Problem {
    pub columns: Vec<Vec<f64>>,
    pub classes: Vec<f64>,
    pub weights: Vec<f64>,
    pub gamma: f64,
    pub centre: Vec<usize>,
    pub rules: Rules,
}

impl Problem {
    pub fn draw(seed: u64) -> Self {
        let rng = &mut Rng(seed.wrapping_mul(0x2545_F491_4F6C_DD1D));
        let (n, p, count) = (4 + rng.below(14), 1 + rng.below(6), 2 + rng.below(3));
        let classes: Vec<f64> = (0..n).map(|i| if i < count { i } else { rng.below(count) } as f64).collect();
        let (kind, scale) = (rng.below(4), 10f64.powi(rng.below(7) as i32 - 3));
        let mut value = |i: usize, j: usize| {
            let x = rng.range(-2.0, 2.0) + if j == 0 { classes[i] } else { 0.0 };
            scale * [x, x.round(), 1.0, x.powi(3)][if kind == 2 && j > 0 { 2 } else { kind % 2 * 3 }]
        };
        let columns = (0..p).map(|j| (0..n).map(|i| value(i, j)).collect()).collect();
        let weight = |i: usize, rng: &mut Rng| if i < count { 1.0 } else { [0.0, 0.5, 1.0, 3.0][rng.below(4)] };
        Self {
            columns,
            weights: (0..n).map(|i| weight(i, rng)).collect(),
            classes,
            gamma: 10f64.powf(rng.range(-3.0, 2.0)) / (scale * scale),
            centre: (0..p).filter(|_| rng.chance(0.3)).collect(),
            // An alignment has no weights.
            rules: if rng.chance(0.3) {
                Rules::default()
            } else {
                Rules { weights: Vec::new(), ..Rules::draw(rng, p) }
            },
        }
    }

    pub fn p(&self) -> usize {
        self.columns.len()
    }

    pub fn allowed(&self) -> Vec<u32> {
        (0..1u32 << self.p()).filter(|z| self.rules.allow(*z)).collect()
    }

    /// f by its definition.
    pub fn value(&self, z: u32) -> f64 {
        let n = self.classes.len();
        let total = |c: f64| (0..n).filter(|&i| self.classes[i] == c).map(|i| self.weights[i]).sum::<f64>();
        let mut sum = 0.0;
        for (low, high) in (0..8).flat_map(|high| (0..high).map(move |low| (f64::from(low), f64::from(high)))) {
            let psi = |i: usize| match self.classes[i] {
                c if c == low => self.weights[i] / total(low),
                c if c == high => -self.weights[i] / total(high),
                _ => 0.0,
            };
            if total(low) == 0.0 || total(high) == 0.0 {
                continue;
            }
            for i in 0..n {
                for h in 0..n {
                    let square = |j: &usize| (self.columns[*j][i] - self.columns[*j][h]).powi(2);
                    let distance: f64 = features(z).iter().map(square).sum();
                    sum += psi(i) * psi(h) * (-self.gamma * distance).exp();
                }
            }
        }
        sum
    }

    pub fn header(&self) -> Value {
        json!({
            "format": "fewest-proof", "version": 1, "n": self.classes.len(), "p": self.p(),
            "fingerprint": fingerprint(&[self]).expect("valid data"), "gain": "alignment",
            "gamma": self.gamma, "centre": self.centre, "rules": self.rules.json(), "made": "a test",
        })
    }

    pub fn file(&self, records: &[Record]) -> Vec<u8> {
        pack(&plain(&self.header(), records))
    }
}

impl Data for Problem {
    fn samples(&self) -> usize {
        self.classes.len()
    }

    fn features(&self) -> usize {
        self.p()
    }

    fn labels(&self) -> &[f64] {
        &self.classes
    }

    fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn each(&self, j: usize, f: &mut dyn FnMut(usize, f64)) {
        self.columns[j].iter().enumerate().for_each(|(i, x)| f(i, *x));
    }
}

#[derive(Debug, Clone)]
pub enum Record {
    Split { node: u64, feature: usize },
    Leave { node: u64 },
    Limit { node: u64 },
    Expand { node: u64, exact: u64, level: f64, order: Vec<usize>, children: Vec<(usize, f64, Vec<usize>)> },
    Subset { features: Vec<usize>, objective: f64, own: f64 },
    End { bound: f64 },
}

pub fn plain(header: &Value, records: &[Record]) -> Vec<u8> {
    let mut out = serde_json::to_vec(header).expect("JSON");
    out.push(b'\n');
    for record in records {
        match record {
            Record::Split { node, feature } => {
                out.push(1);
                integer(&mut out, *node);
                integer(&mut out, *feature as u64);
            }
            Record::Leave { node } => {
                out.push(7);
                integer(&mut out, *node);
            }
            Record::Limit { node } => {
                out.push(8);
                integer(&mut out, *node);
            }
            Record::Expand { node, exact, level, order, children } => {
                out.push(if *exact > 2 { 10 } else { 9 });
                integer(&mut out, *node);
                if *exact > 2 {
                    integer(&mut out, *exact);
                }
                number(&mut out, *level);
                integer(&mut out, order.len() as u64);
                for j in order {
                    integer(&mut out, *j as u64);
                }
                ascending(&mut out, children.iter().map(|child| child.0));
                numbers(&mut out, children.iter().map(|child| child.1));
                for child in children {
                    ascending(&mut out, child.2.iter().copied());
                }
            }
            Record::Subset { features, objective, own } => {
                out.push(5);
                ascending(&mut out, features.iter().copied());
                number(&mut out, *objective);
                number(&mut out, *own);
            }
            Record::End { bound } => {
                out.push(6);
                number(&mut out, *bound);
                text(&mut out, "optimal");
            }
        }
    }
    out
}

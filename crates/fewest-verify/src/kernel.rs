//! Exponentials whose error is known, and sums of products in single precision.

use pulp::{Arch, Simd, WithSimd};

/// Columns on each side of a block of products.
pub(crate) const BLOCK: usize = 4;
/// Lanes of the widest instruction set: columns are a multiple of it.
pub(crate) const WIDTH: usize = 16;

/// A computed `e^-x` is wrong by at most this part of it.
pub(crate) const EXP_ERROR: f64 = 1.0 / (1u64 << 48) as f64;

/// x <- e^-x for each x of 0 or more: wrong by at most [`EXP_ERROR`] of it up to 708, and 0 above,
/// where it is below 2^-1021.
///
/// `e^-x = 2^k e^r` with k the integer next to -x / ln 2, and |r| <= 0.35. k times the upper part
/// of ln 2 is exact (11 and 33 bits), and so is its difference to -x, but for 2^-54; so r is off by
/// at most 2^-53, and e^r by as much of it. The series to r^13 / 13! leaves out less than 2^-57. Of
/// the roundings of Horner's scheme the last two are halves of a unit in the last place, and those
/// before are multiplied by |r| < 0.35 again and again: in all less than 2^-51.
pub(crate) fn exp_of_minus(values: &mut [f64]) {
    Arch::new().dispatch(|| exp_each(values));
}

#[inline(always)]
fn exp_each(values: &mut [f64]) {
    const HIGH: f64 = 6.931_471_803_691_238e-1;
    const LOW: f64 = 1.908_214_929_270_587_7e-10;
    // 1.5 2^52: what is added to it is rounded to an integer, which is then in its low bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    for value in values {
        let x = if *value <= 708.0 { -*value } else { -708.0 };
        let shifted = x * std::f64::consts::LOG2_E + ROUND;
        let k = shifted - ROUND;
        let r = x - k * HIGH - k * LOW;
        let mut series = 1.0 / 6_227_020_800.0;
        for factorial in [479_001_600.0, 39_916_800.0, 3_628_800.0, 362_880.0, 40_320.0, 5040.0, 720.0, 120.0] {
            series = series * r + 1.0 / factorial;
        }
        for factorial in [24.0, 6.0, 2.0, 1.0, 1.0] {
            series = series * r + 1.0 / factorial;
        }
        let power = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
        *value = if *value <= 708.0 { series * power } else { 0.0 };
    }
}

/// `out[a][b] += rows_a . columns_b` for columns of one length, a multiple of [`WIDTH`]. The dot
/// products are in single precision, in an order that depends on the machine.
pub(crate) fn add_products(rows: [&[f32]; BLOCK], columns: [&[f32]; BLOCK], out: &mut [[f64; BLOCK]; BLOCK]) {
    let length = rows[0].len();
    assert!(length.is_multiple_of(WIDTH) && rows.iter().chain(&columns).all(|c| c.len() == length));
    Arch::new().dispatch(Products { rows, columns, out });
}

struct Products<'a> {
    rows: [&'a [f32]; BLOCK],
    columns: [&'a [f32]; BLOCK],
    out: &'a mut [[f64; BLOCK]; BLOCK],
}

impl WithSimd for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let rows = self.rows.map(|row| S::as_simd_f32s(row).0);
        let columns = self.columns.map(|column| S::as_simd_f32s(column).0);
        let count = rows[0].len();
        let (rows, columns) = (rows.map(|row| &row[..count]), columns.map(|column| &column[..count]));
        let mut sums = [[simd.splat_f32s(0.0); BLOCK]; BLOCK];
        for t in 0..count {
            let (x, y) = (rows.map(|row| row[t]), columns.map(|column| column[t]));
            for a in 0..BLOCK {
                for b in 0..BLOCK {
                    sums[a][b] = simd.mul_add_f32s(x[a], y[b], sums[a][b]);
                }
            }
        }
        for a in 0..BLOCK {
            for b in 0..BLOCK {
                self.out[a][b] += f64::from(simd.reduce_sum_f32s(sums[a][b]));
            }
        }
    }
}

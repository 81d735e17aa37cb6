//! LZF, the fast compression that h5py and AnnData may write: copies of what was just read, and
//! bytes as they are.

/// The uncompressed bytes; none where the data are damaged or larger than `most`.
pub(super) fn decompress(data: &[u8], most: usize) -> Option<Vec<u8>> {
    // A copy of three bytes makes 264.
    let mut out = Vec::with_capacity(most.min(data.len().saturating_mul(88)));
    let mut input = data.iter();
    while let Some(&control) = input.next() {
        if control < 32 {
            let (run, rest) = input.as_slice().split_at_checked(usize::from(control) + 1)?;
            out.extend_from_slice(run);
            input = rest.iter();
        } else {
            let mut length = usize::from(control >> 5);
            if length == 7 {
                length += usize::from(*input.next()?);
            }
            let back = (usize::from(control & 31) << 8 | usize::from(*input.next()?)) + 1;
            let from = out.len().checked_sub(back)?;
            // The copy may reach into what it makes.
            (from..from + length + 2).for_each(|at| out.push(out[at]));
        }
        if out.len() > most {
            return None;
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::decompress;

    #[test]
    fn runs_and_copies() {
        assert_eq!(decompress(&[2, b'a', b'b', b'c', 0x20, 2], 99).as_deref(), Some(&b"abcabc"[..]));
        assert_eq!(decompress(&[0, b'a', 0xe0, 1, 0], 99).as_deref(), Some(&b"aaaaaaaaaaa"[..]));
        for damaged in [&[3, b'a'][..], &[0x20, 0], &[0, b'a', 0x20, 1], &[0, b'a', 0xe0], &[0, b'a', 0xe0, 9]] {
            assert_eq!(decompress(damaged, 99), None, "{damaged:?}");
        }
        assert_eq!(decompress(&[0, b'a', 0xe0, 255, 0], 99), None);
    }
}

//! Results of work done side by side.

use rayon::iter::ParallelIterator;

/// Results of work done side by side, any of which may be an error.
#[doc(hidden)]
pub trait AllOrFirst<T, E>: ParallelIterator<Item = Result<T, E>> {
    /// Values in order, or the first error in that order. Of several errors rayon's own `collect` gives
    /// any, which one depends on threads.
    ///
    /// # Errors
    /// The first one.
    fn all_or_first<C: FromIterator<T>>(self) -> Result<C, E>
    where
        T: Send,
        E: Send,
    {
        self.collect::<Vec<Result<T, E>>>().into_iter().collect()
    }
}

impl<T, E, I: ParallelIterator<Item = Result<T, E>>> AllOrFirst<T, E> for I {}

#[cfg(test)]
mod tests {
    use rayon::prelude::*;

    use super::AllOrFirst as _;

    #[test]
    fn the_first_error_in_order_is_told_whatever_the_threads() {
        let odd = |at: usize| if at < 7 { Ok(at) } else { Err(at) };
        for threads in [1, 2, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for _ in 0..200 {
                let told = pool.install(|| (0..64).into_par_iter().map(odd).all_or_first::<Vec<usize>>());
                assert_eq!(told, Err(7));
            }
        }
        assert_eq!((0..7).into_par_iter().map(odd).all_or_first::<Vec<usize>>(), Ok((0..7).collect()));
    }
}

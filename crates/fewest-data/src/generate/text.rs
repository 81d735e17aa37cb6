//! Text: a sparse bag of words with Zipf frequencies, in which some words are planted that lean to
//! one class.
//!
//! Model    Every document draws `length` words, word r with probability proportional to 1 / (r +
//!          3)^s, r from 0. The first `topical` draws are replaced by informative words: one of the
//!          k at random, kept if it leans to the document's class and else with probability `leak`.
//!          Values are 1 + ln(count); every document then has length 1.
//! Paper    none: data of the shape of news20.binary and URL in Tan, Wang, Tsang, ICML 2010, Table
//!          1, which are not at hand.
//! Steps    1. choose the informative words among the ranks 50 to 19 999 (all words, if there are
//!          fewer) and the class each leans to  2. for each document a class by a fair coin, then
//!          its words  3. columns
//! Fails    Settings out of range; a set whose documents are all of one class (likely for very few
//!          only).

use fewest::{Error, SparseDesign};

use super::random::Random;
use super::{Generator, Part, dataset};
use crate::{DataError, Dataset, Features};

/// Ranks among which informative words lie: neither the commonest nor the rarest.
const RANKS: std::ops::Range<usize> = 50..20_000;

/// What to generate.
#[derive(Debug, Clone, PartialEq)]
pub struct TextSettings {
    /// Words p, at least 1; x1 is the commonest.
    pub words: usize,
    /// Words drawn for a document, repeats included, at least 1. Default 455.
    pub length: usize,
    /// Informative words k, from 1 to p. Default 200, or p if that is less.
    pub relevant: usize,
    /// Draws of a document that are of informative words, at most `length`. Default 12, or `length`
    /// if that is less.
    pub topical: usize,
    /// Probability that a word leaning to the other class is kept, in [0, 1]. Default 0.35.
    pub leak: f64,
    /// s: how fast frequencies fall with the rank, 0 or more. Default 0.85.
    pub exponent: f64,
    /// Seed, default 1.
    pub seed: u64,
}

impl TextSettings {
    /// So many words.
    pub fn new(words: usize) -> Self {
        Self { words, length: 455, relevant: words.min(200), topical: 12, leak: 0.35, exponent: 0.85, seed: 1 }
    }

    /// Refuses settings out of range.
    fn check(&self) -> Result<(), Error> {
        for (name, value) in [("words", self.words), ("length", self.length)] {
            if value == 0 {
                return Err(Error::setting(name, 0, "at least 1"));
            }
        }
        if self.words > u32::MAX as usize {
            return Err(Error::setting("words", self.words, format!("at most {}", u32::MAX)));
        }
        let candidates = self.candidates().len();
        if self.relevant == 0 || self.relevant > candidates {
            let range = format!("from 1 to {candidates}, the words that are neither the commonest nor the rarest");
            return Err(Error::setting("relevant", self.relevant, range));
        }
        if self.topical > self.length {
            let range = format!("at most the words of a document, {}", self.length);
            return Err(Error::setting("topical", self.topical, range));
        }
        if !(0.0..=1.0).contains(&self.leak) {
            return Err(Error::setting("leak", self.leak, "between 0 and 1"));
        }
        if !(self.exponent >= 0.0 && self.exponent.is_finite()) {
            return Err(Error::setting("exponent", self.exponent, "a finite number, 0 or more"));
        }
        Ok(())
    }

    /// Ranks that may be informative.
    fn candidates(&self) -> std::ops::Range<usize> {
        if self.words >= RANKS.start + self.relevant { RANKS.start..RANKS.end.min(self.words) } else { 0..self.words }
    }
}

/// The words and what they lean to, and the documents to come.
#[derive(Debug, Clone)]
pub struct Text {
    settings: TextSettings,
    /// Probability that a drawn word is of this rank or a lower one, length p.
    up_to: Vec<f64>,
    /// Where among `up_to` to look for a place of [0, 1): `guide[g]` shares are at most g / G, for g
    /// from 0 to G, a power of two.
    guide: Vec<u32>,
    /// Informative words, ascending, and whether they lean to class 1.
    informative: Vec<(usize, bool)>,
}

impl Text {
    /// Chooses the informative words.
    ///
    /// # Errors
    /// A setting out of range.
    pub fn new(settings: TextSettings) -> Result<Self, DataError> {
        settings.check()?;
        let mut random = Random::new(settings.seed, 0);
        let mut total = 0.0;
        let mut up_to: Vec<f64> = (0..settings.words)
            .map(|r| {
                total += libm::pow((r + 3) as f64, -settings.exponent);
                total
            })
            .collect();
        for share in &mut up_to {
            *share /= total;
        }
        let guide = guide(&up_to);
        let candidates = settings.candidates();
        let mut chosen = random.sample(candidates.len(), settings.relevant);
        chosen.sort_unstable();
        let informative = chosen.into_iter().map(|at| (candidates.start + at, random.coin())).collect();
        Ok(Self { settings, up_to, guide, informative })
    }

    /// The word whose range holds this place of [0, 1).
    fn word(&self, place: f64) -> usize {
        let cell = (place * (self.guide.len() - 1) as f64) as usize;
        let (low, high) = (self.guide[cell] as usize, self.guide[cell + 1] as usize);
        let before = self.up_to[low..high].partition_point(|&share| share <= place);
        (low + before).min(self.up_to.len() - 1)
    }

    /// The words of a document of this class, one for each draw.
    fn document(&self, positive: bool, random: &mut Random, words: &mut Vec<u32>) {
        words.clear();
        for draw in 0..self.settings.length {
            let place = random.unit();
            let mut word = self.word(place);
            if draw < self.settings.topical {
                let at = (random.unit() * self.informative.len() as f64) as usize;
                let (informative, leans) = self.informative[at];
                // Drawn in any case, so that the stream does not depend on the class.
                let leaks = random.unit() < self.settings.leak;
                if leans == positive || leaks {
                    word = informative;
                }
            }
            words.push(word as u32);
        }
        words.sort_unstable();
    }
}

/// How many shares are at most g / G, for g from 0 to G: about one cell for each word, at most 4 Mi.
/// Places of a cell are from g / G to before (g + 1) / G, exactly, as G is a power of two.
fn guide(up_to: &[f64]) -> Vec<u32> {
    let cells = up_to.len().next_power_of_two().min(1 << 22);
    let mut at = 0;
    let below = |cell: usize| {
        let edge = cell as f64 / cells as f64;
        at += up_to[at..].iter().take_while(|&&share| share <= edge).count();
        at as u32
    };
    (0..=cells).map(below).collect()
}

impl Generator for Text {
    fn draw(&self, part: Part, samples: usize) -> Result<Dataset, DataError> {
        if samples < 2 {
            return Err(Error::setting("samples", samples, "at least 2").into());
        }
        let p = self.settings.words;
        let mut random = Random::new(self.settings.seed, part.stream());
        let mut sides = Vec::with_capacity(samples);
        // Documents one after another: (word, value) and where each ends.
        let (mut entries, mut ends): (Vec<(u32, f64)>, Vec<usize>) = (Vec::new(), Vec::with_capacity(samples));
        let mut words = Vec::new();
        for _ in 0..samples {
            let positive = random.coin();
            self.document(positive, &mut random, &mut words);
            let first = entries.len();
            entries.extend(words.chunk_by(|a, b| a == b).map(|same| (same[0], 1.0 + libm::log(same.len() as f64))));
            let length = entries[first..].iter().map(|e| e.1 * e.1).sum::<f64>().sqrt();
            for entry in &mut entries[first..] {
                entry.1 /= length;
            }
            ends.push(entries.len());
            sides.push(positive);
        }
        // Step 3: count, then place document after document, so that rows ascend within a column.
        let mut start = vec![0usize; p + 1];
        for entry in &entries {
            start[entry.0 as usize + 1] += 1;
        }
        for j in 0..p {
            start[j + 1] += start[j];
        }
        let mut next = start[..p].to_vec();
        let (mut rows, mut values) = (vec![0u32; entries.len()], vec![0.0; entries.len()]);
        let mut first = 0;
        for (i, &end) in ends.iter().enumerate() {
            for &(word, value) in &entries[first..end] {
                let slot = &mut next[word as usize];
                rows[*slot] = i as u32;
                values[*slot] = value;
                *slot += 1;
            }
            first = end;
        }
        dataset(
            Features::Sparse(SparseDesign::new(samples, start, rows, values)?),
            &sides,
            part,
            "a bag of words",
            self.settings.seed,
        )
    }

    fn support(&self) -> Vec<usize> {
        self.informative.iter().map(|w| w.0).collect()
    }

    fn weights(&self) -> Option<&[f64]> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The guide changes the time and never the word: at random places, at every share and beside it.
    #[test]
    fn the_guide_finds_the_word_that_a_search_finds() {
        for (words, exponent) in [(1, 0.85), (2, 0.0), (7, 3.0), (1000, 0.85), (4096, 0.0), (5000, 60.0)] {
            let text = Text::new(TextSettings { exponent, ..TextSettings::new(words) }).expect("settings");
            let mut random = Random::new(5, 1);
            let shares = text.up_to.iter().flat_map(|&share| [share.next_down(), share, share.next_up()]);
            let places = (0..2000).map(|_| random.unit()).chain(shares).filter(|place| (0.0..1.0).contains(place));
            for place in places {
                let searched = text.up_to.partition_point(|&share| share <= place).min(words - 1);
                assert_eq!(text.word(place), searched, "{words} words, place {place}");
            }
        }
    }
}

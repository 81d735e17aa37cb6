//! Text: a sparse bag of words with Zipf frequencies, in which some words are planted that lean to
//! one class.
//!
//! Model    Every document draws `length` words, word r with probability proportional to 1 / (r +
//!          3)^s, r from 0. The first `topical` draws are replaced by informative words: one of the
//!          k at random, kept if it leans to the document's class and else with probability `leak`.
//!          Values are 1 + ln(count); every document then has length 1.
//! Paper    none: data of the shape of news20.binary and URL in Tan, Wang, Tsang, ICML 2010, Table
//!          1, which are not available.
//! Steps    1. choose the informative words among the ranks 50 to 19 999 (all words, if there are
//!          fewer) and the class each leans to  2. for each document a class by a fair coin, then
//!          its words: the documents with each word are counted, and the lengths of documents
//!          3. the same documents once more: columns, or for a column file once for each range of
//!          columns that memory holds, where only draws within the range are looked up
//! Fails    Settings out of range; a set whose documents are all of one class (likely for very few
//!          only).

use std::ops::Range;

use fewest_svm::{Error, SparseDesign};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Generator, SampleSet, dataset, two_classes};
use crate::formats::columns::{self, Facts, starts};
use crate::formats::sparse::{column_bounds, parts, split};
use crate::matrix::random::Random;
use crate::{DataError, Dataset, Features, Names, ReadOptions, Target};

/// Documents that one thread draws at a time.
const BLOCK: usize = 256;
/// Blocks drawn before their entries are taken: some 30 MB at 430 words a document.
const WAVE: usize = 16;

/// Words on either side of a guess that are searched before all that it may be.
const NEAR: usize = 8;

/// Bytes held for a word: its frequency, and the documents that have it.
pub(super) const WORD_BYTES: u64 = 8 + 4;

/// Ranks among which informative words lie: neither the commonest nor the rarest.
const RANKS: std::ops::Range<usize> = 50..20_000;

/// Settings of a set of texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
    /// Settings of a text with this many words.
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
    /// Where among `up_to` to search for a place of [0, 1): `guide[g]` shares are at most g / G,
    /// for g from 0 to G, a power of two.
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

    /// The word whose range holds this place of [0, 1): as many as have shares up to it.
    fn word(&self, place: f64) -> usize {
        let cell = place * (self.guide.len() - 1) as f64;
        let (low, high) = (self.guide[cell as usize] as usize, self.guide[cell as usize + 1] as usize);
        let (mut among, up_to) = (low..high, &self.up_to);
        if among.len() > 4 * NEAR {
            // Shares grow evenly within a cell, but for the first: mostly the word is near this one.
            let guess = low + (cell.fract() * (high - low) as f64) as usize;
            let near = guess.saturating_sub(NEAR).max(low)..(guess + NEAR).min(high);
            let behind = near.start == low || up_to[near.start - 1] <= place;
            if behind && (near.end == high || up_to[near.end] > place) {
                among = near;
            }
        }
        (among.start + up_to[among].partition_point(|&share| share <= place)).min(up_to.len() - 1)
    }

    /// The places of [0, 1) whose words are in a range.
    fn places(&self, words: &Range<usize>) -> Range<f64> {
        let start = if words.start == 0 { 0.0 } else { self.up_to[words.start - 1] };
        start..if words.end == self.up_to.len() { 1.0 } else { self.up_to[words.end - 1] }
    }

    /// The words of a document of this class that are in a range, one for each draw.
    fn document(&self, positive: bool, range: &Range<usize>, random: &mut Random, words: &mut Vec<u32>) {
        words.clear();
        let places = self.places(range);
        for draw in 0..self.settings.length {
            let place = random.unit();
            if draw < self.settings.topical {
                let at = (random.unit() * self.informative.len() as f64) as usize;
                let (informative, leans) = self.informative[at];
                // Drawn in any case, so that the stream does not depend on the class.
                let leaks = random.unit() < self.settings.leak;
                if leans == positive || leaks {
                    words.extend(range.contains(&informative).then_some(informative as u32));
                    continue;
                }
            }
            if places.contains(&place) {
                words.push(self.word(place) as u32);
            }
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

/// The documents of a part, to be drawn as often as needed.
struct Documents {
    /// The stream where each block of documents begins.
    blocks: Vec<Random>,
    /// Whether each is of class 1.
    sides: Vec<bool>,
}

/// What the first time tells of them.
struct Counts {
    /// Documents with each word.
    words: Vec<u32>,
    /// Length of each document before it is made 1.
    lengths: Vec<f64>,
}

impl Text {
    /// The classes, and where each block begins: a document takes as many random numbers as any
    /// other.
    fn documents(&self, part: SampleSet, samples: usize) -> Result<Documents, DataError> {
        if samples < 2 {
            return Err(Error::setting("samples", samples, "at least 2").into());
        }
        let mut random = Random::new(self.settings.seed, part.stream());
        let (mut blocks, mut sides) = (Vec::new(), Vec::with_capacity(samples));
        for i in 0..samples {
            if i % BLOCK == 0 {
                blocks.push(random.clone());
            }
            sides.push(random.coin());
            random.skip(self.settings.length + 2 * self.settings.topical);
        }
        Ok(Documents { blocks, sides })
    }

    /// Draws the words of a range, of blocks of documents on all threads, and hands over some in
    /// order.
    fn each_wave(&self, documents: &Documents, range: &Range<usize>, mut take: impl FnMut(&[Block])) {
        let numbers: Vec<usize> = (0..documents.blocks.len()).collect();
        for wave in numbers.chunks(WAVE) {
            take(&wave.par_iter().map(|&block| self.block(documents, block, range)).collect::<Vec<_>>());
        }
    }

    fn block(&self, documents: &Documents, number: usize, range: &Range<usize>) -> Block {
        let mut random = documents.blocks[number].clone();
        let mut block = Block { first: number * BLOCK, entries: Vec::new(), sizes: Vec::new() };
        let mut words = Vec::new();
        for _ in documents.sides.iter().skip(block.first).take(BLOCK) {
            let positive = random.coin();
            self.document(positive, range, &mut random, &mut words);
            let entries = &mut block.entries;
            let first = entries.len();
            entries.extend(words.chunk_by(|a, b| a == b).map(|same| (same[0], 1.0 + libm::log(same.len() as f64))));
            block.sizes.push(entries.len() - first);
        }
        block
    }

    /// All of them, counted.
    fn counts(&self, documents: &Documents) -> Counts {
        let p = self.settings.words;
        let mut counts = Counts { words: vec![0; p], lengths: Vec::new() };
        // About as many draws for each thread, that counts words of its own.
        let threads = rayon::current_num_threads();
        let first = |t: usize| self.up_to.partition_point(|&share| share < t as f64 / threads as f64);
        let bounds: Vec<usize> = (0..threads).map(first).collect();
        self.each_wave(documents, &(0..p), |blocks| {
            let of_threads = parts(&mut counts.words, &bounds).into_par_iter().zip(&bounds);
            of_threads.for_each(|(counts, &first)| {
                let words = first..first + counts.len();
                for (_, entries) in blocks.iter().flat_map(Block::documents) {
                    for &(word, _) in within(entries, &words) {
                        counts[word as usize - first] += 1;
                    }
                }
            });
            let length = |entries: &[(u32, f64)]| entries.iter().map(|e| e.1 * e.1).sum::<f64>().sqrt();
            counts.lengths.extend(blocks.iter().flat_map(Block::documents).map(|document| length(document.1)));
        });
        counts
    }

    /// Row indices and values of a range of columns: every thread has columns of its own, and places
    /// documents one after another, so that rows ascend within a column.
    fn columns(&self, documents: &Documents, counts: &Counts, range: Range<usize>) -> (Vec<u32>, Vec<f64>) {
        let mut next = starts(&counts.words[range.clone()]);
        let stored = next.pop().unwrap_or(0);
        let bounds = column_bounds(&next, stored);
        let offsets: Vec<usize> = bounds.iter().map(|&b| next.get(b as usize).copied().unwrap_or(stored)).collect();
        let (mut rows, mut values) = (vec![0u32; stored], vec![0.0; stored]);
        self.each_wave(documents, &range, |blocks| {
            let buckets = split(&bounds, &offsets, &mut next, &mut rows, &mut values);
            buckets.into_par_iter().for_each(|mut bucket| {
                let columns = bucket.columns();
                let words = range.start + columns.start..range.start + columns.end;
                for (i, document) in blocks.iter().flat_map(Block::documents) {
                    for &(word, value) in within(document, &words) {
                        let value = value / counts.lengths[i];
                        assert!(bucket.put_one(word as usize - range.start, i as u32, value), "counted before");
                    }
                }
            });
        });
        (rows, values)
    }
}

/// The entries of a document whose words are in a range.
fn within<'d>(document: &'d [(u32, f64)], words: &Range<usize>) -> &'d [(u32, f64)] {
    let before = |word: usize| document.partition_point(|entry| (entry.0 as usize) < word);
    &document[before(words.start)..before(words.end)]
}

/// Some documents, one after another.
struct Block {
    /// Row of the first.
    first: usize,
    /// (word, value before its document has length 1), words ascending within a document.
    entries: Vec<(u32, f64)>,
    /// How many each has.
    sizes: Vec<usize>,
}

impl Block {
    /// Row and entries of each.
    fn documents(&self) -> impl Iterator<Item = (usize, &[(u32, f64)])> {
        let mut rest = &self.entries[..];
        self.sizes.iter().zip(self.first..).map(move |(&size, i)| {
            let (document, behind) = rest.split_at(size);
            rest = behind;
            (i, document)
        })
    }
}

impl Generator for Text {
    fn draw(&self, part: SampleSet, samples: usize) -> Result<Dataset, DataError> {
        let documents = self.documents(part, samples)?;
        let counts = self.counts(&documents);
        let (rows, values) = self.columns(&documents, &counts, 0..self.settings.words);
        dataset(
            Features::Sparse(SparseDesign::new(samples, starts(&counts.words), rows, values)?),
            &documents.sides,
            part,
            "a bag of words",
            self.settings.seed,
        )
    }

    fn classes(&self, part: SampleSet, samples: usize) -> Result<Option<Target>, DataError> {
        two_classes(&self.documents(part, samples)?.sides, part).map(Some)
    }

    fn write_columns(&self, part: SampleSet, classes: &Target, out: &str, limit: Option<u64>) -> Result<(), DataError> {
        let samples = classes.codes.len();
        let documents = self.documents(part, samples)?;
        let counts = self.counts(&documents);
        let names = Names::Numbered(self.settings.words);
        let facts = Facts { n: samples, counts: &counts.words, names: &names, target: Some(classes) };
        let memory = ReadOptions { memory_limit: limit, ..ReadOptions::default() }.memory();
        let memory = memory.saturating_sub(WORD_BYTES * self.settings.words as u64);
        columns::write_in_parts(out, &facts, memory, |range| Ok(self.columns(&documents, &counts, range)))
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

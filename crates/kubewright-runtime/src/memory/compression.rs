//! Compression of JSON texts with a dictionary, which is trained on the first ones.

use std::{io, sync::OnceLock};

use zstd::{
    dict::from_continuous,
    zstd_safe::{CCtx, CDict, DCtx, DDict, compress_bound, get_error_name},
};

/// The fastest regular level: with a dictionary, higher ones save a few percent.
const LEVEL: i32 = 1;
/// The maximum size of the dictionary, in bytes.
const DICTIONARY_SIZE: usize = 16 << 10;
/// The texts on which the dictionary is trained: their maximum number, size of one, and size of all.
const MAX_SAMPLES: usize = 512;
const MAX_SAMPLE_SIZE: usize = 16 << 10;
const SAMPLES_SIZE: usize = 256 << 10;
/// How often the training is tried, with other texts each time.
const MAX_TRAININGS: u32 = 3;
/// The capacity of buffers that is retained between texts, in bytes.
pub(super) const RETAINED_CAPACITY: usize = 64 << 10;

/// A dictionary for compression and decompression.
pub(super) struct Dictionary {
    encoder: CDict<'static>,
    decoder: DDict<'static>,
}

/// How the text of an object is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// As JSON, since compression does not make it smaller.
    Json,
    /// Compressed without a dictionary: it was not trained yet.
    Compressed,
    CompressedWithDictionary,
}

/// Compresses texts one by one.
pub(super) struct Compressor {
    context: CCtx<'static>,
    compressed: Vec<u8>,
    /// The texts for the training; `None` after it.
    samples: Option<Samples>,
}

/// Texts in one buffer, with the size of each.
#[derive(Default)]
struct Samples {
    texts: Vec<u8>,
    sizes: Vec<usize>,
    trainings: u32,
}

impl Default for Compressor {
    fn default() -> Self {
        Compressor { context: CCtx::create(), compressed: Vec::new(), samples: Some(Samples::default()) }
    }
}

impl Compressor {
    /// Returns whether texts are collected for the dictionary.
    pub(super) fn is_sampling(&self) -> bool {
        self.samples.is_some()
    }

    /// Compresses a text, with the dictionary if there is one. Trains the dictionary when there are enough texts.
    pub(super) fn compress<'a>(
        &'a mut self,
        json: &'a [u8],
        dictionary: &OnceLock<Dictionary>,
    ) -> (Encoding, &'a [u8]) {
        self.sample(json, dictionary);
        self.compressed.clear();
        self.compressed.shrink_to(RETAINED_CAPACITY);
        self.compressed.reserve(compress_bound(json.len()));
        let Compressor { context, compressed, .. } = self;
        let (encoding, result) = match dictionary.get() {
            Some(Dictionary { encoder, .. }) => {
                let result = context.compress_using_cdict(compressed, json, encoder);
                (Encoding::CompressedWithDictionary, result)
            }
            None => (Encoding::Compressed, context.compress(compressed, json, LEVEL)),
        };
        match result {
            Ok(len) if len < json.len() => (encoding, &compressed[..len]),
            _ => (Encoding::Json, json),
        }
    }

    /// Collects a text for the dictionary, and trains it on the last one.
    fn sample(&mut self, json: &[u8], dictionary: &OnceLock<Dictionary>) {
        let Some(samples) = &mut self.samples else { return };
        samples.add(json);
        if !samples.is_complete() {
            return;
        }
        match samples.train() {
            Ok(trained) => {
                drop(dictionary.set(trained));
                self.samples = None;
            }
            Err(error) => {
                tracing::debug!(error = %error, "no dictionary can be trained on these objects");
                let trainings = samples.trainings + 1;
                let more = (trainings < MAX_TRAININGS).then(|| Samples { trainings, ..Samples::default() });
                self.samples = more;
            }
        }
    }
}

impl Samples {
    fn add(&mut self, json: &[u8]) {
        let sample = json.get(..MAX_SAMPLE_SIZE).unwrap_or(json);
        self.texts.extend_from_slice(sample);
        self.sizes.push(sample.len());
    }

    fn is_complete(&self) -> bool {
        self.sizes.len() >= MAX_SAMPLES || self.texts.len() >= SAMPLES_SIZE
    }

    /// Trains a dictionary, which takes some ten milliseconds.
    fn train(&self) -> io::Result<Dictionary> {
        let bytes = from_continuous(&self.texts, &self.sizes, DICTIONARY_SIZE)?;
        match (CDict::try_create(&bytes, LEVEL), DDict::try_create(&bytes)) {
            (Some(encoder), Some(decoder)) => Ok(Dictionary { encoder, decoder }),
            _ => Err(io::Error::other("the dictionary is invalid")),
        }
    }
}

/// Decompresses texts one by one.
pub(super) struct Decompressor {
    context: DCtx<'static>,
    json: Vec<u8>,
}

impl Default for Decompressor {
    fn default() -> Self {
        Decompressor { context: DCtx::create(), json: Vec::new() }
    }
}

impl Decompressor {
    /// Returns the text, given its length.
    ///
    /// # Errors
    /// Fails if the bytes are not a compressed text of this length.
    pub(super) fn decompress<'a>(
        &'a mut self,
        encoding: Encoding,
        bytes: &'a [u8],
        len: usize,
        dictionary: Option<&Dictionary>,
    ) -> Result<&'a [u8], &'static str> {
        if encoding == Encoding::Json {
            return Ok(bytes);
        }
        let Decompressor { context, json } = self;
        json.clear();
        json.shrink_to(RETAINED_CAPACITY);
        json.reserve(len);
        let result = match dictionary.filter(|_| encoding == Encoding::CompressedWithDictionary) {
            Some(Dictionary { decoder, .. }) => context.decompress_using_ddict(json, bytes, decoder),
            None => context.decompress(json, bytes),
        };
        match result {
            Ok(found) if found == len => Ok(&json[..]),
            Ok(_) => Err("it has an unexpected length"),
            Err(code) => Err(get_error_name(code)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(compressor: &mut Compressor, dictionary: &OnceLock<Dictionary>, json: &[u8]) -> (Encoding, usize) {
        let (encoding, bytes) = compressor.compress(json, dictionary);
        let mut decompressor = Decompressor::default();
        assert_eq!(decompressor.decompress(encoding, bytes, json.len(), dictionary.get()), Ok(json));
        (encoding, bytes.len())
    }

    fn object(number: usize) -> String {
        let (owner, phase) = (number % 7, ["Pending", "Running", "Failed"][number % 3]);
        format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"pod-{number}","labels":{{"app":"web-{owner}"}}}},
            "spec":{{"containers":[{{"image":"registry.example.com/web:1.{owner}.2","name":"web"}}]}},
            "status":{{"phase":"{phase}","message":"container number {number} has a state"}}}}"#
        )
    }

    fn compress_all(
        compressor: &mut Compressor,
        dictionary: &OnceLock<Dictionary>,
        texts: impl Iterator<Item = String>,
    ) {
        for text in texts {
            compressor.compress(text.as_bytes(), dictionary);
        }
    }

    #[test]
    fn a_dictionary_is_trained_once_and_makes_similar_texts_smaller() {
        let (mut compressor, dictionary) = (Compressor::default(), OnceLock::new());
        let first = round_trip(&mut compressor, &dictionary, object(0).as_bytes());
        assert_eq!(first.0, Encoding::Compressed);
        compress_all(&mut compressor, &dictionary, (1..MAX_SAMPLES).map(object));
        assert!(!compressor.is_sampling() && dictionary.get().is_some());
        let later = round_trip(&mut compressor, &dictionary, object(100_000).as_bytes());
        assert_eq!(later.0, Encoding::CompressedWithDictionary);
        assert!(later.1 * 2 < first.1, "{later:?} after {first:?}");
    }

    #[test]
    fn texts_that_fit_no_dictionary_are_stored_correctly() {
        let (mut compressor, dictionary) = (Compressor::default(), OnceLock::new());
        compress_all(&mut compressor, &dictionary, (0..MAX_SAMPLES).map(object));
        let mut random = fastrand::Rng::with_seed(7);
        let noise: Vec<u8> = (0..5000).map(|_| random.u8(..)).collect();
        assert_eq!(round_trip(&mut compressor, &dictionary, &noise), (Encoding::Json, noise.len()));
        let other = "ü".repeat(2000);
        assert!(round_trip(&mut compressor, &dictionary, other.as_bytes()).1 < 200);
        assert_eq!(round_trip(&mut compressor, &dictionary, b"").1, 0);
    }

    #[test]
    fn the_training_ends_without_a_dictionary_if_texts_are_unsuitable() {
        let (mut compressor, dictionary) = (Compressor::default(), OnceLock::new());
        compress_all(&mut compressor, &dictionary, (0..MAX_SAMPLES * 4).map(|_| "1".to_owned()));
        assert!(!compressor.is_sampling());
        assert_eq!(round_trip(&mut compressor, &dictionary, b"2"), (Encoding::Json, 1));
    }

    #[test]
    fn large_texts_do_not_retain_their_buffers() {
        let (mut compressor, dictionary) = (Compressor::default(), OnceLock::new());
        let large: String = (0..8000).map(object).collect();
        assert!(large.len() > 1_500_000, "{}", large.len());
        assert!(round_trip(&mut compressor, &dictionary, large.as_bytes()).1 < large.len() / 4);
        compressor.compress(b"{}", &dictionary);
        assert!(compressor.compressed.capacity() <= RETAINED_CAPACITY * 2, "{}", compressor.compressed.capacity());
    }

    #[test]
    fn bytes_that_are_not_compressed_are_an_error() {
        let mut decompressor = Decompressor::default();
        assert!(decompressor.decompress(Encoding::Compressed, b"no frame", 8, None).is_err());
        let (mut compressor, dictionary) = (Compressor::default(), OnceLock::new());
        let text = object(1);
        let (encoding, bytes) = compressor.compress(text.as_bytes(), &dictionary);
        assert!(decompressor.decompress(encoding, bytes, text.len() + 1, None).is_err(), "another length");
    }
}

//! Decompresses a response while its bytes arrive, in chunks that bound the size of the output.

use std::io::{self, Write};

use flate2::write::MultiGzDecoder;
use http::{HeaderMap, header::CONTENT_ENCODING};

/// The chunk size of compressed responses, in bytes. The output of gzip is at most about a thousand times as large.
const COMPRESSED_CHUNK_SIZE: usize = 4 << 10;
/// The chunk size of uncompressed responses, in bytes.
const PLAIN_CHUNK_SIZE: usize = 64 << 10;

/// Decompresses a response body, or passes it through.
pub(super) enum Decompressor {
    Plain,
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
}

impl Decompressor {
    /// Creates the decompressor for a response with these headers.
    pub(super) fn new(headers: &HeaderMap) -> Self {
        let is_gzip = headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding == "gzip");
        match is_gzip {
            true => Decompressor::Gzip(Box::new(MultiGzDecoder::new(Vec::new()))),
            false => Decompressor::Plain,
        }
    }

    /// Returns the number of bytes to push at a time.
    pub(super) fn chunk_size(&self) -> usize {
        match self {
            Decompressor::Plain => PLAIN_CHUNK_SIZE,
            Decompressor::Gzip(_) => COMPRESSED_CHUNK_SIZE,
        }
    }

    /// Decompresses the next bytes and returns the available output.
    ///
    /// # Errors
    /// Fails if the bytes are not valid compressed data.
    pub(super) fn push<'a>(&'a mut self, bytes: &'a [u8]) -> io::Result<&'a [u8]> {
        match self {
            Decompressor::Plain => Ok(bytes),
            Decompressor::Gzip(decoder) => {
                decoder.get_mut().clear();
                decoder.write_all(bytes)?;
                Ok(decoder.get_ref())
            }
        }
    }

    /// Returns the remaining output after the last bytes.
    ///
    /// # Errors
    /// Fails if the response is truncated.
    pub(super) fn finish(&mut self) -> io::Result<&[u8]> {
        match self {
            Decompressor::Plain => Ok(&[]),
            Decompressor::Gzip(decoder) => {
                decoder.get_mut().clear();
                decoder.try_finish()?;
                Ok(decoder.get_ref())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use flate2::{Compression, write::GzEncoder};
    use http::HeaderValue;

    use super::*;

    fn compressed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn gzip() -> Decompressor {
        Decompressor::new(&HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static("gzip"))]))
    }

    fn text(decompressor: &mut Decompressor, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        for chunk in bytes.chunks(7) {
            text.extend_from_slice(decompressor.push(chunk)?);
        }
        text.extend_from_slice(decompressor.finish()?);
        Ok(text)
    }

    #[test]
    fn compressed_responses_are_decompressed_and_others_are_passed_through() {
        let long = "the same again and again; ".repeat(10_000);
        assert_eq!(text(&mut gzip(), &compressed(long.as_bytes())).unwrap(), long.as_bytes());
        let members = [compressed(b"one "), compressed(b"two")].concat();
        assert_eq!(text(&mut gzip(), &members).unwrap(), b"one two");
        assert_eq!(text(&mut Decompressor::new(&HeaderMap::new()), b"plain").unwrap(), b"plain");
    }

    #[test]
    fn truncated_or_uncompressed_data_is_an_error() {
        let complete = compressed("some text that is long enough".as_bytes());
        assert!(text(&mut gzip(), &complete[..complete.len() - 9]).is_err());
        assert!(text(&mut gzip(), b"<html>not found</html>").is_err());
    }
}

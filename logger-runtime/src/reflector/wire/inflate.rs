//! Undoes the compression of an answer while its bytes come, in steps that bound what each one makes.

use std::io::{self, Write};

use flate2::write::MultiGzDecoder;
use http::HeaderMap;
use http::header::CONTENT_ENCODING;

/// So many compressed bytes at a time: gzip makes at most a thousand times as many of them.
const COMPRESSED_STEP: usize = 4 << 10;
/// So many bytes at a time of an answer that is not compressed.
const PLAIN_STEP: usize = 64 << 10;

/// The way from the bytes of an answer to its text.
pub(super) enum Inflate {
    Plain,
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
}

impl Inflate {
    /// As an answer with these headers is compressed.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let is_gzip = headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding == "gzip");
        match is_gzip {
            true => Inflate::Gzip(Box::new(MultiGzDecoder::new(Vec::new()))),
            false => Inflate::Plain,
        }
    }

    /// How many bytes to hand over at a time.
    pub(super) fn step(&self) -> usize {
        match self {
            Inflate::Plain => PLAIN_STEP,
            Inflate::Gzip(_) => COMPRESSED_STEP,
        }
    }

    /// The text of the next bytes, as far as it is known yet.
    ///
    /// # Errors
    /// These are no compressed bytes.
    pub(super) fn push<'a>(&'a mut self, bytes: &'a [u8]) -> io::Result<&'a [u8]> {
        match self {
            Inflate::Plain => Ok(bytes),
            Inflate::Gzip(decoder) => {
                decoder.get_mut().clear();
                decoder.write_all(bytes)?;
                Ok(decoder.get_ref())
            }
        }
    }

    /// The rest of the text, when all bytes were handed over.
    ///
    /// # Errors
    /// The answer was cut short.
    pub(super) fn finish(&mut self) -> io::Result<&[u8]> {
        match self {
            Inflate::Plain => Ok(&[]),
            Inflate::Gzip(decoder) => {
                decoder.get_mut().clear();
                decoder.try_finish()?;
                Ok(decoder.get_ref())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use http::HeaderValue;

    use super::*;

    fn compressed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn gzip() -> Inflate {
        Inflate::of(&HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static("gzip"))]))
    }

    fn text(inflate: &mut Inflate, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        for step in bytes.chunks(7) {
            text.extend_from_slice(inflate.push(step)?);
        }
        text.extend_from_slice(inflate.finish()?);
        Ok(text)
    }

    #[test]
    fn compressed_answers_give_their_text_and_others_are_it() {
        let long = "the same again and again; ".repeat(10_000);
        assert_eq!(text(&mut gzip(), &compressed(long.as_bytes())).unwrap(), long.as_bytes());
        let members = [compressed(b"one "), compressed(b"two")].concat();
        assert_eq!(text(&mut gzip(), &members).unwrap(), b"one two");
        assert_eq!(text(&mut Inflate::of(&HeaderMap::new()), b"plain").unwrap(), b"plain");
    }

    #[test]
    fn what_is_cut_short_or_not_compressed_is_an_error() {
        let whole = compressed("some text that is long enough".as_bytes());
        assert!(text(&mut gzip(), &whole[..whole.len() - 9]).is_err());
        assert!(text(&mut gzip(), b"<html>not found</html>").is_err());
    }
}

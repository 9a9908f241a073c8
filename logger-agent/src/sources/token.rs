//! The bearer tokens of a source: clients without one cannot send records.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
};

use http::{HeaderMap, header::AUTHORIZATION};
use subtle::ConstantTimeEq;

/// The minimum length of a token.
const MIN_LENGTH: usize = 16;

/// The tokens that a source accepts. Without any, all clients are accepted.
#[derive(Clone, Default)]
pub struct Tokens(Vec<Vec<u8>>);

/// A file without usable tokens.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The file cannot be read.
    #[error("cannot read the tokens in `{}`: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file has no token, or a token that can be guessed.
    #[error(
        "invalid tokens in `{}`: expected lines of at least {} visible ASCII characters",
        .path.display(),
        MIN_LENGTH
    )]
    Invalid {
        /// The file.
        path: PathBuf,
    },
}

impl Tokens {
    /// Reads a file with one token on each line: with two of them, clients can change to a new one.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or has no token or an invalid one.
    pub fn read(path: &Path) -> Result<Self, TokenError> {
        let text = fs::read_to_string(path);
        let text = text.map_err(|source| TokenError::Read { path: path.to_owned(), source })?;
        let tokens: Vec<_> = text.lines().map(|line| line.trim().as_bytes().to_vec()).collect();
        let is_valid = |token: &Vec<u8>| token.len() >= MIN_LENGTH && token.iter().all(u8::is_ascii_graphic);
        match !tokens.is_empty() && tokens.iter().all(is_valid) {
            true => Ok(Tokens(tokens)),
            false => Err(TokenError::Invalid { path: path.to_owned() }),
        }
    }

    /// Returns whether a request is accepted. The time of the comparison depends on the lengths of the tokens only.
    #[must_use]
    pub fn accept(&self, headers: &HeaderMap) -> bool {
        if self.0.is_empty() {
            return true;
        }
        let Some(presented) = headers.get(AUTHORIZATION).and_then(|value| bearer(value.as_bytes())) else {
            return false;
        };
        let equal = self.0.iter().map(|token| token.as_slice().ct_eq(presented));
        equal.fold(subtle::Choice::from(0), |any, is_equal| any | is_equal).into()
    }
}

/// Returns the token of the header `Authorization`.
fn bearer(value: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = value.split_at_checked("Bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"Bearer ").then_some(token)
}

/// Tokens are not printed.
impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tokens({})", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn read(text: &str) -> Result<Tokens, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), text).unwrap();
        Tokens::read(file.path()).map_err(|error| error.to_string())
    }

    fn accepts(tokens: &Tokens, value: &'static str) -> bool {
        tokens.accept(&[(AUTHORIZATION, HeaderValue::from_static(value))].into_iter().collect())
    }

    #[test]
    fn a_request_needs_one_of_the_tokens() {
        let tokens = read("0123456789abcdef\nfedcba9876543210\n").unwrap();
        assert!(accepts(&tokens, "Bearer 0123456789abcdef") && accepts(&tokens, "bearer fedcba9876543210"));
        for other in ["Bearer 0123456789abcdeg", "Bearer 0123456789abcde", "Bearer ", "Basic 0123456789abcdef", ""] {
            assert!(!accepts(&tokens, other), "{other}");
        }
        assert!(!tokens.accept(&HeaderMap::new()));
        assert!(Tokens::default().accept(&HeaderMap::new()), "no tokens are configured");
        assert_eq!(format!("{tokens:?}"), "Tokens(2)");
    }

    #[test]
    fn files_without_tokens_are_rejected() {
        for text in ["", "\n", "short\n", "0123456789 abcdef", "0123456789abcdef\n\n"] {
            let error = read(text).unwrap_err();
            assert!(error.ends_with("expected lines of at least 16 visible ASCII characters"), "{text:?}: {error}");
        }
        let error = Tokens::read(Path::new("/missing/tokens")).unwrap_err().to_string();
        assert!(error.starts_with("cannot read the tokens in `/missing/tokens`: "), "{error}");
    }
}

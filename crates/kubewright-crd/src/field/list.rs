//! Errors and paths of limited total size. Each contains the path of its field, so that those of many fields below a
//! long name would be much larger than the object.

use super::FieldError;

/// The total size from which on errors and paths are ignored, in bytes.
pub(crate) const MAX_SIZE: usize = 1 << 20;

/// The first errors of an object.
#[derive(Debug, Default)]
pub(crate) struct ErrorList {
    errors: Vec<FieldError>,
    size: usize,
}

impl ErrorList {
    pub(crate) fn push(&mut self, error: FieldError) {
        if !self.is_full() {
            self.size += error.size();
            self.errors.push(error);
        }
    }

    /// Whether further errors are ignored.
    pub(crate) fn is_full(&self) -> bool {
        self.size >= MAX_SIZE
    }

    pub(crate) fn into_vec(self) -> Vec<FieldError> {
        self.errors
    }
}

impl Extend<FieldError> for ErrorList {
    fn extend<T: IntoIterator<Item = FieldError>>(&mut self, errors: T) {
        errors.into_iter().for_each(|error| self.push(error));
    }
}

/// The paths of the first fields of an object.
#[derive(Debug, Default)]
pub(crate) struct PathList {
    paths: Vec<String>,
    size: usize,
}

impl PathList {
    /// Adds the path that `path` returns, which is not called if further paths are ignored.
    pub(crate) fn push_with(&mut self, path: impl FnOnce() -> String) {
        if self.size < MAX_SIZE {
            let path = path();
            self.size += path.len();
            self.paths.push(path);
        }
    }

    pub(crate) fn into_sorted(mut self) -> Vec<String> {
        self.paths.sort_unstable();
        self.paths
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_size_is_limited() {
        let (mut errors, mut paths) = (ErrorList::default(), PathList::default());
        let long = "x".repeat(MAX_SIZE / 4);
        for _ in 0..100 {
            errors.push(FieldError::required(long.as_str(), ""));
            paths.push_with(|| long.clone());
        }
        assert_eq!((errors.into_vec().len(), paths.into_sorted().len()), (4, 4));
    }
}

//! Compiled regular expressions with a bound of their size, and caches of them with a budget of bytes.

use std::collections::HashMap;

use regex::{Error, Regex, RegexBuilder};

/// The sizes with which a compilation is tried, in bytes: the crate `regex` does not return the size of the result.
const SIZES: [usize; 4] = [32 << 10, 256 << 10, 2 << 20, 16 << 20];

/// Compiles a pattern to at most `limit` bytes. Returns an upper bound of its size too.
pub(crate) fn compile(builder: &mut RegexBuilder, limit: usize) -> Result<(Regex, usize), Error> {
    let sizes = SIZES.into_iter().filter(|size| *size < limit).chain([limit]);
    let mut result = Err(Error::CompiledTooBig(limit));
    for size in sizes {
        result = builder.size_limit(size).build().map(|regex| (regex, size));
        if !matches!(result, Err(Error::CompiledTooBig(_))) {
            break;
        }
    }
    result
}

/// Values by their pattern. Before their sizes exceed the budget, all are removed.
#[derive(Debug)]
pub(crate) struct SizedCache<V> {
    values: HashMap<String, V>,
    bytes: usize,
    budget: usize,
}

impl<V: Clone> SizedCache<V> {
    pub(crate) fn new(budget: usize) -> Self {
        SizedCache { values: HashMap::new(), bytes: 0, budget }
    }

    pub(crate) fn get(&self, pattern: &str) -> Option<V> {
        self.values.get(pattern).cloned()
    }

    /// Adds a value of this size. One that alone exceeds the budget is not kept.
    pub(crate) fn insert(&mut self, pattern: &str, value: V, size: usize) {
        let size = size.saturating_add(pattern.len());
        if self.bytes.saturating_add(size) > self.budget {
            self.values.clear();
            self.bytes = 0;
        }
        if size <= self.budget && self.values.insert(pattern.to_owned(), value).is_none() {
            self.bytes += size;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_the_smallest_bound_in_which_the_pattern_compiles() {
        let size = |pattern: &str, limit| compile(&mut RegexBuilder::new(pattern), limit).map(|(_, size)| size);
        assert_eq!(size("^a+$", 64 << 20).unwrap(), 32 << 10);
        assert!(size(r"\pL{300}", 64 << 20).unwrap() > 1 << 20);
        assert!(matches!(size(r"\pL{300}", 1 << 20), Err(Error::CompiledTooBig(_))));
        assert!(matches!(size("(", 1 << 20), Err(Error::Syntax(_))));
    }

    #[test]
    fn the_sizes_in_a_cache_never_exceed_its_budget() {
        let mut cache = SizedCache::new(1000);
        for index in 0..500 {
            cache.insert(&format!("{index}"), index, 300);
            assert!(cache.bytes <= 1000 && cache.values.len() <= 3);
        }
        assert_eq!(cache.get("499"), Some(499));
        cache.insert("large", 0, 2000);
        assert_eq!((cache.get("large"), cache.bytes), (None, 0));
    }
}

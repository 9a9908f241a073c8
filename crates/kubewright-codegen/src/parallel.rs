//! Work on several cores.

use std::{
    io,
    num::NonZero,
    thread::{self, Scope, ScopedJoinHandle},
};

/// Recursive functions walk deep schemas, so each thread gets the stack size of a main thread.
const STACK: usize = 8 << 20;

/// Returns the results of `f` for all items, in the order of the items.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(items.len());
    if threads < 2 {
        return items.iter().map(f).collect();
    }
    let chunk_len = items.len().div_ceil(threads);
    thread::scope(|scope| {
        let map_all = |chunk: &[T]| chunk.iter().map(&f).collect::<Vec<R>>();
        let start = |chunk| (chunk, spawn(scope, move || map_all(chunk)));
        let chunks: Vec<_> = items.chunks(chunk_len).map(start).collect();
        chunks.into_iter().flat_map(|(chunk, thread)| result(thread, || map_all(chunk))).collect()
    })
}

/// Returns the results of both functions, which run at the same time. The first one runs on this thread.
pub(crate) fn join<A, B: Send>(first: impl FnOnce() -> A, second: impl Fn() -> B + Sync) -> (A, B) {
    thread::scope(|scope| {
        let thread = spawn(scope, &second);
        (first(), result(thread, &second))
    })
}

fn spawn<'scope, R: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    f: impl FnOnce() -> R + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, R>> {
    thread::Builder::new().stack_size(STACK).spawn_scoped(scope, f)
}

/// Returns the result of a thread. If it could not be spawned, or panicked, the work is done on this thread.
fn result<R>(thread: io::Result<ScopedJoinHandle<'_, R>>, work: impl FnOnce() -> R) -> R {
    thread.ok().and_then(|thread| thread.join().ok()).unwrap_or_else(work)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<u32> = (0..1000).collect();
        assert_eq!(map(&items, |item| item * 2), (0..1000).map(|item| item * 2).collect::<Vec<_>>());
        assert!(map(&[], |item: &u32| *item).is_empty());
    }

    #[test]
    fn both_results_are_returned() {
        assert_eq!(join(|| 1, || "two"), (1, "two"));
    }
}

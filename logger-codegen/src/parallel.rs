//! A map over items on all cores.

use std::{num::NonZero, thread};

/// Recursive functions walk deep schemas, so each thread gets the stack size of a main thread.
const STACK: usize = 8 << 20;

/// Returns the results of `f` for all items, in the order of the items.
pub(super) fn map<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(items.len());
    if threads < 2 {
        return items.iter().map(f).collect();
    }
    let chunk_len = items.len().div_ceil(threads);
    thread::scope(|scope| {
        let map_all = |chunk: &[T]| chunk.iter().map(&f).collect::<Vec<R>>();
        let spawn = |chunk| thread::Builder::new().stack_size(STACK).spawn_scoped(scope, move || map_all(chunk));
        let chunks: Vec<_> = items.chunks(chunk_len).map(|chunk| (chunk, spawn(chunk).ok())).collect();
        // A chunk whose thread could not be spawned, or panicked, is mapped on this thread.
        let join = |(chunk, thread): (_, Option<thread::ScopedJoinHandle<'_, Vec<R>>>)| {
            thread.and_then(|thread| thread.join().ok()).unwrap_or_else(|| map_all(chunk))
        };
        chunks.into_iter().flat_map(join).collect()
    })
}

//! One after the other on every core: definitions are made apart from each other.

use std::num::NonZero;
use std::thread;

/// Deep schemas are walked by functions that call themselves; a thread has as much room for them as a program.
const STACK: usize = 8 << 20;

/// What `f` makes of each item, in their order.
pub(super) fn map<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(items.len());
    if threads < 2 {
        return items.iter().map(f).collect();
    }
    let share = items.len().div_ceil(threads);
    thread::scope(|scope| {
        let all = |share: &[T]| share.iter().map(&f).collect::<Vec<R>>();
        let start = |share| thread::Builder::new().stack_size(STACK).spawn_scoped(scope, move || all(share));
        let shares: Vec<_> = items.chunks(share).map(|share| (share, start(share).ok())).collect();
        // What no thread could be had for, or one panicked over, is done here.
        let finish = |(share, thread): (_, Option<thread::ScopedJoinHandle<'_, Vec<R>>>)| {
            thread.and_then(|thread| thread.join().ok()).unwrap_or_else(|| all(share))
        };
        shares.into_iter().flat_map(finish).collect()
    })
}

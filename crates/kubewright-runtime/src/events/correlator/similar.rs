//! The notes of similar events: only a limited number has dedicated events.

use std::time::Duration;

use tokio::time::Instant;

/// The number of different notes with dedicated events, as in client-go.
const MAX_NOTES: usize = 10;
/// The time for which a note counts, as in client-go.
const WINDOW: Duration = Duration::from_secs(600);

/// The notes with dedicated events, with the time at which each was last seen.
#[derive(Debug, Default)]
pub(super) struct SimilarNotes(Vec<(u64, Instant)>);

impl SimilarNotes {
    /// Returns whether a note has a dedicated event: it was seen within the window, or fewer than 10 others were.
    pub(super) fn admit(&mut self, note: u64, now: Instant) -> bool {
        self.0.retain(|(_, seen)| now.saturating_duration_since(*seen) < WINDOW);
        let is_full = self.0.len() >= MAX_NOTES;
        match self.0.iter_mut().find(|(known, _)| *known == note) {
            Some((_, seen)) => *seen = now,
            None if is_full => return false,
            None => self.0.push((note, now)),
        }
        true
    }
}

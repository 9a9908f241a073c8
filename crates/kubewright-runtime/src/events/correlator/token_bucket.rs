//! A token bucket that limits the writes about one object. It is smaller than governor's, which needs a clock each.

use std::time::Duration;

use tokio::time::Instant;

/// The number of tokens of a full bucket, as in client-go.
const BURST: u32 = 25;
/// The time after which a token is added, as in client-go.
const INTERVAL: Duration = Duration::from_secs(300);

/// The tokens of one object.
#[derive(Debug)]
pub(super) struct TokenBucket {
    tokens: u32,
    /// The time up to which tokens were added.
    filled: Instant,
}

impl TokenBucket {
    /// Creates a full bucket.
    pub(super) fn new(now: Instant) -> Self {
        TokenBucket { tokens: BURST, filled: now }
    }

    /// Takes a token, if there is one.
    pub(super) fn take(&mut self, now: Instant) -> bool {
        self.fill(now);
        let has_token = self.tokens > 0;
        self.tokens = self.tokens.saturating_sub(1);
        has_token
    }

    fn fill(&mut self, now: Instant) {
        let added = now.saturating_duration_since(self.filled).as_secs() / INTERVAL.as_secs();
        let missing = BURST - self.tokens;
        match u32::try_from(added) {
            Ok(added) if added < missing => {
                self.tokens += added;
                self.filled += INTERVAL * added;
            }
            _ => *self = Self::new(self.filled.max(now)),
        }
    }
}

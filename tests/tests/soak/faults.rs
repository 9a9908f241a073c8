//! Faults of the connection: it is reset, stalled and rejected at random.

use std::time::Duration;

use fastrand::Rng;
use tests::proxy::Proxy;
use tokio::time::{Instant, sleep};

/// The maximum time between two faults, and that of a fault, in milliseconds.
const PAUSE: u64 = 4000;
const FAULT: u64 = 2000;

/// Injects faults until `end`. All data is forwarded afterwards.
pub(super) async fn inject(proxy: &Proxy, mut rng: Rng, end: Instant) {
    while Instant::now() < end {
        sleep(Duration::from_millis(rng.u64(..PAUSE))).await;
        match rng.u8(..4) {
            0 => proxy.stall(),
            1 => proxy.refuse().await,
            _ => proxy.reset(),
        }
        sleep(Duration::from_millis(rng.u64(..FAULT))).await;
        proxy.heal().await;
    }
}

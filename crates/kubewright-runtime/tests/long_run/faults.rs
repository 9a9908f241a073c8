//! Faults between the informers and the server.

use std::time::Duration;

use fastrand::Rng;
use kubewright_apiserver::{Fault, Faults, Requests, Verb};
use tokio::time::{Instant, sleep};

const STATUSES: [(u16, &str); 8] = [
    (500, "InternalError"),
    (503, "ServiceUnavailable"),
    (504, "Timeout"),
    (429, "TooManyRequests"),
    (410, "Expired"),
    (410, "Gone"),
    (403, "Forbidden"),
    (401, "Unauthorized"),
];

/// Injects faults for this long. Requests that still hang or are slow afterwards are left for the informers to abandon.
pub(crate) async fn inject(faults: Faults, mut rng: Rng, time: Duration) {
    let end = Instant::now() + time;
    while Instant::now() < end {
        sleep(Duration::from_millis(rng.u64(..60_000))).await;
        let verb = if rng.bool() { Verb::List } else { Verb::Watch };
        match rng.u32(..10) {
            0 => drop(faults.cut(Requests::all())),
            1 => drop(faults.end(Verb::Watch)),
            2 => drop(faults.expire(Verb::Watch)),
            3 => outage(&faults, &mut rng).await,
            _ => drop(faults.next(rng.usize(1..4), verb, fault(&mut rng))),
        }
        if rng.u32(..4) == 0 {
            faults.heal();
        }
        if rng.u32(..3) == 0 {
            // Makes the fault take effect at once.
            faults.end(Verb::Watch);
        }
    }
    faults.heal();
}

/// Fails or hangs all requests for a while.
async fn outage(faults: &Faults, rng: &mut Rng) {
    let rule = faults.always(Requests::all(), if rng.bool() { Fault::connection_refused() } else { Fault::hang() });
    faults.cut(Requests::all());
    sleep(Duration::from_secs(rng.u64(..300))).await;
    rule.heal();
    // Connections that hang stay dead without an error.
}

fn fault(rng: &mut Rng) -> Fault {
    let time = Duration::from_millis(rng.u64(1..20_000));
    match rng.u32(..14) {
        0 => Fault::connection_refused(),
        1 => Fault::reset(),
        2 => Fault::lost_answer(),
        3 => Fault::hang(),
        4 => Fault::latency(time),
        5 => Fault::late(time),
        6 => Fault::slow(rng.usize(1..10_000), time / 10),
        7 => Fault::broken_after(rng.usize(..50_000)),
        8 => Fault::torn("{\"type\":\"ADDED\",\"object\":{"),
        9 => Fault::too_many_requests(rng.u32(..10)),
        10 => Fault::expired_event(),
        11 => Fault::answer(502, "<html>bad gateway</html>"),
        _ => {
            let (code, reason) = *rng.choice(&STATUSES).unwrap();
            Fault::status(code, reason, "on purpose").delayed(time / 20)
        }
    }
}

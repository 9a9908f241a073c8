//! A test that failed writes are retried with growing delays.

use kubewright::{Operator, fake, manager::BoxError};

use crate::{kind, tests::server};

#[tokio::test(start_paused = true)]
async fn a_failed_write_is_retried_with_growing_delays() -> Result<(), BoxError> {
    let faults = fake::Faults::new();
    let updates = fake::Requests::to("apps").subresource("status").verb(fake::Verb::Update);
    faults.next(3, updates.clone(), fake::Fault::status(500, "InternalError", "injected"));
    let running = Operator::new("apps").controller(kind::controller).start(&server()?.client_with(faults.layer()))?;
    faults.until(updates.clone(), 4).await;
    let at: Vec<_> = faults.seen(updates).iter().map(|seen| seen.at).collect();
    assert!(at[2] - at[1] > at[1] - at[0] && at[3] - at[2] > at[2] - at[1]);
    running.stop().await
}

//! The error of a server that is stopped with requests in progress.

use kubewright_manager::serving::ServerError;
use tokio::io::AsyncWriteExt;

use crate::fixture::{Running, SOON, config, gated, read_to_end, soon};

#[tokio::test]
async fn requests_are_cancelled_after_the_drain_timeout() {
    let (router, handling, _gate) = gated();
    let running = Running::start(config().drain_timeout(SOON), router).await;
    let mut stream = running.connect().await;
    stream.write_all(b"GET /gated HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    soon(handling.acquire()).await.unwrap().forget();
    let error = running.stop().await.unwrap_err();
    assert!(matches!(error, ServerError::Drain { connections: 1, .. }), "{error:?}");
    let expected = "the server `test` stopped, but closed 1 connections with requests in progress after 100ms";
    assert_eq!(error.to_string(), expected);
    assert_eq!(read_to_end(&mut stream).await, "");
}

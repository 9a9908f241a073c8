//! Limits of bodies. Those of headers, requests and connections are tests of `kubewright-http`.

use http::Method;
use tokio::io::AsyncWriteExt;

use crate::fixture::{Running, config, read_to_end, router};

#[tokio::test]
async fn a_body_that_is_too_large_is_rejected() {
    let running = Running::start(config().max_body_size(1000), router()).await;
    let mut client = running.client().await;
    assert_eq!(client.request(Method::POST, "/echo", vec![b'a'; 1000]).await.0, 200);
    let rejected = client.request(Method::POST, "/echo", vec![b'a'; 1001]).await;
    assert_eq!(rejected, (413, "the body exceeds 1000 bytes\n".to_owned()));
    assert_eq!(running.get("/echo").await.0, 200, "the server continues");
}

#[tokio::test]
async fn the_default_limit_of_a_body_is_7_mib() {
    let running = Running::start(config(), router()).await;
    let mut client = running.client().await;
    assert_eq!(client.request(Method::POST, "/echo", vec![b'a'; 7 << 20]).await.0, 200);
    assert_eq!(client.request(Method::POST, "/echo", vec![b'a'; (7 << 20) + 1]).await.0, 413);
}

#[tokio::test]
async fn a_body_without_a_handler_is_not_received() {
    let running = Running::start(config(), router()).await;
    for (request, code) in [("POST /unknown", 404), ("PUT /echo", 405)] {
        let mut stream = running.connect().await;
        let head = format!("{request} HTTP/1.1\r\nhost: a\r\ncontent-length: 99999\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let response = read_to_end(&mut stream).await;
        assert!(response.starts_with(&format!("HTTP/1.1 {code} ")), "{response}");
        assert!(response.contains("connection: close\r\n"), "{response}");
    }
    assert_eq!(running.get("/unknown").await.0, 404);
}

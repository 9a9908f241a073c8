//! Webhooks that are called over HTTPS: at a URL, at an endpoint of a service, and failures of connections.

use std::{net::SocketAddr, sync::Arc};

use kube::{Api, Client, api::DynamicObject};
use kubewright_apiserver::{
    ApiServer,
    serve::{self, Authority, PemPair},
};
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use tokio_rustls::TlsAcceptor;

use crate::support::*;

/// A webhook that responds to every review with this response. It stops on drop.
struct Webhook {
    address: SocketAddr,
    authority: Authority,
    serving: PemPair,
    _tasks: JoinSet<()>,
}

impl Webhook {
    /// Starts a webhook whose certificate has these names.
    async fn start(names: &[&str], respond: impl Fn(&Value) -> Value + Send + Sync + 'static) -> Self {
        let authority = Authority::generate().unwrap();
        let serving = authority.serving(names.iter().map(|name| (*name).to_owned())).unwrap();
        let (acceptor, listener) = (acceptor(&serving), TcpListener::bind("127.0.0.1:0").await.unwrap());
        let (address, mut tasks) = (listener.local_addr().unwrap(), JoinSet::new());
        tasks.spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                // A client that does not trust the certificate closes the connection.
                drop(exchange(&acceptor, stream, &respond).await);
            }
        });
        Self { address, authority, serving, _tasks: tasks }
    }

    fn url(&self) -> String {
        format!("https://{}/review", self.address)
    }

    /// Returns a bundle with the authority.
    fn ca_bundle(&self) -> Value {
        bundle(self.authority.certificate())
    }

    /// Returns a bundle with the certificate of the webhook only.
    fn own_bundle(&self) -> Value {
        let end = "-----END CERTIFICATE-----\n";
        let (certificate, _) = self.serving.certificate.split_once(end).unwrap();
        bundle(&format!("{certificate}{end}"))
    }
}

fn bundle(certificates: &str) -> Value {
    json!(k8s_openapi::ByteString(certificates.as_bytes().to_vec()))
}

fn acceptor(serving: &PemPair) -> TlsAcceptor {
    let chain = CertificateDer::pem_slice_iter(serving.certificate.as_bytes()).map(Result::unwrap).collect();
    let key = PrivateKeyDer::from_pem_slice(serving.key.as_bytes()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    TlsAcceptor::from(Arc::new(config.with_single_cert(chain, key).unwrap()))
}

/// Receives one request and responds to it.
async fn exchange(
    acceptor: &TlsAcceptor,
    stream: TcpStream,
    respond: &(impl Fn(&Value) -> Value + Sync),
) -> std::io::Result<()> {
    let mut stream = acceptor.accept(stream).await?;
    let mut received = Vec::new();
    let body = loop {
        let text = String::from_utf8_lossy(&received);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
            if body.len() >= length.parse().unwrap() {
                assert!(head.starts_with("POST /review?timeout="), "{head}");
                break body.to_owned();
            }
        }
        if stream.read_buf(&mut received).await? == 0 {
            return Ok(());
        }
    };
    let body = respond(&serde_json::from_str(&body).unwrap()).to_string();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(format!("{head}{body}").as_bytes()).await?;
    stream.flush().await
}

/// Converts by setting the version.
fn convert(review: &Value) -> Value {
    let request = &review["request"];
    let mut objects = request["objects"].clone();
    objects
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .for_each(|object| object["apiVersion"] = request["desiredAPIVersion"].clone());
    let response = json!({ "uid": request["uid"], "result": { "status": "Success" }, "convertedObjects": objects });
    json!({ "apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "response": response })
}

fn deny(review: &Value) -> Value {
    let response = json!({ "uid": review["request"]["uid"], "allowed": false, "status": { "message": "no" } });
    json!({ "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response })
}

/// Returns a client of a server whose Widgets are converted by this client configuration, with one Widget.
async fn server_with(client_config: Value) -> (ApiServer, Client) {
    let server = ApiServer::new();
    serve::call_webhooks(&server);
    let mut definition = widget_definition();
    let mut second = definition["spec"]["versions"][0].clone();
    (second["name"], second["storage"]) = (json!("v2"), json!(false));
    definition["spec"]["versions"].as_array_mut().unwrap().push(second);
    let webhook = json!({ "conversionReviewVersions": ["v1"], "clientConfig": client_config });
    definition["spec"]["conversion"] = json!({ "strategy": "Webhook", "webhook": webhook });
    server.load(&definition).unwrap();
    let client = server.client();
    create(&widgets(&client), &widget("a")).await;
    (server, client)
}

async fn read(client: &Client) -> kube::Result<DynamicObject> {
    let mut kind = widget_kind();
    (kind.version, kind.api_version) = ("v2".to_owned(), "example.com/v2".to_owned());
    let api: Api<DynamicObject> = Api::default_namespaced_with(client.clone(), &kind);
    api.get("a").await
}

/// Returns why the webhook is not called.
async fn failure(client: &Client) -> String {
    let message = rejection(read(client).await).2;
    message.strip_prefix("conversion webhook for example.com/v1, Kind=Widget failed: ").unwrap().to_owned()
}

#[tokio::test]
async fn a_webhook_at_a_url_is_verified_with_its_bundle() {
    let webhook = Webhook::start(&["127.0.0.1"], convert).await;
    let (_, client) = server_with(json!({ "url": webhook.url(), "caBundle": webhook.ca_bundle() })).await;
    assert_eq!(read(&client).await.unwrap().data["spec"]["name"], "x");
    let posted = format!("Post \"{}?timeout=30s\": ", webhook.url());
    let untrusted = format!("{posted}tls: failed to verify certificate: x509: certificate signed by unknown authority");
    let other = Webhook::start(&["127.0.0.1"], convert).await;
    for bundle in [other.ca_bundle(), Value::Null] {
        let (_, client) = server_with(json!({ "url": webhook.url(), "caBundle": bundle })).await;
        assert_eq!(failure(&client).await, untrusted);
    }
}

#[tokio::test]
async fn a_certificate_in_the_bundle_needs_no_authority() {
    let webhook = Webhook::start(&["127.0.0.1"], convert).await;
    let (_, client) = server_with(json!({ "url": webhook.url(), "caBundle": webhook.own_bundle() })).await;
    assert_eq!(read(&client).await.unwrap().data["spec"]["name"], "x");
}

#[tokio::test]
async fn admission_webhooks_are_called_over_https() {
    let webhook = Webhook::start(&["127.0.0.1"], deny).await;
    let server = ApiServer::new();
    serve::call_webhooks(&server);
    server.load(&widget_definition()).unwrap();
    let configuration = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": { "name": "test" },
        "webhooks": [{
            "name": "widgets.example.com",
            "clientConfig": { "url": webhook.url(), "caBundle": webhook.ca_bundle() },
            "rules": [{
                "apiGroups": ["example.com"], "apiVersions": ["v1"], "resources": ["widgets"], "operations": ["CREATE"],
            }],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        }],
    });
    server.load(&configuration).unwrap();
    let created = widgets(&server.client()).create(&Default::default(), &widget("a")).await;
    assert_eq!(rejection(created).2, "admission webhook \"widgets.example.com\" denied the request: no");
}

#[tokio::test]
async fn a_webhook_behind_a_service_is_at_a_ready_endpoint() {
    let webhook = Webhook::start(&["converter.default.svc"], convert).await;
    let service = json!({ "namespace": "default", "name": "converter", "path": "/review" });
    let (server, client) = server_with(json!({ "service": service, "caBundle": webhook.ca_bundle() })).await;
    let url = "https://converter.default.svc:443/review?timeout=30s";
    assert_eq!(failure(&client).await, format!("Post \"{url}\": service \"converter\" not found"));

    let mut service = json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": { "name": "converter", "namespace": "default" },
        "spec": { "type": "ClusterIP", "ports": [{ "name": "https", "port": 443 }] },
    });
    server.load(&service).unwrap();
    assert_eq!(failure(&client).await, format!("Post \"{url}\": no endpoints available for service \"converter\""));
    let endpoint = |ready: bool, address: &str| json!({ "addresses": [address], "conditions": { "ready": ready } });
    let slice = json!({
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": "converter", "namespace": "default", "labels": { "kubernetes.io/service-name": "converter" },
        },
        "addressType": "IPv4",
        "ports": [{ "name": "https", "port": webhook.address.port() }],
        "endpoints": [endpoint(false, "192.0.2.1"), endpoint(true, "127.0.0.1")],
    });
    server.load(&slice).unwrap();
    assert_eq!(read(&client).await.unwrap().data["spec"]["name"], "x");

    service["metadata"]["name"] = json!("other");
    service["spec"]["ports"][0]["port"] = json!(8443);
    server.load(&service).unwrap();
    let (other, client) = server_with(json!({ "service": { "namespace": "default", "name": "other" } })).await;
    other.load(&service).unwrap();
    let url = "https://other.default.svc:443/?timeout=30s";
    assert_eq!(failure(&client).await, format!("Post \"{url}\": no service port 443 found for service \"other\""));
}

#[tokio::test]
async fn closed_ports_and_closed_connections_are_errors() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (_, client) = server_with(json!({ "url": format!("https://{address}/review") })).await;
    let posted = format!("Post \"https://{address}/review?timeout=30s\": ");
    let (closed, failed) = tokio::join!(async { drop(listener.accept().await.unwrap()) }, failure(&client));
    let ((), reasons) = (closed, ["EOF", "connection reset by peer"]);
    assert!(reasons.iter().any(|reason| failed == format!("{posted}{reason}")), "{failed}");
    drop(listener);
    assert_eq!(failure(&client).await, format!("{posted}dial tcp {address}: connect: connection refused"));
}

//! TLS and authentication on a socket: client certificates, tokens, slow handshakes, and the program's credentials.

use std::{
    io::{Read, Write},
    net::SocketAddr,
    path::Path,
    time::Duration,
};

use base64::{
    Engine,
    prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD},
};
use http::Request;
use k8s_openapi::api::core::v1::{ConfigMap, ServiceAccount};
use kube::{
    Api, Client, Config, Error,
    api::{ListParams, PostParams},
    config::{KubeConfigOptions, Kubeconfig},
};
use kubewright_apiserver::{
    ApiServer, Authentication, Builder, SigningKey,
    serve::{self, Authority, Limits, PemPair, Tls},
};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair},
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinSet};

use super::program::{Program, connect};

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
const REVIEWS: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

/// A server with TLS in this process. It stops on drop.
struct Server {
    address: SocketAddr,
    authority: Authority,
    server: ApiServer,
    _tasks: JoinSet<()>,
}

impl Server {
    async fn start(builder: Builder, limits: Limits) -> Self {
        let authority = Authority::generate().unwrap();
        let serving = authority.serving(["api.example.com".to_owned()]).unwrap();
        let tls = Tls::new(&serving, &[authority.certificate()]).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, server) = (listener.local_addr().unwrap(), builder.build());
        let mut tasks = JoinSet::new();
        tasks.spawn(serve::serve_tls(server.clone(), listener, tls, limits, std::future::pending()));
        Self { address, authority, server, _tasks: tasks }
    }

    /// Starts a server that authenticates requests, with authorization by roles.
    async fn with_roles() -> Self {
        let builder = ApiServer::builder().rbac(true).authentication(Authentication::new());
        Self::start(builder, Limits::default()).await
    }

    /// Returns a client with these credentials.
    async fn client(&self, user: Value) -> Client {
        client(self.address, self.authority.certificate(), user).await
    }

    /// Returns a client with a certificate of the server's authority.
    async fn client_as(&self, user: &str, group: &str) -> Client {
        self.client(certificate(&self.authority.client(user, group).unwrap())).await
    }

    /// Returns a client of the administrator on this server, without the socket.
    fn administrator(&self) -> Client {
        self.server.client_as("root", &["system:masters"])
    }
}

/// Returns a client that trusts this authority.
async fn client(address: SocketAddr, authority: &str, user: Value) -> Client {
    let cluster = json!({
        "server": format!("https://{address}"), "certificate-authority-data": BASE64_STANDARD.encode(authority),
    });
    let kubeconfig = json!({
        "clusters": [{ "name": "c", "cluster": cluster }],
        "users": [{ "name": "u", "user": user }],
        "contexts": [{ "name": "x", "context": { "cluster": "c", "user": "u" } }],
        "current-context": "x",
    });
    connect_to(serde_json::from_value(kubeconfig).unwrap()).await
}

async fn connect_to(kubeconfig: Kubeconfig) -> Client {
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    config.default_retry = false;
    Client::try_from(config).unwrap()
}

/// Returns the credentials of a client certificate.
fn certificate(pair: &PemPair) -> Value {
    json!({
        "client-certificate-data": BASE64_STANDARD.encode(&pair.certificate),
        "client-key-data": BASE64_STANDARD.encode(&pair.key),
    })
}

/// Returns the user of the requests of a client.
async fn whoami(client: &Client) -> Result<Value, Error> {
    let review = Request::post(REVIEWS).header("content-type", "application/json").body(b"{}".to_vec()).unwrap();
    Ok(client.request::<Value>(review).await?["status"]["userInfo"].take())
}

/// Returns the code of the error of a request.
fn code<T>(outcome: Result<T, Error>) -> u16 {
    match outcome {
        Err(Error::Api(status)) => status.code,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("the request is accepted"),
    }
}

#[tokio::test]
async fn the_user_of_a_request_is_that_of_the_client_certificate() {
    let server = Server::with_roles().await;
    let administrator = server.client_as("admin", "system:masters").await;
    let user = whoami(&administrator).await.unwrap();
    assert_eq!(user["username"], "admin");
    assert_eq!(user["groups"], json!(["system:masters", "system:authenticated"]));
    let id = user["extra"]["authentication.kubernetes.io/credential-id"][0].as_str().unwrap();
    assert_eq!(id.strip_prefix("X509SHA256=").map(str::len), Some(64), "{id}");
    Api::<ConfigMap>::all(administrator).list(&ListParams::default()).await.unwrap();
    let jane = server.client_as("jane", "dev").await;
    assert_eq!(whoami(&jane).await.unwrap()["username"], "jane");
    assert_eq!(code(Api::<ConfigMap>::all(jane).list(&ListParams::default()).await), 403);
}

#[tokio::test]
async fn a_server_with_a_certificate_of_another_authority_is_not_trusted() {
    let server = Server::with_roles().await;
    let other = Authority::generate().unwrap();
    let client = client(server.address, other.certificate(), json!({})).await;
    let error = whoami(&client).await.unwrap_err();
    assert!(!matches!(error, Error::Api(_)), "{error}");
}

#[tokio::test]
async fn a_client_certificate_of_another_authority_is_unauthorized() {
    let server = Server::with_roles().await;
    let other = Authority::generate().unwrap().client("admin", "system:masters").unwrap();
    assert_eq!(code(whoami(&server.client(certificate(&other)).await).await), 401);
    // A serving certificate does not authenticate a client.
    let serving = server.authority.serving([]).unwrap();
    assert_eq!(code(whoami(&server.client(certificate(&serving)).await).await), 401);
}

#[tokio::test]
async fn requests_without_credentials_are_anonymous_with_roles_only() {
    let server = Server::with_roles().await;
    let anonymous = server.client(json!({})).await;
    anonymous.apiserver_version().await.unwrap();
    assert_eq!(code(whoami(&anonymous).await), 403);
    let builder = ApiServer::builder().authentication(Authentication::new());
    let server = Server::start(builder, Limits::default()).await;
    assert_eq!(code(server.client(json!({})).await.apiserver_version().await), 401);
    whoami(&server.client_as("jane", "dev").await).await.unwrap();
}

#[tokio::test]
async fn logs_of_pods_need_credentials_as_well() {
    let server = Server::with_roles().await;
    let logs = |client: Client| async move {
        let request = Request::get("/api/v1/namespaces/default/pods/web/log").body(Vec::new()).unwrap();
        code(client.request_text(request).await)
    };
    assert_eq!(logs(server.client_as("admin", "system:masters").await).await, 404);
    assert_eq!(logs(server.client_as("jane", "dev").await).await, 403);
    assert_eq!(logs(server.client(json!({ "token": "wrong" })).await).await, 401);
}

#[tokio::test]
async fn certificates_impersonate_with_permission_only() {
    let server = Server::with_roles().await;
    let impersonate = |pair: PemPair| {
        let mut user = certificate(&pair);
        user["as"] = json!("john");
        user
    };
    let administrator = server.authority.client("admin", "system:masters").unwrap();
    let john = server.client(impersonate(administrator)).await;
    assert_eq!(whoami(&john).await.unwrap()["username"], "john");
    let jane = server.authority.client("jane", "dev").unwrap();
    assert_eq!(code(whoami(&server.client(impersonate(jane)).await).await), 403);
}

/// Returns a key of a server, and the same key to sign tokens that the server would not issue.
fn signing_key() -> (SigningKey, EcdsaKeyPair) {
    let random = SystemRandom::new();
    let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
    let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random).unwrap();
    (SigningKey::from_pkcs8(pkcs8.as_ref()).unwrap(), pair)
}

/// Returns a token with changed claims, signed with a key.
fn resign(token: &str, key: &EcdsaKeyPair, change: impl FnOnce(&mut Value)) -> String {
    let claims = token.split('.').nth(1).unwrap();
    let mut claims: Value = serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap();
    change(&mut claims);
    let encode = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
    let message = format!("{}.{}", encode(br#"{"alg":"ES256"}"#), encode(claims.to_string().as_bytes()));
    let signature = key.sign(&SystemRandom::new(), message.as_bytes()).unwrap();
    format!("{message}.{}", encode(signature.as_ref()))
}

#[tokio::test]
async fn invalid_tokens_of_service_accounts_are_unauthorized() {
    let (key, pair) = signing_key();
    let builder = ApiServer::builder().rbac(true).authentication(Authentication::new()).service_account_key(key);
    let server = Server::start(builder, Limits::default()).await;
    let accounts = Api::<ServiceAccount>::namespaced(server.administrator(), "default");
    let account = serde_json::from_value(json!({ "metadata": { "name": "robot" } })).unwrap();
    accounts.create(&PostParams::default(), &account).await.unwrap();
    let request = serde_json::from_value(json!({ "metadata": {}, "spec": { "audiences": [] } })).unwrap();
    let issued = accounts.create_token_request("robot", &PostParams::default(), &request).await.unwrap();
    let token = issued.status.unwrap().token.unwrap();
    let user = async |token: &str| whoami(&server.client(json!({ "token": token })).await).await;
    let unchanged = resign(&token, &pair, |_| {});
    for valid in [token.as_str(), unchanged.as_str()] {
        assert_eq!(user(valid).await.unwrap()["username"], "system:serviceaccount:default:robot");
    }
    let expired = resign(&token, &pair, |claims| claims["exp"] = json!(claims["exp"].as_i64().unwrap() - 3600 - 61));
    let future = resign(&token, &pair, |claims| claims["nbf"] = json!(claims["nbf"].as_i64().unwrap() + 120));
    let elsewhere = resign(&token, &pair, |claims| claims["aud"] = json!(["vault"]));
    let issuer = resign(&token, &pair, |claims| claims["iss"] = json!("https://elsewhere"));
    let recreated = resign(&token, &pair, |claims| claims["kubernetes.io"]["serviceaccount"]["uid"] = json!("1"));
    let forged = resign(&token, &signing_key().1, |_| {});
    for (what, token) in [
        ("expired", expired),
        ("not valid yet", future),
        ("of another audience", elsewhere),
        ("of another issuer", issuer),
        ("of another account", recreated),
        ("of another key", forged),
    ] {
        assert_eq!(code(user(&token).await), 401, "{what}");
    }
    accounts.delete("robot", &kube::api::DeleteParams::default()).await.unwrap();
    assert_eq!(code(user(&token).await), 401, "of a deleted account");
}

#[tokio::test]
async fn slow_handshakes_do_not_stop_others_and_have_a_deadline() {
    let limits = Limits { handshake_timeout: Duration::from_secs(2), max_connections: 64, ..Limits::default() };
    let builder = ApiServer::builder().authentication(Authentication::new());
    let server = Server::start(builder, limits).await;
    let address = server.address.to_string();
    let mut slow: Vec<_> = (0..32).map(|_| connect(&address).unwrap()).collect();
    for stream in &mut slow {
        // The start of a handshake.
        stream.write_all(&[22, 3, 1]).unwrap();
    }
    whoami(&server.client_as("jane", "dev").await).await.unwrap();
    let closed = tokio::task::spawn_blocking(move || {
        slow.iter_mut().all(|stream| stream.read(&mut [0]).is_ok_and(|read| read == 0))
    });
    assert!(closed.await.unwrap());
    whoami(&server.client_as("jane", "dev").await).await.unwrap();
}

/// Returns a client with a kubeconfig of the program.
async fn from_file(path: &Path) -> Client {
    connect_to(Kubeconfig::read_from(path).unwrap()).await
}

#[tokio::test]
async fn the_programs_credentials_survive_a_restart_with_a_data_directory() {
    let directory = tempfile::tempdir().unwrap();
    let (data, kubeconfig) = (directory.path().join("data"), directory.path().join("kubeconfig"));
    let (data, path) = (data.to_str().unwrap(), kubeconfig.to_str().unwrap());
    let args = ["--data-dir", data, "--authorization-mode", "RBAC"];
    let program = Program::start_secure(&[&args[..], &["--port", "0", "--write-kubeconfig", path]].concat());
    let port = program.address().rsplit(':').next().unwrap().to_owned();
    let client = from_file(&kubeconfig).await;
    assert_eq!(whoami(&client).await.unwrap()["username"], "admin");
    let account = serde_json::from_value(json!({ "metadata": { "name": "robot" } })).unwrap();
    let accounts = Api::<ServiceAccount>::namespaced(client, "default");
    accounts.create(&PostParams::default(), &account).await.unwrap();
    let request = serde_json::from_value(json!({ "metadata": {}, "spec": { "audiences": [] } })).unwrap();
    let issued = accounts.create_token_request("robot", &PostParams::default(), &request).await.unwrap();
    let token = issued.status.unwrap().token.unwrap();
    program.terminate();
    assert!(program.wait().success());

    let _program = Program::start_secure(&[&args[..], &["--port", port.as_str()]].concat());
    let client = from_file(&kubeconfig).await;
    assert_eq!(whoami(&client).await.unwrap()["username"], "admin");
    let mut config = Kubeconfig::read_from(&kubeconfig).unwrap();
    let user = json!([{ "name": config.auth_infos[0].name, "user": { "token": token } }]);
    config.auth_infos = serde_json::from_value(user).unwrap();
    let robot = connect_to(config).await;
    assert_eq!(whoami(&robot).await.unwrap()["username"], "system:serviceaccount:default:robot");
}

#[tokio::test]
async fn the_program_reads_certificates_authorities_and_tokens_from_files() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (servers, clients) = (Authority::generate().unwrap(), Authority::generate().unwrap());
    let serving = servers.serving([]).unwrap();
    let chain = format!("{}{}", serving.certificate, servers.certificate());
    let (certificate_file, key_file) = (file("tls.crt", &chain), file("tls.key", &serving.key));
    let (clients_file, tokens_file) = (file("ca.crt", clients.certificate()), file("tokens.csv", "abc,joe,7,dev\n"));
    let program = Program::start_secure(&[
        "--port",
        "0",
        "--tls-cert-file",
        &certificate_file,
        "--tls-private-key-file",
        &key_file,
        "--client-ca-file",
        &clients_file,
        "--token-auth-file",
        &tokens_file,
    ]);
    let address = program.address().parse().unwrap();
    let jane = client(address, servers.certificate(), certificate(&clients.client("jane", "dev").unwrap())).await;
    assert_eq!(whoami(&jane).await.unwrap()["username"], "jane");
    let joe = client(address, servers.certificate(), json!({ "token": "abc" })).await;
    let user = json!({ "username": "joe", "uid": "7", "groups": ["dev", "system:authenticated"] });
    assert_eq!(whoami(&joe).await.unwrap(), user);
    let request = Request::get(CONFIG_MAPS).body(Vec::new()).unwrap();
    let anonymous = client(address, servers.certificate(), json!({})).await;
    assert_eq!(code(anonymous.request_text(request).await), 401, "without roles");
}

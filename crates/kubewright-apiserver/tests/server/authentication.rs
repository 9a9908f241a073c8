//! Tokens of service accounts and authentication of requests, in one process, beyond the topic `tokens` of the
//! conformance suite.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use http::Request;
use k8s_openapi::api::core::v1::{Pod, ServiceAccount};
use kube::{
    Api, Client, Error,
    api::{DeleteParams, PostParams},
    core::Status,
};
use kubewright_apiserver::{ApiServer, Authentication, SigningKey};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

const TOKENS: &str = "/api/v1/namespaces/default/serviceaccounts/robot/token";
const REVIEWS: &str = "/apis/authentication.k8s.io/v1/tokenreviews";

fn decode<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

fn status<T>(outcome: Result<T, Error>) -> Box<Status> {
    match outcome {
        Err(Error::Api(status)) => status,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("the request is accepted"),
    }
}

/// Returns the code and the message of an error.
fn rejection<T>(outcome: Result<T, Error>) -> (u16, String) {
    let status = status(outcome);
    (status.code, status.message.clone())
}

async fn post(client: &Client, path: &str, body: Value) -> Result<Value, Error> {
    let request = Request::post(path).header("content-type", "application/json").body(body.to_string().into_bytes());
    client.request(request.unwrap()).await
}

/// Creates an object in the namespace `default`.
async fn create<T>(client: &Client, object: Value) -> T
where
    T: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()> + Clone + serde::Serialize,
    T: DeserializeOwned + std::fmt::Debug,
{
    Api::<T>::namespaced(client.clone(), "default").create(&PostParams::default(), &decode(object)).await.unwrap()
}

async fn create_account(client: &Client) -> ServiceAccount {
    create(client, json!({ "metadata": { "name": "robot" } })).await
}

/// Requests a token with this spec.
async fn request_token(client: &Client, spec: Value) -> Result<Value, Error> {
    post(client, TOKENS, json!({ "spec": spec })).await
}

async fn token(client: &Client, spec: Value) -> String {
    request_token(client, spec).await.unwrap()["status"]["token"].as_str().unwrap().to_owned()
}

/// Returns the status of the review of a token.
async fn review(client: &Client, token: &str, audiences: &[&str]) -> Value {
    let review = json!({ "spec": { "token": token, "audiences": audiences } });
    post(client, REVIEWS, review).await.unwrap()["status"].take()
}

/// Returns the user of requests with a bearer token.
async fn whoami(server: &ApiServer, token: Option<&str>) -> Result<Value, Error> {
    let mut request = Request::post("/apis/authentication.k8s.io/v1/selfsubjectreviews");
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let mut review: Value = server.client().request(request.body(b"{}".to_vec()).unwrap()).await?;
    Ok(review["status"]["userInfo"].take())
}

/// A kubelet requests 3607 seconds, and the token is valid for a year.
#[tokio::test]
async fn tokens_of_kubelets_are_valid_longer() {
    let client = ApiServer::new().client();
    create_account(&client).await;
    let spec = json!({ "serviceAccountName": "robot", "containers": [{ "name": "c", "image": "c" }] });
    create::<Pod>(&client, json!({ "metadata": { "name": "web" }, "spec": spec })).await;
    let bound = json!({ "kind": "Pod", "name": "web" });
    for (spec, seconds, warns) in [
        (json!({ "boundObjectRef": bound, "expirationSeconds": 3607 }), 365 * 24 * 60 * 60, true),
        (json!({ "boundObjectRef": bound, "expirationSeconds": 3607, "audiences": ["vault"] }), 3607, false),
        (json!({ "boundObjectRef": bound, "expirationSeconds": 3606 }), 3606, false),
        (json!({ "expirationSeconds": 3607 }), 3607, false),
    ] {
        let token = token(&client, spec.clone()).await;
        let claims = BASE64_URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap()).unwrap();
        let claims: Value = serde_json::from_slice(&claims).unwrap();
        let time = |claim: &str| claims[claim].as_i64().unwrap();
        let warns_after = claims["kubernetes.io"]["warnafter"].as_i64();
        assert_eq!((time("exp") - time("iat"), warns_after.is_some()), (seconds, warns), "{spec}");
    }
}

#[tokio::test]
async fn requests_are_authenticated_by_their_tokens() {
    let authentication = Authentication::new().token("abc", "jane", &["dev"]);
    let server = ApiServer::builder().rbac(true).authentication(authentication).build();
    let administrator = server.client_as("root", &["system:masters"]);
    create_account(&administrator).await;
    let robot = token(&administrator, json!({})).await;
    let jane = json!({ "username": "jane", "groups": ["dev", "system:authenticated"] });
    assert_eq!(whoami(&server, Some("abc")).await.unwrap(), jane);
    assert_eq!(whoami(&server, Some(&robot)).await.unwrap()["username"], "system:serviceaccount:default:robot");
    let vault = token(&administrator, json!({ "audiences": ["vault"] })).await;
    for invalid in ["wrong", vault.as_str(), &robot[..robot.len() - 8]] {
        let rejected = status(whoami(&server, Some(invalid)).await);
        assert_eq!(
            (rejected.code, rejected.reason.as_str(), rejected.message.as_str()),
            (401, "Unauthorized", "Unauthorized")
        );
    }
    let (code, message) = rejection(whoami(&server, None).await);
    assert!(code == 403 && message.contains("User \"system:anonymous\" cannot create"), "{message}");
    let accounts = Api::<ServiceAccount>::namespaced(administrator, "default");
    accounts.delete("robot", &DeleteParams::default()).await.unwrap();
    assert_eq!(rejection(whoami(&server, Some(&robot)).await).0, 401);
}

#[tokio::test]
async fn authenticated_users_impersonate_with_permission_only() {
    let tokens = "a,admin,1,system:masters\nj,jane,2\n";
    let authentication = Authentication::new().tokens_csv(tokens).unwrap();
    let server = ApiServer::builder().rbac(true).authentication(authentication).build();
    let read_as_john = |token: &str| {
        let request = Request::get("/api/v1/namespaces/default/pods").header("impersonate-user", "john");
        let request = request.header("authorization", format!("Bearer {token}")).body(Vec::new()).unwrap();
        let client = server.client();
        async move { rejection(client.request_text(request).await) }
    };
    let (code, message) = read_as_john("a").await;
    assert!(code == 403 && message.contains("User \"john\" cannot list"), "{message}");
    let (code, message) = read_as_john("j").await;
    assert!(code == 403 && message.contains("User \"jane\" cannot impersonate"), "{message}");
    assert_eq!(read_as_john("x").await.0, 401);
}

#[tokio::test]
async fn anonymous_requests_need_authorization_by_roles() {
    for (rbac, anonymous, code) in [(true, true, 403), (true, false, 401), (false, true, 401)] {
        let authentication = Authentication::new().anonymous(anonymous);
        let server = ApiServer::builder().rbac(rbac).authentication(authentication).build();
        assert_eq!(rejection(whoami(&server, None).await).0, code, "rbac: {rbac}, anonymous: {anonymous}");
        let health = Request::get("/livez").body(Vec::new()).unwrap();
        assert_eq!(server.client().request_text(health).await.is_ok(), code == 403);
    }
}

#[tokio::test]
async fn without_authentication_every_request_is_that_of_the_administrator() {
    let server = ApiServer::new();
    assert_eq!(whoami(&server, Some("any")).await.unwrap()["username"], "admin");
}

#[tokio::test]
async fn servers_with_the_same_key_and_issuer_accept_each_others_tokens() {
    let pkcs8 = ring::signature::EcdsaKeyPair::generate_pkcs8(
        &ring::signature::ECDSA_P256_SHA256_FIXED_SIGNING,
        &ring::rand::SystemRandom::new(),
    );
    let pkcs8 = pkcs8.unwrap();
    let server = |issuer: &str| {
        let key = SigningKey::from_pkcs8(pkcs8.as_ref()).unwrap();
        ApiServer::builder().service_account_key(key).service_account_issuer(issuer).build()
    };
    let (first, second) = (server("https://here").client(), server("https://here"));
    let account = create_account(&first).await;
    second.load(&account).unwrap();
    let token = token(&first, json!({})).await;
    let reviewed = review(&second.client(), &token, &[]).await;
    assert_eq!(reviewed["user"]["username"], "system:serviceaccount:default:robot");
    assert_eq!(reviewed["audiences"], json!(["https://here"]));
    assert!(SigningKey::generate().is_ok() && SigningKey::from_pkcs8(b"key").is_err());
}

//! Tokens of service accounts, token reviews, and authentication of requests, in one process.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use http::Request;
use k8s_openapi::api::{
    authentication::v1::{TokenRequest, TokenReview},
    core::v1::{Node, Pod, Secret, ServiceAccount},
};
use kube::{
    Api, Client, Error,
    api::{DeleteParams, PostParams},
    core::Status,
};
use kubewright_apiserver::{ApiServer, Authentication, SigningKey};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

const ISSUER: &str = "https://kubernetes.default.svc.cluster.local";
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

#[tokio::test]
async fn a_token_request_has_the_defaults_of_the_real_server() {
    let client = ApiServer::new().client();
    let account = create_account(&client).await;
    let request = request_token(&client, json!({})).await.unwrap();
    assert_eq!(request["kind"], "TokenRequest");
    assert_eq!(request["apiVersion"], "authentication.k8s.io/v1");
    assert_eq!(request["metadata"]["uid"].as_str(), account.metadata.uid.as_deref());
    assert_eq!(request["spec"], json!({ "audiences": [ISSUER], "expirationSeconds": 3600, "boundObjectRef": null }));
    let typed: TokenRequest = decode(request);
    let (status, created) = (typed.status.unwrap(), typed.metadata.creation_timestamp.unwrap());
    let seconds = status.expiration_timestamp.unwrap().0.as_second() - created.0.as_second();
    assert_eq!((seconds, status.token.unwrap().split('.').count()), (3600, 3));
    let accounts = Api::<ServiceAccount>::namespaced(client.clone(), "default");
    let typed: TokenRequest = decode(json!({ "metadata": {}, "spec": { "audiences": ["vault"] } }));
    let typed = accounts.create_token_request("robot", &PostParams::default(), &typed).await.unwrap();
    assert_eq!(typed.spec.unwrap().audiences, Some(vec!["vault".to_owned()]));
}

#[tokio::test]
async fn invalid_token_requests_are_rejected() {
    let client = ApiServer::new().client();
    let missing = rejection(request_token(&client, json!({})).await);
    assert_eq!(missing, (404, "serviceaccounts \"robot\" not found".to_owned()));
    let uid = create_account(&client).await.metadata.uid.unwrap();
    for (seconds, detail) in [
        (599_i64, "may not specify a duration less than 10 minutes"),
        ((1 << 32) + 1, "may not specify a duration larger than 2^32 seconds"),
    ] {
        let message = format!(
            "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid value: {seconds}: \
             {detail}"
        );
        let rejected = rejection(request_token(&client, json!({ "expirationSeconds": seconds })).await);
        assert_eq!(rejected, (422, message));
    }
    request_token(&client, json!({ "expirationSeconds": 600 })).await.unwrap();
    request_token(&client, json!({ "expirationSeconds": 1_i64 << 32 })).await.unwrap();
    for (metadata, expected) in [
        (
            json!({ "name": "other" }),
            "TokenRequest.authentication.k8s.io \"robot\" is invalid: metadata.name: Invalid value: \"other\": must \
             match the service account name if specified"
                .to_owned(),
        ),
        (
            json!({ "namespace": "other" }),
            "the namespace of the provided object does not match the namespace sent on the request".to_owned(),
        ),
        (
            json!({ "uid": "1" }),
            format!(
                "Operation cannot be fulfilled on TokenRequest.authentication.k8s.io \"robot\": the UID in the token \
                 request (1) does not match the UID of the service account ({uid})"
            ),
        ),
    ] {
        assert_eq!(rejection(post(&client, TOKENS, json!({ "metadata": metadata })).await).1, expected);
    }
    let read = Request::get(TOKENS).body(Vec::new()).unwrap();
    assert_eq!(rejection(client.request_text(read).await).0, 405);
    let other = post(&client, TOKENS, json!({ "apiVersion": "v1", "kind": "Pod" })).await;
    assert!(rejection(other).1.contains("cannot be handled as a TokenRequest"));
}

#[tokio::test]
async fn tokens_are_bound_to_existing_objects() {
    let client = ApiServer::new().client();
    create_account(&client).await;
    let bound = |kind: &str, uid: &str| json!({ "boundObjectRef": { "kind": kind, "name": "web", "uid": uid } });
    let config_map = json!({ "boundObjectRef": { "apiVersion": "v1", "kind": "ConfigMap", "name": "web" } });
    assert_eq!(
        rejection(request_token(&client, config_map).await),
        (400, "cannot bind token to object of type /v1, Kind=ConfigMap".to_owned())
    );
    let missing = rejection(request_token(&client, bound("Pod", "")).await);
    assert_eq!(missing, (404, "pods \"web\" not found".to_owned()));
    let pod = |name: &str, account: &str| {
        let containers = json!([{ "name": "web", "image": "web" }]);
        json!({ "metadata": { "name": name }, "spec": { "serviceAccountName": account, "containers": containers } })
    };
    create::<Pod>(&client, pod("web", "robot")).await;
    create::<Pod>(&client, pod("other", "default")).await;
    create::<Secret>(&client, json!({ "metadata": { "name": "web" } })).await;
    let node = decode(json!({ "metadata": { "name": "web" } }));
    Api::<Node>::all(client.clone()).create(&PostParams::default(), &node).await.unwrap();

    let other = json!({ "boundObjectRef": { "kind": "Pod", "name": "other" } });
    assert_eq!(
        rejection(request_token(&client, other).await),
        (
            400,
            "cannot bind token for serviceaccount \"robot\" to pod running with different serviceaccount name."
                .to_owned()
        )
    );
    for kind in ["Pod", "Secret", "Node"] {
        let conflict = status(request_token(&client, bound(kind, "1")).await);
        assert_eq!((conflict.code, conflict.details.as_ref().unwrap().kind.as_str()), (409, kind));
        let start =
            format!("Operation cannot be fulfilled on {kind} \"web\": the UID in the bound object reference (1)");
        assert!(conflict.message.starts_with(&start), "{}", conflict.message);
        let token = token(&client, bound(kind, "")).await;
        assert_eq!(review(&client, &token, &[]).await["authenticated"], true, "{kind}");
    }
}

#[tokio::test]
async fn reviews_return_the_service_account_and_its_pod() {
    let client = ApiServer::new().client();
    let account = create_account(&client).await.metadata.uid.unwrap();
    let spec = json!({ "serviceAccountName": "robot", "nodeName": "n", "containers": [{ "name": "c", "image": "c" }] });
    let pod: Pod = create(&client, json!({ "metadata": { "name": "web" }, "spec": spec })).await;
    let bound = token(&client, json!({ "boundObjectRef": { "kind": "Pod", "name": "web" } })).await;
    let reviewed = review(&client, &bound, &[]).await;
    let user = &reviewed["user"];
    assert_eq!((&reviewed["authenticated"], &reviewed["audiences"]), (&json!(true), &json!([ISSUER])));
    assert_eq!(user["username"], "system:serviceaccount:default:robot");
    assert_eq!(user["uid"], account);
    let groups = json!(["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"]);
    assert_eq!(user["groups"], groups);
    let extra = |name: &str| user["extra"][format!("authentication.kubernetes.io/{name}")][0].clone();
    assert_eq!((extra("pod-name"), extra("node-name")), (json!("web"), json!("n")));
    assert_eq!(extra("pod-uid").as_str(), pod.metadata.uid.as_deref());
    assert!(extra("credential-id").as_str().unwrap().starts_with("JTI="));

    let now = DeleteParams { grace_period_seconds: Some(0), ..DeleteParams::default() };
    Api::<Pod>::namespaced(client.clone(), "default").delete("web", &now).await.unwrap();
    let invalidated = "[invalid bearer token, service account token has been invalidated]";
    assert_eq!(review(&client, &bound, &[]).await, json!({ "user": {}, "error": invalidated }));
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
async fn reviews_verify_the_audience_and_the_account() {
    let client = ApiServer::new().client();
    create_account(&client).await;
    let vault = token(&client, json!({ "audiences": ["vault", "bank"] })).await;
    let reviewed = review(&client, &vault, &["bank", "shop"]).await;
    assert_eq!((&reviewed["authenticated"], &reviewed["audiences"]), (&json!(true), &json!(["bank"])));
    let error = review(&client, &vault, &[]).await["error"].take();
    assert!(error.as_str().unwrap().contains("token audiences [\"vault\" \"bank\"] is invalid"), "{error}");

    let accounts = Api::<ServiceAccount>::namespaced(client.clone(), "default");
    accounts.delete("robot", &DeleteParams::default()).await.unwrap();
    let error = review(&client, &vault, &["vault"]).await["error"].take();
    assert_eq!(error, "[invalid bearer token, serviceaccounts \"robot\" not found]");
    create_account(&client).await;
    let error = review(&client, &vault, &["vault"]).await["error"].take();
    assert!(error.as_str().unwrap().contains("service account UID ("), "{error}");
    let typed: TokenReview = decode(json!({ "metadata": {}, "spec": { "token": "any" } }));
    let typed = Api::<TokenReview>::all(client).create(&PostParams::default(), &typed).await.unwrap();
    assert_eq!(typed.status.unwrap().user.unwrap().username.as_deref(), Some("admin"));
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

#[tokio::test]
async fn discovery_lists_token_requests() {
    let client = ApiServer::new().client();
    let resources = client.list_core_api_resources("v1").await.unwrap().resources;
    let token = resources.iter().find(|resource| resource.name == "serviceaccounts/token").unwrap();
    assert_eq!((token.kind.as_str(), token.group.as_deref()), ("TokenRequest", Some("authentication.k8s.io")));
    assert_eq!(token.verbs, ["create"]);
}

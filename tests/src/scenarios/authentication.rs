//! Tokens of service accounts: requested by clients, reviewed by servers, and bound to objects.

use k8s_openapi::api::{
    authentication::v1::{TokenRequest, TokenReview, TokenReviewStatus, UserInfo},
    core::v1::{Secret, ServiceAccount},
};
use kube::{
    Api, Client, Error,
    api::{DeleteParams, PostParams},
};
use serde_json::{Value, json};

use crate::namespace;

const AUDIENCE: &str = "tests";

/// Creates a service account, and returns the API of the accounts of its namespace.
async fn accounts(client: &Client, namespace: &str) -> Api<ServiceAccount> {
    let accounts = Api::<ServiceAccount>::namespaced(client.clone(), namespace);
    let account = json!({ "metadata": { "name": "robot" } });
    let account = serde_json::from_value(account).expect("a service account");
    accounts.create(&PostParams::default(), &account).await.expect("the account is created");
    accounts
}

/// Requests a token of the account for this suite, with these further fields of the spec.
async fn request(accounts: &Api<ServiceAccount>, mut spec: Value) -> Result<TokenRequest, Error> {
    spec["audiences"] = json!([AUDIENCE]);
    let request = serde_json::from_value(json!({ "metadata": {}, "spec": spec })).expect("a token request");
    accounts.create_token_request("robot", &PostParams::default(), &request).await
}

async fn token(accounts: &Api<ServiceAccount>, spec: Value) -> String {
    let issued = request(accounts, spec).await.expect("the token is issued");
    issued.status.and_then(|status| status.token).expect("a token")
}

async fn review(client: &Client, token: &str, audience: &str) -> TokenReviewStatus {
    let review = json!({ "metadata": {}, "spec": { "token": token, "audiences": [audience] } });
    let review: TokenReview = serde_json::from_value(review).expect("a token review");
    let reviews = Api::<TokenReview>::all(client.clone());
    reviews.create(&PostParams::default(), &review).await.expect("a review").status.expect("a status")
}

pub(super) async fn tokens_of_service_accounts_are_reviewed(client: Client) {
    let namespace = namespace(&client, "token-reviews").await;
    let accounts = accounts(&client, &namespace).await;
    let issued = request(&accounts, json!({ "expirationSeconds": 600 })).await.expect("the token is issued");
    let spec = issued.spec.expect("a spec");
    assert_eq!((spec.audiences, spec.expiration_seconds), (Some(vec![AUDIENCE.to_owned()]), Some(600)));
    let status = issued.status.expect("a status");
    assert!(status.expiration_timestamp.is_some());
    let token = status.token.expect("a token");

    let reviewed = review(&client, &token, AUDIENCE).await;
    assert_eq!((reviewed.authenticated, reviewed.audiences), (Some(true), Some(vec![AUDIENCE.to_owned()])));
    let UserInfo { username, uid, groups, extra } = reviewed.user.expect("a user");
    assert_eq!(username.as_deref(), Some(format!("system:serviceaccount:{namespace}:robot").as_str()));
    assert_eq!(uid, accounts.get("robot").await.expect("the account").metadata.uid);
    let of_namespace = format!("system:serviceaccounts:{namespace}");
    let expected = ["system:serviceaccounts", of_namespace.as_str(), "system:authenticated"];
    assert_eq!(groups.expect("groups"), expected);
    let id = &extra.expect("extra fields")["authentication.kubernetes.io/credential-id"];
    assert!(id[0].starts_with("JTI="), "{id:?}");

    let elsewhere = review(&client, &token, "elsewhere").await;
    assert_ne!(elsewhere.authenticated, Some(true));
    let error = elsewhere.error.expect("an error");
    let expected = "token audiences [\"tests\"] is invalid for the target audiences [\"elsewhere\"]";
    assert!(error.contains(expected), "{error}");
    let forged = review(&client, &format!("{token}AAAA"), AUDIENCE).await;
    assert_ne!(forged.authenticated, Some(true));
}

pub(super) async fn tokens_are_invalid_without_the_object_that_they_are_bound_to(client: Client) {
    let namespace = namespace(&client, "bound-tokens").await;
    let accounts = accounts(&client, &namespace).await;
    let bound = || json!({ "boundObjectRef": { "apiVersion": "v1", "kind": "Secret", "name": "lease" } });
    match request(&accounts, bound()).await {
        Err(Error::Api(status)) => {
            assert_eq!((status.code, status.message.as_str()), (404, "secrets \"lease\" not found"))
        }
        other => panic!("{other:?}"),
    }
    let secrets = Api::<Secret>::namespaced(client.clone(), &namespace);
    let secret = serde_json::from_value(json!({ "metadata": { "name": "lease" } })).expect("a secret");
    secrets.create(&PostParams::default(), &secret).await.expect("the secret is created");
    // A real server caches reviews of valid tokens for seconds, so that this one is reviewed once.
    let [first, second] = [token(&accounts, bound()).await, token(&accounts, bound()).await];
    assert_eq!(review(&client, &first, AUDIENCE).await.authenticated, Some(true));
    secrets.delete("lease", &DeleteParams::default()).await.expect("the secret is deleted");
    let invalidated = async {
        while review(&client, &second, AUDIENCE).await.authenticated == Some(true) {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    };
    let limit = std::time::Duration::from_secs(60);
    tokio::time::timeout(limit, invalidated).await.expect("the token becomes invalid");
}

//! Authorization by roles: denials, access reviews, and privilege escalation. Requests of users are impersonated.

use std::time::Duration;

use http::{HeaderValue, Request};
use k8s_openapi::api::{
    authorization::v1::{
        LocalSubjectAccessReview, SelfSubjectAccessReview, SelfSubjectRulesReview, SubjectAccessReview,
        SubjectAccessReviewStatus,
    },
    core::v1::{ConfigMap, Namespace},
    rbac::v1::{Role, RoleBinding},
};
use kube::{
    Api, Client, Error,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
    client::Body,
    core::Status,
};
use logger_types::v2::Logger;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::namespace;

/// How long a server may take until a new role has an effect.
const PROPAGATION: Duration = Duration::from_secs(20);

/// Returns a client whose requests are those of a user.
fn impersonate(client: &Client, user: &str) -> Client {
    let (client, user) = (client.clone(), HeaderValue::from_str(user).expect("the value of a header"));
    let service = tower::service_fn(move |mut request: Request<Body>| {
        request.headers_mut().insert("impersonate-user", user.clone());
        let client = client.clone();
        async move { client.send(request).await }
    });
    Client::new(service, "default")
}

fn decode<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("an object of this type")
}

fn denial<T>(outcome: Result<T, Error>) -> Box<Status> {
    match outcome {
        Err(Error::Api(status)) => {
            assert_eq!((status.code, status.reason.as_str()), (403, "Forbidden"), "{status:?}");
            status
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("the request is allowed"),
    }
}

/// Binds a user to a new role with these rules in a namespace.
async fn grant(client: &Client, namespace: &str, user: &str, rules: Value) {
    let role = json!({ "metadata": { "name": "granted" }, "rules": rules });
    let roles = Api::<Role>::namespaced(client.clone(), namespace);
    roles.create(&PostParams::default(), &decode(role)).await.expect("the role is created");
    let binding = json!({
        "metadata": { "name": "granted" },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "granted" },
        "subjects": [match user.strip_prefix(&format!("system:serviceaccount:{namespace}:")) {
            Some(account) => json!({ "kind": "ServiceAccount", "name": account, "namespace": namespace }),
            None => json!({ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user }),
        }],
    });
    let bindings = Api::<RoleBinding>::namespaced(client.clone(), namespace);
    bindings.create(&PostParams::default(), &decode(binding)).await.expect("the binding is created");
}

/// Returns the access of a user as an administrator reviews it.
async fn access(client: &Client, user: &str, attributes: &Value) -> SubjectAccessReviewStatus {
    let review = json!({ "metadata": {}, "spec": { "user": user, "resourceAttributes": attributes } });
    let reviews = Api::<SubjectAccessReview>::all(client.clone());
    let review = reviews.create(&PostParams::default(), &decode(review)).await.expect("a review");
    review.status.expect("a status")
}

/// Waits until a user has access. A real server reads roles from a cache.
async fn wait_for_access(client: &Client, user: &str, attributes: Value) -> SubjectAccessReviewStatus {
    let allowed = async {
        loop {
            let status = access(client, user, &attributes).await;
            if status.allowed {
                return status;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PROPAGATION, allowed).await.expect("the role has an effect")
}

pub(super) async fn denials_name_the_user_the_resource_and_the_scope(client: Client) {
    let namespace = namespace(&client, "denials").await;
    let account = format!("system:serviceaccount:{namespace}:operator");
    let user = impersonate(&client, &account);
    let (all, namespaces) = (ListParams::default(), Api::<Namespace>::all(user.clone()));

    let status = denial(Api::<Logger>::namespaced(user.clone(), &namespace).list(&all).await);
    let cannot = format!("loggers.example.com is forbidden: User \"{account}\" cannot");
    let resource = "resource \"loggers\" in API group \"example.com\"";
    assert_eq!(status.message, format!("{cannot} list {resource} in the namespace \"{namespace}\""));
    let details = status.details.expect("details");
    assert_eq!((details.group.as_str(), details.kind.as_str(), details.name.as_str()), ("example.com", "loggers", ""));

    let status = denial(Api::<Logger>::all(user.clone()).list(&all).await);
    assert_eq!(status.message, format!("{cannot} list {resource} at the cluster scope"));

    let status = denial(namespaces.get(&namespace).await);
    assert_eq!(
        status.message,
        format!(
            "namespaces \"{namespace}\" is forbidden: User \"{account}\" cannot get resource \"namespaces\" in API \
             group \"\" in the namespace \"{namespace}\""
        )
    );
    let status = denial(Api::<Logger>::namespaced(user.clone(), &namespace).get_status("audit").await);
    assert_eq!(
        status.message,
        format!(
            "loggers.example.com \"audit\" is forbidden: User \"{account}\" cannot get resource \"loggers/status\" in \
             API group \"example.com\" in the namespace \"{namespace}\""
        )
    );
    let metrics = Request::get("/metrics").body(Vec::new()).expect("a request");
    let status = denial(user.request_text(metrics).await);
    assert_eq!(status.message, format!("forbidden: User \"{account}\" cannot get path \"/metrics\""));
    user.apiserver_version().await.expect("every user may read the version");
}

pub(super) async fn roles_allow_their_verbs_and_names(client: Client) {
    let namespace = namespace(&client, "roles").await;
    let account = format!("system:serviceaccount:{namespace}:operator");
    let rules = json!([
        { "apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "delete"], "resourceNames": ["mine"] },
        { "apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"] },
    ]);
    grant(&client, &namespace, &account, rules).await;
    wait_for_access(&client, &account, json!({ "verb": "create", "resource": "configmaps", "namespace": namespace }))
        .await;

    let config_maps = Api::<ConfigMap>::namespaced(impersonate(&client, &account), &namespace);
    for name in ["mine", "other"] {
        let config_map = decode(json!({ "metadata": { "name": name } }));
        config_maps.create(&PostParams::default(), &config_map).await.expect("the role allows it");
    }
    config_maps.get("mine").await.expect("the role allows it");
    denial(config_maps.get("other").await);
    denial(config_maps.list(&ListParams::default()).await);
    denial(config_maps.list(&ListParams::default().fields("metadata.name=mine")).await);
    denial(config_maps.delete_collection(&DeleteParams::default(), &ListParams::default()).await);
    config_maps.delete("mine", &DeleteParams::default()).await.expect("the role allows it");
}

pub(super) async fn an_apply_that_creates_an_object_needs_both_verbs(client: Client) {
    let namespace = namespace(&client, "apply-roles").await;
    let account = format!("system:serviceaccount:{namespace}:operator");
    let rules = json!([
        { "apiGroups": [""], "resources": ["configmaps"], "verbs": ["patch"] },
        { "apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"], "resourceNames": ["mine"] },
    ]);
    grant(&client, &namespace, &account, rules).await;
    wait_for_access(&client, &account, json!({ "verb": "patch", "resource": "configmaps", "namespace": namespace }))
        .await;

    let config_maps = Api::<ConfigMap>::namespaced(impersonate(&client, &account), &namespace);
    let apply = |name: &'static str| {
        let object = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name } });
        let config_maps = config_maps.clone();
        async move { config_maps.patch(name, &PatchParams::apply("operator"), &Patch::Apply(object)).await }
    };
    let status = denial(apply("other").await);
    assert_eq!(
        status.message,
        format!(
            "configmaps \"other\" is forbidden: User \"{account}\" cannot create resource \"configmaps\" in API group \
             \"\" in the namespace \"{namespace}\""
        )
    );
    // Unlike a POST, the request has the name of the object.
    apply("mine").await.expect("the role allows it");
    let other: ConfigMap = decode(json!({ "metadata": { "name": "other" } }));
    Api::namespaced(client, &namespace).create(&PostParams::default(), &other).await.expect("an administrator");
    apply("other").await.expect("the object exists");
}

pub(super) async fn access_reviews_name_the_binding(client: Client) {
    let namespace = namespace(&client, "access-reviews").await;
    let user = "access-reviews";
    let rule = json!({ "apiGroups": ["example.com"], "resources": ["loggers"], "verbs": ["list"] });
    grant(&client, &namespace, user, json!([rule])).await;
    let attributes =
        |verb: &str| json!({ "verb": verb, "group": "example.com", "resource": "loggers", "namespace": namespace });
    let reason = format!("RBAC: allowed by RoleBinding \"granted/{namespace}\" of Role \"granted\" to User \"{user}\"");
    let allowed = wait_for_access(&client, user, attributes("list")).await;
    assert_eq!(allowed.reason.as_deref(), Some(reason.as_str()));
    let denied = access(&client, user, &attributes("get")).await;
    assert_eq!((denied.allowed, denied.denied, denied.reason), (false, None, None));

    let local = json!({
        "metadata": { "namespace": namespace },
        "spec": { "user": user, "resourceAttributes": attributes("list") },
    });
    let local = Api::<LocalSubjectAccessReview>::namespaced(client.clone(), &namespace)
        .create(&PostParams::default(), &decode(local))
        .await;
    assert_eq!(local.unwrap().status.unwrap().reason, Some(reason.clone()));

    let user = impersonate(&client, user);
    let own_access = json!({ "metadata": {}, "spec": { "resourceAttributes": attributes("list") } });
    let own_access =
        Api::<SelfSubjectAccessReview>::all(user.clone()).create(&PostParams::default(), &decode(own_access)).await;
    assert_eq!(own_access.unwrap().status.unwrap().reason, Some(reason));
    let rules = json!({ "metadata": {}, "spec": { "namespace": namespace } });
    let rules = Api::<SelfSubjectRulesReview>::all(user.clone()).create(&PostParams::default(), &decode(rules)).await;
    let status = rules.unwrap().status.unwrap();
    assert!(serde_json::to_value(&status.resource_rules).unwrap().as_array().unwrap().contains(&rule), "{status:?}");
    assert!(!status.incomplete && status.evaluation_error.is_none(), "{status:?}");
    // Reviews of others need a permission.
    let other = json!({ "metadata": {}, "spec": { "user": "other", "resourceAttributes": attributes("list") } });
    let other = Api::<SubjectAccessReview>::all(user).create(&PostParams::default(), &decode(other)).await;
    assert!(denial(other).message.starts_with("subjectaccessreviews.authorization.k8s.io is forbidden: "));
}

pub(super) async fn roles_beyond_the_permissions_of_their_author_are_rejected(client: Client) {
    let namespace = namespace(&client, "escalation").await;
    let user = "escalation";
    let configure = json!({ "apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"] });
    let delegate = json!({
        "apiGroups": ["rbac.authorization.k8s.io"],
        "resources": ["roles", "rolebindings"],
        "verbs": ["create", "get", "update"],
    });
    grant(&client, &namespace, user, json!([configure, delegate])).await;
    let create_binding = json!({
        "verb": "create", "group": "rbac.authorization.k8s.io", "resource": "rolebindings", "namespace": namespace,
    });
    wait_for_access(&client, user, create_binding).await;

    let roles = Api::<Role>::namespaced(impersonate(&client, user), &namespace);
    let role = |name: &str, rules: Value| -> Role { decode(json!({ "metadata": { "name": name }, "rules": rules })) };
    roles.create(&PostParams::default(), &role("equal", json!([configure]))).await.expect("the user has them");
    let rules = json!([
        { "apiGroups": [""], "resources": ["secrets", "configmaps"], "verbs": ["get", "list"] },
    ]);
    let missing = format!(
        "is forbidden: user \"{user}\" (groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not \
         currently held:\n{{APIGroups:[\"\"], Resources:[\"configmaps\"], Verbs:[\"list\"]}}\n{{APIGroups:[\"\"], \
         Resources:[\"secrets\"], Verbs:[\"get\" \"list\"]}}"
    );
    let status = denial(roles.create(&PostParams::default(), &role("more", rules.clone())).await);
    assert_eq!(status.message, format!("roles.rbac.authorization.k8s.io \"more\" {missing}"));
    let mut equal = roles.get("equal").await.unwrap();
    equal.rules = role("equal", rules.clone()).rules;
    let status = denial(roles.replace("equal", &PostParams::default(), &equal).await);
    assert_eq!(status.message, format!("roles.rbac.authorization.k8s.io \"equal\" {missing}"));

    // An administrator creates the role, and the user must not bind it.
    let admin = Api::<Role>::namespaced(client.clone(), &namespace);
    admin.create(&PostParams::default(), &role("more", rules)).await.unwrap();
    let bindings = Api::<RoleBinding>::namespaced(impersonate(&client, user), &namespace);
    let binding = |role: &str| -> RoleBinding {
        decode(json!({
            "metadata": { "name": role },
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": role },
            "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user }],
        }))
    };
    bindings.create(&PostParams::default(), &binding("equal")).await.expect("the user has them");
    let status = denial(bindings.create(&PostParams::default(), &binding("more")).await);
    assert_eq!(status.message, format!("rolebindings.rbac.authorization.k8s.io \"more\" {missing}"));
    let mut gone = binding("missing");
    gone.metadata.name = Some("gone".to_owned());
    let Err(Error::Api(status)) = bindings.create(&PostParams::default(), &gone).await else {
        panic!("the role does not exist");
    };
    assert_eq!(
        (status.code, status.message.as_str()),
        (404, "rolebindings.rbac.authorization.k8s.io \"missing\" not found")
    );
}

//! Authorization by roles: handles of users, default and aggregated roles, impersonation, and recorded authorizations.

use http::Request;
use k8s_openapi::api::{
    core::v1::{ConfigMap, Pod},
    rbac::v1::{ClusterRole, ClusterRoleBinding, PolicyRule, RoleBinding},
};
use kube::{
    Api, Client, Error,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use kubewright_apiserver::ApiServer;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

const OPERATOR: &str = "system:serviceaccount:default:operator";

fn server() -> ApiServer {
    ApiServer::builder().rbac(true).build()
}

fn decode<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

fn message<T>(outcome: Result<T, Error>) -> String {
    match outcome {
        Err(Error::Api(status)) => status.message.clone(),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("the request is allowed"),
    }
}

/// Binds the operator to a cluster role in the namespace `default`.
async fn bind(client: &Client, role: &str) {
    let binding: RoleBinding = decode(json!({
        "metadata": { "name": "operator" },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role },
        "subjects": [{ "kind": "ServiceAccount", "name": "operator" }],
    }));
    Api::namespaced(client.clone(), "default").create(&PostParams::default(), &binding).await.unwrap();
}

#[tokio::test]
async fn without_authorization_every_user_may_do_anything() {
    let server = ApiServer::new();
    let pods = Api::<Pod>::all(server.client_as(OPERATOR, &[]));
    pods.list(&ListParams::default()).await.unwrap();
    assert!(server.authorizations().is_empty());
    let roles = Api::<ClusterRole>::all(server.client()).list(&ListParams::default()).await.unwrap();
    assert!(roles.items.is_empty());
}

#[tokio::test]
async fn default_roles_apply_in_the_namespace_of_their_binding() {
    let server = server();
    bind(&server.client(), "view").await;
    let operator = server.client_as(OPERATOR, &[]);
    let pods = Api::<Pod>::namespaced(operator.clone(), "default");
    pods.list(&ListParams::default()).await.unwrap();
    assert!(message(pods.delete("web", &DeleteParams::default()).await).contains("cannot delete resource \"pods\""));
    let elsewhere = Api::<Pod>::namespaced(operator, "kube-system");
    assert!(message(elsewhere.list(&ListParams::default()).await).ends_with("in the namespace \"kube-system\""));
    // The group of administrators needs no role.
    Api::<Pod>::all(server.client_as("root", &["system:masters"])).list(&ListParams::default()).await.unwrap();
}

#[tokio::test]
async fn aggregated_roles_follow_the_roles_they_select() {
    let server = server();
    bind(&server.client(), "admin").await;
    let roles = Api::<ClusterRole>::all(server.client());
    let pods = Api::<Pod>::namespaced(server.client_as(OPERATOR, &[]), "default");
    // `admin` has the rules of `edit`, which has those of `view`.
    pods.list(&ListParams::default()).await.unwrap();
    let widgets = || {
        let client = server.client_as(OPERATOR, &[]);
        let request = Request::get("/apis/example.com/v1/namespaces/default/widgets").body(Vec::new()).unwrap();
        async move { client.request_text(request).await }
    };
    assert!(message(widgets().await).contains("cannot list resource \"widgets\""));
    let role: ClusterRole = decode(json!({
        "metadata": { "name": "widgets", "labels": { "rbac.authorization.k8s.io/aggregate-to-view": "true" } },
        "rules": [{ "apiGroups": ["example.com"], "resources": ["widgets"], "verbs": ["list"] }],
    }));
    roles.create(&PostParams::default(), &role).await.unwrap();
    // The request is allowed: the resource does not exist.
    let Err(error) = widgets().await else { panic!("widgets are not served") };
    assert!(!matches!(&error, Error::Api(status) if status.is_forbidden()), "{error}");
    let view = roles.get("view").await.unwrap();
    let managers: Vec<&str> =
        view.metadata.managed_fields.iter().flatten().filter_map(|entry| entry.manager.as_deref()).collect();
    assert!(managers.contains(&"clusterrole-aggregation-controller"), "{managers:?}");
    roles.delete("widgets", &DeleteParams::default()).await.unwrap();
    assert!(message(widgets().await).contains("cannot list resource \"widgets\""));
}

#[tokio::test]
async fn roles_that_select_each_other_are_aggregated_in_bounded_time() {
    let server = server();
    let roles = Api::<ClusterRole>::all(server.client());
    for (name, selected) in [("a", "b"), ("b", "c"), ("c", "a")] {
        let role: ClusterRole = decode(json!({
            "metadata": { "name": name, "labels": { "cycle": name } },
            "aggregationRule": { "clusterRoleSelectors": [{ "matchLabels": { "cycle": selected } }] },
            "rules": [{ "apiGroups": [""], "resources": [name], "verbs": ["get"] }],
        }));
        roles.create(&PostParams::default(), &role).await.unwrap();
    }
    assert!(roles.get("c").await.unwrap().aggregation_rule.is_some());
}

#[tokio::test]
async fn impersonation_needs_a_permission() {
    let server = server();
    let whoami = |client: Client| async move {
        let request = Request::get("/api/v1/namespaces/default/pods").header("impersonate-user", "john");
        client.request_text(request.body(Vec::new()).unwrap()).await
    };
    // The administrator acts as the user, who may not list pods.
    let denied = message(whoami(server.client()).await);
    assert!(denied.starts_with("pods is forbidden: User \"john\" cannot list"), "{denied}");
    let denied = message(whoami(server.client_as(OPERATOR, &[])).await);
    assert!(denied.contains(&format!("User \"{OPERATOR}\" cannot impersonate-on:user-info:list")), "{denied}");
}

#[tokio::test]
async fn used_permissions_are_recorded_to_compare_them_with_declared_ones() {
    let server = server();
    let declared: Vec<PolicyRule> = decode(json!([
        { "apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"] },
        { "apiGroups": [""], "resources": ["secrets"], "verbs": ["get"] },
    ]));
    let role = json!({ "metadata": { "name": "operator" }, "rules": declared });
    let roles = Api::<ClusterRole>::all(server.client());
    roles.create(&PostParams::default(), &decode(role)).await.unwrap();
    bind(&server.client(), "operator").await;
    let config_maps = Api::<ConfigMap>::namespaced(server.client_as(OPERATOR, &[]), "default");
    let config_map: ConfigMap = decode(json!({ "metadata": { "name": "rates" } }));
    config_maps.create(&PostParams::default(), &config_map).await.unwrap();
    let patch = Patch::Merge(json!({ "data": { "every": "7" } }));
    config_maps.patch("rates", &PatchParams::default(), &patch).await.unwrap_err();

    let used = server.authorizations();
    let undeclared: Vec<(&str, &str, &str, bool)> = used
        .iter()
        .filter(|used| !declared.iter().any(|rule| used.is_granted_by(rule)))
        .map(|used| (used.verb.as_str(), used.resource.as_str(), used.name.as_str(), used.allowed))
        .collect();
    assert_eq!(undeclared, [("patch", "configmaps", "rates", false)]);
    let unused: Vec<&PolicyRule> =
        declared.iter().filter(|rule| !used.iter().any(|used| used.is_granted_by(rule))).collect();
    assert_eq!(unused, [&declared[1]]);
}

#[tokio::test]
async fn aggregation_rules_need_full_authority_and_escalate_permits_any_rule() {
    let server = server();
    let roles = Api::<ClusterRole>::all(server.client());
    let author: ClusterRole = decode(json!({
        "metadata": { "name": "author" },
        "rules": [{ "apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles"], "verbs": ["create"] }],
    }));
    roles.create(&PostParams::default(), &author).await.unwrap();
    let binding = json!({
        "metadata": { "name": "author" },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "author" },
        "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane" }],
    });
    let bindings = Api::<ClusterRoleBinding>::all(server.client());
    bindings.create(&PostParams::default(), &decode(binding)).await.unwrap();
    let all: ClusterRole = decode(json!({
        "metadata": { "name": "all" },
        "aggregationRule": { "clusterRoleSelectors": [{ "matchLabels": { "a": "b" } }] },
        "rules": null,
    }));
    let roles_of_jane = Api::<ClusterRole>::all(server.client_as("jane", &[]));
    assert_eq!(
        message(roles_of_jane.create(&PostParams::default(), &all).await),
        "clusterroles.rbac.authorization.k8s.io \"all\" is forbidden: must have cluster-admin privileges to use the \
         aggregationRule"
    );
    let rule = json!({
        "apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles"], "verbs": ["create", "escalate"],
    });
    let patch = Patch::Merge(json!({ "rules": [rule] }));
    roles.patch("author", &PatchParams::default(), &patch).await.unwrap();
    roles_of_jane.create(&PostParams::default(), &all).await.unwrap();
}

//! The rendered roles of users are part of the roles of the cluster, on the in-memory server and on a real control
//! plane with kube-controller-manager, which aggregates them.

use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};

use k8s_openapi::{api::rbac::v1::ClusterRole, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::{
    Api, Client,
    api::{DeleteParams, PostParams},
};
use kubewright_apiserver::ApiServer;
use kubewright_core::description::KindDescription;
use kubewright_project::rbac::{admin_role, editor_role, viewer_role};
use libtest_mimic::{Failed, Trial};
use tokio::{runtime::Builder, time::sleep};

use super::Suite;

const NAME: &str = "roles_of_users_are_aggregated";
/// How long the controller may take.
const TIMEOUT: Duration = Duration::from_secs(60);

const READ: [&str; 3] = ["get", "list", "watch"];
const EDIT: [&str; 7] = ["create", "delete", "get", "list", "patch", "update", "watch"];
const ADMIN: [&str; 8] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

pub(super) fn trials(suite: &Arc<Suite>) -> [Trial; 2] {
    let in_memory = Trial::test(format!("simulator::{NAME}"), || {
        run(async || aggregate(ApiServer::builder().rbac(true).build().client()).await)
    });
    let real = suite.test(format!("control_plane::{NAME}"), |cluster| {
        run(async || {
            let config = tests::config(cluster.control_plane().kubeconfig()).await?;
            aggregate(Client::try_from(config)?).await
        })
    });
    [in_memory, real]
}

fn run(test: impl AsyncFnOnce() -> Result<(), Failed>) -> Result<(), Failed> {
    Builder::new_current_thread().enable_all().build()?.block_on(test())
}

/// Creates the roles of users of a kind, and waits until the roles of the cluster contain them; then deletes them.
async fn aggregate(client: Client) -> Result<(), Failed> {
    let kind = KindDescription {
        group: "aggregation.example.com".to_owned(),
        version: "v1".to_owned(),
        kind: "Widget".to_owned(),
        plural: "widgets".to_owned(),
        namespaced: true,
    };
    let metadata = |name: &str| ObjectMeta { name: Some(format!("widget-{name}-role")), ..ObjectMeta::default() };
    let created = [
        admin_role(metadata("admin"), &kind),
        editor_role(metadata("editor"), &kind),
        viewer_role(metadata("viewer"), &kind),
    ];
    let roles = Api::<ClusterRole>::all(client);
    for role in &created {
        roles.create(&PostParams::default(), role).await?;
    }
    for (name, expected) in [("view", &READ[..]), ("edit", &EDIT[..]), ("admin", &ADMIN[..])] {
        wait(&roles, name, "widgets", expected).await?;
        wait(&roles, name, "widgets/status", &["get"]).await?;
    }
    for role in created {
        roles.delete(&role.metadata.name.unwrap_or_default(), &DeleteParams::default()).await?;
    }
    wait(&roles, "admin", "widgets", &[]).await
}

/// Waits until a role allows exactly these verbs of a resource.
async fn wait(roles: &Api<ClusterRole>, name: &str, resource: &str, expected: &[&str]) -> Result<(), Failed> {
    let started = Instant::now();
    loop {
        let rules = roles.get(name).await?.rules.unwrap_or_default();
        let of_resource = rules.iter().filter(|rule| rule.resources.iter().flatten().any(|name| name == resource));
        let verbs: BTreeSet<_> = of_resource.flat_map(|rule| rule.verbs.iter().map(String::as_str)).collect();
        if verbs.iter().copied().eq(expected.iter().copied()) {
            return Ok(());
        }
        if started.elapsed() > TIMEOUT {
            return Err(format!("the role {name} allows {verbs:?} of {resource}, not {expected:?}").into());
        }
        sleep(Duration::from_millis(50)).await;
    }
}

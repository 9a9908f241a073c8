//! The verb matrix: types, metadata, generic clients, informers and generated items have the granted verbs, and no
//! others. That these work is a scenario.

use std::time::Duration;

use fixture_client::{Clientset, SharedInformerFactory};
use fixture_types::matrix_v1::{API_GROUP, resource};
use kube::{
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
    core::DynamicObject,
};
use kubewright_codegen::{Layout, generate};
use kubewright_core::meta::{ClientVerb, Scope};
use kubewright_runtime::GenericClient;
use libtest_mimic::Trial;
use serde_json::json;
use tests::{
    matrix::{Subject, subjects},
    namespace,
};

const NAMESPACE: &str = "matrix";

pub(super) fn trials() -> impl Iterator<Item = Trial> {
    macro_rules! trials {
        ($($name:ident),* $(,)?) => {
            [$(Trial::test(concat!("matrix::", stringify!($name)), || super::block_on($name()))),*]
        };
    }
    trials![
        types_and_metadata_grant_exactly_the_verbs_of_the_table,
        generic_clients_reject_verbs_that_are_not_granted,
        kinds_with_list_and_watch_have_informers,
        generated_items_follow_from_the_verbs,
    ]
    .into_iter()
}

/// Starts a server with every CRD and returns a clientset of it.
async fn clientset() -> Clientset {
    let client = tests::embedded().await;
    namespace(&client, NAMESPACE).await;
    Clientset::new(client)
}

fn generic_client(clientset: &Clientset, subject: &Subject) -> GenericClient {
    clientset.for_resource(&resource(subject.kind.plural)).unwrap()
}

async fn types_and_metadata_grant_exactly_the_verbs_of_the_table() {
    let clientset = clientset().await;
    let subjects = subjects(&clientset, NAMESPACE);
    assert_eq!(subjects.len(), 20);
    for subject in &subjects {
        let kind = subject.kind;
        for (verb, by_types) in subject.granted {
            assert_eq!(by_types, subject.grants(verb), "{verb:?} of {}", kind.kind);
        }
        let granted = subject.granted.into_iter().filter(|(_, granted)| *granted).map(|(verb, _)| verb);
        assert_eq!(kind.verbs, granted.collect::<Vec<_>>(), "{}", kind.kind);
        assert_eq!(generic_client(&clientset, subject).verbs(), kind.verbs);
        assert_eq!((generic_client(&clientset, subject).scope(), kind.scope), (subject.scope, subject.scope));
        assert_eq!(kind.status, subject.status != "Plain", "{}", kind.kind);
        assert_eq!(kind.docs, format!("The kind `{}` of the matrix.", kind.kind));
    }
}

async fn generic_clients_reject_verbs_that_are_not_granted() {
    let clientset = clientset().await;
    for subject in &subjects(&clientset, NAMESPACE) {
        let (client, namespace) = (generic_client(&clientset, subject), subject.namespace(NAMESPACE));
        let object = DynamicObject::new("nobody", client.resource());
        let called = [
            (ClientVerb::Get, client.get(namespace, "nobody").await.err()),
            (ClientVerb::List, client.list(namespace, &ListParams::default()).await.err()),
            (ClientVerb::Create, client.create(namespace, &object, &PostParams::default()).await.err()),
            (ClientVerb::Update, client.update(namespace, &object, &PostParams::default()).await.err()),
            (
                ClientVerb::Patch,
                client.patch(namespace, "nobody", &Patch::Merge(json!({})), &PatchParams::default()).await.err(),
            ),
            (ClientVerb::Delete, client.delete(namespace, "nobody", &DeleteParams::default()).await.err()),
        ];
        for (verb, error) in called {
            let rejected = error.is_some_and(|error| error.to_string().ends_with("`#[genclient]` does not grant it"));
            assert_eq!(rejected, !subject.grants(verb), "{verb:?} of {}", subject.kind.kind);
        }
    }
}

async fn kinds_with_list_and_watch_have_informers() {
    let clientset = clientset().await;
    let subjects = subjects(&clientset, NAMESPACE);
    let factory = SharedInformerFactory::new(&clientset);
    let mut informers = Vec::new();
    for subject in &subjects {
        let informer = factory.for_resource(&resource(subject.kind.plural));
        let is_watched = subject.grants(ClientVerb::List) && subject.grants(ClientVerb::Watch);
        assert_eq!(informer.is_some(), is_watched, "{}", subject.kind.kind);
        informers.extend(informer.map(|informer| (subject, informer)));
    }
    for (subject, _) in &informers {
        for call in subject.calls.iter().filter(|call| call.verb == ClientVerb::Create) {
            let mut object = json!({"metadata": {"name": "watched"}, "spec": {}});
            object["kind"] = json!(subject.kind.kind);
            (call.run)(object).await.unwrap();
        }
    }
    factory.start();
    factory.wait_for_sync(Duration::from_secs(20)).await.unwrap();
    for (subject, informer) in informers {
        assert!(informer.has_synced());
        let watched = informer.lister().get(subject.namespace(NAMESPACE).unwrap_or_default(), "watched");
        assert_eq!(watched.is_some(), subject.grants(ClientVerb::Create), "{}", subject.kind.kind);
    }
    factory.shutdown().await;
}

/// That the checked-in files are up to date is tested in `workspace/codegen.rs`, and rustc checks that every name in
/// them resolves.
async fn generated_items_follow_from_the_verbs() {
    let files = generate(&[API_GROUP], &Layout::for_types_crate("fixture_types")).unwrap();
    let text = |path: &str| {
        let path = format!("fixture-client/src/{path}/matrix_v1.rs");
        &files.iter().find(|file| file.path == path).unwrap().contents
    };
    for subject in &subjects(&clientset().await, NAMESPACE) {
        let (kind, getter, namespaced) = (subject.kind.kind, subject.getter, subject.scope == Scope::Namespaced);
        let grants = |verb| subject.grants(verb);
        let informed = grants(ClientVerb::List) && grants(ClientVerb::Watch);
        let listed = informed && grants(ClientVerb::Get);
        let read = grants(ClientVerb::List) || grants(ClientVerb::Watch);
        for (path, item, expected) in [
            ("typed", format!("pub type {kind}Client ="), true),
            ("typed", format!("pub fn {getter}("), true),
            ("typed", format!("pub fn all_{getter}("), namespaced && read),
            ("informers", format!("pub type {kind}Informer ="), informed),
            ("informers", format!("pub fn {getter}("), informed),
            ("listers", format!("pub type {kind}Lister ="), listed),
            ("listers", format!("pub type {kind}NamespaceLister ="), listed && namespaced),
            (
                "applyconfigurations",
                format!("pub struct {kind}Apply {{"),
                grants(ClientVerb::Apply) || grants(ClientVerb::ApplyStatus),
            ),
        ] {
            let found = text(path).lines().any(|line| line.trim_start().starts_with(&item));
            assert_eq!(found, expected, "`{item}` in {path}");
        }
    }
}

//! Every kind of the matrix on the embedded API server: each verb that is granted does what it says, and no other is there.

use std::time::Duration;

use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::core::DynamicObject;
use logger_apiserver::ApiServer;
use logger_codegen::{Layout, generate};
use logger_core::meta::{Scope, Verb};
use logger_runtime::GenericClient;
use matrix_client::{Clientset, SharedInformerFactory};
use matrix_types::v1::resource;
use serde_json::json;
use tests::matrix::{Subject, crds};
use tests::{install, namespace};

macro_rules! subjects {
    ($(
        $scope:ident $status:ident $kind:ident ($($list:ident)?) $apply:ident $getter:ident $said:tt $verbs:tt;
    )*) => {
        /// Every kind of the table.
        fn subjects(clientset: &Clientset, namespace: &str) -> Vec<Subject> {
            vec![$(tests::subject!(clientset namespace $scope $status $kind $apply $getter $said $verbs)),*]
        }
    };
}

matrix_types::for_each_kind! { subjects }

const NAMESPACE: &str = "matrix";

/// A clientset on a server that serves the matrix, and all its kinds.
async fn matrix() -> (Clientset, Vec<Subject>) {
    let client = ApiServer::new().client();
    install(&client, crds(None)).await;
    namespace(&client, NAMESPACE).await;
    let clientset = Clientset::new(client);
    let subjects = subjects(&clientset, NAMESPACE);
    (clientset, subjects)
}

fn by_name(clientset: &Clientset, subject: &Subject) -> GenericClient {
    clientset.for_resource(&resource(subject.kind.plural)).unwrap()
}

#[tokio::test]
async fn every_granted_verb_does_what_it_says() {
    let (clientset, subjects) = matrix().await;
    for subject in &subjects {
        subject.is_shown(&clientset, NAMESPACE).await;
    }
}

#[tokio::test]
async fn types_and_data_grant_what_the_table_grants_and_nothing_else() {
    let clientset = Clientset::new(ApiServer::new().client());
    let subjects = subjects(&clientset, NAMESPACE);
    assert_eq!(subjects.len(), 12 * 6 + 15);
    for subject in &subjects {
        let kind = subject.kind;
        for (verb, by_types) in subject.granted {
            assert_eq!(by_types, subject.grants(verb), "{verb:?} of {}", kind.kind);
        }
        let granted = subject.granted.into_iter().filter(|(_, granted)| *granted).map(|(verb, _)| verb);
        assert_eq!(kind.verbs, granted.collect::<Vec<_>>(), "{}", kind.kind);
        assert_eq!(by_name(&clientset, subject).verbs(), kind.verbs);
        assert_eq!((by_name(&clientset, subject).scope(), kind.scope), (subject.scope, subject.scope));
        assert_eq!(kind.status, subject.status != "Plain", "{}", kind.kind);
        assert_eq!(kind.docs, format!("The kind `{}` of the matrix.", kind.kind));
    }
}

#[tokio::test]
async fn clients_by_name_refuse_what_is_not_granted() {
    let (clientset, subjects) = matrix().await;
    for subject in &subjects {
        let (client, namespace) = (by_name(&clientset, subject), subject.namespace(NAMESPACE));
        let object = DynamicObject::new("nobody", client.resource());
        let called = [
            (Verb::Get, client.get(namespace, "nobody").await.err()),
            (Verb::List, client.list(namespace, &ListParams::default()).await.err()),
            (Verb::Create, client.create(namespace, &object, &PostParams::default()).await.err()),
            (Verb::Update, client.update(namespace, &object, &PostParams::default()).await.err()),
            (
                Verb::Patch,
                client.patch(namespace, "nobody", &Patch::Merge(json!({})), &PatchParams::default()).await.err(),
            ),
            (Verb::Delete, client.delete(namespace, "nobody", &DeleteParams::default()).await.err()),
        ];
        for (verb, error) in called {
            let refused = error.is_some_and(|error| error.to_string().ends_with("`#[genclient]` does not grant it"));
            assert_eq!(refused, !subject.grants(verb), "{verb:?} of {}", subject.kind.kind);
        }
    }
}

#[tokio::test]
async fn informers_follow_the_kinds_that_list_and_watch() {
    let (clientset, subjects) = matrix().await;
    let factory = SharedInformerFactory::new(&clientset);
    let mut informers = Vec::new();
    for subject in &subjects {
        let informer = factory.for_resource(&resource(subject.kind.plural));
        let is_followed = subject.grants(Verb::List) && subject.grants(Verb::Watch);
        assert_eq!(informer.is_some(), is_followed, "{}", subject.kind.kind);
        informers.extend(informer.map(|informer| (subject, informer)));
    }
    for (subject, _) in &informers {
        for call in subject.calls.iter().filter(|call| call.verb == Verb::Create) {
            let mut object = json!({"metadata": {"name": "followed"}, "spec": {}});
            object["kind"] = json!(subject.kind.kind);
            (call.run)(object).await.unwrap();
        }
    }
    factory.start();
    factory.wait_for_sync(Duration::from_secs(20)).await.unwrap();
    for (subject, informer) in informers {
        assert!(informer.has_synced());
        let followed = informer.lister().get(subject.namespace(NAMESPACE).unwrap_or_default(), "followed");
        assert_eq!(followed.is_some(), subject.grants(Verb::Create), "{}", subject.kind.kind);
    }
    factory.shutdown().await;
}

/// That the checked-in files are these is shown in `codegen.rs`, and that they name nothing which is not there by rustc.
#[tokio::test]
async fn what_is_generated_of_a_kind_follows_from_its_verbs() {
    let files = generate(matrix_types::groups(), &Layout::for_types_crate("matrix_types")).unwrap();
    let text = |path: &str| {
        let path = format!("matrix-client/src/{path}/matrix_v1.rs");
        &files.iter().find(|file| file.path == path).unwrap().contents
    };
    let clientset = Clientset::new(ApiServer::new().client());
    for subject in &subjects(&clientset, NAMESPACE) {
        let (kind, getter, namespaced) = (subject.kind.kind, subject.getter, subject.scope == Scope::Namespaced);
        let grants = |verb| subject.grants(verb);
        let informed = grants(Verb::List) && grants(Verb::Watch);
        let listed = informed && grants(Verb::Get);
        let read = grants(Verb::List) || grants(Verb::Watch);
        for (path, item, is_there) in [
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
                grants(Verb::Apply) || grants(Verb::ApplyStatus),
            ),
        ] {
            let found = text(path).lines().any(|line| line.trim_start().starts_with(&item));
            assert_eq!(found, is_there, "`{item}` in {path}");
        }
    }
}

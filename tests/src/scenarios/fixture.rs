//! The fixture API: the same derives, generator and client for kinds that differ from the reference API.

use fixture_client::{Clientset, SharedInformerFactory};
use fixture_types::{
    archive_v1::{ReadingPolicy, ReadingPolicyStatus},
    desk_v1::{Loan, Notice, Stamp, Table, TableSpec},
    library_v1beta1::{Book, Shelf, ShelfSpec, ShelfStatus, Wood},
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{
    Api, Client,
    api::{ListParams, Patch, PatchParams, PostParams},
};
use kubewright_runtime::{ApiObject, ResourceVersion, SharedInformer};
use serde_json::json;
use std::time::Duration;

use crate::namespace;

fn named(name: &str) -> ObjectMeta {
    ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() }
}

fn post() -> PostParams {
    PostParams::default()
}

/// Waits until an informer has a written version. Its first list is served from the watch cache, which can be older.
async fn wait_for_version<K: ApiObject>(informer: &SharedInformer<K>, written: &ObjectMeta) {
    let version = ResourceVersion::new(written.resource_version.as_deref().unwrap());
    informer.store().wait_for_within(&version, Duration::from_secs(20)).await.unwrap();
}

pub(super) async fn cluster_kinds_have_no_namespace(client: Client) {
    let clientset = Clientset::new(client);
    let shelves = clientset.library_example_org_v1beta1().shelves();
    let spec = ShelfSpec { boards: 200, wood: Some(Wood::Oak), ..ShelfSpec::default() };
    let shelf = Shelf { metadata: named("oak"), spec, status: None };
    let mut created = shelves.create(&shelf, &post()).await.unwrap();
    assert_eq!(created.metadata.namespace, None);
    created.status = Some(ShelfStatus { full: Some(50) });
    let reported = shelves.update_status(&created, &post()).await.unwrap();

    let factory = SharedInformerFactory::new(&clientset);
    let informer = factory.library_example_org_v1beta1().shelves();
    factory.start();
    wait_for_version(&informer, &reported.metadata).await;
    let read = informer.lister().get("oak").unwrap();
    assert_eq!((read.spec.boards, read.status.clone()), (200, created.status));
    factory.shutdown().await;
}

pub(super) async fn kinds_without_a_status_are_created_and_updated(client: Client) {
    let namespace = namespace(&client, "books").await;
    let books = Clientset::new(client).library_example_org_v1beta1().books(&namespace);
    let book =
        Book { metadata: named("walden"), title: "Walden".into(), author: Some("Thoreau".into()), page_count: 352 };
    let mut created = books.create(&book, &post()).await.unwrap();
    assert_eq!((created.author.as_deref(), created.page_count), (Some("Thoreau"), 352));
    created.title = "Walden; or, Life in the Woods".into();
    books.update(&created, &post()).await.unwrap();
    let list = books.list(&ListParams::default()).await.unwrap();
    assert_eq!(list.items[0].title, "Walden; or, Life in the Woods");
}

pub(super) async fn unset_fields_are_not_sent(client: Client) {
    let shelves = Clientset::new(client.clone()).library_example_org_v1beta1().shelves();
    let shelf = Shelf { metadata: named("bare"), spec: ShelfSpec::default(), status: None };
    shelves.create(&shelf, &post()).await.unwrap();
    let resource = kube::core::ApiResource::erase::<Shelf>(&());
    let stored: kube::core::DynamicObject = Api::all_with(client, &resource).get("bare").await.unwrap();
    let mut fields: Vec<_> = stored.data["spec"].as_object().unwrap().keys().cloned().collect();
    fields.sort();
    assert_eq!(fields, ["boards", "env", "labels", "sections", "width"]);
}

pub(super) async fn kinds_without_update_status_serve_the_subresource(client: Client) {
    let namespace = namespace(&client, "policies").await;
    let policies = Clientset::new(client.clone()).library_example_net_v1().reading_policies(&namespace);
    let mut policy = ReadingPolicy { metadata: named("all"), ..ReadingPolicy::default() };
    policy.spec.readers = vec!["ann".into()];
    let mut created = policies.create(&policy, &post()).await.unwrap();
    // The generated client does not grant the verb (see the ui tests), but the server serves it to plain kube.
    created.status = ReadingPolicyStatus { books: Some(3) };
    let api = Api::<ReadingPolicy>::namespaced(client, &namespace);
    let reported = api.replace_status("all", &post(), &created).await.unwrap();
    assert_eq!(reported.status.books, Some(3));
    assert_eq!(reported.spec.readers, ["ann"]);
}

/// Verbs that are not granted do not compile: see the ui tests.
pub(super) async fn clients_have_their_granted_verbs(client: Client) {
    let namespace = namespace(&client, "desk").await;
    let notice = Notice { metadata: named("open"), text: "from nine to five".into() };
    let written = Api::<Notice>::namespaced(client.clone(), &namespace).create(&post(), &notice).await.unwrap();

    let clientset = Clientset::new(client);
    let desk = clientset.desk_v1();
    assert_eq!(desk.notices(&namespace).get("open").await.unwrap(), written);
    let factory = SharedInformerFactory::namespaced(&clientset, &namespace);
    let informer = factory.desk_v1().notices();
    factory.start();
    wait_for_version(&informer, &written.metadata).await;
    assert_eq!(informer.lister().namespace(&namespace).get("open").unwrap().text, "from nine to five");
    factory.shutdown().await;

    let loan = Loan { metadata: named("walden"), reader: "ann".into() };
    desk.loans(&namespace).create(&loan, &post()).await.unwrap();
    let loans = desk.all_loans().list(&ListParams::default().fields("metadata.namespace=desk")).await.unwrap();
    assert_eq!(loans.items[0].reader, "ann");
    let stamped = desk.stamps().create(&Stamp { metadata: named("seen") }, &post()).await.unwrap();
    assert!(stamped.metadata.uid.is_some());
}

pub(super) async fn extension_methods_read_and_write_objects(client: Client) {
    let namespace = namespace(&client, "tables").await;
    let tables = Clientset::new(client).desk_v1().tables(&namespace);
    let table = Table { metadata: named("round"), spec: TableSpec { seats: 4 }, status: None };
    let mut table = tables.create_extended(&table, &post()).await.unwrap();
    assert_eq!(tables.get_extended("round").await.unwrap(), table);
    assert_eq!(tables.list_extended(&ListParams::default()).await.unwrap().items, [table.clone()]);

    table.spec.seats = 6;
    let updated = tables.update_extended("round", &table, &post()).await.unwrap();
    assert_eq!(updated.metadata.generation, Some(2));
    let patch = Patch::Merge(json!({"spec": {"seats": 8}}));
    let patched = tables.patch_extended("round", &patch, &PatchParams::default()).await.unwrap();
    assert_eq!(patched.metadata.generation, Some(3));
    assert_eq!(tables.get("round").await.unwrap().spec.seats, 8, "the standard verbs work on the same object");
}

pub(super) async fn extension_methods_reach_subresources(client: Client) {
    let namespace = namespace(&client, "scales").await;
    let tables = Clientset::new(client).desk_v1().tables(&namespace);
    let table = Table { metadata: named("round"), spec: TableSpec { seats: 4 }, status: None };
    tables.create(&table, &post()).await.unwrap();

    let mut scale = tables.get_scale("round").await.unwrap();
    scale.spec.as_mut().unwrap().replicas = Some(5);
    let scaled = tables.update_scale("round", &scale, &post()).await.unwrap();
    assert_eq!(scaled.spec.unwrap().replicas, Some(5));
    let patch = Patch::Merge(json!({"spec": {"replicas": 7}}));
    tables.patch_scale("round", &patch, &PatchParams::default()).await.unwrap();
    assert_eq!(tables.list_scales("round", &ListParams::default()).await.unwrap().spec.unwrap().replicas, Some(7));
    assert_eq!(tables.get("round").await.unwrap().spec.seats, 7);

    let unserved = tables.create_binding("round", &scale, &post()).await.unwrap_err();
    assert!(unserved.is_not_found(), "{unserved}");
    let missing = tables.get_scale("square").await.unwrap_err().to_string();
    assert!(missing.starts_with("cannot get the scale of tables.desk.example.org `square`: "), "{missing}");
}

//! Listers: lookups, selectors, indexes and not-found errors.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::core::{Expression, Selector};
use kubewright_runtime::{Index, Lister, NotFound, ObjectKey, Store};

use super::{MEMORY, fixture::object};

const BY_APP: Index<ConfigMap> =
    Index::new("by_app", |map| map.metadata.labels.iter().flat_map(BTreeMap::values).cloned().collect());

fn labelled(namespace: &str, name: &str, app: &str) -> ConfigMap {
    let mut object = object(namespace, name);
    object.metadata.labels = Some(BTreeMap::from([("app".to_owned(), app.to_owned())]));
    object
}

fn lister() -> Lister<ConfigMap> {
    let maps = [labelled("a", "1", "web"), labelled("a", "2", "db"), labelled("b", "1", "web"), object("b", "2")];
    Lister::new(Store::collect(MEMORY, maps))
}

#[test]
fn not_found_errors_contain_resource_and_namespace() {
    let missing = lister().namespace("a").get("nobody").unwrap_err();
    let expected = NotFound { resource: "configmaps".into(), namespace: "a".into(), name: "nobody".into() };
    assert_eq!(missing, expected);
    assert_eq!(missing.to_string(), "configmaps \"nobody\" not found in namespace \"a\"");
    let by_key = lister().get_by_key(&ObjectKey::namespaced("a", "nobody")).unwrap_err();
    assert_eq!(by_key, missing);

    let namespaces = Lister::<Namespace>::new(Store::collect(MEMORY, Vec::<Namespace>::new()));
    assert_eq!(namespaces.get("nowhere").unwrap_err().to_string(), "namespaces \"nowhere\" not found");
}

#[test]
fn a_namespace_lister_returns_objects_of_its_namespace_only() {
    let lister = lister();
    let a = lister.namespace("a");
    assert_eq!((a.list().len(), lister.list().len()), (2, 4));
    assert_eq!(a.get("1").unwrap().metadata.namespace.as_deref(), Some("a"));
    assert!(lister.namespace("c").list().is_empty());
    assert_eq!(a.by_index(&BY_APP, "web").len(), 1);
}

#[test]
fn objects_are_selected_by_labels_and_indexes() {
    let lister = lister();
    let web: Selector = Expression::Equal("app".to_owned(), "web".to_owned()).into();
    let not_web: Selector = Expression::NotEqual("app".to_owned(), "web".to_owned()).into();
    assert_eq!((lister.list_matching(&web).len(), lister.namespace("a").list_matching(&web).len()), (2, 1));
    assert_eq!(lister.list_matching(&not_web).len(), 2, "includes objects without labels");
    assert_eq!(lister.by_index(&BY_APP, "web").len(), 2);
}

#[test]
fn collecting_objects_with_one_name_keeps_the_last() {
    let store = Store::<ConfigMap>::collect(MEMORY, [labelled("a", "1", "first"), labelled("a", "1", "last")]);
    assert_eq!(store.len(), 1);
    assert_eq!(store.by_index(&BY_APP, "last").len(), 1);
}

//! The derived behaviour of types: JSON, deep copies, scheme registration, and the traits of kube and k8s-openapi.

use fixture_types::{
    library_v1beta1::{self, Book, Label, Shelf, ShelfList},
    nullable_v1::MemoSpec,
};
use k8s_openapi::{ListableResource, Resource};
use kubewright_core::{
    DeepCopy, GroupVersionKind, Kind, Nullable, Object, Scheme,
    meta::{ClientVerb, Scope},
    scheme::{DecodeError, Registration},
};
use logger_types::v2::{GROUP_VERSION, Logger, LoggerList, LoggerState, LoggerStatus, add_to_scheme, resource};
use serde_json::{Value, from_value, json, to_value};
use tests::logger;

fn audit() -> Value {
    json!({
        "apiVersion": "example.com/v2",
        "kind": "Logger",
        "metadata": {"name": "audit"},
        "spec": {"name": "audit", "interval": "1m"},
    })
}

#[test]
fn unset_fields_are_omitted_and_type_meta_is_written() {
    assert_eq!(to_value(logger("audit")).unwrap(), audit());
    let mut reported = logger("audit");
    reported.status = Some(LoggerStatus { state: Some(LoggerState::Available), ..LoggerStatus::default() });
    assert_eq!(to_value(&reported).unwrap()["status"], json!({"state": "Available"}));
    let list = LoggerList { items: vec![reported], ..LoggerList::default() };
    let list = to_value(&list).unwrap();
    assert_eq!((&list["apiVersion"], &list["kind"]), (&json!("example.com/v2"), &json!("LoggerList")));
    assert_eq!(list["items"][0]["status"], json!({"state": "Available"}));
}

#[test]
fn objects_round_trip_through_json() {
    let mut desired = logger("audit");
    desired.spec.replicas = Some(0);
    assert_eq!(from_value::<Logger>(to_value(&desired).unwrap()).unwrap(), desired);
    let list = LoggerList { items: vec![desired], ..LoggerList::default() };
    assert_eq!(from_value::<LoggerList>(to_value(&list).unwrap()).unwrap(), list);
}

#[test]
fn absent_type_meta_is_accepted_and_other_type_meta_is_rejected() {
    let mut items = audit();
    items.as_object_mut().unwrap().retain(|key, _| key != "apiVersion" && key != "kind");
    assert_eq!(from_value::<Logger>(items).unwrap(), logger("audit"));
    for (field, value, expected) in [
        ("kind", "Pod", "invalid value: string \"Pod\", expected kind `Logger`"),
        (
            "apiVersion",
            "example.com/v1",
            "invalid value: string \"example.com/v1\", expected apiVersion `example.com/v2`",
        ),
    ] {
        let mut other = audit();
        other[field] = json!(value);
        assert_eq!(from_value::<Logger>(other).unwrap_err().to_string(), expected);
    }
}

#[test]
fn missing_and_duplicate_fields_are_rejected_by_name() {
    let mut missing = audit();
    missing.as_object_mut().unwrap().remove("spec");
    assert_eq!(from_value::<Logger>(missing).unwrap_err().to_string(), "missing field `spec`");
    let duplicate = r#"{"metadata": {}, "metadata": {}}"#;
    let error = serde_json::from_str::<Logger>(duplicate).unwrap_err().to_string();
    assert!(error.starts_with("duplicate field `metadata`"), "{error}");
    assert_eq!(
        from_value::<Logger>(json!([])).unwrap_err().to_string(),
        "invalid type: sequence, expected a Logger object"
    );
}

#[test]
fn serde_names_and_defaults_apply_to_root_kinds() {
    let book = json!({"metadata": {}, "title": "Walden", "by": "Thoreau", "pageCount": 352});
    let book: Book = from_value(book).unwrap();
    assert_eq!((book.author.as_deref(), book.page_count), (Some("Thoreau"), 352));
    let book: Book = from_value(json!({"title": "Walden"})).unwrap();
    assert_eq!((book.author, book.page_count), (None, 0));
}

#[test]
fn yaml_distinguishes_null_from_absent() {
    let note = |yaml: &str| serde_saphyr::from_str::<MemoSpec>(yaml).unwrap().note;
    assert_eq!(
        (note("data: 1"), note("note: null"), note("note: ~")),
        (Nullable::Absent, Nullable::Null, Nullable::Null)
    );
    assert_eq!(note("note: hi"), Nullable::Value("hi".to_owned()));
}

#[test]
fn a_deep_copy_shares_nothing_with_its_original() {
    let mut shelf = Shelf::default();
    shelf.metadata.name = Some("oak".into());
    shelf.spec.sections.insert("top".into(), Label { text: "A-M".into(), colour: None });
    shelf.spec.notes = Some(json!({"deep": [1, {"deeper": true}]}));
    let (before, mut copy) = (shelf.clone(), shelf.deep_copy());
    assert_eq!(copy, shelf);
    copy.metadata.name = None;
    copy.spec.sections.get_mut("top").unwrap().text.push('!');
    copy.spec.notes.as_mut().unwrap()["deep"][1]["deeper"] = json!(false);
    assert_eq!(shelf, before);

    let mut target = Shelf::default();
    shelf.deep_copy_into(&mut target);
    assert_eq!(target, shelf);
    let boxed: Box<dyn Object> = Box::new(shelf.deep_copy());
    assert_eq!(boxed.deep_copy().into_any().downcast::<Shelf>().unwrap().as_ref(), &shelf);
}

#[test]
fn the_scheme_decodes_registered_kinds_and_reports_unknown_ones() {
    let mut scheme = Scheme::new();
    add_to_scheme(&mut scheme).unwrap();
    add_to_scheme(&mut scheme).expect("registering the same types again is no conflict");
    let names: Vec<_> = scheme.kinds().map(ToString::to_string).collect();
    assert_eq!(names, ["example.com/v2, Kind=Logger", "example.com/v2, Kind=LoggerList"]);

    let object = scheme.decode(audit().to_string().as_bytes()).unwrap();
    assert_eq!(object.group_version_kind(), GROUP_VERSION.kind("Logger"));
    assert_eq!(object.object_meta().unwrap().name.as_deref(), Some("audit"));
    assert_eq!(object.as_any().downcast_ref::<Logger>(), Some(&logger("audit")));

    let yaml = object.to_yaml().unwrap();
    assert_eq!(scheme.decode_yaml(&yaml).unwrap().downcast_ref::<Logger>(), Some(&logger("audit")));

    let unknown = scheme.decode(br#"{"apiVersion": "v1", "kind": "Pod"}"#).unwrap_err();
    assert!(matches!(&unknown, DecodeError::Unknown(gvk) if gvk.kind == "Pod"), "{unknown}");
    assert!(matches!(scheme.decode(b"[]").unwrap_err(), DecodeError::Untyped(_)));
    let malformed = scheme.decode(br#"{"apiVersion": "example.com/v2", "kind": "Logger"}"#).unwrap_err();
    assert!(matches!(malformed, DecodeError::Malformed { .. }), "{malformed}");
}

#[test]
fn two_types_of_one_kind_conflict() {
    let mut scheme = Scheme::new();
    add_to_scheme(&mut scheme).unwrap();
    let other = Registration { gvk: GROUP_VERSION.kind("Logger"), ..Registration::new::<Book>() };
    let conflict = scheme.add_as::<Book>(other).unwrap_err();
    assert!(conflict.to_string().contains("logger_types::v2::logger::Logger"), "{conflict}");
    let decoded = scheme.decode(audit().to_string().as_bytes()).unwrap();
    assert!((*decoded).type_id() == std::any::TypeId::of::<Logger>(), "the first registration stays");
}

#[test]
fn generated_schemes_contain_every_group() {
    let scheme = fixture_client::scheme::scheme().unwrap();
    assert_eq!(scheme.kind_for(&library_v1beta1::resource("shelves")).unwrap().kind, "Shelf");
    let shelf = library_v1beta1::GROUP_VERSION.kind("Shelf");
    assert_eq!(scheme.list_kind_for(&shelf).unwrap().kind, "ShelfList");
    assert_eq!(scheme.resource_for(&shelf), scheme.resource_for(&library_v1beta1::GROUP_VERSION.kind("ShelfList")));
    for (group, version, kind) in
        [("library.example.org", "v1beta1", "ShelfList"), ("library.example.net", "v1", "InternalState")]
    {
        let gvk = GroupVersionKind { group: group.into(), version: version.into(), kind: kind.into() };
        assert!(scheme.recognizes(&gvk), "{gvk}");
    }
}

#[test]
fn kinds_implement_the_resource_traits_of_k8s_openapi_and_kube() {
    assert_eq!((Logger::API_VERSION, Logger::KIND, Logger::LIST_KIND), ("example.com/v2", "Logger", "LoggerList"));
    assert_eq!((LoggerList::KIND, Logger::URL_PATH_SEGMENT), ("LoggerList", "loggers"));
    assert_eq!(<Logger as kube::Resource>::url_path(&(), Some("ns")), "/apis/example.com/v2/namespaces/ns/loggers");
    assert_eq!(<Shelf as kube::Resource>::url_path(&(), None), "/apis/library.example.org/v1beta1/shelves");
    assert_eq!(<ShelfList as Resource>::URL_PATH_SEGMENT, "shelves");
    assert_eq!(resource("loggers").to_string(), "example.com/v2, Resource=loggers");
}

#[test]
fn attributes_are_in_the_api_kind() {
    let logger = Logger::API_KIND;
    assert_eq!((logger.scope, logger.short_names, logger.categories), (Scope::Namespaced, &["lg"][..], &["all"][..]));
    assert!(logger.status && logger.grants(ClientVerb::UpdateStatus));
    assert_eq!(
        logger.docs,
        "A Logger periodically writes user activity to files. At least one Logger must always survive."
    );
    let columns: Vec<_> = logger.columns.iter().map(|column| column.name).collect();
    assert_eq!(columns, ["State", "Ready", "Desired", "Interval", "Workload", "Age"]);
    assert_eq!(Shelf::API_KIND.scope, Scope::Cluster);
    assert!(!Book::API_KIND.grants(ClientVerb::UpdateStatus));
}

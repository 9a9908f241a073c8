//! Kinds and list kinds that are not the names of their types.

use k8s_openapi::{
    ListableResource, Resource,
    apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta},
};
use kubewright_core::{ApplyConfiguration, CrdSchema, DeepCopy, Kind, Object, ObjectList, Scheme};
use serde_json::json;

kubewright_core::group_version! {
    group = "example.com",
    version = "v1",
    kinds = [FooBar, FooBarList, Gauge, Gauges, Meter, Meters, Widget, WidgetList],
}

/// A kind whose list follows it.
#[derive(Clone, Debug, ApplyConfiguration, DeepCopy, CrdSchema, Object)]
#[genclient]
#[k8s(kind = "Foo-Bar")]
pub struct FooBar {
    pub metadata: ObjectMeta,
    pub size: Option<i32>,
}

#[derive(Clone, Debug, DeepCopy, ObjectList)]
pub struct FooBarList {
    pub metadata: ListMeta,
    pub items: Vec<FooBar>,
}

/// A kind whose list declares its kind.
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[genclient]
#[k8s(kind = "gauge", plural = "gauging", singular = "gauged")]
pub struct Gauge {
    pub metadata: ObjectMeta,
}

#[derive(Clone, Debug, DeepCopy, ObjectList)]
#[k8s(kind = "gauge-list")]
pub struct Gauges {
    pub metadata: ListMeta,
    pub items: Vec<Gauge>,
}

/// A kind whose list has its own name.
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[genclient]
#[k8s(kind = "meter")]
pub struct Meter {
    pub metadata: ObjectMeta,
}

#[derive(Clone, Debug, DeepCopy, ObjectList)]
pub struct Meters {
    pub metadata: ListMeta,
    pub items: Vec<Meter>,
}

/// A kind and a list that declare the names of their types.
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[genclient]
#[k8s(kind = "Widget")]
pub struct Widget {
    pub metadata: ObjectMeta,
}

#[derive(Clone, Debug, DeepCopy, ObjectList)]
#[k8s(kind = "WidgetList")]
pub struct WidgetList {
    pub metadata: ListMeta,
    pub items: Vec<Widget>,
}

#[test]
fn kinds_and_list_kinds_are_those_declared() {
    assert_eq!((FooBar::KIND, FooBarList::KIND, FooBar::LIST_KIND), ("Foo-Bar", "Foo-BarList", "Foo-BarList"));
    assert_eq!((Gauge::KIND, Gauges::KIND, Gauge::LIST_KIND), ("gauge", "gauge-list", "gauge-list"));
    assert_eq!((Meter::KIND, Meters::KIND, Meter::LIST_KIND), ("meter", "Meters", "Meters"));
    assert_eq!((Widget::KIND, WidgetList::KIND, Widget::LIST_KIND), ("Widget", "WidgetList", "WidgetList"));
}

#[test]
fn names_of_the_definition_follow_the_kind() {
    let names = API_GROUP.kinds().map(|kind| {
        let list_kind = API_GROUP.list_kind(kind);
        (kind.kind, list_kind, kind.plural, kind.singular, kind.rust_name)
    });
    let expected = [
        ("Foo-Bar", "Foo-BarList", "foo-bars", "foo-bar", "FooBar"),
        ("gauge", "gauge-list", "gauging", "gauged", "Gauge"),
        ("meter", "Meters", "meters", "meter", "Meter"),
        ("Widget", "WidgetList", "widgets", "widget", "Widget"),
    ];
    let expected = expected.map(|(kind, list, plural, singular, ty)| (kind, list.to_owned(), plural, singular, ty));
    assert_eq!(names.collect::<Vec<_>>(), expected);
    assert_eq!(FooBar::API_KIND.default_list_kind, "Foo-BarList");
}

#[test]
fn objects_and_lists_are_the_same_after_decoding_and_encoding() {
    let object = json!({"apiVersion": "example.com/v1", "kind": "Foo-Bar", "metadata": {"name": "a"}, "size": 3});
    let list = json!({"apiVersion": "example.com/v1", "kind": "Foo-BarList", "metadata": {}, "items": [object]});
    let decoded: FooBarList = serde_json::from_value(list.clone()).unwrap();
    assert_eq!(serde_json::to_value(&decoded.items[0]).unwrap(), object);
    assert_eq!(serde_json::to_value(&decoded).unwrap(), list);
    let error = serde_json::from_value::<FooBar>(json!({"kind": "FooBar", "metadata": {}})).unwrap_err();
    assert!(error.to_string().contains("expected kind `Foo-Bar`"), "{error}");

    let mut scheme = Scheme::new();
    add_to_scheme(&mut scheme).unwrap();
    let decoded = scheme.decode(list.to_string().as_bytes()).unwrap();
    assert!(decoded.downcast_ref::<FooBarList>().is_some(), "{decoded:?}");
}

//! `ApiObject` and `ApiType` have the effect of the single derives, and generate the list.

#![allow(missing_docs, unreachable_pub, reason = "the types of an API are public")]

use k8s_openapi::{ListableResource, Resource};
use kubewright_core::{
    DeepCopy, Kind, KindList, Scheme,
    apply::{Applied, Shape},
    meta::ApiKind,
    schemars::JsonSchema,
};
use serde_json::json;

/// Declares the same types with these derives of the kind and of a type in it.
macro_rules! version {
    ($version:ident, [$($kind:ident),*], [$($nested:ident),*], $list:tt) => {
        mod $version {
            use k8s_openapi::apimachinery::pkg::apis::meta::v1::*;
            #[allow(unused_imports)]
            use kubewright_core::*;
            use serde::{Deserialize, Serialize};

            /// A Widget rotates.
            #[derive(Clone, Debug, Default, PartialEq, $($kind),*)]
            #[genclient(index(name = by_name, by = WidgetSpec::names))]
            #[convert(hub = super::hub::Widget)]
            #[k8s(short_names = ["wg"], subresource(status), printcolumns = [string("Name", ".spec.name")])]
            #[policy(rule = "object.spec.name != ''", message = "a name is required")]
            pub struct Widget {
                /// Standard object's metadata.
                pub metadata: ObjectMeta,
                /// The desired state.
                pub spec: WidgetSpec,
                /// The observed state.
                pub status: Option<String>,
            }

            /// The desired state of a Widget.
            #[kubewright_core::defaults]
            #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, $($nested),*)]
            #[serde(rename_all = "camelCase")]
            #[convert(hub = super::hub::WidgetSpec)]
            pub struct WidgetSpec {
                /// The name.
                #[schema(length = 1..=20, column = "Full name")]
                pub name: String,
                #[default(3)]
                #[convert(default = 3)]
                #[schema(min = 1)]
                pub max_speed: i32,
                #[deep_copy(clone)]
                #[apply(atomic)]
                pub words: Vec<String>,
            }

            impl WidgetSpec {
                fn names(widget: &Widget) -> Vec<String> {
                    vec![widget.spec.name.clone()]
                }
            }

            version! { @list $list }
        }
    };
    (@list generated) => {
        group_version! { group = "example.com", version = "v1", kinds = [Widget] }
    };
    (@list declared) => {
        /// A list of Widget objects.
        #[derive(Clone, Debug, Default, PartialEq, DeepCopy, ObjectList)]
        pub struct WidgetList {
            /// Standard list metadata.
            pub metadata: ListMeta,
            /// The Widget objects.
            pub items: Vec<Widget>,
        }

        group_version! { group = "example.com", version = "v1", kinds = [Widget, WidgetList] }
    };
}

version! {
    single,
    [ApplyConfiguration, Convert, CrdSchema, DeepCopy, Object],
    [ApplyConfiguration, Convert, CrdSchema, DeepCopy],
    declared
}
version! { umbrella, [ApiObject], [ApiType], generated }

mod hub {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
    use kubewright_core::{ApiObject, ApiType, DeepCopy, ObjectList, group_version};
    use serde::{Deserialize, Serialize};

    group_version! { group = "example.com", version = "v2", kinds = [Widget, Widgets, Uncomparable, UncomparableList] }

    #[derive(Clone, Debug, ApiObject)]
    #[genclient]
    #[convert(hub)]
    #[k8s(list = Widgets)]
    pub struct Widget {
        pub metadata: ObjectMeta,
        pub spec: WidgetSpec,
        pub status: Option<String>,
    }

    #[derive(Clone, Debug, DeepCopy, ObjectList)]
    pub struct Widgets {
        pub metadata: ListMeta,
        pub items: Vec<Widget>,
    }

    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
    #[serde(rename_all = "camelCase")]
    #[convert(hub)]
    pub struct WidgetSpec {
        pub name: String,
        pub max_speed: i32,
        pub words: Vec<String>,
    }

    /// A kind without `PartialEq`, whose list is listed as well.
    #[kubewright_core::defaults]
    #[derive(Clone, Debug, ApiObject)]
    #[k8s(scope = "Cluster")]
    pub struct Uncomparable {
        pub metadata: ObjectMeta,
        #[default(3)]
        pub size: i32,
    }
}

/// Returns the metadata without addresses of functions and without the location.
fn comparable(kind: ApiKind) -> String {
    let mut kind = ApiKind { schema: None, location: ApiKind::DEFAULT.location, ..kind };
    kind.apply = ApiKind::DEFAULT.apply;
    format!("{kind:?}")
}

#[test]
fn metadata_schema_and_apply_configuration_are_the_same() {
    assert_eq!(comparable(umbrella::Widget::API_KIND), comparable(single::Widget::API_KIND));
    let text =
        |text: String| without_digits_after("umbrella.rs:", &text.replace("umbrella::umbrella", "umbrella::single"));
    assert_eq!(text(schema::<umbrella::Widget>()), text(schema::<single::Widget>()));
    let text = |shape: Shape| {
        without_digits_after("0x", &format!("{shape:?}").replace("umbrella::umbrella", "umbrella::single"))
    };
    assert_eq!(text(umbrella::Widget::shape()), text(single::Widget::shape()));
    assert_eq!(text(umbrella::WidgetSpec::shape()), text(single::WidgetSpec::shape()));
}

/// Removes the digits of line numbers and of addresses of functions.
fn without_digits_after(prefix: &str, text: &str) -> String {
    text.split(prefix).map(|part| part.trim_start_matches(|c: char| c.is_ascii_hexdigit())).collect()
}

fn schema<T: JsonSchema>() -> String {
    kubewright_core::schemars::schema_for!(T).to_value().to_string()
}

#[test]
fn objects_have_the_same_encoding_and_conversion() {
    let object = json!({
        "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"},
        "spec": {"name": "a", "maxSpeed": 3, "words": ["b"]}
    });
    let without_default = json!({
        "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"name": "a", "words": ["b"]}
    });
    let widget: umbrella::Widget = serde_json::from_value(without_default).unwrap();
    assert_eq!(serde_json::to_value(&widget).unwrap(), object);
    assert_eq!(widget.deep_copy(), widget);
    let hub = hub::Widget::try_from(widget.clone()).unwrap();
    assert_eq!(hub.spec.max_speed, 3);
    assert_eq!(umbrella::Widget::try_from(hub).unwrap(), widget);
}

#[test]
fn the_generated_list_is_that_written_by_hand() {
    assert_eq!((umbrella::WidgetList::KIND, umbrella::WidgetList::API_VERSION), ("WidgetList", "example.com/v1"));
    assert_eq!(umbrella::Widget::LIST_KIND, "WidgetList");
    let (generated, declared) = (umbrella::WidgetList::API_LIST, single::WidgetList::API_LIST);
    assert_eq!(format!("{generated:?}"), format!("{declared:?}"));
    let list = umbrella::WidgetList { items: vec![umbrella::Widget::default()], ..Default::default() };
    let decoded: umbrella::WidgetList = serde_json::from_value(serde_json::to_value(&list).unwrap()).unwrap();
    assert_eq!((decoded.deep_copy(), decoded.items.len()), (list, 1));
    let _ = hub::UncomparableList::default();
}

#[test]
fn a_group_version_registers_the_list_of_its_kind_once() {
    for (group, add_to_scheme) in [
        (umbrella::API_GROUP, umbrella::add_to_scheme as fn(&mut Scheme) -> _),
        (single::API_GROUP, single::add_to_scheme),
        (hub::API_GROUP, hub::add_to_scheme),
    ] {
        let mut scheme = Scheme::new();
        add_to_scheme(&mut scheme).unwrap();
        assert_eq!(scheme.kinds().count(), 2 * group.kinds().count());
        assert!(group.kinds().all(|kind| group.list_of(kind).is_some()));
    }
    assert_eq!(umbrella::API_GROUP.kinds().count(), 1);
}

//! The expansion of a deprecated kind does not warn about its use.

#![deny(warnings)]

pub mod v1 {
    use std::borrow::Cow;

    use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
    use kubewright_core::{DeepCopy, Object, ObjectList};
    use schemars::{JsonSchema, Schema, SchemaGenerator};

    kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget, WidgetList] }

    #[deprecated(note = "use something else")]
    #[derive(Clone, Debug, DeepCopy, Object)]
    #[genclient(method(name = get_extended, verb = get))]
    #[k8s(lifecycle(introduced = "1.2", deprecated = "1.4", replacement = crate::deprecated_kind::v2::Widget))]
    pub struct Widget {
        pub metadata: ObjectMeta,
    }

    // The derive of schemars emits the warning.
    #[allow(deprecated)]
    impl JsonSchema for Widget {
        fn schema_name() -> Cow<'static, str> {
            "Widget".into()
        }

        fn json_schema(generator: &mut SchemaGenerator) -> Schema {
            ObjectMeta::json_schema(generator)
        }
    }

    #[allow(deprecated)]
    #[derive(Clone, Debug, DeepCopy, ObjectList)]
    pub struct WidgetList {
        pub metadata: ListMeta,
        pub items: Vec<Widget>,
    }
}

pub mod v2 {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
    use kubewright_core::{DeepCopy, Object};
    use schemars::JsonSchema;

    kubewright_core::group_version! { group = "example.com", version = "v2", kinds = [Widget] }

    #[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
    #[k8s(scope = "Namespaced", lifecycle(introduced = "1.4"))]
    pub struct Widget {
        pub metadata: ObjectMeta,
    }
}

#[test]
fn compiles() {
    let kind = v1::API_GROUP.kinds().next().unwrap();
    assert_eq!(kind.deprecated, Some("use something else"));
    let lifecycle = kind.lifecycle.unwrap();
    assert_eq!(lifecycle.replacement.unwrap().to_string(), "example.com/v2 Widget");
    let mut scheme = kubewright_core::Scheme::new();
    v1::add_to_scheme(&mut scheme).unwrap();
    v2::add_to_scheme(&mut scheme).unwrap();
    assert_eq!(scheme.lifecycle(&v1::GROUP_VERSION.kind("Widget")), Some(lifecycle));
    assert_eq!(scheme.lifecycle(&v1::GROUP_VERSION.kind("WidgetList")), None);
    assert_eq!(scheme.preferred("example.com", "Widget"), Some(&v2::GROUP_VERSION.kind("Widget")));
}

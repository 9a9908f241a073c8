//! The expansion uses absolute paths, so that a module can declare its own `Option` or `core`.

#![allow(dead_code, non_camel_case_types)]

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
use kubewright_core::{Convert, DeepCopy, Object, ObjectList};
use schemars::JsonSchema;

/// Types of the fields, under names that are not shadowed.
mod real {
    pub type Text = std::string::String;
    pub type Maybe<T> = std::option::Option<T>;
    pub type Many<T> = std::vec::Vec<T>;
}

/// Types with derives of std and schemars, which do not use absolute paths.
mod elsewhere {
    use super::*;

    macro_rules! plain_impls {
        ($($name:ident)*) => {$(
            impl std::clone::Clone for $name {
                fn clone(&self) -> Self {
                    kubewright_core::DeepCopy::deep_copy(self)
                }
            }
            impl std::fmt::Debug for $name {
                fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str(stringify!($name))
                }
            }
        )*};
    }
    use shadowed::{OldWidget, Widget, WidgetList};
    plain_impls!(OldWidget Widget WidgetList);

    impl JsonSchema for OldWidget {
        fn schema_name() -> std::borrow::Cow<'static, str> {
            "OldWidget".into()
        }
        fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
            schemars::json_schema!({})
        }
    }

    impl JsonSchema for Widget {
        fn schema_name() -> std::borrow::Cow<'static, str> {
            "Widget".into()
        }
        fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
            schemars::json_schema!({})
        }
    }
}

pub mod shadowed {
    use super::real::{Many as Vec, Maybe, Text};
    use super::{Convert, DeepCopy, ListMeta, Object, ObjectList, ObjectMeta};

    pub mod core {}
    pub mod std {}
    pub mod alloc {}
    pub mod serde {}
    pub mod schemars {}
    pub mod k8s_openapi {}
    pub mod kubewright_core {}

    pub struct Option;
    pub struct Result;
    pub struct String;
    pub struct Box;
    pub struct Some;
    pub struct None;
    pub struct Ok;
    pub struct Err;
    pub struct str;
    pub trait Clone {}
    pub trait Default {}
    pub trait Debug {}
    pub trait Send {}
    pub trait Sync {}
    pub trait Sized {}
    pub trait Any {}
    pub trait Into {}
    pub trait TryFrom {}
    pub trait ConvertTo {}
    pub trait Hub {}
    pub trait From {}
    pub trait Iterator {}
    pub trait Serialize {}
    pub trait Serializer {}
    pub trait Deserialize {}
    pub trait Deserializer {}
    pub trait JsonSchema {}
    pub trait Resource {}
    pub trait Metadata {}
    pub trait Kind {}
    pub trait KindList {}
    pub trait Scheme {}
    pub fn drop() {}

    ::kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [OldWidget, Widget, WidgetList] }

    /// A Widget.
    #[::kubewright_core::defaults]
    #[derive(Convert, DeepCopy, Default, Object)]
    #[convert(hub)]
    #[genclient]
    #[k8s(plural = "widgets", short_names = ["wg"], categories = ["all"])]
    #[k8s(subresource(status, scale(spec_path = ".spec.replicas", status_path = ".status.replicas")))]
    #[k8s(printcolumns = [date("Age", ".metadata.creationTimestamp").description("Age")])]
    pub struct Widget {
        pub metadata: ObjectMeta,
        pub spec: Maybe<Text>,
        #[default("round")]
        pub r#type: Text,
        #[default(with = tags)]
        pub tags: Vec<Text>,
        pub status: Maybe<Text>,
    }

    /// A Widget of an older version.
    #[derive(Convert, DeepCopy, Object)]
    #[convert(hub = Widget, store = [tags], default(r#type = "round", status = no_status()))]
    #[genclient]
    pub struct OldWidget {
        pub metadata: ObjectMeta,
        #[convert(from = "spec", with = unchanged)]
        pub text: Maybe<Text>,
        #[convert(store)]
        #[serde(default)]
        pub size: Maybe<Text>,
    }

    mod unchanged {
        use super::*;

        pub fn to_hub(text: Maybe<Text>) -> Maybe<Text> {
            text
        }

        pub fn from_hub(text: Maybe<Text>) -> Maybe<Text> {
            text
        }
    }

    fn no_status() -> Maybe<Text> {
        Maybe::None
    }

    #[derive(Convert)]
    #[convert(hub)]
    pub enum HubShape {
        Round,
        Named { from: i32 },
    }

    fn tags() -> Vec<Text> {
        ::std::vec!["new".into()]
    }

    /// A list of Widgets.
    #[derive(DeepCopy, ObjectList)]
    pub struct WidgetList {
        pub metadata: ListMeta,
        pub items: Vec<Widget>,
    }

    #[derive(DeepCopy)]
    pub enum Shape<T> {
        Unit,
        Tuple(T, Text),
        Named { from: Vec<T>, target: Maybe<Text> },
    }

    #[derive(DeepCopy)]
    pub enum Never {}

    #[derive(DeepCopy)]
    pub struct Unit;
}

#[test]
fn compiles() {
    let mut scheme = kubewright_core::Scheme::new();
    shadowed::add_to_scheme(&mut scheme).unwrap();
    let json = r#"{"apiVersion": "example.com/v1", "kind": "Widget"}"#;
    let object = scheme.decode(json.as_bytes()).unwrap();
    assert_eq!(object.group_version_kind().kind, "Widget");
    let widget = object.as_any().downcast_ref::<shadowed::Widget>().unwrap();
    assert_eq!((widget.r#type.as_str(), &widget.tags[..]), ("round", &["new".to_owned()][..]));
}

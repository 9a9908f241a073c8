//! The expansion has no warnings, including those that are off by default.

#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]
#![deny(future_incompatible, nonstandard_style, rust_2018_idioms, unused)]
#![deny(missing_debug_implementations, single_use_lifetimes, trivial_casts, unreachable_pub, unused_qualifications)]
#![deny(unused_lifetimes, unused_import_braces, unused_results, variant_size_differences)]
#![forbid(unsafe_code)]

/// Version `v1`.
pub mod v1 {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
    use logger_core::{DeepCopy, Object, ObjectList};
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    logger_core::group_version! { group = "example.com", version = "v1", kinds = [Widget, WidgetList, Gadget] }

    /// A Widget.
    #[derive(Clone, Debug, Default, PartialEq, DeepCopy, JsonSchema, Object)]
    #[genclient]
    #[k8s(short_names = ["wg"], subresource(status))]
    #[k8s(printcolumns = [date("Age", ".metadata.creationTimestamp").priority(1), date("Changed", ".metadata.creationTimestamp")])]
    pub struct Widget {
        /// Standard object's metadata.
        pub metadata: ObjectMeta,
        /// The desired state.
        pub spec: WidgetSpec,
        /// The observed state.
        pub status: Option<String>,
    }

    /// The desired state of a Widget.
    #[logger_core::defaults]
    #[derive(Clone, Debug, Default, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
    pub struct WidgetSpec {
        /// The width.
        #[default(with = Bag::empty)]
        pub size: Bag<i32>,
        /// The display name.
        #[default("widget")]
        pub name: Option<String>,
        /// The count.
        #[default(Self::LEAST)]
        pub count: i32,
        /// The speed.
        #[default(-1.5)]
        pub speed: Option<f64>,
        /// The material.
        pub shape: Option<Shape>,
    }

    impl WidgetSpec {
        const LEAST: i32 = 1;
    }

    /// A bag.
    #[derive(Clone, Debug, Default, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
    pub struct Bag<T>(pub Vec<T>);

    impl<T> Bag<T> {
        const fn empty() -> Self {
            Self(Vec::new())
        }
    }

    /// A shape.
    #[logger_core::defaults]
    #[derive(Clone, Debug, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
    pub enum Shape {
        /// A circle.
        Round,
        /// A named variant.
        Other {
            /// The name.
            #[default("other")]
            name: String,
        },
        /// A pair.
        Both(Box<Shape>, Box<Shape>),
    }

    /// A type without fields.
    #[derive(Clone, Debug, DeepCopy)]
    pub struct Nothing;

    /// A type without values.
    #[derive(Clone, Debug, DeepCopy)]
    pub enum Never {}

    /// A list of Widgets.
    #[derive(Clone, Debug, Default, PartialEq, DeepCopy, ObjectList)]
    pub struct WidgetList {
        /// Standard list metadata.
        pub metadata: ListMeta,
        /// The Widgets.
        pub items: Vec<Widget>,
    }

    /// A Gadget, without a client or a list.
    #[logger_core::defaults]
    #[derive(Clone, Debug, Default, PartialEq, DeepCopy, JsonSchema, Object)]
    #[k8s(scope = "Cluster")]
    #[serde(rename_all = "camelCase")]
    pub struct Gadget {
        /// Standard object's metadata.
        pub metadata: ObjectMeta,
        /// The width.
        #[serde(default)]
        pub full_width: i32,
        /// The height.
        #[default(4)]
        pub full_height: i32,
    }
}

#[test]
fn compiles() {
    assert_eq!(v1::API_GROUP.kinds().count(), 2);
}

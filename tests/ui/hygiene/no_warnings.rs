//! Expansion is free of warnings, also of those that are off by default.

#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]
#![deny(future_incompatible, nonstandard_style, rust_2018_idioms, unused)]
#![deny(
    missing_debug_implementations,
    single_use_lifetimes,
    trivial_casts,
    unreachable_pub,
    unused_qualifications
)]
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
        /// Name and all else.
        pub metadata: ObjectMeta,
        /// What is wanted.
        pub spec: WidgetSpec,
        /// What was observed.
        pub status: Option<String>,
    }

    /// What is wanted of a Widget.
    #[logger_core::defaults]
    #[derive(Clone, Debug, Default, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
    pub struct WidgetSpec {
        /// How wide.
        #[default(with = Bag::empty)]
        pub size: Bag<i32>,
        /// What it is called.
        #[default("widget")]
        pub name: Option<String>,
        /// How many.
        #[default(Self::LEAST)]
        pub count: i32,
        /// How fast.
        #[default(-1.5)]
        pub speed: Option<f64>,
        /// How made.
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
        /// Another.
        Other {
            /// Its name.
            #[default("other")]
            name: String,
        },
        /// Two of them.
        Both(Box<Shape>, Box<Shape>),
    }

    /// Nothing to copy.
    #[derive(Clone, Debug, DeepCopy)]
    pub struct Nothing;

    /// No value to copy.
    #[derive(Clone, Debug, DeepCopy)]
    pub enum Never {}

    /// A list of Widgets.
    #[derive(Clone, Debug, Default, PartialEq, DeepCopy, ObjectList)]
    pub struct WidgetList {
        /// Version and continuation of the list.
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
        /// Name and all else.
        pub metadata: ObjectMeta,
        /// How wide.
        #[serde(default)]
        pub full_width: i32,
        /// How high.
        #[default(4)]
        pub full_height: i32,
    }
}

fn main() {
    assert_eq!(v1::API_GROUP.kinds().count(), 2);
}

//! The expansion has no warnings, including those that are off by default.

#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]
#![deny(nonstandard_style, rust_2018_idioms, unused)]
#![deny(missing_debug_implementations, single_use_lifetimes, trivial_casts, unreachable_pub, unused_qualifications)]
#![deny(unused_lifetimes, unused_import_braces, unused_results, variant_size_differences)]
#![forbid(unsafe_code)]

/// Version `v1`.
pub mod v1 {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
    use kubewright_core::{DeepCopy, Object, ObjectList};
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget, WidgetList, Gadget] }

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
    #[kubewright_core::defaults]
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
    #[kubewright_core::defaults]
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
    #[kubewright_core::defaults]
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

/// The types of the hub.
pub mod hub {
    use kubewright_core::Convert;
    use serde::{Deserialize, Serialize};

    /// The desired state of a Widget.
    #[derive(Clone, Convert, Debug, PartialEq, Deserialize, Serialize)]
    #[convert(hub)]
    pub struct WidgetSpec {
        /// The width.
        pub size: i64,
        /// The display name.
        pub name: Option<String>,
        /// The count.
        pub count: i32,
        /// The shape.
        pub shape: Shape,
        /// The color.
        pub color: String,
    }

    /// A shape.
    #[derive(Clone, Convert, Debug, PartialEq, Deserialize, Serialize)]
    #[convert(hub)]
    pub enum Shape {
        /// A circle.
        Round,
        /// A square.
        Square,
        /// A named variant.
        Other {
            /// The name.
            name: String,
        },
    }
}

/// The types of a spoke.
pub mod spoke {
    use kubewright_core::Convert;
    use serde::{Deserialize, Serialize};

    use super::hub;

    /// The desired state of a Widget.
    #[derive(Clone, Convert, Debug, PartialEq, Deserialize, Serialize)]
    #[convert(hub = hub::WidgetSpec, default(color = "red"))]
    pub struct WidgetSpec {
        /// The width.
        #[convert(store)]
        pub size: i32,
        /// The display name.
        #[convert(default = "widget")]
        pub name: String,
        /// The number.
        #[convert(from = "count", with = doubled)]
        pub number: i32,
        /// The shape.
        pub shape: Shape,
        /// The height.
        #[convert(lost = "never released")]
        pub height: Option<i32>,
    }

    /// A shape.
    #[derive(Clone, Convert, Debug, PartialEq, Deserialize, Serialize)]
    #[convert(hub = hub::Shape)]
    pub enum Shape {
        /// A circle.
        #[convert(store = [Square])]
        Round,
        /// A named variant.
        Other {
            /// The name.
            name: String,
        },
    }

    mod doubled {
        pub(super) const fn to_hub(number: i32) -> i32 {
            number.saturating_mul(2)
        }

        pub(super) const fn from_hub(number: i32) -> i32 {
            number / 2
        }
    }
}

#[test]
fn compiles() {
    assert_eq!(v1::API_GROUP.kinds().count(), 2);
}

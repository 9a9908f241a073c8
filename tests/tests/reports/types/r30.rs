//! Kinds that a macro declares.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
use kubewright_core::{ApplyConfiguration, CrdSchema, DeepCopy, Object, ObjectList};
use serde::{Deserialize, Serialize};

macro_rules! kind {
    ($kind:ident, $list:ident, $items:ty, $spec_name:ident, $metadata:ty, $($field:ident: $ty:ty = $default:expr),*) => {
        #[derive(Clone, Debug, PartialEq, ApplyConfiguration, DeepCopy, CrdSchema, Object)]
        #[genclient]
        pub struct $kind {
            pub metadata: $metadata,
            pub spec: $spec_name,
        }

        #[derive(Clone, Debug, PartialEq, DeepCopy, ObjectList)]
        pub struct $list {
            pub metadata: ListMeta,
            pub items: $items,
        }

        #[kubewright_core::defaults]
        #[derive(Clone, Debug, PartialEq, ApplyConfiguration, DeepCopy, Deserialize, CrdSchema, Serialize)]
        #[serde(rename_all = "camelCase")]
        #[schema(at_most_one_of = [$($field),*])]
        pub struct $spec_name {
            $(
                #[default($default)]
                #[apply(atomic)]
                pub $field: $ty,
            )*
        }
    };
}

kind!(Lamp, LampList, Vec<Lamp>, LampSpec, ObjectMeta, max_level: Option<i32> = 3, min_level: Option<i32> = 1);

kubewright_core::group_version! { group = "r30.reports.example", version = "v1", kinds = [Lamp, LampList] }

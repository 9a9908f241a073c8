//! The most frequent k8s-openapi types, which are copied in place field by field to reuse buffers.

use k8s_openapi::{
    ByteString,
    apiextensions_apiserver::pkg::apis::apiextensions::v1::JSON,
    apimachinery::pkg::{
        api::resource::Quantity,
        apis::meta::v1::{
            Condition, FieldsV1, LabelSelector, LabelSelectorRequirement, ListMeta, ManagedFieldsEntry, ObjectMeta,
            OwnerReference,
        },
        runtime::RawExtension,
        util::intstr::IntOrString,
    },
};

use super::DeepCopy;

/// Implements `DeepCopy` field by field. All fields must be listed: a field that a Kubernetes version adds is a compile
/// error until it is listed here.
macro_rules! field_by_field {
    ($($ty:ident { $($field:ident)* })*) => {$(
        impl DeepCopy for $ty {
            deep_copy_by_clone!();

            fn deep_copy_into(&self, target: &mut Self) {
                let Self { $($field),* } = self;
                $($field.deep_copy_into(&mut target.$field);)*
            }
        }
    )*};
}

field_by_field! {
    ObjectMeta {
        annotations creation_timestamp deletion_grace_period_seconds deletion_timestamp finalizers generate_name
        generation labels managed_fields name namespace owner_references resource_version self_link uid
    }
    ManagedFieldsEntry { api_version fields_type fields_v1 manager operation subresource time }
    OwnerReference { api_version block_owner_deletion controller kind name uid }
    Condition { last_transition_time message observed_generation reason status type_ }
    LabelSelector { match_expressions match_labels }
    LabelSelectorRequirement { key operator values }
}

k8s_openapi::k8s_if_le_1_35! {
    field_by_field! { ListMeta { continue_ remaining_item_count resource_version self_link } }
}
k8s_openapi::k8s_if_ge_1_36! {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ShardInfo;

    field_by_field! {
        ListMeta { continue_ remaining_item_count resource_version self_link shard_info }
        ShardInfo { selector }
    }
}

/// Implements `DeepCopy` for newtypes.
macro_rules! newtypes {
    ($($ty:ident)*) => {$(
        impl DeepCopy for $ty {
            deep_copy_by_clone!();

            fn deep_copy_into(&self, target: &mut Self) {
                let (Self(from), Self(to)) = (self, target);
                from.deep_copy_into(to);
            }
        }
    )*};
}

newtypes! { ByteString FieldsV1 JSON Quantity RawExtension }

impl DeepCopy for IntOrString {
    deep_copy_by_clone!();

    fn deep_copy_into(&self, target: &mut Self) {
        match (self, target) {
            (IntOrString::String(from), IntOrString::String(to)) => from.deep_copy_into(to),
            (from, to) => *to = from.clone(),
        }
    }
}

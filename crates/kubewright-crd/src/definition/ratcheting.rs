//! Ratcheting: an update can keep the errors of the old definition.

use super::{
    conversion,
    crd::{Crd, any_schema},
    defaults,
    options::{Options, TYPES},
    selectable_fields::MAX_SELECTABLE_FIELDS,
    structural, topology,
};
use crate::schema::Schema;

/// Returns the options of an update.
pub(super) fn options(new: Crd<'_>, old: Crd<'_>) -> Options {
    let any_old_schema = |mut predicate: &mut dyn FnMut(Schema<'_>) -> bool| {
        old.schemas().any(|(_, schema)| any_schema(schema, &mut predicate))
    };
    let has_schema =
        |version: Schema<'_>| version.child("schema").is_some_and(|s| s.child("openAPIV3Schema").is_some());
    let has_unknown_type =
        |schema: Schema<'_>| !schema.string("type").is_empty() && !TYPES.contains(&schema.string("type"));
    Options {
        require_open_api_schema: old.versions().all(has_schema),
        require_valid_property_type: !any_old_schema(&mut { has_unknown_type }),
        require_structural_schema: old.schemas().all(|(_, schema)| structural::is_structural(schema)),
        require_pruned_defaults: old.schemas().all(|(_, schema)| !defaults::has_unpruned(schema)),
        require_atomic_set_type: !any_old_schema(&mut topology::has_granular_set),
        require_map_list_keys_map_set_validation: !any_old_schema(&mut topology::has_nullable_items_or_optional_keys),
        require_recognized_conversion_review_version: has_recognized_review_versions(old),
        allow_invalid_ca_bundle: allows_invalid_ca_bundle(old),
        allow_too_many_selectable_fields: allow_too_many_selectable_fields(new, old),
    }
}

fn has_recognized_review_versions(old: Crd<'_>) -> bool {
    let webhook = old.spec().child("conversion").and_then(|conversion| conversion.child("webhook"));
    let mut reviews = webhook.into_iter().flat_map(|webhook| webhook.strings("conversionReviewVersions")).peekable();
    reviews.peek().is_none() || conversion::has_recognized_version(reviews)
}

fn allows_invalid_ca_bundle(old: Crd<'_>) -> bool {
    let webhook = old.spec().child("conversion").and_then(|conversion| conversion.child("webhook"));
    let bundle =
        webhook.and_then(|webhook| webhook.child("clientConfig")).map_or("", |client| client.string("caBundle"));
    !old.is_established() || !bundle.is_empty() && !conversion::is_pem(bundle)
}

fn allow_too_many_selectable_fields(new: Crd<'_>, old: Crd<'_>) -> Vec<String> {
    let is_many =
        |value: &serde_json::Value| value.as_array().is_some_and(|fields| fields.len() > MAX_SELECTABLE_FIELDS);
    let top_level = old.top_level("selectableFields").filter(|fields| is_many(fields));
    let top_level = top_level.filter(|fields| new.top_level("selectableFields") == Some(fields)).map(|_| String::new());
    let per_version = new.versions().filter_map(|version| {
        let fields = new.per_version(version, "selectableFields").filter(|fields| is_many(fields))?;
        let old_version = old.versions().find(|old_version| old_version.string("name") == version.string("name"))?;
        (old.per_version(old_version, "selectableFields") == Some(fields)).then(|| version.string("name").to_owned())
    });
    top_level.into_iter().chain(per_version).collect()
}

//! What is asked of a definition: all of it on a create; on an update, what the old one breaks may stay broken.

use super::{
    columns::MOST_SELECTABLE,
    conversion, defaults,
    definition::{Definition, any_schema},
    structural, topology,
};
use crate::schema::Schema;

/// The types of OpenAPI.
pub(super) const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

#[expect(clippy::struct_excessive_bools, reason = "each is one rule of the server, asked for or not")]
pub(super) struct Options {
    pub(super) require_schema: bool,
    pub(super) require_known_types: bool,
    pub(super) require_structural: bool,
    pub(super) require_pruned_defaults: bool,
    pub(super) require_atomic_sets: bool,
    pub(super) require_sound_lists: bool,
    pub(super) require_known_review: bool,
    pub(super) allow_invalid_ca_bundle: bool,
    /// The versions that may have too many selectable fields; what all have alike is that of `""`.
    pub(super) many_selectable: Vec<String>,
}

impl Options {
    pub(super) fn of_create() -> Self {
        Self {
            require_schema: true,
            require_known_types: true,
            require_structural: true,
            require_pruned_defaults: true,
            require_atomic_sets: true,
            require_sound_lists: true,
            require_known_review: true,
            allow_invalid_ca_bundle: true,
            many_selectable: Vec::new(),
        }
    }

    pub(super) fn of_update(new: Definition<'_>, old: Definition<'_>) -> Self {
        let any = |mut test: &mut dyn FnMut(Schema<'_>) -> bool| {
            old.schemas().any(|(_, schema)| any_schema(schema, &mut test))
        };
        let has_schema =
            |version: Schema<'_>| version.child("schema").is_some_and(|s| s.child("openAPIV3Schema").is_some());
        let has_unknown_type = |schema: Schema<'_>| {
            !["", "array", "boolean", "integer", "number", "object", "string"].contains(&schema.text("type"))
        };
        Self {
            require_schema: old.versions().all(has_schema),
            require_known_types: !any(&mut { has_unknown_type }),
            require_structural: old.schemas().all(|(_, schema)| structural::is_structural(schema)),
            require_pruned_defaults: old.schemas().all(|(_, schema)| !defaults::has_unpruned(schema)),
            require_atomic_sets: !any(&mut topology::has_granular_set),
            require_sound_lists: !any(&mut topology::has_unsound_list),
            require_known_review: has_known_reviews(old),
            allow_invalid_ca_bundle: allows_invalid_ca_bundle(old),
            many_selectable: many_selectable(new, old),
        }
    }
}

fn has_known_reviews(old: Definition<'_>) -> bool {
    let webhook = old.spec().child("conversion").and_then(|conversion| conversion.child("webhook"));
    let mut reviews = webhook.into_iter().flat_map(|webhook| webhook.texts("conversionReviewVersions")).peekable();
    reviews.peek().is_none() || conversion::has_known_review(reviews)
}

fn allows_invalid_ca_bundle(old: Definition<'_>) -> bool {
    let webhook = old.spec().child("conversion").and_then(|conversion| conversion.child("webhook"));
    let bundle = webhook.and_then(|webhook| webhook.child("clientConfig")).map_or("", |client| client.text("caBundle"));
    !old.is_established() || !bundle.is_empty() && !conversion::is_pem(bundle)
}

fn many_selectable(new: Definition<'_>, old: Definition<'_>) -> Vec<String> {
    let is_many = |value: &serde_json::Value| value.as_array().is_some_and(|fields| fields.len() > MOST_SELECTABLE);
    let shared = old.shared("selectableFields").filter(|fields| is_many(fields));
    let shared = shared.filter(|fields| new.shared("selectableFields") == Some(fields)).map(|_| String::new());
    let own = new.versions().filter_map(|version| {
        let fields = new.own(version, "selectableFields").filter(|fields| is_many(fields))?;
        let before = old.versions().find(|before| before.text("name") == version.text("name"))?;
        (old.own(before, "selectableFields") == Some(fields)).then(|| version.text("name").to_owned())
    });
    shared.into_iter().chain(own).collect()
}

//! The keys of `#[convert(..)]`, and the serde attributes that the derive of `Convert` reads.

use super::{
    AttributeKey, EMPTY, Section, crate_key,
    fields::{RENAME, RENAME_ALL},
};

pub(crate) const CONVERT: Section = Section {
    name: "convert",
    nested: false,
    title: "#[convert(..)] on a type",
    accepted_by: &["Convert"],
    keys: &[
        AttributeKey {
            key: "hub",
            syntax: "hub = v2::Widget",
            description: "The type of the hub that this type converts into; without a value, this type is one of the \
                          hub.",
            constraints: "Required. All conversions between versions go through the hub.",
            example: "#[convert(hub = v2::Widget)]",
            ..EMPTY
        },
        AttributeKey {
            key: "store",
            syntax: "store = [color, size]",
            description: "Fields of the hub that this type does not have: their values are stored in an annotation.",
            constraints: "Excludes `lost` for the same field.",
            example: "#[convert(hub = v2::Widget, store = [color])]",
            ..EMPTY
        },
        AttributeKey {
            key: "lost",
            syntax: "lost(color = \"reason\")",
            description: "Fields of the hub that this type does not have: their values are lost, for this reason.",
            constraints: "Excludes `store` for the same field.",
            example: "#[convert(hub = v2::Widget, lost(color = \"never released\"))]",
            ..EMPTY
        },
        AttributeKey {
            key: "default",
            syntax: "default(color = \"red\")",
            description: "Fields of the hub that this type does not have: their values in objects of this version. \
                          Other values are stored.",
            constraints: "Required for required fields. A default applies to complete objects only, not to patches. \
                          Any expression; strings and constants are converted by `Into`.",
            example: "#[convert(hub = v2::Widget, default(color = \"red\"))]",
            ..EMPTY
        },
        crate_key("#[convert(crate = my_core, hub)]"),
    ],
};

pub(crate) const CONVERT_FIELD: Section = Section {
    name: "convert",
    nested: false,
    title: "#[convert(..)] on a field",
    accepted_by: &["Convert"],
    keys: &[
        AttributeKey {
            key: "from",
            syntax: "from = \"speed\"",
            description: "The Rust name of the field in the hub, if it differs.",
            example: "#[convert(from = \"speed\")]",
            ..EMPTY
        },
        AttributeKey {
            key: "with",
            syntax: "with = module",
            description: "The module of the functions `to_hub` and `from_hub`, which convert the value. A value that \
                          they do not restore is stored in an annotation.",
            constraints: "Each function takes the value in one version and returns that in the other; for an \
                          `Option` the value inside.",
            example: "#[convert(with = seconds)]",
            ..EMPTY
        },
        AttributeKey {
            key: "default",
            syntax: "default = 30",
            description: "The value in the version where the field is required, if it is absent in the other.",
            constraints: "Required if the field is required in one of the two versions only. Applies to complete \
                          objects only, not to patches. Any expression; strings and constants are converted by `Into`.",
            example: "#[convert(default = 30)]",
            ..EMPTY
        },
        AttributeKey {
            key: "store",
            syntax: "store",
            description: "The type holds fewer values in one of the versions, or the hub does not have the field: \
                          what does not fit is stored in an annotation.",
            constraints: "Excludes `lost`.",
            example: "#[convert(store)]",
            ..EMPTY
        },
        AttributeKey {
            key: "lost",
            syntax: "lost = \"reason\"",
            description: "Likewise, but what does not fit is lost, for this reason.",
            constraints: "Excludes `store`.",
            example: "#[convert(lost = \"never released\")]",
            ..EMPTY
        },
    ],
};

pub(crate) const CONVERT_VARIANT: Section = Section {
    name: "convert",
    nested: false,
    title: "#[convert(..)] on a variant",
    accepted_by: &["Convert"],
    keys: &[
        AttributeKey {
            key: "from",
            syntax: "from = \"Disk\"",
            description: "The Rust name of the variant in the hub, if it differs.",
            example: "#[convert(from = \"Disk\")]",
            ..EMPTY
        },
        AttributeKey {
            key: "store",
            syntax: "store = [Replicated]",
            description: "Variants of the hub that this version shows as this variant: they are stored in an \
                          annotation. Without a value, this variant itself is stored, and the hub shows the one in \
                          `from`.",
            constraints: "The variant that stands for others has no content.",
            example: "#[convert(store = [Replicated])]",
            ..EMPTY
        },
        AttributeKey {
            key: "lost",
            syntax: "lost(Replicated = \"reason\")",
            description: "Likewise, but the variants are lost, for these reasons. `lost = \"reason\"` loses this \
                          variant itself.",
            constraints: "The variant that stands for others has no content.",
            example: "#[convert(lost(Replicated = \"never released\"))]",
            ..EMPTY
        },
    ],
};

pub(crate) const SERDE_CONVERTED: Section = Section {
    name: "serde",
    nested: false,
    title: "#[serde(..)] on a type that derives Convert, as serde reads it",
    accepted_by: &["Convert"],
    keys: &[
        AttributeKey { description: "The case convention of the JSON names.", ..RENAME_ALL },
        AttributeKey {
            key: "rename_all_fields",
            syntax: "rename_all_fields = \"camelCase\"",
            description: "The case convention of the fields of variants.",
            example: "#[serde(rename_all_fields = \"camelCase\")]",
            ..EMPTY
        },
        AttributeKey {
            key: "tag",
            syntax: "tag = \"type\"",
            description: "The field with the name of the variant; with `content`, its content is in another field.",
            example: "#[serde(tag = \"type\")]",
            ..EMPTY
        },
        AttributeKey {
            key: "content",
            syntax: "content = \"value\"",
            description: "The field with the content of the variant.",
            example: "#[serde(tag = \"type\", content = \"value\")]",
            ..EMPTY
        },
        AttributeKey {
            key: "default",
            syntax: "default",
            description: "Every field can be absent.",
            example: "#[serde(default)]",
            ..EMPTY
        },
    ],
};

pub(crate) const SERDE_CONVERTED_FIELD: Section = Section {
    name: "serde",
    nested: false,
    title: "#[serde(..)] on a field or variant of a type that derives Convert, as serde reads it",
    accepted_by: &["Convert"],
    keys: &[
        AttributeKey { description: "The JSON name of the field or variant.", ..RENAME },
        AttributeKey {
            key: "default",
            syntax: "default",
            description: "The field can be absent.",
            example: "#[serde(default)]",
            ..EMPTY
        },
        AttributeKey {
            key: "flatten",
            syntax: "flatten",
            description: "The fields of this field's type are inlined in JSON, in both versions.",
            example: "#[serde(flatten)]",
            ..EMPTY
        },
        AttributeKey {
            key: "skip",
            syntax: "skip",
            description: "The field is not in JSON and not converted.",
            example: "#[serde(skip)]",
            ..EMPTY
        },
    ],
};

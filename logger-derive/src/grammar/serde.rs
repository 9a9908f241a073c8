//! The attributes of serde: which of them the derives honour, and the suggestions for the others.
//!
//! The table in `docs/reference/serde.md` has the same rows.

use self::Support::{Honoured, Rejected};

/// An item that has attributes of serde.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Struct,
    Enum,
    Variant,
    Field,
}

/// What a derive makes of an attribute.
#[derive(Clone, Copy)]
pub(crate) enum Support {
    /// The output has the effect of the attribute, or the attribute has no effect on JSON. It can depend on other
    /// attributes, which the checks report.
    Honoured,
    /// A compile error with this message, in which `{key}` is the attribute.
    Rejected(&'static str),
}

/// An attribute of serde.
pub(crate) struct SerdeKey {
    pub(crate) key: &'static str,
    /// Whether the row is about different values for serialization and deserialization: `rename(serialize = "..")`.
    pub(crate) is_split: bool,
    pub(crate) places: &'static [Place],
    pub(crate) schema: Support,
    pub(crate) apply: Support,
    pub(crate) convert: Support,
}

const TYPE: &[Place] = &[Place::Struct, Place::Enum];
const STRUCT: &[Place] = &[Place::Struct];
const ENUM: &[Place] = &[Place::Enum];
const VARIANT: &[Place] = &[Place::Variant];
const FIELD: &[Place] = &[Place::Field];

const SPLIT: Support = Rejected(
    "different names for serialization and deserialization are not supported, because the API server stores an object \
     with one of them; use `{key} = \"..\"`",
);
const IDENTIFIER: Support = Rejected(
    "an identifier for a `Deserialize` by hand is no value of an object; remove this, or the derive of the enum",
);
const TAG: Support = Rejected(
    "the tag of a struct is written, but has no schema; use a field with an enum of one variant, or an enum with this \
     struct in a variant",
);
const FIELD_ALIAS: Support = Rejected(
    "the API server prunes a field with this other name; remove it, or convert from a version that has the old name",
);
const VARIANT_ALIAS: Support =
    Rejected("`Convert` knows one name of a variant; remove it, or declare a variant with that name");
const NOT_DECODED: Support =
    Rejected("the variant is written, but cannot be decoded; use `skip` if it is not part of objects, or remove this");
const APPLY_ENCODING: Support =
    Rejected("a custom encoding is not supported in an apply configuration; use a type that implements it");
const APPLY_REMOTE: Support =
    Rejected("this type is never a value: its fields have the remote type; remove `ApplyConfiguration`");
const CONVERT_TYPE: Support = Rejected(
    "`Convert` does not support `{key}`; convert the fields of this type with functions: `#[convert(with = module)]`",
);
const CONVERT_ENCODING: Support =
    Rejected("a custom encoding is not supported in a conversion; use a type that implements it");

/// A row of an attribute that all derives honour.
const fn honoured(key: &'static str, places: &'static [Place]) -> SerdeKey {
    SerdeKey { key, is_split: false, places, schema: Honoured, apply: Honoured, convert: Honoured }
}

/// A row of an attribute that no derive supports.
const fn rejected(key: &'static str, places: &'static [Place], support: Support) -> SerdeKey {
    SerdeKey { schema: support, apply: support, convert: support, ..honoured(key, places) }
}

/// A row of an attribute with different values for serialization and deserialization.
const fn split(key: &'static str, places: &'static [Place]) -> SerdeKey {
    SerdeKey { is_split: true, ..rejected(key, places, SPLIT) }
}

/// A row of the encoding of a type, which a conversion has no access to.
const fn encoding(key: &'static str, places: &'static [Place]) -> SerdeKey {
    SerdeKey { convert: CONVERT_TYPE, ..honoured(key, places) }
}

/// Every attribute of serde 1, in the order of its documentation.
pub(crate) const SERDE: &[SerdeKey] = &[
    honoured("rename", TYPE),
    honoured("rename_all", TYPE),
    split("rename_all", TYPE),
    honoured("rename_all_fields", ENUM),
    split("rename_all_fields", ENUM),
    honoured("deny_unknown_fields", TYPE),
    rejected("tag", STRUCT, TAG),
    honoured("tag", ENUM),
    honoured("content", ENUM),
    encoding("untagged", ENUM),
    honoured("bound", TYPE),
    honoured("default", STRUCT),
    SerdeKey { apply: APPLY_REMOTE, ..encoding("remote", TYPE) },
    encoding("transparent", STRUCT),
    encoding("from", TYPE),
    encoding("try_from", TYPE),
    encoding("into", TYPE),
    honoured("crate", TYPE),
    honoured("expecting", TYPE),
    rejected("variant_identifier", ENUM, IDENTIFIER),
    rejected("field_identifier", ENUM, IDENTIFIER),
    honoured("rename", VARIANT),
    split("rename", VARIANT),
    SerdeKey { convert: VARIANT_ALIAS, ..honoured("alias", VARIANT) },
    honoured("rename_all", VARIANT),
    split("rename_all", VARIANT),
    honoured("skip", VARIANT),
    honoured("skip_serializing", VARIANT),
    rejected("skip_deserializing", VARIANT, NOT_DECODED),
    SerdeKey { convert: CONVERT_ENCODING, ..honoured("serialize_with", VARIANT) },
    SerdeKey { convert: CONVERT_ENCODING, ..honoured("deserialize_with", VARIANT) },
    SerdeKey { convert: CONVERT_ENCODING, ..honoured("with", VARIANT) },
    honoured("bound", VARIANT),
    honoured("borrow", VARIANT),
    honoured("other", VARIANT),
    encoding("untagged", VARIANT),
    honoured("rename", FIELD),
    split("rename", FIELD),
    rejected("alias", FIELD, FIELD_ALIAS),
    honoured("default", FIELD),
    honoured("flatten", FIELD),
    honoured("skip", FIELD),
    honoured("skip_serializing", FIELD),
    honoured("skip_deserializing", FIELD),
    honoured("skip_serializing_if", FIELD),
    SerdeKey { apply: APPLY_ENCODING, convert: CONVERT_ENCODING, ..honoured("serialize_with", FIELD) },
    SerdeKey { apply: APPLY_ENCODING, convert: CONVERT_ENCODING, ..honoured("deserialize_with", FIELD) },
    SerdeKey { apply: APPLY_ENCODING, convert: CONVERT_ENCODING, ..honoured("with", FIELD) },
    honoured("borrow", FIELD),
    honoured("bound", FIELD),
    honoured("getter", FIELD),
];

/// The attributes of schemars that replace those of serde, and so change the schema without the JSON encoding.
/// `rename` of a type is the name of its definition.
pub(crate) const SCHEMA_ONLY: &[&str] = &[
    "rename",
    "rename_all",
    "rename_all_fields",
    "deny_unknown_fields",
    "tag",
    "content",
    "untagged",
    "default",
    "skip",
    "skip_serializing",
    "skip_serializing_if",
    "skip_deserializing",
    "flatten",
    "remote",
    "transparent",
    "into",
    "from",
    "try_from",
];

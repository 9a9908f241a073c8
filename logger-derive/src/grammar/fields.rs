//! The keys of `#[deep_copy(..)]`, `#[apply(..)]`, `#[default(..)]` and the supported ones of `#[serde(..)]`.

use super::{AttributeKey, EMPTY, Section, crate_key};

pub(crate) const SERDE_ROOT: Section = Section {
    name: "serde",
    nested: false,
    title: "#[serde(..)] on a kind or a list",
    accepted_by: &["Object", "ObjectList"],
    keys: &[RENAME_ALL],
};

pub(super) const RENAME_ALL: AttributeKey = AttributeKey {
    key: "rename_all",
    syntax: "rename_all = \"camelCase\"",
    description: "The case convention of the JSON names.",
    constraints: "On a kind or a list only `camelCase`, the convention of Kubernetes.",
    example: "#[serde(rename_all = \"camelCase\")]",
    ..EMPTY
};

pub(crate) const SERDE_FIELD: Section = Section {
    name: "serde",
    nested: false,
    title: "#[serde(..)] on a field of a kind or a list",
    accepted_by: &["Object", "ObjectList"],
    keys: &[
        RENAME,
        AttributeKey {
            key: "default",
            syntax: "default = \"path::function\"",
            description: "The value of an absent field is the result of the function, and the schema does not \
                          require the field.",
            constraints: "`default` alone uses the type's `Default`; an `Option` does not need it. `#[default(..)]` \
                          sets it.",
            example: "#[serde(default)]",
            ..EMPTY
        },
    ],
};

pub(super) const RENAME: AttributeKey = AttributeKey {
    key: "rename",
    syntax: "rename = \"..\"",
    description: "The JSON name of the field.",
    example: "#[serde(rename = \"maxSpeed\")]",
    ..EMPTY
};

pub(crate) const DEFAULT: Section = Section {
    name: "default",
    nested: false,
    title: "#[default(..)] on a field, in a type with #[kubewright::defaults]",
    accepted_by: &["defaults"],
    keys: &[AttributeKey {
        key: "with",
        syntax: "with = path::function",
        description: "The function that returns the default.",
        constraints: "It takes no parameters and returns the type of the field, or the type inside its `Option`.",
        example: "#[default(with = default_size)]",
        ..EMPTY
    }],
};

pub(crate) const DEEP_COPY: Section = Section {
    name: "deep_copy",
    nested: false,
    title: "#[deep_copy(..)] on a type",
    accepted_by: &["DeepCopy"],
    keys: &[
        AttributeKey {
            key: "dyn",
            syntax: "dyn(path::Trait)",
            go_tags: &["+k8s:deepcopy-gen:interfaces="],
            description: "Adds a method that copies the value as a trait object: `deep_copy_trait(&self) -> Box<dyn \
                          Trait>`.",
            constraints: "Takes several traits. A trait that declares this method can be made copyable with \
                          `kubewright::deep_copy_dyn!`.",
            example: "#[deep_copy(dyn(crate::Shape))]",
            ..EMPTY
        },
        crate_key("#[deep_copy(crate = my_core)]"),
    ],
};

pub(crate) const DEEP_COPY_FIELD: Section = Section {
    name: "deep_copy",
    nested: false,
    title: "#[deep_copy(..)] on a field",
    accepted_by: &["DeepCopy"],
    keys: &[AttributeKey {
        key: "clone",
        syntax: "clone",
        description: "Copies the field by its `Clone`: for a type of another crate whose `Clone` shares nothing.",
        example: "#[deep_copy(clone)]",
        ..EMPTY
    }],
};

pub(crate) const APPLY: Section = Section {
    name: "apply",
    nested: false,
    title: "#[apply(..)] on a type",
    accepted_by: &["ApplyConfiguration"],
    keys: &[crate_key("#[apply(crate = my_core)]")],
};

pub(crate) const APPLY_FIELD: Section = Section {
    name: "apply",
    nested: false,
    title: "#[apply(..)] on a field",
    accepted_by: &["ApplyConfiguration"],
    keys: &[AttributeKey {
        key: "atomic",
        syntax: "atomic",
        description: "Applies the field atomically, whatever its type: for types that cannot derive \
                      `ApplyConfiguration`.",
        example: "#[apply(atomic)]",
        ..EMPTY
    }],
};

pub(crate) const SERDE_APPLIED: Section = Section {
    name: "serde",
    nested: false,
    title: "#[serde(..)] on a type that derives ApplyConfiguration, as serde reads it",
    accepted_by: &["ApplyConfiguration"],
    keys: &[RENAME_ALL],
};

pub(crate) const SERDE_APPLIED_FIELD: Section = Section {
    name: "serde",
    nested: false,
    title: "#[serde(..)] on a field of a type that derives ApplyConfiguration, as serde reads it",
    accepted_by: &["ApplyConfiguration"],
    keys: &[
        RENAME,
        AttributeKey {
            key: "flatten",
            syntax: "flatten",
            description: "The fields of this field's type are inlined in JSON and in the apply configuration.",
            example: "#[serde(flatten)]",
            ..EMPTY
        },
        AttributeKey {
            key: "skip",
            syntax: "skip",
            description: "The field is not in JSON and not in the apply configuration.",
            example: "#[serde(skip)]",
            ..EMPTY
        },
        AttributeKey {
            key: "skip_serializing",
            syntax: "skip_serializing",
            description: "The field is not written to JSON and not in the apply configuration.",
            example: "#[serde(skip_serializing)]",
            ..EMPTY
        },
    ],
};

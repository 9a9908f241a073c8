//! `#[deep_copy(..)]`, `#[apply(..)]` and what is read of `#[serde(..)]`, on types and their fields.

use super::{Keyword, Place, UNSAID, krate};

pub(crate) const SERDE_ROOT: Place =
    Place { name: "serde", nested: false, title: "#[serde(..)] on a kind or a list", keywords: &[RENAME_ALL] };

const RENAME_ALL: Keyword = Keyword {
    word: "rename_all",
    form: "rename_all = \"camelCase\"",
    meaning: "How JSON names are made from the fields' names.",
    rule: "On a kind or a list only `camelCase`, which is what Kubernetes' fields are.",
    example: "#[serde(rename_all = \"camelCase\")]",
    ..UNSAID
};

pub(crate) const SERDE_FIELD: Place = Place {
    name: "serde",
    nested: false,
    title: "#[serde(..)] on a field of a kind or a list",
    keywords: &[
        RENAME,
        Keyword {
            word: "default",
            form: "default = \"path::function\"",
            meaning: "What is absent in JSON is what the function makes, and the schema does not require the field.",
            rule: "`default` alone is the type's `Default`; an `Option` needs it not. `#[default(..)]` writes it for you.",
            example: "#[serde(default)]",
            ..UNSAID
        },
    ],
};

const RENAME: Keyword = Keyword {
    word: "rename",
    form: "rename = \"..\"",
    meaning: "The name of the field in JSON.",
    example: "#[serde(rename = \"maxSpeed\")]",
    ..UNSAID
};

pub(crate) const DEFAULT: Place = Place {
    name: "default",
    nested: false,
    title: "#[default(..)] on a field, in a type with #[logger_core::defaults]",
    keywords: &[Keyword {
        word: "with",
        form: "with = path::function",
        meaning: "The function makes the default.",
        rule: "It takes nothing and returns the field's type, or what is in its `Option`.",
        example: "#[default(with = default_size)]",
        ..UNSAID
    }],
};

pub(crate) const DEEP_COPY: Place = Place {
    name: "deep_copy",
    nested: false,
    title: "#[deep_copy(..)] on a type",
    keywords: &[
        Keyword {
            word: "dyn",
            form: "dyn(path::Trait)",
            go_tags: &["+k8s:deepcopy-gen:interfaces="],
            meaning: "A method that copies the value as an object of this trait: `deep_copy_trait(&self) -> Box<dyn Trait>`.",
            rule: "As many traits as are listed. A trait that has this method too makes its objects copyable with \
                   `logger_core::deep_copy_dyn!`.",
            example: "#[deep_copy(dyn(crate::Shape))]",
            ..UNSAID
        },
        krate("#[deep_copy(crate = my_core)]"),
    ],
};

pub(crate) const DEEP_COPY_FIELD: Place = Place {
    name: "deep_copy",
    nested: false,
    title: "#[deep_copy(..)] on a field",
    keywords: &[Keyword {
        word: "clone",
        form: "clone",
        meaning: "Copies the field by its `Clone`: for a type of another crate whose `Clone` shares nothing.",
        example: "#[deep_copy(clone)]",
        ..UNSAID
    }],
};

pub(crate) const APPLY: Place = Place {
    name: "apply",
    nested: false,
    title: "#[apply(..)] on a type",
    keywords: &[krate("#[apply(crate = my_core)]")],
};

pub(crate) const APPLY_FIELD: Place = Place {
    name: "apply",
    nested: false,
    title: "#[apply(..)] on a field",
    keywords: &[Keyword {
        word: "atomic",
        form: "atomic",
        meaning: "Applies the field as a whole, whatever its type: for types that cannot derive `ApplyConfiguration`.",
        example: "#[apply(atomic)]",
        ..UNSAID
    }],
};

pub(crate) const SERDE_APPLIED: Place = Place {
    name: "serde",
    nested: false,
    title: "#[serde(..)] on a type that derives ApplyConfiguration, as serde reads it",
    keywords: &[RENAME_ALL],
};

pub(crate) const SERDE_APPLIED_FIELD: Place = Place {
    name: "serde",
    nested: false,
    title: "#[serde(..)] on a field of a type that derives ApplyConfiguration, as serde reads it",
    keywords: &[
        RENAME,
        Keyword {
            word: "flatten",
            form: "flatten",
            meaning: "The fields of this field's type are fields of this type in JSON, and of its configuration too.",
            example: "#[serde(flatten)]",
            ..UNSAID
        },
        Keyword {
            word: "skip",
            form: "skip",
            meaning: "The field is not in JSON, so it is not in the configuration.",
            example: "#[serde(skip)]",
            ..UNSAID
        },
        Keyword {
            word: "skip_serializing",
            form: "skip_serializing",
            meaning: "The field is not written to JSON, so it is not in the configuration.",
            example: "#[serde(skip_serializing)]",
            ..UNSAID
        },
    ],
};

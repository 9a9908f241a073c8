//! The private keywords of schemas: what the derives, and users of schemars, declare beside the schema of a type.
//!
//! The derives write them into the schemars schema, the conversion to a structural schema acts on them, and no
//! definition contains them.

macro_rules! extensions {
    ($($(#[$docs:meta])* $variant:ident = $name:literal,)*) => {
        /// A private keyword of a schema.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Extension {
            $($(#[$docs])* $variant,)*
        }

        impl Extension {
            /// All extensions.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Returns the keyword, such as `x-kubewright-column`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// Returns the extension with this keyword.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

extensions! {
    // Where a schema comes from, for errors and documentation.

    /// The path of the Rust type. On an object, by `CrdSchema`.
    RustType = "x-rust-type",
    /// The name of the Rust field. On a property, by `CrdSchema`.
    RustField = "x-rust-field",
    /// The Rust type that declares a property, as several flattened types share an object. By the conversion.
    RustOwner = "x-rust-owner",
    /// The name of the Rust variant. On an alternative, by `CrdSchema`.
    RustVariant = "x-rust-variant",
    /// The source file and line of the Rust field: `src/v1.rs:4`. On a property, by `CrdSchema`.
    Location = "x-kubewright-location",
    /// What is wrong with a property. By `CrdSchema`.
    Rejected = "x-kubewright-rejected",
    /// The Rust name of a field whose JSON name is in snake case because `rename_all` is missing, by `CrdSchema`. True
    /// on a type or a field where such names are allowed, by `#[schemars(extend(..))]`.
    SnakeCase = "x-kubewright-snake-case",

    // The keys of `#[schema(..)]` that are no keyword of a structural schema.

    /// `#[schema(column = "Level")]`: a column of `kubectl get`, with its settings.
    Column = "x-kubewright-column",
    /// `#[schema(selectable)]`: a field for field selectors. True.
    Selectable = "x-kubewright-selectable",
    /// `#[schema(each(..))]`: the keywords of the items of a list or of the values of a map.
    Each = "x-kubewright-each",
    /// `#[schema(schemaless)]`: the schema of the type does not apply. True.
    Schemaless = "x-kubewright-schemaless",
    /// `#[schema(depth = 3)]`: the levels of a recursive type.
    Depth = "x-kubewright-depth",
    /// `#[schema(allow_float)]`: floating-point numbers are allowed. True.
    Float = "x-kubewright-float",
    /// `#[schema(no_format)]`: the format of the type does not apply. True.
    NoFormat = "x-kubewright-no-format",
    /// `#[schema(nullable)]`: an `Option` also accepts null. True.
    Nullable = "x-kubewright-nullable",
    /// `#[schema(required)]`: an `Option` is required. True.
    Required = "x-kubewright-required",
    /// `#[schema(immutable)]`: a field without a default cannot be removed either. True.
    Immutable = "x-kubewright-immutable",
    /// `#[schema(update = [..])]`: the changes that an update must not make.
    Update = "x-kubewright-update",
    /// `#[schema(dependent_required = [..])]`: the Rust names of fields that must be set with this one.
    DependentRequired = "x-kubewright-dependent-required",
    /// `#[schema(dependent_forbidden = [..])]`: the Rust names of fields that must not be set with this one.
    DependentForbidden = "x-kubewright-dependent-forbidden",
    /// How the variants of an enum are validated: `cel` or `openapi`. By `CrdSchema`, or by `#[schemars(extend(..))]`.
    Via = "x-kubewright-via",

    // What the conversion finds out about a schema of schemars.

    /// An object without declared fields, which accepts no others. True.
    Empty = "x-kubewright-empty",
    /// A number of one byte: its list is a `Vec<u8>`, which Kubernetes encodes as base64. True.
    Byte = "x-kubewright-byte",
    /// A map whose keys have a rule, with the cost of one evaluation for each key. True.
    KeyRule = "x-kubewright-key-rule",
    /// Keywords that replace those of a built-in type, such as another map type.
    Instead = "x-kubewright-instead",

    // The way around the generator, by `#[schemars(extend(..))]`.

    /// Keywords by the JSON pointers of schemas below a kind or a field. On a kind also `version` and `definition`:
    /// JSON merge patches of its version, and of its definition.
    Override = "x-kubewright-override",
}

impl Extension {
    /// Returns whether only the conversion to a structural schema uses the extension: the generator does not get it.
    #[must_use]
    pub const fn is_private_to_conversion(self) -> bool {
        matches!(
            self,
            Self::Byte
                | Self::Depth
                | Self::Each
                | Self::Empty
                | Self::Float
                | Self::KeyRule
                | Self::NoFormat
                | Self::Nullable
                | Self::Rejected
                | Self::Schemaless
                | Self::Via
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_found_again() {
        for extension in Extension::ALL {
            assert_eq!(Extension::from_name(extension.name()), Some(*extension));
            assert!(extension.name().starts_with("x-kubewright-") || extension.name().starts_with("x-rust-"));
        }
        assert_eq!(Extension::from_name("x-kubernetes-map-type"), None);
    }
}

//! The errors of conversions.

/// Why an object was not converted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConversionError {
    /// The value is not a JSON object.
    #[error("expected an object, not {found}")]
    NotAnObject {
        /// The JSON type that was found.
        found: &'static str,
    },
    /// The object has no `apiVersion`.
    #[error("the object has no `apiVersion`")]
    NoApiVersion,
    /// The object is of another kind.
    #[error("kind `{found}` is not converted here; expected `{expected}`")]
    WrongKind {
        /// The kind of the object; empty if it has none.
        found: String,
        /// The kind that is converted.
        expected: &'static str,
    },
    /// The converter does not have the version.
    #[error("unknown version `{api_version}` of {kind}; expected one of {known}")]
    UnknownVersion {
        /// The `apiVersion`.
        api_version: String,
        /// The kind.
        kind: &'static str,
        /// The known versions.
        known: String,
    },
    /// A function of the declaration does not accept a value of a partial object, which cannot be stored.
    #[error("cannot convert `{path}`: {message}")]
    Value {
        /// The path of the field, such as `spec.interval`.
        path: String,
        /// The error of the decoder.
        message: String,
    },
    /// The annotations would exceed the limit of the API server.
    #[error(
        "the annotations have {size} bytes with the stored fields, but at most {limit} are allowed; shorten `{largest}`"
    )]
    TooLarge {
        /// The size of all annotations.
        size: usize,
        /// The limit of the API server.
        limit: usize,
        /// The largest annotation.
        largest: String,
    },
    /// A value without metadata has fields that the other version cannot express.
    #[error("{} cannot be expressed in the other version, and a type without metadata has no place to store them; convert the complete object", paths(.0))]
    DoesNotFit(
        /// The paths of the fields, in the version that is converted.
        Vec<String>,
    ),
    /// The value has no JSON encoding.
    #[error("cannot encode the value as JSON")]
    Encode(#[source] serde_json::Error),
    /// The converted object is not of the Rust type of its version.
    #[error("cannot decode the converted value")]
    Decode(#[source] serde_json::Error),
}

fn paths(paths: &[String]) -> String {
    paths.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", ")
}

impl ConversionError {
    /// Adds a segment in front of the path of the value.
    pub(super) fn below(self, segment: &str) -> Self {
        match self {
            ConversionError::Value { path, message } => {
                let separator = if path.is_empty() || path.starts_with('[') { "" } else { "." };
                ConversionError::Value { path: format!("{segment}{separator}{path}"), message }
            }
            other => other,
        }
    }
}

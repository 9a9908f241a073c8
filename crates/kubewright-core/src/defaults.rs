//! Defaulting of objects that were built in Rust, as Go's `SetObjectDefaults`.

use serde::{Serialize, de::DeserializeOwned};

use crate::wire::OmitNone;

/// Returns the object with the defaults of its unset fields, at any depth, as decoding applies them.
///
/// Guarantees:
/// - The result has the same defaults as the decoded response of the server to the object.
/// - Fields that are set remain unchanged.
/// - Defaults inside list items and map values are applied; those below an unset field without a default are not.
/// - The function is idempotent.
///
/// ```
/// use kubewright_core::defaults::defaulted;
/// use serde::{Deserialize, Serialize};
///
/// #[kubewright_core::defaults]
/// #[derive(Default, Deserialize, Serialize)]
/// struct Spec {
///     #[default(3)]
///     replicas: Option<i32>,
/// }
///
/// assert_eq!(defaulted(&Spec { replicas: None })?.replicas, Some(3));
/// assert_eq!(Spec::default().replicas, Some(3));
/// # Ok::<_, serde_json::Error>(())
/// ```
///
/// # Errors
/// The object has no JSON encoding (for example because the keys of a map are not strings), or its type does not decode
/// it.
pub fn defaulted<T: Serialize + DeserializeOwned>(object: &T) -> Result<T, serde_json::Error> {
    serde_json::to_value(OmitNone(object)).and_then(T::deserialize)
}

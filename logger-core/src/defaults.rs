//! Defaults for objects that were built in Rust: Go's `SetObjectDefaults`.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::wire::OmitNone;

/// The object with every default filled in that decoding fills in: of the fields that are unset, at any depth.
///
/// It promises:
/// - the result is what the server's answer to the object decodes to, as far as defaults go;
/// - what is set stays as it is;
/// - defaults inside list items and map values are filled in, and those below an unset field that has no default are not;
/// - with no defaults left to fill in, the result is the object itself: twice is as good as once.
///
/// ```
/// use logger_core::defaults::defaulted;
/// use serde::{Deserialize, Serialize};
///
/// #[logger_core::defaults]
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
/// The object has no JSON form (a map whose keys are no texts, say), or one that its type does not decode.
pub fn defaulted<T: Serialize + DeserializeOwned>(object: &T) -> Result<T, serde_json::Error> {
    serde_json::to_value(OmitNone(object)).and_then(T::deserialize)
}

//! The webhooks of the operator: the conversion between the versions of a Logger.

use kubewright_core::{ConversionError, Converter};
use kubewright_manager::Webhooks;
use logger_types::{v1, v2};
use serde_json::Value;

/// Returns the conversion between the versions of a Logger.
#[must_use]
pub fn converter() -> Converter {
    Converter::hub::<v2::Logger>().spoke::<v1::Logger>().build()
}

/// Returns the conversion as the function of the webhook, which API servers in memory can call directly.
pub fn convert() -> impl Fn(&mut Value, &str) -> Result<(), ConversionError> + Send + Sync + 'static {
    let converter = converter();
    move |object: &mut Value, api_version: &str| {
        *object = converter.convert(object.take(), api_version)?;
        Ok(())
    }
}

/// Returns the webhooks. `cargo xtask manifests` renders their configuration.
pub fn webhooks() -> Webhooks {
    Webhooks::new().converter(converter())
}

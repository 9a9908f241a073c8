//! The webhooks of the operator: the conversion between the versions of a Logger.

use logger_core::{ConversionError, Converter, description::ConversionWebhookDescription};
use logger_manager::Webhooks;
use logger_types::{v1, v2};
use serde_json::Value;

/// Returns the conversion between the versions of a Logger, for the webhook and for tests in process.
#[must_use]
pub fn converter() -> Converter {
    Converter::hub::<v2::Logger>().spoke::<v1::Logger>().build()
}

/// Returns the webhooks. `cargo xtask manifests` renders their configuration.
pub fn webhooks() -> Webhooks {
    let converter = converter();
    let description = ConversionWebhookDescription::new(converter.group(), converter.kind(), converter.plural());
    Webhooks::new().conversion(description, move |object: &mut Value, api_version: &str| {
        *object = converter.convert(object.take(), api_version)?;
        Ok::<_, ConversionError>(())
    })
}

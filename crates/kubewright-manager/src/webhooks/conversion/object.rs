//! The conversion of one object, with the checks of the API server.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use kubewright_core::conversion::TextObject;
use kubewright_runtime::error::panic_message;
use serde::Serialize;
use serde_json::{Map, Value, value::RawValue};
use tokio::time::Instant;

use super::{ConvertFn, ConvertTextFn};
use crate::webhooks::metrics::ConversionMetrics;

/// The fields of the metadata that identify an object, which no conversion may change.
const IDENTITY: [&str; 3] = ["name", "namespace", "uid"];

/// An object of a response.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Converted<'a> {
    /// Converted without decoding it completely.
    Text(TextObject<'a>),
    /// Converted.
    Value(Value),
    /// Of the desired version already.
    Unchanged(&'a RawValue),
}

/// Converts the objects of one kind.
pub(super) struct Converter {
    pub(super) group: String,
    pub(super) kind: String,
    pub(super) convert: Arc<ConvertFn>,
    pub(super) convert_text: Arc<ConvertTextFn>,
    pub(super) metrics: ConversionMetrics,
}

impl Converter {
    /// Rejects a version of another group.
    pub(super) fn check_target(&self, target: &str) -> Result<(), String> {
        if group_of(target) == self.group {
            return Ok(());
        }
        Err(format!("the webhook converts {} of `{}`: found the desired version `{target}`", self.kind, self.group))
    }

    /// Converts an object, which can be partial: without a name, a spec or required fields. The error names it.
    pub(super) fn convert<'a>(&self, object: &'a RawValue, target: &str) -> Result<Converted<'a>, String> {
        let since = Instant::now();
        let converted = match self.try_convert_text(object, target) {
            Some(converted) => Ok(Converted::Text(converted)),
            None => self.try_convert(object, target),
        };
        self.metrics.duration.observe(since.elapsed().as_secs_f64());
        let counter = if converted.is_ok() { &self.metrics.succeeded } else { &self.metrics.failed };
        counter.inc();
        converted
    }

    /// Converts the text of an object. A panic is reported by the conversion of the decoded object.
    fn try_convert_text<'a>(&self, object: &'a RawValue, target: &str) -> Option<TextObject<'a>> {
        catch_unwind(AssertUnwindSafe(|| (self.convert_text)(object, target))).ok().flatten()
    }

    fn try_convert<'a>(&self, object: &'a RawValue, target: &str) -> Result<Converted<'a>, String> {
        let mut value: Value =
            serde_json::from_str(object.get()).map_err(|error| format!("cannot decode an object: {error}"))?;
        let before = Identity::from_object(&value)?;
        if before.kind != self.kind || group_of(&before.api_version) != self.group {
            let found = format!("{}, Kind={}", before.api_version, before.kind);
            return Err(format!("the webhook converts {} of `{}`: found `{found}`", self.kind, self.group));
        }
        if before.api_version == target {
            return Ok(Converted::Unchanged(object));
        }
        let convert = AssertUnwindSafe(|| (self.convert)(&mut value, target));
        let converted = catch_unwind(convert).unwrap_or_else(|panic| {
            self.metrics.panicked.inc();
            Err(format!("the conversion panicked: {}", panic_message(panic.as_ref())))
        });
        let checked = converted.and_then(|()| before.check(&mut value, target));
        checked.map(|()| Converted::Value(value)).map_err(|error| before.describe(target, &error))
    }
}

/// What a conversion must not change.
struct Identity {
    api_version: String,
    kind: String,
    metadata: [Option<Value>; 3],
}

impl Identity {
    fn from_object(object: &Value) -> Result<Self, String> {
        let text = |name: &str| {
            let value = object.get(name).and_then(Value::as_str);
            value.map(str::to_owned).ok_or_else(|| format!("an object has no `{name}`"))
        };
        Ok(Identity { api_version: text("apiVersion")?, kind: text("kind")?, metadata: identity(object) })
    }

    /// Checks a converted object as the API server does. Metadata that is missing in both objects is added: the server
    /// requires it.
    fn check(&self, object: &mut Value, target: &str) -> Result<(), String> {
        let Some(fields) = object.as_object_mut() else {
            return Err("the conversion returned no object".to_owned());
        };
        if fields.get("apiVersion").and_then(Value::as_str) != Some(target) {
            return Err(format!("the conversion did not set the apiVersion `{target}`"));
        }
        if fields.get("kind").and_then(Value::as_str) != Some(self.kind.as_str()) {
            return Err("the conversion changed the kind".to_owned());
        }
        let metadata = fields.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
        if !metadata.is_object() {
            return Err("the conversion removed the metadata".to_owned());
        }
        let changed =
            IDENTITY.into_iter().zip(&self.metadata).find(|(name, before)| metadata.get(name) != before.as_ref());
        changed.map_or(Ok(()), |(name, _)| Err(format!("the conversion changed `metadata.{name}`")))
    }

    /// Adds the object and the versions to an error.
    fn describe(&self, target: &str, error: &str) -> String {
        let [name, namespace, _] = &self.metadata;
        let text = |value: &Option<Value>| value.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
        let key = match (text(namespace), text(name)) {
            (_, name) if name.is_empty() => "without a name".to_owned(),
            (namespace, name) if namespace.is_empty() => format!("`{name}`"),
            (namespace, name) => format!("`{namespace}/{name}`"),
        };
        format!("cannot convert {} {key} from `{}` to `{target}`: {error}", self.kind, self.api_version)
    }
}

fn identity(object: &Value) -> [Option<Value>; 3] {
    let metadata = object.get("metadata");
    IDENTITY.map(|name| metadata.and_then(|metadata| metadata.get(name)).cloned())
}

fn group_of(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

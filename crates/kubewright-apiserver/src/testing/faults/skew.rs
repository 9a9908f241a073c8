//! Clock skew: shifts the times that the server sets, in its responses.

use bytes::{Bytes, BytesMut};
use futures::{StreamExt, stream};
use http::{
    HeaderValue,
    header::{CONTENT_LENGTH, CONTENT_TYPE, DATE},
    response::Parts,
};
use jiff::{SignedDuration, Timestamp, fmt::rfc2822::DateTimePrinter};
use serde_json::Value;

use crate::testing::body::DataStream;

/// Shifts the `Date` header and the times in a JSON body. The body of a watch is shifted line by line.
pub(super) fn shift(parts: &mut Parts, data: DataStream, by: SignedDuration, is_watch: bool) -> DataStream {
    if let Some(date) = date(by) {
        parts.headers.insert(DATE, date);
    }
    let content_type = parts.headers.get(CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
    if !content_type.starts_with(b"application/json") {
        return data;
    }
    parts.headers.remove(CONTENT_LENGTH);
    let documents = stream::unfold((data, BytesMut::new()), move |(mut data, mut buffer)| async move {
        loop {
            if let Some(end) = buffer.iter().position(|byte| *byte == b'\n').filter(|_| is_watch) {
                let line = buffer.split_to(end + 1).freeze();
                return Some((Ok(shifted(line, by)), (data, buffer)));
            }
            match data.next().await {
                Some(Ok(chunk)) => buffer.extend_from_slice(&chunk),
                Some(Err(error)) => return Some((Err(error), (data, BytesMut::new()))),
                None if buffer.is_empty() => return None,
                None => return Some((Ok(shifted(buffer.split().freeze(), by)), (data, buffer))),
            }
        }
    });
    documents.boxed()
}

fn date(by: SignedDuration) -> Option<HeaderValue> {
    let date = DateTimePrinter::new().timestamp_to_rfc9110_string(&Timestamp::now().checked_add(by).ok()?).ok()?;
    HeaderValue::from_str(&date).ok()
}

/// Returns the document with shifted times, or unchanged if it is not JSON.
fn shifted(document: Bytes, by: SignedDuration) -> Bytes {
    let Ok(mut value) = serde_json::from_slice::<Value>(&document) else {
        return document;
    };
    shift_objects(&mut value, by);
    let mut text = value.to_string();
    if document.ends_with(b"\n") {
        text.push('\n');
    }
    text.into()
}

/// Shifts the times of an object, of the items of a list or of the object of a watch event.
fn shift_objects(value: &mut Value, by: SignedDuration) {
    if let Some(metadata) = value.get_mut("metadata") {
        shift_times(metadata, &["creationTimestamp", "deletionTimestamp"], by);
        for entry in metadata.get_mut("managedFields").and_then(Value::as_array_mut).into_iter().flatten() {
            shift_times(entry, &["time"], by);
        }
    }
    if let Some(object) = value.get_mut("object") {
        shift_objects(object, by);
    }
    for item in value.get_mut("items").and_then(Value::as_array_mut).into_iter().flatten() {
        shift_objects(item, by);
    }
}

fn shift_times(object: &mut Value, names: &[&str], by: SignedDuration) {
    for name in names {
        if let Some(time) = object.get_mut(name)
            && let Some(at) = time.as_str().and_then(|text| text.parse::<Timestamp>().ok())
            && let Ok(at) = at.checked_add(by)
        {
            *time = Value::String(at.to_string());
        }
    }
}

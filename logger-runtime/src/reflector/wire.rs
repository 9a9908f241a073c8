//! The wire of a reflector: options to requests, bytes to objects and events.

use std::io;
use std::marker::PhantomData;

use futures::{Stream, TryStreamExt};
use http::header::{ACCEPT, ACCEPT_ENCODING, HeaderValue};
use http::{Request, Response};
use http_body_util::{BodyExt, Limited};
use kube::client::Body;
use kube::core::Status;
use kube::{Api, Client, Error};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use tokio_util::codec::{FramedRead, LinesCodec, LinesCodecError};
use tokio_util::io::StreamReader;

use super::options::ListOptions;
use crate::object::ApiObject;
use crate::version::ResourceVersion;

/// The longest event that is taken, in bytes: etcd refuses objects of a few megabytes, so more is no API server.
const LONGEST_EVENT: usize = 64 << 20;
/// The longest answer to a request that failed, in bytes.
const LONGEST_ERROR: usize = 1 << 20;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const METADATA: HeaderValue = HeaderValue::from_static("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
const METADATA_LIST: HeaderValue =
    HeaderValue::from_static("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1");

/// Sends the requests of one kind and scope.
pub(super) struct Wire<K> {
    client: Client,
    path: String,
    kind: PhantomData<fn() -> K>,
}

/// What a list says besides its objects.
#[derive(Debug, Default)]
pub(super) struct ListMeta {
    /// The version all objects of the list are of; empty where the server told none.
    pub(super) version: String,
    /// There are more objects: ask for them with this.
    pub(super) continue_token: Option<String>,
    /// The server has applied the shard selector.
    pub(super) sharded: bool,
}

/// One event of a watch. An object's version is what the server sent, to be kept whatever a transform does.
#[derive(Debug)]
pub(super) enum WatchEvent<K> {
    Added(K, ResourceVersion),
    Modified(K, ResourceVersion),
    /// The object in its last state, with the version of the deletion.
    Deleted(K, ResourceVersion),
    Bookmark {
        version: ResourceVersion,
        /// All that was there when the watch began has been told.
        ends_initial_events: bool,
    },
    Error(Box<Status>),
    /// A type of event that is not known here.
    Unknown(String),
}

impl<K: ApiObject> Wire<K> {
    pub(super) fn new(api: Api<K>) -> Self {
        let path = api.resource_url().to_owned();
        Wire { client: api.into_client(), path, kind: PhantomData }
    }

    /// Lists, and hands over each object as it is decoded.
    ///
    /// # Errors
    /// The request failed, or the answer is no list of the kind; objects may have been handed over then.
    pub(super) async fn list(&self, options: &ListOptions, sink: impl FnMut(K)) -> Result<ListMeta, Error> {
        let accept = if K::metadata_api() { METADATA_LIST } else { JSON };
        let request = Request::get(self.uri(&options.list_query())).header(ACCEPT, accept);
        let body = self.send(request).await?.into_body().collect().await?.to_bytes();
        let list: List<K> = serde_json::from_slice(&body).map_err(Error::SerdeError)?;
        list.items.into_iter().for_each(sink);
        Ok(list.metadata.into())
    }

    /// Watches. The stream ends where the server, or the connection, ended it.
    ///
    /// # Errors
    /// The request failed or was refused. In the stream: the connection broke, or what came is no event.
    pub(super) async fn watch(
        &self,
        options: &ListOptions,
    ) -> Result<impl Stream<Item = Result<WatchEvent<K>, Error>> + Send + use<K>, Error> {
        let accept = if K::metadata_api() { METADATA } else { JSON };
        let request = Request::get(self.uri(&options.watch_query())).header(ACCEPT, accept);
        // Kubernetes 1.37 compresses each event by itself, of which kube's decompression reads only the first.
        let response = self.send(request.header(ACCEPT_ENCODING, "identity")).await?;
        let bytes = StreamReader::new(response.into_body().into_data_stream().map_err(io::Error::other));
        let lines = FramedRead::new(bytes, LinesCodec::new_with_max_length(LONGEST_EVENT));
        Ok(lines.map_err(unreadable).try_filter_map(async |line| decode(&line)))
    }

    fn uri(&self, query: &str) -> String {
        let path = &self.path;
        if query.is_empty() { path.clone() } else { format!("{path}?{query}") }
    }

    async fn send(&self, request: http::request::Builder) -> Result<Response<Body>, Error> {
        let request = request.body(Body::empty()).map_err(Error::HttpError)?;
        let response = self.client.send(request).await?;
        match response.status().is_success() {
            true => Ok(response),
            false => Err(refused(response).await),
        }
    }
}

/// What the server, or whoever answered in its place, said.
async fn refused(response: Response<Body>) -> Error {
    let code = response.status().as_u16();
    let body = Limited::new(response.into_body(), LONGEST_ERROR).collect().await;
    let body = body.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let page = || {
        let text = String::from_utf8_lossy(&body);
        Status::failure(text.trim(), "Failed to parse error data").with_code(code)
    };
    Error::Api(serde_json::from_slice::<Status>(&body).unwrap_or_else(|_| page()).boxed())
}

fn unreadable(error: LinesCodecError) -> Error {
    match error {
        LinesCodecError::MaxLineLengthExceeded => Error::LinesCodecMaxLineLengthExceeded,
        LinesCodecError::Io(error) => Error::ReadEvents(error),
    }
}

/// The event of a line; none of one that was cut short, as when the connection ends.
fn decode<K: ApiObject>(line: &str) -> Result<Option<WatchEvent<K>>, Error> {
    match read(line) {
        Ok(event) => Ok(Some(event)),
        Err(error) if error.is_eof() => Ok(None),
        // Something in the way may answer with a plain Status in the middle of a stream.
        Err(error) => match serde_json::from_str::<PlainStatus>(line) {
            Ok(PlainStatus(status)) => Ok(Some(WatchEvent::Error(status))),
            Err(_) => Err(Error::SerdeError(error)),
        },
    }
}

fn read<K: ApiObject>(line: &str) -> Result<WatchEvent<K>, serde_json::Error> {
    let event: Line<'_> = serde_json::from_str(line)?;
    let object = event.object.get();
    Ok(match event.kind.as_str() {
        "ADDED" => object_event(object, WatchEvent::Added)?,
        "MODIFIED" => object_event(object, WatchEvent::Modified)?,
        "DELETED" => object_event(object, WatchEvent::Deleted)?,
        "BOOKMARK" => serde_json::from_str::<Bookmark>(object)?.into(),
        "ERROR" => WatchEvent::Error(serde_json::from_str(object)?),
        _ => WatchEvent::Unknown(event.kind),
    })
}

fn object_event<K: ApiObject>(
    object: &str,
    event: impl FnOnce(K, ResourceVersion) -> WatchEvent<K>,
) -> Result<WatchEvent<K>, serde_json::Error> {
    let object: K = serde_json::from_str(object)?;
    let version = ResourceVersion::new(object.meta().resource_version.as_deref().unwrap_or_default());
    Ok(event(object, version))
}

#[derive(Deserialize)]
#[serde(bound = "K: DeserializeOwned")]
struct List<K> {
    #[serde(default)]
    metadata: RawListMeta,
    // Go writes an empty list as null.
    #[serde(default = "Vec::new", deserialize_with = "null_is_none")]
    items: Vec<K>,
}

fn null_is_none<'de, D: Deserializer<'de>, K: Deserialize<'de>>(deserializer: D) -> Result<Vec<K>, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawListMeta {
    resource_version: String,
    #[serde(rename = "continue")]
    continue_token: Option<String>,
    shard_info: Option<IgnoredAny>,
}

impl From<RawListMeta> for ListMeta {
    fn from(meta: RawListMeta) -> Self {
        let continue_token = meta.continue_token.filter(|token| !token.is_empty());
        ListMeta { version: meta.resource_version, continue_token, sharded: meta.shard_info.is_some() }
    }
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(borrow)]
    object: &'a RawValue,
}

#[derive(Deserialize)]
struct Bookmark {
    metadata: BookmarkMeta,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BookmarkMeta {
    resource_version: String,
    #[serde(default)]
    annotations: std::collections::BTreeMap<String, String>,
}

impl<K> From<Bookmark> for WatchEvent<K> {
    fn from(Bookmark { metadata }: Bookmark) -> Self {
        let ends = metadata.annotations.get("k8s.io/initial-events-end").is_some_and(|value| value == "true");
        let version = ResourceVersion::new(&metadata.resource_version);
        WatchEvent::Bookmark { version, ends_initial_events: ends }
    }
}

/// A `Status` that says it is one.
struct PlainStatus(Box<Status>);

impl<'de> Deserialize<'de> for PlainStatus {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Kinded {
            kind: String,
            #[serde(flatten)]
            status: Status,
        }
        let Kinded { kind, status } = Kinded::deserialize(deserializer)?;
        match kind.as_str() {
            "Status" => Ok(PlainStatus(status.boxed())),
            _ => Err(serde::de::Error::custom("no Status")),
        }
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;

    fn event(line: &str) -> Option<WatchEvent<ConfigMap>> {
        decode(line).unwrap()
    }

    #[test]
    fn r08_unknown_types_of_events_are_told_as_such() {
        let unknown = event(r#"{"type":"FUTURE","object":{"kind":"ConfigMap"}}"#);
        assert!(matches!(unknown, Some(WatchEvent::Unknown(name)) if name == "FUTURE"));
    }

    #[test]
    fn r09_the_bookmark_that_ends_the_initial_events_is_told_from_others() {
        let line = |annotations: &str| {
            format!(r#"{{"type":"BOOKMARK","object":{{"metadata":{{"resourceVersion":"7"{annotations}}}}}}}"#)
        };
        let last = event(&line(r#","annotations":{"k8s.io/initial-events-end":"true"}"#));
        assert!(matches!(last, Some(WatchEvent::Bookmark { ends_initial_events: true, .. })));
        let other = event(&line(""));
        assert!(
            matches!(other, Some(WatchEvent::Bookmark { version, ends_initial_events: false }) if version.as_str() == "7")
        );
    }

    #[test]
    fn an_event_cut_short_is_none_and_a_plain_status_is_an_error() {
        assert!(event(r#"{"type":"ADDED","object":{"meta"#).is_none());
        let status = event(r#"{"kind":"Status","code":410,"reason":"Expired"}"#);
        assert!(matches!(status, Some(WatchEvent::Error(status)) if status.code == 410));
        assert!(matches!(decode::<ConfigMap>("<html>"), Err(Error::SerdeError(_))));
    }

    #[test]
    fn a_list_without_items_is_empty() {
        let list: List<ConfigMap> =
            serde_json::from_str(r#"{"metadata":{"resourceVersion":"3"},"items":null}"#).unwrap();
        assert!(list.items.is_empty());
        assert_eq!(ListMeta::from(list.metadata).version, "3");
    }
}

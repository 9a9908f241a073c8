//! List and watch requests of one kind: query options to HTTP requests, response bytes to objects and events.

mod decompress;

use std::{io, marker::PhantomData};

use bytes::{Buf, Bytes};
use futures::{Stream, stream};
use http::{
    Request, Response,
    header::{ACCEPT, ACCEPT_ENCODING, HeaderValue, RETRY_AFTER},
};
use http_body_util::{BodyExt, Limited};
use kube::{
    Api, Client, Error,
    client::Body,
    core::{Status, response::StatusDetails},
};

use super::list_options::ListOptions;
pub(super) use crate::decode::{ListMeta, WatchEvent};
use crate::{
    decode::{DecodeError, ListDecoder, ManagedFields, SkippedObject, WatchDecoder},
    object::ApiObject,
};
use decompress::Decompressor;

/// The maximum size of an error response, in bytes.
const MAX_ERROR_SIZE: usize = 1 << 20;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const METADATA: HeaderValue = HeaderValue::from_static("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
const METADATA_LIST: HeaderValue =
    HeaderValue::from_static("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1");

/// Sends list and watch requests for one kind and scope.
pub(super) struct ListWatch<K> {
    client: Client,
    path: String,
    managed_fields: ManagedFields,
    kind: PhantomData<fn() -> K>,
}

impl<K: ApiObject> ListWatch<K> {
    pub(super) fn new(api: Api<K>) -> Self {
        let path = api.resource_url().to_owned();
        ListWatch { client: api.into_client(), path, managed_fields: ManagedFields::Drop, kind: PhantomData }
    }

    /// Sets whether managed fields are decoded.
    pub(super) fn managed_fields(self, managed_fields: ManagedFields) -> Self {
        ListWatch { managed_fields, ..self }
    }

    /// Lists objects and passes each to `sink` as it is decoded, with its text, while the rest of the response
    /// arrives.
    ///
    /// # Errors
    /// Fails if the request fails, the response is not a list, or `sink` fails. Objects may have been passed to `sink`.
    pub(super) async fn list(
        &self,
        options: &ListOptions,
        mut sink: impl FnMut(Result<K, Box<SkippedObject>>, &[u8]) -> Result<(), DecodeError>,
    ) -> Result<ListMeta, Error> {
        let accept = if K::metadata_api() { METADATA_LIST } else { JSON };
        let request = Request::get(self.uri(&options.list_query())).header(ACCEPT, accept);
        // A server compresses lists of more than 128 KiB if the client accepts that.
        let response = self.send(request.header(ACCEPT_ENCODING, "gzip")).await?;
        let mut decompressor = Decompressor::new(response.headers());
        let mut decoder = ListDecoder::new(self.managed_fields);
        let mut body = response.into_body();
        while let Some(frame) = body.frame().await {
            let bytes = frame?.into_data().unwrap_or_default();
            for chunk in bytes.chunks(decompressor.chunk_size()) {
                decoder.push_texts(decompressor.push(chunk).map_err(read_error)?, &mut sink).map_err(decode_error)?;
                // Yields to other tasks.
                tokio::task::consume_budget().await;
            }
        }
        decoder.push_texts(decompressor.finish().map_err(read_error)?, &mut sink).map_err(decode_error)?;
        decoder.finish().map_err(decode_error)
    }

    /// Watches objects. The stream ends when the server or the connection ends it.
    ///
    /// # Errors
    /// Fails if the request fails or is rejected. Items of the stream fail if the connection is interrupted or an event
    /// is invalid.
    pub(super) async fn watch(
        &self,
        options: &ListOptions,
    ) -> Result<impl Stream<Item = Result<WatchEvent<K>, Error>> + Send + use<K>, Error> {
        let accept = if K::metadata_api() { METADATA } else { JSON };
        let request = Request::get(self.uri(&options.watch_query())).header(ACCEPT, accept);
        // Compressed events cost more than they save, and kube's decompression only reads the first one.
        let response = self.send(request.header(ACCEPT_ENCODING, "identity")).await?;
        let watch = WatchResponse {
            body: response.into_body(),
            bytes: Bytes::new(),
            decoder: WatchDecoder::new(self.managed_fields),
        };
        Ok(stream::try_unfold(watch, |mut watch| async move { Ok(watch.next().await?.map(|event| (event, watch))) }))
    }

    /// Returns whether the server serves the kind, by its discovery.
    ///
    /// # Errors
    /// Fails if a request fails.
    pub(super) async fn is_served(&self) -> Result<bool, Error> {
        let (group, version, plural) = (K::group(&()), K::version(&()), K::plural(&()));
        let resources = if group.is_empty() {
            self.client.list_core_api_resources(&version).await?
        } else {
            let groups = self.client.list_api_groups().await?.groups;
            let mut versions = groups.iter().filter(|known| known.name == group).flat_map(|known| &known.versions);
            if !versions.any(|known| known.version == version) {
                return Ok(false);
            }
            self.client.list_api_group_resources(&K::api_version(&())).await?
        };
        Ok(resources.resources.iter().any(|resource| resource.name == plural))
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
            false => Err(error_response(response).await),
        }
    }
}

/// Converts an error response to its `Status`, or to a failure with the text of the response.
async fn error_response(response: Response<Body>) -> Error {
    let code = response.status().as_u16();
    // API priority and fairness responds in plain text and sets the delay in the header only.
    let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    let body = Limited::new(response.into_body(), MAX_ERROR_SIZE).collect().await;
    let body = body.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let text_status = || {
        let text = String::from_utf8_lossy(&body);
        Status::failure(text.trim(), "Failed to parse error data").with_code(code)
    };
    let mut status = serde_json::from_slice::<Status>(&body).unwrap_or_else(|_| text_status());
    if let Some(seconds) = retry_after {
        status.details.get_or_insert_with(empty_details).retry_after_seconds = seconds;
    }
    Error::Api(status.boxed())
}

fn empty_details() -> StatusDetails {
    let (name, group, kind, uid) = <(String, String, String, String)>::default();
    StatusDetails { name, group, kind, uid, causes: Vec::new(), retry_after_seconds: 0 }
}

/// An open watch.
struct WatchResponse<K> {
    body: Body,
    /// Received bytes that are not decoded yet.
    bytes: Bytes,
    decoder: WatchDecoder<K>,
}

impl<K: ApiObject> WatchResponse<K> {
    async fn next(&mut self) -> Result<Option<WatchEvent<K>>, Error> {
        loop {
            let mut rest = &self.bytes[..];
            let event = self.decoder.next(&mut rest).map_err(decode_error)?;
            let consumed = self.bytes.len() - rest.len();
            self.bytes.advance(consumed);
            if let Some(event) = event {
                return Ok(Some(event));
            }
            match self.body.frame().await {
                Some(frame) => self.bytes = frame?.into_data().unwrap_or_default(),
                None => return Ok(None),
            }
        }
    }
}

/// The connection was interrupted, or the body does not have the declared compression.
fn read_error(error: io::Error) -> Error {
    Error::ReadEvents(error)
}

/// The error of an object remains available for a downcast.
fn decode_error(error: DecodeError) -> Error {
    match error {
        DecodeError::Object(error) => Error::Service(Box::new(error)),
        error => Error::SerdeError(serde::de::Error::custom(error)),
    }
}

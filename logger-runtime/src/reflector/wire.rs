//! The wire of a reflector: options to requests, bytes to objects and events.

mod inflate;

use std::io;
use std::marker::PhantomData;

use bytes::{Buf, Bytes};
use futures::{Stream, stream};
use http::header::{ACCEPT, ACCEPT_ENCODING, HeaderValue, RETRY_AFTER};
use http::{Request, Response};
use http_body_util::{BodyExt, Limited};
use kube::client::Body;
use kube::core::Status;
use kube::core::response::StatusDetails;
use kube::{Api, Client, Error};

use super::options::ListOptions;
use crate::decode::{BadAnswer, ListDecoder, ManagedFields, WatchDecoder};
pub(super) use crate::decode::{ListMeta, WatchEvent};
use crate::object::ApiObject;
use inflate::Inflate;

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
    managed_fields: ManagedFields,
    kind: PhantomData<fn() -> K>,
}

impl<K: ApiObject> Wire<K> {
    pub(super) fn new(api: Api<K>) -> Self {
        let path = api.resource_url().to_owned();
        Wire { client: api.into_client(), path, managed_fields: ManagedFields::Dropped, kind: PhantomData }
    }

    /// With them, or without.
    pub(super) fn managed_fields(self, managed_fields: ManagedFields) -> Self {
        Wire { managed_fields, ..self }
    }

    /// Lists, and hands over each object as it is decoded, while the rest is still on its way.
    ///
    /// # Errors
    /// The request failed, or the answer is no list of the kind; objects may have been handed over then.
    pub(super) async fn list(&self, options: &ListOptions, mut sink: impl FnMut(K)) -> Result<ListMeta, Error> {
        let accept = if K::metadata_api() { METADATA_LIST } else { JSON };
        let request = Request::get(self.uri(&options.list_query())).header(ACCEPT, accept);
        // A server compresses lists of more than 128 KiB for those who ask.
        let response = self.send(request.header(ACCEPT_ENCODING, "gzip")).await?;
        let mut inflate = Inflate::of(response.headers());
        let mut decoder = ListDecoder::new(self.managed_fields);
        let mut body = response.into_body();
        while let Some(frame) = body.frame().await {
            let bytes = frame?.into_data().unwrap_or_default();
            for step in bytes.chunks(inflate.step()) {
                decoder.push(inflate.push(step).map_err(broken)?, &mut sink).map_err(undecodable)?;
                // Other tasks get their turn.
                tokio::task::consume_budget().await;
            }
        }
        decoder.push(inflate.finish().map_err(broken)?, &mut sink).map_err(undecodable)?;
        decoder.finish().map_err(undecodable)
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
        // Compressed events cost more than they save, and kube's own decompression reads only the first.
        let response = self.send(request.header(ACCEPT_ENCODING, "identity")).await?;
        let watch =
            Watch { body: response.into_body(), bytes: Bytes::new(), decoder: WatchDecoder::new(self.managed_fields) };
        Ok(stream::try_unfold(watch, |mut watch| async move { Ok(watch.next().await?.map(|event| (event, watch))) }))
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
    // Priority and fairness answer in plain text, and say how long to wait in the header alone.
    let wait = response.headers().get(RETRY_AFTER).and_then(|wait| wait.to_str().ok()?.parse().ok());
    let body = Limited::new(response.into_body(), LONGEST_ERROR).collect().await;
    let body = body.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let page = || {
        let text = String::from_utf8_lossy(&body);
        Status::failure(text.trim(), "Failed to parse error data").with_code(code)
    };
    let mut status = serde_json::from_slice::<Status>(&body).unwrap_or_else(|_| page());
    if let Some(wait) = wait {
        status.details.get_or_insert_with(no_details).retry_after_seconds = wait;
    }
    Error::Api(status.boxed())
}

fn no_details() -> StatusDetails {
    let (name, group, kind, uid) = <(String, String, String, String)>::default();
    StatusDetails { name, group, kind, uid, causes: Vec::new(), retry_after_seconds: 0 }
}

/// A watch that goes on.
struct Watch<K> {
    body: Body,
    /// What came in and was not decoded yet.
    bytes: Bytes,
    decoder: WatchDecoder<K>,
}

impl<K: ApiObject> Watch<K> {
    async fn next(&mut self) -> Result<Option<WatchEvent<K>>, Error> {
        loop {
            let mut rest = &self.bytes[..];
            let event = self.decoder.next(&mut rest).map_err(undecodable)?;
            let taken = self.bytes.len() - rest.len();
            self.bytes.advance(taken);
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

/// The connection broke, or what came is not compressed as it says.
fn broken(error: io::Error) -> Error {
    Error::ReadEvents(error)
}

fn undecodable(answer: BadAnswer) -> Error {
    Error::SerdeError(serde::de::Error::custom(answer))
}

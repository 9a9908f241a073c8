//! Responses with objects and lists, which are encoded after the state is unlocked.

use std::sync::Arc;

use serde::Serialize;

use crate::{
    api::{
        error::Result,
        object::{Encodable, Object, Stored},
    },
    handlers::{list::Page, request::ResourceRequest},
    resource::registry::Resource,
    response::{list_metadata::ListMetadata, table::Table},
    wire::{
        content::{Content, Encoding},
        negotiation::{self, Representation},
    },
};

/// An object or a list, with the kind, the representation and the encoding of the response.
#[derive(Debug)]
pub(crate) struct ObjectResponse {
    kind: Arc<Resource>,
    representation: Representation,
    encoding: Encoding,
    content: Objects,
}

#[derive(Debug)]
enum Objects {
    One(Stored),
    List(Page),
}

impl ObjectResponse {
    /// Creates the response with an object.
    ///
    /// # Errors
    /// The requested representation is that of a list.
    pub(crate) fn object(request: &ResourceRequest, object: Stored) -> Result<Self> {
        match request.representation {
            Representation::MetadataList(_) => Err(negotiation::wrong_shape(&request.kind, false)),
            _ => Ok(Self::new(request, Objects::One(object))),
        }
    }

    /// Creates the response with a list.
    ///
    /// # Errors
    /// The requested representation is that of an object.
    pub(crate) fn list(request: &ResourceRequest, page: Page) -> Result<Self> {
        match request.representation {
            Representation::Metadata(_) => Err(negotiation::wrong_shape(&request.kind, true)),
            _ => Ok(Self::new(request, Objects::List(page))),
        }
    }

    fn new(request: &ResourceRequest, content: Objects) -> Self {
        let ResourceRequest { kind, representation, encoding, .. } = request;
        Self { kind: kind.clone(), representation: *representation, encoding: *encoding, content }
    }

    /// Encodes the body of the response.
    pub(crate) fn encode(&self) -> Content {
        match &self.content {
            Objects::One(object) => self.encode_object(object),
            Objects::List(page) => self.encode_list(page),
        }
    }

    fn encode_object(&self, object: &Object) -> Content {
        let (kind, encoding) = (&self.kind, self.encoding);
        match self.representation {
            Representation::Object | Representation::MetadataList(_) => encoding.write(&object.encodable_as(kind)),
            Representation::Metadata(version) => encoding.write(&object.partial_object_metadata(version)),
            Representation::Table(options) => encoding.write(&Table::from_object(kind, options, object, true)),
        }
    }

    /// Encodes a list. As on the real server, items of built-in kinds have no type.
    fn encode_list(&self, page: &Page) -> Content {
        let (kind, encoding) = (&self.kind, self.encoding);
        let has_token = page.next.is_some() || kind.is_custom && self.representation == Representation::Object;
        let metadata = ListMetadata {
            resource_version: page.version.to_string(),
            r#continue: has_token.then(|| page.next.clone().unwrap_or_default()),
            remaining_item_count: page.remaining,
        };
        match self.representation {
            Representation::Table(options) => encoding.write(&Table::from_list(kind, options, page, metadata)),
            Representation::MetadataList(version) => {
                let items: Vec<_> = page.items.iter().map(|object| object.partial_object_metadata(version)).collect();
                let items = Some(items).filter(|items| !items.is_empty());
                let (api_version, kind) = (version.api_version(), "PartialObjectMetadataList");
                encoding.write(&List { kind, api_version, metadata, items })
            }
            Representation::Object | Representation::Metadata(_) => {
                let api_version = kind.api_version();
                let type_meta = kind.is_custom.then_some((api_version.as_str(), kind.kind.as_str()));
                let items = page.items.iter().map(|object| object.encodable(type_meta)).collect();
                let list = List { kind: &kind.list_kind, api_version: &api_version, metadata, items: Some(items) };
                encoding.write(&list)
            }
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct List<'a> {
    kind: &'a str,
    api_version: &'a str,
    metadata: ListMetadata,
    /// An empty list of metadata has null items.
    items: Option<Vec<Encodable<'a>>>,
}

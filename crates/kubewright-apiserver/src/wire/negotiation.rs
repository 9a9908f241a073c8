//! Content negotiation: the representation and the encoding of responses.

use crate::{
    api::{
        error::{ApiError, Result},
        go,
        kind::Kind,
        object::MetaVersion,
    },
    wire::{content::Encoding, request::Query},
};

/// The representation of objects in a response.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Representation {
    Object,
    /// `PartialObjectMetadata`, for one object or the objects of a watch.
    Metadata(MetaVersion),
    /// `PartialObjectMetadataList`.
    MetadataList(MetaVersion),
    Table(TableOptions),
}

/// The part of an object that its row of a table includes (`IncludeObjectPolicy`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum IncludeObject {
    None,
    Metadata,
    Object,
}

impl IncludeObject {
    /// Parses `includeObject` of a query.
    ///
    /// # Errors
    /// The value is none of `None`, `Metadata` and `Object`.
    pub(crate) fn from_query(query: &Query) -> Result<Self> {
        match query.get("includeObject") {
            None | Some("Metadata") => Ok(Self::Metadata),
            Some("None") => Ok(Self::None),
            Some("Object") => Ok(Self::Object),
            Some(other) => Err(ApiError::bad_request(format!(
                "Unable to convert to Table as requested: includeObject: Invalid value: {other:?}: must be 'Metadata', \
                 'Object', 'None', or empty"
            ))),
        }
    }
}

/// The options of a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TableOptions {
    pub(crate) version: MetaVersion,
    pub(crate) include: IncludeObject,
}

/// Returns the representation and the encoding for an `Accept` header: those of the media type with the highest quality
/// that can be served. The options of tables are taken from the query.
pub(crate) fn negotiate(accept: &str, query: &Query, is_custom: bool) -> Result<(Representation, Encoding)> {
    if accept.is_empty() {
        return Ok((Representation::Object, Encoding::Json));
    }
    let clauses = clauses(accept);
    match clauses.iter().find_map(|clause| clause.representation(is_custom)) {
        Some((Representation::Table(options), encoding)) => Ok((
            Representation::Table(TableOptions { include: IncludeObject::from_query(query)?, ..options }),
            encoding,
        )),
        Some(found) => Ok(found),
        None if is_custom || clauses.iter().any(|clause| clause.encoding.is_some()) => Err(ApiError::not_acceptable()),
        None => Err(ApiError::not_acceptable_unresolved()),
    }
}

/// Returns the encoding of responses that are not objects of a resource: errors, and documents of the server.
pub(crate) fn encoding(accept: &str) -> Encoding {
    let plain = |clause: &Clause<'_>| clause.supported_encoding().filter(|_| clause.transform.is_none());
    clauses(accept).iter().find_map(plain).unwrap_or_default()
}

/// Returns whether a response that exists only as JSON is acceptable.
pub(crate) fn accepts_json(accept: &str) -> bool {
    accept.is_empty() || clauses(accept).iter().any(|clause| clause.encoding == Some(Encoding::Json))
}

/// Parses an `Accept` header, and sorts its clauses by preference.
fn clauses(accept: &str) -> Vec<Clause<'_>> {
    let mut clauses: Vec<Clause<'_>> = accept.split(',').filter_map(Clause::parse).collect();
    clauses.sort_by(|left, right| left.rank().total_cmp(&right.rank()));
    clauses
}

/// Returns the error for a list in the representation of an object, or vice versa.
pub(crate) fn wrong_shape(kind: &Kind, is_list: bool) -> ApiError {
    let (requested, actual) =
        if is_list { ("PartialObjectMetadata", "a list") } else { ("PartialObjectMetadataList", "not a list") };
    let (package, name) = match (kind.is_custom, is_list) {
        (true, true) => ("unstructured", "UnstructuredList"),
        (true, false) => ("unstructured", "Unstructured"),
        (false, true) => (go::package(&kind.group), kind.list_kind.as_str()),
        (false, false) => (go::package(&kind.group), kind.kind.as_str()),
    };
    ApiError::not_acceptable_for(format!(
        "you requested {requested}, but the requested object is {actual} (*{package}.{name})"
    ))
}

/// One media type of an `Accept` header.
struct Clause<'a> {
    /// The encoding, if the media type is supported.
    encoding: Option<Encoding>,
    /// Whether the media type is that of a stream of events.
    is_stream: bool,
    /// The quality value, up to 1.
    quality: f64,
    /// The number of wildcards.
    wildcards: u8,
    /// The kind, group and version that objects are converted to.
    transform: Option<[&'a str; 3]>,
}

impl<'a> Clause<'a> {
    fn parse(clause: &'a str) -> Option<Self> {
        let mut parts = clause.split(';').map(|part| part.trim_matches(' '));
        let type_ = parts.next()?;
        let wildcards = match type_ {
            "*" | "*/*" => 2,
            "application/*" => 1,
            _ => 0,
        };
        let encoding = if wildcards > 0 { Some(Encoding::Json) } else { Encoding::named(type_) };
        let mut clause = Self { encoding, is_stream: false, quality: 1.0, wildcards, transform: None };
        for (name, value) in parts.filter_map(|part| part.split_once('=')) {
            let mut transform = |index: usize| clause.transform.get_or_insert_default()[index] = value;
            match name {
                "as" => transform(0),
                "g" => transform(1),
                "v" => transform(2),
                "stream" => clause.is_stream = !value.is_empty(),
                "q" => clause.quality = value.parse().unwrap_or(1.0),
                _ => {}
            }
        }
        Some(clause)
    }

    /// Returns the sort key: higher quality first, then more specific media types.
    fn rank(&self) -> f64 {
        -self.quality * 4.0 + f64::from(self.wildcards)
    }

    /// Returns the encoding, if it is supported. YAML has no streams.
    fn supported_encoding(&self) -> Option<Encoding> {
        self.encoding.filter(|encoding| !self.is_stream || *encoding != Encoding::Yaml)
    }

    /// Returns the requested representation, if it is supported. Custom objects and tables have no protobuf encoding.
    fn representation(&self, is_custom: bool) -> Option<(Representation, Encoding)> {
        let encoding = self.supported_encoding()?;
        let representation = self.transformed()?;
        let has_no_protobuf =
            matches!(representation, Representation::Table(_)) || is_custom && representation == Representation::Object;
        (encoding != Encoding::Protobuf || !has_no_protobuf).then_some((representation, encoding))
    }

    fn transformed(&self) -> Option<Representation> {
        let Some([kind, group, version]) = self.transform else {
            return Some(Representation::Object);
        };
        let version = match (group, version) {
            ("meta.k8s.io", "v1") => MetaVersion::V1,
            ("meta.k8s.io", "v1beta1") => MetaVersion::V1Beta1,
            _ => return None,
        };
        match kind {
            "Table" => Some(Representation::Table(TableOptions { version, include: IncludeObject::Metadata })),
            "PartialObjectMetadata" => Some(Representation::Metadata(version)),
            "PartialObjectMetadataList" => Some(Representation::MetadataList(version)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn representation(accept: &str) -> Option<Representation> {
        Some(negotiate(accept, &Query::parse("includeObject=None"), false).ok()?.0)
    }

    #[test]
    fn the_representation_with_the_highest_quality_is_selected() {
        let table = Representation::Table(TableOptions { version: MetaVersion::V1, include: IncludeObject::None });
        for (accept, expected) in [
            ("", Some(Representation::Object)),
            ("text/xml, application/json;q=0.5", Some(Representation::Object)),
            ("application/json;as=Table;v=v1;g=meta.k8s.io,application/json", Some(table)),
            ("application/json;q=0.5,application/json;as=Table;v=v1;g=meta.k8s.io", Some(table)),
            ("application/json;as=Table;v=v1;g=meta.k8s.io;q=0.3,application/json", Some(Representation::Object)),
            ("*/*;as=Table;v=v1;g=meta.k8s.io", Some(table)),
            ("application/json;as=Table;v=v2;g=meta.k8s.io,application/json", Some(Representation::Object)),
            (
                "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1beta1,application/json",
                Some(Representation::MetadataList(MetaVersion::V1Beta1)),
            ),
            ("text/xml", None),
            ("application/json;as=Chart;v=v1;g=meta.k8s.io", None),
            ("application/json;as=Table", None),
        ] {
            assert_eq!(representation(accept), expected, "{accept}");
        }
    }

    #[test]
    fn the_accept_header_selects_the_encoding() {
        const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
        let encoding = |accept: &str, is_custom| Some(negotiate(accept, &Query::default(), is_custom).ok()?.1);
        let metadata = format!("{PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
        for (accept, built_in, custom) in [
            ("", Some(Encoding::Json), Some(Encoding::Json)),
            ("*/*", Some(Encoding::Json), Some(Encoding::Json)),
            ("application/yaml", Some(Encoding::Yaml), Some(Encoding::Yaml)),
            (PROTOBUF, Some(Encoding::Protobuf), None),
            (&format!("{PROTOBUF},application/json"), Some(Encoding::Protobuf), Some(Encoding::Json)),
            (&format!("{PROTOBUF};stream=watch"), Some(Encoding::Protobuf), None),
            ("application/yaml;stream=watch", None, None),
            (&metadata, Some(Encoding::Protobuf), Some(Encoding::Protobuf)),
            (&format!("{PROTOBUF};as=Table;g=meta.k8s.io;v=v1"), None, None),
        ] {
            assert_eq!((encoding(accept, false), encoding(accept, true)), (built_in, custom), "{accept}");
        }
        assert_eq!(super::encoding(&format!("{metadata},application/yaml")), Encoding::Yaml);
        assert_eq!(super::encoding("text/xml"), Encoding::Json);
    }

    #[test]
    fn table_options_are_taken_from_the_query() {
        let accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
        let message = negotiate(accept, &Query::parse("includeObject=Some"), true).unwrap_err().message();
        assert!(message.starts_with("Unable to convert to Table as requested: includeObject"), "{message}");
    }
}

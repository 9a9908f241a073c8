//! What a client accepts, and which form of the objects it gets.

use crate::{
    api::{
        error::{ApiError, Result},
        go,
        kind::Kind,
        object::MetaVersion,
    },
    wire::{content::Encoding, request::Query},
};

/// How much of objects is sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Representation {
    Object,
    /// `PartialObjectMetadata`: of one object, or of each of a watch.
    Metadata(MetaVersion),
    /// `PartialObjectMetadataList`.
    MetadataList(MetaVersion),
    Table(Style),
}

/// What of an object goes with its row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Include {
    Nothing,
    Metadata,
    Whole,
}

impl Include {
    /// Reads `includeObject` of a query.
    ///
    /// # Errors
    /// It is none of `None`, `Metadata` and `Object`.
    pub(crate) fn of(query: &Query) -> Result<Self> {
        match query.get("includeObject") {
            None | Some("Metadata") => Ok(Self::Metadata),
            Some("None") => Ok(Self::Nothing),
            Some("Object") => Ok(Self::Whole),
            Some(other) => Err(ApiError::bad_request(format!(
                "Unable to convert to Table as requested: includeObject: Invalid value: {other:?}: must be 'Metadata', \
                 'Object', 'None', or empty"
            ))),
        }
    }
}

/// How a client wants its tables.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Style {
    pub(crate) version: MetaVersion,
    pub(crate) include: Include,
}

/// The form for an `Accept` header, and how it is written: that of the type accepted most which can be sent. Tables go by the
/// query, too.
pub(crate) fn negotiate(accept: &str, query: &Query, is_custom: bool) -> Result<(Representation, Encoding)> {
    if accept.is_empty() {
        return Ok((Representation::Object, Encoding::Json));
    }
    let clauses = clauses(accept);
    match clauses.iter().find_map(|clause| clause.form(is_custom)) {
        Some((Representation::Table(style), encoding)) => {
            Ok((Representation::Table(Style { include: Include::of(query)?, ..style }), encoding))
        }
        Some(found) => Ok(found),
        None if is_custom || clauses.iter().any(|clause| clause.encoding.is_some()) => Err(ApiError::not_acceptable()),
        None => Err(ApiError::not_representable()),
    }
}

/// Returns the encoding of responses that are not objects of a resource: errors, and documents of the server.
pub(crate) fn encoding(accept: &str) -> Encoding {
    let plain = |clause: &Clause<'_>| clause.written().filter(|_| clause.transform.is_none());
    clauses(accept).iter().find_map(plain).unwrap_or_default()
}

/// Whether what there is as JSON alone can be sent.
pub(crate) fn takes_json(accept: &str) -> bool {
    accept.is_empty() || clauses(accept).iter().any(|clause| clause.encoding == Some(Encoding::Json))
}

/// What is accepted most comes first.
fn clauses(accept: &str) -> Vec<Clause<'_>> {
    let mut clauses: Vec<Clause<'_>> = accept.split(',').filter_map(Clause::parse).collect();
    clauses.sort_by(|left, right| left.rank().total_cmp(&right.rank()));
    clauses
}

/// Returns the error for a list in the representation of an object, or vice versa.
pub(crate) fn wrong_shape(kind: &Kind, is_list: bool) -> ApiError {
    let (wanted, is) =
        if is_list { ("PartialObjectMetadata", "a list") } else { ("PartialObjectMetadataList", "not a list") };
    let (package, name) = match (kind.is_custom, is_list) {
        (true, true) => ("unstructured", "UnstructuredList"),
        (true, false) => ("unstructured", "Unstructured"),
        (false, true) => (go::package(&kind.group), kind.list_kind.as_str()),
        (false, false) => (go::package(&kind.group), kind.kind.as_str()),
    };
    ApiError::not_acceptable_for(format!(
        "you requested {wanted}, but the requested object is {is} (*{package}.{name})"
    ))
}

/// One of the types that are accepted.
struct Clause<'a> {
    /// What objects are written in, if it is of a type that there is.
    encoding: Option<Encoding>,
    /// It is of a stream of events.
    is_stream: bool,
    /// How much it is accepted, up to 1.
    quality: f64,
    /// It has this many stars.
    stars: u8,
    /// What objects are to be made into: kind, group and version.
    transform: Option<[&'a str; 3]>,
}

impl<'a> Clause<'a> {
    fn parse(clause: &'a str) -> Option<Self> {
        let mut parts = clause.split(';').map(|part| part.trim_matches(' '));
        let type_ = parts.next()?;
        let stars = match type_ {
            "*" | "*/*" => 2,
            "application/*" => 1,
            _ => 0,
        };
        let encoding = if stars > 0 { Some(Encoding::Json) } else { Encoding::named(type_) };
        let mut clause = Self { encoding, is_stream: false, quality: 1.0, stars, transform: None };
        for (name, value) in parts.filter_map(|part| part.split_once('=')) {
            let mut transform = |place: usize| clause.transform.get_or_insert_default()[place] = value;
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

    /// What is accepted more and says more comes first.
    fn rank(&self) -> f64 {
        -self.quality * 4.0 + f64::from(self.stars)
    }

    /// What it is written in, if that can be: there are no streams of YAML.
    fn written(&self) -> Option<Encoding> {
        self.encoding.filter(|encoding| !self.is_stream || *encoding != Encoding::Yaml)
    }

    /// The form it asks for, if there is one. Custom objects and tables are not written in protobuf.
    fn form(&self, is_custom: bool) -> Option<(Representation, Encoding)> {
        let encoding = self.written()?;
        let form = self.transformed()?;
        let has_no_protobuf = matches!(form, Representation::Table(_)) || is_custom && form == Representation::Object;
        (encoding != Encoding::Protobuf || !has_no_protobuf).then_some((form, encoding))
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
            "Table" => Some(Representation::Table(Style { version, include: Include::Metadata })),
            "PartialObjectMetadata" => Some(Representation::Metadata(version)),
            "PartialObjectMetadataList" => Some(Representation::MetadataList(version)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(accept: &str) -> Option<Representation> {
        Some(negotiate(accept, &Query::parse("includeObject=None"), false).ok()?.0)
    }

    #[test]
    fn the_form_that_is_accepted_most_is_sent() {
        let table = Representation::Table(Style { version: MetaVersion::V1, include: Include::Nothing });
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
            assert_eq!(form(accept), expected, "{accept}");
        }
    }

    #[test]
    fn what_is_accepted_says_how_it_is_written() {
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
    fn tables_go_by_the_query() {
        let accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
        let refusal = negotiate(accept, &Query::parse("includeObject=Some"), true).unwrap_err().message();
        assert!(refusal.starts_with("Unable to convert to Table as requested: includeObject"), "{refusal}");
    }
}

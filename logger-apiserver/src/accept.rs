//! What a client accepts, and which form of the objects it gets

use crate::status::{Refusal, Result};

/// How much of objects is sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Form {
    Whole,
    /// `PartialObjectMetadata`.
    Metadata,
}

/// The form for an `Accept` header: of the first that can be sent. A Table cannot yet, and is passed over for what else is
/// accepted; who accepts nothing else gets whole objects.
pub(crate) fn negotiate(accept: &str, is_custom: bool) -> Result<Form> {
    if accept.trim().is_empty() {
        return Ok(Form::Whole);
    }
    let clauses = || accept.split(',').map(Clause::parse).filter(|clause| clause.is_json);
    if let Some(form) = clauses().find_map(|clause| clause.form()) {
        return Ok(form);
    }
    if clauses().any(|clause| clause.transform == "Table") {
        return Ok(Form::Whole);
    }
    let is_plain = clauses().next().is_none() && !is_custom;
    Err(if is_plain { Refusal::not_representable() } else { Refusal::not_acceptable() })
}

/// One of the types that are accepted.
struct Clause<'a> {
    is_json: bool,
    /// What objects are to be made into.
    transform: &'a str,
}

impl<'a> Clause<'a> {
    fn parse(clause: &'a str) -> Self {
        let mut parts = clause.split(';').map(str::trim);
        let is_json = matches!(parts.next(), Some("*/*" | "application/*" | "application/json"));
        let transform = parts.find_map(|part| part.strip_prefix("as=")).unwrap_or_default();
        Self { is_json, transform }
    }

    fn form(&self) -> Option<Form> {
        match self.transform {
            "" => Some(Form::Whole),
            "PartialObjectMetadata" | "PartialObjectMetadataList" => Some(Form::Metadata),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_form_that_can_be_sent_is() {
        let form = |accept| negotiate(accept, false).ok();
        assert_eq!(form(""), Some(Form::Whole));
        assert_eq!(form("text/xml, application/json;q=0.5"), Some(Form::Whole));
        assert_eq!(form("application/json;as=Table;v=v1;g=meta.k8s.io,application/json"), Some(Form::Whole));
        assert_eq!(
            form("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"),
            Some(Form::Metadata)
        );
        assert_eq!(form("text/xml"), None);
        assert_eq!(form("application/json;as=Chart"), None);
    }
}

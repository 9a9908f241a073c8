//! Permissions for signers: rejects approvals and certificates of users who may not act for the signer of a request, as
//! the admission plugins `CertificateApproval` and `CertificateSigning`.

use serde_json::Value;

use crate::{
    api::{
        endpoint::Endpoint,
        error::{ApiError, Result},
        object::Object,
    },
    authorization::attributes::Attributes,
    handlers::request::ResourceRequest,
    storage::state::State,
};

/// Checks an update of `/approval` or `/status` of a certificate signing request. Other updates are not checked.
pub(super) fn check(state: &mut State, request: &ResourceRequest, new: &Object, old: &Object) -> Result<()> {
    if !request.kind.strategy.has_approval || !state.rbac {
        return Ok(());
    }
    let is_changed = ["status.certificate", "status.conditions"].iter().any(|path| new.field(path) != old.field(path));
    let verb = match request.endpoint {
        Endpoint::Approval => "approve",
        Endpoint::Status if is_changed => "sign",
        _ => return Ok(()),
    };
    let signer = old.field("spec.signerName").and_then(Value::as_str).unwrap_or_default();
    if is_granted(state, request, verb, signer) {
        return Ok(());
    }
    let message = format!("user not permitted to {verb} requests with signerName {signer:?}");
    Err(ApiError::forbidden(&request.kind, old.name(), &message))
}

/// Returns whether the user has a verb for a signer, or for all signers of its domain.
fn is_granted(state: &mut State, request: &ResourceRequest, verb: &str, signer: &str) -> bool {
    let domain = signer.split('/').next().unwrap_or_default();
    let attributes = |name: String| Attributes {
        verb: verb.to_owned(),
        group: request.kind.group.clone(),
        resource: "signers".to_owned(),
        name,
        ..Attributes::default()
    };
    let wildcard = attributes(format!("{domain}/*"));
    state.authorize(&request.user, &attributes(signer.to_owned())).allowed
        || state.authorize(&request.user, &wildcard).allowed
}

//! Evaluates the ValidatingAdmissionPolicies of a write.

use std::sync::Arc;

use kubewright_crd::policy::{DenialReason, PolicyKind, Request, ValidatingPolicy};
use serde_json::Value;

use super::{
    admission::Admission,
    authorizer::RoleAuthorizer,
    bindings::{configurations, name, of_policy, param_kind, params},
    matching::matches,
};
use crate::{
    api::error::{ApiError, Result},
    controllers::controlled_state::ControlledState,
    resource::registry::Resource,
};

/// Denies a write, or adds warnings to it, as the policies that apply to it specify.
///
/// # Errors
/// A policy denies the request.
pub(super) fn validate(state: &ControlledState, admission: &Admission<'_>) -> Result<()> {
    if !admission.is_admitted() {
        return Ok(());
    }
    let policies = configurations(state, "validatingadmissionpolicies", PolicyKind::Validating.name());
    if policies.is_empty() {
        return Ok(());
    }
    let bindings = configurations(state, "validatingadmissionpolicybindings", PolicyKind::Validating.binding_name());
    let mut denied = None;
    for policy in &policies {
        let bindings: Vec<&Value> = of_policy(&bindings, policy).collect();
        let found = Evaluation { state, admission, policy }.evaluate(&bindings)?;
        denied = denied.or(found);
    }
    match denied {
        None => Ok(()),
        Some(Denied { message, reason }) => {
            Err(ApiError::denied_by_policy(admission.kind(), admission.displayed_name(), &message, reason))
        }
    }
}

/// The first denial of a policy.
struct Denied {
    message: String,
    reason: DenialReason,
}

/// The evaluation of one policy.
struct Evaluation<'a> {
    state: &'a ControlledState,
    admission: &'a Admission<'a>,
    policy: &'a Value,
}

impl Evaluation<'_> {
    fn evaluate(&self, bindings: &[&Value]) -> Result<Option<Denied>> {
        let kind = match matches(self.state, self.admission, &self.policy["spec"]["matchConstraints"]) {
            Ok(None) => return Ok(None),
            Ok(Some(kind)) => kind,
            Err(error) => return Ok(self.misconfigured(None, &error)),
        };
        if bindings.is_empty() {
            return Ok(None);
        }
        let param_kind = match param_kind(self.state, self.admission.request, self.policy) {
            Ok(param_kind) => param_kind,
            Err(error) => return Ok(self.misconfigured(None, &error)),
        };
        let compiled = ValidatingPolicy::from_accepted(self.policy);
        let mut denied = None;
        for binding in bindings {
            let found = self.evaluate_binding(binding, &kind, param_kind.as_deref(), &compiled)?;
            denied = denied.or(found);
        }
        Ok(denied)
    }

    fn evaluate_binding(
        &self,
        binding: &Value,
        kind: &Arc<Resource>,
        param_kind: Option<&Resource>,
        compiled: &ValidatingPolicy,
    ) -> Result<Option<Denied>> {
        let Self { state, admission, .. } = self;
        let resources = &binding["spec"]["matchResources"];
        let matched = match resources.is_null() {
            true => Ok(true),
            false => matches(state, admission, resources).map(|kind| kind.is_some()),
        };
        match matched {
            Ok(false) => return Ok(None),
            Ok(true) => {}
            Err(error) => return Ok(self.misconfigured(Some(binding), &error)),
        }
        let params = match params(state, admission, param_kind, binding) {
            Ok(params) => params,
            Err(error) => return Ok(self.misconfigured(Some(binding), &error)),
        };
        let object = admission.object_in(admission.object, kind)?;
        let old_object = admission.object_in(admission.old, kind)?;
        let (attributes, namespace) = (admission.attributes(kind), admission.namespace_object(state)?);
        let authorizer = RoleAuthorizer { state, user: &admission.request.user };
        let mut denied = None;
        for params in &params {
            let outcome = compiled.validate(&Request {
                object: &object,
                old_object: &old_object,
                request: &attributes,
                params,
                namespace: &namespace,
                authorizer: Some(&authorizer),
            });
            for denial in outcome.denials {
                let found = self.act(binding, denial.message, denial.reason);
                denied = denied.or(found);
            }
            for error in outcome.audit_errors {
                denied = denied.or(Some(self.denied(Some(binding), &error, DenialReason::Invalid)));
            }
        }
        Ok(denied)
    }

    /// Performs the actions of a binding on a request that fails a validation.
    fn act(&self, binding: &Value, message: String, reason: DenialReason) -> Option<Denied> {
        let actions = binding["spec"]["validationActions"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let mut denied = None;
        for action in actions {
            match action {
                "Deny" => denied = Some(self.denied(Some(binding), &message, reason)),
                "Warn" => self.admission.request.warnings.lock().push(format!(
                    "Validation failed for ValidatingAdmissionPolicy '{}' with binding '{}': {message}",
                    name(self.policy),
                    name(binding)
                )),
                _ => {}
            }
        }
        denied
    }

    /// Returns the denial for a policy that cannot be evaluated, unless its failures are ignored.
    fn misconfigured(&self, binding: Option<&Value>, error: &str) -> Option<Denied> {
        let what = if binding.is_some() { "binding" } else { "policy" };
        let is_ignored = self.policy["spec"]["failurePolicy"] == "Ignore";
        let message = format!("failed to configure {what}: {error}");
        (!is_ignored).then(|| self.denied(binding, &message, DenialReason::Invalid))
    }

    fn denied(&self, binding: Option<&Value>, message: &str, reason: DenialReason) -> Denied {
        let binding = binding.map(|binding| format!(" with binding '{}'", name(binding))).unwrap_or_default();
        let policy = name(self.policy);
        Denied { message: format!("ValidatingAdmissionPolicy '{policy}'{binding} denied request: {message}"), reason }
    }
}

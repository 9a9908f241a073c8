//! Evaluates the MutatingAdmissionPolicies of a write, and changes its object.

use std::sync::Arc;

use kubewright_crd::policy::{MutatingPolicy, Patch, PolicyKind, Request};
use serde_json::{Map, Value};

use super::{
    admission::{Admission, converted},
    authorizer::RoleAuthorizer,
    bindings::{configurations, name, of_policy, param_kind, params},
    matching::matches,
};
use crate::{
    api::{
        depth,
        error::{ApiError, Result},
        object::Object,
    },
    controllers::controlled_state::ControlledState,
    handlers::decode,
    resource::{managed_fields, patch, registry::Resource},
};

/// Returns the object of a write after the policies that apply to it; `None` if they do not change it.
///
/// # Errors
/// The evaluation of a policy fails, and its failures are not ignored.
pub(super) fn mutate(state: &ControlledState, admission: &Admission<'_>) -> Result<Option<Object>> {
    let Some(object) = admission.object.filter(|_| admission.is_admitted()) else { return Ok(None) };
    let policies = configurations(state, "mutatingadmissionpolicies", PolicyKind::Mutating.name());
    if policies.is_empty() {
        return Ok(None);
    }
    let bindings = configurations(state, "mutatingadmissionpolicybindings", PolicyKind::Mutating.binding_name());
    let mut run = Run { state, admission, current: object.clone(), errors: Vec::new() };
    let invocations = run.invocations(&policies, &bindings);
    let mut reinvoked = Vec::new();
    for invocation in &invocations {
        if run.invoke(invocation)? && invocation.compiled.is_reinvoked() {
            reinvoked.push(invocation);
        }
    }
    // A change reinvokes every policy that allows it, once.
    if run.current != *object {
        for invocation in reinvoked {
            run.invoke(invocation)?;
        }
    }
    if let Some(error) = ApiError::denied_by_policies(admission.kind(), admission.displayed_name(), &run.errors) {
        return Err(error);
    }
    Ok((run.current != *object).then_some(run.current))
}

/// A policy with a binding and one of its parameters.
struct Invocation<'a> {
    policy: &'a Value,
    binding: &'a Value,
    compiled: Arc<MutatingPolicy>,
    params: Value,
    /// The version in which the policy sees the object.
    kind: Arc<Resource>,
}

/// The evaluation of all policies of a write.
struct Run<'a> {
    state: &'a ControlledState,
    admission: &'a Admission<'a>,
    /// The object after the mutations so far, in the version of the request.
    current: Object,
    errors: Vec<String>,
}

impl<'a> Run<'a> {
    /// Returns the invocations of the policies that match the request, in the order of their names.
    fn invocations(&mut self, policies: &'a [Value], bindings: &'a [Value]) -> Vec<Invocation<'a>> {
        let mut invocations = Vec::new();
        for policy in policies {
            let kind = match matches(self.state, self.admission, &policy["spec"]["matchConstraints"]) {
                Ok(None) => continue,
                Ok(Some(kind)) => kind,
                Err(error) => {
                    self.misconfigured(policy, None, &error);
                    continue;
                }
            };
            let param_kind = match param_kind(self.state, self.admission.request, policy) {
                Ok(param_kind) => param_kind,
                Err(error) => {
                    self.misconfigured(policy, None, &error);
                    continue;
                }
            };
            let compiled = Arc::new(MutatingPolicy::from_accepted(policy));
            for binding in of_policy(bindings, policy) {
                match self.params(param_kind.as_deref(), binding) {
                    Ok(params) => invocations.extend(params.into_iter().map(|params| Invocation {
                        policy,
                        binding,
                        compiled: compiled.clone(),
                        params,
                        kind: kind.clone(),
                    })),
                    Err(error) => self.misconfigured(policy, Some(binding), &error),
                }
            }
        }
        invocations
    }

    /// Returns the parameters of a binding; none if it does not match the request.
    fn params(&self, kind: Option<&Resource>, binding: &Value) -> Result<Vec<Value>, String> {
        let resources = &binding["spec"]["matchResources"];
        if !resources.is_null() && matches(self.state, self.admission, resources)?.is_none() {
            return Ok(Vec::new());
        }
        params(self.state, self.admission, kind, binding)
    }

    /// Evaluates the mutations of a policy in order. Returns whether its match conditions hold.
    fn invoke(&mut self, invocation: &Invocation<'_>) -> Result<bool> {
        let Invocation { compiled, kind, .. } = invocation;
        let (state, admission) = (self.state, self.admission);
        let old_object = admission.object_in(admission.old, kind)?;
        let (attributes, namespace) = (admission.attributes(kind), admission.namespace_object(state)?);
        let authorizer = RoleAuthorizer { state, user: &admission.request.user };
        let before = admission.object_in(Some(&self.current), kind)?;
        let mut object = before.clone();
        for index in 0..compiled.len() {
            let request = Request {
                object: &object,
                old_object: &old_object,
                request: &attributes,
                params: &invocation.params,
                namespace: &namespace,
                authorizer: Some(&authorizer),
            };
            if index == 0 {
                match compiled.matches(&request) {
                    Ok(true) => {}
                    Ok(false) => return Ok(false),
                    Err(error) => {
                        self.failed(invocation, &error);
                        return Ok(false);
                    }
                }
            }
            match compiled.mutate(index, &request).and_then(|patch| patched(kind, &object, patch)) {
                Ok(mutated) => object = mutated,
                Err(error) => self.failed(invocation, &error),
            }
        }
        if object != before {
            let mutated = decode::merged(kind, object, &Value::Null)?;
            self.current = converted(&mutated, kind, admission.kind())?.into_owned();
        }
        Ok(true)
    }

    fn failed(&mut self, invocation: &Invocation<'_>, error: &str) {
        if !invocation.compiled.ignores_failures() {
            let (policy, binding) = (name(invocation.policy), name(invocation.binding));
            self.errors.push(format!("policy '{policy}' with binding '{binding}' denied request: {error}"));
        }
    }

    fn misconfigured(&mut self, policy: &Value, binding: Option<&Value>, error: &str) {
        if policy["spec"]["failurePolicy"] == "Ignore" {
            return;
        }
        let policy = name(policy);
        self.errors.push(match binding {
            Some(binding) => {
                let binding = name(binding);
                let detail = format!("failed to configure binding: {error}");
                format!("policy '{policy}' with binding '{binding}' denied request: {detail}")
            }
            None => format!("policy {policy:?} denied request: failed to configure policy: {error}"),
        });
    }
}

/// Returns the object after a patch. A JSON patch with a failed test changes nothing.
fn patched(kind: &Resource, object: &Value, patch: Patch) -> Result<Value, String> {
    match patch {
        Patch::Json(operations) => {
            let mut changed = object.clone();
            let applied = patch::apply_operations(operations, &mut changed);
            let is_applied = applied.map_err(|error| format!("JSON Patch: {}", error.message()))?;
            Ok(if is_applied { changed } else { object.clone() })
        }
        Patch::Apply(fields) => {
            let mut applied: Map<String, Value> = fields;
            applied.insert("apiVersion".to_owned(), kind.api_version().into());
            applied.insert("kind".to_owned(), kind.kind.clone().into());
            let merged = managed_fields::merge_unowned(kind, object, &Value::Object(applied))
                .map_err(|error| format!("error applying patch: {error}"))?;
            match depth::of_object(&merged) > depth::MAX_DEPTH {
                true => Err("error applying patch: the object is nested too deep".to_owned()),
                false => Ok(merged),
            }
        }
    }
}

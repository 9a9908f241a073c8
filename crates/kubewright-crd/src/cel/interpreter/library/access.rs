//! Functions of the authorizer, and of the checks and decisions that it leads to.

use std::rc::Rc;

use kubewright_names::validation::{is_dns_1123_label, is_dns_1123_subdomain};

use crate::cel::interpreter::{
    access::{AccessSubject, AccessTarget, AccessValue, Principal, ResourceTarget},
    value::{EvalError, EvalResult, Value},
};

pub(super) fn call<'a>(function: &str, args: &[Value<'a>]) -> Option<EvalResult<Value<'a>>> {
    let [Value::Access(access), rest @ ..] = args else { return None };
    let texts = rest.iter().map(|arg| match arg {
        Value::String(text) => Some(&**text),
        _ => None,
    });
    let texts: Vec<&str> = texts.collect::<Option<_>>()?;
    match &**access {
        AccessValue::Authorizer(principal) => call_on_authorizer(function, principal, &texts),
        AccessValue::Group(principal, group) => call_on_group(function, principal, group, &texts),
        AccessValue::Path(principal, path) => match (function, texts.as_slice()) {
            ("check", [verb]) => Some(Ok(check(principal, verb, AccessTarget::Path(path.clone())))),
            _ => None,
        },
        AccessValue::Resource(principal, target) => call_on_resource(function, principal, target, &texts),
        AccessValue::Decision(decision) => Some(Ok(match (function, texts.as_slice()) {
            ("allowed", []) => Value::Bool(decision.allowed),
            ("reason", []) => Value::string(&decision.reason),
            ("errored", []) => Value::Bool(decision.error.is_some()),
            ("error", []) => Value::string(decision.error.as_deref().unwrap_or_default()),
            _ => return None,
        })),
    }
}

fn value<'a>(access: AccessValue<'a>) -> Value<'a> {
    Value::Access(Rc::new(access))
}

fn check<'a>(principal: &Principal<'a>, verb: &str, target: AccessTarget) -> Value<'a> {
    value(AccessValue::Decision(principal.check(verb, target)))
}

fn call_on_authorizer<'a>(function: &str, principal: &Principal<'a>, texts: &[&str]) -> Option<EvalResult<Value<'a>>> {
    Some(match (function, texts) {
        ("path", [path]) if path.trim().is_empty() => Err(EvalError::new("path must not be empty")),
        ("path", [path]) => Ok(value(AccessValue::Path(principal.clone(), (*path).to_owned()))),
        ("group", [group]) => Ok(value(AccessValue::Group(principal.clone(), (*group).to_owned()))),
        ("serviceAccount", [_, name]) if !is_dns_1123_subdomain(name) => {
            Err(EvalError::new("Invalid service account name"))
        }
        ("serviceAccount", [namespace, _]) if !is_dns_1123_label(namespace) => {
            Err(EvalError::new("Invalid service account namespace"))
        }
        ("serviceAccount", [namespace, name]) => {
            let subject =
                AccessSubject::ServiceAccount { namespace: (*namespace).to_owned(), name: (*name).to_owned() };
            Ok(value(AccessValue::Authorizer(Principal { authorizer: principal.authorizer, subject })))
        }
        _ => return None,
    })
}

fn call_on_group<'a>(
    function: &str,
    principal: &Principal<'a>,
    group: &str,
    texts: &[&str],
) -> Option<EvalResult<Value<'a>>> {
    match (function, texts) {
        ("resource", [resource]) if resource.trim().is_empty() => {
            Some(Err(EvalError::new("resource must not be empty")))
        }
        ("resource", [resource]) => {
            let target = ResourceTarget {
                group: group.to_owned(),
                resource: (*resource).to_owned(),
                ..ResourceTarget::default()
            };
            Some(Ok(value(AccessValue::Resource(principal.clone(), target))))
        }
        _ => None,
    }
}

fn call_on_resource<'a>(
    function: &str,
    principal: &Principal<'a>,
    target: &ResourceTarget,
    texts: &[&str],
) -> Option<EvalResult<Value<'a>>> {
    let [text] = texts else { return None };
    let mut target = target.clone();
    let field = match function {
        "check" => return Some(Ok(check(principal, text, AccessTarget::Resource(target)))),
        "subresource" => &mut target.subresource,
        "namespace" => &mut target.namespace,
        "name" => &mut target.name,
        "fieldSelector" => &mut target.field_selector,
        "labelSelector" => &mut target.label_selector,
        _ => return None,
    };
    (*text).clone_into(field);
    Some(Ok(value(AccessValue::Resource(principal.clone(), target))))
}

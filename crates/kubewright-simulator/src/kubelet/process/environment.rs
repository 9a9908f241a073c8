//! The environment variables of containers: values, references to other variables, and the downward API.

use k8s_openapi::api::core::v1::{EnvVar, Pod};
use kube::ResourceExt;

use super::{ProcessError, volumes::Mounts};
use crate::kubelet::lifecycle::Start;

/// Returns the variables of a container in their order. Paths of mounts are replaced.
pub(super) fn variables(start: &Start<'_>, mounts: &Mounts) -> Result<Vec<(String, String)>, ProcessError> {
    let hostname = start.pod.spec.as_ref().and_then(|spec| spec.hostname.clone());
    let mut variables = vec![("HOSTNAME".to_owned(), hostname.unwrap_or_else(|| start.pod.name_any()))];
    for variable in start.container.env.iter().flatten() {
        let value = value(variable, &variables, start)?;
        variables.push((variable.name.clone(), mounts.replace(&value)));
    }
    Ok(variables)
}

fn value(variable: &EnvVar, before: &[(String, String)], start: &Start<'_>) -> Result<String, ProcessError> {
    let Some(source) = &variable.value_from else {
        return Ok(expand(variable.value.as_deref().unwrap_or_default(), before));
    };
    let failed = |reason: String| ProcessError::Variable { name: variable.name.clone(), reason };
    let Some(field) = &source.field_ref else {
        return Err(failed("only `value` and `fieldRef` are implemented".to_owned()));
    };
    field_value(&field.field_path, start).ok_or_else(|| failed(format!("unknown field {:?}", field.field_path)))
}

/// Returns the value of a field of the downward API.
fn field_value(path: &str, start: &Start<'_>) -> Option<String> {
    let pod: &Pod = start.pod;
    let of_map = |prefix: &str| path.strip_prefix(prefix)?.strip_suffix("']");
    if let Some(label) = of_map("metadata.labels['") {
        return Some(pod.labels().get(label).cloned().unwrap_or_default());
    }
    if let Some(annotation) = of_map("metadata.annotations['") {
        return Some(pod.annotations().get(annotation).cloned().unwrap_or_default());
    }
    match path {
        "metadata.name" => Some(pod.name_any()),
        "metadata.namespace" => pod.namespace(),
        "metadata.uid" => pod.uid(),
        "spec.nodeName" => Some(start.node.to_owned()),
        "spec.serviceAccountName" => {
            let account = pod.spec.as_ref().and_then(|spec| spec.service_account_name.clone());
            Some(account.unwrap_or_else(|| "default".to_owned()))
        }
        "status.podIP" | "status.podIPs" => Some(start.pod_ip.to_owned()),
        "status.hostIP" | "status.hostIPs" => Some(start.host_ip.to_owned()),
        _ => None,
    }
}

/// Replaces `$(NAME)` by the value of a variable, and `$$` by `$`. References to unknown variables remain.
pub(super) fn expand(text: &str, variables: &[(String, String)]) -> String {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('$') {
        expanded.push_str(&rest[..start]);
        rest = &rest[start + 1..];
        if let Some(escaped) = rest.strip_prefix('$') {
            expanded.push('$');
            rest = escaped;
            continue;
        }
        let reference = rest.strip_prefix('(').and_then(|name| name.split_once(')'));
        // The last definition of a variable applies.
        let value = reference.and_then(|(name, after)| {
            let (_, value) = variables.iter().rev().find(|(known, _)| known == name)?;
            Some((value, after))
        });
        match value {
            Some((value, after)) => {
                expanded.push_str(value);
                rest = after;
            }
            None => expanded.push('$'),
        }
    }
    expanded.push_str(rest);
    expanded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_expanded() {
        let variables = [("A".to_owned(), "1".to_owned()), ("B".to_owned(), "2".to_owned())];
        for (text, expected) in
            [("x", "x"), ("$(A)-$(B)", "1-2"), ("$$(A)", "$(A)"), ("$(C) $A $(", "$(C) $A $("), ("$", "$")]
        {
            assert_eq!(expand(text, &variables), expected);
        }
    }
}

//! Validation of containers.

use std::collections::BTreeSet;

use kubewright_crd::{names, quantity::Quantity};

use super::{Errors, FieldValue, formats, handlers};

/// Validates the containers in all lists of a pod. Names are unique across the lists.
pub(super) fn all(spec: &FieldValue<'_>, errors: &mut Errors) {
    let containers = spec.at("containers");
    if containers.is_empty() {
        errors.push(containers.required(""));
    }
    let mut names = BTreeSet::new();
    let mut ports = BTreeSet::new();
    for list in ["containers", "initContainers", "ephemeralContainers"] {
        for container in spec.at(list).items() {
            let name = container.at("name");
            if !names.insert(name.text()) {
                errors.push(name.duplicate(format!("{:?}", name.text())));
            }
            validate_container(&container, spec, errors);
            if list == "ephemeralContainers" {
                ephemeral(&container, spec, errors);
            }
            if list == "containers" {
                host_ports(&container, &mut ports, errors);
            }
        }
    }
}

/// Validates what only ephemeral containers must fulfil: they have no fields of services.
fn ephemeral(container: &FieldValue<'_>, spec: &FieldValue<'_>, errors: &mut Errors) {
    const WHY: &str = "cannot be set for an Ephemeral Container";
    let target = container.at("targetContainerName");
    let mut others = ["containers", "initContainers"].into_iter().flat_map(|list| spec.at(list).items());
    if !target.is_empty() && !others.any(|other| other.value["name"] == *target.value) {
        errors.push(target.not_found());
    }
    for name in ["ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules"] {
        errors.extend(Some(container.at(name)).filter(|field| !field.is_empty()).map(|field| field.forbidden(WHY)));
    }
    for name in ["livenessProbe", "readinessProbe", "startupProbe", "lifecycle"] {
        errors.extend(Some(container.at(name)).filter(FieldValue::is_set).map(|field| field.forbidden(WHY)));
    }
    for mount in container.at("volumeMounts").items() {
        for name in ["subPath", "subPathExpr"] {
            errors.extend(Some(mount.at(name)).filter(|field| !field.is_empty()).map(|field| field.forbidden(WHY)));
        }
    }
}

fn validate_container(container: &FieldValue<'_>, spec: &FieldValue<'_>, errors: &mut Errors) {
    required_name(&container.at("name"), errors);
    let image = container.at("image");
    if image.is_empty() {
        errors.push(image.required(""));
    } else if image.text() != image.text().trim() {
        errors.push(image.invalid("must not have leading or trailing whitespace"));
    }
    ports(container, spec.at("hostNetwork").value == true, errors);
    container.at("env").items().for_each(|variable| env_var(&variable, errors));
    mounts(container, spec, errors);
    resources(&container.at("resources"), errors);
    resize_policies(&container.at("resizePolicy"), errors);
    handlers::all(container, errors);
    for id in ["runAsUser", "runAsGroup"].map(|name| container.at("securityContext").at(name)) {
        if id.value.as_i64().is_some_and(|id| !(0..=i64::from(i32::MAX)).contains(&id)) {
            errors.push(id.invalid(format!("must be between 0 and {}, inclusive", i32::MAX)));
        }
    }
}

/// Validates what happens to a container when its resources are resized. Errors refer to the complete list.
fn resize_policies(policies: &FieldValue<'_>, errors: &mut Errors) {
    let mut names = BTreeSet::new();
    for policy in policies.items() {
        let (name, restart) = (policy.at("resourceName"), policy.at("restartPolicy"));
        let of_list = |value| FieldValue { path: policies.path.clone(), value };
        if !names.insert(name.text()) {
            errors.push(of_list(name.value).duplicate(name.value));
        }
        for (field, supported) in [(&name, ["cpu", "memory"]), (&restart, ["NotRequired", "RestartContainer"])] {
            if !supported.contains(&field.text()) {
                errors.push(of_list(field.value).unsupported(&supported));
            }
        }
    }
}

/// Validates a required name: a DNS label.
pub(super) fn required_name(name: &FieldValue<'_>, errors: &mut Errors) {
    if name.is_empty() {
        errors.push(name.required(""));
    }
    errors.extend(name.validate(names::dns_1123_label));
}

fn ports(container: &FieldValue<'_>, is_on_host: bool, errors: &mut Errors) {
    let mut names = BTreeSet::new();
    for port in container.at("ports").items() {
        let (name, container_port, host_port) = (port.at("name"), port.at("containerPort"), port.at("hostPort"));
        errors.extend(name.validate(formats::port_name));
        if !name.is_empty() && formats::port_name(name.text()).is_empty() && !names.insert(name.text()) {
            errors.push(name.duplicate(name.value));
        }
        match container_port.value.as_i64() {
            None | Some(0) => errors.push(container_port.required("")),
            Some(number) if !formats::is_port(number) => errors.push(container_port.invalid(formats::PORT_RANGE)),
            Some(_) => {}
        }
        match host_port.value.as_i64() {
            Some(number) if number != 0 && !formats::is_port(number) => {
                errors.push(host_port.invalid(formats::PORT_RANGE))
            }
            Some(number) if is_on_host && number != 0 && host_port.value != container_port.value => {
                errors.push(host_port.invalid("must match `containerPort` when `hostNetwork` is true"));
            }
            _ => {}
        }
    }
}

/// Validates that host ports are unique.
fn host_ports(container: &FieldValue<'_>, used: &mut BTreeSet<String>, errors: &mut Errors) {
    for port in container.at("ports").items() {
        let host_port = port.at("hostPort");
        let Some(number) = host_port.value.as_i64().filter(|number| *number != 0) else { continue };
        let key = format!("{}/{}/{number}", port.at("protocol").text(), port.at("hostIP").text());
        if !used.insert(key.clone()) {
            errors.push(host_port.duplicate(format!("{key:?}")));
        }
    }
}

fn env_var(variable: &FieldValue<'_>, errors: &mut Errors) {
    let name = variable.at("name");
    if name.is_empty() {
        errors.push(name.required(""));
    }
    errors.extend(name.validate(formats::env_var_name));
    let from = variable.at("valueFrom");
    if !from.is_set() {
        return;
    }
    const SOURCES: [&str; 5] = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"];
    match SOURCES.iter().filter(|source| from.at(source).is_set()).count() {
        0 => errors.push(from.invalid_text(
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
        )),
        _ if !variable.at("value").is_empty() => {
            errors.push(from.invalid_text("may not be specified when `value` is not empty"));
        }
        1 => {}
        _ => errors.push(from.invalid_text("may not have more than one field specified at a time")),
    }
    for key in ["configMapKeyRef", "secretKeyRef"].map(|name| from.at(name)).into_iter().filter(FieldValue::is_set) {
        let name = key.at("name");
        errors.extend(names::dns_1123_subdomain(name.text()).into_iter().map(|detail| name.invalid_text(detail)));
        match key.at("key") {
            key if key.is_empty() => errors.push(key.required("")),
            key => errors.extend(key.validate(formats::config_key)),
        }
    }
    field_ref(&from.at("fieldRef"), errors);
}

fn field_ref(reference: &FieldValue<'_>, errors: &mut Errors) {
    const SUPPORTED: [&str; 9] = [
        "metadata.name",
        "metadata.namespace",
        "metadata.uid",
        "spec.nodeName",
        "spec.serviceAccountName",
        "status.hostIP",
        "status.hostIPs",
        "status.podIP",
        "status.podIPs",
    ];
    let path = reference.at("fieldPath");
    if !reference.is_set() {
    } else if path.is_empty() {
        errors.push(path.required(""));
    } else if !SUPPORTED.contains(&path.text()) && !path.text().contains('[') {
        let detail = format!("error converting fieldPath: field label not supported: {}", path.text());
        errors.push(path.invalid(detail));
    }
}

fn mounts(container: &FieldValue<'_>, spec: &FieldValue<'_>, errors: &mut Errors) {
    let volumes: Vec<&str> = spec.at("volumes").items().map(|volume| volume.at("name").text()).collect();
    let mut paths = BTreeSet::new();
    for mount in container.at("volumeMounts").items() {
        let (name, path) = (mount.at("name"), mount.at("mountPath"));
        if name.is_empty() {
            errors.push(name.required(""));
        } else if !volumes.contains(&name.text()) {
            errors.push(name.not_found());
        }
        if path.is_empty() {
            errors.push(path.required(""));
        }
        if !paths.insert(path.text()) {
            errors.push(path.invalid_text("must be unique"));
        }
    }
}

/// Validates resources: quantities are not negative, and requests do not exceed limits.
fn resources(resources: &FieldValue<'_>, errors: &mut Errors) {
    let limits = resources.at("limits");
    for (list, (resource, amount)) in ["limits", "requests"]
        .into_iter()
        .flat_map(|list| resources.at(list).entries().map(move |entry| (list, entry)).collect::<Vec<_>>())
    {
        resource_name(resource, &amount, errors);
        let Some(quantity) = Quantity::from_json(amount.value) else { continue };
        if quantity.nanos() < 0 {
            errors.push(amount.invalid("must be greater than or equal to 0"));
        }
        let limit = limits.value.get(resource).and_then(Quantity::from_json);
        if list == "requests" && limit.is_some_and(|limit| quantity > limit) {
            let shown = limits.value.get(resource).and_then(serde_json::Value::as_str).unwrap_or_default();
            let requests = FieldValue { path: resources.at("requests").path, value: amount.value };
            errors.push(requests.invalid(format!("must be less than or equal to {resource} limit of {shown}")));
        }
    }
}

fn resource_name(resource: &str, amount: &FieldValue<'_>, errors: &mut Errors) {
    const STANDARD: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];
    if resource.contains('/') || STANDARD.contains(&resource) || resource.starts_with("hugepages-") {
        return;
    }
    for detail in ["must be a standard resource type or fully qualified", "must be a standard resource for containers"]
    {
        errors.push(crate::api::error::FieldError::invalid(&amount.path, format!("{resource:?}"), detail));
    }
}

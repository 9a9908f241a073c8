//! Names of projects, groups, versions and kinds: validation, and the names of modules derived from them.

use kubewright_names::{
    case::snake_case,
    resource::is_camel_case_kind,
    validation::{dns_1035_label, dns_1123_subdomain},
    version::is_version,
};

use super::plan::Problems;

/// The names of Services have at most 63 characters, and the suffix of the Service of the metrics has 35.
const MAX_NAME: usize = 28;

/// Packages that a project depends on: another one of the same name is ambiguous.
const PACKAGES: &[&str] =
    &["alloc", "anyhow", "clap", "core", "k8s-openapi", "serde", "std", "test", "tokio", "xtask", "proc-macro"];

/// Names whose namespace, with the suffix `-system`, is that of Kubernetes or of a widely used program.
const FOREIGN_NAMESPACES: &[&str] = &[
    "arc",
    "calico",
    "capi",
    "cattle",
    "cdi",
    "cnpg",
    "crossplane",
    "dapr",
    "fleet",
    "flux",
    "gatekeeper",
    "gmp",
    "istio",
    "kube",
    "kubeflow",
    "kubevirt",
    "longhorn",
    "metallb",
    "olm",
    "projectcontour",
    "rook",
    "spire",
    "volcano",
];

/// Types in the scope of generated and scaffolded sources.
const TYPES: &[&str] = &[
    "Action",
    "AdmissionRequest",
    "Allow",
    "ApiObject",
    "ApiType",
    "Arc",
    "Box",
    "Client",
    "Clientset",
    "Condition",
    "Controller",
    "Default",
    "Denied",
    "Err",
    "Error",
    "None",
    "ObjectMeta",
    "Ok",
    "Operator",
    "Option",
    "ReconcileContext",
    "Replicas",
    "Result",
    "Self",
    "Setup",
    "Some",
    "String",
    "Validator",
    "Vec",
    "Webhooks",
];

/// The keywords of Rust in lower case, which are no names of modules and packages.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod",
    "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct", "super", "trait", "true",
    "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

pub(super) fn check_project(name: &str, problems: &mut Problems) {
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let starts_with_letter = name.starts_with(|c: char| c.is_ascii_lowercase());
    if name.len() > MAX_NAME || !starts_with_letter || name.ends_with('-') || !name.chars().all(is_allowed) {
        problems.add(format!(
            "invalid name `{name}`: expected up to {MAX_NAME} lowercase letters, digits and `-`, a letter first, no \
             `-` last"
        ));
    } else if PACKAGES.contains(&name) || name.starts_with("kubewright") || KEYWORDS.contains(&name) {
        problems.add(format!("invalid name `{name}`: it is a keyword or a package that the project depends on"));
    } else if FOREIGN_NAMESPACES.contains(&name) {
        problems.add(format!("invalid name `{name}`: the namespace `{name}-system` belongs to another program"));
    }
}

pub(super) fn check_domain(domain: &str, problems: &mut Problems) {
    for error in dns_1123_subdomain(domain) {
        problems.add(format!("invalid domain `{domain}`: {error}"));
    }
    if !domain.contains('.') {
        problems.add(format!("invalid domain `{domain}`: expected a dot, as in `example.com`"));
    }
}

/// Checks a group without its domain. The empty one stands for the domain itself.
pub(super) fn check_group(group: &str, problems: &mut Problems) {
    if group.contains('.') {
        problems.add(format!("invalid group `{group}`: expected one label; the domain of the project is added to it"));
    } else if !group.is_empty() {
        dns_1035_label(group).iter().for_each(|error| problems.add(format!("invalid group `{group}`: {error}")));
    }
}

pub(super) fn check_version(version: &str, problems: &mut Problems) {
    let digit = version.chars().nth(1).is_some_and(|c| c.is_ascii_digit());
    if !version.starts_with('v') || !digit || version.contains('-') || !is_version(version) {
        problems.add(format!("invalid version `{version}`: expected `v1`, `v1beta1` or `v1alpha1`"));
    }
}

pub(super) fn check_kind(kind: &str, problems: &mut Problems) {
    if !is_camel_case_kind(kind) {
        problems.add(format!("invalid kind `{kind}`: expected up to 63 letters and digits in CamelCase"));
    } else if TYPES.contains(&kind) || KEYWORDS.contains(&snake_case(kind).as_str()) {
        problems.add(format!("invalid kind `{kind}`: Rust or the sources of the project use this name"));
    }
}

pub(super) fn check_plural(plural: &str, problems: &mut Problems) {
    if plural.contains('-') {
        problems.add(format!("invalid plural `{plural}`: expected lowercase letters and digits"));
    }
    dns_1035_label(plural).iter().for_each(|error| problems.add(format!("invalid plural `{plural}`: {error}")));
}

/// Returns the module of a version: `apps_v1` for version `v1` of group `apps.example.com`.
pub(super) fn version_module(api_group: &str, version: &str) -> String {
    let label = api_group.split('.').next().unwrap_or_default().replace('-', "_");
    let prefix = if label.starts_with(|c: char| c.is_ascii_digit()) { "group_" } else { "" };
    format!("{prefix}{label}_{version}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(check: impl Fn(&str, &mut Problems), name: &str) -> usize {
        let mut problems = Problems::default();
        check(name, &mut problems);
        problems.0.len()
    }

    #[test]
    fn names_are_validated() {
        for valid in ["my-operator", "a", "operator2"] {
            assert_eq!(problems(check_project, valid), 0, "{valid}");
        }
        for invalid in [
            "",
            "My-operator",
            "a-",
            "2a",
            "a_b",
            "serde",
            "kubewright",
            "match",
            "kube",
            "an-operator-with-a-long-name-",
        ] {
            assert_eq!(problems(check_project, invalid), 1, "{invalid}");
        }
        for (kind, expected) in
            [("Widget", 0), ("HTTPRoute", 0), ("widget", 1), ("My-Kind", 1), ("Type", 1), ("Vec", 1)]
        {
            assert_eq!(problems(check_kind, kind), expected, "{kind}");
        }
        for (version, expected) in [("v1", 0), ("v1beta1", 0), ("1", 1), ("version", 1), ("v1-a", 1), ("V1", 1)] {
            assert_eq!(problems(check_version, version), expected, "{version}");
        }
        for (group, expected) in [("", 0), ("apps", 0), ("apps.example", 1), ("Apps", 1)] {
            assert_eq!(problems(check_group, group), expected, "{group}");
        }
        assert_eq!(problems(check_domain, "example.com"), 0);
        assert_ne!(problems(check_domain, "example"), 0);
        assert_eq!(problems(check_plural, "people"), 0);
        assert_ne!(problems(check_plural, "Widgets"), 0);
    }

    #[test]
    fn versions_are_modules() {
        assert_eq!(version_module("apps.example.com", "v1"), "apps_v1");
        assert_eq!(version_module("my-group.example.com", "v1beta1"), "my_group_v1beta1");
        assert_eq!(version_module("3scale.net", "v1"), "group_3scale_v1");
    }
}

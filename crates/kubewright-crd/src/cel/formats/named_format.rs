//! The named formats of `format.<name>()` and `format.named('<name>')` (`k8s.io/apiserver/pkg/cel/library/format.go`).

use kubewright_names::validation as names;

use super::{base64, regex, time, url};

/// The names of all formats.
pub(crate) const NAMES: [&str; 13] = [
    "dns1123Label",
    "dns1123Subdomain",
    "dns1035Label",
    "qualifiedName",
    "dns1123LabelPrefix",
    "dns1123SubdomainPrefix",
    "dns1035LabelPrefix",
    "labelValue",
    "uri",
    "uuid",
    "byte",
    "date",
    "datetime",
];

/// Validates a text against the named format, and returns the server's error messages.
pub(crate) fn validate(format: &str, text: &str) -> Vec<String> {
    let unless = |holds: bool, message: &str| if holds { Vec::new() } else { vec![message.to_owned()] };
    match format {
        "dns1123Label" => names::dns_1123_label(text),
        "dns1123LabelPrefix" => names::dns_1123_label(&mask_trailing_dash(text)),
        "dns1123Subdomain" => names::dns_1123_subdomain(text),
        "dns1123SubdomainPrefix" => names::dns_1123_subdomain(&mask_trailing_dash(text)),
        "dns1035Label" => names::dns_1035_label(text),
        "dns1035LabelPrefix" => names::dns_1035_label(&mask_trailing_dash(text)),
        "labelValue" => names::label_value(text),
        "qualifiedName" => names::label_key(text),
        "uri" => url::parse(text).err().map(|reason| format!("parse {text:?}: {reason}")).into_iter().collect(),
        "uuid" => unless(is_uuid(text), "does not match the UUID format"),
        "byte" => unless(!text.is_empty() && base64::decode(text).is_some(), "invalid base64"),
        "date" => unless(time::parse_date(text).is_ok(), "invalid date"),
        _ => unless(time::parse_format_date_time(text).is_ok(), "invalid datetime"),
    }
}

/// Replaces the last two characters of a name prefix that ends in a dash (apimachinery's `maskTrailingDash`).
fn mask_trailing_dash(text: &str) -> String {
    match text.strip_suffix('-') {
        Some(rest) if !rest.is_empty() => {
            let start: String = rest.chars().take(rest.chars().count() - 1).collect();
            format!("{start}a")
        }
        _ => text.to_owned(),
    }
}

fn is_uuid(text: &str) -> bool {
    let pattern = "^(?i:[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12})$";
    regex::compile(pattern).is_ok_and(|pattern| pattern.is_match(text))
}

#[cfg(test)]
mod tests {
    use super::validate;

    #[test]
    fn names_have_the_errors_of_the_server() {
        for (format, text) in [
            ("dns1123Label", "a-1"),
            ("dns1123LabelPrefix", "a-"),
            ("dns1123Subdomain", "a.b"),
            ("dns1123SubdomainPrefix", "a.b-"),
            ("dns1035Label", "a1"),
            ("dns1035LabelPrefix", "ab-"),
            ("qualifiedName", "example.com/a_B"),
            ("labelValue", ""),
        ] {
            assert_eq!(validate(format, text), Vec::<String>::new(), "{format} {text}");
        }
        assert_eq!(validate("dns1123Label", "a.b"), ["must not contain dots"]);
        let long = "a".repeat(64);
        assert_eq!(validate("dns1123Label", &long), ["must be no more than 63 characters"]);
        assert_eq!(validate("labelValue", &long), ["must be no more than 63 bytes"]);
        assert_eq!(validate("qualifiedName", "a/")[0], "name part must be non-empty");
        assert_eq!(validate("dns1123SubdomainPrefix", "-").len(), 1);
    }

    #[test]
    fn uuids_may_have_any_case_and_no_dashes() {
        for text in ["123e4567-e89b-12d3-a456-426614174000", "123E4567E89B12D3A456426614174000"] {
            assert_eq!(validate("uuid", text), Vec::<String>::new());
        }
        assert_eq!(validate("uuid", "123e4567"), ["does not match the UUID format"]);
    }
}

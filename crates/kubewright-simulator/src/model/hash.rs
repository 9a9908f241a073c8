//! Hashes of pod templates, as they occur in the names of objects.

use k8s_openapi::api::core::v1::PodTemplateSpec;

/// The characters of hashes: no vowels and no digits that resemble them, as in apimachinery's `SafeEncodeString`.
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// Returns the hash of a template. The collision count distinguishes templates with equal hashes.
pub(crate) fn template_hash(template: &PodTemplateSpec, collision_count: Option<i32>) -> String {
    // A template contains no map with keys that are not strings, so that it can be serialized.
    let mut text = serde_json::to_string(template).unwrap_or_default();
    if let Some(count) = collision_count {
        text.push_str(&count.to_string());
    }
    text_hash(&text)
}

/// Returns the hash of a text: FNV-1a with 32 bits, in safe characters.
pub(crate) fn text_hash(text: &str) -> String {
    let hash = text.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    hash.to_string().bytes().map(|digit| char::from(ALPHABET[usize::from(digit) % ALPHABET.len()])).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn template(image: &str) -> PodTemplateSpec {
        serde_json::from_value(json!({"spec": {"containers": [{"name": "main", "image": image}]}})).unwrap()
    }

    #[test]
    fn hashes_depend_on_the_template_and_the_collision_count() {
        let hash = template_hash(&template("web:1"), None);
        assert_eq!(hash, template_hash(&template("web:1"), None));
        assert_ne!(hash, template_hash(&template("web:2"), None));
        assert_ne!(hash, template_hash(&template("web:1"), Some(1)));
        assert!(hash.bytes().all(|byte| ALPHABET.contains(&byte)) && hash.len() <= 10, "{hash}");
    }
}

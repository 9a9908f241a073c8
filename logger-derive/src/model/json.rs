//! The JSON names and encodings of fields and variants, by the attributes of serde.

use super::serde::SerdeAttrs;

/// The encoding of variants.
pub(crate) enum Tagging {
    External,
    Internal(String),
    Adjacent(String, String),
}

impl SerdeAttrs {
    /// Returns the encoding of the variants of an enum.
    pub(crate) fn tagging(&self) -> Tagging {
        match (self.text("tag"), self.text("content")) {
            (Some(tag), Some(content)) => Tagging::Adjacent(tag, content),
            (Some(tag), None) => Tagging::Internal(tag),
            (None, _) => Tagging::External,
        }
    }

    /// Returns the JSON name of a field of the struct.
    pub(crate) fn field_name(&self, name: &str, field: &SerdeAttrs) -> String {
        field.text("rename").unwrap_or_else(|| field_name(self.text("rename_all").as_deref(), name))
    }

    /// Returns the JSON name of a variant.
    pub(crate) fn variant_name(&self, name: &str, variant: &SerdeAttrs) -> String {
        variant.text("rename").unwrap_or_else(|| variant_name(self.text("rename_all").as_deref(), name))
    }

    /// Returns the JSON name of a field of a variant.
    pub(crate) fn variant_field_name(&self, name: &str, field: &SerdeAttrs, variant: &SerdeAttrs) -> String {
        let rule = variant.text("rename_all").or_else(|| self.text("rename_all_fields"));
        field.text("rename").unwrap_or_else(|| field_name(rule.as_deref(), name))
    }
}

/// Applies a case convention of serde to a field.
pub(crate) fn field_name(rule: Option<&str>, name: &str) -> String {
    match rule {
        Some("UPPERCASE" | "SCREAMING_SNAKE_CASE") => name.to_ascii_uppercase(),
        Some("PascalCase") => capitalized(name),
        Some("camelCase") => with_first(&capitalized(name), |c| c.to_ascii_lowercase()),
        Some("kebab-case") => name.replace('_', "-"),
        Some("SCREAMING-KEBAB-CASE") => name.to_ascii_uppercase().replace('_', "-"),
        _ => name.to_owned(),
    }
}

/// Applies a case convention of serde to a variant.
fn variant_name(rule: Option<&str>, name: &str) -> String {
    match rule {
        Some("lowercase") => name.to_ascii_lowercase(),
        Some("UPPERCASE") => name.to_ascii_uppercase(),
        Some("camelCase") => with_first(name, |c| c.to_ascii_lowercase()),
        Some("snake_case") => words(name),
        Some("SCREAMING_SNAKE_CASE") => words(name).to_ascii_uppercase(),
        Some("kebab-case") => words(name).replace('_', "-"),
        Some("SCREAMING-KEBAB-CASE") => words(name).to_ascii_uppercase().replace('_', "-"),
        _ => name.to_owned(),
    }
}

fn capitalized(name: &str) -> String {
    name.split('_').map(|word| with_first(word, |c| c.to_ascii_uppercase())).collect()
}

fn with_first(text: &str, change: fn(&char) -> char) -> String {
    let mut chars = text.chars();
    chars.next().iter().map(change).chain(chars).collect()
}

/// Separates the words of a name in Pascal case: an underscore in front of every upper-case letter, as serde does it.
fn words(name: &str) -> String {
    let mut words = String::new();
    for (i, c) in name.char_indices() {
        if i > 0 && c.is_uppercase() {
            words.push('_');
        }
        words.push(c.to_ascii_lowercase());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_fields_match_serde() {
        for (rule, expected) in [
            ("lowercase", "max_speed"),
            ("snake_case", "max_speed"),
            ("UPPERCASE", "MAX_SPEED"),
            ("SCREAMING_SNAKE_CASE", "MAX_SPEED"),
            ("PascalCase", "MaxSpeed"),
            ("camelCase", "maxSpeed"),
            ("kebab-case", "max-speed"),
            ("SCREAMING-KEBAB-CASE", "MAX-SPEED"),
        ] {
            assert_eq!(field_name(Some(rule), "max_speed"), expected);
        }
        assert_eq!(field_name(Some("camelCase"), "_reserved"), "reserved");
    }

    #[test]
    fn names_of_variants_match_serde() {
        for (rule, expected) in [
            ("lowercase", "ondisk"),
            ("UPPERCASE", "ONDISK"),
            ("PascalCase", "OnDisk"),
            ("camelCase", "onDisk"),
            ("snake_case", "on_disk"),
            ("SCREAMING_SNAKE_CASE", "ON_DISK"),
            ("kebab-case", "on-disk"),
            ("SCREAMING-KEBAB-CASE", "ON-DISK"),
        ] {
            assert_eq!(variant_name(Some(rule), "OnDisk"), expected);
        }
    }
}

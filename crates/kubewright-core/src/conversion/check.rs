//! The checks of declarations at compile time, in constants that the derive of `Convert` emits on the tokens concerned.
//!
//! Each function panics with the error and its solutions, which rustc reports at the location of the call.

#![allow(clippy::panic, reason = "a panic in a constant is a compile error")]

use super::{
    HubField,
    plan::{HubField as Field, HubVariant},
};

/// Checks that the spoke covers every field of the hub. `covered` contains their Rust names.
#[track_caller]
pub const fn fields(hub: &[Field], covered: &[&str]) {
    let message = Message::new().push("fields of the hub are not covered: ");
    let (message, count) = uncovered(message, hub, covered, "");
    if count > 0 {
        let message = message
            .push(
                "; add a field for each, or list it in `#[convert(..)]` of this type: `store = [..]` stores its value ",
            )
            .push("in an annotation, `default(.. = ..)` also sets it in objects of this version, and ")
            .push("`lost(.. = \"reason\")` accepts the loss");
        panic!("{}", message.text());
    }
}

/// Checks that a variant of the spoke covers every field of its variant of the hub.
#[track_caller]
pub const fn variant_fields(hub: &[Field], variant: &str, covered: &[&str]) {
    let message = Message::new().push("fields of the variant of the hub are not covered: ");
    let (message, count) = uncovered(message, hub, covered, variant);
    if count > 0 {
        let message = message
            .push("; add a field for each, or move the fields of the variant into a struct that derives `Convert`, ")
            .push("where `store = [..]`, `default(.. = ..)` and `lost(.. = \"reason\")` are supported");
        panic!("{}", message.text());
    }
}

/// Adds the fields that are not covered to the message. Those of a variant are named `Variant.field`.
const fn uncovered(mut message: Message, hub: &[Field], covered: &[&str], variant: &str) -> (Message, usize) {
    let (mut i, mut count) = (0, 0);
    while i < hub.len() {
        let name = hub[i].name;
        if is_of_variant(name, variant) && !contains(covered, name) {
            if count > 0 {
                message = message.push(", ");
            }
            message = message.push("`").push(name).push("`");
            count += 1;
        }
        i += 1;
    }
    (message, count)
}

/// Checks the counterparts of a field that is converted. The other arguments describe the field in the spoke.
#[track_caller]
pub const fn pair<Hub: HubField<NAME>, const NAME: u64>(may_be_absent: bool, flatten: bool, has_default: bool) {
    if flatten != Hub::FLATTEN {
        panic!(
            "a flattened field converts only into a flattened field; move its fields, or remove `#[serde(flatten)]` \
             in both versions"
        );
    }
    absence(may_be_absent, Hub::MAY_BE_ABSENT, has_default);
}

/// Checks a field with `store` or `lost`, which the hub may not have.
#[track_caller]
pub const fn stored(may_be_absent: bool, in_hub: Option<bool>, has_default: bool) {
    match in_hub {
        Some(in_hub) => absence(may_be_absent, in_hub, has_default),
        None if !may_be_absent && !has_default => panic!(
            "this field is required, but objects of the hub do not have it; make it an `Option`, or set its value in \
             them with `#[convert(default = ..)]`"
        ),
        None => {}
    }
}

#[track_caller]
const fn absence(in_spoke: bool, in_hub: bool, has_default: bool) {
    if in_spoke && !in_hub && !has_default {
        panic!(
            "this field is optional, but it is required in the hub; set its value in the hub with \
             `#[convert(default = ..)]`, or make it optional there"
        );
    }
    if !in_spoke && in_hub && !has_default {
        panic!(
            "this field is required, but it is optional in the hub; make it an `Option`, or set its value in this \
             version with `#[convert(default = ..)]`"
        );
    }
    if in_spoke && in_hub && has_default {
        panic!("`default` has no effect: the field is optional in both versions; remove it");
    }
    if !in_spoke && !in_hub && has_default {
        panic!("`default` has no effect: the field is required in both versions; remove it");
    }
}

/// Checks a field that is in the hub only.
#[track_caller]
pub const fn hub_only<Hub: HubField<NAME>, const NAME: u64>(has_default: bool) {
    if Hub::FLATTEN {
        panic!("this field is flattened in the hub; add a flattened field to this type, which can have the same type");
    }
    if !Hub::MAY_BE_ABSENT && !has_default {
        panic!(
            "this field is required in the hub, but objects of this version do not have it; set its value in them with \
             `default(.. = ..)` in `#[convert(..)]` of this type"
        );
    }
}

/// Checks that the spoke covers every variant of the hub. `covered` contains their Rust names.
#[track_caller]
pub const fn variants(hub: &[HubVariant], covered: &[&str]) {
    let mut message = Message::new().push("variants of the hub are not covered: ");
    let (mut i, mut count) = (0, 0);
    while i < hub.len() {
        if !contains(covered, hub[i].name) {
            if count > 0 {
                message = message.push(", ");
            }
            message = message.push("`").push(hub[i].name).push("`");
            count += 1;
        }
        i += 1;
    }
    if count > 0 {
        let message = message
            .push("; add a variant for each, or list it on the variant that this version shows in its place: ")
            .push("`#[convert(store = [..])]` stores it in an annotation, `#[convert(lost(.. = \"reason\"))]` accepts ")
            .push("the loss");
        panic!("{}", message.text());
    }
}

/// Checks that the hub has a variant with this Rust name.
#[track_caller]
pub const fn variant(hub: &[HubVariant], name: &str) {
    if find(hub, name).is_none() {
        let message = Message::new()
            .push("the hub has no variant `")
            .push(name)
            .push("`; if it has it under another name, declare that: `#[convert(from = \"..\")]`. If it does not ")
            .push("have it, select the unit variant that stands for it with `from`, and store this one in an ")
            .push("annotation (`store`) or accept the loss (`lost = \"reason\"`)");
        panic!("{}", message.text());
    }
}

/// Returns the JSON name of a variant of the hub, by its Rust name; empty if the hub does not have it, which
/// [`variant`] reports.
pub const fn json_name(hub: &[HubVariant], name: &str) -> &'static str {
    match find(hub, name) {
        Some(i) => hub[i].json,
        None => "",
    }
}

/// Checks that a variant of the hub has no content, as that of the spoke.
#[track_caller]
pub const fn unit_variant(hub: &[HubVariant], name: &str) {
    if let Some(i) = find(hub, name)
        && !hub[i].is_unit
    {
        panic!("this variant has no content, but that of the hub has; use the same content in both versions");
    }
}

const fn find(hub: &[HubVariant], name: &str) -> Option<usize> {
    let mut i = 0;
    while i < hub.len() {
        if equal(hub[i].name, name) {
            return Some(i);
        }
        i += 1;
    }
    None
}

/// Checks that a kind converts into the same kind of its group.
#[track_caller]
pub(super) const fn same_kind(spoke: [&str; 2], hub: [&str; 2]) {
    if !equal(spoke[0], hub[0]) || !equal(spoke[1], hub[1]) {
        panic!("a kind converts into another version of the same kind and group");
    }
}

const fn contains(names: &[&str], name: &str) -> bool {
    let mut i = 0;
    while i < names.len() {
        if equal(names[i], name) {
            return true;
        }
        i += 1;
    }
    false
}

const fn equal(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let mut i = 0;
    while i < left.len() && i < right.len() && left[i] == right[i] {
        i += 1;
    }
    i == left.len() && i == right.len()
}

/// Whether the name of a field is `variant.field`; without a variant, whether it is that of a struct.
const fn is_of_variant(name: &str, variant: &str) -> bool {
    let (name, variant) = (name.as_bytes(), variant.as_bytes());
    if variant.is_empty() {
        let mut i = 0;
        while i < name.len() {
            if name[i] == b'.' {
                return false;
            }
            i += 1;
        }
        return true;
    }
    let mut i = 0;
    while i < name.len() && i < variant.len() && name[i] == variant[i] {
        i += 1;
    }
    i == variant.len() && i < name.len() && name[i] == b'.'
}

/// A text that is composed at compile time.
struct Message {
    bytes: [u8; 1024],
    len: usize,
}

impl Message {
    const fn new() -> Self {
        Message { bytes: [0; 1024], len: 0 }
    }

    /// Appends the text, as far as there is space.
    const fn push(mut self, text: &str) -> Self {
        let text = text.as_bytes();
        let mut i = 0;
        while i < text.len() && self.len < self.bytes.len() {
            self.bytes[self.len] = text[i];
            self.len += 1;
            i += 1;
        }
        self
    }

    const fn text(&self) -> &str {
        match std::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            Err(_) => "the declaration is incomplete",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HUB: &[Field] = &[Field { name: "interval" }, Field { name: "On.level" }, Field { name: "Only.level" }];

    #[test]
    fn fields_are_those_of_the_struct_or_the_variant() {
        fields(HUB, &["interval"]);
        variant_fields(HUB, "On", &["On.level"]);
        variant_fields(HUB, "Other", &[]);
    }

    #[test]
    #[should_panic = "fields of the hub are not covered: `interval`; add a field"]
    fn uncovered_fields_are_named() {
        fields(HUB, &["On.level"]);
    }

    #[test]
    #[should_panic = "not covered: `Only.level`; add a field"]
    fn uncovered_fields_of_variants_are_named() {
        variant_fields(HUB, "Only", &["On.level"]);
    }

    #[test]
    fn texts_are_truncated() {
        let mut message = Message::new();
        for _ in 0..200 {
            message = message.push("0123456789");
        }
        assert_eq!(message.text().len(), 1024);
    }
}

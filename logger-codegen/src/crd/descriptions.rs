//! Descriptions cut to a length, or left out until a definition is small enough.

use serde_json::{Map, Value};

use super::size;

/// Cuts every description of every schema to so many characters; 0 leaves them out.
pub(super) fn cut(crd: &mut Value, longest: usize) {
    for_each(crd, &mut |schema, _| {
        let Some(Value::String(text)) = schema.get_mut("description") else { return };
        match shortened(text, longest) {
            Some(shorter) if shorter.is_empty() => {
                schema.remove("description");
            }
            Some(shorter) => *text = shorter,
            None => {}
        }
    });
}

/// What is left of a text; `None` if it is short enough. It ends with a sentence, else with a word and `...`, else in the
/// middle of the only word.
fn shortened(text: &str, longest: usize) -> Option<String> {
    if text.chars().count() <= longest {
        return None;
    }
    let up_to = |count: usize| text.char_indices().nth(count).map_or(text, |(end, _)| &text[..end]);
    let is_end = |(at, c): &(usize, char)| {
        matches!(c, '.' | '!' | '?') && text[at + 1..].starts_with(|next: char| next.is_whitespace())
    };
    if let Some((end, _)) = up_to(longest).char_indices().rfind(is_end) {
        return Some(text[..=end].to_owned());
    }
    let room = up_to(longest.saturating_sub(3));
    let ends_word = text[room.len()..].starts_with(char::is_whitespace);
    let words = if ends_word { Some(room) } else { room.rfind(char::is_whitespace).map(|end| &room[..end]) };
    match words.map(str::trim_end) {
        Some(words) if !words.is_empty() => Some(format!("{words}...")),
        _ if longest > 3 => Some(format!("{room}...")),
        _ => Some(up_to(longest).to_owned()),
    }
}

/// Leaves out descriptions until the definition has at most so many bytes: the deepest first, of those the longest. Tells
/// how many.
pub(super) fn leave_out(crd: &mut Value, max_bytes: usize) -> usize {
    let mut left_out = 0;
    loop {
        let over = size::applied(crd).saturating_sub(max_bytes);
        if over == 0 {
            return left_out;
        }
        let Some(spared) = shallowest_spared(crd, over) else { return left_out };
        let mut remaining = spared.of_its_own;
        for_each(crd, &mut |schema, depth| {
            let Some(bytes) = schema.get("description").map(size::in_json) else { return };
            let goes = (depth, bytes) > (spared.depth, spared.bytes);
            let is_one_of_many = (depth, bytes) == (spared.depth, spared.bytes) && remaining > 0;
            if goes || is_one_of_many {
                remaining -= usize::from(is_one_of_many);
                schema.remove("description");
                left_out += 1;
            }
        });
    }
}

/// The last descriptions to go: their depth and size, and how many of these.
struct Last {
    depth: usize,
    bytes: usize,
    of_its_own: usize,
}

/// Where to stop, to save so many bytes; `None` if there is no description.
fn shallowest_spared(crd: &mut Value, over: usize) -> Option<Last> {
    const KEY: usize = r#""description":,"#.len();
    let mut all = Vec::new();
    for_each(crd, &mut |schema, depth| all.extend(schema.get("description").map(|text| (depth, size::in_json(text)))));
    all.sort_unstable_by(|a, b| b.cmp(a));
    let mut saved = 0;
    let enough = all.iter().position(|(_, bytes)| {
        saved += bytes + KEY;
        saved >= over
    });
    let last = enough.or(all.len().checked_sub(1))?;
    let (depth, bytes) = *all.get(last)?;
    Some(Last { depth, bytes, of_its_own: all[..=last].iter().filter(|one| **one == (depth, bytes)).count() })
}

/// Visits every schema of every version with its depth, in a stable order.
fn for_each(crd: &mut Value, visit: &mut impl FnMut(&mut Map<String, Value>, usize)) {
    let versions = crd.pointer_mut("/spec/versions").and_then(Value::as_array_mut);
    for version in versions.into_iter().flatten() {
        if let Some(schema) = version.pointer_mut("/schema/openAPIV3Schema") {
            schemas(schema, 0, visit);
        }
    }
}

fn schemas(schema: &mut Value, depth: usize, visit: &mut impl FnMut(&mut Map<String, Value>, usize)) {
    let Some(schema) = schema.as_object_mut() else { return };
    visit(schema, depth);
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.values_mut().for_each(|field| schemas(field, depth + 1, visit));
    }
    for name in ["items", "additionalProperties"] {
        if let Some(inner) = schema.get_mut(name) {
            schemas(inner, depth + 1, visit);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_end_with_a_sentence_else_with_a_word() {
        for (longest, expected) in [
            (100, None),
            (30, Some("One two. Version 1.5 is there.")),
            (29, Some("One two.")),
            (8, Some("One two.")),
            (7, Some("One...")),
            (6, Some("One...")),
            (5, Some("On...")),
            (3, Some("One")),
            (0, Some("")),
        ] {
            let text = "One two. Version 1.5 is there. Three";
            assert_eq!(shortened(text, longest).as_deref(), expected, "{longest}");
        }
        assert_eq!(shortened("Größe über alles", 10).as_deref(), Some("Größe..."));
        assert_eq!(shortened("ÄÖÜÄÖÜÄÖÜ", 5).as_deref(), Some("ÄÖ..."));
        assert_eq!(shortened("", 0), None);
    }

    #[test]
    fn no_text_is_longer_than_asked_for() {
        let text = "Ein Größter; höchst ärgerlich.  Zwei! 日本語 日本語日本語 e.g. this... or\nthat";
        for longest in 0..text.chars().count() {
            let cut = shortened(text, longest).unwrap();
            assert!(cut.chars().count() <= longest, "{longest}: {cut}");
        }
    }

    fn definition() -> Value {
        let leaf = |text: &str| json!({"type": "string", "description": text});
        json!({"spec": {"versions": [{"schema": {"openAPIV3Schema": {
            "type": "object",
            "description": "root",
            "properties": {
                // A field of this name is none of ours.
                "description": leaf("of a field"),
                "list": {"type": "array", "description": "list", "items": {
                    "type": "object", "properties": {"a": leaf("longest of all"), "b": leaf("short"), "c": leaf("short")},
                }},
            },
        }}}]}})
    }

    fn texts(crd: &mut Value) -> Vec<String> {
        let mut texts = Vec::new();
        for_each(crd, &mut |schema, _| {
            texts.extend(schema.get("description").and_then(Value::as_str).map(str::to_owned));
        });
        texts
    }

    #[test]
    fn the_deepest_go_first_and_no_more_than_need_be() {
        let whole = size::applied(&definition());
        for (max_bytes, left) in [
            (whole, &["root", "of a field", "list", "longest of all", "short", "short"][..]),
            (whole - 1, &["root", "of a field", "list", "short", "short"]),
            (whole - 32, &["root", "of a field", "list", "short"]),
            (whole - 60, &["root", "of a field", "list"]),
            (whole - 80, &["root", "list"]),
            (1, &[]),
        ] {
            let mut crd = definition();
            let left_out = leave_out(&mut crd, max_bytes);
            assert_eq!(texts(&mut crd), left, "{}", whole - max_bytes);
            assert_eq!(left_out + left.len(), 6);
            assert!(size::applied(&crd) <= max_bytes || left.is_empty());
        }
        let mut none = definition();
        cut(&mut none, 0);
        assert_eq!(texts(&mut none), [""; 0]);
        assert!(none.pointer("/spec/versions/0/schema/openAPIV3Schema/properties/description").is_some());
    }
}

//! Truncates descriptions to a length, or drops them until a definition is within a size limit.

use serde_json::{Map, Value};

use super::size;

/// Truncates every description of every schema to a number of characters; 0 drops them.
pub(super) fn truncate(crd: &mut Value, max_chars: usize) {
    for_each_schema(crd, &mut |schema, _| {
        let Some(Value::String(text)) = schema.get_mut("description") else { return };
        match truncated(text, max_chars) {
            Some(shorter) if shorter.is_empty() => {
                schema.remove("description");
            }
            Some(shorter) => *text = shorter,
            None => {}
        }
    });
}

/// Returns the truncated text; `None` if it is short enough. It ends with a sentence, or else with a word and `...`, or
/// else within its only word.
fn truncated(text: &str, max_chars: usize) -> Option<String> {
    if text.chars().count() <= max_chars {
        return None;
    }
    let up_to = |count: usize| text.char_indices().nth(count).map_or(text, |(end, _)| &text[..end]);
    let is_end = |(at, c): &(usize, char)| {
        matches!(c, '.' | '!' | '?') && text[at + 1..].starts_with(|next: char| next.is_whitespace())
    };
    if let Some((end, _)) = up_to(max_chars).char_indices().rfind(is_end) {
        return Some(text[..=end].to_owned());
    }
    let room = up_to(max_chars.saturating_sub(3));
    let ends_word = text[room.len()..].starts_with(char::is_whitespace);
    let words = if ends_word { Some(room) } else { room.rfind(char::is_whitespace).map(|end| &room[..end]) };
    match words.map(str::trim_end) {
        Some(words) if !words.is_empty() => Some(format!("{words}...")),
        _ if max_chars > 3 => Some(format!("{room}...")),
        _ => Some(up_to(max_chars).to_owned()),
    }
}

/// Drops descriptions until the definition is within the limit: the deepest first, and the longest first at the same
/// depth. Returns how many.
pub(super) fn drop_deepest(crd: &mut Value, max_bytes: usize) -> usize {
    let mut dropped = 0;
    loop {
        let over = size::annotations(crd).saturating_sub(max_bytes);
        if over == 0 {
            return dropped;
        }
        let Some(last) = last_dropped(crd, over) else { return dropped };
        let mut remaining = last.count;
        for_each_schema(crd, &mut |schema, depth| {
            let Some(bytes) = schema.get("description").map(size::json_len) else { return };
            let is_before_last = (depth, bytes) > (last.depth, last.bytes);
            let is_last = (depth, bytes) == (last.depth, last.bytes) && remaining > 0;
            if is_before_last || is_last {
                remaining -= usize::from(is_last);
                schema.remove("description");
                dropped += 1;
            }
        });
    }
}

/// Depth and size of the last descriptions to drop, and how many of that depth and size.
struct Last {
    depth: usize,
    bytes: usize,
    count: usize,
}

/// Returns the last descriptions to drop to save a number of bytes; `None` if there is no description.
fn last_dropped(crd: &mut Value, over: usize) -> Option<Last> {
    const KEY: usize = r#""description":,"#.len();
    let mut all = Vec::new();
    for_each_schema(crd, &mut |schema, depth| {
        all.extend(schema.get("description").map(|text| (depth, size::json_len(text))))
    });
    all.sort_unstable_by(|a, b| b.cmp(a));
    let mut saved = 0;
    let enough = all.iter().position(|(_, bytes)| {
        saved += bytes + KEY;
        saved >= over
    });
    let last = enough.or(all.len().checked_sub(1))?;
    let (depth, bytes) = *all.get(last)?;
    Some(Last {
        depth,
        bytes,
        count: all[..=last].iter().filter(|description| **description == (depth, bytes)).count(),
    })
}

/// Visits every schema of every version with its depth, in a stable order.
fn for_each_schema(crd: &mut Value, visit: &mut impl FnMut(&mut Map<String, Value>, usize)) {
    let versions = crd.pointer_mut("/spec/versions").and_then(Value::as_array_mut);
    for version in versions.into_iter().flatten() {
        if let Some(schema) = version.pointer_mut("/schema/openAPIV3Schema") {
            visit_schemas(schema, 0, visit);
        }
    }
}

fn visit_schemas(schema: &mut Value, depth: usize, visit: &mut impl FnMut(&mut Map<String, Value>, usize)) {
    let Some(schema) = schema.as_object_mut() else { return };
    visit(schema, depth);
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.values_mut().for_each(|field| visit_schemas(field, depth + 1, visit));
    }
    for name in ["items", "additionalProperties"] {
        if let Some(inner) = schema.get_mut(name) {
            visit_schemas(inner, depth + 1, visit);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_are_truncated_at_sentences_or_words() {
        for (max_chars, expected) in [
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
            assert_eq!(truncated(text, max_chars).as_deref(), expected, "{max_chars}");
        }
        assert_eq!(truncated("Größe über alles", 10).as_deref(), Some("Größe..."));
        assert_eq!(truncated("ÄÖÜÄÖÜÄÖÜ", 5).as_deref(), Some("ÄÖ..."));
        assert_eq!(truncated("", 0), None);
    }

    #[test]
    fn truncated_texts_are_within_the_limit() {
        let text = "Ein Größter; höchst ärgerlich.  Zwei! 日本語 日本語日本語 e.g. this... or\nthat";
        for max_chars in 0..text.chars().count() {
            let text = truncated(text, max_chars).unwrap();
            assert!(text.chars().count() <= max_chars, "{max_chars}: {text}");
        }
    }

    fn definition() -> Value {
        let leaf = |text: &str| json!({"type": "string", "description": text});
        json!({"spec": {"versions": [{"schema": {"openAPIV3Schema": {
            "type": "object",
            "description": "root",
            "properties": {
                // A field named `description` is not a description.
                "description": leaf("of a field"),
                "list": {"type": "array", "description": "list", "items": {
                    "type": "object", "properties": {"a": leaf("longest of all"), "b": leaf("short"), "c": leaf("short")},
                }},
            },
        }}}]}})
    }

    fn texts(crd: &mut Value) -> Vec<String> {
        let mut texts = Vec::new();
        for_each_schema(crd, &mut |schema, _| {
            texts.extend(schema.get("description").and_then(Value::as_str).map(str::to_owned));
        });
        texts
    }

    #[test]
    fn the_deepest_descriptions_are_dropped_first() {
        let complete = size::annotations(&definition());
        for (max_bytes, left) in [
            (complete, &["root", "of a field", "list", "longest of all", "short", "short"][..]),
            (complete - 1, &["root", "of a field", "list", "short", "short"]),
            (complete - 32, &["root", "of a field", "list", "short"]),
            (complete - 60, &["root", "of a field", "list"]),
            (complete - 80, &["root", "list"]),
            (1, &[]),
        ] {
            let mut crd = definition();
            let dropped = drop_deepest(&mut crd, max_bytes);
            assert_eq!(texts(&mut crd), left, "{}", complete - max_bytes);
            assert_eq!(dropped + left.len(), 6);
            assert!(size::annotations(&crd) <= max_bytes || left.is_empty());
        }
        let mut none = definition();
        truncate(&mut none, 0);
        assert_eq!(texts(&mut none), [""; 0]);
        assert!(none.pointer("/spec/versions/0/schema/openAPIV3Schema/properties/description").is_some());
    }
}

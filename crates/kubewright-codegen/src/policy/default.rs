//! The mutation for the default of a field: a JSON patch that adds the field if it is absent.

use kubewright_crd::policy::TypeChecker;

/// The path of a field, as names.
pub(super) struct FieldPath(Vec<String>);

impl FieldPath {
    /// Parses a path such as `spec.size` or `metadata.labels['owner']`.
    pub(super) fn parse(path: &str) -> Option<Self> {
        let mut names = Vec::new();
        let mut rest = path;
        while !rest.is_empty() {
            if let Some(quoted) = rest.strip_prefix("['") {
                let (name, after) = quoted.split_once("']")?;
                names.push(name.to_owned());
                rest = after;
                continue;
            }
            rest = match (rest.strip_prefix('.'), names.is_empty()) {
                (Some(after), false) => after,
                (None, true) => rest,
                _ => return None,
            };
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            if end == 0 {
                return None;
            }
            names.push(rest[..end].to_owned());
            rest = &rest[end..];
        }
        (!names.is_empty() && names.iter().all(|name| !name.is_empty())).then_some(FieldPath(names))
    }

    pub(super) fn names(&self) -> Vec<&str> {
        self.0.iter().map(String::as_str).collect()
    }

    /// The part of the path with this number of names, as it is declared.
    pub(super) fn prefix(&self, length: usize) -> String {
        self.0[..length.min(self.0.len())].join(".")
    }

    /// Returns the expression of the JSON patch. The field is added if its parent exists, and an entry of a map also if
    /// the map is absent.
    pub(super) fn patch(&self, value: &str, types: &TypeChecker) -> String {
        let names = self.names();
        let last = names.len() - 1;
        let add = |path: String, value: &str| format!("[JSONPatch{{op: \"add\", path: {path}, value: {value}}}]");
        let entry = format!("{} ? {} : []", self.absent(last, types), add(self.pointer(last), value));
        if last == 0 || !types.is_map(&names[..last]) {
            return entry;
        }
        let map = add(self.pointer(last - 1), &format!("{{{}: {value}}}", literal(names[last])));
        format!("{} ? {map} : {entry}", self.absent(last - 1, types))
    }

    /// The condition that the field with an index is absent, and that its parents exist.
    fn absent(&self, end: usize, types: &TypeChecker) -> String {
        // Every object has metadata.
        let first = usize::from(self.0[0] == "metadata");
        let parents = (first..end).map(|index| self.exists(index, types));
        let conditions: Vec<String> = parents.chain([format!("!{}", self.exists(end, types))]).collect();
        conditions.join(" && ")
    }

    /// The condition that the field with an index exists.
    fn exists(&self, index: usize, types: &TypeChecker) -> String {
        let name = &self.0[index];
        let parent = self.accessor(index, types);
        match self.is_selected(index, types) {
            true => format!("has({parent}.{name})"),
            false => format!("({} in {parent})", literal(name)),
        }
    }

    /// The expression of the parent of the field with an index.
    fn accessor(&self, index: usize, types: &TypeChecker) -> String {
        (0..index).fold("object".to_owned(), |parent, index| {
            let name = &self.0[index];
            match self.is_selected(index, types) {
                true => format!("{parent}.{name}"),
                false => format!("{parent}[{}]", literal(name)),
            }
        })
    }

    /// Whether the field with an index is selected by its name, rather than by an index.
    fn is_selected(&self, index: usize, types: &TypeChecker) -> bool {
        let name = &self.0[index];
        let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let is_word = starts_well && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let is_keyword = matches!(name.as_str(), "in" | "true" | "false" | "null");
        is_word && !is_keyword && !types.is_map(&self.names()[..index])
    }

    /// The JSON pointer to the field with an index, as a literal.
    fn pointer(&self, index: usize) -> String {
        let escape = |name: &String| name.replace('~', "~0").replace('/', "~1");
        let pointer: String = self.0[..=index].iter().map(|name| format!("/{}", escape(name))).collect();
        literal(&pointer)
    }
}

/// A literal of a text in CEL.
fn literal(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn types() -> TypeChecker {
        let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
            "rotation": {"type": "object", "properties": {"max": {"type": "integer"}}},
            "log-level": {"type": "string"},
        }}}});
        TypeChecker::new(&schema, None)
    }

    fn patch(path: &str) -> String {
        FieldPath::parse(path).unwrap().patch("1", &types())
    }

    #[test]
    fn paths_have_names_and_quoted_names() {
        let names = |path: &str| FieldPath::parse(path).map(|path| path.names().join(" "));
        for (path, expected) in [
            ("spec.size", Some("spec size")),
            ("metadata.labels['example.com/team']", Some("metadata labels example.com/team")),
            ("metadata.labels['a'].b", Some("metadata labels a b")),
            ("", None),
            (".spec", None),
            ("spec..size", None),
            ("spec.", None),
            ("spec[0", None),
        ] {
            assert_eq!(names(path).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn a_field_is_added_if_its_parents_exist() {
        assert_eq!(
            patch("spec.rotation.max"),
            "has(object.spec) && has(object.spec.rotation) && !has(object.spec.rotation.max) ? [JSONPatch{op: \"add\", \
             path: \"/spec/rotation/max\", value: 1}] : []"
        );
    }

    #[test]
    fn an_entry_is_added_to_its_map_or_with_it() {
        assert_eq!(
            patch("metadata.labels['a/b']"),
            "!has(object.metadata.labels) ? [JSONPatch{op: \"add\", path: \"/metadata/labels\", value: {\"a/b\": 1}}] : \
             has(object.metadata.labels) && !(\"a/b\" in object.metadata.labels) ? [JSONPatch{op: \"add\", path: \
             \"/metadata/labels/a~1b\", value: 1}] : []"
        );
    }

    #[test]
    fn a_name_that_is_no_identifier_is_an_index() {
        assert_eq!(
            patch("spec['log-level']"),
            "has(object.spec) && !(\"log-level\" in object.spec) ? [JSONPatch{op: \"add\", path: \"/spec/log-level\", \
             value: 1}] : []"
        );
    }
}

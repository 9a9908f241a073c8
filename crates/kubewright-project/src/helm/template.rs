//! Documents with actions of Helm at typed places, and their YAML.
//!
//! Guarantees:
//! - text of literals is never an action: `{{` in it is escaped;
//! - text of literals keeps its type: what YAML would read as a number, a boolean or null is quoted.

use std::collections::BTreeMap;

use serde_json::Value;

use super::ChartError;

/// A value of a document.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Template {
    /// Text, a number, a boolean or null.
    Scalar(Value),
    /// A scalar that contains actions.
    Expression(String),
    /// A map or a list of the values. An entry without contents is omitted; as an item, it stands for all of its items.
    With(String),
    /// An entry or an item that exists only under a condition.
    If(String, Box<Template>),
    /// A map.
    Map(Map),
    /// A list.
    List(Vec<Template>),
}

/// A map.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Map {
    /// The entries.
    pub(super) entries: BTreeMap<String, Template>,
    /// A map of the values with further entries.
    pub(super) rest: Option<String>,
}

impl From<Value> for Template {
    fn from(value: Value) -> Self {
        match value {
            Value::Object(entries) => Template::map(entries.into_iter().map(|(key, value)| (key, value.into()))),
            Value::Array(items) => Template::List(items.into_iter().map(Template::from).collect()),
            scalar => Template::Scalar(scalar),
        }
    }
}

impl Template {
    /// Creates a map.
    pub(super) fn map(entries: impl IntoIterator<Item = (String, Template)>) -> Self {
        Template::Map(Map { entries: entries.into_iter().collect(), rest: None })
    }

    /// Creates a scalar from the output of a pipeline.
    pub(super) fn pipeline(pipeline: &str) -> Self {
        Template::Expression(format!("{{{{ {pipeline} }}}}"))
    }

    /// Restricts the value to a condition.
    pub(super) fn only_if(self, condition: &str) -> Self {
        Template::If(condition.to_owned(), Box::new(self))
    }

    /// Returns the value at a JSON pointer.
    pub(super) fn at(&mut self, pointer: &str) -> Result<&mut Template, ChartError> {
        let missing = || ChartError::Place { pointer: pointer.to_owned() };
        let mut current = self;
        for step in pointer.split('/').skip(1) {
            let next = match current {
                Template::Map(map) => map.entries.get_mut(step),
                Template::List(items) => step.parse::<usize>().ok().and_then(|index| items.get_mut(index)),
                _ => None,
            };
            current = next.ok_or_else(missing)?;
        }
        Ok(current)
    }

    /// Returns the map at a JSON pointer.
    pub(super) fn map_at(&mut self, pointer: &str) -> Result<&mut Map, ChartError> {
        match self.at(pointer)? {
            Template::Map(map) => Ok(map),
            _ => Err(ChartError::Place { pointer: pointer.to_owned() }),
        }
    }

    /// Returns the list at a JSON pointer.
    pub(super) fn list_at(&mut self, pointer: &str) -> Result<&mut Vec<Template>, ChartError> {
        match self.at(pointer)? {
            Template::List(items) => Ok(items),
            _ => Err(ChartError::Place { pointer: pointer.to_owned() }),
        }
    }

    /// Prints a document of a template.
    pub(super) fn print(&self) -> String {
        let mut printer = Printer { text: String::new(), escapes: true };
        if let Template::Map(map) = self {
            printer.map(0, map);
        }
        printer.text
    }

    /// Prints an entry of a file that is not a template, with this indentation.
    pub(super) fn print_entry(&self, indent: usize, key: &str) -> String {
        let mut printer = Printer { text: String::new(), escapes: false };
        printer.entry(indent, key, self);
        printer.text
    }
}

impl Map {
    /// Adds or replaces an entry.
    pub(super) fn set(&mut self, key: &str, value: Template) {
        self.entries.insert(key.to_owned(), value);
    }
}

struct Printer {
    text: String,
    /// Whether `{{` in literals is escaped.
    escapes: bool,
}

impl Printer {
    fn line(&mut self, indent: usize, line: &str) {
        self.text += &format!("{:indent$}{line}\n", "");
    }

    fn map(&mut self, indent: usize, map: &Map) {
        for (key, value) in &map.entries {
            self.entry(indent, key, value);
        }
        if let Some(rest) = &map.rest {
            self.contents(indent, rest);
        }
    }

    /// Prints the entries or items of a value, if there are any.
    fn contents(&mut self, indent: usize, value: &str) {
        self.line(indent, &format!("{{{{- with {value} }}}}"));
        self.line(indent, &format!("{{{{- toYaml . | nindent {indent} }}}}"));
        self.line(indent, "{{- end }}");
    }

    fn entry(&mut self, indent: usize, key: &str, value: &Template) {
        let name = self.text_scalar(key);
        match value {
            Template::If(condition, value) => {
                self.line(indent, &format!("{{{{- if {condition} }}}}"));
                self.entry(indent, key, value);
                self.line(indent, "{{- end }}");
            }
            Template::With(value) => {
                self.line(indent, &format!("{{{{- with {value} }}}}"));
                self.line(indent, &format!("{name}:"));
                self.line(indent, &format!("  {{{{- toYaml . | nindent {} }}}}", indent + 2));
                self.line(indent, "{{- end }}");
            }
            Template::Map(map) if map.entries.is_empty() && map.rest.is_none() => {
                self.line(indent, &format!("{name}: {{}}"));
            }
            Template::Map(map) => {
                self.line(indent, &format!("{name}:"));
                self.map(indent + 2, map);
            }
            Template::List(items) if items.is_empty() => self.line(indent, &format!("{name}: []")),
            Template::List(items) => {
                self.line(indent, &format!("{name}:"));
                items.iter().for_each(|item| self.item(indent, item));
            }
            Template::Scalar(value) => {
                let value = self.scalar(value);
                self.line(indent, &format!("{name}: {value}"));
            }
            Template::Expression(text) => self.line(indent, &format!("{name}: {text}")),
        }
    }

    fn item(&mut self, indent: usize, item: &Template) {
        match item {
            Template::If(condition, item) => {
                self.line(indent, &format!("{{{{- if {condition} }}}}"));
                self.item(indent, item);
                self.line(indent, "{{- end }}");
            }
            Template::With(value) => self.contents(indent, value),
            Template::Map(map) if map.entries.is_empty() && map.rest.is_none() => self.line(indent, "- {}"),
            Template::List(items) if items.is_empty() => self.line(indent, "- []"),
            Template::Map(map) => self.nested(indent, |printer| printer.map(indent + 2, map)),
            Template::List(items) => {
                self.nested(indent, |printer| items.iter().for_each(|item| printer.item(indent + 2, item)));
            }
            Template::Scalar(value) => {
                let value = self.scalar(value);
                self.line(indent, &format!("- {value}"));
            }
            Template::Expression(text) => self.line(indent, &format!("- {text}")),
        }
    }

    /// Prints an item of several lines after its dash. An action on the first line would remove the dash's line end.
    fn nested(&mut self, indent: usize, print: impl FnOnce(&mut Printer)) {
        let mut inner = Printer { text: String::new(), escapes: self.escapes };
        print(&mut inner);
        let (first, rest) = inner.text.split_once('\n').unwrap_or((inner.text.as_str(), ""));
        match first.trim_start() {
            action if action.starts_with("{{-") => {
                self.line(indent, "-");
                self.text += &inner.text;
            }
            first => {
                self.line(indent, &format!("- {first}"));
                self.text += rest;
            }
        }
    }

    fn scalar(&self, value: &Value) -> String {
        match value {
            Value::String(text) => self.text_scalar(text),
            other => other.to_string(),
        }
    }

    fn text_scalar(&self, text: &str) -> String {
        let text = if is_plain(text) { text.to_owned() } else { quoted(text) };
        if self.escapes { text.replace("{{", "{{ \"{{\" }}") } else { text }
    }
}

/// Returns whether YAML reads the text as itself without quotes.
fn is_plain(text: &str) -> bool {
    const RESERVED: [&str; 9] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_./-".contains(c))
        && !RESERVED.contains(&text.to_ascii_lowercase().as_str())
}

/// Returns the text as a string of JSON, which is one of YAML, too, with every control character and line separator
/// escaped.
fn quoted(text: &str) -> String {
    let escape = |c: char| match c {
        c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}') => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    };
    Value::from(text).to_string().chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn print(value: Value) -> String {
        Template::from(value).print()
    }

    #[test]
    fn literals_keep_their_type_and_text() {
        let value = json!({
            "text": ["plain", "/livez", "1", "true", "No", "null", "", "a: b", "# c", "a\"b", "a\nb\u{85}c", "1e3"],
            "other": [1, 1.5, true, null, {}, [], [["a"], {"b": {"c": []}}]],
            "on": {"0": 1},
        });
        let read: Value = serde_saphyr::from_str(&print(value.clone())).unwrap();
        assert_eq!(read, value);
    }

    #[test]
    fn braces_of_literals_are_escaped() {
        let printed = print(json!({"alert": "{{ $labels.logger }} }}"}));
        assert_eq!(printed, "alert: \"{{ \"{{\" }} $labels.logger }} }}\"\n");
    }

    #[test]
    fn actions_are_printed_at_their_places() {
        let spec = json!({"replicas": 1, "list": [{"a": 1, "b": 2}], "map": {"k": "v"}});
        let mut template = Template::from(json!({"spec": spec}));
        let spec = template.map_at("/spec").unwrap();
        spec.set("replicas", Template::pipeline("int .Values.replicas"));
        spec.set("affinity", Template::With(".Values.affinity".to_owned()));
        template.map_at("/spec/map").unwrap().rest = Some(".Values.map".to_owned());
        let item = template.at("/spec/list/0/a").unwrap();
        *item = item.clone().only_if(".Values.a");
        template.list_at("/spec/list").unwrap().push(Template::With(".Values.list".to_owned()));
        let expected = "\
spec:
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  list:
  -
    {{- if .Values.a }}
    a: 1
    {{- end }}
    b: 2
  {{- with .Values.list }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  map:
    k: v
    {{- with .Values.map }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  replicas: {{ int .Values.replicas }}
";
        assert_eq!(template.print(), expected);
    }

    #[test]
    fn a_missing_place_is_an_error() {
        let error = Template::from(json!({"spec": 1})).map_at("/spec/template").unwrap_err().to_string();
        assert!(error.contains("`/spec/template`"), "{error}");
    }
}

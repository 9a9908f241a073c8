//! `crd check`: validates definitions as the API server does.

use std::process::ExitCode;

use anyhow::{Result, bail};
use kubewright_crd::{
    definition::{lint, validate},
    field::{ErrorType, FieldError},
};
use serde_json::{Value, json};

use super::{
    super::print::print,
    source::{self, Parsed},
};
use crate::crd::rule_report;

/// Options of `crd check`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Check {
    /// Files with definitions, which may contain several documents or a list; `-` is standard input.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<String>,
    /// Exit with 1 for warnings as well.
    #[arg(long)]
    pub strict: bool,
    /// Print a JSON array with an object for each error or warning.
    #[arg(long)]
    pub json: bool,
}

/// A definition, or a file without its definitions, and its errors and warnings.
struct Checked {
    file: String,
    /// The name of the definition; empty for a file.
    name: String,
    crd: Value,
    findings: Vec<FieldError>,
}

impl Checked {
    /// Validates a definition as the API server does. Paths that do not match the schema are additional warnings.
    fn new(file: &str, name: String, crd: Value) -> Self {
        let mut findings = validate(&crd);
        findings.extend(lint(&crd));
        Checked { file: file.to_owned(), name, crd, findings }
    }

    /// Creates the findings about a file.
    fn from_file(file: &str, findings: Vec<FieldError>) -> Self {
        Checked { file: file.to_owned(), name: String::new(), crd: Value::Null, findings }
    }
}

/// Exit codes: 0 the server accepts all of them, 1 it would reject one.
pub(super) fn run(args: &Check) -> Result<ExitCode> {
    let mut checked = Vec::new();
    for file in &args.files {
        checked.extend(check(file, &source::text(file)?)?);
    }
    print(&if args.json { json_report(&checked) } else { text_report(&checked) });
    let fails = |finding: &FieldError| args.strict || finding.is_error();
    Ok(ExitCode::from(u8::from(checked.iter().flat_map(|definition| &definition.findings).any(fails))))
}

/// Checks the text of a file. Text that is not YAML is an error of the file.
fn check(file: &str, text: &str) -> Result<Vec<Checked>> {
    let source = if file == "-" { "standard input" } else { file };
    let Parsed { definitions, warnings } = match source::parse_all(text, source) {
        Ok(parsed) => parsed,
        Err(error) => {
            let error = FieldError::from_field("", ErrorType::BadRequest, None, format!("{error:#}"));
            return Ok(vec![Checked::from_file(file, vec![error])]);
        }
    };
    if definitions.is_empty() {
        bail!("no CustomResourceDefinition in {file}");
    }
    let mut checked = Vec::new();
    if !warnings.is_empty() {
        let warnings =
            warnings.iter().map(|warning| FieldError::from_field("", ErrorType::Warning, None, warning.to_string()));
        checked.push(Checked::from_file(file, warnings.collect()));
    }
    checked.extend(definitions.into_iter().map(|(name, crd)| Checked::new(file, name, crd)));
    Ok(checked)
}

fn errors(count: usize) -> String {
    if count == 1 { "1 error".to_owned() } else { format!("{count} errors") }
}

fn class(finding: &FieldError) -> &'static str {
    if finding.is_error() { "error" } else { "warning" }
}

fn json_report(checked: &[Checked]) -> String {
    let entries = |Checked { file, name, findings, .. }: &Checked| {
        let entry = |finding: &FieldError| {
            json!({
                "file": file,
                "definition": name,
                "class": class(finding),
                "path": finding.field,
                "reason": finding.error_type.cause_type(),
                "message": finding.to_string(),
            })
        };
        findings.iter().map(entry).collect::<Vec<_>>()
    };
    format!("{:#}", Value::from_iter(checked.iter().flat_map(entries)))
}

fn text_report(checked: &[Checked]) -> String {
    let mut text = String::new();
    for Checked { file, name, crd, findings } in checked.iter().filter(|definition| !definition.findings.is_empty()) {
        let describe = |finding: &FieldError| {
            let text = rule_report::describe(crd, finding).replace('\n', "\n           ");
            match finding.error_type {
                // The message of the server has no indexes and no names of properties.
                ErrorType::BadRequest if !finding.field.is_empty() => format!("{}: {text}", finding.field),
                _ => text,
            }
        };
        let line = |finding: &FieldError| format!("  {}  {}\n", class(finding), describe(finding));
        let lines: String = findings.iter().map(line).collect();
        let title = if name.is_empty() { file.clone() } else { format!("{name} in {file}") };
        text += &format!("{title}\n{lines}\n");
    }
    let count = |wanted| {
        let findings = checked.iter().flat_map(|definition| &definition.findings);
        findings.filter(|finding| finding.is_error() == wanted).count()
    };
    let is_rejected = |definition: &&Checked| definition.findings.iter().any(FieldError::is_error);
    let rejected = checked.iter().filter(is_rejected).count();
    // A file that cannot be read counts as one definition.
    let definitions = match checked.iter().filter(|checked| !checked.name.is_empty() || is_rejected(checked)).count() {
        1 => "1 definition".to_owned(),
        many => format!("{many} definitions"),
    };
    let warnings = match count(false) {
        0 => String::new(),
        1 => ", 1 warning".to_owned(),
        many => format!(", {many} warnings"),
    };
    text + &match rejected {
        0 => format!("the API server accepts {definitions}{warnings}"),
        _ => format!("the API server would reject {rejected} of {definitions}: {}{warnings}", errors(count(true))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a definition with this schema.
    fn definition(schema: &str) -> String {
        format!(
            "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: widgets.example.com}}
spec:
  group: example.com
  names: {{kind: Widget, plural: widgets}}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {{openAPIV3Schema: {schema}}}
"
        )
    }

    #[test]
    fn a_rule_error_is_printed_with_its_source_and_a_suggestion() {
        let text = definition(
            "{type: object, properties: {timeInterval: {type: integer}}, x-kubernetes-validations: [{rule: \
             self.time_interval > 0}]}",
        );
        let printed = text_report(&check("widgets.yaml", &text).unwrap());
        let expected = "
           ERROR: <input>:1:5: undefined field 'time_interval'
            | self.time_interval > 0
            | ....^
            = help: did you mean `timeInterval`?
";
        assert!(printed.contains(expected), "{printed}");
    }

    #[test]
    fn errors_and_warnings_are_reported_with_their_file() {
        let good = definition("{type: object, properties: {a: {type: string, format: colour}}}");
        let bad = good.replace("type: string", "type: text").replace("widgets", "things");
        let checked = check("two.yaml", &format!("{good}---{bad}")).unwrap();
        let text = text_report(&checked);
        let expected = "\
widgets.example.com in two.yaml
  warning  unrecognized format \"colour\"

things.example.com in two.yaml
  error  spec.validation.openAPIV3Schema.properties[a].type: Unsupported value: \"text\": supported values: ";
        assert!(text.starts_with(expected), "{text}");
        assert!(text.contains("\n\nthe API server would reject 1 of 2 definitions: 1 error, "), "{text}");
        assert_eq!(text_report(&checked[..1]).lines().last(), Some("the API server accepts 1 definition, 1 warning"));
        let json: Value = serde_json::from_str(&json_report(&checked)).unwrap();
        assert_eq!((&json[0]["class"], &json[1]["reason"]), (&json!("warning"), &json!("FieldValueNotSupported")));
    }

    #[test]
    fn paths_that_do_not_match_the_schema_are_warnings() {
        let columns = "    additionalPrinterColumns: [{name: Size, type: integer, jsonPath: .sice}]\n";
        let text = definition("{type: object, properties: {size: {type: integer}}}") + columns;
        let checked = check("widgets.yaml", &text).unwrap();
        assert!(!checked[0].findings.iter().any(FieldError::is_error));
        let expected = "\
widgets.example.com in widgets.yaml
  warning  spec.versions[0].additionalPrinterColumns[0].jsonPath: `.sice`: the object has no field `sice`; \
                        did you mean `size`?

the API server accepts 1 definition, 1 warning";
        assert_eq!(text_report(&checked), expected);
        let json: Value = serde_json::from_str(&json_report(&checked)).unwrap();
        let path = json!("spec.versions[0].additionalPrinterColumns[0].jsonPath");
        assert_eq!((&json[0]["class"], &json[0]["path"]), (&json!("warning"), &path));
    }

    #[test]
    fn the_findings_about_a_file_have_its_name() {
        let text = definition("{type: object, properties: {a: {type: object, properties: {y: {type: string}}}}}");
        let expected = "\
widgets.yaml
  warning  widgets.yaml:13: `y`: kubectl reads this key as `true`, by the rules of YAML 1.1; quote it

the API server accepts 1 definition, 1 warning";
        assert_eq!(text_report(&check("widgets.yaml", &text).unwrap()), expected);
        let text = text.replace("type: object, properties: {y", "required: [y], properties: {'y'");
        let printed = text_report(&check("widgets.yaml", &text).unwrap());
        let expected = "spec.versions[0].schema.openAPIV3Schema.properties.a.required: CustomResourceDefinition in version \
                        \"v1\" cannot be handled as a CustomResourceDefinition: json: cannot unmarshal bool into Go struct \
                        field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties.required of type string";
        assert!(printed.contains(expected), "{printed}");
        let printed = text_report(&check("widgets.yaml", "a: {{ .Values.a }}\n").unwrap());
        assert!(printed.starts_with("widgets.yaml\n  error  widgets.yaml is a Helm template, not YAML; "), "{printed}");
        assert!(printed.ends_with("the API server would reject 1 of 1 definition: 1 error"), "{printed}");
    }
}

//! `crd check`: definitions from anywhere, by the API server's rules.

use std::process::ExitCode;

use anyhow::{Result, bail};
use logger_crd::check::{Finding, definition};
use serde_json::{Value, json};

use super::definitions::of_file;
use crate::cli::say;

/// Which definitions are checked.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Check {
    /// Files with definitions, which may hold several documents or a list; `-` is the standard input.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<String>,
    /// Exit with 1 for warnings, too.
    #[arg(long)]
    pub strict: bool,
    /// Print a JSON array with an object for each finding.
    #[arg(long)]
    pub json: bool,
}

/// A definition and what is wrong with it.
struct Checked {
    file: String,
    name: String,
    findings: Vec<Finding>,
}

/// Exit codes: 0 the server takes all of them, 1 it would refuse one.
pub(super) fn run(args: &Check) -> Result<ExitCode> {
    let mut checked = Vec::new();
    for file in &args.files {
        let definitions = of_file(file)?;
        if definitions.is_empty() {
            bail!("there is no CustomResourceDefinition in {file}");
        }
        checked.extend(definitions.into_iter().map(|(name, crd)| {
            let findings = definition(&crd);
            Checked { file: file.clone(), name, findings }
        }));
    }
    say(&if args.json { in_json(&checked) } else { in_words(&checked) });
    let fails = |finding: &Finding| args.strict || finding.is_refusal();
    Ok(ExitCode::from(u8::from(checked.iter().flat_map(|of| &of.findings).any(fails))))
}

fn rules(count: usize) -> String {
    if count == 1 { "1 broken rule".to_owned() } else { format!("{count} broken rules") }
}

fn word(finding: &Finding) -> &'static str {
    if finding.is_refusal() { "refused" } else { "warning" }
}

fn in_json(checked: &[Checked]) -> String {
    let of_one = |Checked { file, name, findings }: &Checked| {
        let told = |finding: &Finding| {
            json!({
                "file": file,
                "definition": name,
                "class": word(finding),
                "path": finding.path,
                "reason": finding.reason.name(),
                "message": finding.to_string(),
            })
        };
        findings.iter().map(told).collect::<Vec<_>>()
    };
    format!("{:#}", Value::from_iter(checked.iter().flat_map(of_one)))
}

fn in_words(checked: &[Checked]) -> String {
    let mut text = String::new();
    for Checked { file, name, findings } in checked.iter().filter(|of| !of.findings.is_empty()) {
        let lines: String = findings.iter().map(|finding| format!("  {}  {finding}\n", word(finding))).collect();
        text += &format!("{name} in {file}\n{lines}\n");
    }
    let count = |wanted| {
        let findings = checked.iter().flat_map(|of| &of.findings);
        findings.filter(|finding| finding.is_refusal() == wanted).count()
    };
    let refused = checked.iter().filter(|of| of.findings.iter().any(Finding::is_refusal)).count();
    let of = if checked.len() == 1 { "1 definition".to_owned() } else { format!("{} definitions", checked.len()) };
    let warnings = match count(false) {
        0 => String::new(),
        1 => ", 1 warning".to_owned(),
        many => format!(", {many} warnings"),
    };
    text + &match refused {
        0 => format!("the API server takes {of}{warnings}"),
        _ => format!("the API server would refuse {refused} of {of}: {}{warnings}", rules(count(true))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crd_command::definitions::of_text;

    #[test]
    fn what_would_be_refused_is_told_with_its_file() {
        let good = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {a: {type: string, format: colour}}}}
";
        let bad = good.replace("type: string", "type: text").replace("widgets", "things");
        let definitions = of_text(&format!("{good}---{bad}"), "two.yaml").unwrap();
        let checked: Vec<_> = definitions
            .into_iter()
            .map(|(name, crd)| Checked { file: "two.yaml".to_owned(), name, findings: definition(&crd) })
            .collect();
        let told = in_words(&checked);
        let expected = "\
widgets.example.com in two.yaml
  warning  unrecognized format \"colour\"

things.example.com in two.yaml
  refused  spec.validation.openAPIV3Schema.properties[a].type: Unsupported value: \"text\": supported values: ";
        assert!(told.starts_with(expected), "{told}");
        assert!(told.contains("\n\nthe API server would refuse 1 of 2 definitions: 1 broken rule, "), "{told}");
        assert_eq!(in_words(&checked[..1]).lines().last(), Some("the API server takes 1 definition, 1 warning"));
        let told: Value = serde_json::from_str(&in_json(&checked)).unwrap();
        assert_eq!((&told[0]["class"], &told[1]["reason"]), (&json!("warning"), &json!("FieldValueNotSupported")));
    }
}

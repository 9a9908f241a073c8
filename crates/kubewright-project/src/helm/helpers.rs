//! The named templates of `_helpers.tpl`, and the expressions that include them.

use super::{MARK, template::Template};

/// The names of Services have at most 63 characters, and the suffix of the Service of the metrics has 35.
const MAX_NAME: usize = 28;

/// Expressions of one chart. Named templates of all charts of a release share one space of names.
#[derive(Clone, Copy)]
pub(super) struct Helpers<'a> {
    /// The name of the chart.
    pub(super) chart: &'a str,
}

impl Helpers<'_> {
    /// Returns the name of an object of the release.
    pub(super) fn object(self, name: &str) -> Template {
        Template::Expression(self.object_text(name))
    }

    /// Returns the name of an object of the release, as a part of a text.
    pub(super) fn object_text(self, name: &str) -> String {
        format!("{{{{ include \"{}.fullname\" . }}}}-{name}", self.chart)
    }

    /// Returns the prefix of the names of objects.
    pub(super) fn full_name(self) -> Template {
        self.include("fullname")
    }

    /// Returns the service account of the operator.
    pub(super) fn service_account(self) -> Template {
        self.include("serviceAccountName")
    }

    /// Returns the image of the operator.
    pub(super) fn image(self) -> Template {
        self.include("image")
    }

    /// Returns the name and the version of the chart, for a label.
    pub(super) fn chart_label(self) -> Template {
        self.include("chart")
    }

    fn include(self, template: &str) -> Template {
        Template::pipeline(&format!("include \"{}.{template}\" . | quote", self.chart))
    }

    /// Prints `_helpers.tpl`.
    pub(super) fn file(self, account: &str) -> String {
        let name = format!("trunc {MAX_NAME} | trimSuffix \"-\"");
        let full_name = format!(
            "{{{{- if contains .Chart.Name .Release.Name -}}}}\n\
             {{{{- .Release.Name | replace \".\" \"-\" | {name} -}}}}\n\
             {{{{- else -}}}}\n\
             {{{{- printf \"%s-%s\" .Release.Name .Chart.Name | replace \".\" \"-\" | {name} -}}}}\n\
             {{{{- end -}}}}"
        );
        let account = format!(
            "{{{{- if .Values.serviceAccount.create -}}}}\n\
             {{{{- .Values.serviceAccount.name | default (printf \"%s-{account}\" (include \"{}.fullname\" .)) -}}}}\n\
             {{{{- else -}}}}\n\
             {{{{- .Values.serviceAccount.name | default \"default\" -}}}}\n\
             {{{{- end -}}}}",
            self.chart
        );
        let image = "{{- .Values.image.repository -}}\n\
                     {{- with .Values.image.tag }}:{{ . }}{{ end -}}\n\
                     {{- with .Values.image.digest }}@{{ . }}{{ end -}}";
        let chart = "{{- printf \"%s-%s\" .Chart.Name .Chart.Version | replace \"+\" \"_\" | trunc 63 \
                     | trimSuffix \"-\" -}}";
        let define = |(name, comment, body): (&str, &str, &str)| {
            let chart = self.chart;
            format!("\n{{{{/* {comment} */}}}}\n{{{{- define \"{chart}.{name}\" -}}}}\n{body}\n{{{{- end -}}}}\n")
        };
        let templates = [
            ("fullname", "The prefix of the names of objects.", full_name.as_str()),
            ("serviceAccountName", "The service account of the operator.", account.as_str()),
            ("image", "The image of the operator.", image),
            ("chart", "The name and the version of the chart.", chart),
        ];
        let templates: String = templates.into_iter().map(define).collect();
        format!("{{{{- /* {MARK} */ -}}}}\n{templates}")
    }
}

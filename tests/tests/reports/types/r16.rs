//! Doc comments with characters that YAML treats specially.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{CrdSchema, DeepCopy, Object};
use serde::{Deserialize, Serialize};

/// A case.
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[k8s(scope = "Namespaced")]
pub struct Text {
    pub metadata: ObjectMeta,
    pub spec: TextSpec,
}

#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct TextSpec {
    /// - begins with a dash: and has a colon # and a number sign
    pub a: String,
    /// key: value
    pub b: String,
    /// Ends with a colon:
    pub c: String,
    /// *.example.com and **bold** and &anchor and !tag and %percent and @at and `ticks`
    pub d: String,
    /// > quoted
    /// > twice
    pub e: String,
    /// | a | table |
    /// |---|---|
    /// | 1 | 2 |
    pub f: String,
    /// ```yaml
    /// a:
    ///   - b: "c"   # {{ .Values.d }}
    /// ```
    pub g: String,
    ///   indented by two
    /// and not indented
    pub h: String,
    /// A long line with  two spaces, a word of many characters aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa and   three spaces at the end of the wrapped line.
    pub i: String,
    #[doc = "a tab\there, a next line\u{85}here, a line separator\u{2028}here, a no-break\u{a0}space, \u{1f600}"]
    pub j: String,
    /// ---
    pub k: String,
    /// 'single' and "double" and \backslash
    pub l: String,
    /// 2024-01-01
    pub m: String,
    /// no
    pub n: String,
}

kubewright_core::group_version! { group = "r16.reports.example", version = "v1", kinds = [Text] }

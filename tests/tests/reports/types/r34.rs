//! Markdown that breaks tables.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{CrdSchema, DeepCopy, Object};
use serde::{Deserialize, Serialize};

/// A case.
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[k8s(scope = "Namespaced")]
pub struct Rule {
    pub metadata: ObjectMeta,
    pub spec: RuleSpec,
}

/// The desired state | of a rule <T>.
#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[schema(validation(rule = "self.protocol == 'TCP' ||\nself.port == 0", message = "UDP | SCTP have no port"))]
pub struct RuleSpec {
    /// TCP, UDP or SCTP.
    ///
    /// | name | number |
    /// |------|--------|
    /// | TCP  | 6      |
    ///
    /// ```text
    /// a | b
    /// <c>
    /// ```
    ///
    /// The end of `a|b` and <b>bold</b>.
    #[schema(pattern = "^(TCP|UDP|SCTP)$")]
    pub protocol: String,
    #[serde(default = "lines")]
    pub lines: String,
    #[schema(values = ["a|b", "`c`", "<d>"])]
    pub choice: Option<String>,
    pub port: i32,
}

fn lines() -> String {
    "first|\nsecond `x`".into()
}

kubewright_core::group_version! { group = "r34.reports.example", version = "v1", kinds = [Rule] }

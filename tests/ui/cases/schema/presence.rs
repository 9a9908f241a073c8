//! Errors of keys about the presence of fields, and about other fields.

use kubewright_core::CrdSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, CrdSchema, Serialize)]
struct Spec {
    #[schema(forbidden)]
    required: String,
    #[schema(forbidden, required)]
    both: Option<String>,
    #[schema(dependent_required = [both])]
    always: String,
    #[schema(dependent_required = [required, itself, missing, both, both])]
    itself: Option<String>,
    #[schema(dependent_required = [both], dependent_forbidden = [both])]
    contradiction: Option<String>,
    #[schema(dependent_forbidden = [])]
    empty: Option<String>,
    #[schema(dependent_forbidden = "both")]
    text: Option<String>,
}

fn main() {}

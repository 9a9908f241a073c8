//! Block comments.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{CrdSchema, DeepCopy, Object};
use serde::{Deserialize, Serialize};

/// A case.
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[k8s(scope = "Namespaced")]
pub struct Note {
    pub metadata: ObjectMeta,
    pub spec: NoteSpec,
}

/**
 * The desired state of a note.
 *
 * It has two paragraphs.
 */
#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct NoteSpec {
    /**
     * The text of the note.
     *
     * - may be empty
     * - may have lines
     */
    pub text: String,
    /** One line. */
    pub author: String,
}

kubewright_core::group_version! { group = "r14.reports.example", version = "v1", kinds = [Note] }

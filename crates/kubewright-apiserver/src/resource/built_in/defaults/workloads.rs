//! Generated fields of replication controllers, jobs, stateful sets and daemon sets.

use serde_json::{Value, json};

use super::Fields;
use crate::{
    api::{error::Result, object::Object},
    resource::built_in::rules::CONTROLLER,
};

/// Generates the selector and the labels of a new job from its uid, unless `manualSelector` is set. A job without
/// labels has those of its template, also the generated ones.
pub(in super::super) fn new_job(job: &mut Object) -> Result<()> {
    let has_labels_of_template = job.metadata.labels.is_none();
    if has_labels_of_template {
        let labels = job.field("spec.template.metadata.labels").filter(|labels| labels.is_object());
        job.metadata.labels = labels.and_then(|labels| serde_json::from_value(labels.clone()).ok());
    }
    let (uid, name) = (job.uid().to_owned(), job.name().to_owned());
    if job.field("spec.manualSelector") == Some(&Value::Bool(true)) {
        return Ok(());
    }
    let Some(spec) = job.body.get_mut("spec").filter(|spec| spec.is_object()) else {
        return Ok(());
    };
    let labels =
        [("controller-uid", &uid), (CONTROLLER, &uid), ("job-name", &name), ("batch.kubernetes.io/job-name", &name)];
    let Some(Value::Object(template)) = spec.get_mut("template") else {
        return Ok(());
    };
    let metadata = template.entry("metadata").or_insert_with(|| json!({}));
    labels.iter().for_each(|(label, value)| metadata["labels"][*label] = json!(value));
    if !spec["selector"].is_object() {
        spec["selector"] = json!({});
    }
    spec["selector"]["matchLabels"][CONTROLLER] = json!(uid);
    if has_labels_of_template {
        let generated = labels.into_iter().map(|(label, value)| (label.to_owned(), value.clone()));
        job.metadata.labels.get_or_insert_default().extend(generated);
    }
    Ok(())
}

/// Sets the selector and the labels of a replication controller from the labels of its template.
pub(in super::super) fn replication_controller(controller: &mut Object) -> Result<()> {
    let Some(labels) = controller.field("spec.template.metadata.labels").filter(|labels| labels.is_object()).cloned()
    else {
        return Ok(());
    };
    if controller.metadata.labels.is_none() {
        controller.metadata.labels = serde_json::from_value(labels.clone()).ok();
    }
    if let Some(Value::Object(spec)) = controller.body.get_mut("spec") {
        let is_empty = |selector: &Value| selector.as_object().is_none_or(serde_json::Map::is_empty);
        if spec.get("selector").is_none_or(is_empty) {
            spec.insert("selector".to_owned(), labels);
        }
    }
    Ok(())
}

/// Sets the type of the volume claim templates.
pub(in super::super) fn claim_templates(set: &mut Fields) {
    let spec = set.get_mut("spec").and_then(|spec| spec.get_mut("volumeClaimTemplates"));
    for claim in spec.and_then(Value::as_array_mut).into_iter().flatten() {
        super::set(claim, "apiVersion", json!("v1"));
        super::set(claim, "kind", json!("PersistentVolumeClaim"));
    }
}

/// The generation of the template of a daemon set (`deprecated.daemonset.template.generation`).
const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

pub(in super::super) fn new_daemon_set(set: &mut Object) -> Result<()> {
    set_template_generation(set, 1);
    Ok(())
}

pub(in super::super) fn daemon_set_changed(set: &mut Object, old: &Object) {
    let annotations = old.metadata.annotations.as_ref();
    let count = annotations
        .and_then(|annotations| annotations.get(TEMPLATE_GENERATION)?.parse::<i64>().ok())
        .unwrap_or_default();
    let has_changed = set.field("spec.template") != old.field("spec.template");
    set_template_generation(set, if has_changed { count.saturating_add(1) } else { count });
}

fn set_template_generation(set: &mut Object, count: i64) {
    set.metadata.annotations.get_or_insert_default().insert(TEMPLATE_GENERATION.to_owned(), count.to_string());
}

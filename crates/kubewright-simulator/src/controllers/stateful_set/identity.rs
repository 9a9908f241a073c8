//! The identity of the pods of a StatefulSet: ordinals, names and volume claims.

use k8s_openapi::api::{
    apps::v1::{StatefulSet, StatefulSetSpec},
    core::v1::{PersistentVolumeClaim, PersistentVolumeClaimVolumeSource, Pod, PodTemplateSpec, Volume},
};
use kube::ResourceExt;

use crate::{controllers::revisions::REVISION_LABEL, model::pods};

/// Returns the ordinal of a pod; `None` if its name is not that of a pod of the set.
pub(super) fn ordinal(set: &StatefulSet, pod: &Pod) -> Option<i32> {
    let name = pod.metadata.name.as_deref()?;
    let (owner, number) = name.rsplit_once('-')?;
    if Some(owner) == set.metadata.name.as_deref() { number.parse().ok() } else { None }
}

/// Returns the pod of an ordinal.
pub(super) fn pod(
    set: &StatefulSet,
    spec: &StatefulSetSpec,
    template: &PodTemplateSpec,
    revision: &str,
    ordinal: i32,
) -> Pod {
    let name = format!("{}-{ordinal}", set.name_any());
    let mut pod = pods::from_template(template, set);
    pod.metadata.name = Some(name.clone());
    pod.labels_mut().extend([
        ("statefulset.kubernetes.io/pod-name".to_owned(), name.clone()),
        ("apps.kubernetes.io/pod-index".to_owned(), ordinal.to_string()),
        (REVISION_LABEL.to_owned(), revision.to_owned()),
    ]);
    let pod_spec = pod.spec.get_or_insert_default();
    pod_spec.hostname = Some(name);
    pod_spec.subdomain = spec.service_name.clone().filter(|service| !service.is_empty());
    let claims = claims(set, spec, ordinal);
    let templates = spec.volume_claim_templates.as_deref().unwrap_or_default();
    let volumes = pod_spec.volumes.get_or_insert_default();
    for (template, claim) in templates.iter().zip(claims) {
        let volume_name = template.name_any();
        volumes.retain(|volume| volume.name != volume_name);
        let source = PersistentVolumeClaimVolumeSource { claim_name: claim.name_any(), read_only: None };
        volumes.push(Volume { name: volume_name, persistent_volume_claim: Some(source), ..Volume::default() });
    }
    pod
}

/// Returns the volume claims of the pod of an ordinal.
pub(super) fn claims(set: &StatefulSet, spec: &StatefulSetSpec, ordinal: i32) -> Vec<PersistentVolumeClaim> {
    let templates = spec.volume_claim_templates.iter().flatten();
    let claim = |template: &PersistentVolumeClaim| {
        let mut claim = template.clone();
        claim.metadata.name = Some(format!("{}-{}-{ordinal}", template.name_any(), set.name_any()));
        claim.metadata.namespace = set.namespace();
        claim.labels_mut().extend(spec.selector.match_labels.clone().unwrap_or_default());
        claim.status = None;
        claim
    };
    templates.map(claim).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pods_have_stable_names_and_claims() {
        let set = json!({
            "metadata": {"name": "db", "namespace": "default", "uid": "u"},
            "spec": {
                "serviceName": "db", "selector": {"matchLabels": {"app": "db"}}, "template": {},
                "volumeClaimTemplates": [{"metadata": {"name": "data"}}],
            },
        });
        let set: StatefulSet = serde_json::from_value(set).unwrap();
        let spec = set.spec.clone().unwrap();
        let pod = pod(&set, &spec, &spec.template, "db-1", 2);
        assert_eq!((pod.name_any(), ordinal(&set, &pod)), ("db-2".to_owned(), Some(2)));
        let pod_spec = pod.spec.unwrap();
        assert_eq!((pod_spec.hostname.as_deref(), pod_spec.subdomain.as_deref()), (Some("db-2"), Some("db")));
        assert_eq!(pod_spec.volumes.unwrap()[0].persistent_volume_claim.as_ref().unwrap().claim_name, "data-db-2");
    }
}

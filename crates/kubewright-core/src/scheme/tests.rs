//! Tests of the guarantees of the scheme, one for each.

use k8s_openapi::{
    List,
    api::{
        apps::v1::Deployment,
        autoscaling::{v1, v2},
        core::v1::{ConfigMap, Namespace, Pod},
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use serde::Serialize;

use super::*;
use crate::{
    meta::Scope,
    unstructured::{MixedList, Unstructured},
};

fn scheme() -> Scheme {
    let mut scheme = Scheme::new();
    scheme.add::<Pod>().unwrap();
    scheme.add::<List<Pod>>().unwrap();
    scheme.add::<ConfigMap>().unwrap();
    scheme.add::<Namespace>().unwrap();
    scheme.add::<Deployment>().unwrap();
    scheme
}

fn gvk(api_version: &str, kind: &str) -> GroupVersionKind {
    GroupVersionKind::from_type_meta(api_version, kind)
}

/// Declares a type that claims a kind of the core group.
macro_rules! conflicting_kind {
    ($name:ident, $kind:literal, $plural:literal) => {
        #[derive(Clone, Debug, Default, Serialize, serde::Deserialize)]
        struct $name {
            metadata: ObjectMeta,
        }

        impl k8s_openapi::Resource for $name {
            const API_VERSION: &'static str = "v1";
            const GROUP: &'static str = "";
            const KIND: &'static str = $kind;
            const VERSION: &'static str = "v1";
            const URL_PATH_SEGMENT: &'static str = $plural;
            type Scope = k8s_openapi::NamespaceResourceScope;
        }

        impl k8s_openapi::Metadata for $name {
            type Ty = ObjectMeta;

            fn metadata(&self) -> &ObjectMeta {
                &self.metadata
            }

            fn metadata_mut(&mut self) -> &mut ObjectMeta {
                &mut self.metadata
            }
        }

        impl crate::DeepCopy for $name {
            fn deep_copy(&self) -> Self {
                self.clone()
            }
        }
    };
}

conflicting_kind!(OtherPod, "Pod", "otherpods");
conflicting_kind!(Capsule, "Capsule", "pods");

#[test]
fn conflicting_registrations_are_rejected() {
    let mut scheme = scheme();
    let before: Vec<_> = scheme.kinds().cloned().collect();
    let conflict = scheme.add::<OtherPod>().unwrap_err();
    assert!(matches!(&conflict, Conflict::Kind { gvk, .. } if gvk.kind == "Pod"), "{conflict}");
    assert!(conflict.to_string().ends_with("::Pod` is already registered"), "{conflict}");
    let conflict = scheme.add::<Capsule>().unwrap_err();
    let expected = "cannot register v1, Kind=Capsule for v1, Resource=pods: it is the resource of v1, Kind=Pod; use \
                    another plural";
    assert_eq!(conflict.to_string(), expected);
    assert_eq!(scheme.kinds().cloned().collect::<Vec<_>>(), before);
    assert!(scheme.decode(br#"{"apiVersion": "v1", "kind": "Pod"}"#).unwrap().downcast_ref::<Pod>().is_some());
}

#[test]
fn registration_is_idempotent() {
    let mut scheme = scheme();
    scheme.add::<Pod>().unwrap();
    scheme.add::<List<Pod>>().unwrap();
    assert_eq!(scheme.kinds().count(), 5);
}

#[test]
fn objects_decode_into_the_registered_type() {
    let scheme = scheme();
    let json = br#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"b": "c"}}"#;
    let yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  b: c\n";
    for object in [scheme.decode(json).unwrap(), scheme.decode_yaml(yaml).unwrap()] {
        assert_eq!(object.group_version_kind(), gvk("v1", "ConfigMap"));
        assert_eq!(object.downcast_ref::<ConfigMap>().unwrap().data.as_ref().unwrap()["b"], "c");
        let object = object.downcast::<Pod>().unwrap_err();
        assert_eq!(object.downcast::<ConfigMap>().unwrap().metadata.name.as_deref(), Some("a"));
    }
}

#[test]
fn objects_round_trip() {
    let scheme = scheme();
    let text = "apiVersion: v1\ndata:\n  b: \"0644\"\nkind: ConfigMap\nmetadata:\n  name: a\n";
    let object = scheme.decode_yaml(text).unwrap();
    assert_eq!(object.to_yaml().unwrap(), text);
    assert_eq!(serde_saphyr::to_string(&object).unwrap(), text, "any serializer can be used");
    let json = object.to_json().unwrap();
    assert_eq!(json, r#"{"apiVersion":"v1","kind":"ConfigMap","data":{"b":"0644"},"metadata":{"name":"a"}}"#);
    assert_eq!(scheme.decode(json.as_bytes()).unwrap().to_json().unwrap(), json);
}

#[test]
fn lists_decode_into_their_list_type() {
    let scheme = scheme();
    let pods = r#"{"apiVersion": "v1", "kind": "PodList", "metadata": {"continue": "x"}, "items": [{"metadata": {}}]}"#;
    let pods = scheme.decode(pods.as_bytes()).unwrap().downcast::<List<Pod>>().unwrap();
    assert_eq!((pods.items.len(), pods.metadata.continue_.as_deref()), (1, Some("x")));

    let mixed = "
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
- apiVersion: v1
  kind: List
  items:
  - {apiVersion: v1, kind: ConfigMap}
";
    let mixed = scheme.decode_yaml(mixed).unwrap().downcast::<MixedList>().unwrap();
    assert!(mixed.items[0].downcast_ref::<Pod>().is_some());
    let inner = mixed.items[1].downcast_ref::<MixedList>().unwrap();
    assert!(inner.items[0].downcast_ref::<ConfigMap>().is_some());
    let copy: Box<dyn Object> = mixed.deep_copy_object();
    assert_eq!(copy.to_json().unwrap(), mixed.to_json().unwrap());
    assert!(copy.to_json().unwrap().starts_with(r#"{"apiVersion":"v1","kind":"List","metadata":{},"items":[{"api"#));
}

#[test]
fn unknown_kind_is_an_error_or_preserved() {
    let scheme = scheme();
    let json = br#"{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"deep":[1]}}"#;
    let error = scheme.decode(json).unwrap_err();
    assert!(matches!(&error, DecodeError::Unknown(unknown) if *unknown == gvk("example.com/v1", "Widget")), "{error}");
    let preserved = scheme.decoder(UnknownKinds::Preserve).decode(json).unwrap();
    assert_eq!(preserved.to_json().unwrap().as_bytes(), json);
    assert_eq!(preserved.object_meta().unwrap().name.as_deref(), Some("a"));
    let preserved = preserved.downcast::<Unstructured>().unwrap();
    assert_eq!((preserved.types.kind.as_str(), &preserved.data["spec"]["deep"][0]), ("Widget", &1.into()));
}

const MANIFEST: &str = "# Two valid and five invalid documents.
---
apiVersion: v1
kind: Pod
---
# Empty.
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: two
--- # Not YAML.
a: [
---
kind: Pod
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
- apiVersion: v1
  kind: Pod
  spec:
    containers: a
...
%YAML 1.2
--- {apiVersion: example.com/v1, kind: Widget}
---
apiVersion: v1
kind: ConfigMap
";

#[test]
fn errors_are_reported_with_document_and_line() {
    let errors = scheme().decode_all(MANIFEST).unwrap_err();
    let expected = [
        "document 3, line 13: invalid apps/v1, Kind=Deployment: invalid type: string \"two\", expected i32",
        "document 4, line 15: unclosed bracket '['",
        "document 5, line 17: not a Kubernetes object: expected an object with apiVersion and kind: missing field \
         `apiVersion`",
        "document 6, line 27: items[1]: invalid v1, Kind=Pod: invalid type: string \"a\", expected a sequence",
        "document 7, line 30: no type is registered for example.com/v1, Kind=Widget; register its group with \
         add_to_scheme",
    ];
    let text = errors.to_string();
    for (line, expected) in text.lines().zip(expected) {
        assert!(line.starts_with(expected), "{text}");
    }
    assert_eq!(errors.0.len(), expected.len(), "{text}");
}

#[test]
fn empty_documents_are_skipped() {
    let scheme = scheme();
    let pod = "apiVersion: v1\nkind: Pod\n";
    let crlf = format!("---\n{pod}---\n{pod}").replace('\n', "\r\n");
    let json = r#"{"apiVersion": "v1", "kind": "Pod"}"#;
    let block = "apiVersion: v1\nkind: ConfigMap\ndata:\n  a: |\n    ---\n    b\n";
    for (text, expected) in [
        ("", 0),
        ("---\n---\n# a\n---\nnull\n...\n", 0),
        (pod, 1),
        (&format!("\u{feff}%YAML 1.2\n---\n{pod}...\n...\n---"), 1),
        (&crlf, 2),
        (&format!("{json}\n---\n{json}\n--- {json}"), 3),
        (block, 1),
    ] {
        let objects = scheme.decode_all(text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        assert_eq!(objects.len(), expected, "{text}");
    }
}

#[test]
fn decode_yaml_requires_one_document() {
    let scheme = scheme();
    let none = scheme.decode_yaml("---\n").unwrap_err();
    assert_eq!(none.to_string(), "document 1, line 1: expected one document, found none");
    let two = "---\n---\n{apiVersion: v1, kind: Pod}\n---\n{apiVersion: v1, kind: Pod}\n";
    let two = scheme.decode_yaml(two).unwrap_err();
    assert_eq!((two.document, two.line), (3, 4), "{two}");
}

#[test]
fn yaml_is_parsed_as_in_kubernetes() {
    let scheme = scheme();
    let object = scheme
        .decode_yaml("{apiVersion: v1, kind: ConfigMap, immutable: yes, data: {1: \"2\"}, metadata: {generation: 010}}")
        .unwrap();
    let config = object.downcast::<ConfigMap>().unwrap();
    assert_eq!((config.immutable, config.metadata.generation), (Some(true), Some(8)));
    assert_eq!(config.data.unwrap()["1"], "2");
    for value in ["1", "true", "1.5", "[a]"] {
        let text = format!("apiVersion: v1\nkind: ConfigMap\ndata:\n  a: {value}\n");
        let error = scheme.decode_yaml(&text).unwrap_err();
        assert_eq!(error.line, 4, "{error}");
        assert!(error.to_string().ends_with("expected a string"), "{error}");
    }
    let duplicate = scheme.decode_yaml("apiVersion: v1\nkind: Pod\nkind: Pod\n").unwrap_err();
    assert_eq!(duplicate.to_string(), "document 1, line 3: duplicate key `kind`");
    let second = scheme.decode_yaml("---\nkind: Pod\napiVersion: v1\nspec:\n  a: 1\n  \"a\": 2\n").unwrap_err();
    assert_eq!(second.to_string(), "document 1, line 6: duplicate key `a`");
}

#[test]
fn anchors_and_merge_keys_are_resolved() {
    let text =
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  labels: &a {b: c}\n  annotations: *a\ndata: {<<: *a, d: e}\n";
    let config = scheme().decode_yaml(text).unwrap().downcast::<ConfigMap>().unwrap();
    assert_eq!(config.metadata.labels, config.metadata.annotations);
    assert_eq!(
        config.data.unwrap().into_iter().collect::<Vec<_>>(),
        [("b", "c"), ("d", "e")].map(|(k, v)| (k.into(), v.into()))
    );
    let wrong = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  labels: &a {b: 1}\n";
    assert_eq!(scheme().decode_yaml(wrong).unwrap_err().line, 4);
}

#[test]
fn decoding_cost_is_bounded() {
    let scheme = scheme();
    let mut laughs =
        "apiVersion: v1\nkind: ConfigMap\na0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n".to_owned();
    for i in 1..20 {
        let last = format!("*a{}", i - 1);
        laughs += &format!("a{i}: &a{i} [{}]\n", [last.as_str(); 9].join(", "));
    }
    let deep = format!("apiVersion: v1\nkind: ConfigMap\na: {}{}\n", "[".repeat(100_000), "]".repeat(100_000));
    let indented: String = (0..2_000).map(|i| format!("{}a:\n", " ".repeat(i))).collect();
    let recursive = "apiVersion: v1\nkind: ConfigMap\na: &a [*a]\n";
    for text in [laughs.as_str(), &deep, &indented, recursive] {
        for unknown in [UnknownKinds::Reject, UnknownKinds::Preserve] {
            let start = std::time::Instant::now();
            let error = scheme.decoder(unknown).decode_all(text).unwrap_err();
            assert!(matches!(error.0[0].cause, DecodeError::Yaml(_)), "{error}");
            assert!(start.elapsed().as_secs() < 10, "{error}");
        }
    }
    let (head, tail) = (r#"{"apiVersion":"v1","kind":"List","items":["#, "]}");
    let nested = |lists: usize| [head.repeat(lists), tail.repeat(lists)].concat();
    assert!(scheme.decode(nested(8).as_bytes()).is_ok());
    assert!(matches!(scheme.decode(nested(100_000).as_bytes()).unwrap_err(), DecodeError::Item { .. }));
    let deep = format!(r#"{{"apiVersion": "v1", "kind": "ConfigMap", "a": {}"#, "[".repeat(100_000));
    assert!(matches!(scheme.decode(deep.as_bytes()).unwrap_err(), DecodeError::Untyped(_)));
}

#[test]
fn kinds_and_resources_map_to_each_other() {
    let scheme = scheme();
    let pods = GroupVersionResource { group: "".into(), version: "v1".into(), resource: "pods".into() };
    let (pod, list) = (gvk("v1", "Pod"), gvk("v1", "PodList"));
    assert_eq!((scheme.resource_for(&pod), scheme.resource_for(&list)), (Some(pods.clone()), Some(pods.clone())));
    assert_eq!((scheme.kind_for(&pods), scheme.list_kind_for(&pod)), (Some(&pod), Some(&list)));
    assert_eq!(scheme.list_kind_for(&gvk("v1", "ConfigMap")), None, "its list is not registered");
    assert_eq!((scheme.list_kind_for(&list), scheme.resource_for(&gvk("v1", "Secret"))), (None, None));
    let scopes = [&pod, &gvk("v1", "Namespace"), &gvk("v1", "Secret")].map(|gvk| scheme.scope(gvk));
    assert_eq!(scopes, [Some(Scope::Namespaced), Some(Scope::Cluster), None]);
}

#[test]
fn most_stable_and_newest_version_is_preferred() {
    let mut scheme = Scheme::new();
    scheme.add::<v1::HorizontalPodAutoscaler>().unwrap();
    scheme.add::<v2::HorizontalPodAutoscaler>().unwrap();
    let hpa = gvk("autoscaling/v1", "HorizontalPodAutoscaler");
    let beta = GroupVersionKind { version: "v3beta1".into(), ..hpa.clone() };
    let plural = "horizontalpodautoscalers".into();
    let (scope, lifecycle) = (Scope::Namespaced, None);
    scheme.add_as::<Unstructured>(Registration { gvk: beta, plural, scope, is_list: false, lifecycle }).unwrap();
    let versions = scheme.versions_of("autoscaling", "HorizontalPodAutoscaler");
    assert_eq!(versions.iter().map(|gvk| gvk.version.as_ref()).collect::<Vec<_>>(), ["v2", "v1", "v3beta1"]);
    assert_eq!(scheme.preferred("autoscaling", "HorizontalPodAutoscaler"), versions.first().copied());
    assert_eq!(scheme.preferred("autoscaling", "Scale"), None);
}

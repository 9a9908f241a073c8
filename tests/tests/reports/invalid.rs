//! Invalid types that only the generator finds: each error has the line and the column of its attribute.

use annotate_snippets::{Level, Renderer};
use kubewright_codegen::{Layout, generate_with_warnings, internal::drawn};
use kubewright_core::meta::ApiGroup;

use crate::{directory, update};

/// A column, a path of the scale, a default, a pattern and a mark that are wrong.
#[rustfmt::skip]
mod wrong {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
    use kubewright_core::{ApiObject, ApiType, group_version};
    use serde::{Deserialize, Serialize};

    group_version! { group = "reports.example", version = "v1", kinds = [Pump, Tank, Hose] }

    #[derive(Clone, Debug, ApiObject)]
    #[genclient]
    #[k8s(printcolumns = [integer("Size", ".spec.sise")], subresource(status, scale(spec_path = ".spec.replica", status_path = ".status.replicas")))]
    pub struct Pump {
        pub metadata: ObjectMeta,
        pub spec: PumpSpec,
        #[serde(default)]
        pub status: Option<PumpStatus>,
    }

    #[derive(Clone, Debug, ApiType, Deserialize, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct PumpSpec {
        pub size: i32,
        pub replicas: i32,
        pub valves: Vec<Valve>,
    }

    #[derive(Clone, Debug, ApiType, Deserialize, Serialize)]
    pub struct Valve {
        #[schema(selectable)]
        pub name: String,
    }

    #[derive(Clone, Debug, ApiType, Deserialize, Serialize)]
    pub struct PumpStatus {
        pub replicas: i32,
    }

    #[derive(Clone, Debug, ApiObject)]
    #[genclient]
    pub struct Tank {
        pub metadata: ObjectMeta,
        #[schema(min = 1, max = 5)] #[serde(default = "many")]
        pub replicas: i32,
    }

    #[derive(Clone, Debug, ApiObject)]
    #[genclient]
    pub struct Hose {
        pub metadata: ObjectMeta,
        #[schema(pattern = "^(a")]
        pub colour: String,
    }

    fn many() -> i32 {
        9
    }
}

/// Rules of a field and of a type that read fields which do not exist.
mod rules {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
    use kubewright_core::{ApiObject, ApiType, group_version};
    use serde::{Deserialize, Serialize};

    group_version! { group = "reports.example", version = "v1", kinds = [Pipe] }

    #[derive(Clone, Debug, ApiObject)]
    #[genclient]
    pub struct Pipe {
        pub metadata: ObjectMeta,
        pub range: Range,
        #[schema(length = ..=9, validation(rule = "self.startsWit('a')"))]
        pub name: String,
    }

    #[derive(Clone, Debug, ApiType, Deserialize, Serialize)]
    #[schema(validation(rule = "self.from < self.until"))]
    pub struct Range {
        pub from: i32,
        pub to: i32,
    }
}

/// A policy that reads a field which does not exist.
mod policies {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
    use kubewright_core::{ApiObject, group_version};

    group_version! { group = "reports.example", version = "v1", kinds = [Valves] }

    #[derive(Clone, Debug, ApiObject)]
    #[genclient]
    #[policy(rule = "object.presure > 0 && request.operation == 'CREATE'", message = "a pressure")]
    pub struct Valves {
        pub metadata: ObjectMeta,
        pub pressure: i32,
    }
}

/// A status that is not as Kubernetes expects it.
mod unusual {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
    use kubewright_core::{ApiObject, group_version};

    group_version! { group = "reports.example", version = "v1-beta", kinds = [Text, Written, Pump] }

    #[derive(Clone, Debug, ApiObject)]
    #[genclient]
    #[k8s(subresource(status))]
    pub struct Text {
        pub metadata: ObjectMeta,
        #[serde(default)]
        pub status: Option<String>,
    }

    #[derive(Clone, Debug, ApiObject)]
    #[genclient]
    pub struct Written {
        pub metadata: ObjectMeta,
        #[serde(default)]
        pub status: Option<super::wrong::PumpStatus>,
    }

    #[derive(Clone, Debug, ApiObject)]
    #[genclient]
    #[k8s(conversion(none = "a test"))]
    pub struct Pump {
        pub metadata: ObjectMeta,
    }
}

/// A kind with all that is unusual, and with the attribute that says that it is intended.
mod intended {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
    use kubewright_core::{ApiObject, group_version};

    group_version! { group = "reports.example", version = "v1-beta", kinds = [Pump] }

    #[derive(Clone, Debug, ApiObject)]
    #[genclient]
    #[k8s(conversion(none = "a test"), allow(status_without_subresource, status_type, version_name))]
    pub struct Pump {
        pub metadata: ObjectMeta,
        #[serde(default)]
        pub status: Option<String>,
    }
}

/// Another version of a kind.
mod other {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
    use kubewright_core::{ApiObject, group_version};

    group_version! { group = "reports.example", version = "v1", kinds = [Pump] }

    #[derive(Clone, Debug, ApiObject)]
    #[genclient]
    #[k8s(storage, conversion(none = "a test"))]
    pub struct Pump {
        pub metadata: ObjectMeta,
    }
}

/// Two lists of a kind that have each other's names.
mod lists {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
    use kubewright_core::{CrdSchema, DeepCopy, Object, ObjectList, group_version};

    group_version! { group = "reports.example", version = "v1", kinds = [Pump, Valve, ValveList] }

    #[derive(Clone, Debug, CrdSchema, DeepCopy, Object)]
    #[genclient(no_verbs)]
    pub struct Pump {
        pub metadata: ObjectMeta,
    }

    #[derive(Clone, Debug, CrdSchema, DeepCopy, Object)]
    #[genclient(no_verbs)]
    pub struct Valve {
        pub metadata: ObjectMeta,
    }

    #[derive(Clone, Debug, DeepCopy, ObjectList)]
    pub struct ValveList {
        pub metadata: ListMeta,
        pub items: Vec<Pump>,
    }
}

/// Returns the errors and warnings of groups, drawn with this file.
fn findings(groups: &[ApiGroup]) -> String {
    let layout = Layout::for_types_crate("reports");
    let root = directory().ancestors().nth(3).unwrap().to_owned();
    let draw = |level: Level<'_>, diagnostics: &[_]| drawn(&level, diagnostics, &Renderer::plain(), &root).join("\n\n");
    match generate_with_warnings(groups, &layout) {
        Ok(generated) => draw(Level::WARNING, &generated.warnings),
        Err(errors) => draw(Level::ERROR, &errors.0),
    }
}

/// `UPDATE_REPORTS=1` updates the recorded text.
#[test]
fn errors_are_drawn_at_their_attributes() {
    let all = [
        findings(&[wrong::API_GROUP]),
        findings(&[rules::API_GROUP]),
        findings(&[policies::API_GROUP]),
        findings(&[unusual::API_GROUP, other::API_GROUP]),
        findings(&[wrong::API_GROUP, other::API_GROUP]),
        findings(&[lists::API_GROUP]),
    ];
    update("invalid.txt", &format!("{}\n", all.join("\n\n---\n\n")));
}

#[test]
fn intended_warnings_are_not_reported() {
    assert_eq!(findings(&[intended::API_GROUP, other::API_GROUP]), "");
}

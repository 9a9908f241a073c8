//! Adopted kinds of kube's derive: the definitions that fakes serve, apply configurations, and a client in the crate of
//! the kinds.

use std::{fs, process::ExitCode};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api,
    api::{Patch, PatchParams, PostParams},
};
use kubewright_apiserver::ApiServer;
use kubewright_apply::core_v1::ConfigMapApply;
use kubewright_codegen::{Args, Diagnostics, Layout, generate, run};
use kubewright_core::{
    apply::{ApiVersion, ApplyConfiguration, KindName, Metadata},
    meta::ApiGroup,
};
use kubewright_runtime::{FieldManager, TypedClient};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tempfile::TempDir;

use gadgets::{GadgetSpec, MyGadget};

/// A kind in two versions, one of them with another name than its type, and a kind without a schema.
mod gadgets {
    use kube::CustomResource;
    use kubewright_core::ApplyConfiguration;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, ApplyConfiguration, CustomResource, Deserialize, JsonSchema, Serialize)]
    #[kube(group = "gadgets.example.com", version = "v1", kind = "Gadget", root = "MyGadget", namespaced)]
    #[kube(status = "GadgetStatus", shortname = "gd", derive = "kubewright_core::ApplyConfiguration")]
    #[kube(printcolumn(name = "Size", type_ = "integer", json_path = ".spec.size"))]
    pub struct GadgetSpec {
        #[schemars(range(min = 1))]
        pub size: i32,
        #[serde(default = "red")]
        pub color: String,
    }

    fn red() -> String {
        "red".to_owned()
    }

    #[derive(Clone, Debug, ApplyConfiguration, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct GadgetStatus {
        pub ready: bool,
    }

    #[derive(Clone, Debug, CustomResource, Deserialize, Serialize)]
    #[kube(group = "gadgets.example.com", version = "v1", kind = "Bag", schema = "disabled")]
    pub struct BagSpec {}

    pub mod v1beta1 {
        use super::*;

        #[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
        #[kube(group = "gadgets.example.com", version = "v1beta1", kind = "Gadget", namespaced)]
        pub struct GadgetSpec {
            pub size: i32,
        }
    }
}

mod adopted {
    kubewright_core::adopt! {
        custom_resources = [
            super::gadgets::MyGadget(status),
            super::gadgets::Bag,
            super::gadgets::v1beta1::Gadget(readonly),
        ],
    }
}

/// A kind whose definition the API server rejects.
mod rejected {
    use kube::CustomResource;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
    #[kube(group = "gadgets.example.com", version = "v1", kind = "Gauge")]
    #[kube(printcolumn(name = "Size", type_ = "text", json_path = ".spec.size"))]
    pub struct GaugeSpec {
        pub size: i32,
    }

    kubewright_core::adopt! { custom_resources = [Gauge] }
}

const GADGETS: &str = "/apis/gadgets.example.com/v1/namespaces/default/gadgets";

fn layout(features: &[&str]) -> Layout {
    let features = features.iter().map(|feature| (*feature).to_owned()).collect();
    Layout { features, ..Layout::for_types_crate("workspace") }
}

/// Returns the definitions of the generated fake clientset.
fn definitions(groups: &[ApiGroup]) -> Result<String, Diagnostics> {
    let files = generate(groups, &layout(&["fake"]))?;
    Ok(files.into_iter().find(|file| file.path.ends_with("fake/definitions.yaml")).unwrap().contents)
}

/// Returns a server that serves what the generated fake clientset does.
fn server() -> ApiServer {
    let server = ApiServer::new();
    server.load_yaml(&definitions(&adopted::api_groups()).unwrap()).unwrap();
    server
}

fn gadget(name: &str, size: i32) -> MyGadget {
    let mut gadget = MyGadget::new(name, GadgetSpec { size, color: "blue".to_owned() });
    gadget.metadata.namespace = Some("default".to_owned());
    gadget
}

/// Sends a request without the defaults of the Rust types.
async fn send(server: &ApiServer, method: &str, path: &str, accept: &str, body: Option<Value>) -> Value {
    let body = body.map(|body| body.to_string().into_bytes()).unwrap_or_default();
    let request = http::Request::builder().method(method).uri(path).header("accept", accept);
    let request = request.header("content-type", "application/json").body(body).unwrap();
    server.client().request(request).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn fakes_validate_and_default_by_the_definition_of_kubes_derive() {
    let server = server();
    let gadgets: Api<MyGadget> = Api::namespaced(server.client(), "default");
    let invalid = gadgets.create(&PostParams::default(), &gadget("bad", 0)).await.unwrap_err().to_string();
    assert!(invalid.contains("spec.size in body should be greater than or equal to 1"), "{invalid}");

    let object = json!({
        "apiVersion": "gadgets.example.com/v1", "kind": "Gadget", "metadata": {"name": "a"}, "spec": {"size": 3},
    });
    let created = send(&server, "POST", GADGETS, "application/json", Some(object)).await;
    assert_eq!(created["spec"], json!({"size": 3, "color": "red"}));
}

#[tokio::test(start_paused = true)]
async fn fakes_serve_columns_and_subresources_of_adopted_kinds() {
    let server = server();
    server.load(&gadget("a", 3)).unwrap();
    let table = send(&server, "GET", GADGETS, "application/json;as=Table;v=v1;g=meta.k8s.io", None).await;
    let columns: Vec<_> = table["columnDefinitions"].as_array().unwrap().iter().map(|column| &column["name"]).collect();
    assert_eq!(columns, ["Name", "Size"]);
    assert_eq!(table["rows"][0]["cells"], json!(["a", 3]));

    let gadgets: Api<MyGadget> = Api::namespaced(server.client(), "default");
    let change = Patch::Merge(json!({"spec": {"size": 9}, "status": {"ready": true}}));
    let changed = gadgets.patch_status("a", &PatchParams::default(), &change).await.unwrap();
    assert_eq!((changed.spec.size, changed.status.map(|status| status.ready)), (3, Some(true)));
}

#[tokio::test(start_paused = true)]
async fn adopted_versions_of_a_kind_are_one_definition() {
    let server = server();
    let crds: Api<CustomResourceDefinition> = Api::all(server.client());
    let crd = crds.get("gadgets.gadgets.example.com").await.unwrap();
    let versions: Vec<_> =
        crd.spec.versions.iter().map(|version| (version.name.as_str(), version.served, version.storage)).collect();
    assert_eq!(versions, [("v1", true, true), ("v1beta1", true, false)]);

    server.load(&gadget("a", 3)).unwrap();
    let path = format!("{}/a", GADGETS.replace("v1", "v1beta1"));
    let read = send(&server, "GET", &path, "application/json", None).await;
    assert_eq!((&read["apiVersion"], &read["spec"]), (&json!("gadgets.example.com/v1beta1"), &json!({"size": 3})));
}

#[tokio::test(start_paused = true)]
async fn fakes_accept_any_object_of_a_kind_without_a_schema() {
    let bag = json!({
        "apiVersion": "gadgets.example.com/v1", "kind": "Bag", "metadata": {"name": "a"}, "spec": {"any": ["thing"]},
    });
    let bags = "/apis/gadgets.example.com/v1/bags";
    let created = send(&server(), "POST", bags, "application/json", Some(bag.clone())).await;
    assert_eq!(created["spec"], bag["spec"]);
}

#[test]
fn definitions_that_the_server_rejects_are_errors_of_fakes_only() {
    let error = definitions(&rejected::api_groups()).unwrap_err().to_string();
    let expected = "`workspace::kube_derive::rejected::Gauge`: the API server would reject the CRD that kube's derive \
                    declares: spec.";
    assert!(error.starts_with(expected) && error.contains("additionalPrinterColumns[0].type"), "{error}");
    assert!(generate(&rejected::api_groups(), &layout(&[])).is_ok());
}

/// An apply configuration as the generator writes it for an adopted kind, with an untyped spec.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
struct GadgetApply {
    #[serde(rename = "apiVersion")]
    api_version: ApiVersion<MyGadget>,
    kind: KindName<MyGadget>,
    metadata: Metadata,
    spec: Value,
}

impl ApplyConfiguration for GadgetApply {
    type Kind = MyGadget;

    fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    fn metadata_mut(&mut self) -> &mut Metadata {
        &mut self.metadata
    }
}

#[tokio::test(start_paused = true)]
async fn adopted_kinds_are_applied_extracted_and_own_objects() {
    let configuration = GadgetApply {
        api_version: ApiVersion::default(),
        kind: KindName::default(),
        metadata: Metadata::namespaced("a", "default"),
        spec: json!({"size": 3}),
    };
    let (server, manager) = (server(), FieldManager::new("tests"));
    let gadgets = TypedClient::<MyGadget>::namespaced(server.client(), "default");
    let applied = gadgets.apply(&configuration, &manager).await.unwrap();
    assert_eq!((applied.spec.size, applied.spec.color.as_str()), (3, "red"));
    assert_eq!(GadgetApply::extract_from(&applied, manager.name(), None).unwrap(), configuration);
    let mut other = serde_json::to_value(&configuration).unwrap();
    other["kind"] = json!("Widget");
    let error = serde_json::from_value::<GadgetApply>(other).unwrap_err().to_string();
    assert_eq!(error, "invalid value: string \"Widget\", expected Gadget");

    let owned = ConfigMapApply::new("c", "default").with_owner(&applied);
    let owner = &owned.metadata().owner_references.as_ref().unwrap()[0];
    assert_eq!([&owner.api_version, &owner.kind, &owner.name], ["gadgets.example.com/v1", "Gadget", "a"]);
    assert_eq!(Some(&owner.uid), applied.metadata.uid.as_ref());
}

#[test]
fn apply_configurations_of_adopted_kinds_have_the_names_of_the_kinds() {
    let files = generate(&adopted::api_groups(), &layout(&[])).unwrap();
    let file = files.iter().find(|file| file.path.ends_with("applyconfigurations/gadgets_v1.rs")).unwrap();
    for expected in [
        "pub struct GadgetApply {\n",
        "api_version: ApiVersion<types::MyGadget>,\n",
        "pub spec: Option<GadgetSpecApply>,\n",
        "pub status: Option<GadgetStatusApply>,\n",
        "pub fn extract_status(\n",
    ] {
        assert!(file.contents.contains(expected), "{expected}\n{}", file.contents);
    }
    assert!(!file.contents.contains("Bag"), "it does not derive `ApplyConfiguration`");
    assert!(!files.iter().any(|file| file.path.ends_with("applyconfigurations/gadgets_v1beta1.rs")));
}

#[test]
fn a_client_module_uses_the_paths_of_its_crate() {
    let layout = layout(&["fake"]).with_client_module("gadget-operator", "api::client");
    let files = generate(&adopted::api_groups(), &layout).unwrap();
    for (path, expected) in [
        ("mod.rs", "//! let clientset = workspace::api::client::Clientset::try_default().await?;\n"),
        ("clientset.rs", "use crate::api::client::typed::gadgets_v1::GadgetsV1Client;\n"),
        ("clientset.rs", "crate::kube_derive::adopted::MyGadget"),
        ("typed/gadgets_v1.rs", "use crate::kube_derive::adopted as types;\n"),
        ("informers.rs", "use crate::api::client::clientset::Clientset;\n"),
        ("fake.rs", "pub type Clientset = Fake<crate::api::client::Clientset>;\n"),
        ("scheme.rs", "    crate::kube_derive::adopted::add_to_scheme(scheme)?;\n"),
    ] {
        let path = format!("gadget-operator/src/api/client/{path}");
        let file = files.iter().find(|file| file.path == path).unwrap();
        assert!(file.contents.contains(expected), "{expected}\n{}", file.contents);
    }
}

fn generate_in(root: &TempDir, client_dir: Option<&str>, check: bool) -> ExitCode {
    let (root, client_dir) = (Some(root.path().to_owned()), client_dir.map(str::to_owned));
    run(&adopted::api_groups(), &Args { check, root, client_dir, ..Args::default() })
}

#[test]
fn a_client_module_is_declared_in_the_manifest_or_by_its_directory() {
    let root = TempDir::new().unwrap();
    let manifest = "[workspace]\n[package]\nname = \"workspace\"\n";
    let metadata = "[package.metadata.codegen]\nclient-module = \"client\"\n";
    fs::write(root.path().join("Cargo.toml"), format!("{manifest}{metadata}")).unwrap();
    assert_eq!(generate_in(&root, None, false), ExitCode::SUCCESS);
    assert!(root.path().join("src/client/mod.rs").exists() && !root.path().join("src/client/lib.rs").exists());
    assert_eq!(generate_in(&root, None, true), ExitCode::SUCCESS);

    assert_eq!(generate_in(&root, Some("src/api/client"), false), ExitCode::SUCCESS);
    assert!(root.path().join("src/api/client/mod.rs").exists());

    fs::write(root.path().join("Cargo.toml"), format!("{manifest}{}", metadata.replace("client\"", "a b\""))).unwrap();
    assert_eq!(generate_in(&root, None, false), ExitCode::from(2), "not a module");
}

#[test]
fn a_client_module_of_a_crate_without_the_kinds_is_rejected() {
    let root = TempDir::new().unwrap();
    fs::create_dir(root.path().join("other")).unwrap();
    fs::write(root.path().join("Cargo.toml"), "[workspace]\n").unwrap();
    fs::write(root.path().join("other/Cargo.toml"), "[package]\nname = \"other\"\n").unwrap();
    assert_eq!(generate_in(&root, Some("other/src/client"), false), ExitCode::from(2));
    assert!(!root.path().join("other/src").exists());
}

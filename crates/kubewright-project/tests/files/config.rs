//! The files of `config/`, for an operator of Widgets.

use k8s_openapi::{
    api::{
        apps::v1::Deployment,
        policy::v1::PodDisruptionBudget,
        rbac::v1::{ClusterRole, Role},
    },
    apimachinery::pkg::util::intstr::IntOrString,
};
use kubewright_codegen::File;
use kubewright_core::description::OperatorDescription;
use kubewright_project::{rbac::operator_objects, render};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::fixture::project;

fn files(settings: &str) -> Vec<File> {
    render(&project(settings)).unwrap()
}

fn read<T: DeserializeOwned>(files: &[File], path: &str) -> T {
    let file = files.iter().find(|file| file.path == format!("config/{path}"));
    serde_saphyr::from_str(&file.unwrap_or_else(|| panic!("no {path}")).contents).unwrap()
}

fn resources(files: &[File], directory: &str) -> Vec<String> {
    let kustomization: Value = read(files, &format!("{directory}/kustomization.yaml"));
    serde_json::from_value(kustomization["resources"].clone()).unwrap()
}

/// Returns each rule as `groups resources [names] verbs`.
fn show(rules: &Option<Vec<k8s_openapi::api::rbac::v1::PolicyRule>>) -> Vec<String> {
    let list = |list: &Option<Vec<String>>| list.clone().unwrap_or_default().join(";");
    let rules = rules.iter().flatten();
    rules
        .map(|rule| {
            let names = list(&rule.resource_names);
            format!("{} {} [{names}] {}", list(&rule.api_groups), list(&rule.resources), rule.verbs.join(";"))
        })
        .collect()
}

#[test]
fn the_role_contains_what_the_operator_declares() {
    let role: ClusterRole = read(&files(""), "rbac/role.yaml");
    let expected = [
        " nodes [] get;list;watch",
        "apps deployments [] create;delete;get;list;patch;watch",
        "example.org widgets [] get;list;watch",
        "example.org widgets/finalizers [] update",
        "example.org widgets/status [] patch",
    ];
    assert_eq!(show(&role.rules), expected);
    let election: Role = read(&files(""), "rbac/leader_election_role.yaml");
    let expected = ["coordination.k8s.io leases [] create", "coordination.k8s.io leases [widget-operator] get;update"];
    assert_eq!(show(&election.rules), expected);
}

#[test]
fn a_namespaced_operator_has_a_cluster_role_only_for_kinds_without_namespace() {
    let files = files("namespaced = true");
    let role: Role = read(&files, "rbac/role.yaml");
    assert!(!show(&role.rules).iter().any(|rule| rule.contains("nodes")));
    let cluster: ClusterRole = read(&files, "rbac/cluster_role.yaml");
    assert_eq!(show(&cluster.rules), [" nodes [] get;list;watch"]);
    let deployment: Deployment = read(&files, "manager/manager.yaml");
    let env = &deployment.spec.unwrap().template.spec.unwrap().containers[0].env;
    assert_eq!(env.as_ref().unwrap()[0].name, "WATCH_NAMESPACES");
}

#[test]
fn objects_for_tests_have_the_rules_of_the_files() {
    let objects = operator_objects(&project("").description, false, "system");
    for (file, name) in [
        ("role", "manager-role"),
        ("role_binding", "manager-rolebinding"),
        ("leader_election_role", "leader-election-role"),
        ("metrics_auth_role_binding", "metrics-auth-rolebinding"),
        ("service_account", "controller-manager"),
    ] {
        let mut expected: Value = read(&files(""), &format!("rbac/{file}.yaml"));
        drop(expected["metadata"].as_object_mut().unwrap().remove("labels"));
        let object = objects.iter().find(|object| object["metadata"]["name"] == name);
        assert_eq!(object, Some(&expected), "{file}");
    }
    assert_eq!(objects.len(), 7);
}

#[test]
fn roles_of_users_are_aggregated() {
    for (file, aggregated_to) in [("admin", "admin"), ("editor", "edit"), ("viewer", "view")] {
        let role: ClusterRole = read(&files(""), &format!("rbac/widget_{file}_role.yaml"));
        let label = format!("rbac.authorization.k8s.io/aggregate-to-{aggregated_to}");
        assert_eq!(role.metadata.labels.as_ref().unwrap()[&label], "true");
        assert!(!show(&role.rules).iter().any(|rule| rule.contains('*')));
    }
}

#[test]
fn no_role_of_the_operator_has_a_wildcard_or_secrets() {
    for file in files("").iter().filter(|file| file.path.ends_with("role.yaml")) {
        assert!(!file.contents.contains('*') && !file.contents.contains("secrets"), "{}", file.contents);
    }
}

#[test]
fn the_deployment_has_probes_and_time_to_stop() {
    let deployment: Deployment = read(&files("args = ['--leader-elect']"), "manager/manager.yaml");
    let spec = deployment.spec.unwrap();
    assert_eq!(spec.replicas, Some(2));
    let pod = spec.template.spec.unwrap();
    assert_eq!(pod.termination_grace_period_seconds, Some(40));
    let container = &pod.containers[0];
    assert_eq!(container.args.as_ref().unwrap(), &["run", "--leader-elect"]);
    let readiness = container.readiness_probe.as_ref().unwrap().http_get.as_ref().unwrap();
    assert_eq!(readiness.path.as_deref(), Some("/readyz"));
    assert_eq!(readiness.port, IntOrString::String("health".to_owned()));
}

#[test]
fn a_single_replica_blocks_no_drain() {
    let budget = |settings: &str| {
        let budget: PodDisruptionBudget = read(&files(settings), "manager/disruption_budget.yaml");
        let spec = budget.spec.unwrap();
        (spec.min_available, spec.max_unavailable)
    };
    assert_eq!(budget("replicas = 2"), (Some(IntOrString::Int(1)), None));
    assert_eq!(budget("replicas = 1"), (None, Some(IntOrString::Int(1))));
}

#[test]
fn switches_select_what_is_deployed() {
    assert_eq!(resources(&files(""), "default"), ["../crd", "../rbac", "../manager", "metrics_service.yaml"]);
    let files = files("prometheus = true\nprometheus-resources = ['rule.yaml']\nnetwork-policy = true");
    let expected = ["../crd", "../rbac", "../manager", "metrics_service.yaml", "../prometheus", "../network-policy"];
    assert_eq!(resources(&files, "default"), expected);
    assert_eq!(resources(&files, "prometheus"), ["monitor.yaml", "rule.yaml"]);
    assert_eq!(resources(&files, "crd"), ["bases/example.org_widgets.yaml"]);
}

#[test]
fn every_rendered_file_is_listed_and_marked() {
    let files = files("prometheus = true\nnetwork-policy = true");
    for file in &files {
        assert!(file.contents.lines().next().unwrap().ends_with(kubewright_project::MARK), "{}", file.path);
        let (directory, name) = file.path.strip_prefix("config/").unwrap().rsplit_once('/').unwrap();
        if name != "kustomization.yaml" {
            assert!(resources(&files, directory).contains(&name.to_owned()), "{}", file.path);
        }
    }
}

#[test]
fn operators_that_cannot_run_are_errors() {
    let error = |change: fn(&mut OperatorDescription)| {
        let mut project = project("prometheus = true");
        change(&mut project.description);
        render(&project).unwrap_err().to_string()
    };
    assert!(error(|description| description.lease = None).starts_with("2 replicas without leader election"));
    assert!(error(|description| drop(description.servers.remove(0))).starts_with("no server of the operator has"));
    assert!(error(|description| drop(description.servers.remove(1))).contains("`/metrics`"));
}

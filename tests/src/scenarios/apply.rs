//! Server-side apply with the generated apply configurations.

use std::collections::BTreeMap;

use fixture_client::{
    Clientset as FixtureClientset,
    applyconfigurations::gallery_v1::{
        ExhibitApply, ExhibitSpecApply, ExhibitStatusApply, LenderApply, Mood, OriginApply, RoomApply, WingApply,
    },
    typed::gallery_v1::ExhibitClient,
};
use fixture_types::museum_v1::Frame;
use k8s_openapi::{
    api::core::v1::ConfigMap,
    apimachinery::pkg::{api::resource::Quantity, util::intstr::IntOrString},
};
use kube::{Client, api::PostParams};
use kubewright_apply::{
    autoscaling_v1::{ScaleApply, ScaleSpecApply},
    core_v1::{ConfigMapApply, ContainerApply, ContainerPortApply},
    meta_v1::{ConditionApply, LabelSelectorApply},
};
use kubewright_core::{apply::ApplyConfiguration, k8s_openapi::jiff::Timestamp};
use kubewright_runtime::{FieldManager, TypedClient};
use logger_client::{
    Clientset,
    applyconfigurations::example_v2::{LoggerApply, LoggerSpecApply, LoggerStatusApply},
};
use logger_types::v2::LoggerState;
use serde_json::json;

use crate::namespace;

fn mine() -> FieldManager {
    FieldManager::new("mine")
}

fn theirs() -> FieldManager {
    FieldManager::new("theirs")
}

async fn exhibits(client: &Client, test: &str) -> ExhibitClient {
    let namespace = namespace(client, test).await;
    FixtureClientset::new(client.clone()).gallery_v1().exhibits(&namespace)
}

fn exhibit(test: &str, spec: ExhibitSpecApply) -> ExhibitApply {
    ExhibitApply::new("vase", test).with_spec(spec)
}

fn titled() -> ExhibitSpecApply {
    ExhibitSpecApply::new().with_title("Vase")
}

/// Returns a spec in which every field is set.
fn full() -> ExhibitSpecApply {
    let container = ContainerApply::new()
        .with_name("guard")
        .with_image("guard:1")
        .with_args(["--awake"])
        .with_ports([ContainerPortApply::new().with_container_port(80).with_protocol("TCP")]);
    titled()
        .with_count(2)
        .with_mood(Mood::Dark)
        .with_notes([("by", "me")])
        .with_drawers([("top", RoomApply::new().with_name("top").with_floor(1))])
        .with_rooms([RoomApply::new().with_name("hall").with_floor(0).with_doors(["north", "south"])])
        .with_tags(["old", "blue"])
        .with_steps(["dig", "wash"])
        .with_origin(OriginApply::new().with_country("Greece").with_found_in(1901))
        .with_frame(Frame { material: "oak".to_owned(), width: None })
        .with_card(json!({"text": ["any", 1]}))
        .with_owner(LenderApply::new().with_name("Louvre").with_type("museum"))
        .with_guard(container)
        .with_selector(LabelSelectorApply::new().with_match_labels([("app", "guard")]))
        .with_weight(Quantity("1500m".to_owned()))
        .with_door(IntOrString::String("north".to_owned()))
        .with_opened(k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(Timestamp::UNIX_EPOCH))
}

pub(super) async fn an_extracted_configuration_equals_the_applied_one(client: Client) {
    let exhibits = exhibits(&client, "apply-roundtrip").await;
    let configuration = exhibit("apply-roundtrip", full()).with_labels([("a", "1")]).with_annotations([("b", "2")]);
    let applied = exhibits.apply(&configuration, &mine().strict()).await.unwrap();
    assert_eq!(applied.spec.origin.found_in, Some(1901));
    assert_eq!(applied.spec.frame, Some(Frame { material: "oak".to_owned(), width: None }));

    let read = exhibits.get("vase").await.unwrap();
    let extracted = ExhibitApply::extract(&read, "mine").unwrap();
    assert_eq!(extracted, configuration);
    let again = exhibits.apply(&extracted, &mine()).await.unwrap();
    assert_eq!(again.metadata.resource_version, applied.metadata.resource_version);

    let nothing = ExhibitApply::extract(&read, "stranger").unwrap();
    assert_eq!(nothing, ExhibitApply::new("vase", "apply-roundtrip"));
}

pub(super) async fn field_managers_share_an_object_and_conflict_over_a_field(client: Client) {
    let exhibits = exhibits(&client, "apply-conflict").await;
    let my_configuration = exhibit("apply-conflict", titled().with_count(1).with_notes([("a", "1")]));
    exhibits.apply(&my_configuration, &mine()).await.unwrap();
    let their_configuration =
        exhibit("apply-conflict", ExhibitSpecApply::new().with_mood(Mood::Bright).with_notes([("b", "2")]));
    let shared = exhibits.apply(&their_configuration, &theirs()).await.unwrap();
    assert_eq!((shared.spec.count, shared.spec.mood), (Some(1), Some(fixture_types::museum_v1::Mood::Bright)));
    assert_eq!(shared.spec.notes, BTreeMap::from([("a", "1"), ("b", "2")].map(|(k, v)| (k.to_owned(), v.to_owned()))));
    assert_eq!(ExhibitApply::extract(&shared, "mine").unwrap(), my_configuration);
    assert_eq!(ExhibitApply::extract(&shared, "theirs").unwrap(), their_configuration);

    let more = exhibit("apply-conflict", ExhibitSpecApply::new().with_mood(Mood::Bright).with_count(9));
    let conflict = exhibits.apply(&more, &theirs()).await.unwrap_err();
    assert!(conflict.is_conflict(), "{conflict}");
    let text = conflict.to_string();
    assert!(text.starts_with("cannot apply exhibits.museum.example.org `vase`: "), "{text}");
    assert!(text.contains("conflict with \"mine\": .spec.count") && text.contains("`.force()`"), "{text}");

    let forced = exhibits.apply(&more, &theirs().force()).await.unwrap();
    assert_eq!(forced.spec.count, Some(9));
    assert_eq!(forced.spec.notes.get("b"), None, "fields that are no longer applied are removed");
    let remaining = ExhibitApply::extract(&forced, "mine").unwrap();
    assert_eq!(remaining, exhibit("apply-conflict", titled().with_notes([("a", "1")])));
}

pub(super) async fn dropped_fields_are_removed_unless_another_manager_owns_them(client: Client) {
    let exhibits = exhibits(&client, "apply-give-up").await;
    let both = exhibit("apply-give-up", titled().with_count(3).with_mood(Mood::Dark));
    exhibits.apply(&both, &mine()).await.unwrap();
    exhibits.apply(&exhibit("apply-give-up", titled().with_count(3)), &theirs()).await.unwrap();
    let left = exhibits.apply(&exhibit("apply-give-up", titled()), &mine()).await.unwrap();
    assert_eq!((left.spec.count, left.spec.mood), (Some(3), None));
}

pub(super) async fn lists_are_merged_by_key_as_sets_or_replaced(client: Client) {
    let exhibits = exhibits(&client, "apply-lists").await;
    let hall = || RoomApply::new().with_name("hall");
    let my_configuration = titled()
        .with_rooms([hall().with_floor(1).with_doors(["north"]), RoomApply::new().with_name("attic")])
        .with_tags(["old"])
        .with_steps(["dig"]);
    exhibits.apply(&exhibit("apply-lists", my_configuration.clone()), &mine()).await.unwrap();
    let their_configuration = ExhibitSpecApply::new().with_rooms([hall().with_doors(["south"])]).with_tags(["blue"]);
    let merged = exhibits.apply(&exhibit("apply-lists", their_configuration.clone()), &theirs()).await.unwrap();
    let rooms = merged.spec.rooms.clone().unwrap();
    assert_eq!(rooms.iter().map(|room| room.name.as_str()).collect::<Vec<_>>(), ["hall", "attic"]);
    assert_eq!(rooms[0].doors.as_deref(), Some(&["north".to_owned(), "south".to_owned()][..]));
    assert_eq!(merged.spec.tags.as_deref(), Some(&["old".to_owned(), "blue".to_owned()][..]));
    assert_eq!(ExhibitApply::extract(&merged, "mine").unwrap().spec.unwrap(), my_configuration);
    assert_eq!(ExhibitApply::extract(&merged, "theirs").unwrap().spec.unwrap(), their_configuration);

    let other_steps = exhibit("apply-lists", their_configuration.with_steps(["wash"]));
    assert!(exhibits.apply(&other_steps, &theirs()).await.unwrap_err().is_conflict(), "an atomic list has one owner");
}

pub(super) async fn a_status_is_applied_with_its_own_managed_fields_entry(client: Client) {
    let namespace = namespace(&client, "apply-status").await;
    let loggers = Clientset::new(client).example_v2().loggers(&namespace);
    let spec =
        LoggerApply::new("audit", &namespace).with_spec(LoggerSpecApply::new().with_name("a").with_interval("5s"));
    loggers.apply(&spec, &mine()).await.unwrap();
    let condition = ConditionApply::new()
        .with_type("Ready")
        .with_status("True")
        .with_reason("Writing")
        .with_message("it writes")
        .with_last_transition_time(k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(Timestamp::UNIX_EPOCH));
    let status = LoggerStatusApply::new().with_state(LoggerState::Available).with_conditions([condition]);
    let status = LoggerApply::new("audit", &namespace).with_status(status);
    let applied = loggers.apply_status(&status, &mine()).await.unwrap();
    assert_eq!(applied.status.as_ref().unwrap().state, Some(LoggerState::Available));
    assert_eq!(applied.spec.interval, "5s");
    assert_eq!(LoggerApply::extract_status(&applied, "mine").unwrap(), status);
    assert_eq!(LoggerApply::extract(&applied, "mine").unwrap(), spec);

    let missing = LoggerApply::new("other", &namespace).with_status(LoggerStatusApply::new());
    assert!(loggers.apply_status(&missing, &mine()).await.unwrap_err().is_not_found());
}

pub(super) async fn a_configuration_for_another_namespace_is_rejected_by_the_client(client: Client) {
    let exhibits = exhibits(&client, "apply-here").await;
    let error = exhibits.apply(&exhibit("elsewhere", titled()), &mine()).await.unwrap_err();
    let expected = "cannot apply exhibits.museum.example.org `vase`: it is for namespace `elsewhere`, but the client is for \
                    `apply-here`";
    assert_eq!(error.to_string(), expected);
    let unnamed = exhibits.apply(&exhibit("apply-here", titled()), &FieldManager::new("")).await.unwrap_err();
    assert!(unnamed.to_string().contains("ield manager") || unnamed.to_string().contains("fieldManager"), "{unnamed}");
}

pub(super) async fn cluster_kinds_and_built_in_kinds_are_applied(client: Client) {
    let namespace = namespace(&client, "apply-kinds").await;
    let wings = FixtureClientset::new(client.clone()).gallery_v1().wings();
    let wing = WingApply::new("apply-west").with_labels(["a field of the kind"]);
    let applied = wings.apply(&wing, &mine()).await.unwrap();
    assert_eq!(WingApply::extract(&applied, "mine").unwrap(), wing);

    let maps = TypedClient::<ConfigMap>::namespaced(client, &namespace);
    let map = ConfigMapApply::new("settings", &namespace).with_data([("a", "1")]).with_labels([("b", "2")]);
    let applied = maps.apply(&map, &mine()).await.unwrap();
    assert_eq!(ConfigMapApply::extract(&applied, "mine").unwrap(), map);
    assert_eq!(
        ConfigMapApply::extract_from(&applied, "mine", Some("status")).unwrap(),
        ConfigMapApply::new("settings", &namespace)
    );
}

pub(super) async fn extension_methods_apply(client: Client) {
    let exhibits = exhibits(&client, "apply-methods").await;
    let hung = exhibits.hang(&exhibit("apply-methods", titled().with_count(1)), &mine()).await.unwrap();
    assert_eq!(hung.spec.count, Some(1));
    let report = ExhibitApply::new("vase", "apply-methods").with_status(ExhibitStatusApply::new().with_count(7));
    let reported = exhibits.apply_report(&report, &mine()).await.unwrap();
    assert_eq!(reported.status.unwrap().count, Some(7));
    let count = ScaleApply::new("vase", "apply-methods").with_spec(ScaleSpecApply::new().with_replicas(4));
    // No server converts the scale of a custom resource for apply (kubernetes 1.36); the request is correct.
    let counted = exhibits.apply_count("vase", &count, &theirs().force()).await.unwrap_err();
    assert!(counted.to_string().contains("cannot apply the scale of exhibits.museum.example.org `vase`"), "{counted}");
    assert!(counted.to_string().contains("autoscaling/v1"), "{counted}");
    let card = json!({
        "apiVersion": "museum.example.org/v1", "kind": "Exhibit", "spec": {"card": {"free": true}},
    });
    let carded = exhibits.apply_card("vase", &card, &theirs()).await.unwrap();
    assert_eq!(carded["spec"]["card"], json!({"free": true}));
    let stored = exhibits.get("vase").await.unwrap();
    assert_eq!((stored.spec.count, stored.spec.title.as_str()), (Some(1), "Vase"));
    exhibits.update(&stored, &PostParams::default()).await.unwrap();
}

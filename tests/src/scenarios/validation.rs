//! `Validate`: the client reports exactly the errors that the server reports.

use std::collections::BTreeSet;

use fixture_client::Clientset;
use fixture_types::garage_v1::Car;
use kube::{Client, api::PostParams};
use kubewright_core::validation::{FieldError, Invalid, Validate};
use kubewright_runtime::Error;
use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};
use serde_json::{Map, Value, json};

use crate::namespace;

/// The number of objects that each scenario sends. They are the same in each run.
const OBJECTS: usize = 300;

pub(super) async fn client_and_server_report_the_same_errors_of_new_objects(client: Client) {
    let namespace = namespace(&client, "validated").await;
    let cars = Clientset::new(client).garage_v1().cars(&namespace);
    let (mut accepted, mut rejected) = (0, 0);
    for car in random(new_car()) {
        let errors = client_errors(car.validate());
        let answer = cars.create(&car, &dry_run()).await;
        assert_eq!(errors, server_errors(answer), "{car:#?}");
        *(if errors.is_empty() { &mut accepted } else { &mut rejected }) += 1;
    }
    assert!(accepted > 5 && rejected > 50, "{accepted} accepted, {rejected} rejected");
}

pub(super) async fn client_and_server_report_the_same_errors_of_updates(client: Client) {
    let namespace = namespace(&client, "validated-updates").await;
    let cars = Clientset::new(client).garage_v1().cars(&namespace);
    let mut rejected = 0;
    for (i, old) in random(new_car()).into_iter().filter(|car| car.validate().is_ok()).take(5).enumerate() {
        let mut old = old;
        old.metadata.name = Some(format!("car-{i}"));
        let old = cars.create(&old, &PostParams::default()).await.expect("the car is valid");
        for new in random(new_car()).into_iter().skip(i * 20).take(20) {
            let new = Car { metadata: old.metadata.clone(), ..new };
            let errors = client_errors(new.validate_update(&old));
            let answer = cars.update(&new, &dry_run()).await;
            assert_eq!(errors, server_errors(answer), "{new:#?}\nreplaces {old:#?}");
            rejected += usize::from(!errors.is_empty());
        }
    }
    assert!(rejected > 50, "{rejected} rejected");
}

fn dry_run() -> PostParams {
    PostParams { dry_run: true, ..PostParams::default() }
}

fn client_errors(result: Result<(), Invalid>) -> BTreeSet<(String, String)> {
    let errors = result.err().map(|invalid| invalid.0).unwrap_or_default();
    errors.into_iter().map(|FieldError { field, message, .. }| (field, message)).collect()
}

fn server_errors<T>(answer: Result<T, Error>) -> BTreeSet<(String, String)> {
    let Err(error) = answer else { return BTreeSet::new() };
    let status = error.status().unwrap_or_else(|| panic!("{error}"));
    assert_eq!(status.code, 422, "{error}");
    let causes = &status.details.as_ref().expect("an invalid object has causes").causes;
    causes.iter().map(|cause| (cause.field.clone(), cause.message.clone())).collect()
}

fn random(cars: impl Strategy<Value = Car>) -> Vec<Car> {
    let mut runner = TestRunner::deterministic();
    (0..OBJECTS).map(|_| cars.new_tree(&mut runner).expect("the strategy rejects no value").current()).collect()
}

fn new_car() -> impl Strategy<Value = Car> {
    (prop::sample::select(vec!["herbie", "jim"]), spec()).prop_map(|(name, spec)| {
        let car = json!({
            "apiVersion": "garage.example.org/v1", "kind": "Car", "metadata": {"name": name}, "spec": spec,
        });
        serde_json::from_value(car).expect("the JSON is a car")
    })
}

/// Generates an optional field, mostly with a valid value.
fn field(
    name: &'static str,
    valid: &[Value],
    invalid: &[Value],
) -> impl Strategy<Value = Option<(String, Value)>> + use<> {
    let valid = prop::sample::select(valid.to_vec());
    let value = match invalid {
        [] => valid.boxed(),
        invalid => prop_oneof![6 => valid, 1 => prop::sample::select(invalid.to_vec())].boxed(),
    };
    prop::option::weighted(0.7, value.prop_map(move |value| (name.to_owned(), value)))
}

fn spec() -> impl Strategy<Value = Value> {
    let long = "x".repeat(64);
    let owner =
        prop_oneof![6 => Just(json!("jim")), 1 => prop::sample::select(vec![json!(""), json!("Jim"), json!(long)])];
    let seats =
        |positions: &[&str]| json!(positions.iter().map(|position| json!({"position": position})).collect::<Vec<_>>());
    let labels = |count: usize| json!((0..count).map(|i| (i.to_string(), json!("x"))).collect::<Map<_, _>>());
    let fields = vec![
        field("doors", &[json!(1), json!(5)], &[json!(0), json!(6), json!(200)]).boxed(),
        field("maxSpeed", &[json!(130), json!(400)], &[json!(0), json!(-10), json!(15), json!(410), json!(-5)]).boxed(),
        field("petrol", &[json!(40.5)], &[json!(0.25), json!(-1.0)]).boxed(),
        field("battery", &[json!(3)], &[]).boxed(),
        field("roof", &[json!("hard"), json!("soft")], &[json!("tin"), json!("")]).boxed(),
        field("sunroof", &[json!(true)], &[]).boxed(),
        field("radio", &[json!("https://example.com/x")], &[json!("no uri")]).boxed(),
        field(
            "driver",
            &[json!({"person": "Jim"}), json!({"autopilot": {"level": 3}})],
            &[json!({"person": "nobody"}), json!({"person": ""}), json!({"autopilot": {"level": 9}})],
        )
        .boxed(),
        field("seats", &[seats(&["a", "b"])], &[seats(&["a", "a"]), seats(&[]), seats(&[&"y".repeat(21)])]).boxed(),
        field("plates", &[json!(["a", "b"])], &[json!([""]), json!(["z".repeat(70)])]).boxed(),
        field("tyres", &[json!([10, 30])], &[json!([9]), json!([10, 31]), json!([10, 10, 10, 10, 10])]).boxed(),
        field("labels", &[labels(2)], &[labels(11)]).boxed(),
        field("engine", &[json!({"cylinders": 4}), json!({})], &[json!({"cylinders": 4, "motors": 2})]).boxed(),
        field(
            "ports",
            &[json!([{"containerPort": 80}])],
            &[json!([{"containerPort": 80}, {"containerPort": 80, "protocol": "TCP"}])],
        )
        .boxed(),
        field("namespace", &[json!("garage")], &[json!("another")]).boxed(),
        prop::option::weighted(0.2, service().prop_map(|service| ("service".to_owned(), service))).boxed(),
    ];
    (owner, fields).prop_map(|(owner, fields)| {
        let mut spec: Map<String, Value> = fields.into_iter().flatten().collect();
        spec.insert("owner".to_owned(), owner);
        Value::Object(spec)
    })
}

/// Generates a service record, whose constraints are CEL rules.
fn service() -> impl Strategy<Value = Value> {
    let years = |years: &[i32]| json!(years.iter().map(|year| json!({"year": year})).collect::<Vec<_>>());
    let fields = vec![
        field("odometer", &[json!(10), json!(20_000)], &[]).boxed(),
        field("garages", &[json!([]), json!(["a"]), json!(["b", "a"])], &[json!(["a", "a"]), json!(["unknown"])])
            .boxed(),
        field("inspections", &[years(&[2024]), years(&[2024, 2025])], &[years(&[2024, 2024])]).boxed(),
        field("mechanic", &[json!("jim"), json!("jörg")], &[json!("nobody"), json!("jörgjörg")]).boxed(),
        field("phoneNumber", &[json!("1"), json!("2")], &[]).boxed(),
        field("anonymous", &[json!(true)], &[]).boxed(),
        field("stickers", &[json!({"a": ""}), json!({"a": "", "b": ""})], &[json!({"A": ""}), json!({"": ""})]).boxed(),
        field("sides", &[json!({"left": ""})], &[json!({"top": ""})]).boxed(),
        prop::option::weighted(0.1, Just(("warranty".to_owned(), json!("1 year")))).boxed(),
    ];
    fields.prop_map(|fields| Value::Object(fields.into_iter().flatten().collect()))
}

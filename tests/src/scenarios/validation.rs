//! `Validate`: what the client says of an object is what the server says, to the letter.

use std::collections::BTreeSet;

use fixture_client::Clientset;
use fixture_types::garage_v1::Car;
use kube::Client;
use kube::api::PostParams;
use logger_core::validation::{FieldError, Invalid, Validate};
use logger_runtime::Error;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};

use crate::namespace;

/// How many objects are sent in each scenario. They are the same ones in each run.
const OBJECTS: usize = 150;

pub(super) async fn the_client_says_of_new_objects_what_the_server_says(client: Client) {
    let namespace = namespace(&client, "validated").await;
    let cars = Clientset::new(client).garage_v1().cars(&namespace);
    let (mut taken, mut refused) = (0, 0);
    for car in random(new_car()) {
        let says = said(car.validate());
        let answer = cars.create(&car, &dry_run()).await;
        assert_eq!(says, answered(answer), "{car:#?}");
        *(if says.is_empty() { &mut taken } else { &mut refused }) += 1;
    }
    assert!(taken > 5 && refused > 50, "{taken} taken, {refused} refused");
}

pub(super) async fn the_client_says_of_updates_what_the_server_says(client: Client) {
    let namespace = namespace(&client, "validated-updates").await;
    let cars = Clientset::new(client).garage_v1().cars(&namespace);
    let mut refused = 0;
    for (i, old) in random(new_car()).into_iter().filter(|car| car.validate().is_ok()).take(5).enumerate() {
        let mut old = old;
        old.metadata.name = Some(format!("car-{i}"));
        let old = cars.create(&old, &PostParams::default()).await.expect("it is valid");
        for new in random(new_car()).into_iter().skip(i * 20).take(20) {
            let new = Car { metadata: old.metadata.clone(), ..new };
            let says = said(new.validate_update(&old));
            let answer = cars.update(&new, &dry_run()).await;
            assert_eq!(says, answered(answer), "{new:#?}\nin place of {old:#?}");
            refused += usize::from(!says.is_empty());
        }
    }
    assert!(refused > 50, "{refused} refused");
}

fn dry_run() -> PostParams {
    PostParams { dry_run: true, ..PostParams::default() }
}

fn said(result: Result<(), Invalid>) -> BTreeSet<(String, String)> {
    let errors = result.err().map(|invalid| invalid.0).unwrap_or_default();
    errors.into_iter().map(|FieldError { field, message }| (field, message)).collect()
}

fn answered<T>(answer: Result<T, Error>) -> BTreeSet<(String, String)> {
    let Err(error) = answer else { return BTreeSet::new() };
    let status = error.status().unwrap_or_else(|| panic!("{error}"));
    assert_eq!(status.code, 422, "{error}");
    let causes = &status.details.as_ref().expect("an invalid object has causes").causes;
    causes.iter().map(|cause| (cause.field.clone(), cause.message.clone())).collect()
}

fn random(cars: impl Strategy<Value = Car>) -> Vec<Car> {
    let mut runner = TestRunner::deterministic();
    (0..OBJECTS).map(|_| cars.new_tree(&mut runner).expect("nothing is filtered").current()).collect()
}

fn new_car() -> impl Strategy<Value = Car> {
    (prop::sample::select(vec!["herbie", "jim"]), spec()).prop_map(|(name, spec)| {
        let car = json!({
            "apiVersion": "garage.example.org/v1", "kind": "Car", "metadata": {"name": name}, "spec": spec,
        });
        serde_json::from_value(car).expect("it is a car")
    })
}

/// A field that is there more often than not, mostly with a value that is right.
fn field(
    name: &'static str,
    right: &[Value],
    wrong: &[Value],
) -> impl Strategy<Value = Option<(String, Value)>> + use<> {
    let right = prop::sample::select(right.to_vec());
    let value = match wrong {
        [] => right.boxed(),
        wrong => prop_oneof![6 => right, 1 => prop::sample::select(wrong.to_vec())].boxed(),
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
    ];
    (owner, fields).prop_map(|(owner, fields)| {
        let mut spec: Map<String, Value> = fields.into_iter().flatten().collect();
        spec.insert("owner".to_owned(), owner);
        Value::Object(spec)
    })
}

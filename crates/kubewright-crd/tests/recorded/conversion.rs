//! Compares the conversion of each shape with the recorded result.

use crate::shapes;

/// Returns the recorded results without the responses of the server.
fn without_responses(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with("value ")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn each_shape_has_the_recorded_result() {
    let actual: String = shapes::rows().iter().map(|row| format!("## {}\n{}\n", row.name, row.summary())).collect();
    let recorded = without_responses(&shapes::recorded());
    if actual != recorded {
        let difference = actual.lines().zip(recorded.lines()).find(|(a, b)| a != b);
        panic!(
            "first difference: {difference:#?}\nto update the record: SHAPES=record cargo test -p kubewright-crd --test \
             server"
        );
    }
}

#[test]
fn only_valid_shapes_have_values() {
    for row in shapes::rows() {
        assert!(row.convert().is_ok() || row.values.is_empty(), "{}", row.name);
    }
}

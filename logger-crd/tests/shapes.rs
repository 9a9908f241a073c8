//! Each shape becomes what is recorded.

#[path = "shapes/mod.rs"]
mod table;

/// The record without what a server says.
fn without_answers(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with("value ")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn each_shape_becomes_what_is_recorded() {
    let told: String = table::rows().iter().map(|row| format!("## {}\n{}\n", row.name, row.told())).collect();
    let recorded = table::recorded();
    let recorded = without_answers(&recorded);
    if told != recorded {
        let differs = told.lines().zip(recorded.lines()).find(|(a, b)| a != b);
        panic!(
            "the first line that differs: {differs:#?}\nif all is right: SHAPES=record cargo test -p logger-crd --test server"
        );
    }
}

#[test]
fn no_server_is_asked_about_what_is_refused() {
    for row in table::rows() {
        assert!(row.outcome().is_ok() || row.values.is_empty(), "{}", row.name);
    }
}

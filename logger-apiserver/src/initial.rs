//! What every cluster has from the start: namespaces, and the priorities of the system

use serde_json::json;

use crate::{
    built_in::SYSTEM_PRIORITIES,
    call::{Endpoint, State},
    kinds::Kind,
    managed_fields::{self, Author},
    metadata, namespace,
    object::Object,
    status::{Refusal, Result},
};

/// The resource that priority classes are.
pub(crate) const PRIORITIES: &str = "priorityclasses.scheduling.k8s.io";

/// Makes it all.
pub(crate) fn create(state: &mut State) {
    namespace::create_initial(state);
    if let Some(kind) = state.kinds.of_resource(PRIORITIES) {
        SYSTEM_PRIORITIES.iter().for_each(|priority| create_priority(state, &kind, priority));
    }
}

fn create_priority(state: &mut State, kind: &Kind, (name, value, description): &(&str, i64, &str)) {
    let mut class = Object::default();
    class.metadata.name = Some((*name).to_owned());
    class.body.insert("description".to_owned(), json!(description));
    class.body.insert("value".to_owned(), json!(value));
    kind.default(&mut class.body);
    managed_fields::track(Author::server(kind, &Endpoint::Main), None, &mut class);
    metadata::initialise(kind, &mut class);
    state.store.put(PRIORITIES, &class);
}

/// The priorities of the system stay.
pub(crate) fn check_mortal(kind: &Kind, name: &str) -> Result<()> {
    if SYSTEM_PRIORITIES.iter().any(|(own, ..)| *own == name) {
        return Err(Refusal::forbidden(kind, name, "this is a system priority class and cannot be deleted"));
    }
    Ok(())
}

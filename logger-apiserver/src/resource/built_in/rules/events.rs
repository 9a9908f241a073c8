//! The rules of events, in either group.
//!
//! Fields are named as in the core group, whatever the group: the real server asks for them there.

use logger_crd::names;

use super::{Change, Errors, Place};
use crate::{
    api::{error::FieldError, object::Object},
    resource::events::NAMES,
};

/// The longest words of a new event, in bytes.
const LONGEST: usize = 128;

/// An event of the core group: that of an object is in its namespace.
pub(in crate::resource::built_in) fn event(change: &Change<'_>, errors: &mut Errors) {
    spoken(change.object, &Place::of(change.object, "involvedObject"), errors);
}

/// An event of `events.k8s.io` says more, leaves out what it said before, and does not change.
pub(in crate::resource::built_in) fn new_event(change: &Change<'_>, errors: &mut Errors) {
    let event = change.object;
    if let Some(old) = change.old {
        return stays(event, old, errors);
    }
    spoken(event, &Place { path: "involvedObject".to_owned(), ..Place::of(event, "regarding") }, errors);
    let time = Place::of(event, "eventTime");
    if !time.is_there() {
        errors.push(time.required(""));
    }
    let type_ = Place::of(event, "type").text();
    if !matches!(type_, "Normal" | "Warning") {
        errors.push(FieldError::invalid("type", "\"\"", format!("has invalid value: {type_}")));
    }
    for (core, new) in NAMES.iter().filter(|(_, new)| new.starts_with("deprecated")) {
        if !Place::of(event, new).is_empty() {
            errors.push(FieldError::invalid(*core, "\"\"", "needs to be unset"));
        }
    }
}

/// Events with an `eventTime` need a controller and a reason; events without one only a namespace.
fn spoken(event: &Object, about: &Place<'_>, errors: &mut Errors) {
    let (namespace, of_object) = (event.namespace(), about.at("namespace"));
    let has_time = Place::of(event, "eventTime").is_there();
    let fits = match (of_object.text(), has_time) {
        ("", false) => namespace == "default",
        ("", true) => matches!(namespace, "default" | "kube-system"),
        (other, false) => other == namespace,
        (_, true) => true,
    };
    if !fits {
        errors.push(of_object.invalid_text("does not match event.namespace"));
    }
    if !has_time {
        return;
    }
    let controller = ["reportingController", "reportingComponent"].map(|name| Place::of(event, name));
    let controller =
        controller.into_iter().find(|place| !place.is_empty()).unwrap_or(Place::of(event, "reportingController"));
    let controller = Place { path: "reportingController".to_owned(), ..controller };
    if controller.is_empty() {
        errors.push(controller.required(""));
    }
    errors.extend(names::label_key(controller.text()).into_iter().map(|why| controller.invalid_text(why)));
    for word in ["reportingInstance", "action", "reason"].map(|name| Place::of(event, name)) {
        if word.is_empty() {
            errors.push(word.required(""));
        } else if word.text().len() > LONGEST {
            errors.push(FieldError::invalid(word.path, "\"\"", format!("can have at most {LONGEST} characters")));
        }
    }
}

/// All but what it counts in its series.
fn stays(event: &Object, old: &Object, errors: &mut Errors) {
    const OTHERS: [&str; 6] = ["action", "eventTime", "reason", "related", "reportingInstance", "type"];
    let all = NAMES.into_iter().chain(OTHERS.map(|name| (name, name)));
    for (core, new) in all {
        let (now, before) = (Place::of(event, new), Place::of(old, new));
        if now.value != before.value {
            errors.push(FieldError::invalid(core, now.value, "field is immutable"));
        }
    }
}

//! Random operations: strategies that generate and shrink scripts of requests.

mod request;

use std::fmt;

use proptest::{
    collection::vec,
    prelude::{Just, Strategy, any},
    prop_oneof,
    sample::{Index, select},
};
use serde_json::{Value, json};

use crate::fragments::Fragments;

/// The maximum number of operations of a script.
const MAX_OPERATIONS: usize = 24;

/// One request. In its body `$uid`, `$version`, `$stale` and `$uid:NAME` stand for values of earlier responses.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// A method or a patch type, as in the conformance suite.
    pub(crate) verb: &'static str,
    /// The path of the collection, with `$ns` or `$other`.
    pub(crate) collection: String,
    /// The path below the collection: a name and a subresource.
    pub(crate) subpath: String,
    pub(crate) query: String,
    pub(crate) body: Value,
    /// Whether the body is merged into the object as last returned.
    pub(crate) merges_into_last: bool,
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { verb, collection, subpath, query, body, merges_into_last } = self;
        let into = if *merges_into_last { ", into: the object as last returned" } else { "" };
        write!(f, "{{ do: \"{verb} {collection}{subpath}{query}\", body: {body}{into} }}")
    }
}

/// The target of an operation, with its parameters.
#[derive(Debug, Clone)]
struct Target {
    /// Another kind than the one of most operations of the script.
    other: Option<Index>,
    namespace: &'static str,
    name: &'static str,
    subresource: &'static str,
    parameters: Vec<String>,
    manager: &'static str,
}

/// The action of an operation.
#[derive(Debug, Clone)]
enum Action {
    Get,
    List(&'static str),
    Create { fragments: Vec<Choice>, is_named: bool },
    Update { fragments: Vec<Choice>, version: Option<&'static str>, merges_into_last: bool },
    Merge(Vec<Choice>),
    Strategic(Vec<Choice>),
    Json(Vec<(&'static str, Choice, Choice)>),
    Apply { fragments: Vec<Choice>, is_complete: bool, force: bool },
    Delete(Vec<(&'static str, Value)>),
    DeleteCollection(&'static str),
}

/// A randomly chosen fragment.
#[derive(Debug, Clone, Copy)]
struct Choice {
    source: Source,
    index: Index,
}

/// The list that a fragment is chosen from: the fragments of every kind, of this kind, or, if it has any, its
/// directives of strategic merge patches.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Source {
    Metadata,
    Kind,
    Directives,
}

/// Generates a script, most operations of which are on one kind.
pub(crate) fn script(fragments: &Fragments) -> impl Strategy<Value = Vec<Request>> {
    (any::<Index>(), vec((target(), action()), 1..MAX_OPERATIONS)).prop_map(|(focus, operations)| {
        let request = |(number, (target, action)): (usize, &(Target, Action))| {
            let kind = target.other.unwrap_or(focus).get(&fragments.kinds);
            request::request(fragments, kind, number, target, action)
        };
        operations.iter().enumerate().map(request).collect()
    })
}

fn target() -> impl Strategy<Value = Target> {
    let parameters = vec(
        select(vec!["dryRun=All", "fieldValidation=Strict", "fieldValidation=Ignore", "fieldValidation=Warn"]),
        0..=1,
    );
    let parameters = prop_oneof![2 => Just(Vec::new()), 1 => parameters];
    let subresource = prop_oneof![6 => Just(""), 2 => Just("status"), 1 => Just("scale")];
    let other = prop_oneof![5 => Just(None), 1 => any::<Index>().prop_map(Some)];
    let namespace = select(vec!["$ns", "$ns", "$ns", "$other"]);
    let name = select(vec!["a", "a", "a", "b", "c"]);
    (other, namespace, name, subresource, parameters, select(vec!["one", "two", "three"])).prop_map(
        |(other, namespace, name, subresource, parameters, manager)| {
            let parameters = parameters.into_iter().map(str::to_owned).collect();
            Target { other, namespace, name, subresource, parameters, manager }
        },
    )
}

fn choice() -> impl Strategy<Value = Choice> {
    let source = prop_oneof![1 => Just(Source::Metadata), 2 => Just(Source::Kind)];
    (source, any::<Index>()).prop_map(|(source, index)| Choice { source, index })
}

fn directive() -> impl Strategy<Value = Choice> {
    any::<Index>().prop_map(|index| Choice { source: Source::Directives, index })
}

fn choices() -> impl Strategy<Value = Vec<Choice>> {
    vec(choice(), 0..=3)
}

fn action() -> impl Strategy<Value = Action> {
    let versions = select(vec![None, Some("$version"), Some("$version"), Some("$stale")]);
    let change = (select(vec!["add", "add", "replace", "remove", "test", "copy", "move"]), choice(), choice());
    let selectors = || select(vec!["", "?labelSelector=tier%3Dx", "?labelSelector=tier", "?labelSelector=tier!%3Dx"]);
    let flag = || any::<bool>();
    prop_oneof![
        1 => Just(Action::Get),
        1 => selectors().prop_map(Action::List),
        6 => (choices(), select(vec![true, true, true, true, false]))
            .prop_map(|(fragments, is_named)| Action::Create { fragments, is_named }),
        4 => (choices(), versions, flag())
            .prop_map(|(fragments, version, merges_into_last)| Action::Update { fragments, version, merges_into_last }),
        4 => choices().prop_map(Action::Merge),
        3 => vec(prop_oneof![2 => choice(), 1 => directive()], 0..=3).prop_map(Action::Strategic),
        3 => vec(change, 1..=3).prop_map(Action::Json),
        6 => (choices(), flag(), flag())
            .prop_map(|(fragments, is_complete, force)| Action::Apply { fragments, is_complete, force }),
        3 => vec(select(delete_options()), 0..=1).prop_map(Action::Delete),
        1 => selectors().prop_map(Action::DeleteCollection),
    ]
}

fn delete_options() -> Vec<(&'static str, Value)> {
    vec![
        ("preconditions", json!({ "uid": "$uid" })),
        ("preconditions", json!({ "uid": "$uid:c" })),
        ("preconditions", json!({ "resourceVersion": "$version" })),
        ("preconditions", json!({ "resourceVersion": "$stale", "uid": "$uid" })),
        ("gracePeriodSeconds", json!(0)),
        ("gracePeriodSeconds", json!(5)),
        ("propagationPolicy", json!("Background")),
        ("propagationPolicy", json!("Foreground")),
        ("propagationPolicy", json!("Orphan")),
        ("orphanDependents", json!(false)),
        ("dryRun", json!(["All"])),
    ]
}

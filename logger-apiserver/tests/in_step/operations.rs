//! Operations by chance: what is sent, and how it is made smaller

mod making;

use std::fmt;

use proptest::{
    collection::vec,
    prelude::{Just, Strategy, any},
    prop_oneof,
    sample::{Index, select},
};
use serde_json::{Value, json};

use crate::menu::Menu;

/// How many operations a script has at most.
const LONGEST: usize = 24;

/// One request. In its body `$uid`, `$version`, `$stale` and `$uid:NAME` stand for what the server said before.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// As in the conformance suite: a method or a kind of patch.
    pub(crate) verb: &'static str,
    /// With `$ns` or `$other` in it.
    pub(crate) collection: String,
    /// Below the collection: a name, and a subresource.
    pub(crate) below: String,
    pub(crate) query: String,
    pub(crate) body: Value,
    /// The body is put into the object as it was last seen.
    pub(crate) is_change: bool,
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { verb, collection, below, query, body, is_change } = self;
        let seen = if *is_change { ", into: what was seen last" } else { "" };
        write!(f, "{{ do: \"{verb} {collection}{below}{query}\", body: {body}{seen} }}")
    }
}

/// Where an operation is, and with what parameters.
#[derive(Debug, Clone)]
struct Place {
    /// Another kind than most operations of the script are about.
    other: Option<Index>,
    namespace: &'static str,
    name: &'static str,
    subresource: &'static str,
    parameters: Vec<String>,
    manager: &'static str,
}

/// What is done there.
#[derive(Debug, Clone)]
enum Act {
    Get,
    List(&'static str),
    Create { pieces: Vec<Pick>, is_named: bool },
    Update { pieces: Vec<Pick>, version: Option<&'static str>, is_change: bool },
    Merge(Vec<Pick>),
    Strategic(Vec<Pick>),
    Json(Vec<(&'static str, Pick, Pick)>),
    Apply { pieces: Vec<Pick>, is_whole: bool, force: bool },
    Delete(Vec<(&'static str, Value)>),
    DeleteAll(&'static str),
}

/// One of the pieces there are: of the kind, or of all kinds.
#[derive(Debug, Clone, Copy)]
struct Pick {
    from: From,
    index: Index,
}

/// Which pieces: for every kind, for this one, or, if it has any, the directives of its strategic patches.
#[derive(Debug, Clone, Copy, PartialEq)]
enum From {
    Metadata,
    Kind,
    Directives,
}

/// A script, most of which is about one kind.
pub(crate) fn script(menu: &Menu) -> impl Strategy<Value = Vec<Request>> {
    (any::<Index>(), vec((place(), act()), 1..LONGEST)).prop_map(|(focus, operations)| {
        let request = |(number, (place, act)): (usize, &(Place, Act))| {
            let kind = place.other.unwrap_or(focus).get(&menu.kinds);
            making::request(menu, kind, number, place, act)
        };
        operations.iter().enumerate().map(request).collect()
    })
}

fn place() -> impl Strategy<Value = Place> {
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
            Place { other, namespace, name, subresource, parameters, manager }
        },
    )
}

fn pick() -> impl Strategy<Value = Pick> {
    let from = prop_oneof![1 => Just(From::Metadata), 2 => Just(From::Kind)];
    (from, any::<Index>()).prop_map(|(from, index)| Pick { from, index })
}

fn directive() -> impl Strategy<Value = Pick> {
    any::<Index>().prop_map(|index| Pick { from: From::Directives, index })
}

fn picks() -> impl Strategy<Value = Vec<Pick>> {
    vec(pick(), 0..=3)
}

fn act() -> impl Strategy<Value = Act> {
    let versions = select(vec![None, Some("$version"), Some("$version"), Some("$stale")]);
    let change = (select(vec!["add", "add", "replace", "remove", "test", "copy", "move"]), pick(), pick());
    let selectors = || select(vec!["", "?labelSelector=tier%3Dx", "?labelSelector=tier", "?labelSelector=tier!%3Dx"]);
    let some = || any::<bool>();
    prop_oneof![
        1 => Just(Act::Get),
        1 => selectors().prop_map(Act::List),
        6 => (picks(), select(vec![true, true, true, true, false]))
            .prop_map(|(pieces, is_named)| Act::Create { pieces, is_named }),
        4 => (picks(), versions, some())
            .prop_map(|(pieces, version, is_change)| Act::Update { pieces, version, is_change }),
        4 => picks().prop_map(Act::Merge),
        3 => vec(prop_oneof![2 => pick(), 1 => directive()], 0..=3).prop_map(Act::Strategic),
        3 => vec(change, 1..=3).prop_map(Act::Json),
        6 => (picks(), some(), some()).prop_map(|(pieces, is_whole, force)| Act::Apply { pieces, is_whole, force }),
        3 => vec(select(delete_options()), 0..=1).prop_map(Act::Delete),
        1 => selectors().prop_map(Act::DeleteAll),
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

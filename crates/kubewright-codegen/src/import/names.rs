//! Names of imported types, fields and variants: unique and short.

use std::collections::{BTreeMap, BTreeSet};

use kubewright_names::resource::is_camel_case_kind;
use serde_json::Value;

use super::model::Item;
use crate::names::{camel_case, snake_case};

/// Names with another meaning in a module of types: those of the prelude, and those that the module imports.
const TAKEN: &[&str] = &[
    "ApplyConfiguration",
    "AsMut",
    "AsRef",
    "BTreeMap",
    "Box",
    "Clone",
    "Copy",
    "Debug",
    "DeepCopy",
    "Default",
    "Deserialize",
    "DoubleEndedIterator",
    "Drop",
    "Eq",
    "Err",
    "ExactSizeIterator",
    "Extend",
    "Fn",
    "FnMut",
    "FnOnce",
    "From",
    "FromIterator",
    "Future",
    "Hash",
    "Into",
    "IntoFuture",
    "IntoIterator",
    "Item",
    "Iterator",
    "CrdSchema",
    "ListMeta",
    "None",
    "Object",
    "ObjectList",
    "ObjectMeta",
    "Ok",
    "Option",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "Result",
    "Self",
    "Send",
    "Serialize",
    "Sized",
    "Some",
    "String",
    "Sync",
    "ToOwned",
    "ToString",
    "TryFrom",
    "TryInto",
    "Unpin",
    "Value",
    "Vec",
];

/// The names of the types of kinds and lists, each with its group.
pub(super) struct TypeNames(BTreeSet<(String, String)>);

impl TypeNames {
    /// Reserves the kinds and list kinds of normalized definitions that are names of types.
    pub(super) fn new(definitions: &[Value]) -> Self {
        let kinds = definitions.iter().map(|definition| &definition["spec"]).flat_map(|spec| {
            let group = spec["group"].as_str().unwrap_or_default();
            let kinds = ["kind", "listKind"].into_iter().filter_map(move |key| spec["names"][key].as_str());
            kinds.filter(|kind| is_type_name(kind)).map(move |kind| (group.to_owned(), kind.to_owned()))
        });
        TypeNames(kinds.collect())
    }

    /// Returns the names of the types of a kind and of its list: the kind itself if it is the name of a type, or else
    /// its words in CamelCase.
    pub(super) fn of_kind(&mut self, group: &str, kind: &str, list_kind: &str) -> (String, String) {
        let name = self.reserve(group, kind, &variant(kind));
        let list = if list_kind == format!("{kind}List") { format!("{name}List") } else { variant(list_kind) };
        let list = self.reserve(group, list_kind, &list);
        (name, list)
    }

    /// Returns the kind if it is the name of a type, or else the preferred name, with a number if it is not unique.
    fn reserve(&mut self, group: &str, kind: &str, preferred: &str) -> String {
        if is_type_name(kind) {
            return kind.to_owned();
        }
        let numbered = (2..).map(|i| format!("{preferred}{i}"));
        let mut names = std::iter::once(preferred.to_owned()).chain(numbered);
        let unique = names.find(|name| self.0.insert((group.to_owned(), name.clone())));
        unique.unwrap_or_else(|| preferred.to_owned())
    }
}

/// Whether a kind can be the name of a Rust type.
fn is_type_name(kind: &str) -> bool {
    is_camel_case_kind(kind) && kind != "Self"
}

/// Returns the name of each item, in order. `reserved` are names of other types in the module.
pub(super) fn of_items(items: &[Item], reserved: &BTreeSet<String>) -> Vec<String> {
    let mut lengths: Vec<usize> = items.iter().map(|item| min_words(&item.path)).collect();
    loop {
        let names: Vec<String> = items.iter().zip(&lengths).map(|(item, length)| name(&item.path, *length)).collect();
        let mut holders: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (i, name) in names.iter().enumerate() {
            holders.entry(name).or_default().push(i);
        }
        let mut grown = false;
        for (name, holders) in holders {
            if holders.len() == 1 && !is_taken(name, reserved, items[holders[0]].path.len()) {
                continue;
            }
            for i in holders.into_iter().filter(|i| lengths[*i] < items[*i].path.len()).collect::<Vec<_>>() {
                lengths[i] += 1;
                grown = true;
            }
        }
        if !grown {
            return numbered(names);
        }
    }
}

/// Words that need the word before them.
const VAGUE: &[&str] = &[
    "Config", "Data", "Group", "Item", "Kind", "Key", "Metadata", "Mode", "Name", "Operator", "Options", "Reason",
    "Ref", "Scope", "Source", "Spec", "State", "Status", "Target", "Template", "Type", "Version",
];

/// Returns the minimum number of words of a name: two for the spec and status of a kind and for vague words.
fn min_words(path: &[String]) -> usize {
    let is_vague = path.last().is_some_and(|last| VAGUE.contains(&last.as_str()));
    path.len().min(if path.len() <= 2 || is_vague { 2 } else { 1 })
}

fn is_taken(name: &str, reserved: &BTreeSet<String>, words: usize) -> bool {
    let is_invalid = !name.starts_with(|c: char| c.is_alphabetic());
    words > 1 && (is_invalid || TAKEN.contains(&name) || reserved.contains(name))
}

/// Returns the last words of a path.
fn name(path: &[String], words: usize) -> String {
    path[path.len() - words..].concat()
}

/// Adds a number to names that are not unique.
fn numbered(names: Vec<String>) -> Vec<String> {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let free = |name: String, seen: &BTreeSet<String>| {
        (2..).map(|i| format!("{name}{i}")).find(|name| !seen.contains(name)).unwrap_or(name.clone())
    };
    names
        .into_iter()
        .map(|name| {
            let name = if seen.contains(&name) { free(name, &seen) } else { name };
            seen.insert(name.clone());
            name
        })
        .collect()
}

/// Capitalizes each word: `podTemplate` becomes `PodTemplate`.
pub(super) fn pascal_case(json: &str) -> String {
    let words = json.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(crate::names::pascal_case).collect()
}

/// Returns the singular of a word: `Rule` for `Rules`.
pub(super) fn singular(plural: &str) -> String {
    let endings =
        [("iases", "ias"), ("ies", "y"), ("sses", "ss"), ("uses", "us"), ("xes", "x"), ("ches", "ch"), ("shes", "sh")];
    if let Some((stem, ending)) = endings
        .iter()
        .find_map(|(end, singular)| plural.strip_suffix(end).map(|stem| (stem, singular)))
        .filter(|found| found.0.len() > 1)
    {
        return format!("{stem}{ending}");
    }
    let is_singular = ["ss", "us", "is"].iter().any(|end| plural.ends_with(end)) || plural.len() < 3;
    match plural.strip_suffix('s') {
        Some(stem) if !is_singular => stem.to_owned(),
        _ => plural.to_owned(),
    }
}

/// Returns the Rust name of a field, without `r#`.
pub(super) fn field(json: &str) -> String {
    let words: Vec<String> =
        json.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).map(snake_case).collect();
    let name = words.join("_");
    match name.as_str() {
        "self" | "super" | "crate" => format!("{name}_"),
        "" => "unnamed".to_owned(),
        name if name.starts_with(|c: char| c.is_ascii_digit()) => format!("n{name}"),
        name => name.to_owned(),
    }
}

/// Returns the JSON name of a field with serde's `rename_all = "camelCase"`.
pub(super) fn in_camel_case(field: &str) -> String {
    camel_case(field)
}

/// Returns the name of a variant for a string: unchanged if it is in Pascal case.
pub(super) fn variant(word: &str) -> String {
    let is_plain = word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.chars().all(|c| c.is_ascii_alphanumeric())
        && (word.len() == 1 || word.contains(|c: char| c.is_ascii_lowercase()));
    if is_plain && word != "Self" {
        return word.to_owned();
    }
    let words = word.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let name: String = words
        .map(|word| match word.contains(|c: char| c.is_lowercase()) {
            true => crate::names::pascal_case(word),
            false => crate::names::pascal_case(&word.to_lowercase()),
        })
        .collect();
    match name.as_str() {
        "" if word.is_empty() => "Empty".to_owned(),
        "" => word.chars().map(symbol).collect(),
        "Self" => "Itself".to_owned(),
        name if name.starts_with(|c: char| !c.is_alphabetic()) => format!("N{name}"),
        name => name.to_owned(),
    }
}

fn symbol(c: char) -> &'static str {
    match c {
        '*' => "Star",
        '+' => "Plus",
        '-' => "Minus",
        '=' => "Equal",
        '!' => "Not",
        '<' => "Less",
        '>' => "Greater",
        '/' => "Slash",
        '.' => "Dot",
        '&' => "And",
        '|' => "Or",
        _ => "Sign",
    }
}

/// Whether all names are different.
pub(super) fn are_distinct(names: &[String]) -> bool {
    names.iter().collect::<BTreeSet<_>>().len() == names.len()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_are_converted_to_the_singular() {
        for (plural, expected) in [
            ("Rules", "Rule"),
            ("Matches", "Match"),
            ("Policies", "Policy"),
            ("Addresses", "Address"),
            ("Statuses", "Status"),
            ("Status", "Status"),
            ("ParentRefs", "ParentRef"),
        ] {
            assert_eq!(singular(plural), expected);
        }
    }

    #[test]
    fn any_kind_becomes_a_unique_type_name() {
        let definition = |kind: &str, list_kind: &str| {
            let names = json!({"kind": kind, "listKind": list_kind});
            json!({"spec": {"group": "a", "names": names}})
        };
        let definitions = [definition("Foo-Bar", "Foo-BarList"), definition("FooBar", "FooBars")];
        let mut names = TypeNames::new(&definitions);
        for (group, kind, list_kind, expected) in [
            ("a", "Foo-Bar", "Foo-BarList", ["FooBar2", "FooBar2List"]),
            ("a", "FooBar", "FooBars", ["FooBar", "FooBars"]),
            ("a", "widget", "widgets", ["Widget", "Widgets"]),
            ("b", "Foo-Bar", "foo-bars", ["FooBar", "FooBars"]),
            ("b", "Self", "SelfList", ["Itself", "SelfList"]),
            ("b", "HTTP", "HTTPList", ["HTTP", "HTTPList"]),
        ] {
            let (name, list) = names.of_kind(group, kind, list_kind);
            assert_eq!([name, list], expected);
        }
    }

    #[test]
    fn any_field_name_becomes_an_identifier() {
        for (json, name) in [
            ("maxSpeed", "max_speed"),
            ("podIPs", "pod_ips"),
            ("self", "self_"),
            ("$ref", "ref"),
            ("5xx", "n5xx"),
            ("x-kubernetes", "x_kubernetes"),
            ("--", "unnamed"),
            ("x\u{b2}", "x"),
        ] {
            assert_eq!(field(json), name);
        }
    }

    #[test]
    fn any_string_becomes_a_variant_name() {
        for (word, name) in [
            ("PathPrefix", "PathPrefix"),
            ("IPAddress", "IPAddress"),
            ("GET", "Get"),
            ("aws-eks", "AwsEks"),
            ("HTTP-01", "Http01"),
            ("digital signature", "DigitalSignature"),
            ("", "Empty"),
            ("*", "Star"),
            ("!=", "NotEqual"),
            ("1.2", "N12"),
            ("Self", "Itself"),
            ("\u{b2}", "Sign"),
        ] {
            assert_eq!(variant(word), name);
        }
    }
}

//! The normalization of rules: `NormalizeRules` of controller-gen.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::rbac::v1::PolicyRule;

type Names = BTreeSet<String>;

/// A rule whose lists are sorted and without duplicates.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Rule {
    groups: Names,
    resources: Names,
    resource_names: Names,
    urls: Names,
    verbs: Names,
}

/// Splits, merges and sorts rules:
///
/// 1. `core` is the core group, and each resource becomes a rule;
/// 2. verbs of rules that differ in nothing else are merged, then resources, then groups, then URLs;
/// 3. rules are sorted by groups, resources, resource names and URLs;
/// 4. last, the verb `*` replaces all others of its rule.
#[must_use]
pub fn normalize(rules: impl IntoIterator<Item = PolicyRule>) -> Vec<PolicyRule> {
    let mut rules: Vec<Rule> = rules.into_iter().flat_map(split).collect();
    for field in [Rule::verbs_mut, Rule::resources_mut, Rule::groups_mut, Rule::urls_mut] {
        // Rules that differ only in their verbs after a merge are one rule.
        rules = merge(merge(rules, field), Rule::verbs_mut);
    }
    rules.sort_by_cached_key(Rule::sort_key);
    rules.into_iter().map(Rule::into_policy_rule).collect()
}

/// Returns a rule for each resource, or one without resources.
fn split(rule: PolicyRule) -> Vec<Rule> {
    let names = |names: Option<Vec<String>>| names.into_iter().flatten().collect::<Names>();
    let group = |group: String| if group == "core" { String::new() } else { group };
    let resources = names(rule.resources);
    let all = Rule {
        groups: rule.api_groups.into_iter().flatten().map(group).collect(),
        resources: Names::new(),
        resource_names: names(rule.resource_names),
        urls: names(rule.non_resource_urls),
        verbs: rule.verbs.into_iter().collect(),
    };
    match resources.is_empty() {
        true => vec![all],
        false => {
            resources.into_iter().map(|resource| Rule { resources: Names::from([resource]), ..all.clone() }).collect()
        }
    }
}

/// Merges one list of the rules that are equal in all others.
fn merge(rules: Vec<Rule>, field: fn(&mut Rule) -> &mut Names) -> Vec<Rule> {
    let mut merged = BTreeMap::<Rule, Names>::new();
    for mut rule in rules {
        let names = std::mem::take(field(&mut rule));
        merged.entry(rule).or_default().extend(names);
    }
    let restore = |(mut rule, names): (Rule, Names)| {
        *field(&mut rule) = names;
        rule
    };
    merged.into_iter().map(restore).collect()
}

impl Rule {
    fn verbs_mut(&mut self) -> &mut Names {
        &mut self.verbs
    }

    fn resources_mut(&mut self) -> &mut Names {
        &mut self.resources
    }

    fn groups_mut(&mut self) -> &mut Names {
        &mut self.groups
    }

    fn urls_mut(&mut self) -> &mut Names {
        &mut self.urls
    }

    fn sort_key(&self) -> String {
        let lists = [&self.groups, &self.resources, &self.resource_names, &self.urls];
        lists.map(|names| names.iter().map(String::as_str).collect::<Vec<_>>().join("&")).join(" + ")
    }

    fn into_policy_rule(self) -> PolicyRule {
        let list = |names: Names| (!names.is_empty()).then(|| names.into_iter().collect());
        let verbs = match self.verbs.contains("*") {
            true => vec!["*".to_owned()],
            false => self.verbs.into_iter().collect(),
        };
        PolicyRule {
            api_groups: list(self.groups),
            resources: list(self.resources),
            resource_names: list(self.resource_names),
            non_resource_urls: list(self.urls),
            verbs,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rule such as `apps;batch jobs;deployments get;list`.
    fn rule(text: &str) -> PolicyRule {
        let mut lists = text.split(' ').map(|list| list.split(';').map(str::to_owned).collect::<Vec<_>>());
        let (api_groups, resources) = (lists.next(), lists.next());
        PolicyRule { api_groups, resources, verbs: lists.next().unwrap_or_default(), ..PolicyRule::default() }
    }

    fn normalized(rules: &[&str]) -> Vec<String> {
        let show = |rule: PolicyRule| {
            let lists = [rule.api_groups.unwrap_or_default(), rule.resources.unwrap_or_default(), rule.verbs];
            lists.map(|list| list.join(";")).join(" ")
        };
        normalize(rules.iter().map(|text| rule(text))).into_iter().map(show).collect()
    }

    #[test]
    fn rules_are_split_merged_and_sorted() {
        for (rules, expected) in [
            (&["a x get", "a x list;get"][..], &["a x get;list"][..]),
            (&["a y get", "a x get"], &["a x;y get"]),
            (&["b x get", "a x get"], &["a;b x get"]),
            (&["a x;y get", "a x list"], &["a x get;list", "a y get"]),
            (&["core x get"], &[" x get"]),
            // The wildcard replaces verbs after the merge.
            (&["a x *;get", "a y *"], &["a x *", "a y *"]),
        ] {
            assert_eq!(normalized(rules), expected, "{rules:?}");
        }
    }

    #[test]
    fn no_permission_is_lost() {
        assert_eq!(normalized(&["a;b x get", "a x list", "b x list"]), ["a;b x get;list"]);
    }

    #[test]
    fn normalized_rules_do_not_change() {
        let once = normalize(["a x;y get", "a x list", "b y get"].map(rule));
        assert_eq!(normalize(once.clone()), once);
    }
}

//! The rules of a version's schema, checked as the server checks them before it takes a definition.

use serde_json::Value;

use super::{
    compile::{Compiled, Scope},
    cost,
    declared::{Declared, Shape, declare},
    escape::escape,
    field_path,
    finding::{FindingReason, Part, RuleFinding, Segment},
    schema::{Kind, ListType, Node, Rule},
};

/// The most one rule may cost.
const RULE_LIMIT: u64 = 10_000_000;
/// The most all rules of a schema may cost together.
const SCHEMA_LIMIT: u64 = 100_000_000;
/// How many of the costliest rules are named when all together cost too much.
const NAMED: usize = 4;

const REASONS: [&str; 4] = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/// Checks every `x-kubernetes-validations` rule in a version's schema (its `openAPIV3Schema`, structural) as the server
/// would: what does not compile or has the wrong type, `oldSelf` where there is no old value to find, and the cost: at most
/// 10,000,000 for a rule and 100,000,000 for all (`k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation`).
///
/// As on the server, rules are compiled only where nothing else is wrong with the rules of their node and below.
#[must_use]
pub fn check_schema(schema: &Value) -> Vec<RuleFinding> {
    let root = Node::of(schema);
    let mut check = Check { findings: Vec::new(), total: 0, costliest: Vec::new() };
    let place = Place { path: Vec::new(), is_root: true, parent: None, cardinality: Some(1), uncorrelatable: None };
    check.node(&root, &place);
    check.total();
    check.findings
}

/// Where a node is.
struct Place<'a> {
    path: Vec<Segment>,
    is_root: bool,
    /// The type of the node above, if rules stand there or higher.
    parent: Option<&'a Declared>,
    /// How often the node can be there at most; `None` if nothing says so.
    cardinality: Option<u64>,
    /// The highest node above whose elements cannot be found again in an old value.
    uncorrelatable: Option<Vec<Segment>>,
}

impl<'a> Place<'a> {
    fn below(&self, segment: Segment, node: &Node, declared: Option<&'a Declared>) -> Place<'a> {
        let mut path = self.path.clone();
        path.push(segment);
        let cardinality = self.cardinality.zip(max_elements(node)).map(|(above, here)| above.saturating_mul(here));
        let is_list = path.last() == Some(&Segment::Items);
        let loses = is_list && node.list_type != ListType::Map
            || matches!(path.last(), Some(Segment::Property(_))) && !is_correlatable(node);
        let uncorrelatable = self.uncorrelatable.clone().or_else(|| loses.then(|| self.path.clone()));
        Place { path, is_root: false, parent: declared, cardinality, uncorrelatable }
    }

    /// The type of the node here.
    fn declare(&self, node: &Node) -> Option<Declared> {
        let known = match (self.path.last(), self.parent.map(|parent| &parent.shape)) {
            (Some(Segment::Property(name)), Some(Shape::Object(fields))) => {
                escape(name).and_then(|escaped| fields.get(&escaped))
            }
            (Some(Segment::Items), Some(Shape::List(item))) => Some(item),
            (Some(Segment::AdditionalProperties), Some(Shape::Map(value))) => Some(value),
            _ => None,
        };
        known.map(|known| Declared::clone(known)).or_else(|| declare(node, self.is_root || node.is_embedded))
    }
}

/// Whether the fields of an object can be found again in its old value.
pub(super) fn is_correlatable(node: &Node) -> bool {
    matches!(node.map_type.as_deref(), None | Some("granular" | "atomic"))
}

/// How many elements a node holds at most; `None` if nothing says so.
fn max_elements(node: &Node) -> Option<u64> {
    let max = match node.kind {
        Kind::Array => node.max_items,
        Kind::Object if node.additional.is_some() || node.takes_additional => node.max_properties,
        _ => Some(1),
    };
    max.map(|max| u64::try_from(max).unwrap_or(0))
}

struct Check {
    findings: Vec<RuleFinding>,
    total: u64,
    /// Rules and what they cost, the costliest first.
    costliest: Vec<(u64, RuleFinding)>,
}

impl Check {
    /// Checks a node and all below; says whether their rules are written as they must be.
    fn node(&mut self, node: &Node, place: &Place<'_>) -> bool {
        let in_scope = !node.rules.is_empty() || place.parent.is_some();
        let declared = if in_scope { place.declare(node) } else { None };
        let mut sound = true;
        if let Some(additional) = &node.additional {
            let place = place.below(Segment::AdditionalProperties, node, declared.as_ref());
            sound &= self.node(additional, &place);
        }
        for (name, property) in node.properties.iter().flatten() {
            let place = place.below(Segment::Property(name.clone()), node, declared.as_ref());
            sound &= self.node(property, &place);
        }
        if let Some(items) = &node.items {
            let place = place.below(Segment::Items, node, declared.as_ref());
            sound &= self.node(items, &place);
        }
        for (index, rule) in node.rules.iter().enumerate() {
            sound &= self.writing(node, rule, &place.path, index);
        }
        if sound && !node.rules.is_empty() {
            self.compile(node, place, declared.as_ref());
        }
        sound
    }

    fn find(
        &mut self,
        path: &[Segment],
        index: usize,
        part: Part,
        reason: FindingReason,
        value: Option<String>,
        detail: impl Into<String>,
    ) {
        self.findings.push(finding(path, index, part, reason, value, detail));
    }

    /// What is wrong with a rule before it is compiled.
    fn writing(&mut self, node: &Node, rule: &Rule, path: &[Segment], index: usize) -> bool {
        use FindingReason::{Invalid, NotSupported, Required};
        let before = self.findings.len();
        let breaks = |text: &str| text.contains(['\n', '\r']);
        let message = rule.message.trim();
        if rule.rule.trim().is_empty() {
            self.find(path, index, Part::Rule, Required, None, "rule is not specified");
        } else if !rule.message.is_empty() && message.is_empty() {
            self.find(
                path,
                index,
                Part::Message,
                Invalid,
                Some(quoted(&rule.message)),
                "must be non-empty if specified",
            );
        } else if breaks(message) {
            self.find(path, index, Part::Message, Invalid, Some(quoted(&rule.message)), "must not contain line breaks");
        } else if breaks(rule.rule.trim()) && message.is_empty() {
            let detail = "message must be specified if rule contains line breaks";
            self.find(path, index, Part::Message, Required, None, detail);
        }
        if !rule.message_expression.is_empty() && rule.message_expression.trim().is_empty() {
            let detail = "messageExpression must be non-empty if specified";
            self.find(path, index, Part::MessageExpression, Required, None, detail);
        }
        if let Some(reason) = rule.reason.as_ref().filter(|reason| !REASONS.contains(&reason.as_str())) {
            let supported: Vec<String> = REASONS.iter().map(|reason| format!("{reason:?}")).collect();
            let detail = format!("supported values: {}", supported.join(", "));
            self.find(path, index, Part::Reason, NotSupported, Some(quoted(reason)), detail);
        }
        self.field_path(node, rule, path, index);
        self.findings.len() == before
    }

    fn field_path(&mut self, node: &Node, rule: &Rule, path: &[Segment], index: usize) {
        if rule.field_path.is_empty() {
            return;
        }
        let value = || Some(quoted(&rule.field_path));
        let mut find = |detail: &str| self.find(path, index, Part::FieldPath, FindingReason::Invalid, value(), detail);
        if rule.field_path.trim().is_empty() {
            find("must be non-empty if specified");
        }
        if rule.field_path.contains(['\n', '\r']) {
            find("must not contain line breaks");
        }
        if field_path::normalize(&rule.field_path, node).is_none() {
            find("must be a valid path");
        }
    }

    fn compile(&mut self, node: &Node, place: &Place<'_>, declared: Option<&Declared>) {
        let Some(declared) = declared else {
            let detail = "internal error: failed to construct type information for x-kubernetes-validations rules: unable to \
                          convert structural schema to CEL declarations";
            self.findings.push(RuleFinding {
                path: place.path.clone(),
                index: None,
                part: None,
                reason: FindingReason::Internal,
                value: None,
                detail: detail.to_owned(),
                within: None,
            });
            return;
        };
        let scope = Scope::new(declared);
        let times = place.cardinality.unwrap_or_else(|| declared.max_cardinality());
        for (index, rule) in node.rules.iter().enumerate() {
            let compiled = scope.compile(rule);
            self.compiled(rule, &compiled, place, index, times);
        }
    }

    fn compiled(&mut self, rule: &Rule, compiled: &Compiled, place: &Place<'_>, index: usize, times: u64) {
        use FindingReason::Invalid;
        let path = &place.path;
        self.cost(path, index, Part::Rule, "estimated rule cost", compiled.cost.saturating_mul(times));
        if let Some(error) = &compiled.rule_error {
            self.find(path, index, Part::Rule, Invalid, Some(rule.as_go()), error.clone());
        }
        if let Some(error) = &compiled.message_error {
            self.find(path, index, Part::MessageExpression, Invalid, Some(rule.as_go()), error.clone());
        } else if compiled.message.is_some() {
            let what = "estimated messageExpression cost";
            self.cost(path, index, Part::MessageExpression, what, compiled.message_cost);
        }
        if compiled.uses_old_self() {
            if let Some(within) = &place.uncorrelatable {
                let detail = "oldSelf cannot be used on the uncorrelatable portion of the schema";
                let mut found = finding(path, index, Part::Rule, Invalid, Some(quoted(&rule.rule)), detail);
                found.within = Some(within.clone());
                self.findings.push(found);
            }
        } else if let Some(optional) = rule.optional_old_self {
            let detail = "may not be set if oldSelf is not used in rule";
            self.find(path, index, Part::OptionalOldSelf, Invalid, Some(optional.to_string()), detail);
        }
    }

    /// Adds to the cost of all rules, and refuses one that costs too much alone.
    fn cost(&mut self, path: &[Segment], index: usize, part: Part, what: &str, cost: u64) {
        if cost > RULE_LIMIT {
            let detail = cost::excess(what, cost, RULE_LIMIT);
            self.find(path, index, part, FindingReason::Forbidden, None, detail);
        }
        self.total = self.total.saturating_add(cost);
        if cost >= SCHEMA_LIMIT / 100 {
            let detail = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
            self.costliest.push((cost, finding(path, index, part, FindingReason::Forbidden, None, detail)));
            self.costliest.sort_by_key(|(cost, _)| std::cmp::Reverse(*cost));
            self.costliest.truncate(NAMED);
        }
    }

    fn total(&mut self) {
        if self.total <= SCHEMA_LIMIT {
            return;
        }
        self.findings.extend(self.costliest.drain(..).map(|(_, found)| found));
        let what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
        self.findings.push(RuleFinding {
            path: Vec::new(),
            index: None,
            part: None,
            reason: FindingReason::Forbidden,
            value: None,
            detail: cost::excess(what, self.total, SCHEMA_LIMIT),
            within: None,
        });
    }
}

/// A text as Go quotes it.
fn quoted(text: &str) -> String {
    format!("{text:?}")
}

fn finding(
    path: &[Segment],
    index: usize,
    part: Part,
    reason: FindingReason,
    value: Option<String>,
    detail: impl Into<String>,
) -> RuleFinding {
    let (path, detail) = (path.to_vec(), detail.into());
    RuleFinding { path, index: Some(index), part: Some(part), reason, value, detail, within: None }
}

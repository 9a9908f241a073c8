//! The cost of calls: standard functions and extensions of cel-go, and the Kubernetes libraries.

use super::{
    ast_node::{AstNode, Path},
    constants::{
        LIST_CREATE_BASE_COST, MAX_NAMED_FORMAT_PATTERN, REGEX_STRING_LENGTH_COST_FACTOR, STRING_TRAVERSAL_COST_FACTOR,
    },
    estimate::{Estimate, multiply_by_factor},
    schema_sizes::SchemaSizes,
};
use crate::cel::{
    syntax::{ExprKind, Literal, operator},
    types::{CIDR, IP, NAMED_FORMAT, QUANTITY, SEMVER, Type, URL},
};

/// The cost of a call, and the size of its result if it is known.
pub(super) struct CallEstimate {
    pub(super) cost: Estimate,
    pub(super) result_size: Option<Estimate>,
}

impl CallEstimate {
    fn from_cost(cost: Estimate) -> Option<Self> {
        Some(CallEstimate { cost, result_size: None })
    }

    fn sized(cost: Estimate, result_size: Estimate) -> Option<Self> {
        Some(CallEstimate { cost, result_size: Some(result_size) })
    }
}

/// Estimates a call of a standard function (`checker/cost.go` of cel-go). It ignores the sizes that the schema
/// declares.
pub(super) fn standard_call(overload: &str, target: Option<&AstNode<'_>>, args: &[AstNode<'_>]) -> CallEstimate {
    let estimate = match (overload, target, args) {
        ("string_format", Some(target), _) => CallEstimate::from_cost(target.size_or_unknown().traversal_cost()),
        ("string_to_bytes", _, [arg]) => {
            let size = arg.size_or_unknown();
            CallEstimate::sized(size.traversal_cost(), Estimate::new(size.min, size.max.wrapping_mul(4)))
        }
        ("bytes_to_string", _, [arg]) => {
            let size = arg.size_or_unknown();
            CallEstimate::sized(size.traversal_cost(), Estimate::new(size.min / 4, size.max))
        }
        ("strings_quote", _, [arg]) => {
            let size = arg.size_or_unknown();
            let quoted = Estimate::new(size.min.wrapping_add(2), size.max.wrapping_mul(2).wrapping_add(2));
            CallEstimate::sized(size.traversal_cost(), quoted)
        }
        ("starts_with_string" | "ends_with_string", _, [arg]) => {
            CallEstimate::from_cost(arg.size_or_unknown().traversal_cost())
        }
        ("in_list", _, [_, list]) => CallEstimate::from_cost(list.size_or_unknown()),
        ("matches_string", Some(target), [pattern]) => {
            CallEstimate::from_cost(regex_match_cost(target.size_or_unknown(), pattern.size_or_unknown()))
        }
        ("contains_string", Some(target), [part]) => CallEstimate::from_cost(
            target.size_or_unknown().traversal_cost().multiply(part.size_or_unknown().traversal_cost()),
        ),
        (_, _, [left, right]) if compares_texts(overload) => {
            let smallest = left.size_or_unknown().max.min(right.size_or_unknown().max);
            CallEstimate::from_cost(Estimate::new(u64::from(smallest > 0), smallest).traversal_cost())
        }
        _ => None,
    };
    estimate.unwrap_or(CallEstimate { cost: Estimate::ONE, result_size: None })
}

fn compares_texts(overload: &str) -> bool {
    let comparison = overload.strip_suffix("_string").or_else(|| overload.strip_suffix("_bytes"));
    matches!(comparison, Some("less" | "greater" | "less_equals" | "greater_equals"))
        || matches!(overload, "equals" | "not_equals")
}

/// The cost of matching a regular expression. Matching an empty string has a cost, too.
fn regex_match_cost(text: Estimate, pattern: Estimate) -> Estimate {
    text.add(Estimate::ONE).traversal_cost().multiply(pattern.multiply_by_factor(REGEX_STRING_LENGTH_COST_FACTOR))
}

/// Estimates a call of an extension or of a Kubernetes library; `None` for every other function.
pub(super) fn library_call(
    sizes: &SchemaSizes<'_>,
    function: &str,
    overload: &str,
    target: Option<&AstNode<'_>>,
    args: &[AstNode<'_>],
) -> Option<CallEstimate> {
    extension_call(sizes, overload, target, args).or_else(|| {
        let library = LibraryCall { sizes, target, args };
        library
            .string_call(function)
            .or_else(|| library.value_call(function, overload))
            .or_else(|| library.equality(function))
    })
}

/// Estimates a call of the list and set extensions (`ext/lists.go` and `ext/sets.go` of cel-go).
fn extension_call(
    sizes: &SchemaSizes<'_>,
    overload: &str,
    target: Option<&AstNode<'_>>,
    args: &[AstNode<'_>],
) -> Option<CallEstimate> {
    let size = |node: &AstNode<'_>| sizes.size(node);
    match (overload, target, args) {
        ("list_slice", Some(target), [start, end]) => {
            let (start, end) = (int_or(start, 0), int_or(end, size(target).max));
            allocating(1.0, Estimate::fixed(end.wrapping_sub(start)))
        }
        ("lists_range", None, [count]) => allocating(1.0, Estimate::fixed(int_or(count, u64::MAX))),
        ("list_reverse", Some(target), []) => allocating(1.0, size(target)),
        ("list_flatten", Some(target), []) => allocating(1.0, size(target)),
        ("list_flatten_int", Some(target), [depth]) => allocating(as_float(int_or(depth, u64::MAX)), size(target)),
        ("list_distinct", Some(target), []) => allocating(2.0, size(target).multiply(size(target))),
        (_, Some(target), []) if overload.starts_with("list_") && overload.ends_with("_sort") => {
            allocating(sort_factor(overload), size(target).multiply(size(target)))
        }
        (_, Some(_), [keys]) if overload.ends_with("_sortByAssociatedKeys") => {
            allocating(sort_factor(overload), size(keys).multiply(size(keys)))
        }
        ("list_sets_contains_list" | "list_sets_intersects_list", None, [left, right]) => {
            CallEstimate::from_cost(size(left).multiply(size(right)).add(Estimate::ONE))
        }
        ("list_sets_equivalent_list", None, [left, right]) => {
            CallEstimate::from_cost(size(left).multiply(size(right)).multiply_by_factor(2.0).add(Estimate::ONE))
        }
        _ => None,
    }
}

fn as_float(number: u64) -> f64 {
    number as f64
}

fn sort_factor(overload: &str) -> f64 {
    if overload.starts_with("list_string") || overload.starts_with("list_bytes") {
        2.0 + STRING_TRAVERSAL_COST_FACTOR
    } else {
        2.0
    }
}

/// A call that creates a list of the given size.
fn allocating(factor: f64, size: Estimate) -> Option<CallEstimate> {
    CallEstimate::sized(
        size.multiply_by_factor(factor).add(Estimate::ONE).add(Estimate::fixed(LIST_CREATE_BASE_COST)),
        size,
    )
}

/// The value of an integer literal, at least 0; `default` for any other expression.
fn int_or(node: &AstNode<'_>, default: u64) -> u64 {
    match &node.expr.kind {
        ExprKind::Literal(Literal::Int(number)) => u64::try_from(*number).unwrap_or(0),
        _ => default,
    }
}

/// A call of a Kubernetes library (`k8s.io/apiserver/pkg/cel/library/cost.go`).
struct LibraryCall<'a, 'b> {
    sizes: &'a SchemaSizes<'b>,
    target: Option<&'a AstNode<'b>>,
    args: &'a [AstNode<'b>],
}

impl LibraryCall<'_, '_> {
    fn size(&self, node: &AstNode<'_>) -> Estimate {
        self.sizes.size(node)
    }

    fn first_arg_size(&self) -> Option<Estimate> {
        self.args.first().map(|arg| self.size(arg))
    }

    /// The type of the items of a list, and the size that the schema declares for them.
    fn items(&self, list: &AstNode<'_>) -> Option<(Type, Estimate)> {
        let inner = match &list.node_type {
            Type::List(inner) | Type::Map(inner, _) | Type::Optional(inner) => Type::clone(inner),
            _ => return None,
        };
        let path = if !list.path.is_empty() { list.path.append("@items") } else { Path::default() };
        Some((inner, self.sizes.declared_size(&path).unwrap_or(Estimate::UNKNOWN)))
    }

    fn string_call(&self, function: &str) -> Option<CallEstimate> {
        match function {
            "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => self.traverse_items(),
            "url" => {
                let size = self.first_arg_size()?;
                CallEstimate::sized(size.traversal_cost(), size)
            }
            "lowerAscii" | "upperAscii" | "substring" | "trim" => {
                let size = self.size(self.target?);
                CallEstimate::sized(size.traversal_cost(), size)
            }
            "replace" => self.replace(),
            "split" => self.split(),
            "join" => self.join(),
            "find" | "findAll" => {
                let text = self.size(self.target?);
                CallEstimate::sized(regex_match_cost(text, self.first_arg_size()?), Estimate::new(0, text.max))
            }
            _ => None,
        }
    }

    fn traverse_items(&self) -> Option<CallEstimate> {
        let target = self.target?;
        let size = self.size(target);
        let Some((item_type, item_size)) = self.items(target) else {
            return CallEstimate::from_cost(size.traversal_cost());
        };
        let mut item_cost = Estimate::ONE;
        if matches!(item_type, Type::String | Type::Bytes) {
            item_cost = item_cost.add(item_size.traversal_cost());
        }
        CallEstimate::from_cost(size.multiply(item_cost))
    }

    fn replace(&self) -> Option<CallEstimate> {
        let target = self.target?;
        let [old, new, ..] = self.args else { return None };
        let (text, old, new) = (self.size(target), self.size(old), self.size(new));
        let (mut count, mut unchanged) = (Estimate::ZERO, Estimate::ZERO);
        if old.min == 0 {
            count.max = text.max.saturating_add(1);
            unchanged.max = text.max;
        } else if new.max <= old.min {
            unchanged.max = text.max;
        } else {
            count.max = divide_rounding_up(text.max, old.min);
        }
        if old.max == 0 {
            count.min = text.min.saturating_add(1);
            unchanged.min = text.min;
        } else if old.max <= new.min {
            unchanged.min = text.min;
        } else {
            count.min = divide_rounding_up(text.min, old.max);
        }
        CallEstimate::sized(
            text.multiply_by_factor(2.0 * STRING_TRAVERSAL_COST_FACTOR),
            count.multiply(new).add(unchanged),
        )
    }

    fn split(&self) -> Option<CallEstimate> {
        let text = self.size(self.target?);
        let max = match self.args.get(1).map(|limit| &limit.expr.kind) {
            Some(ExprKind::Literal(Literal::Int(limit))) => *limit as u64,
            _ => text.max,
        };
        CallEstimate::sized(text.multiply_by_factor(2.0 * STRING_TRAVERSAL_COST_FACTOR), Estimate::new(0, max))
    }

    fn join(&self) -> Option<CallEstimate> {
        let target = self.target?;
        let count = self.size(target);
        let mut size = self.items(target).map_or(Estimate::ZERO, |(_, item)| count.multiply(item));
        if let Some(separator) = self.first_arg_size() {
            let separators = Estimate::new(count.min.saturating_sub(1), count.max.saturating_sub(1));
            size = size.add(separator.multiply(separators));
        }
        CallEstimate::sized(size.traversal_cost(), size)
    }

    fn value_call(&self, function: &str, overload: &str) -> Option<CallEstimate> {
        // An IP address has 4 or 16 bytes.
        let address = Estimate::new(4, 16);
        match function {
            "ip" if overload == "cidr_ip" => CallEstimate::from_cost(Estimate::ONE),
            "cidr" | "isIP" | "isCIDR" | "ip" | "quantity" | "isQuantity" | "semver" | "isSemver" => {
                CallEstimate::from_cost(self.first_arg_size()?.traversal_cost())
            }
            "ip.isCanonical" => {
                CallEstimate::from_cost(self.first_arg_size()?.multiply_by_factor(2.0 * STRING_TRAVERSAL_COST_FACTOR))
            }
            "containsIP" => {
                let cost = address.add(address).traversal_cost();
                CallEstimate::from_cost(cost.add(self.parse_cost(overload == "cidr_contains_ip_string")?))
            }
            "containsCIDR" => {
                let cost = address.add(address).traversal_cost().add(address.traversal_cost()).add(Estimate::ONE);
                CallEstimate::from_cost(cost.add(self.parse_cost(overload == "cidr_contains_cidr_string")?))
            }
            "validate" => {
                let factor = MAX_NAMED_FORMAT_PATTERN * REGEX_STRING_LENGTH_COST_FACTOR;
                CallEstimate::from_cost(self.first_arg_size()?.traversal_cost().multiply_by_factor(factor))
            }
            "masked"
            | "prefixLength"
            | "family"
            | "isUnspecified"
            | "isLoopback"
            | "isLinkLocalMulticast"
            | "isLinkLocalUnicast"
            | "isGlobalUnicast"
            | "format.named"
            | "sign"
            | "asInteger"
            | "isInteger"
            | "asApproximateFloat"
            | "isGreaterThan"
            | "isLessThan"
            | "compareTo"
            | "add"
            | "sub"
            | "major"
            | "minor"
            | "patch"
            | "getScheme"
            | "getHostname"
            | "getHost"
            | "getPort"
            | "getEscapedPath"
            | "getQuery"
            | "path"
            | "group"
            | "serviceAccount" => CallEstimate::from_cost(Estimate::ONE),
            _ => None,
        }
    }

    /// The cost of parsing the first argument, if it is a string.
    fn parse_cost(&self, is_string: bool) -> Option<Estimate> {
        if is_string { self.first_arg_size().map(Estimate::traversal_cost) } else { Some(Estimate::ZERO) }
    }

    /// Estimates the comparison of two values of a library type.
    fn equality(&self, function: &str) -> Option<CallEstimate> {
        let [left, right] = self.args else { return None };
        if function != operator::EQUALS || left.node_type != right.node_type {
            return None;
        }
        match &left.node_type {
            node_type if [IP, CIDR, QUANTITY, SEMVER].contains(node_type) => CallEstimate::from_cost(Estimate::ONE),
            node_type if *node_type == NAMED_FORMAT => CallEstimate::from_cost(Estimate::new(1, 64).traversal_cost()),
            node_type if *node_type == URL => {
                let max = right.computed_size.map_or(1, |size| size.max);
                CallEstimate::from_cost(Estimate::new(1, max).traversal_cost())
            }
            _ => None,
        }
    }
}

/// Divides in floating point and rounds up, as the server does.
fn divide_rounding_up(size: u64, by: u64) -> u64 {
    if by == 1 { multiply_by_factor(size, 1.0) } else { (size as f64 / by as f64).ceil() as u64 }
}

//! What calls cost: cel-go's own numbers, its extensions' and those of Kubernetes' libraries.

use super::{
    cost::{Argument, Estimator, Path},
    estimate::{Range, scale},
    syntax::{ExprKind, Literal, operator},
    types::{CIDR, FORMAT, IP, QUANTITY, SEMVER, Type, URL},
};

/// Cost of passing over a string, by character.
pub(super) const STRING: f64 = 0.1;
/// Cost of a regular expression, by character of the pattern.
const PATTERN: f64 = 0.25;
/// The longest pattern of a named format the estimate reckons with.
const FORMAT_PATTERN: f64 = 128.0;
const LIST_CREATION: u64 = 10;

/// Cost of a call, and the size of its result where that is known.
pub(super) struct CallEstimate {
    pub(super) cost: Range,
    pub(super) size: Option<Range>,
}

impl CallEstimate {
    fn of(cost: Range) -> Option<Self> {
        Some(CallEstimate { cost, size: None })
    }

    fn sized(cost: Range, size: Range) -> Option<Self> {
        Some(CallEstimate { cost, size: Some(size) })
    }
}

/// What cel-go itself says of an overload; sizes that it did not compute are unknown here.
pub(super) fn of_standard(overload: &str, target: Option<&Argument<'_>>, args: &[Argument<'_>]) -> CallEstimate {
    let estimate = match (overload, target, args) {
        ("string_format", Some(target), _) => CallEstimate::of(target.known_size().scaled(STRING)),
        ("string_to_bytes", _, [arg]) => {
            let size = arg.known_size();
            CallEstimate::sized(size.scaled(STRING), Range::new(size.min, size.max.wrapping_mul(4)))
        }
        ("bytes_to_string", _, [arg]) => {
            let size = arg.known_size();
            CallEstimate::sized(size.scaled(STRING), Range::new(size.min / 4, size.max))
        }
        ("strings_quote", _, [arg]) => {
            let size = arg.known_size();
            let quoted = Range::new(size.min.wrapping_add(2), size.max.wrapping_mul(2).wrapping_add(2));
            CallEstimate::sized(size.scaled(STRING), quoted)
        }
        ("starts_with_string" | "ends_with_string", _, [arg]) => CallEstimate::of(arg.known_size().scaled(STRING)),
        ("in_list", _, [_, list]) => CallEstimate::of(list.known_size()),
        ("matches_string", Some(target), [pattern]) => {
            CallEstimate::of(matching(target.known_size(), pattern.known_size()))
        }
        ("contains_string", Some(target), [part]) => {
            CallEstimate::of(target.known_size().scaled(STRING).times(part.known_size().scaled(STRING)))
        }
        (_, _, [left, right]) if compares_sizes(overload) => {
            let smallest = left.known_size().max.min(right.known_size().max);
            CallEstimate::of(Range::new(u64::from(smallest > 0), smallest).scaled(STRING))
        }
        _ => None,
    };
    estimate.unwrap_or(CallEstimate { cost: Range::ONE, size: None })
}

fn compares_sizes(overload: &str) -> bool {
    let comparison = overload.strip_suffix("_string").or_else(|| overload.strip_suffix("_bytes"));
    matches!(comparison, Some("less" | "greater" | "less_equals" | "greater_equals"))
        || matches!(overload, "equals" | "not_equals")
}

/// A regular expression on a string: even an empty one costs.
fn matching(text: Range, pattern: Range) -> Range {
    text.plus(Range::ONE).scaled(STRING).times(pattern.scaled(PATTERN))
}

/// What the extensions' and Kubernetes' libraries say of a call, if it is theirs.
pub(super) fn of_library(
    estimator: &Estimator<'_>,
    function: &str,
    overload: &str,
    target: Option<&Argument<'_>>,
    args: &[Argument<'_>],
) -> Option<CallEstimate> {
    of_extension(estimator, overload, target, args).or_else(|| {
        let library = Library { estimator, target, args };
        library
            .of_strings(function)
            .or_else(|| library.of_values(function, overload))
            .or_else(|| library.equality(function))
    })
}

/// Lists and sets of cel-go's extensions.
fn of_extension(
    estimator: &Estimator<'_>,
    overload: &str,
    target: Option<&Argument<'_>>,
    args: &[Argument<'_>],
) -> Option<CallEstimate> {
    let size = |argument: &Argument<'_>| size(estimator, argument);
    match (overload, target, args) {
        ("list_slice", Some(target), [start, end]) => {
            let (start, end) = (int_or(start, 0), int_or(end, size(target).max));
            allocating(1.0, Range::fixed(end.wrapping_sub(start)))
        }
        ("lists_range", None, [count]) => allocating(1.0, Range::fixed(int_or(count, u64::MAX))),
        ("list_reverse", Some(target), []) => allocating(1.0, size(target)),
        ("list_flatten", Some(target), []) => allocating(1.0, size(target)),
        ("list_flatten_int", Some(target), [depth]) => allocating(as_float(int_or(depth, u64::MAX)), size(target)),
        ("list_distinct", Some(target), []) => allocating(2.0, size(target).times(size(target))),
        (_, Some(target), []) if overload.starts_with("list_") && overload.ends_with("_sort") => {
            allocating(sort_factor(overload), size(target).times(size(target)))
        }
        (_, Some(_), [keys]) if overload.ends_with("_sortByAssociatedKeys") => {
            allocating(sort_factor(overload), size(keys).times(size(keys)))
        }
        ("list_sets_contains_list" | "list_sets_intersects_list", None, [left, right]) => {
            CallEstimate::of(size(left).times(size(right)).plus(Range::ONE))
        }
        ("list_sets_equivalent_list", None, [left, right]) => {
            CallEstimate::of(size(left).times(size(right)).scaled(2.0).plus(Range::ONE))
        }
        _ => None,
    }
}

#[allow(clippy::cast_precision_loss)]
fn as_float(number: u64) -> f64 {
    number as f64
}

fn sort_factor(overload: &str) -> f64 {
    if overload.starts_with("list_string") || overload.starts_with("list_bytes") { 2.0 + STRING } else { 2.0 }
}

/// A call that makes a list of `size`.
fn allocating(factor: f64, size: Range) -> Option<CallEstimate> {
    CallEstimate::sized(size.scaled(factor).plus(Range::ONE).plus(Range::fixed(LIST_CREATION)), size)
}

/// The number a literal says, at least 0; `otherwise` where it is none.
fn int_or(argument: &Argument<'_>, otherwise: u64) -> u64 {
    match argument.expr.map(|expr| &expr.kind) {
        Some(ExprKind::Literal(Literal::Int(number))) => u64::try_from(*number).unwrap_or(0),
        _ => otherwise,
    }
}

fn size(estimator: &Estimator<'_>, argument: &Argument<'_>) -> Range {
    argument.computed.or_else(|| estimator.declared_size(&argument.path)).unwrap_or(Range::UNKNOWN)
}

/// A call of Kubernetes' libraries.
struct Library<'a, 'b> {
    estimator: &'a Estimator<'b>,
    target: Option<&'a Argument<'b>>,
    args: &'a [Argument<'b>],
}

impl Library<'_, '_> {
    fn size(&self, argument: &Argument<'_>) -> Range {
        size(self.estimator, argument)
    }

    fn first(&self) -> Option<Range> {
        self.args.first().map(|arg| self.size(arg))
    }

    /// The items of a list: their type, and their size by the schema.
    fn items(&self, list: &Argument<'_>) -> Option<(Type, Range)> {
        let inner = match &list.kind {
            Type::List(inner) | Type::Map(inner, _) | Type::Optional(inner) => Type::clone(inner),
            _ => return None,
        };
        let path = if !list.path.is_empty() { list.path.append("@items") } else { Path::default() };
        Some((inner, self.estimator.declared_size(&path).unwrap_or(Range::UNKNOWN)))
    }

    fn of_strings(&self, function: &str) -> Option<CallEstimate> {
        match function {
            "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => self.pass_over_items(),
            "url" => {
                let size = self.first()?;
                CallEstimate::sized(size.scaled(STRING), size)
            }
            "lowerAscii" | "upperAscii" | "substring" | "trim" => {
                let size = self.size(self.target?);
                CallEstimate::sized(size.scaled(STRING), size)
            }
            "replace" => self.replace(),
            "split" => self.split(),
            "join" => self.join(),
            "find" | "findAll" => {
                let text = self.size(self.target?);
                CallEstimate::sized(matching(text, self.first()?), Range::new(0, text.max))
            }
            _ => None,
        }
    }

    fn pass_over_items(&self) -> Option<CallEstimate> {
        let target = self.target?;
        let size = self.size(target);
        let Some((kind, item)) = self.items(target) else { return CallEstimate::of(size.scaled(STRING)) };
        let mut each = Range::ONE;
        if matches!(kind, Type::String | Type::Bytes) {
            each = each.plus(item.scaled(STRING));
        }
        CallEstimate::of(size.times(each))
    }

    fn replace(&self) -> Option<CallEstimate> {
        let target = self.target?;
        let [old, new, ..] = self.args else { return None };
        let (text, old, new) = (self.size(target), self.size(old), self.size(new));
        let (mut count, mut kept) = (Range::ZERO, Range::ZERO);
        if old.min == 0 {
            count.max = text.max.saturating_add(1);
            kept.max = text.max;
        } else if new.max <= old.min {
            kept.max = text.max;
        } else {
            count.max = divided(text.max, old.min);
        }
        if old.max == 0 {
            count.min = text.min.saturating_add(1);
            kept.min = text.min;
        } else if old.max <= new.min {
            kept.min = text.min;
        } else {
            count.min = divided(text.min, old.max);
        }
        CallEstimate::sized(text.scaled(2.0 * STRING), count.times(new).plus(kept))
    }

    fn split(&self) -> Option<CallEstimate> {
        let text = self.size(self.target?);
        let max = match self.args.get(1).and_then(|limit| limit.expr).map(|expr| &expr.kind) {
            #[allow(clippy::cast_sign_loss)]
            Some(ExprKind::Literal(Literal::Int(limit))) => *limit as u64,
            _ => text.max,
        };
        CallEstimate::sized(text.scaled(2.0 * STRING), Range::new(0, max))
    }

    fn join(&self) -> Option<CallEstimate> {
        let target = self.target?;
        let count = self.size(target);
        let mut size = self.items(target).map_or(Range::ZERO, |(_, item)| count.times(item));
        if let Some(separator) = self.first() {
            let separators = Range::new(count.min.saturating_sub(1), count.max.saturating_sub(1));
            size = size.plus(separator.times(separators));
        }
        CallEstimate::sized(size.scaled(STRING), size)
    }

    fn of_values(&self, function: &str, overload: &str) -> Option<CallEstimate> {
        // An address is 4 or 16 bytes long.
        let address = Range::new(4, 16);
        match function {
            "ip" if overload == "cidr_ip" => CallEstimate::of(Range::ONE),
            "cidr" | "isIP" | "isCIDR" | "ip" | "quantity" | "isQuantity" | "semver" | "isSemver" => {
                CallEstimate::of(self.first()?.scaled(STRING))
            }
            "ip.isCanonical" => CallEstimate::of(self.first()?.scaled(2.0 * STRING)),
            "containsIP" => {
                let cost = address.plus(address).scaled(STRING);
                let parsing =
                    if overload == "cidr_contains_ip_string" { self.first()?.scaled(STRING) } else { Range::ZERO };
                CallEstimate::of(cost.plus(parsing))
            }
            "containsCIDR" => {
                let cost = address.plus(address).scaled(STRING).plus(address.scaled(STRING)).plus(Range::ONE);
                let parsing =
                    if overload == "cidr_contains_cidr_string" { self.first()?.scaled(STRING) } else { Range::ZERO };
                CallEstimate::of(cost.plus(parsing))
            }
            "validate" => CallEstimate::of(self.first()?.scaled(STRING).scaled(FORMAT_PATTERN * PATTERN)),
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
            | "serviceAccount" => CallEstimate::of(Range::ONE),
            _ => None,
        }
    }

    /// Equality of the libraries' own values.
    fn equality(&self, function: &str) -> Option<CallEstimate> {
        let [left, right] = self.args else { return None };
        if function != operator::EQUALS || left.kind != right.kind {
            return None;
        }
        match &left.kind {
            kind if [IP, CIDR, QUANTITY, SEMVER].contains(kind) => CallEstimate::of(Range::ONE),
            kind if *kind == FORMAT => CallEstimate::of(Range::new(1, 64).scaled(STRING)),
            kind if *kind == URL => {
                let max = right.computed.map_or(1, |size| size.max);
                CallEstimate::of(Range::new(1, max).scaled(STRING))
            }
            _ => None,
        }
    }
}

/// The quotient, rounded up as the server's floats are.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn divided(size: u64, by: u64) -> u64 {
    if by == 1 { scale(size, 1.0) } else { (size as f64 / by as f64).ceil() as u64 }
}

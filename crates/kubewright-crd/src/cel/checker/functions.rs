//! The function declarations of the environment in which kube-apiserver 1.36 compiles the rules of CRDs.
//!
//! The server accepts only what its previous minor version supports (`k8s.io/apiserver/pkg/cel/environment/base.go`):
//! the standard library, optional values, strings 2, lists 3, sets, two-variable comprehensions, and the libraries of
//! Kubernetes. Not included: `math`, `encoders` and `cel.bind`. Mutations of admission policies have the functions of
//! JSON patches in addition.

use std::{collections::HashMap, sync::LazyLock};

use crate::cel::{
    formats::named_format,
    types::{
        AUTHORIZER, CIDR, DECISION, GROUP_CHECK, IP, NAMED_FORMAT, PATH_CHECK, QUANTITY, RESOURCE_CHECK, SEMVER, Type,
        URL,
    },
};

/// An overload of a function.
#[derive(Clone, Debug)]
pub(crate) struct Overload {
    /// The overload id of cel-go, which determines the cost.
    pub(crate) id: String,
    pub(crate) is_member: bool,
    /// The types of the parameters; the first one of a member function is the target. Type parameters are numbered from
    /// 0.
    pub(crate) params: Vec<Type>,
    pub(crate) result: Type,
    /// The number of type parameters.
    pub(crate) type_params: usize,
}

static FUNCTIONS: LazyLock<HashMap<String, Vec<Overload>>> = LazyLock::new(|| {
    let mut functions: HashMap<String, Vec<Overload>> = HashMap::new();
    let generated = comparison_overloads().chain(list_overloads()).chain(named_format_overloads()).collect::<Vec<_>>();
    for line in DECLARATIONS.lines().map(str::to_owned).chain(generated) {
        let (function, overload) = parse_declaration(&line).expect("a test parses every declaration");
        functions.entry(function).or_default().push(overload);
    }
    functions
});

/// Whether a function is declared for JSON patches only.
pub(crate) fn is_of_patches(function: &str) -> bool {
    function.strip_prefix('.').unwrap_or(function).starts_with("jsonpatch.")
}

/// The overloads of a function; `None` if it is not declared.
pub(crate) fn overloads(function: &str) -> Option<&'static [Overload]> {
    FUNCTIONS.get(function.strip_prefix('.').unwrap_or(function)).map(Vec::as_slice)
}

/// The names of all declared functions.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.keys().map(String::as_str)
}

/// Parses a declaration: function, overload id (followed by a dot for a member function), parameter types, result type.
fn parse_declaration(line: &str) -> Option<(String, Overload)> {
    let (function, rest) = line.split_once(' ')?;
    let (id, rest) = rest.trim_start().split_once('(')?;
    let (params, result) = rest.rsplit_once(") ")?;
    let mut type_params = Vec::new();
    let (id, is_member) = match id.strip_suffix('.') {
        Some(id) => (id, true),
        None => (id, false),
    };
    let params =
        split_list(params).into_iter().map(|param| parse_type(param, &mut type_params)).collect::<Option<_>>()?;
    let result = parse_type(result, &mut type_params)?;
    let overload = Overload { id: id.to_owned(), is_member, params, result, type_params: type_params.len() };
    Some((function.to_owned(), overload))
}

/// Splits a list at the commas outside of brackets.
fn split_list(text: &str) -> Vec<&str> {
    let mut depth = 0;
    let mut parts: Vec<&str> = text
        .split(|c| {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            c == ',' && depth == 0
        })
        .map(str::trim)
        .collect();
    parts.retain(|part| !part.is_empty());
    parts
}

fn parse_type<'a>(text: &'a str, type_params: &mut Vec<&'a str>) -> Option<Type> {
    if let Some((outer, inner)) = text.strip_suffix(')').and_then(|text| text.split_once('(')) {
        let mut inner =
            split_list(inner).into_iter().map(|inner| parse_type(inner, type_params)).collect::<Option<Vec<_>>>()?;
        let last = inner.pop()?;
        return Some(match outer {
            "list" => Type::list(last),
            "optional" => Type::optional(last),
            "type" => Type::metatype(last),
            "map" => Type::map(inner.pop()?, last),
            _ => return None,
        });
    }
    Some(match text {
        "bool" => Type::Bool,
        "int" => Type::Int,
        "uint" => Type::Uint,
        "double" => Type::Double,
        "string" => Type::String,
        "bytes" => Type::Bytes,
        "timestamp" => Type::Timestamp,
        "duration" => Type::Duration,
        "dyn" => Type::Dyn,
        "url" => URL,
        "ip" => IP,
        "cidr" => CIDR,
        "quantity" => QUANTITY,
        "semver" => SEMVER,
        "format" => NAMED_FORMAT,
        "authorizer" => AUTHORIZER,
        "path_check" => PATH_CHECK,
        "group_check" => GROUP_CHECK,
        "resource_check" => RESOURCE_CHECK,
        "decision" => DECISION,
        "A" | "B" | "K" | "V" => {
            let index = type_params.iter().position(|name| *name == text).unwrap_or_else(|| {
                type_params.push(text);
                type_params.len() - 1
            });
            Type::Param(index)
        }
        _ => return None,
    })
}

/// The ordered types.
const COMPARABLE: [&str; 8] = ["int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes"];

fn comparison_overloads() -> impl Iterator<Item = String> {
    let named = [("_<_", "less"), ("_<=_", "less_equals"), ("_>_", "greater"), ("_>=_", "greater_equals")];
    let long = |name: &str| if name.ends_with("int") { format!("{name}64") } else { name.to_owned() };
    named.into_iter().flat_map(move |(operator, name)| {
        let same = COMPARABLE.into_iter().map(move |t| format!("{operator} {name}_{}({t}, {t}) bool", long(t)));
        let numbers = ["int", "uint", "double"];
        let mixed = numbers.into_iter().flat_map(move |left| {
            numbers
                .into_iter()
                .filter(move |right| left != *right)
                .map(move |right| format!("{operator} {name}_{}_{}({left}, {right}) bool", long(left), long(right)))
        });
        same.chain(mixed)
    })
}

fn list_overloads() -> impl Iterator<Item = String> {
    let sums = ["int", "uint", "double", "duration"].map(|t| format!("sum list_{t}_sum_{t}.(list({t})) {t}"));
    let by_key = COMPARABLE.map(|t| {
        let name = runtime_name(t);
        format!("@sortByAssociatedKeys list_{name}_sortByAssociatedKeys.(list(A), list({t})) list(A)")
    });
    let others = COMPARABLE.into_iter().flat_map(|t| {
        [
            format!("isSorted list_{t}_is_sorted_bool.(list({t})) bool"),
            format!("max list_{t}_max_{t}.(list({t})) {t}"),
            format!("min list_{t}_min_{t}.(list({t})) {t}"),
            format!("sort list_{}_sort.(list({t})) list({t})", runtime_name(t)),
        ]
    });
    sums.into_iter().chain(by_key).chain(others)
}

/// The name of a type at run time.
fn runtime_name(name: &str) -> String {
    match name {
        "duration" => "google.protobuf.Duration".to_owned(),
        "timestamp" => "google.protobuf.Timestamp".to_owned(),
        other => other.to_owned(),
    }
}

fn named_format_overloads() -> impl Iterator<Item = String> {
    named_format::NAMES.iter().map(|name| format!("format.{name} format.{name}() format"))
}

const DECLARATIONS: &str = "\
_?_:_ conditional(bool, A, A) A
_&&_ logical_and(bool, bool) bool
_||_ logical_or(bool, bool) bool
!_ logical_not(bool) bool
@not_strictly_false not_strictly_false(bool) bool
_==_ equals(A, A) bool
_!=_ not_equals(A, A) bool
_+_ add_bytes(bytes, bytes) bytes
_+_ add_double(double, double) double
_+_ add_duration_duration(duration, duration) duration
_+_ add_duration_timestamp(duration, timestamp) timestamp
_+_ add_timestamp_duration(timestamp, duration) timestamp
_+_ add_int64(int, int) int
_+_ add_list(list(A), list(A)) list(A)
_+_ add_string(string, string) string
_+_ add_uint64(uint, uint) uint
_/_ divide_double(double, double) double
_/_ divide_int64(int, int) int
_/_ divide_uint64(uint, uint) uint
_%_ modulo_int64(int, int) int
_%_ modulo_uint64(uint, uint) uint
_*_ multiply_double(double, double) double
_*_ multiply_int64(int, int) int
_*_ multiply_uint64(uint, uint) uint
-_ negate_double(double) double
-_ negate_int64(int) int
_-_ subtract_double(double, double) double
_-_ subtract_duration_duration(duration, duration) duration
_-_ subtract_int64(int, int) int
_-_ subtract_timestamp_duration(timestamp, duration) timestamp
_-_ subtract_timestamp_timestamp(timestamp, timestamp) duration
_-_ subtract_uint64(uint, uint) uint
_[_] index_list(list(A), int) A
_[_] index_map(map(A, B), A) B
_[_] optional_list_index_int(optional(list(V)), int) optional(V)
_[_] optional_map_index_value(optional(map(K, V)), K) optional(V)
_[?_] list_optindex_optional_int(list(V), int) optional(V)
_[?_] optional_list_optindex_optional_int(optional(list(V)), int) optional(V)
_[?_] map_optindex_optional_value(map(K, V), K) optional(V)
_[?_] optional_map_optindex_optional_value(optional(map(K, V)), K) optional(V)
@in in_list(A, list(A)) bool
@in in_map(A, map(A, B)) bool
size size_bytes(bytes) int
size bytes_size.(bytes) int
size size_list(list(A)) int
size list_size.(list(A)) int
size size_map(map(A, B)) int
size map_size.(map(A, B)) int
size size_string(string) int
size string_size.(string) int
type type(A) type(A)
bool bool_to_bool(bool) bool
bool string_to_bool(string) bool
bytes bytes_to_bytes(bytes) bytes
bytes string_to_bytes(string) bytes
double double_to_double(double) double
double int64_to_double(int) double
double string_to_double(string) double
double uint64_to_double(uint) double
duration duration_to_duration(duration) duration
duration int64_to_duration(int) duration
duration string_to_duration(string) duration
dyn to_dyn(A) dyn
int int64_to_int64(int) int
int double_to_int64(double) int
int duration_to_int64(duration) int
int string_to_int64(string) int
int timestamp_to_int64(timestamp) int
int uint64_to_int64(uint) int
string string_to_string(string) string
string bool_to_string(bool) string
string bytes_to_string(bytes) string
string double_to_string(double) string
string duration_to_string(duration) string
string int64_to_string(int) string
string timestamp_to_string(timestamp) string
string uint64_to_string(uint) string
string ip_to_string(ip) string
string cidr_to_string(cidr) string
timestamp timestamp_to_timestamp(timestamp) timestamp
timestamp int64_to_timestamp(int) timestamp
timestamp string_to_timestamp(string) timestamp
uint uint64_to_uint64(uint) uint
uint double_to_uint64(double) uint
uint int64_to_uint64(int) uint
uint string_to_uint64(string) uint
contains contains_string.(string, string) bool
endsWith ends_with_string.(string, string) bool
startsWith starts_with_string.(string, string) bool
matches matches(string, string) bool
matches matches_string.(string, string) bool
getFullYear timestamp_to_year.(timestamp) int
getFullYear timestamp_to_year_with_tz.(timestamp, string) int
getMonth timestamp_to_month.(timestamp) int
getMonth timestamp_to_month_with_tz.(timestamp, string) int
getDayOfYear timestamp_to_day_of_year.(timestamp) int
getDayOfYear timestamp_to_day_of_year_with_tz.(timestamp, string) int
getDayOfMonth timestamp_to_day_of_month.(timestamp) int
getDayOfMonth timestamp_to_day_of_month_with_tz.(timestamp, string) int
getDate timestamp_to_day_of_month_1_based.(timestamp) int
getDate timestamp_to_day_of_month_1_based_with_tz.(timestamp, string) int
getDayOfWeek timestamp_to_day_of_week.(timestamp) int
getDayOfWeek timestamp_to_day_of_week_with_tz.(timestamp, string) int
getHours timestamp_to_hours.(timestamp) int
getHours timestamp_to_hours_with_tz.(timestamp, string) int
getHours duration_to_hours.(duration) int
getMinutes timestamp_to_minutes.(timestamp) int
getMinutes timestamp_to_minutes_with_tz.(timestamp, string) int
getMinutes duration_to_minutes.(duration) int
getSeconds timestamp_to_seconds.(timestamp) int
getSeconds timestamp_to_seconds_tz.(timestamp, string) int
getSeconds duration_to_seconds.(duration) int
getMilliseconds timestamp_to_milliseconds.(timestamp) int
getMilliseconds timestamp_to_milliseconds_with_tz.(timestamp, string) int
getMilliseconds duration_to_milliseconds.(duration) int
optional.of optional_of(V) optional(V)
optional.ofNonZeroValue optional_ofNonZeroValue(V) optional(V)
optional.none optional_none() optional(V)
value optional_value.(optional(V)) V
hasValue optional_hasValue.(optional(V)) bool
or optional_or_optional.(optional(V), optional(V)) optional(V)
orValue optional_orValue_value.(optional(V), V) V
first list_first.(list(V)) optional(V)
last list_last.(list(V)) optional(V)
optional.unwrap optional_unwrap(list(optional(V))) list(V)
unwrapOpt optional_unwrapOpt.(list(optional(V))) list(V)
charAt string_char_at_int.(string, int) string
indexOf string_index_of_string.(string, string) int
indexOf string_index_of_string_int.(string, string, int) int
indexOf list_a_index_of_int.(list(A), A) int
lastIndexOf string_last_index_of_string.(string, string) int
lastIndexOf string_last_index_of_string_int.(string, string, int) int
lastIndexOf list_a_last_index_of_int.(list(A), A) int
lowerAscii string_lower_ascii.(string) string
upperAscii string_upper_ascii.(string) string
replace string_replace_string_string.(string, string, string) string
replace string_replace_string_string_int.(string, string, string, int) string
split string_split_string.(string, string) list(string)
split string_split_string_int.(string, string, int) list(string)
substring string_substring_int.(string, int) string
substring string_substring_int_int.(string, int, int) string
trim string_trim.(string) string
format string_format.(string, list(dyn)) string
strings.quote strings_quote(string) string
join list_join.(list(string)) string
join list_join_string.(list(string), string) string
slice list_slice.(list(A), int, int) list(A)
flatten list_flatten.(list(list(A))) list(A)
flatten list_flatten_int.(list(dyn), int) list(dyn)
lists.range lists_range(int) list(int)
reverse list_reverse.(list(A)) list(A)
distinct list_distinct.(list(A)) list(A)
sets.contains list_sets_contains_list(list(A), list(A)) bool
sets.equivalent list_sets_equivalent_list(list(A), list(A)) bool
sets.intersects list_sets_intersects_list(list(A), list(A)) bool
cel.@mapInsert @mapInsert_map_key_value(map(K, V), K, V) map(K, V)
cel.@mapInsert @mapInsert_map_map(map(K, V), map(K, V)) map(K, V)
find string_find_string.(string, string) string
findAll string_find_all_string.(string, string) list(string)
findAll string_find_all_string_int.(string, string, int) list(string)
url string_to_url(string) url
isURL is_url_string(string) bool
getScheme url_get_scheme.(url) string
getHost url_get_host.(url) string
getHostname url_get_hostname.(url) string
getPort url_get_port.(url) string
getEscapedPath url_get_escaped_path.(url) string
getQuery url_get_query.(url) map(string, list(string))
ip string_to_ip(string) ip
ip cidr_ip.(cidr) ip
isIP is_ip(string) bool
ip.isCanonical ip_is_canonical(string) bool
family ip_family.(ip) int
isUnspecified ip_is_unspecified.(ip) bool
isLoopback ip_is_loopback.(ip) bool
isLinkLocalMulticast ip_is_link_local_multicast.(ip) bool
isLinkLocalUnicast ip_is_link_local_unicast.(ip) bool
isGlobalUnicast ip_is_global_unicast.(ip) bool
cidr string_to_cidr(string) cidr
isCIDR is_cidr(string) bool
containsIP cidr_contains_ip_string.(cidr, string) bool
containsIP cidr_contains_ip_ip.(cidr, ip) bool
containsCIDR cidr_contains_cidr_string.(cidr, string) bool
containsCIDR cidr_contains_cidr.(cidr, cidr) bool
prefixLength cidr_prefix_length.(cidr) int
masked cidr_masked.(cidr) cidr
quantity string_to_quantity(string) quantity
isQuantity is_quantity_string(string) bool
sign quantity_sign(quantity) int
isGreaterThan quantity_is_greater_than.(quantity, quantity) bool
isLessThan quantity_is_less_than.(quantity, quantity) bool
compareTo quantity_compare_to.(quantity, quantity) int
asApproximateFloat quantity_get_float.(quantity) double
asInteger quantity_get_int.(quantity) int
isInteger quantity_is_integer.(quantity) bool
add quantity_add.(quantity, quantity) quantity
add quantity_add_int.(quantity, int) quantity
sub quantity_sub.(quantity, quantity) quantity
sub quantity_sub_int.(quantity, int) quantity
semver string_to_semver(string) semver
semver string_bool_to_semver(string, bool) semver
isSemver is_semver_string(string) bool
isSemver is_semver_string_bool(string, bool) bool
isGreaterThan semver_is_greater_than.(semver, semver) bool
isLessThan semver_is_less_than.(semver, semver) bool
compareTo semver_compare_to.(semver, semver) int
major semver_major.(semver) int
minor semver_minor.(semver) int
patch semver_patch.(semver) int
validate format-validate.(format, string) optional(list(string))
format.named format-named(string) optional(format)
path authorizer_path.(authorizer, string) path_check
group authorizer_group.(authorizer, string) group_check
serviceAccount authorizer_serviceaccount.(authorizer, string, string) authorizer
resource groupcheck_resource.(group_check, string) resource_check
subresource resourcecheck_subresource.(resource_check, string) resource_check
namespace resourcecheck_namespace.(resource_check, string) resource_check
name resourcecheck_name.(resource_check, string) resource_check
fieldSelector authorizer_fieldselector.(resource_check, string) resource_check
labelSelector authorizer_labelselector.(resource_check, string) resource_check
check pathcheck_check.(path_check, string) decision
check resourcecheck_check.(resource_check, string) decision
errored decision_errored.(decision) bool
error decision_error.(decision) string
allowed decision_allowed.(decision) bool
reason decision_reason.(decision) string
jsonpatch.escapeKey string_jsonpatch_escapeKey_string(string) string";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_declarations_are_valid() {
        for line in DECLARATIONS.lines() {
            assert!(parse_declaration(line).is_some(), "{line}");
        }
        assert_eq!(overloads("_<_").map(<[Overload]>::len), Some(14));
        assert_eq!(overloads("sort").map(<[Overload]>::len), Some(8));
    }

    #[test]
    fn type_parameters_are_numbered_in_order_of_appearance() {
        let index = &overloads("_[_]").expect("the function is declared")[1];
        assert_eq!(index.params, [Type::map(Type::Param(0), Type::Param(1)), Type::Param(0)]);
        assert_eq!((&index.result, index.type_params), (&Type::Param(1), 2));
    }
}

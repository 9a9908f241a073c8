//! Accessors of durations and timestamps.

use jiff::civil::DateTime;

use crate::cel::{
    formats::time::local_time,
    interpreter::value::{EvalError, EvalResult, Value},
};

pub(super) fn call<'a>(function: &str, args: &[Value<'a>]) -> Option<EvalResult<Value<'a>>> {
    match args {
        [Value::Duration(nanos)] => call_on_duration(function, *nanos),
        [Value::Timestamp(time)] => call_on_timestamp(function, *time, None),
        [Value::Timestamp(time), Value::String(zone)] => call_on_timestamp(function, *time, Some(zone)),
        _ => None,
    }
}

fn call_on_duration<'a>(function: &str, nanos: i64) -> Option<EvalResult<Value<'a>>> {
    let unit = match function {
        "getHours" => 3_600_000_000_000,
        "getMinutes" => 60_000_000_000,
        "getSeconds" => 1_000_000_000,
        "getMilliseconds" => 1_000_000,
        _ => return None,
    };
    Some(Ok(Value::Int(nanos / unit)))
}

fn call_on_timestamp<'a>(function: &str, time: i128, zone: Option<&str>) -> Option<EvalResult<Value<'a>>> {
    let component: fn(DateTime) -> i64 = match function {
        "getFullYear" => |t| i64::from(t.year()),
        "getMonth" => |t| i64::from(t.month()) - 1,
        "getDayOfYear" => |t| i64::from(t.day_of_year()) - 1,
        "getDayOfMonth" => |t| i64::from(t.day()) - 1,
        "getDate" => |t| i64::from(t.day()),
        "getDayOfWeek" => |t| i64::from(t.weekday().to_sunday_zero_offset()),
        "getHours" => |t| i64::from(t.hour()),
        "getMinutes" => |t| i64::from(t.minute()),
        "getSeconds" => |t| i64::from(t.second()),
        "getMilliseconds" => |t| i64::from(t.millisecond()),
        _ => return None,
    };
    Some(local_time(time, zone).map(|time| Value::Int(component(time))).map_err(EvalError))
}

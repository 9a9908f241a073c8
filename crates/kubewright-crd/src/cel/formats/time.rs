//! Durations and timestamps, parsed and formatted as Go does.

use jiff::{SignedDuration, Timestamp, civil, tz::TimeZone};

/// The nanoseconds of a second.
const SECOND: i128 = 1_000_000_000;

/// The units of Go durations in nanoseconds.
const UNITS: [(&str, i128); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Parses a duration such as `1h30m` or `-1.5s` (Go's `time.ParseDuration`) to nanoseconds. The error is Go's message.
pub(crate) fn parse_duration(text: &str) -> Result<i64, String> {
    parse_go_duration(text).ok_or_else(|| format!("time: invalid duration {text:?}"))
}

fn parse_go_duration(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    let mut sum: i128 = 0;
    while !rest.is_empty() {
        let (integer, after) = digits(rest);
        let (fraction, after) = match after.strip_prefix('.') {
            Some(after) => digits(after),
            None => ("", after),
        };
        if integer.is_empty() && fraction.is_empty() {
            return None;
        }
        let end = after.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(after.len());
        let (_, unit) = UNITS.iter().find(|(name, _)| *name == &after[..end])?;
        rest = &after[end..];
        if !integer.is_empty() {
            sum = sum.checked_add(integer.parse::<i128>().ok()?.checked_mul(*unit)?)?;
        }
        let mut scale = *unit;
        for digit in fraction.bytes() {
            scale /= 10;
            sum += i128::from(digit - b'0') * scale;
        }
    }
    if text.is_empty() || text == "-" || text == "+" {
        return None;
    }
    i64::try_from(if negative { -sum } else { sum }).ok()
}

fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

/// Parses a value of the format `duration` to nanoseconds. It also allows days, weeks and unit names (strfmt's
/// `ParseDuration`).
pub(crate) fn parse_format_duration(text: &str) -> Result<i64, String> {
    if let Some(nanos) = parse_go_duration(text) {
        return Ok(nanos);
    }
    let mut sum: i128 = 0;
    let mut rest = text.trim();
    let mut found = false;
    while !rest.is_empty() {
        let (integer, after) = digits(rest);
        let after = after.trim_start();
        let end = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
        let unit = long_unit(&after[..end].to_lowercase());
        let (Ok(number), Some(unit)) = (integer.parse::<i128>(), unit) else { break };
        sum = sum.saturating_add(number.saturating_mul(unit));
        found = true;
        rest = after[end..].trim_start();
    }
    i64::try_from(sum).ok().filter(|_| found).ok_or_else(|| format!("unable to parse {text} as duration"))
}

fn long_unit(name: &str) -> Option<i128> {
    Some(match name {
        "ns" | "nano" | "nanosecond" | "nanoseconds" | "nanos" => 1,
        "us" | "µs" | "μs" | "micro" | "micros" | "microsecond" | "microseconds" => 1_000,
        "ms" | "milli" | "millis" | "millisecond" | "milliseconds" => 1_000_000,
        "s" | "sec" | "secs" | "second" | "seconds" => SECOND,
        "m" | "min" | "mins" | "minute" | "minutes" => 60 * SECOND,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600 * SECOND,
        "d" | "day" | "days" => 24 * 3600 * SECOND,
        "w" | "wk" | "wks" | "week" | "weeks" => 7 * 24 * 3600 * SECOND,
        _ => return None,
    })
}

/// Formats a duration in seconds, as the function `string` does: `90s`, `0.5s`.
pub(crate) fn format_duration(nanos: i64) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    let (seconds, fraction) = (nanos.unsigned_abs() / 1_000_000_000, nanos.unsigned_abs() % 1_000_000_000);
    if fraction == 0 {
        return format!("{sign}{seconds}s");
    }
    let fraction = format!("{fraction:09}");
    format!("{sign}{seconds}.{}s", fraction.trim_end_matches('0'))
}

/// The timestamp, if its year is between 1 and 9999.
pub(crate) fn check_timestamp_range(nanos: i128) -> Option<i128> {
    let seconds = nanos.div_euclid(SECOND);
    (-62_135_596_800..=253_402_300_799).contains(&seconds).then_some(nanos)
}

/// The seconds from the Unix epoch to a timestamp, rounded down.
pub(crate) fn unix_seconds(time: i128) -> i64 {
    i64::try_from(time.div_euclid(SECOND)).unwrap_or_default()
}

/// Formats a timestamp as the function `string` does.
pub(crate) fn format_timestamp(time: i128) -> String {
    local_time(time, None).map(|time| format!("{time}Z")).unwrap_or_default()
}

/// Parses an RFC 3339 timestamp such as `2024-05-06T07:08:09.5Z` to nanoseconds since the Unix epoch.
pub(crate) fn parse_timestamp(text: &str) -> Result<i128, String> {
    let error = || format!("parsing time {text:?} as RFC 3339");
    if !is_rfc_3339(text) {
        return Err(error());
    }
    let (local, offset) = match text.strip_suffix('Z') {
        Some(local) => (local, 0),
        None => {
            let (local, offset) = text.split_at(text.len() - 6);
            (local, offset_minutes(offset).ok_or_else(error)?)
        }
    };
    let local: civil::DateTime = local.parse().map_err(|_| error())?;
    let nanos = local.duration_since(epoch()).as_nanos() - i128::from(offset) * 60 * SECOND;
    check_timestamp_range(nanos).ok_or_else(|| "range error converting timestamp".to_owned())
}

fn epoch() -> civil::DateTime {
    civil::DateTime::constant(1970, 1, 1, 0, 0, 0, 0)
}

fn is_rfc_3339(text: &str) -> bool {
    let shape = b"dddd-dd-ddTdd:dd:dd";
    let fits = |text: &[u8], shape: &[u8]| {
        text.len() == shape.len()
            && text.iter().zip(shape).all(|(c, s)| if *s == b'd' { c.is_ascii_digit() } else { c == s })
    };
    let Some((start, mut rest)) = text.as_bytes().split_at_checked(shape.len()) else { return false };
    if let Some((b'.' | b',', fraction)) = rest.split_first() {
        let length = fraction.iter().take_while(|c| c.is_ascii_digit()).count();
        if length == 0 {
            return false;
        }
        rest = &fraction[length..];
    }
    fits(start, shape) && (rest == b"Z" || fits(rest, b"+dd:dd") || fits(rest, b"-dd:dd"))
}

/// Parses a value of the format `date-time`, whose `T` and `Z` may be lower case.
pub(crate) fn parse_format_date_time(text: &str) -> Result<i128, String> {
    parse_timestamp(&text.to_ascii_uppercase())
}

/// Parses a value of the format `date` to the timestamp of its midnight in UTC.
pub(crate) fn parse_date(text: &str) -> Result<i128, String> {
    parse_timestamp(&format!("{text}T00:00:00Z"))
}

/// The timestamp that many seconds after the Unix epoch.
pub(crate) fn timestamp_from_seconds(seconds: i64) -> Result<i128, String> {
    check_timestamp_range(i128::from(seconds) * SECOND).ok_or_else(|| "range error converting timestamp".to_owned())
}

/// The local time in a time zone: UTC, a name of the time zone database, or an offset such as `-02:30`.
pub(crate) fn local_time(time: i128, zone: Option<&str>) -> Result<civil::DateTime, String> {
    let overflow = || "timestamp overflow".to_owned();
    let offset = match zone {
        None | Some("" | "UTC") => 0,
        Some(offset) if offset.contains(':') => offset_minutes(offset).ok_or("invalid time zone offset")?,
        Some(name) => {
            let zone = TimeZone::get(name).map_err(|_| format!("unknown time zone {name}"))?;
            let time = Timestamp::from_nanosecond(time).map_err(|_| overflow())?;
            return Ok(time.to_zoned(zone).datetime());
        }
    };
    let nanos = time + i128::from(offset) * 60 * SECOND;
    let since = SignedDuration::new(unix_seconds(nanos), i32::try_from(nanos.rem_euclid(SECOND)).unwrap_or_default());
    epoch().checked_add(since).map_err(|_| overflow())
}

fn offset_minutes(offset: &str) -> Option<i32> {
    let (hours, minutes) = offset.split_once(':')?;
    let (negative, hours) = (hours.starts_with('-'), hours.trim_start_matches(['+', '-']));
    let (hours, minutes): (u16, u16) = (hours.parse().ok()?, minutes.parse().ok()?);
    let minutes = i32::from(hours) * 60 + i32::from(minutes);
    Some(if negative { -minutes } else { minutes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_parsed_and_formatted_as_in_go() {
        assert_eq!(parse_duration("1h30m"), Ok(5_400_000_000_000));
        assert_eq!(parse_duration("-1.5s"), Ok(-1_500_000_000));
        assert_eq!(parse_duration(".5ms"), Ok(500_000));
        assert_eq!(parse_duration("0"), Ok(0));
        for invalid in ["", "1", "1d", "-", "h", "1.s.", "300000000000h"] {
            assert!(parse_duration(invalid).is_err(), "{invalid}");
        }
        assert_eq!(parse_format_duration("2 days"), Ok(2 * 24 * 3_600_000_000_000));
        assert_eq!(format_duration(-1_500_000_000), "-1.5s");
    }

    #[test]
    fn timestamps_follow_rfc_3339() {
        assert!(parse_timestamp("2024-01-02T03:04:05.123+02:00").is_ok());
        for invalid in ["2024-01-02", "2024-01-02 03:04:05Z", "2024-13-02T03:04:05Z", "2024-01-02T03:04:05", "x"] {
            assert!(parse_timestamp(invalid).is_err(), "{invalid}");
        }
        let time = parse_timestamp("2024-01-02T03:04:05Z").expect("a valid timestamp");
        assert_eq!(local_time(time, Some("America/New_York")).map(|t| t.hour()), Ok(22));
        assert_eq!(local_time(time, Some("-02:30")).map(|t| (t.hour(), t.minute())), Ok((0, 34)));
        assert!(local_time(time, Some("Nowhere")).is_err());
        let last = parse_timestamp("9999-12-31T23:59:59.999999999Z").expect("a valid timestamp");
        assert_eq!(format_timestamp(last), "9999-12-31T23:59:59.999999999Z");
        assert!(check_timestamp_range(last + 1).is_none());
    }
}

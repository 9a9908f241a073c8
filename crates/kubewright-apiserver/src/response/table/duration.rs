//! Human-readable durations with two or three significant digits (`duration.HumanDuration`).

use jiff::Timestamp;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// Returns the time since `since`, as `kubectl get` prints it. Up to one second in the future counts as now, to allow
/// for clock skew.
pub(super) fn ago(since: Timestamp, now: Timestamp) -> String {
    // Go truncates towards zero, milliseconds as well.
    human((now.as_millisecond() - since.as_millisecond()) / 1000)
}

/// Formats a duration in seconds.
pub(super) fn human(seconds: i64) -> String {
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        _ if seconds < 2 * MINUTE => format!("{seconds}s"),
        _ if seconds < 10 * MINUTE => two_units(seconds, MINUTE, "m", 1, "s"),
        _ if seconds < 3 * HOUR => format!("{}m", seconds / MINUTE),
        _ if seconds < 8 * HOUR => two_units(seconds, HOUR, "h", MINUTE, "m"),
        _ if seconds < 2 * DAY => format!("{}h", seconds / HOUR),
        _ if seconds < 8 * DAY => two_units(seconds, DAY, "d", HOUR, "h"),
        _ if seconds < 2 * YEAR => format!("{}d", seconds / DAY),
        _ if seconds < 8 * YEAR => two_units(seconds, YEAR, "y", DAY, "d"),
        _ => format!("{}y", seconds / YEAR),
    }
}

/// Formats a duration in a larger unit and, if there is a remainder, a smaller one.
fn two_units(seconds: i64, large: i64, large_unit: &str, small: i64, small_unit: &str) -> String {
    let (quotient, remainder) = (seconds / large, seconds % large / small);
    if remainder == 0 {
        format!("{quotient}{large_unit}")
    } else {
        format!("{quotient}{large_unit}{remainder}{small_unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_two_or_three_digits() {
        for (seconds, text) in [
            (-2, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (125, "2m5s"),
            (600, "10m"),
            (3 * HOUR - 1, "179m"),
            (3 * HOUR, "3h"),
            (3 * HOUR + 61, "3h1m"),
            (8 * HOUR, "8h"),
            (47 * HOUR, "47h"),
            (48 * HOUR, "2d"),
            (2 * DAY + HOUR, "2d1h"),
            (8 * DAY, "8d"),
            (729 * DAY, "729d"),
            (2 * YEAR, "2y"),
            (2 * YEAR + DAY, "2y1d"),
            (9 * YEAR + DAY, "9y"),
        ] {
            assert_eq!(human(seconds), text, "{seconds}");
        }
    }
}

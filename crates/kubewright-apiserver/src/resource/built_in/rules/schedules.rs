//! Validation of cron jobs: schedules are parsed as by `robfig/cron`, with its error messages.

use kubewright_crd::names;

use super::{Change, Errors, FieldValue, workloads};
use crate::api::error::FieldError;

/// The maximum length of a name: the controller appends a time to the names of jobs.
const MAX_NAME_LENGTH: usize = 52;

pub(in crate::resource::built_in) fn cron_job(change: &Change<'_>, errors: &mut Errors) {
    let name = change.object.name();
    if change.old.is_none() && name.len() > MAX_NAME_LENGTH {
        let detail = format!("must be no more than {MAX_NAME_LENGTH} characters");
        errors.push(FieldError::invalid("metadata.name", format!("{name:?}"), detail));
    }
    let spec = FieldValue::new(change.object, "spec");
    schedule(&spec.at("schedule"), errors);
    for name in ["startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"] {
        errors.extend(spec.at(name).not_negative());
    }
    let policy = spec.at("concurrencyPolicy");
    if !matches!(policy.text(), "Allow" | "Forbid" | "Replace") {
        errors.push(policy.unsupported(&["Allow", "Forbid", "Replace"]));
    }
    let zone = spec.at("timeZone");
    if zone.is_set() && jiff::tz::TimeZone::get(zone.text()).is_err() {
        errors.push(zone.invalid(format!("unknown time zone {}", zone.text())));
    }
    let template = spec.at("jobTemplate");
    errors.extend(template.at("metadata").at("name").validate(names::dns_1123_subdomain));
    workloads::job_spec(&template.at("spec"), errors);
}

fn schedule(schedule: &FieldValue<'_>, errors: &mut Errors) {
    let text = schedule.text();
    if text.is_empty() {
        errors.push(schedule.required(""));
    } else if text.contains("TZ") {
        errors.push(schedule.invalid("cannot use TZ or CRON_TZ in schedule, use timeZone field instead"));
    } else if let Err(detail) = check(text) {
        errors.push(schedule.invalid(detail));
    }
}

/// A field of a schedule: its minimum, its maximum and the names of values.
struct Field {
    min: u32,
    max: u32,
    names: &'static [&'static str],
}

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const FIELDS: [Field; 5] = [
    Field { min: 0, max: 59, names: &[] },
    Field { min: 0, max: 23, names: &[] },
    Field { min: 1, max: 31, names: &[] },
    Field { min: 1, max: 12, names: &MONTHS },
    Field { min: 0, max: 6, names: &DAYS },
];

fn check(text: &str) -> Result<(), String> {
    if text.starts_with('@') {
        return check_descriptor(text);
    }
    let parts: Vec<&str> = text.split_whitespace().collect();
    if parts.len() != FIELDS.len() {
        return Err(format!("expected exactly 5 fields, found {}: [{}]", parts.len(), parts.join(" ")));
    }
    FIELDS.iter().zip(&parts).try_for_each(|(field, text)| {
        text.split(',').filter(|range| !range.is_empty()).try_for_each(|range| field.check(range))
    })
}

fn check_descriptor(text: &str) -> Result<(), String> {
    match text {
        "@yearly" | "@annually" | "@monthly" | "@weekly" | "@daily" | "@midnight" | "@hourly" => Ok(()),
        _ => match text.strip_prefix("@every ") {
            Some(period) if is_duration(period) => Ok(()),
            Some(period) => Err(format!("failed to parse duration {text}: time: invalid duration \"{period}\"")),
            None => Err(format!("unrecognized descriptor: {text}")),
        },
    }
}

/// Returns whether Go parses the text as a duration: `1h30m`.
fn is_duration(text: &str) -> bool {
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    while !rest.is_empty() {
        let unit = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let known = ["ns", "us", "ms", "s", "m", "h"].iter().find(|name| unit.starts_with(**name));
        match known {
            Some(name) if unit.len() < rest.len() => rest = &unit[name.len()..],
            _ => return false,
        }
    }
    !text.is_empty()
}

impl Field {
    /// Validates one range: `*`, `a`, `a-b`, each optionally with `/step`.
    fn check(&self, range: &str) -> Result<(), String> {
        let parts: Vec<&str> = range.split('/').collect();
        let ends: Vec<&str> = parts[0].split('-').collect();
        let (first, last) = if matches!(ends[0], "*" | "?") {
            (self.min, self.max)
        } else {
            let first = self.value(ends[0])?;
            match ends.as_slice() {
                [_] if parts.len() > 1 => (first, self.max),
                [_] => (first, first),
                [_, last] => (first, self.value(last)?),
                _ => return Err(format!("too many hyphens: {range}")),
            }
        };
        let step = match parts.as_slice() {
            [_] => 1,
            [_, step] => number(step)?,
            _ => return Err(format!("too many slashes: {range}")),
        };
        if first < self.min {
            Err(format!("beginning of range ({first}) below minimum ({}): {range}", self.min))
        } else if last > self.max {
            Err(format!("end of range ({last}) above maximum ({}): {range}", self.max))
        } else if first > last {
            Err(format!("beginning of range ({first}) beyond end of range ({last}): {range}"))
        } else if step == 0 {
            Err(format!("step of range should be a positive number: {range}"))
        } else {
            Ok(())
        }
    }

    fn value(&self, text: &str) -> Result<u32, String> {
        let lower = text.to_lowercase();
        let named = self.names.iter().zip(self.min..).find(|(name, _)| **name == lower);
        named.map_or_else(|| number(text), |(_, value)| Ok(value))
    }
}

fn number(text: &str) -> Result<u32, String> {
    let failed = |reason: &str| format!("failed to parse int from {text}: strconv.Atoi: parsing {text:?}: {reason}");
    let number: i64 = text.parse().map_err(|_| failed("invalid syntax"))?;
    if number < 0 {
        return Err(format!("negative number ({number}) not allowed: {text}"));
    }
    u32::try_from(number).map_err(|_| failed("value out of range"))
}

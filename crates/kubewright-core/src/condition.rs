//! Conditions of a status, as apimachinery's functions for `metav1.Condition` handle them.

use std::{
    fmt,
    time::{SystemTime, UNIX_EPOCH},
};

use k8s_openapi::{
    apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta, Time},
    jiff::Timestamp,
};

/// The status of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionStatus {
    /// The condition holds.
    True,
    /// The condition does not hold.
    False,
    /// The controller cannot determine whether it holds.
    Unknown,
}

impl From<bool> for ConditionStatus {
    fn from(status: bool) -> Self {
        if status { ConditionStatus::True } else { ConditionStatus::False }
    }
}

impl fmt::Display for ConditionStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// Creates a condition with the current time as its transition time, and the generation of the object as its observed
/// generation. The reason is a CamelCase word, the message is for people.
///
/// ```
/// use kubewright_core::condition::{Conditions, new_condition};
/// # let metadata = kubewright_core::k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta::default();
///
/// let mut conditions = Vec::new();
/// conditions.set_condition(new_condition(&metadata, "Ready", true, "AllReady", "3 of 3 instances are ready"));
/// assert!(conditions.is_condition_true("Ready"));
/// ```
pub fn new_condition(
    observed: &ObjectMeta,
    type_: impl Into<String>,
    status: impl Into<ConditionStatus>,
    reason: impl Into<String>,
    message: impl Into<String>,
) -> Condition {
    Condition {
        type_: type_.into(),
        status: status.into().to_string(),
        reason: reason.into(),
        message: message.into(),
        observed_generation: observed.generation,
        last_transition_time: now(),
    }
}

/// Returns the current time in seconds, the precision of the API. jiff has no clock without its feature `std`.
fn now() -> Time {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    Time(Timestamp::from_second(i64::try_from(seconds).unwrap_or(i64::MAX)).unwrap_or(Timestamp::MAX))
}

/// The conditions of a status: a list with one condition of each type, which can be optional.
pub trait Conditions {
    /// Returns the condition of this type.
    fn condition(&self, type_: &str) -> Option<&Condition>;

    /// Adds a condition, or updates the one of its type. The transition time only changes with the status. Returns
    /// whether anything changed.
    fn set_condition(&mut self, condition: Condition) -> bool;

    /// Removes the condition of this type. Returns whether there was one.
    fn remove_condition(&mut self, type_: &str) -> bool;

    /// Returns whether the condition of this type has the status `True`.
    fn is_condition_true(&self, type_: &str) -> bool {
        self.condition(type_).is_some_and(|condition| condition.status == "True")
    }
}

impl Conditions for Vec<Condition> {
    fn condition(&self, type_: &str) -> Option<&Condition> {
        self.iter().find(|condition| condition.type_ == type_)
    }

    fn set_condition(&mut self, mut condition: Condition) -> bool {
        let Some(current) = self.iter_mut().find(|current| current.type_ == condition.type_) else {
            self.push(condition);
            return true;
        };
        if current.status == condition.status {
            condition.last_transition_time = current.last_transition_time.clone();
        }
        let is_changed = *current != condition;
        *current = condition;
        is_changed
    }

    fn remove_condition(&mut self, type_: &str) -> bool {
        let before = self.len();
        self.retain(|condition| condition.type_ != type_);
        self.len() < before
    }
}

impl Conditions for Option<Vec<Condition>> {
    fn condition(&self, type_: &str) -> Option<&Condition> {
        self.as_ref()?.condition(type_)
    }

    fn set_condition(&mut self, condition: Condition) -> bool {
        self.get_or_insert_default().set_condition(condition)
    }

    fn remove_condition(&mut self, type_: &str) -> bool {
        self.as_mut().is_some_and(|conditions| conditions.remove_condition(type_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ready(status: ConditionStatus, reason: &str, seconds: i64) -> Condition {
        let observed = ObjectMeta { generation: Some(seconds), ..ObjectMeta::default() };
        let time = Time(Timestamp::from_second(seconds).unwrap());
        Condition { last_transition_time: time, ..new_condition(&observed, "Ready", status, reason, "") }
    }

    #[test]
    fn the_transition_time_only_changes_with_the_status() {
        let mut conditions = None;
        assert!(conditions.set_condition(ready(ConditionStatus::True, "A", 1)));
        assert!(conditions.set_condition(ready(ConditionStatus::True, "B", 2)));
        let condition = conditions.condition("Ready").unwrap();
        assert_eq!((condition.reason.as_str(), condition.observed_generation), ("B", Some(2)));
        assert_eq!(condition.last_transition_time.0.as_second(), 1);
        assert!(conditions.set_condition(ready(ConditionStatus::Unknown, "B", 3)));
        let condition = conditions.condition("Ready").unwrap();
        assert_eq!((condition.status.as_str(), condition.last_transition_time.0.as_second()), ("Unknown", 3));
        assert!(!conditions.is_condition_true("Ready"));
    }

    #[test]
    fn setting_an_equal_condition_changes_nothing() {
        let mut conditions = vec![ready(ConditionStatus::True, "A", 1)];
        let later = Condition { observed_generation: Some(1), ..ready(ConditionStatus::True, "A", 2) };
        assert!(!conditions.set_condition(later));
        assert_eq!(conditions, [ready(ConditionStatus::True, "A", 1)]);
    }

    #[test]
    fn other_types_are_not_changed() {
        let other = Condition { type_: "Other".to_owned(), ..ready(ConditionStatus::False, "A", 1) };
        let mut conditions = vec![other.clone()];
        assert!(conditions.set_condition(ready(ConditionStatus::from(true), "A", 1)));
        assert!(conditions.is_condition_true("Ready") && !conditions.is_condition_true("Other"));
        assert!(conditions.remove_condition("Ready") && !conditions.remove_condition("Ready"));
        assert_eq!(conditions, [other]);
    }
}

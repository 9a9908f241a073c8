//! Answers, and the recorded answers of the real server.

use std::{collections::BTreeMap, error::Error, fs, path::PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    json_diff::diff,
    topic::{self, Check, Topic},
};

/// The answer to one request of a check, normalized.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) request: String,
    pub(crate) code: u16,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Value,
}

impl Answer {
    /// Summarizes an answer in one line.
    fn summary((label, answer): (&str, &Self)) -> String {
        let message = answer.body.get("message").unwrap_or(&answer.body);
        format!("  {label}: {} {message}", answer.code)
    }
}

/// The recorded answers of a topic, by check.
pub(crate) struct Recorded {
    topic: String,
    answers: BTreeMap<String, Vec<Answer>>,
}

impl Recorded {
    /// Reads the recorded answers of a topic. Without a file there are none.
    pub(crate) fn read(topic: &str) -> Result<Self, Box<dyn Error>> {
        let path = path(topic)?;
        let answers = match path.exists() {
            true => serde_json::from_str(&fs::read_to_string(path)?)?,
            false => BTreeMap::new(),
        };
        Ok(Self { topic: topic.to_owned(), answers })
    }

    /// Returns an error if answers are recorded of a check that does not exist.
    pub(crate) fn reject_stale(&self, topic: &Topic) -> Result<(), String> {
        let stale = self.answers.keys().find(|name| topic.checks.iter().all(|check| check.name != **name));
        match stale {
            Some(name) => {
                Err(format!("answers are recorded for {name}, which is no check: record {} again", topic.name))
            }
            None => Ok(()),
        }
    }

    /// Removes the answers of checks that do not exist.
    pub(crate) fn retain(&mut self, topic: &Topic) {
        self.answers.retain(|name, _| topic.checks.iter().any(|check| check.name == *name));
    }

    pub(crate) fn insert(&mut self, check: &str, answers: Vec<Answer>) {
        self.answers.insert(check.to_owned(), answers);
    }

    pub(crate) fn write(&self) -> Result<(), Box<dyn Error>> {
        let mut text = serde_json::to_string_pretty(&sorted(serde_json::to_value(&self.answers)?))?;
        text.push('\n');
        Ok(fs::write(path(&self.topic)?, text)?)
    }

    /// Describes how answers to a check differ from the recorded ones, if they do.
    pub(crate) fn difference(&self, check: &Check, found: &[Answer]) -> Option<String> {
        let Some(recorded) = self.answers.get(&check.name) else {
            return Some("no answers are recorded: record them with CONFORMANCE=record".to_owned());
        };
        if recorded == found {
            return None;
        }
        let mut report = Vec::new();
        for (index, pair) in recorded.iter().zip(found).enumerate() {
            if pair.0 != pair.1 {
                report.push(format!("step {}: {}", index + 1, pair.0.request));
                match pair.0.code == pair.1.code {
                    true => diff(&serde_json::json!(pair.0), &serde_json::json!(pair.1), &mut report),
                    false => report.extend([("recorded", pair.0), ("found", pair.1)].map(Answer::summary)),
                }
            }
        }
        if recorded.len() != found.len() {
            report.push(format!("{} answers are recorded, {} were received", recorded.len(), found.len()));
        }
        Some(report.join("\n"))
    }
}

fn path(topic: &str) -> Result<PathBuf, Box<dyn Error>> {
    Ok(topic::directory()?.join(format!("{topic}.answers.json")))
}

/// Sorts the fields by name, independent of the features of `serde_json`.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields: BTreeMap<String, Value> =
                fields.into_iter().map(|(name, value)| (name, sorted(value))).collect();
            fields.into_iter().collect()
        }
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        other => other,
    }
}

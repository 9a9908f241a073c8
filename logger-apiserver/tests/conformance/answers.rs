//! Answers, and the book of what the real server answered

use std::{collections::BTreeMap, error::Error, fs, path::PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    differing::differing,
    topic::{self, Check, Topic},
};

/// What one request of a check was answered, with stable names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) request: String,
    pub(crate) code: u16,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Value,
}

impl Answer {
    /// In one line.
    fn told((what, answer): (&str, &Self)) -> String {
        let message = answer.body.get("message").unwrap_or(&answer.body);
        format!("  {what}: {} {message}", answer.code)
    }
}

/// The answers of a topic, by check.
pub(crate) struct Recorded {
    topic: String,
    answers: BTreeMap<String, Vec<Answer>>,
}

impl Recorded {
    /// What is recorded of a topic, if anything.
    pub(crate) fn read(topic: &str) -> Result<Self, Box<dyn Error>> {
        let path = path(topic);
        let answers = match path.exists() {
            true => serde_json::from_str(&fs::read_to_string(path)?)?,
            false => BTreeMap::new(),
        };
        Ok(Self { topic: topic.to_owned(), answers })
    }

    /// Whether nothing is recorded of what is no check any more.
    pub(crate) fn is_of(&self, topic: &Topic) -> Result<(), String> {
        let stale = self.answers.keys().find(|name| topic.checks.iter().all(|check| check.name != **name));
        match stale {
            Some(name) => Err(format!("{name} is recorded and no check: record {} again", topic.name)),
            None => Ok(()),
        }
    }

    pub(crate) fn forget_others(&mut self, topic: &Topic) {
        self.answers.retain(|name, _| topic.checks.iter().any(|check| check.name == *name));
    }

    pub(crate) fn put(&mut self, check: &str, answers: Vec<Answer>) {
        self.answers.insert(check.to_owned(), answers);
    }

    pub(crate) fn write(&self) -> Result<(), Box<dyn Error>> {
        let mut text = serde_json::to_string_pretty(&sorted(serde_json::to_value(&self.answers)?))?;
        text.push('\n');
        Ok(fs::write(path(&self.topic), text)?)
    }

    /// Where these answers to a check are not those that are recorded.
    pub(crate) fn disagreement(&self, check: &Check, found: &[Answer]) -> Option<String> {
        let Some(recorded) = self.answers.get(&check.name) else {
            return Some("it was never recorded: CONFORMANCE=record has the real server answer".to_owned());
        };
        if recorded == found {
            return None;
        }
        let mut told = Vec::new();
        for (index, pair) in recorded.iter().zip(found).enumerate() {
            if pair.0 != pair.1 {
                told.push(format!("step {}: {}", index + 1, pair.0.request));
                match pair.0.code == pair.1.code {
                    true => differing(&serde_json::json!(pair.0), &serde_json::json!(pair.1), &mut told),
                    false => told.extend([("recorded", pair.0), ("found", pair.1)].map(Answer::told)),
                }
            }
        }
        if recorded.len() != found.len() {
            told.push(format!("{} answers are recorded, {} came", recorded.len(), found.len()));
        }
        Some(told.join("\n"))
    }
}

fn path(topic: &str) -> PathBuf {
    topic::directory().join(format!("{topic}.answers.json"))
}

/// With the fields in the order of their names, whichever crates are in the graph.
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

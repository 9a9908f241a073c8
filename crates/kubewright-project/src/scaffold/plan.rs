//! Steps from one tree to another, and the problems that prevent them.

use std::fmt;

/// One change of a file. Paths are relative to the root of the project, with `/` as the separator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Creates a file that does not exist.
    Create {
        /// Its path.
        path: String,
        /// Its contents.
        contents: String,
    },
    /// Replaces a file that only these commands write.
    Replace {
        /// Its path.
        path: String,
        /// Its new contents.
        contents: String,
    },
    /// Changes lines in a file of the user.
    Edit {
        /// Its path.
        path: String,
        /// Its new contents.
        contents: String,
        /// What changes, and why.
        explanation: String,
    },
    /// Removes a file.
    Remove {
        /// Its path.
        path: String,
    },
}

impl Step {
    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            Step::Create { path, .. }
            | Step::Replace { path, .. }
            | Step::Edit { path, .. }
            | Step::Remove { path } => path,
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Create { path, .. } => write!(f, "create  {path}"),
            Step::Replace { path, .. } => write!(f, "replace {path}"),
            Step::Edit { path, explanation, .. } => write!(f, "edit    {path}: {explanation}"),
            Step::Remove { path } => write!(f, "remove  {path}"),
        }
    }
}

/// The changes of one command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The changes, sorted by path. Empty if the tree is as requested.
    pub steps: Vec<Step>,
    /// What the user needs to change.
    pub notes: Vec<String>,
}

impl Plan {
    pub(super) fn new(steps: Vec<Step>) -> Self {
        let mut plan = Plan::default();
        plan.add(steps);
        plan
    }

    /// Adds changes of other files.
    pub(super) fn add(&mut self, steps: Vec<Step>) {
        self.steps.extend(steps);
        self.steps.sort_by(|a, b| a.path().cmp(b.path()));
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.steps.iter().try_for_each(|step| writeln!(f, "{step}"))?;
        self.notes.iter().try_for_each(|note| writeln!(f, "note: {note}"))
    }
}

/// Everything that prevents a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error("nothing was changed:\n{}", list(.0))]
pub struct Problems(pub Vec<String>);

impl Problems {
    /// Adds a problem.
    pub fn add(&mut self, problem: impl Into<String>) {
        self.0.push(problem.into());
    }

    /// Returns the value if there are no problems.
    ///
    /// # Errors
    /// Fails with the problems.
    pub fn or<T>(self, value: T) -> Result<T, Self> {
        if self.0.is_empty() { Ok(value) } else { Err(self) }
    }
}

impl From<String> for Problems {
    fn from(problem: String) -> Self {
        Problems(vec![problem])
    }
}

fn list(problems: &[String]) -> String {
    problems.iter().map(|problem| format!("- {problem}")).collect::<Vec<_>>().join("\n")
}

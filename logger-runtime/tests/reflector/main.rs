//! The reflector over a client: its rules on a server that follows a script, and on the API server in memory.

#[cfg(test)]
mod churn;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod hearing;
#[cfg(test)]
mod kube_watcher;
#[cfg(test)]
mod options;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod script;

//! The reflector over a client: its rules against a scripted server, and against the API server in memory.

#[cfg(test)]
mod churn;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod kube_watcher;
#[cfg(test)]
mod options;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod scripted_server;

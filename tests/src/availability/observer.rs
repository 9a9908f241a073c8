//! Samples of the nodes and agents throughout a run, with a timeline.

use std::{collections::VecDeque, fmt::Write, sync::Arc, time::Duration};

use futures::future::join_all;
use http::StatusCode;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::{Api, Client, ResourceExt, api::ListParams};
use parking_lot::Mutex;
use tokio::{
    sync::watch,
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};

use super::{
    Error,
    observation::{Agent, Observation, ObservedNode},
};
use crate::http_client;

/// The pause between two samples.
const INTERVAL: Duration = Duration::from_millis(100);
/// How long the API server, and an agent, can take to respond.
const TIMEOUT: Duration = Duration::from_secs(2);
/// The number of consecutive samples without a ready agent that violate the invariant.
const CONFIRMATIONS: usize = 2;
/// The maximum number of entries of the timeline, which are printed with a violation.
const ENTRIES: usize = 200;

/// What is observed.
#[derive(Clone, Debug)]
pub struct Target {
    /// The namespace of the agents.
    pub namespace: String,
    /// The selector of the agents.
    pub selector: String,
    /// Whether agents are processes that are requested. Otherwise the condition `Ready` of a Pod counts as a response.
    pub are_processes: bool,
}

/// Samples the nodes and the agents until it is dropped.
///
/// Guarantees:
/// - while the invariant is [promised](Self::promise), an outage in two consecutive samples is a violation;
/// - samples continue while the API server does not respond: the last known agents are requested;
/// - the timeline has an entry for each of the latest changes.
#[derive(Debug)]
pub struct Observer {
    record: Arc<Mutex<Record>>,
    observations: watch::Receiver<Observation>,
    task: JoinHandle<()>,
}

/// What was observed.
#[derive(Debug)]
struct Record {
    started: Instant,
    timeline: VecDeque<(Duration, String)>,
    is_promised: bool,
    /// The number of consecutive samples of an outage, and their start.
    outage: Option<(usize, Instant)>,
    violations: Vec<String>,
    figures: Figures,
}

/// The figures of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// The number of samples.
    pub samples: usize,
    /// The minimum number of ready agents while the invariant was promised.
    pub minimum: Option<usize>,
    /// The durations of outages while the invariant was suspended.
    pub outages: Vec<Duration>,
}

impl Observer {
    /// Starts to observe. Nothing is promised yet.
    pub fn start(client: &Client, target: Target) -> Self {
        let record = Record {
            started: Instant::now(),
            timeline: VecDeque::new(),
            is_promised: false,
            outage: None,
            violations: Vec::new(),
            figures: Figures::default(),
        };
        let record = Arc::new(Mutex::new(record));
        let (sender, observations) = watch::channel(Observation::default());
        let sampler = Sampler {
            nodes: Api::all(client.clone()),
            pods: Api::namespaced(client.clone(), &target.namespace),
            selector: target.selector,
            are_processes: target.are_processes,
        };
        let task = tokio::spawn(sampler.run(Arc::clone(&record), sender));
        Observer { record, observations, task }
    }

    /// Promises the invariant from now on, or suspends it.
    pub fn promise(&self, is_promised: bool) {
        let mut record = self.record.lock();
        if is_promised && !record.is_promised {
            // An outage that continues is counted from now on.
            record.outage = None;
        }
        record.is_promised = is_promised;
    }

    /// Adds an entry to the timeline.
    pub fn note(&self, text: impl Into<String>) {
        self.record.lock().note(text.into());
    }

    /// Adds a violation of another invariant.
    pub fn violate(&self, text: impl Into<String>) {
        self.record.lock().violate(text.into());
    }

    /// Returns the latest observation.
    pub fn latest(&self) -> Observation {
        self.observations.borrow().clone()
    }

    /// Waits for an observation that began after this call and meets a condition.
    ///
    /// # Errors
    /// Fails with the latest observation if there is none within the time.
    pub async fn wait_for(
        &self,
        what: &str,
        limit: Duration,
        mut condition: impl FnMut(&Observation) -> bool,
    ) -> Result<Observation, Error> {
        let mut observations = self.observations.clone();
        drop(observations.borrow_and_update());
        let met = async {
            // The next one may have begun before.
            for _ in 0..2 {
                observations.changed().await?;
            }
            let observation = observations.wait_for(&mut condition).await?.clone();
            Ok::<_, Error>(observation)
        };
        match timeout(limit, met).await {
            Ok(met) => met,
            Err(_) => Err(format!("not reached after {limit:?}: {what}: {}", self.latest()).into()),
        }
    }

    /// Returns the figures.
    pub fn figures(&self) -> Figures {
        self.record.lock().figures.clone()
    }

    /// Returns how long the observer runs.
    pub fn elapsed(&self) -> Duration {
        self.record.lock().started.elapsed()
    }

    /// Fails if the invariant is violated, with the timeline, or if samples are no longer taken.
    ///
    /// # Errors
    /// Fails with all violations.
    pub fn check(&self) -> Result<(), Error> {
        if self.task.is_finished() {
            return Err("the observer has ended".into());
        }
        let record = self.record.lock();
        match record.violations.is_empty() {
            true => Ok(()),
            false => Err(format!("{}\n{}", record.violations.join("\n"), record.text()).into()),
        }
    }

    /// Returns the timeline as text.
    pub fn timeline(&self) -> String {
        self.record.lock().text()
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Record {
    fn note(&mut self, text: String) {
        if self.timeline.len() == ENTRIES {
            self.timeline.pop_front();
        }
        self.timeline.push_back((self.started.elapsed(), text));
    }

    fn violate(&mut self, text: String) {
        self.note(format!("VIOLATION: {text}"));
        self.violations.push(format!("{:.1?}: {text}", self.started.elapsed()));
    }

    fn add(&mut self, observation: &Observation) {
        self.figures.samples += 1;
        if !observation.is_outage() {
            self.end_outage(observation);
            if self.is_promised && observation.available_nodes() > 0 {
                self.add_minimum(observation.ready());
            }
            return;
        }
        let (count, since) = self.outage.take().unwrap_or_else(|| (0, Instant::now()));
        self.outage = Some((count + 1, since));
        if self.is_promised && count + 1 == CONFIRMATIONS {
            self.add_minimum(0);
            self.violate(format!("no agent is ready although a node is available: {observation}"));
        }
    }

    fn add_minimum(&mut self, ready: usize) {
        self.figures.minimum = Some(self.figures.minimum.map_or(ready, |minimum| minimum.min(ready)));
    }

    fn end_outage(&mut self, observation: &Observation) {
        let Some((count, since)) = self.outage.take() else { return };
        if count >= CONFIRMATIONS && observation.ready() > 0 && !self.is_promised {
            self.figures.outages.push(since.elapsed());
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for (time, entry) in &self.timeline {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{:>9.3} s  {entry}", time.as_secs_f64());
        }
        text
    }
}

/// Takes samples.
struct Sampler {
    nodes: Api<Node>,
    pods: Api<Pod>,
    selector: String,
    are_processes: bool,
}

impl Sampler {
    /// Takes samples without end.
    async fn run(self, record: Arc<Mutex<Record>>, sender: watch::Sender<Observation>) {
        loop {
            let before = sender.borrow().clone();
            let observation = self.sample(&before).await;
            {
                let mut record = record.lock();
                if observation != before {
                    record.note(observation.to_string());
                }
                record.add(&observation);
            }
            let is_outage = observation.is_outage();
            sender.send_replace(observation);
            // An outage is confirmed at once.
            if !is_outage {
                sleep(INTERVAL).await;
            }
        }
    }

    async fn sample(&self, before: &Observation) -> Observation {
        let listed = timeout(TIMEOUT, self.list()).await;
        let mut observation = match listed {
            Ok(Ok(observation)) => observation,
            _ => Observation { is_current: false, ..before.clone() },
        };
        let responses = join_all(observation.agents.iter().map(|agent| self.responds(agent))).await;
        for (agent, responds) in observation.agents.iter_mut().zip(responses) {
            agent.responds = responds;
        }
        observation
    }

    /// Returns whether an agent reports that it is ready.
    async fn responds(&self, agent: &Agent) -> bool {
        if !self.are_processes {
            return agent.is_reported_ready;
        }
        let Some(address) = agent.address else { return false };
        let response = http_client::get(address, "/readyz", TIMEOUT).await;
        response.is_ok_and(|(status, _)| status == StatusCode::OK)
    }

    async fn list(&self) -> Result<Observation, kube::Error> {
        let params = ListParams::default().labels(&self.selector);
        let nodes = ListParams::default();
        let (nodes, mut pods) = tokio::try_join!(self.nodes.list(&nodes), self.pods.list(&params))?;
        pods.items.sort_by_key(|pod| pod.name_any());
        let mut nodes: Vec<_> = nodes.items.iter().map(ObservedNode::from_node).collect();
        nodes.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(Observation { nodes, agents: pods.items.iter().map(Agent::from_pod).collect(), is_current: true })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observation(ready: bool) -> Observation {
        let node = ObservedNode { name: "a".to_owned(), zone: String::new(), is_available: true };
        let agent = Agent {
            name: "agent".to_owned(),
            node: "a".to_owned(),
            address: None,
            is_reported_ready: ready,
            is_terminating: false,
            responds: ready,
        };
        Observation { nodes: vec![node], agents: vec![agent], is_current: true }
    }

    fn record() -> Record {
        Record {
            started: Instant::now(),
            timeline: VecDeque::new(),
            is_promised: true,
            outage: None,
            violations: Vec::new(),
            figures: Figures::default(),
        }
    }

    #[test]
    fn an_outage_in_two_consecutive_samples_is_a_violation() {
        let mut record = record();
        for ready in [true, false, true, false] {
            record.add(&observation(ready));
        }
        assert!(record.violations.is_empty(), "{:?}", record.violations);
        assert_eq!(record.figures.minimum, Some(1));
        record.add(&observation(false));
        record.add(&observation(false));
        assert_eq!(record.violations.len(), 1, "one outage is one violation: {:?}", record.violations);
        assert_eq!(record.figures.minimum, Some(0));
        assert!(record.text().contains("VIOLATION: no agent is ready"), "{}", record.text());
    }

    #[test]
    fn an_outage_of_a_suspended_invariant_is_measured() {
        let mut record = Record { is_promised: false, ..record() };
        for ready in [true, false, false, true] {
            record.add(&observation(ready));
        }
        assert!(record.violations.is_empty(), "{:?}", record.violations);
        assert_eq!((record.figures.outages.len(), record.figures.minimum), (1, None));
    }

    #[test]
    fn the_timeline_has_the_latest_changes() {
        let mut record = record();
        for number in 0..=ENTRIES {
            record.note(format!("change {number}."));
        }
        let text = record.text();
        assert_eq!(text.lines().count(), ENTRIES);
        assert!(!text.contains("change 0.") && text.contains(&format!("change {ENTRIES}.")), "{text}");
    }

    #[test]
    fn no_agent_is_promised_without_a_node() {
        let mut record = record();
        let mut lost = observation(false);
        lost.nodes[0].is_available = false;
        record.add(&lost);
        record.add(&lost);
        assert!(record.violations.is_empty(), "{:?}", record.violations);
    }
}

//! Startup, readiness and liveness probes.

use std::{net::IpAddr, time::Duration};

use bytes::Bytes;
use http::{
    Request,
    header::{HOST, USER_AGENT},
};
use http_body_util::Empty;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use k8s_openapi::{
    api::core::v1::{Container, HTTPGetAction, Probe},
    apimachinery::pkg::util::intstr::IntOrString,
};
use tokio::{
    net::TcpStream,
    time::{sleep, sleep_until, timeout},
};

use super::{pod_context::PodContext, process::ProcessProber, records::Slot, runtime::Prober};
use crate::model::clock::seconds;

/// Runs the probes of a container, and records whether it is started and ready. Returns when it is not alive.
pub(super) async fn run(context: &PodContext, container: &Container, slot: Slot, prober: &Prober) {
    let prober = match prober {
        Prober::Simulated(ready_at) => {
            context.update(slot, |record| record.is_started = true);
            if let Some(ready_at) = ready_at {
                sleep_until(*ready_at).await;
                context.update(slot, |record| record.is_ready = true);
            }
            return std::future::pending().await;
        }
        Prober::Process(prober) => prober,
    };
    let probes = Probes { context, container, slot, prober };
    if let Some(startup) = &container.startup_probe
        && !probes.wait_for_start(startup).await
    {
        return;
    }
    context.update(slot, |record| record.is_started = true);
    tokio::select! {
        () = probes.wait_for_death() => {}
        () = probes.follow_readiness() => {}
    }
}

struct Probes<'a> {
    context: &'a PodContext,
    container: &'a Container,
    slot: Slot,
    prober: &'a ProcessProber,
}

impl Probes<'_> {
    /// Returns whether the container started before the startup probe failed too often.
    async fn wait_for_start(&self, probe: &Probe) -> bool {
        let mut counter = Counter::new(probe);
        sleep(initial_delay(probe)).await;
        loop {
            match counter.count(self.execute("Startup", probe).await) {
                Some(is_started) => return is_started,
                None => sleep(period(probe)).await,
            }
        }
    }

    /// Waits until the liveness probe failed too often.
    async fn wait_for_death(&self) {
        let Some(probe) = &self.container.liveness_probe else { return std::future::pending().await };
        let mut counter = Counter::new(probe);
        sleep(initial_delay(probe)).await;
        while counter.count(self.execute("Liveness", probe).await) != Some(false) {
            sleep(period(probe)).await;
        }
    }

    /// Records the results of the readiness probe, without end.
    async fn follow_readiness(&self) {
        let Some(probe) = &self.container.readiness_probe else {
            self.context.update(self.slot, |record| record.is_ready = true);
            return std::future::pending().await;
        };
        let (mut counter, mut is_ready) = (Counter::new(probe), false);
        sleep(initial_delay(probe)).await;
        loop {
            let result = counter.count(self.execute("Readiness", probe).await);
            if let Some(result) = result.filter(|result| *result != is_ready) {
                is_ready = result;
                self.context.update(self.slot, |record| record.is_ready = result);
            }
            sleep(period(probe)).await;
        }
    }

    async fn execute(&self, kind: &str, probe: &Probe) -> bool {
        let limit = seconds(probe.timeout_seconds.unwrap_or(1).max(1));
        let result = timeout(limit, self.request(probe)).await;
        let failure = match result {
            Ok(Ok(())) => return true,
            Ok(Err(failure)) => failure,
            Err(_) => format!("no response within {}s", limit.as_secs()),
        };
        self.context.node.warning(&*self.context.pod, "Unhealthy", format!("{kind} probe failed: {failure}"));
        false
    }

    async fn request(&self, probe: &Probe) -> Result<(), String> {
        if let Some(action) = &probe.http_get {
            return self.get(action).await;
        }
        if let Some(action) = &probe.tcp_socket {
            let address = self.address(action.host.as_deref(), &action.port)?;
            return TcpStream::connect(address).await.map(drop).map_err(|error| error.to_string());
        }
        if let Some(action) = &probe.exec {
            return self.prober.execute(action.command.as_deref().unwrap_or_default()).await;
        }
        Err("the type of the probe is not implemented; use exec, httpGet or tcpSocket".to_owned())
    }

    /// Sends an HTTP request. Every status below 400 is a success.
    async fn get(&self, action: &HTTPGetAction) -> Result<(), String> {
        if action.scheme.as_deref() == Some("HTTPS") {
            return Err("probes with the scheme HTTPS are not implemented; use HTTP".to_owned());
        }
        let address = self.address(action.host.as_deref(), &action.port)?;
        let stream = TcpStream::connect(address).await.map_err(|error| error.to_string())?;
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
        let path = action.path.as_deref().filter(|path| !path.is_empty()).unwrap_or("/");
        let mut request = Request::get(path).header(HOST, address.0.to_string()).header(USER_AGENT, "kube-probe/1.36");
        for header in action.http_headers.iter().flatten() {
            request = request.header(&header.name, &header.value);
        }
        let request = request.body(Empty::<Bytes>::new()).map_err(|error| error.to_string())?;
        // The connection ends when the sender and the response are dropped.
        let exchange = async move { sender.send_request(request).await.map(|response| response.status()) };
        let (status, _) = tokio::join!(exchange, connection);
        match status.map_err(|error| error.to_string())?.as_u16() {
            200..400 => Ok(()),
            code => Err(format!("HTTP probe failed with statuscode: {code}")),
        }
    }

    /// Returns the address of a port, which can be the name of a port of the container.
    fn address(&self, host: Option<&str>, port: &IntOrString) -> Result<(IpAddr, u16), String> {
        let host = host.filter(|host| !host.is_empty()).unwrap_or(&self.context.pod_ip);
        let ip = host.parse().map_err(|_| format!("{host:?} is not an IP address"))?;
        let number = match port {
            IntOrString::Int(number) => Some(*number),
            IntOrString::String(name) => {
                let named = self.container.ports.iter().flatten().find(|port| port.name.as_ref() == Some(name));
                named.map(|port| port.container_port).or_else(|| name.parse().ok())
            }
        };
        let number = number.and_then(|number| u16::try_from(number).ok());
        number.map(|number| (ip, number)).ok_or_else(|| format!("the container has no port {port:?}"))
    }
}

fn initial_delay(probe: &Probe) -> Duration {
    seconds(probe.initial_delay_seconds.unwrap_or_default())
}

fn period(probe: &Probe) -> Duration {
    seconds(probe.period_seconds.unwrap_or(10).max(1))
}

/// Counts equal results up to the thresholds of a probe.
struct Counter {
    failure_threshold: i32,
    success_threshold: i32,
    last: Option<bool>,
    count: i32,
}

impl Counter {
    fn new(probe: &Probe) -> Self {
        let failure_threshold = probe.failure_threshold.unwrap_or(3);
        Counter { failure_threshold, success_threshold: probe.success_threshold.unwrap_or(1), last: None, count: 0 }
    }

    /// Counts a result. Returns it if its threshold is reached.
    fn count(&mut self, result: bool) -> Option<bool> {
        if self.last.replace(result) != Some(result) {
            self.count = 0;
        }
        self.count = self.count.saturating_add(1);
        let threshold = if result { self.success_threshold } else { self.failure_threshold };
        (self.count >= threshold).then_some(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_counts_when_its_threshold_is_reached() {
        let probe = Probe { failure_threshold: Some(2), success_threshold: Some(1), ..Probe::default() };
        let mut counter = Counter::new(&probe);
        let results = [true, false, true, false, false, false].map(|result| counter.count(result));
        assert_eq!(results, [Some(true), None, Some(true), None, Some(false), Some(false)]);
    }
}

//! Converts the objects of a `ConversionReview` for a time, as a webhook of `kubewright-manager` does, and prints the
//! times.
//!
//! Usage: `bench-conversion FILE SECONDS`. With 0 seconds the response is printed.

mod v1;
mod v2;

use std::{
    env, fs,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Method, Request, Response, header::CONTENT_TYPE};
use kubewright_core::Converter;
use kubewright_manager::Webhooks;
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

/// The time before the measurement in which allocators and caches reach their state.
const WARM_UP: Duration = Duration::from_millis(200);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let mut arguments = env::args().skip(1);
    let file = arguments.next().context("missing the file of a review")?;
    let seconds: f64 = arguments.next().context("missing the number of seconds")?.parse()?;
    let body = Bytes::from(fs::read(&file).with_context(|| format!("cannot read {file}"))?);
    let webhook = webhook()?;
    let response = webhook.respond(&body).await?;
    if seconds == 0.0 {
        println!("{}", String::from_utf8_lossy(&response));
        return Ok(());
    }
    let objects = check(&response)?;
    webhook.run(&body, WARM_UP).await?;
    let before = cpu_time();
    let mut samples = webhook.run(&body, Duration::from_secs_f64(seconds)).await?;
    let cpu_time = cpu_time() - before;
    samples.sort_unstable();
    let per_object = |taken: Duration| taken.as_secs_f64() * 1e6 / objects as f64;
    let percentile = |percentage: usize| {
        let rank = (samples.len() * percentage).div_ceil(100).max(1);
        samples.get(rank - 1).copied().map(per_object)
    };
    let figures = json!({
        "median_us": percentile(50),
        "p99_us": percentile(99),
        "cpu_us": per_object(cpu_time) / samples.len() as f64,
        "reviews": samples.len(),
    });
    println!("{figures}");
    Ok(())
}

/// Checks that all objects are converted, and returns their number.
fn check(response: &[u8]) -> Result<usize> {
    let review: Value = serde_json::from_slice(response)?;
    let response = &review["response"];
    ensure!(response["result"]["status"] == "Success", "the conversion failed: {response}");
    let objects = response["convertedObjects"].as_array().map_or(0, Vec::len);
    ensure!(objects > 0, "the review has no objects");
    Ok(objects)
}

/// Responds to a request, as the server of the webhook calls it.
type Respond = dyn Fn(Request<Bytes>) -> BoxFuture<'static, Response<Bytes>>;

/// The webhook as its server calls it.
struct Webhook {
    respond: Box<Respond>,
    path: String,
}

/// Creates the webhook of the Logger.
fn webhook() -> Result<Webhook> {
    let converter = Converter::hub::<v2::Logger>().spoke::<v1::Logger>().build();
    let webhooks = Webhooks::new().converter(converter);
    let path = webhooks.describe().conversion_webhooks.into_iter().map(|webhook| webhook.path).next();
    let path = path.context("the webhook is not described")?;
    let respond = webhooks.into_service()?;
    Ok(Webhook { respond: Box::new(respond), path })
}

impl Webhook {
    async fn respond(&self, body: &Bytes) -> Result<Bytes> {
        let request = Request::builder().method(Method::POST).uri(&self.path);
        let request = request.header(CONTENT_TYPE, "application/json").body(body.clone())?;
        let response = (self.respond)(request).await;
        ensure!(response.status().is_success(), "the webhook responded with {}", response.status());
        Ok(response.into_body())
    }

    /// Converts the review until the time is over, and returns the time of each call.
    async fn run(&self, body: &Bytes, time: Duration) -> Result<Vec<Duration>> {
        let (end, mut samples) = (Instant::now() + time, Vec::new());
        loop {
            let start = Instant::now();
            if start >= end {
                return Ok(samples);
            }
            let response = self.respond(body).await?;
            samples.push(start.elapsed());
            drop(response);
        }
    }
}

/// Returns the user and system CPU time of this process.
fn cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

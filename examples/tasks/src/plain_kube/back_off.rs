//! Retries failed writes with growing delays, which kube's controller does not, and a test of them.

use std::{
    collections::HashMap,
    convert::Infallible,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use http::{Request, Response};
use kube::{
    Client, Error,
    client::Body,
    runtime::{controller::Action, reflector::ObjectRef},
};
use tower::service_fn;

use super::kind::{App, AppSpec, set_condition};

struct Context {
    client: Client,
    failures: Mutex<HashMap<ObjectRef<App>, u32>>,
}

async fn reconcile(app: Arc<App>, context: Arc<Context>) -> Result<Action, Error> {
    set_condition(&context.client, &app, "Accepted", true, "Checked", "checked the image").await?;
    context.failures.lock().unwrap_or_else(PoisonError::into_inner).remove(&ObjectRef::from_obj(&*app));
    Ok(Action::await_change())
}

fn error_policy(app: Arc<App>, _: &Error, context: Arc<Context>) -> Action {
    let mut failures = context.failures.lock().unwrap_or_else(PoisonError::into_inner);
    let count = failures.entry(ObjectRef::from_obj(&*app)).or_default();
    *count += 1;
    Action::requeue(Duration::from_millis(5 << (*count).min(17)))
}

#[tokio::test]
async fn a_failed_write_is_retried_with_growing_delays() {
    let app = Arc::new(App::new("a", AppSpec { image: "app:1".to_owned(), secret: None, config: None }));
    let failed =
        async |_: Request<Body>| Ok::<_, Infallible>(Response::builder().status(500).body(Body::empty()).unwrap());
    let context = Arc::new(Context { client: Client::new(service_fn(failed), "x"), failures: Mutex::default() });
    let mut delays = Vec::new();
    for _ in 0..3 {
        let error = reconcile(app.clone(), context.clone()).await.unwrap_err();
        delays.push(error_policy(app.clone(), &error, context.clone()));
    }
    assert_eq!(delays, [10, 20, 40].map(|millis| Action::requeue(Duration::from_millis(millis))));
}

//! Jobs: pods that run to completion.

use k8s_openapi::api::batch::v1::Job;
use serde_json::json;

use super::Cluster;

pub(super) async fn completions(cluster: &mut Cluster) {
    let mut template = cluster.template("task");
    template["metadata"]["annotations"]["simulator/exit-after"] = json!("3s");
    template["spec"]["restartPolicy"] = json!("Never");
    let spec = json!({"completions": 5, "parallelism": 2, "completionMode": "Indexed", "template": template});
    cluster.create::<Job>(json!({"metadata": {"name": "task"}, "spec": spec})).await;
    cluster
        .wait_for("the job is complete", |objects| {
            assert!(objects.pods("task").len() <= 2, "two pods run at a time");
            let status = objects.get("Job", "task").map(|job| &job["status"]);
            status.is_some_and(|status| status["succeeded"] == 5 && status["completedIndexes"] == "0-4")
        })
        .await;
    cluster.wait_for_condition("Job", "task", ["Complete", "True", "CompletionsReached"]).await;
}

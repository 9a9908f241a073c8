//! Every scenario on the embedded API server.

use tests::scenarios::ALL;

#[tokio::test]
async fn every_scenario_runs_on_the_embedded_api_server() {
    let client = tests::embedded().await;
    for scenario in ALL {
        println!("{}", scenario.name);
        (scenario.run)(client.clone()).await;
    }
}

//! Kills at random points while clients post records.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    hint::spin_loop,
    path::Path,
    sync::mpsc::{Sender, channel},
    thread,
};

use fastrand::Rng;

use crate::process::{Agent, output, records};

/// The number of concurrent clients.
const CLIENTS: usize = 4;

/// The maximum number of responses before a kill.
const MAX_RESPONSES: usize = 40;

/// The maximum number of iterations between a response and a kill.
const MAX_SPINS: u32 = 200_000;

/// Small segments, so that rotations are interrupted as well.
const OPTIONS: [&str; 6] = ["--segment-bytes", "8Ki", "--interval", "100ms", "--records-per-second", "1000000"];

fn number(name: &str) -> Option<u64> {
    env::var(name).ok().map(|text| text.parse().unwrap_or_else(|error| panic!("{name}={text}: {error}")))
}

/// Every second client does not wait until its records are durable.
fn headers(client: usize, key: &str) -> String {
    let prefer = if client % 2 == 1 { "Prefer: respond-async\r\n" } else { "" };
    format!("Idempotency-Key: {key}\r\n{prefer}")
}

/// Posts records until the agent is killed, and returns the keys of those with a response.
fn post(agent: &Agent, client: usize, round: u64, responses: &Sender<()>) -> Vec<String> {
    let mut keys = Vec::new();
    let Ok(mut connection) = agent.client() else { return keys };
    for count in 0.. {
        let key = format!("{round}-{client}-{count}");
        let text = "x".repeat(count % 500);
        let code = connection.post("/activity", &headers(client, &key), &format!("{{\"text\":\"{text}\"}}"));
        match code {
            Ok(200 | 202) => keys.push(key),
            Ok(code) => panic!("unexpected response {code}"),
            Err(_) => break,
        }
        // The receiver has its number of responses.
        let _ = responses.send(());
    }
    keys
}

/// Starts an agent, kills it after a random number of responses, and returns the keys with a response.
fn round(directory: &Path, round: u64, random: &mut Rng) -> BTreeSet<String> {
    let durability = if round.is_multiple_of(2) { "record" } else { "interval" };
    let agent = Agent::start(directory, &[&OPTIONS[..], &["--durability", durability]].concat());
    let (sender, receiver) = channel();
    thread::scope(|scope| {
        let agent_ref = &agent;
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let sender = sender.clone();
                scope.spawn(move || post(agent_ref, client, round, &sender))
            })
            .collect();
        drop(sender);
        receiver.iter().take(random.usize(0..MAX_RESPONSES)).for_each(drop);
        (0..random.u32(0..MAX_SPINS)).for_each(|_| spin_loop());
        agent.kill();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    })
}

#[test]
fn every_acknowledged_record_survives_kills_exactly_once() {
    let kills = number("KILLS").unwrap_or(20);
    let seed = number("KILL_SEED").unwrap_or_else(|| fastrand::u64(..));
    println!("KILL_SEED={seed}");
    let mut random = Rng::with_seed(seed);
    let directory = tempfile::tempdir().unwrap();
    let mut responded = BTreeSet::new();
    for number in 0..kills {
        responded.extend(round(directory.path(), number, &mut random));
    }
    let last = Agent::start(directory.path(), &OPTIONS);
    assert!(last.terminate().success(), "a stop after a recovery");
    let records = records(directory.path());
    let sequences: Vec<_> = records.keys().copied().collect();
    assert_eq!(sequences, (0..records.len() as u64).collect::<Vec<_>>(), "the sequence continues after each kill");
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    records.values().filter_map(|record| record.id.as_deref()).for_each(|id| *counts.entry(id).or_default() += 1);
    let wrong: Vec<_> = responded.iter().filter(|key| counts.get(key.as_str()) != Some(&1)).collect();
    assert!(wrong.is_empty(), "not exactly once: {wrong:?}");
    println!("{kills} kills, {} responses, {} records", responded.len(), records.len());
    let verified = output(&["verify", directory.path().to_str().unwrap()]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
}

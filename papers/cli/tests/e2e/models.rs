//! Coherent models, characterised and ranked like any machine.

use crate::common::Place;

#[test]
fn model_verbs_accept_coherent_models() {
    let place = Place::new();
    for name in ["xeon-phi-5110p", "xeon-e5-2680-2s", "scc-48"] {
        let stats = place.json(["stats", "--on", name, "-f", "mailbox", "--json"]);
        assert!(stats["latency_ns"].as_f64().is_some_and(|ns| ns > 0.0), "{stats}");
        assert!(stats["counters"]["lanes"].is_array(), "{stats}");
        let ranking = ["rank", "--on", name, "--pattern", "ring:4", "--sample", "3", "--runs", "1"];
        assert!(place.stdout(ranking).contains("ring:4 on"));
    }
}

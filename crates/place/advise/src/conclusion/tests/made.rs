//! Made-up evidence for tests.

use crate::evidence::{BusyThread, Evidence, Neighbours, ProgramTalk};
use crate::gain::MostGain;
use crate::trial::{RateDifference, TrialResult, TriedSeats};
use seatmap_data::plan::Effect;
use seatmap_trial::live::SeatCandidate;

/// Two threads on four quiet CPUs, whose seats could save a fifth of their time.
pub fn talkers() -> Evidence {
    let thread =
        |tid| BusyThread { tid, name: format!("w{tid}"), percent: 60.0, cpus: "0-3".to_owned() };
    let effect = Effect {
        observed_s: 6.0,
        messages: 60_000.0,
        outside_wakeups: 0.0,
        saw_memory: false,
        nearest_ns: 2_000.0,
        farthest_ns: 22_000.0,
        planned_s: 0.12,
        farthest_s: 1.32,
    };
    Evidence {
        name: "app".to_owned(),
        pids: vec![7],
        looked_s: 6.0,
        threads: 3,
        busy: vec![thread(8), thread(9)],
        used_percent: 121.0,
        cpus: "0-3".to_owned(),
        cpu_count: 4,
        neighbours: Neighbours::default(),
        talk: Some(ProgramTalk {
            methods: "wakeups".to_owned(),
            inside_per_s: 10_000.0,
            pairs: 2,
            ..ProgramTalk::default()
        }),
        most_gain: Some(MostGain {
            machine: "made".to_owned(),
            percent: effect.saving_percent(),
            effect,
        }),
        ..Evidence::default()
    }
}

/// A trial of one candidate, with these differences and intervals in percent.
pub fn trial(control: [f64; 3], seats: [f64; 3]) -> TrialResult {
    let difference = |[low_percent, percent, high_percent]: [f64; 3]| {
        Some(RateDifference { percent, low_percent, high_percent })
    };
    TrialResult {
        work: "bytes".to_owned(),
        seconds: 18.0,
        rounds: 20,
        counted: 18,
        control: difference(control),
        candidates: vec![TriedSeats {
            candidate: SeatCandidate {
                name: "together".to_owned(),
                seats: vec![None, Some("1".to_owned()), Some("1".to_owned())],
            },
            tids: vec![7, 8, 9],
            difference: difference(seats),
            repeat: difference(seats),
            ..TriedSeats::default()
        }],
        ..TrialResult::default()
    }
}

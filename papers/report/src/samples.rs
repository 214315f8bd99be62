//! Hand-made results for this crate's tests.

use seatmap_experiments::rank::{MappingChoice, MappingTimes, Ranking, Setup, Variant};

/// A ring of four, with six mappings a tenth apart.
pub fn ranking(runs: u32) -> Ranking {
    let setup = Setup {
        machine: "cell-test".into(),
        machine_hash: "00".into(),
        pus: (0..6).collect(),
        pattern: "ring:4:bidirectional".into(),
        tasks: 4,
        is_unidirectional: false,
        messages: Vec::new(),
        packet_bytes: 1024,
        rounds: 20,
        entry_bytes: 16,
        poll_cycles: 60,
        runs,
        variant: Variant::Pinned,
        seed: 1,
        is_shuffled: false,
        choice: MappingChoice::default(),
    };
    let mut times = MappingTimes::new((0..6).collect(), runs);
    for job in times.missing() {
        let noise = f64::from((job.index as u32 + job.run) % 3);
        times.set(job, 1000.0 + 100.0 * (5 - job.index) as f64 + 25.0 * f64::from(job.run) + noise);
    }
    Ranking::new(setup, None, &times).unwrap()
}

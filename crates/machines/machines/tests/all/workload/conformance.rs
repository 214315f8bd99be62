//! The same programs over lines on this computer and on coherent models: all must compute the same.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use seatmap_data::pattern::generate;
use seatmap_data::port::{Addr, Testbed};
use seatmap_machines::host::HostTestbed;
use seatmap_machines::workload::{Handoffs, LineByLine, PingPong};
use seatmap_os::affinity;
use seatmap_sim::{CoherentBed, catalog};

fn shared<T: Testbed>(bed: &mut T, seats: [u32; 2]) -> Vec<String> {
    let pair =
        PingPong { lines: vec![Addr::line(5)], gate: Addr::line(0), batches: 3, round_trips: 7 };
    let twice = [0, 1].map(|_| {
        bed.run(&seats, &pair).unwrap().iter().map(|trace| trace.stamps.len()).sum::<usize>()
    });
    let words = vec![Addr::line(4), Addr::line(5)];
    let meeting = Addr::line(2);
    let lines = LineByLine { words, meeting, batches: 2, round_trips: 5 };
    let by_line: Vec<usize> =
        bed.run(&seats, &lines).unwrap().iter().flatten().map(|trace| trace.stamps.len()).collect();
    let mut handoffs = Handoffs::along(&generate("ring:2:bidirectional").unwrap(), 6, 9);
    handoffs.handoffs[1].messages = 3;
    let exchanged: Vec<u64> =
        bed.run(&seats, &handoffs).unwrap().iter().map(|task| task.sum).collect();
    vec![
        format!("stamps: {twice:?}"),
        format!("line by line: {by_line:?}"),
        format!("exchanged: {exchanged:?}"),
    ]
}

#[test]
fn line_workloads_agree_on_all_testbeds() {
    // In a round task 0 receives three messages of task 1, which add 1 to the round; task 1
    // receives one.
    let wanted = ["stamps: [8, 8]", "line by line: [3, 3, 3, 3]", "exchanged: [135, 36]"];
    for (name, seats) in
        [("xeon-phi-5110p", [1, 2]), ("xeon-e5-2680-2s", [3, 12]), ("scc-48", [7, 6])]
    {
        let mut coherent = CoherentBed::new(catalog::load(name).unwrap().unwrap());
        assert_eq!(shared(&mut coherent, seats), wanted, "{name}");
    }
    let pus = affinity::current().unwrap();
    match pus.first_chunk::<2>().copied() {
        Some(seats) => assert_eq!(shared(&mut HostTestbed::new(pus, 10).unwrap(), seats), wanted),
        None => seatmap_needs::skipped!("two tasks that wait for each other need two CPUs"),
    }
}

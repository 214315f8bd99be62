//! A sample for tests.

use seatmap_data::machine::Topology;
use seatmap_os::{CpuSet, Tid};
use seatmap_watch::expected::ExpectedSeat;
use seatmap_watch::judge::made::Made;
use seatmap_watch::judge::seats as seats_of;
use seatmap_watch::live::{Rates, SeatingFrame, Wakes};
use seatmap_watch::seating::CellCpus;
use seatmap_watch::{Criteria, Expected, LookJudgement, judge};

/// Two workers of one process share a CPU.
fn made() -> Made {
    let made = Made::new(4)
        .parts(2, 4, 4)
        .thread(70, 70, "0-3")
        .busy(70, 71, "1", 90.0, 10.0)
        .called("worker-1");
    let mut made =
        made.busy(70, 72, "1", 70.0, 30.0).called("worker-2").busy(90, 90, "0-3", 12.5, 0.0);
    let cpus = [0, 1, 1, 2];
    made.seating.threads.iter_mut().zip(cpus).for_each(|(thread, cpu)| thread.cpu = Some(cpu));
    let names = ["server", "idler"];
    made.seating
        .processes
        .iter_mut()
        .zip(names)
        .for_each(|(process, name)| process.name = name.to_owned());
    made
}

pub fn frame() -> SeatingFrame {
    let mut seating = made().seating;
    seating.watched_s = 1.5;
    seating.cells = vec![CellCpus { name: "quiet".to_owned(), cpus: "3".to_owned() }];
    let rates = |at: usize| Rates {
        switches: 10.0 * at as f64,
        wakeups: 4.0 * at as f64,
        migrations: Some(0.5 * at as f64),
    };
    let rates = (0..seating.threads.len()).map(rates).collect();
    let wakes = [(71, 72, 12_345.6), (72, 71, 1200.0), (70, 90, 3.25)];
    let wakes = wakes.map(|(from, to, per_s)| Wakes { from, to, per_s }).to_vec();
    SeatingFrame { seating, rates, wakes: Some(wakes) }
}

pub fn topology() -> Topology {
    made().topology
}

/// Worker 1 should be on CPU 2; worker 2 is on its seat.
pub fn judgement() -> LookJudgement {
    let seat = |label: &str, tid: Tid, cpus: &str| ExpectedSeat {
        label: label.to_owned(),
        cpus: CpuSet::of_list(cpus).unwrap_or_default(),
        name: None,
        thread: Some((70, tid)),
    };
    let seats = vec![seat("task 0", 71, "2"), seat("task 1", 72, "1")];
    let expected = Expected { seats, is_shown: true, ..Expected::default() };
    let criteria = Criteria { expected: Some(expected), ..Criteria::default() };
    let seating = made().seating;
    let topology = topology();
    LookJudgement {
        findings: judge(&seating, &topology, &criteria),
        seats: seats_of(&seating, &topology, &criteria),
    }
}

//! The rules of every testbed, tested on the host.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use seatmap_data::port::{Addr, Barrier, Port, Testbed, Workload};
use seatmap_machines::host::{HostError, HostTestbed};
use seatmap_machines::workload::{PingPong, Touch};
use seatmap_os::{CpuError, affinity};

struct Sum {
    tasks: usize,
    rounds: u64,
}

impl Workload for Sum {
    type Output = Vec<u64>;

    fn tasks(&self) -> usize {
        self.tasks
    }

    fn lines(&self) -> u32 {
        2
    }

    fn task<P: Port>(&self, port: &P, rank: usize) -> Vec<u64> {
        let sum = Addr::line(0);
        let all_here = Barrier::new(Addr::line(1), self.tasks);
        (0..self.rounds)
            .map(|_| {
                port.fetch_add(sum, rank as u64 + 1);
                all_here.wait(port);
                let seen = port.load(sum);
                all_here.wait(port);
                seen
            })
            .collect()
    }
}

struct Turns;

impl Workload for Turns {
    type Output = u64;

    fn tasks(&self) -> usize {
        2
    }

    fn lines(&self) -> u32 {
        1
    }

    fn task<P: Port>(&self, port: &P, rank: usize) -> u64 {
        let turn = Addr::line(0);
        let other = 1 - rank as u64;
        let mut refused = 0;
        for _ in 0..200 {
            while port.compare_exchange(turn, rank as u64, 2).is_err() {
                refused += 1;
                port.compute(10);
            }
            port.store(turn, other);
        }
        refused
    }
}

fn host(lines: u32) -> HostTestbed {
    HostTestbed::new(affinity::current().unwrap(), lines).unwrap()
}

fn has_a_pair() -> bool {
    let cpus = affinity::current().unwrap().len();
    if cpus < 2 {
        seatmap_needs::skipped!("this process may use {cpus} CPU, and a pair needs two");
    }
    cpus >= 2
}

#[test]
fn every_task_sees_all_sums() {
    let mut host = host(2);
    let seats = host.pus().to_vec();
    let seen = host.run(&seats, &Sum { tasks: seats.len(), rounds: 50 }).unwrap();
    let once = (seats.len() * (seats.len() + 1) / 2) as u64;
    let expected: Vec<u64> = (1..=50).map(|round| round * once).collect();
    assert!(seen.iter().all(|task| *task == expected), "{seen:?}");
}

#[test]
fn ping_pong_has_the_requested_length() {
    if !has_a_pair() {
        return;
    }
    let mut host = host(8);
    let seats = host.pus()[..2].to_vec();
    let workload =
        PingPong { lines: vec![Addr::line(4)], gate: Addr::line(0), batches: 7, round_trips: 11 };
    for (trace, seat) in host.run(&seats, &workload).unwrap().iter().zip(&seats) {
        assert_eq!(trace.stamps.len(), 8);
        assert!(trace.stamps.windows(2).all(|two| two[0].ticks < two[1].ticks), "{trace:?}");
        assert_eq!(trace.stamps[0].pu, *seat);
    }
}

#[test]
fn tasks_take_turns() {
    if has_a_pair() {
        let mut host = host(1);
        let seats = host.pus()[..2].to_vec();
        assert_eq!(host.run(&seats, &Turns).unwrap().len(), 2);
    }
}

#[test]
fn wrong_seats_lines_and_cpus_are_refused() {
    let mut host = host(2);
    let seats = host.pus().to_vec();
    assert!(matches!(
        host.run(&[], &Touch { words: vec![] }),
        Err(HostError::Seats { tasks: 1, seats: 0 })
    ));
    let far = Touch { words: vec![Addr::line(2)] };
    assert!(matches!(host.run(&seats[..1], &far), Err(HostError::Lines { needed: 3, lines: 2 })));
    let absent = HostTestbed::new(vec![70_000], 1);
    assert!(matches!(absent, Err(HostError::Cpu(CpuError::Absent { cpu: 70_000, .. }))));
}

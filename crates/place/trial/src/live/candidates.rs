//! Candidate seats, from the observed pattern and the distances of the machine.
//!
//! *Nearest*: each busy thread gets its own CPU, near those that it communicates with, as by
//! `seatmap place`. *Together*: threads that communicate share a CPU, evenly. A wakeup on the same
//! CPU needs no interrupt, but costs parallelism. Distances do not show which is better, so both
//! are tried. *One CPU*: all threads share one, if they run in turns.

use seatmap_data::machine::{CoreDistance, Matrix, Origin, OriginKind, Profile, Topology};
use seatmap_data::pattern::{Edge, Pattern};
use seatmap_data::statistics::least;
use seatmap_launch::sets;
use seatmap_os::{CpuSet, Tid};
use seatmap_place::search::SearchLimit;
use seatmap_place::{PlaceError, PlaceRequest, Weight};
use serde::{Deserialize, Serialize};

/// Threads with less load, in CPUs, and fewer messages than [`LEAST_MESSAGES`] get no seat.
const LEAST_LOAD: f64 = 0.005;

/// Threads with a smaller share of all messages count as idle.
const LEAST_MESSAGES: f64 = 0.002;

/// Threads with at most this load together, in CPUs, run in turns.
const LOAD_IN_TURNS: f64 = 1.25;

/// Few, because the program waits and the periods decide.
const KICKS: u64 = 200;

const LONGEST_SEARCH_S: f64 = 1.0;

/// The distance of two threads on one CPU, as a part of the smallest distance between CPUs. Only
/// the order matters.
const SAME_CPU: f64 = 0.5;

/// Seats for the threads of a program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeatCandidate {
    /// Its kind: `nearest`, `together` or `one CPU`.
    pub name: String,
    /// The CPUs of each thread in order of creation, as a list; `null` without a seat.
    pub seats: Vec<Option<String>>,
}

impl SeatCandidate {
    /// The CPUs of these threads with a seat, in order of creation.
    pub fn of_threads(&self, tids: &[Tid]) -> Vec<(Tid, CpuSet)> {
        let seats = tids.iter().zip(&self.seats);
        seats.filter_map(|(tid, seat)| Some((*tid, CpuSet::of_list(seat.as_deref()?)?))).collect()
    }

    /// The number of seated threads.
    pub fn seated(&self) -> usize {
        self.seats.iter().flatten().count()
    }
}

/// Why there are no candidates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoSeats {
    /// The program may use only one CPU.
    OneCpu,
    /// The program has one thread.
    OneThread,
    /// The threads exchange no messages.
    Silent,
    /// Each thread's share of the messages is too small.
    Spread,
    /// Each group of CPUs would be all CPUs.
    AllCpus,
}

/// The machine for which candidates are sought.
#[derive(Clone, Debug)]
pub struct Ground<'a> {
    /// The CPUs and the hardware that they share.
    pub topology: &'a Topology,
    /// The measured distances, if any.
    pub profile: Option<&'a Profile>,
    /// The CPUs that the program may use.
    pub allowed: &'a CpuSet,
    /// Whether threads get groups of CPUs, in which the kernel chooses: by last-level cache, or
    /// else NUMA node or package.
    pub soft: bool,
}

impl Ground<'_> {
    /// The candidates for an observed pattern; none with one CPU or without messages.
    ///
    /// # Errors
    /// [`PlaceError`]: the distances do not match these CPUs.
    pub fn candidates(&self, pattern: &Pattern) -> Result<Vec<SeatCandidate>, PlaceError> {
        let busy = busy(pattern);
        let part = part(pattern, &busy);
        let cpus: Vec<u32> = self.cpus().collect();
        if part.edges.is_empty() || cpus.len() < 2 {
            return Ok(Vec::new());
        }
        let near = self.distances(&cpus);
        let mut found = Vec::new();
        for (name, slots) in [("nearest", 1), ("together", busy.len().div_ceil(cpus.len()).max(2))]
        {
            // Otherwise this is a bad version of the other kind.
            if busy.len() <= slots * cpus.len() {
                let sets = self.placed(&part, &cpus, &near, slots)?;
                found.push(self.candidate(name, pattern.tasks, &busy, &sets));
            }
        }
        let load: f64 = busy.iter().filter_map(|task| pattern.loads.get(*task)).sum();
        if busy.len() > 2 && load <= LOAD_IN_TURNS {
            let sets = vec![cpus[0]; busy.len()];
            found.push(self.candidate("one CPU", pattern.tasks, &busy, &sets));
        }
        found.dedup_by(|later, first| later.seats == first.seats);
        // Groups of all CPUs change nothing.
        let all = self.allowed.list().to_string();
        found.retain(|candidate| candidate.seats.iter().flatten().any(|seat| *seat != all));
        Ok(found)
    }

    /// All threads on one CPU, for work that moves among them; `None` with one CPU.
    pub fn on_one_cpu(&self, threads: usize) -> Option<SeatCandidate> {
        let all: Vec<usize> = (0..threads).collect();
        let first = self.cpus().next().filter(|_| self.cpus().count() > 1)?;
        Some(self.candidate("one CPU", threads, &all, &vec![first; threads]))
    }

    fn cpus(&self) -> impl Iterator<Item = u32> {
        self.topology.os_indices().filter(|cpu| self.allowed.contains(*cpu))
    }

    /// Why this pattern has no candidates, if it has none.
    pub fn reason_against(&self, pattern: &Pattern) -> NoSeats {
        match () {
            () if self.cpus().count() < 2 => NoSeats::OneCpu,
            () if pattern.tasks < 2 => NoSeats::OneThread,
            () if pattern.edges.is_empty() => NoSeats::Silent,
            () if part(pattern, &busy(pattern)).edges.is_empty() => NoSeats::Spread,
            () => NoSeats::AllCpus,
        }
    }

    /// Measured distances, or estimates from shared hardware.
    fn distances(&self, cpus: &[u32]) -> Matrix {
        let measured = self.profile.and_then(|profile| profile.core_distance.as_ref());
        let measured = measured.and_then(|distance| {
            let rows: Option<Vec<usize>> = cpus.iter().map(|cpu| distance.index_of(*cpu)).collect();
            let rows = rows?;
            Some(Matrix::from_fn(cpus.len(), |a, b| distance.median_ns[(rows[a], rows[b])]))
        });
        measured.unwrap_or_else(|| {
            Matrix::from_fn(
                cpus.len(),
                |a, b| {
                    if a == b { 0.0 } else { self.steps(cpus[a], cpus[b]) }
                },
            )
        })
    }

    fn steps(&self, a: u32, b: u32) -> f64 {
        let (Some(a), Some(b)) = (self.topology.pu(a), self.topology.pu(b)) else { return 100.0 };
        match () {
            // Nanoseconds; only their order matters.
            () if share(a.core, b.core) => 20.0,
            () if share(a.l2, b.l2) || share(a.cluster, b.cluster) => 30.0,
            () if share(a.l3, b.l3) => 50.0,
            () if share(a.package, b.package) => 100.0,
            () => 200.0,
        }
    }

    fn placed(
        &self,
        part: &Pattern,
        cpus: &[u32],
        near: &Matrix,
        slots: usize,
    ) -> Result<Vec<u32>, PlaceError> {
        let seats = cpus.len() * slots;
        let pairs = (0..cpus.len()).flat_map(|a| (0..cpus.len()).map(move |b| (a, b)));
        let nearest = least(pairs.filter(|(a, b)| a != b).map(|pair| near[pair]));
        let numbers: Vec<u32> = (0..seats as u32).collect();
        let origin =
            Origin { kind: OriginKind::Model, source: "seats".to_owned(), date: None, tool: None };
        let mut machine = Profile::new("seats", origin, Topology::unknown(numbers.iter().copied()));
        let apart = Matrix::from_fn(seats, |a, b| match (a / slots, b / slots) {
            _ if a == b => 0.0,
            (one, other) if one == other => SAME_CPU * nearest,
            (one, other) => near[(one, other)],
        });
        machine.core_distance = Some(CoreDistance::imported(numbers, apart));
        let mut request = PlaceRequest::new(&machine, part);
        request.weight = Some(Weight::Messages);
        request.limit = SearchLimit {
            kicks: SearchLimit::kicks(KICKS).kicks,
            ..SearchLimit::seconds(LONGEST_SEARCH_S)
        };
        let answer = request.place()?;
        Ok(answer.placement.iter().map(|seat| cpus[*seat as usize / slots]).collect())
    }

    fn candidate(&self, name: &str, tasks: usize, busy: &[usize], cpus: &[u32]) -> SeatCandidate {
        let mut seats = vec![None; tasks];
        for (task, cpu) in busy.iter().zip(cpus) {
            let set =
                if self.soft { sets::around(self.topology, *cpu) } else { CpuSet::single(*cpu) };
            seats[*task] = Some(set.within(self.allowed).list().to_string());
        }
        SeatCandidate { name: name.to_owned(), seats }
    }
}

fn share(one: Option<u32>, other: Option<u32>) -> bool {
    one.is_some() && one == other
}

fn busy(pattern: &Pattern) -> Vec<usize> {
    let total: f64 = pattern.edges.iter().map(|edge| edge.messages).sum();
    let mut messages = vec![0.0; pattern.tasks];
    for edge in &pattern.edges {
        messages[edge.from] += edge.messages;
        messages[edge.to] += edge.messages;
    }
    (0..pattern.tasks)
        .filter(|task| {
            pattern.loads.get(*task).is_some_and(|load| *load >= LEAST_LOAD)
                || messages[*task] > LEAST_MESSAGES * total.max(f64::MIN_POSITIVE)
        })
        .collect()
}

fn part(pattern: &Pattern, tasks: &[usize]) -> Pattern {
    let kept = pattern.edges.iter().filter_map(|edge| {
        let from = tasks.binary_search(&edge.from).ok()?;
        let to = tasks.binary_search(&edge.to).ok()?;
        Some(Edge { from, to, ..*edge })
    });
    Pattern::gathered("busy", tasks.len(), kept)
}

/// 1 minus the cosine of the angle between the message vectors of two patterns. 0 if the later one
/// has fewer than 16 messages a pair; 1 if only it has messages.
pub fn distance(before: &Pattern, now: &Pattern) -> f64 {
    let messages: f64 = now.edges.iter().map(|edge| edge.messages).sum();
    if messages < 16.0 * now.edges.len().max(1) as f64 {
        return 0.0;
    }
    // The edges of both are sorted by their ends.
    let lengths = (square(before) * square(now)).sqrt();
    if lengths > 0.0 {
        let both = now.edges.iter().map(|edge| {
            let ends = (edge.from, edge.to);
            let found = before.edges.binary_search_by_key(&ends, |edge| (edge.from, edge.to));
            found.map_or(0.0, |at| edge.messages * before.edges[at].messages)
        });
        (1.0 - both.sum::<f64>() / lengths).clamp(0.0, 1.0)
    } else {
        // The program slept during one of the observations.
        f64::from(u8::from(square(now) > 0.0))
    }
}

fn square(pattern: &Pattern) -> f64 {
    pattern.edges.iter().map(|edge| edge.messages.powi(2)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_data::machine::Pu;

    /// Thread k talks to k + n; one more is idle.
    fn pairs(pairs: usize) -> Pattern {
        let edge = |from, to| Edge { from, to, bytes: 1e6, messages: 1e6 };
        let edges =
            (0..pairs).flat_map(|pair| [edge(pair, pairs + pair), edge(pairs + pair, pair)]);
        let mut pattern = Pattern::gathered("pairs", 2 * pairs + 1, edges);
        pattern.loads =
            (0..=2 * pairs).map(|task| if task < 2 * pairs { 0.3 } else { 0.0 }).collect();
        pattern
    }

    fn topology(cpus: u32) -> Topology {
        let pu =
            |os| Pu { os, core: Some(os), l3: Some(os / 2), package: Some(0), ..Pu::default() };
        Topology { pus: (0..cpus).map(pu).collect() }
    }

    fn on_ground<T>(cpus: u32, soft: bool, of: impl FnOnce(&Ground<'_>) -> T) -> T {
        let topology = topology(cpus);
        let allowed = (0..cpus).collect();
        of(&Ground { topology: &topology, profile: None, allowed: &allowed, soft })
    }

    fn found(pattern: &Pattern, cpus: u32, soft: bool) -> Vec<SeatCandidate> {
        on_ground(cpus, soft, |ground| ground.candidates(pattern).unwrap())
    }

    fn reason(pattern: &Pattern, cpus: u32, soft: bool) -> NoSeats {
        on_ground(cpus, soft, |ground| ground.reason_against(pattern))
    }

    fn cpu(candidate: &SeatCandidate, task: usize) -> u32 {
        candidate.seats[task].as_ref().unwrap().parse().unwrap()
    }

    #[test]
    fn pairs_are_placed_near_or_on_one_cpu() {
        let all = found(&pairs(2), 4, false);
        let names: Vec<_> = all.iter().map(|candidate| candidate.name.as_str()).collect();
        assert_eq!(names, ["nearest", "together", "one CPU"]);
        assert!((0..2).all(|pair| cpu(&all[0], pair) / 2 == cpu(&all[0], pair + 2) / 2), "{all:?}");
        assert!((0..2).all(|pair| cpu(&all[1], pair) == cpu(&all[1], pair + 2)), "{all:?}");
        assert_eq!((all[0].seats[4].clone(), all[0].seated()), (None, 4));
    }

    #[test]
    fn threads_that_run_in_turns_may_share_one_cpu() {
        let mut chain = pairs(2);
        chain.loads = vec![0.3, 0.3, 0.3, 0.3, 0.0];
        let all = found(&chain, 2, false);
        let one = all.iter().find(|candidate| candidate.name == "one CPU").unwrap();
        assert!((0..4).all(|task| cpu(one, task) == 0) && one.seated() == 4, "{one:?}");
        chain.loads = vec![0.9; 5];
        assert!(found(&chain, 2, false).iter().all(|candidate| candidate.name != "one CPU"));
    }

    #[test]
    fn more_threads_than_cpus_are_paired_on_cpus() {
        let all = found(&pairs(8), 2, false);
        assert_eq!(all.len(), 1);
        assert!((0..8).all(|pair| cpu(&all[0], pair) == cpu(&all[0], pair + 8)));
        assert_eq!((0..16).filter(|task| cpu(&all[0], *task) == 0).count(), 8);
    }

    #[test]
    fn soft_seats_are_cpus_of_one_cache() {
        let all = found(&pairs(2), 4, true);
        let mut seats = all.iter().flat_map(|candidate| candidate.seats.iter().flatten());
        assert!(seats.all(|seat| ["0-1", "2-3", "0,1", "2,3"].contains(&&**seat)), "{all:?}");
        // One cache for all CPUs is the same as no seats.
        assert!(found(&pairs(2), 2, true).is_empty());
        assert_eq!(reason(&pairs(2), 2, true), NoSeats::AllCpus);
    }

    #[test]
    fn no_candidates_for_single_cpu_or_silent_pattern() {
        assert!(found(&pairs(2), 1, false).is_empty());
        assert!(found(&Pattern::silent("silent", 4), 4, false).is_empty());
        assert_eq!(reason(&pairs(2), 1, false), NoSeats::OneCpu);
        assert_eq!(reason(&Pattern::silent("silent", 4), 4, false), NoSeats::Silent);
        assert_eq!(reason(&Pattern::silent("silent", 1), 4, false), NoSeats::OneThread);
    }

    #[test]
    fn pattern_distance_ignores_volume() {
        let before = pairs(2);
        let mut now = pairs(2);
        assert!(distance(&before, &now) < 1e-9);
        now.edges.iter_mut().for_each(|edge| edge.messages *= 7.0);
        assert!(distance(&before, &now) < 1e-9);
        let other =
            Pattern::gathered("other", 5, [Edge { from: 0, to: 1, bytes: 1.0, messages: 1e6 }]);
        assert!((distance(&before, &other) - 1.0).abs() < 1e-9);
        assert_eq!(distance(&before, &Pattern::silent("silent", 5)), 0.0);
        assert_eq!(distance(&Pattern::silent("silent", 5), &before), 1.0);
        assert_eq!(distance(&Pattern::silent("silent", 5), &Pattern::silent("silent", 5)), 0.0);
    }
}

//! Tests of the parts, the arrays and the schedule.

use super::*;
use seatmap_data::machine::Topology;
use seatmap_data::statistics::greatest;

/// Two packages of two L3 caches with two cores of two threads each; threads of a core are numbered
/// eight apart.
fn two_packages() -> Topology {
    let mut topology = Topology::unknown(0..16);
    for pu in &mut topology.pus {
        let core = pu.os % 8;
        (pu.core, pu.l3) = (Some(core), Some(core / 2));
        (pu.numa, pu.package) = (Some(core / 4), Some(core / 4));
        pu.l3_bytes = Some(32 << 20);
    }
    topology
}

fn all() -> Vec<u32> {
    (0..16).collect()
}

#[test]
fn counts_grow_by_halves_and_include_all_cores_and_threads() {
    assert_eq!(counts(1, 1), [1]);
    assert_eq!(counts(2, 2), [1, 2]);
    assert_eq!(counts(10, 5), [1, 2, 3, 4, 5, 6, 8, 10]);
    assert_eq!(counts(192, 96), [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192]);
}

#[test]
fn threads_fill_caches_in_turn_and_cores_first() {
    let parts = parts(&two_packages(), &all());
    let levels: Vec<String> = parts.iter().map(|(part, _)| part.levels.join(" ")).collect();
    assert_eq!(levels, ["l3", "l3", "l3", "l3", "numa package", "numa package"]);
    assert_eq!(parts[1].0.pus, [2, 3, 10, 11]);
    assert_eq!(parts[4].0.pus, [0, 2, 1, 3, 8, 10, 9, 11]);
    assert!(parts.iter().all(|(part, cores)| 2 * cores == part.pus.len()));
}

#[test]
fn nodes_of_a_package_are_filled_in_turn() {
    let mut topology = two_packages();
    topology.pus.iter_mut().for_each(|pu| pu.package = Some(0));
    let parts = parts(&topology, &[0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(parts.last().unwrap().0.pus, [0, 4, 2, 6, 1, 5, 3, 7]);
}

/// Two nodes with one L3 cache, as with sub-NUMA clustering.
fn shared_cache() -> Topology {
    let mut topology = two_packages();
    topology.pus.iter_mut().for_each(|pu| (pu.l3, pu.package) = (Some(0), Some(0)));
    topology
}

#[test]
fn nodes_of_one_cache_are_filled_in_turn() {
    let parts = parts(&shared_cache(), &[0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(parts[0].0.levels, ["l3", "package"]);
    assert_eq!(parts[0].0.pus, [0, 4, 1, 5, 2, 6, 3, 7]);
    assert_eq!(parts[1].0.pus, [0, 1, 2, 3]);
}

#[test]
fn machine_without_known_parts_is_one_part() {
    let parts = parts(&Topology::unknown(0..3), &[2, 0]);
    assert_eq!(
        (&parts[0].0.levels[..], &parts[0].0.pus[..]),
        (&["machine".to_owned()][..], &[2, 0][..])
    );
    assert_eq!((parts.len(), parts[0].1), (1, 2));
    let spread = super::parts(&two_packages(), &[0, 4]);
    assert_eq!(spread[0].0.levels, ["machine"], "a part with one CPU has no curve");
}

fn arrays_on(
    topology: &Topology,
    free_bytes: Option<u64>,
) -> Result<StreamArrays, TooLittleMemory> {
    let parts = parts(topology, &all());
    StreamArrays::new(topology, parts.iter().map(|(part, _)| part), free_bytes)
}

fn arrays(free_bytes: Option<u64>) -> Result<StreamArrays, TooLittleMemory> {
    arrays_on(&two_packages(), free_bytes)
}

#[test]
fn arrays_are_four_times_the_caches_in_use() {
    let arrays = arrays(None).unwrap();
    let sum_mib = |pus: &[u32]| {
        let bytes: usize = arrays.bytes_of(pus).iter().map(|(_, bytes)| bytes).sum();
        (bytes + (1 << 19)) >> 20
    };
    // Three arrays, 32 MiB of cache.
    assert_eq!(sum_mib(&[0]), 3 * 4 * 32);
    assert_eq!(sum_mib(&[0, 1, 8, 9]), 3 * 4 * 32);
    assert_eq!(sum_mib(&[0, 2]), 2 * 3 * 4 * 32, "two caches");
    assert_eq!(sum_mib(&all()), 4 * 3 * 4 * 32);
    assert!(!arrays.are_small() && arrays.over_cache() == 4.0);
}

#[test]
fn no_visit_needs_more_than_a_thread_has() {
    for topology in [two_packages(), shared_cache()] {
        let arrays = arrays_on(&topology, None).unwrap();
        let has = |os: u32| arrays.most_bytes().iter().find(|(other, _)| *other == os).unwrap().1;
        for (part, cores) in parts(&topology, &all()) {
            for threads in counts(part.pus.len(), cores) {
                for (os, bytes) in arrays.bytes_of(&part.pus[..threads]) {
                    assert!(bytes <= has(os) + 8, "CPU {os} of {threads}: {bytes} > {}", has(os));
                }
            }
        }
    }
}

#[test]
fn arrays_shrink_to_half_of_the_free_memory() {
    let arrays = arrays(Some(3 << 30)).unwrap();
    assert!(arrays.are_small() && arrays.over_cache() > 1.0, "{arrays:?}");
    let all_bytes: usize = arrays.most_bytes().iter().map(|(_, bytes)| bytes).sum();
    assert!(all_bytes as u64 <= 3 << 29, "{all_bytes}");
}

#[test]
fn too_little_memory_is_refused_with_both_sizes() {
    let error = arrays(Some(100 << 20)).unwrap_err().to_string();
    // Four caches, three arrays as large as each, 1 + 1/2 + 1/3 + 1/4 threads, and twice as much.
    assert!(error.starts_with("memory bandwidth needs 1600 MiB of free memory"), "{error}");
    assert!(error.contains("100 MiB are free"), "{error}");
}

/// A memory that three threads saturate; every fourth visit is disturbed.
fn memory() -> impl FnMut(StreamKernel, &[u32]) -> Result<Vec<f64>, String> {
    let mut rng = Xoshiro::new(5);
    let mut visits = 0_u32;
    move |kernel, pus| {
        visits += 1;
        if pus.iter().any(|os| *os > 15) {
            return Err("no such CPU".to_owned());
        }
        let most = if kernel == StreamKernel::Write { 16.0 } else { 32.0 };
        let rate = (11.0 * pus.len() as f64).min(most);
        let kept = if visits.is_multiple_of(4) { 2 } else { BATCHES };
        let slowed = if visits.is_multiple_of(4) { 0.6 } else { 1.0 };
        Ok((0..kept).map(|_| slowed * rate * (1.0 + rng.unit() / 100.0)).collect())
    }
}

fn plan() -> StreamPlan {
    let group = BandwidthGroup { pus: (0..8).collect(), ..BandwidthGroup::default() };
    StreamPlan::new(vec![(group, 4)], Effort::Usual, 1)
}

#[test]
fn disturbed_visits_do_not_move_the_knee() {
    let measured = plan().measure(memory(), |_, _| ControlFlow::Continue(())).unwrap().unwrap();
    let group = &measured.groups[0];
    let triad = &group.triad;
    let threads: Vec<u32> = triad.iter().map(|point| point.threads).collect();
    assert_eq!(threads, [1, 2, 3, 4, 6, 8]);
    assert!((11.0..11.2).contains(&triad[0].median_gbps), "{triad:?}");
    assert!((32.0..32.4).contains(&greatest(triad.iter().map(|point| point.median_gbps))));
    assert_eq!(group.knee(StreamKernel::Triad).unwrap().threads, 3);
    assert_eq!(group.knee(StreamKernel::Write).unwrap().threads, 2);
    assert_eq!(group.useful_threads(), Some(3));
    let batches: u64 = triad.iter().map(|point| point.batches + point.discarded).sum();
    assert_eq!(batches, 6 * u64::from(measured.rounds) * BATCHES as u64);
    assert!(triad.iter().any(|point| point.discarded > 0));
}

#[test]
fn each_round_visits_everything_once_in_its_own_order() {
    let mut orders: Vec<Vec<(StreamKernel, usize)>> = Vec::new();
    let record = |kernel: StreamKernel, pus: &[u32]| {
        if orders.last().is_none_or(|order| order.len() == 18) {
            orders.push(Vec::new());
        }
        orders.last_mut().unwrap().push((kernel, pus.len()));
        Ok::<_, String>(vec![1.0])
    };
    let measured = plan().measure(record, |_, _| ControlFlow::Continue(())).unwrap().unwrap();
    assert_eq!(orders.len(), measured.rounds as usize);
    let sorted = |order: &[(StreamKernel, usize)]| {
        let mut sorted = order.to_vec();
        sorted.sort_by_key(|(kernel, threads)| (*threads, *kernel as usize));
        sorted
    };
    assert!(orders.iter().all(|order| sorted(order) == sorted(&orders[0])));
    assert_ne!(orders[0], orders[1]);
}

#[test]
fn interrupted_measurement_keeps_whole_rounds() {
    let stopped_after = |visits: usize| {
        let go_on = |done, _| {
            if done == visits { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        plan().measure(memory(), go_on).unwrap()
    };
    assert_eq!(stopped_after(3 * 18 - 1), None, "two rounds are too few");
    let kept = stopped_after(4 * 18 + 7).unwrap();
    assert_eq!(kept.rounds, 4);
    let point = kept.groups[0].read[0];
    assert_eq!(point.batches + point.discarded, 4 * BATCHES as u64);
    let group = BandwidthGroup { pus: vec![0, 99], ..BandwidthGroup::default() };
    let plan = StreamPlan::new(vec![(group, 2)], Effort::Quick, 1);
    assert!(plan.measure(memory(), |_, _| ControlFlow::Continue(())).is_err());
}

#[test]
fn large_machines_get_fewer_rounds() {
    let rounds = |groups: usize, effort| {
        let group = BandwidthGroup { pus: (0..96).collect(), ..BandwidthGroup::default() };
        StreamPlan::new(vec![(group, 48); groups], effort, 1).rounds()
    };
    let efforts = [Effort::Quick, Effort::Usual, Effort::Thorough];
    assert_eq!(efforts.map(|effort| rounds(1, effort)), [7, 35, 106]);
    assert_eq!(efforts.map(|effort| rounds(24, effort)), [5, 5, 5]);
}

//! Small cases whose answers are known, and what every answer must keep to.

use super::*;
use crate::search::Limit;
use crate::{Level, Weight};
use seatmap_machine::{Profile, catalog};
use seatmap_pattern::{Pattern, generate};

fn machine(name: &str) -> Profile {
    catalog::load(name).unwrap()
}

fn placed(machine: &Profile, pattern: &Pattern, change: impl Fn(&mut Request)) -> Result<Answer, PlaceError> {
    let mut request = Request::new(machine, pattern);
    request.limit = Limit::kicks(300);
    change(&mut request);
    request.place()
}

#[test]
fn a_pair_sits_on_siblings() {
    let machine = machine("xeon-e5-2680-2s");
    let answer = placed(&machine, &generate("pairs:2").unwrap(), |_| ()).unwrap();
    assert!(machine.topology.are_smt_siblings(answer.placement[0], answer.placement[1]));
    assert!(answer.optimal && answer.cost == answer.lower_bound);
}

#[test]
fn avoiding_siblings_uses_each_core_once() {
    let machine = machine("xeon-e5-2680-2s");
    let answer = placed(&machine, &generate("ring:16").unwrap(), |r| r.one_per = Some(Level::Core)).unwrap();
    let cores: std::collections::HashSet<_> =
        answer.placement.iter().map(|os| machine.topology.pu(*os).unwrap().core).collect();
    assert_eq!(cores.len(), 16);
    let refused = placed(&machine, &generate("ring:17").unwrap(), |r| r.one_per = Some(Level::Core));
    assert_eq!(refused, Err(PlaceError::TooFewGroups { tasks: 17, groups: 16 }));
}

#[test]
fn fixed_tasks_stay_and_other_pus_are_not_used() {
    let machine = machine("graviton3");
    let answer = placed(&machine, &generate("ring:5").unwrap(), |request| {
        request.cpus = Some(vec![9, 3, 4, 5, 6, 7]);
        request.fixed = vec![(2, 9), (0, 4)];
    })
    .unwrap();
    assert_eq!((answer.placement[2], answer.placement[0]), (9, 4));
    assert!(answer.placement.iter().all(|os| [3, 4, 5, 6, 7, 9].contains(os)), "{:?}", answer.placement);
    let crowded = |request: &mut Request| request.fixed = vec![(0, 1), (1, 1)];
    assert_eq!(placed(&machine, &generate("ring:5").unwrap(), crowded), Err(PlaceError::Crowded(1)));
}

#[test]
fn more_tasks_than_pus_share_them_evenly() {
    let machine = machine("graviton3");
    for tasks in [9_usize, 11, 16] {
        let pattern = generate(&format!("ring:{tasks}")).unwrap();
        let answer = placed(&machine, &pattern, |request| request.cpus = Some((0..4).collect())).unwrap();
        let load = |os: u32| answer.placement.iter().filter(|other| **other == os).count();
        assert!((0..4).all(|os| (tasks / 4..=tasks.div_ceil(4)).contains(&load(os))), "{:?}", answer.placement);
    }
}

#[test]
fn a_partition_is_even_and_cuts_little() {
    let machine = machine("xeon-e5-2680-2s");
    let answer = placed(&machine, &generate("ring:16").unwrap(), |r| r.method = Method::Partition).unwrap();
    let on_first = answer.placement.iter().filter(|os| machine.topology.pu(**os).unwrap().package == Some(0)).count();
    assert_eq!((on_first, answer.crossing), (8, Some((2.0, 16.0))));
}

#[test]
fn clusters_keep_to_their_slices() {
    let machine = machine("graviton3");
    let answer = placed(&machine, &generate("clusters:4x16").unwrap(), |r| r.method = Method::Pizza(4)).unwrap();
    assert_eq!(answer.crossing.unwrap().0, 0.0);
    let slices = |cluster: usize| answer.placement[16 * cluster..16 * (cluster + 1)].iter().map(|os| os / 16);
    assert!((0..4).all(|cluster| slices(cluster).collect::<std::collections::HashSet<_>>().len() == 1));
}

#[test]
fn congestion_is_the_busiest_link() {
    let machine = machine("xeon-e5-2680-2s");
    let pattern = generate("clusters:2x8").unwrap();
    let answer = placed(&machine, &pattern, |request| request.objective = Objective::Congestion).unwrap();
    assert_eq!(answer.cost, 0.0, "a cluster fits in a package: {:?}", answer.placement);
    assert!(answer.baselines.random.mean > 0.0);
}

#[test]
fn the_same_seed_and_count_give_the_same_answer() {
    let machine = machine("graviton3");
    let pattern = generate("random:40:3:1").unwrap();
    let once = || placed(&machine, &pattern, |request| request.weight = Weight::Messages).unwrap();
    assert_eq!(once(), once());
}

#[test]
fn thousands_of_tasks_go_by_levels() {
    let machine = machine("xeon-e5-2680-2s");
    let pattern = generate("stencil2d:48x40").unwrap();
    let answer = placed(&machine, &pattern, |request| request.limit = Limit::kicks(3)).unwrap();
    assert!(answer.cost < 0.5 * answer.baselines.random.mean, "{} {:?}", answer.cost, answer.baselines);
    assert!(answer.method.starts_with("multilevel"));
}

#[test]
fn what_cannot_be_had_is_said() {
    let machine = machine("graviton3");
    let ring = generate("ring:4").unwrap();
    let refused = |change: &dyn Fn(&mut Request)| placed(&machine, &ring, change).unwrap_err().to_string();
    assert!(refused(&|r| r.cpus = Some(vec![0, 99])).contains("PU 99"));
    assert!(refused(&|r| r.fixed = vec![(7, 0)]).contains("task 7"));
    assert!(refused(&|r| r.fixed = vec![(1, 0), (1, 2)]).contains("twice"));
    assert!(refused(&|r| r.homes = true).contains("--homes 64"));
    assert!(refused(&|r| r.method = Method::GetCore).contains("--homes 64"));
    assert!(refused(&|r| r.method = Method::Pizza(99)).contains("give 2 to 64"));
    assert!(refused(&|r| r.method = Method::Partition).contains("two chips"));
}

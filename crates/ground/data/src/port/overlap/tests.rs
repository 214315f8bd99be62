//! Overlap of made-up times.

use super::*;
use proptest::prelude::*;

fn run(began: u64, ended: u64) -> TaskBeats {
    TaskBeats { beats: vec![began, ended], counted: 0..1 }
}

fn steady(from: u64, batches: usize) -> TaskBeats {
    TaskBeats {
        beats: (0..=batches as u64).map(|batch| from + 10 * batch).collect(),
        counted: 0..batches,
    }
}

#[test]
fn overlap_is_the_shared_part_of_the_longest_run() {
    // Warm-up and extra beats count.
    let warm =
        |beats: [u64; 3], batch| TaskBeats { beats: beats.into(), counted: batch..batch + 1 };
    for (tasks, expected) in [
        (vec![run(0, 100), run(100, 200)], 0.0),
        (vec![run(0, 100), run(150, 200)], 0.0),
        (vec![run(0, 100), run(0, 100), run(300, 400)], 0.0),
        (vec![steady(0, 10), steady(200, 10)], 0.0),
        (vec![run(9, 3), run(0, 10)], 0.0),
        (vec![run(0, 100), run(0, 60)], 0.6),
        (vec![run(0, 100), run(20, 100), run(0, 90)], 0.7),
        (vec![run(5, 105), run(5, 105)], 1.0),
        (vec![steady(0, 10), steady(20, 10)], 0.8),
        (vec![run(0, 100), warm([0, 60, 100], 0)], 1.0),
        (vec![run(0, 100), warm([0, 40, 100], 1)], 1.0),
        (vec![run(0, 100), warm([20, 40, 100], 1)], 0.8),
        (vec![run(3, 9)], 1.0),
        (vec![run(3, 3)], 1.0),
        (vec![TaskBeats::default()], 1.0),
        (vec![], 1.0),
    ] {
        assert_eq!(overlap(&tasks), expected, "{tasks:?}");
    }
}

#[test]
fn interrupted_task_does_not_overlap() {
    // The second task's third batch takes 500 instead of 10; meanwhile the first is alone.
    let mut beats: Vec<u64> = (0..=10).map(|batch| 10 * batch).collect();
    beats[3..].iter_mut().for_each(|beat| *beat += 490);
    let interrupted = TaskBeats { beats, counted: 0..10 };
    let found = overlap(&[steady(0, 59), interrupted.clone()]);
    assert!((found - 90.0 / 590.0).abs() < 1e-9, "{found}");
    assert_eq!(interrupted.away().first(), Some(&(20..520)));
    assert_eq!(interrupted.share(&(0..590), &[], &interrupted.away()), 1.0);
}

#[test]
fn slow_batch_is_not_an_interruption() {
    let mut beats: Vec<u64> = (0..=10).map(|batch| 10 * batch).collect();
    beats[3..].iter_mut().for_each(|beat| *beat += 40);
    assert_eq!(overlap(&[steady(0, 14), TaskBeats { beats, counted: 0..10 }]), 1.0);
}

proptest! {
    #[test]
    fn overlap_is_a_share_in_any_order(times in prop::collection::vec((0_u64..1000, 0_u64..1000), 1..6)) {
        let mut runs: Vec<TaskBeats> = times.into_iter().map(|(began, long)| run(began, began + long)).collect();
        let found = overlap(&runs);
        prop_assert!((0.0..=1.0).contains(&found));
        runs.reverse();
        prop_assert_eq!(overlap(&runs), found);
    }

    #[test]
    fn more_tasks_never_increase_overlap(times in prop::collection::vec((0_u64..1000, 1_u64..1000), 2..6)) {
        let runs: Vec<TaskBeats> = times.into_iter().map(|(began, long)| run(began, began + long)).collect();
        prop_assert!(overlap(&runs) <= overlap(&runs[1..]));
    }
}

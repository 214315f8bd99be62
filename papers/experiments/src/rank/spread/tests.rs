//! Ranks as threads of one process that run a real model.

use super::*;
use crate::rank::Ranking;
use crate::rank::setup::tests::setup;
use crate::rank::study::in_parallel;
use seatmap_cell_sim::{CellBed, catalog};
use seatmap_cluster::Rank;
use seatmap_cluster::meeting::Meeting;
use seatmap_cluster::spread::Meet;
use std::path::Path;
use std::time::Duration;

fn bed() -> CellBed {
    CellBed::new(catalog::load("cell-ps3").unwrap().unwrap())
}

fn short() -> Setup {
    Setup { pus: (0..6).collect(), rounds: 2, ..setup(5) }
}

fn start(folder: &Path, rank: usize, size: usize) -> (Rank, Meet) {
    let meet = Meet {
        meeting: Meeting::File(folder.join("meeting")),
        secret: None,
        timeout: Duration::from_secs(60),
    };
    (Rank { rank, size, launcher: "test", job: None }, meet)
}

fn new_times(setup: &Setup) -> MappingTimes {
    MappingTimes::new(setup.indices(None).unwrap(), setup.runs)
}

#[test]
fn ranks_produce_same_times_as_one_process() {
    let setup = short();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let mut alone = new_times(&setup);
    let mut together = new_times(&setup);
    in_parallel(&setup, &mut alone, bed, None, &mut |_, _| ControlFlow::Continue(())).unwrap();
    let mut told = 0;
    let spread = std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            let (rank, meet) = start(path, 1, 2);
            follow(Ranks { rank: &rank, meet: &meet, node: "there" }, &short(), bed)
        });
        let (rank, meet) = start(path, 0, 2);
        let ranks = Ranks { rank: &rank, meet: &meet, node: "here" };
        let mut observe = |known, _| {
            told = known;
            ControlFlow::Continue(())
        };
        let spread =
            lead(ranks, &setup, &mut together, bed, None, (&mut observe, &|| false)).unwrap();
        other.join().unwrap().unwrap();
        spread
    });
    assert!(spread.is_whole && spread.lost.is_empty(), "{spread:?}");
    assert_eq!((told, spread.done.iter().map(|(_, parts)| parts).sum::<usize>()), (72, 5));
    let json = |times| Ranking::new(setup.clone(), None, times).unwrap().to_json();
    assert_eq!(json(&together), json(&alone));
}

#[test]
fn interrupted_study_keeps_its_results() {
    let setup = short();
    let folder = tempfile::tempdir().unwrap();
    let (rank, meet) = start(folder.path(), 0, 1);
    let ranks = Ranks { rank: &rank, meet: &meet, node: "here" };
    let mut times = new_times(&setup);
    let mut observe =
        |known, _| if known < 20 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
    let spread = lead(ranks, &setup, &mut times, bed, None, (&mut observe, &|| false)).unwrap();
    assert_eq!((spread.is_whole, times.known()), (false, 20));
    let mut go_on = |_: usize, _: usize| ControlFlow::Continue(());
    assert!(!lead(ranks, &setup, &mut times, bed, None, (&mut go_on, &|| true)).unwrap().is_whole);
    assert!(lead(ranks, &setup, &mut times, bed, None, (&mut go_on, &|| false)).unwrap().is_whole);
    assert_eq!(times.known(), times.total());
}

#[test]
fn impossible_result_is_refused() {
    let mut times = new_times(&short());
    let jobs = [MappingTrial { index: 0, run: 0 }, MappingTrial { index: 0, run: 1 }];
    let mut observe = |_: usize, _: usize| ControlFlow::Continue(());
    let mut keeper = Keeper { times: &mut times, journal: None, observe: &mut observe };
    for ns in [[1.0, -2.0], [1.0, f64::NAN]] {
        let refused = note(&mut keeper, &jobs, &ns);
        assert!(matches!(refused, Err(SpreadStudyError::Spread(SpreadError::Numbers))), "{ns:?}");
        keeper.times.clone_from(&new_times(&short()));
    }
}

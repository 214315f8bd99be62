//! Studies on an artificial machine, whose times depend on seats and seed.

use super::*;
use crate::rank::setup::tests::setup;
use crate::rank::{Shard, Variant};
use seatmap_cell_sim::channels::ChannelProgram;

struct Fake {
    runs: u32,
    fails_after: u32,
}

#[derive(Debug, thiserror::Error)]
#[error("worn out")]
struct WornOut;

impl Fake {
    fn new() -> Self {
        Fake { runs: 0, fails_after: u32::MAX }
    }
}

impl Bed for Fake {
    type Error = WornOut;

    fn run<P: ChannelProgram>(
        &mut self,
        _seats: &[u32],
        _program: &P,
        _seed: u64,
    ) -> Result<Vec<P::Output>, WornOut> {
        self.runs += 1;
        if self.runs > self.fails_after { Err(WornOut) } else { Ok(Vec::new()) }
    }

    fn ns_per_tick(&self) -> f64 {
        1.0
    }

    fn ns_per_cycle(&self) -> f64 {
        1.0
    }

    fn modules(&self) -> usize {
        1
    }
}

fn times(setup: &Setup) -> MappingTimes {
    MappingTimes::new(setup.indices(None).unwrap(), setup.runs)
}

#[test]
fn every_job_runs_and_is_reported() {
    for parallel in [true, false] {
        let setup = setup(5);
        let mut seen = Vec::new();
        let mut times = times(&setup);
        let mut observe = |done: usize, total: usize| {
            seen.push(done);
            assert_eq!(total, 72);
            ControlFlow::Continue(())
        };
        let whole = if parallel {
            in_parallel(&setup, &mut times, Fake::new, None, &mut observe)
        } else {
            in_blocks(&setup, &mut times, &mut Fake::new(), None, &mut observe)
        };
        assert!(whole.unwrap());
        assert!(seen.into_iter().eq(1..=72) && times.missing().is_empty());
    }
}

#[test]
fn stop_keeps_known_times() {
    for parallel in [true, false] {
        let setup = setup(5);
        let mut times = times(&setup);
        let mut observe =
            |done, _| if done == 7 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        let whole = if parallel {
            in_parallel(&setup, &mut times, Fake::new, None, &mut observe)
        } else {
            in_blocks(&setup, &mut times, &mut Fake::new(), None, &mut observe)
        };
        assert!(!whole.unwrap());
        assert_eq!(times.known(), 7);
    }
}

#[test]
fn failure_names_mapping_and_run() {
    let setup = Setup { variant: Variant::Pinned, ..setup(5) };
    let mut go_on = |_, _| ControlFlow::Continue(());
    let broken = || Fake { fails_after: 0, ..Fake::new() };
    let error = in_parallel(&setup, &mut times(&setup), broken, None, &mut go_on).unwrap_err();
    assert!(error.to_string().starts_with("mapping [0"), "{error}");
    let mut times = times(&setup);
    let mut tired = Fake { fails_after: 30, ..Fake::new() };
    let error = in_blocks(&setup, &mut times, &mut tired, None, &mut go_on).unwrap_err();
    assert!(
        error.to_string().ends_with(", run 2") && times.known() == 30,
        "a run is a block: {error}"
    );
}

fn file(path: &std::path::Path) -> std::fs::File {
    std::fs::File::options().read(true).write(true).create(true).truncate(false).open(path).unwrap()
}

#[test]
fn journal_holds_completed_jobs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let setup = setup(4);
    let shard = Some(Shard { number: 1, of: 2 });
    let fresh = || MappingTimes::new(setup.indices(shard).unwrap(), setup.runs);
    let mut times = fresh();
    let mut journal = RankJournal::open(&path, file(&path), &setup, shard, &mut times).unwrap();
    let mut stop =
        |done, _| if done == 4 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    assert!(!in_parallel(&setup, &mut times, Fake::new, Some(&mut journal), &mut stop).unwrap());
    drop(journal);
    let mut again = fresh();
    let mut journal = RankJournal::open(&path, file(&path), &setup, shard, &mut again).unwrap();
    assert_eq!(again.missing(), times.missing());
    assert!(
        in_blocks(&setup, &mut again, &mut Fake::new(), Some(&mut journal), &mut |_, _| {
            ControlFlow::Continue(())
        })
        .unwrap()
    );
    assert_eq!(again.known(), 9);
}

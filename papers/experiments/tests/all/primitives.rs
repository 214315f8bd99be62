//! Every primitive runs, gives the requested number of values, and refuses what it cannot do.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use seatmap_data::port::ENOUGH_OVERLAP;
use seatmap_experiments::primitives::{
    Atomics, BatchPlan, CopyBytes, DescriptorKind, Descriptors, FutexPingPong, Primitive,
    PrimitiveError, PrimitiveThreads, ProcessVmReadv, ReadModifyWrite, ThreadCreateJoin,
};
use seatmap_os::affinity;

const PLAN: BatchPlan = BatchPlan { warmup: 1, batches: 4, operations: 5 };

fn run(primitive: &impl Primitive) {
    let cpus = affinity::current().unwrap();
    let wanted = *primitive.cpus().start();
    if cpus.len() < wanted {
        seatmap_needs::skipped!(
            "{} takes {wanted} CPUs, and this process may use {}",
            primitive.name(),
            cpus.len()
        );
        return;
    }
    let samples = primitive.run(&mut PrimitiveThreads::new(), &cpus[..wanted], PLAN).unwrap();
    assert_eq!(samples.by_task_ns.len(), wanted, "{}", primitive.name());
    assert!(
        (ENOUGH_OVERLAP..=1.0).contains(&samples.overlap),
        "{} {}",
        primitive.name(),
        samples.overlap
    );
    for task in samples.by_task_ns {
        assert_eq!(task.len(), PLAN.batches as usize, "{}", primitive.name());
        assert!(task.iter().all(|ns| *ns > 0.0), "{} {task:?}", primitive.name());
    }
}

#[test]
fn kernel_primitives_run() {
    run(&ThreadCreateJoin);
    run(&FutexPingPong);
    [DescriptorKind::EventFd, DescriptorKind::Pipe, DescriptorKind::UnixSocket]
        .iter()
        .for_each(|kind| run(&Descriptors(*kind)));
}

#[test]
fn atomics_run_alone_and_on_all_cpus() {
    let cpus = affinity::current().unwrap();
    for operation in
        [ReadModifyWrite::CompareExchange, ReadModifyWrite::FetchAdd, ReadModifyWrite::Swap]
    {
        run(&Atomics { operation, shared: false });
        let shared = Atomics { operation, shared: true };
        let samples = shared.run(&mut PrimitiveThreads::new(), &cpus, PLAN).unwrap();
        assert_eq!(samples.by_task_ns.len(), cpus.len());
        assert!(samples.overlap >= ENOUGH_OVERLAP, "{}", samples.overlap);
    }
}

#[test]
fn copies_run_from_a_word_to_megabytes() {
    for bytes in [8, 4096, 1 << 20] {
        run(&CopyBytes { bytes });
        run(&ProcessVmReadv { bytes });
    }
}

#[test]
fn wrong_cpu_counts_are_refused() {
    let mut room = PrimitiveThreads::new();
    let error = FutexPingPong.run(&mut room, &[0], PLAN).unwrap_err();
    insta::assert_snapshot!(error, @"futex takes 2 to 2 CPUs, but 1 was given");
    assert!(matches!(
        CopyBytes { bytes: 8 }.run(&mut room, &[], PLAN),
        Err(PrimitiveError::Cpus { given: 0, .. })
    ));
    assert!(matches!(
        ThreadCreateJoin.run(&mut room, &[500_000], PLAN),
        Err(PrimitiveError::Crew(_))
    ));
}

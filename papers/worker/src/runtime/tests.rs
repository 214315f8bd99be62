//! Workers on this computer.

use crate::{
    Polling, Runtime, ThreadContext, WorkerError, WorkerOptions, WorkerProgram, WorkerView,
    allowed_cpus,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// One worker that sleeps, so that a test can share its CPU.
fn one(options: WorkerOptions) -> Runtime {
    Runtime::new(&allowed_cpus().unwrap()[..1], options).unwrap()
}

fn sleeping() -> WorkerOptions {
    WorkerOptions { polling: Polling::Sleep, ..WorkerOptions::default() }
}

#[test]
fn programs_run_on_worker_cpu_and_keep_store() {
    let cpu = allowed_cpus().unwrap()[0];
    let runtime = one(sleeping());
    let mut context = runtime.context().unwrap();
    context.load(Arc::new(move |inside: &mut WorkerView, argument: u64| {
        let seated = seatmap_os::affinity::current().unwrap();
        assert_eq!(seated, [cpu]);
        inside.store()[0] += argument as u8;
        inside.store()[0].into()
    }));
    assert_eq!((context.run(3).unwrap(), context.run(4).unwrap()), (3, 7));
}

#[test]
fn context_is_cleared_for_next_owner() {
    let runtime = one(sleeping());
    let mut context = runtime.context().unwrap();
    context.load(Arc::new(|inside: &mut WorkerView, _: u64| {
        inside.store().fill(0xa5);
        inside.mailbox_write(1);
        0
    }));
    context.run(0).unwrap();
    context.mailbox_write(2).unwrap();
    assert!(context.signal(0, 3) && !context.signal(2, 3));
    drop(context);
    let mut context = runtime.context().unwrap();
    assert_eq!(context.mailbox_try_read(), None);
    context.load(Arc::new(|inside: &mut WorkerView, _: u64| {
        assert_eq!(inside.mailbox_try_read(), None);
        inside.mailbox_write(4);
        assert_eq!(inside.signal_read(0), Some(5));
        inside.store().iter().map(|byte| u32::from(*byte)).sum()
    }));
    context.start(0).unwrap();
    assert_eq!(context.mailbox_read().unwrap(), 4);
    context.signal(0, 5);
    assert_eq!(context.wait().unwrap(), 0);
}

#[test]
fn mailboxes_work_both_ways_under_every_policy() {
    let policies = [Polling::Sleep, Polling::Adaptive(Duration::from_micros(20))];
    for polling in policies {
        let runtime = one(WorkerOptions { polling, ..WorkerOptions::default() });
        let mut context = runtime.context().unwrap();
        context.load(Arc::new(|inside: &mut WorkerView, rounds: u64| {
            for _ in 0..rounds {
                let value = inside.mailbox_read();
                inside.mailbox_write(value + 1);
            }
            9
        }));
        context.start(200).unwrap();
        for round in 0..200 {
            context.mailbox_write(round).unwrap();
            assert_eq!(context.mailbox_read().unwrap(), round + 1);
        }
        assert_eq!(context.wait().unwrap(), 9);
    }
}

#[test]
fn transfers_beyond_the_store_are_refused() {
    let runtime = one(sleeping());
    let memory: Arc<Vec<AtomicU64>> = Arc::new((0..64).map(AtomicU64::new).collect());
    let mut context = runtime.context().unwrap();
    let seen = Arc::clone(&memory);
    context.load(Arc::new(move |inside: &mut WorkerView, _: u64| {
        let at = seen.as_ptr().cast_mut().cast::<u8>();
        let end = inside.store().len();
        // SAFETY: 512 bytes from `at` belong to `seen`, and no other thread touches them meanwhile.
        unsafe {
            assert!(
                inside.get(128, at, 512)
                    && !inside.get(end - 511, at, 512)
                    && !inside.get(usize::MAX, at, 512)
            );
            inside.store()[128..640].iter_mut().for_each(|byte| *byte ^= 1);
            assert!(inside.put(128, at, 512) && !inside.put(end, at, 1));
        }
        0
    }));
    context.run(0).unwrap();
    let changed = 0x0101_0101_0101_0101;
    assert!((0..64).all(|at| memory[at as usize].load(Ordering::Relaxed) == at ^ changed));
}

#[test]
fn worker_that_released_its_core_returns() {
    let runtime = one(WorkerOptions::default());
    let mut context = runtime.context().unwrap();
    context.load(Arc::new(|_: &mut WorkerView, argument: u64| argument as u32 + 1));
    for round in 0..20 {
        context.give_back().unwrap();
        assert_eq!(context.run(round).unwrap(), round as u32 + 1);
    }
    context.give_back().unwrap();
}

#[test]
fn program_panic_is_reported_and_worker_survives() {
    let runtime = one(sleeping());
    let mut context = runtime.context().unwrap();
    context.load(Arc::new(|_: &mut WorkerView, argument: u64| match argument {
        0 => panic!("on purpose"),
        _ => 1,
    }));
    let told = context.run(0).unwrap_err().to_string();
    assert_eq!(told, "the program panicked: on purpose");
    assert_eq!(context.run(1).unwrap(), 1);
}

#[test]
fn impossible_requests_are_refused() {
    let cpu = allowed_cpus().unwrap()[0];
    let refused = |cpus: &[u32], options| {
        Runtime::new(cpus, options).err().map(|error| error.to_string()).unwrap()
    };
    assert_eq!(refused(&[], sleeping()), "a runtime needs at least one CPU");
    assert_eq!(refused(&[cpu, cpu], sleeping()), format!("CPU {cpu} was given two workers"));
    assert_eq!(refused(&[500_000], sleeping()), "cannot start a worker on CPU 500000");
    let large = WorkerOptions { store_bytes: 1 << 60, ..sleeping() };
    assert!(refused(&[cpu], large).contains("no memory for a local store"));
    let runtime = one(sleeping());
    let mut context = runtime.context().unwrap();
    assert!(matches!(runtime.context(), Err(WorkerError::Busy(1))));
    assert!(matches!(context.run(0), Err(WorkerError::NoProgram)));
    assert!(matches!(context.wait(), Err(WorkerError::NotStarted)));
    context.load(Arc::new(|inside: &mut WorkerView, _: u64| inside.mailbox_read()));
    context.start(0).unwrap();
    assert!(matches!(context.start(0), Err(WorkerError::Running)));
    assert!(matches!(context.give_back(), Err(WorkerError::Running)));
    context.mailbox_write(8).unwrap();
    assert_eq!(context.wait().unwrap(), 8);
}

#[test]
fn context_outlives_its_runtime() {
    let runtime = one(sleeping());
    let mut context = runtime.context().unwrap();
    drop(runtime);
    context.load(Arc::new(|inside: &mut WorkerView, _: u64| {
        inside.store()[7] = 8;
        0
    }));
    context.start(0).unwrap();
    assert_eq!(
        (context.wait().unwrap(), context.has_ended(), context.store_bytes()),
        (0, false, 256 << 10)
    );
    // SAFETY: the store exists as long as the context, and no program runs.
    assert_eq!(unsafe { context.store_address().add(7).read() }, 8);
}

#[test]
fn thread_context_supports_the_same_calls() {
    let cpu = allowed_cpus().unwrap()[0];
    let mut context = ThreadContext::new(cpu, WorkerOptions::default()).unwrap();
    assert!(matches!(context.run(0), Err(WorkerError::NoProgram)));
    context.load(Arc::new(move |inside: &mut WorkerView, argument: u64| {
        assert_eq!(seatmap_os::affinity::current().unwrap(), [cpu]);
        assert!(argument < 5, "on purpose");
        inside.store()[0] += argument as u8;
        let value = inside.mailbox_read();
        let sum = u32::from(inside.store()[0]);
        inside.mailbox_write(value + sum);
        9
    }));
    for (argument, answer) in [(1, 41), (2, 43)] {
        context.start(argument).unwrap();
        assert!(matches!(context.start(0), Err(WorkerError::Running)));
        context.mailbox_write(40).unwrap();
        assert_eq!((context.mailbox_read().unwrap(), context.wait().unwrap()), (answer, 9));
    }
    assert_eq!(context.run(5).unwrap_err().to_string(), "the program panicked: on purpose");
    let mut nowhere = ThreadContext::new(500_000, WorkerOptions::default()).unwrap();
    nowhere.load(Arc::new(|_: &mut WorkerView, _: u64| 0));
    assert_eq!(nowhere.run(0).unwrap_err().to_string(), "cannot start a worker on CPU 500000");
}

fn started(runtime: &Runtime, program: impl WorkerProgram) -> crate::BorrowedWorker {
    let mut context = runtime.context().unwrap();
    context.load(Arc::new(program));
    context.start(3).unwrap();
    context
}

#[test]
fn read_without_sender_is_an_error() {
    let cpu = crate::allowed_cpus().unwrap()[0];
    for polling in [Polling::Adaptive(Duration::from_micros(5)), Polling::Sleep] {
        let runtime =
            Runtime::new(&[cpu], WorkerOptions { polling, ..WorkerOptions::default() }).unwrap();
        let mut context = runtime.context().unwrap();
        let unstarted = format!(
            "the program on CPU {cpu} has not been started, so no message to or from it can arrive"
        );
        assert_eq!(context.mailbox_read().unwrap_err().to_string(), unstarted);
        assert_eq!(context.mailbox_poll().unwrap_err().to_string(), unstarted);
        drop(context);
        let mut context = started(&runtime, |_: &mut WorkerView, argument: u64| argument as u32);
        let told = context.mailbox_read().unwrap_err().to_string();
        assert!(told.contains("ended with stop code 3"), "{told}");
        drop(context);
        let mut context =
            started(&runtime, |inside: &mut WorkerView, _: u64| inside.mailbox_read());
        // One message is taken, four more fit.
        let told = (0..6).find_map(|value| context.mailbox_write(value).err()).unwrap().to_string();
        assert!(told.contains("ended with stop code 0"), "{told}");
    }
}

#[test]
fn failed_seating_ends_waits_for_messages() {
    let mut context = crate::ThreadContext::new(500_000, WorkerOptions::default()).unwrap();
    context.load(Arc::new(|inside: &mut WorkerView, _: u64| {
        inside.mailbox_write(1);
        0
    }));
    context.start(0).unwrap();
    let told = context.mailbox_read().unwrap_err().to_string();
    assert!(told.contains("CPU 500000"), "{told}");
    assert!(context.mailbox_poll().unwrap_err().to_string().contains("CPU 500000"));
    assert!(context.wait().unwrap_err().to_string().contains("CPU 500000"));
}

#[test]
fn dropped_context_ends_waiting_program() {
    let cpu = crate::allowed_cpus().unwrap()[0];
    for polling in [Polling::Adaptive(Duration::from_micros(5)), Polling::Sleep] {
        let options = WorkerOptions { polling, ..WorkerOptions::default() };
        let runtime = Runtime::new(&[cpu], options).unwrap();
        drop(started(&runtime, |inside: &mut WorkerView, _: u64| inside.mailbox_read()));
        drop(started(&runtime, |inside: &mut WorkerView, _: u64| inside.signal_read(1).unwrap()));
        let answers = |inside: &mut WorkerView, _: u64| {
            (0..9).for_each(|value| inside.mailbox_write(value));
            0
        };
        drop(started(&runtime, answers));
        assert_eq!(started(&runtime, |_: &mut WorkerView, _: u64| 7).wait().unwrap(), 7);
        let mut context = crate::ThreadContext::new(cpu, options).unwrap();
        context.load(Arc::new(|inside: &mut WorkerView, _: u64| inside.mailbox_read()));
        context.start(0).unwrap();
    }
}

#[test]
fn controller_wait_ends_waiting_program() {
    let cpu = crate::allowed_cpus().unwrap()[0];
    let reads_two = |inside: &mut WorkerView, _: u64| inside.mailbox_read() + inside.mailbox_read();
    let writes_two = |inside: &mut WorkerView, _: u64| {
        inside.mailbox_write(1);
        inside.mailbox_write(2);
        3
    };
    let waited = format!("the program on CPU {cpu} was stopped: it waited for a message");
    for polling in [Polling::Adaptive(Duration::from_micros(5)), Polling::Sleep] {
        let runtime =
            Runtime::new(&[cpu], WorkerOptions { polling, ..WorkerOptions::default() }).unwrap();
        let mut context = started(&runtime, reads_two);
        assert!(context.wait().unwrap_err().to_string().starts_with(&waited));
        context.start(0).unwrap();
        // Messages sent before the wait are read.
        [3, 4].into_iter().for_each(|message| context.mailbox_write(message).unwrap());
        assert_eq!(context.wait().unwrap(), 7);
        context.start(0).unwrap();
        // Loading another program waits for this one.
        context.load(Arc::new(|inside: &mut WorkerView, _: u64| inside.signal_read(0).unwrap()));
        assert!(context.run(0).unwrap_err().to_string().starts_with(&waited));
        context.load(Arc::new(writes_two));
        assert!(context.run(0).unwrap_err().to_string().starts_with(&waited));
        assert_eq!(context.mailbox_try_read(), Some(1));
        let mut context = crate::ThreadContext::new(cpu, WorkerOptions::default()).unwrap();
        context.load(Arc::new(reads_two));
        assert!(context.run(0).unwrap_err().to_string().starts_with(&waited));
        context.start(0).unwrap();
        [3, 4].into_iter().for_each(|message| context.mailbox_write(message).unwrap());
        assert_eq!(context.wait().unwrap(), 7);
    }
}

#[test]
fn worker_reports_lost_cpu() {
    let cpus = crate::allowed_cpus().unwrap();
    let [cpu, other, ..] = cpus[..] else { return seatmap_needs::skipped!("this needs two CPUs") };
    let runtime = Runtime::new(&[cpu], WorkerOptions::default()).unwrap();
    let moves = move |inside: &mut WorkerView, _: u64| {
        seatmap_os::affinity::pin(&[other]).unwrap();
        inside.mailbox_read()
    };
    let mut context = started(&runtime, moves);
    let told = context.mailbox_read().unwrap_err().to_string();
    assert!(told.starts_with(&format!("the thread on CPU {cpu} was moved or unbound ")), "{told}");
    assert_eq!(context.wait().unwrap_err().to_string(), told);
    assert_eq!(context.start(0).unwrap_err().to_string(), told);
}

//! Looks at a made computer.

use super::*;
use crate::tests::made::{Made, MadeThread, pids};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

fn worker() -> MadeThread {
    MadeThread { run_ms: 2000, wait_ms: 100, ..MadeThread::default() }
}

fn made() -> Made {
    let made = Made::new();
    made.thread(70, 70, &MadeThread { name: "server", ..MadeThread::default() });
    made.thread(70, 71, &worker());
    made
}

fn begin(made: &Made, choice: &ProcessChoice) -> LiveWatch {
    let now_ns = Arc::clone(&made.now_ns);
    let clock = Box::new(move || now_ns.load(Ordering::Relaxed));
    LiveWatch::begin_at(&made.options().root, choice, clock).unwrap()
}

#[test]
fn shares_and_rates_cover_time_between_looks() {
    let made = made();
    let mut live = begin(&made, &pids(&[70]));
    made.pass(2 * SECOND);
    made.thread(70, 71, &MadeThread { run_ms: 3000, wait_ms: 600, cpu: 1, mask: "1", ..worker() });
    made.write("proc/70/task/71/sched", "x\nse.nr_migrations : 15\n");
    let status = "Tgid:\t70\nCpus_allowed_list:\t1\nvoluntary_ctxt_switches:\t13\nnonvoluntary_ctxt_switches:\t8\n";
    made.write("proc/70/task/71/status", status);
    let frame = live.look();
    let json = serde_json::to_string(&frame.seating.threads).unwrap();
    assert_eq!(
        [json, serde_json::to_string(&frame.rates).unwrap()],
        [
            r#"[{"pid":70,"tid":70,"name":"server","state":"S","age_s":7.0,"mask":"0,1","policy":"other","nice":0,"real_time_priority":0,"cpu":0,"ran_on":[],"is_traced":false,"run_s":0.0,"wait_s":0.0,"run_percent":0.0,"wait_percent":0.0,"voluntary_switches":3,"forced_switches":4,"voluntary_per_s":0.0,"forced_per_s":0.0,"migrations":12},{"pid":70,"tid":71,"name":"worker","state":"S","age_s":7.0,"mask":"1","policy":"other","nice":0,"real_time_priority":0,"cpu":1,"ran_on":[],"is_traced":false,"run_s":3.0,"wait_s":0.6,"run_percent":50.0,"wait_percent":25.0,"voluntary_switches":13,"forced_switches":8,"voluntary_per_s":5.0,"forced_per_s":2.0,"migrations":15}]"#,
            r#"[{"switches":0.0,"wakeups":0.0,"migrations":0.0},{"switches":7.0,"wakeups":5.0,"migrations":1.5}]"#
        ]
    );
    let process = &frame.seating.processes[0];
    assert_eq!((process.name.as_str(), process.threads), ("server", 2));
    made.pass(SECOND);
    let frame = live.look();
    let slept = (frame.seating.threads[1].run_percent, frame.rates[1].migrations);
    assert_eq!(slept, (0.0, Some(0.0)), "it slept since");
}

#[test]
fn new_and_ended_threads_are_handled() {
    let made = made();
    let mut live = begin(&made, &ProcessChoice::Name("server".to_owned()));
    made.pass(SECOND);
    made.end("70/task/71");
    // The first look was ten seconds after the boot, in clock ticks of 10 ms.
    made.thread(70, 72, &MadeThread { run_ms: 250, started_ticks: 1050, ..worker() });
    made.thread(90, 90, &MadeThread { name: "server", ..worker() });
    let frame = live.look();
    let found: Vec<(Tid, f64)> =
        frame.seating.threads.iter().map(|thread| (thread.tid, thread.run_percent)).collect();
    assert_eq!(
        found,
        [(70, 0.0), (72, 25.0), (90, 0.0)],
        "a new thread ran all of its time since, an old one did not"
    );
    made.end("70");
    made.end("90");
    assert_eq!(live.look().seating.threads, []);
}

#[test]
fn reused_thread_id_is_another_thread() {
    let made = made();
    let mut live = begin(&made, &pids(&[70]));
    made.pass(SECOND);
    made.thread(
        70,
        71,
        &MadeThread { run_ms: 2500, started_ticks: 1010, name: "next", ..worker() },
    );
    let frame = live.look();
    assert_eq!((frame.seating.threads[1].name.as_str(), frame.rates[1].wakeups), ("next", 0.0));
}

#[test]
fn changed_mask_of_sleeping_thread_is_seen() {
    let own = Tid::try_from(std::process::id()).unwrap();
    let choice = ProcessChoice::Processes { pids: vec![own], with_children: false };
    let mut live = LiveWatch::begin(&choice).unwrap();
    let (number, told) = std::sync::mpsc::channel();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let sleeper = std::thread::spawn(move || {
        // SAFETY: the call cannot fail and touches nothing.
        number.send(unsafe { libc::gettid() }).unwrap();
        let _ = ended.recv();
    });
    let tid = told.recv().unwrap();
    let mask = |frame: &SeatingFrame| {
        frame.seating.threads.iter().find(|it| it.tid == tid).map(|it| it.mask.clone())
    };
    let all = CpuSet::of_thread(tid).unwrap();
    assert_eq!(mask(&live.look()), Some(all.to_string()));
    let one = CpuSet::single(all.first().unwrap());
    one.give(tid).unwrap();
    assert_eq!(mask(&live.look()), Some(one.to_string()));
    drop(end);
    sleeper.join().unwrap();
}

#[test]
#[should_panic(expected = "broke an invariant: observer: process 70 is shown with 3 threads of 2")]
fn inconsistent_thread_count_panics() {
    let made = made();
    let mut live = begin(&made, &pids(&[70]));
    live.look();
    live.processes.get_mut(&70).unwrap().threads += 1;
    live.check();
}

//! Seatings of a made computer, and of real processes.

use super::*;
use crate::seating::RanOn;
use crate::tests::made::{Made, MadeThread, pids};
use seatmap_os::Root;
use std::process::{Child, Command};

const SECOND: Duration = Duration::from_secs(1);

fn worker() -> MadeThread {
    MadeThread::default()
}

/// One thread waits, one runs half of the time.
fn made() -> Made {
    let made = Made::new();
    made.thread(70, 70, &MadeThread { name: "server", policy: 1, nice: -5, ..worker() });
    made.thread(70, 71, &MadeThread { run_ms: 2000, wait_ms: 100, cpu: 1, mask: "1", ..worker() });
    made
}

fn ran(made: &Made, run_ms: u64) {
    made.thread(70, 71, &MadeThread { run_ms, ..worker() });
}

fn begun() -> (Made, Watcher) {
    let made = made();
    let watcher = made.begin(&pids(&[70])).unwrap();
    (made, watcher)
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap()
}

fn shares(seating: &Seating) -> Vec<(Tid, f64)> {
    seating.threads.iter().map(|thread| (thread.tid, thread.run_percent)).collect()
}

#[test]
fn shares_cover_time_between_looks() {
    let (made, mut watcher) = begun();
    made.pass(SECOND);
    made.thread(70, 71, &MadeThread { run_ms: 2500, wait_ms: 350, cpu: 1, mask: "1", ..worker() });
    let seating = watcher.seating();
    assert_eq!((seating.watched_s, seating.looks, seating.machine.as_str()), (1.0, 2, "made"));
    assert_eq!(
        [json(&seating.threads), json(&seating.processes)],
        [
            r#"[{"pid":70,"tid":70,"name":"server","state":"S","age_s":6.0,"mask":"0,1","policy":"fifo","nice":-5,"real_time_priority":0,"cpu":0,"ran_on":[],"is_traced":false,"run_s":0.0,"wait_s":0.0,"run_percent":0.0,"wait_percent":0.0,"voluntary_switches":3,"forced_switches":4,"migrations":12},{"pid":70,"tid":71,"name":"worker","state":"S","age_s":6.0,"mask":"1","policy":"other","nice":0,"real_time_priority":0,"cpu":1,"ran_on":[{"cpu":1,"percent":100.0}],"is_traced":false,"run_s":2.5,"wait_s":0.35,"run_percent":50.0,"wait_percent":25.0,"voluntary_switches":3,"forced_switches":4,"migrations":12}]"#,
            r#"[{"pid":70,"parent":1,"name":"server","program":null,"user":8,"age_s":6.0,"threads":2,"group":{"path":"/box","cpusets":[],"cpus":null,"nodes":null,"quota_cpus":null,"throttled":null,"throttled_watched":null},"variables":[],"memory":null,"devices":[]}]"#
        ]
    );
}

#[test]
fn glances_find_cpus_of_busy_threads() {
    let (made, mut watcher) = begun();
    for (glance, cpu) in [0, 0, 1, 0].into_iter().enumerate() {
        made.pass(SECOND / 10);
        made.thread(70, 71, &MadeThread { run_ms: 2010 + 10 * glance as u64, cpu, ..worker() });
        watcher.glance();
    }
    made.pass(SECOND);
    let seating = watcher.seating();
    let wanted = [RanOn { cpu: 0, percent: 75.0 }, RanOn { cpu: 1, percent: 25.0 }];
    assert_eq!((&seating.threads[1].ran_on[..], seating.looks), (&wanted[..], 6));
}

#[test]
fn switches_are_counted_per_second() {
    let (made, mut watcher) = begun();
    made.pass(SECOND / 10);
    made.thread(70, 71, &MadeThread { run_ms: 2050, switches: [100, 1000], ..worker() });
    watcher.glance();
    for round in 1..3 {
        made.pass(SECOND);
        let switches = [100 + 30 * round, 1000 + 2000 * round];
        made.thread(70, 71, &MadeThread { run_ms: 2050 + 500 * round, switches, ..worker() });
        let rates: Vec<_> = watcher
            .seating()
            .threads
            .iter()
            .map(|thread| (thread.voluntary_per_s, thread.forced_per_s))
            .collect();
        // A sleeping thread's are read at the end of a look.
        let first = if round == 1 { None } else { Some(0.0) };
        assert_eq!(rates, [(first, first), (Some(30.0), Some(2000.0))]);
    }
}

#[test]
fn runtimes_are_read_if_several_threads_want_a_cpu() {
    let (made, mut watcher) = begun();
    made.write("proc/70/maps", "7f0-7f1 r-xp 0 8:1 9 /usr/lib/libgomp.so.1\n");
    made.pass(SECOND);
    ran(&made, 2500);
    assert!(watcher.seating().processes[0].runtimes.is_empty());
    made.pass(SECOND);
    ran(&made, 3000);
    made.thread(70, 70, &MadeThread { wait_ms: 400, ..worker() });
    assert_eq!(watcher.seating().processes[0].runtimes, ["libgomp"]);
}

#[test]
fn seating_starts_next_interval() {
    let (made, mut watcher) = begun();
    for (run_ms, share) in [(2500, 50.0), (2600, 10.0)] {
        made.pass(SECOND);
        ran(&made, run_ms);
        watcher.glance();
        let seating = watcher.seating();
        assert_eq!((seating.threads[1].run_percent, seating.looks), (share, 3));
    }
}

#[test]
fn new_ended_and_replaced_threads_are_handled() {
    let made = made();
    made.thread(80, 80, &worker());
    let mut watcher = made.begin(&pids(&[70, 80])).unwrap();
    made.pass(SECOND);
    made.end("80");
    made.thread(70, 71, &MadeThread { run_ms: 100, started_ticks: 1050, ..worker() });
    made.thread(70, 72, &MadeThread { run_ms: 300, started_ticks: 1010, ..worker() });
    made.thread(70, 73, &MadeThread { state: 'Z', ..worker() });
    let seating = watcher.seating();
    assert_eq!(shares(&seating), [(70, 0.0), (71, 10.0), (72, 30.0)]);
    assert_eq!(seating.processes.len(), 1);
    made.end("70");
    let seating = watcher.seating();
    assert_eq!((seating.threads, seating.processes), (vec![], vec![]), "all have ended");
}

#[test]
fn new_child_processes_join_the_choice() {
    let made = made();
    let with_children = ProcessChoice::Processes { pids: vec![70], with_children: true };
    let mut watcher = made.begin(&with_children).unwrap();
    made.pass(SECOND);
    made.thread(80, 80, &MadeThread { parent: 70, run_ms: 200, started_ticks: 1010, ..worker() });
    made.thread(81, 81, &MadeThread { parent: 80, run_ms: 9000, started_ticks: 10, ..worker() });
    // The last one ran before it was looked at.
    let wanted = [(70, 0.0), (71, 0.0), (80, 20.0), (81, 0.0)];
    assert_eq!(shares(&watcher.seating()), wanted);
}

#[test]
fn cpus_report_shares_interrupts_and_strangers() {
    let made = made();
    let stranger = MadeThread { name: "stranger", cpu: 1, run_ms: 50, ..worker() };
    made.thread(90, 90, &stranger);
    made.thread(91, 91, &MadeThread { name: "sleeper", run_ms: 50, ..worker() });
    let mut watcher = made.begin(&pids(&[70])).unwrap();
    made.pass(2 * SECOND);
    made.thread(90, 90, &MadeThread { run_ms: 250, ..stranger });
    made.write(
        "proc/stat",
        "cpu  0 0\ncpu0 20 0 0 180 0 0 0 0 0 0\ncpu1 50 0 50 50 0 0 0 50 0 0\nintr 0\n",
    );
    made.write(
        "proc/interrupts",
        "  CPU0 CPU1\n 24: 0 60 IO-APIC 5-edge disk\nLOC: 0 500 Local timer interrupts\n",
    );
    assert_eq!(
        json(&watcher.seating().cpus),
        r#"[{"cpu":0,"busy_percent":10.0,"steal_percent":0.0,"interrupts":[],"strangers":[]},{"cpu":1,"busy_percent":50.0,"steal_percent":25.0,"interrupts":[{"irq":"LOC","name":"Local timer interrupts","per_second":250.0,"is_per_cpu":true,"is_movable":null},{"irq":"24","name":"disk","per_second":30.0,"is_per_cpu":false,"is_movable":null}],"strangers":[{"pid":90,"tid":90,"name":"stranger","run_percent":10.0,"mask":"0,1"}]}]"#
    );
}

fn unseen(seating: &Seating, what: &str) -> String {
    json(&seating.unseen.iter().filter(|unseen| unseen.what == what).collect::<Vec<_>>())
}

#[test]
fn stranger_with_reused_number_has_all_of_its_time() {
    let made = made();
    made.thread(90, 90, &MadeThread { run_ms: 150, ..worker() });
    let mut watcher = made.begin(&pids(&[70])).unwrap();
    made.pass(2 * SECOND);
    made.thread(90, 90, &MadeThread { run_ms: 250, started_ticks: 1010, ..worker() });
    let cpus = watcher.seating().cpus;
    assert_eq!(cpus[0].strangers[0].run_percent, 12.5);
}

#[test]
fn strangers_are_not_searched_among_many_threads() {
    let made = made();
    made.write("proc/loadavg", "0.1 0.1 0.1 1/90000 7\n");
    let seating = made.begin(&pids(&[70])).unwrap().seating();
    assert_eq!(
        unseen(&seating, "strangers"),
        r#"[{"what":"strangers","pids":[],"why":"not read: the computer has more than 20000 threads"}]"#
    );
}

#[test]
fn processes_report_limits_variables_memory_and_devices() {
    let made = made();
    for (file, text) in [
        ("cg/box/cpuset.cpus.effective", "0-1\n"),
        ("cg/box/cpu.max", "150000 100000\n"),
        ("cg/box/cpu.stat", "nr_throttled 5\n"),
        ("proc/70/environ", "HOME=/\0OMP_PLACES={0},{1}\0"),
        (
            "proc/70/numa_maps",
            "1000 bind:1 heap N0=3 N1=1 kernelpagesize_kB=4\n2000 default file=/x N0=1 kernelpagesize_kB=4\n",
        ),
        ("proc/70/smaps_rollup", "Rss: 20 kB\nAnonHugePages: 8 kB\n"),
        ("dev/nvidia0", ""),
        ("proc/driver/nvidia/gpus/0000:01:00.0/information", "Device Minor: 0\n"),
        ("sys/bus/pci/devices/0000:01:00.0/numa_node", "1\n"),
    ] {
        made.write(file, text);
    }
    std::fs::create_dir_all(made.path("proc/70/fd")).unwrap();
    for (to, link) in [("/dev/nvidia0", "fd/4"), ("/opt/server (deleted)", "exe")] {
        std::os::unix::fs::symlink(to, made.path("proc/70").join(link)).unwrap();
    }
    let mut watcher = made.begin(&pids(&[70])).unwrap();
    made.write("cg/box/cpu.stat", "nr_throttled 7\n");
    assert_eq!(
        json(&watcher.seating().processes),
        r#"[{"pid":70,"parent":1,"name":"server","program":"/opt/server","user":8,"age_s":5.0,"threads":2,"group":{"path":"/box","cpusets":[],"cpus":"0-1","nodes":null,"quota_cpus":1.5,"throttled":7,"throttled_watched":2},"variables":[{"name":"OMP_PLACES","value":"{0},{1}","cpus":"0,1","places":["0","1"],"threads":null}],"memory":{"nodes":[{"node":0,"bytes":16384},{"node":1,"bytes":4096}],"own":[{"node":0,"bytes":12288},{"node":1,"bytes":4096}],"mappings":[{"name":"heap","address":"1000","policy":"bind:1","nodes":[{"node":0,"bytes":12288},{"node":1,"bytes":4096}],"page_bytes":4096},{"name":"/x","address":"2000","policy":"default","nodes":[{"node":0,"bytes":4096}],"page_bytes":4096}],"huge_bytes":8192},"devices":[{"name":"/dev/nvidia0","kind":"gpu","node":1,"cpus":null}]}]"#
    );
}

#[test]
fn unread_memory_nodes_are_noted_as_unseen() {
    let made = made();
    made.write("proc/70/smaps_rollup", "Rss: 20 kB\n");
    let first = made.begin(&pids(&[70])).unwrap().seating();
    assert_eq!(first.processes[0].memory.as_ref().unwrap().nodes[0].bytes, 20 << 10);
    made.thread(80, 80, &worker());
    let options = WatchOptions { memory_processes: 1, ..made.options() };
    let second = Watcher::begin_at(&pids(&[70, 80]), &options, Box::new(|| 0)).unwrap().seating();
    assert_eq!(
        [first, second].map(|it| unseen(&it, "memory")),
        [
            r#"[{"what":"memory","pids":[70],"why":"this kernel does not report NUMA nodes; all memory counts as node 0's"}]"#,
            r#"[{"what":"memory","pids":[80],"why":"only the memory of the first 1 process is read, to save time"},{"what":"memory","pids":[70],"why":"this kernel does not report NUMA nodes; all memory counts as node 0's"}]"#
        ]
    );
}

#[test]
fn damaged_proc_files_never_panic() {
    let made = made();
    for text in
        ["", "\0\0\0", ")(", "1 2 3", "\u{fffd}\n:\n=", "4294967296 (x) R 99999999999999999999"]
    {
        for file in [
            "stat",
            "interrupts",
            "70/environ",
            "70/numa_maps",
            "70/cgroup",
            "70/task/71/schedstat",
        ] {
            made.write(&format!("proc/{file}"), text);
        }
        assert_eq!(made.begin(&pids(&[70])).unwrap().seating().threads.len(), 2, "{text:?}");
        made.write("proc/70/task/71/stat", text);
        assert_eq!(made.begin(&pids(&[70])).unwrap().seating().threads.len(), 1, "{text:?}");
        made.thread(70, 71, &worker());
    }
}

struct Living(Child);

impl Drop for Living {
    fn drop(&mut self) {
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

fn options(window: Duration) -> WatchOptions {
    WatchOptions { window, ..WatchOptions::default() }
}

#[test]
fn real_process_has_mask_and_environment() {
    let cpu = CpuSet::of_thread(0).unwrap().last().unwrap();
    let child =
        Command::new("sleep").arg("600").env("OMP_PLACES", format!("{{{cpu}}}")).spawn().unwrap();
    let child = Living(child);
    let pid = Tid::try_from(child.0.id()).unwrap();
    CpuSet::single(cpu).give(pid).unwrap();
    // The kernel is still busy with the start of a program when its parent learns of it.
    let seating = (0..1000)
        .find_map(|_| {
            let seating = Seating::take(&pids(&[pid]), &options(Duration::ZERO)).unwrap();
            (!seating.processes[0].variables.is_empty()).then_some(seating)
        })
        .unwrap();
    let thread = &seating.threads[0];
    let process = &seating.processes[0];
    assert_eq!(
        (thread.mask.clone(), thread.policy.as_str(), thread.name.as_str()),
        (cpu.to_string(), "other", "sleep")
    );
    assert!(process.program.as_deref().is_some_and(|program| !program.is_empty()), "{process:?}");
    assert_eq!(process.variables[0].cpus, Some(cpu.to_string()));
    assert!(
        process.memory.as_ref().is_some_and(|memory| memory.nodes.iter().any(|on| on.bytes > 0)),
        "{process:?}"
    );
    assert_eq!(
        (process.parent, seating.cpus.len()),
        (Tid::try_from(std::process::id()).unwrap(), 1)
    );
    assert!(!seating.kernel.release.is_empty());
}

#[test]
fn real_threads_report_cpu_they_run_on() {
    let stop = std::sync::atomic::AtomicBool::new(false);
    let cpu = CpuSet::of_thread(0).unwrap().first().unwrap();
    let found = std::thread::scope(|scope| {
        std::thread::Builder::new()
            .name("spinner".into())
            .spawn_scoped(scope, || {
                CpuSet::single(cpu).give(0).unwrap();
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
            .unwrap();
        let own = pids(&[Tid::try_from(std::process::id()).unwrap()]);
        let found = (0..1000).find_map(|_| {
            let seating = Seating::take(&own, &options(Duration::from_millis(60))).unwrap();
            seating
                .threads
                .into_iter()
                .find(|thread| thread.name == "spinner" && thread.run_percent > 0.0)
        });
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        found
    });
    let spinner = found.unwrap();
    assert_eq!((spinner.mask.clone(), spinner.cpu), (cpu.to_string(), Some(cpu)));
    assert!(spinner.ran_on.iter().all(|on| on.cpu == cpu) && spinner.run_s > 0.0, "{spinner:?}");
}

#[test]
fn scheduler_trace_counts_cpus_of_threads() {
    let cpus: Vec<u32> = CpuSet::of_thread(0).unwrap().iter().collect();
    let [first, .., last] = cpus[..] else { return seatmap_needs::skipped!("one CPU") };
    let stop = std::sync::atomic::AtomicBool::new(false);
    let (said, tids) = std::sync::mpsc::channel();
    let options = WatchOptions { trace: true, ..options(Duration::ZERO) };
    let seating = std::thread::scope(|scope| {
        for _ in 0..2 {
            let said = said.clone();
            let stop = &stop;
            scope.spawn(move || {
                CpuSet::single(first).give(0).unwrap();
                said.send(seatmap_os::task::own_tid()).unwrap();
                // Sleeps now and then, so that the other one can run.
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    let begun = std::time::Instant::now();
                    while begun.elapsed() < Duration::from_millis(2) {
                        std::hint::spin_loop();
                    }
                    std::thread::sleep(Duration::from_micros(100));
                }
            });
        }
        let [stays, moves] = [tids.recv().unwrap(), tids.recv().unwrap()];
        let own = pids(&[Tid::try_from(std::process::id()).unwrap()]);
        let mut watcher = Watcher::begin(&own, &options).unwrap();
        let has_run = |watcher: &mut Watcher| {
            (0..1000).find_map(|_| {
                std::thread::sleep(Duration::from_millis(60));
                let seating = watcher.seating();
                let of = |tid| seating.threads.iter().find(|thread| thread.tid == tid).cloned();
                let threads = [of(stays)?, of(moves)?];
                let is_over = !seating.unseen.iter().all(|unseen| unseen.what != "trace");
                (is_over || threads.iter().all(|thread| thread.run_percent > 0.0))
                    .then_some((threads, seating))
            })
        };
        let before = has_run(&mut watcher);
        CpuSet::single(last).give(moves).unwrap();
        let after = has_run(&mut watcher);
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        before.zip(after)
    });
    let ((before, whole), (after, _)) = seating.unwrap();
    if let Some(unseen) = whole.unseen.iter().find(|unseen| unseen.what == "trace") {
        assert!(before.iter().all(|thread| !thread.is_traced));
        return seatmap_needs::skipped!("{}", unseen.why);
    }
    let on = |thread: &WatchedThread| thread.ran_on.iter().map(|on| on.cpu).collect::<Vec<_>>();
    assert!(before.iter().chain(&after).all(|thread| thread.is_traced));
    assert_eq!(before.each_ref().map(on), [[first], [first]]);
    assert_eq!(on(&after[0]), [first]);
    assert!(on(&after[1]).contains(&last), "{after:?}");
    let shares: f64 = after[1].ran_on.iter().map(|on| on.percent).sum();
    assert!((shares - 100.0).abs() < 1e-6, "{after:?}");
}

#[test]
fn processes_ending_midway_are_left_out() {
    let child = Living(Command::new("sleep").arg("600").spawn().unwrap());
    let other = Living(Command::new("sleep").arg("600").spawn().unwrap());
    let [pid, stays] = [&child, &other].map(|child| Tid::try_from(child.0.id()).unwrap());
    let mut watcher = Watcher::begin(&pids(&[pid, stays]), &options(Duration::ZERO)).unwrap();
    drop(child);
    watcher.glance();
    let seating = watcher.seating();
    assert_eq!(seating.threads.iter().map(|thread| thread.pid).collect::<Vec<_>>(), [stays]);
    let gone = Seating::take(&pids(&[pid]), &options(Duration::ZERO));
    assert!(matches!(gone, Err(ChoiceError::Nothing(_))), "{gone:?}");
}

#[test]
fn seating_of_whole_computer_is_consistent() {
    let seating = Seating::take(&ProcessChoice::All, &options(Duration::from_millis(30))).unwrap();
    assert!(seating.threads.is_sorted_by_key(|thread| (thread.pid, thread.tid)));
    for process in &seating.processes {
        let own = seating.threads.iter().filter(|thread| thread.pid == process.pid).count();
        assert_eq!(own, process.threads, "{process:?}");
    }
    assert!(seating.threads.iter().all(|thread| (0.0..=100.0).contains(&thread.run_percent)));
    assert_eq!(
        Root::new("/").has("/proc/self/schedstat"),
        seating.threads.iter().any(|thread| thread.wait_s.is_some())
    );
}

//! Choices on a made computer.

use super::*;
use crate::tests::made::{Made, MadeThread, pids};

fn worker() -> MadeThread {
    MadeThread::default()
}

/// A shell with a server, whose worker has a child.
fn made() -> Made {
    let made = Made::new();
    made.thread(10, 10, &MadeThread { name: "sh", ..worker() });
    made.thread(11, 11, &MadeThread { name: "redis-server", parent: 10, ..worker() });
    made.thread(11, 12, &worker());
    made.thread(13, 13, &MadeThread { name: "child", parent: 11, ..worker() });
    made.thread(
        2,
        2,
        &MadeThread { name: "kworker/0:1", flags: 0x0020_0000, mask: "0", ..worker() },
    );
    made.thread(20, 20, &MadeThread { name: "bound", ..worker() });
    made.thread(20, 21, &MadeThread { mask: "1", ..worker() });
    made.write("sys/devices/system/cpu/online", "0-1\n");
    made.write("cg/cgroup.procs", "10\n");
    made.write("cg/a/cgroup.procs", "");
    made.write("cg/a/redis.service/cgroup.procs", "11\n");
    made.write("cg/a/redis.service/inner/cgroup.procs", "13\n2\n");
    made.write("cg/a/empty.scope/cgroup.procs", "");
    made
}

/// The chosen processes, or the error.
fn told(made: &Made, choice: &ProcessChoice) -> String {
    let mut files = SystemFiles::open(&made.options().root).unwrap();
    match choice.processes(&mut files) {
        Ok(pids) => joined(pids.iter().map(Tid::to_string), " "),
        Err(error) => error.to_string(),
    }
}

#[test]
fn pids_override_group_and_group_overrides_name() {
    let [group, name] = ["/a", "redis*"].map(|text| Some(text.to_owned()));
    assert_eq!(ProcessChoice::named(&[], true, None, None), None);
    let by_name = ProcessChoice::named(&[], false, None, name.clone());
    assert_eq!(by_name, Some(ProcessChoice::Name("redis*".to_owned())));
    let by_group = ProcessChoice::named(&[], false, group.clone(), name.clone());
    assert_eq!(by_group, Some(ProcessChoice::Group("/a".to_owned())));
    let pids = ProcessChoice::named(&[7], true, group, name);
    assert_eq!(pids, Some(ProcessChoice::Processes { pids: vec![7], with_children: true }));
}

#[test]
fn pids_select_processes_with_or_without_children() {
    let made = made();
    assert_eq!(told(&made, &pids(&[11])), "11");
    assert_eq!(told(&made, &pids(&[12])), "11", "a thread stands for its process");
    let with_children = |pid| ProcessChoice::Processes { pids: vec![pid], with_children: true };
    assert_eq!(told(&made, &with_children(10)), "10 11 13");
    assert_eq!(told(&made, &with_children(13)), "13");
    let absent = told(&made, &pids(&[11, 99]));
    assert_eq!(absent, "there is no process 99; 'ps -e' lists the running ones");
}

#[test]
fn ended_process_is_rejected_unless_threads_live() {
    let made = made();
    made.thread(30, 30, &MadeThread { state: 'Z', ..worker() });
    assert_eq!(
        told(&made, &pids(&[30])),
        "process 30 has ended (a zombie: its parent has not reaped it)"
    );
    made.thread(30, 31, &worker());
    assert_eq!(told(&made, &pids(&[30])), "30", "its other threads live on");
}

#[test]
fn group_and_unit_choices_include_descendants() {
    let made = made();
    let group = |path: &str| told(&made, &ProcessChoice::Group(path.to_owned()));
    let unit = |name: &str| told(&made, &ProcessChoice::Unit(name.to_owned()));
    let told = [group("/a/redis.service"), group("/cg/a"), unit("redis"), unit("redis.service")];
    assert_eq!(told, ["11 13"; 4]);
    assert_eq!(
        [group("/b/reds.service"), unit("redsi"), unit("empty.scope")],
        [
            "there is no control group '/b/reds.service'; did you mean 'redis.service'?",
            "there is no control group of systemd unit 'redsi'; did you mean 'redis.service'?",
            "control group of systemd unit 'empty.scope' has no processes now",
        ]
    );
}

#[test]
fn name_choice_matches_executable_or_main_thread() {
    let made = made();
    std::os::unix::fs::symlink("/opt/bin/long-name-of-a-program", made.path("proc/13/exe"))
        .unwrap();
    let told = ["redis*", "long-name-*-program", "*d*", "redis-srver"]
        .map(|name| told(&made, &ProcessChoice::Name(name.to_owned())));
    // The kernel's own are left out.
    let wanted = [
        "11",
        "13",
        "11 13 20",
        "there is no program named 'redis-srver' that this user can see; did you mean 'redis-server'?",
    ];
    assert_eq!(told, wanted);
}

#[test]
fn bound_choice_selects_processes_with_own_mask() {
    let made = made();
    assert_eq!(told(&made, &ProcessChoice::Bound), "20");
    made.write("sys/devices/system/cpu/isolated", "0\n");
    made.thread(11, 12, &MadeThread { mask: "0", ..worker() });
    assert_eq!(told(&made, &ProcessChoice::Bound), "11", "CPU 1 is what is left to all");
    made.end("20");
    made.end("11");
    assert_eq!(
        told(&made, &ProcessChoice::Bound),
        "the set of bound programs has no processes now"
    );
}

#[test]
fn all_and_combined_choices_select_processes() {
    let made = made();
    assert_eq!(told(&made, &ProcessChoice::All), "10 11 13 20");
    let both = ProcessChoice::Any(vec![pids(&[20]), ProcessChoice::Name("sh".into())]);
    assert_eq!(told(&made, &both), "10 20");
}

#[test]
fn slurm_step_choice_uses_group_or_environment() {
    let made = made();
    assert_eq!(
        told(&made, &ProcessChoice::SlurmStep),
        "not in a Slurm step: neither the control group nor the environment (SLURM_JOB_ID, SLURM_STEP_ID) names one; start seatmap with srun, or use --cgroup or --pid"
    );
    let environment = |job: u32, step: u32| format!("SLURM_JOB_ID={job}\0SLURM_STEP_ID={step}\0");
    for (pid, job, step) in [("self", 5, 0), ("11", 5, 0), ("13", 5, 1), ("20", 6, 0)] {
        made.write(&format!("proc/{pid}/environ"), environment(job, step));
    }
    assert_eq!(told(&made, &ProcessChoice::SlurmStep), "11");
    made.write("proc/self/cgroup", "0::/slurm/uid_7/job_5/step_0/task_3\n");
    made.write("cg/slurm/uid_7/job_5/step_0/cgroup.procs", "");
    made.write("cg/slurm/uid_7/job_5/step_0/task_1/cgroup.procs", "20\n");
    assert_eq!(told(&made, &ProcessChoice::SlurmStep), "20");
}

#[test]
fn choices_work_on_this_computer() {
    let mut files = SystemFiles::open(&seatmap_os::Root::new("/")).unwrap();
    assert!(!ProcessChoice::All.processes(&mut files).unwrap().is_empty());
    assert!(ProcessChoice::Name("no program has this name".into()).processes(&mut files).is_err());
    assert!(ProcessChoice::Group("/no such group".into()).processes(&mut files).is_err());
    let own = Tid::try_from(std::process::id()).unwrap();
    assert_eq!(pids(&[own]).processes(&mut files).unwrap().len(), 1);
}

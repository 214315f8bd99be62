//! Runs of real programs, and the message of each failure.

use super::*;

fn shell(script: &str) -> Contestant {
    Contestant::shell(script)
}

fn run(metric: &str, contestant: &Contestant) -> Result<Option<RunReading>, TrialError> {
    let _turn = crate::alone();
    CommandRunner::new(Metric::parse(metric).unwrap(), None).run(contestant, &|| false)
}

fn refused(metric: &str, script: &str) -> String {
    run(metric, &shell(script)).unwrap_err().to_string()
}

#[test]
fn printed_metric_is_read_from_both_streams() {
    for script in [
        "echo took 12.5 ms",
        "echo took 12.5 ms >&2",
        "seq 200000; echo took 3 ms; echo took 12.5 ms",
    ] {
        assert_eq!(run("regex:took ([0-9.]+) ms", &shell(script)).unwrap().unwrap().value, 12.5);
    }
}

#[test]
fn time_metric_covers_sleep() {
    let reading = run("time", &shell("sleep 0.2")).unwrap().unwrap();
    assert!(reading.value >= 0.2 && reading.value == reading.seconds, "{reading:?}");
}

#[test]
fn variables_are_set_and_threads_counted() {
    let contestant = Contestant {
        variables: vec![("SLEEPERS".to_owned(), "3".to_owned())],
        counts_threads: true,
        ..shell("for at in $(seq $SLEEPERS); do sleep 0.5 & done; wait; echo took 5")
    };
    let runner = CommandRunner {
        second: Some(Metric::parse("regex:took ([0-9]+)").unwrap()),
        ..CommandRunner::new(Metric::Time, None)
    };
    let _turn = crate::alone();
    let reading = runner.run(&contestant, &|| false).unwrap().unwrap();
    // The shell and its sleepers.
    assert_eq!((reading.threads, reading.second_value), (4, Some(5.0)));
    assert!(reading.cpus_used < 1.0, "{reading:?}");
}

#[test]
fn command_metric_runs_afterwards() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("result").display().to_string();
    let reading = run(&format!("command:cat {file}"), &shell(&format!("echo 4,200 > {file}")));
    assert_eq!(reading.unwrap().unwrap().value, 4200.0);
    let late = run("command:sleep 0.2; echo 5", &shell("true")).unwrap().unwrap();
    assert!(late.seconds >= 0.2, "a limit on the time counts the metric's command: {late:?}");
    assert!(refused("command:echo many", "true").contains("instead of one number"));
    assert!(refused("command:echo 3; exit 1", "true").ends_with("' ended with exit code 1"));
}

#[test]
fn perf_metric_counts_child_processes() {
    match run("perf:page-faults", &shell("/bin/true; /bin/true")) {
        Ok(reading) => assert!(reading.unwrap().value > 50.0),
        Err(error) => seatmap_needs::skipped!("{error}"),
    }
}

#[test]
fn command_runs_on_its_seat() {
    let here = CpuSet::of_thread(0).unwrap();
    let cpu = here.iter().last().unwrap();
    let script = "echo seat 1$(sed -n 's/Cpus_allowed_list:.//p' /proc/self/status)";
    let contestant = Contestant { cpus: Some([cpu].into_iter().collect()), ..shell(script) };
    let reading = run("regex:seat ([0-9]+)\n", &contestant).unwrap().unwrap();
    assert_eq!(reading.value.to_string(), format!("1{cpu}"));
    assert_eq!(CpuSet::of_thread(0).unwrap(), here);
}

#[test]
fn failures_report_exit_and_output() {
    assert!(
        refused("time", "echo broken pipe line >&2; exit 3")
            .ends_with("exit code 3; it printed: broken pipe line")
    );
    assert!(
        refused("time", "kill -9 $$")
            .contains("was ended by signal 9 (SIGKILL); it printed nothing")
    );
    assert!(refused("time", "kill -9 $$").contains("let it end by itself"));
    assert!(!refused("time", "exit 3").contains("let it end by itself"));
    assert!(refused("regex:ops ([0-9]+)", "echo 3 bits").contains(
        "matches no number (digits, with a point for decimals) in the output of '/bin/sh -c echo 3 bits'"
    ));
    assert!(refused("regex:([0-9]+)", "echo 0").contains("must be above 0"));
    let absent = Contestant { command: vec!["/no/such/program".into()], ..Contestant::default() };
    for absent in [absent, Contestant::default()] {
        let error = run("time", &absent).unwrap_err().to_string();
        assert!(error.ends_with("cannot be started"), "{error}");
    }
}

#[test]
fn background_process_is_detected_and_killed() {
    let error = refused("time", "setsid sleep 1000 & sleep 0.05");
    let (_, left) = error.split_once(" left process ").unwrap();
    let (pid, rest) = left.split_once(' ').unwrap();
    assert!(rest.starts_with("('sleep') running"), "{error}");
    assert!(!seatmap_os::task::lives(pid.parse().unwrap()));
}

#[test]
fn stopped_run_leaves_no_processes() {
    let _turn = crate::alone();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let script = format!("sleep 1000 & echo $! > {}; wait", file.display());
    let runner = CommandRunner::new(Metric::Time, None);
    let started = || std::fs::read_to_string(&file).is_ok_and(|text| text.ends_with('\n'));
    assert_eq!(runner.run(&shell(&script), &started).unwrap(), None);
    let pid: i32 = std::fs::read_to_string(&file).unwrap().trim().parse().unwrap();
    assert!(!seatmap_os::task::lives(pid));
}

#[test]
fn stop_request_prevents_next_run() {
    let _turn = crate::alone();
    assert_eq!(CommandRunner::new(Metric::Time, None).run(&shell("true"), &|| true).unwrap(), None);
}

#[test]
fn endless_metric_command_is_stopped_and_named() {
    let _turn = crate::alone();
    let runner = || CommandRunner::new(Metric::parse("command:sleep 1000").unwrap(), None);
    let limited = CommandRunner { metric_limit: Duration::from_millis(60), ..runner() };
    let told = limited.run(&shell("true"), &|| false).unwrap_err().to_string();
    assert!(
        told.starts_with("the metric 'command:sleep 1000' was still running after 60ms"),
        "{told}"
    );
    let looks = std::cell::Cell::new(0);
    let soon = || {
        looks.set(looks.get() + 1);
        looks.get() > 2
    };
    assert_eq!(runner().run(&shell("true"), &soon).unwrap(), None);
}

#[test]
fn missing_cpu_voids_run() {
    let absent = Contestant { cpus: Some([500_000].into_iter().collect()), ..shell("true") };
    let told = run("time", &absent).unwrap_err().to_string();
    assert!(told.contains("the run is void, because its CPU 500000 cannot be used now"), "{told}");
    // The command takes a CPU from this thread, as a cpuset does.
    let cpus = CpuSet::of_thread(0).unwrap();
    let Some(last) = cpus.last().filter(|_| cpus.len() > 1) else {
        return seatmap_needs::skipped!("this needs two CPUs");
    };
    let tid = seatmap_os::task::own_tid();
    let script = format!("taskset -pc {last} {tid} >&2 && exec sleep 1000");
    let void = run("time", &shell(&script));
    cpus.give(0).unwrap();
    assert!(matches!(void, Err(TrialError::CpusTaken { .. })), "{void:?}");
}

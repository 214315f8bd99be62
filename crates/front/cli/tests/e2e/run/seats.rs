//! Each thread of the test programs prints its CPUs at its first instruction.

use super::programs::{self, are_two, list, on, on_two_cpus, own_mask, two_cpus};
use super::{Told, run, run_as_usual, run_with};
use crate::common::{Arguments, Json, Place};
use std::collections::HashSet;

fn c(options: impl Arguments, arguments: impl Arguments) -> Option<Told> {
    Some(run(&Place::new(), options, (&[programs::c()?], arguments)))
}

fn says(who: &str, cpus: impl ToString) -> String {
    format!("{who} {}", cpus.to_string())
}

fn plan(place: &Place, placement: &[u32]) {
    let names = &["boss", "left", "right", "spare"][..placement.len()];
    place.file(
        "plan.json",
        format!(r#"{{"format":"seatmap-plan/1","machine":"host","placement":{placement:?},"names":{names:?}}}"#),
    );
}

#[test]
fn threads_take_seats_in_list_order() {
    let [a, b] = two_cpus();
    for program in [programs::c(), programs::static_c(), programs::rust()].into_iter().flatten() {
        let told = run(&Place::new(), on(&[b, a, a]), [program, "4"]);
        let thread = |cpu| says("thread", cpu);
        assert_eq!(
            told.lines(),
            [says("main", b), thread(a), thread(a), thread(b), thread(a)],
            "{program}"
        );
        assert_eq!(told.seats(), [b, a, a, b, a].map(Some), "{program}");
        told.assert_verified();
    }
}

#[test]
fn goroutines_run_on_seats_of_their_threads() {
    let [a, b] = two_cpus();
    let Some(program) = programs::go() else { return };
    let told = run(&Place::new(), on(&[b, a]), [program]);
    for line in told.lines() {
        assert!([a, b].iter().any(|cpu| line.ends_with(&format!(" {cpu}"))), "{line}");
    }
    assert_eq!(told.lines().len(), 4);
    let turns: Vec<Option<u32>> =
        [b, a].map(Some).into_iter().cycle().take(told.threads().len()).collect();
    assert_eq!(told.seats(), turns);
    told.assert_verified();
}

#[test]
fn java_threads_are_seated_once_named() {
    let [a, b] = two_cpus();
    if !programs::installed("java") {
        return;
    }
    let source = programs::source("Threads.java");
    let rules = "--match seated-0=1 --match seated-*=2";
    let options = (on(&[a, b, a]), rules);
    let [first, other] = [b, a].map(|cpu| cpu.to_string());
    let told = run(&Place::new(), options, ["java", &source, &first, &other, &other]);
    assert_eq!(told.lines(), [says("seated-0", b), says("seated-1", a), says("seated-2", a)]);
    told.assert_verified();
}

#[test]
fn threads_beyond_plan_get_launcher_mask() {
    let [a, b] = two_cpus();
    let Some(program) = programs::c() else { return };
    let place = Place::new();
    plan(&place, &[b, a, b]);
    let told = run(&place, "--plan plan.json", [program, "5"]);
    let beyond = says("thread", own_mask());
    assert_eq!(
        told.lines(),
        [
            says("main", b),
            says("thread", a),
            says("thread", b),
            beyond.clone(),
            beyond.clone(),
            beyond
        ]
    );
    assert_eq!(told.seats(), [Some(b), Some(a), Some(b), None, None, None]);
    let names: Vec<_> = told.threads().iter().map(|thread| thread["task_name"].as_str()).collect();
    assert_eq!(names[..4], [Some("boss"), Some("left"), Some("right"), None]);
    assert!(
        told.stderr().contains(
            "seatmap: 3 threads beyond the 3 tasks were left to the kernel's scheduler\n"
        )
    );
    told.assert_verified();
}

#[test]
fn skip_leaves_first_threads_unseated() {
    let [a, b] = two_cpus();
    let Some(told) = c(["--cpus", &list(&[b, a]), "--skip", "2", "--once"], ["3"]) else {
        return;
    };
    assert_eq!(told.seats(), [None, None, Some(b), Some(a)]);
    let unseated = |who| says(who, own_mask());
    assert_eq!(
        told.lines(),
        [unseated("main"), unseated("thread"), says("thread", b), says("thread", a)]
    );
    assert_eq!((&told.report["skipped"], &told.report["unseated"]), (&2.into(), &0.into()));
}

#[test]
fn processes_count_like_threads() {
    let [a, b] = two_cpus();
    let Some(told) = c(on(&[b, a, a, a, b]), ["fork"]) else { return };
    let lines = [says("main", b), says("child", a), says("child's", a), says("thread", a)];
    assert_eq!(
        (told.lines(), told.threads().len()),
        (lines.iter().map(String::as_str).collect(), 4)
    );
    let pid = |at: usize| told.threads()[at]["pid"].as_u64();
    assert!(pid(0) == pid(3) && pid(1) == pid(2) && pid(0) != pid(1), "{}", told.report);
    told.assert_verified();
}

#[test]
fn spawned_programs_are_seated() {
    let [a, b] = two_cpus();
    let Some(told) = c(on(&[b, a, b]), ["vfork"]) else { return };
    assert_eq!(told.lines(), [says("main", b), says("thread", b)]);
    assert_eq!(told.threads()[1]["name"], "true");
    told.assert_verified();
}

/// If a thread calls execve(2), it takes over the process id, and the main thread ends.
#[test]
fn thread_calling_execve_keeps_its_seat() {
    let [a, b] = two_cpus();
    for program in [programs::c(), programs::static_c()].into_iter().flatten() {
        let told = run(&Place::new(), on(&[b, a, b]), [program, "exec"]);
        let lines = [says("main", b), says("executor", a), says("main", a), says("thread", b)];
        assert_eq!(told.lines(), lines, "{program}");
        assert_eq!(
            told.threads()[0]["tid"],
            told.threads()[1]["tid"],
            "it goes by its process's number now"
        );
        told.assert_verified();
    }
}

/// The kernel gives it the start of the main thread, by which the launcher recognises threads.
#[test]
fn thread_calling_execve_late_keeps_its_seat() {
    let Some((program, [a, b])) = on_two_cpus(programs::c()) else { return };
    let seated = run_as_usual(&Place::new(), on(&[b, a, b]), [program, "late"], &[]);
    let settled = says("settled", a);
    assert_eq!(seated.lines().last(), Some(&settled.as_str()), "{}", seated.report);
}

/// Linux reuses the numbers of ended threads, within seconds if many processes start.
#[test]
fn thread_with_reused_number_gets_its_own_mask() {
    let Some((program, [a, _])) = on_two_cpus(programs::c()) else { return };
    let place = Place::new();
    let mut command = place.command_of("unshare");
    command.args(["--map-root-user", "--pid", "--fork", "--mount-proc", crate::PROGRAM]);
    command.args(["run", "--strict", "--once", "--cpus", &a.to_string(), "--", program, "reuse"]);
    let output = command.output();
    let said = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let line = said.unwrap_or_default().lines().last().unwrap_or_default().to_owned();
    match line.strip_prefix("reused ").and_then(|rest| rest.split_once(" narrow ")) {
        None | Some(("0", _)) => seatmap_needs::skipped!("this user may make no PID namespace"),
        Some((_, narrow)) => assert_eq!(narrow, "0", "{line}"),
    }
}

#[test]
fn shell_pipeline_processes_are_seated() {
    let [a, b] = two_cpus();
    let mask = "sed -n s/Cpus_allowed_list:.//p /proc/self/status";
    let script = format!("{mask} | cat & wait; {mask}; exit 5");
    let told = run(&Place::new(), on(&[b, a, a, b]), ["sh", "-c", &script]);
    assert_eq!(told.lines(), [a.to_string(), b.to_string()]);
    assert_eq!((told.output.status.code(), told.threads().len()), (Some(5), 4));
    told.assert_verified();
}

#[test]
fn name_rules_seat_running_threads() {
    let [a, b] = two_cpus();
    let cpus = list(&[a, b]);
    let wanted = b.to_string();
    for program in [programs::c(), programs::static_c()].into_iter().flatten() {
        // With a rule for each task, nothing is traced.
        for rules in ["--match worker-*=1", "--match worker-*=1 --match threads-*=0"] {
            let told = run_with(
                &Place::new(),
                (["--cpus", &cpus], rules),
                [program, "rename"],
                &[("WANTED", &wanted)],
            );
            let worker = |n: u32| says(&format!("worker-{n}"), b);
            assert_eq!(told.lines()[1..], [worker(0), worker(1), worker(2)]);
            assert_eq!(told.seats(), [a, b, b, b].map(Some));
            told.assert_verified();
        }
    }
}

#[test]
fn plan_tasks_match_thread_names() {
    let [a, b] = two_cpus();
    let Some(program) = programs::c() else { return };
    let place = Place::new();
    plan(&place, &[b, a, b, a]);
    let wanted = a.to_string();
    let options = "--plan plan.json --match worker-*=spare,left";
    let told = run_with(&place, options, [program, "rename"], &[("WANTED", &wanted)]);
    let tasks: Vec<_> = told.threads().iter().map(|thread| thread["task_name"].as_str()).collect();
    assert_eq!(tasks, ["boss", "spare", "spare", "spare"].map(Some));
    told.assert_verified();
}

#[test]
fn threads_pinning_themselves_are_reported() {
    let Some((program, [a, b])) = on_two_cpus(programs::c()) else { return };
    let seats = list(&[b, a]);
    let all = list(&[a, b]);
    let told =
        run_with(&Place::new(), ["--cpus", &seats, "--quiet"], [program, "pin"], &[("ALL", &all)]);
    assert!(told.output.status.success());
    assert_eq!(told.threads()[1]["verified"], false);
    let tid = &told.threads()[1]["tid"];
    let line = format!("its seat is CPU {a}, but its affinity was changed to {a},{b}");
    assert_eq!(
        told.stderr(),
        format!("seatmap: thread 1 ('threads-c-dynam', tid {tid}): {line}\n")
    );
}

/// A thread may run and end before its creator's report arrives.
#[test]
fn every_short_lived_thread_counts_once() {
    let [a, b] = two_cpus();
    for cpus in [&[a][..], &[b, a], &[a, b, b]] {
        let Some(told) = c(on(cpus), ["crowd"]) else { return };
        assert_eq!(told.lines(), [says("main", cpus[0]), says("strays", 0)]);
        assert_eq!(
            told.seats(),
            (0..205).map(|at| Some(cpus[at % cpus.len()])).collect::<Vec<_>>()
        );
        let late = told.threads().iter().filter(|thread| thread["late"] == true).count();
        let tids: HashSet<String> =
            told.threads().iter().map(|thread| thread["tid"].to_string()).collect();
        assert_eq!((late, tids.len()), (0, 205));
        told.assert_verified();
    }
}

/// Traced threads stop for each signal, so Seatmap stops tracing after many. It must still find new
/// threads.
#[test]
fn signal_flood_costs_no_seat() {
    let [a, b] = two_cpus();
    let Some(program) = programs::c() else { return };
    let wanted = a.to_string();
    let told = run_with(&Place::new(), on(&[b, a]), [program, "flood"], &[("WANTED", &wanted)]);
    assert_eq!(told.lines(), [says("main", b), says("worker-0", a)]);
    told.assert_verified();
}

#[test]
fn table_lists_threads_tasks_and_seats() {
    let [a, b] = two_cpus();
    let Some(program) = programs::c() else { return };
    let place = Place::new();
    plan(&place, &[b, a, b, a]);
    let told = run(&place, "--plan plan.json --skip 1", [program, "2"]);
    let tids: Vec<String> = told.threads().iter().map(|thread| thread["tid"].to_string()).collect();
    let lines: Vec<String> = told
        .stderr()
        .lines()
        .map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" "))
        .collect();
    let name = "threads-c-dynam";
    let expected = [
        "thread tid name task CPU seen on verified".to_owned(),
        format!("0 {} {name} - - - no seat", tids[0]),
        format!("1 {} {name} 0 boss {b} {b} yes", tids[1]),
        format!("2 {} {name} 1 left {a} {a} yes", tids[2]),
    ];
    assert_eq!(lines[..4], expected);
    assert_eq!(lines[4], "seatmap: tasks 2,3 got no thread");
    let quiet = run(&place, "--plan plan.json --skip 1 --quiet", [program, "2"]);
    assert_eq!(quiet.stderr(), "");
}

#[test]
fn tracing_programs_are_reported() {
    let [a, b] = two_cpus();
    if !programs::installed("strace") {
        return;
    }
    let told = run(&Place::new(), on(&[a, b]), "strace -o trace true");
    assert_eq!(told.output.status.code(), Some(1), "what strace says then");
    assert!(
        told.stderr().contains("strace may have failed to trace its program"),
        "{}",
        told.stderr()
    );
    assert_eq!(told.report["hampered"]["tracers"].elements().len(), 1);
}

#[test]
fn threads_of_racing_creators_are_seated_by_path() {
    let cpus = two_cpus();
    let (Some(program), [a, b], true) = (programs::creators(), cpus, are_two(cpus)) else { return };
    let of = |creator: usize| (0..4).map(move |worker| format!("0.{creator}.{worker}"));
    let paths: Vec<String> =
        ["0", "0.0", "0.1"].map(str::to_owned).into_iter().chain(of(0)).chain(of(1)).collect();
    let placement = [[a, a, b].as_slice(), &[a; 4], &[b; 4]].concat();
    for order in ["right", "left", "race"] {
        let place = Place::new();
        place.file(
            "plan.json",
            format!(r#"{{"format":"seatmap-plan/1","machine":"host","placement":{placement:?},"paths":{paths:?}}}"#),
        );
        let told = run(&place, "--plan plan.json --any-machine", [program, order]);
        assert!(told.output.status.success(), "{}", told.stderr());
        // The threads end too soon to be reliably seen from outside.
        let mut said = told.lines();
        said.sort_unstable();
        let [left, right] = [format!("left {a} of 1"), format!("right {b} of 1")];
        let expected = [[left.as_str(); 4], [right.as_str(); 4]].concat();
        assert_eq!(said, expected, "{order}\n{}", told.stderr());
        assert_eq!(told.report["strangers"], 0, "{order}");
    }
}

/// The first thread waits on the whole set until a second one exists.
#[test]
fn single_thread_waits_on_whole_set() {
    let [a, b] = two_cpus();
    let told = run_as_usual(&Place::new(), on(&[a, b]), ["sleep", "0.2"], &[]);
    let first = &told.threads()[0];
    if are_two([a, b]) {
        assert_eq!(
            (&first["waiting"], &first["verified"]),
            (&true.into(), &false.into()),
            "{first}"
        );
        assert!(told.stderr().lines().any(|line| line.ends_with("  not yet")), "{}", told.stderr());
    }
    // A set of one seat is that seat.
    let alone = run_as_usual(&Place::new(), on(&[a]), ["sleep", "0.2"], &[]);
    let first = &alone.threads()[0];
    assert_eq!((&first["waiting"], &first["verified"]), (&false.into(), &true.into()), "{first}");
    assert!(alone.stderr().lines().any(|line| line.ends_with("  yes")), "{}", alone.stderr());
    let strict = run(&Place::new(), on(&[a, b]), "sleep 0.2");
    let first = &strict.threads()[0];
    assert_eq!((&first["waiting"], &first["verified"]), (&false.into(), &true.into()), "{first}");
}

/// A shell whose mask another program changes, and possibly restores.
fn moved(to: u32, then: &str) -> Option<Told> {
    let [a, b] = two_cpus();
    let is_possible = are_two([a, b]) && programs::installed("taskset");
    let script = format!("taskset -cp {to} $$ >/dev/null; sleep 0.4; sleep 0.4; sleep 0.4; {then}");
    is_possible.then(|| run(&Place::new(), on(&[a, b]), ["sh", "-c", &script]))
}

#[test]
fn temporarily_moved_thread_is_reported() {
    let [a, b] = two_cpus();
    let Some(told) = moved(b, &format!("taskset -cp {a} $$ >/dev/null; sleep 0.4; true")) else {
        return;
    };
    let shell = &told.threads()[0];
    assert_eq!(shell["verified"], false, "{shell}");
    assert!(shell["seen_on"].elements().contains(&b.into()), "{shell}");
    assert!(shell["elsewhere_ms"].whole() >= 500, "{shell}");
    let line = format!("its seat is CPU {a}, but it was elsewhere for ");
    assert!(told.stderr().contains(&line), "{}", told.stderr());
}

#[test]
fn thread_ending_off_its_seat_is_reported() {
    let [a, b] = two_cpus();
    let Some(told) = moved(b, "true") else { return };
    let shell = &told.threads()[0];
    assert_eq!(shell["verified"], false, "{shell}");
    assert!(shell["seen_on"].elements().contains(&b.into()), "{shell}");
    let line = format!("its seat is CPU {a}, but its affinity was changed to {b}");
    assert!(told.stderr().contains(&line), "{}", told.stderr());
}

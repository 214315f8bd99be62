//! Each thread of the program prints its memory policy and the nodes of its pages. Computers with
//! one NUMA node have policies too; `scripts/lab/numa` tests several nodes.

use super::programs::{self, list, two_cpus};
use super::running::Running;
use super::{Told, run, run_as_usual, run_with};
use crate::common::{Json, Place, stderr};
use serde_json::Value;
use std::process::{Command, Stdio};

/// The program that touches memory. `None` if this computer has no NUMA policies.
fn memory() -> Option<&'static str> {
    // This is not the main thread, so it has no policy from the test.
    if let Err(error) = seatmap_os::mempolicy::MemoryPolicy::local().check() {
        seatmap_needs::skipped!("{error}");
        return None;
    }
    programs::memory()
}

fn node() -> u32 {
    let nodes = seatmap_os::mempolicy::MemoryNodes::read(&seatmap_os::Root::new("/"));
    nodes.usable().first().unwrap()
}

/// The printed policies, without the pages.
fn policies(told: &Told) -> Vec<String> {
    told.lines().iter().map(|line| line.split(" N").next().unwrap().to_owned()).collect()
}

/// The reported policy of each thread and whether it is set.
fn reported(told: &Told) -> Vec<(Option<&str>, bool)> {
    told.threads()
        .iter()
        .map(|it| (it["memory"]["policy"].as_str(), it["memory"]["is_set"] == true))
        .collect()
}

/// A plan in which every other task has memory on this node.
fn plan(place: &Place) {
    let [a, b] = two_cpus();
    let node = node();
    place.file(
        "plan.json",
        format!(
            r#"{{"format":"seatmap-plan/1","machine":"host","placement":[{a},{b},{a},{b},{a}],
            "memory":[[{node}],[],[{node}],[],[{node}]]}}"#
        ),
    );
}

#[test]
fn threads_start_with_memory_policy() {
    let Some(program) = memory() else { return };
    let cpus = list(&two_cpus());
    let node = node();
    let usable =
        seatmap_os::mempolicy::MemoryNodes::read(&seatmap_os::Root::new("/")).usable().only()
            == Some(node);
    let bind = format!("node:{node}");
    let mut wishes = vec![("local", "local".to_owned()), (&bind, format!("bind:{node}"))];
    if usable {
        wishes.push(("interleave", format!("interleave:{node}")));
    }
    for (wish, policy) in wishes {
        let told = run(&Place::new(), ["--cpus", &cpus, "--memory", wish], [program, "1"]);
        assert_eq!(
            policies(&told),
            [format!("main {policy}"), format!("thread {policy}")],
            "{}",
            told.stderr()
        );
        let memory = &told.report["memory"];
        assert_eq!(
            (memory["wish"].as_str(), memory["policy"].as_str()),
            (Some(wish), Some(policy.as_str()))
        );
        assert!(memory["processes"].elements().is_empty() && told.threads()[0]["memory"].is_null());
        told.assert_verified();
    }
    let told = run(&Place::new(), ["--cpus", &cpus], [program, "0"]);
    assert!(told.report["memory"].is_null(), "nothing was asked");
}

#[test]
fn each_plan_task_has_its_policy() {
    let Some(program) = memory() else { return };
    let bound = format!("bind:{}", node());
    let own = {
        let own = std::thread::spawn(seatmap_os::mempolicy::MemoryPolicy::of_caller)
            .join()
            .unwrap()
            .unwrap();
        own.to_string()
    };
    for (what, wait) in [("", false), ("spin", false), ("sleep", true)] {
        for strict in [true, false] {
            let place = Place::new();
            plan(&place);
            let options = "--plan plan.json --memory plan";
            let program = [program, "4", what];
            let told = if strict {
                run(&place, options, program)
            } else {
                run_as_usual(&place, options, program, &[])
            };
            let (slept, lines): (Vec<String>, Vec<String>) =
                policies(&told).into_iter().partition(|line| line.starts_with("slept"));
            let thread = |policy: &str| format!("thread {policy}");
            let expected = [
                format!("main {bound}"),
                thread(&own),
                thread(&bound),
                thread(&own),
                thread(&bound),
            ];
            assert_eq!(lines, expected, "{what}, strict {strict}: {}", told.stderr());
            assert!(
                !wait || slept.len() == 4 && slept.iter().all(|line| line >= &"slept 3".to_owned()),
                "{slept:?}"
            );
            let said = (Some(bound.as_str()), true);
            assert_eq!(reported(&told), [said, (None, false), said, (None, false), said]);
            assert!(!told.stderr().contains("memory policy"), "{}", told.stderr());
            told.assert_verified();
        }
    }
}

/// Processes are seated some time after their start.
#[test]
fn child_processes_have_their_policy() {
    let Some(program) = memory() else { return };
    let bound = format!("bind:{}", node());
    let place = Place::new();
    plan(&place);
    let script = format!("{program} 0; sleep 0.3; {program} 1 spin; {program} 1 sleep; true");
    let told = run_as_usual(
        &place,
        ["--plan", "plan.json", "--memory", "plan"],
        ["sh", "-c", &script],
        &[],
    );
    assert!(told.output.status.success(), "{}", told.stderr());
    let set: Vec<&Value> =
        told.threads().iter().filter(|it| it["memory"]["policy"] == bound.as_str()).collect();
    assert!(
        !set.is_empty() && set.iter().all(|it| it["memory"]["trouble"].is_null()),
        "{}",
        told.report
    );
    let strict = run(&place, "--plan plan.json --memory plan", ["sh", "-c", &script]);
    assert!(
        strict.output.status.success() && !strict.stderr().contains("refused"),
        "{}",
        strict.stderr()
    );
}

#[test]
fn policies_are_set_despite_signals() {
    let (Some(_), Some(program)) = (memory(), programs::c()) else { return };
    let [a, b] = two_cpus();
    let node = node();
    let place = Place::new();
    let (placement, nodes): (Vec<u32>, Vec<String>) = (0..205)
        .map(|at| {
            (
                if at % 2 == 0 { a } else { b },
                if at % 3 == 0 { String::new() } else { node.to_string() },
            )
        })
        .unzip();
    let nodes: Vec<String> = nodes.iter().map(|node| format!("[{node}]")).collect();
    let start = r#"{"format":"seatmap-plan/1","machine":"host""#;
    place.file(
        "plan.json",
        format!("{start},\"placement\":{placement:?},\"memory\":[{}]}}", nodes.join(",")),
    );
    let options = "--plan plan.json --memory plan";
    let told = run(&place, options, [program, "crowd"]);
    assert_eq!(told.lines()[1], "strays 0");
    let missed: Vec<&Value> =
        told.threads().iter().filter(|it| it["memory"]["is_set"] == false).collect();
    assert!(missed.is_empty(), "{missed:?}");
    told.assert_verified();
    let wanted = b.to_string();
    let told = run_with(&place, options, [program, "flood"], &[("WANTED", &wanted)]);
    assert_eq!(told.lines().len(), 2, "{}", told.stderr());
    for program in [&["fork"][..], &["vfork"], &["exec"], &["3"]] {
        let told = run(&place, options, (&[programs::c().unwrap()], program));
        assert!(
            told.output.status.success() && told.lines().len() > 1,
            "{program:?}: {}",
            told.stderr()
        );
    }
}

/// A program's own filter might kill it for an unknown system call.
#[test]
fn seccomp_filtered_program_is_left_alone() {
    let (Some(_), Some(program)) = (memory(), programs::filtered()) else { return };
    let place = Place::new();
    let cpus = two_cpus();
    let node = node();
    let start = r#"{"format":"seatmap-plan/1","machine":"host""#;
    place.file("plan.json", format!("{start},\"placement\":{:?},\"memory\":[[],[{node}]]}}", cpus));
    let told = run(&place, "--plan plan.json --memory plan", [program]);
    assert!(told.output.status.success(), "it lives: {}", told.stderr());
    assert_eq!(told.lines(), ["alive"]);
    let why = "its seccomp filter might kill the program for the call that sets the policy";
    assert_eq!(told.threads()[1]["memory"]["trouble"], why);
    assert!(
        told.stderr().contains(&format!("does not have the memory policy bind:{node}: {why}")),
        "{}",
        told.stderr()
    );
}

#[test]
fn verify_memory_checks_page_locations() {
    let Some(program) = memory() else { return };
    let cpus = list(&two_cpus());
    let node = node();
    let options = format!("--cpus {cpus} --memory node:{node} --verify-memory");
    for more in ["--strict", ""] {
        let place = Place::new();
        let told = run_as_usual(&place, (&options, more), [program, "2"], &[]);
        let processes = told.report["memory"]["processes"].elements();
        let [process] = &processes[..] else { unreachable!("one process: {}", told.report) };
        let bytes = |at: &str| process["nodes"][0][at].whole();
        assert!(bytes("own_bytes") >= 12 << 20 && bytes("node") == u64::from(node), "{process}");
        assert_eq!(
            (&process["elsewhere_bytes"], &process["at_end"]),
            (&0.into(), &true.into()),
            "{process}"
        );
        assert_eq!(told.report["memory"]["nodes"][0], node);
        let policies: Vec<&str> =
            process["policies"].elements().iter().filter_map(|it| it["policy"].as_str()).collect();
        assert!(policies.contains(&format!("bind:{node}").as_str()), "{policies:?}");
        assert!(
            told.stderr()
                .contains(&format!("MiB on node {node}, none outside the requested nodes\n")),
            "{}",
            told.stderr()
        );
    }
}

#[test]
fn pages_are_verified_without_tracing() {
    let Some(program) = memory() else { return };
    let cpu = two_cpus()[0].to_string();
    let place = Place::new();
    let options = format!("run --match memory=cpus:{cpu} --verify-memory=0.05 --report r.json --");
    let mut command = place.command((options, &[program, "0", "stay"]));
    let mut running = Running::of({
        command.stdin(Stdio::piped());
        command
    });
    std::thread::sleep(std::time::Duration::from_millis(600));
    running.close();
    assert!(running.wait().success());
    let report = place.read_json("r.json");
    let process = &report["memory"]["processes"][0];
    assert_eq!(process["at_end"], false, "{report}");
    assert!(report["memory"]["wish"].is_null() && process["elsewhere_bytes"].is_null());
}

#[test]
fn pages_of_running_program_are_moved() {
    let Some(program) = memory() else { return };
    let mut command = Command::new(program);
    command.args(["0", "stay"]).stdin(Stdio::piped());
    let mut running = Running::of(command);
    let place = Place::new();
    let pid = running.pid().to_string();
    let node = node();
    let seatmap = |arguments: &str| {
        let output = place.run(("run --pid", &pid, arguments));
        (output.status.code(), stderr(&output))
    };
    let (code, told) = seatmap(&format!("--move-pages --memory node:{node}"));
    assert!(
        code == Some(0) && told.contains(&format!("its memory moved to node {node}, which had ")),
        "{told}"
    );
    let cpu = two_cpus()[0].to_string();
    let (code, told) = seatmap(&format!("--move-pages --cpus {cpu}"));
    assert!(
        code == Some(0) && told.contains("yes, late") && told.contains(" stayed elsewhere"),
        "{told}"
    );
    let refusal = |arguments: &str| place.one_line_refusal(("run --pid", &pid, arguments));
    insta::assert_snapshot!(refusal(&format!("--memory local --cpus {cpu}")), @"seatmap: the memory policy of a running program cannot be set; add --move-pages to move its pages");
    insta::assert_snapshot!(refusal("--memory interleave --move-pages"), @"seatmap: 'interleave' names no node for the pages; give --memory node:LIST, or leave --memory out to move them to the threads' nodes");
    assert!(
        refusal("--memory node:1000 --move-pages")
            .starts_with("seatmap: NUMA node 1000 does not exist")
    );
    running.close();
    assert!(running.wait().success());
}

#[test]
fn huge_page_options_are_applied() {
    let cpu = two_cpus()[0].to_string();
    let script = "grep THP_enabled /proc/self/status; echo $GLIBC_TUNABLES";
    let told = |how: &str, tunables: &str| {
        let variables = [("GLIBC_TUNABLES", tunables)];
        let told = run_with(&Place::new(), ["--cpus", &cpu, how], ["sh", "-c", script], &variables);
        told.lines().iter().map(|line| line.replace('\t', " ")).collect::<Vec<_>>()
    };
    assert_eq!(told("--huge", "a.b=1"), ["THP_enabled: 1", "a.b=1:glibc.malloc.hugetlb=1"]);
    assert_eq!(
        told("--huge", "glibc.malloc.hugetlb=2"),
        ["THP_enabled: 1", "glibc.malloc.hugetlb=2"]
    );
    assert_eq!(told("--huge=never", ""), ["THP_enabled: 0", ""]);
}

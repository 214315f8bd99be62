//! Control groups that limit a program's CPUs or CPU time.

use super::{
    Checked, bind_all, check, check_pid, is_root, plan, threads, until, until_found, until_mended,
};
use crate::common::{Arguments, Json, Place, assert_contains, stderr, stdout};
use crate::control_group::Group;
use crate::run::programs::{are_two, two_cpus};
use crate::run::running::Running;

#[test]
fn throttling_quota_is_found_and_raised() {
    let Some(group) = is_root().then(|| Group::with_time(20_000, 4_000)).flatten() else { return };
    let Some(program) = threads(2, "spin") else { return };
    let place = Place::new();
    let pid = program.pid();
    group.set("cgroup.procs", &pid.to_string()).unwrap();
    let checked = until_found(&place, pid, "quota");
    let what = checked.wrong("quota")["what"].text();
    assert!(what.contains(group.name()) && what.contains("may use 0.2 CPUs"), "{what}");
    assert_contains(what, group.quota_file());
    let by_group = until(
        || check(&place, ["--cgroup", group.name()]),
        |checked| !checked.of_rule("quota").is_empty(),
    );
    assert_eq!(by_group.document["processes"][0]["pid"], pid);
    assert_eq!(mended(&checked, "quota"), group.quota_remedy());
    until_mended(&place, pid, "quota");
    drop(program);
}

/// A hundredth of a CPU per thread reveals no quota; the kernel's count of throttled periods does.
#[test]
fn quota_shared_by_many_threads_is_found() {
    let Some(group) = is_root().then(|| Group::with_time(20_000, 3_200)).flatten() else { return };
    let Some(program) = threads(16, "spin") else { return };
    let place = Place::new();
    let pid = program.pid();
    group.set("cgroup.procs", &pid.to_string()).unwrap();
    let is_found = |checked: &Checked| {
        checked.of_rule("quota").iter().any(|finding| finding["gravity"] == "wrong")
    };
    let checked = until(|| check_pid(&place, pid, ""), is_found);
    let found = checked.wrong("quota");
    let first = found["advice"].text();
    assert!(first.contains("for 1 busy thread") && first.contains("with fewer"), "{found}");
    let number = pid.to_string();
    let advise = ["advise", "--pid", &number, "--json"];
    let rule = |advice: &serde_json::Value| {
        advice["conclusion"]["reason"]["finding"]["rule"].as_str() == Some("quota")
    };
    let advice = (0..10).map(|_| place.json(advise)).find(rule).expect("it is stopped");
    assert!(advice["paste"].is_null(), "fewer threads come before a higher quota: {advice:#}");
    drop(program);
}

const TOO_MANY: &str = "too-many-threads";

/// Checks a program in a group with a quota of a fifth of a CPU. `None` if this user may create
/// none.
fn checked_under_quota(
    program: Option<Running>,
    is_so: impl Fn(&Checked) -> bool,
) -> Option<Checked> {
    let group = is_root().then(|| Group::with_time(20_000, 4_000)).flatten()?;
    let program = program?;
    let place = Place::new();
    let pid = program.pid();
    group.set("cgroup.procs", &pid.to_string()).unwrap();
    let check = || {
        give_usual_priority(pid);
        Checked::of(place.run(format!("check --json --seconds 1 --pid {pid}")))
    };
    let checked = until(check, is_so);
    drop(program);
    Some(checked)
}

/// Tests may run with the lowest priority, and threads with that are not judged.
fn give_usual_priority(pid: seatmap_os::Tid) {
    let tids = crate::check::tids(pid).into_iter().map(|tid| tid.to_string());
    let mut renice = std::process::Command::new("renice");
    assert!(renice.args(["-n", "0", "-p"]).args(tids).output().unwrap().status.success());
}

fn finds_too_many(checked: &Checked) -> bool {
    !checked.of_rule(TOO_MANY).is_empty()
}

#[test]
fn threads_that_yield_to_each_other_are_too_many() {
    let Some(checked) = checked_under_quota(threads(4, "yield"), finds_too_many) else { return };
    let found = checked.wrong(TOO_MANY);
    assert_contains(found["what"].text(), "wait for each other on the 0.2 CPUs of /");
    assert!(found["advice"].text().starts_with("start it with fewer threads, 1 at most"));
    assert_eq!(checked.findings()[0]["rule"], TOO_MANY, "fewer come before a higher quota");
}

/// The C library of OpenMP sleeps or spins at barriers, depending on its version.
#[test]
fn openmp_threads_at_barriers_get_their_variable() {
    let program = crate::run::programs::barriers().map(|program| {
        let mut command = std::process::Command::new(program);
        command.arg("8").stdin(std::process::Stdio::piped());
        Running::of(command)
    });
    let Some(checked) = checked_under_quota(program, finds_too_many) else { return };
    let advice = checked.of_rule(TOO_MANY)[0]["advice"].text();
    assert_contains(advice, "start it with OMP_NUM_THREADS=1");
}

#[test]
fn independent_threads_under_quota_are_not_too_many() {
    let is_stopped = |checked: &Checked| {
        let is_old = checked.document["processes"][0]["age_s"].number() > 2.0;
        is_old && checked.of_rule("quota").iter().any(|found| found["gravity"] == "wrong")
    };
    let Some(checked) = checked_under_quota(threads(4, "spin"), is_stopped) else { return };
    assert!(!finds_too_many(&checked), "{}", checked.document);
    assert_contains(checked.wrong("quota")["advice"].text(), "enough for 1 busy thread");
}

#[test]
fn idle_group_is_found_and_released() {
    let Some(group) = is_root().then(Group::idle).flatten() else { return };
    let (Some(program), Some(rival)) = (threads(1, "spin"), threads(1, "spin")) else { return };
    let place = Place::new();
    let pid = program.pid();
    let cpu = seatmap_os::affinity::current().unwrap()[0];
    [pid, rival.pid()].into_iter().for_each(|pid| bind_all(pid, &[cpu]));
    group.set("cgroup.procs", &pid.to_string()).unwrap();
    let checked = until_found(&place, pid, "quota");
    let what = checked.wrong("quota")["what"].text();
    assert!(what.contains(group.name()) && what.contains("is idle (cpu.idle)"), "{what}");
    assert_eq!(mended(&checked, "quota"), "release-group");
    until_mended(&place, pid, "quota");
    drop(program);
}

/// `None` if this user may create none. The outer group comes first, so it is dropped last: a group
/// with children cannot be removed.
fn nested() -> Option<(Group, Group)> {
    let outer = is_root().then(|| Group::with_time(20_000, 4_000)).flatten()?;
    if !outer.takes_threads() {
        outer.set("cgroup.subtree_control", "+cpu")?;
    }
    let inner = Group(outer.0.join("inner"));
    std::fs::create_dir(&inner.0).ok()?;
    Some((outer, inner))
}

/// The inner quota must be raised too, because it would be the next limit.
#[test]
fn quota_of_ancestor_is_found() {
    let Some((outer, inner)) = nested() else { return };
    inner.set_time(20_000, 3_000).unwrap();
    outer.set_time(20_000, 3_000).unwrap();
    let Some(program) = threads(2, "spin") else { return };
    let place = Place::new();
    let pid = program.pid();
    inner.set("cgroup.procs", &pid.to_string()).unwrap();
    let checked = until_found(&place, pid, "quota");
    mended(&checked, "quota");
    until_mended(&place, pid, "quota");
    for group in [&inner, &outer] {
        let text = std::fs::read_to_string(group.0.join(group.quota_file())).unwrap();
        let quota: i64 = text.split_whitespace().next().unwrap().parse().unwrap();
        assert!(quota >= 20_000, "{}: {quota}", group.0.display());
    }
    drop(program);
}

/// In version 1 each thread has its own group, but `/proc/PID/cgroup` shows that of the first.
#[test]
fn quota_of_one_thread_is_found() {
    let Some((outer, inner)) = nested() else { return };
    if !inner.takes_threads() {
        return seatmap_needs::skipped!("groups of version 2 take processes whole");
    }
    let Some(program) = threads(2, "spin") else { return };
    let place = Place::new();
    let pid = program.pid();
    let tid = *crate::check::tids(pid).last().unwrap();
    inner.set("tasks", &tid.to_string()).unwrap();
    let checked = until_found(&place, pid, "quota");
    let found = checked.wrong("quota");
    assert_eq!(found["tids"], serde_json::json!([tid]), "{found}");
    assert!(found["what"].text().contains(outer.name()), "{found}");
    drop(program);
}

/// `unshare -C` below the host's mount: the kernel reports paths relative to the namespace.
#[test]
fn quota_is_found_from_private_cgroup_namespace() {
    let Some((outer, inner)) = nested() else { return };
    let Some(program) = crate::run::programs::spin() else { return };
    let script =
        format!("echo $$ > {}/cgroup.procs; exec unshare -C {} 2 spin", inner.0.display(), program);
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &script]).stdin(std::process::Stdio::piped());
    let program = crate::run::running::Running::of(command);
    let place = Place::new();
    let pid = program.pid();
    let own = place.command([
        "check",
        "--json",
        "--strict",
        "--seconds",
        "0.2",
        "--pid",
        &pid.to_string(),
    ]);
    let inside = || {
        let mut command = std::process::Command::new("nsenter");
        command.args(["-C", "-t", &pid.to_string()]).arg(own.get_program()).args(own.get_args());
        Checked::of(command.output().unwrap())
    };
    let checked = until(inside, |checked| !checked.of_rule("quota").is_empty());
    let what = checked.wrong("quota")["what"].text();
    assert_contains(what, outer.name());
    mended(&checked, "quota");
    until(inside, |checked| checked.of_rule("quota").is_empty());
    drop(program);
}

#[track_caller]
pub(super) fn mended(checked: &Checked, rule: &str) -> String {
    let found = checked.wrong(rule);
    let remedy = found["remedy"].text();
    let output = std::process::Command::new("sh").args(["-c", remedy]).output().unwrap();
    assert!(output.status.success(), "{remedy}: {}", stderr(&output));
    found["remedy_kind"].text().to_owned()
}

/// Returns stdout and stderr together, and the exit code.
fn under_quota(group: &Group, place: &Place, arguments: impl Arguments) -> (String, Option<i32>) {
    let script = format!("echo $$ > {}/cgroup.procs; exec \"$0\" \"$@\" 2>&1", group.0.display());
    let mut shell = place.command_of("sh");
    shell.args(["-c", &script, crate::PROGRAM]).args(arguments.words());
    let output = shell.output().unwrap();
    (stdout(&output), output.status.code())
}

/// Under a quota a command that needs CPU time is as slow as the quota allows.
#[test]
fn bench_refuses_baseline_without_same_quota() {
    let Some((outer, inner)) = nested() else { return };
    let place = Place::new();
    let work = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
    let bench = "bench --runs 2 --warmup 0";
    place.stdout((bench, &["-o", "free.json", "--", "sh", "-c", work]));
    let compared = [
        "--baseline",
        "free.json",
        "--fail-above",
        "3%",
        "-o",
        "slow.json",
        "--",
        "sh",
        "-c",
        work,
    ];
    let (text, code) = under_quota(&inner, &place, (bench, compared));
    assert_eq!(code, Some(0), "{text}");
    let slow = place.read_json("slow.json");
    let differences = slow["baseline"]["differences"].to_string();
    assert_contains(&differences, "CPU quota: 0.2 CPUs in periods of 20 ms, not");
    assert!(slow["baseline"]["comparison"].is_null(), "{slow}");
    let throttled = slow["throttled"].text();
    assert!(
        throttled.contains(outer.name()) && throttled.contains("was used up in"),
        "{throttled}"
    );
}

#[test]
fn doctor_remedy_raises_quota() {
    let Some((outer, inner)) = nested() else { return };
    let place = Place::new();
    let quota = || {
        let (text, _) = under_quota(&inner, &place, ["doctor", "--json"]);
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        document["findings"]
            .elements()
            .iter()
            .find(|found| found["subject"] == "quota")
            .unwrap()
            .clone()
    };
    let found = quota();
    assert_eq!(found["level"], "FIX", "{found}");
    assert!(found["found"].text().contains(outer.name()), "{found}");
    let remedy = found["remedy"].text();
    assert!(
        std::process::Command::new("sh").args(["-c", remedy]).status().unwrap().success(),
        "{remedy}"
    );
    assert_eq!(quota()["level"], "OK");
}

#[test]
fn seat_forbidden_by_cpuset_is_found() {
    let [a, b] = two_cpus();
    if !are_two([a, b]) || !is_root() {
        return;
    }
    let Some(group) = Group::of_cpu(a) else {
        return seatmap_needs::skipped!("no cpuset can be made here");
    };
    let Some(program) = threads(1, "sleep") else { return };
    let place = Place::new();
    let pid = program.pid();
    group.set("cgroup.procs", &pid.to_string()).unwrap();
    plan(&place, &[a, b]);
    let checked = check_pid(&place, pid, "--expect plan.json");
    let what = checked.wrong("partial")["what"].text();
    assert_contains(what, &format!("CPU {b} is outside its control group"));
    checked.wrong("expect");
    bind_all(pid, &[a]);
    check_pid(&place, pid, "").assert_healthy();
    drop(program);
}

/// Freezes the group as `docker pause` does. The state letter of a frozen thread looks normal.
#[test]
fn frozen_group_is_found_and_thawed() {
    let mount = std::path::Path::new("/sys/fs/cgroup/freezer");
    let group = Group(mount.join(format!("seatmap-check-{}", std::process::id())));
    if !is_root() || std::fs::create_dir(&group.0).is_err() {
        return seatmap_needs::skipped!("no freezer of version 1 takes a group here");
    }
    let Some(program) = threads(1, "sleep") else { return };
    let place = Place::new();
    let pid = program.pid();
    group.set("cgroup.procs", &pid.to_string()).unwrap();
    check_pid(&place, pid, "").assert_healthy();
    group.set("freezer.state", "FROZEN").unwrap();
    let top = place.stdout(["top", "--once", "--interval", "0.1", "--pid", &pid.to_string()]);
    let checked = check_pid(&place, pid, "");
    let strict = check_pid(&place, pid, "--strict");
    let found = checked.of_rule("frozen");
    let remedy = found.first().and_then(|finding| finding["remedy"].as_str());
    let is_mended = remedy.is_some_and(|remedy| {
        std::process::Command::new("sh").args(["-c", remedy]).status().unwrap().success()
    });
    // A frozen program cannot be ended, so thaw it first.
    group.set("freezer.state", "THAWED").unwrap();
    assert!(is_mended && found[0]["tids"].elements().len() == 2, "{found:?}");
    assert_contains(&top, "i frozen: the control group");
    assert_eq!((checked.code, strict.code), (Some(0), Some(1)), "{}", strict.stderr);
    assert_eq!(check_pid(&place, pid, "").of_rule("frozen").len(), 0);
    drop(program);
}

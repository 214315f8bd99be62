//! Detectable mistakes are reported before the program starts: exit code 2, one line.

use super::programs::{self, are_two, list, on, two_cpus};
use crate::common::{Arguments, Place, assert_contains, files, stderr};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;

/// The refusal of a run. The program, which would create a file, must not start.
fn refusal(place: &Place, options: impl Arguments) -> String {
    let line = place.one_line_refusal(("run", options, "-- touch started"));
    assert!(!place.path("started").exists(), "it was started");
    line
}

#[test]
fn absent_cpus_are_refused() {
    let place = Place::new();
    place
        .file("plan.json", r#"{"format":"seatmap-plan/1","machine":"host","placement":[0,99999]}"#);
    for options in ["--cpus 0,99999", "--plan plan.json"] {
        let line = refusal(&place, options);
        assert!(
            line.starts_with("seatmap: CPU 99999 does not exist: this machine has CPU"),
            "{line}"
        );
    }
}

#[test]
fn plans_of_other_machines_are_refused() {
    let place = Place::new();
    let cpu = two_cpus()[0];
    place.file(
        "plan.json",
        format!(r#"{{"format":"seatmap-plan/1","machine":"rack 7","placement":[{cpu}]}}"#),
    );
    let line = refusal(&place, "--plan plan.json");
    assert!(
        line.starts_with("seatmap: plan.json: the plan is for 'rack 7', but this computer is '"),
        "{line}"
    );
    assert!(
        place.command("run -q --plan plan.json --any-machine true").status().unwrap().success()
    );
}

#[test]
fn cpus_outside_launcher_mask_are_refused() {
    let [a, b] = two_cpus();
    if !are_two([a, b]) {
        return;
    }
    let place = Place::new();
    let line = std::thread::scope(|scope| {
        scope
            .spawn(|| {
                seatmap_os::affinity::pin(&[a]).unwrap();
                refusal(&place, on(&[a, b]))
            })
            .join()
            .unwrap()
    });
    assert!(
        line.starts_with(&format!(
            "seatmap: CPU {b} is outside the CPUs that this process may use, {a}:"
        )),
        "{line}"
    );
}

#[test]
fn core_numbers_count_the_whole_machine() {
    let [a, b] = two_cpus();
    let topology = seatmap_machines::host::topology::whole().unwrap();
    let core = |cpu| topology.pu(cpu).and_then(|pu| pu.core);
    let [Some(own), Some(other)] = [core(b), core(a)] else { return };
    if own == other {
        return;
    }
    let place = Place::new();
    let (line, seated) = std::thread::scope(|scope| {
        let narrow = || {
            seatmap_os::affinity::pin(&[b]).unwrap();
            let line = refusal(&place, ["--cpus", &format!("core:{other}")]);
            (line, place.run(["run", "--strict", "--cpus", &format!("core:{own}"), "true"]))
        };
        scope.spawn(narrow).join().unwrap()
    });
    assert_contains(&line, "which this process may not use: its cpuset or a taskset");
    assert_contains(&line, &format!("it may use core {own}, "));
    assert!(seated.status.success(), "{seated:?}");
}

#[test]
fn invalid_plans_and_rules_are_refused() {
    let place = Place::new();
    let cpu = two_cpus()[0];
    place.file("broken.json", "{\"format\":\"seatmap-plan/1\",\n\"placement\":[0}");
    place.file(
        "names.json",
        format!(
            r#"{{"format":"seatmap-plan/1","machine":"host","placement":[{cpu}],"names":["a"]}}"#
        ),
    );
    let cpus = list(&[cpu, cpu]);
    let rule = |rule: &str| refusal(&place, ["--cpus", &cpus, "--match", rule]);
    insta::assert_snapshot!(rule("a=2"), @"seatmap: 'a=2' names a task that does not exist: there are tasks 0 to 1");
    insta::assert_snapshot!(rule("a=b"), @"seatmap: 'a=b' names a task that does not exist: there are tasks 0 to 1");
    insta::assert_snapshot!(rule("worker"), @"seatmap: 'worker' is not a rule; write NAME=TASKS or NAME=CPUS, such as 'worker*=1-3' or 'io*=cpus:14-15'");
    insta::assert_snapshot!(rule("=1"), @"seatmap: '=1' is not a rule; write NAME=TASKS or NAME=CPUS, such as 'worker*=1-3' or 'io*=cpus:14-15'");
    insta::assert_snapshot!(rule("tid:x=1"), @"seatmap: 'tid:x=1' has no thread or process ID; write tid:4711=0");
    insta::assert_snapshot!(rule("tid:17=1"), @"seatmap: tid: and pid: need --pid, because only running threads have numbers");
    assert!(
        rule("a=numa:4711")
            .starts_with("seatmap: the rule 'a=numa:4711': 'numa:4711': this machine has ")
    );
    assert!(rule("a=cpus:99999").starts_with("seatmap: CPU 99999 does not exist: "));
    let seats = |list: &str| refusal(&place, ["--cpus", list]);
    insta::assert_snapshot!(seats("caches:0"), @"seatmap: 'caches:0': expected CPUs such as 0-3,8, or a seat such as cpus:14-15, l3:0, numa:1, core:3, l3:*");
    insta::assert_snapshot!(seats("cpus:0-"), @"seatmap: 'cpus:0-': column 1: a CPU number is missing; write a list such as 0-3,8");
    insta::assert_snapshot!(refusal(&place, "--plan names.json --match w=b"), @"seatmap: 'w=b' names a task that does not exist: there is only task 0, called a");
    insta::assert_snapshot!(refusal(&place, format!("--cpus {cpus} --report nowhere/r.json")), @"seatmap: nowhere/r.json: its folder does not exist; create it first");
    let broken = refusal(&place, "--plan broken.json");
    assert!(broken.starts_with("seatmap: broken.json: line 2, column"), "{broken}");
    assert!(refusal(&place, "--plan nix.json").starts_with("seatmap: nix.json: "));
    assert_eq!(files(&place), ["broken.json", "names.json"]);
}

#[test]
fn unrunnable_programs_are_refused() {
    let place = Place::new();
    place.file("text", "no program");
    std::fs::create_dir(place.path("folder")).unwrap();
    let cpu = two_cpus()[0].to_string();
    let line = |program: &str| place.one_line_refusal(["run", "--cpus", &cpu, "--", program]);
    insta::assert_snapshot!(line("no-such-program"), @"seatmap: no-such-program: there is no such program");
    insta::assert_snapshot!(line("./nowhere/program"), @"seatmap: ./nowhere/program: there is no such program");
    insta::assert_snapshot!(line("./folder"), @"seatmap: ./folder: is a folder");
    insta::assert_snapshot!(line("./text"), @"seatmap: ./text: is not executable; 'chmod +x' makes it so");
    insta::assert_snapshot!(line(""), @"seatmap: no program to run; put it after --");
}

#[test]
fn incomplete_or_conflicting_options_are_refused() {
    let place = Place::new();
    let cpu = two_cpus()[0].to_string();
    for (arguments, words) in [
        ("-- true", "--match <NAME=SEATS>, --auto or --fit[=<N>]"),
        ("--cpus CPU", "needs --pid <PID>, COMMAND or --replay <FILE>"),
        ("--cpus CPU --pid 1 -- true", "cannot be used with"),
        ("--cpus CPU --plan p -- true", "cannot be used with"),
        ("--plan p --once -- true", "cannot be used with"),
        ("--cpus CPU --allow-unseated -- true", "cannot be used with"),
        ("--cpus CPU --start-at x --pid 1", "cannot be used with"),
        ("--cpus CPU --pid 0", "'0' is not a whole number from 1 to"),
    ] {
        let refusal = place.refusal(("run", arguments.replace("CPU", &cpu)));
        assert!(refusal.contains(words), "{arguments}: {refusal}");
    }
    let empty = place.refusal(["run", "--cpus", "", "--", "true"]);
    assert_contains(&empty, "expected CPUs such as");
}

#[test]
fn program_without_interpreter_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    place.file("script", "#!/no/such/interpreter\n");
    std::fs::set_permissions(place.path("script"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let cpu = two_cpus()[0].to_string();
    let line = place.one_line_refusal(format!("run --cpus {cpu} -- ./script"));
    assert_eq!(
        line,
        "seatmap: cannot execute ./script: it needs /no/such/interpreter, which does not exist"
    );
}

#[test]
fn traced_launcher_refuses_seats_in_order() {
    if !programs::installed("strace") {
        return;
    }
    let [a, b] = two_cpus();
    let place = Place::new();
    let run = format!("run --cpus {} -- touch started", list(&[a, b]));
    let mut strace = std::process::Command::new("strace");
    strace.args(["-f", "-o", "trace", crate::PROGRAM]).args(run.words());
    let output = strace.current_dir(place.folder()).output().unwrap();
    insta::assert_snapshot!(stderr(&output).trim_end(), @"seatmap: the kernel forbids ptrace here, which seats in order of creation need: strace or a debugger already traces this program; run it without");
    assert_eq!((output.status.code(), place.path("started").exists()), (Some(1), false));
}

/// The kernel denies `su` its root privileges if an ordinary user traces it.
#[test]
fn setuid_program_is_refused() {
    const NOBODY: u32 = 65534;
    let lent = std::fs::metadata("/usr/bin/su")
        .is_ok_and(|found| found.mode() & libc::S_ISUID != 0 && found.uid() == 0);
    let place = Place::new();
    let as_nobody = |arguments: &dyn Arguments| {
        let mut command = place.command(arguments);
        command.current_dir("/").uid(NOBODY).gid(NOBODY).output()
    };
    // SAFETY: geteuid cannot fail and touches nothing.
    let root = unsafe { libc::geteuid() } == 0;
    if !lent || !root || !as_nobody(&"--version").is_ok_and(|output| output.status.success()) {
        return seatmap_needs::skipped!(
            "root, its su and a binary that everybody may run are needed"
        );
    }
    let cpu = two_cpus()[0].to_string();
    let refused = as_nobody(&format!("run --cpus {cpu} -- su --version")).unwrap();
    insta::assert_snapshot!(stderr(&refused).trim_end(), @"seatmap: /usr/bin/su needs the rights of its file (set-user-ID, set-group-ID or file capabilities), which the kernel denies to traced programs; run seatmap as root, or run the program without it");
    assert_eq!(refused.status.code(), Some(2));
    let script = ["sh", "-c", "/usr/bin/su --version; true"];
    let later = as_nobody(&("run --quiet --cpus", &cpu, ("--", script))).unwrap();
    insta::assert_snapshot!(stderr(&later).trim_end(), @"seatmap: /usr/bin/su ran without the rights of its file (set-user-ID or set-group-ID), which the kernel denies to traced programs");
    assert_eq!(later.status.code(), Some(0));
}

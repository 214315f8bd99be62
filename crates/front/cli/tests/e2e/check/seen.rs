//! Facts hidden from a check: it must report them and never call them healthy.

use super::{Checked, bind_all, is_root, threads};
use crate::common::{Arguments, Json, Place, assert_contains, stderr, stdout};
use crate::run::programs::{installed, two_cpus};
use std::os::unix::process::CommandExt;
use std::process::Command;

const NOBODY: u32 = 65534;

fn as_nobody(place: &Place, options: impl Arguments) -> Command {
    let mut command = place.command(("check --json --seconds 0.2", options));
    command.current_dir("/").uid(NOBODY).gid(NOBODY);
    command
}

fn may_run(place: &Place) -> bool {
    let mut version = place.command("--version");
    version.current_dir("/").uid(NOBODY).gid(NOBODY);
    let may = is_root() && version.output().is_ok_and(|output| output.status.success());
    if !may {
        seatmap_needs::skipped!("a binary that everybody may run is needed");
    }
    may
}

#[test]
fn program_of_other_user_is_checked() {
    let place = Place::new();
    let Some(program) = threads(1, "sleep").filter(|_| may_run(&place)) else { return };
    let pid = program.pid().to_string();
    let checked = Checked::of(as_nobody(&place, ["--pid", &pid]).output().unwrap());
    checked.assert_healthy();
    assert_eq!(checked.document["verdict"], "not-all-seen");
    let unseen: Vec<_> =
        checked.document["unseen"].elements().iter().map(|one| &one["what"]).collect();
    assert!(unseen.contains(&&"environment".into()), "{unseen:?}");
    let strict = Checked::of(as_nobody(&place, ["--pid", &pid, "--strict"]).output().unwrap());
    assert_eq!(strict.code, Some(1));
    assert!(strict.stderr.contains("not everything could be seen"), "{}", strict.stderr);
    // All users can read masks, so faults in them are found.
    bind_all(program.pid(), &[two_cpus()[0]]);
    Checked::of(as_nobody(&place, ["--pid", &pid, "--rule", "one-per-cpu"]).output().unwrap())
        .wrong("one-per-cpu");
}

#[test]
fn hidepid_is_reported_as_unseen() {
    let place = Place::new();
    if !may_run(&place) || !installed("unshare") || !installed("setpriv") {
        return;
    }
    let script = "mount -t proc -o hidepid=2 proc /proc && \
                  exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$0\" \"$@\"";
    let hidden = |arguments: &str| namespaces(script, arguments).current_dir("/").output().unwrap();
    let one = hidden("check --json --seconds 0.1 --pid 1");
    let stderr = stderr(&one);
    if stderr.contains("mount") || stderr.contains("unshare") {
        return seatmap_needs::skipped!("{stderr}");
    }
    let checked = Checked::of(hidden("check --json --seconds 0.1 --all"));
    let unseen = checked.document["unseen"].elements();
    assert!(unseen.iter().any(|one| one["what"] == "threads"), "{unseen:?}");
    assert_eq!(checked.document["verdict"], "not-all-seen");
    let top = hidden("top --once");
    let unseen = "no program can be seen: /proc is mounted with hidepid=";
    assert_contains(&String::from_utf8(top.stderr).unwrap(), unseen);
}

#[test]
fn hidden_process_is_not_reported_missing() {
    let place = Place::new();
    if !may_run(&place) || !installed("unshare") || !installed("setpriv") {
        return;
    }
    let script = "mount -t proc -o hidepid=2 proc /proc && { sleep 60 & hidden=$!; \
                  exec setpriv --reuid 65534 --regid 65534 --clear-groups \
                  \"$0\" \"$@\" --pid $hidden; }";
    for verb in ["check", "run --cpus 0"] {
        let output = namespaces(script, verb).current_dir("/").output().unwrap();
        let stderr = stderr(&output);
        if stderr.contains("mount") && !stderr.contains("hidepid=2") || stderr.contains("unshare") {
            return seatmap_needs::skipped!("{stderr}");
        }
        assert!(
            stderr.contains("cannot be seen") && stderr.contains("hidepid="),
            "{verb:?}: {stderr}"
        );
        assert!(!output.status.success(), "{verb:?}");
    }
}

#[test]
fn trace_shows_where_threads_ran() {
    let place = Place::new();
    let Some(program) = threads(2, "spin") else { return };
    let seat = two_cpus()[0];
    bind_all(program.pid(), &[seat]);
    let pid = program.pid().to_string();
    let threads = |checked: &Checked| checked.document["threads"].elements().clone();
    let has_run = |checked: &Checked| {
        threads(checked).iter().filter(|thread| !thread["ran_on"].elements().is_empty()).count()
            >= 2
    };
    let checked = super::until(
        || Checked::of(place.run(format!("check --json --trace --seconds 0.2 --pid {pid}"))),
        has_run,
    );
    if let Some(unseen) =
        checked.document["unseen"].elements().iter().find(|one| one["what"] == "trace")
    {
        return seatmap_needs::skipped!("{unseen}");
    }
    for thread in threads(&checked) {
        let on: Vec<_> = thread["ran_on"].elements().iter().map(|on| on["cpu"].clone()).collect();
        assert!(thread["is_traced"] == true && on.iter().all(|cpu| *cpu == seat), "{thread}");
    }
    let table = place.run(format!("check --trace --seconds 0.2 --pid {pid}"));
    let table = stdout(&table);
    assert!(table.lines().any(|line| line.ends_with(&format!("CPU {seat} 100.0 %"))), "{table}");
}

#[test]
fn trace_without_privileges_is_reported_unseen() {
    let place = Place::new();
    let Some(program) = threads(1, "sleep").filter(|_| may_run(&place)) else { return };
    let pid = program.pid().to_string();
    let checked = Checked::of(as_nobody(&place, ["--trace", "--pid", &pid]).output().unwrap());
    let unseen = checked.document["unseen"].elements();
    assert!(unseen.iter().any(|one| one["what"] == "trace"), "{unseen:?}");
    assert!(
        checked.document["threads"].elements().iter().all(|thread| thread["is_traced"] == false)
    );
}

#[test]
fn program_ending_during_check_is_refused() {
    let mut child = Command::new("sleep").arg("0.4").spawn().unwrap();
    let pid = child.id().to_string();
    let reaped = std::thread::spawn(move || child.wait());
    let line = Place::new().one_line_refusal(format!("check --pid {pid} --seconds 3"));
    reaped.join().unwrap().unwrap();
    // On a busy computer the check may start too late.
    let is_told = line == "seatmap: the program ended while it was watched"
        || line.contains("there is no process");
    assert!(is_told, "{line}");
}

/// Verbs that read the files of processes, with command lines that end at once.
const SEEING: [&str; 8] = [
    "check --all --strict --seconds 0.1",
    "top --once",
    "run --cpus 0 -- true",
    "run --cpus 0 --pid 1 --force",
    "observe -- true",
    "bench --runs 2 -- true",
    "noise --seconds 0.1",
    "doctor",
];

const NAMESPACES: [&str; 5] = ["--mount", "--pid", "--fork", "sh", "-c"];

fn namespaces(script: &str, arguments: impl Arguments) -> Command {
    let mut command = Command::new("unshare");
    command.args(NAMESPACES).args([script, crate::PROGRAM]).args(arguments.words());
    command
}

fn in_namespace(place: &Place, script: &str, arguments: impl Arguments) -> (Option<i32>, String) {
    let output = namespaces(script, arguments).current_dir(place.folder()).output().unwrap();
    (output.status.code(), stderr(&output))
}

fn can_make_namespaces() -> bool {
    seatmap_needs::program("unshare", &[&NAMESPACES[..], &["mount -t tmpfs x /mnt"]].concat())
}

fn in_namespaces(place: &Place, script: &str) -> Option<Vec<(Option<i32>, String)>> {
    let script = format!("{script} exec \"$0\" \"$@\"");
    can_make_namespaces()
        .then(|| SEEING.iter().map(|arguments| in_namespace(place, &script, arguments)).collect())
}

#[test]
fn suggested_command_mounts_proc() {
    if !can_make_namespaces() {
        return;
    }
    let place = Place::new();
    let cpu = seatmap_os::affinity::current().unwrap()[0].to_string();
    let command_behind = |words: &str| {
        format!("remedy=$(\"$0\" \"$@\" 2>&1 | sed -n \"s/.*{words} '\\([^']*\\)'.*/\\1/p\") &&")
    };
    let absent = command_behind("run");
    let foreign = command_behind("start the namespace with");
    for script in [
        format!("mount -t tmpfs none /proc && {absent} sh -c \"$remedy\" && exec \"$0\" \"$@\""),
        format!("{foreign} test \"$remedy\" && exec $remedy \"$0\" \"$@\""),
    ] {
        let (code, stderr) = in_namespace(&place, &script, format!("run --cpus {cpu} -- true"));
        assert_eq!(code, Some(0), "{script}: {stderr}");
    }
}

#[test]
fn missing_proc_is_an_error() {
    let Some(said) = in_namespaces(&Place::new(), "mount -t tmpfs none /proc &&") else { return };
    for (arguments, (code, stderr)) in SEEING.iter().zip(said) {
        assert_eq!(code, Some(1), "{arguments:?}: {stderr}");
        assert!(stderr.contains("/proc is not mounted here"), "{arguments:?}: {stderr}");
    }
}

#[test]
fn proc_of_other_namespace_is_refused() {
    let Some(said) = in_namespaces(&Place::new(), "") else { return };
    for (arguments, (code, stderr)) in SEEING.iter().zip(said) {
        assert_eq!(code, Some(1), "{arguments:?}: {stderr}");
        assert!(stderr.contains("belongs to another PID namespace"), "{arguments:?}: {stderr}");
    }
}

#[test]
fn computer_wide_verbs_refuse_subset_proc() {
    let script = "mount -t proc -o subset=pid proc /proc &&";
    let Some(said) = in_namespaces(&Place::new(), script) else { return };
    let of_computer = SEEING
        .iter()
        .zip(said)
        .filter(|(arguments, _)| arguments.starts_with("noise") || **arguments == "doctor");
    for (arguments, (code, stderr)) in of_computer {
        assert_eq!(code, Some(1), "{arguments:?}: {stderr}");
        assert!(stderr.contains("/proc/stat is missing"), "{arguments:?}: {stderr}");
    }
}

#[test]
fn top_explains_empty_pid_namespace() {
    if !can_make_namespaces() {
        return;
    }
    let script = "mount -t proc proc /proc && exec \"$0\" \"$@\"";
    let (code, stderr) = in_namespace(&Place::new(), script, "top --once");
    let sentence = "seatmap: no program can be seen: this PID namespace has no other programs, \
                    and those outside are hidden";
    assert_eq!((code, stderr.trim_end()), (Some(2), sentence));
}

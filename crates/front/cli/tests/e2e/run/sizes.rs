//! Programs that adapt to the number of CPUs, wrappers, and short-lived helpers.

use super::programs::{self, are_two, list, mask_of, on, on_two_cpus, two_cpus};
use super::running::Running;
use super::{run, run_as_usual};
use crate::common::{Arguments, Json, Place, stderr};

/// OpenMP's runtime and x264 also read their own mask at their start.
#[test]
fn first_process_starts_with_all_cpus() {
    let Some((program, [a, b])) = on_two_cpus(programs::c()) else { return };
    let whole = format!("main {}", list_of([a, b]));
    let told = run_as_usual(&Place::new(), on(&[b, a]), [program, "2"], &[]);
    assert_eq!(told.lines(), [whole.as_str(), &format!("thread {a}"), &format!("thread {b}")]);
    let seats: Vec<_> =
        told.threads().iter().map(|thread| (&thread["task"], cpus(thread))).collect();
    assert_eq!(seats[1..], [(&1.into(), vec![a]), (&0.into(), vec![b])]);
    assert_eq!(seats[0].0, 0, "it has its place in the order");
    told.assert_verified();
    let strict = run(&Place::new(), on(&[b, a]), [program, "2"]);
    assert_eq!(strict.lines()[0], format!("main {b}"));
}

#[test]
fn first_process_is_pinned_after_creating_threads() {
    let Some((program, [a, b])) = on_two_cpus(programs::c()) else { return };
    let place = Place::new();
    let mut command =
        place.command(["run", "--quiet", "--cpus", &list(&[b, a]), "--", program, "stay"]);
    command.stdin(std::process::Stdio::piped());
    let running = Running::of(command);
    let main = running.program();
    while mask_of(&format!("/proc/{main}")) != b.to_string() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

fn cpus(thread: &serde_json::Value) -> Vec<u32> {
    thread["cpus"].elements().iter().map(|cpu| cpu.whole() as u32).collect()
}

fn list_of(mut cpus: [u32; 2]) -> String {
    cpus.sort_unstable();
    let [a, b] = cpus;
    if b == a + 1 { format!("{a}-{b}") } else { format!("{a},{b}") }
}

#[test]
fn java_and_node_see_all_cpus() {
    let [a, b] = two_cpus();
    if !are_two([a, b]) {
        return;
    }
    let listed = list(&[a, b]);
    if programs::installed("java") {
        let place = Place::new();
        place.file("P.java", "class P { public static void main(String[] a) { System.out.println(Runtime.getRuntime().availableProcessors()); } }");
        // Running the source would compile it first, which takes long.
        assert!(
            std::process::Command::new("javac")
                .arg("P.java")
                .current_dir(place.folder())
                .status()
                .unwrap()
                .success()
        );
        let told =
            run_as_usual(&place, ["--cpus", &listed], ["java", "-XX:+UseParallelGC", "P"], &[]);
        let collectors =
            told.threads().iter().filter(|thread| thread["name"].text().starts_with("GC Thread"));
        assert!(collectors.count() >= 1, "{}", told.report);
        let whole = vec![a.min(b), a.max(b)];
        assert!(
            told.threads().iter().all(|thread| cpus(thread) == whole),
            "any of them may ask: {}",
            told.report
        );
        assert!(told.stderr().contains("may run on all seats"), "{}", told.stderr());
        assert_eq!(told.lines(), ["2"]);
        java_in_seats_of_its_own_is_told_of(&place, &listed);
    }
    if programs::installed("node") {
        let script = "console.log(require('os').availableParallelism())";
        let told = run_as_usual(&Place::new(), ["--cpus", &listed], ["node", "-e", script], &[]);
        assert_eq!(told.lines(), ["2"]);
    }
}

/// The line appears even with `--quiet`: at the start if Seatmap started Java, otherwise at the
/// end.
fn java_in_seats_of_its_own_is_told_of(place: &Place, cpus: &str) {
    let stderr = |command: &dyn Arguments| {
        let output = place.run(("run --quiet --strict --cpus", cpus, ("--", command)));
        stderr(&output)
    };
    let line = |program: &str| {
        format!(
            "seatmap: {program} sizes itself by the CPUs of the current thread, and a seated thread has one; set \
             -XX:ActiveProcessorCount=2\n"
        )
    };
    assert_eq!(stderr(&"java P"), line("java"));
    let by_shell = stderr(&["sh", "-c", "java P; true"]);
    assert!(
        by_shell.starts_with("seatmap: /")
            && by_shell.ends_with(&line("java")["seatmap: ".len()..]),
        "{by_shell}"
    );
    assert_eq!(stderr(&"java -XX:ActiveProcessorCount=2 P"), "");
    assert_eq!(
        stderr(&["sh", "-c", "JDK_JAVA_OPTIONS=-XX:ActiveProcessorCount=2 java P 2>&1; true"]),
        ""
    );
}

#[test]
fn quiet_still_warns_of_overcommitted_seats() {
    let Some((program, [a, b])) = on_two_cpus(programs::c()) else { return };
    let place = Place::new();
    place.file(
        "plan.json",
        format!(r#"{{"format":"seatmap-plan/1","machine":"here","placement":[{a}]}}"#),
    );
    let stderr = |arguments: &dyn Arguments, variable: &str| {
        let output = place
            .command(("run --quiet", arguments))
            .env("OMP_NUM_THREADS", variable)
            .output()
            .unwrap();
        stderr(&output)
    };
    let short = stderr(&("--plan plan.json --any-machine --", [program, "1"]), "1");
    assert_eq!(short, "seatmap: 1 thread beyond the 1 task was left to the kernel's scheduler\n");
    let crowded = stderr(&("--cpus", list(&[a, b]), "-- true"), "8");
    assert!(
        crowded.starts_with("seatmap: OMP_NUM_THREADS=8 puts several threads on one CPU"),
        "{crowded}"
    );
    assert_eq!(stderr(&("--cpus", list(&[a, b]), "-- true"), "1"), "", "empty seats harm nobody");
}

#[test]
fn go_starts_one_thread_per_seat() {
    let Some((program, [a, b])) = on_two_cpus(programs::go()) else { return };
    let told = run_as_usual(&Place::new(), on(&[a, b]), [program], &[]);
    assert_eq!(told.lines().len(), 4);
    told.assert_verified();
    let whole = vec![a.min(b), a.max(b)];
    assert!(
        told.threads().iter().all(|thread| cpus(thread) == whole),
        "its work moves among threads"
    );
    assert_eq!(told.report["roaming"].elements().len(), 1);
}

/// A wrapper like pyenv's shims: a shell with a dozen helpers.
const SHIM: &str = "i=0; while [ $i -lt 12 ]; do x=$(/bin/echo $i); i=$((i+1)); done; exec \"$@\"";

#[test]
fn wrapper_helpers_take_no_seats() {
    let [a, b] = two_cpus();
    let Some(program) = programs::c() else { return };
    let wrapped = ["sh", "-c", SHIM, "shim", program, "2"];
    let told = run_as_usual(&Place::new(), on(&[b, a]), wrapped, &[]);
    let seated: Vec<_> = told.threads().iter().map(|thread| thread["name"].text()).collect();
    assert_eq!(
        seated.iter().filter(|name| **name == "threads-c-dynam").count(),
        3,
        "{}",
        told.report
    );
    // A slow helper may live long enough to be seated.
    let helpers = told.report["helpers"].whole() as usize;
    assert!(helpers >= 6 && helpers + seated.len() >= 12, "{}", told.report);
}

#[test]
fn start_at_skips_the_wrapper() {
    let [a, b] = two_cpus();
    let Some(program) = programs::c() else { return };
    let wrapped = ["sh", "-c", SHIM, "shim", program, "2"];
    let options = ["--cpus", &list(&[b, a]), "--start-at", "threads-c*"];
    let told = run(&Place::new(), options, wrapped);
    assert_eq!(
        told.lines(),
        [b, a, b]
            .iter()
            .zip(["main", "thread", "thread"])
            .map(|(cpu, who)| format!("{who} {cpu}"))
            .collect::<Vec<_>>()
    );
    assert_eq!((told.seats(), &told.report["helpers"]), ([b, a, b].map(Some).to_vec(), &0.into()));
    told.assert_verified();
    let never =
        run(&Place::new(), ["--cpus", &list(&[b, a]), "--start-at", "nothing"], [program, "2"]);
    assert_eq!(
        (never.threads().len(), never.lines()[0]),
        (0, format!("main {}", programs::own_mask()).as_str())
    );
}

#[test]
fn seat_may_be_several_cpus() {
    let Some((program, [a, b])) = on_two_cpus(programs::c()) else { return };
    let whole = list_of([a, b]);
    let set = format!("cpus:{a}+{b}");
    let told = run(&Place::new(), ["--cpus", &format!("{set},{b}")], [program, "2"]);
    let lines = [format!("main {whole}"), format!("thread {b}"), format!("thread {whole}")];
    assert_eq!(told.lines(), lines);
    told.assert_verified();
    let rules = ["--match", &format!("worker-*={set}"), "--cpus", &a.to_string()];
    let told = super::run_with(&Place::new(), rules, [program, "rename"], &[("WANTED", &whole)]);
    assert_eq!(told.lines()[1..], [0, 1, 2].map(|n| format!("worker-{n} {whole}")));
    told.assert_verified();
}

#[test]
fn plan_seats_may_be_several_cpus() {
    let Some((program, [a, b])) = on_two_cpus(programs::c()) else { return };
    let place = Place::new();
    let first = a.min(b);
    let second = a.max(b);
    place.file(
        "plan.json",
        format!(
            r#"{{"format":"seatmap-plan/1","machine":"here","placement":[{a},{b}],"seats":[[{a}],[{first},{second}]]}}"#
        ),
    );
    let told = run(&place, "--plan plan.json --any-machine", [program, "1"]);
    assert_eq!(told.lines(), [format!("main {a}"), format!("thread {}", list_of([a, b]))]);
    told.assert_verified();
}

#[test]
fn mismatched_runtime_variables_are_reported() {
    let [a, b] = two_cpus();
    if !are_two([a, b]) {
        return;
    }
    let variables = [("OMP_NUM_THREADS", "8"), ("OMP_PROC_BIND", "close")];
    let told = run_as_usual(&Place::new(), on(&[a, b]), ["true"], &variables);
    let lines: Vec<&str> = told.stderr().lines().collect();
    insta::assert_snapshot!(lines[..2].join("\n"), @"
    seatmap: OMP_NUM_THREADS=8 puts several threads on one CPU: the seats have 2 CPUs; set OMP_NUM_THREADS=2 for one thread per CPU
    seatmap: OMP_PROC_BIND=close makes the program bind its threads itself, after Seatmap; unset OMP_PROC_BIND
    ");
}

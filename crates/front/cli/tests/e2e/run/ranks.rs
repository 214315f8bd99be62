//! Several concurrent starts of one command: each gets its own seats or is refused.

use super::programs::{are_two, installed, list, two_cpus};
use crate::common::{Arguments, Place, assert_contains, stderr};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};

const ALLOWED: [&str; 3] = ["sed", "-n", "s/^Cpus_allowed_list:.//p"];

fn planned() -> Option<(Place, [u32; 2])> {
    let cpus = Some(two_cpus()).filter(|cpus| are_two(*cpus))?;
    let place = Place::new();
    place.file(
        "plan.json",
        format!(r#"{{"format":"seatmap-plan/1","machine":"host","placement":{cpus:?}}}"#),
    );
    Some((place, cpus))
}

fn start(place: &Place, variables: &str, options: impl Arguments) -> Output {
    let mut command = place.command("run --strict");
    command.args(options.words()).arg("--").args(ALLOWED).arg("/proc/self/status");
    command.envs(variables.split(' ').filter_map(|word| word.split_once('=')));
    command.output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
fn local_rank_selects_the_seat() {
    let Some((place, cpus)) = planned() else { return };
    let both = list(&cpus);
    let launchers = [
        "OMPI_COMM_WORLD_LOCAL_RANK=RANK OMPI_COMM_WORLD_LOCAL_SIZE=2",
        "MPI_LOCALRANKID=RANK MPI_LOCALNRANKS=2",
        "SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_LOCALID=RANK SLURM_STEP_TASKS_PER_NODE=2",
        "LOCAL_RANK=RANK LOCAL_WORLD_SIZE=2",
        "SEATMAP_TASK=RANK",
    ];
    for launcher in launchers {
        for (rank, cpu) in cpus.iter().enumerate() {
            let variables = launcher
                .replace("RANK ", &format!("{rank} "))
                .replace("=RANK", &format!("={rank}"));
            for options in ["--plan plan.json", &format!("--cpus {both}")] {
                let output = start(&place, &variables, options);
                assert_eq!(stdout(&output), cpu.to_string(), "{variables}: {}", stderr(&output));
                assert!(
                    stderr(&output).contains(&format!("takes task {rank} of 2")),
                    "{}",
                    stderr(&output)
                );
            }
        }
    }
}

#[test]
fn starts_sharing_a_seat_are_refused() {
    let Some((place, cpus)) = planned() else { return };
    let ranks = "OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_LOCAL_SIZE=2";
    let first = cpus[0].to_string();
    let one = format!("--cpus {first}");
    let rule = format!("--match sed=cpus:{first}");
    for (variables, options, words) in [
        (ranks, &one, ["seatmap: 2 ranks start on this node", "1 seat"]),
        (ranks, &rule, ["and each would take the CPUs of a rule", ""]),
        ("PARALLEL_JOBSLOT=2", &one, ["2 or more workers", ""]),
    ] {
        let output = start(&place, variables, options);
        let line = stderr(&output);
        assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{line}");
        assert!(words.iter().all(|words| line.contains(words)), "{variables} {options}: {line}");
    }
    let whole = start(&place, &format!("SEATMAP_TASK=all {ranks}"), one);
    assert_eq!(stdout(&whole), first, "{}", stderr(&whole));
}

/// Runs a script that starts Seatmap several times, distinguished by the environment.
fn by_shell(place: &Place, line: &str) -> Vec<String> {
    let seatmap = env!("CARGO_BIN_EXE_seatmap");
    let mut shell = Command::new("sh");
    shell.args(["-c", &line.replace("SEATMAP", seatmap)]).current_dir(place.folder());
    shell.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    shell.env("TMPDIR", place.folder());
    let output = shell.output().unwrap();
    let mut lines: Vec<String> =
        String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
    lines.extend(output.stdout.is_empty().then(|| stderr(&output)));
    lines.sort();
    lines
}

fn sorted(cpus: [u32; 2]) -> Vec<String> {
    let mut texts: Vec<String> = cpus.iter().map(u32::to_string).collect();
    texts.sort();
    texts
}

#[test]
fn xargs_workers_get_separate_seats() {
    let Some((place, cpus)) = planned() else { return };
    if !installed("xargs") {
        return;
    }
    let wait = "touch seen.$1; while ! test -f seen.0 -a -f seen.1; do sleep 0.01; done; sed -n s/^Cpus_allowed_list:.//p /proc/self/status";
    place.file("wait", wait);
    let worker = format!("SEATMAP run -q --cpus {} -- sh wait", list(&cpus));
    let line = format!("printf '0\\n1\\n' | xargs -n1 -P2 --process-slot-var=SLOT {worker}");
    assert_eq!(by_shell(&place, &line), sorted(cpus));
    let told = by_shell(&place, &format!("printf '0\\n1\\n' | xargs -n1 -P2 {worker}")).concat();
    assert_contains(&told, "xargs runs 2 commands at a time");
    assert_contains(&told, "add --process-slot-var=SLOT to xargs");
}

#[test]
fn mpirun_ranks_get_separate_seats() {
    let Some((place, cpus)) = planned() else { return };
    if !installed("mpirun") {
        return;
    }
    for seats in ["--plan plan.json".to_owned(), format!("--cpus {}", list(&cpus))] {
        let program = "sed -n s/^Cpus_allowed_list:.//p /proc/self/status";
        let mpirun = format!(
            "mpirun --oversubscribe --bind-to none -n 2 SEATMAP run -q --strict {seats} -- {program}"
        );
        assert_eq!(by_shell(&place, &mpirun), sorted(cpus));
    }
}

/// Verbs that choose among all CPUs, with short command lines.
const SOLE: [&str; 4] = [
    "run --auto -- true",
    "bench --runs 1 --warmup 0 -- true",
    "tune -- true",
    "noise --seconds 0.05",
];

#[test]
fn several_ranks_may_not_use_all_cpus() {
    let place = Place::new();
    let ranks = [
        "OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_LOCAL_SIZE=2",
        "MPI_LOCALRANKID=0 MPI_LOCALNRANKS=2",
    ];
    let of = |variables: &str, arguments: &str| {
        let mut command = place.command(arguments);
        command.envs(variables.split(' ').filter_map(|word| word.split_once('=')));
        command.output().unwrap()
    };
    for (variables, arguments) in
        ranks.iter().flat_map(|ranks| SOLE.map(|arguments| (ranks, arguments)))
    {
        let output = of(variables, arguments);
        assert!(
            output.status.code() == Some(2) && output.stdout.is_empty(),
            "{arguments:?}: {}",
            stderr(&output)
        );
        assert!(
            stderr(&output).starts_with("seatmap: 2 ranks start on this node ("),
            "{}",
            stderr(&output)
        );
        assert!(stderr(&output).contains("or set SEATMAP_TASK=all"), "{}", stderr(&output));
    }
    let alone = of(&format!("SEATMAP_TASK=all {}", ranks[0]), SOLE[1]);
    assert!(alone.status.success(), "{}", stderr(&alone));
    assert!(stderr(&of("SEATMAP_TASK=1", SOLE[1])).contains("there is no task 1 here"));
}

/// A script that prints its CPUs and waits. It uses only built-ins, because with `--strict` a child
/// process would take a seat.
const SAYS_ITS_SEAT: &str = "while read -r key value; do
     case $key in Cpus_allowed_list:) echo \"$value\";; esac
 done < /proc/$$/status; read -r word";

/// Seat leases belong to the whole computer, so these tests take turns.
static LEASES: Mutex<()> = Mutex::new(());

#[test]
fn concurrent_starts_use_free_seats_first() {
    let cpus = two_cpus();
    if !are_two(cpus) {
        return;
    }
    let _turn = LEASES.lock().unwrap_or_else(PoisonError::into_inner);
    let place = Place::new();
    let [first, second] = [cpus[0].min(cpus[1]), cpus[0].max(cpus[1])];
    let range = format!("{first}-{second}:{}", second - first);
    let program = ["run", "-q", "--strict", "--cpus", &range, "--", "sh", "-c", SAYS_ITS_SEAT];
    for round in 0..20 {
        let mut runs: Vec<Child> = (0..8)
            .map(|_| {
                let mut command = place.command(program);
                command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
                command.spawn().unwrap()
            })
            .collect();
        let seats: Vec<String> = runs.iter_mut().map(first_line).collect();
        let outputs = runs.into_iter().map(|run| run.wait_with_output().unwrap());
        let notes: Vec<String> = outputs.map(|output| stderr(&output)).collect();
        let on_first = seats.iter().filter(|seat| **seat == first.to_string()).count();
        // Other tests may use these seats too.
        assert!((2..=6).contains(&on_first), "round {round}: {seats:?}, {notes:?}");
    }
}

fn first_line(run: &mut Child) -> String {
    let mut line = String::new();
    BufReader::new(run.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    line.trim().to_owned()
}

#[test]
fn listed_seats_keep_order_despite_other_run() {
    let cpus = two_cpus();
    if !are_two(cpus) {
        return;
    }
    let _turn = LEASES.lock().unwrap_or_else(PoisonError::into_inner);
    let place = Place::new();
    let [first, second] = [cpus[0].min(cpus[1]), cpus[0].max(cpus[1])];
    let range = format!("{first}-{second}:{}", second - first);
    let in_list = list(&[first, second]);
    let run = |cpus: &str| {
        let mut command = place.command(format!("run --strict --cpus {cpus}"));
        command.args(["--", "sh", "-c", SAYS_ITS_SEAT]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    // These runs make CPU `first` the fuller one despite other tests.
    let mut before: Vec<Child> = (0..8).map(|_| run(&first.to_string())).collect();
    before.iter_mut().for_each(|run| assert_eq!(first_line(run), first.to_string()));
    let mut ordered = run(&in_list);
    assert_eq!(first_line(&mut ordered), first.to_string());
    let mut chosen = run(&range);
    assert_eq!(first_line(&mut chosen), second.to_string());
    for run in before.into_iter().chain([ordered, chosen]) {
        let output = run.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1), "`read` found no word: {}", stderr(&output));
    }
}

//! `seatmap observe`, on real programs with known patterns. No test depends on measured times.

use crate::common::{Arguments, Json, Place, assert_contains, can_observe, stderr, stdout};
use crate::run::programs::installed;
use crate::trace;
use serde_json::Value;
use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

/// The schedule of a ring of 8 tasks, and the program. `None` if it cannot be built or observed
/// here.
fn ring(rounds: u32) -> Option<Place> {
    let place = Place::new();
    if !installed("gcc") {
        seatmap_needs::skipped!("no gcc");
        return None;
    }
    if !can_observe() {
        return None;
    }
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../bench/observe/threads.c");
    let program = place.path("ring");
    let built = Command::new("gcc")
        .args(["-O1", "-pthread", "-o"])
        .arg(&program)
        .arg(source)
        .status()
        .unwrap();
    assert!(built.success());
    let lines: String =
        (0..8).map(|task| format!("+{} -{}\n", (task + 1) % 8, (task + 7) % 8)).collect();
    place.file("schedule", format!("8 {rounds} 100\n{lines}"));
    Some(place)
}

pub fn names(pattern: &Value) -> Vec<&str> {
    pattern["names"].elements().iter().map(|name| name.text()).collect()
}

pub fn messages(pattern: &Value) -> BTreeMap<(String, String), f64> {
    let names = names(pattern);
    let name = |edge: &Value, end: &str| names[edge[end].whole() as usize].to_owned();
    let edges = pattern["edges"].elements().iter();
    edges.map(|edge| ((name(edge, "from"), name(edge, "to")), edge["messages"].number())).collect()
}

/// The share of messages between workers that ring neighbours exchange.
pub fn share_of_neighbours(pattern: &Value) -> f64 {
    let number = |name: &str| name.strip_prefix('w').and_then(|number| number.parse::<i32>().ok());
    let ends = |(from, to): &(String, String)| Some((number(from)?, number(to)?));
    let of_workers: Vec<_> = messages(pattern)
        .into_iter()
        .filter_map(|(pair, count)| Some((ends(&pair)?, count)))
        .collect();
    let sum = |wanted: &dyn Fn(i32) -> bool| {
        of_workers
            .iter()
            .filter(|((from, to), _)| wanted((to - from).rem_euclid(8)))
            .map(|(_, count)| count)
            .sum::<f64>()
    };
    sum(&|step| [1, 7].contains(&step)) / sum(&|_| true)
}

pub fn kinds(pattern: &Value) -> BTreeMap<String, f64> {
    let mut kinds = BTreeMap::new();
    for row in pattern["observation"]["kinds"].elements() {
        *kinds.entry(row["kind"].text().to_owned()).or_insert(0.0) += row["messages"].number();
    }
    kinds
}

fn largest(kinds: &BTreeMap<String, f64>) -> &str {
    kinds.iter().max_by(|a, b| a.1.total_cmp(b.1)).unwrap().0
}

#[test]
fn ring_is_recognised_with_wait_kinds() {
    let Some(place) = ring(2_000) else { return };
    for (by, kind) in [("pipe", "pipe"), ("futex", "futex")] {
        let pattern =
            place.json(format!("observe --method wakeups --json -- ./ring schedule {by}"));
        let workers = (0..8).map(|task| format!("w{task}"));
        let expected: Vec<String> = std::iter::once("ring".to_owned()).chain(workers).collect();
        assert_eq!(names(&pattern), expected, "{by}");
        assert!(share_of_neighbours(&pattern) > 0.99, "{by}: {:?}", messages(&pattern));
        let is_ebpf = pattern["observation"]["means"].text().starts_with("eBPF");
        assert!(!is_ebpf || largest(&kinds(&pattern)) == kind, "{by}: {:?}", kinds(&pattern));
        let paths = pattern["observation"]["paths"].elements();
        assert_eq!((&paths[0], &paths[1], &paths[8]), (&"0".into(), &"0.0".into(), &"0.7".into()));
    }
}

/// Only `bench/observe/run` builds them, which does not run daily.
#[test]
fn bench_programs_can_be_built() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../bench/observe");
    let place = Place::new();
    let compilers = [
        ("gcc", "-pthread -o c", "threads.c"),
        ("gcc", "-fopenmp -o openmp", "threads.c"),
        ("g++", "-pthread -o cpp", "threads.cpp"),
        ("rustc", "--edition=2024 -o rust", "threads.rs"),
        ("javac", "-d .", "Threads.java"),
    ];
    for (compiler, options, source) in compilers {
        if !installed(compiler) {
            seatmap_needs::skipped!("no {compiler}");
            continue;
        }
        let mut command = Command::new(compiler);
        command.args(options.words()).arg(format!("{folder}/{source}")).current_dir(place.folder());
        let output = command.output().unwrap();
        let said = stderr(&output);
        assert!(output.status.success(), "{compiler} {source}: {said}");
    }
}

#[test]
fn pipe_bytes_are_counted_exactly() {
    let Some(place) = ring(2_000) else { return };
    for method in ["sockets", "auto"] {
        let arguments = [
            "observe", "--method", method, "--means", "ebpf", "--json", "--", "./ring", "schedule",
            "pipe",
        ];
        let output = place.run(arguments);
        if !output.status.success() {
            return seatmap_needs::skipped!("{}", stderr(&output));
        }
        let pattern: Value = serde_json::from_slice(&output.stdout).unwrap();
        let by_pipe: Vec<_> =
            pattern["edges"].elements().iter().filter(|edge| edge["messages"] == 2_000.0).collect();
        assert_eq!(by_pipe.len(), 8, "{method}: {}", pattern["edges"]);
        assert!(by_pipe.iter().all(|edge| edge["bytes"] == 2_000.0 * 512.0), "{by_pipe:?}");
    }
}

#[test]
fn perf_sees_the_same_ring() {
    let Some(place) = ring(2_000) else { return };
    let arguments = "observe --method wakeups --means perf --json -- ./ring schedule futex";
    let output = place.run(arguments);
    if !output.status.success() {
        return seatmap_needs::skipped!("{}", stderr(&output));
    }
    let pattern: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(names(&pattern).len(), 9);
    assert!(share_of_neighbours(&pattern) > 0.99, "{:?}", messages(&pattern));
}

#[test]
fn observed_pattern_can_be_placed() {
    let Some(place) = ring(500) else { return };
    // An earlier observation had more phases.
    let earlier = place.folder().join("phases/phase-1.pattern.json");
    std::fs::create_dir(place.folder().join("phases")).unwrap();
    std::fs::write(&earlier, "earlier").unwrap();
    let output = place.run([
        "observe",
        "-o",
        "a ring.json",
        "--phases",
        "phases",
        "--",
        "./ring",
        "schedule",
        "pipe",
    ]);
    let stderr = stderr(&output);
    assert!(output.status.success() && output.stdout.is_empty(), "{stderr}");
    let next = stderr.lines().find_map(|line| line.strip_prefix("next: seatmap ")).unwrap();
    let line = format!("exec \"$0\" {next} --on graviton3 --kicks 3 --json");
    let placed = place.command_of("sh").args(["-c", &line, crate::PROGRAM]).output().unwrap();
    let plan: Value = serde_json::from_slice(&placed.stdout).unwrap();
    assert_eq!(plan["format"], "seatmap-plan/1");
    assert!(std::fs::read(&earlier).map_or(true, |now| now != b"earlier"));
    let shown = place.json("pattern show phases/phase-0.pattern.json --json");
    assert_eq!(
        shown["pattern"]["name"].as_str().or(shown["name"].as_str()),
        Some("ring, phase 0"),
        "{shown}"
    );
}

struct Living(Child);

impl Living {
    fn new(mut command: Command) -> Self {
        Living(
            command
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap(),
        )
    }

    fn has_ended(&mut self) -> bool {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if self.0.try_wait().unwrap().is_some() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        false
    }

    fn signal(&self, signal: i32) {
        // SAFETY: kill touches no memory.
        unsafe { libc::kill(self.0.id() as i32, signal) };
    }
}

impl Drop for Living {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn endless(place: &Place) -> Living {
    let mut command = Command::new(place.path("ring"));
    command.args(["schedule", "pipe"]).current_dir(place.folder());
    let living = Living::new(command);
    let until = Instant::now() + PATIENCE;
    while seatmap_os::task::threads(living.0.id() as i32).unwrap().len() < 9
        && Instant::now() < until
    {
        std::thread::sleep(Duration::from_millis(5));
    }
    living
}

#[test]
fn running_program_is_observed_and_continues() {
    let Some(place) = ring(1_000_000_000) else { return };
    let mut living = endless(&place);
    let pid = living.0.id().to_string();
    let pattern = place.json(format!("observe -p {pid} --seconds 0.5 --json --name mine"));
    assert_eq!((pattern["name"].as_str(), names(&pattern).len()), (Some("mine"), 9));
    assert!(share_of_neighbours(&pattern) > 0.99, "{:?}", messages(&pattern));
    assert!(living.0.try_wait().unwrap().is_none());
}

/// Two communicating children of a shell, in their own process group.
pub(crate) struct Pipeline(Child);

impl Pipeline {
    pub(crate) fn start() -> Self {
        let script = "(while :; do echo x; sleep 0.01; done) | (while read -r line; do :; done)";
        let mut shell = Command::new("sh");
        Pipeline(shell.args(["-c", script]).process_group(0).spawn().unwrap())
    }

    pub(crate) fn pid(&self) -> String {
        self.0.id().to_string()
    }

    pub(crate) fn children(&self) -> [String; 2] {
        let pid = self.0.id();
        let until = Instant::now() + PATIENCE;
        loop {
            let text = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
            let pids: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            if let Ok(two) = <[String; 2]>::try_from(pids) {
                return two;
            }
            assert!(Instant::now() < until, "{text}");
        }
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        // SAFETY: the group's leader, this test's own shell, has not been waited for.
        unsafe { libc::kill(-(self.0.id() as i32), libc::SIGKILL) };
        let _ = self.0.wait();
    }
}

/// Short-lived clients exit before Seatmap reads the kernel's counts.
#[test]
fn ended_clients_keep_their_names() {
    let place = Place::new();
    if !can_observe() {
        return;
    }
    let pipe = place.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let ends = std::fs::File::options().read(true).write(true).open(&pipe).unwrap();
    let mut server = Command::new("sh");
    server.args(["-c", "while read -r line; do :; done"]).stdin(ends.try_clone().unwrap());
    let mut server = server.spawn().unwrap();
    let pid = server.id().to_string();
    let mut observer = place.command(format!("observe -p {pid} --seconds 1.5 --json"));
    let mut observer = observer.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    while observer.try_wait().unwrap().is_none() {
        let client = Command::new("/bin/echo").arg("x").stdout(ends.try_clone().unwrap()).status();
        assert!(client.unwrap().success());
        std::thread::sleep(Duration::from_millis(20));
    }
    server.kill().and_then(|()| server.wait()).unwrap();
    let output = observer.wait_with_output().unwrap();
    let pattern: Value = serde_json::from_slice(&output.stdout).unwrap();
    let outsiders = pattern["observation"]["outsiders"].elements();
    let named = outsiders.iter().filter(|one| one["name"] == "echo").count();
    assert!(named > 5, "{outsiders:?}");
    assert!(outsiders.iter().all(|one| one["name"] != ""), "{outsiders:?}");
}

#[test]
fn existing_children_are_included_and_outsiders_named() {
    let place = Place::new();
    if !can_observe() {
        return;
    }
    let pipeline = Pipeline::start();
    let children = pipeline.children();
    let pid = pipeline.pid();
    let whole = place.json(format!("observe -p {pid} --seconds 0.5 --json"));
    let first = names(&whole).into_iter().take(3).collect::<Vec<_>>();
    assert_eq!(first, ["sh#0", "sh#1", "sh#2"]);
    let talk = |of: [u64; 2]| {
        let edges = whole["edges"].elements();
        edges.iter().any(|edge| [&edge["from"], &edge["to"]] == of.map(Value::from).each_ref())
    };
    assert!(talk([1, 2]) || talk([2, 1]));
    // An exiting child wakes its parent, and belongs to the program.
    let outsiders = whole["observation"]["outsiders"].as_array().cloned().unwrap_or_default();
    // One process may have exited while the observation began.
    assert!(outsiders.iter().filter(|one| one["name"] == "").count() < 2, "{outsiders:?}");
    // Which of the two reads is unknown; the other one wakes it.
    let [a, b] = &children;
    let is_advised = |[alone, other]: [&String; 2]| {
        let table = place.stdout(["observe", "-p", alone, "--seconds", "0.5"]);
        table.contains(&format!("sh ({other}); add -p {other} to observe sh too"))
            && !table.contains("next:")
    };
    assert!(is_advised([a, b]) || is_advised([b, a]));
}

#[test]
fn exit_of_program_ends_observation_with_results() {
    let Some(place) = ring(1_000_000_000) else { return };
    let living = endless(&place);
    let pid = living.0.id().to_string();
    let observer = place.command(format!("observe -p {pid} --seconds 1h -o seen.json"));
    let mut observer = Living::new(observer);
    std::thread::sleep(Duration::from_millis(300));
    drop(living);
    assert!(observer.has_ended());
    let code = observer.0.wait().unwrap().code();
    assert!(code == Some(0) && !place.read("seen.json").is_empty() || code == Some(2), "{code:?}");
}

#[test]
fn ctrl_c_keeps_observation() {
    let Some(place) = ring(1_000_000_000) else { return };
    let living = endless(&place);
    let pid = living.0.id().to_string();
    let mut observer =
        Living::new(place.command(format!("observe -p {pid} --seconds 1h -o seen.json")));
    // A signal before the handler is installed ends Seatmap without a file.
    std::thread::sleep(Duration::from_millis(500));
    observer.signal(libc::SIGINT);
    assert!(observer.has_ended());
    let status = observer.0.wait().unwrap();
    if status.code() == Some(0) {
        let pattern = place.read_json("seen.json");
        assert_eq!(names(&pattern).len(), 9);
    }
}

#[test]
fn command_keeps_its_exit_code_and_output() {
    let Some(place) = ring(1) else { return };
    assert_eq!(place.run(["observe", "--", "sh", "-c", "exit 7"]).status.code(), Some(7));
    let output = place.run(["observe", "--json", "--", "echo", "from the command"]);
    assert!(serde_json::from_slice::<Value>(&output.stdout).is_ok());
    assert!(stderr(&output).contains("from the command"));
    let full = place.run("observe -o /dev/full -- true");
    let stderr = stderr(&full);
    assert!(
        full.status.code() == Some(1) && stderr.contains("1 task") && stderr.contains("/dev/full"),
        "{stderr}"
    );
}

#[test]
fn redis_exchanges_messages_with_its_clients() {
    if !["redis-server", "redis-benchmark"].into_iter().all(installed) {
        return seatmap_needs::skipped!("no redis");
    }
    if !can_observe() {
        return;
    }
    let place = Place::new();
    let socket = place.path("redis.sock").display().to_string();
    let script = format!(
        "redis-server --port 0 --unixsocket {socket} --save '' >/dev/null & \
         until redis-cli -s {socket} ping >/dev/null 2>&1; do sleep 0.05; done; \
         redis-benchmark -s {socket} -q -t set -n 5000 -c 4 >/dev/null; kill $!; wait"
    );
    let pattern = place.json(["observe", "--json", "--", "sh", "-c", &script]);
    let between = |from: &str, to: &str| {
        let is_pair = |(a, b): &(String, String)| a.starts_with(from) && b.starts_with(to);
        messages(&pattern)
            .iter()
            .filter(|(pair, _)| is_pair(pair))
            .map(|(_, count)| count)
            .sum::<f64>()
    };
    let both =
        between("redis-server", "redis-benchmark") + between("redis-benchmark", "redis-server");
    assert!(both > 100.0, "{:?}", messages(&pattern));
}

#[test]
fn traced_program_reports_shared_lines() {
    let (place, Some(folder)) = (Place::new(), trace::folder()) else { return };
    if !installed("gcc") {
        return seatmap_needs::skipped!("no gcc");
    }
    let source = trace::source("sharing.c");
    let archive = folder.join("libseatmap_trace.a").display().to_string();
    let line = format!(
        "gcc -O1 -g -pthread -fsanitize=thread -c {source} -o sharing.o && \
         gcc -pthread sharing.o {archive} -ldl -o sharing"
    );
    assert!(
        Command::new("sh")
            .args(["-c", &line])
            .current_dir(place.folder())
            .status()
            .unwrap()
            .success()
    );
    let output = place.run("observe --method tsan -o pattern.json -- ./sharing");
    let said = stderr(&output);
    assert_eq!((output.status.code(), &*output.stdout), (Some(0), &b"200\n"[..]), "{said}");
    assert!(said.contains("false sharing: ") && said.contains("counters+8"), "{said}");
    let pattern = place.read_json("pattern.json");
    assert!(messages(&pattern).values().sum::<f64>() >= 100.0, "{pattern}");
    let plain = place.run("observe --method tsan -- true");
    assert!(plain.status.code() == Some(1) && stderr(&plain).contains("-fsanitize=thread"));
}

/// A job in which rank 0 sends rank 1 ten messages, and the other ranks exchange halves with their
/// neighbours.
const HALO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../run/observe/tests/programs/halo.c");

/// The command line of a job with one of Debian's MPIs. `None` if that MPI is missing.
fn job(place: &Place, mpi: &str, compiler: &str, source: &str) -> Option<Vec<String>> {
    let launcher = format!("mpirun.{mpi}");
    let compiler = format!("{compiler}.{mpi}");
    if !seatmap_needs::tool(&launcher) {
        return None;
    }
    let mut build = Command::new(&compiler);
    build.args([source, "-o", "job"]).current_dir(place.folder());
    if !build.output().is_ok_and(|output| output.status.success()) {
        seatmap_needs::skipped!("'{compiler}' cannot build {source}");
        return None;
    }
    Some(launch(mpi).into_iter().chain(["./job"]).map(str::to_owned).collect())
}

fn launch(mpi: &str) -> Vec<&str> {
    match mpi {
        "openmpi" => {
            vec!["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-np", "4"]
        }
        _ => vec!["mpirun.mpich", "-np", "4"],
    }
}

fn messages_of(place: &Place, job: &[String]) -> BTreeMap<(String, String), f64> {
    let job: Vec<&str> = job.iter().map(String::as_str).collect();
    let observe = ("observe --method mpi -o pattern.json --", job);
    let mut observed = place.command(observe);
    observed.env_remove("LD_PRELOAD").env("TMPDIR", place.folder());
    let output = observed.output().unwrap();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let pattern = place.read_json("pattern.json");
    assert_eq!(names(&pattern), ["rank 0", "rank 1", "rank 2", "rank 3"]);
    messages(&pattern)
}

fn ranks(from: usize, to: usize) -> (String, String) {
    (format!("rank {from}"), format!("rank {to}"))
}

fn assert_ranks_are_observed(mpi: &str) {
    let place = Place::new();
    let Some(job) = job(&place, mpi, "mpicc", HALO) else { return };
    let together = messages_of(&place, &job);
    assert_eq!(together[&ranks(0, 1)], 10.0, "{together:?}");
    // The same with one Seatmap per rank: rank 0 merges their traces and deletes them.
    let each = |options: &str| {
        let words = (launch(mpi), [crate::PROGRAM], ("observe --method mpi", options, "-- ./job"));
        let words = words.words();
        let mut job = Command::new(words[0]);
        job.args(&words[1..]).current_dir(place.folder()).env("TMPDIR", place.folder());
        job.output().unwrap()
    };
    let output = each("-o each.json");
    assert!(output.status.success(), "{}", stderr(&output));
    let apart = place.read_json("each.json");
    assert_eq!(together, messages(&apart));
    assert!(crate::common::files(&place).iter().all(|name| !name.contains("traces")));
    let nowhere = each("");
    let said = stderr(&nowhere);
    assert!(
        !nowhere.status.success()
            && said.contains("give -o a file in a folder shared by all nodes"),
        "{said}"
    );
}

#[test]
fn ranks_of_open_mpi_are_observed() {
    assert_ranks_are_observed("openmpi");
}

#[test]
fn ranks_of_mpich_are_observed() {
    assert_ranks_are_observed("mpich");
}

/// A ring in which each rank sends seven messages to the next one, and rank 0 broadcasts one.
const RING: &str = "program ring
  use MODULE
  implicit none
  integer :: rank, ranks, round, error, word
  double precision :: sent(100), got(100)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  sent = 0
  word = 1
  do round = 1, 7
    call MPI_Sendrecv(sent, 100, MPI_DOUBLE_PRECISION, mod(rank + 1, ranks), 0, got, 100, &
      MPI_DOUBLE_PRECISION, mod(rank + ranks - 1, ranks), 0, MPI_COMM_WORLD, &
      MPI_STATUS_IGNORE, error)
  end do
  call MPI_Bcast(word, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
end program
";

#[test]
fn ranks_in_fortran_are_observed() {
    for (mpi, module) in
        [("openmpi", "mpi"), ("openmpi", "mpi_f08"), ("mpich", "mpi"), ("mpich", "mpi_f08")]
    {
        let place = Place::new();
        place.file("ring.f90", RING.replace("MODULE", module));
        let Some(job) = job(&place, mpi, "mpif90", "ring.f90") else { continue };
        let seen = messages_of(&place, &job);
        let found = [ranks(0, 1), ranks(0, 2), ranks(3, 0)].map(|ends| seen[&ends]);
        assert_eq!(found, [8.0, 1.0, 7.0], "{mpi}, {module}: {seen:?}");
    }
}

/// Python modules load the MPI library with local symbol scope.
#[test]
fn ranks_loading_mpi_locally_are_observed() {
    let host = "#include <dlfcn.h>
        int main(int count, char **words) {
            void *module = dlopen(\"./module.so\", RTLD_NOW | RTLD_LOCAL);
            return module ? ((int (*)(int, char **)) dlsym(module, \"run\"))(count, words) : 3;
        }";
    for mpi in ["openmpi", "mpich"] {
        let place = Place::new();
        place.file("host.c", host);
        if job(&place, mpi, "mpicc", HALO).is_none() {
            continue;
        }
        let line = format!(
            "mpicc.{mpi} -shared -fPIC -Dmain=run {HALO} -o module.so && gcc host.c -ldl -o job"
        );
        let built = Command::new("sh").args(["-c", &line]).current_dir(place.folder()).status();
        assert!(built.unwrap().success());
        let words: Vec<String> =
            launch(mpi).into_iter().chain(["./job"]).map(str::to_owned).collect();
        assert_eq!(messages_of(&place, &words)[&ranks(0, 1)], 10.0, "{mpi}");
    }
}

/// Page faults can be recorded everywhere. They contain addresses and threads, as processor samples
/// do.
#[test]
fn perf_recording_is_read() {
    let place = Place::new();
    let mut perf = Command::new("perf");
    perf.args(["record", "-q", "-d", "-e", "page-faults", "-c", "1", "-o"])
        .arg(place.path("perf.data"));
    if !perf.args(["--", "sh", "-c", "(:); (:); :"]).status().is_ok_and(|status| status.success()) {
        return seatmap_needs::skipped!("perf records no page faults here");
    }
    let output = place.run("observe --recording perf.data --json");
    assert!(output.status.success(), "{}", stderr(&output));
    let pattern: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(pattern["observation"]["methods"], serde_json::json!(["c2c"]));
    assert_eq!(names(&pattern), ["sh#0", "sh#1", "sh#2"]);
    assert_eq!(pattern["observation"]["paths"], serde_json::json!(["0", "0.0", "0.1"]));
    // Page faults reveal no transfers.
    let table = place.run("observe --recording perf.data");
    let table = stdout(&table);
    assert!(
        table.contains("no messages between tasks were seen") && table.contains("by c2c"),
        "{table}"
    );
    assert_contains(&table, "overhead: not measured: the processor takes the samples");
}

#[test]
fn missing_memory_sampling_is_reported_before_start() {
    let place = Place::new();
    let output = place.run("observe --method c2c -- touch began");
    if output.status.success() {
        return seatmap_needs::skipped!("the processor here samples memory");
    }
    let words = stderr(&output);
    assert_contains(&words, "the method c2c does not work here: ");
    assert!(output.status.code() == Some(2) && !place.path("began").exists());
}

/// Seatmap exits as the program does, but deletes its folder first.
#[test]
fn failed_program_leaves_no_folder() {
    let place = Place::new();
    std::fs::create_dir(place.path("temporary")).unwrap();
    for code in ["0", "3"] {
        let mut observe = place.command([
            "observe",
            "--method",
            "tsan",
            "--",
            "sh",
            "-c",
            &format!("exit {code}"),
        ]);
        let output = observe.env("TMPDIR", place.path("temporary")).output().unwrap();
        assert_ne!(output.status.code(), Some(0));
        assert_eq!(std::fs::read_dir(place.path("temporary")).unwrap().count(), 0);
    }
}

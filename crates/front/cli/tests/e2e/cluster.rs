//! `seatmap cluster`: ranks as local processes, and as nodes of a cluster in namespaces.

use crate::common::{Arguments, Json, Place, assert_contains, rank, stderr, stdout};
use serde_json::Value;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output};

/// Runs ranks as a launcher would. Returns the output of rank 0.
fn started(place: &Place, ranks: usize, arguments: impl Arguments) -> Output {
    let rank = |at: usize| rank(place, at, ranks, ("cluster measure", &arguments));
    let others: Vec<_> = (1..ranks)
        .map(|at| rank(at).stderr(std::process::Stdio::null()).spawn().unwrap())
        .collect();
    let first = rank(0).output().unwrap();
    for mut other in others {
        let ended = other.wait().unwrap();
        assert!(ended.success() || !first.status.success());
    }
    first
}

#[test]
fn local_ranks_measure_show_and_resume() {
    let place = Place::new();
    let quick = "--each-rank --trips 2ms --timeout 60 --loaded -o cluster.json";
    let first = started(&place, 3, quick);
    assert!(first.status.success(), "{}", stderr(&first));
    let told = stdout(&first);
    assert_contains(&told, "3 of 3 pairs measured (environment, ");
    let cluster = place.read_json("cluster.json");
    assert_eq!(
        (&cluster["format"], cluster["pairs"].elements().len()),
        (&"seatmap-cluster/1".into(), 3)
    );
    assert_eq!([0, 1, 2].map(|at| cluster["loaded"][at]["streams"].elements().len()), [2, 3, 2]);
    let shown = place.stdout("show cluster.json");
    assert_contains(&shown, "each to the next");
    assert!(shown.starts_with("3 nodes in "), "{shown}");
    assert_eq!(place.json("show cluster.json --json")["pairs"], cluster["pairs"]);
    let resumed = started(&place, 3, (quick, "--resume cluster.json"));
    assert!(resumed.status.success(), "{}", stderr(&resumed));
    assert_eq!(
        std::fs::read_dir(place.folder())
            .unwrap()
            .filter(|entry| {
                entry.as_ref().unwrap().file_name().to_string_lossy().contains("meeting")
            })
            .count(),
        0
    );
}

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../scripts/cluster");

fn is_refused(output: &Output) -> bool {
    let is_refused = output.status.code() == Some(2) || stderr(output).contains("unshare");
    if is_refused {
        seatmap_needs::skipped!("{}", stderr(output));
    }
    is_refused
}

#[test]
fn nodes_are_grouped_by_switch() {
    let place = Place::new();
    let program = env!("CARGO_BIN_EXE_seatmap");
    let ranks = format!(
        "for i in 1 2 3; do RANK=$i on n$i {program} cluster measure --trips 5ms & done; \
         RANK=0 {program} cluster measure --trips 5ms --json; wait"
    );
    let mut cluster = Command::new(SCRIPT);
    cluster.args(["--per-switch", "2", "--uplink", "100mbit", "4", "--", "sh", "-c", &ranks]);
    let output = cluster.current_dir(place.folder()).env("WORLD_SIZE", "4").output().unwrap();
    if is_refused(&output) {
        return;
    }
    assert!(output.status.success(), "{}", stderr(&output));
    let cluster: Value = serde_json::from_slice(&output.stdout).unwrap();
    let names: Vec<&str> =
        cluster["nodes"].elements().iter().map(|node| node["name"].text()).collect();
    assert_eq!(names, ["n0", "n1", "n2", "n3"]);
    assert_eq!(cluster["groups"], serde_json::json!([[0, 1], [2, 3]]));
}

/// A round trip cannot be faster than the delays of one direction, then of both.
#[test]
fn round_trips_include_emulated_delays() {
    let place = Place::new();
    let program = env!("CARGO_BIN_EXE_seatmap");
    let ranks = format!(
        "once() {{ RANK=1 on n1 {program} cluster measure --trips 1ms & \
                   RANK=0 {program} cluster measure --trips 1ms -o $1; wait; }}; \
         once first; ways 'n0 n1 delay 30ms' 'n1 * delay 10ms' && once second"
    );
    let mut cluster = Command::new(SCRIPT);
    cluster.args(["--delay-from", "n1=20ms", "2", "--", "sh", "-c", &ranks]);
    let output = cluster.current_dir(place.folder()).env("WORLD_SIZE", "2").output().unwrap();
    if is_refused(&output) {
        return;
    }
    assert!(output.status.success(), "{}", stderr(&output));
    let fastest_ms = |name: &str| {
        let cluster = place.read_json(name);
        cluster["pairs"][0]["trips"][0]["p10_ns"].number() / 1e6
    };
    let first = fastest_ms("first");
    let second = fastest_ms("second");
    assert!(first >= 20.0 && second >= 40.0, "{first} {second}");
}

#[test]
fn killed_cluster_leaves_no_process() {
    ended_by(libc::SIGKILL, |pid| pid);
}

/// timeout(1) signals the whole process group, including the relay.
#[test]
fn group_signal_leaves_no_node_without_relay() {
    ended_by(libc::SIGTERM, |pid| -pid);
}

struct Ended(std::process::Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// `target` makes the argument of kill(2) from the process id. The program `kill` may be missing,
/// and the shell's built-in accepts no group.
fn ended_by(signal: i32, target: impl Fn(i32) -> i32) {
    let place = Place::new();
    let mut cluster = Command::new(SCRIPT);
    cluster
        .args(["--relay", "2", "--", "sh", "-c", "echo up; on n1 sleep 1000"])
        .current_dir(place.folder());
    cluster
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .process_group(0);
    let mut cluster = Ended(cluster.spawn().unwrap());
    let mut said = String::new();
    let mut out = std::io::BufReader::new(cluster.0.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut out, &mut said).unwrap();
    if said != "up\n" {
        return seatmap_needs::skipped!("{:?}", cluster.0.wait().unwrap());
    }
    let pid = cluster.0.id();
    let first = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    let space = |pid: &str| std::fs::read_link(format!("/proc/{pid}/ns/pid")).ok();
    let own = space(first.trim()).expect("the first process of the cluster");
    // SAFETY: kill touches no memory; the process leads its own group and has not been waited for.
    assert_eq!(unsafe { libc::kill(target(pid.cast_signed()), signal) }, 0);
    cluster.0.wait().unwrap();
    // The kernel ends the processes of a namespace one by one.
    let alive = || {
        std::fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .any(|each| space(&each.file_name().to_string_lossy()) == Some(own.clone()))
    };
    let begun = std::time::Instant::now();
    while alive() {
        assert!(begun.elapsed().as_secs() < 60, "a process of the cluster is left");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// Nodes of two CPUs, alternately on two switches: 64 KiB take 0.2 ms within a switch and 2 ms
/// between switches.
pub fn two_switches(nodes: usize, names: impl Fn(usize) -> String) -> String {
    let node = |rank: usize| {
        let facts = serde_json::json!({ "cpus": 2 });
        serde_json::json!({ "name": names(rank), "rank": rank, "address": format!("10.0.0.{rank}"), "facts": facts })
    };
    let pair = |a: usize, b: usize| {
        let ms = if (a + b).is_multiple_of(2) { 0.2 } else { 2.0 };
        let trip = |size: u32, ns: f64| {
            serde_json::json!({ "size_bytes": size, "median_ns": ns, "p10_ns": ns, "p90_ns": ns, "ci95_ns": [ns, ns],
                                "count": 9 })
        };
        serde_json::json!({ "nodes": [a, b], "trips": [trip(8, 5e4), trip(65_536, ms * 1e6)],
                            "rate_mbps": [900.0, 900.0], "gap_ns": [900.0, 900.0], "retransmits": [0, 0],
                            "segments": [9, 9] })
    };
    let pairs: Vec<Value> =
        (0..nodes).flat_map(|a| (a + 1..nodes).map(move |b| pair(a, b))).collect();
    let of = |switch: usize| (0..nodes).filter(|node| node % 2 == switch).collect::<Vec<_>>();
    serde_json::json!({ "format": "seatmap-cluster/1", "nodes": (0..nodes).map(node).collect::<Vec<_>>(),
                        "pairs": pairs, "groups": [of(0), of(1)] })
    .to_string()
}

#[test]
fn rank_is_seated_and_checked_on_its_node() {
    let place = Place::new();
    let here = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let here = here.trim();
    place.file(
        "cluster.json",
        two_switches(2, |rank| if rank == 0 { here.to_owned() } else { "elsewhere".to_owned() }),
    );
    let typed = "place --on cluster.json --pattern pairs:2 --kicks 1 --ranks-per-node 1";
    place.stdout((typed, &["--fix-node", &format!("1={here}"), "-o", "ranks.json"]));
    let run = |at: usize, program: &[&str]| {
        rank(&place, at, 2, ("run -q --plan ranks.json --", program)).output().unwrap()
    };
    let allowed = seatmap_os::affinity::current().unwrap();
    if !allowed.contains(&0) {
        return seatmap_needs::skipped!("CPU 0 is not this process's");
    }
    let seated = run(1, &["grep", "Cpus_allowed_list", "/proc/self/status"]);
    assert_eq!(stdout(&seated).trim(), "Cpus_allowed_list:\t0");
    let output = run(0, &["true"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains(&format!("the plan has rank 0 on elsewhere, but this is {here}")),
        "{}",
        stderr(&output)
    );
    // The rank has ended, so its seat is empty. The check ignores the other node's rank.
    let checked = place.command("check --expect ranks.json --seconds 0.05").output().unwrap();
    assert_eq!(checked.status.code(), Some(1));
    let told = stdout(&checked);
    assert_contains(&told, "rank 1 has no thread");
}

/// A launcher for tests: its cost is 20 minus the number of successive ranks on one switch. Its
/// seventh start fails.
const LAUNCHER: &str = r#"
hosts=$1; shift
echo start >> starts
[ $(wc -l < starts) != 7 ] || exit 9
near=$(grep -v '^#' "$hosts" | sed 's/ .*//' | awk 'NR > 1 && (substr($1, 2) - last) % 2 == 0 { n++ } { last = substr($1, 2) } END { print 20 - n }')
echo "took $near"
"#;

#[test]
fn tune_races_rank_orders_and_writes_winner() {
    let place = Place::new();
    place.file("cluster.json", two_switches(4, |rank| format!("n{rank}")));
    place.file("launcher.sh", LAUNCHER);
    let options =
        ["tune", "--on", "cluster.json", "--pattern", "ring:8", "--metric", "regex:took ([0-9]+)"];
    let options = (options, "--lower-is-better --candidates 4 -o ranks.json --json");
    let job = ["--", "sh", "launcher.sh", "{hosts}", "{seat}", "./ring"];
    let output = place.run((options, job));
    assert!(output.status.success(), "{}", stderr(&output));
    let failed = stderr(&output).matches("the job failed to start (").count();
    assert_eq!(failed, 1, "the seventh fails, and is made again: {}", stderr(&output));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let names: Vec<&str> =
        found["candidates"].elements().iter().map(|one| one["name"].text()).collect();
    assert_eq!(names[..3], ["default", "block", "measured"]);
    let winner = found["verdict"]["winner"].whole() as usize;
    assert!(names[winner].starts_with("measured"), "{names:?} {winner}");
    let plan = place.read_json("ranks.json");
    assert_eq!(
        (&plan["format"], &plan["method"]),
        (&"seatmap-ranks/1".into(), &format!("raced: {}", names[winner]).into())
    );
    let seats = found["candidates"][winner]["seats"]["ranks"].elements();
    let node = |rank: usize| plan["nodes"][plan["node_of_rank"][rank].whole() as usize].clone();
    assert_eq!(
        seats.iter().map(|seat| seat["node"].clone()).collect::<Vec<_>>(),
        (0..8).map(node).collect::<Vec<_>>()
    );
    assert_eq!(
        crate::common::files(&place).iter().filter(|name| name.contains("seatmap-tune-")).count(),
        0
    );
    let again = place.run((options, "--resume", job));
    let again: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(again["runs"], found["runs"]);
}

/// Each node waits for an endless measurement of another program.
#[test]
fn node_reports_timeout_of_own_measurement() {
    let place = Place::new();
    let never = &mut |_| std::ops::ControlFlow::Continue(());
    let claim = seatmap_os::claim::ComputerClaim::wait(never);
    let quick = "--each-rank --trips 1ms --timeout 3s --nodes --json";
    let output = started(&place, 2, quick);
    drop(claim);
    let late = "seatmap: 'seatmap measure --quick' was still running after 2 s and was stopped\n";
    assert!(stderr(&output).contains(late), "{}", stderr(&output));
    let cluster: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&cluster["nodes"][0]["profile"], cluster["pairs"].as_array().map(Vec::len)),
        (&Value::Null, Some(1))
    );
}

#[test]
fn ranks_measure_over_mpi() {
    let place = Place::new();
    let missing = started(&place, 2, "--each-rank --trips 1ms --mpi --mpicc no-such-mpicc");
    assert_eq!(missing.status.code(), Some(2));
    assert!(stderr(&missing).contains("'no-such-mpicc' cannot be started"), "{}", stderr(&missing));
    // With a launcher of another MPI, each rank would be its own job.
    if !seatmap_needs::tool("mpicc") || !seatmap_needs::tool("mpirun") {
        return;
    }
    let apart = started(&place, 2, "--each-rank --trips 1ms --mpi -o apart.json");
    assert_eq!(apart.status.code(), Some(1));
    assert!(stderr(&apart).contains("this MPI is not the launcher's"), "{}", stderr(&apart));
    assert!(
        place.read("apart.json").contains("seatmap-cluster/1"),
        "the figures over TCP are kept"
    );
    let measure = "cluster measure --each-rank --trips 1ms --mpi -o mpi.json";
    let mut job = Command::new("mpirun");
    job.args(["--allow-run-as-root", "--oversubscribe", "-np", "3", crate::PROGRAM]);
    job.args(measure.words()).current_dir(place.folder()).env_remove("SEATMAP_SECRET");
    job.env("TMPDIR", place.folder());
    let output = job.output().unwrap();
    if stderr(&output).contains("unrecognized") || stderr(&output).contains("unknown option") {
        return seatmap_needs::skipped!("another MPI than Open MPI");
    }
    assert!(output.status.success(), "{}", stderr(&output));
    let cluster = place.read_json("mpi.json");
    let mpi = &cluster["mpi"];
    assert_eq!((mpi["pairs"].elements().len(), mpi["collectives"].elements().len()), (3, 10));
    assert!(place.stdout("show mpi.json").contains("all nodes together"));
}

//! An MPI job with known bytes.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use seatmap_data::document::from_json;
use seatmap_needs::tool;
use seatmap_observe::{mpi, preload, trace};
use serde::Deserialize;
use std::path::Path;
use std::process::Command;

const RANKS: usize = 4;

const HALO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/halo.c");

/// A rank's line about its messages to a peer.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(default)]
struct Sum {
    rank: usize,
    peer: usize,
    call: String,
    communicator: String,
    messages: u64,
    bytes: u64,
}

fn sum(rank: usize, peer: usize, call: &str, communicator: &str, messages: u64, bytes: u64) -> Sum {
    let call = call.to_owned();
    let communicator = communicator.to_owned();
    Sum { rank, peer, call, communicator, messages, bytes }
}

fn expected() -> Vec<Sum> {
    let world = "MPI_COMM_WORLD";
    let mut sums = Vec::new();
    for own in 0..RANKS {
        sums.push(sum(own, (own + 1) % RANKS, "Send", world, 5, 5 * 800));
        sums.push(sum(own, (own + 2) % RANKS, "Start", "copy", 3, 21));
        sums.extend([own ^ 1, own ^ 2].map(|to| sum(own, to, "Sendrecv", "grid", 1, 120)));
        for to in (0..RANKS).filter(|to| *to != own) {
            let each = [("Allreduce", 2), ("Alltoall", 4), ("Allgather", 4)];
            sums.extend(each.map(|(call, bytes)| sum(own, to, call, world, 1, bytes)));
        }
    }
    sums.extend([0, 2, 3].map(|from| sum(from, 1, "Reduce", world, 1, 4)));
    sums.extend([(1, 0), (3, 2)].map(|(from, to)| sum(from, to, "Bcast", "half", 1, 4)));
    sums.extend([sum(0, 3, "Put", "", 1, 8), sum(0, 1, "Get", "", 1, 8)]);
    sums.sort();
    sums
}

fn recorded(traces: &Path) -> Vec<Sum> {
    let mut sums = Vec::new();
    for trace in trace::traces(traces, "rank").unwrap() {
        let mut lines = trace.text.lines().map(|line| from_json::<Sum>(line).unwrap());
        let rank = lines.next().unwrap().rank;
        for sum in lines.filter(|sum| !sum.call.is_empty()) {
            // MPI gives windows its own names.
            let is_window = ["Put", "Get"].contains(&&*sum.call);
            let communicator = if is_window { String::new() } else { sum.communicator.clone() };
            sums.push(Sum { rank, communicator, ..sum });
        }
    }
    sums.sort();
    sums
}

fn done(command: &mut Command) {
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{stderr}", output.status);
}

fn assert_exact(compiler: &str, launcher: &str, options: impl Fn(&Path, &Path) -> Vec<String>) {
    if !tool(compiler) || !tool(launcher) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("halo");
    let traces = folder.path().join("traces");
    std::fs::create_dir(&traces).unwrap();
    done(Command::new(compiler).args(["-O1", "-o"]).arg(&program).arg(HALO));
    let preload = preload::write(folder.path()).unwrap();
    let mut job = Command::new(launcher);
    job.args(options(&preload, &traces)).args(["-np", &RANKS.to_string()]).arg(&program);
    // Jobs that share a folder for their sessions remove each other's.
    done(job.env("TMPDIR", folder.path()));
    let observation = mpi::read(&traces).unwrap();
    assert!(observation.unseen.is_empty(), "{:?}", observation.unseen);
    assert_eq!(observation.tasks.len(), RANKS);
    let cpus = std::thread::available_parallelism().unwrap().get() as f64;
    let most_s = observation.seconds() * cpus;
    assert!(observation.tasks.iter().all(|task| task.cpu_s <= most_s), "{:?}", observation.tasks);
    assert_eq!(recorded(&traces), expected());
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

#[test]
fn open_mpi_bytes_are_exact() {
    assert_exact("mpicc.openmpi", "mpirun.openmpi", |preload, traces| {
        let exported =
            [format!("LD_PRELOAD={}", text(preload)), format!("SEATMAP_TRACE={}", text(traces))];
        let exported = exported.into_iter().flat_map(|variable| ["-x".to_owned(), variable]);
        ["--allow-run-as-root".to_owned(), "--oversubscribe".to_owned()]
            .into_iter()
            .chain(exported)
            .collect()
    });
}

#[test]
fn mpich_bytes_are_exact() {
    assert_exact("mpicc.mpich", "mpirun.mpich", |preload, traces| {
        let exported = [("LD_PRELOAD", text(preload)), ("SEATMAP_TRACE", text(traces))];
        exported
            .into_iter()
            .flat_map(|(name, value)| ["-genv".to_owned(), name.to_owned(), value])
            .collect()
    });
}

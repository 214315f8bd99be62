//! An MPI job with known bytes.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use seatmap_needs::tool;
use seatmap_observe::mpi::{self, MpiTraffic};
use seatmap_observe::preload;
use std::path::Path;
use std::process::Command;

const RANKS: usize = 4;

const HALO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/halo.c");

fn sum(
    from: usize,
    to: usize,
    call: &str,
    communicator: &str,
    messages: u64,
    bytes: u64,
) -> MpiTraffic {
    MpiTraffic {
        from,
        to,
        call: call.to_owned(),
        communicator: communicator.to_owned(),
        messages,
        bytes,
    }
}

fn expected() -> Vec<MpiTraffic> {
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
    sums.extend([sum(0, 3, "Put", "", 1, 8), sum(1, 0, "Get", "", 1, 8)]);
    sums
}

fn sorted(mut sums: Vec<MpiTraffic>) -> Vec<MpiTraffic> {
    // MPI gives windows its own names.
    sums.iter_mut()
        .filter(|sum| ["Put", "Get"].contains(&&*sum.call))
        .for_each(|sum| sum.communicator.clear());
    sums.sort_by(|a, b| {
        (a.from, a.to, &a.call, &a.communicator).cmp(&(b.from, b.to, &b.call, &b.communicator))
    });
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
    done(&mut job);
    let messages = mpi::read(&traces).unwrap();
    assert!(messages.observation.unseen.is_empty(), "{:?}", messages.observation.unseen);
    assert_eq!(messages.observation.tasks.len(), RANKS);
    let cpus = std::thread::available_parallelism().unwrap().get() as f64;
    let most_s = messages.observation.seconds() * cpus;
    assert!(
        messages.observation.tasks.iter().all(|task| task.cpu_s <= most_s),
        "{:?}",
        messages.observation.tasks
    );
    assert_eq!(sorted(messages.sums), sorted(expected()));
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

//! `seatmap-papers rank --spread`: a study over the ranks of one launch, as processes of this
//! computer.

use crate::common::{Arguments, Place, assert_contains, files, stderr, stdout};
use crate::common::{begun, outside, rank};
use std::process::{Child, Command};

const STUDY: &str = "rank --on cell-ps3 --pattern ring:6:bidirectional --packet 1k --rounds 3";

fn study(more: &str) -> String {
    format!("{STUDY} {more}")
}

#[test]
fn ranks_print_same_bytes_as_one_process() {
    let place = Place::new();
    let alone = place.stdout(study("--json"));
    let typed = study("--spread --json");
    let others: Vec<Child> = [1, 2].map(|at| begun(rank(&place, at, 3, &typed))).into();
    let first = rank(&place, 0, 3, &typed).output().unwrap();
    assert!(first.status.success(), "{}", stderr(&first));
    assert_eq!(stdout(&first), alone);
    assert!(
        stderr(&first).starts_with("seatmap-papers: parts done by 3 ranks: "),
        "{}",
        stderr(&first)
    );
    for other in others {
        let other = other.wait_with_output().unwrap();
        assert!(other.status.success() && other.stdout.is_empty(), "{other:?}");
    }
    assert_eq!(files(&place), Vec::<String>::new(), "the meeting file is gone");
}

/// One rank is killed during the work, and another never starts: rank 0 does everything, and
/// reports it.
#[test]
fn work_of_killed_rank_is_redone() {
    let place = Place::new();
    let long = "rank --on cell-ps3 --pattern ring:6:bidirectional --packet 1k --rounds 100 --json";
    let alone = place.stdout(long);
    let typed = (long, "--spread --timeout 2s --resume kept");
    let first = begun(rank(&place, 0, 3, typed));
    let mut other = begun(rank(&place, 1, 3, typed));
    let is_under_way =
        || std::fs::read_to_string(place.path("kept")).is_ok_and(|text| text.lines().count() > 1);
    while !is_under_way() && other.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    other.kill().unwrap();
    other.wait().unwrap();
    let first = first.wait_with_output().unwrap();
    assert!(first.status.success(), "{}", stderr(&first));
    assert_eq!(stdout(&first), alone);
    let told = stderr(&first);
    assert!(
        told.contains("rank 1 on ") && told.contains("its connection broke")
            || told.contains("ranks 1"),
        "{told}"
    );
    assert_contains(&told, "2: did not join within 2 s; the other ranks do its work");
    assert_eq!(
        files(&place),
        Vec::<String>::new(),
        "neither the journal nor the meeting file is left"
    );
}

#[test]
fn mpirun_starts_a_study() {
    if !seatmap_needs::tool("mpirun") {
        return;
    }
    let place = Place::new();
    let program = place.command([]).get_program().to_string_lossy().into_owned();
    let options = ["--allow-run-as-root", "--oversubscribe", "-np", "3", &program];
    let mut job = Command::new("mpirun");
    let output = outside(&mut job)
        .args(options)
        .args(study("--spread -o all.json").words())
        .current_dir(place.folder())
        .output()
        .unwrap();
    if stderr(&output).contains("unrecognized") || stderr(&output).contains("unknown option") {
        return seatmap_needs::skipped!("another MPI than Open MPI");
    }
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("parts done by 3 ranks: "), "{}", stderr(&output));
    assert_eq!(place.read("all.json"), place.stdout(study("--json")));
}

#[test]
fn incompatible_starts_are_refused() {
    let place = Place::new();
    let refused = |mut command: Command| {
        let output = command.output().unwrap();
        (output.status.code(), stderr(&output))
    };
    let mut none = rank(&place, 0, 1, study("--spread"));
    none.env_remove("RANK");
    let (code, told) = refused(none);
    assert!(code == Some(2) && told.contains("start it with srun, mpirun or torchrun"), "{told}");
    let (code, told) = refused(rank(&place, 0, 1, "rank --on host --pattern ring:2 --spread"));
    assert!(code == Some(2) && told.contains("--spread needs a model"), "{told}");
    for wrong in ["--meet here", "--spread --shard 1/2"] {
        let (code, told) = refused(rank(&place, 0, 1, study(wrong)));
        assert!(code == Some(2) && told.contains("--spread"), "{told}");
    }
    // Another seed leads to other times.
    let other = begun(rank(&place, 1, 2, study("--spread --seed 2")));
    let (code, told) = refused(rank(&place, 0, 2, study("--spread")));
    assert!(code == Some(2) && told.contains("has other work than rank 0"), "{told}");
    let other = other.wait_with_output().unwrap();
    assert!(
        !other.status.success() && stderr(&other).contains("rank 0 has other work"),
        "{}",
        stderr(&other)
    );
    assert_eq!(files(&place), Vec::<String>::new());
}

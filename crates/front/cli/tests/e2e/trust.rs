//! Files and sockets planted by another user: Seatmap must not resume from, load or overwrite them.

use crate::common::{Place, assert_contains, files, stderr};
use std::fs::{self, Permissions};
use std::os::unix::fs::{FileTypeExt, PermissionsExt, lchown, symlink};
use std::process::{Command, Stdio};

const NOBODY: u32 = 65_534;

/// A world-writable folder like `/tmp`, with a link. `None` if this process cannot create another
/// user's link.
fn shared(link: &str, target: &str) -> Option<Place> {
    let place = Place::new();
    fs::set_permissions(place.folder(), Permissions::from_mode(0o1777)).unwrap();
    symlink(target, place.path(link)).unwrap();
    if lchown(place.path(link), Some(NOBODY), Some(NOBODY)).is_err() {
        seatmap_needs::skipped!("only root gives files to another user");
        return None;
    }
    Some(place)
}

fn export(to: &str) -> [&str; 6] {
    ["export", "graviton3", "--format", "csv", "-o", to]
}

#[test]
fn results_follow_no_foreign_link() {
    let Some(place) = shared("planted", "precious") else { return };
    place.file("precious", "old");
    place.file(
        "bench.toml",
        "format = \"seatmap-benchmarks/1\"\n[[benchmark]]\nname = \"a\"\n\
         base = \"true\"\nhead = \"true 1\"\n",
    );
    symlink(".", place.path("folder")).unwrap();
    lchown(place.path("folder"), Some(NOBODY), Some(NOBODY)).unwrap();
    for name in ["planted", "folder/new.csv", "folder/precious"] {
        place.refuses(export(name), "a symbolic link of user 65534, who can redirect it");
    }
    for words in [
        "show graviton3 --html planted",
        "place --on graviton3 --pattern ring:4 --kicks 1 -o planted",
        "run --auto --log planted -- true",
        "bench --file bench.toml --history planted",
        "bench --file bench.toml --history folder/new.jsonl",
    ] {
        let output = place.run(words);
        let told = stderr(&output);
        assert!(
            !output.status.success() && told.contains("a symbolic link of user 65534"),
            "{words:?}: {told}"
        );
    }
    assert_eq!(place.read("precious"), "old");
    assert_eq!(files(&place), ["bench.toml", "folder", "planted", "precious"]);
    fs::remove_file(place.path("planted")).unwrap();
    place.file("planted", "theirs");
    assert!(Command::new("mkfifo").arg(place.path("pipe")).status().unwrap().success());
    for name in ["planted", "pipe"] {
        lchown(place.path(name), Some(NOBODY), Some(NOBODY)).unwrap();
        place
            .refuses(export(name), "belongs to user 65534, in a folder that other users can write");
    }
    assert_eq!(place.read("planted"), "theirs");
}

#[test]
fn devices_open_files_and_own_pipes_are_written() {
    let place = Place::new();
    assert_eq!(place.stdout(export("/dev/null")), "");
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    let output = place.command(export("/dev/stdout")).stdout(Stdio::piped()).output().unwrap();
    assert!(output.status.success() && output.stdout.starts_with(b","), "{output:?}");
    assert!(Command::new("mkfifo").arg(place.path("pipe")).status().unwrap().success());
    let reader =
        Command::new("cat").arg(place.path("pipe")).stdout(Stdio::piped()).spawn().unwrap();
    place.stdout(export("pipe"));
    assert!(reader.wait_with_output().unwrap().stdout.starts_with(b","));
}

#[test]
fn race_resumes_only_from_own_runs() {
    let Some(place) = shared("seatmap-tune.json", "planted") else { return };
    place.file("planted", "{}");
    let resume = "tune --resume --vary numa-balancing -- true";
    let refused = |words: &str| {
        let told = place.refusal(resume);
        assert_contains(&told, words);
    };
    let record = place.path("seatmap-tune.json");
    // The owner is checked before the file is read.
    refused("a symbolic link of user 65534");
    fs::remove_file(&record).unwrap();
    symlink("planted", &record).unwrap();
    refused("is a link or a special file");
    fs::remove_file(&record).unwrap();
    fs::rename(place.path("planted"), &record).unwrap();
    fs::set_permissions(&record, Permissions::from_mode(0o666)).unwrap();
    refused("other users can write");
}

/// The plan's metrics are shell commands.
#[test]
fn race_refuses_plan_writable_by_others() {
    let place = Place::new();
    place.file("plan.json", "{}");
    let race = "services race plan.json";
    assert!(!place.refusal(race).contains("other users can write"));
    fs::set_permissions(place.path("plan.json"), Permissions::from_mode(0o666)).unwrap();
    let told = place.refusal(race);
    assert_contains(&told, "other users can write './plan.json' (mode 0666)");
}

#[test]
fn ranks_write_no_traces_to_foreign_folder() {
    let Some(place) = shared("pattern.json.traces-", "elsewhere") else { return };
    fs::create_dir(place.path("elsewhere")).unwrap();
    let observe = "observe --method mpi -o pattern.json -- true";
    let refused = || {
        let mut command = crate::common::rank(&place, 0, 2, observe);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        stderr(&output)
    };
    assert!(refused().contains("is a symbolic link or a file"), "{}", refused());
    let folder = place.path("pattern.json.traces-");
    fs::remove_file(&folder).unwrap();
    fs::create_dir(&folder).unwrap();
    lchown(&folder, Some(NOBODY), None).unwrap();
    assert!(refused().contains("belongs to user 65534"), "{}", refused());
}

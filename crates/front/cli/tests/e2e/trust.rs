//! Files and sockets planted by another user.

use crate::common::{Place, assert_contains, files, stderr};
use std::fs::{self, Permissions};
use std::os::unix::fs::{FileTypeExt, PermissionsExt, lchown, symlink};
use std::process::{Command, Stdio};

const NOBODY: u32 = 65_534;

/// Like `/tmp`, with another user's link. `None` if this process cannot create one.
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
fn results_are_not_led_elsewhere_by_a_link_of_another_user() {
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
        place.refuses(export(name), "a symbolic link of user 65534, who can lead it anywhere");
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
    // A file and a pipe of another user.
    fs::remove_file(place.path("planted")).unwrap();
    place.file("planted", "theirs");
    assert!(Command::new("mkfifo").arg(place.path("pipe")).status().unwrap().success());
    for name in ["planted", "pipe"] {
        lchown(place.path(name), Some(NOBODY), Some(NOBODY)).unwrap();
        place.refuses(
            export(name),
            "belongs to user 65534, in a folder where anybody can put files",
        );
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
fn a_race_goes_on_only_from_ones_own_runs() {
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

/// Its metrics are shell commands.
#[test]
fn a_plan_that_others_can_change_is_not_raced() {
    let place = Place::new();
    place.file("plan.json", "{}");
    let race = "services race plan.json";
    assert!(!place.refusal(race).contains("other users can write"));
    fs::set_permissions(place.path("plan.json"), Permissions::from_mode(0o666)).unwrap();
    let told = place.refusal(race);
    assert_contains(&told, "other users can write './plan.json' (mode 0666)");
}

#[test]
fn ranks_leave_no_traces_in_a_folder_of_somebody_else() {
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

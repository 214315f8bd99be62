//! `-o` onto existing links, files with a mode, and open files.

use crate::common::{Json, Place, assert_contains, files};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

fn export(place: &Place, to: &str) {
    place.stdout(["export", "graviton3", "--format", "csv", "-o", to]);
}

fn is_link(place: &Place, name: &str) -> bool {
    fs::symlink_metadata(place.path(name)).unwrap().is_symlink()
}

#[test]
fn link_is_kept_and_its_target_replaced() {
    let place = Place::new();
    fs::create_dir(place.path("results")).unwrap();
    symlink("results/real.csv", place.path("link.csv")).unwrap();
    symlink(place.path("link.csv"), place.path("results/second.csv")).unwrap();
    for link in ["link.csv", "results/second.csv"] {
        place.file("results/real.csv", "old");
        fs::set_permissions(place.path("results/real.csv"), Permissions::from_mode(0o664)).unwrap();
        export(&place, link);
        assert!(is_link(&place, link) && place.read("results/real.csv").starts_with(','), "{link}");
        let mode = fs::metadata(place.path("results/real.csv")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o664, "whatever the umask says");
    }
    assert_eq!(files(&place), ["link.csv", "results"], "nothing is left beside");
}

#[test]
fn dangling_link_creates_its_target_if_possible() {
    let place = Place::new();
    let links =
        [("new.csv", "link.csv"), ("nowhere/new.csv", "lost.csv"), ("round.csv", "round.csv")];
    links.iter().for_each(|(target, link)| symlink(target, place.path(link)).unwrap());
    export(&place, "link.csv");
    assert!(is_link(&place, "link.csv") && place.read("new.csv").starts_with(','));
    let refusal =
        |link: &str| place.one_line_refusal(["export", "graviton3", "--format", "csv", "-o", link]);
    assert!(refusal("lost.csv").contains("lost.csv: its folder does not exist"));
    assert!(refusal("round.csv").contains("symbolic links"));
}

#[test]
fn unusable_output_is_refused_before_work() {
    let place = Place::new();
    let measure = |to| place.one_line_refusal(["measure", "--on", "graviton3", "-o", to]);
    let table = measure("far.csv");
    assert_contains(&table, "far.csv: -o writes JSON; name it far.json, or use 'seatmap export'");
    place.refuses("show graviton3 --html page.json", "--html writes HTML; name it page.html");
    assert!(measure("/proc/nothing").contains("there is no such file, and it cannot be created"));
    // An unknown file extension selects no format.
    place.stdout("measure --on graviton3 -o graviton3.v1");
    assert_eq!(files(&place), ["graviton3.v1"]);
}

#[test]
fn open_file_is_written_in_place() {
    let place = Place::new();
    let file = fs::File::create(place.path("out")).unwrap();
    // A link like /dev/stdout, which the test does not put at risk.
    symlink("/proc/self/fd/1", place.path("stdout")).unwrap();
    let mut command = place.command("export graviton3 --format csv -o stdout");
    assert!(command.stdout(file.try_clone().unwrap()).status().unwrap().success());
    assert!(
        is_link(&place, "stdout") && file.metadata().unwrap().len() > 1,
        "the very file has it"
    );
}

/// Seatmap itself names its state files, so it replaces a planted link instead of following it.
#[test]
fn state_files_follow_no_link() {
    let Some(_) = crate::common::two_cpus() else { return };
    let place = Place::new();
    let host = place.json("doctor --json")["machine"].text().to_owned();
    let remembered = format!("state/seatmap/{host}.json");
    fs::create_dir_all(place.path("state/seatmap")).unwrap();
    place.file("victim", "old");
    symlink(place.path("victim"), place.path(&remembered)).unwrap();
    place.run("measure --quick --passes 1");
    assert_eq!((place.read("victim").as_str(), is_link(&place, &remembered)), ("old", false));
}

//! The pictures of the README and the guide match the output of their command.

use crate::common::{Place, stderr};
use std::path::Path;

#[test]
fn committed_pictures_match_their_command() {
    let place = Place::new();
    let root = Path::new(crate::REPOSITORY);
    let drawn = place
        .command_of(root.join("scripts/pictures"))
        .args([Path::new(crate::PROGRAM), place.folder()])
        .output()
        .unwrap();
    assert!(drawn.status.success(), "{}", stderr(&drawn));
    let kept = root.join("docs/pictures");
    let names: Vec<_> =
        std::fs::read_dir(&kept).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.len() > 1, "the pictures are not where they were");
    for name in names {
        let path = place.folder().join(&name);
        let same = std::fs::read(&path).ok() == std::fs::read(kept.join(&name)).ok();
        assert!(same, "{name:?} is not as `scripts/pictures` draws it; `make pictures` renews it");
    }
}

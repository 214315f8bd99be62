//! The gallery: `seatmap machines --site` and `seatmap place --on gallery`.

use crate::common::{Json, Place, assert_contains, stderr, stdout};
use seatmap_data::document::schema::{closed, refused};
use seatmap_data::machine::{Profile, SharedProfile, catalog};
use seatmap_measure::gallery::collection::files_in;
use seatmap_measure::gallery::contribution::faults;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// A bundled machine with `factor` times its distances, as `measure --share` writes it.
fn shared(factor: f64, firmware: &str) -> Profile {
    let mut profile = catalog::load("graviton3").unwrap();
    profile.environment.cpu_model = Some("Neoverse-V1".to_owned());
    profile.environment.bios = Some(firmware.to_owned());
    profile.origin.kind = seatmap_data::machine::OriginKind::Measured;
    let distance = profile.core_distance.as_mut().unwrap();
    let before = distance.median_ns.clone();
    distance.median_ns =
        seatmap_data::machine::Matrix::from_fn(before.n(), |i, j| factor * before[(i, j)]);
    SharedProfile::of(&profile).profile
}

fn with_profiles() -> Place {
    let place = Place::new();
    std::fs::create_dir(place.path("profiles")).unwrap();
    place.file("profiles/README.md", "not a machine");
    place.file("profiles/old.json", shared(1.0, "1.0").to_json());
    place.file("profiles/new.json", shared(2.4, "2.0").to_json());
    place
}

#[test]
fn site_has_every_page_and_no_dead_link() {
    let place = with_profiles();
    let output = place.run("machines --site site profiles");
    let said = stderr(&output);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), &b""[..]), "{said}");
    assert_eq!(said, "seatmap: wrote site/index.html (15 machines)\n");
    for file in ["index.html", "graviton3.html", "old.html", "old.json", "new--old.html"] {
        assert!(place.path("site").join(file).is_file(), "{file}");
    }
    assert!(place.read("site/new--old.html").contains("firmware"));
    assert!(place.read("site/index.html").contains("0.42 times as far"));
    assert!(place.stdout("compare site/old.json graviton3").contains("1.00"));
    if !seatmap_needs::tool("python3") {
        return;
    }
    let script = Path::new(crate::REPOSITORY).join("scripts/guide");
    let checked = Command::new(script).arg("check").arg(place.path("site")).output().unwrap();
    assert!(checked.status.success(), "{}", stdout(&checked));
}

#[test]
fn site_warns_of_profile_naming_host() {
    let place = Place::new();
    let mut named = shared(1.0, "1.0");
    named.name = "alice-laptop".to_owned();
    place.file("mine.json", named.to_json());
    let said = place.run("machines --site site mine.json").stderr;
    let said = String::from_utf8(said).unwrap();
    assert_contains(&said, "mine.json: the site shows the host's name");
    assert_contains(&said, "measure --share");
}

#[test]
fn gallery_profiles_are_anonymous_and_sound() {
    let folder = Path::new(crate::REPOSITORY).join("docs/gallery/profiles");
    for file in files_in(&folder).unwrap() {
        let profile = Profile::from_json(&std::fs::read_to_string(&file).unwrap())
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        assert_eq!(faults(&profile), [], "{}", file.display());
    }
}

const RANK: &str = "place --pattern ring:32 --kicks 20";

#[test]
fn ranking_includes_profiles_of_folder() {
    let place = with_profiles();
    let arguments = (RANK, "--on gallery:profiles");
    let ranking = place.json((arguments, "--json"));
    let schema = Path::new(crate::REPOSITORY).join("docs/formats/seatmap-ranking-1.schema.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(schema).unwrap()).unwrap();
    assert_eq!(refused(&closed(&schema), &ranking), [""; 0]);
    let ranked = ranking["ranked"].elements();
    let [old, new, bundled] = ["old", "new", "graviton3"]
        .map(|name| ranked.iter().find(|one| one["machine"] == name).unwrap()["time_ns"].number());
    let times: Vec<f64> = ranked.iter().map(|one| one["time_ns"].number()).collect();
    assert!(times.is_sorted(), "{times:?}");
    assert_eq!(old, bundled);
    assert!((new / old - 2.4).abs() < 0.1);
    assert!((ranking["like_machines"]["ratio"].number() - 2.4).abs() < 0.01);
    let left_out = ranking["left_out"].elements();
    let small = left_out.iter().find(|one| one["machine"] == "core-i9-12900k").unwrap();
    assert_eq!((&small["reason"], &small["pus"]), (&"too-small".into(), &24.into()));
    let text = place.stdout(arguments);
    assert_contains(&text, "differ here by up to 2.40 times (new and old");
    assert_contains(&text, "they are not measured gains");
    place.stdout((arguments, "--html ranking.html"));
    assert!(place.read("ranking.html").contains("core-i9-12900k"));
}

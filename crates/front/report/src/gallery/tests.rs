//! Tests of the site in memory.

use super::*;
use crate::samples::two_groups;
use seatmap_data::machine::Profile;
use seatmap_machines::catalog::{Machine, MachineList};
use std::collections::BTreeSet;

fn gallery(profiles: &[Profile]) -> Gallery {
    let mut gallery = Gallery::default();
    let machines = MachineList::bundled().unwrap().machines;
    let entry = machines.into_iter().find(|one| one.machine == "core-i9-12900k").unwrap();
    let machine = Machine::bundled(entry.machine).unwrap();
    let profile = seatmap_data::machine::catalog::load(entry.machine).unwrap();
    gallery.add_bundled(entry, machine, profile);
    for profile in profiles {
        let machine =
            Machine::read(&profile.name, profile.to_json().as_bytes(), "2026-01-01").unwrap();
        gallery.add(machine, profile.clone());
    }
    gallery
}

/// The second has twice the distances and another firmware.
fn like() -> [Profile; 2] {
    let mut first = two_groups();
    first.name = "a.json".to_owned();
    first.environment.cpu_model = Some("Example 8-core".to_owned());
    let mut second = first.clone();
    second.name = "b.json".to_owned();
    second.environment.bios = Some("2.0".to_owned());
    let distance = second.core_distance.as_mut().unwrap();
    let before = distance.median_ns.clone();
    distance.median_ns =
        seatmap_data::machine::Matrix::from_fn(before.n(), |i, j| 2.0 * before[(i, j)]);
    distance.deciles_ns = None;
    [first, second]
}

fn links(text: &str) -> Vec<&str> {
    let parts = text.split(" href=\"").skip(1);
    parts.filter_map(|part| part.split('"').next()).filter(|link| *link != "data:,").collect()
}

#[test]
fn every_machine_and_pair_is_linked() {
    let files = site(&gallery(&like()));
    let names = BTreeSet::from_iter(files.iter().map(|file| file.name.as_str()));
    assert_eq!(names.len(), files.len());
    let expected =
        ["a--b.html", "a.html", "a.json", "b.html", "b.json", "core-i9-12900k.html", "index.html"];
    assert_eq!(Vec::from_iter(names.iter().copied()), expected);
    let mut linked = BTreeSet::new();
    for file in files.iter().filter(|file| file.name.ends_with(".html")) {
        linked.extend(links(&file.text));
    }
    assert_eq!(linked, names, "each file is linked to, and each link leads to a file");
}

fn text_of<'a>(files: &'a [SiteFile], name: &str) -> &'a str {
    &files.iter().find(|file| file.name == name).unwrap().text
}

#[test]
fn pair_page_shows_differences() {
    let files = site(&gallery(&like()));
    assert!(text_of(&files, "a--b.html").contains("seatmap compare a.json b.json"));
    assert!(text_of(&files, "a--b.html").contains("firmware"));
    let index = text_of(&files, "index.html");
    assert!(index.contains("2.00 times as far"), "{index}");
    assert!(text_of(&files, "a.html").contains("seatmap measure --share mine.json"));
    // A number in a command stays on one line.
    let command = "seatmap compare core-i<span class=\"whole\">9-12900</span>k host";
    assert!(text_of(&files, "core-i9-12900k.html").contains(command));
}

#[test]
fn hostile_profile_becomes_neither_markup_nor_path() {
    let hostile = "../<script>alert(1)</script>\"onload=x\u{202e}";
    let [mut first, mut second] = like();
    for profile in [&mut first, &mut second] {
        profile.name = hostile.to_owned();
        profile.origin.source = hostile.to_owned();
        profile.origin.date = Some(hostile.to_owned());
        profile.environment.cpu_model = Some(hostile.to_owned());
        profile.environment.bios = Some(format!("{hostile}{}", profile.environment.bios.is_some()));
    }
    let plain = site(&gallery(&like()));
    let files = site(&gallery(&[first, second]));
    assert_eq!(files.len(), plain.len());
    for (file, plain) in files.iter().zip(&plain) {
        assert!(!file.name.contains(['/', '<', '"', '\u{202e}']), "{}", file.name);
        if file.name.ends_with(".html") {
            let scripts = [file, plain].map(|page| page.text.matches("<script").count());
            assert_eq!(scripts[0], scripts[1], "{}", file.name);
            assert!(!file.text.contains('\u{202e}') && !file.text.contains("\"onload=x"));
        }
    }
}

#[test]
fn pictures_of_large_machines_stay_small() {
    let profile = seatmap_data::machine::catalog::load("epyc-7r13-2s").unwrap();
    let picture = thumbnail::thumbnail(&profile).0;
    assert!(picture.contains("0 0 32 32") && picture.len() < 20_000, "{}", picture.len());
    let mut bare = profile;
    bare.core_distance = None;
    assert!(thumbnail::thumbnail(&bare).0.is_empty());
}

//! `seatmap cpus`: words for CPUs on this computer and on described machines.

use crate::common::{Place, assert_contains, can_pretend};
use seatmap_os::CpuSet;
use std::fs;
use std::path::Path;

const KINDS: &str = include_str!("../own/kinds.txt");

fn cpus(list: &str) -> Vec<u32> {
    CpuSet::of_list(list).unwrap().iter().collect()
}

fn put(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("{text}\n")).unwrap();
}

const CPU: &str = "sys/devices/system/cpu";

/// `0-7|8-15` as the pairs (0, 8), (1, 9), ...
fn pairs(text: &str) -> impl Iterator<Item = [u32; 2]> {
    let (first, second) = text.split_once('|').unwrap();
    cpus(first).into_iter().zip(cpus(second)).map(|(a, b)| [a, b])
}

/// Writes the files of one described machine, and returns its words with the expected CPUs.
fn write(folder: &Path, description: &str) -> Vec<(String, String)> {
    let mut expected = Vec::new();
    let online = description.lines().find_map(|line| line.strip_prefix("online ")).unwrap();
    let online = cpus(online);
    for cpu in &online {
        put(folder, &format!("{CPU}/cpu{cpu}/topology/core_cpus_list"), &cpu.to_string());
        put(folder, &format!("{CPU}/cpu{cpu}/topology/physical_package_id"), "0");
    }
    for line in description.lines() {
        if let Some((word, cpus)) = line.split_once(" = ") {
            expected.push((word.to_owned(), cpus.to_owned()));
            continue;
        }
        let (key, rest) = line.split_once(' ').unwrap();
        match key {
            "machine" | "source" => {}
            "online" => {
                for name in ["online", "possible", "present"] {
                    put(folder, &format!("{CPU}/{name}"), rest);
                }
            }
            "cpu_core" | "cpu_atom" | "cpu_lowpower" => {
                put(folder, &format!("sys/devices/{key}/cpus"), rest);
            }
            "pairs" => {
                for [a, b] in rest.split(' ').flat_map(pairs) {
                    for cpu in [a, b] {
                        let path = format!("{CPU}/cpu{cpu}/topology/core_cpus_list");
                        put(folder, &path, &format!("{a},{b}"));
                    }
                }
            }
            "packages" => {
                for (number, list) in rest.split(' ').enumerate() {
                    for cpu in cpus(list) {
                        let path = format!("{CPU}/cpu{cpu}/topology/physical_package_id");
                        put(folder, &path, &number.to_string());
                        put(folder, &format!("{CPU}/cpu{cpu}/topology/package_cpus_list"), list);
                    }
                }
            }
            "l2" | "l3" => {
                for cache in rest.split(' ') {
                    let (list, kib) = cache.rsplit_once(':').unwrap();
                    for cpu in cpus(list) {
                        let cache = format!("{CPU}/cpu{cpu}/cache/index{}", &key[1..]);
                        put(folder, &format!("{cache}/level"), &key[1..]);
                        put(folder, &format!("{cache}/type"), "Unified");
                        put(folder, &format!("{cache}/size"), &format!("{kib}K"));
                        put(folder, &format!("{cache}/shared_cpu_list"), list);
                    }
                }
            }
            "cpuinfo" => {
                let mut blocks = String::new();
                for group in rest.split(' ') {
                    let (list, midr) = group.rsplit_once(':').unwrap();
                    let midr = u64::from_str_radix(midr.trim_start_matches("0x"), 16).unwrap();
                    for cpu in cpus(list) {
                        blocks += &format!(
                            "processor\t: {cpu}\nCPU implementer\t: {:#04x}\nCPU part\t: {:#05x}\n\n",
                            midr >> 24,
                            midr >> 4 & 0xfff
                        );
                    }
                }
                put(folder, "proc/cpuinfo", &blocks);
            }
            file => {
                for group in rest.split(' ') {
                    let (list, value) = group.rsplit_once(':').unwrap();
                    for cpu in cpus(list) {
                        put(folder, &format!("{CPU}/cpu{cpu}/{file}"), value);
                    }
                }
            }
        }
    }
    expected
}

#[test]
fn words_name_the_right_cpus_of_26_machines() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for description in KINDS.split("\n\n").filter(|text| text.starts_with("machine ")) {
        let place = Place::new();
        let name = description.lines().next().unwrap().trim_start_matches("machine ");
        let words = write(&place.path(name), description);
        for (word, expected) in words {
            let output = place.run(["cpus", &word, "--on", name]);
            let said = String::from_utf8(output.stdout).unwrap();
            let found = if output.status.success() { said.trim() } else { "refused" };
            count += 1;
            if cpus_or(found) != cpus_or(&expected) {
                wrong.push(format!("{name}: {word} is {found}, not {expected}"));
            }
        }
    }
    assert!(count > 140, "{count}");
    assert_eq!(wrong, [""; 0]);
}

fn cpus_or(text: &str) -> Vec<u32> {
    if text == "refused" { Vec::new() } else { cpus(text) }
}

#[test]
fn refused_words_say_what_the_machine_has() {
    let place = Place::new();
    for name in ["core-ultra-9-185h", "ryzen-9-7950x3d", "ryzen-9-5950x"] {
        described(&place, name);
    }
    for (command, answer) in [
        (
            "cpus kind:middle --on core-ultra-9-185h",
            "'kind:middle': this machine has kinds performance (0-11), efficiency (12-19) and \
             low-power (20,21)",
        ),
        ("cpus kind:perf --on core-ultra-9-185h", "did you mean 'kind:performance'?"),
        ("cpus kind:performance --on ryzen-9-5950x", "this machine has one kind of core"),
        ("cpus cache:biggest --on ryzen-9-5950x", "all L3 caches have 32 MiB; 'l3:0' takes one"),
        ("cpus cache:128M --on ryzen-9-7950x3d", "the largest last-level cache has 96 MiB"),
        (
            "cpus kind:performance/no-smt/fast:9 --on core-ultra-9-185h",
            "'fast:9': kind:performance/no-smt has 6 cores",
        ),
        (
            "cpus kind:efficiency/kind:performance --on core-ultra-9-185h",
            "no CPU is both; kind:efficiency is 12-19",
        ),
        ("cpus pcores --on core-ultra-9-185h", "write 'kind:performance'"),
        ("cpus near:gpu --on ryzen-9-5950x", "no GPU with this number is on the PCI bus"),
    ] {
        place.refuses(command, answer);
    }
}

/// Writes the files of the machine with this name, and returns its folder's name.
fn described(place: &Place, name: &'static str) -> &'static str {
    let begins = format!("machine {name}\n");
    let description = KINDS.split("\n\n").find(|text| text.starts_with(&begins));
    write(&place.path(name), description.unwrap());
    name
}

#[test]
fn show_lists_words_with_the_deciding_figure() {
    let place = Place::new();
    for (name, rows) in [
        (
            "core-ultra-9-185h",
            &[
                "kind:performance  0-11                     cpu_core",
                "kind:efficiency   12-19                    cpu_atom",
                "kind:low-power    20,21                    cpu_atom, without an L3",
            ][..],
        ),
        ("ryzen-9-7950x3d", &["cache:biggest  0-7,16-23  L3 of 96 MiB; the other has 32 MiB"][..]),
        ("apple-m1", &["kind:performance  4-7   type of core"][..]),
    ] {
        let shown = place.stdout(["show", described(&place, name)]);
        let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        for row in rows {
            let row = row.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(shown.contains(&row), "{row}: {shown}");
        }
    }
    let document = place.json("show ryzen-9-7950x3d --json");
    assert_eq!(document["words"][0]["word"], "cache:biggest");
    assert_eq!(document["words"][0]["cpus"], "0-7,16-23");
}

#[test]
fn or_all_takes_all_cpus_if_words_distinguish_none() {
    let place = Place::new();
    let name = described(&place, "ryzen-9-5950x");
    let output = place.run(["cpus", "kind:performance/no-smt", "--on", name, "--or-all"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "0-15\n");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_contains(&said, "'kind:performance': this machine has one kind of core");
    assert_contains(&said, "so it means all CPUs");
    place.refuses("cpus kind:perf --or-all", "did you mean 'kind:performance'?");
    place.refuses("cpus --or-all", "needs WORDS");
    let cache = "cache:1023G/first:1";
    place.refuses(["run", "-c", cache, "--", "true"], "'cache:1023G'");
    let output = place.run(["run", "-c", cache, "--or-all", "--", "true"]);
    assert!(output.status.success(), "{output:?}");
    assert_contains(&String::from_utf8_lossy(&output.stderr), "so it means all CPUs");
}

/// X3D processors turn the firmware's ranking with their mode.
#[test]
fn pretended_check_finds_moved_words() {
    if !can_pretend() {
        return;
    }
    let place = Place::new();
    let x3d = described(&place, "ryzen-16-x3d-cache-mode");
    let check = format!("pretend {x3d} --check plan.json -- true");
    let plan = serde_json::json!({
        "format": "seatmap-plan/1", "machine": x3d, "placement": [0, 1],
        "words": "fast:2", "within": "0,1",
    });
    place.file("plan.json", plan.to_string());
    let before = place.run(&*check);
    assert!(!String::from_utf8_lossy(&before.stderr).contains("when the seats were chosen"));
    for cpu in [8, 9] {
        let file = format!("{CPU}/cpu{cpu}/cpufreq/amd_pstate_prefcore_ranking");
        put(&place.path(x3d), &file, "255");
    }
    let after = place.run(&*check);
    let said =
        String::from_utf8_lossy(&after.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_contains(
        &said,
        "'fast:2' named CPUs 0,1 when the seats were chosen, and names CPUs 8,9 now",
    );
    assert_eq!(after.status.code(), Some(1));
}

#[test]
fn plan_keeps_words_beside_their_cpus() {
    let place = Place::new();
    let cpus = "kind:performance/first:3";
    place.stdout(format!("place --on core-i9-12900k --cpus {cpus} --pattern ring:2 -o plan.json"));
    let plan = place.read_json("plan.json");
    assert_eq!((&plan["words"], &plan["within"]), (&cpus.into(), &"0-2".into()));
    let first = place.stdout("cpus first:1");
    place.run("run --cpus first:1 --report report.json -- true");
    let report = place.read_json("report.json");
    assert_eq!(report["within"], first.trim());
    assert!(report["words"].as_str().unwrap().ends_with("first:1"), "{report}");
}

/// Every option that takes words has the same fallback.
#[test]
fn every_verb_with_words_takes_all_instead() {
    let place = Place::new();
    let cache = "cache:1023G/first:1";
    for command in [
        format!("noise --cpus {cache} --seconds 0.05"),
        format!("doctor --cpus {cache}"),
        format!("bench --cpus {cache} --runs 1 -- true"),
        format!("measure --on core-i9-12900k --cpus {cache},l3:0/first:3 --quick"),
        format!("place --on core-i9-12900k --cpus {cache},l3:0/first:3 --pattern ring:2"),
        format!("check --rule on={cache}"),
    ] {
        place.refuses(&*command, "'cache:1023G'");
        let with = command.replacen("--", "--or-all --", 1);
        let output = place.run(&*with);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_contains(&said, "so it means all CPUs");
        assert_ne!(output.status.code(), Some(2), "{with}: {said}");
    }
    place.refuses("noise --or-all", "needs --cpus");
}

#[test]
fn show_page_lists_words() {
    let place = Place::new();
    place.stdout(format!("show {} --html page.html", described(&place, "ryzen-9-7950x3d")));
    let page = std::fs::read_to_string(place.path("page.html")).unwrap();
    assert_contains(&page, "Words for CPUs");
    for cell in ["cache:biggest", "0-7,16-23", " of 96 MiB; the other has 32 MiB"] {
        assert_contains(&page, cell);
    }
}

#[test]
fn seats_and_joined_terms_are_flattened() {
    let place = Place::new();
    let x3d = described(&place, "ryzen-9-7950x3d");
    for (words, cpus) in [
        ("cache:biggest/no-smt/fast:2", "0,1"),
        ("cpu:*/cache:biggest/no-smt", "0-7"),
        ("l3:1/no-smt+0", "0,8-15"),
        ("not:cache:biggest/first:2", "8,9"),
        ("cache:64M", "0-7,16-23"),
        ("0-3,16/no-smt", "0-3,16"),
    ] {
        assert_eq!(place.stdout(["cpus", words, "--on", x3d]).trim(), cpus, "{words}");
    }
}

#[test]
fn the_count_of_this_computer_is_within_its_mask() {
    let place = Place::new();
    let count: usize = place.stdout("cpus --count").trim().parse().unwrap();
    let all = place.json("cpus --json");
    assert_eq!(all["count"], count);
    assert!(count >= 1 && count <= all["cpus"].as_array().unwrap().len());
    assert_eq!(place.stdout("cpus").trim(), place.stdout("cpus all").trim());
    let first = all["cpus"][0].as_u64().unwrap().to_string();
    assert_eq!(place.stdout("cpus first:1").trim(), first);
    assert_eq!(place.stdout("cpus first:1 --count").trim(), "1");
    assert_contains(&place.stdout("cpus --why"), "The mask has");
}

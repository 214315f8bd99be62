//! Seatmap's own verbs on pretended machines: the host must look like the machine's file.

use super::{pretend, text};
use crate::common::Place;
use seatmap_data::machine::catalog;

/// The sentence that counts a machine's parts, and its tree, which is drawn if distances are
/// unknown.
fn parts(shown: &str) -> String {
    let lines = shown.lines().skip_while(|line| !line.contains(" PUs, "));
    let (counted, rest): (Vec<&str>, Vec<&str>) = {
        let lines: Vec<&str> = lines.collect();
        let end = lines.iter().position(|line| line.is_empty()).unwrap_or(lines.len());
        (lines[..end].to_vec(), lines[end..].to_vec())
    };
    let tree = rest.into_iter().skip_while(|line| *line != "Topology").skip(1);
    let tree = tree.take_while(|line| !line.is_empty()).map(str::trim);
    // hwloc omits a die that is the whole package.
    let tree = tree.filter(|line| !line.starts_with("package "));
    let counted: Vec<&str> = counted.into_iter().map(str::trim).collect();
    let counted = counted.join(" ");
    let is_told = |part: &&str| !part.contains(" package") && !part.contains(" die");
    let counted = counted.split(", ").filter(is_told).collect::<Vec<_>>().join(", ");
    std::iter::once(counted.as_str()).chain(tree).collect::<Vec<_>>().join("\n")
}

const SEATS: &str = r#"
set -e
"$0" show
last=$1
echo "run: $("$0" run -q --strict --cpus "$last" -- grep Cpus_allowed_list /proc/self/status)"
"$0" run --strict --cpus "$last" --report seated.json -- true 2> seated.txt
grep -q '"verified":true' seated.json || { cat seated.json; exit 1; }
echo "refused: $("$0" run --cpus $((last + 1)) -- true 2>&1)"
"#;

/// Each of these verbs takes a moment, so only a few machines are tried.
const LOOKS: &str = r#"
echo "doctor: $("$0" doctor --cpus "$1" | grep '  cpuset  ')"
"$0" check --pid $$ --seconds 0.05 --rule same-package > check.txt || true
echo "check: $(head -n 1 check.txt)"
"$0" top --once --interval 0.1 --pid $$ > top.txt
echo "top: $(head -n 1 top.txt)"
"#;

/// The machines have two kinds of cores; two packages with two threads per core; tiles of two
/// cores.
const LOOKED_AT: [&str; 3] = ["core-i9-12900k", "epyc-7r13-2s", "scc-48"];

fn on(place: &Place, machine: &str, script: &str, last: u32) -> String {
    let arguments = ["-q", "--", "sh", "-c", script, crate::PROGRAM, &last.to_string()];
    let output = pretend(place, (&[machine], arguments)).expect("others could");
    let said = text(&output.stdout);
    assert!(output.status.success(), "{machine}: {said}{}", text(&output.stderr));
    said
}

fn assert_holds(machine: &str, said: &str, words: &[String]) {
    for words in words {
        assert!(said.contains(words), "{machine}: {words:?} is missing in {said}");
    }
}

#[test]
fn gathered_files_are_shown_unchanged() {
    let place = Place::new();
    let Some(folder) = seatmap_needs::published("sysfs") else { return };
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    for tree in entries.filter(|path| path.extension().is_some_and(|end| end == "bz2")) {
        let tree = tree.to_string_lossy();
        let arguments = [&tree, "-q", "--", crate::PROGRAM, "show"];
        let Some(output) = pretend(&place, arguments) else { return };
        let itself = parts(&place.stdout(["show", &tree]));
        let host = parts(&text(&output.stdout));
        // The kernel assigns CPUs of unknown node to the first one.
        let lines = if itself.contains("NUMA node ?") { 1 } else { usize::MAX };
        assert!(host.lines().take(lines).eq(itself.lines().take(lines)), "{tree}: {host} {itself}");
    }
}

#[test]
fn verbs_see_bundled_machines_as_described() {
    let place = Place::new();
    if pretend(&place, "graviton3 -q true").is_none() {
        return;
    }
    for name in catalog::names() {
        let itself = parts(&place.stdout(["show", name]));
        let count: u32 = itself.split(' ').next().and_then(|count| count.parse().ok()).unwrap();
        let last = count - 1;
        let said = on(&place, name, SEATS, last);
        let host = parts(said.split("run: ").next().unwrap_or_default());
        assert_eq!(host.lines().next(), itself.lines().next(), "{name}");
        let seated = format!("run: Cpus_allowed_list:\t{last}\n");
        let refused = format!("refused: seatmap: CPU {count} does not exist");
        assert_holds(name, &said, &[seated, refused]);
        if LOOKED_AT.contains(&name) {
            let said = on(&place, name, LOOKS, last);
            let doctor = format!("all online CPUs, 0-{last}");
            let check = format!("1 thread on CPUs 0-{last}: ");
            let top = format!(", {count} CPUs ");
            assert_holds(name, &said, &[doctor, check, top]);
        }
    }
}

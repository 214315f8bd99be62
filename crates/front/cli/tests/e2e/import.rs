//! `seatmap import`.

use crate::common::{Json, Place, assert_contains, files, stderr};
use serde_json::Value;
use std::process::Command;

const TRIANGLE: &str = ",,,\n20,,,\n60,62,,\n61,60.5,21,\n";

#[test]
fn triangular_matrix_becomes_round_trip_profile() {
    let place = Place::new();
    place.file("four.csv", TRIANGLE.replace('\n', "\r\n"));
    let summary = place.stdout("import four.csv -o x.json");
    assert_eq!(summary, "x.json: four with 4 PUs in 2 groups of 2, R2 0.9993\n");
    let profile = place.read_json("x.json");
    assert_eq!(profile["origin"]["kind"], "imported");
    assert_eq!(profile["core_distance"]["median_ns"][0][1], 40.0);
    assert_eq!(profile["core_distance"]["status"][3][0], "imported");
    assert_eq!(place.stdout("export --format csv x.json"), TRIANGLE);
}

#[test]
fn name_and_topology_options_are_used() {
    let place = Place::new();
    place.stdout("export xeon-e5-2680-2s --format hwloc-xml -o lstopo.xml");
    place.stdout("export xeon-e5-2680-2s --format csv -o matrix.csv");
    let bare = place.json("import matrix.csv");
    assert_eq!(bare["topology"]["pus"][17]["core"], Value::Null);
    let married =
        place.json(["import", "matrix.csv", "--topology", "lstopo.xml", "--name", "old server"]);
    assert_eq!(married["name"], "old server");
    assert_eq!(married["topology"]["pus"][17]["core"], married["topology"]["pus"][1]["core"]);
    place.file("four.csv", TRIANGLE);
    let line = place.one_line_refusal("import four.csv --topology lstopo.xml");
    assert!(line.contains('4') && line.contains("32"), "{line}");
}

#[test]
fn rows_may_cover_some_cpus() {
    let place = Place::new();
    place.file("four.csv", TRIANGLE);
    place.stdout("export xeon-e5-2680-2s --format hwloc-xml -o lstopo.xml");
    let taken = place.run("import four.csv --json");
    let remark = stderr(&taken);
    assert!(remark.contains("CPUs 0-3 were assumed") && remark.contains("--cpus LIST"), "{remark}");
    let named = "import four.csv --cpus 1-3,9 --json";
    let alone = place.run(named);
    assert!(alone.stderr.is_empty(), "{}", stderr(&alone));
    let whole = place.json("import four.csv --cpus 1-3,9 --topology lstopo.xml");
    assert_eq!(whole["core_distance"]["pus"], serde_json::json!([1, 2, 3, 9]));
    assert_eq!(whole["topology"]["pus"].elements().len(), 32);
    place.file("some.json", serde_json::to_string(&whole).unwrap());
    let plan = place.json("place --on some.json --pattern pairs:4 --json");
    let mut seats: Vec<u64> = plan["placement"].elements().iter().map(|cpu| cpu.whole()).collect();
    seats.sort_unstable();
    assert_eq!(seats, [1, 2, 3, 9], "a plan names the CPUs that were measured");
    let refused = |arguments: &str| place.one_line_refusal(("import", arguments));
    assert!(refused("four.csv --cpus 1-3").contains("the matrix has 4 rows, but --cpus names 3"));
    assert!(refused("lstopo.xml --cpus 1-3").contains("leave out --cpus"));
    assert!(refused("four.csv --cpus 1,1,2,3").contains('1'));
    let elsewhere = refused("four.csv --cpus 1-3,99 --topology lstopo.xml");
    assert_contains(&elsewhere, "PU 99 of the matrix is not in the topology");
}

/// A file of version 1, which has no version attribute.
const OLD: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc.dtd">
<topology>
  <object type="Machine" os_index="0" cpuset="0xf" complete_cpuset="0xf" online_cpuset="0xf" allowed_cpuset="0xf">
    <object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" online_cpuset="0x1" allowed_cpuset="0x1"/>
    <object type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2" online_cpuset="0x2" allowed_cpuset="0x2"/>
    <object type="PU" os_index="2" cpuset="0x4" complete_cpuset="0x4" online_cpuset="0x4" allowed_cpuset="0x4"/>
    <object type="PU" os_index="3" cpuset="0x8" complete_cpuset="0x8" online_cpuset="0x8" allowed_cpuset="0x8"/>
  </object>
</topology>
"#;

#[test]
fn old_topology_error_names_conversion_command() {
    let place = Place::new();
    place.file("the old one.xml", OLD);
    let line = place.one_line_refusal(["import", "the old one.xml"]);
    let command = line.split_once("converts: ").unwrap().1.trim();
    assert_eq!(command, "lstopo -i 'the old one.xml' --of xml 'the old one-hwloc2.xml'");
    if !seatmap_needs::tool("lstopo-no-graphics") {
        return;
    }
    let command = command.replace("lstopo ", "lstopo-no-graphics ");
    let output =
        Command::new("sh").args(["-c", &command]).current_dir(place.folder()).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let profile = place.json(["import", "the old one-hwloc2.xml"]);
    assert_eq!(profile["topology"]["pus"].elements().len(), 4);
}

/// Two packages of two NUMA nodes; nodes 1 and 2 have no memory.
fn half_populated() -> String {
    let mut text =
        "<topology version=\"2.0\"><object type=\"Machine\" cpuset=\"0xff\" allowed_cpuset=\"0xff\">".to_owned();
    for node in 0..4_u32 {
        let memory = if node == 1 || node == 2 { " local_memory=\"8000000000\"" } else { "" };
        if node % 2 == 0 {
            text += &format!("<object type=\"Package\" os_index=\"{}\">", node / 2);
        }
        let cpus = 3 << (2 * node);
        text += "<object type=\"Group\">";
        text += &format!(
            "<object type=\"NUMANode\" os_index=\"{node}\" cpuset=\"{cpus:#x}\"{memory}/>"
        );
        for cpu in [2 * node, 2 * node + 1] {
            text +=
                &format!("<object type=\"Core\"><object type=\"PU\" os_index=\"{cpu}\"/></object>");
        }
        text += "</object>";
        if node % 2 == 1 {
            text += "</object>";
        }
    }
    text + "</object></topology>"
}

#[test]
fn memory_comes_from_populated_nodes() {
    let place = Place::new();
    place.file("nps4.xml", half_populated());
    let mut rows = String::new();
    for row in 0..8 {
        rows += &(0..8)
            .map(|column| if column < row { "40" } else { "" })
            .collect::<Vec<_>>()
            .join(",");
        rows += "\n";
    }
    place.file("m.csv", rows);
    place.stdout("import m.csv --topology nps4.xml -o m.json");
    let seats = "place --on m.json --pattern pairs:4 --cpus 0,1,6,7 --memory -o plan.json";
    place.stdout(seats);
    let plan = place.read_json("plan.json");
    let nodes: Vec<u64> = plan["memory"].elements().iter().map(|nodes| nodes[0].whole()).collect();
    let cpus: Vec<u64> = plan["placement"].elements().iter().map(|cpu| cpu.whole()).collect();
    let nearest: Vec<u64> = cpus.iter().map(|cpu| if *cpu < 4 { 1 } else { 2 }).collect();
    assert_eq!(nodes, nearest, "the node of the same package that has memory, for {cpus:?}");
    let numactl = place.stdout("export plan.json --format numactl");
    assert!(!numactl.contains("--membind=0") && !numactl.contains("--membind=3"), "{numactl}");
}

#[test]
fn several_files_need_a_folder() {
    let place = Place::new();
    place.file("a.csv", TRIANGLE);
    place.file("b.csv", ",\n30,\n");
    place.refuses("import a.csv b.csv", "several files need an existing folder");
    std::fs::create_dir(place.path("out")).unwrap();
    place.stdout("import a.csv b.csv -o out");
    assert!(place.path("out/a.json").exists() && place.path("out/b.json").exists());
    assert_eq!(files(&place), ["a.csv", "b.csv", "out"]);
}

#[test]
fn input_file_is_never_overwritten() {
    let place = Place::new();
    place.file("a.csv", TRIANGLE);
    place.stdout("import a.csv -o a.json");
    let before = place.read("a.json");
    std::os::unix::fs::symlink(".", place.path("here")).unwrap();
    for folder in [".", "here"] {
        place.refuses(
            ["import", "a.json", "-o", folder],
            "a.json would be overwritten by its own profile",
        );
    }
    assert_eq!(place.read("a.json"), before);
    // An explicitly named file is overwritten.
    place.stdout("import a.json --name other -o a.json");
    assert!(place.read("a.json").contains("other"));
}

#[test]
fn cycles_need_a_frequency() {
    let Some(file) = seatmap_needs::published("mctop/lpdxeon2680.mct") else { return };
    let place = Place::new();
    let median = |arguments: &str| {
        let profile = place.json((&["import", file.to_str().unwrap(), "--json"], arguments));
        profile["core_distance"]["median_ns"][0][1].number()
    };
    assert!((median("--frequency 2.8g") - 80.0).abs() < 1e-9);
    let assumed = place.run(["import", file.to_str().unwrap()]);
    assert!(stderr(&assumed).contains("--frequency"));
    assert!(place.refusal("import x.mct --frequency fast").contains("2.8g"));
}

#[test]
fn every_published_file_is_read_or_refused() {
    let Some(folder) = seatmap_needs::published("core-to-core") else { return };
    let place = Place::new();
    for folder in
        [folder.clone(), folder.with_file_name("hwloc-xml"), folder.with_file_name("mctop")]
    {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let output = place.run(["import", path.to_str().unwrap(), "-o", "x.json"]);
            let readable = !name.contains("LICENSE") && !name.starts_with("not-a-matrix");
            assert_eq!(
                output.status.code(),
                Some(if readable { 0 } else { 2 }),
                "{name}: {output:?}"
            );
            let quantised = stderr(&output).contains("coarse clock");
            assert_eq!(quantised, name.contains("coarse-clock"), "{name}");
        }
    }
}

#[test]
fn output_folder_gets_one_file_per_input() {
    let place = Place::new();
    for folder in ["p", "q", "out"] {
        std::fs::create_dir(place.path(folder)).unwrap();
    }
    place.file("p/x.csv", ",\n30,\n");
    place.file("q/x.csv", TRIANGLE);
    place.refuses(
        "import p/x.csv q/x.csv -o out",
        "p/x.csv and q/x.csv would both become out/x.json",
    );
    // The name in a file must not select the destination.
    place.stdout("import p/x.csv --name ../evil -o q/a.json");
    place.stdout("import q/a.json q/x.csv -o out");
    assert!(place.path("out/a.json").exists() && place.path("out/x.json").exists());
    assert_eq!(files(&place), ["out", "p", "q"]);
}

#[test]
fn stdout_gets_one_document() {
    let place = Place::new();
    place.file("four.csv", TRIANGLE);
    let plain = place.stdout("import four.csv");
    for arguments in ["-o -", "--json", "-o - --json", "-o x.json --json"] {
        assert_eq!(place.stdout(("import four.csv", arguments)), plain, "{arguments:?}");
    }
    assert_eq!(place.read("x.json"), plain);
}

#[test]
fn matrix_survives_export_and_import() {
    let place = Place::new();
    let medians = |file: &str| place.json(["import", file])["core_distance"]["median_ns"].clone();
    place.stdout("measure --on epyc-7r13-2s --cpus 0-9,48-57,96-99 --quick -o x.json");
    place.stdout("export x.json --format csv -o x.csv");
    assert_eq!(medians("x.csv"), medians("x.json"));
    place.stdout("import x.csv -o again.json");
    assert_eq!(place.stdout("export again.json --format csv"), place.read("x.csv"));
}

#[test]
fn gathered_computer_and_twin_are_imported() {
    let place = Place::new();
    let dump = seatmap_needs::published("sysfs/48amd64-4pa2n6c-sparse.tar.bz2");
    let Some(dump) = dump.as_ref().and_then(|dump| dump.to_str()) else { return };
    assert!(
        place
            .stdout(["import", dump, "-o", "x.json"])
            .contains("48amd64-4pa2n6c-sparse with 48 PUs")
    );
    assert!(place.stdout(["show", dump]).contains("48 PUs"));
    place.file("bad.tar.bz2", "BZh91AY");
    place.refuses("import bad.tar.bz2", "bad.tar.bz2: ");
    std::fs::create_dir(place.path("empty")).unwrap();
    place.refuses("import empty", "hwloc-gather-topology");
    place.stdout("model fit xeon-e5-2680-2s -o twin.toml");
    assert!(place.stdout("import twin.toml -o twin.json").contains("with 32 PUs"));
}

#[test]
fn files_of_other_verbs_name_the_verb() {
    let place = Place::new();
    place.file("m.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 5\n");
    let pattern = "seatmap: m.mtx: this is a pattern, not a machine; use it with 'seatmap place \
                   --on MACHINE --pattern m.mtx'";
    assert_eq!(place.one_line_refusal("import m.mtx"), pattern);
    place.stdout("measure --on epyc-7r13-2s --cpus 0-3 --quick -o m.json");
    let machine = "seatmap: m.json: this is a machine, not a pattern; give it as '--on m.json', or \
                   show it with 'seatmap show m.json'";
    let place_it = "place --on m.json --pattern m.json";
    assert_eq!(place.one_line_refusal(place_it), machine);
    place.file("snap.txt", "# FromNodeId ToNodeId\n10 2000000\n2000000 10\n");
    place.refuses("import snap.txt", "a SNAP list of edges");
}

/// Executes the command from the error, if Graphviz is installed.
#[test]
fn suggested_gvpr_command_reads_subgraphs() {
    let place = Place::new();
    place.file("g.dot", "graph { a -- b; subgraph { b -- c [weight=4] } }");
    let refusal = place.one_line_refusal("place --on host --pattern g.dot");
    let (_, command) = refusal.split_once("(Debian package graphviz): ").unwrap();
    if !seatmap_needs::program("gvpr", &["-V"]) {
        return;
    }
    let command = command.replace("OLD", "g.dot").replace("NEW.csv", "g.csv");
    let made = std::process::Command::new("sh")
        .args(["-c", &command])
        .current_dir(place.folder())
        .status()
        .unwrap();
    assert!(made.success(), "{command}");
    assert_eq!(place.read("g.csv"), "from,to,bytes\na,b,1\nb,a,1\nb,c,4\nc,b,4\n");
}

//! `seatmap import`.

use crate::common::{Json, Place, stderr};
use std::process::Command;

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

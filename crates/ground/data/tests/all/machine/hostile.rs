//! Importing any file ends in a consistent profile or in an error: no panic, no infinity or NaN, no
//! more memory than the file's size warrants.

use crate::machine::change::any_change;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use seatmap_data::machine::import::{self, ImportOptions, Imported};

/// Short starts of each kind of file, enough to get past the first line.
const SEEDS: [(&str, &str); 6] = [
    ("a.csv", ",,,\n21.5,,,\n22.5,20.5,,\n90.1,91.2,23.4,\n"),
    ("a.csv", "0,1,2\r\n1,0,3\r\n2.5,3,0\r\n\r\n"),
    ("a.mct", "#box #HWCs 2 #Nodes 1 SMT 1\n0 0 0\n0 1 30\n1 0 30\n1 1 0\n#Cache_levels 4\n"),
    (
        "a.xml",
        r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0x3" allowed_cpuset="0x3">
    <object type="Package" os_index="0"><info name="CPUModel" value="A &amp; B"/>
      <object type="NUMANode" os_index="0" cpuset="0x00000003"/>
      <object type="Core" os_index="0"><object type="PU" os_index="0"/><object type="PU" os_index="1"/></object>
    </object>
  </object>
  <distances2 type="PU" nbobjs="2" kind="6" name="CoreDistanceRoundTripPicoseconds" indexing="os">
    <indexes length="4">0 1 </indexes><u64values length="16">0 80125 80125 0 </u64values>
  </distances2>
  <cpukind cpuset="0x1" forced_efficiency="1"><info name="CoreType" value="IntelCore"/></cpukind>
</topology>
"#,
    ),
    (
        "a.json",
        r#"{"format":"seatmap-profile/1","name":"a","origin":{"kind":"imported","source":"a"},
"topology":{"pus":[{"os":0},{"os":7,"core":3}]},
"core_distance":{"pus":[0,7],"median_ns":[[0.0,80.5],[80.5,0.0]],"status":[[null,"imported"],["imported",null]]}}"#,
    ),
    ("a.toml", "format = \"seatmap-machine/1\"\nname = \"a\"\n"),
];

const POISON: [&str; 18] = [
    "nan",
    "inf",
    "-1",
    "0",
    "1e300",
    "1e-320",
    "4294967296",
    "18446744073709551616",
    ",",
    "\n",
    "\r",
    " ",
    "<",
    "\"",
    "&x;",
    "#",
    "0x",
    "null",
];

fn import(bytes: &[u8], name: &str) -> bool {
    let Ok(Imported { profile, .. }) =
        import::read_with(bytes, name, None, &ImportOptions::default())
    else {
        return false;
    };
    assert!(profile.check().is_ok(), "{:?}", profile.check());
    for (_, _, ns) in profile.core_distance.iter().flat_map(|distance| distance.median_ns.pairs()) {
        assert!(ns.is_nan() || (*ns >= 0.0 && ns.is_finite()), "{ns}");
    }
    let json = profile.to_json();
    assert_eq!(
        import::read(json.as_bytes(), "again.json", None).map(|again| again.to_json()).ok(),
        Some(json)
    );
    true
}

#[test]
fn fuzz_seeds_are_read() {
    for (name, text) in SEEDS.into_iter().filter(|(name, _)| *name != "a.toml") {
        assert!(import(text.as_bytes(), name), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn importer_survives_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400), seed in select(&SEEDS[..]), keep in any::<Index>()) {
        import(&bytes, seed.0);
        let mut begun = seed.1.as_bytes()[..keep.index(seed.1.len())].to_vec();
        begun.extend(bytes);
        import(&begun, seed.0);
    }

    #[test]
    fn importer_survives_changed_files(seed in select(&SEEDS[..]), changes in prop::collection::vec(any_change(&POISON, 200), 1..6)) {
        let mut bytes = seed.1.as_bytes().to_vec();
        changes.iter().for_each(|change| change.make(&mut bytes));
        import(&bytes, seed.0);
    }
}

fn published() -> Vec<(String, Vec<u8>)> {
    let folders = ["core-to-core", "hwloc-xml", "mctop"].map(seatmap_needs::published);
    let entries = folders.into_iter().flatten().flat_map(std::fs::read_dir);
    let paths = entries.flatten().flatten().map(|entry| entry.path());
    let files = paths
        .filter_map(|path| Some((path.to_string_lossy().into_owned(), std::fs::read(path).ok()?)));
    files.filter(|(_, bytes)| bytes.len() < 70_000).collect()
}

#[test]
fn importer_survives_changed_published_files() {
    let files = published();
    if files.is_empty() {
        return;
    }
    let case = (any::<Index>(), prop::collection::vec(any_change(&POISON, 200), 1..4));
    let config =
        ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() };
    let result = prop::test_runner::TestRunner::new(config).run(&case, |(file, changes)| {
        let (name, mut bytes) = file.get(&files).clone();
        import(&bytes, &name);
        changes.iter().for_each(|change| change.make(&mut bytes));
        import(&bytes, &name);
        Ok(())
    });
    result.unwrap();
}

#[test]
fn nesting_and_length_are_limited() {
    let topology = "<topology version=\"2.0\">";
    let refused = [
        ("a.json", format!("{{\"format\":\"seatmap-profile/1\",\"name\":{}", "[".repeat(200_000))),
        ("a.xml", topology.to_owned() + &"<object type=\"Group\">".repeat(200_000)),
        (
            "a.xml",
            format!("{topology}<object type=\"Machine\"{}/></topology>", " a=\"\"".repeat(200_000)),
        ),
        (
            "a.xml",
            format!(
                "{topology}<object type=\"Machine\" allowed_cpuset=\"{}\"/>",
                ",".repeat(200_000)
            ),
        ),
        ("a.toml", format!("format = \"seatmap-machine/1\"\na = {}", "[".repeat(200_000))),
        ("a.csv", ",".repeat(5_000_000)),
        ("a.csv", ",\n".repeat(1_000_000)),
        ("a.csv", "9".repeat(1_000_000) + ",1"),
        ("a.mct", "#a #HWCs 8192 #Nodes 1 SMT 1\n".to_owned() + &"0 0 0\n".repeat(100_000)),
    ];
    for (name, text) in refused {
        assert!(!import(text.as_bytes(), name), "{name}: {}...", &text[..40]);
    }
}

#[test]
fn xml_entities_are_not_expanded() {
    let bomb = "<!DOCTYPE topology [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;\"><!ENTITY c SYSTEM \"file:///etc/passwd\">]>";
    for entity in ["&b;", "&c;"] {
        let text = format!(
            "{bomb}<topology version=\"2.0\"><object type=\"Package\"><info name=\"CPUModel\" value=\"{entity}\"/>\
             <object type=\"PU\" os_index=\"0\"/></object></topology>"
        );
        let error = import::read(text.as_bytes(), "bomb.xml", None).unwrap_err().to_string();
        assert!(error.contains("unrecognized entity"), "{error}");
    }
}

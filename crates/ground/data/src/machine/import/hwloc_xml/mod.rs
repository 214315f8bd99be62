//! hwloc's topologies: the XML of `lstopo --of xml`, versions 2 and 3.
//!
//! | level | read from | numbered by |
//! |---|---|---|
//! | PU | `PU`, if allowed and online | `os_index` |
//! | core, L2, L3, die | `Core`, `L2Cache`, `L3Cache`, `Die` around it | order in the file |
//! | cache size | `cache_size` of `L1Cache` (data), `L1iCache`, `L2Cache`, `L3Cache` around it | |
//! | cluster, book, drawer | `Group` around it with the subtype of that name | order in the file |
//! | package | `Package` around it | `os_index`, else order |
//! | NUMA node | its smallest `NUMANode` by cpuset, wherever attached | `os_index` |
//! | kind | `cpukind`: `CoreType`, else as [`crate::machine::speed`], else top efficiency class | |
//!
//! hwloc's numbers of cores, caches and dies repeat in each package, so the importer counts them in
//! file order.
//!
//! Core distances are read from a `<distances2>` over PUs as in
//! [`crate::machine::export::hwloc_xml`]: round trips in picoseconds. Version 1 (hwloc before 2018)
//! has other objects and is refused. The document type is skipped, entities other than XML's own
//! five are errors, and nothing outside the file is opened.

mod distances;
mod element;
mod kinds;
mod memory;
mod scan;

use super::{File, Imported, MachineImportError};
use crate::document::{DocumentError, shell_file};
use crate::machine::{Pu, Topology};
use distances::HwlocDistances;
use kinds::Kinds;
use scan::{OLD_VERSION, Scan};
use std::collections::BTreeMap;

/// The name of core distances in hwloc's XML. It includes the unit, for which hwloc has no
/// attribute.
pub const DISTANCES_NAME: &str = "CoreDistanceRoundTripPicoseconds";

/// The info of a NUMA node present only because hwloc needs one.
pub(crate) const PLACEHOLDER_INFO: &str = "SeatmapPlaceholder";

/// Reads the text of such a file.
///
/// # Errors
/// [`MachineImportError::Malformed`] for a file that is not such XML.
pub(super) fn read(text: &str, file: File<'_>) -> Result<Imported, MachineImportError> {
    let scan = Scan::of(text).map_err(|error| convertible(error, file.path))?;
    let tool =
        scan.version.as_ref().map_or("hwloc".to_owned(), |version| format!("hwloc {version}"));
    let mut profile = file.profile(&tool, topology(&scan));
    profile.environment.cpu_model = scan.cpu_model;
    let (core_distance, notes) = HwlocDistances::choose(scan.distances);
    profile.core_distance = core_distance;
    Ok(Imported { profile, notes })
}

/// Adds the command that converts an old file: the usual command would export this computer's
/// topology.
fn convertible(error: MachineImportError, path: &str) -> MachineImportError {
    match error {
        MachineImportError::Malformed { place, problem, .. }
            if problem.starts_with(OLD_VERSION) =>
        {
            let stem = path.strip_suffix(".xml").unwrap_or(path);
            let old = shell_file(path);
            let new = shell_file(&format!("{stem}-hwloc2.xml"));
            let command = format!("lstopo -i {old} --of xml {new}");
            DocumentError::at(place, format!("{problem}, which hwloc 2 converts: {command}")).into()
        }
        other => other,
    }
}

fn topology(scan: &Scan) -> Topology {
    let mut pus: Vec<Pu> = scan
        .pus
        .iter()
        .filter(|pu| scan.allowed.as_ref().is_none_or(|set| set.contains(pu.os)))
        .cloned()
        .collect();
    // hwloc orders PUs by position, profiles by number.
    pus.sort_by_key(|pu| pu.os);
    let kinds = Kinds::of(&scan.kinds);
    let mut threads_of_core = BTreeMap::<u32, u32>::new();
    for pu in &mut pus {
        let local = scan.numa_nodes.iter().filter(|node| node.cpuset.contains(pu.os));
        pu.numa = local.min_by_key(|node| (node.cpuset.len(), node.os)).map(|node| node.os);
        pu.memory = pu.numa.and_then(|own| memory::instead(&scan.numa_nodes, own));
        pu.kind = kinds.of_pu(pu.os);
        pu.smt = pu.core.map(|core| {
            let rank = threads_of_core.entry(core).or_default();
            *rank += 1;
            *rank - 1
        });
    }
    Topology { pus }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::CoreKind;
    use crate::machine::import::ProfileNote;

    fn object(kind: &str, attributes: &str, children: &str) -> String {
        format!("<object type=\"{kind}\" {attributes}>{children}</object>")
    }

    fn pu(os: u32) -> String {
        object("PU", &format!("os_index=\"{os}\""), "")
    }

    fn document(machine: &str, rest: &str) -> String {
        let machine = object("Machine", "allowed_cpuset=\"0x0000ff0f\"", machine);
        format!("<?xml version=\"1.0\"?>\n<topology version=\"2.0\">\n{machine}\n{rest}</topology>")
    }

    fn import(text: &str) -> Result<Imported, MachineImportError> {
        read(text, File { name: "x.xml", path: "a b/x.xml", date: None })
    }

    /// The kinds of PUs 0 and 1.
    fn kinds(rest: &str) -> Vec<Option<CoreKind>> {
        let topology = import(&document(&(pu(0) + &pu(1)), rest)).unwrap().profile.topology;
        topology.pus.iter().map(|pu| pu.kind).collect()
    }

    const HYBRID: [Option<CoreKind>; 2] = [Some(CoreKind::Efficiency), Some(CoreKind::Performance)];

    fn refusal(text: &str) -> String {
        let full = import(text).unwrap_err().to_string();
        full.split("; ").next().unwrap_or_default().to_owned()
    }

    #[test]
    fn levels_come_from_enclosing_objects() {
        let core = |a, b| object("Core", "os_index=\"0\"", &(pu(a) + &pu(b)));
        let cache = object("L3Cache", "", &object("L2Cache", "", &(core(0, 8) + &core(1, 9))));
        let node = object("NUMANode", "os_index=\"3\" cpuset=\"0x00000303\"", "");
        let info = "<info name=\"CPUModel\" value=\"A &amp; B  \"/>";
        let package = object(
            "Package",
            "os_index=\"2\"",
            &(info.to_owned() + &node + &object("Die", "", &cache)),
        );
        let other = object("Package", "", &object("Core", "os_index=\"0\"", &(pu(2) + &pu(4))));
        let profile = import(&document(&(package + &other), "")).unwrap().profile;
        let expected = |os, core, smt| Pu {
            os,
            core: Some(core),
            smt: Some(smt),
            l2: Some(0),
            l3: Some(0),
            die: Some(0),
            numa: Some(3),
            package: Some(2),
            ..Pu::default()
        };
        let last = Pu { os: 2, core: Some(2), smt: Some(0), package: Some(1), ..Pu::default() };
        let pus =
            [expected(0, 0, 0), expected(1, 1, 0), last, expected(8, 0, 1), expected(9, 1, 1)];
        assert_eq!(profile.topology.pus, pus);
        assert_eq!(profile.environment.cpu_model.as_deref(), Some("A & B"));
    }

    #[test]
    fn hwloc_3_is_read_without_disallowed_pus() {
        let text =
            document(&(pu(0) + &pu(4) + &pu(8)), "<info name=\"hwlocVersion\" value=\"3.0.0\"/>");
        let profile = import(&text.replace("version=\"2.0\"", "version=\"3.0\"")).unwrap().profile;
        assert_eq!(profile.topology, Topology::unknown([0, 8]));
        assert_eq!(profile.origin.tool.as_deref(), Some("hwloc 3.0.0"));
    }

    /// One kind of cores, with its attributes and named values.
    fn kind(cpuset: &str, attributes: &str, values: &[(&str, &str)]) -> String {
        let info =
            |(name, value): &(&str, &str)| format!("<info name=\"{name}\" value=\"{value}\"/>");
        let infos: String = values.iter().map(info).collect();
        format!("<cpukind cpuset=\"{cpuset}\" {attributes}>{infos}</cpukind>")
    }

    #[test]
    fn core_kinds_follow_type_efficiency_or_frequency() {
        let class = |class: u32| format!("forced_efficiency=\"{class}\"");
        let of_type = |cpuset, name| kind(cpuset, &class(0), &[("CoreType", name)]);
        assert_eq!(kinds(&(of_type("0x1", "IntelAtom") + &of_type("0x2", "IntelCore"))), HYBRID);
        assert_eq!(kinds(&kind("0x3", &class(0), &[])), [None, None]);
        let classes = |one, two| kind("0x1", &class(one), &[]) + &kind("0x2", &class(two), &[]);
        assert_eq!(kinds(&classes(3, 7)), HYBRID);
        // On Linux they are capacities.
        assert_eq!(kinds(&classes(1007, 1024)), [None, None], "equal cores of different silicon");
        assert_eq!(kinds(&classes(446, 1024)), HYBRID);
        let clocked = |cpuset, base, max| {
            kind(cpuset, "", &[("FrequencyBaseMHz", base), ("FrequencyMaxMHz", max)])
        };
        let fast = clocked("0x2", "1900", "5000");
        assert_eq!(kinds(&(clocked("0x1", "1400", "3900") + &fast)), HYBRID);
        assert_eq!(
            kinds(&(clocked("0x1", "1900", "5200") + &fast)),
            [None, None],
            "cores that clock a little higher are not of another kind"
        );
    }

    #[test]
    fn linux_groups_become_levels() {
        let group = |subtype: &str, inside: &str| {
            object("Group", &format!("subtype=\"{subtype}\""), inside)
        };
        let package =
            object("Package", "", &(group("Cluster", &pu(0)) + &group("Cluster", &pu(1))));
        let machine = group("Drawer", &(group("Book", &package) + &group("Book", &pu(2))));
        let topology =
            import(&document(&(object("Group", "", &machine)), "")).unwrap().profile.topology;
        let levels = |pu: &Pu| (pu.cluster, pu.book, pu.drawer);
        let expected =
            [(Some(0), Some(0), Some(0)), (Some(1), Some(0), Some(0)), (None, Some(1), Some(0))];
        assert_eq!(topology.pus.iter().map(levels).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn distances_in_unknown_units_are_ignored() {
        let distances = |name: &str, kind: u32| {
            format!(
                "<distances2 type=\"PU\" nbobjs=\"2\" kind=\"{kind}\" {name} indexing=\"os\"><indexes length=\"4\">1 0 \
                 </indexes><u64values length=\"4\">0 81500 </u64values><u64values length=\"4\">81500 0 </u64values>\
                 </distances2>"
            )
        };
        let read = |rest: &str| import(&document(&(pu(0) + &pu(1)), rest)).unwrap();
        let ours = read(&distances(&format!("name=\"{DISTANCES_NAME}\""), 6))
            .profile
            .core_distance
            .unwrap();
        assert_eq!((ours.pus.as_slice(), ours.median_ns[(0, 1)]), (&[1, 0][..], 81.5));
        let foreign = read(&distances("name=\"Cycles\"", 6));
        assert_eq!(foreign.profile.core_distance, None);
        assert_eq!(foreign.notes, [ProfileNote::ForeignDistances { name: "Cycles".into() }]);
        assert_eq!(read(&distances("", 8)).profile.core_distance, None);
        let nodes = "<distances2 type=\"NUMANode\" nbobjs=\"99999999999\" kind=\"6\" indexing=\"os\">\
                     <u64values length=\"2\">1 </u64values></distances2>";
        assert_eq!(read(nodes).profile.core_distance, None);
    }

    #[test]
    fn hwloc_errors_name_the_position() {
        let good = document(&(pu(0) + &pu(1)), "");
        let all: Vec<String> = [
            "<html><body/></html>".to_owned(),
            good.replace("2.0", "1.0"),
            good.replace("</topology>", ""),
            good.replace("os_index=\"0\"", "os_index=\"-1\""),
            good.replace("os_index=\"0\"", ""),
            good.replace("0x0000ff0f", "all"),
            good.replace("0x0000ff0f", "&bomb;"),
            document("", ""),
            document(&"<object type=\"Group\">".repeat(1000), ""),
            document(&pu(0), "<distances2 type=\"PU\" nbobjs=\"2\" kind=\"6\" indexing=\"os\"/>"),
            document(
                &pu(0),
                "<distances2 type=\"PU\" nbobjs=\"999999999\" kind=\"6\" indexing=\"os\"/>",
            ),
        ]
        .map(|text| refusal(&text))
        .into();
        insta::assert_snapshot!(all.join("\n"), @"
        line 1, column 1: <html> is not an hwloc topology
        line 2, column 1: this is the old version 1.0 of hwloc's XML, which hwloc 2 converts: lstopo -i 'a b/x.xml' --of xml 'a b/x-hwloc2.xml'
        line 4, column 1: the file ends too early
        line 3, column 52: os_index cannot be '-1'
        line 3, column 52: <object> has no os_index
        line 3, column 1: allowed_cpuset cannot be 'all'
        line 3, column 1: at 1..5: unrecognized entity `bomb`
        line 4, column 12: the file has no PUs
        line 3, column 5386: <object> is nested deeper than 256
        line 4, column 1: <distances2> of 2 objects has 0 indexes and 0 values
        line 4, column 1: nbobjs cannot be '999999999'
        ");
    }
}

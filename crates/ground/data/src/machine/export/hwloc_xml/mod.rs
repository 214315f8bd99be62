//! hwloc's topologies, version 2 XML, for `lstopo --input FILE.xml --distances`.
//!
//! The profile's known levels become objects; without a topology there are only PUs under the
//! machine. hwloc requires a NUMA node, so a profile without one gets a placeholder. Median
//! distances are in `<distances2>` between PUs as latencies from the user (kind 6): round trips in
//! picoseconds, because hwloc has integers; 0 between two PUs means unknown. Hybrid kinds become
//! `<cpukind>`s.

mod tree;

use super::ProfileExportError;
use crate::machine::import::cpuset::HwlocBitmap;
use crate::machine::import::hwloc_xml::{DISTANCES_NAME, PLACEHOLDER_INFO};
use crate::machine::{CoreDistance, CoreKind, Profile, Topology};
use quick_xml::escape::escape;
use tree::{HwlocObject, ObjectTree};

/// `HWLOC_DISTANCES_KIND_FROM_USER | HWLOC_DISTANCES_KIND_MEANS_LATENCY` of hwloc/distances.h.
const KIND_USER_LATENCY: u32 = 1 << 1 | 1 << 2;

/// The topology and the median distances of a profile.
///
/// # Errors
/// [`ProfileExportError`] for a topology that is not a tree.
pub fn write(profile: &Profile) -> Result<String, ProfileExportError> {
    let tree = ObjectTree::of(&profile.topology)?;
    let mut out = Document::default();
    out.line("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    out.line("<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">");
    out.open("<topology version=\"2.0\">");
    out.object(profile, &tree, ObjectTree::ROOT);
    if let Some(distances) = &profile.core_distance {
        out.distances(distances);
    }
    // hwloc numbers kinds by efficiency, the least performing first.
    let is_there = |kind: &CoreKind| profile.topology.pus.iter().any(|pu| pu.kind == Some(*kind));
    let kinds = CoreKind::ALL.into_iter().rev().filter(is_there);
    kinds.enumerate().for_each(|(class, kind)| out.kind(&profile.topology, class, kind));
    out.close("</topology>");
    Ok(out.text)
}

#[derive(Default)]
struct Document {
    text: String,
    depth: usize,
    gp_index: u64,
}

impl Document {
    fn line(&mut self, line: &str) {
        self.text.extend(std::iter::repeat_n("  ", self.depth));
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn open(&mut self, line: &str) {
        self.line(line);
        self.depth += 1;
    }

    fn close(&mut self, line: &str) {
        self.depth -= 1;
        self.line(line);
    }

    fn object(&mut self, profile: &Profile, tree: &ObjectTree, at: usize) {
        let node = &tree.nodes[at];
        let (object_type, kind) = node.type_and_kind();
        let attributes = self.attributes(profile, tree, node) + &kind;
        let is_leaf = node.children.is_empty() && node.numa_nodes.is_empty();
        if is_leaf {
            return self.line(&format!("<object type=\"{object_type}\"{attributes}/>"));
        }
        self.open(&format!("<object type=\"{object_type}\"{attributes}>"));
        self.info(profile, node);
        for numa in &node.numa_nodes {
            self.numa_node(node, *numa);
        }
        for child in &node.children {
            self.object(profile, tree, *child);
        }
        self.close("</object>");
    }

    fn attributes(&mut self, profile: &Profile, tree: &ObjectTree, node: &HwlocObject) -> String {
        let nodeset = tree.nodeset(node);
        let mut text = node.os_index.map(|os| format!(" os_index=\"{os}\"")).unwrap_or_default();
        text += &self.sets(node, &nodeset);
        if node.level == ObjectTree::MACHINE {
            // Only the root lists the allowed CPUs; objects below it inherit them.
            let cpuset = cpuset(&node.pus);
            text += &format!(" allowed_cpuset=\"{cpuset}\" allowed_nodeset=\"{nodeset}\"");
        }
        // hwloc requires these for a cache; 0 means unknown.
        if let Some((depth, cache_type, bytes)) = node.cache(&profile.topology) {
            text += &format!(
                " cache_size=\"{bytes}\" depth=\"{depth}\" cache_linesize=\"0\" \
                 cache_associativity=\"0\" cache_type=\"{cache_type}\""
            );
        }
        text
    }

    fn sets(&mut self, node: &HwlocObject, nodeset: &HwlocBitmap) -> String {
        // Unique in a topology, as hwloc requires.
        self.gp_index += 1;
        let cpuset = cpuset(&node.pus);
        let gp_index = self.gp_index;
        format!(
            " cpuset=\"{cpuset}\" complete_cpuset=\"{cpuset}\" nodeset=\"{nodeset}\" \
             complete_nodeset=\"{nodeset}\" gp_index=\"{gp_index}\""
        )
    }

    fn info(&mut self, profile: &Profile, node: &HwlocObject) {
        if let (ObjectTree::PACKAGE, Some(model)) = (node.level, &profile.environment.cpu_model) {
            // XML cannot express control characters.
            self.line(&format!(
                "<info name=\"CPUModel\" value=\"{}\"/>",
                escape(crate::document::visible(model))
            ));
        }
    }

    fn numa_node(&mut self, node: &HwlocObject, numa: Option<u32>) {
        // hwloc refuses a topology without a NUMA node; import removes a marked placeholder.
        let os = numa.unwrap_or(0);
        let sets = self.sets(node, &HwlocBitmap::from_iter([os]));
        self.open(&format!("<object type=\"NUMANode\" os_index=\"{os}\"{sets}>"));
        if numa.is_none() {
            self.line(&format!("<info name=\"{PLACEHOLDER_INFO}\" value=\"1\"/>"));
        }
        self.close("</object>");
    }

    fn distances(&mut self, distances: &CoreDistance) {
        let n = distances.pus.len();
        // hwloc ignores the distances of a single object, with a message.
        if n < 2 {
            return;
        }
        self.open(&format!(
            "<distances2 type=\"PU\" nbobjs=\"{n}\" kind=\"{KIND_USER_LATENCY}\" \
             name=\"{DISTANCES_NAME}\" indexing=\"os\">"
        ));
        self.numbers("indexes", distances.pus.iter().map(|os| u64::from(*os)));
        for i in 0..n {
            self.numbers(
                "u64values",
                (0..n).map(|j| if i == j { 0 } else { picoseconds(distances.median_ns[(i, j)]) }),
            );
        }
        self.close("</distances2>");
    }

    fn numbers(&mut self, tag: &str, numbers: impl Iterator<Item = u64>) {
        let content: String = numbers.map(|number| format!("{number} ")).collect();
        self.line(&format!("<{tag} length=\"{}\">{content}</{tag}>", content.len()));
    }

    fn kind(&mut self, topology: &Topology, class: usize, kind: CoreKind) {
        let pus: Vec<u32> =
            topology.pus.iter().filter(|pu| pu.kind == Some(kind)).map(|pu| pu.os).collect();
        let name = match kind {
            CoreKind::Performance => "Performance",
            CoreKind::Middle => "Middle",
            CoreKind::Efficiency => "Efficiency",
            CoreKind::LowPower => "LowPower",
        };
        let cpus = cpuset(&pus);
        self.open(&format!("<cpukind cpuset=\"{cpus}\" forced_efficiency=\"{class}\">"));
        self.line(&format!("<info name=\"CoreType\" value=\"{name}\"/>"));
        self.close("</cpukind>");
    }
}

fn cpuset(pus: &[u32]) -> HwlocBitmap {
    pus.iter().copied().collect()
}

/// Picoseconds, rounded; 0 for an unknown distance. The cast saturates.
fn picoseconds(ns: f64) -> u64 {
    (ns * 1000.0).round() as u64
}

//! Machines described by counts alone, in TOML: `seatmap-topology/1`.
//!
//! A sheet has no distances: a program that sees the machine needs only its parts. Blocks of equal
//! cores follow the kernel's numbering.
//!
//! ```
//! # use seatmap_data::machine::MachineSheet;
//! let sheet = MachineSheet::from_toml(r#"
//! format = "seatmap-topology/1"
//! name = "small"
//! summary = "One fast core of two threads, and two slow cores"
//! source = "made up"
//! numbering = "threads-adjacent"
//! [[cores]]
//! count = 1
//! threads = 2
//! kind = "P"
//! [[cores]]
//! count = 2
//! kind = "E"
//! "#)?;
//! assert_eq!(sheet.topology().pus.len(), 4);
//! # Ok::<(), seatmap_data::document::DocumentError>(())
//! ```

use crate::document::{DocumentError, read_toml};
use crate::machine::description::Numbering;
use crate::machine::description::shape::MAX_PUS;
use crate::machine::{CoreKind, Origin, OriginKind, Profile, Pu, Topology};
use crate::statistics::words::counted;
use seatmap_os::{CpuList, CpuSet};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// The value of the `format` key.
pub const FORMAT: &str = "seatmap-topology/1";

/// A machine's parts by counts. Unknown keys are errors, because they are typing mistakes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MachineSheet {
    /// Name and version of the format.
    pub format: String,
    /// The machine's name on the command line.
    pub name: String,
    /// A description in one line.
    pub summary: String,
    /// The publication behind the counts, and the figures that it does not give.
    pub source: String,
    /// Packages, each with all blocks of cores.
    #[serde(default = "one")]
    pub packages: NonZeroU32,
    /// The order of OS indices.
    #[serde(default)]
    pub numbering: Numbering,
    /// The OS indices in that order, as a list, if they are not 0, 1, 2 and so on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<String>,
    /// The OS indices of the NUMA nodes in order, if they are not 0, 1, 2 and so on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<u32>,
    /// The NUMA nodes whose CPUs have no local memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes_without_memory: Vec<u32>,
    /// NUMA nodes that have memory and no CPU.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes_without_cpus: Vec<u32>,
    /// Blocks of equal cores, in the kernel's order.
    pub cores: Vec<CoreBlock>,
}

/// Equal cores of one package.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CoreBlock {
    /// Cores of this block in each package.
    pub count: NonZeroU32,
    /// Hardware threads of each core.
    #[serde(default = "one")]
    pub threads: NonZeroU32,
    /// The kind of core, on a machine with several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<CoreKind>,
    /// The package's number, if it is not the package's place in the order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package: Option<u32>,
    /// Cores of each NUMA node. Default: the package is a node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores_per_node: Option<NonZeroU32>,
    /// Cores of each die, if the kernel reports dies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores_per_die: Option<NonZeroU32>,
    /// Cores of each cluster, if the kernel reports clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores_per_cluster: Option<NonZeroU32>,
    /// Cores at each L3. Default: the package's blocks with an L3 share one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores_per_l3: Option<NonZeroU32>,
    /// Cores at each L2.
    #[serde(default = "one")]
    pub cores_per_l2: NonZeroU32,
    /// The size of an L3, in KiB; absent without an L3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l3_kib: Option<u64>,
    /// The size of an L2, in KiB; absent if the kernel reports none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l2_kib: Option<u64>,
    /// The size of a core's level-1 data cache, in KiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l1d_kib: Option<u64>,
    /// The size of a core's level-1 instruction cache, in KiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l1i_kib: Option<u64>,
    /// The sustained frequency, in kHz.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_khz: Option<u64>,
    /// The highest frequency, in kHz: one figure for all cores, or one for each in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub max_khz: Vec<u64>,
    /// The firmware's ranking, the highest first: one figure for all cores, or one for each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub priority: Vec<u32>,
    /// Linux's `cpu_capacity`, 1024 for the machine's fastest core: one figure for all cores, or
    /// one for each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capacity: Vec<u64>,
    /// The type of core on Arm: implementer and part of `MIDR_EL1`, such as `0x410fd810`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub midr: Option<u64>,
}

/// The implementer and the part of `MIDR_EL1`.
const CORE_TYPE: u64 = 0xff00_fff0;

fn one() -> NonZeroU32 {
    NonZeroU32::MIN
}

/// Whether a text declares itself a sheet.
pub fn is_sheet(text: &str) -> bool {
    text.lines()
        .any(|line| line.trim_start().starts_with("format") && line.contains("seatmap-topology/"))
}

impl MachineSheet {
    /// Reads and checks a sheet.
    ///
    /// # Errors
    /// [`DocumentError`], with line and column in the text.
    pub fn from_toml(text: &str) -> Result<Self, DocumentError> {
        let sheet: MachineSheet = read_toml(text, FORMAT)?;
        match sheet.flaw() {
            Some(flaw) => Err(DocumentError::Inconsistent(flaw)),
            None => Ok(sheet),
        }
    }

    fn flaw(&self) -> Option<String> {
        let most = u64::from(MAX_PUS);
        let of_package = self.cores.iter().fold(0_u64, |sum, block| {
            let pus = u64::from(block.count.get()).saturating_mul(block.threads.get().into());
            sum.saturating_add(pus)
        });
        let pus = of_package.saturating_mul(self.packages.get().into());
        if !(1..=most).contains(&pus) {
            return Some(format!("it has {}; give 1 to {most}", counted(pus, "CPU")));
        }
        if let Some(list) = &self.cpus {
            let numbers = list.parse::<CpuList>().map(|list| list.0);
            match numbers {
                Err(error) => return Some(format!("cpus: {error}")),
                Ok(numbers) if numbers.len() as u64 != pus => {
                    return Some(format!(
                        "cpus: {} for {}",
                        counted(numbers.len(), "number"),
                        counted(pus, "CPU")
                    ));
                }
                Ok(numbers) if CpuSet::from_iter(numbers.iter().copied()).len() as u64 != pus => {
                    return Some("cpus: a number is listed twice".to_owned());
                }
                Ok(_) => {}
            }
        }
        if let Some(block) = self.cores.iter().find(|block| block.has_short_list()) {
            return Some(format!(
                "a list has neither one figure nor {}, one for each core of its block",
                block.count
            ));
        }
        let seats = self.in_order();
        let nodes = CpuSet::from_iter(seats.iter().filter_map(|pu| pu.numa));
        let empty = CpuSet::from_iter(self.nodes_without_memory.iter().copied());
        let extra = CpuSet::from_iter(self.nodes_without_cpus.iter().copied());
        if !self.nodes.is_empty() && CpuSet::from_iter(self.nodes.iter().copied()) != nodes {
            return Some(format!("nodes: the CPUs have {}", counted(nodes.len(), "node")));
        }
        if !empty.is_subset(&nodes) || extra.meets(&nodes) {
            return Some("nodes_without_memory have CPUs; nodes_without_cpus have none".to_owned());
        }
        nodes.without(&empty).is_empty().then(|| "no node of a CPU has memory".to_owned())
    }

    /// The hardware threads, by OS index.
    pub fn topology(&self) -> Topology {
        let mut pus = self.in_order();
        if self.numbering == Numbering::ThreadsLast {
            // A stable sort keeps the order of cores.
            pus.sort_by_key(|pu| pu.smt);
        }
        let listed = self.cpus.as_ref().and_then(|list| list.parse::<CpuList>().ok());
        for (at, pu) in pus.iter_mut().enumerate() {
            let number = listed.as_ref().and_then(|list| list.0.get(at));
            pu.os = number.copied().unwrap_or(at as u32);
        }
        pus.sort_by_key(|pu| pu.os);
        let with_memory = pus.iter().filter(|pu| !self.lacks_memory(pu.numa));
        let homes: Vec<(Option<u32>, Option<u32>)> =
            with_memory.map(|pu| (pu.package, pu.numa)).collect();
        for pu in pus.iter_mut().filter(|pu| self.lacks_memory(pu.numa)) {
            let near = homes.iter().find(|(package, _)| *package == pu.package);
            pu.memory = near.or(homes.first()).and_then(|(_, node)| *node);
        }
        Topology { pus }
    }

    fn lacks_memory(&self, node: Option<u32>) -> bool {
        node.is_some_and(|node| self.nodes_without_memory.contains(&node))
    }

    /// The hardware threads core by core, without their final OS indices.
    fn in_order(&self) -> Vec<Pu> {
        let mut pus = Vec::new();
        let mut nodes: Vec<u32> = Vec::new();
        for place in self.places() {
            let node = place.part(place.block.cores_per_node);
            if !nodes.contains(&node) {
                nodes.push(node);
            }
            let nth = nodes.iter().position(|known| *known == node).unwrap_or_default();
            let numa = self.nodes.get(nth).copied().unwrap_or(nth as u32);
            let pu = Pu { numa: Some(numa), ..place.pu() };
            let threads = 0..place.block.threads.get();
            pus.extend(threads.map(|smt| Pu { smt: Some(smt), ..pu.clone() }));
        }
        pus
    }

    fn places(&self) -> impl Iterator<Item = CorePlace<'_>> {
        let of_package: u32 = self.cores.iter().map(|block| block.count.get()).sum();
        (0..self.packages.get()).flat_map(move |package| {
            let first = package * of_package;
            let ranks = self
                .cores
                .iter()
                .flat_map(|block| (0..block.count.get()).map(move |rank| (block, rank)));
            ranks.zip(first..).map(move |((block, rank), core)| CorePlace {
                block,
                package,
                first,
                core,
                rank,
            })
        })
    }

    /// The sheet as a profile without distances.
    pub fn to_profile(&self) -> Profile {
        let origin =
            Origin { kind: OriginKind::Model, source: self.source.clone(), date: None, tool: None };
        Profile::new(&*self.name, origin, self.topology())
    }
}

impl CoreBlock {
    fn has_short_list(&self) -> bool {
        let lengths = [self.max_khz.len(), self.priority.len(), self.capacity.len()];
        lengths.iter().any(|length| *length > 1 && *length != self.count.get() as usize)
    }
}

/// One core of a sheet.
struct CorePlace<'a> {
    block: &'a CoreBlock,
    package: u32,
    /// Package's first core.
    first: u32,
    core: u32,
    /// Its place in its block.
    rank: u32,
}

impl CorePlace<'_> {
    /// The number of its part of so many cores, by default of the package: that of the part's first
    /// core, which no other part of the level has.
    fn part(&self, cores: Option<NonZeroU32>) -> u32 {
        cores.map_or(self.first, |cores| self.core - self.rank % cores)
    }

    /// The core's figure of a list with one for all or one for each.
    fn figure<T: Copy>(&self, figures: &[T]) -> Option<T> {
        figures.get(if figures.len() > 1 { self.rank as usize } else { 0 }).copied()
    }

    fn pu(&self) -> Pu {
        let block = self.block;
        Pu {
            core: Some(self.core),
            l2: block.l2_kib.map(|_| self.part(Some(block.cores_per_l2))),
            cluster: block.cores_per_cluster.map(|cores| self.part(Some(cores))),
            l3: block.l3_kib.map(|_| self.part(block.cores_per_l3)),
            die: block.cores_per_die.map(|cores| self.part(Some(cores))),
            package: Some(block.package.unwrap_or(self.package)),
            kind: block.kind,
            l1d_bytes: bytes(block.l1d_kib),
            l1i_bytes: bytes(block.l1i_kib),
            l2_bytes: bytes(block.l2_kib),
            l3_bytes: bytes(block.l3_kib),
            priority: self.figure(&block.priority),
            core_type: block.midr.map(|midr| midr & CORE_TYPE),
            capacity: self.figure(&block.capacity),
            base_khz: block.base_khz,
            max_khz: self.figure(&block.max_khz),
            ..Pu::default()
        }
    }
}

fn bytes(kib: Option<u64>) -> Option<u64> {
    kib.map(|kib| kib << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "format = \"seatmap-topology/1\"\nname = \"made-up\"\n\
                        summary = \"made up\"\nsource = \"made up\"\n";

    fn refusal(rest: &str) -> String {
        MachineSheet::from_toml(&format!("{HEAD}{rest}")).unwrap_err().to_string()
    }

    /// One line per PU: OS index, then core.thread, L2, L3, node, memory, package and kind.
    fn picture(rest: &str) -> String {
        let sheet = MachineSheet::from_toml(&format!("{HEAD}{rest}")).unwrap();
        let number = |part: Option<u32>| part.map_or("-".to_owned(), |part| part.to_string());
        let line = |pu: &Pu| {
            let parts = [pu.l2, pu.l3, pu.numa, pu.memory, pu.package].map(number).join(" ");
            let kind = pu.kind.map_or("-", CoreKind::letters);
            format!("{} {}.{} {parts} {kind}", pu.os, number(pu.core), number(pu.smt))
        };
        sheet.topology().pus.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn blocks_share_package_l3_and_keep_their_l2() {
        let text = "cpus = \"0,3,1,2,6,7\"\nnumbering = \"threads-adjacent\"\n[[cores]]\n\
                    count = 1\nthreads = 2\nkind = \"P\"\nl2_kib = 2048\nl3_kib = 8192\n[[cores]]\n\
                    count = 2\nkind = \"E\"\ncores_per_l2 = 2\nl2_kib = 2048\nl3_kib = 8192\n\
                    [[cores]]\ncount = 2\nkind = \"LP\"\n";
        insta::assert_snapshot!(picture(text), @"
        0 0.0 0 0 0 - 0 P
        1 1.0 1 0 0 - 0 E
        2 2.0 1 0 0 - 0 E
        3 0.1 0 0 0 - 0 P
        6 3.0 - - 0 - 0 LP
        7 4.0 - - 0 - 0 LP
        ");
    }

    #[test]
    fn nodes_without_memory_use_the_nearest_one_with_it() {
        let text = "packages = 2\nnodes = [0, 1, 8, 9]\nnodes_without_memory = [1, 9]\n\
                    nodes_without_cpus = [255]\n[[cores]]\ncount = 2\ncores_per_node = 1\n\
                    threads = 2\n";
        insta::assert_snapshot!(picture(text), @"
        0 0.0 - - 0 - 0 -
        1 1.0 - - 1 0 0 -
        2 2.0 - - 8 - 1 -
        3 3.0 - - 9 8 1 -
        4 0.1 - - 0 - 0 -
        5 1.1 - - 1 0 0 -
        6 2.1 - - 8 - 1 -
        7 3.1 - - 9 8 1 -
        ");
    }

    #[test]
    fn contradictory_counts_are_refused() {
        let core = "[[cores]]\ncount = 2\n";
        let cases = [
            ("", "line 1, column 1: missing field `cores`"),
            ("packages = 8192\n", "it has 16384 CPUs; give 1 to 8192"),
            ("cpus = \"0-2\"\n", "cpus: 3 numbers for 2 CPUs"),
            ("cpus = \"1,1\"\n", "cpus: a number is listed twice"),
            ("cpus = \"x\"\n", "cpus: column 1: 'x' is not a CPU number"),
            ("[[cores]]\ncount = 3\nmax_khz = [1, 2]\n", "a list has neither one figure nor 3"),
            ("nodes = [0, 1]\n", "nodes: the CPUs have 1 node"),
            ("nodes_without_memory = [0]\n", "no node of a CPU has memory"),
            ("nodes_without_memory = [1]\n", "nodes_without_memory have CPUs"),
            ("nodes_without_cpus = [0]\n", "nodes_without_memory have CPUs"),
            ("speed = 1\n", "line 5, column 1: unknown field `speed`"),
        ];
        for (text, expected) in cases {
            let blocks = if text.is_empty() { "" } else { core };
            let refused = refusal(&format!("{text}{blocks}"));
            assert!(refused.starts_with(expected), "{text}: {refused}");
        }
        let other = MachineSheet::from_toml("format = \"seatmap-topology/2\"").unwrap_err();
        assert!(other.to_string().contains("reads seatmap-topology/1"), "{other}");
    }
}

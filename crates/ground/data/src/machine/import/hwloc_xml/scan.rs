//! One pass over the XML that keeps the relevant parts.

use super::super::cpuset::HwlocBitmap;
use super::super::{MAX_PUS, MachineImportError};
use super::PLACEHOLDER_INFO;
use super::distances::HwlocDistances;
use super::element::{attribute, parsed, required};
use super::kinds::RawKind;
use crate::document::{Position, whole_number};
use crate::machine::{Pu, Speed};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use seatmap_os::cpu_list::MAX_CPU;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The deepest nesting; hwloc's own topologies, PCI bridges included, stay under 40.
const MAX_DEPTH: usize = 256;

/// The start of the problem of a version that only hwloc 2 reads.
pub const OLD_VERSION: &str = "this is the old version";

const REMEDY: &str =
    "create it again on the same machine, with hwloc 2 or 3: lstopo --of xml FILE.xml";

#[derive(Debug)]
pub struct NumaNode {
    pub os: u32,
    pub cpuset: HwlocBitmap,
    /// Bytes of its memory, if the file has them; a node without this attribute has none if others
    /// have it.
    pub memory_bytes: Option<u64>,
    pub package: Option<u32>,
}

#[derive(Debug, Default)]
pub struct Scan {
    pub pus: Vec<Pu>,
    pub numa_nodes: Vec<NumaNode>,
    pub kinds: Vec<RawKind>,
    pub distances: Vec<HwlocDistances>,
    pub allowed: Option<HwlocBitmap>,
    pub cpu_model: Option<String>,
    pub version: Option<String>,
    /// Numbers of objects so far, by their types.
    numbers: BTreeMap<&'static str, u32>,
}

#[derive(Clone, Debug)]
enum Open {
    Topology,
    Object(Box<Pu>),
    NumaNode,
    Kind,
    Distances,
    Indexes,
    Values,
    Other,
}

impl Scan {
    pub fn of(text: &str) -> Result<Self, MachineImportError> {
        let mut reader = Reader::from_str(text);
        let mut scan = Scan::default();
        let mut open: Vec<Open> = Vec::new();
        loop {
            // The position of a fault is the start of its event.
            let start = reader.buffer_position();
            let event = reader.read_event().map_err(|error| {
                wrong(position(text, reader.error_position()), error.to_string())
            })?;
            let is_end = matches!(event, Event::Eof);
            scan.take(event, &mut open).map_err(|problem| wrong(position(text, start), problem))?;
            if is_end {
                return Ok(scan);
            }
        }
    }

    fn take(&mut self, event: Event<'_>, open: &mut Vec<Open>) -> Result<(), String> {
        match event {
            Event::Start(element) if open.len() == MAX_DEPTH => {
                Err(format!("<{}> is nested deeper than {MAX_DEPTH}", name_of(&element)))
            }
            Event::Start(element) => {
                let opened = self.open(&element, open.last())?;
                open.push(opened);
                Ok(())
            }
            Event::Empty(element) => {
                self.open(&element, open.last()).and_then(|opened| self.close(&opened))
            }
            Event::End(_) => open.pop().map_or(Ok(()), |closed| self.close(&closed)),
            Event::Text(text) => self.text(open.last(), &text),
            Event::Eof if !open.is_empty() => Err("the file ends too early".to_owned()),
            Event::Eof if self.pus.is_empty() => Err("the file has no PUs".to_owned()),
            _ => Ok(()),
        }
    }

    fn open(&mut self, element: &BytesStart<'_>, parent: Option<&Open>) -> Result<Open, String> {
        match (name_of(element).as_ref(), parent) {
            ("topology", None) => topology(element),
            (name, None) => Err(format!("<{name}> is not an hwloc topology")),
            ("object", Some(Open::Topology)) => self.object(element, &Pu::default()),
            ("object", Some(Open::Object(around))) => self.object(element, around),
            ("cpukind", Some(Open::Topology)) => self.kind(element),
            ("distances2", Some(Open::Topology)) => {
                self.distances.push(HwlocDistances::of(element)?);
                Ok(Open::Distances)
            }
            ("indexes", Some(Open::Distances)) => Ok(Open::Indexes),
            ("u64values", Some(Open::Distances)) => Ok(Open::Values),
            ("info", Some(parent)) => self.info(element, parent),
            _ => Ok(Open::Other),
        }
    }

    fn object(&mut self, element: &BytesStart<'_>, around: &Pu) -> Result<Open, String> {
        let mut inside = around.clone();
        match required(element, "type", |text| Some(text.to_owned()))?.as_str() {
            "Machine" => self.allowed = parsed(element, "allowed_cpuset", HwlocBitmap::parse)?,
            "Package" => {
                let running = self.next("Package");
                inside.package = parsed(element, "os_index", os_index)?.or(running);
            }
            "Die" => inside.die = self.next("Die"),
            "L3Cache" => {
                inside.l3 = self.next("L3Cache");
                inside.l3_bytes = cache_bytes(element)?;
            }
            "L2Cache" => {
                inside.l2 = self.next("L2Cache");
                inside.l2_bytes = cache_bytes(element)?;
            }
            "L1Cache" => inside.l1d_bytes = cache_bytes(element)?,
            "L1iCache" => inside.l1i_bytes = cache_bytes(element)?,
            "Core" => inside.core = self.next("Core"),
            "Group" => match attribute(element, "subtype")?.as_deref() {
                Some("Cluster") => inside.cluster = self.next("Cluster"),
                Some("Book") => inside.book = self.next("Book"),
                Some("Drawer") => inside.drawer = self.next("Drawer"),
                _ => {}
            },
            "PU" => self.pu(element, around)?,
            // hwloc attaches memory next to CPUs, so a node holds no objects of the levels.
            "NUMANode" => return self.numa_node(element, around),
            _ => {}
        }
        Ok(Open::Object(Box::new(inside)))
    }

    /// The running number of an object of this type.
    fn next(&mut self, kind: &'static str) -> Option<u32> {
        let next = self.numbers.entry(kind).or_default();
        *next += 1;
        Some(*next - 1)
    }

    fn pu(&mut self, element: &BytesStart<'_>, around: &Pu) -> Result<(), String> {
        if self.pus.len() == MAX_PUS {
            return Err(format!("there are more than {MAX_PUS} PUs"));
        }
        self.pus.push(Pu { os: required(element, "os_index", os_index)?, ..around.clone() });
        Ok(())
    }

    fn numa_node(&mut self, element: &BytesStart<'_>, around: &Pu) -> Result<Open, String> {
        if self.numa_nodes.len() == MAX_PUS {
            return Err(format!("there are more than {MAX_PUS} NUMA nodes"));
        }
        let os = required(element, "os_index", os_index)?;
        let cpuset = parsed(element, "cpuset", HwlocBitmap::parse)?.unwrap_or_default();
        let memory_bytes = parsed(element, "local_memory", whole_number)?;
        self.numa_nodes.push(NumaNode { os, cpuset, memory_bytes, package: around.package });
        Ok(Open::NumaNode)
    }

    fn kind(&mut self, element: &BytesStart<'_>) -> Result<Open, String> {
        if self.kinds.len() == MAX_PUS {
            return Err(format!("there are more than {MAX_PUS} kinds of CPUs"));
        }
        let efficiency = parsed(element, "forced_efficiency", |text| text.parse().ok())?;
        let cpuset = required(element, "cpuset", HwlocBitmap::parse)?;
        self.kinds.push(RawKind { cpuset, efficiency, core_type: None, speed: Speed::default() });
        Ok(Open::Kind)
    }

    fn info(&mut self, element: &BytesStart<'_>, parent: &Open) -> Result<Open, String> {
        match (parent, attribute(element, "name")?.as_deref()) {
            (Open::Object(_), Some("CPUModel")) => {
                self.cpu_model = Some(value_of(element)?).filter(|model| !model.is_empty())
            }
            (Open::Object(_) | Open::Topology, Some("hwlocVersion")) => {
                self.version = Some(value_of(element)?)
            }
            // `export` writes this node only because hwloc needs one.
            (Open::NumaNode, Some(PLACEHOLDER_INFO)) => drop(self.numa_nodes.pop()),
            (Open::Kind, Some(name)) => {
                let value = value_of(element)?;
                self.kinds.last_mut().into_iter().for_each(|kind| kind.learn(name, &value));
            }
            _ => {}
        }
        Ok(Open::Other)
    }

    fn text(&mut self, parent: Option<&Open>, text: &str) -> Result<(), String> {
        match (parent, self.distances.last_mut()) {
            (Some(Open::Indexes), Some(distances)) => distances.add_indexes(text),
            (Some(Open::Values), Some(distances)) => distances.add_values(text),
            _ => Ok(()),
        }
    }

    fn close(&mut self, closed: &Open) -> Result<(), String> {
        match (closed, self.distances.last()) {
            (Open::Distances, Some(distances)) => distances.check(),
            _ => Ok(()),
        }
    }
}

fn position(text: &str, offset: u64) -> Position {
    Position::of(text.as_bytes(), offset as usize)
}

fn value_of(element: &BytesStart<'_>) -> Result<String, String> {
    attribute(element, "value").map(|value| value.unwrap_or_default().trim().to_owned())
}

fn topology(element: &BytesStart<'_>) -> Result<Open, String> {
    // Version 1 did not write its number.
    let version = attribute(element, "version")?.unwrap_or(Cow::Borrowed("1"));
    if version.starts_with("2.") || version.starts_with("3.") {
        return Ok(Open::Topology);
    }
    let version: String = version.chars().take(24).collect();
    let start = if version.starts_with('1') { OLD_VERSION } else { "this is version" };
    Err(format!("{start} {version} of hwloc's XML"))
}

fn cache_bytes(element: &BytesStart<'_>) -> Result<Option<u64>, String> {
    Ok(parsed(element, "cache_size", whole_number::<u64>)?.filter(|bytes| *bytes > 0))
}

fn os_index(text: &str) -> Option<u32> {
    whole_number(text).filter(|os| *os <= MAX_CPU)
}

fn name_of(element: &BytesStart<'_>) -> String {
    element.name().as_ref().chars().take(24).collect()
}

fn wrong(place: Position, problem: String) -> MachineImportError {
    MachineImportError::Malformed { place, problem, remedy: REMEDY }
}

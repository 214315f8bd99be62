//! The CPUs and nodes of systemd's units, from unit files, drop-ins, the output of `systemctl
//! show`, and the script of `seatmap export --format systemd`.
//!
//! Settings: systemd.exec(5) and systemd.resource-control(5). Lists add up; an empty one drops
//! earlier ones. A unit runs on the CPUs that it and all its slices allow.

mod specifiers;

use super::lists::{ListSpelling, parse};
use super::{ImportRemark, ImportedSeats, SourceFile, WrittenSeat};
use crate::Service;
use crate::file::{service_name, stem};
use seatmap_data::document::whole_number;
use seatmap_os::CpuSet;
use std::collections::{BTreeMap, BTreeSet};

const SECTIONS: [&str; 6] = ["[Service]", "[Slice]", "[Scope]", "[Socket]", "[Mount]", "[Swap]"];

const NO_UNIT: &str = "the unit of these settings is unknown: name the file NAME.service or \
                       NAME.service.d/FILE.conf, or print the name too: 'systemctl show --property \
                       Id,...'";

/// Kinds of units with processes.
pub const KINDS: [&str; 6] = [".service", ".slice", ".scope", ".socket", ".mount", ".swap"];

const USUAL_SLICE: &str = "system.slice";

/// Sets without a setting are empty.
#[derive(Clone, Debug, Default)]
pub struct UnitSettings {
    affinity: CpuSet,
    allowed: CpuSet,
    nodes: CpuSet,
    numa_policy: String,
    numa_mask: CpuSet,
    slice: Option<String>,
    is_partition: bool,
    is_named: bool,
    is_noted: bool,
    sources: BTreeSet<String>,
}

pub type UnitFiles = BTreeMap<String, UnitSettings>;

/// A unit file, the output of `systemctl show`, or the script of an export.
pub fn is_systemd(text: &str) -> bool {
    let has_section = text.lines().any(|line| {
        let line = line.trim();
        SECTIONS.contains(&line) || line == "[Unit]" || line == "[Install]"
    });
    has_section || is_script(text) || is_shown(text)
}

fn is_shown(text: &str) -> bool {
    let has_section = text.lines().any(|line| line.trim_start().starts_with('['));
    !has_section
        && text.lines().any(|line| {
            line.split_once('=').is_some_and(|(key, _)| key == "Id" || PROPERTIES.contains(&key))
        })
}

fn is_script(text: &str) -> bool {
    text.starts_with("#!/bin/sh\n# Seatmap plan:")
}

const PROPERTIES: [&str; 7] = [
    "CPUAffinity",
    "AllowedCPUs",
    "AllowedMemoryNodes",
    "NUMAPolicy",
    "NUMAMask",
    "CPUSetPartition",
    "Slice",
];

pub fn read(
    file: &SourceFile<'_>,
    units: &mut UnitFiles,
    seats: &mut ImportedSeats,
) -> Result<(), String> {
    if is_script(file.text) {
        script(file, units, seats);
        return Ok(());
    }
    if is_shown(file.text) {
        return shown(file, units, seats);
    }
    let Some(name) = unit_of_file(file.name) else { return Err(NO_UNIT.to_owned()) };
    if is_of_many(&name) {
        seats.remarks.push(ImportRemark::ManyUnits { unit: name });
        return Ok(());
    }
    unit_file(file, &name, file.text, units, seats);
    Ok(())
}

/// `redis.service`, or `redis.service.d/50-seatmap.conf`.
fn unit_of_file(path: &str) -> Option<String> {
    let mut parts = path.rsplit('/');
    let file = parts.next()?;
    let folder = parts.next().and_then(|folder| folder.strip_suffix(".d"));
    let name = folder.filter(|_| file.ends_with(".conf")).unwrap_or(file);
    // The drop-in folder for all units of a kind is `service.d`.
    let is_kind = KINDS.iter().any(|kind| kind[1..] == *name);
    (is_kind || KINDS.iter().any(|kind| name.ends_with(kind))).then(|| name.to_owned())
}

/// A template, a prefix, or a kind.
fn is_of_many(name: &str) -> bool {
    let stem = name.rsplit_once('.').map_or("", |(stem, _)| stem);
    stem.is_empty() || stem.ends_with('@') || stem.ends_with('-') && stem != "-"
}

/// A backslash at its end joins a line with the next one.
fn unit_file(
    file: &SourceFile<'_>,
    name: &str,
    text: &str,
    units: &mut UnitFiles,
    seats: &mut ImportedSeats,
) {
    let unit = units.entry(name.to_owned()).or_default();
    unit.note(file);
    let mut is_read = false;
    let mut joined = String::new();
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(begun) = line.strip_suffix('\\') {
            joined += begun;
            joined.push(' ');
            continue;
        }
        joined += line;
        let whole = std::mem::take(&mut joined);
        if whole.starts_with('[') {
            is_read = SECTIONS.contains(&whole.as_str());
        } else if let Some((key, value)) = whole.split_once('=').filter(|_| is_read) {
            unit.set(name, key.trim(), value.trim(), seats);
        }
    }
}

/// An empty line separates units.
fn shown(
    file: &SourceFile<'_>,
    units: &mut UnitFiles,
    seats: &mut ImportedSeats,
) -> Result<(), String> {
    let mut own = Vec::new();
    for line in file.text.lines().chain([""]) {
        if !line.trim().is_empty() {
            own.extend(line.split_once('='));
            continue;
        }
        let of_unit = std::mem::take(&mut own);
        if of_unit.is_empty() {
            continue;
        }
        let Some((_, name)) = of_unit.iter().find(|(key, _)| *key == "Id") else {
            return Err(NO_UNIT.to_owned());
        };
        let name = name.trim();
        let unit = units.entry(name.to_owned()).or_default();
        unit.note(file);
        for (key, value) in of_unit {
            // It prints final values; an empty one is not set.
            if !value.trim().is_empty() && value != "n/a" {
                unit.set(name, key, value.trim(), seats);
            }
        }
    }
    Ok(())
}

fn script(file: &SourceFile<'_>, units: &mut UnitFiles, seats: &mut ImportedSeats) {
    let mut rest = file.text;
    while let Some(at) = rest.find("\ncat > \"$folder/") {
        rest = &rest[at + "\ncat > \"$folder/".len()..];
        let Some((path, after)) = rest.split_once('\n') else { break };
        let Some((folder, _)) = path.split_once(".d/") else { continue };
        let (text, left) = after.split_once("\nEND").unwrap_or((after, ""));
        unit_file(file, folder, text, units, seats);
        rest = left;
    }
}

impl UnitSettings {
    fn note(&mut self, file: &SourceFile<'_>) {
        self.sources.insert(file.name.to_owned());
        // Most units have no such settings.
        self.is_named |= !file.is_from_folder && !is_shown(file.text);
    }

    fn set(&mut self, unit: &str, key: &str, value: &str, seats: &mut ImportedSeats) {
        match key {
            "CPUAffinity" if value == "numa" => {
                seats.remarks.push(ImportRemark::CpusOfNodes { unit: unit.to_owned() });
                self.is_noted = true;
            }
            "NUMAMask" if value == "all" => self.numa_mask = CpuSet::default(),
            "NUMAPolicy" => value.clone_into(&mut self.numa_policy),
            "CPUSetPartition" => self.is_partition = matches!(value, "root" | "isolated"),
            "Slice" => {
                let slice = specifiers::expanded(value, unit).unwrap_or_else(|| value.to_owned());
                self.slice = Some(slice).filter(|slice| !slice.is_empty());
            }
            _ => self.set_list(unit, key, value, seats),
        }
    }

    fn set_list(&mut self, unit: &str, key: &str, value: &str, seats: &mut ImportedSeats) {
        let list = match key {
            "CPUAffinity" => &mut self.affinity,
            "AllowedCPUs" => &mut self.allowed,
            "AllowedMemoryNodes" => &mut self.nodes,
            "NUMAMask" => &mut self.numa_mask,
            _ => return,
        };
        if value.is_empty() {
            *list = CpuSet::default();
            return;
        }
        let text = specifiers::expanded(value, unit).unwrap_or_default();
        let (reversed, ranges): (Vec<&str>, Vec<&str>) =
            text.split([',', ' ', '\t']).filter(|range| !range.is_empty()).partition(is_reversed);
        seats.remarks.extend(reversed.iter().map(|range| ImportRemark::ReversedRange {
            unit: unit.to_owned(),
            key: key.to_owned(),
            range: (*range).to_owned(),
        }));
        self.is_noted |= !reversed.is_empty();
        let read = parse(&ranges.join(" "), ListSpelling::Systemd);
        match read.filter(|read| !read.is_empty() || !reversed.is_empty()) {
            Some(read) => *list = list.with(&read),
            // systemd ignores it, or evaluates it when the unit starts.
            None => {
                seats.remarks.push(ImportRemark::UnreadSetting {
                    unit: unit.to_owned(),
                    key: key.to_owned(),
                    value: value.chars().take(40).collect(),
                });
                self.is_noted = true;
            }
        }
    }

    /// The nodes of its group, or of its NUMA policy.
    fn memory(&self) -> Option<&CpuSet> {
        let policies = ["bind", "interleave", "preferred", "weighted-interleave"];
        let by_policy = policies.contains(&self.numa_policy.as_str());
        let set = if self.nodes.is_empty() && by_policy { &self.numa_mask } else { &self.nodes };
        Some(set).filter(|set| !set.is_empty())
    }

    fn says_something(&self) -> bool {
        !self.affinity.is_empty() || !self.allowed.is_empty() || self.memory().is_some()
    }
}

/// systemd ignores such a range with a warning (`parse_cpu_set` of `src/shared/cpu-set-util.c`).
fn is_reversed(range: &&str) -> bool {
    let ends = range
        .split_once('-')
        .and_then(|(first, last)| Some((whole_number::<u64>(first)?, whole_number::<u64>(last)?)));
    ends.is_some_and(|(first, last)| last < first)
}

/// The innermost first: `a-b.slice`, `a.slice` (systemd.slice(5)).
fn slices(first: &str) -> Vec<String> {
    let stem = first.strip_suffix(".slice").unwrap_or(first);
    let mut around: Vec<String> = vec![first.to_owned()];
    around.extend(
        stem.rmatch_indices('-')
            .filter(|(at, _)| *at > 0)
            .map(|(at, _)| format!("{}.slice", &stem[..at])),
    );
    if first != "-.slice" {
        around.push("-.slice".to_owned());
    }
    around
}

pub fn seat(units: &UnitFiles, seats: &mut ImportedSeats) -> Result<(), String> {
    let mut inhabited: BTreeSet<String> = BTreeSet::new();
    for (name, unit) in units.iter().filter(|(name, _)| !name.ends_with(".slice")) {
        let around = slices(unit.slice.as_deref().unwrap_or(USUAL_SLICE));
        let above: Vec<&UnitSettings> =
            around.iter().filter_map(|slice| units.get(slice)).collect();
        if unit.says_something() || above.iter().any(|slice| slice.says_something()) {
            seats.add(of_unit(name, unit, &above))?;
            seats.remarks.extend(outside(name, unit, &above));
            inhabited.extend(around);
        } else if unit.is_named && !unit.is_noted {
            let files = unit.sources.iter().cloned();
            seats.remarks.extend(files.map(|file| ImportRemark::NothingToSeat { file }));
        }
    }
    // A slice without units among the files is a service.
    for (name, unit) in units.iter().filter(|(name, _)| name.ends_with(".slice")) {
        if unit.says_something() && !inhabited.contains(name) {
            let around = slices(name);
            let above = around[1..].iter().filter_map(|slice| units.get(slice));
            seats.add(of_unit(name, unit, &above.collect::<Vec<_>>()))?;
        }
    }
    Ok(())
}

/// Innermost slice first.
fn allowed(unit: &UnitSettings, above: &[&UnitSettings]) -> CpuSet {
    let outermost_first = above.iter().rev().copied().chain([unit]);
    outermost_first.fold(CpuSet::default(), |outer, one| inside(outer, &one.allowed))
}

/// The kernel gives a group without a common CPU its parent's.
fn inside(outer: CpuSet, inner: &CpuSet) -> CpuSet {
    let both = outer.within(inner);
    if outer.is_empty() {
        inner.clone()
    } else if both.is_empty() {
        outer
    } else {
        both
    }
}

fn outside(name: &str, unit: &UnitSettings, above: &[&UnitSettings]) -> Option<ImportRemark> {
    let allowed = allowed(unit, above);
    let has_both = !unit.affinity.is_empty() && !allowed.is_empty();
    (has_both && !unit.affinity.meets(&allowed)).then(|| ImportRemark::AffinityOutside {
        unit: name.to_owned(),
        affinity: unit.affinity.to_string(),
        allowed: allowed.to_string(),
    })
}

fn of_unit(name: &str, unit: &UnitSettings, above: &[&UnitSettings]) -> WrittenSeat {
    let cpus = inside(allowed(unit, above), &unit.affinity);
    let nodes = std::iter::once(unit).chain(above.iter().copied()).find_map(UnitSettings::memory);
    let service = Service {
        name: service_name(stem(name), ""),
        unit: Some(name.to_owned()),
        share: !unit.is_partition,
        ..Service::default()
    };
    let nodes = nodes.cloned().unwrap_or_default();
    WrittenSeat::new(service, &cpus, &nodes, Vec::from_iter(unit.sources.clone()), Vec::new())
}

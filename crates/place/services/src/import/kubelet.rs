//! kubelet's files: the CPUs and nodes that it gives to containers, and those that it keeps from
//! pods.
//!
//! | file | has |
//! |---|---|
//! | `cpu_manager_state` | the CPUs of each container of a guaranteed pod |
//! | `memory_manager_state` | its nodes |
//! | configuration | the CPUs that no pod gets, `reservedSystemCPUs` |
//!
//! They are defined in kubernetes/kubernetes: `pkg/kubelet/cm/cpumanager/state/checkpoint.go`, the
//! same in `memorymanager`, and `KubeletConfiguration` of `kubelet.config.k8s.io/v1beta1`. Pods
//! with own resources are in `podEntries` (Kubernetes' enhancement 5526). The fourth form of a
//! state has everything as text in `data`, which kubelet reads.
//!
//! The files do not name a container's group, so a service is a whole pod.

use super::lists::{ListSpelling, of_numbers};
use super::{CgroupDriver, ImportRemark, ImportedSeats, SourceFile, WrittenSeat, list, not_a_list};
use crate::Service;
use crate::file::service_name;
use seatmap_data::document::DocumentError;
use seatmap_os::CpuSet;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct KubeletJson {
    kind: Option<String>,
    #[serde(rename = "reservedSystemCPUs")]
    reserved_system_cpus: Option<String>,
    policy_name: Option<String>,
    default_cpu_set: Option<String>,
    machine_state: Option<serde::de::IgnoredAny>,
    entries: Option<BTreeMap<String, PodEntry>>,
    pod_entries: Option<BTreeMap<String, WholePod>>,
    data: Option<String>,
    #[serde(rename = "checksum")]
    _checksum: Option<serde::de::IgnoredAny>,
    #[serde(rename = "dataChecksum")]
    _data_checksum: Option<serde::de::IgnoredAny>,
    /// Keys of other releases, or of a configuration.
    #[serde(flatten)]
    other: BTreeMap<String, serde::de::IgnoredAny>,
}

/// Before Kubernetes 1.18, an entry is of one container, by its id.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum PodEntry {
    Containers(BTreeMap<String, ContainerEntry>),
    OldContainer(#[expect(dead_code, reason = "recognised by its shape")] String),
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum ContainerEntry {
    Cpus(String),
    Memory(Vec<MemoryBlock>),
}

/// A pod with its own resources, including those that its containers share.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WholePod {
    #[serde(default)]
    cpu_set: String,
    #[serde(default)]
    memory_blocks: Vec<MemoryBlock>,
}

#[derive(Debug, Default)]
struct PodParts {
    containers: BTreeMap<String, ContainerEntry>,
    whole: WholePod,
}

#[derive(Debug, Deserialize)]
struct MemoryBlock {
    #[serde(rename = "numaAffinity")]
    nodes: Vec<u32>,
}

const CONFIGURATION: &str = "KubeletConfiguration";

const RESERVED: &str = "reservedSystemCPUs";

pub fn is_kubelet(text: &str) -> bool {
    if text.trim_start().starts_with('{') {
        return text.contains("\"policyName\"") || text.contains(CONFIGURATION);
    }
    yaml_value(text, "kind") == Some(CONFIGURATION)
}

pub fn read(
    file: &SourceFile<'_>,
    driver: CgroupDriver,
    seats: &mut ImportedSeats,
) -> Result<(), String> {
    let text = file.text;
    if !text.trim_start().starts_with('{') {
        return reserved(file, yaml_value(text, RESERVED), seats);
    }
    let mut state = parsed(text)?;
    if state.kind.as_deref() == Some(CONFIGURATION) {
        return reserved(file, state.reserved_system_cpus.as_deref(), seats);
    }
    if let Some(data) = state.data.take() {
        let outer = state.other;
        state = parsed(&data)?;
        state.other.extend(outer);
    }
    let has_sets = state.default_cpu_set.is_some() || state.machine_state.is_some();
    let Some(policy) = state.policy_name.filter(|_| has_sets) else {
        return Err(
            "this is not a kubelet state: policyName with defaultCpuSet or machineState is \
                    missing"
                .to_owned(),
        );
    };
    if policy.eq_ignore_ascii_case("none") {
        seats.remarks.push(ImportRemark::NoPolicy { file: file.name.to_owned() });
    }
    if !state.other.is_empty() {
        let keys = state.other.into_keys().collect();
        seats.remarks.push(ImportRemark::UnreadKeys { file: file.name.to_owned(), keys });
    }
    let mut pods: BTreeMap<String, PodParts> = BTreeMap::new();
    for (uid, entry) in state.entries.unwrap_or_default() {
        let PodEntry::Containers(containers) = entry else {
            return Err("this state is from kubelet before 1.18, which identifies containers by \
                        id; read the state of a later version"
                .to_owned());
        };
        pods.entry(uid).or_default().containers = containers;
    }
    for (uid, whole) in state.pod_entries.unwrap_or_default() {
        pods.entry(uid).or_default().whole = whole;
    }
    let mut own = Vec::new();
    for (uid, parts) in pods {
        if !uid.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return Err(format!("entries: '{uid}' is not the UID of a pod"));
        }
        let seat = pod(file, &uid, parts, driver)?;
        own.push((seat.service.name.clone(), seat.cpu_set()));
        seats.add(seat)?;
    }
    if let Some(text) = state.default_cpu_set.filter(|text| !text.trim().is_empty()) {
        let shared = list("defaultCpuSet", &text, ListSpelling::Kubelet)?;
        seats.remarks.push(ImportRemark::SharedPool { cpus: shared.to_string() });
        // kubelet removes a pod's CPUs from the pool: this state contradicts itself.
        let both = own.into_iter().map(|(name, cpus)| (name, cpus.within(&shared)));
        seats.remarks.extend(both.filter(|(_, cpus)| !cpus.is_empty()).map(|(first, cpus)| {
            ImportRemark::SharedCpus {
                first,
                second: "defaultCpuSet".to_owned(),
                cpus: cpus.to_string(),
                is_claimed: true,
            }
        }));
    }
    Ok(())
}

fn parsed(text: &str) -> Result<KubeletJson, String> {
    seatmap_data::document::from_json(text).map_err(|error| DocumentError::from(error).to_string())
}

fn pod(
    file: &SourceFile<'_>,
    uid: &str,
    parts: PodParts,
    driver: CgroupDriver,
) -> Result<WrittenSeat, String> {
    let mut cpus = CpuSet::default();
    let mut details = Vec::new();
    let place = format!("podEntries.{uid}");
    if !parts.whole.cpu_set.is_empty() {
        cpus = list(&place, &parts.whole.cpu_set, ListSpelling::Kubelet)?;
    }
    let mut nodes = nodes_of(&parts.whole.memory_blocks, &place)?;
    for (container, entry) in parts.containers {
        let place = format!("entries.{uid}.{container}");
        match entry {
            ContainerEntry::Cpus(text) => {
                cpus = cpus.with(&list(&place, &text, ListSpelling::Kubelet)?);
                details.push(format!("container {container} on {text}"));
            }
            ContainerEntry::Memory(blocks) => nodes = nodes.with(&nodes_of(&blocks, &place)?),
        }
    }
    let short = uid.split('-').next().unwrap_or(uid);
    let service = Service {
        name: service_name(&format!("pod-{short}"), ""),
        cgroup: Some(driver.pod(uid)),
        // CPUs of the static policy are exclusive.
        share: cpus.is_empty(),
        ..Service::default()
    };
    Ok(WrittenSeat::new(service, &cpus, &nodes, vec![file.name.to_owned()], details))
}

fn nodes_of(blocks: &[MemoryBlock], place: &str) -> Result<CpuSet, String> {
    let nodes: Vec<u32> = blocks.iter().flat_map(|block| &block.nodes).copied().collect();
    of_numbers(&nodes).ok_or_else(|| not_a_list(place, &format!("{nodes:?}")))
}

fn reserved(
    file: &SourceFile<'_>,
    value: Option<&str>,
    seats: &mut ImportedSeats,
) -> Result<(), String> {
    match value.filter(|value| !value.is_empty()) {
        Some(value) => {
            let reserved = list(RESERVED, value, ListSpelling::Kubelet)?;
            seats.reserved = Some(reserved);
        }
        None => seats.remarks.push(ImportRemark::NothingToSeat { file: file.name.to_owned() }),
    }
    Ok(())
}

/// A configuration of kubelet has these keys at its top level, as plain or quoted text.
fn yaml_value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let rest = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    let rest = rest.trim();
    for quote in ['"', '\''] {
        if let Some(inside) = rest.strip_prefix(quote) {
            return inside.split(quote).next();
        }
    }
    rest.split(" #").next().map(str::trim)
}

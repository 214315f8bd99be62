//! A configuration of `scx_layered`, a scheduler of sched_ext: a layer for each pool.

use super::{ServicesExportError, group, left_out, unit};
use crate::file::ServiceTarget;
use crate::plan::{PlannedService, ServicesPlan};
use seatmap_os::CpuSet;
use seatmap_statistics::words::counted;
use serde::Serialize;
use std::collections::BTreeMap;

/// CPU use between which a layer keeps its CPUs, as scx_layered's examples have it. The layers have
/// a fixed number of CPUs, so that it changes nothing.
const USED: [f64; 2] = [0.5, 0.9];

/// Bytes of a process's name that the kernel keeps (`TASK_COMM_LEN` less the closing zero).
const NAME_BYTES: usize = 15;

/// The most layers, and rules of a layer (`MAX_LAYERS` and `MAX_LAYER_MATCH_ORS` of scx_layered).
const MOST_LAYERS: usize = 16;
const MOST_RULES: usize = 32;
/// Names are for reports alone, and the scheduler keeps them in fields of a fixed size.
const MOST_NAME_BYTES: usize = 63;

/// A layer, as `LayerSpec` of scx_layered reads it.
#[derive(Serialize)]
struct ServicesLayer {
    name: String,
    comment: String,
    matches: Vec<Vec<LayerRule>>,
    kind: LayerSize,
}

#[derive(Serialize)]
enum LayerRule {
    CgroupContains(String),
    CgroupPrefix(String),
    PcommPrefix(String),
    #[serde(rename = "TGIDEquals")]
    TgidEquals(i32),
}

#[derive(Serialize)]
enum LayerSize {
    Confined { cpus_range: [usize; 2], util_range: [f64; 2], nodes: Vec<u32> },
    Open {},
}

/// The layers as JSON, and one for everything else. `scx_layered` knows CPUs by their number and
/// their NUMA node, and chooses them itself.
///
/// # Errors
/// [`ServicesExportError::NoneFound`] where it can find no service.
pub fn write(plan: &ServicesPlan) -> Result<String, ServicesExportError> {
    let mut pools: BTreeMap<usize, Vec<(&PlannedService, LayerRule)>> = BTreeMap::new();
    let mut lost = Vec::new();
    for planned in &plan.services {
        match rule(planned) {
            Some(rule) => pools.entry(planned.pool).or_default().push((planned, rule)),
            None => lost.push(left_out(planned, "scx_layered")),
        }
    }
    if pools.is_empty() {
        let by = "unit, cgroup, command and pid";
        return Err(ServicesExportError::NoneFound { tool: "scx_layered", by });
    }
    within(MOST_LAYERS, "layers", pools.len() + 1)?;
    let rules = pools.values().map(Vec::len).max();
    within(MOST_RULES, "services that share CPUs", rules.unwrap_or(0))?;
    let layers = pools.into_values().filter_map(layer);
    let rest = ServicesLayer {
        name: "rest".to_owned(),
        comment: std::iter::once("Everything else.".to_owned())
            .chain(lost)
            .collect::<Vec<_>>()
            .join(" "),
        matches: vec![Vec::new()],
        kind: LayerSize::Open {},
    };
    Ok(seatmap_document::written(&layers.chain([rest]).collect::<Vec<_>>()))
}

fn within(most: usize, what: &'static str, needed: usize) -> Result<(), ServicesExportError> {
    if needed <= most {
        return Ok(());
    }
    Err(ServicesExportError::TooMany { tool: "scx_layered", what, most, needed })
}

/// The rule that finds a service. Paths of groups end in a slash there, and begin without one.
fn rule(planned: &PlannedService) -> Option<LayerRule> {
    match planned.service.target()? {
        ServiceTarget::Unit(_) => Some(LayerRule::CgroupContains(format!("/{}/", unit(planned)?))),
        ServiceTarget::Cgroup(path) => {
            group(&path).map(|below| LayerRule::CgroupPrefix(format!("{below}/")))
        }
        ServiceTarget::Command(name) => {
            // A star inside a name has no equal: a prefix ends at the first.
            let prefix = name.split('*').next().filter(|prefix| !prefix.is_empty())?;
            let cut = prefix.floor_char_boundary(NAME_BYTES);
            Some(LayerRule::PcommPrefix(prefix[..cut].to_owned()))
        }
        ServiceTarget::Pid(pid) => Some(LayerRule::TgidEquals(pid)),
        ServiceTarget::Container(_) | ServiceTarget::Domain(_) | ServiceTarget::Step(_) => None,
    }
}

/// A note where a rule finds more than the service, or less.
fn misses(planned: &PlannedService) -> Option<String> {
    let name = super::one_line(&planned.service.name);
    match planned.service.target()? {
        ServiceTarget::Pid(_) => Some(format!("{name}: without the processes that it starts")),
        ServiceTarget::Command(command) => Some(format!(
            "{name}: every program whose name begins like '{}'",
            super::one_line(&command)
        )),
        _ => None,
    }
}

/// A note where a service should sit next to a device: a layer knows nodes, and no devices.
fn far(planned: &PlannedService) -> Option<String> {
    let name = super::one_line(&planned.service.name);
    let device = planned.service.near.as_ref()?;
    let device = super::one_line(device);
    Some(if planned.nodes.is_empty() {
        format!("{name}: not kept near {device}")
    } else {
        format!("{name}: near {device} by its nodes alone")
    })
}

/// One pool as a layer: its services share the CPUs.
fn layer(members: Vec<(&PlannedService, LayerRule)>) -> Option<ServicesLayer> {
    let (first, _) = members.first()?;
    let set = first.cpu_set();
    let nodes = CpuSet::of_list(&first.nodes).unwrap_or_default();
    let mut words = vec![format!("{} (planned: {set})", counted(set.len(), "CPU"))];
    words.extend(members.iter().filter_map(|(planned, _)| misses(planned)));
    words.extend(members.iter().filter_map(|(planned, _)| far(planned)));
    let names: Vec<&str> =
        members.iter().map(|(planned, _)| planned.service.name.as_str()).collect();
    Some(ServicesLayer {
        name: shortened(names.join("+")),
        comment: words.join("; "),
        matches: members.into_iter().map(|(_, rule)| vec![rule]).collect(),
        kind: LayerSize::Confined {
            cpus_range: [set.len(), set.len()],
            util_range: USED,
            nodes: nodes.iter().collect(),
        },
    })
}

fn shortened(mut name: String) -> String {
    name.truncate(name.floor_char_boundary(MOST_NAME_BYTES));
    name
}

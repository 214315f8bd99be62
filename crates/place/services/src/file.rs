//! `services.toml`: the services of one computer, as the user lists them.
//!
//! Seatmap only appends, to keep comments.

use seatmap_data::document::{Failure, Outline, Position, parser_message, visible};
use seatmap_os::{CpuSet, Tid};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use toml::de::DeTable;

/// The format's name, in the `format` key.
pub const FORMAT: &str = "seatmap-services/1";

/// The most services in one file: a set of them is one 64-bit word.
pub const MOST_SERVICES: usize = 64;

/// The services that share a computer, with their limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ServicesFile {
    /// Name and version of the format.
    pub format: String,
    /// Settings for the whole computer.
    #[serde(default)]
    pub computer: SharedComputer,
    /// The services, in any order.
    #[serde(default, rename = "service")]
    pub services: Vec<Service>,
}

/// Settings for the whole computer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SharedComputer {
    /// CPUs that no service gets, as a list: for the system itself and for interrupts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub housekeeping: Option<String>,
    /// The memory of each NUMA node, such as `64g`, if the plan is for another machine than this
    /// one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_memory: Option<String>,
    /// The room above the recorded load that a plan leaves to each service, in percent of that
    /// load.
    pub head_room_percent: f64,
}

impl Default for SharedComputer {
    fn default() -> Self {
        SharedComputer { housekeeping: None, node_memory: None, head_room_percent: 20.0 }
    }
}

impl SharedComputer {
    /// The CPUs that no service gets.
    pub fn housekeeping_cpus(&self) -> CpuSet {
        self.housekeeping.as_deref().and_then(CpuSet::of_list).unwrap_or_default()
    }
}

/// One service: how to find its processes, and its limits. It has exactly one of `unit`, `cgroup`,
/// `container`, `domain`, `step`, `pid` and `command`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Service {
    /// The service's name in tables, plans and messages.
    pub name: String,
    /// The systemd unit: `redis.service`, or `redis`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The control group, including groups below: a folder, or a path in a hierarchy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cgroup: Option<String>,
    /// The container, by its name in podman or docker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// The libvirt domain (virtual machine), by its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// The Slurm step, `123.0` or `123.batch`, or a whole job, `123`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// A process with the processes that it has started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<Tid>,
    /// The programs with this name; `*` matches any text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The fewest CPUs that the service may get. Services that share a set add theirs up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_cpus: Option<u32>,
    /// The most CPUs that the service may get.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_cpus: Option<u32>,
    /// The CPUs that its set must be within, as words or a list: `kind:efficiency`, `l3:0`, `0-7`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<String>,
    /// All CPUs, if a word of `cpus` distinguishes none of the machine; an error by default.
    #[serde(rename = "or", skip_serializing_if = "Option::is_none")]
    pub if_alike: Option<IfAlike>,
    /// Whether the service may share its CPUs with other services.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub share: bool,
    /// Whether to keep other services off its CPUs, and interrupts of devices too, if possible.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quiet: bool,
    /// A device that the service should be near: a network card (`eth0`), a disk (`nvme0n1`), or a
    /// PCI address (`0000:17:00.0`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near: Option<String>,
    /// The memory that the NUMA nodes of its CPUs must have for it, in bytes or such as `64g`; `k`,
    /// `m`, `g` and `t` are powers of 1024.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
    /// The NUMA nodes that its CPUs and memory must be on, as a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_nodes: Option<String>,
    /// A shell command that prints a total of the service's work so far, for races.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// The loss of work that a race accepts for the service, in percent; 2 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_percent: Option<f64>,
}

fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_yes(value: &bool) -> bool {
    *value
}

/// The CPUs of a service if a word distinguishes none of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum IfAlike {
    /// All of them.
    All,
}

/// Where the processes of a service are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ServiceTarget {
    /// A systemd unit.
    Unit(String),
    /// A control group.
    Cgroup(String),
    /// A container.
    Container(String),
    /// A libvirt domain.
    Domain(String),
    /// A Slurm step or job.
    Step(String),
    /// A process and its children.
    Pid(Tid),
    /// Programs by name.
    Command(String),
}

impl fmt::Display for ServiceTarget {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServiceTarget::Unit(name) => write!(out, "unit {name}"),
            ServiceTarget::Cgroup(path) => write!(out, "cgroup {path}"),
            ServiceTarget::Container(name) => write!(out, "container {name}"),
            ServiceTarget::Domain(name) => write!(out, "domain {name}"),
            ServiceTarget::Step(step) => write!(out, "step {step}"),
            ServiceTarget::Pid(pid) => write!(out, "pid {pid}"),
            ServiceTarget::Command(name) => write!(out, "command {name}"),
        }
    }
}

impl Service {
    fn targets(&self) -> Vec<ServiceTarget> {
        let all = [
            self.unit.clone().map(ServiceTarget::Unit),
            self.cgroup.clone().map(ServiceTarget::Cgroup),
            self.container.clone().map(ServiceTarget::Container),
            self.domain.clone().map(ServiceTarget::Domain),
            self.step.clone().map(ServiceTarget::Step),
            self.pid.map(ServiceTarget::Pid),
            self.command.clone().map(ServiceTarget::Command),
        ];
        all.into_iter().flatten().collect()
    }

    /// Where its processes are; `None` for an unchecked entry.
    pub fn target(&self) -> Option<ServiceTarget> {
        self.targets().into_iter().next()
    }

    /// The memory that it needs, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        self.memory.as_deref().and_then(size_bytes).unwrap_or(0)
    }

    /// The required NUMA nodes; `None` if any will do.
    pub fn memory_node_set(&self) -> Option<CpuSet> {
        self.memory_nodes.as_deref().and_then(CpuSet::of_list)
    }

    /// Whether it needs its CPUs for itself.
    pub fn is_alone(&self) -> bool {
        self.quiet || !self.share
    }
}

impl ServicesFile {
    /// Reads and checks the file.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn from_toml(text: &str) -> Result<Self, Failure> {
        let read = toml::from_str(text).and_then(|_: Outline| toml::from_str(text));
        let read = read.map_err(|error: toml::de::Error| {
            let at = error.span().map_or(0, |span| span.start);
            format!("{}: {}", Position::of(text.as_bytes(), at), parser_message(error.message()))
        });
        let checked = read.and_then(|file: ServicesFile| {
            check_keys(text)?;
            file.check()?;
            Ok(file)
        });
        checked.map_err(Failure::input)
    }

    fn check(&self) -> Result<(), String> {
        if self.format != FORMAT {
            return Err(format!("the format is '{}'; write format = \"{FORMAT}\"", self.format));
        }
        let count = self.services.len();
        if count == 0 {
            let remedy = "'seatmap services init' writes the running ones";
            return Err(format!("the file lists no service; {remedy}"));
        }
        if count > MOST_SERVICES {
            return Err(format!(
                "the file lists {count} services; a plan has at most {MOST_SERVICES}"
            ));
        }
        let head_room = self.computer.head_room_percent;
        if !(0.0..=1000.0).contains(&head_room) {
            return Err(format!("head_room_percent is {head_room}; write a number from 0 to 1000"));
        }
        if let Some(list) = &self.computer.housekeeping
            && CpuSet::of_list(list).is_none()
        {
            return Err(format!(
                "housekeeping is '{list}'; write CPUs as a list, such as \"0-1,8\""
            ));
        }
        if let Some(size) = &self.computer.node_memory {
            check_size("node_memory", size)?;
        }
        let mut names = BTreeSet::new();
        let mut targets = BTreeSet::new();
        for service in &self.services {
            check_service(service)?;
            let name = &service.name;
            if !names.insert(name) {
                return Err(format!("two services are named '{name}'; give each a unique name"));
            }
            if let Some(target) = service.target()
                && !targets.insert(target.clone())
            {
                return Err(format!(
                    "two services name {target}; a process can only belong to one service"
                ));
            }
        }
        Ok(())
    }
}

const COMPUTER_KEYS: [&str; 3] = ["head_room_percent", "housekeeping", "node_memory"];

const SERVICE_KEYS: [&str; 19] = [
    "cgroup",
    "command",
    "container",
    "cpus",
    "domain",
    "least_cpus",
    "limit_percent",
    "memory",
    "memory_nodes",
    "metric",
    "most_cpus",
    "name",
    "near",
    "or",
    "pid",
    "quiet",
    "share",
    "step",
    "unit",
];

/// Unknown keys are mistakes in the user's file, but in documents may be a later version's.
fn check_keys(text: &str) -> Result<(), String> {
    let Ok(document) = DeTable::parse(text) else { return Ok(()) };
    let document = document.get_ref();
    let computer = document.get("computer").map(|computer| (computer, &COMPUTER_KEYS[..]));
    let services = document.get("service").and_then(|value| value.get_ref().as_array());
    let services = services.into_iter().flatten().map(|service| (service, &SERVICE_KEYS[..]));
    for (table, keys) in computer.into_iter().chain(services) {
        for (key, _) in table.get_ref().as_table().into_iter().flatten() {
            let name = key.get_ref().as_ref();
            if !keys.contains(&name) {
                return Err(format!(
                    "{}: unknown key '{}'; expected one of: {}",
                    Position::of(text.as_bytes(), key.span().start),
                    visible(name),
                    keys.join(", ")
                ));
            }
        }
    }
    Ok(())
}

const LONGEST_NAME: usize = 64;

/// A unit's name without its kind.
pub(crate) fn stem(unit: &str) -> &str {
    unit.rsplit_once('.').map_or(unit, |(stem, _)| stem)
}

/// A valid name with this end; `service` if empty.
pub(crate) fn service_name(text: &str, end: &str) -> String {
    let begin = if text.trim().is_empty() { "service" } else { text };
    let room = begin.floor_char_boundary(LONGEST_NAME.saturating_sub(end.len()));
    format!("{}{end}", &begin[..room])
}

pub(crate) fn check_service(service: &Service) -> Result<(), String> {
    let name = &service.name;
    if name.trim().is_empty() || name.len() > LONGEST_NAME {
        return Err(format!("'{name}' is not a valid service name; write 1 to 64 bytes"));
    }
    let targets = service.targets().len();
    if targets == 0 {
        return Err(format!(
            "service '{name}' does not name its processes; add unit, cgroup, container, domain, \
             step, pid or command"
        ));
    }
    if targets > 1 {
        return Err(format!(
            "service '{name}' has more than one of unit, cgroup, container, domain, step, pid and \
             command; keep one"
        ));
    }
    if let Some(limit) = service.limit_percent.filter(|limit| !(0.0..=100.0).contains(limit)) {
        return Err(format!(
            "limit_percent of service '{name}' is {limit}; write a number from 0 to 100"
        ));
    }
    if service.pid.is_some_and(|pid| pid < 1) {
        return Err(format!(
            "the pid of service '{name}' is below 1; 'ps -e' lists the running processes"
        ));
    }
    if let Some(step) = service.step.as_ref().filter(|step| !is_step(step)) {
        return Err(format!(
            "step of service '{name}' is '{step}'; write JOB.STEP, such as 123.0 or 123.batch"
        ));
    }
    if let Some(size) = &service.memory {
        check_size(&format!("memory of service '{name}'"), size)?;
    }
    if let Some(list) = &service.memory_nodes
        && service.memory_node_set().is_none_or(|nodes| nodes.is_empty())
    {
        return Err(format!(
            "memory_nodes of service '{name}' is '{list}'; write NUMA nodes as a list, such as 0-1"
        ));
    }
    let least = service.least_cpus.unwrap_or(0);
    match service.most_cpus {
        Some(0) => Err(format!("most_cpus of service '{name}' is 0; write at least 1")),
        Some(most) if most < least => {
            Err(format!("service '{name}' has least_cpus = {least} above most_cpus = {most}"))
        }
        _ => Ok(()),
    }
}

fn check_size(key: &str, size: &str) -> Result<(), String> {
    let is_size = size_bytes(size).is_some_and(|bytes| bytes > 0);
    is_size.then_some(()).ok_or_else(|| {
        format!(
            "{key} is '{size}'; write a size above 0 with k, m, g or t for powers of 1024, such \
             as 64g"
        )
    })
}

pub(crate) fn size_bytes(text: &str) -> Option<u64> {
    let letter = text.chars().last()?.to_ascii_lowercase();
    let power = ['k', 'm', 'g', 't'].iter().position(|known| *known == letter);
    let digits = if power.is_some() { &text[..text.len() - 1] } else { text };
    let number: u64 = seatmap_data::document::whole_number(digits)?;
    number.checked_mul(1 << (10 * power.map_or(0, |power| power as u32 + 1)))
}

/// With the largest multiplier that leaves a whole number.
pub(crate) fn size_text(bytes: u64) -> String {
    for (letter, shift) in [("t", 40), ("g", 30), ("m", 20), ("k", 10)] {
        if bytes >= 1 << shift && bytes.trailing_zeros() >= shift {
            return format!("{}{letter}", bytes >> shift);
        }
    }
    bytes.to_string()
}

/// `123.0`, `123.batch`, or `123`.
fn is_step(text: &str) -> bool {
    let (job, step) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = !job.is_empty() && job.bytes().all(|byte| byte.is_ascii_digit());
    is_number && !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        ServicesFile::from_toml(text).unwrap_err().to_string()
    }

    const HEAD: &str = "format = \"seatmap-services/1\"\n";

    fn entry(keys: &str) -> String {
        format!("{HEAD}[[service]]\nname = \"a\"\n{keys}\n")
    }

    #[test]
    fn services_file_round_trips_with_limits() {
        let text = format!(
            "{HEAD}# kept\n[computer]\nhousekeeping = \"0\"\n\n[[service]]\nname = \"redis\"\n\
             unit = \"redis\"\nleast_cpus = 2\nquiet = true\n\n[[service]]\nname = \"web\"\n\
             command = \"nginx*\"\n"
        );
        let file = ServicesFile::from_toml(&text).unwrap();
        assert_eq!(file.services.len(), 2);
        assert_eq!(file.services[0].target(), Some(ServiceTarget::Unit("redis".into())));
        assert!(file.services[0].is_alone() && !file.services[1].is_alone());
        assert_eq!(file.computer.housekeeping_cpus().to_string(), "0");
        assert_eq!(file.computer.head_room_percent, 20.0);
        let again = toml::to_string(&file).unwrap();
        assert_eq!(ServicesFile::from_toml(&again).unwrap(), file);
    }

    #[test]
    fn known_keys_match_service_fields() {
        let word = || Some("a".to_owned());
        let all = Service {
            name: String::new(),
            unit: word(),
            cgroup: word(),
            container: word(),
            domain: word(),
            step: word(),
            pid: Some(1),
            command: word(),
            least_cpus: Some(1),
            most_cpus: Some(1),
            cpus: word(),
            if_alike: Some(IfAlike::All),
            share: false,
            quiet: true,
            near: word(),
            memory: word(),
            memory_nodes: word(),
            metric: word(),
            limit_percent: Some(1.0),
        };
        let computer = SharedComputer {
            housekeeping: word(),
            node_memory: word(),
            ..SharedComputer::default()
        };
        for (text, keys) in [
            (toml::to_string(&all).unwrap(), &SERVICE_KEYS[..]),
            (toml::to_string(&computer).unwrap(), &COMPUTER_KEYS[..]),
        ] {
            let table: toml::Table = toml::from_str(&text).unwrap();
            let mut written: Vec<&str> = table.keys().map(String::as_str).collect();
            written.sort_unstable();
            assert_eq!(written, keys);
        }
    }

    #[test]
    fn memory_sizes_round_trip() {
        for (text, bytes) in
            [("7", 7), ("3k", 3 << 10), ("1536m", 1536 << 20), ("64g", 64 << 30), ("2t", 2 << 40)]
        {
            assert_eq!(size_bytes(text), Some(bytes), "{text}");
            assert_eq!(size_text(bytes), text);
        }
        assert_eq!(size_bytes("64G"), Some(64 << 30));
    }

    #[test]
    fn services_file_errors_name_position() {
        assert_eq!(
            message(&entry("unit = 3")),
            "line 4, column 8: invalid type: integer `3`, expected a string"
        );
        let later = "format = \"seatmap-services/9\"\n".to_owned();
        let twice = entry("pid = 7") + &entry("pid = 8")[HEAD.len()..];
        let mut wrong = vec![
            (entry("color = 1"), "line 4, column 1: unknown key 'color'"),
            (HEAD.to_owned(), "lists no service"),
            (entry(""), "'a' does not name its processes"),
            (entry("pid = 7\nunit = \"x\""), "more than one"),
            (entry("pid = 7\nleast_cpus = 4\nmost_cpus = 2"), "least_cpus"),
            (twice, "two services are named"),
            (entry("pid = 7\nmemory_nodes = \"a\""), "memory_nodes of service 'a' is 'a'"),
            (later, "seatmap-services/9"),
        ];
        let steps = ["job", "5.", ".0", "5.0.1", "5/../x"];
        wrong.extend(steps.map(|step| (entry(&format!("step = \"{step}\"")), "123.batch")));
        let sizes = ["", "g", "0", "-1g", "1.5g", "64gb", "99999999999t", "\u{e9}"];
        wrong.extend(
            sizes.map(|size| (entry(&format!("pid = 7\nmemory = \"{size}\"")), "such as 64g")),
        );
        for (text, told) in wrong {
            assert!(message(&text).contains(told), "{text}: {}", message(&text));
        }
    }
}

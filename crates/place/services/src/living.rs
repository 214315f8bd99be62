//! The running processes of services.

use crate::{Service, ServiceTarget};
use seatmap_data::document::{Failure, unfit};
use seatmap_os::{CpuSet, Root, Tid, cpus, layout, limited};
use seatmap_watch::ProcessChoice;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(10);

/// The engines in order of preference.
const ENGINES: [&str; 2] = ["podman", "docker"];

/// The processes of each service, in the order of the services.
///
/// # Errors
/// [`Failure`]: a service does not exist, or a process belongs to two of them.
pub fn all<'a>(
    root: &Root,
    services: impl IntoIterator<Item = &'a Service>,
) -> Result<Vec<BTreeSet<Tid>>, Failure> {
    let mut found = Vec::new();
    let mut owners: BTreeMap<Tid, &str> = BTreeMap::new();
    for service in services {
        let pids = processes(root, service)?;
        for pid in &pids {
            if let Some(first) = owners.insert(*pid, &service.name) {
                return unfit(format!(
                    "services '{first}' and '{}' both claim process {pid}; give each process to \
                     one of them",
                    service.name
                ));
            }
        }
        found.push(pids);
    }
    Ok(found)
}

/// The present processes of one service.
///
/// # Errors
/// [`Failure`]: the service does not exist.
pub fn processes(root: &Root, service: &Service) -> Result<BTreeSet<Tid>, Failure> {
    let choice = match service.target() {
        Some(ServiceTarget::Unit(name)) => ProcessChoice::Unit(name),
        Some(ServiceTarget::Cgroup(path)) => ProcessChoice::Group(path),
        Some(ServiceTarget::Domain(name)) => ProcessChoice::Domain(name),
        Some(ServiceTarget::Step(step)) => ProcessChoice::Step(step),
        Some(ServiceTarget::Pid(pid)) => with_children(pid),
        Some(ServiceTarget::Command(name)) => ProcessChoice::Name(name),
        Some(ServiceTarget::Container(container)) => {
            with_children(of_container(&service.name, &container)?.1)
        }
        None => return Ok(BTreeSet::new()),
    };
    choice.pids(root).map_err(Failure::input_at(format!("service '{}'", service.name)))
}

/// The CPUs for services: online, and reserved neither by a cell nor at boot.
pub fn usable_cpus(root: &Root) -> CpuSet {
    let online = layout::online(root).unwrap_or_default();
    let cells = seatmap_cell::standing(root);
    let without_cells = cells.values().fold(online, |left, cell| left.without(cell));
    without_cells.without(&cpus::set_apart(root))
}

fn with_children(pid: Tid) -> ProcessChoice {
    ProcessChoice::Processes { pids: vec![pid], with_children: true }
}

/// The engine and first process of a service's container.
///
/// # Errors
/// No engine is installed or knows the container, or it does not run.
pub(crate) fn of_container(service: &str, name: &str) -> Result<(&'static str, Tid), Failure> {
    let unfit = |problem: &str| Failure::input(format!("service '{service}': {problem}"));
    let mut refused = None;
    for engine in ENGINES {
        let mut command = Command::new(engine);
        command.args(["inspect", "--format", "{{.State.Pid}}", "--", name]);
        let Ok(output) = limited::output(engine, &mut command, PATIENCE) else { continue };
        let printed = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        match printed.parse::<Tid>() {
            Ok(0) => {
                return Err(unfit(&format!("container '{name}' is not running; start it first")));
            }
            Ok(pid) if output.status.success() => return Ok((engine, pid)),
            _ => {
                let said = String::from_utf8_lossy(&output.stderr);
                let said = said.lines().next().unwrap_or("it printed nothing");
                refused.get_or_insert_with(|| format!("'{engine} inspect {name}' failed: {said}"));
            }
        }
    }
    Err(unfit(refused.as_deref().unwrap_or(
        "neither podman nor docker is installed; name the service by cgroup or pid instead",
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_pid(name: &str, pid: Tid) -> Service {
        Service { name: name.into(), pid: Some(pid), share: true, ..Service::default() }
    }

    #[test]
    fn process_is_claimed_by_one_service() {
        let root = Root::new("/");
        let mut child = Command::new("sleep").arg("600").spawn().unwrap();
        let pid = child.id() as Tid;
        let found = all(&root, &[of_pid("a", pid)]).unwrap();
        assert_eq!(found, [BTreeSet::from([pid])]);
        let twice = all(&root, &[of_pid("a", pid), of_pid("b", pid)]).unwrap_err();
        assert!(twice.to_string().contains("'a' and 'b' both claim process"), "{twice}");
        child.kill().unwrap();
        child.wait().unwrap();
        let gone = all(&root, &[of_pid("a", pid)]).unwrap_err();
        assert_eq!(gone.to_string(), "service 'a'");
    }
}

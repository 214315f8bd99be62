//! The running processes of services.

use crate::error::{ContainerProblem, ServicesError};
use crate::file::{Service, ServiceTarget};
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
/// [`ServicesError`]: a service does not exist, or a process belongs to two of them.
pub fn all(root: &Root, services: &[Service]) -> Result<Vec<BTreeSet<Tid>>, ServicesError> {
    let mut found = Vec::new();
    let mut owners: BTreeMap<Tid, &str> = BTreeMap::new();
    for service in services {
        let pids = processes(root, service)?;
        for pid in &pids {
            if let Some(first) = owners.insert(*pid, &service.name) {
                let first = first.to_owned();
                let second = service.name.clone();
                return Err(ServicesError::Overlap { first, second, pid: *pid });
            }
        }
        found.push(pids);
    }
    Ok(found)
}

/// The present processes of one service.
///
/// # Errors
/// [`ServicesError`]: the service does not exist.
pub fn processes(root: &Root, service: &Service) -> Result<BTreeSet<Tid>, ServicesError> {
    let choice = match service.target() {
        Some(ServiceTarget::Unit(name)) => ProcessChoice::Unit(name),
        Some(ServiceTarget::Cgroup(path)) => ProcessChoice::Group(path),
        Some(ServiceTarget::Domain(name)) => ProcessChoice::Domain(name),
        Some(ServiceTarget::Step(step)) => ProcessChoice::Step(step),
        Some(ServiceTarget::Pid(pid)) => with_children(pid),
        Some(ServiceTarget::Command(name)) => ProcessChoice::Name(name),
        Some(ServiceTarget::Container(container)) => {
            let pid = of_container(&container).map_err(|problem| ServicesError::Container {
                name: service.name.clone(),
                problem,
            })?;
            with_children(pid.1)
        }
        None => return Ok(BTreeSet::new()),
    };
    choice.pids(root).map_err(|source| ServicesError::Absent { name: service.name.clone(), source })
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

/// The container's engine and first process.
///
/// # Errors
/// [`ContainerProblem`].
pub(crate) fn of_container(name: &str) -> Result<(&'static str, Tid), ContainerProblem> {
    let mut refused = None;
    for engine in ENGINES {
        let mut command = Command::new(engine);
        command.args(["inspect", "--format", "{{.State.Pid}}", "--", name]);
        let Ok(output) = limited::output(engine, &mut command, PATIENCE) else { continue };
        let printed = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        match printed.parse::<Tid>() {
            Ok(0) => return Err(ContainerProblem::NotRunning(name.to_owned())),
            Ok(pid) if output.status.success() => return Ok((engine, pid)),
            _ => {
                let said = String::from_utf8_lossy(&output.stderr);
                let said = said.lines().next().unwrap_or("it printed nothing").to_owned();
                let container = name.to_owned();
                refused.get_or_insert(ContainerProblem::Refused { engine, container, said });
            }
        }
    }
    Err(refused.unwrap_or(ContainerProblem::NoEngine))
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

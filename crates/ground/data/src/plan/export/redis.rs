//! Lines for redis's configuration: its threads and child processes by their role.

use super::comment;
use crate::plan::Plan;
use seatmap_os::CpuList;

/// The roles with lists in redis, and the names of their tasks (redis.conf, "CPU affinity").
const ROLES: [(&str, &[&str]); 4] = [
    ("server_cpulist", &["server", "main", "io"]),
    ("bio_cpulist", &["bio"]),
    ("aof_rewrite_cpulist", &["aof_rewrite", "aof-rewrite", "aof"]),
    ("bgsave_cpulist", &["bgsave", "rdb"]),
];

/// A list for each role: the tasks of its name. Other tasks take the roles without one, in this
/// order; the remaining ones belong to the server, for its I/O threads. A role without a task
/// shares the previous role's list.
pub fn write(plan: &Plan) -> String {
    let mut lists = roles(plan);
    for role in 1..lists.len() {
        if lists[role].is_empty() {
            lists[role] = lists[role - 1].clone();
        }
    }
    comment::header(plan)
        + &ROLES
            .iter()
            .zip(lists)
            .map(|((word, _), pus)| format!("{word} {}\n", CpuList(pus)))
            .collect::<String>()
}

fn roles(plan: &Plan) -> [Vec<u32>; ROLES.len()] {
    let mut lists: [Vec<u32>; ROLES.len()] = Default::default();
    let tasks = 0..plan.placement.len();
    let (known, others): (Vec<usize>, Vec<usize>) =
        tasks.partition(|task| role(plan, *task).is_some());
    // First, because a task without a role's name takes a remaining role.
    for task in known {
        lists[role(plan, task).unwrap_or_default()].extend(plan.seat(task));
    }
    for task in others {
        let free = lists.iter().position(Vec::is_empty).unwrap_or_default();
        lists[free].extend(plan.seat(task));
    }
    if lists[0].is_empty() {
        lists[0] = plan.pus_in_use();
    }
    lists.map(|mut pus| {
        pus.sort_unstable();
        pus.dedup();
        pus
    })
}

fn role(plan: &Plan, task: usize) -> Option<usize> {
    let name = plan.names.get(task)?;
    ROLES.iter().position(|(_, names)| names.contains(&name.as_str()))
}

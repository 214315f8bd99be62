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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::export::{hostile, sample};

    #[test]
    fn redis_roles_go_to_tasks_in_order() {
        insta::assert_snapshot!(write(&sample()), @"
        # Seatmap plan: 3 tasks of ring:3 on desk.
        server_cpulist 3
        bio_cpulist 1
        aof_rewrite_cpulist 12
        bgsave_cpulist 12
        ");
        let six = Plan::new("desk", vec![5, 4, 3, 2, 1, 0]);
        assert!(write(&six).contains("server_cpulist 0,1,5\n"), "I/O threads are the server's");
        assert_eq!(write(&hostile()).lines().count(), 5);
    }

    #[test]
    fn redis_task_names_select_roles() {
        let names = ["bgsave", "server", "io", "bio"].map(str::to_owned).to_vec();
        let plan = Plan { names, ..Plan::new("desk", vec![9, 1, 2, 3]) };
        insta::assert_snapshot!(write(&plan), @"
        # Seatmap plan: 4 tasks on desk.
        server_cpulist 1,2
        bio_cpulist 3
        aof_rewrite_cpulist 3
        bgsave_cpulist 9
        ");
        let names = vec!["bio".to_owned()];
        let alone = Plan { names, ..Plan::new("desk", vec![7]) };
        assert!(write(&alone).contains("server_cpulist 7\nbio_cpulist 7\n"));
    }
}

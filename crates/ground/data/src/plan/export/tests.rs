//! Every format, for every kind of plan.

use super::*;

/// The output of each format, or why it refuses the plan.
fn written(plan: &Plan) -> String {
    let formats = FORMATS.iter().filter(|(name, _)| *name != "json");
    let each = formats.map(|(name, write)| {
        let text = write(plan).unwrap_or_else(|error| format!("{error}\n"));
        format!("== {name}\n{text}")
    });
    each.collect()
}

#[test]
fn every_format_writes_every_kind_of_plan() {
    let named = |names: &[&str], placement| Plan {
        names: names.iter().copied().map(str::to_owned).collect(),
        ..Plan::new("desk", placement)
    };
    let near = |memory| Plan { memory, ..Plan::new("desk", vec![3, 1]) };
    let seats = vec![vec![0, 1, 3], vec![1, 65]];
    let hostile = "x\n$(touch y)\r\u{85}\u{2028}é\\";
    let plans = [
        (
            "names",
            Plan {
                pattern: Some("ring:3".into()),
                ..named(&["left", "middle", "right"], vec![3, 1, 12])
            },
        ),
        (
            "hostile_names",
            Plan {
                machine: hostile.into(),
                pattern: Some(hostile.into()),
                ..named(&[hostile; 2], vec![1, 0])
            },
        ),
        ("roles", named(&["bgsave", "server", "io", "bio"], vec![9, 1, 2, 3])),
        ("one_role", named(&["bio"], vec![7])),
        ("more_tasks_than_roles", Plan::new("desk", vec![5, 4, 3, 2, 1, 0])),
        ("shared_pus", Plan::new("desk", vec![3, 1, 3])),
        ("several_pus_and_nodes", Plan { seats, ..near(vec![vec![1], vec![0, 1]]) }),
        ("one_node_each", near(vec![vec![1], vec![0]])),
        ("memory_of_some_tasks", near(vec![vec![], vec![0]])),
    ];
    for (kind, plan) in plans {
        insta::assert_snapshot!(kind, written(&plan));
    }
}

#[test]
fn lists_of_other_tools_have_a_limit() {
    let lcores = dpdk::write(&Plan::new("rack", vec![0; 129])).unwrap_err().to_string();
    assert_eq!(lcores, "DPDK supports at most 128 lcores, but this plan needs more");
    let cpus = nginx::write(&Plan::new("rack", vec![1024])).unwrap_err().to_string();
    assert_eq!(cpus, "nginx supports at most 1024 CPUs, but this plan needs more");
}

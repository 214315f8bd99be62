//! Plans through their own file, and through every export.
#![expect(clippy::unwrap_used, reason = "a helper that finds its input broken fails the test")]

use proptest::prelude::*;
use seatmap_data::machine::Pu;
use seatmap_data::plan::export::{
    container, dpdk, gomp, hwloc, kmp, likwid_pin, numactl, omp_places, rankfile, slurm, systemd,
    taskset,
};
use seatmap_data::plan::{Baselines, Channel, Objective, Plan, Random};
use seatmap_os::CpuSet;
use seatmap_os::cpu_list::MAX_CPU;

prop_compose! {
    fn pu(os: u32)(core in any::<Option<u32>>(), l3 in any::<Option<u32>>(), numa in any::<Option<u32>>()) -> Pu {
        Pu { os, core, l3, numa, ..Pu::default() }
    }
}

fn figure() -> impl Strategy<Value = f64> {
    prop::num::f64::NORMAL | prop::num::f64::ZERO | prop::num::f64::SUBNORMAL
}

fn objective() -> impl Strategy<Value = Option<Objective>> {
    use Objective::{Congestion, Distance, Measured, Simulated, Time};
    prop::option::of(prop::sample::select(vec![Distance, Congestion, Simulated, Measured, Time]))
}

prop_compose! {
    fn baselines()(
        os in figure(), compact in figure(), scatter in figure(), mean in figure(), best in figure()
    ) -> Baselines {
        Baselines { os, compact, scatter, random: Random { mean, best } }
    }
}

prop_compose! {
    fn channel(tasks: usize)(
        from in 0..tasks, to in 0..tasks, home in 0usize..40, line in any::<Option<usize>>(), distance_ns in figure()
    ) -> Channel {
        Channel { from, to, home, line, distance_ns }
    }
}

prop_compose! {
    fn word()(word in "[a-z\"'\\\\\n\r\t$`#\u{85}\u{2028}é]{0,8}") -> String {
        word
    }
}

prop_compose! {
    fn nodes()(nodes in prop::collection::btree_set(0_u32..1024, 0..4)) -> Vec<u32> {
        nodes.into_iter().collect()
    }
}

prop_compose! {
    fn plan()(placement in prop::collection::vec(0..=MAX_CPU, 1..40))(
        pus in {
            let mut os = placement.clone();
            os.sort_unstable();
            os.dedup();
            os.into_iter().map(pu).collect::<Vec<_>>()
        },
        memory in prop_oneof![Just(Vec::new()), prop::collection::vec(nodes(), placement.len())],
        names in prop_oneof![Just(Vec::new()), prop::collection::vec(word(), placement.len())],
        channels in prop::collection::vec(channel(placement.len()), 0..4),
        placement in Just(placement),
        machine in word(),
        [pattern, method, tool] in prop::array::uniform3(prop::option::of(word())),
        (objective, cost, lower_bound) in (objective(), prop::option::of(figure()), prop::option::of(figure())),
        (optimal, baselines) in (any::<bool>(), prop::option::of(baselines())),
        (seconds, seed) in (prop::option::of(figure()), any::<Option<u64>>()),
    ) -> Plan {
        Plan {
            pattern, memory, names, pus, objective, cost, lower_bound, optimal, baselines, channels, method, seconds, seed,
            tool,
            date: Some("2026-01-31".into()),
            ..Plan::new(machine, placement)
        }
    }
}

fn numbers(text: &str) -> Vec<u32> {
    let digits = text.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty());
    digits.map(|number| number.parse().unwrap()).collect()
}

fn after<'a>(text: &'a str, start: &str) -> Vec<&'a str> {
    text.lines()
        .filter_map(|line| line.strip_prefix(start))
        .map(|line| line.split(" #").next().unwrap())
        .collect()
}

proptest! {
    #[test]
    fn json_round_trip_keeps_plan(plan in plan()) {
        prop_assert_eq!(Plan::from_json(&plan.to_json()).unwrap(), plan);
    }

    #[test]
    fn exports_name_every_pu_in_task_order(plan in plan()) {
        let last = |text: String, start: &str| numbers(after(&text, start).last().unwrap());
        prop_assert_eq!(&last(omp_places::write(&plan), "export OMP_PLACES="), &plan.placement);
        prop_assert_eq!(&last(gomp::write(&plan).unwrap(), "export GOMP_CPU_AFFINITY="), &plan.placement);
        let kmp = last(kmp::write(&plan), "export KMP_AFFINITY='granularity=fine,explicit,proclist=");
        prop_assert_eq!(&kmp, &plan.placement);
        let slurm = slurm::write(&plan);
        prop_assert_eq!(&numbers(slurm.split_once("map_cpu:").unwrap().1.split(' ').next().unwrap()), &plan.placement);
        let lcores = dpdk::write(&plan).unwrap();
        let lcores: Vec<Vec<u32>> = lcores.split_once('=').unwrap().1.split(' ').next().unwrap().split(',').map(numbers).collect();
        prop_assert_eq!(&lcores, &(0..).zip(&plan.placement).map(|(task, pu)| vec![task, *pu]).collect::<Vec<_>>());
        let set = container::write(&plan);
        let cpus = set.split_once('=').unwrap().1.trim().split(' ').next().unwrap();
        prop_assert_eq!(CpuSet::of_list(cpus).unwrap().iter().collect::<Vec<_>>(), plan.pus_in_use());
        prop_assert_eq!(last(systemd::write(&plan), "CPUAffinity="), plan.pus_in_use());
        let text = rankfile::write(&plan);
        let ranks: Vec<Vec<u32>> = after(&text, "rank ").into_iter().map(numbers).collect();
        prop_assert_eq!(ranks, (0..).zip(&plan.placement).map(|(task, pu)| vec![task, *pu]).collect::<Vec<_>>());
    }

    #[test]
    fn scripts_have_one_line_per_task(plan in plan()) {
        let bare = Plan { memory: Vec::new(), ..plan.clone() };
        for text in [taskset::write(&plan), hwloc::write(&plan), numactl::write(&bare)] {
            let lines: Vec<&str> = text.lines().filter(|line| line.contains(") exec ")).collect();
            prop_assert_eq!(lines.len(), plan.placement.len() + 1);
            for (line, (task, pu)) in lines.iter().zip((0..).zip(&plan.placement)) {
                prop_assert_eq!(numbers(line.split(" #").next().unwrap()), vec![task, *pu]);
            }
        }
    }

    #[test]
    fn likwid_export_refuses_only_shared_pus(plan in plan()) {
        match likwid_pin::write(&plan) {
            Ok(text) => prop_assert_eq!(numbers(&text), plan.placement),
            Err(refused) => prop_assert!(
                plan.is_oversubscribed()
                    && refused.to_string().starts_with("likwid-pin cannot pin several tasks to"),
                "every seat is one PU: {refused}"
            ),
        }
    }

    #[test]
    fn reader_survives_any_text(text in "[a-z0-9{}\\[\\]:,\" ]{0,40}", at in any::<prop::sample::Index>()) {
        let plan = Plan::new("small", vec![4, 0, 4]).to_json();
        let at = at.index(plan.len());
        let _ = Plan::from_json(&format!("{}{text}{}", &plan[..at], &plan[at..])).map(|plan| plan.check().unwrap());
    }
}

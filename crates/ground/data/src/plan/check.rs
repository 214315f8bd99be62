//! Checks that the parts of a plan are consistent.

use crate::document::{Checked, inconsistent};
use crate::plan::placed::{MAX_NODE, MAX_TASKS};
use crate::plan::{Channel, Plan};
use crate::statistics::words::counted;
use seatmap_os::cpu_list::MAX_CPU;

impl Plan {
    /// Checks sizes, references and values.
    ///
    /// # Errors
    /// [`DocumentError::Inconsistent`](crate::document::DocumentError::Inconsistent) with the first
    /// inconsistency.
    pub fn check(&self) -> Checked {
        placement(&self.placement)?;
        seats(self)?;
        memory(self)?;
        let tasks = self.placement.len();
        all_or_none("names", &self.names, tasks)?;
        all_or_none("paths", &self.paths, tasks)?;
        pus(self)?;
        figures(self)?;
        self.channels.iter().enumerate().try_for_each(|(at, it)| channel(at, it, tasks))
    }
}

fn placement(placement: &[u32]) -> Checked {
    if placement.is_empty() {
        return inconsistent("placement is empty; a plan needs at least one task");
    }
    if placement.len() > MAX_TASKS {
        return inconsistent(format!(
            "placement has {}; the limit is {MAX_TASKS}",
            counted(placement.len(), "task")
        ));
    }
    match placement.iter().position(|pu| *pu > MAX_CPU) {
        Some(task) => inconsistent(format!(
            "placement[{task}]: PU {} is beyond the largest index, {MAX_CPU}",
            placement[task]
        )),
        None => Ok(()),
    }
}

fn seats(plan: &Plan) -> Checked {
    all_or_none("seats", &plan.seats, plan.placement.len())?;
    for (task, (seat, pu)) in plan.seats.iter().zip(&plan.placement).enumerate() {
        if !seat.is_sorted_by(|a, b| a < b) {
            return inconsistent(format!("seats[{task}]: list each PU once, in ascending order"));
        }
        if seat.last().is_some_and(|last| *last > MAX_CPU) {
            return inconsistent(format!(
                "seats[{task}]: a PU is beyond the largest index, {MAX_CPU}"
            ));
        }
        if !seat.contains(pu) {
            return inconsistent(format!("seats[{task}] lacks PU {pu} of placement[{task}]"));
        }
    }
    Ok(())
}

fn memory(plan: &Plan) -> Checked {
    all_or_none("memory", &plan.memory, plan.placement.len())?;
    for (task, nodes) in plan.memory.iter().enumerate() {
        if !nodes.is_sorted_by(|a, b| a < b) {
            return inconsistent(format!(
                "memory[{task}]: list each NUMA node once, in ascending order"
            ));
        }
        if nodes.last().is_some_and(|last| *last > MAX_NODE) {
            return inconsistent(format!(
                "memory[{task}]: a NUMA node is beyond the largest index, {MAX_NODE}"
            ));
        }
    }
    Ok(())
}

fn pus(plan: &Plan) -> Checked {
    if let Some(pair) = plan.pus.windows(2).find(|pair| pair[0].os >= pair[1].os) {
        return inconsistent(format!(
            "pus: PU {} follows PU {}; list each PU once, in ascending order",
            pair[1].os, pair[0].os
        ));
    }
    match plan
        .placement
        .iter()
        .position(|pu| plan.pus.binary_search_by_key(pu, |known| known.os).is_err())
    {
        // A handwritten plan may omit the PUs.
        Some(task) if !plan.pus.is_empty() => {
            inconsistent(format!("placement[{task}]: PU {} is not in pus", plan.placement[task]))
        }
        _ => Ok(()),
    }
}

/// JSON cannot hold infinity or NaN, but a program that makes plans can.
fn figures(plan: &Plan) -> Checked {
    let named = [("cost", plan.cost), ("lower_bound", plan.lower_bound), ("seconds", plan.seconds)];
    let baselines = plan.baselines.iter().flat_map(|them| {
        [
            ("baselines.os", them.os),
            ("baselines.compact", them.compact),
            ("baselines.scatter", them.scatter),
            ("baselines.random.mean", them.random.mean),
            ("baselines.random.best", them.random.best),
        ]
    });
    let effect = plan.effect.iter().flat_map(|effect| {
        [
            ("effect.observed_s", effect.observed_s),
            ("effect.messages", effect.messages),
            ("effect.outside_wakeups", effect.outside_wakeups),
            ("effect.nearest_ns", effect.nearest_ns),
            ("effect.farthest_ns", effect.farthest_ns),
            ("effect.planned_s", effect.planned_s),
            ("effect.farthest_s", effect.farthest_s),
        ]
    });
    let known = named.into_iter().filter_map(|(name, figure)| Some((name, figure?)));
    match known.chain(baselines).chain(effect).find(|(_, figure)| !figure.is_finite()) {
        Some((name, figure)) => inconsistent(format!("{name} is not a number: {figure}")),
        None => Ok(()),
    }
}

fn channel(at: usize, channel: &Channel, tasks: usize) -> Checked {
    if let Some(task) = [channel.from, channel.to].into_iter().find(|task| *task >= tasks) {
        return inconsistent(format!(
            "channels[{at}]: there is no task {task}; the plan has {tasks}, counted from 0"
        ));
    }
    if channel.distance_ns.is_finite() {
        Ok(())
    } else {
        inconsistent(format!("channels[{at}].distance_ns is not a number: {}", channel.distance_ns))
    }
}

fn all_or_none<T>(key: &str, list: &[T], tasks: usize) -> Checked {
    if list.is_empty() || list.len() == tasks {
        return Ok(());
    }
    inconsistent(format!(
        "{key} has {} for {}",
        counted(list.len(), "entry"),
        counted(tasks, "task")
    ))
}

#[cfg(test)]
mod tests {
    use crate::machine::Pu;
    use crate::plan::{Baselines, Channel, Plan, Random, placed::MAX_TASKS};

    fn plan() -> Plan {
        Plan::new("small", vec![4, 0, 4])
    }

    fn known(os: &[u32]) -> Vec<Pu> {
        os.iter().map(|os| Pu { os: *os, ..Pu::default() }).collect()
    }

    #[test]
    fn inconsistent_plan_is_refused() {
        let changes: [fn(&mut Plan); 20] = [
            |it| it.placement.clear(),
            |it| it.placement = vec![0; MAX_TASKS + 1],
            |it| it.placement[1] = u32::MAX,
            |it| it.seats = vec![vec![0]],
            |it| it.seats = vec![vec![4], vec![9, 8], vec![4]],
            |it| it.seats = vec![vec![4], vec![1 << 21], vec![4]],
            |it| it.seats = vec![vec![4], vec![], vec![4]],
            |it| it.names = vec!["a".into(); 2],
            |it| it.memory = vec![vec![0]],
            |it| it.memory = vec![vec![0], vec![2, 1], vec![]],
            |it| it.memory = vec![vec![0], vec![1, 1], vec![]],
            |it| it.memory = vec![vec![0], vec![1024], vec![]],
            |it| it.pus = known(&[4, 0]),
            |it| it.pus = known(&[0, 4, 4]),
            |it| it.pus = known(&[0, 3]),
            |it| it.cost = Some(f64::NAN),
            |it| it.seconds = Some(f64::INFINITY),
            |it| {
                let random = Random { mean: 1.0, best: f64::NAN };
                it.baselines = Some(Baselines { os: 1.0, compact: 1.0, scatter: 1.0, random });
            },
            |it| {
                it.channels =
                    vec![Channel { from: 0, to: 3, home: 0, line: None, distance_ns: 80.0 }];
            },
            |it| {
                it.channels =
                    vec![Channel { from: 0, to: 2, home: 0, line: None, distance_ns: f64::NAN }];
            },
        ];
        let refused = changes.map(|change| {
            let mut plan = plan();
            change(&mut plan);
            plan.check().unwrap_err().to_string()
        });
        insta::assert_snapshot!(refused.join("\n"), @"
        placement is empty; a plan needs at least one task
        placement has 1048577 tasks; the limit is 1048576
        placement[1]: PU 4294967295 is beyond the largest index, 1048576
        seats has 1 entry for 3 tasks
        seats[1]: list each PU once, in ascending order
        seats[1]: a PU is beyond the largest index, 1048576
        seats[1] lacks PU 0 of placement[1]
        names has 2 entries for 3 tasks
        memory has 1 entry for 3 tasks
        memory[1]: list each NUMA node once, in ascending order
        memory[1]: list each NUMA node once, in ascending order
        memory[1]: a NUMA node is beyond the largest index, 1023
        pus: PU 0 follows PU 4; list each PU once, in ascending order
        pus: PU 4 follows PU 4; list each PU once, in ascending order
        placement[0]: PU 4 is not in pus
        cost is not a number: NaN
        seconds is not a number: inf
        baselines.random.best is not a number: NaN
        channels[0]: there is no task 3; the plan has 3, counted from 0
        channels[0].distance_ns is not a number: NaN
        ");
    }

    #[test]
    fn memory_and_known_pus_may_exceed_the_use() {
        let far = Plan { memory: vec![vec![0, 1023], vec![], vec![0]], ..plan() };
        assert!(far.check().is_ok() && far.memory_in_use().is_none());
        assert!(Plan { pus: known(&[0, 2, 4]), ..plan() }.check().is_ok());
    }
}

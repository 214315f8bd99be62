//! Handmade seatings for tests.

#[cfg(test)]
use super::SeatingFacts;
#[cfg(test)]
use crate::finding::Finding;
use crate::seating::{
    ControlGroup, CpuActivity, CpusetLevel, FORMAT, InterruptRate, MemoryUsage, OnNode, OpenDevice,
    Process, Seating, Stranger, Variable, WatchedQuota, WatchedThread,
};
use seatmap_data::machine::{CoreKind, Pu, Topology};
use seatmap_os::{CpuSet, Tid};

/// Threads sleep unless made busy.
#[derive(Clone, Debug, Default)]
pub struct Made {
    /// The seating.
    pub seating: Seating,
    /// The machine.
    pub topology: Topology,
}

impl Made {
    /// A machine with this number of idle one-thread cores, and no program.
    pub fn new(cpus: u32) -> Self {
        let pus = (0..cpus).map(|os| Pu {
            os,
            core: Some(os),
            l3: Some(0),
            numa: Some(0),
            package: Some(0),
            ..Pu::default()
        });
        let topology = Topology { pus: pus.collect() };
        let seating = Seating {
            format: FORMAT.to_owned(),
            machine: "made".to_owned(),
            watched_s: 0.5,
            looks: 2,
            cpus: (0..cpus)
                .map(|cpu| CpuActivity { cpu, busy_percent: Some(0.0), ..CpuActivity::default() })
                .collect(),
            ..Seating::default()
        };
        Made { seating, topology }
    }

    /// Groups this many adjacent CPUs into a core, an L3 cache and a NUMA node.
    pub fn parts(mut self, core: u32, l3: u32, numa: u32) -> Self {
        for pu in &mut self.topology.pus {
            (pu.core, pu.l3, pu.numa, pu.package) =
                (Some(pu.os / core), Some(pu.os / l3), Some(pu.os / numa), Some(pu.os / numa));
        }
        self
    }

    /// Makes the CPUs from this one on efficiency cores.
    pub fn efficient_from(mut self, first: u32) -> Self {
        for pu in &mut self.topology.pus {
            pu.kind =
                Some(if pu.os < first { CoreKind::Performance } else { CoreKind::Efficiency });
        }
        self
    }

    /// Isolates CPUs.
    pub fn isolated(mut self, cpus: &str) -> Self {
        self.seating.kernel.isolated = cpus.to_owned();
        self
    }

    /// Adds a process, unless it exists.
    pub fn process(mut self, pid: Tid, parent: Tid) -> Self {
        self.add_process(pid, parent);
        self
    }

    fn add_process(&mut self, pid: Tid, parent: Tid) {
        if self.seating.processes.iter().all(|process| process.pid != pid) {
            let process = Process {
                pid,
                parent,
                name: "program".to_owned(),
                age_s: 60.0,
                ..Process::default()
            };
            self.seating.processes.push(process);
        }
    }

    /// Adds a sleeping thread, younger than the last one.
    pub fn thread(mut self, pid: Tid, tid: Tid, mask: &str) -> Self {
        self.add_process(pid, 1);
        let name = if pid == tid { "main" } else { "worker" };
        let thread = WatchedThread {
            pid,
            tid,
            name: name.to_owned(),
            state: 'S',
            age_s: 60.0 - self.seating.threads.len() as f64 * 0.1,
            mask: mask.to_owned(),
            policy: "other".to_owned(),
            wait_percent: Some(0.0),
            ..WatchedThread::default()
        };
        self.seating.threads.push(thread);
        if let Some(process) = self.seating.processes.iter_mut().find(|process| process.pid == pid)
        {
            process.threads += 1;
        }
        self
    }

    /// Its only CPU is as busy.
    pub fn busy(
        mut self,
        pid: Tid,
        tid: Tid,
        mask: &str,
        run_percent: f64,
        wait_percent: f64,
    ) -> Self {
        self = self.thread(pid, tid, mask);
        if let Some(thread) = self.seating.threads.last_mut() {
            (thread.run_percent, thread.wait_percent) = (run_percent, Some(wait_percent));
            (thread.run_s, thread.wait_s, thread.state) = (run_percent, Some(wait_percent), 'R');
        }
        if let Some(cpu) = CpuSet::of_list(mask).and_then(|mask| mask.only()) {
            self.load(cpu, run_percent);
        }
        self
    }

    /// Adds threads as in `7/7 on 0-3; 7/8 on 1: 50+25`: process, thread and mask, and the percent of
    /// the time for which a busy one ran and waited.
    #[cfg(test)]
    pub(crate) fn with(self, threads: &str) -> Self {
        threads.split("; ").fold(self, |made, text| {
            let (ids, rest) = text.split_once(" on").unwrap();
            let [pid, tid] = ids
                .split_once('/')
                .map(|(pid, tid)| [pid, tid].map(|id| id.parse().unwrap()))
                .unwrap();
            let (mask, shares) = rest.split_once(": ").unwrap_or((rest, ""));
            match shares
                .split_once('+')
                .map(|(run, wait)| [run, wait].map(|it| it.parse().unwrap()))
            {
                Some([run, wait]) => made.busy(pid, tid, mask.trim(), run, wait),
                None => made.thread(pid, tid, mask.trim()),
            }
        })
    }

    fn load(&mut self, cpu: u32, percent: f64) {
        for cpu in self.seating.cpus.iter_mut().filter(|one| one.cpu == cpu) {
            cpu.busy_percent = cpu.busy_percent.map(|busy| (busy + percent).min(100.0));
        }
    }

    /// Makes CPUs busy with other programs.
    pub fn taken(mut self, cpus: &str) -> Self {
        CpuSet::of_list(cpus).unwrap_or_default().iter().for_each(|cpu| self.load(cpu, 100.0));
        self
    }

    /// Renames the last thread.
    pub fn called(mut self, name: &str) -> Self {
        self.seating
            .threads
            .iter_mut()
            .last()
            .into_iter()
            .for_each(|thread| thread.name = name.to_owned());
        self
    }

    /// Sets the last thread's policy.
    pub fn policy(mut self, policy: &str) -> Self {
        self.seating
            .threads
            .iter_mut()
            .last()
            .into_iter()
            .for_each(|thread| thread.policy = policy.to_owned());
        self
    }

    /// Sets the last thread's switches per second.
    pub fn switches(mut self, voluntary_per_s: f64, forced_per_s: f64) -> Self {
        if let Some(thread) = self.seating.threads.last_mut() {
            thread.voluntary_per_s = Some(voluntary_per_s);
            thread.forced_per_s = Some(forced_per_s);
        }
        self
    }

    /// Sets the last thread's state.
    pub fn state(mut self, state: char) -> Self {
        self.seating.threads.iter_mut().last().into_iter().for_each(|thread| thread.state = state);
        self
    }

    fn last(&mut self) -> Option<&mut Process> {
        self.seating.processes.last_mut()
    }

    /// Adds a variable to the last process's environment.
    pub fn variable(
        mut self,
        name: &str,
        value: &str,
        cpus: Option<&str>,
        threads: Option<u32>,
    ) -> Self {
        let name = name.to_owned();
        let value = value.to_owned();
        let variable =
            Variable { name, value, cpus: cpus.map(str::to_owned), threads, ..Variable::default() };
        self.last().into_iter().for_each(|process| process.variables.push(variable.clone()));
        self
    }

    /// Limits the last process.
    pub fn group(mut self, cpus: Option<&str>, quota_cpus: Option<f64>, throttled: u64) -> Self {
        let cpus = cpus.map(str::to_owned);
        let throttled_watched = Some(throttled);
        let cpusets = cpus
            .iter()
            .map(|cpus| CpusetLevel {
                file: "/sys/fs/cgroup/box/cpuset.cpus".to_owned(),
                cpus: cpus.clone(),
                unit: None,
            })
            .collect();
        let group = ControlGroup {
            path: "/box".to_owned(),
            cpusets,
            cpus,
            quota_cpus,
            throttled_watched,
            ..ControlGroup::default()
        };
        self.last().into_iter().for_each(|process| process.group = Some(group.clone()));
        match quota_cpus {
            Some(cpus) => self.quota("/box", cpus, Some(throttled)),
            None => self,
        }
    }

    /// On all threads so far; the kernel stopped them for half of each used-up period.
    pub fn quota(mut self, group: &str, cpus: f64, throttled_watched: Option<u64>) -> Self {
        let file = format!("/sys/fs/cgroup{}/cpu.max", group.trim_end_matches('/'));
        let tids = self.seating.threads.iter().map(|thread| thread.tid).collect();
        let group = group.to_owned();
        let period_us = 100_000;
        let periods_watched = throttled_watched.map(|throttled| throttled.max(5));
        let stopped_watched_s = throttled_watched.map(|throttled| throttled as f64 / 20.0);
        self.seating.quotas.push(WatchedQuota {
            group,
            file,
            cpus,
            period_us,
            throttled_watched,
            periods_watched,
            stopped_watched_s,
            tids,
            ..WatchedQuota::default()
        });
        self
    }

    /// MiB on node 0, 1 and so on.
    pub fn memory(mut self, mib: &[u64]) -> Self {
        let nodes = (0..).zip(mib).map(|(node, mib)| OnNode { node, bytes: mib << 20 }).collect();
        let memory = MemoryUsage { nodes, ..MemoryUsage::default() };
        self.last().into_iter().for_each(|process| process.memory = Some(memory.clone()));
        self
    }

    /// Adds a device near these CPUs to the last process.
    pub fn device(mut self, name: &str, node: u32, cpus: &str) -> Self {
        let name = name.to_owned();
        let kind = "gpu".to_owned();
        let cpus = Some(cpus.to_owned());
        let device = OpenDevice { name, kind, node: Some(node), cpus };
        self.last().into_iter().for_each(|process| process.devices.push(device.clone()));
        self
    }

    /// Adds interrupts to a CPU.
    pub fn interrupts(mut self, cpu: u32, irq: &str, name: &str, per_second: f64) -> Self {
        let interrupt = InterruptRate {
            irq: irq.to_owned(),
            name: name.to_owned(),
            per_second,
            ..InterruptRate::default()
        };
        self.seating
            .cpus
            .iter_mut()
            .filter(|one| one.cpu == cpu)
            .for_each(|one| one.interrupts.push(interrupt.clone()));
        self
    }

    /// Adds another program's thread to a CPU.
    pub fn stranger(mut self, cpu: u32, name: &str, run_percent: f64, mask: &str) -> Self {
        let name = name.to_owned();
        let mask = mask.to_owned();
        let others = self.seating.cpus.iter().map(|one| one.strangers.len()).sum::<usize>();
        let pid = 900 + others as Tid;
        let stranger = Stranger { pid, tid: pid, name, run_percent, mask, ..Stranger::default() };
        self.seating
            .cpus
            .iter_mut()
            .filter(|one| one.cpu == cpu)
            .for_each(|one| one.strangers.push(stranger.clone()));
        self
    }

    /// Gives all other programs' threads so far a real-time policy.
    pub fn real_time_strangers(mut self, policy: &str, priority: u32) -> Self {
        for stranger in self.seating.cpus.iter_mut().flat_map(|cpu| &mut cpu.strangers) {
            stranger.real_time_policy = Some(policy.to_owned());
            stranger.real_time_priority = priority;
        }
        self
    }

    /// The findings of a rule, a line each: gravity, process, threads, CPUs, the sentence, and the
    /// command or advice.
    #[cfg(test)]
    pub(crate) fn told(&self, rule: impl Fn(&SeatingFacts) -> Vec<Finding>) -> String {
        let lines = rule(&self.facts()).into_iter().map(|it| {
            let pid = it.pid.map_or_else(|| "several".to_owned(), |pid| pid.to_string());
            let mended: String =
                it.remedy.into_iter().chain(it.advice).map(|it| format!(" -> {it}")).collect();
            format!("{:?} {pid} {:?} on {}: {}{mended}", it.gravity, it.tids, it.cpus, it.what)
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    #[cfg(test)]
    pub(crate) fn facts(&self) -> SeatingFacts<'_> {
        SeatingFacts::new(&self.seating, &self.topology, None)
    }
}

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
    /// A machine with this many idle one-thread cores.
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
        self = self.thread(pid, tid, mask).its(|thread| {
            (thread.run_percent, thread.wait_percent) = (run_percent, Some(wait_percent));
            (thread.run_s, thread.wait_s, thread.state) = (run_percent, Some(wait_percent), 'R');
        });
        if let Some(cpu) = CpuSet::of_list(mask).and_then(|mask| mask.only()) {
            self = self.load(cpu, run_percent);
        }
        self
    }

    /// Adds threads as in `7/7 on 0-3; 7/8 on 1: 50+25`: process, thread and mask, and percent of
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

    fn its(mut self, change: impl FnOnce(&mut WatchedThread)) -> Self {
        if let Some(thread) = self.seating.threads.last_mut() {
            change(thread);
        }
        self
    }

    fn of_process(mut self, change: impl FnOnce(&mut Process)) -> Self {
        if let Some(process) = self.seating.processes.last_mut() {
            change(process);
        }
        self
    }

    fn of_cpu(mut self, cpu: u32, change: impl FnOnce(&mut CpuActivity)) -> Self {
        if let Some(cpu) = self.seating.cpus.iter_mut().find(|one| one.cpu == cpu) {
            change(cpu);
        }
        self
    }

    fn load(self, cpu: u32, percent: f64) -> Self {
        self.of_cpu(cpu, |cpu| {
            cpu.busy_percent = cpu.busy_percent.map(|busy| (busy + percent).min(100.0));
        })
    }

    /// Makes CPUs busy with other programs.
    pub fn taken(self, cpus: &str) -> Self {
        let cpus = CpuSet::of_list(cpus).unwrap_or_default();
        cpus.iter().fold(self, |made, cpu| made.load(cpu, 100.0))
    }

    /// Renames the last thread.
    pub fn called(self, name: &str) -> Self {
        self.its(|thread| thread.name = name.to_owned())
    }

    /// Sets the last thread's policy.
    pub fn policy(self, policy: &str) -> Self {
        self.its(|thread| thread.policy = policy.to_owned())
    }

    /// Sets the last thread's switches per second.
    pub fn switches(self, voluntary_per_s: f64, forced_per_s: f64) -> Self {
        self.its(|thread| {
            thread.voluntary_per_s = Some(voluntary_per_s);
            thread.forced_per_s = Some(forced_per_s);
        })
    }

    /// Sets the last thread's state.
    pub fn state(self, state: char) -> Self {
        self.its(|thread| thread.state = state)
    }

    /// Adds a variable to the last process's environment.
    pub fn variable(
        self,
        name: &str,
        value: &str,
        cpus: Option<&str>,
        threads: Option<u32>,
    ) -> Self {
        let (name, value, cpus) = (name.to_owned(), value.to_owned(), cpus.map(str::to_owned));
        let variable = Variable { name, value, cpus, threads, ..Variable::default() };
        self.of_process(|process| process.variables.push(variable))
    }

    /// Limits the last process.
    pub fn group(mut self, cpus: Option<&str>, quota_cpus: Option<f64>, throttled: u64) -> Self {
        let level = cpus.map(|cpus| CpusetLevel {
            file: "/sys/fs/cgroup/box/cpuset.cpus".to_owned(),
            cpus: cpus.to_owned(),
            unit: None,
        });
        let group = ControlGroup {
            path: "/box".to_owned(),
            cpus: cpus.map(str::to_owned),
            cpusets: level.into_iter().collect(),
            quota_cpus,
            throttled_watched: Some(throttled),
            ..ControlGroup::default()
        };
        self = self.of_process(|process| process.group = Some(group));
        match quota_cpus {
            Some(cpus) => self.quota("/box", cpus, Some(throttled)),
            None => self,
        }
    }

    /// On all threads so far; the kernel stopped them for half of each used-up period.
    pub fn quota(mut self, group: &str, cpus: f64, throttled_watched: Option<u64>) -> Self {
        let file = format!("/sys/fs/cgroup{}/cpu.max", group.trim_end_matches('/'));
        let tids = self.seating.threads.iter().map(|thread| thread.tid).collect();
        self.seating.quotas.push(WatchedQuota {
            group: group.to_owned(),
            file,
            cpus,
            period_us: 100_000,
            throttled_watched,
            periods_watched: throttled_watched.map(|throttled| throttled.max(5)),
            stopped_watched_s: throttled_watched.map(|throttled| throttled as f64 / 20.0),
            tids,
            ..WatchedQuota::default()
        });
        self
    }

    /// MiB on node 0, 1 and so on.
    pub fn memory(self, mib: &[u64]) -> Self {
        let nodes = (0..).zip(mib).map(|(node, mib)| OnNode { node, bytes: mib << 20 }).collect();
        let memory = MemoryUsage { nodes, ..MemoryUsage::default() };
        self.of_process(|process| process.memory = Some(memory))
    }

    /// Adds a device near these CPUs to the last process.
    pub fn device(self, name: &str, node: u32, cpus: &str) -> Self {
        let (name, kind, cpus) = (name.to_owned(), "gpu".to_owned(), Some(cpus.to_owned()));
        self.of_process(|process| {
            process.devices.push(OpenDevice { name, kind, node: Some(node), cpus });
        })
    }

    /// Adds interrupts to a CPU.
    pub fn interrupts(self, cpu: u32, irq: &str, name: &str, per_second: f64) -> Self {
        let (irq, name) = (irq.to_owned(), name.to_owned());
        let interrupt = InterruptRate { irq, name, per_second, ..InterruptRate::default() };
        self.of_cpu(cpu, |cpu| cpu.interrupts.push(interrupt))
    }

    /// Adds another program's thread to a CPU.
    pub fn stranger(self, cpu: u32, name: &str, run_percent: f64, mask: &str) -> Self {
        let (name, mask) = (name.to_owned(), mask.to_owned());
        let others = self.seating.cpus.iter().map(|one| one.strangers.len()).sum::<usize>();
        let pid = 900 + others as Tid;
        let stranger = Stranger { pid, tid: pid, name, run_percent, mask, ..Stranger::default() };
        self.of_cpu(cpu, |cpu| cpu.strangers.push(stranger))
    }

    /// Gives all other programs' threads so far a real-time policy.
    pub fn real_time_strangers(mut self, policy: &str, priority: u32) -> Self {
        for stranger in self.seating.cpus.iter_mut().flat_map(|cpu| &mut cpu.strangers) {
            stranger.real_time_policy = Some(policy.to_owned());
            stranger.real_time_priority = priority;
        }
        self
    }

    /// The findings of a rule as [`lines`].
    #[cfg(test)]
    pub(crate) fn told(&self, rule: impl Fn(&SeatingFacts) -> Vec<Finding>) -> String {
        lines(rule(&self.facts()))
    }

    #[cfg(test)]
    pub(crate) fn facts(&self) -> SeatingFacts<'_> {
        SeatingFacts::new(&self.seating, &self.topology, None)
    }
}

/// Findings, a line each: gravity, process, threads, CPUs, sentence, and command or advice.
#[cfg(test)]
pub(crate) fn lines(found: Vec<Finding>) -> String {
    let lines = found.into_iter().map(|it| {
        let pid = it.pid.map_or_else(|| "several".to_owned(), |pid| pid.to_string());
        let mended: String =
            it.remedy.into_iter().chain(it.advice).map(|it| format!(" -> {it}")).collect();
        format!("{:?} {pid} {:?} on {}: {}{mended}", it.gravity, it.tids, it.cpus, it.what)
    });
    lines.collect::<Vec<_>>().join("\n")
}

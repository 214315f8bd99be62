//! The limits of control groups on processes and threads.

use crate::files::SystemFiles;
use crate::seating::{ControlGroup, CpusetLevel, GroupBrake, WatchedQuota, WatchedThread};
use crate::thread::seconds;
use seatmap_os::Tid;
use seatmap_os::brake::{Brake, BrakeKind};
use seatmap_os::hierarchy::{ControlGroups, Cpuset, Hierarchies, Limits, members_below};
use seatmap_os::quota::GroupQuota;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

#[derive(Clone, Default)]
pub struct Limiting {
    hierarchies: Hierarchies,
    /// By the text of a `cgroup` file, which many threads share.
    by_membership: HashMap<Vec<u8>, ControlGroups>,
    at_first: HashMap<String, Counts>,
    now: HashMap<ControlGroups, Limits>,
    members: HashMap<ControlGroups, BTreeSet<Tid>>,
    apart: HashMap<Tid, ControlGroup>,
    listed: HashMap<ControlGroups, Option<HashSet<Tid>>>,
}

/// Stops, periods, and nanoseconds stopped, since a group was made.
type Counts = [Option<u64>; 3];

fn counts(quota: &GroupQuota) -> Counts {
    [quota.throttled, quota.periods, quota.stopped_ns]
}

impl Limiting {
    /// Finds the hierarchies, and counts the groups' throttling.
    pub fn begin(files: &mut SystemFiles, pids: impl Iterator<Item = Tid>) -> Self {
        let hierarchies = Hierarchies::read(&files.root);
        let mut limiting = Limiting { hierarchies, ..Limiting::default() };
        for pid in pids {
            let tids = files.threads(pid);
            limiting.process(files, pid, &tids);
        }
        limiting.turn();
        limiting
    }

    pub fn turn(&mut self) {
        self.at_first.clear();
        for (_, limits) in self.now.drain() {
            let quotas =
                limits.quotas.into_iter().map(|quota| (quota.file.clone(), counts(&quota)));
            let brakes = limits.brakes.into_iter();
            let brakes = brakes.map(|brake| (brake.file, [brake.stops, None, None]));
            self.at_first.extend(quotas.chain(brakes));
        }
        self.members.clear();
        self.apart.clear();
        self.listed.clear();
    }

    /// A process's limits, by its first thread. Also finds threads in other groups.
    pub fn process(
        &mut self,
        files: &mut SystemFiles,
        pid: Tid,
        tids: &[Tid],
    ) -> Option<ControlGroup> {
        let groups = self.groups(files, pid, pid)?;
        let listed = self
            .listed
            .entry(groups.clone())
            .or_insert_with(|| groups.threads(&files.root).map(|tids| tids.into_iter().collect()));
        // One file lists the threads of a group.
        let is_here = |tid: &Tid| *tid == pid || listed.as_ref().is_none_or(|it| it.contains(tid));
        let (here, elsewhere): (Vec<Tid>, Vec<Tid>) = tids.iter().partition(|tid| is_here(tid));
        self.members.entry(groups.clone()).or_default().extend(here);
        for tid in &elsewhere {
            if let Some(own) = self.groups(files, pid, *tid) {
                self.note_apart(*tid, &own, &groups);
                self.members.entry(own).or_default().insert(*tid);
            }
        }
        if groups.is_empty() {
            return None;
        }
        self.now.get(&groups).map(|limits| self.group(limits))
    }

    fn note_apart(&mut self, tid: Tid, own: &ControlGroups, of_process: &ControlGroups) {
        let [own_cpus, process_cpus] = [own, of_process]
            .map(|groups| self.now.get(groups).and_then(|limits| limits.cpus.as_deref()));
        if own_cpus != process_cpus
            && let Some(limits) = self.now.get(own)
        {
            let group = self.group(limits);
            self.apart.insert(tid, group);
        }
    }

    /// A thread's group, if it allows other CPUs than its process's.
    pub fn apart(&self, tid: Tid) -> Option<ControlGroup> {
        self.apart.get(&tid).cloned()
    }

    fn groups(&mut self, files: &mut SystemFiles, pid: Tid, tid: Tid) -> Option<ControlGroups> {
        let file =
            if pid == tid { format!("{pid}/cgroup") } else { format!("{pid}/task/{tid}/cgroup") };
        let membership = match files.proc.read(format_args!("{file}")) {
            Ok(membership) => membership.to_vec(),
            Err(error) => {
                files.note_refusal("quota", pid, &error);
                return None;
            }
        };
        let Limiting { hierarchies, by_membership, .. } = self;
        let groups = by_membership
            .entry(membership)
            .or_insert_with_key(|text| {
                hierarchies.groups(&files.root, tid, &String::from_utf8_lossy(text))
            })
            .clone();
        if let Some(why) = groups.unseen() {
            files.note("quota", Some(pid), why);
        }
        self.now.entry(groups.clone()).or_insert_with(|| Hierarchies::limits(&files.root, &groups));
        Some(groups)
    }

    /// The quotas on threads examined since the last turn, by file.
    pub fn quotas(&self, files: &SystemFiles) -> Vec<WatchedQuota> {
        let mut by_file: BTreeMap<&str, WatchedQuota> = BTreeMap::new();
        for (groups, limits) in &self.now {
            let tids = self.members.get(groups);
            for quota in &limits.quotas {
                let all = by_file.entry(&quota.file).or_insert_with(|| self.quota(quota));
                all.tids.extend(tids.into_iter().flatten());
            }
        }
        let mut quotas: Vec<WatchedQuota> = by_file.into_values().collect();

        let is_used_up =
            quotas.iter().any(|quota| quota.throttled_watched.is_some_and(|periods| periods > 0));
        for quota in &mut quotas {
            quota.tids.sort_unstable();
            let folder = quota.file.rsplit_once('/').map_or("", |(folder, _)| folder);
            // Listing a large group takes long, and is needed only to raise a quota.
            quota.has_others = is_used_up && self.has_others(files, folder);
        }
        quotas
    }

    /// The other settings that hold back these threads, by file.
    pub fn brakes<'a>(&self, threads: impl Iterator<Item = &'a WatchedThread>) -> Vec<GroupBrake> {
        let mut by_file: BTreeMap<&str, GroupBrake> = BTreeMap::new();
        for (groups, limits) in &self.now {
            let tids = self.members.get(groups);
            for brake in limits.brakes.iter().chain(&limits.real_time) {
                let all = by_file.entry(&brake.file).or_insert_with(|| self.brake(brake));
                all.tids.extend(tids.into_iter().flatten());
            }
        }
        let mut brakes: Vec<GroupBrake> = by_file.into_values().collect();
        let real_time: HashSet<Tid> = threads
            // A limit on real-time threads applies to these two policies, sched(7).
            .filter(|thread| ["fifo", "rr"].contains(&thread.policy.as_str()))
            .map(|thread| thread.tid)
            .collect();
        for brake in &mut brakes {
            brake.tids.retain(|tid| brake.real_time_percent.is_none() || real_time.contains(tid));
            brake.tids.sort_unstable();
        }
        brakes.retain(|brake| brake.real_time_percent.is_none() || !brake.tids.is_empty());

        brakes
    }

    fn brake(&self, brake: &Brake) -> GroupBrake {
        let [stops_watched, ..] = self.since(&brake.file, [brake.stops, None, None]);
        GroupBrake {
            group: brake.group.clone(),
            file: brake.file.clone(),
            words: brake.words(),
            real_time_percent: match brake.kind {
                BrakeKind::RealTime { percent } => Some(percent),
                _ => None,
            },
            stops_watched,
            tids: Vec::new(),
            unit: brake.unit.clone(),
            is_read_only: brake.is_read_only,
        }
    }

    /// `None` without an earlier count. A lower count means that the group was made again.
    fn since(&self, file: &str, now: Counts) -> Counts {
        let before = self.at_first.get(file).copied().unwrap_or_default();
        std::array::from_fn(|at| now[at]?.checked_sub(before[at]?))
    }

    fn quota(&self, quota: &GroupQuota) -> WatchedQuota {
        let [throttled_watched, periods_watched, stopped_ns] =
            self.since(&quota.file, counts(quota));
        WatchedQuota {
            group: quota.group.clone(),
            file: quota.file.clone(),
            cpus: quota.cpus,
            period_us: quota.period_us,
            throttled: quota.throttled,
            throttled_watched,
            periods_watched,
            stopped_watched_s: stopped_ns.map(seconds),
            tids: Vec::new(),
            has_others: false,
            unit: quota.unit.clone(),
            is_read_only: quota.is_read_only,
        }
    }

    /// True if members cannot be listed.
    fn has_others(&self, files: &SystemFiles, folder: &str) -> bool {
        let known: HashSet<&Tid> = self.members.values().flatten().collect();
        members_below(&files.root, Path::new(folder))
            .map_or(true, |all| all.iter().any(|member| !known.contains(member)))
    }

    fn group(&self, limits: &Limits) -> ControlGroup {
        let quotas = limits.quotas.iter();
        let watched = quotas.filter_map(|quota| self.since(&quota.file, counts(quota))[0]);
        // A remedy cannot use levels that are read-only here.
        let cpusets = limits.cpusets.iter().filter(|_| !limits.is_read_only).cloned();
        ControlGroup {
            path: limits.path.clone(),
            cpusets: cpusets
                .map(|Cpuset { file, cpus, unit }| CpusetLevel { file, cpus, unit })
                .collect(),
            cpus: limits.cpus.clone(),
            nodes: limits.nodes.clone(),
            quota_cpus: limits.quota_cpus(),
            throttled: limits.throttled(),
            throttled_watched: watched.reduce(u64::saturating_add),
        }
    }
}

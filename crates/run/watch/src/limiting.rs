//! The limits of control groups on processes and threads.

use crate::files::SystemFiles;
use crate::looks::seconds;
use crate::seating::{ControlGroup, CpusetLevel, GroupBrake, WatchedQuota, WatchedThread};
use seatmap_os::Tid;
use seatmap_os::brake::{Brake, BrakeKind};
use seatmap_os::hierarchy::{ControlGroups, Hierarchies, Limits, members_below};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

#[derive(Clone, Debug)]
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

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    stops: Option<u64>,
    periods: Option<u64>,
    stopped_ns: Option<u64>,
}

impl Counts {
    fn of(quota: &seatmap_os::quota::GroupQuota) -> Self {
        let seatmap_os::quota::GroupQuota { throttled, periods, stopped_ns, .. } = *quota;
        Counts { stops: throttled, periods, stopped_ns }
    }

    /// A lower count means that the group was made again.
    fn since(self, earlier: Option<&Counts>) -> Self {
        let Some(earlier) = earlier else { return Counts::default() };
        Counts {
            stops: grown(self.stops, earlier.stops),
            periods: grown(self.periods, earlier.periods),
            stopped_ns: grown(self.stopped_ns, earlier.stopped_ns),
        }
    }
}

fn grown(now: Option<u64>, before: Option<u64>) -> Option<u64> {
    now?.checked_sub(before?)
}

impl Limiting {
    /// Finds the hierarchies, and counts the groups' throttling.
    pub fn begin(files: &mut SystemFiles, pids: impl Iterator<Item = Tid>) -> Self {
        let mut limiting = Limiting {
            hierarchies: Hierarchies::read(&files.root),
            by_membership: HashMap::new(),
            at_first: HashMap::new(),
            now: HashMap::new(),
            members: HashMap::new(),
            apart: HashMap::new(),
            listed: HashMap::new(),
        };
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
            let quotas = limits.quotas.into_iter().map(|quota| {
                let counts = Counts::of(&quota);
                (quota.file, counts)
            });
            let brakes = limits.brakes.into_iter().map(|brake| {
                let counts = Counts { stops: brake.stops, ..Counts::default() };
                (brake.file, counts)
            });
            self.at_first.extend(quotas.chain(brakes));
        }
        self.members.clear();
        self.apart.clear();
        self.listed.clear();
    }

    /// A process's limits: those of its first thread. Also finds threads in other groups.
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
        let elsewhere: Vec<Tid> = match listed {
            Some(listed) => {
                tids.iter().filter(|tid| **tid != pid && !listed.contains(tid)).copied().collect()
            }
            None => Vec::new(),
        };
        let here = tids.iter().copied().filter(|tid| !elsewhere.contains(tid));
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
        let at_first = &self.at_first;
        self.now.get(&groups).map(|limits| group(limits, at_first))
    }

    fn note_apart(&mut self, tid: Tid, own: &ControlGroups, of_process: &ControlGroups) {
        let [own_cpus, process_cpus] = [own, of_process]
            .map(|groups| self.now.get(groups).and_then(|limits| limits.cpus.as_deref()));
        if own_cpus != process_cpus
            && let Some(limits) = self.now.get(own)
        {
            self.apart.insert(tid, group(limits, &self.at_first));
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
        let mut by_file: HashMap<&str, WatchedQuota> = HashMap::new();
        for (groups, limits) in &self.now {
            let tids = self.members.get(groups);
            for quota in &limits.quotas {
                let all = by_file.entry(&quota.file).or_insert_with(|| self.quota(quota));
                all.tids.extend(tids.into_iter().flatten());
            }
        }
        let mut quotas: Vec<WatchedQuota> = by_file.into_values().collect();
        quotas.sort_by(|a, b| a.file.cmp(&b.file));
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

    /// The other settings that hold back threads examined since the last turn, by file.
    pub fn brakes<'a>(&self, threads: impl Iterator<Item = &'a WatchedThread>) -> Vec<GroupBrake> {
        let mut by_file: HashMap<&str, GroupBrake> = HashMap::new();
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
        brakes.sort_by(|a, b| a.file.cmp(&b.file));
        brakes
    }

    fn brake(&self, brake: &Brake) -> GroupBrake {
        let counts = Counts { stops: brake.stops, ..Counts::default() };
        GroupBrake {
            group: brake.group.clone(),
            file: brake.file.clone(),
            words: brake.words(),
            real_time_percent: match brake.kind {
                BrakeKind::RealTime { percent } => Some(percent),
                _ => None,
            },
            stops_watched: counts.since(self.at_first.get(&brake.file)).stops,
            tids: Vec::new(),
            unit: brake.unit.clone(),
            is_read_only: brake.is_read_only,
        }
    }

    fn quota(&self, quota: &seatmap_os::quota::GroupQuota) -> WatchedQuota {
        let watched = since(&self.at_first, quota);
        WatchedQuota {
            group: quota.group.clone(),
            file: quota.file.clone(),
            cpus: quota.cpus,
            period_us: quota.period_us,
            throttled: quota.throttled,
            throttled_watched: watched.stops,
            periods_watched: watched.periods,
            stopped_watched_s: watched.stopped_ns.map(seconds),
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
}

fn since(at_first: &HashMap<String, Counts>, quota: &seatmap_os::quota::GroupQuota) -> Counts {
    Counts::of(quota).since(at_first.get(&quota.file))
}

fn group(limits: &Limits, at_first: &HashMap<String, Counts>) -> ControlGroup {
    let watched = limits.quotas.iter().filter_map(|quota| since(at_first, quota).stops);
    ControlGroup {
        path: limits.path.clone(),
        cpusets: limits
            .cpusets
            .iter()
            // A remedy cannot use levels that are read-only here.
            .filter(|_| !limits.is_read_only)
            .map(|level| CpusetLevel {
                file: level.file.clone(),
                cpus: level.cpus.clone(),
                unit: level.unit.clone(),
            })
            .collect(),
        cpus: limits.cpus.clone(),
        nodes: limits.nodes.clone(),
        quota_cpus: limits.quota_cpus(),
        throttled: limits.throttled(),
        throttled_watched: watched.reduce(u64::saturating_add),
    }
}

//! Other programs on the program's CPUs.

use crate::evidence::{
    BUSY_PERCENT, Evidence, LEAST_ASKED_PER_S, NeighbourProgram, Neighbours, UnseenFact,
};
use seatmap_os::connections::{are_shown, connected};
use seatmap_os::priority::{self, GivesWay};
use seatmap_os::{CpuSet, Root, Tid, task};
use seatmap_watch::Seating;
use seatmap_watch::seating::{CpuActivity, WatchedThread};
use std::collections::{BTreeMap, BTreeSet};

const MOST_LISTED: usize = 5;

/// The least load of a neighbour, in percent of a CPU.
const LEAST_PERCENT: f64 = 5.0;

/// Compared with a neighbour's; each needs several small files.
const MOST_COMPARED: usize = 8;

/// With a smaller load, a program is not checked for being a partner, which reads all its open
/// files.
const LEAST_PARTNER_PERCENT: f64 = 1.0;

/// Adds the other programs on its CPUs, except clients and partners. The evidence must already
/// contain the CPUs, the CPU time and the clients. This process used `own_percent` of a CPU.
pub fn fill(evidence: &mut Evidence, seating: &Seating, own_percent: f64) {
    let cpus = CpuSet::of_list(&evidence.cpus).unwrap_or_default();
    let shown: Vec<&CpuActivity> =
        seating.cpus.iter().filter(|cpu| cpus.contains(cpu.cpu)).collect();
    if shown.iter().filter(|cpu| cpu.busy_percent.is_some()).count() < cpus.len() {
        evidence.unseen.push(UnseenFact::Load);
    }
    if shown.is_empty() {
        return;
    }
    let strangers = by_program(&shown);
    let partners = partners(evidence, &strangers);
    let count = shown.len() as f64;
    let busy: f64 = shown.iter().filter_map(|cpu| cpu.busy_percent).sum();
    let steal: f64 = shown.iter().filter_map(|cpu| cpu.steal_percent).sum();
    let (with, against): (Vec<NeighbourProgram>, Vec<NeighbourProgram>) =
        strangers.into_iter().partition(|one| partners.contains(&one.pid));
    let by_partners: f64 = with.iter().map(|one| one.percent).sum();
    let others = busy - evidence.used_percent - by_partners - own_percent;
    let against = busiest(against);
    let root = Root::new("/");
    let mut all = evidence.pids.iter().copied().chain(against.iter().map(|one| one.pid));
    if !against.is_empty() && (evidence.pids.is_empty() || !all.all(|pid| are_shown(&root, pid))) {
        evidence.unseen.push(UnseenFact::Connections);
    }
    if let Some(GivesWay { own, other, remedy }) = gives_way(&seating.threads, &against, &shown) {
        evidence.gives_way = Some(format!("{own} against {other}"));
        evidence.gives_way_remedy = remedy;
    }
    evidence.neighbours = Neighbours {
        percent: (others / count).clamp(0.0, 100.0),
        steal_percent: steal / count,
        programs: against,
        partners: busiest(with),
    };
}

fn partners(evidence: &Evidence, strangers: &[NeighbourProgram]) -> BTreeSet<Tid> {
    let busy = strangers.iter().filter(|one| one.percent >= LEAST_PARTNER_PERCENT);
    let others: Vec<Tid> = busy.map(|one| one.pid).collect();
    let mut found = connected(&Root::new("/"), &evidence.pids, &others);
    let clients = evidence.talk.iter().flat_map(|talk| &talk.clients);
    found.extend(clients.filter(|client| client.per_s >= LEAST_ASKED_PER_S).map(|one| one.pid));
    found
}

fn gives_way(
    threads: &[WatchedThread],
    against: &[NeighbourProgram],
    cpus: &[&CpuActivity],
) -> Option<GivesWay> {
    let root = Root::new("/");
    let mut wanting: Vec<&WatchedThread> =
        threads.iter().filter(|one| wanted(one) >= BUSY_PERCENT).collect();
    wanting.sort_by(|a, b| wanted(b).total_cmp(&wanted(a)));
    against.iter().find_map(|one| {
        let strangers = cpus.iter().flat_map(|cpu| &cpu.strangers);
        let threads = strangers.filter(|stranger| stranger.pid == one.pid);
        let busiest = threads.max_by(|a, b| a.run_percent.total_cmp(&b.run_percent))?;
        let own = wanting.iter().take(MOST_COMPARED);
        let each = own.map(|thread| priority::gives_way(&root, thread.tid, busiest.tid));
        let each: Vec<GivesWay> = each.collect::<Option<_>>()?;
        let first = each.first()?.clone();
        // Threads have separate nice values, but a group has one weight.
        let commands: BTreeSet<String> = each.into_iter().filter_map(|one| one.remedy).collect();
        let is_of_threads = commands.iter().all(|command| !command.starts_with("echo "));
        let all = commands.into_iter().collect::<Vec<String>>().join("; ");
        let remedy = first.remedy.map(|remedy| if is_of_threads { all } else { remedy });
        Some(GivesWay { remedy, ..first })
    })
}

fn wanted(thread: &WatchedThread) -> f64 {
    thread.run_percent + thread.wait_percent.unwrap_or(0.0)
}

fn by_program(cpus: &[&CpuActivity]) -> Vec<NeighbourProgram> {
    let mut by_pid: BTreeMap<Tid, NeighbourProgram> = BTreeMap::new();
    for stranger in cpus.iter().flat_map(|cpu| &cpu.strangers) {
        let one = by_pid.entry(stranger.pid).or_insert_with(|| NeighbourProgram {
            pid: stranger.pid,
            name: task::name(&Root::new("/"), stranger.pid)
                .unwrap_or_else(|| stranger.name.clone()),
            percent: 0.0,
        });
        one.percent += stranger.run_percent;
    }
    by_pid.into_values().collect()
}

fn busiest(mut all: Vec<NeighbourProgram>) -> Vec<NeighbourProgram> {
    all.retain(|one| one.percent >= LEAST_PERCENT);
    all.sort_by(|a, b| b.percent.total_cmp(&a.percent).then(a.pid.cmp(&b.pid)));
    all.truncate(MOST_LISTED);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{Client, ProgramTalk};
    use seatmap_watch::seating::Stranger;
    use std::process::Stdio;

    fn stranger(pid: Tid, run_percent: f64) -> Stranger {
        let pid = (1 << 30) + pid;
        Stranger { tid: pid, pid, name: format!("n{pid}"), run_percent, ..Stranger::default() }
    }

    #[test]
    fn clients_and_short_children_are_not_neighbours() {
        let strangers = vec![stranger(3, 60.0), stranger(4, 30.0), stranger(5, 1.0)];
        let cpu =
            CpuActivity { cpu: 0, busy_percent: Some(100.0), strangers, ..CpuActivity::default() };
        let seating = Seating { cpus: vec![cpu], ..Seating::default() };
        let client = Client { pid: (1 << 30) + 3, per_s: 100.0, ..Client::default() };
        let talk = ProgramTalk { clients: vec![client], ..ProgramTalk::default() };
        let cpus = "0".to_owned();
        let mut evidence =
            Evidence { used_percent: 8.0, talk: Some(talk), cpus, ..Evidence::default() };
        fill(&mut evidence, &seating, 2.0);
        let Neighbours { percent, programs, partners, .. } = &evidence.neighbours;
        assert!((percent - 30.0).abs() < 1e-9, "neither its client nor this process: {percent}");
        let named =
            |all: &[NeighbourProgram]| -> Vec<Tid> { all.iter().map(|one| one.pid).collect() };
        assert_eq!(named(programs), [(1 << 30) + 4], "nor one that used next to nothing");
        assert_eq!(named(partners), [(1 << 30) + 3]);
    }

    #[test]
    fn pipe_reader_is_named_as_partner() {
        let root = Root::new("/");
        let shell = |script: &str| {
            let mut command = std::process::Command::new("sh");
            command.args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::null());
            command
        };
        let pid = |child: &std::process::Child| Tid::try_from(child.id()).unwrap();
        let mut writer = shell("exec sleep 1000").stdout(Stdio::piped()).spawn().unwrap();
        let pipe = writer.stdout.take().unwrap();
        let mut reader = shell("exec sleep 1000").stdin(pipe).spawn().unwrap();
        let mut other = shell("exec sleep 1000").spawn().unwrap();
        let all = [pid(&writer), pid(&reader), pid(&other)];
        while all.iter().any(|one| task::name(&root, *one).as_deref() != Some("sleep")) {
            std::thread::yield_now();
        }
        let thread = |pid| Stranger { name: "of a thread".to_owned(), pid, ..stranger(0, 40.0) };
        let strangers = vec![thread(all[1]), thread(all[2])];
        let cpu =
            CpuActivity { cpu: 0, busy_percent: Some(100.0), strangers, ..CpuActivity::default() };
        let seating = Seating { cpus: vec![cpu], ..Seating::default() };
        let mut evidence =
            Evidence { pids: vec![all[0]], cpus: "0".to_owned(), ..Evidence::default() };
        fill(&mut evidence, &seating, 0.0);
        for child in [&mut writer, &mut reader, &mut other] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let named = |all: &[NeighbourProgram]| -> Vec<(Tid, String)> {
            all.iter().map(|one| (one.pid, one.name.clone())).collect()
        };
        assert_eq!(named(&evidence.neighbours.partners), [(all[1], "sleep".to_owned())]);
        assert_eq!(named(&evidence.neighbours.programs), [(all[2], "sleep".to_owned())]);
    }
}

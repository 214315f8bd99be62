//! Rank 0: gathers the ranks, chooses pairs and has them measured.
//!
//! A thread joins as an ordinary rank, so this node is measured like the others.

pub mod again;
mod arrangements;
mod by_mpi;
mod looking;

use crate::choice::{self, CHOSEN_BY};
use crate::cluster::{Cluster, FORMAT, LoadedStreams, Missing, Node, NodePair, Stream};
use crate::gate::Refusals;
use crate::handshake::{Called, ConnectionPurpose};
use crate::judge::unreachable;
use crate::launcher::Rank;
use crate::measure::{ClusterMeasureError, ClusterOptions, ClusterProgress, Own};
use crate::meeting::MeetingHost;
use crate::mpi::MpiError;
use crate::rank_error::RankError;
use crate::wire::{self, RankConnection, receive, send};
use crate::worker::{Duties, Introduction, PeerRank, RankInstruction, RankReply, Worker, built};
use arrangements::arrangements;
use looking::Looking;
use seatmap_os::{CpuList, host_names};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// The duration of simultaneous streams: TCP needs a while to share a link.
const LOADED_MS: u64 = 500;

/// How often the partial result is saved after the first pairs, so an interrupted measurement can
/// resume.
const KEPT: Duration = Duration::from_secs(1);

const LOOK: Duration = Duration::from_millis(100);

const UNEXPECTED: &str = "it sent an unexpected answer";

/// How long the connections of an ending process may take to close.
const CLOSING: Duration = Duration::from_millis(500);

struct Member {
    said: Introduction,
    stream: RankConnection,
    lost: Option<String>,
}

pub fn run(
    rank: &Rank,
    own: Own,
    options: &ClusterOptions,
    progress: &mut dyn FnMut(ClusterProgress),
    keep: &mut dyn FnMut(&Cluster),
) -> Result<Cluster, ClusterMeasureError> {
    // The port opens before the MPI program is built, because other ranks look for it once theirs
    // is.
    let host = options.meeting.open(rank, options.secret.clone()).map_err(RankError::from)?;
    let duties = Duties::new(&own, options);
    let (program, unbuilt) = built(options);
    let worker = Worker { rank: rank.rank, size: rank.size, own, duties, program };
    let own_rank = join(worker, &host)?;
    let members = gather(&host, rank, duties, options.timeout, progress)?;
    // Removes the meeting's file and closes the port.
    drop(host);
    let mut lead = Lead::new(members, rank, options)?;
    if let Some(error) = unbuilt.or_else(|| lead.unbuilt()) {
        lead.end();
        return Err(error.into());
    }
    if duties.nodes {
        lead.measure_nodes(progress);
    }
    lead.measure(progress, keep);
    let by_mpi = if duties.mpi {
        // A launcher may end the whole job if MPI aborts, so the TCP figures are saved first.
        keep(&lead.cluster);
        lead.measure_mpi(progress)
    } else {
        Ok(())
    };
    // The ranks end before an MPI failure is reported; otherwise they would wait for orders.
    lead.end();
    by_mpi?;
    let _ = own_rank.join();
    Ok(lead.cluster)
}

fn join(
    mut worker: Worker,
    host: &MeetingHost,
) -> Result<std::thread::JoinHandle<()>, ClusterMeasureError> {
    let secret = host.secret.clone();
    let stream = host.address().and_then(TcpStream::connect).map_err(RankError::Own)?;
    Ok(std::thread::Builder::new()
        .spawn(move || {
            if let Ok(mut channel) = worker.introduce(stream, &secret, None) {
                // The other end of the connection notices the end.
                let _ = worker.obey(&mut channel, &secret);
            }
        })
        .map_err(RankError::Own)?)
}

fn gather(
    host: &MeetingHost,
    rank: &Rank,
    duties: Duties,
    timeout: Duration,
    progress: &mut dyn FnMut(ClusterProgress),
) -> Result<Vec<Member>, ClusterMeasureError> {
    let mut gate = host.gate(ConnectionPurpose::Measurement).map_err(RankError::Own)?;
    let mut members = BTreeMap::new();
    let mut refused = Refusals::default();
    let begun = Instant::now();
    while members.len() < rank.size {
        if begun.elapsed() >= timeout {
            return Err(absent(rank, timeout, &members, refused));
        }
        for heard in gate.look(LOOK) {
            match heard {
                Ok(called) => admit(rank, duties, called, &mut members)?,
                Err(why) => refused.push(why),
            }
        }
        progress(ClusterProgress::Done("ranks", members.len(), rank.size));
    }
    Ok(members.into_values().collect())
}

fn admit(
    rank: &Rank,
    duties: Duties,
    called: Called<Introduction>,
    members: &mut BTreeMap<usize, Member>,
) -> Result<(), ClusterMeasureError> {
    let said = called.said.clone();
    if let Some(why) = rank.refusal_of(said.rank, said.size) {
        called.refuse(&why);
        return Ok(());
    }
    if let Some(first) = members.get(&said.rank) {
        called.refuse(&format!("another process is rank {}", said.rank));
        let first = first.said.node.clone();
        let second = said.node;
        return Err(RankError::Twice { rank: said.rank, first, second }.into());
    }
    if said.duties != duties {
        called.refuse("rank 0 has other options: start all ranks with the same command line");
        return Err(RankError::Other { rank: said.rank, node: said.node }.into());
    }
    // After a broken connection it may retry until the timeout.
    if let Ok((said, stream)) = called.welcome() {
        members.insert(said.rank, Member { said, stream, lost: None });
    }
    Ok(())
}

fn absent(
    rank: &Rank,
    timeout: Duration,
    members: &BTreeMap<usize, Member>,
    refused: Refusals,
) -> ClusterMeasureError {
    let missing: Vec<u32> =
        (0..rank.size).filter(|each| !members.contains_key(each)).map(|each| each as u32).collect();
    let refused = refused.0.iter().map(|why| format!("; {why}")).collect();
    let absent = CpuList(missing).to_string();
    ClusterMeasureError::Absent { size: rank.size, seconds: timeout.as_secs_f64(), absent, refused }
}

struct Lead<'a> {
    members: Vec<Member>,
    /// Further ranks of the nodes, which also take part in an MPI job.
    others: Vec<Member>,
    cluster: Cluster,
    options: &'a ClusterOptions,
}

impl<'a> Lead<'a> {
    fn new(
        members: Vec<Member>,
        rank: &Rank,
        options: &'a ClusterOptions,
    ) -> Result<Self, ClusterMeasureError> {
        let mut names = BTreeSet::new();
        let mut kept = Vec::new();
        let mut others = Vec::new();
        for mut member in members {
            if options.each_rank {
                member.said.node = format!("{}:{}", member.said.node, member.said.rank);
            }
            if names.insert(member.said.node.clone()) {
                kept.push(member);
            } else if options.mpicc.is_some() {
                others.push(member);
            } else {
                let _ = send(&mut member.stream, &RankInstruction::End);
            }
        }
        if let ([only], true) = (kept.as_slice(), rank.size > 1) {
            return Err(ClusterMeasureError::OneNode(rank.size, only.said.node.clone()));
        }
        let mut cluster = Cluster {
            format: FORMAT.to_owned(),
            date: options.date.clone(),
            launcher: Some(rank.launcher.to_owned()),
            nodes: kept
                .iter()
                .map(|member| Node {
                    name: member.said.node.clone(),
                    rank: member.said.rank,
                    address: member.said.address.ip().to_canonical().to_string(),
                    facts: member.said.facts.clone(),
                    profile: None,
                })
                .collect(),
            ..Cluster::default()
        };
        if let Some(earlier) = &options.earlier {
            cluster.pairs = carried(earlier, &cluster)?;
        }
        Ok(Lead { members: kept, others, cluster, options })
    }

    fn measure_nodes(&mut self, progress: &mut dyn FnMut(ClusterProgress)) {
        let all = self.members.len();
        // All orders precede the first answer, so the nodes measure simultaneously.
        for member in &mut self.members {
            if let Err(error) = send(&mut member.stream, &RankInstruction::Profile) {
                member.lost = Some(error.to_string());
            }
        }
        for at in 0..all {
            match self.answer(at) {
                Some(RankReply::Profile(profile)) => {
                    self.cluster.nodes[at].profile = profile.map(|profile| *profile)
                }
                Some(_) => self.lose(at, UNEXPECTED),
                None => {}
            }
            progress(ClusterProgress::Done("nodes", at + 1, all));
        }
    }

    fn measure(
        &mut self,
        progress: &mut dyn FnMut(ClusterProgress),
        keep: &mut dyn FnMut(&Cluster),
    ) {
        let begun = Instant::now();
        let mut kept = None::<Instant>;
        let names: Vec<String> = self.cluster.nodes.iter().map(|node| node.name.clone()).collect();
        let mut known = self.cluster.values(CHOSEN_BY);
        let every = names.len() * names.len().saturating_sub(1) / 2;
        let most =
            if self.options.all { every } else { every.min(choice::PAIRS_A_NODE * names.len()) };
        let chosen = choice::choose(&names, self.options.all, &mut known, &mut |pairs| {
            for round in rounds(pairs, self.options.at_once) {
                self.measure_round(&round, self.options.trips);
                progress(ClusterProgress::Done("pairs", self.cluster.pairs.len(), most));
                if kept.is_none_or(|kept| kept.elapsed() >= KEPT) {
                    keep(&self.cluster);
                    kept = Some(Instant::now());
                }
            }
            let found = self.cluster.values(CHOSEN_BY);
            pairs.iter().map(|pair| found.get(pair).copied()).collect()
        });
        self.cluster.pairs.sort_by_key(|pair| pair.nodes);
        (self.cluster.groups, self.cluster.held_back) = (chosen.groups, chosen.held_back);
        keep(&self.cluster);
        again::look_again(&mut Looking::new(self, begun.elapsed(), progress));
        if self.options.loaded {
            self.measure_loaded(progress);
        }
        self.cluster.missing.splice(
            0..0,
            self.members.iter().filter_map(|member| {
                Some(Missing { nodes: vec![member.said.node.clone()], why: member.lost.clone()? })
            }),
        );
    }

    fn measure_loaded(&mut self, progress: &mut dyn FnMut(ClusterProgress)) {
        let arrangements = arrangements(&self.cluster.groups, self.members.len());
        for (at, (exchange, ways)) in arrangements.iter().enumerate() {
            let streams = self.streams(ways);
            self.cluster.loaded.push(LoadedStreams { exchange: *exchange, streams });
            progress(ClusterProgress::Done("exchanges", at + 1, arrangements.len()));
        }
    }

    /// Orders the first node of each pair to measure the path to the second. `take` returns whether
    /// it expects the answer.
    fn ask(
        &mut self,
        pairs: &[[usize; 2]],
        order: impl Fn(PeerRank, u64) -> RankInstruction,
        mut take: impl FnMut(&mut Cluster, [usize; 2], RankReply) -> bool,
    ) {
        // A measuring node gives up on another after this time, before it is blamed itself.
        let limit_ms = milliseconds(2 * self.options.timeout / 3);
        let mut asked = Vec::new();
        for [from, to] in pairs {
            if self.members[*from].lost.is_some() || self.members[*to].lost.is_some() {
                continue;
            }
            let order = order(self.members[*to].said.peer(), limit_ms);
            match send(&mut self.members[*from].stream, &order) {
                Ok(()) => asked.push([*from, *to]),
                Err(error) => self.lose(*from, error.to_string()),
            }
        }
        for pair in asked {
            match self.answer(pair[0]) {
                Some(RankReply::Failed(why)) => self.failed(pair, why),
                Some(reply) => {
                    let is_expected = take(&mut self.cluster, pair, reply);
                    if !is_expected {
                        self.lose(pair[0], UNEXPECTED);
                    }
                }
                None => {}
            }
        }
    }

    fn streams(&mut self, ways: &[[usize; 2]]) -> Vec<Stream> {
        let mut streams = Vec::new();
        self.ask(
            ways,
            |to, limit_ms| RankInstruction::Stream { to, ms: LOADED_MS, limit_ms },
            |_, [from, to], reply| {
                let RankReply::Rate(rate_mbps) = reply else { return false };
                streams.push(Stream { from, to, rate_mbps });
                true
            },
        );
        streams
    }

    /// `trips` is per message size.
    fn measure_round(&mut self, round: &[[usize; 2]], trips: Duration) {
        let trips_ms = milliseconds(trips);
        self.ask(
            round,
            |to, limit_ms| RankInstruction::Pair { to, trips_ms, limit_ms },
            |cluster, nodes, reply| {
                let RankReply::Pair(found) = reply else { return false };
                cluster.pairs.push(NodePair { nodes, ..*found });
                true
            },
        );
    }

    fn answer(&mut self, at: usize) -> Option<RankReply> {
        let member = &mut self.members[at];
        if member.lost.is_some() {
            return None;
        }
        let answer = member
            .stream
            .set_read_timeout(Some(self.options.timeout))
            .and_then(|()| receive(&mut member.stream));
        match answer {
            Ok(answer) => Some(answer),
            Err(error) => {
                self.lose(at, sentence(&error, self.options.timeout));
                None
            }
        }
    }

    fn lose(&mut self, at: usize, why: impl Into<String>) {
        self.members[at].lost.get_or_insert_with(|| why.into());
    }

    /// Records a failed pair. A node that at least two others miss, and more miss than have
    /// measured it, is given up, because each of its pairs would take as long.
    fn failed(&mut self, [a, b]: [usize; 2], why: String) {
        if has_gone(&self.members[b].stream.stream) {
            return self.lose(b, wire::BROKEN);
        }
        let nodes = [a, b].map(|node| self.cluster.nodes[node].name.clone()).to_vec();
        self.cluster.missing.push(Missing { nodes, why });
        let missing = unreachable::explained(&self.cluster);
        let (silent, missing): (Vec<Missing>, Vec<Missing>) =
            missing.into_iter().partition(|one| one.nodes.len() == 1);
        self.cluster.missing = missing;
        for Missing { nodes, why } in silent {
            let node = self.cluster.nodes.iter().position(|node| node.name == nodes[0]);
            node.into_iter().for_each(|node| self.lose(node, why.clone()));
        }
    }

    /// An MPI job needs all ranks.
    fn unbuilt(&self) -> Option<MpiError> {
        let mut all = self.members.iter().chain(&self.others);
        all.find_map(|member| {
            let why = member.said.unbuilt.clone()?;
            Some(MpiError::Unbuilt { node: member.said.node.clone(), why })
        })
    }

    fn end(&mut self) {
        for member in self.members.iter_mut().chain(&mut self.others) {
            // It may have ended.
            let _ = send(&mut member.stream, &RankInstruction::End);
        }
    }
}

/// As in an order.
fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn sentence(error: &io::Error, timeout: Duration) -> String {
    if wire::is_late(error) {
        return format!("it did not answer within {} s", timeout.as_secs_f64());
    }
    wire::sentence(error)
}

/// An ending process closes its connections one by one.
fn has_gone(stream: &TcpStream) -> bool {
    // Peeking leaves the byte for the next answer.
    let peeked = stream.set_read_timeout(Some(CLOSING)).and_then(|()| stream.peek(&mut [0]));
    let is_silent = matches!(&peeked, Err(error) if error.kind() == io::ErrorKind::WouldBlock);
    matches!(peeked, Ok(0)) || (peeked.is_err() && !is_silent)
}

/// Rounds of at most `at_once` pairs without a common node.
fn rounds(pairs: &[[usize; 2]], at_once: usize) -> Vec<Vec<[usize; 2]>> {
    let mut rounds: Vec<Vec<[usize; 2]>> = Vec::new();
    for pair in pairs {
        let free = rounds.iter_mut().find(|round| {
            round.len() < at_once.max(1) && !round.iter().flatten().any(|node| pair.contains(node))
        });
        match free {
            Some(round) => round.push(*pair),
            None => rounds.push(vec![*pair]),
        }
    }
    rounds
}

/// Pairs are matched by node name.
fn carried(earlier: &Cluster, now: &Cluster) -> Result<Vec<NodePair>, ClusterMeasureError> {
    let names: Vec<&str> = now.nodes.iter().map(|node| node.name.as_str()).collect();
    let index = earlier.nodes.iter().map(|node| {
        let at = host_names::node_of(&node.name, &names);
        at.ok_or_else(|| {
            ClusterMeasureError::Earlier(format!("{} is not a node of this job", node.name))
        })
    });
    let index: Vec<usize> = index.collect::<Result<_, _>>()?;
    let mut met = BTreeSet::new();
    if let Some(twice) = index.iter().find(|at| !met.insert(**at)) {
        return Err(ClusterMeasureError::Earlier(format!(
            "two of its nodes match {}",
            names[*twice]
        )));
    }
    Ok(earlier
        .pairs
        .iter()
        .map(|pair| {
            let [a, b] = pair.nodes.map(|node| index[node]);
            if a < b { NodePair { nodes: [a, b], ..pair.clone() } } else { turned(pair, [b, a]) }
        })
        .collect())
}

fn turned(pair: &NodePair, nodes: [usize; 2]) -> NodePair {
    let mut turned = NodePair { nodes, beside: None, ..pair.clone() };
    turned.rate_mbps.reverse();
    turned.gap_ns.reverse();
    turned.retransmits.reverse();
    turned.segments.reverse();
    if let Some(ends) = &mut turned.ends {
        ends.reverse();
        turned.mtu_bytes = ends[0].mtu_bytes;
    }
    turned.clock_offset_ns = pair.clock_offset_ns.map(|ns| -ns);
    turned
}

#[cfg(test)]
mod tests;

//! A simulated cluster for tests. Tests on it do not depend on real time.

use crate::choice::{ChosenGroups, PairValues, SIZE_BYTES, choose};
use crate::cluster::{Cluster, ConnectionEnd, FORMAT, Node, NodePair, QuotaStop, Trip};
use crate::facts::NodeConfiguration;
use crate::lead::again::{Again, look_again};

#[derive(Clone, Copy, Debug)]
pub struct NodeModel {
    pub switch: usize,
    /// Out and in, in Mbit/s.
    pub link_mbps: [f64; 2],
    pub delay_ns: [f64; 2],
    /// Largest random delay of a packet.
    pub jitter_ns: f64,
    pub lost_share: [f64; 2],
    pub cpu_share: f64,
    pub stopped_share: f64,
    pub mtu_bytes: u32,
}

#[derive(Clone, Copy, Debug)]
pub struct WayModel {
    pub from: usize,
    pub to: usize,
    pub rate_mbps: f64,
    pub delay_ns: f64,
    pub lost_share: f64,
}

pub struct SimulatedCluster {
    pub nodes: Vec<NodeModel>,
    pub uplinks: Vec<[f64; 2]>,
    pub ways: Vec<WayModel>,
    /// Share of spoilt figures; 0 if idle.
    pub busy: f64,
    rng: fastrand::Rng,
    cluster: Option<Cluster>,
}

pub fn cluster_of(names: Vec<String>, pairs: Vec<NodePair>, chosen: ChosenGroups) -> Cluster {
    let nodes = names.into_iter().enumerate().map(|(rank, name)| Node {
        name,
        rank,
        address: format!("10.0.0.{rank}"),
        facts: NodeConfiguration { cpus: 8, ..NodeConfiguration::default() },
        profile: None,
    });
    Cluster {
        format: FORMAT.to_owned(),
        nodes: nodes.collect(),
        pairs,
        groups: chosen.groups,
        held_back: chosen.held_back,
        ..Cluster::default()
    }
}

const HEADER_BYTES: u32 = 66;

pub const LINK_MBPS: f64 = 1000.0;

impl SimulatedCluster {
    pub fn new(switches: &[usize], uplink_mbps: f64, busy: f64, seed: u64) -> Self {
        SimulatedCluster {
            nodes: switches
                .iter()
                .enumerate()
                .flat_map(|(switch, nodes)| std::iter::repeat_n(switch, *nodes))
                .map(|switch| NodeModel {
                    switch,
                    link_mbps: [LINK_MBPS; 2],
                    delay_ns: [0.0; 2],
                    jitter_ns: 0.0,
                    lost_share: [0.0; 2],
                    cpu_share: 1.0,
                    stopped_share: 0.0,
                    mtu_bytes: 1500,
                })
                .collect(),
            uplinks: vec![[uplink_mbps; 2]; switches.len()],
            ways: Vec::new(),
            busy,
            rng: fastrand::Rng::with_seed(seed),
            cluster: None,
        }
    }

    pub fn measured(mut self) -> Cluster {
        let names: Vec<String> = (0..self.nodes.len()).map(|node| format!("n{node}")).collect();
        let mut pairs = Vec::new();
        let mut known = PairValues::new();
        let chosen = choose(&names, false, &mut known, &mut |wanted| {
            wanted
                .iter()
                .map(|pair| {
                    let pair = self.pair(*pair);
                    let value = pair.trip(SIZE_BYTES).map(|trip| trip.median_ns);
                    pairs.push(pair);
                    value
                })
                .collect()
        });
        pairs.sort_by_key(|pair| pair.nodes);
        self.cluster = Some(cluster_of(names, pairs, chosen));
        look_again(&mut self);
        self.cluster.unwrap()
    }

    /// Slightly or, on a busy computer, sometimes a lot.
    fn worse(&mut self, little: f64, lot: f64) -> f64 {
        let small = 1.0 + little * (self.rng.f64() + self.rng.f64()) / 2.0;
        // The logarithm of a uniform number is exponential: a few figures are very late.
        let large =
            if self.rng.f64() < self.busy { 1.0 - lot * (1.0 - self.rng.f64()).ln() } else { 1.0 };
        small * large.min(8.0)
    }

    fn way(&self, from: usize, to: usize) -> Option<&WayModel> {
        self.ways.iter().find(|way| (way.from, way.to) == (from, to))
    }

    fn rate(&mut self, from: usize, to: usize) -> f64 {
        let [a, b] = [self.nodes[from], self.nodes[to]];
        let mut rate = a.link_mbps[0].min(b.link_mbps[1]);
        if a.switch != b.switch {
            rate = rate.min(self.uplinks[a.switch][0]).min(self.uplinks[b.switch][1]);
        }
        rate = self.way(from, to).map_or(rate, |way| rate.min(way.rate_mbps));
        // A stream takes about 40 % of a CPU at this rate.
        let cpu = a.cpu_share.min(b.cpu_share);
        rate = rate.min(LINK_MBPS * cpu / 0.4);
        let lost = a.lost_share[0]
            .max(b.lost_share[1])
            .max(self.way(from, to).map_or(0.0, |way| way.lost_share));
        // TCP halves its window at each loss.
        let slower = if lost > 0.0 { 1.0 + 100.0 * lost * self.rng.f64() } else { 1.0 };
        // The best of three streams counts.
        let noise =
            [(); 3].map(|()| self.worse(0.06, 0.7)).into_iter().fold(f64::INFINITY, f64::min);
        rate / slower / noise
    }

    fn delay_ns(&self, from: usize, to: usize) -> f64 {
        let own = self.nodes[from].delay_ns[0] + self.nodes[to].delay_ns[1];
        own + self.way(from, to).map_or(0.0, |way| way.delay_ns)
    }

    fn trip(&mut self, [a, b]: [usize; 2], size_bytes: u32, rate_mbps: [f64; 2]) -> Trip {
        let is_far = self.nodes[a].switch != self.nodes[b].switch;
        let base_ns = if is_far { 55e3 } else { 45e3 };
        // A bit takes 1,000 ns at 1 Mbit/s.
        let bytes_ns =
            8e3 * f64::from(size_bytes + HEADER_BYTES) * (1.0 / rate_mbps[0] + 1.0 / rate_mbps[1]);
        let delay_ns = self.delay_ns(a, b) + self.delay_ns(b, a);
        let jitter_ns = self.nodes[a].jitter_ns + self.nodes[b].jitter_ns;
        let cpu = self.nodes[a].cpu_share.min(self.nodes[b].cpu_share);
        let least_ns = base_ns * self.worse(0.15, 0.4) + bytes_ns + delay_ns + 0.45 * jitter_ns;
        let median_ns = least_ns * (1.1 + 0.1 * self.worse(1.0, 3.0)) + 0.55 * jitter_ns;
        let stopped = self.nodes[a].stopped_share.max(self.nodes[b].stopped_share);
        let stalled_ns = if cpu < 0.5 || stopped > 0.1 { 10.0 * median_ns } else { 0.0 };
        let p90_ns =
            median_ns * (1.2 + 0.1 * self.worse(2.0, 12.0)) + 0.55 * jitter_ns + stalled_ns;
        let ci95_ns = [0.98 * median_ns, 1.02 * median_ns];
        Trip { size_bytes, median_ns, p10_ns: least_ns, p90_ns, ci95_ns, count: 200 }
    }

    fn end(&mut self, node: usize) -> ConnectionEnd {
        let idle = 0.02 + 0.08 * self.rng.f64();
        let busy = self.busy * (0.2 + 0.5 * self.rng.f64());
        let share = self.nodes[node].cpu_share;
        let starved = if share < 0.5 { 0.45 + 0.4 * self.rng.f64() } else { 0.0 };
        let wait = (idle + busy + starved).min(0.95);
        let stops = Some(self.stops(node));
        ConnectionEnd { mtu_bytes: Some(self.nodes[node].mtu_bytes), wait_share: Some(wait), stops }
    }

    fn stops(&mut self, node: usize) -> Vec<QuotaStop> {
        let share = self.nodes[node].stopped_share;
        let stopped_periods =
            [(); 5].into_iter().filter(|()| self.rng.f64() < share).count() as u64;
        let stop = QuotaStop {
            group: "/box".to_owned(),
            file: "/sys/fs/cgroup/box/cpu.max".to_owned(),
            cpus: 0.15,
            period_ms: 100.0,
            is_read_only: false,
            stopped_periods,
            periods: 5,
            stopped_ms: 50.0 * stopped_periods as f64,
        };
        if stopped_periods > 0 { vec![stop] } else { Vec::new() }
    }

    fn resent(&mut self, from: usize, to: usize, sent: u64) -> u64 {
        let way = self.way(from, to).map_or(0.0, |way| way.lost_share);
        let share = self.nodes[from].lost_share[0] + self.nodes[to].lost_share[1] + way;
        let usual = u64::from(self.rng.f64() < 0.1 + self.busy / 2.0);
        usual + (share * sent as f64 * (0.6 + 0.8 * self.rng.f64())).round() as u64
    }

    fn pair(&mut self, nodes: [usize; 2]) -> NodePair {
        let [a, b] = nodes;
        let rate_mbps = [self.rate(a, b), self.rate(b, a)];
        let segments = [1500; 2];
        NodePair {
            nodes,
            trips: vec![self.trip(nodes, 8, rate_mbps), self.trip(nodes, SIZE_BYTES, rate_mbps)],
            rate_mbps,
            gap_ns: [900.0; 2],
            retransmits: [self.resent(a, b, segments[0]), self.resent(b, a, segments[1])],
            segments,
            clock_offset_ns: Some(1e4 + (self.delay_ns(a, b) - self.delay_ns(b, a)) / 2.0),
            mtu_bytes: Some(self.nodes[a].mtu_bytes),
            ends: Some([self.end(a), self.end(b)]),
            beside: None,
        }
    }
}

impl Again for SimulatedCluster {
    fn cluster(&mut self) -> &mut Cluster {
        self.cluster.as_mut().unwrap()
    }

    fn measure(&mut self, pair: [usize; 2]) {
        let pair = self.pair(pair);
        self.cluster().pairs.push(pair);
    }

    fn may_go_on(&mut self, _done: usize, _of: usize) -> bool {
        true
    }
}

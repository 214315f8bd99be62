//! Simulated clusters: exactly the cause is named, once. Healthy clusters have no faults.

use super::*;
use crate::cluster::NodePair;
use tests::cluster_model::{LINK_MBPS, SimulatedCluster, WayModel};

/// Nodes per switch.
const SHAPES: [&[usize]; 6] = [&[8], &[4, 4], &[3, 3, 3], &[4, 4, 1], &[6, 2], &[2, 2, 2, 2]];

/// Shapes whose uplinks and nodes can be distinguished.
const SEVERAL: [&[usize]; 3] = [&[4, 4], &[3, 3, 3], &[2, 2, 2, 2]];

/// Seeds for each fault and shape; the rules were developed with a hundred.
const SEEDS: u64 = 1;

const WAY: WayModel =
    WayModel { from: 0, to: 0, rate_mbps: f64::INFINITY, delay_ns: 0.0, lost_share: 0.0 };

/// Returns the nodes to name and words of the sentence.
type Fault = fn(&mut SimulatedCluster, usize, usize) -> (Vec<usize>, &'static str);

fn on_one_switch(cluster: &SimulatedCluster, node: usize) -> Vec<usize> {
    let switch = cluster.nodes[node].switch;
    (0..cluster.nodes.len()).filter(|other| cluster.nodes[*other].switch == switch).collect()
}

const FAULTS: [(&str, Fault); 18] = [
    ("link", |it, node, _| {
        it.nodes[node].link_mbps = [LINK_MBPS / 3.3; 2];
        (vec![node], "streams both ways have 1/3.")
    }),
    ("link a little", |it, node, _| {
        it.nodes[node].link_mbps = [LINK_MBPS / 1.69; 2];
        match &on_one_switch(it, node)[..] {
            // The connection between switches is slower, so only the neighbour's streams show it.
            [a, b] => (vec![*a, *b], "this way is slow: streams have 1/1."),
            _ => (vec![node], "streams both ways have 1/1."),
        }
    }),
    ("very slow link", |it, node, _| {
        it.nodes[node].link_mbps = [5.0; 2];
        (vec![node], "streams both ways have 1/")
    }),
    ("from", |it, node, _| {
        it.nodes[node].link_mbps[0] = LINK_MBPS / 3.3;
        (vec![node], "streams from it have 1/3.")
    }),
    ("to", |it, node, _| {
        it.nodes[node].link_mbps[1] = LINK_MBPS / 3.3;
        (vec![node], "streams to it have 1/3.")
    }),
    ("way", |it, node, other| {
        it.ways.push(WayModel { from: node, to: other, rate_mbps: 80.0, ..WAY });
        (vec![node, other], "this way is slow")
    }),
    ("loss from", |it, node, _| {
        it.nodes[node].lost_share[0] = 0.01;
        (vec![node], "segments from it went twice")
    }),
    ("loss to", |it, node, _| {
        it.nodes[node].lost_share[1] = 0.01;
        (vec![node], "segments to it went twice")
    }),
    ("loss both", |it, node, _| {
        it.nodes[node].lost_share = [0.01; 2];
        (vec![node], "segments both ways went twice")
    }),
    ("loss of a way", |it, node, other| {
        it.ways.push(WayModel { from: node, to: other, lost_share: 0.02, ..WAY });
        (vec![node, other], "this way loses packets")
    }),
    ("starved", |it, node, _| {
        it.nodes[node].cpu_share = 0.15;
        (vec![node], "waits for a CPU")
    }),
    ("stopped", |it, node, _| {
        it.nodes[node].stopped_share = 0.2;
        it.nodes[node].link_mbps = [LINK_MBPS / 2.0; 2];
        (vec![node], "the kernel stopped its process in")
    }),
    ("delay", |it, node, _| {
        it.nodes[node].delay_ns = [2e5; 2];
        (vec![node], "its link delays small messages")
    }),
    ("delay from", |it, node, _| {
        it.nodes[node].delay_ns = [4e5, 0.0];
        (vec![node], "its link delays small messages")
    }),
    ("delay of a way", |it, node, other| {
        it.ways.push(WayModel { from: node, to: other, delay_ns: 6e5, ..WAY });
        (vec![node.min(other), node.max(other)], "this way delays small messages")
    }),
    ("jitter", |it, node, _| {
        it.nodes[node].jitter_ns = 4e5;
        (vec![node], "jitter")
    }),
    ("mtu", |it, node, _| {
        it.nodes[node].mtu_bytes = 1400;
        (vec![node], "packets of 1400 bytes, but 1500 bytes on")
    }),
    ("switch", |it, node, _| {
        let nodes = on_one_switch(it, node);
        if nodes.len() < 3 || 2 * nodes.len() > it.nodes.len() {
            it.nodes[node].mtu_bytes = 1400;
            return (vec![node], "packets");
        }
        nodes.iter().for_each(|node| it.nodes[*node].link_mbps = [LINK_MBPS / 3.3; 2]);
        (nodes, "their switch is slow: streams both ways")
    }),
];

fn verdict(cluster: &Cluster, nodes: &[usize], words: &str) -> Option<String> {
    let names: Vec<String> = nodes.iter().map(|node| format!("n{node}")).collect();
    let found = faults(cluster);
    let is_right =
        matches!(&found[..], [one] if one.nodes == names && one.sentence.contains(words));
    let sentences: Vec<String> = found.into_iter().map(|fault| fault.sentence).collect();
    (!is_right).then(|| format!("{names:?} {words}: {sentences:#?} groups {:?}", cluster.groups))
}

fn trials(busy: f64, shapes: &[&[usize]], seeds: u64) -> (usize, Vec<String>) {
    let mut count = 0;
    let mut wrong = Vec::new();
    for (name, put) in FAULTS {
        for (at, shape) in shapes.iter().enumerate() {
            for seed in 0..seeds {
                let mut cluster = SimulatedCluster::new(shape, 400.0, busy, seed * 31 + at as u64);
                let nodes = cluster.nodes.len();
                // The lone node has no neighbour for comparison.
                let node = (seed as usize * 5 + at) % (nodes - 1);
                let other = (node + 1 + seed as usize % (nodes - 2)) % nodes;
                let (named, words) = put(&mut cluster, node, other);
                count += 1;
                let told = verdict(&cluster.measured(), &named, words);
                wrong.extend(told.map(|told| format!("{name} {shape:?} seed {seed}: {told}")));
            }
        }
    }
    (count, wrong)
}

#[test]
fn every_fault_is_named_alone_in_every_shape() {
    let (count, wrong) = trials(0.0, &SHAPES, SEEDS);
    assert!(wrong.is_empty(), "{} of {count}: {}", wrong.len(), wrong.join("\n"));
}

#[test]
fn busy_computer_hides_few_faults() {
    let (count, wrong) = trials(0.25, &SHAPES[..2], SEEDS);
    assert!(20 * wrong.len() <= count, "{} of {count}: {}", wrong.len(), wrong.join("\n"));
}

#[test]
fn healthy_clusters_have_no_fault() {
    for busy in [0.0, 0.25, 0.4] {
        for (at, shape) in SHAPES.iter().chain(&[&[4, 1][..], &[2], &[3]]).enumerate() {
            for seed in 0..SEEDS {
                for uplink_mbps in [400.0, LINK_MBPS] {
                    let cluster = SimulatedCluster::new(
                        shape,
                        uplink_mbps,
                        busy,
                        1000 + seed * 31 + at as u64,
                    )
                    .measured();
                    let found = faults(&cluster);
                    assert!(
                        found.is_empty(),
                        "{shape:?} {uplink_mbps} busy {busy} seed {seed}: {found:#?}"
                    );
                }
            }
        }
    }
}

#[test]
fn slow_uplink_is_attributed_to_its_switch() {
    for shape in SEVERAL {
        for (side, words) in [(0, "streams from them"), (1, "streams to them")] {
            let mut cluster = SimulatedCluster::new(shape, 400.0, 0.0, 5);
            cluster.uplinks[0][side] = 120.0;
            let nodes: Vec<usize> = (0..shape[0]).collect();
            let told = verdict(&cluster.measured(), &nodes, words);
            assert!(told.is_none(), "{shape:?} {words}: {told:?}");
        }
    }
}

#[test]
fn slow_node_causes_no_fault_elsewhere() {
    for seed in 0..4 {
        for uplink_mbps in [400.0, LINK_MBPS] {
            let mut cluster = SimulatedCluster::new(&[2, 2], uplink_mbps, 0.1, seed);
            cluster.nodes[0].link_mbps[0] = 0.3 * LINK_MBPS;
            let told = verdict(&cluster.measured(), &[0], "streams from it have 1/3.");
            assert!(told.is_none(), "{uplink_mbps} seed {seed}: {told:?}");
        }
    }
}

/// A binding quota is reported even if it slows nothing measured; a quota used up once is not.
#[test]
fn binding_quota_is_reported_by_its_stops() {
    let mut cluster = SimulatedCluster::new(&[4, 4], 400.0, 0.0, 3);
    cluster.nodes[2].stopped_share = 0.19;
    let told = verdict(
        &cluster.measured(),
        &[2],
        "(0.15 CPUs) was used up; raise it in /sys/fs/cgroup/box/cpu.max",
    );
    assert!(told.is_none(), "{told:?}");
    let mut cluster = SimulatedCluster::new(&[4, 4], 400.0, 0.0, 3).measured();
    let [first, _] = cluster.pairs[0].ends.as_mut().unwrap();
    let stop = crate::QuotaStop {
        cpus: 0.15,
        period_ms: 100.0,
        stopped_periods: 1,
        periods: 2,
        ..crate::QuotaStop::default()
    };
    first.stops = Some(vec![stop]);
    assert_eq!(faults(&cluster), []);
}

#[test]
fn one_quota_on_all_nodes_is_reported_once() {
    let mut cluster = SimulatedCluster::new(&[4, 4], 400.0, 0.0, 3);
    cluster.nodes.iter_mut().for_each(|node| node.stopped_share = 0.5);
    let told = verdict(
        &cluster.measured(),
        &[0, 1, 2, 3, 4, 5, 6, 7],
        "n[0-7]: the kernel stopped their processes in",
    );
    assert!(told.is_none(), "{told:?}");
}

#[test]
fn node_alone_on_its_switch_has_no_bad_cable() {
    for shape in [&[4, 1][..], &[4, 4, 1]] {
        let mut cluster = SimulatedCluster::new(shape, 400.0, 0.0, 11).measured();
        let lone = cluster.nodes.len() - 1;
        for (at, pair) in cluster.pairs.iter_mut().enumerate() {
            let is_inside = pair.nodes[0] / 4 == pair.nodes[1] / 4 && pair.nodes[1] != lone;
            if is_inside && at % 3 > 0 {
                late(pair, 1.3);
            }
        }
        assert_eq!(faults(&cluster), [], "{shape:?} {:?}", cluster.groups);
    }
}

#[test]
fn bad_cable_is_found_though_most_messages_are_late() {
    let mut cluster = SimulatedCluster::new(&[5], 400.0, 0.0, 11);
    cluster.nodes[4].link_mbps = [400.0; 2];
    let mut cluster = cluster.measured();
    for pair in cluster.pairs.iter_mut().filter(|pair| pair.nodes[0] > 0) {
        late(pair, 1.3);
    }
    let words = verdict(&cluster, &[4], "streams both ways have 1/2.");
    assert!(words.is_none(), "{words:?}");
}

fn late(pair: &mut NodePair, factor: f64) {
    for trip in pair.trips.iter_mut().filter(|trip| trip.size_bytes == SMALL_BYTES) {
        for value_ns in [&mut trip.p10_ns, &mut trip.median_ns, &mut trip.p90_ns] {
            *value_ns *= factor;
        }
    }
}

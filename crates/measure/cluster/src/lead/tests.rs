//! Rank 0 and its ranks as threads of one process, connected over TCP.

use super::*;
use crate::cluster::ConnectionEnd;
use crate::meeting::Meeting;
use crate::secret::Secret;
use std::path::Path;
use std::thread::JoinHandle;

fn own(name: &str) -> Own {
    Own { name: name.to_owned(), facts: crate::NodeConfiguration::default(), profile: None }
}

fn rank(rank: usize, size: usize) -> Rank {
    Rank { rank, size, launcher: "test", job: None }
}

fn worker(rank: usize, size: usize) -> Worker {
    Worker { rank, size, own: own(&format!("n{rank}")), duties: Duties::default(), program: None }
}

fn options(folder: &Path) -> ClusterOptions {
    ClusterOptions {
        meeting: Meeting::File(folder.join("meeting")),
        secret: None,
        all: false,
        mpicc: None,
        loaded: false,
        each_rank: false,
        trips: Duration::from_millis(2),
        at_once: 2,
        timeout: Duration::from_secs(60),
        earlier: None,
        date: None,
    }
}

type Found = Result<Option<Cluster>, ClusterMeasureError>;

fn run(number: usize, size: usize, name: &str, options: &ClusterOptions) -> Found {
    crate::measure::run(&rank(number, size), own(name), options, &mut |_| {}, &mut |_| {})
}

fn aside(number: usize, size: usize, options: &ClusterOptions) -> JoinHandle<Found> {
    let options = options.clone();
    std::thread::spawn(move || run(number, size, &format!("n{number}"), &options))
}

fn started(
    options: &ClusterOptions,
    size: usize,
    others: &[usize],
) -> Result<Cluster, ClusterMeasureError> {
    let others: Vec<_> = others.iter().map(|number| aside(*number, size, options)).collect();
    let cluster = run(0, size, "n0", options);
    for other in others {
        let _ = other.join().unwrap();
    }
    cluster.map(Option::unwrap)
}

fn names(cluster: &Cluster) -> Vec<&str> {
    cluster.nodes.iter().map(|node| node.name.as_str()).collect()
}

#[test]
fn four_ranks_measure_six_pairs_and_leave_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let cluster = started(&options(folder.path()), 4, &[1, 2, 3]).unwrap();
    assert_eq!(names(&cluster), ["n0", "n1", "n2", "n3"]);
    assert_eq!(cluster.pairs.len(), 6);
    assert_eq!(cluster.missing, []);
    let again = Cluster::from_json(&cluster.to_json()).unwrap();
    assert_eq!(again, cluster);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    // It only looks again at bad-looking pairs.
    let resumed = ClusterOptions { earlier: Some(again), ..options(folder.path()) };
    let mut chosen = 0;
    let others = [1, 2, 3].map(|number| aside(number, 4, &resumed));
    let count = &mut |progress| {
        chosen += usize::from(matches!(progress, ClusterProgress::Done("pairs", ..)))
    };
    let resumed =
        crate::measure::run(&rank(0, 4), own("n0"), &resumed, count, &mut |_| {}).unwrap().unwrap();
    others.into_iter().for_each(|other| drop(other.join().unwrap()));
    assert_eq!((chosen, resumed.pairs.len()), (0, 6));
}

#[test]
fn absent_rank_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let options = ClusterOptions { timeout: Duration::from_millis(2500), ..options(folder.path()) };
    let told = started(&options, 4, &[2]).unwrap_err().to_string();
    assert!(told.starts_with("of 4 ranks, these did not join within 2.5 s: 1,3"), "{told}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn duplicate_rank_numbers_are_reported_with_nodes() {
    let folder = tempfile::tempdir().unwrap();
    let told = started(&options(folder.path()), 3, &[1, 1]).unwrap_err().to_string();
    assert_eq!(told, "two processes are rank 1: one on n1, one on n1");
}

#[test]
fn ranks_of_one_node_count_once_by_default() {
    let folder = tempfile::tempdir().unwrap();
    let both = |each_rank: bool| {
        let options = ClusterOptions { each_rank, ..options(folder.path()) };
        let other = options.clone();
        let thread = std::thread::spawn(move || run(1, 2, "here", &other));
        let cluster = run(0, 2, "here", &options);
        thread.join().unwrap().ok();
        cluster
    };
    assert!(matches!(both(false), Err(ClusterMeasureError::OneNode(2, name)) if name == "here"));
    assert_eq!(names(&both(true).unwrap().unwrap()), ["here:0", "here:1"]);
}

#[test]
fn dying_node_is_missing_and_the_rest_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    let dying = options.clone();
    let other = std::thread::spawn(move || {
        let found = dying.meeting.find_host(&rank(1, 3), None, dying.timeout, |stream, secret| {
            worker(1, 3).introduce(stream, secret, None)
        });
        let mut stream = found.unwrap();
        let _: io::Result<RankInstruction> = receive(&mut stream);
    });
    let cluster = started(&options, 3, &[2]).unwrap();
    other.join().unwrap();
    assert_eq!(cluster.missing.len(), 1, "{:?}", cluster.missing);
    assert_eq!(cluster.missing[0].nodes, ["n1"]);
    assert!(cluster.missing[0].why.contains("its connection broke"), "{:?}", cluster.missing);
    assert!(cluster.pairs.iter().any(|pair| pair.nodes == [0, 2]));
    let mut other = cluster.clone();
    other.nodes[2].name = "elsewhere".to_owned();
    let told = started(&ClusterOptions { earlier: Some(other), ..options }, 2, &[1])
        .unwrap_err()
        .to_string();
    assert!(told.starts_with("the earlier result has other nodes: "), "{told}");
}

#[test]
fn rank_with_another_secret_is_reported_and_refused() {
    let folder = tempfile::tempdir().unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let with = |text: &str| ClusterOptions {
        meeting: Meeting::Address(address.clone()),
        secret: Some(Secret::given(text, "a test").unwrap()),
        timeout: Duration::from_millis(2500),
        ..options(folder.path())
    };
    let thread = aside(1, 2, &with("another secret altogether"));
    let told = run(0, 2, "n0", &with("the secret of this start")).unwrap_err().to_string();
    assert!(
        told.contains("these did not join within 2.5 s: 1; connection from 127.0.0.1"),
        "{told}"
    );
    assert!(thread.join().unwrap().unwrap_err().to_string().contains("wrong secret"));
}

#[test]
fn rounds_use_no_node_twice() {
    let pairs: Vec<[usize; 2]> = (0..6).flat_map(|a| (a + 1..6).map(move |b| [a, b])).collect();
    let rounds = rounds(&pairs, 3);
    assert_eq!(rounds.concat().len(), 15);
    for round in rounds {
        let nodes: BTreeSet<&usize> = round.iter().flatten().collect();
        assert!(round.len() <= 3 && nodes.len() == 2 * round.len(), "{round:?}");
    }
}

#[test]
fn reversed_pair_swaps_every_direction() {
    let end =
        |mtu_bytes: u32| ConnectionEnd { mtu_bytes: Some(mtu_bytes), ..ConnectionEnd::default() };
    let pair = NodePair {
        nodes: [0, 1],
        trips: Vec::new(),
        rate_mbps: [1.0, 2.0],
        gap_ns: [3.0, 4.0],
        retransmits: [5, 6],
        segments: [7, 8],
        clock_offset_ns: Some(9.0),
        mtu_bytes: Some(1500),
        ends: Some([end(1500), end(9000)]),
        beside: None,
    };
    let other = turned(&pair, [0, 1]);
    assert_eq!((other.rate_mbps, other.gap_ns), ([2.0, 1.0], [4.0, 3.0]));
    assert_eq!((other.retransmits, other.segments), ([6, 5], [8, 7]));
    assert_eq!((other.clock_offset_ns, other.mtu_bytes), (Some(-9.0), Some(9000)));
    assert_eq!(turned(&other, [0, 1]), pair);
}

#[test]
fn ranks_with_different_options_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    let other = aside(1, 2, &ClusterOptions { loaded: true, ..options.clone() });
    let first = run(0, 2, "n0", &options).unwrap_err().to_string();
    assert!(first.starts_with("rank 1 on n1 was started with other options"), "{first}");
    let other = other.join().unwrap().unwrap_err().to_string();
    assert!(other.contains("refused: rank 0 has other options"), "{other}");
}

#[test]
fn rank_that_cannot_build_its_program_is_named() {
    let folder = tempfile::tempdir().unwrap();
    // This compiler creates the file named after -o.
    let compiler = folder.path().join("mpicc");
    std::fs::write(&compiler, "while [ \"$1\" != -o ]; do shift; done; : > \"$2\"").unwrap();
    let first = ClusterOptions {
        mpicc: Some(format!("sh {}", compiler.display())),
        ..options(folder.path())
    };
    let other =
        aside(1, 2, &ClusterOptions { mpicc: Some("no-such-mpicc".to_owned()), ..first.clone() });
    let first = run(0, 2, "n0", &first).unwrap_err().to_string();
    assert!(first.starts_with("on n1: 'no-such-mpicc' cannot be started"), "{first}");
    assert!(matches!(
        other.join().unwrap(),
        Err(ClusterMeasureError::Mpi(MpiError::NoCompiler { .. }))
    ));
}

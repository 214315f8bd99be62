//! Faults as seatings made by hand: NUMA nodes, hybrid processors, isolated CPUs, accelerators.

use seatmap_machine::CoreKind;
use seatmap_plan::Plan;
use seatmap_watch::judge::made::Made;
use seatmap_watch::rule::Level;
use seatmap_watch::{Criteria, Expected, Rule, judge};

/// The number of faults.
pub const COUNT: usize = 33;

/// A fault: its name, the rule that finds it, the rules that are asked for, and the seating.
type Fault = (&'static str, &'static str, Vec<Rule>, Made);

/// The names of faults that were not found.
pub fn missed() -> Vec<String> {
    let faults = by_default().into_iter().chain(named()).map(|(name, rule, rules, made)| {
        let request = Criteria { rules, ..Criteria::default() };
        (
            name,
            judge(&made.seating, &made.topology, &request)
                .iter()
                .any(|finding| finding.rule == rule),
        )
    });
    let faults: Vec<(&str, bool)> = faults.chain(planned()).collect();
    assert_eq!(faults.len(), COUNT);
    faults.into_iter().filter(|(_, found)| !found).map(|(name, _)| name.to_owned()).collect()
}

/// Two sockets of eight CPUs, four to an L3 cache, two hardware threads to a core.
fn server() -> Made {
    Made::new(16).parts(2, 4, 8)
}

fn hybrid() -> Made {
    Made::new(12).efficient_from(8)
}

fn by_default() -> Vec<Fault> {
    vec![
        fault(
            "memory on the other node",
            "memory-local",
            server().thread(7, 7, "0-7").memory(&[700, 300]),
        ),
        fault(
            "memory on a third node",
            "memory-local",
            Made::new(12).parts(1, 4, 4).thread(7, 7, "0-3").memory(&[90, 0, 90]),
        ),
        fault("both threads on one core", "shared-core", pair(server(), "0", "1")),
        fault("both threads on one CPU", "shared-cpu", pair(server(), "3", "3")),
        fault("ranks on one CPU", "shared-cpu", {
            let ranks = server().process(5, 1).process(6, 5).process(8, 5);
            ranks.busy(6, 6, "2", 50.0, 49.0).busy(8, 8, "2", 50.0, 49.0)
        }),
        fault("busy on an efficiency core", "slow-kind", hybrid().busy(7, 7, "9", 99.0, 0.0)),
        fault("busy on all efficiency cores", "slow-kind", hybrid().busy(7, 7, "8-11", 99.0, 0.0)),
        fault(
            "isolated CPUs without balance",
            "isolated",
            pair(server().isolated("8-15"), "8-15", "8-15"),
        ),
        fault(
            "a quota below the threads",
            "quota",
            pair(server(), "0-15", "0-15").group(None, Some(1.0), 5),
        ),
        fault("a cpuset that cut OMP_PLACES", "partial", {
            pair(server(), "0-3", "0-3").variable("OMP_PLACES", "{0}:8", Some("0-7"), None).group(
                Some("0-3"),
                None,
                0,
            )
        }),
        fault(
            "a mask beyond the cpuset",
            "partial",
            server().thread(7, 7, "2-5").group(Some("0-3"), None, 0),
        ),
        fault("a mask of CPUs that are off", "partial", {
            pair(server(), "0-15", "0-15").variable("KMP_AFFINITY", "explicit", Some("16-31"), None)
        }),
        fault(
            "OMP_PLACES not followed",
            "variables",
            pair(server(), "0-15", "0-15").variable("OMP_PLACES", "cores", Some("0-3"), None),
        ),
        fault("GOMP_CPU_AFFINITY too short", "variables", {
            pair(server(), "4", "4").variable("GOMP_CPU_AFFINITY", "4", Some("4"), None)
        }),
        fault("SLURM_CPU_BIND not followed", "variables", {
            server().thread(7, 7, "0-15").variable(
                "SLURM_CPU_BIND",
                "mask_cpu:0x3",
                Some("0-1"),
                None,
            )
        }),
        fault("threads before the binding", "late-binding", {
            server().thread(7, 7, "0-7").busy(7, 8, "0-15", 60.0, 0.0).thread(7, 9, "0-7")
        }),
        fault(
            "only the main thread bound",
            "late-binding",
            server().thread(7, 7, "4").busy(7, 8, "0-15", 60.0, 0.0),
        ),
        fault("two engines on the same CPUs", "overlap", {
            let one = server().thread(10, 10, "0").thread(10, 11, "2");
            one.thread(20, 20, "0").thread(20, 21, "2")
        }),
        fault(
            "two busy programs on one CPU",
            "overlap",
            server().busy(7, 7, "1", 50.0, 49.0).busy(9, 9, "1", 50.0, 49.0),
        ),
        fault(
            "a stranger on a seat",
            "strangers",
            server().busy(7, 7, "1", 60.0, 40.0).stranger(1, "cc1", 40.0, "0-15"),
        ),
        fault("a starved thread", "real-time", {
            server().busy(7, 7, "1", 95.0, 0.0).policy("fifo").busy(9, 9, "1", 4.0, 95.0)
        }),
        fault("a network card on an isolated seat", "interrupts", {
            server().isolated("9").busy(7, 7, "9", 99.0, 0.0).interrupts(9, "24", "eth0", 4000.0)
        }),
        fault("pins under sched_ext", "scheduler", {
            let mut made = server().thread(7, 7, "1");
            made.seating.kernel.sched_ext = Some("rusty".to_owned());
            made
        }),
        fault("a program that stands still", "stopped", server().thread(7, 7, "0-15").state('T')),
    ]
}

fn fault(name: &'static str, rule: &'static str, made: Made) -> Fault {
    (name, rule, Vec::new(), made)
}

fn pair(made: Made, first: &str, second: &str) -> Made {
    made.busy(7, 7, first, 60.0, 35.0).busy(7, 8, second, 60.0, 35.0)
}

fn named() -> Vec<Fault> {
    vec![
        ruled_fault("a GPU on the other socket", Rule::DeviceNear, "device-near", {
            server().thread(7, 7, "0-7").device("/dev/nvidia0", 1, "8-15")
        }),
        ruled_fault(
            "threads in two caches",
            Rule::Same(Level::L3),
            "same-l3",
            server().thread(7, 7, "0-3").thread(7, 8, "4"),
        ),
        ruled_fault("all threads on one node", Rule::Spread(Level::Numa), "spread=numa", {
            server().thread(7, 7, "0").thread(7, 8, "2")
        }),
        ruled_fault(
            "a thread that may use slow cores",
            Rule::Kind(CoreKind::Performance),
            "kind=performance",
            hybrid().thread(7, 7, "0-9"),
        ),
        ruled_fault(
            "two ranks on one core",
            Rule::OnePerCore,
            "one-per-core",
            server().thread(7, 7, "0").thread(9, 9, "1"),
        ),
        ruled_fault("interrupts where none are wanted", Rule::NoIrq, "no-irq", {
            server().thread(7, 7, "4-7").interrupts(5, "30", "nvme0q5", 200.0)
        }),
    ]
}

fn ruled_fault(name: &'static str, rule: Rule, word: &'static str, made: Made) -> Fault {
    (name, word, vec![rule], made)
}

/// Faults against a plan, each with whether it was found.
fn planned() -> Vec<(&'static str, bool)> {
    let expected = Expected::of_plan(&Plan::new("made", vec![4, 6]));
    vec![
        (
            "two threads that changed seats",
            expects(&expected, &server().thread(7, 7, "6").thread(7, 8, "4")),
        ),
        ("a worker that died", expects(&expected, &server().thread(7, 7, "4"))),
        (
            "a busy thread without a seat",
            expects(
                &expected,
                &server().thread(7, 7, "4").thread(7, 8, "6").busy(7, 9, "0-15", 80.0, 0.0),
            ),
        ),
    ]
}

fn expects(expected: &Expected, made: &Made) -> bool {
    let request = Criteria { expected: Some(expected.clone()), ..Criteria::default() };
    judge(&made.seating, &made.topology, &request)
        .iter()
        .any(|finding| finding.rule == "expect" && finding.is_wrong())
}

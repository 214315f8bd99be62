//! The sentences of findings.

use super::{Flip, ProfileFinding, Wide};
use seatmap_data::statistics::words::counted;
use seatmap_os::CpuList;
use std::fmt;

impl fmt::Display for ProfileFinding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProfileFinding::ClockQuantised { step_ns } => write!(
                out,
                "The clock is too coarse: all values are multiples of {}, so smaller differences \
                 mean nothing. Measure again with more round trips per batch.",
                step_ns.map_or_else(|| "its step".to_owned(), |ns| format!("{ns:.1} ns"))
            ),
            ProfileFinding::MultiRegime { pairs, percent, widest } => write!(
                out,
                "{} between several distances{}. In a virtual machine the cause is the host, \
                 which moves the vCPUs; one median describes neither position. Pin the vCPUs on \
                 the host, or measure on bare metal.",
                subject(*pairs, *percent, "flips", "flip"),
                widest.as_ref().map_or_else(String::new, |flip| flip.example(*pairs))
            ),
            ProfileFinding::Stacked { pairs, percent, example: [a, b], median_ns } => write!(
                out,
                "{} stacked: the host runs both vCPUs on one CPU, in turn. A round trip between \
                 PUs {a} and {b} takes {:.1} us, as long as the host's scheduler runs one of them. \
                 Do not put communicating threads on both: request vCPUs pinned to separate CPUs, \
                 or use fewer vCPUs.",
                subject(*pairs, *percent, "is", "are"),
                median_ns / 1e3
            ),
            ProfileFinding::Unsteady { pairs, percent, widest } => write!(
                out,
                "{} no steady distance{}. The passes disagree and show no levels: something else \
                 ran, or a hypervisor moved the vCPUs. Run 'seatmap doctor', then measure again \
                 with --thorough.",
                subject(*pairs, *percent, "has", "have"),
                widest.as_ref().map_or_else(String::new, |wide| wide.example(*pairs))
            ),
            ProfileFinding::Drifting { pairs, percent } => write!(
                out,
                "{} from pass to pass. Frequency, temperature or load changed during the \
                 measurement: set the governor to a fixed frequency, let the machine settle, and \
                 measure again.",
                subject(*pairs, *percent, "drifts", "drift")
            ),
            ProfileFinding::Implausible { pairs, median_ns, low_ns, high_ns } => write!(
                out,
                "{pairs} are {median_ns:.0} ns apart; on published machines, {low_ns:.0} to \
                 {high_ns:.0} ns. Either the topology is not the real one (common in virtual \
                 machines), or the machine was busy or throttled. Run 'seatmap doctor', then \
                 measure again."
            ),
            ProfileFinding::HiddenSiblings { pairs, example: [a, b], near_ns, far_ns } => write!(
                out,
                "The topology lists each PU as a core, but the distances show {} with two hardware \
                 threads each: PUs {a} and {b} are {near_ns:.0} ns apart, PUs of different cores \
                 {far_ns:.0} ns. Two busy threads on such a pair share one core: use only one PU \
                 of each pair, or let the host expose its hardware threads to the guest.",
                counted(*pairs, "core")
            ),
            ProfileFinding::GroupsDisagree { groups, levels } => {
                let known: Vec<String> =
                    levels.iter().map(|(name, parts)| format!("{name}: {parts}")).collect();
                write!(
                    out,
                    "The distances show {}, which match no level of the topology ({}). Either the \
                     topology is not the hardware's (common in virtual machines), or it omits \
                     what connects the cores. Trust the distances.",
                    counted(*groups, "group"),
                    known.join(", ")
                )
            }
            ProfileFinding::FarHome { pus, near_ns, far_ns } => write!(
                out,
                "PUs {} look {:.1} times slower among themselves ({far_ns:.0} ns against \
                 {near_ns:.0} ns between groups), but the hardware is the same. The socket is \
                 fine: the home of the measured cache line is near the other PUs. Measure with \
                 --homes before placing threads by these distances.",
                CpuList(pus.clone()),
                far_ns / near_ns
            ),
            ProfileFinding::PairViewEmpty { star_r2 } => write!(
                out,
                "Inside the groups each distance is the sum of two figures, one per PU: this \
                 explains {:.1} % of the variance. The matrix shows how far each PU is from this \
                 line's home, and nothing about pairs. Place by group, and use --homes to choose \
                 lines near their threads.",
                100.0 * star_r2
            ),
            ProfileFinding::AsymmetricBlocks {
                class,
                nearest,
                nearest_ns,
                farthest,
                farthest_ns,
            } => write!(
                out,
                "Distances in the class '{class}' differ: the groups of PUs {} and {} are \
                 {nearest_ns:.0} ns apart, the groups of PUs {} and {} {farthest_ns:.0} ns. Place \
                 by the matrix, not by the class.",
                nearest[0], nearest[1], farthest[0], farthest[1]
            ),
            ProfileFinding::SingleHome => out.write_str(
                "All distances were measured over one cache line, whose home is unknown. Other \
                 lines may give other distances: --homes 64 measures the difference.",
            ),
            ProfileFinding::HomesNotResolvable { lines, pus } => write!(
                out,
                "The homes of {lines} cache lines cannot be distinguished with {}: {}",
                counted(*pus, "PU"),
                match pus {
                    0..3 =>
                        "a home is found by the PU nearest to it, which takes at least three PUs.",
                    _ =>
                        "the lines differ by no more than noise. Either all have the same home, or \
                         --thorough on a quieter machine would show more.",
                }
            ),
        }
    }
}

impl Flip {
    fn example(&self, pairs: usize) -> String {
        format!(
            " ({}PUs {} and {}: {:.0} ns and {:.0} ns, {:.0} % of batches slow)",
            of_several(pairs),
            self.pus[0],
            self.pus[1],
            self.fast_ns,
            self.slow_ns,
            self.slow_percent
        )
    }
}

impl Wide {
    fn example(&self, pairs: usize) -> String {
        format!(
            " ({}PUs {} and {}: median {:.0} ns, 95 % confidence interval {:.0} to {:.0} ns)",
            of_several(pairs),
            self.pus[0],
            self.pus[1],
            self.median_ns,
            self.low_ns,
            self.high_ns
        )
    }
}

fn of_several(pairs: usize) -> &'static str {
    if pairs > 1 { "widest on " } else { "" }
}

fn subject(pairs: usize, percent: f64, one: &str, many: &str) -> String {
    let percent = if percent < 1.0 { "less than 1".to_owned() } else { format!("{percent:.0}") };
    match pairs {
        1 if percent == "100" => format!("The only pair {one}"),
        1 => format!("1 pair ({percent} %) {one}"),
        _ => format!("{pairs} ({percent} %) {many}", pairs = counted(pairs, "pair")),
    }
}

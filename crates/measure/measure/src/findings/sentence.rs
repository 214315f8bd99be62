//! The sentences of findings.

use super::{Flip, ProfileFinding, Wide};
use seatmap_data::statistics::words::counted;
use seatmap_os::CpuList;
use std::fmt;

impl fmt::Display for ProfileFinding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProfileFinding::ClockQuantised { step_ns } => clock_quantised(out, *step_ns),
            ProfileFinding::MultiRegime { pairs, percent, widest } => {
                multi_regime(out, *pairs, *percent, widest.as_ref())
            }
            ProfileFinding::Stacked { pairs, percent, example, median_ns } => {
                stacked(out, *pairs, *percent, *example, *median_ns)
            }
            ProfileFinding::Unsteady { pairs, percent, widest } => {
                unsteady(out, *pairs, *percent, widest.as_ref())
            }
            ProfileFinding::Drifting { pairs, percent } => drifting(out, *pairs, *percent),
            ProfileFinding::Implausible { pairs, median_ns, low_ns, high_ns } => {
                implausible(out, pairs, *median_ns, *low_ns, *high_ns)
            }
            ProfileFinding::HiddenSiblings { pairs, example, near_ns, far_ns } => {
                hidden_siblings(out, *pairs, *example, *near_ns, *far_ns)
            }
            ProfileFinding::GroupsDisagree { groups, levels } => disagree(out, *groups, levels),
            ProfileFinding::FarHome { pus, near_ns, far_ns } => {
                far_home(out, pus, *near_ns, *far_ns)
            }
            ProfileFinding::PairViewEmpty { star_r2 } => pair_view_empty(out, *star_r2),
            ProfileFinding::AsymmetricBlocks {
                class,
                nearest,
                nearest_ns,
                farthest,
                farthest_ns,
            } => {
                write!(
                    out,
                    "Distances in the class '{class}' differ: the groups of PUs {} and {} are ",
                    nearest[0], nearest[1]
                )?;
                write!(
                    out,
                    "{nearest_ns:.0} ns apart, the groups of PUs {} and {} {farthest_ns:.0} ns. ",
                    farthest[0], farthest[1]
                )?;
                write!(out, "Place by the matrix, not by the class.")
            }
            ProfileFinding::SingleHome => {
                write!(
                    out,
                    "All distances were measured over one cache line, whose home is unknown. Other \
                     lines "
                )?;
                write!(out, "may give other distances: --homes 64 measures the difference.")
            }
            ProfileFinding::HomesNotResolvable { lines, pus } => not_resolvable(out, *lines, *pus),
        }
    }
}

fn clock_quantised(out: &mut fmt::Formatter<'_>, step_ns: Option<f64>) -> fmt::Result {
    let step = step_ns.map_or_else(|| "its step".to_owned(), |ns| format!("{ns:.1} ns"));
    write!(
        out,
        "The clock is too coarse: all values are multiples of {step}, so smaller differences mean \
         nothing. "
    )?;
    write!(out, "Measure again with more round trips per batch.")
}

fn multi_regime(
    out: &mut fmt::Formatter<'_>,
    pairs: usize,
    percent: f64,
    widest: Option<&Flip>,
) -> fmt::Result {
    write!(out, "{} between several distances", subject(pairs, percent, "flips", "flip"))?;
    if let Some(flip) = widest {
        write!(out, " ({}PUs {} and {}: ", of_several(pairs), flip.pus[0], flip.pus[1])?;
        write!(
            out,
            "{:.0} ns and {:.0} ns, {:.0} % of batches slow)",
            flip.fast_ns, flip.slow_ns, flip.slow_percent
        )?;
    }
    write!(
        out,
        ". In a virtual machine the cause is the host, which moves the vCPUs; one median describes \
         neither position. "
    )?;
    write!(out, "Pin the vCPUs on the host, or measure on bare metal.")
}

fn stacked(
    out: &mut fmt::Formatter<'_>,
    pairs: usize,
    percent: f64,
    [a, b]: [u32; 2],
    median_ns: f64,
) -> fmt::Result {
    write!(
        out,
        "{} stacked: the host runs both vCPUs on one CPU, in turn",
        subject(pairs, percent, "is", "are")
    )?;
    write!(
        out,
        ". A round trip between PUs {a} and {b} takes {:.1} us, as long as the host's scheduler ",
        median_ns / 1e3
    )?;
    write!(
        out,
        "runs one of them. Do not put communicating threads on both: request vCPUs pinned to \
         separate CPUs, "
    )?;
    write!(out, "or use fewer vCPUs.")
}

fn unsteady(
    out: &mut fmt::Formatter<'_>,
    pairs: usize,
    percent: f64,
    widest: Option<&Wide>,
) -> fmt::Result {
    write!(out, "{} no steady distance", subject(pairs, percent, "has", "have"))?;
    if let Some(wide) = widest {
        write!(
            out,
            " ({}PUs {} and {}: median {:.0} ns, ",
            of_several(pairs),
            wide.pus[0],
            wide.pus[1],
            wide.median_ns
        )?;
        write!(out, "95 % confidence interval {:.0} to {:.0} ns)", wide.low_ns, wide.high_ns)?;
    }
    write!(
        out,
        ". The passes disagree and show no levels: something else ran, or a hypervisor moved the \
         vCPUs. "
    )?;
    write!(out, "Run 'seatmap doctor', then measure again with --thorough.")
}

fn drifting(out: &mut fmt::Formatter<'_>, pairs: usize, percent: f64) -> fmt::Result {
    write!(out, "{} from pass to pass. ", subject(pairs, percent, "drifts", "drift"))?;
    write!(
        out,
        "Frequency, temperature or load changed during the measurement: set the governor to a \
         fixed frequency, "
    )?;
    write!(out, "let the machine settle, and measure again.")
}

fn far_home(out: &mut fmt::Formatter<'_>, pus: &[u32], near_ns: f64, far_ns: f64) -> fmt::Result {
    let slower = far_ns / near_ns;
    write!(out, "PUs {} look {slower:.1} times slower among themselves ", CpuList(pus.to_vec()))?;
    write!(
        out,
        "({far_ns:.0} ns against {near_ns:.0} ns between groups), but the hardware is the same. "
    )?;
    write!(out, "The socket is fine: the home of the measured cache line is near the other PUs. ")?;
    write!(out, "Measure with --homes before placing threads by these distances.")
}

fn pair_view_empty(out: &mut fmt::Formatter<'_>, star_r2: f64) -> fmt::Result {
    let percent = 100.0 * star_r2;
    write!(
        out,
        "Inside the groups each distance is the sum of two figures, one per PU: this explains "
    )?;
    write!(
        out,
        "{percent:.1} % of the variance. The matrix shows how far each PU is from this line's \
         home, "
    )?;
    write!(
        out,
        "and nothing about pairs. Place by group, and use --homes to choose lines near their \
         threads."
    )
}

fn implausible(
    out: &mut fmt::Formatter<'_>,
    pairs: &str,
    median_ns: f64,
    low_ns: f64,
    high_ns: f64,
) -> fmt::Result {
    write!(
        out,
        "{pairs} are {median_ns:.0} ns apart; on published machines, {low_ns:.0} to \
         {high_ns:.0} ns. "
    )?;
    write!(
        out,
        "Either the topology is not the real one (common in virtual machines), or the machine was \
         busy "
    )?;
    write!(out, "or throttled. Run 'seatmap doctor', then measure again.")
}

fn not_resolvable(out: &mut fmt::Formatter<'_>, lines: usize, pus: usize) -> fmt::Result {
    write!(
        out,
        "The homes of {lines} cache lines cannot be distinguished with {pus}: ",
        pus = counted(pus, "PU")
    )?;
    match pus {
        0..3 => {
            write!(out, "a home is found by the PU nearest to it, which takes at least three PUs.")
        }
        _ => write!(
            out,
            "the lines differ by no more than noise. Either all have the same home, or --thorough \
             on a quieter machine would show more."
        ),
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

fn hidden_siblings(
    out: &mut fmt::Formatter<'_>,
    pairs: usize,
    [a, b]: [u32; 2],
    near_ns: f64,
    far_ns: f64,
) -> fmt::Result {
    write!(
        out,
        "The topology lists each PU as a core, but the distances show {pairs} with two hardware \
         threads each: ",
        pairs = counted(pairs, "core")
    )?;
    write!(
        out,
        "PUs {a} and {b} are {near_ns:.0} ns apart, PUs of different cores {far_ns:.0} ns. "
    )?;
    write!(out, "Two busy threads on such a pair share one core: use only one PU of each pair, ")?;
    write!(out, "or let the host expose its hardware threads to the guest.")
}

fn disagree(
    out: &mut fmt::Formatter<'_>,
    groups: usize,
    levels: &[(String, usize)],
) -> fmt::Result {
    let known: Vec<String> =
        levels.iter().map(|(name, parts)| format!("{name}: {parts}")).collect();
    let found = counted(groups, "group");
    write!(
        out,
        "The distances show {found}, which match no level of the topology ({}). ",
        known.join(", ")
    )?;
    write!(
        out,
        "Either the topology is not the hardware's (common in virtual machines), or it omits what "
    )?;
    write!(out, "connects the cores. Trust the distances.")
}

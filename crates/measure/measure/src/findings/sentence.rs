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
                    "Not all pairs of '{class}' are alike: the groups of PUs {} and {} ",
                    nearest[0], nearest[1]
                )?;
                write!(
                    out,
                    "are {nearest_ns:.0} ns apart, those of {} and {} {farthest_ns:.0} ns. ",
                    farthest[0], farthest[1]
                )?;
                write!(out, "Place by the matrix and not by the class.")
            }
            ProfileFinding::SingleHome => {
                write!(
                    out,
                    "All distances are those of one cache line. Its home is unknown, and another \
                     line may give "
                )?;
                write!(out, "others: measure with --homes 64 to see how much.")
            }
            ProfileFinding::HomesNotResolvable { lines, pus } => not_resolvable(out, *lines, *pus),
        }
    }
}

fn clock_quantised(out: &mut fmt::Formatter<'_>, step_ns: Option<f64>) -> fmt::Result {
    let step = step_ns.map(|ns| format!(" of {ns:.1} ns")).unwrap_or_default();
    write!(
        out,
        "The clock is too coarse: all values fall on steps{step}, so smaller differences mean \
         nothing. "
    )?;
    write!(out, "Measure again with more round trips a batch.")
}

fn multi_regime(
    out: &mut fmt::Formatter<'_>,
    pairs: usize,
    percent: f64,
    widest: Option<&Flip>,
) -> fmt::Result {
    write!(out, "{} between several distances", subject(pairs, percent, "flips", "flip"))?;
    if let Some(flip) = widest {
        write!(out, ", {}PUs {} and {}: ", of_several(pairs, "most"), flip.pus[0], flip.pus[1])?;
        write!(
            out,
            "{:.0} ns and {:.0} ns, {:.0} % slow",
            flip.fast_ns, flip.slow_ns, flip.slow_percent
        )?;
    }
    write!(
        out,
        ". In a virtual machine this is the host moving vCPUs about, and one median describes \
         neither place. "
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
        "lets one of them run. Threads that talk must not sit on both: ask for vCPUs that are \
         pinned to CPUs of "
    )?;
    write!(out, "their own, or use fewer of these.")
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
            ", {}PUs {} and {}: the median is {:.0} ns, ",
            of_several(pairs, "least"),
            wide.pus[0],
            wide.pus[1],
            wide.median_ns
        )?;
        write!(
            out,
            "and 95 % sure is only that it lies between {:.0} and {:.0} ns",
            wide.low_ns, wide.high_ns
        )?;
    }
    write!(
        out,
        ". The passes disagree and show no levels: something else ran, or a hypervisor moved the \
         vCPUs. "
    )?;
    write!(out, "Look with 'seatmap doctor', and measure again with --thorough.")
}

fn drifting(out: &mut fmt::Formatter<'_>, pairs: usize, percent: f64) -> fmt::Result {
    write!(out, "{} from pass to pass. ", subject(pairs, percent, "drifts", "drift"))?;
    write!(
        out,
        "Frequency, temperature or load changed meanwhile: fix the governor, let the machine \
         settle, "
    )?;
    write!(out, "and measure again.")
}

fn far_home(out: &mut fmt::Formatter<'_>, pus: &[u32], near_ns: f64, far_ns: f64) -> fmt::Result {
    let slower = far_ns / near_ns;
    write!(out, "PUs {} look {slower:.1} times slower among themselves ", CpuList(pus.to_vec()))?;
    write!(
        out,
        "({far_ns:.0} ns against {near_ns:.0} ns between groups) though they are built like the \
         others. "
    )?;
    write!(
        out,
        "The cache line's home is with the others, so the socket is fine and the home is far: "
    )?;
    write!(out, "measure with --homes before placing threads by it.")
}

fn pair_view_empty(out: &mut fmt::Formatter<'_>, star_r2: f64) -> fmt::Result {
    let percent = 100.0 * star_r2;
    write!(
        out,
        "Inside the groups each distance is one number for each of its two PUs added up, which \
         explains "
    )?;
    write!(
        out,
        "{percent:.1} % of the variance: the matrix tells how far each PU is from this line's \
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
        "{pairs} are {median_ns:.0} ns apart, where published machines show {low_ns:.0} to \
         {high_ns:.0} ns. "
    )?;
    write!(
        out,
        "Either the topology is not the real one, as virtual machines often show it, or the \
         machine was busy "
    )?;
    write!(out, "or throttled: compare with 'seatmap doctor', and measure again.")
}

fn not_resolvable(out: &mut fmt::Formatter<'_>, lines: usize, pus: usize) -> fmt::Result {
    write!(
        out,
        "The homes of {lines} cache lines are not resolvable from {pus}: ",
        pus = counted(pus, "PU")
    )?;
    match pus {
        0..3 => write!(
            out,
            "a home shows as one PU being nearer to it than others, and that takes three."
        ),
        _ => write!(
            out,
            "the lines differ by no more than noise. Either one home serves them all, or \
             --thorough and a quieter machine would show more."
        ),
    }
}

fn of_several(pairs: usize, most: &str) -> String {
    if pairs > 1 { format!("{most} of all ") } else { String::new() }
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
        "The topology calls each PU a core, and the distances show {pairs} of two hardware threads \
         each: ",
        pairs = counted(pairs, "core")
    )?;
    write!(
        out,
        "PUs {a} and {b} are {near_ns:.0} ns apart, pairs of different cores {far_ns:.0} ns. "
    )?;
    write!(
        out,
        "Two busy threads on such a pair share one core: seat them on one PU of each pair, "
    )?;
    write!(out, "or let the host show its hardware threads to the guest.")
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
        "The distances show {found}, and no level of the topology has these ({}). ",
        known.join(", ")
    )?;
    write!(
        out,
        "Either the topology is not the hardware's, as in many virtual machines, or the cores are \
         joined by "
    )?;
    write!(out, "something that it does not list. Trust the distances.")
}

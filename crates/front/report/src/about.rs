//! A profile's origin and machine in words, for terminal and HTML.

use crate::Digits;
use crate::digits::without_zeros;
use crate::words::{counted, joined};
use seatmap_data::machine::{
    CoreKind, Environment, HomeModel, OriginKind, Profile, Protocol, Pu, Topology,
};
use seatmap_os::CpuList;

pub fn origin(profile: &Profile) -> String {
    let origin = &profile.origin;
    let verb = match origin.kind {
        OriginKind::Measured => "measured on",
        OriginKind::Imported => "imported from",
        OriginKind::Model => "modelled after",
    };
    let by = origin.tool.as_ref().map(|tool| format!("by {tool}"));
    let parts = [Some(format!("{verb} {}", origin.source)), origin.date.clone(), by];
    joined(parts.into_iter().flatten(), ", ")
}

/// PUs, cores, caches, NUMA nodes and packages, as one line.
pub fn topology(topology: &Topology) -> String {
    // A level without numbers is unknown: '0 dies' would claim that there are none.
    let level = |name, level: fn(&Pu) -> Option<u32>| match topology.count(level) {
        0 => String::new(),
        count => counted(count, name),
    };
    let levels = [
        counted(topology.pus.len(), "PU"),
        cores(topology),
        level("L3 cache", |pu| pu.l3),
        level("die", |pu| pu.die),
        level("NUMA node", |pu| pu.numa),
        level("package", |pu| pu.package),
    ];
    let kinds = CoreKind::ALL
        .into_iter()
        .map(|kind| (topology.pus.iter().filter(|pu| pu.kind == Some(kind)).count(), kind));
    let kinds = kinds.filter(|(count, _)| *count > 0).enumerate().map(|(at, (count, kind))| {
        // Only the first count names its unit.
        let pus = if at == 0 { counted(count, "PU") } else { count.to_string() };
        pus + " on " + kind.letters() + " cores"
    });
    joined(levels.into_iter().filter(|part| !part.is_empty()).chain(kinds), ", ")
}

fn cores(topology: &Topology) -> String {
    let mut threads = std::collections::BTreeMap::new();
    for core in topology.pus.iter().filter_map(|pu| pu.core) {
        *threads.entry(core).or_insert(0usize) += 1;
    }
    let name = counted(threads.len(), "core");
    let (Some(least), Some(most)) = (threads.values().min(), threads.values().max()) else {
        return String::new();
    };
    match (least, most) {
        // One thread a core is the expectation, so omit it.
        (_, 1) => name,
        _ if least == most => format!("{name} with {most} hardware threads each"),
        // A hybrid processor: two threads on each P core, one on each E core.
        _ => format!("{name} with up to {most} hardware threads"),
    }
}

pub fn cpus(pus: &[u32]) -> CpuList {
    let mut sorted = pus.to_vec();
    sorted.sort_unstable();
    CpuList(sorted)
}

/// The environment without the mitigations, as (what, value).
pub fn environment(environment: &Environment) -> Vec<(&'static str, String)> {
    let named = [
        ("Processor", environment.cpu_model.clone()),
        ("Hypervisor", environment.hypervisor.clone()),
        ("Steal", environment.steal_percent.map(|percent| format!("{percent:.1} %"))),
        ("Kernel", environment.kernel.clone()),
        ("Microcode", environment.microcode.clone()),
        ("Governor", environment.governor.clone()),
        ("Turbo", environment.turbo.map(|on| if on { "on" } else { "off" }.to_owned())),
        ("SMT", environment.smt_word()),
        ("Transparent huge pages", environment.thp.clone()),
        ("Firmware", environment.bios.clone()),
        ("Load average", environment.load_average.map(|load| format!("{load:.2}"))),
        ("CPUs allowed", environment.cpuset.clone()),
        ("CPUs offline", environment.offline.clone()),
    ];
    named.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// How the profile was measured, and what was discarded.
pub fn protocol(protocol: &Protocol) -> String {
    let discarded = protocol.discarded_gap + protocol.discarded_switched + protocol.discarded_moved;
    format!(
        "{} of {} of {} per pair{}; {} kept, {discarded} discarded ({} interrupted, {} switched \
         out, {} migrated); resolution {} ns; {:.2} s.",
        counted(protocol.passes, "pass"),
        counted(protocol.batches, "batch"),
        counted(protocol.round_trips, "round trip"),
        if protocol.parallel { ", several pairs at once" } else { "" },
        counted(protocol.kept, "batch"),
        protocol.discarded_gap,
        protocol.discarded_switched,
        protocol.discarded_moved,
        significant(protocol.resolution_ns),
        protocol.seconds,
    )
}

/// Empty without a model.
pub fn information(profile: &Profile) -> String {
    let Some(model) = &profile.home_model else { return String::new() };
    if !model.is_overdetermined() {
        let pus = counted(model.offset_ns.len(), "PU");
        return format!("With {pus}, the pairs do not show which PU is near the line's home.");
    }
    let share = percent(model.r2);
    if share == "100.0 %" && model.star_r2.is_none() {
        return "The groups explain all differences between pairs.".to_owned();
    }
    let homes = match model.homes() {
        0 | 1 => "home".to_owned(),
        homes => counted(homes, "home"),
    };
    let rest = match Digits::of(profile).show(model.residual_ns) {
        // All shown digits are zeros: '0 ns' would claim that nothing is left.
        text if text.parse() == Ok(0.0) => "below the clock's resolution".to_owned(),
        text => format!("{text} ns"),
    };
    format!(
        "Groups and {homes} explain {share} of the variance between pairs; the rest is {rest}. {}",
        pair_view(model)
    )
}

fn pair_view(model: &HomeModel) -> String {
    let Some(star_r2) = model.star_r2 else {
        return "Inside the groups all distances are equal.".to_owned();
    };
    let share = percent(star_r2);
    if model.pair_view_empty {
        format!(
            "Inside the groups {share} of the variance is each PU's distance to the line's home: \
             the matrix shows which PUs are near that home, not which are near each other."
        )
    } else {
        format!(
            "Inside the groups each PU's distance to the line's home explains {share} of the \
             variance; the rest depends on the pair."
        )
    }
}

/// A percentage, not rounded up to a false 100.
fn percent(share: f64) -> String {
    format!("{:.1} %", (share * 1000.0).floor() / 10.0)
}

fn significant(value: f64) -> String {
    if !value.is_finite() || value <= 0.0 {
        return "?".to_owned();
    }
    let decimals = (1.0 - value.log10().floor()).clamp(0.0, 9.0) as usize;
    without_zeros(&format!("{value:.decimals$}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::two_groups;

    #[test]
    fn origin_and_topology_are_described_in_words() {
        let mut profile = two_groups();
        assert_eq!(origin(&profile), "measured on lab-7, 2026-02-03, by seatmap 0.1.0");
        assert_eq!(
            topology(&profile.topology),
            "8 PUs, 8 cores, 2 L3 caches, 1 NUMA node, 1 package"
        );
        profile.topology.pus[1].core = Some(0);
        profile.topology.pus[0].kind = Some(CoreKind::Performance);
        let hybrid = topology(&profile.topology);
        assert!(hybrid.contains("7 cores with up to 2 hardware threads"), "{hybrid}");
        assert!(hybrid.ends_with("1 PU on P cores"), "{hybrid}");
    }

    #[test]
    fn explained_variance_never_rounds_to_100_percent() {
        let mut profile = two_groups();
        profile.home_model.as_mut().unwrap().r2 = 0.99996;
        let text = information(&profile);
        assert!(text.starts_with("Groups and 2 homes explain 99.9 % of"), "{text}");
        profile.home_model = None;
        assert_eq!(information(&profile), "");
    }

    #[test]
    fn empty_pair_view_is_explained() {
        let mut profile = two_groups();
        profile.home_model.as_mut().unwrap().pair_view_empty = true;
        assert!(information(&profile).contains("not which are near each other."));
    }

    #[test]
    fn discarded_batches_are_counted() {
        let profile = two_groups();
        let text = protocol(profile.core_distance.as_ref().unwrap().protocol.as_ref().unwrap());
        let (how, kept) = text.split_once("; ").unwrap();
        assert_eq!(how, "3 passes of 32 batches of 100 round trips per pair");
        let expected =
            "2673 batches kept, 15 discarded (12 interrupted, 3 switched out, 0 migrated)";
        assert_eq!(kept, format!("{expected}; resolution 0.04 ns; 0.18 s."));
    }

    #[test]
    fn environment_lists_only_known_facts() {
        let rows = environment(&two_groups().environment);
        let names = Vec::from_iter(rows.iter().map(|(name, _)| *name));
        assert_eq!(names, ["Processor", "Hypervisor", "Steal", "Kernel"]);
    }
}

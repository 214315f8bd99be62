//! Checks a description beyond its TOML syntax and fields.

use super::shape::{MAX_CACHE_BYTES, MAX_PUS};
use super::{MachineShape, PairClass, RoundTripParameter, Written};
use crate::statistics::words::counted;

/// The longest round trip: a millisecond, a thousand times that of the largest coherent machines.
pub const MAX_ROUND_TRIP_NS: f64 = 1e6;

pub const MAX_FREQUENCY_GHZ: f64 = 100.0;

#[derive(Debug)]
pub struct Flaw {
    /// Dotted, as in `distance.same_l3`.
    pub key: String,
    pub problem: String,
}

pub fn flaw<T>(key: impl Into<String>, problem: impl Into<String>) -> Result<T, Flaw> {
    Err(Flaw { key: key.into(), problem: problem.into() })
}

pub fn check(written: &Written) -> Result<(), Flaw> {
    check_head(written)?;
    check_shape(&written.topology)?;
    for class in PairClass::ALL {
        check_class(written, class)?;
    }
    check_home(written)?;
    written.speed.as_ref().map_or(Ok(()), |speed| speed.check(&written.topology))
}

pub fn is_one_line(text: &str) -> bool {
    !text.trim().is_empty() && !text.contains(crate::document::is_hidden)
}

fn check_head(written: &Written) -> Result<(), Flaw> {
    if written.name.is_empty()
        || !written
            .name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c))
    {
        return flaw("name", "use only lowercase letters, digits, '-', '_' and '.'");
    }
    if !is_one_line(&written.summary) {
        return flaw("summary", "describe the machine in one line");
    }
    if written.sources.is_empty() || !written.sources.iter().all(|it| is_one_line(it)) {
        return flaw("sources", "name the sources of the figures, one line each");
    }
    match written.frequency_ghz {
        Some(ghz) if !(ghz > 0.0 && ghz <= MAX_FREQUENCY_GHZ) => flaw(
            "frequency_ghz",
            format!("{ghz} is not a frequency between 0 and {MAX_FREQUENCY_GHZ} GHz"),
        ),
        _ => Ok(()),
    }
}

fn check_shape(shape: &MachineShape) -> Result<(), Flaw> {
    // First, so the products below cannot overflow.
    if shape.pus() > MAX_PUS.into() {
        return flaw(
            "topology",
            format!("{} are too many; the limit is {MAX_PUS}", counted(shape.pus(), "PU")),
        );
    }
    if shape.cores_per_l3.get() % shape.cores_per_cluster != 0 {
        return flaw(
            "topology.cores_per_cluster",
            format!("does not divide the {} of an L3", counted(shape.cores_per_l3.get(), "core")),
        );
    }
    if shape.cores_per_package() % shape.numa_nodes_per_package != 0 {
        let cores = shape.cores_per_package();
        return flaw(
            "topology.numa_nodes_per_package",
            format!("does not divide the {cores} of a package", cores = counted(cores, "core")),
        );
    }
    check_caches(shape)?;
    let Some(hybrid) = &shape.hybrid else { return Ok(()) };
    if shape.cores_per_cluster.get() > 1 {
        return flaw(
            "topology.cores_per_cluster",
            "on a hybrid processor only efficiency cores have clusters",
        );
    }
    match hybrid.efficiency_cores_per_l3.get() % hybrid.efficiency_cores_per_cluster {
        0 => Ok(()),
        _ => flaw(
            "topology.hybrid.efficiency_cores_per_cluster",
            "does not divide the efficiency cores of an L3",
        ),
    }
}

fn check_caches(shape: &MachineShape) -> Result<(), Flaw> {
    let l3s = u64::from(shape.l3_total());
    if !matches!(shape.l3_bytes.len() as u64, 0 | 1) && shape.l3_bytes.len() as u64 != l3s {
        let given = shape.l3_bytes.len();
        return flaw(
            "topology.l3_bytes",
            format!(
                "has {given} for {l3s} L3s; give one for all, or one for each",
                given = counted(given, "entry")
            ),
        );
    }
    let of_cores = [
        ("l1d_bytes", shape.l1d_bytes),
        ("l1i_bytes", shape.l1i_bytes),
        ("l2_bytes", shape.l2_bytes),
    ];
    let of_efficiency = shape.hybrid.iter().flat_map(|hybrid| {
        [
            ("hybrid.efficiency_l1d_bytes", hybrid.efficiency_l1d_bytes),
            ("hybrid.efficiency_l1i_bytes", hybrid.efficiency_l1i_bytes),
            ("hybrid.efficiency_l2_bytes", hybrid.efficiency_l2_bytes),
        ]
    });
    let of_l3s = shape.l3_bytes.iter().map(|bytes| ("l3_bytes", Some(*bytes)));
    let sizes = of_l3s.chain(of_cores).chain(of_efficiency);
    for (key, bytes) in sizes.filter_map(|(key, bytes)| Some((key, bytes?))) {
        if !(1..=MAX_CACHE_BYTES).contains(&bytes) {
            return flaw(
                format!("topology.{key}"),
                format!(
                    "{bytes} are not between 1 and {MAX_CACHE_BYTES}",
                    bytes = counted(bytes, "byte")
                ),
            );
        }
    }
    Ok(())
}

/// A class has a figure exactly if the machine has such pairs, and is farther than the classes
/// inside it.
fn check_class(written: &Written, class: PairClass) -> Result<(), Flaw> {
    let key = format!("distance.{class}");
    let parameter = match (written.distance.get(class), written.topology.has(class)) {
        (Some(parameter), true) => parameter,
        (None, false) => return Ok(()),
        (None, true) => return flaw(key, "is missing, but the topology has such pairs"),
        (Some(_), false) => return flaw(key, "the topology has no such pairs"),
    };
    let ns = check_parameter(&key, parameter, written.frequency_ghz)?;
    if parameter.nearer_than_inside {
        return Ok(());
    }
    let farther_inside = class.inside(written.topology.hybrid.is_some()).iter().find(|inside| {
        let inside_ns = written.distance.get(**inside).and_then(|it| it.ns(written.frequency_ghz));
        inside_ns.is_some_and(|inside_ns| ns < inside_ns)
    });
    match farther_inside {
        Some(inside) => flaw(
            key,
            format!("is nearer than {inside}; if this is correct, set nearer_than_inside = true"),
        ),
        None => Ok(()),
    }
}

fn check_parameter(
    key: &str,
    parameter: &RoundTripParameter,
    frequency_ghz: Option<f64>,
) -> Result<f64, Flaw> {
    if parameter.round_trip_cycles.is_some() && frequency_ghz.is_none() {
        return flaw(key, "is in cycles; set frequency_ghz at the top of the file");
    }
    if !is_one_line(&parameter.source) {
        return flaw(format!("{key}.source"), "name the source of the figure in one line");
    }
    match parameter.ns(frequency_ghz) {
        None => flaw(key, "give either round_trip_ns or round_trip_cycles"),
        Some(ns) if ns > 0.0 && ns.is_normal() && ns <= MAX_ROUND_TRIP_NS => Ok(ns),
        Some(ns) => {
            flaw(key, format!("{ns} ns is not a round trip between 0 and {MAX_ROUND_TRIP_NS} ns"))
        }
    }
}

fn check_home(written: &Written) -> Result<(), Flaw> {
    let Some(home) = &written.home else { return Ok(()) };
    let packages = written.topology.packages.get();
    if packages == 1 {
        return flaw("home", "with one package, no PU is far from the home; remove it");
    }
    if home.package >= packages {
        return flaw("home.package", format!("packages are numbered 0 to {}", packages - 1));
    }
    check_parameter("home.far_offset", &home.far_offset, written.frequency_ghz).map(drop)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{dual, figure, refusal};

    fn two_classes(inner: f64, outer: f64) -> String {
        figure("same_l3", inner) + &figure("other_package", outer)
    }

    #[test]
    fn nearer_than_inside_is_accepted_if_declared() {
        let said = two_classes(90.0, 80.0).replacen("80.0,", "80.0, nearer_than_inside = true,", 1);
        assert!(super::super::Description::from_toml(&dual("cores_per_l3 = 2", &said, "")).is_ok());
    }

    #[test]
    fn flaw_is_reported_at_its_key() {
        let two = two_classes(50.0, 200.0);
        let cores = |distance: &str| dual("cores_per_l3 = 2", distance, "");
        let cycles = cores(&two.replace("round_trip_ns = 200.0", "round_trip_cycles = 200"));
        let both = cores(&two.replace("= 200.0", "= 200.0, round_trip_cycles = 200"));
        let hybrid =
            "[topology.hybrid]\nefficiency_cores_per_l3 = 6\nefficiency_cores_per_cluster = 4";
        let shapes = [
            "8192",
            "4294967295\nl3_per_die = 4294967295",
            "6\ncores_per_cluster = 4",
            "6\nnuma_nodes_per_package = 4",
            &format!("6\n{hybrid}"),
            &format!("6\ncores_per_cluster = 2\n{hybrid}"),
        ]
        .map(|shape| dual(&format!("cores_per_l3 = {shape}"), "", ""));
        let good = cores(&two);
        let home = |package, distance: &str| {
            let home = format!("[home]\npackage = {package}\n{}", figure("far_offset", 90.0));
            dual("cores_per_l3 = 2", distance, &home)
        };
        let parts = [
            cores(&two_classes(90.0, 80.0)),
            cores(&figure("same_l3", 9.0)),
            cores(&(figure("smt", 10.0) + &two)),
            cycles.clone(),
            format!("frequency_ghz = 2.0\n{both}"),
            format!("frequency_ghz = nan\n{cycles}"),
            good.replace("\"pair\"", "\"a b\""),
            good.replace("\"Two cores\"", "\"\\u001b[2J\""),
            good.replace("[\"made up\"]", "[]"),
            home(2, &two),
            home(0, &figure("same_l3", 50.0)).replace("packages = 2", "packages = 1"),
        ];
        let tiny = refusal(&cores(&two.replace("200.0", "1e-320")));
        assert!(tiny.ends_with("1 ns is not a round trip between 0 and 1000000 ns"), "{tiny}");
        let values = ["nan", "inf", "-inf", "-1.0", "0.0", "1e9"]
            .map(|value| cores(&two.replace("200.0", value)));
        let all: Vec<String> =
            parts.iter().chain(&shapes).chain(&values).map(|text| refusal(text)).collect();
        insta::assert_snapshot!(all.join("\n"), @"
        line 11, column 1: distance.other_package: is nearer than same_l3; if this is correct, set nearer_than_inside = true
        line 9, column 2: distance.other_package: is missing, but the topology has such pairs
        line 10, column 1: distance.smt: the topology has no such pairs
        line 11, column 1: distance.other_package: is in cycles; set frequency_ghz at the top of the file
        line 12, column 1: distance.other_package: give either round_trip_ns or round_trip_cycles
        line 1, column 1: frequency_ghz: NaN is not a frequency between 0 and 100 GHz
        line 3, column 1: name: use only lowercase letters, digits, '-', '_' and '.'
        line 4, column 1: summary: describe the machine in one line
        line 5, column 1: sources: name the sources of the figures, one line each
        line 14, column 1: home.package: packages are numbered 0 to 1
        line 12, column 2: home: with one package, no PU is far from the home; remove it
        line 6, column 2: topology: 16384 PUs are too many; the limit is 8192
        line 6, column 2: topology: 18446744073709551615 PUs are too many; the limit is 8192
        line 9, column 1: topology.cores_per_cluster: does not divide the 6 cores of an L3
        line 9, column 1: topology.numa_nodes_per_package: does not divide the 6 cores of a package
        line 11, column 1: topology.hybrid.efficiency_cores_per_cluster: does not divide the efficiency cores of an L3
        line 9, column 1: topology.cores_per_cluster: on a hybrid processor only efficiency cores have clusters
        line 11, column 1: distance.other_package: NaN ns is not a round trip between 0 and 1000000 ns
        line 11, column 1: distance.other_package: inf ns is not a round trip between 0 and 1000000 ns
        line 11, column 1: distance.other_package: -inf ns is not a round trip between 0 and 1000000 ns
        line 11, column 1: distance.other_package: -1 ns is not a round trip between 0 and 1000000 ns
        line 11, column 1: distance.other_package: 0 ns is not a round trip between 0 and 1000000 ns
        line 11, column 1: distance.other_package: 1000000000 ns is not a round trip between 0 and 1000000 ns
        ");
    }
}

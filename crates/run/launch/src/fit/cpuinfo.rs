//! `/proc/cpuinfo` of some of this computer's CPUs (Documentation/filesystems/proc.rst).

use seatmap_os::{CpuSet, small};
use std::collections::{BTreeMap, BTreeSet};

/// The CPUs and cores of one package.
#[derive(Default)]
struct PackageCount {
    cpus: usize,
    cores: BTreeSet<Option<String>>,
}

/// The blocks of these CPUs, unchanged except for the numbers of CPUs and cores in a package, which
/// programs add up.
pub fn of_cpus(text: &str, cpus: &CpuSet) -> String {
    let blocks: Vec<&str> =
        text.split_inclusive("\n\n").filter(|block| is_kept(block, cpus)).collect();
    let mut packages: BTreeMap<Option<String>, PackageCount> = BTreeMap::new();
    for block in &blocks {
        let package = packages.entry(small::value_of(block, "physical id")).or_default();
        package.cpus += 1;
        package.cores.insert(small::value_of(block, "core id"));
    }
    let lines = blocks.iter().flat_map(|block| {
        let package = &packages[&small::value_of(block, "physical id")];
        block.split_inclusive('\n').map(|line| rewritten(line, package))
    });
    lines.collect()
}

/// Arm computers end with a block that describes the whole.
fn is_kept(block: &str, cpus: &CpuSet) -> bool {
    let number = small::value_of(block, "processor").and_then(|number| number.parse().ok());
    number.is_none_or(|cpu| cpus.contains(cpu))
}

fn rewritten(line: &str, package: &PackageCount) -> String {
    let Some((key, _)) = line.split_once(':') else { return line.to_owned() };
    match key.trim_end() {
        "siblings" => format!("{key}: {}\n", package.cpus),
        "cpu cores" => format!("{key}: {}\n", package.cores.len()),
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(cpu: u32, package: u32, core: u32) -> String {
        format!(
            "processor\t: {cpu}\ncpu MHz\t\t: 2{cpu}00.0\nphysical id\t: {package}\n\
             siblings\t: 4\ncore id\t\t: {core}\ncpu cores\t: 2\nflags\t\t: fpu\n\n"
        )
    }

    #[test]
    fn blocks_keep_their_ids_and_count_their_package() {
        let host: String =
            (0..8).map(|cpu| block(cpu, cpu / 4, cpu % 2)).collect::<Vec<_>>().concat();
        let text = of_cpus(&host, &[1, 3, 6].into_iter().collect());
        let first = "processor\t: 1\ncpu MHz\t\t: 2100.0\nphysical id\t: 0\nsiblings\t: 2\n\
                     core id\t\t: 1\ncpu cores\t: 1\nflags\t\t: fpu\n\n";
        assert!(text.starts_with(first), "{text}");
        let last = "processor\t: 6\ncpu MHz\t\t: 2600.0\nphysical id\t: 1\nsiblings\t: 1\n\
                    core id\t\t: 0\ncpu cores\t: 1\nflags\t\t: fpu\n\n";
        assert!(text.ends_with(last), "{text}");
        assert_eq!(text.matches("processor").count(), 3);
    }

    #[test]
    fn both_threads_of_two_cores_are_four_siblings_on_two_cores() {
        let host: String = (0..4).map(|cpu| block(cpu, 0, cpu % 2)).collect::<Vec<_>>().concat();
        let all = (0..4).collect();
        assert_eq!(of_cpus(&host, &all), host);
    }

    #[test]
    fn text_without_packages_keeps_its_other_blocks() {
        let host = "processor\t: 0\nBogoMIPS\t: 50\n\nprocessor\t: 1\nBogoMIPS\t: 50\n\n\
                    Hardware\t: board\n";
        let one = "processor\t: 1\nBogoMIPS\t: 50\n\nHardware\t: board\n";
        assert_eq!(of_cpus(host, &CpuSet::single(1)), one);
    }
}

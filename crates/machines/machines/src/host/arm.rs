//! The names of Arm's processors, because `/proc/cpuinfo` only has the numbers of implementer and
//! part.

/// Implementer, part and name, with Linux's names (`arch/arm64/include/asm/cputype.h`). The part
/// `-` is the implementer, by the number of `MIDR_EL1`, bits 24 to 31 (Arm ARM, D19.2.117).
const NAMES: &str = include_str!("arm.txt");

const AND: &str = " + ";

/// The kinds of cores in `/proc/cpuinfo`, by name, so the order of CPUs does not matter; `None`
/// without Arm's numbers.
pub fn model(cpuinfo: &str) -> Option<String> {
    let mut kinds = Vec::new();
    let mut implementer = None;
    for line in cpuinfo.lines() {
        let Some((key, value)) = line.split_once(':') else { continue };
        match (key.trim(), implementer) {
            ("CPU implementer", _) => implementer = Some(value.trim()),
            ("CPU part", Some(implementer)) => kinds.push(kind(implementer, value.trim())),
            _ => {}
        }
    }
    kinds.sort();
    kinds.dedup();
    (!kinds.is_empty()).then(|| kinds.join(AND))
}

fn kind(implementer: &str, part: &str) -> String {
    match (name(implementer, "-"), name(implementer, part)) {
        (Some(maker), Some(name)) => format!("{maker} {name}"),
        (Some(maker), None) => format!("{maker} part {part}"),
        _ => format!("Arm implementer {implementer} part {part}"),
    }
}

fn name(implementer: &str, part: &str) -> Option<&'static str> {
    let numbers = format!("{implementer} {part} ");
    NAMES.lines().find_map(|line| line.strip_prefix(&numbers))
}

/// Whether one of two models can be the other with all cores of a kind offline.
pub fn is_part_of_other(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(|model| model.split(AND).collect::<Vec<_>>());
    one.iter().all(|kind| other.contains(kind)) || other.iter().all(|kind| one.contains(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(implementer: &str, part: &str) -> String {
        format!("processor\t: 0\nCPU implementer\t: {implementer}\nCPU part\t: {part}\n\n")
    }

    #[test]
    fn processor_is_named_after_its_core_types() {
        assert_eq!(model(&block("0x41", "0xd40")).unwrap(), "Arm Neoverse-V1");
        let both = block("0x41", "0xd0b").repeat(2) + &block("0x41", "0xd05").repeat(4);
        assert_eq!(model(&both).unwrap(), "Arm Cortex-A55 + Arm Cortex-A76");
        assert_eq!(model(&block("0x41", "0xfff")).unwrap(), "Arm part 0xfff");
        assert_eq!(model(&block("0x99", "0x1")).unwrap(), "Arm implementer 0x99 part 0x1");
        assert_eq!(model("model name : x"), None);
        assert_eq!(model("CPU part : 0xd40"), None, "a part of nobody");
    }

    #[test]
    fn partial_core_types_match_the_same_processor() {
        let both = "Arm Cortex-A55 + Arm Cortex-A76";
        assert!(is_part_of_other(both, "Arm Cortex-A76"));
        assert!(is_part_of_other("Arm Cortex-A55", both));
        assert!(!is_part_of_other(both, "Arm Cortex-A55 + Arm Cortex-X1"));
        assert!(!is_part_of_other("Xeon A", "Xeon B"));
    }

    #[test]
    fn every_part_has_an_implementer_and_one_name() {
        let mut met = std::collections::HashSet::new();
        for line in NAMES.lines() {
            let [implementer, part, _] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else {
                panic!("{line}: it has no name")
            };
            assert!(name(implementer, "-").is_some(), "{line}");
            assert!(met.insert((implementer, part)), "{line}: it has another name");
        }
        assert_eq!(met.len(), 50);
    }
}

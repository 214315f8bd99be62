//! The names of Arm's processors, because `/proc/cpuinfo` only has the numbers of implementer and
//! part.

/// Implementers by the number of `MIDR_EL1`, bits 24 to 31 (Arm ARM, D19.2.117).
const IMPLEMENTERS: [(&str, &str); 9] = [
    ("0x41", "Arm"),
    ("0x42", "Broadcom"),
    ("0x43", "Cavium"),
    ("0x46", "Fujitsu"),
    ("0x48", "HiSilicon"),
    ("0x4e", "NVIDIA"),
    ("0x51", "Qualcomm"),
    ("0x61", "Apple"),
    ("0xc0", "Ampere"),
];

/// Parts by implementer and number, with Linux's names (`arch/arm64/include/asm/cputype.h`).
const PARTS: [(&str, &str, &str); 41] = [
    ("0x41", "0xd03", "Cortex-A53"),
    ("0x41", "0xd04", "Cortex-A35"),
    ("0x41", "0xd05", "Cortex-A55"),
    ("0x41", "0xd07", "Cortex-A57"),
    ("0x41", "0xd08", "Cortex-A72"),
    ("0x41", "0xd09", "Cortex-A73"),
    ("0x41", "0xd0a", "Cortex-A75"),
    ("0x41", "0xd0b", "Cortex-A76"),
    ("0x41", "0xd0c", "Neoverse-N1"),
    ("0x41", "0xd0d", "Cortex-A77"),
    ("0x41", "0xd0e", "Cortex-A76AE"),
    ("0x41", "0xd40", "Neoverse-V1"),
    ("0x41", "0xd41", "Cortex-A78"),
    ("0x41", "0xd42", "Cortex-A78AE"),
    ("0x41", "0xd44", "Cortex-X1"),
    ("0x41", "0xd46", "Cortex-A510"),
    ("0x41", "0xd47", "Cortex-A710"),
    ("0x41", "0xd48", "Cortex-X2"),
    ("0x41", "0xd49", "Neoverse-N2"),
    ("0x41", "0xd4b", "Cortex-A78C"),
    ("0x41", "0xd4c", "Cortex-X1C"),
    ("0x41", "0xd4d", "Cortex-A715"),
    ("0x41", "0xd4e", "Cortex-X3"),
    ("0x41", "0xd4f", "Neoverse-V2"),
    ("0x41", "0xd80", "Cortex-A520"),
    ("0x41", "0xd81", "Cortex-A720"),
    ("0x41", "0xd82", "Cortex-X4"),
    ("0x41", "0xd84", "Neoverse-V3"),
    ("0x41", "0xd85", "Cortex-X925"),
    ("0x41", "0xd87", "Cortex-A725"),
    ("0x41", "0xd8e", "Neoverse-N3"),
    ("0x42", "0x516", "ThunderX2"),
    ("0x43", "0x0a1", "ThunderX"),
    ("0x43", "0x0af", "ThunderX2"),
    ("0x46", "0x001", "A64FX"),
    ("0x48", "0xd01", "TaiShan v110"),
    ("0x4e", "0x004", "Carmel"),
    ("0x51", "0x001", "Oryon"),
    ("0x51", "0xc00", "Falkor"),
    ("0xc0", "0xac3", "Ampere-1"),
    ("0xc0", "0xac4", "Ampere-1A"),
];

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
    let maker = IMPLEMENTERS.iter().find(|(number, _)| *number == implementer);
    let known = PARTS.iter().find(|known| (known.0, known.1) == (implementer, part));
    match (maker, known) {
        (Some((_, maker)), Some((_, _, name))) => format!("{maker} {name}"),
        (Some((_, maker)), None) => format!("{maker} part {part}"),
        _ => format!("Arm implementer {implementer} part {part}"),
    }
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
        for (at, part) in PARTS.iter().enumerate() {
            assert!(IMPLEMENTERS.iter().any(|(number, _)| *number == part.0), "{part:?}");
            assert!(PARTS[..at].iter().all(|other| (other.0, other.1) != (part.0, part.1)));
        }
    }
}

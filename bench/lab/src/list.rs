//! Lists of CPUs and masks, as written by the kernel and hwloc.

use crate::error::LabError;
use std::collections::BTreeSet;

pub type CpuNumbers = BTreeSet<u32>;

/// Reads `0-3,8`, in its order; nothing for an empty text.
///
/// # Errors
/// [`LabError::CpuList`] if the list is invalid.
pub fn parse(text: &str) -> Result<Vec<u32>, LabError> {
    let text = text.trim();
    let mut cpus = Vec::new();
    for range in text.split(',').filter(|range| !range.is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let first: Result<u32, _> = first.parse();
        let last: Result<u32, _> = last.parse();
        let (Ok(first), Ok(last)) = (first, last) else {
            return Err(LabError::CpuList(text.to_owned()));
        };
        cpus.extend(first..=last);
    }
    Ok(cpus)
}

/// Reads all lists in `CPUs 3,10-11 are offline`.
pub fn parse_words(sentence: &str) -> CpuNumbers {
    let words = sentence.split(|letter: char| !(letter.is_ascii_digit() || ",-".contains(letter)));
    words.filter_map(|word| parse(word.trim_matches([',', '-'])).ok()).flatten().collect()
}

/// Empty if the file is missing.
pub fn read(path: &str) -> CpuNumbers {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    parse(&text).unwrap_or_default().into_iter().collect()
}

pub fn show<'a>(cpus: impl IntoIterator<Item = &'a u32>) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for cpu in cpus {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *cpu => *last = *cpu,
            _ => ranges.push((*cpu, *cpu)),
        }
    }
    let words = ranges.into_iter().map(|(first, last)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    });
    words.collect::<Vec<_>>().join(",")
}

/// hwloc's format: `0x00000001,0x80000000`, the highest 32 first.
pub fn mask(text: &str) -> CpuNumbers {
    let mut cpus = CpuNumbers::new();
    for (at, word) in text.rsplit(',').enumerate() {
        let digits = word.trim().trim_start_matches("0x");
        let bits = u32::from_str_radix(digits, 16).unwrap_or_default();
        let at = u32::try_from(at).unwrap_or_default();
        cpus.extend((0..32).filter(|bit| bits >> bit & 1 == 1).map(|bit| at * 32 + bit));
    }
    cpus
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_masks_name_the_same_cpus() {
        assert_eq!(parse("0-2,8\n").unwrap(), [0, 1, 2, 8]);
        assert!(parse("0-x").is_err() && parse("").unwrap().is_empty());
        assert_eq!(show(&CpuNumbers::from([0, 1, 2, 8])), "0-2,8");
        assert_eq!(mask("0x00000001,0x80000003"), CpuNumbers::from([0, 1, 31, 32]));
        assert_eq!(mask("0xf...f"), CpuNumbers::new());
    }
}

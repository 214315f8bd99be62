//! CPU lists in the kernel's format: `0-3,8,10-14:2`.

use std::fmt;
use std::str::FromStr;

/// Largest accepted OS index; `NR_CPUS` is at most 8192 on x86-64 so far.
pub const MAX_CPU: u32 = 1 << 20;

/// One per CPU. Repeated `0-1048576` in a kilobyte would otherwise take hundreds of megabytes.
const MOST_ENTRIES: usize = MAX_CPU as usize + 1;

/// A list of OS indices, in the given order and with repetitions.
///
/// Ranges (`4-7`), strides (`0-14:2`) and numbers, separated by commas, as in cpuset(7). PUs to
/// measure must be distinct ([`CpuList::distinct`]), seats need not.
#[derive(Default, Clone, Debug, PartialEq, Eq)]
pub struct CpuList(pub Vec<u32>);

/// Why a CPU list is invalid: the column in bytes, from 1, the mistake, and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CpuListError(String);

impl CpuList {
    /// The list, if its CPUs are distinct.
    ///
    /// # Errors
    /// [`CpuListError`] with the first repeated CPU.
    pub fn distinct(self) -> Result<Self, CpuListError> {
        let mut seen = std::collections::HashSet::new();
        match self.0.iter().find(|cpu| !seen.insert(**cpu)) {
            Some(cpu) => Err(CpuListError(format!("CPU {cpu} is in the list twice"))),
            None => Ok(self),
        }
    }
}

impl FromStr for CpuList {
    type Err = CpuListError;

    fn from_str(text: &str) -> Result<Self, CpuListError> {
        let mut cpus = Vec::new();
        let mut column = 1;
        for member in text.split(',') {
            parse_member(member, &mut cpus)
                .map_err(|problem| CpuListError(format!("column {column}: {problem}")))?;
            column += member.len() + 1;
        }
        Ok(CpuList(cpus))
    }
}

fn parse_member(member: &str, cpus: &mut Vec<u32>) -> Result<(), String> {
    let (range, stride) =
        member.split_once(':').map_or((member, "1"), |(range, stride)| (range, stride));
    let (first, last) = match range.split_once('-') {
        Some(ends) => ends,
        // OpenMP's `0:4` would be four CPUs.
        None if range != member => {
            return Err(format!(
                "a step follows a range, as in 0-6:2, but '{}' is one CPU",
                range.trim()
            ));
        }
        None => (range, range),
    };
    let first = parse_number(first)?;
    let last = parse_number(last)?;
    let stride = parse_number(stride)?;
    if stride == 0 {
        return Err(format!("the step of '{}' is 0", member.trim()));
    }
    if last < first {
        return Err(format!("the range '{}' is empty", member.trim()));
    }
    let room = MOST_ENTRIES - cpus.len();
    cpus.extend((first..=last).step_by(stride as usize).take(room + 1));
    if cpus.len() > MOST_ENTRIES {
        return Err(format!("the list names more than {MOST_ENTRIES} CPUs"));
    }
    Ok(())
}

fn parse_number(text: &str) -> Result<u32, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("a CPU number is missing; write a list such as 0-3,8".to_owned());
    }
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("'{text}' is not a CPU number; write a list such as 0-3,8"));
    }
    match text.parse() {
        Ok(number) if number <= MAX_CPU => Ok(number),
        _ => Err(format!("CPU {text} is beyond the largest index that Seatmap accepts, {MAX_CPU}")),
    }
}

impl CpuList {
    /// The list for a sentence: `CPU 3`, `CPUs 0-2,8`.
    pub fn named(&self) -> String {
        let noun = if self.0.len() == 1 { "CPU" } else { "CPUs" };
        format!("{noun} {self}")
    }
}

/// Like [`CpuList::named`], for a list in text.
pub fn named(list: &str) -> String {
    list.parse::<CpuList>().map_or_else(|_| format!("CPUs {list}"), |cpus| cpus.named())
}

impl fmt::Display for CpuList {
    /// Writes three or more consecutive CPUs as a range.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.as_slice();
        let mut separator = "";
        while let Some(&first) = rest.first() {
            // 64 bits: an unparsed list may hold any number.
            let expected = u64::from(first)..;
            let run = rest
                .iter()
                .zip(expected)
                .take_while(|(cpu, expected)| u64::from(**cpu) == *expected)
                .count();
            let taken = if run >= 3 { run } else { 1 };
            if run >= 3 {
                write!(out, "{separator}{first}-{}", u64::from(first) + run as u64 - 1)?
            } else {
                write!(out, "{separator}{first}")?
            }
            separator = ",";
            rest = &rest[taken..];
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<Vec<u32>, CpuListError> {
        text.parse::<CpuList>().map(|list| list.0)
    }

    #[test]
    fn largest_numbers_are_printed() {
        assert_eq!(CpuList(vec![u32::MAX]).to_string(), "4294967295");
        let last = (u32::MAX - 2..=u32::MAX).collect();
        assert_eq!(CpuList(last).to_string(), "4294967293-4294967295");
    }

    #[test]
    fn parser_reads_ranges_strides_and_order() {
        assert_eq!(parse("0-3,8").unwrap(), [0, 1, 2, 3, 8]);
        assert_eq!(parse("8, 0-6:3").unwrap(), [8, 0, 3, 6]);
        assert_eq!(parse("0,0").unwrap(), [0, 0]);
    }

    #[test]
    fn parse_errors_name_the_column() {
        let refusal = |text: &str| parse(text).unwrap_err().to_string();
        let missing = "a CPU number is missing; write a list such as 0-3,8";
        assert_eq!(refusal("0,"), format!("column 3: {missing}"));
        assert_eq!(refusal("-1"), format!("column 1: {missing}"));
        assert_eq!(
            refusal("0,x1"),
            "column 3: 'x1' is not a CPU number; write a list such as 0-3,8"
        );
        assert_eq!(refusal("1,7-3"), "column 3: the range '7-3' is empty");
        assert_eq!(refusal("0-4:0"), "column 1: the step of '0-4:0' is 0");
        let step = "column 1: a step follows a range, as in 0-6:2, but '0' is one CPU";
        assert_eq!(refusal("0:4"), step);
        for text in ["99999999999999", "0-4294967295"] {
            assert!(refusal(text).ends_with("the largest index that Seatmap accepts, 1048576"));
        }
    }

    #[test]
    fn short_text_cannot_use_much_memory() {
        let whole = format!("0-{MAX_CPU}");
        assert_eq!(parse(&whole).map(|cpus| cpus.len()), Ok(MOST_ENTRIES));
        let twice = format!("{whole},{whole}");
        let refusal = parse(&twice).unwrap_err().to_string();
        assert_eq!(refusal, "column 11: the list names more than 1048577 CPUs");
    }

    #[test]
    fn distinct_reports_the_first_repetition() {
        let refusal = CpuList(vec![4, 2, 4]).distinct().unwrap_err().to_string();
        assert_eq!(refusal, "CPU 4 is in the list twice");
    }

    #[test]
    fn singular_or_plural_follows_the_cpu_count() {
        let named = [vec![3], vec![0, 1, 2], vec![]].map(|cpus| CpuList(cpus).named());
        assert_eq!(named, ["CPU 3", "CPUs 0-2", "CPUs "]);
    }

    proptest! {
        #[test]
        fn round_trip_keeps_list(cpus in prop::collection::vec(0u32..2000, 1..60)) {
            let list = CpuList(cpus);
            prop_assert_eq!(list.to_string().parse::<CpuList>().unwrap(), list);
        }

        #[test]
        fn parser_survives_any_text(text in "[0-9,:x -]{0,24}") {
            let _ = text.parse::<CpuList>();
        }
    }
}

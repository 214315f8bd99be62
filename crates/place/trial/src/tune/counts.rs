//! A program's setting for its number of threads, and the numbers that race.
//!
//! | written | runs the program |
//! |---|---|
//! | `OMP_NUM_THREADS=1..8` | with this variable set to each number |
//! | `-t {}=1,2,4,8` | with this option, in place of `{}` in the command or after its first word |
//! | `OMP_NUM_THREADS` | with each number up to twice what fits, at most one above the CPUs |
//!
//! The default is the command without the variable or option.

use crate::tune::program_race::placeholders::{holds, replaced};
use seatmap_data::document::whole_number;
use seatmap_launch::count::CpuCount;
use std::ffi::OsString;
use std::fmt;
use std::str::FromStr;

/// The place of the number in an option, and of the option in a command.
const PLACE: &str = "{}";

/// Beyond, a mistyped number is likelier.
const MOST: u32 = 4096;

/// A setting for a number of threads, and the numbers to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountAxis {
    /// A variable, or an option with `{}` in place of the number.
    pub setting: String,
    /// The numbers, ascending; empty for the usual ones.
    pub counts: Vec<u32>,
}

impl CountAxis {
    fn is_option(&self) -> bool {
        self.setting.contains(PLACE)
    }

    /// With the usual numbers for this many CPUs, unless it has numbers. A count above the CPUs
    /// shows what too many threads cost.
    pub fn or_usual(self, cpus: usize, limits: &CpuCount) -> Self {
        if !self.counts.is_empty() {
            return self;
        }
        let most = (2 * limits.threads_on(cpus)).min(cpus + 1).max(2);
        CountAxis { counts: (1..=most as u32).collect(), ..self }
    }

    /// The setting with a number: `OMP_NUM_THREADS=4`, `-t 4`.
    pub fn with(&self, count: u32) -> String {
        if self.is_option() {
            self.setting.replace(PLACE, &count.to_string())
        } else {
            format!("{}={count}", self.setting)
        }
    }

    /// The name and value of the variable, unless the setting is an option.
    pub fn variable(&self, count: u32) -> Option<(String, String)> {
        (!self.is_option()).then(|| (self.setting.clone(), count.to_string()))
    }

    /// The command with the option for `count` threads, or without the option if that is `None`.
    pub fn command(&self, command: &[OsString], count: Option<u32>) -> Vec<OsString> {
        if !self.is_option() {
            return command.to_vec();
        }
        let option = count.map_or_else(String::new, |count| self.with(count));
        let words: Vec<OsString> = option.split_whitespace().map(OsString::from).collect();
        if holds(command, PLACE) {
            return replaced(command, PLACE, &words, &option);
        }
        let (program, arguments) = command.split_at(command.len().min(1));
        [program, &words, arguments].concat()
    }
}

impl fmt::Display for CountAxis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.setting.trim_end_matches(PLACE).trim_end_matches([' ', '=']))
    }
}

impl FromStr for CountAxis {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (setting, counts) = match text.rsplit_once('=') {
            Some((setting, counts)) if begins_with_digit(counts) => (setting, listed(counts)?),
            _ => (text, Vec::new()),
        };
        if setting.trim() == PLACE {
            return Err(format!(
                "'{text}': write the option's name too, such as '-t {{}}=1..8', so that the \
                 command without it can race as the default"
            ));
        }
        let axis = CountAxis { setting: setting.to_owned(), counts };
        if axis.is_option() || is_variable(setting) {
            Ok(axis)
        } else {
            Err(format!(
                "'{text}': expected a variable or an option with {{}} for the number, and the \
                 numbers, such as OMP_NUM_THREADS=1..8 or '-t {{}}=1,2,4,8'"
            ))
        }
    }
}

fn begins_with_digit(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit())
}

/// POSIX names of variables: letters, digits and underscores, but no digit first.
fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && !begins_with_digit(name)
        && name.bytes().all(|letter| letter.is_ascii_alphanumeric() || letter == b'_')
}

fn listed(text: &str) -> Result<Vec<u32>, String> {
    let mut counts: Vec<u32> = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once("..").unwrap_or((part, part));
        let ends = [first, last].map(|end| whole_number::<u32>(end.trim()));
        match ends {
            [Some(first), Some(last)] if 1 <= first && first <= last && last <= MOST => {
                counts.extend(first..=last);
            }
            _ => {
                return Err(format!(
                    "'{text}': expected numbers from 1 to {MOST}, such as 1..8 or 1,2,4,8"
                ));
            }
        }
    }
    counts.sort_unstable();
    counts.dedup();
    if counts.len() < 2 {
        return Err(format!("'{text}' is one number; a race needs two"));
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::trial::texts;
    use proptest::prelude::*;

    fn axis(text: &str) -> CountAxis {
        text.parse().unwrap()
    }

    #[test]
    fn numbers_are_ranges_and_lists() {
        let counts = |text: &str| axis(text).counts;
        assert_eq!(counts("OMP_NUM_THREADS=1..4"), [1, 2, 3, 4]);
        assert_eq!(counts("N=8,1..2,2"), [1, 2, 8]);
        assert_eq!(counts("--threads={}=2,4"), [2, 4]);
        assert_eq!(axis("--threads={}").setting, "--threads={}");
        assert!(counts("GOMAXPROCS").is_empty());
    }

    #[test]
    fn usual_numbers_end_above_the_cpus_or_at_twice_the_quota() {
        let usual = |cpus, quota| {
            let limits = CpuCount { mask: cpus, quota, ..CpuCount::default() };
            axis("N").or_usual(cpus, &limits).counts.len()
        };
        assert_eq!([usual(1, None), usual(2, None), usual(8, None)], [2, 3, 9]);
        assert_eq!([usual(8, Some(2.0)), usual(8, Some(0.5))], [4, 2]);
        let limits = CpuCount::default();
        assert_eq!(axis("N=3,5").or_usual(64, &limits).counts, [3, 5]);
    }

    #[test]
    fn wrong_settings_and_numbers_are_refused() {
        for (text, error) in [
            ("{}=1..8", "'{}=1..8': write the option's name too"),
            ("", "'': expected a variable"),
            ("-t=1..8", "'-t=1..8': expected a variable"),
            ("N=a", "'N=a': expected a variable"),
            ("N=0..4", "'0..4': expected numbers"),
            ("N=4..2", "'4..2': expected numbers"),
            ("N=1-8", "'1-8': expected numbers"),
            ("N=1..5000", "'1..5000': expected numbers"),
            ("N=4", "'4' is one number"),
        ] {
            let refused = text.parse::<CountAxis>().unwrap_err();
            assert!(refused.starts_with(error), "{text}: {refused}");
        }
    }

    #[test]
    fn option_takes_its_place_or_follows_the_program() {
        let line = |setting: &str, command: &str, count| {
            let words: Vec<OsString> = command.split(' ').map(OsString::from).collect();
            texts(&axis(setting).command(&words, count)).join(" ")
        };
        assert_eq!(line("-t {}", "llama-cli -m x", Some(4)), "llama-cli -t 4 -m x");
        assert_eq!(line("-t {}", "llama-cli -m x", None), "llama-cli -m x");
        assert_eq!(line("-T{}", "xz {} -k x", Some(2)), "xz -T2 -k x");
        assert_eq!(line("-T{}", "xz {} -k x", None), "xz -k x");
        assert_eq!(line("-j {}", "sh -c make_{}_all", Some(3)), "sh -c make_-j 3_all");
        assert_eq!(line("N", "prog {}", Some(3)), "prog {}");
        assert_eq!(axis("N").variable(3), Some(("N".to_owned(), "3".to_owned())));
        assert_eq!(axis("-j{}").variable(3), None);
        assert_eq!(
            ["-t {}", "--threads={}", "N"].map(|text| axis(text).to_string()),
            ["-t", "--threads", "N"]
        );
    }

    proptest! {
        #[test]
        fn arbitrary_setting_never_panics(text in "[A-Z_{}=0-9., -]{0,20}") {
            let _ = text.parse::<CountAxis>();
        }
    }
}

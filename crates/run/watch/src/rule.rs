//! The rules that a user can name: `one-per-cpu`, `kind=performance`, `spread=numa`.

use seatmap_data::machine::catalog::edits;
use seatmap_data::machine::{CoreKind, Level};
use seatmap_os::CpuSet;
use std::fmt;
use std::str::FromStr;

/// The parts of a machine that rules name, from the smallest.
const LEVELS: [Level; 4] = [Level::Core, Level::L3, Level::Numa, Level::Package];

/// A rule that a user names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The default rules.
    Default,
    /// Each bound or busy thread has its own CPU.
    OnePerCpu,
    /// Each bound or busy thread has its own core.
    OnePerCore,
    /// Memory is on the threads' nodes.
    MemoryLocal,
    /// The threads are near their open accelerators and network cards.
    DeviceNear,
    /// No device interrupts arrive at the seats.
    NoIrq,
    /// No other programs' threads run on the seats.
    NoStrangers,
    /// The threads are on cores of this kind.
    Kind(CoreKind),
    /// The threads are on these CPUs.
    On {
        /// Words or a list: `kind:performance/no-smt`, `l3:0`, `0-3`.
        words: String,
        /// Their CPUs on the machine ([`Rule::on_machine`]).
        cpus: CpuSet,
    },
    /// A process's threads are in one part.
    Same(Level),
    /// A process's threads are evenly divided over the parts.
    Spread(Level),
}

/// Why a rule is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no rule '{text}'; {}", hint(.nearest.as_deref()))]
pub struct UnknownRule {
    /// The text.
    pub text: String,
    /// A similar rule.
    pub nearest: Option<String>,
}

fn hint(nearest: Option<&str>) -> String {
    match nearest {
        Some(nearest) => format!("did you mean '{nearest}'?"),
        None => format!("expected one of: {}, on=WORDS", Rule::words().join(", ")),
    }
}

impl Rule {
    /// Every rule without an argument.
    pub fn all() -> Vec<Rule> {
        use Rule::{
            Default, DeviceNear, Kind, MemoryLocal, NoIrq, NoStrangers, OnePerCore, OnePerCpu,
            Same, Spread,
        };
        let plain = [Default, OnePerCpu, OnePerCore, MemoryLocal, DeviceNear, NoIrq, NoStrangers];
        let kinds = CoreKind::ALL.map(Kind);
        plain.into_iter().chain(kinds).chain(LEVELS.map(Same)).chain(LEVELS.map(Spread)).collect()
    }

    /// The rule on a machine, whose CPUs `cpus_of` finds for words.
    ///
    /// # Errors
    /// Those of `cpus_of`.
    pub fn on_machine<E>(self, cpus_of: impl Fn(&str) -> Result<CpuSet, E>) -> Result<Self, E> {
        match self {
            Rule::On { words, .. } => Ok(Rule::On { cpus: cpus_of(&words)?, words }),
            rule => Ok(rule),
        }
    }

    /// Every rule without an argument, as typed.
    pub fn words() -> Vec<String> {
        Rule::all().iter().map(ToString::to_string).collect()
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Rule::Default => out.write_str("default"),
            Rule::OnePerCpu => out.write_str("one-per-cpu"),
            Rule::OnePerCore => out.write_str("one-per-core"),
            Rule::MemoryLocal => out.write_str("memory-local"),
            Rule::DeviceNear => out.write_str("device-near"),
            Rule::NoIrq => out.write_str("no-irq"),
            Rule::NoStrangers => out.write_str("no-strangers"),
            Rule::Kind(kind) => write!(out, "kind={}", kind.word()),
            Rule::On { words, .. } => write!(out, "on={words}"),
            Rule::Same(level) => write!(out, "same-{}", level.name()),
            Rule::Spread(level) => write!(out, "spread={}", level.name()),
        }
    }
}

impl FromStr for Rule {
    type Err = UnknownRule;

    /// An `on=` rule has no CPUs before [`Rule::on_machine`].
    fn from_str(text: &str) -> Result<Self, UnknownRule> {
        if let Some(words) = text.trim().strip_prefix("on=").filter(|words| !words.is_empty()) {
            return Ok(Rule::On { words: words.to_owned(), cpus: CpuSet::default() });
        }
        let typed = with_own_word(&text.trim().to_lowercase());
        let found = Rule::all().into_iter().find(|rule| rule.to_string() == typed);
        found.ok_or_else(|| UnknownRule { text: text.to_owned(), nearest: nearest(&typed) })
    }
}

/// `spread=node` becomes `spread=numa`.
fn with_own_word(typed: &str) -> String {
    let part = ["same-", "spread="]
        .into_iter()
        .find_map(|begin| Some((begin, Level::named(typed.strip_prefix(begin)?)?)));
    part.map_or_else(|| typed.to_owned(), |(begin, level)| format!("{begin}{}", level.name()))
}

/// With at most a third of the letters changed.
fn nearest(typed: &str) -> Option<String> {
    let words = Rule::words();
    let longest = words.iter().map(String::len).max().unwrap_or(0);
    if typed.is_empty() || typed.len() > 2 * longest {
        return None;
    }
    let begun = words.iter().find(|word| word.starts_with(typed)).cloned();
    begun.or_else(|| {
        let nearest = words.iter().min_by_key(|word| edits(typed, word))?;
        (3 * edits(typed, nearest) <= nearest.len()).then(|| nearest.clone())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_rule_round_trips_through_text() {
        for rule in Rule::all() {
            assert_eq!(rule.to_string().parse(), Ok(rule));
        }
        assert_eq!(" One-Per-CPU ".parse(), Ok(Rule::OnePerCpu));
        let rule = "on=near:Card0".parse::<Rule>().unwrap();
        let cpus = CpuSet::single(3);
        let known = rule.on_machine(|words| {
            Ok::<_, String>(if words == "near:Card0" { cpus.clone() } else { CpuSet::default() })
        });
        let expected = Rule::On { words: "near:Card0".to_owned(), cpus };
        assert_eq!((expected.to_string().as_str(), known), ("on=near:Card0", Ok(expected)));
        assert!("on=".parse::<Rule>().is_err());
    }

    #[test]
    fn mistyped_rule_gets_nearest_suggestion() {
        let refusal = |text: &str| text.parse::<Rule>().unwrap_err().to_string();
        assert_eq!(
            refusal("one-per-cup"),
            "there is no rule 'one-per-cup'; did you mean 'one-per-cpu'?"
        );
        assert_eq!(
            refusal("kind=perf"),
            "there is no rule 'kind=perf'; did you mean 'kind=performance'?"
        );
        assert_eq!("spread=node".parse(), Ok(Rule::Spread(Level::Numa)));
        assert_eq!("same-socket".parse(), Ok(Rule::Same(Level::Package)));
        assert!(
            refusal("quiet")
                .starts_with("there is no rule 'quiet'; expected one of: default, one-per-cpu, ")
        );
        assert!(refusal("").contains("expected one of: "));
    }

    proptest! {
        #[test]
        fn arbitrary_rule_text_never_panics(text in "\\PC{0,40}") {
            let _ = text.parse::<Rule>();
        }
    }
}

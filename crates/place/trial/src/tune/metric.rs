//! The figure that is read from a run of a command.

use regex_lite::{Regex, RegexBuilder};
use seatmap_data::document::printed_number;
use seatmap_os::counter::CounterEvent;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Whether a smaller or a larger reading is the better one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Smaller is better, as with time.
    Lower,
    /// Larger is better, as with requests a second.
    Higher,
}

impl Better {
    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Better::Lower => "lower",
            Better::Higher => "higher",
        }
    }
}

/// The figure that is read from a run.
#[derive(Clone, Debug)]
pub enum Metric {
    /// The time from the start of the command to its end, in seconds.
    Time,
    /// The CPU time of the command and of all that it starts and waits for, in seconds. Neighbours
    /// who take turns on its CPUs do not lengthen it.
    CpuTime,
    /// The number in the first group of a regular expression, where it matches last in what the
    /// command prints.
    Printed(Regex),
    /// The number that another command prints afterwards.
    Command(String),
    /// An event that the kernel or the processor counts over the command and all that it starts;
    /// clocks in ns.
    Counted(CounterEvent),
}

/// Why a text names no metric.
#[derive(Debug, thiserror::Error)]
pub enum MetricError {
    /// None of the words.
    #[error(
        "metric {0:?} is not known; give 'time', 'cpu', 'regex:PATTERN', 'command:SHELL COMMAND' \
         or 'perf:EVENT'"
    )]
    Unknown(String),
    /// The regular expression cannot be read.
    #[error("metric {text:?}: the pattern cannot be read")]
    Pattern {
        /// The pattern.
        text: String,
        /// The mistake in it.
        #[source]
        source: regex_lite::Error,
    },
    /// The regular expression says nowhere where the number is.
    #[error(
        "metric {0:?}: the pattern has no group; put parentheses around the number, such as 'took \
         ([0-9.]+) ms'"
    )]
    NoGroup(String),
    /// No such event.
    #[error(
        "metric 'perf:{0}': there is no such event; known are {names}, and r and a hexadecimal \
         number",
        names = CounterEvent::names().collect::<Vec<_>>().join(", ")
    )]
    Event(String),
    /// Nothing to run.
    #[error("metric 'command:' has no command")]
    NoCommand,
}

impl Metric {
    /// The better readings: as the user says, or as everybody knows of times and events. `None`
    /// where nobody knows.
    #[must_use]
    pub fn better(&self, said: Option<Better>) -> Option<Better> {
        said.or(match self {
            Metric::Time | Metric::CpuTime | Metric::Counted(_) => Some(Better::Lower),
            Metric::Printed(_) | Metric::Command(_) => None,
        })
    }

    /// Reads a metric as it is typed: `time`, `cpu`, `regex:PATTERN`, `command:SHELL COMMAND`,
    /// `perf:EVENT`.
    ///
    /// # Errors
    /// [`MetricError`] with what is wrong and what there is.
    pub fn parse(text: &str) -> Result<Self, MetricError> {
        match text.split_once(':') {
            None if text == "time" => Ok(Metric::Time),
            None if text == "cpu" => Ok(Metric::CpuTime),
            Some(("regex", pattern)) => printed(pattern),
            Some(("command", "")) => Err(MetricError::NoCommand),
            Some(("command", command)) => Ok(Metric::Command(command.to_owned())),
            Some(("perf", event)) => CounterEvent::named(event)
                .map(Metric::Counted)
                .ok_or_else(|| MetricError::Event(event.to_owned())),
            _ => Err(MetricError::Unknown(text.to_owned())),
        }
    }

    /// Whether a command of its own reads it, which takes time after each run.
    #[must_use]
    pub fn has_command(&self) -> bool {
        matches!(self, Metric::Command(_))
    }

    /// The unit of the readings; empty where only the user knows it.
    #[must_use]
    pub fn unit(&self) -> &'static str {
        match self {
            Metric::Time | Metric::CpuTime => "s",
            _ => "",
        }
    }

    /// The number where the pattern matches last in some text. An earlier match does not count
    /// instead where no number stands there: it would be another reading.
    #[must_use]
    pub fn last_number(pattern: &Regex, text: &str) -> Option<f64> {
        let places = pattern.captures_iter(text).filter_map(|groups| groups.get(1));
        places.last().and_then(|place| printed_number(place.as_str()))
    }
}

fn printed(pattern: &str) -> Result<Metric, MetricError> {
    // Programs print lines, so that ^ and $ are those of a line.
    let built = RegexBuilder::new(pattern).multi_line(true).build();
    let regex =
        built.map_err(|source| MetricError::Pattern { text: pattern.to_owned(), source })?;
    // The whole match is group 0: one group means that the user wrote no parentheses.
    match regex.captures_len() {
        1 => Err(MetricError::NoGroup(pattern.to_owned())),
        _ => Ok(Metric::Printed(regex)),
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Metric::Time => f.write_str("time"),
            Metric::CpuTime => f.write_str("cpu"),
            Metric::Printed(pattern) => write!(f, "regex:{pattern}"),
            Metric::Command(command) => write!(f, "command:{command}"),
            Metric::Counted(event) => write!(f, "perf:{event}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_read_as_they_are_printed() {
        for text in
            ["time", "cpu", "regex:([0-9.]+) ops", "command:cat out.txt", "perf:page-faults"]
        {
            assert_eq!(Metric::parse(text).unwrap().to_string(), text);
        }
    }

    fn refusal(text: &str) -> String {
        Metric::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn what_is_no_metric_is_told_with_what_is() {
        assert!(refusal("speed").contains("'regex:PATTERN'"));
        assert!(refusal("regex:[0-9]+").contains("no group"));
        assert!(refusal("regex:(").contains("cannot be read"));
        assert!(refusal("perf:cycle").contains("cycles"));
        assert!(refusal("command:").contains("no command"));
        assert!(refusal("").contains("not known"));
    }

    #[test]
    fn the_last_match_counts() {
        let Metric::Printed(pattern) = Metric::parse("regex:SET: ([0-9.,]+)").unwrap() else {
            unreachable!()
        };
        assert_eq!(Metric::last_number(&pattern, "SET: 10\nSET: 1,024.5 requests\n"), Some(1024.5));
        assert_eq!(Metric::last_number(&pattern, "GET: 10"), None);
        assert_eq!(Metric::last_number(&pattern, "SET: ,"), None);
        assert_eq!(
            Metric::last_number(&pattern, "SET: 10\nSET: 1.234,5\n"),
            None,
            "a decimal comma"
        );
        let Metric::Printed(line) = Metric::parse("regex:^([0-9]+)$").unwrap() else {
            unreachable!()
        };
        assert_eq!(Metric::last_number(&line, "begun\n42\nended\n"), Some(42.0));
    }
}

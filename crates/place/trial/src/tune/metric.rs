//! The metric of a command's run.

use regex_lite::{Regex, RegexBuilder};
use seatmap_data::document::printed_number;
use seatmap_data::statistics::words::joined;
use seatmap_os::counter::CounterEvent;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Whether lower or higher readings are better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Lower is better, as for times.
    #[default]
    Lower,
    /// Higher is better, as for requests per second.
    Higher,
}

impl Better {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Better::Lower => "lower",
            Better::Higher => "higher",
        }
    }

    /// The logarithm of a reading, or of its inverse if higher readings are better: less is better.
    pub fn log_cost(self, value: f64) -> f64 {
        match self {
            Better::Lower => value.ln(),
            Better::Higher => -value.ln(),
        }
    }
}

/// The figure read from a run.
#[derive(Clone, Debug)]
pub enum Metric {
    /// The command's time from start to end, in seconds.
    Time,
    /// The CPU time of the command and its reaped descendants, in seconds, which neighbours on its
    /// CPUs do not lengthen.
    CpuTime,
    /// The first group of a regular expression at its last match in the output.
    Printed(Regex),
    /// The number that another command prints after the run.
    Command(String),
    /// An event counted for the command and its descendants; clocks in ns.
    Counted(CounterEvent),
}

/// Why a metric is invalid.
#[derive(Debug, thiserror::Error)]
pub enum MetricError {
    /// The mistake and the alternatives, as a sentence.
    #[error("{0}")]
    Wrong(String),
    /// The regular expression is invalid.
    #[error("metric {0:?}: invalid pattern")]
    Pattern(String, #[source] regex_lite::Error),
}

impl Metric {
    /// Whether lower or higher readings are better, if known: as the user says, or lower for times
    /// and events.
    pub fn better(&self, said: Option<Better>) -> Option<Better> {
        said.or(match self {
            Metric::Time | Metric::CpuTime | Metric::Counted(_) => Some(Better::Lower),
            Metric::Printed(_) | Metric::Command(_) => None,
        })
    }

    /// Parses a metric: `time`, `cpu`, `regex:PATTERN`, `command:SHELL COMMAND`, `perf:EVENT`.
    ///
    /// # Errors
    /// [`MetricError`], with the mistake and the alternatives.
    pub fn parse(text: &str) -> Result<Self, MetricError> {
        let what = match text.split_once(':') {
            None if text == "time" => return Ok(Metric::Time),
            None if text == "cpu" => return Ok(Metric::CpuTime),
            Some(("regex", pattern)) => return printed(pattern),
            Some(("command", "")) => "metric 'command:' has no command".to_owned(),
            Some(("command", command)) => return Ok(Metric::Command(command.to_owned())),
            Some(("perf", event)) => match CounterEvent::named(event) {
                Some(event) => return Ok(Metric::Counted(event)),
                None => format!(
                    "metric 'perf:{event}': unknown event; expected one of {}, or r with a \
                     hexadecimal number",
                    joined(CounterEvent::names(), ", ")
                ),
            },
            _ => format!(
                "unknown metric {text:?}; expected 'time', 'cpu', 'regex:PATTERN', 'command:SHELL \
                 COMMAND' or 'perf:EVENT'"
            ),
        };
        Err(MetricError::Wrong(what))
    }

    /// Whether the metric needs a separate command after each run.
    pub fn has_command(&self) -> bool {
        matches!(self, Metric::Command(_))
    }

    /// The unit of the readings; empty if unknown.
    pub fn unit(&self) -> &'static str {
        match self {
            Metric::Time | Metric::CpuTime => "s",
            _ => "",
        }
    }

    /// The number at the pattern's last match. If there is none, earlier matches do not replace it.
    pub fn last_number(pattern: &Regex, text: &str) -> Option<f64> {
        let places = pattern.captures_iter(text).filter_map(|groups| groups.get(1));
        places.last().and_then(|place| printed_number(place.as_str()))
    }
}

fn printed(pattern: &str) -> Result<Metric, MetricError> {
    // The ^ and $ of the pattern match at each line.
    let built = RegexBuilder::new(pattern).multi_line(true).build();
    let regex = built.map_err(|source| MetricError::Pattern(pattern.to_owned(), source))?;
    // Group 0 is the whole match.
    if regex.captures_len() > 1 {
        return Ok(Metric::Printed(regex));
    }
    Err(MetricError::Wrong(format!(
        "metric {pattern:?}: the pattern has no group; put parentheses around the number, such as \
         'took ([0-9.]+) ms'"
    )))
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
    fn metric_round_trips_through_text() {
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
    fn invalid_metric_is_rejected_with_hint() {
        assert!(refusal("speed").contains("'regex:PATTERN'"));
        assert!(refusal("regex:[0-9]+").contains("no group"));
        assert!(refusal("regex:(").contains("invalid pattern"));
        assert!(refusal("perf:cycle").contains("cycles"));
        assert!(refusal("command:").contains("no command"));
        assert!(refusal("").contains("unknown metric"));
    }

    #[test]
    fn printed_metric_uses_last_match() {
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

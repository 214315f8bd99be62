//! `seatmap-zoo/1`: one command on many machines.

use crate::zoo::fault::ZooFault;
use seatmap_data::words::counted;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The value of the `format` key.
pub const FORMAT: &str = "seatmap-zoo/1";

/// A command on many machines, each in several situations.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ZooReport {
    /// The format's name and version.
    pub format: String,
    /// The command.
    pub command: Vec<String>,
    /// The longest time of a run, in seconds.
    pub timeout_s: f64,
    /// The runs, machine by machine.
    pub runs: Vec<ZooRun>,
}

/// A run of the command on one machine in one situation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ZooRun {
    /// The machine.
    pub machine: String,
    /// The situation, such as `whole` or `one-cpu`.
    pub situation: String,
    /// The command that repeats it.
    pub repeat: String,
    /// The exit code; null if a signal or the time limit ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it, if any.
    pub signal: Option<i32>,
    /// Whether the time limit ended it.
    pub is_timed_out: bool,
    /// The running time, in seconds.
    pub lasted_s: f64,
    /// The threads that it created.
    pub threads: u64,
    /// The faults, and other output.
    pub faults: Vec<ZooFault>,
}

/// A kind of fault, with its first run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZooFinding<'a> {
    /// The rule.
    pub rule: &'a str,
    /// Runs with it.
    pub runs: usize,
    /// The first run's fault.
    pub what: &'a str,
    /// The command that repeats the first run.
    pub repeat: &'a str,
}

impl ZooRun {
    /// Whether something is wrong.
    pub fn is_wrong(&self) -> bool {
        self.faults.iter().any(ZooFault::is_wrong)
    }

    /// The rules with faults, `ok` without any.
    pub fn word(&self) -> String {
        let rules = BTreeSet::from_iter(self.faults.iter().map(|fault| &*fault.rule));
        if rules.is_empty() { "ok".to_owned() } else { Vec::from_iter(rules).join(" ") }
    }
}

impl ZooReport {
    /// The runs with something wrong.
    pub fn wrong(&self) -> usize {
        self.runs.iter().filter(|run| run.is_wrong()).count()
    }

    /// The machines, in order.
    pub fn machines(&self) -> Vec<&str> {
        let mut machines: Vec<&str> = self.runs.iter().map(|run| &*run.machine).collect();
        machines.dedup();
        machines
    }

    /// The result in one sentence.
    pub fn headline(&self) -> String {
        let runs = counted(self.runs.len(), "run");
        let machines = counted(self.machines().len(), "machine");
        match self.wrong() {
            0 => format!("Nothing is wrong in {runs} on {machines}."),
            wrong => format!("Something is wrong in {wrong} of {runs} on {machines}."),
        }
    }

    /// Each rule once, wrong ones first, with the run that shows it.
    pub fn findings(&self) -> Vec<ZooFinding<'_>> {
        let mut found: BTreeMap<(bool, &str), ZooFinding> = BTreeMap::new();
        for run in &self.runs {
            let mut seen = BTreeSet::new();
            for fault in &run.faults {
                let finding = ZooFinding {
                    rule: &fault.rule,
                    runs: 0,
                    what: &fault.what,
                    repeat: &run.repeat,
                };
                let key = (!fault.is_wrong(), &*fault.rule);
                found.entry(key).or_insert(finding).runs += usize::from(seen.insert(key));
            }
        }
        found.into_values().collect()
    }

    /// The runs as JUnit XML, for CI systems: a suite for each machine, a case for each situation.
    pub fn junit(&self) -> String {
        let count = self.runs.len();
        let mut text = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <testsuites name=\"seatmap pretend --zoo\" tests=\"{count}\" failures=\"{}\">\n",
            self.wrong()
        );
        for machine in self.machines() {
            let runs = self.runs.iter().filter(|run| run.machine == machine);
            let wrong = runs.clone().filter(|run| run.is_wrong()).count();
            text += &format!(
                "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{wrong}\">\n",
                escaped(machine),
                runs.clone().count()
            );
            text.extend(runs.map(case));
            text += "  </testsuite>\n";
        }
        text + "</testsuites>\n"
    }
}

fn case(run: &ZooRun) -> String {
    let mut text = format!(
        "    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3}\">\n",
        escaped(&run.machine),
        run.situation,
        run.lasted_s
    );
    let wrong = run.faults.iter().filter(|fault| fault.is_wrong());
    let wrong: Vec<String> = wrong.map(|fault| format!("{}: {}", fault.rule, fault.what)).collect();
    if !wrong.is_empty() {
        let message = escaped(&wrong.join("; "));
        text +=
            &format!("      <failure message=\"{message}\">{}</failure>\n", escaped(&run.repeat));
    }
    text + "    </testcase>\n"
}

/// Text for XML 1.0, which has no control characters.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\t' | '\n' => safe.push(' '),
            '\u{fffe}' | '\u{ffff}' => safe.push('?'),
            control if control.is_control() => safe.push('?'),
            character => safe.push(character),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_watch::Gravity;

    fn run(machine: &str, situation: &str, faults: Vec<ZooFault>) -> ZooRun {
        ZooRun {
            machine: machine.to_owned(),
            situation: situation.to_owned(),
            repeat: format!("sh -c '{machine} && b'"),
            exit_code: Some(0),
            signal: None,
            is_timed_out: false,
            lasted_s: 0.25,
            threads: 1,
            faults,
        }
    }

    fn report() -> ZooReport {
        let output = ZooFault {
            rule: "output".to_owned(),
            gravity: Gravity::Remark,
            what: "line 1 differs".to_owned(),
        };
        let crash = |what: &str| ZooFault::wrong("crash", what);
        let runs = vec![
            run("a", "whole", Vec::new()),
            run("a", "hole", vec![output.clone(), crash("ended <\u{1b}> by \"9\"")]),
            run("b", "whole", vec![crash("ended")]),
            run("b", "hole", vec![output]),
        ];
        let command = vec!["./app".to_owned()];
        ZooReport { format: FORMAT.to_owned(), command, timeout_s: 60.0, runs }
    }

    #[test]
    fn each_rule_is_found_once_with_its_first_run() {
        let report = report();
        assert_eq!(report.headline(), "Something is wrong in 2 of 4 runs on 2 machines.");
        let found = report.findings();
        let facts: Vec<(&str, usize)> = found.iter().map(|one| (one.rule, one.runs)).collect();
        assert_eq!(facts, [("crash", 2), ("output", 2)]);
        assert_eq!(found[0].repeat, "sh -c 'a && b'");
        let words: Vec<String> = report.runs.iter().map(ZooRun::word).collect();
        assert_eq!(words, ["ok", "crash output", "crash", "output"]);
        let right = ZooReport { runs: vec![run("a", "whole", Vec::new())], ..report.clone() };
        assert_eq!(right.headline(), "Nothing is wrong in 1 run on 1 machine.");
    }

    #[test]
    fn junit_escapes_what_programs_say() {
        let expected = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="seatmap pretend --zoo" tests="4" failures="2">
  <testsuite name="a" tests="2" failures="1">
    <testcase classname="a" name="whole" time="0.250">
    </testcase>
    <testcase classname="a" name="hole" time="0.250">
      <failure message="crash: ended &lt;?&gt; by &quot;9&quot;">sh -c 'a &amp;&amp; b'</failure>
    </testcase>
  </testsuite>
  <testsuite name="b" tests="2" failures="1">
    <testcase classname="b" name="whole" time="0.250">
      <failure message="crash: ended">sh -c 'b &amp;&amp; b'</failure>
    </testcase>
    <testcase classname="b" name="hole" time="0.250">
    </testcase>
  </testsuite>
</testsuites>
"#;
        assert_eq!(report().junit(), expected);
    }
}

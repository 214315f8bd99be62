//! Commands and options of other tools, and what does the same in Seatmap.
//!
//! One table, based on these manuals, serves unknown commands and options: taskset(1), chrt(1),
//! numactl(8), hwloc(7), likwid-pin(1), srun(1), mpirun(1), docker-run(1), hyperfine(1), perf(1),
//! htop(1).

use clap::Command;
use seatmap_data::statistics::words::joined;

/// Options for a duration in other commands and programs.
pub const TIMES: [&str; 7] =
    ["--seconds", "--duration", "--time", "--timeout", "--time-limit", "--limit", "--for"];

/// Options for a machine in other commands and programs.
pub const MACHINES: [&str; 4] = ["--on", "--machine", "--host", "--profile"];

/// The commands, their words with one meaning, and below them the answer: a sentence that says what
/// to type or, after `=`, the name of the option or command. `seatmap` is the options before any
/// command, `any` all commands.
const HABITS: &str = include_str!("habits.txt");

/// The answer to an unknown word, which continues the sentence `'seatmap run' has no ...`. `verb`
/// is the full command. The first match answers.
pub fn answer(word: &str, verb: &str, command: &Command) -> Option<String> {
    let last = verb.rsplit(' ').next().unwrap_or_default();
    HABITS.split("\n\n").filter(|habit| fits(habit, word, last)).find_map(|habit| {
        let lines = habit.lines().filter(|line| line.starts_with(' '));
        let answer = joined(lines.map(str::trim), " ");
        let Some(name) = answer.strip_prefix("= ") else { return Some(answer) };
        let (dashes, is_known) = if word.starts_with('-') {
            ("--", super::has_option(command, name))
        } else {
            ("", command.find_subcommand(name).is_some())
        };
        is_known.then(|| format!("did you mean '{dashes}{name}'?"))
    })
}

fn fits(habit: &str, word: &str, command: &str) -> bool {
    let asked = habit.lines().filter(|line| !line.starts_with(' '));
    asked.filter_map(|line| line.split_once(": ")).any(|(commands, words)| {
        commands.split(' ').any(|one| one == "any" || one == command)
            && words.split(' ').any(|one| one == word)
    })
}

//! Rejects options that would have no effect on the chosen function.

use crate::args::Stats;
use seatmap_console::error::CliError;
use seatmap_experiments::cell_stats::CellStatsPrimitive;

struct Taken {
    option: &'static str,
    is_typed: fn(&Stats) -> bool,
    by: fn(CellStatsPrimitive) -> bool,
    functions: &'static str,
}

const BUFFERS: &str = "fetchadd and the other atomics, dmaget and the other transfers";
const SIZED: &str = "fetchadd and the other atomics, dmaget and the other transfers, broadcast \
                     and reduce";
const ALL_BUT_THREADS: &str = "every function but mkthread";
const WITH_A_PARTNER: &str = "every function but mkthread, broadcast and reduce";

const TAKEN: [Taken; 11] = [
    Taken {
        option: "-n",
        is_typed: |typed| typed.shared.is_some(),
        by: |_| true,
        functions: "a function",
    },
    Taken {
        option: "-i",
        is_typed: |typed| typed.iterations.is_some(),
        by: |_| true,
        functions: "a function",
    },
    Taken {
        option: "-w",
        is_typed: |typed| typed.warm_up.is_some(),
        by: |function| function.collective().is_none(),
        functions: "every function but broadcast and reduce",
    },
    Taken {
        option: "-N",
        is_typed: |typed| typed.private.is_some(),
        by: has_buffers,
        functions: BUFFERS,
    },
    Taken {
        option: "-m",
        is_typed: |typed| typed.module.is_some(),
        by: has_buffers,
        functions: BUFFERS,
    },
    Taken {
        option: "-b",
        is_typed: |typed| typed.size.is_some(),
        by: |function| has_buffers(function) || function.collective().is_some(),
        functions: SIZED,
    },
    Taken {
        option: "-t",
        is_typed: |typed| typed.stride.is_some(),
        by: has_buffers,
        functions: BUFFERS,
    },
    Taken {
        option: "-c",
        is_typed: |typed| typed.chip.is_some(),
        by: has_workers,
        functions: ALL_BUT_THREADS,
    },
    Taken {
        option: "-s",
        is_typed: |typed| typed.between,
        by: |function| has_workers(function) && function.collective().is_none(),
        functions: WITH_A_PARTNER,
    },
    Taken {
        option: "-l",
        is_typed: |typed| typed.elements.is_some(),
        by: CellStatsPrimitive::has_list,
        functions: "dmalistget and dmalistput",
    },
    Taken {
        option: "--syscall",
        is_typed: |typed| typed.syscall,
        by: is_message,
        functions: "mailbox and signal",
    },
];

fn is_message(function: CellStatsPrimitive) -> bool {
    matches!(function, CellStatsPrimitive::Mailbox | CellStatsPrimitive::Signal)
}

fn has_buffers(function: CellStatsPrimitive) -> bool {
    function.atomic().is_some() || function.transfer().is_some()
}

fn has_workers(function: CellStatsPrimitive) -> bool {
    function != CellStatsPrimitive::MkThread
}

/// Rejects an option that the function does not use, or that needs another one.
///
/// # Errors
/// The option, and the functions that use it.
pub fn check(typed: &Stats) -> Result<(), CliError> {
    let Some(function) = typed.function.map(|choice| choice.0) else {
        // Without a function, all are measured, each with its own options.
        let named = TAKEN.iter().find(|taken| (taken.is_typed)(typed));
        return named.map_or(Ok(()), |Taken { option, functions, .. }| {
            refused(format!("{option} is for {functions}, and none is named: choose one with -f"))
        });
    };
    let name = function.name();
    if let Some(Taken { option, functions, .. }) =
        TAKEN.iter().find(|taken| (taken.is_typed)(typed) && !(taken.by)(function))
    {
        return refused(format!("{option} is for {functions}; {name} does not take it"));
    }
    if typed.stride.is_some() && typed.private.is_none() {
        return refused(
            "-t is the distance between private buffers: say how many workers have one with -N"
                .to_owned(),
        );
    }
    if typed.syscall && typed.between {
        return refused(
            "--syscall is for messages of the controller, not for those between workers (-s)"
                .to_owned(),
        );
    }
    workers(typed, function)
}

/// Messages need two tasks, and only one thread is created at a time.
fn workers(typed: &Stats, function: CellStatsPrimitive) -> Result<(), CliError> {
    let name = function.name();
    let given = typed.shared.or(typed.private);
    match (given, typed.between) {
        // Zero is rejected later, with other numbers that are too small.
        (None | Some(0), _) => Ok(()),
        (Some(1), _) if function.collective().is_some() => {
            refused(format!("{name} needs at least two workers: -n 2"))
        }
        (Some(1), true) => refused("-s needs at least two workers: -n 2 or -N 2".to_owned()),
        (Some(2), true) | (Some(1), false) => Ok(()),
        (Some(_), true) if is_message(function) => {
            refused(format!("{name} with -s needs two workers: -n 2"))
        }
        (Some(_), false) if is_message(function) => refused(format!(
            "{name} is between the controller and one worker: -n 1, or -n 2 -s for two workers"
        )),
        (Some(_), false) if !has_workers(function) => {
            refused(format!("{name} makes one thread at a time: -n 1"))
        }
        (Some(_), _) => Ok(()),
    }
}

fn refused(text: String) -> Result<(), CliError> {
    Err(CliError::input(text))
}

//! The verbs for quiet partitions.

use super::{CELLS, OF_PROGRAMS, RUN, guide};
use seatmap_console::guide::{DONE, GuideEntry, USAGE, USUAL_EXITS, VerbGuide};

/// A verb's guide about cells.
const fn of_cells(
    verb: &'static str,
    examples: &'static [GuideEntry],
    see_also: &'static [&'static str],
) -> VerbGuide {
    let guide = guide(verb, examples, see_also);
    VerbGuide { exits: USUAL_EXITS, files: &[CELLS], environment: &[RUN], ..guide }
}

pub const GUIDES: &[VerbGuide] = &[
    of_cells(
        "cell",
        &[
            ("sudo seatmap cell create --count 2", "reserve two quiet CPUs"),
            ("sudo seatmap cell run -- ./app", "run a program on them"),
            ("sudo seatmap cell destroy", "release them"),
        ],
        &["doctor", "noise", "run", "cpuset(7)", "cgroups(7)"],
    ),
    VerbGuide {
        short_examples: 2,
        exits: &[
            DONE,
            ("1", "the cell could not be created; everything was restored"),
            ("2", "the command line is wrong, or the CPUs belong to another cell"),
        ],
        ..of_cells(
            "cell create",
            &[
                ("sudo seatmap cell create --count 2", "reserve two CPUs; Seatmap chooses them"),
                (
                    "sudo seatmap cell create fast --cpus 2-5 --ttl 10m",
                    "reserve four CPUs for ten minutes",
                ),
                (
                    "sudo seatmap cell create --ttl 1h --memory 64M --noise 2%",
                    "with memory; refused if noisy",
                ),
            ],
            &["cell run", "cell destroy", "doctor", "noise"],
        )
    },
    of_cells(
        "cell list",
        &[("seatmap cell list", "list the cells of this computer")],
        &["cell show"],
    ),
    of_cells(
        "cell show",
        &[
            ("seatmap cell show", "show the default cell"),
            ("seatmap cell show fast --json", "show the cell 'fast' as JSON"),
        ],
        &["cell verify", "cell list"],
    ),
    VerbGuide {
        exits: OF_PROGRAMS,
        ..of_cells(
            "cell run",
            &[
                ("sudo seatmap cell run -- ./app", "run a program in the default cell"),
                (
                    "sudo seatmap cell run fast --plan plan.json ./app",
                    "run it in the cell 'fast', by a plan",
                ),
            ],
            &["cell create", "run", "noise"],
        )
    },
    VerbGuide {
        exits: &[
            ("0", "the cell is as it was created"),
            ("1", "the cell has changed; the output says how"),
            USAGE,
        ],
        ..of_cells(
            "cell verify",
            &[
                ("seatmap cell verify", "verify the default cell"),
                ("seatmap cell verify fast --json", "verify the cell 'fast', as JSON"),
            ],
            &["cell show", "check"],
        )
    },
    of_cells(
        "cell destroy",
        &[
            ("sudo seatmap cell destroy", "destroy the default cell"),
            ("sudo seatmap cell destroy fast", "destroy the cell 'fast'"),
        ],
        &["cell create", "cell restore"],
    ),
    of_cells(
        "cell renew",
        &[
            ("sudo seatmap cell renew --ttl 10m", "end the default cell ten minutes from now"),
            ("sudo seatmap cell renew fast --ttl 2h", "end the cell 'fast' two hours from now"),
        ],
        &["cell create", "cell destroy"],
    ),
    VerbGuide {
        exits: &[("0", "everything was restored"), ("1", "something could not be restored"), USAGE],
        ..of_cells(
            "cell restore",
            &[("sudo seatmap cell restore", "undo all changes of all cells on this host")],
            &["cell destroy", "services undo"],
        )
    },
];

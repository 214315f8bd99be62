//! The verbs for quiet partitions.

use super::{CELLS, OF_PROGRAMS, RUN};
use seatmap_console::guide::{DONE, USAGE, USUAL_EXITS, VerbGuide};

/// Verbs for cells differ only in their own fields.
const OF_CELLS: VerbGuide =
    VerbGuide { exits: USUAL_EXITS, files: &[CELLS], environment: &[RUN], ..VerbGuide::USUAL };

pub const GUIDES: &[VerbGuide] = &[
    VerbGuide {
        verb: "cell",
        examples: &[
            ("sudo seatmap cell create --count 2", "reserve two quiet CPUs"),
            ("sudo seatmap cell run -- ./app", "run a program on them"),
            ("sudo seatmap cell destroy", "release them"),
        ],
        see_also: &["doctor", "noise", "run", "cpuset(7)", "cgroups(7)"],
        ..OF_CELLS
    },
    VerbGuide {
        verb: "cell create",
        examples: &[
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
        short_examples: 2,
        exits: &[
            DONE,
            ("1", "the cell could not be created; everything was restored"),
            ("2", "the command line is wrong, or the CPUs belong to another cell"),
        ],
        see_also: &["cell run", "cell destroy", "doctor", "noise"],
        ..OF_CELLS
    },
    VerbGuide {
        verb: "cell list",
        examples: &[("seatmap cell list", "list the cells of this computer")],
        see_also: &["cell show"],
        ..OF_CELLS
    },
    VerbGuide {
        verb: "cell show",
        examples: &[
            ("seatmap cell show", "show the default cell"),
            ("seatmap cell show fast --json", "show the cell 'fast' as JSON"),
        ],
        see_also: &["cell verify", "cell list"],
        ..OF_CELLS
    },
    VerbGuide {
        verb: "cell run",
        examples: &[
            ("sudo seatmap cell run -- ./app", "run a program in the default cell"),
            (
                "sudo seatmap cell run fast --plan plan.json ./app",
                "run it in the cell 'fast', by a plan",
            ),
        ],
        exits: OF_PROGRAMS,
        see_also: &["cell create", "run", "noise"],
        ..OF_CELLS
    },
    VerbGuide {
        verb: "cell verify",
        examples: &[
            ("seatmap cell verify", "verify the default cell"),
            ("seatmap cell verify fast --json", "verify the cell 'fast', as JSON"),
        ],
        exits: &[
            ("0", "the cell is as it was created"),
            ("1", "the cell has changed; the output says how"),
            USAGE,
        ],
        see_also: &["cell show", "check"],
        ..OF_CELLS
    },
    VerbGuide {
        verb: "cell destroy",
        examples: &[
            ("sudo seatmap cell destroy", "destroy the default cell"),
            ("sudo seatmap cell destroy fast", "destroy the cell 'fast'"),
        ],
        see_also: &["cell create", "cell restore"],
        ..OF_CELLS
    },
    VerbGuide {
        verb: "cell renew",
        examples: &[
            ("sudo seatmap cell renew --ttl 10m", "end the default cell ten minutes from now"),
            ("sudo seatmap cell renew fast --ttl 2h", "end the cell 'fast' two hours from now"),
        ],
        see_also: &["cell create", "cell destroy"],
        ..OF_CELLS
    },
    VerbGuide {
        verb: "cell restore",
        examples: &[("sudo seatmap cell restore", "undo all changes of all cells on this host")],
        exits: &[("0", "everything was restored"), ("1", "something could not be restored"), USAGE],
        see_also: &["cell destroy", "services undo"],
        ..OF_CELLS
    },
];

//! The verbs for quiet partitions.

use super::{CELLS, OF_PROGRAMS, RUN};
use seatmap_console::guide::{DONE, USAGE, USUAL_EXITS, VerbGuide};

pub const GUIDES: &[VerbGuide] =
    &[CELL, CREATE, LIST, SHOW, RUN_IN, VERIFY, DESTROY, RENEW, RESTORE];

/// Verbs for cells differ only in their own fields.
const OF_CELLS: VerbGuide =
    VerbGuide { exits: USUAL_EXITS, files: &[CELLS], environment: &[RUN], ..VerbGuide::USUAL };

const CELL: VerbGuide = VerbGuide {
    verb: "cell",
    examples: &[
        ("sudo seatmap cell create --count 2", "reserve two quiet CPUs"),
        ("sudo seatmap cell run -- ./app", "run a program on them"),
        ("sudo seatmap cell destroy", "give them back"),
    ],
    see_also: &["doctor", "noise", "run", "cpuset(7)", "cgroups(7)"],
    ..OF_CELLS
};

const CREATE: VerbGuide = VerbGuide {
    verb: "cell create",
    examples: &[
        ("sudo seatmap cell create --count 2", "reserve two quiet CPUs of Seatmap's choice"),
        ("sudo seatmap cell create fast --cpus 2-5 --ttl 10m", "reserve four CPUs for ten minutes"),
        ("sudo seatmap cell create --ttl 1h --memory 64M --noise 2%", "with memory; not if noisy"),
    ],
    short_examples: 2,
    exits: &[
        DONE,
        ("1", "the cell could not be made; everything is as it was"),
        ("2", "the command line is wrong, or the CPUs belong to another cell"),
    ],
    see_also: &["cell run", "cell destroy", "doctor", "noise"],
    ..OF_CELLS
};

const LIST: VerbGuide = VerbGuide {
    verb: "cell list",
    examples: &[("seatmap cell list", "list the cells of this computer")],
    see_also: &["cell show"],
    ..OF_CELLS
};

const SHOW: VerbGuide = VerbGuide {
    verb: "cell show",
    examples: &[
        ("seatmap cell show", "show the cell of the usual name"),
        ("seatmap cell show fast --json", "show another one, for a script"),
    ],
    see_also: &["cell verify", "cell list"],
    ..OF_CELLS
};

const RUN_IN: VerbGuide = VerbGuide {
    verb: "cell run",
    examples: &[
        ("sudo seatmap cell run -- ./app", "run a program in the cell of the usual name"),
        ("sudo seatmap cell run fast --plan plan.json ./app", "seat it by a plan in another cell"),
    ],
    exits: OF_PROGRAMS,
    see_also: &["cell create", "run", "noise"],
    ..OF_CELLS
};

const VERIFY: VerbGuide = VerbGuide {
    verb: "cell verify",
    examples: &[
        ("seatmap cell verify", "check the cell of the usual name"),
        ("seatmap cell verify fast --json", "check another one, for a script"),
    ],
    exits: &[
        ("0", "the cell is what it was made to be"),
        ("1", "it is not, and the page says in which way"),
        USAGE,
    ],
    see_also: &["cell show", "check"],
    ..OF_CELLS
};

const DESTROY: VerbGuide = VerbGuide {
    verb: "cell destroy",
    examples: &[
        ("sudo seatmap cell destroy", "undo the cell of the usual name"),
        ("sudo seatmap cell destroy fast", "undo another one"),
    ],
    see_also: &["cell create", "cell restore"],
    ..OF_CELLS
};

const RENEW: VerbGuide = VerbGuide {
    verb: "cell renew",
    examples: &[
        ("sudo seatmap cell renew --ttl 10m", "let the cell end in ten minutes from now"),
        ("sudo seatmap cell renew fast --ttl 2h", "let another one end later"),
    ],
    see_also: &["cell create", "cell destroy"],
    ..OF_CELLS
};

const RESTORE: VerbGuide = VerbGuide {
    verb: "cell restore",
    examples: &[("sudo seatmap cell restore", "undo all that any cell has changed here")],
    exits: &[("0", "everything is as it was"), ("1", "something could not be put back"), USAGE],
    see_also: &["cell destroy", "services undo"],
    ..OF_CELLS
};

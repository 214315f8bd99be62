//! The verbs for machines and their files.

use super::{REMEMBERED, STATE};
use seatmap_console::guide::VerbGuide;

pub const GUIDES: &[VerbGuide] = &[MACHINES, IMPORT, MODEL, MODEL_FIT];

const MACHINES: VerbGuide = VerbGuide {
    verb: "machines",
    examples: &[
        ("seatmap machines", "list the machines that every verb knows by name"),
        ("seatmap machines --json", "list them for a script"),
        ("seatmap machines --site gallery mine.json", "make a site of them and of your profile"),
    ],
    see_also: &["show", "compare", "place", "pretend"],
    ..VerbGuide::USUAL
};

const IMPORT: VerbGuide = VerbGuide {
    verb: "import",
    examples: &[
        ("seatmap import matrix.csv -o server.json", "make a profile of a core-to-core matrix"),
        (
            "seatmap import matrix.csv --topology lstopo.xml -o server.json",
            "join it with the topology that lstopo wrote",
        ),
        ("seatmap import *.csv -o profiles", "make a profile of each file in a folder"),
    ],
    see_also: &["export", "show", "machines", "lstopo(1)"],
    ..VerbGuide::USUAL
};

const MODEL: VerbGuide = VerbGuide {
    verb: "model",
    examples: &[
        ("seatmap model fit host -o twin.toml", "make a model of this computer"),
        (
            "seatmap place --on twin.toml --pattern ring:8 --objective simulated",
            "place by runs on it",
        ),
    ],
    see_also: &["measure", "place"],
    ..VerbGuide::USUAL
};

const MODEL_FIT: VerbGuide = VerbGuide {
    verb: "model fit",
    examples: &[
        ("seatmap model fit host -o twin.toml", "make a model of this computer"),
        ("seatmap model fit server.json --json", "see how like its original a model would be"),
    ],
    files: &[REMEMBERED],
    environment: &[STATE],
    see_also: &["measure", "place", "tune"],
    ..VerbGuide::USUAL
};

//! The verbs for machines and their files.

use super::{REMEMBERED, STATE, guide};
use seatmap_console::guide::{DONE, FAILED, VerbGuide};

pub const GUIDES: &[VerbGuide] = &[
    guide(
        "machines",
        &[
            ("seatmap machines", "list the bundled machines"),
            ("seatmap machines --json", "list them as JSON"),
            ("seatmap machines --zoo", "list the machines of 'seatmap pretend --zoo'"),
            ("seatmap machines --site gallery mine.json", "write a site of them and your profile"),
        ],
        &["show", "compare", "place", "pretend"],
    ),
    VerbGuide {
        short_examples: 2,
        exits: &[DONE, FAILED, ("2", "no CPU of the machine fits the words; nothing was printed")],
        ..guide(
            "cpus",
            &[
                (
                    "seatmap cpus kind:performance/no-smt",
                    "one thread of each fast core, for taskset -c",
                ),
                ("seatmap cpus --count", "as many threads as fit, for OMP_NUM_THREADS"),
                ("seatmap cpus --why", "what limits the threads, and the words of this computer"),
                ("seatmap cpus cache:biggest --on ryzen-7950x3d", "the CPUs of another machine"),
            ],
            &["show", "run", "advise", "nproc(1)", "taskset(1)"],
        )
    },
    guide(
        "import",
        &[
            (
                "seatmap import matrix.csv -o server.json",
                "convert a core-to-core matrix to a profile",
            ),
            (
                "seatmap import matrix.csv --topology lstopo.xml -o server.json",
                "add the topology from lstopo's file",
            ),
            ("seatmap import *.csv -o profiles", "convert each file to a profile in a folder"),
        ],
        &["export", "show", "machines", "lstopo(1)"],
    ),
    guide(
        "model",
        &[
            ("seatmap model fit host -o twin.toml", "fit a model to this computer"),
            (
                "seatmap place --on twin.toml --pattern ring:8 --objective simulated",
                "place tasks by simulated runs on it",
            ),
        ],
        &["measure", "place"],
    ),
    VerbGuide {
        files: &[REMEMBERED],
        environment: &[STATE],
        ..guide(
            "model fit",
            &[
                ("seatmap model fit host -o twin.toml", "fit a model to this computer"),
                ("seatmap model fit server.json --json", "show how well a model would fit"),
            ],
            &["measure", "place", "tune"],
        )
    },
];

//! The verbs that look at computers and clusters.

use super::{RANKS, REMEMBERED, STATE, guide};
use seatmap_console::guide::{DONE, FAILED, USAGE, VerbGuide};

pub const GUIDES: &[VerbGuide] = &[
    VerbGuide {
        files: &[REMEMBERED],
        environment: &[STATE, ("TERM, COLORTERM", "the terminal's colours")],
        ..guide(
            "show",
            &[
                ("seatmap show", "show this computer's last measurement"),
                (
                    "seatmap show epyc-9654-2s --near 3",
                    "list the CPUs nearest to CPU 3 of a bundled machine",
                ),
                ("seatmap show server.json --html server.html", "write a page that works offline"),
            ],
            &["measure", "machines", "export", "lstopo(1)"],
        )
    },
    VerbGuide {
        files: &[REMEMBERED],
        environment: &[STATE],
        ..guide(
            "compare",
            &[
                (
                    "seatmap compare old.json new.json",
                    "compare two measurements, such as before and after a firmware update",
                ),
                ("seatmap compare epyc-9654-2s", "compare a bundled machine with this computer"),
            ],
            &["measure", "show", "machines"],
        )
    },
    VerbGuide {
        exits: &[
            DONE,
            ("1", "the measurement failed or was interrupted; the figures so far are printed"),
            USAGE,
        ],
        ..guide(
            "noise",
            &[
                ("seatmap noise", "measure all CPUs for two seconds"),
                (
                    "seatmap noise --cpus 2-7 --seconds 1m --html noise.html",
                    "measure longer, and draw it",
                ),
                ("sudo seatmap noise --cpus 3 --trace", "name the tasks that took the CPU"),
            ],
            &["doctor", "cell create", "measure"],
        )
    },
    VerbGuide {
        exits: &[("0", "this computer was examined, whatever the findings"), FAILED, USAGE],
        ..guide(
            "doctor",
            &[
                ("seatmap doctor", "list what disturbs programs here, with remedies"),
                (
                    "sudo seatmap doctor --cpus 2-7 --try",
                    "also test what the kernel allows on these CPUs",
                ),
            ],
            &["noise", "cell create", "check", "tuned-adm(8)"],
        )
    },
    guide(
        "cluster",
        &[
            ("srun -N 8 seatmap cluster measure -o cluster.json", "measure eight nodes"),
            ("seatmap cluster doctor cluster.json", "find the bad node or cable"),
        ],
        &["measure", "place", "srun(1)", "mpirun(1)"],
    ),
    VerbGuide {
        short_examples: 2,
        exits: &[
            DONE,
            ("1", "a node did not join or was lost; the others were measured and written"),
            USAGE,
        ],
        environment: &[RANKS[0], RANKS[1], RANKS[2], ("MPICC", "the compiler for --mpi")],
        ..guide(
            "cluster measure",
            &[
                (
                    "srun -N 8 seatmap cluster measure -o cluster.json",
                    "measure eight nodes under Slurm",
                ),
                (
                    "mpirun -N 1 --hostfile hosts seatmap cluster measure --loaded -o cluster.json",
                    "also measure while many nodes send at once",
                ),
            ],
            &["cluster doctor", "place", "export"],
        )
    },
    VerbGuide {
        exits: &[
            ("0", "the file was read; with --fail, nothing is wrong"),
            ("1", "with --fail, something is wrong"),
            USAGE,
        ],
        ..guide(
            "cluster doctor",
            &[
                ("seatmap cluster doctor cluster.json", "find the bad node or cable"),
                (
                    "seatmap cluster doctor cluster.json --fail",
                    "report faults by the exit code, for a script",
                ),
            ],
            &["cluster measure"],
        )
    },
];

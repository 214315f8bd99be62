//! The verbs that watch programs and compare them.

use super::{OF_PROGRAMS, RANKS, REMEMBERED, RUN, STATE, guide};
use seatmap_console::guide::{DONE, USAGE, VerbGuide};

pub const GUIDES: &[VerbGuide] = &[
    VerbGuide {
        exits: &[
            DONE,
            ("1", "the programs could not be read, or the recording could not be written"),
            ("2", "the command line is wrong, or no matching program was found"),
        ],
        environment: &[("TERM, COLORTERM", "the terminal's colours")],
        ..guide(
            "top",
            &[
                ("seatmap top", "watch all programs on a map of the cores"),
                ("seatmap top --name 'nginx*'", "watch programs by name"),
                ("seatmap top --record top.json --seconds 5m", "record, for 'seatmap show --html'"),
            ],
            &["check", "show", "run", "top(1)"],
        )
    },
    VerbGuide {
        short_examples: 1,
        exits: OF_PROGRAMS,
        ..guide(
            "observe",
            &[
                (
                    "seatmap observe -o app.pattern.json -- ./app",
                    "run a program, and save which threads communicate",
                ),
                ("seatmap observe --pid 4711 --seconds 30", "observe a process for 30 seconds"),
            ],
            &["place", "pattern show", "tune", "perf-c2c(1)"],
        )
    },
    VerbGuide {
        short_examples: 1,
        exits: &[
            DONE,
            (
                "1",
                "a run failed, the session was interrupted, or the program is proven worse than \
             --fail-above allows",
            ),
            USAGE,
        ],
        environment: &[RUN],
        ..guide(
            "bench",
            &[
                ("seatmap bench --compare ./old -- ./new", "compare two programs"),
                ("seatmap bench -o base.json -- ./app", "save a result"),
                (
                    "seatmap bench --base old --head new --fail-above 3% -- '{binary}' --quick",
                    "compare a new version with the old one",
                ),
                (
                    "seatmap bench --baseline base.json --fail-above 3% -- ./app",
                    "fail if the program is proven more than 3 % worse",
                ),
            ],
            &["tune", "noise", "cell", "hyperfine(1)"],
        )
    },
    VerbGuide {
        short_examples: 1,
        exits: &[DONE, USAGE],
        ..guide(
            "bench history",
            &[
                ("seatmap bench history bench.jsonl", "show when a benchmark changed"),
                ("seatmap bench history bench.jsonl --json", "the same as JSON"),
            ],
            &["bench"],
        )
    },
    VerbGuide {
        short_examples: 1,
        exits: &[
            ("0", "the race is complete, with or without a gain"),
            ("1", "a run failed, or the race was interrupted"),
            USAGE,
        ],
        files: &[
            (
                "seatmap-tune.json",
                "every run of the race, in the current folder; --record FILE replaces it",
            ),
            REMEMBERED,
        ],
        environment: &[STATE, RANKS[0], RANKS[1], RANKS[2]],
        ..guide(
            "tune",
            &[
                (
                    "seatmap tune -- ./app",
                    "race seats for a program against the kernel's own choice",
                ),
                (
                    "seatmap tune --seconds 10m -o plan.json -- ./app",
                    "race for ten minutes, and save the winner",
                ),
                (
                    "seatmap tune --on xeon-phi-5110p --pattern ring:8",
                    "race placements on a simulated machine",
                ),
            ],
            &["bench", "run", "place", "observe"],
        )
    },
    VerbGuide {
        exits: &[OF_PROGRAMS[0], ("1", "a check of --check failed"), OF_PROGRAMS[2]],
        ..guide(
            "pretend",
            &[
                (
                    "seatmap pretend epyc-9654-2s -- ./app",
                    "show where it would pin its threads there",
                ),
                (
                    "seatmap pretend epyc-9654-2s --check one-per-core -- ./app",
                    "fail if two threads would share a core",
                ),
                (
                    "seatmap pretend epyc-9654-2s --quota 1.5 -- ./app",
                    "show how many threads it would start in a container",
                ),
            ],
            &["check", "machines", "run"],
        )
    },
];

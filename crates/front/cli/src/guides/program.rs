//! The verbs that watch programs and compare them.

use super::{OF_PROGRAMS, RANKS, REMEMBERED, RUN, STATE};
use seatmap_console::guide::{DONE, USAGE, VerbGuide};

pub const GUIDES: &[VerbGuide] = &[TOP, OBSERVE, BENCH, BENCH_HISTORY, TUNE, PRETEND];

const TOP: VerbGuide = VerbGuide {
    verb: "top",
    examples: &[
        ("seatmap top", "watch all programs on the map of the cores"),
        ("seatmap top --name 'nginx*'", "watch the programs of a name"),
        ("seatmap top --record top.json --seconds 5m", "record, for 'seatmap show --html'"),
    ],
    exits: &[
        DONE,
        ("1", "the programs could not be read, or the recording could not be written"),
        ("2", "the command line is wrong, or no program of that name was found"),
    ],
    environment: &[("TERM, COLORTERM", "the colours that the terminal has")],
    see_also: &["check", "show", "run", "top(1)"],
    ..VerbGuide::USUAL
};

const OBSERVE: VerbGuide = VerbGuide {
    verb: "observe",
    examples: &[
        (
            "seatmap observe -o app.pattern.json -- ./app",
            "run a program, and keep who talks to whom",
        ),
        ("seatmap observe --pid 4711 --seconds 30", "observe a process for half a minute"),
    ],
    short_examples: 1,
    exits: OF_PROGRAMS,
    see_also: &["place", "pattern show", "tune", "perf-c2c(1)"],
    ..VerbGuide::USUAL
};

const BENCH: VerbGuide = VerbGuide {
    verb: "bench",
    examples: &[
        ("seatmap bench --compare ./old -- ./new", "compare two programs"),
        ("seatmap bench -o base.json -- ./app", "keep a result"),
        (
            "seatmap bench --base old --head new --fail-above 3% -- '{binary}' --quick",
            "hold a new version against the old one",
        ),
        (
            "seatmap bench --baseline base.json --fail-above 3% -- ./app",
            "fail where the program has become worse by more than 3 %",
        ),
    ],
    short_examples: 1,
    exits: &[
        DONE,
        (
            "1",
            "a run failed, the session was interrupted, or the program is shown to be worse than \
             --fail-above allows",
        ),
        USAGE,
    ],
    environment: &[RUN],
    see_also: &["tune", "noise", "cell", "hyperfine(1)"],
    ..VerbGuide::USUAL
};

const BENCH_HISTORY: VerbGuide = VerbGuide {
    verb: "bench history",
    examples: &[
        ("seatmap bench history bench.jsonl", "see when a benchmark changed"),
        ("seatmap bench history bench.jsonl --json", "the same for a program"),
    ],
    short_examples: 1,
    exits: &[DONE, USAGE],
    see_also: &["bench"],
    ..VerbGuide::USUAL
};

const TUNE: VerbGuide = VerbGuide {
    verb: "tune",
    examples: &[
        ("seatmap tune -- ./app", "race seats of a program against the kernel's own choice"),
        (
            "seatmap tune --seconds 10m -o plan.json -- ./app",
            "race for ten minutes, keep the winner",
        ),
        (
            "seatmap tune --on xeon-phi-5110p --pattern ring:8",
            "race placements on a machine that only the simulator has",
        ),
    ],
    short_examples: 1,
    exits: &[
        ("0", "the race is over, with a gain or without"),
        ("1", "a run failed, or the race was interrupted"),
        USAGE,
    ],
    files: &[
        ("seatmap-tune.json", "every run of the race, in this folder; --record names another file"),
        REMEMBERED,
    ],
    environment: &[STATE, RANKS[0], RANKS[1], RANKS[2]],
    see_also: &["bench", "run", "place", "observe"],
};

const PRETEND: VerbGuide = VerbGuide {
    verb: "pretend",
    examples: &[
        ("seatmap pretend epyc-9654-2s -- ./app", "see where it would bind its threads there"),
        (
            "seatmap pretend epyc-9654-2s --check one-per-core -- ./app",
            "fail where two threads would share a core",
        ),
    ],
    exits: &[OF_PROGRAMS[0], ("1", "the check of --check fails"), OF_PROGRAMS[2]],
    see_also: &["check", "machines", "run"],
    ..VerbGuide::USUAL
};

//! The verbs that most people begin with, and those that find seats.

use super::{OF_PROGRAMS, RANKS, REMEMBERED, STATE, guide};
use seatmap_console::guide::{DONE, FAILED, USAGE, VerbGuide};

pub const GUIDES: &[VerbGuide] = &[
    ADVISE,
    MEASURE,
    PLACE,
    RUN,
    CHECK,
    PATTERN,
    PATTERN_SHOW,
    PATTERN_CONVERT,
    PATTERN_LIST,
    EXPORT,
];

const ADVISE: VerbGuide = VerbGuide {
    short_examples: 2,
    exits: &[
        ("0", "advice was given, whatever it is"),
        ("1", "the program could not be observed, or the observation was interrupted"),
        ("2", "the command line is wrong, or no matching program was found"),
    ],
    files: &[REMEMBERED],
    environment: &[STATE],
    ..guide(
        "advise",
        &[
            ("seatmap advise -- ./app", "run a program, and recommend whether and how to pin it"),
            ("seatmap advise --pid 4711", "advise on a running process and its children"),
            ("seatmap advise --unit redis", "advise on a systemd unit"),
        ],
        &["run", "check", "observe", "tune", "services"],
    )
};

const MEASURE: VerbGuide = VerbGuide {
    files: &[
        REMEMBERED,
        (
            "~/.local/state/seatmap/HOST.journal",
            "an unfinished measurement, for --resume; with -o FILE it is FILE.journal",
        ),
    ],
    environment: &[STATE],
    ..guide(
        "measure",
        &[
            ("seatmap measure", "measure all CPUs, and save the profile for other commands"),
            (
                "seatmap measure --cpus 0-7 -o server.json",
                "measure eight CPUs, and save the profile",
            ),
            ("seatmap measure --homes 64", "also measure what the home of a line adds"),
            (
                "seatmap measure --share mine.json",
                "write a profile that names neither you nor the host",
            ),
        ],
        &["show", "place", "noise", "doctor", "cluster measure"],
    )
};

const PLACE: VerbGuide = VerbGuide {
    short_examples: 1,
    exits: &[
        DONE,
        ("1", "the search failed"),
        ("2", "the command line or an input file is wrong, or the tasks do not fit the machine"),
    ],
    files: &[REMEMBERED],
    environment: &[STATE],
    ..guide(
        "place",
        &[
            ("seatmap place --pattern ring:8", "find seats for eight threads in a ring"),
            (
                "seatmap place --on epyc-9654-2s --pattern stencil2d:8x8 -o plan.json",
                "place a stencil on another machine, and save the plan",
            ),
            (
                "seatmap place --pattern app.pattern.json --html plan.html",
                "place an observed pattern, and draw it on the machine",
            ),
            (
                "seatmap place --pattern stencil2d:4x4 --on gallery",
                "rank all bundled machines by a pattern's time",
            ),
        ],
        &["run", "export", "pattern list", "observe", "show", "machines"],
    )
};

const RUN: VerbGuide = VerbGuide {
    short_examples: 2,
    exits: &[
        OF_PROGRAMS[0],
        ("0", "with --pid, every thread is on its seat"),
        (
            "1",
            "with --pid, a thread has no seat or could not be pinned; with a program, the program \
             succeeded but its report could not be written",
        ),
        OF_PROGRAMS[2],
    ],
    files: &[REMEMBERED],
    environment: &[
        STATE,
        (
            "SLURM_LOCALID, OMPI_COMM_WORLD_LOCAL_RANK, LOCAL_RANK",
            "this process's rank on its node, which selects its seats",
        ),
    ],
    ..guide(
        "run",
        &[
            ("seatmap run --cpus 0-3 -- ./app", "pin its threads to CPUs 0 to 3"),
            ("seatmap run --plan plan.json -- ./app", "pin them by a plan of 'seatmap place'"),
            ("seatmap run --auto -- ./app", "try seats while it runs, and keep any that gain"),
            ("seatmap run --fit -- ./app", "show it the CPUs that it gets, without seats"),
            ("seatmap run --cpus numa:0 --memory local --pid 4711", "pin a running process"),
        ],
        &["place", "check", "top", "cell run", "taskset(1)", "numactl(8)"],
    )
};

const CHECK: VerbGuide = VerbGuide {
    short_examples: 1,
    exits: &[
        ("0", "nothing is wrong"),
        ("1", "something is wrong; with --strict, also if something could not be seen"),
        ("2", "the command line is wrong, or no matching program was found"),
    ],
    ..guide(
        "check",
        &[
            ("seatmap check", "check all pinned programs"),
            ("seatmap check --pid 4711 --expect plan.json", "compare a process with its plan"),
            (
                "seatmap check --unit redis --rule one-per-core --watch 10s",
                "check a unit every ten seconds",
            ),
            ("seatmap check --metrics 127.0.0.1:9410", "serve the findings to Prometheus"),
        ],
        &["run", "top", "advise", "services drift"],
    )
};

const PATTERN: VerbGuide = guide(
    "pattern",
    &[
        ("seatmap pattern list", "list the patterns that can be generated"),
        ("seatmap pattern show stencil2d:4x4", "draw a generated pattern"),
    ],
    &["place", "observe"],
);

const PATTERN_SHOW: VerbGuide = guide(
    "pattern show",
    &[
        ("seatmap pattern show ring:8", "draw a generated pattern"),
        (
            "seatmap pattern show app.pattern.json --html app.html",
            "draw an observed pattern as a page",
        ),
    ],
    &["pattern list", "place", "observe"],
);

const PATTERN_CONVERT: VerbGuide = guide(
    "pattern convert",
    &[
        (
            "seatmap pattern convert messages.csv -o app.pattern.json",
            "convert another tool's matrix",
        ),
        ("seatmap pattern convert ring:8 -o ring.json", "write a generated pattern to a file"),
    ],
    &["pattern show", "place"],
);

const PATTERN_LIST: VerbGuide = guide(
    "pattern list",
    &[("seatmap pattern list", "list the generators and their parameters")],
    &["pattern show", "place"],
);

const EXPORT: VerbGuide = VerbGuide {
    exits: &[DONE, FAILED, USAGE],
    environment: &[RANKS[0]],
    ..guide(
        "export",
        &[
            (
                "seatmap export plan.json --format omp-places",
                "print settings for an OpenMP program",
            ),
            (
                "seatmap export plan.json --format rankfile -o ranks",
                "write a rankfile for Open MPI",
            ),
            (
                "seatmap export services-plan.json --format systemd -o units.sh",
                "write a script that creates a drop-in for each unit of a services plan",
            ),
            ("seatmap export graviton3 --format svg -o map.svg", "draw the distances of a machine"),
        ],
        &["place", "import", "mpirun(1)", "srun(1)"],
    )
};

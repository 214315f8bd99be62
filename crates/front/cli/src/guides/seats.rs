//! The verbs that most people begin with, and those that find seats.

use super::{OF_PROGRAMS, RANKS, REMEMBERED, STATE};
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
    verb: "advise",
    examples: &[
        ("seatmap advise -- ./app", "run a program, and hear what to do with it"),
        ("seatmap advise --pid 4711", "look at a process that runs, and at those that it started"),
        ("seatmap advise --unit redis", "look at a systemd unit"),
    ],
    short_examples: 2,
    exits: &[
        ("0", "there is an advice, whatever it is"),
        ("1", "the program could not be observed, or the look was interrupted"),
        ("2", "the command line is wrong, or no program of that name was found"),
    ],
    files: &[REMEMBERED],
    environment: &[STATE],
    see_also: &["run", "check", "observe", "tune", "services"],
};

const MEASURE: VerbGuide = VerbGuide {
    verb: "measure",
    examples: &[
        ("seatmap measure", "measure all CPUs, and remember the profile for the other verbs"),
        ("seatmap measure --cpus 0-7 -o server.json", "measure eight CPUs, and keep the profile"),
        ("seatmap measure --homes 64", "find out as well what the home of a line adds"),
        (
            "seatmap measure --share mine.json",
            "write a profile that names neither you nor the host",
        ),
    ],
    files: &[
        REMEMBERED,
        (
            "~/.local/state/seatmap/HOST.journal",
            "an unfinished measurement, for --resume; with -o FILE it is FILE.journal",
        ),
    ],
    environment: &[STATE],
    see_also: &["show", "place", "noise", "doctor", "cluster measure"],
    ..VerbGuide::USUAL
};

const PLACE: VerbGuide = VerbGuide {
    verb: "place",
    examples: &[
        ("seatmap place --pattern ring:8", "find seats for eight threads in a ring"),
        (
            "seatmap place --on epyc-9654-2s --pattern stencil2d:8x8 -o plan.json",
            "place a stencil on another machine, and keep the plan",
        ),
        (
            "seatmap place --pattern app.pattern.json --html plan.html",
            "place a pattern that 'seatmap observe' wrote, and draw both",
        ),
        (
            "seatmap place --pattern stencil2d:4x4 --on gallery",
            "rank all bundled machines by the time of a pattern",
        ),
    ],
    short_examples: 1,
    exits: &[
        DONE,
        ("1", "the search failed"),
        ("2", "the command line or an input file is wrong, or the tasks do not fit the machine"),
    ],
    files: &[REMEMBERED],
    environment: &[STATE],
    see_also: &["run", "export", "pattern list", "observe", "show", "machines"],
};

const RUN: VerbGuide = VerbGuide {
    verb: "run",
    examples: &[
        ("seatmap run --cpus 0-3 -- ./app", "seat its threads on CPUs 0 to 3"),
        ("seatmap run --plan plan.json -- ./app", "seat them as 'seatmap place' found"),
        ("seatmap run --auto -- ./app", "try seats while it runs, and keep those that gain"),
        ("seatmap run --cpus numa:0 --memory local --pid 4711", "seat a process that runs already"),
    ],
    short_examples: 2,
    exits: &[
        OF_PROGRAMS[0],
        ("0", "with --pid, every thread sits on its seat"),
        (
            "1",
            "with --pid, a thread has no seat or refuses it; with a program, the program did well \
             and its report could not be written",
        ),
        OF_PROGRAMS[2],
    ],
    files: &[REMEMBERED],
    environment: &[
        STATE,
        (
            "SLURM_LOCALID, OMPI_COMM_WORLD_LOCAL_RANK, LOCAL_RANK",
            "which task of the plan this start is",
        ),
    ],
    see_also: &["place", "check", "top", "cell run", "taskset(1)", "numactl(8)"],
};

const CHECK: VerbGuide = VerbGuide {
    verb: "check",
    examples: &[
        ("seatmap check", "check all programs that somebody has bound"),
        ("seatmap check --pid 4711 --expect plan.json", "hold a process against its plan"),
        (
            "seatmap check --unit redis --rule one-per-core --watch 10s",
            "check a unit every ten seconds",
        ),
        ("seatmap check --metrics 127.0.0.1:9410", "serve the findings to Prometheus"),
    ],
    short_examples: 1,
    exits: &[
        ("0", "nothing is wrong"),
        ("1", "something is wrong; with --strict also: something could not be seen"),
        ("2", "the command line is wrong, or no program of that name was found"),
    ],
    see_also: &["run", "top", "advise", "services drift"],
    ..VerbGuide::USUAL
};

const PATTERN: VerbGuide = VerbGuide {
    verb: "pattern",
    examples: &[
        ("seatmap pattern list", "list the patterns that can be generated"),
        ("seatmap pattern show stencil2d:4x4", "draw one of them"),
    ],
    see_also: &["place", "observe"],
    ..VerbGuide::USUAL
};

const PATTERN_SHOW: VerbGuide = VerbGuide {
    verb: "pattern show",
    examples: &[
        ("seatmap pattern show ring:8", "draw a generated pattern"),
        ("seatmap pattern show app.pattern.json --html app.html", "draw an observed one as a page"),
    ],
    see_also: &["pattern list", "place", "observe"],
    ..VerbGuide::USUAL
};

const PATTERN_CONVERT: VerbGuide = VerbGuide {
    verb: "pattern convert",
    examples: &[
        (
            "seatmap pattern convert messages.csv -o app.pattern.json",
            "read a matrix of another tool",
        ),
        ("seatmap pattern convert ring:8 -o ring.json", "write a generated pattern down"),
    ],
    see_also: &["pattern show", "place"],
    ..VerbGuide::USUAL
};

const PATTERN_LIST: VerbGuide = VerbGuide {
    verb: "pattern list",
    examples: &[("seatmap pattern list", "list the patterns with the numbers that each takes")],
    see_also: &["pattern show", "place"],
    ..VerbGuide::USUAL
};

const EXPORT: VerbGuide = VerbGuide {
    verb: "export",
    examples: &[
        ("seatmap export plan.json --format omp-places", "set the seats of an OpenMP program"),
        ("seatmap export plan.json --format rankfile -o ranks", "write a rankfile for Open MPI"),
        (
            "seatmap export services-plan.json --format systemd -o units.sh",
            "write a script that makes a drop-in for each unit of a plan of services",
        ),
        ("seatmap export graviton3 --format svg -o map.svg", "draw the distances of a machine"),
    ],
    exits: &[DONE, FAILED, USAGE],
    environment: &[RANKS[0]],
    see_also: &["place", "import", "mpirun(1)", "srun(1)"],
    ..VerbGuide::USUAL
};

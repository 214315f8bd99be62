//! Examples, exit codes, files and variables of each verb, for help texts and manual pages.

use seatmap_console::guide::{DONE, GuideEntry, Guides, USAGE, VerbGuide};
use seatmap_console::shell;

pub const ALL: Guides = &[GUIDES, shell::GUIDES];

const GUIDES: &[VerbGuide] = &[
    PAPERS,
    RANK,
    MERGE,
    PLACE,
    MEASURE,
    STATS,
    CHANNELS,
    CURVE,
    SLICES,
    PRODUCER_CONSUMER,
    MANDELBROT,
    WORKERS,
    CONTROLLER,
    SERVE,
    CREATE,
    LIST,
    DESTROY,
    RENEW,
    START,
    STUDY,
];

const SECRET: GuideEntry = ("SEATMAP_SECRET", "the ranks' shared secret, without --secret-file");

const PAPERS: VerbGuide = VerbGuide {
    verb: "",
    examples: &[
        ("seatmap-papers study keller", "repeat a published experiment and compare"),
        ("seatmap-papers rank --on cell-ps3 --pattern ring:6", "time every mapping of a ring"),
        ("seatmap-papers stats --on cell-qs20", "measure the primitives of a Cell blade"),
    ],
    see_also: &[
        "study",
        "rank",
        "place",
        "stats",
        "channels",
        "workers",
        "controller",
        "seatmap(1)",
    ],
    ..VerbGuide::USUAL
};

const RANK: VerbGuide = VerbGuide {
    verb: "rank",
    examples: &[
        ("seatmap-papers rank --on cell-ps3 --pattern ring:6", "time every mapping on a model"),
        (
            "seatmap-papers rank --pattern ring:4 --variant pinned -o ranking.json",
            "time them on this computer, and keep the ranking",
        ),
        (
            "srun -N 4 seatmap-papers rank --on cell-qs22 --pattern ring:8 --spread",
            "spread the runs over four nodes",
        ),
    ],
    short_examples: 1,
    exits: &[DONE, ("1", "a run failed or was interrupted; --resume continues"), USAGE],
    environment: &[SECRET],
    see_also: &["rank merge", "study", "seatmap-place(1)"],
    ..VerbGuide::USUAL
};

const MERGE: VerbGuide = VerbGuide {
    verb: "rank merge",
    examples: &[
        ("seatmap-papers rank merge part-*.json -o ranking.json", "merge the parts of a study"),
        ("seatmap-papers rank merge part-*.json --svg ranking.svg", "draw the times by rank"),
    ],
    see_also: &["rank"],
    ..VerbGuide::USUAL
};

const PLACE: VerbGuide = VerbGuide {
    verb: "place",
    examples: &[
        ("seatmap-papers place --on cell-qs20 --pattern ring:8", "find the seats of a ring"),
        (
            "seatmap-papers place --on cell-qs20 --pattern pairs:16 --method partition",
            "divide the tasks over two chips first",
        ),
    ],
    short_examples: 1,
    see_also: &["rank", "study", "seatmap-place(1)"],
    ..VerbGuide::USUAL
};

const MEASURE: VerbGuide = VerbGuide {
    verb: "measure",
    examples: &[(
        "seatmap-papers measure --on cell-qs20 -o qs20.json",
        "write the distances for 'seatmap place --on qs20.json'",
    )],
    see_also: &["place", "seatmap-show(1)"],
    ..VerbGuide::USUAL
};

const STATS: VerbGuide = VerbGuide {
    verb: "stats",
    examples: &[
        ("seatmap-papers stats", "measure all primitives on this computer"),
        ("seatmap-papers stats --on cell-qs20 -f dmaget -n 8 -b 16k", "measure one on a model"),
    ],
    short_examples: 1,
    see_also: &["study", "channels"],
    ..VerbGuide::USUAL
};

const CHANNELS: VerbGuide = VerbGuide {
    verb: "channels",
    examples: &[
        (
            "seatmap-papers channels producer-consumer --on xeon-phi-5110p",
            "seat a pair near the home of its line",
        ),
        ("seatmap-papers channels curve --on xeon-phi-5110p", "draw the distances from one CPU"),
    ],
    see_also: &["study", "seatmap-measure(1)"],
    ..VerbGuide::USUAL
};

const CURVE: VerbGuide = VerbGuide {
    verb: "channels curve",
    examples: &[
        ("seatmap-papers channels curve --on xeon-phi-5110p", "measure from CPU 0"),
        (
            "seatmap-papers channels curve --on xeon-phi-5110p --pairs 30 --runs 5",
            "measure among thirty pairs",
        ),
    ],
    see_also: &["channels slices"],
    ..VerbGuide::USUAL
};

const SLICES: VerbGuide = VerbGuide {
    verb: "channels slices",
    examples: &[(
        "seatmap-papers channels slices --on xeon-phi-5110p --sections 4",
        "compare pairs at random with pairs in four slices of the ring",
    )],
    see_also: &["channels curve"],
    ..VerbGuide::USUAL
};

const PRODUCER_CONSUMER: VerbGuide = VerbGuide {
    verb: "channels producer-consumer",
    examples: &[(
        "seatmap-papers channels producer-consumer --on xeon-phi-5110p --iterations 20",
        "compare seats over twenty lines",
    )],
    short_examples: 1,
    see_also: &["channels mandelbrot"],
    ..VerbGuide::USUAL
};

const MANDELBROT: VerbGuide = VerbGuide {
    verb: "channels mandelbrot",
    examples: &[(
        "seatmap-papers channels mandelbrot --on xeon-phi-5110p --coordinators 4",
        "give each coordinator a slice of the ring",
    )],
    see_also: &["channels producer-consumer"],
    ..VerbGuide::USUAL
};

const WORKERS: VerbGuide = VerbGuide {
    verb: "workers",
    examples: &[
        ("seatmap-papers workers calls", "compare the calls of workers and threads"),
        ("seatmap-papers workers cellule --on cell-qs20", "time programs on a model of the Cell"),
    ],
    environment: &[("SEATMAP_CELLCC", "the compiler for C programs; default: seatmap-cellcc")],
    see_also: &["study", "seatmap-cell(1)"],
    ..VerbGuide::USUAL
};

const OF_CONTROLLER: VerbGuide = VerbGuide {
    files: &[
        ("/run/seatmap", "journals of cells, the controller's ledger and account"),
        ("/run/seatmap/controller.sock", "where a controller listens without --socket"),
    ],
    environment: &[("SEATMAP_RUN", "the folder of cells, instead of /run/seatmap")],
    ..VerbGuide::USUAL
};

const CONTROLLER: VerbGuide = VerbGuide {
    verb: "controller",
    examples: &[
        ("sudo seatmap-papers controller serve", "make cells for root, in turn"),
        ("sudo seatmap-papers controller create mine --count 2", "wait for two CPUs"),
    ],
    see_also: &["study", "seatmap-cell(1)"],
    ..OF_CONTROLLER
};

const SERVE: VerbGuide = VerbGuide {
    verb: "controller serve",
    examples: &[
        ("sudo seatmap-papers controller serve", "make cells for root and yourself, in turn"),
        (
            "sudo seatmap-papers controller serve --socket /srv/s --group hpc --policy fair",
            "share the computer among the members of a group",
        ),
    ],
    exits: &[
        ("0", "stopped on request; all cells of its clients are undone"),
        ("1", "a cell or the socket failed"),
        USAGE,
    ],
    see_also: &["controller create", "controller list"],
    ..OF_CONTROLLER
};

const CREATE: VerbGuide = VerbGuide {
    verb: "controller create",
    examples: &[
        ("seatmap-papers controller create mine --count 4 --ttl 1h", "wait for four CPUs"),
        ("seatmap-papers controller create mine --ttl 1h --hold", "end the cell with this command"),
    ],
    see_also: &["controller destroy", "seatmap-cell(1)"],
    ..OF_CONTROLLER
};

const LIST: VerbGuide = VerbGuide {
    verb: "controller list",
    examples: &[("seatmap-papers controller list", "list the cells and the requests that wait")],
    see_also: &["controller create"],
    ..OF_CONTROLLER
};

const DESTROY: VerbGuide = VerbGuide {
    verb: "controller destroy",
    examples: &[("seatmap-papers controller destroy mine", "undo your cell")],
    see_also: &["controller create"],
    ..OF_CONTROLLER
};

const RENEW: VerbGuide = VerbGuide {
    verb: "controller renew",
    examples: &[("seatmap-papers controller renew mine --ttl 1h", "let it end in an hour")],
    see_also: &["controller create"],
    ..OF_CONTROLLER
};

const START: VerbGuide = VerbGuide {
    verb: "controller start",
    examples: &[(
        "seatmap-papers controller start --channel --no-io -- ./static-solver",
        "files of a controller, and no I/O rights",
    )],
    exits: &[
        ("N", "the program's own exit code"),
        ("1", "the program could not be started"),
        ("2", "the command line is wrong, or no controller exports files"),
    ],
    see_also: &["controller serve", "seatmap-cell(1)"],
    ..OF_CONTROLLER
};

const STUDY: VerbGuide = VerbGuide {
    verb: "study",
    examples: &[
        ("seatmap-papers study keller", "compute the figures of a paper and compare them"),
        ("seatmap-papers study all --write pages", "write a page for each study"),
    ],
    exits: &[
        ("0", "every row was computed, whatever its verdict"),
        ("1", "a row could not be computed here"),
        USAGE,
    ],
    see_also: &["rank", "stats", "channels", "workers"],
    ..VerbGuide::USUAL
};

#[cfg(test)]
mod tests {
    use super::ALL;
    use crate::args::command;
    use seatmap_console::{for_tests, manual};

    #[test]
    fn guide_examples_parse() {
        let wrong = for_tests::mistakes(ALL, "seatmap-papers", command);
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn manual_explains_every_option() {
        let bare = for_tests::unexplained(command(), ALL).unwrap();
        assert!(bare.is_empty(), "{bare:#?}");
    }

    #[test]
    fn every_page_has_an_example() {
        for page in manual::pages(command(), ALL).unwrap() {
            assert!(page.text.contains(".SH EXAMPLES"), "{}", page.file);
        }
    }
}

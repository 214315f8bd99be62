//! Examples, exit codes, files and variables of each verb: the tables in help and manual pages.

mod cell;
mod look;
mod machines;
mod program;
mod seats;
mod services;

use seatmap_console::guide::{GuideEntry, Guides, VerbGuide};
use seatmap_console::shell;

/// The tables of all verbs.
pub const ALL: Guides = &[
    &[SEATMAP],
    seats::GUIDES,
    program::GUIDES,
    look::GUIDES,
    services::GUIDES,
    cell::GUIDES,
    machines::GUIDES,
    shell::GUIDES,
];

const SEATMAP: VerbGuide = VerbGuide {
    files: &[REMEMBERED, CELLS],
    environment: &[STATE, RUN],
    ..guide(
        "",
        &[
            ("seatmap advise -- ./app", "run a program, and recommend whether and how to pin it"),
            ("seatmap measure", "measure how far apart the cores of this computer are"),
            (
                "seatmap place --pattern ring:8 -o plan.json",
                "find the best seats for eight threads",
            ),
            ("seatmap run --plan plan.json -- ./app", "run the program on these seats"),
            ("seatmap check", "check that pinned programs are on their CPUs"),
        ],
        &["advise", "measure", "place", "run", "check", "lstopo(1)", "taskset(1)"],
    )
};

/// A verb's guide with the usual exit codes, and without files or variables.
const fn guide(
    verb: &'static str,
    examples: &'static [GuideEntry],
    see_also: &'static [&'static str],
) -> VerbGuide {
    VerbGuide { verb, examples, see_also, ..VerbGuide::USUAL }
}

/// The file of the last measurement.
const REMEMBERED: GuideEntry = (
    "~/.local/state/seatmap/HOST.json",
    "the last measurement of HOST; in $XDG_STATE_HOME/seatmap if that is set",
);

/// The folder of cells and plans of services.
const CELLS: GuideEntry = (
    "/run/seatmap",
    "journals of active cells and plans; $XDG_RUNTIME_DIR/seatmap for users other than root",
);

const STATE: GuideEntry = ("XDG_STATE_HOME", "the base folder of saved measurements");

const RUN: GuideEntry =
    ("SEATMAP_RUN", "the folder of active cells and plans, instead of /run/seatmap");

const OF_PROGRAMS: &[GuideEntry] = &[
    ("any", "the program's exit code; if a signal ends it, the same signal ends this command"),
    ("1", "the program succeeded, but this command's own work failed"),
    ("2", "the command line or a file is wrong; nothing was started"),
];

const RANKS: &[GuideEntry] = &[
    (
        "SLURM_PROCID, OMPI_COMM_WORLD_RANK, PMI_RANK, RANK",
        "this process's rank, set by srun, mpirun or torchrun",
    ),
    ("MASTER_ADDR, MASTER_PORT", "the ranks' meeting point, without --meet"),
    ("SEATMAP_SECRET", "the ranks' shared secret, without --secret-file"),
];

#[cfg(test)]
mod tests {
    use super::ALL;
    use crate::verbs::command;
    use seatmap_console::guide::VerbGuide;
    use seatmap_console::{for_tests, manual};

    fn verbs(command: &clap::Command, words: &str) -> Vec<String> {
        let inner = command
            .get_subcommands()
            .filter(|inner| !inner.is_hide_set() && inner.get_name() != "help");
        let below = inner
            .flat_map(|inner| verbs(inner, format!("{words} {}", inner.get_name()).trim_start()));
        std::iter::once(words.to_owned()).chain(below).collect()
    }

    #[test]
    fn every_verb_has_one_guide_with_examples() {
        let verbs = verbs(&command(), "");
        for verb in &verbs {
            let tables: Vec<&VerbGuide> =
                ALL.iter().copied().flatten().filter(|guide| guide.verb == verb).collect();
            assert_eq!(tables.len(), 1, "'{verb}'");
            assert!(!tables[0].examples.is_empty(), "'{verb}' has no example");
            assert!(tables[0].exits.len() > 1, "'{verb}' has no exit codes");
        }
        let all: usize = ALL.iter().map(|guides| guides.len()).sum();
        assert_eq!(all, verbs.len(), "a table is of no verb");
    }

    #[test]
    fn guide_examples_parse() {
        let wrong = for_tests::mistakes(ALL, "seatmap", command);
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn each_option_is_explained_in_the_manual() {
        let bare = for_tests::unexplained(command(), ALL).unwrap();
        assert!(bare.is_empty(), "{bare:#?}");
    }

    #[test]
    fn related_pages_exist() {
        let pages = manual::pages(command(), ALL).unwrap();
        for guide in ALL.iter().copied().flatten() {
            for (name, _) in guide.pages("seatmap").filter(|(name, _)| name.starts_with("seatmap"))
            {
                let file = format!("{name}.1");
                assert!(pages.iter().any(|page| page.file == file), "'{}': {name}", guide.verb);
            }
        }
    }
}

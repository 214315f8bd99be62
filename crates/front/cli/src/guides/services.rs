//! The verbs for the services of a computer.

use super::{CELLS, REMEMBERED, RUN, STATE, guide};
use seatmap_console::guide::{DONE, GuideEntry, USAGE, VerbGuide};

const FILE: GuideEntry = ("services.toml", "the services and their limits, in the current folder");

pub const GUIDES: &[VerbGuide] = &[
    VerbGuide {
        files: &[FILE, CELLS],
        environment: &[RUN],
        ..guide(
            "services",
            &[
                ("seatmap services init", "find the running services"),
                ("seatmap services plan -o plan.json", "find a CPU set for each service"),
                ("sudo seatmap services apply plan.json", "apply these sets for ten minutes"),
            ],
            &["advise", "check", "cell"],
        )
    },
    VerbGuide {
        files: &[FILE],
        ..guide(
            "services init",
            &[
                ("seatmap services init", "write services.toml"),
                (
                    "seatmap services init web.toml --seconds 30s",
                    "observe longer, and write another file",
                ),
            ],
            &["services show", "services plan"],
        )
    },
    VerbGuide {
        exits: &[
            ("0", "all files were read"),
            ("1", "two services claim CPUs that one of them claims exclusively"),
            USAGE,
        ],
        files: &[FILE],
        ..guide(
            "services import",
            &[
                (
                    "seatmap services import /etc/systemd/system -o plan.json",
                    "read all units, and write their CPUs as a plan",
                ),
                (
                    "sudo seatmap services import /var/lib/kubelet/cpu_manager_state",
                    "read the CPUs that kubelet assigned to pods",
                ),
                ("virsh dumpxml web | seatmap services import -", "read a libvirt domain"),
            ],
            &["services plan", "services drift", "export"],
        )
    },
    VerbGuide {
        files: &[FILE],
        ..guide(
            "services show",
            &[
                ("seatmap services show", "show the load and the CPUs of each service"),
                ("seatmap services show web.toml --html web.html", "write a page"),
            ],
            &["services observe", "top"],
        )
    },
    VerbGuide {
        files: &[FILE],
        ..guide(
            "services observe",
            &[
                ("sudo seatmap services observe -o load.json", "record for 30 seconds"),
                (
                    "sudo seatmap services observe --seconds 10m -o load.json",
                    "record ten minutes of a busy hour",
                ),
            ],
            &["services plan"],
        )
    },
    VerbGuide {
        files: &[FILE, REMEMBERED],
        environment: &[STATE],
        ..guide(
            "services plan",
            &[
                ("seatmap services plan -o plan.json", "observe for ten seconds, then plan"),
                (
                    "seatmap services plan --record load.json -o plan.json",
                    "plan for a recorded load",
                ),
                (
                    "seatmap services plan --record load.json --on epyc-9654-2s",
                    "plan for another machine",
                ),
            ],
            &["services observe", "services apply", "services race"],
        )
    },
    VerbGuide {
        exits: &[DONE, ("1", "a setting was refused; all settings were restored"), USAGE],
        files: &[CELLS],
        environment: &[RUN],
        ..guide(
            "services apply",
            &[
                ("sudo seatmap services apply plan.json", "apply the plan for ten minutes"),
                (
                    "sudo seatmap services apply plan.json --ttl 1h --interrupts",
                    "move interrupts as well",
                ),
            ],
            &["services keep", "services undo", "services drift"],
        )
    },
    VerbGuide {
        exits: &[
            ("0", "the race is complete, with or without a winner"),
            ("1", "the race failed or was interrupted; the services were restored"),
            USAGE,
        ],
        files: &[CELLS],
        environment: &[RUN],
        ..guide(
            "services race",
            &[
                (
                    "sudo seatmap services race plan.json",
                    "try a plan in twelve rounds of two periods",
                ),
                (
                    "sudo seatmap services race plan.json --rounds 40 --period 2s",
                    "try it for longer",
                ),
            ],
            &["services apply", "tune"],
        )
    },
    VerbGuide {
        files: &[CELLS],
        environment: &[RUN],
        ..guide(
            "services keep",
            &[
                ("sudo seatmap services keep", "keep the only applied plan until it is undone"),
                ("sudo seatmap services keep web", "keep the plan 'web'"),
            ],
            &["services apply", "services undo"],
        )
    },
    VerbGuide {
        exits: &[DONE, ("1", "a setting could not be restored; the output names it"), USAGE],
        files: &[CELLS],
        environment: &[RUN],
        ..guide(
            "services undo",
            &[
                ("sudo seatmap services undo", "undo the only applied plan"),
                ("sudo seatmap services undo web", "undo the plan 'web'"),
            ],
            &["services apply", "cell restore"],
        )
    },
    VerbGuide {
        exits: &[("0", "nothing has changed"), ("1", "something has changed"), USAGE],
        files: &[CELLS],
        environment: &[RUN],
        ..guide(
            "services drift",
            &[
                ("seatmap services drift", "check the only applied plan"),
                ("seatmap services drift web --json", "check the plan 'web', as JSON"),
            ],
            &["services apply", "check"],
        )
    },
];

//! Compares a program's requested threads with its seats.

use crate::allocator::SeatAllocator;
use crate::executable::Executable;
use crate::runtime::settings::COUNT_VARIABLES;
use crate::runtime::{JAVA_OPTION, JAVA_VARIABLES, LanguageRuntime};
use crate::runtimes::{SeatFit, fit};
use seatmap_data::document::visible;
use seatmap_data::words::counted;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A count that is not a runtime's default (its manual).
const JULIA: &str = "JULIA_NUM_THREADS";

/// Variables that bind threads, and the values that switch this off.
const BINDINGS: [(&str, &[&str]); 4] = [
    ("OMP_PROC_BIND", &["false"]),
    ("OMP_PLACES", &[]),
    ("GOMP_CPU_AFFINITY", &[]),
    ("KMP_AFFINITY", &["none", "disabled"]),
];

/// From the programs' manual pages.
const OPTIONS: [(&str, &[&str]); 9] = [
    ("memcached", &["-t", "--threads"]),
    ("x264", &["--threads"]),
    ("pgbench", &["-j", "--jobs"]),
    ("wrk", &["-t", "--threads"]),
    ("sysbench", &["--threads"]),
    ("pigz", &["-p", "--processes"]),
    ("xz", &["-T", "--threads"]),
    ("zstd", &["-T", "--threads"]),
    ("ffmpeg", &["-threads"]),
];

/// Launchers of ranks, and the option that stops their own binding (mpirun(1), srun(1)).
const RANK_LAUNCHERS: [(&[&str], &str); 2] = [
    (&["mpirun", "mpiexec", "orterun", "prterun"], " --bind-to none"),
    (&["srun"], " --cpu-bind=none"),
];

/// Commands whose program a daemon or another computer starts, and how to reach it.
const HANDS_OVER: [(&[&str], &str); 4] = [
    (
        &["docker", "nerdctl", "kubectl", "crictl", "lxc", "incus"],
        "a daemon starts the program in a container: seat it with '--pid PID' when it runs (docker \
         inspect -f '{{.State.Pid}}' NAME prints the PID)",
    ),
    (
        &["ssh", "pdsh", "clush"],
        "another computer runs the program: put the seatmap command after the host name",
    ),
    (
        &["systemd-run"],
        "systemd starts the program: put the seatmap command after systemd-run's options, or add \
         --scope to them",
    ),
    (
        &["virsh", "machinectl", "at", "batch", "sbatch", "qsub", "bsub"],
        "another process starts the program: put the seatmap command before the program there",
    ),
];

/// A setting that does not fit the seats.
pub struct Disagreement {
    /// A sentence that names the setting.
    pub what: String,
    /// Whether the seats slow the program down or cannot hold its threads.
    pub is_grave: bool,
}

/// The settings that do not fit a program's seats. `widens`: threads may run on all seats.
pub fn disagreements(
    program: &Executable,
    seating: &SeatAllocator,
    widens: bool,
) -> Vec<Disagreement> {
    let arguments = program.words();
    let name = base_name(program.arguments.first().map_or(b"", |name| name.to_bytes()));
    let launcher = hands_over(&arguments).or_else(|| starts_ranks(&name));
    let launcher = launcher.map(|what| Disagreement { what, is_grave: true });
    if seating.ordered_tasks() == 0 {
        return launcher.into_iter().collect();
    }
    let cpus = seating.whole.len();
    let variables: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    let variable =
        |name: &str| Some(variables.get(OsStr::new(name))?.to_string_lossy().trim().to_owned());
    let own = arguments.get(1..).unwrap_or_default();
    let runtime = LanguageRuntime::of(program.file());
    let is_narrow = fit(seating, widens, runtime) == SeatFit::Narrow;
    let narrowed = is_narrow && runtime.asks_again() && !runtime.is_sized(own, &variable);
    let narrowed = narrowed
        .then(|| Disagreement { what: runtime.narrowed(&visible(&name), cpus), is_grave: true });
    let settings = of(&name, own, &variable, cpus);
    launcher.into_iter().chain(settings).chain(narrowed).collect()
}

/// A sentence for a command whose program is not a descendant, so that Seatmap cannot seat it.
pub fn hands_over(command: &[String]) -> Option<String> {
    let name = base_name(command.first()?.as_bytes());
    let (_, how) = HANDS_OVER.iter().find(|(names, _)| names.contains(&name.as_str()))?;
    let is_child = name == "systemd-run" && command.iter().any(|word| word == "--scope");
    (!is_child).then(|| format!("the threads of '{name}' are not the program's: {how}"))
}

fn starts_ranks(name: &str) -> Option<String> {
    // Distributions add the implementation: `mpirun.openmpi`, `mpiexec.hydra`.
    let plain = name.split('.').next().unwrap_or_default();
    let (_, unbound) = RANK_LAUNCHERS.iter().find(|(names, _)| names.contains(&plain))?;
    Some(format!(
        "this seats '{name}' itself, but no ranks that another process starts; to give each rank \
         its part of the seats, swap the order: {name}{unbound} ... seatmap run ... -- PROGRAM"
    ))
}

fn base_name(path: &[u8]) -> String {
    let name = Path::new(OsStr::from_bytes(path)).file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn of(
    name: &str,
    arguments: &[String],
    variable: &dyn Fn(&str) -> Option<String>,
    cpus: usize,
) -> Vec<Disagreement> {
    let names = COUNT_VARIABLES.iter().map(|setting| setting.variable).chain([JULIA]);
    let counts = names.filter_map(|name| count(name, &variable(name)?, cpus));
    let bindings =
        BINDINGS.iter().filter_map(|(name, harmless)| binding(name, &variable(name)?, harmless));
    let option = option(name, arguments).and_then(|(option, value)| {
        let sets = if option.starts_with("--") { "=" } else { " " };
        disagreement(option, sets, value, cpus)
    });
    let java = (name == "java").then(|| java(arguments, variable, cpus)).flatten();
    counts.chain(bindings).chain(option).chain(java).collect()
}

/// A list (`OMP_NUM_THREADS=4,2`) is for nested levels; the first counts.
fn count(name: &str, value: &str, cpus: usize) -> Option<Disagreement> {
    let threads = value.split(',').next()?.trim().parse().ok()?;
    disagreement(name, "=", threads, cpus)
}

fn disagreement(what: &str, sets: &str, threads: usize, cpus: usize) -> Option<Disagreement> {
    // 0 stands for the number of CPUs (xz, zstd, x264, ffmpeg, Rayon), or is refused.
    if threads == 0 {
        return None;
    }
    let effect = match threads.cmp(&cpus) {
        std::cmp::Ordering::Equal => return None,
        std::cmp::Ordering::Less => "leaves seats empty",
        std::cmp::Ordering::Greater => "puts several threads on one CPU",
    };
    let seats = counted(cpus, "CPU");
    let what = format!(
        "{what}{sets}{threads} {effect}: the seats have {seats}; set {what}{sets}{cpus} for one \
         thread per CPU"
    );
    Some(Disagreement { what, is_grave: threads > cpus })
}

fn binding(name: &str, value: &str, harmless: &[&str]) -> Option<Disagreement> {
    let binds = !value.is_empty() && !harmless.contains(&value.to_lowercase().as_str());
    binds.then(|| Disagreement {
        what: format!(
            "{name}={value} makes the program bind its threads itself, after Seatmap; unset {name}"
        ),
        is_grave: true,
    })
}

fn option(name: &str, arguments: &[String]) -> Option<(&'static str, usize)> {
    let (_, options) = OPTIONS.iter().find(|(program, _)| *program == name)?;
    let own = arguments.iter().take_while(|argument| *argument != "--");
    own.enumerate().find_map(|(at, argument)| {
        let option = options.iter().find(|option| argument.starts_with(**option))?;
        let attached = argument[option.len()..].trim_start_matches('=');
        let value = if attached.is_empty() { arguments.get(at + 1)?.as_str() } else { attached };
        Some((*option, value.parse().ok()?))
    })
}

fn java(
    arguments: &[String],
    variable: &dyn Fn(&str) -> Option<String>,
    cpus: usize,
) -> Option<Disagreement> {
    let [tool, jdk, last] = JAVA_VARIABLES.map(|name| words(&variable(name).unwrap_or_default()));
    // In the virtual machine's order; the last word counts (`parse_vm_init_args` of HotSpot).
    let all = tool.iter().chain(&jdk).chain(arguments).chain(&last);
    let threads =
        all.filter_map(|word| word.strip_prefix(JAVA_OPTION)?.parse().ok()).next_back()?;
    disagreement(JAVA_OPTION.trim_end_matches('='), "=", threads, cpus)
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(command: &str, variables: &[(&str, &str)], cpus: usize) -> String {
        let mut words = command.split(' ').map(str::to_owned);
        let name = words.next().unwrap();
        let variable = |name: &str| {
            variables.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
        };
        let found = of(&name, &words.collect::<Vec<_>>(), &variable, cpus);
        found.into_iter().map(|found| found.what).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn conflicting_variables_are_reported() {
        insta::assert_snapshot!(told("solver", &[("OMP_NUM_THREADS", "8,2"), ("GOMAXPROCS", "1")], 4), @"
        OMP_NUM_THREADS=8 puts several threads on one CPU: the seats have 4 CPUs; set OMP_NUM_THREADS=4 for one thread per CPU
        GOMAXPROCS=1 leaves seats empty: the seats have 4 CPUs; set GOMAXPROCS=4 for one thread per CPU
        ");
        insta::assert_snapshot!(told("solver", &[("OMP_PROC_BIND", "close"), ("KMP_AFFINITY", "disabled")], 4), @"OMP_PROC_BIND=close makes the program bind its threads itself, after Seatmap; unset OMP_PROC_BIND");
        assert_eq!(
            told(
                "solver",
                &[("OMP_NUM_THREADS", "4"), ("GOMAXPROCS", "many"), ("OMP_PROC_BIND", "FALSE")],
                4
            ),
            ""
        );
    }

    #[test]
    fn launchers_get_recommended_order() {
        for (name, order) in [
            ("mpirun", "mpirun --bind-to none ... seatmap run ... -- PROGRAM"),
            ("mpiexec.hydra", "mpiexec.hydra --bind-to none ... seatmap run"),
            ("srun", "srun --cpu-bind=none ... seatmap run ... -- PROGRAM"),
        ] {
            assert!(starts_ranks(name).unwrap().contains(order), "{name}");
        }
        assert_eq!(starts_ranks("mpirunner"), None);
    }

    #[test]
    fn daemon_clients_are_recognized() {
        for (line, is_told) in [
            ("/usr/bin/docker run nginx", true),
            ("ssh host ./app", true),
            ("systemd-run ./app", true),
            ("systemd-run --scope ./app", false),
            ("make -j4", false),
            ("podman run nginx", false),
            ("./docker.sh", false),
        ] {
            let command: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(hands_over(&command).is_some(), is_told, "{line}");
        }
    }

    #[test]
    fn conflicting_options_are_reported() {
        assert_eq!(
            [told("memcached -d -t 4 -m 64", &[], 2), told("x264 --threads=1 -o x y", &[], 2)],
            [
                "-t 4 puts several threads on one CPU: the seats have 2 CPUs; set -t 2 for one thread per CPU",
                "--threads=1 leaves seats empty: the seats have 2 CPUs; set --threads=2 for one thread per CPU",
            ]
        );
        assert_eq!(told("xz -T4 -k file", &[], 4), "");
        assert_eq!(told("xz -T0 -k file", &[("RAYON_NUM_THREADS", "0")], 4), "", "as many as fit");
        assert_eq!(told("pg_ctl -t 60 -w start", &[], 2), "", "the same letter means a time there");
        assert_eq!(told("wrk -t", &[], 2), "");
    }

    #[test]
    fn java_processor_count_is_checked() {
        assert_eq!(told("java -jar x.jar", &[], 2), "", "its threads may run on all seats");
        insta::assert_snapshot!(told("java -XX:ActiveProcessorCount=8 X", &[], 2), @"-XX:ActiveProcessorCount=8 puts several threads on one CPU: the seats have 2 CPUs; set -XX:ActiveProcessorCount=2 for one thread per CPU");
        assert_eq!(
            told("java X", &[("JAVA_TOOL_OPTIONS", "-Xmx1g -XX:ActiveProcessorCount=2")], 2),
            ""
        );
        let two = "java -XX:ActiveProcessorCount=2 X";
        let eight = "-XX:ActiveProcessorCount=8";
        assert_eq!(told(two, &[("JDK_JAVA_OPTIONS", eight)], 2), "");
        assert!(told(two, &[("_JAVA_OPTIONS", eight)], 2).contains("=8 puts several threads"));
        assert_eq!(told("java X", &[], 1), "");
    }

    #[test]
    fn oversubscription_is_grave() {
        assert_eq!(
            [1, 2, 3]
                .map(|threads| disagreement("-t", " ", threads, 2).map(|found| found.is_grave)),
            [Some(false), None, Some(true)]
        );
        assert!(binding("OMP_PLACES", "cores", &[]).is_some_and(|found| found.is_grave));
    }
}

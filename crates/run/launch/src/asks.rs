//! Compares the number of threads, or the CPUs, that a program is told to use with the seats there are.
//!
//! This module only reads variables and options, and never changes them: each line names the setting to change.

use crate::executable::Executable;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Variables that say how many threads a runtime starts, from the manuals of OpenMP, Go, OpenBLAS, MKL, Rayon, Tokio,
/// Julia and Numba. A list (`OMP_NUM_THREADS=4,2`) is one of nested levels; the first counts.
const COUNTS: [&str; 8] = [
    "OMP_NUM_THREADS",
    "GOMAXPROCS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "TOKIO_WORKER_THREADS",
    "JULIA_NUM_THREADS",
    "NUMBA_NUM_THREADS",
];

/// Variables with which a runtime binds threads itself, and the values that mean that it does not.
const BINDINGS: [(&str, &[&str]); 4] = [
    ("OMP_PROC_BIND", &["false"]),
    ("OMP_PLACES", &[]),
    ("GOMP_CPU_AFFINITY", &[]),
    ("KMP_AFFINITY", &["none", "disabled"]),
];

/// Options that say how many threads a program starts, from the programs' manual pages.
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

/// The option of Java's virtual machine, and the variables that may hold it (java(1)).
const JAVA_OPTION: &str = "-XX:ActiveProcessorCount=";
const JAVA_VARIABLES: [&str; 2] = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"];

/// The settings of a program that do not fit this number of CPUs to sit on, a line each.
#[must_use]
pub fn disagreements(program: &Executable, cpus: usize) -> Vec<String> {
    let arguments: Vec<String> = program.arguments().iter().map(|text| text.to_string_lossy().into_owned()).collect();
    let path = Path::new(OsStr::from_bytes(program.path().to_bytes()));
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let variables: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    let variable = |name: &str| Some(variables.get(OsStr::new(name))?.to_string_lossy().trim().to_owned());
    of(&name, arguments.get(1..).unwrap_or_default(), &variable, cpus)
}

fn of(name: &str, arguments: &[String], variable: &dyn Fn(&str) -> Option<String>, cpus: usize) -> Vec<String> {
    let counts = COUNTS.iter().filter_map(|name| count(name, &variable(name)?, cpus));
    let bindings = BINDINGS.iter().filter_map(|(name, harmless)| binding(name, &variable(name)?, harmless));
    let option = option(name, arguments).and_then(|(option, value)| {
        let sets = if option.starts_with("--") { "=" } else { " " };
        disagreement(option, sets, value, cpus)
    });
    let java = (name == "java").then(|| java(arguments, variable, cpus)).flatten();
    counts.chain(bindings).chain(option).chain(java).collect()
}

fn count(name: &str, value: &str, cpus: usize) -> Option<String> {
    let threads = value.split(',').next()?.trim().parse().ok()?;
    disagreement(name, "=", threads, cpus)
}

/// A number of threads that is not the number of CPUs.
fn disagreement(what: &str, sets: &str, threads: usize, cpus: usize) -> Option<String> {
    let effect = match threads.cmp(&cpus) {
        std::cmp::Ordering::Equal => return None,
        std::cmp::Ordering::Less => "leaves seats empty",
        std::cmp::Ordering::Greater => "puts several threads on one CPU",
    };
    let seats = if cpus == 1 { "the seats have 1 CPU".to_owned() } else { format!("the seats have {cpus} CPUs") };
    Some(format!("{what}{sets}{threads} {effect}: {seats}; set {what}{sets}{cpus} for one thread a CPU"))
}

fn binding(name: &str, value: &str, harmless: &[&str]) -> Option<String> {
    let binds = !value.is_empty() && !harmless.contains(&value.to_lowercase().as_str());
    binds.then(|| format!("{name}={value} makes the program bind its threads itself, after Seatmap; unset {name}"))
}

/// The program's own option and its value.
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

/// A Java thread that sits on one CPU sees one processor, whenever it asks.
fn java(arguments: &[String], variable: &dyn Fn(&str) -> Option<String>, cpus: usize) -> Option<String> {
    let elsewhere = JAVA_VARIABLES.iter().filter_map(|name| variable(name));
    let words: Vec<String> =
        elsewhere.flat_map(|text| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect();
    let all = words.iter().chain(arguments);
    match all.filter_map(|word| word.strip_prefix(JAVA_OPTION)?.parse().ok()).next_back() {
        Some(threads) => disagreement(JAVA_OPTION.trim_end_matches('='), "=", threads, cpus),
        None if cpus > 1 => Some(format!(
            "Java sizes pools by the CPUs of the thread that asks, and a seated thread has one; set {JAVA_OPTION}{cpus}"
        )),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(command: &str, variables: &[(&str, &str)], cpus: usize) -> String {
        let mut words = command.split(' ').map(str::to_owned);
        let name = words.next().unwrap();
        let variable =
            |name: &str| variables.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned());
        of(&name, &words.collect::<Vec<_>>(), &variable, cpus).join("\n")
    }

    #[test]
    fn variables_that_disagree_are_told_of() {
        insta::assert_snapshot!(told("solver", &[("OMP_NUM_THREADS", "8,2"), ("GOMAXPROCS", "1")], 4), @"
        OMP_NUM_THREADS=8 puts several threads on one CPU: the seats have 4 CPUs; set OMP_NUM_THREADS=4 for one thread a CPU
        GOMAXPROCS=1 leaves seats empty: the seats have 4 CPUs; set GOMAXPROCS=4 for one thread a CPU
        ");
        insta::assert_snapshot!(told("solver", &[("OMP_PROC_BIND", "close"), ("KMP_AFFINITY", "disabled")], 4), @"OMP_PROC_BIND=close makes the program bind its threads itself, after Seatmap; unset OMP_PROC_BIND");
        assert_eq!(
            told("solver", &[("OMP_NUM_THREADS", "4"), ("GOMAXPROCS", "many"), ("OMP_PROC_BIND", "FALSE")], 4),
            ""
        );
    }

    #[test]
    fn options_that_disagree_are_told_of() {
        insta::assert_snapshot!(told("memcached -d -t 4 -m 64", &[], 2), @"-t 4 puts several threads on one CPU: the seats have 2 CPUs; set -t 2 for one thread a CPU");
        insta::assert_snapshot!(told("x264 --threads=1 -o x y", &[], 2), @"--threads=1 leaves seats empty: the seats have 2 CPUs; set --threads=2 for one thread a CPU");
        assert_eq!(told("xz -T4 -k file", &[], 4), "");
        assert_eq!(told("pg_ctl -t 60 -w start", &[], 2), "", "the same letter means a time there");
        assert_eq!(told("wrk -t", &[], 2), "");
    }

    #[test]
    fn java_is_told_of_the_option_that_it_lacks() {
        insta::assert_snapshot!(told("java -jar x.jar", &[], 2), @"Java sizes pools by the CPUs of the thread that asks, and a seated thread has one; set -XX:ActiveProcessorCount=2");
        insta::assert_snapshot!(told("java -XX:ActiveProcessorCount=8 X", &[], 2), @"-XX:ActiveProcessorCount=8 puts several threads on one CPU: the seats have 2 CPUs; set -XX:ActiveProcessorCount=2 for one thread a CPU");
        assert_eq!(told("java X", &[("JAVA_TOOL_OPTIONS", "-Xmx1g -XX:ActiveProcessorCount=2")], 2), "");
        assert_eq!(told("java X", &[], 1), "");
    }
}

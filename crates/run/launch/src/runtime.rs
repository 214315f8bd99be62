//! Language runtimes, and how they count CPUs. [`counts`] has the settings of their numbers of
//! threads, [`settings`] the variables that `run --fit` sets.

pub mod counts;
pub mod settings;

use seatmap_data::words::counted;
use seatmap_os::elf::Elf;
use std::path::Path;

/// The section that Go's linker writes into every program (package `debug/buildinfo`).
const OF_GO: &str = ".go.buildinfo";

/// Java's option, and the variables that may contain it (java(1)).
pub(crate) const JAVA_OPTION: &str = "-XX:ActiveProcessorCount=";
pub(crate) const JAVA_VARIABLES: [&str; 3] =
    ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"];

/// The variable for the number of working Go threads (package `runtime`).
const GO_VARIABLE: &str = "GOMAXPROCS";

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum LanguageRuntime {
    /// A thread is a unit of work, and the program counts the CPUs once, at its start: OpenMP,
    /// Tokio, Rayon, Julia, Erlang. Python has no setting for its threads.
    Ordinary,
    /// The program counts the CPUs once, after it has created threads.
    DotNet,
    /// The launcher creates a thread that counts the CPUs, and sizes the garbage collector and the
    /// compilers by them. A thread that makes a pool counts again, and finds its own CPUs.
    Java,
    /// Workers start before the script, which counts again when it starts more
    /// (`os.availableParallelism`).
    Node,
    /// Work moves among threads, which count the CPUs repeatedly. A thread's seat is meaningless,
    /// and a narrow mask makes fewer threads start.
    Go,
}

impl LanguageRuntime {
    pub(crate) fn of(file: &Path) -> Self {
        match file.file_name().and_then(|name| name.to_str()) {
            Some("java") => return LanguageRuntime::Java,
            Some("node" | "nodejs" | "deno" | "bun") => return LanguageRuntime::Node,
            Some("dotnet") => return LanguageRuntime::DotNet,
            _ => {}
        }
        match Elf::open(file) {
            Ok(elf) if elf.section(OF_GO).is_some() => LanguageRuntime::Go,
            _ => LanguageRuntime::Ordinary,
        }
    }

    /// Whether a process's first two threads count the CPUs some time after its start.
    pub fn asks_late(self) -> bool {
        matches!(self, LanguageRuntime::DotNet | LanguageRuntime::Java | LanguageRuntime::Node)
    }

    /// Whether any thread may count the CPUs at any time, and the program works less with one.
    pub fn asks_again(self) -> bool {
        matches!(self, LanguageRuntime::Java | LanguageRuntime::Node | LanguageRuntime::Go)
    }

    /// Whether the user has set the number of CPUs.
    pub fn is_sized(self, arguments: &[String], variable: &dyn Fn(&str) -> Option<String>) -> bool {
        match self {
            LanguageRuntime::Java => {
                let elsewhere = JAVA_VARIABLES.iter().filter_map(|name| variable(name));
                elsewhere.chain(arguments.iter().cloned()).any(|text| text.contains(JAVA_OPTION))
            }
            LanguageRuntime::Go => variable(GO_VARIABLE).is_some(),
            _ => false,
        }
    }

    /// A sentence about a program that counts CPUs in a thread with one.
    pub fn narrowed(self, program: &str, cpus: usize) -> String {
        let remedy = match self {
            LanguageRuntime::Java => format!("set {JAVA_OPTION}{cpus}"),
            LanguageRuntime::Go => format!("set {GO_VARIABLE}={cpus}"),
            _ => format!("configure {cpus}", cpus = counted(cpus, "worker")),
        };
        format!(
            "{program} sizes itself by the CPUs of the current thread, and a seated thread has \
             one; {remedy}"
        )
    }
}

/// Whether Go's compiler built a program. False for an unreadable file.
pub fn is_of_go(file: &Path) -> bool {
    LanguageRuntime::of(file) == LanguageRuntime::Go
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn is_of_go_with(bytes: &[u8]) -> bool {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        is_of_go(file.path())
    }

    /// Two sections, the second with their names.
    fn program(names: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; 64 + 2 * 64];
        let order = if cfg!(target_endian = "little") { 1 } else { 2 };
        bytes[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, order]);
        bytes[40..48].copy_from_slice(&64_u64.to_ne_bytes());
        [(58, 64), (60, 2), (62, 1)].iter().for_each(|(at, number): &(usize, u16)| {
            bytes[*at..at + 2].copy_from_slice(&number.to_ne_bytes());
        });
        bytes[64..68].copy_from_slice(&1_u32.to_ne_bytes());
        bytes[128 + 24..128 + 32].copy_from_slice(&192_u64.to_ne_bytes());
        bytes[128 + 32..128 + 40].copy_from_slice(&(names.len() as u64).to_ne_bytes());
        bytes.extend_from_slice(names);
        bytes
    }

    #[test]
    fn go_programs_are_recognized_by_section() {
        assert!(is_of_go_with(&program(b"\0.go.buildinfo\0")));
        assert!(!is_of_go_with(&program(b"\0.data\0")) && !is_of_go_with(b"#!/bin/sh\n"));
        assert_eq!(
            LanguageRuntime::of(&std::env::current_exe().unwrap()),
            LanguageRuntime::Ordinary
        );
        assert_eq!(LanguageRuntime::of(Path::new("/opt/jdk/bin/java")), LanguageRuntime::Java);
        assert_eq!(LanguageRuntime::of(Path::new("/no/such")), LanguageRuntime::Ordinary);
    }

    #[test]
    fn user_settings_fix_runtime_cpu_count() {
        let none = |_: &str| None;
        let word = |text: &str| vec![text.to_owned()];
        assert!(LanguageRuntime::Java.is_sized(&word("-XX:ActiveProcessorCount=2"), &none));
        assert!(
            !LanguageRuntime::Java.is_sized(&word("-Xmx1g"), &none)
                && !LanguageRuntime::Node.is_sized(&[], &none)
        );
        let has = |wanted: &'static str, text: &'static str| {
            move |name: &str| (name == wanted).then(|| text.to_owned())
        };
        assert!(
            LanguageRuntime::Java
                .is_sized(&[], &has("JDK_JAVA_OPTIONS", "-Xmx1g -XX:ActiveProcessorCount=2"))
        );
        assert!(
            LanguageRuntime::Go.is_sized(&[], &has("GOMAXPROCS", "2"))
                && !LanguageRuntime::Go.is_sized(&[], &none)
        );
    }

    #[test]
    fn warning_names_setting_of_runtime() {
        assert_eq!(
            [
                LanguageRuntime::Java.narrowed("java", 4),
                LanguageRuntime::Go.narrowed("hugo", 4),
                LanguageRuntime::Node.narrowed("node", 4)
            ],
            [
                "java sizes itself by the CPUs of the current thread, and a seated thread has one; set -XX:ActiveProcessorCount=4",
                "hugo sizes itself by the CPUs of the current thread, and a seated thread has one; set GOMAXPROCS=4",
                "node sizes itself by the CPUs of the current thread, and a seated thread has one; configure 4 workers",
            ]
        );
    }

    proptest! {
        #[test]
        fn damaged_executable_never_panics(cut in 0usize..220, at in 0usize..192, byte: u8) {
            let mut bytes = program(b"\0.go.buildinfo\0");
            bytes[at] = byte;
            bytes.truncate(cut);
            is_of_go_with(&bytes);
        }
    }
}

//! The treatment of threads by a program's language, as far as seats depend on it.

use seatmap_data::statistics::words::counted;
use seatmap_os::elf::Elf;
use std::path::Path;

/// The section that Go's linker writes into every program (package `debug/buildinfo`).
const OF_GO: &str = ".go.buildinfo";

/// The option of Java's virtual machine, and the variables that may hold it (java(1)).
pub(crate) const JAVA_OPTION: &str = "-XX:ActiveProcessorCount=";
pub(crate) const JAVA_VARIABLES: [&str; 3] =
    ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"];

/// The variable that says how many threads of Go work at a time (package `runtime`).
const GO_VARIABLE: &str = "GOMAXPROCS";

/// The runtime of a program, as far as seats depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LanguageRuntime {
    /// A thread is a unit of work, and the program reads the number of CPUs once, at its start.
    /// OpenMP, Tokio, Rayon, Julia and Erlang are like that; Python has no setting for its threads.
    Ordinary,
    /// The program reads the number of CPUs once, after it has created threads.
    DotNet,
    /// Its launcher creates a thread that asks for the number of CPUs and sizes the garbage
    /// collector and the compilers by it. A thread that makes a pool asks again, and is told of its
    /// own CPUs.
    Java,
    /// Workers start before the script runs; the script asks whenever it starts more
    /// (`os.availableParallelism`).
    Node,
    /// Work moves among threads, which read the number of CPUs over and over. A seat for a thread
    /// is meaningless there, and a narrow mask makes the program start fewer threads.
    Go,
}

impl LanguageRuntime {
    /// The runtime of a program's file. One that cannot be read is taken for ordinary.
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

    /// Whether the first two threads of a process ask for the number of CPUs some time after its
    /// start.
    pub fn asks_late(self) -> bool {
        matches!(self, LanguageRuntime::DotNet | LanguageRuntime::Java | LanguageRuntime::Node)
    }

    /// Whether any thread may ask for the number of CPUs at any time, and the program does less
    /// work where it is told of one.
    pub fn asks_again(self) -> bool {
        matches!(self, LanguageRuntime::Java | LanguageRuntime::Node | LanguageRuntime::Go)
    }

    /// Whether its user has told it the number of CPUs, so that it does not ask.
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

    /// The sentence about a program that asks for the number of CPUs in a thread which has one.
    pub fn narrowed(self, program: &str, cpus: usize) -> String {
        let remedy = match self {
            LanguageRuntime::Java => format!("set {JAVA_OPTION}{cpus}"),
            LanguageRuntime::Go => format!("set {GO_VARIABLE}={cpus}"),
            _ => format!("tell it to start {cpus}", cpus = counted(cpus, "worker")),
        };
        format!(
            "{program} sizes itself by the CPUs of the thread that asks, and a seated thread has \
             one; {remedy}"
        )
    }
}

/// Whether a program was built by Go's compiler, whose goroutines move among the program's threads.
/// A file that cannot be read counts as another one.
#[must_use]
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

    /// A file of no segments and two sections, whose second one has their names: its header
    /// (e_shoff, e_shentsize, e_shnum, e_shstrndx), theirs (sh_name; sh_offset, sh_size), and
    /// these.
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
    fn programs_of_go_are_known_by_a_section() {
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
    fn users_may_tell_a_runtime_the_number_of_cpus() {
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
    fn sentences_name_the_setting_of_the_runtime() {
        insta::assert_snapshot!(LanguageRuntime::Java.narrowed("java", 4), @"java sizes itself by the CPUs of the thread that asks, and a seated thread has one; set -XX:ActiveProcessorCount=4");
        insta::assert_snapshot!(LanguageRuntime::Go.narrowed("hugo", 4), @"hugo sizes itself by the CPUs of the thread that asks, and a seated thread has one; set GOMAXPROCS=4");
        insta::assert_snapshot!(LanguageRuntime::Node.narrowed("node", 4), @"node sizes itself by the CPUs of the thread that asks, and a seated thread has one; tell it to start 4 workers");
    }

    proptest! {
        #[test]
        fn no_file_is_too_broken(cut in 0usize..220, at in 0usize..192, byte: u8) {
            let mut bytes = program(b"\0.go.buildinfo\0");
            bytes[at] = byte;
            bytes.truncate(cut);
            is_of_go_with(&bytes);
        }
    }
}

//! The treatment of threads by a program's language, as far as seats depend on it.

use seatmap_statistics::words::counted;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// The section that Go's linker writes into every program (package `debug/buildinfo`).
const OF_GO: &[u8] = b".go.buildinfo\0";

/// The lengths in bytes of a file's header and of a section's, as in `Elf64_Ehdr` and `Elf64_Shdr`
/// of elf(5).
const HEADER_BYTES: usize = 64;
const SECTION_BYTES: usize = 64;

/// The most bytes of section names that are read.
const MOST_NAMES_BYTES: u64 = 1 << 16;

/// The option of Java's virtual machine, and the variables that may hold it (java(1)).
pub(crate) const JAVA_OPTION: &str = "-XX:ActiveProcessorCount=";
pub(crate) const JAVA_VARIABLES: [&str; 3] =
    ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"];

/// The variable that says how many threads of Go work at a time (package `runtime`).
const GO_VARIABLE: &str = "GOMAXPROCS";

/// The runtime of a program, as far as seats depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runtime {
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

impl Runtime {
    /// The runtime of a program's file. One that cannot be read is taken for ordinary.
    pub(crate) fn of(file: &Path) -> Self {
        match file.file_name().and_then(|name| name.to_str()) {
            Some("java") => return Runtime::Java,
            Some("node" | "nodejs" | "deno" | "bun") => return Runtime::Node,
            Some("dotnet") => return Runtime::DotNet,
            _ => {}
        }
        match has_section(file, OF_GO) {
            Ok(true) => Runtime::Go,
            _ => Runtime::Ordinary,
        }
    }

    /// Whether the first two threads of a process ask for the number of CPUs some time after its
    /// start.
    pub fn asks_late(self) -> bool {
        matches!(self, Runtime::DotNet | Runtime::Java | Runtime::Node)
    }

    /// Whether any thread may ask for the number of CPUs at any time, and the program does less
    /// work where it is told of one.
    pub fn asks_again(self) -> bool {
        matches!(self, Runtime::Java | Runtime::Node | Runtime::Go)
    }

    /// Whether its user has told it the number of CPUs, so that it does not ask.
    pub fn is_sized(self, arguments: &[String], variable: &dyn Fn(&str) -> Option<String>) -> bool {
        match self {
            Runtime::Java => {
                let elsewhere = JAVA_VARIABLES.iter().filter_map(|name| variable(name));
                elsewhere.chain(arguments.iter().cloned()).any(|text| text.contains(JAVA_OPTION))
            }
            Runtime::Go => variable(GO_VARIABLE).is_some(),
            _ => false,
        }
    }

    /// The sentence about a program that asks for the number of CPUs in a thread which has one.
    pub fn narrowed(self, program: &str, cpus: usize) -> String {
        let remedy = match self {
            Runtime::Java => format!("set {JAVA_OPTION}{cpus}"),
            Runtime::Go => format!("set {GO_VARIABLE}={cpus}"),
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
    Runtime::of(file) == Runtime::Go
}

/// Whether a file is a 64-bit ELF program of this computer's byte order with a section of this
/// name.
fn has_section(path: &Path, name: &[u8]) -> io::Result<bool> {
    let mut file = File::open(path)?;
    let mut header = [0; HEADER_BYTES];
    file.read_exact(&mut header)?;
    // e_shentsize of `Elf64_Ehdr`, and below e_shoff and e_shstrndx (elf(5)).
    if !header.starts_with(b"\x7fELF\x02") || usize::from(half(&header, 58)) != SECTION_BYTES {
        return Ok(false);
    }
    // The names stand in a section of their own, whose number is the header's last field.
    let sections_at = word(&header[40..48]);
    let names_header =
        sections_at.saturating_add((usize::from(half(&header, 62)) * SECTION_BYTES) as u64);
    let mut section = [0; SECTION_BYTES];
    file.seek(SeekFrom::Start(names_header))?;
    file.read_exact(&mut section)?;
    let names_at = word(&section[24..32]);
    let size_bytes = word(&section[32..40]);
    let mut names = Vec::new();
    file.seek(SeekFrom::Start(names_at))?;
    file.take(size_bytes.min(MOST_NAMES_BYTES)).read_to_end(&mut names)?;
    Ok(names.windows(name.len()).any(|window| window == name))
}

/// The 16-bit number at this offset of an ELF header.
fn half(header: &[u8], at: usize) -> u16 {
    u16::from_ne_bytes([header[at], header[at + 1]])
}

fn word(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(u64::MAX, u64::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn has(bytes: &[u8]) -> bool {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        has_section(file.path(), OF_GO).unwrap_or(false)
    }

    /// A header, a section's header behind it, and names.
    fn program(names: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; HEADER_BYTES + SECTION_BYTES];
        bytes[..5].copy_from_slice(b"\x7fELF\x02");
        bytes[40..48].copy_from_slice(&(HEADER_BYTES as u64).to_ne_bytes());
        bytes[58..60].copy_from_slice(&(SECTION_BYTES as u16).to_ne_bytes());
        bytes[HEADER_BYTES + 24..HEADER_BYTES + 32].copy_from_slice(&128_u64.to_ne_bytes());
        bytes[HEADER_BYTES + 32..HEADER_BYTES + 40]
            .copy_from_slice(&(names.len() as u64).to_ne_bytes());
        bytes.extend_from_slice(names);
        bytes
    }

    #[test]
    fn programs_of_go_are_known_by_a_section() {
        assert!(has(&program(b"\0.text\0.go.buildinfo\0.data\0")));
        assert!(!has(&program(b"\0.text\0.data\0")) && !has(b"#!/bin/sh\n") && !has(b""));
        assert_eq!(Runtime::of(&std::env::current_exe().unwrap()), Runtime::Ordinary);
        assert_eq!(Runtime::of(Path::new("/opt/jdk/bin/java")), Runtime::Java);
        assert_eq!(Runtime::of(Path::new("/no/such")), Runtime::Ordinary);
    }

    #[test]
    fn users_may_tell_a_runtime_the_number_of_cpus() {
        let none = |_: &str| None;
        let word = |text: &str| vec![text.to_owned()];
        assert!(Runtime::Java.is_sized(&word("-XX:ActiveProcessorCount=2"), &none));
        assert!(
            !Runtime::Java.is_sized(&word("-Xmx1g"), &none) && !Runtime::Node.is_sized(&[], &none)
        );
        let has = |wanted: &'static str, text: &'static str| {
            move |name: &str| (name == wanted).then(|| text.to_owned())
        };
        assert!(
            Runtime::Java
                .is_sized(&[], &has("JDK_JAVA_OPTIONS", "-Xmx1g -XX:ActiveProcessorCount=2"))
        );
        assert!(
            Runtime::Go.is_sized(&[], &has("GOMAXPROCS", "2")) && !Runtime::Go.is_sized(&[], &none)
        );
    }

    #[test]
    fn sentences_name_the_setting_of_the_runtime() {
        insta::assert_snapshot!(Runtime::Java.narrowed("java", 4), @"java sizes itself by the CPUs of the thread that asks, and a seated thread has one; set -XX:ActiveProcessorCount=4");
        insta::assert_snapshot!(Runtime::Go.narrowed("hugo", 4), @"hugo sizes itself by the CPUs of the thread that asks, and a seated thread has one; set GOMAXPROCS=4");
        insta::assert_snapshot!(Runtime::Node.narrowed("node", 4), @"node sizes itself by the CPUs of the thread that asks, and a seated thread has one; tell it to start 4 workers");
    }

    proptest! {
        #[test]
        fn no_file_is_too_broken(cut in 0usize..150, at in 0usize..128, byte: u8) {
            let mut bytes = program(b"\0.go.buildinfo\0");
            bytes[at] = byte;
            bytes.truncate(cut);
            has(&bytes);
        }
    }
}

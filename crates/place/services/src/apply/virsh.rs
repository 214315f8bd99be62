//! The pins of a running libvirt domain: of its vCPUs, its I/O threads and its emulator, read and
//! set with `virsh` (virsh(1): vcpupin, iothreadpin, emulatorpin).
//!
//! libvirt gives each thread a cpuset, so a mask alone could not leave the pin. `virsh` connects to
//! `LIBVIRT_DEFAULT_URI`.

use super::setting::{failed, is_word, output};
use seatmap_data::document::whole_number;
use seatmap_os::root::FileError;
use seatmap_os::{CpuSet, Tid};
use std::process::{Command, Output};
use std::{fmt, io};

/// errno(3).
const ENOENT: i32 = 2;

/// libvirt's own limit of vCPUs is lower (4096 in 2024).
const MOST_PARTS: usize = 8192;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DomainPart {
    Vcpu(u32),
    /// A thread for its disks.
    IoThread(u32),
    /// All its other threads.
    Emulator,
}

impl fmt::Display for DomainPart {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DomainPart::Vcpu(number) => write!(out, "vcpu:{number}"),
            DomainPart::IoThread(number) => write!(out, "iothread:{number}"),
            DomainPart::Emulator => write!(out, "emulator"),
        }
    }
}

impl DomainPart {
    pub fn of(kind: &str, number: Option<&str>) -> Option<Self> {
        match (kind, number) {
            ("emulator", None) => Some(DomainPart::Emulator),
            ("vcpu", Some(text)) => whole_number(text).map(DomainPart::Vcpu),
            ("iothread", Some(text)) => whole_number(text).map(DomainPart::IoThread),
            _ => None,
        }
    }

    fn shown_by(self) -> &'static str {
        match self {
            DomainPart::Vcpu(_) => "vcpupin",
            DomainPart::IoThread(_) => "iothreadinfo",
            DomainPart::Emulator => "emulatorpin",
        }
    }
}

/// `virsh` interprets a number as an id.
pub fn is_domain_name(name: &str) -> bool {
    is_word(name) && name.parse::<Tid>().is_err()
}

/// # Errors
/// `virsh` is not installed, does not reach libvirt, or does not know the domain.
pub fn pins(domain: &str) -> Result<Vec<(DomainPart, String)>, FileError> {
    let mut all = Vec::new();
    for kind in [DomainPart::Vcpu(0), DomainPart::IoThread(0), DomainPart::Emulator] {
        all.extend(shown(domain, kind)?);
    }
    Ok(all)
}

/// # Errors
/// As for [`pins`], or the domain no longer has this part.
pub fn pin(domain: &str, part: DomainPart) -> Result<String, FileError> {
    let found = shown(domain, part)?.into_iter().find(|(other, _)| *other == part);
    found.map(|(_, cpus)| cpus).ok_or_else(|| gone(domain))
}

/// Does not change the domain's file.
///
/// # Errors
/// As for [`pins`], or an error of libvirt.
pub fn set_pin(domain: &str, part: DomainPart, cpus: &str) -> Result<(), FileError> {
    let (verb, option, number) = match part {
        DomainPart::Vcpu(number) => ("vcpupin", "--vcpu", number),
        DomainPart::IoThread(number) => ("iothreadpin", "--iothread", number),
        DomainPart::Emulator => {
            return run(domain, &["emulatorpin", "--cpulist", cpus]).map(drop);
        }
    };
    run(domain, &[verb, option, &number.to_string(), "--cpulist", cpus]).map(drop)
}

fn shown(domain: &str, kind: DomainPart) -> Result<Vec<(DomainPart, String)>, FileError> {
    let output = run(domain, &[kind.shown_by()])?;
    Ok(read(&String::from_utf8_lossy(&output.stdout), kind))
}

/// The emulator's number is `*`. Older releases write a colon after the number.
fn read(text: &str, kind: DomainPart) -> Vec<(DomainPart, String)> {
    let lines = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let number = words.next()?.trim_end_matches(':');
        let cpus = words.next().filter(|cpus| CpuSet::of_list(cpus).is_some())?;
        let part = match kind {
            DomainPart::Vcpu(_) => DomainPart::Vcpu(number.parse().ok()?),
            DomainPart::IoThread(_) => DomainPart::IoThread(number.parse().ok()?),
            DomainPart::Emulator if number == "*" => DomainPart::Emulator,
            DomainPart::Emulator => return None,
        };
        Some((part, cpus.to_owned()))
    });
    lines.take(MOST_PARTS).collect()
}

fn run(domain: &str, arguments: &[&str]) -> Result<Output, FileError> {
    let mut command = Command::new("virsh");
    command.env("LC_ALL", "C").args(arguments).args(["--domain", domain, "--live"]);
    let output = output(&path(domain), &mut command)?;
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let has_ended = ["failed to get domain", "domain is not running", "for offline domain"];
    if has_ended.iter().any(|words| said.contains(words)) {
        return Err(gone(domain));
    }
    let first = said.lines().next().unwrap_or("virsh failed without an error message");
    Err(failed(&path(domain), first.trim_start_matches("error: ")))
}

pub fn is_missing(error: &FileError) -> bool {
    error.source.kind() == io::ErrorKind::NotFound && !error.is_absent()
}

fn path(domain: &str) -> String {
    format!("domain:{domain}")
}

fn gone(domain: &str) -> FileError {
    FileError { path: path(domain), source: io::Error::from_raw_os_error(ENOENT) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Output of virsh 9.0.0 with its test driver.
    const VCPUS: &str = " VCPU   CPU Affinity\n----------------------\n 0      1\n 1      0-7\n\n";
    const EMULATOR: &str =
        "emulator: CPU Affinity\n----------------------------------\n       *: 2,4-5\n\n";
    const IO_THREADS: &str =
        " IOThread ID   CPU Affinity\n-----------------------------\n 1             0-1\n";

    #[test]
    fn virsh_tables_are_parsed() {
        let vcpus = read(VCPUS, DomainPart::Vcpu(0));
        let expected = [(DomainPart::Vcpu(0), "1".into()), (DomainPart::Vcpu(1), "0-7".into())];
        assert_eq!(vcpus, expected);
        let emulator = read(EMULATOR, DomainPart::Emulator);
        assert_eq!(emulator, [(DomainPart::Emulator, "2,4-5".into())]);
        let threads = read(IO_THREADS, DomainPart::IoThread(0));
        assert_eq!(threads, [(DomainPart::IoThread(1), "0-1".into())]);
        assert_eq!(read("No IOThreads found for the domain\n", DomainPart::IoThread(0)), []);
        // virsh before 1.3.
        let old = "VCPU: CPU Affinity\n----------------------------------\n   0: 0-3\n";
        assert_eq!(read(old, DomainPart::Vcpu(0)), [(DomainPart::Vcpu(0), "0-3".into())]);
    }

    #[test]
    fn domain_parts_round_trip_and_invalid_ones_fail() {
        for part in [DomainPart::Vcpu(12), DomainPart::IoThread(1), DomainPart::Emulator] {
            let text = part.to_string();
            let (kind, number) = text.split_once(':').map_or((&*text, None), |(a, b)| (a, Some(b)));
            assert_eq!(DomainPart::of(kind, number), Some(part));
        }
        for (kind, number) in
            [("vcpu", None), ("vcpu", Some("+1")), ("vcpu", Some("x")), ("emulator", Some("0"))]
        {
            assert_eq!(DomainPart::of(kind, number), None, "{kind} {number:?}");
        }
        assert!(is_domain_name("web-1") && !is_domain_name("7") && !is_domain_name("-c"));
    }
}

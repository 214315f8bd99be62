//! Parses seats in the notation of users: `0,4-7`, `cpus:14-15`, `l3:*`, `numa:0+1`.
//!
//! | written | seats |
//! |---|---|
//! | `3` | one, CPU 3 |
//! | `4-7`, `0-14:2` | one for each CPU of the range |
//! | `cpus:4-7` | one, anywhere on CPUs 4 to 7 |
//! | `cpus:0-3+8-11` | one, anywhere on both ranges |
//! | `core:3`, `l2:1`, `l3:0` | one, anywhere on that core or cache |
//! | `die:0`, `numa:1`, `package:0` | one, anywhere on that die, node or package |
//! | `l3:0-3`, `l3:*` | one for each of these caches |
//! | `numa:0+1` | one, anywhere on both nodes |
//! | `socket:0`, `node:1` | `package:0`, `numa:1` |
//! | `kind:performance`, `fast:4` ([`words`]) | one, anywhere on these CPUs |
//! | `l3:0/no-smt`, `kind:performance/fast:2` | one, on the CPUs that all these words leave |
//! | `cpu:*/no-smt`, `l3:*/kind:performance` | one for each CPU or part, on the CPUs left of it |
//! | `l3:0/no-smt+12` | one, anywhere on the CPUs of both terms |
//!
//! Cores, caches and dies have the numbers of `seatmap show host`, which count the whole machine
//! even under a cpuset or taskset. Nodes and packages have the operating system's numbers. A seat
//! contains only CPUs allowed to this process. An isolated CPU (`isolcpus=`) belongs to it only if
//! named, or if its whole part is isolated, because the kernel moves no thread to or from isolated
//! CPUs.

mod kept;
pub mod words;

pub use kept::{KeptWords, MovedWords, among};
use seatmap_data::machine::{Level, Topology};
use seatmap_machines::host::topology;
use seatmap_os::cpu_list::MAX_CPU;
use seatmap_os::cpus::Cpus;
use seatmap_os::holder::Holder;
use seatmap_os::{CpuList, CpuListError, CpuSet, Root, cpus};
use std::collections::BTreeMap;
use words::LeftCpus;
pub use words::{AcceptedWords, WordError, or_all};

/// Reads the computer whose parts a list of seats names.
pub type ReadComputer<'a> = &'a dyn Fn() -> Result<ComputerCpus, String>;

/// A computer's parts.
#[derive(Clone, Debug, Default)]
pub struct ComputerCpus {
    /// The CPUs shown by the kernel.
    pub topology: Topology,
    /// This process's CPUs, including isolated ones.
    pub usable: CpuSet,
    /// The isolated CPUs (`isolcpus=`).
    pub set_apart: CpuSet,
    /// Present CPUs that are offline, or hidden by a container.
    pub unseen: CpuSet,
    /// The files with its devices.
    pub root: Option<Root>,
}

impl ComputerCpus {
    /// Another machine, all of whose CPUs may be used, with its files, if any.
    pub fn of_machine(topology: Topology, root: Option<Root>) -> Self {
        let usable = topology.os_indices().collect();
        let set_apart = root.as_ref().map(cpus::set_apart).unwrap_or_default();
        ComputerCpus { topology, usable, set_apart, root, ..ComputerCpus::default() }
    }

    /// Reads this computer, as if this process might use all of its CPUs.
    ///
    /// # Errors
    /// As [`ComputerCpus::read`].
    pub fn read_whole() -> Result<Self, String> {
        let computer = ComputerCpus::read()?;
        Ok(ComputerCpus { usable: computer.topology.os_indices().collect(), ..computer })
    }

    /// The usable CPUs that are not isolated, or else all.
    pub fn usual(&self) -> CpuSet {
        let usual = self.usable.without(&self.set_apart);
        if usual.is_empty() { self.usable.clone() } else { usual }
    }

    /// Reads this computer.
    ///
    /// # Errors
    /// A sentence: its topology cannot be read.
    pub fn read() -> Result<Self, String> {
        let cpus = Cpus::read().map_err(|error| error.to_string())?;
        let usable: CpuSet = cpus.reachable().into_iter().collect();
        // Without sysfs only the mask is known.
        let topology = topology::whole().unwrap_or_else(|_| topology::showing(&usable));
        let present: CpuSet = cpus.present.into_iter().collect();
        let unseen = present.without(&topology.os_indices().collect());
        let root = Root::new("/");
        let set_apart = cpus::set_apart(&root);
        Ok(ComputerCpus { topology, usable, set_apart, unseen, root: Some(root) })
    }
}

/// The CPUs with the same last-level cache, or else NUMA node or package.
pub fn around(topology: &Topology, cpu: u32) -> CpuSet {
    let Some(own) = topology.pu(cpu) else { return CpuSet::single(cpu) };
    let level = if own.l3.is_some() {
        Level::L3
    } else if own.numa.is_some() {
        Level::Numa
    } else {
        Level::Package
    };
    let around = topology.pus.iter().filter(|other| level.of(other) == level.of(own));
    around.map(|pu| pu.os).collect()
}

const CPUS: &str = "cpus";
const CPU: &str = "cpu";

const MOST_CPUS: usize = MAX_CPU as usize + 1;

const EXPECTED: &str =
    "expected CPUs such as 0-3,8, or a seat such as cpus:14-15, l3:0, numa:1, core:3, l3:*";

/// Other tools' members; those ending in punctuation, or `0x`, are prefixes. Sources: taskset(1),
/// numactl(8), hwloc(7), likwid-pin(1) and srun(1).
const FOREIGN: [(&[&str], &str); 7] = [
    (&["0x"], "this is a hexadecimal mask; write a list of CPUs, such as 0-3,8"),
    (
        &["+"],
        "this is relative to the CPUs that the process may use, as for numactl; write absolute CPU \
         numbers, such as 0-3",
    ),
    (&["!", "~", "^"], "write not:0, or all/not:l3:1, to exclude CPUs"),
    (
        &["all:", "machine:", "*"],
        "for all CPUs, write all, core:* (a seat for each core) or package:* (one for each socket)",
    ),
    (&["pu:", "cpu:"], "write the operating system's CPU numbers without a prefix, such as 0-3"),
    (
        &[
            "map_cpu:",
            "mask_cpu:",
            "map_ldom:",
            "rank",
            "cores",
            "sockets",
            "threads",
            "ldoms",
            "socket",
            "core",
            "none",
            "no",
        ],
        "write CPUs by number, or parts: core:* has a seat for each core, package:* for each \
         socket, numa:* for each node",
    ),
    (&["p", "ap"], "instead of -cp of taskset, write -c 0-3 -p PID"),
];

/// `S0:0-3`, `N:0`, `E:N:2:1:2`, `0@S1:0`.
fn is_of_likwid(member: &str) -> bool {
    let domain = member.split_once(':').map(|(domain, _)| domain);
    let domain = domain.and_then(|domain| domain.strip_prefix(['S', 'M', 'D', 'C', 'N', 'E', 'L']));
    member.contains('@')
        || domain.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_like(member: &str, known: &str) -> bool {
    let is_beginning = known == "0x" || known.ends_with(|end: char| !end.is_alphanumeric());
    member == known || is_beginning && member.starts_with(known)
}

/// Advice for another tool's member.
pub fn foreign(member: &str) -> Option<&'static str> {
    let member = member.trim();
    if is_set(member) {
        return None;
    }
    if is_of_likwid(member) {
        return Some(
            "this is relative to a part of the machine, as for likwid-pin; write a whole part, \
             such as package:0, numa:0 or l3:0, or absolute CPU numbers, such as 0-3",
        );
    }
    if member.contains('.') && member.parse::<f64>().is_ok() {
        return Some(
            "this is an amount of CPU time, as for docker; write CPU numbers, such as 0-1",
        );
    }
    let known = FOREIGN.iter().find(|(known, _)| known.iter().any(|known| is_like(member, known)));
    known.map(|(_, advice)| *advice)
}

/// Why a list of seats was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetError {
    /// A member is malformed, or names something absent here.
    #[error("{0}")]
    Member(String),
    /// The list of CPUs is malformed.
    #[error("'{text}'")]
    Cpus {
        /// The member.
        text: String,
        /// The problem.
        source: CpuListError,
    },
    /// The word names no CPUs.
    #[error("'{text}'")]
    Word {
        /// The word.
        text: String,
        /// The problem.
        source: WordError,
    },
}

impl SetError {
    fn shape(member: &str) -> Self {
        let quoted =
            if member.is_empty() { "an empty member".to_owned() } else { format!("'{member}'") };
        SetError::Member(format!("{quoted}: {}", foreign(member).unwrap_or(EXPECTED)))
    }

    fn too_many(member: &str) -> Self {
        SetError::Member(format!(
            "the list of seats names more than {MOST_CPUS} CPUs, the last in '{member}'"
        ))
    }

    /// This process may use no CPU of the part, but these.
    fn forbidden(member: &str, cpus: &CpuSet, usable: &str) -> Self {
        SetError::Member(format!(
            "'{member}' has {}, which this process may not use: {}; it may use {usable}, which \
             'seatmap show host' lists",
            cpus.named(),
            Holder::of(cpus).or("its cpuset or a taskset forbids it")
        ))
    }
}

/// Whether a member names a set of CPUs (`cpus:14-15`, `l3:0`).
pub fn is_set(member: &str) -> bool {
    let is_part =
        |(word, _): (&str, &str)| word == CPUS || word == CPU || Level::named(word).is_some();
    is_of_words(member) || member.split_once(':').is_some_and(is_part)
}

/// Whether a member needs the grammar of words: `/` narrows, `+` joins.
fn is_of_words(member: &str) -> bool {
    let is_each_cpu = member.eq_ignore_ascii_case(&format!("{CPU}:*"));
    let joins = member.find('+').is_some_and(|at| at > 0);
    member.contains('/') || joins || words::is_word(member) || is_each_cpu
}

/// Parses a list of seats. Reads the computer only for levels, because that takes milliseconds.
///
/// # Errors
/// [`SetError`] for the first wrong member.
pub fn parse(text: &str, computer: ReadComputer) -> Result<Vec<CpuSet>, SetError> {
    members(text, computer).map(|members| members.concat())
}

/// The CPUs of all seats of a list on a known machine.
///
/// # Errors
/// [`SetError`] for the first wrong member.
pub fn all_of(text: &str, computer: &ComputerCpus) -> Result<CpuSet, SetError> {
    Ok(union(&parse(text, &|| Ok(computer.clone()))?))
}

/// Like [`parse`], member by member.
///
/// # Errors
/// [`SetError`] for the first wrong member.
pub fn members(text: &str, computer: ReadComputer) -> Result<Vec<Vec<CpuSet>>, SetError> {
    let mut all = Vec::new();
    let mut count = 0;
    for member in text.split(',').map(str::trim) {
        let seats = seats(member, computer)?;
        // A short text could fill gigabytes.
        count += seats.iter().map(CpuSet::len).sum::<usize>();
        if count > MOST_CPUS {
            return Err(SetError::too_many(member));
        }
        all.push(seats);
    }
    Ok(all)
}

fn seats(member: &str, computer: ReadComputer) -> Result<Vec<CpuSet>, SetError> {
    let computer =
        || computer().map_err(|reason| SetError::Member(format!("'{member}': {reason}")));
    if !is_of_words(member) {
        return simple(member, &computer);
    }
    let computer = computer()?;
    let mut joined = Vec::new();
    for term in terms(member) {
        joined.push(of_term(&term, &computer)?);
    }
    match &mut joined[..] {
        [only] => Ok(std::mem::take(only)),
        several => Ok(vec![union(&several.concat())]),
    }
}

/// The terms of a member. Numbers after a part belong to it: `numa:0+1/no-smt` is on both nodes.
fn terms(member: &str) -> Vec<String> {
    let mut terms: Vec<String> = Vec::new();
    for piece in member.split('+') {
        match terms.last_mut().filter(|term| is_part(term)) {
            Some(part) if piece.starts_with(|first: char| first.is_ascii_digit()) => {
                *part += &format!("+{piece}");
            }
            _ => terms.push(piece.to_owned()),
        }
    }
    terms
}

/// `cpus:0-3`, `numa:0`.
fn is_part(term: &str) -> bool {
    term.contains(':') && !term.contains(['/', '*']) && !words::is_word(term)
}

fn union(sets: &[CpuSet]) -> CpuSet {
    sets.iter().flatten().collect()
}

/// The seats of words that narrow each other, from left to right.
fn of_term(term: &str, computer: &ComputerCpus) -> Result<Vec<CpuSet>, SetError> {
    let mut words = term.split('/');
    let first = words.next().unwrap_or_default();
    let mut seats = if words::is_word(first) {
        let usual = computer.usual();
        vec![LeftCpus { cpus: &usual, before: "all", computer }.narrowed(first)?]
    } else {
        simple(first, &|| Ok(computer.clone()))?
    };
    let mut before = first.to_owned();
    for word in words {
        let among = union(&seats);
        let left = LeftCpus { cpus: &among, before: &before, computer };
        let left = if words::is_word(word) {
            left.narrowed(word)?
        } else {
            left.meeting(word, &union(&simple(word, &|| Ok(computer.clone()))?))?
        };
        seats = seats.iter().map(|seat| seat.within(&left)).collect();
        seats.retain(|seat| !seat.is_empty());
        before = format!("{before}/{word}");
    }
    Ok(seats)
}

/// The seats of one word: numbers, or parts of the machine.
fn simple(
    member: &str,
    computer: &dyn Fn() -> Result<ComputerCpus, SetError>,
) -> Result<Vec<CpuSet>, SetError> {
    if let Some(word) = words::alias(member) {
        return Err(SetError::Member(format!("'{member}': write '{word}'")));
    }
    if member.eq_ignore_ascii_case("cpu:*") {
        return Ok(computer()?.usual().iter().map(CpuSet::single).collect());
    }
    if foreign(member).is_some() {
        return Err(SetError::shape(member));
    }
    match member.split_once(':') {
        Some((CPUS, list)) => Ok(vec![joined(list, member)?.concat().into_iter().collect()]),
        Some((word, which)) if !word.starts_with(|first: char| first.is_ascii_digit()) => {
            let level = Level::named(word).ok_or_else(|| SetError::shape(member))?;
            of_level(member, level, which, &computer()?)
        }
        _ if member.starts_with(|first: char| first.is_ascii_digit()) => {
            Ok(cpus(member, member)?.into_iter().map(CpuSet::single).collect())
        }
        _ => Err(SetError::shape(member)),
    }
}

fn cpus(list: &str, member: &str) -> Result<Vec<u32>, SetError> {
    let read = list.parse::<CpuList>();
    read.map(|list| list.0).map_err(|source| SetError::Cpus { text: member.to_owned(), source })
}

fn joined(lists: &str, member: &str) -> Result<Vec<Vec<u32>>, SetError> {
    let mut parts = Vec::new();
    let mut count = 0;
    for part in lists.split('+') {
        let part = cpus(part, member)?;
        count += part.len();
        if count > MOST_CPUS {
            return Err(SetError::too_many(member));
        }
        parts.push(part);
    }
    Ok(parts)
}

#[derive(Default)]
struct Part {
    all: CpuSet,
    /// Allowed CPUs; isolated ones only if all are.
    usable: CpuSet,
}

fn parts(level: Level, computer: &ComputerCpus) -> BTreeMap<u32, Part> {
    let mut parts: BTreeMap<u32, Part> = BTreeMap::new();
    for pu in &computer.topology.pus {
        if let Some(number) = level.of(pu) {
            parts.entry(number).or_default().all.insert(pu.os);
        }
    }
    for part in parts.values_mut() {
        part.usable = part.all.within(&computer.usable);
        let usual = part.usable.without(&computer.set_apart);
        if !usual.is_empty() {
            part.usable = usual;
        }
    }
    parts
}

/// `*` and ranges give one seat per part, `+` joins parts. `*` skips isolated parts, unless all
/// are.
fn of_level(
    member: &str,
    level: Level,
    which: &str,
    computer: &ComputerCpus,
) -> Result<Vec<CpuSet>, SetError> {
    let level = NumberedParts { level, parts: parts(level, computer), computer };
    if which == "*" {
        return level.each().ok_or_else(|| level.absent(member));
    }
    match &joined(which, member)?[..] {
        [one] => one.iter().map(|number| level.joined(&[*number], member)).collect(),
        several => Ok(vec![level.joined(&several.concat(), member)?]),
    }
}

struct NumberedParts<'a> {
    level: Level,
    parts: BTreeMap<u32, Part>,
    computer: &'a ComputerCpus,
}

impl NumberedParts<'_> {
    fn each(&self) -> Option<Vec<CpuSet>> {
        let (apart, usual): (Vec<CpuSet>, Vec<CpuSet>) = self
            .usable()
            .map(|(_, cpus)| cpus.clone())
            .partition(|cpus| cpus.is_subset(&self.computer.set_apart));
        let seats = if usual.is_empty() { apart } else { usual };
        Some(seats).filter(|seats| !seats.is_empty())
    }

    fn joined(&self, numbers: &[u32], member: &str) -> Result<CpuSet, SetError> {
        let mut all = CpuSet::default();
        for number in numbers {
            let part = self.parts.get(number).ok_or_else(|| self.absent(member))?;
            if part.usable.is_empty() {
                return Err(self.forbidden(part, member));
            }
            all.extend(&part.usable);
        }
        Ok(all)
    }

    fn usable(&self) -> impl Iterator<Item = (u32, &CpuSet)> {
        let parts = self.parts.iter().map(|(number, part)| (*number, &part.usable));
        parts.filter(|(_, cpus)| !cpus.is_empty())
    }

    fn named(&self, numbers: impl Iterator<Item = u32>) -> String {
        format!("{} {}", self.level.name(), CpuList(numbers.collect()))
    }

    fn absent(&self, member: &str) -> SetError {
        let mut present = self.named(self.parts.keys().copied());
        if self.parts.is_empty() {
            present = format!("no {}", self.level.name());
        } else if self.usable().count() < self.parts.len() {
            let usable = self.named(self.usable().map(|(number, _)| number));
            present += &format!(", of which this process may use {usable}");
        }
        let among = self.counted_among();
        SetError::Member(format!(
            "'{member}': this machine has {present}{among}; 'seatmap show host' lists them"
        ))
    }

    fn forbidden(&self, part: &Part, member: &str) -> SetError {
        let usable = self.named(self.usable().map(|(number, _)| number)) + &self.counted_among();
        SetError::forbidden(member, &part.all, &usable)
    }

    fn counted_among(&self) -> String {
        if self.computer.unseen.is_empty() {
            return String::new();
        }
        let shown: CpuSet = self.computer.topology.os_indices().collect();
        format!(" (counted among the CPUs that the kernel shows here, {shown})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use seatmap_data::machine::{CoreKind, Pu};
    use seatmap_data::statistics::words::joined;

    fn computer() -> Result<ComputerCpus, String> {
        let topology = Topology {
            pus: (0..8)
                .map(|os| Pu {
                    os,
                    core: Some(os),
                    l3: Some(os / 2),
                    numa: Some(os / 4),
                    package: Some(os / 4),
                    ..Pu::default()
                })
                .collect(),
        };
        let usable = topology.os_indices().collect();
        Ok(ComputerCpus { topology, usable, ..ComputerCpus::default() })
    }

    #[test]
    fn numbers_are_the_machines_own_whatever_this_process_may_use() {
        let usable: CpuSet = [5, 6, 7].into_iter().collect();
        let narrow = || Ok(ComputerCpus { usable: usable.clone(), ..computer()? });
        let seats = |text: &str| parse(text, &narrow).map(|seats| seats[0].to_string());
        assert_eq!(seats("core:5"), Ok("5".to_owned()));
        assert_eq!(seats("l3:2,l3:3"), Ok("5".to_owned()), "as far as it may use it");
        assert_eq!(parse("l3:*", &narrow).unwrap().len(), 2);
        let refusal = |text: &str| seats(text).unwrap_err().to_string();
        let sentence = "'core:0' has CPU 0, which this process may not use: its cpuset or a \
             taskset forbids it; it may use core 5-7, which 'seatmap show host' lists";
        assert_eq!(refusal("core:0"), sentence);
        let sentence = "'numa:0+1' has CPUs 0-3, which this process may not use: its cpuset or a \
             taskset forbids it; it may use numa 1, which 'seatmap show host' lists";
        assert_eq!(refusal("numa:0+1"), sentence);
        let sentence = "'core:8': this machine has core 0-7, of which this process may use core \
             5-7; 'seatmap show host' lists them";
        assert_eq!(refusal("core:8"), sentence);
    }

    #[test]
    fn a_short_list_cannot_take_much_memory() {
        let whole = format!("0-{MAX_CPU}");
        let refusal = |text: &str| parse(text, &computer).unwrap_err();
        let too_many = |text: String| SetError::too_many(&text);
        let set = format!("cpus:{whole}");
        assert_eq!(refusal(&vec![set.clone(); 1000].join(",")), too_many(set));
        let sum = format!("cpus:{}", vec![whole.as_str(); 1000].join("+"));
        assert_eq!(refusal(&sum), too_many(sum.clone()));
        assert_eq!(refusal(&format!("{whole},{whole}")), too_many(whole));
    }

    #[test]
    fn numbers_of_a_part_of_the_machine_are_told_as_such() {
        let hidden = || Ok(ComputerCpus { unseen: CpuSet::single(8), ..computer()? });
        let refusal = parse("core:8", &hidden).unwrap_err().to_string();
        let sentence = "'core:8': this machine has core 0-7 (counted among the CPUs that the \
             kernel shows here, 0-7); 'seatmap show host' lists them";
        assert_eq!(refusal, sentence);
    }

    #[test]
    fn cpus_that_are_set_apart_are_named() {
        let set_apart: CpuSet = [3, 6, 7].into_iter().collect();
        let computer = || Ok(ComputerCpus { set_apart: set_apart.clone(), ..computer()? });
        let read = |text: &str| joined(parse(text, &computer).unwrap(), " ");
        assert_eq!(read("l3:*"), "0,1 2 4,5", "the fourth cache has no others");
        assert_eq!(read("l3:1,l3:3,core:3"), "2 6,7 3");
        assert_eq!(read("3,cpus:2-3,package:0"), "3 2,3 0-2");
    }

    fn read(text: &str) -> Result<String, String> {
        let seats = parse(text, &computer).map_err(|error| error.to_string())?;
        Ok(joined(&seats, " "))
    }

    #[test]
    fn a_seat_is_a_cpu_or_a_set_of_them() {
        let seats = |text| read(text).unwrap();
        assert_eq!(seats("3,0-1,0-6:3"), "3 0 1 0 3 6");
        assert_eq!(seats("cpus:4-5,cpus:0+6-7"), "4,5 0,6,7");
        assert_eq!(seats("l3:1,numa:1"), "2,3 4-7");
        assert_eq!(seats("l3:0-1,package:0+1"), "0,1 2,3 0-7");
        assert_eq!(seats("l3:*"), "0,1 2,3 4,5 6,7");
    }

    #[test]
    fn words_that_distinguish_nothing_are_left_out() {
        let accepted = |words: &str| or_all(words, &computer).unwrap();
        assert_eq!(
            accepted("0,l3:1+3"),
            AcceptedWords { words: "0,l3:1+3".into(), remarks: vec![] }
        );
        let server = accepted("kind:performance/no-smt,l3:0/not:kind:efficiency");
        assert_eq!(server.words, "all/no-smt,l3:0/all");
        let fact = "this machine has one kind of core: the kernel shows no difference between \
            them (a virtual machine shows none)";
        let remark = |word: &str| format!("'{word}': {fact}, so it means all CPUs");
        assert_eq!(server.remarks, [remark("kind:performance"), remark("kind:efficiency")]);
        assert!(or_all("kind:perf", &computer).is_err());
        let mut hybrid = computer().unwrap();
        for pu in &mut hybrid.topology.pus {
            let is_small = pu.os > 3;
            pu.kind = Some(if is_small { CoreKind::Efficiency } else { CoreKind::Performance });
        }
        let hybrid = || Ok(hybrid.clone());
        let small = or_all("kind:efficiency+kind:low-power", &hybrid).unwrap();
        assert_eq!(small.words, "kind:efficiency");
        assert!(small.remarks[0].ends_with("efficiency (4-7), so it is left out"), "{small:?}");
        assert_eq!(or_all("kind:low-power/first:1", &hybrid).unwrap().words, "all/first:1");
        assert_eq!(or_all("0+not:kind:low-power", &hybrid).unwrap().words, "0+all");
        let mut narrow = hybrid().unwrap();
        narrow.usable = CpuSet::single(0);
        let refused = or_all("kind:efficiency", &|| Ok(narrow.clone())).unwrap_err();
        assert!(refused.to_string().contains("which this process may not use"), "{refused}");
    }

    #[test]
    fn numbers_after_a_part_belong_to_it() {
        let named = |text: &str| {
            let computer = computer().unwrap();
            all_of(text, &computer).map(|cpus| cpus.to_string()).map_err(|error| error.to_string())
        };
        let found = |cpus: &str| Ok(cpus.to_owned());
        assert_eq!(named("numa:0+1/first:5"), found("0-4"));
        assert_eq!(named("0-1+4"), found("0,1,4"));
        assert_eq!(named("core:0+core:1"), named("core:0+1"));
        assert_eq!(named("cpus:0-1+4+6-7/not:l3:0"), found("4,6,7"));
        assert_eq!(named("l3:0/first:1+5"), found("0,5"), "narrowed terms are joined");
        assert_eq!(named("not:first:6+1"), found("1,6,7"));
        assert_eq!(named("cpu:*+1"), found("0-7"));
    }

    #[test]
    fn kept_words_name_the_same_cpus_for_every_process() {
        let whole = computer().unwrap();
        let usable: CpuSet = [2, 3, 5].into_iter().collect();
        let narrow = || Ok(ComputerCpus { usable: usable.clone(), ..computer()? });
        for (words, then) in [("first:2", "2,3"), ("l3:2,not:2/first:1", "3,5"), ("all", "2,3,5")] {
            let kept = KeptWords::of(words, &narrow).unwrap().unwrap();
            assert_eq!(kept.then.to_string(), then, "{words}");
            assert_eq!(kept.moved(&whole), None, "{kept:?}");
        }
        assert_eq!(KeptWords::of("2,3", &narrow), Ok(None));
        let kept = KeptWords::of("numa:1/first:2", &computer).unwrap().unwrap();
        assert_eq!(kept.words, "numa:1/first:2");
        let mut later = whole;
        later.topology.pus.retain(|pu| pu.os != 4);
        let moved = kept.moved(&later).unwrap().sentence();
        let sentence = "'numa:1/first:2' named CPUs 4,5 when the seats were chosen, and names CPUs \
            5,6 now";
        assert_eq!(moved, sentence);
        later.topology.pus.retain(|pu| pu.os < 4);
        let moved = kept.moved(&later).unwrap().sentence();
        assert!(moved.contains("and names none now ('numa:1': this machine has"), "{moved}");
    }

    #[test]
    fn parts_have_the_names_that_other_tools_give_them() {
        for (theirs, own) in [
            ("socket:1", "package:1"),
            ("pack:0", "package:0"),
            ("node:*", "numa:*"),
            ("numanode:0+1", "numa:0+1"),
            ("L3:1", "l3:1"),
            ("Core:0-3", "core:0-3"),
        ] {
            assert_eq!(read(theirs), read(own), "{theirs}");
            assert_eq!(foreign(theirs), None, "{theirs}");
        }
    }

    #[test]
    fn lists_of_other_tools_are_answered() {
        for (member, answer) in [
            ("0x3", "this is a hexadecimal mask"),
            ("S0:0-3", "as for likwid-pin"),
            ("N:0", "as for likwid-pin"),
            ("C0:0@C1:0", "as for likwid-pin"),
            ("E:N:2:1:2", "as for likwid-pin"),
            ("+0", "as for numactl"),
            ("!0", "to exclude CPUs"),
            ("machine:0", "core:* (a seat for each core)"),
            ("pu:0", "the operating system's CPU numbers"),
            ("map_cpu:0", "write CPUs by number"),
            ("cores", "core:* has a seat for each core"),
            ("1.5", "an amount of CPU time"),
            ("p", "-c 0-3 -p PID"),
        ] {
            let refusal = read(member).unwrap_err();
            assert!(refusal.starts_with(&format!("'{member}': ")), "{refusal}");
            assert!(refusal.contains(answer), "{refusal}");
        }
    }

    #[test]
    fn refusals_say_what_there_is() {
        let refusal = |text| read(text).unwrap_err();
        assert_eq!(
            ["l3:9", "die:0", "die:*", "soft:1", "1,,2", "cpus:"].map(refusal),
            [
                "'l3:9': this machine has l3 0-3; 'seatmap show host' lists them",
                "'die:0': this machine has no die; 'seatmap show host' lists them",
                "'die:*': this machine has no die; 'seatmap show host' lists them",
                "'soft:1': expected CPUs such as 0-3,8, or a seat such as cpus:14-15, l3:0, numa:1, core:3, l3:*",
                "an empty member: expected CPUs such as 0-3,8, or a seat such as cpus:14-15, l3:0, numa:1, core:3, l3:*",
                "'cpus:'",
            ]
        );
    }

    proptest! {
        #[test]
        fn no_text_is_too_much(text in "[a-z0-9:,*+-]{0,20}") {
            let _ = parse(&text, &computer);
        }

        #[test]
        fn plain_lists_mean_what_they_mean_elsewhere(cpus in prop::collection::vec(0_u32..500, 1..20)) {
            let list = CpuList(cpus.clone());
            let seats = parse(&list.to_string(), &computer).unwrap();
            let expected: Vec<CpuSet> = list.to_string().parse::<CpuList>().unwrap().0.into_iter().map(CpuSet::single).collect();
            prop_assert_eq!(seats, expected);
        }
    }
}

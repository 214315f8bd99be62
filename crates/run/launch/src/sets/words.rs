//! CPUs by what they are: `kind:performance`, `cache:biggest`, `fast:4`, `no-smt`, `near:eth0`.
//!
//! | word | CPUs |
//! |---|---|
//! | `kind:performance`, `kind:middle`, `kind:efficiency`, `kind:low-power` | one type of core |
//! | `cache:biggest`, `cache:64M` | those with the largest last cache, or at least this size |
//! | `fast:4` | the four fastest cores, one thread each |
//! | `first:4` | the four lowest numbers |
//! | `no-smt` | one thread of each core |
//! | `near:eth0`, `near:nvme0n1`, `near:gpu`, `near:0000:41:00.0` | those near a device |
//! | `not:WORD` | the others |
//! | `all` | every CPU that this process may use, without isolated ones |
//!
//! Kinds, caches and devices are properties of the machine. `fast`, `first` and `no-smt` choose
//! among the CPUs that the words before them left.

use super::{ComputerCpus, ReadComputer, SetError};
use crate::named::KnownWord;
use seatmap_data::document::whole_number;
use seatmap_data::machine::catalog::edits;
use seatmap_data::machine::{CoreKind, Pu, speed};
use seatmap_data::words::{counted, joined};
use seatmap_os::{CpuSet, devices};
use std::cmp::Reverse;
use std::collections::HashSet;

/// Why a word names no CPUs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WordError {
    /// The machine does not distinguish such CPUs.
    #[error("{0}")]
    NoDifference(String),
    /// The machine has other kinds.
    #[error("this machine has kinds {0}")]
    OtherKinds(String),
    /// No CPU has both properties: the words before, with their CPUs.
    #[error("no CPU is both; {0}")]
    Nothing(String),
    /// The word is malformed, or the machine lacks its device or number of CPUs.
    #[error("{0}")]
    Wrong(String),
}

impl WordError {
    fn is_no_difference(&self) -> bool {
        matches!(self, WordError::NoDifference(_) | WordError::OtherKinds(_))
    }

    fn equal(why: &str) -> Self {
        WordError::NoDifference(why.to_owned())
    }

    fn expected(figure: &str) -> Self {
        WordError::Wrong(format!("expected {figure}"))
    }

    fn of(self, word: &str) -> SetError {
        SetError::Word { text: word.to_owned(), source: self }
    }
}

/// Words without those that distinguish no CPUs of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptedWords {
    /// The words, with `all` instead of those.
    pub words: String,
    /// A sentence for each of those.
    pub remarks: Vec<String>,
}

/// Replaces each word that distinguishes no CPUs of the machine by `all`. An absent kind adds
/// nothing to other CPUs.
///
/// # Errors
/// [`SetError`]: the words are wrong for another reason.
pub fn or_all(words: &str, computer: ReadComputer) -> Result<AcceptedWords, SetError> {
    let mut accepted = AcceptedWords { words: words.to_owned(), remarks: Vec::new() };
    loop {
        let (word, reason) = match super::members(&accepted.words, computer) {
            Ok(_) => return Ok(accepted),
            Err(SetError::Word { text, source }) if source.is_no_difference() => (text, source),
            Err(error) => return Err(error),
        };
        let is_absent = matches!(reason, WordError::OtherKinds(_));
        let members = accepted.words.split(',').map(str::trim);
        let words = joined(members.map(|seat| without(seat, &word, is_absent)), ",");
        if words == accepted.words {
            return Err(reason.of(&word));
        }
        let is_dropped = words.matches('+').count() < accepted.words.matches('+').count();
        let instead = if is_dropped { "it is left out" } else { "it means all CPUs" };
        // The rest of the sentence is advice.
        let reason = reason.to_string();
        let fact = reason.split(';').next().unwrap_or_default();
        accepted.remarks.push(format!("'{word}': {fact}, so {instead}"));
        accepted.words = words;
    }
}

/// A seat with `all` instead of a word. Other terms remain if the machine lacks the kind.
fn without(seat: &str, word: &str, is_absent: bool) -> String {
    let terms: Vec<&str> = seat.split('+').collect();
    let others: Vec<&str> =
        terms.iter().copied().filter(|term| term.split('/').all(|one| one != word)).collect();
    let kept = if is_absent && !others.is_empty() { others } else { terms };
    joined(kept.into_iter().map(|term| replaced(term, word)), "+")
}

/// A term with `all` instead of a word, or of `not:` and the word.
fn replaced(term: &str, word: &str) -> String {
    let words = term.split('/').map(|one| match one.strip_suffix(word) {
        Some(before) if before.is_empty() || before.ends_with(':') => "all",
        _ => one,
    });
    joined(words, "/")
}

const KINDS: [CoreKind; 4] = CoreKind::ALL;

/// Words of other tools and projects, and ours.
const ALIASES: [(&[&str], &str); 6] = [
    (
        &["pcore", "pcores", "p-core", "p-cores", "big", "kind=performance", "performance"],
        "kind:performance",
    ),
    (
        &["ecore", "ecores", "e-core", "e-cores", "little", "kind=efficiency", "efficiency"],
        "kind:efficiency",
    ),
    (&["lpe", "lp-e", "lp-core", "lp-cores", "low-power"], "kind:low-power"),
    (&["vcache", "v-cache", "x3d", "cache"], "cache:biggest"),
    (&["nosmt", "no-ht", "noht"], "no-smt"),
    (&["fastest"], "fast:1"),
];

/// Our word for another tool's, in upper or lower case.
pub(super) fn alias(word: &str) -> Option<&'static str> {
    let word = word.to_lowercase();
    ALIASES.iter().find(|(theirs, _)| theirs.contains(&word.as_str())).map(|(_, ours)| *ours)
}

pub(super) fn is_word(text: &str) -> bool {
    let text = text.to_lowercase();
    let begins = ["kind:", "cache:", "fast:", "first:", "near:", "not:"];
    matches!(text.as_str(), "no-smt" | "all") || begins.iter().any(|word| text.starts_with(word))
}

/// The CPUs that words left, of which the next chooses.
pub(super) struct LeftCpus<'a> {
    pub cpus: &'a CpuSet,
    /// The words.
    pub before: &'a str,
    pub computer: &'a ComputerCpus,
}

impl LeftCpus<'_> {
    /// The CPUs that a word leaves.
    pub fn narrowed(&self, word: &str) -> Result<CpuSet, SetError> {
        // Names of devices keep their case.
        let cased = word.split_once(':').map_or("", |(_, value)| value);
        let lower = word.to_lowercase();
        let (name, value) = lower.split_once(':').unwrap_or((&lower, ""));
        let of_machine = match name {
            "kind" => of_kind(value, self.computer),
            "cache" => of_cache(value, self.computer),
            "near" => near(cased, self.computer),
            "fast" => return self.fastest(value).map_err(|error| error.of(word)),
            "first" => return self.first(value).map_err(|error| error.of(word)),
            "no-smt" => return Ok(one_per_core(self.cpus, self.computer)),
            "all" => return Ok(self.cpus.clone()),
            _ => return self.others(word, cased),
        };
        self.meeting(word, &of_machine.map_err(|error| error.of(word))?)
    }

    /// The CPUs of a property of the machine, if any.
    pub fn meeting(&self, word: &str, of_machine: &CpuSet) -> Result<CpuSet, SetError> {
        let usable = &self.computer.usable;
        if !of_machine.meets(usable) {
            return Err(SetError::forbidden(word, of_machine, &usable.named()));
        }
        self.some(word, of_machine.within(self.cpus))
    }

    fn some(&self, word: &str, found: CpuSet) -> Result<CpuSet, SetError> {
        if found.is_empty() {
            let before = format!("{} is {}", self.before, self.cpus);
            return Err(WordError::Nothing(before).of(word));
        }
        Ok(found)
    }

    fn others(&self, word: &str, inner: &str) -> Result<CpuSet, SetError> {
        let excluded = if is_word(inner) {
            match self.narrowed(inner) {
                // The property exists, but none of these CPUs has it.
                Err(SetError::Word { source: WordError::Nothing(_), .. }) => CpuSet::default(),
                found => found?,
            }
        } else {
            super::union(&super::simple(inner, &|| Ok(self.computer.clone()))?)
        };
        self.some(word, self.cpus.without(&excluded))
    }

    /// A count for a word, at most what is left.
    fn figure(
        &self,
        value: &str,
        cpus: &CpuSet,
        noun: &str,
        expected: &str,
    ) -> Result<usize, WordError> {
        let count = whole_number(value).filter(|count| *count > 0);
        let count = count.ok_or_else(|| WordError::expected(expected))?;
        if cpus.len() < count {
            let left = counted(cpus.len() as u64, noun);
            return Err(WordError::Wrong(format!("{} has {left}", self.before)));
        }
        Ok(count)
    }

    fn fastest(&self, value: &str) -> Result<CpuSet, WordError> {
        let cores = one_per_core(self.cpus, self.computer);
        let expected = "a number of cores, such as 'fast:4'";
        let count = self.figure(value, &cores, "core", expected)?;
        let ranked = ranked(&cores, self.computer).ok_or_else(|| {
            WordError::equal(
                "the speeds of this machine's cores are not known; 'first:N' takes the lowest \
                 numbers",
            )
        })?;
        Ok(ranked.into_iter().take(count).map(|(_, cpu)| cpu).collect())
    }

    fn first(&self, value: &str) -> Result<CpuSet, WordError> {
        let expected = "a number of CPUs, such as 'first:4'";
        let count = self.figure(value, self.cpus, "CPU", expected)?;
        Ok(self.cpus.iter().take(count).collect())
    }
}

fn pus_of<'a>(computer: &'a ComputerCpus, is_chosen: impl Fn(&Pu) -> bool + 'a) -> CpuSet {
    computer.topology.pus.iter().filter(|pu| is_chosen(pu)).map(|pu| pu.os).collect()
}

fn of_kind(value: &str, computer: &ComputerCpus) -> Result<CpuSet, WordError> {
    let Some(kind) = KINDS.into_iter().find(|kind| kind.word() == value) else {
        let words = KINDS.map(CoreKind::word);
        let begins = words.into_iter().find(|word| !value.is_empty() && word.starts_with(value));
        let nearest = begins.or_else(|| words.into_iter().find(|word| edits(word, value) <= 2));
        let hint = nearest.map(|kind| format!("; did you mean 'kind:{kind}'?"));
        return Err(WordError::Wrong(format!(
            "kinds are performance, middle, efficiency and low-power{}",
            hint.unwrap_or_default()
        )));
    };
    let found = kinds(computer);
    if found.len() < 2 {
        return Err(WordError::equal(
            "this machine has one kind of core: the kernel shows no difference between them (a \
             virtual machine shows none); leave it out, or add --or-all (or = \"all\" to a \
             service)",
        ));
    }
    // If the only small cores are the low-power island, they are the weakest.
    let weakest = [CoreKind::Efficiency, CoreKind::LowPower];
    let accepted = if kind == CoreKind::Efficiency { &weakest[..] } else { &[kind][..] };
    let mut of_kind = accepted.iter().filter_map(|kind| {
        found.iter().find(|(other, _)| other == kind).map(|(_, cpus)| cpus.clone())
    });
    of_kind.next().ok_or_else(|| WordError::OtherKinds(listed_kinds(&found)))
}

fn kinds(computer: &ComputerCpus) -> Vec<(CoreKind, CpuSet)> {
    let all = KINDS.map(|kind| (kind, pus_of(computer, |pu| pu.kind == Some(kind))));
    all.into_iter().filter(|(_, cpus)| !cpus.is_empty()).collect()
}

fn listed_kinds(kinds: &[(CoreKind, CpuSet)]) -> String {
    let each: Vec<String> =
        kinds.iter().map(|(kind, cpus)| format!("{} ({cpus})", kind.word())).collect();
    match each.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => each.concat(),
    }
}

/// Each PU's last-level cache: its name and size. L2 counts only if no PU has an L3; a PU outside
/// all L3 caches has none.
fn last_caches(computer: &ComputerCpus) -> Option<(&'static str, Vec<(u32, u64)>)> {
    let pus = &computer.topology.pus;
    let has_l3 = pus.iter().any(|pu| pu.l3.is_some());
    let sizes: Option<Vec<(u32, u64)>> = if has_l3 {
        pus.iter().map(|pu| Some((pu.os, if pu.l3.is_some() { pu.l3_bytes? } else { 0 }))).collect()
    } else {
        pus.iter().map(|pu| Some((pu.os, pu.l2_bytes?))).collect()
    };
    let level = if has_l3 { "L3" } else { "L2" };
    sizes.filter(|sizes| sizes.iter().any(|(_, bytes)| *bytes > 0)).map(|sizes| (level, sizes))
}

fn of_cache(value: &str, computer: &ComputerCpus) -> Result<CpuSet, WordError> {
    let least = match value {
        "biggest" => None,
        size => Some(bytes(size).ok_or_else(|| {
            WordError::expected("'cache:biggest' or a size, such as 'cache:64M'")
        })?),
    };
    let (level, sizes) = last_caches(computer).ok_or_else(|| {
        WordError::equal(
            "the sizes of this machine's caches are not known; name a part such as l3:0",
        )
    })?;
    let largest = sizes.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0);
    let biggest = at_least(&sizes, largest);
    let size = mebibytes(largest);
    match least {
        None if biggest.len() == sizes.len() => {
            let number = computer.topology.pus.first().and_then(|pu| pu.l3.or(pu.l2)).unwrap_or(0);
            let example = format!("{}:{number}", level.to_lowercase());
            Err(WordError::NoDifference(format!(
                "all {level} caches have {size}; '{example}' takes one of them"
            )))
        }
        None => Ok(biggest),
        Some(least) if least > largest => Err(WordError::NoDifference(format!(
            "the largest last-level cache has {size} ({biggest})"
        ))),
        Some(least) => Ok(at_least(&sizes, least)),
    }
}

fn at_least(sizes: &[(u32, u64)], least: u64) -> CpuSet {
    sizes.iter().filter(|(_, bytes)| *bytes >= least).map(|(os, _)| *os).collect()
}

fn bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches("ib").trim_end_matches('b');
    let (digits, unit) = digits.split_at_checked(digits.len().checked_sub(1)?)?;
    let shift = match unit {
        "k" => 10,
        "m" => 20,
        "g" => 30,
        _ => return None,
    };
    whole_number::<u64>(digits)?.checked_mul(1 << shift).filter(|bytes| *bytes > 0)
}

fn mebibytes(bytes: u64) -> String {
    if bytes.is_multiple_of(1 << 20) {
        format!("{} MiB", bytes >> 20)
    } else {
        format!("{} KiB", bytes >> 10)
    }
}

/// The lowest-numbered thread of each core. A PU of an unknown core counts as one.
fn one_per_core(among: &CpuSet, computer: &ComputerCpus) -> CpuSet {
    let mut cores = HashSet::new();
    among
        .iter()
        .filter(|cpu| {
            let core = computer.topology.pu(*cpu).and_then(|pu| pu.core);
            core.is_none_or(|core| cores.insert(core))
        })
        .collect()
}

/// The kind, highest frequency, capacity and firmware's ranking of a core; less is faster.
type SpeedRank = (Option<CoreKind>, Reverse<[Option<u64>; 3]>);

/// The figures of [`SpeedRank`] below the kind.
const SPEEDS: [&str; 3] = ["cpuinfo_max_freq", "cpu_capacity", "the firmware's ranking now"];

/// The cores, the fastest first; `None` if a speed is unknown.
fn ranked(cores: &CpuSet, computer: &ComputerCpus) -> Option<Vec<(SpeedRank, u32)>> {
    let ranked = cores.iter().map(|cpu| {
        let pu = computer.topology.pu(cpu)?;
        let speeds = [pu.max_khz, pu.capacity, pu.priority.map(u64::from)];
        (pu.kind.is_some() || speeds != [None; 3]).then_some(((pu.kind, Reverse(speeds)), cpu))
    });
    let mut ranked: Vec<_> = ranked.collect::<Option<_>>()?;
    ranked.sort_unstable();
    Some(ranked)
}

fn near(name: &str, computer: &ComputerCpus) -> Result<CpuSet, WordError> {
    let root = computer.root.as_ref().ok_or_else(|| {
        WordError::Wrong(
            "the devices of this machine are not known; 'near:' needs this computer or its \
             gathered files"
                .to_owned(),
        )
    })?;
    let mut found = devices::called(root, name);
    if found.is_empty() {
        found = devices::called(root, &name.to_lowercase());
    }
    if found.is_empty() {
        return Err(WordError::Wrong(absent_device(name, &devices::names(root))));
    }
    // One device without CPUs leaves the set unknown.
    let lists: Option<Vec<CpuSet>> =
        found.iter().map(|device| CpuSet::of_list(device.cpus.as_deref()?)).collect();
    let cpus = super::union(&lists.unwrap_or_default());
    if cpus.is_empty() {
        return Err(WordError::equal(
            "the device names no CPUs near it (numa_node -1, or no local_cpulist), so all are \
             equally near",
        ));
    }
    Ok(cpus)
}

fn absent_device(name: &str, present: &[String]) -> String {
    let what = if name.starts_with("gpu") {
        "no GPU with this number is on the PCI bus"
    } else {
        "this machine has no device of this name"
    };
    if present.is_empty() {
        return format!("{what}; it shows no devices");
    }
    format!("{what}; there are {}", present.join(", "))
}

/// The words that distinguish CPUs of this machine.
pub fn of_machine(computer: &ComputerCpus) -> Vec<KnownWord> {
    let all = computer.topology.os_indices().collect();
    let cores = one_per_core(&all, computer);
    let mut words = Vec::new();
    let found = kinds(computer);
    if found.len() > 1 {
        words.extend(found.into_iter().map(|(kind, cpus)| {
            let by = kernel_list(kind, &cpus, computer).unwrap_or_else(|| measure(computer));
            known(format!("kind:{}", kind.word()), &cpus, Some(by))
        }));
    }
    if let Ok(cpus) = of_cache("biggest", computer) {
        words.push(known("cache:biggest", &cpus, cache_sizes(&cpus, computer)));
    }
    words.extend(leaders(&cores, computer));
    if cores.len() < all.len() {
        words.push(known("no-smt", &cores, Some("one thread of each core".to_owned())));
    }
    let names = computer.root.as_ref().map_or_else(Vec::new, devices::names);
    words.extend(names.into_iter().filter_map(|name| {
        let cpus = near(&name, computer).ok().filter(|cpus| *cpus != all)?;
        Some(known(format!("near:{name}"), &cpus, None))
    }));
    words
}

/// The word for exactly these CPUs of a machine, if its hardware distinguishes them: a kind, a
/// cache, the fastest cores, one thread of each, or their opposites.
pub fn word_for(cpus: &CpuSet, computer: &ComputerCpus) -> Option<KnownWord> {
    let known = of_machine(computer).into_iter().filter(|known| !known.word.starts_with("near:"));
    let narrowed = known.flat_map(|known| {
        let words = [
            known.word.clone(),
            format!("not:{}", known.word),
            format!("{}/no-smt", known.word),
            format!("not:{}/no-smt", known.word),
        ];
        words.map(|word| KnownWord { word, cpus: String::new(), ..known.clone() })
    });
    let mut named = narrowed
        .filter(|known| super::all_of(&known.word, computer).is_ok_and(|named| named == *cpus));
    named.next().map(|known| KnownWord { cpus: cpus.to_string(), ..known })
}

fn known(word: impl Into<String>, cpus: &CpuSet, by: Option<String>) -> KnownWord {
    KnownWord { word: word.into(), cpus: cpus.to_string(), by }
}

/// The largest last-level cache, and the size of the others.
fn cache_sizes(biggest: &CpuSet, computer: &ComputerCpus) -> Option<String> {
    let (level, sizes) = last_caches(computer)?;
    let (own, others): (Vec<_>, Vec<_>) = sizes.iter().partition(|(cpu, _)| biggest.contains(*cpu));
    let largest = own.first().map_or(0, |(_, bytes)| *bytes);
    let next = others.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0);
    let caches: HashSet<_> = others
        .iter()
        .filter_map(|(cpu, _)| computer.topology.pu(*cpu).map(|pu| pu.l3.or(pu.l2)))
        .collect();
    let others = match (next, caches.len()) {
        (0, _) => "other CPUs have none".to_owned(),
        (_, 1) => format!("the other has {}", mebibytes(next)),
        _ => format!("the others have at most {}", mebibytes(next)),
    };
    Some(format!("{level} of {}; {others}", mebibytes(largest)))
}

/// The fastest cores, if other cores of their kind are slower.
fn leaders(cores: &CpuSet, computer: &ComputerCpus) -> Option<KnownWord> {
    let ranked = ranked(cores, computer)?;
    let (first, _) = ranked.first()?;
    let count = ranked.iter().take_while(|(rank, _)| rank == first).count();
    let (next, _) = ranked.get(count).filter(|(rank, _)| rank.0 == first.0)?;
    let figure = first.1.0.iter().zip(next.1.0).position(|(own, other)| *own != other)?;
    let cpus = ranked[..count].iter().map(|(_, cpu)| *cpu).collect();
    Some(known(format!("fast:{count}"), &cpus, Some(SPEEDS[figure].to_owned())))
}

/// The kernel's list of these cores, on Intel's hybrid processors.
fn kernel_list(kind: CoreKind, cpus: &CpuSet, computer: &ComputerCpus) -> Option<String> {
    let root = computer.root.as_ref()?;
    let list = ["cpu_core", "cpu_atom", "cpu_lowpower"].into_iter().find(|list| {
        let listed = root.read(&format!("/sys/devices/{list}/cpus")).unwrap_or_default();
        CpuSet::of_list(&listed).is_some_and(|listed| cpus.is_subset(&listed))
    })?;
    let is_apart = kind == CoreKind::LowPower && list == "cpu_atom";
    Some(if is_apart { format!("{list}, without an L3") } else { list.to_owned() })
}

type Figure = fn(&Pu) -> Option<u64>;

const TYPE: &str = "type of core";

/// The most reliable figure that distinguishes the kinds of cores.
fn measure(computer: &ComputerCpus) -> String {
    let figures: [(&str, Figure); 4] = [
        (TYPE, |pu| pu.core_type),
        ("cpu_capacity", |pu| pu.capacity),
        ("base_frequency", |pu| pu.base_khz),
        ("cpuinfo_max_freq", |pu| pu.max_khz),
    ];
    let found = figures.into_iter().find(|(name, of)| {
        let values: Option<Vec<u64>> = computer.topology.pus.iter().map(of).collect();
        values.is_some_and(|values| match *name {
            TYPE => values.iter().any(|value| value != &values[0]),
            _ => speed::are_apart(&values),
        })
    });
    found.map_or("the machine's file", |(name, _)| name).to_owned()
}

//! Verbs that report CPUs and what those share. Times of an emulated computer mean nothing, so no
//! check uses them.

use super::answer::{ask, document, number, numbers};
use super::kernel::{KernelFacts, exists, set};
use super::seats::{placed, write_plan};
use super::verbs::Question;
use crate::list::{self, CpuNumbers};
use crate::trial::{VerbFailure, ensure};
use serde_json::Value;
use std::collections::BTreeSet;

pub const QUESTIONS: [Question; 9] = [
    Question { verb: "measure", text: "what the measured CPUs share", ask: measured },
    Question { verb: "show", text: "the measured machine", ask: shown },
    Question { verb: "place", text: "tasks on the measured CPUs", ask: placed_on_measured },
    Question { verb: "export", text: "a plan for taskset", ask: exported },
    Question { verb: "noise", text: "the CPUs that are named", ask: noise },
    Question { verb: "doctor", text: "CPUs that are offline or set apart", ask: doctor },
    Question { verb: "doctor", text: "a CPU that goes offline", ask: doctor_of_victims },
    Question { verb: "doctor", text: "what it can try", ask: doctor_tries },
    Question { verb: "measure", text: "a CPU that is offline", ask: measure_offline },
];

const PROFILE: &str = "/tmp/profile.json";

fn measured(kernel: &KernelFacts) -> Result<String, VerbFailure> {
    let cpus = kernel.spread();
    ask(&["measure", "--quick", "--cpus", &list::show(&cpus), "-o", PROFILE])?.done()?;
    let profile = profile()?;
    let pus = profile["topology"]["pus"].as_array().cloned().unwrap_or_default();
    let timed: CpuNumbers = numbers(&profile["core_distance"]["pus"]).into_iter().collect();
    ensure(timed == cpus.iter().copied().collect(), || format!("{timed:?} for {cpus:?}"))?;
    let named: CpuNumbers = pus.iter().filter_map(|pu| number(&pu["os"])).collect();
    ensure(named.is_subset(&kernel.online) && timed.is_subset(&named), || format!("{named:?}"))?;
    for level in ["core", "l2", "l3", "package", "numa"] {
        for one in &pus {
            for other in &pus {
                shares(kernel, level, one, other)?;
            }
        }
    }
    for pu in &pus {
        let own = number(&pu["os"]).unwrap_or_default();
        let node = kernel.nodes.iter().find(|node| node.cpus.contains(&own)).map(|node| node.id);
        ensure(number(&pu["numa"]) == node, || format!("node of {pu}, and the kernel's {node:?}"))?;
    }
    ranks(kernel, &pus)?;
    Ok(format!(
        "{} PUs, CPUs {} timed: cores, L2, L3, packages and nodes alike",
        pus.len(),
        list::show(&cpus)
    ))
}

fn profile() -> Result<Value, VerbFailure> {
    let text = std::fs::read_to_string(PROFILE).unwrap_or_default();
    serde_json::from_str(&text).map_err(|error| VerbFailure::Wrong(format!("the profile: {error}")))
}

/// Two PUs share a part of a level exactly if the kernel says so.
fn shares(
    kernel: &KernelFacts,
    level: &str,
    one: &Value,
    other: &Value,
) -> Result<(), VerbFailure> {
    let first = number(&one["os"]).unwrap_or_default();
    let second = number(&other["os"]).unwrap_or_default();
    let Some(part) = kernel.part_of(level, first) else {
        let is_unknown = one[level].is_null() || level == "package" || level == "numa";
        return ensure(is_unknown, || format!("the kernel has no {level}, and {one} has"));
    };
    let expected = part.contains(&second);
    let found = !one[level].is_null() && one[level] == other[level];
    ensure(found == expected, || {
        format!("CPUs {first} and {second}: the same {level}: {found}, the kernel: {expected}")
    })
}

/// CPUs with a higher rank of the kernel are not below slower ones.
fn ranks(kernel: &KernelFacts, pus: &[Value]) -> Result<(), VerbFailure> {
    let ranks: BTreeSet<u32> = kernel.ranks.values().copied().collect();
    if ranks.len() < 2 {
        return Ok(());
    }
    for pu in pus {
        let cpu = number(&pu["os"]).unwrap_or_default();
        let kind = pu["kind"].as_str();
        let is_fastest = kernel.ranks.get(&cpu) == ranks.last();
        let is_told = !pu["priority"].is_null() || kind.is_some();
        ensure(is_told, || format!("the kernel ranks CPU {cpu}, and the profile does not: {pu}"))?;
        let is_kind_right = kind.is_none_or(|kind| (kind == "P") == is_fastest);
        ensure(is_kind_right, || format!("the kernel ranks {:?}, and it is {pu}", kernel.ranks))?;
    }
    Ok(())
}

fn shown(kernel: &KernelFacts) -> Result<String, VerbFailure> {
    let answer = ask(&["show", PROFILE, "--width", "100"])?.done()?;
    let profile = profile()?;
    let pus = profile["topology"]["pus"].as_array().map_or(0, Vec::len);
    let named = format!("{pus} PUs");
    ensure(answer.out.contains(&named), || format!("not '{named}': {}", answer.show()))?;
    let shown = document(&["show", PROFILE, "--json"])?;
    let shown = number(&shown["pus"]).unwrap_or_default();
    let distances = kernel.spread().len();
    let is_right = [pus, distances].contains(&(shown as usize));
    ensure(is_right, || format!("{shown} PUs shown of {pus}, {distances} measured"))?;
    Ok(named)
}

fn placed_on_measured(kernel: &KernelFacts) -> Result<String, VerbFailure> {
    let cpus = kernel.spread();
    let placement = placed(PROFILE, &cpus)?;
    let found: CpuNumbers = placement.iter().copied().collect();
    let is_whole = placement.len() == cpus.len() && found == cpus.iter().copied().collect();
    ensure(is_whole, || format!("{placement:?} is not an order of {cpus:?}"))?;
    Ok(format!("an order of {}", list::show(&cpus)))
}

fn exported(kernel: &KernelFacts) -> Result<String, VerbFailure> {
    let mut cpus = kernel.spread();
    cpus.reverse();
    write_plan("/tmp/export.json", &cpus);
    let answer = ask(&["export", "/tmp/export.json", "--format", "taskset"])?.done()?;
    let is_named = cpus.iter().all(|cpu| {
        answer.out.split(|letter: char| !letter.is_ascii_digit()).any(|n| n == cpu.to_string())
    });
    ensure(is_named, || format!("{cpus:?} in: {}", answer.show()))?;
    Ok("each CPU of the plan".to_owned())
}

fn noise(kernel: &KernelFacts) -> Result<String, VerbFailure> {
    let mut cpus: CpuNumbers = kernel.spread().into_iter().take(2).collect();
    cpus.extend(kernel.isolated.intersection(&kernel.online).last());
    let list = list::show(&cpus);
    let noise = document(&["noise", "--cpus", &list, "--seconds", "1", "--json"])?;
    let named = noise["cpus"].as_array().cloned().unwrap_or_default();
    let named: CpuNumbers = named.iter().filter_map(|cpu| number(&cpu["cpu"])).collect();
    ensure(named == cpus, || format!("asked for {list}, and it has {}", list::show(&named)))?;
    Ok(format!("CPUs {list}"))
}

fn finding<'a>(document: &'a Value, subject: &str) -> Option<&'a Value> {
    document["findings"].as_array()?.iter().find(|finding| finding["subject"] == subject)
}

fn sentence(document: &Value, subject: &str) -> String {
    let found = finding(document, subject).and_then(|one| one["found"].as_str());
    found.unwrap_or("absent").to_owned()
}

fn doctor(kernel: &KernelFacts) -> Result<String, VerbFailure> {
    let found = document(&["doctor", "--json"])?;
    let offline = sentence(&found, "offline");
    let absent: CpuNumbers = kernel.offline.iter().copied().filter(|cpu| exists(*cpu)).collect();
    let is_offline_told = if absent.is_empty() {
        offline.contains("no CPU is offline")
    } else {
        absent.is_subset(&list::parse_words(&offline))
    };
    ensure(is_offline_told, || format!("offline '{}': '{offline}'", list::show(&kernel.offline)))?;
    let cpuset = sentence(&found, "cpuset");
    let threads = kernel.parts.get("core").is_some_and(|cores| cores.iter().any(|c| c.len() > 1));
    let smt = sentence(&found, "smt");
    ensure(threads != smt.contains("one PU a core"), || format!("threads {threads}: '{smt}'"))?;
    Ok(format!("offline: {offline}; cpuset: {cpuset}; smt: {smt}"))
}

/// The last one, and one that shares its core go offline in turn. The doctor's command brings each
/// back.
fn doctor_of_victims(kernel: &KernelFacts) -> Result<String, VerbFailure> {
    let movable: Vec<u32> = kernel.usable().into_iter().filter(|cpu| *cpu != 0).collect();
    let Some(last) = movable.last().copied() else { return Ok("one CPU".to_owned()) };
    let sibling = movable.iter().copied().find(|cpu| {
        *cpu != last && kernel.part_of("core", *cpu).is_some_and(|core| core.len() > 1)
    });
    let victims: Vec<u32> = [Some(last), sibling].into_iter().flatten().collect();
    for victim in &victims {
        set(*victim, false)?;
        let found = of_victim(*victim);
        set(*victim, true)?;
        found?;
        // The command brings back all offline CPUs, so those that were offline before are switched
        // off again.
        for absent in kernel.offline.iter().filter(|cpu| exists(**cpu)) {
            set(*absent, false)?;
        }
        doctor(kernel)?;
    }
    Ok(format!("CPUs {} named, and brought back by the doctor's command", list::show(&victims)))
}

fn of_victim(victim: u32) -> Result<(), VerbFailure> {
    let now = KernelFacts::read();
    ensure(now.offline.contains(&victim), || format!("CPU {victim} is not offline"))?;
    doctor(&now)?;
    let found = document(&["doctor", "--json"])?;
    let remedy = finding(&found, "offline").and_then(|one| one["remedy"].as_str());
    let command = remedy.ok_or_else(|| VerbFailure::Wrong(format!("no remedy: {found}")))?;
    let done = std::process::Command::new("sh").args(["-c", command]).output();
    let online = KernelFacts::read().online;
    ensure(online.contains(&victim), || format!("'{command}' left CPU {victim}: {done:?}"))
}

fn doctor_tries(kernel: &KernelFacts) -> Result<String, VerbFailure> {
    let before = super::kernel::all_masks();
    let cpu = kernel.usable().last().copied().unwrap_or_default().to_string();
    let found = document(&["doctor", "--try", "--cpus", &cpu, "--json"])?;
    cells_unchanged(&before)?;
    let backend = finding(&found, "cpuset backend").map(|one| one["found"].to_string());
    Ok(format!("masks as before; {}", backend.unwrap_or_default()))
}

/// Checks that every surviving thread has its earlier mask.
///
/// # Errors
/// [`VerbFailure::Wrong`] with the first changed one.
pub fn cells_unchanged(
    before: &std::collections::BTreeMap<(u32, u32), CpuNumbers>,
) -> Result<(), VerbFailure> {
    let now = super::kernel::all_masks();
    let changed = before.iter().find(|(task, mask)| now.get(task).is_some_and(|now| now != *mask));
    ensure(changed.is_none(), || {
        let now = changed.and_then(|(task, _)| now.get(task)).map(list::show);
        format!("the mask of {changed:?} is now {now:?}")
    })
}

fn measure_offline(kernel: &KernelFacts) -> Result<String, VerbFailure> {
    let Some(cpu) = kernel.first_offline() else { return Ok("none is offline".to_owned()) };
    let list = format!("0,{cpu}");
    let answer = ask(&["measure", "--quick", "--cpus", &list])?;
    let sentence = answer.refuses(&[&format!("CPU {cpu}"), "offline"])?;
    Ok(format!("refused: {sentence}"))
}

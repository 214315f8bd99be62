//! Verbs that need running programs.

use super::answer::{RunningCommand, ask, document, start_program};
use super::figures::cells_unchanged;
use super::kernel::{self, KernelFacts};
use super::seats::write_plan;
use super::threads::told;
use super::verbs::Question;
use crate::list::{self, CpuNumbers};
use crate::trial::{VerbFailure, ensure};
use serde_json::Value;
use std::process::Command;

pub const QUESTIONS: [Question; 9] = [
    Question { verb: "check", text: "the masks of a program's threads", ask: check_masks },
    Question { verb: "check", text: "a seat that was lost", ask: check_lost },
    Question { verb: "check", text: "rules about shared parts", ask: check_rules },
    Question { verb: "check", text: "memory on another node", ask: check_memory },
    Question { verb: "top", text: "the masks of a program's threads", ask: top_masks },
    Question { verb: "observe", text: "which threads talk", ask: observed },
    Question { verb: "bench", text: "a command, four times", ask: benched },
    Question { verb: "tune", text: "a race, which leaves masks alone", ask: tuned },
    Question { verb: "advise", text: "a program that sleeps", ask: advised },
];

fn living(words: &[&str], count: usize) -> Result<(RunningCommand, Vec<u32>), VerbFailure> {
    let number = count.to_string();
    let mut all = vec!["guest", "threads", &number, "--seconds", "900"];
    all.extend(words);
    let mut program = start_program("seatmap-lab", &all)?;
    program.wait_for("thread", count)?;
    let threads = told(&program.said()).into_iter().map(|thread| thread.tid).collect();
    Ok((program, threads))
}

/// With busybox's `taskset`, by list, because some builds limit masks to 64 CPUs.
fn bind(tid: u32, cpus: &[u32]) -> Result<(), VerbFailure> {
    let list = list::show(cpus);
    let status =
        Command::new("taskset").args(["-pc", &list, &tid.to_string()]).output().map(|o| o.status);
    ensure(status.is_ok_and(|status| status.success()), || format!("taskset -pc {list} {tid}"))
}

fn masks_of(document: &Value, pid: u32) -> Vec<(u32, CpuNumbers)> {
    let threads = document["threads"].as_array().cloned().unwrap_or_default();
    let mut masks: Vec<_> = threads.iter().filter_map(|thread| mask_of(thread, pid)).collect();
    masks.sort();
    masks
}

fn mask_of(thread: &Value, pid: u32) -> Option<(u32, CpuNumbers)> {
    let tid = u32::try_from(thread["tid"].as_u64()?).ok()?;
    let cpus = list::parse(thread["mask"].as_str()?).ok()?;
    (thread["pid"].as_u64() == Some(u64::from(pid))).then(|| (tid, cpus.into_iter().collect()))
}

fn kernel_masks(pid: u32) -> Vec<(u32, CpuNumbers)> {
    let tids = kernel::threads(pid);
    tids.into_iter().filter_map(|tid| Some((tid, kernel::mask(pid, tid)?))).collect()
}

fn has_masks(kernel: &KernelFacts, verb: &[&str]) -> Result<String, VerbFailure> {
    let cpus = kernel.spread();
    let (program, tids) = living(&[], cpus.len())?;
    for (tid, cpu) in tids.iter().zip(&cpus).skip(1) {
        bind(*tid, &[*cpu])?;
    }
    let pid = program.pid();
    let name = pid.to_string();
    let mut words = verb.to_vec();
    words.extend(["--pid", &name, "--json"]);
    let answer = ask(&words)?;
    let found = masks_of(&answer.document()?, pid);
    let expected: Vec<(u32, CpuNumbers)> =
        kernel_masks(pid).iter().map(|(tid, mask)| (*tid, kernel.running(mask))).collect();
    let found: Vec<(u32, CpuNumbers)> =
        found.iter().map(|(tid, mask)| (*tid, kernel.running(mask))).collect();
    program.kill();
    ensure(found == expected, || format!("the kernel has {expected:?}, and the verb {found:?}"))?;
    Ok(format!("{} threads alike", expected.len()))
}

fn check_masks(kernel: &KernelFacts) -> Result<String, VerbFailure> {
    has_masks(kernel, &["check", "--seconds", "0.3"])
}

fn top_masks(kernel: &KernelFacts) -> Result<String, VerbFailure> {
    has_masks(kernel, &["top"])
}

fn check_lost(kernel: &KernelFacts) -> Result<String, VerbFailure> {
    let cpus: Vec<u32> = kernel.spread().into_iter().take(2).collect();
    let (program, tids) = living(&[], 2)?;
    bind(tids[0], &cpus[..1])?;
    bind(tids[1], &cpus[1..])?;
    let pid = program.pid().to_string();
    write_plan("/tmp/check.json", &cpus);
    let words = ["check", "--pid", &pid, "--expect", "/tmp/check.json", "--seconds", "0.3"];
    let right = ask(&words)?;
    bind(tids[1], &cpus[..1])?;
    let lost = ask(&words)?;
    program.kill();
    ensure(right.code == Some(0), || format!("seated as planned: {}", right.show()))?;
    let names_it = lost.out.contains(&tids[1].to_string());
    ensure(lost.code == Some(1) && names_it, || {
        format!("thread {} left its seat: {}", tids[1], lost.show())
    })?;
    Ok("seen, and the thread named".to_owned())
}

fn check_rules(kernel: &KernelFacts) -> Result<String, VerbFailure> {
    let cpus = kernel.spread();
    let mut compared = Vec::new();
    let (program, tids) = living(&[], 2)?;
    let pid = program.pid().to_string();
    for other in &cpus[1..] {
        bind(tids[0], &cpus[..1])?;
        bind(tids[1], &[*other])?;
        for level in ["core", "l3", "numa", "package"] {
            let Some(part) = kernel.part_of(level, cpus[0]) else { continue };
            let rule = format!("same-{level}");
            let words = ["check", "--pid", &pid, "--rule", &rule, "--seconds", "0.2"];
            let answer = ask(&words)?;
            let expected = Some(i32::from(!part.contains(other)));
            if answer.code != expected {
                program.kill();
                return Err(VerbFailure::Wrong(format!(
                    "CPUs {} and {other}, {rule}, the kernel: exit {expected:?}; {}",
                    cpus[0],
                    answer.show()
                )));
            }
            compared.push(format!("{rule} {other}"));
        }
    }
    program.kill();
    Ok(format!("{} verdicts as the kernel's parts", compared.len()))
}

fn two_nodes(kernel: &KernelFacts) -> Option<(u32, u32)> {
    let usable = kernel.usable();
    let with_memory = kernel.nodes.iter().filter(|node| node.memory_kib > 64 << 10);
    let mut cpus = with_memory.filter_map(|node| node.cpus.intersection(&usable).next());
    Some((*cpus.next()?, *cpus.next_back()?))
}

fn check_memory(kernel: &KernelFacts) -> Result<String, VerbFailure> {
    let Some((from, to)) = two_nodes(kernel) else {
        return Ok("one node has both memory and CPUs".to_owned());
    };
    let cpu = from.to_string();
    let mut words = vec!["-c", &cpu, "seatmap-lab", "guest", "threads", "1"];
    words.extend(["--seconds", "900", "--mib", "40"]);
    let mut program = start_program("taskset", &words)?;
    program.wait_for("thread", 1)?;
    let pid = program.pid().to_string();
    let check = ["check", "--pid", &pid, "--rule", "memory-local", "--seconds", "0.2", "--json"];
    let near = ask(&check)?;
    bind(program.pid(), &[to])?;
    let far = ask(&check)?;
    program.kill();
    ensure(near.code == Some(0), || format!("memory beside CPU {from}: {}", near.show()))?;
    let names_it = far.out.contains("\"rule\":\"memory-local\"");
    ensure(far.code == Some(1) && names_it, || {
        format!("its memory is beside CPU {from}, it is on CPU {to}: {}", far.show())
    })?;
    Ok(format!("touched on CPU {from}, moved to CPU {to}: seen"))
}

fn observed(kernel: &KernelFacts) -> Result<String, VerbFailure> {
    let before = kernel::all_masks();
    let (program, tids) = living(&["--talk"], 5)?;
    let pid = program.pid().to_string();
    let answer = ask(&["observe", "--pid", &pid, "--seconds", "3", "--json"])?;
    program.kill();
    cells_unchanged(&before)?;
    if answer.code == Some(2) {
        return Err(VerbFailure::Refused(answer.err.trim().to_owned()));
    }
    let pattern = answer.done()?.document()?;
    let pairs = [(1, 2), (2, 1), (3, 4), (4, 3)];
    let is_seen = pairs.iter().all(|(from, to)| messages(&pattern, *from, *to) > 10.0);
    let strangers = [(1, 3), (1, 4), (2, 3), (2, 4)];
    let strange: f64 = strangers.iter().map(|(from, to)| messages(&pattern, *from, *to)).sum();
    let talk: f64 = pairs.iter().map(|(from, to)| messages(&pattern, *from, *to)).sum();
    ensure(is_seen && strange < talk / 20.0, || format!("threads {tids:?}: {pattern}"))?;
    Ok(format!("threads 1 and 2, 3 and 4, of CPUs {}", list::show(&kernel.usable())))
}

fn messages(pattern: &Value, from: u64, to: u64) -> f64 {
    let mut edges = pattern["edges"].as_array().into_iter().flatten();
    let edge = edges.find(|edge| edge["from"] == from && edge["to"] == to);
    edge.and_then(|edge| edge["messages"].as_f64()).unwrap_or_default()
}

fn benched(kernel: &KernelFacts) -> Result<String, VerbFailure> {
    let before = kernel::all_masks();
    let found = document(&["bench", "--runs", "4", "--json", "--", "true"])?;
    cells_unchanged(&before)?;
    let runs = found["runs"].as_array().map_or(0, Vec::len);
    // Two per block; disturbed blocks are repeated.
    ensure(runs >= 8 && runs.is_multiple_of(2), || format!("{runs} runs in four blocks"))?;
    let text = found["seats"]["cpus"].as_str().unwrap_or_default().to_owned();
    let seats = list::parse_words(&text);
    let usable = kernel.usable();
    let stray: Vec<_> = seats.difference(&usable).collect();
    ensure(stray.is_empty() && !seats.is_empty(), || {
        format!("seats {text}, not usable {stray:?}")
    })?;
    Ok(format!("runs {runs}, CPUs {text}"))
}

fn tuned(kernel: &KernelFacts) -> Result<String, VerbFailure> {
    let before = kernel::all_masks();
    let words = ["tune", "--budget", "90", "--json", "--record", "/tmp/race.json", "--", "true"];
    let answer = ask(&words)?;
    cells_unchanged(&before)?;
    if answer.code == Some(2) {
        return ensure(answer.err.contains("raise --budget"), || answer.show())
            .and_then(|()| Err(VerbFailure::Refused(answer.err.trim().to_owned())));
    }
    let race = answer.done()?.document()?;
    let text = race.to_string();
    ensure(text.contains("\"format\":\"seatmap-tune/1\""), || text.clone())?;
    Ok(format!("masks as before, CPUs {}", list::show(&kernel.online)))
}

fn advised(_: &KernelFacts) -> Result<String, VerbFailure> {
    let (program, _) = living(&[], 3)?;
    let pid = program.pid();
    let before = kernel_masks(pid);
    let name = pid.to_string();
    let advice = document(&["advise", "--pid", &name, "--seconds", "3", "--json"])?;
    let after = kernel_masks(pid);
    program.kill();
    ensure(before == after, || format!("masks {before:?} are now {after:?}"))?;
    let conclusion = &advice["conclusion"];
    let leaves = conclusion["verdict"] == "leave-it";
    ensure(leaves, || format!("a program that sleeps: {conclusion}"))?;
    Ok(format!("leave it alone: {}", conclusion["reason"]["kind"]))
}

//! `run` and `place`: the resulting positions of threads and their memory.

use super::answer::{ask, document, numbers, start, start_program};
use super::kernel::{KernelFacts, NodeFacts};
use super::threads::{ToldThread, told};
use super::verbs::Question;
use crate::list::{self, CpuNumbers};
use crate::trial::{VerbFailure, ensure};
use std::collections::BTreeSet;

pub const QUESTIONS: [Question; 14] = [
    Question { verb: "run", text: "threads on CPUs by list", ask: by_list },
    Question { verb: "run", text: "a seat for each core", ask: |kernel| by_level(kernel, "core") },
    Question { verb: "run", text: "a seat for each L2", ask: |kernel| by_level(kernel, "l2") },
    Question { verb: "run", text: "a seat for each L3", ask: |kernel| by_level(kernel, "l3") },
    Question { verb: "run", text: "a seat for each die", ask: |kernel| by_level(kernel, "die") },
    Question { verb: "run", text: "a seat for each node", ask: |kernel| by_level(kernel, "numa") },
    Question {
        verb: "run",
        text: "a seat for each package",
        ask: |kernel| by_level(kernel, "package"),
    },
    Question { verb: "run", text: "threads by a plan", ask: by_plan },
    Question { verb: "run", text: "CPUs that are set apart, by name", ask: isolated_by_name },
    Question { verb: "run", text: "a CPU that is offline", ask: offline_is_refused },
    Question { verb: "run", text: "a CPU that does not exist", ask: absent_is_refused },
    Question { verb: "run", text: "memory of each node", ask: memory_of_nodes },
    Question { verb: "run", text: "threads of a living program", ask: living_program },
    Question { verb: "run", text: "the highest CPU, among all", ask: all_cpus },
];

fn sets(threads: &[ToldThread]) -> Vec<CpuNumbers> {
    threads.iter().map(|thread| thread.cpus.clone()).collect()
}

fn singles(cpus: &[u32]) -> Vec<CpuNumbers> {
    cpus.iter().map(|cpu| CpuNumbers::from([*cpu])).collect()
}

pub fn write_plan(path: &str, cpus: &[u32]) {
    let plan =
        serde_json::json!({"format": "seatmap-plan/1", "machine": "host", "placement": cpus});
    let _ = std::fs::write(path, plan.to_string());
}

fn show_sets<'a>(sets: impl IntoIterator<Item = &'a CpuNumbers>) -> String {
    sets.into_iter().map(list::show).collect::<Vec<_>>().join(" ")
}

fn seated(seats: &[&str], count: usize) -> Result<Vec<ToldThread>, VerbFailure> {
    let count = count.to_string();
    let mut words = vec!["run", "--strict", "--quiet"];
    words.extend(seats);
    words.extend(["--", "seatmap-lab", "guest", "threads", &count]);
    let answer = ask(&words)?.done()?;
    let threads = told(&answer.out);
    ensure(threads.len().to_string() == count, || {
        format!("threads are missing: {}", answer.show())
    })?;
    Ok(threads)
}

fn by_list(kernel: &KernelFacts) -> Result<String, VerbFailure> {
    let cpus = kernel.spread();
    let threads = seated(&["--cpus", &list::show(&cpus)], cpus.len())?;
    let expected = singles(&cpus);
    ensure(sets(&threads) == expected, || {
        format!("asked for {cpus:?}, the kernel has {}", show_sets(&sets(&threads)))
    })?;
    Ok(format!("masks {}", show_sets(&expected)))
}

fn by_level(kernel: &KernelFacts, level: &str) -> Result<String, VerbFailure> {
    let parts = kernel.usable_parts(level);
    let seat = format!("{level}:*");
    if parts.is_empty() || level == "die" && parts == kernel.usable_parts("package") {
        let answer = ask(&["run", "--strict", "--cpus", &seat, "--", "true"])?;
        // Without dies, a package counts as one; a level unknown to the kernel cannot be used.
        if answer.code == Some(0) {
            return Ok("a package is a die".to_owned());
        }
        return answer.refuses(&[level]).map_err(|_| VerbFailure::Wrong(answer.show())).and_then(
            |sentence| {
                Err(VerbFailure::Refused(format!("the kernel has no {level} here: {sentence}")))
            },
        );
    }
    let threads = seated(&["--cpus", &seat], parts.len())?;
    // An offline CPU can stay in a mask without effect.
    let found: BTreeSet<CpuNumbers> =
        sets(&threads).iter().map(|set| kernel.running(set)).collect();
    ensure(found == parts, || {
        format!("{seat}: the kernel's parts are {}, masks {}", show_sets(&parts), show_sets(&found))
    })?;
    Ok(format!("{} parts, as the kernel has them", parts.len()))
}

fn by_plan(kernel: &KernelFacts) -> Result<String, VerbFailure> {
    let mut cpus = kernel.spread();
    cpus.reverse();
    write_plan("/tmp/plan.json", &cpus);
    let threads = seated(&["--plan", "/tmp/plan.json"], cpus.len())?;
    let expected = singles(&cpus);
    ensure(sets(&threads) == expected, || {
        format!("planned {cpus:?}, the kernel has {}", show_sets(&sets(&threads)))
    })?;
    Ok(format!("masks {}", show_sets(&expected)))
}

fn isolated_by_name(kernel: &KernelFacts) -> Result<String, VerbFailure> {
    let Some(cpu) = kernel.isolated.intersection(&kernel.online).last() else {
        return Ok("none is set apart".to_owned());
    };
    let threads = seated(&["--cpus", &cpu.to_string()], 1)?;
    let is_there = threads[0].cpus == CpuNumbers::from([*cpu]);
    ensure(is_there, || format!("CPU {cpu}: the kernel has {}", show_sets(&sets(&threads))))?;
    Ok(format!("CPU {cpu} is used where it is named"))
}

fn offline_is_refused(kernel: &KernelFacts) -> Result<String, VerbFailure> {
    let Some(cpu) = kernel.first_offline() else { return Ok("none is offline".to_owned()) };
    let name = cpu.to_string();
    let answer = ask(&["run", "--cpus", &name, "--", "true"])?;
    let sentence = answer.refuses(&[&format!("CPU {cpu}"), "offline"])?;
    Ok(format!("refused: {sentence}"))
}

fn absent_is_refused(_: &KernelFacts) -> Result<String, VerbFailure> {
    let answer = ask(&["run", "--cpus", "4000", "--", "true"])?;
    answer.refuses(&["CPU 4000"])
}

fn memory_of_nodes(kernel: &KernelFacts) -> Result<String, VerbFailure> {
    let cpu = kernel.spread()[0].to_string();
    let (with, without): (Vec<&NodeFacts>, Vec<&NodeFacts>) =
        kernel.nodes.iter().partition(|node| node.memory_kib > 64 << 10);
    for node in &with {
        let at = format!("node:{}", node.id);
        let threads = seated(&["--cpus", &cpu, "--memory", &at], 2)?;
        for thread in &threads {
            let whole: u64 = thread.pages.iter().map(|(_, pages)| pages).sum();
            let own = thread.pages.iter().find(|(id, _)| *id == node.id).map_or(0, |(_, n)| *n);
            ensure(own == whole && whole >= 1024, || {
                format!("asked for {at}, the kernel has pages {:?}", thread.pages)
            })?;
        }
    }
    for node in &without {
        let at = format!("node:{}", node.id);
        let answer = ask(&["run", "--cpus", &cpu, "--memory", &at, "--", "true"])?;
        answer.refuses(&[&format!("node {}", node.id), "memory"])?;
    }
    Ok(format!("pages on {} nodes; {} without memory refused", with.len(), without.len()))
}

fn living_program(kernel: &KernelFacts) -> Result<String, VerbFailure> {
    let cpus = kernel.spread();
    let count = cpus.len().to_string();
    let stays = ["guest", "threads", &count, "--seconds", "600"];
    let mut program = start_program("seatmap-lab", &stays)?;
    program.wait_for("thread", cpus.len())?;
    let pid = program.pid();
    let mut runner =
        start(&["run", "--cpus", &list::show(&cpus), "--pid", &pid.to_string(), "--quiet"])?;
    let mut found = Vec::new();
    let expected = singles(&cpus);
    for _ in 0..200 {
        let tids = super::kernel::threads(pid);
        found = tids.into_iter().filter_map(|tid| super::kernel::mask(pid, tid)).collect();
        if found == expected || runner.has_ended() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    program.kill();
    let answer = runner.end();
    answer.is_sane()?;
    ensure(found == expected, || {
        format!("the kernel has {}: {}", show_sets(&found), answer.show())
    })?;
    Ok(format!("masks {}", show_sets(&expected)))
}

fn all_cpus(kernel: &KernelFacts) -> Result<String, VerbFailure> {
    let usable = kernel.usable();
    let seat = format!("cpus:{}", list::show(&usable).replace(',', "+"));
    let threads = seated(&["--cpus", &seat], 1)?;
    ensure(kernel.running(&threads[0].cpus) == usable, || {
        format!("asked for {seat}, the kernel has {}", show_sets(&sets(&threads)))
    })?;
    let report = document_of_report(&seat)?;
    ensure(report == usable, || format!("{seat}: the report has {}", list::show(&report)))?;
    Ok(format!("mask {}", list::show(&usable)))
}

fn document_of_report(seat: &str) -> Result<CpuNumbers, VerbFailure> {
    let words = ["run", "--strict", "-q", "--cpus", seat, "--report", "/tmp/report", "--", "true"];
    ask(&words)?.done()?;
    let text = std::fs::read_to_string("/tmp/report").unwrap_or_default();
    let report: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    Ok(numbers(&report["threads"][0]["cpus"]).into_iter().collect())
}

/// # Errors
/// [`VerbFailure::Wrong`] if that fails.
pub fn placed(machine: &str, cpus: &[u32]) -> Result<Vec<u32>, VerbFailure> {
    let list = list::show(cpus);
    let ring = format!("ring:{}", cpus.len());
    let words =
        ["place", "--on", machine, "--pattern", &ring, "--cpus", &list, "--seconds", "1", "--json"];
    Ok(numbers(&document(&words)?["placement"]))
}

//! Faults put into real programs on this computer.

use super::{Part, THREADS, findings};
use crate::pair;
use seatmap_machine::Topology;
use seatmap_os::{CpuSet, Tid, task};
use seatmap_plan::Plan;
use seatmap_watch::{Criteria, Expected, Rule};
use std::error::Error;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// The most windows in which a fault may show: what a busy computer does in half a second is
/// chance.
const TRIES: usize = 6;

/// This executable with threads; killed when it is dropped.
struct Program(Child);

impl Program {
    fn start(count: usize, what: &str, variables: &[(&str, &str)]) -> Result<Self, Box<dyn Error>> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args([THREADS, &count.to_string(), what]).envs(variables.iter().copied());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut ready = String::new();
        BufReader::new(child.stdout.take().ok_or("no stdout")?).read_line(&mut ready)?;
        Ok(Program(child))
    }

    fn pid(&self) -> Tid {
        self.0.id() as Tid
    }

    /// Binds its threads in order, the list over and over.
    fn bind(&self, cpus: &[&[u32]]) -> Result<(), Box<dyn Error>> {
        for (tid, cpus) in
            task::threads(self.pid()).unwrap_or_default().into_iter().zip(cpus.iter().cycle())
        {
            cpus.iter().copied().collect::<CpuSet>().give(tid)?;
        }
        Ok(())
    }

    fn signal(&self, signal: i32) {
        // SAFETY: the child has not been waited for, so its number is its own.
        unsafe { libc::kill(self.pid(), signal) };
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The number of faults, those that were missed, and those that cannot be made here.
pub fn missed() -> Result<Part, Box<dyn Error>> {
    let Some([a, b]) = pair::cpus()? else {
        return Ok(Part {
            count: 0,
            failed: Vec::new(),
            absent: vec!["real faults: one CPU".to_owned()],
        });
    };
    let topology = seatmap_host::topology::of_host()?;
    let bench = RealPrograms { a, b, topology };
    let mut found = bench.masks()?;
    found.extend(bench.variables()?);
    found.extend(bench.load()?);
    let failed =
        found.iter().filter(|(_, found)| !found).map(|(name, _)| (*name).to_owned()).collect();
    Ok(Part { count: found.len(), failed, absent: Vec::new() })
}

type Checks = Vec<(&'static str, bool)>;

struct RealPrograms {
    a: u32,
    b: u32,
    topology: Topology,
}

impl RealPrograms {
    fn finds(
        &self,
        programs: &[&Program],
        rule: &str,
        request: &Criteria,
    ) -> Result<bool, Box<dyn Error>> {
        let pids: Vec<Tid> = programs.iter().map(|program| program.pid()).collect();
        for _ in 0..TRIES {
            if findings(&pids, &self.topology, request)?.iter().any(|finding| finding.rule == rule)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn default(&self, program: &Program, rule: &str) -> Result<bool, Box<dyn Error>> {
        self.finds(&[program], rule, &Criteria::default())
    }

    fn named(&self, program: &Program, rule: Rule) -> Result<bool, Box<dyn Error>> {
        self.finds(
            &[program],
            &rule.to_string(),
            &Criteria { rules: vec![rule], ..Criteria::default() },
        )
    }

    /// Masks against a plan and against rules.
    fn masks(&self) -> Result<Checks, Box<dyn Error>> {
        let a = self.a;
        let b = self.b;
        let plan = Criteria {
            expected: Some(Expected::of_plan(&Plan::new("host", vec![a, b]))),
            ..Criteria::default()
        };
        let asleep = Program::start(1, "sleep", &[])?;
        let mut found = vec![("one-per-cpu: unbound", self.named(&asleep, Rule::OnePerCpu)?)];
        asleep.bind(&[&[a, b]])?;
        found.push(("expect: taskset on all threads", self.finds(&[&asleep], "expect", &plan)?));
        asleep.bind(&[&[a], &[a]])?;
        found.push(("expect: one thread moved", self.finds(&[&asleep], "expect", &plan)?));
        found.push(("one-per-cpu: one CPU twice", self.named(&asleep, Rule::OnePerCpu)?));
        asleep.signal(libc::SIGSTOP);
        found.push(("stopped", self.default(&asleep, "stopped")?));
        let alone = Program::start(0, "sleep", &[])?;
        alone.bind(&[&[a]])?;
        found.push(("expect: a task without a thread", self.finds(&[&alone], "expect", &plan)?));
        let more = Program::start(2, "spin", &[])?;
        more.bind(&[&[a], &[b], &[a, b]])?;
        found
            .push(("expect: a busy thread without a seat", self.finds(&[&more], "expect", &plan)?));
        Ok(found)
    }

    /// Variables that are not followed.
    fn variables(&self) -> Result<Checks, Box<dyn Error>> {
        let b = self.b.to_string();
        let openmp = Program::start(2, "spin", &[("OMP_PLACES", &format!("{{{b}}}"))])?;
        let mut found = vec![("variables: OMP_PLACES", self.default(&openmp, "variables")?)];
        // Each program ends before the next begins, or its threads would be strangers there.
        drop(openmp);
        let crowded = Program::start(2, "spin", &[("GOMP_CPU_AFFINITY", &b)])?;
        crowded.bind(&[&[self.b]])?;
        found.push(("variables: too few places", self.default(&crowded, "variables")?));
        drop(crowded);
        let slurm = Program::start(0, "sleep", &[("SLURM_CPU_BIND", &format!("map_cpu:{b}"))])?;
        found.push(("variables: SLURM_CPU_BIND", self.default(&slurm, "variables")?));
        let absent = Program::start(0, "sleep", &[("SLURM_CPU_BIND", "map_cpu:4000")])?;
        found.push(("partial: a CPU that is not there", self.default(&absent, "partial")?));
        Ok(found)
    }

    /// Threads that want more than they can have.
    fn load(&self) -> Result<Checks, Box<dyn Error>> {
        let a = self.a;
        let b = self.b;
        // Only the main thread is bound below: its other thread was there before, as with a library
        // that pins too late.
        let late = Program::start(1, "spin", &[])?;
        CpuSet::single(a).give(late.pid())?;
        let mut found = vec![("late-binding", self.default(&late, "late-binding")?)];
        drop(late);
        let shared = Program::start(2, "spin", &[])?;
        shared.bind(&[&[b]])?;
        found.push(("shared-cpu", self.default(&shared, "shared-cpu")?));
        drop(shared);
        let first = Program::start(1, "spin", &[])?;
        let second = Program::start(1, "spin", &[])?;
        first.bind(&[&[b]])?;
        second.bind(&[&[b]])?;
        found.push(("overlap", self.finds(&[&first, &second], "overlap", &Criteria::default())?));
        found.push(("strangers", self.default(&first, "strangers")?));
        found.push(("no-strangers", self.named(&first, Rule::NoStrangers)?));
        Ok(found)
    }
}

//! `seatmap pretend`.

mod zoo;

use clap::Args;
use seatmap_console::cpus::{OrAll, RequestedCpus, requested_cpus};
use seatmap_console::values::cpus;
use seatmap_console::{CliError, CliResult, Outputs, input, output, plan_input};
use seatmap_launch::Ending;
use seatmap_os::CpuList;
use seatmap_pretend::{ContainerGroup, PretendRequest, PretendedMachine, PretendedRun};
use seatmap_report::pretend;
use seatmap_watch::judge::judged::Judged;
use seatmap_watch::{Criteria, Expected, Rule};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

#[derive(Args)]
#[command(override_usage = "\
    seatmap pretend [OPTIONS] MACHINE [--] COMMAND [ARGUMENT]...
       seatmap pretend [OPTIONS] --zoo [MACHINE,...] -- COMMAND [ARGUMENT]...")]
pub struct Pretend {
    /// The machine that the program sees: a bundled machine, a profile, hwloc XML, or a computer's
    /// gathered files.
    #[arg(value_name = "MACHINE", required_unless_present = "zoo")]
    machine: Option<String>,
    /// The CPUs allowed there, as in a container: 0-3,8 or l3:0. Default: all.
    #[arg(long, value_name = "LIST", value_parser = requested_cpus)]
    cpus: Option<RequestedCpus>,
    #[command(flatten)]
    or_all: OrAll,
    /// The offline CPUs there.
    #[arg(long, value_name = "LIST", value_parser = cpus)]
    offline: Option<CpuList>,
    /// The quota of CPU time there, as in a container: 1.5, or 1.5@v1 for version 1 of control
    /// groups. Default: none.
    #[arg(long, value_name = "CPUS[@v1]")]
    quota: Option<ContainerGroup>,
    /// Check the threads' seats there, and exit with 1 if something is wrong: rules of 'seatmap
    /// check' such as one-per-core,spread=numa, default for its default rules, or a plan for that
    /// machine.
    #[arg(long, value_name = "RULES|PLAN")]
    check: Option<String>,
    /// Fail also if a rule could not be judged.
    #[arg(long, requires = "check")]
    strict: bool,
    /// Print nothing after the program unless something is wrong.
    #[arg(short, long)]
    quiet: bool,
    /// Write the threads with their masks as JSON to a file.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print only the threads with their masks as JSON, on stdout. The program's output goes to
    /// stderr.
    #[arg(long)]
    json: bool,
    /// Only write the machine's files to a new folder, with a script that shows them in a
    /// container.
    #[arg(long, value_name = "FOLDER",
          conflicts_with_all = ["check", "output", "json", "command", "zoo"])]
    write: Option<PathBuf>,
    #[command(flatten)]
    zoo: zoo::ZooArgs,
    /// The program and its arguments.
    #[arg(trailing_var_arg = true, required_unless_present_any = ["write", "zoo"],
          value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl Pretend {
    fn machine(&self) -> &str {
        self.machine.as_deref().unwrap_or_default()
    }
}

/// Runs a program that sees another machine. The program's exit code is this process's, unless a
/// check fails.
pub fn run(typed: &Pretend) -> CliResult {
    if let Some(machines) = typed.zoo.machines() {
        return zoo::run(typed, machines);
    }
    let machine = machine(typed)?;
    if let Some(folder) = &typed.write {
        machine.write(folder)?;
        let script = folder.join("mount.sh");
        output::tell(&format!("wrote {}; a container runs {}", folder.display(), script.display()));
        return Ok(());
    }
    let outputs = Outputs::new(typed.json, typed.output.as_deref(), None)?;
    let criteria = typed.check.as_deref().map(|check| criteria(check, typed)).transpose()?;
    let command = typed.command.clone();
    let request = PretendRequest { machine, command, leaves_stdout: outputs.on_stdout().is_some() };
    let run = request.run()?;
    let fails = match &criteria {
        Some(criteria) => {
            run.judge(criteria, |judged| show(&run, Some(judged), &outputs, typed))?
        }
        None => show(&run, None, &outputs, typed)?,
    };
    if fails { Ending::Exited(1).leave_alike() } else { run.ending.leave_alike() }
}

fn machine(typed: &Pretend) -> CliResult<PretendedMachine> {
    let machine = input::machine(typed.machine())?;
    let topology = input::topology_of(&machine)?;
    let chosen = typed.or_all.on(typed.cpus.as_ref(), &machine)?;
    let cpus = chosen.map(|chosen| chosen.list.0.into_iter().collect());
    let offline = typed.offline.iter().flat_map(|list| list.0.iter().copied()).collect();
    let pretended = PretendedMachine::new(&machine.name, topology, cpus.as_ref(), &offline)?;
    let pretended = pretended.with_memory_nodes(&machine.memory_nodes);
    Ok(PretendedMachine { group: typed.quota.unwrap_or_default(), ..pretended })
}

/// A file is a plan, because no rule is a file's name.
fn criteria(check: &str, typed: &Pretend) -> CliResult<Criteria> {
    let strict = typed.strict;
    let path = Path::new(check);
    if path.is_file() {
        let plan = plan_input::plan(path)?;
        let machine = input::machine(typed.machine())?;
        if plan.check_machine(&machine.name).is_err() {
            let both = format!("the plan is for '{}', not for '{}'", plan.machine, machine.name);
            return Err(CliError::at(path, both));
        }
        let expected = Some(Expected::of_plan(&plan).on(&input::cpus_of(&machine)?));
        return Ok(Criteria { rules: Vec::new(), expected, strict });
    }
    let rules = check.split(',').map(str::parse::<Rule>).collect::<Result<Vec<_>, _>>();
    let computer = input::cpus_of(&input::machine(typed.machine())?)?;
    let rules = input::rules_on(rules.map_err(CliError::input)?, &computer, typed.or_all)?;
    Ok(Criteria { rules, expected: None, strict })
}

fn show(
    run: &PretendedRun,
    judged: Option<&Judged>,
    outputs: &Outputs,
    typed: &Pretend,
) -> CliResult<bool> {
    let fails = judged.is_some_and(|judged| judged.fails);
    outputs.step(&run.report(judged), None, typed.quiet)?;
    if !typed.json && (fails || !typed.quiet) {
        let judged = judged.map(|judged| (run.judged_when(judged), judged.text()));
        output::tell_page(&pretend::page(run.about(), run.threads(), judged));
    }
    Ok(fails)
}

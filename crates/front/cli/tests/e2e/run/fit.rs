//! `seatmap run --fit`: programs see the CPUs that they get, and nothing else changes.

use super::programs::{self, installed, on, on_two_cpus, own_mask};
use super::running::Running;
use super::{Told, run_as_usual, run_with};
use crate::common::{Arguments, Json, Place, assert_contains, stderr, stdout, two_cpus as listed};
use crate::control_group::Group;
use seatmap_os::small::value_of;
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};

const ONLINE: &str = "/sys/devices/system/cpu/online";

/// Prints the numbers and names by which programs count CPUs. nproc also reads OpenMP's variable.
const SOURCES: &str = "env -u OMP_NUM_THREADS nproc
getconf _NPROCESSORS_ONLN
grep -c ^processor /proc/cpuinfo
ls -d /sys/devices/system/cpu/cpu[0-9]* | wc -l
cat /sys/devices/system/cpu/online
sed -n 's/^processor[^:]*: //p' /proc/cpuinfo
sed -n 's/^Cpus_allowed_list:.//p' /proc/self/status
ls /sys/devices/system/cpu | sed -n 's/^cpu\\([0-9]\\)/\\1/p'";

/// Prints everything that must stay: tables are sized by `possible`, monitors read `/proc/stat`,
/// and groups have members.
const KEPT: &str = "getconf _NPROCESSORS_CONF
cat /sys/devices/system/cpu/possible /sys/devices/system/cpu/present
grep -c ^cpu[0-9] /proc/stat
cat /proc/self/cgroup";

fn shell(script: &str) -> [&str; 3] {
    ["sh", "-c", script]
}

fn fitted(options: impl Arguments, script: &str) -> Told {
    run_as_usual(&Place::new(), options, shell(script), &[])
}

fn has_files(told: &Told) -> bool {
    let has = !told.report["fit"]["files"].elements().is_empty();
    if !has {
        seatmap_needs::skipped!("no private mounts here: {}", told.stderr());
    }
    has
}

#[test]
fn every_source_shows_the_one_cpu_under_its_own_number() {
    if listed().is_none() {
        return;
    }
    let told = fitted("--fit=1", SOURCES);
    if !has_files(&told) {
        return;
    }
    let fit = &told.report["fit"];
    let cpu = fit["cpus"][0].whole().to_string();
    let cpu = cpu.as_str();
    assert_eq!(told.lines(), ["1", "1", "1", "1", cpu, cpu, cpu, cpu], "{}", told.stderr());
    assert_eq!((fit["threads"].whole(), fit["masked"].as_bool()), (1, Some(true)));
    let begins = "seatmap: the program sees 1 CPU of the mask's ";
    assert!(told.stderr().starts_with(begins), "{}", told.stderr());
    assert_contains(told.stderr(), "OMP_NUM_THREADS=1 and ");
    assert_contains(told.stderr(), "seatmap: the program had at most ");
    assert!(!told.stderr().contains("verified"), "no seats, no table: {}", told.stderr());
}

#[test]
fn cpuinfo_counts_the_shown_siblings_and_cores() {
    if listed().is_none() {
        return;
    }
    let told = fitted("--fit=1", "cat /proc/cpuinfo");
    if !has_files(&told) {
        return;
    }
    let cpu = Some(told.report["fit"]["cpus"][0].whole().to_string());
    let host = fs::read_to_string("/proc/cpuinfo").unwrap();
    let mut blocks = host.split("\n\n");
    let block = blocks.find(|block| value_of(block, "processor") == cpu).unwrap();
    // The clock changes.
    let expected = block.lines().filter(|line| !line.starts_with("cpu MHz")).map(|line| {
        let key = line.split(':').next().unwrap();
        let is_count = ["siblings", "cpu cores"].contains(&key.trim());
        if is_count { format!("{key}: 1") } else { line.to_owned() }
    });
    let lines: Vec<&str> = told.lines();
    let shown = lines.iter().filter(|line| !line.starts_with("cpu MHz") && !line.is_empty());
    assert_eq!(shown.copied().collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}

#[test]
fn tables_monitors_and_groups_stay_true() {
    let told = fitted("--fit=1", KEPT);
    let here = Command::new("sh").args(["-c", KEPT]).output().unwrap();
    assert_eq!(stdout(&told.output), stdout(&here));
}

#[test]
fn python_counts_the_shown_cpus() {
    if listed().is_none() || !installed("python3") {
        return;
    }
    let told = fitted("--fit=1", "python3 -c 'import os; print(os.cpu_count())'");
    if has_files(&told) {
        assert_eq!(told.lines(), ["1"]);
    }
}

#[test]
fn settings_of_the_user_stay() {
    let script = "echo $OMP_NUM_THREADS $GOMAXPROCS $MKL_NUM_THREADS; echo $JAVA_TOOL_OPTIONS";
    let own = [("OMP_NUM_THREADS", "7"), ("JAVA_TOOL_OPTIONS", "-Xmx1g")];
    let place = Place::new();
    let mut command = place.command(("run --quiet --report r.json --fit=1 --", shell(script)));
    let names = ["GOMAXPROCS", "MKL_NUM_THREADS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"];
    names.iter().for_each(|name| {
        command.env_remove(name);
    });
    let output = command.envs(own).output().unwrap();
    assert_eq!(stderr(&output), "", "--quiet");
    let lines: Vec<String> = stdout(&output).lines().map(str::to_owned).collect();
    let is_masked = place.read_json("r.json")["fit"]["masked"] == true;
    if !is_masked && lines[0] == "7" {
        return seatmap_needs::skipped!("one CPU leaves no choice");
    }
    assert_eq!(lines, ["7 1", "-Xmx1g -XX:ActiveProcessorCount=1"]);
}

#[test]
fn seats_are_the_cpus_that_the_program_sees() {
    let Some((program, [a, b])) = on_two_cpus(programs::c()) else { return };
    let place = Place::new();
    let told = run_with(&place, ("--fit", on(&[b, a])), [program, "2"], &[]);
    told.assert_verified();
    assert_eq!(told.report["fit"]["masked"], false, "the seats are the mask");
    let script = format!("cat {ONLINE}");
    let told = fitted(("--fit", on(&[b])), &script);
    if has_files(&told) {
        assert_eq!(told.lines(), [b.to_string()]);
    }
}

#[test]
fn still_threads_get_the_mask_of_the_launcher_again() {
    if listed().is_none() {
        return;
    }
    // Without a child: the next one would inherit the narrow mask.
    let script = "while read -r key value; do \
                  case $key in Cpus_allowed_list:) mask=$value;; esac; done < /proc/self/status; \
                  echo $mask; until [ \"$mask\" = \"$0\" ]; do \
                  while read -r key value; do \
                  case $key in Cpus_allowed_list:) mask=$value;; esac; done < /proc/self/status; \
                  done; echo $mask";
    let mask = own_mask();
    let program = ["sh", "-c", script, &mask];
    let told = run_as_usual(&Place::new(), "--fit=1", program, &[]);
    let narrow = told.report["fit"]["cpus"][0].whole().to_string();
    assert_eq!(told.lines(), [narrow.as_str(), &mask]);
    assert_eq!(told.report["fit"]["widened"].whole(), 1);
    assert_contains(told.stderr(), "for 1; 1 thread got all CPUs of the mask again");
}

#[test]
fn go_gets_a_setting_and_no_mask() {
    let Some(program) = programs::go().filter(|_| listed().is_some()) else { return };
    let told = run_as_usual(&Place::new(), "--fit=1", [program], &[]);
    let fit = &told.report["fit"];
    assert_eq!(fit["masked"], false, "it would read the wider mask later");
    let settings = fit["settings"].elements();
    assert!(settings.iter().any(|setting| setting == "GOMAXPROCS=1"), "{settings:?}");
    assert!(told.lines().iter().all(|line| line.ends_with(&own_mask())), "{:?}", told.lines());
}

/// Their settings replace the mask, which they would read again.
#[test]
fn java_gets_a_setting_and_node_is_named() {
    if listed().is_none() {
        return;
    }
    if installed("java") {
        let told = run_as_usual(&Place::new(), "--fit=1", ["java", "-version"], &[]);
        assert_eq!(told.report["fit"]["masked"], false);
        assert_contains(told.stderr(), "JAVA_TOOL_OPTIONS: -XX:ActiveProcessorCount=1");
    }
    if installed("node") {
        let told = run_as_usual(&Place::new(), "--fit=1", ["node", "-e", ""], &[]);
        assert_eq!(told.report["fit"]["masked"], false);
        let unreached = told.report["fit"]["unreached"][0].text();
        assert!(unreached.contains("node reads its mask at any time"), "{unreached}");
        assert_contains(told.stderr(), unreached);
    }
}

#[test]
fn refused_mounts_leave_the_mask_and_the_settings() {
    // SAFETY: geteuid cannot fail and touches nothing.
    let is_root = unsafe { libc::geteuid() } == 0;
    if listed().is_none() || !is_root || !installed("setpriv") {
        return seatmap_needs::skipped!("this needs root, setpriv and two CPUs");
    }
    let place = Place::new();
    let script = format!("sed -n 's/^Cpus_allowed_list:.//p' /proc/self/status; cat {ONLINE}");
    let run = place.command(("run --report r.json --fit=1 --", shell(&script)));
    let mut limited = Command::new("setpriv");
    limited.args(["--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin"]);
    limited.arg(run.get_program()).args(run.get_args()).current_dir(place.folder());
    let output = limited.output().unwrap();
    let fit = &place.read_json("r.json")["fit"];
    let cpu = fit["cpus"][0].whole().to_string();
    let online = fs::read_to_string(ONLINE).unwrap();
    assert_eq!(stdout(&output), format!("{cpu}\n{online}"));
    assert!(fit["files"].elements().is_empty(), "{fit}");
    assert!(!fit["settings"].elements().is_empty(), "{fit}");
    assert_contains(&stderr(&output), "programs that read /sys or /proc/cpuinfo still see ");
}

fn as_nobody(place: &Place, arguments: impl Arguments) -> io::Result<Output> {
    const NOBODY: u32 = 65_534;
    place.command(arguments).current_dir("/").uid(NOBODY).gid(NOBODY).output()
}

/// The user namespace of an unprivileged user allows the same mounts.
#[test]
fn unprivileged_user_sees_the_cpus_or_reads_why_not() {
    let place = Place::new();
    if !as_nobody(&place, "--version").is_ok_and(|output| output.status.success()) {
        return seatmap_needs::skipped!("no other user can run the binary");
    }
    let script = format!("getconf _NPROCESSORS_ONLN; id -u; cat {ONLINE}");
    let output = as_nobody(&place, ("run --fit=1 --", shell(&script))).unwrap();
    let lines: Vec<String> = stdout(&output).lines().map(str::to_owned).collect();
    let said = stderr(&output);
    if said.contains("programs that read /sys or /proc/cpuinfo still see ") {
        assert!(said.contains("private mounts here"), "{said}");
        return;
    }
    assert_eq!(lines[..2], ["1", "65534"], "{said}");
    assert!(!lines[2].contains(['-', ',']), "{lines:?}");
}

#[test]
fn quota_is_shown_as_whole_periods() {
    let Some(group) = Group::with_quota(40) else { return };
    let file = group.0.join(group.quota_file()).display().to_string();
    let before = fs::read_to_string(&file).unwrap();
    let place = Place::new();
    let script = format!("nproc; cat {file}; cat /proc/self/cgroup | grep -c {}", group.name());
    let command = place.command(("run --report r.json --fit --", shell(&script)));
    let output = group.joined_by(&command).output().unwrap();
    let fit = &place.read_json("r.json")["fit"];
    assert_eq!((fit["threads"].whole(), fit["limits"]["quota"].number()), (1, 0.4));
    if fit["files"].elements().is_empty() {
        return seatmap_needs::skipped!("no private mounts here");
    }
    let period = if group.quota_file() == "cpu.max" { "10000 10000" } else { "10000" };
    assert_eq!(stdout(&output).lines().collect::<Vec<_>>(), ["1", period, "1"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    assert_contains(&stderr(&output), "(the quota grants 0.40)");
}

fn mounts_on_cpus(pid: &str) -> usize {
    let mounts = fs::read_to_string(format!("/proc/{pid}/mountinfo")).unwrap();
    mounts.lines().filter(|line| line.contains(" /sys/devices/system/cpu ")).count()
}

#[test]
fn files_are_the_programs_own_even_after_a_kill() {
    if listed().is_none() {
        return;
    }
    let online = fs::read_to_string(ONLINE).unwrap();
    let before = mounts_on_cpus("self");
    let place = Place::new();
    let script = "echo ready; read -r line";
    let mut command = place.command(("run --quiet --fit=1 --", shell(script)));
    command.stdin(Stdio::piped());
    let mut running = Running::of(command);
    let program = running.program().to_string();
    let seen = fs::read_to_string(format!("/proc/{program}/root{ONLINE}"));
    // SAFETY: the supervisor is the launcher's child, which has not been waited for.
    assert_eq!(unsafe { libc::kill(running.supervisor(), libc::SIGKILL) }, 0);
    let own = mounts_on_cpus(&program);
    running.close();
    running.wait();
    assert_eq!((mounts_on_cpus("self"), fs::read_to_string(ONLINE).unwrap()), (before, online));
    if own == before {
        return seatmap_needs::skipped!("no private mounts here");
    }
    assert!(!seen.unwrap().trim().contains(['-', ',']));
}

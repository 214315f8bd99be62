//! `seatmap services`: plans from a record, and CPU sets of running services, which are always
//! restored.

use crate::auto::ALONE;
use crate::common::{Arguments, Guarded, Place, assert_contains, stderr, stdout};
use crate::control_group::Group;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

fn services(place: &Place, arguments: impl Arguments) -> Command {
    let mut command = place.command(("services", arguments));
    command.env("SEATMAP_RUN", place.path("run"));
    command
}

fn output(place: &Place, arguments: impl Arguments) -> Output {
    services(place, arguments).output().unwrap()
}

fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    stdout(output)
}

fn refused_plan(place: &Place) -> String {
    let refused = output(place, "apply plan.json");
    assert_eq!(refused.status.code(), Some(2));
    assert!(!place.path("run/services/services.json").exists());
    stderr(&refused)
}

fn mounted_groups() -> Vec<String> {
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    fields
        .filter(|fields| ["cgroup", "cgroup2"].contains(&fields[2]))
        .map(|fields| fields[1].to_owned())
        .collect()
}

fn plan_of_one(place: &Place, service: Value) {
    let state = format!("{}/examples/seats/cpu_manager_state", crate::REPOSITORY);
    place.stdout(("services import", [&*state], "--on ryzen-5950x -o whole.json"));
    let mut plan = place.read_json("whole.json");
    let cpu = seatmap_os::affinity::current().unwrap()[0];
    let mut planned = plan["services"][0].take();
    planned["service"] = service;
    planned["cpus"] = cpu.to_string().into();
    planned["nodes"] = "".into();
    plan["services"] = vec![planned].into();
    place.file("plan.json", plan.to_string());
}

/// The folder `x` looks like a control group, but its file is a link.
#[test]
fn apply_writes_only_into_control_groups() {
    let place = Place::new();
    place.file("victim", "precious");
    std::fs::create_dir(place.path("x")).unwrap();
    std::os::unix::fs::symlink(place.path("victim"), place.path("x/cpuset.cpus")).unwrap();
    let own = format!("{}\n", std::process::id());
    for procs in ["cgroup.procs", "x/cgroup.procs"] {
        place.file(procs, &own);
    }
    let climbed = format!("/../../../../../..{}", place.path("x").display());
    let mut paths = vec![climbed.clone(), format!("/.{climbed}"), climbed[1..].to_owned()];
    paths.push(place.path("x").display().to_string());
    for mount in mounted_groups() {
        paths.push(format!("{mount}{climbed}"));
        paths.push(format!("{mount}/.{climbed}/"));
    }
    for path in paths {
        plan_of_one(&place, json!({ "name": "x", "cgroup": path }));
        let told = refused_plan(&place);
        assert!(told.contains("there is no control group"), "{path}: {told}");
        assert_eq!(place.read("victim"), "precious", "{path}");
    }
}

#[test]
fn apply_refuses_kernel_threads_and_init() {
    let place = Place::new();
    let is_kernels = seatmap_os::task::is_of_kernel(2);
    let kernel = is_kernels.then_some((json!(2), "a kernel thread"));
    let first = (json!(1), "the init process");
    for (pid, what) in kernel.into_iter().chain([first]) {
        plan_of_one(&place, json!({ "name": "x", "pid": pid }));
        let told = refused_plan(&place);
        assert_contains(&told, &format!("includes process {pid}, {what}"));
    }
    for service in [
        json!({ "name": "x", "pid": -1 }),
        json!({ "name": "x", "step": "5/../x" }),
        json!({ "name": "x" }),
        json!({ "name": "", "pid": 7 }),
    ] {
        plan_of_one(&place, service);
        let told = refused_plan(&place);
        assert_contains(&told, "plan.json: services[0].service: ");
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// Two services of sleeping processes, one of them in a control group, and a plan with a CPU for
/// each.
struct Rig {
    place: Place,
    group: Group,
    inner: std::path::PathBuf,
    sleepers: Vec<Guarded>,
}

impl Drop for Rig {
    fn drop(&mut self) {
        let _ = output(&self.place, "undo");
        for sleeper in &mut self.sleepers {
            let _ = sleeper.kill();
            let _ = sleeper.wait();
        }
        let end = Instant::now() + Duration::from_secs(5);
        while std::fs::remove_dir(&self.inner).is_err() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Rig {
    fn new() -> Option<Self> {
        let place = Place::new();
        let cpus = seatmap_os::affinity::current().unwrap();
        let group = Group::new("cpuset");
        let (Some(group), [first, second, ..]) = (group, &cpus[..]) else {
            seatmap_needs::skipped!("there is one CPU, or no cpuset can be made");
            return None;
        };
        let above = group.0.parent()?;
        let inner = group.0.join("inner");
        std::fs::create_dir(&inner).ok()?;
        // A version 2 group with delegated controllers has no members.
        let holder = if group.takes_threads() { &group.0 } else { &inner };
        if holder == &inner {
            group.set("cgroup.subtree_control", "+cpuset")?;
        }
        for folder in [&group.0, &inner] {
            // In version 2 the file exists but needs no value.
            let _ = std::fs::write(folder.join("cpuset.mems"), read(&above.join("cpuset.mems")));
            let _ = std::fs::write(folder.join("cpuset.cpus"), read(&above.join("cpuset.cpus")));
        }
        let sleepers: Vec<Guarded> = (0..3)
            .map(|_| {
                Guarded(Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap())
            })
            .collect();
        for (folder, sleeper) in [(holder, &sleepers[0]), (&inner, &sleepers[1])] {
            std::fs::write(folder.join("cgroup.procs"), sleeper.id().to_string()).ok()?;
        }
        let file = format!(
            "format = \"seatmap-services/1\"\n\
             [[service]]\nname = \"group\"\ncgroup = \"{}\"\nshare = false\nmost_cpus = 1\n\
             [[service]]\nname = \"plain\"\npid = {}\nshare = false\nmost_cpus = 1\n",
            group.0.display(),
            sleepers[2].id()
        );
        place.file("services.toml", file);
        let rig = Rig { place, group, inner, sleepers };
        let seconds = "plan --seconds 300ms -o plan.json";
        printed(&output(&rig.place, seconds));
        // On a large machine plans assign whole cores; this test needs known sets.
        let mut plan = rig.place.read_json("plan.json");
        plan["services"][0]["cpus"] = first.to_string().into();
        plan["services"][1]["cpus"] = second.to_string().into();
        for service in plan["services"].as_array_mut().unwrap() {
            service["nodes"] = "".into();
        }
        rig.place.file("plan.json", plan.to_string());
        Some(rig)
    }

    fn state(&self) -> String {
        let mask = seatmap_os::CpuSet::of_thread(self.sleepers[2].id() as i32).unwrap();
        // In version 2 an empty list means the parent's CPUs.
        let own = ["cpuset.cpus.effective", "cpuset.cpus"];
        let file = own.iter().find(|file| self.inner.join(file).exists()).unwrap();
        let group = read(&self.group.0.join(file));
        let inner = read(&self.inner.join(file));
        format!("{} {} {mask}", group.trim(), inner.trim())
    }

    /// Whether the guardian restores the state, for which it needs a moment.
    fn comes_back(&self, before: &str) -> bool {
        let end = Instant::now() + Duration::from_secs(20);
        while self.state() != before && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(10));
        }
        self.state() == before
    }

    fn start_group_anew(&mut self) {
        // The kernel reports start times in steps of 10 ms.
        std::thread::sleep(Duration::from_millis(30));
        let mut sleep = Command::new("sleep");
        let younger = Guarded(sleep.arg("1000").stdin(Stdio::null()).spawn().unwrap());
        std::fs::write(self.inner.join("cgroup.procs"), younger.id().to_string()).unwrap();
        for old in &mut self.sleepers[..2] {
            let _ = old.kill();
            let _ = old.wait();
        }
        self.sleepers.push(younger);
    }

    fn apply(&self) -> Command {
        services(&self.place, "apply plan.json --ttl 1h")
    }
}

#[test]
fn cpusets_are_restored_after_kill_at_any_step() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(rig) = Rig::new() else { return };
    let before = rig.state();
    let mut steps = 0;
    for at in 1..200 {
        let killed = rig.apply().env("SEATMAP_CELL_FAIL_AT", at.to_string()).output().unwrap();
        if killed.status.success() {
            break;
        }
        steps += 1;
        if !rig.comes_back_or_stands(&before) {
            panic!("apply, killed at step {at}: {} and {before}", rig.state());
        }
    }
    assert!(steps > 5, "the build has no faults, or nothing was changed");
    assert_ne!(rig.state(), before);
    let mut undone = 0;
    for at in 1..200 {
        let killed =
            services(&rig.place, "undo").env("SEATMAP_CELL_FAIL_AT", at.to_string()).output();
        let has_ended = killed.unwrap().status.success();
        assert!(rig.comes_back(&before), "undo, killed at step {at}: {}", rig.state());
        if has_ended {
            break;
        }
        undone += 1;
        printed(&rig.apply().output().unwrap());
    }
    assert!(undone > 3);
}

impl Rig {
    /// After a kill, the sets are restored, or the complete plan can be undone.
    fn comes_back_or_stands(&self, before: &str) -> bool {
        let listed = output(&self.place, "undo");
        listed.status.code() == Some(0) && self.state() == before || self.comes_back(before)
    }
}

#[test]
fn expired_cpusets_are_restored_except_foreign_changes() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut rig) = Rig::new() else { return };
    let before = rig.state();
    let seated = services(&rig.place, "apply plan.json --ttl 1s").output().unwrap();
    printed(&seated);
    assert!(rig.comes_back(&before), "{}", rig.state());

    printed(&rig.apply().output().unwrap());
    let quiet = printed(&output(&rig.place, "drift"));
    assert_eq!(quiet, "plan 'services': every service is on its planned CPUs\n");
    let twice = rig.apply().output().unwrap();
    assert_eq!(twice.status.code(), Some(2));
    let other = services(&rig.place, "apply plan.json --name other").output().unwrap();
    let told = stderr(&other);
    assert_contains(&told, "belong to the applied plan 'services'");

    rig.start_group_anew();
    let anew = printed(&output(&rig.place, "drift"));
    assert_eq!(anew, format!("{quiet}group: it restarted since, and is on its set\n"));

    let second = rig.state().split(' ').nth(2).unwrap().to_owned();
    let first = rig.state().split(' ').next().unwrap().to_owned();
    let set = seatmap_os::CpuSet::of_list(&first).unwrap();
    set.give(rig.sleepers[2].id() as i32).unwrap();
    let moved = output(&rig.place, "drift --json");
    assert_eq!(moved.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&moved.stdout).unwrap();
    assert_eq!(report["faults"][0]["kind"], "outside");
    let undone = output(&rig.place, "undo");
    assert_eq!(undone.status.code(), Some(1));
    let told = stderr(&undone);
    assert_contains(&told, &format!("another program changed it to '{first}'"));
    assert_ne!(first, second);
    assert!(rig.state().ends_with(&first) && !rig.state().starts_with(&format!("{first} ")));
}

#[test]
fn race_without_gain_restores_everything() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(rig) = Rig::new() else { return };
    let before = rig.state();
    let race = "race plan.json --rounds 6 --period 200ms --json";
    let told = output(&rig.place, race);
    assert_eq!(told.status.code(), Some(2));
    assert!(stderr(&told).contains("no service of the plan has a metric"));
    // This metric grows only with time, so no set makes it faster.
    let mut plan = rig.place.read_json("plan.json");
    plan["services"][1]["service"]["metric"] = "cut -d' ' -f1 /proc/uptime".into();
    plan["services"][1]["service"]["limit_percent"] = 90.into();
    rig.place.file("plan.json", plan.to_string());
    let report = output(&rig.place, race);
    let report: Value = serde_json::from_str(&printed(&report)).unwrap();
    assert_ne!(report["verdict"]["kind"], "kept");
    assert_eq!(report["services"][1]["counted"], 6);
    assert_eq!(rig.state(), before);
    let few = output(&rig.place, "race plan.json --rounds 2 --period 200ms");
    assert!(stderr(&few).contains("give --rounds 6 or more"));
}

#[test]
fn services_are_found_recorded_and_shown() {
    let place = Place::new();
    let child = Guarded(Command::new("sleep").arg("1000").spawn().unwrap());
    let pid = child.id();
    let head = "format = \"seatmap-services/1\" # mine\n[[service]]\nname = \"sleeper\"\n";
    place.file("services.toml", format!("{head}pid = {pid}\n"));
    let shown = place.json("services show --json");
    assert_eq!(shown["services"][0]["threads"], 1);
    place.stdout("services observe --seconds 400ms --no-talk -o record.json");
    let again = place.json("services plan --record record.json --json");
    assert_eq!(again["services"][0]["service"]["pid"], pid);
    assert_eq!(again["verdict"], "nothing-to-gain");
    let added = output(&place, "init --seconds 200ms");
    assert!(place.read("services.toml").starts_with(head), "{added:?}");
    let both = output(&place, "show");
    let said = stderr(&both);
    assert!(!said.contains("both claim"), "{said}");
}

//! `seatmap services`: plans from a record, and CPU sets of running services, which are always
//! restored.

use crate::auto::ALONE;
use crate::common::{Arguments, Guarded, Json, Place, assert_contains, stderr, stdout};
use crate::control_group::Group;
use seatmap_os::CpuSet;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

fn example() -> String {
    format!("{}/examples/services-record.json", crate::REPOSITORY)
}

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

#[test]
fn plan_beats_packing_or_reports_no_gain() {
    let place = Place::new();
    for machine in ["ryzen-5950x", "xeon-e5-2680-2s", "core-i9-12900k"] {
        let plan =
            place.json(["services", "plan", "--record", &example(), "--on", machine, "--json"]);
        let cost = plan["cost_percent"].number();
        assert!(plan["bound_percent"].number() <= cost);
        for baseline in plan["baselines"].elements() {
            let keeps = baseline["keeps_limits"].as_bool().unwrap();
            let other = baseline["cost_percent"].number();
            assert!(!keeps || cost <= other * 1.01, "{machine}: {cost} and {baseline}");
        }
    }
}

#[test]
fn headline_has_both_estimates_below_100_percent() {
    let place = Place::new();
    let plan = ["services", "plan", "--record", &example(), "--on", "ryzen-5950x"];
    let text = place.stdout((plan, "-o plan.json --html plan.html"));
    let again = place.stdout("show plan.json");
    let page = place.read("plan.html");
    for text in [&text, &again, &page] {
        for part in [
            "with these sets a service loses 5.3 s per CPU second it needs; with everything shared, 10.6 s.",
            "Replaying the record says the opposite",
            "8.1 s late or more; with everything shared, 2.9 s",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let percentages = text.split(" %").filter_map(|before| before.rsplit(' ').next());
        let above = percentages.filter_map(|word| word.parse::<f64>().ok()).find(|it| *it > 100.0);
        assert_eq!(above, None, "{text}");
    }
    let plan = place.read_json("plan.json");
    let late = plan["lateness"]["p99_ms"].to_string();
    place.file("agrees.json", place.read("plan.json").replace(&late, "100.0"));
    let agrees = place.stdout("show agrees.json");
    assert!(!agrees.contains("says the opposite"), "{agrees}");
}

#[test]
fn text_page_and_document_agree() {
    let place = Place::new();
    let arguments = ["services", "plan", "--record", &example(), "--on", "ryzen-5950x"];
    let text = place.stdout((arguments, "-o plan.json --html plan.html"));
    let plan = place.read_json("plan.json");
    let page = place.read("plan.html");
    for service in plan["services"].elements() {
        let cpus = service["cpus"].text();
        assert!(text.contains(cpus) && page.contains(cpus), "{cpus}");
    }
    assert!(page.contains("<svg"));
}

#[test]
fn mistakes_are_refused_before_any_change() {
    let place = Place::new();
    let head = "format = \"seatmap-services/1\"\n[[service]]\nname = \"redis\"\n";
    let file = place.file("a.toml", format!("{head}least_cpus = 90\nunit = \"redis.service\"\n"));
    let plan = ["services", "plan", file, "--record", &example(), "--on", "ryzen-5950x"];
    let told = place.one_line_refusal(plan);
    assert!(told.ends_with("lower least_cpus by 58 in total"), "{told}");
    let file = place.file("b.toml", format!("{head}unit = \"no-such-unit.service\"\n"));
    place.refuses(
        ["services", "show", file],
        "service 'redis': there is no control group of systemd unit 'no-such-unit.service'",
    );
    let file = place.file("c.toml", format!("{head}pid = 1\ncolour = \"red\"\n"));
    place.refuses(["services", "show", file], "c.toml: line 5, column 1: unknown key 'colour'");
    let file = place.file("d.toml", format!("{}pid = 1\n", head.replace("redis", "other")));
    place.refuses(
        ["services", "plan", file, "--record", &example()],
        "'other' is not in the record",
    );
    place.refuses("services show absent.toml", "absent.toml");
    let refused = output(&place, "undo");
    assert_eq!(refused.status.code(), Some(2));
    let told = stderr(&refused);
    assert_contains(&told, "no plan 'services' is applied");
}

#[test]
fn plan_is_exported_to_systemd_and_json() {
    let place = Place::new();
    let plan = ["services", "plan", "--record", &example(), "--on", "ryzen-5950x", "-o", "p.json"];
    place.stdout(plan);
    // The record names only units, not commands.
    let workers = "\"unit\":\"workers.service\"";
    let text = place.read("p.json");
    assert_contains(&text, workers);
    place.file("p.json", text.replace(workers, "\"command\":\"worker*\""));
    let plan = place.read_json("p.json");
    let json = place.json("export --format json p.json");
    assert_eq!(json, plan);
    place.stdout("export --format systemd p.json -o units.sh");
    let script = place.read("units.sh");
    assert_contains(&script, "# Left out: workers (command worker*)");
    let folder = place.path("units");
    let run = Command::new("sh").arg(place.path("units.sh")).arg(&folder).output().unwrap();
    assert!(run.status.success(), "{run:?}");
    for service in &plan["services"].elements()[..3] {
        let unit = service["service"]["unit"].text();
        let cpus = service["cpus"].text();
        let drop_in = place.read(&format!("units/{unit}.d/50-seatmap.conf"));
        let expected = format!("[Service]\nAllowedCPUs=\nAllowedCPUs={cpus}\n");
        assert!(drop_in.starts_with(&expected), "{drop_in}");
    }
    // systemd must name the wrong file, which shows that it reads the folder.
    place.file("units/redis.service.d/60-wrong.conf", "[Service]\nAllowedCPUs=x-y\n");
    place.file("units/redis.service", "[Service]\nExecStart=/bin/true\n");
    let verify = Command::new("systemd-analyze")
        .args(["verify", "--man=no"])
        .arg(place.path("units/redis.service"))
        .output();
    let Ok(verified) = verify else {
        seatmap_needs::skipped!("systemd-analyze is not installed");
        return;
    };
    let told = stderr(&verified);
    assert!(told.contains("60-wrong.conf") && !told.contains("50-seatmap.conf"), "{told}");
}

/// The example files of three tools, and their machine.
const SEATS: [&str; 5] = [
    "examples/seats/cpu_manager_state",
    "examples/seats/redis.service",
    "examples/seats/redis.service.d/seats.conf",
    "examples/seats/web.xml",
    "--on=ryzen-5950x",
];

#[test]
fn import_reads_seat_files_as_services_and_plan() {
    let place = Place::new();
    let sources = SEATS.map(|name| match name.starts_with("--") {
        false => format!("{}/{name}", crate::REPOSITORY),
        true => name.to_owned(),
    });
    let mut arguments = vec!["services", "import", "-o", "plan.json"];
    arguments.extend(sources.iter().map(String::as_str));
    let text = place.stdout(&arguments);
    for words in ["pod-235148fe", "2-4,18-20", "8,24", "10,11,26,27", "vCPU 1 on 11"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let plan = place.read_json("plan.json");
    assert_eq!(plan["verdict"], "as-written");
    assert!(plan["cost_percent"].is_null() && plan["services"][0]["median_cpus"].is_null());
    let toml = place.read("services.toml");
    assert!(
        toml.contains("unit = \"redis.service\"") && toml.contains("domain = \"web\""),
        "{toml}"
    );
    place.stdout(&arguments);
    assert_eq!(place.read("services.toml"), toml);
    place.stdout("export --format systemd plan.json -o units.sh");
    let again = place.json("services import units.sh --on=ryzen-5950x --json");
    assert_eq!(again["seats"][0]["service"]["unit"], "redis.service");
    assert_eq!(again["seats"][0]["cpus"], "8,24");
    let drift = output(&place, "drift --plan plan.json");
    let told = stdout(&drift);
    assert_eq!(drift.status.code(), Some(1), "{told}");
    assert_contains(&told, "web: not running");
}

/// A file with words for two services of the example.
fn with_words(redis: &str, workers: &str) -> String {
    format!(
        "format = \"seatmap-services/1\"\n[[service]]\nname = \"redis\"\nunit = \"redis\"\n\
         cpus = \"{redis}\"\n[[service]]\nname = \"workers\"\nunit = \"workers\"\n{workers}\n"
    )
}

#[test]
fn words_bound_sets_and_drift_if_they_change() {
    let place = Place::new();
    let plan = |file: String, machine: &str| {
        place.file("services.toml", file);
        let record = example();
        let options = ["--record", &record, "--on", machine];
        output(&place, ("plan services.toml -o plan.json", options))
    };
    let small = "cpus = \"kind:efficiency\"";
    printed(&plan(with_words("kind:performance/first:8", small), "core-i9-12900k"));
    let planned = place.read_json("plan.json");
    let seats = &planned["services"];
    assert_eq!(seats[0]["within"], "0-7");
    assert_eq!(seats[1]["within"], "16-23");
    assert_eq!(seats[1]["service"]["cpus"], "kind:efficiency");
    let cpus = |at: usize| CpuSet::of_list(seats[at]["cpus"].as_str().unwrap()).unwrap();
    assert!(cpus(0).is_subset(&CpuSet::of_list("0-7").unwrap()), "{planned}");
    assert!(cpus(1).is_subset(&CpuSet::of_list("16-23").unwrap()), "{planned}");
    let drift = output(&place, "drift --plan plan.json");
    assert_eq!(drift.status.code(), Some(1));
    let said = stdout(&drift);
    assert_contains(&said, "redis: 'kind:performance/first:8' named CPUs 0-7, and names none now");

    let refused = plan(with_words("0-7", small), "ryzen-5950x");
    assert_eq!(refused.status.code(), Some(2));
    assert_contains(&stderr(&refused), "cpus of service 'workers'");
    let either = format!("{small}\nor = \"all\"");
    let accepted = plan(with_words("0-7,16-23", &either), "ryzen-5950x");
    printed(&accepted);
    assert_contains(&stderr(&accepted), "so it means all CPUs");
    assert_eq!(place.read_json("plan.json")["services"][1]["within"], "0-31");
    let cut = plan(with_words("no-smt", ""), "ryzen-5950x");
    assert_contains(&stderr(&cut), "no whole core of these is for services");
    let unknown = plan(with_words("0", "or = \"some\""), "ryzen-5950x");
    assert_eq!(unknown.status.code(), Some(2));
}

#[test]
fn saved_plan_is_shown_as_printed() {
    let place = Place::new();
    let arguments = ["services", "plan", "--record", &example(), "--on", "ryzen-5950x"];
    let text = place.stdout((arguments, "-o plan.json --html plan.html"));
    assert_eq!(place.stdout("show plan.json"), text);
    place.stdout("show plan.json --html again.html");
    assert_eq!(place.read("again.html"), place.read("plan.html"));
    let plan = place.read_json("plan.json");
    assert_eq!(place.json("show plan.json --json"), plan);
    // The plan itself contains its CPUs.
    place.file("plan.json", place.read("plan.json").replace("ryzen-5950x", "elsewhere"));
    assert_eq!(place.stdout("show plan.json"), text.replace("ryzen-5950x", "elsewhere"));
    place.stdout("show plan.json --html again.html");
    assert!(place.read("again.html").contains("<svg"));
    place.file("plan.json", "{\"format\": \"seatmap-services-plan/1\"}");
    place.refuses("show plan.json", "plan.json");
}

#[test]
fn failed_import_leaves_no_partial_output() {
    let place = Place::new();
    let state = format!("{}/examples/seats/cpu_manager_state", crate::REPOSITORY);
    let import = ["services", "import", &state, "--on", "ryzen-5950x"];
    for file in ["absent/services.toml", "plan.json"] {
        place.refuses((import, &["-o", "plan.json", "--file", file]), file);
        assert!(!place.path("plan.json").exists(), "{file}");
    }
}

#[test]
fn written_plan_is_compared_with_better_one() {
    let place = Place::new();
    let mut shown = String::new();
    for (unit, cpus) in
        [("redis", "0,16"), ("nginx", "1,17"), ("postgres", "2-3,18-19"), ("workers", "4-15,20-31")]
    {
        shown += &format!("Id={unit}.service\nAllowedCPUs={}\n\n", cpus.replace(',', " "));
    }
    place.file("shown", shown);
    let on = "--on ryzen-5950x";
    place.stdout(("services import shown -o written.json", on));
    let beside = ["services", "plan", "--record", &example(), "--beside", "written.json", "--json"];
    let plan = place.json((beside, on));
    let written = plan["baselines"].elements().last().unwrap();
    assert_eq!(written["name"], "as it is written");
    assert!(written["cost_percent"].number() > plan["cost_percent"].number());
    place.file("shown", "Id=redis.service\nAllowedCPUs=0-1\n");
    place.stdout(("services import shown -o written.json", on));
    place.refuses((beside, on), "the plan of --beside has no CPUs for 'nginx'");
}

#[test]
fn overlapping_cpu_claims_are_refused() {
    let place = Place::new();
    let state = format!("{}/examples/seats/cpu_manager_state", crate::REPOSITORY);
    place.file("a.service", "[Service]\nAllowedCPUs=3-5\n");
    let import = output(&place, ("import", [&*state], "a.service --on ryzen-5950x"));
    assert_eq!(import.status.code(), Some(1));
    let told = stdout(&import);
    assert_contains(&told, "both claim CPUs 3,4");
    place.refuses("services import absent.xml", "absent.xml");
    place.file("x.xml", "<domain><name>web</name>");
    place.refuses("services import x.xml", "x.xml: line 1, column 25");
    place.refuses("services import a.service --format libvirt", "this is not a file of libvirt");
}

fn refused_plan(place: &Place) -> String {
    let refused = output(place, "apply plan.json");
    assert_eq!(refused.status.code(), Some(2));
    assert!(!place.path("run/services/services.json").exists());
    stderr(&refused)
}

#[test]
fn pods_and_jobs_of_other_managers_are_refused() {
    let place = Place::new();
    let state = format!("{}/examples/seats/cpu_manager_state", crate::REPOSITORY);
    let import = ["services", "import", &state, "--on", "ryzen-5950x", "-o", "plan.json"];
    place.stdout(import);
    let told = refused_plan(&place);
    assert_contains(&told, "'pod-235148fe' belongs to kubelet");
    let mut plan = place.read_json("plan.json");
    let service = plan["services"][0]["service"].as_object_mut().unwrap();
    service.remove("cgroup");
    service.insert("step".into(), "5".into());
    place.file("plan.json", plan.to_string());
    let told = refused_plan(&place);
    assert_contains(&told, "name a step, such as 5.0 or 5.batch");
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

#[test]
fn systemd_accepts_imported_units() {
    let place = Place::new();
    let unit = format!("{}/examples/seats/redis.service", crate::REPOSITORY);
    let text = std::fs::read_to_string(&unit).unwrap();
    place.file("redis.service", text.replace("/usr/bin/redis-server", "/bin/true"));
    // systemd must name the wrong unit.
    place.file("wrong.service", "[Service]\nExecStart=/bin/true\nCPUAffinity=x-y\n");
    let files = ["redis.service", "wrong.service"].map(|file| place.path(file));
    let verify = Command::new("systemd-analyze").args(["verify", "--man=no"]).args(files).output();
    let Ok(verified) = verify else {
        seatmap_needs::skipped!("systemd-analyze is not installed");
        return;
    };
    let told = stderr(&verified);
    assert!(told.contains("wrong.service:3") && !told.contains("redis.service:"), "{told}");
    place.refuses(
        "services import wrong.service",
        "CPUAffinity= of wrong.service: 'x-y' is not a list",
    );
}

#[test]
fn unsupported_export_is_refused() {
    let place = Place::new();
    let plan = ["services", "plan", "--record", &example(), "--on", "ryzen-5950x", "-o", "p.json"];
    place.stdout(plan);
    place.refuses(
        "export --format taskset p.json",
        "p.json is a plan for services, which cannot be written as",
    );
    place.refuses(
        "export --format systemd ryzen-5950x",
        "is a profile, which cannot be written as systemd",
    );
    place.file("bad.json", "{\"format\": \"seatmap-services-plan/1\"}");
    place.refuses("export --format systemd bad.json", "bad.json");
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

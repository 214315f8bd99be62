//! Exported plans in the programs that they are for. The plans' order is not the system's, to
//! detect consumers that lose it.

use crate::common::{Place, assert_contains, stderr, stdout};
use std::process::{Command, Output};

/// Two CPUs of this process, the later one first. `None` if there is only one.
fn swapped() -> Option<[u32; 2]> {
    let cpus = seatmap_os::affinity::current().unwrap();
    if cpus.len() < 2 {
        seatmap_needs::skipped!("one CPU has no order");
    }
    cpus.get(..2).map(|two| [two[1], two[0]])
}

/// Whether a consumer works here; `scripts/consumers` installs it.
fn installed(program: &str) -> bool {
    seatmap_needs::tool(program)
}

fn export(place: &Place, format: &str, placement: &[u32]) {
    let names: Vec<String> =
        (0..placement.len()).map(|task| format!("\"task '{task}' \\\\ /* \\\"\"")).collect();
    let names = names.join(",");
    let start = r#"{"format":"seatmap-plan/1","machine":"here","pattern":"ring:2""#;
    place.file("plan.json", format!("{start},\"placement\":{placement:?},\"names\":[{names}]}}"));
    place.stdout(format!("export plan.json --format {format} -o seats"));
}

/// Variables that give a script its task number, and similar ones that do not.
const RANKS: [&str; 10] = [
    "SEATMAP_TASK",
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "MPI_LOCALRANKID",
    "PMI_LOCAL_RANK",
    "SLURM_LOCALID",
    "SLURM_JOB_ID",
    "SLURM_STEP_ID",
    "SLURM_PROCID",
    "OMPI_COMM_WORLD_RANK",
    "PMI_RANK",
];

fn shell(place: &Place, command: &str) -> Output {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(place.folder());
    for variable in RANKS {
        shell.env_remove(variable);
    }
    // mpirun refuses root without both variables, and each user's jobs share a folder in TMPDIR.
    shell
        .env("TMPDIR", place.folder())
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .output()
        .unwrap()
}

/// The output of a command, sorted because threads and ranks print in any order.
fn lines(place: &Place, command: &str) -> Vec<String> {
    let output = shell(place, command);
    assert!(output.status.success(), "{command}: {output:?}");
    let text = stdout(&output);
    let mut lines: Vec<String> =
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    lines.sort();
    lines
}

/// The output of a consumer that follows the plan.
fn seated(placement: &[u32]) -> Vec<String> {
    placement.iter().enumerate().map(|(task, pu)| format!("{task} {pu}")).collect()
}

const ALLOWED: &str = "sed -n 's/^Cpus_allowed_list:.//p' /proc/self/status";

fn a_script_seats_each_process(format: &str) {
    let Some(cpus) = swapped() else { return };
    let place = Place::new();
    export(&place, format, &cpus);
    for (task, cpu) in cpus.iter().enumerate() {
        for rank in &RANKS[..5] {
            assert_eq!(
                lines(&place, &format!("{rank}={task} sh seats {ALLOWED}")),
                [cpu.to_string()],
                "{rank}"
            );
        }
    }
    let all = lines(&place, &format!("SEATMAP_TASK=all sh seats {ALLOWED}")).concat();
    let mut set = cpus;
    set.sort_unstable();
    assert!(
        all == format!("{},{}", set[0], set[1]) || all == format!("{}-{}", set[0], set[1]),
        "{all}"
    );
    assert_eq!(shell(&place, "SEATMAP_TASK=1 sh seats sh -c 'exit 7'").status.code(), Some(7));
    let beyond = shell(&place, "SEATMAP_TASK=2 sh seats true");
    assert_eq!(beyond.status.code(), Some(2));
    assert_eq!(stderr(&beyond), "seats: there is no task 2; the plan has tasks 0 to 1\n");
    a_script_without_a_rank_refuses(&place);
    a_batch_script_of_slurm_has_no_rank(&place, cpus[1]);
}

/// A rank within the whole job does not identify the task on a second node.
fn a_script_without_a_rank_refuses(place: &Place) {
    for set in ["", "OMPI_COMM_WORLD_RANK=1", "PMI_RANK=1", "SLURM_PROCID=1"] {
        let refused = shell(place, &format!("{set} sh seats echo ran"));
        let told = stderr(&refused);
        assert!(refused.status.code() == Some(2) && refused.stdout.is_empty(), "{set}: {told}");
        assert!(
            told.starts_with("seats: unknown task: the launcher") && told.contains("SEATMAP_TASK"),
            "{set}: {told}"
        );
    }
}

/// `sbatch` sets the variables of a first task for its script, which passes them on.
fn a_batch_script_of_slurm_has_no_rank(place: &Place, second: u32) {
    let batch = "SLURM_JOB_ID=7 SLURM_PROCID=0 SLURM_LOCALID=0";
    assert_eq!(shell(place, &format!("{batch} sh seats true")).status.code(), Some(2));
    let step = "SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_PROCID=3 SLURM_NODEID=1 SLURM_LOCALID=1";
    assert_eq!(
        lines(place, &format!("{step} sh seats {ALLOWED}")),
        [second.to_string()],
        "the second node's second"
    );
    let inside = "OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_RANK=3";
    assert_eq!(
        lines(place, &format!("{batch} {inside} sh seats {ALLOWED}")),
        [second.to_string()],
        "mpirun inside"
    );
}

#[test]
fn taskset_seats_each_process() {
    if installed("taskset") {
        a_script_seats_each_process("taskset");
    }
}

#[test]
fn hwloc_bind_seats_each_process() {
    if installed("hwloc-bind") {
        a_script_seats_each_process("hwloc");
    }
}

const RANK_AND_ALLOWED: &str =
    "sh -c 'echo $OMPI_COMM_WORLD_RANK $(grep Cpus_allowed_list /proc/self/status | cut -f2)'";

#[test]
fn taskset_seats_the_ranks_of_mpirun() {
    let Some(cpus) = swapped().filter(|_| installed("mpirun") && installed("taskset")) else {
        return;
    };
    let place = Place::new();
    export(&place, "taskset", &cpus);
    let mpirun = "mpirun --oversubscribe --bind-to none -n 2 sh seats";
    assert_eq!(lines(&place, &format!("{mpirun} {RANK_AND_ALLOWED}")), seated(&cpus));
}

/// The replaced remote shell runs the second node's command locally.
#[test]
fn taskset_seats_the_ranks_of_each_node() {
    let Some([second, first]) = swapped().filter(|_| installed("taskset")) else { return };
    let place = Place::new();
    export(&place, "taskset", &[second, first]);
    let expected =
        [format!("0 {second}"), format!("1 {first}"), format!("2 {second}"), format!("3 {first}")];
    place.file("rsh", "#!/bin/sh\nshift; exec sh -c \"$*\"\n");
    assert!(shell(&place, "chmod +x rsh").status.success());
    let mpirun =
        "mpirun.openmpi --mca plm_rsh_agent $PWD/rsh -H localhost:2,second:2 --bind-to none -n 4";
    if !shell(&place, &format!("{mpirun} true")).status.success() {
        seatmap_needs::skipped!("mpirun.openmpi takes no two nodes for this computer");
    } else {
        let mpirun = format!("{mpirun} sh seats");
        assert_eq!(lines(&place, &format!("{mpirun} {RANK_AND_ALLOWED}")), expected);
    }
    if installed("mpiexec.hydra") {
        let mpiexec = "mpiexec.hydra -launcher fork -hosts localhost:2,127.0.0.2:2 -n 4 sh seats";
        let rank = RANK_AND_ALLOWED.replace("OMPI_COMM_WORLD_RANK", "PMI_RANK");
        assert_eq!(lines(&place, &format!("{mpiexec} {rank}")), expected);
    }
}

/// Runs the `mpirun` command in a comment of the exported rankfile.
fn by_rankfile(place: &Place, placement: &[u32], before: &str) -> Vec<String> {
    export(place, "rankfile", placement);
    let text = place.read("seats");
    let mpirun = text.lines().find_map(|line| line.strip_prefix("# mpirun ")).unwrap();
    let mpirun = mpirun.replace("FILE COMMAND...", &format!("seats {RANK_AND_ALLOWED}"));
    lines(place, &format!("{before} mpirun {mpirun}"))
}

#[test]
fn mpirun_seats_the_ranks_by_rankfile() {
    let Some([second, first]) = swapped().filter(|_| installed("mpirun")) else { return };
    for placement in [&[second, first][..], &[second, first, second]] {
        assert_eq!(by_rankfile(&Place::new(), placement, ""), seated(placement));
    }
}

/// On most servers hwloc counts the threads of a core consecutively, and the system does not.
#[test]
fn rankfiles_work_with_other_hwloc_numbering() {
    let Some(cpus) = swapped().filter(|_| installed("mpirun") && installed("lstopo-no-graphics"))
    else {
        return;
    };
    if cpus != [1, 0] {
        return seatmap_needs::skipped!("CPUs 0 and 1 are needed");
    }
    let place = Place::new();
    let made = shell(
        &place,
        "lstopo-no-graphics -i 'pack:1 core:2 pu:2(indexes=0,2,1,3)' --of xml smt.xml",
    );
    assert!(made.status.success(), "{made:?}");
    assert_eq!(
        by_rankfile(&place, &cpus, "HWLOC_XMLFILE=smt.xml HWLOC_THISSYSTEM=1"),
        seated(&cpus)
    );
}

fn openmp_program(place: &Place, runtime: &str) -> bool {
    place.file("program.c", "int main(void)\n{\n#pragma omp parallel\n    {}\n}\n");
    if !installed("gcc") {
        return false;
    }
    assert!(shell(place, "gcc -fopenmp -c program.c").status.success());
    let linked = shell(place, &format!("gcc program.o -l{runtime} -o program")).status.success();
    if !linked {
        seatmap_needs::skipped!("{runtime} is not installed; scripts/consumers does that");
    }
    linked
}

fn the_environment_seats_each_thread(format: &str, runtime: &str) {
    let place = Place::new();
    let Some([second, first]) = swapped().filter(|_| openmp_program(&place, runtime)) else {
        return;
    };
    for placement in [&[second, first][..], &[second, first, second], &[second, second, first]] {
        export(&place, format, placement);
        // Variables left over from another format's export must not take precedence.
        let left = format!(
            "OMP_PLACES='{{{first}}},{{{second}}}' OMP_PROC_BIND=true GOMP_CPU_AFFINITY={first}"
        );
        let show = "OMP_DISPLAY_AFFINITY=true OMP_AFFINITY_FORMAT='%n %A' ./program 2>&1";
        assert_eq!(
            lines(&place, &format!("export {left}; . ./seats; {show}")),
            seated(placement),
            "{format}"
        );
    }
}

#[test]
fn gcc_openmp_seats_each_thread() {
    for format in ["omp-places", "gomp"] {
        the_environment_seats_each_thread(format, "gomp");
    }
}

#[test]
fn llvm_openmp_seats_each_thread() {
    for format in ["omp-places", "gomp", "kmp"] {
        the_environment_seats_each_thread(format, ":libomp.so.5");
    }
}

#[test]
fn likwid_pin_seats_each_thread() {
    let place = Place::new();
    let ready = installed("likwid-pin") && openmp_program(&place, "gomp");
    let Some(cpus) = swapped().filter(|_| ready) else { return };
    export(&place, "likwid-pin", &cpus);
    let told = lines(&place, "$(cat seats) ./program 2>&1");
    assert!(told.iter().any(|line| line.ends_with(&format!("MAIN -> {}", cpus[0]))), "{told:?}");
    assert_eq!(
        told.iter()
            .filter(|line| {
                line.contains("threadid") && line.contains(&format!("-> hwthread {} - OK", cpus[1]))
            })
            .count(),
        1,
        "{told:?}"
    );
}

#[test]
fn systemd_reads_the_drop_in() {
    let Some(cpus) = swapped().filter(|_| installed("systemd-analyze")) else { return };
    let place = Place::new();
    export(&place, "systemd", &cpus);
    place.file("seated.service", "[Service]\nExecStart=/bin/true\n");
    std::fs::create_dir(place.path("seated.service.d")).unwrap();
    let drop_in = |text: String| {
        std::fs::write(place.path("seated.service.d/seats.conf"), text).unwrap();
        shell(
            &place,
            "systemd-analyze verify --man=no --generators=no --recursive-errors=no ./seated.service",
        )
    };
    let good = drop_in(place.read("seats"));
    assert!(good.status.success() && good.stderr.is_empty(), "{good:?}");
    let bad = drop_in(place.read("seats") + "CPUAffinity=x\n");
    assert!(stderr(&bad).contains("CPU affinity"), "the drop-in is read at all");
}

/// The memory is tested only if `numactl` may set policies here.
#[test]
fn numactl_seats_each_process_and_its_memory() {
    if !installed("numactl") {
        return;
    }
    a_script_seats_each_process("numactl");
    let node = seatmap_os::mempolicy::MemoryNodes::read(&seatmap_os::Root::new("/"))
        .usable()
        .first()
        .unwrap();
    let place = Place::new();
    let cpu = seatmap_os::affinity::current().unwrap()[0];
    let start = r#"{"format":"seatmap-plan/1","machine":"here""#;
    place.file("plan.json", format!("{start},\"placement\":[{cpu}],\"memory\":[[{node}]]}}"));
    place.stdout("export plan.json --format numactl -o seats");
    let first = lines(&place, "SEATMAP_TASK=0 sh seats head -1 /proc/self/numa_maps").concat();
    assert_contains(&first, &format!(" bind:{node} "));
}

#[test]
fn nginx_reads_the_masks() {
    let Some(cpus) = swapped().filter(|_| installed("nginx")) else { return };
    let place = Place::new();
    export(&place, "nginx", &cpus);
    let folder = place.folder().display();
    let rest = format!("error_log stderr; pid {folder}/pid; daemon off; events {{}}");
    place.file("nginx.conf", place.read("seats") + &rest);
    let judged = shell(&place, &format!("nginx -t -p {folder} -c {folder}/nginx.conf"));
    assert!(judged.status.success(), "{}", stderr(&judged));
    let script = format!(
        "nginx -p {folder} -c {folder}/nginx.conf & master=$!; tries=0; \
         while [ $tries -lt 200 ]; do \
             found=$(for worker in $(cat /proc/$master/task/$master/children); do \
                 sed -n 's/^Cpus_allowed_list:.//p' /proc/$worker/status; done | tr '\\n' ' '); \
             [ \"$found\" = '{} {} ' ] && break; tries=$((tries + 1)); sleep 0.05; \
         done; kill $master; wait $master; echo \"$found\"",
        cpus[0], cpus[1]
    );
    assert_eq!(lines(&place, &script), [format!("{} {}", cpus[0], cpus[1])]);
}

#[test]
fn redis_reads_the_lists() {
    let Some(cpus) = swapped().filter(|_| installed("redis-server")) else { return };
    let place = Place::new();
    export(&place, "redis", &cpus);
    let folder = place.folder().display();
    place.file(
        "redis.conf",
        place.read("seats") + &format!("port 0\nunixsocket {folder}/s\nsave \"\"\n"),
    );
    let script = format!(
        "redis-server {folder}/redis.conf >log 2>&1 & server=$!; tries=0; \
         until grep -q 'ready to accept\\|server is now ready' log || [ $tries -gt 200 ]; do tries=$((tries + 1)); sleep 0.05; done; \
         for thread in /proc/$server/task/*; do \
             echo $(cat $thread/comm) $(sed -n 's/^Cpus_allowed_list:.//p' $thread/status); \
         done; kill $server; wait $server"
    );
    let threads = lines(&place, &script);
    let on = |name: &str| threads.iter().filter(|line| line.starts_with(name)).collect::<Vec<_>>();
    assert_eq!(on("redis-server"), [&format!("redis-server {}", cpus[0])], "{threads:?}");
    let background = on("bio_");
    assert!(
        !background.is_empty()
            && background.iter().all(|line| line.ends_with(&format!(" {}", cpus[1]))),
        "{threads:?}"
    );
}

/// Without a controller, only srun's parser is tested.
#[test]
fn srun_reads_the_binding() {
    if !installed("srun") {
        return;
    }
    let place = Place::new();
    let nobody = "ClusterName=none\nSlurmctldHost=localhost\nSlurmctldPort=1\nMessageTimeout=1\n";
    let nodes = "TaskPlugin=task/affinity\nNodeName=localhost\nPartitionName=all Nodes=localhost\n";
    place.file("slurm.conf", format!("{nobody}{nodes}"));
    for placement in [&[7, 3][..], &[7, 3, 7]] {
        export(&place, "slurm", placement);
        let told = |seats: &str| {
            let output = shell(&place, &format!("SLURM_CONF=$PWD/slurm.conf {seats} true"));
            stderr(&output)
        };
        let seats = place.read("seats").trim_end().to_owned();
        assert!(told(&seats).contains("Unable to contact slurm controller"), "{}", told(&seats));
        assert!(
            told(&(seats + ",x")).contains("unrecognized --cpu-bind argument"),
            "the binding is read at all"
        );
    }
}

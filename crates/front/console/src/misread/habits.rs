//! Commands and options of other tools, and what does the same in Seatmap.
//!
//! One table, based on these manuals, serves unknown commands and options: taskset(1), chrt(1),
//! numactl(8), hwloc(7), likwid-pin(1), srun(1), mpirun(1), docker-run(1), hyperfine(1), perf(1),
//! htop(1).

use clap::Command;

struct Habit {
    /// Words with the same meaning.
    words: &'static str,
    /// The commands that they occur in; empty for all.
    commands: &'static str,
    answer: Answer,
}

#[derive(Clone, Copy)]
enum Answer {
    /// The option or command, if it exists here.
    Same(&'static str),
    /// A sentence that says what to type.
    Sentence(&'static str),
}

use Answer::{Same, Sentence};

/// The options before any command.
const PROGRAM: &str = "seatmap";
const RUN: &str = "run";
const BENCH: &str = "bench";
const SHOW: &str = "show";

const fn habit(words: &'static str, commands: &'static str, answer: Answer) -> Habit {
    Habit { words, commands, answer }
}

/// Options for a duration in other commands and programs.
pub const TIMES: [&str; 7] =
    ["--seconds", "--duration", "--time", "--timeout", "--time-limit", "--limit", "--for"];

/// Options for a machine in other commands and programs.
pub const MACHINES: [&str; 4] = ["--on", "--machine", "--host", "--profile"];

const LIST: Answer = Sentence(
    "'--cpus 0-3' gives each thread one of these CPUs, '--cpus cpus:0-3' gives each thread all \
     four",
);
const RUN_LIST: Answer =
    Sentence("'seatmap run --cpus 0-3 -- ./app' starts a program on these CPUs");
const RUN_PID: Answer = Sentence("'seatmap run --cpus 0-3 --pid PID' pins a running process");
const NODES: Answer = Sentence(
    "'--cpus numa:0' lets each thread run on all CPUs of node 0, '--memory node:0' allocates \
     memory there",
);
const SHOW_HERE: Answer = Sentence(
    "'seatmap show' draws this computer's packages, nodes, caches and cores with their CPUs",
);
const MANY_RANKS: Answer = Sentence(
    "Seatmap starts one program; a launcher starts the ranks, and each gets its part of the seats: \
     'mpirun -n 4 --bind-to none seatmap run --cpus 0-3 -- ./app', or srun with '--cpu-bind=none'",
);
const RANKS_OR_PROGRAM: Answer = Sentence(
    "put the launcher first, and each rank gets its part of the seats: 'mpirun -n 4 --bind-to none \
     seatmap run --cpus 0-3 -- ./app', or srun with '--cpu-bind=none'",
);
const BINDING: Answer = Sentence(
    "'--cpus' sets the seats: 'core:*' is a seat for each core, 'l3:*' for each cache, 'package:*' \
     for each socket, and 0-3 are four CPUs",
);
const CONTAINER: Answer = Sentence(
    "Seatmap does not start containers; 'seatmap run --cpus 0-3 --pid PID' pins a running one; \
     docker inspect -f '{{.State.Pid}}' NAME prints its PID",
);
const EVENTS: Answer = Sentence(
    "'seatmap bench --metric perf:instructions -- ./app' counts a processor event in repeated runs",
);
const NO_SHELL: Answer = Sentence(
    "commands run without a shell, as with hyperfine's '-N'; write a shell line as sh -c 'LINE'",
);
const NO_PREPARE: Answer = Sentence(
    "nothing runs between the runs of 'seatmap bench'; write a script that does this and prints \
     its own time, and read that with '--metric regex:PATTERN'",
);
const SWEEP: Answer = Sentence(
    "give each further command with '--compare': seatmap bench --compare './app 2' --compare \
     './app 4' -- ./app 1",
);
const BENCH_TIME: Answer =
    Sentence("'--runs N' sets the number of blocks, '--seconds TIME' the time");
const PRIORITY: Answer = Sentence(
    "Seatmap does not change priorities; put chrt, nice or ionice in front: 'chrt -f 50 seatmap \
     run --cpus 0 -- ./app'",
);
const BATCH: Answer = Sentence(
    "Seatmap does not schedule jobs; in a job, 'srun --cpu-bind=none seatmap run --cpus 0-3 -- \
     ./app' pins each rank",
);
const LIMITS: Answer = Sentence(
    "'--cpus' selects CPUs by number and does not limit CPU time; 'seatmap check --pid PID' shows \
     whether a quota stops a program",
);

/// The first match answers.
const HABITS: &[Habit] = &[
    // Plausible names of commands.
    habit("pin seat start launch affinity", PROGRAM, Same("run")),
    habit("list ls", PROGRAM, Same("machines")),
    habit("topology topo info", PROGRAM, Same("show")),
    habit("latency distances distance", PROGRAM, Same("measure")),
    habit("verify status", PROGRAM, Same("check")),
    habit("profile trace", PROGRAM, Same("observe")),
    habit("benchmark hyperfine", PROGRAM, Same("bench")),
    habit("isolate cpuset cset", PROGRAM, Same("cell")),
    habit("diff", PROGRAM, Same("compare")),
    habit("version -v", PROGRAM, Sentence("'--version' prints the version")),
    habit(
        "stop undo",
        PROGRAM,
        Sentence(
            "'seatmap cell destroy NAME' destroys a cell, and 'seatmap services undo' undoes a \
             services plan",
        ),
    ),
    habit(
        "kill pkill",
        PROGRAM,
        Sentence("Seatmap does not end programs; 'seatmap top' shows the running ones"),
    ),
    // hyperfine.
    habit("time", PROGRAM, Sentence("'seatmap bench -- ./app' times a command repeatedly")),
    habit("-m -M --min-runs --max-runs --min-benchmarking-time", BENCH, BENCH_TIME),
    habit("-n", BENCH, Sentence("'--runs N' sets the number of runs, '--name NAME' the name")),
    habit("-N -S --shell", BENCH, NO_SHELL),
    habit("-p --prepare -C --conclude", BENCH, NO_PREPARE),
    habit(
        "-s --setup -c --cleanup",
        BENCH,
        Sentence(
            "run it before or after this command; in the file of '--file', the command 'setup' \
             runs once before a benchmark",
        ),
    ),
    habit(
        "--export-csv",
        BENCH,
        Sentence(
            "'-o runs.json' writes every run as JSON; jq converts it to CSV: jq -r '.runs[] | \
             [.command, .value] | @csv' runs.json",
        ),
    ),
    habit("--export-asciidoc --export-orgmode", BENCH, Same("markdown")),
    habit(
        "-i --ignore-failure",
        BENCH,
        Sentence("a failed run ends the session; use sh -c './app || true' to ignore failures"),
    ),
    habit("-L --parameter-list -P --parameter-scan -D --parameter-step-size", BENCH, SWEEP),
    habit(
        "--style --sort -u --time-unit",
        BENCH,
        Sentence("the table has one format; '--json' prints every figure, with times in seconds"),
    ),
    habit(
        "--show-output --input",
        BENCH,
        Sentence(
            "commands have no input, and their output is discarded unless a metric reads it; sh -c \
             './app < FILE' reads a file",
        ),
    ),
    // taskset.
    habit(
        "taskset",
        PROGRAM,
        Sentence(
            "'seatmap run --cpus 0-3 -- ./app' starts a program on CPUs, and 'seatmap run --cpus \
             0-3 --pid PID' pins a running one, thread by thread",
        ),
    ),
    habit("-cp -pc -acp -apc", PROGRAM, RUN_PID),
    habit("-cp -pc -acp -apc", RUN, Sentence("'-c 0-3 -p PID' pins all threads of a process")),
    habit("-p --pid", PROGRAM, RUN_PID),
    habit("-c --cpu-list --cpus --cpu", PROGRAM, RUN_LIST),
    habit("--cpu-list", RUN, LIST),
    // `seatmap run` has these options, so this is `seatmap cell run`.
    habit(
        "-c --cpus --count",
        RUN,
        Sentence("the cell determines the CPUs: 'seatmap cell create --cpus 1-2' chooses them"),
    ),
    habit("-a --all-tasks", RUN, Sentence("'--pid PID' includes all threads of a process")),
    // chrt, nice, nproc, htop, perf.
    habit("chrt nice renice ionice schedtool", PROGRAM, PRIORITY),
    habit("nproc lscpu cpuinfo", PROGRAM, SHOW_HERE),
    habit("htop atop btop pidstat mpstat vmstat", PROGRAM, Same("top")),
    habit(
        "ps pstree",
        PROGRAM,
        Sentence(
            "'seatmap check --all' lists programs and their seats, and 'seatmap top' shows them \
             live",
        ),
    ),
    habit(
        "perf stat",
        PROGRAM,
        Sentence(
            "'seatmap bench --metric perf:instructions -- ./app' counts an event in repeated runs, \
             and 'seatmap observe -- ./app' records which threads communicate",
        ),
    ),
    habit("record", PROGRAM, Same("observe")),
    habit(
        "c2c",
        PROGRAM,
        Sentence(
            "'seatmap measure' times a cache line between all pairs of cores, and 'seatmap observe \
             --method c2c -- ./app' samples the cache lines shared by a program's threads",
        ),
    ),
    habit(
        "sched timechart ftrace strace",
        PROGRAM,
        Sentence("'seatmap observe -- ./app' counts which threads of a program wake each other"),
    ),
    habit("osnoise cyclictest hwlatdetect rtla oslat sysjitter", PROGRAM, Same("noise")),
    habit("-d --delay", "top", Sentence("'--interval TIME' is the time between two samples")),
    habit(
        "-u --user -H -s --sort-key",
        "top",
        Sentence(
            "'--pid PID', '--name GLOB' and '--cgroup PATH' select programs; all threads are shown",
        ),
    ),
    habit("-e --event", "bench observe", EVENTS),
    // numactl.
    habit(
        "numactl",
        PROGRAM,
        Sentence(
            "'seatmap run --cpus numa:0 --memory node:0 -- ./app' starts a program on a node, and \
             'seatmap show' draws the nodes",
        ),
    ),
    habit("-H --hardware -s --show --topology", PROGRAM, SHOW_HERE),
    habit(
        "--cpunodebind --membind --physcpubind --interleave --localalloc -N -m -C -i -l",
        PROGRAM,
        Sentence("'seatmap run --cpus numa:0 --memory node:0 -- ./app' starts a program on a node"),
    ),
    habit("--physcpubind -C", RUN, LIST),
    habit("--cpunodebind -N --numa --node --cpubind", RUN, NODES),
    habit(
        "--membind -m",
        RUN,
        Sentence("'--memory node:0' allocates memory on node 0; Seatmap does not limit memory"),
    ),
    habit("--cpuset-mems", RUN, Sentence("'--memory node:0' allocates memory on node 0")),
    habit("--interleave -i", RUN, Sentence("'--memory interleave' allocates on the nodes in turn")),
    habit(
        "--localalloc -l --mem-bind --mem_bind",
        RUN,
        Sentence("'--memory local' allocates memory on each thread's node"),
    ),
    habit(
        "--preferred -P --preferred-many",
        RUN,
        Sentence("'--memory local' prefers each thread's node; 'node:0' allows only node 0"),
    ),
    habit(
        "--weighted-interleave -w",
        RUN,
        Sentence("'--memory weighted' allocates in proportion to the nodes' weights"),
    ),
    habit(
        "numastat",
        PROGRAM,
        Sentence(
            "'seatmap check --pid PID' shows the nodes of a program's memory, and 'seatmap run \
             --verify-memory --cpus 0-3 -- ./app' reports them while it runs",
        ),
    ),
    habit(
        "migratepages migspeed",
        PROGRAM,
        Sentence("'seatmap run --move-pages --pid PID' moves pages to the threads' nodes"),
    ),
    // hwloc.
    habit(
        "lstopo lstopo-no-graphics hwloc-ls hwloc-info",
        PROGRAM,
        Sentence(
            "'seatmap show' draws this computer in the terminal, 'seatmap show --html PAGE' as a \
             page",
        ),
    ),
    habit(
        "hwloc-bind bind",
        PROGRAM,
        Sentence("'seatmap run --cpus core:0 -- ./app' starts a program on a core"),
    ),
    habit(
        "hwloc-calc",
        PROGRAM,
        Sentence(
            "'seatmap show' lists the CPUs of each part, and 'seatmap run' takes parts by name: \
             '--cpus core:0', '--cpus package:1'",
        ),
    ),
    habit(
        "hwloc-distrib",
        PROGRAM,
        Sentence(
            "'seatmap place --pattern ring:4' finds seats for four tasks, and '--one-per l3' \
             spreads them",
        ),
    ),
    habit("hwloc-ps", PROGRAM, Same("check")),
    habit("hwloc-diff hwloc-compress-dir", PROGRAM, Same("compare")),
    habit(
        "hwloc-gather-topology hwloc-annotate hwloc-patch",
        PROGRAM,
        Sentence("'seatmap import FILE' reads hwloc's files, and 'seatmap export' writes them"),
    ),
    habit(
        "--of --output-format --export-xml",
        SHOW,
        Sentence(
            "'--html PAGE' draws a page, and 'seatmap export --format hwloc-xml PROFILE' writes \
             hwloc's XML",
        ),
    ),
    habit(
        "-p --physical -l --logical --no-io --no-caches --whole-system -v --merge -g",
        SHOW,
        Sentence("the picture has one format, with the operating system's CPU numbers"),
    ),
    habit("--input", SHOW, Sentence("give the file without an option: 'seatmap show FILE'")),
    // likwid.
    habit(
        "likwid-pin",
        PROGRAM,
        Sentence("'seatmap run --cpus 0-3 -- ./app' pins threads in order of creation"),
    ),
    habit("likwid-topology", PROGRAM, SHOW_HERE),
    habit("likwid-perfctr perfctr likwid-powermeter likwid-perfscope", PROGRAM, EVENTS),
    habit("likwid-bench", PROGRAM, Same("measure")),
    habit("likwid-mpirun", PROGRAM, RANKS_OR_PROGRAM),
    habit("likwid-features likwid-setFrequencies likwid-setfreq cpupower", PROGRAM, Same("doctor")),
    habit("likwid-memsweeper likwid-genTopoCfg likwid-config", PROGRAM, SHOW_HERE),
    habit("-g --group", "bench run observe", EVENTS),
    habit("-s --skip-mask", RUN, Sentence("'--skip N' leaves the first N threads without a seat")),
    // Slurm and MPI.
    habit(
        "srun mpirun mpiexec mpiexec.hydra orterun prterun torchrun aprun jsrun",
        PROGRAM,
        RANKS_OR_PROGRAM,
    ),
    habit("sbatch salloc squeue sinfo scontrol scancel qsub bsub", PROGRAM, BATCH),
    habit(
        "-n -np --np -ntasks --ntasks --ntasks-per-node --ntasks-per-socket \
         --ntasks-per-core --nodes -ppn -nodes",
        "run seatmap",
        MANY_RANKS,
    ),
    habit(
        "--host --hosts --hostfile --machinefile -hostfile -H -f --nodelist -x \
         --oversubscribe",
        RUN,
        MANY_RANKS,
    ),
    habit(
        "--cpu-bind --cpu_bind --bind-to --map-by --rank-by --cpu-set --bind-to-core \
         -bind-to -map-by",
        "run seatmap",
        BINDING,
    ),
    habit("bind-to map-by", PROGRAM, BINDING),
    habit(
        "--hint --threads-per-core --cores-per-socket --sockets-per-node --core-spec -B \
         --extra-node-info",
        RUN,
        Sentence("'--cpus core:*' is one seat for each core, with all its hardware threads"),
    ),
    habit(
        "--distribution",
        RUN,
        Sentence(
            "threads take the seats in the order of '--cpus'; 'seatmap place' finds a good order",
        ),
    ),
    habit(
        "--cpus-per-task --cpus-per-rank --pe",
        RUN,
        Sentence("a seat may be several CPUs: '--cpus cpus:0-1,cpus:2-3' is two seats of two CPUs"),
    ),
    habit(
        "--exclusive",
        RUN,
        Sentence(
            "'seatmap cell create --count 2' keeps other programs off two CPUs, and 'seatmap cell \
             run -- ./app' runs there",
        ),
    ),
    habit(
        "--report-bindings -display-map --display-map --display",
        RUN,
        Sentence("a table of the seats is printed at the end, and '--report FILE' writes it"),
    ),
    habit(
        "--rankfile -rf --use-hwthread-cpus",
        RUN,
        Sentence(
            "'--plan FILE' uses the seats found by 'seatmap place'; 'seatmap export --format \
             rankfile' writes them as a rankfile",
        ),
    ),
    // Containers.
    habit("docker podman nerdctl crictl kubectl lxc", PROGRAM, CONTAINER),
    habit("exec inspect update logs images", PROGRAM, CONTAINER),
    habit("--cpuset-cpus --cpuset", "run seatmap", LIST),
    habit("--cpu-shares --cpu-quota --cpu-period --cpu-rt-runtime", RUN, LIMITS),
    habit(
        "-it -ti -d -t -e -v --rm --name --privileged --network --volume --env \
         --entrypoint --gpus --shm-size",
        RUN,
        CONTAINER,
    ),
    // Programs that precede others.
    habit(
        "sudo doas ssh env nohup systemd-run make",
        PROGRAM,
        Sentence("put it in front: 'sudo seatmap run --cpus 0-3 -- ./app'"),
    ),
    // Options of several tools.
    habit("--core --cores -b --bind", RUN, LIST),
    habit("--cpu-list --cpuset-cpus --cpuset --physcpubind --cpu-set -C -c", "", Same("cpus")),
];

/// The answer to an unknown word, which continues the sentence `'seatmap run' has no ...`. `verb`
/// is the full command.
pub fn answer(word: &str, verb: &str, command: &Command) -> Option<String> {
    let last = verb.rsplit(' ').next().unwrap_or_default();
    let fitting = HABITS.iter().filter(|habit| {
        let is_here = habit.commands.is_empty() || habit.commands.split(' ').any(|one| one == last);
        is_here && habit.words.split(' ').any(|one| one == word)
    });
    fitting.into_iter().find_map(|habit| match habit.answer {
        Sentence(sentence) => Some(sentence.to_owned()),
        Same(name) if word.starts_with('-') => {
            super::has_option(command, name).then(|| format!("did you mean '--{name}'?"))
        }
        Same(name) => {
            command.find_subcommand(name).is_some().then(|| format!("did you mean '{name}'?"))
        }
    })
}

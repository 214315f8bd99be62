//! The terms.

use super::Term;

const fn term(word: &'static str, meaning: &'static str) -> Term {
    Term { word, meaning }
}

/// The terms in alphabetical order.
pub const TERMS: &[Term] = &[
    term(
        "95 % interval",
        "Repeated measurements would give a median within these bounds 95 times out of 100 (a \
         bootstrap interval).",
    ),
    term(
        "atomic",
        "An operation on a word of memory that no other CPU can interrupt, such as fetch-and-add.",
    ),
    term("bandwidth", "Data moved per second; 1 GB/s is 10^9 bytes per second."),
    term("barrier", "A point that no thread passes before all threads have reached it."),
    term("cache line", "The unit in which caches exchange data, 64 bytes on most machines."),
    term(
        "cell",
        "A quiet partition of this computer: reserved CPUs, without other tasks, interrupts and \
         timers.",
    ),
    term("channel", "One cache line over which two threads exchange words in turn."),
    term(
        "compact",
        "Tasks fill one core after the other: SMT siblings first, then the next core of the same \
         cache and package.",
    ),
    term("congestion", "The load on the busiest link of the machine."),
    term(
        "core distance",
        "The time that one cache line takes from one CPU to another and back (Liu et al. 2015); \
         one way is half of it.",
    ),
    term("cpuset", "The CPUs on which the kernel allows a group of processes to run."),
    term(
        "detour loop",
        "A loop that only reads the clock: if two readings are too far apart, something else had \
         the CPU.",
    ),
    term("die", "One piece of silicon; a package may hold several."),
    term("directory", "The part of the machine that records which cache holds a line."),
    term(
        "distance class",
        "All pairs of CPUs that share the same level of the machine, such as an L3 cache.",
    ),
    term(
        "DMA",
        "A transfer by a device or a memory flow controller, while the processor continues its \
         work.",
    ),
    term("drifting", "During the measurement, this pair's distance moved in one direction."),
    term(
        "excess",
        "The share of the time of fixed work quanta beyond that of the fastest quantum.",
    ),
    term(
        "fetch-and-add",
        "An atomic operation that adds to a word of memory and returns what it held before.",
    ),
    term("futex", "The kernel's way to let a thread sleep until a word of memory changes."),
    term(
        "FWQ",
        "Fixed work quanta: the same small piece of work over and over, each timed; slow ones were \
         disturbed.",
    ),
    term(
        "gap",
        "A time in which the detour loop did not run: an interrupt, another task, the hypervisor \
         or the firmware had the CPU.",
    ),
    term("GET", "A DMA transfer from main memory to a local store."),
    term("governor", "The kernel's rule for a CPU's frequency; 'performance' keeps it high."),
    term(
        "greedy growth",
        "Tasks are placed one by one, each where it costs least next to those placed before.",
    ),
    term("group", "CPUs near each other by measured distance, whatever the topology says."),
    term(
        "hardware thread",
        "A CPU, as the operating system calls it; a core with SMT has two or more.",
    ),
    term(
        "home",
        "The part that keeps a cache line coherent, such as a slice of the L3 cache; distances \
         depend on it.",
    ),
    term("hypervisor", "The program that runs virtual machines and may take CPU time from them."),
    term("identity", "Thread i executes task i."),
    term("L2", "The second level of cache, of one core or of a few."),
    term("L3", "The last level of cache, which several cores share."),
    term("latency", "The time from the beginning of one operation to its end."),
    term("load average", "The tasks that ran or waited to run, on average over the last minute."),
    term("local store", "The memory of one worker, without a cache in front of it."),
    term(
        "lower bound",
        "No placement can cost less. It limits how far the best one found is from the optimum.",
    ),
    term(
        "MAD",
        "Median absolute deviation: half of the samples are within this distance of the median.",
    ),
    term("mailbox", "A short queue of 32-bit words from one processor to another."),
    term("mapping", "Which thread executes which task: [0213] has thread 1 execute task 2."),
    term("mean", "The sum of the values, divided by their number."),
    term("median", "Half of the samples are below this value and half above it."),
    term("microcode", "The processor's own program, which updates may replace."),
    term(
        "mitigation",
        "A kernel workaround for a flaw of the processor, often at a cost in speed.",
    ),
    term(
        "multi-regime",
        "During the measurement, this pair's distance jumped between two or more levels.",
    ),
    term("NUMA node", "Memory and the CPUs nearest to it."),
    term("OS order", "Task 0 on the CPU with the lowest number, task 1 on the next, and so on."),
    term("p1", "1 % of the values are below this one."),
    term("p10", "10 % of the values are below this one."),
    term("p50", "The median: half of the values are below this one."),
    term("p90", "90 % of the values are below this one."),
    term("p99", "99 % of the values are below this one."),
    term("p99.9", "99.9 % of the values are below this one."),
    term("package", "The part plugged into a socket: one processor with all its dies."),
    term("pattern", "Which task sends how much to which other task."),
    term("placement", "Which task runs on which CPU."),
    term("PU", "Processing unit, or hardware thread: what the operating system calls a CPU."),
    term("PUT", "A DMA transfer from a local store to main memory."),
    term("random, best", "The cheapest of many random placements."),
    term("random, mean", "The mean cost of many random placements."),
    term(
        "rank correlation",
        "Whether two runs put the mappings into the same order: 1 is the same order, 0 is chance \
         (Spearman).",
    ),
    term(
        "RCM order",
        "Reverse Cuthill-McKee: an order that keeps communicating tasks near each other.",
    ),
    term(
        "recursive bisection",
        "Tasks and CPUs are split into halves with little traffic between, and each half again.",
    ),
    term("round trip", "From one CPU to the other and back."),
    term("scatter", "Tasks as far from each other as possible: one a package in turn, one a core."),
    term("seat", "The CPU, or the set of CPUs, on which a thread may run."),
    term("share of the variance", "How much of the differences between pairs a model explains."),
    term("signal", "A 32-bit register of a worker that others write to; the worker waits for it."),
    term(
        "slice",
        "A part of the ring of cores; channels with threads and homes in one slice do not disturb \
         others.",
    ),
    term(
        "SMT sibling",
        "Another hardware thread of the same core; both share its caches and its speed.",
    ),
    term(
        "spectral order",
        "Tasks in the order of the second eigenvector of their traffic: communicating tasks are \
         close.",
    ),
    term("speed-up", "The usual time divided by the new one: above 1 is faster."),
    term(
        "stacked",
        "The host runs both vCPUs of this pair on one CPU, in turn, so they never run at once.",
    ),
    term(
        "steal",
        "The share of the time that the hypervisor gave to others although this CPU had work, as \
         the kernel counts it.",
    ),
    term("stolen", "The share of the time in which the detour loop did not run."),
    term("threshold", "The shortest gap that the meter can distinguish from its own loop."),
    term("topology", "Which CPUs share cores, caches, memory and packages."),
    term("turbo", "Frequencies above the nominal one, as long as power and heat allow."),
    term(
        "verified",
        "The kernel confirmed the seat, and no check found the thread elsewhere for longer than \
         half a second.",
    ),
    term("weight", "The unit of the pattern's edges: bytes, or messages."),
];

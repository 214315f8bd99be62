"""Rules by which programs choose CPUs, each before and after a public bug was fixed.

    rules.py BUG before|after

Written anew from the description of the bug and of its fix: no line is the program's. A rule returns a set of CPUs for
each of the program's busy workers, or None for a worker that is not bound. Those with many workers are cut to MOST.
"""
import ctypes
import glob
import math
import os
import random
import sys
import time
from typing import Callable, NamedTuple

CPU = "/sys/devices/system/cpu/"
NODES = "/sys/devices/system/node/"
MOST = 16
WORK_S = 0.2


def text(path):
    with open(path, encoding="ascii") as file:
        return file.read().strip()


def cpus(listed):
    """The CPUs of a list such as 0-3,8."""
    ranges = [part.split("-") for part in listed.split(",") if part]
    return {cpu for ends in ranges for cpu in range(int(ends[0]), int(ends[-1]) + 1)}


def allowed():
    return sorted(os.sched_getaffinity(0))


def online():
    return sorted(cpus(text(CPU + "online")))


def present():
    return sorted(cpus(text(CPU + "present")))


def of_core(cpu, file):
    return text(f"{CPU}cpu{cpu}/topology/{file}")


def nodes():
    """The CPUs of each NUMA node, by its number."""
    paths = glob.glob(NODES + "node[0-9]*/cpulist")
    return {int(path.split("/")[-2][4:]): cpus(text(path)) for path in sorted(paths)}


def quota():
    """The control group's quota in CPUs."""
    try:
        limit, period = text("/sys/fs/cgroup/cpu.max").split()
    except OSError:
        limit, period = (text(f"/sys/fs/cgroup/cpu/cpu.cfs_{name}_us") for name in ("quota", "period"))
    return math.inf if limit in ("max", "-1") else int(limit) / int(period)


def workers(count):
    return [None] * max(1, count)


def one_each(chosen):
    return [{cpu} for cpu in chosen]


def within(quota_cpus):
    """As many workers as the mask and the rounded quota have CPUs."""
    return workers(min(len(allowed()), max(1, quota_cpus)))


def one_of_each_core(chosen):
    """The first of the chosen CPUs on each core."""
    cores = {}
    for cpu in chosen:
        cores.setdefault(of_core(cpu, "core_cpus_list"), cpu)
    return sorted(cores.values())


# One worker for each online CPU, also in a container with few of them; and one for each CPU of the mask.
def by_online():
    return workers(len(online()))


def by_mask():
    return workers(len(allowed()))


def by_online_cores():
    return workers(len(one_of_each_core(online())))


def by_floor():
    return within(math.floor(quota()) if quota() < math.inf else math.inf)


def by_ceiling():
    """Of version 2 of control groups only."""
    is_known = os.path.exists("/sys/fs/cgroup/cpu.max") and quota() < math.inf
    return within(math.ceil(quota()) if is_known else math.inf)


# The workers have the numbers of CPUs.
def by_number():
    return one_each(range(4))


def by_rank():
    return one_each(allowed()[:4])


# A mask that allows all CPUs, with room for so many.
def set_all(bits):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.sched_setaffinity(0, bits // 8, b"\xff" * (bits // 8)):
        raise OSError(ctypes.get_errno(), "sched_setaffinity")
    return workers(1)


def get_mask(bits):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.sched_getaffinity(0, bits // 8, ctypes.create_string_buffer(bits // 8)):
        raise OSError(ctypes.get_errno(), "sched_getaffinity")
    return workers(1)


# FeralInteractive/gamemode#498: a game was pinned to the two cores of the fastest turbo mode.
def fastest():
    try:
        speeds = {cpu: int(text(f"{CPU}cpu{cpu}/cpufreq/cpuinfo_max_freq")) for cpu in allowed()}
    except OSError:
        return confined(set(allowed()))
    return confined({cpu for cpu, speed in speeds.items() if speed >= 0.95 * max(speeds.values())})


def listed_cores():
    try:
        listed = cpus(text("/sys/devices/cpu_core/cpus")) & set(allowed())
    except OSError:
        listed = set(allowed())
    return confined_unless_crowded(listed)


# iree-org/iree#24761: the cluster of the current CPU was taken for its NUMA node.
def own_cluster():
    try:
        own = of_core(allowed()[0], "cluster_id")
    except OSError:
        return confined(set(allowed()))
    return confined({cpu for cpu in allowed() if of_core(cpu, "cluster_id") == own})


def own_node():
    return confined_unless_crowded(next(node for node in nodes().values() if allowed()[0] in node) & set(allowed()))


def confined(chosen):
    """Up to four workers on the same CPUs."""
    return [chosen] * min(4, len(allowed()))


def confined_unless_crowded(chosen):
    cores = len(one_of_each_core(chosen))
    return confined(chosen if cores >= min(4, len(one_of_each_core(allowed()))) else set(allowed()))


# google/nsjail#200: random numbers below the number of online CPUs.
def random_numbers():
    return one_each(random.Random(1).sample(range(len(online())), min(8, len(online()))))


def random_allowed():
    return one_each(random.Random(1).sample(allowed(), min(8, len(allowed()))))


# beyond-all-reason/RecoilEngine#2555: only as many bits of the mask were looked at as CPUs are online.
def leading_bits():
    return [{cpu for cpu in range(len(online())) if cpu in allowed()}] * len(allowed())


def all_bits():
    return [set(allowed())] * len(allowed())


# firedancer-io/firedancer#10430: a tile could get an offline CPU.
def present_cpus():
    return one_each(present()[:4])


def online_cpus():
    return one_each([cpu for cpu in online() if cpu in allowed()][:4])


# omegaup/omegajail#16: always the first CPU.
def first_cpu():
    return one_each([0])


def first_allowed():
    return one_each(allowed()[:1])


# stressapptest/stressapptest#123: odd numbers were taken for the second threads of cores.
def even_first():
    ordered = sorted(allowed(), key=lambda cpu: (cpu % 2, cpu))
    return one_each(ordered[:len(one_of_each_core(allowed()))])


def primary_first():
    return one_each(one_of_each_core(allowed()))


# vllm-project/vllm#43240: the first worker got the first node, also if the process may use none of its CPUs.
def first_node():
    return [set(next(node for node in nodes().values() if node)) & set(allowed())]


def first_usable_node():
    usable = [node & set(allowed()) for node in nodes().values()]
    return [next(node for node in usable if node)]


# vllm-project/vllm#31518: numbers of nodes were compared with the numbers of allowed CPUs.
def nodes_among_cpus():
    chosen = [number for number in nodes() if number in allowed()]
    return [nodes()[chosen[0]] & set(allowed())]


def nodes_among_nodes():
    chosen = [number for number, node in nodes().items() if node & set(allowed())]
    return [nodes()[chosen[0]] & set(allowed())]


class Bug(NamedTuple):
    """A bug, and the situations that it is about."""

    name: str
    machines: str
    situations: tuple
    before: Callable
    after: Callable


CPUSETS = ("hole", "one-cpu")
QUOTAS = ("quota", "quota-v1")
ALL = ("whole", "hole", "offline", "no-smt", "one-cpu")

BUGS = [
    Bug("FeralInteractive/gamemode#498", "core-ultra-9-185h", ALL, fastest, listed_cores),
    Bug("iree-org/iree#24761", "ampere-altra-2s", ALL, own_cluster, own_node),
    # Their fixes: nginx#910, envoy#5975, squashfs-tools#210, squashfs-tools-ng#109, pixz#107.
    Bug("nginx/nginx#855", "raspberry-pi-5", CPUSETS, by_online, by_mask),
    Bug("envoyproxy/envoy#5976", "raspberry-pi-5", CPUSETS, by_online, by_mask),
    Bug("plougher/squashfs-tools#210", "raspberry-pi-5", CPUSETS, by_online, by_mask),
    Bug("AgentD/squashfs-tools-ng#109", "raspberry-pi-5", CPUSETS, by_online, by_mask),
    Bug("vasi/pixz#107", "raspberry-pi-5", CPUSETS, by_online, by_mask),
    # envoy#40997, ollama#17962, llmman#323, lilbee#660. The first does not say how it rounds.
    Bug("envoyproxy/envoy#36988", "raspberry-pi-5", QUOTAS, by_online, by_floor),
    Bug("ollama/ollama#17916", "raspberry-pi-5", CPUSETS + QUOTAS[:1], by_online_cores, by_ceiling),
    Bug("llmmanorg/llmman#322", "raspberry-pi-5", QUOTAS, by_mask, by_floor),
    Bug("tobocop2/lilbee#660", "raspberry-pi-5", CPUSETS + QUOTAS, by_online_cores, by_floor),
    # crun#2229 itself, runc#5025; omr allocates a longer mask.
    Bug("containers/crun#2229", "superdome-flex-1280", ("one-cpu",), lambda: set_all(1024), lambda: set_all(1 << 16)),
    Bug("opencontainers/runc#5023", "superdome-flex-1280", ("one-cpu",), lambda: set_all(1024), lambda: workers(1)),
    Bug("eclipse-omr/omr#311", "superdome-flex-1280", ALL, lambda: get_mask(1024), lambda: get_mask(1 << 16)),
    Bug("google/nsjail#200", "power9-ac922", ("no-smt",), random_numbers, random_allowed),
    Bug("beyond-all-reason/RecoilEngine#2555", "core-ultra-5-225u", ("no-smt",), leading_bits, all_bits),
    Bug("firedancer-io/firedancer#10430", "raspberry-pi-5", ("offline",), present_cpus, online_cpus),
    # Mlucas#176 itself, mori#358 itself; yalantinglibs and apex say it in the bug.
    Bug("primesearch/Mlucas#176", "raspberry-pi-5", CPUSETS, by_number, by_rank),
    Bug("ROCm/mori#358", "raspberry-pi-5", CPUSETS, by_number, by_rank),
    Bug("alibaba/yalantinglibs#1215", "raspberry-pi-5", CPUSETS, by_number, by_rank),
    Bug("UO-OACISS/apex#134", "raspberry-pi-5", CPUSETS, by_number, by_rank),
    Bug("omegaup/omegajail#16", "raspberry-pi-5", CPUSETS, first_cpu, first_allowed),
    # stressapptest#124, vllm#56353, vllm#31520.
    Bug("stressapptest/stressapptest#123", "ryzen-7900x3d", ("whole",), even_first, primary_first),
    Bug("vllm-project/vllm#43240", "kunpeng-920", ("one-cpu",), first_node, first_usable_node),
    Bug("vllm-project/vllm#31518", "kunpeng-920", CPUSETS, nodes_among_cpus, nodes_among_nodes),
]


def work(chosen):
    """The exit code of a worker."""
    try:
        if chosen is not None:
            os.sched_setaffinity(0, chosen)
    except OSError:
        return 1
    until = time.process_time() + WORK_S
    while time.process_time() < until:
        pass
    return 0


def main(name, version):
    bug = next(bug for bug in BUGS if bug.name == name)
    children = []
    for chosen in (bug.before if version == "before" else bug.after)()[:MOST]:
        child = os.fork()
        if child == 0:
            os._exit(work(chosen))
        children.append(child)
    sys.exit(max(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children))


if __name__ == "__main__":
    main(*sys.argv[1:])

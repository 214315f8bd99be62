"""Cells around blocks of Python. Each takes its CPU from all other programs.

``tests/control.rs`` runs this file with cargo's build of the module, while no other test runs.
"""

import os
import subprocess
import sys
import threading
import time
import unittest

import seatmap

#: The kernel settings that a cell changes, for interrupts, unbound work and control groups: each
#: folder with the names of its files.
SETTINGS = {
    "/proc/irq": ["smp_affinity_list"],
    "/sys/devices/virtual/workqueue": ["cpumask"],
    "/sys/fs/cgroup": [
        "cpuset.cpus",
        "cpuset.cpu_exclusive",
        "cpuset.sched_load_balance",
        "cpuset.cpus.partition",
    ],
}

#: A program that prints its cell's CPU and stays in the cell until its stdin ends.
STAYS = """
import sys, seatmap
with seatmap.quiet(1, name=sys.argv[1], untested=True) as cell:
    print(cell.cpus[0], flush=True)
    sys.stdin.read()
"""

#: A killed program's cell exists for its lease of 60 s; the rest is for a busy computer.
LONGEST_S = 180


def skip(case, why):
    print(f"skipped: {case.id()}: {why}", file=sys.stderr)
    case.skipTest(why)


def settings():
    """The settings that a cell changes, by file."""
    found = {}
    for root, names in SETTINGS.items():
        # Links point back to their own folder; os.walk does not follow them.
        for folder, _, files in os.walk(root):
            for path in (os.path.join(folder, name) for name in names if name in files):
                try:
                    with open(path) as file:
                        found[path] = file.read()
                except OSError:
                    pass  # An interrupt or a group that has gone.
    return found


class Cells(unittest.TestCase):
    def test_a_cell_ends_by_an_exception_too(self):
        before = os.sched_getaffinity(0)
        name = f"test-{os.getpid()}"
        cell = seatmap.quiet(1, name=name, untested=True)
        try:
            with self.assertRaises(ZeroDivisionError), cell:
                stop = threading.Event()
                thread = threading.Thread(target=stop.wait)
                thread.start()
                1 / 0
        except seatmap.SeatmapError as error:
            skip(self, f"cells are refused: {error}")
        self.assertEqual(os.sched_getaffinity(thread.native_id), before)
        stop.set()
        thread.join()
        # Its name is free again.
        with seatmap.quiet(1, name=name, untested=True):
            pass
        self.assertEqual(os.sched_getaffinity(0), before)

    def test_a_cell_lasts_as_long_as_its_block(self):
        before = os.sched_getaffinity(0)
        try:
            with seatmap.quiet(1, untested=True) as cell:
                self.assertEqual(os.sched_getaffinity(0), set(cell.cpus))
                self.assertEqual(len(cell.cpus), 1)
        except seatmap.SeatmapError as error:
            skip(self, f"cells are refused: {error}")
        self.assertEqual(os.sched_getaffinity(0), before)

    def test_a_killed_program_leaves_the_computer_as_it_was(self):
        name = f"killed-{os.getpid()}"
        before = settings()
        beside = subprocess.Popen(["sleep", "600"])
        self.addCleanup(beside.wait)
        self.addCleanup(beside.kill)
        masks = [os.sched_getaffinity(pid) for pid in (0, beside.pid)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        program = subprocess.Popen([sys.executable, "-c", STAYS, name], **pipes)
        self.addCleanup(program.communicate)
        self.addCleanup(program.kill)
        cpu = program.stdout.readline()
        if not cpu:
            error = program.stderr.read().decode().strip().splitlines()[-1]
            self.assertIn("SeatmapError", error)
            skip(self, f"cells are refused: {error}")
        taken = int(cpu)
        self.assertNotIn(taken, os.sched_getaffinity(beside.pid))
        program.kill()
        program.wait()
        deadline = time.monotonic() + LONGEST_S
        while not self.is_as_before(name, before, masks, beside):
            self.assertLess(time.monotonic(), deadline, self.differences(name, before))
            time.sleep(0.5)
        with seatmap.quiet(1, name=name, untested=True):
            pass

    def is_as_before(self, name, before, masks, beside):
        now = [os.sched_getaffinity(pid) for pid in (0, beside.pid)]
        return now == masks and not self.differences(name, before)

    def differences(self, name, before):
        """Changed settings, and files left by the cell's groups."""
        now = settings()
        changed = [path for path in before if now.get(path, before[path]) != before[path]]
        return {path: now[path] for path in [*changed, *(path for path in now if name in path)]}


if __name__ == "__main__":
    unittest.main(verbosity=2)

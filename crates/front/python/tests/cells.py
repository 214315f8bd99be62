"""Cells around blocks of Python: while one stands, its CPU is taken from everybody.

``tests/control.rs`` runs this file with the module that cargo has built, when no other test runs.
"""

import os
import sys
import threading
import unittest

import seatmap


def skip(case, why):
    print(f"skipped: {case.id()}: {why}", file=sys.stderr)
    case.skipTest(why)


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


if __name__ == "__main__":
    unittest.main(verbosity=2)

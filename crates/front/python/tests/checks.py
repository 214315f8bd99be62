"""The package alone: doctests, stubs, errors, pages, Python's lock, threads, workers.

``tests/python.rs`` runs this file with cargo's build of the module. Missing prerequisites (NumPy,
SciPy, NetworkX, a second CPU, root) are named on a line that begins with ``skipped:``.
"""

import ast
import doctest
import importlib.util
import inspect
import json
import math
import multiprocessing
import os
import pkgutil
import signal
import sys
import tempfile
import threading
import time
import unittest
import warnings
from pathlib import Path

import seatmap

CPUS = sorted(os.sched_getaffinity(0))


def has(module):
    return importlib.util.find_spec(module) is not None


def skip(case, why):
    print(f"skipped: {case.id()}: {why}", file=sys.stderr)
    case.skipTest(why)


def modules():
    names = [name for _, name, _ in pkgutil.iter_modules(seatmap.__path__)]
    return [seatmap, *(importlib.import_module(f"seatmap.{name}") for name in names)]


class Words(unittest.TestCase):
    def test_the_examples_of_the_documentation_do_as_they_say(self):
        flags = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
        results = [doctest.testmod(module, optionflags=flags) for module in modules()]
        self.assertEqual(sum(result.failed for result in results), 0)
        self.assertGreater(sum(result.attempted for result in results), 10)

    def test_everything_public_is_documented(self):
        for name in seatmap.__all__:
            if name != "__version__":
                self.assertTrue(getattr(seatmap, name).__doc__, name)


class Stubs(unittest.TestCase):
    """`__init__.pyi` must have the package's names, parameters and members."""

    def setUp(self):
        text = Path(seatmap.__file__).with_suffix(".pyi").read_text()
        self.tree = ast.parse(text)
        self.nodes = {
            node.name: node
            for node in self.tree.body
            if isinstance(node, (ast.FunctionDef, ast.ClassDef))
        }

    def test_the_names_are_the_same(self):
        listed = next(
            ast.literal_eval(node.value)
            for node in self.tree.body
            if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"
        )
        self.assertEqual(listed, seatmap.__all__)
        self.assertEqual({*self.nodes, "__version__"}, set(seatmap.__all__))

    def test_functions_have_the_same_parameters(self):
        for name, node in self.nodes.items():
            if isinstance(node, ast.FunctionDef):
                self.compare(name, node, getattr(seatmap, name))

    def test_classes_have_the_same_members(self):
        for name, node in self.nodes.items():
            if not isinstance(node, ast.ClassDef):
                continue
            found = getattr(seatmap, name)
            members = {part.name: part for part in node.body if isinstance(part, ast.FunctionDef)}
            fields = [part.target.id for part in node.body if isinstance(part, ast.AnnAssign)]
            own = [
                member
                for member, value in vars(found).items()
                if not member.startswith("_") and (callable(value) or hasattr(value, "__get__"))
            ]
            public = {member for member in members if not member.startswith("_")} | {*fields}
            known = {*own, *getattr(found, "__dataclass_fields__", {})}
            known = {member for member in known if not member.startswith("_")}
            self.assertEqual(public, known, name)
            for member, part in members.items():
                value = vars(found)[member]
                if isinstance(value, property):
                    continue
                self.compare(f"{name}.{member}", part, getattr(value, "__func__", value))

    def compare(self, name, node, function):
        given = node.args
        stub = [
            *((one.arg, "plain") for one in given.args),
            *((one.arg, "keyword") for one in given.kwonlyargs),
        ]
        kinds = {inspect.Parameter.KEYWORD_ONLY: "keyword"}
        parameters = inspect.signature(function).parameters.values()
        real = [(one.name, kinds.get(one.kind, "plain")) for one in parameters]
        self.assertEqual(stub, real, name)
        defaults = [*given.defaults, *(one for one in given.kw_defaults if one is not None)]
        written = [ast.literal_eval(default) for default in defaults]
        found = [one.default for one in parameters if one.default is not inspect.Parameter.empty]
        self.assertEqual(written, found, name)


class Errors(unittest.TestCase):
    """Every error is an exception with the command line's sentence."""

    def refused(self, pattern, call, kind=seatmap.InputError):
        with self.assertRaisesRegex(kind, pattern) as caught:
            call()
        self.assertNotIn("\n", str(caught.exception))
        self.assertIsInstance(caught.exception, seatmap.SeatmapError)

    def test_machines(self):
        self.refused("did you mean", lambda: seatmap.machine("xeon-e5-2680"))
        self.refused("no such file", lambda: seatmap.machine("none/profile.json"))
        self.refused("stdin", lambda: seatmap.machine("-"))
        profile = seatmap.machine("xeon-e5-2680-2s")
        self.refused("unknown matrix", lambda: profile._machine.distances_ns("mean"))
        self.refused("no distance", lambda: profile.distance_ns(0, 4096))
        self.refused("expected a Profile", lambda: seatmap.place("ring:4", on=17))

    def test_patterns(self):
        self.refused("ring", lambda: seatmap.pattern("ring:0"))
        self.refused("stdin", lambda: seatmap.pattern("-"))
        self.refused("square", lambda: seatmap.pattern([[0, 1]]))
        self.refused("square", lambda: seatmap.pattern([[0, 1], [2]]))
        self.refused("cannot be made of", lambda: seatmap.pattern(7))
        self.refused("cannot be made of", lambda: seatmap.pattern([["a"]]))
        self.refused("", lambda: seatmap.pattern([[0, math.nan], [0, 0]]))
        self.refused("", lambda: seatmap.pattern([[0, -1], [0, 0]]))
        self.refused("", lambda: seatmap.pattern([]))

    def test_placements(self):
        on = "xeon-e5-2680-2s"
        self.refused("objective", lambda: seatmap.place("ring:4", on, objective="best"))
        self.refused("seconds", lambda: seatmap.place("ring:4", on, seconds=0))
        self.refused("CPU", lambda: seatmap.place("ring:4", on, cpus="0-x"))
        self.refused("", lambda: seatmap.place("ring:4", on, fix={9: 0}, seconds=0.1))
        measured = seatmap.machine(on).document
        simulated = lambda: seatmap.place("ring:4", measured, objective="simulated")
        self.refused("cannot run programs", simulated)

    def test_plans(self):
        self.refused("", lambda: seatmap.Plan.from_json("{}"))
        self.refused("No such file", lambda: seatmap.Plan.load("none.json"))
        plan = seatmap.Plan.by_hand([0])
        self.refused("formats for it", lambda: plan.export("word"))
        folder = lambda: plan.save("none/plan.json")
        self.refused("none/plan.json", folder, seatmap.SeatmapError)

    def test_threads(self):
        elsewhere = seatmap.Plan.by_hand([0], machine="another computer")
        self.refused("another computer", lambda: seatmap.pin(elsewhere))
        self.refused("not task 5", lambda: seatmap.pin([CPUS[0]], task=5))
        self.refused("not a thread of this process", lambda: seatmap.pin([CPUS[0]], threads=[1]))
        self.refused("not a thread", lambda: seatmap.pin([0], threads=["main"]))
        self.refused("cannot pin", lambda: seatmap.pin([8191], task=0), seatmap.SeatmapError)
        self.refused("2 threads", lambda: seatmap.pin([CPUS[0]], threads=[1, 2]))

    def test_programs(self):
        self.refused("no process", lambda: seatmap.check(2**22 - 1))
        self.refused("rule", lambda: seatmap.check(rules="tidy"))
        self.refused("seconds", lambda: seatmap.check(seconds=-1))
        self.refused("unknown method", lambda: seatmap.observe(1, method="guess"))
        self.refused("unknown level", lambda: seatmap.quiet(1, require="x").__enter__())

    def test_measurements(self):
        self.refused("two CPUs|at least two", lambda: seatmap.measure([CPUS[0]]))
        self.refused("8191", lambda: seatmap.measure([CPUS[0], 8191]))


class Values(unittest.TestCase):
    def test_a_profile_has_its_matrix(self):
        profile = seatmap.machine("xeon-e5-2680-2s")
        if not has("numpy"):
            with self.assertRaisesRegex(seatmap.SeatmapError, "pip install numpy"):
                profile.distances_ns
            skip(self, "NumPy is absent")
        matrix = profile.distances_ns
        self.assertEqual(matrix.shape, (len(profile.cpus), len(profile.cpus)))
        self.assertTrue((matrix == matrix.T).all() and (matrix.diagonal() == 0).all())
        self.assertEqual(matrix[0, 1], profile.distance_ns(*profile.cpus[:2]))
        self.assertTrue(math.isnan(profile.matrix_ns("p10")[0, 1]))

    def test_unknown_distances_are_nan(self):
        profile = seatmap.machine("xeon-e5-2680-2s")
        document = profile.document
        document["core_distance"]["median_ns"][0][1] = None
        document["core_distance"]["median_ns"][1][0] = None
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "profile.json"
            path.write_text(json.dumps(document))
            self.assertTrue(math.isnan(seatmap.machine(path).distance_ns(0, 1)))
            profile.save(path)
            self.assertEqual(seatmap.machine(path).document, profile.document)

    def test_patterns_of_many_kinds_are_one(self):
        rows = [[0, 8, 0], [2, 0, 0], [0, 1, 0]]
        expected = [(0, 1, 8.0), (1, 0, 2.0), (2, 1, 1.0)]
        kinds = {"lists": rows}
        if has("numpy"):
            import numpy

            kinds["numpy"] = numpy.array(rows)
        if has("scipy"):
            import scipy.sparse

            kinds["csr"] = scipy.sparse.csr_matrix(rows)
            kinds["coo array"] = scipy.sparse.coo_array(rows)
        if has("networkx"):
            import networkx

            graph = networkx.DiGraph()
            graph.add_nodes_from([0, 1, 2])
            graph.add_weighted_edges_from(expected)
            kinds["networkx"] = graph
        for kind, source in kinds.items():
            self.assertEqual(seatmap.pattern(source).edges, expected, kind)
        if len(kinds) < 5:
            skip(self, f"patterns were made of {', '.join(kinds)} alone")

    def test_a_graph_without_directions_talks_both_ways(self):
        if not has("networkx"):
            skip(self, "NetworkX is absent")
        import networkx

        path = seatmap.pattern(networkx.path_graph(["a", "b", "c"]))
        self.assertEqual(path.task_names, ("a", "b", "c"))
        self.assertEqual({edge[:2] for edge in path.edges}, {(0, 1), (1, 0), (1, 2), (2, 1)})

    def test_a_plan_has_its_cost_and_bound(self):
        plan = seatmap.place("stencil2d:4x4", on="xeon-e5-2680-2s", kicks=200)
        self.assertEqual(len(plan.placement), 16)
        self.assertLessEqual(plan.lower_bound, plan.cost)
        self.assertLessEqual(plan.cost, plan.baselines["os"])
        again = seatmap.place("stencil2d:4x4", on="xeon-e5-2680-2s", kicks=200)
        self.assertEqual(plan.placement, again.placement)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "plan.json"
            plan.save(path)
            self.assertEqual(seatmap.Plan.load(path).document, plan.document)
        self.assertIn("OMP_PLACES", plan.export("omp-places"))

    def test_a_model_judges_by_running(self):
        plan = seatmap.place("ring:4", on="xeon-phi-5110p", objective="simulated", kicks=1)
        self.assertEqual(plan.objective, "simulated")
        self.assertGreater(plan.cost, 0)

    def test_pages_are_those_of_the_command_line(self):
        plan = seatmap.place("ring:4", on="xeon-e5-2680-2s", kicks=1)
        for shown in [seatmap.machine("xeon-e5-2680-2s"), plan, seatmap.pattern("ring:4")]:
            page = shown.to_html()
            self.assertTrue(page.lower().startswith("<!doctype html>"), type(shown))
            self.assertIn("</html>", page)
            framed = shown._repr_html_()
            self.assertTrue(framed.startswith("<iframe") and framed.endswith("</iframe>"))
            self.assertEqual(framed.count("<"), 2, "the page is quoted")
            self.assertTrue(str(shown).strip())


class Running(unittest.TestCase):
    def test_other_threads_run_during_a_search(self):
        counted = [0]
        done = threading.Event()

        def count():
            while not done.is_set():
                counted[0] += 1

        counter = threading.Thread(target=count)
        counter.start()
        before = counted[0]
        seatmap.place("stencil2d:8x8", on="xeon-phi-5110p", kicks=300, threads=1)
        during = counted[0] - before
        done.set()
        counter.join()
        # With the lock held, it could count only for a switch interval (5 ms) at either end.
        self.assertGreater(during, 0)

    def interrupt(self, call):
        """Asserts that Ctrl-C ends a call that would take an hour."""
        # A program that a script starts with & ignores SIGINT, and Python does not change that.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        # The kernel's signal, as from a terminal, while the call runs without the lock.
        timer = threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT])
        began = time.monotonic()
        timer.start()
        try:
            with self.assertRaises(KeyboardInterrupt):
                call()
        finally:
            timer.cancel()
            timer.join()
        # Minutes, for a busy computer: the call checks every tenth of a second.
        self.assertLess(time.monotonic() - began, 300)

    def test_ctrl_c_ends_a_check(self):
        self.interrupt(lambda: seatmap.check(seconds=3600))

    def test_ctrl_c_ends_a_search(self):
        # Only machines with shared links have congestion, and ``time`` needs nanoseconds of work.
        for objective, machine in [
            ("distance", "xeon-phi-5110p"),
            ("congestion", "epyc-9654-2s"),
            ("simulated", "xeon-phi-5110p"),
        ]:
            with self.subTest(objective):
                options = {"on": machine, "objective": objective, "seconds": 3600}
                self.interrupt(lambda: seatmap.place("stencil2d:8x7", **options))
        # These kicks would take days.
        self.interrupt(lambda: seatmap.place("stencil2d:8x8", on="epyc-9654-2s", kicks=10**12))

    def test_ctrl_c_ends_a_measurement(self):
        if len(CPUS) < 2:
            skip(self, "one CPU")
        self.interrupt(lambda: seatmap.measure(CPUS[:2], thorough=True, passes=10**6))

    def test_ctrl_c_ends_an_observation(self):
        stop = threading.Event()
        thread = threading.Thread(target=stop.wait)
        thread.start()
        try:
            self.interrupt(lambda: seatmap.observe(os.getpid(), seconds=3600))
        except seatmap.SeatmapError as error:
            skip(self, f"observing is refused: {error}")
        finally:
            stop.set()
            thread.join()

    def test_remarks_are_warnings(self):
        matrix = "xeon-e5-2680-2s"
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            seatmap.machine("host")
            seatmap.place("ring:4", on=matrix, kicks=1)
        for warning in caught:
            self.assertIs(warning.category, seatmap.SeatmapWarning)
            self.assertEqual(warning.filename, __file__)

    def test_where_lists_every_thread(self):
        stop = threading.Event()
        others = [threading.Thread(target=stop.wait) for _ in range(3)]
        for thread in others:
            thread.start()
        seats = {seat.tid: seat for seat in seatmap.where()}
        stop.set()
        for thread in others:
            thread.join()
            self.assertEqual(seats[thread.native_id].cpus, tuple(CPUS))

    def test_threads_get_the_seats_of_a_plan(self):
        if len(CPUS) < 2:
            skip(self, "one CPU")
        stop = threading.Event()
        thread = threading.Thread(target=stop.wait)
        thread.start()
        try:
            plan = seatmap.Plan.by_hand(CPUS[:2])
            main = threading.main_thread()
            seats = seatmap.pin(plan, threads=[main, thread])
            self.assertEqual([seat.cpus for seat in seats], [(CPUS[0],), (CPUS[1],)])
            self.assertEqual(os.sched_getaffinity(thread.native_id), {CPUS[1]})
            checked = seatmap.check(plan=plan, seconds=0.2)
            self.assertIn(checked.verdict, ["well", "unseen", "wrong"])
            self.assertEqual(checked.ok, checked.failure is None)
        finally:
            stop.set()
            os.sched_setaffinity(0, CPUS)

    def test_a_task_seats_the_calling_thread(self):
        found = []

        def work():
            seatmap.pin([CPUS[0]], task=0)
            found.append(os.sched_getaffinity(0))

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        self.assertEqual(found, [{CPUS[0]}])
        self.assertEqual(os.sched_getaffinity(0), set(CPUS))

    def test_a_check_finds_a_thread_on_another_seat(self):
        if len(CPUS) < 2:
            skip(self, "one CPU")
        os.sched_setaffinity(0, {CPUS[1]})
        try:
            checked = seatmap.check(plan=[CPUS[0]], seconds=0.2)
        finally:
            os.sched_setaffinity(0, CPUS)
        self.assertFalse(checked)
        self.assertTrue(checked.failure)
        self.assertIn("expect", {finding.rule for finding in checked.findings})

    def test_workers_get_their_seats(self):
        if len(CPUS) < 2:
            skip(self, "one CPU")
        seats = seatmap.pin_worker(CPUS[:2])
        for method in ["fork", "spawn"]:
            context = multiprocessing.get_context(method)
            with context.Pool(2, initializer=seats) as pool:
                found = {tuple(cpus) for cpus in pool.map(own_cpus, range(20), chunksize=1)}
                found |= {tuple(pool.apply(own_cpus, (0,))) for _ in range(20)}
            self.assertLessEqual(found, {(CPUS[0],), (CPUS[1],)}, method)
            self.assertTrue(found, method)

    def test_a_forked_worker_computes_as_its_parent_did(self):
        # The child lacks the parent's threads and must not wait for them.
        expected = computed(0)
        with multiprocessing.get_context("fork").Pool(1) as pool:
            self.assertEqual(pool.apply_async(computed, (0,)).get(timeout=60), expected)

    def test_a_worker_init_function_takes_the_workers_number(self):
        seats = seatmap.pin_worker([CPUS[0], CPUS[-1]])
        for worker, cpu in [(0, CPUS[0]), (1, CPUS[-1]), (2, CPUS[0])]:
            context = multiprocessing.get_context("fork")
            with context.Pool(1, initializer=seats, initargs=(worker,)) as pool:
                self.assertEqual(pool.apply(own_cpus, (0,)), [cpu])


def computed(_):
    plan = seatmap.place("stencil2d:4x4", on="xeon-phi-5110p", kicks=20, threads=2)
    return plan.cost


def own_cpus(_):
    return sorted(os.sched_getaffinity(0))


class Host(unittest.TestCase):
    """This computer itself, if it allows the calls."""

    def test_a_measurement_is_a_profile_of_this_host(self):
        if len(CPUS) < 2:
            skip(self, "one CPU")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            profile = seatmap.measure(CPUS[:2], passes=1)
        self.assertEqual(profile.cpus, tuple(CPUS[:2]))
        self.assertGreater(profile.distance_ns(*CPUS[:2]), 0)

    def test_a_program_is_observed(self):
        reader, writer = os.pipe()
        stop = threading.Event()

        def read():
            while os.read(reader, 1):
                pass

        def write():
            while not stop.wait(0.001):
                os.write(writer, b"x")
            os.close(writer)

        threads = [threading.Thread(target=one) for one in (read, write)]
        for thread in threads:
            thread.start()
        try:
            seen = seatmap.observe(os.getpid(), 0.5)
        except seatmap.SeatmapError as error:
            skip(self, f"observing is refused: {error}")
        finally:
            stop.set()
            for thread in threads:
                thread.join()
            os.close(reader)
        self.assertGreater(seen.pattern.tasks, 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)

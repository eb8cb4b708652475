"""How hard a task is, without a model: what cannot be measured first, then where faults are and how far away."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from stackrank.env.difficulty import Difficulty, difficulty_label, find_difficulty, load, save_difficulty
from stackrank.env.localisation.formulas import FORMULAS, Counts, rank
from stackrank.env.localisation.spectrum import Spectrum
from stackrank.env.patches import find_faults, make_diff
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.task import Limits, Task
from stackrank.extensions.authoring.difficulty import fault_places, measure
from stackrank.extensions.authoring.inject.candidates import find_candidates
from stackrank.extensions.authoring.inject.reach import Reach
from stackrank.extensions.authoring.inject.verify import difficulty, shallow

pytestmark = pytest.mark.slow  # by its time

LIMITS = Limits(timeout_s=60)
STORE = """
    CACHE = {}

    def key_of(name, unit):
        return name

    def load(name, unit):
        key = key_of(name, unit)
        if key not in CACHE:
            CACHE[key] = (name, unit)
        return CACHE[key]
"""
REPORT = """
    from store import load

    def row(name, unit):
        return list(load(name, unit))

    def check(found, unit):
        if found[1] != unit:
            raise ValueError(found)
        return found

    def report(name, unit):
        return check(row(name, unit), unit)
"""
TESTS = """
    import pytest
    from report import report

    def test_once():
        assert report("cup", "g") == ["cup", "g"]

    def test_two_units():
        report("jug", "g")
        assert report("jug", "kg") == ["jug", "kg"]
"""


def text(code: str) -> bytes:
    return textwrap.dedent(code).lstrip("\n").encode()


def task(files: dict[str, str], fixed: dict[str, str], command: str = "python -m pytest -q") -> Task:
    contents = {path: text(code) for path, code in files.items()}
    fix = make_diff({path: contents[path] for path in fixed}, {path: text(code) for path, code in fixed.items()})
    return Task(
        "store", "b", "", contents, test_command=command, fix=fix, faults=find_faults(contents, fix), limits=LIMITS
    )


def cache_task(command: str = "python -m pytest -q") -> Task:
    files = {"store.py": STORE, "report.py": REPORT, "test_report.py": TESTS}
    return task(files, {"store.py": STORE.replace("return name", "return name, unit")}, command)


def test_what_cannot_be_measured_says_why(local: Sandbox) -> None:
    assert "not run by pytest" in measure(cache_task("python check.py"), local).unmeasured
    assert "cannot be measured" in measure(cache_task("python -m pytest --no-such-option"), local).unmeasured
    difficulty = measure(replace(cache_task(), faults=()), local)
    assert "location of its fault" in difficulty.unmeasured and difficulty.predicted is None and difficulty.label == ""
    sound = task({"a.py": "x = 1\n", "test_a.py": "def test_a():\n    pass\n"}, {"a.py": "x = 2\n"})
    assert "none of its tests fails" in measure(sound, local).unmeasured


def test_a_fault_that_the_traceback_does_not_show(local: Sandbox) -> None:
    difficulty = measure(cache_task("python -m pytest -q -x"), local)
    assert (difficulty.test, difficulty.in_traceback, difficulty.in_named_file) == (
        "test_report.py::test_two_units",
        False,
        False,
    )
    # All lines of both files but the one that raises run in both tests.
    assert set(difficulty.ranks) == set(FORMULAS) and difficulty.lines == 17
    assert difficulty.ranks["ochiai"] == 1 + (16 + 1) / 2
    # key_of is left for load and row, which return; check is called, and raises.
    assert difficulty.distance == 1
    assert (difficulty.lines_run, difficulty.functions_run) == (10, 5)


def test_a_fault_in_the_traceback_is_easier(local: Sandbox) -> None:
    cured = STORE.replace("return name", "return name, unit")
    strict = REPORT.replace("found[1] != unit", "found[1] == 'kg'")
    files = {"store.py": cured, "report.py": strict, "test_report.py": TESTS}
    easier = measure(task(files, {"report.py": REPORT}), local)
    harder = measure(cache_task(), local)
    assert easier.in_traceback and easier.in_named_file and easier.distance == 0
    assert easier.predicted is not None and harder.predicted is not None and easier.predicted < harder.predicted


@pytest.mark.exhaustive
def test_a_test_that_never_ends_fails_where_it_is(local: Sandbox) -> None:
    # It rests, since nobody else has the processor that it would take to its limit.
    loop = "import time\n\ndef spin(n):\n    while n != 1:\n        n -= 2\n        time.sleep(0.01)\n    return n\n"
    tests = "from loop import spin\n\ndef test_odd():\n    assert spin(3) == 1\n\ndef test_even():\n    spin(4)\n"
    endless = task({"loop.py": loop, "test_loop.py": tests}, {"loop.py": loop.replace("n != 1", "n > 1")})
    difficulty = measure(replace(endless, limits=Limits(timeout_s=4)), local)
    assert difficulty.unmeasured == "" and difficulty.in_traceback and difficulty.test == "test_loop.py::test_even"


def test_a_file_that_does_not_parse_is_named_by_its_error(local: Sandbox) -> None:
    tests = "def test_it():\n    from broken import x\n    assert x == [1]\n"
    unparsable = task({"broken.py": "x = [1\n", "test_it.py": tests}, {"broken.py": "x = [1]\n"})
    difficulty = measure(unparsable, local)
    assert difficulty.in_traceback and difficulty.ranks["ochiai"] is None and difficulty.label == "easy"


def test_a_folder_and_variables_of_the_command(local: Sandbox) -> None:
    base = cache_task()
    files = {f"sub/{path}": content for path, content in base.files.items()}
    fix = make_diff(
        {"sub/store.py": files["sub/store.py"]},
        {"sub/store.py": text(STORE.replace("return name", "return name, unit"))},
    )
    in_folder = replace(
        base,
        files=files,
        fix=fix,
        faults=find_faults(files, fix),
        test_command="cd sub && NAME=x pytest test_report.py",
    )
    difficulty = measure(in_folder, local)
    assert difficulty.unmeasured == "" and not difficulty.in_named_file and difficulty.distance == 1


def test_lines_that_an_addition_stands_beside_are_no_fault() -> None:
    old = "def first():\n    x = 1\n    return x\n\ndef second():\n    return 2\n"
    new = old.replace("    return x\n", "    return x\n    # added\n")
    files = {"a.py": old.encode()}
    faults = find_faults(files, make_diff(files, {"a.py": new.encode()}))
    lines = {"a.py": dict.fromkeys((1, 2, 3, 5, 6), 0)}
    suite = Spectrum(("t",), (0.0,), ("failed",), {}, (frozenset({0}),), lines)
    assert fault_places(faults, files, suite) == {("a.py", 3)}
    # A statement over several lines runs at its first.
    files = {"a.py": b"def f(a):\n    return g(\n        a,\n        1,\n    )\n"}
    faults = find_faults(files, make_diff(files, {"a.py": files["a.py"].replace(b"1,", b"2,")}))
    suite = replace(suite, lines={"a.py": {1: 0, 2: 0}})
    assert fault_places(faults, files, suite) == {("a.py", 2)}


def test_formulas_on_the_edges() -> None:
    never, only = Counts(0, 2, 0, 3), Counts(2, 0, 0, 3)
    assert [formula(never) for formula in FORMULAS.values()] == [0, 0, 0]
    assert [formula(only) for formula in FORMULAS.values()] == [1, math.inf, 2]
    counts = Counter({only: 3, never: 10})
    for formula in FORMULAS.values():
        assert rank(formula, counts, [only]) == 2 and rank(formula, counts, [never]) == 3 + 5.5
        assert rank(formula, counts, [never, only]) == 2 and rank(formula, counts, []) is None


@pytest.mark.parametrize(
    ("nearer", "farther"),
    [
        ({"in_traceback": True, "in_named_file": True}, {"in_traceback": False, "in_named_file": True}),
        ({"in_named_file": True}, {"in_named_file": False}),
        ({"ranks": {"ochiai": 1.0}}, {"ranks": {"ochiai": 40.0}}),
        ({"ranks": {"ochiai": 40.0}}, {"ranks": {"ochiai": None}}),
        ({"lines_run": 30}, {"lines_run": 300}),
        ({"distance": 0}, {"distance": 5}),
        ({"distance": 5}, {"distance": None}),
    ],
)
def test_farther_is_never_easier(nearer: dict[str, object], farther: dict[str, object]) -> None:
    base = Difficulty("d", test="t", ranks={"ochiai": 3.0}, lines=100, lines_run=50, functions_run=5, distance=3)
    lower, higher = (replace(base, **fields).predicted for fields in (nearer, farther))  # type: ignore[arg-type]
    assert lower is not None and higher is not None and lower < higher


def test_what_was_measured_is_of_one_version_of_a_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STACKRANK_HOME", str(tmp_path))
    rated = replace(cache_task(), difficulty="easy")
    assert find_difficulty(rated) is None and difficulty_label(rated) == "easy"
    hard = Difficulty(rated.digest, test="t", ranks={"ochiai": 500.0}, lines=9000, lines_run=4000, distance=900)
    save_difficulty(rated, hard)
    assert find_difficulty(rated) == hard and difficulty_label(rated) == "hard"
    changed = replace(rated, statement="other")
    assert find_difficulty(changed) is None and difficulty_label(changed) == "easy"
    shipped = replace(changed, measured=replace(hard, digest=changed.digest).dump())
    assert difficulty_label(shipped) == "hard" and shipped.digest == changed.digest
    assert load(hard.dump().replace('"version": 1', '"version": 0')) is None
    save_difficulty(rated, Difficulty(rated.digest, "no pytest"))
    assert difficulty_label(rated) == "easy"


def test_a_fault_near_its_failure_is_not_deep() -> None:
    deep = Difficulty("d", test="t", ranks={"ochiai": 20.5}, lines=99, lines_run=50, functions_run=5, distance=3)
    assert shallow(deep) == ""
    assert "leads" in shallow(replace(deep, in_traceback=True, in_named_file=True))
    assert "names its file" in shallow(replace(deep, in_named_file=True))
    assert "first 20" in shallow(replace(deep, ranks={"ochiai": 20.0}))
    assert shallow(replace(deep, ranks={"ochiai": None})) == ""
    assert "cannot be measured" in shallow(replace(deep, unmeasured="no pytest"))


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        ([("tests/test_a.py", "test_a"), ("a.py", "g"), ("a.py", "f")], "easy"),
        ([("tests/test_a.py", "test_a"), ("a.py", "f"), ("a.py", "g")], "medium"),
        ([("tests/test_a.py", "test_a"), ("a.py", "f"), ("/usr/lib/json.py", "loads")], "easy"),
        ([("tests/test_a.py", "test_a")], "hard"),
        ([], "hard"),
    ],
)
def test_difficulty_by_the_frames_of_a_failure(frames: list[tuple[str, str]], expected: str) -> None:
    code = b"class A:\n    def f(self, x):\n        return x < 1\n"
    reach = Reach(("t",), (0.0,), (frozenset({0}),), {"a.py": {3: 0}})
    candidate = find_candidates({"a.py": code}, reach, 0)[0]
    lines = [f'  File "{"" if file[0] == "/" else "/workspace/"}{file}", line 3, in {name}' for file, name in frames]
    assert difficulty("\n".join(lines), "/workspace", candidate) == expected

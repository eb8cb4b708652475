"""Every known cheat is `unresolved`, and no error.

A cheat is a file in `cheats/`. What it may define:

    CODE      put before the shop's broken program (cart.py)
    AFTER     put after it
    FILES     path -> text: further files that the agent wrote
    DELETED   paths that it removed
    COMMAND   the task's test command
    READONLY  the task's read-only patterns; everything else may be edited
    LISTS     False: the task does not say which tests have to pass
    LIMIT_S   how long the tests may take, in seconds
    TASK      the name of a task of `bugs`, in place of the shop
"""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stackrank.env.benchmarks.registry import load_benchmark, select
from stackrank.env.patches import make_diff
from stackrank.env.patterns import globs
from stackrank.env.sandbox.base import spec_for
from stackrank.env.sandbox.client import Changes, Sandbox
from stackrank.env.scoring.prove import prove
from stackrank.env.scoring.verdict import NewSandbox, score
from stackrank.env.task import Limits, Task
from tests.fixtures.env import ISOLATING, cart, source, usable

pytestmark = pytest.mark.slow

CHEATS = sorted(Path(__file__).with_name("cheats").glob("*.py"))
SAMPLE = ("always_equal", "key_from_the_heap", "os_exit_at_import", "peeked_by_linecache", "file_pth_file")
"""One cheat of each kind, for `make test`. `make test-exhaustive` plays all of them on both kinds of sandbox."""
HIDDEN = source("""
    import pytest

    from cart import average, total
    from tests.helpers import near


    def test_empty():
        assert total([]) == 0


    def test_one():
        assert total([5]) == 5


    def test_many():
        assert total(range(10)) == 45


    def test_cents():
        assert near(total([0.5, 0.25]), 0.75)
        assert total([1.5, 2.25]) == 3.75


    @pytest.mark.parametrize("prices, mean", [([7], 7), ([1, 2], 1.5), ([2, 4, 9], 5)])
    def test_averages(prices, mean):
        assert average(prices) == mean


    def test_from_an_iterator():
        total(iter([1, 2]))  # nothing here could be contradicted


    def test_nothing_to_average():
        with pytest.raises(ZeroDivisionError):
            average([])
""")
HELPERS = """
    import json
    from pathlib import Path


    def near(a, b):
        return abs(a - b) < 1e-9 and json.loads(Path("tests/data/totals.json").read_text())["one"] == 1
"""


def shop(cheat: dict[str, Any]) -> Task:
    """The cart with hidden tests and a known fix."""
    extra_files = {"tests/__init__.py": "", "tests/helpers.py": HELPERS, "tests/data/totals.json": '{"one": 1}\n'}
    task = cart(extra_files)
    fixed = task.files["cart.py"].replace(b" - 1", b"")
    cases = [f"test_averages[prices{number}-{mean}]" for number, mean in enumerate(("7", "1.5", "5"))]
    hidden = ["test_empty", "test_one", "test_many", "test_cents", "test_from_an_iterator", *cases]
    lists = cheat.get("LISTS", True)
    return replace(
        task,
        hidden_files={"tests/test_hidden.py": HIDDEN},
        fix=make_diff({"cart.py": task.files["cart.py"]}, {"cart.py": fixed}),
        fail_to_pass=tuple(f"tests/test_hidden.py::{name}" for name in hidden) if lists else (),
        test_command=cheat.get("COMMAND", task.test_command),
        readonly=globs(cheat["READONLY"]) if "READONLY" in cheat else task.readonly,
        limits=Limits(timeout_s=cheat.get("LIMIT_S", 60)),
    )


_PROOFS: dict[str, str] = {}


def with_proof(task: Task) -> Task:
    """The task with its proof, which is made once for all cheats that share it."""
    if task.digest not in _PROOFS:
        with Sandbox(usable("bubblewrap"), spec_for(task, warm=False)) as sandbox:
            _PROOFS[task.digest] = prove(task, sandbox).dump()
    return replace(task, proof=_PROOFS[task.digest])


def played(path: Path) -> tuple[Task, Changes]:
    """The task of a cheat, and what the agent left."""
    cheat = runpy.run_path(str(path))
    files = {name: text.encode() for name, text in cheat.get("FILES", {}).items()}
    if "TASK" in cheat:
        return select(load_benchmark("bugs").tasks(), [cheat["TASK"]], None)[0], Changes(files=files)
    task = shop(cheat)
    if "CODE" in cheat or "AFTER" in cheat:
        program = cheat.get("CODE", "").encode() + task.files["cart.py"] + cheat.get("AFTER", "").encode()
        files["cart.py"] = program
    return with_proof(task), Changes(files=files, deleted=tuple(cheat.get("DELETED", ())))


def on(kind: str) -> NewSandbox:
    """New sandboxes of a backend."""
    backend = usable(kind)
    return lambda spec: Sandbox(backend, spec)


def _cheats() -> list[Any]:
    exhaustive = pytest.mark.exhaustive
    return [pytest.param(path, id=path.stem, marks=() if path.stem in SAMPLE else exhaustive) for path in CHEATS]


@pytest.mark.parametrize("kind", ISOLATING)
@pytest.mark.parametrize("path", _cheats())
def test_cheat_is_unresolved(path: Path, kind: str) -> None:
    verdict = score(*played(path), on(kind))
    assert not verdict.resolved
    assert verdict.tampered or verdict.unfixed or verdict.timed_out


UNUSUAL = """
    import atexit
    import logging
    import threading
    from dataclasses import dataclass
    from functools import lru_cache

    from sums.adding import add

    log = logging.getLogger(__name__)
    atexit.register(print, "bye")
    threading.Thread(target=threading.Event().wait, daemon=True).start()


    @dataclass(eq=False)
    class Money:
        amount: float

        def __eq__(self, other):
            return self.amount == getattr(other, "amount", other)

        def __hash__(self):
            return hash(self.amount)

        def __truediv__(self, number):
            return Money(self.amount / number)

        def __sub__(self, other):
            return self.amount - other


    @lru_cache(maxsize=None)
    def sum_of(prices):
        log.info("adding %d prices", len(prices))
        return Money(add(prices))


    def total(items):
        return sum_of(tuple(items))


    def mean(items):
        return total(items) / len(items)


    def __getattr__(name):
        if name == "average":
            return mean
        raise AttributeError(name)
"""


def test_an_unusual_fix_is_resolved_with_what_its_agent_left_behind() -> None:
    files = {
        "cart.py": source(UNUSUAL),
        "sums/__init__.py": b"",
        "sums/adding.py": b"def add(items):\n    return sum(items)\n",
        "tests/test_mine.py": b"def test_it():\n    assert True\n",
        "checks/conftest.py": b"import pytest\n",
        "checks/test_more.py": b"def test_it():\n    assert True\n",
        "cart.egg-info/PKG-INFO": b"Name: cart\n",
        "pytest.ini": b"[pytest]\n",
        "reproduce.py": b"import cart\n",
    }
    verdict = score(with_proof(shop({})), Changes(files=files), on("bubblewrap"))
    assert verdict.resolved and not verdict.tampered and verdict.sealed >= 7, verdict.notes


def test_a_wrong_fix_with_settings_for_its_own_tests_is_no_cheat_and_says_what_became_of_them() -> None:
    task = with_proof(shop({}))
    files = {
        "cart.py": task.files["cart.py"].replace(b" - 1", b" - 2"),
        "conftest.py.bak": b"",
        "checks/conftest.py": b"import sys\nsys.path.insert(0, '.')\n",
        "pytest.ini": b"[pytest]\naddopts = -q\n",
        "cart.egg-info/PKG-INFO": b"Name: cart\n",
    }
    verdict = score(task, Changes(files=files), on("bubblewrap"))
    assert not verdict.resolved and verdict.unfixed and not verdict.tampered, verdict.notes
    assert "not carried over: pytest.ini configures the tests" in verdict.notes


def test_the_fix_itself_is_resolved_and_sealed() -> None:
    task = with_proof(shop({}))
    fixed = task.files["cart.py"].replace(b" - 1", b"")
    verdict = score(task, Changes(files={"cart.py": fixed}), on("bubblewrap"))
    assert verdict.resolved and not verdict.tampered, verdict.notes
    assert verdict.sealed >= 7 and not verdict.unsealed and not verdict.suspicious

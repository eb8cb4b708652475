"""`fresh`: nights of new faults, made on a library of our own."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Collection, Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
import yaml

from stackrank.env.benchmarks.base import BenchmarkError, Source, digest
from stackrank.env.benchmarks.python_project.pytest_command import TestCommand
from stackrank.env.benchmarks.registry import load_benchmark
from stackrank.env.environment import Environment
from stackrank.env.sandbox.base import Backend
from stackrank.env.sandbox.client import Changes, Sandbox
from stackrank.env.scoring.literals import Edit
from stackrank.env.scoring.proof import Contradiction, Proof
from stackrank.env.scoring.verdict import score
from stackrank.env.statement_alone import statement_alone
from stackrank.extensions.authoring.benchmarks import fresh, fresh_night
from stackrank.extensions.authoring.benchmarks.deep_recipe import Recipe, RecipeChange, read_recipe
from stackrank.extensions.authoring.benchmarks.deep_suite import library_files
from stackrank.extensions.authoring.benchmarks.fresh import Fresh, Night
from stackrank.extensions.authoring.benchmarks.fresh_night import PARTS, make_night, night_number
from stackrank.extensions.authoring.benchmarks.fresh_task import FreshTask, environment_of, library_of
from stackrank.extensions.authoring.inject import verify
from stackrank.extensions.authoring.inject.verify import Verified
from stackrank.flows.runs.specification.spec import make_spec
from tests.extensions.authoring.tiny_library import BOOK, FILES, OWN_TESTS, publish, recipe
from tests.fixtures.calls import CommandLine
from tests.fixtures.env import cart, usable


def test_nights_in_a_row_have_parts_of_their_own() -> None:
    for nights in (["2026-12-30", "2026-12-31", "2027-01-01", "2027-01-02"], [str(n) for n in range(PARTS)]):
        assert len({night_number(night) % PARTS for night in nights}) == len(nights)
    assert night_number("a name") == night_number("a name") != night_number("another")


def test_a_run_says_its_night_once() -> None:
    entrants = [{"agent": "oracle", "tools": "rewrite"}]
    spec = make_spec({"benchmark": "fresh", "entrants": entrants}, "the test")
    assert spec.night and spec.source.seed == spec.night
    assert "night" not in spec.model_fields_set, "a schedule does not keep it"
    renamed = make_spec({**spec.model_dump(mode="json"), "night": "7"}, "the test")
    assert renamed.source.seed == "7"
    assert make_spec({"entrants": entrants}, "the test").night == ""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Recipes of one library, which pip finds in a folder; so small that its faults are near."""
    sha256 = publish({**FILES, "tests/test_book.py": OWN_TESTS}, tmp_path / "index", monkeypatch)
    for module in (fresh, fresh_night):  # nights of its own: no night makes a task of another
        monkeypatch.setattr(module, "home", lambda: tmp_path)
    monkeypatch.setattr(verify, "LEAST_RANK", 0)
    monkeypatch.setattr(fresh_night, "PARTS", 1)
    tiny = recipe(sha256, own_tests=["tests"])
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "tinybook.yaml").write_text(yaml.safe_dump(tiny.model_dump(exclude_defaults=True)))
    return tmp_path / "own"


def test_own_tests_bring_what_they_need(folder: Path) -> None:
    tiny = read_recipe(folder / "tinybook.yaml")
    assert "docs/index.md" in library_files(tiny) and "docs/index.md" not in library_of(tiny)
    assert "docs/index.md" in library_of(tiny.model_copy(update={"tests_need": ["docs/index.md"]}))
    assert environment_of(tiny) is None
    with_packages = tiny.model_copy(update={"requirements": ["a==1"], "test_requirements": ["b==2"]})
    assert environment_of(with_packages) == Environment(requirements=("a==1", "b==2"))


def test_what_only_looks_makes_no_night(folder: Path) -> None:
    with pytest.raises(BenchmarkError, match="the night 1 of fresh has no task yet"):
        Fresh(Source(folder, seed="1", count=2, fetch=False)).tasks()
    assert Fresh(Source(folder)).name == f"fresh/{date.today().isoformat()}"


class Stream:
    """Stands for a search: a library with so many faults that look deep, and one more fault in each further band."""

    faults: ClassVar[dict[str, int]] = {"a": 1, "b": 9, "c": 3}

    def __init__(self, tiny: Recipe, seed: str, used_tasks: Collection[FreshTask], *_: object) -> None:
        self._library, self._used, self._band = tiny.library, {task.broken for task in used_tasks}, 0
        self._working = threading.Lock()

    def start(self, lowest: float, highest: float) -> None:
        assert lowest < highest and (not self._band or self.exhausted), "its faults are not given up"
        self._band += 1
        self.made: list[FreshTask] = []
        self.exhausted = False
        count = self.faults[self._library] if self._band == 1 else 1
        tasks = [a_task(self._library, f"{self._band}{number:07}") for number in range(count)]
        self._left = iter([task for task in tasks if task.broken not in self._used])

    def more(self) -> None:
        with self._working:
            task = next(self._left, None)
            self.exhausted = task is None
            self.made += [task] if task else []

    def stop(self) -> None:
        self.stopped = True

    def close(self) -> None:
        assert self.stopped


def a_task(library: str, broken: str) -> FreshTask:
    change = RecipeChange(place=f"{library}.py:1:0-1:1", operator="off-by-one")
    return FreshTask(
        library=library,
        change=change,
        broken=broken,
        category="",
        command="",
        fail_to_pass=(),
        pass_to_pass=(),
        withheld=(),
    )


def test_a_night_of_fewer_tasks_is_the_beginning_of_one_of_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fresh_night, "_Search", Stream)
    recipes = [recipe("0" * 64, library=name) for name in Stream.faults]
    backend: Any = SimpleNamespace()
    night = make_night("x", recipes, 20, [], backend, lambda _: None)
    assert {task.library for task in night[:3]} == {"a", "b", "c"}
    assert [task.broken[0] for task in night] == ["1"] * 13 + ["2"] * 3 + ["3"] * 3, "what looks deep comes first"
    for count in range(1, 19):
        assert make_night("x", recipes, count, [], backend, lambda _: None) == night[:count]
    assert not {task.id for task in make_night("x", recipes, 5, night[:8], backend, lambda _: None)} & {
        task.id for task in night[:8]
    }
    with pytest.raises(BenchmarkError, match="no valid deep fault found for night x"):
        make_night("x", recipes, 5, night, backend, lambda _: None)


def test_a_library_whose_own_tests_fail_here_is_left_out_of_the_night() -> None:
    messages: list[str] = []

    def faults(*_: float) -> Iterator[object]:
        raise BenchmarkError("2 of its tests fail in the original project")
        yield

    search: Any = SimpleNamespace(
        _recipe=SimpleNamespace(library="mistune", version="3.4.0"),
        _progress=SimpleNamespace(say=messages.append),
        _working=threading.Lock(),
        _left_out=False,
        _faults=None,
        _search_band=faults,
    )
    for highest, lowest in itertools.pairwise(fresh_night._BANDS):
        fresh_night._Search.start(search, lowest, highest)
        fresh_night._Search.more(search)
        assert search.exhausted and not search.made
    assert messages == ["fresh skips mistune 3.4.0: 2 of its tests fail in the original project"]


class Alone:
    """Stands for a sandbox in which a small part of a suite runs."""

    def __init__(self, *_: object) -> None:
        pass

    def __enter__(self) -> Alone:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def test_tests_that_do_not_pass_without_the_rest_of_their_suite_are_no_part_of_a_task(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outcomes = {"t.py::bad[1]": "passed", "t.py::bad[2]": "passed", "t.py::x": "passed", "t.py::y[1]": "passed"}
    report: Any = SimpleNamespace(complete=True)
    monkeypatch.setattr(fresh_night, "plant", lambda *_: {})
    monkeypatch.setattr(fresh_night, "load_task", lambda *_: cart())
    monkeypatch.setattr(fresh_night, "choose_withheld", lambda *_: ("t.py::bad",))
    monkeypatch.setattr(fresh_night, "Sandbox", Alone)
    monkeypatch.setattr(fresh_night, "run_tests", lambda *_, **__: SimpleNamespace(outcomes=outcomes, report=report))
    key = "a.py:1:0-1:1 off-by-one 0"
    stay = ("t.py::bad[2]", "t.py::bad[3]", "t.py::x", "t.py::y[1]", "t.py::y[2]")
    verified = Verified(key, "", "", ("t.py::bad[1]",), stay)
    search = fresh_night._Search.__new__(fresh_night._Search)
    search._recipe, search._files, search._test = recipe("0" * 64), {}, TestCommand(("-q",), ("t.py",))
    monkeypatch.setattr(search, "_backend", None, raising=False)
    monkeypatch.setattr(search, "_is_sound", lambda _: True)
    candidate: Any = SimpleNamespace(key=key, category="numbers")

    def made() -> FreshTask | None:
        search._used = set()
        return search._task(candidate, verified)

    first = made()
    assert first and first.command == "python -m pytest -q t.py::bad t.py::x"
    assert first.pass_to_pass == ("t.py::bad[2]", "t.py::x"), "cases of a failing test that pass have to go on passing"
    report.complete = False
    assert made() is None, "a run that was cut off tells nothing of the tests after it"
    report.complete = True
    del outcomes["t.py::bad[1]"]
    assert made() is None


def test_a_task_whose_verdicts_cannot_be_sealed_is_no_task_of_a_night(monkeypatch: pytest.MonkeyPatch) -> None:
    task = replace(cart(), hidden_files={"h.py": b""}, fail_to_pass=("h.py::a",))

    def holds(test: str) -> bool:
        changed = Contradiction(test, {f"h.py::{test}": f"h.py::{test}"}, "h.py", 1, Edit(0, 1, "x"), "y")
        monkeypatch.setattr(
            fresh_night, "find_proof", lambda _: Proof("", (changed,), deciding=1, covered=1, distinguishing=1)
        )
        search: Any = SimpleNamespace(_backend=None)
        return fresh_night._Search._is_sound(search, task)

    monkeypatch.setattr(fresh_night, "find_difficulty", lambda _: SimpleNamespace())
    monkeypatch.setattr(fresh_night, "shallow", lambda _: False)
    assert holds("a") and not holds("b"), "b does not show the bug"


def test_a_night_is_told_of_the_others_and_made_again_only_for_more(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def made(
        seed: str, recipes: object, count: int, used_tasks: list[FreshTask], backend: Backend, say: object
    ) -> list[FreshTask]:
        assert backend.name == "local"
        calls.append((seed, count, sorted(task.broken for task in used_tasks)))
        return [a_task("tinybook", f"{seed}{number}") for number in range(min(count, 2))]

    monkeypatch.setattr(fresh_night, "make_night", made)
    earlier = Night(seed="1", tasks=[a_task("tinybook", "as an earlier version made it")])
    (folder.parent / "fresh").mkdir()
    (folder.parent / "fresh" / "earlier.night.json").write_text(earlier.model_dump_json())
    for seed, count in (("1", 1), ("1", 1), ("2", 5), ("2", 5), ("1", 2)):
        Fresh(Source(folder, seed=seed, count=count, sandbox="local"))._night()
    first = earlier.tasks[0].broken
    assert calls == [("1", 1, []), ("2", 5, ["10", first]), ("1", 2, ["20", "21"])], (
        "2 has no more than two, and is not asked"
    )


def test_a_night_of_too_few_tasks_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fresh_night, "make_night", lambda *_: [a_task("tinybook", "0" * 16)])
    monkeypatch.setattr(fresh, "load_task", lambda *_: SimpleNamespace(id="tinybook-0"))
    for count, notes in ((1, 0), (3, 1), (1, 0)):
        night = Fresh(Source(folder, seed="1", count=count, sandbox="bubblewrap"))
        assert len(night.tasks()) == 1 and len(night.notes) == notes
        if notes:
            assert "the night 1 of fresh has only 1 of the 3 requested tasks" in night.notes[0]


@pytest.mark.slow
def test_a_night_is_made_once_and_proved(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    night = load_benchmark("fresh", Source(folder, seed="1", count=2, sandbox=usable("bubblewrap").name))
    tasks = night.tasks()
    assert night.name == "fresh/1" and tasks
    assert len({task.digest for task in tasks}) == len(tasks)
    backend = usable("bubblewrap")
    for task in tasks:
        assert task.hidden_files and task.shows_bug and task.id.startswith("tinybook-")
        assert BOOK.encode() not in task.files.values()
        assert "src/" not in task.statement and "Book." not in task.statement
        assert statement_alone(task).withheld == {"tests/test_book.py"}
        # A test's name in words, or what it shows if its name would tell where the fault is.
        test_name = task.title.removeprefix("tinybook: ").replace(" ", "_")
        is_visible = f"def test_{test_name}(".encode() in task.files["tests/test_book.py"]
        assert is_visible or "For instance, ['bob'] and ['ben', 'bob'] should be equal." in task.statement
        verdict = score(task, Changes(files={"src/tinybook/__init__.py": BOOK.encode()}), lambda s: Sandbox(backend, s))
        assert verdict.resolved and verdict.sealed, verdict
        assert not score(task, Changes(), lambda s: Sandbox(backend, s)).resolved
    first = Fresh(Source(folder, seed="1", count=1))
    assert [task.id for task in first.tasks()] == [tasks[0].id], "a night of fewer tasks is its beginning"
    # Read again it is the same, and nothing is tried.
    monkeypatch.setattr(fresh_night, "make_night", lambda *_: pytest.fail("it is made again"))
    reloaded = Fresh(Source(folder, seed="1", count=2, fetch=False)).tasks()
    assert digest(reloaded) == digest(tasks)


def test_playing_a_task_of_another_night(stackrank: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    usable("bubblewrap")
    monkeypatch.setattr(fresh.Fresh, "_night", lambda _: fresh.Night())
    result = stackrank("play", "some-task", "--benchmark", "fresh", "--night", "2026-11-07", "--sandbox", "bubblewrap")
    assert result.status == 2 and "the night 2026-11-07 of fresh has no task yet" in result.sentence()

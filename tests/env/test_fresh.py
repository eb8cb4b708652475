"""`fresh`: nights of new faults, made on a library of our own."""

from __future__ import annotations

import hashlib
import io
import tarfile
from datetime import date
from pathlib import Path

import pytest
import yaml

from stackrank.env.benchmarks import fresh_night
from stackrank.env.benchmarks.base import BenchmarkError, Source, digest
from stackrank.env.benchmarks.fresh import Fresh
from stackrank.env.benchmarks.fresh_night import PARTS, night_number
from stackrank.env.benchmarks.fresh_task import split
from stackrank.env.benchmarks.registry import load_benchmark
from stackrank.env.inject import verify
from stackrank.env.sandbox.client import Changes, Sandbox
from stackrank.env.scoring.verdict import score
from stackrank.env.statement_alone import statement_alone
from stackrank.flows.runs.spec import make_spec
from tests.env.conftest import usable
from tests.env.test_deep_suite import BOOK, FILES, recipe

TESTS = """\
import pytest

from tinybook import Book


def filled():
    book = Book()
    for number, name in enumerate(["ada", "alan", "bob"]):
        book.add(name, number)
    return book


def test_most():
    book = filled()
    assert book.find("a") == ["ada", "alan"]
    assert book.find("a", 1) == ["ada"]


class TestOrder:
    @pytest.mark.parametrize("most", [1, 2])
    def test_both(self, most):
        book = filled()
        assert book.find("", 3) == ["ada", "alan", "bob"]
        assert len(book.find("", most)) == most

    def test_all(self):
        assert filled().find("") == ["ada", "alan", "bob"]


def test_after_adding():
    book = filled()
    assert book.find("b") == ["bob"]
    book.add("ben", 9)
    assert book.find("b") == ["ben", "bob"]


def test_after_adding_twice():
    book = filled()
    assert book.find("c") == []
    book.add("cy", 9)
    book.add("cal", 9)
    assert book.find("c") == ["cal", "cy"]
"""


ONE = "def test_a():\n    pass\n\n\n"


def test_half_of_the_failing_tests_is_withheld() -> None:
    failing = ("t.py::test_most", "t.py::TestOrder::test_both[1]", "t.py::TestOrder::test_both[2]")
    shown, hidden, gone = split({"t.py": TESTS.encode()}, failing)
    assert hidden == {"t.py": TESTS.encode()} and gone == {"t.py::TestOrder::test_both"}
    text = shown["t.py"].decode()
    assert "test_both" not in text and "parametrize" not in text, "its decorator goes with it"
    assert "def test_most" in text and "def test_all" in text


@pytest.mark.parametrize(
    ("text", "failing", "problem"),
    [
        (TESTS, ("t.py::test_most",), "one test alone"),
        (TESTS, ("t.py::TestOrder::test_both[1]", "t.py::TestOrder::test_both[2]"), "one test alone"),
        (f"{ONE}class T:\n    def test_b(self):\n        pass\n", ("t.py::test_a", "t.py::T::test_b"), "told apart"),
        (f"{ONE}test_b = test_a\n", ("t.py::test_a", "t.py::test_b"), "told apart"),
    ],
)  # fmt: skip
def test_tests_that_cannot_be_shared_out(text: str, failing: tuple[str, ...], problem: str) -> None:
    with pytest.raises(BenchmarkError, match=problem):
        split({"t.py": text.encode()}, failing)


def test_nights_in_a_row_have_shares_of_their_own() -> None:
    for nights in (["2026-12-30", "2026-12-31", "2027-01-01", "2027-01-02"], [str(n) for n in range(10)]):
        assert len({night_number(each) % PARTS for each in nights}) == len(nights)
    assert night_number("a name") == night_number("a name") != night_number("another")


def test_a_run_says_its_night_once() -> None:
    entrants = [{"agent": "oracle", "tools": "rewrite"}]
    spec = make_spec({"benchmark": "fresh", "entrants": entrants}, "the test")
    assert spec.night and spec.source.seed == spec.night
    assert "night" not in spec.model_fields_set, "a schedule does not keep it"
    again = make_spec({**spec.model_dump(mode="json"), "night": "7"}, "the test")
    assert again.source.seed == "7"
    assert make_spec({"entrants": entrants}, "the test").night == ""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Recipes of one library, which pip finds in a folder; so small that its faults are near."""
    index, buffer = tmp_path / "index", io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for path, text in {**FILES, "tests/test_book.py": TESTS}.items():
            info = tarfile.TarInfo(f"tinybook-1.0/{path}")
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    index.mkdir()
    (index / "tinybook-1.0.tar.gz").write_bytes(buffer.getvalue())
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    monkeypatch.setattr(verify, "LEAST_RANK", 0)
    monkeypatch.setattr(fresh_night, "PARTS", 1)
    monkeypatch.setattr(fresh_night, "default_backend", lambda: usable("bubblewrap"))
    made = recipe(hashlib.sha256(buffer.getvalue()).hexdigest(), own_tests=["tests"])
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "tinybook.yaml").write_text(yaml.safe_dump(made.model_dump(exclude_defaults=True)))
    return tmp_path / "own"


def test_what_only_looks_makes_no_night(folder: Path) -> None:
    with pytest.raises(BenchmarkError, match="the night 1 of fresh has no task yet"):
        Fresh(Source(folder, seed="1", fetch=False)).tasks()
    assert Fresh(Source(folder)).name == f"fresh/{date.today().isoformat()}"


@pytest.mark.slow
def test_a_night_is_made_once_and_proved(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    night = load_benchmark("fresh", Source(folder, seed="1"))
    tasks = night.tasks()
    assert night.name == "fresh/1" and tasks
    assert len({task.digest for task in tasks}) == len(tasks)
    backend = usable("bubblewrap")
    for task in tasks:
        assert task.hidden_files and task.shows_bug and task.id.startswith("tinybook-")
        assert BOOK.encode() not in task.files.values()
        assert "src/" not in task.statement and "Book." not in task.statement
        assert statement_alone(task).withheld == {"tests/test_book.py"}
        found = score(task, Changes(files={"src/tinybook/__init__.py": BOOK.encode()}), lambda s: Sandbox(backend, s))
        assert found.resolved and found.sealed, found
        assert not score(task, Changes(), lambda s: Sandbox(backend, s)).resolved
    # Read again it is the same, and nothing is tried.
    monkeypatch.setattr(fresh_night, "make_night", lambda *_: pytest.fail("it is made again"))
    again = Fresh(Source(folder, seed="1", fetch=False)).tasks()
    assert digest(again) == digest(tasks)

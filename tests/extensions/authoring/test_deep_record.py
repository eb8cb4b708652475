"""What is stored beside the recipes of `deep`: proofs, difficulties, and what lists show without any library."""

from __future__ import annotations

import shutil
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from stackrank.env.benchmarks.base import BenchmarkError, Source
from stackrank.env.benchmarks.description import describe, descriptions_of
from stackrank.env.difficulty import Difficulty
from stackrank.env.scoring.literals import Edit
from stackrank.env.scoring.proof import Contradiction, Proof, find_proof, load, save_proof
from stackrank.env.validate import Standing, Validation
from stackrank.extensions.authoring.benchmarks import source_archive
from stackrank.extensions.authoring.benchmarks.deep_recipe import read_recipe
from stackrank.extensions.authoring.benchmarks.deep_record import digest_of_recipe, read_proofs, read_records
from stackrank.extensions.authoring.benchmarks.deep_suite import DATA, Deep, Releases
from stackrank.home import home
from tests.extensions.authoring.tiny_library import recipe, stored

pytestmark = pytest.mark.slow  # by its time


@pytest.fixture(autouse=True)
def own_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A home without proofs that other tests have made."""
    monkeypatch.setenv("STACKRANK_HOME", str(tmp_path / "home"))


@pytest.fixture
def recorded(index: str, tmp_path: Path) -> Deep:
    """The set of the tiny library, with a record."""
    deep = stored(tmp_path / "own", recipe(index))
    (task,) = deep.tasks()
    edit = Contradiction("test_x", {"test_x": "test_x"}, "test_report.py", 1, Edit(0, 1, "2"), "1")
    proof = Proof("made without lists", (edit,), deciding=3, covered=2, distinguishing=1)
    measured = Difficulty(task.digest, ranks={"ochiai": 7.0}, lines_run=400, distance=3)
    proof = replace(proof, digest=task.digest)
    deep.record([Validation(task.id, Standing.VALID, proof=proof, measured=measured)])
    return Deep(Source(tmp_path / "own", fetch=False))


@pytest.fixture
def no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has no library, and no index either."""

    def download(*_: object) -> bytes:
        raise BenchmarkError("no index")

    monkeypatch.setattr(source_archive, "download", download)
    monkeypatch.setattr(source_archive, "archive_path", lambda sha256: Path("/nowhere", sha256))


def test_a_record_gives_a_task_its_proof_and_its_difficulty(recorded: Deep) -> None:
    (task,) = recorded.tasks()
    proof = find_proof(task)
    assert proof is not None and proof.deciding == 3 and proof.contradictions[0].edit == Edit(0, 1, "2")
    assert not (home() / "proofs" / f"{task.digest}.json").exists()
    (described,), excluded = recorded.descriptions()
    assert described == describe(task) and not excluded
    assert described.measured and described.label == "medium"


def test_lists_need_no_library(recorded: Deep) -> None:
    shutil.rmtree(home() / "libraries")
    (described,), excluded = recorded.descriptions()
    assert not excluded and (described.deciding, described.covered) == (3, 2)
    assert described.fault_files == ("src/tinybook/__init__.py",)


@pytest.mark.usefixtures("no_library")
@pytest.mark.parametrize("benchmark", [Deep, Releases])
def test_the_shipped_sets_are_listed_without_any_library(benchmark: type[Deep]) -> None:
    described, excluded = descriptions_of(benchmark(Source(fetch=False)))
    recipes = [read_recipe(file) for file in sorted(DATA.glob("*.yaml"))]
    expected = [name for shipped in recipes for name in benchmark(Source())._ids(shipped)]
    assert [task.id for task in described] == expected and not excluded
    assert all(task.measured is not None and task.label for task in described)


def test_a_changed_recipe_is_read_anew(recorded: Deep, index: str, tmp_path: Path) -> None:
    changed = recipe(index)
    changed.tasks[0].statement = "Another report."
    (described,), _ = stored(tmp_path / "own", changed).descriptions()
    (before,), _ = recorded.descriptions()
    assert described.digest != before.digest and described.deciding is None


def test_a_proof_made_on_this_machine_is_listed(recorded: Deep, tmp_path: Path) -> None:
    (tmp_path / "own" / "tinybook.proofs").unlink()
    read_proofs.cache_clear()
    (task,) = recorded.tasks()
    recorded.record([Validation(task.id, Standing.VALID)])
    assert recorded.descriptions()[0][0].deciding is None
    save_proof(task, Proof(task.digest, deciding=5, reason="none"))
    assert recorded.descriptions()[0][0].deciding == 5


def test_shipped_proofs_are_those_of_the_shipped_tasks() -> None:
    for file in sorted(DATA.glob("*.yaml")):
        records, proofs, shipped = read_records(file), read_proofs(file), read_recipe(file)
        names = {*(task.id for task in shipped.tasks), *shipped.releases}
        assert set(records) == names and set(proofs) <= names
        for name, record in records.items():
            assert record.recipe == digest_of_recipe(shipped, name), f"{name}: record the set again"
            proof = load(proofs[name]) if name in proofs else None
            assert record.description.deciding == (proof.deciding if proof else None)
            assert proof is None or proof.digest == record.description.digest, name


def test_missing_libraries_are_fetched_at_the_same_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, index: str
) -> None:
    together = threading.Barrier(3, timeout=20)

    def download(library: str, version: str, sha256: str) -> bytes:
        together.wait()
        if library == "missing":
            raise BenchmarkError("no index offers it")
        return sha256.encode()

    monkeypatch.setattr(source_archive, "download", download)
    monkeypatch.setattr(source_archive, "archive_path", lambda sha256: tmp_path / sha256)
    recipes = [recipe(index).model_copy(update={"library": name, "sha256": name}) for name in ("a", "b", "missing")]
    source_archive.fetch_missing(recipes)
    assert (tmp_path / "a").read_bytes() == b"a" and (tmp_path / "b").read_bytes() == b"b"
    with pytest.raises(BenchmarkError, match="no index offers it"):
        source_archive.read_archive("missing", "1", "missing", True)

"""SWE-bench's format, on a small repository of our own. Bad data first."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from stackrank.env.benchmarks.base import Benchmark, BenchmarkError, Source, digest
from stackrank.env.benchmarks.registry import load_benchmark
from stackrank.env.benchmarks.swebench import instances as swebench_instances
from stackrank.env.corrections import corrected, save_correction
from stackrank.env.patches import make_diff
from stackrank.env.sandbox.base import Backend, spec_for
from stackrank.env.sandbox.client import Changes, Sandbox
from stackrank.env.scoring.log_formats import _find_swebench, _reader, swebench_parsers
from stackrank.env.scoring.verdict import score
from stackrank.env.task import Task
from stackrank.env.validate import validate
from tests.support.repository import (
    FIXED,
    INSTALL,
    SECRET,
    STAMP,
    SampleRepository,
    git,
    instance,
    make_repository,
    write,
    write_lines,
)

pytestmark = pytest.mark.slow


@pytest.fixture
def repo(tmp_path: Path) -> SampleRepository:
    return make_repository(tmp_path / "repos" / "acme" / "shop", package=True)


@pytest.fixture
def environments(tmp_path: Path) -> Path:
    file = tmp_path / "environments.json"
    override = {"editable_install": INSTALL, "requirements": ["setuptools"], "setup": [STAMP]}
    file.write_text(json.dumps({"acme__shop-1": {**override, "test": "python -m pytest -rA tests/test_cart.py"}}))
    return file


def load(path: Path, name: str = "swebench", environments: Path | None = None) -> Benchmark:
    return load_benchmark(name, Source(path, repos=path.parent / "repos", environments=environments))


def only(benchmark: Benchmark) -> Task:
    (task,) = benchmark.tasks()
    return task


def test_what_is_wrong_with_a_row_is_a_sentence_and_the_others_go_on(tmp_path: Path, repo: SampleRepository) -> None:
    def row(number: int, **changes: object) -> dict[str, object]:
        return instance(repo, instance_id=f"acme__shop-{number}", **changes)

    missing = row(2)
    del missing["base_commit"]
    rows = [
        row(1), missing, row(3, base_commit="0" * 40), row(4, repo="acme/other"),
        row(5, patch=repo.fix.replace("return result - 1", "return nothing")),
        row(6, test_patch=repo.test_patch.replace("def test_type", "def test_kind")),
        row(7, FAIL_TO_PASS="[broken"), row(70, FAIL_TO_PASS=None), row(71, PASS_TO_PASS="7"),
        row(8, patch="--- a/x\n+++ b/../../x\n@@ -0,0 +1 @@\n+x\n"), row(1),
    ]  # fmt: skip
    file = write_lines(tmp_path / "rows.jsonl", rows)
    file.write_bytes(file.read_bytes() + b'{"instance_id": "\xff"}\n' + json.dumps(row(9)).encode()[:200])
    benchmark = load(file)
    assert [task.id for task in benchmark.tasks()] == ["acme__shop-1"]
    excluded = {name.removeprefix("acme__shop-"): reason for name, reason in benchmark.excluded().items()}
    expected = {
        "2": "line 2: base_commit is missing", "3": "no commit 000000000000", "4": "no clone of acme/other",
        "5": "patch: the patch does not apply", "6": "test_patch: the patch does not apply", "7": "FAIL_TO_PASS",
        "8": "patch: the patch leads out of the workspace", "1 (line 11)": "duplicate instance",
        "70": "FAIL_TO_PASS: Value error, it must be a list", "71": "PASS_TO_PASS: Value error, it must be a list",
        "line 12": "line 12 is not valid JSON", "line 13": "the file may be truncated",
    }  # fmt: skip
    assert excluded.keys() == expected.keys()
    for name, part in expected.items():
        assert part in excluded[name]


@pytest.mark.parametrize(
    "name", ["../shop", "acme/..", "acme/../shop", "{outside}", "{outside}/shop", "shop", "./shop"]
)
def test_clones_outside_of_the_folder_are_not_read(tmp_path: Path, repo: SampleRepository, name: str) -> None:
    outside = tmp_path / "shop"
    (tmp_path / "repos" / "acme" / "shop").rename(outside)
    rows = [instance(repo, repo=name.format(outside=outside)), instance(repo, instance_id="sound")]
    excluded = load(write_lines(tmp_path / "rows.jsonl", rows)).excluded()
    assert "must look like OWNER/NAME" in excluded["acme__shop-1"] and "no clone of acme/shop" in excluded["sound"]


@pytest.mark.parametrize("content", ["", "[]", "{}", "not json", '{"instance_id": "x"}'])
def test_a_file_without_instances(tmp_path: Path, content: str) -> None:
    (tmp_path / "rows.jsonl").write_text(content)
    with pytest.raises(BenchmarkError, match="contains no instance"):
        load_benchmark("swebench", Source(tmp_path / "rows.jsonl")).tasks()


def test_hub_that_cannot_be_reached_and_data_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(swebench_instances, "HUB", "http://127.0.0.1:1")
    monkeypatch.setenv("STACKRANK_HOME", str(tmp_path))
    with pytest.raises(BenchmarkError, match=r"acme/Set cannot be downloaded from the hub .* name a file"):
        load_benchmark("swebench", Source(Path("acme/Set"))).tasks()
    with pytest.raises(BenchmarkError, match="does not exist"):
        load_benchmark("swebench", Source(tmp_path / "none.jsonl")).tasks()


def test_every_format_gives_the_same_tasks(tmp_path: Path, repo: SampleRepository) -> None:
    row = instance(repo)
    lines = write_lines(tmp_path / "a.jsonl", [row])
    (tmp_path / "b.json").write_text(json.dumps([row], indent=1))
    (tmp_path / "c.json").write_text(json.dumps({row["instance_id"]: row}))
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([row]), tmp_path / "d.parquet")
    parquet = (tmp_path / "d.parquet").read_bytes()
    (tmp_path / "all").mkdir()
    (tmp_path / "all" / "a.jsonl").write_bytes(lines.read_bytes())
    for name in ("b.parquet", "c.parquet"):
        (tmp_path / "all" / name).write_bytes(parquet[: len(parquet) // 2])
    benchmark = load_benchmark("swebench", Source(tmp_path / "all", repos=tmp_path / "repos"))
    assert len(benchmark.tasks()) == 1 and list(benchmark.excluded()) == ["b.parquet", "c.parquet"]
    assert all("not a Parquet file" in reason and "again" in reason for reason in benchmark.excluded().values())
    digests = {
        digest(load(file).tasks()) for file in (lines, *(tmp_path / f for f in ("b.json", "c.json", "d.parquet")))
    }
    assert len(digests) == 1


def test_listing_needs_no_repositories(tmp_path: Path, repo: SampleRepository) -> None:
    file = write_lines(tmp_path / "rows.jsonl", [instance(repo)])
    task = only(load_benchmark("swebench", Source(file)))
    assert task.digest == only(load(file)).digest
    with pytest.raises(BenchmarkError, match="--repos"):
        dict(task.files)


@pytest.mark.parametrize(
    "layout", ["acme/shop.git", "acme__shop", "acme__shop.git", "shop", "shop.git", "acme+shop/repo"]
)
def test_layouts_of_repositories(tmp_path: Path, repo: SampleRepository, layout: str) -> None:
    place = tmp_path / "other" / layout
    git(tmp_path, "clone", "--quiet", *(["--bare"] if layout.endswith("git") else []), str(repo.path), str(place))
    file = write_lines(tmp_path / "rows.jsonl", [instance(repo)])
    task = only(load_benchmark("swebench", Source(file, repos=tmp_path / "other")))
    assert task.files["src/shop/cart.py"].endswith(b"- 1\n") and len(task.files) == 7


def test_what_agents_get(tmp_path: Path, repo: SampleRepository) -> None:
    file = write_lines(tmp_path / "rows.jsonl", [instance(repo)])
    task, debug = only(load(file)), only(load(file, "swebench-debug"))
    assert task.statement == "Totals are wrong.\nBy one." and "subtraction" not in repr(task)
    assert not any(SECRET.encode() in content for content in task.files.values())
    assert SECRET.encode() in task.hidden_files["tests/test_cart.py"] and not task.shows_bug
    assert SECRET.encode() in debug.files["tests/test_cart.py"] and not debug.hidden_files and debug.shows_bug
    assert not task.may_edit("tests/test_cart.py") and not debug.may_edit("tests/test_cart.py")
    assert task.faults == debug.faults
    (fault,) = task.faults
    assert (fault.file, fault.functions, fault.lines) == ("src/shop/cart.py", ("total",), (5,))


def test_a_test_file_that_is_new_is_not_named_to_agents(tmp_path: Path, repo: SampleRepository) -> None:
    new = make_diff({}, {"tests/test_new.py": f"x = '{SECRET}'\n".encode()})
    task = only(load(write_lines(tmp_path / "rows.jsonl", [instance(repo, test_patch=new)])))
    assert task.test_command == "" and task.score_command and "test_new.py" in task.score_command


@pytest.mark.parametrize("name", ["swebench", "swebench-debug"])
def test_proved_in_an_environment_of_its_own(
    tmp_path: Path, repo: SampleRepository, environments: Path, sandbox_backend: Backend, name: str
) -> None:
    wrong = ["tests/test_cart.py::test_type", "tests/test_cart.py::test_that_is_not_there"]
    file = write_lines(tmp_path / "rows.jsonl", [instance(repo, PASS_TO_PASS=wrong)])
    task = only(load(file, name, environments))

    def new(spec: object) -> Sandbox:
        return Sandbox(sandbox_backend, spec_for(task))

    result = validate(task, new, 1)
    assert result.valid, result.reason
    assert result.dropped == ("tests/test_cart.py::test_that_is_not_there",)
    deleted = tuple(path for path in task.files if path.startswith("tests/"))
    for changes in (Changes(), Changes(deleted=deleted)):
        assert score(task, changes, new).resolved is False
    # What the set-up created is there, and is nobody's work.
    with Sandbox(sandbox_backend, spec_for(task)) as sandbox:
        sandbox.put(task.files)
        assert "1 passed" in sandbox.run("python -m pytest -q tests/test_stamp.py", 60).output
        sandbox.run("echo x >> src/shop/_stamp.py", 10)
        sandbox.edit("src/shop/cart.py", FIXED)
        assert list(sandbox.changes().files) == ["src/shop/cart.py"]


def test_corrections_are_kept_and_are_no_other_task(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, repo: SampleRepository
) -> None:
    monkeypatch.setenv("STACKRANK_HOME", str(tmp_path / "home"))
    file = write_lines(tmp_path / "rows.jsonl", [instance(repo)])
    task = only(load(file))
    save_correction(task, task.pass_to_pass)
    reloaded = only(load(file))
    assert reloaded.must_stay == () and reloaded.must_pass == task.fail_to_pass and reloaded.digest == task.digest
    save_correction(task, ())
    assert corrected(task).must_stay == task.pass_to_pass


def test_overrides_by_version_and_wrong_ones(tmp_path: Path, repo: SampleRepository) -> None:
    file, overrides = write_lines(tmp_path / "rows.jsonl", [instance(repo)]), tmp_path / "environments.json"
    for data in ({"acme/shop": {"1.5": {"requirements": ["six"]}}}, {"acme/shop 1.5": {"requirements": ["six"]}}):
        overrides.write_text(json.dumps(data))
        environment = only(load(file, environments=overrides)).environment
        assert environment is not None and environment.requirements == ("six",)
    overrides.write_text('{"acme__shop-1": {"requirments": []}}')
    assert "requirments" in load(file, environments=overrides).excluded()["acme__shop-1"]
    overrides.write_text("[")
    with pytest.raises(BenchmarkError, match="--environments"):
        load(file, environments=overrides)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A `swebench` package in the layout of the real one, whose clients cannot be imported."""

    def forget() -> None:
        for name in [module for module in sys.modules if module.partition(".")[0] == "swebench"]:
            del sys.modules[name]
        swebench_parsers.cache_clear()
        _find_swebench.cache_clear()

    clients, parser = "import datasets_of_the_hub\n", "def parse(log, spec):\n    return {log.strip(): 'PASSED'}\n\n"
    specs = {
        "acme/shop": {"1.5": {"python": "3.11", "packages": "six attrs", "install": "make", "test_cmd": "check -v"}}
    }
    files = {
        "__init__.py": clients, "harness/__init__.py": clients, "harness/modal_eval.py": clients,
        "harness/constants/__init__.py": f"MAP_REPO_VERSION_TO_SPECS = {specs}\n",
        "harness/log_parsers/__init__.py": "from .python import parse\nPARSER_REGISTRY = {'parse_log_acme': parse}\n",
        "harness/log_parsers/python.py": parser + "MAP_REPO_TO_PARSER_PY = {'acme/shop': parse}\n",
    }  # fmt: skip
    write(tmp_path / "site" / "swebench", files)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    forget()
    yield
    forget()


@pytest.mark.usefixtures("package")
def test_what_the_package_knows_is_used(tmp_path: Path, repo: SampleRepository) -> None:
    task = only(load(write_lines(tmp_path / "rows.jsonl", [instance(repo)])))
    assert (task.score_command or task.test_command) == "check -v tests/test_cart.py"
    assert task.log_format == "swebench:acme/shop" and _reader(task.log_format)("test_x\n") == {"test_x": "passed"}
    assert task.environment is not None and task.environment.requirements == ("six", "attrs")
    assert task.environment.setup == ("make",)
    parsed = only(load(write_lines(tmp_path / "named.jsonl", [instance(repo, log_parser="parse_log_acme")])))
    assert parsed.log_format == "swebench:parse_log_acme"

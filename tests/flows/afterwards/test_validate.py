"""`stackrank validate`, and what comes of it: damaged and unsound tasks first."""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.writes.store import Store
from stackrank.env.benchmarks import bug_suite
from stackrank.env.benchmarks.bug_suite import DATA, load_task
from stackrank.env.patches import make_diff
from stackrank.env.sandbox.base import SandboxError, spec_for
from stackrank.env.sandbox.registry import chosen_backend
from stackrank.env.scoring.verdict import NewSandbox
from stackrank.env.task import Task
from stackrank.env.validate import Standing, Validation, validate
from stackrank.flows.runs.playing.sandboxes import map_tasks
from stackrank.flows.runs.playing.session import join_run, leave_run
from stackrank.flows.runs.preparing.prepared_run import check
from stackrank.flows.runs.preparing.stored_run import create_run
from stackrank.flows.runs.specification.spec import SpecError, make_spec
from stackrank.home import home
from tests.env.benchmarks.test_foreign_benchmarks import BROKEN, CHECK, FIXED, write
from tests.fixtures.calls import CommandLine

pytestmark = pytest.mark.slow


def suite_of(folder: Path, *names: str) -> Path:
    """A suite of a few of our own tasks."""
    for name in names:
        shutil.copytree(DATA / name, folder / "suite" / name)
    return folder / "suite"


def unsound(folder: Path) -> None:
    """Make the task's fix change nothing."""
    files = load_task(folder).files
    name = next(path for path in files if not path.startswith("tests/") and path.endswith(".py"))
    (folder / "fix.patch").write_text(make_diff(files, {**files, name: files[name] + b"# no fix\n"}))


@pytest.mark.exhaustive
def test_a_proved_task_is_not_proved_again(stackrank: CommandLine, tmp_path: Path) -> None:
    suite = suite_of(tmp_path, "club-ledger", "tax-bands")
    call = ("validate", "bugs", "--path", str(suite), "--json")
    first = stackrank(*call, "--tasks", "club-ledger", "--rounds", "1").json()
    assert (first["valid"], first["proved_before"]) == (1, 0)
    assert stackrank(*call, "--rounds", "1").json()["proved_before"] == 1
    call_of_one = (*call, "--tasks", "tax-bands")
    assert stackrank(*call_of_one, "--rounds", "2").json()["proved_before"] == 0  # it had one round only
    assert stackrank(*call_of_one, "--rounds", "2").json()["proved_before"] == 1
    assert stackrank(*call_of_one, "--rounds", "1", "--again").json()["proved_before"] == 0
    # Another version of the benchmark: what did not change is as sound as it was.
    (suite / "tax-bands" / "work" / "notes.txt").write_text("changed")
    bug_suite._load_once.cache_clear()  # each command is a process of its own, elsewhere
    rows = {row["task"]: row for row in stackrank("tasks", "bugs", "--path", str(suite), "--json").json()}
    assert (rows["club-ledger"]["validated"], rows["tax-bands"]["validated"]) == ("valid", None)


@pytest.mark.exhaustive
def test_a_proved_task_without_difficulty_is_only_measured(stackrank: CommandLine, tmp_path: Path) -> None:
    suite = suite_of(tmp_path, "tax-bands")
    (suite / "tax-bands" / bug_suite.DIFFICULTY).unlink()
    bug_suite._load_once.cache_clear()
    call = ("validate", "bugs", "--path", str(suite), "--rounds", "1", "--json")
    proved = stackrank(*call).json()["tasks"][0]
    file = home() / "difficulty" / f"{load_task(suite / 'tax-bands').digest}.json"
    file.unlink()
    second_call = stackrank(*call).json()
    assert (
        second_call["proved_before"] == 1
        and second_call["tasks"][0]["measured"] == proved["measured"]
        and file.is_file()
    )
    (row,) = stackrank("tasks", "bugs", "--path", str(suite), "--json").json()
    assert row["difficulty"] == row["measured"]["label"] and row["predicted"] == proved["measured"]["predicted"]
    (stored,) = queries.tasks(connect(), f"bugs/{suite.name}")
    assert (stored["measured"], stored["validated_rounds"]) == (proved["measured"], 1)


def test_invalid_tasks_are_not_played(stackrank: CommandLine, tmp_path: Path) -> None:
    suite = suite_of(tmp_path, "club-ledger", "tax-bands")
    unsound(suite / "tax-bands")
    assert stackrank("validate", "bugs", "--path", str(suite), "--rounds", "1").status == 1
    assert "invalid: tax-bands: round 1: with the fix" in stackrank("tasks", "bugs", "--path", str(suite)).out
    engine = connect()
    spec: dict[str, Any] = {"benchmark": "bugs", "path": str(suite), "entrants": [{"agent": "oracle"}]}
    run = check(make_spec(spec, "test"), engine)
    assert [task.id for task in run.tasks] == ["club-ledger"]
    assert "with the fix" in run.invalid["tax-bands"]
    with_invalid = check(make_spec({**spec, "include_invalid": True}, "test"), engine)
    assert len(with_invalid.tasks) == 2 and not with_invalid.invalid
    run_id = create_run(Store(engine), run).id
    try:  # whoever plays it builds the environments of its tasks, and of no others
        assert [task.id for task in join_run(run_id).run.tasks] == ["club-ledger"]
    finally:
        leave_run(run_id)
    result = stackrank("run", "--path", str(suite), "--agent", "oracle", "--tasks", "tax-bands")
    assert result.status == 2
    assert "--include-invalid" in result.sentence()


def test_agents_that_need_fixes_play_only_tasks_with_a_fix(tmp_path: Path) -> None:
    for name in ("double", "triple"):
        write(tmp_path / "data" / name, {"double_code.py": BROKEN, "test.py": CHECK})
    fix = make_diff({"double_code.py": BROKEN.encode()}, {"double_code.py": FIXED.encode()})
    spec: dict[str, Any] = {"benchmark": "mini_nightmare", "path": str(tmp_path / "data"), "fixes": str(tmp_path)}
    two_entrants = {**spec, "entrants": [{"agent": "oracle"}, {"agent": "random"}]}
    with pytest.raises(SpecError, match=r"oracle .* needs known fixes, and double has none"):
        check(make_spec(two_entrants, "test"))
    write(tmp_path, {"double.patch": fix})
    checked = check(make_spec(two_entrants, "test"))
    assert [task.id for task in checked.tasks] == ["double"]
    assert "it has no known fix" in checked.left_out["triple"]
    assert len(check(make_spec({**spec, "entrants": [{"agent": "random"}]}, "test")).tasks) == 2
    with pytest.raises(SpecError, match="triple has none"):
        check(make_spec({**two_entrants, "tasks": ["triple"]}, "test"))


def test_a_failing_sandbox_costs_one_task_its_proof(
    stackrank: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = suite_of(tmp_path, "club-ledger", "tax-bands")
    tries: list[str] = []

    def failing(task: Task, *arguments: Any) -> Validation:
        if task.id == "tax-bands":
            tries.append(task.id)
            raise SandboxError("the engine went away")
        return validate(task, *arguments)

    monkeypatch.setattr("stackrank.flows.runs.preparing.validation.validate", failing)
    result = stackrank("validate", "bugs", "--path", str(suite), "--rounds", "1", "--json")
    document = result.json()
    assert (result.status, document["valid"], document["errors"], document["invalid"]) == (1, 1, 1, 0)
    assert len(tries) == 2
    assert "the engine went away" in document["tasks"][1]["reason"]
    rows = stackrank("tasks", "bugs", "--path", str(suite), "--json").json()
    assert [row["validated"] for row in rows] == ["valid", None]


def test_a_task_that_timed_out_beside_others_is_retried_alone(
    stackrank: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = suite_of(tmp_path, "club-ledger", "tax-bands")
    tries: list[str] = []

    def slow(task: Task, *arguments: Any) -> Validation:
        tries.append(task.id)
        if tries.count("tax-bands") == 1 and task.id == "tax-bands":
            return Validation(task.id, Standing.INVALID, "too slow", out_of_time=True)
        return Validation(task.id, Standing.VALID)

    monkeypatch.setattr("stackrank.flows.runs.preparing.validation.validate", slow)
    assert stackrank("validate", "bugs", "--path", str(suite), "--json").json()["valid"] == 2
    assert sorted(tries[:2]) == ["club-ledger", "tax-bands"] and tries[2:] == ["tax-bands"]


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda folder: (folder / "task.toml").unlink(), "task.toml"),
        (lambda folder: (folder / "task.toml").write_text("title = "), "tax-bands"),
        (lambda folder: (folder / "task.toml").write_text("title = 'x'"), "statement"),
        (lambda folder: (folder / "fix.patch").unlink(), "fix.patch"),
        (lambda folder: (folder / "fix.patch").write_bytes(b"\xff\xfe"), "tax-bands"),
        (lambda folder: (folder / "fix.patch").write_text("--- a/x\n+++ b/x\n@@ -1,9 +1 @@\n-x\n"), "fix.patch"),
        (lambda folder: shutil.rmtree(folder / "work"), "work/"),
    ],
)
def test_a_damaged_task_is_left_out(
    stackrank: CommandLine, tmp_path: Path, damage: Callable[[Path], None], words: str
) -> None:
    suite = suite_of(tmp_path, "club-ledger", "tax-bands")
    damage(suite / "tax-bands")
    rows = {row["task"]: row for row in stackrank("tasks", "bugs", "--path", str(suite), "--json").json()}
    assert rows["club-ledger"]["left_out"] == "" and rows["club-ledger"].keys() == rows["tax-bands"].keys()
    assert words in rows["tax-bands"]["left_out"] and rows["tax-bands"]["digest"] is None
    (line_left_out,) = [
        line for line in stackrank("tasks", "bugs", "--path", str(suite)).out.splitlines() if "left out" in line
    ]
    assert "tax-bands" in line_left_out and words in line_left_out


def test_tables_fit_a_terminal(stackrank: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    for call in ("benchmarks", "tasks bugs"):
        lines = stackrank(*call.split()).out.splitlines()
        assert max(len(re.sub(r"\x1b\[[0-9;]*m", "", line)) for line in lines) <= 120


def test_closing_map_tasks_does_not_wait_for_running_tasks() -> None:
    tasks = [load_task(DATA / "club-ledger"), load_task(DATA / "tax-bands")]
    asleep, end_times = threading.Event(), []

    def work(task: Task, new_sandbox: NewSandbox) -> str:
        if task is tasks[0]:
            assert asleep.wait(600)
            return task.id
        with new_sandbox(spec_for(task)) as sandbox:
            asleep.set()
            try:
                sandbox.run("sleep 600", 600)
            except SandboxError as error:
                end_times.append(error)
        return task.id

    results = map_tasks(work, tasks, chosen_backend(None), 2)
    assert next(results) == "club-ledger"
    results.close()
    assert len(end_times) == 1

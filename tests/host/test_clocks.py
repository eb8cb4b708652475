"""The time of day may jump, so nothing is measured by it: one module gives the ages of stored moments, and no other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from stackrank.host import wall_clock

ROOT = Path(__file__).parents[2]
ROOMS = ("agents", "dashboard", "db", "env", "extensions", "flows", "src/stackrank/host", "src/stackrank/patches")
TIME_OF_DAY = {"now", "utcnow", "today", "time", "time_ns"}
OTHER_CLOCKS = {"awake", "monotonic"}


def reads_time_of_day(node: ast.AST) -> bool:
    """Whether an expression calls `now()`, `time.time()` and the like, outside of other calls' arguments."""
    if not isinstance(node, ast.Call):
        return isinstance(node, ast.Attribute) and reads_time_of_day(node.value)
    if isinstance(node.func, ast.Name):
        return node.func.id in TIME_OF_DAY - {"time", "today"}
    if isinstance(node.func, ast.Attribute):
        owner = node.func.value
        if reads_time_of_day(owner):
            return True  # datetime.now().timestamp()
        is_other = isinstance(owner, ast.Name) and owner.id in OTHER_CLOCKS
        return node.func.attr in TIME_OF_DAY and isinstance(owner, (ast.Name, ast.Attribute)) and not is_other
    return False


def computations(source: str) -> Iterator[int]:
    """Yield the lines that compute or compare with the time of day, directly or by a variable of the same function."""
    tree = ast.parse(source)
    scopes = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module))]
    for scope in scopes:
        nodes = list(ast.walk(scope))
        names = {
            target.id
            for node in nodes
            if isinstance(node, ast.Assign) and reads_time_of_day(node.value)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in nodes:
            operands: list[ast.expr] = []
            if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
                operands = [node.left, node.right]
            elif isinstance(node, ast.Compare):
                operands = [node.left, *node.comparators]
            for operand in operands:
                if reads_time_of_day(operand) or (isinstance(operand, ast.Name) and operand.id in names):
                    yield node.lineno


def test_only_one_module_computes_with_the_time_of_day() -> None:
    files = [*(ROOT / "src/stackrank").glob("*.py"), *(file for room in ROOMS for file in (ROOT / room).rglob("*.py"))]
    data = (ROOT / "env/benchmarks/bugs", ROOT / "extensions/authoring/benchmarks/deep")
    found = [
        f"{file.relative_to(ROOT)}:{line}"
        for file in files
        if not any(file.is_relative_to(folder) for folder in data) and file.name != "wall_clock.py"
        for line in computations(file.read_text(encoding="utf-8"))
    ]
    assert not found, "measure with time.monotonic or awake.now, or give the age of a stored moment by wall_clock"


@pytest.mark.parametrize(
    "text",
    [
        "import time\ndef wait(start):\n    return time.time() - start > 5\n",
        "def wait():\n    start = time.time()\n    work()\n    return clock() - start\n",
        "late = datetime.now(UTC) + timedelta(seconds=3)\n",
        "def is_old(row):\n    return now() > row.alive_at\n",
        "x = datetime.utcnow().timestamp() - y\n",
    ],
)
def test_what_counts_as_computing(text: str) -> None:
    assert list(computations(text))
    assert not list(computations(text.replace("time.time", "time.monotonic").replace("now", "seen")))


def test_a_clock_that_goes_back_makes_no_age_negative(monkeypatch: pytest.MonkeyPatch) -> None:
    moment = datetime(2026, 3, 1, tzinfo=UTC)
    for jump_s, age_s, until_s in ((90.0, 90.0, 0.0), (-3600.0, 0.0, 3600.0)):
        monkeypatch.setattr(wall_clock, "now", lambda jump_s=jump_s: moment + timedelta(seconds=jump_s))
        assert wall_clock.seconds_since(moment) == wall_clock.seconds_since(moment.isoformat()) == age_s
        assert wall_clock.seconds_until(moment) == until_s

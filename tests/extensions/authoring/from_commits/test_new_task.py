"""Tasks from commits: tests that do not show the bug reliably are left out, or the task is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.extensions.authoring.from_commit import TaskOptions
from stackrank.extensions.authoring.new_task import make_task
from tests.fixtures.env import usable
from tests.support.repository import git, write

pytestmark = pytest.mark.slow

BROKEN = "import datetime\n\n\ndef total(items):\n    return sum(items[1:])\n\n\ndef day():\n    return 'Monday'\n"
FIXED = BROKEN.replace("[1:]", "").replace("'Monday'", "datetime.date.today().strftime('%A')")
STABLE = "def test_total():\n    assert total([2]) == 2\n"
OF_DAY = (
    "@pytest.mark.parametrize('day', [datetime.date.today()], ids=str)\n"
    "def test_day(day):\n    assert total([3]) == 3\n"
)
OF_PROCESS = "@pytest.mark.parametrize('key', [object()], ids=repr)\ndef test_key(key):\n    assert total([4]) == 4\n"
WHERE = "def test_year():\n    assert datetime.date.today().year < 2026 or total([5]) == 5\n"
HEAD = "import datetime\n\nimport pytest\n\nimport shop\nfrom shop import total\n\n\n"


def repository(folder: Path, *tests: str, broken: str = BROKEN) -> Path:
    """A commit with the bug, and one that fixes it and adds the tests."""
    write(folder, {"shop.py": broken})
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Bug"]):
        git(folder, *command)
    write(folder, {"shop.py": FIXED, "test_shop.py": HEAD + "\n\n".join(tests)})
    for command in (["add", "."], ["commit", "-q", "-m", "Fix"]):
        git(folder, *command)
    return folder


@pytest.mark.exhaustive
def test_tests_with_ids_that_change_are_left_out(tmp_path: Path) -> None:
    messages: list[str] = []
    repo = repository(tmp_path / "repo", STABLE, OF_DAY, OF_PROCESS, WHERE)
    options = TaskOptions(id="shop", statement="Wrong.", hidden_tests=True)
    entry = make_task(str(repo), "HEAD", tmp_path / "out", options, usable("bubblewrap"), messages.append)
    assert entry.fail_to_pass == ["test_shop.py::test_total"] and not entry.pass_to_pass
    left_out = [message.partition("test_shop.py::")[2] for message in messages if message.startswith("left out")]
    assert any(message.startswith("test_day") and "the day" in message for message in left_out)
    assert any(message.startswith("test_key") and "each process" in message for message in left_out)
    assert any(message.startswith("test_year") and "it depends on the date" in message for message in left_out)


@pytest.mark.parametrize("test", [OF_DAY, WHERE])
def test_a_bug_that_no_stable_test_shows_is_no_task(tmp_path: Path, test: str) -> None:
    repo = repository(tmp_path / "repo", test)
    with pytest.raises(BenchmarkError, match="no test shows the bug reliably"):
        make_task(str(repo), "HEAD", tmp_path / "out", TaskOptions(id="shop"), usable("bubblewrap"), lambda _: None)
    assert not (tmp_path / "out").exists()


ENDLESS = {
    "blocked": "import threading\n\n\ndef total(items):\n    return threading.Event().wait()\n",
    "busy": "def total(items):\n    while items:\n        items = items[0:]\n    return 0\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("broken", ENDLESS.values(), ids=ENDLESS)
def test_a_bug_with_which_the_tests_hang_costs_no_more_than_its_tests_take(tmp_path: Path, broken: str) -> None:
    messages: list[str] = []
    repo = repository(tmp_path / "repo", STABLE, broken=broken)
    options = TaskOptions(id="shop", timeout_s=2000)
    entry = make_task(str(repo), "HEAD", tmp_path / "out", options, usable("bubblewrap"), messages.append)
    assert entry.fail_to_pass == ["test_shop.py::test_total"] and 5 <= (entry.timeout_s or 0) < 1000
    assert any(f"do not end within {entry.timeout_s:g} s" in message for message in messages)

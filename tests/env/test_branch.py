"""Going back to an earlier step: everything stands as it did then, and the record says how that came about."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from stackrank.env.actions import Action, Observation
from stackrank.env.debug_env import DebugEnv
from stackrank.env.patches import apply_patch
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.state import BranchState
from stackrank.env.tools import ToolSet
from stackrank.env.tools.branch import PastStep, line_to
from tests.fixtures.env import Episode, cart, usable

TESTS = ("tests/test_cart.py::test_total", "tests/test_cart.py::test_average")
NAMES = ("eval", "view", "rewrite", "pdb", "bash", "terminal", "investigate", "create", "branch")
TOOLS = ToolSet("branching", NAMES, (("pdb", 5),))


@pytest.fixture
def episode() -> Iterator[Episode]:
    kind = usable("bubblewrap")
    with DebugEnv(cart(), TOOLS, lambda spec: Sandbox(kind, spec), end_when_solved=False, branches=True) as env:
        env.reset()
        yield Episode(env)


def test_what_cannot_be_gone_back_to_changes_nothing(episode: Episode) -> None:
    episode("create", path="kept.txt", content="kept\n")
    assert episode("branch", at=9).text == "There is no step 9 to go back to: the last one was step 1."
    assert "Invalid arguments for branch: at" in episode("branch", at=-1).text
    episode("bash", command="date +%N > now.txt")
    refused = episode("branch", at=4)
    assert not refused.ok and "step 4 cannot be repeated: it changes files differently" in refused.text
    assert episode("branch", at=1).ok, "nothing before it depends on the clock"
    episode("bash", command="date +%N")
    assert "step 7 cannot be repeated: its observation differs" in episode("branch", at=7).text
    assert episode("branch", at=1).ok and episode("view", path="kept.txt").ok
    assert episode("investigate", question="Why?").ok
    assert "not available during an investigation" in episode("branch", at=1).text
    assert episode("answer", text="So.").ok
    assert "Cannot go back to step 11: it is part of an investigation." in episode("branch", at=11).text


def test_everything_stands_where_it_stood(episode: Episode) -> None:
    for number in range(5):
        episode("rewrite", path="cart.py", start=1, new_code=f"def total(items):  # {number}")
    episode("pdb", command="b cart.py:4\nc")
    episode("terminal", text="SAID=hello")
    paused, said = episode.pdb("p result"), episode("terminal", text="echo $SAID")
    episode("rewrite", path="cart.py", new_code="def total(\n")
    episode("pdb", command="q")
    assert episode("branch", at=7).text == "Everything is as it was after step 7 (terminal)."
    assert episode.pdb("p result").text == paused.text
    assert episode("terminal", text="echo $SAID").text == said.text and "hello" in said.text
    assert episode("branch", at=4).ok
    assert "pdb becomes available after 1 more rewrite" in episode.pdb("c").text


def test_the_recorded_changes_lead_through_all_branches(episode: Episode) -> None:
    """Whoever follows the diffs of the steps in order has the files of the workspace after each."""
    files = dict(episode.env.task.files)
    calls: list[tuple[str, dict[str, object]]] = [
        ("rewrite", {"path": "cart.py", "new_code": "def total(\n"}),
        ("create", {"path": "new.txt", "content": "one\n"}),
        ("branch", {"at": 0}),
        ("rewrite", {"path": "cart.py", "new_code": "def total(items):\n    return sum(items)\n"}),
        ("branch", {"at": 2}),
        ("bash", {"command": "rm new.txt; echo 1 > other.txt"}),
        ("branch", {"at": 4}),
        ("branch", {"at": 6}),
    ]
    broken = []
    for tool, arguments in calls:
        observation = episode(tool, **arguments)
        assert observation.ok, observation.text
        if diff := observation.state.get("diff"):
            files = apply_patch(files, diff)
        changes = episode.env.sandbox.changes()
        now = {**episode.env.task.files, **changes.files}
        assert files == {path: text for path, text in now.items() if path not in changes.deleted}
        broken.append(bool(observation.state.get("broken")))
    assert broken == [
        *(True, False, False, False),  # the first edit breaks the file, and going back mends it
        *(True, False, False, True),
    ]
    assert episode.env.score().diff.count("other.txt"), "the verdict is about where the episode stands"


LEFT = {
    "a temporary file": ("open('/tmp/left', 'w').close()", "ls /tmp"),
    "a file that is no news": ("import os; os.makedirs('.pytest_cache/left')", "ls -A"),
    "an emptied file": ("open('cart.txt', 'w').close()", "wc -c cart.txt"),
    "a mode": ("import os; os.chmod('tests', 0o700)", "stat -c %a tests"),
    "shared memory": (
        "import ctypes; ctypes.CDLL(None).shmget(77, 10, 0o1600)",
        "awk '{print $1, $2}' /proc/sysvipc/shm",
    ),
}


@pytest.mark.parametrize("name", LEFT)
def test_what_the_first_tests_left_is_there_in_a_branch(name: str) -> None:
    code, command = LEFT[name]
    task = cart({"cart.txt": "3 carts\n", "tests/test_left.py": f"def test_left():\n    {code}\n"})
    kind = usable("bubblewrap")
    with DebugEnv(task, TOOLS, lambda spec: Sandbox(kind, spec), end_when_solved=False, branches=True) as env:
        env.reset()
        assert env._last_pid is None
        with env.branch(at=0) as branch:
            shown, again = (Episode(each)("bash", command=command).text for each in (env, branch))
            assert shown == again
    with DebugEnv(cart({"cart.txt": "3 carts\n"}), TOOLS, lambda spec: Sandbox(kind, spec), branches=True) as env:
        env.reset()
        assert env._last_pid is not None
        assert Episode(env)("bash", command=command).text != shown, "the command shows what was left"


def test_the_first_tests_do_not_run_again_if_they_left_nothing(
    episode: Episode, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even the numbers of the processes that come later tell a branch from its parent."""
    calls = [("bash", {"command": "echo $$"}), ("pdb", {"command": "b cart.py:4\nc"}), ("eval", {"test": TESTS[0]})]
    run: list[str] = []
    original = Sandbox.test
    monkeypatch.setattr(Sandbox, "test", lambda *given, **options: run.append("test") or original(*given, **options))
    with episode.env.branch(at=0) as branch:
        assert run == [] and branch._require_bench().failing == TESTS
        seen, shown = ([Episode(env)(tool, **given) for tool, given in calls] for env in (branch, episode.env))
        assert [(one.text, one.state) for one in seen] == [(one.text, one.state) for one in shown]


def test_no_tool_says_that_the_episode_went_back(episode: Episode) -> None:
    bench = episode.env._require_bench()
    faked = bench.with_changes(Observation("", state=BranchState(kind="branch", at=0)))
    assert faked.state["kind"] == "other"


def test_a_branch_of_a_branch_leaves_out_what_was_left() -> None:
    def took(tool: str) -> PastStep:
        return PastStep(Action(tool), Observation(""))

    def went_back(at: int) -> PastStep:
        return PastStep(Action("branch", {"at": at}), Observation("", state={"kind": "branch", "at": at}))

    refused = PastStep(Action("branch", {"at": 99}), Observation("", False))
    history = [took(""), took("view"), took("view"), went_back(1), took("eval"), refused, went_back(2), took("view")]
    assert [line_to(history, at) for at in range(8)] == [
        *([0], [0, 1], [0, 1, 2], [0, 1], [0, 1, 4], [0, 1, 4], [0, 1, 2], [0, 1, 2, 7]),
    ]

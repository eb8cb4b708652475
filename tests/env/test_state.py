"""What a step records beside its text: kinds of state, and diffs."""

from __future__ import annotations

import random
from typing import Any

import pytest

from stackrank.env.actions import Action, Observation
from stackrank.env.debug_env import DebugEnv
from stackrank.env.patches import apply_patch
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.state import check_state, messages_of, outcomes_of
from stackrank.env.tools import tool_set
from stackrank.patches.writing import file_diff
from tests.fixtures.env import make_task, usable


@pytest.mark.parametrize(("stored", "kind"), [({}, "none"), ({"path": "a.py"}, "other"), ({"kind": "mine"}, "mine")])
def test_a_plug_ins_state_without_a_kind_gets_one(stored: dict[str, Any], kind: str) -> None:
    state = Observation("", state=stored).state  # type: ignore[arg-type]
    assert state == {"kind": kind, **stored}
    assert Observation("", state=state).state is state


def test_outcomes_and_messages_come_from_test_runs_only() -> None:
    counts = {"passed": 0, "failed": 1, "ids": {"t::a": "failed"}}
    ran = {"exit": 1, "timed_out": False, "solved": False, "tests": counts, "messages": {"t::a": "no"}}
    state = Observation("", state={"kind": "tests", **ran}).state  # type: ignore[arg-type]
    assert (outcomes_of(state), messages_of(state)) == ({"t::a": "failed"}, {"t::a": "no"})
    other_state = Observation("", state={"kind": "other", **ran}).state  # type: ignore[arg-type]
    assert (outcomes_of(other_state), messages_of(other_state)) == ({}, {})


@pytest.mark.parametrize(
    "state",
    [
        {"kind": "shown", "path": 3},
        {"kind": "edit", "edited": "a.py"},
        {"kind": "edit", "edited": "a.py", "lines": 4},
        {"kind": "tests"},
        {"kind": "mine"},
        {"kind": "tests", "solved": 0.5},
    ],
)
def test_a_plug_ins_state_that_only_looks_like_one_of_ours_is_its_own(state: dict[str, Any]) -> None:
    assert check_state(Observation("", state=state).state) == {**state, "kind": "other"}  # type: ignore[arg-type]


def test_diffs_say_exactly_what_changed() -> None:
    """`git apply` makes the new file of the old one, whatever was changed where."""
    choose = random.Random(7)
    words = ["a\n", "b\n", "\n", "é\f\n", "c\r\n", "+d\n", "--- e\n"]
    for _ in range(40):
        old = "".join(choose.choices(words, k=choose.randrange(60)))
        lines = old.splitlines(keepends=True) if "\f" not in old else old.split("b")
        for _ in range(choose.randrange(1, 4)):
            at = choose.randrange(len(lines) + 1)
            lines[at : at + choose.randrange(3)] = choose.choices(words, k=choose.randrange(3))
        new = "".join(lines) + choose.choice(["", "end"])
        diff = file_diff("a.txt", old.encode(), new.encode())
        assert bool(diff) == (old != new)
        if diff:
            assert apply_patch({"a.txt": old.encode()}, diff) == {"a.txt": new.encode()}


def test_diffs_of_files_that_come_go_or_cannot_be_shown() -> None:
    assert apply_patch({}, file_diff("a.py", None, b"x = 1\n")) == {"a.py": b"x = 1\n"}
    assert apply_patch({"a.py": b"x = 1"}, file_diff("a.py", b"x = 1", None)) == {}
    assert file_diff("a.bin", b"\0\xff", b"\0\xfe").endswith("Binary files a/a.bin and b/a.bin differ\n")
    assert file_diff("a.txt", b"", b"x\n" * 200_000).endswith("Files a/a.txt and b/a.txt differ\n")
    rewritten = (b"%d\n" * 40_000 % tuple(range(40_000)), b"-%d\n" * 40_000 % tuple(range(40_000)))
    assert file_diff("a.txt", *rewritten).endswith("Files a/a.txt and b/a.txt differ\n")


def test_a_command_says_what_it_changed() -> None:
    """Each step has its own change: what was edited before is not in it, nor what the command left alone."""
    task = make_task({"a.py": "x = 1\ny = 2\n", "b.py": "z = 3\n"}, test_command="true")
    with DebugEnv(task, tool_set("bash-debug"), lambda spec: Sandbox(usable("local"), spec)) as env:
        env.reset()

        def diff(tool: str, **arguments: object) -> str:
            state = env.step(Action(tool, dict(arguments)))[0].state
            assert state["kind"] in ("edit", "command")
            return str(state.get("diff"))

        assert "-x = 1\n+x = 5\n" in diff("rewrite", path="a.py", start=1, new_code="x = 5")
        assert diff("bash", command="cat a.py") == ""
        sed = diff("bash", command="sed -i 's/y = 2/y = 6/' a.py; ln -s a.py link.py; mkdir new; rm b.py")
        assert "-y = 2\n+y = 6\n" in sed and "x = 1" not in sed and "deleted file mode" in sed and "link" not in sed
        assert diff("bash", command="head -c 400000 /dev/zero > big").endswith("Files a/big and b/big differ\n")
        changes = diff("bash", command="for i in 1 2 3; do echo $i > new/$i.txt; done; touch a.py")
        assert changes.count("new file mode") == 3 and "a.py" not in changes
        many = diff("bash", command="mkdir many; for i in $(seq 600); do echo $i > many/$i; done")
        assert many.count("diff --git") == 500


def test_a_file_that_may_not_be_read_is_no_failure_of_the_sandbox() -> None:
    task = make_task({"a.py": "x = 1\n"}, test_command="true", status_decides=True)
    with DebugEnv(task, tool_set("bash-debug"), lambda spec: Sandbox(usable("bubblewrap"), spec)) as env:
        env.reset()
        state = env.step(Action("bash", {"command": "echo more >> a.py; chmod 000 a.py"}))[0].state
        view = env.step(Action("view", {"path": "a.py"}))[0]
        assert env.score().resolved, "the file is as it was given, as any that is not carried over"
    assert state["kind"] == "command" and "a.py" in str(state.get("diff"))
    assert view.ok or "permissions" in view.text  # root may read anything

"""Investigations in real sandboxes: tools of their own, and a workspace and a debugger that stay as they were."""

from __future__ import annotations

import pytest

from stackrank.env.debug_env import DebugEnv
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.tools import tool_set
from tests.fixtures.env import Episode, Play, cart, usable

ASK = {"question": "Why is total 5?"}
FIX = {"path": "cart.py", "new_code": "    return result", "start": 5}
SPOIL = (
    "!import os; open('cart.py', 'a').write('x = 1\\n'); open('new.txt', 'w').write('x'); os.remove('data.txt')\n"
    "!os.makedirs('deep/er'); open('deep/er/f', 'w').write('x'); os.symlink('mine.py', 'link.py')\n"
    "!os.remove('mine.py'); os.symlink('cart.py', 'mine.py')"
)


def test_leaves_the_workspace_as_it_was(play: Play) -> None:
    act = play(cart({"data.txt": "kept\n"}))
    act("bash", command="rm tests/test_cart.py; printf 'y = 2\\n' > mine.py; echo edited >> conftest.py")
    baseline = act.env.sandbox.changes()
    assert act("investigate", **ASK).ok
    assert act.pdb(SPOIL, "python cart.py").ok
    spoiled = act.env.sandbox.changes()
    assert {"new.txt", "deep/er/f", "cart.py"} <= set(spoiled.files) and "mine.py" in spoiled.skipped
    answer = act("answer", text="  It subtracts one.  ")
    assert answer.ok and answer.text == "It subtracts one."
    current = act.env.sandbox.changes()
    changed = {path: content for path, content in current.files.items() if content != act.env.task.files.get(path)}
    assert (changed, current.deleted, current.skipped) == (baseline.files, baseline.deleted, baseline.skipped)
    assert "deep" not in act("listdir").text
    assert "kept" in act("view", path="data.txt").text and "y = 2" in act("view", path="mine.py").text


def test_the_debuggers_know_nothing_of_each_other(play: Play) -> None:
    act = play(cart())
    paused = act.pdb("b cart.py:4\nc\nn").state
    assert paused["kind"] == "debugger" and paused["line"] == 3
    act("investigate", **ASK)
    state = act.pdb("b cart.py:9\nc\np whole").state
    assert state["kind"] == "debugger" and [row["line"] for row in state["breakpoints"]] == [9]
    act("eval")
    act("answer", text="5")
    went_on = act.pdb("n").state
    assert went_on["kind"] == "debugger" and (went_on["line"], went_on.get("restarted")) == (4, None)
    assert [row["line"] for row in went_on["breakpoints"]] == [4]
    act("investigate", **ASK)
    assert act.pdb("p 1").state["breakpoints"] == [], "each investigation begins anew"  # type: ignore[typeddict-item]


def test_only_its_own_tools(play: Play) -> None:
    act = play(cart(), tool_set("investigate"))
    for tool, arguments in (("pdb", {"command": "c"}), ("answer", {"text": "x"})):
        assert not act(tool, **arguments).ok
    assert not act("investigate", question="").ok and act("view", path="cart.py").ok
    assert act("investigate", **ASK).ok
    for tool, arguments in (("rewrite", FIX), ("submit", {}), ("investigate", ASK)):
        refused = act(tool, **arguments)
        assert not refused.ok and "Tools: view, listdir, grep, eval, pdb, answer" in refused.text
    assert act.pdb("c").state["kind"] == "debugger"
    assert act("answer", text="x").ok
    assert not act.pdb("c").ok and not act("answer", text="x").ok


def test_a_green_eval_ends_nothing(play: Play) -> None:
    act = play(cart(), tool_set("investigate"))
    act("rewrite", **FIX)
    act("investigate", **ASK)
    assert act("eval").state["solved"] and not act.env.over  # type: ignore[typeddict-item]
    act("answer", text="x")
    act("eval")
    assert act.env.over == "solved"


@pytest.mark.parametrize("answers", [True, False])
def test_what_it_spoils_is_not_scored(answers: bool) -> None:
    kind = usable("bubblewrap")
    with DebugEnv(cart(), tool_set("rewrite,investigate"), lambda spec: Sandbox(kind, spec)) as env:
        env.reset()
        act = Episode(env)
        act("rewrite", **FIX)
        act("investigate", **ASK)
        act.pdb("!open('cart.py', 'w').write('')")
        if answers:
            act("answer", text="x")
        assert env.score().resolved

"""The same visit to the fault earns the same milestones, whichever tool makes it."""

from __future__ import annotations

import pytest

from stackrank.agents.episode.milestones import MilestoneTracker
from stackrank.env.actions import Action, Observation
from stackrank.env.debug_env import DebugEnv
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.task import Fault
from stackrank.env.tools import ToolSet, registry
from stackrank.env.tools.base import Arguments, Bench
from tests.fixtures.env import Play, cart, usable

TASK = cart(faults=(Fault("cart.py", ("total",), (5,)),))
PYTEST = "-m pytest -qsp no:cacheprovider"
VISITS = {
    "pdb": ("pdb", {"command": "b cart.py:5\nc"}),
    "pdb, then on": ("pdb", {"command": "tbreak cart.py:5\nc\nc\nc"}),
    "pdb in a terminal": (
        "terminal",
        {"text": f"python -m pdb -c 'b cart.py:5' -c c {PYTEST}"},
    ),
    "pdb in a shell": (
        "bash",
        {"command": f"printf 'b cart.py:5\\nc\\nq\\n' | python -m pdb {PYTEST}"},
    ),
    "trace": ("trace", {"place": "cart.py:5"}),
    "inspect": ("inspect", {"place": "cart.py:5"}),
    "calls": ("calls", {"place": "total"}),
}


@pytest.mark.parametrize("tool", VISITS)
def test_each_tool_earns_the_milestones_of_pdb(tool: str, play: Play) -> None:
    episode = play(TASK)
    name, arguments = VISITS[tool]
    assert milestones(episode(name, **arguments)) >= {"breakpoint", "inspected", "localized"}


def milestones(observation: Observation) -> set[str]:
    """What one step earns."""
    tracker = MilestoneTracker(TASK)
    tracker.observe(0, Observation("1 failed in 0.00s"))
    assert observation.ok, observation.text
    return set(tracker.observe(1, observation).milestones)


class Peek:
    """A plug-in's tool that reports what it is told to."""

    name, version, description = "peek", "1", "Peek."

    class Told(Arguments):
        """What to report."""

        events: list[dict[str, object]] | str

    arguments = Told

    def __call__(self, bench: Bench, arguments: Told) -> Observation:
        return Observation("peeked", state={"debug_events": arguments.events, "own": 1})  # type: ignore[arg-type]


def test_a_plug_in_earns_the_milestones_of_pdb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry._all_tools(), "peek", Peek())
    with DebugEnv(TASK, ToolSet("peeking", ("peek",)), lambda spec: Sandbox(usable("local"), spec)) as env:
        env.reset()
        events = [{"event": "reached", "file": f"{env.sandbox.root}/cart.py", "line": 5, "function": "total"}]
        seen = env.step(Action("peek", {"events": events}))[0]
        assert seen.state["kind"] == "other" and seen.state["debug_events"][0]["file"] == "cart.py"
        assert milestones(seen) == {"breakpoint", "inspected", "localized"}
        wrong = env.step(Action("peek", {"events": "cart.py:5"}))[0]
        assert (wrong.ok, wrong.text) == (False, "peek failed unexpectedly."), "a plug-in's mistake is no observation"
        assert "debug_events" not in wrong.state

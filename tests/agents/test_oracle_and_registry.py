"""The oracle in a real sandbox; finding agents by name."""

from __future__ import annotations

import difflib
import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest

from stackrank import plugins
from stackrank.agents.episode.protocol import Briefing, GaveUp, RecordingQuery, SetupError
from stackrank.agents.episode.step import Step
from stackrank.agents.oracle import Oracle
from stackrank.agents.registry import BUILT_IN, agent_names, find_agent
from stackrank.agents.replay import Replay
from stackrank.env.actions import Action, Observation
from stackrank.env.tools import tool_set
from stackrank.errors import PluginError
from stackrank.terms import StopReason
from tests.fixtures.agents import FakeEnv, play_fake, play_real
from tests.fixtures.env import cart

BEFORE = cart().files["cart.py"].decode()
AFTER = BEFORE.replace("return result - 1", "return result")
FIX = "".join(
    [
        *difflib.unified_diff(BEFORE.splitlines(True), AFTER.splitlines(True), "a/cart.py", "b/cart.py"),
        "--- /dev/null\n+++ b/notes.txt\n@@ -0,0 +1 @@\n+mended\n",
    ]
)


def test_the_oracle_needs_a_fix() -> None:
    for task in (None, cart()):
        with pytest.raises(SetupError, match="fix"):
            Oracle(task=task)


@pytest.mark.parametrize(("tools", "reason"), [("rewrite", "solved"), ("rewrite,view", "submitted")])
def test_the_oracle_resolves(tools: str, reason: str) -> None:
    task = cart(fix=FIX)
    outcome, steps = play_real(task, Oracle(task=task), tools)
    assert outcome.stop_reason is StopReason(reason)
    assert outcome.score is not None and outcome.score.resolved
    assert {step.action.arguments["path"] for step in steps if step.action and step.action.tool == "rewrite"} == {
        "cart.py",
        "notes.txt",
    }


def test_the_oracle_gives_up_after_its_last_action() -> None:
    task = cart(fix=FIX)
    agent = Oracle(task=task)
    agent.begin(Briefing("t", "", "", tool_set("rewrite"), 50), Observation(""))
    tools = []
    with pytest.raises(GaveUp):
        while True:
            tools.append(agent.act(Observation("")).action.tool)
    assert tools == ["rewrite", "rewrite", "eval", "submit"]


def test_an_unknown_name_lists_all_agents() -> None:
    with pytest.raises(SetupError, match=r"nobody.*oracle, llm, .*outside"):
        find_agent("nobody")
    assert agent_names()[: len(BUILT_IN)] == list(BUILT_IN)


class NotAnAgent:
    """Has no base class."""

    version = "1"


@pytest.mark.parametrize(
    ("target", "error", "message"),
    [
        (f"{__name__}:NotAnAgent", SetupError, r"the agent broken is not a subclass of .*Agent: change tests\.agents"),
        ("no_such:Agent", PluginError, r"the plug-in 'broken' of the package no_such .*ModuleNotFoundError.*reinstall"),
    ],
)
def test_a_broken_plug_in_is_named_with_cause_and_remedy(
    monkeypatch: pytest.MonkeyPatch, target: str, error: type[Exception], message: str
) -> None:
    plug_in = EntryPoint("broken", target, "stackrank.agents")
    monkeypatch.setattr(plugins, "entry_points", lambda **_: [plug_in])
    with pytest.raises(error, match=message):
        find_agent("broken")
    assert agent_names() == [*BUILT_IN, "broken"], "other agents can still be listed"


def test_each_built_in_agent_declares_what_it_needs() -> None:
    for name in BUILT_IN:
        factory = find_agent(name)
        assert factory.version
        assert factory.knows_fix is (name == "oracle")
        assert factory.needs_model is (name in ("llm", "seeker", "command"))


def test_listing_agents_imports_none_of_them() -> None:
    code = (
        "import sys, stackrank.agents.registry as r; r.agent_names(); "
        "print({'openai', 'libcst', 'jinja2'} & set(sys.modules))"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout.strip() == "set()"


def test_openai_is_imported_only_to_ask() -> None:
    code = (
        "import sys; from stackrank.agents.registry import find_agent; find_agent('llm'); "
        "print('openai' in sys.modules)"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout.strip() == "False"


def test_replay_repeats_a_recording() -> None:
    """Malformed steps are malformed again, and the end of the recording is the end of the episode."""
    actions = [Action("view", {"path": "cart.py"}), None, Action("eval")]
    recording = [Step(0, None, Observation("failing"))]
    recording += [Step(number, action, Observation("seen"), "why") for number, action in enumerate(actions, 1)]
    queries: list[RecordingQuery] = []

    def find(query: RecordingQuery) -> list[Step]:
        queries.append(query)
        return recording

    outcome, steps = play_fake(FakeEnv(cart()), Replay(config={"run": 3}), find_recording=find)
    assert queries == [RecordingQuery(run=3)]
    assert [step.action for step in steps] == [None, *actions]
    assert outcome.stop_reason is StopReason.AGENT_GAVE_UP
    with pytest.raises(SetupError, match="needs a database"):
        play_fake(FakeEnv(cart()), Replay(config={"episode": 3}))
    for config, message in (({}, "{run: NUMBER}"), ({"run": "x"}, "at run"), ({"turn": 1}, "at turn")):
        with pytest.raises(SetupError, match=message):
            Replay.configure(model="", config=config)

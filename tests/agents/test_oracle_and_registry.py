"""The oracle in a real sandbox; finding agents by name."""

from __future__ import annotations

import difflib
import subprocess
import sys

import pytest

from agents.base import Briefing, GaveUp, SetupError
from agents.episode import StopReason
from agents.oracle import Oracle
from agents.registry import BUILT_IN, agent_names, find_agent
from env.actions import Observation
from env.tools import tool_set
from tests.agents.conftest import play_real
from tests.env.conftest import cart

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


def test_the_oracle_stops_when_it_has_said_all() -> None:
    task = cart(fix=FIX)
    agent = Oracle(task=task)
    agent.begin(Briefing("t", "", "", tool_set("rewrite"), 50), Observation(""))
    said = []
    with pytest.raises(GaveUp):
        while True:
            said.append(agent.act(Observation("")).action.tool)
    assert said == ["rewrite", "rewrite", "eval", "submit"]


def test_unknown_names_list_the_known_ones() -> None:
    with pytest.raises(SetupError, match=r"nobody.*oracle, repair, llm"):
        find_agent("nobody")
    assert agent_names()[: len(BUILT_IN)] == list(BUILT_IN)


def test_each_built_in_agent_says_what_it_is() -> None:
    for name in BUILT_IN:
        factory = find_agent(name)
        assert factory.version
        assert factory.knows_fix is (name == "oracle")
        assert factory.needs_model is (name in ("llm", "seeker"))


def test_listing_agents_imports_none_of_them() -> None:
    code = "import sys, agents.registry as r; r.agent_names(); print({'openai', 'libcst', 'jinja2'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_openai_is_imported_only_to_ask() -> None:
    code = "import sys; from agents.registry import find_agent; find_agent('llm'); print('openai' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"

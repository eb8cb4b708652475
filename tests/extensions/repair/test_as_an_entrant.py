"""`repair` in specifications: what a run without entrants compares, and with which tools it plays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stackrank.agents.episode.protocol import SetupError
from stackrank.flows.runs.preparing.entrants import idle_entrants, make_entrant, why_idle
from stackrank.flows.runs.specification.spec import EntrantSpec, SpecError, make_spec, read_spec
from tests.flows.specification.test_debuggers_example import SETS, checked, played

DEMO = Path(__file__).parents[3] / "deploy/examples/demo.yaml"


@pytest.mark.parametrize(
    ("flags", "labels"),
    [({}, ["repair (rewrite)", "repair (debug)"]), ({"tools": ["bash"]}, ["repair (bash)"])],
)
def test_without_agents_models_and_tools_a_run_compares_debuggers(flags: dict[str, Any], labels: list[str]) -> None:
    assert [entrant.label for entrant in read_spec(None, flags).entrants] == labels


def test_the_demonstration_is_right() -> None:
    spec = read_spec(DEMO, {})
    assert [entrant.label for entrant in spec.entrants] == ["oracle (rewrite)", "repair (rewrite)", "repair (debug)"]
    for entrant in spec.entrants:
        make_entrant(entrant, spec.mcp)


def test_debuggers_that_it_does_not_use_are_left_out() -> None:
    run = checked(agent=["repair"])
    assert [entrant.spec.tools for entrant in run.entrants] == ["rewrite", "debug", "trace"]
    assert idle_entrants(run.spec) == run.idle
    assert set(run.idle) == {f"repair ({name})" for name in SETS if name not in ("rewrite", "debug", "trace")}
    with pytest.raises(SpecError, match="the agent repair does not use snapshot, but pdb or trace"):
        checked(agent=["repair"], tools=["snapshot"])


def test_a_set_with_one_tool_that_it_uses_is_played() -> None:
    assert played(agent=["repair"], tools=["eval,view,pdb,calls,rewrite", "bash", "bash-debug"]) == [
        "eval,view,pdb,calls,rewrite", "bash", "bash-debug",
    ]  # fmt: skip


def test_tools_of_servers_are_refused() -> None:
    entrant = {"agent": "repair", "tools": "rewrite+other"}
    spec = make_spec({"benchmark": "bugs", "entrants": [entrant], "mcp": {"other": {"command": ["x"]}}}, "test")
    with pytest.raises(SetupError, match="the agent repair calls no tools of MCP servers: leave other out of"):
        make_entrant(spec.entrants[0], spec.mcp)


def test_without_a_tool_that_it_needs_it_does_not_play() -> None:
    for tools in ("edit-debug", "eval,view,str_replace,submit"):
        assert why_idle(EntrantSpec(agent="repair", tools=tools)) == "the agent repair cannot play without rewrite"
    assert why_idle(EntrantSpec(agent="repair", tools="rewrite")) == ""

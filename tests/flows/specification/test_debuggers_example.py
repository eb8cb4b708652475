"""The example that compares interfaces to a running program: which entrants it makes of which agents and models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stackrank.env.tools import TOOL_SETS
from stackrank.flows.runs.preparing.entrants import idle_entrants
from stackrank.flows.runs.preparing.prepared_run import check
from stackrank.flows.runs.specification.spec import SpecError, read_spec
from tests.fixtures.calls import CommandLine
from tests.fixtures.env import usable

FILE = Path(__file__).parents[3] / "deploy/examples/debuggers.yaml"
SETS = ["rewrite", "debug", "inspect", "trace", "calls", "snapshot", "investigate"]


def checked(**overrides: Any) -> Any:
    usable("bubblewrap")
    return check(read_spec(FILE, {"sandbox": "bubblewrap", **overrides}))


def played(**overrides: Any) -> list[str]:
    return [entrant.spec.tools for entrant in checked(**overrides).entrants]


def test_every_model_plays_every_tool_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    run = checked(model=["a", "b"])
    assert [(entrant.spec.model, entrant.spec.tools) for entrant in run.entrants] == [
        (m, t) for m in "ab" for t in SETS
    ]
    assert not run.idle


def test_the_tool_sets_differ_in_the_debugger_only() -> None:
    without = set(TOOL_SETS["rewrite"].tools)
    for name in SETS[1:]:
        has = TOOL_SETS[name]
        assert set(has.tools) - without == set(has.debuggers) and len(has.debuggers) == 1
        assert without <= set(has.tools)


@pytest.mark.parametrize(
    ("agent", "tools"),
    [
        ("random", SETS[:6]),
        ("oracle", SETS[:6]),
        ("llm", SETS),
    ],
)
def test_an_entrant_that_uses_no_debugger_of_its_tools_is_left_out(
    monkeypatch: pytest.MonkeyPatch, agent: str, tools: list[str]
) -> None:
    """The models of the file are for agents that use one."""
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    run = checked(agent=[agent], **({"model": ["a"]} if agent == "llm" else {}))
    assert [entrant.spec.tools for entrant in run.entrants] == tools
    assert idle_entrants(run.spec) == run.idle
    assert set(run.idle) == {f"{agent} ({name})" for name in SETS if name not in tools}
    for reason in run.idle.values():
        assert reason.startswith(f"the agent {agent} does not use ") and "but pdb" in reason


def test_a_run_in_which_no_entrant_plays_is_refused() -> None:
    with pytest.raises(SpecError, match="the agent random does not use investigate, but pdb"):
        checked(agent=["random"], tools=["investigate"])
    with pytest.raises(SpecError, match="does not use investigate"):
        checked(agent=["random"], stop={"decided": 0.05, "against": "random (investigate)"})


def test_a_model_that_is_named_with_such_an_agent_is_an_error() -> None:
    with pytest.raises(SpecError, match="uses no model"):
        checked(agent=["random"], model=["a"])


@pytest.mark.exhaustive
@pytest.mark.slow
def test_the_document_of_a_run_names_who_was_left_out(stackrank: CommandLine, prefect_server: str) -> None:
    usable("bubblewrap")
    options = (
        "--benchmark",
        "bugs",
        "--limit",
        "1",
        "--agent",
        "random",
        "--tools",
        "rewrite",
        "--tools",
        "investigate",
    )
    document = stackrank("run", *options, "--steps", "2", "--sandbox", "bubblewrap", "--json").json()
    assert [entrant["tools"] for entrant in document["entrants"]] == ["rewrite"]
    assert list(document["left_out"]) == ["random (investigate)"]
    assert "does not use investigate" in document["left_out"]["random (investigate)"]

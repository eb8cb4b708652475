"""The run specification: what is wrong is said in one sentence, what is right is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stackrank.agents.episode.protocol import SetupError
from stackrank.flows.runs.preparing.entrants import make_entrant, why_idle
from stackrank.flows.runs.specification.spec import PARTS, EntrantSpec, RunSpec, SpecError, make_spec, read_spec
from tests.fixtures.calls import CommandLine

ROOT = Path(__file__).parents[3]
MINIMAL: dict[str, Any] = {"entrants": [{"agent": "oracle"}]}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({**MINIMAL, "benchmrk": "bugs"}, ["benchmrk", "unknown field", "benchmark"]),
        ({"entrants": [{"agent": "oracle", "modle": "x"}]}, ["entrants.0.modle", "model"]),
        ({**MINIMAL, "attempts": 0}, ["attempts must be at least 1, not 0"]),
        ({**MINIMAL, "workers": "many"}, ["workers must be a whole number, not 'many'"]),
        ({**MINIMAL, "sandbox": "vm"}, ["sandbox must be docker, bubblewrap or local, not 'vm'"]),
        ({**MINIMAL, "cost_usd": -1}, ["cost_usd must be more than 0, not -1"]),
        ({**MINIMAL, "attempts": 1000}, ["attempts must be at most 100, not 1000"]),
        ({**MINIMAL, "attempts": 1.5}, ["attempts must be a whole number, not 1.5"]),
        ({**MINIMAL, "tasks": ""}, ["tasks", "no task given"]),
        ({**MINIMAL, "tasks": ","}, ["tasks", "no task given"]),
        ({**MINIMAL, "tasks": []}, ["tasks", "no task given"]),
        ({**MINIMAL, "name": ["a"]}, ["name must be a text, not ['a']"]),
        ({**MINIMAL, "name": None}, ["name must be a text, not nothing"]),
        ({**MINIMAL, "wall_s": float("inf")}, ["wall_s must be a finite number, not inf"]),
        ({**MINIMAL, "cost_usd": float("nan")}, ["cost_usd must be", "not nan"]),
        ({**MINIMAL, "wall_s": "soon"}, ["wall_s must be a number, not 'soon'"]),
        ({**MINIMAL, "tags": {"a": 1}}, ["tags must be a list, not {'a': 1}"]),
        ({"entrants": ["llm"]}, ["entrants.0 must be fields with values, not 'llm'"]),
        ({"entrants": "llm"}, ["entrants must be a list, not 'llm'"]),
        ({"entrants": [{"tools": "debug"}]}, ["entrants.0.agent is missing"]),
        ({"entrants": [{"agent": "llm", "config": 1}]}, ["entrants.0.config must be fields with values, not 1"]),
        ({"matrix": {"model": ["a"]}}, ["unknown field matrix.model: did you mean models?"]),
        ({"matrix": {"models": "a"}}, ["matrix.models must be a list, not 'a'"]),
        ({"matrix": ["a"]}, ["matrix must be fields with values"]),
        ({"matrix": {"agents": ["random"], "tools": ["debug", "debug"]}}, ["random (debug)", "`name`"]),
        ({"entrants": [{"agent": "random"}, {"agent": "random"}]}, ["random (debug)", "`name`"]),
    ],
)
def test_wrong_fields_are_named(data: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(SpecError) as caught:
        make_spec(data, "the file")
    for word in ["the file", *words]:
        assert word in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a: [1,", ["not YAML"]),
        (b"- a\n- b\n", ["not a run specification", "entrants:"]),
        (b"\xff\xfe\x00", ["not YAML"]),
        (b"steps: 3\nbenchmark: bugs\nsteps: 50\n", ["not YAML", "'steps' is given twice"]),
        (b"{steps: 3, entrants: [{agent: llm, 'agent': random}]}", ["'agent' is given twice"]),
        (b"name: latest\nentrants: [{agent: random}]\n", ["'latest'", "rename it"]),
        (b"name: '17'\nentrants: [{agent: random}]\n", ["'17'", "rename it"]),
    ],
)
def test_wrong_files_are_named(tmp_path: Path, content: bytes, words: list[str]) -> None:
    file = tmp_path / "run.yaml"
    file.write_bytes(content)
    with pytest.raises(SpecError) as caught:
        read_spec(file, {})
    assert all(word in str(caught.value) for word in words)


def test_a_value_may_replace_a_merged_one(tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text("matrix: {agents: [random], config: {<<: {a: 1, b: 2}, a: 3}}\n")
    assert read_spec(file, {}).entrants[0].config == {"a": 3, "b": 2}


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="cannot be read"):
        read_spec(tmp_path / "none.yaml", {})


def test_flags_override_the_file(tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text("benchmark: bugs\nattempts: 2\ntags: [nightly]\nentrants:\n  - {agent: oracle, tools: rewrite}\n")
    spec = read_spec(file, {"attempts": 3, "limit": None, "tags": [], "agent": [], "model": [], "tools": []})
    assert (spec.attempts, spec.tags, spec.entrants[0].label) == (3, ["nightly"], "oracle (rewrite)")
    spec = read_spec(file, {"agent": ["random"], "tools": ["rewrite", "debug"]})
    assert [entrant.label for entrant in spec.entrants] == ["random (rewrite)", "random (debug)"]


def test_models_and_tools_are_crossed() -> None:
    spec = read_spec(None, {"model": ["a", "b"], "tools": ["rewrite", "debug"]})
    assert [entrant.label for entrant in spec.entrants] == [
        "llm/a (rewrite)", "llm/a (debug)", "llm/b (rewrite)", "llm/b (debug)",
    ]  # fmt: skip


PAPER = """
matrix: {agents: [llm], models: [a, b], tools: [rewrite, debug, debug5], config: {temperature: 0}}
entrants: [{agent: oracle, tools: rewrite}]
"""


def test_a_matrix_is_a_short_form_of_entrants(tmp_path: Path) -> None:
    file = tmp_path / "paper.yaml"
    file.write_text(PAPER)
    spec = read_spec(file, {"attempts": 2})
    models = [f"llm/{model} ({tools})" for model in "ab" for tools in ("rewrite", "debug", "debug5")]
    assert [entrant.label for entrant in spec.entrants] == ["oracle (rewrite)", *models]
    assert spec.matrix is None and spec.entrants[-1].config == {"temperature": 0}
    assert RunSpec.model_validate(spec.model_dump(mode="json")) == spec


def test_an_agent_without_a_model_plays_beside_models() -> None:
    spec = read_spec(None, {"agent": ["random", "llm"], "model": ["a", "b"], "tools": ["debug"], "benchmark": "bugs"})
    assert [entrant.label for entrant in spec.entrants] == ["random (debug)", "llm/a (debug)", "llm/b (debug)"]


def test_flags_replace_entrants_and_axes_of_the_matrix(tmp_path: Path) -> None:
    file = tmp_path / "paper.yaml"
    file.write_text(PAPER)
    spec = read_spec(file, {"model": ["c"]})
    assert [entrant.label for entrant in spec.entrants] == ["llm/c (rewrite)", "llm/c (debug)", "llm/c (debug5)"]
    spec = read_spec(file, {"tools": ["bash"]})
    assert [entrant.label for entrant in spec.entrants] == ["llm/a (bash)", "llm/b (bash)"]


def test_every_field_is_described(stackrank: CommandLine) -> None:
    for kind in (RunSpec, *PARTS.values()):
        assert all(field.description for field in kind.model_fields.values())
    page = (ROOT / "docs" / "reference" / "specification.md").read_text(encoding="utf-8")
    assert stackrank("spec").out == page, "run `make reference`"


def test_the_schema_for_editors(stackrank: CommandLine) -> None:
    schema = stackrank("spec", "--json").json()
    assert schema["properties"].keys() == RunSpec.model_fields.keys()
    assert schema["properties"]["limit"]["description"].startswith("Play at most this many tasks")


def test_without_agents_a_run_of_models_compares_debuggers() -> None:
    labels = [entrant.label for entrant in read_spec(None, {"model": ["m"]}).entrants]
    assert labels == [f"llm/m ({tools})" for tools in ("rewrite", "bash", "debug", "bash-debug")]
    assert [entrant.label for entrant in read_spec(None, {"agent": ["llm"], "model": ["m"]}).entrants] == [
        "llm/m (debug)"
    ]


EXAMPLES = [
    file
    for file in sorted((ROOT / "deploy" / "examples").glob("*.yaml"))
    if "\nname: " in (text := file.read_text()) and "agent: repair" not in text
]


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_the_examples_are_right(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    spec = read_spec(file, {})
    for entrant in spec.entrants:
        make_entrant(entrant, spec.mcp)


@pytest.mark.parametrize("agent", ["oracle", "random"])
def test_servers_for_an_agent_that_calls_none_are_refused(agent: str) -> None:
    entrant = {"agent": agent, "tools": "rewrite+other"}
    spec = make_spec({"benchmark": "bugs", "entrants": [entrant], "mcp": {"other": {"command": ["x"]}}}, "test")
    with pytest.raises(SetupError, match=f"the agent {agent} calls no tools of MCP servers: leave other out of"):
        make_entrant(spec.entrants[0], spec.mcp)


@pytest.mark.parametrize("agent", ["oracle"])
def test_an_agent_without_a_tool_that_it_needs_does_not_play(agent: str) -> None:
    """It would fail every task, which says nothing about it."""
    for tools in ("edit-debug", "eval,view,str_replace,submit"):
        assert why_idle(EntrantSpec(agent=agent, tools=tools)) == f"the agent {agent} cannot play without rewrite"
    assert why_idle(EntrantSpec(agent=agent, tools="rewrite")) == ""


def test_a_flag_says_whether_a_green_eval_ends_an_episode(stackrank: CommandLine) -> None:
    """Known as a flag: what is wrong with this call is something else."""
    for flag in ("--stop-when-solved", "--no-stop-when-solved"):
        result = stackrank("run", "--agent", "random", "--tools", "investigate", flag)
        assert result.status == 2 and "does not use investigate" in result.err
    assert not read_spec(None, {"agent": ["random"], "ends_when_solved": False}).ends_when_solved


def test_a_specification_survives_json() -> None:
    spec = make_spec({**MINIMAL, "tasks": "one, two, one", "name": "x"}, "test")
    assert spec.tasks == ["one", "two"]
    assert RunSpec.model_validate(spec.model_dump(mode="json")) == spec


def test_granularity_of_prefect_task_runs() -> None:
    def tasks(**fields: str) -> bool:
        return make_spec({"benchmark": "bugs", "entrants": [{"agent": "oracle"}], **fields}, "x").episodes_are_tasks

    assert tasks() and not tasks(pool="p") and not tasks(prefect_tasks="shards")
    assert tasks(pool="p", prefect_tasks="episodes") and tasks(pool="p", runner="ray")
    with pytest.raises(SpecError, match="prefect_tasks: shards needs runner: threads, because dask makes each episode"):
        tasks(prefect_tasks="shards", runner="dask")
    with pytest.raises(SpecError, match="prefect_tasks"):
        tasks(prefect_tasks="none")

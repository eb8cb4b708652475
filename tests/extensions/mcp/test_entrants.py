"""Tools of others: a debugger that others wrote plays beside pdb, and a sentence says which one did better."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from stackrank.agents.llm.endpoints.endpoint import Reply
from stackrank.agents.llm.syntaxes.function_calling import FunctionCalling
from stackrank.agents.llm.syntaxes.text import FencedText
from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.writes.store import Store
from stackrank.env.benchmarks.bug_suite import BugSuite
from stackrank.env.patches import apply_patch
from stackrank.env.tools import tool_set
from stackrank.env.tools.servers import Offer, ToolServer
from stackrank.flows.runs.preparing.entrants import make_entrant
from stackrank.flows.runs.preparing.prepared_run import build, check
from stackrank.flows.runs.preparing.stored_run import create_run
from stackrank.flows.runs.specification.spec import EntrantSpec, SpecError, make_spec
from tests.fixtures.calls import CommandLine
from tests.fixtures.env import usable
from tests.fixtures.flows import database, stackrank
from tests.fixtures.playing import drive
from tests.support.openai_server import Entry, OpenAIServer, call
from tests.support.waiting import wait_for

__all__ = ["database", "stackrank"]
OTHERS = Path(__file__).parents[3] / "deploy" / "examples" / "others.yaml"
SCRIPT = Path(__file__).with_name("mcp_server.py").read_text(encoding="utf-8")
BY_HAND = {"command": ["python3", "-c", SCRIPT]}
TASKS = ("club-ledger", "vat-table")


def _tasks() -> dict[str, tuple[str, int, Entry]]:
    """Statement of a task -> where its fault is, and the call that mends it."""
    tasks: dict[str, tuple[str, int, Entry]] = {}
    for task in BugSuite().tasks():
        if task.id in TASKS:
            fixed = apply_patch(task.files, task.fix).items()
            (path, text), *_ = [(path, text.decode()) for path, text in fixed if task.files.get(path) != text]
            tasks[task.statement.strip()] = (path, task.faults[0].lines[0], call("rewrite", path=path, new_code=text))
    return tasks


def _run(spec: dict[str, Any]) -> int:
    usable("bubblewrap")
    fields = {"benchmark": "bugs", "sandbox": "bubblewrap", "workers": 1, **spec}
    run_id = create_run(Store(connect()), build(check(make_spec(fields, "the test")), print)).id
    drive(run_id)
    return run_id


@pytest.mark.slow
@pytest.mark.exhaustive
@pytest.mark.timeout(900)
def test_a_debugger_that_others_wrote_beside_pdb(stackrank: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model of the script mends both tasks with their debugger, and one with pdb."""
    tasks = _tasks()
    values: list[str] = []

    def answer(body: dict[str, Any]) -> Entry:
        messages, tools = body["messages"], {tool["function"]["name"] for tool in body["tools"]}
        path, line, fix = tasks[next(statement for statement in tasks if statement in messages[1]["content"])]
        turn = sum(message["role"] == "assistant" for message in messages)
        if "pdb" in tools:
            mends = path == next(iter(tasks.values()))[0]
            script = [call("pdb", command=f"b {path}:{line}\nc\np 6 * 7"), fix if mends else call("listdir")]
        else:
            script = [
                call("debugger_set_breakpoint", path=path, line=line),
                call("debugger_launch"),
                call("debugger_evaluate", expression="6 * 7"),
                call("debugger_terminate"),
                fix,
            ]
            values.extend(message["content"] for message in messages[-1:] if '"result": "42"' in str(message))
        return [*script, call("submit")][min(turn, len(script))]

    with OpenAIServer(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        fields = yaml.safe_load(OTHERS.read_text(encoding="utf-8"))
        fields["matrix"] = {"models": ["scripted"], "tools": ["debug", "rewrite+debugger"]}
        run_id = _run({**fields, "tasks": list(TASKS), "attempts": 1})
    rows = queries.episodes(connect(), run_id)
    assert {row["error"] for row in rows} == {""} and len(values) == len(TASKS)
    pair = ("compare", "llm/scripted (debug)", "llm/scripted (rewrite+debugger)", "--run", "others")
    comparison = stackrank(*pair, "--json").json()
    assert (comparison["difference"], comparison["only_second"]) == (0.5, [TASKS[1]])
    sentence = " ".join(stackrank(*pair).out.split())
    assert "llm/scripted (rewrite+debugger)" in sentence and "50" in sentence
    episode_id = next(row["id"] for row in rows if "debugger" in row["tools"])
    steps = queries.steps(connect(), episode_id)
    evaluated = next(step for step in steps if step["tool"] == "debugger_evaluate")
    request, answered = (json.loads(entry["line"]) for entry in evaluated["state"]["spoken"])
    assert request["params"] == {"name": "evaluate", "arguments": {"expression": "6 * 7"}}
    assert answered["id"] == request["id"] and '"42"' in answered["result"]["content"][0]["text"]


LOOK = (
    call("other_echo", text="hello"),
    call("other_write", path="made.txt", text="by others"),
    call("other_die"),
    call("other_echo", text="again"),
    call("submit"),
)


def _look(body: dict[str, Any]) -> Entry:
    return LOOK[min(sum(message["role"] == "assistant" for message in body["messages"]), len(LOOK) - 1)]


@pytest.mark.slow
def test_an_episode_with_a_server_is_replayed_and_exported(
    stackrank: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with OpenAIServer(_look) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        entrant = {"agent": "llm", "model": "scripted", "tools": "rewrite+other"}
        _run({"entrants": [entrant], "mcp": {"other": BY_HAND}, "tasks": ["vat-table"]})
    row = stackrank("trace", "1", "--json").json()
    assert [step["observation"] for step in row["steps"][1:3]] == ["hello", "written"]
    assert "made.txt" in row["steps"][2]["state"]["diff"] and "ended with status 3" in row["steps"][3]["observation"]
    assert stackrank("replay", "1", "--json").json()["replayed"] == "same"
    out = tmp_path / "chat.jsonl"
    assert stackrank("export", "1", "--format", "chat", "--out", str(out)).status == 0
    functions = {
        entry["function"]["name"]: entry["function"] for entry in json.loads(json.loads(out.read_text())["tools"])
    }
    assert functions["other_echo"]["parameters"]["properties"]["text"]["description"] == "Any text."
    assert "rewrite" in functions


@pytest.mark.exhaustive
@pytest.mark.slow
def test_an_answer_that_varies_is_told_apart_from_a_difference(
    stackrank: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a server says may be another thing each time; what it does to the workspace may not."""

    def played(*calls: Entry) -> dict[str, Any]:
        script = [*calls, call("listdir"), call("submit")]

        def answer(body: dict[str, Any]) -> Entry:
            return script[sum(message["role"] == "assistant" for message in body["messages"])]

        with OpenAIServer(answer) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.url)
            monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
            entrant = {"agent": "llm", "model": "scripted", "tools": "listdir,rewrite+other"}
            run_id = _run({"entrants": [entrant], "mcp": {"other": BY_HAND}, "tasks": ["vat-table"]})
        (row,) = queries.episodes(connect(), run_id)
        return stackrank("replay", str(row["id"]), "--json").json()

    varies = played(call("other_clock"), call("other_echo", text="hello"), call("other_clock"))
    assert varies["replayed"] == "same but for 2 answers of MCP servers" and varies["difference"] is None
    assert [statement["step"] for statement in varies["different_answers"]] == [1, 3]
    assert "+it is " in varies["different_answers"][0]["diff"]
    replay = stackrank("replay", "1")
    assert replay.status == 0 and "same but for 2 answers" in replay.out and "step 1 (other_clock)" in replay.out
    assert stackrank("trace", "1", "--json").json()["replayed"] == varies["replayed"]
    wrote = played(call("other_clock"), call("other_clock", path="now.txt"))
    assert wrote["replayed"] == "step 2" and "now.txt" in wrote["difference"]["diff"]


@pytest.mark.exhaustive
@pytest.mark.slow
def test_an_episode_with_a_server_is_killed_and_gone_on_with(
    stackrank: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its server is started anew, and what it was asked is asked again."""
    usable("bubblewrap")
    script = [*LOOK[:2], call("listdir"), LOOK[3], call("view", path="made.txt"), call("submit")]
    fields = {"benchmark": "bugs", "sandbox": "bubblewrap", "workers": 1, "tasks": ["vat-table"]}
    entrant = {"agent": "llm", "model": "scripted", "tools": "view,listdir,rewrite+other"}

    def answer(body: dict[str, Any]) -> Entry:
        return script[sum(message["role"] == "assistant" for message in body["messages"])].with_(delay_s=0.2)

    with OpenAIServer(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        spec = make_spec({**fields, "entrants": [entrant], "mcp": {"other": BY_HAND}}, "the test")
        run_id = create_run(Store(connect()), build(check(spec), print)).id
        code = f"from tests.fixtures.playing import drive; drive({run_id})"
        process = subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parents[3])
        wait_for(lambda: "listdir" in [step["tool"] for step in queries.steps(connect(), 1)], "the middle")
        process.kill()
        process.wait()
        assert drive(run_id) == ""
        assert len(script) <= server.asked <= len(script) + 1, "what was answered is not paid for twice"
    document = stackrank("trace", "1", "--json").json()
    tools = ["", "other_echo", "other_write", "listdir", "other_echo", "view", "submit"]
    assert [step["tool"] for step in document["steps"]] == tools
    assert document["error"] == "" and "by others" in document["steps"][5]["observation"]
    assert stackrank("replay", "1", "--json").json()["replayed"] == "same"


def _offer(**changes: Any) -> Offer:
    echo = {
        "name": "echo",
        "description": "Says it again.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "text": {"type": ["string", "null"]},
                "times": {"type": "integer", "description": "How often."},
                "any": True,
            },
            "required": ["text"],
        },
    }
    return Offer("other", ToolServer(command=["x"]), "by-hand 1", ({**echo, **changes},))


def test_the_tools_of_a_server_reach_a_model_as_they_are() -> None:
    tools = tool_set("view+other").with_offers([_offer()])
    described = FunctionCalling([tools.find(name) for name in tools.tools]).describe_tools()[-1]
    assert described == {
        "name": "other_echo",
        "description": "Says it again.",
        "parameters": _offer().tools[0]["inputSchema"],
    }


def test_models_without_tool_calling_see_them_too() -> None:
    tools = tool_set("view+other").with_offers([_offer()])
    syntax = FencedText([tools.find(name) for name in tools.tools])
    for line in ("other_echo text [times] [any]", "Says it again.", "times: How often.", 'text: {"type": ["string'):
        assert line in syntax.write_help()
    reply = '```action\nother_echo "a b" 3 any=\'{"K": 1}\'\n```'
    (only,) = syntax.find_calls(Reply(reply))
    assert syntax.read_action(only)[0].arguments == {"text": "a b", "times": 3, "any": {"K": 1}}


@pytest.mark.parametrize(
    "changes", [{"name": "echo2"}, {"description": "Else."}, {"inputSchema": {"type": "object"}}], ids=str
)
def test_what_a_server_offers_is_part_of_the_entrant(changes: dict[str, Any]) -> None:
    spec = EntrantSpec(agent="llm", model="scripted", tools="view+other")
    servers = {"other": ToolServer(command=["x"])}
    entrant = make_entrant(spec, servers, [_offer()])
    assert make_entrant(spec, servers, [_offer()]).digest == entrant.digest
    assert make_entrant(spec, servers, [_offer(**changes)]).digest != entrant.digest
    assert make_entrant(spec, {"other": ToolServer(command=["y"])}, [_offer()]).digest != entrant.digest
    assert entrant.tool_versions["other_echo"] == "by-hand 1"


def _entrant(tools: str, **mcp: Any) -> dict[str, Any]:
    return {"entrants": [{"agent": "llm", "model": "scripted", "tools": tools}], "mcp": mcp, "tasks": ["vat-table"]}


def test_what_varies_in_answers_is_left_out_and_part_of_the_entrant() -> None:
    server = ToolServer(command=["x"], varies=[r"(?<=port )\d+", "pid=[0-9]+"])
    assert server.mask_varying("port 4711, pid=1 and 2") == "port ..., ... and 2"
    spec = EntrantSpec(agent="llm", model="scripted", tools="view+other")
    constant = {"other": ToolServer(command=["x"])}
    assert make_entrant(spec, constant, [_offer()]).digest != make_entrant(spec, {"other": server}, [_offer()]).digest


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        *(
            (_entrant("debug+other", other={**BY_HAND, "varies": [pattern]}), r"mcp.other.varies.*is not a regular exp")
            for pattern in ("(", "a{99999999999}", f"a{{{'9' * 5000}}}", "(" * 5000 + ")" * 5000)
        ),
        (_entrant("debug+other"), "name the MCP server 'other', which the run does not describe: put it under `mcp:`"),
        (_entrant("debug+othr", other=BY_HAND), "which the run does not describe.*or choose other"),
        (_entrant("debug+other", other={"comand": []}), "unknown field mcp.other.comand: did you mean command"),
        (_entrant("debug+other", other={"command": []}), r"mcp.other.command"),
        (_entrant("debug+o.o", **{"o.o": BY_HAND}), "needs a name of at most 32 letters, digits, - and _"),
        (
            _entrant("debug+other", other={"command": ["nope"]}),
            "cannot be started: nope: No such file.*correct it under",
        ),
        (_entrant("debug+other", other={**BY_HAND, "env": {"MODE": "dies"}}), "no module named nothing.*correct it"),
    ],
)
def test_a_server_that_cannot_be_used_is_said_before_the_run(spec: dict[str, Any], sentence: str) -> None:
    usable("bubblewrap")
    with pytest.raises(SpecError, match=sentence):
        build(check(make_spec({"benchmark": "bugs", "sandbox": "bubblewrap", **spec}, "the test")), print)


@pytest.mark.exhaustive
@pytest.mark.slow
def test_a_server_that_cannot_be_installed_is_said_before_the_run() -> None:
    usable("bubblewrap")
    server = {**BY_HAND, "requirements": ["no-such-package-at-all==9.9"]}
    spec = {"benchmark": "bugs", "sandbox": "bubblewrap", **_entrant("debug+other", other=server)}
    with pytest.raises(SpecError, match=r"the MCP server other cannot be installed: .*no-such-package-at-all"):
        build(check(make_spec(spec, "the test")), print)


def test_an_episode_whose_server_differs_is_unresolved_and_the_run_goes_on(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One more tool is offered where the workspace has a file that only the second task has."""
    script = 'test -e TASK && export MODE=more; exec python3 -c "$SCRIPT"'
    tasks = {task.id: task for task in BugSuite().tasks() if task.id in TASKS}
    only_path = next(path for path in tasks[TASKS[1]].files if path not in tasks[TASKS[0]].files)
    command = ["sh", "-c", script.replace("TASK", only_path)]
    server = {"command": command, "env": {"SCRIPT": SCRIPT}}
    entrants = [{"agent": "llm", "model": "scripted", "tools": "rewrite+other"}]
    run_id = _run({"entrants": entrants, "mcp": {"other": server}, "tasks": list(TASKS), "steps": 2})
    rows = {row["task"]: row for row in queries.episodes(connect(), run_id)}
    assert {row["verdict"] for row in rows.values()} == {"unresolved"}
    differing = queries.episode(connect(), rows[TASKS[1]]["id"])
    assert differing["stop_reason"] == "sandbox_lost" and "more is new" in str(differing["score"]["notes"])

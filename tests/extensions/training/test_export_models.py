"""What models said and were told, exported: three agents, three APIs, against what the endpoint received."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from atif import Trajectory

from stackrank.agents.episode.protocol import Agent
from stackrank.agents.episode.step import Step
from stackrank.agents.llm import LlmAgent
from stackrank.agents.llm.endpoints.recorded_requests import recorded_requests
from stackrank.agents.llm.seeker import Seeker
from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.writes.store import Store
from stackrank.env.actions import Action
from stackrank.extensions.training.exports.briefs import _briefs, _limits
from stackrank.extensions.training.exports.conversations import conversation, segments
from stackrank.extensions.training.exports.turns import conversations
from stackrank.flows.runs.afterwards.export.exporter import exporter_names, find_exporter
from stackrank.flows.runs.afterwards.export.file_writers import write_parquet
from stackrank.flows.runs.afterwards.export.source import ExportSource
from stackrank.flows.runs.playing.trajectories import to_row
from tests.agents.llm.test_verbatim import APIS, serve
from tests.fixtures.agents import CART, Scripted, play_real
from tests.support.episodes import create_episodes, start
from tests.support.openai_server import Entry, OpenAIServer, ScriptedReply, call, calls, says

pytestmark = pytest.mark.slow  # by its time

FIX = call("rewrite", path="cart.py", new_code="    return result", start=5)
PRICE = {"price": {"input": 1.0, "output": 2.0}}


def kept(agent: Agent, tools: str = "debug") -> tuple[ExportSource, list[Step]]:
    """The run of one episode, played in a sandbox and stored."""
    outcome, steps = play_real(CART, agent, tools)
    store = Store(connect())
    task = {"name": CART.id, "digest": CART.digest, "statement": CART.statement, "files": {"a.py": "x"}}
    benchmark = store.save_benchmark(name="carts", digest="1", license="MIT", source="here", tasks=[task])
    entrant = store.save_entrant(
        digest="e", name="e", agent="llm", agent_version="3", model="m", tools=tools, tool_list=["eval"]
    )
    run = store.create_run(name="kept", benchmark_id=benchmark.id, spec={"steps": 50})
    (episode,) = create_episodes(store, run, [(benchmark.task_ids[CART.id], entrant, 1)], "bubblewrap").values()
    start(store, episode)
    for step in steps:
        store.add_step(to_row(episode, step))
    assert outcome.score is not None
    verdict = "resolved" if outcome.score.resolved else "unresolved"
    total = {"tokens_in": outcome.usage.tokens_in, "tokens_out": outcome.usage.tokens_out}
    store.finish_episode(episode, verdict=verdict, stop_reason=outcome.stop_reason, steps=outcome.steps, **total)
    return ExportSource(store.engine, queries.run(store.engine, run), {}), steps


def exported(source: ExportSource, format: str) -> list[dict[str, Any]]:
    return list(find_exporter(format).records(source))


def told(steps: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """The messages of a conversation that a trajectory holds: who, and what."""
    messages = []
    for step in steps:
        messages.append(({"agent": "assistant"}.get(step["source"], step["source"]), step["message"]))
        for result in step.get("observation", {}).get("results", ()):
            if result.get("extra", {}).get("told", True) and "content" in result:
                messages.append(("tool" if "source_call_id" in result else "user", result["content"]))
    return messages


def received(request: dict[str, Any]) -> list[tuple[str, str]]:
    """The same of a request of any API."""
    messages = [("system", block["text"]) for block in request.get("system", ())]
    for item in request.get("messages") or request["input"]:
        kind, content = item.get("type"), item.get("content")
        if kind == "function_call_output":
            messages.append(("tool", item["output"]))
        elif kind == "function_call":
            messages.append(("assistant", ""))
        elif kind == "message":
            messages.append(("assistant", content[0]["text"]))
        elif isinstance(content, list):
            for block in content:
                if block["type"] == "tool_result":
                    messages.append(("tool", block["content"]))
                elif block["type"] == "text":
                    messages.append((item["role"], block["text"]))
                elif block["type"] == "tool_use":
                    messages.append(("assistant", ""))
        elif kind != "reasoning":
            messages.append((item["role"], content or ""))
    # An answer with words and calls is one message in one API, and several parts in the others.
    merged: list[tuple[str, str]] = []
    for role, text in messages:
        if merged and role == "assistant" == merged[-1][0]:
            merged[-1] = (role, merged[-1][1] + text)
        else:
            merged.append((role, text))
    return merged


def by_model(server: OpenAIServer, model: str) -> list[dict[str, Any]]:
    return [record for record in server.requests if record["model"] == model]


def scripts(**by_name: list[Entry]) -> Any:
    scripted = {name: iter(entries) for name, entries in by_name.items()}
    return lambda request: next(scripted[request["model"]], call("submit"))


@pytest.mark.parametrize("api", APIS)
@pytest.mark.usefixtures("database")
def test_main_and_investigator(monkeypatch: pytest.MonkeyPatch, api: str) -> None:
    look = calls(call("view", path="cart.py"), call("eval")).with_(content="Let me see.", reasoning="Hm é.")
    ask = call("investigate", question="Why?").with_(reasoning="Who knows?")
    large = [look, says("No call.", reasoning="Oh."), ask, FIX, call("submit").with_(content="Done.")]
    small = [call("pdb", command="b cart.py:5\nc"), call("answer", text="It subtracts one.")]
    config = {"api": api, "retry_s": 1.0, "investigator": {"model": "small"}}
    with serve(monkeypatch, scripts(large=large, small=small)) as server:
        source, steps = kept(LlmAgent(model="large", config=config), "investigate")
    requests = exported(source, "requests")
    assert [json.dumps(entry["request"]) for entry in requests] == [json.dumps(entry) for entry in server.requests]
    assert [entry["conversation"] for entry in requests] == [*["main"] * 3, *["investigator 1"] * 2, *["main"] * 2]
    main, investigation = exported(source, "chat")
    if api == "chat":
        for record, model in ((main, "large"), (investigation, "small")):
            sent = by_model(server, model)[-1]
            assert [message | message.pop("extra", {}) for message in record["messages"][:-1]] == sent["messages"]
            assert record["tools"] == sent["tools"]
    assert (
        investigation["metadata"]["investigation"]
        == steps.index(next(s for s in steps if s.action and s.action.tool == "pdb")) - 1
    )
    thoughts = [main["messages"][entry["message"]].get("reasoning_content") for entry in main["answers"]]
    assert thoughts == ["Hm é.", "Oh.", "Who knows?", None, None]
    assert [len(entry.get("tool_calls", ())) for entry in main["messages"] if entry["role"] == "assistant"] == [
        2,
        0,
        1,
        1,
        1,
    ]
    assert main["messages"][-1]["content"] == "Done."

    (document,) = exported(source, "atif")
    Trajectory.model_validate(document)
    (subagent,) = document["subagent_trajectories"]
    for trajectory, model in ((document, "large"), (subagent, "small")):
        *messages, _ = told(trajectory["steps"])
        assert messages == received(by_model(server, model)[-1]), model
    refers = [
        result["subagent_trajectory_ref"][0]["trajectory_id"]
        for step in document["steps"]
        for result in step.get("observation", {}).get("results", ())
        if "subagent_trajectory_ref" in result
    ]
    assert refers == [subagent["trajectory_id"]]
    last = document["steps"][-1]
    assert last["observation"]["results"][0]["content"] == steps[-1].observation.text
    assert last["metrics"]["prompt_tokens"] == 100 and document["final_metrics"]["total_prompt_tokens"] == 700
    assert document["extra"]["verdict"] == "resolved" and document["extra"]["reward"] == 1.0
    assert {entry["function"]["name"] for entry in subagent["agent"]["tool_definitions"]} >= {"pdb", "answer"}


@pytest.mark.parametrize("syntax", ["tools", "text"])
@pytest.mark.usefixtures("database")
def test_briefs_with_what_came_of_them(monkeypatch: pytest.MonkeyPatch, syntax: str) -> None:
    brief = call("brief", files="cart.py", text="Look at line 5.")
    refused = call("brief", files="", text="I do not know.")
    repeated_brief = call("brief", files="cart.py:1-3, cart.py;", text="It is 5.")
    small: list[Entry] = [call("eval"), refused, brief, call("view", path="cart.py"), repeated_brief]
    large: list[Entry] = [call("rewrite", path="cart.py", new_code="    return 0", start=5), call("eval")]
    large += [call("ask", question="And now?"), FIX, call("submit")]
    if syntax == "text":
        small, large = [_as_text(record) for record in small], [_as_text(record) for record in large]
    config = {"seeker_model": "small", "retry_s": 1.0, "seeker": PRICE, **PRICE, "syntax": syntax}
    with serve(monkeypatch, scripts(small=small, large=large)) as server:
        source, _ = kept(Seeker(model="large", config=config))
    assert {record["conversation"] for record in exported(source, "requests")} == {"seeker", "coder"}
    first, second = exported(source, "seeker")
    assert [(record["brief"], record["files"], record["question"]) for record in (first, second)] == [
        ("Look at line 5.", ["cart.py"], None),
        ("It is 5.", ["cart.py:1-3", "cart.py"], "And now?"),
    ]
    assert [
        (record["led_to_fix"], record["resolved"], record["edits"], record["read"]) for record in (first, second)
    ] == [
        (False, True, 1, True),
        (True, True, 1, True),
    ]
    assert (first["tests_passed"], second["tests_passed"]) != (None, None)
    price = (100 * 1 + 10 * 2) / 1e6
    question_counts = [(record["seeker"]["questions"], record["coder"]["questions"]) for record in (first, second)]
    assert question_counts == [(3, 3), (2, 2)]
    assert second["coder"]["cost_usd"] == pytest.approx(2 * price)
    sent = by_model(server, "small")
    assert first["messages"][:-1] == sent[2]["messages"] and second["messages"][:-1] == sent[4]["messages"]
    (document,) = exported(source, "atif")
    Trajectory.model_validate(document)
    assert [record["agent"]["extra"]["conversation"] for record in (document, *document["subagent_trajectories"])] == [
        "seeker",
        "coder",
    ]


def _as_text(reply: Any) -> Entry:
    ((name, arguments),) = reply.calls
    return says(f"```action\n{json.dumps({'tool': name, 'arguments': json.loads(arguments)})}\n```")


@pytest.mark.parametrize("api", APIS)
@pytest.mark.usefixtures("database")
def test_what_no_file_can_hold(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, api: str) -> None:
    """Half of a surrogate pair, a NUL, no number: as escapes in arguments they are sound text until they are read."""
    arguments = '{"path": "a\\ud800\\u0000\\u001b[2Jb", "start": NaN}'
    odd = ScriptedReply(calls=(("view", arguments),), reasoning="\0\ud800é" * 9)
    with serve(monkeypatch, [odd, FIX, call("submit")]):
        source, _ = kept(LlmAgent(model="m", config={"api": api, **PRICE}))
    for name in exporter_names():
        exporter = find_exporter(name)
        for record in exporter.records(source):
            json.dumps(record, ensure_ascii=False, allow_nan=False).encode()
        write_parquet(tmp_path / name, exporter.typed_records(source), exporter.columns)


@pytest.mark.usefixtures("database")
def test_an_episode_without_a_model() -> None:
    fix = Action("rewrite", {"path": "cart.py", "new_code": "    return result", "start": 5})
    source, steps = kept(Scripted([fix, Action("submit", {})]))
    (document,) = exported(source, "atif")
    Trajectory.model_validate(document)
    assert [record["llm_call_count"] for record in document["steps"][1:]] == [0] * (len(steps) - 1)
    assert document["extra"]["reward"] == 1.0 and not exported(source, "seeker") and not exported(source, "requests")
    assert exported(source, "chat")[0]["metadata"]["source"] == "rendered"


SAYS: dict[str, Any] = {
    "chat": lambda text: {"choices": [{"message": {"role": "assistant", "content": text}}]},
    "messages": lambda text: {
        "role": "assistant",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
    },
    "responses": lambda text: {
        "status": "completed",
        "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}],
    },
}


def wire(api: str, role: str, text: str) -> dict[str, Any]:
    """A message as a request has it."""
    kind = "output_text" if role == "assistant" else "input_text"
    parts = {"responses": [{"type": kind, "text": text}], "messages": [{"type": "text", "text": text}]}
    return {"role": role, "content": parts.get(api, text)}


def asked(api: str, *rounds: tuple[list[dict[str, Any]], dict[str, Any]]) -> list[dict[str, Any]]:
    """Steps with one question each: what was new in it, and the answer."""
    usage = {"tokens_in": 1, "tokens_out": 1, "tokens_cached": 0, "cost_usd": None}
    shared: dict[str, Any] = {"model": "m", "usage": usage, "conversation": "", "reasoning": ""}
    return [
        {
            "index": number,
            "investigation": None,
            "exchanges": [{**shared, "request": {"messages": new}, "answer": answer}],
        }
        for number, (new, answer) in enumerate(rounds, 1)
    ]


def told_by(steps: list[dict[str, Any]]) -> tuple[list[list[tuple[str, str]]], list[tuple[list[str], str]]]:
    """The records of `chat`, each message as (role, text), `!` after the answers; and the turns."""
    records = []
    for segment in segments(steps):
        record = conversation(segment, {})
        places = {entry["message"] for entry in record["answers"]}
        messages = [
            (entry["role"], (entry["content"] or "") + "!" * (n in places))
            for n, entry in enumerate(record["messages"])
        ]
        assert all(record["messages"][place]["role"] == "assistant" for place in places) and len(places) == len(segment)
        records.append(messages)
    turns = [
        ([message["content"] for message in turn.incoming], turn.answer["content"] or "")
        for entry in conversations(steps).values()
        for turn in entry
    ]
    return records, turns


@pytest.mark.parametrize("api", APIS)
def test_a_question_that_is_asked_again(api: str) -> None:
    """A program that plays may throw an answer away and ask once more."""
    say, user = SAYS[api], wire(api, "user", "u")
    message, answer = wire(api, "user", "v"), wire(api, "assistant", "b")
    steps = asked(api, ([user], say("a")), ([], say("b")), ([answer, message], say("c")))
    records, turns = told_by(steps)
    assert records == [
        [("user", "u"), ("assistant", "a!")],
        [("user", "u"), ("assistant", "b!"), ("user", "v"), ("assistant", "c!")],
    ]
    assert turns == [(["u"], "a"), ([], "b"), (["v"], "c")]
    records, turns = told_by(asked(api, ([user], say("a")), ([message], say("b"))))
    assert records[1] == [("user", "u"), ("user", "v"), ("assistant", "b!")]
    assert [answer for _, answer in turns] == ["a", "b"] and turns[1][0][-1] == "v"


@pytest.mark.parametrize("api", APIS)
def test_two_messages_of_the_model_in_a_row(api: str) -> None:
    say = SAYS[api]
    new = [wire(api, "assistant", "a"), wire(api, "assistant", "and"), wire(api, "user", "v")]
    records, turns = told_by(asked(api, ([wire(api, "user", "u")], say("a")), (new, say("b"))))
    assert len(records) == 1 and records[0][1][1].startswith("a") and records[0][-1] == ("assistant", "b!")
    assert turns[0][1].startswith("a") and turns[1] == (["v"], "b")


def test_an_answer_of_the_providers_own_parts_is_an_empty_message() -> None:
    search = {"type": "web_search_call", "id": "w", "status": "completed"}
    only = {"status": "completed", "output": [search]}
    user, message = (wire("responses", "user", text) for text in "uv")
    records, turns = told_by(asked("responses", ([user], only), ([search, message], only)))
    assert records == [[("user", "u"), ("assistant", "!")], [("user", "u"), ("user", "v"), ("assistant", "!")]]
    assert turns == [(["u"], ""), (["v"], "")]


def test_a_brief_that_was_refused_at_the_very_end_is_none() -> None:
    arguments: list[dict[str, str]] = [{"text": "t"}, {"files": "a.py"}, {"files": "a b c", "text": "t"}]
    for brief_arguments in arguments:
        calling = {
            "id": "1",
            "type": "function",
            "function": {"name": "brief", "arguments": json.dumps(brief_arguments)},
        }
        answer = {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [calling]}}]}
        steps = asked("chat", ([{"role": "user", "content": "u"}], answer))
        steps[0]["exchanges"][0]["conversation"] = "seeker"
        steps[0]["exchanges"][0]["request"]["tools"] = [{"type": "function", "function": {"name": "brief"}}]
        limits = {"brief_files": 2}
        assert not list(_briefs(list(recorded_requests(steps)), _limits(limits))), brief_arguments
    assert list(_briefs(list(recorded_requests(steps)), _limits({"brief_files": 3, "of another version": 1})))

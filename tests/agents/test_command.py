"""`command`: third-party programs in real sandboxes, and their requests to the model."""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import yaml

from stackrank.agents.command import CommandAgent
from stackrank.agents.command.agent import MINIMAL
from stackrank.agents.episode.loop import Budget, Outcome, play
from stackrank.agents.episode.protocol import SetupError
from stackrank.agents.episode.step import Step
from stackrank.agents.llm.endpoints.recorded_requests import recorded_requests
from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.writes.store import Store
from stackrank.env.actions import Action
from stackrank.env.benchmarks.bug_suite import BugSuite
from stackrank.env.debug_env import DebugEnv
from stackrank.env.sandbox.base import Backend
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.tools import tool_set
from stackrank.flows.runs.preparing.entrants import make_entrant
from stackrank.flows.runs.preparing.prepared_run import build, check
from stackrank.flows.runs.preparing.stored_run import create_run
from stackrank.flows.runs.specification.spec import EntrantSpec, SpecError, make_spec
from stackrank.terms import StopReason
from tests.fixtures.agents import CART
from tests.fixtures.calls import CommandLine
from tests.fixtures.env import any_backend, usable
from tests.fixtures.flows import database, stackrank
from tests.fixtures.playing import drive
from tests.support.openai_server import Entry, OpenAIServer, call, says

pytestmark = pytest.mark.slow  # by its time

__all__ = ["any_backend", "database", "stackrank"]
KEY = "sk-of-the-operator-0123456789"
MEND = call("bash", command="sed -i 's/result - 1/result/' cart.py && env && ls \"$AGENT_DIR\"")
ASKED = {"type": "text", "text": "Why?", "cache_control": {"type": "ephemeral"}}
ASK = """
import json, os, sys, urllib.error, urllib.request
def ask(path="/chat/completions", **body):
    body = {"model": "mine", "messages": [{"role": "user", "content": "Why?"}], **body}
    url = os.environ["OPENAI_BASE_URL"] + path
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        return urllib.request.urlopen(request).read().decode()
    except urllib.error.HTTPError as error:
        return "%d %s" % (error.code, error.read().decode())
"""


def played(
    script: list[Entry],
    config: dict[str, Any] | None = None,
    kind: Backend | None = None,
    past: tuple[Step, ...] = (),
    **budget: Any,
) -> tuple[Outcome, list[Step], OpenAIServer]:
    """One episode on the cart, whose `total` is one too low."""
    steps: list[Step] = list(past)
    backend = kind or usable("bubblewrap")
    with OpenAIServer(script, key=KEY) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", KEY)
        patch.setenv("OPENAI_BASE_URL", server.url)
        patch.setenv("ANTHROPIC_API_KEY", KEY)
        patch.setenv("ANTHROPIC_BASE_URL", server.url.removesuffix("/v1"))
        agent = CommandAgent(model="scripted", config={"price": {"input": 1, "output": 1}, **(config or {})})
        with DebugEnv(CART, tool_set("command"), lambda spec: Sandbox(backend, spec)) as env:
            outcome = play(env, agent, budget=Budget(**budget), record=steps.append, past=past)
    return outcome, steps, server


def own(code: str) -> dict[str, Any]:
    """A program of these lines."""
    return {"command": '"$TASK_PYTHON" "$AGENT_DIR/mine.py"', "files": {"mine.py": ASK + code}}


def test_the_default_program_fixes_a_bug_in_each_sandbox(any_backend: Backend) -> None:
    outcome, steps, server = played([MEND, says("Looks right."), call("submit")], kind=any_backend)
    assert outcome.score is not None and outcome.score.resolved
    assert outcome.stop_reason is StopReason.SUBMITTED
    assert [step.action.tool for step in steps if step.action] == ["program"] * 3 + ["submit"]
    assert "-    return result - 1" in steps[2].observation.state.get("diff", "")
    # What is recorded is what went over the wire, with the operator's key and without the program's.
    assert {headers["authorization"] for headers in server.headers} == {f"Bearer {KEY}"}
    first, second = (step.exchanges[0] for step in steps if step.exchanges)
    assert first.request == server.requests[0] and first.request["model"] == "scripted"
    assert first.request["messages"] + second.request["messages"] == server.requests[1]["messages"]
    assert "tools" in first.request and "tools" not in second.request
    assert (outcome.usage.tokens_in, outcome.usage.tokens_out) == (200, 20)
    assert outcome.usage.cost_usd == pytest.approx(220 / 1e6)
    assert "agent.py" in steps[2].observation.text and "task.md" in steps[2].observation.text
    assert KEY not in json.dumps([str(step) for step in steps])


def test_an_interrupted_episode_is_repeated_without_new_requests() -> None:
    script = [MEND, call("bash", command="ls"), says("Done.")]
    _, steps, _ = played(script)
    outcome, resumed, server = played(script[2:], past=tuple(steps[:4]))
    assert outcome.score is not None and outcome.score.resolved and server.asked == 1
    assert [step.observation.text for step in resumed] == [step.observation.text for step in steps]
    assert server.requests[0]["messages"][-1]["role"] == "tool"  # all of the conversation


@pytest.mark.parametrize(
    ("budget", "reason"), [({"steps": 2}, StopReason.STEP_LIMIT), ({"tokens": 100}, StopReason.TOKEN_LIMIT)]
)
def test_limits_end_the_program(budget: dict[str, Any], reason: StopReason) -> None:
    outcome, steps, server = played([MEND], **budget)
    assert outcome.stop_reason is reason and outcome.score is not None and outcome.score.resolved
    assert len(steps) == 3 and server.asked == 1


def test_the_time_limit_ends_a_program_without_requests() -> None:
    outcome, _, server = played([MEND], {"command": "sleep 3600"}, wall_s=0.5)
    assert outcome.stop_reason is StopReason.TIME_LIMIT and server.asked == 0


def test_a_failing_program_gives_up() -> None:
    outcome, steps, _ = played([MEND], {"command": "echo no such model >&2; exit 3"})
    assert outcome.stop_reason is StopReason.AGENT_GAVE_UP and outcome.score is not None
    assert "the program ended with status 3: no such model" in str(outcome.score.notes)
    assert steps[-1].observation.text == "no such model\n[the program ended with status 3]"


def test_streams_other_conversations_and_other_addresses() -> None:
    code = """
print(ask("/embeddings"))
print(ask(stream=True, stream_options={"include_usage": True}))
print(ask(messages=[{"role": "user", "content": "And this?"}]))
print(ask(messages="no list"))
"""
    outcome, steps, server = played([says("Because.")], own(code))
    last = steps[-2].observation.text
    assert "404" in last and "unknown path: send requests to" in last
    assert "data: [DONE]" in last and '"usage"' in last and "cau" in last
    assert server.asked == 2 and "stream" not in server.requests[0]  # the pieces are made here
    assert [exchange.conversation for step in steps for exchange in step.exchanges] == ["", "1"]
    exchanges = [exchange for step in steps for exchange in step.exchanges]
    assert [exchange.request["messages"] for exchange in exchanges] == [
        exchange["messages"] for exchange in server.requests
    ]
    assert outcome.stop_reason is StopReason.SUBMITTED


def test_a_program_may_use_the_api_of_any_provider() -> None:
    code = """
def post(path, headers, **body):
    root = os.environ["ANTHROPIC_BASE_URL"]
    data = json.dumps({"model": "mine", **body}).encode()
    return urllib.request.urlopen(urllib.request.Request(root + path, data, headers)).read().decode()
marked = {"type": "text", "text": "Why?", "cache_control": {"type": "ephemeral"}}
messages = {"messages": [{"role": "user", "content": [marked]}], "system": "Be brief.", "max_tokens": 9}
beta = {"Content-Type": "application/json", "anthropic-beta": "new-2026", "Cookie": "mine"}
print(post("/v1/messages/count_tokens", {}, **messages))
print(post("/v1/messages?beta=true", beta, **messages, stream=True))
print(post("/v1/responses", {}, input="And this?", store=True))
print(urllib.request.urlopen(urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"], method="HEAD")).status)
"""
    outcome, steps, server = played([says("Because.")], own(code))
    last = steps[-2].observation.text
    assert outcome.stop_reason is StopReason.SUBMITTED and outcome.usage.cost_usd == pytest.approx(220 / 1e6), last
    assert '"input_tokens": ' in last and "message_stop" in last and '"output_text"' in last and "\n200\n" in last
    assert server.paths == ["/v1/messages", "/v1/responses"], "the endpoint gets no request for an estimate"
    assert server.headers[0]["anthropic-beta"] == "new-2026" and "cookie" not in server.headers[0]
    assert KEY not in json.dumps([str(step) for step in steps])
    requests = list(
        recorded_requests([{"index": n, "exchanges": [asdict(e) for e in s.exchanges]} for n, s in enumerate(steps)])
    )
    assert [request.body for request in requests] == server.requests
    assert server.requests[0]["messages"] == [{"role": "user", "content": [ASKED]}]
    assert (server.requests[0]["max_tokens"], server.requests[1]["store"]) == (9, True), "what the program says holds"
    assert [request.full_messages[0]["role"] for request in requests] == ["system", "user"]


def test_processes_of_a_program_end_with_it() -> None:
    code = "import subprocess\nsubprocess.Popen(['sleep', '3600'], stdout=subprocess.DEVNULL, start_new_session=True)"
    backend = usable("bubblewrap")
    with DebugEnv(CART, tool_set("program,bash"), lambda spec: Sandbox(backend, spec)) as env:
        env.reset()
        start = {"command": "python3 $AGENT_DIR/a.py", "files": {"a.py": code}}
        observation, *_ = env.step(Action("program", {"start": start}))
        assert observation.text == "[the program ended with status 0]"
        observation, *_ = env.step(Action("bash", {"command": "ls /proc | grep -c '^[0-9]'; cat /proc/*/comm"}))
        assert "sleep" not in observation.text
        observation, *_ = env.step(Action("program", {}))
        assert not observation.ok and "start one" in observation.text


def test_the_identity_of_a_command_entrant(tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    script.write_text("print(1)")

    def entrant(**fields: Any) -> Any:
        spec = make_spec({"entrants": [{"agent": "command", "model": "scripted", **fields}]}, "the test")
        return make_entrant(spec.entrants[0])

    config = {"command": "python3 $AGENT_DIR/mine.py", "files": {"mine.py_file": str(script)}}
    unconfigured, mine = entrant(), entrant(config=config)
    assert unconfigured.tools.name == "command" and unconfigured.spec.label == "command/scripted (command)"
    script.write_text("print(2)")
    changed = entrant(config=config)
    assert len({unconfigured.digest, mine.digest, changed.digest}) == 3
    assert mine.spec.config["files"] == {"mine.py": "print(1)"}  # others do not have the file
    needy = entrant(config={**config, "requirements": ["iniconfig==2.0.0"]})
    assert [prefix.requirements for prefix in needy.tools.prefixes] == [("iniconfig==2.0.0",)]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"tools": "debug"}, "has its own tools"),
        ({"model": ""}, "needs a model"),
        ({"config": {"files": {"a": "b"}}}, "no `command`"),
        ({"config": {"command": "x", "files": {"../a": "b"}}}, "cannot be the name of a file"),
        ({"config": {"command": "x", "files": {"a_file": "/no/such"}}}, "files.a_file: /no/such cannot be read"),
        ({"config": {"command": "x", "env": {"OPENAI_API_KEY": "sk"}}}, "looks like a secret"),
        ({"config": {"comand": "x"}}, "invalid at comand"),
    ],
)
def test_bad_configurations_are_one_sentence(fields: dict[str, Any], message: str) -> None:
    with pytest.raises((SetupError, SpecError), match=message) as error:
        spec = make_spec({"entrants": [{"agent": "command", "model": "scripted", **fields}]}, "the test")
        make_entrant(EntrantSpec.model_validate(spec.entrants[0].model_dump()))
    assert "\n" not in str(error.value)


def test_the_default_program_runs_on_old_pythons() -> None:
    ast.parse(MINIMAL.read_text(encoding="utf-8"), feature_version=(3, 8))


def example(name: str) -> dict[str, Any]:
    """The guide's specification of this entrant."""
    guide = (Path(__file__).parents[2] / "docs" / "guide" / "other-agents.md").read_text(encoding="utf-8")
    specs = [yaml.safe_load(snippet) for snippet in re.findall(r"```yaml\n(benchmark:.*?)```", guide, re.DOTALL)]
    return next(snippet for snippet in specs if snippet["entrants"][0]["name"] == name)


OVER = call("bash", command="echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")


def scripted_agent(fix_command: str) -> Callable[[dict[str, Any]], Entry]:
    """A command that fixes the bug, through the tool that each program has, and then a last message."""

    def answer(request: dict[str, Any]) -> Entry:
        tools = {tool.get("name") or tool.get("function", {}).get("name") for tool in request.get("tools", ())}
        conversation = json.dumps(request.get("messages", request.get("input")))
        has_result = "tool_result" in conversation or "_output" in conversation or '"tool"' in conversation
        if "bash" in tools:
            return OVER if has_result else call("bash", command=fix_command)
        if has_result or not tools:
            return says("Done.")
        return call("Bash", command=fix_command) if "Bash" in tools else call("exec_command", cmd=fix_command)

    return answer


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mini-swe-agent", "claude-code", "codex"])
def test_third_party_programs_fix_a_bug_as_the_guide_says(
    name: str, stackrank: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not os.environ.get("STACKRANK_TEST_PROGRAMS"):
        pytest.skip("it downloads some hundred megabytes: STACKRANK_TEST_PROGRAMS=1 runs it")
    usable("bubblewrap")
    task = next(task for task in BugSuite().tasks() if task.id == "vat-table")
    patch = f"cat > /tmp/fix.patch <<'EOF'\n{task.fix}EOF\npatch -p1 < /tmp/fix.patch"
    with OpenAIServer(scripted_agent(patch), key=KEY) as server:
        for provider, url in (("OPENAI", server.url), ("ANTHROPIC", server.url.removesuffix("/v1"))):
            monkeypatch.setenv(f"{provider}_API_KEY", KEY)
            monkeypatch.setenv(f"{provider}_BASE_URL", url)
        fields = {**example(name), "sandbox": "bubblewrap", "tasks": [task.id], "workers": 1}
        drive(create_run(Store(connect()), build(check(make_spec(fields, "the test")), print)).id)
    row = queries.episode(connect(), 1)
    assert (row["verdict"], row["stop_reason"], row["entrant"]) == ("resolved", "submitted", name), row
    assert (server.asked, row["tokens_in"], row["steps"]) == (2, 200, 4)
    if name != "codex":  # it gives what its commands print a number by chance
        assert "same: all" in stackrank("replay", "1").out

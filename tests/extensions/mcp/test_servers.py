"""Tools of others: MCP servers inside sandboxes, well-behaved and not."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from stackrank.env.actions import Action, Observation
from stackrank.env.debug_env import DebugEnv
from stackrank.env.sandbox.base import Backend, Refused, SandboxSpec
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.task import Limits
from stackrank.env.tools import tool_set
from stackrank.env.tools.base import schema
from stackrank.env.tools.servers import Offer, ToolServer, ToolServerFailed
from stackrank.env.tools.shown import MOST_SHOWN
from stackrank.errors import InfrastructureError
from stackrank.extensions.mcp import connection, messages
from stackrank.extensions.mcp.connection import Connection
from stackrank.extensions.mcp.offers import recorded_offer
from stackrank.flows.runs.playing.error_policy import POLICIES
from stackrank.terms import StopReason
from tests.fixtures.env import Episode, cart, usable
from tests.support.waiting import run_out, runs, wait_for

pytestmark = pytest.mark.slow  # by its time

SCRIPT = Path(__file__).with_name("mcp_server.py").read_text(encoding="utf-8")
TASK = cart(limits=Limits(timeout_s=60))


def by_hand(mode: str = "", **fields: Any) -> ToolServer:
    """The server of `mcp_server.py`; `mode`: how it starts."""
    return ToolServer(command=["python3", "-c", SCRIPT], env={"MODE": mode, **fields.pop("env", {})}, **fields)


@pytest.fixture(scope="module")
def offer() -> Offer:
    """What the server offers when all is well."""
    with Sandbox(usable("bubblewrap"), SandboxSpec()) as sandbox:
        sandbox.put({})
        return Connection(sandbox, "other", by_hand()).open()


@pytest.fixture
def start_episode(offer: Offer) -> Iterator[Any]:
    """Starts an episode whose agent has the server's tools."""
    started: list[DebugEnv] = []

    def start(backend: Backend | None = None, task: Any = TASK, offers: Any = None, tools: str = "bash") -> Episode:
        tools_ = tool_set(f"{tools}+other").with_offers([offer] if offers is None else offers)
        env = DebugEnv(task, tools_, lambda spec: Sandbox(backend or usable("bubblewrap"), spec))
        started.append(env)
        env.reset()
        return Episode(env)

    yield start
    for env in started:
        env.close()


def lines(observation: Observation) -> list[tuple[bool, dict[str, Any]]]:
    """What a step recorded of the traffic: (whether it was sent, the message)."""
    return [(line["sent"], json.loads(line["line"])) for line in observation.state.get("spoken", ())]


def test_tools_of_others_are_tools_in_each_sandbox(any_backend: Backend, start_episode: Any) -> None:
    play = start_episode(any_backend)
    echo = play("other_echo", text="Grüße, 'x' \n\t\ud800\0")
    assert echo.ok and echo.text.startswith("Grüße, 'x'")
    surroundings = json.loads(play("other_where").text)
    assert surroundings["cwd"] == play.env.sandbox.root or surroundings["cwd"] == "/workspace"
    assert surroundings["env"]["TASK_PYTHON"].endswith("python") and surroundings["env"]["MODE"] == ""
    assert (play("other_fail").ok, play("other_fail").text) == (False, "it did not work")
    assert "no such thing" in play("other_refuse").text
    assert play("other_image").text == "[image (image/png), not shown]"
    assert play("other_nothing").text == "[no output]"
    assert json.loads(play("other_data").text) == {"answer": 42}
    assert play("bash", command="echo fine").text == "fine" and play("other_echo", text="on").text == "on"
    assert "There is no tool 'other_none'" in play("other_none").text


def test_the_traffic_is_in_the_record_word_for_word(start_episode: Any, offer: Offer) -> None:
    env = DebugEnv(TASK, tool_set("debug+other").with_offers([offer]), lambda s: Sandbox(usable("bubblewrap"), s))
    with env:
        first, _ = env.reset()
        assert [sent and message["method"] for sent, message in lines(first) if sent] == [
            "initialize", "notifications/initialized", "tools/list",
        ]  # fmt: skip
        assert first.state["kind"] == "tests"
        assert recorded_offer("other", offer.server, first.state["spoken"]) == offer
        step = env.step(Action("other_echo", {"text": "é\n"}))[0]
        (sent, request), (came, answer) = lines(step)
        assert (sent, request["params"]) == (True, {"name": "echo", "arguments": {"text": "é\n"}})
        assert (came, answer["result"]["content"][0]["text"]) == (False, "é\n")
        assert step.state["kind"] == "server" and (step.state["server"], step.state["tool"]) == ("other", "echo")
        asked_back = env.step(Action("other_ask"))[0]
        ping, sampling = json.loads(asked_back.text)
        assert ping["result"] == {} and sampling["error"]["code"] == -32601
        assert sorted(sent for sent, _ in lines(asked_back)) == [False] * 3 + [True] * 3


def test_what_a_server_saw_of_the_program_is_checked_and_recorded(any_backend: Backend, start_episode: Any) -> None:
    play = start_episode(any_backend)
    stop = {"event": "paused", "line": 5, "function": "total", "locals": {"result": "5"}}
    seen = play("other_debug", text=json.dumps([{**stop, "file": f"{play.env.sandbox.root}/cart.py", "more": 1}]))
    assert seen.ok and seen.state["debug_events"] == [{**stop, "file": "cart.py"}] and seen.text == "stopped"
    assert "debug_events" not in play("other_echo", text="x").state
    for wrong, problem in (
        ({}, "debug_events is not valid: Input should be a valid list"),
        ([{**stop, "file": "cart.py", "line": "5"}], "debug_events.0.line is not valid"),
        ([{**stop, "file": "cart.py", "event": "won"}], "debug_events.0.event is not valid"),
        ([stop], "the event paused needs a file and a line"),
    ):
        refused = play("other_debug", text=json.dumps(wrong))
        assert not refused.ok and "debug_events" not in refused.state
        assert "the MCP server other answered, but debug_events" in refused.text and problem in refused.text


def test_a_change_of_a_file_is_recorded_as_for_bash(sandbox_backend: Backend, start_episode: Any) -> None:
    play = start_episode(sandbox_backend)
    step = play("other_write", path="cart.py", text="def total(:\n")
    assert "-def total(items):" in step.state["diff"] and "cart.py" in step.state["broken"]
    assert play.env.sandbox.changes().files["cart.py"] == b"def total(:\n"


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        ("hang", {}, "did not answer tools/call within 2 s"),
        ("die", {}, "ended with status 3 before it answered tools/call (last line of its standard error: all is lost)"),
        ("kill", {}, "ended by signal 9 before it answered tools/call"),
        ("flood", {}, "wrote more than 1 MB in answer to tools/call"),
        ("dribble", {}, "wrote more than 1 MB in answer to tools/call"),
        pytest.param(
            *("garbage", {"text": "only"}, "(it wrote 'Hello, this is a print', which is not an MCP message)"),
            marks=pytest.mark.exhaustive,
        ),
        ("wrong", {}, "answered, but its answer is not valid MCP (content"),
        pytest.param("chatter", {}, "did not answer tools/call within 2 s", marks=pytest.mark.exhaustive),
        ("stdin_closed", {}, "ended before it answered tools/call"),
    ],
)
def test_a_server_that_fails_costs_a_step(
    start_episode: Any, tool: str, arguments: dict[str, str], sentence: str
) -> None:
    limit = round(run_out(2))  # a server has to start within it
    play = start_episode(task=cart(limits=Limits(timeout_s=limit)))
    failed = play(f"other_{tool}", **arguments)
    sentence = sentence.replace("within 2 s", f"within {limit} s")
    assert not failed.ok and sentence in failed.text and "\n" not in failed.text, failed.text
    assert failed.text.startswith("the MCP server other ")
    restarted = play("other_echo", text="back")
    assert restarted.ok and restarted.text == "back"
    started = [message.get("method") for sent, message in lines(restarted) if sent]
    assert started == (["tools/call"] if tool == "wrong" else
                       ["initialize", "notifications/initialized", "tools/list", "tools/call"])  # fmt: skip


def test_what_a_server_prints_beside_its_answers_is_passed_over(start_episode: Any) -> None:
    play = start_episode()
    step = play("other_garbage")
    assert step.ok and step.text == "and yet an answer" and len(step.state["spoken"]) == 5
    assert play("other_noise").text == "quiet now"
    long = play("other_long").text
    assert MOST_SHOWN - 200 < len(play("other_long", limit=7).text) == len(long) <= MOST_SHOWN


def test_nothing_of_a_server_outlives_the_episode(start_episode: Any) -> None:
    """Even in the sandbox that isolates nothing."""
    play = start_episode(usable("local"))
    guest = psutil.Process(int(play.env.sandbox.name.rpartition("-")[2]))
    play("other_child")
    play("other_orphan")
    processes = guest.children(recursive=True)
    assert any("997" in process.cmdline() for process in processes)
    play("bash", command="true")
    assert play("other_echo", text="it lives").text == "it lives"
    play.env.close()
    wait_for(lambda: not any(map(runs, processes)), lambda: list(filter(runs, processes)))


@pytest.mark.parametrize(
    ("mode", "sentence"),
    [
        ("never", "did not answer initialize within 1 s"),
        (
            "dies",
            "before it answered initialize (last line of its standard error: no module named nothing)",
        ),
        ("garbage", "it wrote 'Welcome to my server!', which is not an MCP message"),
        ("old", "cannot be used: it speaks MCP version '1999-01-01', which stackrank does not know"),
        ("refuses", "cannot be used: it refuses initialize: {'code': -32022, 'message': 'only newer ones'}"),
        ("none", "cannot be used: it offers no tool"),
        ("double", "cannot be used: it offers 'echo' twice"),
        ("many", "cannot be used: it offers more than 10,000 tools"),
        ("wrong_schema", "cannot be used: the schema of its tool 'echo' does not describe an object"),
        ("wrong_list", "cannot be used: its answer is not valid MCP (tools.0.name: Field required)"),
    ],
)
def test_a_server_that_does_not_start(
    monkeypatch: pytest.MonkeyPatch, local: Sandbox, mode: str, sentence: str
) -> None:
    if mode == "never":
        monkeypatch.setattr(connection, "START_S", 1.0)
    if mode == "garbage":
        monkeypatch.setattr(connection, "START_S", 3.0)
    server = Connection(local, mode, by_hand(mode))
    with pytest.raises(ToolServerFailed) as failed:
        server.open()
    server.close()
    assert str(failed.value).startswith(f"the MCP server {mode} ") and sentence in str(failed.value)


def test_a_server_asks_by_any_id(local: Sandbox) -> None:
    """JSON-RPC has the ids of either side independent of each other."""
    server = by_hand("asks")
    connected = Connection(local, "asks", server)
    offer = connected.open()
    assert recorded_offer("asks", server, connected.spoken()) == offer
    connected.close()


def test_a_command_that_is_not_there(local: Sandbox) -> None:
    with pytest.raises(ToolServerFailed, match="cannot be started: no-such-program: No such file"):
        Connection(local, "none", ToolServer(command=["no-such-program"])).open()


def test_a_list_in_pages_and_a_choice_of_tools(local: Sandbox, offer: Offer) -> None:
    server = by_hand("pages", tools=["die", "echo"])
    connected = Connection(local, "pages", server)
    assert [tool["name"] for tool in connected.open().tools] == ["echo", "die"]
    connected.close()
    with pytest.raises(ToolServerFailed, match="it has no tool 'nope': it offers echo, where"):
        Connection(local, "pages", by_hand("pages", tools=["nope"])).open()


@pytest.mark.parametrize(
    ("mode", "env", "difference"),
    [
        ("less", {}, "die is missing"),
        ("more", {}, "more is new"),
        ("", {"VERSION": "1.3"}, "its version is by-hand 1.3 instead of by-hand 1.2"),
    ],
)
def test_another_server_than_the_run_began_with(
    start_episode: Any, offer: Offer, mode: str, env: dict[str, str], difference: str
) -> None:
    changed = replace(offer, server=by_hand(mode, env=env))
    env_of_it = start_episode(offers=[changed]).env
    assert env_of_it.over == StopReason.SANDBOX_LOST
    (note,) = env_of_it.score().notes
    assert f"the MCP server other has changed since the run began: {difference}" in note


@pytest.mark.parametrize("mode", ["dies", "old", "none", "wrong_schema", "wrong_list"])
def test_a_server_that_fails_in_an_episode_is_the_entrants_fault(start_episode: Any, offer: Offer, mode: str) -> None:
    """It has worked before the run, so it is no mistake of the specification, and no error that could stop the run."""
    env = start_episode(offers=[replace(offer, server=by_hand(mode))]).env
    assert env.over == StopReason.SANDBOX_LOST and not env.score().resolved
    assert env.score().notes[0].startswith("the MCP server other ")
    assert not issubclass(ToolServerFailed, (InfrastructureError, *POLICIES))


def test_a_server_that_fails_once_is_started_again(start_episode: Any, offer: Offer) -> None:
    script = 'test -e /tmp/began && exec python -c "$0"; touch /tmp/began; exit 3'
    server = offer.server.model_copy(update={"command": ["bash", "-c", script, SCRIPT]})
    play = start_episode(offers=[replace(offer, server=server)])
    assert play.env.over is None and play("other_echo", text="at last").text == "at last"


def test_a_server_that_fails_in_a_replaced_sandbox(start_episode: Any, offer: Offer) -> None:
    server = by_hand()
    play = start_episode(offers=[replace(offer, server=server)])
    server.env["MODE"] = "dies"
    play.env.sandbox._channel._child.kill()
    assert not play("bash", command="true").ok and play.env.over == StopReason.SANDBOX_LOST


def test_a_server_that_changes_in_an_episode_is_not_used_any_more(start_episode: Any) -> None:
    """That is no error of the episode: an agent could bring it about."""
    play = start_episode()
    assert play("other_announce").ok and play("other_echo", text="as before").text == "as before"
    assert play("other_change").ok
    for _ in range(2):
        step = play("other_echo", text="x")
        assert not step.ok and "more is new; it cannot be used any more" in step.text
    assert play("eval").state["kind"] == "tests"


def test_a_lost_sandbox_has_its_server_again(start_episode: Any) -> None:
    play = start_episode()
    play("other_write", path="made.txt", text="kept")
    play.env.sandbox._channel._child.kill()
    assert play("bash", command="cat made.txt").text == "kept"
    assert play("other_echo", text="still here").text == "still here"


def test_names_that_models_can_use(offer: Offer) -> None:
    tools = [{**offer.tools[0], "name": name} for name in ("a.b/c", "d")]
    assert tool_set("view+other").with_offers([replace(offer, tools=tuple(tools))]).tools[-2:] == (
        "other_a_b_c", "other_d",
    )  # fmt: skip
    for name, sentence in (("x" * 64, "accept at most 64 characters"), ("a_b/c", "duplicate tool name other_a_b_c")):
        wrong = replace(offer, tools=(*tools, {**offer.tools[0], "name": name}))
        with pytest.raises(ValueError, match=sentence):
            tool_set("view+other").with_offers([wrong])


def test_the_schema_is_the_servers_own(offer: Offer) -> None:
    tools = tool_set("view+other").with_offers([offer])
    described = next(tool for tool in offer.tools if tool["name"] == "write")
    assert schema(tools.find("other_write")) == {**described["inputSchema"], "required": ["path"]}


@pytest.mark.parametrize("text", ["debug+", "+other", "debug+a+a", "nope+other"])
def test_a_tool_set_that_is_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a tool set|there is no tool|at least one tool"):
        tool_set(text)


def test_numbers_that_json_does_not_have(start_episode: Any) -> None:
    assert "a number that JSON does not have" in start_episode()("other_echo", text=float("nan")).text


@pytest.mark.exhaustive
@pytest.mark.slow
def test_a_servers_packages_are_its_own(any_backend: Backend, start_episode: Any) -> None:
    """They are on its path, and the task's own packages stay as they are."""
    server = by_hand(requirements=["iniconfig==2.0.0", "colorama==0.4.6"])
    server = server.model_copy(update={"command": ["python", "-c", SCRIPT]})
    assert server.prefix is not None
    with Sandbox(any_backend, SandboxSpec(prefixes=(server.prefix,))) as sandbox:
        sandbox.put({})
        offer = Connection(sandbox, "other", server).open()
    play = start_episode(any_backend, offers=[offer])
    surroundings = json.loads(play("other_where").text)
    assert (
        server.prefix.digest in surroundings["python"] and surroundings["env"]["TASK_PYTHON"] != surroundings["python"]
    )
    output = play("bash", command="python -c 'import colorama'; echo $PATH").text
    assert "No module named 'colorama'" in output and server.prefix.digest not in output


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["folder", "archive"])
def test_a_server_of_this_machine_is_installed_from_its_path(kind: str, tmp_path: Path, start_episode: Any) -> None:
    folder = tmp_path / "my server-1.0"
    folder.mkdir()
    (folder / "pyproject.toml").write_text(
        "[project]\nname = 'mine'\nversion = '1.0'\nscripts = {mine = 'mine:main'}\n"
        "[build-system]\nrequires = ['setuptools']\nbuild-backend = 'setuptools.build_meta'\n"
        "[tool.setuptools]\npy-modules = ['mine']\n"
    )
    (folder / "mine.py").write_text(f"def main():\n    exec({SCRIPT!r}, {{'__name__': '__main__'}})\n")
    path = folder
    if kind == "archive":
        path = Path(shutil.make_archive(str(tmp_path / "mine-1.0"), "zip", tmp_path, folder.name))
    server = by_hand(requirements=[str(path)]).model_copy(update={"command": ["mine"]})
    assert server.prefix is not None
    with Sandbox(usable("bubblewrap"), SandboxSpec(prefixes=(server.prefix,))) as sandbox:
        sandbox.put({})
        offer = Connection(sandbox, "other", server).open()
        assert offer.tools and sandbox.run("ls /opt/stackrank-local", 10).exit != 0
    assert sorted(file.name for file in folder.iterdir()) == ["mine.py", "pyproject.toml"]


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "find_spec", lambda name: None)
    assert not messages.installed()
    with pytest.raises(Exception, match=r"pip install 'stackrank\[mcp\]'"):
        messages.types()


def test_a_guest_refuses_a_server_that_is_no_program(local: Sandbox) -> None:
    with pytest.raises(Refused):
        local.serve("dir", ["/tmp"], {}, None)

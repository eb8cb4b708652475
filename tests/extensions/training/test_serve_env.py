"""`stackrank serve-env`: OpenEnv's protocol over WebSocket, and what its own validator and client say."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from stackrank.env.tools import tool_set
from stackrank.extensions.training.openenv import mcp_answer, schemas
from stackrank.extensions.training.rewards import TrainingError
from tests.fixtures.calls import CommandLine
from tests.fixtures.env import usable
from tests.support.model_servers import served, server_python
from tests.support.waiting import wait_for

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    usable("bubblewrap")
    command = [
        sys.executable,
        "-m",
        "stackrank.flows.cli.main",
        "serve-env",
        "bugs",
        "--tools",
        "bash-debug",
        "--sandbox",
        "bubblewrap",
        "--sessions",
        "2",
    ]
    command += ["--reward", "verdict", "--reward", "tests=0.5", "--port", "{port}"]
    with served("serve-env", command, tmp_path_factory.mktemp("serve-env"), "/health") as root:
        yield root


def session(url: str, **options: Any) -> ClientConnection:
    return connect(url.replace("http", "ws") + "/ws", **options)


def ask(socket: ClientConnection, message: Any) -> dict[str, Any]:
    socket.send(message if isinstance(message, str) else json.dumps(message))
    answer: dict[str, Any] = json.loads(socket.recv())
    return answer


def step(socket: ClientConnection, tool: str, **arguments: Any) -> dict[str, Any]:
    return ask(socket, {"type": "step", "data": {"tool": tool, "arguments": arguments}})


def test_a_session_is_an_episode(url: str) -> None:
    with session(url) as socket:
        early = step(socket, "eval")
        assert early["type"] == "error" and "call reset first" in early["data"]["message"]
        reset = {"task": "bugs/vat-table", "seed": 3, "episode_id": "mine", "what": "ever"}
        first = ask(socket, {"type": "reset", "data": reset})["data"]
        assert (first["reward"], first["done"]) == (None, False) and "Test command" in first["observation"]["text"]
        observation = step(socket, "view", path="tests/test_invoice.py")["data"]
        assert (
            observation["observation"]["ok"]
            and "def test_" in observation["observation"]["text"]
            and not observation["done"]
        )
        state = ask(socket, {"type": "state"})
        assert state["data"].pop("session")
        assert state == {"type": "state", "data": {"episode_id": "mine", "step_count": 1, "task": "bugs/vat-table"}}
        end = step(socket, "submit")["data"]
        assert (end["done"], end["reward"]) == (True, 0.0)
        assert end["observation"]["metadata"]["verdict"] == "unresolved"
        late = step(socket, "eval")["data"]
        assert late == {"message": "the episode is over (submitted): call reset", "code": "EXECUTION_ERROR"}
        assert ask(socket, {"type": "reset", "data": {"seed": 1}})["data"]["observation"]["metadata"]["task"] == (
            "bugs/address-owners"
        )
        socket.send(json.dumps({"type": "close"}))
        with pytest.raises(ConnectionClosed):
            socket.recv()


def test_a_session_branches_from_another_and_outlives_it(url: str) -> None:
    with session(url) as branch:
        with session(url) as parent:
            ask(parent, {"type": "reset", "data": {"task": "bugs/vat-table"}})
            step(parent, "pdb", command="b vat/rates.py:10")
            paused = step(parent, "pdb", command="c")["data"]["observation"]["text"]
            name = ask(parent, {"type": "state"})["data"]["session"]
            data = ask(branch, {"type": "reset", "data": {"branch": name}})["data"]
            assert data["observation"]["text"] == paused and data["observation"]["metadata"]["step"] == 2
            assert ask(branch, {"type": "state"})["data"]["step_count"] == 2
            early = ask(branch, {"type": "reset", "data": {"branch": name, "at": 9}})["data"]
            assert "can be branched at steps 0 to 2" in early["message"]
            expected = step(parent, "pdb", command="p region")["data"]["observation"]["text"]
        assert step(branch, "pdb", command="p region")["data"]["observation"]["text"] == expected

        def is_gone() -> bool:
            answer = ask(branch, {"type": "reset", "data": {"branch": name}})
            return f"there is no session '{name}'" in str(answer)

        wait_for(is_gone, "the parent's session goes on", timeout_s=20)
        assert step(branch, "submit")["data"]["done"], "a branch that cannot be made leaves the episode as it is"


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("no json", "Invalid JSON"),
        ("[]", "the message: Input should be an object: send {"),
        ({"type": "dance"}, "type: Input should be"),
        ({"type": "step", "data": {"action": "view"}}, "tool: Field required"),
        ({"type": "step", "data": {"tool": "view", "arguments": []}}, "arguments: Input should be a valid dictionary"),
        (
            {"type": "reset", "data": {"task": "bugs/none"}},
            "the task 'bugs/none' is not served here: choose from bugs/",
        ),
        ({"type": "reset", "data": {"seed": "x"}}, "seed: Input should be a valid integer"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_the_session_goes_on(url: str, message: Any, expected: str) -> None:
    with session(url) as socket:
        answer = ask(socket, message)
        assert (
            answer["type"] == "error"
            and expected in answer["data"]["message"]
            and "\n" not in answer["data"]["message"]
        )
        assert ask(socket, {"type": "state"})["data"]["step_count"] == 0


@pytest.mark.exhaustive
def test_a_client_that_vanishes_ends_its_own_episode_alone(url: str) -> None:
    with session(url) as second_session:
        ask(second_session, {"type": "reset", "data": {"task": "bugs/vat-table"}})
        vanishing = session(url)
        ask(vanishing, {"type": "reset", "data": {"task": "bugs/vat-table"}})
        full = session(url)
        assert json.loads(full.recv())["data"]["code"] == "CAPACITY_REACHED"
        full.close()
        # In the middle of a step, and without a word.
        vanishing.send(json.dumps({"type": "step", "data": {"tool": "bash", "arguments": {"command": "sleep 3000"}}}))
        vanishing.socket.close()

        def free() -> bool:
            try:
                with session(url) as socket:
                    return ask(socket, {"type": "state"})["type"] == "state"
            except ConnectionClosed:
                return False

        wait_for(free, "the session of a client that vanished is still open", every_s=0.2)
        assert step(second_session, "view", path="tests/test_invoice.py")["data"]["observation"]["ok"]
    with pytest.raises(InvalidStatus):
        session(url, origin="http://elsewhere.example")


def test_a_request_without_a_session_plays_nothing(url: str) -> None:
    body = json.dumps({"tool": "eval"}).encode()
    request = urllib.request.Request(url + "/step", body, {"Content-Type": "application/json"})
    with pytest.raises(urllib.error.HTTPError) as error:
        urllib.request.urlopen(request)
    assert error.value.code == 409 and "play over /ws" in error.value.read().decode()


def test_the_schema_of_an_action_says_which_tools_there_are() -> None:
    tool = schemas(tool_set("debug"))["action"]["properties"]["tool"]
    assert tool["enum"] == list(tool_set("debug").tools)
    assert "view(path, start, end" in tool["description"] and "submit(): Submit the files" in tool["description"]


def test_tools_are_described_in_json_rpc() -> None:
    tools = tool_set("debug")
    listed = mcp_answer({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, tools)["result"]["tools"]
    assert [tool["name"] for tool in listed] == list(tools.tools)
    assert mcp_answer({"jsonrpc": "2.0", "id": 1, "method": "tools/call"}, tools)["error"]["code"] == -32601
    assert mcp_answer([], tools)["error"]["code"] == -32600


def test_rewards_on_the_command_line() -> None:
    from stackrank.extensions.training.commands import _weights

    assert _weights(["verdict", "tests=0.5"]) == {"verdict": 1.0, "tests": 0.5}
    with pytest.raises(TrainingError, match="is not a number; write"):
        _weights(["tests=much"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--repos", "/no/such"], "--repos /no/such is not a folder"),
        (["--environments", "/no/such"], "/no/such cannot be read: No such file or directory"),
        (["--path", "/no/such"], "/no/such does not exist: name a file"),
    ],
)
def test_data_that_a_benchmark_needs_is_named_as_for_a_run(
    options: list[str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    row = {"instance_id": "a__b-1", "repo": "a/b", "base_commit": "c", "patch": "", "test_patch": "", "version": "1"}
    rows = tmp_path / "rows.json"
    rows.write_text(json.dumps([{**row, "problem_statement": "x", "FAIL_TO_PASS": [], "PASS_TO_PASS": []}]))
    result = CommandLine(capsys, monkeypatch)("serve-env", "swebench", "--path", str(rows), *options)
    assert result.status == 2 and message in result.err and result.err.count("\n") == 1


@pytest.mark.slow
@pytest.mark.exhaustive
def test_openenv_validates_and_plays_it(url: str) -> None:
    python = server_python("openenv")
    command = [python.with_name("openenv"), "validate", "--url", url, "--timeout", "600"]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == 0 and "Verdict: PASS" in process.stdout, process.stdout + process.stderr
    example = ROOT / "docs" / "examples" / "openenv_loop.py"
    assert len(example.read_text().splitlines()) <= 15
    process = subprocess.run([python, example, url], capture_output=True, text=True, check=False)
    assert process.stdout.endswith("True 0.0 unresolved\n") and "[started: the tests that failed" in process.stdout, (
        process.stderr
    )

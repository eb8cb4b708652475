"""Entrants with models: what makes them who they are, keys that stay secret, endpoints that refuse."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agents.base import SetupError
from db import queries
from db.engine import connect
from flows import preflight
from flows.plan import make_entrant
from flows.spec import SpecError, make_spec
from tests.flows.calls import CommandLine
from tests.flows.playing import play_run
from tests.support.openai_server import Fault, OpenAIServer, Script, call, says

KEY = "sk-planted-0123456789-models"


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., OpenAIServer]]:
    """Starts a scripted endpoint that the environment names, with a key."""
    started: list[OpenAIServer] = []

    def start(script: Script, **options: Any) -> OpenAIServer:
        started.append(OpenAIServer(script, **{"key": KEY, **options}).__enter__())
        monkeypatch.setenv("OPENAI_BASE_URL", started[-1].url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setattr(preflight, "_passed", set())
        return started[-1]

    yield start
    for server in started:
        server.__exit__()


def digest(agent: str = "llm", model: str = "m", tools: str = "debug", **config: Any) -> str:
    spec = make_spec({"entrants": [{"agent": agent, "model": model, "tools": tools, "config": config}]}, "the test")
    return make_entrant(spec.entrants[0]).digest


# ---- identity


def test_what_makes_another_entrant(endpoint: Any) -> None:
    endpoint([says("")])
    seeker = {"agent": "seeker", "seeker_model": "small"}
    others = [
        digest(),
        digest(model="n"),
        digest(tools="rewrite"),
        digest(temperature=0.5),
        digest(syntax="text"),
        digest(prompts={"system": "Mend it."}),
        digest(prompts={"system": "Mend it!"}),
        digest(**seeker),
        digest(**{**seeker, "seeker_model": "smaller"}),
        digest(**seeker, seeker={"temperature": 0.5}),
        digest(**seeker, prompts={"coder": "Mend it."}),
    ]
    assert len(set(others)) == len(others)
    assert digest(retry_s=1, requests_per_minute=5, max_concurrency=2, api_key_env="OPENAI_API_KEY") == digest()
    assert digest(**seeker, seeker={"retry_s": 1}, max_concurrency=2) == digest(**seeker)


def test_prompts_from_files_are_their_contents(endpoint: Any, tmp_path: Path) -> None:
    endpoint([says("")])
    one, other = tmp_path / "one.j2", tmp_path / "other.j2"
    one.write_text("Mend it.")
    other.write_text("Mend it.")
    named = digest(prompts={"system_file": str(one)})
    assert named == digest(prompts={"system_file": str(other)}) == digest(prompts={"system": "Mend it."})
    one.write_text("Mend it now.")
    assert digest(prompts={"system_file": str(one)}) != named
    with pytest.raises(SpecError, match="cannot be read"):
        digest(prompts={"system_file": str(tmp_path / "none")})
    config = {"prompts": {"task_file": str(other)}}
    spec = make_spec({"entrants": [{"agent": "llm", "model": "m", "config": config}]}, "the test")
    assert spec.model_dump()["entrants"][0]["config"] == {"prompts": {"task": "Mend it."}}  # what workers get


# ---- before the first sandbox


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"key": "sk-another"}, ("refused the key", "OPENAI_API_KEY")),
        ({"models": 404}, ("does not know it", "OPENAI_BASE_URL")),
    ],
)
def test_a_run_that_is_refused(
    stackrank: CommandLine, endpoint: Any, options: dict[str, Any], words: tuple[str, ...]
) -> None:
    server = endpoint([Fault.status(404, "no such model")], **options)
    result = stackrank("run", "--agent", "llm", "--model", "scripted", "--sandbox", "bubblewrap")
    assert result.status == 2
    said = result.sentence()
    assert server.url in said and "scripted" in said and all(word in said for word in words)
    assert KEY not in said
    assert not queries.runs(connect())


def test_a_run_without_an_endpoint(stackrank: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(
        "benchmark: bugs\nsandbox: bubblewrap\nentrants:\n  - agent: llm\n    model: m\n"
        "    config: {base_url: 'http://127.0.0.1:9/v1', retry_s: 0}\n"
    )
    result = stackrank("run", str(file))
    assert result.status == 1 and "127.0.0.1:9" in result.sentence()
    assert not queries.runs(connect())


def test_entrants_that_differ_in_tools_are_asked_about_once(endpoint: Any) -> None:
    server = endpoint([says("yes")], models=404)
    rows = [{"agent": "llm", "model": "m", "tools": tools} for tools in ("rewrite", "debug", "debug5")]
    spec = make_spec({"entrants": [*rows, {"agent": "oracle"}]}, "the test")
    for _ in range(2):
        preflight.check(make_entrant(each) for each in spec.entrants)
    assert server.asked == 1


def test_both_models_of_a_seeker_are_asked_about(endpoint: Any) -> None:
    endpoint(lambda request: Fault.status(404 if request["model"] == "small" else 200), models=("large",))
    row = {"agent": "seeker", "model": "large", "config": {"seeker_model": "small"}}
    spec = make_spec({"entrants": [row]}, "the test")
    with pytest.raises(SetupError, match="the model small"):
        preflight.check([make_entrant(spec.entrants[0])])


# ---- secrets


def test_the_key_is_nowhere(
    stackrank: CommandLine, endpoint: Any, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    """Not in the database, nor in logs, nor in exports: also where the endpoint repeats it."""
    caplog.set_level(logging.DEBUG)
    echo = f"You sent {KEY}, that is Bearer {KEY}"
    server = endpoint(
        [
            Fault.status(500, echo),
            call("view", path="x.py").with_(content=echo),
            says(echo),
            call("grep", pattern=KEY),
            Fault.status(429, echo, retry_after=0.01),
            call("submit"),
        ]
    )
    play_run(entrants=[{"agent": "llm", "model": "scripted"}], limit=1, steps=9, name="played")
    endpoint([Fault.status(401, echo)])
    with pytest.raises(Exception, match=r"\*\*\*"):
        play_run(entrants=[{"agent": "llm", "model": "scripted"}], limit=1, name="refused")
    assert server.asked == 6 and server.headers[0]["authorization"] == f"Bearer {KEY}"
    errors = [row["error"] for row in queries.episodes(connect(), "refused")]
    assert len(errors) == 1 and "refused the key" in errors[0]

    shown = [stackrank("export", "played", "--format", name).out for name in ("jsonl", "chat", "csv")]
    shown += [stackrank("trace", "1", "--json").out, stackrank("trace", "2").out, stackrank("episodes", "refused").out]
    assert "You sent ***" in json.loads(shown[3])["steps"][1]["thought"]
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert b"You sent ***" in stored
    for text in (*shown, caplog.text, stored.decode(errors="replace")):
        assert KEY not in text and KEY[:8] not in text

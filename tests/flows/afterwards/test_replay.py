"""Replays: the same actions, the same observations; or where they part."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.env.tools.editing.rewrite import Rewrite
from tests.fixtures.calls import CommandLine
from tests.fixtures.playing import play_run
from tests.support.openai_server import OpenAIServer, call, calls, says

pytestmark = pytest.mark.slow

LOOK = [
    calls(call("listdir"), call("pdb", command="b 1\nc\nw\np object()"), call("pdb", command="n\nn\nl")),
    says("What now?"),
    call("grep", pattern="def "),
    call("bash", command="python -c 'print(object(), {chr(n) for n in range(90)})'; mktemp; mktemp -d; ls -la"),
    call("rewrite", path="new.py", new_code="import time, tempfile\nprint(time.sleep, tempfile.mkstemp())\n"),
    call("bash", command="python new.py; bash -c 'time python -m pytest'; env; whoami; pwd"),
    call("rewrite", path="../out.py", new_code="x"),
    # What cannot be stored as it is.
    call("view", path="a\0b\ud800c"),
    call(
        "bash",
        command="printf '\\000\\377\\355\\240\\200\\033[31m' | tee odd; echo '\0\x1b[2J\ud800' >> odd; od -c odd",
    ),
    call("eval"),
    call("submit"),
]


def played_by_a_model(monkeypatch: pytest.MonkeyPatch, **spec: Any) -> int:
    with OpenAIServer(LOOK) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        entrants = [{"agent": "llm", "model": "scripted", "tools": "bash-debug"}]
        return play_run(**{"entrants": entrants, "tasks": ["club-ledger"], "steps": 30, **spec})


@pytest.mark.parametrize("sandbox", ["bubblewrap", "docker"])
def test_a_model_looks_at_everything_that_could_vary(
    stackrank: CommandLine, monkeypatch: pytest.MonkeyPatch, sandbox: str
) -> None:
    played_by_a_model(monkeypatch, sandbox=sandbox)
    result = stackrank("replay", "1", "--json")
    assert result.status == 0, result.json()["difference"]["diff"]
    assert result.json() == {"episode": 1, "steps": 13, "replayed": "same", "difference": None, "different_answers": []}
    assert "same: all 13 steps" in stackrank("replay", "1").out
    row = stackrank("trace", "1", "--json").json()
    assert row["replayed"] == "same" and row["replayed_at"]


def test_agents_without_a_model(stackrank: CommandLine) -> None:
    entrants = [{"agent": "repair"}, {"agent": "random", "tools": "bash-debug"}]
    play_run(entrants=entrants, tasks=["club-ledger"], steps=10, seed=5)
    for episode in "12":
        assert stackrank("replay", episode).status == 0


def test_the_first_difference_is_shown(stackrank: CommandLine, monkeypatch: pytest.MonkeyPatch, database: str) -> None:
    play_run(entrants=[{"agent": "oracle", "tools": "rewrite"}], tasks=["club-ledger"])
    honest = Rewrite.__call__

    def changed(self: Rewrite, *arguments: Any) -> Any:
        observation = honest(self, *arguments)
        return type(observation)(observation.text.replace("Replaced", "Changed"), observation.ok, observation.state)

    monkeypatch.setattr(Rewrite, "__call__", changed)
    result = stackrank("replay", "1", "--json")
    assert result.status == 1
    difference = result.json()["difference"]
    assert (difference["step"], difference["tool"]) == (1, "rewrite")
    assert "+Changed " in difference["diff"]
    assert "differs at step 1 (rewrite)" in stackrank("replay", "1").out
    assert queries.episode(connect(database), 1)["replayed"] == "step 1"


def test_a_verdict_that_differs(stackrank: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    play_run(entrants=[{"agent": "oracle", "tools": "rewrite,view"}], tasks=["club-ledger"])
    honest = Rewrite.__call__

    def forgetful(self: Rewrite, bench: Any, arguments: Any) -> Any:
        observation = honest(self, bench, arguments)
        bench.sandbox.put(bench.task.files)
        return observation

    monkeypatch.setattr(Rewrite, "__call__", forgetful)
    result = stackrank("replay", "1")
    assert result.status == 1
    assert "in its verdict" in result.out and "-resolved\n+unresolved" in result.out


def test_episodes_that_cannot_be_replayed(stackrank: CommandLine, database: str) -> None:
    assert "stackrank episodes" in stackrank("replay", "17").sentence()
    play_run(entrants=[{"agent": "oracle"}], tasks=["club-ledger"])
    result = stackrank("replay", "1", "--sandbox", "vm")
    assert result.status == 1 and "vm" in result.sentence()
    with connect(database).begin() as connection:
        connection.execute(text("UPDATE task SET digest = 'another'"))
    result = stackrank("replay", "1")
    assert result.status == 2 and "club-ledger has changed" in result.sentence()


def test_as_an_agent_in_a_run(stackrank: CommandLine, monkeypatch: pytest.MonkeyPatch, database: str) -> None:
    """A recorded run is an entrant of another: its trajectories, malformed steps included, come out the same."""
    first = played_by_a_model(monkeypatch, attempts=2)
    second = play_run(
        entrants=[{"agent": "replay", "tools": "bash-debug", "config": {"run": first}}],
        tasks=["club-ledger"],
        attempts=3,
    )
    engine = connect(database)

    def content(episode: int) -> list[Any]:
        return [
            [step[name] for name in ("tool", "arguments", "observation")] for step in queries.steps(engine, episode)
        ]

    assert (len(content(1)), len(content(2))) == (14, 2)  # the script was over in the second attempt
    repeated = [content(row["id"]) for row in queries.episodes(engine, second)]
    assert repeated == [content(1), content(2), content(1)]


def test_nothing_to_repeat(stackrank: CommandLine, database: str) -> None:
    entrants = [{"agent": "oracle", "tools": tools} for tools in ("debug", "rewrite")]
    play_run(entrants=entrants, tasks=["club-ledger"])
    wrong: list[tuple[dict[str, Any], list[str]]] = [
        ({"run": 99}, ["stackrank runs"]),
        ({"episode": 99}, ["stackrank episodes"]),
        ({"run": 1}, ["several", "'oracle (debug)', 'oracle (rewrite)'"]),
        ({"run": 1, "entrant": "nobody"}, ["no episode", "club-ledger"]),
    ]
    for config, words in wrong:
        play_run(entrants=[{"agent": "replay", "config": config}], tasks=["club-ledger"])
        (row,) = queries.episodes(connect(database), "latest")
        assert row["verdict"] == "error"
        assert all(word in row["error"] for word in words)


def test_the_agent_has_to_be_told_what_to_repeat(stackrank: CommandLine) -> None:
    assert "{run: NUMBER}" in stackrank("run", "--agent", "replay").sentence()

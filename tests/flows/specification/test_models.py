"""Entrants with models: what makes them who they are, keys that stay secret, endpoints that refuse."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from stackrank.agents.episode.protocol import SetupError
from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.env.benchmarks.registry import load_benchmark
from stackrank.env.patches import apply_patch
from stackrank.flows.runs.preparing.endpoints import find_silent_endpoints
from stackrank.flows.runs.preparing.entrants import make_entrant
from stackrank.flows.runs.specification.spec import SpecError, make_spec
from tests.fixtures.calls import CommandLine
from tests.fixtures.playing import drive, make_run, play_run
from tests.support.openai_server import Fault, OpenAIServer, Script, call, says

pytestmark = pytest.mark.slow

KEY = "sk-planted-0123456789-models"
PRICE = {"input": 1.0, "output": 2.0}


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., OpenAIServer]]:
    """Starts a scripted endpoint that the environment names, with a key."""
    started: list[OpenAIServer] = []

    def start(script: Script, **options: Any) -> OpenAIServer:
        started.append(OpenAIServer(script, **{"key": KEY, **options}).__enter__())
        monkeypatch.setenv("OPENAI_BASE_URL", started[-1].url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        return started[-1]

    yield start
    for server in started:
        server.__exit__()


def digest(agent: str = "llm", model: str = "m", tools: str = "debug", **config: Any) -> str:
    spec = make_spec({"entrants": [{"agent": agent, "model": model, "tools": tools, "config": config}]}, "the test")
    return make_entrant(spec.entrants[0]).digest


# ---- identity


def test_changes_that_make_another_entrant(endpoint: Any) -> None:
    endpoint([says("")])
    seeker = {"agent": "seeker", "seeker_model": "small"}
    variants = [
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
    assert len(set(variants)) == len(variants)
    assert digest(retry_s=1, requests_per_minute=5, max_concurrency=2, api_key_env="OPENAI_API_KEY") == digest()
    assert digest(**seeker, seeker={"retry_s": 1}, max_concurrency=2) == digest(**seeker)


def test_prompts_from_files_are_their_contents(endpoint: Any, tmp_path: Path) -> None:
    endpoint([says("")])
    first_file, second_file = tmp_path / "one.j2", tmp_path / "other.j2"
    first_file.write_text("Mend it.")
    second_file.write_text("Mend it.")
    file_digest = digest(prompts={"system_file": str(first_file)})
    assert file_digest == digest(prompts={"system_file": str(second_file)}) == digest(prompts={"system": "Mend it."})
    first_file.write_text("Mend it now.")
    assert digest(prompts={"system_file": str(first_file)}) != file_digest
    with pytest.raises(SpecError, match="cannot be read"):
        digest(prompts={"system_file": str(tmp_path / "none")})
    config = {"prompts": {"task_file": str(second_file)}}
    spec = make_spec({"entrants": [{"agent": "llm", "model": "m", "config": config}]}, "the test")
    assert spec.model_dump()["entrants"][0]["config"] == {"prompts": {"task": "Mend it."}}  # what workers get


# ---- before the first sandbox


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"key": "sk-another"}, ("rejected the key", "OPENAI_API_KEY")),
        ({"models": 404}, ("does not know this model", "OPENAI_BASE_URL")),
    ],
)
def test_a_run_that_is_refused(
    stackrank: CommandLine, endpoint: Any, options: dict[str, Any], words: tuple[str, ...]
) -> None:
    server = endpoint([Fault.status(404, "no such model")], **options)
    result = stackrank("run", "--agent", "llm", "--model", "scripted", "--sandbox", "bubblewrap")
    assert result.status == 2
    sentence = result.sentence()
    assert server.url in sentence and "scripted" in sentence and all(word in sentence for word in words)
    assert KEY not in sentence
    assert not queries.runs(connect())


@pytest.mark.parametrize("limit", ["budget_usd", "cost_usd"])
@pytest.mark.parametrize(
    ("entrant", "unpriced"),
    [
        ({"agent": "llm"}, "mine"),
        ({"agent": "seeker", "config": {"seeker_model": "small", "price": PRICE}}, "small"),
        ({"agent": "llm", "config": {"price": PRICE}}, ""),
    ],
)
def test_a_limit_in_dollars_needs_prices(
    database: str, endpoint: Any, limit: str, entrant: dict[str, Any], unpriced: str
) -> None:
    endpoint([says("")])
    spec = {"sandbox": "bubblewrap", "limit": 1, "entrants": [{"model": "mine", **entrant}], limit: 5.0}
    if unpriced:
        with pytest.raises(SpecError, match=f"{limit} .* model {unpriced} is unknown: .*STACKRANK_PRICES"):
            make_run(**spec)
    else:
        make_run(**spec)


def test_a_run_without_an_endpoint(stackrank: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(
        "benchmark: bugs\nsandbox: bubblewrap\nentrants:\n  - agent: llm\n    model: m\n"
        "    config: {base_url: 'http://127.0.0.1:9/v1', retry_s: 0}\n"
    )
    result = stackrank("run", str(file))
    assert result.status == 1 and "127.0.0.1:9" in result.sentence()
    assert not queries.runs(connect())


def test_entrants_that_differ_only_in_tools_are_checked_once(endpoint: Any) -> None:
    server = endpoint([says("yes")], models=404)
    rows = [{"agent": "llm", "model": "m", "tools": tools} for tools in ("rewrite", "debug", "debug5")]
    spec = make_spec({"entrants": [*rows, {"agent": "oracle"}]}, "the test")
    assert not find_silent_endpoints(make_entrant(entrant) for entrant in spec.entrants)
    assert server.asked == 1


def test_both_models_of_a_seeker_are_checked(endpoint: Any) -> None:
    endpoint(lambda request: Fault.status(404 if request["model"] == "small" else 200), models=("large",))
    row = {"agent": "seeker", "model": "large", "config": {"seeker_model": "small"}}
    spec = make_spec({"entrants": [row]}, "the test")
    with pytest.raises(SetupError, match="the model small"):
        find_silent_endpoints([make_entrant(spec.entrants[0])])


def test_a_key_that_is_rejected_midway_ends_the_run(database: str, endpoint: Any) -> None:
    """Nothing is tried again, and no further episode is started."""
    server = endpoint([call("listdir"), Fault.status(401, "revoked")])
    run = make_run(entrants=[{"agent": "llm", "model": "scripted"}], limit=4, workers=1, sandbox="bubblewrap")
    reason = drive(run)
    assert "rejected the key" in reason and server.url in reason and KEY not in reason
    counts = queries.progress(connect(), run)
    assert (counts["errors"], counts["pending"]) == (1, 3) and server.asked == 2


# ---- secrets


def test_the_key_is_stored_and_shown_nowhere(
    stackrank: CommandLine, endpoint: Any, caplog: pytest.LogCaptureFixture, database: str
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
    play_run(entrants=[{"agent": "llm", "model": "scripted"}], limit=1, name="refused")
    assert server.asked == 6 and server.headers[0]["authorization"] == f"Bearer {KEY}"
    errors = [row["error"] for row in queries.episodes(connect(), "refused")]
    assert len(errors) == 1 and "rejected the key" in errors[0]

    outputs = [stackrank("export", "played", "--format", name).out for name in ("jsonl", "chat", "csv")]
    outputs += [
        stackrank("trace", "1", "--json").out,
        stackrank("trace", "2").out,
        stackrank("episodes", "refused").out,
    ]
    assert "You sent ***" in json.loads(outputs[3])["steps"][1]["thought"]
    stored = b"".join(path.read_bytes() for path in Path(database.removeprefix("sqlite:///")).parent.iterdir())
    assert b"You sent ***" in stored
    for text in (*outputs, caplog.text, stored.decode(errors="replace")):
        assert KEY not in text and KEY[:8] not in text


# ---- what an episode cost


def test_three_forms_of_one_episode(database: str, endpoint: Any) -> None:
    """Tool calling, text and seeker find a bug with pdb, mend it and hand in; what it cost is exact, by model."""
    in_one_file = [task for task in load_benchmark("bugs").tasks() if task.fix.count("+++ ") == 1]
    task = min(in_one_file, key=lambda candidate: len(candidate.fail_to_pass) + len(candidate.pass_to_pass))
    fixed = apply_patch(task.files, task.fix)
    ((path, content),) = ((name, data) for name, data in fixed.items() if task.files.get(name) != data)
    looks, mends = {"command": "c\nw"}, {"path": path, "new_code": content.decode()}
    form = {
        "tools": [call("pdb", **looks), call("rewrite", **mends), call("submit")],
        "text": [
            says("```action\npdb\nc\nw\n```"),
            says(f"````action\nrewrite {path}\n{mends['new_code']}````"),
            says("````action\nsubmit\n````"),
        ],
        "small": [call("pdb", **looks), call("brief", files=path, text="It is wrong.")],
        "large": [call("rewrite", **mends), call("submit")],
    }
    asked_count = dict.fromkeys(form, 0)

    def answer(request: dict[str, Any]) -> Any:
        name = request["model"]
        asked_count[name] += 1
        return form[name][asked_count[name] - 1].with_(
            tokens_in=1000 + asked_count[name], tokens_cached=300, tokens_out=7
        )

    endpoint(answer, models=tuple(form))
    price = {"input": 0.7, "cached_input": 0.1, "output": 1.1}
    small = {"input": 0.3, "output": 0.9}
    entrants = [
        {"agent": "llm", "model": "tools", "config": {"price": price}},
        {"agent": "llm", "model": "text", "config": {"price": price, "syntax": "text"}},
        {
            "agent": "seeker",
            "model": "large",
            "config": {"seeker_model": "small", "price": price, "seeker": {"price": small}},
        },
    ]
    run = play_run(entrants=entrants, tasks=[task.id], steps=9)
    rows = {row["entrant"]: row for row in queries.episodes(connect(), run)}
    assert [row["verdict"] for row in rows.values()] == ["resolved"] * 3, [row["error"] for row in rows.values()]

    def cost(table: dict[str, float], questions: int) -> Decimal:
        of = {name: Decimal(str(value)) for name, value in table.items()}
        fresh = sum(700 + number for number in range(1, questions + 1))
        cached = of.get("cached_input", of["input"]) * 300 * questions
        return (fresh * of["input"] + cached + 7 * questions * of["output"]) / 1_000_000

    for name in ("llm/tools (debug)", "llm/text (debug)"):
        row = rows[name]
        assert (row["tokens_in"], row["tokens_out"], row["tokens_cached"]) == (3006, 21, 900)
        assert row["cost_usd"] == float(cost(price, 3))
    row = queries.episode(connect(), rows["seeker/large (debug)"]["id"])
    assert row["tokens_in"] == 4006 and row["cost_usd"] == float(cost(price, 2) + cost(small, 2))
    assert {name: task["cost_usd"] for name, task in row["usage"].items()} == {
        "small": float(cost(small, 2)),
        "large": float(cost(price, 2)),
    }

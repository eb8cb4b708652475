"""Exports: what was played by a model over the wire, with a key that must not show up anywhere."""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
import subprocess
import tracemalloc
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.models.runs import Step
from stackrank.db.writes.store import Store
from stackrank.flows.runs.afterwards.export import file_writers as write
from stackrank.flows.runs.afterwards.export.export import export
from stackrank.flows.runs.afterwards.export.exporter import exporter_names, find_exporter
from stackrank.flows.runs.afterwards.export.source import SPLITS, ExportSource, split_of
from stackrank.wording import as_json
from tests.fixtures.calls import CommandLine
from tests.fixtures.playing import play_run
from tests.support.databases import Databases
from tests.support.episodes import create_episodes
from tests.support.openai_server import OpenAIServer, call, says

pytestmark = pytest.mark.slow

OPEN = {"arguments", "state", "score", "usage", "faults", "milestones"}
"""The columns of the format jsonl that are JSON text."""
KEY = "sk-planted-0123456789-export"
SCRIPT = [
    call("view", path="nowhere.py").with_(content="I look ünd see."),
    says("Hm."),
    call("pdb", command="p 40 + 2"),
    call("submit"),
]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with one run of two entrants, in a folder of its own."""
    file = tmp_path_factory.mktemp("recorded") / "stackrank.db"
    with pytest.MonkeyPatch.context() as patch, OpenAIServer(SCRIPT, key=KEY) as server:
        patch.setenv("STACKRANK_DATABASE_URL", f"sqlite:///{file}")
        patch.setenv("OPENAI_BASE_URL", server.url)
        patch.setenv("OPENAI_API_KEY", KEY)
        entrants = [{"agent": "llm", "model": "scripted"}, {"agent": "oracle", "tools": "rewrite"}]
        play_run(entrants=entrants, limit=1, steps=9, name="played")
    return file


@pytest.fixture
def played(recorded: Path, stackrank: CommandLine, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line beside that database."""
    monkeypatch.setenv("STACKRANK_DATABASE_URL", f"sqlite:///{recorded}")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return stackrank


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def without_nulls(value: Any) -> Any:
    """The same without fields that are null, which Parquet has for each field that a record leaves out."""
    if isinstance(value, list):
        return list(map(without_nulls, value))
    if isinstance(value, dict):
        return {name: without_nulls(part) for name, part in value.items() if part is not None}
    return value


def beside_sentence(folder: Path) -> str:
    return str(json.loads((folder / "chat.jsonl.scope.json").read_text())["scope"]["sentence"])


def test_jsonl_is_one_trace_a_line(played: CommandLine) -> None:
    result = played("export", "played")
    assert result.status == 0 and "2 episodes of run 1 (played)" in result.err
    scope = played("leaderboard", "--run", "played", "--json").json()["scope"]["sentence"]
    for document in lines(result.out):
        assert document.pop("scope") == scope
        shown = played("trace", str(document["id"]), "--json").json()
        for parsed in (document, *document["steps"]):
            parsed |= {name: json.loads(parsed[name]) for name in OPEN if isinstance(parsed.get(name), str)}
        assert document == shown


def test_a_conversation_has_what_training_needs(played: CommandLine) -> None:
    (document,) = lines(played("export", "played", "--format", "chat", "--entrant", "llm/scripted (debug)").out)
    messages = document["messages"]
    roles = [message["role"] for message in messages]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user", "assistant", "tool", "assistant"]
    assert "expert" in messages[0]["content"] and "You have 9 steps" in messages[0]["content"]
    assert "Test command" in messages[1]["content"] and "failed" in messages[1]["content"]
    assert messages[2]["content"] == "I look ünd see."
    assert messages[4] == {"role": "assistant", "content": "Hm."}
    assert "calls no tool" in messages[5]["content"]
    tool_names = {tool["function"]["name"] for tool in json.loads(document["tools"])}
    for message, answer in itertools.pairwise(messages):
        for tool_call in message.get("tool_calls", []):
            assert answer["tool_call_id"] == tool_call["id"]
            assert tool_call["function"]["name"] in tool_names
            assert isinstance(json.loads(tool_call["function"]["arguments"]), dict)
    assert "42" in messages[7]["content"]
    assert document["metadata"]["verdict"] == "unresolved" and document["metadata"]["source"] == "recorded"
    assert [(answer["message"], answer["step"]) for answer in document["answers"]] == [(2, 1), (4, 2), (6, 3), (8, 4)]
    assert document["answers"][0]["tokens_in"] == 100


def test_exports_of_resolved_episodes_only(played: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    result = played("export", "latest", "--format", "chat", "--verdict", "resolved", "--out", str(file))
    assert result.out == ""
    (document,) = lines(file.read_text())
    assert document["metadata"]["entrant"] == "oracle (rewrite)"
    assert document["messages"][2]["tool_calls"][0]["function"]["name"] == "rewrite"
    assert document["metadata"]["source"] == "rendered"
    files = ["chat.jsonl", "chat.jsonl.card.md", "chat.jsonl.scope.json"]
    assert sorted(path.name for path in tmp_path.iterdir()) == files
    card = (tmp_path / "chat.jsonl.card.md").read_text()
    assert "3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44" in card and beside_sentence(tmp_path) in card
    scope = json.loads((tmp_path / "chat.jsonl.scope.json").read_text())
    assert (scope["file"], scope["format"], scope["episodes"]) == ("chat.jsonl", "chat", 1)
    assert scope["filters"] == {"verdict": ["resolved"]} and len(scope["scope"]["runs"]) == 1
    assert document["metadata"]["scope"] == scope["scope"]["sentence"]


@pytest.mark.parametrize("format", exporter_names())
def test_every_export_says_its_scope(played: CommandLine, tmp_path: Path, format: str) -> None:
    file = tmp_path / "out"
    assert played("export", "played", "--format", format, "--out", str(file)).status == 0
    scope = json.loads((tmp_path / "out.scope.json").read_text())["scope"]
    assert scope["benchmark"] == "bugs" and scope["conditions"]["steps"] == 9 and scope["runs"][0]["name"] == "played"
    if format == "swebench":  # a harness of others reads it: nothing is added there
        assert set(json.loads(file.read_text().splitlines()[0])) == {"instance_id", "model_name_or_path", "model_patch"}
    elif format == "atif":
        texts = [text.read_text() for text in sorted(file.iterdir())]
        assert len(texts) == 2 and all(scope["sentence"] in json.dumps(json.loads(text)["extra"]) for text in texts)
        assert "not empty" in played("export", "played", "--format", format, "--out", str(file)).sentence()
    elif format not in ("pairs", "seeker"):  # of which there are none here
        assert scope["sentence"] in file.read_text()


def test_links_and_pipes_stay_what_they_are(played: CommandLine, tmp_path: Path) -> None:
    expected = played("export", "played").out
    link, target, pipe = tmp_path / "link.jsonl", tmp_path / "target.jsonl", tmp_path / "pipe"
    link.symlink_to(target)
    assert played("export", "played", "--out", str(link)).status == 0
    assert link.is_symlink() and target.read_text() == expected
    os.mkfifo(pipe)
    files = sorted(tmp_path.iterdir())
    read = tmp_path.with_name(f"{tmp_path.name}-read")
    with read.open("w") as copy, subprocess.Popen(["cat", str(pipe)], stdout=copy) as reader:
        assert played("export", "played", "--out", str(pipe)).status == 0
        assert reader.wait(60) == 0
    assert read.read_text() == expected
    assert pipe.is_fifo() and sorted(tmp_path.iterdir()) == files


def test_csv(played: CommandLine) -> None:
    rows = list(csv.DictReader(io.StringIO(played("export", "played", "--format", "csv").out)))
    listed = played("episodes", "played", "--json").json()
    assert [(row["id"], row["verdict"], row["stop_reason"]) for row in rows] == [
        (str(row["id"]), row["verdict"], row["stop_reason"]) for row in listed
    ]
    assert "scope" in rows[0] and len(rows) == 2


def test_requests_are_exported_with_their_answers(played: CommandLine) -> None:
    requests = lines(played("export", "played", "--format", "requests").out)
    assert [request["step"] for request in requests] == [1, 2, 3, 4]
    first, second = (json.loads(request["request"]) for request in requests[:2])
    assert second["messages"][:2] == first["messages"]
    assert json.loads(requests[0]["answer"])["choices"][0]["message"]["content"] == "I look ünd see."
    assert {request["task"] for request in requests} == {requests[0]["task"]} and {
        request["split"] for request in requests
    } <= {*SPLITS}


def test_steps_have_rewards(played: CommandLine, tmp_path: Path) -> None:
    steps = lines(played("export", "played", "--format", "steps").out)
    rewards = [(step["entrant"], step["index"], step["reward"], step["done"]) for step in steps]
    assert [step for step in rewards if step[0] != "oracle (rewrite)"] == [
        ("llm/scripted (debug)", index, 0.0, index == 4) for index in range(1, 5)
    ]
    assert sum(reward for entrant, _, reward, _ in rewards if entrant == "oracle (rewrite)") == 1.0
    assert steps[0]["observation_before"].startswith("Test command") or "failed" in steps[0]["observation_before"]
    assert steps[0]["answers"][0]["tokens_out"] == 10 and steps[0]["answers"][0]["conversation"] == "main"
    file = tmp_path / "steps.parquet"
    assert played("export", "played", "--format", "steps", "--out", str(file)).status == 0
    table = pyarrow.parquet.read_table(file).to_pylist()
    assert [step["reward"] for step in table] == [step["reward"] for step in steps]
    assert [without_nulls(step["answers"]) for step in table] == [without_nulls(step["answers"]) for step in steps]
    assert json.loads((tmp_path / "steps.parquet.scope.json").read_text())["records"] == len(steps)


def test_every_format_as_parquet(recorded: Path, tmp_path: Path) -> None:
    engine = connect(f"sqlite:///{recorded}")
    run = queries.run(engine, "played")
    for format in exporter_names():
        exporter = find_exporter(format)
        file = tmp_path / f"{format}.parquet"
        assert export(engine, run, format, file, {}) == 2
        records = list(exporter.typed_records(ExportSource(engine, run, {})))
        assert without_nulls(pyarrow.parquet.read_table(file).to_pylist()) == without_nulls(records), format


def test_splits_are_by_task_and_the_same_everywhere(databases: Databases, tmp_path: Path) -> None:
    digests = [f"{number:016x}" for number in range(4000)]
    shares = Counter(split_of(digest) for digest in digests)
    assert {name: round(count / 4000, 1) for name, count in shares.items()} == SPLITS
    assert [split_of(digest) for digest in ("0", "1", "10", "11")] == ["train", "test", "test", "validation"]
    engine = connect(databases.seeded(tmp_path / "x.db", runs=1, live=False)[0])
    run = queries.run(engine, 1)
    by_split = {name: [row for row, _ in ExportSource(engine, run, {}, [name]).played()] for name in SPLITS}
    assert sum(map(len, by_split.values())) == 60
    tasks = [{row["task"] for row in rows} for rows in by_split.values()]
    assert not tasks[0] & tasks[1] and not tasks[0] & tasks[2] and not tasks[1] & tasks[2]


def test_no_export_and_no_table_holds_a_key(played: CommandLine, recorded: Path) -> None:
    for name in exporter_names():
        assert KEY not in played("export", "played", "--format", name).out
    files = list(recorded.parent.glob("stackrank.db*"))
    assert files
    for file in files:
        assert KEY.encode() not in file.read_bytes()


@pytest.mark.parametrize(
    ("call", "status", "words"),
    [
        ("export nothing", 2, ["nothing", "stackrank runs"]),
        ("export --format parquet", 2, ["parquet", "jsonl, csv, swebench"]),
        ("export --split all", 2, ["all", "train, validation, test"]),
        ("export --format pairs --verdict resolved", 2, ["--verdict resolved"]),
        ("export --failure-point lost", 2, ["--failure-point lost"]),
        ("export --out /no/such/folder/x", 2, ["/no/such/folder/x", "create it first"]),
        ("export --entrant nobody", 2, ["run 1 has no entrant 'nobody'", "stackrank episodes 1"]),
        ("export --task nothing --format csv", 2, ["run 1 has no task 'nothing'"]),
        ("export --out /tmp", 2, ["/tmp is a folder", "--out"]),
    ],
)
def test_bad_calls(
    stackrank: CommandLine, databases: Databases, database: str, call: str, status: int, words: list[str]
) -> None:
    databases.seeded(Path(database.removeprefix("sqlite:///")), runs=1, live=False)
    result = stackrank(*call.split())
    assert result.status == status
    assert all(word in result.sentence() for word in words)


def test_memory_does_not_depend_on_the_number_of_episodes(databases: Databases, tmp_path: Path) -> None:
    url, seed = databases.seeded(tmp_path / "x.db", runs=1, live=False)
    engine = connect(url)
    store = Store(engine)
    (task, *_), entrant = seed.benchmark.task_ids.values(), next(iter(seed.entrants.values()))
    run_id = store.create_run(name="long", benchmark_id=seed.benchmark.id, spec={"steps": 9})
    cells = create_episodes(store, run_id, [(task, entrant, attempt) for attempt in range(1, 301)])
    for episode in cells.values():
        store.add_step(Step(episode_id=episode, index=0, observation="x" * 100_000))
    tracemalloc.start()
    export(engine, queries.run(engine, run_id), "jsonl", tmp_path / "all.jsonl", {})
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (tmp_path / "all.jsonl").stat().st_size > 30_000_000 > 3 * peak
    assert len(queries.episodes(engine, run_id, limit=1000)) == 300


@pytest.mark.parametrize(
    "value",
    [-(2**70), 1.5e300, "\ud800", "\x7f\u202e\x1b[2J é", {1: [None, True]}, Counter(a=1), Path("x"), "\u2028\0"],
)
def test_a_line_is_printable_json(value: Any) -> None:
    (line,) = write.lines([{"value": value}])
    assert json.loads(line) == json.loads(as_json({"value": value})) and line.count("\n") == 1
    assert line.rstrip("\n").isprintable()

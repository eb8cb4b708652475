"""The types of exports: hostile values first, then what pandas, pyarrow, datasets and DuckDB read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.models.runs import Step
from stackrank.db.writes.store import Store
from stackrank.errors import PluginError
from stackrank.flows.runs.afterwards.export import file_writers
from stackrank.flows.runs.afterwards.export.columns import Column, columns_of, typed_record
from stackrank.flows.runs.afterwards.export.export import export
from stackrank.flows.runs.afterwards.export.exporter import exporter_names, find_exporter
from tests.support.databases import Databases
from tests.support.episodes import create_episodes, start

ARGUMENTS: list[dict[str, Any]] = [
    {"path": "a.py", "start": 2},
    {"path": "a.py", "start": "2"},
    {"path": ["a.py"], "start": None, "deep": {"x": [1, "1", {"y": None}]}},
    {"path": {"of": 1.5}, "": True, "ünï": "\u2028"},
    {},
]
"""What models send for the same tool: no two have one type."""


class Inner(TypedDict):
    """A record in a record."""

    share: float
    word: NotRequired[str]


@dataclass
class Counts:
    """A dataclass as a row type."""

    some: int
    more: int = 0


class Everything(TypedDict):
    """A field of each kind."""

    number: int
    share: float | None
    flag: bool
    word: str
    choice: Literal["a", "b"]
    words: list[str]
    inner: Inner
    inners: list[Inner]
    counts: Counts
    mixed: int | str
    by_name: dict[str, int]
    bag: list[dict[str, Any]]
    late: NotRequired[list[int]]


RECORD: dict[str, Any] = {
    "number": 2**62, "share": 1, "flag": False, "word": "", "choice": "a", "words": [], "inner": {"share": 0},
    "inners": [{"share": 2, "word": "w"}, {"share": 0.5}], "counts": {"some": 3}, "mixed": "2", "by_name": {"é": 1},
    "bag": [{"x": 1}, {"x": "1"}],
}  # fmt: skip


@pytest.fixture
def mixed(databases: Databases, tmp_path: Path) -> Iterator[tuple[Any, Any]]:
    """A run with an episode for each of `ARGUMENTS`, by turns resolved and not."""
    url, seed = databases.seeded(tmp_path / "x.db", runs=1, live=False)
    engine = connect(url)
    store = Store(engine)
    (task, *_), entrant = seed.benchmark.task_ids.values(), next(iter(seed.entrants.values()))
    run = store.create_run(name="mixed", benchmark_id=seed.benchmark.id, spec={"steps": 9})
    cells = create_episodes(store, run, [(task, entrant, attempt) for attempt in range(1, len(ARGUMENTS) + 1)])
    for number, (episode, arguments) in enumerate(zip(cells.values(), ARGUMENTS, strict=True)):
        start(store, episode)
        state = {"kind": "other", "tests": {"passed": "many"}} if number else {"kind": "none"}
        store.add_step(Step(episode_id=episode, index=0, observation="begin"))
        store.add_step(Step(episode_id=episode, index=1, tool="view", arguments=arguments, state=state, env_ms=1))
        verdict = "resolved" if number % 2 else "unresolved"
        store.finish_episode(episode, verdict=verdict, stop_reason="submitted", steps=1, sealed=12 * (number % 2))
    yield engine, queries.run(engine, run)
    engine.dispose()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"number": "2"}, ["number is '2'", "whole number"]),
        ({"number": True}, ["number is True"]),
        ({"number": 2**63}, ["number is 9223372036854775808"]),
        ({"number": 1.0}, ["number is 1.0"]),
        ({"flag": 1}, ["flag is 1", "true or false"]),
        ({"word": None}, ["word is None", "text"]),
        ({"words": "abc"}, ["words is 'abc'", "list of texts"]),
        ({"inners": [{"share": 1}, {"share": "x"}]}, ["inners[].share is 'x'", "number"]),
        ({"inner": {}}, ["inner.share is None"]),
        ({"counts": {"some": 1, "other": 2}}, ["counts.other", "row type"]),
        ({"new": 1}, ["the field new", "row type"]),
    ],
)
def test_records_that_contradict_their_row_type(change: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(PluginError) as error:
        typed_record(RECORD | change, columns_of(Everything))
    assert all(word in str(error.value) for word in words)


def test_every_kind_of_field(tmp_path: Path) -> None:
    columns = columns_of(Everything)
    kinds = {name: column.type_name for name, column in columns.items()}
    assert kinds["mixed"] == kinds["by_name"] == kinds["bag"] == "JSON text" and kinds["inners"] == "list of records"
    assert columns["late"] == Column("list", optional=True, items=Column("whole number"))
    assert not columns["counts"].fields["some"].optional and columns["counts"].fields["more"].optional
    typed = typed_record(RECORD, columns)
    assert (typed["late"], typed["inner"], typed["mixed"], typed["share"]) == (None, {"share": 0.0}, '"2"', 1.0)
    assert type(typed["share"]) is float and json.loads(typed["bag"]) == RECORD["bag"]
    late = typed_record(RECORD | {"late": [5], "inner": {"share": 1, "word": "x"}}, columns)
    file = tmp_path / "x.parquet"
    file_writers.write_parquet(file, [typed] * 600 + [late], columns)
    table = pq.read_table(file)
    assert table.num_rows == 601 and table.to_pylist()[-1]["late"] == [5]
    assert table.schema.field("inners").type == pa.list_(
        pa.struct([pa.field("share", pa.float64(), nullable=False), pa.field("word", pa.string())])
    )
    assert table.to_pylist()[0]["inner"] == {"share": 0.0, "word": None}
    file_writers.write_parquet(file, [], columns)
    assert pq.read_schema(file) == table.schema


def test_large_records_are_written_in_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_writers, "_MOST_CHARACTERS", 50)
    records = [{"share": float(number), "word": "x" * 20} for number in range(10)]
    file_writers.write_parquet(tmp_path / "x.parquet", records, columns_of(Inner))
    assert pq.ParquetFile(tmp_path / "x.parquet").num_row_groups == 4
    assert pq.read_table(tmp_path / "x.parquet").to_pylist() == records


@pytest.mark.parametrize("format", exporter_names())
def test_every_format_has_the_types_of_its_row(mixed: tuple[Any, Any], tmp_path: Path, format: str) -> None:
    engine, run = mixed
    out = tmp_path / "x.parquet"
    export(engine, run, format, out, {})
    columns = find_exporter(format).columns
    assert list(columns) == pq.read_schema(out).names
    expected = {"whole number": pa.types.is_int64, "number": pa.types.is_float64, "true or false": pa.types.is_boolean}
    expected |= {"list": pa.types.is_list, "record": pa.types.is_struct}
    for arrow in pq.read_schema(out):
        assert expected.get(columns[arrow.name].kind, pa.types.is_string)(arrow.type), (format, arrow)
    described = json.loads((tmp_path / "x.parquet.scope.json").read_text())["columns"]
    assert described == {name: column.type_name for name, column in columns.items()}


def test_arithmetic_in_pandas(mixed: tuple[Any, Any], tmp_path: Path) -> None:
    engine, run = mixed
    for format, name in (("jsonl", "e.parquet"), ("csv", "c.parquet"), ("csv", "c.csv"), ("jsonl", "e.jsonl")):
        file = tmp_path / name
        export(engine, run, format, file, {})
        read: Any = {".parquet": pd.read_parquet, ".csv": pd.read_csv}.get(file.suffix, pd.read_json)
        frame = read(file, **({"lines": True} if file.suffix == ".jsonl" else {}))
        assert frame[frame.counted].sealed.mean() == pytest.approx(24 / 5), name
        assert frame.env_ms.sum() == 0 and frame.run_id.nunique() == 1 and frame.at_edited.isna().all(), name
        assert (frame.counted.dtype, frame.tampered.dtype) == (bool, bool), name
    steps = pd.read_parquet(tmp_path / "e.parquet").steps.iloc[1]
    assert [step["env_ms"] for step in steps] == [0.0, 1.0] and json.loads(steps[1]["arguments"]) == ARGUMENTS[1]
    export(engine, run, "csv", tmp_path / "none.csv", {"verdict": ["error"]})
    assert list(pd.read_csv(tmp_path / "none.csv")) == list(find_exporter("csv").columns)


@pytest.mark.parametrize("format", [name for name in ("steps", "jsonl") if name in exporter_names()])
def test_mixed_arguments_are_readable_in_datasets(
    mixed: tuple[Any, Any], tmp_path: Path, format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "HF_HUB_OFFLINE", "1")
    monkeypatch.setitem(os.environ, "HF_HOME", str(tmp_path / "cache"))
    datasets = pytest.importorskip("datasets")
    engine, run = mixed
    kinds = {".jsonl": "json", ".parquet": "parquet"}
    for suffix, kind in kinds.items():
        file = tmp_path / f"x{suffix}"
        export(engine, run, format, file, {})
        # 200 bytes at a time, so that each line is parsed without knowing the others
        options = {"chunksize": 200} if kind == "json" else {}
        rows = datasets.load_dataset(kind, data_files=str(file), split="train", cache_dir=tmp_path / suffix, **options)
        texts = [(row["steps"][1] if format == "jsonl" else row)["arguments"] for row in rows]
        assert [json.loads(text) for text in texts] == ARGUMENTS
        assert rows.features["attempt"].dtype == "int64"


def test_queries_in_duckdb(mixed: tuple[Any, Any], tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    engine, run = mixed
    for format, name in (("jsonl", "e.parquet"), ("jsonl", "e.jsonl"), ("csv", "c.csv")):
        export(engine, run, format, tmp_path / name, {})
        connection = duckdb.connect()
        ((sealed, kind),) = connection.sql(
            f"select avg(sealed) filter (where counted), any_value(typeof(counted)) from '{tmp_path / name}'"
        ).fetchall()
        assert (sealed, kind) == (pytest.approx(24 / 5), "BOOLEAN"), name
    rows = connection.sql(
        f"select s.arguments->>'start' from (select unnest(steps) s from '{tmp_path / 'e.parquet'}') where s.index = 1"
    )
    assert {row for (row,) in rows.fetchall()} == {"2", None}

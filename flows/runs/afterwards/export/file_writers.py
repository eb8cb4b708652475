"""Writes records to files: JSON lines, CSV, Parquet, or one file per record. Files appear complete or not at all."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import orjson

from stackrank.flows.runs.specification.spec import SpecError
from stackrank.wording import as_json, csv_lines, escaped

Record = Mapping[str, Any]
_QUICKLY = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS
"""Makes orjson refuse what is not plain JSON, which is then left to `as_json`."""
_AT_ONCE = 500
_MOST_CHARACTERS = 32 << 20
"""Most records of a Parquet file in memory at once, and the number of their characters after which they are written."""


def lines(records: Iterable[Record]) -> Iterator[str]:
    """Yield one JSON object a line."""
    return map(_line, records)


def _line(record: Record) -> str:
    """Return the same as `as_json`, but much faster if orjson can write the record."""
    try:
        text = orjson.dumps(record, option=_QUICKLY).decode()
    except TypeError:  # lone surrogates, large numbers, other objects
        return as_json(record) + "\n"
    return (text if text.isascii() and "\x7f" not in text else escaped(text)) + "\n"


def table(records: Iterator[Record]) -> Iterator[str]:
    """Yield CSV with the field names of the first record as its header."""
    first = next(records, None)
    if first is not None:
        cells = ([record[name] for name in first] for record in chain([first], records))
        yield from csv_lines(chain([list(first)], cells))


def write_stdout(pieces: Iterable[str]) -> None:
    """Write texts to standard output."""
    sys.stdout.writelines(pieces)


def is_stream(out: Path) -> bool:
    """Whether `out` is a pipe, a terminal or another device, to which texts are written as they come."""
    return out.exists() and not out.is_file() and not out.is_dir()


@contextmanager
def written_whole(out: Path) -> Iterator[Path]:
    """Yield where to write `out`. A file gets its name only when it is complete; links and devices stay what they are.

    Raises SpecError if `out` is a folder, or is to be in a folder that does not exist.
    """
    if is_stream(out):
        yield out
        return
    if out.is_dir():
        raise SpecError(f"{out} is a folder: name a file in it with --out")
    target = out.resolve()
    if not target.parent.is_dir():
        raise SpecError(f"{out} cannot be written, because there is no folder {target.parent}: create it first")
    part = target.with_name(f"{target.name}.part")
    try:
        yield part
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def write_text(out: Path, pieces: Iterable[str]) -> None:
    """Write a text file; see `written_whole`. Raises SpecError, OSError."""
    with written_whole(out) as place, place.open("w", encoding="utf-8", newline="") as file:
        file.writelines(pieces)


def write_parquet(out: Path, records: Iterable[Record], optional: Iterable[str] = ()) -> None:
    """Write a Parquet file with a column for each field: numbers and booleans as such, text as text, all else as JSON.

    `optional`: fields that not every record has. Raises OSError; ValueError for a record with fields that neither the
    first records have nor `optional` names.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {
        **dict.fromkeys(_INTEGERS, pa.int64()),
        **dict.fromkeys(_NUMBERS, pa.float64()),
        **dict.fromkeys(_TRUTHS, pa.bool_()),
    }
    waiting: list[dict[str, Any]] = []
    characters = 0
    writer: pq.ParquetWriter | None = None
    schema = pa.schema([])

    def flush(part: Path) -> None:
        nonlocal writer, schema, characters
        if writer is None:
            nested = {name for row in waiting for name, value in row.items() if isinstance(value, str)}
            names = dict.fromkeys([*(name for row in waiting for name in row), *(optional if waiting else ())])
            of = {name: kind for name, kind in kinds.items() if name not in nested}
            schema = pa.schema([(name, of.get(name, pa.string())) for name in names])
            writer = pq.ParquetWriter(part, schema, compression="zstd")
        if unknown := {name for row in waiting for name in row}.difference(schema.names):
            raise ValueError(f"{out}: there is no column for {', '.join(sorted(unknown))}: name it among `optional`")
        writer.write_table(pa.Table.from_pylist(waiting, schema))
        waiting.clear()
        characters = 0

    with written_whole(out) as part:
        for record in records:
            row = {name: _cell(value, name) for name, value in record.items()}
            waiting.append(row)
            characters += sum(len(value) for value in row.values() if isinstance(value, str))
            if len(waiting) == _AT_ONCE or characters > _MOST_CHARACTERS:
                flush(part)
        flush(part)
        assert writer is not None
        writer.close()


# Types are chosen by name, because the first records do not show what types the others have.
_INTEGERS = (
    "id", "episode", "attempt", "index", "step", "steps", "number", "investigation", "distance_lines", "tests_passed",
    "tests_failed", "tokens_in", "tokens_out", "tokens_cached", "chosen_episode", "rejected_episode",
)  # fmt: skip
_NUMBERS = ("reward", "cost_usd", "wall_s")
_TRUTHS = ("ok", "done", "resolved", "led_to_fix", "read")
_TYPED = {*_INTEGERS, *_NUMBERS, *_TRUTHS}


def _cell(value: Any, name: str) -> Any:
    typed = name in _TYPED and not isinstance(value, list | dict)
    if value is None or isinstance(value, str) or typed:
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def write_folder(out: Path, records: Iterable[Record], name: str) -> None:
    """Write a JSON file for each record, named after its field `name`. Raises SpecError if the folder is not empty."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise SpecError(f"{out} already exists and is not empty: name a new folder with --out")
    part = out.with_name(f"{out.name}.part")
    part.mkdir(parents=True)  # fails if another export is writing there
    try:
        for record in records:
            file = part / f"{record[name]}.json"
            file.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        part.replace(out)
    finally:
        shutil.rmtree(part, ignore_errors=True)

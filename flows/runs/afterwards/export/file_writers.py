"""Writes records to files: JSON lines, CSV, Parquet, or one file per record. Files appear complete or not at all."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

import orjson

from stackrank.flows.runs.afterwards.export.columns import Column, Columns
from stackrank.flows.runs.specification.spec import SpecError
from stackrank.host.disk import naming
from stackrank.wording import as_json, csv_lines, escaped

Record = Mapping[str, Any]
_QUICKLY = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS
"""Makes orjson refuse what is not plain JSON, which is then left to `as_json`."""
_AT_ONCE = 500
_MOST_CHARACTERS = 32 << 20
"""Most records of a Parquet file in memory at once, and the number of their characters after which they are written."""


def lines(records: Iterable[Record], columns: Columns = MappingProxyType({})) -> Iterator[str]:
    """Yield one JSON object a line."""
    return map(_line, records)


def _line(record: Record) -> str:
    """Return the same as `as_json`, but much faster if orjson can write the record."""
    try:
        text = orjson.dumps(record, option=_QUICKLY).decode()
    except TypeError:  # lone surrogates, large numbers, other objects
        return as_json(record) + "\n"
    return (text if text.isascii() and "\x7f" not in text else escaped(text)) + "\n"


def table(records: Iterable[Record], columns: Columns) -> Iterator[str]:
    """Yield CSV with the names of the columns as its header."""
    return csv_lines(chain([list(columns)], ([record[name] for name in columns] for record in records)))


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
        with naming(out):
            yield out
        return
    if out.is_dir():
        raise SpecError(f"{out} is a folder: name a file in it with --out")
    target = out.resolve()
    if not target.parent.is_dir():
        raise SpecError(f"{out} cannot be written, because there is no folder {target.parent}: create it first")
    part = target.with_name(f"{target.name}.part")
    with naming(out, part):
        try:
            yield part
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)


def write_text(out: Path, pieces: Iterable[str]) -> None:
    """Write a text file; see `written_whole`. Raises SpecError, OSError."""
    with written_whole(out) as place, place.open("w", encoding="utf-8", newline="") as file:
        file.writelines(pieces)


def write_parquet(out: Path, records: Iterable[Record], columns: Columns) -> None:
    """Write typed records as a Parquet file. Raises SpecError, OSError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([_arrow_field(name, column) for name, column in columns.items()])
    with written_whole(out) as part, pq.ParquetWriter(part, schema, compression="zstd") as writer:
        for group in _groups(records):
            writer.write_table(pa.Table.from_pylist(group, schema))


def _groups(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Yield records in groups that fit into memory."""
    group: list[Record] = []
    characters = 0
    for record in records:
        group.append(record)
        characters += _count_characters(record)
        if len(group) == _AT_ONCE or characters > _MOST_CHARACTERS:
            yield group
            group, characters = [], 0
    if group:
        yield group


def _count_characters(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    return (
        sum(map(_count_characters, value.values() if isinstance(value, dict) else value))
        if (isinstance(value, dict | list))
        else 0
    )


def _arrow_field(name: str, column: Column) -> Any:
    import pyarrow as pa

    return pa.field(name, _arrow_type(column), nullable=column.optional)


def _arrow_type(column: Column) -> Any:
    import pyarrow as pa

    if column.items:
        return pa.list_(_arrow_type(column.items))
    if column.kind == "record":
        return pa.struct([_arrow_field(name, part) for name, part in column.fields.items()])
    return {"whole number": pa.int64(), "number": pa.float64(), "true or false": pa.bool_()}.get(
        column.kind, pa.string()
    )


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

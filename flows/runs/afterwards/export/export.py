"""Exports a run's episodes for other programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from stackrank.flows.runs.afterwards.export.data_card import data_card
from stackrank.flows.runs.afterwards.export.exporter import find_exporter
from stackrank.flows.runs.afterwards.export.file_writers import (
    is_stream,
    write_folder,
    write_parquet,
    write_stdout,
    write_text,
)
from stackrank.flows.runs.afterwards.export.source import SPLITS, ExportSource
from stackrank.flows.runs.specification.spec import SpecError


def export(
    engine: Engine,
    run: Mapping[str, Any],
    format: str,
    out: Path | None,
    filters: Mapping[str, Any],
    splits: Sequence[str] = (),
) -> int:
    """Write the episodes of a run to `out`, or to standard output if it is None. Returns the number of episodes.

    A pipe or a device gets the records alone. Next to a file, its scope is written: for programs NAME.scope.json,
    and for people NAME.card.md. Records with room for the scope contain it, too. `run`: as `queries.run` returns
    it. `filters`: as `queries.episodes` takes them. `splits`: export only the tasks of these; none means all. A
    name that ends with `.parquet` is written as Parquet.
    Raises SpecError, PluginError, OSError.
    """
    exporter = find_exporter(format)
    if unknown := sorted(set(splits) - set(SPLITS)):
        raise SpecError(f"there is no split {unknown[0]!r}: choose one of {', '.join(SPLITS)}")
    source = ExportSource(engine, run, filters, splits)
    for name, values in source.unknown().items():
        raise SpecError(
            f"run {run['id']} has no {name} {values[0]!r}: `stackrank episodes {run['id']}` lists what it has"
        )
    record_count = 0

    def records() -> Iterator[Mapping[str, Any]]:
        nonlocal record_count
        as_documents = exporter.file_name and (out is None or out.suffix != ".parquet")
        for record in exporter.records(source) if as_documents else exporter.typed_records(source):
            record_count += 1
            yield record

    if out is None:
        write_stdout(exporter.pieces(records(), exporter.columns))
        return sum(source.counts.values())
    if out.suffix == ".parquet":
        write_parquet(out, records(), exporter.columns)
    elif exporter.file_name:
        write_folder(out, records(), exporter.file_name)
    else:
        write_text(out, exporter.pieces(records(), exporter.columns))
    episodes = sum(source.counts.values())
    if is_stream(out):
        return episodes
    active_filters = {name: value for name, value in {**filters, "split": list(splits)}.items() if value}
    metadata = {
        "file": out.name,
        "format": format,
        "filters": active_filters,
        "episodes": episodes,
        "records": record_count,
    }
    types = {name: column.type_name for name, column in exporter.columns.items()}
    document = json.dumps({**metadata, "columns": types, "scope": source.scope}, indent=1, ensure_ascii=False) + "\n"
    write_text(out.with_name(f"{out.name}.scope.json"), [document])
    write_text(out.with_name(f"{out.name}.card.md"), [data_card(source, metadata, exporter.description)])
    return episodes

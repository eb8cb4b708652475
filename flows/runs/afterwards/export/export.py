"""Exports a run's episodes for other programs.

A format is a function from a `Source` to records. Records are generated one by one, so memory does not depend on the
number of episodes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from stackrank.extensions.training.exports import atif, briefs, conversations, pairs
from stackrank.flows.runs.afterwards.export import plain_records
from stackrank.flows.runs.afterwards.export.data_card import data_card
from stackrank.flows.runs.afterwards.export.file_writers import (
    is_stream,
    lines,
    table,
    write_folder,
    write_parquet,
    write_stdout,
    write_text,
)
from stackrank.flows.runs.afterwards.export.source import SPLITS, Source
from stackrank.flows.runs.specification.spec import SpecError


@dataclass(frozen=True, slots=True)
class Format:
    """One way to export a run."""

    records: Callable[[Source], Iterator[dict[str, Any]]]
    about: str
    """Describes one record, for people."""
    pieces: Callable[[Iterator[Mapping[str, Any]]], Iterator[str]] = lines
    """Turns records into text."""
    file_name: str = ""
    """The field that names a record's file, if each record is a separate file."""
    optional: tuple[str, ...] = ()
    """Fields that not every record has."""


FORMATS: dict[str, Format] = {
    "jsonl": Format(
        plain_records.jsonl, "an episode with all its steps: action, thought, observation, state, times, tokens"
    ),
    "chat": Format(
        conversations.chat,
        "a conversation as the model had it, with its last answer: messages, tools, what each answer cost",
        optional=("tools", "parallel_tool_calls"),
    ),
    "requests": Format(conversations.requests, "a request to a model as it was sent, and the answer as it came"),
    "steps": Format(plain_records.steps, "an action and its observation, with reward, reasoning and tokens"),
    "pairs": Format(
        pairs.pairs,
        "two conversations, two answers in one state, or two changes: the chosen one led to a fix, or was approved",
        optional=("rejected_tools",),
    ),
    "seeker": Format(
        briefs.seeker, "a brief of the agent seeker: the conversation before it, whether a fix came of it, what it cost"
    ),
    "atif": Format(
        atif.atif,
        "an episode as a trajectory of ATIF 1.8",
        file_name="trajectory_id",
        optional=("subagent_trajectories",),
    ),
    "csv": Format(plain_records.csv, "an episode without its steps", pieces=table),
    "swebench": Format(plain_records.predictions, "a prediction for SWE-bench's own harness"),
}


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
    Raises SpecError, OSError.
    """
    if format not in FORMATS:
        raise SpecError(f"there is no format {format!r}: choose one of {', '.join(FORMATS)}")
    if unknown := sorted(set(splits) - set(SPLITS)):
        raise SpecError(f"there is no split {unknown[0]!r}: choose one of {', '.join(SPLITS)}")
    output = FORMATS[format]
    source = Source(engine, run, filters, splits)
    for name, values in source.unknown().items():
        raise SpecError(
            f"run {run['id']} has no {name} {values[0]!r}: `stackrank episodes {run['id']}` lists what it has"
        )
    record_count = 0

    def records() -> Iterator[dict[str, Any]]:
        nonlocal record_count
        for record in output.records(source):
            record_count += 1
            yield record

    if out is None:
        write_stdout(output.pieces(records()))
        return sum(source.counts.values())
    if out.suffix == ".parquet":
        write_parquet(out, records(), output.optional)
    elif output.file_name:
        write_folder(out, records(), output.file_name)
    else:
        write_text(out, output.pieces(records()))
    episodes = sum(source.counts.values())
    if is_stream(out):
        return episodes
    used_filters = {name: value for name, value in {**filters, "split": list(splits)}.items() if value}
    facts = {"file": out.name, "format": format, "filters": used_filters, "episodes": episodes, "records": record_count}
    scope_json = json.dumps({**facts, "scope": source.scope}, indent=1, ensure_ascii=False) + "\n"
    write_text(out.with_name(f"{out.name}.scope.json"), [scope_json])
    write_text(out.with_name(f"{out.name}.card.md"), [data_card(source, facts, output.about)])
    return episodes

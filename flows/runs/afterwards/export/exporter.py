"""What a format for exporting a run is, and the formats by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stackrank.errors import PluginError
from stackrank.flows.runs.afterwards.export import plain_records
from stackrank.flows.runs.afterwards.export.columns import Columns, columns_of, typed_record
from stackrank.flows.runs.afterwards.export.file_writers import lines, table
from stackrank.flows.runs.afterwards.export.source import ExportSource
from stackrank.flows.runs.specification.spec import SpecError
from stackrank.plugins import load_plugin, plugin_names

EXPORTERS = "stackrank.exporters"


@dataclass(frozen=True, slots=True)
class Exporter:
    """A format for exporting a run. The name of its entry point is the name of the format."""

    records: Callable[[ExportSource], Iterator[Mapping[str, Any]]]
    """Yields the records one by one, so that memory does not depend on the number of episodes."""
    row: type
    """The type of a record, a TypedDict or a dataclass: see `columns.py`."""
    description: str
    """Describes one record, for people."""
    pieces: Callable[[Iterator[Mapping[str, Any]], Columns], Iterator[str]] = lines
    """Turns records into text."""
    file_name: str = ""
    """The field that names a record's file, if each record is a document in a form that others define. Only columns of
    Parquet have the types of `row` then."""

    @property
    def columns(self) -> Columns:
        """What the fields of a record hold."""
        return columns_of(self.row)

    def typed_records(self, source: ExportSource) -> Iterator[dict[str, Any]]:
        """Yield the records with exactly the fields and types of `row`. Raises PluginError for one that has others."""
        columns = self.columns
        return (typed_record(record, columns) for record in self.records(source))


BUILT_IN = {
    "jsonl": Exporter(
        plain_records.jsonl,
        plain_records.EpisodeRecord,
        "an episode with all its steps: action, thought, observation, state, times, tokens",
    ),
    "csv": Exporter(plain_records.csv, plain_records.EpisodeLine, "an episode without its steps", pieces=table),
    "swebench": Exporter(
        plain_records.predictions, plain_records.Prediction, "a prediction for SWE-bench's own harness"
    ),
}


def exporter_names() -> list[str]:
    """Return the names of all formats."""
    return list(dict.fromkeys([*BUILT_IN, *plugin_names(EXPORTERS)]))


def find_exporter(name: str) -> Exporter:
    """Return the format of that name. Raises SpecError if there is none, PluginError if it cannot be loaded."""
    exporter = BUILT_IN.get(name) or load_plugin(EXPORTERS, name)
    if exporter is None:
        raise SpecError(f"there is no format {name!r}: choose one of {', '.join(exporter_names())}")
    if not isinstance(exporter, Exporter):
        raise SpecError(f"the format {name} is not a stackrank.api.Exporter: correct its entry point")
    return exporter


def describe_exporters() -> list[tuple[str, str]]:
    """Return the name of each format and what one record is, for people."""
    return [(name, _describe(name)) for name in exporter_names()]


def _describe(name: str) -> str:
    try:
        return find_exporter(name).description
    except PluginError as error:
        return str(error)

"""The data card of an export: its content, its origin, and what it must not be used for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import jinja2

from stackrank.db import queries
from stackrank.flows.runs.afterwards.export.source import SPLITS, ExportSource

_TEMPLATE = Path(__file__).with_name("card.md.j2")
_CANARY = re.compile(r"[\w-]*canary[\w-]*(?:[ :]+\w+)*[ :]+[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_LOOKED_AT = 5
"""Number of tasks that are searched for the canary, because a benchmark has one canary for all tasks."""
_VERDICTS = ("resolved", "unresolved", "error", "")


def data_card(source: ExportSource, metadata: Mapping[str, Any], record: str) -> str:
    """Return Markdown with the metadata that the data set hub reads. `metadata`: file, format, filters, episodes,
    records.

    `record`: what one record is.
    """
    counts = [
        (split, [source.counts.get((split, verdict), 0) for verdict in _VERDICTS])
        for split in SPLITS
        if any(source.counts.get((split, verdict)) for verdict in _VERDICTS)
    ]
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(_TEMPLATE.read_text(encoding="utf-8")).render(
        **metadata,
        record=record,
        scope=source.scope,
        benchmark=source.benchmark,
        run=source.run,
        counts=counts,
        canary=find_canary(source),
        shares={name: round(100 * share) for name, share in SPLITS.items()},
    )


def find_canary(source: ExportSource) -> str:
    """Find the benchmark's canary in its tasks' known fixes or files; empty if it has none."""
    for task_id in sorted(source.digests)[:_LOOKED_AT]:
        task = queries.task(source.engine, task_id)
        if canary := _canary([task["fix"] or "", *task["files"].values()]):
            return canary
    return ""


def _canary(texts: Iterable[str]) -> str:
    return next((match[0] for text in texts if (match := _CANARY.search(text[:2000]))), "")

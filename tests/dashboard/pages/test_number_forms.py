"""Each kind of number has one form on all pages, in sentences and in tables."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.testing.v1 import AppTest

from stackrank.dashboard.address import NAME
from stackrank.db import queries
from stackrank.db.queries.comparisons.changes import change_sentence
from tests.test_layout import ROOT, sources

WRONG = {
    "an interval in brackets": r"\[[+-]?\d[\d.,]*%?, ?[+-]?\d",
    "a count without separators": r"(?<![\w,./#=-])(?!20[23]\d\b)\d{4,}(?![\w-])",
    "a cost with other digits": r"\$(?!0\.\d{4}(?!\d)|0\.\d\d(?!\d)|[1-9][\d,]*\.\d\d(?!\d))[\d.]",
    "a p-value with other digits": r"p = (?![01]\.\d{3})",
    "a zero with a sign": r"(?<![\w.])[+-]0(?:\.0+)?(?![\d.])",
    "a share without its decimal": r"(?<![\d.+-])(?!(?:95|80)%)\d+%",
    "a part over all": r"(?<![\w/.=-])\d+/\d+(?![\w/])",
    "no value": r"\b(?:None|nan|NaN)\b",
}
KINDS = ("title", "subheader", "markdown", "caption", "warning", "info")
WALK: tuple[tuple[str, dict[str, str]], ...] = (
    ("overview", {}),
    *(
        ("leaderboard", {"lb_tab": tab})
        for tab in ("Cost against rate", "Budget", "Reliability", "Abilities", "Numbers")
    ),
    *(("compare", {"cmp_tab": tab}) for tab in ("Tasks", "By category", "Effort", "What differs")),
    ("tool_sets", {}),
    *(("failures", {"fp_tab": tab}) for tab in ("How far", "Where it went wrong", "Not the entrant's fault")),
    ("tasks", {"tk_tab": "Table"}),
    ("task", {"id": "1"}),
    ("runs", {}),
    *(("run", {"id": "1", "run_tab": tab}) for tab in ("Entrants", "Failure points", "Episodes", "Errors")),
    ("episodes", {}),
    ("episodes", {"ep_query": 'text:"passed in"'}),
    ("episode", {"id": "1"}),
    ("against", {"a": "1", "b": "2"}),
)
FEW = WALK[::3]


def _cells(table: Any) -> Iterator[str]:
    """What a table shows: of numbers the written forms, of links their names. Only a bar writes its own."""
    columns = json.loads(table.proto.columns or "{}")
    written = table.proto.arrow_data.styler.display_values
    shown = convert_arrow_bytes_to_pandas_df(written) if written else table.value
    yield from map(str, table.value.columns)
    for position, name in enumerate(table.value.columns):
        if (columns.get(name, {}).get("type_config") or {}).get("type") in ("progress", "datetime", "line_chart"):
            continue
        for cell, value in zip(shown.iloc[:, position], table.value[name], strict=True):
            if isinstance(value, str):
                yield re.sub(NAME + ".*", "", value)
            elif isinstance(value, int | float) and value == value:
                assert written, f"{name}: {value} is written by the browser"
                yield str(cell)


def _shown(app: AppTest) -> Iterator[str]:
    for kind in KINDS:
        yield from (re.sub(r"`[^`]*`", "", str(part.value).replace("\\", "")) for part in app.get(kind))
    for metric in app.metric:
        yield from (f"{metric.label} {metric.value}", metric.delta)
    yield from (part.proto.label.replace("\\", "") for part in app.get("page_link"))
    for table in app.dataframe:
        yield from _cells(table)


@pytest.mark.parametrize(
    ("page", "query"),
    [pytest.param(*case, marks=() if case in FEW else pytest.mark.exhaustive) for case in WALK],
    ids=[" ".join([page, *query.values()]) for page, query in WALK],
)
def test_pages_have_no_other_forms(visit: Any, seeded: SimpleNamespace, page: str, query: dict[str, str]) -> None:
    texts = list(_shown(visit(seeded.url, page, **query)))
    assert len(texts) > 5
    found = {(wrong, text) for text in texts for wrong, form in WRONG.items() if re.search(form, text)}
    assert found == set()


def test_sentences_of_queries_have_no_other_forms(seeded: SimpleNamespace) -> None:
    engine, runs = seeded.store.engine, seeded.made.runs
    explained = queries.explain_night(engine, *runs[:2])
    sentences = [
        explained["difference"],
        explained["why"],
        *(text for cause in explained["causes"] for text in cause["sentences"]),
    ]
    sentences += [change_sentence(row, "e") for row in queries.changes(engine, runs[1])]
    assert len(sentences) > 3
    assert [text for text in sentences for form in WRONG.values() if re.search(form, text)] == []


@pytest.mark.parametrize(
    "text",
    [
        "[-6.1, +60.3]", "5000 of 5000", "$0.181", "$568.5920", "p = 0.02", "+0.0 points", "0% of", "19/39", "nan",
    ],
)  # fmt: skip
def test_other_forms_are_recognized(text: str) -> None:
    assert any(re.search(form, text) for form in WRONG.values())


def _formats(file: Path) -> list[str]:
    """The formats of numbers that a module writes by itself."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    specs = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.FormattedValue) and node.format_spec]
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    kinds = ("NumberColumn", "ProgressColumn", "DatetimeColumn")
    return [spec for spec in specs if re.search(r":[+]?,?\.\d[f%e]", spec)] + [
        call.func.attr for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr in kinds
    ]


def test_numbers_are_written_in_one_place() -> None:
    rooms = (ROOT / "dashboard", ROOT / "db" / "queries")
    found = {file.name: formats for room in rooms for file in sources(room) if (formats := _formats(file))}
    assert set(found) == {"columns.py"}
